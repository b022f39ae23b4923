//! Random numbers from generators named by component and keyed by (seed, replication).
//!
//! Each component draws from a generator of its own, so adding a source does not shift the numbers of the others, and two
//! scenarios that differ in a policy see the same random numbers in the same replication.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::{
    fingerprint::splitmix,
    logarithm::{ERROR, minus_log},
    time::Time,
};

/// The key of all generators of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Randomness {
    /// The scenario's seed.
    pub seed: u64,
    /// Which replication of it.
    pub replication: u64,
}

impl Randomness {
    /// The generator of the component called `name`.
    #[must_use]
    pub fn named(&self, name: &str) -> Generator {
        self.joined(&[name])
    }

    /// The generator of the component whose name `parts` are, one behind the other.
    #[must_use]
    pub fn joined(&self, parts: &[&str]) -> Generator {
        let mut key = splitmix(self.seed);
        key = splitmix(key ^ self.replication.wrapping_add(0x9e37_79b9_7f4a_7c15));
        for byte in parts.iter().flat_map(|part| part.bytes()) {
            key = splitmix(key ^ u64::from(byte));
        }
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            key = splitmix(key.wrapping_add(0x9e37_79b9_7f4a_7c15));
            chunk.copy_from_slice(&key.to_le_bytes());
        }
        Generator(Pcg64::from_seed(bytes))
    }
}

/// A random generator (PCG XSL RR 128/64, value-stable).
#[derive(Debug, Clone)]
pub struct Generator(Pcg64);

impl Generator {
    /// A whole number below `bound`, evenly distributed (multiply and shift; the bias is below `bound` / 2^64).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below zero");
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A time in [`low`, `high`], evenly distributed.
    pub fn uniform(&mut self, low: Time, high: Time) -> Time {
        low + self.below(high - low + 1)
    }

    /// An exponentially distributed time with the given mean, rounded to picoseconds.
    #[inline]
    pub fn exponential(&mut self, mean: Time) -> Time {
        self.exponential_of(mean as f64)
    }

    /// As [`Generator::exponential`], with a mean that is no whole number of picoseconds.
    #[inline]
    pub fn exponential_of(&mut self, mean: f64) -> Time {
        // So much that the sum with less than half of it is rounded to whole numbers.
        const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
        let count = (1 << 53) - (self.0.next_u64() >> 11);
        let time = minus_log(count) * mean;
        let rounded = time + WHOLE;
        // What is near the middle of two picoseconds, or long, is computed again.
        if (time - (rounded - WHOLE)).abs() < 0.5 - mean * ERROR {
            rounded.to_bits().wrapping_sub(WHOLE.to_bits())
        } else {
            exponential(count, mean)
        }
    }
}

/// As [`Generator::exponential`], from a number drawn from 1 to 2^53: this says what it is.
#[cold]
#[inline(never)]
fn exponential(count: u64, mean: f64) -> Time {
    let unit = count as f64 / (1u64 << 53) as f64;
    // By way of a signed number, which takes fewer instructions. What is longer than 106 days becomes 106 days.
    (-libm::log(unit) * mean + 0.5) as i64 as Time
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long the mean is, what is drawn is what the logarithm of the library gives, rounded to the nearest picosecond.
    #[test]
    fn exponential_times_are_those_of_the_library() {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("test");
        for mean in (0..64).map(|shift| 0xb504_f333_f9de_6484 >> shift).chain([0]) {
            for _ in 0..20_000 {
                let count = (1 << 53) - (generator.clone().0.next_u64() >> 11);
                assert_eq!(
                    generator.exponential(mean),
                    exponential(count, mean as f64),
                    "{count}, mean {mean}"
                );
            }
        }
    }
}
