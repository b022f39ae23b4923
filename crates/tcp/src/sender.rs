//! The sending end of a connection.

use std::ops::Range;

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};

use crate::{
    congestion::{Congestion, CongestionControl, Feedback},
    event::{Event, EventKind},
    flow::Flow,
    limits::{Limit, Limits},
    pacing::Pacer,
    params::Params,
    recovery::{AnyRecovery, Recovery},
    segment::{Ecn, Flags, Segment, SynOptions, Timestamps},
    stats::SenderStats,
};

/// Smallest timeout for the first data after a SYN had to be repeated (RFC 6298 rule 5.7).
const RTO_AFTER_SYN_LOSS: Time = 3 * SECOND;

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
        Self {
            flow: Flow::new(params),
            congestion: Congestion::new(params.congestion_control),
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

    /// Adds `bytes` of application data; `u64::MAX` makes the application greedy. Poll afterwards.
    pub fn offer(&mut self, now: Time, bytes: u64) {
        self.flow.limits.offer(now);
        self.flow.offered = self.flow.offered.saturating_add(bytes);
    }

    /// Takes an acknowledgement. Poll afterwards. One that acknowledges data never sent is ignored (RFC 9293
    /// section 3.10.7.4).
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
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
        let duplicate = self.recovery.read(now, &self.flow, segment);
        self.flow.set_receive_window(segment.window);
        if self.flow.ecn {
            self.read_echo(segment);
        }
        if segment.ack > self.flow.una {
            self.on_new_ack(now, segment);
        } else if self.state == State::Persisting {
            // The answer to a probe may report it as a duplicate, which says nothing about losses.
            self.look_at_window(now);
        } else if duplicate {
            self.on_duplicate_ack(now);
        }
        if self.flow.echoed {
            self.on_echo(now);
        }
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
            self.recovery.on_alarm(now, &mut self.flow, &mut self.congestion);
        }
        if now < self.flow.timer.deadline() {
            return;
        }
        if self.state == State::Persisting {
            return self.probe_window(now);
        }
        if self.release() {
            return;
        }
        self.flow.stats.timeouts += 1;
        self.flow.consecutive_timeouts += 1;
        if self.state >= State::Established {
            self.flow.limits.expire(now, self.last_sent);
        }
        self.pacer.reset();
        if self.state < State::Established {
            self.state = State::Closed;
            self.syn_lost = true;
            self.flow.timer.forget_timed_segment();
            self.flow.timer.estimator.back_off();
            return self.flow.timer.stop();
        }
        if self.recovery.recovering() {
            // What duplicate ACKs have inflated the window by has left the network.
            self.flow.cwnd = self.flow.cwnd.min(self.flow.ssthresh);
        }
        self.recovery.remember(&self.flow, &self.congestion);
        let ssthresh = self.congestion.on_timeout(&self.flow);
        self.flow.time_out(now, ssthresh);
        self.recovery.on_timeout(now, &mut self.flow);
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
    fn release(&mut self) -> bool {
        if self.state != State::Held {
            return false;
        }
        self.state = State::Established;
        let idle = self.flow.flight() == 0;
        if idle {
            self.flow.timer.estimator.back_off();
            self.flow.timer.stop();
        }
        idle
    }

    /// The next segment to send, if any may go. Call it until it returns `None` after each event.
    #[inline]
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if self.state != State::Established && !self.wait_is_over(now) {
            return self.poll_other(now);
        }
        let bytes = if self.flow.resend_first {
            self.flow.resend_first = false;
            self.flow.first_segment()
        } else {
            self.restart_if_idle(now);
            self.recovery.next(now, &mut self.flow)?
        };
        Some(self.send(now, bytes))
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if the timer runs.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        let mut deadline = self.flow.timer.deadline().min(self.flow.alarm);
        if self.state == State::Paced {
            deadline = deadline.min(self.pacer.next());
        }
        (deadline != NEVER).then_some(deadline)
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
    pub const fn params(&self) -> &Params {
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
    }

    /// The events since the last call, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.flow.trace.take()
    }

    // RFC 6298 §5: RECOMMENDED to restart the timer on an ACK for new data (5.3)
    fn on_new_ack(&mut self, now: Time, segment: &Segment) {
        let acked = segment.ack - self.flow.una;
        self.flow.advance(segment.ack);
        self.measure(now, segment, acked);
        let restarts = self.recovery.on_new_ack(now, &mut self.flow, &mut self.congestion, acked);
        if self.flow.flight() == 0 {
            self.on_all_acknowledged(now);
        } else if restarts {
            self.flow.timer.restart(now);
        }
        let (cwnd, ssthresh) = (self.flow.cwnd, self.flow.ssthresh);
        self.flow.trace.record(now, || EventKind::Acknowledged { ack: segment.ack, cwnd, ssthresh });
    }

    // RFC 6298 §5: RECOMMENDED to stop the timer when all is acknowledged (5.2)
    /// Stops the timer (RFC 6298 rule 5.2), unless it says when the next segment may go.
    fn on_all_acknowledged(&mut self, now: Time) {
        if self.flow.una == self.flow.offered {
            self.flow.limits.set(now, Limit::Application);
            self.state = State::Established;
        }
        if self.state != State::Held {
            self.flow.timer.stop();
            self.look_at_window(now);
        }
    }

    /// Begins to probe a window that holds data back when nothing is under way, or ends that when it has opened.
    fn look_at_window(&mut self, now: Time) {
        let flow = &self.flow;
        let closed = flow.una < flow.offered && flow.next_below(flow.una + flow.rwnd).is_none();
        // What Nagle's algorithm or the application holds back is no matter of the window.
        let closed = closed && flow.rwnd < flow.mss.min(flow.offered - flow.una);
        match (closed, self.state) {
            (true, State::Established | State::Paced) => {
                self.state = State::Persisting;
                self.window_probes = 0;
                self.flow.limits.set(now, Limit::ReceiveWindow);
                self.flow.timer.restart(now);
            }
            (false, State::Persisting) => {
                self.state = State::Established;
                if flow.cwnd < flow.rwnd {
                    self.flow.limits.set(now, Limit::CongestionWindow);
                }
                self.flow.timer.stop();
            }
            _ => {}
        }
    }

    /// The time to probe the window has come; the next probe waits twice as long.
    fn probe_window(&mut self, now: Time) {
        self.window_probes += 1;
        self.window_probe_due = true;
        self.flow.timer.persist(now, self.window_probes);
    }

    /// The probe of a closed window: a byte that has been acknowledged, which asks for an ACK.
    fn window_probe(&mut self, now: Time) -> Option<Segment> {
        if !std::mem::take(&mut self.window_probe_due) {
            return None;
        }
        let flow = &mut self.flow;
        flow.stats.segments += 1;
        flow.stats.bytes += 1;
        flow.stats.retransmitted_segments += 1;
        flow.stats.retransmitted_bytes += 1;
        flow.stats.window_probes += 1;
        let seq = flow.una - 1;
        flow.trace.record(now, || EventKind::WindowProbe { seq });
        Some(Segment { seq, len: 1, flags: Flags::ACK, retransmission: true, ..self.header(now) })
    }

    // RFC 5681 §3.2: SHOULD send new data on the first and second duplicate ACK
    // RFC 5681 §3.2: MUST NOT change cwnd for these two segments
    // RFC 5681 §3.2: MUST NOT send new data under SACK unless the duplicate ACK reports something new
    fn on_duplicate_ack(&mut self, now: Time) {
        self.flow.stats.duplicate_acks += 1;
        self.flow.duplicates += 1;
        let (ack, count) = (self.flow.una, self.flow.duplicates);
        self.flow.trace.record(now, || EventKind::DuplicateAck { ack, count });
        self.recovery.on_duplicate_ack(now, &mut self.flow, &mut self.congestion);
        if self.flow.params.limited_transmit && count <= 2 && !self.recovery.recovering() {
            self.flow.allowance = u64::from(count) * self.flow.mss;
        }
    }

    // RFC 6298 §3: MUST take one round-trip sample per round trip at least
    /// Takes the round-trip measurement that a new ACK gives: from its timestamps, where any segment will do,
    /// or from the timed segment (RFC 7323 section 4.1, RFC 6298 section 3).
    #[inline]
    fn measure(&mut self, now: Time, segment: &Segment, acked: u64) {
        let timer = &mut self.flow.timer;
        if let Some(timestamps) = segment.timestamps {
            let rtt = timer.clock.since(timestamps.echo, now);
            // Every second segment is acknowledged, as a rule (RFC 7323 appendix G).
            let samples = (self.flow.flight() + acked).div_ceil(2 * self.flow.mss).max(1);
            self.on_sample(now, rtt, samples);
        } else if let Some(rtt) = timer.finish_timing(now, segment.ack) {
            self.on_sample(now, rtt, 1);
        }
    }

    #[inline(never)]
    fn on_sample(&mut self, now: Time, rtt: Time, samples: u64) {
        let timer = &mut self.flow.timer;
        timer.estimator.sample_of(rtt, samples);
        self.flow.stats.rtt_samples += 1;
        let estimator = timer.estimator;
        if let Some(hystart) = &mut self.flow.hystart {
            hystart.on_sample(rtt);
        }
        self.flow.trace.record(now, || EventKind::RttSample {
            rtt,
            srtt: estimator.srtt().unwrap_or(rtt),
            rttvar: estimator.rttvar().unwrap_or(0),
            rto: estimator.rto(),
        });
    }

    /// Reads the ECN-Echo bit of an ACK.
    fn read_echo(&mut self, segment: &Segment) {
        let feedback =
            Feedback { acked: segment.ack - self.flow.una, marked: segment.flags.contains(Flags::ECE) };
        self.flow.echoed = feedback.marked;
        self.congestion.on_feedback(&self.flow, feedback);
    }

    // RFC 3168 §6.1.2: MUST reset the timer on ECN-Echo when the window is one segment, and send when it expires
    // RFC 9438 §4.6: MUST reduce the rate further at a window of one segment
    /// Reduces the window for an echoed congestion mark, once a round trip, and not on top of a reduction for
    /// a loss (RFC 3168 section 6.1.2).
    fn on_echo(&mut self, now: Time) {
        self.flow.echoed = false;
        let news = self.flow.reduced_at.is_none_or(|sent| self.flow.una > sent);
        if !news || self.recovery.recovering() {
            return;
        }
        if self.flow.cwnd == self.flow.mss && self.flow.una < self.flow.offered {
            // Less than a segment a round trip: the next one waits for the timer.
            self.state = State::Held;
            self.flow.timer.restart(now);
        }
        let window = self.congestion.on_mark(&self.flow);
        self.flow.answer_mark(now, window);
    }

    // RFC 5681 §4.1: SHOULD set cwnd to no more than RW after an idle RTO
    /// Notes that nothing was outstanding when there is something to send again; closes the window to the initial one if
    /// nothing was sent for longer than the timeout (RFC 5681 section 4.1).
    fn restart_if_idle(&mut self, now: Time) {
        let flow = &mut self.flow;
        if flow.flight() > 0 || flow.offered == flow.max || self.last_sent == NEVER {
            return;
        }
        self.congestion.on_limited(now);
        let idle = now - self.last_sent;
        if !flow.params.idle_restart || idle <= flow.timer.estimator.rto() {
            return;
        }
        flow.cwnd = flow.cwnd.min(u64::from(flow.params.initial_window) * flow.mss);
        flow.stats.idle_restarts += 1;
        // One restart an idle period, even if what is there is not worth sending yet.
        self.last_sent = NEVER;
        let cwnd = flow.cwnd;
        flow.trace.record(now, || EventKind::IdleRestart { idle, cwnd });
    }

    // RFC 3168 §6.1.2: SHOULD use ECT(0)
    // RFC 3168 §6.1.2: SHOULD set CWR only on the first new data packet after a reduction
    // RFC 3168 §6.1.2: SHOULD NOT set CWR on retransmissions
    // RFC 3168 §6.1.5: MUST NOT set ECT on retransmissions
    // Not RFC 8257 §4.1: RECOMMENDED to have a knob for ECT on control packets (no experiment has asked for it)
    /// Makes the segment of `bytes` and counts it as sent.
    fn send(&mut self, now: Time, bytes: Range<u64>) -> Segment {
        let flow = &mut self.flow;
        let len = (bytes.end - bytes.start) as u32;
        let retransmission = bytes.start < flow.max;
        flow.stats.segments += 1;
        flow.stats.bytes += u64::from(len);
        if retransmission {
            flow.stats.retransmitted_segments += 1;
            flow.stats.retransmitted_bytes += bytes.end.min(flow.max) - bytes.start;
            flow.timer.forget_timed_segment();
        } else if !flow.params.timestamps {
            flow.timer.time_segment(now, bytes.end);
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
            flow.trace.record(now, || EventKind::LimitedTransmit { seq });
        }
        // New data only is ECN-capable and tells of a reduction (RFC 3168 sections 6.1.2 and 6.1.5).
        let ecn = if flow.ecn && !retransmission { Ecn::Ect0 } else { Ecn::NotEct };
        let mut flags = Flags::ACK;
        if !retransmission && std::mem::take(&mut flow.cwr_owed) {
            flags |= Flags::CWR;
        }
        Segment { seq, len, flags, ecn, retransmission, ..self.header(now) }
    }

    /// What every segment of this end carries.
    fn header(&self, now: Time) -> Segment {
        let params = &self.flow.params;
        let timestamps = Timestamps { value: self.flow.timer.clock.read(now), echo: self.peer_clock };
        Segment {
            window: params.receive_window,
            timestamps: params.timestamps.then_some(timestamps),
            ..Segment::default()
        }
    }

    // RFC 3168 §6.1.1: MUST NOT set ECT on SYN or SYN|ACK
    // RFC 3168 §6.1.1: SHOULD clear ECE and CWR in the SYN of a host that does not use ECN
    // Not RFC 8257 §3.6: SHOULD set ECT on SYN and SYN|ACK (RFC 3168 forbids it, and a SYN here is never queued behind data)
    /// What goes in a state in which data may not: the SYN, or a probe.
    fn poll_other(&mut self, now: Time) -> Option<Segment> {
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
        let setup = if self.flow.ecn { Flags::ECN_SETUP } else { Flags::NONE };
        let flags = Flags::SYN | setup;
        Some(Segment { flags, syn: Some(SynOptions::new(self.params())), ..self.header(now) })
    }

    // RFC 5681 §3.1: MUST NOT let SYN|ACK and its acknowledgement open the window
    // RFC 5681 §3.1: MUST begin with one segment after a lost SYN
    // RFC 6298 §5: MUST raise the RTO to 3 seconds after a lost SYN
    // RFC 3168 §6.1.1: SHOULD NOT set ECT after a SYN|ACK that does not agree to ECN
    fn on_syn_ack(&mut self, now: Time, segment: &Segment) {
        if self.state >= State::Established {
            return;
        }
        self.state = State::Established;
        self.flow.limits.set(now, Limit::CongestionWindow);
        // The answer to an ECN setup has ECE alone; both bits would be a reflection by a host that ignores them.
        self.flow.ecn &= segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::CWR);
        self.flow.rwnd = segment.window;
        self.flow.rwnd_max = segment.window;
        self.flow.consecutive_timeouts = 0;
        self.flow.timer.stop();
        self.measure(now, segment, 0);
        if self.syn_lost {
            // RFC 6298 rule 5.7 and RFC 5681 section 3.1.
            self.flow.timer.estimator.raise(RTO_AFTER_SYN_LOSS);
            self.flow.cwnd = self.flow.mss;
        }
    }
}
