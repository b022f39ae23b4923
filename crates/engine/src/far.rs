//! The keys of inputs that are due later than a few dozen others.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::keys::Key;

/// Keys that are not kept sorted among the nearest: there may be a hundred thousand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Far {
    /// How many there are: one look tells whether any are.
    count: usize,
    /// In a box, as most processes have few inputs.
    keys: Option<Box<FarKeys>>,
}

#[derive(Debug, Clone, Default)]
struct FarKeys {
    later: Later,
    /// Those of the instant at which a tie is broken between very many. All the others come later.
    tied: Tied,
}

impl Far {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first of them, if no tie is being broken.
    #[inline]
    pub(crate) fn first(&self) -> Option<Key> {
        self.keys.as_ref()?.later.first()
    }

    pub(crate) fn push(&mut self, key: Key) {
        self.count += 1;
        self.keys.get_or_insert_default().later.push(key);
    }

    /// Takes out the first; of those that tie, any.
    pub(crate) fn pop(&mut self) -> Option<Key> {
        let FarKeys { later, tied } = self.keys.as_deref_mut()?;
        let key = tied.pop().or_else(|| later.pop())?;
        self.count -= 1;
        Some(key)
    }

    /// Gathers all that arrive when `key` does, `key` among them: a tie between very many.
    pub(crate) fn tie(&mut self, key: Key) {
        self.count += 1;
        let FarKeys { later, tied } = &mut **self.keys.get_or_insert_default();
        tied.insert(key);
        while later.first().is_some_and(|first| first.instant_only() == key.instant_only()) {
            later.pop().into_iter().for_each(|first| tied.insert(first));
        }
    }

    /// How many have been gathered.
    pub(crate) fn tied(&self) -> usize {
        self.keys.as_ref().map_or(0, |keys| keys.tied.count)
    }

    /// Takes out the one of those gathered that is number `place` in the order of inputs.
    pub(crate) fn take_tied(&mut self, place: usize) -> Key {
        self.count -= 1;
        let keys = self.keys.as_deref_mut().expect("those that tie were gathered");
        keys.tied.remove(place)
    }
}

/// Keys of which the first is taken. Most come many at once, as sources begin: a heap of all of them would look at some fourteen for each
/// that it takes out, all over its memory.
#[derive(Debug, Clone, Default)]
struct Later {
    /// Most of them, the first of them last.
    sorted: Vec<Key>,
    /// Those that have come since these were sorted.
    fresh: BinaryHeap<Reverse<Key>>,
}

impl Later {
    /// So many may be in the heap, and half as many as are sorted.
    const FRESH: usize = 64;

    fn first(&self) -> Option<Key> {
        let fresh = self.fresh.peek().map(|key| key.0);
        self.sorted.last().copied().into_iter().chain(fresh).min()
    }

    fn push(&mut self, key: Key) {
        self.fresh.push(Reverse(key));
        if self.fresh.len() > Self::FRESH + self.sorted.len() / 2 {
            self.sorted.extend(self.fresh.drain().map(|key| key.0));
            // Stable, as it finds what is in order already.
            self.sorted.sort_by(|one, other| other.cmp(one));
        }
    }

    fn pop(&mut self) -> Option<Key> {
        match (self.sorted.last(), self.fresh.peek()) {
            (Some(sorted), Some(fresh)) if fresh.0 < *sorted => self.fresh.pop().map(|key| key.0),
            (Some(_), _) => self.sorted.pop(),
            (None, _) => self.fresh.pop().map(|key| key.0),
        }
    }
}

/// Sorted keys of which any is found by its place, and taken out, in some hundred steps.
#[derive(Debug, Clone, Default)]
struct Tied {
    count: usize,
    /// In ascending order, none of them empty.
    rows: Vec<Vec<Key>>,
}

impl Tied {
    /// The longest row.
    const ROW: usize = 512;

    fn insert(&mut self, key: Key) {
        self.count += 1;
        let number = self.rows.partition_point(|row| row.last() < Some(&key));
        let Some(last) = self.rows.len().checked_sub(1) else { return self.rows.push(vec![key]) };
        let number = number.min(last);
        let row = &mut self.rows[number];
        row.insert(row.partition_point(|other| *other < key), key);
        if row.len() > Self::ROW {
            let rest = row.split_off(Self::ROW / 2);
            self.rows.insert(number + 1, rest);
        }
    }

    fn remove(&mut self, mut place: usize) -> Key {
        for (number, row) in self.rows.iter_mut().enumerate() {
            if place < row.len() {
                let key = row.remove(place);
                if row.is_empty() {
                    self.rows.remove(number);
                }
                self.count -= 1;
                return key;
            }
            place -= row.len();
        }
        panic!("only those that tie are drawn");
    }

    /// Takes out the last.
    fn pop(&mut self) -> Option<Key> {
        let key = self.rows.last_mut()?.pop();
        if self.rows.last().is_some_and(Vec::is_empty) {
            self.rows.pop();
        }
        self.count -= 1;
        key
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Instant, random::Randomness};

    /// Many come at once, then others one by one as the first are taken.
    #[test]
    fn the_first_of_very_many_is_taken_whenever_they_came() {
        let mut draw = Randomness { seed: 1, replication: 0 }.named("far");
        let (mut later, mut model) = (Later::default(), BTreeSet::new());
        for step in 0..20_000 {
            if step < 5_000 || draw.below(3) > 0 {
                let key = Key::new(Instant::start_of(draw.below(1_000_000)), step);
                later.push(key);
                model.insert(key);
            } else {
                assert_eq!((later.first(), later.pop()), (model.first().copied(), model.pop_first()));
            }
        }
        assert!(std::iter::from_fn(|| later.pop()).eq(model));
        assert_eq!((later.first(), later.pop()), (None, None));
    }
}
