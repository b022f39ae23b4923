//! The files that are derived from the code, so that they cannot drift from it.

use std::{fs, path::Path};

use celltrain_network::scenario::Scenario;

use crate::{catalogue, project::root, scenario_page, tcp_conformance};

/// Each derived file: its path in the project and its contents.
fn files() -> Vec<(&'static str, String)> {
    let schema = Scenario::schema();
    let text = |schema| serde_json::to_string_pretty(schema).expect("a JSON value has a text") + "\n";
    vec![
        ("schema/celltrain.schema.json", text(&Scenario::editor_schema())),
        ("schema/plan.schema.json", text(&Scenario::plan_schema())),
        ("docs/reference/scenario.md", scenario_page::render(&schema)),
        ("docs/reference/policies.md", catalogue::policies(&schema)),
        ("docs/reference/schedulers.md", catalogue::schedulers(&schema)),
        ("docs/reference/allocators.md", catalogue::allocators(&schema)),
        ("docs/reference/tcp-conformance.md", tcp_conformance::render()),
    ]
}

/// Writes the derived files that are not up to date.
pub(crate) fn write() -> Result<(), String> {
    for (path, contents) in stale() {
        let file = root().join(path);
        let folder = file.parent().expect("a file stands in a folder");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, contents))
            .map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails if a derived file is not what [`write`] would write.
pub(crate) fn check() -> Result<(), String> {
    let stale: Vec<_> = stale().iter().map(|(path, _)| format!("{path} is not up to date")).collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nrun `cargo xtask generate`", stale.join("\n")))
}

fn stale() -> Vec<(&'static str, String)> {
    let differs = |path: &Path, contents: &str| fs::read(path).ok().as_deref() != Some(contents.as_bytes());
    files().into_iter().filter(|(path, contents)| differs(&root().join(path), contents)).collect()
}
