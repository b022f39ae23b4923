//! The addresses, ports and headers that a segment has in a capture (RFC 791, RFC 9293 section 3.1).

use celltrain_engine::{Time, time::MILLISECOND};
use celltrain_tcp::{Ecn, Flags, IP_HEADER_BYTES, Segment, SynOptions, Timestamps};

/// First port of the dynamic range, which no protocol is registered for (RFC 6335 section 6).
const FIRST_PORT: u16 = 49_152;
/// First port, and how many, of the receivers of short flows: registered services, below all other ports here.
const FIRST_SERVICE: u16 = 1024;
const SERVICES: usize = 32_768;
/// Ports that senders have; receivers have the ports above them.
const SENDER_PORTS: usize = 16_000;
/// Unit of the timestamps option: 1 us, so that round trips within a LAN show. It wraps after 72 minutes.
const TIMESTAMP_UNIT: Time = MILLISECOND / 1000;
/// Hops that a packet may still take; nothing here counts them down.
const TIME_TO_LIVE: u8 = 64;
const PROTOCOL_TCP: u8 = 6;
const DO_NOT_FRAGMENT: u16 = 0x4000;

/// TCP option kinds (RFC 9293 section 3.1, RFC 7323, RFC 2018).
mod option {
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

/// One direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Path {
    source: End,
    destination: End,
    /// Shift of the window field.
    window_scale: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    /// The host's number in the network, from 0.
    host: u32,
    port: u16,
}

impl End {
    /// 10.0.0.1 is the first host.
    fn address(self) -> [u8; 4] {
        let [_, high, middle, low] = (self.host + 1).to_be_bytes();
        [10, high, middle, low]
    }
}

impl Path {
    /// The direction of the data of flow number `flow`, between two hosts by their numbers.
    pub(crate) fn new(flow: usize, from: usize, to: usize, window_scale: Option<u8>) -> Self {
        let end = |host: usize, port| End { host: host as u32, port };
        Self {
            source: end(from, FIRST_PORT + (flow % SENDER_PORTS) as u16),
            destination: end(to, u16::MAX - (flow / SENDER_PORTS) as u16),
            window_scale: window_scale.unwrap_or(0),
        }
    }

