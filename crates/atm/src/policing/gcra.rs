//! The generic cell rate algorithm: whether the cells of a VC keep to a rate, given a tolerance.

use celltrain_engine::{Instant, Slot, Time};

/// GCRA(T, L) in the form of virtual scheduling (ITU-T I.371; ATM Forum TM 4.1).
///
/// Each cell is expected one increment T after the cell before was expected, or after it came if it came later. A cell
/// that comes earlier than expected by more than the limit L does not conform, and changes nothing. T is exact to 2^-44
/// ps, so that a source that keeps to its rate conforms at L = 0 however long it sends. State: one time.
#[derive(Debug, Clone)]
pub struct Gcra {
    increment: Slot,
    limit: Time,
    /// When the next cell is expected: the theoretical arrival time.
    expected: Instant,
}

impl Gcra {
    /// GCRA(`increment`, `limit`), the limit in picoseconds. The first cell conforms whenever it comes.
    #[must_use]
    pub fn new(increment: Slot, limit: Time) -> Self {
        Self { increment, limit, expected: Instant::default() }
    }

    /// Whether a cell that comes at `now` conforms. Times do not decrease from call to call.
    #[inline]
    pub fn conforms(&mut self, now: Instant) -> bool {
        let conforms = self.expected <= now.delayed(self.limit);
        if conforms {
            self.expected = self.expected.max(now).plus(self.increment);
        }
        conforms
    }
}
