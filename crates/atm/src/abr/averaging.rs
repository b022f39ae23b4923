//! What ERICA measures over its intervals, and how it averages it: the number of active VCs and the load factor
//! (Kalyanaraman et al., ATM Forum 96-1294, section 4.2.4; Kalyanaraman 1997, pages 399 to 404).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Rate, within};
use crate::catalogue::ParamError;

/// How measurements are averaged over intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What is left of a VC's activity after an interval in which it sent nothing (An). 0: a VC counts only in the
    /// interval in which it is seen. 0.9 is the value recommended.
    #[schemars(range(min = 0, max = 1))]
    pub activity: f64,
    /// Whether a VC that becomes active in the middle of an interval lowers the fair share at once.
    pub immediate: bool,
    /// How the load factor is averaged.
    pub load: LoadAveraging,
    /// Weight of the interval just ended in the average of the load factor (Az).
    #[schemars(range(min = 0, max = 1))]
    pub load_weight: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { activity: 0.0, immediate: false, load: LoadAveraging::None, load_weight: 0.2 }
    }
}

impl Params {
    /// # Errors
    /// A factor outside its range.
    pub(super) fn check(&self) -> Result<(), ParamError> {
        within("averaging.activity", self.activity, 0.0, 1.0)?;
        within("averaging.load-weight", self.load_weight, f64::MIN_POSITIVE, 1.0)
    }
}

/// How the load factor is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadAveraging {
    /// Not at all: the load factor of the last interval counts.
    #[default]
    None,
    /// Exponential average of the ratio, begun anew whenever it is measured as zero or infinite (method 1).
    Ratio,
    /// Ratio of the exponential averages of input and capacity, which begin at zero; shares are then those of the average capacity. An
    /// interval that would make it zero or infinite leaves it as it is (method 2).
    Separate,
}

/// The active VCs: their number (N), and what they are promised.
#[derive(Debug, Clone)]
pub struct Activity {
    decay: f64,
    immediate: bool,
    /// The minimum rate of each VC in cells a second; empty if none has one.
    minima: Vec<f64>,
    /// Activity of each VC: 1 if it was seen in the interval in progress, else what is left of it.
    levels: Vec<f64>,
    /// What each VC has contributed to `sum`.
    counted: Vec<f64>,
    /// The VCs that became active in the interval in progress. An interval may be one cell long, and VCs very many.
    seen: Vec<u32>,
    /// Those of the last interval; before it ends, all under rate control.
    last: Vec<u32>,
    /// The activity of all VCs when the last interval ended, and since then if updates are immediate.
    sum: f64,
    /// The sum of the minimum rates, each as far as its VC counts in `sum`.
    promised: f64,
}

impl Activity {
    /// Before anything is measured, all VCs under rate control count; `minima` are their minimum rates, `None` for other VCs.
    #[must_use]
    pub fn new(params: &Params, minima: &[Option<Rate>]) -> Self {
        let promises = minima.iter().flatten().any(|&minimum| minimum > Rate::ZERO);
        let controlled: Vec<u32> =
            (0..).zip(minima).filter_map(|(vc, minimum)| minimum.map(|_| vc)).collect();
        let minima_of_all = minima.iter().map(|minimum| minimum.unwrap_or_default().cells());
        Self {
            decay: params.activity,
            immediate: params.immediate,
            promised: minima.iter().flatten().map(|minimum| minimum.cells()).sum(),
            levels: vec![0.0; minima.len()],
            counted: minima.iter().map(|minimum| f64::from(minimum.is_some())).collect(),
            minima: minima_of_all.filter(|_| promises).collect(),
            seen: Vec::new(),
            sum: controlled.len() as f64,
            last: controlled,
        }
    }

    /// Whether a VC that becomes active in the middle of an interval counts at once.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// A cell of `vc` is seen. Whether the number in force changed by that.
    #[inline]
    pub fn see(&mut self, vc: u32) -> bool {
        let level = &mut self.levels[vc as usize];
        if *level < 1.0 {
            *level = 1.0;
            self.seen.push(vc);
        }
        self.immediate && self.count_at_once(vc)
    }

    #[cold]
    fn count_at_once(&mut self, vc: u32) -> bool {
        if self.counted[vc as usize] >= 1.0 {
            return false;
        }
        let added = 1.0 - self.counted[vc as usize];
        self.counted[vc as usize] = 1.0;
        self.sum += added;
        self.promised += added * self.minimum(vc);
        true
    }

    /// An interval ends.
    pub fn finish(&mut self) {
        std::mem::swap(&mut self.seen, &mut self.last);
        if self.decay == 0.0 {
            // `seen` are those of the interval before now.
            self.forget();
        } else {
            self.decay();
        }
        self.seen.clear();
    }

