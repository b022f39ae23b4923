//! The network that a scenario describes: nodes, directed links, and flows with their routes.

mod abr;
mod clocks;
mod fabric;
mod flows;
mod generate;
mod groups;
mod losses;
mod memory;
mod overrides;
mod pauses;
mod poll;
mod ports;
mod progress;
mod regular;
mod route;
mod settings;

use std::{collections::BTreeMap, sync::Arc};

use celltrain_atm::{
    abr::AllocatorParams,
    buffer::DiscardParams,
    contract::{Category, Contract},
    quantity::Capacity,
    scheduler::SchedulerParams,
};
use celltrain_engine::{
    quantity::{BitRate, Bytes, Duration},
    time::seconds,
};
use celltrain_tcp::Params;

use self::generate::{LinkOutline, Outline};
pub(super) use self::poll::{Poll, Stop};
pub use self::{poll::WORK_BETWEEN_POLLS, progress::MAX_OVERLOAD};
use super::{
    error::{Problem, suggestion},
    spec::{
        BurstLoss, Dark, DelayChanges, Framing, LossDirection, LossUnit, MemorySpec, NodeKind, RateChanges,
        Reorder, Spec, Start, SwitchSpec, Traffic,
    },
};

/// The most nodes, and the most links, of a network.
pub const MAX_NODES: u64 = 1_000_000;
/// The most flows.
pub const MAX_FLOWS: u64 = 1_000_000;
/// The most short flows that arrive in a run, and the most that may be under way at once.
pub const MAX_SHORT_FLOWS: u64 = 5_000_000;
/// See [`MAX_SHORT_FLOWS`].
pub const MAX_ACTIVE: u64 = 200_000;
/// The most recorded times of all flows together: 16 bytes each.
pub const MAX_RECORDED: usize = 20_000_000;
/// The most ways over which the packets of a flow are sprayed.
pub const MAX_WAYS: usize = 256;
/// The most links on the routes of all flows together, there and back.
pub const MAX_ROUTE_LINKS: usize = 10_000_000;

/// A network and the flows that cross it, in an order that depends on the scenario alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links in one direction; a duplex link is two, one after the other.
    pub links: Vec<Link>,
    /// Flows: first those that the topology makes, then those added by `[[flow]]`.
    pub flows: Vec<Flow>,
    /// Segments that links lose.
    pub losses: Vec<Loss>,
    /// Index of the link whose port the scenario calls the bottleneck, if it names one.
    pub bottleneck: Option<usize>,
}

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The name, unlike all others.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
}

/// A link in one direction, with the output port that feeds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Index of the node that sends.
    pub from: usize,
    /// Index of the node that receives.
    pub to: usize,
    /// Line rate, at the start of the run.
    pub rate: BitRate,
    /// How its rate changes.
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
    /// How its delay changes.
    pub delay_changes: DelayChanges,
    /// The shortest that its delay is at any time, as [`Link::delay`] is at the start of the run.
    pub shortest_delay: Duration,
    /// Buffer of the output port; a host's is unlimited.
    pub buffer: Capacity,
    /// The memory that the output port shares with the others of its switch, if it does.
    pub memory: Option<Arc<MemorySpec>>,
    /// Discard policy of the output port. Most ports share it.
    pub discard: Arc<DiscardParams>,
    /// The most that one VC may take of the buffer.
    pub vc_buffer: Capacity,
    /// In which order the output port serves its VCs. Most ports share it.
    pub scheduler: Arc<SchedulerParams>,
    /// What tells ABR sources their rates, if anything does. Most ports share it.
    pub allocator: Option<Arc<AllocatorParams>>,
}

/// A flow: one VC there and one back.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The name, unlike all others.
    pub name: String,
    /// Group in tables of results.
    pub group: u32,
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

impl Link {
    /// Whether it does something to what it carries that is not each cell's or frame's own fate.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.burst_loss.is_some()
            || self.reorder.is_some()
            || self.dark.is_some()
            || !self.delay_changes.is_empty()
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

impl Flow {
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

fn ways<'a>(only: &'a [usize], sprayed: &'a [Way]) -> impl Iterator<Item = (&'a [usize], f64)> {
    let only = (sprayed.is_empty() && !only.is_empty()).then_some((only, 1.0));
    only.into_iter().chain(sprayed.iter().map(|way| (way.route.as_slice(), way.share)))
}

/// The links of a VC: a sprayed one is a VC of its own on each way from the second link on.
fn hops<'a>(only: &'a [usize], sprayed: &'a [Way]) -> impl Iterator<Item = usize> {
    let common = if sprayed.is_empty() { only } else { &only[..1] };
    common.iter().chain(sprayed.iter().flat_map(|way| &way.route[1..])).copied()
}

