//! Something beside a network that nothing in it uses, and links that something halves.

use celltrain_atm::contract::Policing;
use celltrain_engine::quantity::{Delay, Duration};
use celltrain_network::scenario::{Framing, Link, Topology};
use toml::{Table, Value};

use super::{
    Apart, ELSEWHERE, Equivalence, Pair,
    case::{Case, entries, value},
    cells::{even, round_rates},
};
use crate::draw::{Draw, bits_per_second, put};

/// Policies that do not ask how many VCs are set up.
const OF_ALL_VCS: [&str; 8] = ["tail-drop", "ppd", "epd", "double-epd", "red", "pie", "codel", "cobalt"];

/// A flow that starts when the run is over.
fn flow_after_the_end(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let like = draw.pick(&case.graph.flows);
    let mut flow = Table::new();
    put(&mut flow, "name", ELSEWHERE);
    put(&mut flow, "from", case.name(like.from));
    put(&mut flow, "to", case.name(like.to));
    put(&mut flow, "start", value(&Duration(case.spec.duration.0 + 1_000_000)));
    put(&mut flow, "traffic.kind", "greedy");
    put(&mut flow, "standalone", true);
    entries(&mut text, "flow").push(Value::Table(flow));
    let ports_suit = case.ports().all(|(_, link)| {
        OF_ALL_VCS.contains(&link.discard.policy.name())
            && link.allocator.is_none()
            && link.scheduler.discipline.name() == "fifo"
    });
    ports_suit.then(|| Pair::with(text)).flatten()
}

/// The text of a network whose nodes and links are written out.
fn written_out<'a>(case: &Case<'_>, text: &'a mut Table) -> Option<&'a mut Table> {
    if !matches!(case.spec.topology, Topology::Graph(_)) {
        return None;
    }
    text.get_mut("topology")?.as_table_mut()
}

fn node(name: &str) -> Value {
    let mut node = Table::new();
    put(&mut node, "name", name);
    put(&mut node, "kind", "switch");
    Value::Table(node)
}

/// A switch that no flow crosses.
fn spare_switch(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    let switches: Vec<_> = case.ports().map(|(_, link)| link.from).collect();
    let to = case.name(*draw.pick(&switches));
    let topology = written_out(case, &mut text)?;
    entries(topology, "node").push(node(ELSEWHERE));
    let mut link = Table::new();
    let ends = if draw.chance(0.5) { [ELSEWHERE, to] } else { [to, ELSEWHERE] };
    put(&mut link, "from", ends[0]);
    put(&mut link, "to", ends[1]);
    put(&mut link, "framing", value(&case.graph.links[0].framing));
    entries(topology, "link").push(Value::Table(link));
    Pair::with(text)
}

/// Whether nothing happens to what is on a link, and nothing to the link.
fn is_steady(link: &Link) -> bool {
    link.loss == 0.0
        && !link.is_impaired()
        && link.dark.is_none()
        && !link.varies
        && link.delay_changes.is_empty()
        && link.rate_changes.is_empty()
}

/// The link of a host that has no other.
fn only_link<'a>(case: &'a Case<'_>, draw: &mut Draw) -> Option<&'a Link> {
    let links = &case.graph.links;
    let is_only = |link: &&Link| {
        let back = |other: &&Link| (other.from, other.to) == (link.to, link.from);
        links.iter().filter(|other| other.from == link.from).count() == 1
            && links.iter().filter(back).count() == 1
            && links.iter().find(back).is_some_and(is_steady)
            && case.is_host(link.from)
            && !case.is_host(link.to)
            && is_steady(link)
    };
    let only: Vec<_> = links.iter().filter(is_only).collect();
    (!only.is_empty()).then(|| *draw.pick(&only))
}

