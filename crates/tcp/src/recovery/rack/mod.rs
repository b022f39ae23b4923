//! RACK-TLP (RFC 8985): a segment is lost when one that was sent later has arrived and the time for reordering has passed; a
//! probe asks for ACKs at the tail. Reductions are proportional (RFC 6937), and undone if they were not called for.

mod board;
mod forward;
mod order;
mod probe;
mod undo;

use std::ops::Range;

use celltrain_engine::{Time, time::NEVER};

use self::{
    board::{Arrived, Board},
    forward::Forward,
    order::Order,
    probe::Probe,
    undo::{Found, Undo},
};
use super::{Recovery, prr::Prr, reduced, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    delivery::Delivery,
    event::{EventKind, ExitCause, LossSign},
    flow::Flow,
    limits::Limit,
    params::{Reductions, RtoArithmetic},
    segment::Segment,
};

/// State of RACK-TLP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rack {
    board: Board,
    order: Order,
    probe: Probe,
    episode: Option<Episode>,
    /// The proportional reduction of a fast recovery, unless congestion control sets the window itself, or for a mark, of which an ACK for what
    /// was sent behind it is the end.
    prr: Option<Prr>,
    undo: Option<Box<Undo>>,
    forward: Forward,
    /// The next retransmission goes whatever the window says.
    forced: bool,
    /// Whether there is an alarm for reordering; any other is for a probe.
    waits_for_order: bool,
    /// Bytes that the last ACK told to have arrived.
    delivered: u64,
    /// Where the data end of which the last ACK shows that the probe repaired a loss.
    repaired: Option<u64>,
}

/// A time in which lost segments are sent again.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// What had been sent when it began.
    recovery_point: u64,
    /// Whether a timeout began it, which slow start follows.
    after_timeout: bool,
}

impl Rack {
    // RFC 8985 §6.2: RECOMMENDED to arm a reordering timer
    /// Takes for lost what is overdue, and sets the alarm for what may yet arrive (RFC 8985 section 6.2 step 5).
    fn detect(&mut self, now: Time, flow: &mut Flow) {
        let window = self.window(flow);
        let (order, delivery) = (&self.order, &mut flow.delivery);
        let remaining = |sent: &board::Sent| order.remaining(now, sent, window);
        if let Some(wait) = self.board.detect(remaining, |sent| report_lost(delivery, sent)) {
            (flow.alarm, self.waits_for_order) = (now + wait, true);
        }
    }

    /// The reordering window.
    fn window(&self, flow: &Flow) -> Time {
        let srtt = flow.timer.estimator.srtt();
        self.order.window(srtt, self.episode.is_some(), self.board.sacked())
    }

    // RFC 8985 §7.2: SHOULD schedule a probe after new data and ACKs for new data
    // RFC 8985 §7.3: MUST skip a probe without a new sample or while one is under way
    /// Schedules a probe, unless losses are being looked for or repaired anyway (section 7.2), or none may go: the
    /// retransmission timer then is not put off (section 7.3).
    #[inline]
    fn schedule_probe(&mut self, now: Time, flow: &mut Flow) {
        if self.may_need_probe() && self.probe.may_go(flow) {
            // What leaves now belongs to the flight, and `flow` has not taken it in.
            let deadline = Probe::deadline(now, flow, self.board.pipe());
            (flow.alarm, self.waits_for_order) = (deadline, false);
        }
    }

    /// Whether something is under way, and no loss is being looked for or repaired.
    const fn may_need_probe(&self) -> bool {
        self.episode.is_none() && self.board.sacked() == 0 && !self.waits_for_order && self.board.pipe() > 0
    }

    /// Whether something that was sent later than a segment under way may have arrived. Where none was reported, lost or sent again, they
    /// were sent in the order of the data, and what holds for the first holds for all. What repaired a loss below it may have overtaken it.
    fn may_be_overtaken(&self) -> bool {
        let overtaken = |first| self.order.overtakes(first);
        self.episode.is_some() || !self.board.is_untouched() || self.board.first().is_some_and(overtaken)
    }

