//! A FIFO of cells that ABR VCs cross, and nothing else: departures are known at once as in any other, and the ABR queue is the
//! backlog.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Reason},
    cell::{Ecn, Kind},
};
use celltrain_engine::{
    Instant, Slot, Time,
    stream::{Streams, Train},
};

use super::{
    RateControl,
    buffer::{Buffer, Queue, Tally},
    cells::CellFifo,
};
use crate::wire::Wires;

impl Buffer<CellFifo> {
    /// As [`Buffer::serve_plain`], under rate control.
    #[inline(never)]
    pub(super) fn serve_controlled<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        control: &mut RateControl,
        until: Time,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) -> u64 {
        let (mut cells, mut tally, mut train) = (0, Tally::default(), Train::default());
        while let Some(slot) = self.merge.next_in_turn(until, streams, &mut train) {
            if train.car.vc as usize >= self.connections.len() {
                self.on_way_back(control, &train, slot, streams, wires);
                continue;
            }
            cells += u64::from(train.count);
            if train.count == 1 {
                self.on_controlled(policy, control, &mut train, &mut tally, streams, wires);
            } else {
                self.on_controlled_row(policy, control, train, slot, &mut tally, streams, wires);
            }
        }
        let end = Instant::start_of(until);
        self.end_intervals(control, end);
        let now = control.move_to(end);
        control.note_queue(self.queue.occupancy(now), self.settle_cells(&tally));
        cells
    }

    /// A train of more than one cell arrives, with none of another input in between. Those of its cells that come in one interval
    /// of the allocator, and go on as they came, are told at once.
    #[expect(clippy::too_many_arguments, reason = "as many as a cell has, and the slot")]
    #[inline(never)]
    fn on_controlled_row<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        control: &mut RateControl,
        mut train: Train<Cell>,
        slot: Slot,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        loop {
            self.end_intervals(control, train.first);
            let (mut row, count) = (train, self.count_at_once(control, &train, slot));
            row.truncate(count);
            if count > 1 {
                control.on_row(&row, slot);
                self.on_row(policy, &mut row, slot, tally, streams);
            } else {
                self.on_controlled(policy, control, &mut row, tally, streams, wires);
            }
            if count == train.count {
                return;
            }
            train.advance(count, slot);
        }
    }

    /// How many cells of a train the allocator can be told of at once, at least one.
    fn count_at_once(&self, control: &RateControl, train: &Train<Cell>, slot: Slot) -> u32 {
        // On an idle line each cell has left when the next one comes.
        let idle = self.queue.last_departure() <= train.first && slot == self.queue.slot;
        if !control.is_ahead(train.car.vc) && (!idle || control.marks()) {
            return 1;
        }
        let end = control.next_interval();
        let all = train.arrival(train.count - 1, slot).ps() < end;
        if all { train.count } else { train.cars_before(end, slot) }
    }

    /// A cell arrives: the allocator hears of it, the policy decides, the port obeys.
    #[inline(always)]
    fn on_controlled<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        control: &mut RateControl,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let at = cell.first;
        self.end_intervals(control, at);
        cell.car.ecn = self.tell_cell(control, at, &cell.car);
        if cell.car.kind == Kind::Data {
            return self.on_cell(policy, cell, tally, streams);
        }
        self.tell_forward_rm(control, at, &cell.car, wires);
        if self.queue.is_full(at) {
            // It belongs to no frame: policies of frames have nothing to say about it.
            self.discard(at, &cell.car, Reason::BufferFull);
        } else {
            self.accept_cell(cell, tally, streams);
        }
    }

    /// Tells the allocator of a cell; returns the mark with which it goes on.
    #[inline(always)]
    fn tell_cell(&self, control: &mut RateControl, at: Instant, cell: &Cell) -> Ecn {
        let now = control.move_to(at);
        control.on_cell(at.ps(), cell, || self.queue.occupancy(now))
    }

    /// The cell is a forward RM cell.
    #[inline(never)]
    fn tell_forward_rm(&self, control: &mut RateControl, at: Instant, cell: &Cell, wires: &mut Wires) {
        let now = control.move_to(at);
        control.on_forward_rm(at.ps(), cell, || self.queue.occupancy(now), wires);
    }

    /// Cells of a way back come by: RM cells are stamped, all go on at once.
    fn on_way_back(
        &mut self,
        control: &mut RateControl,
        train: &Train<Cell>,
        slot: Slot,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let place = train.car.vc as usize - self.connections.len();
        if train.car.kind == Kind::BackwardRm {
            self.end_intervals(control, train.first);
            let (now, cell) = (control.move_to(train.first), (place, train.car.frame));
            let occupancy = || self.queue.occupancy(now);
            control.stamp(train.first.ps(), cell, occupancy, wires, &mut self.fingerprint);
        }
        control.pass(place, train, slot, streams);
    }

    /// Ends the intervals of the allocator that end up to the picosecond of `now`, each before anything else that happens then.
    #[inline]
    fn end_intervals(&self, control: &mut RateControl, now: Instant) {
        if control.next_interval() <= now.ps() {
            self.end_interval(control, now);
        }
    }

    #[cold]
    fn end_interval(&self, control: &mut RateControl, now: Instant) {
        while control.next_interval() <= now.ps() {
            let end = control.next_interval();
            let now = control.move_to(Instant::start_of(end));
            control.on_interval(end, || self.queue.occupancy(now));
        }
    }
}
