//! Which queue the units of a VC go into, where several VCs may share one.
//!
//! A hash of its label gives a VC one of the queues. The queues are in sets, and a VC may take any queue of its set: the one that it had
//! last; otherwise one that is not in use, from its own on; otherwise its own, which it then shares. So two VCs share a queue only if
//! more VCs than a set has queues are in use there. With sets of one queue, it is the usual hash.

use std::collections::VecDeque;

use celltrain_engine::fingerprint::splitmix;

/// What makes the labels, which are small numbers, differ in many bits (Steele, Lea and Flood 2014).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A set-associative hash of VCs to queues.
#[derive(Debug, Clone)]
pub struct FlowHash {
    ways: u64,
    key: u64,
    /// By queue: the VC that came into it last.
    owners: Vec<Option<u32>>,
}

impl FlowHash {
    /// `sets` sets of `ways` queues. Two hashes with different `seed`s are independent.
    ///
    /// # Panics
    /// If there is no queue.
    #[must_use]
    pub fn new(sets: u32, ways: u32, seed: u32) -> Self {
        let queues = u64::from(sets) * u64::from(ways);
        assert!(queues > 0, "a hash needs a queue");
        let key = splitmix(u64::from(seed).wrapping_add(SPREAD));
        Self { ways: ways.into(), key, owners: vec![None; queues as usize] }
    }

    /// How many queues there are.
    #[must_use]
    pub fn queues(&self) -> usize {
        self.owners.len()
    }

    /// The queue for what comes of `vc`; `in_use` says of a queue whether it is.
    #[must_use]
    pub fn place(&self, vc: u32, in_use: impl Fn(usize) -> bool) -> usize {
        let hash = splitmix(self.key ^ u64::from(vc).wrapping_add(1).wrapping_mul(SPREAD));
        let own = ((u128::from(hash) * self.owners.len() as u128) >> 64) as u64;
        let (set, way) = (own - own % self.ways, own % self.ways);
        let mut queues = (0..self.ways).map(|turn| (set + (way + turn) % self.ways) as usize);
        let had = queues.clone().find(|&queue| self.owners[queue] == Some(vc));
        had.or_else(|| queues.find(|&queue| !in_use(queue))).unwrap_or(own as usize)
    }

    /// `vc` comes into `queue`, and comes back to it until another VC does; returns the VC that came into it before.
    pub fn reserve(&mut self, vc: u32, queue: usize) -> Option<u32> {
        self.owners[queue].replace(vc)
    }

    /// `vc` has not come into `queue` after all: the one before has it back.
    pub fn release(&mut self, vc: u32, queue: usize, before: Option<u32>) {
        if self.owners[queue] == Some(vc) {
            self.owners[queue] = before;
        }
    }
}

/// A queue in which units of several VCs may wait.
#[derive(Debug, Clone, Copy)]
pub struct SharedQueue<'a> {
    /// Its number.
    pub number: usize,
    /// How many the discipline has.
    pub queues: usize,
    /// What a scheduler counts of its units together.
    pub load: u64,
    /// The VC of each unit, in their order.
    pub vcs: &'a VecDeque<u32>,
}

/// Queues in which units of several VCs may wait, in order of their arrival.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    hash: FlowHash,
    /// By queue: the VC of each unit.
    orders: Vec<VecDeque<u32>>,
    /// By queue: the load of its units.
    loads: Vec<u64>,
    /// By VC. While units of it wait, others join them: a VC's units stay in order.
    places: Vec<Place>,
}

/// Where a VC is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The queue that it came into last.
    queue: usize,
    /// Its units there.
    waiting: usize,
    /// The VC that had the queue before, until this one has been served from it.
    before: Option<u32>,
}

impl Shared {
    pub(super) fn new(hash: FlowHash, vcs: usize) -> Self {
        let (orders, loads) = (vec![VecDeque::new(); hash.queues()], vec![0; hash.queues()]);
        Self { hash, orders, loads, places: vec![Place::default(); vcs] }
    }

    /// How many queues there are.
    pub(super) fn queues(&self) -> usize {
        self.orders.len()
    }

    /// The queue for what comes of `vc` next.
    pub(super) fn queue_for(&self, vc: u32, in_use: impl Fn(usize) -> bool) -> usize {
        let place = &self.places[vc as usize];
        if place.waiting == 0 { self.hash.place(vc, in_use) } else { place.queue }
    }

    /// A unit of `vc` of so much load came; returns its queue.
    pub(super) fn enqueue(&mut self, vc: u32, load: u32, in_use: impl Fn(usize) -> bool) -> usize {
        let queue = self.queue_for(vc, in_use);
        let place = &mut self.places[vc as usize];
        if place.waiting == 0 {
            place.queue = queue;
            place.before = self.hash.reserve(vc, queue);
        }
        place.waiting += 1;
        self.orders[queue].push_back(vc);
        self.loads[queue] += u64::from(load);
        queue
    }

    /// The queue that the units of `vc` came into last.
    pub(super) fn queue_of(&self, vc: u32) -> usize {
        self.places[vc as usize].queue
    }

    /// What waits in `queue`.
    pub(super) fn queue(&self, queue: usize) -> SharedQueue<'_> {
        SharedQueue {
            number: queue,
            queues: self.queues(),
            load: self.loads[queue],
            vcs: &self.orders[queue],
        }
    }

    /// Whose unit is first in `queue`.
    pub(super) fn head(&self, queue: usize) -> Option<u32> {
        self.orders[queue].front().copied()
    }

    /// The first unit of `queue`, of so much load, was taken.
    pub(super) fn take(&mut self, queue: usize, load: u32) {
        self.loads[queue] -= u64::from(load);
        let vc = self.orders[queue].pop_front().expect("a unit is taken from a queue in which one waits");
        let place = &mut self.places[vc as usize];
        place.waiting -= 1;
        place.before = Some(vc);
    }

    /// A unit of `vc`, of so much load and with `behind` of the VC behind it, was pushed out. If it has sent nothing it has not come.
    pub(super) fn withdraw(&mut self, vc: u32, load: u32, behind: usize) {
        let Place { queue, waiting, before } = &mut self.places[vc as usize];
        self.loads[*queue] -= u64::from(load);
        let order = &mut self.orders[*queue];
        let mut places = order.iter().enumerate().rev().filter(|(_, other)| **other == vc);
        let (place, _) = places.nth(behind).expect("a unit is pushed out of the queue in which it waits");
        order.remove(place);
        *waiting -= 1;
        if *waiting == 0 {
            self.hash.release(vc, *queue, *before);
        }
    }
}
