//! Merging input streams in time order.

use crate::{
    random::Generator,
    stream::{Item, StreamId, Streams, Train},
    time::{Instant, SPARE_BITS, Slot, Time},
};

/// Which of several items that arrive at the same instant comes first.
#[derive(Debug, Clone)]
pub enum TieBreak {
    /// That of the input with the smallest index.
    InputId,
    /// A random one.
    Random(Generator),
}

/// The inputs of a process, merged by arrival time.
///
/// The inputs that have items are kept sorted by the arrival of their next item, the first one last: it is replaced and
/// removed the most. Serving an item replaces its key by that input's next arrival. Mostly this passes only the inputs that are
/// due within the slot. Where the items of many inputs come one by one and take turns it passes most others, and its place is
/// better sought from the other end.
#[derive(Debug, Clone)]
pub struct Merge {
    inputs: Vec<StreamId>,
    /// Every input with items, in descending order of arrival; below `spare` there is room for what comes after all of them.
    keys: Vec<Key>,
    spare: usize,
    /// Inputs without items, to be looked at again at the next visit.
    starved: Vec<u32>,
    ties: TieBreak,
    /// Whether ties go by input.
    ties_by_id: bool,
    /// Whether the item taken last was cut off its train because one of another input comes in between, and rounds may follow.
    crossing: bool,
}

/// When the next item of an input arrives, and which input it is, in one number: the grid of instants leaves the lowest bits free
/// for the input. The order of arrivals, with ties by input, is the order of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

/// The bits of a [`Key`] that hold the input.
const INPUT: u128 = (1 << SPARE_BITS) - 1;

impl Key {
    /// No input's: it never arrives, and wins no ties.
    const NONE: Self = Self(u128::MAX);

    /// The key of whatever arrives first at `time` or later.
    #[inline]
    fn start_of(time: Time) -> Self {
        Self(Instant::start_of(time).bits())
    }

    #[inline]
    fn new(arrival: Instant, input: u32) -> Self {
        Self(arrival.bits() | u128::from(input))
    }

    #[inline]
    fn arrival(self) -> Instant {
        Instant::of_bits(self.0)
    }

    #[inline]
    fn input(self) -> u32 {
        (self.0 & INPUT) as u32
    }

    /// The key of the same input's item that arrives at `arrival`.
    #[inline]
    fn at(self, arrival: Instant) -> Self {
        Self(arrival.bits() | self.0 & INPUT)
    }

    /// This key as a limit without regard to inputs: what arrives at its instant is not before it.
    #[inline]
    fn instant_only(self) -> Self {
        Self(self.0 & !INPUT)
    }

    /// The first instant at which an item of `input` is not before this key.
    #[inline]
    fn limit_of(self, input: Self) -> Instant {
        let wins_tie = input.0 & INPUT < self.0 & INPUT;
        Instant::of_bits(self.0 + (u128::from(wins_tie) << SPARE_BITS))
    }
}

impl Merge {
    /// Merges `inputs`.
    ///
    /// # Panics
    /// If there are more than 2^20 of them.
    #[must_use]
    pub fn new(inputs: &[StreamId], ties: TieBreak) -> Self {
        assert!(inputs.len() <= 1 << SPARE_BITS, "{} streams enter one process", inputs.len());
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
    pub fn refill<C: Item>(&mut self, streams: &Streams<C>) {
        let (inputs, keys) = (&self.inputs, &mut self.keys);
        self.starved.retain(|&input| {
            let Some(arrival) = streams[inputs[input as usize]].next_instant() else { return true };
            let key = Key::new(arrival, input);
            keys.push(key);
            replace_first(keys, key);
            false
        });
    }

    /// Takes what arrives next before `until` into `train`, if anything does: as many items as follow one another in one train with
    /// none of another input in between. `TURNS`: whether the places of keys are sought from the far end, see
    /// [`Merge::takes_turns`]; no rounds follow then.
    // Inlined by force: a call for every item that stands alone would cost as much as what it does.
    #[inline(always)]
    pub fn next<const TURNS: bool, C: Item>(
        &mut self,
        until: Time,
        streams: &mut Streams<C>,
        train: &mut Train<C>,
    ) -> bool {
        let keys = self.keys.as_mut_slice();
        let [.., first] = keys else { return false };
        let mut first = *first;
        if first.arrival().ps() >= until {
            return false;
        }
        let mut tied = false;
        if let [.., second, _] = keys
            && !self.ties_by_id
            && second.arrival() == first.arrival()
        {
            (first, tied) = (break_tie(keys, &mut self.ties), true);
        }
        let stream = &mut streams[self.inputs[first.input() as usize]];
        let Some(head) = stream.first_mut() else { return false };
        *train = *head;
        if head.count > 1 {
            let mut limit = Key::start_of(until);
            if let [.., second, _] = keys {
                limit = if self.ties_by_id {
                    limit.min(*second)
                } else if tied {
                    // It may send all of its items that arrive at this instant.
                    Key(first.instant_only().0 + (1 << SPARE_BITS))
                } else {
                    // An item that ties with one of another input may lose.
                    limit.min(second.instant_only())
                };
            }
            let second = head.second();
            if first.at(second) >= limit {
                (train.count, train.gaps) = (1, 0);
                head.drop_first(second);
                self.crossing = !TURNS && head.makes_rounds();
                self.replace_first::<TURNS>(first.at(second));
                return true;
            }
            self.crossing = false;
            if first.at(head.last()) >= limit {
                self.part(first, limit, head, train);
                return true;
            }
        }
        self.crossing = false;
        match stream.remove_first() {
            Some(next) if TURNS => self.replace_first::<TURNS>(first.at(next)),
            Some(next) => replace_first(keys, first.at(next)),
            None => self.starve(first),
        }
        true
    }

    /// Keeps of `train`, a copy of the first train of `input`, what arrives before `limit`, and leaves the rest in `head`.
    #[inline(never)]
    fn part<C: Item>(&mut self, input: Key, limit: Key, head: &mut Train<C>, train: &mut Train<C>) {
        let count = head.items_before(limit.limit_of(input));
        train.truncate(count);
        head.advance(count);
        replace_first(&mut self.keys, input.at(head.first));
    }

    /// Whether the next item's input will come after most others then, so that its place is sooner found from the far end. It says
    /// nothing of those that follow, but they are often alike.
    #[must_use]
    pub fn takes_turns<C: Item>(&self, streams: &Streams<C>) -> bool {
        let keys = &self.keys[self.spare..];
        let Some(head) = keys.last().and_then(|&key| self.head(key, streams)) else { return false };
        head.count > 1 && head.second() > keys[keys.len() / 2].arrival() && keys.len() > 4
    }

    /// The only input that has items, if there is just one.
    #[inline]
    pub(crate) fn only(&self) -> Option<StreamId> {
        match self.keys[self.spare..] {
            [key] => Some(self.inputs[key.input() as usize]),
            _ => None,
        }
    }

    /// The only input's next item arrives at `next`, if it has one.
    #[inline]
    pub(crate) fn replace_only(&mut self, next: Option<Instant>) {
        self.crossing = false;
        let [.., key] = self.keys.as_mut_slice() else { return };
        match next {
            Some(next) => *key = key.at(next),
            None => {
                let key = *key;
                self.starve(key);
            }
        }
    }

    /// The first train of an input.
    #[inline]
    fn head<'a, C: Item>(&self, key: Key, streams: &'a Streams<C>) -> Option<&'a Train<C>> {
        streams[self.inputs[key.input() as usize]].first()
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

