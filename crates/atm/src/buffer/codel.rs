//! CoDel, controlled delay: frames are dropped or marked at the head of the queue if their waiting time stays above a target
//! for too long.
//!
//! A queue that empties within a round trip is useful; one that does not only adds delay. CoDel therefore watches the smallest
//! sojourn time over an interval of about the longest round trip. If frames have waited `target` or more for a whole
//! `interval`, one is dropped, and then others, at intervals that shrink with the square root of their number, until a frame has
//! waited less. No threshold depends on the rate of the link or on the number of connections.
//!
//! Nothing is dropped while no more waits behind the first frame than the longest so far has (`bytes() <= maxpacket`): in bytes of
//! packets or in cells, whatever the buffer is counted in. The first frame counts with all of its cells, those that overflow took and
//! those that are still to come among them, so that a drop may be deferred. RFC 8289 section 5.7 lets that be where it is slight; behind a
//! long broken frame it is more.
//!
//! Each service category has a state, as strict priority gives it a queue of its own (RFC 8289 section 4.4); what waits is counted over all of
//! them. When the link looks for something to send and a category has nothing, whether a less urgent one is then served or none is, its time above
//! the target is over. Where the discipline has a queue for each VC, those of a category still share a state, and a VC that seldom waits
//! keeps it from dropping at the others: there `fq-codel` belongs, which has a state for each.
//!
//! The state is six numbers for each queue; the frames carry the time of their arrival.

use celltrain_engine::{Time, quantity::Duration, time::MILLISECOND};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Dequeue, Fate, Head, ParamError, PortContext, PortState, View,
    classes::Classes,
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::Cell;

/// Parameters of CoDel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The time that frames may wait for as long as they like (TARGET, 5 ms).
    pub target: Duration,
    /// For how long frames may wait longer than that: about the longest round trip of the connections (INTERVAL, 100 ms).
    pub interval: Duration,
    /// Which end marks of frames pass that overflow has broken.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports instead of dropping them (RFC 8289 section 1 allows it).
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

impl Params {
    /// # Errors
    /// A target or interval of nothing.
    pub(super) fn check(&self) -> Result<(), ParamError> {
        check_times(self.target, self.interval)
    }
}

/// # Errors
/// A target or interval of nothing.
pub(super) fn check_times(target: Duration, interval: Duration) -> Result<(), ParamError> {
    for (key, value) in [("target", target), ("interval", interval)] {
        if value.ps() == 0 {
            return Err(ParamError { key, message: "expected a time above 0".to_owned() });
        }
    }
    Ok(())
}

/// What the drop just before leaves to be done when the next frame is looked at, at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dropped {
    /// Nothing: no frame was dropped before this one.
    No,
    /// It was the first: this frame goes whatever it has waited.
    First,
    /// It was one of several.
    Again,
}

/// CoDel's state for one queue (RFC 8289 section 5).
#[derive(Debug, Clone)]
pub struct Control {
    target: Time,
    interval: Time,
    /// When frames will have waited too long for a whole interval, if they do now (`first_above_time_`).
    first_above: Option<Time>,
    /// Whether it drops (`dropping_`).
    dropping: bool,
    /// When the next frame is to be dropped (`drop_next_`).
    drop_next: Time,
    /// Frames dropped since it began to drop (`count_`), and what that was when it last began (`lastcount_`).
    count: u64,
    last_count: u64,
    dropped: Dropped,
    /// How often the queue had been found empty when a frame was last looked at.
    empty: u64,
}

