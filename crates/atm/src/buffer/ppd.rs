//! Partial packet discard: once a cell of a frame is lost to overflow, the rest of the frame is discarded.
//!
//! That saves the links behind the buffer the useless rest, but not the head of the frame, which has gone on already: on
//! average half of a broken frame is still carried for nothing, which [`super::epd`] avoids. It needs two bits a VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BufferPolicy, ParamError, PortContext, PortView, Verdict,
    frame::{EndMarks, FrameAdmission, FrameDiscard},
};
use crate::Cell;

/// Parameters of PPD.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

/// The PPD policy.
#[derive(Debug, Clone)]
pub struct Ppd {
    frames: FrameDiscard,
}

/// Every frame is admitted while there is room.
struct Everything;

impl FrameAdmission for Everything {
    #[inline]
    fn admits(&mut self, _: &Cell, _: &impl PortView, _: Time) -> bool {
        true
    }
}

impl BufferPolicy for Ppd {
    type Params = Params;

    const SUMMARY: &'static str = "Discards the rest of a frame once overflow has cost it a cell.";
    const REFERENCE: &'static str = "Armitage and Adams 1993; Romanow and Floyd 1995";

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self { frames: FrameDiscard::new(params.end_marks, port.vcs.len()) })
    }

    #[inline(always)]
    fn on_arrival(&mut self, cell: &Cell, port: &impl PortView, now: Time) -> Verdict {
        self.frames.on_arrival(&mut Everything, cell, port, now)
    }

    #[inline]
    fn accepts_rest(&self, cell: &Cell) -> bool {
        self.frames.accepts_rest(cell)
    }
}
