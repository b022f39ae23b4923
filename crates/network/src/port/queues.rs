//! The queues of a port that stores them: one for each VC.

use std::collections::VecDeque;

use celltrain_atm::{Cell, cell::Kind, scheduler::Queues};
use celltrain_engine::Instant;

/// A cell or packet in its queue.
#[derive(Debug, Clone, Copy, Default)]
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
    pub(super) fn enqueue(&mut self, unit: &Unit) {
        self.waiting += 1;
        let Queue { units, frames } = &mut self.queues[unit.cell.vc as usize];
        units.push_back(*unit);
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

    /// Takes the first unit of `vc` out of its queue for transmission, and puts it into `unit`.
    #[inline(always)]
    pub(super) fn take(&mut self, vc: u32, unit: &mut Unit) {
        let Queue { units, frames } = &mut self.queues[vc as usize];
        *unit = *units.front().expect("the scheduler names a VC with something to send");
        units.pop_front();
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

#[cfg(test)]
mod tests {
    use celltrain_engine::random::{Generator, Randomness};

    use super::*;

    /// A frame: what of it is in the queue, whether some of it has gone, and whether its end mark has come.
    #[derive(Debug)]
    struct Listed {
        number: u32,
        units: u64,
        gone: bool,
        complete: bool,
    }

    /// A VC: what is in its queue, all its frames but those pushed out, and the cell that comes next.
    #[derive(Debug, Default)]
    struct Model {
        queue: VecDeque<Cell>,
        frames: Vec<Listed>,
        next: Cell,
    }

    impl Model {
        /// The next cell, which belongs to no frame now and then; the rest of a frame may be discarded before it.
        fn arrive(&mut self, vc: u32, generator: &mut Generator) -> Cell {
            if generator.below(5) == 0 {
                return Cell { vc, kind: Kind::ForwardRm, frame: 1_000_000, ..Cell::default() };
            }
            if self.next.position > 0 && generator.below(8) == 0 {
                self.end_frame();
            }
            if self.next.position == 0 {
                self.next.length = 1 + generator.below(4) as u16;
                let number = self.next.frame;
                self.frames.push(Listed { number, units: 0, gone: false, complete: false });
            }
            let cell = Cell { vc, ..self.next };
            self.next.position += 1;
            if cell.is_last() {
                self.end_frame();
            }
            cell
        }

        fn end_frame(&mut self) {
            self.next = Cell { frame: self.next.frame + 1, ..Cell::default() };
        }

        fn frame(&mut self, cell: &Cell) -> Option<&mut Listed> {
            self.frames.iter_mut().rfind(|frame| cell.kind == Kind::Data && frame.number == cell.frame)
        }

        fn last_frame(&self) -> Option<u64> {
            self.frames.last().filter(|frame| frame.units > 0 && !frame.gone).map(|frame| frame.units)
        }
    }

    fn unit(cell: Cell) -> Unit {
        Unit { cell, at: Instant::default(), size: 1, low_latency: false }
    }

    /// A cell arrives, to be sent at once if `passes`.
    fn arrive(store: &mut Store, model: &mut Model, cell: Cell, passes: bool) {
        if let Some(frame) = model.frame(&cell) {
            frame.units += u64::from(!passes);
            frame.gone |= passes;
            frame.complete = cell.is_last();
        }
        if passes {
            store.pass(&cell);
        } else {
            store.enqueue(&unit(cell));
            model.queue.push_back(cell);
        }
    }

    fn take(store: &mut Store, vc: u32) -> Cell {
        let mut unit = Unit::default();
        store.take(vc, &mut unit);
        unit.cell
    }

    /// The first cell is sent, if there is one.
    fn send(store: &mut Store, model: &mut Model, vc: u32) {
        let Some(cell) = model.queue.pop_front() else { return };
        assert_eq!(take(store, vc), cell);
        if let Some(frame) = model.frame(&cell) {
            frame.units -= 1;
            frame.gone = true;
        }
    }

    /// The last frame is pushed out, if it is whole; the policy discards the rest of it.
    fn push_out(store: &mut Store, model: &mut Model, vc: u32) {
        let Some(units) = model.last_frame() else { return };
        let frame = model.frames.pop().expect("the last frame");
        for left in (0..units).rev() {
            let place = model.queue.iter().rposition(|cell| cell.kind == Kind::Data);
            let cell = place.and_then(|place| model.queue.remove(place)).expect("a cell of the frame");
            let (unit, first, complete) = store.remove_last(vc);
            assert_eq!((unit.cell, first, complete), (cell, left == 0, frame.complete));
        }
        if model.next.frame == frame.number {
            model.end_frame();
        }
    }

    /// A frame can be pushed out if something of it is in its queue and nothing of it has left: a list of all frames says the same,
    /// whatever came between, waited or not, was sent or pushed out.
    #[test]
    fn a_frame_is_whole_until_some_of_it_has_gone() {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("queues");
        let (mut store, mut models) = (Store::new(2, true), [Model::default(), Model::default()]);
        let mut whole = 0;
        for _ in 0..20_000 {
            let vc = generator.below(2) as u32;
            let waiting = models.iter().any(|model| !model.queue.is_empty());
            let model = &mut models[vc as usize];
            match generator.below(8) {
                0..4 => {
                    let cell = model.arrive(vc, &mut generator);
                    let passes = !waiting && generator.below(2) == 0;
                    arrive(&mut store, model, cell, passes);
                }
                4..7 => send(&mut store, model, vc),
                _ => push_out(&mut store, model, vc),
            }
            for (vc, model) in (0..).zip(&models) {
                assert_eq!(store.last_frame(vc), model.last_frame(), "VC {vc}: {model:?}");
                assert_eq!(store.waiting_of(vc), model.queue.len() as u64);
                whole += u64::from(model.last_frame().is_some());
            }
            let held: Vec<_> = models.iter().flat_map(|model| &model.queue).collect();
            assert!(store.units().map(|unit| &unit.cell).eq(held.iter().copied()));
            assert_eq!(store.waiting(), held.len() as u64);
        }
        assert!(whole > 2000, "{whole}");
    }

    /// Only policies that push out need to know of frames.
    #[test]
    fn frames_are_followed_for_policies_that_push_out_alone() {
        let mut store = Store::new(1, false);
        let cells = [Kind::Data, Kind::ForwardRm].map(|kind| Cell { length: 2, kind, ..Cell::default() });
        for cell in cells {
            store.pass(&cell);
            store.enqueue(&unit(cell));
        }
        assert!(store.queues[0].frames.is_empty());
        assert_eq!(take(&mut store, 0), cells[0]);
    }
}
