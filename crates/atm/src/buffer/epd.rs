//! Early packet discard: above a threshold no new frame is admitted, so that the frames in progress can finish.
//!
//! A frame whose first cell finds R or more cells in the buffer is refused whole, and no part of it is carried in vain. The
//! space above the threshold R is for the rest of the frames that were admitted. If overflow breaks a frame nevertheless, its
//! rest is discarded, as in [`super::ppd`]. All VCs are treated alike: the next VC to begin a frame is refused. The state is
//! two bits per VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Occupancy, ParamError, PortContext, PortState, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{Cell, quantity::Level};

/// Parameters of EPD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy at which new frames are refused.
    pub threshold: Level,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports above the threshold instead of refusing them (RFC 3168).
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: Level::Share(800_000), end_marks: EndMarks::default(), ecn: false }
    }
}

/// The EPD policy.
pub type Epd = FramePolicy<BelowThreshold>;

/// Admits a frame while the occupancy is below the threshold.
#[derive(Debug, Clone)]
pub struct BelowThreshold {
    cells: u64,
    /// Whether frames are marked instead of refused.
    marks: bool,
}

impl FrameRule for BelowThreshold {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str = "Refuses new frames while the buffer is filled to a threshold or more.";
    const REFERENCE: &'static str = "Romanow and Floyd 1995; Cheon and Panwar, section 3.1";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let cells = port.level("threshold", params.threshold)?;
        Ok(Self { cells, marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, port: &View<'_, Occupancy, S>, _: Time) -> bool {
        port.occupancy() < self.cells
    }

    #[inline(always)]
    fn passes(&self, occupancy: impl FnOnce() -> u64) -> bool {
        occupancy() < self.cells
    }

    fn marks(&self) -> bool {
        self.marks
    }
}
