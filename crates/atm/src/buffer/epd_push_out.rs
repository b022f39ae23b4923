//! EPD with push-out: above the threshold a frame is still admitted if its VC is below its part of the buffer, and
//! takes the place of frames of the VC that is furthest above its own.
//!
//! It joins partial buffer sharing (admit below a threshold) with push-out. Frames of the VC with the largest excess
//! go, last frame first, until the buffer is below the threshold again and what arrives finds room. A frame of which something has been sent is
//! left alone. It helps a FIFO to keep guaranteed rates and to protect VCs that behave from those that do not; the
//! state is that of EPD, counts of cells by VC, and in the buffer a way to find the last frame of a VC. An overflow in
//! the middle of a frame breaks it as in EPD: [`super::abs_push_out`] avoids that.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PortContext, PortState, PushOut, View, epd,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
    push_out::{Limits, Sharing},
};
use crate::{Cell, quantity::Level};

/// Parameters of EPD with push-out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which a frame is admitted only in place of others.
    pub threshold: Level,
    /// How the buffer is divided among the VCs.
    pub sharing: Sharing,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        let epd::Params { threshold, end_marks, .. } = epd::Params::default();
        Self { threshold, sharing: Sharing::default(), end_marks }
    }
}

/// The policy.
pub type EpdPushOut = FramePolicy<InPlaceOfOthers>;

/// Admits a frame below the threshold, and pushes others out for VCs with room below their part.
#[derive(Debug, Clone)]
pub struct InPlaceOfOthers {
    threshold: u64,
    limits: Limits,
}

impl FrameRule for InPlaceOfOthers {
    type Params = Params;
    type Needs = PushOut;

    const SUMMARY: &'static str =
        "EPD in which VCs below their part of the buffer push out frames of the VC furthest above its own.";
    const REFERENCE: &'static str =
        "GFR with tracking of the available buffer space and packet push-out (2001), section 4.1";
    const PER_VC: &'static str = "what becomes of the frame in progress, cells in the buffer, its threshold and maximum frame, \
        where its last frame is queued";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let threshold = port.level("threshold", params.threshold)?;
        Ok(Self { threshold, limits: Limits::new(params.sharing, port)? })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, port: &View<'_, PushOut, S>, _: Time) -> bool {
        port.occupancy() < self.threshold
    }

    #[inline]
    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        let calls = port.is_first()
            && (port.is_full() || port.occupancy() >= self.threshold)
            && self.limits.has_room(cell.vc, port.vc_occupancy(cell.vc) as i64);
        if calls { self.limits.most_over(port, cell.vc) } else { None }
    }

    fn illegal<S: PortState>(&self, port: &View<'_, PushOut, S>) -> Option<u64> {
        Some(self.limits.illegal(port))
    }
}
