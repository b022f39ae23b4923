//! Congestion control: how the window grows, and how far a loss reduces it.
//!
//! A new algorithm is one file with a type that implements [`CongestionControl`], and one line in the
//! registry.

mod cubic;
mod cubic_segments;
mod dctcp;
mod hystart;
mod reno;

use celltrain_engine::Time;

use crate::{event::EventKind, flow::Flow, limits::Limit, registry::registry};

use self::hystart::Growth;
pub(crate) use self::hystart::HyStart;

registry! {
    $
    /// How the congestion window grows outside of loss recovery.
    CongestionKind
    /// The congestion control of one connection.
    Congestion
    {
        /// Slow start and congestion avoidance (RFC 5681), a loss halves.
        Reno => reno::Reno,
        /// A cubic function of the time since the last loss (RFC 9438), a loss takes 30 %.
        Cubic => cubic::Cubic,
        /// Reno whose reaction to marks is in proportion to their share (RFC 8257).
        Dctcp => dctcp::Dctcp,
    }
}

/// What an ACK of an ECN-capable connection tells, whatever state the connection is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feedback {
    /// Bytes that it acknowledges for the first time.
    pub(crate) acked: u64,
    /// It echoes a mark.
    pub(crate) marked: bool,
}

/// Window growth and reduction of one connection.
pub(crate) trait CongestionControl {
    /// Takes what an ACK tells about marks, before `flow` has taken it in.
    fn on_feedback(&mut self, _flow: &Flow, _feedback: Feedback) {}

    /// Grows `flow.cwnd` for an ACK of `acked` new bytes that arrived outside of loss recovery.
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64);

    /// The slow-start threshold after a loss that showed without a timeout.
    fn on_loss(&mut self, flow: &Flow) -> u64;

    /// The congestion window after a congestion mark; the caller bounds it from below.
    fn on_mark(&mut self, flow: &Flow) -> u64;

    /// The slow-start threshold after a timeout, `flow.consecutive_timeouts` of which have come in a row.
    fn on_timeout(&mut self, flow: &Flow) -> u64;

    /// Since the last ACK the window has not been used in full: the application had nothing to send.
    fn on_limited(&mut self, _now: Time) {}
}

impl CongestionControl for Congestion {
    fn on_feedback(&mut self, flow: &Flow, feedback: Feedback) {
        dispatch!(self.on_feedback(flow, feedback));
    }

    // RFC 3168 §6.1.2: SHOULD NOT open the window for an ECN-Echo
    // RFC 9438 §4.6: MUST keep cwnd from growing while less than cwnd is in flight
    /// The window grows neither beyond the receiver's, where it would mean nothing, nor for an ACK that echoes a
    /// congestion mark (RFC 3168 section 6.1.2), nor while the application does not use it (RFC 9438 section 5.8, RFC
    /// 7661).
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        if flow.echoed {
            return;
        }
        if flow.application_limited(flow.flight() + acked) {
            flow.limits.set(now, Limit::Application);
            return self.on_limited(now);
        }
        if flow.cwnd >= flow.rwnd {
            return flow.limits.set(now, Limit::ReceiveWindow);
        }
        dispatch!(self.on_ack(now, flow, acked));
        flow.cwnd = flow.cwnd.min(flow.rwnd);
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        dispatch!(self.on_loss(flow))
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        dispatch!(self.on_mark(flow))
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        dispatch!(self.on_timeout(flow))
    }

    fn on_limited(&mut self, now: Time) {
        dispatch!(self.on_limited(now));
    }
}

// RFC 5681 §3.1: MUST use slow start and congestion avoidance
// RFC 9438 §4.10: MUST use slow start up to ssthresh
// RFC 9438 §4.10: SHOULD use HyStart++ (key `hystart`; presets without timestamps cannot)
// Not RFC 5681 §3.1: SHOULD reduce cwnd when path MTU discovery finds the MSS too large (segments fit every path here)
/// Slow start: an ACK opens the window by what it covers, a segment at most (RFC 5681 equation 2) or as many as the limit of
/// byte counting says (RFC 3465 section 2.2), but by more than a segment no further than to the threshold: after a timeout one
/// ACK may cover a whole window, of which only a segment has left the network just now.
fn slow_start(now: Time, flow: &mut Flow, acked: u64) {
    let room = (flow.ssthresh - flow.cwnd).max(flow.mss);
    let growth = acked.min(u64::from(flow.params.slow_start_limit) * flow.mss).min(room);
    match &mut flow.hystart {
        None => flow.cwnd += growth,
        Some(hystart) => match hystart.on_ack(flow.una, flow.max, growth) {
            Growth::By(bytes) => flow.cwnd += bytes,
            Growth::Exit => leave_slow_start(now, flow),
        },
    }
}

/// Ends the first slow start without a loss: congestion avoidance goes on from here.
fn leave_slow_start(now: Time, flow: &mut Flow) {
    flow.hystart = None;
    flow.ssthresh = flow.cwnd;
    let (ack, cwnd) = (flow.una, flow.cwnd);
    flow.trace.record(now, || EventKind::SlowStartExited { ack, cwnd });
}
