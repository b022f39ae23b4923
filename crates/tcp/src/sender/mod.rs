//! The sending end of a connection.

mod ack;
mod handshake;
mod persist;
mod predicted;
mod samples;
mod send;

use std::sync::Arc;

use celltrain_engine::{Time, random::Generator, time::NEVER};

use crate::{
    congestion::{Congestion, CongestionControl},
    event::Event,
    flow::Flow,
    limits::{Limit, Limits},
    pacing::Pacer,
    params::Params,
    recovery::{AnyRecovery, Recovery},
    segment::{Flags, Outlet, Segment},
    stats::SenderStats,
};

/// The windows of a sender, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Congestion window, with what fast recovery inflates it by.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged (FlightSize).
    pub flight: u64,
    /// Window that the receiver advertises.
    pub rwnd: u64,
}

/// How far the opening of the connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum State {
    /// The SYN is to be sent, again after a timeout.
    Closed,
    /// The SYN is under way.
    SynSent,
    Established,
    /// The next segment waits for its time.
    Paced,
    /// The receiver's window is closed, and the timer is for a probe of it (RFC 9293 section 3.8.6.1).
    Persisting,
    /// A congestion mark came while the window was one segment: nothing goes before the timer expires (RFC 3168 section
    /// 6.1.2).
    Held,
}

/// The sending end of a connection: data goes one way, acknowledgements come back.
///
/// It has no clock and no network. Its owner tells it what happened ([`on_segment`](Self::on_segment),
/// [`on_timeout`](Self::on_timeout), [`offer`](Self::offer)), each time with the present time, which must not
/// go backwards; takes out segments after each of these with [`poll_segment`](Self::poll_segment) until there
/// is none; and calls [`on_timeout`](Self::on_timeout) at [`next_timeout`](Self::next_timeout).
#[derive(Debug, Clone)]
pub struct Sender {
    flow: Flow,
    congestion: Congestion,
    recovery: AnyRecovery,
    pacer: Pacer,
    /// Probes of a closed window since it closed, and whether one is due.
    window_probes: u32,
    window_probe_due: bool,
    state: State,
    /// Whether nobody looks at each segment that leaves.
    plain: bool,
    /// Whether the SYN timed out.
    syn_lost: bool,
    /// TSval of the last segment received, to be echoed.
    peer_clock: Time,
    /// When data left last; [`NEVER`] before any has.
    last_sent: Time,
}

