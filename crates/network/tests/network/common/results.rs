//! Single values out of the tables and series of a run.

use celltrain_network::{
    RunResult,
    table::{Column, Table},
};

/// The first column: the names of the rows.
pub(crate) fn names(table: &Table) -> Vec<&str> {
    match &table.columns()[0].2 {
        Column::Text(names) => names.iter().collect(),
        _ => panic!("a table begins with names"),
    }
}

/// A column of texts.
pub(crate) fn texts<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    match table.columns().iter().find(|(other, ..)| *other == column) {
        Some((_, _, Column::Text(texts))) => texts.iter().collect(),
        _ => panic!("no texts in column \"{column}\""),
    }
}

/// A column of numbers that are no counts.
pub(crate) fn numbers<'a>(table: &'a Table, column: &str) -> &'a [f64] {
    match table.columns().iter().find(|(other, ..)| *other == column) {
        Some((_, _, Column::Number(values))) => values,
        _ => panic!("no numbers in column \"{column}\""),
    }
}

/// The value of `column` in the row whose name, which stands in the first column, is `name`.
pub(crate) fn value(table: &Table, name: &str, column: &str) -> f64 {
    let row = names(table).into_iter().position(|other| other == name);
    let row = row.unwrap_or_else(|| panic!("no row \"{name}\" among {:?}", names(table)));
    match table.columns().iter().find(|(other, ..)| *other == column) {
        Some((_, _, Column::Count(values))) => values[row] as f64,
        Some((_, _, Column::Number(values))) => values[row],
        _ => panic!("no numbers in column \"{column}\""),
    }
}

/// The sum of a column of counts.
pub(crate) fn total(table: &Table, column: &str) -> u64 {
    let counts = table.counts(column);
    assert!(!counts.is_empty(), "no counts in column \"{column}\"");
    counts.iter().sum()
}

/// The cells that all ports discarded.
pub(crate) fn discarded(result: &RunResult) -> f64 {
    total(&result.ports, "cells_discarded") as f64
}

/// What `column` counts of the first flow.
pub(crate) fn of_flow(result: &RunResult, column: &str) -> u64 {
    result.flows.counts(column)[0]
}

/// The value of a metric of the whole run.
pub(crate) fn metric(result: &RunResult, name: &str) -> f64 {
    let found = result.summary.iter().find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("no metric \"{name}\"")).value
}

/// A row as a line of text, for comparisons of everything it says (NaN equals NaN).
pub(crate) fn row_text(table: &Table, name: &str) -> String {
    let row = names(table).into_iter().position(|other| other == name).expect("a row of this name");
    let cell = |(name, _, column): &(&str, &str, Column)| match column {
        Column::Text(values) => format!("{name}={}", &values[row]),
        Column::Count(values) => format!("{name}={}", values[row]),
        Column::Number(values) => format!("{name}={:?}", values[row]),
    };
    table.columns().iter().map(cell).collect::<Vec<_>>().join(" ")
}

/// The values of the series of a flow or a port.
pub(crate) fn series<'a>(result: &'a RunResult, entity: &str, metric: &str) -> &'a [f64] {
    let found = result.series.iter().find(|series| series.entity == entity && series.metric == metric);
    let known = || result.series.iter().map(|series| &series.entity).collect::<Vec<_>>();
    &found.unwrap_or_else(|| panic!("no {metric} of {entity} among {:?}", known())).values
}

/// Occupancy samples of a port.
pub(crate) fn occupancies<'a>(result: &'a RunResult, port: &str) -> &'a [f64] {
    series(result, port, "occupancy")
}

/// The longest round trip measured after the first second, in seconds.
pub(crate) fn longest_round_trip(result: &RunResult) -> f64 {
    let series = result.series.iter().find(|series| series.metric == "rtt").unwrap();
    let late = std::iter::zip(&series.times, &series.values).filter(|(time, _)| **time > 1.0);
    late.map(|(_, rtt)| *rtt).fold(0.0, f64::max)
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
