//! Routes that are written out, shortest or not.

use celltrain_network::scenario::{Graph, NodeKind};
use toml::{Table, Value};

use crate::draw::{Draw, put};

/// Writes the routes of some flows out in some scenarios; whether it did.
pub(crate) fn routes(draw: &mut Draw, scenario: &mut Table, graph: &Graph) -> bool {
    if !draw.chance(0.2) {
        return false;
    }
    let Some(Value::Array(flows)) = scenario.get_mut("flow") else { return false };
    for entry in flows.iter_mut().filter_map(Value::as_table_mut) {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
        let flow = graph.flows.iter().find(|flow| flow.name == name);
        if let Some(flow) = flow.filter(|_| draw.chance(0.6)) {
            let names = path(draw, graph, flow.from, flow.to);
            put(entry, "route", names.into_iter().map(Value::from).collect::<Vec<_>>());
        }
    }
    true
}

/// Any path without a loop from one host over switches to another.
fn path(draw: &mut Draw, graph: &Graph, from: usize, to: usize) -> Vec<String> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut path = vec![from];
    seen[from] = true;
    while let Some(&node) = path.last()
        && node != to
    {
        let leads_on = |other: usize| other == to || graph.nodes[other].kind == NodeKind::Switch;
        let next: Vec<_> = graph.links.iter().filter(|link| link.from == node).map(|link| link.to).collect();
        let next: Vec<_> = next.into_iter().filter(|&other| !seen[other] && leads_on(other)).collect();
        if next.is_empty() {
            path.pop();
        } else {
            let other = *draw.pick(&next);
            seen[other] = true;
            path.push(other);
        }
    }
    path.into_iter().map(|node| graph.nodes[node].name.clone()).collect()
}
