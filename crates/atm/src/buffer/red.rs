//! Random early detection: frames are refused or marked at random, more often the longer the average queue.
//!
//! At each first cell the average of the occupancy is updated with weight w. If the buffer is empty, the average decays to
//! (1 - w)^m of what it was, where m is the number of frames that could have been sent in the idle time. The arrival that ends it is no
//! sample, as in figure 2 of the source; in ns-2 it is one of 0, so that the exponent is m + 1. Below `min` every frame is admitted.
//! Between `min` and `max` a frame is refused with a probability that grows to `max-p`. Above `max` all are refused, or, with `gentle`, a
//! part that grows to 1 at twice `max`. The number of frames since the last refusal spaces the refusals evenly. A frame that finds the
//! buffer full counts in the average, but it has no part in that number, nor does it begin it anew.
//!
//! The average lets short bursts pass and answers lasting congestion before the buffer overflows. Refusals at random fall on the
//! connections in proportion to what they send, and the connections do not all back off at once. The average lags behind a
//! sudden overload, so a threshold for EPD can be added. The state is one average for all VCs, and nothing per VC beyond EPD.
//!
//! Where the average settles depends on the load. Adaptive RED adapts `max-p` so slowly that it does not disturb the average, until
//! that stays in the middle of the range from `min` to `max`.

use celltrain_engine::{Time, quantity::BitRate, random::Generator, time::SECOND};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Departure, ParamError, PerVc, PortContext, PortState, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{Cell, cell::CELL_BITS, quantity::Level};

/// Parameters of RED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Average occupancy from which frames are refused at random. The source counts 5 packets; of a buffer of cells the
    /// default takes a part.
    pub min: Level,
    /// Average occupancy from which all frames are refused, or more of them if gentle. The source advises at least
    /// twice `min`, later notes of its authors three times.
    pub max: Level,
    /// Probability of refusal as the average reaches `max`, above 0 and at most 1 (0.02 in the source, 0.1 in later
    /// notes of its authors).
    pub max_p: f64,
    /// Weight w of the present occupancy in the average, above 0 and at most 1 (0.002 in the source).
    pub weight: f64,
    /// Above `max`, let the probability grow to 1 at twice `max` instead of refusing all frames at once.
    pub gentle: bool,
    /// Let `max-p` follow the load, as Adaptive RED does: `max-p` is the first value then. At the first frame of each half of a second it
    /// grows by 0.01, or by a quarter of itself if that is less, if the average is above the middle fifth of the range from `min`
    /// to `max`, and it shrinks to 0.9 of itself if the average is below that. It grows while it is at most 0.5, and shrinks while it is at
    /// least 0.01. The source combines it with `gentle`.
    pub adaptive: bool,
    /// Number of cells in a typical frame: an idle time of so many cell times counts as one frame in the average.
    #[schemars(range(min = 1))]
    pub typical_frame: u32,
    /// Occupancy from which all new frames are refused whatever the average; without it there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epd: Option<Level>,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports where the others are refused at random (RFC 3168). Where all are
    /// refused, they are too.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            min: Level::Share(250_000),
            max: Level::Share(750_000),
            max_p: 0.1,
            weight: 0.002,
            gentle: false,
            adaptive: false,
            typical_frame: 32,
            epd: None,
            end_marks: EndMarks::default(),
            ecn: false,
        }
    }
}

/// The average of the occupancy at first cells.
#[derive(Debug, Clone)]
pub struct Average {
    weight: f64,
    /// Time to send a typical frame, in picoseconds.
    frame_time: f64,
    value: f64,
    /// Since when the buffer has been empty, if it is; up to here the average has decayed, but for `idle_frames`.
    idle_from: Time,
    /// Frames that the link could have sent in the idle time before `idle_from`, at other rates.
    idle_frames: f64,
}

impl Average {
    /// An average of 0 of an empty buffer.
    #[must_use]
    pub fn new(weight: f64, frame_time: f64) -> Self {
        Self { weight, frame_time, value: 0.0, idle_from: 0, idle_frames: 0.0 }
    }