impl Graph {
    /// Builds the network and checks that every flow can cross it.
    pub(super) fn build(spec: &Spec, poll: &mut Poll<'_>) -> Result<Self, Stop> {
        let mut outline = generate::outline(spec)?;
        poll.after(outline.nodes.len())?;
        let names = index_names(&outline, poll)?;
        let links = links(spec, &outline, &names, poll)?;
        let flows = flows::flows(spec, &mut outline, &names, &links, poll)?;
        ports::check_contracts(spec, &outline, &links, &flows, poll)?;
        pauses::check_pauses(spec, &outline, &links, &flows)?;
        let place = |link: &Link| {
            ports::place(spec, &outline.nodes, link, "allocator", |port| port.allocator.is_some())
        };
        abr::check_allocators(&links, &flows, place)?;
        abr::check_order(&outline.nodes, &links, &flows)?;
        progress::check_backlog(spec.duration, &spec.aal5, &outline.nodes, &links, &flows)?;
        let losses = losses::losses(spec, &names, &links, &flows)?;
        let bottleneck = bottleneck(spec, &outline.nodes, &links, &flows)?;
        Ok(Self { nodes: outline.nodes, links, flows, losses, bottleneck })
    }

    /// What link number `link` and its port are called: `from > to`.
    #[must_use]
    pub fn link_name(&self, link: usize) -> String {
        let link = &self.links[link];
        [self.nodes[link.from].name.as_str(), " > ", &self.nodes[link.to].name].concat()
    }
}

/// The link behind the port that the scenario calls the bottleneck.
fn bottleneck(spec: &Spec, nodes: &[Node], links: &[Link], flows: &[Flow]) -> Result<Option<usize>, Problem> {
    let Some(wanted) = &spec.measures.bottleneck else { return Ok(None) };
    let name = |link: &Link| format!("{} > {}", nodes[link.from].name, nodes[link.to].name);
    let of_switches = || links.iter().filter(|link| nodes[link.from].kind == NodeKind::Switch);
    let place = |link: &Link| links.iter().position(|other| std::ptr::eq(other, link));
    let crosses = |place: Option<usize>| {
        let used = |flow: &Flow| place.is_some_and(|link| flow.passes(link).contains(&true));
        flows.iter().any(used)
    };
    if let Some(found) = of_switches().find(|link| name(link) == *wanted).map(place) {
        if crosses(found) {
            return Ok(found);
        }
        let busy = of_switches().find(|link| crosses(place(link)));
        let instead =
            busy.map_or(String::new(), |link| format!("; \"{}\" is a port that one crosses", name(link)));
        let message = format!("no flow crosses the port \"{wanted}\", so that it has no measures{instead}");
        return Err(Problem::new("measures.bottleneck", message));
    }
    let known: Vec<_> = of_switches().take(MAX_SUGGESTED_PORTS).map(name).collect();
    let near = suggestion(wanted, "ports of switches", known.iter().map(String::as_str));
    Err(Problem::new("measures.bottleneck", format!("unknown port \"{wanted}\"{near}")))
}

/// The most ports among which the nearest name is looked for.
const MAX_SUGGESTED_PORTS: usize = 1000;

/// Node indices by name.
type Names = BTreeMap<String, usize>;

fn index_names(outline: &Outline, poll: &mut Poll<'_>) -> Result<Names, Stop> {
    let mut names = Names::new();
    for (index, node) in outline.nodes.iter().enumerate() {
        poll.after(1)?;
        if names.insert(node.name.clone(), index).is_some() {
            let message = format!("there is another node \"{}\"", node.name);
            return Err(Problem::new(format!("topology.node.{index}.name"), message).into());
        }
    }
    Ok(names)
}

/// The index of the node called `name` in the value of `key`.
fn find(names: &Names, key: impl Fn() -> String, name: &str) -> Result<usize, Problem> {
    names.get(name).copied().ok_or_else(|| {
        let near = suggestion(name, "nodes", names.keys().map(String::as_str));
        Problem::new(key(), format!("unknown node \"{name}\"{near}"))
    })
}