    /// Where the items of several inputs take turns, takes whole rounds of them: `bursts` becomes one train an input, of as many
    /// items as there are rounds, at least two, in the order of a round; all have one slot. Returns the number of rounds. To be
    /// asked after [`Merge::next`] gave a single item.
    #[inline]
    pub fn rounds<C: Item>(
        &mut self,
        until: Time,
        streams: &mut Streams<C>,
        bursts: &mut Vec<Train<C>>,
    ) -> Option<u32> {
        if !self.crossing {
            return None;
        }
        // Most often it is the input whose turn it is next that makes no two rounds.
        let head = self.head(*self.keys.last()?, streams)?;
        if !head.makes_rounds() {
            return None;
        }
        self.take_rounds(until, head.slot, streams, bursts)
    }

    #[inline(never)]
    fn take_rounds<C: Item>(
        &mut self,
        until: Time,
        slot: Slot,
        streams: &mut Streams<C>,
        bursts: &mut Vec<Train<C>>,
    ) -> Option<u32> {
        let (inputs, rounds) = self.count_rounds(until, slot, streams)?;
        bursts.clear();
        for _ in 0..inputs {
            let first = *self.keys.last()?;
            let head = streams[self.inputs[first.input() as usize]].first_mut()?;
            bursts.push(Train { count: rounds, ..*head });
            head.advance(rounds);
            replace_first(&mut self.keys, first.at(head.first));
        }
        Some(rounds)
    }

    /// How many inputs take turns, and how many whole rounds there are of them, at least two of each. The last item of each
    /// train stays.
    fn count_rounds<C: Item>(&self, until: Time, slot: Slot, streams: &Streams<C>) -> Option<(usize, u32)> {
        let first = *self.keys.last()?;
        let round_end = first.at(first.arrival().plus(slot));
        let (mut inputs, mut rounds, mut limit, mut last) = (0, MAX_ROUNDS, Key::start_of(until), None);
        for &key in self.keys.iter().rev() {
            let ties = |other: Key| !self.ties_by_id && key.instant_only() == other.instant_only();
            if key >= round_end || ties(round_end) {
                limit = limit.min(if self.ties_by_id { key } else { key.instant_only() });
                break;
            }
            let head = self.head(key, streams)?;
            if !head.makes_rounds() || head.slot != slot || last.is_some_and(ties) {
                return None;
            }
            rounds = rounds.min(head.count - 1);
            (inputs, last) = (inputs + 1, Some(key));
        }
        // The last item of the last round arrives before the limit.
        let last = last.filter(|&last| last < limit)?;
        if last.at(last.arrival().plus_slots(slot, u64::from(rounds - 1))) >= limit {
            rounds = limit.limit_of(last).since(last.arrival()).slots(slot) as u32;
        }
        (inputs > 1 && rounds > 1).then_some((inputs, rounds))
    }
}

/// Makes one of the inputs whose next items tie the first, at random; returns its key.
#[cold]
fn break_tie(keys: &mut [Key], ties: &mut TieBreak) -> Key {
    let last = keys.len() - 1;
    let instant = keys[last].instant_only();
    if let TieBreak::Random(generator) = ties {
        let tied = keys.iter().rev().take_while(|key| key.instant_only() == instant).count();
        // The order among equals may depend on the visits; by input it does not.
        keys[last + 1 - tied..].sort_unstable_by(|one, other| other.cmp(one));
        keys.swap(last, last - generator.below(tied as u64) as usize);
    }
    keys[last]
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

/// The most rounds taken at once: as many items as can stand apart in a train.
const MAX_ROUNDS: u32 = 16;
