//! The buffer of a cell-framed link.
//!
//! A FIFO of cells needs no stored queue: a cell that is accepted departs one slot after the later of its arrival and the
//! departure before it, so its departure is known at once and the occupancy is the backlog in slots.

use celltrain_atm::{Cell, buffer::BufferPolicy, cell::Kind};
use celltrain_engine::{
    Instant, Slot, Time,
    stream::{Streams, Train},
    time::Span,
};

use super::{
    accounted::Accounts,
    buffer::{Buffer, Queue, Tally},
};
use crate::flight::InFlight;

/// The state of a FIFO queue in front of a link.
#[derive(Debug, Clone)]
pub(crate) struct CellFifo {
    pub(super) slot: Slot,
    capacity: u64,
    /// A backlog shorter than this leaves room for a cell.
    roomy: Time,
    last_departure: Instant,
    /// Number of the last departure: departures back to back have neighbouring numbers, others are far apart.
    last_number: u64,
    /// Where the policy keeps accounts.
    accounts: Option<Box<Accounts>>,
}

/// Between the numbers of departures that are not on one grid of slots.
const APART: u64 = 1 << 32;

impl CellFifo {
    pub(super) fn new(slot: Slot, capacity: u64, accounts: Option<Accounts>) -> Self {
        let accounts = accounts.map(Box::new);
        let roomy = capacity.saturating_sub(1).saturating_mul(slot.ps());
        Self { slot, capacity, roomy, last_departure: Instant::default(), last_number: 0, accounts }
    }

    /// The time that a cell takes at the least.
    pub(super) fn shortest(&self) -> Time {
        self.slot.ps()
    }

    /// When the next cell leaves at the earliest, if it arrives at `now`: a slot after that, or after the backlog.
    pub(super) fn next_departure(&self, now: Time) -> Time {
        now.max(self.last_departure.ps()) + self.shortest()
    }

    /// Whether `count` cells that arrive from `now` on all find room; those that leave meanwhile only make more.
    #[inline]
    fn has_room(&self, now: Instant, count: u64) -> bool {
        let backlog = self.last_departure.ps().saturating_sub(now.ps());
        backlog.saturating_add((count * self.slot.ps()) + count) < self.roomy
            || self.occupancy(now).saturating_add(count) <= self.capacity
    }

    /// Queues `slots` slots' worth of cells behind the last one.
    fn extend(&mut self, slots: u64) {
        self.last_departure = self.last_departure.plus_slots(self.slot, slots);
        self.last_number += slots;
    }
}

impl Queue for CellFifo {
    const PACKETS: bool = false;

    #[inline]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        if self.last_departure <= now { 0 } else { self.last_departure.since(now).slots(self.slot) }
    }

    #[inline]
    fn is_full(&self, now: Instant) -> bool {
        // Most cells find a backlog that is obviously short enough; only the others need the division. A backlog of
        // `roomy` in whole picoseconds may be a fraction of one longer.
        self.last_departure.ps() >= now.ps().saturating_add(self.roomy)
            && self.occupancy(now) >= self.capacity
    }

    #[inline]
    fn accept(&mut self, at: Instant) {
        let idle = self.last_departure < at;
        let start = if idle { at } else { self.last_departure };
        self.last_number += if idle { APART } else { 1 };
        self.last_departure = start.plus(self.slot);
    }

    #[inline]
    fn slot(&self) -> Slot {
        self.slot
    }

    #[inline]
    fn last_departure(&self) -> Instant {
        self.last_departure
    }

    #[inline]
    fn last_number(&self) -> u64 {
        self.last_number
    }
}

