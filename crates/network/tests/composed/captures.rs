//! What captures at hosts say: packets arrive in the order in which they were sent, and only those.

use std::collections::BTreeMap;

use celltrain_network::{
    RunResult,
    capture::{Capture, Content},
    scenario::Graph,
};

use crate::invariants::Failure;

/// Octets of the headers of a pcap file, of a record in it, and of IP.
const FILE: usize = 24;
const RECORD: usize = 16;
const IP: usize = 20;

/// The kind of failure that is found here.
pub(crate) const OUT_OF_ORDER: &str = "packets arrive that were not sent in this order";

/// Addresses and ports.
type Way = [u8; 12];

/// A packet: when, and its TCP header.
type Packet<'a> = (u64, &'a [u8]);

/// On each way, the packets that arrive are some of those sent, in their order.
pub(crate) fn in_order(graph: &Graph, result: &RunResult) -> Vec<Failure> {
    let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
    for capture in result.captures.iter().filter(|capture| capture.content == Content::Packets) {
        let host = graph.nodes.iter().position(|node| node.name == capture.place).expect("a host");
        let [_, high, middle, low] = (host as u32 + 1).to_be_bytes();
        for (way, packet) in packets(capture) {
            let is_own = way[..4] == [10, high, middle, low];
            let list: &mut BTreeMap<Way, Vec<Packet<'_>>> = if is_own { &mut sent } else { &mut received };
            list.entry(way).or_default().push(packet);
        }
    }
    let nothing = Vec::new();
    let mut failures = Vec::new();
    for (way, received) in &received {
        let mut candidates = sent.get(way).unwrap_or(&nothing).iter();
        for (number, packet) in received.iter().enumerate() {
            let found = candidates.find(|candidate| candidate.1 == packet.1);
            if found.is_none_or(|found| found.0 > packet.0) {
                let detail = format!(
                    "packet {number} of {} on {way:?} was not sent, or not in this order",
                    received.len()
                );
                failures.push(Failure::new(OUT_OF_ORDER, detail));
                break;
            }
        }
    }
    failures
}

/// The packets of a capture, by their way.
fn packets(capture: &Capture) -> Vec<(Way, Packet<'_>)> {
    let (bytes, mut at, mut packets) = (&capture.bytes, FILE, Vec::new());
    while at < bytes.len() {
        let word = |place: usize| {
            u64::from(u32::from_le_bytes(bytes[at + place..at + place + 4].try_into().expect("four bytes")))
        };
        let (time, length) = (word(0) * 1_000_000_000 + word(4), word(8) as usize);
        let packet = &bytes[at + RECORD..at + RECORD + length];
        let mut way = [0; 12];
        way[..8].copy_from_slice(&packet[12..20]);
        way[8..].copy_from_slice(&packet[IP..IP + 4]);
        let header = usize::from(packet[IP + 12] >> 4) * 4;
        packets.push((way, (time, &packet[IP..IP + header])));
        at += RECORD + length;
    }
    packets
}
