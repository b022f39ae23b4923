//! Conformance of cells to a GFR contract.

use celltrain_engine::{Instant, Slot, quantity::BitRate};

use super::gcra::Gcra;
use crate::{Cell, cell::CELL_BITS, contract::Contract};

/// Tests cells for the three conditions of GFR (ATM Forum TM 4.1): a cell conforms if it keeps to the peak rate,
/// GCRA(1/PCR, CDVT), has the CLP of its frame's first cell, and is the last of its frame or fewer than MFS cells have come up to it. A frame that is too
/// long shows at cell number MFS, which is not its last.
///
/// A frame conforms if all its cells do. State: one time, and two numbers about the frame at hand.
#[derive(Debug, Clone)]
pub struct Conformance {
    peak: Gcra,
    most: u32,
    /// Cells of the frame at hand.
    cells: u32,
    /// Priority of its first cell.
    clp: bool,
}

impl Conformance {
    /// Tests the cells of a VC under `contract` behind a line of rate `line`.
    #[must_use]
    pub fn new(contract: &Contract, line: BitRate) -> Self {
        Self { peak: peak_rate(contract, line), most: contract.mfs, cells: 0, clp: false }
    }

    /// Whether `cell`, the `first` of its frame or not, conforms at `now`. A cell that keeps to the peak rate counts
    /// for it whatever its other faults.
    #[inline]
    pub fn conforms(&mut self, cell: &Cell, first: bool, now: Instant) -> bool {
        if first {
            (self.cells, self.clp) = (0, cell.clp);
        }
        self.cells = self.cells.saturating_add(1);
        let in_time = self.peak.conforms(now);
        let in_size = cell.is_last() || self.cells < self.most;
        in_time && cell.clp == self.clp && in_size
    }
}

/// GCRA(1/PCR, CDVT) of `contract` behind a line of rate `line`.
pub(super) fn peak_rate(contract: &Contract, line: BitRate) -> Gcra {
    Gcra::new(Slot::of_bits(CELL_BITS, contract.peak_rate(line)), contract.cdvt_pcr.ps())
}
