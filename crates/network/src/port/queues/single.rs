//! One queue for the units of all VCs, in the order in which they are sent: that of their arrival.
//!
//! A unit is taken out from anywhere in the middle without moving those behind it: its place is only marked as empty. So the last frame
//! of a VC costs what its units cost, however long the queue is; its first frame is sought from the head on.

use celltrain_atm::cell::Kind;

use super::{FirstFrame, Unit};

/// The queue: places with numbers that wrap around, of which only differences matter. Place `n` is entry `n` modulo their number, a
/// power of two.
#[derive(Debug, Clone)]
pub(super) struct SingleQueue {
    places: Box<[Place]>,
    /// Number of the first place.
    first: u32,
    /// Number of the place behind the last one.
    end: u32,
    /// The place of each VC's last unit, without meaning if the VC has none; empty where units leave at the head alone.
    last: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Of the VC [`EMPTY`] once it is taken out.
    unit: Unit,
    /// The place of the VC's unit before this one, which may have been sent.
    before: u32,
}

/// In place of a VC.
const EMPTY: u32 = u32::MAX;

impl SingleQueue {
    /// Of `vcs` VCs; `removes`: whether units are taken out of the middle.
    pub(super) fn new(vcs: usize, removes: bool) -> Self {
        Self { places: Box::default(), first: 0, end: 0, last: vec![0; if removes { vcs } else { 0 }] }
    }

    /// How many places there are between the first and the last, the empty ones included.
    #[inline]
    fn len(&self) -> usize {
        self.end.wrapping_sub(self.first) as usize
    }

    /// Which entry is place `number`, if there are entries.
    #[inline]
    fn index(&self, number: u32) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    /// The units in their order.
    pub(super) fn units(&self) -> impl Iterator<Item = &Unit> {
        let begin = if self.len() == 0 { 0 } else { self.index(self.first) };
        let (wrapped, head) = self.places.split_at(begin);
        let head = &head[..self.len().min(head.len())];
        let places = head.iter().chain(&wrapped[..self.len() - head.len()]);
        places.map(|place| &place.unit).filter(|unit| unit.cell.vc != EMPTY)
    }

    /// Those of `vc`, the last one first, where units are taken out of the middle.
    pub(super) fn units_back(&self, vc: u32) -> impl Iterator<Item = &Unit> {
        // The first place of the VC may name one that is no longer there, whose number others have now.
        let (mut number, mut behind) = (self.last[vc as usize], self.len() as u32);
        std::iter::from_fn(move || {
            let offset = number.wrapping_sub(self.first);
            if offset >= behind {
                return None;
            }
            let place = &self.places[self.index(number)];
            (number, behind) = (place.before, offset);
            Some(&place.unit)
        })
        .take_while(move |unit| unit.cell.vc == vc)
    }

