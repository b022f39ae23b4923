//! Merging input streams in time order.

use crate::{
    instant::{Instant, SPARE_BITS, Slot},
    key::{Compared, Key},
    keys::Keys,
    random::Generator,
    stream::{Item, Stream, StreamId, Train},
    time::Time,
    weave::{Burst, items_in_turn, rounds_before, take_rounds},
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
#[derive(Debug, Clone)]
pub enum Merge {
    /// None: of a host that only sends.
    None,
    /// The only one: nothing is merged, and nothing kept. Most processes have one.
    Sole([StreamId; 1]),
    /// Several. Lent while they are merged, so that what holds the merge can be written to meanwhile.
    Many(Option<Box<Many>>),
}

/// Several inputs, and which is due next.
#[derive(Debug, Clone)]
pub struct Many {
    pub(crate) inputs: Box<[StreamId]>,
    /// Every input with items.
    pub(crate) keys: Keys,
    /// Inputs without items, to be looked at again at the next visit.
    starved: Vec<u32>,
    /// What is compared of keys: without the inputs, if ties are broken at random.
    pub(crate) ties: Compared,
    /// Breaks ties, where it is random.
    generator: Option<Box<Generator>>,
}

/// What several inputs gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: no more arrives in time.
    Nothing,
    /// Items of one train.
    Train,
    /// Whole rounds of items that take turns, so many in all.
    Rounds(u32),
}

impl Merge {
    /// Merges `inputs`.
    ///
    /// # Panics
    /// If there are more than 2^20 of them.
    #[must_use]
    pub fn new(inputs: &[StreamId], ties: TieBreak) -> Self {
        match *inputs {
            [] => return Self::None,
            [input] => return Self::Sole([input]),
            _ => {}
        }
        assert!(inputs.len() <= 1 << SPARE_BITS, "{} streams enter one process", inputs.len());
        let (ties, generator) = match ties {
            TieBreak::InputId => (Compared::WITH_INPUT, None),
            TieBreak::Random(generator) => (Compared::WITHOUT_INPUT, Some(Box::new(generator))),
        };
        Self::Many(Some(Box::new(Many {
            inputs: inputs.into(),
            keys: Keys::new(inputs.len()),
            starved: (0..inputs.len() as u32).collect(),
            ties,
            generator,
        })))
    }

    /// The inputs, in their order.
    ///
    /// # Panics
    /// If they are lent.
    #[must_use]
    pub fn inputs(&self) -> &[StreamId] {
        match self {
            Self::None => &[],
            Self::Sole(input) => input,
            Self::Many(many) => &many.as_ref().expect(NOT_LENT).inputs,
        }
    }

    /// Looks again at the inputs that had run dry. Call it first in every visit; [`Merge::lend_alone`] does so too.
    ///
    /// # Panics
    /// If the inputs are lent.
    #[inline]
    pub fn refill<C: Item>(&mut self, streams: &[Stream<C>]) {
        if let Self::Many(many) = self {
            many.as_mut().expect(NOT_LENT).refill(streams);
        }
    }

    /// Lends several inputs until [`Merge::take_back`]; `None` if there are not several.
    ///
    /// # Panics
    /// If they are lent.
    #[inline]
    pub fn lend(&mut self) -> Option<Box<Many>> {
        match self {
            Self::None | Self::Sole(_) => None,
            Self::Many(many) => Some(many.take().expect(NOT_LENT)),
        }
    }

    /// Takes back what [`Merge::lend`] has lent.
    ///
    /// # Panics
    /// If nothing was lent.
    #[inline]
    pub fn take_back(&mut self, many: Box<Many>) {
        assert!(matches!(self, Self::Many(None)), "a merge takes back what it has not lent");
        *self = Self::Many(Some(many));
    }

