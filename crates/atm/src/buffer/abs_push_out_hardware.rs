//! [`super::abs_push_out`] as its hardware is described: controllers, a stack of addresses for each VC, address
//! registers.
//!
//! It has four parts. The **packet-discard controller** decides about frames and counts the cells of each VC. The **cell
//! dispatcher** writes an accepted cell to an idle address of the cell pool. The **stack controller** keeps, on a stack for
//! each VC, the addresses of illegal frames: those that take, or may take, the VC above its threshold TL. The **push-out
//! controller** holds the addresses of all cells in their order of service, and pops frames off a stack.
//!
//! The victim is the VC with the most illegal frames on its stack, so no search over counters is needed. Frames are popped until
//! more than M cells are gone and there is space, or until the stacks of all other VCs are empty. That is not the VC with the largest
//! excess in cells, and not only until B > 0, so the two descriptions choose differently at times: see the explanation page on push-out.
//!
//! The described registers shift all addresses at once when one is removed. In this implementation each VC has its own list, in
//! the same order, so the cost of a removal does not depend on the number of cells.
//!
//! The description leaves two points open, and the stacks stay correct with these choices. A stack is emptied at the first cell
//! of any admitted frame that finds its VC below TL, not only of one that may take it above; otherwise frames that have long been
//! legal, or were sent, would stay on it below the VC's last frame. The address of a transmitted cell leaves the bottom of its stack,
//! because the address will be used again; the rest of that frame is not popped.

use std::{cmp::Reverse, collections::VecDeque};

use celltrain_engine::Time;

use super::{
    Departure, ParamError, PortContext, PortState, PushOut, Reads, Removed, View,
    abs_push_out::{Params, Space},
    frame::{CellHook, EndMarks, FramePolicy, FrameRule},
    push_out::candidates,
};
use crate::Cell;

/// Where a cell is in the cell pool.
type Address = u32;

/// The policy.
pub type AbsPushOutHardware = FramePolicy<Controllers>;

/// Admits a frame where there is space, and pops frames off the stack with the most of them.
#[derive(Debug, Clone)]
pub struct Controllers {
    space: Space,
    dispatcher: Dispatcher,
    stacks: Vec<Stack>,
    /// The push-out controller's registers: the addresses of each VC's cells in the order of their arrival.
    registers: Vec<VecDeque<Address>>,
    /// While push-out goes on for one cell: the occupancy that the cell found.
    found: Option<u64>,
}

/// The idle addresses of the cell pool.
#[derive(Debug, Clone, Default)]
struct Dispatcher {
    idle: Vec<Address>,
    /// Addresses that were ever in use.
    used: Address,
}

/// The illegal frames of a VC.
#[derive(Debug, Clone, Default)]
struct Stack {
    /// Addresses of their cells and whether each is the first of its frame, the oldest at the bottom (the front).
    entries: VecDeque<(Address, bool)>,
    /// Entries that are the first of their frame.
    frames: usize,
    /// Whether the frame in progress goes on the stack.
    open: bool,
}

impl Dispatcher {
    /// An idle address, which a cell is written to.
    fn write(&mut self) -> Address {
        self.idle.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        })
    }
}

impl Stack {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn push(&mut self, address: Address, first: bool) {
        self.entries.push_back((address, first));
        self.frames += usize::from(first);
    }

    /// Takes `address` off the top, if it is there.
    fn pop(&mut self, address: Address) {
        if let Some(&(_, first)) = self.entries.back().filter(|entry| entry.0 == address) {
            self.entries.pop_back();
            self.frames -= usize::from(first);
        }
    }

    /// Takes `address` off the bottom, if it is there: its cell is sent.
    fn sent(&mut self, address: Address) {
        if let Some(&(_, first)) = self.entries.front().filter(|entry| entry.0 == address) {
            self.entries.pop_front();
            self.frames -= usize::from(first);
        }
    }
}

