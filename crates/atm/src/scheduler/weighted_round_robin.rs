//! Weighted round robin: in each cycle every VC that has something to send sends as many cells as its weight.
//!
//! The weights are the shares of the contracts without their common divisor. Without interleaving, a VC sends all its cells of a
//! cycle in one burst. With interleaving, a cycle consists of rounds in which each VC sends one cell until it has had its share,
//! so the cells of a heavy VC lie between those of the others, as far as there are others. A VC loses what it does not use of a
//! cycle. A VC that begins to send joins the current cycle, and one that returns within a cycle has the rest of its share. A cycle is
//! over when the link looks for something to send, and no VC that waits has a rest of its share. In the next one VCs have their turns in the
//! order in which they had used up their shares. Units count, not their sizes: for packets see `deficit-round-robin`.
//!
//! The state is two numbers per VC and its place in a list. Every operation takes constant time, except when the queue of a VC is
//! pushed out whole.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Share, Vcs};
use crate::catalogue::ParamError;

/// The most cells of a VC in a cycle: with more, a cycle would take so long that the shares mean nothing.
pub const MAX_TURNS: u64 = 10_000;

/// Parameters of weighted round robin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC's share is proportional to.
    pub share: Share,
    /// Whether the cells of different VCs are interleaved; otherwise a VC sends all its cells of a cycle in one burst.
    pub interleaved: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { share: Share::default(), interleaved: true }
    }
}

/// The weighted-round-robin discipline.
#[derive(Debug, Clone)]
pub struct WeightedRoundRobin {
    interleaved: bool,
    /// Number of the cycle at hand.
    cycle: u64,
    vcs: Vec<Turns>,
    /// Busy VCs that may still send in this cycle, in the order of their turns.
    turns: VecDeque<u32>,
    /// Busy VCs that have had their share of this cycle.
    waiting: VecDeque<u32>,
}

/// How often a VC may send.
#[derive(Debug, Clone, Copy)]
struct Turns {
    /// In a cycle.
    weight: u64,
    /// In the cycle number `cycle`, from now on.
    left: u64,
    cycle: u64,
}

impl WeightedRoundRobin {
    /// What `vc` may still send in the cycle at hand.
    fn left(&mut self, vc: u32) -> &mut u64 {
        let turns = &mut self.vcs[vc as usize];
        if turns.cycle != self.cycle {
            (turns.left, turns.cycle) = (turns.weight, self.cycle);
        }
        &mut turns.left
    }

    fn end_cycle(&mut self) {
        std::mem::swap(&mut self.turns, &mut self.waiting);
        self.cycle += 1;
    }
}

impl Scheduler for WeightedRoundRobin {
    type Params = Params;

    const SUMMARY: &'static str =
        "Serves busy VCs round robin, with as many cells per cycle as the weight of the VC.";
    const REFERENCE: &'static str = "Katevenis, Sidiropoulos and Courcoubetis 1991, Weighted round-robin cell multiplexing in a general-purpose ATM switch chip";

    fn share(params: &Params) -> Option<Share> {
        Some(params.share)
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        let shares = params.share.of(vcs)?;
        if let Some((label, weight)) = shares.iter().enumerate().find(|(_, weight)| **weight > MAX_TURNS) {
            let message = format!(
                "VC {label} would have {weight} cells a cycle, and {MAX_TURNS} are the most: give weights or rates in a \
                 simpler ratio, or use `scfq`"
            );
            return Err(ParamError { key: "share", message });
        }
        let vcs = shares.iter().map(|&weight| Turns { weight, left: weight, cycle: 0 }).collect();
        let (turns, waiting) = (VecDeque::new(), VecDeque::new());
        Ok(Self { interleaved: params.interleaved, cycle: 0, vcs, turns, waiting })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        // The only unit of its queue: the VC joins the cycle.
        if queues.size(vc, 1).is_none() {
            if *self.left(vc) > 0 { self.turns.push_back(vc) } else { self.waiting.push_back(vc) }
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        if self.turns.is_empty() {
            self.end_cycle();
        }
        let vc = self.turns.pop_front()?;
        let left = self.left(vc);
        *left -= 1;
        let has_turns = *left > 0;
        if queues.size(vc, 1).is_some() {
            match (has_turns, self.interleaved) {
                (true, true) => self.turns.push_back(vc),
                (true, false) => self.turns.push_front(vc),
                (false, _) => self.waiting.push_back(vc),
            }
        }
        Some(vc)
    }

    /// The next unit of the VC has the turn of the one that was dropped.
    fn refund(&mut self, vc: u32, _: u32, _: &impl Queues) {
        *self.left(vc) += 1;
        let (turns, waiting) = (&mut self.turns, &mut self.waiting);
        // Where `next` has put the VC, if it has another unit.
        let is_last = |vcs: &VecDeque<u32>| vcs.back() == Some(&vc);
        if is_last(turns) || is_last(waiting) {
            if is_last(turns) { turns } else { waiting }.pop_back();
            self.turns.push_front(vc);
        }
    }

    fn withdraw(&mut self, vc: u32, _: u32, _: usize, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 0).is_none() {
            self.turns.retain(|&turn| turn != vc);
            self.waiting.retain(|&turn| turn != vc);
        }
    }
}
