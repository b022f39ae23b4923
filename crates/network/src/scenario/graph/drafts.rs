//! Flows before their routes are known: those that the topology makes, changed and joined by those of `[[flow]]`.

use std::collections::BTreeMap;

use super::{
    super::{
        error::{Problem, suggestion},
        spec::{FlowSpec, Spec},
    },
    limits::MAX_FLOWS,
    nodes::{Names, find},
    outline::OutlineFlow,
};

/// A flow before its route is known, and the number of the `[[flow]]` about it.
pub(super) struct Draft {
    pub(super) flow: OutlineFlow,
    pub(super) entry: Option<usize>,
}

/// The flows of the topology and those of `[[flow]]`.
pub(super) fn drafts(
    spec: &Spec,
    generated: &mut Vec<OutlineFlow>,
    names: &Names,
) -> Result<Vec<Draft>, Problem> {
    let mut drafts: Vec<_> = generated.drain(..).map(|flow| Draft { flow, entry: None }).collect();
    let mut by_name = BTreeMap::new();
    if !spec.flow.is_empty() {
        by_name.extend(drafts.iter().enumerate().map(|(index, draft)| (draft.flow.name.clone(), index)));
    }
    // Beside `[[group]]`s a new flow is in none of them.
    let group = u32::from(spec.group.is_empty());
    for (index, entry, name) in entries(spec)? {
        let end = |key: &str, node: &Option<String>, known: Option<usize>| match (node, known) {
            (Some(node), _) => find(names, || format!("flow.{index}.{key}"), node),
            (None, Some(node)) => Ok(node),
            (None, None) => {
                let made = drafts.iter().map(|draft| draft.flow.name.as_str());
                let near = suggestion(&name, "it makes", made);
                let message = format!("this key is required: the topology makes no flow \"{name}\"{near}");
                Err(Problem::new(format!("flow.{index}.{key}"), message))
            }
        };
        let number = by_name.get(&name).copied();
        let below = number.map(|number| &drafts[number].flow);
        let flow = OutlineFlow {
            name: name.clone(),
            group: entry.group.or(below.map(|flow| flow.group)).unwrap_or(group),
            from: end("from", &entry.from, below.map(|flow| flow.from))?,
            to: end("to", &entry.to, below.map(|flow| flow.to))?,
            circuit: entry.circuit.clone().or(below.and_then(|flow| flow.circuit.clone())),
            common: below.and_then(|flow| flow.common),
            // Traffic of its own stands in place of the transfers.
            trace: below
                .filter(|_| entry.traffic.is_none())
                .map(|flow| flow.trace.clone())
                .unwrap_or_default(),
        };
        let draft = Draft { flow, entry: Some(index) };
        match number {
            Some(number) if drafts[number].entry.is_some() => {
                let other = drafts[number].entry.map(|other| &spec.flow[other].name);
                let range = other.filter(|other| **other != name);
                let of_range = range.map_or_else(String::new, |range| format!(", of the range \"{range}\""));
                let message = format!("there is another [[flow]] \"{name}\"{of_range}");
                return Err(Problem::new(format!("flow.{index}.name"), message));
            }
            Some(number) => drafts[number] = draft,
            None => {
                by_name.insert(name, drafts.len());
                drafts.push(draft);
            }
        }
    }
    match drafts.len() as u64 {
        0 => Err(Problem::new("flow", "the network has no flow: add a [[flow]] or a [[group]]")),
        count if count > MAX_FLOWS => {
            Err(Problem::new("flow", format!("expected at most {MAX_FLOWS} flows, found {count}")))
        }
        _ => Ok(drafts),
    }
}

/// Each `[[flow]]` with its number and the name of one flow that it is about: an entry named `6 .. 10` is about five.
fn entries(spec: &Spec) -> Result<Vec<(usize, &FlowSpec, String)>, Problem> {
    let mut entries = Vec::with_capacity(spec.flow.len());
    for (index, entry) in spec.flow.iter().enumerate() {
        let range = entry.name.split_once("..").and_then(|(first, last)| {
            Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?))
        });
        let Some((first, last)) = range else {
            entries.push((index, entry, entry.name.clone()));
            continue;
        };
        if first > last || last - first >= MAX_FLOWS {
            let message = format!(
                "expected a range such as \"6 .. 10\" of at most {MAX_FLOWS} flows, found \"{}\"",
                entry.name
            );
            return Err(Problem::new(format!("flow.{index}.name"), message));
        }
        entries.extend((first..=last).map(|number| (index, entry, number.to_string())));
    }
    Ok(entries)
}
