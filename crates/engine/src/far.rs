//! The keys of inputs that are due later than a few dozen others.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

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
    later: BinaryHeap<Reverse<Key>>,
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
        self.keys.as_ref()?.later.peek().map(|key| key.0)
    }

    pub(crate) fn push(&mut self, key: Key) {
        self.count += 1;
        self.keys.get_or_insert_default().later.push(Reverse(key));
    }

    /// Takes out the first; of those that tie, any.
    pub(crate) fn pop(&mut self) -> Option<Key> {
        let FarKeys { later, tied } = self.keys.as_deref_mut()?;
        let key = tied.pop().or_else(|| later.pop().map(|key| key.0))?;
        self.count -= 1;
        Some(key)
    }

    /// Gathers all that arrive when `key` does, `key` among them: a tie between very many.
    pub(crate) fn tie(&mut self, key: Key) {
        self.count += 1;
        let FarKeys { later, tied } = &mut **self.keys.get_or_insert_default();
        tied.insert(key);
        while let Some(first) = later.peek_mut()
            && first.0.instant_only() == key.instant_only()
        {
            tied.insert(PeekMut::pop(first).0);
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