impl Control {
    /// Of an empty queue.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self {
            target: params.target.ps(),
            interval: params.interval.ps(),
            first_above: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
            dropped: Dropped::No,
            empty: 0,
        }
    }

    /// The queue has been found empty so often until now.
    pub fn note_empty(&mut self, times: u64) {
        if std::mem::replace(&mut self.empty, times) != times {
            self.on_empty();
        }
    }

    /// The queue is found empty: nothing is above the target.
    pub fn on_empty(&mut self) {
        (self.first_above, self.dropping, self.dropped) = (None, false, Dropped::No);
    }

    /// What becomes of a frame at the head of the queue that has waited `sojourn`, where no more waits behind it than one of the longest
    /// (`is_short`) or more does, and which can be marked or not.
    pub fn on_head(
        &mut self,
        now: Time,
        sojourn: Time,
        is_short: impl FnOnce() -> bool,
        marks: bool,
    ) -> Fate {
        let late = self.is_late(now, sojourn, is_short);
        match std::mem::replace(&mut self.dropped, Dropped::No) {
            Dropped::First => return Fate::Send,
            Dropped::Again if late => self.drop_next = self.control_law(self.drop_next),
            Dropped::No if late && !self.dropping => return self.begin(now, marks),
            Dropped::Again | Dropped::No => {}
        }
        self.dropping &= late;
        if !self.dropping || now < self.drop_next {
            return Fate::Send;
        }
        self.count += 1;
        if marks {
            self.drop_next = self.control_law(self.drop_next);
            return Fate::Mark;
        }
        self.dropped = Dropped::Again;
        Fate::Drop
    }

    /// Whether frames have waited too long for a whole interval (`dodequeue`, `ok_to_drop`).
    #[inline]
    fn is_late(&mut self, now: Time, sojourn: Time, is_short: impl FnOnce() -> bool) -> bool {
        if sojourn < self.target || is_short() {
            self.first_above = None;
            return false;
        }
        let due = *self.first_above.get_or_insert(now.saturating_add(self.interval));
        now >= due
    }

    /// Drops the first frame, or marks it. Where it dropped a short while ago it begins at the rate that had controlled the queue then.
    fn begin(&mut self, now: Time, marks: bool) -> Fate {
        let delta = self.count - self.last_count;
        let recent = now.saturating_sub(self.drop_next) < self.interval.saturating_mul(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
        self.dropping = true;
        if marks {
            return Fate::Mark;
        }
        self.dropped = Dropped::First;
        Fate::Drop
    }

    /// When to drop after `time`: the more have been dropped, the sooner (`control_law`).
    fn control_law(&self, time: Time) -> Time {
        time.saturating_add((self.interval as f64 / libm::sqrt(self.count as f64)) as Time)
    }
}

/// What is behind `cell` of its frame: cells, as a packet is a frame.
pub(super) fn rest_of_frame(cell: &Cell) -> u64 {
    if cell.octets > 0 { 0 } else { u64::from(cell.length - cell.position - 1) }
}

/// The longest frame that a queue has seen at its head, in bytes of a packet or in cells (`maxpacket`).
#[derive(Debug, Clone, Default)]
pub struct LongestFrame(u64);

impl LongestFrame {
    /// What waits behind `cell`, the first that came of a frame at the head, where no more than one of the longest waits behind that frame
    /// (`bytes() <= maxpacket`): the most, the rest of the frame included.
    #[inline]
    pub fn behind(&mut self, cell: &Cell) -> u64 {
        self.0 = self.0.max(cell.frame_load().into());
        rest_of_frame(cell) + self.0
    }
}

/// The CoDel policy.
pub type Codel = FramePolicy<BySojourn>;

/// Admits every frame, and drops by the time that it has waited.
#[derive(Debug, Clone)]
pub struct BySojourn {
    classes: Classes,
    /// By category.
    controls: Vec<Control>,
    longest: LongestFrame,
    marks: bool,
}

impl FrameRule for BySojourn {
    type Params = Params;
    type Needs = Dequeue;

    const SUMMARY: &'static str = "Drops or marks frames at the head of the queue while they wait longer than a target for a whole interval.";
    const REFERENCE: &'static str = "Nichols and Jacobson 2012; RFC 8289";
    const PER_VC: &'static str = "the fate of the frames in progress at either end of the queue";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        params.check()?;
        let classes = Classes::new(port);
        let controls = classes.states(&Control::new(params));
        Ok(Self { classes, controls, longest: LongestFrame::default(), marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, Dequeue, S>, _: Time) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.marks
    }

    fn on_head<S: PortState>(&mut self, head: Head, port: &View<'_, Dequeue, S>) -> Fate {
        let Head { cell, sojourn, now } = head;
        let short = self.longest.behind(&cell);
        let control = &mut self.controls[self.classes.of(cell.vc)];
        control.note_empty(port.empty_looks(cell.vc));
        let is_short = || !port.holds_more(short);
        control.on_head(now, sojourn, is_short, self.marks && cell.ecn.is_capable())
    }
}
