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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Blocks of 64 bins, a doubling each, up to the last one that anything fell into. A network may have very many histograms,
    /// and most have values in a few blocks.
    blocks: Vec<Option<Box<Block>>>,
}

/// The counts of 64 bins.
type Block = [u64; STEPS as usize];

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: Time) {
        let bin = bin_of(value);
        match self.blocks.get_mut(bin / STEPS as usize) {
            Some(Some(counts)) => counts[bin % STEPS as usize] += 1,
            _ => self.add_first(bin),
        }
    }

    /// Counts the first value of a block.
    #[cold]
    fn add_first(&mut self, bin: usize) {
        self.block(bin / STEPS as usize)[bin % STEPS as usize] += 1;
    }

    /// A block that nothing has fallen into so far.
    fn block(&mut self, block: usize) -> &mut Block {
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, None);
        }
        self.blocks[block].get_or_insert_with(|| Box::new([0; STEPS as usize]))
    }

    /// Adds what another histogram has counted: the sum is the histogram of all values, exactly.
    pub fn merge(&mut self, other: &Self) {
        for (number, counts) in other.blocks() {
            let sums = match self.blocks.get_mut(number) {
                Some(Some(sums)) => sums,
                _ => self.block(number),
            };
            std::iter::zip(sums, counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// The blocks that anything fell into.
    fn blocks(&self) -> impl DoubleEndedIterator<Item = (usize, &Block)> {
        self.blocks.iter().enumerate().filter_map(|(number, block)| Some((number, &**block.as_ref()?)))
    }

    /// The bins that anything fell into, and how much did.
    pub fn bins(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let counts = self.blocks().flat_map(|(number, counts)| {
            counts.iter().enumerate().map(move |(place, &count)| (number * STEPS as usize + place, count))
        });
        counts.filter(|&(_, count)| count > 0)
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.blocks().flat_map(|(_, counts)| counts).sum()
    }

    /// The value below which a share `quantile` of the values lies, linear within a bin; zero without values.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        let target = quantile * self.count() as f64;
        let mut below = 0;
        for (number, counts) in self.blocks() {
            let upto = below + counts.iter().sum::<u64>();
            if (upto as f64) < target {
                below = upto;
                continue;
            }
            for (place, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
                if (below + count) as f64 >= target {
                    let bin = number * STEPS as usize + place;
                    let (low, high) = (lowest_of(bin) as f64, highest_of(bin) as f64 + 1.0);
                    return low + (high - low) * (target - below as f64) / count as f64;
                }
                below += count;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
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
