//! DCTCP (RFC 8257): Reno whose reaction to marks is in proportion to how many there are.

use celltrain_engine::Time;

use super::{CongestionControl, Feedback, reno::Reno};
use crate::{flow::Flow, params::Halving};

/// Estimation gain g (section 4.2).
const GAIN: f64 = 1.0 / 16.0;

/// State of DCTCP; names follow section 3.3.
#[derive(Debug, Clone)]
pub(crate) struct Dctcp {
    reno: Reno,
    /// Estimate of the share of bytes that are marked.
    alpha: f64,
    window_end: u64,
    bytes_acked: u64,
    bytes_marked: u64,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { reno: Reno::default(), alpha: 1.0, window_end: 0, bytes_acked: 0, bytes_marked: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        self.reno.on_ack(now, flow, acked);
    }

    // RFC 8257 §3.3: SHOULD update alpha once per window, from 1 on
    // RFC 8257 §3.3: MUST process acceptable ACKs as listed
    fn on_feedback(&mut self, _now: Time, flow: &Flow, feedback: Feedback) {
        self.bytes_acked += feedback.delivered;
        self.bytes_marked += feedback.marked;
        if feedback.ack <= self.window_end || self.bytes_acked == 0 {
            return;
        }
        let marked = self.bytes_marked as f64 / self.bytes_acked as f64;
        self.alpha = self.alpha * (1.0 - GAIN) + GAIN * marked;
        self.window_end = flow.max;
        (self.bytes_acked, self.bytes_marked) = (0, 0);
    }

    fn counts_marks(&self) -> bool {
        true
    }

    // RFC 8257 §3.5: MUST react to losses as conventional TCP
    fn on_loss(&mut self, flow: &Flow) -> u64 {
        // Section 3.5: a loss is answered as conventional TCP answers it.
        self.reno.on_loss(flow)
    }

    // RFC 8257 §3.3: SHOULD reduce cwnd by alpha / 2
    fn on_mark(&mut self, flow: &Flow) -> u64 {
        self.reno.on_mark(flow);
        if flow.params.halving == Halving::Segments {
            let segments = flow.cwnd / flow.mss;
            return (segments - (segments as f64 * self.alpha / 2.0) as u64) * flow.mss;
        }
        (flow.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        self.reno.on_timeout(flow)
    }

    fn on_repaired(&mut self, flow: &mut Flow) -> u64 {
        self.reno.on_repaired(flow)
    }

    /// The estimate of marks goes on: it has nothing to do with losses. What was earned towards the next segment is lost.
    fn on_spurious(&mut self, _now: Time, _flow: &mut Flow) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackSpec;

    #[test]
    fn alpha_follows_the_share_of_marks() {
        let params = StackSpec::default().resolve().expect("the default stack is possible");
        let (mut dctcp, mut flow) = (Dctcp::default(), Flow::new(params));
        // Windows of ten segments of 1000 bytes; by hand: alpha (1 - 1/16) + share / 16.
        let mut expected = 1.0;
        for marked in [0, 5, 10, 0, 1] {
            flow.max = flow.una + 10_000;
            dctcp.window_end = flow.una + 9_000;
            for segment in 0..10 {
                let marked = if segment < marked { 1000 } else { 0 };
                dctcp.on_feedback(0, &flow, Feedback { ack: flow.una + 1000, delivered: 1000, marked });
                flow.una += 1000;
            }
            expected = expected * 15.0 / 16.0 + f64::from(marked) / 160.0;
            assert!((dctcp.alpha - expected).abs() < 1e-12, "{} instead of {expected}", dctcp.alpha);
        }
        // RFC 8257 section 3.3: alpha follows every acceptable ACK, whatever becomes of losses.
        assert!(dctcp.on_spurious(0, &mut flow) && (dctcp.alpha - expected).abs() < 1e-12);
        flow.cwnd = 100_000;
        assert_eq!(dctcp.on_mark(&flow), (100_000.0 * (1.0 - expected / 2.0)) as u64);
    }
}
