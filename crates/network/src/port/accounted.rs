//! A FIFO of cells whose policy keeps accounts: departures are known at once as in any other, but the policy sees who has how
//! much in the buffer, and hears of departures when their time comes.

use std::collections::VecDeque;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortView, Verdict},
    cell::Ecn,
};
use celltrain_engine::{
    Instant, Time,
    stream::{Streams, Train},
};

use super::{
    buffer::{Buffer, Queue, Tally},
    cells::CellFifo,
};

/// What is in the buffer, and whose it is.
#[derive(Debug, Clone)]
pub(super) struct Accounts {
    /// The cells in the buffer, and when the last bit of each is sent.
    cells: VecDeque<(Instant, Cell)>,
    by_vc: Vec<u64>,
    by_clp: [u64; 2],
    /// VCs with cells in the buffer.
    active: u64,
}

impl Accounts {
    /// Of an empty buffer that `vcs` VCs cross.
    pub(super) fn new(vcs: usize) -> Self {
        Self { cells: VecDeque::new(), by_vc: vec![0; vcs], by_clp: [0; 2], active: 0 }
    }

    /// `cell` is accepted and leaves at `departure`.
    fn enter(&mut self, departure: Instant, cell: Cell) {
        let size = &mut self.by_vc[cell.vc as usize];
        self.active += u64::from(*size == 0);
        *size += 1;
        self.by_clp[usize::from(cell.clp)] += 1;
        self.cells.push_back((departure, cell));
    }

    /// Tells `policy` of the departures up to `now`.
    fn leave<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        while let Some(&(departure, cell)) = self.cells.front()
            && departure <= now
        {
            self.cells.pop_front();
            let size = &mut self.by_vc[cell.vc as usize];
            *size -= 1;
            self.active -= u64::from(*size == 0);
            self.by_clp[usize::from(cell.clp)] -= 1;
            policy.on_departure(&cell, departure.ps());
        }
    }
}

/// The port as the policy sees it when a cell arrives.
struct Arrival<'a> {
    accounts: &'a Accounts,
    capacity: u64,
    first: bool,
}

impl PortView for Arrival<'_> {
    #[inline]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline]
    fn occupancy(&self) -> u64 {
        self.accounts.cells.len() as u64
    }

    #[inline]
    fn is_first(&self) -> bool {
        self.first
    }

    #[inline]
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.accounts.by_vc[vc as usize]
    }

    #[inline]
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.accounts.by_clp[usize::from(clp)]
    }

    #[inline]
    fn active_vcs(&self) -> u64 {
        self.accounts.active
    }
}

impl Buffer<CellFifo> {
    /// As [`Buffer::serve_plain`], keeping accounts.
    #[inline(never)]
    pub(super) fn serve_accounted<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        accounts: &mut Accounts,
        until: Time,
        streams: &mut Streams<Cell>,
    ) -> u64 {
        let (mut cells, mut tally, mut train) = (0, Tally::default(), Train::default());
        while self.merge.next::<false, _>(until, streams, &mut train) {
            cells += u64::from(train.count);
            loop {
                accounts.leave(policy, train.first);
                let mut cell = Train::single(train.first, train.car);
                self.on_accounted(policy, accounts, &mut cell, &mut tally, streams);
                if train.count == 1 {
                    break;
                }
                train.advance(1);
            }
        }
        accounts.leave(policy, Instant::start_of(until));
        self.settle_cells(&tally);
        cells
    }

    /// A cell arrives: the policy decides, the port obeys.
    #[inline(always)]
    fn on_accounted<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        accounts: &mut Accounts,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        let at = cell.first;
        let connection = &mut self.connections[cell.car.vc as usize];
        let first = std::mem::replace(&mut connection.at_frame_start, cell.car.is_last());
        let arrival = Arrival { accounts, capacity: self.queue.capacity(), first };
        match policy.on_arrival(&cell.car, &arrival, at.ps()) {
            Verdict::Accept => {}
            Verdict::Mark => {
                self.stats.marked += u64::from(first);
                cell.car.ecn = Ecn::Marked;
            }
            Verdict::Discard(reason) => return self.discard(at, &cell.car, reason),
            Verdict::PushOut(_) => unreachable!("a policy that pushes out has a port that stores its queue"),
        }
        let car = cell.car;
        self.accept_cell(cell, tally, streams);
        accounts.enter(self.queue.last_departure(), car);
    }
}
