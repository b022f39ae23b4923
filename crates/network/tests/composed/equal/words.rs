//! The same scenario in other words: defaults written out, tables in another order, other names.

use std::collections::BTreeSet;

use celltrain_engine::quantity::Duration;
use celltrain_network::scenario::{Framing, NodeKind, Topology};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, entries, table, value},
    flows,
};
use crate::draw::{Draw, put, tables};

/// The scenario with every value in force, on another preset of TCP, which leaves nothing to it.
fn resolved(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    fn on_newreno(table: &mut Table) {
        for (key, part) in table.iter_mut() {
            match part {
                Value::Table(tcp) if key == "tcp" => put(tcp, "stack", "newreno"),
                Value::Array(entries) => {
                    entries.iter_mut().filter_map(Value::as_table_mut).for_each(on_newreno)
                }
                _ => {}
            }
        }
    }
    let mut text = flows::resolved(case)?;
    on_newreno(&mut text);
    Pair::with(text)
}

/// Tables that each are about something of its own, from the last to the first.
fn reversed(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let mut several = false;
    for key in ["port", "link-override", "loss"] {
        if let Some(Value::Array(entries)) = text.get_mut(key) {
            several |= entries.len() > 1;
            entries.reverse();
        }
    }
    several.then(|| Pair::with(text)).flatten()
}

/// Other names of VCs that flows share.
fn renamed(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let mut shared = false;
    for flow in entries(&mut text, "flow").iter_mut().filter_map(Value::as_table_mut) {
        if let Some(name) = flow.get("circuit").and_then(Value::as_str).map(|name| format!("other {name}")) {
            put(flow, "circuit", name);
            shared = true;
        }
    }
    shared.then(|| Pair::with(text)).flatten()
}

/// Tables of algorithms that are not chosen.
fn more_tables(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let discard = &case.spec.switch.discard.policy;
    for policy in ["espd", "double-epd", "dfba"].into_iter().filter(|name| *name != discard.name()) {
        put(&mut text, &format!("switch.discard.{policy}.low"), format!("{} cells", draw.whole(1, 3)));
    }
    if case.spec.switch.scheduler.discipline.name() != "deficit-round-robin" {
        put(&mut text, "switch.scheduler.deficit-round-robin.quantum", draw.whole(1, 50) as i64);
    }
    Pair::with(text)
}

/// Other measures.
fn measured(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let mut measures = Table::new();
    put(&mut measures, "delays", *draw.pick(&["none", "tcp", "all"]));
    put(&mut measures, "distributions", !case.spec.measures.distributions);
    put(&mut text, "measures", measures);
    Pair::with(text)
}

/// A segment that is never sent is lost.
fn lost_in_vain(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let flows: Vec<_> = case.graph.flows.iter().filter(|flow| flow.traffic.uses_tcp()).collect();
    if flows.is_empty() {
        return None;
    }
    let mut loss = Table::new();
    put(&mut loss, "flow", draw.pick(&flows).name.as_str());
    put(&mut loss, "segment", draw.whole(0, 5) as i64);
    put(&mut loss, "direction", *draw.pick(&["data", "ack"]));
    put(&mut loss, "occurrence", 1_000_000);
    let mut text = case.text();
    entries(&mut text, "loss").push(Value::Table(loss));
    Pair::with(text)
}

/// Shortest paths, written out.
fn routed(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let graph = case.graph;
    let mut any = false;
    for (number, flow) in graph.flows.iter().enumerate() {
        let nodes = |links: &[usize], from: usize| -> Vec<usize> {
            std::iter::once(from).chain(links.iter().map(|&link| graph.links[link].to)).collect()
        };
        let (there, mut back) = (nodes(&flow.route, flow.from), nodes(&flow.back, flow.to));
        back.reverse();
        let parallel = flow.route.iter().chain(&flow.back).any(|&link| case.is_parallel(&graph.links[link]));
        if flow.sprayed.is_none() && there == back && !parallel {
            let names: Vec<_> = there.iter().map(|&node| Value::from(case.name(node))).collect();
            case.of_flow(&mut text, number, "route", names.into());
            any = true;
        }
    }
    any.then(|| Pair::with(text)).flatten()
}

/// What is said of things that are not there.
fn idle(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    if case.carries(Framing::Packets) {
        put(&mut text, "aal5.overhead", format!("{} B", draw.whole(0, 80)));
    } else if case.carries(Framing::Cells) {
        put(&mut text, "link.overhead", format!("{} B", draw.whole(0, 80)));
    }
    if case.spec.host.ip_rate.is_none() {
        put(&mut text, "host.ip-serves", "both");
        put(&mut text, "host.ip-spread", 0.5);
    }
    if case.spec.routing.multipath.is_none()
        && case.graph.links.iter().all(|link| link.rate == case.graph.links[0].rate)
    {
        put(&mut text, "routing.weights", *draw.pick(&["equal", "rate"]));
    }
    Pair::with(text)
}