    /// What follows every ACK: losses, the windows for them, the next alarm.
    #[inline]
    fn proceed(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        (flow.alarm, self.waits_for_order) = (NEVER, false);
        if self.prr.is_some() && self.episode.is_none() && flow.una > flow.marked_at {
            // The reduction for a mark is over. A loss that shows now calls for one of its own.
            (flow.cwnd, self.prr) = (flow.ssthresh, None);
        }
        if self.may_be_overtaken() {
            self.look_for_losses(now, flow, congestion);
        }
        if self.prr.is_some() {
            self.reduce(flow);
        }
    }

    /// Takes the reduction on by what the last ACK told to have arrived.
    #[inline(never)]
    fn reduce(&mut self, flow: &mut Flow) {
        let (Some(prr), pipe) = (&mut self.prr, self.board.pipe()) else { return };
        flow.cwnd = prr.window(flow, pipe, self.delivered);
        if self.episode.is_none() && prr.is_silent() {
            // A segment is sent at once, so that the receiver learns of the reduction.
            flow.cwnd = flow.cwnd.max(pipe + flow.mss);
        }
    }

    // RFC 8985 §8: SHOULD cancel other timers when arming the reordering timer
    // RFC 8985 §9.3: RECOMMENDED to reduce in proportion (PRR)
    /// What is lost, and the windows for it, where something may be. The retransmission timer does not expire while reordering is waited
    /// for.
    #[inline(never)]
    fn look_for_losses(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        self.detect(now, flow);
        if self.episode.is_none() && self.board.lost() > 0 {
            self.begin(now, flow, congestion);
        }
        if flow.alarm < NEVER {
            flow.timer.put_off(flow.alarm);
        }
    }

