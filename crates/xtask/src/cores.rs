//! The speed-up of one run on several cores.

use std::{path::Path, time::Instant};

use celltrain_network::{Experiment, Options, RunResult, scenario::Scenario};

/// Runs the scenario file `path` alternately on one core and on `threads`, and prints wall time, CPU time and their ratios. What a thread
/// waits is what its CPU time is less than its wall time.
pub(crate) fn run(path: &str, threads: &str, rounds: &str) -> Result<(), String> {
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    let (threads, rounds) = (number(threads)?, number(rounds)?);
    let scenario = Scenario::load(Path::new(path), &[]).map_err(|error| error.to_string())?;
    let experiment = Experiment::new(&scenario).map_err(|error| error.to_string())?;
    println!("threads  wall s  CPU s  waits  speed-up");
    for _ in 0..rounds {
        let (alone, one, _) = timed(&experiment, 1)?;
        println!("{:7}  {:6.2}  {:5.2}", 1, one.wall, one.cpu);
        let (together, several, used) = timed(&experiment, threads)?;
        if alone.fingerprint != together.fingerprint {
            return Err(format!("{used} threads: fingerprint {:016x}", together.fingerprint));
        }
        let waits = 1.0 - several.cpu / (several.wall * used as f64);
        let gain = one.wall / several.wall;
        println!("{used:7}  {:6.2}  {:5.2}  {waits:5.2}  {gain:8.2}", several.wall, several.cpu);
    }
    Ok(())
}

/// Seconds that a run took.
struct Times {
    wall: f64,
    cpu: f64,
}

/// A run on up to `threads` threads, what it took, and on how many it ran.
#[expect(clippy::disallowed_methods, reason = "real time is what is measured")]
fn timed(experiment: &Experiment<'_>, threads: usize) -> Result<(RunResult, Times, usize), String> {
    let mut network = experiment.network(1, 0, Options::default());
    let used = experiment.use_threads(&mut network, threads);
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let result = experiment.run_network(network, &mut || false).ok_or("interrupted")?;
    Ok((result, Times { wall: begin.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu }, used))
}

/// The CPU time of this process, those of its threads that have ended included; 0 where the system has no `/proc`.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time in hundredths of a second are the 12th and 13th fields behind the name, which ends with a parenthesis.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
