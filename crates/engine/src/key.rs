//! What inputs are ordered by: when the next item of each is due.

use crate::{
    instant::{Instant, SPARE_BITS},
    time::Time,
};

/// When the next item of an input arrives, and which input it is, in one number: the grid of instants leaves the lowest bits free
/// for the input. The order of arrivals, with ties by input, is the order of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

/// The bits of a [`Key`] that hold the input.
const INPUT: u128 = (1 << SPARE_BITS) - 1;

/// The bits of keys that are compared: of the lower half, as the other is whole picoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared(u64);

impl Compared {
    pub(crate) const WITH_INPUT: Self = Self(u64::MAX);
    pub(crate) const WITHOUT_INPUT: Self = Self(!(INPUT as u64));
}

impl Key {
    /// No input's: it never arrives, and wins no ties.
    pub(crate) const NONE: Self = Self(u128::MAX);

    /// The key of whatever arrives first at `time` or later.
    #[inline]
    pub(crate) fn start_of(time: Time) -> Self {
        Self(Instant::start_of(time).bits())
    }

    #[inline]
    pub(crate) fn new(arrival: Instant, input: u32) -> Self {
        Self(arrival.bits() | u128::from(input))
    }

    #[inline]
    pub(crate) fn arrival(self) -> Instant {
        Instant::of_bits(self.0)
    }

    #[inline]
    pub(crate) fn input(self) -> u32 {
        (self.0 & INPUT) as u32
    }

    /// The key of the same input's item that arrives at `arrival`.
    #[inline]
    pub(crate) fn at(self, arrival: Instant) -> Self {
        Self(arrival.bits() | self.0 & INPUT)
    }

    /// The key of another input's item that arrives at the same instant.
    #[inline]
    pub(crate) fn of_input(self, input: u32) -> Self {
        Self(self.instant_only().0 | u128::from(input))
    }

    /// Whether both arrive at the same instant.
    #[inline]
    pub(crate) fn ties_with(self, other: Self) -> bool {
        self.instant_only() == other.instant_only()
    }

    /// What of it is compared.
    #[inline]
    pub(crate) fn under(self, compared: Compared) -> Self {
        Self(self.0 & (u128::from(u64::MAX) << 64 | u128::from(compared.0)))
    }

    /// This key as a limit without regard to inputs: what arrives at its instant is not before it.
    #[inline]
    pub(crate) fn instant_only(self) -> Self {
        Self(self.0 & !INPUT)
    }

    /// The limit before which everything that arrives at its instant still comes.
    #[inline]
    pub(crate) fn instant_after(self) -> Self {
        Self(self.instant_only().0 + (1 << SPARE_BITS))
    }

    /// The first instant at which an item of `input` is not before this key.
    #[inline]
    pub(crate) fn limit_of(self, input: Self) -> Instant {
        let wins_tie = input.0 & INPUT < self.0 & INPUT;
        Instant::of_bits(self.0 + (u128::from(wins_tie) << SPARE_BITS))
    }
}
