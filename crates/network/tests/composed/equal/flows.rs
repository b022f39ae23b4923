//! Flows that say all for themselves: those of groups one by one, and others whatever is said for all.

use std::collections::BTreeSet;

use celltrain_network::scenario::{Flow, Scenario};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, value},
};
use crate::draw::{Draw, put, tables};

/// The scenario with every value in force.
pub(super) fn resolved(case: &Case<'_>) -> Option<Table> {
    let scenario = Scenario::from_toml(&toml::to_string(&case.text()).ok()?, "complete.toml", &[]).ok()?;
    scenario.resolved_toml().parse().ok()
}

/// The entries of `[[flow]]`, if each is about one flow.
fn entries_of_one(text: &Table) -> Option<Vec<Table>> {
    let flows = text.get("flow").and_then(Value::as_array).cloned().unwrap_or_default();
    let entries: Vec<_> = flows.into_iter().filter_map(|entry| entry.try_into().ok()).collect();
    let is_range =
        |entry: &Table| entry.get("name").and_then(Value::as_str).is_some_and(|name| name.contains(".."));
    (!entries.iter().any(is_range)).then_some(entries)
}

/// All that is said of a flow, in its entry and for all.
fn whole(resolved: &Table, entries: &[Table], flow: &Flow) -> Option<Table> {
    let name = |entry: &&Table| entry.get("name").and_then(Value::as_str) == Some(&flow.name);
    let mut entry = entries.iter().find(name).cloned().unwrap_or_default();
    let place = flow.made_by.map(|place| place.get() as usize - 1);
    let group =
        place.map(|place| resolved["group"].as_array().expect("groups")[place].as_table().expect("a group"));
    let tcp = [Some(&entry), group, Some(resolved)].into_iter().flatten().find_map(|table| table.get("tcp"));
    let tcp = tcp?.clone();
    put(&mut entry, "name", flow.name.as_str());
    put(&mut entry, "standalone", true);
    put(&mut entry, "tcp", tcp);
    put(&mut entry, "traffic", value(&*flow.traffic));
    put(&mut entry, "start", value(&flow.start));
    put(&mut entry, "vc", value(&*flow.contract));
    if let Some(stop) = flow.stop {
        put(&mut entry, "stop", value(&stop));
    }
    if let Some(abr) = &flow.abr {
        put(&mut entry, "abr", value(&**abr));
    }
    Some(entry)
}

/// Each flow says all for itself, and what is said for all is something else.
fn for_themselves(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = resolved(case)?;
    let entries = entries_of_one(&text)?;
    let flows: Option<Vec<_>> = case.graph.flows.iter().map(|flow| whole(&text, &entries, flow)).collect();
    put(&mut text, "flow", tables(flows?));
    for (key, words) in [
        ("tcp", "stack = \"tahoe\"\nmss = \"100 B\""),
        ("vc", "weight = 3\nclp = true"),
        ("abr", "nrm = 3"),
        ("traffic", "kind = \"cbr\"\nrate = \"20 kbit/s\""),
    ] {
        put(&mut text, key, words.parse::<Table>().ok()?);
    }
    Pair::with(text)
}

/// The flows of groups, one by one.
fn without_groups(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let has_hosts = case.spec.group.iter().any(|group| group.from.is_none() && group.transfers.is_empty());
    let mut text = resolved(case)?;
    if has_hosts || case.spec.group.is_empty() {
        return None;
    }
    let entries = entries_of_one(&text)?;
    let of_groups: Vec<_> = case.graph.flows.iter().filter(|flow| flow.made_by.is_some()).collect();
    let names: BTreeSet<_> = of_groups.iter().map(|flow| flow.name.as_str()).collect();
    let of_group = |flow: &&Flow| {
        let mut entry = whole(&text, &entries, flow)?;
        put(&mut entry, "from", case.name(flow.from));
        put(&mut entry, "to", case.name(flow.to));
        Some(entry)
    };
    let flows: Option<Vec<_>> = of_groups.iter().map(of_group).collect();
    let is_other =
        |entry: &&Table| !entry.get("name").and_then(Value::as_str).is_some_and(|name| names.contains(name));
    let others: Vec<_> = entries.iter().filter(is_other).cloned().collect();
    let flows = flows?.into_iter().chain(others).collect();
    put(&mut text, "flow", tables(flows));
    text.remove("group");
    Pair::with(text)
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "flows that say all for themselves",
        because: "docs/reference/scenario.md, flow.standalone: whether its tables stand alone",
        words: for_themselves,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "the flows of groups one by one",
        because: "docs/reference/scenario.md, [[group]]: flows that have their TCP, traffic, contract and times in common",
        words: without_groups,
        apart: Apart::Columns(&["group", "group_name"]),
    },
];