    /// Begins a fast recovery. A reduction for a mark goes on in it, and will not be undone.
    fn begin(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let earlier = self.sent_again(flow.una);
        self.undo = self.prr.is_none().then(|| Undo::new(now, flow, congestion, false, earlier));
        let answered = self.prr.is_some() && !congestion.counts_marks();
        let ssthresh = if answered { flow.ssthresh } else { reduced(flow, congestion) };
        let owned = congestion.sets_window();
        let cwnd = if owned { flow.cwnd } else { ssthresh };
        let from = match flow.params.reductions {
            Reductions::Standard => flow.in_network(),
            Reductions::Linux => flow.cwnd,
        };
        let cwr_owed = flow.cwr_owed;
        flow.fast_retransmit(now, LossSign::LaterDelivered, ssthresh, cwnd);
        if answered {
            // The receiver is told once. A second time would stop its echo of a mark that has come since.
            flow.cwr_owed = cwr_owed;
        }
        flow.limits.set(now, Limit::Recovery);
        if !owned {
            self.prr.get_or_insert_with(|| Prr::begin(from));
        }
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: false });
        self.forced = true;
        self.probe.reset();
    }

    /// Ends an episode whose data is all acknowledged; false if there is none or it goes on.
    fn finish(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) -> bool {
        let Some(episode) = self.episode.filter(|episode| flow.una >= episode.recovery_point) else {
            return false;
        };
        (self.episode, self.prr) = (None, None);
        self.forced = false;
        self.order.end_recovery();
        if congestion.sets_window() {
            congestion.on_recovered(flow);
        } else if !episode.after_timeout {
            flow.cwnd = flow.ssthresh;
        }
        if !episode.after_timeout {
            trace_exit(now, flow, ExitCause::FullAck);
        }
        true
    }

    // RFC 9438 §4.9.1: MAY detect spurious timeouts by F-RTO
    /// Undoes the last reduction if nothing had been lost.
    #[inline]
    fn reconsider(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if self.undo.as_ref().is_some_and(|undo| undo.is_outdated(flow)) {
            self.undo = None;
        }
        if self.undo.as_ref().is_some_and(|undo| self.forward.spurious() || undo.spurious()) {
            self.undo_reduction(now, flow, congestion);
        }
    }

    #[inline(never)]
    fn undo_reduction(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let Some(undo) = self.undo.take() else { return };
        let found = match self.episode {
            Some(_) if self.prr.is_some() => Found::InRecovery,
            None if !self.forward.spurious() => Found::Late,
            _ => Found::Soon,
        };
        self.forward = Forward::default();
        self.order.note_late(!undo.after_timeout);
        let restored = undo.restore(now, flow, congestion, found);
        self.board.forgive();
        if let Some(delivery) = &mut flow.delivery {
            delivery.forgive();
        }
        (self.episode, self.prr) = (None, None);
        self.forced = false;
        flow.limits.set(now, flow.window_limit());
        if !restored {
            return;
        }
        flow.stats.undone_reductions += 1;
        let (ack, cwnd, ssthresh) = (flow.una, flow.cwnd, flow.ssthresh);
        flow.trace.record(now, || EventKind::ReductionUndone { ack, cwnd, ssthresh });
    }

    /// Retransmissions under way, and a probe that sends something again.
    fn sent_again(&self, una: u64) -> u32 {
        let probe = self.probe.sent_again().filter(|&end| end > una);
        self.board.sent_again(probe) + u32::from(probe.is_some())
    }

    // RFC 8985 §7.4.2: SHOULD answer a loss that a probe repaired
    /// Answers a loss that the probe has repaired as if it had shown otherwise (section 7.4.2): not if the window was reduced for a mark
    /// since that was sent (RFC 3168 section 6.1.2). What the last reduction was for is no longer to be undone.
    fn answer_repair(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let Some(end) = self.repaired.take().filter(|_| self.episode.is_none()) else { return };
        if end <= flow.marked_at && !congestion.counts_marks() && !congestion.sets_window() {
            return;
        }
        self.undo = None;
        let window = congestion.on_repaired(flow);
        if !congestion.sets_window() {
            flow.answer_repair(now, window.max(2 * flow.mss));
        }
    }

    // RFC 8985 §7.3: SHOULD probe with new data, else with the last segment
    // RFC 8985 §7.3: MUST record the transmission of a probe
    /// The probe: new data if there is some, else the last segment again.
    fn next_probe(&mut self, now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        self.probe.due = false;
        let new = flow.unsent_below(flow.una + flow.rwnd);
        let is_retrans = new.is_none();
        let bytes = new.or_else(|| self.board.last())?;
        self.on_sent(now, &bytes);
        // It may have waited for its time in a paced sender.
        flow.timer.restart(now);
        self.probe.on_sent(flow, flow.max.max(bytes.end), is_retrans);
        flow.stats.loss_probes += 1;
        let seq = bytes.start;
        flow.trace.record(now, || EventKind::LossProbe { seq });
        Some(bytes)
    }

    // RFC 8985 §9.3: MUST NOT retransmit before congestion control lets it
    /// The first lost segment, if the window lets it go.
    fn next_lost(&mut self, now: Time, flow: &Flow) -> Option<Range<u64>> {
        let bytes = self.board.first_lost()?;
        let fits = self.board.pipe() + (bytes.end - bytes.start) <= flow.cwnd;
        if !(fits || std::mem::take(&mut self.forced)) {
            return None;
        }
        self.forced = false;
        self.on_sent(now, &bytes);
        if let Some(undo) = &mut self.undo {
            undo.on_retransmit();
        }
        Some(bytes)
    }

    /// What [`Recovery::read`] comes to for an ACK that nearly always comes: it reports nothing out of order, and nothing in flight was
    /// reported, lost or sent again.
    #[inline]
    fn read_predicted(&mut self, now: Time, flow: &Flow, segment: &Segment) -> bool {
        self.repaired = self.probe.read(flow, segment, None);
        self.forward.begin_ack();
        if let Some(first_end) = self.take_in_order(now, flow, segment.ack) {
            self.forward.note_original(first_end);
        }
        self.delivered > 0
    }

    /// Takes what has arrived up to `ack`, of a board of which no segment was reported, lost or sent again; returns where the first segment
    /// ended. They have arrived in the order in which they were sent, so the last one says it all.
    #[inline(always)]
    fn take_in_order(&mut self, now: Time, flow: &Flow, ack: u64) -> Option<u64> {
        self.order.begin_ack();
        let arrived = self.board.acknowledge_untouched(ack);
        self.delivered = arrived.as_ref().map_or(0, |arrived| arrived.bytes);
        self.order.note_duplicate(ack, flow.max, false);
        let Arrived { first_end, last, .. } = arrived?;
        self.order.deliver(now, &last, None, flow.timer.clock);
        Some(first_end)
    }

    /// [`Recovery::read`], whatever the ACK says.
    #[inline(never)]
    fn read_any(&mut self, now: Time, flow: &Flow, segment: &Segment) -> bool {
        let echo = segment.timestamps.map(|timestamps| timestamps.echo);
        let clock = flow.timer.clock;
        let duplicate = segment.sack.duplicate(segment.ack);
        if let Some(undo) = &mut self.undo {
            if let Some(bytes) = &duplicate {
                undo.on_duplicate(bytes);
            }
            if let Some(first) = self.board.first().filter(|first| segment.ack >= first.end) {
                undo.on_first_ack(flow.una, first, echo, clock);
            }
        }
        self.repaired = self.probe.read(flow, segment, duplicate.as_ref());
        let Self { board, order, forward, .. } = self;
        order.begin_ack();
        forward.begin_ack();
        let mut deliver = |sent: &board::Sent| {
            if !sent.retransmitted {
                forward.note_original(sent.end);
            }
            order.deliver(now, sent, echo, clock);
        };
        let mut delivered = board.acknowledge(segment.ack, &mut deliver);
        for block in segment.sack.ascending(segment.ack).filter(|block| block.start > segment.ack) {
            delivered += board.report(&block, &mut deliver);
        }
        order.note_duplicate(segment.ack, flow.max, duplicate.is_some());
        self.delivered = delivered;
        delivered > 0 || duplicate.is_some()
    }

    /// As [`Recovery::next`].
    // Kept out of the way of the others, which have less to do.
    #[inline(never)]
    fn next_segment(&mut self, now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        if self.probe.due
            && let Some(probe) = self.next_probe(now, flow)
        {
            return Some(probe);
        }
        let new = flow.next_below(self.edge(flow));
        if self.board.lost() > 0 && !self.forward.holds(flow, new.is_some()) {
            return self.next_lost(now, flow);
        }
        let bytes = new?;
        self.on_sent(now, &bytes);
        self.schedule_probe(now, flow);
        Some(bytes)
    }

    /// Whether what ACKs only report opens the window too, as it is not counted again when it is acknowledged. Linux lets it once something has come
    /// more than three segments late (`tcp_may_raise_cwnd`); here any reordering will do.
    fn grows_by_reports(&self, flow: &Flow) -> bool {
        flow.params.reductions == Reductions::Linux
            && self.order.reordering_seen()
            && self.episode.is_none()
            && self.prr.is_none()
    }

    /// What opens the window of the `acked` bytes that an ACK moves its left edge by. For Linux that is what the ACK tells to have arrived, not
    /// what has been reported before: a retransmission that fills a gap behind a timeout is one segment.
    #[inline]
    fn news(&self, flow: &Flow, acked: u64) -> u64 {
        match flow.params.reductions {
            Reductions::Standard => acked,
            Reductions::Linux => self.delivered,
        }
    }

    /// Where the windows end for new data.
    #[inline]
    fn edge(&self, flow: &Flow) -> u64 {
        let room = flow.cwnd.saturating_sub(self.board.pipe());
        (flow.una + flow.rwnd).min(flow.nxt + room)
    }

    fn on_sent(&mut self, now: Time, bytes: &Range<u64>) {
        self.board.transmit(now, bytes);
        self.note_sent(bytes.end - bytes.start);
    }

    /// Counts what is sent, if the reduction is proportional.
    #[inline]
    fn note_sent(&mut self, bytes: u64) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(bytes);
        }
    }
}

