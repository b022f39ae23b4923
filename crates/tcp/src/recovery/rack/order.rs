//! What RACK knows about the order of deliveries: the segment sent last of those delivered, and how long to wait for others
//! that were sent before it (RFC 8985 section 6.2, steps 1 to 4).

use celltrain_engine::{Time, time::NEVER};

use super::board::Sent;
use crate::{flow::DUP_THRESH, rto::Clock};

/// Recoveries after which a wider reordering window shrinks again.
const PERSIST: u32 = 16;

/// The variables of RFC 8985 section 5.3, with the names it gives them.
#[derive(Debug, Clone)]
pub(super) struct Order {
    xmit_ts: Time,
    end_seq: u64,
    rtt: Time,
    min_rtt: Time,
    /// The time of transmission that `rtt` belongs to, within one ACK.
    sampled_ts: Time,
    /// What `xmit_ts`, `end_seq` and `rtt` would be without retransmissions.
    original: (Time, u64, Time),
    fack: u64,
    reordering_seen: bool,
    dsack_round: Option<u64>,
    /// The ACK being read began a round with a duplicate.
    widened: bool,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            xmit_ts: 0,
            end_seq: 0,
            rtt: 0,
            min_rtt: NEVER,
            sampled_ts: 0,
            original: (0, 0, 0),
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            widened: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
        }
    }
}

impl Order {
    /// Another ACK begins.
    pub(super) const fn begin_ack(&mut self) {
        (self.sampled_ts, self.widened) = (0, false);
    }

    /// The round trip of the handshake counts as any other (step 1).
    pub(super) fn note_handshake(&mut self, round_trip: Time) {
        self.min_rtt = self.min_rtt.min(round_trip);
    }

    // Not RFC 8985 §6.2: SHOULD track a windowed minimum of round trips (the minimum of the connection is kept)
    /// Takes a segment that an ACK says has arrived (steps 1 to 3); `echo` is the ACK's timestamp, by `clock`.
    pub(super) fn deliver(&mut self, now: Time, sent: &Sent, echo: Option<Time>, clock: Clock) {
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if sent.end < self.fack && !sent.retransmitted {
            self.reordering_seen = true;
        }
        let rtt = now - sent.at;
        let sent_at = clock.read(sent.at);
        // Before any round trip was measured only a timestamp can tell which of the transmissions has arrived.
        let ambiguous = match self.min_rtt {
            NEVER => echo.is_none_or(|echo| echo < sent_at),
            least => echo.is_some_and(|echo| echo < sent_at) || rtt < least,
        };
        if sent.retransmitted && ambiguous {
            return;
        }
        self.min_rtt = self.min_rtt.min(rtt);
        if sent.at >= self.sampled_ts {
            (self.sampled_ts, self.rtt) = (sent.at, rtt);
        }
        if (sent.at, sent.end) > (self.xmit_ts, self.end_seq) {
            (self.xmit_ts, self.end_seq) = (sent.at, sent.end);
        }
        if !sent.retransmitted {
            let (at, end, _) = self.original;
            self.original =
                if (sent.at, sent.end) > (at, end) { (sent.at, sent.end, rtt) } else { (at, end, rtt) };
        }
    }

    // RFC 8985 §3.3.2: SHOULD widen the reordering window when duplicates are reported
    // RFC 8985 §4: RECOMMENDED to adapt it so
    /// Widens the reordering window once in a round trip in which a duplicate was reported: a retransmission was not needed
    /// (step 4). `max` is what has been sent.
    pub(super) fn note_duplicate(&mut self, una: u64, max: u64, duplicate: bool) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if duplicate && self.dsack_round.is_none() {
            self.dsack_round = Some(max);
            self.widened = true;
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// Nothing had been lost, so what was missing came late: what ACKs were taken to say of retransmissions, they said of the originals. If
    /// others that were sent later had come before it, that is reordering, which step 3 cannot see, as it was sent again.
    pub(super) const fn note_late(&mut self, reordered: bool) {
        self.reordering_seen |= reordered;
        (self.xmit_ts, self.end_seq, self.rtt) = self.original;
    }

    /// A recovery has ended: one of those after which the window shrinks, unless the same ACK widened it.
    pub(super) const fn end_recovery(&mut self) {
        if self.widened {
            return;
        }
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    // RFC 8985 §3.3.2: SHOULD wait for nothing before reordering is seen, in recovery or with three segments reported
    // RFC 8985 §3.3.2: MUST bound the reordering window, by SRTT
    /// RACK.reo_wnd. Before anything was delivered there is no round trip, and no time to wait; what was reported may be the first to tell of one.
    pub(super) fn window(&self, srtt: Option<Time>, recovering: bool, sacked: u32) -> Time {
        let known = self.min_rtt < NEVER;
        if !known || !self.reordering_seen && (recovering || sacked >= DUP_THRESH) {
            return 0;
        }
        (self.min_rtt / 4).saturating_mul(self.reo_wnd_mult).min(srtt.unwrap_or(NEVER))
    }

    /// Whether something has ever come late.
    pub(super) const fn reordering_seen(&self) -> bool {
        self.reordering_seen
    }

    /// Whether a segment that was sent later than `sent` has been delivered.
    pub(super) fn overtakes(&self, sent: &Sent) -> bool {
        (self.xmit_ts, self.end_seq) > (sent.at, sent.end)
    }

    /// How long from `now` on a segment may still arrive, if one that was sent later has been delivered (step 5).
    pub(super) fn remaining(&self, now: Time, sent: &Sent, window: Time) -> Option<Time> {
        self.overtakes(sent)
            .then(|| sent.at.saturating_add(self.rtt).saturating_add(window).saturating_sub(now))
    }

    /// Whether a segment is overdue when the retransmission timer expires (section 6.3).
    pub(super) const fn overdue(&self, now: Time, sent: &Sent, window: Time) -> bool {
        sent.at.saturating_add(self.rtt).saturating_add(window) <= now
    }
}
