//! CUBIC (RFC 9438). Windows are in segments and times in seconds here, as in its equations.

use celltrain_engine::{Time, time::seconds};

use super::{CongestionControl, cubic_segments::WholeSegments, slow_start};
use crate::{
    flow::Flow,
    params::{CubicAlpha, CubicArithmetic},
};

/// Growth constant, in segments per cubic second (section 5.1).
const C: f64 = 0.4;
/// Multiplicative decrease (section 4.6).
const BETA: f64 = 0.7;
/// Additive increase that makes the Reno-friendly estimate as fast as Reno (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State of CUBIC.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cubic {
    /// The plateau of the curve: the window before the last loss, or less (fast convergence).
    w_max: f64,
    /// Whether the next congestion avoidance follows a fast recovery, so that it climbs back to `w_max`.
    /// After a timeout, or with no loss yet, it starts on the plateau (sections 4.8 and 4.10).
    climbs: bool,
    /// Window before the last reduction.
    cwnd_prior: f64,
    /// The present congestion avoidance stage.
    epoch: Option<Epoch>,
    /// What `flow.cwnd`, in whole bytes, leaves out of the window, in bytes.
    fraction: f64,
    /// What grows the window instead in the arithmetic of Linux.
    whole: WholeSegments,
}

/// One congestion avoidance stage.
#[derive(Debug, Clone)]
struct Epoch {
    /// When it began, moved on by the time in which the window was not used.
    start: Time,
    /// The last ACK.
    last: Time,
    /// Seconds until the curve reaches the plateau.
    k: f64,
    /// Window that Reno would have by now (section 4.3).
    w_est: f64,
}

impl Cubic {
    /// W_cubic(t) (section 4.2).
    fn curve(&self, k: f64, t: f64) -> f64 {
        let x = t - k;
        C * x * x * x + self.w_max
    }

    // RFC 9438 §4.8: SHOULD begin the estimate of Reno at the window of the stage
    /// Starts a stage with the window `cwnd`.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if !self.climbs || self.w_max < cwnd {
            self.w_max = cwnd;
        }
        Epoch { start: now, last: now, k: libm::cbrt((self.w_max - cwnd) / C), w_est: cwnd }
    }

    // RFC 9438 §4.3: SHOULD set cwnd to the estimate of Reno where that is larger
    // RFC 9438 §4.3: SHOULD set alpha to 1 beyond the window of the last reduction (key `cubic-alpha`)
    // RFC 9438 §4.4: MUST add (target - cwnd)/cwnd for each ACK in the concave region (read as for each segment acknowledged)
    // RFC 9438 §4.5: MUST do so in the convex region (read so, too)
    /// The window after an ACK of `acked` segments in congestion avoidance (sections 4.3 to 4.5).
    fn grown(&mut self, now: Time, rtt: Time, cwnd: f64, acked: f64, reading: CubicAlpha) -> f64 {
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(now, cwnd));
        let slow = reading == CubicAlpha::Constant || epoch.w_est < self.cwnd_prior;
        epoch.w_est += if slow { ALPHA } else { 1.0 } * acked / cwnd;
        epoch.last = now;
        let t = seconds(now - epoch.start);
        let next = if self.curve(epoch.k, t) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            let target = self.curve(epoch.k, t + seconds(rtt)).clamp(cwnd, 1.5 * cwnd);
            // Section 4.4 adds this for each segment acknowledged, so that delayed ACKs make no difference.
            cwnd + (target - cwnd) * (acked / cwnd).min(1.0)
        };
        self.epoch = Some(epoch);
        next
    }

    // RFC 9438 §4.6: SHOULD set beta to 0.7
    // RFC 9438 §5.1: SHOULD set C to 0.4
    /// What is left of `bytes` after a reduction, which ends the stage (section 4.6).
    fn reduced(&mut self, flow: &Flow, bytes: u64) -> u64 {
        self.cwnd_prior = flow.cwnd as f64 / flow.mss as f64;
        self.epoch = None;
        self.fraction = 0.0;
        (BETA * bytes as f64) as u64
    }

    // RFC 9438 §4.7: SHOULD implement fast convergence
    // Not RFC 9438 §4.7: SHOULD disable it with a single flow alone (key `cubic-fast-convergence`; a flow cannot know)
    /// The plateau after a reduction of `cwnd_prior`, to which the next stage climbs back. Section 4.7: a flow whose share
    /// shrinks gives way to others by a lower one.
    fn aim(&mut self, flow: &Flow) {
        let shrinking = flow.params.cubic_fast_convergence && self.cwnd_prior < self.w_max;
        self.w_max = if shrinking { self.cwnd_prior * (1.0 + BETA) / 2.0 } else { self.cwnd_prior };
        self.climbs = true;
    }

    /// What a loss or a mark leaves of the window in the arithmetic of Linux, however little of it is in use just now.
    fn reduced_in_segments(&mut self, flow: &Flow) -> u64 {
        self.whole.reduce(flow.cwnd / flow.mss, flow.params.cubic_fast_convergence) * flow.mss
    }
}

