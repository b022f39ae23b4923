//! The RM cell: what a source asks, what switches grant on its way back.

use super::rate::{Rate, RateCoding};

/// What an RM cell carries (TM 4.0).
///
/// A switch may only lower ER and only set CI and NI, so that is all the methods allow. RA, QL and SN, which
/// only ITU-T I.371 uses, and the CRC are left out. CLP stands in the cell's header, not here: [`super::source::Choice`]
/// tells out-of-rate cells apart.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RmCell {
    backward: bool,
    notification: bool,
    ci: bool,
    ni: bool,
    er: Rate,
    ccr: Rate,
    mcr: Rate,
    coding: RateCoding,
}

impl RmCell {
    /// A forward RM cell of a source that may send at `ccr`, wants `er` and has a right to `mcr`; DIR, BN, CI and NI are 0.
    #[must_use]
    pub fn forward(er: Rate, ccr: Rate, mcr: Rate, coding: RateCoding) -> Self {
        Self {
            backward: false,
            notification: false,
            ci: false,
            ni: false,
            er: coding.carry(er),
            ccr: coding.carry(ccr),
            mcr: coding.carry(mcr),
            coding,
        }
    }

    /// A backward RM cell that answers no forward one: made by a destination or a switch (BN = 1) to say CI = 1.
    #[must_use]
    pub fn notification(er: Rate, mcr: Rate, coding: RateCoding) -> Self {
        let forward = Self::forward(er, Rate::ZERO, mcr, coding);
        Self { backward: true, notification: true, ci: true, ..forward }
    }

    /// This cell on its way back: DIR becomes 1, BN 0.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { backward: true, notification: false, ..self }
    }

    /// DIR: whether the cell travels towards the source.
    #[must_use]
    pub fn is_backward(&self) -> bool {
        self.backward
    }

    /// BN: whether the cell was made by a destination or a switch rather than turned round.
    #[must_use]
    pub fn is_notification(&self) -> bool {
        self.notification
    }

    /// CI: congestion indication, the source must lower its rate.
    #[must_use]
    pub fn ci(&self) -> bool {
        self.ci
    }

    /// NI: no increase.
    #[must_use]
    pub fn ni(&self) -> bool {
        self.ni
    }

    /// ER: the explicit rate, the most the source may send at.
    #[must_use]
    pub fn er(&self) -> Rate {
        self.er
    }

    /// CCR: the source's allowed rate when it sent the cell.
    #[must_use]
    pub fn ccr(&self) -> Rate {
        self.ccr
    }

    /// MCR: the rate the source has a right to.
    #[must_use]
    pub fn mcr(&self) -> Rate {
        self.mcr
    }

    /// Lowers ER to `rate` if it is higher.
    pub fn lower_er(&mut self, rate: Rate) {
        self.er = self.er.min(self.coding.carry(rate));
    }

    /// Sets CI.
    pub fn set_ci(&mut self) {
        self.ci = true;
    }

    /// Sets NI.
    pub fn set_ni(&mut self) {
        self.ni = true;
    }
}
