//! Discard policies: what happens to a cell that arrives at a buffer.
//!
//! The port owns the queue, executes the verdicts, counts, and checks that no cell is lost track of; a policy only
//! answers. To add one: a file here, a line in the registry below, a scenario in `scenarios/regression/`.

mod registry;

pub mod frame;

pub use registry::PolicyInfo;

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Cell,
    quantity::{Capacity, Level},
};

// One line a policy: it names the file, the type in it, and the policy's name in scenario files.
registry::policies! {
    tail_drop::TailDrop => "tail-drop",
    ppd::Ppd => "ppd",
    epd::Epd => "epd",
    espd::Espd => "espd",
    espd_original::EspdOriginal => "espd-original",
}

/// Why a cell was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// The buffer was full.
    BufferFull,
    /// The policy refused the whole frame at its first cell.
    FrameRefused,
    /// An earlier cell of the same frame was discarded.
    FrameBroken,
    /// The VC is under discard beyond one frame (the red status of ESPD).
    VcCaptured,
}

impl Reason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::BufferFull, Self::FrameRefused, Self::FrameBroken, Self::VcCaptured];

    /// The name of the column that counts it in results.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Self::BufferFull => "discarded_buffer_full",
            Self::FrameRefused => "discarded_frame_refused",
            Self::FrameBroken => "discarded_frame_broken",
            Self::VcCaptured => "discarded_vc_captured",
        }
    }
}

/// A policy's answer for one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Queue the cell.
    Accept,
    /// Queue the cell with a congestion mark.
    Mark,
    /// Discard the cell.
    Discard(Reason),
}

/// What a policy may see of its port: how full the buffer is just before the cell at hand.
pub trait PortView {
    /// Size of the buffer in cells; `u64::MAX` when unlimited.
    fn capacity(&self) -> u64;

    /// Cells in the buffer, the one in transmission included: a cell leaves the buffer when its last bit is sent.
    fn occupancy(&self) -> u64;

    /// Whether the cell at hand is the first of its frame: the cell before it on the VC carried an end mark.
    fn is_first(&self) -> bool;

    /// Whether the cell at hand is a packet of a packet-framed link: a whole frame in one unit.
    fn is_packet(&self) -> bool {
        false
    }

    /// Whether there is no room for the cell at hand.
    fn is_full(&self) -> bool {
        self.occupancy() >= self.capacity()
    }
}

/// A parameter that makes no sense: which one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter's key in the policy's table.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A discard policy.
pub trait BufferPolicy: Sized {
    /// The configuration, as the scenario's `[switch.discard.<name>]` table gives it.
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the policy is described.
    const REFERENCE: &'static str;

    /// A policy for a buffer of `capacity` cells (`u64::MAX`: unlimited) and `vcs` VCs.
    ///
    /// # Errors
    /// A parameter outside its meaning, such as a threshold above the capacity.
    fn new(params: &Self::Params, capacity: u64, vcs: usize) -> Result<Self, ParamError>;

    /// The levels among the parameters and their keys, so that their units can be checked against the buffer's.
    fn levels(params: &Self::Params) -> Vec<(&'static str, Level)> {
        let _ = params;
        Vec::new()
    }

    /// Decides about a cell that arrives at `now`. A full buffer accepts nothing: the port refuses to overfill.
    fn on_arrival(&mut self, cell: &Cell, port: &impl PortView, now: Time) -> Verdict;

    /// Whether, after accepting `cell`, the policy accepts the rest of its frame as long as there is room, with no more
    /// effect on its state. The port then lets the rest of a train pass without asking for every cell.
    fn accepts_rest(&self, cell: &Cell) -> bool {
        let _ = cell;
        false
    }
}
