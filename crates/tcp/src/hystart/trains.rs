//! HyStart as Linux has it (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011): the first slow start ends at once when a train of
//! ACKs is as long as half a round trip, or when round trips have grown.
//!
//! Facts from the public sources of Linux 6.18 (`hystart_update`, `hystart_ack_delay`), in words.

use celltrain_engine::{
    Time,
    time::{MILLISECOND, NEVER},
};

use super::{SAMPLES_MIN, Seen, grown};
use crate::params::Params;

/// Segments of a window below which nothing is looked at.
const WINDOW_MIN: u64 = 16;
/// ACKs that follow each other within this time are of one train.
const TRAIN_GAP: Time = 2 * MILLISECOND;
/// What a sender puts together before it sends, in bytes, and the longest time that this may explain.
const BATCH: u64 = 4 * 65_536;
const BATCH_MAX: Time = MILLISECOND;

/// What is known of the present round of a first slow start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trains {
    /// The window below which nothing is looked at, in bytes.
    window_min: u64,
    /// Whether the sender spreads a window over half a round trip by itself.
    paced: bool,
    /// What had been sent when this round began.
    round_end: u64,
    began: Time,
    /// When the last ACK of the train came.
    last: Time,
    /// Shortest round trip of the connection, and of this round; [`NEVER`] without a sample.
    shortest: Time,
    current: Time,
    samples: u32,
    /// Slow start is over.
    over: bool,
}

impl Trains {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            window_min: WINDOW_MIN * u64::from(params.mss),
            paced: params.pacing,
            round_end: 0,
            began: 0,
            last: 0,
            shortest: NEVER,
            current: NEVER,
            samples: 0,
            over: false,
        }
    }

    /// Takes the measurement of a round trip, of an ACK that has moved the left edge of the window.
    pub(super) fn on_round_trip(&mut self, now: Time, rtt: Time, seen: Seen) {
        self.shortest = self.shortest.min(rtt);
        if !seen.slow_start {
            return;
        }
        if seen.una > self.round_end {
            (self.round_end, self.began, self.last) = (seen.sent, now, now);
            (self.current, self.samples) = (NEVER, 0);
        }
        if seen.cwnd >= self.window_min {
            self.over |= self.train_is_long(now, seen.cwnd) || self.round_trips_grow(rtt);
        }
    }

    /// Whether slow start is over.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the ACKs that came close upon each other since the round began show that the path is full.
    fn train_is_long(&mut self, now: Time, cwnd: u64) -> bool {
        if now - self.last > TRAIN_GAP {
            return false;
        }
        self.last = now;
        let batch = BATCH.saturating_mul(self.shortest) / (2 * cwnd);
        let threshold = self.shortest + batch.min(BATCH_MAX);
        now - self.began > if self.paced { threshold } else { threshold / 2 }
    }

    /// Whether the shortest round trip of this round is clearly longer than that of the connection.
    fn round_trips_grow(&mut self, rtt: Time) -> bool {
        self.current = self.current.min(rtt);
        if self.samples < SAMPLES_MIN {
            self.samples += 1;
            return false;
        }
        self.current > grown(self.shortest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackSpec;

    const RTT: Time = 40 * MILLISECOND;

    /// What looks at a connection with the default stack, paced or not, and the size of its segments.
    fn trains(pacing: bool) -> (Trains, u64) {
        let params = StackSpec::default().resolve().expect("the default stack is possible");
        (Trains::new(&Params { pacing, ..params }), params.mss.into())
    }

    /// A window of so many segments, all of them in flight.
    fn window(segments: u64, slow_start: bool) -> Seen {
        let (_, mss) = trains(false);
        Seen { una: 0, sent: segments * mss, cwnd: segments * mss, slow_start }
    }

    /// A round of ACKs, one for each segment behind `seen.una`, `gap` apart from 0 on; returns the number of the first at which slow start
    /// is over.
    fn round(trains: &mut Trains, mut seen: Seen, gap: Time, rtt: Time) -> Option<u64> {
        let mss = trains.window_min / WINDOW_MIN;
        (1..=seen.cwnd / mss).find(|number| {
            seen.una += mss;
            trains.on_round_trip((number - 1) * gap, rtt, seen);
            trains.is_over()
        })
    }

    /// The threshold is half of 41 ms: of ACKs a millisecond apart, the 22nd comes 21 ms after the first.
    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        for (pacing, segments, last) in [(false, 40, 22), (true, 60, 43)] {
            let (mut trains, _) = trains(pacing);
            assert_eq!(round(&mut trains, window(segments, true), MILLISECOND, RTT), Some(last));
        }
    }

    /// Linux looks in slow start alone: what is found above the threshold does not end the slow start after an idle period.
    #[test]
    fn congestion_avoidance_is_not_looked_at() {
        assert_eq!(round(&mut trains(false).0, window(40, false), MILLISECOND, RTT), None);
    }

    #[test]
    fn a_gap_ends_the_train_and_small_windows_are_not_looked_at() {
        for (segments, gap, last) in
            [(40, 2 * MILLISECOND + 1, None), (15, 2 * MILLISECOND, None), (16, 2 * MILLISECOND, Some(12))]
        {
            assert_eq!(round(&mut trains(false).0, window(segments, true), gap, RTT), last);
        }
    }

    /// An eighth of 40 ms: after eight samples the ninth decides, and one short round trip among them is enough to go on.
    #[test]
    fn longer_round_trips_end_slow_start() {
        let started = || Trains { shortest: RTT, ..trains(false).0 };
        assert_eq!(round(&mut started(), window(20, true), 0, RTT + 5 * MILLISECOND), None);
        assert_eq!(round(&mut started(), window(20, true), 0, RTT + 5 * MILLISECOND + 1), Some(9));
        let (mut trains, mut seen) = (started(), window(20, true));
        seen.una += trains.window_min / WINDOW_MIN;
        trains.on_round_trip(0, RTT, seen);
        assert_eq!(round(&mut trains, seen, 0, RTT + 50 * MILLISECOND), None);
    }
}
