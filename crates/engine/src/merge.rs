//! Merging input streams in time order.

use crate::{
    random::Generator,
    stream::{Car, StreamId, Streams, Train},
    time::{NEVER, Slot, Time},
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
/// The inputs that have cars are kept sorted by the arrival of their next car, the first one last: it is replaced and
/// removed the most. Serving a car replaces its key by that input's next arrival. Mostly this passes only the inputs that are
/// due within the slot. Where the cars of many inputs come one by one and take turns it passes most others, and its place is
/// better sought from the other end.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<StreamId>,
    /// Every input with cars, in descending order of arrival; below `spare` there is room for what comes after all of them.
    keys: Vec<Key>,
    spare: usize,
    /// Inputs without cars, to be looked at again at the next visit.
    starved: Vec<u32>,
    ties: TieBreak,
    /// Whether ties go by input.
    ties_by_id: bool,
    /// Whether the car taken last was cut off its train because one of another input comes in between, and rounds may follow.
    crossing: bool,
}

/// When the next car of an input arrives, and on which stream: the time, the input and the stream in one number, which
/// compares faster than they do one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    /// No input's: it never arrives, and wins no ties.
    const NONE: Self = Self((NEVER as u128) << 64);

    #[inline]
    fn new(arrival: Time, input: u32, stream: StreamId) -> Self {
        Self(u128::from(arrival) << 64 | u128::from(input) << 32 | stream as u128)
    }

    #[inline]
    fn arrival(self) -> Time {
        (self.0 >> 64) as Time
    }

    #[inline]
    fn input(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn stream(self) -> StreamId {
        self.0 as u32 as StreamId
    }

    /// The key of the same input's next car.
    #[inline]
    fn at(self, arrival: Time) -> Self {
        Self(u128::from(arrival) << 64 | u128::from(self.0 as u64))
    }
}

impl Merge {
    /// Merges `inputs`.
    #[must_use]
    pub fn new(inputs: &[StreamId], ties: TieBreak) -> Self {
        Self {
            inputs: inputs.to_vec(),
            keys: Vec::with_capacity(inputs.len()),
            spare: 0,
            starved: (0..inputs.len() as u32).collect(),
            ties_by_id: matches!(ties, TieBreak::InputId),
            crossing: false,
            ties,
        }
    }

    /// Looks again at the inputs that had run dry. Call it first in every visit.
    pub fn refill<C: Car>(&mut self, streams: &Streams<C>) {
        let (inputs, keys) = (&self.inputs, &mut self.keys);
        self.starved.retain(|&input| {
            let stream = inputs[input as usize];
            let Some(arrival) = streams[stream].next_arrival() else { return true };
            let key = Key::new(arrival, input, stream);
            keys.push(key);
            replace_first(keys, key);
            false
        });
    }

    /// Takes what arrives next before `until` into `train`, if anything does: as many cars as follow one another in one train with
    /// none of another input in between. `TURNS`: whether the places of keys are sought from the far end, see
    /// [`Merge::takes_turns`]; no rounds follow then.
    // Inlined by force: a call for every car that stands alone would cost as much as what it does.
    #[inline(always)]
    pub fn next<const TURNS: bool, C: Car>(
        &mut self,
        until: Time,
        streams: &mut Streams<C>,
        train: &mut Train<C>,
    ) -> bool {
        let Some((&(mut first), others)) = self.keys.split_last() else { return false };
        let time = first.arrival();
        if time >= until {
            return false;
        }
        let mut limit = until;
        if let Some(&second) = others.last() {
            // A car that ties with the second input's goes with this row only if the order says so beforehand.
            let wins_ties = self.ties_by_id && first < second.at(time);
            limit = limit.min(second.arrival() + Time::from(wins_ties));
            if second.arrival() == time {
                first = self.break_tie(time);
                limit = time + 1;
            }
        }
        let stream = &mut streams[first.stream()];
        let Some(head) = stream.first_mut() else { return false };
        *train = *head;
        if head.count > 1 {
            let second = head.second();
            if second.ps() >= limit {
                (train.count, train.gaps) = (1, 0);
                head.drop_first(second);
                self.crossing = !TURNS && head.makes_rounds();
                self.replace_first::<TURNS>(first.at(second.ps()));
                return true;
            }
            if head.last().ps() >= limit {
                self.part(first, limit, head, train);
                return true;
            }
        }
        self.crossing = false;
        match stream.remove_first() {
            Some(next) => self.replace_first::<TURNS>(first.at(next)),
            None => self.starve(first),
        }
        true
    }

    /// Keeps of `train`, a copy of the first train of `input`, what arrives before `limit`, and leaves the rest in `head`.
    #[inline(never)]
    fn part<C: Car>(&mut self, input: Key, limit: Time, head: &mut Train<C>, train: &mut Train<C>) {
        let count = head.cars_before(limit);
        train.truncate(count);
        head.advance(count);
        replace_first(&mut self.keys, input.at(head.first.ps()));
    }

