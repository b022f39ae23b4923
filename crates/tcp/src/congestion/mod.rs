//! Congestion control: how the window grows, and how far a loss reduces it.
//!
//! A new algorithm is one file with a type that implements [`CongestionControl`], and one line in the
//! registry.

mod bbr;
mod cubic;
mod cubic_segments;
mod dctcp;
// Under another name, as who follows the page declares `westwood`.
#[cfg(test)]
#[path = "../../tests/how_to/westwood.rs"]
mod how_to;
mod mark_share;
mod prague;
mod reno;

use celltrain_engine::{Time, random::Generator, registry};

use crate::{
    delivery::{Lost, Sample},
    event::EventKind,
    flow::Flow,
    hystart::{Growth, HyStart},
    limits::Limit,
};

registry! {
    /// How the congestion window grows outside of loss recovery.
    names CongestionKind;
    /// The congestion control of one connection.
    any pub(crate) Congestion: Default;
    dispatch with_congestion in crate::congestion;
    {
        /// Slow start and congestion avoidance (RFC 5681), a loss halves.
        reno::Reno => "reno",
        /// A cubic function of the time since the last loss (RFC 9438), a loss takes 30 %.
        cubic::Cubic => "cubic",
        /// Reno whose reaction to marks is in proportion to their share (RFC 8257).
        dctcp::Dctcp => "dctcp",
        /// DCTCP for the Internet, with ECT(1) and accurate ECN feedback (RFC 9331 section 4.3).
        prague::Prague => "prague",
        /// A model of the path from delivery rates and round trips, probed at times (BBRv3, draft-ietf-ccwg-bbr).
        bbr::Bbr => "bbr",
    }
}

impl CongestionKind {
    /// Whether it asks for a sample of each ACK, which only `recovery = "rack"` gives.
    #[must_use]
    pub fn samples(self) -> bool {
        Congestion::new(self).samples()
    }

    /// Whether it sets window and pacing rate from a model of the path.
    #[must_use]
    pub fn sets_window(self) -> bool {
        Congestion::new(self).sets_window()
    }
}

/// What an ACK of an ECN-capable connection tells, whatever state the connection is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feedback {
    /// Its acknowledgement number.
    pub(crate) ack: u64,
    /// Bytes that it acknowledges for the first time; with accurate feedback those too that it reports out of order.
    pub(crate) delivered: u64,
    /// Of these, the bytes that were marked: with accurate feedback what is counted, else all of them or none.
    pub(crate) marked: u64,
}

/// Window growth and reduction of one connection.
pub(crate) trait CongestionControl {
    /// Takes what an ACK tells about marks, before `flow` has taken it in.
    fn on_feedback(&mut self, _now: Time, _flow: &Flow, _feedback: Feedback) {}

    /// Whether its data are sent as ECT(1), for a queue of low delay (RFC 9331 section 4.1), where feedback is accurate.
    fn sends_ect1(&self) -> bool {
        false
    }

    /// Whether it reduces by the share of marks: a loss in the same window of data is then a sign of its own.
    fn counts_marks(&self) -> bool {
        false
    }

    /// Whether an ACK with marks opens the window for the bytes that were not marked. The control then leaves out the others.
    fn grows_beside_marks(&self, _flow: &Flow) -> bool {
        false
    }

    /// Whether a mark reduces the window that comes a round trip or more after the last reduction.
    fn answers_mark(&self, _now: Time, _flow: &Flow) -> bool {
        true
    }

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

    /// Takes the measurement of a round trip, before the ACK that gave it opens the window.
    fn on_round_trip(&mut self, _now: Time, _rtt: Time) {}

    /// Whether it asks for a [`Sample`] of each ACK, and for each loss.
    fn samples(&self) -> bool {
        false
    }

    /// Takes what an ACK tells that delivers something, last of all that hear of it. Only if it asks for samples.
    fn on_sample(&mut self, _now: Time, _flow: &mut Flow, _sample: &Sample) {}

    /// A segment was taken for lost. Only if it asks for samples.
    fn on_lost(&mut self, _now: Time, _flow: &mut Flow, _lost: &Lost) {}

