//! Streams: what travels from one process to the next, as trains in time order, and how far the stream is known.

use std::ops::{Deref, DerefMut};

pub use crate::train::{Item, Train};
use crate::{
    instant::{Instant, Slot},
    time::{AFTER_ALL, NEVER, Time},
    train::{MAX_GAP, MAX_GAPS},
    weave::{Burst, MAX_TRAINS, first_weave, take_item},
};

/// Between the numbers of items that are not on one grid of slots. Numbers wrap around: only their differences matter.
pub const APART: u64 = 1 << 32;
/// Numbers that differ by as much or more are not of one link.
const OTHER_GRID: u64 = 1 << 62;

/// The index of a stream in [`Streams`].
pub type StreamId = usize;

/// What travels between two processes.
///
/// Arrivals never go back in time. A train may still grow while its first items are being taken.
/// The horizon is the sender's promise: no item will be added that arrives before it.
#[derive(Debug, Clone)]
pub struct Stream<C> {
    horizon: Time,
    trains: Vec<Train<C>>,
    /// Trains before this one have been taken.
    taken: u32,
    /// For how many trains there is room at first.
    first_room: u8,
    /// Whether items that take turns travel as a [weave](crate::weave), because who takes them handles them in rounds.
    weaves: bool,
    /// [`Stream::reuse_room`] does something only if at least this many trains have been taken. It is 0 where the room is to be freed as
    /// soon as the stream is empty.
    reuse_from: u16,
    /// Number of the last item on the sender's grid of slots.
    last: u64,
    /// Items appended since the start.
    pushed: u64,
}

/// For how many trains a stream has room at first.
const FIRST_ROOM: u8 = 4;

/// The same where there are more streams than [`MANY`]: most of them carry one train at a time.
const FIRST_ROOM_OF_MANY: u8 = 1;

/// How many more it gets room for while they are few: ten, of which an initial window mostly has no more, fill the room exactly.
const MORE_OF_MANY: usize = 3;

/// Fewer trains than this that were taken stay where they are.
const REUSED: u16 = 256;

/// More streams than this are very many.
const MANY: usize = 1 << 18;

/// Fewer trains than this are moved at little cost.
const FEW: usize = 16;

impl<C> Default for Stream<C> {
    fn default() -> Self {
        let (first_room, reuse_from) = (FIRST_ROOM, REUSED);
        let (weaves, last, pushed) = (false, 0, 0);
        Self { horizon: 0, trains: Vec::new(), taken: 0, first_room, weaves, reuse_from, last, pushed }
    }
}

