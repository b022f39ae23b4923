//! Nodes, and how they are found by name.

use std::collections::BTreeMap;

use super::{
    super::{
        error::{Problem, suggestion},
        spec::NodeKind,
    },
    poll::{Poll, Stop},
};

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The name, unlike all others.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
}

/// Node indices by name.
pub(super) type Names = BTreeMap<String, usize>;

pub(super) fn index_names(nodes: &[Node], poll: &mut Poll<'_>) -> Result<Names, Stop> {
    let mut names = Names::new();
    for (index, node) in nodes.iter().enumerate() {
        poll.after(1)?;
        if names.insert(node.name.clone(), index).is_some() {
            let message = format!("there is another node \"{}\"", node.name);
            return Err(Problem::new(format!("topology.node.{index}.name"), message).into());
        }
    }
    Ok(names)
}

/// The index of the node called `name` in the value of `key`.
pub(super) fn find(names: &Names, key: impl Fn() -> String, name: &str) -> Result<usize, Problem> {
    names.get(name).copied().ok_or_else(|| {
        let near = suggestion(name, "nodes", names.keys().map(String::as_str));
        Problem::new(key(), format!("unknown node \"{name}\"{near}"))
    })
}
