//! What an RM cell of ABR holds, octet by octet (ATM Forum TM 4.0, ITU-T I.371).

use celltrain_atm::{
    abr::{self, RmCell},
    cell::PAYLOAD_OCTETS,
};

const PAYLOAD: usize = PAYLOAD_OCTETS as usize;
/// The protocol identifier of ABR.
const PROTOCOL_ABR: u8 = 1;
/// Octets in which nothing is defined hold this.
const UNUSED: u8 = 0x6a;
/// The generator of the CRC-10, without its highest term.
const CRC_POLYNOMIAL: u16 = 0x233;

/// The payload: what TM 4.0 leaves to ITU-T I.371 (RA, QL, SN) is zero, and rates are cut to their sixteen bits.
pub(super) fn payload(rm: &RmCell) -> [u8; PAYLOAD] {
    let mut bytes = [UNUSED; PAYLOAD];
    bytes[0] = PROTOCOL_ABR;
    let flags = [rm.is_backward(), rm.is_notification(), rm.ci(), rm.ni()];
    bytes[1] = flags.into_iter().rev().fold(0, |bits, flag| bits >> 1 | u8::from(flag) << 7);
    for (place, rate) in [rm.er(), rm.ccr(), rm.mcr()].into_iter().enumerate() {
        bytes[2 + 2 * place..][..2].copy_from_slice(&abr::encode(rate).to_be_bytes());
    }
    // QL and SN, of four octets each.
    bytes[8..16].fill(0);
    // Six bits without a meaning and the CRC, which covers them and all before.
    bytes[PAYLOAD - 2..].fill(0);
    let crc = crc(&bytes);
    bytes[PAYLOAD - 2..].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// The CRC-10 that makes `bytes` a multiple of the generator if it stands in their last ten bits, which are zero.
fn crc(bytes: &[u8; PAYLOAD]) -> u16 {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    // The last ten are not shifted in: the remainder is of the others times x^10.
    bits.take(8 * PAYLOAD - 10).fold(0, |crc: u16, bit| {
        let carry = (crc >> 9 & 1) ^ u16::from(bit);
        (crc << 1 & 0x3ff) ^ (carry * CRC_POLYNOMIAL)
    })
}

#[cfg(test)]
mod tests {
    use celltrain_atm::abr::{Rate, RateCoding};

    use super::*;

    #[test]
    fn fields_stand_where_the_specifications_put_them() {
        let rate = |cells: u32| Rate::of_cells(cells.into());
        let mut rm = RmCell::forward(rate(1 << 18), rate(3 << 9), rate(1), RateCoding::Exact);
        // 1 << 14 for a rate that is not zero, then exponent and mantissa.
        assert_eq!(payload(&rm)[..8], [1, 0, 0x64, 0, 0x55, 0, 0x40, 0]);
        assert_eq!(payload(&rm)[8..16], [0; 8]);
        assert_eq!(payload(&rm)[16..46], [0x6a; 30]);
        rm.set_ni();
        assert_eq!(payload(&rm)[1], 0x10);
        rm = rm.turned();
        rm.set_ci();
        assert_eq!(payload(&rm)[1], 0xb0);
        let made = RmCell::notification(rate(1), rate(0), RateCoding::Exact);
        assert_eq!(payload(&made)[1], 0xe0);
    }

    #[test]
    fn crc_of_the_usual_check_string() {
        // The check value of CRC-10/ATM for "123456789", in front of which zeros change nothing. The message ends where the
        // last ten bits begin, six bits into an octet.
        let mut bytes = [0; PAYLOAD];
        let message = b"123456789".iter().fold(0u128, |message, &byte| message << 8 | u128::from(byte));
        bytes[PAYLOAD - 16..].copy_from_slice(&(message << 10).to_be_bytes());
        assert_eq!(crc(&bytes), 0x199);
    }
}
