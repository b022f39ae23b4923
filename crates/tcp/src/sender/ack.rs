//! What ACKs do.

use celltrain_engine::Time;

use super::{Sender, State};
use crate::{
    congestion::{CongestionControl, Feedback},
    event::EventKind,
    limits::Limit,
    recovery::Recovery,
    segment::{Flags, Segment},
};

impl Sender {
    // RFC 6298 §5: RECOMMENDED to restart the timer on an ACK for new data (5.3)
    pub(super) fn on_new_ack(&mut self, now: Time, segment: &Segment) {
        let acked = segment.ack - self.flow.una;
        self.flow.advance(segment.ack);
        self.measure(now, segment, acked);
        let restarts = self.recovery.on_new_ack(now, &mut self.flow, &mut self.congestion, acked);
        if self.flow.flight() == 0 {
            self.on_all_acknowledged(now);
        } else if restarts {
            self.flow.timer.restart(now);
        }
        if self.flow.delivery.is_some() {
            self.report_delivery(now, segment);
        }
        let (cwnd, ssthresh) = (self.flow.cwnd, self.flow.ssthresh);
        self.flow.trace.record(now, || EventKind::Acknowledged { ack: segment.ack, cwnd, ssthresh });
    }

    /// An ACK that acknowledges nothing new: it may be a duplicate, or open the window.
    #[cold]
    pub(super) fn on_old_ack(&mut self, now: Time, segment: &Segment, duplicate: bool) {
        if self.state == State::Persisting || self.flow.flight() == 0 {
            self.recovery.on_idle_ack(now, &mut self.flow, &mut self.congestion);
            // The answer to a probe may report it as a duplicate, which says nothing about losses.
            self.look_at_window(now);
        } else if duplicate {
            self.on_duplicate_ack(now);
        }
        if self.flow.delivery.is_some() {
            self.report_delivery(now, segment);
        }
    }

    // RFC 6298 §5: RECOMMENDED to stop the timer when all is acknowledged (5.2)
    /// Stops the timer (RFC 6298 rule 5.2), unless it says when the next segment may go.
    pub(super) fn on_all_acknowledged(&mut self, now: Time) {
        if self.flow.una == self.flow.offered {
            self.flow.limits.set(now, Limit::Application);
            self.state = State::Established;
        }
        if self.state != State::Held {
            self.flow.timer.stop();
            self.look_at_window(now);
        }
    }

    // RFC 5681 §3.2: SHOULD send new data on the first and second duplicate ACK
    // RFC 5681 §3.2: MUST NOT change cwnd for these two segments
    // RFC 5681 §3.2: MUST NOT send new data under SACK unless the duplicate ACK reports something new
    pub(super) fn on_duplicate_ack(&mut self, now: Time) {
        self.flow.stats.duplicate_acks += 1;
        self.flow.duplicates += 1;
        let (ack, count) = (self.flow.una, self.flow.duplicates);
        self.flow.trace.record(now, || EventKind::DuplicateAck { ack, count });
        self.recovery.on_duplicate_ack(now, &mut self.flow, &mut self.congestion);
        if self.flow.params.limited_transmit && count <= 2 && !self.recovery.recovering() {
            self.flow.allowance = self.flow.allowance_at(count);
        }
    }

    // RFC 6298 §3: MUST take one round-trip sample per round trip at least
    /// Takes the round-trip measurement that a new ACK gives: from its timestamps, where any segment will do,
    /// or from the timed segment (RFC 7323 section 4.1, RFC 6298 section 3).
    #[inline]
    pub(super) fn measure(&mut self, now: Time, segment: &Segment, acked: u64) {
        let timer = &mut self.flow.timer;
        if let Some(timestamps) = segment.timestamps {
            let rtt = timer.clock.since(timestamps.echo, now);
            // Every second segment is acknowledged, as a rule (RFC 7323 appendix G).
            let samples = (self.flow.flight() + acked).div_ceil(2 * self.flow.mss).max(1);
            self.on_round_trip(now, rtt, samples);
        } else if let Some(rtt) = timer.finish_timing(now, segment.ack) {
            self.on_round_trip(now, rtt, 1);
        }
    }

