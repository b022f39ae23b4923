//! Scenarios at random: everything that `celltrain check` accepts, in any composition.
//!
//! Each scenario switches on some of the features only, few or many (swarm testing: Groce, Zhang, Eide, Chen and Regehr
//! 2012), so that what is on is combined deeply. What it makes is the text of a scenario file.

use std::panic::AssertUnwindSafe;

use celltrain_atm::{cell::CELL_BITS, contract::Category};
use celltrain_engine::{Time, time::seconds};
use celltrain_network::scenario::{Flow, Framing, Graph, Link, NodeKind, Scenario, ScenarioError, Traffic};
use toml::{Table, Value};

use crate::{
    draw::{Draw, picoseconds, put},
    groups, ports, requests, routes,
    schema::Schema,
    short_flows, topology,
    traffic::{self, Kinds},
};

/// A scenario, and whether the first draft of it was refused.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) redrawn: bool,
}

/// How often a part that is refused is left out before the scenario stays as it is.
const REPAIRS: u32 = 16;
/// The most cell-hops that a run is planned for.
const MOST_HOPS: f64 = 2e5;

/// Scenario number `index` under `seed`; with `extremes` some have periods so short that they are refused or never end.
pub(crate) fn case(schema: &Schema, seed: u64, index: u64, extremes: bool) -> Case {
    let draw = &mut Draw::new(seed, index, extremes);
    let mut scenario = Table::new();
    put(&mut scenario, "schema", 1);
    put(&mut scenario, "name", format!("composed {seed} {index}"));
    put(&mut scenario, "duration", "1 s");
    put(&mut scenario, "seed", draw.whole(0, 1 << 40) as i64);
    put(&mut scenario, "tie-break", *draw.pick(&schema.names("tie-break")));
    let packets = draw.chance(0.25);
    let kinds = Kinds { packets, abr: !packets && draw.chance(0.35) };
    put(&mut scenario, "topology", topology::topology(draw, schema, packets));
    if scenario["topology"]["kind"].as_str() == Some("dumbbell") {
        put(&mut scenario, "group", groups::dumbbell(&mut draw.beside("dumbbell")));
    }
    let bare = bare_graph(&scenario);
    topology::elements(draw, schema, &mut scenario, packets);
    put(&mut scenario, "switch", ports::switch(draw, schema, packets, kinds.abr));
    if let Some(ports) = ports::ports(draw, schema, &bare, packets, kinds.abr) {
        put(&mut scenario, "port", ports);
    }
    traffic::common(draw, schema, &mut scenario, kinds);
    put(&mut scenario, "flow", traffic::flows(draw, schema, &bare, kinds));
    let redrawn = graph(&scenario).is_err();
    let Ok(mut found) = repaired(&mut scenario) else {
        return Case { text: text(&scenario), redrawn };
    };
    if draw.feature()
        && draw.chance(0.3)
        && let Some(losses) = traffic::losses(draw, &found)
    {
        put(&mut scenario, "loss", losses);
        found = repaired(&mut scenario).unwrap_or(found);
    }
    let before = scenario.clone();
    let changed = [
        topology::impair(&mut draw.beside("links"), &mut scenario, packets),
        groups::group(&mut draw.beside("groups"), schema, &mut scenario, &found, kinds),
        short_flows::shorten(&mut draw.beside("short flows"), &mut scenario),
        requests::ask(&mut draw.beside("requests"), &mut scenario),
        topology::single_links(&mut draw.beside("single links"), &mut scenario, &found, packets),
        topology::routing(&mut draw.beside("routing"), schema, &mut scenario, packets),
        topology::clocks(&mut draw.beside("clocks"), &mut scenario),
        routes::routes(&mut draw.beside("routes"), &mut scenario, &found),
        traffic::ranges(&mut draw.beside("ranges"), schema, &mut scenario, &found, kinds),
        !kinds.abr && ports::share(&mut draw.beside("memory"), &mut scenario),
    ];
    if changed.contains(&true) {
        match repaired(&mut scenario) {
            Ok(graph) => found = graph,
            Err(_) => scenario = before,
        }
    }
    let before = scenario.clone();
    if topology::rates(&mut draw.beside("rates"), &mut scenario) {
        // What computes with one rate does not suit every scenario.
        match repaired(&mut scenario) {
            Ok(graph) => found = graph,
            Err(_) => scenario = before,
        }
    }
    times(draw, &mut scenario, &found);
    measures(&mut draw.beside("measures"), schema, &mut scenario, &found);
    Case { text: text(&scenario), redrawn }
}

/// `[measures]`, and how often the scenario is to run.
fn measures(draw: &mut Draw, schema: &Schema, scenario: &mut Table, graph: &Graph) {
    if draw.chance(0.5) {
        put(scenario, "measures.delays", *draw.pick(&schema.names("measures.delays")));
        put(scenario, "measures.distributions", draw.chance(0.7));
    }
    if draw.chance(0.3) {
        let flow = draw.pick(&graph.flows);
        let of_switch = |&&link: &&usize| graph.nodes[graph.links[link].from].kind == NodeKind::Switch;
        let ports: Vec<_> = flow.route.iter().chain(&flow.back).filter(of_switch).collect();
        put(scenario, "measures.bottleneck", graph.link_name(**draw.pick(&ports)));
    }
    if draw.chance(0.1) {
        put(scenario, "replications", draw.count(5) as i64);
    }
}

