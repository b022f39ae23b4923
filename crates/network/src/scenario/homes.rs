//! Where a key belongs that a table does not have, for messages: the schema knows every table.

use serde_json::Value as Json;

use super::{
    ranges::{meanings, parts, places},
    resolved::CHOOSING,
    spec::Topology,
    tree::{KIND, Node, Value},
};

/// Words for a number of flows: every topology has its own.
const COUNTS: [&str; 14] = [
    "flow",
    "flows",
    "sources",
    "source",
    "pairs",
    "senders",
    "receivers",
    "destinations",
    "connections",
    "clients",
    "count",
    "n",
    "long",
    "cross",
];

/// The most places that a message names.
const MOST_PLACES: usize = 4;

/// What is said of the last of `keys`, which its table in the scenario `root` does not take: whose key it is, what the table takes in its
/// place. `taken` are the keys that the table takes. Empty where nothing helps.
pub(super) fn said(schema: Option<&Json>, root: &Node, keys: &[&str], taken: &[&str]) -> String {
    let Some((key, table)) = keys.split_last() else { return String::new() };
    let node = table.iter().try_fold(root, |node, key| node.child(key));
    let kind = node.and_then(Node::kind);
    let home = schema.and_then(|schema| home(schema, root, table, key));
    let none = taken.is_empty().then(|| match kind {
        Some(kind) => format!("kind = \"{kind}\" takes no keys of its own"),
        None => "this table takes no keys".to_owned(),
    });
    let counts = COUNTS.contains(key).then(|| number_of_flows(table, kind)).flatten();
    let sentences: Vec<_> = [home, none, counts].into_iter().flatten().collect();
    if sentences.is_empty() { String::new() } else { format!(": {}", sentences.join("; ")) }
}

/// What says how many flows there are, where a key of this table may have been meant to.
fn number_of_flows(table: &[&str], kind: Option<&str>) -> Option<String> {
    match table {
        ["topology"] => kind.and_then(Topology::number_of_flows).map(str::to_owned),
        ["group", _] => Some("`flows` is the number of its flows, of each pair of hosts".to_owned()),
        _ => None,
    }
}

/// Whose key it is, looked for from near to far.
fn home(schema: &Json, root: &Node, table: &[&str], key: &str) -> Option<String> {
    of_other_kinds(schema, root, table, key)
        .or_else(|| of_tables_within(schema, root, table, key))
        .or_else(|| of_tables_beside(schema, root, table, key))
        .or_else(|| of_tables_elsewhere(schema, root, table, key))
}

fn has(place: &Json, key: &str) -> bool {
    place["properties"][key].is_object()
}

/// Other forms of the same table, as `sources` is a key of some topologies.
fn of_other_kinds(schema: &Json, root: &Node, table: &[&str], key: &str) -> Option<String> {
    let (last, above) = table.split_last()?;
    let (above, _) = places(schema, root, above.iter().copied());
    let forms =
        above.iter().flat_map(|place| parts(place, last)).flat_map(|part| meanings(schema, part, None));
    let with: Vec<_> = forms.filter(|form| has(form, key)).collect();
    // The last form comes first.
    let kinds = with.iter().rev().filter_map(|form| form["properties"][KIND]["const"].as_str());
    listed(kinds.map(|kind| format!("\"{kind}\""))).map(|kinds| format!("it is a key of kind = {kinds}"))
}

/// Tables inside of this one; the chosen one if it has it, as `threshold` is a key of the policy `epd`.
fn of_tables_within(schema: &Json, root: &Node, table: &[&str], key: &str) -> Option<String> {
    let (places, node) = places(schema, root, table.iter().copied());
    if table.is_empty() || !places.iter().any(|place| CHOOSING.iter().any(|choice| has(place, choice))) {
        return None;
    }
    let names = tables_with(schema, &places, key);
    let chosen = CHOOSING.iter().find_map(|choice| node?.child(choice)?.text());
    let path = table.join(".");
    match chosen.filter(|chosen| names.contains(chosen)) {
        Some(chosen) => Some(format!("it is {path}.{chosen}.{key}")),
        None => listed(names.iter().map(|name| format!("{path}.{name}.{key}")))
            .map(|paths| format!("it is {paths}")),
    }
}

/// Tables of which another key chooses one, as `low` is a key of the policy `espd` and not of `epd`.
fn of_tables_beside(schema: &Json, root: &Node, table: &[&str], key: &str) -> Option<String> {
    let (last, above) = table.split_last()?;
    let (places, _) = places(schema, root, above.iter().copied());
    let choice = CHOOSING.iter().find(|choice| places.iter().any(|place| has(place, choice)))?;
    let names = tables_with(schema, &places, key).into_iter().filter(|name| name != last);
    listed(names.map(|name| format!("\"{name}\""))).map(|names| format!("it is a key of {choice} = {names}"))
}

