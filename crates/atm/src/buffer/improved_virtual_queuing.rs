//! Improved virtual queuing: [`super::virtual_queuing`] where a VC that does not send saves turns, down to a bound.
//!
//! The variable M of a VC is its excess: cells accepted so far less its fair part of the cells sent. It may be
//! negative, so a VC that pauses, or that slow start holds back, gets its missed service later. As long as no M touches
//! the bound -w, VCs with equal M have had exactly equal service (Wu, Siu and Ren, theorem 2), and refusing frames by M
//! makes long-run throughput equal, which even queues by VC do not for bursty sources. The state is that of virtual
//! queuing: a counter and a list entry for each VC.
//!
//! The bound limits the burst that a VC may bring after a pause: up to w cells more than its share. The paper gives no
//! number. The default is the room above the threshold divided by the number of VCs: then what one VC has saved takes
//! its part of that room and no more, and the saved service of all VCs together just fills the buffer. With a fixed
//! threshold, frames admitted below it and the shares themselves can still overfill it; what overflows is broken as in
//! EPD.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BufferPolicy, ParamError, PortContext, PortView, Verdict,
    fair_share::FairShare,
    frame::EndMarks,
    virtual_queuing::{self, VirtualQueuing},
};
use crate::{
    Cell,
    quantity::{Level, MAX_CELLS},
};

/// Parameters of improved virtual queuing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames of VCs whose excess has reached their share are refused (Th).
    pub threshold: Level,
    /// How far below zero the excess of a VC goes (w); the room above the threshold over the number of VCs if not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Level>,
    /// Whether the share follows what the VCs use (Wu, Siu and Ren, equation 3) instead of being fixed.
    pub dynamic_threshold: bool,
    /// Cells sent between two updates of the dynamic threshold; once a round of service if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub update_interval: Option<u32>,
    /// Which end marks of discarded frames pass. The published pseudocode discards them all: `"never"`.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        let virtual_queuing::Params { threshold, dynamic_threshold, update_interval, end_marks } =
            virtual_queuing::Params::default();
        Self { threshold, bound: None, dynamic_threshold, update_interval, end_marks }
    }
}

/// The policy.
#[derive(Debug, Clone)]
pub struct ImprovedVirtualQueuing(VirtualQueuing);

impl ImprovedVirtualQueuing {
    /// M: the excess of each VC, in cells.
    #[must_use]
    pub fn excess(&self) -> &[i64] {
        self.0.virtual_queues()
    }

    /// The shares of the VCs in the threshold.
    #[must_use]
    pub fn share(&self) -> &FairShare {
        self.0.share()
    }
}

impl Params {
    /// The bound w, in cells.
    fn w(&self, port: &PortContext<'_>) -> Result<i64, ParamError> {
        let cells = match self.bound {
            Some(bound) => {
                bound.cells(port.capacity).map_err(|message| ParamError { key: "bound", message })?
            }
            None => {
                let threshold = self
                    .threshold
                    .cells(port.capacity)
                    .map_err(|message| ParamError { key: "threshold", message })?;
                (port.capacity - threshold) / (port.vcs.len() as u64).max(1)
            }
        };
        // In an unlimited buffer nothing overflows: as good as no bound.
        Ok(cells.min(MAX_CELLS) as i64)
    }
}

impl BufferPolicy for ImprovedVirtualQueuing {
    type Params = Params;

    const SUMMARY: &'static str =
        "Virtual queuing in which VCs save turns they do not need, so that long-run throughput is equal.";
    const REFERENCE: &'static str = "Wu, Siu and Ren, section III, second pseudocode, and section IV";
    const PER_VC: &'static str = "what becomes of the frame in progress, the excess, its weight, its share of the threshold, \
        its place in the list of turns";
    const KEEPS_ACCOUNTS: bool = true;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let &Params { threshold, dynamic_threshold, update_interval, end_marks, .. } = params;
        let inner = virtual_queuing::Params { threshold, dynamic_threshold, update_interval, end_marks };
        Ok(Self(VirtualQueuing::bounded(&inner, params.w(port)?, port)?))
    }

    fn levels(params: &Params) -> Vec<(&'static str, Level)> {
        let bound = params.bound.map(|bound| ("bound", bound));
        std::iter::once(("threshold", params.threshold)).chain(bound).collect()
    }

    #[inline]
    fn on_arrival(&mut self, cell: &Cell, port: &impl PortView, now: Time) -> Verdict {
        self.0.on_arrival(cell, port, now)
    }

    #[inline]
    fn on_departure(&mut self, cell: &Cell, now: Time) {
        self.0.on_departure(cell, now);
    }
}
