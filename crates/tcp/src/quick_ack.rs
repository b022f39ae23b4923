//! When a receiver acknowledges at once, and how long it waits otherwise, as Linux decides it.

use celltrain_engine::{Time, time::NEVER};

use crate::{params::Params, rto::RttEstimator};

/// Segments acknowledged at once where half of the window is no whole segment.
const QUICK_ACKS_EMPTY: u32 = 2;
/// Where the receive window of Linux begins, in bytes, and the size of a segment below which it does not grow.
const WINDOW_START: u64 = 65_535;
const GROWTH_MIN: u32 = 128;
/// Segments acknowledged at once behind a congestion mark: the sender's window may be small.
const QUICK_ACKS_AT_MARK: u32 = 2;

/// What is due for a while: an ACK for each segment at the start, after a long gap, after duplicates and at marks; and a delay that
/// follows the gaps between segments.
///
/// Facts from the public sources of Linux (`tcp_event_data_recv`, `tcp_grow_window`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`,
/// `tcp_cleanup_rbuf`), in words: at most 16 ACKs at once, and no more than half the window in segments; one more for each segment that lets
/// the window grow; the delay begins at its least value,
/// goes half of the way to it where segments follow each other within half of it, and half of the way to twice a longer gap; it doubles when it
/// has passed in vain. It is never above the round trip, if the receiver has measured one.
#[derive(Debug, Clone)]
pub(crate) struct QuickAcks {
    /// Most segments that are acknowledged at once.
    limit: u32,
    /// How many of them are left.
    credit: u32,
    mss: u32,
    /// Bytes by which the receive window would still grow.
    growth: u64,
    /// The application answers what it reads: an ACK may ride on the answer.
    interactive: bool,
    /// The delay as the gaps want it, before the bounds of [`delay`](Self::delay).
    wanted: Time,
    least: Time,
    most: Time,
    /// When data arrived last; [`NEVER`] before any has.
    last: Time,
    /// SYN|ACKs sent, and when the last one left: its answer gives the round trip.
    syn_acks: u32,
    answered: Time,
    round_trip: RttEstimator,
}

impl QuickAcks {
    /// The rules of these parameters, if they ask for any.
    pub(crate) fn new(params: &Params) -> Option<Box<Self>> {
        Self::wanted_by(params).then(|| {
            Box::new(Self {
                limit: params.quick_acks,
                credit: 0,
                mss: params.mss,
                growth: if params.quick_acks_growing {
                    params.receive_window.saturating_sub(WINDOW_START)
                } else {
                    0
                },
                interactive: false,
                wanted: params.delayed_ack,
                least: params.delayed_ack,
                most: params.delayed_ack_max,
                last: NEVER,
                syn_acks: 0,
                answered: 0,
                round_trip: RttEstimator::new(params),
            })
        })
    }

    /// Whether these parameters ask for them.
    pub(crate) const fn wanted_by(params: &Params) -> bool {
        params.quick_acks > 0 || params.delayed_ack_max > params.delayed_ack
    }

    /// A SYN|ACK leaves. Of one that is sent again nothing tells which was answered (Karn's algorithm).
    pub(crate) const fn on_syn_ack(&mut self, now: Time) {
        self.syn_acks += 1;
        self.answered = now;
    }

    /// So many bytes arrived. Returns whether they should be acknowledged at once: some credit is left, or the segment is not full, which
    /// ends what somebody wrote, the application `reads` it, and nobody is expected to answer.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, window: u64, len: u32, reads: bool) -> bool {
        if self.last == NEVER {
            self.on_first(now, window);
        } else if now - self.last <= self.least / 2 {
            self.wanted = self.wanted / 2 + self.least / 2;
        } else {
            self.on_gap(now - self.last, window);
        }
        self.last = now;
        if self.growth > 0 && len >= GROWTH_MIN {
            self.growth = self.growth.saturating_sub(2 * u64::from(len));
            self.credit = self.credit.max(1);
        }
        // Most often there is no credit, and the segment is full.
        (self.credit > 0 || (len < self.mss && reads)) && !self.interactive && self.limit > 0
    }

    #[cold]
    fn on_first(&mut self, now: Time, window: u64) {
        if self.syn_acks == 1 {
            self.round_trip.sample(now - self.answered);
        }
        self.raise(self.limit, window);
    }

    /// Follows the gap between the last segment and this one, which is longer than half of the least delay.
    #[inline(never)]
    fn on_gap(&mut self, gap: Time, window: u64) {
        if gap < self.wanted {
            self.wanted = (self.wanted / 2 + gap).min(self.round_trip.rto());
        } else if gap > self.round_trip.rto() {
            // The sender begins again with a small window (RFC 5681 section 4.1).
            self.raise(self.limit, window);
        }
    }

    /// A congestion mark arrived, the first since the sender has answered one.
    pub(crate) fn on_mark(&mut self, window: u64) {
        self.enter(QUICK_ACKS_AT_MARK.min(self.limit), window);
    }

    /// A segment arrived that brought nothing new: the sender may have missed ACKs.
    pub(crate) fn on_duplicate(&mut self, window: u64) {
        self.enter(self.limit, window);
    }

    fn enter(&mut self, most: u32, window: u64) {
        self.raise(most, window);
        self.interactive = false;
        self.wanted = self.least;
    }

    /// Gives credit for up to `most` segments; credit is never taken away.
    fn raise(&mut self, most: u32, window: u64) {
        let half = u32::try_from(window / (2 * u64::from(self.mss))).unwrap_or(u32::MAX);
        let segments = if half == 0 { QUICK_ACKS_EMPTY } else { half };
        self.credit = self.credit.max(segments.min(most));
    }

    /// An ACK leaves.
    pub(crate) const fn on_ack(&mut self) {
        if self.credit == 1 {
            self.wanted = self.least;
        }
        self.credit = self.credit.saturating_sub(1);
    }

    /// Data of this end leave. Where they follow what arrived within the delay, the application answers.
    pub(crate) fn on_reply(&mut self, now: Time) {
        self.interactive |= self.last != NEVER && now - self.last < self.wanted;
    }

    /// The delay has passed, and nothing was there to carry the ACK.
    pub(crate) fn on_expiry(&mut self) {
        self.wanted =
            if self.interactive { self.least } else { (2 * self.wanted).min(self.round_trip.rto()) };
        self.interactive = false;
    }

    /// How long an ACK may wait now.
    pub(crate) fn delay(&self) -> Time {
        let round_trip = self.round_trip.srtt().map_or(self.most, |srtt| srtt.max(self.least));
        self.wanted.min(round_trip).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackSpec;

    /// `tcp_incr_quickack` of Linux: half of the window in segments, and two only where that is none.
    #[test]
    fn half_of_the_window_in_segments_is_acknowledged_at_once() {
        let spec: StackSpec = toml::from_str("stack = 'linux'").unwrap();
        let params = spec.resolve().unwrap();
        let mss = u64::from(params.mss);
        for (window, credit) in [
            (0, 2),
            (2 * mss - 1, 2),
            (2 * mss, 1),
            (4 * mss - 1, 1),
            (4 * mss, 2),
            (33 * mss, 16),
            (99 * mss, 16),
        ] {
            let mut quick = QuickAcks::new(&params).expect("Linux has quick ACKs");
            quick.raise(quick.limit, window);
            assert_eq!(quick.credit, credit, "a window of {window}");
        }
    }
}
