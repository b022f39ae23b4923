//! The ranges of whole numbers, for messages: they are those of the schema, which are narrower than those of the types.

use serde_json::Value as Json;

use super::tree::{KIND, Node, Value};

/// The least and the most that `schema`, the schema of scenario files, allows for the whole number at `keys` in the scenario `root`.
pub(super) fn of_whole_number<'a>(
    schema: &Json,
    root: &Node,
    keys: impl Iterator<Item = &'a str>,
) -> [Option<i64>; 2] {
    let (mut node, mut places) = (Some(root), meanings(schema, schema, Some(root)));
    for key in keys {
        let parts = places.iter().flat_map(|place| [&place["items"], &place["properties"][key]]);
        let parts: Vec<_> = parts.filter(|part| part.is_object()).collect();
        node = node.and_then(|node| child(node, key));
        places = parts.into_iter().flat_map(|part| meanings(schema, part, node)).collect();
    }
    let bound = |name: &str| places.iter().find_map(|place| place[name].as_i64());
    [bound("minimum"), bound("maximum")]
}

/// All that `part` of `schema` says of the value `node`: what it refers to, and of several forms the one of the value's `kind`.
fn meanings<'a>(schema: &'a Json, part: &'a Json, node: Option<&Node>) -> Vec<&'a Json> {
    let kind = node.and_then(Node::table).and_then(|table| table.get(KIND)).map(|kind| &kind.value);
    let (mut found, mut next) = (Vec::new(), vec![part]);
    while let Some(part) = next.pop() {
        found.push(part);
        let reference = part["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        next.extend(reference.and_then(|reference| schema.pointer(reference)));
        let forms = ["allOf", "anyOf", "oneOf"].iter().filter_map(|of| part[of].as_array()).flatten();
        next.extend(forms.filter(|form| match (form["properties"][KIND]["const"].as_str(), kind) {
            (Some(form), Some(Value::String(kind))) => form == kind,
            _ => true,
        }));
    }
    found
}

/// The value of a key, or the element of this number.
fn child<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Table(table) => table.get(key),
        Value::Array(nodes) => nodes.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}
