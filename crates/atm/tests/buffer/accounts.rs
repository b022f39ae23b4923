//! A model of a FIFO that keeps accounts: a list of cells, counted anew for each question.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs, PortContext, PortState, Verdict, View},
    contract::Contract,
    quantity::Unit,
};
use celltrain_engine::{
    quantity::BitRate,
    random::{Generator, Randomness},
};

use crate::model::erased;

/// The line rate of all ports.
pub(crate) const LINE: BitRate = BitRate(155_520_000);

/// A port of `capacity` cells with VCs under these contracts.
pub(crate) fn context(capacity: u64, vcs: &[Contract]) -> PortContext<'_> {
    PortContext {
        capacity,
        unit: Unit::Cells,
        rate: LINE,
        overhead: 0,
        vcs,
        generator: generator(0, "policy"),
    }
}

/// A generator of the tests' own.
pub(crate) fn generator(replication: u64, name: &str) -> Generator {
    Randomness { seed: 1, replication }.named(name)
}

/// What is in the buffer, and what became of everything.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    capacity: u64,
    /// In the order of arrival; the first is in transmission.
    pub(crate) cells: VecDeque<Cell>,
    pub(crate) sent: Vec<Cell>,
    /// The VC and number of every frame of which a cell was sent.
    begun: BTreeSet<(u32, u32)>,
    /// Whether the cell at hand is the first of its frame.
    first: bool,
    /// By VC, whether the last cell seen had an end mark.
    ended: BTreeMap<u32, bool>,
}

impl Buffer {
    /// Whether the cell at hand is the first of its frame.
    pub(crate) fn is_first(&self) -> bool {
        self.first
    }

    fn count(&self, matches: impl Fn(&Cell) -> bool) -> u64 {
        self.cells.iter().filter(|cell| matches(cell)).count() as u64
    }

    /// The last frame of `vc` as far as it is in the buffer, if no cell of it is in transmission or was sent.
    fn whole_last_frame(&self, vc: u32) -> Option<u32> {
        let last = self.cells.iter().rfind(|cell| cell.vc == vc)?;
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, last.frame);
        let begun = of_frame(&self.cells[0]) || self.begun.contains(&(vc, last.frame));
        (!begun).then_some(last.frame)
    }
}

impl PortState for Buffer {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn occupancy(&self) -> u64 {
        self.cells.len() as u64
    }

    fn is_full(&self) -> bool {
        self.occupancy() >= self.capacity
    }

    fn is_vc_full(&self) -> bool {
        false
    }

    fn is_packet(&self) -> bool {
        false
    }

    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.count(|cell| cell.vc == vc)
    }

    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.count(|cell| cell.clp == clp)
    }

    fn active_vcs(&self) -> u64 {
        self.cells.iter().map(|cell| cell.vc).collect::<BTreeSet<_>>().len() as u64
    }

    fn last_frame(&self, vc: u32) -> Option<u64> {
        let frame = self.whole_last_frame(vc)?;
        Some(self.count(|cell| (cell.vc, cell.frame) == (vc, frame)))
    }

    fn is_too_large(&self) -> bool {
        false
    }

    fn waiting_frames(&self, vc: u32, _: bool) -> u64 {
        unreachable!("nothing is pushed out at the head of the queue of VC {vc} here")
    }

    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        unreachable!("nothing is pushed out at the head of the queue of VC {vc} here")
    }

    fn holds_more(&self, _: u64) -> bool {
        unreachable!("nothing is decided at the head of a queue here")
    }
}

/// A policy in front of its buffer.
#[derive(Debug, Clone)]
pub(crate) struct Port<P> {
    pub(crate) policy: P,
    pub(crate) buffer: Buffer,
}

/// What became of a cell that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) verdict: Verdict<u32>,
    /// Whose last frames were pushed out first, and how many cells they were.
    pub(crate) pushed_out: Vec<(u32, u64)>,
}

impl Fate {
    pub(crate) fn is_accepted(&self) -> bool {
        self.verdict == Verdict::Accept
    }
}

impl<P: BufferPolicy> Port<P> {
    pub(crate) fn new(params: &P::Params, capacity: u64, vcs: &[Contract]) -> Self {
        Self::of(P::new(params, &context(capacity, vcs)).unwrap(), capacity)
    }

    pub(crate) fn of(policy: P, capacity: u64) -> Self {
        let buffer = Buffer {
            capacity,
            cells: VecDeque::new(),
            sent: Vec::new(),
            begun: BTreeSet::new(),
            first: true,
            ended: BTreeMap::new(),
        };
        Self { policy, buffer }
    }

