//! COBALT, CoDel and BLUE alternating: CoDel's control of the waiting time, and a probability of dropping for connections that do not
//! answer.
//!
//! CoDel drops at intervals that shrink with the square root of the number of drops. Traffic that does not answer fills the buffer long
//! before that is fast enough. So BLUE adds a probability: it grows by 1/256 when the buffer overflows and shrinks by 1/4096 when it has
//! been empty, at most once in `target`. While the queue behaves, the probability is 0 and CoDel is alone.
//!
//! CoDel itself is kept simpler than in RFC 8289. It begins to count as soon as a frame has waited too long, and the first drop follows an
//! interval later; in CAKE the second late frame is dropped at once if the queue had rested for longer than an interval. Too long is more
//! than `target`, and more than the link takes for four of the longest frames that have come to the head of a queue of the port; CAKE, whose
//! flows have a queue each, asks for two of each busy flow as well. When frames wait less, the number of drops counts down again at the same
//! pace, so that dropping begins anew from where it was. Drops that are overdue are made up for at the next frames, until one is sent or
//! marked: then the next drop is due at once, and those before it are forgotten.
//!
//! The last frame of the queue is not dropped, neither by CoDel nor by BLUE; a mark that CoDel gives it stays. A frame is the last one if no
//! more waits than the rest of it: a broken frame counts with the cells that overflow took, too, so that behind it others may wait. CAKE has
//! such a state in each of its queues; here each service category has one, as strict priority gives it a queue of its own. Where the
//! discipline has a queue for each VC, those of a category still share a state, and a VC that seldom waits keeps it from dropping at the
//! others; `fq-codel` has a state for each. That a queue has been empty is seen by the next frame that enters it.
//!
//! What finds no room is lost; CAKE, like `fq-codel`, drops at the head of its longest queue instead. An overflow is one of the buffer, or of
//! a memory that ports share, that takes a frame or a part of it. A limit of a VC alone is none, and neither is the loss of what remains of
//! a broken frame. With an overflow CoDel is in its dropping state, and its next drop is due at once.
//!
//! The state is five numbers for each queue and the length of the longest frame; the frames carry the time of their arrival.

use celltrain_engine::{
    Time,
    quantity::{BitRate, Duration},
    random::Generator,
    time::{MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Dequeue, Fate, Head, ParamError, PortContext, PortState, View,
    classes::Classes,
    codel,
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::{Cell, cell::CELL_BITS};

/// Parameters of COBALT.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The time that frames may wait for as long as they like, and the shortest between two changes of BLUE's probability (5 ms).
    pub target: Duration,
    /// For how long frames may wait longer than that: about the longest round trip of the connections (100 ms).
    pub interval: Duration,
    /// Which end marks of frames pass that overflow has broken.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports where CoDel would drop them. BLUE drops them too.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Duration(5 * MILLISECOND),
            interval: Duration(100 * MILLISECOND),
            end_marks: EndMarks::default(),
            ecn: false,
        }
    }
}

/// What is known of a frame at the head of the queue.
#[derive(Debug, Clone, Copy)]
pub struct Waited {
    /// Time since its arrival.
    pub sojourn: Time,
    /// Whether that is more than the transmission of four of the longest frames takes.
    pub is_long: bool,
    /// Whether it can be marked.
    pub marks: bool,
}

/// COBALT's state for one queue.
#[derive(Debug, Clone)]
pub struct Control {
    target: Time,
    interval: Time,
    /// Whether frames wait too long.
    dropping: bool,
    /// Drops that CoDel has counted, and when the next one is due.
    count: u64,
    next: Time,
    /// BLUE's probability, and when it changed last, if it has.
    probability: f64,
    changed: Option<Time>,
}

impl Control {
    /// What an overflow adds to BLUE's probability, and what an empty queue takes off it.
    const INCREMENT: f64 = 1.0 / 256.0;
    const DECREMENT: f64 = 1.0 / 4096.0;

