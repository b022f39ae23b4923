//! SYN and SYN|ACK.

use celltrain_engine::{Time, time::SECOND};

use super::{Sender, State};
use crate::{
    congestion::CongestionControl,
    limits::Limit,
    recovery::Recovery,
    segment::{Flags, Segment, SynOptions},
};

/// The timeout of the first data after a SYN had to be repeated (RFC 6298 rule 5.7).
const RTO_AFTER_SYN_LOSS: Time = 3 * SECOND;

impl Sender {
    // RFC 3168 §6.1.1: MUST NOT set ECT on SYN or SYN|ACK (key `ecn-control-packets`: under DCTCP they have it)
    // RFC 3168 §6.1.1: SHOULD clear ECE and CWR in the SYN of a host that does not use ECN
    // RFC 8257 §3.6: SHOULD set ECT on SYN and SYN|ACK (not with accurate feedback)
    /// What goes in a state in which data may not: the SYN, or a probe.
    #[inline(never)]
    pub(super) fn poll_other(&mut self, now: Time) -> Option<Segment> {
        if self.state == State::Persisting {
            return self.window_probe(now);
        }
        if self.state != State::Closed || self.flow.offered == 0 {
            return None;
        }
        self.state = State::SynSent;
        self.flow.limits.set(now, Limit::Handshake);
        self.flow.timer.restart(now);
        if !self.syn_lost {
            self.flow.timer.time_segment(now, 0);
        }
        let setup = match (self.flow.ecn, self.flow.accurate_ecn) {
            (true, true) => Flags::ACCURATE_ECN_SETUP,
            (true, false) => Flags::ECN_SETUP,
            (false, _) => Flags::NONE,
        };
        let flags = Flags::SYN | setup;
        let ecn = self.flow.control_ecn();
        Some(Segment { flags, ecn, syn: Some(SynOptions::new(self.params())), ..self.header(now) })
    }

    /// Nothing has answered the SYN in time: it goes again, and is not timed (Karn's algorithm).
    pub(super) fn repeat_syn(&mut self, now: Time) {
        self.state = State::Closed;
        self.syn_lost = true;
        self.flow.timer.forget_timed_segment();
        self.flow.back_off(now, None);
        self.flow.timer.stop();
    }

    // RFC 5681 §3.1: MUST NOT let SYN|ACK and its acknowledgement open the window
    // RFC 5681 §3.1: MUST begin with one segment after a lost SYN
    // RFC 6298 §5: MUST re-initialize the RTO to 3 seconds after a lost SYN, if it began below
    // RFC 3168 §6.1.1: SHOULD NOT set ECT after a SYN|ACK that does not agree to ECN
    pub(super) fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if self.state >= State::Established {
            return;
        }
        self.state = State::Established;
        self.agree_on_ecn(segment.flags);
        self.flow.rwnd = segment.window;
        self.flow.rwnd_max = segment.window;
        self.flow.consecutive_timeouts = 0;
        self.flow.timer.stop();
        self.on_handshake_ack(now, segment);
        self.congestion.begin(now, &mut self.flow);
        if self.syn_lost {
            // RFC 6298 rule 5.7 and RFC 5681 section 3.1.
            if self.flow.params.rto_initial < RTO_AFTER_SYN_LOSS {
                self.flow.timer.estimator.reinitialize(RTO_AFTER_SYN_LOSS);
            }
            self.flow.cwnd = self.flow.mss;
        }
        // The application may have stopped before anything could be sent.
        let limit = if self.is_done() { Limit::Application } else { self.flow.window_limit() };
        self.flow.limits.set(now, limit);
    }

    // RFC 5681 §3.1: MUST begin with one segment after a lost SYN|ACK
    /// The other half of this end answers a SYN: the round trip to the ACK of that is measured, unless it is answered `again`. Then
    /// nothing tells which answer the ACK is of (Karn's algorithm), and the first one counts as lost.
    pub(crate) fn time_syn_ack(&mut self, now: Time, again: bool) {
        if again {
            self.flow.timer.forget_timed_segment();
            self.flow.cwnd = self.flow.mss;
        } else {
            self.flow.timer.time_segment(now, 0);
        }
    }

    /// The first segment after a SYN or a SYN|ACK arrived: it acknowledges that.
    pub(crate) fn on_handshake_ack(&mut self, now: Time, segment: &Segment) {
        self.measure(now, segment, 0);
        self.recovery.begin(&self.flow);
    }

    // RFC 9768 §3.1.2: MUST use the feedback that the SYN|ACK answers with
    // RFC 9331 §4.2: MUST NOT send ECT(1) without feedback of the share of marks
    /// Reads the ECN bits of a SYN|ACK: accurate feedback, if that was offered; classic, which has ECE alone; or none. All bits
    /// would be a reflection by a host that ignores them.
    fn agree_on_ecn(&mut self, flags: Flags) {
        let classic = flags.ace() == Flags::ECE.ace();
        self.flow.accurate_ecn &= flags.ace() == Flags::ACCURATE_ECN_ANSWER.ace();
        self.flow.ecn &= classic || self.flow.accurate_ecn;
    }
}
