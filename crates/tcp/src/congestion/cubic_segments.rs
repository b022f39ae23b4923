//! CUBIC in the arithmetic of Linux: windows, the curve and the estimate of Reno in whole numbers, and an increment that is kept for a
//! while. Small windows fall further and grow later than RFC 9438 says.
//!
//! Facts from the public sources of Linux 6.18 (`tcp_cubic.c`), in words. Its clock, which ticks every 1 to 4 ms, is exact here.

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};

/// The curve counts time in parts of a second.
const PARTS: u64 = 1024;
const PART: Time = SECOND / PARTS;
/// Growth constant, in segments per cubic second, times [`PARTS`] (RFC 9438 section 5.1: 0.4).
const C: u64 = 410;
/// What a reduction leaves, times 1024 (section 4.6: 0.7).
const BETA: u64 = 717;
/// Segments acknowledged for each that Reno's window grows by, per segment of the window, times 8 (section 4.3: 1/alpha is 1.9).
const RENO: u64 = 15;
/// While the window stands, how often to raise it is computed no more than once in this time.
const KEPT: Time = SECOND / 32;
/// A round trip that is measured so soon after a stage began may be that of the queue that the loss has shown.
const UNSETTLED: Time = SECOND;
/// Before the first loss, and after a timeout, the window grows by one segment for so many at least.
const FIRST_INCREASE: u64 = 20;
/// It never grows by more than one segment for so many.
const FASTEST_INCREASE: u64 = 2;

/// The window of one connection in congestion avoidance. Windows are in segments.
#[derive(Debug, Clone, Default)]
pub(super) struct WholeSegments {
    /// Segments acknowledged since the last increase.
    credit: u64,
    /// Acknowledged bytes that are no whole segment yet.
    bytes: u64,
    known: Known,
}

/// What a timeout makes it forget.
#[derive(Debug, Clone)]
struct Known {
    /// The plateau: the window before the last loss, or less; 0 before any.
    plateau: u64,
    /// For how many segments acknowledged the window grows by one.
    per_increase: u64,
    /// The window and the time of the last computation.
    computed: Option<(u64, Time)>,
    epoch: Option<Epoch>,
    /// Smallest round trip.
    rtt: Time,
}

impl Default for Known {
    fn default() -> Self {
        Self { plateau: 0, per_increase: 1, computed: None, epoch: None, rtt: NEVER }
    }
}

/// One congestion avoidance stage.
#[derive(Debug, Clone)]
struct Epoch {
    /// When it began, moved on by the times since in which nothing was in flight.
    start: Time,
    /// The parts of a second until the curve reaches its origin.
    k: u64,
    origin: u64,
    /// Window that Reno would have by now, and the segments acknowledged towards its next increase.
    reno: u64,
    reno_credit: u64,
}

impl Epoch {
    fn new(now: Time, cwnd: u64, plateau: u64) -> Self {
        let origin = plateau.max(cwnd);
        let cube = (PARTS * PARTS * PARTS) as f64 * PARTS as f64 / C as f64 * (origin - cwnd) as f64;
        Self { start: now, k: libm::cbrt(cube) as u64, origin, reno: cwnd, reno_credit: 0 }
    }

    /// The point of the curve `rtt` from now, its distance from the origin rounded down.
    fn target(&self, now: Time, rtt: Time) -> u64 {
        let t = (now - self.start + rtt) / PART;
        let x = u128::from(t.abs_diff(self.k));
        let distance = (u128::from(C) * x * x * x / u128::from(PARTS).pow(4)) as u64;
        if t < self.k { self.origin.saturating_sub(distance) } else { self.origin + distance }
    }

    /// Lets the estimate of Reno grow by what has been acknowledged.
    fn follow_reno(&mut self, cwnd: u64) {
        let per_increase = cwnd * RENO / 8;
        while self.reno_credit > per_increase {
            self.reno_credit -= per_increase;
            self.reno += 1;
        }
    }
}

