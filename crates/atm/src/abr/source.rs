//! The ABR source: sends cells no faster than its allowed cell rate (ACR), asks the network for a rate by forward RM
//! cells (FRM) among the data, and follows the backward ones (BRM) that return.
//!
//! It does no sending itself. Its host says what waits, asks [`Source::next_time`], and at that time takes what
//! [`Source::send`] chooses. The rules are those of TM 4.0 (source behaviour); their numbers here are those of its list.
//! Use-it-or-lose-it (rule 13), which is optional there, is left out.

use celltrain_engine::{Instant, Slot, Time, time::NEVER};

use super::{Params, rate::Rate, rm::RmCell};
use crate::catalogue::ParamError;

/// In-rate cells that must have been sent since the last FRM before Trm calls for another (Mrm, fixed by TM 4.0).
const MRM: u32 = 2;

/// What waits to be sent on a connection, data of its own and BRMs of the connection in the other direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// A data cell waits.
    pub data: bool,
    /// A backward RM cell waits.
    pub brm: bool,
}

impl Waiting {
    fn any(self) -> bool {
        self.data || self.brm
    }
}

/// The cell to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// This forward RM cell, in rate (CLP = 0).
    Frm(RmCell),
    /// This forward RM cell, out of rate (CLP = 1).
    OutOfRateFrm(RmCell),
    /// The backward RM cell that waits (CLP = 0).
    Brm,
    /// The data cell that waits, with CLP = 0 and no EFCI mark.
    Data,
    /// None: it is not yet time, or nothing waits.
    Nothing,
}

/// Data cells sent at an unchanged rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// When the first of them goes.
    pub first: Instant,
    /// From each to the next.
    pub spacing: Slot,
    /// How many there are.
    pub count: u32,
}

/// Counters of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// In-rate FRMs sent.
    pub frms: u64,
    /// Out-of-rate FRMs sent.
    pub out_of_rate_frms: u64,
    /// BRMs sent, for the connection in the other direction.
    pub brms: u64,
    /// Data cells sent.
    pub data: u64,
    /// BRMs received.
    pub answers: u64,
    /// Times the rate fell back to the ICR after a pause (rule 5).
    pub pauses: u64,
    /// Times the rate fell for want of BRMs (rule 6).
    pub cutoffs: u64,
}

/// The state that the rules change.
#[derive(Debug, Clone)]
struct State {
    acr: Rate,
    /// Distance of in-rate cells at the ACR; `None` if none may be sent.
    spacing: Option<Slot>,
    /// When the last in-rate cell was due, to the fraction of a picosecond; none was sent yet if `None`.
    last_cell: Option<Instant>,
    /// When the last in-rate FRM was sent.
    last_frm: Time,
    /// In-rate cells sent since the last in-rate FRM, which is not counted.
    since_frm: u32,
    /// Whether one of them was a BRM.
    brm_since_frm: bool,
    /// In-rate FRMs sent since the last BRM with BN = 0 arrived.
    unanswered: u32,
    /// When the next out-of-rate FRM may be sent.
    next_out_of_rate: Time,
}

/// The source of one ABR connection.
#[derive(Debug, Clone)]
pub struct Source {
    params: Params,
    pcr: Rate,
    icr: Rate,
    crm: u32,
    /// Distance of out-of-rate FRMs.
    tagged: Option<Slot>,
    state: State,
    stats: Stats,
}

impl Source {
    /// A source that has sent nothing yet, on a link of `link` cells a second.
    ///
    /// # Errors
    /// A parameter outside its range, or a minimum rate above the peak.
    pub fn new(params: &Params, link: Rate) -> Result<Self, ParamError> {
        let pcr = params.pcr.unwrap_or(link).min(link);
        params.check(pcr)?;
        let icr = params.initial(pcr);
        Ok(Self {
            pcr,
            icr,
            crm: params.crm.unwrap_or((params.tbe / params.nrm).max(1)),
            tagged: params.tcr.spacing().filter(|_| params.out_of_rate),
            state: State {
                acr: icr,
                spacing: icr.spacing(),
                last_cell: None,
                last_frm: 0,
                since_frm: 0,
                brm_since_frm: false,
                unanswered: 0,
                next_out_of_rate: 0,
            },
            stats: Stats::default(),
            params: params.clone(),
        })
    }

