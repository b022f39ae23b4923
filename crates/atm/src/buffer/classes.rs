//! The service categories of the VCs at a port: each has queues of its own, which are served by strict priority.
//!
//! What manages a queue by the time that frames have waited has a state for each of them. With one state for all, the short waits of an
//! urgent category would pass for those of the others.

use super::{Dequeue, PortContext, PortState, View};
use crate::scheduler::priority;

/// Which category each VC is in.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    count: usize,
    of_vcs: Vec<usize>,
}

impl Classes {
    /// Those of a port.
    pub(super) fn new(port: &PortContext<'_>) -> Self {
        let (categories, of_vcs) = priority::classes(port.vcs);
        Self { count: categories.len(), of_vcs }
    }

    /// A state like `fresh` for each of them.
    pub(super) fn states<T: Clone>(&self, fresh: &T) -> Vec<T> {
        vec![fresh.clone(); self.count]
    }

    /// That of `vc`.
    pub(super) fn of(&self, vc: u32) -> usize {
        self.of_vcs[vc as usize]
    }

    /// Those of the VCs in the category of `vc` that have something in the buffer, and others.
    fn busy<S: PortState>(&self, vc: u32, port: &View<'_, Dequeue, S>) -> impl Iterator<Item = u32> {
        let class = self.of(vc);
        port.busy_vcs(self.of_vcs.len()).filter(move |&other| self.of(other) == class)
    }

    /// As [`PortState::holds_more`], in the queues of the category of `vc`.
    pub(super) fn holds_more<S: PortState>(&self, vc: u32, load: u64, port: &View<'_, Dequeue, S>) -> bool {
        if self.count == 1 {
            return port.holds_more(load);
        }
        let mut held = 0;
        self.busy(vc, port).any(|other| {
            held += port.waiting_load(other, false);
            held > load
        })
    }

    /// Whether the buffer has nothing of the category of `vc`.
    pub(super) fn is_empty<S: PortState>(&self, vc: u32, port: &View<'_, Dequeue, S>) -> bool {
        match self.count {
            1 => port.occupancy() == 0,
            _ => self.busy(vc, port).all(|other| port.vc_occupancy(other) == 0),
        }
    }
}
