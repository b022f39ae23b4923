//! What a port stores that queues by VC, and the accounts it keeps of it.

use std::collections::VecDeque;

use celltrain_atm::{Cell, cell::Kind, scheduler::Queues};
use celltrain_engine::Instant;

/// A cell or packet in its queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) cell: Cell,
    /// When it arrived.
    pub(super) at: Instant,
    /// What the scheduler counts: 1 for a cell, bytes for a packet.
    pub(super) size: u32,
    /// What it takes of the buffer, in the unit of the buffer's size.
    pub(super) room: u32,
}

/// A frame of which something is in the queue, or may still come.
#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u32,
    /// Units in the queue.
    units: u32,
    /// Whether some of it has left the queue for transmission.
    begun: bool,
    /// Whether its last cell has arrived.
    complete: bool,
}

/// The queue of a VC.
#[derive(Debug, Clone, Default)]
struct Queue {
    units: VecDeque<Unit>,
    frames: VecDeque<Frame>,
    /// Room taken in the buffer, the unit in transmission included.
    room: u64,
}

/// The queues of all VCs of a port, and what they fill of its buffer.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    queues: Vec<Queue>,
    total: u64,
    by_clp: [u64; 2],
    active: u64,
    /// The largest occupancy since the window began.
    pub(super) most: u64,
}

/// What was taken out of the buffer by pushing a frame out.
#[derive(Debug, Clone, Copy)]
pub(super) struct PushedOut {
    pub(super) units: u32,
    pub(super) complete: bool,
}

impl Queues for Store {
    #[inline]
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        self.queues[vc as usize].units.get(place).map(|unit| unit.size)
    }
}

impl Store {
    pub(super) fn new(vcs: usize) -> Self {
        Self { queues: vec![Queue::default(); vcs], total: 0, by_clp: [0; 2], active: 0, most: 0 }
    }

    /// Room taken by everything in the buffer.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Room taken by `vc`.
    #[inline]
    pub(super) fn of_vc(&self, vc: u32) -> u64 {
        self.queues[vc as usize].room
    }

    /// Room taken by units of a priority.
    #[inline]
    pub(super) fn of_clp(&self, clp: bool) -> u64 {
        self.by_clp[usize::from(clp)]
    }

    /// VCs that take room.
    #[inline]
    pub(super) fn active(&self) -> u64 {
        self.active
    }

    /// Units in the queues; one in transmission has left its queue.
    pub(super) fn waiting(&self) -> u64 {
        self.queues.iter().map(|queue| queue.units.len() as u64).sum()
    }

    /// Units in the queues, VC by VC.
    pub(super) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.queues.iter().flat_map(|queue| &queue.units).map(|unit| &unit.cell)
    }

    /// Units of the last frame of `vc`, if all that has arrived of it is still in the queue.
    pub(super) fn last_frame(&self, vc: u32) -> Option<u64> {
        let frame = self.queues[vc as usize].frames.back()?;
        (!frame.begun && frame.units > 0).then_some(u64::from(frame.units))
    }

    /// Puts a unit at the end of the queue of its VC.
    pub(super) fn enqueue(&mut self, unit: Unit) {
        let (room, clp) = (u64::from(unit.room), usize::from(unit.cell.clp));
        let queue = &mut self.queues[unit.cell.vc as usize];
        self.active += u64::from(queue.room == 0);
        queue.room += room;
        self.total += room;
        self.by_clp[clp] += room;
        self.most = self.most.max(self.total);
        let (number, complete) = (unit.cell.frame, unit.cell.is_last());
        match queue.frames.back_mut() {
            Some(frame) if unit.cell.kind != Kind::Data => frame.units += 1,
            Some(frame) if frame.number == number && !frame.complete => {
                frame.units += 1;
                frame.complete = complete;
            }
            _ => queue.frames.push_back(Frame { number, units: 1, begun: false, complete }),
        }
        queue.units.push_back(unit);
    }

    /// Takes the first unit of `vc` out of its queue for transmission. It keeps its room until it has left.
    pub(super) fn take(&mut self, vc: u32) -> Unit {
        let Queue { units, frames, .. } = &mut self.queues[vc as usize];
        let unit = units.pop_front().expect("the scheduler names a VC with something to send");
        // A frame of which nothing is left stays while more of it may come.
        while frames.len() > 1 && frames[0].units == 0 {
            frames.pop_front();
        }
        let frame = frames.front_mut().expect("a unit in the queue belongs to a frame");
        frame.units -= 1;
        frame.begun = true;
        unit
    }

    /// The last bit of `unit` was sent: its room is free.
    pub(super) fn leave(&mut self, unit: &Unit) {
        self.free(unit.cell.vc, unit.cell.clp, u64::from(unit.room));
    }

    /// Takes the last unit of the last frame of `vc` out of the buffer.
    pub(super) fn push_out(&mut self, vc: u32) -> Unit {
        let Queue { units, frames, .. } = &mut self.queues[vc as usize];
        let unit = units.pop_back().expect("a frame that is pushed out is in the queue");
        let frame = frames.back_mut().expect("and so is its record");
        frame.units -= 1;
        if frame.units == 0 {
            frames.pop_back();
        }
        self.free(vc, unit.cell.clp, u64::from(unit.room));
        unit
    }

    /// What pushing out the last frame of `vc` would remove.
    ///
    /// # Panics
    /// If there is no such frame: the policy asked for what [`Store::last_frame`] denies.
    pub(super) fn pushable(&self, vc: u32) -> PushedOut {
        let frame = self.queues[vc as usize].frames.back().filter(|frame| !frame.begun && frame.units > 0);
        let frame = frame.expect("the policy pushes out a frame that is whole in the queue");
        PushedOut { units: frame.units, complete: frame.complete }
    }

    fn free(&mut self, vc: u32, clp: bool, room: u64) {
        let queue = &mut self.queues[vc as usize];
        queue.room -= room;
        self.total -= room;
        self.by_clp[usize::from(clp)] -= room;
        self.active -= u64::from(queue.room == 0);
    }
}
