//! How long cells and octets take at the rates of a network, in the ratio of these rates.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use celltrain_atm::cell::CELL_BITS;
use celltrain_engine::{Slot, common_rate::CommonRates, quantity::BitRate};

use crate::{
    partition::root,
    scenario::{Flow, Framing, Graph, Link, Traffic},
};

/// The slots of the parts of a network that no link joins. What is in one changes nothing in another.
#[derive(Debug)]
pub(crate) struct SlotsOfParts {
    /// By node.
    parts: Vec<usize>,
    slots: BTreeMap<usize, Slots>,
}

impl SlotsOfParts {
    /// Those of `graph`.
    pub(crate) fn of(graph: &Graph) -> Self {
        let parts = parts(graph);
        let place = |link: &Link| (parts[link.from], link.framing == Framing::Cells);
        let mut rates: BTreeMap<_, Rates> = BTreeMap::new();
        for link in &graph.links {
            rates.entry(place(link)).or_default().links.insert(Reverse(link.rate.0));
        }
        for flow in &graph.flows {
            let sent = sending(flow).map(|rate| Reverse(rate.0));
            rates.entry(place(&graph.links[flow.route[0]])).or_default().sent.extend(sent);
        }
        let mut common = |part, cells, bits| rates.remove(&(part, cells)).unwrap_or_default().common(bits);
        let mut slots = |part| Slots { cells: common(part, true, CELL_BITS), octets: common(part, false, 8) };
        let slots =
            parts.iter().collect::<BTreeSet<_>>().into_iter().map(|&part| (part, slots(part))).collect();
        Self { parts, slots }
    }

    /// Those of the part that `link` is in.
    pub(crate) fn at(&self, link: &Link) -> &Slots {
        &self.slots[&self.parts[link.from]]
    }
}

/// The different rates of a part of a network, the highest first.
#[derive(Default)]
struct Rates {
    /// Those that links have at first: which change a run sees depends on how long it is.
    links: BTreeSet<Reverse<u64>>,
    /// Those at which flows send.
    sent: BTreeSet<Reverse<u64>>,
}

impl Rates {
    fn common(self, bits: u64) -> CommonRates {
        CommonRates::of(bits, self.links.into_iter().chain(self.sent).map(|Reverse(rate)| BitRate(rate)))
    }
}

/// The part of each node: the number of one of its nodes.
fn parts(graph: &Graph) -> Vec<usize> {
    let mut roots: Vec<_> = (0..graph.nodes.len()).collect();
    for link in &graph.links {
        let (from, to) = (root(&mut roots, link.from), root(&mut roots, link.to));
        roots[from.max(to)] = from.min(to);
    }
    (0..roots.len()).map(|node| root(&mut roots, node)).collect()
}

/// How long cells and octets take.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    cells: CommonRates,
    octets: CommonRates,
}

impl Slots {
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
