//! Recovery: what a sender does about a loss.
//!
//! A new algorithm is one file with a type that implements [`Recovery`], and one line in the registry.

mod go_back_n;
mod newreno;
mod prr;
mod rack;
mod reno;
mod sack;
mod sack_pipe;
mod tahoe;
mod timeout_only;

use std::ops::Range;

use celltrain_engine::{Time, registry};

use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause, LossSign},
    flow::Flow,
    segment::Segment,
};

registry! {
    /// What a sender does about a loss.
    names RecoveryKind;
    /// The loss recovery of one connection.
    any pub(crate) AnyRecovery: Default;
    dispatch with_recovery in crate::recovery;
    {
        /// Waits for the timeout; duplicate ACKs mean nothing ("vanilla" in the OSU papers).
        timeout_only::TimeoutOnly => "timeout-only",
        /// Slow start from the lost segment on the third duplicate ACK (Jacobson 1988).
        tahoe::Tahoe => "tahoe",
        /// Fast retransmit and fast recovery, left with the first ACK for new data (RFC 5681).
        reno::Reno => "reno",
        /// Fast recovery that a partial ACK does not end (RFC 6582).
        newreno::NewReno => "newreno",
        /// Recovery by a scoreboard of selective acknowledgements (RFC 6675).
        sack::Sack => "sack",
        /// Recovery by times of transmission, with loss probes (RFC 8985) and proportional reductions (RFC 6937).
        rack::Rack => "rack",
        /// Recovery by selective acknowledgements and a counter of segments in the network (Fall and Floyd 1996; ns-2).
        sack_pipe::SackPipe => "sack-pipe",
        /// Halves as Reno does and sends again from the lost segment on, whatever the receiver holds.
        go_back_n::GoBackN => "go-back-n",
    }
}

/// The loss recovery of one connection. The defaults are those of a sender that knows no recovery but the
/// timeout.
pub(crate) trait Recovery {
    /// The handshake is over, and its round trip was measured, if it could be.
    fn begin(&mut self, _flow: &Flow) {}

    /// Reads what an ACK says about losses, before the flow has taken it in; true if it counts as a duplicate
    /// ACK.
    fn read(&mut self, _now: Time, flow: &Flow, segment: &Segment) -> bool {
        flow.is_duplicate(segment)
    }

    /// Bytes that the ACK read last has reported as delivered, in order or not; 0 of a recovery that keeps no record of them.
    fn delivered(&self) -> u64 {
        0
    }

    /// A duplicate ACK arrived; `flow.duplicates` counts it.
    fn on_duplicate_ack(&mut self, _now: Time, _flow: &mut Flow, _congestion: &mut Congestion) {}

    /// An ACK arrived that acknowledges nothing new, while nothing is outstanding. What it reports may tell of a loss that was none.
    fn on_idle_ack(&mut self, _now: Time, _flow: &mut Flow, _congestion: &mut Congestion) {}

    /// An ACK for `acked` new bytes arrived, and `flow.una` has moved. Returns whether it restarts the timer.
    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        congestion.on_ack(now, flow, acked);
        true
    }

    /// Whether nothing is lost, reported out of order, sent again or in question.
    fn is_quiet(&self) -> bool {
        false
    }

    /// What [`read`](Self::read) and [`on_new_ack`](Self::on_new_ack) come to while it [is quiet](Self::is_quiet), for an ACK for `acked` new bytes
    /// that reports nothing out of order; `flow.una` has moved, and the timer has been restarted if anything is in flight.
    fn on_quiet_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) {
        congestion.on_ack(now, flow, acked);
    }

    /// Reduces the window, whose threshold has been lowered, for a mark that is to leave `window`.
    fn on_mark(&mut self, flow: &mut Flow, window: u64) {
        flow.shrink_for_mark(window);
    }

    /// A mark was not answered, as the window has been reduced since its data were sent, or losses are being repaired.
    fn note_mark(&mut self) {}

    /// The timer expired, and the windows are about to be reduced.
    fn remember(&mut self, _now: Time, _flow: &Flow, _congestion: &Congestion) {}

    /// The timer expired, and the windows are reduced.
    fn on_timeout(&mut self, _now: Time, flow: &mut Flow) {
        flow.go_back();
    }

    /// The time of `flow.alarm` has come.
    fn on_alarm(&mut self, _now: Time, _flow: &mut Flow, _congestion: &mut Congestion) {}

    /// The bytes to send next, if the windows allow any; the caller sends them.
    fn next(&mut self, _now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        flow.next_in_window()
    }

    /// Where the windows end for new data behind data in flight, if that is what goes next: full segments that fit below it go without a
    /// call of [`next`](Self::next) for each. `None` if only that can tell.
    fn edge_of_new(&self, _flow: &Flow) -> Option<u64> {
        None
    }

    /// So many full segments of new data leave, from `flow.nxt` on, below the [edge](Self::edge_of_new).
    fn on_run(&mut self, _now: Time, _flow: &mut Flow, _segments: u64) {}

    /// Whether the timer begins anew when the first segment is sent again, so that it does not send that once more within a timeout.
    fn times_first(&self, _flow: &Flow) -> bool {
        true
    }

    /// Whether a loss is being recovered from without a timeout.
    fn recovering(&self) -> bool {
        false
    }

    /// Whether a reduction is under way, for a loss or a mark, that a timeout leaves at that.
    fn keeps_threshold(&self, _flow: &Flow) -> bool {
        false
    }
}

