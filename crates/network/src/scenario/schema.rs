//! The JSON schema of scenario files, for editors and for the reference pages.

use schemars::{Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use super::spec::Spec;

/// Generates the schema; draft 7, which editors of TOML support.
pub(super) fn schema() -> Value {
    let settings = SchemaSettings::draft07()
        .with_transform(RecursiveTransform(without_null))
        .with_transform(RecursiveTransform(unwrap_lines));
    settings.into_generator().into_root_schema_for::<Spec>().into()
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
    use super::schema;

    #[test]
    fn no_key_may_be_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