    /// Whether it sets `flow.cwnd` and `flow.pacing_rate` from a model of the path at each sample, also while losses are
    /// repaired: recovery then decides only what is sent again.
    fn sets_window(&self) -> bool {
        false
    }

    /// The connection opens; a round trip may have been measured.
    fn begin(&mut self, _now: Time, _flow: &mut Flow) {}

    /// Takes the generator of the random numbers that it draws.
    fn seed(&mut self, _generator: Generator) {}

    /// Something is about to be sent when nothing is in flight, `idle` after the last segment.
    fn on_restart(&mut self, _now: Time, _idle: Time, _flow: &mut Flow) {}

    /// A recovery has ended. Only if it sets the window.
    fn on_recovered(&mut self, _flow: &mut Flow) {}

    /// The congestion window after a loss that a probe has repaired (RFC 8985 section 7.4.2). What was in flight then has been
    /// acknowledged: the window says how much it was, as at a mark.
    fn on_repaired(&mut self, flow: &mut Flow) -> u64 {
        self.on_mark(flow)
    }

    /// The last loss was none. False if a copy of its state from before the loss is to be restored.
    fn on_spurious(&mut self, _now: Time, _flow: &mut Flow) -> bool {
        false
    }
}

impl CongestionControl for Congestion {
    fn on_feedback(&mut self, now: Time, flow: &Flow, feedback: Feedback) {
        with_congestion!(self, control => control.on_feedback(now, flow, feedback));
    }

    fn sends_ect1(&self) -> bool {
        with_congestion!(self, control => control.sends_ect1())
    }

    fn counts_marks(&self) -> bool {
        with_congestion!(self, control => control.counts_marks())
    }

    fn grows_beside_marks(&self, flow: &Flow) -> bool {
        with_congestion!(self, control => control.grows_beside_marks(flow))
    }

    fn answers_mark(&self, now: Time, flow: &Flow) -> bool {
        with_congestion!(self, control => control.answers_mark(now, flow))
    }

    // RFC 3168 §6.1.2: SHOULD NOT open the window for an ECN-Echo
    // RFC 9438 §4.6: MUST keep cwnd from growing while less than cwnd is in flight
    /// The window grows neither beyond the receiver's, where it would mean nothing, nor for an ACK that echoes a
    /// congestion mark (RFC 3168 section 6.1.2) and does not say what of it was marked, nor while the application does not use it (RFC 9438 section 5.8, RFC
    /// 7661).
    #[inline]
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        if flow.echoed && !self.grows_beside_marks(flow) {
            return;
        }
        let unused_for = if flow.application_limited(flow.flight() + acked) {
            Some(Limit::Application)
        } else {
            (flow.cwnd >= flow.rwnd).then_some(Limit::ReceiveWindow)
        };
        if let Some(limit) = unused_for {
            flow.limits.set(now, limit);
            end_found_slow_start(now, flow);
            return self.on_limited(now);
        }
        with_congestion!(self, control => control.on_ack(now, flow, acked));
        flow.cwnd = flow.cwnd.min(flow.rwnd);
        flow.limits.follow(now, flow.window_limit());
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        with_congestion!(self, control => control.on_loss(flow))
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        with_congestion!(self, control => control.on_mark(flow))
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        with_congestion!(self, control => control.on_timeout(flow))
    }

    fn on_limited(&mut self, now: Time) {
        with_congestion!(self, control => control.on_limited(now));
    }

    #[inline]
    fn on_round_trip(&mut self, now: Time, rtt: Time) {
        with_congestion!(self, control => control.on_round_trip(now, rtt));
    }

    fn samples(&self) -> bool {
        with_congestion!(self, control => control.samples())
    }

    fn on_sample(&mut self, now: Time, flow: &mut Flow, sample: &Sample) {
        with_congestion!(self, control => control.on_sample(now, flow, sample));
    }

    fn on_lost(&mut self, now: Time, flow: &mut Flow, lost: &Lost) {
        with_congestion!(self, control => control.on_lost(now, flow, lost));
    }

    fn sets_window(&self) -> bool {
        with_congestion!(self, control => control.sets_window())
    }

    fn begin(&mut self, now: Time, flow: &mut Flow) {
        with_congestion!(self, control => control.begin(now, flow));
    }

    fn seed(&mut self, generator: Generator) {
        with_congestion!(self, control => control.seed(generator));
    }

    fn on_restart(&mut self, now: Time, idle: Time, flow: &mut Flow) {
        with_congestion!(self, control => control.on_restart(now, idle, flow));
    }

    fn on_recovered(&mut self, flow: &mut Flow) {
        with_congestion!(self, control => control.on_recovered(flow));
    }

    fn on_repaired(&mut self, flow: &mut Flow) -> u64 {
        with_congestion!(self, control => control.on_repaired(flow))
    }

    fn on_spurious(&mut self, now: Time, flow: &mut Flow) -> bool {
        with_congestion!(self, control => control.on_spurious(now, flow))
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
            Growth::Last(bytes) => {
                flow.cwnd += bytes;
                leave_slow_start(now, flow);
            }
        },
    }
}