/// Tells the sampler of delivery rates, if there is one, that a segment is taken for lost.
fn report_lost(delivery: &mut Option<Box<Delivery>>, sent: &board::Sent) {
    if let Some(delivery) = delivery {
        delivery.on_lost(sent.start());
    }
}

impl Recovery for Rack {
    fn begin(&mut self, flow: &Flow) {
        // In whole ticks it may be shorter than it was.
        let exact = flow.params.rto_arithmetic == RtoArithmetic::Exact;
        if let Some(round_trip) = flow.timer.estimator.srtt().filter(|_| exact) {
            self.order.note_handshake(round_trip);
        }
    }

    fn read(&mut self, now: Time, flow: &Flow, segment: &Segment) -> bool {
        if segment.sack.is_empty() && self.board.is_untouched() {
            self.read_predicted(now, flow, segment)
        } else {
            self.read_any(now, flow, segment)
        }
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        self.reconsider(now, flow, congestion);
        self.forward.proceed(flow, false, self.delivered);
        let probe = if self.waits_for_order { NEVER } else { flow.alarm };
        self.proceed(now, flow, congestion);
        // Only ACKs for new data put it off.
        if self.may_need_probe() {
            flow.alarm = probe;
        }
        if self.grows_by_reports(flow) {
            congestion.on_ack(now, flow, self.delivered);
        }
    }

