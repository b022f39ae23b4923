//! Measures: how a quantity is followed over time, and the metrics of a run, each defined once.

pub mod registry;

use celltrain_engine::{Time, time::NEVER};

/// A quantity sampled at a fixed period. Without a period nothing is kept and nothing is ever due.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    period: Time,
    due: Time,
    values: Vec<f64>,
}

impl Sampler {
    /// Samples at `period`, 2 periods, …; `None`: never.
    pub(crate) fn new(period: Option<Time>) -> Self {
        let period = period.unwrap_or(NEVER);
        Self { period, due: period, values: Vec::new() }
    }

    /// When the next sample is to be taken.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// The time between samples.
    pub(crate) fn period(&self) -> Time {
        self.period
    }

    /// Takes the sample that is due.
    pub(crate) fn record(&mut self, value: f64) {
        self.values.push(value);
        self.due += self.period;
    }

    /// The samples as a series.
    pub(crate) fn series(&self, entity: &str, metric: &'static str, unit: &'static str) -> Series {
        let times = (1..=self.values.len() as u64)
            .map(|n| celltrain_engine::time::seconds(n * self.period))
            .collect();
        Series { entity: entity.to_owned(), metric, unit, times, values: self.values.clone() }
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

/// Steps of the histogram per doubling.
const STEPS: u32 = 64;

/// A histogram of times whose bins are a 64th of a power of two wide: no quantile is off by more than 1.6 %.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    /// From the lowest to the highest bin that anything fell into: most of the ports of a large network hardly see a frame.
    counts: Vec<u64>,
    /// The first of these bins.
    lowest: usize,
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: Time) {
        let bin = Self::bin(value);
        match self.counts.get_mut(bin.wrapping_sub(self.lowest)) {
            Some(count) => *count += 1,
            None => self.grow(bin),
        }
    }

    /// Counts the first value in a bin below or above all others.
    #[cold]
    fn grow(&mut self, bin: usize) {
        if self.counts.is_empty() {
            self.lowest = bin;
        }
        if bin < self.lowest {
            self.counts.splice(..0, std::iter::repeat_n(0, self.lowest - bin));
            self.lowest = bin;
        } else {
            self.counts.resize(bin - self.lowest + 1, 0);
        }
        self.counts[bin - self.lowest] = 1;
    }

    /// The value below which a share `quantile` of the values lies, linear within a bin; zero without values.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        let target = quantile * self.counts.iter().sum::<u64>() as f64;
        let mut below = 0.0;
        for (bin, &count) in (self.lowest..).zip(&self.counts).filter(|&(_, &count)| count > 0) {
            let count = count as f64;
            if below + count >= target {
                let (low, high) = (Self::lower_edge(bin) as f64, Self::lower_edge(bin + 1) as f64);
                return low + (high - low) * (target - below) / count;
            }
            below += count;
        }
        0.0
    }

    fn bin(value: Time) -> usize {
        // The leading bit and the six bits behind it; times below STEPS share the first bin.
        let exponent = (value | u64::from(STEPS)).ilog2() - STEPS.ilog2();
        let step = (value >> exponent) as u32 % STEPS;
        (exponent * STEPS + step) as usize
    }

    fn lower_edge(bin: usize) -> u64 {
        let (exponent, step) = (bin as u32 / STEPS, bin as u32 % STEPS);
        u64::from(STEPS + step) << exponent
    }
}

/// Jain's fairness index, `(Σx)² / (n Σx²)`: 1 when all are equal, 1/n when one has all (Jain, Chiu and Hawe 1984).
///
/// Without values, or when all are zero, everybody has the same: 1.
#[must_use]
pub fn fairness_index(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (values.len() as f64 * squares) }
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
        taking_part(&self.rates).iter().sum()
    }

    /// Jain's index of the VCs' excess over their fair parts, equal and weighted: 1 if the excess is shared so. NaN if
    /// there is none.
    #[must_use]
    pub fn indices(&self) -> [f64; 2] {
        let has_any = self.total() > 0.0;
        [&self.of_equal, &self.of_weighted]
            .map(|parts| if has_any { fairness_index(&taking_part(parts)) } else { f64::NAN })
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
        assert_eq!(fairness_index(&[0.0, 0.0]), 1.0);
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
            assert_eq!(excess.total(), 0.0);
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

    #[test]
    fn quantiles_are_good_to_a_bin() {
        let mut histogram = Histogram::default();
        for value in 1..=100_000u64 {
            histogram.add(value * 1000);
        }
        for quantile in [0.01, 0.5, 0.95, 0.99] {
            let exact = quantile * 1e8;
            assert!((histogram.quantile(quantile) / exact - 1.0).abs() < 0.01, "{quantile}");
        }
    }

    #[test]
    fn a_histogram_does_not_depend_on_the_order_of_its_values() {
        let values = [3, 1 << 40, 70, 5_000_000, 70, 1 << 20];
        let (mut up, mut down) = (Histogram::default(), Histogram::default());
        values.iter().for_each(|&value| up.add(value));
        values.iter().rev().for_each(|&value| down.add(value));
        for quantile in [0.1, 0.3, 0.5, 0.7, 0.9, 1.0] {
            assert_eq!(up.quantile(quantile), down.quantile(quantile), "{quantile}");
        }
        assert!((up.quantile(1.0) / (1u64 << 40) as f64 - 1.0).abs() < 0.016);
    }
}
