//! A hash for names of things, the same on every machine; the build script uses it too.

/// FNV-1a with 64 bits (Fowler, Noll and Vo), of a text that may come in parts.
#[derive(Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// 16 hexadecimal digits.
    pub(crate) fn digits(&self) -> String {
        format!("{:016x}", self.0)
    }
}
