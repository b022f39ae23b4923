//! EPD with per-VC accounting: above the threshold, only VCs that fill their share of it are refused.
//!
//! Plain EPD refuses the next VC to begin a frame, and that is more often a VC with a long round trip or with several congested
//! ports on its path. Under this policy a VC that has fewer cells in the buffer than its share of the threshold may begin a
//! frame even above the threshold. The share is the threshold divided by the number of VCs set up at the port, active or
//! not, or a part by weight. The policy needs the number of cells of each VC, and space above the threshold for those frames.
//!
//! In a FIFO a share of the buffer is only roughly a share of the link; [`super::improved_virtual_queuing`] corrects this.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, View,
    fair_share::FairShare,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{Cell, quantity::Level};

/// Parameters of EPD with per-VC accounting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames of VCs that have their share of it in the buffer are refused (Th).
    pub threshold: Level,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: Level::Share(800_000), end_marks: EndMarks::default() }
    }
}

/// The policy.
pub type EpdPerVc = FramePolicy<BelowShare>;

/// Admits a frame while the buffer is below the threshold or the VC below its share.
#[derive(Debug, Clone)]
pub struct BelowShare(FairShare);

impl FrameRule for BelowShare {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Above a threshold, refuses new frames of VCs that fill their share of it or more.";
    const REFERENCE: &'static str = "Li, Siu, Tzeng, Ikeda and Suzuki 1996; Wu, Siu and Ren, section III";
    const PER_VC: &'static str =
        "the fate of the frame in progress, cells in the buffer, its share of the threshold";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self(FairShare::new(params.threshold, port)?))
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let (queue, of_vc) = (port.occupancy(), port.vc_occupancy(cell.vc) as i64);
        !(queue >= self.0.threshold() && self.0.is_reached(cell.vc, of_vc))
    }
}
