//! The FIFO of a cell-framed link. It stores nothing: its occupancy is the backlog in slots.

use celltrain_atm::Cell;
use celltrain_engine::{Instant, Slot, Span, SpanSum, Time, time::NEVER};

use super::fifo::{APART, Fifo};
use crate::measures::Levels;

/// The state of a FIFO of cells.
#[derive(Debug, Clone)]
pub(super) struct CellFifo {
    slot: Slot,
    capacity: u64,
    /// A backlog shorter than this leaves room for a cell; not so long that a sum with it overflows.
    headroom: Time,
    last_departure: Instant,
    /// Number of the last departure.
    last_number: u64,
    /// How long it held how much, if that is followed.
    levels: Option<Box<Levels>>,
}

impl CellFifo {
    pub(super) fn new(slot: Slot, capacity: u64) -> Self {
        let headroom = capacity.saturating_sub(1).saturating_mul(slot.ps()).min(NEVER / 2);
        Self { slot, capacity, headroom, last_departure: Instant::default(), last_number: 0, levels: None }
    }

    /// Whether `count` cells that arrive from `now` on all find room; those that leave meanwhile only make more.
    #[inline]
    pub(super) fn has_room(&self, now: Instant, count: u64) -> bool {
        let backlog = self.last_departure.ps().saturating_sub(now.ps());
        backlog.saturating_add((count * self.slot.ps()) + count) < self.headroom
            || self.occupancy(now).saturating_add(count) <= self.capacity
    }

    /// Queues `slots` slots' worth of cells behind the last one.
    #[inline]
    pub(super) fn extend(&mut self, slots: u64) {
        self.last_departure = self.last_departure.plus_slots(self.slot, slots);
        self.last_number = self.last_number.wrapping_add(slots);
    }

    /// Cells that come in slots of this link all find it idle behind the last one, the first at `first`, the last of them at `last`, `slots`
    /// slots later. Returns the number of the first one's departure.
    #[inline(always)]
    pub(super) fn go_straight(&mut self, first: Instant, last: Instant, slots: u64) -> u64 {
        let behind = if self.last_departure == first { 1 } else { APART };
        let number = self.last_number.wrapping_add(behind);
        self.last_departure = last.plus(self.slot);
        self.last_number = number.wrapping_add(slots);
        number
    }

    /// Cells that found the link idle have been sent: the last one leaves at `departure`, and has this number.
    #[inline(always)]
    pub(super) fn reach(&mut self, departure: Instant, number: u64) {
        (self.last_departure, self.last_number) = (departure, number);
    }

    /// Nothing comes before `first`: if the link is idle by then, what comes then leaves as from a link that has just become free.
    #[inline]
    pub(super) fn rest_until(&mut self, first: Instant) {
        if self.last_departure < first {
            self.reach(first, self.last_number.wrapping_add(APART - 1));
        }
    }

    /// Cells come behind the last one that all find the link idle, the last of them `slots` times a `slot` later. They are on no grid of
    /// this link's slots.
    #[inline]
    pub(super) fn trail(&mut self, slot: Slot, slots: u64) {
        self.last_departure = self.last_departure.plus_slots(slot, slots);
        self.leave_grid();
    }

    /// What departs next is not on the grid of what departed before.
    #[inline]
    pub(super) fn leave_grid(&mut self) {
        self.last_number = self.last_number.wrapping_add(APART);
    }

    /// The time until the last cell has left.
    fn backlog(&self, now: Instant) -> Span {
        if self.last_departure > now { self.last_departure.since(now) } else { Span::default() }
    }
}

impl Fifo for CellFifo {
    const PACKETS: bool = false;

    #[inline]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline]
    fn size(&self, _: &Cell) -> u32 {
        1
    }

