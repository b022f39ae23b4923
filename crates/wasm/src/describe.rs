//! What a page has to know of a scenario to draw it.

use celltrain_atm::{
    buffer::{PolicyName, script},
    quantity::Capacity,
};
use celltrain_network::{
    live::{Live, reasons},
    scenario::{Flow, Framing, Graph, Link, Node, NodeKind, Traffic},
};
use serde_json::{Value, json};

/// Nodes, links with their ports, flows, and the scenario itself.
pub(crate) fn describe(live: &Live) -> Value {
    let (spec, graph) = (live.scenario().spec(), live.graph());
    let links: Vec<_> = (0..graph.links.len()).map(|index| link(graph, index)).collect();
    json!({
        "name": spec.name,
        "duration": spec.duration.ps() as f64,
        "warm_up": spec.warm_up.ps() as f64,
        "seed": spec.seed.to_string(),
        "nodes": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "links": links,
        "flows": graph.flows.iter().map(flow).collect::<Vec<_>>(),
        "reasons": reasons(),
        "rule_names": script::KNOWN.map(|known| known.name),
        "policies": PolicyName::ALL.iter().map(|name| name.name()).collect::<Vec<_>>(),
        "scenario": live.scenario().to_json(),
    })
}

fn node(node: &Node) -> Value {
    json!({"name": node.name, "host": node.kind == NodeKind::Host})
}

fn link(graph: &Graph, index: usize) -> Value {
    let link: &Link = &graph.links[index];
    let Capacity(capacity, unit) = link.buffer;
    let levels = link.discard.levels().into_iter().filter_map(|(key, level)| {
        let cells = level.cells(link.buffer.units()).ok()?;
        Some(json!({"key": key, "units": cells}))
    });
    json!({
        "name": graph.link_name(index),
        "from": link.from,
        "to": link.to,
        "rate": link.rate.0 as f64,
        "delay": link.delay.ps() as f64,
        "packets": link.framing == Framing::Packets,
        "capacity": capacity,
        "unit": unit.to_string(),
        "policy": link.discard.policy.name(),
        "levels": levels.collect::<Vec<_>>(),
        "rule": (link.discard.policy == PolicyName::Script).then_some(&link.discard.script.rule.0),
    })
}

fn flow(flow: &Flow) -> Value {
    json!({
        "name": flow.name,
        "from": flow.from,
        "to": flow.to,
        "route": flow.route,
        "back": flow.back,
        "sprayed": flow.sprayed_ways().map(|ways| ways.iter().map(|way| &way.route).collect::<Vec<_>>()),
        "circuit": flow.circuit,
        "tcp": flow.traffic.uses_tcp(),
        "pool": matches!(*flow.traffic, Traffic::ShortFlows(_)),
    })
}
