//! Measures: how a quantity is followed over time, and the metrics of a run, each defined once.

pub(crate) mod delays;
pub mod histogram;
pub(crate) mod levels;
mod ports;
pub mod registry;

use celltrain_engine::{Time, time::NEVER};

pub use self::histogram::Histogram;
pub(crate) use self::{
    delays::{DelaySampler, Delays, Idle, Together},
    levels::Levels,
    ports::PortSamplers,
};

/// A quantity sampled at a fixed period. Without a period nothing is kept and nothing is ever due.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    /// In a box, as most of very many are not sampled.
    samples: Option<Box<Samples>>,
}

#[derive(Debug, Clone)]
struct Samples {
    period: Time,
    due: Time,
    values: Vec<f64>,
}

impl Sampler {
    /// Samples at `period`, 2 periods, …; `None`: never.
    pub(crate) fn new(period: Option<Time>) -> Self {
        let samples = period.map(|period| Box::new(Samples { period, due: period, values: Vec::new() }));
        Self { samples }
    }

    /// When the next sample is to be taken.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.samples.as_ref().map_or(NEVER, |samples| samples.due)
    }

    /// The time between samples.
    pub(crate) fn period(&self) -> Time {
        self.samples.as_ref().map_or(NEVER, |samples| samples.period)
    }

    /// Takes the sample that is due, if any ever is.
    pub(crate) fn record(&mut self, value: f64) {
        if let Some(samples) = &mut self.samples {
            samples.values.push(value);
            samples.due += samples.period;
        }
    }

    /// The samples as a series.
    pub(crate) fn series(&self, entity: &str, metric: &'static str, unit: &'static str) -> Series {
        let (period, values) = match &self.samples {
            Some(samples) => (samples.period, samples.values.clone()),
            None => (NEVER, Vec::new()),
        };
        let times = (1..=values.len() as u64).map(|n| celltrain_engine::time::seconds(n * period)).collect();
        Series { entity: entity.to_owned(), metric, unit, times, values }
    }
}

/// A quantity over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it belongs to: a flow or a port.
    pub entity: String,
    /// What it is.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Times in seconds.
    pub times: Vec<f64>,
    /// Values.
    pub values: Vec<f64>,
}

impl Series {
    /// The values from `time` on.
    #[must_use]
    pub fn since(&self, time: Time) -> &[f64] {
        let start = celltrain_engine::time::seconds(time);
        &self.values[self.times.partition_point(|&sampled| sampled < start)..]
    }
}

/// Jain's fairness index, `(Σx)² / (n Σx²)`: 1 when all are equal, 1/n when one has all (Jain, Chiu and Hawe 1984).
///
/// NaN where there is nothing to share: without values, or when all are zero.
#[must_use]
pub fn fairness_index(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}

/// A VC with a guarantee, in a measuring period.
#[derive(Debug, Clone, Copy)]
pub struct Guaranteed {
    /// Minimum cell rate in bit/s.
    pub mcr: f64,
    /// Rate in bit/s of the cells whose frames arrived whole.
    pub rate: f64,
    /// Whether it asks for more than its minimum rate.
    pub asks: bool,
}

/// How the VCs with a guarantee share what they get beyond it.
///
/// The excess of a VC is its rate less its minimum cell rate, or zero. Two divisions of the whole excess E among the VCs
/// that ask for some count as fair (ATM Forum TM 4.1, appendix I.3): equal parts, and parts in proportion to the minimum
/// rates m, E m_i/Σm. A VC that asks for no more than its guarantee takes no part: its numbers are NaN.
#[derive(Debug, Clone)]
pub struct Excess {
    /// The excess of each VC in bit/s.
    pub rates: Vec<f64>,
    /// Each VC's excess over its part of the whole in equal parts.
    pub of_equal: Vec<f64>,
    /// Each VC's excess over its part of the whole in proportion to the minimum rates.
    pub of_weighted: Vec<f64>,
}

impl Excess {
    /// The excess of `vcs`; `None` stands for what has no guarantee, which takes no part.
    #[must_use]
    pub fn of(vcs: &[Option<Guaranteed>]) -> Self {
        let asks = |vc: &Option<Guaranteed>| vc.filter(|vc| vc.asks);
        let each = |value: &dyn Fn(Guaranteed) -> f64| -> Vec<f64> {
            vcs.iter().map(|vc| asks(vc).map_or(f64::NAN, value)).collect()
        };
        let excess = |vc: Guaranteed| (vc.rate - vc.mcr).max(0.0);
        let asking = || vcs.iter().filter_map(asks);
        let (count, guaranteed) = (asking().count() as f64, asking().map(|vc| vc.mcr).sum::<f64>());
        let whole: f64 = asking().map(excess).sum();
        Self {
            rates: each(&excess),
            of_equal: each(&|vc| excess(vc) * count / whole),
            of_weighted: each(&|vc| excess(vc) * guaranteed / (whole * vc.mcr)),
        }
    }

    /// The whole excess in bit/s.
    #[must_use]
    pub fn total(&self) -> f64 {
        // A sum of nothing would be -0.0.
        taking_part(&self.rates).iter().fold(0.0, |sum, rate| sum + rate)
    }

