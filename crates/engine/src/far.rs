//! The keys of inputs that are due later than a few dozen others.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use crate::{key::Key, tied::Tied};

/// Keys that are not kept sorted among the nearest: there may be a hundred thousand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Far {
    /// How many there are: one look tells whether any are.
    count: usize,
    /// In a box, as most processes have few inputs.
    keys: Option<Box<FarKeys>>,
}

#[derive(Debug, Clone)]
struct FarKeys {
    later: BinaryHeap<Reverse<Key>>,
    /// The inputs of those at whose instant a tie is broken between very many. All the others come later than they.
    tied: Tied,
    /// The key of any of them.
    one_tied: Key,
}

impl Default for FarKeys {
    fn default() -> Self {
        Self { later: BinaryHeap::new(), tied: Tied::default(), one_tied: Key::NONE }
    }
}

/// If more than one key of so many tie, all keys are looked through.
const MANY_TIE: usize = 16;

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
        let FarKeys { later, tied, one_tied } = &mut **self.keys.get_or_insert_default();
        if tied.len() > 0 && key.ties_with(*one_tied) {
            tied.insert(key.input());
        } else {
            later.push(Reverse(key));
        }
    }

    /// Takes out the first.
    pub(crate) fn pop(&mut self) -> Option<Key> {
        let FarKeys { later, tied, one_tied } = self.keys.as_deref_mut()?;
        let tied = tied.pop().map(|input| one_tied.of_input(input));
        let key = tied.or_else(|| later.pop().map(|key| key.0))?;
        self.count -= 1;
        Some(key)
    }

    /// Gathers all that tie with `key`, which is none of them. Returns how many there are.
    pub(crate) fn gather(&mut self, key: Key) -> usize {
        let Some(FarKeys { later, tied, one_tied }) = self.keys.as_deref_mut() else { return 0 };
        if tied.len() > 0 {
            assert!(key.ties_with(*one_tied), "ties of two instants are broken at once");
            return tied.len();
        }
        *one_tied = key;
        let mut one_by_one = later.len() / MANY_TIE;
        while one_by_one > 0
            && let Some(first) = later.peek_mut().filter(|first| first.0.ties_with(key))
        {
            one_by_one -= 1;
            tied.insert(PeekMut::pop(first).0.input());
        }
        if later.peek().is_some_and(|first| first.0.ties_with(key)) {
            later.retain(|Reverse(other)| {
                let ties = other.ties_with(key);
                if ties {
                    tied.insert(other.input());
                }
                !ties
            });
        }
        tied.len()
    }

    /// Takes out the one of those gathered that is number `place` in the order of inputs.
    pub(crate) fn take_tied(&mut self, place: usize) -> Key {
        self.count -= 1;
        let keys = self.keys.as_deref_mut().expect("those that tie were gathered");
        keys.one_tied.of_input(keys.tied.remove(place))
    }
}
