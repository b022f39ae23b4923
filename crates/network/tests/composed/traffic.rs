//! Flows: what they carry, their TCP, their contracts, and who shares a VC.

use celltrain_atm::cell::CELL_BITS;
use celltrain_network::scenario::{Graph, NodeKind};
use toml::{Table, Value};

use crate::{
    cell_traces::{TRACE, recorded},
    draw::{Draw, picoseconds, put, tables},
    requests::REQUESTS,
    schema::Schema,
    short_flows::SHORT_FLOWS,
    topology::PACKET_HOSTS,
};

/// Which kinds of traffic a scenario has.
#[derive(Clone, Copy)]
pub(crate) struct Kinds {
    pub(crate) packets: bool,
    pub(crate) abr: bool,
}

/// What a flow carries: any kind, or one that TCP carries; `packets` says whether over links that carry nothing but packets.
fn traffic(draw: &mut Draw, schema: &Schema, tcp: bool, packets: bool) -> Table {
    let forms = schema.forms("traffic");
    // Sources without TCP have a frame size.
    let suits: Vec<_> = forms
        .iter()
        .filter(|(kind, form)| {
            ![SHORT_FLOWS, REQUESTS, TRACE].contains(kind) && (!tcp || form["properties"]["frame"].is_null())
        })
        .collect();
    let (_, form) = **draw.pick(&suits);
    let mut table = schema.table(draw, form);
    if !tcp && let Some(table) = recorded(draw, packets) {
        return table;
    }
    if table.contains_key("packet") || (packets && !form["properties"]["packet"].is_null()) {
        put(&mut table, "packet", format!("{} B", 39 + draw.count(9_000)));
        table.remove("frame");
    } else {
        // Cells have no ECN field.
        table.remove("ecn");
    }
    // Links of packets alone carry packets whose sizes differ.
    if let Some(distribution) = table.remove("packet-distribution")
        && packets
    {
        put(&mut table, "packet", format!("{} B", 390 + draw.beside("packet sizes").count(13_000)));
        put(&mut table, "packet-distribution", distribution);
    }
    if let Some(rate) = table.get_mut("rate").and_then(Value::as_table_mut)
        && rate.contains_key("cycle")
    {
        // Cycles far below the time of a cell cost much, and are averaged away.
        let cell = CELL_BITS as f64 * 1e12 / draw.rate;
        put(rate, "cycle", picoseconds(draw.scale.max(cell) * draw.magnitude(1.0, 100.0)));
    }
    if let Some(states) = table.get_mut("states").and_then(Value::as_array_mut) {
        // As of cycles.
        let cell = CELL_BITS as f64 * 1e12 / draw.rate;
        for state in states.iter_mut().filter_map(Value::as_table_mut) {
            put(state, "mean-time", picoseconds(draw.scale.max(cell) * draw.magnitude(1.0, 100.0)));
            if draw.chance(0.2) {
                put(state, "rate", "0 Mbit/s");
            }
        }
    }
    // Only a Pareto distribution has a shape.
    if table.contains_key("shape") {
        put(&mut table, "distribution", "pareto");
    }
    table
}

/// A TCP stack: a preset, and some of the keys.
fn stack(draw: &mut Draw, schema: &Schema) -> Table {
    let mut table = Table::new();
    if draw.chance(0.3) {
        table.extend(schema.one_or_some(draw, "tcp"));
    }
    if draw.chance(0.7) {
        put(&mut table, "stack", *draw.pick(&schema.names("tcp.stack")));
    }
    let mut beside = draw.beside("cubic arithmetic");
    if beside.chance(0.1) {
        put(&mut table, "cubic-arithmetic", *beside.pick(&schema.names("tcp.cubic-arithmetic")));
    }
    let prague = table.get("congestion-control").and_then(Value::as_str) == Some("prague");
    if prague || draw.chance(0.05) {
        // It counts marks, one by one.
        for (key, value) in [("ecn", true.into()), ("accurate-ecn", true.into()), ("recovery", "rack".into())]
        {
            put::<Value>(&mut table, key, value);
        }
    }
    if draw.chance(0.5) {
        put(&mut table, "mss", format!("{} B", *draw.pick(&[1, 40, 100, 500, 512, 536, 1460, 4000, 9140])));
    }
    let mut beside = draw.beside("largest segments");
    if beside.chance(0.03) {
        // The largest that an IP packet can hold, with and without timestamps; a window that holds it needs a scale.
        put(&mut table, "mss", *beside.pick(&["65495 B", "65483 B", "65484 B"]));
        put(&mut table, "window-scaling", true);
        put(&mut table, "receive-window", "1 MiB");
    }
    if draw.chance(0.6) {
        // Timeouts that fall into the run.
        let least = draw.scale * draw.magnitude(0.5, 20.0);
        put(&mut table, "rto-min", picoseconds(least));
        put(&mut table, "rto-initial", picoseconds(least * draw.magnitude(1.0, 5.0)));
    }
    if draw.chance(0.4) {
        // Soon at full speed.
        put(&mut table, "initial-window", draw.whole(4, 10) as i64);
    }
    if draw.feature() && draw.chance(0.3) {
        put(&mut table, "processing-delay", draw.duration());
    }
    table
}

