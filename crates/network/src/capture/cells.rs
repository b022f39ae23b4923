//! Cells on a link: ATM headers (ITU-T I.361), the cells of AAL5 frames (ITU-T I.363.5, RFC 2684), and RM cells.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    aal5::{self, LLC_SNAP, TRAILER},
    abr::RmCell,
    cell::PAYLOAD_OCTETS,
};
use celltrain_engine::{Time, stream::Train, time::SECOND};
use celltrain_tcp::Segment;

use super::{
    Path,
    pcap::{self, LinkType},
    rm,
};
use crate::flight::Packet;

const PAYLOAD: usize = PAYLOAD_OCTETS as usize;
/// The header without its check octet, which ERF leaves out.
const HEADER: usize = 4;
/// Bytes of a cell in the capture.
const CELL: usize = HEADER + PAYLOAD;
/// VCIs below are reserved.
const FIRST_VCI: u32 = 32;
/// VCIs of one VPI.
const VCIS: u32 = 0x1_0000 - FIRST_VCI;
/// Payload types (ITU-T I.361): bits of user data, and resource management.
mod payload_type {
    pub(super) const END_OF_MESSAGE: u32 = 1;
    pub(super) const CONGESTION: u32 = 2;
    pub(super) const RESOURCE_MANAGEMENT: u32 = 6;
}

/// LLC header of a routed protocol with the SNAP header of IPv4 (RFC 2684 section 5.1).
const LLC_SNAP_IPV4: [u8; LLC_SNAP.0 as usize] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
/// The generator of AAL5's CRC-32, without its highest term.
const CRC_POLYNOMIAL: u32 = 0x04c1_1db7;

/// ERF record type of a cell, and the bytes of its header.
const ERF_ATM: u8 = 3;
const ERF_HEADER: usize = 16;
/// Flag: the record has its own length rather than a fixed one.
const ERF_VARYING_LENGTH: u8 = 0x04;

/// A VC on the tapped link.
#[derive(Debug)]
struct Circuit {
    /// Its number on the link, from 0.
    number: u32,
    /// What the headers of its packets say.
    path: Path,
    /// The frame whose bytes are in `bytes`.
    frame: Option<u32>,
    bytes: Vec<u8>,
}

/// Records the cells that pass on one of a link's ways.
#[derive(Debug)]
pub(crate) struct CellTap {
    aal5: aal5::Params,
    /// By the VCI that the cells carry.
    circuits: BTreeMap<u32, Circuit>,
    cells: Vec<(Time, [u8; CELL])>,
}

impl CellTap {
    pub(crate) fn new(aal5: aal5::Params) -> Self {
        Self { aal5, circuits: BTreeMap::new(), cells: Vec::new() }
    }

    /// Announces a VC: the VCI of its cells, its number on the link and the path of its packets.
    pub(crate) fn add(&mut self, vci: u32, number: u32, path: Path) {
        let circuit = Circuit { number, path, frame: None, bytes: Vec::new() };
        self.circuits.insert(vci, circuit);
    }

    /// Records the cells of a train, of a frame that carries `packet`.
    pub(crate) fn record(&mut self, train: &Train<Cell>, packet: Option<&Packet>) {
        let Some(circuit) = self.circuits.get_mut(&train.item.vc) else { return };
        if circuit.frame != Some(train.item.frame) {
            let path = circuit.path.of_short_flow(packet.map_or(0, |packet| packet.flow));
            let segment = packet.map(|packet| &packet.segment);
            circuit.bytes = frame(&self.aal5, path, segment, usize::from(train.item.length));
            circuit.frame = Some(train.item.frame);
        }
        let congestion = if train.item.ecn.is_set() { payload_type::CONGESTION } else { 0 };
        for place in 0..train.count {
            let position = usize::from(train.item.position) + place as usize;
            let end =
                if position + 1 == usize::from(train.item.length) { payload_type::END_OF_MESSAGE } else { 0 };
            let header = header(circuit.number, congestion | end, train.item.clp);
            let payload = &circuit.bytes[position * PAYLOAD..][..PAYLOAD];
            self.cells.push((train.arrival(place).ps(), cell(header, payload)));
        }
    }

    /// Records an RM cell, which stands between the cells of frames.
    pub(crate) fn record_rm(&mut self, train: &Train<Cell>, rm: &RmCell) {
        let Some(circuit) = self.circuits.get(&train.item.vc) else { return };
        let header = header(circuit.number, payload_type::RESOURCE_MANAGEMENT, train.item.clp);
        self.cells.push((train.first.ps(), cell(header, &rm::payload(rm))));
    }
}

