//! The network that a scenario describes: nodes, directed links, and flows with their routes.

mod generate;
mod losses;
mod route;

use std::collections::BTreeMap;

use celltrain_atm::{
    buffer::{DiscardParams, PolicyName},
    quantity::{Capacity, Unit},
};
use celltrain_engine::quantity::{BitRate, Bytes, Duration};
use celltrain_tcp::Params;

use self::{
    generate::{Outline, OutlineFlow},
    route::Router,
};
use super::{
    error::{Problem, suggestion},
    spec::{FlowSpec, Framing, LossDirection, LossUnit, NodeKind, Spec, Start, Traffic},
};

/// The most nodes, and the most links, of a network.
pub const MAX_NODES: u64 = 1_000_000;
/// The most flows.
pub const MAX_FLOWS: u64 = 1_000_000;
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
    /// Line rate.
    pub rate: BitRate,
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
    /// Buffer of the output port; a host's is unlimited.
    pub buffer: Capacity,
    /// Discard policy of the output port.
    pub discard: DiscardParams,
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
    /// Indices of the links from `from` to `to`.
    pub route: Vec<usize>,
    /// Indices of the links from `to` to `from`; empty where no TCP runs and so no ACK goes back.
    pub back: Vec<usize>,
    /// What it carries; [`Flow::start`] stands for the start in it.
    pub traffic: Traffic,
    /// Its TCP, if the traffic uses it.
    pub tcp: Params,
    /// When it starts.
    pub start: Start,
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
    /// Builds the network and checks that every flow can cross it.
    pub(super) fn build(spec: &Spec) -> Result<Self, Problem> {
        let mut outline = generate::outline(spec)?;
        let names = index_names(&outline)?;
        let links = links(spec, &outline, &names)?;
        let drafts = drafts(spec, &mut outline.flows, &names)?;
        let router = Router::new(&outline.nodes, &links);
        let flows =
            Builder { spec, nodes: &outline.nodes, names: &names, router, route_links: 0 }.flows(drafts)?;
        let losses = losses::losses(spec, &names, &links, &flows)?;
        Ok(Self { nodes: outline.nodes, links, flows, losses })
    }

    /// What link number `link` and its port are called: `from > to`.
    #[must_use]
    pub fn link_name(&self, link: usize) -> String {
        let link = &self.links[link];
        format!("{} > {}", self.nodes[link.from].name, self.nodes[link.to].name)
    }
}

/// Node indices by name.
type Names = BTreeMap<String, usize>;

