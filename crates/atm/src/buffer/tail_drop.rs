//! Tail drop: a cell that finds the buffer full is discarded, whatever frame it belongs to ("plain UBR").
//!
//! The loss of one cell costs the receiver the whole frame. The other cells of the frame still take space and time on the
//! links, for nothing, and one overflow breaks frames of many VCs: with TCP the throughput falls far below the capacity. The
//! policy keeps no state. It is the baseline for the other policies.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BufferPolicy, Occupancy, ParamError, PortContext, PortState, Reason, Verdict, View};
use crate::Cell;

/// Tail drop has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The tail-drop policy.
#[derive(Debug, Clone)]
pub struct TailDrop;

impl BufferPolicy for TailDrop {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str =
        "Discards a cell only when the buffer is full, regardless of frames (plain UBR).";
    const REFERENCE: &'static str = "ATM Forum TM 4.0, UBR";
    const PER_VC: &'static str = "nothing";

    fn new(_: &Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self)
    }

    #[inline(always)]
    fn on_arrival<S: PortState>(&mut self, _: &Cell, port: &View<'_, Occupancy, S>, _: Time) -> Verdict {
        if port.is_full() { Verdict::Discard(Reason::BufferFull) } else { Verdict::Accept }
    }

    #[inline]
    fn accepts_rest(&self, _: &Cell) -> bool {
        true
    }

    #[inline(always)]
    fn passes(&self, _: &Cell, _: impl FnOnce() -> u64) -> bool {
        true
    }
}