impl Sender {
    /// A sender with nothing to send yet.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self::sharing(&Arc::new(*params))
    }

    /// As [`Sender::new`], with parameters that many may share.
    #[must_use]
    pub fn sharing(params: &Arc<Params>) -> Self {
        let mut flow = Flow::new(Arc::clone(params));
        let mut congestion = Congestion::new(params.congestion_control);
        congestion.begin(0, &mut flow);
        Self {
            plain: Self::is_plain(params, &flow),
            flow,
            congestion,
            recovery: AnyRecovery::new(params.recovery),
            pacer: Pacer::default(),
            window_probes: 0,
            window_probe_due: false,
            state: if params.syn_exchange { State::Closed } else { State::Established },
            syn_lost: false,
            peer_clock: 0,
            last_sent: NEVER,
        }
    }

    /// Gives the sender the generator of the random numbers that some congestion controls draw (when BBR probes); without one,
    /// all senders draw the same.
    pub fn seed(&mut self, generator: Generator) {
        self.congestion.seed(generator);
    }

    /// Adds `bytes` of application data; `u64::MAX` makes the application greedy. Poll afterwards.
    ///
    /// # Panics
    /// If it has closed the connection.
    pub fn offer(&mut self, now: Time, bytes: u64) {
        assert!(!self.flow.closed, "nothing is offered behind a FIN");
        self.flow.limits.offer(now, self.flow.window_limit());
        self.flow.check_app_limited();
        self.flow.offered = self.flow.offered.saturating_add(bytes);
        self.await_pace(now);
        self.begin_persisting(now);
    }

    /// The application closes the connection after what it has offered: where FINs are sent, one goes behind the last byte. Nothing is
    /// taken after it. A greedy application has no last byte until it [stops](Self::stop). Poll afterwards.
    pub fn close(&mut self, now: Time) {
        let flow = &mut self.flow;
        if !flow.params.fin || flow.closed || flow.offered == u64::MAX {
            return;
        }
        flow.limits.offer(now, flow.window_limit());
        flow.offered += 1;
        flow.closed = true;
        self.await_pace(now);
        self.begin_persisting(now);
    }

    /// There is something to send again, for which the time of the next segment may not have come.
    fn await_pace(&mut self, now: Time) {
        if self.state == State::Established {
            self.state = self.awake(now);
        }
    }

    /// The application stops: what it would still have written, having offered without end, is never sent. What was sent, and
    /// a finite amount that was offered, is delivered. Poll afterwards.
    pub fn stop(&mut self, now: Time) {
        if self.flow.offered < u64::MAX {
            return;
        }
        self.flow.offered = self.flow.max;
        self.flow.check_app_limited();
        if self.is_done() && self.state >= State::Established {
            self.on_all_acknowledged(now);
        }
    }

    /// Takes an acknowledgement. Poll afterwards. One that acknowledges data never sent is ignored (RFC 9293
    /// section 3.10.7.4).
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if self.predicts(segment) {
            self.take_predicted(now, segment);
        } else {
            self.on_any_segment(now, segment);
        }
    }

    /// As [`on_segment`](Self::on_segment), whatever the ACK says.
    #[inline(never)]
    fn on_any_segment(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.contains(Flags::ACK) || segment.ack > self.flow.max {
            return;
        }
        if let Some(timestamps) = segment.timestamps {
            self.peer_clock = self.peer_clock.max(timestamps.value);
        }
        if segment.flags.contains(Flags::SYN) {
            return self.on_syn_ack(now, segment);
        }
        if self.state < State::Established || segment.ack < self.flow.una {
            return;
        }
        self.flow.stats.acks += 1;
        if self.flow.delivery.is_some() {
            self.read_delivery(now, segment);
        }
        let duplicate = self.recovery.read(now, &self.flow, segment);
        self.flow.set_receive_window(segment.window);
        if self.flow.ecn {
            self.read_echo(now, segment);
        }
        if segment.ack > self.flow.una {
            self.on_new_ack(now, segment);
        } else {
            self.on_old_ack(now, segment, duplicate);
        }
        if self.flow.echoed {
            self.on_echo(now);
        }
        self.flow.limits.follow(now, self.flow.window_limit());
    }

    /// Tells the sender that its timer may have expired; it does nothing before
    /// [`next_timeout`](Self::next_timeout). Poll afterwards.
    pub fn on_timeout(&mut self, now: Time) {
        self.expire(now);
        // The time of a paced segment is over even if its owner does not poll for it yet: no timer may stay where it is.
        self.wait_is_over(now);
    }

    /// Handles what has expired of the timers that stand for something.
    fn expire(&mut self, now: Time) {
        if now >= self.flow.alarm {
            self.flow.check_app_limited();
            self.recovery.on_alarm(now, &mut self.flow, &mut self.congestion);
            self.report_losses(now);
        }
        if now < self.flow.timer.deadline() {
            return;
        }
        if self.state == State::Persisting {
            return self.probe_window(now);
        }
        if self.release(now) {
            return;
        }
        self.flow.stats.timeouts += 1;
        self.flow.consecutive_timeouts += 1;
        if self.state < State::Established {
            return self.repeat_syn(now);
        }
        self.time_out(now);
    }

    /// The retransmission timer has expired: what was sent is lost, as far as is known.
    fn time_out(&mut self, now: Time) {
        self.flow.check_app_limited();
        self.flow.limits.expire(now, self.last_sent);
        self.pacer.reset();
        if self.recovery.recovering() {
            // What duplicate ACKs have inflated the window by has left the network.
            self.flow.cwnd = self.flow.cwnd.min(self.flow.ssthresh);
        }
        let keeps_threshold = self.recovery.keeps_threshold(&self.flow);
        if !keeps_threshold {
            self.recovery.remember(now, &self.flow, &self.congestion);
        }
        let reduced = self.congestion.on_timeout(&self.flow);
        let ssthresh = if keeps_threshold { self.flow.ssthresh } else { reduced };
        self.flow.time_out(now, ssthresh);
        self.recovery.on_timeout(now, &mut self.flow);
        self.flow.resend_beyond_window();
        if self.congestion.sets_window() {
            self.flow.admit_one_more();
        }
        self.flow.limits.follow(now, self.flow.window_limit());
        self.report_losses(now);
    }

    /// Whether a segment that waited for its time may go.
    fn wait_is_over(&mut self, now: Time) -> bool {
        let over = self.state == State::Paced && now >= self.pacer.next();
        if over {
            self.state = State::Established;
        }
        over
    }

    /// Lets a sender that waits at a window of one segment send again, more slowly if it is marked again; false if data is
    /// outstanding, whose timeout it is.
    fn release(&mut self, now: Time) -> bool {
        if self.state != State::Held {
            return false;
        }
        self.state = State::Established;
        let idle = self.flow.flight() == 0;
        if idle {
            self.flow.timer.estimator.back_off();
            self.flow.timer.stop();
            self.look_at_window(now);
        }
        idle
    }

    /// The next segment to send, if any may go. Call it until it returns `None` after each event.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_segment`](Self::poll_segment), but writes the segment where it is needed, and returns whether there is one.
    #[inline]
    pub fn poll_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        let run = self.send_run(now, 1, segment);
        run.segments > 0 || (!run.is_all && self.poll_any_into(now, segment))
    }

    /// Sends all that may go now, as polling would.
    #[inline(always)]
    pub fn send_all(&mut self, now: Time, outlet: &mut impl Outlet) {
        while !self.send_run(now, u64::MAX, outlet).is_all {
            let mut segment = Segment::default();
            if !self.poll_any_into(now, &mut segment) {
                break;
            }
            outlet.send(|place| *place = segment);
        }
    }

    /// As [`poll_into`](Self::poll_into), whatever there is to send.
    #[inline(never)]
    fn poll_any_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        if self.state != State::Established && !self.wait_is_over(now) {
            let Some(other) = self.poll_other(now) else {
                if self.state == State::Paced {
                    self.note_all_sent(now, false);
                }
                return false;
            };
            *segment = other;
            return true;
        }
        let bytes = if std::mem::take(&mut self.flow.resend_first) {
            self.flow.first_segment()
        } else {
            if self.flow.flight() == 0 {
                self.restart_if_idle(now);
            }
            let Some(bytes) = self.recovery.next(now, &mut self.flow) else {
                self.note_all_sent(now, true);
                return false;
            };
            bytes
        };
        self.send(now, bytes, segment);
        true
    }

    /// Nothing goes now: the application limits, if all that it has offered was sent and nothing has to be sent again (RFC 4898,
    /// SndLimTransSnd). So it does where the `windows` alone are in question and let the rest go, which Nagle's algorithm holds.
    fn note_all_sent(&mut self, now: Time, windows: bool) {
        let flow = &mut self.flow;
        let edge = || self.recovery.edge_of_new(flow).unwrap_or_else(|| flow.window_edge());
        let all = flow.nxt == flow.offered || windows && flow.offered <= edge();
        if all && flow.nxt == flow.max && flow.una >= flow.timed_out_end && !self.recovery.recovering() {
            flow.limits.set(now, Limit::Application);
        }
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if the timer runs.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.deadline()).filter(|&deadline| deadline != NEVER)
    }

    /// As [`next_timeout`](Self::next_timeout); [`NEVER`] if no timer runs.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        let timers = self.flow.timer.deadline().min(self.flow.alarm);
        if self.state == State::Paced { timers.min(self.pacer.next()) } else { timers }
    }

    /// The present windows.
    #[must_use]
    pub const fn window(&self) -> Window {
        Window {
            cwnd: self.flow.cwnd,
            ssthresh: self.flow.ssthresh,
            flight: self.flow.flight(),
            rwnd: self.flow.rwnd,
        }
    }

    /// The byte after the highest ever sent.
    pub(crate) const fn sent_up_to(&self) -> u64 {
        self.flow.max
    }

    /// What it has done so far.
    #[must_use]
    pub const fn stats(&self) -> &SenderStats {
        &self.flow.stats
    }

    /// What has limited it until `now`, as time spent.
    #[must_use]
    pub fn limits(&self, now: Time) -> Limits {
        self.flow.limits.until(now)
    }

    /// What it was built from.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.flow.params
    }

    /// Whether everything offered so far is acknowledged.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.flow.una == self.flow.offered
    }

    /// Switches the collection of events on or off; it is off at first.
    pub fn trace(&mut self, on: bool) {
        self.flow.trace.set(on);
        self.plain = Self::is_plain(&self.flow.params, &self.flow);
    }

    /// The events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.flow.trace.take()
    }
}
