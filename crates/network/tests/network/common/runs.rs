//! Runs of scenarios, under the seed that they give.

use celltrain_engine::{Time, random::Randomness, visit::Schedule};
use celltrain_network::{Experiment, Options, RunResult, live::Live, network::Network, scenario::Scenario};

use super::{load, scenario};

/// Series are kept.
pub(crate) fn traced() -> Options {
    let mut options = Options::default();
    options.trace |= true;
    options
}

/// Replication `replication` of a scenario.
pub(crate) fn replicate(scenario: &Scenario, replication: u64, options: Options) -> RunResult {
    let experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let seed = scenario.spec().seed;
    experiment.run(seed, replication, options, &mut || false).expect("nothing interrupts")
}

/// Replication 0 of a scenario, with a network that is `change`d before.
pub(crate) fn run_as(scenario: &Scenario, options: Options, change: impl FnOnce(&mut Network)) -> RunResult {
    let experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut network = experiment.network(scenario.spec().seed, 0, options);
    change(&mut network);
    experiment.run_network(network, &mut || false).expect("nothing interrupts")
}

/// Replication 0 of what `tables` describe, with series.
pub(crate) fn run(tables: &str) -> RunResult {
    replicate(&scenario(tables), 0, traced())
}

/// Replication 0 of the scenario in `text` with `overrides`.
pub(crate) fn run_plain(text: &str, overrides: &[(&str, &str)]) -> RunResult {
    replicate(&load(text, overrides), 0, Options::default())
}

/// As [`run_plain`], with series.
pub(crate) fn run_traced(text: &str, overrides: &[(&str, &str)]) -> RunResult {
    replicate(&load(text, overrides), 0, traced())
}

/// As [`run_plain`], with the events of senders.
pub(crate) fn run_recorded(text: &str, overrides: &[(&str, &str)]) -> RunResult {
    run_as(&load(text, overrides), Options::default(), Network::record_events)
}

/// Visits in rounds of random order and length, up to `cap`.
pub(crate) fn shuffled(seed: u64, cap: Time) -> impl Fn(&mut Schedule) {
    move |schedule| {
        schedule.cap = cap;
        schedule.shuffle = Some(Randomness { seed, replication: 0 }.named("schedule"));
    }
}

/// Asserts that a traced run is `usual` in visits of any order and length up to `cap`, and with its processes in any three parts.
pub(crate) fn assert_same_in_any_order(text: &str, overrides: &[(&str, &str)], cap: Time, usual: &RunResult) {
    for seed in 0..3 {
        let mut generator = Randomness { seed, replication: 0 }.named("parts");
        let other = run_as(&load(text, overrides), traced(), |network| {
            network.set_schedule(shuffled(seed, cap));
            if seed > 0 {
                let parts = (0..network.processes()).map(|_| generator.below(3) as usize);
                network.set_partition(parts.collect());
            }
        });
        assert_eq!(format!("{usual:?}"), format!("{other:?}"), "{overrides:?}, schedule {seed}");
    }
}

/// Replication 0 of a scenario, to be watched.
pub(crate) fn live(scenario: &Scenario) -> Live {
    Live::new(scenario.clone(), scenario.spec().seed, 0).unwrap()
}
