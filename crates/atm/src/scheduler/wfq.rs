//! Weighted fair queueing: units go in the order in which a fluid system would end them (PGPS).
//!
//! The fluid system, generalised processor sharing (GPS), serves all VCs at once, each busy one at a rate in proportion to
//! its share. It is simulated beside the line and does as much work as the line. Virtual time V is what a VC with a share
//! of one gets there if it is always busy; a unit is tagged with the virtual time at which the fluid system ends it,
//! F = max(V, F of the unit before it on the VC) + size/share, and the smallest tag goes first. So a unit ends at most one
//! largest unit after the fluid system ends it, however many VCs there are; under [`super::scfq`] it may be late by one
//! unit of each of the others. The price is the simulation: virtual time has to be known at every arrival.
//!
//! A unit joins the fluid system when the line could send it first: at once if the line is idle, otherwise when the unit
//! in service ends. Work is counted and not time, so that VCs that get only what a more urgent category leaves divide
//! that as fairly as a line of their own.
//!
//! State: a tag for each unit, the waiting VCs sorted by their first tags, and the VCs that are busy in the fluid system
//! sorted by their last ones; time grows with the logarithm of the number of VCs.

use std::collections::{BTreeSet, VecDeque};

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, ServiceTime, Share, Vcs};
use crate::catalogue::ParamError;

/// The largest ratio of two shares.
const MAX_RATIO: u64 = 1 << 32;

/// Parameters of WFQ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC's share is proportional to. The largest share is at most 2^32 times the smallest.
    pub share: Share,
}

/// Virtual time, in units of 2^-32 of what a byte (or cell) of the VC with the largest share takes.
///
/// It only grows. A byte takes at most 2^64 and an IP packet 2^80, so that it lasts for 2^48 packets.
type Tag = u128;

/// The WFQ discipline.
#[derive(Debug, Clone)]
pub struct Wfq {
    /// Virtual time that a byte (or cell) of each VC takes.
    spacing: Vec<Tag>,
    fluid: Fluid,
    /// The tags of the units that wait, by VC.
    tags: Vec<VecDeque<Tag>>,
    /// The tag of the last unit of each VC that was sent.
    sent: Vec<Tag>,
    /// The first unit of each waiting VC, by tag; VCs with equal tags by label.
    heads: BTreeSet<(Tag, u32)>,
}

impl Wfq {
    /// The tag of the last unit of `vc` that was not pushed out.
    fn last(&self, vc: u32) -> Tag {
        self.tags[vc as usize].back().copied().unwrap_or(self.sent[vc as usize])
    }
}

impl Scheduler for Wfq {
    type Params = Params;

    const SUMMARY: &'static str = "Serves VCs in proportion to their shares, in the order in which a fluid system would end their units (PGPS).";
    const REFERENCE: &'static str = "Demers, Keshav and Shenker 1989; Parekh and Gallager 1993, A generalized processor sharing approach to flow control";

    fn new(params: &Params, vcs: Vcs<'_>, _: ServiceTime) -> Result<Self, ParamError> {
        let shares = params.share.of(vcs)?;
        let of_vcs = || vcs.iter().map(|(label, _)| shares[label]);
        let (least, most) = (of_vcs().min().unwrap_or(1), of_vcs().max().unwrap_or(1));
        if most / least > MAX_RATIO {
            let message = format!(
                "the largest share is {} times the smallest: at most 2^32 are kept apart",
                most / least
            );
            return Err(ParamError { key: "share", message });
        }
        let unit = Tag::from(most) << 32;
        Ok(Self {
            spacing: shares.iter().map(|&share| unit.div_ceil(share.into())).collect(),
            tags: vec![VecDeque::new(); shares.len()],
            sent: vec![0; shares.len()],
            heads: BTreeSet::new(),
            fluid: Fluid { shares, unit, now: 0, busy: BTreeSet::new(), busy_shares: 0, rest: 0 },
        })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        if self.heads.is_empty() {
            self.fluid.end_all();
        }
        let waiting = self.tags[vc as usize].len();
        let size = queues.size(vc, waiting).expect("a unit was put into the queue");
        let before = self.last(vc);
        let tag = self.fluid.now.max(before) + self.spacing[vc as usize] * Tag::from(size);
        self.fluid.move_end(vc, before, tag);
        self.tags[vc as usize].push_back(tag);
        if waiting == 0 {
            self.heads.insert((tag, vc));
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        let (tag, vc) = self.heads.pop_first()?;
        let tags = &mut self.tags[vc as usize];
        tags.pop_front();
        if let Some(&next) = tags.front() {
            self.heads.insert((next, vc));
        }
        self.sent[vc as usize] = tag;
        self.fluid.work(queues.size(vc, 0).expect("the first unit of the VC waits"));
        Some(vc)
    }

    fn withdraw(&mut self, vc: u32, _: u32, _: Instant, _: &impl Queues) {
        let tag = self.tags[vc as usize].pop_back().expect("a unit of the VC waited");
        if self.tags[vc as usize].is_empty() {
            self.heads.remove(&(tag, vc));
        }
        self.fluid.move_end(vc, tag, self.last(vc));
    }
}

/// Generalised processor sharing. It has done all the work that the line has, the unit in service included, but for what
/// it did in vain for units that were pushed out later.
#[derive(Debug, Clone)]
struct Fluid {
    shares: Vec<u64>,
    /// Virtual time that a byte (or cell) takes a VC with a share of one.
    unit: Tag,
    /// V.
    now: Tag,
    /// The VCs that are still served, by the virtual time at which their last unit ends: those of an end after `now`.
    busy: BTreeSet<(Tag, u32)>,
    /// The sum of their shares.
    busy_shares: u128,
    /// Work beyond `now`, too little for a step of virtual time.
    rest: u128,
}

impl Fluid {
    /// The last unit of `vc` ends at `end` and no longer at `before`.
    fn move_end(&mut self, vc: u32, before: Tag, end: Tag) {
        let share = u128::from(self.shares[vc as usize]);
        if before > self.now {
            self.busy.remove(&(before, vc));
            self.busy_shares -= share;
        }
        if end > self.now {
            self.busy.insert((end, vc));
            self.busy_shares += share;
        }
    }

    /// Works as long as the line does for a unit of `size`: from one end of a VC to the next all busy VCs are served.
    fn work(&mut self, size: u32) {
        let mut left = self.rest + self.unit * u128::from(size);
        self.rest = 0;
        while let Some(&(end, vc)) = self.busy.first() {
            let steps = left / self.busy_shares;
            if self.now + steps < end {
                self.now += steps;
                self.rest = left % self.busy_shares;
                return;
            }
            left -= (end - self.now) * self.busy_shares;
            self.now = end;
            self.busy.pop_first();
            self.busy_shares -= u128::from(self.shares[vc as usize]);
        }
    }

    /// Ends all units, as the line has. What is left is what tags were rounded up by, and what was done in vain.
    fn end_all(&mut self) {
        if let Some(&(end, _)) = self.busy.last() {
            self.now = end;
        }
        self.busy.clear();
        (self.busy_shares, self.rest) = (0, 0);
    }
}
