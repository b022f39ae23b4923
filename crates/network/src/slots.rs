//! How long cells and octets take at the rates of a network, in the ratio of these rates.

use std::{cmp::Reverse, collections::BTreeSet};

use celltrain_atm::cell::CELL_BITS;
use celltrain_engine::{Slot, common_rate::CommonRates, quantity::BitRate};

use crate::scenario::{Flow, Framing, Graph, Link, Traffic};

/// The slots of a network.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    cells: CommonRates,
    octets: CommonRates,
}

impl Slots {
    /// Those of the links, sources and shapers of `graph`.
    pub(crate) fn of(graph: &Graph) -> Self {
        let common = |framing, bits| {
            let links = graph.links.iter().filter(|link| link.framing == framing);
            let sent = graph.flows.iter().filter(|flow| graph.links[flow.route[0]].framing == framing);
            let (links, sent) = (descending(links.flat_map(rates)), descending(sent.flat_map(sending)));
            CommonRates::of(bits, links.chain(sent))
        };
        Self { cells: common(Framing::Cells, CELL_BITS), octets: common(Framing::Packets, 8) }
    }

    /// The time of a cell at `rate`.
    pub(crate) fn cell(&self, rate: BitRate) -> Slot {
        self.cells.slot(1, rate)
    }

    /// The time of so many octets of packets at `rate`.
    pub(crate) fn octets(&self, count: u64, rate: BitRate) -> Slot {
        self.octets.slot(count, rate)
    }
}

#[cfg(test)]
impl Slots {
    /// Those of no network, each rounded by itself.
    pub(crate) fn alone() -> Self {
        let none = |bits| CommonRates::of(bits, []);
        Self { cells: none(CELL_BITS), octets: none(8) }
    }
}

/// The different ones, the highest first.
fn descending(rates: impl Iterator<Item = BitRate>) -> impl Iterator<Item = BitRate> {
    let rates: BTreeSet<_> = rates.map(|BitRate(rate)| Reverse(rate)).collect();
    rates.into_iter().map(|Reverse(rate)| BitRate(rate))
}

/// The rates that a link has in the course of a run.
fn rates(link: &Link) -> impl Iterator<Item = BitRate> {
    [link.rate].into_iter().chain(link.rate_changes.iter().map(|change| change.rate))
}

/// The constant rates at which a flow sends.
fn sending(flow: &Flow) -> impl Iterator<Item = BitRate> {
    let source = match &*flow.traffic {
        Traffic::Cbr(form) => Some(form.rate),
        Traffic::Bernoulli(form) => Some(form.peak),
        Traffic::OnOff(form) => Some(form.peak),
        _ => None,
    };
    [source, flow.contract.shaped_rate()].into_iter().flatten().map(|rate| rate.0)
}
