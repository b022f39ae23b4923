//! What is summed while units pass: nothing is looked up twice for those that are alike.

use celltrain_engine::{Slot, Span, SpanSum};

use crate::measures::{Histogram, Levels};

/// Cells that found the link idle, and spent a slot on it.
#[derive(Debug, Default, Clone, Copy)]
struct Straight {
    /// The time of each.
    sojourn: Span,
    units: u64,
    /// Frames that they end of which the delay is to be counted now.
    frames: u64,
}

/// Sojourn times summed during one visit.
#[derive(Debug)]
pub(super) struct Tally {
    /// The longest since the window began.
    pub(super) longest: Span,
    /// Up to here a sojourn is short, and not longer than the longest.
    usual: Span,
    /// The sum of those that are short: so many that it overflows do not come in one visit.
    pub(super) short: Span,
    /// The sum of the others.
    pub(super) long: SpanSum,
    /// Those that were counted together last.
    straight: Straight,
    /// How long the buffer holds how much, if that is followed: then all sojourns count as unusual.
    pub(super) levels: Option<(Box<Levels>, Slot)>,
}

impl Tally {
    /// The longest sojourn that is short, 17 ms: 2^30 of them fit into a span.
    const SHORT: Span = Span::of_slots(Slot::of_ps((1 << 34) - 1), 1);

    /// Of a visit before which the longest sojourn was `longest`; a cell is on the link for a `slot`.
    pub(super) fn new(longest: Span, slot: Slot, levels: Option<(Box<Levels>, Slot)>) -> Self {
        let usual = if levels.is_some() { Span::default() } else { longest.min(Self::SHORT) };
        let straight = Straight { sojourn: Span::of_slots(slot, 1), ..Straight::default() };
        Self { longest, usual, short: Span::default(), long: SpanSum::default(), straight, levels }
    }

    /// Counts the sojourns of `count` units, which grow evenly from `first` to `last`.
    #[inline(always)]
    pub(super) fn add(&mut self, first: Span, last: Span, count: u64) {
        if last > self.usual {
            return self.add_unusual(first, last, count);
        }
        self.short = if first == last {
            self.short.plus(first, count)
        } else {
            self.short.plus_run(first, last, count)
        };
    }

    /// Counts the sojourns of `times` times `count` units, which grow evenly from `first` to `last` each time.
    #[inline(always)]
    pub(super) fn add_rows(&mut self, first: Span, last: Span, count: u64, times: u64) {
        if last > self.usual {
            return (0..times).for_each(|_| self.add_unusual(first, last, count));
        }
        self.short = self.short.plus(Span::default().plus_run(first, last, count), times);
    }

    /// Whether cells that spend a slot each may be counted together.
    #[inline(always)]
    pub(super) fn counts_together(&self) -> bool {
        self.levels.is_none()
    }

    /// Counts `count` cells that find the link idle, and the delays of the `frames` that they end.
    #[inline(always)]
    pub(super) fn add_straight(&mut self, count: u64, frames: u64) {
        self.straight.units += count;
        self.straight.frames += frames;
    }

    /// Sums what [`Tally::add_straight`] has counted, if it has counted anything; the delays of frames go into `delays`.
    #[inline(always)]
    pub(super) fn count_straight(&mut self, delays: &mut Histogram) {
        if self.straight.units > 0 {
            self.sum_straight(delays);
        }
    }

    #[inline(never)]
    fn sum_straight(&mut self, delays: &mut Histogram) {
        let Straight { sojourn, units, frames } = self.straight;
        self.straight = Straight { sojourn, ..Straight::default() };
        self.add(sojourn, sojourn, units);
        delays.add_times(sojourn.ps(), frames);
    }

    /// As [`Tally::add`], where the last sojourn is long, or the longest, or all are looked at.
    #[inline(never)]
    fn add_unusual(&mut self, first: Span, last: Span, count: u64) {
        self.longest = self.longest.max(last);
        self.long.add_run(first, last, count);
        match &mut self.levels {
            Some((levels, slot)) => levels.add_run(first, last, count, *slot),
            None => self.usual = self.longest.min(Self::SHORT),
        }
    }
}
