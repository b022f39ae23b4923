//! Trains at a FIFO of cells: a burst whose first cell is accepted, and whose rest will be, goes on as one.

use std::ops::Range;

use celltrain_atm::{
    Cell,
    buffer::BufferPolicy,
    cell::{Ecn, Kind},
};
use celltrain_engine::{
    Instant, Span,
    stream::{Item, StreamId, Train},
    weave::Burst,
};

use super::{
    cells::CellFifo,
    computed::{Computed, NOTHING},
    core::PortCore,
    fifo::Fifo,
    passing::Passed,
    queues::Unit,
    service::Service,
    tally::Tally,
};
use crate::flight::Streams;

/// Where bursts that take turns go on.
#[derive(Debug, Clone, Copy)]
enum Ways {
    /// Each another way, as one train: its cells are not too far apart for that.
    Apart,
    /// All the same way.
    Together(StreamId),
    /// Some the same way.
    Mixed,
}

/// The cells of `bursts` at `places` in turn, each by its burst and its number in it.
fn in_turn(bursts: &[Burst<Cell>], places: Range<u32>) -> impl Iterator<Item = (&Burst<Cell>, u32)> {
    let at = |place: u32| bursts.iter().find_map(|burst| Some((burst, burst.item_at(place)?)));
    places.map(move |place| at(place).expect("each place is a burst's"))
}

