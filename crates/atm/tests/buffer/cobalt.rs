//! COBALT step by step: its rules (Høiland-Jørgensen, Täht and Morton 2018) in times worked out by hand.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Fate, Head, PortContext, Snapshot,
        cobalt::{Cobalt, Control, Params, Waited},
    },
    quantity::Unit,
};
use celltrain_engine::{Time, quantity::BitRate};

use crate::model::{context, contracts};

const MILLISECOND: Time = 1_000_000_000;

/// A frame that has waited so many milliseconds, longer than four frames take.
fn waited(milliseconds: u64) -> Waited {
    Waited { sojourn: milliseconds * MILLISECOND, is_long: true, marks: false }
}

/// The control with a target of 5 ms and an interval of 100 ms.
fn control() -> Control {
    Control::new(&Params::default())
}

/// What becomes of a frame at `at` milliseconds if BLUE's draw is 1, which drops nothing.
fn fate(control: &mut Control, at: u64, frame: Waited) -> Fate {
    control.on_head(at * MILLISECOND, frame, 1.0, || false)
}

#[test]
fn the_first_drop_comes_an_interval_after_the_first_late_frame_and_the_next_ones_sooner() {
    let control = &mut control();
    // Late from 10 ms on. The first is due at 110 ms, and then 100 / sqrt(2) = 70.7 and 100 / sqrt(3) = 57.7 ms later.
    let steps =
        [(10, Fate::Send), (109, Fate::Send), (110, Fate::Drop), (111, Fate::Send), (180, Fate::Send)];
    for (at, expected) in steps.into_iter().chain([(181, Fate::Drop), (238, Fate::Send), (239, Fate::Drop)]) {
        assert_eq!(fate(control, at, waited(6)), expected, "at {at} ms");
    }
}

#[test]
fn the_target_is_not_late_and_neither_is_what_waits_for_four_frames() {
    let control = &mut control();
    for at in (10..2000).step_by(10) {
        assert_eq!(fate(control, at, waited(5)), Fate::Send);
        assert_eq!(fate(control, at, Waited { is_long: false, ..waited(50) }), Fate::Send);
    }
}

#[test]
fn dropping_begins_anew_from_where_it_was_and_counts_down_while_frames_wait_less() {
    let control = &mut control();
    let late: Vec<_> = (0..=239).filter(|&at| fate(control, at, waited(6)) == Fate::Drop).collect();
    // Late from 0 ms on: 100, 170.7 and 228.4 ms; four are counted, and the next would be due 50 ms later.
    assert_eq!(late, [100, 171, 229]);
    assert_eq!(fate(control, 240, waited(1)), Fate::Send);
    // Late again before that: the next is due 50 ms from now, or at once if it was due.
    let mut again = control.clone();
    assert_eq!(fate(&mut again, 250, waited(6)), Fate::Send);
    assert_eq!(
        (fate(&mut again, 299, waited(6)), fate(&mut again, 300, waited(6))),
        (Fate::Send, Fate::Drop)
    );
    // In time for long: counted down at 278.4 (4 to 3), 336.2, 406.9 and 506.9 ms. The first drop is an interval away then.
    for at in 241..600 {
        assert_eq!(fate(control, at, waited(1)), Fate::Send);
    }
    assert_eq!(fate(control, 600, waited(6)), Fate::Send);
    let next = (601..800).find(|&at| fate(control, at, waited(6)) == Fate::Drop);
    assert_eq!(next, Some(700));
}

#[test]
fn what_can_be_marked_is_marked_by_time_and_dropped_by_the_overflow_probability() {
    let control = &mut control();
    let capable = Waited { marks: true, ..waited(6) };
    fate(control, 10, capable);
    assert_eq!(fate(control, 110, capable), Fate::Mark);
    control.on_full(111 * MILLISECOND);
    // 1/256.
    let in_time = Waited { sojourn: 0, ..capable };
    assert_eq!(control.on_head(112 * MILLISECOND, in_time, 0.0039, || false), Fate::Drop);
    assert_eq!(control.on_head(113 * MILLISECOND, in_time, 0.004, || false), Fate::Send);
}

/// "Last packet in queue may be marked, shouldn't be dropped" (CAKE of Linux).
#[test]
fn the_last_frame_is_sent_where_others_are_dropped_and_keeps_its_mark() {
    for (marks, draw, of_last, of_others) in [
        (false, 1.0, Fate::Send, Fate::Drop),
        (true, 1.0, Fate::Mark, Fate::Mark),
        (true, 0.0, Fate::Mark, Fate::Drop),
        (false, 0.0, Fate::Send, Fate::Drop),
    ] {
        let mut control = control();
        // BLUE drops with a probability of 1/256, and the next late frame is due.
        control.on_full(50 * MILLISECOND);
        let decide = |control: &mut Control, at: u64, is_last| {
            control.on_head(at * MILLISECOND, Waited { marks, ..waited(6) }, draw, || is_last)
        };
        let mut other = control.clone();
        assert_eq!(decide(&mut control, 51, true), of_last, "{marks}, {draw}");
        assert_eq!(decide(&mut other, 51, false), of_others, "{marks}, {draw}");
        // Either counts alike.
        let next = |control: &mut Control| {
            (52..400).find(|&at| control.on_head(at * MILLISECOND, waited(6), 1.0, || false) == Fate::Drop)
        };
        assert_eq!(next(&mut control), next(&mut other), "{marks}, {draw}");
    }
}

