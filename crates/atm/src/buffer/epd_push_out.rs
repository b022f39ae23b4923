//! EPD with push-out: a VC below its part of the buffer is admitted above the threshold too, and displaces frames of the VC
//! that is furthest above its own part.
//!
//! Below the threshold every frame is admitted (partial buffer sharing). From it on, a frame is admitted only if one maximum frame more
//! (`vc.mfs`) leaves its VC within its own part of the buffer, and other frames can be pushed out for it: those of the VC furthest
//! above its own part, or least below it, last frame first, until the buffer is below the threshold again and the arriving cell fits. A
//! frame of which a cell has been or is being transmitted stays. With `until = "room"` frames are pushed out only until a maximum frame of
//! the VC fits, or the buffer is below the threshold.
//!
//! In a FIFO the policy helps to keep guaranteed rates and protects VCs that behave from those that do not. The state is that of EPD, the
//! number of cells of each VC, and an index of the buffer that finds the last frame of a VC. An overflow in the middle of a frame
//! breaks it as in EPD; with `until = "room"` frames of others are pushed out then, too. [`super::abs_push_out`] avoids most overflows. The
//! explanation page on push-out has the formula of the parts.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PortContext, PortState, PushOut, Reads, View, epd,
    frame::{EndMarks, FramePolicy, FrameRule, Levels, RestHook},
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
    /// How far frames are pushed out.
    pub until: Until,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

/// How far frames are pushed out for a VC below its part of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// Until the occupancy is below the threshold again, as section 4.1 describes the scheme by itself. An overflow
    /// within a frame breaks it.
    #[default]
    Threshold,
    /// Until a maximum frame of the VC fits or the occupancy is below the threshold, and also when a cell within a frame finds the buffer full:
    /// the scheme then differs from the proposed one in the threshold, as section 4.2.1 says.
    Room,
}

impl Default for Params {
    fn default() -> Self {
        let epd::Params { threshold, end_marks, .. } = epd::Params::default();
        Self { threshold, sharing: Sharing::default(), until: Until::default(), end_marks }
    }
}

/// The policy.
pub type EpdPushOut = FramePolicy<InPlaceOfOthers>;

/// Admits a frame below the threshold, and pushes others out for VCs with room below their part.
#[derive(Debug, Clone)]
pub struct InPlaceOfOthers {
    threshold: u64,
    until: Until,
    limits: Limits,
}

impl InPlaceOfOthers {
    /// Whether a maximum frame of a VC finds room in the buffer as it is.
    fn has_space<S: PortState>(&self, vc: u32, port: &View<'_, PushOut, S>) -> bool {
        port.occupancy().saturating_add_signed(self.limits.frame(vc)) <= port.capacity()
    }
}

impl FrameRule for InPlaceOfOthers {
    type Params = Params;
    type Needs = PushOut;

    const SUMMARY: &'static str = "EPD in which VCs below their part of the buffer push out frames of the VC furthest above its own part.";
    const REFERENCE: &'static str =
        "GFR with tracking of the available buffer space and packet push-out (2001), section 4.1";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer, its threshold and maximum frame, \
        where its last frame is queued";
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const ON_REST: Option<RestHook<Self>> = Some(|_, _, _| {});
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let threshold = port.level("threshold", params.threshold)?;
        Ok(Self { threshold, until: params.until, limits: Limits::new(params.sharing, port)? })
    }

    fn reads(&self) -> Reads {
        Reads::MCR
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>, _: Time) -> bool {
        let in_place_of_others = || {
            self.until == Until::Room
                && self.limits.has_room(cell.vc, port.vc_occupancy(cell.vc) as i64)
                && self.has_space(cell.vc, port)
        };
        port.occupancy() < self.threshold || in_place_of_others()
    }

    #[inline]
    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        if !port.is_first() {
            let overflows = self.until == Until::Room && port.is_full();
            return if overflows { self.limits.most_over(port, cell.vc) } else { None };
        }
        let lacks_space = match self.until {
            Until::Threshold => port.is_full() || port.occupancy() >= self.threshold,
            Until::Room => {
                port.is_full() || (port.occupancy() >= self.threshold && !self.has_space(cell.vc, port))
            }
        };
        let calls = lacks_space && self.limits.has_room(cell.vc, port.vc_occupancy(cell.vc) as i64);
        if calls { self.limits.most_over(port, cell.vc) } else { None }
    }

    fn illegal<S: PortState>(&self, port: &View<'_, PushOut, S>) -> Option<u64> {
        Some(self.limits.illegal(port))
    }
}