fn index_names(outline: &Outline) -> Result<Names, Problem> {
    let mut names = Names::new();
    for (index, node) in outline.nodes.iter().enumerate() {
        if names.insert(node.name.clone(), index).is_some() {
            let message = format!("there is another node \"{}\"", node.name);
            return Err(Problem::new(format!("topology.node.{index}.name"), message));
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

/// The directed links and their ports.
fn links(spec: &Spec, outline: &Outline, names: &Names) -> Result<Vec<Link>, Problem> {
    let mut links = Vec::with_capacity(2 * outline.wires.len());
    for wire in &outline.wires {
        let directions = [(wire.from, wire.to), (wire.to, wire.from)];
        for &(from, to) in &directions[..if wire.simplex { 1 } else { 2 }] {
            let (buffer, discard) = match outline.nodes[from].kind {
                NodeKind::Host => (Capacity::UNLIMITED, DiscardParams::of(PolicyName::TailDrop)),
                NodeKind::Switch => (spec.switch.buffer, spec.switch.discard.clone()),
            };
            let processing = if outline.nodes[to].kind == NodeKind::Switch { spec.switch.delay.0 } else { 0 };
            let delay = wire.link.delay.unwrap_or(spec.link.delay);
            links.push(Link {
                from,
                to,
                rate: wire.link.rate.unwrap_or(spec.link.rate),
                delay: Duration(delay.0 + processing),
                framing: wire.link.framing.unwrap_or(spec.link.framing),
                overhead: wire.link.overhead.unwrap_or(spec.link.overhead),
                loss: wire.link.loss.unwrap_or(spec.link.loss),
                loss_unit: wire.link.loss_unit.unwrap_or(spec.link.loss_unit),
                buffer,
                discard,
            });
        }
    }
    override_ports(spec, outline, names, &mut links)?;
    links.iter().try_for_each(|link| check_buffer(spec, outline, link))?;
    Ok(links)
}

/// Checks that the unit of a port's buffer suits what its link carries.
fn check_buffer(spec: &Spec, outline: &Outline, link: &Link) -> Result<(), Problem> {
    let suits = match link.buffer.unit() {
        None => true,
        Some(Unit::Cells) => link.framing == Framing::Cells,
        Some(Unit::Packets | Unit::Bytes) => link.framing == Framing::Packets,
    };
    if suits {
        return Ok(());
    }
    let (from, to) = (&outline.nodes[link.from].name, &outline.nodes[link.to].name);
    let entry =
        spec.port.iter().rposition(|port| port.buffer.is_some() && (&port.from, &port.to) == (from, to));
    let key = entry.map_or_else(|| "switch.buffer".to_owned(), |index| format!("port.{index}.buffer"));
    let carries = match link.framing {
        Framing::Cells => "cells: give a number of cells",
        Framing::Packets => "packets: give a number of packets or bytes",
    };
    let message = format!(
        "\"{}\" does not suit the link from \"{from}\" to \"{to}\", which carries {carries}",
        link.buffer
    );
    Err(Problem::new(key, message))
}

/// Applies `[[port]]`.
fn override_ports(spec: &Spec, outline: &Outline, names: &Names, links: &mut [Link]) -> Result<(), Problem> {
    if spec.port.is_empty() {
        return Ok(());
    }
    let mut ports: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        ports.entry((link.from, link.to)).or_default().push(index);
    }
    for (index, port) in spec.port.iter().enumerate() {
        let from = find(names, || format!("port.{index}.from"), &port.from)?;
        let to = find(names, || format!("port.{index}.to"), &port.to)?;
        if outline.nodes[from].kind != NodeKind::Switch {
            let message = format!("\"{}\" is a host: only the ports of switches have a buffer", port.from);
            return Err(Problem::new(format!("port.{index}.from"), message));
        }
        let Some(found) = ports.get(&(from, to)) else {
            let message = format!("there is no link from \"{}\" to \"{}\"", port.from, port.to);
            return Err(Problem::new(format!("port.{index}.to"), message));
        };
        for &link in found {
            links[link].buffer = port.buffer.unwrap_or(links[link].buffer);
            if let Some(discard) = &port.discard {
                links[link].discard = discard.clone();
            }
        }
    }
    Ok(())
}

/// A flow before its route is known, and the number of the `[[flow]]` about it.
struct Draft {
    flow: OutlineFlow,
    entry: Option<usize>,
}

/// The flows of the topology and those of `[[flow]]`.
fn drafts(spec: &Spec, generated: &mut Vec<OutlineFlow>, names: &Names) -> Result<Vec<Draft>, Problem> {
    let mut drafts: Vec<_> = generated.drain(..).map(|flow| Draft { flow, entry: None }).collect();
    let mut by_name: BTreeMap<_, _> =
        drafts.iter().enumerate().map(|(index, draft)| (draft.flow.name.clone(), index)).collect();
    for (index, entry) in spec.flow.iter().enumerate() {
        let end = |key: &str, name: &Option<String>, known: Option<usize>| match (name, known) {
            (Some(name), _) => find(names, || format!("flow.{index}.{key}"), name),
            (None, Some(node)) => Ok(node),
            (None, None) => {
                let message = format!("this key is required: the topology makes no flow \"{}\"", entry.name);
                Err(Problem::new(format!("flow.{index}.{key}"), message))
            }
        };
        let number = by_name.get(&entry.name).copied();
        let below = number.map(|number| &drafts[number].flow);
        let flow = OutlineFlow {
            name: entry.name.clone(),
            group: entry.group.or(below.map(|flow| flow.group)).unwrap_or(1),
            from: end("from", &entry.from, below.map(|flow| flow.from))?,
            to: end("to", &entry.to, below.map(|flow| flow.to))?,
        };
        let draft = Draft { flow, entry: Some(index) };
        match number {
            Some(number) if drafts[number].entry.is_some() => {
                let message = format!("there is another [[flow]] \"{}\"", entry.name);
                return Err(Problem::new(format!("flow.{index}.name"), message));
            }
            Some(number) => drafts[number] = draft,
            None => {
                by_name.insert(entry.name.clone(), drafts.len());
                drafts.push(draft);
            }
        }
    }
    match drafts.len() as u64 {
        0 => Err(Problem::new("flow", "the network has no flow: add a [[flow]]")),
        count if count > MAX_FLOWS => {
            Err(Problem::new("flow", format!("expected at most {MAX_FLOWS} flows, found {count}")))
        }
        _ => Ok(drafts),
    }
}

/// Turns drafts into flows.
struct Builder<'a> {
    spec: &'a Spec,
    nodes: &'a [Node],
    names: &'a Names,
    router: Router<'a>,
    /// Links on the routes so far.
    route_links: usize,
}

impl Builder<'_> {
    fn flows(mut self, drafts: Vec<Draft>) -> Result<Vec<Flow>, Problem> {
        let tcp = resolve("tcp", &self.spec.tcp)?;
        drafts.into_iter().map(|draft| self.flow(draft, tcp)).collect()
    }

    fn flow(&mut self, draft: Draft, tcp: Params) -> Result<Flow, Problem> {
        let Draft { flow: OutlineFlow { name, group, from, to }, entry } = draft;
        let key = entry.map_or_else(|| "topology".to_owned(), |index| format!("flow.{index}"));
        let entry: Option<&FlowSpec> = entry.map(|index| &self.spec.flow[index]);
        for (end, node) in [("from", from), ("to", to)] {
            if self.nodes[node].kind != NodeKind::Host {
                let message =
                    format!("\"{}\" is a switch: flows begin and end at hosts", self.nodes[node].name);
                return Err(Problem::new(format!("{key}.{end}"), message));
            }
        }
        if from == to {
            return Err(Problem::new(format!("{key}.to"), "a flow joins two different hosts"));
        }
        let traffic = entry.and_then(|entry| entry.traffic.as_ref()).unwrap_or(&self.spec.traffic).clone();
        let start = entry.and_then(|entry| entry.start).unwrap_or(traffic.start());
        let tcp = match entry.and_then(|entry| entry.tcp.as_ref()) {
            Some(stack) => resolve(&format!("{key}.tcp"), stack)?,
            None => tcp,
        };
        let route = match entry.and_then(|entry| entry.route.as_ref()) {
            Some(names) => self.explicit_route(&key, names, from, to)?,
            None => self.router.shortest(from, to).ok_or_else(|| self.unreachable(&key, &name, from, to))?,
        };
        let back =
            if traffic.uses_tcp() { self.way_back(&key, &name, &route, from, to)? } else { Vec::new() };
        self.check_framing(&key, &name, &traffic, &route, &back)?;
        self.route_links += route.len() + back.len();
        if self.route_links > MAX_ROUTE_LINKS {
            let message = format!("the routes of all flows together pass more than {MAX_ROUTE_LINKS} links");
            return Err(Problem::new("topology", message));
        }
        Ok(Flow { name, group, from, to, route, back, traffic, tcp, start })
    }

    /// Checks that a flow's links all carry the same, and what its traffic needs.
    fn check_framing(
        &self,
        key: &str,
        name: &str,
        traffic: &Traffic,
        route: &[usize],
        back: &[usize],
    ) -> Result<(), Problem> {
        let links = self.router.links();
        let framing = links[route[0]].framing;
        if let Some(&other) = route.iter().chain(back).find(|&&link| links[link].framing != framing) {
            let place = |link: usize| {
                format!("{} > {}", self.nodes[links[link].from].name, self.nodes[links[link].to].name)
            };
            let (packets, cells) =
                if framing == Framing::Packets { (route[0], other) } else { (other, route[0]) };
            let message = format!(
                "flow \"{name}\" would change its framing on the way: \"{}\" carries cells, \"{}\" packets",
                place(cells),
                place(packets)
            );
            return Err(Problem::new(key, message));
        }
        if framing == Framing::Packets && !traffic.uses_tcp() {
            let message =
                format!("flow \"{name}\" sends bare cells, which a packet-framed link does not carry");
            return Err(Problem::new(key, message));
        }
        Ok(())
    }

    /// The links of a route that is written out.
    fn explicit_route(
        &self,
        key: &str,
        names: &[String],
        from: usize,
        to: usize,
    ) -> Result<Vec<usize>, Problem> {
        let at = |place: usize| format!("{key}.route.{place}");
        let mut nodes = Vec::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            nodes.push(find(self.names, || at(place), name)?);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
            let message = format!("expected a route from \"{from}\" to \"{to}\", both included");
            return Err(Problem::new(format!("{key}.route"), message));
        }
        let mut seen = BTreeMap::new();
        for (place, &node) in nodes.iter().enumerate() {
            let name = &self.nodes[node].name;
            if let Some(before) = seen.insert(node, place) {
                let message = format!("the route is a loop: \"{name}\" is also its element {before}");
                return Err(Problem::new(at(place), message));
            }
            if self.nodes[node].kind == NodeKind::Host && place > 0 && place + 1 < nodes.len() {
                return Err(Problem::new(at(place), format!("\"{name}\" is a host: it passes nothing on")));
            }
        }
        let step = |(place, pair): (usize, &[usize])| {
            self.router.link(pair[0], pair[1]).ok_or_else(|| {
                let (from, to) = (&self.nodes[pair[0]].name, &self.nodes[pair[1]].name);
                Problem::new(at(place + 1), format!("there is no link from \"{from}\" to \"{to}\""))
            })
        };
        nodes.windows(2).enumerate().map(step).collect()
    }

    /// The way of the ACKs: that of the data in the other direction where its links are duplex.
    fn way_back(
        &mut self,
        key: &str,
        name: &str,
        route: &[usize],
        from: usize,
        to: usize,
    ) -> Result<Vec<usize>, Problem> {
        self.router
            .reverse(route)
            .or_else(|| self.router.shortest(to, from))
            .ok_or_else(|| self.unreachable(key, name, to, from))
    }

    fn unreachable(&self, key: &str, name: &str, from: usize, to: usize) -> Problem {
        let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
        Problem::new(key, format!("flow \"{name}\" dangles: there is no way from \"{from}\" to \"{to}\""))
    }
}

fn resolve(key: &str, stack: &celltrain_tcp::StackSpec) -> Result<Params, Problem> {
    stack.resolve().map_err(|error| Problem::new(format!("{key}.{}", error.key), error.message))
}
