//! Merging input streams in time order.

use crate::{
    random::Generator,
    stream::{Car, StreamId, Streams, Train},
    time::{Instant, NEVER, Slot, Time},
};

/// Which of several cars that arrive in the same picosecond comes first.
#[derive(Debug, Clone)]
pub enum TieBreak {
    /// That of the input with the smallest index.
    InputId,
    /// A random one.
    Random(Generator),
}

/// Cars of one train that reach the process with none of another input between them.
#[derive(Debug, Clone, Copy)]
pub struct Run<C> {
    /// Arrival of the first car.
    pub first: Instant,
    /// Their spacing.
    pub slot: Slot,
    /// How many, at least one.
    pub count: u32,
    /// The first car.
    pub car: C,
}

/// The inputs of a process, merged by arrival time.
///
/// Each input that has cars holds its current train as a *head*; the heads are kept sorted by the arrival of their next
/// car. Serving a car replaces the smallest key by that input's next arrival; it passes only the heads that are due
/// within the slot, so finding its place costs little.
#[derive(Debug, Clone)]
pub struct Merge<C> {
    /// The current train of each input; one that is used up has no cars.
    heads: Vec<Head<C>>,
    /// Arrival and input of every head with cars, in ascending order.
    keys: Vec<(Time, u32)>,
    /// Inputs without cars, to be looked at again at the next visit.
    starved: Vec<u32>,
    ties: TieBreak,
}

#[derive(Debug, Clone)]
struct Head<C> {
    stream: StreamId,
    slot: Slot,
    train: Option<Train<C>>,
}

impl<C: Car> Merge<C> {
    /// Merges `inputs`.
    #[must_use]
    pub fn new(inputs: &[StreamId], streams: &Streams<C>, ties: TieBreak) -> Self {
        let head = |&stream: &StreamId| Head { stream, slot: streams[stream].slot(), train: None };
        Self {
            heads: inputs.iter().map(head).collect(),
            keys: Vec::with_capacity(inputs.len()),
            starved: (0..inputs.len() as u32).collect(),
            ties,
        }
    }

    /// Looks again at the inputs that had run dry. Call it first in every visit.
    pub fn refill(&mut self, streams: &mut Streams<C>) {
        let (heads, keys) = (&mut self.heads, &mut self.keys);
        self.starved.retain(|&input| {
            let head = &mut heads[input as usize];
            head.train = streams[head.stream].pop();
            let Some(train) = &head.train else { return true };
            let key = (train.first.ps(), input);
            let place = keys.partition_point(|other| *other < key);
            keys.insert(place, key);
            false
        });
    }

    /// Cars taken from the streams and not yet handed out.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.heads.iter().filter_map(|head| head.train.as_ref()).map(|train| u64::from(train.count)).sum()
    }

    /// Arrival of the next car among the heads.
    #[must_use]
    pub fn next_arrival(&self) -> Time {
        self.keys.first().map_or(NEVER, |key| key.0)
    }

    /// Takes the next cars that arrive before `until`: as many as follow one another in one train with none of another
    /// input in between.
    #[inline]
    pub fn next_run(&mut self, until: Time, streams: &mut Streams<C>) -> Option<Run<C>> {
        let &(time, mut input) = self.keys.first()?;
        if time >= until {
            return None;
        }
        let mut limit = until;
        if let Some(&(second, other)) = self.keys.get(1) {
            // A car that ties with the second input's goes with this run only if the order says so beforehand.
            let wins_ties = matches!(self.ties, TieBreak::InputId) && input < other;
            limit = limit.min(second + Time::from(wins_ties));
            if second == time {
                input = self.break_tie(time);
                limit = time + 1;
            }
        }
        let head = &mut self.heads[input as usize];
        let train = head.train.as_mut().expect("a head with a key has cars");
        let count = cars_before(limit, train, head.slot);
        let run = Run { first: train.first, slot: head.slot, count, car: train.car };
        if count < train.count {
            train.first = train.first.plus_slots(head.slot, u64::from(count));
            train.car.advance(count);
            train.count -= count;
            let next = train.first.ps();
            self.replace_first((next, input));
        } else if let Some(next) = streams[head.stream].pop() {
            *train = next;
            self.replace_first((next.first.ps(), input));
        } else {
            head.train = None;
            self.keys.remove(0);
            self.starved.push(input);
        }
        Some(run)
    }

    /// Moves one of the inputs whose next car arrives at `time` to the front and returns it.
    fn break_tie(&mut self, time: Time) -> u32 {
        if let TieBreak::Random(generator) = &mut self.ties {
            let tied = self.keys.iter().take_while(|key| key.0 == time).count();
            // The order among equals may depend on the visits; by input it does not.
            self.keys[..tied].sort_unstable();
            self.keys.swap(0, generator.below(tied as u64) as usize);
        }
        self.keys[0].1
    }

    /// Replaces the first key and restores the order.
    #[inline]
    fn replace_first(&mut self, key: (Time, u32)) {
        let keys = &mut self.keys[..];
        let mut place = 0;
        while place + 1 < keys.len() && keys[place + 1] < key {
            keys[place] = keys[place + 1];
            place += 1;
        }
        keys[place] = key;
    }
}

/// How many cars of `train` arrive before `limit`, at least the first.
#[inline]
fn cars_before<C>(limit: Time, train: &Train<C>, slot: Slot) -> u32 {
    if train.count == 1 || train.first.plus(slot).ps() >= limit {
        return 1;
    }
    if train.first.plus_slots(slot, u64::from(train.count) - 1).ps() < limit {
        return train.count;
    }
    let mut count = ((limit - train.first.ps()) / slot.ps()) as u32;
    while train.first.plus_slots(slot, u64::from(count)).ps() < limit {
        count += 1;
    }
    while train.first.plus_slots(slot, u64::from(count) - 1).ps() >= limit {
        count -= 1;
    }
    count
}
