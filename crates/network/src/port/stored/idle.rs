//! Stored queues while nothing waits: a unit that finds the link free is sent without a queue, and so are the cells of a train that find
//! it free one after another.
//!
//! Where streams do not meet this is so of most trains. The results are those of queuing each unit and taking it out again.

use celltrain_atm::{Cell, buffer::BufferPolicy, scheduler::Queues};
use celltrain_engine::{Instant, stream::Train, time::Span};

use super::Stored;
use crate::{
    flight::Streams,
    port::{core::PortCore, fifo::APART, passing::Passed, queues::Unit},
};

/// A unit that has come while nothing else waits, as a scheduler sees the queues then.
impl Queues for Unit {
    #[inline]
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        (vc == self.cell.vc && place == 0).then_some(self.load())
    }

    fn is_low_latency(&self, _: u32, _: usize) -> bool {
        self.low_latency
    }
}

impl Stored {
    /// As [`Stored::enter`], where the link is free and nothing waits: the unit needs no queue, because it is sent at once.
    #[inline]
    fn enter_alone(&mut self, unit: &Unit) {
        self.note_entered(unit);
        self.store.pass(&unit.cell);
        self.tell_passed(unit, unit.at);
        self.unit = *unit;
    }

    /// Tells the scheduler, if there is one, of a unit like `unit` that came at `at`, when nothing else waited.
    #[inline]
    fn tell_passed(&mut self, unit: &Unit, at: Instant) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.pass(unit.cell.vc, unit.load(), at, unit);
        }
    }

    /// The link becomes free at `now`, and nothing waits.
    fn idle(&mut self, now: Instant) {
        assert!(!self.take_next(now), "nothing waits");
    }

    /// The last cell of `train`, `unit`, is in transmission; each of the cells before it, of which the first had been sent, has left when
    /// the next one came. Returns the numbers of the second departure and of the last.
    fn pass(&mut self, unit: Unit, train: &Train<Cell>) -> (u64, u64) {
        let (count, slot) = (train.count - 1, self.line.slot());
        self.store.pass(&unit.cell);
        let told = if self.forgets() { count.max(1) } else { 1 };
        for place in told..=count {
            self.idle(train.arrival(place - 1).plus(slot));
            self.tell_passed(&unit, train.arrival(place));
        }
        // Cells that come more slowly than they leave are on no grid of this link's slots.
        let on_grid = train.slot == slot;
        let (first, last) = if on_grid { (train.slots_to(1), train.slots_to(count)) } else { (APART, APART) };
        let (first, last) = (self.number.wrapping_add(first), self.number.wrapping_add(last));
        self.number = if on_grid { last } else { last.wrapping_add(APART) };
        self.cells += u64::from(count);
        (self.unit, self.sends) = (unit, true);
        self.free = unit.at.plus(slot);
        (first, last)
    }
}

impl PortCore<Stored> {
    /// Whether the cells of `train` behind its first, which is in transmission, find the link free one after another, and nothing
    /// waiting, at one rate. Rate control, policers and the books of the buffer look at each cell by itself.
    #[inline]
    pub(super) fn comes_alone(&self, train: &Train<Cell>) -> bool {
        train.count > 1
            && train.slot >= self.service.line.slot()
            && train.last().ps() < self.service.rates.next()
            && self.service.store.waiting() == 0
            && !self.service.books.any()
            && self.control.is_none()
            && self.policers.is_empty()
    }

    /// Sends the cells of `train` behind its first as they come, see [`PortCore::comes_alone`], up to one that is not accepted as the
    /// first was. Returns how many were handled.
    pub(super) fn pass_rest<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &Train<Cell>,
        streams: &mut Streams,
    ) -> u32 {
        let unit = self.service.unit;
        let Passed { count, other } = self.pass_cells(policy, &unit, self.service.line.slot(), train);
        self.send_rest(unit.behind(train, count), train, count, streams);
        let Some((next, accepted)) = other else { return count };
        self.end_rest(next, accepted, streams);
        count + 1
    }

    /// Sends `count` cells of `train` behind its first, which has been sent, as they come; `last` is then in transmission.
    fn send_rest(&mut self, last: Unit, train: &Train<Cell>, count: u32, streams: &mut Streams) {
        let slot = self.service.line.slot();
        let mut rest = *train;
        rest.truncate(count + 1);
        let (first_number, last_number) = self.service.pass(last, &rest);
        if count == 0 {
            return;
        }
        let (sojourn, Cell { vc, clp, ecn, .. }) = (Span::of_slots(slot, 1), last.cell);
        self.stats.sojourns.add_run(sojourn, sojourn, count.into());
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(clp)] += u64::from(count);
        rest.advance(1);
        rest.first = rest.first.plus(slot).delayed(self.delay);
        rest.item = Cell { vc: entry.next_vc, ecn, ..rest.item };
        streams[entry.output].push(first_number, last_number, &rest);
        if last.cell.is_last() {
            self.note_end(last.at, vc);
        }
    }

    /// Ends a train that was passed before the cell `next`, for which the one in transmission has left; sends `next` by itself if it was
    /// `accepted`.
    #[cold]
    fn end_rest(&mut self, next: Unit, accepted: bool, streams: &mut Streams) {
        let service = &mut self.service;
        let (departure, sojourn) = (service.free, service.free.since(service.unit.at));
        service.sends = false;
        service.idle(departure);
        self.stats.sojourns.add(sojourn);
        if accepted {
            self.accept_alone(&next, streams);
        }
    }

    /// A unit was accepted while the link is free and nothing waits: it is sent as it comes.
    #[inline(always)]
    pub(super) fn accept_alone(&mut self, unit: &Unit, streams: &mut Streams) {
        self.note_accepted(unit);
        self.service.enter_alone(unit);
        self.note_abr_queue(unit.at);
        self.transmit(unit.at, streams);
    }
}
