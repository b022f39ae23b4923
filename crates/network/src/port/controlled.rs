//! A FIFO of cells that ABR VCs cross, and nothing else: departures are known at once as in any other, and the ABR queue is the
//! backlog.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Reason},
    cell::Kind,
};
use celltrain_engine::{
    Instant, Time,
    stream::{Streams, Train},
};

use super::{
    RateControl,
    buffer::{Buffer, Queue, Tally},
    cells::CellFifo,
};
use crate::flight::InFlight;

impl Buffer<CellFifo> {
    /// As [`Buffer::serve_plain`], under rate control.
    #[inline(never)]
    pub(super) fn serve_controlled<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        control: &mut RateControl,
        until: Time,
        streams: &mut Streams<Cell>,
        flight: &mut InFlight,
    ) -> u64 {
        let (mut cells, mut tally, mut train) = (0, Tally::default(), Train::default());
        while self.merge.next::<true, _>(until, streams, &mut train) {
            if train.car.vc as usize >= self.connections.len() {
                self.on_way_back(control, &train, streams, flight);
                continue;
            }
            cells += u64::from(train.count);
            if train.count == 1 {
                self.on_controlled(policy, control, &mut train, &mut tally, streams, flight);
            } else {
                self.on_controlled_row(policy, control, &mut train, &mut tally, streams, flight);
            }
        }
        let end = Instant::start_of(until);
        self.end_intervals(control, end);
        control.note_queue(self.queue.occupancy(end), self.settle_cells(&tally));
        cells
    }

    /// A train of more than one cell arrives, with none of another input in between. Those of its cells that come in one interval
    /// of the allocator are told at once.
    #[inline(never)]
    fn on_controlled_row<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        control: &mut RateControl,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
        flight: &mut InFlight,
    ) {
        loop {
            self.end_intervals(control, train.first);
            let told = control.on_row(train);
            if told == train.count {
                return self.on_row(policy, train, tally, streams);
            }
            let mut row = *train;
            row.truncate(told.max(1));
            if told > 0 {
                self.on_row(policy, &mut row, tally, streams);
            } else {
                self.on_controlled(policy, control, &mut row, tally, streams, flight);
                if train.count == 1 {
                    return;
                }
            }
            train.advance(told.max(1));
        }
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
        flight: &mut InFlight,
    ) {
        let at = cell.first;
        self.end_intervals(control, at);
        let occupancy = || self.queue.occupancy(at);
        cell.car.ecn = control.on_cell(at.ps(), &cell.car, occupancy);
        if cell.car.kind == Kind::Data {
            return self.on_cell(policy, cell, tally, streams);
        }
        control.on_forward_rm(at.ps(), &cell.car, occupancy, flight);
        if self.queue.is_full(at) {
            // It belongs to no frame: policies of frames have nothing to say about it.
            self.discard(at, &cell.car, Reason::BufferFull);
        } else {
            self.accept_cell(cell, tally, streams);
        }
    }

    /// A backward RM cell comes by: it is stamped and goes on at once.
    fn on_way_back(
        &mut self,
        control: &mut RateControl,
        cell: &Train<Cell>,
        streams: &mut Streams<Cell>,
        flight: &mut InFlight,
    ) {
        self.end_intervals(control, cell.first);
        let (at, place) = (cell.first, cell.car.vc as usize - self.connections.len());
        let occupancy = || self.queue.occupancy(at);
        control.stamp(at.ps(), (place, cell.car.frame), occupancy, flight, &mut self.fingerprint);
        control.pass(place, cell, streams);
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
            control.on_interval(end, || self.queue.occupancy(Instant::start_of(end)));
        }
    }
}
