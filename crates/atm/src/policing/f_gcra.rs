//! The frame-based GCRA: which frames the minimum cell rate covers.

use celltrain_engine::{Instant, Slot, Time, quantity::BitRate};

use crate::{cell::CELL_BITS, contract::Contract};

/// F-GCRA(T, L) (ATM Forum TM 4.1, appendix VI): T = 1/MCR, L = BT + CDVT, where the burst tolerance
/// BT = (MBS - 1)(1/MCR - 1/PCR) lets MBS cells come at the peak rate.
///
/// The limit is tested at the first cell of a frame and holds for the frame: if the cell is too early by more than L,
/// or the user has marked it with CLP = 1, the frame is not eligible for the guarantee and changes nothing. The cells
/// of an eligible frame count one increment each, whenever they come. State: one time.
#[derive(Debug, Clone)]
pub struct FrameGcra {
    /// Between cells at the minimum rate.
    increment: Slot,
    /// Between cells at the peak rate.
    peak: Slot,
    /// Cells after the first that a burst may have.
    burst: u64,
    tolerance: Time,
    /// When the next cell is expected: the theoretical arrival time.
    expected: Instant,
}

impl FrameGcra {
    /// The F-GCRA of `contract`, whose minimum rate is `mcr`, behind a line of rate `line`.
    #[must_use]
    pub fn new(mcr: BitRate, contract: &Contract, line: BitRate) -> Self {
        Self {
            increment: Slot::of_bits(CELL_BITS, mcr),
            peak: Slot::of_bits(CELL_BITS, contract.peak_rate(line)),
            burst: u64::from(contract.mbs) - 1,
            tolerance: contract.cdvt_mcr.ps(),
            expected: Instant::default(),
        }
    }

    /// Whether the frame is eligible whose first cell comes at `now` with the priority `clp`. Changes nothing.
    #[must_use]
    pub fn is_eligible(&self, clp: bool, now: Instant) -> bool {
        // `expected <= now + L` with the negative part of L brought to the other side.
        let latest = now.plus_slots(self.increment, self.burst).delayed(self.tolerance);
        !clp && self.expected.plus_slots(self.peak, self.burst) <= latest
    }

    /// Counts a cell of an eligible frame that comes at `now`.
    #[inline]
    pub fn count(&mut self, now: Instant) {
        self.expected = self.expected.max(now).plus(self.increment);
    }
}