    /// The other direction.
    pub(crate) fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }

    /// The same direction of short flow number `number` of the flow, from 1: each is a connection with a port of its own at the
    /// sender, until they begin anew after 16 000. Number 0 is the flow itself.
    pub(crate) fn of_short_flow(mut self, number: u32) -> Self {
        let Some(place) = (number as usize).checked_sub(1) else { return self };
        let [sender, receiver] = if self.source.port < self.destination.port {
            [&mut self.source, &mut self.destination]
        } else {
            [&mut self.destination, &mut self.source]
        };
        // What the two ports of the flow itself stand for.
        let flow =
            usize::from(sender.port - FIRST_PORT) + SENDER_PORTS * usize::from(u16::MAX - receiver.port);
        sender.port = FIRST_PORT + (place % SENDER_PORTS) as u16;
        receiver.port = FIRST_SERVICE + (flow % SERVICES) as u16;
        self
    }

    /// Appends the IP packet of a segment; the payload is zeros.
    pub(super) fn write_packet(self, segment: &Segment, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        self.write_ip_header(segment, bytes);
        let tcp = bytes.len();
        self.write_tcp_header(segment, bytes);
        let sum = checksum(&[&self.pseudo_header(segment), &bytes[tcp..]]);
        bytes[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
        bytes.resize(start + segment.ip_bytes() as usize, 0);
    }

    fn write_ip_header(self, segment: &Segment, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        let ecn = match segment.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        // Version 4, five words of header.
        bytes.extend([0x45, ecn]);
        bytes.extend((segment.ip_bytes() as u16).to_be_bytes());
        // A packet that is never fragmented needs no identification (RFC 6864).
        bytes.extend([0, 0]);
        bytes.extend(DO_NOT_FRAGMENT.to_be_bytes());
        bytes.extend([TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
        bytes.extend(self.source.address());
        bytes.extend(self.destination.address());
        let sum = checksum(&[&bytes[start..]]);
        bytes[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
    }

    /// The TCP header with a checksum of zero.
    fn write_tcp_header(self, segment: &Segment, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        // The SYN takes sequence number 0, and data begins at 1 even where no SYN was exchanged.
        let syn = segment.flags.contains(Flags::SYN);
        let seq = wrapped(segment.seq + u64::from(!syn));
        let acknowledges = segment.flags.contains(Flags::ACK);
        let ack = if acknowledges { wrapped(segment.ack + 1) } else { 0 };
        let shift = if syn { 0 } else { self.window_scale };
        let window = (segment.window >> shift).min(u64::from(u16::MAX)) as u16;
        bytes.extend(self.source.port.to_be_bytes());
        bytes.extend(self.destination.port.to_be_bytes());
        bytes.extend(seq.to_be_bytes());
        bytes.extend(ack.to_be_bytes());
        // The data offset counts words of four bytes, in the upper half of its byte; the last bit there is the flag AE.
        let [ae, flags] = segment.flags.bits().to_be_bytes();
        bytes.extend([((segment.header_bytes() / 4) as u8 * 16) | ae, flags]);
        bytes.extend(window.to_be_bytes());
        bytes.extend([0; 4]);
        write_options(segment, bytes);
        debug_assert_eq!(bytes.len() - start, segment.header_bytes() as usize, "options fill the header");
    }

    /// What the TCP checksum covers beside the segment (RFC 9293 section 3.1).
    fn pseudo_header(self, segment: &Segment) -> [u8; 12] {
        let mut header = [0; 12];
        header[..4].copy_from_slice(&self.source.address());
        header[4..8].copy_from_slice(&self.destination.address());
        header[9] = PROTOCOL_TCP;
        header[10..].copy_from_slice(&((segment.ip_bytes() - IP_HEADER_BYTES) as u16).to_be_bytes());
        header
    }
}

/// The options, padded to words as [`Segment::header_bytes`] counts them.
fn write_options(segment: &Segment, bytes: &mut Vec<u8>) {
    use option::NO_OPERATION;
    if let Some(SynOptions { mss, .. }) = segment.syn {
        bytes.extend([option::MSS, 4]);
        bytes.extend((mss.min(u32::from(u16::MAX)) as u16).to_be_bytes());
    }
    let sack_permitted = segment.syn.is_some_and(|options| options.sack_permitted);
    if sack_permitted || segment.timestamps.is_some() {
        let option = if sack_permitted { [option::SACK_PERMITTED, 2] } else { [NO_OPERATION; 2] };
        bytes.extend(option);
    }
    match segment.timestamps {
        Some(Timestamps { value, echo }) => {
            bytes.extend([option::TIMESTAMPS, 10]);
            bytes.extend(wrapped(value / TIMESTAMP_UNIT).to_be_bytes());
            bytes.extend(wrapped(echo / TIMESTAMP_UNIT).to_be_bytes());
        }
        None if sack_permitted => bytes.extend([NO_OPERATION; 2]),
        None => {}
    }
    if let Some(SynOptions { window_scale: Some(shift), .. }) = segment.syn {
        bytes.extend([NO_OPERATION, option::WINDOW_SCALE, 3, shift]);
    }
    if !segment.sack.is_empty() {
        bytes.extend([NO_OPERATION, NO_OPERATION, option::SACK, 2 + 8 * segment.sack.len() as u8]);
        for block in segment.sack.ranges(segment.ack) {
            bytes.extend(wrapped(block.start + 1).to_be_bytes());
            bytes.extend(wrapped(block.end + 1).to_be_bytes());
        }
    }
}

/// The low 32 bits.
fn wrapped(number: u64) -> u32 {
    number as u32
}

/// The Internet checksum (RFC 1071) of parts that are whole 16-bit words.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_ports_of_its_own() {
        let ports = |flow| {
            let path = Path::new(flow, 0, 1, None);
            (path.source.port, path.destination.port)
        };
        let mut every: Vec<_> = (0..1_000_000).map(ports).collect();
        assert!(every.iter().all(|(source, destination)| source < destination));
        every.sort_unstable();
        every.dedup();
        assert_eq!(every.len(), 1_000_000);
    }

    #[test]
    fn every_short_flow_has_a_port_of_its_own() {
        let ports = |path: Path| (path.source.port, path.destination.port);
        let mut every = Vec::new();
        for flow in [0, 1, 15_999, 16_000, 20_000] {
            let path = Path::new(flow, 0, 1, None);
            assert_eq!(path.of_short_flow(0), path);
            every.push(ports(path));
            for number in 1..=16_000 {
                let one = path.of_short_flow(number);
                assert_eq!(path.reversed().of_short_flow(number), one.reversed());
                every.push(ports(one));
            }
            assert_eq!(path.of_short_flow(16_001), path.of_short_flow(1));
        }
        let count = every.len();
        every.sort_unstable();
        every.dedup();
        assert_eq!(every.len(), count);
    }

    #[test]
    fn checksum_of_the_example_in_rfc_1071() {
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
    }
}