impl Known {
    /// Computes for how many of the `segments` acknowledged, and of those that follow, there is an increase. A window that stands keeps what was
    /// computed for it, also across a reduction that has left it as it was: its stage then begins later.
    fn compute(&mut self, now: Time, cwnd: u64, segments: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit += segments;
        }
        if self.computed.is_some_and(|(window, at)| window == cwnd && now - at <= KEPT) {
            return;
        }
        self.computed = Some((cwnd, now));
        let plateau = self.plateau;
        let epoch = self
            .epoch
            .get_or_insert_with(|| Epoch { reno_credit: segments, ..Epoch::new(now, cwnd, plateau) });
        let target = epoch.target(now, if self.rtt == NEVER { 0 } else { self.rtt });
        let mut per_increase = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if plateau == 0 {
            per_increase = per_increase.min(FIRST_INCREASE);
        }
        epoch.follow_reno(cwnd);
        if epoch.reno > cwnd {
            per_increase = per_increase.min(cwnd / (epoch.reno - cwnd));
        }
        self.per_increase = per_increase.max(FASTEST_INCREASE);
    }
}

impl WholeSegments {
    /// The window after a loss or a mark at a window of `cwnd`. With `fast_convergence` a window that has not come back to the plateau leaves a lower
    /// one (RFC 9438 section 4.7).
    pub(super) const fn reduce(&mut self, cwnd: u64, fast_convergence: bool) -> u64 {
        let shrinking = fast_convergence && cwnd < self.known.plateau;
        self.known.plateau = if shrinking { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        self.known.epoch = None;
        self.credit = 0;
        cwnd * BETA / 1024
    }

    /// A timeout: what is known of the path may no longer hold.
    pub(super) fn forget(&mut self) {
        self.credit = 0;
        self.known = Known::default();
    }

    /// Takes the measurement of a round trip.
    pub(super) fn on_round_trip(&mut self, now: Time, rtt: Time) {
        let known = &mut self.known;
        if known.epoch.as_ref().is_none_or(|epoch| now - epoch.start >= UNSETTLED) {
            known.rtt = known.rtt.min(rtt);
        }
    }

    /// Time in which nothing was in flight does not count.
    pub(super) fn on_restart(&mut self, now: Time, idle: Time) {
        if let Some(epoch) = &mut self.known.epoch {
            epoch.start = (epoch.start + idle).min(now);
        }
    }

    /// By how many segments `acked` bytes open a window of `cwnd` segments.
    #[inline]
    pub(super) fn increase(&mut self, now: Time, cwnd: u64, acked: u64, mss: u64) -> u64 {
        self.bytes += acked;
        let segments = self.bytes / mss;
        self.bytes %= mss;
        self.known.compute(now, cwnd.max(1), segments);
        let per_increase = self.known.per_increase;
        let mut increase = 0;
        if self.credit >= per_increase {
            // The pace has quickened since.
            self.credit = 0;
            increase = 1;
        }
        self.credit += segments;
        increase += self.credit / per_increase;
        self.credit %= per_increase;
        increase
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;

    const MSS: u64 = 1000;

    /// The window after `rounds` round trips of `rtt` at which pairs of segments are acknowledged, after a loss at `plateau`.
    fn grown(plateau: u64, from: u64, rtt: Time, rounds: u64) -> u64 {
        let mut growth = WholeSegments::default();
        growth.known.plateau = plateau;
        growth.on_round_trip(0, rtt);
        let (mut cwnd, mut now) = (from, 0);
        while now < rounds * rtt {
            cwnd += growth.increase(now, cwnd, 2 * MSS, MSS);
            now += 2 * rtt / cwnd;
        }
        cwnd
    }

    #[test]
    fn large_windows_follow_the_curve() {
        // RFC 9438 section 4.2: C (t - K)^3 + W_max, with K the cube root of 300 / C.
        let k = libm::cbrt(300.0 / 0.4);
        for second in [2, 5, 9, 12] {
            let x = second as f64 - k;
            let expected = 0.4 * x * x * x + 1000.0;
            let found = grown(1000, 700, 100 * MILLISECOND, 10 * second) as f64;
            assert!((found - expected).abs() < 0.02 * expected, "{found} {expected}");
        }
    }

    #[test]
    fn an_increment_is_kept_while_the_window_stands() {
        let mut growth = WholeSegments::default();
        growth.known.plateau = 14;
        growth.on_round_trip(0, 20 * MILLISECOND);
        // On the plateau the curve asks for nothing. Reno's window gains a segment for 26 acknowledged, which shows only when the
        // increment is computed again.
        let increase = |growth: &mut WholeSegments, ms: u64, segments: u64| {
            growth.increase(ms * MILLISECOND, 14, segments * MSS, MSS)
        };
        assert_eq!(increase(&mut growth, 0, 2), 0);
        assert_eq!(increase(&mut growth, 31, 26), 0);
        assert_eq!(increase(&mut growth, 32, 2), 1);
    }

    #[test]
    fn the_estimate_of_reno_leads_at_short_round_trips() {
        // RFC 9438 section 4.3: 0.53 segments a round trip.
        let gained = grown(11, 7, 20 * MILLISECOND, 30) - 7;
        assert!((14..=16).contains(&gained), "{gained} of 16");
    }

    #[test]
    fn growth_before_a_loss_is_a_twentieth_of_a_window_at_least() {
        let found = grown(0, 100, 100 * MILLISECOND, 1);
        assert_eq!(found, 105);
    }

    /// Linux leaves the increment, and the start of the stage, as they are where the window stands for less than 1/32 s, though it has reset the
    /// start of the stage: a reduction from two segments leaves two.
    #[test]
    fn a_reduction_that_changes_nothing_keeps_the_increment() {
        let mut growth = WholeSegments::default();
        growth.increase(0, 2, MSS, MSS);
        growth.reduce(2, true);
        growth.increase(30 * MILLISECOND, 2, MSS, MSS);
        assert!(growth.known.epoch.is_none());
        growth.increase(40 * MILLISECOND, 2, MSS, MSS);
        assert_eq!(
            growth.known.epoch.as_ref().map(|epoch| (epoch.start, epoch.reno_credit)),
            Some((40 * MILLISECOND, 1))
        );
    }

    /// Linux moves the stage on by the time without segments (`CA_EVENT_TX_START`), never beyond the present.
    #[test]
    fn idle_time_does_not_count() {
        let mut growth = WholeSegments::default();
        growth.increase(SECOND, 10, MSS, MSS);
        for (idle, start) in [(2 * SECOND, 3), (9 * SECOND, 10)] {
            growth.on_restart(10 * SECOND, idle);
            assert_eq!(growth.known.epoch.as_ref().map(|epoch| epoch.start), Some(start * SECOND));
        }
    }

    #[test]
    fn a_timeout_forgets_the_path() {
        let mut growth = WholeSegments::default();
        growth.on_round_trip(0, 20 * MILLISECOND);
        growth.increase(0, 10, MSS, MSS);
        growth.forget();
        assert_eq!((growth.known.rtt, growth.known.computed), (NEVER, None));
        // One segment for 20 at least: 5 % per round trip.
        growth.increase(MILLISECOND, 100, MSS, MSS);
        assert_eq!(growth.known.per_increase, FIRST_INCREASE);
    }

    /// A stage that has just begun does not learn round trips; otherwise the shortest of all counts.
    #[test]
    fn the_shortest_round_trip_counts() {
        let mut growth = WholeSegments::default();
        growth.on_round_trip(0, 30 * MILLISECOND);
        growth.increase(0, 10, MSS, MSS);
        growth.on_round_trip(SECOND - 1, 20 * MILLISECOND);
        assert_eq!(growth.known.rtt, 30 * MILLISECOND);
        growth.on_round_trip(SECOND, 25 * MILLISECOND);
        growth.on_round_trip(SECOND, 26 * MILLISECOND);
        assert_eq!(growth.known.rtt, 25 * MILLISECOND);
    }

    /// 717/1024 of the window, rounded down; with fast convergence a plateau of 1741/2048 of it.
    #[test]
    fn reductions_are_whole() {
        let mut growth = WholeSegments::default();
        assert_eq!((growth.reduce(101, true), growth.known.plateau), (70, 101));
        assert_eq!((growth.reduce(70, true), growth.known.plateau), (49, 59));
        assert_eq!((growth.reduce(49, false), growth.known.plateau), (34, 49));
    }
}
