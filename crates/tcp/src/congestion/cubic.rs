//! CUBIC (RFC 9438). Windows are in segments and times in seconds here, as in its equations.

use celltrain_engine::{Time, time::seconds};

use super::{CongestionControl, slow_start};
use crate::flow::Flow;

/// Growth constant in segments per cubic second (section 4.6 of the RFC's constants: C).
const C: f64 = 0.4;
/// Multiplicative decrease.
const BETA: f64 = 0.7;
/// Additive increase that makes the Reno-friendly estimate as fast as Reno (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State of CUBIC.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cubic {
    /// The plateau of the curve: the window before the last loss, or less (fast convergence).
    w_max: f64,
    /// Whether the next congestion avoidance follows a fast recovery, so that it climbs back to `w_max`. After a timeout,
    /// or with no loss yet, it starts on the plateau (sections 4.7 and 4.8).
    climbs: bool,
    /// Window before the last reduction.
    cwnd_prior: f64,
    /// The present congestion avoidance stage.
    epoch: Option<Epoch>,
    /// What `flow.cwnd`, in whole bytes, leaves out of the window, in bytes.
    fraction: f64,
}

/// One congestion avoidance stage.
#[derive(Debug, Clone)]
struct Epoch {
    start: Time,
    /// Seconds until the curve reaches the plateau.
    k: f64,
    /// Window that Reno would have by now (section 4.3).
    w_est: f64,
}

impl Cubic {
    /// W_cubic(t) (section 4.2 equation 1).
    fn curve(&self, k: f64, t: f64) -> f64 {
        let x = t - k;
        C * x * x * x + self.w_max
    }

    /// Starts a stage with the window `cwnd`.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if !self.climbs || self.w_max < cwnd {
            self.w_max = cwnd;
        }
        Epoch { start: now, k: libm::cbrt((self.w_max - cwnd) / C), w_est: cwnd }
    }

    /// The window after an ACK of `acked` segments in congestion avoidance (sections 4.3 to 4.5).
    fn grown(&mut self, now: Time, rtt: Time, cwnd: f64, acked: f64) -> f64 {
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(now, cwnd));
        let alpha = if epoch.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let t = seconds(now - epoch.start);
        let next = if self.curve(epoch.k, t) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            let target = self.curve(epoch.k, t + seconds(rtt)).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd
        };
        self.epoch = Some(epoch);
        next
    }

    /// The threshold after a reduction, which ends the stage (section 4.6).
    fn reduced(&mut self, flow: &Flow) -> u64 {
        self.cwnd_prior = flow.cwnd as f64 / flow.mss as f64;
        self.epoch = None;
        self.fraction = 0.0;
        ((BETA * flow.loss_flight() as f64) as u64).max(2 * flow.mss)
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        if flow.cwnd < flow.ssthresh {
            return slow_start(flow, acked);
        }
        let mss = flow.mss as f64;
        let cwnd = (flow.cwnd as f64 + self.fraction) / mss;
        let rtt = flow.timer.estimator.srtt().unwrap_or(0);
        let bytes = self.grown(now, rtt, cwnd, acked as f64 / mss) * mss;
        flow.cwnd = bytes as u64;
        self.fraction = bytes - flow.cwnd as f64;
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        let ssthresh = self.reduced(flow);
        // Fast convergence (section 4.7 of the algorithm's list): a shrinking share is given up sooner.
        let shrinking = self.cwnd_prior < self.w_max;
        self.w_max = if shrinking { self.cwnd_prior * (1.0 + BETA) / 2.0 } else { self.cwnd_prior };
        self.climbs = true;
        ssthresh
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        self.climbs = false;
        if flow.consecutive_timeouts > 1 { flow.ssthresh } else { self.reduced(flow) }
    }

    fn on_idle(&mut self, idle: Time) {
        // Section 4.2: time without traffic does not count.
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }
}
