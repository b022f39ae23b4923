//! Slots in the ratio of their rates.
//!
//! A [`Slot`] is rounded up to the grid of instants. If every slot were rounded by itself, a link would take longer for two cells than
//! a source at half its rate for one, by less than 2^-44 ps. Two such sources fill the link exactly: each pair of cells would arrive just
//! before the last one is sent, and a buffer of two cells would lose a fourth of them. Here one slot is rounded, and the others are multiples
//! of it, so that what should happen at once does.

use std::sync::Arc;

use crate::{Slot, quantity::BitRate, time::SECOND};

/// Common multiples of rates: the slots of the divisors of one are multiples of its own slot, which alone is rounded.
///
/// The n-th multiple of the slot at a rate is then at most n 2^-44 ps too long, times the ratio of the common multiple to the rate.
#[derive(Debug, Clone)]
pub struct CommonRates {
    /// Of a unit.
    bits: u64,
    /// In bit/s.
    multiples: Arc<[u64]>,
}

/// Rates in simple ratios.
#[derive(Debug, Clone, Copy)]
struct Family {
    first: u64,
    multiple: u64,
}

impl Family {
    /// The most times that a common multiple is the first rate: clocks that are in no simple ratio meet by chance only.
    const MOST: u64 = 64;

    /// This family with another rate, if that is in a simple ratio to the others.
    fn with(self, bits: u64, rate: u64) -> Option<Self> {
        let multiple = least_common_multiple(self.multiple, rate)?;
        let fits =
            multiple == self.multiple || multiple / Self::MOST <= self.first && is_fine(bits, multiple);
        fits.then_some(Self { multiple, ..self })
    }
}

impl CommonRates {
    /// The most families: where every link has a clock of its own, they are in no ratio.
    const MOST: usize = 16;
    /// The shortest slot that is rounded, in picoseconds, so that no slot is longer by more than one part in 2^50.
    const SHORTEST: u128 = 64;

    /// Common multiples of `rates` for units of `bits`. Each rate joins the family whose common multiple grows least by it; those that come
    /// first have the choice.
    #[must_use]
    pub fn of(bits: u64, rates: impl IntoIterator<Item = BitRate>) -> Self {
        let mut families: Vec<Family> = Vec::new();
        for BitRate(rate) in rates {
            let joined = families.iter().enumerate();
            let joined = joined.filter_map(|(place, family)| Some((place, family.with(bits, rate)?)));
            match joined.min_by_key(|(place, joined)| joined.multiple / families[*place].multiple) {
                Some((place, joined)) => families[place] = joined,
                None if families.len() < Self::MOST => families.push(Family { first: rate, multiple: rate }),
                None => {}
            }
        }
        Self { bits, multiples: families.iter().map(|family| family.multiple).collect() }
    }

    /// The time of so many units at `rate`, rounded by itself if no other of the rates is in a simple ratio to it.
    ///
    /// # Panics
    /// If the rate is zero or a unit takes longer than 2^64 ps.
    #[must_use]
    pub fn slot(&self, units: u64, rate: BitRate) -> Slot {
        let multiple = self.multiples.iter().copied().find(|multiple| multiple.is_multiple_of(rate.0));
        let multiple = multiple.unwrap_or(rate.0);
        Slot::of_bits(self.bits, BitRate(multiple)).multiplied(multiple / rate.0 * units)
    }
}

/// Whether a slot of `bits` at `rate` is long, or a whole number of picoseconds.
fn is_fine(bits: u64, rate: u64) -> bool {
    let (time, rate) = (u128::from(bits) * u128::from(SECOND), u128::from(rate));
    time / rate >= CommonRates::SHORTEST || time.is_multiple_of(rate)
}

/// `None` if it does not fit or a rate is zero.
fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a.checked_div(divisor)?.checked_mul(b).filter(|&multiple| multiple > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::Span;

    const CELL: u64 = 424;

    fn common(rates: &[u64]) -> CommonRates {
        CommonRates::of(CELL, rates.iter().map(|&rate| BitRate(rate)))
    }

    fn times(slot: Slot, count: u64) -> Span {
        Span::of_slots(slot, count)
    }

    #[test]
    fn slots_are_in_the_ratio_of_their_rates() {
        let rates = [155_520_000, 124_416_000, 77_760_000, 51_840_000, 149_760_000, 10_000_000];
        let common = common(&rates);
        let whole = common.slot(1, BitRate(155_520_000));
        for (rate, there, here) in [(124_416_000, 4, 5), (77_760_000, 1, 2), (51_840_000, 1, 3)] {
            assert_eq!(times(common.slot(1, BitRate(rate)), there), times(whole, here), "{rate}");
        }
        for rate in rates {
            let (slot, alone) = (common.slot(1, BitRate(rate)), Slot::of_bits(CELL, BitRate(rate)));
            assert_eq!(slot.ps(), alone.ps(), "{rate}");
            assert!(slot >= alone, "{rate}");
        }
        assert_eq!(common.slot(32, BitRate(155_520_000)), whole.multiplied(32));
    }

    #[test]
    fn a_rate_alone_has_the_slots_that_it_has_without_others() {
        let alone = Slot::of_bits(CELL, BitRate(155_520_000));
        assert_eq!(common(&[155_520_000]).slot(1, BitRate(155_520_000)), alone);
        assert_eq!(common(&[]).slot(1, BitRate(155_520_000)), alone);
        // What is in no simple ratio to it has a family of its own, in which there are others.
        let beside = common(&[1_000_000_000, 155_520_000, 149_999_999, 77_760_000]);
        assert_eq!(*beside.multiples, [1_000_000_000, 155_520_000, 149_999_999]);
        assert_eq!(beside.slot(1, BitRate(155_520_000)), alone);
        assert_eq!(beside.slot(1, BitRate(77_760_000)), alone.multiplied(2));
        assert_eq!(beside.slot(1, BitRate(149_999_999)), Slot::of_bits(CELL, BitRate(149_999_999)));
        let many: Vec<_> = (0..1000).map(|number| 155_520_000 + 7 * number).collect();
        assert_eq!(common(&many).multiples.len(), CommonRates::MOST);
    }

    #[test]
    fn short_slots_are_multiples_where_none_is_rounded() {
        let octet = |rates: &[u64]| CommonRates::of(8, rates.iter().map(|&rate| BitRate(rate)));
        // Of 40 ps; of 44 ps and a fraction; of 444 ps and a fraction.
        assert_eq!(*octet(&[100_000_000_000, 40_000_000_000]).multiples, [200_000_000_000]);
        assert_eq!(*octet(&[90_000_000_000, 60_000_000_000]).multiples, [90_000_000_000, 60_000_000_000]);
        assert_eq!(*octet(&[9_000_000_000, 6_000_000_000]).multiples, [18_000_000_000]);
    }
}
