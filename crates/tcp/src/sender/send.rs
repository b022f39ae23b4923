//! What leaves.

use std::ops::Range;

use celltrain_engine::{Time, time::NEVER};

use super::{Sender, State};
use crate::{
    congestion::CongestionControl,
    event::EventKind,
    recovery::Recovery,
    segment::{Ecn, FIRST_MARK_COUNT, Flags, Segment, Timestamps},
};

impl Sender {
    // RFC 5681 §4.1: SHOULD set cwnd to no more than RW after an idle RTO (with `idle-decay` only after several)
    /// Nothing is outstanding. Notes that when there is something to send again; closes the window if nothing was sent for longer than
    /// the timeout: to the initial one (RFC 5681 section 4.1), or by half for each timeout (RFC 2861 section 3).
    #[inline(never)]
    pub(super) fn restart_if_idle(&mut self, now: Time) {
        let flow = &mut self.flow;
        if flow.offered == flow.max || self.last_sent == NEVER {
            return;
        }
        let idle = now - self.last_sent;
        self.congestion.on_limited(now);
        self.congestion.on_restart(now, idle, flow);
        if !flow.params.idle_restart || idle <= flow.timer.estimator.rto() {
            return;
        }
        let least = flow.cwnd.min(u64::from(flow.params.initial_window) * flow.mss);
        if flow.params.idle_decay {
            // In whole segments, as in Linux. An idle time of exactly n timeouts counts as n - 1.
            let (segments, timeouts) = (flow.cwnd / flow.mss, (idle - 1) / flow.timer.estimator.rto());
            flow.ssthresh = flow.ssthresh.max((segments / 2 + segments / 4) * flow.mss);
            flow.cwnd = ((segments >> timeouts.min(63)) * flow.mss).max(least);
        } else {
            flow.cwnd = least;
        }
        flow.limits.follow(now, flow.window_limit());
        flow.stats.idle_restarts += 1;
        // One restart an idle period, even if what is there is not worth sending yet.
        self.last_sent = NEVER;
        let cwnd = flow.cwnd;
        flow.trace.record(now, || EventKind::IdleRestart { idle, cwnd });
    }

    /// Makes the segment of `bytes` and counts it as sent.
    pub(super) fn send(&mut self, now: Time, bytes: Range<u64>, segment: &mut Segment) {
        let flow = &mut self.flow;
        let fin = flow.ends_with_fin(&bytes);
        let len = (bytes.end - bytes.start) as u32 - u32::from(fin);
        let retransmission = bytes.start < flow.max;
        flow.stats.segments += 1;
        flow.stats.bytes += u64::from(len);
        if retransmission {
            flow.note_retransmission(&bytes);
            if bytes.start <= flow.una && self.recovery.times_first(flow) {
                flow.time_first(now);
            }
        } else {
            flow.overrides = false;
            if !flow.params.timestamps {
                flow.timer.time_segment(now, bytes.end);
            }
        }
        if flow.delivery.as_ref().is_some_and(|delivery| delivery.inflight() == 0) && flow.flight() > 0 {
            // All that is not acknowledged was lost or reported: the network is as empty as behind an idle time.
            self.congestion.on_restart(now, 0, flow);
        }
        if let Some(delivery) = &mut flow.delivery {
            delivery.on_sent(now, &bytes, flow.mss, flow.cwnd);
        }
        if u64::from(len) < flow.mss && !retransmission {
            flow.small_end = bytes.end;
        }
        flow.nxt = flow.nxt.max(bytes.end);
        flow.max = flow.max.max(bytes.end);
        flow.timer.start(now);
        self.last_sent = now;
        if flow.params.pacing && self.pacer.on_sent(now, flow, u64::from(len)) {
            self.state = State::Paced;
        }
        let seq = bytes.start;
        flow.trace.record(now, || EventKind::Sent { seq, len, retransmission });
        if flow.allowance > 0 && bytes.end > flow.una + flow.cwnd {
            if !retransmission {
                flow.count_limited(&bytes);
            }
            flow.trace.record(now, || EventKind::LimitedTransmit { seq });
        }
        let ecn = self.codepoint(len, retransmission);
        let fin = if fin { Flags::FIN } else { Flags::NONE };
        let flags = Flags::ACK | fin | self.ecn_bits(len, retransmission);
        *segment = Segment { seq, len, flags, ecn, retransmission, ..self.header(now) };
    }

    // RFC 3168 §6.1.2: SHOULD use ECT(0)
    // RFC 3168 §6.1.5: MUST NOT set ECT on retransmissions (with accurate feedback, and by the key `ecn-control-packets`, they have it)
    // RFC 9331 §4.1: MUST set ECT(1) for L4S treatment
    // RFC 8257 §4.1: RECOMMENDED to have a knob for ECT on control packets
    /// What a segment with so many bytes of data has. With classic feedback only new data are ECN-capable, unless control packets are too.
    fn codepoint(&self, len: u32, retransmission: bool) -> Ecn {
        let flow = &self.flow;
        match (flow.ecn && len > 0, flow.accurate_ecn) {
            (true, true) if self.congestion.sends_ect1() => Ecn::Ect1,
            (true, true) => Ecn::Ect0,
            (true, false) if !retransmission => Ecn::Ect0,
            _ => flow.control_ecn(),
        }
    }

    // RFC 3168 §6.1.2: SHOULD set CWR only on the first new data packet after a reduction
    // RFC 3168 §6.1.2: SHOULD NOT set CWR on retransmissions
    /// What a segment says about ECN in its flags: that the window was reduced, or, where ACKs count marks, how many have arrived here.
    fn ecn_bits(&mut self, len: u32, retransmission: bool) -> Flags {
        let flow = &mut self.flow;
        if flow.accurate_ecn {
            // Nothing arrives here that could be marked: the count of the other direction stands still.
            Flags::of_ace(FIRST_MARK_COUNT)
        } else if !retransmission && len > 0 && std::mem::take(&mut flow.cwr_owed) {
            Flags::CWR
        } else {
            Flags::NONE
        }
    }

    /// What every segment of this end carries.
    #[inline]
    pub(super) fn header(&self, now: Time) -> Segment {
        let params = &self.flow.params;
        let timestamps = Timestamps { value: self.flow.timer.clock.read(now), echo: self.peer_clock };
        Segment {
            window: params.receive_window,
            timestamps: params.timestamps.then_some(timestamps),
            ..Segment::default()
        }
    }
}
