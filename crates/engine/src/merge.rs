//! Merging input streams in time order.

use crate::{
    random::Generator,
    stream::{Car, StreamId, Streams, Train},
    time::{Slot, Time},
};

/// Which of several cars that arrive in the same picosecond comes first.
#[derive(Debug, Clone)]
pub enum TieBreak {
    /// That of the input with the smallest index.
    InputId,
    /// A random one.
    Random(Generator),
}

/// The inputs of a process, merged by arrival time.
///
/// The inputs that have cars are kept sorted by the arrival of their next car. Serving a car replaces the smallest key by
/// that input's next arrival; it passes only the inputs that are due within the slot, so finding its place costs little.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<Input>,
    /// Every input with cars, in ascending order of arrival.
    keys: Vec<Key>,
    /// Inputs without cars, to be looked at again at the next visit.
    starved: Vec<u32>,
    ties: TieBreak,
    /// Whether ties go by input.
    ties_by_id: bool,
}

/// When the next car of an input arrives: the time, then the input, in one number, which compares faster than a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    #[inline]
    fn new(arrival: Time, input: u32) -> Self {
        Self(u128::from(arrival) << 32 | u128::from(input))
    }

    #[inline]
    fn arrival(self) -> Time {
        (self.0 >> 32) as Time
    }

    #[inline]
    fn input(self) -> u32 {
        self.0 as u32
    }
}

#[derive(Debug, Clone, Copy)]
struct Input {
    stream: StreamId,
    slot: Slot,
}

impl Merge {
    /// Merges `inputs`.
    #[must_use]
    pub fn new<C: Car>(inputs: &[StreamId], streams: &Streams<C>, ties: TieBreak) -> Self {
        let input = |&stream: &StreamId| Input { stream, slot: streams[stream].slot() };
        Self {
            inputs: inputs.iter().map(input).collect(),
            keys: Vec::with_capacity(inputs.len()),
            starved: (0..inputs.len() as u32).collect(),
            ties_by_id: matches!(ties, TieBreak::InputId),
            ties,
        }
    }

    /// Looks again at the inputs that had run dry. Call it first in every visit.
    pub fn refill<C: Car>(&mut self, streams: &Streams<C>) {
        let (inputs, keys) = (&self.inputs, &mut self.keys);
        self.starved.retain(|&input| {
            let Some(arrival) = streams[inputs[input as usize].stream].next_arrival() else { return true };
            let key = Key::new(arrival, input);
            let place = keys.partition_point(|other| *other < key);
            keys.insert(place, key);
            false
        });
    }

    /// Takes what arrives next before `until` into `train`, and returns its slot: as many cars as follow one another in one
    /// train with none of another input in between.
    // Inlined by force: a call for every car that stands alone would cost as much as what it does.
    #[inline(always)]
    pub fn next<C: Car>(
        &mut self,
        until: Time,
        streams: &mut Streams<C>,
        train: &mut Train<C>,
    ) -> Option<Slot> {
        let first = *self.keys.first()?;
        let time = first.arrival();
        if time >= until {
            return None;
        }
        let (mut input, mut limit) = (first.input(), until);
        if let Some(&second) = self.keys.get(1) {
            // A car that ties with the second input's goes with this row only if the order says so beforehand.
            let wins_ties = self.ties_by_id && input < second.input();
            limit = limit.min(second.arrival() + Time::from(wins_ties));
            if second.arrival() == time {
                input = self.break_tie(time);
                limit = time + 1;
            }
        }
        let Input { stream, slot } = self.inputs[input as usize];
        let stream = &mut streams[stream];
        let head = stream.first_mut()?;
        train.first = head.first;
        train.car = head.car;
        train.gaps = head.gaps;
        train.count = 1;
        if head.count > 1 {
            let second = head.second(slot);
            if second.ps() >= limit {
                head.drop_first(second);
                self.replace_first(Key::new(second.ps(), input));
                return Some(slot);
            }
            train.count = head.count;
            if head.arrival(head.count - 1, slot).ps() >= limit {
                self.part(input, limit, head, train);
                return Some(slot);
            }
        }
        match stream.remove_first() {
            Some(next) => self.replace_first(Key::new(next, input)),
            None => self.starve(input),
        }
        Some(slot)
    }

    /// Keeps of `train`, a copy of the first train of `input`, what arrives before `limit`, and leaves the rest in `head`.
    #[inline(never)]
    fn part<C: Car>(&mut self, input: u32, limit: Time, head: &mut Train<C>, train: &mut Train<C>) {
        let slot = self.inputs[input as usize].slot;
        let count = cars_before(limit, head, slot);
        train.truncate(count);
        head.advance(count, slot);
        self.replace_first(Key::new(head.first.ps(), input));
    }

    /// The first input has run dry.
    #[cold]
    fn starve(&mut self, input: u32) {
        self.keys.remove(0);
        self.starved.push(input);
    }

    /// Moves one of the inputs whose next car arrives at `time` to the front and returns it.
    #[cold]
    fn break_tie(&mut self, time: Time) -> u32 {
        if let TieBreak::Random(generator) = &mut self.ties {
            let tied = self.keys.iter().take_while(|key| key.arrival() == time).count();
            // The order among equals may depend on the visits; by input it does not.
            self.keys[..tied].sort_unstable();
            self.keys.swap(0, generator.below(tied as u64) as usize);
        }
        self.keys[0].input()
    }

    /// Replaces the first key and restores the order.
    #[inline]
    fn replace_first(&mut self, key: Key) {
        let mut place = 0;
        for next in 1..self.keys.len() {
            if self.keys[next] > key {
                break;
            }
            self.keys[next - 1] = self.keys[next];
            place = next;
        }
        self.keys[place] = key;
    }
}

/// How many cars of `train` arrive before `limit`, at least the first.
fn cars_before<C: Car>(limit: Time, train: &Train<C>, slot: Slot) -> u32 {
    // The last car that may be in time if there are no gaps; at least one slot is passed.
    let most = ((limit - train.first.ps()) / slot.ps() + 1).min(u64::from(train.count)) as u32;
    (2..=most).rev().find(|&count| train.arrival(count - 1, slot).ps() < limit).unwrap_or(1)
}