/// The tables among the keys of these places that have a key.
fn tables_with<'a>(schema: &'a Json, places: &[&'a Json], key: &str) -> Vec<&'a str> {
    let tables = places.iter().filter_map(|place| place["properties"].as_object()).flatten();
    let with = tables.filter(|(_, part)| meanings(schema, part, None).iter().any(|place| has(place, key)));
    with.map(|(name, _)| name.as_str()).collect()
}

/// The scenario itself, or the tables that are its keys: first those of which it is a value, as `loss` is of `link`.
fn of_tables_elsewhere(schema: &Json, root: &Node, table: &[&str], key: &str) -> Option<String> {
    if table.is_empty() && key == "sweep" {
        return Some(
            "it is read where `celltrain sweep` runs the file that has it, and nowhere else".to_owned(),
        );
    }
    let scenario = (String::new(), false, meanings(schema, schema, Some(root)), Some(root));
    let own = scenario.2.iter().find(|place| has(place, key)).map(|place| &place["properties"][key]);
    let own = own.map(|part| meanings(schema, part, None));
    let is = |own: &[&Json], what: &str| own.iter().any(|part| part[what].is_object());
    let of_scenario = own.map(|own| match (is(&own, "items"), is(&own, "properties")) {
        (true, _) => (false, format!("[[{key}]] is a table of its own")),
        (_, true) => (false, format!("[{key}] is a table of its own")),
        _ => (true, "it is a key of the scenario itself, above its tables".to_owned()),
    });
    if let Some((true, said)) = of_scenario {
        return Some(said);
    }
    let below = below(schema, "", false, &scenario.2, scenario.3);
    let tables = below.iter().filter(|(path, ..)| *path != table.join("."));
    let found = tables.filter(|(_, _, places, _)| places.iter().any(|place| has(place, key)));
    let paths: Vec<_> = found.map(|(path, is_array, ..)| (path.as_str(), *is_array)).collect();
    of_paths(&paths, key).or(of_scenario.map(|(_, said)| said))
}

/// A table by its path, whether it is one of an array, what the schema says of it, and itself.
type Place<'a> = (String, bool, Vec<&'a Json>, Option<&'a Node>);

/// The tables that are keys of a table; not those of an array that are arrays again.
fn below<'a>(
    schema: &'a Json,
    path: &str,
    is_array: bool,
    places: &[&'a Json],
    node: Option<&'a Node>,
) -> Vec<Place<'a>> {
    let keys = places.iter().filter_map(|place| place["properties"].as_object()).flatten();
    let mut found = Vec::new();
    // What a sweep takes is no key of a scenario.
    for (name, part) in keys.filter(|(name, _)| !is_array && *name != "sweep") {
        let node = node.and_then(|node| node.child(name));
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let own = meanings(schema, part, node);
        let elements: Vec<_> = own
            .iter()
            .filter(|place| place["items"].is_object())
            .flat_map(|place| meanings(schema, &place["items"], None))
            .collect();
        if elements.is_empty() {
            found.push((path, false, own, node))
        } else {
            found.push((path, true, elements, None))
        }
    }
    found
}

/// "it is switch.buffer, or stands in a [[port]]"; nothing where there are too many for a message.
fn of_paths(paths: &[(&str, bool)], key: &str) -> Option<String> {
    let of = |arrays| paths.iter().filter(move |(_, is_array)| *is_array == arrays).map(|(path, _)| *path);
    let tables = of(false).map(|path| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") });
    let arrays = listed(of(true).map(|path| format!("a [[{path}]]")));
    match (listed(tables), arrays) {
        _ if paths.len() > MOST_PLACES => None,
        (Some(tables), Some(arrays)) => Some(format!("it is {tables}, or stands in {arrays}")),
        (Some(tables), None) => Some(format!("it is {tables}")),
        (None, arrays) => arrays.map(|arrays| format!("it stands in {arrays}")),
    }
}

/// Names in a sentence, each once: "a", "a or b", "a, b or c"; none of none.
fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let mut every: Vec<String> = Vec::new();
    names.for_each(|name| {
        if !every.contains(&name) {
            every.push(name)
        }
    });
    let last = every.pop()?;
    Some(if every.is_empty() { last } else { format!("{} or {last}", every.join(", ")) })
}

impl Node {
    /// The value of a key, or the element of this number.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(table) => table.get(key),
            Value::Array(nodes) => nodes.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The form that a table says it has.
    fn kind(&self) -> Option<&str> {
        self.child(KIND)?.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of five tables is a common word: a list of all would hide what helps.
    #[test]
    fn a_message_names_four_places_at_the_most() {
        let paths = [("flow", true), ("link", false), ("group", true), ("switch", false), ("port", true)];
        let four = of_paths(&paths[..4], "start").unwrap();
        assert_eq!(four, "it is link.start or switch.start, or stands in a [[flow]] or a [[group]]");
        assert_eq!(of_paths(&paths, "start"), None);
    }
}
