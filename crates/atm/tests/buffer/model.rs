//! A model of a port: a list of the cells or packets in its buffer, which leave one slot apart. All occupancies are
//! counted from the list.

use std::collections::BTreeSet;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, FirstFrames, Needs, PortContext, PortState, Reason, Verdict, Victim, View},
    cell::PAYLOAD_OCTETS,
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
        overhead: 0,
        vcs: contracts,
        generator: generator(),
    }
}

/// `vcs` default contracts.
pub(crate) fn contracts(vcs: usize) -> Vec<Contract> {
    vec![Contract::default(); vcs]
}

/// A contract for each minimum cell rate; zero is none.
pub(crate) fn guarantees(rates: &[u64]) -> Vec<Contract> {
    let contract =
        |&rate: &u64| Contract { mcr: (rate > 0).then_some(CellRate(BitRate(rate))), ..Contract::default() };
    rates.iter().map(contract).collect()
}

/// Whether the cell is queued.
pub(crate) fn is_queued<V>(verdict: Verdict<V>) -> bool {
    matches!(verdict, Verdict::Accept | Verdict::Mark)
}

/// The verdict of a policy that needs `N`, in one type for all policies: of what is pushed out, the VC.
pub(crate) fn erased<N: Needs>(verdict: Verdict<N::Victim>) -> Verdict<u32> {
    match verdict {
        Verdict::Accept => Verdict::Accept,
        Verdict::Mark => Verdict::Mark,
        Verdict::Discard(reason) => Verdict::Discard(reason),
        Verdict::PushOut(victim) => Verdict::PushOut(N::victim(victim).vc()),
    }
}

/// A cell that arrived: when, how many cells it found, and what became of it. Of a cell that was queued and then pushed
/// out the verdict says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) at: Time,
    pub(crate) cell: Cell,
    pub(crate) found: u64,
    /// Whether it found no room.
    pub(crate) full: bool,
    pub(crate) verdict: Verdict<u32>,
}

/// The port: what is in its buffer, and what has arrived.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    capacity: u64,
    /// The most that a VC may take of the buffer.
    pub(crate) vc_capacity: u64,
    /// What the buffer is counted in; a packet is a cell that is the last of its frame.
    unit: Unit,
    /// The cell that arrives.
    hand: Cell,
    /// In the order of departure; the first one is in transmission.
    pub(crate) queue: Vec<Cell>,
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
        let (vc_capacity, unit, hand) = (u64::MAX, Unit::Cells, Cell::default());
        Self { capacity, vc_capacity, unit, hand, queue, departure: Time::MAX, asked: Vec::new() }
    }

    /// An empty buffer of `capacity` units of which a VC may take `vc_capacity`.
    pub(crate) fn limited(capacity: u64, vc_capacity: u64, unit: Unit) -> Self {
        Self { vc_capacity, unit, ..Self::new(capacity) }
    }

    /// What the policy sees as `cell` arrives.
    pub(crate) fn view<N: Needs>(&self, cell: &Cell) -> View<'_, N, Self> {
        let before = self.asked.iter().rfind(|asked| asked.cell.vc == cell.vc);
        View::new(self, before.is_none_or(|before| before.cell.is_last()))
    }

    /// Lets depart what has left by `now`.
    pub(crate) fn depart<P: BufferPolicy>(&mut self, policy: &mut P, now: Time) {
        while !self.queue.is_empty() && self.departure <= now {
            if let Some(departure) = P::Needs::departure(&self.queue.remove(0), self.departure) {
                policy.on_departure(departure);
            }
            self.departure += SLOT;
        }
    }

    /// Puts a cell to the policy and does as it says.
    pub(crate) fn arrive<P: BufferPolicy>(&mut self, policy: &mut P, at: Time, cell: Cell) -> Verdict<u32> {
        self.depart(policy, at);
        self.hand = cell;
        let (found, verdict) = loop {
            match policy.on_arrival(&cell, &self.view(&cell), at) {
                Verdict::PushOut(victim) => self.push_out(policy, P::Needs::victim(victim)),
                verdict => break (self.occupancy(), erased::<P::Needs>(verdict)),
            }
        };
        let full = self.is_full();
        if is_queued(verdict) {
            if self.queue.is_empty() {
                self.departure = at + SLOT;
            }
            self.queue.push(cell);
        }
        self.asked.push(Asked { at, cell, found, full, verdict });
        verdict
    }

    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, victim: Victim) {
        match victim {
            Victim::Last(vc) => {
                self.last_frame(vc).expect("a frame that can be pushed out");
                let last = self.queue.iter().rfind(|cell| cell.vc == vc).expect("a cell of the frame");
                self.remove(policy, vc, last.frame);
            }
            Victim::First(FirstFrames { vc, count, .. }) => {
                let frames = self.waiting_of(vc);
                assert!(count > 0 && count <= frames.len() as u64, "{count} of {frames:?}");
                frames[..count as usize].iter().for_each(|&frame| self.remove(policy, vc, frame));
            }
        }
    }

    /// Takes a frame out of the queue.
    fn remove<P: BufferPolicy>(&mut self, policy: &mut P, vc: u32, frame: u32) {
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, frame);
        let complete = self.queue.iter().any(|cell| of_frame(cell) && cell.is_last());
        let count = self.count(of_frame);
        self.queue.retain(|cell| !of_frame(cell));
        for asked in self.asked.iter_mut().filter(|asked| of_frame(&asked.cell)) {
            asked.verdict = Verdict::Discard(Reason::PushedOut);
        }
        if let Some(removed) = P::Needs::removed(vc, count, complete) {
            policy.on_push_out(removed);
        }
    }

    /// The frames of `vc` in the queue of which nothing has left and nothing is in transmission, the first one first.
    fn waiting_of(&self, vc: u32) -> Vec<u32> {
        let mut frames: Vec<_> =
            self.queue.iter().filter(|cell| cell.vc == vc).map(|cell| cell.frame).collect();
        frames.dedup();
        frames.retain(|&frame| {
            let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, frame);
            let queued = |asked: &&Asked| of_frame(&asked.cell) && is_queued(asked.verdict);
            self.asked.iter().filter(queued).count() as u64 <= self.count(of_frame)
                && !of_frame(&self.queue[0])
        });
        frames
    }
}

