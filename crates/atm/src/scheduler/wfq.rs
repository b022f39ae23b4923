//! Weighted fair queueing: units are sent in the order in which a fluid system would finish them (PGPS).
//!
//! The fluid system, generalised processor sharing (GPS), serves all busy VCs at once, each at a rate in proportion to its share.
//! It is computed beside the link. A unit joins it at the instant of its arrival, also during the service of another unit, and the
//! fluid system works whenever the link does. When the link is free, the unit that the fluid system finishes first is sent next;
//! among units that finish at once, that of the VC with the lowest number, as far as instants are exact. A unit therefore ends at
//! most one largest unit after the fluid system finishes it, whatever the number of VCs and their shares (Parekh and Gallager
//! 1993, theorem 1). Under `scfq` it may be late by one unit of each of the others.
//!
//! Work is the time that units occupy the link, including what the link adds to a packet. It is exact: no rounding accumulates
//! over a run, and both systems always have the same work left. Instants in the fluid system are rounded, by less than 2^-64 ps
//! times the sum of the shares, which have no common divisor: those of arrivals, and of what finishes earlier because a unit is
//! pushed out or dropped. That may decide between units that would finish at once. VCs that get only what a more urgent category
//! leaves divide that as a link of their own: the fluid system stands still while another category is served.
//!
//! A unit that is pushed out, or dropped at the head of its queue, leaves both systems. The work that the fluid system had done on
//! it counts at once for the units of its VC behind it, and for the other VCs if those are not as much, so both systems again have
//! the same work left. Measured against the times at which the fluid system then finishes them, a unit may be late by as much more
//! as was given so in the busy period. A VC is not charged for units that are not sent.
//!
//! The state is a tag for each unit, and two heaps of VCs: those that wait, by their first tags, and those that are busy in the
//! fluid system, by their last. The time per unit grows with the logarithm of the number of busy VCs. Where the units of a VC have
//! different sizes, to push one out or drop it takes a step for each behind it, too. Memory is allocated only for a queue longer than
//! any before.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Queues, Scheduler, ServiceTime, Share, Vcs,
    fluid::Fluid,
    heap::{Heap, Tag},
};
use crate::catalogue::ParamError;

/// The largest sum of shares.
const MAX_SHARES: u128 = 1 << 63;

/// Parameters of WFQ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC's share is proportional to.
    pub share: Share,
}

/// The WFQ discipline.
#[derive(Debug, Clone)]
pub struct Wfq {
    service: ServiceTime,
    fluid: Fluid,
    /// The units that wait, by VC.
    waiting: Vec<Waiting>,
    /// The VCs that wait, by their first tags.
    heads: Heap,
    in_service: InService,
}

/// The units of a VC that wait.
#[derive(Debug, Clone, Default)]
struct Waiting {
    /// The virtual times at which the fluid system ends them.
    tags: VecDeque<Tag>,
    /// The size of all of them, unless they differ, or have differed since none waited.
    size: Option<u32>,
}

impl Waiting {
    #[inline]
    fn push(&mut self, tag: Tag, size: u32) {
        if self.tags.is_empty() {
            self.size = Some(size);
        } else if self.size != Some(size) {
            self.size = None;
        }
        self.tags.push_back(tag);
    }
}

/// The unit in service, or the last one, unless that was dropped.
#[derive(Debug, Clone, Copy, Default)]
struct InService {
    tag: Tag,
    began: Instant,
    /// Its work.
    work: u128,
    /// As much of it as the fluid system has done.
    done: u128,
}

impl InService {
    /// The work that the link has done and the fluid system has not, which then has.
    #[inline]
    fn work_until(&mut self, now: Instant) -> u128 {
        // Another category may have been served since it ended.
        let done = now.max(self.began).since(self.began).bits().min(self.work).max(self.done);
        done - std::mem::replace(&mut self.done, done)
    }
}

impl Wfq {
    /// The next unit of `vc` to be sent is another one, or there is none.
    #[inline]
    fn set_head(&mut self, vc: u32) {
        match self.waiting[vc as usize].tags.front() {
            Some(&tag) => self.heads.set(vc, tag),
            None => self.heads.remove(vc),
        }
    }

    /// A unit of `vc` with that tag leaves the fluid system without being sent; those from `place` on were behind it.
    fn leave(&mut self, vc: u32, size: u32, tag: Tag, place: usize, queues: &impl Queues) {
        self.fluid.withdraw(vc, size, self.service);
        let Waiting { tags, size: common } = &mut self.waiting[vc as usize];
        // What the fluid system ended before keeps its tag.
        let place = place.max(tags.partition_point(|&tag| tag <= self.fluid.now()));
        if *common != Some(size) {
            let sizes =
                (place..tags.len()).map(|place| queues.size(vc, place).expect("a unit with a tag waits"));
            self.fluid.tag(vc, sizes, tags.range_mut(place..), self.service);
        } else if place < tags.len() {
            // Each takes the tag of the one before it.
            tags.pop_back();
            tags.insert(place, tag.max(self.fluid.now()));
        }
        self.set_head(vc);
    }
}

impl Scheduler for Wfq {
    type Params = Params;

    const SUMMARY: &'static str = "Serves VCs in proportion to their shares, in the order in which a fluid system would finish their units (PGPS).";
    const REFERENCE: &'static str = "Demers, Keshav and Shenker 1989; Parekh and Gallager 1993, A generalized processor sharing approach to flow control";
    const FORGETS: bool = true;

