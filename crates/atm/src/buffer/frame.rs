//! Frame policies: a frame is admitted or refused at its first cell, and a frame once broken is not continued.
//!
//! A policy that decides by whole frames is a [`FrameRule`]: it says which frames to admit. [`FramePolicy`] makes a
//! discard policy of it and does the rest. When the buffer overflows in the middle of a frame the rest is useless to the
//! receiver and is discarded too (partial packet discard). Whether the end mark of a broken frame passes is the policy's
//! [`EndMarks`]: without the mark the receiver glues the stump to the next frame and loses both.

use celltrain_engine::{Time, quantity::BitRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    BufferPolicy, Fate, Head, Needs, ParamError, PortContext, PortState, Reads, Reason, Removed, Verdict,
    View,
};
use crate::{Cell, cell::Ecn, quantity::Level};

/// What happens to the last cell of a frame that is being discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndMarks {
    /// The end mark of a frame whose head has gone on passes, so that reassembly resynchronises; the end mark of a
    /// frame refused at its first cell is discarded with it (Romanow and Floyd 1995).
    #[default]
    Broken,
    /// Every end mark passes if there is space (Armitage and Adams 1993; the ESPD pseudocode); a frame of one cell is refused whole.
    Always,
    /// No end mark of a discarded frame passes.
    Never,
}

impl EndMarks {
    fn pass(self, frame: Frame) -> bool {
        match self {
            Self::Broken => frame == Frame::Broken,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// What a rule does after each cell that was decided about: the rule, the cell, whether it is the first of its frame, whether it
/// was accepted, and when it came.
pub type CellHook<R> = fn(rule: &mut R, cell: &Cell, first: bool, accepted: bool, now: Time);

/// What a rule does after so many cells behind the given one, all accepted.
pub type RestHook<R> = fn(rule: &mut R, cell: &Cell, count: u32);

/// The levels among the parameters and their keys.
pub type Levels<P> = fn(&P) -> Vec<(&'static str, Level)>;

/// The rule of a frame policy: which frames it admits. [`FramePolicy`] makes a [`BufferPolicy`] of it.
pub trait FrameRule: Sized {
    /// As [`BufferPolicy::Params`].
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;
    /// What the rule needs of its port.
    type Needs: Needs;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the policy is described.
    const REFERENCE: &'static str;
    /// As [`BufferPolicy::PER_VC`]. The default is what [`FramePolicy`] keeps.
    const PER_VC: &'static str = "the fate of the frame in progress";
    /// As [`BufferPolicy::levels`].
    const LEVELS: Levels<Self::Params> = |_| Vec::new();
    /// Which end marks of discarded frames pass.
    const END_MARKS: fn(&Self::Params) -> EndMarks = |_| EndMarks::Broken;
    /// As [`BufferPolicy::ecn`].
    const ECN: fn(&Self::Params) -> Option<bool> = |_| None;
    /// For rules whose state changes with each cell. Without it the rest of an admitted frame passes as a train.
    const ON_CELL: Option<CellHook<Self>> = None;
    /// What [`FrameRule::ON_CELL`] comes to for cells within a frame each of which finds nothing else in the buffer, all at once. For
    /// rules that push out or have that hook; such a rule pushes nothing out for these cells.
    const ON_REST: Option<RestHook<Self>> = None;

    /// As [`BufferPolicy::check`].
    ///
    /// # Errors
    /// A parameter outside its meaning.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }

    /// The rule for a port.
    ///
    /// # Errors
    /// As [`BufferPolicy::new`].
    fn new(params: &Self::Params, port: &PortContext<'_>) -> Result<Self, ParamError>;

    /// Whether to admit the frame that `cell` begins; asked while the buffer has room.
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Self::Needs, S>, now: Time) -> bool;

    /// As [`BufferPolicy::reads`].
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// As [`BufferPolicy::marks`]: a frame that was not admitted is marked instead.
    fn marks(&self) -> bool {
        false
    }

    /// As [`BufferPolicy::passes`], for rules that keep nothing of the frames that they admit.
    #[inline(always)]
    fn passes(&self, occupancy: impl FnOnce() -> u64) -> bool {
        let _ = occupancy;
        false
    }

    /// A unit arrives, whatever becomes of it; called before anything else is, and again after each push-out.
    #[inline(always)]
    fn on_unit<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Self::Needs, S>) {
        let _ = (cell, port);
    }

    /// A frame begins, which may find the buffer full; called before [`FrameRule::admits`].
    #[inline(always)]
    fn on_first<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Self::Needs, S>, now: Time) {
        let _ = (cell, port, now);
    }

    /// A frame that was whole so far finds no room, be it with its first cell or with a later one.
    #[inline(always)]
    fn on_overflow<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Self::Needs, S>, now: Time) {
        let _ = (cell, port, now);
    }

    /// What to push out before anything else is decided about `cell`, which begins a frame or continues one that is still whole.
    /// Asked again after each push-out.
    #[inline(always)]
    fn push_out<S: PortState>(
        &mut self,
        cell: &Cell,
        port: &View<'_, Self::Needs, S>,
    ) -> Option<<Self::Needs as Needs>::Victim> {
        let _ = (cell, port);
        None
    }

    /// As [`BufferPolicy::on_rate`].
    fn on_rate(&mut self, rate: BitRate, now: Time) {
        let _ = (rate, now);
    }

    /// As [`BufferPolicy::on_frameless`].
    fn on_frameless(&mut self, cell: &Cell, entered: bool, now: Time) {
        let _ = (cell, entered, now);
    }

    /// As [`BufferPolicy::on_departure`].
    fn on_departure(&mut self, departure: <Self::Needs as Needs>::Departure) {
        let _ = departure;
    }

    /// What becomes of the frame whose first unit is at the head of its queue, for rules that need [`super::Dequeue`].
    fn on_head<S: PortState>(
        &mut self,
        head: <Self::Needs as Needs>::Head,
        port: &View<'_, Self::Needs, S>,
    ) -> Fate {
        let _ = (head, port);
        Fate::Send
    }

    /// A frame was pushed out. [`FramePolicy`] discards what is still to come of it.
    fn on_push_out(&mut self, removed: <Self::Needs as Needs>::Removed) {
        let _ = removed;
    }

    /// As [`BufferPolicy::illegal`].
    fn illegal<S: PortState>(&self, port: &View<'_, Self::Needs, S>) -> Option<u64> {
        let _ = port;
        None
    }
}

/// The fate of the frame in progress on a VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Frame {
    /// All of its cells so far were queued.
    #[default]
    Whole,
    /// Not admitted but marked: all of its cells so far were queued.
    Marked,
    /// Refused at its first cell: nothing of it went on.
    Refused,
    /// Its first cell found no room, or it was pushed out: nothing of it went on, though the rule did not refuse it.
    Lost,
    /// Broken in the middle: its head went on.
    Broken,
}