/// The topology with nothing around it. One that makes no flows has one named `only` from its first host to its second.
fn bare_graph(scenario: &Table) -> Graph {
    let topology = &scenario["topology"];
    let first_hosts = match topology.get("pattern").and_then(Value::as_str) {
        Some("none") => Some(["host1", "host2"]),
        _ => topology.get("node").map(|_| ["h1", "h2"]),
    };
    let mut bare = scenario.clone();
    if let Some([from, to]) = first_hosts {
        let ends = [("name", "only"), ("from", from), ("to", to)];
        let only: Table = ends.map(|(key, value)| (key.to_owned(), Value::from(value))).into_iter().collect();
        put(&mut bare, "flow", Value::Array(vec![Value::Table(only)]));
    }
    // It suits cells and packets.
    put(&mut bare, "switch.buffer", "unlimited");
    graph(&bare).unwrap_or_else(|error| panic!("{error}\n{}", text(&bare)))
}

pub(crate) fn text(scenario: &Table) -> String {
    toml::to_string(scenario).expect("a scenario has only string keys and finite numbers")
}

fn graph(scenario: &Table) -> Result<Graph, ScenarioError> {
    let text = text(scenario);
    let read = || Scenario::from_toml(&text, "composed.toml", &[])?.graph();
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        // The invariants report it: what panics is no network to go on from.
        drop(panic);
        Err(ScenarioError {
            source: String::new(),
            line: None,
            key: "topology".into(),
            message: "panic".into(),
        })
    })
}

/// Leaves out what is refused, part by part.
fn repaired(scenario: &mut Table) -> Result<Graph, ScenarioError> {
    for _ in 0..REPAIRS {
        match graph(scenario) {
            Ok(graph) => return Ok(graph),
            Err(error) => {
                if !enlarged(scenario, &error) {
                    leave_out(scenario, &error.key);
                }
            }
        }
    }
    graph(scenario)
}

/// Gives switches that pause links the smallest memory in which nothing can be lost, if theirs is refused as too small; whether it
/// did.
fn enlarged(scenario: &mut Table, error: &ScenarioError) -> bool {
    let need = error.message.split_once("it may have to hold ").map(|(_, need)| need.to_owned());
    let Some(need) = need.filter(|_| error.key == "switch.memory.size") else { return false };
    put(scenario, "switch.memory.size", need.as_str());
    put(scenario, "switch.buffer", need);
    true
}

/// Removes what a dotted key names, or the innermost table around it that is given.
fn leave_out(scenario: &mut Table, key: &str) {
    let path: Vec<_> = key.split('.').collect();
    let parts: &[&str] = match path[..] {
        // What the flows of a topology have in common, or differ in, does not suit it.
        ["topology", ..] | ["group", _] => &["flow", "traffic", "vc", "abr"],
        ["switch", "memory", ..] => {
            remove(scenario, &["switch", "memory"]);
            return;
        }
        ["switch", "buffer"] => return put(scenario, "switch.buffer", "unlimited"),
        ["flow", number] => {
            let parts = ["route", "traffic", "vc", "abr", "circuit", "tcp"];
            let _ = parts.iter().any(|part| remove(scenario, &["flow", number, part]))
                || remove(scenario, &["flow", number]);
            return;
        }
        // What a flow or a loss cannot be without.
        ["flow", number, "from" | "to" | "name"] => {
            remove(scenario, &["flow", number]);
            return;
        }
        ["loss", number, ..] => {
            remove(scenario, &["loss", number]);
            return;
        }
        _ => &[],
    };
    let _ = parts.iter().any(|part| remove(scenario, &[part]))
        || (1..=path.len()).rev().any(|length| parts.is_empty() && remove(scenario, &path[..length]));
}

