//! HyStart++ (RFC 9406): leaves the first slow start before its overshoot, when round trips grow longer.
//!
//! Rounds are counted in data: one ends when what was in flight at its beginning is acknowledged. If the shortest round trip
//! of a round is clearly longer than that of the round before, a queue is building up. Slow start goes on more slowly then
//! (conservative slow start), returns to full speed if the round trips shorten again, and ends after a few rounds if not.

use celltrain_engine::{Time, time::NEVER};

use super::{Growth, SAMPLES_MIN, grown};

/// By how much growth is slower in conservative slow start (CSS_GROWTH_DIVISOR), and how many rounds it lasts (CSS_ROUNDS).
const GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;

/// The rounds of a first slow start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// What had been sent when this round began.
    window_end: u64,
    /// Shortest round trip of the last round and of this one; [`NEVER`] without a sample.
    last_rtt: Time,
    current_rtt: Time,
    /// Samples of this round.
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Conservative {
    /// Shortest round trip when it began.
    baseline: Time,
    /// Rounds in it, the one in which it began included.
    rounds: u32,
}

impl Default for Rounds {
    // RFC 9406 §4.3: RECOMMENDED constants: 4 ms, 16 ms, 8, 8 samples, 4, 5 rounds
    fn default() -> Self {
        Self { window_end: 0, last_rtt: NEVER, current_rtt: NEVER, samples: 0, conservative: None }
    }
}

impl Rounds {
    /// Takes the measurement of a round trip.
    pub(super) fn on_round_trip(&mut self, rtt: Time) {
        self.current_rtt = self.current_rtt.min(rtt);
        self.samples += 1;
    }

    /// As [`super::HyStart::on_ack`]. The window grows before round trips are looked at (section 4.2): so the ACK that begins conservative slow
    /// start grows it in full, and the one that ends it once more.
    pub(super) fn on_ack(&mut self, una: u64, sent: u64, growth: u64) -> Growth {
        let growth = growth / if self.conservative.is_some() { GROWTH_DIVISOR } else { 1 };
        self.compare();
        let ends = una >= self.window_end && self.end_round(sent);
        if ends { Growth::Last(growth) } else { Growth::By(growth) }
    }

    // RFC 9406 §4.2: SHOULD resume slow start when round trips shorten again
    /// Compares this round's shortest round trip with the last one's, or with that at which conservative slow start began.
    fn compare(&mut self) {
        if self.samples < SAMPLES_MIN {
            return;
        }
        match &self.conservative {
            // RFC 9406: SHOULD resume standard slow start if the round trips shrink again.
            Some(conservative) if self.current_rtt < conservative.baseline => self.conservative = None,
            None if self.last_rtt != NEVER && self.current_rtt >= grown(self.last_rtt) => {
                self.conservative = Some(Conservative { baseline: self.current_rtt, rounds: 0 });
            }
            _ => {}
        }
    }

    /// Begins the next round; true if conservative slow start has lasted long enough.
    fn end_round(&mut self, sent: u64) -> bool {
        self.window_end = sent;
        self.last_rtt = std::mem::replace(&mut self.current_rtt, NEVER);
        self.samples = 0;
        self.conservative.as_mut().is_some_and(|conservative| {
            conservative.rounds += 1;
            conservative.rounds >= CONSERVATIVE_ROUNDS
        })
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;

    /// A round of ten segments of 1000 bytes, each with a sample of `rtt`; returns the growth, and whether slow start ended.
    fn round(hystart: &mut Rounds, number: u64, rtt: Time) -> (u64, bool) {
        let mut grown = 0;
        for segment in 1..=10 {
            hystart.on_round_trip(rtt);
            match hystart.on_ack(
                number * 10_000 + segment * 1000,
                (number + 1) * 10_000 + segment * 1000,
                1000,
            ) {
                Growth::By(bytes) => grown += bytes,
                Growth::Last(bytes) => return (grown + bytes, true),
            }
        }
        (grown, false)
    }

    /// A start whose first round took `rtt`.
    fn started(rtt: Time) -> Rounds {
        let mut hystart = Rounds { window_end: 10_000, ..Rounds::default() };
        assert_eq!(round(&mut hystart, 0, rtt), (10_000, false));
        hystart
    }

    #[test]
    fn growing_round_trips_end_slow_start_after_five_rounds() {
        let mut hystart = started(40 * MILLISECOND);
        // An eighth of 40 ms. RFC 9406 section 4.2: "Update the cwnd" comes first, then the check of the round trips, which needs eight samples: so
        // eight segments grow the window in full.
        assert_eq!(round(&mut hystart, 1, 45 * MILLISECOND), (8 * 1000 + 2 * 250, false));
        for number in 2..5 {
            assert_eq!(round(&mut hystart, number, 45 * MILLISECOND), (2500, false));
        }
        // The threshold becomes the window with the growth by the last segment of the fifth round.
        assert_eq!(round(&mut hystart, 5, 45 * MILLISECOND), (2500, true));
    }

    #[test]
    fn small_increases_do_not_count() {
        for (rtt, increase) in [(40, 5), (8, 4), (400, 16)] {
            let mut hystart = started(rtt * MILLISECOND);
            assert_eq!(round(&mut hystart, 1, (rtt + increase) * MILLISECOND - 1), (10_000, false));
            assert_eq!(hystart.conservative, None);
            let mut hystart = started(rtt * MILLISECOND);
            assert_eq!(round(&mut hystart, 1, (rtt + increase) * MILLISECOND), (8500, false));
        }
    }

    #[test]
    fn round_trips_that_shorten_again_resume_slow_start() {
        let mut hystart = started(40 * MILLISECOND);
        round(&mut hystart, 1, 50 * MILLISECOND);
        assert_eq!(round(&mut hystart, 2, 49 * MILLISECOND), (8 * 250 + 2 * 1000, false));
        assert_eq!(hystart.conservative, None);
    }
}