    fn share(params: &Params) -> Option<Share> {
        Some(params.share)
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        let service = vcs.service();
        let shares = params.share.of(vcs)?;
        if shares.iter().map(|&share| u128::from(share)).sum::<u128>() > MAX_SHARES {
            let message =
                "the shares sum to more than 2^63: give weights or rates in a simpler ratio".to_owned();
            return Err(ParamError { key: "share", message });
        }
        Ok(Self {
            service,
            fluid: Fluid::new(&shares, service),
            waiting: vec![Waiting::default(); shares.len()],
            heads: Heap::new(shares.len()),
            in_service: InService::default(),
        })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, size: u32, now: Instant, _: &impl Queues) {
        self.fluid.serve(self.in_service.work_until(now));
        let tag = self.fluid.arrive(vc, size, self.service);
        let waiting = &mut self.waiting[vc as usize];
        if waiting.tags.is_empty() {
            self.heads.set(vc, tag);
        }
        waiting.push(tag, size);
    }

    #[inline]
    fn next(&mut self, now: Instant, queues: &impl Queues) -> Option<u32> {
        let (tag, vc) = self.heads.first()?;
        self.waiting[vc as usize].tags.pop_front();
        self.set_head(vc);
        let size = queues.size(vc, 0).expect("the first unit of the VC waits");
        self.fluid.serve(self.in_service.work - self.in_service.done);
        self.in_service = InService { tag, began: now, work: self.service.of(size).bits(), done: 0 };
        Some(vc)
    }

    /// The unit stays in the fluid system until its work is done there; on the link it waits for nothing. A link that is free has
    /// done its work; so has the fluid system.
    #[inline]
    fn pass(&mut self, vc: u32, size: u32, now: Instant, _: &impl Queues) {
        self.fluid.serve(self.in_service.work - self.in_service.done);
        let tag = self.fluid.arrive(vc, size, self.service);
        self.in_service = InService { tag, began: now, work: self.service.of(size).bits(), done: 0 };
    }

    /// The link does nothing for the unit, which had lost its tag as it was taken out.
    fn refund(&mut self, vc: u32, size: u32, queues: &impl Queues) {
        let InService { tag, .. } = std::mem::take(&mut self.in_service);
        self.leave(vc, size, tag, 0, queues);
    }

    fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &impl Queues) {
        self.fluid.serve(self.in_service.work_until(now));
        let tags = &mut self.waiting[vc as usize].tags;
        let place = tags.len() - 1 - behind;
        let tag = tags.remove(place).expect("the unit waits");
        self.leave(vc, size, tag, place, queues);
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{Slot, quantity::BitRate};
    use proptest::prelude::*;

    use super::*;
    use crate::contract::Contract;

    fn slot() -> Slot {
        Slot::of_bits(424, BitRate(155_520_000))
    }

    /// Queues: the sizes of the units that wait, by VC.
    #[derive(Debug, Default)]
    struct Counts([VecDeque<u32>; 8]);

    impl Queues for Counts {
        fn size(&self, vc: u32, place: usize) -> Option<u32> {
            self.0[vc as usize].get(place).copied()
        }
    }

    fn wfq() -> Wfq {
        let contracts = [1, 1, 1, 1, 2, 2, 3, 10].map(|weight| Contract { weight, ..Contract::default() });
        let vcs = Vcs::of(contracts[0].category, &contracts, ServiceTime::of_cells(slot()));
        Wfq::new(&Params::default(), vcs).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Where all units are of one size, tags move on. They are those that are computed from what is left.
        #[test]
        fn tags_that_move_on_are_those_that_are_computed(
            steps in prop::collection::vec((0..40_u8, 0..8_u32, 0..1_u64 << 22, any::<prop::sample::Index>()), 1..200),
        ) {
            let (mut both, mut counts) = ([wfq(), wfq()], Counts::default());
            let (mut now, mut free) = (0, 0);
            for (kind, vc, wait, behind) in steps {
                let drawn = [1, 1, 1, 1, 1, 9][(wait % 6) as usize];
                now += if kind < 15 { 0 } else { wait };
                let at = Instant::start_of(now);
                both[1].waiting.iter_mut().for_each(|waiting| waiting.size = None);
                let waits = counts.0[vc as usize].len();
                match kind {
                    0..20 => {
                        counts.0[vc as usize].push_back(drawn);
                        both.iter_mut().for_each(|wfq| wfq.enqueue(vc, drawn, at, &counts));
                    }
                    20..30 if waits > 0 => {
                        let behind = if kind < 28 { waits - 1 } else { behind.index(waits) };
                        let size = counts.0[vc as usize].remove(waits - 1 - behind).unwrap();
                        both.iter_mut().for_each(|wfq| wfq.withdraw(vc, size, behind, at, &counts));
                    }
                    30.. if now >= free && counts.0.iter().any(|q| !q.is_empty()) => {
                        let [first, second] = both.each_mut().map(|wfq| wfq.next(at, &counts).unwrap());
                        prop_assert_eq!(first, second);
                        let size = counts.0[first as usize].pop_front().unwrap();
                        if kind < 31 {
                            both.iter_mut().for_each(|wfq| wfq.refund(first, size, &counts));
                        } else {
                            free = now + slot().ps() * u64::from(size);
                        }
                    }
                    _ => {}
                }
                for (quick, slow) in std::iter::zip(&both[0].waiting, &both[1].waiting) {
                    prop_assert_eq!(&quick.tags, &slow.tags);
                }
            }
        }
    }
}
