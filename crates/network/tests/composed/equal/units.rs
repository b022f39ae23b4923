//! Other units of time: all times twice as long, or all rates twice as high.

use celltrain_atm::contract::Category;
use celltrain_engine::quantity::{BitRate, Duration};
use celltrain_network::scenario::{Flow, Scenario, Traffic};
use celltrain_tcp::{CongestionKind, RecoveryKind};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, entries},
};
use crate::{
    draw::{Draw, put},
    measures::is_random,
};

/// Twice as long a time, or range of times.
fn twice_as_long(text: &str) -> Option<String> {
    if let Some((from, to)) = text.split_once("..") {
        return Some(format!("{} .. {}", twice_as_long(from.trim())?, twice_as_long(to.trim())?));
    }
    let time: Duration = text.parse().ok()?;
    Some(Duration(2 * time.0).to_string())
}

/// Twice as high a rate.
fn twice_as_high(text: &str) -> Option<String> {
    if let Ok(rate) = text.parse::<BitRate>() {
        return Some(BitRate(2 * rate.0).to_string());
    }
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    ["cells/s", "packet/s", "packets/s"].contains(&unit).then(|| format!("{} {unit}", 2.0 * number))
}

/// Says every quantity that `change` changes in another way.
fn changed(value: &mut Value, change: fn(&str) -> Option<String>) {
    match value {
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| changed(value, change)),
        Value::Array(values) => values.iter_mut().for_each(|value| changed(value, change)),
        Value::String(text) => {
            if let Some(other) = change(text) {
                *text = other;
            }
        }
        _ => {}
    }
}

/// Whether a flow computes in units of time alone that the scenario says.
fn has_no_clock(flow: &Flow) -> bool {
    let tcp = &flow.tcp;
    let reno = [CongestionKind::Reno, CongestionKind::Dctcp].contains(&tcp.congestion_control);
    let simple =
        reno && tcp.recovery != RecoveryKind::Rack && !tcp.pacing && tcp.quick_acks == 0 && !tcp.hystart;
    flow.contract.category != Category::Abr
        && (!flow.traffic.uses_tcp() || simple)
        && !matches!(*flow.traffic, Traffic::ShortFlows(_))
}

/// Policies with constants in seconds, or with roots of times.
const WITH_CLOCKS: [&str; 6] = ["red", "pie", "codel", "cobalt", "fq-codel", "dualpi2"];

/// Gives all connections one of the presets that compute in no units of time of their own.
fn with_plain_tcp(text: &mut Table, draw: &mut Draw) {
    for key in ["flow", "group"] {
        for entry in entries(text, key).iter_mut().filter_map(Value::as_table_mut) {
            entry.remove("tcp");
        }
    }
    text.remove("tcp");
    put(text, "tcp.stack", *draw.pick(&["tahoe", "reno", "newreno", "sack"]));
}

fn in_other_units(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    put(&mut text, "tie-break", "port-id");
    if !case.graph.flows.iter().all(has_no_clock) {
        with_plain_tcp(&mut text, draw);
    }
    let scenario = Scenario::from_toml(&toml::to_string(&text).ok()?, "units.toml", &[]).ok()?;
    let graph = scenario.graph().ok()?;
    let has_clock = |name: &str| WITH_CLOCKS.contains(&name);
    let suits = !is_random(&scenario, &graph)
        && graph.flows.iter().all(has_no_clock)
        && !graph.links.iter().any(|link| has_clock(link.discard.policy.name()));
    if !suits {
        return None;
    }
    let resolved: Table = scenario.resolved_toml().parse().ok()?;
    let [mut one, mut other] = [resolved.clone(), resolved].map(Value::Table);
    changed(&mut one, twice_as_long);
    changed(&mut other, twice_as_high);
    let (Value::Table(one), Value::Table(other)) = (one, other) else { return None };
    Some(Pair { one: Some(one), other })
}

pub(super) const ALL: &[Equivalence] = &[Equivalence {
    name: "other units of time",
    because: "docs/decisions/0021-slots-in-the-ratio-of-rates.md: a network with TCP is the same in other units of time",
    words: in_other_units,
    apart: Apart::Times,
}];