    fn on_idle_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let limit = flow.limits.current();
        self.reconsider(now, flow, congestion);
        flow.limits.set(now, limit);
    }

    /// Starts the retransmission timer afresh itself, before an alarm is set by it.
    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        if flow.flight() > 0 {
            flow.timer.restart(now);
        }
        self.reconsider(now, flow, congestion);
        self.forward.proceed(flow, true, self.delivered);
        self.answer_repair(now, flow, congestion);
        let recovering = self.recovering();
        let finished = self.finish(now, flow, congestion);
        self.proceed(now, flow, congestion);
        if !recovering && !self.recovering() {
            if self.prr.is_none() {
                congestion.on_ack(now, flow, self.news(flow, acked));
            }
        } else if !finished && recovering {
            let (ack, recover) = (flow.una, self.episode.map_or(flow.max, |episode| episode.recovery_point));
            flow.trace.record(now, || EventKind::PartialAck { ack, recover });
        }
        // The wait for a probe that has not left, as its time in a paced sender had not come, begins anew too.
        self.probe.due = false;
        self.schedule_probe(now, flow);
        false
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.board.is_untouched()
            && self.episode.is_none()
            && self.prr.is_none()
            && !self.waits_for_order
            && !self.probe.is_out()
            && self.forward.is_idle()
            && self.undo.as_ref().is_none_or(|undo| !undo.spurious())
    }

    #[inline]
    fn on_quiet_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) {
        self.repaired = None;
        self.take_in_order(now, flow, flow.una);
        flow.alarm = NEVER;
        congestion.on_ack(now, flow, self.news(flow, acked));
        self.probe.due = false;
        self.schedule_probe(now, flow);
    }

    fn on_mark(&mut self, flow: &mut Flow, window: u64) {
        if flow.params.reductions == Reductions::Standard {
            return flow.shrink_for_mark(window);
        }
        self.prr = Some(Prr::begin(flow.cwnd));
        self.reduce(flow);
    }

    fn note_mark(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.note_mark();
        }
    }

    fn remember(&mut self, now: Time, flow: &Flow, congestion: &Congestion) {
        if flow.consecutive_timeouts == 1 {
            self.undo = Some(Undo::new(now, flow, congestion, true, self.sent_again(flow.una)));
        }
    }

    /// Takes for lost the first segment, and what was sent long enough ago (section 6.3).
    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        if self.recovering() {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        let afresh = self.episode.is_none() || flow.consecutive_timeouts > 1;
        let in_question = flow.params.f_rto && afresh;
        self.forward = if in_question { Forward::begin(flow) } else { Forward::default() };
        let window = self.window(flow);
        let (order, una) = (&self.order, flow.una);
        let delivery = &mut flow.delivery;
        self.board.mark_lost(|sent| {
            let lost = sent.start() <= una || order.overdue(now, sent, window);
            if lost {
                report_lost(delivery, sent);
            }
            lost
        });
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: true });
        self.prr = None;
        self.forced = true;
        self.probe.reset();
        (flow.alarm, self.waits_for_order) = (NEVER, false);
        if flow.params.reductions == Reductions::Linux {
            flow.cwnd = self.board.pipe() + flow.mss;
        }
    }

    // RFC 8985 §7.3: MUST re-arm the retransmission timer after a probe
    fn on_alarm(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let for_order = self.waits_for_order;
        if for_order {
            self.delivered = 0;
            self.proceed(now, flow, congestion);
        } else {
            flow.alarm = NEVER;
            self.probe.due = true;
        }
        if !for_order || flow.timer.deadline() <= now {
            flow.timer.restart(now);
        }
    }

    #[inline]
    fn next(&mut self, now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        // The window is full, as it is after most ACKs, once all that may go has gone.
        let full = flow.cwnd <= self.board.pipe() && self.board.lost() == 0 && !self.probe.due;
        if full { None } else { self.next_segment(now, flow) }
    }

    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        if self.board.lost() > 0 || self.probe.due { None } else { Some(self.edge(flow)) }
    }

    #[inline(always)]
    fn on_run(&mut self, now: Time, flow: &mut Flow, segments: u64) {
        let (mut start, mss) = (flow.nxt, flow.params.mss);
        self.board.make_room(segments as usize);
        for _ in 0..segments {
            self.board.push(now, start, mss);
            start += flow.mss;
        }
        self.note_sent(start - flow.nxt);
        self.schedule_probe(now, flow);
    }

    fn recovering(&self) -> bool {
        self.episode.is_some_and(|episode| !episode.after_timeout)
    }

    fn keeps_threshold(&self, flow: &Flow) -> bool {
        let goes_on = self.episode.is_some() || flow.una < flow.marked_at;
        flow.params.reductions == Reductions::Linux && self.prr.is_some() && goes_on
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::StackSpec;

    /// Twenty segments of ten bytes, sent at times 0 to 19; those of `again` are sent again later, and those of `reported` arrive.
    fn in_flight(again: &[u64], reported: &[u64]) -> (Rack, Flow) {
        let mut flow = Flow::new(StackSpec::default().resolve().expect("the default stack is possible"));
        let mut rack = Rack::default();
        let bytes = |number: u64| 10 * number..10 * number + 10;
        for number in 0..20 {
            rack.board.transmit(number, &bytes(number));
        }
        for (later, &number) in again.iter().enumerate() {
            rack.board.transmit(20 + later as Time, &bytes(number));
        }
        let Rack { board, order, .. } = &mut rack;
        for &number in reported {
            board.report(&bytes(number), |sent| order.deliver(100, sent, None, flow.timer.clock));
        }
        flow.max = 200;
        // Long enough not to bound the reordering window.
        flow.timer.estimator.sample(1000);
        (rack, flow)
    }

    /// RFC 8985 section 6.2 step 5: the timer is set for the largest of the remaining times, which need not be that of the last segment.
    #[test]
    fn the_alarm_is_for_all_that_may_be_late() {
        let (mut rack, mut flow) = in_flight(&[1, 5], &[19]);
        let Rack { board, order, .. } = &mut rack;
        board.report(&(50..60), |sent| order.deliver(110, sent, None, flow.timer.clock));
        rack.detect(110, &mut flow);
        // Segment 5, sent again at 21, took 89, and the window is a quarter of the least round trip, 81. Only segment 0 is overdue; of
        // the others segment 1, sent again at 20, has the longest time left.
        assert_eq!((rack.board.lost(), flow.alarm), (1, 20 + 89 + 20));
    }

    /// RFC 8985 section 6.2 step 4: "Else if exiting Fast or RTO recovery: RACK.reo_wnd_persist -= 1". The ACK that widens the window does
    /// not count, so that it persists for 16 recoveries.
    #[test]
    fn a_wider_window_persists_for_16_recoveries() {
        let (mut rack, flow) = in_flight(&[], &[]);
        let mut segment = Segment::default();
        segment.sack.push(0, 120..130);
        rack.read(100, &flow, &segment);
        let starting = rack.window(&flow);
        let mut segment = Segment { ack: 50, ..Segment::default() };
        segment.sack.push_duplicate(50, &(10..20));
        rack.read(100, &flow, &segment);
        rack.order.end_recovery();
        assert_eq!(rack.window(&flow), 2 * starting);
        for recovery in 1..=16 {
            rack.read(100, &flow, &Segment { ack: 50, ..Segment::default() });
            rack.order.end_recovery();
            assert_eq!(rack.window(&flow) > starting, recovery < 16, "after {recovery}");
        }
    }

    /// RFC 8985 section 7.2: an ACK for new data restarts the PTO, so a probe that was due and has not left (its time in a paced sender had
    /// not come) does not go.
    #[test]
    fn an_ack_takes_back_a_probe_that_has_not_left() {
        let (mut rack, mut flow) = in_flight(&[], &[]);
        let mut congestion = Congestion::new(flow.params.congestion_control);
        rack.on_alarm(100, &mut flow, &mut congestion);
        rack.read(110, &flow, &Segment { ack: 50, ..Segment::default() });
        flow.una = 50;
        rack.on_new_ack(110, &mut flow, &mut congestion, 50);
        assert_eq!((rack.next(110, &mut flow), flow.stats.loss_probes), (None, 0));
    }

    // RFC 8985 section 6.2 step 3 looks at what an ACK reports in ascending order.
    /// An ACK was lost, and the next one reports two blocks that are new, the newest first: that is no reordering.
    #[test]
    fn blocks_of_one_ack_are_in_the_order_of_the_data() {
        let (mut rack, flow) = in_flight(&[], &[]);
        let mut segment = Segment::default();
        for block in [120..140, 60..80] {
            segment.sack.push(0, block);
        }
        rack.read(100, &flow, &segment);
        // Four segments are reported, and nothing came late: the window is closed.
        assert_eq!((rack.board.sacked(), rack.window(&flow)), (4, 0));
        let mut late = Segment::default();
        late.sack.push(0, 30..40);
        rack.read(101, &flow, &late);
        assert!(rack.window(&flow) > 0, "what comes behind what was sent later is late");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        /// An ACK that reports nothing out of order leaves the same behind, be it predicted or not.
        #[test]
        fn a_predicted_ack_is_what_the_general_case_reads(
            before in prop::collection::vec((0u64..6, 0u64..6, 0u64..3), 0..4),
            last in 0u64..8,
            probed in any::<bool>(),
            echo in prop::option::of(0u64..120),
        ) {
            let (mut rack, mut flow) = in_flight(&[], &[]);
            if probed {
                rack.probe.on_sent(&flow, 200, true);
                rack.forward = Forward::begin(&flow);
            }
            let mut now = 100;
            for (acked, first, count) in before {
                let ack = (flow.una + 10 * acked).min(150);
                let mut segment = Segment { ack, ..Segment::default() };
                if count > 0 && first > 0 {
                    segment.sack.push(ack, ack + 10 * first..ack + 10 * (first + count));
                }
                rack.read(now, &flow, &segment);
                flow.una = ack;
                now += 7;
            }
            let timestamps = echo.map(|echo| crate::Timestamps { value: now, echo });
            let segment = Segment { ack: flow.una + 10 * last, timestamps, ..Segment::default() };
            let mut other = rack.clone();
            let untouched = rack.board.is_untouched();
            let duplicate = rack.read(now, &flow, &segment);
            prop_assert_eq!(duplicate, other.read_any(now, &flow, &segment));
            prop_assert_eq!(format!("{rack:?}"), format!("{other:?}"), "untouched: {}", untouched);
        }

        // RFC 8985 section 6.2 step 5 looks at all segments not yet acknowledged.
        #[test]
        fn no_loss_lies_behind_data_that_were_sent_later(
            again in prop::collection::vec(0u64..20, 0..4),
            reported in prop::collection::vec(1u64..20, 1..8),
            now in 100u64..140,
        ) {
            let (mut rack, mut flow) = in_flight(&again, &reported);
            let mut all = rack.clone();
            let window = all.window(&flow);
            let order = &all.order;
            all.board.mark_lost(|sent| order.remaining(now, sent, window) == Some(0));
            rack.detect(now, &mut flow);
            prop_assert_eq!((rack.board.lost(), rack.board.pipe()), (all.board.lost(), all.board.pipe()));
            prop_assert_eq!(rack.board.first_lost(), all.board.first_lost());
        }
    }
}
