//! A model of a buffer: cells leave one slot apart; the list of their departures is all there is.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortContext, PortView, Verdict},
    contract::Contract,
};
use celltrain_engine::{quantity::BitRate, random::Randomness};

/// A slot, in the model's unit of time.
pub(crate) const SLOT: u64 = 2;

/// A port of `capacity` cells with `vcs` VCs under the default contract.
pub(crate) fn context(capacity: u64, vcs: usize) -> PortContext<'static> {
    let vcs = Vec::leak(vec![Contract::default(); vcs]);
    let generator = Randomness { seed: 1, replication: 0 }.named("policy");
    PortContext { capacity, rate: BitRate(155_520_000), vcs, generator }
}

/// A cell that arrived: when, how many cells it found, and what the policy said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) at: u64,
    pub(crate) cell: Cell,
    pub(crate) found: u64,
    pub(crate) verdict: Verdict,
}

/// What the policy sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) capacity: u64,
    pub(crate) occupancy: u64,
    pub(crate) first: bool,
}

impl PortView for View {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn occupancy(&self) -> u64 {
        self.occupancy
    }

    fn is_first(&self) -> bool {
        self.first
    }
}

/// Puts cells with their arrival times, in order, to `policy` in front of a buffer of `capacity` cells.
pub(crate) fn ask<P: BufferPolicy>(policy: &mut P, capacity: u64, arrivals: &[(u64, Cell)]) -> Vec<Asked> {
    let (mut departures, mut ended) = (Vec::<u64>::new(), BTreeMap::new());
    let mut asked = Vec::with_capacity(arrivals.len());
    for &(at, cell) in arrivals {
        let occupancy = departures.iter().filter(|&&departure| departure > at).count() as u64;
        let first = ended.insert(cell.vc, cell.is_last()).unwrap_or(true);
        let verdict = policy.on_arrival(&cell, &View { capacity, occupancy, first }, at);
        if verdict == Verdict::Accept {
            departures.push(departures.last().map_or(at, |&last| last.max(at)) + SLOT);
        }
        asked.push(Asked { at, cell, found: occupancy, verdict });
    }
    asked
}
