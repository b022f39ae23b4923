//! Bins of a fixed relative width, and a histogram of times over them.

use celltrain_engine::Time;

/// Steps per doubling.
const STEPS: u32 = 64;

/// The bin of `value`: values below 128 have a bin each, those above share it with what differs by less than a 64th, 1.6 %.
#[inline]
#[must_use]
pub fn bin_of(value: u64) -> usize {
    // The leading bit and the six bits behind it.
    let exponent = (value | u64::from(STEPS)).ilog2() - STEPS.ilog2();
    (exponent * STEPS) as usize + (value >> exponent) as usize
}

/// The smallest value of a bin.
#[must_use]
pub fn lowest_of(bin: usize) -> u64 {
    let steps = STEPS as usize;
    let exponent = (bin / steps).saturating_sub(1);
    ((bin - exponent * steps) as u64) << exponent
}

/// The largest value of a bin.
#[must_use]
pub fn highest_of(bin: usize) -> u64 {
    // The bin after the last one would begin at 2^64.
    let exponent = (bin / STEPS as usize).saturating_sub(1);
    lowest_of(bin) + ((1 << exponent) - 1)
}

/// A histogram of times. Every quantile is right to the width of a bin: 1.6 %.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// The bin that all values have fallen into so far; [`NO_BIN`] as soon as there are several. Many histograms of a large network need
    /// no more.
    only: u32,
    /// The number of the first block.
    first: u32,
    /// How many values fell into the only bin.
    count: u64,
    /// Several bins, while few values have fallen into them.
    few: Option<Box<Few>>,
    /// Blocks of bins, from the first one that anything fell into up to the last. A network may have very many histograms, and most have
    /// values in a few bins.
    blocks: Vec<Option<Box<Block>>>,
}

/// Bins of a block: a quarter of a doubling.
const BINS: usize = 16;

/// The counts of the bins of a block.
type Block = [u64; BINS];

/// No value falls into it.
const NO_BIN: u32 = u32::MAX;

/// A few values, wherever they lie: blocks with a value each would take ten times as much.
#[derive(Debug, Clone, Default)]
struct Few {
    /// The bins that values fell into, in ascending order, and how many did.
    bins: [u16; FEW_BINS],
    counts: [u8; FEW_BINS],
    used: u8,
    values: u8,
}

/// The bins of a few values: they fill what the allocator gives for them.
const FEW_BINS: usize = 18;

/// More values than this are not few: to find their bins would cost more than blocks do.
const FEW_VALUES: u8 = 32;

impl Few {
    /// The bins, and how many values fell into each.
    fn used(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let counted = std::iter::zip(&self.bins, &self.counts).take(self.used.into());
        counted.map(|(&bin, &count)| (bin.into(), count.into()))
    }

    /// Counts so many values of one bin; `false` if these were too many values or bins.
    fn add(&mut self, bin: usize, times: u64) -> bool {
        let values = u64::from(self.values).saturating_add(times);
        let (Ok(bin), Ok(values @ ..=FEW_VALUES)) = (u16::try_from(bin), u8::try_from(values)) else {
            return false;
        };
        let (used, times) = (usize::from(self.used), values - self.values);
        match self.bins[..used].binary_search(&bin) {
            Ok(place) => self.counts[place] += times,
            Err(_) if used == FEW_BINS => return false,
            Err(place) => {
                self.bins.copy_within(place..used, place + 1);
                self.counts.copy_within(place..used, place + 1);
                (self.bins[place], self.counts[place]) = (bin, times);
                self.used += 1;
            }
        }
        self.values = values;
        true
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { only: NO_BIN, first: 0, count: 0, few: None, blocks: Vec::new() }
    }
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: Time) {
        let bin = bin_of(value);
        if bin as u32 == self.only {
            self.count += 1;
            return;
        }
        match self.blocks.get_mut(((bin / BINS) as u32).wrapping_sub(self.first) as usize) {
            Some(Some(counts)) => counts[bin % BINS] += 1,
            _ => self.add_to_bin(bin, 1),
        }
    }

    /// Counts a value so many times.
    pub fn add_times(&mut self, value: Time, times: u64) {
        if times > 0 {
            self.add_to_bin(bin_of(value), times);
        }
    }

    /// Counts so many values of one bin, which may have no place yet.
    #[cold]
    #[inline(never)]
    fn add_to_bin(&mut self, bin: usize, times: u64) {
        if bin as u32 == self.only {
            self.count += times;
        } else if !self.blocks.is_empty() || !self.add_to_few(bin, times) {
            self.block(bin / BINS)[bin % BINS] += times;
        }
    }

    /// As [`Histogram::add_to_bin`], without blocks. If there are too many values or bins for that, it moves what was counted so far into
    /// blocks, counts nothing, and returns `false`.
    #[inline(never)]
    fn add_to_few(&mut self, bin: usize, times: u64) -> bool {
        let counted = match &mut self.few {
            Some(few) => few.add(bin, times),
            None if self.only == NO_BIN => {
                (self.only, self.count) = (bin as u32, times);
                true
            }
            None => {
                let mut few = Few::default();
                let counted = few.add(self.only as usize, self.count) && few.add(bin, times);
                if counted {
                    (self.only, self.count, self.few) = (NO_BIN, 0, Some(Box::new(few)));
                }
                counted
            }
        };
        if !counted {
            self.make_blocks();
        }
        counted
    }

    /// Moves all that was counted into blocks.
    fn make_blocks(&mut self) {
        let bins: Vec<_> = self.bins().collect();
        (self.only, self.count, self.few) = (NO_BIN, 0, None);
        bins.into_iter().for_each(|(bin, count)| self.block(bin / BINS)[bin % BINS] += count);
    }

    /// A block, which nothing may have fallen into so far.
    fn block(&mut self, number: usize) -> &mut Block {
        if self.blocks.is_empty() {
            self.first = number as u32;
        }
        if self.first > number as u32 {
            let before = self.first - number as u32;
            self.blocks.splice(..0, (0..before).map(|_| None));
            self.first -= before;
        }
        let place = number - self.first as usize;
        if place >= self.blocks.len() {
            self.blocks.resize(place + 1, None);
        }
        self.blocks[place].get_or_insert_with(|| Box::new([0; BINS]))
    }

    /// Adds what another histogram has counted: the sum is the histogram of all values, exactly.
    pub fn merge(&mut self, other: &Self) {
        other.bins().for_each(|(bin, count)| self.add_to_bin(bin, count));
    }

    /// The bins that anything fell into, and how much did.
    pub fn bins(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let numbered = self.blocks.iter().enumerate();
        let blocks =
            numbered.filter_map(|(place, block)| Some((self.first as usize + place, block.as_ref()?)));
        let counts = blocks.flat_map(|(number, counts)| {
            counts.iter().enumerate().map(move |(place, &count)| (number * BINS + place, count))
        });
        let few = self.few.iter().flat_map(|few| few.used());
        // There is only one of the three.
        counts.chain(few).chain([(self.only as usize, self.count)]).filter(|&(_, count)| count > 0)
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins().map(|(_, count)| count).sum()
    }

    /// The value below which a share `quantile` of the values lies, linear within a bin; NaN without values.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        let target = quantile * self.count() as f64;
        let mut below = 0;
        for (bin, count) in self.bins() {
            if (below + count) as f64 >= target {
                let (low, high) = (lowest_of(bin) as f64, highest_of(bin) as f64 + 1.0);
                return low + (high - low) * (target - below as f64) / count as f64;
            }
            below += count;
        }
        f64::NAN
    }
}

