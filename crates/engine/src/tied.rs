//! Inputs whose next items arrive at one instant, of which one after another is drawn at random.

/// Numbers of inputs, of which any is found by its place among them.
///
/// A bit for each input, in words; above them a complete binary tree, in which each node says how many inputs are on its left side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tied {
    count: usize,
    /// As many as a power of two, or none.
    words: Vec<u64>,
    /// Node 1 is the root, and nodes 2 n and 2 n + 1 are below node n; below the last of them are the words. Node 0 is none.
    left: Vec<u32>,
}

impl Tied {
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// # Panics
    /// If it is there already.
    pub(crate) fn insert(&mut self, input: u32) {
        let (word, bit) = (input as usize / 64, 1 << (input % 64));
        if word >= self.words.len() {
            self.grow(word + 1);
        }
        assert_eq!(self.words[word] & bit, 0, "input {input} ties with itself");
        self.words[word] |= bit;
        self.count += 1;
        self.on_way_up(word, |left| *left += 1);
    }

    /// Takes out the one with that place in their order.
    ///
    /// # Panics
    /// If there are no more than `place`.
    pub(crate) fn remove(&mut self, place: usize) -> u32 {
        assert!(place < self.count, "only those that tie are drawn");
        let (mut node, mut place) = (1, place as u32);
        while let Some(&left) = self.left.get(node) {
            let right = place >= left;
            place -= if right { left } else { 0 };
            node = 2 * node + usize::from(right);
        }
        let word = node - self.words.len();
        let bits = (0..place).fold(self.words[word], |bits, _| bits & (bits - 1));
        self.words[word] &= !(bits & bits.wrapping_neg());
        self.count -= 1;
        self.on_way_up(word, |left| *left -= 1);
        word as u32 * 64 + bits.trailing_zeros()
    }

    /// Takes out the first.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        (self.count > 0).then(|| self.remove(0))
    }

    /// Changes the nodes on whose left side `word` is.
    fn on_way_up(&mut self, word: usize, change: impl Fn(&mut u32)) {
        let mut node = word + self.words.len();
        while node > 1 {
            if node.is_multiple_of(2) {
                change(&mut self.left[node / 2]);
            }
            node /= 2;
        }
    }

    /// Makes room for so many words.
    fn grow(&mut self, words: usize) {
        self.words.resize(words.next_power_of_two(), 0);
        self.left = vec![0; self.words.len()];
        for word in 0..self.words.len() {
            let count = self.words[word].count_ones();
            self.on_way_up(word, |left| *left += count);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Tied;

    proptest! {
        #[test]
        fn each_is_found_by_its_place(steps in prop::collection::vec((0_u32..5000, any::<prop::sample::Index>()), 0..300)) {
            let (mut tied, mut model) = (Tied::default(), BTreeSet::new());
            for (input, place) in steps {
                if model.insert(input) {
                    tied.insert(input);
                    // So that there are more and more.
                    if input % 3 > 0 {
                        continue;
                    }
                }
                prop_assert_eq!(tied.len(), model.len());
                let place = place.index(model.len());
                let expected = *model.iter().nth(place).expect("there are more");
                prop_assert_eq!(tied.remove(place), expected);
                model.remove(&expected);
            }
            while let Some(first) = tied.pop() {
                prop_assert_eq!(Some(first), model.pop_first());
            }
            prop_assert!(model.is_empty());
        }
    }
}
