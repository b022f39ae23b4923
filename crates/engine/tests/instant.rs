//! Exact time against rational arithmetic.

use celltrain_engine::{Instant, Slot, Span, SpanSum, quantity::BitRate, time::SECOND};
use proptest::prelude::*;

/// `start` + `n` cells at `rate`, rounded to the nearest picosecond: in whole numbers, so without error.
fn exact(start: u64, bits: u64, rate: u64, n: u64) -> u64 {
    let (numerator, rate) = (u128::from(bits) * u128::from(SECOND) * u128::from(n), u128::from(rate));
    start + u64::try_from((2 * numerator + rate) / (2 * rate)).unwrap()
}

#[test]
fn a_day_of_back_to_back_cells_does_not_drift() {
    let slot = Slot::of_bits(424, BitRate(155_520_000));
    for n in [1, 2, 3, 242, 243, 244, 366_792, 366_793, 31_690_867_924] {
        assert_eq!(Instant::at(7).plus_slots(slot, n).ps(), exact(7, 424, 155_520_000, n), "cell {n}");
    }
}

#[test]
fn adding_slots_one_by_one_or_at_once_is_the_same() {
    let slot = Slot::of_bits(424, BitRate(149_760_000));
    let mut instant = Instant::at(123);
    for n in 1..=100_000 {
        instant = instant.plus(slot);
        assert_eq!(instant, Instant::at(123).plus_slots(slot, n));
    }
}

#[test]
fn a_run_of_spans_sums_as_its_terms_do() {
    let (wide, narrow) = (Slot::of_bits(424, BitRate(100_000_007)), Slot::of_bits(424, BitRate(155_520_000)));
    for count in [1, 2, 3, 12, 33] {
        let span = |n| Instant::at(5_000_000).plus_slots(wide, n).since(Instant::at(3).plus_slots(narrow, n));
        let one_by_one = (0..count).fold(Span::default(), |sum, n| sum.plus(span(n), 1));
        assert_eq!(Span::default().plus_run(span(0), span(count - 1), count), one_by_one, "{count} terms");
        let (mut run, mut terms) = (SpanSum::default(), SpanSum::default());
        run.add_run(span(0), span(count - 1), count);
        (0..count).for_each(|n| terms.add(span(n)));
        assert_eq!(run, terms, "{count} terms");
    }
}

#[test]
fn the_slot_of_a_computed_rate() {
    // As exact as an f64: the two ways to a cell at 155.52 Mbit/s part by less than 2^-30 ps.
    let (exact, computed) =
        (Slot::of_bits(424, BitRate(155_520_000)), Slot::of_rate(155.52e6 / 424.0).unwrap());
    let apart =
        |n| Instant::at(0).plus_slots(exact, n).ps().abs_diff(Instant::at(0).plus_slots(computed, n).ps());
    assert!(apart(1) == 0 && apart(1 << 29) <= 1, "{exact:?}, {computed:?}");
    assert_eq!(Slot::of_rate(4e12 / (1u64 << 62) as f64).map(Slot::ps), Some(1 << 60));
    assert_eq!((Slot::of_rate(0.0), Slot::of_rate(1e-7)), (None, None));
    assert_eq!(Slot::of_rate(1e12), Some(Slot::of_ps(1)));
}

/// At the fastest rate the fraction is a twentieth of the slot; counting slots down one by one would take a day.
#[test]
fn slots_are_counted_at_once_however_many_and_short_they_are() {
    let slot = Slot::of_bits(424, BitRate(100_000_000_000_000));
    for cells in [1, 17, 1_000_003, 1 << 50] {
        let span = Span::of_slots(slot, cells);
        assert_eq!(span.slots(slot), cells);
        let longer = span.plus(Span::of_slots(Slot::of_ps(1), 1), 1);
        assert_eq!(longer.slots(slot), cells + 1, "a slot that has begun");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn departures_are_rounded_multiples(start in 0..SECOND, rate in 1_000u64..10_000_000_000_000, n in 0u64..100_000) {
        let slot = Slot::of_bits(424, BitRate(rate));
        prop_assert_eq!(Instant::at(start).plus_slots(slot, n).ps(), exact(start, 424, rate, n));
    }

    #[test]
    fn a_span_covers_as_many_slots_as_departures_are_left(
        rate in 1_000_000u64..1_000_000_000, cells in 1u64..5000, sent in 0u64..5000, into in 0u64..1000,
    ) {
        // A row of departures ends `cells` slots after 0; at a time `into` thousandths of a slot after the departure
        // number `sent`, the others are left.
        let slot = Slot::of_bits(424, BitRate(rate));
        let sent = sent.min(cells - 1);
        let last = Instant::at(0).plus_slots(slot, cells);
        let now = Instant::at(0).plus_slots(slot, sent).delayed(slot.ps() / 1000 * into);
        prop_assert_eq!(last.since(now).slots(slot), cells - sent);
    }
}
