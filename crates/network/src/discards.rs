//! The log of what a process discards, if somebody watches.

use celltrain_atm::Cell;
use celltrain_engine::Time;

/// Discards of one process, as it notes them.
#[derive(Debug, Default)]
pub(crate) struct DiscardLog(Vec<Noted>);

/// A [`crate::live::Discard`] under the VCI that the process knows the VC by.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) at: Time,
    pub(crate) cell: Cell,
    pub(crate) count: u32,
    pub(crate) reason: &'static str,
}

/// How many entries are searched for the frame that a discarded cell belongs to: those of VCs that take turns.
const SEARCHED: usize = 32;

impl DiscardLog {
    /// Notes `count` cells of one frame that are lost, from `cell` on. They join those noted before that they are behind: of others the cells
    /// between them are not lost. Cells that are taken out of the buffer (`withdrawn`) join those of the same instant only, as each waits
    /// until then.
    pub(crate) fn add(&mut self, at: Time, cell: &Cell, count: u32, reason: &'static str, withdrawn: bool) {
        let key = |noted: &Cell| (noted.vc, noted.frame, noted.kind);
        let recent = self.0.iter_mut().rev().take(SEARCHED);
        let before = recent.into_iter().find(|noted| key(&noted.cell) == key(cell) && noted.reason == reason);
        match before {
            Some(noted)
                if u32::from(noted.cell.position) + noted.count == u32::from(cell.position)
                    && (noted.at == at || !withdrawn) =>
            {
                noted.count += count;
            }
            _ => self.0.push(Noted { at, cell: *cell, count, reason }),
        }
    }

    /// Hands over what was noted since the last call.
    pub(crate) fn take(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.0)
    }
}
