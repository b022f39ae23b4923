//! Rate control at a port that ABR VCs cross: what its allocator gets to see.
//!
//! The allocator hears of the cells that arrive for the link, and stamps the backward RM cells of the same VCs. Those travel
//! the other way; so they enter this port too, and pass it without delay on their way to theirs.

use celltrain_atm::{
    Cell,
    abr::{Allocator, PortView, RateAllocator},
    cell::{Ecn, Kind},
    with_allocator,
};
use celltrain_engine::{
    Fingerprint, Time,
    stream::{StreamId, Streams, Train},
    time::NEVER,
};

use crate::wire::Wires;

/// What a VC of the port is to its rate control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// ABR under control: where the contents of its forward RM cells wait.
    Controlled { wire: usize },
    /// Served before ABR or with it, and not under control: it leaves that much less of the link. The way back of an ABR VC is
    /// one, as its acknowledgements obey no rate.
    Ahead { abr: bool },
    /// Served after ABR.
    Behind,
}

/// A VC's way back, which passes the port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// Where its cells go on to, and its label there.
    pub(crate) output: StreamId,
    pub(crate) label: u32,
    /// The VC whose way back it is, by its label at this port.
    pub(crate) vc: u32,
    /// Where the contents of its backward RM cells wait.
    pub(crate) wire: usize,
}

/// A VC of the port.
#[derive(Debug, Clone, Copy)]
struct Vc {
    role: Role,
    /// Data cells that have come and of which the allocator has not heard.
    unheard: u64,
}

/// The rate control of a port.
#[derive(Debug)]
pub(crate) struct RateControl {
    /// None if the port only carries ABR VCs.
    allocator: Option<Allocator>,
    /// When its interval ends: asked before every cell, and changed by cells and by the end only.
    next_interval: Time,
    /// By label.
    vcs: Vec<Vc>,
    passes: Vec<Pass>,
    /// How many data cells may still come before the allocator has to hear of those that have come unheard.
    room: u64,
    /// ABR cells in the buffer, the one in transmission included.
    queue: u64,
    /// The most of them since the window began.
    most: u64,
    /// Cells of VCs [`Role::Ahead`] that have come.
    ahead: u64,
    /// Backward RM cells that passed.
    passed: u64,
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
    pub(crate) fn new(allocator: Option<Allocator>, roles: Vec<Role>, passes: Vec<Pass>) -> Self {
        let mut control = Self {
            next_interval: NEVER,
            allocator,
            room: u64::MAX,
            vcs: roles.into_iter().map(|role| Vc { role, unheard: 0 }).collect(),
            passes,
            queue: 0,
            most: 0,
            ahead: 0,
            passed: 0,
        };
        control.look();
        control
    }

    /// Looks up until when, and for how long, the allocator need not be told anything.
    fn look(&mut self) {
        if let Some(any) = &self.allocator {
            (self.next_interval, self.room) =
                with_allocator!(any, allocator => (allocator.next_interval(), allocator.unheard()));
        }
    }

    /// The allocator hears of the cells that have come unheard.
    fn hear(&mut self) {
        if let Some(any) = &mut self.allocator {
            with_allocator!(any, allocator => {
                for (label, vc) in (0..).zip(&mut self.vcs).filter(|(_, vc)| vc.unheard > 0) {
                    allocator.on_cells(label, std::mem::take(&mut vc.unheard));
                }
            });
        }
    }

    /// The ways back that pass the port: what a viewer may read.
    pub(super) fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// ABR cells in the buffer.
    pub(crate) fn queue(&self) -> u64 {
        self.queue
    }

