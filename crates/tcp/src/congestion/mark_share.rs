//! The share of bytes that are marked, as DCTCP estimates it (RFC 8257 section 3.3).

use super::Feedback;

/// Estimation gain g (RFC 8257 section 4.2).
const GAIN: f64 = 1.0 / 16.0;

/// The estimate, and what it is updated from once a window of data.
#[derive(Debug, Clone)]
pub(super) struct MarkShare {
    /// The estimate, DCTCP.Alpha: 1 before the first window.
    alpha: f64,
    /// Bytes delivered, and marked, since this window began.
    delivered: u64,
    marked: u64,
    /// Where the data end that had been sent then, DCTCP.WindowEnd.
    window_end: u64,
}

impl Default for MarkShare {
    fn default() -> Self {
        Self { alpha: 1.0, delivered: 0, marked: 0, window_end: 0 }
    }
}

impl MarkShare {
    /// Takes what an ACK tells; whether it ends a window.
    pub(super) const fn note(&mut self, feedback: &Feedback) -> bool {
        self.delivered += feedback.delivered;
        self.marked += feedback.marked;
        feedback.ack > self.window_end && self.delivered > 0
    }

    /// Moves the estimate towards the share of this window.
    pub(super) fn update(&mut self) {
        let share = self.marked as f64 / self.delivered as f64;
        self.alpha = self.alpha * (1.0 - GAIN) + GAIN * share;
    }

    /// Another window begins, now that the data up to `sent` have been sent.
    pub(super) const fn begin_window(&mut self, sent: u64) {
        (self.delivered, self.marked, self.window_end) = (0, 0, sent);
    }

    /// The estimate.
    pub(super) const fn alpha(&self) -> f64 {
        self.alpha
    }

    // RFC 8257 §3.3: SHOULD reduce cwnd by alpha / 2
    /// What a mark leaves of a window of so many bytes.
    pub(super) fn reduced(&self, cwnd: u64) -> u64 {
        (cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64
    }

    /// With another estimate.
    #[cfg(test)]
    pub(super) fn of(alpha: f64) -> Self {
        Self { alpha, ..Self::default() }
    }
}