    /// Puts a unit at the end.
    #[inline(always)]
    pub(super) fn push(&mut self, unit: &Unit) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let number = self.end;
        let before = match self.last.get_mut(unit.cell.vc as usize) {
            Some(last) => std::mem::replace(last, number),
            None => 0,
        };
        self.places[self.index(number)] = Place { unit: *unit, before };
        self.end = number.wrapping_add(1);
    }

    /// Makes room for twice as many units as there are; they move up into the empty places.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let units = self.units().count();
        let room = (2 * units).next_power_of_two().max(8);
        assert!(room < 1 << 31, "one queue holds {units} units");
        let places = vec![Place::default(); room].into_boxed_slice();
        let mut grown = Self { places, first: self.first, end: self.first, last: vec![0; self.last.len()] };
        self.units().for_each(|unit| grown.push(unit));
        *self = grown;
    }

    /// Takes the first unit out, and puts it into `unit`.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub(super) fn take(&mut self, unit: &mut Unit) {
        loop {
            assert!(self.first != self.end, "a unit is in the queue");
            *unit = self.places[self.index(self.first)].unit;
            self.first = self.first.wrapping_add(1);
            if unit.cell.vc != EMPTY {
                return;
            }
        }
    }

    /// Takes the last data unit of `vc` out. Units of the VC behind it move up, into the places of those before them.
    ///
    /// # Panics
    /// If there is none, or if units leave at the head alone.
    pub(super) fn remove_last(&mut self, vc: u32) -> Unit {
        let place = self.place(self.last[vc as usize], vc);
        let (mut unit, mut before) = (place.unit, place.before);
        place.unit.cell.vc = EMPTY;
        self.last[vc as usize] = before;
        while unit.cell.kind != Kind::Data {
            let place = self.place(before, vc);
            std::mem::swap(&mut place.unit, &mut unit);
            before = place.before;
        }
        unit
    }

    /// As [`super::Store::remove_first`]; `sent` is the frame of the last unit that has left. Looks at all that is in front of the frame, and up
    /// to the next unit of the VC behind it.
    pub(super) fn remove_first(
        &mut self,
        vc: u32,
        sent: Option<u32>,
        frame: &mut FirstFrame,
    ) -> Option<Unit> {
        while frame.place < self.len() as u32 {
            let number = self.first.wrapping_add(frame.place);
            let index = self.index(number);
            let place = &mut self.places[index];
            if place.unit.cell.vc == vc {
                let takes = frame.takes(&place.unit.cell, sent);
                if takes == Some(true) {
                    // What is behind it knows of what is in front of it, which may have been sent.
                    frame.before.get_or_insert(place.before);
                    let unit = place.unit;
                    place.unit.cell.vc = EMPTY;
                    frame.place += 1;
                    return Some(unit);
                }
                if frame.number.is_some() {
                    place.before = frame.before.unwrap_or(place.before);
                }
                frame.before = Some(number);
                takes?;
            }
            frame.place += 1;
        }
        if let Some(before) = frame.before.filter(|_| frame.number.is_some()) {
            self.last[vc as usize] = before;
        }
        None
    }

    /// The place of that number, of a unit of `vc`.
    fn place(&mut self, number: u32, vc: u32) -> &mut Place {
        let held = (number.wrapping_sub(self.first) as usize) < self.len();
        let place = &mut self.places[self.index(number)];
        assert!(held && place.unit.cell.vc == vc, "the units of a frame are in the queue");
        place
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::Cell;

    use super::*;

    #[test]
    fn taking_a_frame_out_touches_the_places_of_its_cells_alone() {
        const FRAME: u16 = 12;
        let unit = |vc, position| Unit { cell: Cell { vc, position, ..Cell::default() }, ..Unit::default() };
        let mut queue = SingleQueue::new(2, true);
        (0..FRAME).for_each(|position| queue.push(&unit(0, position)));
        (0..10_000).for_each(|_| queue.push(&unit(1, 0)));
        let before = queue.clone();
        for position in (0..FRAME).rev() {
            assert_eq!(queue.remove_last(0).cell, unit(0, position).cell);
        }
        assert_eq!(queue.len(), before.len(), "nothing behind the frame has moved up");
        let vcs =
            |queue: &SingleQueue| queue.places.iter().map(|place| place.unit.cell.vc).collect::<Vec<_>>();
        let touched = std::iter::zip(vcs(&queue), vcs(&before)).filter(|(now, then)| now != then);
        assert_eq!(touched.count(), usize::from(FRAME));
        let mut first = Unit::default();
        queue.take(&mut first);
        assert_eq!(first.cell, unit(1, 0).cell, "and the empty places are passed over");
    }

    /// Cells that belong to no frame keep their order, and are sent in the turns of the cells that were before them.
    #[test]
    fn cells_behind_those_taken_out_move_up() {
        let mut queue = SingleQueue::new(2, true);
        let cells =
            [(0, Kind::Data), (1, Kind::Data), (0, Kind::ForwardRm), (1, Kind::Data), (0, Kind::BackwardRm)];
        for (vc, kind) in cells {
            queue.push(&Unit { cell: Cell { vc, kind, ..Cell::default() }, ..Unit::default() });
        }
        assert_eq!(queue.remove_last(0).cell.kind, Kind::Data);
        let left: Vec<_> = queue.units().map(|unit| (unit.cell.vc, unit.cell.kind)).collect();
        assert_eq!(left, [(0, Kind::ForwardRm), (1, Kind::Data), (0, Kind::BackwardRm), (1, Kind::Data)]);
    }

    /// Numbers wrap around while the queue grows: units stay in their order.
    #[test]
    fn units_keep_their_order_while_the_queue_grows() {
        let unit = |frame| Unit { cell: Cell { frame, ..Cell::default() }, ..Unit::default() };
        let mut queue = SingleQueue::new(1, true);
        (queue.first, queue.end) = (u32::MAX - 20, u32::MAX - 20);
        let (mut first, mut next, mut taken) = (0, 0, Unit::default());
        for _ in 0..50 {
            (0..3).for_each(|more| queue.push(&unit(next + more)));
            next += 3;
            queue.take(&mut taken);
            assert_eq!(taken.cell.frame, first);
            first += 1;
            assert!(queue.units().map(|unit| unit.cell.frame).eq(first..next));
            assert!(queue.units_back(0).map(|unit| unit.cell.frame).eq((first..next).rev()));
        }
    }
}