/// The discard policy that follows a rule.
#[derive(Debug, Clone)]
pub struct FramePolicy<R> {
    rule: R,
    end_marks: EndMarks,
    /// The fate of the frame in progress on each VC.
    frames: Vec<Frame>,
    /// What becomes of the frame of each VC that leaves the queue, where the rule decides about that.
    heads: Vec<Fate>,
}

impl<R: FrameRule> FramePolicy<R> {
    /// The rule and its state.
    #[must_use]
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Decides about the first cell of a frame.
    #[inline(always)]
    fn on_first<S: PortState>(&mut self, cell: &Cell, port: &View<'_, R::Needs, S>, now: Time) -> Answer<R> {
        self.rule.on_first(cell, port, now);
        let (frame, verdict) = if port.is_full() {
            self.rule.on_overflow(cell, port, now);
            (Frame::Lost, Verdict::Discard(Reason::BufferFull))
        } else if self.rule.admits(cell, port, now) {
            (Frame::Whole, Verdict::Accept)
        } else if cell.ecn.is_capable() && self.rule.marks() {
            (Frame::Marked, Verdict::Mark)
        } else {
            (Frame::Refused, Verdict::Discard(Reason::FrameRefused))
        };
        self.frames[cell.vc as usize] = frame;
        verdict
    }

    /// Decides about a further cell of a frame.
    #[inline(always)]
    fn on_next<S: PortState>(&mut self, cell: &Cell, port: &View<'_, R::Needs, S>, now: Time) -> Answer<R> {
        let full = port.is_full();
        let frame = &mut self.frames[cell.vc as usize];
        match *frame {
            Frame::Whole if !full => Verdict::Accept,
            Frame::Marked if !full => Verdict::Mark,
            Frame::Whole | Frame::Marked => {
                *frame = Frame::Broken;
                self.rule.on_overflow(cell, port, now);
                Verdict::Discard(Reason::BufferFull)
            }
            broken if cell.is_last() && !full && self.end_marks.pass(broken) => Verdict::Accept,
            Frame::Refused => Verdict::Discard(Reason::FrameRefused),
            Frame::Lost | Frame::Broken => Verdict::Discard(Reason::FrameBroken),
        }
    }

    #[inline(always)]
    fn is_whole(&self, cell: &Cell) -> bool {
        matches!(self.frames[cell.vc as usize], Frame::Whole | Frame::Marked)
    }
}

type Answer<R> = Verdict<<<R as FrameRule>::Needs as Needs>::Victim>;

impl<R: FrameRule> BufferPolicy for FramePolicy<R> {
    type Params = R::Params;
    type Needs = R::Needs;

