//! Lengths of time at random: always the same, exponential, or with a Pareto distribution.

use celltrain_engine::{Time, quantity::Duration, random::Generator};

use crate::scenario::{Distribution, OnOff};

/// The longest time that is drawn, 26 days: longer than any run, so that the cut is not seen.
const LONGEST: Time = 1 << 61;

/// How lengths of time are distributed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lengths {
    /// Always the same.
    Fixed(Time),
    /// Exponential, with this mean.
    Exponential(Time),
    /// Heavy tails.
    Pareto(Pareto),
}

impl Lengths {
    /// Those with the mean `mean`; `shape` is that of a Pareto distribution.
    pub(crate) fn new(distribution: Distribution, mean: Duration, shape: Option<f64>) -> Self {
        match distribution {
            _ if mean == Duration(0) => Self::Fixed(0),
            Distribution::Fixed => Self::Fixed(mean.ps()),
            Distribution::Exponential => Self::Exponential(mean.ps()),
            Distribution::Pareto => {
                Self::Pareto(Pareto::of_mean(mean.ps() as f64, shape.unwrap_or(OnOff::USUAL_SHAPE)))
            }
        }
    }

    /// The next length.
    pub(crate) fn draw(self, generator: &mut Generator) -> Time {
        match self {
            Self::Fixed(length) => length,
            Self::Exponential(mean) => generator.exponential(mean).min(LONGEST),
            Self::Pareto(pareto) => pareto.draw(generator),
        }
    }
}

/// A Pareto distribution of times: P(X > x) = (scale / x)^shape from the scale on (Willinger, Taqqu, Sherman and Wilson 1997,
/// section 2, for on and off times).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pareto {
    shape: f64,
    /// The shortest time, in picoseconds.
    scale: f64,
}

impl Pareto {
    /// The distribution with the mean `mean`, in picoseconds, and a shape above 1: the mean is scale · shape / (shape − 1).
    pub(crate) fn of_mean(mean: f64, shape: f64) -> Self {
        Self { shape, scale: mean * (shape - 1.0) / shape }
    }

    /// A time drawn from the distribution.
    pub(crate) fn draw(self, generator: &mut Generator) -> Time {
        self.tail(1.0 - generator.unit(), self.shape)
    }

    /// What is left of a time in which an observer arrives at random. Its density is P(time > x) / mean: even up to the
    /// scale, and a Pareto tail of shape less by one beyond it.
    pub(crate) fn rest(self, generator: &mut Generator) -> Time {
        let (part, unit) = (generator.unit(), 1.0 - generator.unit());
        if part < (self.shape - 1.0) / self.shape {
            return ((unit * self.scale) as Time).max(1);
        }
        self.tail(unit, self.shape - 1.0)
    }

    /// The time that a Pareto distribution of shape `shape` exceeds with probability `unit`, in (0, 1].
    fn tail(self, unit: f64, shape: f64) -> Time {
        ((self.scale * libm::pow(unit, -1.0 / shape)).min(LONGEST as f64) as Time).max(1)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{
        random::Randomness,
        time::{MILLISECOND, SECOND},
    };

    use super::*;

    const DRAWS: u64 = 100_000;

    fn draws(lengths: Lengths) -> impl Iterator<Item = Time> {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("lengths");
        (0..DRAWS).map(move |_| lengths.draw(&mut generator))
    }

    /// The share of the lengths above `x` is (scale / x)^shape, from the shortest length on: for shape 1.5 and a mean of 3 ms the
    /// scale is 1 ms.
    #[test]
    fn pareto_lengths_have_their_tail() {
        let lengths = Lengths::Pareto(Pareto::of_mean((3 * MILLISECOND) as f64, 1.5));
        assert!(draws(lengths).all(|length| length >= MILLISECOND - 1));
        for factor in [1.5, 2.0, 4.0, 16.0, 64.0] {
            let level = (factor * MILLISECOND as f64) as Time;
            let share = draws(lengths).filter(|&length| length > level).count() as f64 / DRAWS as f64;
            let expected = libm::pow(factor, -1.5);
            // Four standard deviations of a binomial share.
            let error = 4.0 * (expected * (1.0 - expected) / DRAWS as f64).sqrt();
            assert!(
                (share - expected).abs() < error,
                "above {factor} ms: {share}, expected {expected} ± {error}"
            );
        }
    }

    /// The variance of a Pareto distribution is mean² / (shape (shape − 2)) for a shape above 2, that of an exponential one mean².
    #[test]
    fn lengths_have_their_mean() {
        let mean = 7 * MILLISECOND;
        let pareto = |shape: f64| Lengths::Pareto(Pareto::of_mean(mean as f64, shape));
        for (lengths, deviation) in [
            (Lengths::Fixed(mean), 0.0),
            (Lengths::Exponential(mean), 1.0),
            (pareto(4.0), (1.0f64 / 8.0).sqrt()),
            (pareto(100.0), (1.0f64 / 9800.0).sqrt()),
        ] {
            let found = draws(lengths).sum::<Time>() as f64 / DRAWS as f64 / mean as f64;
            let error = 4.0 * deviation / (DRAWS as f64).sqrt();
            assert!((found - 1.0).abs() <= error + 1e-9, "{lengths:?}: {found} of the mean, ± {error}");
        }
    }

    /// A time of a million seconds and the one after it fit into what there is.
    #[test]
    fn no_length_is_beyond_the_end_of_time() {
        let longest = 1_000_000 * SECOND;
        for lengths in [Lengths::Exponential(longest), Lengths::Pareto(Pareto::of_mean(longest as f64, 1.01))]
        {
            assert!(draws(lengths).all(|length| length <= LONGEST), "{lengths:?}");
            assert!(draws(lengths).any(|length| length == LONGEST), "{lengths:?}");
        }
    }
}