    /// The allowed cell rate.
    #[must_use]
    pub fn acr(&self) -> Rate {
        self.state.acr
    }

    /// What the source has done so far.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// When [`Source::send`] will choose a cell if `waiting` stays as it is: possibly a time that has passed; [`NEVER`] if
    /// it will not. Ask again when something waits that did not, and after every BRM.
    #[must_use]
    pub fn next_time(&self, waiting: Waiting) -> Time {
        self.next_in_rate(waiting).min(self.next_out_of_rate(waiting))
    }

    /// Chooses what to send at `now`; the caller sends it at once. Times must not decrease from call to call.
    pub fn send(&mut self, now: Time, waiting: Waiting) -> Choice {
        if now >= self.next_in_rate(waiting) {
            return self.send_in_rate(now, waiting);
        }
        if now >= self.next_out_of_rate(waiting) {
            // Distances count from when the cell goes, not from when it might have gone: never above the TCR.
            let next = self.tagged.map(|slot| Instant::at(now).plus(slot).ps());
            self.state.next_out_of_rate = next.unwrap_or(NEVER);
            self.stats.out_of_rate_frms += 1;
            return Choice::OutOfRateFrm(self.forward_rm());
        }
        Choice::Nothing
    }

    /// As if [`Source::send`] were asked at `now` and then at the time of every cell before `until`, for at most `most` data cells,
    /// which must wait, and no BRM with them: sends those that go one after another before any other cell; none if another
    /// cell is first.
    pub fn send_burst(&mut self, now: Time, most: u32, until: Time) -> Option<Burst> {
        let (due, spacing) = (self.due()?, self.state.spacing?);
        let first = if due.ps() < now { Instant::at(now) } else { due };
        let count = self.count_row(now, first, spacing, most, until);
        if count == 0 {
            return None;
        }
        self.state.last_cell = Some(first.plus_slots(spacing, u64::from(count - 1)));
        self.state.since_frm += count;
        self.stats.data += u64::from(count);
        Some(Burst { first, spacing, count })
    }

    fn count_row(&self, now: Time, first: Instant, spacing: Slot, most: u32, until: Time) -> u32 {
        let state = &self.state;
        if state.last_cell.is_none() {
            return 0;
        }
        // An in-rate cell goes before an out-of-rate FRM of the same time.
        let out_of_rate = self.next_out_of_rate(Waiting { data: true, brm: false }).max(now);
        let until = until.min(out_of_rate.saturating_add(1));
        let trm = state.last_frm.saturating_add(self.params.trm.ps());
        let sent = state.since_frm;
        let end = self.params.nrm.saturating_sub(1).min(sent.saturating_add(most));
        let whole = end.saturating_sub(sent);
        // Mostly the last one goes in time, even with every fraction rounded up, and so do all before it.
        let longest = spacing.ps().saturating_add(1).saturating_mul(u64::from(whole));
        if first.ps().saturating_add(longest) < until.min(trm) {
            return whole;
        }
        let mut due = first;
        for number in sent..end {
            if due.ps() >= until || (number >= MRM && due.ps() >= trm) {
                return number - sent;
            }
            due = due.plus(spacing);
        }
        whole
    }

    /// Follows a BRM (rules 8 and 9).
    pub fn on_brm(&mut self, rm: &RmCell) {
        self.stats.answers += 1;
        if !rm.is_notification() {
            self.state.unanswered = 0;
        }
        let acr = self.state.acr;
        let acr = match (rm.ci(), rm.ni()) {
            (true, _) => Rate::of_cells(acr.cells() - acr.cells() * self.params.rdf),
            (false, false) => Rate::of_cells(acr.cells() + self.pcr.cells() * self.params.rif),
            (false, true) => acr,
        };
        self.set_acr(acr.min(rm.er()));
    }

