//! Stored queues while nothing waits: a unit that finds the link free is sent without a queue, and so are the cells of a train that find
//! it free one after another.
//!
//! Where streams do not meet this is so of most trains. The results are those of queuing each unit and taking it out again.

use celltrain_atm::{Cell, buffer::BufferPolicy, scheduler::Queues};
use celltrain_engine::{Instant, Span, stream::Train};

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
        self.note_entered::<false>(unit);
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
        assert!(!self.take_next::<false>(now), "nothing waits");
    }

    /// The cells of `train` were accepted; the last of them, `unit`, is in transmission, and each before it has left when the next one came.
    /// Returns the numbers of the first departure and of the last.
    fn pass(&mut self, unit: &Unit, train: &Train<Cell>) -> (u64, u64) {
        let (behind, slot) = (train.count - 1, self.line.slot());
        self.store.pass(&unit.cell);
        if self.scheduler.is_some() {
            self.tell_train_passed(unit, train);
        }
        let first = self.number.wrapping_add(if train.first == self.free { 1 } else { APART });
        let last = first.wrapping_add(train.slots_to(behind));
        // Cells that come more slowly than they leave are on no grid of this link's slots.
        self.number = if train.slot == slot { last } else { last.wrapping_add(APART) };
        self.begun += u64::from(train.count);
        (self.unit, self.sends, self.free) = (*unit, true, unit.at.plus(slot));
        (first, last)
    }

    /// Tells the scheduler of the cells of `train`, which are like `unit`; if it remembers nothing once nothing waits, of the first and the last.
    fn tell_train_passed(&mut self, unit: &Unit, train: &Train<Cell>) {
        self.tell_passed(unit, train.first);
        let (last, slot) = (train.count - 1, self.line.slot());
        let told = if self.forgets() { last.max(1) } else { 1 };
        for place in told..=last {
            self.idle(train.arrival(place - 1).plus(slot));
            self.tell_passed(unit, train.arrival(place));
        }
    }
}

impl PortCore<Stored> {
    /// Whether the cells of `train`, whose first finds the link free, find it free one after another, and nothing waiting, at one rate.
    /// Rate control, policers and the books of the buffer look at each cell by itself.
    #[inline]
    pub(super) fn comes_alone(&self, train: &Train<Cell>) -> bool {
        train.count > 1
            && train.slot >= self.service.line.slot()
            && (!self.service.changes_rate() || train.last().ps() < self.service.rates.next())
            && self.service.store.waiting() == 0
            && !self.service.books.any()
            && self.control.is_none()
            && self.policers.is_empty()
    }

    /// Sends the cells of `train` as they come, see [`PortCore::comes_alone`], of which the first, `first`, was accepted, up to one that is not
    /// accepted as that was. Returns how many were handled behind the first.
    #[inline(never)]
    pub(super) fn pass_train<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        first: &Unit,
        train: &Train<Cell>,
        streams: &mut Streams,
    ) -> u32 {
        self.service.note_entered::<false>(first);
        let Passed { count, other } = self.pass_cells(policy, first, self.service.line.slot(), train);
        self.send_train(first, train, count, streams);
        let Some((next, accepted)) = other else { return count };
        self.end_train(policy, next, accepted, streams);
        count + 1
    }

    /// Sends `first`, and `count` cells of `train` behind it, as they come; the last of them is then in transmission.
    fn send_train(&mut self, first: &Unit, train: &Train<Cell>, count: u32, streams: &mut Streams) {
        let (slot, Cell { vc, clp, .. }) = (self.service.line.slot(), first.cell);
        let mut sent = *train;
        if count + 1 < train.count {
            sent.truncate(count + 1);
        }
        let last = first.behind(train, count);
        let (first_number, last_number) = self.service.pass(&last, &sent);
        let sojourn = Span::of_slots(slot, 1);
        self.stats.sojourns.add_run(sojourn, sojourn, count.into());
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(clp)] += u64::from(sent.count);
        sent.first = sent.first.plus(slot).delayed(self.delay);
        sent.item = Cell { vc: entry.next_vc, ..first.cell };
        let output = &mut streams[entry.output];
        if sent.slot == slot {
            output.push(first_number, last_number, &sent);
        } else {
            output.push_apart(last_number, &sent);
        }
        if last.cell.is_last() {
            self.note_end(last.at, vc);
        }
    }

    /// Ends a train that was passed before the cell `next`, for which the one in transmission has left; sends `next` by itself if it was
    /// `accepted`.
    #[cold]
    fn end_train<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        next: Unit,
        accepted: bool,
        streams: &mut Streams,
    ) {
        let service = &mut self.service;
        let (departure, sojourn) = (service.free, service.free.since(service.unit.at));
        service.sends = false;
        service.idle(departure);
        self.stats.sojourns.add(sojourn);
        if accepted {
            self.accept_alone(policy, &next, streams);
        }
    }

    /// A unit was accepted while the link is free and nothing waits: it is sent as it comes, if the policy lets it pass at the head too.
    #[inline(always)]
    pub(super) fn accept_alone<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        unit: &Unit,
        streams: &mut Streams,
    ) {
        self.note_accepted(unit);
        self.service.enter_alone(unit);
        self.note_abr_queue(unit.at);
        if self.passes_taken(policy, unit.at) {
            self.transmit(unit.at, streams);
        } else {
            self.service.idle(unit.at);
        }
    }
}
