//! A scenario with every value that is in force, as tables.

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName, catalogue::Info, scheduler::DisciplineName};
use celltrain_tcp::StackSpec;
use serde::Serialize;
use toml::{Table, Value};

use super::spec::{Routing, Spec};

/// The tables of a scenario with nothing left to defaults.
pub(super) fn resolved(spec: &Spec) -> Table {
    let complete = |stack: &StackSpec| stack.complete().expect("a scenario's stacks were checked");
    let mut spec = spec.clone();
    spec.tcp = complete(&spec.tcp);
    for flow in &mut spec.flow {
        flow.tcp = flow.tcp.as_ref().map(complete);
        flow.standalone = flow.tcp.is_some() || flow.vc.is_some() || flow.abr.is_some();
    }
    for group in &mut spec.group {
        group.tcp = group.tcp.as_ref().map(complete);
        group.standalone = group.tcp.is_some() || group.vc.is_some() || group.abr.is_some();
    }
    if spec.topology.spreads() || spec.routing != Routing::default() {
        spec.routing.multipath = Some(spec.routing.in_force(&spec.topology));
    }
    let mut tables = table(&spec);
    let own = [("vc", table(&spec.vc)), ("abr", table(&spec.abr)), ("measures", table(&spec.measures))];
    for (key, own) in own {
        tables.entry(key).or_insert(Value::Table(own));
    }
    if let Some(Value::Table(switch)) = tables.get_mut("switch") {
        switch.entry("scheduler").or_insert(Value::Table(table(&spec.switch.scheduler)));
    }
    fill_chosen(&mut tables);
    tables
}

fn table(value: &impl Serialize) -> Table {
    Table::try_from(value).expect("a table with string keys and finite numbers")
}

/// Gives every table that chooses an algorithm the parameters of that algorithm, and only those.
fn fill_chosen(table: &mut Table) {
    for (key, info_of) in CHOICES {
        let Some(chosen) = table.get(key).and_then(Value::as_str).map(str::to_owned) else { continue };
        let Some(info) = info_of(&chosen) else { continue };
        table.retain(|name, _| *name == chosen || info_of(name).is_none());
        if !table.contains_key(&chosen) {
            let defaults = defaults(&info);
            if !defaults.is_empty() {
                table.insert(chosen, Value::Table(defaults));
            }
        }
    }
    for (_, value) in table.iter_mut() {
        match value {
            Value::Table(below) => fill_chosen(below),
            Value::Array(elements) => {
                elements.iter_mut().filter_map(Value::as_table_mut).for_each(fill_chosen)
            }
            _ => {}
        }
    }
}

/// A key by which a table chooses among algorithms, and what the catalogue says of one of their names.
type Choice = (&'static str, fn(&str) -> Option<Info>);

const CHOICES: [Choice; 3] = [
    ("policy", |name| PolicyName::ALL.iter().find(|one| one.name() == name).map(|one| one.info())),
    ("discipline", |name| DisciplineName::ALL.iter().find(|one| one.name() == name).map(|one| one.info())),
    ("algorithm", |name| AllocatorName::ALL.iter().find(|one| one.name() == name).map(|one| one.info())),
];

/// The keys that choose one of the tables beside them, as `policy` chooses `epd`.
pub(super) const CHOOSING: [&str; CHOICES.len()] = [CHOICES[0].0, CHOICES[1].0, CHOICES[2].0];

/// The default parameters of an algorithm: the schema has them.
fn defaults(info: &Info) -> Table {
    let schema = info.schema.as_value();
    let properties = schema.get("properties").and_then(|found| found.as_object());
    let defaults = properties.into_iter().flatten().filter_map(|(name, property)| {
        let default = property.get("default").filter(|default| !default.is_null())?;
        Some((name.clone(), Value::try_from(default).expect("a default is a TOML value")))
    });
    defaults.collect()
}
