//! Packets that a link holds back, so that later ones overtake them.

use std::collections::VecDeque;

use celltrain_atm::Cell;
use celltrain_engine::{Instant, Time, random::Generator, time::NEVER};

use crate::{flight::Packet, scenario::Reorder};

/// The packets that a link holds back, in the order of their arrival: each for the same time.
///
/// Behind such a link the frames of a VC have another order, and so other numbers: contents leave the VC's payload queue here, and
/// enter another one as the packets go on.
#[derive(Debug)]
pub(crate) struct Reordering {
    params: Reorder,
    generator: Generator,
    waiting: VecDeque<(Instant, Cell, Packet)>,
    held_back: u64,
}

impl Reordering {
    pub(crate) fn new(params: Reorder, generator: Generator) -> Self {
        Self { params, generator, waiting: VecDeque::new(), held_back: 0 }
    }

    /// Holds a packet back that would arrive at `at`, or does not; returns whether it does.
    pub(super) fn holds_back(&mut self, at: Instant, cell: Cell, packet: &Packet) -> bool {
        if self.generator.unit() >= self.params.share {
            return false;
        }
        let arrival = at.delayed(self.params.delay.ps());
        assert!(self.waiting.back().is_none_or(|last| last.0 <= arrival), "packets come in order");
        self.waiting.push_back((arrival, cell, *packet));
        self.held_back += 1;
        true
    }

    /// When the next packet arrives that was held back.
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(NEVER, |first| first.0.ps())
    }

    /// Takes the next packet, if it arrives before `until`.
    pub(super) fn leave(&mut self, until: Time) -> Option<(Instant, Cell, Packet)> {
        self.leave_if(|first| first.ps() < until)
    }

    /// Takes the next packet, if one that arrives at `at` does not overtake it: of packets that arrive at once the first to come is the first.
    pub(super) fn leave_first(&mut self, at: Instant) -> Option<(Instant, Cell, Packet)> {
        self.leave_if(|first| first <= at)
    }

    fn leave_if(&mut self, goes: impl FnOnce(Instant) -> bool) -> Option<(Instant, Cell, Packet)> {
        if goes(self.waiting.front()?.0) { self.waiting.pop_front() } else { None }
    }

    /// Packets that are held back.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Packets held back so far.
    pub(super) fn held_back(&self) -> u64 {
        self.held_back
    }
}