/// Whether windows are counted in whole segments, as Linux counts them.
fn in_segments(flow: &Flow) -> bool {
    flow.params.cubic_arithmetic == CubicArithmetic::Segments
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        if flow.cwnd < flow.ssthresh {
            // The next congestion avoidance is a stage of its own, as behind an idle time.
            self.epoch = None;
            return slow_start(now, flow, acked);
        }
        if in_segments(flow) {
            flow.cwnd += self.whole.increase(now, flow.cwnd / flow.mss, acked, flow.mss) * flow.mss;
            return;
        }
        let rtt = flow.timer.estimator.srtt().unwrap_or(0);
        let mss = flow.mss as f64;
        let cwnd = (flow.cwnd as f64 + self.fraction) / mss;
        let bytes = self.grown(now, rtt, cwnd, acked as f64 / mss, flow.params.cubic_alpha) * mss;
        flow.cwnd = bytes as u64;
        self.fraction = bytes - flow.cwnd as f64;
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        let left = if in_segments(flow) {
            self.reduced_in_segments(flow)
        } else {
            let left = self.reduced(flow, flow.in_network());
            self.aim(flow);
            left
        };
        left.max(2 * flow.mss)
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        if in_segments(flow) {
            return self.reduced_in_segments(flow);
        }
        let left = self.reduced(flow, flow.cwnd);
        self.aim(flow);
        left
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        let again = flow.consecutive_timeouts > 1;
        if in_segments(flow) {
            let left = if again { flow.ssthresh } else { self.reduced_in_segments(flow).max(2 * flow.mss) };
            self.whole.forget();
            return left;
        }
        self.climbs = false;
        if again { flow.ssthresh } else { self.reduced(flow, flow.in_network()).max(2 * flow.mss) }
    }

    fn on_round_trip(&mut self, now: Time, rtt: Time) {
        self.whole.on_round_trip(now, rtt);
    }

    /// Linux restores the window and not what a reduction has done to the plateau and the stage.
    fn on_spurious(&mut self, _now: Time, flow: &mut Flow) -> bool {
        in_segments(flow)
    }

    fn on_restart(&mut self, now: Time, idle: Time, _flow: &mut Flow) {
        self.whole.on_restart(now, idle);
    }

    // RFC 9438 §4.2: MUST NOT count time in which the application limits
    fn on_limited(&mut self, now: Time) {
        // Section 4.2: time in which the application kept the window from growing does not count. Linux counts it while anything is in flight.
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now - epoch.last;
            epoch.last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use celltrain_engine::time::{MILLISECOND, SECOND};

    use super::*;
    use crate::StackSpec;

    const MSS: u64 = 1000;

    /// A flow with a window of `segments`, all of them in flight, and a round trip of `rtt`.
    fn flow(segments: u64, rtt: Time) -> Flow {
        let mut params = StackSpec::default().resolve().expect("the default stack is possible");
        params.mss = MSS as u32;
        params.receive_window = 1 << 40;
        let mut flow = Flow::new(params);
        flow.cwnd = segments * MSS;
        flow.max = flow.cwnd;
        flow.offered = u64::MAX;
        flow.timer.estimator.sample(rtt);
        flow
    }

    /// Section 4.3: the estimate of Reno begins with the window of the stage. Slow start, as behind an idle time (RFC 5681 section 4.1), ends
    /// the stage before.
    #[test]
    fn a_stage_ends_with_slow_start() {
        let rtt = 50 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(200, rtt));
        flow.ssthresh = cubic.on_loss(&flow);
        flow.cwnd = flow.ssthresh;
        let before = acknowledge(&mut cubic, &mut flow, rtt, 0, 10 * SECOND);
        assert!(before > 200.0, "{before}");
        (flow.cwnd, flow.ssthresh) = (10 * MSS, 20 * MSS);
        let after = acknowledge(&mut cubic, &mut flow, rtt, 10 * SECOND, 10 * SECOND + 4 * rtt);
        assert!((20.0..40.0).contains(&after), "{after}");
    }

    /// Acknowledges segment by segment, one window per round trip, from `from` to `to`; returns the window in
    /// segments.
    fn acknowledge(cubic: &mut Cubic, flow: &mut Flow, rtt: Time, from: Time, to: Time) -> f64 {
        acknowledge_each(1, cubic, flow, rtt, from, to)
    }

    /// As `acknowledge`, with one ACK for `segments`.
    fn acknowledge_each(
        segments: u64,
        cubic: &mut Cubic,
        flow: &mut Flow,
        rtt: Time,
        from: Time,
        to: Time,
    ) -> f64 {
        let mut now = from;
        while now < to {
            cubic.on_ack(now, flow, segments * MSS);
            now += rtt * segments * MSS / flow.cwnd;
        }
        flow.cwnd as f64 / MSS as f64
    }

    /// A loss, with fast recovery already over.
    fn lose(cubic: &mut Cubic, flow: &mut Flow) {
        flow.ssthresh = cubic.on_loss(flow);
        flow.cwnd = flow.ssthresh;
        flow.max = flow.una + flow.cwnd;
    }

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected, "found {found}, expected {expected}");
    }

    #[test]
    fn window_follows_the_curve() {
        let rtt = 100 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(1000, rtt));
        lose(&mut cubic, &mut flow);
        assert_eq!(flow.cwnd, 700 * MSS);
        // Section 4.2: K is the cube root of W_max (1 - beta) / C, at which the curve is back at W_max.
        let k = libm::cbrt(1000.0 * 0.3 / 0.4);
        for second in 1..=15u64 {
            let window = acknowledge(&mut cubic, &mut flow, rtt, (second - 1) * SECOND, second * SECOND);
            let x = second as f64 - k;
            // The window runs for the point of the curve a round trip ahead and reaches it only in part.
            assert_close(window, 0.4 * x * x * x + 1000.0, 0.02);
        }
    }

    #[test]
    fn short_round_trips_grow_like_reno() {
        let rtt = 10 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(20, rtt));
        lose(&mut cubic, &mut flow);
        // Section 4.3: alpha segments a round trip up to the old window, then one.
        let window = acknowledge(&mut cubic, &mut flow, rtt, 0, 10 * rtt);
        assert_close(window, 14.0 + 10.0 * 9.0 / 17.0, 0.03);
        let window = acknowledge(&mut cubic, &mut flow, rtt, 10 * rtt, 50 * rtt);
        assert_close(window, 20.0 + (50.0 - 6.0 * 17.0 / 9.0), 0.03);
    }

    #[test]
    fn delayed_acks_make_no_difference() {
        // Section 4.3: "this equation works for connections with enabled or disabled Delayed ACKs".
        for rtt in [10 * MILLISECOND, 100 * MILLISECOND] {
            let window = |segments| {
                let (mut cubic, mut flow) = (Cubic::default(), flow(100, rtt));
                lose(&mut cubic, &mut flow);
                acknowledge_each(segments, &mut cubic, &mut flow, rtt, 0, 8 * SECOND)
            };
            assert_close(window(2), window(1), 0.005);
        }
    }

    #[test]
    fn alpha_may_stay_what_it_is() {
        let rtt = 10 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(20, rtt));
        Arc::make_mut(&mut flow.params).cubic_alpha = CubicAlpha::Constant;
        lose(&mut cubic, &mut flow);
        let window = acknowledge(&mut cubic, &mut flow, rtt, 0, 50 * rtt);
        assert_close(window, 14.0 + 50.0 * 9.0 / 17.0, 0.03);
    }

    #[test]
    fn a_shrinking_flow_lowers_its_plateau() {
        let (mut cubic, mut flow) = (Cubic::default(), flow(100, SECOND));
        lose(&mut cubic, &mut flow);
        assert_close(cubic.w_max, 100.0, 0.0);
        lose(&mut cubic, &mut flow);
        assert_close(cubic.w_max, 70.0 * 0.85, 1e-12);
        Arc::make_mut(&mut flow.params).cubic_fast_convergence = false;
        lose(&mut cubic, &mut flow);
        assert_close(cubic.w_max, 49.0, 0.0);
    }

    #[test]
    fn a_timeout_starts_on_the_plateau() {
        let rtt = 100 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(100, rtt));
        flow.consecutive_timeouts = 1;
        flow.ssthresh = cubic.on_timeout(&flow);
        assert_eq!(flow.ssthresh, 70 * MSS);
        flow.consecutive_timeouts = 2;
        assert_eq!(cubic.on_timeout(&flow), 70 * MSS, "the same segment again does not reduce again");
        flow.cwnd = flow.ssthresh;
        // Section 4.8: K = 0 and W_max is the window at which congestion avoidance begins.
        let window = acknowledge(&mut cubic, &mut flow, rtt, 0, 5 * SECOND);
        assert_close(window, 0.4 * 125.0 + 70.0, 0.02);
    }

    #[test]
    fn idle_time_does_not_count() {
        let rtt = 100 * MILLISECOND;
        let (mut cubic, mut flow) = (Cubic::default(), flow(1000, rtt));
        lose(&mut cubic, &mut flow);
        let before = acknowledge(&mut cubic, &mut flow, rtt, 0, 2 * SECOND);
        cubic.on_limited(62 * SECOND);
        let after = acknowledge(&mut cubic, &mut flow, rtt, 62 * SECOND, 62 * SECOND + rtt);
        assert_close(after, before, 0.02);
    }

    /// After an undone loss the stage of Linux begins at the window that is restored, on a plateau (RFC 9438 section 4.9.2 lets an implementation
    /// choose what to restore).
    #[test]
    fn linux_keeps_the_reduction_of_an_undone_loss() {
        let (mut cubic, mut flow) = (Cubic::default(), flow(100, 50 * MILLISECOND));
        assert!(!cubic.on_spurious(0, &mut flow));
        Arc::make_mut(&mut flow.params).cubic_arithmetic = CubicArithmetic::Segments;
        assert_eq!(cubic.on_loss(&flow), 70 * MSS);
        assert!(cubic.on_spurious(0, &mut flow));
    }
}