    /// Moves the ACR to `rate`, as near as MCR and PCR allow (rule 1).
    fn set_acr(&mut self, rate: Rate) {
        let acr = rate.min(self.pcr).max(self.params.mcr);
        if acr != self.state.acr {
            self.state.acr = acr;
            self.state.spacing = acr.spacing();
        }
    }

    /// When the next in-rate cell is due: 1/ACR after the one before, at the ACR of now.
    fn due(&self) -> Option<Instant> {
        match (self.state.last_cell, self.state.spacing) {
            (_, None) => None,
            (None, _) => Some(Instant::at(0)),
            (Some(last), Some(spacing)) => Some(last.plus(spacing)),
        }
    }

    fn next_in_rate(&self, waiting: Waiting) -> Time {
        let Some(due) = self.due().map(Instant::ps) else { return NEVER };
        if waiting.any() || self.nrm_reached() {
            due
        } else if self.state.since_frm >= MRM {
            due.max(self.state.last_frm.saturating_add(self.params.trm.ps()))
        } else {
            NEVER
        }
    }

    fn next_out_of_rate(&self, waiting: Waiting) -> Time {
        let asks = self.tagged.is_some() && waiting.any() && self.state.acr < self.params.tcr;
        if asks { self.state.next_out_of_rate } else { NEVER }
    }

    fn nrm_reached(&self) -> bool {
        self.state.since_frm + 1 >= self.params.nrm
    }

    /// Whether the next in-rate cell has to be an FRM (rules 2 and 3a).
    fn frm_is_next(&self, now: Time) -> bool {
        let state = &self.state;
        let long_ago = now - state.last_frm >= self.params.trm.ps();
        state.last_cell.is_none() || self.nrm_reached() || (state.since_frm >= MRM && long_ago)
    }

    fn send_in_rate(&mut self, now: Time, waiting: Waiting) -> Choice {
        let due = self.due().expect("an in-rate cell is sent only when one is due");
        let choice = self.choose(now, waiting);
        // On time the fraction of a picosecond is kept, so that distances do not drift by their rounding.
        self.state.last_cell = Some(if due.ps() == now { due } else { Instant::at(now) });
        choice
    }

    /// The order of in-rate cells (rule 3).
    fn choose(&mut self, now: Time, waiting: Waiting) -> Choice {
        if self.frm_is_next(now) {
            return Choice::Frm(self.next_frm(now));
        }
        self.state.since_frm += 1;
        // One BRM for each FRM while data waits, any number while none does.
        if waiting.brm && !(self.state.brm_since_frm && waiting.data) {
            self.state.brm_since_frm = true;
            self.stats.brms += 1;
            return Choice::Brm;
        }
        self.stats.data += 1;
        Choice::Data
    }

    /// The in-rate FRM that goes at `now`, after the rate has fallen as rules 5 and 6 say. The cells after it obey the new
    /// rate; it goes itself when it was due at the old one.
    fn next_frm(&mut self, now: Time) -> RmCell {
        let started = self.state.last_cell.is_some();
        if started && self.state.acr > self.icr && now - self.state.last_frm > self.params.adtf.ps() {
            self.stats.pauses += 1;
            self.set_acr(self.icr);
        }
        if self.state.unanswered >= self.crm && self.params.cdf > 0.0 {
            self.stats.cutoffs += 1;
            let acr = self.state.acr.cells();
            self.set_acr(Rate::of_cells(acr - acr * self.params.cdf));
        }
        self.state.last_frm = now;
        self.state.since_frm = 0;
        self.state.brm_since_frm = false;
        self.state.unanswered = self.state.unanswered.saturating_add(1);
        self.stats.frms += 1;
        self.forward_rm()
    }

    /// Asks for the PCR and says what rate is in force (rules 7 and 10).
    fn forward_rm(&self) -> RmCell {
        RmCell::forward(self.pcr, self.state.acr, self.params.mcr, self.params.rate_coding)
    }
}
