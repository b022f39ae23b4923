//! What sets traffic off: applications that give data to TCP, and cell-level sources that need no TCP.

use celltrain_atm::cell::CELL_BITS;
use celltrain_engine::{
    Instant, Slot, Time,
    quantity::BitRate,
    random::Generator,
    time::{NEVER, SECOND},
};

use crate::traffic::long_range::LongRange;

/// A source of traffic inside a host; it acts at times of its own.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// When it acts next.
    pub(crate) next: Instant,
}

/// What a source does when its time has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Offers `bytes` bytes to a TCP sender, once, or again every `every`. `u64::MAX` bytes: a greedy source.
    Application { endpoint: u32, bytes: u64, every: Option<Time> },
    /// Sends a frame of cells and draws the time of the next one.
    Cells(Box<CellSource>),
}

/// A cell-level source: frames of a fixed number of cells, sent cell by cell or whole at times drawn from a [`Pattern`].
#[derive(Debug)]
pub(crate) struct CellSource {
    /// Which of the host's outgoing VCs it uses.
    pub(crate) outgoing: u32,
    /// Cells a frame.
    pub(crate) frame: u16,
    /// Place in the frame of the next cell.
    pub(crate) position: u16,
    pub(crate) pattern: Pattern,
    pub(crate) generator: Generator,
}

/// When a cell-level source sends.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// A cell every interval (CBR).
    Constant { interval: Slot },
    /// Whole frames at exponentially distributed intervals (Poisson).
    Poisson { mean: Time },
    /// A cell every interval while on, none while off.
    OnOff { interval: Slot, on: Time, off: Time, exponential: bool, on_until: Instant },
    /// A cell whenever a rate that varies has come to the bits of one.
    Varying(VaryingRate),
}

/// A rate that varies by steps, and what of it is not yet in cells.
#[derive(Debug)]
pub(crate) struct VaryingRate {
    steps: LongRange,
    /// When the process of the rate starts.
    start: Time,
    /// In bit/s, until the next step.
    rate: BitRate,
    next_step: (Time, BitRate),
    /// What is missing to the next cell, in bits times picoseconds a second.
    missing: u128,
}

/// The bits of a cell in the same unit.
const CELL: u128 = CELL_BITS as u128 * SECOND as u128;

impl VaryingRate {
    /// A rate that follows `steps` from `start` on. The cell after the first, which goes at the start,
    /// comes when the rate has come to one.
    pub(crate) fn new(mut steps: LongRange, start: Time) -> Self {
        let mut step = || steps.next().expect("the rate varies for ever");
        let ((_, rate), next_step) = (step(), step());
        Self { steps, start, rate, next_step, missing: CELL }
    }

    /// The time of the cell after `now`, when the last one was sent.
    fn after(&mut self, mut now: Time) -> Time {
        loop {
            let (rate, change) = (u128::from(self.rate.0), self.start.saturating_add(self.next_step.0));
            let until_change = rate * u128::from(change - now);
            if rate > 0 && until_change >= self.missing {
                let time = self.missing.div_ceil(rate);
                self.missing = CELL + self.missing - time * rate;
                return now + time as Time;
            }
            // Far beyond the end of any run.
            if change > NEVER / 2 {
                return NEVER;
            }
            self.missing -= until_change;
            (now, self.rate) = (change, self.next_step.1);
            self.next_step = self.steps.next().expect("the rate varies for ever");
        }
    }
}

impl CellSource {
    /// How many cells go at once, and where in the frame the first of them stands.
    pub(crate) fn send(&mut self) -> (u16, u16) {
        if matches!(self.pattern, Pattern::Poisson { .. }) {
            return (self.frame, 0);
        }
        let position = self.position;
        self.position = (position + 1) % self.frame;
        (1, position)
    }

    /// The time of what is sent after `now`.
    #[inline(always)]
    pub(crate) fn after(&mut self, now: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::Constant { interval } => now.plus(*interval),
            Pattern::Poisson { mean } => now.delayed(self.generator.exponential(*mean)),
            Pattern::OnOff { interval, on, off, exponential, on_until } => {
                let mut next = now.plus(*interval);
                while next >= *on_until {
                    let mut draw = |mean| if *exponential { self.generator.exponential(mean) } else { mean };
                    next = on_until.delayed(draw(*off)).max(next);
                    *on_until = next.delayed(draw(*on).max(1));
                }
                next
            }
            Pattern::Varying(rate) => Instant::at(rate.after(now.ps())),
        }
    }

    /// Starts the source at `start`; returns when it sends for the first time.
    pub(crate) fn begin(&mut self, start: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::OnOff { on, exponential, on_until, .. } => {
                let length = if *exponential { self.generator.exponential(*on) } else { *on };
                *on_until = start.delayed(length.max(1));
                start
            }
            // The process has no memory: the time to its first arrival is distributed as that between any two.
            Pattern::Poisson { .. } => self.after(start),
            Pattern::Constant { .. } | Pattern::Varying(_) => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{quantity::Duration, random::Randomness, time::MILLISECOND};

    use super::*;
    use crate::traffic::long_range::Params;

    #[test]
    fn the_cells_of_a_varying_rate_are_its_integral() {
        let params = Params {
            minimum: BitRate(0),
            mean: BitRate(40_000_000),
            maximum: BitRate(150_000_000),
            hurst: 0.8,
            sources: 3,
            cycle: Duration(MILLISECOND),
        };
        let generator = Randomness { seed: 1, replication: 0 }.named("test");
        let steps = || LongRange::new(&params, generator.clone()).unwrap();
        let (mut rate, start) = (VaryingRate::new(steps(), 500), 500);
        let times: Vec<_> =
            std::iter::successors(Some(start), |&now| Some(rate.after(now))).take(20_000).collect();
        let (mut bits, mut at, mut cells) = (0u128, start, times[1..].iter().enumerate().peekable());
        let mut process = steps().peekable();
        while let (Some((_, rate)), Some(&(change, _))) = (process.next(), process.peek()) {
            let end = start + change;
            while let Some((number, &time)) = cells.next_if(|cell| *cell.1 <= end) {
                let bits = bits + u128::from(rate.0) * u128::from(time - at);
                let due = CELL * (number as u128 + 1);
                assert!((due..due + u128::from(rate.0)).contains(&bits), "cell {number} to the picosecond");
            }
            if cells.peek().is_none() {
                return;
            }
            bits += u128::from(rate.0) * u128::from(end - at);
            at = end;
        }
    }

    /// The exponential distribution has no memory, so that an observer who starts at any time waits as long for the first
    /// arrival as others do between two (L. Kleinrock, "Queueing Systems", volume 1, 1975, section 2.4).
    #[test]
    fn a_poisson_source_starts_as_it_goes_on() {
        const MEAN: Time = MILLISECOND;
        let (start, count) = (Instant::at(7 * MILLISECOND), 20_000);
        let first = |replication: u64| {
            let generator = Randomness { seed: 1, replication }.named("test");
            let pattern = Pattern::Poisson { mean: MEAN };
            let mut source = CellSource { outgoing: 0, frame: 1, position: 0, pattern, generator };
            source.begin(start).since(start).ps()
        };
        let waits: Vec<_> = (0..count).map(first).collect();
        let mean = waits.iter().sum::<Time>() as f64 / count as f64 / MEAN as f64;
        let longer = waits.iter().filter(|&&wait| wait > MEAN).count() as f64 / count as f64;
        // Four standard deviations of 20 000 draws.
        assert!((mean - 1.0).abs() < 0.029, "{mean}");
        assert!((longer - libm::exp(-1.0)).abs() < 0.014, "{longer}");
    }
}
