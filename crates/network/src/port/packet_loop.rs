//! Packets at a port whose departures are computed: a loop of their own, as each of them is a frame and a train.
//!
//! Most find room, and a policy that lets them pass; of those little is done that is not done for all that are alike. Others, and those
//! that an observer has to look at, are units as cells are ([`PortCore::on_unit`]).

use celltrain_atm::{Cell, buffer::BufferPolicy, cell::Kind};
use celltrain_engine::{Instant, Time, alone::Alone, merge::Many, stream::Train, time::Span};

use super::{
    computed::{Computed, NOTHING},
    core::PortCore,
    fifo::Fifo,
    packets::{PacketFifo, Sojourn},
    tally::Tally,
};
use crate::flight::Streams;

/// What is counted during one visit.
struct Counts {
    /// Packets of the usual length that found the link idle, and were on it for as long as that takes.
    straight: u64,
    /// What others of them have spent in the port.
    waited: Span,
    /// What those have that are treated as other units.
    tally: Tally,
}

impl PortCore<Computed<PacketFifo>> {
    /// Handles every packet that arrives before `until`; returns how many there were.
    pub(super) fn serve_packets<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) -> u64 {
        if self.service.keeps_per_vc() || !self.policers.is_empty() {
            return self.serve(policy, until, streams);
        }
        let tally = Tally::new(self.service.longest, self.service.fifo.slot(), None);
        let mut counts = Counts { straight: 0, waited: Span::default(), tally };
        let units = if let Some(mut alone) = self.merge.lend_alone(streams) {
            let units = self.run_packets_alone(policy, until, &mut alone, &mut counts, streams);
            self.merge.give_back(alone, streams);
            units
        } else if let Some(mut many) = self.merge.lend() {
            let units = self.run_packets(policy, until, &mut many, &mut counts, streams);
            self.merge.take_back(many);
            units
        } else {
            0
        };
        self.count_straight(&mut counts);
        self.stats.sojourns.add(counts.waited);
        self.settle(policy, counts.tally, Instant::start_of(until));
        units
    }

    /// As [`PortCore::serve_packets`], where only one input has any. The VC is looked up once for a row of its packets.
    #[inline(never)]
    fn run_packets_alone<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        alone: &mut Alone<Cell>,
        counts: &mut Counts,
        streams: &mut Streams,
    ) -> u64 {
        let packets = &*alone.rest();
        let mut rest = packets;
        while let Some(&Train { first, item: Cell { vc, .. }, .. }) = rest.first()
            && first.ps() < until
        {
            let entry = &self.entries[vc as usize];
            let (next_vc, output) = (entry.next_vc, &mut streams[entry.output]);
            let (mut accepted, mut other) = ([0; 2], None);
            while let [packet, behind @ ..] = rest {
                let Train { first, count, ref item, .. } = *packet;
                if first.ps() >= until || item.vc != vc {
                    break;
                }
                assert!(count == 1, "a packet is a train of its own: {item:?}");
                let Some(departure) = self.pass_packet(policy, first, item, counts) else {
                    other = Some(*packet);
                    break;
                };
                rest = behind;
                accepted[usize::from(item.clp)] += 1;
                output.push_single(departure.delayed(self.delay), item).vc = next_vc;
            }
            let entry = &mut self.entries[vc as usize];
            entry.accepted = [0, 1].map(|clp| entry.accepted[clp] + accepted[clp]);
            if let Some(other) = other {
                rest = &rest[1..];
                self.on_other(policy, other, counts, streams);
            }
        }
        let taken = packets.len() - rest.len();
        alone.pass(taken);
        taken as u64
    }

    /// As [`PortCore::serve_packets`], of several inputs.
    #[inline(never)]
    fn run_packets<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        inputs: &mut Many,
        counts: &mut Counts,
        streams: &mut Streams,
    ) -> u64 {
        let (mut units, mut packet) = (0, Cell::default());
        while let Some(at) = inputs.next_single(until, streams, &mut packet) {
            units += 1;
            let Some(departure) = self.pass_packet(policy, at, &packet, counts) else {
                self.on_other(policy, Train::single(at, packet), counts, streams);
                continue;
            };
            let entry = &mut self.entries[packet.vc as usize];
            entry.accepted[usize::from(packet.clp)] += 1;
            streams[entry.output].push_single(departure.delayed(self.delay), &packet).vc = entry.next_vc;
        }
        units
    }

    /// Accepts a packet that arrives at `at`, and returns when it leaves, if it finds room and the policy lets it pass.
    #[inline(always)]
    fn pass_packet<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        packet: &Cell,
        counts: &mut Counts,
    ) -> Option<Instant> {
        if packet.octets != self.service.fifo.usual() {
            self.change_length(at, packet.octets, counts);
        }
        let fifo = &mut self.service.fifo;
        let occupancy = || {
            fifo.advance(at);
            fifo.occupancy(at)
        };
        if packet.kind != Kind::Data || !policy.passes(packet, occupancy) {
            return None;
        }
        let (departure, sojourn) = fifo.accept_usual(at)?;
        if departure.ps() >= self.service.runs_until {
            self.count_late(departure, departure.since(at));
        } else if let Sojourn::Of(sojourn) = sojourn {
            match counts.waited.checked_plus(sojourn) {
                Some(waited) => counts.waited = waited,
                None => self.stats.sojourns.add(std::mem::replace(&mut counts.waited, sojourn)),
            }
            self.stats.delays.add(sojourn.ps());
        } else {
            counts.straight += 1;
        }
        self.note_end(at, packet.vc);
        Some(departure)
    }

    /// A packet arrives that the policy may refuse, or that finds no room.
    #[inline(never)]
    fn on_other<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        mut packet: Train<Cell>,
        counts: &mut Counts,
        streams: &mut Streams,
    ) {
        self.on_unit::<NOTHING, P>(policy, &mut packet, &mut counts.tally, streams);
    }

    /// A packet leaves at `departure`, perhaps after the network stops.
    #[inline(never)]
    fn count_late(&mut self, departure: Instant, sojourn: Span) {
        self.stats.sojourns.add(sojourn);
        if !self.keep_delay(departure, sojourn) {
            self.stats.delays.add(sojourn.ps());
        }
    }

    /// Packets of another length come from `now` on.
    #[inline(never)]
    fn change_length(&mut self, now: Instant, octets: u32, counts: &mut Counts) {
        self.count_straight(counts);
        self.service.fifo.change_length(now, octets);
    }

    /// Sums what the packets of the usual length that found the link idle have spent in the port.
    fn count_straight(&mut self, counts: &mut Counts) {
        let packets = std::mem::take(&mut counts.straight);
        if packets > 0 {
            let duration = self.service.fifo.usual_duration();
            self.stats.sojourns.add_run(duration, duration, packets);
            self.stats.delays.add_times(duration.ps(), packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{Instant, Time, time::MILLISECOND};

    use super::*;
    use crate::port::{
        AnyCore, Location,
        tests::{Overrides, network, with_streams},
        with_core,
    };

    const OCTETS: [u32; 7] = [40, 1500, 1500, 576, 40, 40, 1500];

    /// What a port does with packets: what it sent, and what it counted, on the way and in the end. Every `few` of them come one right
    /// behind another, the next ones so much later. A port whose levels are followed looks at each packet as if it had found others.
    fn done(
        overrides: Overrides<'_>,
        few: usize,
        later: Time,
        follow: bool,
    ) -> (Vec<(Instant, Cell)>, Vec<String>) {
        let mut network = network(overrides);
        let mut streams = with_streams(&network);
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        port.run_on(8_000_000_000);
        if follow {
            port.follow_levels();
        }
        let (mut at, mut counted) = (Instant::start_of(1000), Vec::new());
        for packet in 0..60 {
            let octets = OCTETS[packet % OCTETS.len()];
            let item = Cell { frame: packet as u32, length: 1, octets, ..Cell::default() };
            streams[port.inputs()[0]].push(0, 0, &Train::single(at, item));
            at = at.delayed(if packet % few == 0 { later } else { u64::from(octets) * 8 * 1000 });
            if packet % 7 == 0 {
                port.visit(at.ps(), &mut streams);
                counted.push(format!("{} {:?}", port.occupancy(), port.occupancy_integral()));
            }
        }
        port.visit(100 * MILLISECOND, &mut streams);
        port.check_conservation(&streams);
        port.run_on(100 * MILLISECOND);
        let sent = port.outputs.iter().flat_map(|&output| streams[output].trains());
        counted.push(with_core!(&port.core, core => {
            format!("{:?} {:?} {:?}", core.stats, core.entries, core.fingerprint)
        }));
        counted.push(format!("{:?} {} {:?}", port.busy(), port.occupancy_max(), port.occupancy_integral()));
        (sent.map(|train| (train.first, train.item)).collect(), counted)
    }

    #[test]
    fn a_packet_that_finds_the_link_idle_is_like_any_other() {
        const PACKETS: (&str, &str) = ("link.framing", "packets");
        const GREEDY: (&str, &str) = ("traffic", "{ kind = \"greedy\" }");
        let cases: [Overrides<'_>; 4] = [
            &[PACKETS, GREEDY, ("switch.buffer", "3 packets")],
            // Too small for some.
            &[PACKETS, GREEDY, ("switch.buffer", "1400 B"), ("switch.discard.policy", "tail-drop")],
            &[PACKETS, GREEDY, ("switch.buffer", "4000 B"), ("link.overhead", "38 B")],
            &[PACKETS, GREEDY, ("switch.buffer", "9 packets"), ("switch.discard.policy", "red")],
        ];
        let mut discarded = 0;
        for overrides in cases {
            for (few, later) in [(1, 200_000_000), (4, 100_000_000), (6, 20_000_000), (9, 77_160_494)] {
                let straight = done(overrides, few, later, false);
                assert_eq!(straight, done(overrides, few, later, true), "{overrides:?}, {few}, {later}");
                assert!(!straight.0.is_empty());
                discarded += 60 - straight.0.len();
            }
        }
        assert!(discarded > 20, "{discarded} found no room");
    }
}