impl Controllers {
    /// The available buffer space.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The VC that push-out takes a frame from: most illegal frames on its stack, among equals the lowest label.
    fn victim<S: PortState>(&self, port: &View<'_, PushOut, S>, except: u32) -> Option<u32> {
        // Of a frame that is being sent the first cell is gone. A broken one may have no last cell.
        let frames = |&vc: &u32| self.stacks[vc as usize].frames;
        candidates(self.stacks.len(), port, except)
            .filter(|vc| frames(vc) > 0)
            .max_by_key(|vc| (frames(vc), Reverse(*vc)))
    }

    /// A frame of a VC that has `count` in the buffer (NC, which the packet-discard controller counts) is admitted: if it
    /// may take the VC above its threshold, it goes on the stack.
    fn open(&mut self, vc: u32, count: i64) {
        let (stack, threshold) = (&mut self.stacks[vc as usize], self.space.limits.threshold(vc));
        if count < threshold || stack.entries.is_empty() {
            stack.clear();
        }
        stack.open = count.saturating_add(self.space.limits.frame(vc)) >= threshold;
    }

    /// Stores an accepted cell.
    fn store(&mut self, cell: &Cell, first: bool) {
        let address = self.dispatcher.write();
        self.registers[cell.vc as usize].push_back(address);
        let stack = &mut self.stacks[cell.vc as usize];
        if stack.open {
            stack.push(address, first);
        }
    }

    /// The cell at an address that was in a register has left the buffer.
    fn free(&mut self, address: Option<Address>) -> Address {
        let address = address.expect("a cell that leaves the buffer has an address");
        self.dispatcher.idle.push(address);
        address
    }
}

impl FrameRule for Controllers {
    type Params = Params;
    type Needs = PushOut;

    const SUMMARY: &'static str =
        "abs-push-out as its hardware is described: stacks of illegal frames choose the victim.";
    const REFERENCE: &'static str =
        "GFR with tracking of the available buffer space and packet push-out (2001), section 3.3";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer and reserved, \
        its threshold and maximum frame, a stack of the addresses of its cells";
    const ON_CELL: Option<CellHook<Self>> = Some(|rule, cell, first, accepted, _| {
        rule.found = None;
        rule.space.on_cell(cell, first, accepted);
        if accepted {
            rule.store(cell, first);
        }
    });
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let vcs = port.vcs.len();
        Ok(Self {
            space: Space::new(params, port)?,
            dispatcher: Dispatcher::default(),
            stacks: vec![Stack::default(); vcs],
            registers: vec![VecDeque::new(); vcs],
            found: None,
        })
    }

    fn reads(&self) -> Reads {
        Reads::MCR
    }

    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>, _: Time) -> bool {
        let admits = self.space.admits(cell, port);
        if admits {
            self.open(cell.vc, port.vc_occupancy(cell.vc).cast_signed());
        }
        admits
    }

    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        let occupancy = port.occupancy();
        let gone = self.found.map(|found| (found - occupancy).cast_signed());
        let goes_on = gone.is_some_and(|gone| gone <= self.space.limits.frame(cell.vc));
        if !goes_on && !self.space.calls_for_push_out(cell, port) {
            return None;
        }
        self.found.get_or_insert(occupancy);
        // Below a limit of its VC other frames make no room.
        let others = if port.is_vc_full() { None } else { self.victim(port, cell.vc) };
        others.or_else(|| Space::own_frame(cell, port).filter(|_| port.is_full()))
    }

    fn on_departure(&mut self, Departure { cell, .. }: Departure) {
        let first = self.registers[cell.vc as usize].pop_front();
        let address = self.free(first);
        self.stacks[cell.vc as usize].sent(address);
    }

    fn on_push_out(&mut self, removed: Removed) {
        for _ in 0..removed.count {
            let last = self.registers[removed.vc as usize].pop_back();
            let address = self.free(last);
            self.stacks[removed.vc as usize].pop(address);
        }
        self.space.on_push_out(removed);
    }

    fn illegal<S: PortState>(&self, port: &View<'_, PushOut, S>) -> Option<u64> {
        Some(self.space.limits.illegal(port))
    }
}