    /// Of an empty queue.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self {
            target: params.target.ps(),
            interval: params.interval.ps(),
            dropping: false,
            count: 0,
            next: 0,
            probability: 0.0,
            changed: None,
        }
    }

    /// BLUE's probability.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// A frame found no room.
    pub fn on_full(&mut self, now: Time) {
        if self.may_change(now) {
            self.probability = f64::min(1.0, self.probability + Self::INCREMENT);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue has been empty.
    pub fn on_empty(&mut self, now: Time) {
        if self.probability > 0.0 && self.may_change(now) {
            self.probability = f64::max(0.0, self.probability - Self::DECREMENT);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.count_down();
        }
    }

    /// What becomes of a frame at the head of the queue. `draw`, from 0 to 1, decides for BLUE. `is_last`: whether nothing waits behind the
    /// frame that a drop could help; then it is sent where others are dropped, with the mark that it got.
    pub fn on_head(&mut self, now: Time, frame: Waited, draw: f64, is_last: impl FnOnce() -> bool) -> Fate {
        let by_time = self.by_time(now, frame);
        let drops = by_time == Fate::Drop || draw < self.probability;
        if self.count == 0 {
            self.next = now.saturating_add(self.interval);
        } else if !drops {
            // What was not dropped for a while is not made up for at once.
            self.next = self.next.max(now);
        }
        match by_time {
            _ if drops && !is_last() => Fate::Drop,
            Fate::Mark => Fate::Mark,
            Fate::Send | Fate::Drop => Fate::Send,
        }
    }

    /// CoDel's part of the decision.
    fn by_time(&mut self, now: Time, frame: Waited) -> Fate {
        let is_due = self.is_due(now);
        let is_late = frame.sojourn > self.target && frame.is_long;
        if is_late && !self.dropping {
            self.next = self.law(now);
            self.count = self.count.max(1);
        }
        self.dropping = is_late;
        if is_late && is_due {
            self.count += 1;
            self.next = self.law(self.next);
            return if frame.marks { Fate::Mark } else { Fate::Drop };
        }
        while !is_late && self.is_due(now) {
            self.count_down();
        }
        Fate::Send
    }

    fn may_change(&self, now: Time) -> bool {
        self.changed.is_none_or(|before| now.saturating_sub(before) > self.target)
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.next
    }

    fn count_down(&mut self) {
        self.count -= 1;
        self.next = self.law(self.next);
    }

    /// When to drop after `time`: the more have been counted, the sooner.
    fn law(&self, time: Time) -> Time {
        time.saturating_add((self.interval as f64 / libm::sqrt(self.count.max(1) as f64)) as Time)
    }
}

/// The COBALT policy.
pub type Cobalt = FramePolicy<BySojournOrOverflow>;

/// Admits every frame, and drops by the time that it has waited and by how often the buffer overflows.
#[derive(Debug, Clone)]
pub struct BySojournOrOverflow {
    classes: Classes,
    /// By category.
    controls: Vec<Control>,
    rate: BitRate,
    /// Octets that the line adds to each packet.
    overhead: u64,
    /// Bits of the longest frame so far, as the line carries it.
    longest: u64,
    marks: bool,
    generator: Generator,
}

impl BySojournOrOverflow {
    /// Whether `sojourn` is longer than the link takes for four of the longest frames so far, of which `cell` may begin one.
    fn is_long(&mut self, sojourn: Time, cell: &Cell) -> bool {
        self.longest = self.longest.max(match cell.octets {
            0 => CELL_BITS * u64::from(cell.length),
            octets => 8 * (u64::from(octets) + self.overhead),
        });
        u128::from(sojourn) * u128::from(self.rate.0) > 4 * u128::from(self.longest) * u128::from(SECOND)
    }
}

impl FrameRule for BySojournOrOverflow {
    type Params = Params;
    type Needs = Dequeue;

    const SUMMARY: &'static str = "CoDel, and a probability of dropping that grows while the buffer overflows: what CAKE has in each of its queues.";
    const REFERENCE: &'static str =
        "Høiland-Jørgensen, Täht and Morton 2018, Piece of CAKE; Feng, Shin, Kandlur and Saha 2002 (BLUE)";
    const PER_VC: &'static str = "the fate of the frames in progress at either end of the queue";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        codel::check_times(params.target, params.interval)
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let classes = Classes::new(port);
        Ok(Self {
            controls: classes.states(&Control::new(params)),
            classes,
            rate: port.rate,
            overhead: port.overhead,
            longest: 0,
            marks: params.ecn,
            generator: port.generator.clone(),
        })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, Dequeue, S>, _: Time) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.marks
    }

    fn on_rate(&mut self, rate: BitRate, _: Time) {
        self.rate = rate;
    }

    /// A queue that has emptied is seen by the next frame.
    fn on_first<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Dequeue, S>, now: Time) {
        if !port.is_full() && self.classes.is_empty(cell.vc, port) {
            self.controls[self.classes.of(cell.vc)].on_empty(now);
        }
    }

    fn on_overflow<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Dequeue, S>, now: Time) {
        if port.is_buffer_full() {
            self.controls[self.classes.of(cell.vc)].on_full(now);
        }
    }

    fn on_head<S: PortState>(&mut self, head: Head, port: &View<'_, Dequeue, S>) -> Fate {
        let Head { cell, sojourn, now } = head;
        let is_long = self.is_long(sojourn, &cell);
        let marks = self.marks && cell.ecn.is_capable();
        let control = &mut self.controls[self.classes.of(cell.vc)];
        let draw = if control.probability() > 0.0 { self.generator.unit() } else { 1.0 };
        let is_last = || !self.classes.holds_more(cell.vc, codel::rest_of_frame(&cell), port);
        control.on_head(now, Waited { sojourn, is_long, marks }, draw, is_last)
    }
}
