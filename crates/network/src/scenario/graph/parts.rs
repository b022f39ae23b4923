//! What a network consists of.

use std::{num::NonZeroU32, sync::Arc};

use celltrain_atm::{
    abr::Rate,
    contract::{Category, Contract},
    quantity::CellRate,
};
use celltrain_engine::quantity::{BitRate, Duration};
use celltrain_tcp::{IP_HEADER_BYTES, Params, TCP_HEADER_BYTES, TIMESTAMPS_BYTES};

use super::{
    super::{
        group_names::GroupNames,
        spec::{LossDirection, Start, Traffic},
    },
    link::Link,
    nodes::Node,
};

/// A network and the flows that cross it, in an order that depends on the scenario alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links in one direction; a duplex link is two, one after the other.
    pub links: Vec<Link>,
    /// Flows: first those that the topology makes, then those added by `[[flow]]`.
    pub flows: Vec<Flow>,
    /// What the groups of flows are called.
    pub groups: GroupNames,
    /// Segments that links lose.
    pub losses: Vec<Loss>,
    /// Index of the link whose port the scenario calls the bottleneck, if it names one.
    pub bottleneck: Option<usize>,
}

/// A flow: one VC there and one back.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The name, unlike all others.
    pub name: String,
    /// Group in tables of results: [`Graph::groups`] has its name.
    pub group: u32,
    /// Place, from 1, of the `[[group]]` that makes it, if one does. Its tables hold for the flow, whatever group the results count it to.
    pub made_by: Option<NonZeroU32>,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// Indices of the links from `from` to `to`; where packets are sprayed, of the first way.
    pub route: Vec<usize>,
    /// Indices of the links from `to` to `from`; empty where neither ACKs nor RM cells go back.
    pub back: Vec<usize>,
    /// The ways over which packets are sprayed, there and back, if they are: two or more with the same first and the same last link, or none
    /// if all packets take one way.
    pub sprayed: Option<Box<[Vec<Way>; 2]>>,
    /// What it carries; [`Flow::start`] stands for the start in it. Most flows share it.
    pub traffic: Arc<Traffic>,
    /// Its TCP, if the traffic uses it. Most flows share it.
    pub tcp: Arc<Params>,
    /// When it starts.
    pub start: Start,
    /// When its source stops, if it does before the end of the run.
    pub stop: Option<Duration>,
    /// The contract of its VC in the direction of the data. Most flows share it.
    pub contract: Arc<Contract>,
    /// The ends of that VC, if its category is ABR.
    pub abr: Option<Arc<celltrain_atm::abr::Params>>,
    /// The flow whose VC it uses: its own number, or that of an earlier flow.
    pub circuit: usize,
}

/// One of several ways of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// Indices of its links.
    pub route: Vec<usize>,
    /// The share of packets that takes it.
    pub share: f64,
}

/// A segment that a link loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Index of the flow.
    pub flow: usize,
    /// Whether data or an ACK is lost.
    pub direction: LossDirection,
    /// Index of the link that loses it.
    pub link: usize,
    /// A byte that the data carries, or that the ACK asks for.
    pub byte: u64,
    /// The how manieth such segment on the link it is, from 1.
    pub occurrence: u32,
}

impl Graph {
    /// Whether a link may lose what it carries.
    pub(crate) fn has_lossy_links(&self) -> bool {
        let may_lose = |link: &Link| link.loss > 0.0 || link.burst_loss.is_some() || link.dark.is_some();
        !self.losses.is_empty() || self.links.iter().any(may_lose)
    }

    /// What link number `link` and its port are called, unlike all others: [`Link::name`].
    #[must_use]
    pub fn link_name(&self, link: usize) -> String {
        self.links[link].name(&self.nodes)
    }
}

