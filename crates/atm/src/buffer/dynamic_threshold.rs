//! Dynamic thresholds: no VC may hold more than a multiple of the free space.
//!
//! A new frame is admitted while its VC holds Y < α (B - X), where X is the occupancy of a buffer of size B. The limit is the
//! same for all VCs and moves with the load. A VC that is alone may take most of the buffer; when others arrive, the limit
//! falls and its queue drains. With M VCs at their limit each holds αB/(1 + αM), and B/(1 + αM) stays free.
//!
//! A newcomer finds this reserve at once; the price is a buffer that is never full. Frames are admitted whole, so a VC can
//! exceed the limit by the rest of a frame. The policy needs the number of cells of each VC, and has one parameter.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, View,
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::{Cell, quantity::Ratio};

/// Parameters of dynamic thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Multiple of the free space that a VC may hold, above 0. Analyses take 1; products use powers of two from 1/16 to
    /// 8.
    pub alpha: Ratio,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports above the limit instead of refusing them (RFC 3168).
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { alpha: Ratio::ONE, end_marks: EndMarks::default(), ecn: false }
    }
}

/// The dynamic-threshold policy.
pub type DynamicThreshold = FramePolicy<BelowFreeSpace>;

/// Admits a frame while its VC holds less than α times the free space.
#[derive(Debug, Clone)]
pub struct BelowFreeSpace {
    alpha: Ratio,
    /// Whether frames are marked instead of refused.
    marks: bool,
}

impl FrameRule for BelowFreeSpace {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Refuses new frames of VCs that hold more than a multiple of the free space in the buffer.";
    const REFERENCE: &'static str = "Choudhury and Hahne 1998";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.alpha == Ratio::billionths(0) {
            let message = "at 0 no VC may send: give a ratio above 0".into();
            return Err(ParamError { key: "alpha", message });
        }
        Ok(())
    }

    fn new(params: &Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        Ok(Self { alpha: params.alpha, marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let free = port.capacity() - port.occupancy();
        self.alpha.cmp_fraction(port.vc_occupancy(cell.vc).into(), free.into()).is_gt()
    }

    fn marks(&self) -> bool {
        self.marks
    }
}