    /// The most of them since the window began.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn begin_window(&mut self) {
        self.most = self.queue;
    }

    /// Backward RM cells that passed.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// So many ABR cells are in the buffer, and at most `most` were since this was last said: for ports that do not tell of each
    /// that comes and goes.
    pub(super) fn note_queue(&mut self, cells: u64, most: u64) {
        self.queue = cells;
        self.most = self.most.max(most);
    }

    fn is_abr(&self, vc: u32) -> bool {
        matches!(self.vcs[vc as usize].role, Role::Controlled { .. } | Role::Ahead { abr: true })
    }

    /// When the allocator's interval ends.
    #[inline]
    pub(super) fn next_interval(&self) -> Time {
        self.next_interval
    }

    /// The allocator's interval ends; `queue` says how many ABR cells are in the buffer.
    pub(super) fn on_interval(&mut self, now: Time, queue: impl Fn() -> u64) {
        self.hear();
        let view = View { queue, priority_cells: self.ahead };
        if let Some(any) = &mut self.allocator {
            with_allocator!(any, allocator => allocator.on_interval(now, &view));
        }
        self.look();
    }

    /// A cell arrives for the link, where `queue` says how many ABR cells are in the buffer; returns the mark with which it goes on.
    #[inline(always)]
    pub(super) fn on_cell(&mut self, now: Time, cell: &Cell, queue: impl Fn() -> u64) -> Ecn {
        let vc = &mut self.vcs[cell.vc as usize];
        if self.room > 0 && cell.kind == Kind::Data && matches!(vc.role, Role::Controlled { .. }) {
            self.room -= 1;
            vc.unheard += 1;
            return cell.ecn;
        }
        self.on_heard_cell(now, cell, queue)
    }

    /// As [`RateControl::on_cell`], where the allocator has to hear of the cell, or is not concerned.
    #[inline(never)]
    fn on_heard_cell(&mut self, now: Time, cell: &Cell, queue: impl Fn() -> u64) -> Ecn {
        match self.vcs[cell.vc as usize].role {
            Role::Controlled { .. } => {}
            Role::Ahead { .. } => {
                self.ahead += 1;
                return cell.ecn;
            }
            Role::Behind => return cell.ecn,
        }
        self.hear();
        let (view, is_rm) = (View { queue, priority_cells: self.ahead }, cell.kind != Kind::Data);
        let Some(any) = &mut self.allocator else { return cell.ecn };
        let mark = with_allocator!(any, allocator => allocator.on_cell(now, cell.vc, is_rm, &view));
        self.look();
        if mark && !is_rm { Ecn::Marked } else { cell.ecn }
    }

    /// The cell that [`RateControl::on_cell`] was told of is a forward RM cell.
    pub(super) fn on_forward_rm(
        &mut self,
        now: Time,
        cell: &Cell,
        queue: impl Fn() -> u64,
        wires: &mut Wires,
    ) {
        if let (Role::Controlled { wire }, Some(any)) = (self.vcs[cell.vc as usize].role, &mut self.allocator)
        {
            let (view, rm) =
                (View { queue, priority_cells: self.ahead }, wires.rm[wire].peek_mut(cell.frame));
            with_allocator!(any, allocator => allocator.on_forward_rm(now, cell.vc, rm, &view));
        }
    }

    /// As [`RateControl::on_cell`] and [`RateControl::on_forward_rm`], where the port tells of each cell that enters and leaves.
    #[inline(never)]
    pub(super) fn on_stored_cell(&mut self, now: Time, cell: &Cell, wires: &mut Wires) -> Ecn {
        let queue = self.queue;
        let ecn = self.on_cell(now, cell, || queue);
        if cell.kind != Kind::Data {
            self.on_forward_rm(now, cell, || queue, wires);
        }
        ecn
    }

    /// Cells of a frame come in a row: tells of as many as can be told of at once, and returns how many; none if the allocator has
    /// to hear of the first.
    pub(super) fn on_row(&mut self, row: &Train<Cell>) -> u32 {
        let vc = &mut self.vcs[row.car.vc as usize];
        let whole = row.last().ps() < self.next_interval;
        let in_time = if whole { row.count } else { row.cars_before(self.next_interval) };
        match vc.role {
            Role::Controlled { .. } => {
                let count = self.room.min(u64::from(in_time));
                self.room -= count;
                vc.unheard += count;
                count as u32
            }
            Role::Ahead { .. } => {
                self.ahead += u64::from(in_time);
                in_time
            }
            Role::Behind => row.count,
        }
    }

    /// A cell of `vc` has entered the buffer.
    pub(super) fn enter(&mut self, vc: u32) {
        self.queue += u64::from(self.is_abr(vc));
        self.most = self.most.max(self.queue);
    }

    /// A cell of `vc` has left the buffer.
    pub(super) fn leave(&mut self, vc: u32) {
        self.queue -= u64::from(self.is_abr(vc));
    }

    /// The backward RM cell number `number`, which arrives as number `place` of the ways back, takes the allocator's answer
    /// along; `queue` says how many ABR cells are in the buffer.
    pub(super) fn stamp(
        &mut self,
        now: Time,
        (place, number): (usize, u32),
        queue: impl Fn() -> u64,
        wires: &mut Wires,
        fingerprint: &mut Fingerprint,
    ) {
        let Pass { vc, wire, .. } = self.passes[place];
        let Some(any) = &mut self.allocator else { return };
        let (view, rm) = (View { queue, priority_cells: self.ahead }, wires.rm[wire].peek_mut(number));
        with_allocator!(any, allocator => allocator.on_backward_rm(now, vc, rm, &view));
        fingerprint.mix(now ^ rm.er().cells().to_bits() ^ u64::from(vc) << 48);
    }

    /// Sends a backward RM cell on.
    pub(super) fn pass(&mut self, place: usize, cell: &Train<Cell>, streams: &mut Streams<Cell>) {
        debug_assert!(cell.count == 1 && cell.car.kind == Kind::BackwardRm, "nothing else takes this way");
        let Pass { output, label, .. } = self.passes[place];
        self.passed += 1;
        let cell = Train { car: Cell { vc: label, ..cell.car }, ..*cell };
        // RM cells join no train, whatever their numbers.
        streams[output].push(0, 0, &cell);
    }
}
