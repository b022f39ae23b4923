//! Values recorded earlier, for every scenario that comes with the project: an unintended change shows.
//!
//! `UPDATE_GOLDEN=1 cargo test` writes them again. A change of them is a change of the simulator's results: the changelog
//! says why.

use std::{env, fmt::Write, fs, path::PathBuf, thread};

use celltrain_network::{Options, RunResult, scenario::Scenario, table::Table};

use crate::common::{names, replicate, value};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenarios of a folder below `scenarios/`, by file name.
fn scenarios(folder: &str) -> Vec<(String, Scenario)> {
    let entries = fs::read_dir(root().join("scenarios").join(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let load = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}")))
    };
    paths.into_iter().map(load).collect()
}

/// Counts that are not zero, as `name=count`.
fn counts(table: &Table, name: &str, columns: &[&str]) -> String {
    let counts = columns.iter().map(|column| (column, value(table, name, column)));
    let words: Vec<_> = counts
        .filter(|(_, count)| *count > 0.0)
        .map(|(column, count)| format!(" {column}={count}"))
        .collect();
    words.concat()
}

/// What is recorded: the fingerprint, what flows delivered, what ports discarded and links lost for
/// which reason.
fn record(result: &RunResult) -> String {
    let mut text = format!("fingerprint {:016x}\ncell hops {}\n", result.fingerprint, result.cell_hops);
    for flow in names(&result.flows) {
        let columns = ["frames_delivered", "segments_retransmitted", "timeouts", "fast_retransmits"];
        writeln!(text, "flow {flow}:{}", counts(&result.flows, flow, &columns)).unwrap();
    }
    let is_reason = |column: &&str| column.starts_with("discarded_") || column.starts_with("lost_");
    let reasons: Vec<_> = result.ports.columns().iter().map(|(name, ..)| *name).filter(is_reason).collect();
    assert!(!reasons.is_empty());
    for port in names(&result.ports) {
        let forwarded = value(&result.ports, port, "cells_forwarded");
        writeln!(text, "port {port}: cells_forwarded={forwarded}{}", counts(&result.ports, port, &reasons))
            .unwrap();
    }
    text
}

#[test]
fn runs_give_what_was_recorded() {
    let folder = root().join("tests/golden");
    let update = env::var_os("UPDATE_GOLDEN").is_some();
    let all: Vec<_> = ["regression", "teaching"].into_iter().flat_map(scenarios).collect();
    let mut different = Vec::new();
    for (name, scenario) in &all {
        let path = folder.join(format!("{name}.txt"));
        let text = record(&replicate(scenario, 0, Options::default()));
        if update {
            fs::write(&path, &text).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            different.push(format!("{name} gives\n{text}"));
        }
    }
    let count = different.len();
    assert!(
        different.is_empty(),
        "{count} differ; if meant, UPDATE_GOLDEN=1 records:\n{}",
        different.join("\n")
    );
    // Here, not in a test of its own: tests run at once, and an update writes what this reads.
    check_names(all.into_iter().map(|(name, _)| format!("{name}.txt")).collect());
}

/// Every record is of a scenario, and names are unique.
fn check_names(mut expected: Vec<String>) {
    expected.sort();
    let entries = fs::read_dir(root().join("tests/golden")).unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(
        found, expected,
        "records and scenarios; UPDATE_GOLDEN=1 writes missing ones, others are to be deleted"
    );
}

#[test]
fn threads_do_not_change_a_run() {
    for (name, scenario) in scenarios("regression") {
        let one_by_one: Vec<_> = (0..4)
            .map(|replication| replicate(&scenario, replication, Options::default()).fingerprint)
            .collect();
        let at_once: Vec<_> = thread::scope(|scope| {
            let run = |replication| {
                scope.spawn({
                    let scenario = &scenario;
                    move || replicate(scenario, replication, Options::default()).fingerprint
                })
            };
            let threads: Vec<_> = (0..4).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(at_once, one_by_one, "{name}");
        let distinct: std::collections::BTreeSet<_> = one_by_one.iter().collect();
        assert_eq!(distinct.len(), 4, "{name}: replications differ");
    }
}
