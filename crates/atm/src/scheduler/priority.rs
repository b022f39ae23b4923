//! Strict priority between service categories, any discipline within each.
//!
//! The order of categories is that of [`Category`]. Nothing protects a category from those before it: that is the
//! business of admission and policing. State: that of one discipline for each category at the port.

use celltrain_engine::Instant;

use super::{Discipline, Queues, SchedulerParams, ServiceTime, SharedQueue, Side, Vcs};
use crate::{
    catalogue::ParamError,
    contract::{Category, Contract},
};

/// The categories among `vcs`, the most urgent first, and the place of that of each VC among them.
#[must_use]
pub fn classes(vcs: &[Contract]) -> (Vec<Category>, Vec<usize>) {
    let mut categories: Vec<_> = vcs.iter().map(|vc| vc.category).collect();
    categories.sort_unstable();
    categories.dedup();
    let place = |vc: &Contract| categories.partition_point(|&category| category < vc.category);
    let classes = vcs.iter().map(place).collect();
    (categories, classes)
}

/// Serves the VCs of a category only while those of the categories before it have nothing to send. A unit in
/// transmission is not interrupted.
#[derive(Debug, Clone)]
pub struct Priority {
    /// The class of each VC.
    class: Vec<usize>,
    /// One discipline a class, the most urgent first.
    classes: Vec<Discipline>,
    /// How often each of them, of several, had nothing to send when the link looked.
    empty_looks: Vec<u64>,
    /// Whether all of them forget what came before once the link is free and nothing waits.
    forgets: bool,
}

impl Priority {
    /// Schedules VCs under the contracts `vcs` by the discipline of `params` within each category, on a link that takes
    /// `service` for a unit.
    ///
    /// # Errors
    /// As [`super::Scheduler::new`].
    pub fn new(params: &SchedulerParams, vcs: &[Contract], service: ServiceTime) -> Result<Self, ParamError> {
        let (categories, classes_of_vcs) = classes(vcs);
        let class = |&category: &Category| Discipline::new(params, Vcs::of(category, vcs, service));
        let classes = categories.iter().map(class).collect::<Result<Vec<_>, _>>()?;
        let forgets = classes.iter().all(Discipline::forgets);
        let empty_looks = vec![0; classes.len()];
        Ok(Self { class: classes_of_vcs, classes, empty_looks, forgets })
    }

    /// Whether the units of all VCs are sent in the order of their arrival.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        matches!(self.classes[..], [Discipline::Fifo(_)])
    }

    /// As [`super::Scheduler::enqueue`].
    #[inline]
    pub fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
        self.class_of(vc).enqueue(vc, size, now, queues);
    }

    /// As [`super::Scheduler::next`].
    #[inline]
    pub fn next(&mut self, now: Instant, queues: &impl Queues) -> Option<u32> {
        match &mut self.classes[..] {
            [only] => only.next(now, queues),
            classes => std::iter::zip(classes, &mut self.empty_looks).find_map(|(class, empty_looks)| {
                let next = class.next(now, queues);
                *empty_looks += u64::from(next.is_none());
                next
            }),
        }
    }

    /// The link looks for something to send while nothing waits, and need not ask: as [`Priority::next`].
    #[inline]
    pub fn look_in_vain(&mut self) {
        if self.classes.len() > 1 {
            self.empty_looks.iter_mut().for_each(|empty_looks| *empty_looks += 1);
        }
    }

    /// How often the link has looked for something to send of the category of `vc` and found nothing; not counted where all VCs are of one.
    #[must_use]
    pub fn empty_looks(&self, vc: u32) -> u64 {
        if self.classes.len() > 1 { self.empty_looks[self.class[vc as usize]] } else { 0 }
    }

    /// As [`super::Scheduler::empty_turns`].
    #[must_use]
    pub fn empty_turns(&self, vc: u32) -> Option<u64> {
        let class = if self.classes.len() > 1 { self.class[vc as usize] } else { 0 };
        self.classes[class].empty_turns(vc)
    }

    /// As [`super::Scheduler::FORGETS`].
    #[inline]
    pub fn forgets(&self) -> bool {
        self.forgets
    }

    /// As [`super::Scheduler::pass`].
    #[inline]
    pub fn pass(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
        if let [only] = &mut self.classes[..] {
            return only.pass(vc, size, now, queues);
        }
        let (before, classes) = self.classes.split_at_mut(self.class[vc as usize]);
        for class in before.iter_mut().filter(|class| !class.forgets()) {
            let none = class.next(now, queues);
            assert_eq!(none, None, "nothing waits");
        }
        classes[0].pass(vc, size, now, queues);
    }

    /// As [`super::Scheduler::refund`].
    pub fn refund(&mut self, vc: u32, size: u32, queues: &impl Queues) {
        self.class_of(vc).refund(vc, size, queues);
    }

    /// As [`super::Scheduler::withdraw`].
    pub fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &impl Queues) {
        self.class_of(vc).withdraw(vc, size, behind, now, queues);
    }

    /// As [`super::Scheduler::shared`], with a number among the queues of all classes.
    #[must_use]
    pub fn shared(&self, vc: u32, side: Side) -> Option<SharedQueue<'_>> {
        let class = if self.classes.len() > 1 { self.class[vc as usize] } else { 0 };
        let mut queue = self.classes[class].shared(vc, side)?;
        queue.number += class * queue.queues;
        Some(queue)
    }

    /// The discipline of the class of `vc`. At most ports there is only one.
    #[inline]
    fn class_of(&mut self, vc: u32) -> &mut Discipline {
        let class = if self.classes.len() > 1 { self.class[vc as usize] } else { 0 };
        &mut self.classes[class]
    }
}
