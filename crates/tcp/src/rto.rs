//! The retransmission timeout (RFC 6298): a clock, an estimator of the round-trip time, and the timer.

use celltrain_engine::{Time, time::NEVER};

use crate::params::{Params, RtoArithmetic};

/// The clock that timers and round-trip measurements read: exact, or one that ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    tick: Time,
    phase: Time,
    timer_on_ticks: bool,
    /// What is added to an interval between two readings: a tick, or nothing.
    begun: Time,
}

impl Clock {
    // RFC 6298 §2: SHOULD set RTO to 1 second before the first sample (2.1)
    pub(crate) const fn new(params: &Params) -> Self {
        let elapsed = matches!(params.rto_arithmetic, RtoArithmetic::ElapsedTicks);
        Self {
            tick: params.tick,
            phase: params.tick_phase,
            timer_on_ticks: params.timer_on_ticks,
            begun: if elapsed { 0 } else { params.tick },
        }
    }

    /// What the clock shows at `now`: a multiple of the tick.
    #[inline]
    pub(crate) const fn read(self, now: Time) -> Time {
        match (now + self.phase).checked_div(self.tick) {
            Some(ticks) => ticks * self.tick,
            None => now,
        }
    }

    /// The time since the clock showed `reading`. A coarse clock counts the tick in which the interval began
    /// as a whole one, so that no sample is zero and none is too short; ns-2 does not.
    #[inline]
    pub(crate) const fn since(self, reading: Time, now: Time) -> Time {
        self.read(now).saturating_sub(reading) + self.begun
    }

    /// When a timer of `length` set at `now` expires: on a coarse clock that timers follow at the n-th tick from now,
    /// for the n ticks that cover the length, so up to one tick early.
    #[inline]
    pub(crate) const fn expiry(self, now: Time, length: Time) -> Time {
        match (now + self.phase).checked_div(self.tick) {
            Some(ticks) if self.timer_on_ticks => {
                (ticks + length.div_ceil(self.tick)) * self.tick - self.phase
            }
            _ => now + length,
        }
    }
}

/// SRTT, RTTVAR and RTO as RFC 6298 section 2 computes them, in picoseconds, rounded to the nearest; or in whole ticks
/// ([`RtoArithmetic`]).
///
/// ```
/// use celltrain_engine::time::MILLISECOND;
/// use celltrain_tcp::{StackSpec, rto::RttEstimator};
///
/// let params = StackSpec::default().resolve().unwrap();
/// let mut estimator = RttEstimator::new(&params);
/// estimator.sample(800 * MILLISECOND);
/// assert_eq!(estimator.rto(), (800 + 4 * 400) * MILLISECOND);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RttEstimator {
    smoothed: Option<Smoothed>,
    rto: Time,
    /// How often it has been doubled since the last measurement.
    doublings: u32,
    min: Time,
    max: Time,
    arithmetic: RtoArithmetic,
    /// The clock's granularity; 0 if it is exact.
    tick: Time,
    /// The least that the variance term counts as: the granularity (rule 2.3) or more.
    variance_min: Time,
}

/// The two averages, which exist from the first sample on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Smoothed {
    srtt: Time,
    rttvar: Time,
}

impl RttEstimator {
    /// An estimator without samples; its timeout is the initial one (rule 2.1).
    #[must_use]
    pub const fn new(params: &Params) -> Self {
        Self {
            smoothed: None,
            rto: params.rto_initial,
            doublings: 0,
            min: params.rto_min,
            max: params.rto_max,
            arithmetic: params.rto_arithmetic,
            tick: params.tick,
            variance_min: if params.tick > params.rto_variance_min {
                params.tick
            } else {
                params.rto_variance_min
            },
        }
    }

    /// Takes a round-trip measurement (rules 2.2 and 2.3) and so ends any backoff.
    pub fn sample(&mut self, rtt: Time) {
        self.sample_of(rtt, 1);
    }

