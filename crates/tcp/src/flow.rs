//! What a sender knows about its connection: sequence space, windows, timer. Congestion control and recovery
//! are given it to read and change.

use std::{ops::Range, sync::Arc};

use celltrain_engine::{Time, time::NEVER};

use crate::{
    delivery::Delivery,
    event::{EventKind, LossSign, TimeoutCause, Trace},
    hystart::{HyStart, Seen},
    limits::{Limit, LimitClock},
    params::{FastRetransmitGuard, HystartVariant, Params},
    rto::RetransmissionTimer,
    segment::{Ecn, FIRST_MARK_COUNT, Segment},
    stats::SenderStats,
};

/// Duplicate ACKs that mean a loss (RFC 5681 section 3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// The sequence space, windows and timer of one sender. Names follow RFC 9293 (SND.UNA, SND.NXT) and RFC
/// 5681.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) params: Arc<Params>,
    /// `params.mss` as the windows count.
    pub(crate) mss: u64,
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// Next byte to send; below `max` after going back.
    pub(crate) nxt: u64,
    /// The byte after the highest ever sent.
    pub(crate) max: u64,
    /// The byte after the last that the application has offered, and after the FIN, if there is one.
    pub(crate) offered: u64,
    /// Whether a FIN takes the last of the numbers below `offered`.
    pub(crate) closed: bool,
    /// The byte after the last small segment of new data.
    pub(crate) small_end: u64,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// Receive window.
    pub(crate) rwnd: u64,
    /// Largest receive window seen.
    pub(crate) rwnd_max: u64,
    /// Duplicate ACKs since the last ACK for new data.
    pub(crate) duplicates: u32,
    /// Bytes of new data that limited transmit allows beyond the congestion window.
    pub(crate) allowance: u64,
    /// Bytes of new data that it has sent since the last ACK for new data.
    pub(crate) limited: u64,
    /// The value of `max` at the last loss: earlier data may still cause duplicate ACKs.
    pub(crate) recover: Option<u64>,
    /// Where the data ended that were in the network at the last timeout, had they all lain side by side from `una` on.
    pub(crate) timed_out_end: u64,
    /// The value of `max` at the last reduction. The first segment beyond it tells the receiver, so echoes of
    /// congestion marks are old news until an ACK covers part of it.
    pub(crate) reduced_at: Option<u64>,
    /// The value of `max` at the last reduction for a mark.
    pub(crate) marked_at: u64,
    /// Part of a segment goes next, as the receive window has been small for a timeout.
    pub(crate) overrides: bool,
    /// The segment at `una` goes next, whatever the windows say.
    pub(crate) resend_first: bool,
    pub(crate) consecutive_timeouts: u32,
    /// Whether both ends take part in ECN.
    pub(crate) ecn: bool,
    /// Whether ACKs count marks (RFC 9768).
    pub(crate) accurate_ecn: bool,
    /// s.cep: marked packets that ACKs have told of, from 5 on (RFC 9768 section 3.2.1).
    pub(crate) marked_packets: u64,
    /// The ACK being handled echoes a congestion mark.
    pub(crate) echoed: bool,
    /// The next new segment tells the receiver that the window was reduced.
    pub(crate) cwr_owed: bool,
    pub(crate) timer: RetransmissionTimer,
    /// When the recovery is to look again, beside the retransmission timer; [`NEVER`] if it need not.
    pub(crate) alarm: Time,
    /// What watches the first slow start, until it ends.
    pub(crate) hystart: Option<HyStart>,
    /// The sampler of delivery rates, if the congestion control asks for samples.
    pub(crate) delivery: Option<Box<Delivery>>,
    /// The rate at which segments leave, in bit/s, if the congestion control sets it.
    pub(crate) pacing_rate: Option<u64>,
    pub(crate) limits: LimitClock,
    pub(crate) stats: SenderStats,
    pub(crate) trace: Trace,
}

