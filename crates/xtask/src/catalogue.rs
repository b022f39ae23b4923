//! The catalogues of discard policies, scheduling disciplines and rate allocators, from their registries.

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName, catalogue::Info, scheduler::DisciplineName};
use serde_json::Value;

use crate::{
    markdown::{Document, Resolved, Row, description, key_table, name_lists},
    project::read,
};

const POLICIES: &str = "\
# Discard policies

<!-- Written by `cargo xtask generate` from the registry in crates/atm/src/buffer. -->

What a switch does with a cell that arrives at a buffer. A scenario chooses a policy and sets its parameters:

```toml
[switch.discard]
policy = \"espd\"
espd = { high = \"95 %\", low = \"90 %\" }
```

Tables of policies other than the chosen one may stay. On packet-framed links packets take the place of cells: each is a whole frame. A
level is a share of the buffer, or a number of cells, packets or bytes, as the buffer is counted; the cell in transmission counts. A share
is rounded down to whole units, and is one unit at least unless it is 0 %; an unlimited buffer has no shares. To write a policy in the
scenario, see [write a policy](../how-to/write-a-policy.md); in Rust, [add a discard policy](../how-to/add-a-discard-policy.md).

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

const ALLOCATORS: &str = "\
# Rate allocators

<!-- Written by `cargo xtask generate` from the registry in crates/atm/src/abr. -->

How a switch tells ABR sources their rates. A scenario chooses an algorithm and sets its parameters; the VCs that it
controls are those of category ABR, and `[abr]` describes their ends:

```toml
[switch.allocator]
algorithm = \"erica-plus\"
erica-plus.queue-control.target-delay = \"200 us\"

[vc]
category = \"abr\"
```

Every port of a switch has an allocator of its own, and each lowers the explicit rate (ER) in the backward RM cells of the VCs that it
carries forward; `efci` marks data cells instead. What CBR and VBR send goes first and leaves that much less to share. GFR and UBR come after ABR: beside greedy ABR they have what the
target utilisation leaves of the link. ERICA+, whose target is a queueing delay, leaves them nothing. All categories share one buffer:
UBR that does not respond to losses fills it and keeps ABR and its RM cells out, unless `switch.vc-buffer` limits what a VC may take.

";

/// A page in the making.
struct Page {
    introduction: &'static str,
    /// What its entries are called.
    what: &'static str,
    /// The folder of their source files.
    folder: &'static str,
    /// The table of `[switch]` that chooses one.
    table: &'static str,
}

/// Renders the page of discard policies; the parameters stand in the schema of scenario files.
pub(crate) fn policies(schema: &Value) -> String {
    let page = Page { introduction: POLICIES, what: "Policy", folder: "buffer", table: "discard" };
    catalogue(&page, PolicyName::ALL.iter().map(|name| name.info()), schema)
}

/// Renders the page of scheduling disciplines.
pub(crate) fn schedulers(schema: &Value) -> String {
    let page = Page { introduction: SCHEDULERS, what: "Discipline", folder: "scheduler", table: "scheduler" };
    catalogue(&page, DisciplineName::ALL.iter().map(|name| name.info()), schema)
}

/// Renders the page of rate allocators.
pub(crate) fn allocators(schema: &Value) -> String {
    let page = Page { introduction: ALLOCATORS, what: "Allocator", folder: "abr", table: "allocator" };
    catalogue(&page, AllocatorName::ALL.iter().map(|name| name.info()), schema)
}

/// Renders a page: a table of all entries, and for each its model, its parameters and its example.
///
/// The model is the text at the head of the source file, `crates/atm/src/<folder>/<name>.rs`; the example is the regression
/// scenario of the same name, whose picture `docs/conf.py` draws when the site is built.
fn catalogue(page: &Page, entries: impl Iterator<Item = Info>, schema: &Value) -> String {
    let entries: Vec<_> = entries.collect();
    let Page { introduction, what, folder, table } = *page;
    let document = Document(schema);
    let tables = document.resolve(&schema["definitions"]["SwitchSpec"]["properties"][table]);
    let prefix = format!("switch.{table}");
    let mut text = introduction.to_owned();
    text += &format!("| {what} | What it does |\n|---|---|\n");
    for Info { name, summary, .. } in &entries {
        text += &format!("| [`{name}`](#{name}) | {summary} |\n");
    }
    for Info { name, summary, reference, per_vc, .. } in &entries {
        let table = document.resolve(&tables.schema["properties"][name]);
        let model = model(folder, name);
        let example = example(name);
        let state = per_vc.map_or(String::new(), |kept| format!("State per VC: {kept}.\n\n"));
        text += &format!(
            "\n## {name}\n\n{summary}\n\n{model}{state}Reference: {reference}.\n\n### Parameters of {name}\n\n{}\n\n\
             ### Example of {name}\n\n`scenarios/regression/{name}.toml`:\n\n\
             <!-- not run: a file of the project, which its tests run -->\n```toml\n{example}\n```\n\n\
             ```{{figure}} pictures/{name}.svg\n:alt: Queues over time under {name}\n\n\
             The queues at the busiest ports of the example.\n```\n",
            parameters(document, table, &format!("{prefix}.{name}")).trim_end()
        );
    }
    text
}