    /// As [`Many::next`], of one input or several.
    ///
    /// # Panics
    /// If they are lent.
    // Not inlined: where much arrives the inputs are lent, see [`Merge::lend`].
    #[inline(never)]
    pub fn next<C: Item>(&mut self, until: Time, streams: &mut [Stream<C>], train: &mut Train<C>) -> bool {
        match self {
            Self::None => false,
            Self::Sole([input]) => streams[*input].take_before(until, train),
            Self::Many(many) => many.as_mut().expect(NOT_LENT).next::<false, C>(until, streams, train),
        }
    }
}

/// What has to be so when a merge is asked.
pub(crate) const NOT_LENT: &str = "a merge is asked while its inputs are lent";

impl Many {
    /// As [`Merge::refill`].
    pub(crate) fn refill<C: Item>(&mut self, streams: &[Stream<C>]) {
        let (inputs, keys) = (&self.inputs, &mut self.keys);
        // Whose items were last before are often last again, and sooner inserted before the others.
        for place in (0..self.starved.len()).rev() {
            let input = self.starved[place];
            if let Some(arrival) = streams[inputs[input as usize]].next_instant() {
                keys.insert(Key::new(arrival, input));
                self.starved.swap_remove(place);
            }
        }
    }

    /// Takes what arrives next before `until` into `train`, if anything does: as many items as follow one another in one train with
    /// none of another input in between. `TURNS`: whether the places of keys are sought from the far end, see
    /// [`Many::takes_turns`].
    #[inline(always)]
    pub fn next<const TURNS: bool, C: Item>(
        &mut self,
        until: Time,
        streams: &mut [Stream<C>],
        train: &mut Train<C>,
    ) -> bool {
        self.take::<TURNS, C>(until, Slot::ZERO, streams, train, None) == Taken::Train
    }

    /// As [`Many::next`]; where the items of several inputs take turns, whole rounds of them, at least two: `bursts` becomes one burst an
    /// input, or one for each train of an input that has a weave, in the order of their first items. Trains so slow that all inputs together
    /// do not fill a link with this `link` slot make no rounds.
    #[inline(always)]
    pub fn next_or_rounds<C: Item>(
        &mut self,
        until: Time,
        link: Slot,
        streams: &mut [Stream<C>],
        train: &mut Train<C>,
        bursts: &mut Vec<Burst<C>>,
    ) -> Taken {
        self.take::<false, C>(until, link, streams, train, Some(bursts))
    }

    /// As [`Many::next_or_rounds`], and as [`Many::next`] if there are no `bursts`.
    // Always inlined: a call for each single item would cost as much as the work itself.
    #[inline(always)]
    fn take<const TURNS: bool, C: Item>(
        &mut self,
        until: Time,
        link: Slot,
        streams: &mut [Stream<C>],
        train: &mut Train<C>,
        bursts: Option<&mut Vec<Burst<C>>>,
    ) -> Taken {
        let (mut first, other) = self.keys.first_two();
        if first.arrival().ps() >= until {
            return Taken::Nothing;
        }
        let other_due = other.under(self.ties);
        let mut limit = other_due;
        if other.arrival().ps() == first.arrival().ps() {
            (first, limit) = self.break_tie(first, limit);
        }
        let input = self.inputs[first.input() as usize];
        let Some(head) = streams[input].first_mut() else { return Taken::Nothing };
        *train = *head;
        if head.count > 1 {
            let second = head.second();
            if head.woven() > 0 {
                return self.take_woven(first, limit, until, streams, train, bursts);
            }
            if first.at(second) >= limit || second.ps() >= until {
                if let Some(bursts) = bursts
                    && head.gaps == 0
                    && self.may_fill(link, head.slot)
                    // Where the other's item ties with this one or with the next, no turns are taken.
                    && limit == other_due
                    && limit < first.at(second).under(self.ties)
                    && let Some(items) = self.take_rounds(until, head.slot, streams, bursts)
                {
                    return Taken::Rounds(items);
                }
                (train.count, train.gaps) = (1, 0);
                if let Some(head) = streams[input].first_mut() {
                    head.drop_first(second);
                }
                self.keys.replace_first::<TURNS>(first.at(second));
                return Taken::Train;
            }
            let last = head.last();
            if first.at(last) >= limit || last.ps() >= until {
                self.part(first, limit.min(Key::start_of(until)), head, train);
                return Taken::Train;
            }
        }
        match streams[input].remove_first() {
            Some(next) => self.keys.replace_first::<TURNS>(first.at(next)),
            None => self.starve(first),
        }
        Taken::Train
    }

