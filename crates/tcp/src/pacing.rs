//! Pacing: segments leave one by one, at a rate a little above the window per round trip, and not in bursts as ACKs come.

use celltrain_engine::{Time, time::SECOND};

use crate::flow::Flow;

/// Segments that leave at a rate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pacer {
    /// When the next one may leave.
    next: Time,
}

impl Pacer {
    /// When the next segment may leave.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Lets the next segment leave at once.
    pub(crate) const fn reset(&mut self) {
        self.next = 0;
    }

    /// Notes that `bytes` leave now; true if the next segment must wait.
    ///
    /// The rate is a multiple of cwnd / SRTT, twice it while the window may double and 1.2 times afterwards, so that the window
    /// and not the rate decides how much is in flight: the factors are those of Linux. Before the first round-trip sample
    /// there is no rate. A congestion control with a model of the path sets its own.
    pub(crate) fn on_sent(&mut self, now: Time, flow: &Flow, bytes: u64) -> bool {
        if let Some(rate) = flow.pacing_rate {
            let gap = u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(rate);
            self.next = now + gap as Time;
            return self.next > now;
        }
        let Some(srtt) = flow.timer.estimator.srtt() else { return false };
        let (numerator, denominator) = if flow.cwnd < flow.ssthresh / 2 { (1, 2) } else { (5, 6) };
        let share =
            u128::from(bytes) * u128::from(srtt) * numerator / (u128::from(flow.cwnd.max(1)) * denominator);
        self.next = now + share as Time;
        self.next > now
    }
}