/// Removes the value at a path, if there is one.
pub(crate) fn remove(scenario: &mut Table, path: &[&str]) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    let Some((first, between)) = before.split_first() else { return scenario.remove(*last).is_some() };
    let Some(mut node) = scenario.get_mut(*first) else { return false };
    for key in between {
        let inner = match node {
            Value::Table(table) => table.get_mut(*key),
            Value::Array(values) => key.parse::<usize>().ok().and_then(|index| values.get_mut(index)),
            _ => None,
        };
        let Some(inner) = inner else { return false };
        node = inner;
    }
    match node {
        Value::Table(table) => table.remove(*last).is_some(),
        Value::Array(values) => match last.parse::<usize>() {
            Ok(index) if index < values.len() => {
                values.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// A duration that is worth a number of cell-hops, and a warm-up.
fn times(draw: &mut Draw, scenario: &mut Table, graph: &Graph) {
    let rate: f64 = graph.flows.iter().map(|flow| hop_rate(graph, flow) + event_rate(graph, flow)).sum();
    let rate = rate + graph.links.iter().map(interval_rate).sum::<f64>();
    let hops = draw.magnitude(2e3, MOST_HOPS);
    let round_trips = draw.scale / 1e12 * draw.magnitude(1.0, 10.0);
    let duration = (hops / rate).max(round_trips.min(1.5 * MOST_HOPS / rate)).clamp(1e-10, 100.0) * 1e12;
    put(scenario, "duration", picoseconds(duration));
    put(scenario, "sample", picoseconds(duration / draw.magnitude(5.0, 500.0)));
    if draw.chance(0.5) {
        put(scenario, "warm-up", picoseconds(duration * 0.95 * draw.unit()));
    }
}

/// Cell-hops a second of a flow, at the most.
fn hop_rate(graph: &Graph, flow: &Flow) -> f64 {
    data_hop_rate(graph, flow) + out_of_rate_hops(flow)
}

/// Hops a second of the RM cells that an ABR source sends out of its rate, there and back.
fn out_of_rate_hops(flow: &Flow) -> f64 {
    let abr = flow.abr.as_ref().filter(|abr| abr.out_of_rate);
    abr.map_or(0.0, |abr| abr.tcr.cells() * (flow.route.len() + flow.back.len()) as f64)
}

/// As [`hop_rate`], of the data, and of RM cells between them.
fn data_hop_rate(graph: &Graph, flow: &Flow) -> f64 {
    let units = |link: usize| {
        let link = &graph.links[link];
        let bits = match link.framing {
            Framing::Cells => CELL_BITS as f64,
            Framing::Packets => (f64::from(flow.tcp.mss) + 40.0) * 8.0,
        };
        link.fastest().0 as f64 / bits
    };
    let narrow = flow.route.iter().map(|&link| units(link)).fold(f64::INFINITY, f64::min);
    let hops = flow.route.len() as f64;
    let source = match flow.traffic.highest_rate() {
        Some((_, rate)) => rate.0 as f64 / CELL_BITS as f64,
        // A few hundred units in all.
        None if !flow.traffic.uses_tcp() => return 0.0,
        None => {
            let way = flow.route.iter().chain(&flow.back);
            let round_trip: f64 = way.map(|&link| seconds(graph.links[link].shortest_delay.ps())).sum();
            let window =
                flow.tcp.receive_window as f64 * 8.0 / 424.0 * (1.0 + 60.0 / f64::from(flow.tcp.mss));
            // The acknowledgements take part of it.
            return narrow.min(window / (round_trip + 3.0 / narrow)) * hops * 1.3;
        }
    };
    let control = if flow.contract.category == Category::Abr { 0.1 * narrow * hops } else { 0.0 };
    source + narrow.min(source) * (hops - 1.0) + control
}

/// Periods below a nanosecond are there to see what becomes of them: no run is planned by them.
const SHORTEST: Time = 1000;

/// How often something happens with a period of so many picoseconds, a second.
fn per_second(period: Time) -> f64 {
    if period < SHORTEST { 0.0 } else { 1e12 / period as f64 }
}

/// Events of a source that are no cells, a second.
fn event_rate(graph: &Graph, flow: &Flow) -> f64 {
    let rates = flow.route.iter().map(|&link| graph.links[link].fastest());
    let slowest = rates.min().expect("a route has a link");
    // What is lost for good is sent again and again.
    let timeouts = if flow.traffic.uses_tcp() { per_second(flow.tcp.rto_max) } else { 0.0 };
    let events = match &*flow.traffic {
        Traffic::Bursty(form) => per_second(form.every.ps()),
        Traffic::OnOff(form) => per_second(form.on.ps() + form.off.ps()),
        Traffic::Mmpp(form) => {
            form.states.iter().map(|state| per_second(state.mean_time.ps())).fold(0.0, f64::max)
        }
        Traffic::LongRange(form) => 2.0 * f64::from(form.rate.sources) * per_second(form.rate.cycle.ps()),
        Traffic::ShortFlows(form) => form.interval(slowest).map_or(0.0, |period| 1e12 / period),
        Traffic::Greedy(_) | Traffic::Finite(_) | Traffic::RequestResponse(_) => 0.0,
        Traffic::Cbr(_) | Traffic::Poisson(_) | Traffic::Bernoulli(_) | Traffic::Trace(_) => 0.0,
    };
    events + timeouts
}

/// Averaging intervals of a port's rate allocator, a second.
fn interval_rate(link: &Link) -> f64 {
    let Some(allocator) = &link.allocator else { return 0.0 };
    let intervals =
        [allocator.erica.interval.time, allocator.erica_plus.interval.time, allocator.capc.interval];
    let shortest = intervals.iter().map(|interval| interval.ps()).filter(|&period| period >= SHORTEST).min();
    0.2 * per_second(shortest.unwrap_or(0))
}
