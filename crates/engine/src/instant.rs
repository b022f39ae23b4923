//! Exact times on a link: instants, the spans between them, and slots.

use std::cmp::Ordering;

use crate::{
    quantity::{BitRate, PacketRate},
    time::{SECOND, Time},
};

/// How many of the 64 bits of a fraction are always zero: instants lie on a grid of 2^-44 ps.
///
/// The bits are free for the number of an input where instants of several inputs are compared ([`crate::merge::Merge`]): time
/// and input then fit one number of 128 bits, and the order of arrivals is the order of these numbers.
pub const SPARE_BITS: u32 = 20;

/// The fraction that the grid keeps.
const ON_GRID: u64 = !0 << SPARE_BITS;

/// Whether products of 64 bits cost much less than those of 128, as in WebAssembly, where the latter are calls.
const NARROW: bool = cfg!(target_family = "wasm");

/// A product of fewer than so many fractions on the grid, counted in its steps, fits 64 bits, and so does the sum of it and of a fraction.
const FEW: u64 = 1 << (SPARE_BITS - 1);

/// `count` times `bits`, which are 2^-64 ps each. `narrow`: without products of 128 bits where that can be.
#[inline]
const fn multiple(bits: u128, count: u64, narrow: bool) -> u128 {
    let fraction = bits as u64;
    if !narrow || count >= FEW || fraction & !ON_GRID != 0 {
        return bits * count as u128;
    }
    let ps = ((bits >> 64) as u64).wrapping_mul(count);
    let steps = (fraction >> SPARE_BITS) * count;
    ((ps as u128) << 64) + ((steps as u128) << SPARE_BITS)
}

/// A point in time on a link: picoseconds and a fraction of one. Instants lie on a grid of 2^-44 ps, and events are ordered by all
/// of it: two arrivals are simultaneous only if they are the same instant.
///
/// Slots are seldom whole picoseconds (a cell at 155.52 Mbit/s takes 2 726 337.448… ps). Carrying the fraction makes the
/// n-th of a run of back-to-back departures the rounded n-th multiple of the slot, not the sum of n rounded slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instant {
    ps: Time,
    fraction: u64,
}

impl Instant {
    /// The middle of the picosecond `ps`, so that cutting the fraction off later rounds to the nearest picosecond.
    #[must_use]
    pub const fn at(ps: Time) -> Self {
        Self { ps, fraction: 1 << 63 }
    }

    /// The time in whole picoseconds, rounded down.
    #[inline]
    #[must_use]
    pub const fn ps(self) -> Time {
        self.ps
    }

    /// The time in whole picoseconds, rounded up.
    #[inline]
    #[must_use]
    pub const fn ceil(self) -> Time {
        self.ps + (self.fraction > 0) as Time
    }

    /// The very beginning of the picosecond `ps`.
    #[must_use]
    pub const fn start_of(ps: Time) -> Self {
        Self { ps, fraction: 0 }
    }

    /// As far into the picosecond `ps` as this instant is into its own.
    #[inline]
    #[must_use]
    pub const fn within(self, ps: Time) -> Self {
        Self { ps, ..self }
    }

    /// One slot later.
    #[inline]
    #[must_use]
    pub const fn plus(self, slot: Slot) -> Self {
        let (fraction, carry) = self.fraction.overflowing_add(slot.fraction);
        Self { ps: self.ps + slot.ps + carry as u64, fraction }
    }

    /// `count` slots later.
    #[inline]
    #[must_use]
    pub const fn plus_slots(self, slot: Slot, count: u64) -> Self {
        self.plus_multiple(slot, count, NARROW)
    }

    /// As [`Instant::plus_slots`]; `narrow` as for [`multiple`].
    #[inline]
    const fn plus_multiple(self, slot: Slot, count: u64, narrow: bool) -> Self {
        if narrow && count < FEW {
            let steps = (self.fraction >> SPARE_BITS) + (slot.fraction >> SPARE_BITS) * count;
            let ps = self.ps + slot.ps * count + (steps >> (64 - SPARE_BITS));
            return Self { ps, fraction: steps << SPARE_BITS };
        }
        let fraction = self.fraction as u128 + slot.fraction as u128 * count as u128;
        Self { ps: self.ps + slot.ps * count + (fraction >> 64) as u64, fraction: fraction as u64 }
    }

