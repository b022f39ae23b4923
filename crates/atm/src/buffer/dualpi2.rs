//! DualPI2: a queue of low latency beside a classic one, with one controller for both.
//!
//! Scalable transports want many marks at a short queue, classic ones (Reno, CUBIC) few drops or marks at a longer one. A frame belongs to
//! the queue of low latency if it is ECT(1), or was marked before it came. The congestion control `prague` sends ECT(1). `dctcp` sends
//! ECT(0), so its data go to the classic queue.
//!
//! A controller of the longer of the two queues' delays sets a base probability p'. Classic frames are dropped or marked with its square,
//! frames of low latency are marked with `coupling` times it: as the rate of Reno falls with the root of its losses and that of a scalable
//! control with the marks themselves, flows of both kinds then get about the same rate while p' is steady. Beside a few classic flows it is
//! not: it follows their sawtooth, and the scalable flows, which grow while it is low, get up to two and a half times as much. A queue of
//! low latency has a threshold of its own as well, so that it stays short if it is alone. Drops and marks are spaced evenly, not drawn at
//! random.
//!
//! From p' = 1 / `coupling` on every frame of low latency is marked, and marks can say no more. There classic frames are dropped even if they
//! could be marked, and frames of low latency are dropped with the same probability, the square of p'; those that remain are marked.
//!
//! It belongs with the discipline `dual-queue`, which serves frames of low latency first, but for a small share. The queues share the
//! port's buffer.
//!
//! Each service category has two queues, and a controller for them, as strict priority serves it by itself.
//!
//! State: three numbers for both queues, a count and the times of arrival for each.

use std::collections::VecDeque;

use celltrain_engine::{
    Time,
    quantity::Duration,
    time::{MICROSECOND, MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Dequeue, Fate, Head, ParamError, PortContext, PortState, View,
    classes::Classes,
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::Cell;

/// Parameters of DualPI2. The gains and the time between updates follow from them: RFC 9332, figure 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The delay of the classic queue to be kept (target, 15 ms).
    pub target: Duration,
    /// The longest round trip for which the controller is stable (`RTT_max`, 100 ms).
    pub longest_round_trip: Duration,
    /// How many times the base probability is the probability of a mark in the queue of low latency (k, 2).
    pub coupling: f64,
    /// The delay above which that queue marks by itself (minTh, 800 us).
    pub mark_from: Duration,
    /// The delay from there on to which marks become certain (range, 400 us).
    pub mark_range: Duration,
    /// Packets that may wait behind a packet before that queue marks it by itself, for slow links (`Th_len`, 1).
    pub mark_behind: u32,
    /// Which end marks of frames pass that overflow has broken.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Duration(15 * MILLISECOND),
            longest_round_trip: Duration(100 * MILLISECOND),
            coupling: 2.0,
            mark_from: Duration(800 * MICROSECOND),
            mark_range: Duration(400 * MICROSECOND),
            mark_behind: 1,
            end_marks: EndMarks::default(),
        }
    }
}

impl Params {
    /// Time between updates of the base probability (`Tupdate`, figure 2, line 12).
    #[must_use]
    pub fn update(&self) -> Time {
        self.target.ps().min(self.longest_round_trip.ps() / 3)
    }

    fn check(&self) -> Result<(), ParamError> {
        for (key, value) in [("target", self.target), ("longest-round-trip", self.longest_round_trip)] {
            if value.ps() < 3 * MICROSECOND {
                return Err(ParamError { key, message: format!("expected 3 us or more, found {value}") });
            }
        }
        if !(self.coupling > 0.0 && self.coupling.is_finite()) {
            let message = format!("expected a number above 0, found {}", self.coupling);
            return Err(ParamError { key: "coupling", message });
        }
        Ok(())
    }
}

/// A time in seconds, in which the RFC counts.
fn seconds(time: Time) -> f64 {
    time as f64 / SECOND as f64
}

/// Says yes with a given frequency, evenly: `recur` (figure 4).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Recurrence {
    count: f64,
}

impl Recurrence {
    fn next(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let yes = self.count > 1.0;
        self.count -= f64::from(u8::from(yes));
        yes
    }
}

/// The controller, the marking of the queue of low latency, and the decisions (appendix A.2).
#[derive(Debug, Clone)]
pub struct Controller {
    /// In seconds and Hz.
    target: f64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    mark_from: Time,
    mark_range: Time,
    mark_behind: usize,
    /// p'.
    base: f64,
    /// `prevq`, in seconds.
    old_delay: f64,
    low_latency: Recurrence,
    classic: Recurrence,
}

impl Controller {
    /// Before anything has arrived (`dualpi2_params_init`, figure 2).
    #[must_use]
    pub fn new(params: &Params) -> Self {
        let round_trip = seconds(params.longest_round_trip.ps());
        Self {
            target: seconds(params.target.ps()),
            alpha: 0.1 * seconds(params.update()) / (round_trip * round_trip),
            beta: 0.3 / round_trip,
            coupling: params.coupling,
            mark_from: params.mark_from.ps(),
            mark_range: params.mark_range.ps(),
            mark_behind: params.mark_behind as usize,
            base: 0.0,
            old_delay: 0.0,
            low_latency: Recurrence::default(),
            classic: Recurrence::default(),
        }
    }

