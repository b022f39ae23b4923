//! The rate with long-range dependence: bounds, mean, and the Hurst parameter estimated from the numbers.

use celltrain_engine::{
    Time,
    quantity::{BitRate, Duration},
    random::Randomness,
    time::MILLISECOND,
};
use celltrain_network::traffic::long_range::{LongRange, Params};

/// Length of the samples: the mean cycle of the sources, above which the process is alike on all scales.
const SAMPLE: Time = 20 * MILLISECOND;
const SAMPLES: usize = 1 << 16;
const REPLICATIONS: u64 = 4;

fn params(hurst: f64) -> Params {
    let (minimum, mean, maximum) = (BitRate(1_000_000), BitRate(7_000_000), BitRate(16_000_000));
    Params { minimum, mean, maximum, hurst, sources: 15, cycle: Duration(SAMPLE) }
}

fn process(hurst: f64, replication: u64) -> LongRange {
    let generator = Randomness { seed: 1, replication }.named("video");
    LongRange::new(&params(hurst), generator).unwrap()
}

/// Means of the rate over successive samples.
fn samples(hurst: f64, replication: u64) -> Vec<f64> {
    let (mut sums, mut changes) = (vec![0.0; SAMPLES], process(hurst, replication).peekable());
    let end = SAMPLE * SAMPLES as Time;
    while let Some((start, rate)) = changes.next().filter(|change| change.0 < end) {
        let until = changes.peek().expect("the process is endless").0.min(end);
        let mut from = start;
        while from < until {
            let sample = from / SAMPLE;
            let to = until.min((sample + 1) * SAMPLE);
            sums[sample as usize] += rate.0 as f64 * (to - from) as f64 / SAMPLE as f64;
            from = to;
        }
    }
    sums
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn square(value: f64) -> f64 {
    value * value
}

/// The variance of means over blocks of `block` samples, about the known mean: the mean of so few blocks would hide a
/// part of it.
fn variance(samples: &[f64], block: usize, about: f64) -> f64 {
    let squares: Vec<_> = samples.chunks_exact(block).map(|chunk| square(mean(chunk) - about)).collect();
    mean(&squares)
}

/// H by aggregated variance: the variance of block means falls as block^(2H - 2); the slope by least squares.
fn estimate(hurst: f64) -> f64 {
    let replications: Vec<_> = (0..REPLICATIONS).map(|replication| samples(hurst, replication)).collect();
    let points: Vec<_> = (4..=9)
        .map(|power| {
            let variances: Vec<_> =
                replications.iter().map(|samples| variance(samples, 1 << power, 7e6)).collect();
            (f64::from(power), libm::log2(mean(&variances)))
        })
        .collect();
    let (x, y): (Vec<_>, Vec<_>) = points.into_iter().unzip();
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let above: f64 = x.iter().zip(&y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let below: f64 = x.iter().map(|x| square(x - x_mean)).sum();
    1.0 + above / below / 2.0
}

#[test]
fn aggregated_variance_finds_the_hurst_parameter() {
    for hurst in [0.7, 0.8, 0.9] {
        let found = estimate(hurst);
        assert!((found - hurst).abs() < 0.05, "H = {hurst}: estimated {found}");
    }
}

#[test]
fn the_rate_keeps_its_bounds_and_its_mean() {
    let means: Vec<_> = (0..REPLICATIONS).map(|replication| mean(&samples(0.8, replication))).collect();
    let found = mean(&means);
    assert!((found / 7e6 - 1.0).abs() < 0.02, "{means:?}");
    let mut last = None;
    for (time, rate) in process(0.8, 0).take(100_000) {
        assert!(last.is_none_or(|last| last < time) && (1_000_000..=16_000_000).contains(&rate.0));
        assert_eq!((rate.0 - 1_000_000) % 1_000_000, 0, "fifteen sources make fifteen steps");
        last = Some(time);
    }
}

#[test]
fn the_start_is_like_any_other_time() {
    let at_start: Vec<_> =
        (0..20_000).map(|replication| process(0.8, replication).next().unwrap().1.0 as f64).collect();
    assert!((mean(&at_start) / 7e6 - 1.0).abs() < 0.01);
    let first_change = |replication| process(0.8, replication).nth(1).unwrap().0 as f64;
    // The first of fifteen sources to change: in equilibrium some are changing at any time, none waits for its shortest
    // time to pass.
    let early = (0..20_000).filter(|&replication| first_change(replication) < SAMPLE as f64 / 100.0).count();
    assert!(early > 1_000, "{early}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let generator = || Randomness { seed: 1, replication: 0 }.named("video");
    let refused = |params: Params| LongRange::new(&params, generator()).unwrap_err().0;
    assert_eq!(refused(Params { mean: BitRate(16_000_000), ..params(0.8) }), "mean");
    for hurst in [0.5, 1.0, f64::NAN, -1.0] {
        assert_eq!(refused(params(hurst)), "hurst");
    }
    assert_eq!(refused(Params { sources: 0, ..params(0.8) }), "sources");
    assert_eq!(refused(Params { cycle: Duration(0), ..params(0.8) }), "cycle");
}
