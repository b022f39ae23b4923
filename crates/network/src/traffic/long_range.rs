//! A rate that varies alike on all time scales, as measured of compressed video: long-range dependence.
//!
//! It is the sum of independent sources that are on or off for times with a Pareto distribution of shape alpha = 3 - 2H.
//! Such times have a mean but no variance, and the number of sources that are on is then a process of Hurst parameter H
//! (Willinger, Taqqu, Sherman and Wilson 1997). The rate lies between its bounds by construction.

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_engine::{
    quantity::{BitRate, Duration},
    random::Generator,
    time::{MILLISECOND, Time},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lengths::Pareto;

/// Parameters of a rate with long-range dependence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// Lowest rate, with all sources off.
    pub minimum: BitRate,
    /// Mean rate, over a time that is very long: averages of such a process converge slowly.
    pub mean: BitRate,
    /// Highest rate, with all sources on.
    pub maximum: BitRate,
    /// Hurst parameter H, above 0.5 (no long-range dependence) and below 1. Video has been measured at about 0.8.
    #[serde(default = "usual_hurst")]
    #[schemars(range(min = 0.5, max = 1))]
    pub hurst: f64,
    /// Number of on-off sources, and so of steps between the lowest and the highest rate.
    #[serde(default = "usual_sources")]
    #[schemars(range(min = 1, max = 1000))]
    pub sources: u32,
    /// Mean length of an on and an off time together, 1 us or more. The rate is alike on time scales above it.
    #[serde(default = "usual_cycle")]
    pub cycle: Duration,
}

fn usual_hurst() -> f64 {
    0.8
}

fn usual_sources() -> u32 {
    16
}

fn usual_cycle() -> Duration {
    Duration(100 * MILLISECOND)
}

/// An on-off source: when it changes, and whether it is on until then.
type OnOff = Reverse<(Time, bool)>;

/// The rate as it changes: an endless iterator over (time, rate from then on). The first time is zero, where the process
/// has been running for ever.
#[derive(Debug, Clone)]
pub struct LongRange {
    params: Params,
    generator: Generator,
    on: Pareto,
    off: Pareto,
    /// The source that changes next on top.
    sources: BinaryHeap<OnOff>,
    /// How many are on.
    active: u64,
    /// Time of the next item.
    now: Time,
}

impl LongRange {
    /// The process that `generator` draws.
    ///
    /// # Errors
    /// The key of a parameter that makes no sense, and what is wrong with it.
    pub fn new(params: &Params, mut generator: Generator) -> Result<Self, (&'static str, String)> {
        check(params)?;
        let Params { minimum, mean, maximum, .. } = *params;
        let share = (mean.0 - minimum.0) as f64 / (maximum.0 - minimum.0) as f64;
        let (cycle, shape) = (params.cycle.ps() as f64, 3.0 - 2.0 * params.hurst);
        let on = Pareto::of_mean(cycle * share, shape);
        let off = Pareto::of_mean(cycle * (1.0 - share), shape);
        let mut source = |_| {
            let is_on = generator.unit() < share;
            let rest = if is_on { on } else { off }.rest(&mut generator);
            Reverse((rest, is_on))
        };
        let sources: BinaryHeap<OnOff> = (0..params.sources).map(&mut source).collect();
        let active = sources.iter().filter(|source| source.0.1).count() as u64;
        Ok(Self { params: params.clone(), generator, on, off, sources, active, now: 0 })
    }

    /// The rate with the sources as they are.
    fn rate(&self) -> BitRate {
        let range = u128::from(self.params.maximum.0 - self.params.minimum.0);
        let above = range * u128::from(self.active) / self.sources.len() as u128;
        BitRate(self.params.minimum.0 + above as u64)
    }
}

impl Iterator for LongRange {
    type Item = (Time, BitRate);

    fn next(&mut self) -> Option<Self::Item> {
        let now = self.now;
        while let Some(mut source) = self.sources.peek_mut() {
            let Reverse((until, was_on)) = *source;
            if until > now {
                self.now = until;
                break;
            }
            let (length, active) =
                if was_on { (self.off, self.active - 1) } else { (self.on, self.active + 1) };
            *source = Reverse((now.saturating_add(length.draw(&mut self.generator)), !was_on));
            self.active = active;
        }
        Some((now, self.rate()))
    }
}

fn check(params: &Params) -> Result<(), (&'static str, String)> {
    let Params { minimum, mean, maximum, hurst, sources, cycle } = params;
    if !(minimum < mean && mean < maximum) {
        let message = format!("the mean ({mean}) does not lie between {minimum} and {maximum}");
        return Err(("mean", message));
    }
    if !(*hurst > 0.5 && *hurst < 1.0) {
        return Err(("hurst", format!("expected a number above 0.5 and below 1, found {hurst}")));
    }
    if !(1..=1000).contains(sources) {
        return Err(("sources", format!("expected 1 to 1000 sources, found {sources}")));
    }
    if *cycle == Duration(0) {
        return Err(("cycle", "expected a length of time above 0".into()));
    }
    Ok(())
}
