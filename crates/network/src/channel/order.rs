//! Packets that a link holds back, so that later ones overtake them.

use std::collections::BTreeMap;

use celltrain_atm::Cell;
use celltrain_engine::{Instant, Time, random::Generator, time::NEVER};

use crate::{flight::Packet, scenario::Reorder};

/// The packets on a link that does not keep their order, by the instant at which they arrive.
///
/// Behind such a link the frames of a VC have another order, and so other numbers: contents leave the VC's payload queue here, and
/// enter another one as the packets go on.
#[derive(Debug)]
pub(crate) struct Reordering {
    params: Reorder,
    generator: Generator,
    waiting: BTreeMap<(Instant, u64), (Cell, Packet)>,
    /// Packets that have come, and how many of them were held back.
    come: u64,
    held_back: u64,
}

impl Reordering {
    pub(crate) fn new(params: Reorder, generator: Generator) -> Self {
        Self { params, generator, waiting: BTreeMap::new(), come: 0, held_back: 0 }
    }

    /// Takes a packet that arrives at `at` unless it is held back; returns whether it is.
    pub(super) fn enter(&mut self, at: Instant, cell: Cell, packet: Packet) -> bool {
        let held_back = self.generator.unit() < self.params.share;
        let at = if held_back { at.delayed(self.params.delay.ps()) } else { at };
        self.waiting.insert((at, self.come), (cell, packet));
        self.come += 1;
        self.held_back += u64::from(held_back);
        held_back
    }

    /// When the next packet arrives.
    pub(super) fn next(&self) -> Time {
        self.waiting.first_key_value().map_or(NEVER, |((at, _), _)| at.ps())
    }

    /// Takes the next packet, if it arrives before `until`. Of packets that arrive at once the first to come is the first.
    pub(super) fn leave(&mut self, until: Time) -> Option<(Instant, Cell, Packet)> {
        let first = self.waiting.first_entry().filter(|first| first.key().0.ps() < until)?;
        let (at, (cell, packet)) = (first.key().0, first.remove());
        Some((at, cell, packet))
    }

    /// Packets on the link.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Packets held back so far.
    pub(super) fn held_back(&self) -> u64 {
        self.held_back
    }
}
