//! The queues of a port that stores them: one for each VC, or one for all where units are sent in the order of their arrival.

mod single;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use celltrain_atm::{Cell, cell::Kind, scheduler::Queues};
use celltrain_engine::Instant;

use self::single::SingleQueue;

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
    /// Whether it began a frame as it came, where a policy decides at the head of the queue: the unit before it had an end mark.
    pub(super) first: bool,
}

impl Unit {
    /// As [`Cell::load`].
    #[inline]
    pub(super) fn load(&self) -> u32 {
        self.cell.load()
    }
}

/// The last frame of a VC, and the last of which something was sent.
///
/// The data units of a frame come one after another on its VC, and the next frame has another number: hosts number them so, and links that
/// change the order of packets number them anew.
#[derive(Debug, Clone, Copy, Default)]
struct Frames {
    /// The number of the frame that came last, of those that were not pushed out.
    last: u32,
    /// Its data units in the queue.
    units: u32,
    /// The number of the frame to which the data unit belongs that was sent last.
    sent: Option<u32>,
}

impl Frames {
    /// Whether all that has arrived of the last frame, and that is something, is in the queue.
    #[inline]
    fn has_whole(&self) -> bool {
        self.units > 0 && self.sent != Some(self.last)
    }

    /// A data unit of the frame `number` enters the queue.
    #[inline(always)]
    fn enter(&mut self, number: u32) {
        self.units = if number == self.last { self.units + 1 } else { 1 };
        self.last = number;
    }

    /// A data unit of the frame `number` leaves the queue to be sent.
    #[inline(always)]
    fn leave(&mut self, number: u32) {
        if number == self.last {
            self.units = self.units.checked_sub(1).expect("a data unit in the queue belongs to a frame");
        }
        self.sent = Some(number);
    }
}

/// A queue for each VC.
#[derive(Debug, Clone)]
struct ByVc {
    queues: Vec<Queue>,
    /// The load of all.
    load: u64,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    units: VecDeque<Unit>,
    /// What a scheduler counts of them together.
    load: u64,
}

impl ByVc {
    /// The units of `vc`, in their order.
    #[inline]
    fn units(&self, vc: u32) -> &VecDeque<Unit> {
        &self.queues[vc as usize].units
    }

    #[inline(always)]
    fn push(&mut self, unit: &Unit) {
        let queue = &mut self.queues[unit.cell.vc as usize];
        queue.units.push_back(*unit);
        queue.load += u64::from(unit.load());
        self.load += u64::from(unit.load());
    }

    /// Takes the first unit of `vc` out, and puts it into `unit`.
    #[inline(always)]
    fn take(&mut self, vc: u32, unit: &mut Unit) {
        let queue = &mut self.queues[vc as usize];
        *unit = *queue.units.front().expect("the scheduler names a VC with something to send");
        queue.units.pop_front();
        queue.load -= u64::from(unit.load());
        self.load -= u64::from(unit.load());
    }

    /// As [`Store::remove_first`]; `sent` is the frame of the last unit that has left.
    fn remove_first(&mut self, vc: u32, sent: Option<u32>, frame: &mut FirstFrame) -> Option<(Unit, usize)> {
        loop {
            let place = frame.place as usize;
            let Unit { cell, .. } = self.units(vc).get(place)?;
            if frame.takes(cell, sent)? {
                let unit = self.remove(vc, place)?;
                return Some((unit, self.units(vc).len() - place));
            }
            frame.place += 1;
        }
    }

    /// Takes a unit of `vc` out of its place.
    fn remove(&mut self, vc: u32, place: usize) -> Option<Unit> {
        let queue = &mut self.queues[vc as usize];
        let unit = queue.units.remove(place)?;
        queue.load -= u64::from(unit.load());
        self.load -= u64::from(unit.load());
        Some(unit)
    }
}

/// The first frame of a VC, while its units are taken out of the queue.
#[derive(Debug, Default)]
pub(super) struct FirstFrame {
    number: Option<u32>,
    /// How far the queue was looked through, and the place of the VC's last unit in front of that, where one queue has all.
    place: u32,
    before: Option<u32>,
    /// Whether the unit that was taken last has an end mark.
    has_end: bool,
    /// Whether more of it may come.
    pub(super) goes_on: bool,
}

