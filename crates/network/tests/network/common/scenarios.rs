//! Scenarios: from texts, from files, and drawn.

use std::{fs, path::PathBuf};

use celltrain_network::scenario::Scenario;
use proptest::prelude::ProptestConfig;

/// Keys and values as a scenario takes them.
fn owned(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The scenario in `text` with `overrides`, or what is wrong with it before its network is built.
pub(crate) fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    Scenario::from_toml(text, "test.toml", &owned(overrides)).map_err(|error| error.to_string())
}

/// The scenario in `text` with `overrides`.
pub(crate) fn load(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    read(text, overrides).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is wrong with the scenario in `text` with `overrides`, or with its network.
pub(crate) fn error(text: &str, overrides: &[(&str, &str)]) -> String {
    match read(text, overrides) {
        Ok(scenario) => scenario.graph().expect_err("the network is refused").to_string(),
        Err(error) => error,
    }
}

/// The scenario that `tables` describe; version and name are added.
pub(crate) fn scenario(tables: &str) -> Scenario {
    load(&format!("schema = 1\nname = \"test\"\n{tables}"), &[])
}

/// The scenarios for teaching and of the regression tests, cut to `duration`, of which 3 ms are warm-up.
pub(crate) fn shipped(duration: &str) -> Vec<Scenario> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries =
        ["teaching", "regression"].into_iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cut = owned(&[("duration", duration), ("warm-up", "3 ms")]);
    paths.iter().map(|path| Scenario::load(path, &cut).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// A folder of its own for the files of a test.
pub(crate) fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

/// So many drawn cases of a property.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