/// The contract of a VC.
fn contract(draw: &mut Draw, schema: &Schema, abr: bool) -> Table {
    let mut table = schema.one_or_some(draw, "vc");
    let says =
        |table: &Table, key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if abr && draw.chance(0.6) {
        put(&mut table, "category", "abr");
    } else if !abr && draw.chance(0.9) && says(&table, "category") == "abr" {
        table.remove("category");
    }
    // The rates of an ABR source are its own, and policing by frames needs one to measure them by.
    if abr && ["abr", ""].contains(&says(&table, "category").as_str()) {
        for key in ["pcr", "mcr", "scr", "policing", "clp"] {
            table.remove(key);
        }
    }
    if ["tag", "discard-frames"].contains(&says(&table, "policing").as_str()) && !table.contains_key("mcr") {
        put(&mut table, "mcr", draw.source_rate());
    }
    if says(&table, "policing") == "tag-cells" && !table.contains_key("scr") {
        put(&mut table, "scr", draw.source_rate());
    }
    table
}

/// `[tcp]`, `[vc]`, `[abr]` and `[traffic]`: what flows have in common.
pub(crate) fn common(draw: &mut Draw, schema: &Schema, scenario: &mut Table, kinds: Kinds) {
    put(scenario, "tcp", stack(draw, schema));
    if scenario["switch"]["discard"]["policy"].as_str() == Some("dualpi2") && draw.chance(0.5) {
        put(scenario, "tcp.stack", "prague");
    }
    if draw.feature() || kinds.abr {
        put(scenario, "vc", contract(draw, schema, kinds.abr));
    }
    if kinds.abr {
        if draw.chance(0.85) {
            put(scenario, "vc.category", "abr");
        }
        if draw.chance(0.7) {
            put(scenario, "abr", schema.one_or_some(draw, "abr"));
        }
    }
    if draw.chance(0.7) {
        let tcp = draw.chance(0.7);
        put(scenario, "traffic", traffic(draw, schema, tcp, kinds.packets));
    }
}

/// `[[flow]]`: flows that differ from the others, and more of them.
pub(crate) fn flows(draw: &mut Draw, schema: &Schema, graph: &Graph, kinds: Kinds) -> Value {
    let name = |node: usize| graph.nodes[node].name.clone();
    let ends = |&node: &usize| {
        graph.nodes[node].kind == NodeKind::Host && !PACKET_HOSTS.contains(&graph.nodes[node].name.as_str())
    };
    let hosts: Vec<_> = (0..graph.nodes.len()).filter(ends).collect();
    let mut entries = Vec::new();
    for flow in &graph.flows {
        if draw.feature() {
            let mut entry = own(draw, schema, kinds);
            put(&mut entry, "name", flow.name.as_str());
            if flow.name == "only" {
                put(&mut entry, "from", name(flow.from));
                put(&mut entry, "to", name(flow.to));
            }
            entries.push(entry);
        } else if flow.name == "only" {
            entries.push(new("only".to_owned(), name(flow.from), name(flow.to)));
        }
    }
    let [one, other] = PACKET_HOSTS;
    if graph.nodes.iter().any(|node| node.name == one) {
        let mut entry = own(draw, schema, Kinds { packets: true, abr: false });
        entry.extend(new("island".to_owned(), one.to_owned(), other.to_owned()));
        let tcp = draw.chance(0.7);
        put(&mut entry, "traffic", traffic(draw, schema, tcp, true));
        put(&mut entry, "vc.category", "ubr");
        entries.push(entry);
    }
    for number in 0..draw.whole(0, 3) {
        // Along a flow that is there, against it, or anywhere.
        let flow = draw.pick(&graph.flows);
        let way = draw.whole(0, 3);
        let (from, to) = match way {
            0 | 1 => (flow.from, flow.to),
            2 => (flow.to, flow.from),
            _ => (*draw.pick(&hosts), *draw.pick(&hosts)),
        };
        if from == to {
            continue;
        }
        let mut entry = own(draw, schema, kinds);
        entry.extend(new(format!("more{number}"), name(from), name(to)));
        if kinds.abr && way > 1 && draw.chance(0.9) {
            // No ports may stamp each other's RM cells: what goes against the others is mostly not ABR.
            put(&mut entry, "vc.category", "ubr");
            entry.remove("abr");
        }
        entries.push(entry);
    }
    if draw.feature() && draw.chance(0.6) {
        let flow = draw.pick(&graph.flows);
        sharers(draw, schema, &mut entries, &name(flow.from), &name(flow.to), kinds);
    }
    tables(entries)
}