    #[inline(never)]
    pub(super) fn on_round_trip(&mut self, now: Time, rtt: Time, samples: u64) {
        let timer = &mut self.flow.timer;
        timer.estimator.sample_of(rtt, samples);
        self.flow.stats.rtt_samples += 1;
        self.congestion.on_round_trip(now, rtt);
        if self.flow.hystart.is_some() {
            self.flow.watch_slow_start(now, rtt);
        }
        let estimator = &self.flow.timer.estimator;
        self.flow.trace.record(now, || EventKind::RttSample {
            rtt,
            srtt: estimator.srtt().unwrap_or(rtt),
            rttvar: estimator.rttvar().unwrap_or(0),
            rto: estimator.rto(),
        });
    }

    /// Reads what an ACK tells about marks: a count, or the ECN-Echo bit.
    pub(super) fn read_echo(&mut self, now: Time, segment: &Segment) {
        let ack = segment.ack;
        let feedback = if self.flow.accurate_ecn {
            let delivered = self.recovery.delivered();
            let marked = self.read_count(segment.flags.ace(), delivered) * self.flow.mss;
            Feedback { ack, delivered, marked: marked.min(delivered) }
        } else {
            let delivered = ack - self.flow.una;
            self.flow.echoed = segment.flags.contains(Flags::ECE);
            Feedback { ack, delivered, marked: if self.flow.echoed { delivered } else { 0 } }
        };
        self.congestion.on_feedback(now, &self.flow, feedback);
    }

    // RFC 9768 §3.2.2.2: MUST take the three bits as the least significant of the count
    // RFC 9768 §3.2.2.5.2: SHOULD assume the safest case where the bits may have wrapped
    /// The marked packets that three bits of the receiver's count tell of beyond those known before. An ACK that reports nothing as
    /// delivered may have been overtaken, and tells nothing that the next will not. Where more than seven packets were delivered,
    /// as after lost ACKs, the bits may have wrapped: then as many were marked as may have been (appendix A.2).
    fn read_count(&mut self, bits: u64, delivered: u64) -> u64 {
        let packets = delivered.div_ceil(self.flow.mss);
        if packets == 0 {
            return 0;
        }
        let least = bits.wrapping_sub(self.flow.marked_packets) & 7;
        let marked = if packets > 7 { packets - ((packets - least) & 7) } else { least };
        self.flow.marked_packets += marked;
        self.flow.echoed = marked > 0;
        marked
    }

    // RFC 3168 §6.1.2: MUST reset the timer on ECN-Echo when the window is one segment, and send when it expires
    // RFC 9438 §4.6: MUST reduce the rate further at a window of one segment
    /// Reduces the window for an echoed congestion mark, once a round trip, and not on top of a reduction for
    /// a loss (RFC 3168 section 6.1.2).
    pub(super) fn on_echo(&mut self, now: Time) {
        self.flow.echoed = false;
        let news = self.flow.reduced_at.is_none_or(|sent| self.flow.una > sent)
            && self.congestion.answers_mark(now, &self.flow);
        if !news || self.recovery.recovering() {
            return self.recovery.note_mark();
        }
        let holds = self.flow.params.ecn_window_min == 1 && self.flow.cwnd == self.flow.mss;
        if holds && self.flow.una < self.flow.offered {
            // Less than a segment a round trip: the next one waits for the timer.
            self.state = State::Held;
            self.flow.timer.restart(now);
        }
        let window = self.congestion.on_mark(&self.flow);
        self.flow.lower_for_mark(window);
        self.recovery.on_mark(&mut self.flow, window);
        self.flow.note_mark_answered(now);
    }
}
