//! Round robin: the VCs that have something to send take turns, a unit each.
//!
//! For cells, which are all of one size, the division is max-min fair: a VC that asks for less than an equal share gets
//! all of it, and the others share the rest equally. For packets it favours VCs with large ones; see
//! `deficit-round-robin`. State: a place in a list for each VC with something to send. Constant time, but for a VC
//! whose queue is pushed out whole.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Vcs};
use crate::catalogue::ParamError;

/// Round robin has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The round-robin discipline: the VCs with something to send, in the order of their turns.
#[derive(Debug, Clone)]
pub struct RoundRobin {
    turns: VecDeque<u32>,
}

impl Scheduler for RoundRobin {
    type Params = Params;

    const SUMMARY: &'static str =
        "Serves the VCs that have something to send in turn, a cell or packet each.";
    const REFERENCE: &'static str = "Wu, Siu and Ren, section II.C (per-VC queuing)";

    fn new(_: &Params, _: Vcs<'_>) -> Result<Self, ParamError> {
        Ok(Self { turns: VecDeque::new() })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        // The only unit of its queue: the VC joins the round.
        if queues.size(vc, 1).is_none() {
            self.turns.push_back(vc);
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        let vc = self.turns.pop_front()?;
        if queues.size(vc, 1).is_some() {
            self.turns.push_back(vc);
        }
        Some(vc)
    }

    fn withdraw(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 0).is_none() {
            self.turns.retain(|&turn| turn != vc);
        }
    }
}
