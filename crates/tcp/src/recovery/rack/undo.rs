//! Undoing what a loss did that was none: the retransmissions were not needed, as what they repeated had only been late.

use std::ops::Range;

use celltrain_engine::Time;

use super::board::Sent;
use crate::{
    congestion::{Congestion, CongestionControl},
    flow::Flow,
    hystart::HyStart,
    params::Reductions,
    rto::Clock,
};

/// What there was before the windows were reduced.
#[derive(Debug, Clone)]
pub(super) struct Undo {
    /// When the windows were reduced.
    at: Time,
    congestion: Congestion,
    cwnd: u64,
    ssthresh: u64,
    /// First unacknowledged byte then, and the byte after the last one sent.
    una: u64,
    max: u64,
    /// What had been sent at the last reduction for a mark before that, and at the last reduction of all.
    marked_at: u64,
    reduced_at: Option<u64>,
    /// Whether that had still to be told to the receiver.
    cwr_owed: bool,
    /// What looked for the end of the first slow start.
    hystart: Option<HyStart>,
    /// Whether a timeout was the reason: no later segment had come before those that were missing.
    pub(super) after_timeout: bool,
    /// Retransmissions and probes that were under way then: their duplicates say nothing about later ones.
    earlier: u32,
    /// Retransmissions since, plus `earlier`, less those that the receiver has reported as duplicates; `None` until the first.
    unneeded: Option<u32>,
    /// The original of the first retransmission is known to have arrived.
    original: bool,
    /// A mark came that has not been answered.
    marked: bool,
}

impl Undo {
    /// The windows are about to be reduced, with so many retransmissions and probes under way.
    pub(super) fn new(
        now: Time,
        flow: &Flow,
        congestion: &Congestion,
        after_timeout: bool,
        earlier: u32,
    ) -> Box<Self> {
        Box::new(Self {
            at: now,
            congestion: congestion.clone(),
            cwnd: flow.cwnd,
            ssthresh: flow.ssthresh,
            una: flow.una,
            max: flow.max,
            marked_at: flow.marked_at,
            reduced_at: flow.reduced_at,
            cwr_owed: flow.cwr_owed,
            hystart: flow.hystart.clone(),
            after_timeout,
            earlier,
            unneeded: None,
            original: false,
            marked: false,
        })
    }

    /// Something was sent again.
    pub(super) fn on_retransmit(&mut self) {
        self.unneeded = Some(self.unneeded.unwrap_or(self.earlier) + 1);
    }

    /// The receiver reports a duplicate (RFC 2883; RFC 3708 section 2).
    pub(super) fn on_duplicate(&mut self, bytes: &Range<u64>) {
        if self.una <= bytes.start && bytes.end <= self.max {
            let count = self.unneeded.as_mut().unwrap_or(&mut self.earlier);
            *count = count.saturating_sub(1);
        }
    }

    /// The first ACK for new data covers `first`, which was retransmitted: its timestamp says which of the two arrived
    /// (Eifel detection, RFC 3522 section 3.2). A retransmission from before the reduction says nothing about its reason.
    pub(super) fn on_first_ack(&mut self, una: u64, first: &Sent, echo: Option<Time>, clock: Clock) {
        let first_ack = una == self.una && first.retransmitted && first.at >= self.at;
        self.original |= first_ack && echo.is_some_and(|echo| echo < clock.read(first.at));
    }

    /// Whether the windows were reduced for a mark since: that is not undone.
    pub(super) const fn is_outdated(&self, flow: &Flow) -> bool {
        self.marked_at != flow.marked_at
    }

    /// Whether nothing of what was sent again had been lost.
    pub(super) fn spurious(&self) -> bool {
        self.original || self.unneeded == Some(0)
    }

    /// A mark came, and was not answered because of the reduction.
    pub(super) fn note_mark(&mut self) {
        self.marked = true;
    }

    // RFC 9438 §4.9.2: MAY restore what there was before a spurious loss
    // RFC 9438 §4.9.2: SHOULD go on with the present values if cwnd is above cwnd_prior long after the loss
    /// Restores the windows and the congestion control (RFC 9438 section 4.9.2); false if it comes long after the loss and the window has
    /// grown beyond what it was, where Linux still restores the threshold if that was larger. A model of the path hears of it in any case: there is
    /// more to it than a window (draft-ietf-ccwg-bbr section 5.2.5). There was no reduction then: what was owed for it is not told, and a mark that
    /// came meanwhile counts as if this ACK told of it (RFC 3168 section 6.1.2).
    pub(super) fn restore(
        self,
        now: Time,
        flow: &mut Flow,
        congestion: &mut Congestion,
        found: Found,
    ) -> bool {
        flow.reduced_at = self.reduced_at;
        flow.cwr_owed &= self.cwr_owed;
        flow.echoed |= self.marked;
        flow.timed_out_end = 0;
        let late = found == Found::Late && flow.cwnd > self.cwnd;
        if late && flow.params.reductions == Reductions::Standard && !congestion.sets_window() {
            return false;
        }
        if !congestion.on_spurious(now, flow) {
            *congestion = self.congestion;
        }
        // A window that follows what is in the network has not grown.
        flow.cwnd = if found == Found::InRecovery { self.cwnd } else { flow.cwnd.max(self.cwnd) };
        flow.ssthresh = if late { flow.ssthresh.max(self.ssthresh) } else { self.ssthresh };
        // What a timeout has begun anew goes on, as in Linux.
        flow.hystart = flow.hystart.take().or(self.hystart);
        true
    }
}

