//! Rate control at a port that ABR VCs cross: what its allocator gets to see.
//!
//! The allocator hears of the cells that arrive for the link, and stamps the backward RM cells of the same VCs. Those travel
//! the other way; so the cells of the way back enter this port too, and pass it without delay on their way to theirs.

use celltrain_atm::{
    Cell,
    abr::{Allocator, PortView, RateAllocator},
    cell::{Ecn, Kind},
    with_allocator,
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, Time,
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

/// The rate control of a port.
#[derive(Debug)]
pub(crate) struct RateControl {
    /// None if the port only carries ABR VCs.
    allocator: Option<Allocator>,
    /// When its interval ends: asked before every cell, and changed by cells and by the end only.
    next_interval: Time,
    /// By label.
    roles: Vec<Role>,
    passes: Vec<Pass>,
    /// The latest time at which the port looked at its queue.
    now: Instant,
    /// ABR cells in the buffer, the one in transmission included.
    queue: u64,
    /// The most of them since the window began.
    most: u64,
    /// Cells of VCs [`Role::Ahead`] that have come.
    ahead: u64,
    /// Cells that passed on their way back.
    passed: u64,
    /// Number of the last cell that passed; the trains of a way back do not join here.
    number: u64,
}

/// Between the numbers of cells that are not on one grid of slots.
const APART: u64 = 1 << 32;

impl RateControl {
    pub(crate) fn new(allocator: Option<Allocator>, roles: Vec<Role>, passes: Vec<Pass>) -> Self {
        let next_interval = allocator
            .as_ref()
            .map_or(NEVER, |any| with_allocator!(any, allocator => allocator.next_interval()));
        Self {
            next_interval,
            allocator,
            roles,
            passes,
            now: Instant::default(),
            queue: 0,
            most: 0,
            ahead: 0,
            passed: 0,
            number: 0,
        }
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

    /// Cells that passed on their way back.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Sees how many ABR cells are in the buffer at `at`, where the port can say so and does not tell of each that comes and goes.
    /// Cells of the same picosecond may come in any order of its fractions; time does not go back by them.
    #[inline]
    pub(super) fn see(&mut self, at: Instant, cells: impl FnOnce(Instant) -> u64) {
        self.now = self.now.max(at);
        self.queue = cells(self.now);
    }

    /// So many ABR cells were in the buffer at some time.
    pub(super) fn note_most(&mut self, cells: u64) {
        self.most = self.most.max(cells);
    }

    fn view(&self) -> PortView {
        PortView { queue: self.queue, priority_cells: self.ahead }
    }

    fn is_abr(&self, vc: u32) -> bool {
        matches!(self.roles[vc as usize], Role::Controlled { .. } | Role::Ahead { abr: true })
    }

    /// When the allocator's interval ends.
    #[inline]
    pub(super) fn next_interval(&self) -> Time {
        self.next_interval
    }

    /// The allocator's interval ends.
    pub(super) fn on_interval(&mut self, now: Time) {
        let view = self.view();
        if let Some(any) = &mut self.allocator {
            with_allocator!(any, allocator => {
                allocator.on_interval(now, &view);
                self.next_interval = allocator.next_interval();
            });
        }
    }

    /// Whether the VC is not under control, and goes before ABR or with it.
    pub(super) fn is_ahead(&self, vc: u32) -> bool {
        matches!(self.roles[vc as usize], Role::Ahead { .. })
    }

    /// Cells of a VC come that [`RateControl::is_ahead`], the last one at `last`.
    pub(super) fn count_ahead(&mut self, cells: u32, last: Instant) {
        self.ahead += u64::from(cells);
        self.now = self.now.max(last);
    }

    /// Whether the allocator may mark cells.
    pub(super) fn marks(&self) -> bool {
        fn of<A: RateAllocator>(_: &A) -> bool {
            A::MARKS
        }
        self.allocator.as_ref().is_some_and(|any| with_allocator!(any, allocator => of(allocator)))
    }

    /// A cell arrives for the link; returns the mark with which it goes on.
    #[inline]
    pub(super) fn on_cell(&mut self, now: Time, cell: &Cell, wires: &mut Wires) -> Ecn {
        let wire = match self.roles[cell.vc as usize] {
            Role::Controlled { wire } => wire,
            Role::Ahead { .. } => {
                self.ahead += 1;
                return cell.ecn;
            }
            Role::Behind => return cell.ecn,
        };
        let (view, is_rm) = (self.view(), cell.kind != Kind::Data);
        let Some(any) = &mut self.allocator else { return cell.ecn };
        with_allocator!(any, allocator => {
            let mark = allocator.on_cell(now, cell.vc, is_rm, &view);
            self.next_interval = allocator.next_interval();
            if is_rm {
                allocator.on_forward_rm(now, cell.vc, wires.rm[wire].peek_mut(cell.frame), &view);
            }
            if mark && !is_rm { Ecn::Marked } else { cell.ecn }
        })
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

    /// A backward RM cell, which arrives as number `place` of the ways back, takes the allocator's answer along.
    pub(super) fn stamp(
        &mut self,
        now: Time,
        place: usize,
        number: u32,
        wires: &mut Wires,
        fingerprint: &mut Fingerprint,
    ) {
        let (view, Pass { vc, wire, .. }) = (self.view(), self.passes[place]);
        let Some(any) = &mut self.allocator else { return };
        let rm = wires.rm[wire].peek_mut(number);
        with_allocator!(any, allocator => allocator.on_backward_rm(now, vc, rm, &view));
        fingerprint.mix(now ^ rm.er().cells().to_bits() ^ u64::from(vc) << 48);
    }

    /// Sends the cells of a way back on.
    pub(super) fn pass(
        &mut self,
        place: usize,
        train: &Train<Cell>,
        slot: Slot,
        streams: &mut Streams<Cell>,
    ) {
        let Pass { output, label, .. } = self.passes[place];
        debug_assert!(train.count == 1 || streams[output].slot() == slot, "a way back keeps the grid");
        self.passed += u64::from(train.count);
        self.number += APART;
        let first = self.number;
        self.number += train.slots_to(train.count - 1);
        let train = Train { car: Cell { vc: label, ..train.car }, ..*train };
        streams[output].push(first, self.number, &train);
    }
}