/// Checks that a link which reorders carries packets.
fn check_order(link_outline: &LinkOutline, link: &Link) -> Result<(), Problem> {
    if link.reorder.is_none() || link.framing == Framing::Packets {
        return Ok(());
    }
    let key = link_outline.link.reorder.map_or_else(|| "link".to_owned(), |_| link_outline.place.key());
    let message = "the cells of a VC stay in order on every ATM link (ITU-T I.150): give `framing = \"packets\"`, or leave it out";
    Err(Problem::new(format!("{key}.reorder"), message))
}

/// The directed links and their ports.
fn links(spec: &Spec, outline: &Outline, names: &Names, poll: &mut Poll<'_>) -> Result<Vec<Link>, Stop> {
    let mut links = Vec::with_capacity(2 * outline.links.len());
    let unlimited = SwitchSpec { buffer: Capacity::UNLIMITED, ..SwitchSpec::default() };
    let [hosts, switches] = [&unlimited, &spec.switch].map(|switch| {
        let (discard, scheduler) = (switch.discard.clone(), switch.scheduler.clone());
        let (memory, allocator) = (switch.memory, switch.allocator.clone());
        let shared = (Arc::new(discard), Arc::new(scheduler), memory.map(Arc::new), allocator.map(Arc::new));
        (switch, shared)
    });
    for link_outline in &outline.links {
        poll.after(1)?;
        let directions = [(link_outline.from, link_outline.to), (link_outline.to, link_outline.from)];
        for &(from, to) in &directions[..if link_outline.simplex { 1 } else { 2 }] {
            let host = outline.nodes[from].kind == NodeKind::Host;
            let (switch, (discard, scheduler, memory, allocator)) = if host { &hosts } else { &switches };
            let processing = if outline.nodes[to].kind == NodeKind::Switch { spec.switch.delay.0 } else { 0 };
            let delay = link_outline.link.delay.map_or(spec.link.delay, |range| range.from).0;
            let delay_changes = link_outline.link.delay_changes.as_ref().unwrap_or(&spec.link.delay_changes);
            let rate_changes = link_outline.link.rate_changes.as_ref().unwrap_or(&spec.link.rate_changes);
            let shortest = delay_changes.iter().map(|change| change.delay.0).fold(delay, Ord::min);
            let link = Link {
                from,
                to,
                rate: link_outline.link.rate.unwrap_or(spec.link.rate),
                rate_changes: rate_changes.clone(),
                delay: Duration(delay.0 + processing),
                framing: link_outline.link.framing.unwrap_or(spec.link.framing),
                overhead: link_outline.link.overhead.unwrap_or(spec.link.overhead),
                loss: link_outline.link.loss.unwrap_or(spec.link.loss),
                loss_unit: link_outline.link.loss_unit.unwrap_or(spec.link.loss_unit),
                burst_loss: link_outline.link.burst_loss.or(spec.link.burst_loss).map(Arc::new),
                reorder: link_outline.link.reorder.or(spec.link.reorder).map(Arc::new),
                dark: link_outline.link.dark.or(spec.link.dark).map(Arc::new),
                delay_changes: delay_changes.clone(),
                shortest_delay: Duration(shortest.0 + processing),
                buffer: switch.buffer,
                memory: memory.clone(),
                discard: discard.clone(),
                vc_buffer: switch.vc_buffer.unwrap_or(Capacity::UNLIMITED),
                scheduler: scheduler.clone(),
                allocator: allocator.clone(),
            };
            let rate = clocks::fastest(link.fastest(), spec.link.rate_spread);
            progress::check_lookahead(link_outline.place, &link, rate)?;
            check_order(link_outline, &link)?;
            links.push(link);
        }
    }
    ports::override_ports(spec, outline, names, &mut links)?;
    links.iter_mut().for_each(ports::settle_unit);
    links.iter().try_for_each(|link| ports::check_buffer(spec, outline, link))?;
    links.iter().try_for_each(|link| memory::check_memory(spec, outline, link))?;
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::{Flow, Link};

    /// A network may have a million of either: what most share stands behind an `Arc`.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn links_and_flows_stay_small() {
        let sizes = [size_of::<Link>(), size_of::<Flow>()];
        assert!(sizes[0] <= 256 && sizes[1] <= 392, "{sizes:?} bytes");
    }
}
