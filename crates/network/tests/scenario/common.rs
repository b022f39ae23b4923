//! What the tests share: overrides, runs, and columns of their tables.

use celltrain_network::{
    Experiment, Options, RunResult,
    scenario::Scenario,
    table::{Column, Table},
};

/// Keys and values as a scenario takes them.
pub(crate) fn overrides(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Replication 0 of a scenario.
pub(crate) fn run(scenario: &Scenario) -> RunResult {
    let experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    experiment.run(scenario.spec().seed, 0, Options::default(), &mut || false).expect("nothing interrupts")
}

/// A column of counts or numbers.
pub(crate) fn values(table: &Table, column: &str) -> Vec<f64> {
    match table.columns().iter().find(|(other, ..)| *other == column) {
        Some((_, _, Column::Count(values))) => values.iter().map(|&value| value as f64).collect(),
        Some((_, _, Column::Number(values))) => values.clone(),
        _ => panic!("no numbers in column \"{column}\""),
    }
}

/// The frames of all flows that arrived.
pub(crate) fn delivered(result: &RunResult) -> u64 {
    values(&result.flows, "frames_delivered").iter().sum::<f64>() as u64
}
