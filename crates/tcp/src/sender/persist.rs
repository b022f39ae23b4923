//! A closed receive window, and its probes (RFC 9293 section 3.8.6.1).

use celltrain_engine::Time;

use super::{Sender, State};
use crate::{
    event::EventKind,
    limits::Limit,
    segment::{Flags, Segment},
};

impl Sender {
    /// What the application gives may find the window closed while nothing is under way: no ACK will tell.
    pub(super) fn begin_persisting(&mut self, now: Time) {
        if self.flow.flight() == 0 {
            self.look_at_window(now);
        }
    }

    /// Begins to probe a window that holds data back when nothing is under way, or ends that when it has opened.
    pub(super) fn look_at_window(&mut self, now: Time) {
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
                self.state = self.awake(now);
                self.flow.limits.follow(now, self.flow.window_limit());
                self.flow.timer.stop();
            }
            // It is small now: the override timeout is no longer than a first one.
            (true, State::Persisting) if flow.rwnd > 0 && self.window_probes > 0 => {
                self.window_probes = 0;
                self.flow.timer.restart(now);
            }
            _ => {}
        }
    }

    /// The state of a sender whose window has opened, or that has something to send again: the time of its next segment may not have come.
    pub(super) fn awake(&self, now: Time) -> State {
        if now < self.pacer.next() { State::Paced } else { State::Established }
    }

    /// The time to probe the window has come; the next probe waits twice as long. A window that is only small is used now: this is the
    /// override timeout of the sender's silly-window avoidance too (RFC 9293 section 3.8.6.2.1).
    pub(super) fn probe_window(&mut self, now: Time) {
        if self.flow.rwnd > 0 {
            self.state = self.awake(now);
            self.flow.overrides = true;
            return self.flow.timer.stop();
        }
        self.window_probes += 1;
        self.window_probe_due = true;
        self.flow.timer.persist(now, self.window_probes);
    }

    /// The probe of a closed window: a byte that has been acknowledged, which asks for an ACK.
    pub(super) fn window_probe(&mut self, now: Time) -> Option<Segment> {
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
        let ecn = flow.control_ecn();
        Some(Segment { seq, len: 1, flags: Flags::ACK, ecn, retransmission: true, ..self.header(now) })
    }
}
