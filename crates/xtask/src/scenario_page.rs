//! The reference of scenario files: every key, from the JSON schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::markdown::{Document, Resolved, Row, description, is_array, key_table, name_lists};

const INTRODUCTION: &str = "\
# Scenario files

<!-- Written by `cargo xtask generate` from the types in crates/network/src/scenario/spec. -->

Every key of a scenario file. [Write a scenario](../how-to/write-a-scenario.md) shows how they go together. A file says
`schema = 1`; editors that know JSON Schema complete and check it if its first line is
`#:schema <path or address of schema/celltrain.schema.json>`.

Quantities are strings with a unit. Prefixes are powers of ten, also of bytes: `64 kB` are 64000 bytes,
and `64 KiB` are 65536, TCP's usual window. A number may have an exponent, as in `1e-5 s`. Bytes, cells and packets are whole:
`1.5 B` is an error. Times are rounded to the nearest picosecond, bit rates to the nearest bit/s, packet rates to thousandths of a packet/s, tolerances of clocks to ppb, and shares to
0.0001 %. A value above 0 that would be rounded to 0 is an error.

A key that is not listed here is an error. `--set switch.buffer=\"500 cells\"` overrides
a key from the command line; elements of arrays are counted from 0 there and in errors (`flow.0.start`).
Spaces around the key, its dots and the `=` do not count there, as in a file.

";

/// A page in the making.
struct Page<'a> {
    document: Document<'a>,
    text: String,
    /// Where the table of each definition was described first.
    described: BTreeMap<&'a str, String>,
}

/// Renders the page.
pub(crate) fn render(schema: &Value) -> String {
    let mut page =
        Page { document: Document(schema), text: INTRODUCTION.to_owned(), described: BTreeMap::new() };
    let root = Resolved { definition: None, schema };
    page.text += "## Top level\n\n";
    page.keys(root, "", 2);
    page.text.truncate(page.text.trim_end().len());
    page.text + "\n"
}

impl<'a> Page<'a> {
    /// Describes a table called `name`, with a heading of its own.
    fn table(&mut self, name: &str, schema: &'a Value, level: usize) {
        let is_array = is_array(schema);
        let resolved = self.document.resolve(if is_array { &schema["items"] } else { schema });
        let title = if is_array { format!("[[{name}]]") } else { format!("[{name}]") };
        self.text += &format!("{} `{title}`\n\n{}\n\n", "#".repeat(level), description(schema));
        if let Some(definition) = resolved.definition {
            self.described.insert(definition, title);
        }
        let kinds = resolved.kinds();
        if kinds.is_empty() {
            return self.keys(resolved, &format!("{name}."), level);
        }
        let more = description(resolved.schema).split_once("\n\n").map(|(_, more)| more);
        self.text += &more.map_or(String::new(), |more| format!("{more}\n\n"));
        for (kind, form) in kinds {
            let heading = "#".repeat(level + 1);
            self.text += &format!("{heading} `{name}.kind = \"{kind}\"`\n\n{}\n\n", description(form));
            self.keys(Resolved { definition: None, schema: form }, &format!("{name}."), level + 1);
        }
    }

    /// Describes the keys of a table; `prefix` stands before the names of tables in it.
    fn keys(&mut self, table: Resolved<'a>, prefix: &str, level: usize) {
        let keys = table.keys().expect("a table has keys");
        let mut rows = Vec::new();
        let mut tables = Vec::new();
        for (key, schema) in keys.iter().filter(|(key, schema)| *key != "kind" || schema["const"].is_null()) {
            let is_array = is_array(schema);
            let resolved = self.document.resolve(if is_array { &schema["items"] } else { schema });
            if !resolved.is_table() {
                rows.push(Row::new(self.document, table.schema, key));
            } else if let Some(title) = resolved.definition.and_then(|name| self.described.get(name)) {
                rows.push(Row::of_table(table.schema, key, format!("a table as `{title}`")));
            } else {
                tables.push((key, schema));
            }
        }
        self.text += &key_table(&rows);
        self.text += &name_lists(self.document, keys.iter());
        if let Some(catalogue) = catalogue(keys) {
            self.text += catalogue;
            return;
        }
        for (key, schema) in tables {
            self.again_or_table(&format!("{prefix}{key}"), schema, level + usize::from(!prefix.is_empty()));
        }
    }

    /// Describes a table, or says that it is like one that a neighbour has just introduced.
    fn again_or_table(&mut self, name: &str, schema: &'a Value, level: usize) {
        match self.document.resolve(schema).definition.and_then(|definition| self.described.get(definition)) {
            Some(title) => {
                let heading = "#".repeat(level);
                self.text +=
                    &format!("{heading} `[{name}]`\n\n{} Keys as in `{title}`.\n\n", description(schema));
            }
            None => self.table(name, schema, level),
        }
    }
}

/// Where the tables are described if these are the keys of a choice: a name, and a table for each name.
fn catalogue(keys: &Map<String, Value>) -> Option<&'static str> {
    if keys.contains_key("policy") {
        return Some(
            "The table of each policy, such as `[switch.discard.espd]`, is described at [discard policies](policies.md).\n\n",
        );
    }
    if keys.contains_key("discipline") {
        return Some(
            "The table of each discipline, such as `[switch.scheduler.scfq]`, is described at [schedulers](schedulers.md).\n\n",
        );
    }
    keys.contains_key("algorithm").then_some(
        "The table of each algorithm, such as `[switch.allocator.erica]`, is described at [rate allocators](allocators.md).\n\n",
    )
}

#[cfg(test)]
mod tests {
    use celltrain_network::scenario::Scenario;
    use serde_json::Value;

    use super::render;
    use crate::catalogue;

    /// Collects the keys of all tables in a schema.
    fn keys(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                let properties = object.get("properties").and_then(Value::as_object);
                found.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
                object.values().for_each(|value| keys(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_described() {
        let schema = Scenario::schema();
        let pages = [render, catalogue::policies, catalogue::schedulers, catalogue::allocators];
        let pages: String = pages.iter().map(|page| page(&schema)).collect();
        let mut found = Vec::new();
        keys(&schema, &mut found);
        assert!(found.len() > 80, "{found:?}");
        for key in found {
            let row = pages.contains(&format!("| `{key}` |"));
            let table = [format!("[{key}]"), format!(".{key}]"), format!("## {key}\n")];
            assert!(row || table.iter().any(|title| pages.contains(title)), "{key} is not described");
        }
    }
}