    /// A cell arrives, and the policy is obeyed.
    pub(crate) fn arrive(&mut self, cell: Cell) -> Fate {
        self.buffer.first = self.buffer.ended.insert(cell.vc, cell.is_last()).unwrap_or(true);
        let mut pushed_out = Vec::new();
        loop {
            let verdict = self.policy.on_arrival(&cell, &View::new(&self.buffer, self.buffer.first), 0);
            let verdict = erased::<P::Needs>(verdict);
            match verdict {
                Verdict::PushOut(vc) => pushed_out.push((vc, self.push_out(vc))),
                Verdict::Accept => {
                    assert!(self.buffer.cells.len() < self.buffer.capacity as usize, "overfilled: {cell:?}");
                    self.buffer.cells.push_back(cell);
                    return Fate { verdict, pushed_out };
                }
                _ => return Fate { verdict, pushed_out },
            }
        }
    }

    fn push_out(&mut self, vc: u32) -> u64 {
        let frame = self.buffer.whole_last_frame(vc).expect("the policy names a frame that is still whole");
        let of_frame = |cell: &Cell| (cell.vc, cell.frame) == (vc, frame);
        let complete = self.buffer.cells.iter().any(|cell| of_frame(cell) && cell.is_last());
        let before = self.buffer.cells.len();
        self.buffer.cells.retain(|cell| !of_frame(cell));
        let count = (before - self.buffer.cells.len()) as u64;
        if let Some(removed) = P::Needs::removed(vc, count, complete) {
            self.policy.on_push_out(removed);
        }
        count
    }

    /// The cell in transmission leaves, if there is one.
    pub(crate) fn send(&mut self) {
        if let Some(cell) = self.buffer.cells.pop_front() {
            self.buffer.sent.push(cell);
            self.buffer.begun.insert((cell.vc, cell.frame));
            if let Some(departure) = P::Needs::departure(&cell, 0) {
                self.policy.on_departure(departure);
            }
        }
    }

    /// As [`BufferPolicy::illegal`].
    pub(crate) fn illegal(&self) -> Option<u64> {
        self.policy.illegal(&View::new(&self.buffer, true))
    }

    /// How many frames lost one of the cells `lost` and had others sent.
    pub(crate) fn stumps(&self, lost: &[Cell]) -> usize {
        let lost: BTreeSet<_> = lost.iter().map(|cell| (cell.vc, cell.frame)).collect();
        lost.intersection(&self.buffer.begun).count()
    }
}

/// Random cells: frames of random lengths on all VCs, interleaved at random.
pub(crate) struct Traffic {
    generator: Generator,
    next: Vec<Cell>,
    lengths: (u16, u16),
    /// One in so many end marks is lost on the way here.
    lost_ends: u64,
}

impl Traffic {
    /// Frames of `lengths.0` to `lengths.1` cells on `vcs` VCs.
    pub(crate) fn new(replication: u64, vcs: usize, lengths: (u16, u16)) -> Self {
        let mut traffic =
            Self { generator: generator(replication, "traffic"), next: vec![], lengths, lost_ends: u64::MAX };
        traffic.next =
            (0..vcs as u32).map(|vc| Cell { vc, length: traffic.length(), ..Cell::default() }).collect();
        traffic
    }

    /// The same, but one in `lost_ends` last cells never arrives.
    pub(crate) fn losing_ends(self, lost_ends: u64) -> Self {
        Self { lost_ends, ..self }
    }

    fn length(&mut self) -> u16 {
        let (low, high) = self.lengths;
        low + self.generator.below(u64::from(high - low) + 1) as u16
    }

    /// The next cell of `vc` that arrives.
    pub(crate) fn cell_of(&mut self, vc: u32) -> Cell {
        loop {
            let cell = self.next[vc as usize];
            let length = self.length();
            let next = &mut self.next[vc as usize];
            next.position += 1;
            if cell.is_last() {
                *next = Cell { vc, frame: cell.frame + 1, length, ..Cell::default() };
            }
            let lost = cell.is_last() && self.generator.below(self.lost_ends) == 0;
            if !lost {
                return cell;
            }
        }
    }

    /// The cells of a slot: none to `most` VCs send one each (they come over links of the rate of the line), or `speed`
    /// each.
    pub(crate) fn slot(&mut self, most: u64, speed: usize) -> Vec<Cell> {
        let vcs = self.next.len() as u64;
        let count = self.generator.below(most.min(vcs) + 1);
        let begin = self.generator.below(vcs);
        let vcs = (0..count).map(|step| ((begin + step) % vcs) as u32);
        vcs.flat_map(|vc| vec![vc; speed]).map(|vc| self.cell_of(vc)).collect()
    }
}
