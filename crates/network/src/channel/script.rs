//! The segments that a link loses because the scenario names them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use celltrain_tcp::{Flags, Segment};

use crate::{flight::Packet, scenario::LossDirection};

/// A segment to be lost.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedLoss {
    /// The VC, by its first payload queue.
    pub(crate) payloads: usize,
    /// The endpoints of the receiving host that the flow's segments are for: flows may share a VC.
    pub(crate) endpoints: Range<u32>,
    pub(crate) direction: LossDirection,
    /// A byte that the data carries, or that the ACK asks for.
    pub(crate) byte: u64,
    /// Which such segment is lost, counted from 1.
    pub(crate) occurrence: u32,
}

/// The segments to be lost on a link. A scenario may name very many: a frame is compared with those alone that it carries.
#[derive(Debug, Default)]
pub(crate) struct ScriptedLosses {
    /// By VC and the first endpoint of the flow.
    flows: BTreeMap<(usize, u32), FlowLosses>,
    /// Whether there are any, or were.
    named: bool,
}

impl ScriptedLosses {
    /// Whether there are any, or were.
    pub(super) fn are_named(&self) -> bool {
        self.named
    }

    /// Whether none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Adds a segment before the first one has passed.
    ///
    /// # Panics
    /// If the endpoints of two flows are neither the same nor apart.
    pub(crate) fn add(&mut self, loss: ScriptedLoss) {
        let ScriptedLoss { payloads, endpoints, direction, byte, occurrence } = loss;
        self.named = true;
        if endpoints.is_empty() {
            return;
        }
        let before = self.flows.range(..(payloads, endpoints.end)).next_back();
        let apart = before.is_none_or(|(&(queue, start), flow)| {
            queue < payloads
                || flow.end <= endpoints.start
                || (start, flow.end) == (endpoints.start, endpoints.end)
        });
        assert!(apart, "each endpoint serves one flow");
        let flow = self.flows.entry((payloads, endpoints.start)).or_default();
        flow.end = endpoints.end;
        let losses = match direction {
            LossDirection::Data => &mut flow.data,
            LossDirection::Ack => &mut flow.acks,
        };
        losses.entry(byte).or_default().lost.insert(occurrence);
    }

    /// A packet passes on the VC with the first payload queue `payloads`: whether this is a transmission to be lost.
    pub(super) fn strikes(&mut self, payloads: usize, packet: &Packet) -> bool {
        let upto = ..=(payloads, packet.endpoint);
        let Some((&key, flow)) = self.flows.range_mut(upto).next_back() else { return false };
        if key.0 != payloads || packet.endpoint >= flow.end {
            return false;
        }
        let struck = flow.strikes(&packet.segment);
        if flow.data.is_empty() && flow.acks.is_empty() {
            self.flows.remove(&key);
        }
        struck
    }
}

/// Those of one flow in one direction of its VC.
#[derive(Debug, Default)]
struct FlowLosses {
    /// The end of the flow's endpoints.
    end: u32,
    /// By a byte that the data carries.
    data: BTreeMap<u64, Occurrences>,
    /// By the byte that the ACK asks for.
    acks: BTreeMap<u64, Occurrences>,
}

impl FlowLosses {
    fn strikes(&mut self, segment: &Segment) -> bool {
        let is_ack = segment.len == 0 && segment.flags.contains(Flags::ACK);
        let asked = if is_ack { segment.ack..segment.ack + 1 } else { 0..0 };
        // Both count it: a FIN takes a number and acknowledges.
        strikes(&mut self.data, segment.seq..segment.end()) | strikes(&mut self.acks, asked)
    }
}

/// Whether a segment that concerns these bytes is to be lost. All that it concerns count it.
fn strikes(losses: &mut BTreeMap<u64, Occurrences>, mut bytes: Range<u64>) -> bool {
    let mut struck = false;
    while let Some((&byte, occurrences)) = losses.range_mut(bytes.clone()).next() {
        struck |= occurrences.strikes();
        if occurrences.lost.is_empty() {
            losses.remove(&byte);
        }
        bytes.start = byte + 1;
    }
    struck
}

/// The transmissions of a byte.
#[derive(Debug, Default)]
struct Occurrences {
    /// How many there were.
    seen: u32,
    /// Which are still to be lost, counted from 1.
    lost: BTreeSet<u32>,
}

