//! Early selective packet discard: a few VCs give way, and the others continue.
//!
//! A VC turns red, caught in the congestion, if its first cell of a frame finds the high threshold or more cells in the
//! buffer, or if any of its cells finds the buffer full. This cell is discarded, even if it is the only one of its frame. All frames
//! of a red VC are discarded except for their end marks. The VC is released at an end mark that finds fewer cells than the low
//! threshold, and space. A packet is no mere end mark: one of a red VC passes only if it releases the VC. A VC at a limit of its own
//! finds the buffer full.
//!
//! A red VC loses several frames in succession, so its TCP connection times out and starts again from a small window.
//! Connections that are not caught lose nothing: the windows do not move together. The state is one bit per VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BufferPolicy, Occupancy, ParamError, PortContext, PortState, Reason, Verdict, View};
use crate::{Cell, quantity::Level};

/// Parameters of ESPD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which the VC of an arriving first cell turns red. At 100 % only overflow turns a VC red.
    pub high: Level,
    /// Occupancy below which a red VC is released, at the end of its frame.
    pub low: Level,
}

impl Default for Params {
    fn default() -> Self {
        Self { high: Level::Share(950_000), low: Level::Share(900_000) }
    }
}

/// The ESPD policy.
#[derive(Debug, Clone)]
pub struct Espd {
    high: u64,
    low: u64,
    /// Status of each VC.
    red: Vec<bool>,
}

impl BufferPolicy for Espd {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str = "Captures VCs one by one above a high threshold and discards their frames until the queue is below a low one.";
    const REFERENCE: &'static str = "Cheon and Panwar, section 3.2 (pseudocode)";
    const PER_VC: &'static str = "whether it is red";

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        Ok(Self { high, low, red: vec![false; port.vcs.len()] })
    }

    fn levels(params: &Params) -> Vec<(&'static str, Level)> {
        vec![("high", params.high), ("low", params.low)]
    }

    #[inline(always)]
    fn on_arrival<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Occupancy, S>, _: Time) -> Verdict {
        let (red, full) = (&mut self.red[cell.vc as usize], port.is_full());
        if *red {
            let stays = full || port.occupancy() >= self.low;
            // A packet is no mere end mark: it passes only once its VC is released.
            if !cell.is_last() || (port.is_packet() && stays) {
                return Verdict::Discard(Reason::VcCaptured);
            }
            *red = stays;
            return if full { Verdict::Discard(Reason::BufferFull) } else { Verdict::Accept };
        }
        if full || (port.is_first() && port.occupancy() >= self.high) {
            *red = true;
            return Verdict::Discard(if full { Reason::BufferFull } else { Reason::VcCaptured });
        }
        Verdict::Accept
    }

    fn captures(&self, vc: u32) -> bool {
        self.red[vc as usize]
    }

    #[inline]
    fn accepts_rest(&self, cell: &Cell) -> bool {
        !self.red[cell.vc as usize]
    }

    #[inline(always)]
    fn passes(&self, cell: &Cell, occupancy: impl FnOnce() -> u64) -> bool {
        !self.red[cell.vc as usize] && occupancy() < self.high
    }
}
