//! The frame-based GCRA: which frames the minimum cell rate covers.

use celltrain_engine::{Instant, Slot, quantity::BitRate};

use super::gcra::BurstGcra;
use crate::{cell::CELL_BITS, contract::Contract};

/// F-GCRA(T, L) (ATM Forum TM 4.1, appendix VI): T = 1/MCR, L = BT + CDVT, where the burst tolerance
/// BT = (MBS - 1)(1/MCR - 1/PCR) lets MBS cells come at the peak rate.
///
/// The limit is tested at the first cell of a frame and holds for the frame: if the cell is too early by more than L,
/// or the user has marked it with CLP = 1, the frame is not eligible for the guarantee and changes nothing. The cells
/// of an eligible frame count one increment each, whenever they come, except for those that the policer discards because they do not
/// conform. State: one time.
#[derive(Debug, Clone)]
pub struct FrameGcra(BurstGcra);

impl FrameGcra {
    /// The F-GCRA of `contract`, whose minimum rate is `mcr`, behind a line of rate `line`.
    #[must_use]
    pub fn new(mcr: BitRate, contract: &Contract, line: BitRate) -> Self {
        let slot = |rate| Slot::of_bits(CELL_BITS, rate);
        let peak = slot(contract.peak_rate(line));
        Self(BurstGcra::new(slot(mcr), peak, contract.mbs, contract.cdvt_mcr.ps()))
    }

    /// Whether the frame is eligible whose first cell comes at `now` with the priority `clp`. Changes nothing.
    #[must_use]
    pub fn is_eligible(&self, clp: bool, now: Instant) -> bool {
        !clp && self.0.is_in_time(now)
    }

    /// Counts a cell of an eligible frame that comes at `now`.
    #[inline]
    pub fn count(&mut self, now: Instant) {
        self.0.count(now);
    }
}
