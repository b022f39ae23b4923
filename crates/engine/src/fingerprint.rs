//! The fingerprint of a run: 64 bits that change when anything that happened changes.

/// An order-sensitive hash of the events of one process; those of all processes are combined in the order of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Fingerprint {
    /// Mixes one word in.
    #[inline]
    pub fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }

    /// The 64 bits, well spread.
    #[must_use]
    pub fn finish(self) -> u64 {
        splitmix(self.0)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input moves every bit of the output.
#[must_use]
pub fn splitmix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