impl Flow {
    // RFC 5681 §3.1: SHOULD begin with an arbitrarily high ssthresh
    pub(crate) fn new(params: impl Into<Arc<Params>>) -> Self {
        let params = params.into();
        let mss = u64::from(params.mss);
        Self {
            mss,
            una: 0,
            nxt: 0,
            max: 0,
            offered: 0,
            closed: false,
            small_end: 0,
            cwnd: u64::from(params.initial_window) * mss,
            ssthresh: params.initial_ssthresh,
            rwnd: params.advertised_window(),
            rwnd_max: params.advertised_window(),
            duplicates: 0,
            allowance: 0,
            limited: 0,
            recover: None,
            timed_out_end: 0,
            reduced_at: None,
            marked_at: 0,
            overrides: false,
            resend_first: false,
            consecutive_timeouts: 0,
            ecn: params.ecn,
            accurate_ecn: params.accurate_ecn,
            marked_packets: FIRST_MARK_COUNT,
            echoed: false,
            cwr_owed: false,
            timer: RetransmissionTimer::new(&params),
            alarm: NEVER,
            hystart: HyStart::new(&params),
            delivery: params.congestion_control.samples().then(Box::default),
            pacing_rate: None,
            limits: LimitClock::default(),
            stats: SenderStats::default(),
            trace: Trace::default(),
            params,
        }
    }

    /// Bytes sent and not cumulatively acknowledged.
    pub(crate) const fn flight(&self) -> u64 {
        self.max - self.una
    }

    // RFC 5681 §3.2: MUST NOT count what limited transmit sent when ssthresh is computed
    // RFC 5681 §4.3: MUST lower cwnd and ssthresh twice for losses in two windows
    // Not RFC 5681 §4.3: MUST lower them twice for the loss of a retransmission (with `recovery = "rack"`, which repairs it within the recovery)
    /// FlightSize where it decides how far a loss reduces the window: the data outstanding in the network (RFC 5681 section
    /// 3.1). What is not acknowledged is a bound, less what limited transmit has sent (section 3.2 step 2), but while a loss is
    /// repaired most of it may have left the network. The window is another: it lets no more in.
    /// After a timeout the window says nothing about what was sent before; then it is what was in the network at the
    /// timeout, less what has been acknowledged since. So each indication of congestion lowers the threshold (section 4.3).
    pub(crate) fn in_network(&self) -> u64 {
        let timed_out = self.timed_out_end.saturating_sub(self.una);
        (self.flight() - self.limited).min(self.cwnd.max(timed_out))
    }

    /// What limited transmit allows beyond the window at the `count`th duplicate ACK: one segment more than before, up to two. Where more than
    /// the window is outstanding already, as behind a recovery, the first may take both (RFC 3042).
    pub(crate) fn allowance_at(&self, count: u32) -> u64 {
        let counted = u64::from(count) * self.mss;
        // ns-2 counts duplicates and nothing else. Where a sender has gone back, `nxt` is not the end of the flight.
        if self.params.limited_transmit_resends || self.nxt < self.max {
            return counted;
        }
        let one_more = (self.flight() + self.mss).saturating_sub(self.cwnd);
        counted.max(one_more.min(2 * self.mss))
    }

    /// Counts what of the new data `sent`, in full segments but for the last, goes beyond the window.
    pub(crate) fn count_limited(&mut self, sent: &Range<u64>) {
        let beyond = sent.end.saturating_sub(self.una + self.cwnd);
        self.limited += (beyond.div_ceil(self.mss) * self.mss).min(sent.end - sent.start);
    }

    /// Whether the application, not the window, limits what is in the network: less than a segment waits to be sent, as Nagle's algorithm may
    /// hold that, and another one would fit. `flight` is what was unacknowledged when the last ACK arrived.
    pub(crate) const fn application_limited(&self, flight: u64) -> bool {
        self.offered < self.max + self.mss && flight + self.mss <= self.cwnd
    }

    // RFC 3168 §6.1.2: SHOULD reduce the window once for the drops and marks of one window of data
    /// Whether the first unacknowledged segment was sent before the window was reduced for a mark: its loss is of the
    /// same window of data (RFC 3168 section 6.1.2).
    pub(crate) const fn reduced_for_mark(&self) -> bool {
        self.una < self.marked_at
    }

    /// Whether `segment` is a duplicate ACK (RFC 5681 section 2).
    pub(crate) const fn is_duplicate(&self, segment: &Segment) -> bool {
        self.max > self.una && self.repeats_ack(segment)
    }

    /// Whether `segment` says what the last ACK said, and carries no data.
    pub(crate) const fn repeats_ack(&self, segment: &Segment) -> bool {
        segment.ack == self.una && segment.end() == segment.seq && segment.window == self.rwnd
    }

    /// Moves the left edge of the window to `ack`.
    pub(crate) fn advance(&mut self, ack: u64) {
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.duplicates = 0;
        (self.allowance, self.limited) = (0, 0);
        self.resend_first = false;
        self.consecutive_timeouts = 0;
    }