    /// A delay in whole picoseconds later.
    #[inline]
    #[must_use]
    pub const fn delayed(self, delay: Time) -> Self {
        Self { ps: self.ps + delay, fraction: self.fraction }
    }

    /// The instant `span` after this one.
    #[inline]
    #[must_use]
    pub const fn after(self, span: Span) -> Self {
        Self::of_bits(self.bits() + span.0)
    }

    /// The instant `span` before this one.
    ///
    /// # Panics
    /// In debug builds, if that is before the start of the run.
    #[inline]
    #[must_use]
    pub const fn before(self, span: Span) -> Self {
        Self::of_bits(self.bits() - span.0)
    }

    /// The time from `earlier` to this instant.
    ///
    /// # Panics
    /// In debug builds, if `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.bits() - earlier.bits())
    }

    /// The instant as one number of 2^-64 ps, of which the lowest [`SPARE_BITS`] bits are zero.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u128 {
        (self.ps as u128) << 64 | self.fraction as u128
    }

    /// The instant whose [`Instant::bits`] are `bits`, without the lowest [`SPARE_BITS`].
    #[inline]
    #[must_use]
    pub const fn of_bits(bits: u128) -> Self {
        Self { ps: (bits >> 64) as Time, fraction: bits as u64 & ON_GRID }
    }
}

impl PartialOrd for Instant {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Instant {
    // As one number of 128 bits: half the instructions of comparing field by field.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(&other.bits())
    }
}

/// A length of time between two instants, in units of 2^-64 ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(u128);

impl Span {
    /// In units of 2^-64 ps.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// In whole picoseconds, rounded down.
    #[inline]
    #[must_use]
    pub const fn ps(self) -> Time {
        (self.0 >> 64) as Time
    }

    /// `count` times `slot`.
    #[must_use]
    pub const fn of_slots(slot: Slot, count: u64) -> Self {
        Self(slot.times(count))
    }

    /// In seconds, for output.
    #[must_use]
    pub fn seconds(self) -> f64 {
        (self.ps() as f64 + self.0 as u64 as f64 / 18_446_744_073_709_551_616.0) / SECOND as f64
    }

    /// The difference of two spans.
    ///
    /// # Panics
    /// If `other` is longer.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a span is not negative"))
    }

    /// The sum of two spans, if a span holds it.
    #[inline]
    #[must_use]
    pub const fn checked_plus(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// `count` times `step` longer.
    #[must_use]
    pub const fn plus(self, step: Self, count: u64) -> Self {
        Self(self.0 + multiple(step.0, count, NARROW))
    }

    /// The sum of this span and `count` others that grow evenly from `first` to `last`.
    #[must_use]
    pub const fn plus_run(self, first: Self, last: Self, count: u64) -> Self {
        // The terms are multiples of 2^-64 ps, so first + last is even where count is odd: halve the factor that is.
        let ends = first.0 + last.0;
        let (halved, times) = if count.is_multiple_of(2) { (ends, count / 2) } else { (ends / 2, count) };
        Self(self.0 + multiple(halved, times, NARROW))
    }

    /// This span as a slot, if it is one: neither nothing nor longer than a second.
    #[inline]
    #[must_use]
    pub const fn as_slot(self) -> Option<Slot> {
        let ps = self.ps();
        if ps.wrapping_sub(1) < SECOND { Some(Slot { ps, fraction: self.0 as u64 }) } else { None }
    }

    /// How many slots it takes to cover this span: with the span from now to the last of a row of back-to-back
    /// departures, the number of departures still to come.
    #[inline]
    #[must_use]
    pub const fn slots(self, slot: Slot) -> u64 {
        // Dividing by the slot's whole part gives an estimate that is not too small, and at most one too large for up to
        // `slot.ps` slots.
        let count = self.ps() / slot.ps;
        if count > slot.ps {
            return self.short_slots(slot, count);
        }
        let beyond = self.0 - (((count * slot.ps) as u128) << 64);
        count + (beyond > multiple(slot.fraction as u128, count, NARROW)) as u64
    }

    /// As [`Span::slots`], where slots are short and many, so that the estimate `count` is too large by what their fractions add up to.
    #[cold]
    const fn short_slots(self, slot: Slot, mut count: u64) -> u64 {
        if slot.times(count) > self.0 {
            count -= (slot.times(count) - self.0).div_ceil(slot.times(1)) as u64;
        }
        count + (slot.times(count) < self.0) as u64
    }
}

