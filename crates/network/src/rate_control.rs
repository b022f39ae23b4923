//! Rate control at a port that ABR VCs cross: what its allocator gets to see. An observer of either service.
//!
//! The allocator is notified of the cells that arrive for the link, and stamps the backward RM cells of the same VCs. Those travel
//! along the reverse path; so they enter this port too, and are relayed without delay to their own.

use celltrain_atm::{
    Cell,
    abr::{Allocator, PortView, RateAllocator},
    cell::{Ecn, Kind},
    with_allocator,
};
use celltrain_engine::{
    Fingerprint, Instant, Time,
    stream::{StreamId, Train},
    time::NEVER,
};

use crate::flight::{InFlight, Streams};

/// What a VC of the port is to its rate control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// ABR under control: the payload queue of its forward RM cells.
    Controlled { payloads: usize },
    /// Of higher or the same priority, and not under control: it leaves that much less of the link. The reverse path of an ABR VC
    /// is one, as its acknowledgements obey no rate.
    Uncontrolled,
    /// Of lower priority.
    Lower,
}

/// The reverse path of a VC, whose backward RM cells the port stamps and relays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RmRelay {
    /// Where they go next, and the number of their VC there.
    pub(crate) output: StreamId,
    pub(crate) next_vc: u32,
    /// The VC whose reverse path it is, by its number at this port.
    pub(crate) vc: u32,
    /// The payload queue of its backward RM cells.
    pub(crate) payloads: usize,
}

/// A VC of the port.
#[derive(Debug, Clone, Copy)]
struct Vc {
    role: Role,
    /// Data cells that have arrived and are not reported to the allocator yet.
    unreported: u64,
}

/// The rate control of a port.
#[derive(Debug)]
pub(crate) struct RateControl {
    /// None if the port only carries ABR VCs.
    allocator: Option<Allocator>,
    /// When its interval ends: needed before every cell, and changed by cells and by the end only.
    next_interval: Time,
    /// By number.
    vcs: Vec<Vc>,
    relays: Vec<RmRelay>,
    /// How many data cells may still arrive before the allocator has to know of those that are not reported yet.
    allowance: u64,
    /// What the allowance was when all had been reported.
    granted: u64,
    /// ABR cells in the buffer at the end of the last visit, the one in transmission included.
    queue: u64,
    /// The most of them since the window began.
    most: u64,
    /// Cells of [`Role::Uncontrolled`] VCs that have arrived.
    uncontrolled: u64,
    /// Backward RM cells relayed.
    relayed: u64,
}

/// The port as the allocator sees it, which seldom asks for the queue.
struct View<Q> {
    queue: Q,
    priority_cells: u64,
}

impl<Q: Fn() -> u64> PortView for View<Q> {
    #[inline]
    fn queue(&self) -> u64 {
        (self.queue)()
    }

    #[inline]
    fn priority_cells(&self) -> u64 {
        self.priority_cells
    }
}

impl RateControl {
    pub(crate) fn new(allocator: Option<Allocator>, roles: Vec<Role>, relays: Vec<RmRelay>) -> Self {
        let mut control = Self {
            next_interval: NEVER,
            allocator,
            allowance: u64::MAX,
            granted: u64::MAX,
            vcs: roles.into_iter().map(|role| Vc { role, unreported: 0 }).collect(),
            relays,
            queue: 0,
            most: 0,
            uncontrolled: 0,
            relayed: 0,
        };
        control.refresh();
        control
    }

    /// Learns until when, and for how many cells, the allocator need not be notified.
    fn refresh(&mut self) {
        if let Some(any) = &self.allocator {
            (self.next_interval, self.allowance) =
                with_allocator!(any, allocator => (allocator.next_interval(), allocator.allowance()));
            self.granted = self.allowance;
        }
    }

    /// Reports the cells that are not reported yet.
    fn report(&mut self) {
        // An allocator that wants to know of every cell would have all VCs looked through for each.
        if self.allowance == self.granted {
            return;
        }
        if let Some(any) = &mut self.allocator {
            with_allocator!(any, allocator => {
                for (vc, state) in (0..).zip(&mut self.vcs).filter(|(_, state)| state.unreported > 0) {
                    allocator.on_cells(vc, std::mem::take(&mut state.unreported));
                }
            });
        }
    }

    /// The reverse paths on which the port relays RM cells: what a viewer may read.
    pub(crate) fn relays(&self) -> &[RmRelay] {
        &self.relays
    }

    /// ABR cells in the buffer.
    pub(crate) fn queue(&self) -> u64 {
        self.queue
    }

