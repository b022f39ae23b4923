//! Pacing: segments leave one by one, at a rate a little above the window per round trip, and not in bursts as ACKs come.

use celltrain_engine::Time;

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
    /// there is no rate.
    pub(crate) fn on_sent(&mut self, now: Time, flow: &Flow, bytes: u64) -> bool {
        let Some(srtt) = flow.timer.estimator.srtt() else { return false };
        let (numerator, denominator) = if flow.cwnd < flow.ssthresh / 2 { (1, 2) } else { (5, 6) };
        let share =
            u128::from(bytes) * u128::from(srtt) * numerator / (u128::from(flow.cwnd.max(1)) * denominator);
        self.next = now + share as Time;
        self.next > now
    }
}
