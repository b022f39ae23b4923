//! A traffic shaper: what a host does to keep a VC at its peak rate, in front of its network interface.
//!
//! A unit goes on when it comes, but not before the one before it has had its time at the peak rate: 1/PCR for a cell. So what goes on
//! conforms to GCRA(1/PCR, 0) (ATM Forum TM 4.1), and what conforms already is not held back. What comes faster waits, without limit.

use celltrain_atm::Cell;
use celltrain_engine::{
    Instant, Slot, Time,
    merge::{Merge, TieBreak},
    stream::{StreamId, Train},
    time::AFTER_ALL,
};

use crate::{flight::Streams, port::Line};

/// The shaper of a VC.
#[derive(Debug)]
pub(crate) struct Shaper {
    /// The link behind the interface, by its number in the graph.
    link: usize,
    input: [StreamId; 1],
    output: [StreamId; 1],
    /// What the interface calls the VC.
    vci: u32,
    /// A line of the peak rate.
    line: Line,
    merge: Merge,
    /// When the next unit may go on.
    free: Instant,
    clock: Time,
    passed: u64,
}

impl Shaper {
    /// Shapes what comes on `input` to the rate of `line`. It goes on to `output`, as VC number `vci`.
    pub(crate) fn new(link: usize, input: StreamId, output: StreamId, vci: u32, line: Line) -> Self {
        let (input, output) = ([input], [output]);
        Self {
            link,
            merge: Merge::new(&input, TieBreak::InputId),
            input,
            output,
            vci,
            line,
            free: Instant::default(),
            clock: 0,
            passed: 0,
        }
    }

    /// The link behind the interface, by its number in the graph.
    pub(crate) fn link(&self) -> usize {
        self.link
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.input
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.output
    }

    /// Where its VC goes on, and what it is called there.
    pub(crate) fn hop(&self) -> (StreamId, u32) {
        (self.output[0], self.vci)
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// Handles what comes before `until`.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let before = self.passed;
        if let Some(mut input) = self.merge.lend_alone(streams) {
            while let Some(train) = input.next(until) {
                self.on_train(*train, streams);
            }
            self.merge.give_back(input, streams);
        }
        self.clock = until;
        self.passed - before
    }

    /// What comes from its clock on goes no sooner, nor before its turn.
    pub(crate) fn promise(&self, streams: &mut Streams) {
        streams[self.output[0]].advance_horizon(self.clock.max(self.free.ps()));
    }

    fn on_train(&mut self, mut train: Train<Cell>, streams: &mut Streams) {
        train.item.vc = self.vci;
        self.passed += u64::from(train.count);
        loop {
            let head = match self.line {
                Line::Cells { slot, .. } => self.cells(&train, slot),
                Line::Packets { octet, overhead, .. } => self.packet(&train, octet, overhead),
            };
            // What has no turn before the end of any run never goes on.
            self.free = self.free.min(Instant::at(AFTER_ALL));
            // Its trains join no other, whatever their numbers.
            streams[self.output[0]].push_apart(0, &head);
            if head.count == train.count {
                return;
            }
            train.advance(head.count);
        }
    }

    /// The first cells of a train as they go on: all of them as they come, or as many as then follow each other at the peak rate.
    fn cells(&mut self, train: &Train<Cell>, slot: Slot) -> Train<Cell> {
        let mut head = *train;
        if train.first >= self.free && train.slot >= slot {
            self.free = train.last().plus(slot);
            return head;
        }
        head.first = train.first.max(self.free);
        head.truncate(waiting(train, head.first, slot));
        (head.slot, head.gaps) = (slot, 0);
        self.free = head.first.plus_slots(slot, head.count.into());
        head
    }

    /// The first packet of a train as it goes on.
    fn packet(&mut self, train: &Train<Cell>, octet: Slot, overhead: u64) -> Train<Cell> {
        let mut head = *train;
        head.truncate(1);
        head.first = train.first.max(self.free);
        self.free = head.first.plus_slots(octet, u64::from(train.item.octets) + overhead);
        head
    }

    /// Checks that no unit was lost track of.
    ///
    /// # Panics
    /// If one was.
    pub(crate) fn check_conservation(&self, streams: &Streams) {
        let (input, link) = (&streams[self.input[0]], self.link);
        assert_eq!(input.pushed(), input.waiting() + self.passed, "shaper of link {link}: cells sent to it");
        assert_eq!(
            self.passed,
            streams[self.output[0]].pushed(),
            "shaper of link {link}: cells that went on"
        );
    }
}

/// How many of the first units of a train are there when their turns come, one `slot` after the other from `turn` on; the first one is.
fn waiting(train: &Train<Cell>, turn: Instant, slot: Slot) -> u32 {
    if train.gaps == 0 && train.slot <= slot {
        return train.count;
    }
    (1..train.count)
        .find(|&place| train.arrival(place) > turn.plus_slots(slot, place.into()))
        .unwrap_or(train.count)
}

#[cfg(test)]
mod tests {
    use celltrain_atm::{cell::CELL_BITS, quantity::Capacity};
    use celltrain_engine::{
        quantity::BitRate,
        stream::{Item, Stream},
    };
    use proptest::prelude::*;

