//! The queues of a port that stores them: one for each VC.

use std::collections::VecDeque;

use celltrain_atm::{Cell, cell::Kind, scheduler::Queues};
use celltrain_engine::Instant;

/// A cell or packet in its queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) cell: Cell,
    /// When it arrived.
    pub(super) at: Instant,
    /// What it takes of the buffer, in the unit of the buffer's size.
    pub(super) size: u32,
    /// Whether a queue of low delay is for it, by the ECN field with which it arrived (RFC 9332, figure 3): a mark that it gets here does
    /// not change its queue.
    pub(super) low_latency: bool,
}

impl Unit {
    /// What a scheduler counts: 1 for a cell, octets for a packet.
    #[inline]
    pub(super) fn load(&self) -> u32 {
        self.cell.octets.max(1)
    }
}

/// A frame of which something is in the queue, or may still come.
#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u32,
    /// Data units in the queue.
    units: u32,
    /// Whether some of it has left the queue for transmission.
    begun: bool,
    /// Whether its last cell has arrived.
    complete: bool,
}

impl Frame {
    /// Whether all that has arrived of it, and that is something, is in the queue.
    fn is_whole(&self) -> bool {
        !self.begun && self.units > 0
    }
}

/// The queue of a VC. Cells that belong to no frame stand between those of frames.
#[derive(Debug, Clone, Default)]
struct Queue {
    units: VecDeque<Unit>,
    frames: VecDeque<Frame>,
}

/// The queues of all VCs of a port.
#[derive(Debug, Clone)]
pub(super) struct Store {
    queues: Vec<Queue>,
    /// Whether frames are followed, for a policy that pushes them out.
    follows_frames: bool,
    /// Units in them.
    waiting: u64,
}

impl Queues for Store {
    #[inline]
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        self.queues[vc as usize].units.get(place).map(Unit::load)
    }

    fn is_low_latency(&self, vc: u32, place: usize) -> bool {
        self.queues[vc as usize].units.get(place).is_some_and(|unit| unit.low_latency)
    }
}

impl Store {
    /// Of `vcs` VCs; `follows_frames`: whether frames may be pushed out.
    pub(super) fn new(vcs: usize, follows_frames: bool) -> Self {
        Self { queues: vec![Queue::default(); vcs], follows_frames, waiting: 0 }
    }

    /// Units in the queues; one in transmission has left its queue.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Units in the queue of `vc`.
    pub(super) fn waiting_of(&self, vc: u32) -> u64 {
        self.queues[vc as usize].units.len() as u64
    }

    /// The units in the queues, VC by VC.
    pub(super) fn units(&self) -> impl Iterator<Item = &Unit> {
        self.queues.iter().flat_map(|queue| &queue.units)
    }

    /// Data units of the last frame of `vc`, if all that has arrived of it is still in the queue.
    ///
    /// # Panics
    /// If frames are not followed.
    pub(super) fn last_frame(&self, vc: u32) -> Option<u64> {
        assert!(self.follows_frames, "the policy of VC {vc} asks for frames, and does not push out");
        let frame = self.queues[vc as usize].frames.back()?;
        frame.is_whole().then_some(u64::from(frame.units))
    }

    /// Puts a unit at the end of the queue of its VC.
    #[inline]
    pub(super) fn enqueue(&mut self, unit: Unit) {
        self.waiting += 1;
        let Queue { units, frames } = &mut self.queues[unit.cell.vc as usize];
        units.push_back(unit);
        if !self.follows_frames || unit.cell.kind != Kind::Data {
            return;
        }
        let (number, complete) = (unit.cell.frame, unit.cell.is_last());
        match frames.back_mut() {
            Some(frame) if frame.number == number && !frame.complete => {
                frame.units += 1;
                frame.complete = complete;
            }
            _ => frames.push_back(Frame { number, units: 1, begun: false, complete }),
        }
    }

    /// A unit is sent as it comes, while nothing waits.
    #[inline]
    pub(super) fn pass(&mut self, cell: &Cell) {
        if !self.follows_frames || cell.kind != Kind::Data {
            return;
        }
        let frames = &mut self.queues[cell.vc as usize].frames;
        match frames.back_mut() {
            Some(frame) if frame.number == cell.frame && !frame.complete => {
                (frame.begun, frame.complete) = (true, cell.is_last());
            }
            _ => {
                frames.clear();
                frames.push_back(Frame {
                    number: cell.frame,
                    units: 0,
                    begun: true,
                    complete: cell.is_last(),
                });
            }
        }
    }

    /// Takes the first unit of `vc` out of its queue for transmission.
    #[inline(always)]
    pub(super) fn take(&mut self, vc: u32) -> Unit {
        let Queue { units, frames } = &mut self.queues[vc as usize];
        let unit = units.pop_front().expect("the scheduler names a VC with something to send");
        self.waiting -= 1;
        if self.follows_frames && unit.cell.kind == Kind::Data {
            // A frame of which nothing is left stays while more of it may come.
            while frames.len() > 1 && frames[0].units == 0 {
                frames.pop_front();
            }
            let frame = frames.front_mut().expect("a data unit in the queue belongs to a frame");
            frame.units -= 1;
            frame.begun = true;
        }
        unit
    }

    /// Takes the last data unit of `vc` out of its queue, which belongs to a frame that is whole there; returns also whether it was
    /// the first of what is there of the frame, and whether the frame had its end mark. Cells behind it that belong to no frame move
    /// up.
    ///
    /// # Panics
    /// If there is no such frame: the policy names one that [`Store::last_frame`] denies.
    pub(super) fn remove_last(&mut self, vc: u32) -> (Unit, bool, bool) {
        let Queue { units, frames } = &mut self.queues[vc as usize];
        let frame = frames.back_mut().filter(|frame| frame.is_whole());
        let frame = frame.expect("the policy pushes out a frame that is whole in its queue");
        frame.units -= 1;
        let (first, complete) = (frame.units == 0, frame.complete);
        if first {
            frames.pop_back();
        }
        let place = units.iter().rposition(|unit| unit.cell.kind == Kind::Data);
        let unit =
            place.and_then(|place| units.remove(place)).expect("the units of a frame are in its queue");
        self.waiting -= 1;
        (unit, first, complete)
    }
}
