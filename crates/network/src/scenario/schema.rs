//! The JSON schema of scenario files, for editors and for the reference pages.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use super::{
    editor::one_fault_each,
    spec::Spec,
    sweep::{Plan, Sweep},
};

/// Generates the schema of scenario files.
pub(super) fn schema() -> Value {
    let mut generator = generator();
    let sweep = generator.subschema_for::<Sweep>();
    let mut schema: Value = generator.into_root_schema_for::<Spec>().into();
    schema["properties"]["sweep"] = serde_json::json!({
        "description": "What a sweep varies, and how often it runs each point.",
        "allOf": [sweep],
    });
    leave_to_the_base(&mut schema);
    named(schema, "urn:celltrain:scenario:1")
}

/// The schema of scenario files as editors and validators get it: they report each fault once.
pub(super) fn editor_schema() -> Value {
    let mut schema = schema();
    // Whether a topology needs its `kind` depends on `extends`, as the condition on the file says.
    let topology = schema["properties"]["topology"].as_object_mut().expect("the file has a topology");
    let forms = topology.remove("anyOf").expect("it has two forms");
    topology.insert("allOf".to_owned(), Value::Array(vec![forms[0].clone()]));
    let mut schema = one_fault_each(schema);
    schema["definitions"]["Topology"].as_object_mut().expect("it is a table").remove("required");
    schema
}

/// Gives a schema its identifier: a URN, which needs no host. The number is that of the file format.
fn named(mut schema: Value, id: &str) -> Value {
    schema["$id"] = Value::from(id);
    schema
}

/// Requires of files that extend no other what an extending file may leave out, since it stands in the file below.
fn leave_to_the_base(schema: &mut Value) {
    let mut take = |table: &str| {
        let table = schema.pointer_mut(table).and_then(Value::as_object_mut);
        table.and_then(|table| table.remove("required")).expect("the table has keys that are required")
    };
    let (file, discard) = (take(""), take("/definitions/DiscardParams"));
    let allocator = take("/definitions/AllocatorParams");
    let topology = schema["properties"]["topology"].take();
    schema["properties"]["topology"] = serde_json::json!({
        "description": topology["description"],
        "anyOf": [topology["allOf"][0], { "not": { "required": ["kind"] } }],
    });
    schema["if"] = serde_json::json!({ "not": { "required": ["extends"] } });
    schema["then"] = serde_json::json!({
        "required": file,
        "properties": {
            "topology": { "required": ["kind"] },
            "switch": {
                "properties": { "discard": { "required": discard }, "allocator": { "required": allocator } },
            },
        },
    });
}

/// Generates the schema of plan files.
pub(super) fn plan_schema() -> Value {
    named(one_fault_each(generator().into_root_schema_for::<Plan>().into()), "urn:celltrain:plan:1")
}

/// What makes schemas of draft 7, which editors of TOML support.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft07()
        .with_transform(RecursiveTransform(without_null))
        .with_transform(RecursiveTransform(unwrap_lines));
    settings.into_generator()
}

/// Takes `null` out of optional keys: TOML has none, the key is left out.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(forms)) = object.get_mut("anyOf") else { return };
    forms.retain(|form| form.get("type").is_none_or(|name| name != "null"));
    if let [only] = forms.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        object.insert("allOf".to_owned(), Value::Array(vec![only]));
    }
}

/// Joins the lines of each paragraph of a description; they were broken to fit the source code.
fn unwrap_lines(schema: &mut Schema) {
    let Some(Value::String(description)) = schema.get_mut("description") else { return };
    let paragraphs: Vec<_> =
        description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
    *description = paragraphs.join("\n\n");
}

#[cfg(test)]
mod tests {
    use super::{editor_schema, plan_schema, schema};

    #[test]
    fn no_key_may_be_null() {
        assert!(!schema().to_string().contains("null"));
        assert!(!editor_schema().to_string().contains("null"));
        assert!(!plan_schema().to_string().contains("null"));
    }
}