    use super::*;
    use crate::flight::InFlight;

    const OVERHEAD: u64 = 18;

    fn slot_of(rate: u64) -> Slot {
        Slot::of_bits(CELL_BITS, BitRate(rate))
    }

    /// When the units of trains go on that come at these times with these sizes, computed unit by unit.
    fn expected(units: &[(Instant, u64)], slot: Slot) -> Vec<Instant> {
        let mut free = Instant::default();
        let turn = |&(at, slots): &(Instant, u64)| {
            let turn = at.max(free);
            free = turn.plus_slots(slot, slots);
            turn
        };
        units.iter().map(turn).collect()
    }

    fn units(train: &Train<Cell>) -> impl Iterator<Item = (Instant, Cell)> + use<> {
        let train = *train;
        (0..train.count).map(move |place| {
            let mut item = train.item;
            if place > 0 {
                item.advance(place);
            }
            (train.arrival(place), item)
        })
    }

    /// What comes out of a shaper into which `trains` come, visited at such intervals.
    fn shaped(line: Line, trains: &[Train<Cell>], interval: Time) -> Vec<(Instant, Cell)> {
        let mut streams = Streams::new(vec![Stream::default(), Stream::default()], InFlight::default());
        trains.iter().for_each(|train| streams[0].push_apart(0, train));
        let (end, mut shaper) = (trains.last().unwrap().last().ps() + 1, Shaper::new(0, 0, 1, 7, line));
        while shaper.clock() < end {
            shaper.visit(shaper.clock() + interval, &mut streams);
            // The next push checks that it keeps to that.
            shaper.promise(&mut streams);
            shaper.check_conservation(&streams);
        }
        streams[1].trains().iter().flat_map(units).collect()
    }

    #[test]
    fn a_cell_that_conforms_is_not_held_back() {
        let slot = slot_of(64_000);
        let train = |at, count| Train { count, ..Train::single(Instant::start_of(at), Cell::default()) };
        let line = Line::Cells { slot, capacity: u64::MAX };
        // The second of two that come together has to wait for 1/PCR, and one that comes after less than that for the rest.
        let trains = [train(5, 1), train(10_000_000_000, 2), train(20_000_000_000, 1)];
        let times: Vec<_> = shaped(line, &trains, 1_000_000).iter().map(|unit| unit.0.ps()).collect();
        assert_eq!(times, [5, 10_000_000_000, 16_625_000_000, 23_250_000_000]);
    }

    #[test]
    fn what_has_no_turn_within_any_run_waits_for_ever() {
        let (octet, count) = (Slot::of_bits(8, BitRate(1000)), 40_000);
        let line = Line::Packets { octet, overhead: 0, limit: Capacity::UNLIMITED };
        let packet = Cell { octets: 65_535, ..Cell::default() };
        let trains: Vec<_> = (0..count).map(|at| Train::single(Instant::start_of(at), packet)).collect();
        let times: Vec<_> = shaped(line, &trains, 1_000_000).iter().map(|unit| unit.0).collect();
        assert!(times.is_sorted());
        assert_eq!(times.last(), Some(&Instant::at(AFTER_ALL)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever comes, and however it is visited, units go on as if they were handled one by one, and in their order.
        #[test]
        fn trains_are_their_units(
            trains in prop::collection::vec(
                (0..60_000_000_u64, 1..40_u32, prop::sample::select(vec![0_u64, 25, 100, 155, 160, 600]), any::<u64>(), 40..1500_u32),
                1..30,
            ),
            packets in any::<bool>(),
            interval in 1_000_000..50_000_000_u64,
        ) {
            let (mut at, mut every) = (Instant::default(), Vec::new());
            for (pause, count, rate, gaps, octets) in trains {
                let slot = if rate == 0 { Slot::ZERO } else { slot_of(rate * 1_000_000) };
                let count = if packets { 1 } else { count };
                let item = Cell { octets, length: 50, ..Cell::default() };
                let mut train = Train { slot, gaps: gaps & 0x0303_0303, count: 60, ..Train::single(at.delayed(pause), item) };
                train.truncate(count);
                at = train.last();
                every.push(train);
            }
            let (octet, slot) = (Slot::of_bits(8, BitRate(100_000_000)), slot_of(155_000_000));
            let line = if packets {
                Line::Packets { octet, overhead: OVERHEAD, limit: Capacity::UNLIMITED }
            } else {
                Line::Cells { slot, capacity: u64::MAX }
            };
            let came: Vec<_> = every.iter().flat_map(units).collect();
            let size = |cell: &Cell| if packets { u64::from(cell.octets) + OVERHEAD } else { 1 };
            let sized: Vec<_> = came.iter().map(|(at, cell)| (*at, size(cell))).collect();
            let went = shaped(line, &every, interval);
            let times: Vec<_> = went.iter().map(|unit| unit.0).collect();
            prop_assert_eq!(times, expected(&sized, if packets { octet } else { slot }));
            for ((_, came), (_, went)) in std::iter::zip(came, went) {
                prop_assert_eq!(Cell { vc: 7, ..came }, went);
            }
        }
    }
}