impl Model {
    fn count(&self, of: impl Fn(&Cell) -> bool) -> u64 {
        self.queue.iter().filter(|cell| of(cell)).count() as u64
    }

    /// What a cell or packet takes of the buffer.
    fn room(&self, cell: &Cell) -> u64 {
        if self.unit == Unit::Bytes { u64::from(cell.length) * PAYLOAD_OCTETS } else { 1 }
    }

    /// What the cells that match take of it.
    fn taken(&self, of: impl Fn(&Cell) -> bool) -> u64 {
        self.queue.iter().filter(|cell| of(cell)).map(|cell| self.room(cell)).sum()
    }
}

/// What the policy sees, counted from the list.
impl PortState for Model {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn occupancy(&self) -> u64 {
        self.taken(|_| true)
    }

    fn is_full(&self) -> bool {
        let room = self.room(&self.hand);
        self.occupancy() + room > self.capacity || self.is_vc_full()
    }

    fn is_vc_full(&self) -> bool {
        let room = self.room(&self.hand);
        room > self.capacity || self.vc_occupancy(self.hand.vc) + room > self.vc_capacity
    }

    fn is_packet(&self) -> bool {
        self.unit != Unit::Cells
    }

    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.taken(|cell| cell.vc == vc)
    }

    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.taken(|cell| cell.clp == clp)
    }

    fn active_vcs(&self) -> u64 {
        self.queue.iter().map(|cell| cell.vc).collect::<BTreeSet<_>>().len() as u64
    }

    fn last_frame(&self, vc: u32) -> Option<u64> {
        let last = self.queue.iter().rfind(|cell| cell.vc == vc)?;
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, last.frame);
        let arrived = self.asked.iter().filter(|asked| of_frame(&asked.cell)).count() as u64;
        (self.count(of_frame) == arrived && !of_frame(&self.queue[0])).then_some(arrived)
    }

    fn is_too_large(&self) -> bool {
        self.room(&self.hand) > self.capacity.min(self.vc_capacity)
    }

    fn waiting_frames(&self, vc: u32, _: bool) -> u64 {
        self.waiting_of(vc).len() as u64
    }

    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        let waiting = self.queue.iter().skip(1).filter(|cell| cell.vc == vc);
        waiting.map(|cell| u64::from(cell.load())).sum()
    }

    fn holds_more(&self, load: u64) -> bool {
        let waiting = self.queue.iter().skip(1);
        waiting.map(|cell| u64::from(cell.load())).sum::<u64>() > load
    }
}

/// Puts cells with their arrival times, in order, to `policy` in front of a buffer of `capacity` cells.
pub(crate) fn ask<P: BufferPolicy>(policy: &mut P, capacity: u64, arrivals: &[(Time, Cell)]) -> Vec<Asked> {
    ask_at(Model::new(capacity), policy, arrivals)
}

/// The same in front of `model`.
pub(crate) fn ask_at<P: BufferPolicy>(
    mut model: Model,
    policy: &mut P,
    arrivals: &[(Time, Cell)],
) -> Vec<Asked> {
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