    // RFC 7323 §4.2: SHOULD keep the history of RFC 6298 when one window gives several samples
    // RFC 6298 §2: SHOULD round RTO up to 1 second (2.4; key `rto-min`)
    // RFC 6298 §4: MUST round a variance term of zero to G
    /// Takes one of `samples` measurements that a round trip is expected to give: each counts the less, so that the
    /// averages reach back as far as with one (RFC 7323 section 4.2 and appendix G). In whole ticks each counts in full, as
    /// in BSD.
    #[inline(always)]
    pub fn sample_of(&mut self, rtt: Time, samples: u64) {
        let (next, rto) = match self.arithmetic {
            RtoArithmetic::Exact => self.smooth(rtt, samples),
            RtoArithmetic::Ticks | RtoArithmetic::ElapsedTicks => self.smooth_in_ticks(rtt),
        };
        self.smoothed = Some(next);
        self.rto = rto.clamp(self.min, self.max);
        self.doublings = 0;
    }

    // RFC 6298 §2: MUST set SRTT, RTTVAR from the first sample (2.2)
    // RFC 6298 §2: MUST update RTTVAR before SRTT (2.3)
    // RFC 6298 §2: SHOULD use alpha = 1/8 and beta = 1/4
    /// Averages without rounding, and their timeout.
    #[inline]
    fn smooth(&self, rtt: Time, samples: u64) -> (Smoothed, Time) {
        let next = match self.smoothed {
            None => Smoothed { srtt: rtt, rttvar: rtt.div_ceil(2) },
            // RTTVAR takes the deviation from the old SRTT: alpha = 1/8, beta = 1/4.
            Some(Smoothed { srtt, rttvar }) => Smoothed {
                rttvar: towards(rttvar, srtt.abs_diff(rtt), 4 * samples),
                srtt: towards(srtt, rtt, 8 * samples),
            },
        };
        (next, next.srtt + self.variance_min.max(4 * next.rttvar))
    }

    /// Averages in whole eighths and quarters of a tick, and their timeout in whole ticks.
    fn smooth_in_ticks(&self, rtt: Time) -> (Smoothed, Time) {
        let (eighth, quarter) = (self.tick / 8, self.tick / 4);
        let rtt = (rtt / self.tick).max(1);
        let (eighths, quarters) = match self.smoothed {
            None => (8 * rtt, 2 * rtt),
            Some(Smoothed { srtt, rttvar }) => {
                let (eighths, quarters) = (srtt / eighth, rttvar / quarter);
                let deviation = rtt.abs_diff(eighths / 8);
                (eighths + rtt - eighths / 8, quarters + deviation - quarters / 4)
            }
        };
        let next = Smoothed { srtt: eighths * eighth, rttvar: quarters * quarter };
        (next, (eighths / 8 + quarters) * self.tick)
    }

    // RFC 6298 §5: MUST double RTO at a timeout (5.5)
    /// Doubles the timeout up to its maximum (rule 5.5).
    pub fn back_off(&mut self) {
        self.rto = (2 * self.rto).min(self.max);
        self.doublings += 1;
    }

    /// How many times as long the timeout is as it would be without backoff, but for its maximum.
    pub(crate) fn backoff(&self) -> u64 {
        1 << self.doublings.min(63)
    }

    /// Sets the timeout to `rto`, whatever it has been measured to be or backed off to (rule 5.7).
    pub(crate) fn reinitialize(&mut self, rto: Time) {
        (self.rto, self.doublings) = (rto.min(self.max), 0);
    }

    /// The retransmission timeout.
    #[must_use]
    pub const fn rto(&self) -> Time {
        self.rto
    }

    /// The smoothed round-trip time, once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.smoothed.map(|s| s.srtt)
    }

    /// The round-trip time variation, once there is a sample.
    #[must_use]
    pub fn rttvar(&self) -> Option<Time> {
        self.smoothed.map(|s| s.rttvar)
    }
}

