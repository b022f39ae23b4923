//! Another network beside the one of a scenario, and a run that goes on for longer: neither changes what is measured of it before.

use celltrain_network::{
    Experiment, Options, RunResult,
    scenario::{Flow, Graph, Scenario, ScenarioError},
    table::{Column, Table as Measured},
};
use toml::{Table, Value};

use crate::{
    draw::put,
    invariants::{Failure, Trial, most_rounds, panic_kind},
    measures::{by_the_fastest_clocks, unlike_rows},
    panics::caught,
};

/// What the kinds of failures that are found here begin with.
pub(crate) const BESIDE: &str = "another network beside it";
pub(crate) const LONGER: &str = "a longer run";

/// Shares of what all flows get.
pub(crate) const OF_ALL: [&str; 2] = ["excess_of_equal_part", "excess_of_weighted_part"];

/// The names of all nodes and flows of the other network begin with this.
const ELSEWHERE: &str = "elsewhere";

/// Two hosts that share nothing with the network of a scenario change nothing of it.
pub(crate) fn look_beside(trial: &mut Trial, usual: &RunResult, _: u64) {
    let Some(text) = with_another(&trial.scenario.to_toml()) else { return };
    let Some(both) = other_run(trial, BESIDE, Scenario::from_toml(&text, "beside.toml", &[])) else { return };
    for (name, one, two) in [("flows", &usual.flows, &both.flows), ("ports", &usual.ports, &both.ports)] {
        unlike(name, one, &without_another(two)).into_iter().for_each(|failure| trial.fail(failure));
    }
    series(BESIDE, usual, &both, usize::MAX).into_iter().for_each(|failure| trial.fail(failure));
}

/// The run of another scenario, unless that is refused: what suits one need not suit the other.
pub(crate) fn other_run(
    trial: &mut Trial,
    what: &str,
    scenario: Result<Scenario, ScenarioError>,
) -> Option<RunResult> {
    let scenario = scenario.ok()?;
    let graph = by_the_fastest_clocks(scenario.graph().ok()?, scenario.spec().link.rate_spread);
    let (most, mut rounds) = (most_rounds(&scenario, &graph), 0);
    let outcome = caught(|| {
        let experiment = Experiment::new(&scenario).ok()?;
        let mut options = Options::default();
        options.trace |= true;
        let network = experiment.network(scenario.spec().seed, 0, options);
        let mut interrupt = || {
            rounds += 1;
            rounds > most
        };
        Some(experiment.run_network(network, &mut interrupt))
    });
    match outcome {
        Err(panic) => trial.fail(Failure::new(panic_kind(what, &panic), panic)),
        Ok(None) => {}
        Ok(Some(None)) => {
            trial.fail(Failure::new(format!("{what}: does not end"), format!("{rounds} rounds")));
        }
        Ok(Some(Some(result))) => {
            trial.add_hops(result.cell_hops);
            trial.note(what);
            return Some(result);
        }
    }
    None
}

/// The scenario in `text` with another network, if its nodes are written out.
fn with_another(text: &str) -> Option<String> {
    let mut scenario: Table = text.parse().expect("a scenario that was written out");
    let topology = scenario.get_mut("topology")?.as_table_mut()?;
    if topology.get("kind")?.as_str()? != "graph" {
        return None;
    }
    let name = |what: &str| format!("{ELSEWHERE} {what}");
    let table = |entries: &[(&str, String)]| {
        let mut table = Table::new();
        entries.iter().for_each(|(key, value)| put(&mut table, key, value.clone()));
        Value::from(table)
    };
    let add = |list: &mut Table, key: &str, entry: Value| {
        let list = list.entry(key).or_insert_with(|| Value::Array(Vec::new()));
        list.as_array_mut().expect("a list").push(entry);
    };
    let hosts = [name("a"), name("b")];
    for host in &hosts {
        add(topology, "node", table(&[("name", host.clone()), ("kind", "host".to_owned())]));
        add(topology, "link", table(&[("from", host.clone()), ("to", name("s"))]));
    }
    add(topology, "node", table(&[("name", name("s")), ("kind", "switch".to_owned())]));
    let [from, to] = hosts;
    add(&mut scenario, "flow", table(&[("name", name("flow")), ("from", from), ("to", to)]));
    Some(toml::to_string(&scenario).expect("a table"))
}

/// What was measured, without the rows of the other network.
fn without_another(table: &Measured) -> Measured {
    rows_of(table, |name| !name.contains(ELSEWHERE))
}

