//! Fair buffer allocation: selective drop with a limit that falls as the buffer fills.
//!
//! Above the threshold R a new frame is refused if its VC holds Y > Z (X/N) (K - R)/(X - R), with X cells of N VCs in a
//! buffer of K cells. Just above the threshold the last factor is large, and only a VC that holds nearly everything is
//! refused. At a full buffer the factor is 1, and the rule is that of [`super::selective_drop`].
//!
//! A VC is refused earlier the further it exceeds its fair share, so the discards of different VCs come at different times.
//! The state is that of selective drop. Contracts play no part.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{
    Cell,
    quantity::{Level, Ratio},
};

/// Parameters of FBA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// R, the occupancy above which VCs beyond their share are refused. The default of 90 % is unconfirmed: it is the
    /// one reported for selective drop and was not checked against a text on FBA.
    pub threshold: Level,
    /// Z, how much of the fair share a VC may hold when the buffer is full. The default of 0.8 is unconfirmed as the
    /// threshold's is.
    pub scale: Ratio,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports instead of refusing them (RFC 3168).
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            threshold: Level::Share(900_000),
            scale: Ratio::billionths(800_000_000),
            end_marks: EndMarks::default(),
            ecn: false,
        }
    }
}

/// The FBA policy.
pub type Fba = FramePolicy<WithinFallingShare>;

/// Above the threshold, admits frames of VCs within a share that falls as the buffer fills.
#[derive(Debug, Clone)]
pub struct WithinFallingShare {
    threshold: u64,
    scale: Ratio,
    /// Whether frames are marked instead of refused.
    marks: bool,
}

impl FrameRule for WithinFallingShare {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Above a threshold, refuses new frames of VCs beyond a fair share that falls as the buffer fills.";
    const REFERENCE: &'static str = "Heinanen and Kilkki 1995; Fang and Lin 1995";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let threshold = port.level("threshold", params.threshold)?;
        Ok(Self { threshold, scale: params.scale, marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let occupancy = port.occupancy();
        if occupancy <= self.threshold {
            return true;
        }
        // (Y N / X) (X - R) / (K - R) against Z.
        let held = u128::from(port.vc_occupancy(cell.vc)) * u128::from(port.active_vcs());
        let filled = u128::from(occupancy - self.threshold);
        let room = u128::from(port.capacity() - self.threshold);
        self.scale.cmp_fraction(held * filled, u128::from(occupancy) * room).is_ge()
    }

    fn marks(&self) -> bool {
        self.marks
    }
}