/// `average`, moved towards `value` by one part in `parts` of the difference, rounded to the nearest.
fn towards(average: Time, value: Time, parts: u64) -> Time {
    let step = (value as i64 - average as i64 + (parts / 2) as i64).div_euclid(parts as i64);
    average.wrapping_add_signed(step)
}

/// The one retransmission timer of a connection, and the one segment being timed.
#[derive(Debug, Clone)]
pub(crate) struct RetransmissionTimer {
    pub(crate) estimator: RttEstimator,
    pub(crate) clock: Clock,
    /// When it expires; [`NEVER`] while it is stopped.
    deadline: Time,
    /// End of the timed segment and the clock's reading when it left.
    timed: Option<(u64, Time)>,
}

impl RetransmissionTimer {
    pub(crate) const fn new(params: &Params) -> Self {
        Self { estimator: RttEstimator::new(params), clock: Clock::new(params), deadline: NEVER, timed: None }
    }

    #[inline]
    pub(crate) const fn deadline(&self) -> Time {
        self.deadline
    }

    /// When it expires if it starts at `now` unless it runs.
    #[inline]
    pub(crate) const fn expiry_if_started(&self, now: Time) -> Time {
        if self.deadline == NEVER { self.clock.expiry(now, self.estimator.rto()) } else { self.deadline }
    }

    /// Starts the timer unless it runs (rule 5.1).
    #[inline]
    pub(crate) const fn start(&mut self, now: Time) {
        self.deadline = self.expiry_if_started(now);
    }

    /// Starts the timer afresh (rules 5.3 and 5.6).
    #[inline]
    pub(crate) const fn restart(&mut self, now: Time) {
        self.deadline = self.clock.expiry(now, self.estimator.rto());
    }

    /// Lets it expire at `time` at the earliest.
    pub(crate) const fn put_off(&mut self, time: Time) {
        if self.deadline < time {
            self.deadline = time;
        }
    }

    /// Starts the timer for the next probe of a closed window, after `probes` of them: the timeout, doubled for each (RFC 9293
    /// section 3.8.6.1).
    pub(crate) fn persist(&mut self, now: Time, probes: u32) {
        let estimator = &self.estimator;
        let interval = estimator.rto.saturating_mul(1 << probes.min(20)).min(estimator.max);
        self.deadline = self.clock.expiry(now, interval);
    }

    /// Stops the timer (rule 5.2).
    pub(crate) const fn stop(&mut self) {
        self.deadline = NEVER;
    }

    /// Times a new segment that ends at `end`, unless one is being timed.
    pub(crate) const fn time_segment(&mut self, now: Time, end: u64) {
        if self.timed.is_none() {
            self.timed = Some((end, self.clock.read(now)));
        }
    }

    // RFC 6298 §3: MUST use Karn's algorithm
    /// Forgets the timed segment: something was sent again, so its ACK would be ambiguous or late (Karn's
    /// algorithm, RFC 6298 section 3).
    pub(crate) const fn forget_timed_segment(&mut self) {
        self.timed = None;
    }

