//! `[[group]]`: flows with something in common, hosts of their own, or transfers.

use celltrain_network::scenario::{Graph, Node, NodeKind};
use toml::{Table, Value};

use crate::{
    draw::{Draw, picoseconds, put, tables},
    schema::Schema,
    short_flows::file,
    traffic::{Kinds, own},
};

/// The first hosts of networks for which there is a file of transfers.
const FILES: [&str; 3] = ["h1", "host1", "src1"];

/// What `[[group]]` a dumbbell has: names and numbers of flows.
pub(crate) fn dumbbell(draw: &mut Draw) -> Value {
    let group = |draw: &mut Draw, number: u64| {
        let mut group = Table::new();
        put(&mut group, "name", format!("g{number}-"));
        put(&mut group, "flows", draw.count(3) as i64);
        group
    };
    let groups = draw.count(3);
    tables((1..=groups).map(|number| group(draw, number)).collect())
}

/// Gives groups settings of their own, joins hosts by more of them, and lets flows stop; whether it did anything.
pub(crate) fn group(
    draw: &mut Draw,
    schema: &Schema,
    scenario: &mut Table,
    graph: &Graph,
    kinds: Kinds,
) -> bool {
    if !scenario.contains_key("group") && !draw.chance(0.25) {
        return false;
    }
    let mut groups = match scenario.remove("group") {
        Some(Value::Array(groups)) => groups.into_iter().filter_map(|group| group.try_into().ok()).collect(),
        _ => Vec::<Table>::new(),
    };
    for group in &mut groups {
        if draw.feature() {
            group.extend(of_group(draw, schema, kinds));
        }
        for place in ["access", "exit"] {
            if draw.feature() {
                put(group, &format!("{place}.delay"), delays(draw));
            }
        }
    }
    for number in 0..draw.whole(u64::from(groups.is_empty()), 2) {
        let flow = draw.pick(&graph.flows);
        let [from, to] = [flow.from, flow.to].map(|node| graph.nodes[node].name.clone());
        let mut group = of_group(draw, schema, kinds);
        put(&mut group, "name", format!("joined{number}-"));
        let all = draw.chance(0.3);
        put(&mut group, "from", if all && draw.chance(0.7) { "*".to_owned() } else { from });
        put(&mut group, "to", if all { "*".to_owned() } else { to });
        put(&mut group, "pairs", *draw.pick(&schema.names("group.pairs")));
        let mut beside = draw.beside("senders");
        if beside.chance(0.3) {
            put(&mut group, "senders", beside.count(3) as i64);
        }
        if draw.chance(0.2) {
            let taken = ["from", "to", "pairs", "senders", "traffic", "flows"];
            group = group.into_iter().filter(|(key, _)| !taken.contains(&key.as_str())).collect();
            put(&mut group, "transfers", transfers(draw, graph));
        }
        if all && kinds.abr {
            // No ports may stamp each other's RM cells.
            put(&mut group, "vc.category", "ubr");
        }
        groups.push(group);
    }
    put(scenario, "group", tables(groups));
    if let Some(Value::Array(flows)) = scenario.get_mut("flow") {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
            if draw.chance(0.3) {
                put(flow, "stop", picoseconds(draw.scale * draw.magnitude(0.5, 20.0)));
            }
        }
    }
    if draw.chance(0.3) {
        put(scenario, "link.access.delay", delays(draw));
    }
    true
}

fn of_group(draw: &mut Draw, schema: &Schema, kinds: Kinds) -> Table {
    let mut group = own(draw, schema, kinds);
    group.remove("group");
    if draw.chance(0.4) {
        put(&mut group, "stop", picoseconds(draw.scale * draw.magnitude(0.5, 20.0)));
    }
    if draw.chance(0.3) {
        put(&mut group, "flows", draw.count(3) as i64);
    }
    group
}

/// Transfers between the hosts of a network, written out or from a file that knows its hosts.
fn transfers(draw: &mut Draw, graph: &Graph) -> Value {
    let is_host = |node: &&Node| node.kind == NodeKind::Host;
    let hosts: Vec<_> = graph.nodes.iter().filter(is_host).map(|node| node.name.as_str()).collect();
    if FILES.contains(&hosts[0]) && draw.chance(0.4) {
        return file(&format!("transfers-{}", hosts[0])).into();
    }
    let mut at = 0.0;
    let transfers = (0..draw.count(20)).map(|_| {
        at += draw.scale * draw.magnitude(0.001, 3.0);
        let from = draw.whole(0, hosts.len() as u64 - 1) as usize;
        let to = (from + draw.whole(1, hosts.len() as u64 - 1) as usize) % hosts.len();
        let mut transfer = Table::new();
        put(&mut transfer, "at", picoseconds(at));
        put(&mut transfer, "from", hosts[from]);
        put(&mut transfer, "to", hosts[to]);
        put(&mut transfer, "bytes", format!("{} B", draw.count(200_000)));
        transfer
    });
    tables(transfers.collect())
}

/// A range of delays.
fn delays(draw: &mut Draw) -> String {
    let shortest = draw.scale * draw.magnitude(0.01, 1.0);
    format!("{} .. {}", picoseconds(shortest), picoseconds(shortest * draw.magnitude(1.0, 10.0)))
}
