//! Policing cell by cell: the peak rate and the sustainable rate of CBR and VBR.

use celltrain_engine::{Instant, Slot, quantity::BitRate};

use super::{
    Action, conformance,
    gcra::{BurstGcra, Gcra},
};
use crate::{
    cell::CELL_BITS,
    contract::{Contract, Policing},
    quantity::CellRate,
};

/// Tests each cell for the peak rate, GCRA(1/PCR, CDVT), and for the sustainable rate if the contract has one, GCRA(1/SCR, BT + CDVT)
/// (ATM Forum TM 4.1).
///
/// Both count the cells that pass unchanged (conformance definition VBR.1). Where cells are tagged (VBR.3), the sustainable rate is that of
/// the cells with CLP = 0 alone, and a tagged cell counts for the peak rate. A cell that is discarded changes nothing.
#[derive(Debug, Clone)]
pub(super) struct CellRates {
    peak: Gcra,
    sustained: Option<BurstGcra>,
    tags: bool,
}

impl CellRates {
    pub(super) fn new(contract: &Contract, line: BitRate) -> Self {
        let slot = |rate| Slot::of_bits(CELL_BITS, rate);
        let peak = slot(contract.peak_rate(line));
        let sustained = contract
            .scr
            .map(|CellRate(scr)| BurstGcra::new(slot(scr), peak, contract.mbs, contract.cdvt_pcr.ps()));
        let tags = contract.policing == Policing::TagCells;
        Self { peak: conformance::peak_rate(contract, line), sustained, tags }
    }

    /// What becomes of a cell of priority `clp` that comes at `now`.
    #[inline]
    pub(super) fn conform(&mut self, clp: bool, now: Instant) -> Action {
        if !self.peak.is_in_time(now) {
            return Action::Discard;
        }
        // What the user has marked has no part in the rate beyond which cells are tagged.
        let sustained = self.sustained.as_mut().filter(|_| !(self.tags && clp));
        match sustained {
            Some(gcra) if gcra.is_in_time(now) => gcra.count(now),
            Some(_) if !self.tags => return Action::Discard,
            Some(_) => {
                self.peak.count(now);
                return Action::Tag;
            }
            None => {}
        }
        self.peak.count(now);
        Action::Pass
    }
}