    /// The measurement that an ACK of everything below `ack` completes.
    pub(crate) fn finish_timing(&mut self, now: Time, ack: u64) -> Option<Time> {
        let (end, sent) = self.timed?;
        if ack < end {
            return None;
        }
        self.timed = None;
        Some(self.clock.since(sent, now))
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::{MICROSECOND, MILLISECOND, SECOND};

    use super::*;
    use crate::StackSpec;

    fn params(min: Time, max: Time, tick: Time) -> Params {
        let standard = StackSpec::default().resolve().expect("the default stack is possible");
        Params { rto_min: min, rto_max: max, tick, ..standard }
    }

    #[test]
    fn follows_rfc_6298_on_given_samples() {
        let mut estimator = RttEstimator::new(&params(1, 60 * SECOND, 0));
        assert_eq!((estimator.rto(), estimator.srtt()), (SECOND, None));
        // (sample, SRTT, RTTVAR, RTO) in microseconds, by hand from rules 2.2 and 2.3.
        for (sample, srtt, rttvar, rto) in [
            (80_000, 80_000, 40_000, 240_000),
            (80_000, 80_000, 30_000, 200_000),
            (160_000, 90_000, 42_500, 260_000),
            (10_000, 80_000, 51_875, 287_500),
            (80_000, 80_000, 38_906, 235_625),
        ] {
            estimator.sample(sample * MICROSECOND);
            assert_eq!(estimator.srtt(), Some(srtt * MICROSECOND));
            assert_eq!(estimator.rttvar().map(|var| var / MICROSECOND), Some(rttvar));
            assert_eq!(estimator.rto(), rto * MICROSECOND);
        }
    }

    #[test]
    fn keeps_its_bounds_and_backs_off() {
        let mut estimator = RttEstimator::new(&params(50 * MILLISECOND, 300 * MILLISECOND, 0));
        estimator.sample(MILLISECOND);
        assert_eq!(estimator.rto(), 50 * MILLISECOND, "rule 2.4");
        for expected in [100, 200, 300, 300] {
            estimator.back_off();
            assert_eq!(estimator.rto(), expected * MILLISECOND, "rules 5.5 and 2.5");
        }
        estimator.sample(MILLISECOND);
        assert_eq!(estimator.rto(), 50 * MILLISECOND, "a sample ends the backoff");
    }

    #[test]
    fn variation_is_at_least_the_granularity() {
        let tick = 100 * MILLISECOND;
        let mut estimator = RttEstimator::new(&params(1, 60 * SECOND, tick));
        for _ in 0..100 {
            estimator.sample(tick);
        }
        assert_eq!(estimator.rto(), 2 * tick, "SRTT and G: 4 RTTVAR has vanished");
    }

    #[test]
    fn arithmetic_in_ticks_drops_remainders() {
        let tick = 500 * MILLISECOND;
        let params = Params { rto_arithmetic: RtoArithmetic::Ticks, ..params(1, 64 * SECOND, tick) };
        let mut estimator = RttEstimator::new(&params);
        // (sample, 8 SRTT, 4 deviation, RTO) in ticks, by hand: each average moves by the error less its own dropped part.
        for (sample, eighths, quarters, rto) in [
            (1, 8, 2, 3),
            (1, 8, 2, 3),
            (2, 9, 3, 4),
            (1, 9, 3, 4),
            (1, 9, 3, 4),
            (2, 10, 4, 5),
            (1, 10, 3, 4),
            (6, 15, 8, 9),
            (1, 15, 6, 7),
        ] {
            estimator.sample(sample * tick);
            let averages = (estimator.srtt().unwrap(), estimator.rttvar().unwrap());
            assert_eq!(averages, (eighths * tick / 8, quarters * tick / 4));
            assert_eq!(estimator.rto(), rto * tick);
        }
    }

    #[test]
    fn coarse_clock_counts_ticks() {
        let clock = Clock { tick: 500, phase: 100, timer_on_ticks: true, begun: 500 };
        assert_eq!([0, 399, 400, 899, 900].map(|now| clock.read(now)), [0, 0, 500, 500, 1000]);
        assert_eq!(clock.since(clock.read(399), 400), 1000, "a tick passed, and the one it began in counts");
        assert_eq!(clock.since(clock.read(0), 399), 500);
        assert_eq!(clock.expiry(0, 500), 400, "the next tick");
        assert_eq!(clock.expiry(400, 501), 1400, "two ticks");
        let measures = Clock { timer_on_ticks: false, ..clock };
        assert_eq!(
            (measures.read(400), measures.expiry(400, 501)),
            (500, 901),
            "ticks measure, the timer runs on"
        );
        let exact = Clock { tick: 0, phase: 0, timer_on_ticks: true, begun: 0 };
        assert_eq!((exact.read(7), exact.since(3, 7), exact.expiry(7, 5)), (7, 4, 12));
    }
}