/// Equal are those that have counted as much in every bin, in whatever order.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.bins().eq(other.bins())
    }
}

impl Eq for Histogram {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use celltrain_engine::random::Randomness;

    use super::*;

    #[test]
    fn bins_follow_each_other_and_are_narrow() {
        assert_eq!((bin_of(0), bin_of(127), bin_of(128), bin_of(129)), (0, 127, 128, 128));
        for bin in 0..bin_of(u64::MAX) {
            let (low, high) = (lowest_of(bin), highest_of(bin));
            assert_eq!((bin_of(low), bin_of(high), bin_of(high + 1)), (bin, bin, bin + 1), "{bin}");
            assert!(high - low <= low / 64, "{bin}");
        }
        assert_eq!(highest_of(bin_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_are_good_to_a_bin() {
        let mut histogram = Histogram::default();
        for value in (1..=100_000u64).rev() {
            histogram.add(value * 1000);
        }
        for quantile in [0.01, 0.5, 0.95, 0.99] {
            let exact = quantile * 1e8;
            assert!((histogram.quantile(quantile) / exact - 1.0).abs() < 0.01, "{quantile}");
        }
    }

    /// The bins of random values, in any order, against a count of each.
    #[test]
    fn values_in_any_order_fall_into_their_bins() {
        let mut draw = Randomness { seed: 1, replication: 0 }.named("histogram");
        for _ in 0..200 {
            let (mut histogram, mut counts) = (Histogram::default(), BTreeMap::new());
            for _ in 0..draw.below(100) {
                let magnitude = 1 + draw.below(62);
                let value = draw.below(1 << magnitude);
                histogram.add(value);
                *counts.entry(bin_of(value)).or_insert(0) += 1;
            }
            assert!(histogram.bins().eq(counts));
        }
    }

    /// Delays that are all about the same take no room of their own, and a few that differ take no block.
    #[test]
    fn equal_values_take_no_room_and_few_values_no_block() {
        let mut histogram = Histogram::default();
        (0..200).for_each(|jitter| histogram.add((1 << 40) + jitter));
        assert!(histogram.few.is_none() && histogram.blocks.is_empty());
        histogram.add((1 << 40) + (1 << 36));
        assert_eq!((histogram.blocks.len(), histogram.count()), (1, 201));
        let values = u64::from(FEW_VALUES);
        let mut histogram = Histogram::default();
        (0..values).for_each(|place| histogram.add((1 << 40) + (place % FEW_BINS as u64) * (1 << 38)));
        assert_eq!((histogram.blocks.len(), histogram.count()), (0, values));
        histogram.add(1 << 40);
        assert!(histogram.few.is_none() && !histogram.blocks.is_empty());
        assert_eq!(histogram.count(), values + 1);
    }

    #[test]
    fn a_histogram_stays_small() {
        assert_eq!((size_of::<Histogram>(), size_of::<Few>()), (48, 56));
    }

    #[test]
    fn parts_merge_into_the_whole() {
        let parts = [&[5, 900_000][..], &[], &[1 << 40, 3, 70_000_000]];
        let histogram = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            histogram
        };
        let mut merged = Histogram::default();
        parts.iter().for_each(|part| merged.merge(&histogram(part)));
        assert_eq!(merged, histogram(&parts.concat()));
        assert_eq!(merged.count(), 5);
    }
}
