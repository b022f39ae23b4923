//! A FIFO of cells that ABR VCs cross, and nothing else: departures are known at once as in any other, and the ABR queue is the
//! backlog.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Reason},
    cell::Kind,
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
            if let Some(place) = (train.car.vc as usize).checked_sub(self.connections.len()) {
                self.on_way_back(control, place, &train, slot, streams, wires);
                continue;
            }
            cells += u64::from(train.count);
            if train.count > 1 && self.tell_row(control, &train, slot, wires) {
                self.on_row(policy, &mut train, slot, &mut tally, streams);
                continue;
            }
            loop {
                let mut cell = Train::single(train.first, train.car);
                self.on_controlled(policy, control, &mut cell, &mut tally, streams, wires);
                if train.count == 1 {
                    break;
                }
                train.advance(1, slot);
            }
        }
        let end = Instant::start_of(until);
        self.end_intervals(control, end);
        control.see(end, |now| self.queue.occupancy(now));
        control.note_most(self.settle_cells(&tally));
        cells
    }

    /// Tells the allocator of the cells of a row and returns `true`, if all of them find it in one of its intervals and go on as
    /// they came; if it may be otherwise, they have to be told one by one.
    fn tell_row(
        &mut self,
        control: &mut RateControl,
        train: &Train<Cell>,
        slot: Slot,
        wires: &mut Wires,
    ) -> bool {
        let (vc, last) = (train.car.vc, train.arrival(train.count - 1, slot));
        self.end_intervals(control, train.first);
        if control.next_interval() <= last.ps() {
            return false;
        }
        if control.is_ahead(vc) {
            control.count_ahead(train.count, last);
            return true;
        }
        // On an idle line each cell has left when the next one comes.
        let idle = self.queue.last_departure() <= train.first && slot == self.queue.slot;
        if !idle || control.marks() {
            return false;
        }
        for place in 0..train.count {
            let at = train.arrival(place, slot);
            control.see(at, |_| 0);
            control.on_cell(at.ps(), &train.car, wires);
        }
        true
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
        control.see(at, |now| self.queue.occupancy(now));
        cell.car.ecn = control.on_cell(at.ps(), &cell.car, wires);
        if cell.car.kind == Kind::Data {
            self.on_cell(policy, cell, tally, streams);
        } else if self.queue.is_full(at) {
            // It belongs to no frame: policies of frames have nothing to say about it.
            self.discard(at, &cell.car, Reason::BufferFull);
        } else {
            self.accept_cell(cell, tally, streams);
        }
    }

    /// Cells of a way back come by: RM cells are stamped, all go on at once.
    fn on_way_back(
        &mut self,
        control: &mut RateControl,
        place: usize,
        train: &Train<Cell>,
        slot: Slot,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        if train.car.kind == Kind::BackwardRm {
            self.end_intervals(control, train.first);
            control.see(train.first, |now| self.queue.occupancy(now));
            control.stamp(train.first.ps(), place, train.car.frame, wires, &mut self.fingerprint);
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
            control.see(Instant::start_of(end), |now| self.queue.occupancy(now));
            control.on_interval(end);
        }
    }
}
