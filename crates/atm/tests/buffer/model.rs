//! A model of a port: a list of the cells in its buffer, which leave one slot apart. All accounts are counted from the
//! list.

use std::collections::BTreeSet;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortContext, PortView, Reason, Verdict},
    contract::Contract,
    quantity::{CellRate, Unit},
};
use celltrain_engine::{
    Time,
    quantity::BitRate,
    random::{Generator, Randomness},
};

/// A slot, in the model's unit of time.
pub(crate) const SLOT: Time = 2;

/// The generator of the policy under test.
pub(crate) fn generator() -> Generator {
    Randomness { seed: 1, replication: 0 }.named("policy")
}

/// What a policy is told of a port of `capacity` cells with VCs under `contracts`.
pub(crate) fn context(capacity: u64, contracts: &[Contract]) -> PortContext<'_> {
    PortContext {
        capacity,
        unit: Unit::Cells,
        rate: BitRate(155_520_000),
        vcs: contracts,
        generator: generator(),
    }
}

/// `vcs` default contracts.
pub(crate) fn contracts(vcs: usize) -> Vec<Contract> {
    vec![Contract::default(); vcs]
}

/// A contract for each minimum cell rate; nought is none.
pub(crate) fn guarantees(rates: &[u64]) -> Vec<Contract> {
    let contract =
        |&rate: &u64| Contract { mcr: (rate > 0).then_some(CellRate(BitRate(rate))), ..Contract::default() };
    rates.iter().map(contract).collect()
}

/// Whether the cell is queued.
pub(crate) fn is_queued(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Accept | Verdict::Mark)
}

/// A cell that arrived: when, how many cells it found, and what became of it. Of a cell that was queued and then pushed
/// out the verdict says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) at: Time,
    pub(crate) cell: Cell,
    pub(crate) found: u64,
    pub(crate) verdict: Verdict,
}

/// The port: what is in its buffer, and what has arrived.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    capacity: u64,
    /// In the order of departure; the first one is in transmission.
    queue: Vec<Cell>,
    /// When the first cell of the queue leaves.
    departure: Time,
    pub(crate) asked: Vec<Asked>,
}

impl Model {
    /// An empty buffer of `capacity` cells.
    pub(crate) fn new(capacity: u64) -> Self {
        Self::holding(capacity, Vec::new())
    }

    /// A buffer of `capacity` cells with `queue` in it, of which nothing leaves.
    pub(crate) fn holding(capacity: u64, queue: Vec<Cell>) -> Self {
        Self { capacity, queue, departure: Time::MAX, asked: Vec::new() }
    }

    /// What the policy sees as `cell` arrives.
    pub(crate) fn view(&self, cell: &Cell) -> View<'_> {
        let before = self.asked.iter().rfind(|asked| asked.cell.vc == cell.vc);
        View { model: self, first: before.is_none_or(|before| before.cell.is_last()) }
    }

    /// Lets depart what has left by `now`.
    fn depart(&mut self, policy: &mut impl BufferPolicy, now: Time) {
        while !self.queue.is_empty() && self.departure <= now {
            policy.on_departure(&self.queue.remove(0), self.departure);
            self.departure += SLOT;
        }
    }

    /// Puts a cell to the policy and does as it says.
    pub(crate) fn arrive(&mut self, policy: &mut impl BufferPolicy, at: Time, cell: Cell) -> Verdict {
        self.depart(policy, at);
        let (found, verdict) = loop {
            let verdict = policy.on_arrival(&cell, &self.view(&cell), at);
            let Verdict::PushOut(vc) = verdict else { break (self.queue.len() as u64, verdict) };
            self.push_out(policy, vc);
        };
        if is_queued(verdict) {
            if self.queue.is_empty() {
                self.departure = at + SLOT;
            }
            self.queue.push(cell);
        }
        self.asked.push(Asked { at, cell, found, verdict });
        verdict
    }

    fn push_out(&mut self, policy: &mut impl BufferPolicy, vc: u32) {
        let count = self.view(&Cell::default()).last_frame(vc).expect("a frame that can be pushed out");
        let last = *self.queue.iter().rfind(|cell| cell.vc == vc).expect("a cell of the frame");
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, last.frame);
        self.queue.retain(|cell| !of_frame(cell));
        for asked in self.asked.iter_mut().filter(|asked| of_frame(&asked.cell)) {
            asked.verdict = Verdict::Discard(Reason::PushedOut);
        }
        policy.on_push_out(vc, count, last.is_last());
    }
}

/// What the policy sees, counted from the list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) model: &'a Model,
    pub(crate) first: bool,
}

impl View<'_> {
    fn count(&self, of: impl Fn(&Cell) -> bool) -> u64 {
        self.model.queue.iter().filter(|cell| of(cell)).count() as u64
    }
}

impl PortView for View<'_> {
    fn capacity(&self) -> u64 {
        self.model.capacity
    }

    fn occupancy(&self) -> u64 {
        self.count(|_| true)
    }

    fn is_first(&self) -> bool {
        self.first
    }

    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.count(|cell| cell.vc == vc)
    }

    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.count(|cell| cell.clp == clp)
    }

    fn active_vcs(&self) -> u64 {
        self.model.queue.iter().map(|cell| cell.vc).collect::<BTreeSet<_>>().len() as u64
    }

    fn last_frame(&self, vc: u32) -> Option<u64> {
        let last = self.model.queue.iter().rfind(|cell| cell.vc == vc)?;
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, last.frame);
        let arrived = self.model.asked.iter().filter(|asked| of_frame(&asked.cell)).count() as u64;
        (self.count(of_frame) == arrived && !of_frame(&self.model.queue[0])).then_some(arrived)
    }
}

/// Puts cells with their arrival times, in order, to `policy` in front of a buffer of `capacity` cells.
pub(crate) fn ask<P: BufferPolicy>(policy: &mut P, capacity: u64, arrivals: &[(Time, Cell)]) -> Vec<Asked> {
    let mut model = Model::new(capacity);
    for &(at, cell) in arrivals {
        model.arrive(policy, at, cell);
    }
    model.asked
}

/// A buffer of `capacity` cells that holds so many cells of each VC.
pub(crate) fn filled(capacity: u64, by_vc: &[u64]) -> Model {
    let of = |(vc, &count): (usize, &u64)| {
        (0..count).map(move |_| Cell { vc: vc as u32, length: 1, ..Cell::default() })
    };
    Model::holding(capacity, by_vc.iter().enumerate().flat_map(of).collect())
}

/// Whether the policy admits a frame of `vc` with priority `clp` that finds `model`.
pub(crate) fn admits<P: BufferPolicy>(policy: &mut P, model: &Model, vc: u32, clp: bool) -> bool {
    let cell = Cell { vc, length: 2, clp, ..Cell::default() };
    match policy.on_arrival(&cell, &model.view(&cell), 0) {
        Verdict::Accept => true,
        Verdict::Discard(Reason::FrameRefused) => false,
        other => panic!("{other:?}"),
    }
}