/// The file of a link, from the taps of all its ways: what has arrived before `until`. A link of which the delay changes records what is
/// still on its way too.
pub(crate) fn merged<'a>(taps: impl Iterator<Item = &'a CellTap>, until: Time) -> Vec<u8> {
    let mut cells: Vec<_> = taps.flat_map(|tap| &tap.cells).filter(|cell| cell.0 < until).collect();
    cells.sort_by_key(|cell| cell.0);
    let mut file = pcap::header(LinkType::Erf);
    let length = ERF_HEADER + CELL;
    for (at, cell) in cells {
        pcap::record(&mut file, *at, length as u32);
        file.extend(erf_time(*at).to_le_bytes());
        file.extend([ERF_ATM, ERF_VARYING_LENGTH]);
        file.extend((length as u16).to_be_bytes());
        // No record was lost before this one.
        file.extend([0, 0]);
        file.extend((CELL as u16).to_be_bytes());
        file.extend(cell);
    }
    file
}

/// Seconds with 32 binary places.
fn erf_time(at: Time) -> u64 {
    let fraction = (u128::from(at % SECOND) << 32) / u128::from(SECOND);
    (at / SECOND) << 32 | fraction as u64
}

fn cell(header: [u8; HEADER], payload: &[u8]) -> [u8; CELL] {
    let mut cell = [0; CELL];
    cell[..HEADER].copy_from_slice(&header);
    cell[HEADER..].copy_from_slice(payload);
    cell
}

/// The ATM header at a user-network interface: VPI, VCI, payload type, CLP.
fn header(number: u32, payload_type: u32, clp: bool) -> [u8; HEADER] {
    let (vpi, vci) = (number / VCIS, FIRST_VCI + number % VCIS);
    (vpi << 20 | vci << 4 | payload_type << 1 | u32::from(clp)).to_be_bytes()
}

/// The bytes of a frame of `cells` cells: LLC/SNAP where the scenario makes room for it, the packet, padding, trailer.
/// A frame of bare cells is full of zeros.
fn frame(aal5: &aal5::Params, path: Path, segment: Option<&Segment>, cells: usize) -> Vec<u8> {
    let trailer = TRAILER.0 as usize;
    let mut bytes = Vec::with_capacity(cells * PAYLOAD);
    if let Some(segment) = segment {
        if aal5.overhead.0 >= TRAILER.0 + LLC_SNAP.0 {
            bytes.extend(LLC_SNAP_IPV4);
        }
        path.write_packet(segment, &mut bytes);
    } else {
        bytes.resize((cells * PAYLOAD - trailer).min(aal5::Params::MAX_FRAME as usize), 0);
    }
    let length = bytes.len() as u16;
    // Padding, and the first two octets of the trailer (UU, CPI).
    bytes.resize(cells * PAYLOAD - trailer + 2, 0);
    bytes.extend(length.to_be_bytes());
    bytes.extend(crc(&bytes).to_be_bytes());
    bytes
}

/// AAL5's CRC-32: most significant bit first, begun with ones, inverted.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| CRC_OF_BYTE[(crc >> 24) as usize ^ usize::from(*byte)] ^ crc << 8;
    !bytes.iter().fold(u32::MAX, step)
}

/// The CRC of each byte.
const CRC_OF_BYTE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = crc << 1 ^ if crc >> 31 == 1 { CRC_POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_usual_check_string() {
        // The check value of CRC-32/BZIP2, which is AAL5's.
        assert_eq!(crc(b"123456789"), 0xfc89_1918);
    }

    #[test]
    fn a_whole_frame_leaves_the_known_residue() {
        let bytes = frame(&aal5::Params::default(), Path::new(0, 0, 1, None), None, 3);
        assert_eq!(bytes.len(), 3 * PAYLOAD);
        assert_eq!(!crc(&bytes), 0xc704_dd7b);
    }

    #[test]
    fn headers_hold_vpi_vci_payload_type_and_clp() {
        assert_eq!(header(0, 0, false), [0, 0, 0x02, 0x00]);
        assert_eq!(header(5, 0b001, true), [0, 0, 0x02, 0x53]);
        assert_eq!(header(6, 0b110, false), [0, 0, 0x02, 0x6c]);
        assert_eq!(header(VCIS, 0, true), [0, 0x10, 0x02, 0x01]);
    }

    #[test]
    fn erf_times_have_32_binary_places() {
        assert_eq!(erf_time(3 * SECOND + SECOND / 4), 3 << 32 | 1 << 30);
    }
}
