//! Partial packet discard: once a cell of a frame is lost to overflow, the rest of the frame is discarded.
//!
//! The links behind the buffer no longer carry the useless rest. They still carry the head of the frame, which has already
//! left: on average half of a broken frame. [`super::epd`] avoids that. The state is two bits per VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Occupancy, ParamError, PortContext, PortState, View,
    frame::{EndMarks, FramePolicy, FrameRule},
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
pub type Ppd = FramePolicy<Everything>;

/// Every frame is admitted while there is room.
#[derive(Debug, Clone)]
pub struct Everything;

impl FrameRule for Everything {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str = "Discards the rest of a frame once overflow has cost it a cell.";
    const REFERENCE: &'static str = "Armitage and Adams 1993; Romanow and Floyd 1995";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(_: &Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self)
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, Occupancy, S>, _: Time) -> bool {
        true
    }

    #[inline(always)]
    fn passes(&self, _: impl FnOnce() -> u64) -> bool {
        true
    }
}
