//! The catalogue of discard policies, from the registry.

use celltrain_atm::buffer::{PolicyInfo, PolicyName};
use serde_json::Value;

use crate::markdown::{Document, Resolved, Row, key_table, name_lists};

const INTRODUCTION: &str = "\
# Discard policies

<!-- Written by `cargo xtask generate` from the registry in crates/atm/src/buffer. -->

What a switch does with a cell that arrives at a buffer. A scenario chooses a policy and sets its parameters:

```toml
[switch.discard]
policy = \"espd\"
espd = { high = \"95 %\", low = \"90 %\" }
```

Tables of policies other than the chosen one may stay. A level is a share of the buffer or a number of cells; the cell in
transmission counts. To add a policy, see [add a discard policy](../how-to/add-a-discard-policy.md).

";

/// Renders the page; the parameters stand in the schema of scenario files.
pub(crate) fn render(schema: &Value) -> String {
    let document = Document(schema);
    let discard = document.resolve(&schema["definitions"]["SwitchSpec"]["properties"]["discard"]);
    let policies: Vec<_> = PolicyName::ALL.iter().map(|name| name.info()).collect();
    let mut text = INTRODUCTION.to_owned();
    text += "| Policy | What it does |\n|---|---|\n";
    for PolicyInfo { name, summary, .. } in &policies {
        text += &format!("| [`{name}`](#{name}) | {summary} |\n");
    }
    for PolicyInfo { name, summary, reference, .. } in &policies {
        let table = document.resolve(&discard.schema["properties"][name]);
        text += &format!(
            "\n## {name}\n\n{summary}\n\nReference: {reference}.\n\n{}\n",
            parameters(document, table)
        );
    }
    text
}

fn parameters(document: Document<'_>, table: Resolved<'_>) -> String {
    let Some(keys) = table.keys() else { return "No parameters.".to_owned() };
    let rows: Vec<_> = keys.keys().map(|key| Row::new(document, table.schema, key)).collect();
    let text = key_table(&rows) + &name_lists(document, keys.iter());
    text.trim_end().to_owned()
}
