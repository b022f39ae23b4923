//! DCTCP (RFC 8257): Reno whose reaction to marks is in proportion to how many there are.

use celltrain_engine::Time;

use super::{CongestionControl, Feedback, mark_share::MarkShare, reno::Reno};
use crate::{flow::Flow, params::Halving};

/// State of DCTCP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dctcp {
    reno: Reno,
    marks: MarkShare,
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        self.reno.on_ack(now, flow, acked);
    }

    // RFC 8257 §3.3: SHOULD update alpha once per window, from 1 on
    // RFC 8257 §3.3: MUST process acceptable ACKs as listed
    fn on_feedback(&mut self, _now: Time, flow: &Flow, feedback: Feedback) {
        if self.marks.note(&feedback) {
            self.marks.update();
            self.marks.begin_window(flow.max);
        }
    }

    fn counts_marks(&self) -> bool {
        true
    }

    // RFC 8257 §3.5: MUST react to losses as conventional TCP
    fn on_loss(&mut self, flow: &Flow) -> u64 {
        // Section 3.5: a loss is answered as conventional TCP answers it.
        self.reno.on_loss(flow)
    }

    /// In the arithmetic of Linux whole segments are taken off.
    fn on_mark(&mut self, flow: &Flow) -> u64 {
        self.reno.on_mark(flow);
        if flow.params.halving == Halving::Segments {
            let segments = flow.cwnd / flow.mss;
            return (segments - (segments as f64 * self.marks.alpha() / 2.0) as u64) * flow.mss;
        }
        self.marks.reduced(flow.cwnd)
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
            dctcp.marks.begin_window(flow.una + 9_000);
            flow.max = flow.una + 10_000;
            for segment in 0..10 {
                let marked = if segment < marked { 1000 } else { 0 };
                dctcp.on_feedback(0, &flow, Feedback { ack: flow.una + 1000, delivered: 1000, marked });
                flow.una += 1000;
            }
            expected = expected * 15.0 / 16.0 + f64::from(marked) / 160.0;
            let alpha = dctcp.marks.alpha();
            assert!((alpha - expected).abs() < 1e-12, "{alpha} instead of {expected}");
        }
        // RFC 8257 section 3.3: alpha follows every acceptable ACK, whatever becomes of losses.
        assert!(dctcp.on_spurious(0, &mut flow) && (dctcp.marks.alpha() - expected).abs() < 1e-12);
        flow.cwnd = 100_000;
        assert_eq!(dctcp.on_mark(&flow), (100_000.0 * (1.0 - expected / 2.0)) as u64);
    }
}
