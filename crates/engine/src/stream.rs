//! Streams: what travels from one process to the next, as trains in time order, and how far the stream is known.

use std::fmt::Debug;

use crate::time::{Instant, Slot, Time};

/// What a train is made of (a cell). Only the first car is stored; the others follow from it.
pub trait Car: Copy + Debug {
    /// Makes this the car `count` places further back in its train.
    fn advance(&mut self, count: u32);

    /// Whether this car can stand `count` places behind `head` in one train.
    fn follows(&self, head: &Self, count: u32) -> bool;
}

/// Cars that arrive one slot apart.
#[derive(Debug, Clone, Copy)]
pub struct Train<C> {
    /// Arrival of the first car.
    pub first: Instant,
    /// Number of cars, at least one.
    pub count: u32,
    /// The first car.
    pub car: C,
}

/// The index of a stream in [`Streams`].
pub type StreamId = usize;

/// What travels between two processes.
///
/// Arrivals never go back in time. The cars of one train are a slot of the sending link apart. The horizon is the
/// sender's promise: no car will be added that arrives before it.
#[derive(Debug, Clone)]
pub struct Stream<C> {
    slot: Slot,
    horizon: Time,
    trains: Vec<Train<C>>,
    /// Trains before this one have been taken.
    taken: usize,
    /// Where a car must arrive to join the last train.
    next: Instant,
    /// Cars appended since the start.
    pushed: u64,
}

impl<C: Car> Stream<C> {
    /// An empty stream whose trains are spaced by `slot` (the sending link's; zero if cars come all at once).
    #[must_use]
    pub fn new(slot: Slot) -> Self {
        Self { slot, horizon: 0, trains: Vec::new(), taken: 0, next: Instant::default(), pushed: 0 }
    }

    /// The spacing of the cars in a train.
    #[must_use]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// No car will be added that arrives before this time.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.horizon
    }

    /// Moves the horizon on; it never goes back.
    pub fn advance_horizon(&mut self, horizon: Time) {
        self.horizon = self.horizon.max(horizon);
    }

    /// Appends a train; it joins the last one where it continues it and that one has not been taken yet.
    #[inline]
    pub fn push(&mut self, train: Train<C>) {
        self.pushed += u64::from(train.count);
        debug_assert!(train.first.ps() >= self.horizon, "a train before the horizon");
        let untaken = self.trains.len() > self.taken;
        if let Some(last) = self.trains.last_mut()
            && untaken
            && train.car.follows(&last.car, last.count)
            && train.first == self.next
        {
            last.count += train.count;
        } else {
            self.trains.push(train);
        }
        self.next = match train.count {
            1 => train.first.plus(self.slot),
            count => train.first.plus_slots(self.slot, u64::from(count)),
        };
    }

    /// Takes the first train.
    #[inline]
    pub fn pop(&mut self) -> Option<Train<C>> {
        let train = self.trains.get(self.taken).copied()?;
        self.taken += 1;
        if self.taken == self.trains.len() {
            self.trains.clear();
            self.taken = 0;
        } else if self.taken >= 1024 && self.taken * 2 >= self.trains.len() {
            self.trains.drain(..self.taken);
            self.taken = 0;
        }
        Some(train)
    }

    /// Cars appended since the start.
    #[must_use]
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Cars not yet taken.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.trains[self.taken..].iter().map(|train| u64::from(train.count)).sum()
    }

    /// Arrival of the first car not yet taken.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        self.trains.get(self.taken).map(|train| train.first.ps())
    }
}

/// All streams of a model.
pub type Streams<C> = Vec<Stream<C>>;