impl Buffer<CellFifo> {
    /// Handles every arrival before `until`; returns how many cells there were.
    pub(super) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams<Cell>,
        flight: &mut InFlight,
    ) -> u64 {
        if let Some(mut accounts) = self.queue.accounts.take() {
            let cells = self.serve_accounted(policy, &mut accounts, until, streams);
            self.queue.accounts = Some(accounts);
            return cells;
        }
        if let Some(mut control) = self.control.take() {
            let cells = self.serve_controlled(policy, &mut control, until, streams, flight);
            self.control = Some(control);
            return cells;
        }
        if self.merge.takes_turns(streams) {
            self.serve_plain::<true, P>(policy, until, streams)
        } else {
            self.serve_plain::<false, P>(policy, until, streams)
        }
    }

    /// As [`Buffer::serve`], where nothing has to be known of a cell that was accepted. `TURNS`: as for [`Merge::next`].
    #[inline(never)]
    fn serve_plain<const TURNS: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams<Cell>,
    ) -> u64 {
        let (mut cells, mut tally, mut train) = (0, Tally::default(), Train::default());
        while self.merge.next::<TURNS, _>(until, streams, &mut train) {
            cells += u64::from(train.count);
            if train.count == 1 {
                self.on_cell(policy, &mut train, &mut tally, streams);
                if !TURNS && let Some(rounds) = self.merge.rounds(until, streams, &mut self.rows) {
                    cells += u64::from(rounds) * self.rows.len() as u64;
                    self.on_rounds(policy, rounds, &mut tally, streams);
                }
            } else {
                self.on_row(policy, &mut train, &mut tally, streams);
            }
        }
        self.settle_cells(&tally);
        cells
    }

    /// Adds up what was counted during a visit; returns the largest occupancy in it.
    pub(super) fn settle_cells(&mut self, tally: &Tally) -> u64 {
        // Once a visit is enough: the fullest moment is the one with the longest sojourn.
        let fullest = tally.longest.slots(self.queue.slot);
        assert!(fullest <= self.queue.capacity, "the policy accepted a cell into a full buffer");
        self.settle(tally);
        fullest
    }

    /// A train of more than one cell arrives, with none of another input in between.
    #[inline(always)]
    pub(super) fn on_row<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        if train.slot > self.queue.slot {
            return self.on_slow_row(policy, train, tally, streams);
        }
        let gaps = self.gaps_behind(train);
        let admitted = self.admits(policy, train.first, &train.car);
        if let Some(ecn) = admitted {
            // A frame that is marked is marked in every cell, here by the first for the others.
            train.car.ecn = ecn;
            if let Some(gaps) = gaps
                && policy.accepts_rest(&train.car)
            {
                return self.accept_row(train, gaps, tally, streams);
            }
        }
        self.on_parts(policy, train, admitted.is_some(), tally, streams);
    }

    /// A train arrives of which not every cell is accepted, or which does not depart in one row; `accepted` is what the policy
    /// says to the first.
    #[cold]
    fn on_parts<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        accepted: bool,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        if accepted {
            self.accept_cell(&mut Train::single(train.first, train.car), tally, streams);
        }
        while train.count > 1 {
            train.advance(1);
            self.on_cell(policy, &mut Train::single(train.first, train.car), tally, streams);
        }
    }

    /// A train arrives whose cells come more slowly than they leave, as a rate or a slower link lets them. Those that find the line
    /// idle go on as they come.
    #[inline(never)]
    fn on_slow_row<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        loop {
            let idle = self.queue.last_departure <= train.first;
            if let Some(ecn) = self.admits(policy, train.first, &train.car) {
                train.car.ecn = ecn;
                if idle && policy.accepts_rest(&train.car) {
                    return self.accept_slow_row(train, tally, streams);
                }
                self.accept_cell(&mut Train::single(train.first, train.car), tally, streams);
            }
            if train.count == 1 {
                return;
            }
            train.advance(1);
        }
    }

    /// Trains arrive whose cells take turns, `rounds` cells of each: `rows`. The policy is asked about the first round. If it
    /// accepts that and will accept the rest, and there is room for all, the others follow at once: the line is busy from
    /// the first round on, because a round comes at least as fast as it leaves.
    #[inline(never)]
    fn on_rounds<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        rounds: u32,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        let mut rows = std::mem::take(&mut self.rows);
        let turns = rows.len() as u64;
        let mut whole = Instant::default().plus(rows[0].slot)
            <= Instant::default().plus_slots(self.queue.slot, turns)
            && self.queue.has_room(rows[0].first, u64::from(rounds) * turns);
        for row in &mut rows {
            match self.admits(policy, row.first, &row.car) {
                Some(ecn) => {
                    row.car.ecn = ecn;
                    whole &= policy.accepts_rest(&row.car);
                    self.accept_cell(&mut Train::single(row.first, row.car), tally, streams);
                }
                None => whole = false,
            }
            row.drop_first(row.first.plus(row.slot));
        }
        if whole && self.parts(&rows) {
            self.accept_rounds(rounds - 1, &rows, tally, streams);
        } else {
            for _ in 1..rounds {
                for row in &mut rows {
                    if whole {
                        self.accept_cell(&mut Train::single(row.first, row.car), tally, streams);
                    } else {
                        self.on_cell(policy, &mut Train::single(row.first, row.car), tally, streams);
                    }
                    row.drop_first(row.first.plus(row.slot));
                }
            }
        }
        self.rows = rows;
    }

    /// Whether every row goes another way, in one train: its cells may not be too far apart for that.
    fn parts(&self, rows: &[Train<Cell>]) -> bool {
        let output = |row: &Train<Cell>| self.connections[row.car.vc as usize].output;
        let different =
            |place: usize| rows[..place].iter().all(|other| output(other) != output(&rows[place]));
        rows.len() <= 16 && (1..rows.len()).all(different)
    }

    /// Accepts all cells of `rows`, which arrive while the line is busy and take turns on it as they did on their way here.
    fn accept_rounds(
        &mut self,
        rounds: u32,
        rows: &[Train<Cell>],
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        let (queue, turns) = (&mut self.queue, rows.len() as u64);
        for row in rows {
            queue.extend(1);
            let (first, number) = (queue.last_departure, queue.last_number);
            let slots = turns * u64::from(rounds - 1);
            let last = first.plus_slots(queue.slot, slots).since(row.arrival(rounds - 1));
            tally.sojourns = tally.sojourns.plus_row(first.since(row.first), last, u64::from(rounds));
            tally.longest = tally.longest.max(last);
            let connection = &mut self.connections[row.car.vc as usize];
            connection.accepted[usize::from(row.car.clp)] += u64::from(rounds);
            let car = Cell { vc: connection.label, ..row.car };
            let gaps = Train::<Cell>::even_gaps(turns, rounds);
            let first = first.delayed(self.delay);
            let row = Train { first, slot: queue.slot, gaps, count: rounds, car };
            streams[connection.output].push(number, number + slots, &row);
        }
        queue.extend(turns * u64::from(rounds - 1));
    }

    /// If all cells of `train` would find room and depart as a row: the gaps of that row.
    #[inline]
    fn gaps_behind(&self, train: &Train<Cell>) -> Option<u64> {
        let queue = &self.queue;
        if queue.last_departure <= train.first && train.slot == queue.slot {
            // Each cell has left when the next one comes.
            return Some(train.gaps);
        }
        // Cells come at least as fast as they leave: the row departs back to back.
        (train.gaps == 0 && queue.has_room(train.first, u64::from(train.count))).then_some(0)
    }

    /// Accepts all cells of `train`, which depart as a row with `gaps`.
    #[inline(always)]
    fn accept_row(
        &mut self,
        train: &mut Train<Cell>,
        gaps: u64,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        let (queue, count) = (&mut self.queue, train.count);
        queue.accept(train.first);
        let (first, number) = (queue.last_departure, queue.last_number);
        let mut sojourn = first.since(train.first);
        if train.slot == queue.slot {
            tally.sojourns = tally.sojourns.plus(sojourn, u64::from(count));
        } else {
            // The row comes faster than it leaves: each cell waits longer than the one before.
            let first_sojourn = sojourn;
            sojourn = first_sojourn.plus(queue.slot.minus(train.slot), u64::from(count - 1));
            tally.sojourns = tally.sojourns.plus_row(first_sojourn, sojourn, u64::from(count));
        }
        (train.slot, train.gaps) = (queue.slot, gaps);
        queue.extend(train.slots_to(count - 1));
        self.send_row(train, first, number, sojourn, tally, streams);
    }

    /// Accepts all cells of `train`, which come more slowly than they leave and find the line idle: each has left when the next one
    /// comes, and they go on as they came.
    fn accept_slow_row(&mut self, train: &mut Train<Cell>, tally: &mut Tally, streams: &mut Streams<Cell>) {
        let queue = &mut self.queue;
        queue.accept(train.first);
        let first = queue.last_departure;
        let sojourn = first.since(train.first);
        tally.sojourns = tally.sojourns.plus(sojourn, u64::from(train.count));
        queue.last_departure = first.plus_slots(train.slot, train.slots_to(train.count - 1));
        // They are on no grid of this link's slots.
        queue.last_number += APART;
        self.send_row(train, first, self.queue.last_number, sojourn, tally, streams);
        self.queue.last_number += APART;
    }

    /// Sends the cells of a row on, which the queue has just accepted: the first leaves at `first`, and has `number`; the last one's
    /// sojourn, the longest of them, is `sojourn`. `train` becomes what arrives at the other end.
    #[inline(always)]
    fn send_row(
        &mut self,
        train: &mut Train<Cell>,
        first: Instant,
        number: u64,
        sojourn: Span,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        let (vc, count) = (train.car.vc, train.count);
        tally.longest = tally.longest.max(sojourn);
        let connection = &mut self.connections[vc as usize];
        connection.accepted[usize::from(train.car.clp)] += u64::from(count);
        train.first = first.delayed(self.delay);
        train.car.vc = connection.label;
        streams[connection.output].push(number, self.queue.last_number, train);
        if u32::from(train.car.position) + count == u32::from(train.car.length) {
            connection.at_frame_start = true;
            self.end_frame(vc, Kind::Data, sojourn);
        }
    }
}
