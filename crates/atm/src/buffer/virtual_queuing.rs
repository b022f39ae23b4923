//! Virtual queuing: per-VC EPD whose shares are measured as if each VC had a queue of its own, served round robin.
//!
//! The number of cells that a VC has in a FIFO says little about its service rate. Virtual queuing therefore keeps a virtual
//! queue for each VC. An accepted cell adds one to the virtual queue of its VC. A transmitted cell, of whichever VC, takes one
//! from the next virtual queue in round-robin order. From the threshold on a frame is refused if the virtual queue of its VC has
//! reached its share of the threshold. The fairness comes near that of per-VC queues, at the price of a counter and a list entry
//! for each VC beside one FIFO.
//!
//! A virtual queue is never negative, so a VC whose virtual queue is empty for a while loses that service for good. Sources
//! that send in bursts lose it; [`super::improved_virtual_queuing`] lets them save it.
//!
//! The share is the threshold divided by the number of VCs set up at the port, active or not; the others cannot use what idle VCs
//! leave. Where VCs have weights (`vc.weight`), a VC of weight k has k of as many parts as all weights add up to, and in its turn k cells
//! are taken from its virtual queue, if it has so many.
//!
//! With `dynamic-threshold` the VCs that have less than this fixed share keep what they have of the threshold, and what they leave of it
//! is divided among the others. A VC that has just its fixed share is one of the others. While no VC has as much, the share is the fixed
//! one. It is computed anew after each round of service: when the VC that was the last in the list at the start of the round has had
//! its turn.
//!
//! A virtual queue counts cells or packets, so a buffer whose size is in bytes is refused.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Departure, ParamError, PerVc, PortContext, PortState, View,
    fair_share::FairShare,
    frame::{CellHook, EndMarks, FramePolicy, FrameRule, Levels},
    turns::Turns,
};
use crate::{
    Cell,
    quantity::{Level, Unit},
};

/// Parameters of virtual queuing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames of VCs whose virtual queue has reached its share are refused (Th).
    pub threshold: Level,
    /// Whether the share follows what the VCs use (Wu, Siu and Ren, equation 3) instead of being fixed.
    pub dynamic_threshold: bool,
    /// Cells sent between two updates of the dynamic threshold. Without it: one update per round of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub update_interval: Option<u32>,
    /// Which end marks of discarded frames pass. The published pseudocode discards them all: `"never"`.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            threshold: Level::Share(800_000),
            dynamic_threshold: false,
            update_interval: None,
            end_marks: EndMarks::default(),
        }
    }
}

/// When a dynamic threshold is computed anew.
#[derive(Debug, Clone, Copy)]
enum Update {
    /// Never: the threshold is fixed.
    Never,
    /// At the end of each round of service.
    EveryRound,
    /// After so many cells; `left` of them are still to be sent.
    Every { cells: u32, left: u32 },
}

/// The policy.
pub type VirtualQueuing = FramePolicy<VirtualQueues>;

/// Admits a frame while the buffer is below the threshold or the VC's virtual queue below its share.
#[derive(Debug, Clone)]
pub struct VirtualQueues {
    turns: Turns,
    share: FairShare,
    update: Update,
}

impl VirtualQueues {
    /// Virtual queues that go down to `-w` cells.
    pub(super) fn bounded(params: &Params, w: i64, port: &PortContext<'_>) -> Result<Self, ParamError> {
        if port.unit == Unit::Bytes {
            let message = "virtual queues count packets, and this buffer holds a number of bytes: give it a number of packets";
            return Err(ParamError { key: "threshold", message: message.into() });
        }
        let weights = port.vcs.iter().map(|contract| i64::from(contract.weight)).collect();
        let share = FairShare::new(params.threshold, port)?;
        Ok(Self { turns: Turns::new(weights, w), share, update: Update::new(params)? })
    }

    /// The virtual queue of each VC, in cells.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        self.turns.sizes()
    }

    /// The shares of the VCs in the threshold.
    #[must_use]
    pub fn share(&self) -> &FairShare {
        &self.share
    }

    /// Whether a frame of `vc` is admitted that finds `queue` in the buffer.
    pub(super) fn admit(&self, vc: u32, queue: u64) -> bool {
        queue < self.share.threshold() || !self.share.is_reached(vc, self.turns.sizes()[vc as usize])
    }

    /// A cell of `vc` was accepted.
    pub(super) fn accept(&mut self, vc: u32) {
        self.turns.accept(vc);
    }

    /// A cell was sent, of any VC.
    pub(super) fn serve(&mut self) {
        let round_ends = self.turns.serve();
        if self.update.is_due(round_ends) {
            self.share.adapt(self.turns.sizes());
        }
    }
}

impl Update {
    pub(super) fn new(params: &Params) -> Result<Self, ParamError> {
        let error = |message: &str| Err(ParamError { key: "update-interval", message: message.into() });
        match (params.dynamic_threshold, params.update_interval) {
            (true, None) => Ok(Self::EveryRound),
            (true, Some(0)) => error("an update every 0 cells: give at least 1, or nothing for once a round"),
            (true, Some(cells)) => Ok(Self::Every { cells, left: cells }),
            (false, None) => Ok(Self::Never),
            (false, Some(_)) => {
                error("the threshold is fixed and never updated: set \"dynamic-threshold\" or remove this")
            }
        }
    }

    /// Whether the threshold is to be computed now that a cell was sent.
    fn is_due(&mut self, round_ends: bool) -> bool {
        match self {
            Self::Never => false,
            Self::EveryRound => round_ends,
            Self::Every { cells, left } => {
                *left -= 1;
                let due = *left == 0;
                if due {
                    *left = *cells;
                }
                due
            }
        }
    }
}

impl FrameRule for VirtualQueues {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str =
        "Per-VC EPD with shares measured in virtual queues, which are served round robin and never negative.";
    const REFERENCE: &'static str = "Tzeng and Siu 1996; Wu, Siu and Ren, section III, first pseudocode";
    const PER_VC: &'static str = "the fate of the frame in progress, the virtual queue, its weight, its share of the threshold, \
        its place in the list of turns";
    const ON_CELL: Option<CellHook<Self>> = Some(|queues, cell, _, accepted, _| {
        if accepted {
            queues.accept(cell.vc);
        }
    });
    const LEVELS: Levels<Params> = |params| vec![("threshold", params.threshold)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn check(params: &Params) -> Result<(), ParamError> {
        Update::new(params).map(|_| ())
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Self::bounded(params, 0, port)
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        self.admit(cell.vc, port.occupancy())
    }

    #[inline]
    fn on_departure(&mut self, _: Departure) {
        self.serve();
    }
}
