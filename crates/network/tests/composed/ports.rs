//! Output ports of switches: buffers, discard policies, schedulers, rate allocators.

use std::collections::BTreeSet;

use celltrain_network::{
    RunResult,
    scenario::{Framing, Graph, Link, NodeKind, Spec},
    table::Column,
};
use toml::{Table, Value};

use crate::{
    draw::{Draw, put, tables},
    measures::column,
    schema::Schema,
};

/// What a port's buffer is counted in.
fn capacity(draw: &mut Draw, unit: &str, most: u64) -> String {
    match unit {
        "packets" => format!("{} packets", draw.count(most / 20 + 3)),
        "B" => format!("{} B", 40 * draw.count(most)),
        unit => format!("{} {unit}", draw.count(most)),
    }
}

/// The unit of buffers that suit what the links carry.
fn unit(draw: &mut Draw, packets: bool) -> &'static str {
    match packets {
        false => "cells",
        true if draw.chance(0.5) => "packets",
        true => "B",
    }
}

/// A buffer from one cell to more than ever comes, or without limit.
fn buffer(draw: &mut Draw, unit: &str) -> String {
    match draw.whole(0, 19) {
        0 => "unlimited".to_owned(),
        1..=3 => capacity(draw, unit, 12),
        4..=14 => capacity(draw, unit, 600),
        _ => capacity(draw, unit, 20_000),
    }
}

/// `[switch]`, or what a `[[port]]` changes: there everything is optional.
pub(crate) fn switch(draw: &mut Draw, schema: &Schema, packets: bool, abr: bool) -> Table {
    let mut switch = Table::new();
    let unit = unit(draw, packets);
    put(&mut switch, "buffer", buffer(draw, unit));
    if draw.feature() && draw.chance(0.3) {
        put(&mut switch, "delay", draw.duration());
    }
    let discard = schema.plug_in(draw, "switch.discard", "policy");
    put(&mut switch, "discard", discard);
    some_of(draw, schema, &mut switch, unit, abr.then_some(0.9));
    suit(draw, &mut switch);
    switch
}

/// Scheduler, limits and, with its probability, an allocator.
fn some_of(draw: &mut Draw, schema: &Schema, table: &mut Table, unit: &str, allocator: Option<f64>) {
    if draw.feature() && draw.chance(0.6) {
        let scheduler = schema.plug_in(draw, "switch.scheduler", "discipline");
        put(table, "scheduler", scheduler);
    }
    if draw.feature() && draw.chance(0.5) {
        put(table, "vc-buffer", capacity(draw, unit, 300));
    }
    if allocator.is_some_and(|probability| draw.chance(probability)) {
        let allocator = schema.plug_in(draw, "switch.allocator", "algorithm");
        put(table, "allocator", allocator);
    }
}

/// `[[port]]`: ports that differ, and those of packets where the others are of cells.
pub(crate) fn ports(
    draw: &mut Draw,
    schema: &Schema,
    graph: &Graph,
    packets: bool,
    abr: bool,
) -> Option<toml::Value> {
    let name = |node: usize| graph.nodes[node].name.as_str();
    let of_switch = |link: &&Link| graph.nodes[link.from].kind == NodeKind::Switch;
    let ports: Vec<_> = graph.links.iter().filter(of_switch).collect();
    let mut entries = Vec::new();
    let mut taken = BTreeSet::new();
    for link in ports.iter().filter(|link| link.framing == Framing::Packets) {
        let mut entry = port(draw, schema, (name(link.from), name(link.to)), true, false);
        if !entry.contains_key("buffer") {
            put(&mut entry, "buffer", "4 packets");
        }
        if taken.insert((link.from, link.to)) {
            entries.push(entry);
        }
    }
    let more = if draw.feature() { draw.count(3) } else { 0 };
    for _ in 0..more {
        let link = *draw.pick(&ports);
        if link.framing == Framing::Cells {
            let entry = port(draw, schema, (name(link.from), name(link.to)), packets, abr);
            if taken.insert((link.from, link.to)) {
                entries.push(entry);
            }
        }
    }
    (!entries.is_empty()).then(|| tables(entries))
}

/// A `[[port]]`.
fn port(draw: &mut Draw, schema: &Schema, (from, to): (&str, &str), packets: bool, abr: bool) -> Table {
    let mut entry = Table::new();
    put(&mut entry, "from", from);
    put(&mut entry, "to", to);
    let unit = unit(draw, packets);
    if draw.chance(0.6) {
        put(&mut entry, "buffer", buffer(draw, unit));
    }
    if draw.chance(0.6) {
        let discard = schema.plug_in(draw, "switch.discard", "policy");
        put(&mut entry, "discard", discard);
    }
    some_of(draw, schema, &mut entry, unit, abr.then_some(0.4));
    suit(draw, &mut entry);
    entry
}

/// Policies that are one algorithm with a discipline mostly come with it.
fn suit(draw: &mut Draw, table: &mut Table) {
    let policy = table.get("discard").and_then(|discard| discard["policy"].as_str());
    let discipline = match policy {
        Some("fq-codel") => "flow-queue",
        Some("dualpi2") => "dual-queue",
        _ => return,
    };
    if draw.chance(0.6) {
        put(table, "scheduler.discipline", discipline);
    }
}