    /// Jain's index of the VCs' excess over their fair parts, equal and weighted: 1 if the excess is shared so. NaN if
    /// there is none.
    #[must_use]
    pub fn indices(&self) -> [f64; 2] {
        [&self.of_equal, &self.of_weighted].map(|parts| fairness_index(&taking_part(parts)))
    }
}

fn taking_part(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

/// The synchronisation index of congestion windows: the mean correlation of all pairs, weighted by the windows' own
/// variation, `(Var Σw − Σ Var w) / ((Σ√Var w)² − Σ Var w)`.
///
/// 1 when all windows rise and fall together, 0 when they are unrelated, −1/(n−1) at the least when they take turns with
/// equal swings. It depends on pairs only through the variance of the sum: if windows are synchronised the load swings,
/// if they are not the swings cancel. NaN for fewer than two windows that vary.
#[must_use]
pub fn synchronisation_index(windows: &[&[f64]]) -> f64 {
    let samples = windows.iter().map(|window| window.len()).min().unwrap_or(0);
    let sums: Vec<f64> = (0..samples).map(|t| windows.iter().map(|window| window[t]).sum()).collect();
    let variances: Vec<f64> = windows.iter().map(|window| variance(&window[..samples])).collect();
    if variances.iter().filter(|&&variance| variance > 0.0).count() < 2 {
        return f64::NAN;
    }
    let own: f64 = variances.iter().sum();
    let together: f64 = variances.iter().map(|variance| variance.sqrt()).sum();
    // It is 1 at the most, but for rounding.
    ((variance(&sums) - own) / (together * together - own)).min(1.0)
}

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_textbook_cases() {
        assert_eq!(fairness_index(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(fairness_index(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        // Jain's report: 1, 2 of three users share equally.
        assert!((fairness_index(&[1.0, 1.0, 0.0]) - 2.0 / 3.0).abs() < 1e-15);
        assert!(fairness_index(&[0.0, 0.0]).is_nan());
        assert!(fairness_index(&[]).is_nan());
    }

    fn guaranteed(mcr: f64, rate: f64) -> Option<Guaranteed> {
        Some(Guaranteed { mcr, rate, asks: true })
    }

    #[test]
    fn excess_is_measured_against_both_fair_divisions() {
        // Of 12 beyond the guarantees equal parts are 4 each; 1 : 2 : 3 gives 2, 4 and 6.
        let excess = Excess::of(&[guaranteed(10.0, 12.0), guaranteed(20.0, 24.0), guaranteed(30.0, 36.0)]);
        assert_eq!(excess.rates, [2.0, 4.0, 6.0]);
        assert_eq!(excess.of_equal, [0.5, 1.0, 1.5]);
        assert_eq!(excess.of_weighted, [1.0, 1.0, 1.0]);
        assert_eq!(excess.total(), 12.0);
        // (2 + 4 + 6)^2 / (3 (4 + 16 + 36)) = 144/168.
        assert_eq!(excess.indices(), [6.0 / 7.0, 1.0]);
        // Equal parts, against 2, 4 and 6: 2, 1 and 2/3, whose index is (11/3)^2 / (3 * 49/9) = 121/147.
        let equal = Excess::of(&[guaranteed(10.0, 14.0), guaranteed(20.0, 24.0), guaranteed(30.0, 34.0)]);
        let [by_equal, by_weight] = equal.indices();
        assert!(by_equal == 1.0 && (by_weight - 121.0 / 147.0).abs() < 1e-15, "{by_weight}");
    }

    #[test]
    fn who_asks_for_nothing_beyond_takes_no_part_but_who_is_kept_below_does() {
        let modest = Some(Guaranteed { mcr: 10.0, rate: 9.0, asks: false });
        let excess = Excess::of(&[modest, None, guaranteed(10.0, 8.0), guaranteed(10.0, 16.0)]);
        assert!(excess.rates[0].is_nan() && excess.of_equal[1].is_nan() && excess.of_weighted[0].is_nan());
        assert_eq!((&excess.rates[2..], &excess.of_equal[2..]), (&[0.0, 6.0][..], &[0.0, 2.0][..]));
        assert_eq!(excess.indices(), [0.5, 0.5]);
        // Nobody gets anything beyond, or nobody has a guarantee.
        for none in [&[guaranteed(10.0, 8.0)][..], &[None, modest]] {
            let excess = Excess::of(none);
            assert_eq!(excess.total().to_bits(), 0.0_f64.to_bits());
            assert!(excess.indices().iter().all(|index| index.is_nan()));
        }
    }

    #[test]
    fn synchronisation_tells_together_from_taking_turns() {
        let (up, down) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]);
        assert!((synchronisation_index(&[&up, &up, &up]) - 1.0).abs() < 1e-12);
        assert!((synchronisation_index(&[&up, &down]) + 1.0).abs() < 1e-12);
        let (left, right) = ([1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]);
        assert!(synchronisation_index(&[&left, &right]).abs() < 1e-12);
        assert!(synchronisation_index(&[&up]).is_nan());
    }
}