    /// Whether the next car's input will come after most others then, so that its place is sooner found from the far end. It says
    /// nothing of those that follow, but they are often alike.
    #[must_use]
    pub fn takes_turns<C: Car>(&self, streams: &Streams<C>) -> bool {
        let keys = &self.keys[self.spare..];
        let Some(head) = keys.last().and_then(|key| streams[key.stream()].first()) else { return false };
        head.count > 1 && head.second().ps() > keys[keys.len() / 2].arrival() && keys.len() > 4
    }

    /// Replaces the first key.
    #[inline(always)]
    fn replace_first<const TURNS: bool>(&mut self, key: Key) {
        if !TURNS {
            return replace_first(&mut self.keys, key);
        }
        if self.spare == 0 {
            self.make_room();
        }
        self.keys.pop();
        self.spare -= 1;
        let [place, others @ ..] = &mut self.keys[self.spare..] else { return };
        let mut place = place;
        for next in others.iter_mut().take_while(|next| **next > key) {
            *place = *next;
            place = next;
        }
        *place = key;
    }

    /// Makes room for keys that come after all others.
    #[cold]
    fn make_room(&mut self) {
        let inputs = self.keys.len();
        self.spare = 64;
        self.keys.resize(inputs + self.spare, Key::NONE);
        self.keys.copy_within(..inputs, self.spare);
        self.keys[..inputs.min(self.spare)].fill(Key::NONE);
    }

    /// The first input has run dry.
    fn starve(&mut self, input: Key) {
        self.keys.pop();
        self.starved.push(input.input());
    }

    /// Makes one of the inputs whose next car arrives at `time` the first and returns it.
    #[cold]
    fn break_tie(&mut self, time: Time) -> Key {
        let last = self.keys.len() - 1;
        if let TieBreak::Random(generator) = &mut self.ties {
            let tied = self.keys.iter().rev().take_while(|key| key.arrival() == time).count();
            // The order among equals may depend on the visits; by input it does not.
            self.keys[last + 1 - tied..].sort_unstable_by(|one, other| other.cmp(one));
            self.keys.swap(last, last - generator.below(tied as u64) as usize);
        }
        self.keys[last]
    }

    /// Where the cars of several inputs take turns, takes whole rounds of them: `rows` becomes one train an input, of as many
    /// cars as there are rounds, at least two, in the order of a round; all have one slot. Returns the number of rounds. To be
    /// asked after [`Merge::next`] gave a single car.
    #[inline]
    pub fn rounds<C: Car>(
        &mut self,
        until: Time,
        streams: &mut Streams<C>,
        rows: &mut Vec<Train<C>>,
    ) -> Option<u32> {
        if !self.crossing {
            return None;
        }
        // Most often it is the input whose turn it is next that makes no two rounds.
        let head = streams[self.keys.last()?.stream()].first()?;
        if !head.makes_rounds() {
            return None;
        }
        self.take_rounds(until, head.slot, streams, rows)
    }

    #[inline(never)]
    fn take_rounds<C: Car>(
        &mut self,
        until: Time,
        slot: Slot,
        streams: &mut Streams<C>,
        rows: &mut Vec<Train<C>>,
    ) -> Option<u32> {
        let (inputs, rounds) = self.count_rounds(until, slot, streams)?;
        rows.clear();
        for _ in 0..inputs {
            let first = *self.keys.last()?;
            let head = streams[first.stream()].first_mut()?;
            rows.push(Train { count: rounds, ..*head });
            head.advance(rounds);
            replace_first(&mut self.keys, first.at(head.first.ps()));
        }
        Some(rounds)
    }

    /// How many inputs take turns, and how many whole rounds there are of them, at least two of each. The last car of each
    /// train stays.
    fn count_rounds<C: Car>(&self, until: Time, slot: Slot, streams: &Streams<C>) -> Option<(usize, u32)> {
        let round_end = self.keys.last()?.arrival() + slot.ps();
        let (mut inputs, mut rounds, mut limit, mut last) = (0, MAX_ROUNDS, until, 0);
        for key in self.keys.iter().rev() {
            let arrival = key.arrival();
            // A picosecond between two arrivals keeps them in order when fractions of it add up.
            if arrival.saturating_add(2) > round_end {
                limit = limit.min(arrival);
                break;
            }
            let head = streams[key.stream()].first()?;
            if !head.makes_rounds() || head.slot != slot || (inputs > 0 && arrival < last + 2) {
                return None;
            }
            rounds = rounds.min(head.count - 1);
            (inputs, last) = (inputs + 1, arrival);
        }
        // With all its fractions of a picosecond, the last car arrives before the limit.
        let reach = limit.checked_sub(last + 1)? / (slot.ps() + 1) + 1;
        let rounds = u64::from(rounds).min(reach) as u32;
        (inputs > 1 && rounds > 1).then_some((inputs, rounds))
    }
}

/// Replaces the first key and restores the order.
#[inline]
fn replace_first(keys: &mut [Key], key: Key) {
    let [others @ .., last] = keys else { return };
    let mut place = last;
    for next in others.iter_mut().rev().take_while(|next| **next <= key) {
        *place = *next;
        place = next;
    }
    *place = key;
}

/// The most rounds taken at once: as many cars as can stand apart in a train.
const MAX_ROUNDS: u32 = 16;
