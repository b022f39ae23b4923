//! What a link loses, and why.

use celltrain_engine::random::Generator;

use crate::scenario::BurstLoss;

/// Why a link lost a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossReason {
    /// By chance.
    Random,
    /// The scenario names it.
    Scripted,
    /// By chance, in a burst or between two.
    Burst,
    /// The link was dark.
    Dark,
}

impl LossReason {
    pub(crate) const ALL: [Self; 4] = [Self::Random, Self::Scripted, Self::Burst, Self::Dark];

    /// The name of the column that counts it in results.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Random => "lost_random",
            Self::Scripted => "lost_scripted",
            Self::Burst => "lost_burst",
            Self::Dark => "lost_dark",
        }
    }
}

/// Cells lost, by [`LossReason`].
pub(crate) type Lost = [u64; LossReason::ALL.len()];

/// Losses by chance, each on its own, with the same probability.
#[derive(Debug)]
pub(crate) struct RandomLoss {
    generator: Generator,
    /// Logarithm of the probability to pass; zero if nothing is ever lost.
    log_pass: f64,
    /// Units that pass before the next one is lost.
    passing: u64,
}

impl RandomLoss {
    /// Loses a share `loss` of the units.
    pub(crate) fn new(loss: f64, generator: Generator) -> Self {
        let mut random = Self { generator, log_pass: libm::log1p(-loss), passing: 0 };
        random.draw();
        random
    }

    /// Draws how many units pass before the next loss: geometrically distributed, one number a loss, not one a unit.
    fn draw(&mut self) {
        let unit = 1.0 - self.generator.unit();
        // Conversion saturates: without losses this is the largest number, with loss 1 it is 0.
        self.passing = (libm::log(unit) / self.log_pass) as u64;
        if self.log_pass == 0.0 {
            self.passing = u64::MAX;
        }
    }

    /// How many of `count` units pass before one of them is lost.
    #[inline]
    fn pass(&mut self, count: u32) -> u32 {
        if self.passing >= u64::from(count) {
            self.passing -= u64::from(count);
            return count;
        }
        let passed = self.passing as u32;
        self.draw();
        passed
    }
}

/// Losses in bursts: a chain of two states, and a probability of loss in each (E. N. Gilbert, "Capacity of a Burst-Noise
/// Channel", 1960; E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", 1963).
#[derive(Debug)]
pub(crate) struct GilbertElliott {
    params: BurstLoss,
    generator: Generator,
    bad: bool,
}

impl GilbertElliott {
    /// Begins in the good state.
    pub(crate) fn new(params: BurstLoss, generator: Generator) -> Self {
        Self { params, generator, bad: false }
    }

    /// Whether the next unit is lost; the chain takes a step behind it.
    fn strikes(&mut self) -> bool {
        let BurstLoss { p, r, loss_good, loss_bad } = self.params;
        let (loss, change) = if self.bad { (loss_bad, r) } else { (loss_good, p) };
        let lost = self.generator.unit() < loss;
        self.bad ^= self.generator.unit() < change;
        lost
    }
}

/// All that a link loses by chance.
#[derive(Debug)]
pub(crate) struct ChanceLoss {
    pub(crate) random: RandomLoss,
    pub(crate) bursts: Option<GilbertElliott>,
    /// Whether units are frames; otherwise cells.
    pub(crate) frames: bool,
}

impl ChanceLoss {
    /// How many of `count` units pass before one of them is lost, and why that one is.
    #[inline]
    pub(super) fn pass(&mut self, count: u32) -> (u32, Option<LossReason>) {
        if self.bursts.is_some() {
            return self.pass_bursts(count);
        }
        let passed = self.random.pass(count);
        (passed, (passed < count).then_some(LossReason::Random))
    }

    /// As [`ChanceLoss::pass`], where there are losses in bursts.
    #[inline(never)]
    fn pass_bursts(&mut self, count: u32) -> (u32, Option<LossReason>) {
        let Some(bursts) = &mut self.bursts else { return (count, None) };
        for passed in 0..count {
            // The chain steps with every unit.
            let in_burst = bursts.strikes();
            if self.random.pass(1) == 0 {
                return (passed, Some(LossReason::Random));
            }
            if in_burst {
                return (passed, Some(LossReason::Burst));
            }
        }
        (count, None)
    }

    /// How many of `units` pass before one of them is lost, and why that one is.
    #[inline]
    pub(super) fn pass_each<U>(&mut self, units: impl Iterator<Item = U>) -> (usize, Option<LossReason>) {
        if self.bursts.is_none() {
            let most = usize::try_from(self.random.passing).unwrap_or(usize::MAX);
            let passed = units.take(most).count();
            self.random.passing -= passed as u64;
            return (passed, None);
        }
        let mut passed = 0;
        for _ in units {
            let reason = self.one();
            if reason.is_some() {
                return (passed, reason);
            }
            passed += 1;
        }
        (passed, None)
    }

    /// Why the next unit is lost, if it is.
    #[inline]
    pub(super) fn one(&mut self) -> Option<LossReason> {
        self.pass(1).1
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::Randomness;

    use super::*;

    fn chain(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> GilbertElliott {
        let generator = Randomness { seed: 1, replication: 0 }.named("test");
        GilbertElliott::new(BurstLoss { p, r, loss_good, loss_bad }, generator)
    }

    /// The chain is bad for p/(p + r) of the units in the long run, for 1/r of them at a time (Gilbert 1960).
    #[test]
    fn bursts_have_the_share_and_the_length_of_the_chain() {
        let (p, r, units) = (0.01, 0.2, 1_000_000u32);
        let mut chain = chain(p, r, 0.0, 1.0);
        let lost: Vec<_> = (0..units).map(|_| chain.strikes()).collect();
        let share = lost.iter().filter(|lost| **lost).count() as f64 / f64::from(units);
        let bursts = lost.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
        // The variance of the share is about (1 + 2 (1 - p - r)/(p + r)) times that of independent losses: four deviations.
        let expected = p / (p + r);
        let deviation = (expected * (1.0 - expected) * (2.0 / (p + r) - 1.0) / f64::from(units)).sqrt();
        assert!((share - expected).abs() < 4.0 * deviation, "{share}");
        let length = share * f64::from(units) / bursts;
        assert!((length * r - 1.0).abs() < 0.05, "{length}");
    }

    #[test]
    fn both_states_may_lose() {
        let units = 400_000u32;
        let mut chain = chain(0.05, 0.15, 0.02, 0.6);
        let lost = (0..units).filter(|_| chain.strikes()).count() as f64 / f64::from(units);
        assert!((lost - (0.75 * 0.02 + 0.25 * 0.6)).abs() < 0.005, "{lost}");
    }

    #[test]
    fn a_chain_that_never_turns_bad_loses_nothing() {
        let mut chain = chain(0.0, 1.0, 0.0, 1.0);
        assert!((0..10_000).all(|_| !chain.strikes()));
    }
}