    /// No VC counts but those of the last interval. The sums are those over all VCs, to the last bit: zeros add nothing.
    fn forget(&mut self) {
        for &vc in &self.seen {
            self.counted[vc as usize] = 0.0;
        }
        for &vc in &self.last {
            (self.counted[vc as usize], self.levels[vc as usize]) = (1.0, 0.0);
        }
        self.sum = self.last.len() as f64;
        if !self.minima.is_empty() {
            self.last.sort_unstable();
            let minima = self.last.iter().map(|&vc| self.minima[vc as usize]);
            self.promised = minima.fold(0.0, |sum, minimum| sum + minimum);
        }
    }

    /// All VCs count as far as they are active still.
    fn decay(&mut self) {
        self.sum = 0.0;
        for (level, counted) in self.levels.iter_mut().zip(&mut self.counted) {
            self.sum += *level;
            *counted = *level;
            *level *= self.decay;
        }
        if !self.minima.is_empty() {
            let vcs = self.minima.iter().zip(&self.counted);
            self.promised = vcs.map(|(minimum, counted)| minimum * counted).sum();
        }
    }

    /// The VCs seen in the interval that has just ended, in their order if any has a minimum rate; `None` if those seen before still
    /// count.
    #[must_use]
    pub fn last(&self) -> Option<&[u32]> {
        (self.decay == 0.0).then_some(&self.last)
    }

    /// The number of active VCs in force, at least one.
    #[must_use]
    pub fn number(&self) -> f64 {
        self.sum.max(1.0)
    }

    /// What the active VCs are promised, in cells a second: the sum of their minimum rates.
    #[must_use]
    pub fn promised(&self) -> f64 {
        self.promised
    }

    /// The minimum rate of `vc` in cells a second.
    #[must_use]
    pub fn minimum(&self, vc: u32) -> f64 {
        self.minima.get(vc as usize).copied().unwrap_or(0.0)
    }

    /// The minimum rates of all VCs in cells a second; none if no VC has one.
    #[must_use]
    pub fn minima(&self) -> &[f64] {
        &self.minima
    }
}

/// An interval's ABR capacity and input, in cells or in cells a second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traffic {
    /// What there is room for.
    pub capacity: f64,
    /// What comes.
    pub input: f64,
    /// What of the input VCs send within their minimum rates.
    pub entitled: f64,
}

impl Traffic {
    fn each(self, other: Self, change: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            capacity: change(self.capacity, other.capacity),
            input: change(self.input, other.input),
            entitled: change(self.entitled, other.entitled),
        }
    }

    /// As a rate, if it took so many seconds.
    fn over(self, seconds: f64) -> Self {
        self.each(self, |cells, _| cells / seconds)
    }
}

/// The load factor z: ABR input over ABR capacity, of both what is above the minimum rates.
#[derive(Debug, Clone)]
pub struct Load {
    averaging: LoadAveraging,
    weight: f64,
    factor: f64,
    /// Averages of an interval's cells and of its length in seconds (method 2).
    cells: Traffic,
    seconds: f64,
}

impl Load {
    /// Before anything is measured, the load factor is 1: sources keep what they have.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self {
            averaging: params.load,
            weight: params.load_weight,
            factor: 1.0,
            cells: Traffic::default(),
            seconds: 0.0,
        }
    }

    /// The rates after an interval of so many cells and seconds.
    pub fn rates(&mut self, cells: Traffic, seconds: f64) -> Traffic {
        if self.averaging != LoadAveraging::Separate {
            return cells.over(seconds);
        }
        // All start at zero, and with the same weights that cancels in their ratios.
        let weight = self.weight;
        self.cells = self.cells.each(cells, |average, latest| average + weight * (latest - average));
        self.seconds += weight * (seconds - self.seconds);
        self.cells.over(self.seconds)
    }

    /// The load factor for a capacity and an input above the minimum rates: infinite without capacity, zero without input,
    /// unless the averaging allows neither.
    pub fn update(&mut self, capacity: f64, input: f64) -> f64 {
        let latest = if capacity > 0.0 { input / capacity } else { f64::INFINITY };
        let measures = |factor: f64| factor > 0.0 && factor < f64::INFINITY;
        self.factor = match self.averaging {
            LoadAveraging::None => latest,
            LoadAveraging::Ratio if measures(self.factor) && measures(latest) => {
                (1.0 - self.weight) * self.factor + self.weight * latest
            }
            LoadAveraging::Ratio => latest,
            LoadAveraging::Separate if measures(latest) => latest,
            LoadAveraging::Separate => self.factor,
        };
        self.factor
    }
}