/// A switch in the middle of the link of a host, which is as much shorter as a cell takes there. All slots are whole picoseconds.
fn cut_in_two(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let (graph, spec) = (case.graph, case.spec);
    // What comes from a switch may have another place among simultaneous arrivals than what comes from a host.
    let no_ties = graph.flows.len() == 1;
    let suits = no_ties
        && case.carries(Framing::Cells)
        && spec.switch.memory.is_none()
        && spec.switch.vc_buffer.is_none()
        && spec.link_override.is_empty()
        && graph.losses.is_empty()
        && graph.links.iter().all(|link| link.allocator.is_none())
        && graph.flows.iter().all(|flow| flow.abr.is_none() && flow.contract.policing == Policing::None);
    let mut one = case.text();
    let has_routes = entries(&mut one, "flow").iter().any(|flow| flow.get("route").is_some());
    if !suits || has_routes {
        return None;
    }
    let link = only_link(case, draw)?;
    ["link", "topology"].into_iter().for_each(|key| _ = one.get_mut(key).map(round_rates));
    put(&mut one, "link.rate-spread", "0 ppm");
    let (host, switch) = (case.name(link.from), case.name(link.to));
    let rate = even(link.rate.0 as f64);
    let spacing = spec.switch.delay.0 + (424e12 / rate) as u64;
    let [first, second] = [0; 2].map(|_| draw.whole(0, case.propagation(link).0.max(1)));
    let is_it = |entry: &&mut Value| {
        let [from, to] = ["from", "to"].map(|key| entry.get(key).and_then(Value::as_str));
        let simplex = entry.get("simplex").and_then(Value::as_bool) == Some(true);
        !simplex && [(Some(host), Some(switch)), (Some(switch), Some(host))].contains(&(from, to))
    };
    let whole = entries(written_out(case, &mut one)?, "link").iter_mut().find(is_it)?.as_table_mut()?;
    put(whole, "rate", bits_per_second(rate));
    put(whole, "delay", value(&Delay(Duration(first + spacing + second))));
    let mut text = one.clone();
    let topology = written_out(case, &mut text)?;
    entries(topology, "node").push(node(ELSEWHERE));
    // The half at the switch has the place of the whole link among its inputs.
    let half = entries(topology, "link").iter_mut().find(is_it)?.as_table_mut()?;
    let mut other = half.clone();
    for (words, away, delay) in [(half, host, second), (&mut other, switch, first)] {
        for key in ["from", "to"] {
            if words.get(key).and_then(Value::as_str) == Some(away) {
                put(words, key, ELSEWHERE);
            }
        }
        put(words, "delay", value(&Delay(Duration(delay))));
    }
    entries(topology, "link").push(Value::Table(other));
    for to in [host, switch] {
        let mut port = Table::new();
        put(&mut port, "from", ELSEWHERE);
        put(&mut port, "to", to);
        put(&mut port, "buffer", "unlimited");
        put(&mut port, "discard.policy", "tail-drop");
        put(&mut port, "scheduler.discipline", "fifo");
        entries(&mut text, "port").push(Value::Table(port));
    }
    Some(Pair { one: Some(one), other: text })
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "a flow that starts after the end",
        because: "docs/reference/scenario.md, flow.start: when it starts",
        words: flow_after_the_end,
        // It is measured where data of ABR may come.
        apart: Apart::Elsewhere(&["abr_queue_max"]),
    },
    Equivalence {
        name: "a switch that no flow crosses",
        because: "docs/reference/scenario.md, [[topology.node]], [[topology.link]]: the nodes, the links; a flow takes the shortest path",
        words: spare_switch,
        apart: Apart::Elsewhere(&[]),
    },
    Equivalence {
        name: "a link cut in two",
        because: "docs/explanation/ports.md: a unit departs one transmission time after the later of its arrival and the departure before it",
        words: cut_in_two,
        // Quantiles are as exact as what a frame takes beyond the idle path, which is of whole picoseconds.
        apart: Apart::Elsewhere(&[
            "round_trip",
            "delay_variation",
            "transfer_delay_p50",
            "transfer_delay_p95",
            "transfer_delay_p99",
        ]),
    },
];
