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
        let conforms = self.is_in_time(now);
        if conforms {
            self.count(now);
        }
        conforms
    }

    /// Whether a cell that comes at `now` would conform. Changes nothing.
    #[inline]
    #[must_use]
    pub fn is_in_time(&self, now: Instant) -> bool {
        self.expected <= now.delayed(self.limit)
    }

    /// Counts a cell that conforms and comes at `now`.
    #[inline]
    pub fn count(&mut self, now: Instant) {
        self.expected = self.expected.max(now).plus(self.increment);
    }
}

/// What cells may be early through the rounding of slots alone, in picoseconds.
const ROUNDING: Time = 1;

/// GCRA(T, BT + CDVT) of a rate that bursts at the peak rate may exceed for a time (ATM Forum TM 4.1): T = 1/rate, and the burst tolerance
/// BT = (MBS - 1)(1/rate - 1/PCR) lets MBS cells come at the peak rate. State: one time.
#[derive(Debug, Clone)]
pub struct BurstGcra {
    /// Between cells at the rate.
    increment: Slot,
    /// Between cells at the peak rate.
    peak: Slot,
    /// Cells after the first that a burst may have.
    burst: u64,
    /// CDVT.
    tolerance: Time,
    /// When the next cell is expected: the theoretical arrival time.
    expected: Instant,
}

impl BurstGcra {
    /// The GCRA of a rate, a cell of which takes `increment`, under bursts of `mbs` cells at a peak rate, a cell of which takes `peak`.
    #[must_use]
    pub fn new(increment: Slot, peak: Slot, mbs: u32, tolerance: Time) -> Self {
        Self { increment, peak, burst: u64::from(mbs) - 1, tolerance, expected: Instant::default() }
    }

    /// Whether a cell that comes at `now` would conform. Changes nothing.
    #[inline]
    #[must_use]
    pub fn is_in_time(&self, now: Instant) -> bool {
        // `expected <= now + L` with the negative part of L brought to the other side. Slots are rounded up by less than 2^-44 ps each, on
        // either side: a cell that comes just in time is early by no more than that.
        let latest = now.plus_slots(self.increment, self.burst).delayed(self.tolerance + ROUNDING);
        self.expected.plus_slots(self.peak, self.burst) <= latest
    }

    /// Counts a cell that comes at `now`.
    #[inline]
    pub fn count(&mut self, now: Instant) {
        self.expected = self.expected.max(now).plus(self.increment);
    }
}
