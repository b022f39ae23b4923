//! Names of scenarios, nodes, groups and flows. Results, pictures and messages put the latter on one line.

use super::{
    super::{
        error::Problem,
        group_names::stands_for_a_number,
        spec::{Spec, Topology},
    },
    range::Checked,
};

/// What is wrong with a name that nobody can see.
const EMPTY: &str = "expected a name, found an empty one";

/// Checks that each name can be seen, and that those of a network stand on one line.
pub(super) fn check(spec: &Spec) -> Checked {
    if spec.name.trim().is_empty() {
        return Err(Problem::new("name", EMPTY));
    }
    if let Topology::Graph(graph) = &spec.topology {
        for (index, node) in graph.node.iter().enumerate() {
            name(&node.name, || format!("topology.node.{index}.name"))?;
        }
    }
    for (index, group) in spec.group.iter().enumerate() {
        let key = || format!("group.{index}.name");
        name(&group.name, key)?;
        selectable(&group.name, key)?;
    }
    for (index, flow) in spec.flow.iter().enumerate() {
        let key = || format!("flow.{index}.name");
        name(&flow.name, key)?;
        selectable(&flow.name, key)?;
    }
    Ok(())
}

/// Checks one name. Its key is only made for a message: a network may have a million nodes.
fn name(name: &str, key: impl FnOnce() -> String) -> Checked {
    let message = if name.trim().is_empty() {
        EMPTY.to_owned()
    } else if name.contains(breaks_line) {
        format!("expected a name on one line, without tabs, found {name:?}")
    } else {
        return Ok(());
    };
    Err(Problem::new(key(), message))
}

/// Checks that a measure of a group or a flow, as "goodput of web", can be chosen, also in a list of measures.
fn selectable(name: &str, key: impl FnOnce() -> String) -> Checked {
    if stands_for_a_number(name) {
        let message = format!("expected another name than \"{name}\", which stands for a group without one");
        return Err(Problem::new(key(), message));
    }
    let expected = if name.contains(',') {
        "without commas, which divide lists of measures"
    } else if name.trim() != name {
        "without blanks at its ends, which names of measures lose"
    } else {
        return Ok(());
    };
    Err(Problem::new(key(), format!("expected a name {expected}, found \"{name}\"")))
}

/// Control characters, of which line feed and tab are two, and the line and paragraph separators of Unicode.
fn breaks_line(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}