    const SUMMARY: &'static str = R::SUMMARY;
    const REFERENCE: &'static str = R::REFERENCE;
    const PER_VC: &'static str = R::PER_VC;

    fn check(params: &R::Params) -> Result<(), ParamError> {
        R::check(params)
    }

    fn new(params: &R::Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let frames = vec![Frame::default(); port.vcs.len()];
        let heads = vec![Fate::default(); if R::Needs::DEQUEUE { port.vcs.len() } else { 0 }];
        Ok(Self { rule: R::new(params, port)?, end_marks: (R::END_MARKS)(params), frames, heads })
    }

    fn levels(params: &R::Params) -> Vec<(&'static str, Level)> {
        (R::LEVELS)(params)
    }

    fn ecn(params: &R::Params) -> Option<bool> {
        (R::ECN)(params)
    }

    #[inline(always)]
    fn on_arrival<S: PortState>(
        &mut self,
        cell: &Cell,
        port: &View<'_, R::Needs, S>,
        now: Time,
    ) -> Answer<R> {
        let first = port.is_first();
        self.rule.on_unit(cell, port);
        if R::Needs::PUSH_OUT
            && (first || self.is_whole(cell))
            && let Some(victim) = self.rule.push_out(cell, port)
            // Frames of other VCs make no room below a limit of this one. A queue gives way at its head, whosever the frames there are.
            && (!port.is_vc_full() || R::Needs::victim(victim).can_be_of(cell.vc))
        {
            return Verdict::PushOut(victim);
        }
        let verdict = if first { self.on_first(cell, port, now) } else { self.on_next(cell, port, now) };
        if let Some(on_cell) = R::ON_CELL {
            on_cell(&mut self.rule, cell, first, matches!(verdict, Verdict::Accept | Verdict::Mark), now);
        }
        verdict
    }

    /// The rest of a whole frame is accepted, unless the rule has more to do at each cell.
    #[inline]
    fn accepts_rest(&self, cell: &Cell) -> bool {
        let accepted = match self.frames[cell.vc as usize] {
            Frame::Whole => true,
            Frame::Marked => cell.ecn == Ecn::Marked,
            Frame::Refused | Frame::Lost | Frame::Broken => false,
        };
        R::ON_CELL.is_none() && !R::Needs::PUSH_OUT && accepted
    }

    #[inline]
    fn accept_rest_alone(&mut self, cell: &Cell, count: u32) -> bool {
        let Some(on_rest) = R::ON_REST.filter(|_| self.is_whole(cell)) else {
            return self.accepts_rest(cell);
        };
        on_rest(&mut self.rule, cell, count);
        true
    }

    /// The fate of the previous frame has no effect on the next one.
    #[inline(always)]
    fn passes(&self, _: &Cell, occupancy: impl FnOnce() -> u64) -> bool {
        R::ON_CELL.is_none() && !R::Needs::PUSH_OUT && self.rule.passes(occupancy)
    }

    #[inline]
    fn on_departure(&mut self, departure: <R::Needs as Needs>::Departure) {
        self.rule.on_departure(departure);
    }

    fn on_frameless(&mut self, cell: &Cell, entered: bool, now: Time) {
        self.rule.on_frameless(cell, entered, now);
    }

    fn marks(&self) -> bool {
        self.rule.marks()
    }

    fn reads(&self) -> Reads {
        self.rule.reads()
    }

    fn on_rate(&mut self, rate: BitRate, now: Time) {
        self.rule.on_rate(rate, now);
    }

    /// What is decided about the first unit of a frame holds up to its end mark. A frame whose end mark was lost on the way is one with the
    /// next, here as where it arrived; what then comes without a first unit, such as the end mark of a frame that was refused, is sent.
    fn on_head<S: PortState>(
        &mut self,
        head: <R::Needs as Needs>::Head,
        port: &View<'_, R::Needs, S>,
    ) -> Fate {
        let Head { cell, .. } = head.into();
        let vc = cell.vc as usize;
        if port.is_first() {
            self.heads[vc] = self.rule.on_head(head, port);
        }
        if cell.is_last() { std::mem::take(&mut self.heads[vc]) } else { self.heads[vc] }
    }

    /// What is still to come of a frame that was pushed out is discarded, its end mark too unless all pass.
    fn on_push_out(&mut self, removed: <R::Needs as Needs>::Removed) {
        self.rule.on_push_out(removed);
        let Removed { vc, complete, .. } = removed.into();
        // Nothing of a refused frame is in the queue: the one that was pushed out came before it, and its end mark was lost.
        let frame = &mut self.frames[vc as usize];
        if !complete && *frame != Frame::Refused {
            *frame = Frame::Lost;
        }
    }

    fn illegal<S: PortState>(&self, port: &View<'_, R::Needs, S>) -> Option<u64> {
        self.rule.illegal(port)
    }
}
