//! What the schema says of the values of a scenario, for messages: the ranges of numbers, which are narrower than those of the types.

use serde_json::Value as Json;

use super::tree::{KIND, Node, Value};

/// The least and the most that `schema`, the schema of scenario files, allows for the number at `keys` in the scenario `root`, as `number` reads
/// them.
pub(super) fn of_number<'a, T>(
    schema: &Json,
    root: &Node,
    keys: impl Iterator<Item = &'a str>,
    number: impl Fn(&Json) -> Option<T>,
) -> [Option<T>; 2] {
    let (places, _) = places(schema, root, keys);
    ["minimum", "maximum"].map(|name| places.iter().find_map(|place| number(&place[name])))
}

/// All that `schema` says of the value at `keys` in the scenario `root`, and the value, if it is there.
pub(super) fn places<'a, 'k>(
    schema: &'a Json,
    root: &'a Node,
    keys: impl Iterator<Item = &'k str>,
) -> (Vec<&'a Json>, Option<&'a Node>) {
    let (mut node, mut places) = (Some(root), meanings(schema, schema, Some(root)));
    for key in keys {
        let parts: Vec<_> = places.iter().flat_map(|place| parts(place, key)).collect();
        node = node.and_then(|node| node.child(key));
        places = parts.into_iter().flat_map(|part| meanings(schema, part, node)).collect();
    }
    (places, node)
}

/// What a place of the schema says of its key, or of the element of this number.
pub(super) fn parts<'a>(place: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    [&place["items"], &place["properties"][key]].into_iter().filter(|part| part.is_object())
}

/// All that `part` of `schema` says of the value `node`: what it refers to, and of several forms the one of the value's `kind`.
pub(super) fn meanings<'a>(schema: &'a Json, part: &'a Json, node: Option<&Node>) -> Vec<&'a Json> {
    let kind = node.and_then(|node| node.child(KIND)).map(|kind| &kind.value);
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