#[test]
fn the_overflow_probability_grows_and_shrinks_at_most_once_in_the_target() {
    let control = &mut control();
    let mut at = |full: bool, at: u64| {
        if full {
            control.on_full(at * MILLISECOND)
        } else {
            control.on_empty(at * MILLISECOND)
        }
        control.probability() * 4096.0
    };
    // Up by 16/4096 and down by 1/4096, more than 5 ms after the change before.
    let steps = [(true, 6, 16.0), (true, 11, 16.0), (true, 12, 32.0), (false, 17, 32.0), (false, 18, 31.0)];
    for (full, time, expected) in steps.into_iter().chain([(false, 23, 31.0), (true, 24, 47.0)]) {
        assert_eq!(at(full, time), expected, "at {time} ms");
    }
    assert_eq!((0..10_000).map(|n| at(true, 30 + 6 * n)).fold(0.0, f64::max), 4096.0);
    assert_eq!((0..10_000).map(|n| at(false, 60_040 + 6 * n)).fold(4096.0, f64::min), 0.0);
}

/// The time between two updates is a minimum (Feng, Shin, Kandlur and Saha 2002, `freeze_time`), and nothing is before the first.
#[test]
fn the_first_overflow_counts_however_soon_it_comes() {
    let control = &mut control();
    control.on_full(1);
    assert_eq!(control.probability() * 4096.0, 16.0);
    control.on_full(5 * MILLISECOND + 1);
    assert_eq!(control.probability() * 4096.0, 16.0);
    control.on_full(5 * MILLISECOND + 2);
    assert_eq!(control.probability() * 4096.0, 32.0);
}

#[test]
fn an_overflow_makes_the_next_drop_due_at_once() {
    let control = &mut control();
    control.on_full(50 * MILLISECOND);
    assert_eq!(fate(control, 51, waited(6)), Fate::Drop);
}

/// Whether packets of 500 bytes are dropped that wait for 20 ms in front of a line of 1 Mbit/s, which adds `overhead` to each.
fn drops_with(overhead: u64) -> bool {
    let contracts = contracts(1);
    let rate = BitRate(1_000_000);
    let port = PortContext { unit: Unit::Packets, rate, overhead, ..context(100, &contracts) };
    let mut policy = Cobalt::new(&Params::default(), &port).unwrap();
    let (cell, queue) = (Cell { length: 1, octets: 500, ..Cell::default() }, Snapshot::of(100, &[50]));
    (0..1000).any(|at| {
        let head = Head { cell, sojourn: 20 * MILLISECOND, now: at * MILLISECOND };
        policy.on_head(head, &queue.view(true)) == Fate::Drop
    })
}

#[test]
fn four_frames_take_longer_by_what_the_line_adds() {
    // 4 * 500 bytes take 16 ms, with 125 more for each 20 ms.
    assert!(drops_with(124));
    assert!(!drops_with(125));
}

#[test]
fn four_frames_take_as_long_as_the_link_is_slow() {
    // Four packets of 1500 bytes are 48 000 bits: 4.8 ms at 10 Mbit/s, 48 ms at 1 Mbit/s. Packets that wait for 20 ms are late at the first
    // rate and not at the second.
    let contracts = contracts(1);
    let port = PortContext { unit: Unit::Packets, rate: BitRate(10_000_000), ..context(100, &contracts) };
    let mut policy = Cobalt::new(&Params::default(), &port).unwrap();
    let (cell, queue) = (Cell { length: 1, octets: 1500, ..Cell::default() }, Snapshot::of(100, &[50]));
    let drops = |policy: &mut Cobalt, from: u64| -> usize {
        let fates = (from..from + 1000).map(|at| {
            let head = Head { cell, sojourn: 20 * MILLISECOND, now: at * MILLISECOND };
            policy.on_head(head, &queue.view(true))
        });
        fates.filter(|&fate| fate == Fate::Drop).count()
    };
    // An interval after the first: 1 + 1/sqrt(2) + ... + 1/sqrt(n) < 10 for n up to 30 and some.
    assert!(drops(&mut policy, 0) > 25);
    policy.on_rate(BitRate(1_000_000), 1000 * MILLISECOND);
    assert_eq!(drops(&mut policy, 1001), 0);
}
