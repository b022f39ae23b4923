//! Trains: items that arrive in a row, as one.

use std::fmt::Debug;

use crate::instant::{Instant, Slot};

/// What a train is made of (a cell). Only the first item is stored; the others follow from it.
pub trait Item: Copy + Debug {
    /// Makes this the item `count` places further back in its train.
    fn advance(&mut self, count: u32);

    /// Whether this item can stand `count` places behind `head` in one train.
    fn follows(&self, head: &Self, count: u32) -> bool;
}

/// Items that arrive in a row, whole numbers of slots apart: a train, as in packet trains (Jain and Routhier 1986).
///
/// Items that a port sends back to back are one slot of its link apart. Where the items of several frames take turns on a link,
/// those of one frame are further apart, but still on the link's grid; `gaps` says how far, so that they stay one train when
/// they part from the others. What a rate has spaced has a slot of its own, also behind a link that is idle now and then. Only where streams
/// interleave does an item stand alone.
#[derive(Debug, Clone, Copy)]
pub struct Train<C> {
    /// Arrival of the first item.
    pub first: Instant,
    /// The usual distance of an item to the next; zero if they come all at once.
    pub slot: Slot,
    /// Slots beyond the usual one between an item and the next: four bits each, the first item's the lowest. From the
    /// sixteenth item on there are none: the highest four bits say how many trains a [weave](crate::weave) has that begins with this one.
    pub gaps: u64,
    /// Number of items, at least one.
    pub count: u32,
    /// The first item.
    pub item: C,
}

/// The most extra slots between two items of a train.
pub(crate) const MAX_GAP: u64 = 15;
/// How many items may have extra slots behind them.
pub(crate) const MAX_GAPS: u32 = 15;
/// The bits of [`Train::gaps`] that are gaps.
pub(crate) const GAPS: u64 = (1 << (4 * MAX_GAPS)) - 1;

impl<C: Item + Default> Default for Train<C> {
    fn default() -> Self {
        Self::single(Instant::default(), C::default())
    }
}

impl<C: Item> Train<C> {
    /// One item.
    #[inline]
    pub fn single(first: Instant, item: C) -> Self {
        Self { first, slot: Slot::ZERO, gaps: 0, count: 1, item }
    }

    /// Slots from the first item to item number `place`.
    #[inline]
    #[must_use]
    pub fn slots_to(&self, place: u32) -> u64 {
        if self.gaps == 0 {
            return u64::from(place);
        }
        let gaps = if place < MAX_GAPS { self.gaps & ((1 << (4 * place)) - 1) } else { self.gaps & GAPS };
        u64::from(place) + sum_of_nibbles(gaps)
    }

    /// Arrival of item number `place`.
    #[inline]
    #[must_use]
    pub fn arrival(&self, place: u32) -> Instant {
        self.first.plus_slots(self.slot, self.slots_to(place))
    }

    /// Arrival of the last item.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Instant {
        self.arrival(self.count - 1)
    }

    /// Arrival of the second item, whether there is one or not.
    #[inline]
    #[must_use]
    pub fn second(&self) -> Instant {
        match self.gaps & MAX_GAP {
            0 => self.first.plus(self.slot),
            gap => self.first.plus_slots(self.slot, gap + 1),
        }
    }

    /// The gaps of a train of `count` items, at most sixteen, that are `slots` slots apart, at most sixteen.
    #[inline]
    #[must_use]
    pub const fn even_gaps(slots: u64, count: u32) -> u64 {
        ((slots - 1) * 0x1111_1111_1111_1111) & ((1 << (4 * (count - 1))) - 1)
    }

    /// How many items arrive before `limit`: at least the first, and not all of them.
    #[inline]
    #[must_use]
    pub fn items_before(&self, limit: Instant) -> u32 {
        let (slot, mut last, mut gaps, mut count) = (self.slot, self.first, self.gaps, 1);
        while gaps != 0 {
            last = last.plus_slots(slot, (gaps & MAX_GAP) + 1);
            if last >= limit {
                return count;
            }
            (gaps, count) = (gaps >> 4, count + 1);
        }
        let covered = limit.since(last).slots(slot);
        count + (covered - 1).min(u64::from(self.count - count)) as u32
    }

    /// Removes the first `count` items.
    #[inline]
    pub fn advance(&mut self, count: u32) {
        self.first = self.arrival(count);
        self.gaps = if count < MAX_GAPS { self.gaps >> (4 * count) } else { 0 };
        self.count -= count;
        self.item.advance(count);
    }

    /// Removes the first item; `second` is when the second one arrives.
    #[inline]
    pub fn drop_first(&mut self, second: Instant) {
        self.first = second;
        self.gaps >>= 4;
        self.count -= 1;
        self.item.advance(1);
    }

    /// Keeps the first `count` items only.
    #[inline]
    pub fn truncate(&mut self, count: u32) {
        self.count = count;
        if count <= MAX_GAPS {
            self.gaps &= (1 << (4 * (count - 1))) - 1;
        }
    }

    /// Whether it can give two items to rounds, evenly spaced.
    #[inline]
    pub(crate) fn makes_rounds(&self) -> bool {
        self.count > 1 && self.gaps == 0
    }

    /// Adds an item at the end, behind `gap` slots beyond the usual one, if it can be part of this train.
    #[inline(always)]
    pub(crate) fn join_one(&mut self, gap: u64, item: &C) -> bool {
        if !item.follows(&self.item, self.count) {
            return false;
        }
        if gap != 0 {
            if self.count > MAX_GAPS {
                return false;
            }
            self.gaps |= gap << (4 * (self.count - 1));
        }
        self.count += 1;
        true
    }

    /// Adds the only item of `other` at the end, which is on another grid, if it is as far behind the last one as each item here is behind the
    /// one before; the second item decides how far that is.
    #[inline]
    pub(crate) fn join_spaced(&mut self, other: &Self) -> bool {
        if self.gaps != 0 || !other.item.follows(&self.item, self.count) {
            return false;
        }
        if self.count == 1 {
            let Some(slot) = other.first.since(self.first).as_slot() else { return false };
            self.slot = slot;
        } else if other.first != self.first.plus_slots(self.slot, self.count.into()) {
            return false;
        }
        self.count += 1;
        true
    }

    /// Adds the items of `other` at the end, the first of them `slots` slots after the last one here, if they can be part of
    /// this train.
    #[inline]
    pub(crate) fn join(&mut self, slots: u64, other: &Self) -> bool {
        let gap = slots.wrapping_sub(1);
        if gap > MAX_GAP || !other.item.follows(&self.item, self.count) {
            return false;
        }
        let place = self.count - 1;
        if other.gaps != 0 {
            // The gap before the items of `other` and those between them move to their places, if these exist.
            let gaps = other.gaps << 4 | gap;
            if place >= MAX_GAPS || other.gaps >> (4 * (MAX_GAPS - 1 - place)) != 0 {
                return false;
            }
            self.gaps |= gaps << (4 * place);
        } else if gap != 0 {
            if place >= MAX_GAPS {
                return false;
            }
            self.gaps |= gap << (4 * place);
        }
        self.count += other.count;
        true
    }
}

/// The sum of the sixteen four-bit numbers in `word`.
#[inline]
fn sum_of_nibbles(word: u64) -> u64 {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let bytes = (word & LOW) + (word >> 4 & LOW);
    bytes.wrapping_mul(0x0101_0101_0101_0101) >> 56
}
