//! Selective drop: above a threshold, VCs that hold more than their fair share of the buffer are refused.
//!
//! The fair share is an equal part of the X cells in the buffer for each of the N VCs that have cells there. Above the
//! threshold R a new frame is refused if its VC holds Y > Z X/N.
//!
//! Compared with EPD, the discards fall on the VCs that cause the congestion, which makes the throughput of TCP connections
//! more equal. The contract of a VC plays no part. The policy needs the number of cells of each VC, and the number of VCs
//! that have any.

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

/// Parameters of selective drop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// R, the occupancy above which VCs beyond their share are refused. The default of 90 % is unconfirmed: it is
    /// reported for the authors' simulations and was not checked against their text.
    pub threshold: Level,
    /// Z, how much of the fair share a VC may hold. The default of 0.8 is unconfirmed as the threshold's is.
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

/// The selective-drop policy.
pub type SelectiveDrop = FramePolicy<WithinFairShare>;

/// Above the threshold, admits frames of VCs that hold at most Z of their fair share.
#[derive(Debug, Clone)]
pub struct WithinFairShare {
    threshold: u64,
    scale: Ratio,
    /// Whether frames are marked instead of refused.
    marks: bool,
}

impl FrameRule for WithinFairShare {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Above a threshold, refuses new frames of the VCs that hold more than a fair share of the buffer.";
    const REFERENCE: &'static str = "Goyal, Jain et al. 1997 (UBR+)";
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
        // Y N / X against Z.
        let held = u128::from(port.vc_occupancy(cell.vc)) * u128::from(port.active_vcs());
        self.scale.cmp_fraction(held, occupancy.into()).is_ge()
    }

    fn marks(&self) -> bool {
        self.marks
    }
}
