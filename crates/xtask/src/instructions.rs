//! A short run of a scenario and nothing else, to be counted by callgrind.

use std::path::Path;

use celltrain_network::{Experiment, Options, scenario::Scenario};

const WORKLOAD: &str = include_str!("../../../benches/espd-500.toml");

/// Runs the scenario file `path`, or the benchmark `espd-500`, for 1.5 s of simulated time on up to `threads` threads and prints its
/// cell-hops. `store_queues`: as [`Options::store_queues`].
pub(crate) fn run(path: Option<&str>, store_queues: bool, threads: &str) -> Result<(), String> {
    let threads = threads.parse::<usize>().map_err(|error| format!("{threads}: {error}"))?;
    let shorter = [("duration".to_owned(), "1.5 s".to_owned())];
    let scenario = match path {
        Some(path) => Scenario::load(Path::new(path), &shorter),
        None => Scenario::from_toml(WORKLOAD, "espd-500.toml", &shorter),
    };
    let scenario = scenario.map_err(|error| error.to_string())?;
    let experiment = Experiment::new(&scenario).map_err(|error| error.to_string())?;
    let options = Options { store_queues, ..Options::default() };
    let mut network = experiment.network(1, 0, options);
    experiment.use_threads(&mut network, threads);
    let result = experiment.run_network(network, &mut || false).ok_or("interrupted")?;
    println!("cell_hops {}", result.cell_hops);
    println!("fingerprint {:016x}", result.fingerprint);
    Ok(())
}