/// Sources that stop after the end.
fn stopped_late(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let flows = case.graph.flows.iter().enumerate().filter(|(_, flow)| flow.stop.is_none());
    let late = value(&Duration(case.spec.duration.0 + 1_000_000_000_000));
    flows.for_each(|(number, _)| case.of_flow(&mut text, number, "stop", late.clone()));
    Pair::with(text)
}

/// The nodes and links that a topology makes, written out.
fn drawn_by_hand(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let own =
        matches!(case.spec.topology, Topology::Graph(_) | Topology::Dumbbell(_) | Topology::Backbone(_));
    // A change after the end of the run is not seen in the network, but leaves its mark in the fingerprint.
    let unseen = case.graph.links.iter().any(|link| link.varies && link.delay_changes.is_empty());
    // Flows of groups come before those of [[flow]].
    if own || unseen || !case.spec.group.is_empty() || !case.spec.link_override.is_empty() {
        return None;
    }
    let mut text = case.text();
    let node = |name: &str, kind: NodeKind| {
        let mut node = Table::new();
        put(&mut node, "name", name);
        put(&mut node, "kind", if kind == NodeKind::Host { "host" } else { "switch" });
        node
    };
    let graph = case.graph;
    // Each link there is followed by that back.
    let links: Vec<_> = graph.links.iter().step_by(2).map(|link| case.words_of(link)).collect();
    let mut topology = Table::new();
    put(&mut topology, "kind", "graph");
    put(&mut topology, "node", tables(graph.nodes.iter().map(|it| node(&it.name, it.kind)).collect()));
    put(&mut topology, "link", tables(links));
    put(&mut text, "topology", topology);
    put(&mut text, "routing", table(&case.spec.routing));
    let fabric = matches!(
        case.spec.topology,
        Topology::LeafSpine(_) | Topology::FatTree(_) | Topology::Torus(_) | Topology::Random(_)
    );
    if case.spec.routing.multipath.is_none() {
        put(&mut text, "routing.multipath", if fabric { "flow" } else { "none" });
    }
    for place in ["access", "trunk", "exit"] {
        text["link"].as_table_mut()?.remove(place);
    }
    let given: Vec<_> = entries(&mut text, "flow").drain(..).collect();
    let name_of = |entry: &Value| entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let names: BTreeSet<_> = given.iter().map(&name_of).collect();
    if names.iter().any(|name| name.contains("..")) {
        return None;
    }
    let flows = graph.flows.iter().map(|flow| {
        let mut entry = given
            .iter()
            .find(|entry| name_of(entry) == flow.name)
            .and_then(|entry| entry.as_table().cloned())
            .unwrap_or_default();
        put(&mut entry, "name", flow.name.as_str());
        put(&mut entry, "from", case.name(flow.from));
        put(&mut entry, "to", case.name(flow.to));
        put(&mut entry, "group", i64::from(flow.group));
        entry
    });
    put(&mut text, "flow", tables(flows.collect()));
    Pair::with(text)
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "every value in force, on another preset",
        because: "docs/reference/scenario.md, tcp.stack: the preset decides whatever is not said",
        words: resolved,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "shortest paths written out",
        because: "docs/reference/scenario.md, flow.route: the shortest path if not given",
        words: routed,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "settings of what is not there",
        because: "docs/reference/scenario.md, [aal5], [host], link.overhead, routing.weights: each is about cells, IP, packets or several paths",
        words: idle,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "sources that stop after the end",
        because: "docs/reference/scenario.md, flow.stop: when its source stops",
        words: stopped_late,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "tables in another order",
        because: "docs/reference/scenario.md: [[port]], [[link-override]] and [[loss]] are single ports, links and segments",
        words: reversed,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "other names of VCs",
        because: "docs/reference/scenario.md, flow.circuit: flows with the same ends and the same name share one VC",
        words: renamed,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "tables of what is not chosen",
        because: "docs/reference/policies.md: tables of policies other than the chosen one may stay",
        words: more_tables,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "other measures",
        because: "docs/reference/scenario.md, [measures]: what measures are about",
        words: measured,
        apart: Apart::Delays,
    },
    Equivalence {
        name: "a segment that is lost when it is sent for the millionth time",
        because: "docs/reference/scenario.md, loss.occurrence: which such segment on the link is lost",
        words: lost_in_vain,
        apart: Apart::Fingerprint(&[]),
    },
    Equivalence {
        name: "a topology written out",
        because: "docs/reference/scenario.md, [topology]: all kinds but graph make their hosts and flows themselves",
        words: drawn_by_hand,
        apart: Apart::Nothing,
    },
];