impl<C: Item> Stream<C> {
    /// No item will be added that arrives before this time.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.horizon
    }

    /// Moves the horizon on; it never goes back. The sender does so at the end of a visit.
    pub fn advance_horizon(&mut self, horizon: Time) {
        self.horizon = self.horizon.max(horizon);
    }

    /// How many trains have been taken, and are still there.
    #[inline(always)]
    fn taken(&self) -> usize {
        self.taken as usize
    }

    /// Uses the room of trains that were taken again, before it outgrows the cache. To be called when items were taken: fewer
    /// wait then than after the sender's next visit, and they have to be moved.
    #[inline]
    pub(crate) fn reuse_room(&mut self) {
        if self.taken >= u32::from(self.reuse_from) {
            self.reuse_much_room();
        }
    }

    /// As [`Stream::reuse_room`], where there may be something to do. Of very many streams, few carry a burst at a time: the room of a
    /// burst is freed when it has passed.
    #[inline]
    fn reuse_much_room(&mut self) {
        let taken = self.taken();
        if taken >= REUSED.into() && taken * 4 >= self.trains.len() * 3 {
            self.trains.drain(..taken);
            self.taken = 0;
        } else if self.reuse_from == 0 && self.trains.is_empty() {
            self.trains = Vec::new();
            self.reuse_from = REUSED;
        }
    }

    /// What is appended arrives at `first`: not before the horizon, nor before the last of what waits, unless it never comes.
    #[inline(always)]
    fn check(&self, first: Instant) {
        assert!(first.ps() >= self.horizon, "items arrive before the horizon of their stream");
        debug_assert!(
            self.is_last(first) || first.ps() >= AFTER_ALL,
            "items arrive before others of their stream"
        );
    }

    /// Whether nothing that waits arrives after `first`, as far as the last train tells.
    fn is_last(&self, first: Instant) -> bool {
        self.trains.last().is_none_or(|train| train.woven() > 0 || train.last() <= first)
    }

    /// Appends a train; it joins the last one where it continues it and that one has not been taken yet.
    ///
    /// `first` and `last` are the places of its ends on the grid of the sender's link: items whose numbers differ by n are exactly n
    /// slots apart, and those slots are the train's. Items that are on no grid have the same number, and never join.
    #[inline(always)]
    pub fn push(&mut self, first: u64, last: u64, train: &Train<C>) {
        self.check(train.first);
        let slots = first.wrapping_sub(self.last);
        self.last = last;
        self.pushed += u64::from(train.count);
        if self.taken() < self.trains.len()
            && let Some(last) = self.trains.last_mut()
            && last.join(slots, train)
        {
            return;
        }
        if self.trains.len() == self.trains.capacity() {
            self.push_into_more(train);
            return;
        }
        self.trains.push(*train);
    }

    /// As [`Stream::push`], of a single item. It joins also behind an idle link, where items of one train are evenly spaced.
    #[inline(always)]
    pub fn push_unit(&mut self, number: u64, train: &Train<C>) {
        self.check(train.first);
        let gap = number.wrapping_sub(self.last).wrapping_sub(1);
        self.last = number;
        self.pushed += 1;
        if gap > MAX_GAP {
            if self.join_spaced(gap, train) {
                return;
            }
        } else if self.taken() < self.trains.len()
            && let Some(last) = self.trains.last_mut()
            && last.join_one(gap, &train.item)
        {
            return;
        }
        if self.trains.len() == self.trains.capacity() {
            self.push_into_more(train);
            return;
        }
        self.trains.push(*train);
    }

    /// Adds a single item to the last train if it is not on a grid with it, but as far behind as its items are behind each other.
    // A function of its own: those that join on the grid would miss the registers that it takes.
    #[inline(never)]
    fn join_spaced(&mut self, gap: u64, train: &Train<C>) -> bool {
        let waits = gap < OTHER_GRID && self.taken() < self.trains.len();
        let joins = waits && self.trains.last_mut().is_some_and(|last| last.join_spaced(train));
        if joins {
            self.last = self.last.wrapping_sub(APART);
        }
        joins
    }

    /// As [`Stream::push`], of a single item, which arrives at `first` and has this number on the sender's grid of a `slot`.
    #[inline(always)]
    pub fn push_one(&mut self, number: u64, first: Instant, slot: Slot, item: C) {
        self.check(first);
        let gap = number.wrapping_sub(self.last).wrapping_sub(1);
        self.last = number;
        self.pushed += 1;
        if gap <= MAX_GAP
            && self.taken() < self.trains.len()
            && let Some(last) = self.trains.last_mut()
            && last.join_one(gap, &item)
        {
            return;
        }
        let train = Train { first, slot, gaps: 0, count: 1, item };
        if self.trains.len() == self.trains.capacity() {
            self.push_into_more(&train);
            return;
        }
        self.trains.push(train);
    }

    /// Appends `train`, and further trains of as many items as long as `next` makes the following one of each; none joins another. The last
    /// one has that number. Returns how many there were.
    #[inline(always)]
    pub fn push_row(
        &mut self,
        last: u64,
        mut train: Train<C>,
        mut next: impl FnMut(&mut Train<C>) -> bool,
    ) -> u64 {
        self.check(train.first);
        let mut trains = 0;
        loop {
            if self.trains.len() == self.trains.capacity() {
                self.push_into_more(&{ train });
            } else {
                self.trains.push(train);
            }
            trains += 1;
            if !next(&mut train) {
                break;
            }
        }
        self.last = last;
        self.pushed += trains * u64::from(train.count);
        trains
    }

    /// As [`Stream::push`], of a train that does not join the last one.
    #[inline(always)]
    pub fn push_apart(&mut self, last: u64, train: &Train<C>) {
        self.check(train.first);
        self.last = last;
        self.pushed += u64::from(train.count);
        if self.trains.len() == self.trains.capacity() {
            self.push_into_more(train);
            return;
        }
        self.trains.push(*train);
    }

    /// Appends trains of a single item each, which join neither the last train nor each other; the last one has that number.
    #[inline]
    pub fn push_singles(&mut self, last: u64, trains: &[Train<C>]) {
        self.check(trains.first().map_or(Instant::at(NEVER), |train| train.first));
        self.last = last;
        self.pushed += trains.len() as u64;
        self.make_room_for(trains.len());
        self.trains.extend_from_slice(trains);
    }

    /// Appends trains of a single item each, with what `change` makes of their items, to a stream of such trains, which are on no grid and
    /// do not join.
    #[inline(always)]
    pub fn push_changed(&mut self, trains: &[Train<C>], change: impl Fn(&mut C)) {
        self.check(trains.first().map_or(Instant::at(NEVER), |train| train.first));
        self.pushed += trains.len() as u64;
        self.make_room_for(trains.len());
        self.trains.extend(trains.iter().map(|train| {
            let mut train = *train;
            change(&mut train.item);
            train
        }));
    }

    /// Appends a train of a single item to a stream of such trains, which are on no grid and do not join.
    #[inline(always)]
    pub fn push_single(&mut self, train: &Train<C>) {
        assert!(train.count == 1, "a train of single items has several");
        self.check(train.first);
        self.pushed += 1;
        if self.trains.len() == self.trains.capacity() {
            // A copy, so that what is pushed need not be in memory otherwise.
            return self.push_into_more(&{ *train });
        }
        self.trains.push(*train);
    }

    /// From now on items that take turns travel as a weave.
    pub fn weave(&mut self) {
        self.weaves = true;
    }

    /// Appends the first `rounds` items of `turns` in turn, a `slot` behind one another. The first arrives at `first` and has this number on
    /// the sender's grid.
    pub fn push_rounds(&mut self, rounds: u32, number: u64, first: Instant, slot: Slot, turns: &[Burst<C>]) {
        self.check(first);
        let items = rounds as usize * turns.len();
        self.last = number.wrapping_add(items as u64).wrapping_sub(1);
        self.pushed += items as u64;
        if self.weaves && (2..=MAX_GAPS + 1).contains(&rounds) && turns.len() <= MAX_TRAINS {
            // What comes next joins no train: the last one may not end last when it does.
            self.last = self.last.wrapping_sub(1 << 63);
            return self.push_weave(rounds, first, slot, turns);
        }
        self.make_room_for(items);
        let mut first = first;
        for round in 0..rounds {
            for turn in turns {
                let mut item = turn.train.item;
                item.advance(round);
                self.trains.push(Train { first, slot, gaps: 0, count: 1, item });
                first = first.plus(slot);
            }
        }
    }

    /// As [`Stream::push_rounds`], of at least two rounds, one train for each turn.
    fn push_weave(&mut self, rounds: u32, first: Instant, slot: Slot, turns: &[Burst<C>]) {
        self.make_room_for(turns.len());
        let (begin, gaps) = (self.trains.len(), Train::<C>::even_gaps(turns.len() as u64, rounds));
        let mut first = first;
        for turn in turns {
            self.trains.push(Train { first, slot, gaps, count: rounds, item: turn.train.item });
            first = first.plus(slot);
        }
        if let Some(head) = self.trains.get_mut(begin) {
            head.begin_weave(turns.len());
        }
    }

    /// Makes room for so many trains, if there is less.
    #[inline]
    fn make_room_for(&mut self, trains: usize) {
        if self.trains.capacity() - self.trains.len() < trains {
            self.make_room(trains);
        }
    }

    /// Appends a train where there is no room.
    #[cold]
    #[inline(never)]
    fn push_into_more(&mut self, train: &Train<C>) {
        self.make_room(1);
        self.trains.push(*train);
    }

    /// Makes room for so many trains, or more: the room of those that were taken, if they are half of all, or twice as much as before, and
    /// four times as much where there are many, as they are moved.
    #[cold]
    fn make_room(&mut self, trains: usize) {
        let (held, taken) = (self.trains.len(), self.taken());
        if 2 * taken >= held.max(2 * trains) {
            self.trains.drain(..taken);
            self.taken = 0;
            return;
        }
        // Then those that there will be room for can be counted as taken.
        assert!(held < u32::MAX as usize / 4, "one stream holds {held} trains");
        if held == 0 {
            self.trains = Vec::with_capacity(trains.max(self.first_room as usize));
        } else {
            let more = match held {
                FEW.. => 3 * held,
                // Very many streams have little room to spare.
                _ if self.first_room == FIRST_ROOM_OF_MANY => MORE_OF_MANY,
                _ => held.max(FIRST_ROOM as usize - 1),
            };
            if self.first_room == FIRST_ROOM_OF_MANY && held >= FIRST_ROOM.into() {
                self.reuse_from = 0;
            }
            self.trains.reserve_exact(trains.max(more));
        }
    }

    /// The first train.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Train<C>> {
        self.trains.get(self.taken())
    }

    /// The first train, to be taken from.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut Train<C>> {
        let taken = self.taken();
        self.trains.get_mut(taken)
    }

    /// Lends all trains; those before the place returned with them have been taken.
    #[inline]
    pub(crate) fn lend(&mut self) -> (Vec<Train<C>>, usize) {
        (std::mem::take(&mut self.trains), std::mem::take(&mut self.taken) as usize)
    }

    /// Takes the trains back of which those before `taken` have been taken now.
    #[inline]
    pub(crate) fn give_back(&mut self, trains: Vec<Train<C>>, taken: usize) {
        assert!(self.trains.is_empty(), "a stream was written to while its trains were lent");
        let all = taken == trains.len();
        (self.trains, self.taken) = (trains, taken as u32);
        if all {
            self.trains.clear();
            self.taken = 0;
        }
    }

    /// Removes the first train; returns when the next one arrives.
    #[inline]
    pub(crate) fn remove_first(&mut self) -> Option<Instant> {
        self.taken += 1;
        if let Some(next) = self.trains.get(self.taken()) {
            return Some(next.first);
        }
        self.trains.clear();
        self.taken = 0;
        None
    }

    /// Removes the first `count` trains; returns when the next one arrives.
    pub(crate) fn remove(&mut self, count: usize) -> Option<Instant> {
        self.taken += count as u32;
        let next = self.next_instant();
        if next.is_none() {
            self.trains.clear();
            self.taken = 0;
        }
        next
    }

    /// The weave that is first, if there is one.
    #[inline]
    pub(crate) fn first_weave(&mut self) -> Option<&mut [Train<C>]> {
        let taken = self.taken();
        first_weave(&mut self.trains[taken..])
    }

    /// Takes the first item of the weave that is first.
    ///
    /// # Panics
    ///
    /// If no weave is first.
    #[inline]
    pub(crate) fn take_woven(&mut self) -> Train<C> {
        take_item(self.first_weave().expect("a weave is first"))
    }

    /// Takes what arrives before `until` of the first train into `train`, if anything does.
    #[inline]
    pub(crate) fn take_before(&mut self, until: Time, train: &mut Train<C>) -> bool {
        let Some(head) = self.first_mut().filter(|head| head.first.ps() < until) else { return false };
        if head.woven() > 0 {
            *train = self.take_woven();
            return true;
        }
        *train = *head;
        if head.count > 1 && head.last().ps() >= until {
            train.truncate(head.items_before(Instant::start_of(until)));
            head.advance(train.count);
        } else {
            self.remove_first();
        }
        true
    }

    /// Separates the sender's end, for a sender in another part of the network: what is under way stays here.
    #[must_use]
    pub fn split_off_sender(&self) -> Self {
        Self { trains: Vec::new(), taken: 0, ..*self }
    }

    /// Puts the sender's end back, as [`Stream::split_off_sender`] has separated it.
    ///
    /// # Panics
    /// If what it sent has not been handed over.
    pub fn put_back_sender(&mut self, sender: &Self) {
        assert!(sender.trains.is_empty(), "a sender's end is put back with trains on it");
        self.advance_horizon(sender.horizon);
        (self.last, self.pushed) = (sender.last, sender.pushed);
    }

    /// Moves the trains of a sender's end to the end of `trains`; returns how many they are.
    #[inline]
    pub(crate) fn hand_over(&mut self, trains: &mut Vec<Train<C>>) -> usize {
        assert_eq!(self.taken, 0, "trains were taken from the sending end of a stream");
        let count = self.trains.len();
        if trains.is_empty() {
            std::mem::swap(trains, &mut self.trains);
        } else {
            trains.append(&mut self.trains);
        }
        count
    }

    /// Appends trains that a sender's end has handed over, and takes them out of `trains`; returns how many they are.
    #[inline]
    pub(crate) fn take_over(&mut self, trains: &mut Vec<Train<C>>) -> usize {
        let count = trains.len();
        if self.taken() == self.trains.len() {
            self.trains.clear();
            self.taken = 0;
            std::mem::swap(trains, &mut self.trains);
        } else {
            self.trains.append(trains);
        }
        count
    }

    /// Whether nothing is under way.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Items appended since the start.
    #[must_use]
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Items not yet taken.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.trains[self.taken()..].iter().map(|train| u64::from(train.count)).sum()
    }

    /// Trains not yet taken, in the order of their arrival: what a viewer may read.
    #[must_use]
    pub fn trains(&self) -> &[Train<C>] {
        &self.trains[self.taken()..]
    }

    /// Arrival of the first item not yet taken, in whole picoseconds.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        self.next_instant().map(Instant::ps)
    }

    /// Arrival of the first item not yet taken.
    #[inline]
    #[must_use]
    pub fn next_instant(&self) -> Option<Instant> {
        self.first().map(|train| train.first)
    }
}

/// All that processes share: the streams of a model and, beside them, what their items contain.
///
/// An item carries a handle of its contents, so that they need not be moved from stream to stream. Contents belong to the process that
/// holds the item.
#[derive(Debug)]
pub struct Streams<C, P = ()> {
    streams: Vec<Stream<C>>,
    /// The contents, by handle.
    pub contents: P,
}

impl<C, P> Streams<C, P> {
    /// These streams, with the contents of what is on them.
    #[must_use]
    pub fn new(mut streams: Vec<Stream<C>>, contents: P) -> Self {
        if streams.len() > MANY {
            streams.iter_mut().for_each(|stream| stream.first_room = FIRST_ROOM_OF_MANY);
        }
        Self { streams, contents }
    }

    /// The streams and the contents apart.
    pub fn parts(&mut self) -> (&mut [Stream<C>], &mut P) {
        (&mut self.streams, &mut self.contents)
    }
}

impl<C, P> Deref for Streams<C, P> {
    type Target = [Stream<C>];

    #[inline(always)]
    fn deref(&self) -> &[Stream<C>] {
        &self.streams
    }
}

impl<C, P> DerefMut for Streams<C, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Stream<C>] {
        &mut self.streams
    }
}
