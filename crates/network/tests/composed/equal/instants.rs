//! The same at other instants: all of it later, and switches that are nearer to those who send.

use celltrain_engine::{
    quantity::{Delay, Duration},
    time::SECOND,
};
use celltrain_network::scenario::{Flow, Link, Start};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, entries, value},
    flows,
    links::of_links,
};
use crate::draw::{Draw, put};

/// Policies that look at the time at regular instants from 0 on, or at how long nothing has come.
const BY_THE_CLOCK: [&str; 3] = ["pie", "dualpi2", "red"];

/// Whether ports act only when something comes or leaves.
fn ports_wait(case: &Case<'_>) -> bool {
    case.ports()
        .all(|(_, link)| link.allocator.is_none() && !BY_THE_CLOCK.contains(&link.discard.policy.name()))
}

fn later(text: &str, by: Duration) -> Option<String> {
    let time: Duration = text.parse().ok()?;
    Some(Duration(time.0 + by.0).to_string())
}

/// Moves all instants at which a link changes.
fn changes_later(part: &mut Value, by: Duration) {
    match part {
        Value::Table(table) => {
            for (key, part) in table.iter_mut() {
                match (key.as_str(), part) {
                    ("dark", Value::Table(dark)) => moved(dark, "from", by),
                    ("delay-changes" | "rate-changes", Value::Array(changes)) => {
                        changes
                            .iter_mut()
                            .filter_map(Value::as_table_mut)
                            .for_each(|change| moved(change, "at", by));
                    }
                    (_, part) => changes_later(part, by),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| changes_later(part, by)),
        _ => {}
    }
}

fn moved(table: &mut Table, key: &str, by: Duration) {
    if let Some(Value::String(text)) = table.get_mut(key)
        && let Some(other) = later(text, by)
    {
        *text = other;
    }
}

/// Whether a flow knows no instant but those at which something happens to it, and those of a clock that ticks at each full second.
fn has_no_calendar(flow: &Flow) -> bool {
    let ticks = flow.traffic.uses_tcp() && flow.tcp.tick > 0 && !SECOND.is_multiple_of(flow.tcp.tick);
    flow.abr.is_none() && !ticks
}

/// Everything is later by some seconds, and so is what is measured.
fn all_later(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let by = Duration(draw.whole(1, 9) * SECOND);
    let mut text = flows::resolved(case)?;
    for key in ["duration", "warm-up"] {
        moved(&mut text, key, by);
    }
    put(&mut text, "sample", value(&by));
    text.iter_mut().for_each(|(_, part)| changes_later(part, by));
    for (number, flow) in case.graph.flows.iter().enumerate() {
        let Start { from, to } = flow.start;
        let start = Start { from: Duration(from.0 + by.0), to: Duration(to.0 + by.0) };
        case.of_flow(&mut text, number, "start", value(&start));
        if let Some(stop) = flow.stop {
            case.of_flow(&mut text, number, "stop", value(&Duration(stop.0 + by.0)));
        }
    }
    let suits = ports_wait(case) && case.graph.flows.iter().all(has_no_calendar);
    suits.then(|| Pair::with(text)).flatten()
}

/// The delay of switches on the links around them, and half of it on those of hosts.
fn nearer(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let half = draw.whole(1, 1 << 30);
    let mut one = case.text();
    put(&mut one, "switch.delay", value(&Duration(2 * half)));
    let steady = |link: &Link| {
        link.dark.is_none() && !link.varies && link.delay_changes.is_empty() && link.rate_changes.is_empty()
    };
    let suits = ports_wait(case)
        && case.graph.links.iter().all(|link| steady(link) && !case.is_parallel(link))
        && case.spec.link_override.is_empty()
        && case.spec.switch.memory.is_none_or(|memory| memory.pause.is_none());
    // A link of one direction is named by it.
    let one_way = toml::to_string(&one).ok()?.contains("simplex = true");
    if !suits || one_way {
        return None;
    }
    let mut other = of_links(case, |link| {
        let ends = [link.from, link.to].iter().filter(|&&node| !case.is_host(node)).count() as u64;
        let mut own = Table::new();
        put(&mut own, "delay", value(&Delay(Duration(case.propagation(link).0 + ends * half))));
        Some(own)
    })?
    .other;
    put(&mut other, "switch.delay", "0 s");
    (2 * entries(&mut other, "link-override").len() == case.graph.links.len())
        .then_some(Pair { one: Some(one), other })
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "all of it later",
        because: "docs/reference/scenario.md, flow.start, flow.stop, warm-up, duration: instants of a run, from 0",
        words: all_later,
        apart: Apart::Fingerprint(&[]),
    },
    Equivalence {
        name: "a delay of switches on the links around them",
        because: "docs/reference/scenario.md, switch.delay: time between a cell's arrival at the switch and its arrival at the buffer of the output port",
        words: nearer,
        apart: Apart::Hosts,
    },
];