impl FirstFrame {
    /// Whether `cell`, the next of its VC in the queue, belongs to it; `None` if the cell begins the frame behind it. `sent` is the frame of
    /// the last unit that has left.
    fn takes(&mut self, cell: &Cell, sent: Option<u32>) -> Option<bool> {
        if cell.kind != Kind::Data || Some(cell.frame) == sent {
            return Some(false);
        }
        (*self.number.get_or_insert(cell.frame) == cell.frame).then_some(true)
    }
}

/// The units that wait. Cells that belong to no frame stand between those of frames.
#[derive(Debug, Clone)]
enum Waiting {
    /// In a queue for each VC: a scheduler says which is served next.
    ByVc(ByVc),
    /// In one queue for all, in the order in which they came.
    Together(SingleQueue),
}

/// The queues of all VCs of a port.
#[derive(Debug, Clone)]
pub(super) struct Store {
    units: Waiting,
    /// Of each VC, for a policy that pushes frames out; otherwise empty.
    frames: Vec<Frames>,
    /// Units in the queues.
    waiting: u64,
}

/// Where units of all VCs are in one queue, no scheduler asks.
impl Queues for Store {
    #[inline]
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        let Waiting::ByVc(queues) = &self.units else { return None };
        queues.units(vc).get(place).map(Unit::load)
    }

    fn is_low_latency(&self, vc: u32, place: usize) -> bool {
        let Waiting::ByVc(queues) = &self.units else { return false };
        queues.units(vc).get(place).is_some_and(|unit| unit.low_latency)
    }
}

impl Store {
    /// Of `vcs` VCs; `together`: whether units are sent in the order of their arrival, `follows_frames`: whether frames may be pushed out.
    pub(super) fn new(vcs: usize, together: bool, follows_frames: bool) -> Self {
        let units = if together {
            Waiting::Together(SingleQueue::new(vcs, follows_frames))
        } else {
            Waiting::ByVc(ByVc { queues: vec![Queue::default(); vcs], load: 0 })
        };
        Self { units, frames: vec![Frames::default(); if follows_frames { vcs } else { 0 }], waiting: 0 }
    }

    /// Units in the queues; one in transmission has left its queue.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Units in the queue of `vc`.
    pub(super) fn waiting_of(&self, vc: u32) -> u64 {
        match &self.units {
            Waiting::ByVc(queues) => queues.units(vc).len() as u64,
            Waiting::Together(queue) => queue.units().filter(|unit| unit.cell.vc == vc).count() as u64,
        }
    }

    /// The units in the queues, those of a VC in their order.
    pub(super) fn units(&self) -> impl Iterator<Item = &Unit> {
        let (queues, single) = match &self.units {
            Waiting::ByVc(queues) => (&queues.queues[..], None),
            Waiting::Together(queue) => (&[][..], Some(queue)),
        };
        queues.iter().flat_map(|queue| &queue.units).chain(single.into_iter().flat_map(SingleQueue::units))
    }

    /// Data units of the last frame of `vc`, if all that has arrived of it is still in the queue.
    ///
    /// # Panics
    /// If frames are not followed.
    pub(super) fn last_frame(&self, vc: u32) -> Option<u64> {
        let frames = self.frames.get(vc as usize);
        let frames =
            frames.unwrap_or_else(|| panic!("the policy of VC {vc} asks for frames, and does not push out"));
        frames.has_whole().then_some(u64::from(frames.units))
    }

    /// Those of the VC of `cell`, if that belongs to a frame and frames are followed.
    #[inline(always)]
    fn frames_of(&mut self, cell: &Cell) -> Option<&mut Frames> {
        self.frames.get_mut(cell.vc as usize).filter(|_| cell.kind == Kind::Data)
    }

