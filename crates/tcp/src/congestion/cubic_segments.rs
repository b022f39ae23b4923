//! CUBIC in the arithmetic of Linux: windows and the estimate of Reno in whole segments, and an increment that is kept for a while.
//! Small windows fall further and grow later than RFC 9438 says.

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND, seconds},
};

use super::cubic::{ALPHA, C};

/// While the window stands, how often to raise it is computed no more than once in this time.
const KEPT: Time = SECOND / 32;
/// Before the first loss the window grows by one segment for so many at least.
const FIRST_INCREASE: u64 = 20;
/// It never grows by more than one segment for so many.
const FASTEST_INCREASE: u64 = 2;

/// The growth of one connection in congestion avoidance. Windows are in segments.
#[derive(Debug, Clone)]
pub(super) struct WholeSegments {
    /// The plateau: the window before the last loss, or less; 0 before any, and after a timeout.
    plateau: u64,
    /// Segments acknowledged since the last increase, and for how many there is one.
    credit: u64,
    per_increase: u64,
    /// The window and the time of the last computation.
    computed: Option<(u64, Time)>,
    epoch: Option<Epoch>,
    /// Acknowledged bytes that are no whole segment yet.
    bytes: u64,
    /// Smallest round trip.
    rtt: Time,
}

impl Default for WholeSegments {
    fn default() -> Self {
        Self { plateau: 0, credit: 0, per_increase: 1, computed: None, epoch: None, bytes: 0, rtt: NEVER }
    }
}

/// One congestion avoidance stage.
#[derive(Debug, Clone)]
struct Epoch {
    /// When it began, moved on by the time in which the window was not used, and the last ACK.
    start: Time,
    last: Time,
    /// Seconds until the curve reaches its origin.
    k: f64,
    origin: u64,
    /// Window that Reno would have by now, and the segments acknowledged towards its next increase.
    reno: u64,
    reno_credit: u64,
}

impl Epoch {
    fn new(now: Time, cwnd: u64, plateau: u64) -> Self {
        let origin = plateau.max(cwnd);
        let k = libm::cbrt((origin - cwnd) as f64 / C);
        Self { start: now, last: now, k, origin, reno: cwnd, reno_credit: 0 }
    }

    /// The point of the curve `rtt` from now, its distance from the origin rounded down.
    fn target(&self, now: Time, rtt: Time) -> u64 {
        let x = seconds(now - self.start + rtt) - self.k;
        let distance = (C * x * x * x).abs() as u64;
        if x < 0.0 { self.origin.saturating_sub(distance) } else { self.origin + distance }
    }

    /// Lets the estimate of Reno grow, by a segment for each `1 / alpha` windows.
    fn follow_reno(&mut self, cwnd: u64) {
        let per_increase = (cwnd as f64 / ALPHA) as u64;
        while self.reno_credit > per_increase {
            self.reno_credit -= per_increase;
            self.reno += 1;
        }
    }
}

impl WholeSegments {
    /// The plateau after a loss at a window of `cwnd`.
    pub(super) const fn lose(&mut self, plateau: u64) {
        self.plateau = plateau;
        self.stop();
    }

    /// Ends the stage.
    pub(super) const fn stop(&mut self) {
        self.epoch = None;
        self.credit = 0;
    }

    /// Time without use of the window does not count.
    pub(super) fn on_limited(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now - epoch.last;
            epoch.last = now;
        }
    }

    /// By how many segments `acked` bytes open a window of `cwnd` segments.
    pub(super) fn increase(&mut self, now: Time, rtt: Time, cwnd: u64, acked: u64, mss: u64) -> u64 {
        self.rtt = self.rtt.min(rtt);
        self.bytes += acked;
        let segments = self.bytes / mss;
        self.bytes %= mss;
        self.compute(now, cwnd.max(1), segments);
        let mut increase = 0;
        if self.credit >= self.per_increase {
            // The pace has quickened since.
            self.credit = 0;
            increase = 1;
        }
        self.credit += segments;
        increase += self.credit / self.per_increase;
        self.credit %= self.per_increase;
        increase
    }

    /// Computes for how many segments there is an increase.
    fn compute(&mut self, now: Time, cwnd: u64, segments: u64) {
        let fresh = self.epoch.is_none();
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, cwnd, self.plateau));
        epoch.reno_credit += segments;
        epoch.last = now;
        let kept = self.computed.is_some_and(|(window, at)| window == cwnd && now - at <= KEPT);
        if kept && !fresh {
            return;
        }
        self.computed = Some((cwnd, now));
        let target = epoch.target(now, self.rtt);
        let mut per_increase = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.plateau == 0 {
            per_increase = per_increase.min(FIRST_INCREASE);
        }
        epoch.follow_reno(cwnd);
        if epoch.reno > cwnd {
            per_increase = per_increase.min(cwnd / (epoch.reno - cwnd));
        }
        self.per_increase = per_increase.max(FASTEST_INCREASE);
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
        growth.lose(plateau);
        let (mut cwnd, mut now) = (from, 0);
        while now < rounds * rtt {
            cwnd += growth.increase(now, rtt, cwnd, 2 * MSS, MSS);
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
        growth.lose(14);
        // On the plateau the curve asks for nothing. Reno's window gains a segment for 26 acknowledged, which shows only when the
        // increment is computed again.
        let increase = |growth: &mut WholeSegments, ms: u64, segments: u64| {
            growth.increase(ms * MILLISECOND, 20 * MILLISECOND, 14, segments * MSS, MSS)
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
}