/// When it is found that a loss was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// In the fast recovery that it began.
    InRecovery,
    /// As soon as it could be after a timeout.
    Soon,
    /// When all had been repaired.
    Late,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StackSpec, congestion::Feedback, event::LossSign};

    /// RFC 9406 section 4.3 is about the slow start that comes before any loss. A loss that was none does not end it.
    #[test]
    fn the_first_slow_start_goes_on() {
        let spec: StackSpec = toml::from_str("stack = 'linux'").unwrap();
        let mut flow = Flow::new(spec.resolve().unwrap());
        let mut congestion = Congestion::new(flow.params.congestion_control);
        flow.max = flow.cwnd;
        let undo = Undo::new(0, &flow, &congestion, false, 0);
        let (cwnd, ssthresh) = (flow.cwnd, flow.ssthresh);
        let reduced = congestion.on_loss(&flow);
        flow.fast_retransmit(0, LossSign::LaterDelivered, reduced, reduced);
        assert!(flow.hystart.is_none() && flow.reduced_at.is_some());
        assert!(undo.restore(0, &mut flow, &mut congestion, Found::InRecovery));
        assert_eq!((flow.cwnd, flow.ssthresh, flow.reduced_at), (cwnd, ssthresh, None));
        assert!(flow.hystart.is_some());
    }

    /// RFC 9438 section 4.9.2: a spurious loss that shows late SHOULD NOT change a window that has grown beyond what it was. Linux restores the
    /// threshold even then.
    #[test]
    fn late_news_restore_the_threshold_of_linux_alone() {
        for (reductions, restored) in [("standard", false), ("linux", true)] {
            let spec = format!("stack = 'linux'\nreductions = '{reductions}'");
            let mut flow = Flow::new(toml::from_str::<StackSpec>(&spec).unwrap().resolve().unwrap());
            let mut congestion = Congestion::new(flow.params.congestion_control);
            (flow.max, flow.ssthresh) = (flow.cwnd, 20 * flow.mss);
            let undo = Undo::new(0, &flow, &congestion, false, 0);
            let reduced = congestion.on_loss(&flow);
            flow.fast_retransmit(0, LossSign::LaterDelivered, reduced, reduced);
            flow.cwnd = 11 * flow.mss;
            assert_eq!(undo.restore(0, &mut flow, &mut congestion, Found::Late), restored);
            let ssthresh = if restored { 20 * flow.mss } else { 7 * flow.mss };
            assert_eq!((flow.cwnd, flow.ssthresh), (11 * flow.mss, ssthresh), "{reductions}");
            // A threshold that was lower does not come back.
            flow.ssthresh = 5 * flow.mss;
            let undo = Undo::new(0, &flow, &congestion, false, 0);
            flow.ssthresh = 7 * flow.mss;
            flow.cwnd = 12 * flow.mss;
            undo.restore(0, &mut flow, &mut congestion, Found::Late);
            assert_eq!(flow.ssthresh, 7 * flow.mss, "{reductions}");
        }
    }

    /// draft-ietf-ccwg-bbr section 5.2.5: "If the transport protocol detects that a loss recovery episode was spurious, BBR calls
    /// HandleSpuriousLossDetection()", also where its window has grown since.
    #[test]
    fn late_news_are_told_to_a_model_of_the_path() {
        let spec: StackSpec = toml::from_str("stack = 'linux-bbr'").unwrap();
        let mut flow = Flow::new(spec.resolve().unwrap());
        let mut congestion = Congestion::new(flow.params.congestion_control);
        flow.max = flow.cwnd;
        let undo = Undo::new(0, &flow, &congestion, false, 0);
        congestion.on_loss(&flow);
        let told = |congestion: &Congestion| !format!("{congestion:?}").contains("in_recovery: true");
        assert!(!told(&congestion));
        flow.cwnd *= 2;
        let cwnd = flow.cwnd;
        assert!(undo.restore(0, &mut flow, &mut congestion, Found::Late));
        assert!(told(&congestion));
        assert_eq!(flow.cwnd, cwnd);
    }

    /// RFC 8257 section 3.3: alpha follows every acceptable ACK, whatever becomes of losses.
    #[test]
    fn the_estimate_of_marks_goes_on() {
        for stack in [
            "stack = 'linux'\ncongestion-control = 'dctcp'\necn = true",
            "stack = 'prague'\nrecovery = 'rack'",
        ] {
            let mut flow = Flow::new(toml::from_str::<StackSpec>(stack).unwrap().resolve().unwrap());
            let mut congestion = Congestion::new(flow.params.congestion_control);
            (flow.max, flow.accurate_ecn) = (flow.cwnd, flow.params.accurate_ecn);
            let marked = Feedback { ack: 1, delivered: flow.mss, marked: flow.mss };
            congestion.on_feedback(0, &flow, marked);
            let undo = Undo::new(0, &flow, &congestion, false, 0);
            let far = 1_000_000_000_000;
            for round in 1..20 {
                flow.max += 1;
                congestion.on_feedback(
                    round * far,
                    &flow,
                    Feedback { ack: flow.max, delivered: flow.mss, marked: 0 },
                );
            }
            let answer = congestion.clone().on_mark(&flow);
            assert!(answer > flow.cwnd * 3 / 4, "{stack}: few marks take little off");
            assert!(undo.restore(0, &mut flow, &mut congestion, Found::InRecovery));
            assert_eq!(congestion.on_mark(&flow), answer, "{stack}");
        }
    }
}
