//! Packets at a port whose departures are computed: loops of their own, as each of them is a frame and a train.
//!
//! Most find room, and a policy that lets them pass; of those little is done that is not done for all that are alike: one loop says when
//! they leave, and another sends them on. Others, and those that an observer has to look at, are units as cells are
//! ([`PortCore::on_unit`]).

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
    cell::Kind,
};
use celltrain_engine::{Instant, Span, Time, stream::Train};

use super::{
    PortStats,
    computed::{Computed, NOTHING, UNITS},
    core::{PortCore, end_word},
    fifo::Fifo,
    packets::{PacketFifo, Sojourn},
    tally::Tally,
};
use crate::flight::Streams;

/// So many packets of several inputs are merged before they are handled: they stay in the cache until then.
const AT_ONCE: usize = 128;

/// What is counted during one visit.
struct Counts {
    /// Packets of the usual length that found the link idle, and were on it for as long as that takes.
    straight: u64,
    /// What others have spent in the port that are treated as other units.
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
        // As in the loops of cells: what a policy cannot come to is not compiled for it.
        if P::Needs::PUSH_OUT {
            unreachable!("a port whose policy pushes out stores its queues");
        }
        if P::Needs::PER_VC || !self.policers.is_empty() {
            return self.serve_observed(policy, until, streams);
        }
        let tally = Tally::new(self.service.longest, self.service.fifo.slot(), None);
        let mut counts = Counts { straight: 0, tally };
        let mut handled = 0;
        if let Some(mut alone) = self.merge.lend_alone(streams) {
            let packets = alone.rest();
            let due = packets.partition_point(|packet| packet.first.ps() < until);
            self.run_packets(policy, &mut packets[..due], &mut counts, streams);
            alone.pass(due);
            self.merge.give_back(alone, streams);
            handled = due;
        } else if let Some(mut many) = self.merge.lend() {
            let mut room = std::mem::take(&mut streams.contents.merged);
            room.resize(AT_ONCE, Train::default());
            loop {
                let packets = many.take_trains(until, streams, &mut room);
                if packets.is_empty() {
                    break;
                }
                self.run_packets(policy, packets, &mut counts, streams);
                handled += packets.len();
            }
            streams.contents.merged = room;
            self.merge.take_back(many);
        }
        self.count_straight(&mut counts);
        self.settle(policy, counts.tally, Instant::start_of(until));
        handled as u64
    }

    /// As [`PortCore::serve_packets`], where a policer or the policy has to look at each.
    fn serve_observed<P: BufferPolicy>(&mut self, policy: &mut P, until: Time, streams: &mut Streams) -> u64 {
        let (mut packets, mut tally) = (0, Tally::new(self.service.longest, self.service.fifo.slot(), None));
        if let Some(mut alone) = self.merge.lend_alone(streams) {
            while let Some(packet) = alone.next(until) {
                self.on_observed_packet(policy, packet, &mut tally, streams);
                packets += 1;
            }
            self.merge.give_back(alone, streams);
        } else if let Some(mut many) = self.merge.lend() {
            let mut packet = Train::default();
            while many.next::<true, _>(until, streams, &mut packet) {
                self.on_observed_packet(policy, &mut packet, &mut tally, streams);
                packets += 1;
            }
            self.merge.take_back(many);
        }
        self.settle(policy, tally, Instant::start_of(until));
        packets
    }

    /// A packet arrives that an observer has to look at.
    #[inline]
    fn on_observed_packet<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        assert!(packet.count == 1, "a packet is a train of its own: {packet:?}");
        self.advance::<UNITS, P>(policy, packet.first);
        self.on_unit::<UNITS, P>(policy, packet, tally, streams);
    }

    /// Handles `packets`, which are in the order of their arrival.
    fn run_packets<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        mut packets: &mut [Train<Cell>],
        counts: &mut Counts,
        streams: &mut Streams,
    ) {
        loop {
            let mut passed = self.time_packets::<false, P>(policy, packets, counts);
            if passed < packets.len() {
                // What comes behind one that leaves late leaves late.
                passed += self.time_packets::<true, P>(policy, &mut packets[passed..], counts);
            }
            self.send_packets(&packets[..passed], streams);
            packets = &mut packets[passed..];
            let Some(packet) = packets.first_mut() else { return };
            let (at, item, fifo) = (packet.first, &packet.item, &mut self.service.fifo);
            if item.octets != fifo.usual().octets() {
                self.change_length(at, item.octets, counts);
                continue;
            }
            let lets_pass = item.kind == Kind::Data && policy.passes(item, || fifo.occupancy_at(at));
            if !lets_pass || !fifo.make_sure(at) {
                self.on_unit::<NOTHING, P>(policy, packet, &mut counts.tally, streams);
                packets = &mut packets[1..];
            }
        }
    }

    /// Accepts packets of the usual length one after another, as long as they are sure to find room and the policy lets them pass; returns how
    /// many. Their times become those of their arrival at the other end of the link. `LATE`: whether they leave after the network stops,
    /// perhaps.
    // Nothing is called here for most of them, so that what changes with each stays in registers.
    #[inline(never)]
    fn time_packets<const LATE: bool, P: BufferPolicy>(
        &mut self,
        policy: &P,
        packets: &mut [Train<Cell>],
        counts: &mut Counts,
    ) -> usize {
        let (mut usual, mut fingerprint) = (self.service.fifo.usual(), self.fingerprint);
        let (mut passed, mut accepted, mut straight, mut waited) = (0, 0, 0, Span::default());
        for packet in packets {
            let (at, item) = (packet.first, &packet.item);
            if item.octets != usual.octets() || item.kind != Kind::Data {
                break;
            }
            if !policy.passes(item, || self.service.fifo.occupancy_with(&mut usual, &mut accepted, at)) {
                break;
            }
            let Some((next, sojourn)) = usual.accept(at) else { break };
            let departure = next.departure();
            if (departure.ps() >= self.service.runs_until) != LATE {
                break;
            }
            usual = next;
            if LATE {
                self.service.count_late(&mut self.stats, departure, departure.since(at));
            } else if let Sojourn::Of(sojourn) = sojourn {
                waited = waited.checked_plus(sojourn).unwrap_or_else(|| {
                    self.stats.sojourns.add(waited);
                    sojourn
                });
                self.stats.delays.add(sojourn.ps());
            } else {
                straight += 1;
            }
            fingerprint.mix(end_word(at, item.vc));
            packet.first = departure.delayed(self.delay);
            (passed, accepted) = (passed + 1, accepted + 1);
        }
        counts.straight += straight;
        self.stats.sojourns.add(waited);
        self.service.fifo.go_on(&usual, accepted);
        self.fingerprint = fingerprint;
        passed
    }

    /// Sends packets on that were accepted: those of one VC that follow one another at once.
    #[inline(never)]
    fn send_packets(&mut self, mut packets: &[Train<Cell>], streams: &mut Streams) {
        while let Some(&Train { item: Cell { vc, clp, .. }, .. }) = packets.first() {
            let is_alike =
                |packet: &&Train<Cell>| packet.item.vc == vc && packet.item.clp == clp && packet.count == 1;
            let alike = packets.iter().take_while(is_alike).count();
            assert!(alike > 0, "a packet is a train of its own: {:?}", packets[0]);
            let (row, others) = packets.split_at(alike);
            let entry = &mut self.entries[vc as usize];
            entry.accepted[usize::from(clp)] += alike as u64;
            let next_vc = entry.next_vc;
            streams[entry.output].push_changed(row, |item| item.vc = next_vc);
            packets = others;
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

impl Computed<PacketFifo> {
    /// A packet leaves at `departure`, after the network stops, perhaps.
    #[inline(never)]
    fn count_late(&mut self, stats: &mut PortStats, departure: Instant, sojourn: Span) {
        stats.sojourns.add(sojourn);
        if departure.ceil() > self.runs_until {
            self.keep_delay(departure.ceil(), sojourn.ps());
        } else {
            stats.delays.add(sojourn.ps());
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