/// The rows of a table whose names are kept.
pub(crate) fn rows_of(table: &Measured, is_kept: impl Fn(&str) -> bool) -> Measured {
    let rows: Vec<_> =
        names_of(table).iter().enumerate().filter(|(_, name)| is_kept(name)).map(|(row, _)| row).collect();
    taken(table, &rows)
}

/// The rows with these names, in their order.
pub(crate) fn rows_named(table: &Measured, names: &[&str]) -> Measured {
    let all = names_of(table);
    let place = |name: &&str| all.iter().position(|other| other == name);
    let rows: Vec<_> = names.iter().filter_map(place).collect();
    taken(table, &rows)
}

/// The names of the rows of a table.
pub(crate) fn names_of(table: &Measured) -> Vec<&str> {
    let names = table.columns().iter().find_map(|(_, _, column)| match column {
        Column::Text(names) => Some(names.iter().collect()),
        _ => None,
    });
    names.expect("a column of names")
}

/// Some rows of a table.
fn taken(table: &Measured, rows: &[usize]) -> Measured {
    fn of<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().map(|&row| values[row].clone()).collect()
    }
    let column = |column: &Column| match column {
        Column::Text(values) => Column::Text(rows.iter().map(|&row| &values[row]).collect()),
        Column::Count(values) => Column::Count(of(values, rows)),
        Column::Number(values) => Column::Number(of(values, rows)),
    };
    Measured::new(table.columns().iter().map(|(name, unit, values)| (*name, *unit, column(values))).collect())
}

fn unlike(name: &str, one: &Measured, two: &Measured) -> Vec<Failure> {
    let differ = |one: &Column, two: &Column| format!("{one:?}") != format!("{two:?}");
    let pairs = std::iter::zip(one.columns(), two.columns())
        .filter(|(one, two)| !OF_ALL.contains(&one.0) && differ(&one.2, &two.2));
    let failure = |one: &str, rows: String| Failure::new(format!("{BESIDE}: {name}.{one}"), rows);
    pairs.map(|(one, two)| failure(one.0, unlike_rows(&one.2, &two.2))).collect()
}

/// Series of one run that do not begin as those of another do, as far as both go, and no further than `most` samples.
fn series(what: &str, one: &RunResult, two: &RunResult, most: usize) -> Vec<Failure> {
    let mut failures = Vec::new();
    for one in &one.series {
        let two = two.series.iter().find(|two| (&two.entity, two.metric) == (&one.entity, one.metric));
        let Some(two) = two else {
            failures.push(Failure::new(
                format!("{what}: no series {}", one.metric),
                format!("of {}", one.entity),
            ));
            continue;
        };
        let common = most.min(one.values.len()).min(two.values.len());
        let differs =
            |place: &usize| format!("{:?}", one.values[*place]) != format!("{:?}", two.values[*place]);
        if let Some(place) = (0..common).find(differs) {
            let detail =
                format!("{}: sample {place}: {} and {}", one.entity, one.values[place], two.values[place]);
            failures.push(Failure::new(format!("{what}: series {}", one.metric), detail));
        }
    }
    failures
}

/// Whether the longer of two runs comes to a slower first link of an ABR source.
pub(crate) fn changes_its_slowest(one: &Graph, longer: &Graph) -> bool {
    let slower = |flow: &Flow| {
        let slowest = |graph: &Graph| graph.links[flow.route[0]].slowest();
        flow.abr.is_some() && slowest(longer) < slowest(one)
    };
    one.flows.iter().any(slower)
}

/// What a run samples does not depend on how long it goes on, unless it comes to a change of a first link: an ABR source never sends faster than
/// that is at its slowest.
pub(crate) fn look_longer(trial: &mut Trial, usual: &RunResult, _: u64) {
    let duration = trial.scenario.spec().duration.ps();
    let longer = [("duration".to_owned(), format!("{} ps", duration + duration / 2))];
    let scenario = trial.scenario.with_overrides(&longer);
    let graphs = [Ok(&trial.scenario), scenario.as_ref()].map(|scenario| scenario.ok()?.graph().ok());
    let [Some(one), Some(two)] = graphs else { return };
    if changes_its_slowest(&one, &two) {
        return;
    }
    let Some(other) = other_run(trial, LONGER, scenario) else { return };
    let samples = (duration / trial.scenario.spec().sample.ps().max(1)) as usize;
    series(LONGER, usual, &other, samples).into_iter().for_each(|failure| trial.fail(failure));
}