impl Flow {
    /// The links that its data cross, and those that its ACKs do: numbers, and the shares of its paths that cross each.
    #[must_use]
    pub fn links(&self) -> [Vec<(usize, f64)>; 2] {
        fn shares<'a>(paths: impl Iterator<Item = (&'a [usize], f64)>) -> Vec<(usize, f64)> {
            let mut found: Vec<(usize, f64)> = Vec::new();
            for (&link, share) in paths.flat_map(|(route, share)| route.iter().map(move |link| (link, share)))
            {
                match found.iter_mut().find(|(other, _)| *other == link) {
                    Some((_, sum)) => *sum += share,
                    None => found.push((link, share)),
                }
            }
            found
        }
        [shares(self.ways()), shares(self.ways_back())]
    }

    /// The ways of its data with the share of packets that takes each: one, unless packets are sprayed.
    pub(crate) fn ways(&self) -> impl Iterator<Item = (&[usize], f64)> {
        ways(&self.route, self.sprayed_ways()[0])
    }

    /// As [`Flow::ways`], of the VC back.
    pub(crate) fn ways_back(&self) -> impl Iterator<Item = (&[usize], f64)> {
        ways(&self.back, self.sprayed_ways()[1])
    }

    /// The links at whose ports its VCs stand, as often as there are: first those of the VC of its data, then those of the VC back.
    pub(crate) fn hops(&self) -> [impl Iterator<Item = usize>; 2] {
        let [there, back] = self.sprayed_ways();
        [hops(&self.route, there), hops(&self.back, back)]
    }

    /// Whether packets of its data, or those back, pass a link.
    pub(crate) fn passes(&self, link: usize) -> [bool; 2] {
        self.hops().map(|mut hops| hops.any(|other| other == link))
    }

    /// Whether packets take several ways.
    pub(crate) fn is_sprayed(&self) -> bool {
        self.sprayed.is_some()
    }

    /// The ways over which packets are sprayed, there and back; none where all take one way.
    #[must_use]
    pub fn sprayed_ways(&self) -> [&[Way]; 2] {
        self.sprayed.as_deref().map_or([&[]; 2], |ways| ways.each_ref().map(Vec::as_slice))
    }

    /// The rate of the slowest link on the way of its data.
    pub(crate) fn slowest(&self, links: &[Link]) -> BitRate {
        let rates = self.route.iter().map(|&link| links[link].rate);
        rates.min().expect("a route has a link")
    }

    /// The octets of a full packet of its data, headers and their usual options included; of packets whose sizes differ, their mean.
    pub(crate) fn full_packet(&self) -> u64 {
        let of_tcp = || {
            let options = if self.tcp.timestamps { TIMESTAMPS_BYTES } else { 0 };
            u64::from(self.tcp.mss + IP_HEADER_BYTES + TCP_HEADER_BYTES + options)
        };
        self.traffic.packet().map_or_else(of_tcp, |packet| packet.0)
    }

    /// The octets of the largest packet that it can send.
    pub(crate) fn largest_packet(&self) -> u64 {
        let full = self.full_packet();
        match &*self.traffic {
            Traffic::Finite(finite) => full.min(full - u64::from(self.tcp.mss) + finite.bytes.0),
            _ => full,
        }
    }

    /// The octets of its shortest packet, headers and their usual options included: an ACK without data.
    pub(crate) fn shortest_packet(&self) -> u64 {
        let data = if self.traffic.uses_tcp() { u64::from(self.tcp.mss) } else { 0 };
        self.full_packet() - data
    }

    /// The minimum cell rate of its VC, if it has one: that of ABR stands with what its ends know.
    #[must_use]
    pub fn minimum_rate(&self) -> Option<CellRate> {
        let of_abr =
            || self.abr.as_ref().filter(|abr| abr.mcr > Rate::ZERO).map(|abr| CellRate(abr.mcr.bits()));
        self.contract.mcr.or_else(of_abr)
    }

    /// The peak cell rate that its source keeps to, if it has one.
    pub(crate) fn peak_rate(&self) -> Option<CellRate> {
        let of_abr = || self.abr.as_ref()?.pcr.map(|pcr| CellRate(pcr.bits()));
        self.contract.shaped_rate().or_else(of_abr)
    }

    /// The contract of the VC of its data, as ports know it.
    pub(crate) fn port_contract(&self) -> Arc<Contract> {
        let mcr = self.minimum_rate();
        if mcr == self.contract.mcr {
            return Arc::clone(&self.contract);
        }
        Arc::new(Contract { mcr, ..(*self.contract).clone() })
    }

    /// The contract of its VC back: what it carries is as urgent as the data are, and nothing is guaranteed or policed.
    #[must_use]
    pub fn back_contract(&self) -> Contract {
        let category = if self.abr.is_some() { Category::Abr } else { Category::default() };
        Contract { category, ..Contract::default() }
    }
}

impl From<Vec<usize>> for Way {
    /// The only way of a flow.
    fn from(route: Vec<usize>) -> Self {
        Self { route, share: 1.0 }
    }
}

pub(super) fn ways<'a>(only: &'a [usize], sprayed: &'a [Way]) -> impl Iterator<Item = (&'a [usize], f64)> {
    let only = (sprayed.is_empty() && !only.is_empty()).then_some((only, 1.0));
    only.into_iter().chain(sprayed.iter().map(|way| (way.route.as_slice(), way.share)))
}

/// The links of a VC: a sprayed one is a VC of its own on each way from the second link on.
fn hops<'a>(only: &'a [usize], sprayed: &'a [Way]) -> impl Iterator<Item = usize> {
    let common = if sprayed.is_empty() { only } else { &only[..1] };
    common.iter().chain(sprayed.iter().flat_map(|way| &way.route[1..])).copied()
}

#[cfg(test)]
mod tests {
    use super::{Flow, Link};

    /// A network may have a million of either: what most share stands behind an `Arc`.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn links_and_flows_stay_small() {
        let sizes = [size_of::<Link>(), size_of::<Flow>()];
        assert!(sizes[0] <= 32 && sizes[1] <= 176, "{sizes:?} bytes");
    }
}
