//! Topologies, links and hosts.

use celltrain_network::scenario::Graph;
use toml::{Table, Value};

use crate::{
    draw::{Draw, bits_per_second, picoseconds, put, tables},
    schema::Schema,
};

/// `[topology]`: one of the kinds, or nodes and links written out.
pub(crate) fn topology(draw: &mut Draw, schema: &Schema, packets: bool) -> Table {
    let (kind, form) = *draw.pick(&schema.forms("topology"));
    if form["properties"]["node"].is_object() || draw.chance(0.3) {
        return graph(draw, packets);
    }
    let mut table = Table::new();
    table.insert("kind".into(), kind.into());
    for (key, property) in form["properties"].as_object().expect("a table") {
        if property["type"] == "integer" {
            let low = property["minimum"].as_u64().unwrap_or(0);
            let number = low + draw.count(3) - 1;
            let step = property["multipleOf"].as_u64().unwrap_or(1);
            table.insert(key.clone(), (number.next_multiple_of(step) as i64).into());
        }
        if let Some(names) = schema.names_of(property) {
            table.insert(key.clone(), (*draw.pick(&names)).into());
        }
    }
    if kind == "random" {
        possible_degree(&mut table);
    }
    table
}

/// Makes the degree of a random topology one that its switches can have.
fn possible_degree(table: &mut Table) {
    let [switches, degree] = ["switches", "degree"].map(|key| table[key].as_integer().expect("a number"));
    let most = degree.min(switches - 1);
    table.insert("degree".into(), (most - switches * most % 2).into());
}

/// Hosts whose links carry packets where others carry cells.
pub(crate) const PACKET_HOSTS: [&str; 2] = ["p1", "p2"];

/// Nodes and links written out: switches in a row, a ring, a star or at random, and hosts at any of them.
fn graph(draw: &mut Draw, packets: bool) -> Table {
    let switches = draw.count(4);
    let hosts = draw.whole(2, 5);
    let node = |name: String, kind: &str| -> Table {
        [("name".to_owned(), Value::from(name)), ("kind".to_owned(), kind.into())].into_iter().collect()
    };
    let mut nodes: Vec<_> = (1..=switches)
        .map(|number| node(format!("s{number}"), "switch"))
        .chain((1..=hosts).map(|number| node(format!("h{number}"), "host")))
        .collect();
    let mut links = Vec::new();
    let shape = draw.whole(0, 3);
    for number in 2..=switches {
        let other = match shape {
            0 | 1 => number - 1,
            2 => 1,
            _ => draw.whole(1, number - 1),
        };
        join(draw, &mut links, &format!("s{other}"), &format!("s{number}"));
    }
    if shape == 1 && switches > 2 {
        join(draw, &mut links, &format!("s{switches}"), "s1");
    }
    for number in 1..=hosts {
        let switch = draw.whole(1, switches);
        join(draw, &mut links, &format!("h{number}"), &format!("s{switch}"));
    }
    if !packets && draw.feature() && draw.chance(0.25) {
        // Hosts of packets at a switch of cells.
        for host in PACKET_HOSTS {
            nodes.push(node(host.to_owned(), "host"));
            let mut link = line(draw);
            for (key, value) in [("from", host), ("to", "s1"), ("framing", "packets")] {
                put(&mut link, key, value);
            }
            if draw.chance(0.5) {
                put(&mut link, "overhead", overhead(draw));
            }
            links.push(link);
        }
    }
    let mut table = Table::new();
    put(&mut table, "kind", "graph");
    put(&mut table, "node", tables(nodes));
    put(&mut table, "link", tables(links));
    table
}

/// A link between two nodes: the same in both directions, or one each way.
fn join(draw: &mut Draw, links: &mut Vec<Table>, from: &str, to: &str) {
    let asymmetric = draw.feature() && draw.chance(0.6);
    let ways = [(from, to), (to, from)];
    for (from, to) in &ways[..if asymmetric { 2 } else { 1 }] {
        let mut link = if draw.feature() { line(draw) } else { Table::new() };
        put(&mut link, "from", *from);
        put(&mut link, "to", *to);
        if asymmetric {
            put(&mut link, "simplex", true);
        }
        links.push(link);
    }
}

/// What may be different about the links of a place.
fn line(draw: &mut Draw) -> Table {
    let mut table = Table::new();
    if draw.chance(0.7) {
        put(&mut table, "rate", draw.bit_rate());
    }
    if draw.chance(0.6) {
        put(&mut table, "delay", draw.delay());
    }
    if draw.feature() && draw.chance(0.2) {
        losses(draw, &mut table);
    }
    table
}