    /// Puts a unit at the end of its queue.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, unit: &Unit) {
        self.waiting += 1;
        match &mut self.units {
            Waiting::ByVc(queues) => queues.push(unit),
            Waiting::Together(queue) => queue.push(unit),
        }
        if let Some(frames) = self.frames_of(&unit.cell) {
            frames.enter(unit.cell.frame);
        }
    }

    /// A unit is sent as it comes, while nothing waits.
    #[inline]
    pub(super) fn pass(&mut self, cell: &Cell) {
        if let Some(frames) = self.frames_of(cell) {
            *frames = Frames { last: cell.frame, units: 0, sent: Some(cell.frame) };
        }
    }

    /// Takes the first unit of `vc` out of its queue for transmission, and puts it into `unit`.
    #[inline(always)]
    pub(super) fn take(&mut self, vc: u32, unit: &mut Unit) {
        let Waiting::ByVc(queues) = &mut self.units else { panic!("one queue has no scheduler") };
        queues.take(vc, unit);
        self.note_taken(unit);
    }

    /// As [`Store::take`], where units of all VCs are in one queue.
    #[inline(always)]
    pub(super) fn take_first(&mut self, unit: &mut Unit) {
        let Waiting::Together(queue) = &mut self.units else { panic!("a scheduler says whose turn it is") };
        queue.take(unit);
        self.note_taken(unit);
    }

    /// A unit has left its queue for transmission.
    #[inline(always)]
    fn note_taken(&mut self, unit: &Unit) {
        self.waiting -= 1;
        if let Some(frames) = self.frames_of(&unit.cell) {
            frames.leave(unit.cell.frame);
        }
    }

    /// Takes the last data unit of `vc` out of its queue, which belongs to a frame that is whole there; returns also whether it was
    /// the first of what is there of the frame. Cells behind it that belong to no frame move up.
    ///
    /// # Panics
    /// If there is no such frame: the policy names one that [`Store::last_frame`] denies.
    pub(super) fn remove_last(&mut self, vc: u32) -> (Unit, bool) {
        let frames = self.frames.get_mut(vc as usize).filter(|frames| frames.has_whole());
        let frames = frames.expect("the policy pushes out a frame that is whole in its queue");
        frames.units -= 1;
        let first = frames.units == 0;
        let unit = match &mut self.units {
            Waiting::ByVc(queues) => {
                let place = queues.units(vc).iter().rposition(|unit| unit.cell.kind == Kind::Data);
                let unit = place.and_then(|place| queues.remove(vc, place));
                unit.expect("the units of a frame are in its queue")
            }
            Waiting::Together(queue) => queue.remove_last(vc),
        };
        self.waiting -= 1;
        if first {
            self.look_back(vc);
        }
        (unit, first)
    }

    /// Frames of `vc`, complete or not, of which nothing has left its queue.
    pub(super) fn whole_frames(&self, vc: u32) -> u64 {
        let sent = self.frames[vc as usize].sent;
        let (mut count, mut last) = (0, sent);
        let mut look = |unit: &Unit| {
            let number = Some(unit.cell.frame).filter(|_| unit.cell.kind == Kind::Data);
            if number.is_some() && number != sent && number != last {
                (count, last) = (count + 1, number);
            }
        };
        match &self.units {
            Waiting::ByVc(queues) => queues.units(vc).iter().for_each(&mut look),
            Waiting::Together(queue) => queue.units_back(vc).for_each(&mut look),
        }
        count
    }

    /// Whose the frames are, complete or not, of which nothing has left, in the order of their first units in a queue that several VCs share:
    /// `vcs` has the VC of each unit there.
    pub(super) fn whole_frames_of(&self, vcs: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
        let mut seen = BTreeMap::new();
        vcs.filter(move |&vc| {
            let Waiting::ByVc(queues) = &self.units else { panic!("one queue has no scheduler") };
            let sent = self.frames[vc as usize].sent;
            let (place, last) = seen.entry(vc).or_insert((0, sent));
            let Unit { cell, .. } = queues.units(vc)[*place];
            *place += 1;
            let number = Some(cell.frame).filter(|_| cell.kind == Kind::Data);
            let begins = number.is_some() && number != sent && number != *last;
            *last = if begins { number } else { *last };
            begins
        })
    }

    /// What a scheduler counts of the units of `vc` together.
    pub(super) fn load_of(&self, vc: u32) -> u64 {
        match &self.units {
            Waiting::ByVc(queues) => queues.queues[vc as usize].load,
            Waiting::Together(queue) => queue.units_back(vc).map(|unit| u64::from(unit.load())).sum(),
        }
    }

    /// Whether a scheduler counts more than `load` of the units of all VCs together.
    pub(super) fn holds_more(&self, load: u64) -> bool {
        let mut left = load;
        let mut is_beyond = |unit: &Unit| match left.checked_sub(unit.load().into()) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        };
        match &self.units {
            Waiting::ByVc(queues) => queues.load > load,
            Waiting::Together(queue) => queue.units().any(&mut is_beyond),
        }
    }

    /// Takes the next data unit of the first frame of `vc` of which nothing had left its queue; returns also how many units of the VC are behind
    /// it, where a scheduler asks. `None` once no more of it is there: `frame`, new before the first call, then says whether more may come.
    pub(super) fn remove_first(&mut self, vc: u32, frame: &mut FirstFrame) -> Option<(Unit, usize)> {
        let frames = &mut self.frames[vc as usize];
        let removed = match &mut self.units {
            Waiting::ByVc(queues) => queues.remove_first(vc, frames.sent, frame),
            Waiting::Together(queue) => queue.remove_first(vc, frames.sent, frame).map(|unit| (unit, 0)),
        };
        if let Some((unit, _)) = &removed {
            self.waiting -= 1;
            frame.has_end = unit.cell.is_last();
        } else if frame.number == Some(frames.last) {
            // What comes after a frame before the last one is of another, though its end mark may have been lost.
            frame.goes_on = !frame.has_end;
            frames.units = 0;
            self.look_back(vc);
        }
        removed
    }

    /// Checks what is counted as units come and go against what is there.
    ///
    /// # Panics
    /// If one is not the other.
    pub(super) fn check(&self, port: fmt::Arguments<'_>) {
        assert_eq!(self.units().count() as u64, self.waiting, "{port}: units in queues");
        let Waiting::ByVc(queues) = &self.units else { return };
        for (vc, queue) in queues.queues.iter().enumerate() {
            let load: u64 = queue.units.iter().map(|unit| u64::from(unit.load())).sum();
            assert_eq!(queue.load, load, "{port}: load of the queue of VC {vc}");
        }
        let load: u64 = queues.queues.iter().map(|queue| queue.load).sum();
        assert_eq!(queues.load, load, "{port}: load of all queues");
    }

    /// The last frame of `vc` is no longer there: the one before it, if something of that is in the queue, is now the last.
    fn look_back(&mut self, vc: u32) {
        let frames = &mut self.frames[vc as usize];
        let mut look = |unit: &Unit| {
            let (data, number) = (unit.cell.kind == Kind::Data, unit.cell.frame);
            let another = data && frames.units > 0 && number != frames.last;
            if data && !another {
                frames.enter(number);
            }
            !another
        };
        match &self.units {
            Waiting::ByVc(queues) => queues.units(vc).iter().rev().all(&mut look),
            Waiting::Together(queue) => queue.units_back(vc).all(&mut look),
        };
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::{Generator, Randomness};

    use super::*;

    /// A frame: what of it is in the queue, and whether some of it has gone.
    #[derive(Debug)]
    struct Listed {
        number: u32,
        units: u64,
        gone: bool,
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
                self.frames.push(Listed { number, units: 0, gone: false });
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

        /// Places among the frames of those that wait and of which nothing has gone.
        fn whole(&self) -> impl Iterator<Item = usize> {
            let whole = |(_, frame): &(usize, &Listed)| frame.units > 0 && !frame.gone;
            self.frames.iter().enumerate().filter(whole).map(|(place, _)| place)
        }

        fn last_frame(&self) -> Option<u64> {
            self.frames.last().filter(|frame| frame.units > 0 && !frame.gone).map(|frame| frame.units)
        }
    }

    fn unit(cell: Cell) -> Unit {
        Unit { cell, size: 1, ..Unit::default() }
    }

    /// A cell arrives, to be sent at once if `passes`.
    fn arrive(store: &mut Store, model: &mut Model, cell: Cell, passes: bool) {
        if let Some(frame) = model.frame(&cell) {
            frame.units += u64::from(!passes);
            frame.gone |= passes;
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
        match store.units {
            Waiting::ByVc(_) => store.take(vc, &mut unit),
            Waiting::Together(_) => store.take_first(&mut unit),
        }
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

    /// The last frame is pushed out, if it is whole; the policy discards the rest of it. `turns`: the VCs of the units that wait.
    fn push_out(store: &mut Store, model: &mut Model, vc: u32, turns: &mut Vec<u32>) {
        let Some(units) = model.last_frame() else { return };
        let frame = model.frames.pop().expect("the last frame");
        for left in (0..units).rev() {
            let place = model.queue.iter().rposition(|cell| cell.kind == Kind::Data);
            let cell = place.and_then(|place| model.queue.remove(place)).expect("a cell of the frame");
            let (unit, first) = store.remove_last(vc);
            assert_eq!((unit.cell, first), (cell, left == 0));
            turns.remove(turns.iter().rposition(|&turn| turn == vc).expect("a unit of the VC waits"));
        }
        if model.next.frame == frame.number {
            model.end_frame();
        }
    }

    /// The first frame of which nothing has gone is pushed out, if there is one; the policy discards the rest of it. `turns`: the VCs of the
    /// units that wait, of which those units lose theirs.
    fn push_out_first(store: &mut Store, model: &mut Model, vc: u32, turns: &mut Vec<u32>) {
        let Some(place) = model.whole().next() else { return };
        let (Listed { number, units, .. }, is_last) =
            (model.frames.remove(place), place == model.frames.len());
        let (mut frame, mut ends) = (FirstFrame::default(), false);
        for _ in 0..units {
            let (unit, behind) = store.remove_first(vc, &mut frame).expect("a cell of the frame waits");
            let place = model.queue.iter().position(|cell| cell.kind == Kind::Data && cell.frame == number);
            let place = place.expect("a cell of the frame waits");
            assert_eq!(model.queue.remove(place), Some(unit.cell));
            if let Waiting::ByVc(_) = store.units {
                assert_eq!(behind, model.queue.len() - place);
            }
            let mut turns_of_vc = (0..turns.len()).filter(|&turn| turns[turn] == vc);
            let turn = turns_of_vc.nth(place).expect("each unit has a turn");
            turns.remove(turn);
            ends = unit.cell.is_last();
        }
        assert!(store.remove_first(vc, &mut frame).is_none());
        assert_eq!(frame.goes_on, is_last && !ends);
        if model.next.frame == number {
            model.end_frame();
        }
    }

    /// A frame can be pushed out if something of it is in its queue and nothing of it has left: a list of all frames says the same,
    /// whatever came between, waited or not, was sent or pushed out. In one queue or one for each VC, units have the same turns.
    #[test]
    fn a_frame_is_whole_until_some_of_it_has_gone() {
        for together in [false, true] {
            let mut generator = Randomness { seed: 1, replication: 0 }.named("queues");
            let (mut store, mut turns) = (Store::new(2, together, true), Vec::new());
            let mut models = [Model::default(), Model::default()];
            let mut whole = 0;
            for _ in 0..20_000 {
                let vc = generator.below(2) as u32;
                match generator.below(9) {
                    0..4 => {
                        let model = &mut models[vc as usize];
                        let cell = model.arrive(vc, &mut generator);
                        let passes = turns.is_empty() && generator.below(2) == 0;
                        turns.extend((!passes).then_some(vc));
                        arrive(&mut store, model, cell, passes);
                    }
                    4..7 if !turns.is_empty() => {
                        let vc = turns.remove(0);
                        send(&mut store, &mut models[vc as usize], vc);
                    }
                    4..7 => {}
                    7 => push_out(&mut store, &mut models[vc as usize], vc, &mut turns),
                    _ => push_out_first(&mut store, &mut models[vc as usize], vc, &mut turns),
                }
                for (vc, model) in (0..).zip(&models) {
                    assert_eq!(store.last_frame(vc), model.last_frame(), "VC {vc}: {model:?}");
                    assert_eq!(store.whole_frames(vc), model.whole().count() as u64, "VC {vc}: {model:?}");
                    assert_eq!(store.waiting_of(vc), model.queue.len() as u64);
                    let waiting = model.queue.len() as u64;
                    assert_eq!(store.load_of(vc), waiting);
                    let held = store.units().map(|unit| &unit.cell).filter(|cell| cell.vc == vc);
                    assert!(held.eq(&model.queue));
                    whole += u64::from(model.last_frame().is_some());
                }
                assert_eq!(store.waiting(), turns.len() as u64);
                assert!(!store.holds_more(turns.len() as u64));
                assert!(turns.is_empty() || store.holds_more(turns.len() as u64 - 1));
            }
            assert!(whole > 2000, "{whole}");
        }
    }

    /// Only policies that push out need to know of frames.
    #[test]
    fn frames_are_followed_for_policies_that_push_out_alone() {
        let mut store = Store::new(1, false, false);
        let cells = [Kind::Data, Kind::ForwardRm].map(|kind| Cell { length: 2, kind, ..Cell::default() });
        for cell in cells {
            store.pass(&cell);
            store.enqueue(&unit(cell));
        }
        assert!(store.frames.is_empty());
        assert_eq!(take(&mut store, 0), cells[0]);
    }
}