    #[inline]
    fn advance(&mut self, _: Instant) {}

    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        if self.last_departure <= now { 0 } else { self.last_departure.since(now).slots(self.slot) }
    }

    fn units(&self, now: Instant) -> u64 {
        self.occupancy(now)
    }

    #[inline]
    fn is_full(&self, now: Instant, _: &Cell) -> bool {
        // Most cells find a backlog that is obviously short enough; only the others need the division. A backlog of
        // `headroom` in whole picoseconds may be a fraction of one longer. If the sum overflowed, the division would decide.
        self.last_departure.ps() >= now.ps().wrapping_add(self.headroom)
            && self.occupancy(now) >= self.capacity
    }

    #[inline]
    fn accept(&mut self, at: Instant, _: &Cell) {
        let idle = self.last_departure < at;
        let start = if idle { at } else { self.last_departure };
        self.last_number = self.last_number.wrapping_add(if idle { APART } else { 1 });
        self.last_departure = start.plus(self.slot);
    }

    #[inline]
    fn slot(&self) -> Slot {
        self.slot
    }

    #[inline]
    fn last_departure(&self) -> Instant {
        self.last_departure
    }

    #[inline]
    fn last_number(&self) -> u64 {
        self.last_number
    }

    fn carried(&self, units: u64) -> Span {
        Span::of_slots(self.slot, units)
    }

    fn time_ahead(&self, now: Instant) -> SpanSum {
        // What is in the buffer of a busy link leaves back to back.
        let cells = self.occupancy(now);
        let last = if cells > 0 { self.last_departure.since(now) } else { Span::default() };
        SpanSum::of_backlog(last, self.slot, cells)
    }

    fn follow_levels(&mut self, now: Instant) {
        let mut levels = Levels::from(now);
        levels.add_backlog(self.backlog(now), self.slot);
        self.levels = Some(Box::new(levels));
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        let levels = self.levels.as_deref().cloned()?;
        Some(levels.without_backlog(self.backlog(now), self.slot))
    }

    fn lend_levels(&mut self) -> Option<Box<Levels>> {
        self.levels.take()
    }

    fn give_back_levels(&mut self, levels: Option<Box<Levels>>) {
        self.levels = levels;
    }

    fn shortest(&self) -> Time {
        self.slot.ps()
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::cell::CELL_BITS;
    use celltrain_engine::quantity::BitRate;

    use super::*;

    /// The last but one has a slot of a whole number of picoseconds; at the last one a slot has fewer of them than a long frame has cells.
    const RATES: [u64; 4] = [149_760_000, 155_520_000, 100_000_000, 8_000_000_000_000];

    fn cell() -> Cell {
        Cell::default()
    }

    /// Just before, at and just after `instant`, on and off whole picoseconds.
    fn about(instant: Instant) -> impl Iterator<Item = Instant> {
        let ps = instant.ps();
        [ps.saturating_sub(1), ps, ps + 1, ps + 2].map(Instant::start_of).into_iter().chain([instant])
    }

    #[test]
    fn there_is_room_where_a_count_of_the_cells_in_the_buffer_says_so() {
        for (rate, capacity) in RATES.into_iter().flat_map(|rate| [1, 2, 7, 300].map(|cells| (rate, cells))) {
            let slot = Slot::of_bits(CELL_BITS, BitRate(rate));
            let (mut fifo, begin) = (CellFifo::new(slot, capacity), Instant::start_of(12_345));
            for accepted in 1..=capacity {
                fifo.accept(begin, &cell());
                let departures: Vec<_> = (0..=accepted).map(|cells| begin.plus_slots(slot, cells)).collect();
                for now in departures.iter().step_by(capacity as usize / 8 + 1).flat_map(|&at| about(at)) {
                    if now < begin {
                        continue;
                    }
                    let waiting = departures[1..].iter().filter(|&&departure| departure > now).count() as u64;
                    assert_eq!(fifo.occupancy(now), waiting, "{rate} bit/s, {accepted} cells, at {now:?}");
                    let mut ahead = SpanSum::default();
                    departures[1..].iter().filter(|&&at| at > now).for_each(|at| ahead.add(at.since(now)));
                    assert_eq!(fifo.time_ahead(now), ahead, "{rate} bit/s, {accepted} cells, at {now:?}");
                    assert_eq!(fifo.is_full(now, &cell()), waiting >= capacity, "{rate} bit/s, {now:?}");
                    for count in [1, 2, capacity - waiting, capacity - waiting + 1, capacity, capacity + 1] {
                        let fits = waiting + count <= capacity;
                        assert_eq!(fifo.has_room(now, count), fits, "{rate} bit/s, {count} to {waiting}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_departures_back_to_back_have_neighbouring_numbers() {
        let slot = Slot::of_bits(CELL_BITS, BitRate(RATES[0]));
        let mut fifo = CellFifo::new(slot, 10);
        assert_eq!(fifo.shortest(), slot.ps());
        let mut number = |pause: Time| {
            fifo.accept(fifo.last_departure().delayed(pause), &cell());
            fifo.last_number()
        };
        let first = number(5);
        // A cell that comes as the link becomes free leaves a slot later, as one that waits does.
        assert_eq!(number(0), first + 1);
        assert_eq!(number(0), first + 2);
        assert!(number(1) >= first + APART);
        let last = fifo.last_number();
        fifo.extend(3);
        assert_eq!(fifo.last_number(), last + 3);
    }
}