    /// The first item and the limit of its train, where the next input is due in the same picosecond: an item that ties with one of
    /// another input may lose. Where ties are broken at random, one of the keys that arrive at this instant becomes the first; it may send
    /// all of its items that arrive then.
    #[cold]
    #[inline(never)]
    pub(crate) fn break_tie(&mut self, first: Key, limit: Key) -> (Key, Key) {
        match &mut self.generator {
            Some(generator) if limit <= first.under(self.ties) => {
                (self.keys.break_tie(first, generator), first.instant_after())
            }
            _ => (first, limit),
        }
    }

    /// Keeps of `train`, a copy of the first train of `input`, what arrives before `limit`, and leaves the rest in `head`.
    #[inline(never)]
    fn part<C: Item>(&mut self, input: Key, limit: Key, head: &mut Train<C>, train: &mut Train<C>) {
        let count = head.items_before(limit.limit_of(input));
        train.truncate(count);
        head.advance(count);
        self.keys.replace_first::<false>(input.at(head.first));
    }

    /// As [`Many::take`], where a weave is first: its rounds before `limit`, or those that take turns with another input's items, or its
    /// first item.
    #[inline(never)]
    fn take_woven<C: Item>(
        &mut self,
        first: Key,
        limit: Key,
        until: Time,
        streams: &mut [Stream<C>],
        train: &mut Train<C>,
        bursts: Option<&mut Vec<Burst<C>>>,
    ) -> Taken {
        let input = self.inputs[first.input() as usize];
        if let Some(bursts) = bursts {
            // Most often another input's item comes within the first round.
            let items = if first.at(train.second()) < limit {
                self.unweave(first, limit.min(Key::start_of(until)), streams, bursts)
            } else {
                self.take_rounds(until, train.slot, streams, bursts)
            };
            if let Some(items) = items {
                return Taken::Rounds(items);
            }
        }
        *train = streams[input].take_woven();
        let next = streams[input].next_instant();
        self.go_on(first, next);
        Taken::Train
    }

    /// Whether the next item's input will come after most others then, so that its place is sooner found from the far end. It says
    /// nothing of those that follow, but they are often alike.
    #[must_use]
    pub fn takes_turns<C: Item>(&self, streams: &[Stream<C>]) -> bool {
        let keys = self.keys.near();
        let Some(head) = keys.last().and_then(|&key| self.head(key, streams)) else { return false };
        head.count > 1 && head.second() > keys[keys.len() / 2].arrival() && keys.len() > 4
    }

    /// Whether a link with such a slot may never rest while each input that has items sends one every `slot`.
    #[inline(always)]
    fn may_fill(&self, link: Slot, slot: Slot) -> bool {
        slot.ps() <= (link.ps() + 1).saturating_mul(self.keys.near().len() as u64)
    }

    /// The only input that has items, if there is just one.
    #[inline]
    pub(crate) fn only(&self) -> Option<StreamId> {
        self.keys.only().map(|key| self.inputs[key.input() as usize])
    }

    /// The only input's next item arrives at `next`, if it has one.
    #[inline]
    pub(crate) fn replace_only(&mut self, next: Option<Instant>) {
        let Some(key) = self.keys.first() else { return };
        match next {
            Some(next) => self.keys.replace_only(key.at(next)),
            None => self.starve(key),
        }
    }

