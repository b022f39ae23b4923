//! Undoing what a loss did that was none: the retransmissions were not needed, as what they repeated had only been late.

use std::ops::Range;

use celltrain_engine::Time;

use super::board::Sent;
use crate::{
    congestion::{Congestion, CongestionControl},
    flow::Flow,
    rto::Clock,
};

/// What there was before the windows were reduced.
#[derive(Debug, Clone)]
pub(super) struct Undo {
    congestion: Congestion,
    cwnd: u64,
    ssthresh: u64,
    /// First unacknowledged byte then, and the byte after the last one sent.
    una: u64,
    max: u64,
    /// What had been sent at the last reduction for a mark before that.
    marked_at: u64,
    /// Whether a timeout was the reason: no later segment had come before those that were missing.
    pub(super) after_timeout: bool,
    /// Retransmissions since, less those that the receiver has reported as duplicates.
    unneeded: Option<u32>,
    /// The original of the first retransmission is known to have arrived.
    original: bool,
}

impl Undo {
    pub(super) fn new(flow: &Flow, congestion: &Congestion, after_timeout: bool) -> Box<Self> {
        Box::new(Self {
            congestion: congestion.clone(),
            cwnd: flow.cwnd,
            ssthresh: flow.ssthresh,
            una: flow.una,
            max: flow.max,
            marked_at: flow.marked_at,
            after_timeout,
            unneeded: None,
            original: false,
        })
    }

    /// Something was sent again.
    pub(super) fn on_retransmit(&mut self) {
        self.unneeded = Some(self.unneeded.unwrap_or(0) + 1);
    }

    /// The receiver reports a duplicate (RFC 2883; RFC 3708 section 2).
    pub(super) fn on_duplicate(&mut self, bytes: &Range<u64>) {
        if self.una <= bytes.start && bytes.end <= self.max {
            self.unneeded = self.unneeded.map(|count| count.saturating_sub(1));
        }
    }

    /// The first ACK for new data covers `first`, which was retransmitted: its timestamp says which of the two arrived
    /// (Eifel detection, RFC 3522 section 3.2).
    pub(super) fn on_first_ack(&mut self, una: u64, first: &Sent, echo: Option<Time>, clock: Clock) {
        let first_ack = una == self.una && first.retransmitted;
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

    /// Restores the windows and the congestion control (RFC 9438 section 4.9.2).
    pub(super) fn restore(self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if !congestion.on_spurious(now, flow) {
            *congestion = self.congestion;
        }
        flow.cwnd = flow.cwnd.max(self.cwnd);
        flow.ssthresh = self.ssthresh;
        flow.timed_out_end = 0;
    }
}
