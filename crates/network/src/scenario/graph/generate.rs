//! Networks from a few numbers.

use std::collections::BTreeMap;

use super::{
    super::{
        check::one_link,
        error::{Problem, suggestion},
        spec::{Backbone, Chain, ExplicitGraph, NSource, NodeKind, ParkingLot, Spec, Topology},
    },
    fabric, groups,
    limits::{MAX_FLOWS, MAX_NODES},
    nodes::Node,
    outline::{LinkOutline, Outline, OutlineFlow, Place, at_least, at_most},
    overrides,
};

/// The network of `[topology]`, with the flows of `[[group]]`.
pub(super) fn outline(spec: &Spec) -> Result<Outline, Problem> {
    let mut outline = of_topology(spec)?;
    groups::between_hosts(spec, &mut outline)?;
    groups::spread_delays(&mut outline.links);
    overrides::apply(&spec.link_override, &mut outline)?;
    Ok(outline)
}

fn of_topology(spec: &Spec) -> Result<Outline, Problem> {
    match &spec.topology {
        Topology::Dumbbell(_) => groups::dumbbell(spec),
        Topology::ParkingLot(lot) => parking_lot(spec, lot),
        Topology::NSource(network) | Topology::PeerToPeer(network) => n_source(spec, network),
        Topology::Chain(chain) => long_chain(spec, chain),
        Topology::Backbone(backbone) => edge_pairs(spec, backbone),
        Topology::LeafSpine(fabric) => fabric::leaf_spine(spec, fabric),
        Topology::FatTree(fabric) => fabric::fat_tree(spec, fabric),
        Topology::Torus(fabric) => fabric::torus(spec, fabric),
        Topology::Random(fabric) => fabric::random(spec, fabric),
        Topology::Graph(graph) => written_out(graph),
    }
}

/// Flows that enter a row of switches at one and leave it at another, both counted from 0.
struct Group {
    flows: u32,
    enter: u32,
    leave: u32,
}

fn parking_lot(spec: &Spec, lot: &ParkingLot) -> Result<Outline, Problem> {
    at_least("switches", lot.switches, 2)?;
    at_least("sources", lot.sources, 1)?;
    let last = lot.switches - 1;
    limit("topology.sources", u64::from(lot.switches), u64::from(lot.sources) * u64::from(last))?;
    let groups = (0..last).map(|enter| Group { flows: lot.sources, enter, leave: last });
    Ok(row(spec, lot.switches, groups))
}

fn n_source(spec: &Spec, network: &NSource) -> Result<Outline, Problem> {
    at_least("sources", network.sources, 1)?;
    limit("topology.sources", 2, u64::from(network.sources))?;
    Ok(row(spec, 2, [Group { flows: network.sources, enter: 0, leave: 1 }]))
}

fn long_chain(spec: &Spec, chain: &Chain) -> Result<Outline, Problem> {
    at_least("trunks", chain.trunks, 1)?;
    at_least("long", chain.long, 1)?;
    let flows = u64::from(chain.long) + u64::from(chain.trunks) * u64::from(chain.cross);
    limit("topology.cross", u64::from(chain.trunks) + 1, flows)?;
    let long = Group { flows: chain.long, enter: 0, leave: chain.trunks };
    let cross = (0..chain.trunks).map(|trunk| Group { flows: chain.cross, enter: trunk, leave: trunk + 1 });
    Ok(row(spec, chain.trunks + 1, std::iter::once(long).chain(cross)))
}

/// The network of as many flows as there are pairs, with several flows where each of them is.
fn edge_pairs(spec: &Spec, backbone: &Backbone) -> Result<Outline, Problem> {
    at_least("pairs", backbone.pairs, 1)?;
    at_least("flows", backbone.flows, 1)?;
    let (pairs, each) = (u64::from(backbone.pairs), u64::from(backbone.flows));
    at_most("topology.pairs", 2 + 2 * pairs, MAX_NODES, "nodes")?;
    at_most("topology.flows", pairs * each, MAX_FLOWS, "flows")?;
    let groups = (0..backbone.pairs).map(|_| Group { flows: 1, enter: 0, leave: 1 });
    let mut outline = row(spec, 2, groups);
    let pairs = std::mem::take(&mut outline.flows);
    for pair in &pairs {
        for _ in 0..backbone.flows {
            let name = (outline.flows.len() + 1).to_string();
            let circuit = Some(format!("pair {}", pair.name));
            outline.flows.push(OutlineFlow { name, circuit, trace: Vec::new(), ..*pair });
        }
    }
    Ok(outline)
}

