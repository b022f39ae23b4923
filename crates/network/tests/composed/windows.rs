//! Windows that make up a run: what is counted in them adds up to what is counted in the whole run.

use celltrain_network::{
    RunResult,
    scenario::Scenario,
    table::{Column, Table as Measured},
};

use crate::{
    beside::{changes_its_slowest, other_run},
    invariants::{Failure, Trial},
};

/// What the kinds of failures that are found here begin with.
pub(crate) const WINDOWS: &str = "windows that make up a run";

/// Counts of what happens, by what their names begin with. Others are of what there is, or largest values.
const OF_EVENTS: [&str; 27] = [
    "frames_delivered",
    "bytes_delivered",
    "segments_sent",
    "segments_retransmitted",
    "timeouts",
    "fast_retransmits",
    "duplicates_received",
    "outdated_received",
    "acks_sent",
    "cells_sent",
    "cells_discarded",
    "frames_eligible",
    "frames_tagged",
    "cells_tagged",
    "cells_dropped_at_source",
    "cells_useful",
    "cells_useless",
    "requests_completed",
    "flows_turned_away",
    "cells_arrived",
    "cells_forwarded",
    "cells_accepted_clp1",
    "discarded_",
    "lost_",
    "held_back",
    "pauses",
    "frames_marked",
];

/// Of these, those of what happens on links. Where the delay of a link changes it counts by the shortest that it ever has, of which a shorter run
/// may know another.
const ON_LINKS: [&str; 2] = ["lost_", "held_back"];

/// The run up to the end of the warm-up, and the window after it, are the whole run.
pub(crate) fn look_at_windows(trial: &mut Trial, usual: &RunResult, lots: u64) {
    let warm_up = trial.scenario.spec().warm_up.ps();
    // Two runs more take their time.
    if warm_up == 0 || (!lots.is_multiple_of(2) && trial.asked.is_empty()) {
        return;
    }
    let mut run = |more: &[(&str, String)]| {
        let more: Vec<_> = more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let scenario = trial.scenario.with_overrides(&more);
        // What goes on for longer may know that it will have a slower link.
        let shorter = scenario.as_ref().ok().map(Scenario::graph)?.ok()?;
        if changes_its_slowest(&shorter, &trial.scenario.graph().ok()?) {
            return None;
        }
        other_run(trial, WINDOWS, scenario)
    };
    let nothing = ("warm-up", "0 s".to_owned());
    let Some(before) = run(&[nothing.clone(), ("duration", format!("{warm_up} ps"))]) else { return };
    let Some(whole) = run(&[nothing]) else { return };
    let changes = trial.graph.links.iter().any(|link| link.varies || !link.delay_changes.is_empty());
    for (name, parts, whole) in [
        ("flows", [&before.flows, &usual.flows], &whole.flows),
        ("ports", [&before.ports, &usual.ports], &whole.ports),
    ] {
        unlike(name, parts, whole, changes).into_iter().for_each(|failure| trial.fail(failure));
    }
}

/// Counts that do not add up; `changes`: whether the delay of a link changes.
fn unlike(name: &str, parts: [&Measured; 2], whole: &Measured, changes: bool) -> Vec<Failure> {
    let mut failures = Vec::new();
    let [one, two] = parts.map(Measured::columns);
    for ((one, two), whole) in one.iter().zip(two).zip(whole.columns()) {
        let (Column::Count(first), Column::Count(second), Column::Count(all)) = (&one.2, &two.2, &whole.2)
        else {
            continue;
        };
        let is_of = |events: &[&str]| events.iter().any(|event| whole.0.starts_with(event));
        if !is_of(&OF_EVENTS) || changes && is_of(&ON_LINKS) {
            continue;
        }
        let sums = first.iter().zip(second).map(|(one, two)| one + two);
        if let Some((row, (sum, all))) = sums.zip(all).enumerate().find(|(_, (sum, all))| sum != *all) {
            let detail = format!("row {row}: {} + {} = {sum}, and {all}", first[row], second[row]);
            failures.push(Failure::new(format!("{WINDOWS}: {name}.{}", whole.0), detail));
        }
    }
    failures
}
