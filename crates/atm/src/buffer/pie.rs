//! PIE: frames are refused or marked at random on arrival, with a probability that a proportional-integral controller sets so
//! that the queueing delay stays at a target.
//!
//! Every `update` the probability changes with the distance of the delay from the target, and with the change of the delay
//! since the last update; small probabilities change in small steps. The delay is the backlog divided by the rate of the link,
//! which also carries what it adds to each packet.
//! For `max-burst` after a quiet time no frame is refused.
//!
//! The state is four numbers for the queue, and nothing per VC beyond that of frames.

use celltrain_engine::{
    Time,
    quantity::{BitRate, Duration},
    random::Generator,
    time::{MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Departure, ParamError, PerVc, PortContext, PortState, View,
    frame::{CellHook, EndMarks, FramePolicy, FrameRule},
};
use crate::{Cell, cell::CELL_BITS};

/// Parameters of PIE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The queueing delay to be kept (QDELAY_REF, 15 ms).
    pub target: Duration,
    /// How often the probability is computed anew (T_UPDATE, 15 ms).
    pub update: Duration,
    /// Weight of the deviation from the target, in Hz (1/8).
    pub alpha: f64,
    /// Weight of the change since the last update, in Hz (1 1/4).
    pub beta: f64,
    /// How long a burst may be of which nothing is refused (MAX_BURST, 150 ms).
    pub max_burst: Duration,
    /// Bytes of a typical packet, of which a cell has 53: with no more than two of them in the buffer nothing is refused (MEAN_PKTSIZE,
    /// 1024).
    pub mean_packet: u32,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports instead of refusing them, while the probability is below `mark-threshold`.
    pub ecn: bool,
    /// The probability from which they are refused too (mark_ecnth, 0.1).
    pub mark_threshold: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Duration(15 * MILLISECOND),
            update: Duration(15 * MILLISECOND),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration(150 * MILLISECOND),
            mean_packet: 1024,
            end_marks: EndMarks::default(),
            ecn: false,
            mark_threshold: 0.1,
        }
    }
}

/// The controller (RFC 8033, appendix A).
#[derive(Debug, Clone)]
pub struct Controller {
    /// In seconds.
    target: f64,
    alpha: f64,
    beta: f64,
    /// In updates.
    max_burst: u64,
    /// `drop_prob_`.
    probability: f64,
    /// `qdelay_old_`, in seconds.
    old_delay: f64,
    /// `burst_allowance_`, in updates.
    burst: u64,
}

impl Controller {
    /// Before anything has arrived.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        let max_burst = params.max_burst.ps().div_ceil(params.update.ps().max(1));
        Self {
            target: params.target.ps() as f64 / SECOND as f64,
            alpha: params.alpha,
            beta: params.beta,
            max_burst,
            probability: 0.0,
            old_delay: 0.0,
            burst: max_burst,
        }
    }

    /// The probability with which a frame is to be refused.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Computes the probability anew, with a queueing delay of `delay` seconds (`calculate_drop_prob`).
    pub fn update(&mut self, delay: f64) {
        let step = self.alpha * (delay - self.target) + self.beta * (delay - self.old_delay);
        self.probability += step / self.scale();
        if delay == 0.0 && self.old_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = delay;
        self.burst = self.burst.saturating_sub(1);
    }

    /// Small probabilities change in small steps.
    fn scale(&self) -> f64 {
        match self.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        }
    }

    /// Makes `count` updates without a queue at once, if all that they change is the allowance for bursts.
    fn rest(&mut self, count: u64) -> bool {
        let at_rest = self.probability == 0.0 && self.old_delay == 0.0;
        if at_rest {
            self.burst = self.burst.saturating_sub(count);
        }
        at_rest
    }

    /// Whether a frame that arrives with a queueing delay of `delay` seconds may be refused at all; `few`: no more than two packets are
    /// in the buffer (`enque`, `drop_early`).
    pub fn may_refuse(&mut self, delay: f64, few: bool) -> bool {
        let half = self.target / 2.0;
        if self.probability == 0.0 && delay < half && self.old_delay < half {
            self.burst = self.max_burst;
        }
        let conserving = self.old_delay < half && self.probability < 0.2 || few;
        self.burst == 0 && !conserving
    }
}

/// The PIE policy.
pub type Pie = FramePolicy<ByDelay>;