/// Gives each switch one memory, as large as one or several of its buffers.
pub(crate) fn share(draw: &mut Draw, scenario: &mut Table) -> bool {
    let shares = draw.chance(0.15);
    if shares {
        let of_buffer = scenario["switch"]["buffer"].as_str().and_then(|buffer| buffer.split_once(' '));
        let size = match of_buffer {
            Some((count, unit)) => {
                let count = count.parse::<f64>().unwrap_or(1.0) * draw.magnitude(0.3, 8.0);
                format!("{} {unit}", (count as u64).max(1))
            }
            None => "unlimited".to_owned(),
        };
        put(scenario, "switch.memory.size", size);
        if draw.chance(0.4) {
            pause(draw, scenario);
        }
        if draw.chance(0.7) {
            put(scenario, "switch.memory.alpha", *draw.pick(&[0.125, 0.5, 1.0, 2.0, 8.0, 1e6]));
        }
    }
    shares
}

/// Lets switches pause links: a memory with much headroom, or none to spare, which alone limits what ports hold.
fn pause(draw: &mut Draw, scenario: &mut Table) {
    let buffer = scenario["switch"]["buffer"].as_str().unwrap_or_default();
    let Some((_, unit)) = buffer.split_once(' ') else { return };
    let (unit, each) = (unit.to_owned(), if unit == "B" { 1500 } else { 1 });
    let xoff = draw.count(300);
    let xon = draw.whole(1, xoff);
    // One that is too small is made as large as the headroom demands.
    let size = if draw.chance(0.6) { 1 } else { 200_000 * each };
    let size = format!("{size} {unit}");
    put(scenario, "switch.memory.pause.xoff", format!("{} {unit}", xoff * each));
    put(scenario, "switch.memory.pause.xon", format!("{} {unit}", xon * each));
    put(scenario, "switch.memory.size", size.as_str());
    put(scenario, "switch.buffer", size);
    scenario["switch"].as_table_mut().and_then(|switch| switch.remove("vc-buffer"));
    for port in scenario.get_mut("port").and_then(Value::as_array_mut).into_iter().flatten() {
        for limit in ["buffer", "vc-buffer"] {
            port.as_table_mut().and_then(|port| port.remove(limit));
        }
    }
}

/// A memory for each switch that limits nothing; none where ports have one already or relay RM cells.
pub(crate) fn memory_that_limits_nothing(spec: &Spec, graph: &Graph) -> Option<[(&'static str, String); 1]> {
    let suits = spec.switch.memory.is_none() && graph.links.iter().all(|link| link.allocator.is_none());
    suits.then(|| [("switch.memory.size", "unlimited".to_owned())])
}

/// The policies that discarded or pushed out, the disciplines with a queue and the allocators with one: what is registered and
/// had something to do.
pub(crate) fn busy(graph: &Graph, result: &RunResult) -> Vec<String> {
    let get = |name| column(&result.ports, name);
    let (discarded, pushed_out) = (get("cells_discarded"), get("discarded_pushed_out"));
    let (most, abr) = (get("occupancy_max"), get("abr_queue_max"));
    let Column::Text(names) = &result.ports.columns()[0].2 else { return Vec::new() };
    let mut busy = BTreeSet::new();
    for (index, link) in graph.links.iter().enumerate() {
        let Some(row) = names.iter().position(|name| name == graph.link_name(index)) else { continue };
        if graph.nodes[link.from].kind != NodeKind::Switch {
            continue;
        }
        let policy = link.discard.policy.name();
        let facts = [
            (discarded[row] > 0.0, format!("{policy} discards")),
            (pushed_out[row] > 0.0, format!("{policy} pushes out")),
            (pushed_out[row] > 0.0 && abr[row] > 0.0, format!("{policy} pushes out under ABR")),
            (most[row] > 2.0, format!("{} has a queue", link.scheduler.discipline.name())),
        ];
        busy.extend(facts.into_iter().filter(|fact| fact.0).map(|fact| fact.1));
        if let Some(allocator) = link.allocator.as_ref().filter(|_| abr[row] > 2.0) {
            busy.insert(format!("{} has a queue", allocator.algorithm.name()));
        }
    }
    busy.into_iter().collect()
}

/// Settings that give every VC the whole of each buffer, which limits nothing; none where a VC has a limit.
pub(crate) fn limits_that_limit_nothing(spec: &Spec) -> Option<Vec<(String, String)>> {
    let limited = spec.switch.vc_buffer.is_some() || spec.port.iter().any(|port| port.vc_buffer.is_some());
    if limited {
        return None;
    }
    let own = spec
        .port
        .iter()
        .enumerate()
        .filter_map(|(index, port)| Some((format!("port.{index}.vc-buffer"), port.buffer?.to_string())));
    let all = [("switch.vc-buffer".to_owned(), spec.switch.buffer.to_string())];
    Some(all.into_iter().chain(own).collect())
}
