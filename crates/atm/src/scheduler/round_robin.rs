//! Round robin: the VCs that have something to send are served cyclically, one unit each.
//!
//! For cells, which all have one size, the division is max-min fair: a VC that demands less than an equal share gets all of its
//! demand, and the others share the rest equally. For packets the discipline favours VCs with large ones; see
//! `deficit-round-robin`. The state is a place in a list for each VC with something to send. Operations take constant time, except
//! when the queue of a VC is pushed out whole.

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

    const SUMMARY: &'static str = "Serves busy VCs round robin, one cell or packet each.";
    const REFERENCE: &'static str = "Wu, Siu and Ren, section II.C (per-VC queuing)";
    const FORGETS: bool = true;

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

    #[inline]
    fn pass(&mut self, _: u32, _: u32, _: Instant, _: &impl Queues) {}

    /// The next unit of the VC has the turn of the one that was dropped.
    fn refund(&mut self, vc: u32, _: u32, _: &impl Queues) {
        if self.turns.back() == Some(&vc) {
            self.turns.rotate_right(1);
        }
    }

    fn withdraw(&mut self, vc: u32, _: u32, _: usize, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 0).is_none() {
            self.turns.retain(|&turn| turn != vc);
        }
    }
}