/// A flow between two hosts.
fn new(name: String, from: String, to: String) -> Table {
    [("name", name), ("from", from), ("to", to)]
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .into_iter()
        .collect()
}

/// Settles several of the flows that a topology has numbered by one entry, named `1 .. 3`; whether it did.
pub(crate) fn ranges(
    draw: &mut Draw,
    schema: &Schema,
    scenario: &mut Table,
    graph: &Graph,
    kinds: Kinds,
) -> bool {
    let numbered =
        graph.flows.iter().filter(|flow| flow.name.bytes().all(|byte| byte.is_ascii_digit())).count() as u64;
    if numbered < 2 || !draw.chance(0.15) {
        return false;
    }
    let first = draw.whole(1, numbered - 1);
    let last = draw.whole(first + 1, numbered);
    let mut entry = own(draw, schema, kinds);
    put(&mut entry, "name", format!("{first} .. {last}"));
    let Some(Value::Array(flows)) = scenario.get_mut("flow") else { return false };
    // No flow has two entries.
    let is_within = |flow: &Value| {
        let number = flow.get("name").and_then(Value::as_str).and_then(|name| name.parse().ok());
        number.is_some_and(|number: u64| (first..=last).contains(&number))
    };
    flows.retain(|flow| !is_within(flow));
    flows.push(Value::Table(entry));
    true
}

/// What is different about a flow.
pub(crate) fn own(draw: &mut Draw, schema: &Schema, kinds: Kinds) -> Table {
    let mut entry = Table::new();
    if draw.chance(0.5) {
        let tcp = draw.chance(0.5);
        put(&mut entry, "traffic", traffic(draw, schema, tcp, kinds.packets));
    }
    if draw.feature() {
        put(&mut entry, "start", draw.start());
    }
    if draw.feature() {
        put(&mut entry, "tcp", stack(draw, schema));
    }
    if draw.feature() {
        put(&mut entry, "vc", contract(draw, schema, kinds.abr));
    }
    if kinds.abr && draw.feature() {
        put(&mut entry, "abr", schema.one_or_some(draw, "abr"));
    }
    if draw.feature() && draw.chance(0.3) {
        put(&mut entry, "group", draw.whole(1, 3) as i64);
    }
    if draw.feature() && draw.chance(0.2) {
        put(&mut entry, "standalone", draw.chance(0.8));
    }
    entry
}

/// TCP flows on one VC, whose stacks are unlike.
fn sharers(draw: &mut Draw, schema: &Schema, entries: &mut Vec<Table>, from: &str, to: &str, kinds: Kinds) {
    let terms = draw.feature().then(|| contract(draw, schema, kinds.abr));
    for number in 0..draw.whole(2, 3) {
        let mut entry = new(format!("shares{number}"), from.to_owned(), to.to_owned());
        put(&mut entry, "circuit", "shared");
        put(&mut entry, "traffic", traffic(draw, schema, true, kinds.packets));
        put(&mut entry, "tcp", stack(draw, schema));
        if let Some(terms) = &terms {
            put(&mut entry, "vc", terms.clone());
        }
        entries.push(entry);
    }
}

/// `[[loss]]`: segments that links lose.
pub(crate) fn losses(draw: &mut Draw, graph: &Graph) -> Option<Value> {
    let flows: Vec<_> = graph.flows.iter().filter(|flow| flow.traffic.uses_tcp()).collect();
    if flows.is_empty() {
        return None;
    }
    let mut entries = Vec::new();
    for _ in 0..draw.count(4) {
        let mut entry = Table::new();
        let flow = *draw.pick(&flows);
        put(&mut entry, "flow", flow.name.as_str());
        put(&mut entry, "segment", draw.count(30) as i64 - 1);
        let direction = *draw.pick(&["data", "data", "ack"]);
        put(&mut entry, "direction", direction);
        if draw.chance(0.4) {
            put(&mut entry, "occurrence", draw.count(3) as i64);
        }
        if draw.chance(0.4) {
            let way = if direction == "data" { &flow.route } else { &flow.back };
            let link = &graph.links[*draw.pick(way)];
            let ends = [link.from, link.to].map(|node| Value::from(graph.nodes[node].name.as_str()));
            put(&mut entry, "link", Value::Array(ends.into()));
        }
        entries.push(entry);
    }
    Some(tables(entries))
}
