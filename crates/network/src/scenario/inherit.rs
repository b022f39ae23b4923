//! Tables of flows and groups that say only what differs: each is laid over that of the group or, if that has none, of the scenario.

use super::tree::{Node, Table, Value};

/// The tables that flows and groups may have of their own.
const INHERITED: [&str; 3] = ["tcp", "vc", "abr"];

/// Lays the tables of each group over those of the scenario, and those of each flow over those of its group or of the scenario.
pub(super) fn inherit(root: &mut Node) {
    let Value::Table(tables) = &mut root.value else { return };
    for key in INHERITED {
        let whole = tables.get(key).filter(|node| node.table().is_some()).cloned();
        for group in each(tables, "group") {
            lay(group, key, whole.as_ref());
        }
        let groups: Vec<_> = each(tables, "group").map(|group| Group::of(group, key)).collect();
        for flow in each(tables, "flow") {
            // Of groups `a` and `a1`, flow `a11` is the first of `a1`: if `a` had eleven, two flows would have one name.
            let makers = groups.iter().filter(|group| group.makes(flow));
            let own = makers.max_by_key(|group| group.name.len()).and_then(|group| group.table.as_ref());
            lay(flow, key, own.or(whole.as_ref()));
        }
    }
}

/// The tables of an array of tables.
fn each<'a>(tables: &'a mut Table, key: &str) -> impl Iterator<Item = &'a mut Table> {
    let nodes = match tables.get_mut(key) {
        Some(Node { value: Value::Array(nodes), .. }) => nodes.as_mut_slice(),
        _ => &mut [],
    };
    nodes
        .iter_mut()
        .filter_map(|node| if let Value::Table(table) = &mut node.value { Some(table) } else { None })
}

/// Lays the table `key` of an heir, if it has one that does not stand alone, over `below`.
fn lay(heir: &mut Table, key: &str, below: Option<&Node>) {
    if !stands_alone(heir)
        && let Some(below) = below
        && let Some(own) = heir.get_mut(key)
    {
        let above = std::mem::replace(own, below.clone());
        own.merge(above);
    }
}

/// Whether a flow or a group says that its tables are complete.
fn stands_alone(heir: &Table) -> bool {
    matches!(heir.get("standalone"), Some(Node { value: Value::Boolean(true), .. }))
}

/// What a group has for its flows.
struct Group {
    name: String,
    /// How many flows it makes, if hosts and transfers do not decide it.
    flows: Option<u64>,
    table: Option<Node>,
}

impl Group {
    fn of(group: &Table, key: &str) -> Self {
        let is_counted = !["from", "to", "transfers"].iter().any(|key| group.contains_key(*key));
        let flows = match group.get("flows") {
            Some(Node { value: Value::Integer(flows), .. }) => u64::try_from(*flows).unwrap_or(0),
            _ => 1,
        };
        Self {
            name: text(group, "name").unwrap_or_default().to_owned(),
            flows: is_counted.then_some(flows),
            table: group.get(key).filter(|node| node.table().is_some()).cloned(),
        }
    }

    /// Whether an entry is about a flow of the group: it has the group's name and a number. Where hosts decide how many flows there are, one
    /// that names hosts itself is taken for a new one.
    fn makes(&self, flow: &Table) -> bool {
        let number = text(flow, "name").and_then(|name| name.strip_prefix(self.name.as_str()));
        let Some(number) = number.filter(|number| !number.starts_with(['0', '+'])) else { return false };
        let names_hosts = flow.contains_key("from") || flow.contains_key("to");
        number.parse::<u64>().is_ok_and(|number| self.flows.map_or(!names_hosts, |flows| number <= flows))
    }
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    match table.get(key) {
        Some(Node { value: Value::String(text), .. }) => Some(text),
        _ => None,
    }
}