    /// Takes the measurement of a round trip in the first slow start.
    #[cold]
    pub(crate) fn watch_slow_start(&mut self, now: Time, rtt: Time) {
        let Self { una, max: sent, cwnd, ssthresh, .. } = *self;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_round_trip(now, rtt, Seen { una, sent, cwnd, slow_start: cwnd < ssthresh });
        }
    }

    /// Bytes delivered since the connection began, if the congestion control asks for samples; else 0.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivery.as_ref().map_or(0, |delivery| delivery.delivered())
    }

    /// Looks whether the application has left the network idle; at each event, before what it does (draft-ietf-ccwg-bbr section 4.1.2.4).
    pub(crate) fn check_app_limited(&mut self) {
        let nothing_unsent = self.max == self.offered;
        if let Some(delivery) = &mut self.delivery {
            delivery.check_app_limited(nothing_unsent, self.cwnd);
        }
    }

    /// Which of the two windows is the limit, if one of them is.
    #[inline]
    pub(crate) const fn window_limit(&self) -> Limit {
        if self.cwnd >= self.rwnd { Limit::ReceiveWindow } else { Limit::CongestionWindow }
    }

    /// Takes the advertised window.
    pub(crate) fn set_receive_window(&mut self, window: u64) {
        self.rwnd = window;
        self.rwnd_max = self.rwnd_max.max(window);
    }

    /// Sends again from the first unacknowledged byte on.
    pub(crate) const fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// A timeout has sent the sender back. The first segment goes even where the receive window has no place for all of it: an earlier ACK gave
    /// that place, and receivers honour it (RFC 7323 section 2.4). Otherwise nothing would go, and nothing would tell of the window.
    pub(crate) fn resend_beyond_window(&mut self) {
        let first = self.first_segment();
        self.resend_first =
            self.nxt == first.start && first.start < first.end && first.end > self.una + self.rwnd;
    }

    /// Whether this is the third duplicate ACK and the guard lets it count, as it does before the first loss ([`FastRetransmitGuard`]).
    pub(crate) fn third_duplicate(&self) -> bool {
        self.duplicates == DUP_THRESH
            && match (self.params.fast_retransmit_guard, self.recover) {
                (FastRetransmitGuard::None, _) | (_, None) => true,
                (FastRetransmitGuard::LessCareful, Some(recover)) => self.una >= recover,
                (FastRetransmitGuard::Careful, Some(recover)) => self.una > recover,
            }
    }

    // RFC 9438 §4.6: MUST reduce cwnd and ssthresh immediately upon entering loss recovery
    /// Reduces the windows for a loss that showed without a timeout. What is sent again is the caller's
    /// business.
    pub(crate) fn fast_retransmit(&mut self, now: Time, cause: LossSign, ssthresh: u64, cwnd: u64) {
        self.ssthresh = ssthresh;
        self.cwnd = cwnd;
        self.note_loss();
        // The retransmission gets a whole timeout, as in BSD and Linux; RFC 5681 leaves it open.
        self.timer.restart(now);
        self.stats.fast_retransmits += 1;
        // Without fast recovery slow start begins at once.
        self.limits.set(now, if cwnd < ssthresh { self.window_limit() } else { Limit::Recovery });
        let (seq, recover) = (self.una, self.max);
        self.trace.record(now, || EventKind::FastRetransmit { seq, cause, recover, cwnd, ssthresh });
    }

    // RFC 5681 §3.1: MUST set cwnd to one segment upon a timeout
    // RFC 8257 §3.5: MUST set cwnd to one segment upon a timeout
    /// Reduces the windows to one segment for a timeout and backs the timer off.
    pub(crate) fn time_out(&mut self, now: Time, ssthresh: u64) {
        self.timed_out_end = self.una + self.in_network();
        self.ssthresh = ssthresh;
        self.cwnd = self.mss;
        self.resend_first = false;
        self.note_loss();
        if self.params.hystart_variant == HystartVariant::Linux {
            self.hystart = HyStart::new(&self.params);
        }
        self.back_off(now, Some(ssthresh));
        self.duplicates = 0;
        self.timer.restart(now);
    }

    /// A timeout leaves in flight what it does not take for lost, and admits one segment more (draft-ietf-ccwg-bbr section 5.6.4.4, OnEnterRTO).
    pub(crate) fn admit_one_more(&mut self) {
        self.cwnd = self.delivery.as_ref().map_or(0, |delivery| delivery.inflight()) + self.mss;
    }

    /// The retransmission timer has expired: the next timeout is longer. `ssthresh` is the reduced threshold, if it was.
    pub(crate) fn back_off(&mut self, now: Time, ssthresh: Option<u64>) {
        let (rto, backoff) = (self.timer.estimator.rto(), self.timer.estimator.backoff());
        self.timer.estimator.back_off();
        if !self.trace.is_on() {
            return;
        }
        let Self { una: seq, consecutive_timeouts: consecutive, duplicates, .. } = *self;
        let (outstanding, next_rto) = (self.flight(), self.timer.estimator.rto());
        let cause = if ssthresh.is_some() { self.silence(now, rto) } else { TimeoutCause::SynUnanswered };
        self.trace.record(now, || EventKind::Timeout {
            seq,
            cause,
            consecutive,
            outstanding,
            duplicates,
            rto,
            backoff,
            next_rto,
            ssthresh,
        });
    }

    /// Why a timer of `rto` has expired at `now` and nothing else found the loss before.
    fn silence(&self, now: Time, rto: Time) -> TimeoutCause {
        match self.trace.last_sent(self.una) {
            // A coarse clock expires up to a tick early.
            Some((sent, true)) if now - sent + self.params.tick < rto => TimeoutCause::RecoveryTooLong,
            Some((_, true)) => TimeoutCause::RetransmissionUnanswered,
            _ if self.flight() <= u64::from(DUP_THRESH) * self.mss => TimeoutCause::FewOutstanding,
            _ => match self.duplicates {
                0 => TimeoutCause::NoDuplicateAcks,
                1 | 2 => TimeoutCause::FewDuplicateAcks,
                _ => TimeoutCause::DuplicateAcksIgnored,
            },
        }
    }

    /// Lowers the threshold to `window` for an echoed congestion mark, but not below two segments (RFC 3168 section 6.1.2). The window
    /// follows.
    pub(crate) fn lower_for_mark(&mut self, window: u64) {
        self.ssthresh = window.max(2 * self.mss);
        self.marked_at = self.max;
        self.note_reduction();
        self.stats.ecn_reductions += 1;
    }

    // RFC 9438 §4.6: MUST reduce cwnd for ECN-Echo until it is one segment
    /// Reduces the window to `window` for a mark at once, but not below one segment, or two if the stack says so.
    pub(crate) fn shrink_for_mark(&mut self, window: u64) {
        let least = u64::from(self.params.ecn_window_min) * self.mss;
        self.cwnd = self.cwnd.min(window.max(least));
    }

    /// The windows are reduced for a mark, or the reduction has begun.
    pub(crate) fn note_mark_answered(&mut self, now: Time) {
        self.limits.set(now, self.window_limit());
        let Self { una: ack, cwnd, ssthresh, .. } = *self;
        self.trace.record(now, || EventKind::EcnReduction { ack, cwnd, ssthresh });
    }

    /// Reduces the windows for a loss that a probe has repaired.
    pub(crate) fn answer_repair(&mut self, now: Time, ssthresh: u64) {
        self.ssthresh = ssthresh;
        self.cwnd = self.cwnd.min(ssthresh);
        self.note_loss();
        let (ack, cwnd) = (self.una, self.cwnd);
        self.trace.record(now, || EventKind::ProbeRepaired { ack, cwnd, ssthresh });
    }

    /// Some of `bytes` are sent again: their ACK would be ambiguous.
    #[inline(never)]
    pub(crate) fn note_retransmission(&mut self, bytes: &Range<u64>) {
        self.stats.retransmitted_segments += 1;
        let again = bytes.end.min(self.max).min(self.data_end());
        self.stats.retransmitted_bytes += again.saturating_sub(bytes.start);
        self.timer.forget_timed_segment();
    }

    // RFC 6298 §5: MUST NOT retransmit within an RTO of the last transmission by the timer
    /// The first segment is sent again: the timer, which would send it next, begins anew. An alarm still comes before it.
    #[inline(never)]
    pub(crate) fn time_first(&mut self, now: Time) {
        self.timer.restart(now);
        if self.alarm < NEVER {
            self.timer.put_off(self.alarm);
        }
    }

    /// What every reduction for a loss has in common.
    fn note_loss(&mut self) {
        (self.allowance, self.limited) = (0, 0);
        self.recover = Some(self.max);
        self.timer.forget_timed_segment();
        self.note_reduction();
    }

    /// What every reduction has in common.
    fn note_reduction(&mut self) {
        self.hystart = None;
        self.reduced_at = Some(self.max);
        self.cwr_owed = self.ecn && !self.accurate_ecn;
    }

    /// The byte after the last byte of data that the application has offered.
    pub(crate) const fn data_end(&self) -> u64 {
        self.offered - self.closed as u64
    }

    /// What packets without new data have where ECN is agreed on, or asked for.
    pub(crate) fn control_ecn(&self) -> Ecn {
        self.params.control_ecn(self.ecn)
    }

    /// Whether the FIN is the last of the numbers `bytes`.
    pub(crate) const fn ends_with_fin(&self, bytes: &Range<u64>) -> bool {
        self.closed && bytes.end == self.offered
    }

    /// Where a segment ends that would end at `end`: the FIN goes with the last byte of data if the receive window has a place for it. The
    /// congestion window is about data.
    const fn taking_fin_along(&self, end: u64) -> u64 {
        if self.closed && end == self.data_end() && end < self.una + self.rwnd { end + 1 } else { end }
    }

    /// The segment that starts at `una`.
    pub(crate) fn first_segment(&self) -> Range<u64> {
        let end = (self.una + self.mss).min(self.max);
        self.una..self.taking_fin_along(end)
    }

    // RFC 5681 §2: MUST NOT send beyond the highest acknowledgement plus the smaller of cwnd and rwnd
    /// The segment at `nxt` if the congestion and receive windows allow it and it is worth sending.
    #[inline]
    pub(crate) fn next_in_window(&self) -> Option<Range<u64>> {
        let new = self.nxt == self.max || self.params.limited_transmit_resends;
        let allowance = if new { self.allowance } else { 0 };
        self.next_below(self.una + (self.cwnd + allowance).min(self.rwnd))
    }

    /// The segment at `nxt` if it is worth sending when nothing beyond `edge` may go.
    #[inline]
    pub(crate) fn next_below(&self, edge: u64) -> Option<Range<u64>> {
        let end = self.nxt + self.mss;
        // A full segment is always worth sending.
        if end <= edge.min(self.offered) && !self.closed {
            return Some(self.nxt..end);
        }
        if self.holds_part_back(edge) { None } else { self.part_below(edge) }
    }

    /// The segment of new data that is next, however small, if all of it lies below `edge`.
    pub(crate) fn unsent_below(&self, edge: u64) -> Option<Range<u64>> {
        let end = self.taking_fin_along((self.nxt + self.mss).min(self.data_end()));
        (self.nxt < end && end <= edge).then_some(self.nxt..end)
    }

    /// Whether `edge` cuts the next segment of new data, and the part before it is not worth sending: more waits, and the part is
    /// less than half of any window.
    #[inline]
    pub(crate) const fn holds_part_back(&self, edge: u64) -> bool {
        self.nxt == self.max
            && edge < self.nxt + self.mss
            && edge < self.data_end()
            && self.nxt < self.data_end()
            && 2 * self.mss <= self.rwnd_max
            && !self.overrides
    }

    /// Where the congestion and receive windows end for new data.
    #[inline]
    pub(crate) fn window_edge(&self) -> u64 {
        self.una + (self.cwnd + self.allowance).min(self.rwnd)
    }

    /// As [`next_below`](Self::next_below), where what is left may be less than a full segment, or end with the FIN.
    #[inline(never)]
    fn part_below(&self, edge: u64) -> Option<Range<u64>> {
        let end = (self.nxt + self.mss).min(self.offered).min(edge);
        if end <= self.nxt {
            return None;
        }
        let (end, len) = if self.closed {
            let end = self.taking_fin_along(end);
            (end, end.min(self.data_end()) - self.nxt)
        } else {
            (end, end - self.nxt)
        };
        (len == self.mss || self.worth_sending(len, end)).then_some(self.nxt..end)
    }

    /// Whether a segment that is not full should go: the sender's silly-window avoidance (RFC 9293 section
    /// 3.8.6.2.1) and Nagle's algorithm (section 3.7.4), or its variant that waits for small segments alone.
    fn worth_sending(&self, len: u64, end: u64) -> bool {
        if self.nxt < self.max {
            return end >= self.max || end == self.offered;
        }
        // Nagle's algorithm holds data back; a FIN alone is none. The variant is that of Linux, where a FIN takes the last data along.
        let (awaited, data) =
            if self.params.nagle_minshall { (self.small_end, !self.closed) } else { (self.nxt, len > 0) };
        let holds = self.params.nagle && awaited > self.una && data;
        (end >= self.data_end() && !holds) || 2 * len >= self.rwnd_max || self.overrides
    }
}