impl PortCore<Computed<CellFifo>> {
    #[inline(always)]
    pub(super) fn on_burst<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        if train.slot > self.service.fifo.slot() {
            return self.on_slow_burst(policy, train, tally, streams);
        }
        let (straight, ecn) = (self.goes_straight(train), train.item.ecn);
        let gaps = if straight { Some(train.gaps) } else { self.gaps_behind(train) };
        if let Some(gaps) = gaps
            && self.passes(policy, train)
        {
            if straight && tally.counts_together() {
                return self.accept_straight(train, tally, streams);
            }
            return self.accept_burst(train, gaps, tally, streams);
        }
        // A frame that is marked is marked in every cell, here by the first for the others.
        let accepted = self.admit::<false, P>(policy, train.first, &mut train.item);
        if accepted
            && let Some(gaps) = gaps
            && policy.accepts_rest(&train.item)
        {
            return self.accept_burst(train, gaps, tally, streams);
        }
        self.on_parts(policy, train, accepted, ecn, tally, streams);
    }

    /// A train arrives whose cells find the link free one after another, where per-VC occupancies are kept. It goes on as one as far as
    /// its cells are accepted as the first is; returns how many were handled.
    pub(super) fn pass<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u32 {
        let (slot, mut cell) = (self.service.fifo.slot(), train.item);
        if !self.admit::<false, P>(policy, train.first, &mut cell) {
            return 1;
        }
        let first = Unit { cell, at: train.first, size: 1, ..Unit::default() };
        self.service.per_vc_mut().enter(cell.vc, cell.clp, first.size);
        let Passed { count, other } = self.pass_cells(policy, &first, slot, train);
        let mut passed = Train { item: cell, ..*train };
        passed.truncate(count + 1);
        if train.slot == slot {
            let gaps = passed.gaps;
            self.accept_burst(&mut passed, gaps, tally, streams);
        } else {
            self.accept_slow_burst(&mut passed, tally, streams);
        }
        let Some((next, accepted)) = other else {
            self.service.keep_until_departure(first.behind(train, count));
            return count + 1;
        };
        if accepted {
            self.accept_observed(&mut Train::single(next.at, next.cell), tally, streams);
        }
        count + 2
    }

    /// A train arrives of which not every cell is accepted, or which does not depart in one burst; whether the first was `accepted`
    /// is known. Its mark is not that of the others, which came with `ecn`: the frame may be broken before they come.
    #[cold]
    fn on_parts<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        accepted: bool,
        ecn: Ecn,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        if accepted {
            self.accept(&mut Train::single(train.first, train.item), tally, streams);
        }
        train.item.ecn = ecn;
        while train.count > 1 {
            train.advance(1);
            self.on_unit::<NOTHING, P>(policy, &mut Train::single(train.first, train.item), tally, streams);
        }
    }

    /// A train arrives whose cells come more slowly than they leave, as a rate or a slower link lets them. Those that find the link
    /// idle go on as they come.
    #[inline(never)]
    fn on_slow_burst<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        loop {
            let idle = self.service.fifo.last_departure() <= train.first;
            let mut cell = Train::single(train.first, train.item);
            if self.admit::<false, P>(policy, cell.first, &mut cell.item) {
                if idle && policy.accepts_rest(&cell.item) {
                    train.item = cell.item;
                    return self.accept_slow_burst(train, tally, streams);
                }
                self.accept(&mut cell, tally, streams);
            }
            if train.count == 1 {
                return;
            }
            train.advance(1);
        }
    }

    /// Interleaved trains arrive, of so many cells. They are accepted together where the policy accepts the first cell of each and the rest.
    /// Otherwise it decides on them one by one.
    #[inline(never)]
    pub(super) fn on_rounds<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        cells: u32,
        bursts: &mut [Burst<Cell>],
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        let asked = if self.wait_in_turn(cells, bursts) {
            match self.admit_round(policy, bursts, tally, streams) {
                Ok(()) => return self.accept_rounds(cells, bursts, tally, streams),
                Err(asked) => asked,
            }
        } else {
            0
        };
        self.on_turns(policy, asked..cells, bursts, tally, streams);
    }

    /// Whether all cells of `bursts`, so many, would find room and leave in the order in which they come, back to back: a round comes at
    /// least as fast as it leaves, and none of its cells but the first finds the link idle.
    #[inline(always)]
    fn wait_in_turn(&mut self, cells: u32, bursts: &[Burst<Cell>]) -> bool {
        let fifo = &mut self.service.fifo;
        let Burst { train: Train { first, slot: distance, .. }, step, .. } = bursts[0];
        let (slot, begin) = (fifo.slot(), fifo.last_departure().max(first));
        Instant::default().plus(distance) <= Instant::default().plus_slots(slot, u64::from(step))
            && fifo.has_room(first, u64::from(cells))
            && bursts.iter().all(|Burst { train: Train { first, item, .. }, place, .. }| {
                begin.plus_slots(slot, u64::from(*place)) >= *first && item.kind == Kind::Data
            })
    }

    /// The first cells of `bursts` arrive, which [wait in turn](Self::wait_in_turn). Asks the policy about those that begin a frame, each as if
    /// those before it had been queued. `Ok` if it accepts them and the rest of all; otherwise so many cells have been handled.
    fn admit_round<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        bursts: &[Burst<Cell>],
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> Result<(), u32> {
        let fifo = &mut self.service.fifo;
        fifo.rest_until(bursts[0].train.first);
        let (slot, begin, number) = (fifo.slot(), fifo.last_departure(), fifo.last_number());
        for &Burst { train: Train { first, mut item, .. }, place, .. } in bursts {
            let ecn = item.ecn;
            if !self.entries[item.vc as usize].at_frame_start && policy.accepts_rest(&item) {
                continue;
            }
            if bursts.iter().any(|other| other.last_place() < place) {
                // A frame ends before this one begins.
                self.accept_asked(place, bursts, tally, streams);
                return Err(place);
            }
            let (free, last) = (begin.plus_slots(slot, place.into()), number.wrapping_add(place.into()));
            self.service.fifo.reach(free, last);
            let accepted = self.admit::<false, P>(policy, first, &mut item);
            self.service.fifo.reach(begin, number);
            if !(accepted && item.ecn == ecn && policy.accepts_rest(&item)) {
                self.accept_asked(place, bursts, tally, streams);
                if accepted {
                    self.accept(&mut Train::single(first, item), tally, streams);
                }
                return Err(place + 1);
            }
        }
        Ok(())
    }

    /// Accepts the first `cells` cells of `bursts`, about which the policy need not be asked any more.
    #[inline(never)]
    fn accept_asked(&mut self, cells: u32, bursts: &[Burst<Cell>], tally: &mut Tally, streams: &mut Streams) {
        for (burst, number) in in_turn(bursts, 0..cells) {
            let mut cell = Train::single(burst.train.arrival(number), burst.train.item);
            cell.item.advance(number);
            self.entries[cell.item.vc as usize].at_frame_start = cell.item.is_last();
            self.accept(&mut cell, tally, streams);
        }
    }

    /// The cells of `bursts` at `places` arrive one by one.
    fn on_turns<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        places: Range<u32>,
        bursts: &[Burst<Cell>],
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        for (burst, number) in in_turn(bursts, places) {
            let (at, mut item) = (burst.train.arrival(number), burst.train.item);
            item.advance(number);
            self.on_unit::<NOTHING, P>(policy, &mut Train::single(at, item), tally, streams);
        }
    }

    /// Accepts all cells of `bursts`, so many, which arrive while the link is busy and are interleaved on it as they arrive. The items of
    /// `bursts` become those that go on.
    fn accept_rounds(
        &mut self,
        cells: u32,
        bursts: &mut [Burst<Cell>],
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        let fifo = &mut self.service.fifo;
        let (slot, begin, number) = (fifo.slot(), fifo.last_departure(), fifo.last_number().wrapping_add(1));
        fifo.extend(cells.into());
        if bursts.iter().any(|burst| burst.step != bursts[0].step) {
            // Frames end in the order of their last cells.
            bursts.sort_unstable_by_key(Burst::last_place);
        }
        let ways = self.ways(bursts);
        if matches!(ways, Ways::Mixed) {
            self.interleave(cells, bursts, begin, number, streams);
        }
        for Burst { train, place, step } in &mut *bursts {
            let (place, count) = (u64::from(*place), train.count);
            let slots = u64::from(*step) * u64::from(count - 1);
            let first = begin.plus_slots(slot, place + 1);
            let departure = first.plus_slots(slot, slots);
            let sojourn = departure.since(train.arrival(count - 1));
            tally.add(first.since(train.first), sojourn, u64::from(count));
            let vc = train.item.vc;
            let entry = &mut self.entries[vc as usize];
            entry.accepted[usize::from(train.item.clp)] += u64::from(count);
            train.item.vc = entry.next_vc;
            if matches!(ways, Ways::Apart) {
                let gaps = Train::<Cell>::even_gaps((*step).into(), count);
                let (number, first) = (number.wrapping_add(place), first.delayed(self.delay));
                let train = Train { first, slot, gaps, count, item: train.item };
                streams[entry.output].push(number, number.wrapping_add(slots), &train);
            }
            if u32::from(train.item.position) + count == u32::from(train.item.length) {
                entry.at_frame_start = true;
                self.end_frame(departure, sojourn, vc, Kind::Data);
            }
        }
        if let Ways::Together(output) = ways {
            let first = begin.plus(slot).delayed(self.delay);
            streams[output].push_rounds(bursts[0].train.count, number, first, slot, bursts);
        }
    }

    /// Sends the cells of `bursts`, which were accepted, in turn, behind the one that leaves at `free`. The first of them has that `number`.
    #[inline(never)]
    fn interleave(
        &self,
        cells: u32,
        bursts: &[Burst<Cell>],
        mut free: Instant,
        mut number: u64,
        streams: &mut Streams,
    ) {
        let slot = self.service.fifo.slot();
        for (burst, behind) in in_turn(bursts, 0..cells) {
            let mut cell = burst.train.item;
            let entry = &self.entries[cell.vc as usize];
            cell.advance(behind);
            cell.vc = entry.next_vc;
            free = free.plus(slot);
            streams[entry.output].push_one(number, free.delayed(self.delay), slot, cell);
            number = number.wrapping_add(1);
        }
    }

    /// Where `bursts` go on.
    fn ways(&self, bursts: &[Burst<Cell>]) -> Ways {
        let output = |burst: &Burst<Cell>| self.entries[burst.train.item.vc as usize].output;
        if let [one, other] = bursts {
            let (one, other) = (output(one), output(other));
            return if one == other { Ways::Together(one) } else { Ways::Apart };
        }
        let is_new =
            |place: usize| bursts[..place].iter().all(|other| output(other) != output(&bursts[place]));
        let (first, round) = (output(&bursts[0]), bursts.len() as u32);
        let together = |burst: &Burst<Cell>| output(burst) == first && burst.step == round;
        if bursts.iter().all(together) {
            Ways::Together(first)
        } else if bursts.len() <= 16 && (1..bursts.len()).all(is_new) {
            Ways::Apart
        } else {
            Ways::Mixed
        }
    }

    /// Whether `train` comes in slots of the link, and each of its cells finds that idle and has left when the next one comes.
    #[inline(always)]
    fn goes_straight(&mut self, train: &Train<Cell>) -> bool {
        let fifo = &mut self.service.fifo;
        fifo.last_departure() <= train.first && train.slot == fifo.slot()
    }

    /// If all cells of `train`, which does not go straight, would find room and depart as a burst: the gaps of that burst. Cells come at least
    /// as fast as they leave then, and the burst departs back to back.
    #[inline(always)]
    fn gaps_behind(&mut self, train: &Train<Cell>) -> Option<u64> {
        let fifo = &mut self.service.fifo;
        (train.gaps == 0 && fifo.has_room(train.first, u64::from(train.count))).then_some(0)
    }

    /// Accepts the cells of a frame that come as one train and go straight: each leaves a slot after it has come.
    #[inline(always)]
    fn accept_straight(&mut self, train: &mut Train<Cell>, tally: &mut Tally, streams: &mut Streams) {
        let (fifo, vc, slots) = (&mut self.service.fifo, train.item.vc, train.slots_to(train.count - 1));
        let (number, last) = (fifo.go_straight(train.first, train.last(), slots), fifo.last_departure());
        let sojourn = Span::of_slots(train.slot, 1);
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(train.item.clp)] += u64::from(train.count);
        // It is the whole frame: the next cell of the VC begins one, as this did.
        train.first = train.first.plus(train.slot).delayed(self.delay);
        train.item.vc = entry.next_vc;
        streams[entry.output].push(number, number.wrapping_add(slots), train);
        self.note_end(last.before(sojourn), vc);
        let counted = !self.keep_delay(last, sojourn);
        tally.add_straight(train.count.into(), counted.into());
    }

    /// Accepts all cells of `train`, which depart as a burst with `gaps`.
    #[inline(always)]
    fn accept_burst(&mut self, train: &mut Train<Cell>, gaps: u64, tally: &mut Tally, streams: &mut Streams) {
        let (fifo, count, at) = (&mut self.service.fifo, train.count, train.first);
        fifo.accept(at, &train.item);
        let (first, number) = (fifo.last_departure(), fifo.last_number());
        let mut sojourn = first.since(at);
        if train.slot == fifo.slot() {
            tally.add(sojourn, sojourn, u64::from(count));
        } else {
            // The burst comes faster than it leaves: each cell waits longer than the one before.
            let first_sojourn = sojourn;
            sojourn = first_sojourn.plus(fifo.slot().minus(train.slot), u64::from(count - 1));
            tally.add(first_sojourn, sojourn, u64::from(count));
        }
        (train.slot, train.gaps) = (fifo.slot(), gaps);
        fifo.extend(train.slots_to(count - 1));
        self.send_burst(train, first, number, sojourn, streams);
    }

    /// Accepts all cells of `train`, which come more slowly than they leave and find the link idle: each has left when the next one
    /// comes, and they go on as they came.
    fn accept_slow_burst(&mut self, train: &mut Train<Cell>, tally: &mut Tally, streams: &mut Streams) {
        let (fifo, at) = (&mut self.service.fifo, train.first);
        fifo.accept(at, &train.item);
        let first = fifo.last_departure();
        let sojourn = first.since(at);
        tally.add(sojourn, sojourn, u64::from(train.count));
        fifo.trail(train.slot, train.slots_to(train.count - 1));
        let number = fifo.last_number();
        self.send_burst(train, first, number, sojourn, streams);
        self.service.fifo.leave_grid();
    }

    /// Sends the cells of a burst on, which the FIFO has just accepted: the first leaves at `first`, and has `number`; the last one's
    /// sojourn, the longest of them, is `sojourn`. `train` becomes what arrives at the other end.
    #[inline(always)]
    fn send_burst(
        &mut self,
        train: &mut Train<Cell>,
        first: Instant,
        number: u64,
        sojourn: Span,
        streams: &mut Streams,
    ) {
        let (vc, count) = (train.item.vc, train.count);
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(train.item.clp)] += u64::from(count);
        train.first = first.delayed(self.delay);
        train.item.vc = entry.next_vc;
        streams[entry.output].push(number, self.service.fifo.last_number(), train);
        if u32::from(train.item.position) + count == u32::from(train.item.length) {
            entry.at_frame_start = true;
            let departure = self.service.fifo.last_departure();
            self.end_frame(departure, sojourn, vc, Kind::Data);
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::cell::CELL_BITS;
    use celltrain_engine::{Slot, Time, quantity::BitRate, time::MILLISECOND};

    use super::*;
    use crate::port::{
        AnyCore, Location,
        tests::{network, with_streams},
        with_core,
    };

    /// What a port does with frames of five cells, each a slot behind the one before but for `gaps`, that begin at `starts` slots and come in
    /// trains or one by one: what it sent, and what it counted. The run is to go on until `runs_until`.
    fn done(
        starts: &[u64],
        gaps: u64,
        runs_until: Time,
        levels: bool,
        in_trains: bool,
    ) -> (Vec<(Instant, Cell)>, String) {
        let (mut network, slot) = (network(&[]), Slot::of_bits(CELL_BITS, BitRate(155_520_000)));
        let mut streams = with_streams(&network);
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        port.run_on(runs_until);
        if levels {
            port.follow_levels();
        }
        for (frame, &start) in starts.iter().enumerate() {
            let item = Cell { frame: frame as u32, length: 5, ..Cell::default() };
            let first = Instant::start_of(1000).plus_slots(slot, start);
            let mut train = Train { slot, gaps, count: 5, ..Train::single(first, item) };
            while !in_trains && train.count > 1 {
                streams[port.inputs()[0]].push(0, 0, &Train::single(train.first, train.item));
                train.advance(1);
            }
            streams[port.inputs()[0]].push(0, 0, &train);
        }
        port.visit(MILLISECOND, &mut streams);
        port.check_conservation(&streams);
        // What was kept for later is counted too.
        port.run_on(MILLISECOND);
        let cells = |train: &Train<Cell>| {
            let train = *train;
            (0..train.count).map(move |place| {
                let mut item = train.item;
                item.position += place as u16;
                (train.arrival(place), item)
            })
        };
        let sent = port.outputs.iter().flat_map(|&output| streams[output].trains()).flat_map(cells).collect();
        let counted = with_core!(&port.core, core => {
            format!("{:?} {:?} {:?}", core.stats, core.entries, core.fingerprint)
        });
        (
            sent,
            format!("{counted} {:?} {} {:?}", port.occupancy_integral(), port.occupancy_max(), port.levels()),
        )
    }

    /// Whether they find the link idle or just left, and with some of them not yet gone when the run is to end: frames are no more than their
    /// cells.
    #[test]
    fn a_frame_that_goes_straight_is_its_cells() {
        for starts in [&[0, 5, 10][..], &[0, 6, 12], &[0, 40]] {
            for (gaps, runs_until) in
                [0, 0x120].into_iter().flat_map(|gaps| [0, 20_000_000, MILLISECOND].map(|end| (gaps, end)))
            {
                let spread: Vec<_> = starts.iter().map(|start| start * 8 / 5).collect();
                let starts = if gaps == 0 { starts } else { &spread };
                for levels in [false, true] {
                    let [one_by_one, in_trains] =
                        [false, true].map(|trains| done(starts, gaps, runs_until, levels, trains));
                    assert_eq!(
                        in_trains, one_by_one,
                        "{starts:?}, gaps {gaps:x}, until {runs_until}, {levels}"
                    );
                    assert_eq!(in_trains.0.len(), 5 * starts.len());
                }
            }
        }
    }
}