impl Recovery for AnyRecovery {
    fn begin(&mut self, flow: &Flow) {
        with_recovery!(self, recovery => recovery.begin(flow));
    }

    fn read(&mut self, now: Time, flow: &Flow, segment: &Segment) -> bool {
        with_recovery!(self, recovery => recovery.read(now, flow, segment))
    }

    fn delivered(&self) -> u64 {
        with_recovery!(self, recovery => recovery.delivered())
    }

    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        with_recovery!(self, recovery => recovery.on_duplicate_ack(now, flow, congestion));
    }

    fn on_idle_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        with_recovery!(self, recovery => recovery.on_idle_ack(now, flow, congestion));
    }

    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        with_recovery!(self, recovery => recovery.on_new_ack(now, flow, congestion, acked))
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        with_recovery!(self, recovery => recovery.is_quiet())
    }

    #[inline]
    fn on_quiet_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) {
        with_recovery!(self, recovery => recovery.on_quiet_ack(now, flow, congestion, acked));
    }

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        with_recovery!(self, recovery => recovery.on_timeout(now, flow));
    }

    fn on_mark(&mut self, flow: &mut Flow, window: u64) {
        with_recovery!(self, recovery => recovery.on_mark(flow, window));
    }

    fn note_mark(&mut self) {
        with_recovery!(self, recovery => recovery.note_mark());
    }

    fn remember(&mut self, now: Time, flow: &Flow, congestion: &Congestion) {
        with_recovery!(self, recovery => recovery.remember(now, flow, congestion));
    }

    fn on_alarm(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        with_recovery!(self, recovery => recovery.on_alarm(now, flow, congestion));
    }

    #[inline]
    fn next(&mut self, now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        with_recovery!(self, recovery => recovery.next(now, flow))
    }

    #[inline(always)]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        with_recovery!(self, recovery => recovery.edge_of_new(flow))
    }

    #[inline(always)]
    fn on_run(&mut self, now: Time, flow: &mut Flow, segments: u64) {
        with_recovery!(self, recovery => recovery.on_run(now, flow, segments));
    }

    fn times_first(&self, flow: &Flow) -> bool {
        with_recovery!(self, recovery => recovery.times_first(flow))
    }

    fn recovering(&self) -> bool {
        with_recovery!(self, recovery => recovery.recovering())
    }

    fn keeps_threshold(&self, flow: &Flow) -> bool {
        with_recovery!(self, recovery => recovery.keeps_threshold(flow))
    }
}

/// Records that recovery ended.
fn trace_exit(now: Time, flow: &mut Flow, cause: ExitCause) {
    flow.limits.set(now, flow.window_limit());
    let (ack, cwnd) = (flow.una, flow.cwnd);
    flow.trace.record(now, || EventKind::RecoveryExited { cause, ack, cwnd });
}

/// Reduces the window on the third duplicate ACK to half the flight and `inflation` segments for those that,
/// by the ACKs, have left the network (RFC 5681 section 3.2 steps 2 and 3).
fn halve(now: Time, flow: &mut Flow, congestion: &mut Congestion, inflation: u32) {
    let ssthresh = reduced(flow, congestion);
    let cwnd = ssthresh + u64::from(inflation) * flow.mss;
    flow.fast_retransmit(now, LossSign::ThirdDuplicateAck, ssthresh, cwnd);
}

/// The slow-start threshold after a loss that showed without a timeout. A loss in a window of data whose marks were
/// answered reduces nothing more (RFC 3168 section 6.1.2), unless it was answered by less than a loss is (RFC 8257 section 3.5). A model of the
/// path is told of each recovery (draft-ietf-ccwg-bbr section 5.6.4.4).
fn reduced(flow: &Flow, congestion: &mut Congestion) -> u64 {
    let answered = flow.reduced_for_mark() && !congestion.counts_marks() && !congestion.sets_window();
    if answered { flow.ssthresh } else { congestion.on_loss(flow) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackSpec;

    /// draft-ietf-ccwg-bbr section 5.6.4.4: OnEnterFastRecovery is called upon entering Fast Recovery, also behind a mark that was answered.
    #[test]
    fn a_model_of_the_path_hears_of_each_recovery() {
        let spec: StackSpec = toml::from_str("stack = 'linux-bbr'\necn = true").unwrap();
        let mut flow = Flow::new(spec.resolve().unwrap());
        let mut congestion = Congestion::new(flow.params.congestion_control);
        flow.max = flow.cwnd;
        flow.marked_at = flow.max;
        reduced(&flow, &mut congestion);
        assert!(format!("{congestion:?}").contains("in_recovery: true"));
    }
}