/// Checks the size of a network whose flows have two hosts each.
fn limit(key: &str, switches: u64, flows: u64) -> Result<(), Problem> {
    at_most(key, flows, MAX_FLOWS, "flows")?;
    at_most(key, switches + 2 * flows, MAX_NODES, "nodes")
}

/// Switches in a row with groups of flows, each flow between hosts of its own.
fn row(spec: &Spec, switches: u32, groups: impl IntoIterator<Item = Group>) -> Outline {
    let groups: Vec<_> = groups.into_iter().collect();
    let flows = groups.iter().map(|group| group.flows as usize).sum();
    let switches = switches as usize;
    let named = |prefix: &'static str, count: usize, kind: NodeKind| {
        (1..=count).map(move |number| Node { name: format!("{prefix}{number}"), kind })
    };
    let nodes = named("src", flows, NodeKind::Host)
        .chain(named("switch", switches, NodeKind::Switch))
        .chain(named("dest", flows, NodeKind::Host));
    let mut outline = Outline { nodes: nodes.collect(), ..Outline::default() };
    let (first_switch, first_destination) = (flows, flows + switches);
    let link_outline = |from, to, place: Place| {
        let link = match place {
            Place::Access => spec.link.access.clone(),
            Place::Exit => spec.link.exit.clone(),
            _ => spec.link.trunk.clone(),
        };
        LinkOutline { from, to, link, simplex: false, place }
    };
    for trunk in 1..switches {
        outline.links.push(link_outline(first_switch + trunk - 1, first_switch + trunk, Place::Trunk));
    }
    for (group, number) in groups.iter().zip(1..) {
        for _ in 0..group.flows {
            let source = outline.flows.len();
            let destination = first_destination + source;
            outline.links.push(link_outline(source, first_switch + group.enter as usize, Place::Access));
            outline.links.push(link_outline(first_switch + group.leave as usize, destination, Place::Exit));
            let name = (source + 1).to_string();
            outline.flows.push(OutlineFlow {
                name,
                group: number,
                from: source,
                to: destination,
                circuit: None,
                common: None,
                trace: Vec::new(),
            });
        }
    }
    outline
}

/// A network whose nodes and links are listed.
fn written_out(graph: &ExplicitGraph) -> Result<Outline, Problem> {
    at_most("topology.node", graph.node.len() as u64, MAX_NODES, "nodes")?;
    at_most("topology.link", graph.link.len() as u64, MAX_NODES, "links")?;
    let nodes: Vec<_> =
        graph.node.iter().map(|node| Node { name: node.name.clone(), kind: node.kind }).collect();
    let names: BTreeMap<_, _> =
        nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
    let mut links = Vec::with_capacity(graph.link.len());
    for (index, link) in graph.link.iter().enumerate() {
        let key = format!("topology.link.{index}");
        let end = |end: &str, name: &str| {
            names.get(name).copied().ok_or_else(|| {
                let near = suggestion(name, "nodes", names.keys().copied());
                Problem::new(format!("{key}.{end}"), format!("unknown node \"{name}\"{near}"))
            })
        };
        let (from, to) = (end("from", &link.from)?, end("to", &link.to)?);
        if from == to {
            return Err(Problem::new(format!("{key}.to"), "a link joins two different nodes"));
        }
        one_link(&key, &link.overrides())?;
        let place = Place::Entry(index);
        links.push(LinkOutline { from, to, link: link.overrides(), simplex: link.simplex, place });
    }
    Ok(Outline { nodes, links, ..Outline::default() })
}
