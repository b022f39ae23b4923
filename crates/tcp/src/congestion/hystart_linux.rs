//! HyStart as Linux has it (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011): the first slow start ends at once when a train of
//! ACKs is as long as half a round trip, or when round trips have grown.
//!
//! Facts from the public sources of Linux 6.18 (`hystart_update`, `hystart_ack_delay`), in words.

use celltrain_engine::{
    Time,
    time::{MILLISECOND, NEVER},
};

use super::hystart::{INCREASE_DIVISOR, INCREASE_MAX, INCREASE_MIN, SAMPLES_MIN};
use crate::flow::Flow;

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

impl Default for Trains {
    fn default() -> Self {
        Self { round_end: 0, began: 0, last: 0, shortest: NEVER, current: NEVER, samples: 0, over: false }
    }
}

impl Trains {
    /// Takes the round-trip measurement of an ACK that has moved the left edge of the window.
    pub(super) fn on_sample(&mut self, now: Time, rtt: Time, flow: &Flow) {
        self.shortest = self.shortest.min(rtt);
        if flow.cwnd >= flow.ssthresh {
            return;
        }
        if flow.una > self.round_end {
            (self.round_end, self.began, self.last) = (flow.max, now, now);
            (self.current, self.samples) = (NEVER, 0);
        }
        if flow.cwnd >= WINDOW_MIN * flow.mss {
            self.over |= self.train_is_long(now, flow) || self.round_trips_grow(rtt);
        }
    }

    /// Whether slow start is over.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the ACKs that came close upon each other since the round began show that the path is full.
    fn train_is_long(&mut self, now: Time, flow: &Flow) -> bool {
        if now - self.last > TRAIN_GAP {
            return false;
        }
        self.last = now;
        let batch = BATCH.saturating_mul(self.shortest) / (2 * flow.cwnd);
        let threshold = self.shortest + batch.min(BATCH_MAX);
        // A paced sender spreads a window over half a round trip by itself.
        now - self.began > if flow.params.pacing { threshold } else { threshold / 2 }
    }

    /// Whether the shortest round trip of this round is clearly longer than that of the connection.
    fn round_trips_grow(&mut self, rtt: Time) -> bool {
        self.current = self.current.min(rtt);
        if self.samples < SAMPLES_MIN {
            self.samples += 1;
            return false;
        }
        self.current > self.shortest + (self.shortest / INCREASE_DIVISOR).clamp(INCREASE_MIN, INCREASE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::StackSpec;

    const RTT: Time = 40 * MILLISECOND;

    fn flow(segments: u64) -> Flow {
        let params = StackSpec::default().resolve().expect("the default stack is possible");
        let mut flow = Flow::new(params);
        (flow.cwnd, flow.max) = (segments * flow.mss, segments * flow.mss);
        flow
    }

    /// A round of ACKs, one for each segment, `gap` apart from 0 on; returns the number of the first at which slow start is over.
    fn round(trains: &mut Trains, flow: &mut Flow, gap: Time, rtt: Time) -> Option<u64> {
        (1..=flow.cwnd / flow.mss).find(|number| {
            flow.una += flow.mss;
            trains.on_sample((number - 1) * gap, rtt, flow);
            trains.is_over()
        })
    }

    /// The threshold is half of 41 ms: of ACKs a millisecond apart, the 22nd comes 21 ms after the first.
    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        assert_eq!(round(&mut Trains::default(), &mut flow(40), MILLISECOND, RTT), Some(22));
        let mut paced = flow(60);
        Arc::make_mut(&mut paced.params).pacing = true;
        assert_eq!(round(&mut Trains::default(), &mut paced, MILLISECOND, RTT), Some(43));
    }

    /// Linux looks in slow start alone: what is found above the threshold does not end the slow start after an idle period.
    #[test]
    fn congestion_avoidance_is_not_looked_at() {
        let mut flow = flow(40);
        flow.ssthresh = flow.cwnd;
        assert_eq!(round(&mut Trains::default(), &mut flow, MILLISECOND, RTT), None);
    }

    #[test]
    fn a_gap_ends_the_train_and_small_windows_are_not_looked_at() {
        assert_eq!(round(&mut Trains::default(), &mut flow(40), 2 * MILLISECOND + 1, RTT), None);
        assert_eq!(round(&mut Trains::default(), &mut flow(15), 2 * MILLISECOND, RTT), None);
        assert_eq!(round(&mut Trains::default(), &mut flow(16), 2 * MILLISECOND, RTT), Some(12));
    }

    /// An eighth of 40 ms: after eight samples the ninth decides, and one short round trip among them is enough to go on.
    #[test]
    fn longer_round_trips_end_slow_start() {
        let started = || Trains { shortest: RTT, ..Trains::default() };
        assert_eq!(round(&mut started(), &mut flow(20), 0, RTT + 5 * MILLISECOND), None);
        assert_eq!(round(&mut started(), &mut flow(20), 0, RTT + 5 * MILLISECOND + 1), Some(9));
        let mut trains = started();
        let mut flow = flow(20);
        flow.una += flow.mss;
        trains.on_sample(0, RTT, &flow);
        assert_eq!(round(&mut trains, &mut flow, 0, RTT + 50 * MILLISECOND), None);
    }
}