    /// The average, in the buffer's units.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// A frame arrives and finds `occupancy`.
    pub fn on_arrival(&mut self, occupancy: u64, now: Time) {
        if occupancy == 0 {
            // An average of 0 stays what it is, at ports that are never busy for long.
            if self.value > 0.0 {
                let frames = self.idle_frames + (now - self.idle_from) as f64 / self.frame_time;
                self.value *= libm::pow(1.0 - self.weight, frames);
            }
            (self.idle_from, self.idle_frames) = (now, 0.0);
        } else {
            self.value += self.weight * (occupancy as f64 - self.value);
        }
    }

    /// A cell left the buffer.
    pub fn on_departure(&mut self, now: Time) {
        (self.idle_from, self.idle_frames) = (now, 0.0);
    }

    /// A typical frame takes `frame_time` from `now` on. Where the buffer is not empty, the next departure forgets the idle time.
    pub fn on_frame_time(&mut self, frame_time: f64, now: Time) {
        self.idle_frames += (now - self.idle_from) as f64 / self.frame_time;
        (self.idle_from, self.frame_time) = (now, frame_time);
    }
}

/// The probability of refusal by the average, before the refusals are spaced.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Where refusals begin, in the buffer's units.
    pub min: u64,
    /// Where the probability reaches `max_p`.
    pub max: u64,
    /// The probability at `max`.
    pub max_p: f64,
    /// Whether the probability grows on from `max` to 1 at twice `max`.
    pub gentle: bool,
}