    /// The most of them since the window began.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    pub(crate) fn begin_window(&mut self) {
        self.most = self.queue;
    }

    /// Backward RM cells relayed.
    pub(crate) fn relayed(&self) -> u64 {
        self.relayed
    }

    /// So many ABR cells are in the buffer, and `most` were since this was last said, if that is more than ever before in the window.
    pub(crate) fn note_queue(&mut self, cells: u64, most: u64) {
        self.queue = cells;
        self.most = self.most.max(cells).max(most);
    }

    /// When the allocator's interval ends.
    #[inline]
    pub(crate) fn next_interval(&self) -> Time {
        self.next_interval
    }

    /// The allocator's interval ends with `queue` ABR cells in the buffer.
    pub(crate) fn on_interval(&mut self, now: Time, queue: u64) {
        self.report();
        let view = View { queue: || queue, priority_cells: self.uncontrolled };
        if let Some(any) = &mut self.allocator {
            with_allocator!(any, allocator => allocator.on_interval(now, &view));
        }
        self.refresh();
    }

    /// A cell arrives for the link, where `queue` says how many ABR cells are in the buffer; the allocator may mark it. `false`: it is on
    /// a reverse path, and of no VC of the link.
    #[inline(always)]
    pub(crate) fn on_cell(
        &mut self,
        now: Time,
        cell: &mut Cell,
        queue: impl Fn() -> u64,
        contents: &mut InFlight,
    ) -> bool {
        let Some(vc) = self.vcs.get_mut(cell.vc as usize) else { return false };
        if self.allowance > 0 && cell.kind == Kind::Data && matches!(vc.role, Role::Controlled { .. }) {
            self.allowance -= 1;
            vc.unreported += 1;
        } else {
            self.on_reported_cell(now, cell, queue, contents);
        }
        true
    }

    /// As [`RateControl::on_cell`], where the allocator has to know of the cell at once, or is not concerned.
    #[inline(never)]
    fn on_reported_cell(
        &mut self,
        now: Time,
        cell: &mut Cell,
        queue: impl Fn() -> u64,
        contents: &mut InFlight,
    ) {
        let payloads = match self.vcs[cell.vc as usize].role {
            Role::Controlled { payloads } => payloads,
            Role::Uncontrolled => return self.uncontrolled += 1,
            Role::Lower => return,
        };
        let is_rm = cell.kind != Kind::Data;
        let unreported = if is_rm && self.allowance > 0 { self.granted - self.allowance } else { 0 };
        if unreported == 0 {
            self.report();
        }
        let view = View { queue, priority_cells: self.uncontrolled };
        let Some(any) = &mut self.allocator else { return };
        let mark = with_allocator!(any, allocator => {
            let mark = allocator.on_cell(now, cell.vc, is_rm, &view);
            if is_rm {
                allocator.on_forward_rm(now, cell.vc, contents.rm[payloads].get_mut(cell.frame), &view);
            }
            mark
        });
        self.refresh();
        self.allowance = self.granted.checked_sub(unreported).expect("an RM cell ends no interval early");
        if mark && !is_rm {
            cell.ecn = Ecn::RateMarked;
        }
    }

    /// A burst of data cells of one frame arrives: notes as many as need not be reported one by one, and returns how many; none if the
    /// allocator has to know of the first.
    pub(crate) fn on_burst(&mut self, burst: &Train<Cell>) -> u32 {
        let vc = &mut self.vcs[burst.item.vc as usize];
        let whole = burst.last().ps() < self.next_interval;
        let in_time =
            if whole { burst.count } else { burst.items_before(Instant::start_of(self.next_interval)) };
        match vc.role {
            Role::Controlled { .. } => {
                let count = self.allowance.min(u64::from(in_time));
                self.allowance -= count;
                vc.unreported += count;
                count as u32
            }
            Role::Uncontrolled => {
                self.uncontrolled += u64::from(in_time);
                in_time
            }
            Role::Lower => in_time,
        }
    }

    /// A backward RM cell arrives on a reverse path: takes the allocator's feedback along and goes on at once. `queue` ABR cells are in
    /// the buffer; `place` is the number of its relay.
    pub(crate) fn relay(
        &mut self,
        place: usize,
        cell: &Train<Cell>,
        queue: u64,
        streams: &mut Streams,
        fingerprint: &mut Fingerprint,
    ) {
        assert!(cell.count == 1 && cell.item.kind == Kind::BackwardRm, "only backward RM cells are relayed");
        let RmRelay { output, next_vc, vc, payloads } = self.relays[place];
        let now = cell.first.ps();
        if let Some(any) = &mut self.allocator {
            let view = View { queue: || queue, priority_cells: self.uncontrolled };
            let rm = streams.contents.rm[payloads].get_mut(cell.item.frame);
            with_allocator!(any, allocator => allocator.on_backward_rm(now, vc, rm, &view));
            fingerprint.mix(now ^ rm.er().cells().to_bits() ^ u64::from(vc) << 48);
        }
        self.relayed += 1;
        let cell = Train { item: Cell { vc: next_vc, ..cell.item }, ..*cell };
        // RM cells join no train, whatever their numbers.
        streams[output].push(0, 0, &cell);
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::abr::{AllocatorName, AllocatorParams, Port, Rate};
    use celltrain_engine::Slot;

    use super::*;

    /// An interval ends before anything else that happens then: a cell that arrives in that picosecond counts in the next one.
    #[test]
    fn a_burst_is_noted_up_to_the_end_of_the_interval() {
        let params = AllocatorParams::of(AllocatorName::Capc);
        let port = Port { link: Rate::of_cells(353_208.0), capacity: u64::MAX, minima: &[Some(Rate::ZERO)] };
        let allocator = Allocator::new(&params, &port).expect("defaults are possible");
        let control =
            || RateControl::new(Some(allocator.clone()), vec![Role::Controlled { payloads: 0 }], Vec::new());
        let (end, slot) = (control().next_interval(), Slot::of_ps(1000));
        for (last, noted) in [(end - 1, 8), (end, 7), (end + 1000, 6)] {
            let first = Instant::start_of(last - 7000);
            let burst = Train { slot, count: 8, ..Train::single(first, Cell::default()) };
            assert_eq!(control().on_burst(&burst), noted, "the last cell {last} ps, the end {end} ps");
        }
    }
}
