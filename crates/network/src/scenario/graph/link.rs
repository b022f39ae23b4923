//! A directed link and the port that feeds it.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use celltrain_atm::{
    abr::AllocatorParams, buffer::DiscardParams, quantity::Capacity, scheduler::SchedulerParams,
};
use celltrain_engine::{
    quantity::{BitRate, Bytes, Duration},
    time::seconds,
};

use super::{
    super::spec::{BurstLoss, Dark, DelayChanges, Framing, LossUnit, MemorySpec, RateChanges, Reorder},
    nodes::Node,
};

/// A link in one direction, with the output port that feeds it. It reads as its [`LinkParams`], which it shares with links that are
/// alike until it is written to.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Index of the node that sends.
    pub from: usize,
    /// Index of the node that receives.
    pub to: usize,
    /// Which it is of the links from the one to the other, from 1.
    pub(super) number: u32,
    pub(super) params: Arc<LinkParams>,
}

impl Deref for Link {
    type Target = LinkParams;

    fn deref(&self) -> &LinkParams {
        &self.params
    }
}

impl DerefMut for Link {
    fn deref_mut(&mut self) -> &mut LinkParams {
        Arc::make_mut(&mut self.params)
    }
}

impl Link {
    /// What it and its port are called among these nodes: `from > to`, and with several such links `from > to (2)` from the second one on, in the
    /// order of the scenario.
    #[must_use]
    pub fn name(&self, nodes: &[Node]) -> String {
        let ends = self.ends(nodes);
        if self.number == 1 { ends } else { format!("{ends} ({})", self.number) }
    }

    /// The names of its ends, which it may have in common with other links: `from > to`.
    pub(crate) fn ends(&self, nodes: &[Node]) -> String {
        [nodes[self.from].name.as_str(), " > ", &nodes[self.to].name].concat()
    }
}

/// What a link and its output port are like. Links of different rates may still share what is large.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkParams {
    /// Line rate, at the start of the run.
    pub rate: BitRate,
    /// How its rate changes after the start and before the end of the run.
    pub rate_changes: RateChanges,
    /// Time from the end of a cell's transmission to its arrival; where a switch receives, its own delay is included.
    pub delay: Duration,
    /// Whether it carries cells or packets.
    pub framing: Framing,
    /// Bytes that it adds to each packet if it carries packets.
    pub overhead: Bytes,
    /// Share of what it loses at random.
    pub loss: f64,
    /// What it loses at random.
    pub loss_unit: LossUnit,
    /// What it loses in bursts. Few links do.
    pub burst_loss: Option<Arc<BurstLoss>>,
    /// Which packets it holds back.
    pub reorder: Option<Arc<Reorder>>,
    /// When it loses everything.
    pub dark: Option<Arc<Dark>>,
    /// How its delay changes after the start and before the end of the run.
    pub delay_changes: DelayChanges,
    /// Whether its delay changes after the start at all, be it after the end of the run: what a run draws at random must not depend on its
    /// length.
    pub varies: bool,
    /// The shortest that its delay is at any time, as [`LinkParams::delay`] is at the start of the run.
    pub shortest_delay: Duration,
    /// The longest that it is.
    pub longest_delay: Duration,
    /// Buffer of the output port; a host's is unlimited.
    pub buffer: Capacity,
    /// The memory that the output port shares with the others of its switch, if it does.
    pub memory: Option<Arc<MemorySpec>>,
    /// Discard policy of the output port.
    pub discard: Arc<DiscardParams>,
    /// The most that one VC may take of the buffer.
    pub vc_buffer: Capacity,
    /// In which order the output port serves its VCs.
    pub scheduler: Arc<SchedulerParams>,
    /// What tells ABR sources their rates, if anything does.
    pub allocator: Option<Arc<AllocatorParams>>,
}

impl LinkParams {
    /// Whether it does something to what it carries that is not each cell's or frame's own fate.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.burst_loss.is_some() || self.reorder.is_some() || self.dark.is_some() || self.varies
    }

    /// Whether it transmits at different rates in the course of a run.
    #[must_use]
    pub fn changes_rate(&self) -> bool {
        !self.rate_changes.is_empty()
    }

    /// Whether its output port belongs to a switch that pauses the links which lead to it.
    pub(crate) fn pauses(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.pause.is_some())
    }

    /// The rates that it has, one after the other.
    fn rates(&self) -> impl Iterator<Item = BitRate> {
        std::iter::once(self.rate).chain(self.rate_changes.iter().map(|change| change.rate))
    }

    /// The highest of its rates.
    #[must_use]
    pub fn fastest(&self) -> BitRate {
        self.rates().fold(self.rate, Ord::max)
    }

    /// The lowest of its rates.
    #[must_use]
    pub fn slowest(&self) -> BitRate {
        self.rates().fold(self.rate, Ord::min)
    }

    /// What it can transmit from the start to `end`, in bits.
    #[must_use]
    pub fn bits_until(&self, end: Duration) -> f64 {
        let starts = std::iter::once(0).chain(self.rate_changes.iter().map(|change| change.at.ps()));
        let ends = self.rate_changes.iter().map(|change| change.at.ps()).chain([end.ps()]);
        let periods = starts.zip(ends).map(|(from, to)| to.min(end.ps()).saturating_sub(from));
        self.rates().zip(periods).map(|(rate, period)| rate.0 as f64 * seconds(period)).sum()
    }
}
