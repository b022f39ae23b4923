//! The JSON schema in a form that names each fault once.
//!
//! schemars writes a choice as `oneOf` with a form for each name or `kind`. A validator that finds no matching form reports
//! the faults of every form: thirty for one misspelt `kind`. This module rewrites choices so that only one form applies.

use serde_json::{Map, Value, json};

/// Rewrites the choices of a schema, and of all schemas in it.
pub(super) fn one_fault_each(mut schema: Value) -> Value {
    rewrite(&mut schema);
    schema
}

fn rewrite(schema: &mut Value) {
    match schema {
        Value::Array(values) => values.iter_mut().for_each(rewrite),
        Value::Object(object) => {
            object.values_mut().for_each(rewrite);
            rewrite_choice(object);
        }
        _ => {}
    }
}

fn rewrite_choice(schema: &mut Map<String, Value>) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(forms) = schema.get(keyword).and_then(Value::as_array) else { continue };
        let rewritten =
            names(forms).or_else(|| kinds(forms)).or_else(|| types(forms)).or_else(|| either_key(forms));
        if let Some(Value::Object(rewritten)) = rewritten {
            schema.remove(keyword);
            schema.extend(rewritten);
        }
    }
}

/// A choice of names: an enumeration. Editors that support `x-taplo` show the description of each name.
fn names(forms: &[Value]) -> Option<Value> {
    let names: Option<Vec<_>> = forms.iter().map(|form| form["const"].as_str()).collect();
    Some(enumeration(&names?, forms))
}

/// A choice of tables by their `kind`: the table of that kind alone applies. The keys of all kinds are listed without
/// constraints, so that editors complete them.
fn kinds(forms: &[Value]) -> Option<Value> {
    let kinds: Option<Vec<_>> =
        forms.iter().map(|form| form["properties"]["kind"]["const"].as_str()).collect();
    let kinds = kinds?;
    let mut keys = Map::new();
    for form in forms {
        for (key, value) in form["properties"].as_object().into_iter().flatten() {
            let about = value.get("description").map_or(json!({}), |text| json!({ "description": text }));
            keys.entry(key).or_insert(about);
        }
    }
    keys["kind"] = enumeration(&kinds, forms);
    let tables: Vec<_> = kinds.iter().zip(forms).map(|(kind, form)| table_of_kind(kind, form)).collect();
    Some(json!({ "type": "object", "required": ["kind"], "properties": keys, "allOf": tables }))
}

fn enumeration(names: &[&str], forms: &[Value]) -> Value {
    let descriptions: Vec<_> =
        forms.iter().map(|form| form["description"].as_str().unwrap_or_default()).collect();
    json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": descriptions } } })
}

/// The table of a kind, on the condition that this is the kind.
fn table_of_kind(kind: &str, form: &Value) -> Value {
    let mut table = form.as_object().expect("a form of a table is an object").clone();
    table.remove("type");
    table["properties"]["kind"] = json!({});
    if let Some(Value::Array(required)) = table.get_mut("required") {
        required.retain(|key| key != "kind");
    }
    json!({ "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] }, "then": table })
}

/// A choice of types: one schema with all of them, since a keyword of one type says nothing about another.
fn types(forms: &[Value]) -> Option<Value> {
    let mut types = Vec::new();
    let mut merged = Map::new();
    for form in forms {
        for (keyword, value) in form.as_object()? {
            if keyword == "type" {
                types.push(value.clone());
            } else if merged.insert(keyword.clone(), value.clone()).is_some() {
                return None;
            }
        }
    }
    let distinct =
        types.iter().enumerate().all(|(place, one)| one.is_string() && !types[..place].contains(one));
    if types.len() != forms.len() || !distinct {
        return None;
    }
    merged.insert("type".to_owned(), Value::Array(types));
    Some(Value::Object(merged))
}

/// At least one of two keys: without the second, the first is required.
fn either_key(forms: &[Value]) -> Option<Value> {
    let [first, second] = forms else { return None };
    let only_requires = |form: &Value| form.as_object().is_some_and(|form| form.keys().eq(["required"]));
    (only_requires(first) && only_requires(second)).then(|| json!({ "if": { "not": second }, "then": first }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::one_fault_each;

    #[test]
    fn names_become_an_enumeration_that_keeps_their_descriptions() {
        let schema = json!({ "description": "d", "oneOf": [
            { "type": "string", "const": "a", "description": "first" },
            { "type": "string", "const": "b", "description": "second" },
        ] });
        let expected = json!({ "description": "d", "type": "string", "enum": ["a", "b"],
            "x-taplo": { "docs": { "enumValues": ["first", "second"] } } });
        assert_eq!(one_fault_each(schema), expected);
    }

    #[test]
    fn only_the_table_of_the_kind_applies() {
        let form = |kind: &str, key: &str| {
            json!({ "type": "object", "additionalProperties": false, "required": ["kind", key],
                "properties": { "kind": { "const": kind }, key: { "type": "integer" } } })
        };
        let found = one_fault_each(json!({ "oneOf": [form("a", "x"), form("b", "y")] }));
        assert_eq!(found["properties"]["kind"]["enum"], json!(["a", "b"]));
        assert_eq!((&found["properties"]["x"], &found["properties"]["y"]), (&json!({}), &json!({})));
        let table = json!({ "additionalProperties": false, "required": ["y"],
            "properties": { "kind": {}, "y": { "type": "integer" } } });
        let is_b = json!({ "properties": { "kind": { "const": "b" } }, "required": ["kind"] });
        assert_eq!(found["allOf"][1], json!({ "if": is_b, "then": table }));
    }

    #[test]
    fn forms_of_different_types_are_one_form() {
        let schema =
            json!({ "anyOf": [{ "type": "array", "minItems": 1 }, { "type": "string", "pattern": "x" }] });
        assert_eq!(
            one_fault_each(schema),
            json!({ "type": ["array", "string"], "minItems": 1, "pattern": "x" })
        );
    }

    #[test]
    fn a_choice_that_cannot_be_told_apart_stays() {
        let schema =
            json!({ "anyOf": [{ "type": "string", "pattern": "x" }, { "type": "string", "minLength": 3 }] });
        assert_eq!(one_fault_each(schema.clone()), schema);
    }

    #[test]
    fn without_the_second_of_two_keys_the_first_is_required() {
        let schema = json!({ "anyOf": [{ "required": ["grid"] }, { "required": ["zip"] }] });
        let expected = json!({ "if": { "not": { "required": ["zip"] } }, "then": { "required": ["grid"] } });
        assert_eq!(one_fault_each(schema), expected);
    }
}
