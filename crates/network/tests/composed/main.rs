//! The composed world, at random: whatever `celltrain check` accepts ends, conserves cells, and means the same whichever way
//! it is computed.

mod beside;
mod captures;
mod cell_traces;
mod coverage;
mod draw;
mod equal;
mod files;
mod generate;
mod groups;
mod invariants;
mod measures;
mod panics;
mod ports;
mod requests;
mod routes;
mod rules;
mod schema;
mod short_flows;
mod shrink;
mod soak;
mod stops;
mod topology;
mod traffic;
mod watched;
mod windows;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName, scheduler::DisciplineName};

use crate::{
    beside::{BESIDE, LONGER},
    generate::case,
    invariants::{Failure, Outcome, SHIFTED, look},
    schema::Schema,
    windows::WINDOWS,
};

/// The seed of the scenarios that every test run looks at, and how many they are.
const SEED: u64 = 1;
const SCENARIOS: u64 = 1500;

#[test]
fn a_fixed_set_of_scenarios_holds_in_every_respect() {
    let (next, seen) = (AtomicU64::new(0), Mutex::new((BTreeMap::new(), BTreeSet::new())));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| look_at_each(&next, &seen));
        }
    });
    let (failed, busy) = seen.into_inner().expect("no thread panicked");
    let mut failed: Vec<_> = failed.into_values().flatten().collect();
    // A set in which something that is registered has nothing to do is too small.
    let policies = PolicyName::ALL.iter().map(|policy| format!("{} discards", policy.name()));
    let disciplines =
        DisciplineName::ALL.iter().map(|discipline| format!("{} has a queue", discipline.name()));
    let allocators = AllocatorName::ALL.iter().map(|allocator| format!("{} has a queue", allocator.name()));
    let shifted = cfg!(debug_assertions).then_some(SHIFTED);
    let ways = [BESIDE, LONGER, WINDOWS].into_iter().chain(shifted).map(str::to_owned);
    let idle: Vec<_> = policies
        .chain(disciplines)
        .chain(allocators)
        .chain(ways)
        .chain(equal::names())
        .filter(|fact| !busy.contains(fact))
        .collect();
    failed.extend(idle.into_iter().map(|fact| format!("in no scenario: {fact}")));
    assert!(failed.is_empty(), "seed {SEED}:\n{}", failed.join("\n"));
}

/// What failed, by the number of the scenario, and what had something to do.
type Seen = (BTreeMap<u64, Vec<String>>, BTreeSet<String>);

/// Looks at scenarios of the fixed set, the `next` one each time, until there is none.
fn look_at_each(next: &AtomicU64, seen: &Mutex<Seen>) {
    let schema = Schema::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= SCENARIOS {
            return;
        }
        if let Outcome::Ran { failures, busy, .. } = look(&case(&schema, SEED, index, false).text) {
            let words = |failure: Failure| format!("{index}: {}: {}", failure.kind, failure.detail);
            let mut seen = seen.lock().expect("no thread panicked");
            seen.0.insert(index, failures.into_iter().map(words).collect());
            seen.1.extend(busy);
        }
    }
}

#[test]
fn what_was_found_once_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composed/found");
    let mut failed = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let text = std::fs::read_to_string(file).expect("a readable file");
        if let Outcome::Ran { failures, .. } = look(&text) {
            let name = file.file_name().expect("a file").display();
            failed.extend(
                failures.into_iter().map(|failure| format!("{name}: {}: {}", failure.kind, failure.detail)),
            );
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn most_scenarios_are_accepted_as_drawn() {
    let schema = Schema::new();
    let cases: Vec<_> = (0..400).map(|index| case(&schema, SEED, index, false)).collect();
    let refused = cases.iter().filter(|case| {
        celltrain_network::scenario::Scenario::from_toml(&case.text, "", &[])
            .and_then(|scenario| scenario.graph())
            .is_err()
    });
    let (refused, redrawn) = (refused.count(), cases.iter().filter(|case| case.redrawn).count());
    assert!(refused * 5 < cases.len(), "{refused} refused, {redrawn} repaired");
}

#[test]
fn the_same_number_makes_the_same_scenario() {
    let schema = Schema::new();
    for index in 0..20 {
        assert_eq!(case(&schema, 3, index, true).text, case(&schema, 3, index, true).text);
    }
    assert_ne!(case(&schema, 3, 0, true).text, case(&schema, 3, 1, true).text);
}
