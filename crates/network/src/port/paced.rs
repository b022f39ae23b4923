//! Cells that come apart, as a rate lets them: a FIFO of cells takes those of one frame together while its line is idle.

use celltrain_atm::{Cell, buffer::BufferPolicy, cell::Kind};
use celltrain_engine::{
    Instant, Slot, Time,
    stream::{Car, Streams, Train},
};

use super::{
    buffer::{Buffer, Queue, Tally},
    cells::CellFifo,
};

impl Buffer<CellFifo> {
    /// A cell comes from a host by itself: those of its frame that follow in the same manner are handled with it. Returns how
    /// many follow.
    #[inline(never)]
    pub(super) fn on_paced<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        cell: &mut Train<Cell>,
        until: Time,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) -> u64 {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.merge.take_behind(&cell.car, until, streams, &mut arrivals);
        let (mut car, mut accepted) = (cell.car, 0);
        if let Some(ecn) = self.admits(policy, cell.first, &cell.car) {
            cell.car.ecn = ecn;
            let head = cell.car;
            self.accept_cell(cell, tally, streams);
            if policy.accepts_rest(&head) {
                accepted = self.accept_apart(&head, &arrivals, tally, streams);
            }
        }
        car.advance(accepted as u32);
        for &at in &arrivals[accepted..] {
            car.advance(1);
            self.on_cell(policy, &mut Train::single(at, car), tally, streams);
        }
        self.arrivals = arrivals;
        self.arrivals.len() as u64
    }

    /// The cells of a train come more slowly than they leave, and are accepted if there is room. Accepts those behind the first as
    /// long as each finds the line idle; returns how many.
    pub(super) fn accept_rest_apart(
        &mut self,
        train: &Train<Cell>,
        slot: Slot,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) -> u32 {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.clear();
        arrivals.extend((1..train.count).map(|place| train.arrival(place, slot)));
        let accepted = self.accept_apart(&train.car, &arrivals, tally, streams);
        self.arrivals = arrivals;
        accepted as u32
    }

    /// Accepts the cells behind `head` that come at `arrivals`, as long as each finds the line idle; returns how many.
    fn accept_apart(
        &mut self,
        head: &Cell,
        arrivals: &[Instant],
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) -> usize {
        let count = self.queue.accept_idle(arrivals);
        let Some(&last) = arrivals[..count].last() else { return 0 };
        let (slot, delay) = (self.queue.slot, self.delay);
        let sojourn = self.queue.last_departure().since(last);
        tally.sojourns = tally.sojourns.plus(sojourn, count as u64);
        tally.longest = tally.longest.max(sojourn);
        let connection = &mut self.connections[head.vc as usize];
        connection.accepted[usize::from(head.clp)] += count as u64;
        let mut car = Cell { vc: connection.label, ..*head };
        let departures = arrivals[..count].iter().map(|at| {
            car.advance(1);
            (at.plus(slot).delayed(delay), car)
        });
        streams[connection.output].push_alone(self.queue.last_number(), departures);
        if usize::from(head.position) + count + 1 == usize::from(head.length) {
            connection.at_frame_start = true;
            self.end_frame(head.vc, Kind::Data, sojourn);
        }
        count
    }
}