/// The text at the head of an algorithm's source file, without its first paragraph, which the summary repeats. A link to
/// another algorithm leads to its section of the page.
fn model(folder: &str, name: &str) -> String {
    let path = format!("crates/atm/src/{folder}/{}.rs", name.replace('-', "_"));
    let source = read(path);
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let text = text.join("\n");
    let mut rest = text.split_once("\n\n").map_or("", |(_, body)| body);
    let mut plain = String::with_capacity(rest.len());
    while let Some((before, link)) = rest.split_once("[`super::") {
        let (module, after) = link.split_once("`]").expect("a link ends");
        let other = module.replace('_', "-");
        plain += &format!("{before}[`{other}`](#{other})");
        rest = after;
    }
    plain += rest;
    if plain.is_empty() { plain } else { plain + "\n\n" }
}

fn example(name: &str) -> String {
    read(format!("scenarios/regression/{name}.toml")).trim_end().to_owned()
}

/// The keys of `table`, which is called `name`, and of the tables in it.
fn parameters(document: Document<'_>, table: Resolved<'_>, name: &str) -> String {
    let Some(keys) = table.keys() else { return "No parameters.".to_owned() };
    let is_table = |key: &&String| document.resolve(&keys[*key]).is_table();
    let (tables, plain): (Vec<_>, Vec<_>) = keys.keys().partition(is_table);
    let rows: Vec<_> = plain.into_iter().map(|key| Row::new(document, table.schema, key)).collect();
    let mut text = key_table(&rows) + &name_lists(document, keys.iter());
    for key in tables {
        let (name, schema) = (format!("{name}.{key}"), &keys[key]);
        text += &format!("`[{name}]`: {}\n\n", description(schema));
        text += &parameters(document, document.resolve(schema), &name);
    }
    text
}

#[cfg(test)]
mod tests {
    use celltrain_atm::{buffer::PolicyName, scheduler::DisciplineName};
    use celltrain_network::scenario::Scenario;

    use super::{policies, schedulers};

    /// The parts of the section of `name` that are missing or lead nowhere.
    fn missing(page: &str, name: &str) -> Vec<String> {
        let Some((_, section)) = page.split_once(&format!("\n## {name}\n\n")) else {
            return vec!["section".into()];
        };
        let section = section.split("\n## ").next().expect("a text has a first part");
        let (text, parts) = section.split_once("\nReference: ").unwrap_or((section, ""));
        let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()).count();
        let found = [
            ("model", paragraphs >= 2),
            ("reference", parts.lines().next().is_some_and(|line| line.len() > 5)),
            ("parameters", parts.contains(&format!("### Parameters of {name}\n\n"))),
            ("example", parts.contains(&format!("`scenarios/regression/{name}.toml`:\n"))),
            ("picture", parts.contains(&format!("```{{figure}} pictures/{name}.svg\n"))),
            ("readable names", !section.contains("::")),
        ];
        let links = text.split("](#").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to);
        let broken =
            links.filter(|to| !page.contains(&format!("\n## {to}\n"))).map(|to| format!("link to {to}"));
        found.iter().filter(|(_, is_there)| !is_there).map(|(part, _)| (*part).into()).chain(broken).collect()
    }

    #[test]
    fn every_algorithm_has_model_parameters_example_and_picture() {
        let schema = Scenario::schema();
        let none: Vec<String> = Vec::new();
        let page = policies(&schema);
        for name in PolicyName::ALL {
            assert_eq!(missing(&page, name.name()), none, "{}", name.name());
        }
        let page = schedulers(&schema);
        for name in DisciplineName::ALL {
            assert_eq!(missing(&page, name.name()), none, "{}", name.name());
        }
    }

    #[test]
    fn what_is_missing_is_noticed() {
        let page = "# Page\n\n## one\n\nWhat it does, as [`two`](#two) and super::two.\n\nReference: A book.\n\n### Parameters of one\n\nNone.\n";
        assert_eq!(missing(page, "one"), ["model", "example", "picture", "readable names", "link to two"]);
        assert_eq!(missing(page, "two"), ["section"]);
    }
}
