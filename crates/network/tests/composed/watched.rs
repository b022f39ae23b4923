//! A run that is watched: what a viewer sees adds up whenever it looks, and the run stays the same.

use std::collections::BTreeMap;

use celltrain_engine::random::{Generator, Randomness};
use celltrain_network::{
    RunResult,
    live::{Live, Passage, Whereabouts},
    scenario::NodeKind,
};

use crate::{
    invariants::{Failure, Trial, panic_kind},
    measures::{column, differences},
    panics::caught,
};

/// What the kinds of failures that are found here begin with.
pub(crate) const WATCHED: &str = "watched";
pub(crate) const FOLLOWED: &str = "followed";
/// How often a viewer looks.
const LOOKS: u64 = 20;

/// Discards by link and reason.
type Told = BTreeMap<(usize, &'static str), u64>;

/// Watches the scenario; the run is the `usual` one, and the views add up.
pub(crate) fn watch(trial: &mut Trial, usual: &RunResult, lots: u64) {
    // Two runs more take their time: of a third of the scenarios.
    if lots % 3 != 1 {
        return;
    }
    let (most, mut rounds) = (trial.most_rounds() * (LOOKS + 1), 0);
    let scenario = &trial.scenario;
    let outcome = caught(|| {
        let mut live = Live::new(scenario.clone(), scenario.spec().seed, 0).expect("it ran before");
        let mut interrupt = || {
            rounds += 1;
            rounds > most
        };
        let mut generator = Randomness { seed: lots, replication: 0 }.named("watched");
        let (mut told, mut failures) = (Told::new(), Vec::new());
        while !live.is_over() {
            let until = live.now() + 1 + generator.below(2 * scenario.spec().duration.ps() / LOOKS + 1);
            if !live.advance(until, &mut interrupt) {
                return Err(failures);
            }
            failures.extend(rows(&live));
            hear(&mut live, &mut told);
        }
        let begins = scenario.spec().warm_up.ps() == 0;
        let result = live.finish(&mut interrupt);
        Ok((result, told, failures, begins))
    });
    match outcome {
        Err(panic) => trial.fail(Failure::new(panic_kind(WATCHED, &panic), panic)),
        Ok(Err(failures)) => {
            failures.into_iter().for_each(|failure| trial.fail(failure));
            trial.fail(Failure::new("watched: does not end", format!("{most} rounds")));
        }
        Ok(Ok((result, told, failures, begins))) => {
            failures.into_iter().for_each(|failure| trial.fail(failure));
            let Some(result) = result else {
                return trial.fail(Failure::new("watched: does not end", format!("{most} rounds")));
            };
            trial.add_hops(result.cell_hops);
            same(usual, &result).into_iter().for_each(|failure| trial.fail(failure));
            if begins {
                let failures = tellings(trial, &result, &told);
                failures.into_iter().for_each(|failure| trial.fail(failure));
            }
        }
    }
    follow(trial, lots);
}

/// Where the watched run differs from the `usual` one, which has the samples too.
fn same(usual: &RunResult, watched: &RunResult) -> Vec<Failure> {
    let mut failures = differences(WATCHED, usual, watched);
    failures.retain(|failure| !failure.kind.contains(": summary."));
    for one in &watched.summary {
        let other = usual.summary.iter().find(|other| other.name == one.name).map(|other| other.value);
        if other.map(f64::to_bits) != Some(one.value.to_bits()) {
            let kind = format!("watched: measure {}", one.name);
            failures.push(Failure::new(kind, format!("{other:?} and {}", one.value)));
        }
    }
    failures
}

/// Takes what has happened since the last look.
fn hear(live: &mut Live, told: &mut Told) {
    for discard in live.drain_discards() {
        *told.entry((discard.link, discard.reason)).or_default() += u64::from(discard.count);
    }
    drop((
        live.drain_reactions(),
        live.drain_transfer_delays(),
        live.flows(),
        live.completions(live.now() / 2),
    ));
}

/// What a viewer sees in each buffer is what the port holds, and what is on a link arrives within its delay.
fn rows(live: &Live) -> Vec<Failure> {
    let (mut held, mut failures) = (BTreeMap::<usize, u64>::new(), Vec::new());
    for row in live.rows() {
        let link = &live.graph().links[row.link];
        match row.place {
            Whereabouts::Buffer | Whereabouts::Stored => {
                *held.entry(row.link).or_default() += u64::from(row.count);
            }
            Whereabouts::Link => {
                let last = row.after + row.step * u64::from(row.count - 1);
                // A step is in whole picoseconds.
                if last > link.delay.ps() + u64::from(row.count) && link.delay_changes.is_empty() {
                    let detail =
                        format!("{} at {} ps: {row:?}", live.graph().link_name(row.link), live.now());
                    failures.push(Failure::new("watched: on a link for longer than its delay", detail));
                }
            }
            Whereabouts::Shaper => {}
        }
    }
    for port in live.ports() {
        let rows = held.get(&port.link).copied().unwrap_or(0);
        if rows != port.occupancy {
            let name = live.graph().link_name(port.link);
            let detail = format!("{name} at {} ps: {rows} of {}", live.now(), port.occupancy);
            failures.push(Failure::new("watched: rows of a port", detail));
        }
    }
    failures
}

/// Each discard and loss is told of once, with its reason: those of the whole run.
fn tellings(trial: &Trial, result: &RunResult, told: &Told) -> Vec<Failure> {
    let mut failures = Vec::new();
    let reasons = result.ports.columns().iter().map(|column| column.0);
    let reasons: Vec<_> =
        reasons.filter(|name| name.starts_with("discarded_") || name.starts_with("lost_")).collect();
    let celltrain_network::table::Column::Text(names) = &result.ports.columns()[0].2 else {
        panic!("the table of ports begins with their names")
    };
    for ((link, reason), seen) in told {
        let name = trial.graph.link_name(*link);
        if !reasons.contains(reason) || !names.iter().any(|port| port == name) {
            failures
                .push(Failure::new(format!("watched: {reason}"), format!("{name}: {seen} told, no count")));
        }
    }
    for reason in reasons {
        let counted = column(&result.ports, reason);
        for (link, _) in trial.graph.links.iter().enumerate() {
            let Some(row) = names.iter().position(|name| *name == trial.graph.link_name(link)) else {
                continue;
            };
            let seen = told.get(&(link, reason)).copied().unwrap_or(0);
            if seen as f64 != counted[row] {
                let detail = format!("{}: {seen} told, {} counted", &names[row], counted[row]);
                failures.push(Failure::new(format!("watched: {reason}"), detail));
            }
        }
    }
    failures
}

/// Follows the cells of a port of a switch through some part of the run: none leaves before it arrives.
fn follow(trial: &mut Trial, lots: u64) {
    let mut generator = Randomness { seed: lots, replication: 0 }.named("followed");
    let is_port = |&link: &usize| trial.graph.nodes[trial.graph.links[link].from].kind == NodeKind::Switch;
    let ports: Vec<_> = (0..trial.graph.links.len()).filter(is_port).collect();
    let link = ports[generator.below(ports.len() as u64) as usize];
    let (from, to) = window(trial.scenario.spec().duration.ps(), &mut generator);
    let scenario = &trial.scenario;
    let outcome = caught(|| {
        let mut live = Live::new(scenario.clone(), scenario.spec().seed, 0).expect("it ran before");
        let passages = live.passages(link, from, to, &mut || false);
        passages.unwrap_or_default()
    });
    match outcome {
        Err(panic) => trial.fail(Failure::new(panic_kind(FOLLOWED, &panic), panic)),
        Ok(passages) => {
            let early = |passage: &&Passage| passage.left < passage.arrived && passage.left.is_some();
            if let Some(passage) = passages.iter().find(early) {
                let detail = format!("{}: {passage:?}", trial.graph.link_name(link));
                trial.fail(Failure::new("followed: leaves before it arrives", detail));
            }
        }
    }
}

/// A short part of a run.
fn window(duration: u64, generator: &mut Generator) -> (u64, u64) {
    let from = generator.below(duration);
    (from, from + 1 + duration / 20)
}
