//! Double early packet discard: one EPD threshold for low-priority frames and a higher one for the others.
//!
//! Frames with CLP = 1, which were sent or tagged as excess, are refused from the low threshold on (LBO, low buffer
//! occupancy). Frames with CLP = 0 are refused from the high threshold on (HBO). The CLP of a frame's first cell decides.
//!
//! Only conforming traffic can use the space between the thresholds, so a burst of excess traffic does not displace it. The
//! policy keeps no more state per VC than EPD. For the same reason it cannot be fair: it does not see which VC fills the
//! buffer.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Occupancy, ParamError, PortContext, PortState, Reads, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{Cell, quantity::Level};

/// Parameters of double EPD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames with CLP = 1 are refused (LBO; 50 % in Puangpronpitag et al., section 4.1).
    pub low: Level,
    /// Occupancy from which frames with CLP = 0 are refused too (HBO; 80 % in Puangpronpitag et al., section 4.1).
    pub high: Level,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self { low: Level::Share(500_000), high: Level::Share(800_000), end_marks: EndMarks::default() }
    }
}

/// The double-EPD policy.
pub type DoubleEpd = FramePolicy<ByPriority>;

/// Admits a frame while the occupancy is below the threshold of its priority.
#[derive(Debug, Clone)]
pub struct ByPriority {
    low: u64,
    high: u64,
}

impl FrameRule for ByPriority {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str =
        "Refuses new frames with CLP = 1 above a low threshold, and all new frames above a high one.";
    const REFERENCE: &'static str =
        "Guerin and Heinanen, in ATM Forum TM 4.1 (GFR); Puangpronpitag et al., section 4.2";
    const LEVELS: Levels<Params> = |params| vec![("low", params.low), ("high", params.high)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        Ok(Self { low, high })
    }

    fn reads(&self) -> Reads {
        Reads::CLP
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Occupancy, S>, _: Time) -> bool {
        port.occupancy() < if cell.clp { self.low } else { self.high }
    }
}
