//! The frame rule that nearly all policies share: a frame once broken is not continued.
//!
//! A policy that decides by whole frames says only whether to admit a frame at its first cell ([`FrameAdmission`]);
//! [`FrameDiscard`] does the rest. When the buffer overflows in the middle of a frame the rest is useless to the receiver
//! and is discarded too (partial packet discard). Whether the end mark of a broken frame passes is the policy's
//! [`EndMarks`]: without the mark the receiver glues the stump to the next frame and loses both.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PortView, Reason, Verdict};
use crate::{Cell, cell::Ecn};

/// What happens to the last cell of a frame that is being discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndMarks {
    /// The end mark of a frame whose head has gone on passes, so that reassembly resynchronises; the end mark of a
    /// frame refused at its first cell is discarded with it (Romanow and Floyd 1995).
    #[default]
    Broken,
    /// Every end mark passes if there is room (Armitage and Adams 1993; the ESPD pseudocode).
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

/// Whether a policy admits a frame, asked at its first cell while the buffer has room.
pub trait FrameAdmission {
    /// `true` admits the frame that `cell` begins.
    fn admits(&mut self, cell: &Cell, port: &impl PortView, now: Time) -> bool;

    /// Whether the frame that was just not admitted is marked instead if its transport answers marks (RFC 3168).
    fn marks(&self) -> bool {
        false
    }
}

/// What became of the frame in progress on a VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Frame {
    /// All of its cells so far were queued.
    #[default]
    Whole,
    /// Not admitted but marked: all of its cells so far were queued.
    Marked,
    /// Refused at its first cell: nothing of it went on.
    Refused,
    /// Broken in the middle: its head went on.
    Broken,
}

/// The frame rule's state: what became of the frame in progress on each VC.
#[derive(Debug, Clone)]
pub struct FrameDiscard {
    end_marks: EndMarks,
    frames: Vec<Frame>,
}

impl FrameDiscard {
    /// The frame rule for `vcs` VCs.
    #[must_use]
    pub fn new(end_marks: EndMarks, vcs: usize) -> Self {
        Self { end_marks, frames: vec![Frame::Whole; vcs] }
    }

    /// Applies the rule to one cell; `admission` is asked about frames at their first cell.
    #[inline(always)]
    pub fn on_arrival(
        &mut self,
        admission: &mut impl FrameAdmission,
        cell: &Cell,
        port: &impl PortView,
        now: Time,
    ) -> Verdict {
        let frame = &mut self.frames[cell.vc as usize];
        if port.is_first() {
            *frame = Frame::Whole;
            if port.is_full() {
                *frame = Frame::Refused;
                return Verdict::Discard(Reason::BufferFull);
            }
            if !admission.admits(cell, port, now) {
                if cell.ecn != Ecn::NotCapable && admission.marks() {
                    *frame = Frame::Marked;
                    return Verdict::Mark;
                }
                *frame = Frame::Refused;
                return Verdict::Discard(Reason::FrameRefused);
            }
            return Verdict::Accept;
        }
        let full = port.is_full();
        match *frame {
            Frame::Whole if !full => Verdict::Accept,
            Frame::Marked if !full => Verdict::Mark,
            Frame::Whole | Frame::Marked => {
                *frame = Frame::Broken;
                Verdict::Discard(Reason::BufferFull)
            }
            broken if cell.is_last() && !full && self.end_marks.pass(broken) => Verdict::Accept,
            Frame::Refused => Verdict::Discard(Reason::FrameRefused),
            Frame::Broken => Verdict::Discard(Reason::FrameBroken),
        }
    }

    /// As [`super::BufferPolicy::accepts_rest`]: the rest of a whole frame is accepted.
    #[inline]
    #[must_use]
    pub fn accepts_rest(&self, cell: &Cell) -> bool {
        matches!(self.frames[cell.vc as usize], Frame::Whole | Frame::Marked)
    }

    /// The frame in progress on `vc` was pushed out: what is still to come of it is discarded, its end mark too, as if
    /// it had been refused.
    pub fn refuse_rest(&mut self, vc: u32) {
        self.frames[vc as usize] = Frame::Refused;
    }
}
