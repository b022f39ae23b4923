//! The VC with the smallest tag among those that have one: a tree of winners.
//!
//! Each VC is a leaf, each node above holds the winner of the two below, and the VC at the root is the first. To change a tag
//! is to play the matches from its leaf to the root again: as many as the logarithm of the number of VCs, whether the tag
//! grows, shrinks, appears or goes (Knuth, The Art of Computer Programming, volume 3, section 5.4.1). Nothing is allocated.

/// What VCs are sorted by: a virtual time.
pub(super) type Tag = u128;

/// The tag of a VC that is not in the tree.
const NONE: Tag = Tag::MAX - 1;

/// VCs sorted by tags; those with equal tags by label.
#[derive(Debug, Clone)]
pub(super) struct Winners {
    /// By label, as many as there are leaves.
    tags: Vec<Tag>,
    /// The root is number 1; nodes 2n and 2n + 1 are below node n, and the leaves are last.
    nodes: Vec<u32>,
}

impl Winners {
    pub(super) fn new(vcs: usize) -> Self {
        let leaves = vcs.next_power_of_two();
        let mut nodes = vec![0; 2 * leaves];
        for (vc, leaf) in (0..).zip(&mut nodes[leaves..]) {
            *leaf = vc;
        }
        (1..leaves).rev().for_each(|node| nodes[node] = nodes[2 * node]);
        Self { tags: vec![NONE; leaves], nodes }
    }

    /// The first VC and its tag.
    #[inline]
    pub(super) fn first(&self) -> Option<(Tag, u32)> {
        let vc = self.nodes[1];
        self.get(vc).map(|tag| (tag, vc))
    }

    /// The tag of `vc`, if it is in the tree.
    #[inline]
    pub(super) fn get(&self, vc: u32) -> Option<Tag> {
        let tag = self.tags[vc as usize];
        (tag != NONE).then_some(tag)
    }

    /// Puts `vc` into the tree with `tag`, or changes its tag.
    ///
    /// # Panics
    /// If the tag is at the end of the range of virtual time.
    #[inline]
    pub(super) fn set(&mut self, vc: u32, tag: Tag) {
        assert!(tag < NONE, "virtual time has come to its end");
        self.play(vc, tag);
    }

    /// Takes `vc` out of the tree, if it is there.
    #[inline]
    pub(super) fn remove(&mut self, vc: u32) {
        self.play(vc, NONE);
    }

    /// Makes all tags smaller by `span`.
    pub(super) fn set_back(&mut self, span: Tag) {
        self.tags.iter_mut().filter(|tag| **tag != NONE).for_each(|tag| *tag -= span);
    }

    #[inline]
    fn play(&mut self, vc: u32, tag: Tag) {
        self.tags[vc as usize] = tag;
        let (mut winner, mut best, mut node) = (vc, tag, self.tags.len() + vc as usize);
        while node > 1 {
            let rival = self.nodes[node ^ 1];
            let tag = self.tags[rival as usize];
            // Of equal tags that on the left wins: it has the lower label.
            let is_right = node % 2 == 1;
            if tag < best + Tag::from(is_right) {
                (winner, best) = (rival, tag);
            }
            node /= 2;
            if std::mem::replace(&mut self.nodes[node], winner) == winner && winner != vc {
                // Others met above, and none of them has changed.
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_is_that_of_a_sorted_set() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for vcs in [0, 1, 2, 3, 7, 8, 13] {
            let (mut tree, mut set) = (Winners::new(vcs), BTreeSet::new());
            assert_eq!(tree.first(), None);
            for _ in 0..200 * vcs {
                let vc = draw(vcs as u64) as u32;
                if let Some(tag) = tree.get(vc) {
                    assert!(set.remove(&(tag, vc)));
                }
                if draw(3) == 0 {
                    tree.remove(vc);
                } else {
                    let tag = Tag::from(draw(10)) << draw(100);
                    tree.set(vc, tag);
                    set.insert((tag, vc));
                }
                assert_eq!(tree.first(), set.first().copied(), "{vcs} VCs");
            }
        }
    }
}
