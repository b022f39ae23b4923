//! The order in which the inputs of a process are due.

use crate::{far::Far, key::Key, random::Generator};

/// More keys than this are not kept sorted.
const NEAR: usize = 48;

/// The keys of the inputs that have items, one each.
///
/// The nearest are sorted, the first one last: it is replaced and removed the most. Serving an item replaces its key by that input's
/// next arrival, which passes only the inputs that are due within the slot, most often. Where the items of many inputs come one
/// by one and take turns it passes most others, and its place is better sought from the other end.
///
/// Of very many inputs the others are far: none of those comes before a near one, and two are near where two have items.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    /// In descending order; below `spare` there is room for what comes after all of them. There is none where some are far.
    near: Vec<Key>,
    spare: usize,
    far: Far,
}

impl Keys {
    /// Of at most `inputs` inputs, none of which has items.
    pub(crate) fn new(inputs: usize) -> Self {
        Self { near: Vec::with_capacity(inputs.min(NEAR)), spare: 0, far: Far::default() }
    }

    /// The near ones, in descending order.
    #[inline]
    pub(crate) fn near(&self) -> &[Key] {
        &self.near[self.spare..]
    }

    /// The first of those that are far.
    #[inline]
    pub(crate) fn first_far(&self) -> Option<Key> {
        self.far.first()
    }

    /// The first.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<Key> {
        self.near.last().copied()
    }

    /// The first and the second, or what never arrives.
    #[inline(always)]
    pub(crate) fn first_two(&self) -> (Key, Key) {
        match self.near.as_slice() {
            [.., second, first] => (*first, *second),
            [first] => (*first, Key::NONE),
            [] => (Key::NONE, Key::NONE),
        }
    }

    /// The first three, the last of them what never arrives if there are just two; `None` if there are fewer.
    #[inline(always)]
    pub(crate) fn first_three(&self) -> Option<[Key; 3]> {
        match self.near.as_slice() {
            [.., third, second, first] => Some([*first, *second, *third]),
            [second, first] => Some([*first, *second, self.first_far().unwrap_or(Key::NONE)]),
            _ => None,
        }
    }

    /// The only one, if there is just one.
    #[inline]
    pub(crate) fn only(&self) -> Option<Key> {
        match self.near() {
            [key] => Some(*key),
            _ => None,
        }
    }

    /// The only two, the first of them first, if there are just two.
    #[inline]
    pub(crate) fn only_two(&self) -> Option<[Key; 2]> {
        match self.near() {
            [second, first] if self.far.is_empty() => Some([*first, *second]),
            _ => None,
        }
    }

    /// Removes the only two.
    #[inline]
    pub(crate) fn remove_only_two(&mut self) {
        self.near.truncate(self.spare);
    }

    /// The only one becomes `key`.
    #[inline]
    pub(crate) fn replace_only(&mut self, key: Key) {
        if let [.., only] = self.near.as_mut_slice() {
            *only = key;
        }
    }

    /// Adds the key of an input that had no items.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key) {
        if self.is_far(key) {
            return self.far.push(key);
        }
        self.near.push(key);
        sort_first(&mut self.near, key);
        if self.near.len() - self.spare > 2 * NEAR {
            self.spread();
        }
    }

    /// Whether a key belongs to the far ones, if there are any.
    #[inline]
    fn is_far(&self, key: Key) -> bool {
        !self.far.is_empty() && key > self.near[0]
    }

    /// Makes room among the near keys: those behind the first [`NEAR`] become far.
    #[cold]
    fn spread(&mut self) {
        let far = self.near.len() - NEAR;
        self.near.drain(..far).skip(self.spare).for_each(|key| self.far.push(key));
        self.spare = 0;
    }

    /// Removes the first.
    #[inline]
    pub(crate) fn remove_first(&mut self) {
        self.near.pop();
        self.bring_near();
    }

    /// Replaces the first by `key`. `TURNS`: whether its place is sought from the far end.
    #[inline(always)]
    pub(crate) fn replace_first<const TURNS: bool>(&mut self, key: Key) {
        if !TURNS {
            return if self.far.is_empty() {
                sort_first(&mut self.near, key);
            } else {
                self.replace_first_of_many(key);
            };
        }
        if self.spare == 0 {
            if !self.far.is_empty() {
                return self.replace_first_of_many(key);
            }
            self.make_room();
        }
        self.near.pop();
        self.spare -= 1;
        let [place, others @ ..] = &mut self.near[self.spare..] else { return };
        let mut place = place;
        for next in others.iter_mut().take_while(|next| **next > key) {
            *place = *next;
            place = next;
        }
        *place = key;
    }

    /// As [`Keys::replace_first`], where some are far.
    #[cold]
    #[inline(never)]
    fn replace_first_of_many(&mut self, key: Key) {
        if self.is_far(key) {
            self.near.pop();
            self.far.push(key);
            self.bring_near();
        } else {
            sort_first(&mut self.near, key);
        }
    }

    /// Brings far keys near, where fewer than two are.
    #[inline]
    fn bring_near(&mut self) {
        if self.near.len() < 2 && !self.far.is_empty() {
            self.bring_many_near();
        }
    }

    #[cold]
    #[inline(never)]
    fn bring_many_near(&mut self) {
        self.near.reverse();
        while self.near.len() < NEAR
            && let Some(key) = self.far.pop()
        {
            self.near.push(key);
        }
        self.near.reverse();
    }

    /// Makes room for keys that come after all others.
    #[cold]
    fn make_room(&mut self) {
        let inputs = self.near.len();
        self.spare = 64;
        self.near.resize(inputs + self.spare, Key::NONE);
        self.near.copy_within(..inputs, self.spare);
        self.near[..inputs.min(self.spare)].fill(Key::NONE);
    }

    /// Makes one of those that tie with `first` the first, at random; returns it.
    #[cold]
    pub(crate) fn break_tie(&mut self, first: Key, generator: &mut Generator) -> Key {
        let begin = self.near.partition_point(|key| key.instant_only() > first.instant_only());
        // Far ones may tie too if all near ones do.
        let far = if begin == 0 { self.far.gather(first) } else { 0 };
        let near = self.near.len() - begin;
        // In the order of inputs, which does not depend on the visits.
        let place = generator.below((near + far) as u64) as usize;
        if place < near {
            let behind = self.near.len() - 1 - place;
            self.near[behind..].rotate_left(1);
        } else {
            self.near.push(self.far.take_tied(place - near));
        }
        self.near[self.near.len() - 1]
    }
}

/// Puts `key` into the place of the last of `keys`, the first, and restores the order.
#[inline]
fn sort_first(keys: &mut [Key], key: Key) {
    let [others @ .., last] = keys else { return };
    let mut place = last;
    for next in others.iter_mut().rev().take_while(|next| **next <= key) {
        *place = *next;
        place = next;
    }
    *place = key;
}