impl Curve {
    /// The probability p_b of refusal at an average of `average`; nothing below `min`, and 1 where all frames are
    /// refused.
    #[must_use]
    pub fn probability(&self, average: f64) -> Option<f64> {
        let (min, max) = (self.min as f64, self.max as f64);
        if average < min {
            None
        } else if average < max {
            Some(self.max_p * (average - min) / (max - min))
        } else if self.gentle && average < 2.0 * max {
            Some(self.max_p + (1.0 - self.max_p) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }
}

/// How Adaptive RED adapts the probability at `max` to the load (Floyd, Gummadi and Shenker 2001).
///
/// The source has a timer. Here the first frame of each interval stands for it, as nothing reads the probability while no frame comes.
#[derive(Debug, Clone)]
pub struct Adaptation {
    /// Where the average is to stay, in the buffer's units.
    target: [f64; 2],
    /// The number of the interval in which the probability was looked at last.
    interval: u64,
}

impl Adaptation {
    /// The time between two changes.
    pub const INTERVAL: Time = SECOND / 2;
    /// The most that is added at once, and the factor by which the probability shrinks.
    const ALPHA: f64 = 0.01;
    const BETA: f64 = 0.9;
    /// The probabilities from which on it shrinks, and up to which it grows.
    const RANGE: [f64; 2] = [0.01, 0.5];

    /// Adaptation to an average in the middle fifth of `min` to `max`.
    #[must_use]
    pub fn new(min: u64, max: u64) -> Self {
        let at = |share: f64| min as f64 + share * (max - min) as f64;
        Self { target: [at(0.4), at(0.6)], interval: 0 }
    }

    /// The probability at `max` after a frame arrived at `now` and found `average`, if it was `max_p` before.
    #[must_use]
    pub fn adapted(&mut self, max_p: f64, average: f64, now: Time) -> f64 {
        let interval = now / Self::INTERVAL;
        if std::mem::replace(&mut self.interval, interval) == interval {
            max_p
        } else if average > self.target[1] && max_p <= Self::RANGE[1] {
            max_p + f64::min(Self::ALPHA, max_p / 4.0)
        } else if average < self.target[0] && max_p >= Self::RANGE[0] {
            max_p * Self::BETA
        } else {
            max_p
        }
    }
}

/// The probability p_a of refusal for the frame that is number `count` since the last refusal: p_b / (1 - count p_b).
///
/// With constant p_b the gaps between refusals are evenly distributed instead of geometrically. As in the algorithm of
/// the source the frame after a refusal is number 1, and the first one that finds the average at `min` or more is
/// number 0.
#[must_use]
pub fn spaced(probability: f64, count: u64) -> f64 {
    let rest = 1.0 - count as f64 * probability;
    if probability < rest { probability / rest } else { 1.0 }
}

/// The RED policy.
pub type Red = FramePolicy<ByAverage>;

/// Admits frames at random by the average occupancy.
#[derive(Debug, Clone)]
pub struct ByAverage {
    average: Average,
    /// In cells.
    typical_frame: u32,
    curve: Curve,
    /// What changes the curve in the course of time, if anything does.
    adaptation: Option<Adaptation>,
    /// Occupancy from which all frames are refused.
    epd: u64,
    /// Whether frames are marked instead of refused.
    marks: bool,
    /// Frames since the last refusal; nothing while the average is below `min`.
    count: Option<u64>,
    /// Whether the last refusal was for certain: such a frame is not marked instead.
    certain: bool,
    generator: Generator,
}

/// The time of a frame of so many cells, in picoseconds.
fn frame_time(cells: u32, rate: BitRate) -> f64 {
    f64::from(cells) * CELL_BITS as f64 * SECOND as f64 / rate.0 as f64
}

fn check(params: &Params) -> Result<(), ParamError> {
    let wrong = |key, message: String| Err(ParamError { key, message });
    for (key, value) in [("max-p", params.max_p), ("weight", params.weight)] {
        if !(value > 0.0 && value <= 1.0) {
            return wrong(key, format!("expected a number above 0 and at most 1, found {value}"));
        }
    }
    if params.typical_frame == 0 {
        return wrong("typical-frame", "a frame has at least 1 cell".into());
    }
    Ok(())
}

impl FrameRule for ByAverage {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Refuses or marks new frames at random, the more often the higher the average occupancy.";
    const REFERENCE: &'static str = "Floyd and Jacobson 1993, by whole frames; Floyd 2000 (gentle); Floyd, Gummadi and Shenker 2001 (adaptive); RFC 3168 (marks)";
    const LEVELS: Levels<Params> = |params| {
        let levels = [("min", Some(params.min)), ("max", Some(params.max)), ("epd", params.epd)];
        levels.into_iter().filter_map(|(key, level)| Some((key, level?))).collect()
    };
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        check(params)
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let curve = Curve {
            min: port.level("min", params.min)?,
            max: port.level("max", params.max)?,
            max_p: params.max_p,
            gentle: params.gentle,
        };
        check(params)?;
        if curve.min > curve.max {
            let message = format!("min ({}) is above max ({})", params.min, params.max);
            return Err(ParamError { key: "min", message });
        }
        let adaptation = params.adaptive.then(|| Adaptation::new(curve.min, curve.max));
        let epd = params.epd.map_or(Ok(u64::MAX), |level| port.level("epd", level))?;
        let typical_frame = params.typical_frame;
        Ok(Self {
            average: Average::new(params.weight, frame_time(typical_frame, port.rate)),
            typical_frame,
            curve,
            adaptation,
            epd,
            marks: params.ecn,
            count: None,
            certain: false,
            generator: port.generator.clone(),
        })
    }

    fn admits<S: PortState>(&mut self, _: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let probability = self.curve.probability(self.average.value());
        self.certain = port.occupancy() >= self.epd || probability == Some(1.0);
        if self.certain {
            self.count = Some(0);
            return false;
        }
        let Some(probability) = probability else {
            self.count = None;
            return true;
        };
        let count = self.count.map_or(0, |count| count + 1);
        let refused = self.generator.unit() < spaced(probability, count);
        self.count = Some(if refused { 0 } else { count });
        !refused
    }

    fn marks(&self) -> bool {
        self.marks && !self.certain
    }

    /// Frames that find the buffer full count in the average too.
    #[inline(always)]
    fn on_first<S: PortState>(&mut self, _: &Cell, port: &View<'_, PerVc, S>, now: Time) {
        self.average.on_arrival(port.occupancy(), now);
        if let Some(adaptation) = &mut self.adaptation {
            self.curve.max_p = adaptation.adapted(self.curve.max_p, self.average.value(), now);
        }
    }

    fn on_rate(&mut self, rate: BitRate, now: Time) {
        self.average.on_frame_time(frame_time(self.typical_frame, rate), now);
    }

    /// The idle time begins with a departure.
    #[inline]
    fn on_departure(&mut self, departure: Departure) {
        self.average.on_departure(departure.now);
    }
}