/// An exact sum of spans, which may exceed what a span holds: 128 bits of picoseconds, and a fraction of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SpanSum {
    ps: u128,
    fraction: u64,
}

impl SpanSum {
    /// What `count` units that leave a link back to back, one `slot` apart, still spend in front of it, summed over them, if the last
    /// one leaves after `last`.
    ///
    /// # Panics
    /// If that many do not fit into the time.
    #[must_use]
    pub fn of_backlog(last: Span, slot: Slot, count: u64) -> Self {
        let count = u128::from(count);
        let pairs = count * count.saturating_sub(1) / 2;
        let whole = Self::of_products((last.ps(), count), (last.0 as u64, count));
        whole.minus(Self::of_products((slot.ps, pairs), (slot.fraction, pairs)))
    }

    /// So many picoseconds so many times, and fractions.
    fn of_products(ps: (Time, u128), fractions: (u64, u128)) -> Self {
        // Counts are below 2^64, so that the products of fractions fit if the pairs of them do.
        let (high, low) = (fractions.1 >> 64, fractions.1 & u128::from(u64::MAX));
        let low = u128::from(fractions.0) * low;
        let carry = u128::from(fractions.0) * high + (low >> 64);
        Self { ps: u128::from(ps.0) * ps.1 + carry, fraction: low as u64 }
    }

    /// Adds `count` spans that grow evenly from `first` to `last`.
    pub fn add_run(&mut self, first: Span, last: Span, count: u64) {
        // Twice the sum; halving it is exact, as the terms are multiples of 2^-44 ps.
        let count = u128::from(count);
        let fractions = (u128::from(first.0 as u64) + u128::from(last.0 as u64)) * count;
        let whole = (u128::from(first.ps()) + u128::from(last.ps())) * count + (fractions >> 64);
        let half = (fractions as u64) >> 1 | (whole as u64) << 63;
        let (fraction, carry) = self.fraction.overflowing_add(half);
        self.fraction = fraction;
        self.ps += (whole >> 1) + u128::from(carry);
    }

    /// Adds one span.
    #[inline]
    pub fn add(&mut self, span: Span) {
        let (fraction, carry) = self.fraction.overflowing_add(span.0 as u64);
        self.fraction = fraction;
        self.ps += (span.0 >> 64) + u128::from(carry);
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: Self) {
        let (fraction, carry) = self.fraction.overflowing_add(other.fraction);
        self.fraction = fraction;
        self.ps += other.ps + u128::from(carry);
    }

    /// The difference of two sums.
    ///
    /// # Panics
    /// If `other` is larger.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let (fraction, borrow) = self.fraction.overflowing_sub(other.fraction);
        let ps = self.ps.checked_sub(other.ps + u128::from(borrow));
        Self { ps: ps.expect("a sum of spans is not negative"), fraction }
    }

    /// The sum in picoseconds, rounded down.
    #[must_use]
    pub fn ps(self) -> u128 {
        self.ps
    }
}

/// The time one unit takes on a link, exact to 2^-44 ps.
///
/// The fraction is rounded up to the grid of [`Instant`]: the n-th multiple is then never cut to the picosecond below the true
/// one, and n of them are at most n 2^-44 ps too long: less than a picosecond after 17 million million back-to-back units, which
/// is a year of cells at 155.52 Mbit/s. Slots of different rates are not in the ratio of these rates; those of
/// [`CommonRates`](crate::common_rate::CommonRates) are. As long as n times the denominator of the slot's fraction stays below 2^44 (it is 243 at
/// 155.52 Mbit/s), the whole picoseconds are those of the true multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slot {
    ps: Time,
    fraction: u64,
}

impl Slot {
    /// No time: everything at once.
    pub const ZERO: Self = Self { ps: 0, fraction: 0 };

    /// The time of `bits` bits at `rate`.
    ///
    /// # Panics
    /// If the rate is zero or a bit takes longer than 2^64 ps.
    #[must_use]
    pub fn of_bits(bits: u64, rate: BitRate) -> Self {
        Self::of_ratio(u128::from(bits) * u128::from(SECOND), u128::from(rate.0))
    }