/// Admits frames at random by the queueing delay.
#[derive(Debug, Clone)]
pub struct ByDelay {
    controller: Controller,
    update: Time,
    next_update: Time,
    rate: BitRate,
    /// Octets that the line adds to each packet.
    overhead: u64,
    /// Octets in the buffer.
    backlog: u64,
    /// What the line adds to them.
    added: u64,
    /// Octets that count as few.
    few: u64,
    /// Up to which probability frames are marked; 0 if never.
    mark_threshold: f64,
    generator: Generator,
}

/// Octets of a cell or packet.
fn octets(cell: &Cell) -> u64 {
    if cell.octets > 0 { cell.octets.into() } else { CELL_BITS / 8 }
}

impl ByDelay {
    /// The queueing delay in seconds: the dequeue rate of RFC 8033, section 4.3, is below the line rate by what the line adds.
    fn delay(&self) -> f64 {
        (self.backlog + self.added) as f64 * 8.0 / self.rate.0 as f64
    }

    /// What the line adds to a cell or packet.
    fn added_to(&self, cell: &Cell) -> u64 {
        if cell.octets > 0 { self.overhead } else { 0 }
    }

    /// A cell or packet enters the buffer.
    fn enter(&mut self, cell: &Cell, now: Time) {
        self.advance(now);
        self.backlog += octets(cell);
        self.added += self.added_to(cell);
    }

    /// A cell or packet has left the buffer.
    fn leave(&mut self, cell: &Cell, now: Time) {
        self.advance(now);
        let left = self.backlog.checked_sub(octets(cell));
        self.backlog = left.expect("what leaves the buffer has entered it");
        self.added -= self.added_to(cell);
    }

    /// Makes up for the updates before `now`. Called before each change of the backlog.
    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            let missed = (now - self.next_update) / self.update + 1;
            let updates = if self.backlog == 0 && self.controller.rest(missed) {
                missed
            } else {
                self.controller.update(self.delay());
                1
            };
            self.next_update += updates * self.update;
        }
    }
}

fn check(params: &Params) -> Result<(), ParamError> {
    let wrong = |key, message: String| Err(ParamError { key, message });
    for (key, value) in [("target", params.target), ("update", params.update)] {
        if value.ps() < 1_000_000 {
            return wrong(key, format!("expected 1 us or more, found {value}"));
        }
    }
    for (key, value) in [("alpha", params.alpha), ("beta", params.beta)] {
        if !(value > 0.0 && value.is_finite()) {
            return wrong(key, format!("expected a number above 0, found {value}"));
        }
    }
    if !(0.0..=1.0).contains(&params.mark_threshold) {
        return wrong("mark-threshold", format!("expected 0 to 1, found {}", params.mark_threshold));
    }
    Ok(())
}

impl FrameRule for ByDelay {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Refuses or marks new frames at random, so that the queueing delay stays at a target.";
    const REFERENCE: &'static str = "Pan et al. 2013; RFC 8033, appendix A and section 5.1 (marks)";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);
    const ON_CELL: Option<CellHook<Self>> = Some(|rule, cell, _, accepted, now| {
        if accepted {
            rule.enter(cell, now);
        }
    });

    fn check(params: &Params) -> Result<(), ParamError> {
        check(params)
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        check(params)?;
        Ok(Self {
            controller: Controller::new(params),
            update: params.update.ps(),
            next_update: params.update.ps(),
            rate: port.rate,
            overhead: port.overhead,
            backlog: 0,
            added: 0,
            few: 2 * u64::from(params.mean_packet),
            mark_threshold: if params.ecn { params.mark_threshold } else { 0.0 },
            generator: port.generator.clone(),
        })
    }

    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, PerVc, S>, now: Time) -> bool {
        self.advance(now);
        let (delay, few) = (self.delay(), self.backlog <= self.few);
        let may = self.controller.may_refuse(delay, few);
        !(may && self.generator.unit() < self.controller.probability())
    }

    fn marks(&self) -> bool {
        self.controller.probability() < self.mark_threshold
    }

    /// The delay of the next updates is that at the new rate.
    fn on_rate(&mut self, rate: BitRate, now: Time) {
        self.advance(now);
        self.rate = rate;
    }

    /// RM cells take their time on the link too.
    fn on_frameless(&mut self, cell: &Cell, entered: bool, now: Time) {
        if entered {
            self.enter(cell, now);
        } else {
            self.leave(cell, now);
        }
    }

    fn on_departure(&mut self, departure: Departure) {
        self.leave(&departure.cell, departure.now);
    }
}
