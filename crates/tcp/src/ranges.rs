//! A set of bytes as sorted, disjoint, non-adjacent ranges.
//!
//! The receiver keeps its out-of-order data in one, the SACK scoreboard the bytes that the receiver has
//! reported. Both hold none on the in-order path and few ranges at a time, but thousands where a large window has lost
//! every other segment. They grow at the far end and shrink at the near one, so a sorted vector is the right container, if
//! what leaves it moves the others only now and then.

use std::ops::Range;

/// Bytes, as sorted ranges that neither overlap nor touch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    /// Those that have been removed, and the others.
    all: Vec<Range<u64>>,
    /// How many have been removed.
    removed: usize,
    /// How many bytes they hold.
    bytes: u64,
}

impl Ranges {
    /// Whether no byte is in the set.
    pub(crate) const fn is_empty(&self) -> bool {
        self.all.len() == self.removed
    }

    fn ranges(&self) -> &[Range<u64>] {
        &self.all[self.removed..]
    }

    /// How many bytes are in the set.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `range` and returns how many of its bytes were not in the set.
    pub(crate) fn insert(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        // Most often the set grows at its far end. The last range is in it: no more than half of them have been removed.
        match self.all.last_mut() {
            Some(last) if last.start > range.start => self.insert_below(range),
            Some(last) if last.end >= range.start => {
                let new = range.end.saturating_sub(last.end);
                last.end += new;
                self.bytes += new;
                new
            }
            _ => {
                let new = range.end - range.start;
                self.bytes += new;
                self.all.push(range);
                new
            }
        }
    }

    /// As [`insert`](Self::insert), of a range that begins below the last one.
    fn insert_below(&mut self, range: Range<u64>) -> u64 {
        // Everything in `touched` overlaps or touches the new range and merges with it.
        let first = self.removed + self.ranges().partition_point(|r| r.end < range.start);
        let last = self.removed + self.ranges().partition_point(|r| r.start <= range.end);
        let touched = &self.all[first..last];
        let known: u64 = touched.iter().map(|r| r.end.min(range.end) - r.start.max(range.start)).sum();
        let new = (range.end - range.start) - known;
        self.bytes += new;
        if let [low, ..] = touched {
            let end = self.all[last - 1].end.max(range.end);
            self.all[first] = low.start.min(range.start)..end;
            self.all.drain(first + 1..last);
        } else {
            self.all.insert(first, range);
        }
        new
    }

    /// Removes all bytes below `edge`.
    pub(crate) fn remove_below(&mut self, edge: u64) {
        while let Some(first) = self.all.get_mut(self.removed)
            && first.start < edge
        {
            let end = first.end.min(edge);
            self.bytes -= end - first.start;
            first.start = end;
            if end < first.end {
                break;
            }
            self.removed += 1;
        }
        if 2 * self.removed > self.all.len() {
            self.all.drain(..self.removed);
            self.removed = 0;
        }
    }

    /// Whether all bytes of `range`, which has some, are in the set.
    #[inline]
    pub(crate) fn holds(&self, range: &Range<u64>) -> bool {
        self.containing(range.start).is_some_and(|held| range.end <= held.end)
    }

    /// The range that holds byte `at`.
    pub(crate) fn containing(&self, at: u64) -> Option<Range<u64>> {
        let index = self.ranges().partition_point(|r| r.end <= at);
        self.ranges().get(index).filter(|r| r.start <= at).cloned()
    }

    /// The first gap at or above `from` that ends below some byte of the set.
    pub(crate) fn first_gap(&self, from: u64) -> Option<Range<u64>> {
        let index = self.ranges().partition_point(|r| r.end <= from);
        let next = self.ranges().get(index)?;
        if from < next.start {
            return Some(from..next.start);
        }
        self.ranges().get(index + 1).map(|after| next.end..after.start)
    }

    /// How many bytes of `range` are not in the set.
    pub(crate) fn missing_in(&self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let first = self.ranges().partition_point(|r| r.end <= range.start);
        let known: u64 = self.ranges()[first..]
            .iter()
            .take_while(|r| r.start < range.end)
            .map(|r| r.end.min(range.end) - r.start.max(range.start))
            .sum();
        (range.end - range.start) - known
    }

    /// What of `range` is not in the set, in ascending order.
    pub(crate) fn gaps(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.ranges().partition_point(|r| r.end <= range.start);
        let last = self.ranges().partition_point(|r| r.start < range.end).max(first);
        let (mut from, end) = (range.start, range.end);
        let edges = self.ranges()[first..last].iter().map(|r| (r.start, r.end));
        edges.chain([(end, end)]).filter_map(move |(start, end)| {
            let gap = std::mem::replace(&mut from, end)..start;
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// The ranges in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Range<u64>> {
        self.ranges().iter()
    }

    /// The offset after the highest byte of the set.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges().last().map(|r| r.end)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The set as its single bytes.
    fn bytes(ranges: &Ranges) -> BTreeSet<u64> {
        ranges.iter().cloned().flatten().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn behaves_like_a_set_of_bytes(
            inserts in prop::collection::vec((0u64..60, 0u64..12), 1..20),
            edge in 0u64..70,
        ) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (start, len) in inserts {
                let before = model.len();
                model.extend(start..start + len);
                prop_assert_eq!(ranges.insert(start..start + len), (model.len() - before) as u64);
            }
            prop_assert_eq!(&bytes(&ranges), &model);
            prop_assert!(ranges.ranges().windows(2).all(|w| w[0].end < w[1].start));
            let missing = (edge..80).filter(|b| !model.contains(b)).count() as u64;
            prop_assert_eq!(ranges.missing_in(edge..80), missing);
            prop_assert_eq!(ranges.containing(edge).is_some(), model.contains(&edge));
            let held = (edge..edge + 4).all(|b| model.contains(&b));
            prop_assert_eq!(ranges.holds(&(edge..edge + 4)), held);
            let gaps: BTreeSet<u64> = ranges.gaps(&(edge..80)).flatten().collect();
            prop_assert_eq!(gaps, (edge..80).filter(|b| !model.contains(b)).collect());
            let gap = (edge..80).find(|b| !model.contains(b)).filter(|b| model.range(b..).next().is_some());
            prop_assert_eq!(ranges.first_gap(edge).map(|g| g.start), gap);
            prop_assert_eq!(ranges.bytes(), model.len() as u64);
            ranges.remove_below(edge);
            prop_assert_eq!(ranges.bytes(), model.range(edge..).count() as u64);
            prop_assert_eq!(bytes(&ranges), model.range(edge..).copied().collect());
        }
    }
}
