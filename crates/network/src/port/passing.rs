//! Cells of a train that find the link free one after another: each comes when the one before it has left, into an empty buffer.
//!
//! Per-VC occupancies count every cell, and policies may keep something of each; but these cells need no queue, and go on as one train.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
};
use celltrain_engine::{Slot, stream::Train};

use super::{core::PortCore, queues::Unit, service::Service};

/// How far a train passes.
#[derive(Debug)]
pub(super) struct Passed {
    /// How many cells behind the first are accepted as that was. All of them but the last have left, and that too where another
    /// follows.
    pub(super) count: u32,
    /// The first cell that is not accepted as the first was, and whether it is accepted otherwise: marked, or no longer.
    pub(super) other: Option<(Unit, bool)>,
}

impl Unit {
    /// The cell `count` places behind this one, which begins `train`.
    #[inline]
    pub(super) fn behind(&self, train: &Train<Cell>, count: u32) -> Self {
        let cell = Cell { position: self.cell.position + count as u16, ..self.cell };
        Self { cell, at: train.arrival(count), ..*self }
    }
}

impl<S: Service> PortCore<S> {
    /// The cells of `train` behind its first, `first`, which was accepted and has left a `slot` after it came, come no faster than that.
    /// Asks the policy about each, unless it accepts them at once, and reports departures.
    pub(super) fn pass_cells<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        first: &Unit,
        slot: Slot,
        train: &Train<Cell>,
    ) -> Passed {
        let Cell { vc, clp, ecn, .. } = first.cell;
        let sure = policy.accept_rest_alone(&first.cell, train.count - 1);
        let (mut sent, mut at) = (first.cell, first.at);
        for count in 0..train.count - 1 {
            if let Some(departure) = P::Needs::departure(&sent, at.plus(slot).ps()) {
                policy.on_departure(departure);
            }
            sent.position += 1;
            at = train.arrival(count + 1);
            if sure {
                continue;
            }
            self.service.per_vc_mut().leave(vc, clp, first.size);
            let mut cell = Cell { ecn: train.item.ecn, ..sent };
            let accepted = self.admit::<false, P>(policy, at, &mut cell);
            if !accepted || cell.ecn != ecn {
                return Passed { count, other: Some((Unit { cell, at, ..*first }, accepted)) };
            }
            self.service.per_vc_mut().enter(vc, clp, first.size);
        }
        let count = train.count - 1;
        if sure {
            self.service.per_vc_mut().pass(vc, count.into());
            self.entries[vc as usize].at_frame_start = sent.is_last();
        }
        Passed { count, other: None }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::{
        buffer::{Departure, PerVc, PortContext, PortState, Reason, Verdict, View},
        cell::{CELL_BITS, Ecn},
    };
    use celltrain_engine::{
        Instant, Time, quantity::BitRate, registry::ParamError, stream::Stream, time::MILLISECOND,
    };

    use super::*;
    use crate::{
        flight::{InFlight, Streams},
        port::{
            AnyCore, Location,
            tests::{Overrides, PER_VC, STORED, network},
        },
    };

    const CELLS: u16 = 5;

    /// A policy that decides on each cell by its position in the frame, and records every call.
    #[derive(Debug)]
    struct ByPlace {
        verdicts: [Verdict; CELLS as usize],
        log: Vec<String>,
    }

    impl BufferPolicy for ByPlace {
        type Params = ();
        type Needs = PerVc;

        const SUMMARY: &'static str = "";
        const REFERENCE: &'static str = "";

        fn new((): &(), _: &PortContext<'_>) -> Result<Self, ParamError> {
            Ok(Self { verdicts: [Verdict::Accept; CELLS as usize], log: Vec::new() })
        }

        fn on_arrival<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, now: Time) -> Verdict {
            let held = [port.occupancy(), port.vc_occupancy(cell.vc), port.active_vcs()];
            self.log.push(format!("{now}: {cell:?} finds {held:?}, first: {}", port.is_first()));
            self.verdicts[usize::from(cell.position)]
        }

        fn on_departure(&mut self, departure: Departure) {
            self.log.push(format!("{departure:?}"));
        }
    }

    /// What a port does with two frames whose cells come a `slot` apart, in a train each or one by one: what its policy saw, what it sent,
    /// and what it counted.
    fn seen(
        overrides: Overrides<'_>,
        verdicts: [Verdict; CELLS as usize],
        slot: Slot,
        in_trains: bool,
    ) -> (Vec<String>, Vec<(Instant, Cell)>, String) {
        let mut network = network(overrides);
        let number = network.parts().1.len();
        let mut streams = Streams::new((0..number).map(|_| Stream::default()).collect(), InFlight::default());
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        let mut first = Instant::start_of(1000);
        for frame in 0..2 {
            let item = Cell { frame, length: CELLS, ecn: Ecn::Capable, ..Cell::default() };
            let mut train = Train { slot, count: CELLS.into(), ..Train::single(first, item) };
            first = train.last().plus(slot);
            while !in_trains && train.count > 1 {
                streams[port.inputs()[0]].push(0, 0, &Train::single(train.first, train.item));
                train.advance(1);
            }
            streams[port.inputs()[0]].push(0, 0, &train);
        }
        let mut policy = ByPlace { verdicts, log: Vec::new() };
        let counted = match &mut port.core {
            AnyCore::Cells(core) => {
                port.arrived += core.serve(&mut policy, MILLISECOND, &mut streams);
                format!("{:?} {:?} {:?}", core.stats, core.entries, core.fingerprint)
            }
            AnyCore::Stored(core) => {
                port.arrived += core.serve(&mut policy, MILLISECOND, &mut streams);
                format!("{:?} {:?} {:?}", core.stats, core.entries, core.fingerprint)
            }
            AnyCore::Packets(_) => panic!("a link of cells"),
        };
        port.check_conservation(&streams);
        let cells = |train: &Train<Cell>| {
            let (train, first) = (*train, train.item.position);
            (0..train.count).map(move |place| {
                (train.arrival(place), Cell { position: first + place as u16, ..train.item })
            })
        };
        let sent = port.outputs.iter().flat_map(|&output| streams[output].trains()).flat_map(cells);
        (policy.log, sent.collect(), counted)
    }

    /// A train is no more than its cells: whatever a policy decides about each of them, it sees, and the port does, what it would if they
    /// came one by one.
    #[test]
    fn a_train_is_its_cells() {
        let kinds = [Verdict::Accept, Verdict::Mark, Verdict::Discard(Reason::FrameRefused)];
        let own = Slot::of_bits(CELL_BITS, BitRate(155_520_000));
        for (service, slot) in [PER_VC, STORED].into_iter().flat_map(|service| {
            [own, Slot::of_bits(CELL_BITS, BitRate(25_600_000))].map(|slot| (service, slot))
        }) {
            for case in 0..3usize.pow(CELLS.into()) {
                let verdicts = std::array::from_fn(|place| kinds[case / 3usize.pow(place as u32) % 3]);
                let found = seen(&[service], verdicts, slot, true);
                assert_eq!(found, seen(&[service], verdicts, slot, false), "{service:?}, {verdicts:?}");
                let accepted = verdicts.iter().filter(|verdict| !matches!(verdict, Verdict::Discard(_)));
                assert_eq!(found.1.len(), 2 * accepted.count(), "{service:?}, {verdicts:?}");
            }
        }
    }
}