    /// The time between packets at `rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn of_packets(rate: PacketRate) -> Self {
        Self::of_ratio(1000 * u128::from(SECOND), u128::from(rate.0))
    }

    /// The time between units at `rate` units a second, a rate that is itself computed: as exact as an `f64` is, which is
    /// 2^-31 ps for a cell at 155.52 Mbit/s, cut to the grid. `None` if a unit takes more than 2^62 ps (53 days), or the rate is 0.
    ///
    /// # Panics
    /// If the rate is negative, infinite or not a number.
    #[must_use]
    pub fn of_rate(rate: f64) -> Option<Self> {
        assert!(rate >= 0.0 && rate.is_finite(), "{rate} units a second are not a rate");
        let exact = SECOND as f64 / rate;
        // Casts cut the fraction off, and multiplying by a power of two is exact.
        (exact <= (1u64 << 62) as f64).then(|| {
            let ps = exact as Time;
            Self { ps, fraction: ((exact - ps as f64) * 18_446_744_073_709_551_616.0) as u64 & ON_GRID }
        })
    }

    /// A whole number of picoseconds.
    #[must_use]
    pub const fn of_ps(ps: Time) -> Self {
        Self { ps, fraction: 0 }
    }

    fn of_ratio(numerator: u128, denominator: u128) -> Self {
        assert!(denominator > 0, "a rate must not be zero");
        let ps = u64::try_from(numerator / denominator).expect("a slot is shorter than 2^64 ps");
        let steps = ((numerator % denominator) << (64 - SPARE_BITS)).div_ceil(denominator);
        let fraction = steps << SPARE_BITS;
        Self { ps: ps + (fraction >> 64) as Time, fraction: fraction as u64 }
    }

    /// How much longer this slot is than `other`.
    ///
    /// # Panics
    /// In debug builds, if it is shorter.
    #[must_use]
    pub const fn minus(self, other: Self) -> Span {
        Span(self.times(1) - other.times(1))
    }

    /// The slot in picoseconds, rounded down.
    #[must_use]
    pub const fn ps(self) -> Time {
        self.ps
    }

    /// The slot in seconds, for output.
    #[must_use]
    pub fn seconds(self) -> f64 {
        (self.ps as f64 + self.fraction as f64 / 18_446_744_073_709_551_616.0) / SECOND as f64
    }

    /// The time of `count` units.
    ///
    /// # Panics
    /// In debug builds, if it is longer than 2^64 ps.
    #[must_use]
    pub const fn multiplied(self, count: u64) -> Self {
        let bits = self.times(count);
        Self { ps: (bits >> 64) as Time, fraction: bits as u64 }
    }

    /// `count` slots in units of 2^-64 ps.
    #[inline]
    const fn times(self, count: u64) -> u128 {
        multiple((self.ps as u128) << 64 | self.fraction as u128, count, NARROW)
    }
}

impl PartialOrd for Slot {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slot {
    // As instants.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.times(1).cmp(&other.times(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn narrow_products_are_the_wide_ones(
            ps in 0u64..1 << 40, steps in 0u64..1 << 44, at in 0u64..1 << 44, off_grid in 0u64..2, count in 0u64..2 * FEW,
        ) {
            let slot = Slot { ps, fraction: steps << SPARE_BITS };
            let bits = slot.times(1) + u128::from(off_grid);
            prop_assert_eq!(multiple(bits, count, true), multiple(bits, count, false));
            let instant = Instant { ps: 5, fraction: at << SPARE_BITS };
            prop_assert_eq!(instant.plus_multiple(slot, count, true), instant.plus_multiple(slot, count, false));
        }

        #[test]
        fn narrow_products_near_the_limit(steps in (1u64 << 44) - 9..1 << 44, count in FEW - 9..FEW + 9) {
            let slot = Slot { ps: 1, fraction: steps << SPARE_BITS };
            prop_assert_eq!(multiple(slot.times(1), count, true), multiple(slot.times(1), count, false));
            let instant = Instant { ps: 5, fraction: ON_GRID };
            prop_assert_eq!(instant.plus_multiple(slot, count, true), instant.plus_multiple(slot, count, false));
        }
    }
}