/// What links carry.
fn framing(packets: bool) -> &'static str {
    if packets { "packets" } else { "cells" }
}

fn overhead(draw: &mut Draw) -> String {
    format!("{} B", draw.whole(0, 64))
}

/// Random losses of a link.
fn losses(draw: &mut Draw, table: &mut Table) {
    let loss = if draw.chance(0.05) { 1.0 } else { draw.magnitude(1e-4, 0.3) };
    put(table, "loss", (loss * 1e5).round() / 1e5);
    if draw.chance(0.5) {
        put(table, "loss-unit", *draw.pick(&["cell", "frame"]));
    }
}

/// Makes links behave badly in some scenarios; whether it did.
pub(crate) fn impair(draw: &mut Draw, scenario: &mut Table, packets: bool) -> bool {
    if !draw.chance(0.3) {
        return false;
    }
    let places = ["link", "link.access", "link.trunk", "link.exit"];
    for place in places.into_iter().filter(|_| draw.chance(0.4)).collect::<Vec<_>>() {
        impairments(draw, scenario, place, packets);
    }
    if let Some(links) = scenario["topology"].get("link").and_then(Value::as_array).map(Vec::len) {
        let link = draw.whole(0, links as u64 - 1) as usize;
        let mut own = Table::new();
        impairments(draw, &mut own, "link", packets);
        if let Some(own) = own.remove("link")
            && let Some(Value::Array(links)) = scenario["topology"].get_mut("link")
            && let (Some(link), Value::Table(own)) = (links[link].as_table_mut(), own)
        {
            link.extend(own);
        }
    }
    true
}

/// Makes single links differ from those of their place in some scenarios; whether it did.
pub(crate) fn single_links(draw: &mut Draw, scenario: &mut Table, graph: &Graph, packets: bool) -> bool {
    if !draw.chance(0.15) {
        return false;
    }
    let name = |node: usize| graph.nodes[node].name.as_str();
    let mut entries = Vec::new();
    for _ in 0..draw.whole(1, 2) {
        let link = draw.pick(&graph.links);
        let mut entry = Table::new();
        put(&mut entry, "from", name(link.from));
        put(&mut entry, "to", name(link.to));
        put(&mut entry, "link.delay", draw.delay());
        if draw.chance(0.6) {
            put(&mut entry, "link.rate", draw.bit_rate());
        }
        if draw.chance(0.3) {
            impairments(draw, &mut entry, "link", packets);
        }
        entries.push(entry);
    }
    put(scenario, "link-override", tables(entries));
    true
}

/// Says in some scenarios which of several shortest ways are taken; whether it did.
pub(crate) fn routing(draw: &mut Draw, schema: &Schema, scenario: &mut Table, packets: bool) -> bool {
    let is_said = draw.chance(if packets { 0.5 } else { 0.2 });
    if is_said {
        // Cells stay in order.
        let names = schema.names("routing.multipath");
        let multipath = if packets && draw.chance(0.6) { "packet" } else { draw.pick(&names[..2]) };
        put(scenario, "routing.multipath", multipath);
        if draw.chance(0.5) {
            put(scenario, "routing.weights", *draw.pick(&schema.names("routing.weights")));
        }
    }
    is_said
}

/// Makes the clocks of links differ in some scenarios; whether it did.
pub(crate) fn clocks(draw: &mut Draw, scenario: &mut Table) -> bool {
    let differ = draw.chance(0.12);
    if differ {
        put(scenario, "link.rate-spread", *draw.pick(&["1 ppb", "20 ppm", "100 ppm", "1000 ppm"]));
    }
    differ
}