    /// The first train of an input.
    #[inline]
    fn head<'a, C: Item>(&self, key: Key, streams: &'a [Stream<C>]) -> Option<&'a Train<C>> {
        streams[self.inputs[key.input() as usize]].first()
    }

    /// As [`Many::go_on`], of an input whose key was removed.
    pub(crate) fn reinsert(&mut self, key: Key, next: Option<Instant>) {
        match next {
            Some(next) => self.keys.insert(key.at(next)),
            None => self.starved.push(key.input()),
        }
    }

    /// The first input has run dry.
    fn starve(&mut self, input: Key) {
        self.keys.remove_first();
        self.starved.push(input.input());
    }

    /// Takes the rounds of the weave that is first which arrive before `limit`, if there are two. Returns the number of items.
    fn unweave<C: Item>(
        &mut self,
        first: Key,
        limit: Key,
        streams: &mut [Stream<C>],
        bursts: &mut Vec<Burst<C>>,
    ) -> Option<u32> {
        let weave = streams[self.inputs[first.input() as usize]].first_weave()?;
        let rounds = rounds_before(weave, limit.limit_of(first));
        if rounds < 2 {
            return None;
        }
        bursts.clear();
        self.take_weave(rounds, (0, 1), streams, bursts)?;
        Some(rounds * bursts.len() as u32)
    }

    /// Takes whole rounds of the inputs that take turns, at least two; `slot` is that of the first. Returns the number of items.
    #[inline(never)]
    fn take_rounds<C: Item>(
        &mut self,
        until: Time,
        slot: Slot,
        streams: &mut [Stream<C>],
        bursts: &mut Vec<Burst<C>>,
    ) -> Option<u32> {
        let (inputs, rounds) = if let Some((pair, limit)) = self.pair(until, slot) {
            (2, self.count_rounds(pair.into_iter(), limit, slot, streams)?)
        } else {
            let (inputs, limit) = self.turns(until, slot, streams)?;
            let keys = self.keys.near().iter().rev().take(inputs).copied();
            (inputs, self.count_rounds(keys, limit, slot, streams)?)
        };
        let inputs = inputs as u32;
        bursts.clear();
        for place in 0..inputs {
            self.take_burst(rounds, (place, inputs), streams, bursts)?;
        }
        if bursts.len() > inputs as usize {
            bursts.sort_unstable_by_key(|burst| burst.place);
        }
        Some(inputs * rounds)
    }

    /// Takes the first `rounds` items of the input that is due first.
    #[inline(always)]
    fn take_burst<C: Item>(
        &mut self,
        rounds: u32,
        (place, step): (u32, u32),
        streams: &mut [Stream<C>],
        bursts: &mut Vec<Burst<C>>,
    ) -> Option<()> {
        let first = self.keys.first()?;
        let stream = &mut streams[self.inputs[first.input() as usize]];
        let head = stream.first_mut()?;
        if head.woven() > 0 {
            return self.take_weave(rounds / head.woven() as u32, (place, step), streams, bursts);
        }
        bursts.push(Burst { train: Train { count: rounds, ..*head }, place, step });
        let next = if head.count > rounds {
            head.advance(rounds);
            Some(head.first)
        } else {
            stream.remove_first()
        };
        self.go_on(first, next);
        Some(())
    }

    /// As [`Many::take_burst`], of so many rounds of the weave that is first.
    #[inline(never)]
    fn take_weave<C: Item>(
        &mut self,
        rounds: u32,
        places: (u32, u32),
        streams: &mut [Stream<C>],
        bursts: &mut Vec<Burst<C>>,
    ) -> Option<()> {
        let first = self.keys.first()?;
        let stream = &mut streams[self.inputs[first.input() as usize]];
        let gone = take_rounds(stream.first_weave()?, rounds, places, bursts);
        let next = stream.remove(gone);
        self.go_on(first, next);
        Some(())
    }

    /// The first input's next item arrives at `next`, if it has one.
    #[inline]
    pub(crate) fn go_on(&mut self, first: Key, next: Option<Instant>) {
        match next {
            Some(next) => self.keys.replace_first::<false>(first.at(next)),
            None => self.starve(first),
        }
    }

    /// The only two inputs whose items are due within a slot, if there are just two, as there are most often; and the limit before which no
    /// other is.
    #[inline(always)]
    fn pair(&self, until: Time, slot: Slot) -> Option<([Key; 2], Key)> {
        let [first, second, third] = self.keys.first_three()?;
        let round_end = first.at(first.arrival().plus(slot)).under(self.ties);
        let third = third.under(self.ties);
        let alone = first.under(self.ties) < second.under(self.ties)
            && second.under(self.ties) < round_end
            && third >= round_end;
        alone.then_some(([first, second], third.min(Key::start_of(until))))
    }

    /// How many inputs have items that are due within a slot, at least two, each at a time of its own; and the limit before which no other
    /// has.
    fn turns<C: Item>(&self, until: Time, slot: Slot, streams: &[Stream<C>]) -> Option<(usize, Key)> {
        let first = self.keys.first()?;
        let round_end = first.at(first.arrival().plus(slot));
        let (mut inputs, mut limit, mut last) = (0, Key::start_of(until), None);
        let near = self.keys.near().iter().rev().map(|&key| (key, true));
        for (key, near) in near.chain(self.keys.first_far().map(|key| (key, false))) {
            let ties = |other: Key| key.under(self.ties) == other.under(self.ties);
            if key >= round_end || ties(round_end) {
                limit = limit.min(key.under(self.ties));
                break;
            }
            let head = self.head(key, streams).filter(|_| near)?;
            if !head.makes_rounds() || last.is_some_and(ties) {
                return None;
            }
            (inputs, last) = (inputs + 1, Some(key));
        }
        (inputs > 1).then_some((inputs, limit))
    }

    /// How many whole rounds there are of the inputs of `keys`, which take turns, at least two.
    #[inline(always)]
    fn count_rounds<C: Item>(
        &self,
        keys: impl Iterator<Item = Key>,
        limit: Key,
        slot: Slot,
        streams: &[Stream<C>],
    ) -> Option<u32> {
        let (mut rounds, mut last, mut turns) = (MAX_ROUNDS, None, 1);
        // What comes first behind the trains that end with the last round.
        let mut behind = Key::NONE;
        for key in keys {
            let trains = streams[self.inputs[key.input() as usize]].trains();
            let head = trains.first().filter(|head| head.slot == slot)?;
            let (items, gone) = if head.makes_rounds() {
                (head.count, 1)
            } else {
                let (items, trains) = items_in_turn(trains)?;
                if turns > 1 && trains != turns || trains > MAX_TURNS {
                    return None;
                }
                turns = trains;
                (items, trains as usize)
            };
            if items <= rounds {
                let next = trains.get(gone).map_or(Key::NONE, |next| key.at(next.first).under(self.ties));
                behind = if items < rounds { next } else { next.min(behind) };
                rounds = items;
            }
            last = Some(key);
        }
        // The last item of the last round arrives before the limit, and before what comes behind a train that ends then.
        let last = last.filter(|&last| last < limit)?;
        let end = last.at(last.arrival().plus_slots(slot, u64::from(rounds - 1)));
        if end >= limit {
            rounds = limit.limit_of(last).since(last.arrival()).slots(slot) as u32;
        } else if behind <= end.under(self.ties) {
            rounds -= 1;
        }
        rounds -= rounds % turns;
        (rounds > 1).then_some(rounds)
    }
}

/// The most trains of a weave that takes turns with those of others.
const MAX_TURNS: u32 = 4;

/// The most rounds taken at once: as many items as can stand apart in a train.
const MAX_ROUNDS: u32 = 16;
