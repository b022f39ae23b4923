//! What the tests share: scenarios from text, runs, and single values out of their tables.

use celltrain_network::{
    Experiment, Options, RunResult,
    scenario::Scenario,
    table::{Column, Table},
};

/// The scenario that `tables` describe; version and name are added.
pub(crate) fn scenario(tables: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"test\"\n{tables}");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Series are kept.
pub(crate) fn traced() -> Options {
    let mut options = Options::default();
    options.trace |= true;
    options
}

/// Replication `replication` of a scenario, with series.
pub(crate) fn replicate(scenario: &Scenario, replication: u64) -> RunResult {
    let experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let seed = scenario.spec().seed;
    experiment.run(seed, replication, traced(), &mut || false).expect("nothing interrupts")
}

/// Replication 0 of what `tables` describe.
pub(crate) fn run(tables: &str) -> RunResult {
    replicate(&scenario(tables), 0)
}

/// The value of `column` in the row whose name, which stands in the first column, is `name`.
pub(crate) fn value(table: &Table, name: &str, column: &str) -> f64 {
    let row = names(table).iter().position(|other| other == name);
    let row = row.unwrap_or_else(|| panic!("no row \"{name}\" among {:?}", names(table)));
    match table.columns().iter().find(|(other, ..)| *other == column) {
        Some((_, _, Column::Count(values))) => values[row] as f64,
        Some((_, _, Column::Number(values))) => values[row],
        _ => panic!("no numbers in column \"{column}\""),
    }
}

/// The first column: the names of the rows.
pub(crate) fn names(table: &Table) -> &[String] {
    match &table.columns()[0].2 {
        Column::Text(names) => names,
        _ => panic!("a table begins with names"),
    }
}

/// A row as a line of text, for comparisons of everything it says (NaN equals NaN).
pub(crate) fn row_text(table: &Table, name: &str) -> String {
    let row = names(table).iter().position(|other| other == name).expect("a row of this name");
    let cell = |(name, _, column): &(&str, &str, Column)| match column {
        Column::Text(values) => format!("{name}={}", values[row]),
        Column::Count(values) => format!("{name}={}", values[row]),
        Column::Number(values) => format!("{name}={:?}", values[row]),
    };
    table.columns().iter().map(cell).collect::<Vec<_>>().join(" ")
}

/// Occupancy samples of a port.
pub(crate) fn occupancies<'a>(result: &'a RunResult, port: &str) -> &'a [f64] {
    let series = result.series.iter().find(|series| series.entity == port && series.metric == "occupancy");
    &series.unwrap_or_else(|| panic!("no series of \"{port}\"")).values
}

/// The mean of independent values and how far the true mean may lie from it with a probability of 99.9 %.
///
/// # Panics
/// If there are not ten values: Student's t is that of nine degrees of freedom.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    const STUDENT_T: f64 = 4.781;
    assert_eq!(values.len(), 10);
    let mean = values.iter().sum::<f64>() / 10.0;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 9.0;
    (mean, STUDENT_T * (variance / 10.0).sqrt())
}
