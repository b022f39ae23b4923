//! Cells at a rate that varies.

use celltrain_engine::{
    Time,
    quantity::BitRate,
    time::{NEVER, SECOND},
};

use super::long_range::LongRange;

/// A rate that varies by steps, and what of it is not yet in cells.
#[derive(Debug)]
pub(crate) struct VaryingRate {
    steps: LongRange,
    /// When the process of the rate starts.
    start: Time,
    /// In bit/s, until the next step.
    rate: BitRate,
    next_step: (Time, BitRate),
    /// What each cell or packet takes, and what is missing to the next one, in bits times picoseconds a second.
    unit: u128,
    missing: u128,
    /// When the run ends: steps behind it are not drawn.
    end: Time,
}

impl VaryingRate {
    /// A rate that follows `steps` from `start` on, of cells or packets of `bits` bits. The one after the first, which goes at the
    /// start, comes when the rate has come to as many. The run ends at `end`.
    pub(crate) fn new(mut steps: LongRange, [start, end]: [Time; 2], bits: u64) -> Self {
        let mut step = || steps.next().expect("the steps of a varying rate do not end");
        let ((_, rate), next_step) = (step(), step());
        let unit = u128::from(bits) * u128::from(SECOND);
        Self { steps, start, rate, next_step, unit, missing: unit, end }
    }

    /// The time of the cell after `now`, when the last one was sent. If none comes before the end of the run, [`NEVER`] or a later
    /// time.
    pub(super) fn after(&mut self, mut now: Time) -> Time {
        loop {
            let (rate, change) = (u128::from(self.rate.0), self.start.saturating_add(self.next_step.0));
            let until_change = rate * u128::from(change - now);
            if rate > 0 && until_change >= self.missing {
                let time = self.missing.div_ceil(rate);
                self.missing = self.unit + self.missing - time * rate;
                return now + time as Time;
            }
            if change > self.end {
                return NEVER;
            }
            self.missing -= until_change;
            (now, self.rate) = (change, self.next_step.1);
            self.next_step = self.steps.next().expect("the steps of a varying rate do not end");
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::cell::CELL_BITS;
    use celltrain_engine::{
        quantity::Duration,
        random::Randomness,
        time::{MICROSECOND, MILLISECOND},
    };

    use super::*;
    use crate::traffic::long_range::Params;

    /// The bits of a cell in the unit of the integral.
    const CELL: u128 = CELL_BITS as u128 * SECOND as u128;

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
        let (mut rate, start) = (VaryingRate::new(steps(), [500, NEVER / 2], CELL_BITS), 500);
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

    /// A rate of a cell in some seconds that changes every microsecond: only the changes of the run are gone through.
    #[test]
    fn no_step_behind_the_end_of_the_run_is_drawn() {
        let params = Params {
            minimum: BitRate(0),
            mean: BitRate(100),
            maximum: BitRate(1_000),
            hurst: 0.8,
            sources: 1,
            cycle: Duration(MICROSECOND),
        };
        let generator = Randomness { seed: 1, replication: 0 }.named("test");
        let steps = LongRange::new(&params, generator).unwrap();
        assert_eq!(VaryingRate::new(steps, [0, MILLISECOND], CELL_BITS).after(0), NEVER);
    }
}
