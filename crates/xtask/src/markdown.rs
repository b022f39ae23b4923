//! Markdown from JSON schemas: what a key may be, and tables of keys.

use serde_json::{Map, Value};

/// A schema document, against which references are resolved.
#[derive(Clone, Copy)]
pub(crate) struct Document<'a>(pub(crate) &'a Value);

/// A schema and the name of the definition it refers to, if it does.
#[derive(Clone, Copy)]
pub(crate) struct Resolved<'a> {
    pub(crate) definition: Option<&'a str>,
    pub(crate) schema: &'a Value,
}

impl<'a> Document<'a> {
    /// Follows a reference, whether or not a description stands beside it.
    pub(crate) fn resolve(self, schema: &'a Value) -> Resolved<'a> {
        let wrapped = schema["allOf"].as_array().or_else(|| schema["anyOf"].as_array());
        let wrapped = wrapped.and_then(|forms| forms.first()).unwrap_or(schema);
        match wrapped["$ref"].as_str() {
            Some(path) => {
                let schema = self.0.pointer(path.trim_start_matches('#')).expect("references lead somewhere");
                Resolved { definition: path.rsplit('/').next(), schema }
            }
            None => Resolved { definition: None, schema },
        }
    }
}

impl<'a> Resolved<'a> {
    /// The keys, if this is a table.
    pub(crate) fn keys(self) -> Option<&'a Map<String, Value>> {
        self.schema["properties"].as_object()
    }

    /// The forms that tables with a `kind` have: name and schema.
    pub(crate) fn kinds(self) -> Vec<(&'a str, &'a Value)> {
        let forms = self.schema["oneOf"].as_array().into_iter().flatten();
        forms.filter_map(|form| Some((form["properties"]["kind"]["const"].as_str()?, form))).collect()
    }

    /// Whether this is a table of one form or several.
    pub(crate) fn is_table(self) -> bool {
        let has_free_keys = self.schema["additionalProperties"].is_object();
        (self.schema["type"] == "object" && !has_free_keys) || !self.kinds().is_empty()
    }

    /// The names that this may be, with their descriptions.
    pub(crate) fn names(self) -> Vec<(&'a str, &'a str)> {
        let described = self.schema["oneOf"].as_array().into_iter().flatten();
        let described = described.filter_map(|form| Some((form["const"].as_str()?, description(form))));
        let plain = self.schema["enum"].as_array().into_iter().flatten();
        described.chain(plain.filter_map(|name| Some((name.as_str()?, "")))).collect()
    }

    /// What a value may be, in a few words.
    pub(crate) fn values(self) -> String {
        let schema = self.schema;
        let names = self.names();
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|(name, _)| format!("`\"{name}\"`")).collect();
            return names.join(", ");
        }
        if is_array(schema) && schema["type"] != "array" {
            return "an array, or the path of a CSV file".to_owned();
        }
        match schema["type"].as_str() {
            Some("string") => match schema["examples"][0].as_str() {
                Some(example) => format!("{}, such as `\"{example}\"`", description(schema)),
                None => "a string".to_owned(),
            },
            Some("integer") => format!("a whole number{}", range(schema)),
            Some("number") => format!("a number{}", range(schema)),
            Some("boolean") => "`true` or `false`".to_owned(),
            Some("array") => "an array of strings".to_owned(),
            Some("object") => description(schema).to_owned(),
            None if schema["anyOf"].is_array() => description(schema).to_owned(),
            other => panic!("no words for the type {other:?}"),
        }
    }
}

/// Whether a schema is that of an array, which may stand in a file of its own.
pub(crate) fn is_array(schema: &Value) -> bool {
    schema["type"] == "array" || schema["items"].is_object()
}

/// The limits of a number, unless they are those of its type.
fn range(schema: &Value) -> String {
    let limit = |key: &str| schema[key].as_u64();
    match (limit("minimum"), limit("maximum")) {
        (Some(least), Some(most)) if least == most => format!(", {least}"),
        (Some(least), Some(most)) if most != i64::MAX as u64 => format!(", {least} to {most}"),
        (Some(least), _) if least > 0 => format!(", {least} or more"),
        _ => String::new(),
    }
}

/// The description of a schema.
pub(crate) fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// A row of a table of keys.
pub(crate) struct Row<'a> {
    pub(crate) key: &'a str,
    pub(crate) values: String,
    /// Markdown of the default; empty if the description says what happens.
    pub(crate) default: String,
    pub(crate) meaning: &'a str,
}

impl<'a> Row<'a> {
    /// The row of a key of `table` whose values are not tables.
    pub(crate) fn new(document: Document<'a>, table: &'a Value, key: &'a str) -> Self {
        let schema = &table["properties"][key];
        let default = match (&schema["default"], is_required(table, key)) {
            (_, true) => REQUIRED.to_owned(),
            (Value::Null, false) => String::new(),
            (value, false) => format!("`{value}`"),
        };
        Self { key, values: document.resolve(schema).values(), default, meaning: description(schema) }
    }

    /// The row of a key of `table` whose values are tables, described elsewhere.
    pub(crate) fn of_table(table: &'a Value, key: &'a str, values: String) -> Self {
        let default = if is_required(table, key) { REQUIRED } else { "" };
        Self { key, values, default: default.to_owned(), meaning: description(&table["properties"][key]) }
    }
}

/// What stands in place of a default where a key has to be written.
const REQUIRED: &str = "required";

/// Whether a table needs a key. Of a file, keys are required unless it extends another.
fn is_required(table: &Value, key: &str) -> bool {
    let required = table["required"].as_array().or_else(|| table["then"]["required"].as_array());
    required.is_some_and(|keys| keys.iter().any(|name| name == key))
}

/// A table of keys.
pub(crate) fn key_table(rows: &[Row<'_>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "| Key | Values | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for Row { key, values, default, meaning } in rows {
        text += &format!("| `{key}` | {} | {} | {} |\n", cell(values), cell(default), cell(meaning));
    }
    text + "\n"
}

/// Lists of the described names that keys may have as values.
pub(crate) fn name_lists<'a>(
    document: Document<'a>,
    properties: impl Iterator<Item = (&'a String, &'a Value)>,
) -> String {
    let mut text = String::new();
    for (key, schema) in properties {
        let names = document.resolve(schema).names();
        if names
            .iter()
            .all(|(name, description)| description.is_empty() || *description == format!("`{name}`"))
        {
            continue;
        }
        text += &format!("Values of `{key}`:\n\n");
        for (name, description) in names {
            text += &format!("- `\"{name}\"`: {}\n", description.replace("\n\n", " "));
        }
        text += "\n";
    }
    text
}

/// Text that fits a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("\n\n", " ")
}
