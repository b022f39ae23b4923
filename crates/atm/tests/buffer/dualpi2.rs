//! DualPI2 (RFC 9332, appendix A) against numbers worked by hand from its figures.

use celltrain_atm::buffer::{
    Fate,
    dualpi2::{Controller, Params},
};
use celltrain_engine::{
    Time,
    quantity::Duration,
    time::{MICROSECOND, MILLISECOND},
};

const MS: Time = MILLISECOND;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
}

/// Figure 2: Tupdate = 15 ms, alpha = 0.1 x 0.015 / 0.1^2 = 0.15 Hz, beta = 0.3 / 0.1 = 3 Hz. Figure 8, by hand: each step is
/// 0.15 (delay - 0.015) + 3 (delay - old delay), and p' does not leave 0 to 1.
#[test]
fn the_base_probability_follows_the_delay() {
    let mut controller = Controller::new(&Params::default());
    assert_eq!(Params::default().update(), 15 * MS);
    let mut expected = 0.0;
    for (delay, step) in [
        (15, 0.045),     // 0 + 3 x 0.015
        (25, 0.031_5),   // 0.15 x 0.010 + 3 x 0.010
        (25, 0.001_5),   // 0.15 x 0.010
        (20, -0.014_25), // 0.15 x 0.005 - 3 x 0.005
        (15, -0.015),    // 0 - 3 x 0.005
    ] {
        controller.update(delay * MS);
        expected += step;
        close(controller.base(), expected);
        close(controller.coupled(), 2.0 * expected);
        close(controller.classic(), expected * expected);
    }
    // 0.04875 - 0.00225 - 0.045.
    controller.update(0);
    close(controller.base(), 0.0015);
    controller.update(0);
    close(controller.base(), 0.0);
    controller.update(1000 * MS);
    close(controller.base(), 1.0);
}

/// Figure 2, line 12: the update comes three times in the longest round trip at least.
#[test]
fn short_round_trips_update_more_often() {
    let params = Params { longest_round_trip: Duration(9 * MS), ..Params::default() };
    assert_eq!(params.update(), 3 * MS);
}

/// Figure 5: nothing up to 800 us, everything from 1200 us on.
#[test]
fn the_ramp_of_the_low_latency_queue() {
    let controller = Controller::new(&Params::default());
    for (delay, probability) in
        [(0, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1199, 0.9975), (1200, 1.0), (5000, 1.0)]
    {
        close(controller.native(delay * MICROSECOND), probability);
    }
    // Note c: a range of nothing makes a step of it.
    let step = Controller::new(&Params { mark_range: Duration(0), ..Params::default() });
    close(step.native(799 * MICROSECOND), 0.0);
    close(step.native(800 * MICROSECOND), 1.0);
}

/// A controller whose base probability is 0.15 x (delay - 15 ms) + 3 x delay.
fn after(delay: Time) -> Controller {
    let mut controller = Controller::new(&Params::default());
    controller.update(delay);
    controller
}

fn count(packets: u64, mut next: impl FnMut() -> Fate, fate: Fate) -> u64 {
    (0..packets).map(|_| u64::from(next() == fate)).sum()
}

/// Figure 7, lines 5 to 8a: the greater of the two probabilities, and none of its own with no more than one packet behind.
#[test]
fn low_latency_is_marked_by_the_greater_probability() {
    // p' = 0.1 at (0.1 + 0.00225) / 3.15 s of delay, so that 2 p' = 0.2.
    let delay = (0.102_25 / 3.15 * 1e12) as Time;
    for (sojourn, behind, marks) in
        [(0, 9, 200), (900, 9, 250), (900, 1, 200), (1000, 2, 500), (2000, 1, 200)]
    {
        let mut controller = after(delay);
        close((controller.base() * 1e9).round() / 1e9, 0.1);
        let next = || controller.on_low_latency(sojourn * MICROSECOND, behind);
        let found = count(1000, next, Fate::Mark);
        assert!(found.abs_diff(marks) <= 1, "{sojourn} us, {behind} behind: {found} instead of {marks}");
    }
}

/// Figure 7, lines 11 to 17: the square, as a mark where that can be; the recurrence is even.
#[test]
fn classic_frames_are_dropped_by_the_square() {
    let delay = (0.202_25 / 3.15 * 1e12) as Time;
    for (marks, fate) in [(false, Fate::Drop), (true, Fate::Mark)] {
        let mut controller = after(delay);
        let at: Vec<_> = (1..=100u64).filter(|_| controller.on_classic(marks) == fate).collect();
        // 0.04 a packet: the count passes 1 with every 25th packet, or with the one after, as it has to exceed 1.
        assert!(
            at.len().abs_diff(4) <= 1 && at.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(25) <= 1),
            "{at:?}"
        );
    }
}

/// Section 4.2.3 and appendix A.2: from p' = 1/2 on, where every packet of low latency would be marked, both queues drop by the square,
/// whatever could be marked; what is left of the low latency is marked.
#[test]
fn overload_drops_from_both_queues() {
    let mut controller = after((0.502_251 / 3.15 * 1e12) as Time);
    assert!(controller.coupled() >= 1.0);
    assert_eq!(count(100, || controller.on_classic(true), Fate::Mark), 0);
    let mut again = controller.clone();
    let dropped = count(1000, || controller.on_low_latency(0, 0), Fate::Drop);
    let marked = count(1000, || again.on_low_latency(0, 0), Fate::Mark);
    assert!((240..=260).contains(&dropped) && dropped + marked >= 999, "{dropped} {marked}");
    assert!(count(100, || controller.on_classic(true), Fate::Drop).abs_diff(25) <= 1);
}