/// Ends the first slow start where Linux's HyStart has found that the path is full, though the window is not used: what it has found is about
/// the window of now, not about that of the next slow start, after an idle time.
fn end_found_slow_start(now: Time, flow: &mut Flow) {
    if flow.hystart.as_ref().is_some_and(HyStart::is_over) {
        leave_slow_start(now, flow);
    }
}

/// Ends the first slow start without a loss: congestion avoidance goes on from here.
fn leave_slow_start(now: Time, flow: &mut Flow) {
    flow.hystart = None;
    flow.ssthresh = flow.cwnd;
    let (ack, cwnd) = (flow.una, flow.cwnd);
    flow.trace.record(now, || EventKind::SlowStartExited { ack, cwnd });
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;
    use crate::{Stack, StackSpec};

    /// `hystart_update` of Linux sets the threshold when it finds a full path. Otherwise the next slow start, after an
    /// idle time, would end at once, at the initial window.
    #[test]
    fn a_full_path_ends_slow_start_though_the_window_is_not_used() {
        let params = StackSpec { stack: Stack::Linux, ..StackSpec::default() }.resolve().unwrap();
        let mut congestion = Congestion::new(params.congestion_control);
        let mut flow = Flow::new(params);
        (flow.cwnd, flow.max, flow.offered, flow.rwnd) =
            (100 * flow.mss, 80 * flow.mss, 80 * flow.mss, 1 << 30);
        for ack in 1..=40 {
            flow.una += flow.mss;
            flow.watch_slow_start(ack * MILLISECOND, 40 * MILLISECOND);
        }
        assert!(flow.hystart.as_ref().is_some_and(HyStart::is_over));
        let (acked, cwnd) = (flow.mss, flow.cwnd);
        congestion.on_ack(41 * MILLISECOND, &mut flow, acked);
        assert!(flow.hystart.is_none());
        assert_eq!((flow.ssthresh, flow.cwnd), (cwnd, cwnd));
    }

    /// `bictcp_hystart_reset` of Linux: after a timeout HyStart looks at slow start again. RFC 9406 section 4.3: HyStart++ is for the first one.
    #[test]
    fn hystart_of_linux_looks_again_after_a_timeout() {
        for (variant, again) in [("linux", true), ("rfc-9406", false)] {
            let spec = format!("stack = 'linux'\nhystart-variant = '{variant}'");
            let mut flow = Flow::new(toml::from_str::<StackSpec>(&spec).unwrap().resolve().unwrap());
            flow.max = flow.cwnd;
            flow.time_out(0, flow.ssthresh);
            assert_eq!(flow.hystart.is_some(), again, "{variant}");
        }
    }

    #[test]
    fn the_how_to_shows_this_algorithm() {
        let page = include_str!("../../../../docs/how-to/add-a-congestion-control.md");
        let (algorithm, tests) = include_str!("../../tests/how_to/westwood.rs")
            .split_once("\n#[cfg(test)]")
            .expect("it has tests");
        for part in [algorithm.to_owned(), format!("#[cfg(test)]{tests}")] {
            assert!(page.contains(&format!("```rust\n{part}```")), "the page does not show\n{part}");
        }
    }
}