impl Occurrences {
    /// Whether the next one is lost.
    fn strikes(&mut self) -> bool {
        self.seen += 1;
        self.lost.remove(&self.seen)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::{Generator, Randomness};

    use super::*;

    fn generator() -> Generator {
        Randomness { seed: 1, replication: 0 }.named("test")
    }

    fn loss(byte: u64, occurrence: u32) -> ScriptedLoss {
        ScriptedLoss { payloads: 0, endpoints: 0..1, direction: LossDirection::Data, byte, occurrence }
    }

    fn packet(seq: u64, len: u32) -> Packet {
        Packet { segment: Segment { seq, len, ..Segment::default() }, ..Packet::default() }
    }

    /// The definition: every packet is compared with every entry, which counts down until it is lost.
    fn plain(losses: &mut [ScriptedLoss], payloads: usize, packet: &Packet) -> bool {
        let segment = &packet.segment;
        let mut struck = false;
        for loss in losses {
            let concerns = match loss.direction {
                LossDirection::Data => (segment.seq..segment.end()).contains(&loss.byte),
                LossDirection::Ack => {
                    segment.len == 0 && segment.flags.contains(Flags::ACK) && segment.ack == loss.byte
                }
            };
            let is_of_flow = loss.payloads == payloads && loss.endpoints.contains(&packet.endpoint);
            if loss.occurrence > 0 && is_of_flow && concerns {
                loss.occurrence -= 1;
                struck |= loss.occurrence == 0;
            }
        }
        struck
    }

    fn random_loss(generator: &mut Generator) -> ScriptedLoss {
        let endpoints = [0..1, 1..4, 6..7][generator.below(3) as usize].clone();
        let direction = [LossDirection::Data, LossDirection::Ack][generator.below(2) as usize];
        let (payloads, occurrence) = (generator.below(3) as usize, 1 + generator.below(4) as u32);
        ScriptedLoss { payloads, endpoints, direction, byte: generator.below(12), occurrence }
    }

    fn random_packet(generator: &mut Generator) -> Packet {
        let flags = [Flags::NONE, Flags::ACK, Flags::FIN, Flags::FIN | Flags::ACK];
        let flags = flags[generator.below(4) as usize];
        let (seq, ack) = (generator.below(12), generator.below(12));
        let segment = Segment { seq, ack, len: generator.below(4) as u32, flags, ..Segment::default() };
        Packet { segment, endpoint: generator.below(8) as u32, ..Packet::default() }
    }

    #[test]
    fn the_packets_lost_are_those_of_a_comparison_with_every_entry() {
        let mut generator = generator();
        let mut lost = 0;
        for _ in 0..400 {
            let mut entries: Vec<_> = (0..generator.below(40)).map(|_| random_loss(&mut generator)).collect();
            let mut losses = ScriptedLosses::default();
            entries.iter().for_each(|loss| losses.add(loss.clone()));
            for _ in 0..300 {
                let (payloads, packet) = (generator.below(4) as usize, random_packet(&mut generator));
                let expected = plain(&mut entries, payloads, &packet);
                assert_eq!(losses.strikes(payloads, &packet), expected, "{packet:?}");
                assert_eq!(losses.is_empty(), entries.iter().all(|loss| loss.occurrence == 0));
                lost += u32::from(expected);
            }
        }
        assert!(lost > 1500, "{lost}");
    }

    /// An entry counts every look at it. None of these is ever lost, so that all stay.
    #[test]
    fn a_packet_is_compared_with_what_it_carries_however_many_entries_there_are() {
        for entries in [10, 10_000] {
            let mut losses = ScriptedLosses::default();
            (0..entries).for_each(|segment| losses.add(loss(1000 * segment, u32::MAX)));
            for segment in 0..20 {
                assert!(!losses.strikes(0, &packet(1000 * (segment % 10), 1000)));
            }
            let looks: u32 = losses.flows[&(0, 0)].data.values().map(|byte| byte.seen).sum();
            assert_eq!(looks, 20, "of {entries} entries");
        }
    }

    #[test]
    fn what_is_used_up_is_dropped() {
        let mut losses = ScriptedLosses::default();
        (1..=1000).for_each(|occurrence| losses.add(loss(0, occurrence)));
        losses.add(loss(5000, 1));
        assert!((0..1000).all(|_| losses.strikes(0, &packet(0, 1000))));
        assert_eq!(losses.flows[&(0, 0)].data.len(), 1);
        assert!(!losses.strikes(0, &packet(0, 1000)));
        assert!(losses.strikes(0, &packet(5000, 1000)) && losses.is_empty());
        assert!(losses.are_named());
    }

    #[test]
    #[should_panic(expected = "each endpoint serves one flow")]
    fn an_endpoint_of_two_flows_is_a_defect() {
        let mut losses = ScriptedLosses::default();
        losses.add(ScriptedLoss { endpoints: 0..4, ..loss(0, 1) });
        losses.add(ScriptedLoss { endpoints: 2..6, ..loss(0, 1) });
    }
}
