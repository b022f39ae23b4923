//! EPD with push-out: above the threshold a frame is still admitted if its VC is below its part of the buffer, and
//! takes the place of frames of the VC that is furthest above its own.
//!
//! It joins partial buffer sharing (admit below a threshold) with push-out. Frames of the VC with the largest excess
//! go, last frame first, until the buffer is below the threshold again. A frame of which something has been sent is
//! left alone. It helps a FIFO to keep guaranteed rates and to protect VCs that behave from those that do not; the
//! state is that of EPD, counts of cells by VC, and in the buffer a way to find the last frame of a VC. An overflow in
//! the middle of a frame breaks it as in EPD: [`super::abs_push_out`] avoids that.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BufferPolicy, ParamError, PortContext, PortView, Verdict, epd,
    frame::EndMarks,
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
#[derive(Debug, Clone)]
pub struct EpdPushOut {
    epd: epd::Epd,
    threshold: u64,
    limits: Limits,
}

impl BufferPolicy for EpdPushOut {
    type Params = Params;

    const SUMMARY: &'static str =
        "EPD in which VCs below their part of the buffer push out frames of the VC furthest above its own.";
    const REFERENCE: &'static str =
        "GFR with tracking of the available buffer space and packet push-out (2001), section 4.1";
    const PER_VC: &'static str = "what becomes of the frame in progress, cells in the buffer, its threshold and maximum frame, \
        where its last frame is queued";
    const KEEPS_ACCOUNTS: bool = true;
    const PUSHES_OUT: bool = true;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let &Params { threshold, sharing, end_marks } = params;
        let cells = |level: Level| {
            level.cells(port.capacity).map_err(|message| ParamError { key: "threshold", message })
        };
        Ok(Self {
            epd: epd::Epd::new(&epd::Params { threshold, end_marks, ecn: false }, port)?,
            threshold: cells(threshold)?,
            limits: Limits::new(sharing, port)?,
        })
    }

    fn levels(params: &Params) -> Vec<(&'static str, Level)> {
        vec![("threshold", params.threshold)]
    }

    #[inline]
    fn on_arrival(&mut self, cell: &Cell, port: &impl PortView, now: Time) -> Verdict {
        if port.is_first()
            && port.occupancy() >= self.threshold
            && self.limits.has_room(cell.vc, port.vc_occupancy(cell.vc) as i64)
            && let Some(vc) = self.limits.most_over(port, cell.vc)
        {
            return Verdict::PushOut(vc);
        }
        self.epd.on_arrival(cell, port, now)
    }

    #[inline]
    fn accepts_rest(&self, cell: &Cell) -> bool {
        self.epd.accepts_rest(cell)
    }

    fn on_push_out(&mut self, vc: u32, count: u64, complete: bool) {
        self.epd.on_push_out(vc, count, complete);
    }

    fn illegal(&self, port: &impl PortView) -> Option<u64> {
        Some(self.limits.illegal(port))
    }
}
