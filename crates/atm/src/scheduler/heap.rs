//! The VC with the smallest tag among those that have one: a binary heap that knows the place of each VC, so that the tag of
//! any VC can change and any VC can go. Every operation takes the logarithm of the number of VCs with tags; nothing is
//! allocated once all have had one.

/// What VCs are sorted by: a virtual time.
pub(super) type Tag = u128;

/// The place of a VC that is not in the heap.
const NONE: u32 = u32::MAX;

/// VCs sorted by tags; those with equal tags by label.
#[derive(Debug, Clone)]
pub(super) struct Heap {
    /// None is before the one at half its place.
    entries: Vec<Entry>,
    /// Places in `entries`, by label.
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    tag: Tag,
    vc: u32,
}

impl Entry {
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.tag < other.tag || self.tag == other.tag && self.vc < other.vc
    }
}

impl Heap {
    pub(super) fn new(vcs: usize) -> Self {
        Self { entries: Vec::with_capacity(vcs), places: vec![NONE; vcs] }
    }

    /// The first VC and its tag.
    #[inline]
    pub(super) fn first(&self) -> Option<(Tag, u32)> {
        self.entries.first().map(|entry| (entry.tag, entry.vc))
    }

    /// The tag of `vc`, if it is in the heap.
    #[inline]
    pub(super) fn get(&self, vc: u32) -> Option<Tag> {
        self.entries.get(self.places[vc as usize] as usize).map(|entry| entry.tag)
    }

    /// Puts `vc` into the heap with `tag`, or changes its tag.
    #[inline]
    pub(super) fn set(&mut self, vc: u32, tag: Tag) {
        let (entry, place) = (Entry { tag, vc }, self.places[vc as usize] as usize);
        match self.entries.get(place) {
            None => {
                self.entries.push(entry);
                self.rise(self.entries.len() - 1, entry);
            }
            Some(before) if tag < before.tag => self.rise(place, entry),
            Some(_) => self.sink(place, entry),
        }
    }

    /// Takes `vc` out of the heap, if it is there.
    #[inline]
    pub(super) fn remove(&mut self, vc: u32) {
        let place = std::mem::replace(&mut self.places[vc as usize], NONE) as usize;
        let Some(&gone) = self.entries.get(place) else { return };
        let last = self.entries.pop().expect("the VC is in the heap");
        if last.vc == vc {
            return;
        }
        if last.is_before(gone) { self.rise(place, last) } else { self.sink(place, last) }
    }

    /// Makes all tags smaller by `span`, but not less than 0.
    pub(super) fn set_back(&mut self, span: Tag) {
        self.entries.iter_mut().for_each(|entry| entry.tag = entry.tag.saturating_sub(span));
    }

    /// Puts `entry` at `place` or towards the root.
    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        let (entries, places) = (&mut self.entries[..], &mut self.places[..]);
        while place > 0 {
            let above = (place - 1) / 2;
            let other = entries[above];
            if !entry.is_before(other) {
                break;
            }
            entries[place] = other;
            places[other.vc as usize] = place as u32;
            place = above;
        }
        entries[place] = entry;
        places[entry.vc as usize] = place as u32;
    }

    /// Puts `entry` at `place` or away from the root.
    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        let (entries, places) = (&mut self.entries[..], &mut self.places[..]);
        while let Some(&left) = entries.get(2 * place + 1) {
            let (mut below, mut first) = (2 * place + 1, left);
            if let Some(&right) = entries.get(below + 1)
                && right.is_before(left)
            {
                (below, first) = (below + 1, right);
            }
            if !first.is_before(entry) {
                break;
            }
            entries[place] = first;
            places[first.vc as usize] = place as u32;
            place = below;
        }
        entries[place] = entry;
        places[entry.vc as usize] = place as u32;
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
            let (mut heap, mut set) = (Heap::new(vcs), BTreeSet::new());
            assert_eq!(heap.first(), None);
            for _ in 0..200 * vcs {
                let vc = draw(vcs as u64) as u32;
                if let Some(tag) = heap.get(vc) {
                    assert!(set.remove(&(tag, vc)));
                }
                if draw(3) == 0 {
                    heap.remove(vc);
                } else {
                    let tag = Tag::from(draw(10)) << draw(100);
                    heap.set(vc, tag);
                    set.insert((tag, vc));
                }
                assert_eq!(heap.first(), set.first().copied(), "{vcs} VCs");
            }
        }
    }
}
