//! Which keys and names of the JSON schema the generator draws: whatever a scenario can say is in the fixed set, or excepted by
//! name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use celltrain_network::scenario::Scenario;
use serde_json::Value as Json;
use toml::Value;

use crate::{SCENARIOS, SEED, generate::case, schema::Schema};

/// What no scenario of the set says, and why.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("extends", "a drawn scenario is one file; the tests of scenario files read several"),
    ("sweep", "a sweep is many scenarios, and each of them is one that can be drawn"),
];

/// The keys of a schema, and the names that they take. What several keys have in common, such as `tcp` of a flow and of a group,
/// is told by the first of them.
struct Keys<'a> {
    schema: &'a Schema,
    /// The path at which each definition is met first.
    homes: BTreeMap<&'a str, String>,
    all: BTreeSet<String>,
}

impl<'a> Keys<'a> {
    fn of(schema: &'a Schema) -> Self {
        let mut keys = Self { schema, homes: BTreeMap::new(), all: BTreeSet::new() };
        let mut queue = VecDeque::from([(schema.root(), String::new())]);
        while let Some((node, path)) = queue.pop_front() {
            let (name, node) = schema.resolve(node);
            if !name.is_empty() {
                if keys.homes.contains_key(name) {
                    continue;
                }
                keys.homes.insert(name, path.clone());
            }
            for (key, property) in properties(node) {
                let inner = join(&path, key);
                keys.all.insert(inner.clone());
                queue.push_back((property, inner));
            }
            for form in node["oneOf"].as_array().into_iter().flatten() {
                if let Some(kind) = kind(form) {
                    keys.all.insert(of_kind(&path, kind));
                    let parts = properties(form).filter(|(key, _)| *key != "kind");
                    for (key, property) in parts {
                        let inner = join(&of_kind(&path, kind), key);
                        keys.all.insert(inner.clone());
                        queue.push_back((property, inner));
                    }
                } else if let Some(name) = form["const"].as_str() {
                    keys.all.insert(named(&path, name));
                }
            }
            if node["items"].is_object() {
                queue.push_back((&node["items"], format!("{path}[]")));
            }
            if reads_files(node) {
                keys.all.insert(named(&path, FILE));
            }
        }
        keys
    }

    /// Adds what `value`, at `path`, says to `said`.
    fn add(&self, node: &'a Json, path: &str, value: &Value, said: &mut BTreeSet<String>) {
        let (name, node) = self.schema.resolve(node);
        let path = self.homes.get(name).map_or(path, String::as_str);
        match value {
            Value::Table(table) => {
                let chosen = table.get("kind").and_then(Value::as_str);
                let mut forms = node["oneOf"].as_array().into_iter().flatten();
                let form = forms.find(|form| kind(form).is_some() && kind(form) == chosen);
                let (node, path) = match (form, chosen) {
                    (Some(form), Some(chosen)) => (form, of_kind(path, chosen)),
                    _ => (node, path.to_owned()),
                };
                said.insert(path.clone());
                for (key, property) in properties(node) {
                    if let Some(value) = table.get(key) {
                        let inner = join(&path, key);
                        said.insert(inner.clone());
                        self.add(property, &inner, value, said);
                    }
                }
            }
            Value::Array(values) => {
                values.iter().for_each(|value| self.add(&node["items"], &format!("{path}[]"), value, said));
            }
            Value::String(_) if reads_files(node) => {
                said.insert(named(path, FILE));
            }
            Value::String(text) => {
                said.insert(named(path, text));
            }
            _ => {}
        }
    }
}

const FILE: &str = "a file";

fn properties(node: &Json) -> impl Iterator<Item = (&str, &Json)> {
    node["properties"].as_object().into_iter().flatten().map(|(key, property)| (key.as_str(), property))
}

fn kind(form: &Json) -> Option<&str> {
    form["properties"]["kind"]["const"].as_str()
}

/// Whether the value may also stand in a file, whose path is given then.
fn reads_files(node: &Json) -> bool {
    let types: Vec<_> = node["type"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    types.contains(&"array") && types.contains(&"string")
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn of_kind(path: &str, kind: &str) -> String {
    format!("{path}<{kind}>")
}

fn named(path: &str, name: &str) -> String {
    format!("{path} = {name}")
}

#[test]
fn the_fixed_set_says_all_that_a_scenario_can_say() {
    let schema = Schema::new();
    let keys = Keys::of(&schema);
    assert!(keys.all.len() > 400 && keys.all.contains("tcp.mss"), "{} keys", keys.all.len());
    let mut said = BTreeSet::new();
    for index in 0..SCENARIOS {
        let text = case(&schema, SEED, index, false).text;
        let is_accepted =
            Scenario::from_toml(&text, "composed.toml", &[]).is_ok_and(|scenario| scenario.graph().is_ok());
        if is_accepted {
            keys.add(schema.root(), "", &text.parse().map(Value::Table).expect("TOML"), &mut said);
        }
    }
    let is_excepted = |key: &str| {
        EXCEPTIONS.iter().any(|(exception, _)| {
            key.strip_prefix(exception)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', '[', '<']))
        })
    };
    let unsaid: Vec<_> =
        keys.all.iter().filter(|key| !said.contains(*key) && !is_excepted(key)).map(String::as_str).collect();
    assert!(unsaid.is_empty(), "no scenario of the fixed set says\n{}", unsaid.join("\n"));
    for (exception, _) in EXCEPTIONS {
        assert!(keys.all.contains(exception), "there is no key \"{exception}\"");
        assert!(!said.contains(exception), "\"{exception}\" is drawn: it is no exception");
    }
}
