//! Packets that find the link idle: most do, wherever the bottleneck is elsewhere.

use celltrain_atm::{Cell, buffer::BufferPolicy, cell::Kind};
use celltrain_engine::stream::Train;

use super::{
    computed::{Computed, NOTHING},
    core::PortCore,
    fifo::Fifo,
    tally::Tally,
};
use crate::flight::Streams;

impl<F: Fifo> PortCore<Computed<F>> {
    /// A packet arrives. If it finds the link idle and the policy lets it pass, it leaves after the time of its octets.
    #[inline(always)]
    pub(super) fn on_packet<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        let (at, cell) = (packet.first, &packet.item);
        let fifo = self.service.fifo.of_packets();
        let size = fifo.size(cell);
        let idle = fifo.is_idle(at) && u64::from(size) <= fifo.capacity();
        if !idle || cell.kind != Kind::Data || !policy.passes(cell, || 0) {
            return self.on_unit::<NOTHING, P>(policy, packet, tally, streams);
        }
        let sojourn = tally.sojourn_of(cell.octets, || fifo.duration(cell.octets), &mut self.stats.delays);
        let departure = at.after(sojourn);
        fifo.go_straight(departure, cell.octets, size);
        let (number, vc) = (fifo.last_number(), cell.vc);
        self.service.note_occupancy(size.into());
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(cell.clp)] += 1;
        packet.first = departure.delayed(self.delay);
        packet.item.vc = entry.next_vc;
        streams[entry.output].push(number, number, packet);
        self.note_end(at, vc);
        tally.add_straight(1, u64::from(!self.keep_delay(departure, sojourn)));
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{Instant, Time, stream::Stream, time::MILLISECOND};

    use super::*;
    use crate::{
        flight::InFlight,
        port::{
            AnyCore, Location,
            tests::{Overrides, network},
            with_core,
        },
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
        let number = network.parts().1.len();
        let mut streams = Streams::new((0..number).map(|_| Stream::default()).collect(), InFlight::default());
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
