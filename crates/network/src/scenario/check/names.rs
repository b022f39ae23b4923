//! Names of scenarios, nodes, groups and flows. Results, pictures and messages put the latter on one line.

use super::{
    super::spec::{Spec, Topology},
    Checked, Problem,
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
        name(&group.name, || format!("group.{index}.name"))?;
    }
    for (index, flow) in spec.flow.iter().enumerate() {
        name(&flow.name, || format!("flow.{index}.name"))?;
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

/// Control characters, of which line feed and tab are two, and the line and paragraph separators of Unicode.
fn breaks_line(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}