/// What is wrong with the links of a place.
fn impairments(draw: &mut Draw, scenario: &mut Table, place: &str, packets: bool) {
    let probability = |number: f64| (number * 1e5).round().max(1.0) / 1e5;
    let scale = draw.scale;
    if draw.chance(0.4) {
        let key = format!("{place}.burst-loss");
        put(scenario, &format!("{key}.p"), probability(draw.magnitude(1e-4, 0.3)));
        put(scenario, &format!("{key}.r"), probability(draw.magnitude(1e-3, 1.0)));
        if draw.chance(0.5) {
            put(scenario, &format!("{key}.loss-good"), probability(draw.magnitude(1e-4, 0.1)));
            put(scenario, &format!("{key}.loss-bad"), probability(draw.unit()));
        }
    }
    if packets && draw.chance(0.5) {
        put(scenario, &format!("{place}.reorder.share"), probability(draw.magnitude(1e-3, 1.0)));
        let delay = picoseconds((scale * draw.magnitude(0.001, 3.0)).max(1.0));
        put(scenario, &format!("{place}.reorder.delay"), delay);
    }
    if draw.chance(0.3) {
        let key = format!("{place}.dark");
        let length = scale * draw.magnitude(0.01, 5.0);
        put(scenario, &format!("{key}.from"), picoseconds(scale * draw.magnitude(0.1, 10.0)));
        put(scenario, &format!("{key}.length"), picoseconds(length));
        if draw.chance(0.6) {
            let every = (length * draw.magnitude(1.1, 10.0)).max(2e6);
            put(scenario, &format!("{key}.every"), picoseconds(every));
        }
    }
    if draw.chance(0.3) {
        let mut at = 0.0;
        let mut changes = Vec::new();
        for _ in 0..draw.whole(1, 4) {
            at += scale * draw.magnitude(0.1, 5.0) + 1.0;
            let mut change = Table::new();
            put(&mut change, "at", picoseconds(at));
            put(&mut change, "delay", draw.delay());
            changes.push(change);
        }
        put(scenario, &format!("{place}.delay-changes"), tables(changes));
    }
}

/// Changes the rates of links in some scenarios; whether it did.
pub(crate) fn rates(draw: &mut Draw, scenario: &mut Table) -> bool {
    if !draw.chance(0.15) {
        return false;
    }
    let place = *draw.pick(&["link", "link.access", "link.trunk", "link.exit", "topology"]);
    let changes = rate_changes(draw);
    if place != "topology" {
        put(scenario, &format!("{place}.rate-changes"), changes);
    } else if let Some(Value::Array(links)) = scenario["topology"].get_mut("link") {
        let link = draw.whole(0, links.len() as u64 - 1) as usize;
        links[link].as_table_mut().expect("a link").insert("rate-changes".into(), changes);
    }
    true
}

fn rate_changes(draw: &mut Draw) -> Value {
    let mut at = 0.0;
    let mut changes = Vec::new();
    for _ in 0..draw.whole(1, 4) {
        at += draw.scale * draw.magnitude(0.1, 5.0) + 1.0;
        let mut change = Table::new();
        put(&mut change, "at", picoseconds(at));
        let rate = if draw.chance(0.1) { *draw.pick(&["1 kbit/s", "8 Tbit/s"]) } else { &draw.bit_rate() };
        put(&mut change, "rate", rate);
        changes.push(change);
    }
    tables(changes)
}

/// `[link]`, `[host]` and `[aal5]`.
pub(crate) fn elements(draw: &mut Draw, schema: &Schema, scenario: &mut Table, packets: bool) {
    let mut link = Table::new();
    let rate = draw.rate;
    put(&mut link, "rate", bits_per_second(rate));
    put(&mut link, "delay", draw.delay());
    if packets || draw.chance(0.1) {
        put(&mut link, "framing", framing(packets));
    }
    if packets && draw.feature() {
        put(&mut link, "overhead", overhead(draw));
    }
    if draw.feature() && draw.chance(0.4) {
        losses(draw, &mut link);
    }
    for place in ["access", "trunk", "exit"] {
        if draw.feature() {
            let mut place_table = line(draw);
            if draw.chance(0.1) {
                put(&mut place_table, "framing", framing(packets));
            }
            if packets && draw.chance(0.2) {
                put(&mut place_table, "overhead", overhead(draw));
            }
            put(&mut link, place, place_table);
        }
    }
    if draw.chance(0.3) {
        // A bottleneck, so that something is discarded.
        let narrow = draw.rate * draw.magnitude(0.1, 0.9);
        let place = *draw.pick(&["trunk", "exit"]);
        put(&mut link, &format!("{place}.rate"), bits_per_second(narrow));
    }
    put(scenario, "link", link);
    if draw.feature() && draw.chance(0.3) {
        let host = schema.table(draw, schema.at("host"));
        put(scenario, "host", host);
    }
    if draw.feature() && draw.chance(0.4) {
        put(scenario, "aal5.overhead", format!("{} B", draw.whole(0, 80)));
    }
}
