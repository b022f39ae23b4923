//! Weighted buffer allocation: selective drop with shares in proportion to the guaranteed rates.
//!
//! Above the threshold R, all frames with CLP = 1 are refused. A frame with CLP = 0 is refused if its VC holds Y > Z X W_i/W
//! of the X cells in the buffer, where W_i is the minimum cell rate of the VC and W the sum of all. If some VCs have a
//! guarantee, a VC without one is refused as soon as it holds a cell. If none has one, all shares are equal.
//!
//! In a FIFO the throughput of a VC follows its share of the buffer, so shares in proportion to the guarantees should bring
//! the rates near them. The policy needs the number of cells of each VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, Reads, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
    share::Shares,
};
use crate::{
    Cell,
    quantity::{Level, Ratio},
};

/// Parameters of WBA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// R, the occupancy above which VCs beyond their share are refused. The default of 90 % is unconfirmed: it is the
    /// one reported for selective drop; no text on WBA was at hand.
    pub threshold: Level,
    /// Z, how much of its weighted share a VC may hold. The default of 0.8 is unconfirmed as the threshold's is.
    pub scale: Ratio,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            threshold: Level::Share(900_000),
            scale: Ratio::billionths(800_000_000),
            end_marks: EndMarks::default(),
        }
    }
}

/// The WBA policy.
pub type Wba = FramePolicy<WithinWeightedShare>;

/// Above the threshold, admits frames with CLP = 0 of VCs that hold at most Z of their weighted share.
#[derive(Debug, Clone)]
pub struct WithinWeightedShare {
    threshold: u64,
    scale: Ratio,
    shares: Shares,
}

impl FrameRule for WithinWeightedShare {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str = "Above a threshold, refuses new frames with CLP = 1 and those of VCs beyond a share of the buffer in proportion to their guarantees.";
    const REFERENCE: &'static str =
        "Goyal, Jain et al. 1998, as Puangpronpitag et al. cite it; form unconfirmed";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer, its weight";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let threshold = port.level("threshold", params.threshold)?;
        Ok(Self { threshold, scale: params.scale, shares: Shares::new(port) })
    }

    fn reads(&self) -> Reads {
        Reads::BOTH
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let occupancy = port.occupancy();
        if occupancy <= self.threshold {
            return true;
        }
        // (Y / X) / (W_i / W) against Z.
        let (weight, total) = self.shares.of(cell.vc);
        let held = u128::from(port.vc_occupancy(cell.vc));
        !cell.clp && self.scale.cmp_fraction(held * total, u128::from(occupancy) * weight).is_ge()
    }
}