    /// The base probability p'.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.base
    }

    /// `p_CL`: the coupled probability of a mark in the queue of low latency.
    #[must_use]
    pub fn coupled(&self) -> f64 {
        (self.coupling * self.base).min(1.0)
    }

    /// `p_C`: the probability of a drop or mark in the classic queue.
    #[must_use]
    pub fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// `p_Cmax`: from here on drops are for all.
    fn classic_max(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }

    /// Computes p' anew from the longer delay of the two queues (`dualpi2_update`, figure 8).
    pub fn update(&mut self, delay: Time) {
        let delay = seconds(delay);
        let step = self.alpha * (delay - self.target) + self.beta * (delay - self.old_delay);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.old_delay = delay;
    }

    /// Whether another update without a queue changes nothing.
    fn rests(&self) -> bool {
        self.base == 0.0 && self.old_delay == 0.0
    }

    /// The probability of a mark by the queue of low latency itself (`laqm`, figure 5).
    #[must_use]
    pub fn native(&self, delay: Time) -> f64 {
        if delay >= self.mark_from.saturating_add(self.mark_range) {
            return 1.0;
        }
        delay.saturating_sub(self.mark_from) as f64 / self.mark_range.max(1) as f64
    }

    /// What becomes of a packet of low latency that has waited `sojourn` and leaves `behind` others (figure 7, lines 4b to 8j).
    pub fn on_low_latency(&mut self, sojourn: Time, behind: usize) -> Fate {
        if self.coupled() < 1.0 {
            let native = if behind > self.mark_behind { self.native(sojourn) } else { 0.0 };
            let marks = self.low_latency.next(native.max(self.coupled()));
            return if marks { Fate::Mark } else { Fate::Send };
        }
        // Overload: marks say nothing any more.
        if self.low_latency.next(self.classic()) {
            return Fate::Drop;
        }
        if self.low_latency.next(self.coupled()) { Fate::Mark } else { Fate::Send }
    }

    /// What becomes of a classic packet, which can be marked or not (figure 7, lines 11 to 17).
    pub fn on_classic(&mut self, marks: bool) -> Fate {
        if !self.classic.next(self.classic()) {
            return Fate::Send;
        }
        if marks && self.classic() < self.classic_max() { Fate::Mark } else { Fate::Drop }
    }
}

/// The DualPI2 policy.
pub type Dualpi2 = FramePolicy<Coupled>;

/// Admits every frame, and drops or marks by the delay of two queues.
#[derive(Debug, Clone)]
pub struct Coupled {
    classes: Classes,
    /// By category.
    pairs: Vec<Pair>,
}

/// The frames of a queue whose first unit waits, in the order of their arrival: of which VC each is, and when it came.
#[derive(Debug, Clone, Default)]
struct Waiting(VecDeque<(u32, Time)>);

impl Waiting {
    /// When the one came that has waited longest.
    fn first(&self) -> Option<Time> {
        self.0.front().map(|&(_, arrival)| arrival)
    }

    /// The first frame of `vc` goes. Others may have come before it, as a VC that has frames in both queues keeps its order.
    fn leave(&mut self, vc: u32) {
        let place = self.0.iter().position(|&(other, _)| other == vc);
        self.0.remove(place.expect("a frame that leaves its queue has come into it"));
    }
}

/// Two queues and their controller.
#[derive(Debug, Clone)]
struct Pair {
    controller: Controller,
    update: Time,
    next_update: Time,
    /// The classic queue, and that of low latency.
    queues: [Waiting; 2],
}

impl Pair {
    /// Makes up for the updates up to `now`. Called before each change of the queues.
    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            let first = self.queues.iter().filter_map(Waiting::first).min();
            match first {
                None if self.controller.rests() => {
                    self.next_update += (now - self.next_update) / self.update * self.update;
                }
                None => self.controller.update(0),
                Some(arrival) => self.controller.update(self.next_update.saturating_sub(arrival)),
            }
            self.next_update += self.update;
        }
    }
}

impl FrameRule for Coupled {
    type Params = Params;
    type Needs = Dequeue;

    const SUMMARY: &'static str = "Keeps a low-latency queue beside a classic one; one controller marks in the first and drops from the second.";
    const REFERENCE: &'static str = "RFC 9332, appendix A";
    const PER_VC: &'static str = "the fate of the frames in progress at either end of the queue";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        params.check()?;
        let (classes, update) = (Classes::new(port), params.update());
        let pair = Pair {
            controller: Controller::new(params),
            update,
            next_update: update,
            queues: Default::default(),
        };
        Ok(Self { pairs: classes.states(&pair), classes })
    }

    /// `dualpi2_enqueue`, figure 3.
    fn admits<S: PortState>(&mut self, cell: &Cell, _: &View<'_, Dequeue, S>, now: Time) -> bool {
        let pair = &mut self.pairs[self.classes.of(cell.vc)];
        pair.advance(now);
        pair.queues[usize::from(cell.ecn.is_low_latency())].0.push_back((cell.vc, now));
        true
    }

    fn marks(&self) -> bool {
        true
    }

    /// `dualpi2_dequeue`, figure 7. The discipline has chosen the queue.
    fn on_head<S: PortState>(&mut self, head: Head, _: &View<'_, Dequeue, S>) -> Fate {
        let Head { cell, sojourn, now } = head;
        let pair = &mut self.pairs[self.classes.of(cell.vc)];
        pair.advance(now);
        let low_latency = cell.ecn.is_low_latency();
        let queue = &mut pair.queues[usize::from(low_latency)];
        queue.leave(cell.vc);
        if low_latency {
            return pair.controller.on_low_latency(sojourn, queue.0.len());
        }
        pair.controller.on_classic(cell.ecn.is_capable())
    }
}
