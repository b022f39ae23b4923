//! The catalogues of discard policies and scheduling disciplines, from their registries.

use celltrain_atm::{
    buffer::{PolicyInfo, PolicyName},
    scheduler::{DisciplineInfo, DisciplineName},
};
use serde_json::Value;

use crate::markdown::{Document, Resolved, Row, key_table, name_lists};

const POLICIES: &str = "\
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

const SCHEDULERS: &str = "\
# Schedulers

<!-- Written by `cargo xtask generate` from the registry in crates/atm/src/scheduler. -->

In which order a port serves its VCs. A scenario chooses a discipline and sets its parameters:

```toml
[switch]
vc-buffer = \"200 cells\"
scheduler.discipline = \"round-robin\"
```

Between service categories (`vc.category`) priority is strict; the discipline orders the VCs within each. `switch.vc-buffer` limits
what one VC may take of the buffer, which a fair scheduler needs: a VC that fills the buffer keeps the others out of it.

";

/// An entry of a catalogue.
struct Entry {
    name: &'static str,
    summary: &'static str,
    reference: &'static str,
}

/// Renders the page of discard policies; the parameters stand in the schema of scenario files.
pub(crate) fn policies(schema: &Value) -> String {
    let entry = |name: &PolicyName| {
        let PolicyInfo { name, summary, reference, .. } = name.info();
        Entry { name, summary, reference }
    };
    catalogue(POLICIES, "Policy", PolicyName::ALL.iter().map(entry).collect(), schema, "discard")
}

/// Renders the page of scheduling disciplines.
pub(crate) fn schedulers(schema: &Value) -> String {
    let entry = |name: &DisciplineName| {
        let DisciplineInfo { name, summary, reference, .. } = name.info();
        Entry { name, summary, reference }
    };
    catalogue(SCHEDULERS, "Discipline", DisciplineName::ALL.iter().map(entry).collect(), schema, "scheduler")
}

fn catalogue(introduction: &str, what: &str, entries: Vec<Entry>, schema: &Value, table: &str) -> String {
    let document = Document(schema);
    let tables = document.resolve(&schema["definitions"]["SwitchSpec"]["properties"][table]);
    let mut text = introduction.to_owned();
    text += &format!("| {what} | What it does |\n|---|---|\n");
    for Entry { name, summary, .. } in &entries {
        text += &format!("| [`{name}`](#{name}) | {summary} |\n");
    }
    for Entry { name, summary, reference } in &entries {
        let table = document.resolve(&tables.schema["properties"][name]);
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
