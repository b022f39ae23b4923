//! Measuring the simulator's speed.

use std::time::Duration;
// The one place that reads a clock: what it measures is the simulator, not anything simulated.
use std::time::Instant;

use celltrain_engine::time::MILLISECOND;
use celltrain_network::{Experiment, Options, scenario::Scenario};
use pyo3::{exceptions::PyValueError, prelude::*};

use self::floor::bare_merge;

#[path = "../../../benches/floor.rs"]
mod floor;

/// The workloads: name and scenario.
const WORKLOADS: [(&str, &str); 6] = [
    ("espd-500", include_str!("../../../benches/espd-500.toml")),
    ("espd-1500", include_str!("../../../benches/espd-1500.toml")),
    ("lan", include_str!("../../../benches/lan.toml")),
    ("abr", include_str!("../../../benches/abr.toml")),
    ("paced", include_str!("../../../benches/paced.toml")),
    ("cells", include_str!("../../../benches/cells.toml")),
];

/// The names of the workloads.
#[pyfunction]
pub(crate) fn bench_workloads() -> Vec<&'static str> {
    WORKLOADS.iter().map(|workload| workload.0).collect()
}

/// Runs a workload for about `seconds` seconds, by turns with the bare loop, so that both meet the same machine. Returns
/// JSON: `cell_hops`, `seconds`, `cell_hops_per_second`, `floor_cell_hops_per_second` and `ratio`, the median of the turns.
///
/// Raises `ValueError` for an unknown workload.
#[pyfunction]
pub(crate) fn bench(py: Python<'_>, workload: &str, seconds: f64) -> PyResult<String> {
    let (name, text) = WORKLOADS
        .iter()
        .find(|candidate| candidate.0 == workload)
        .ok_or_else(|| PyValueError::new_err(format!("unknown workload {workload:?}")))?;
    let scenario = Scenario::from_toml(text, name, &[]).expect("the workloads are valid scenarios");
    let result = py.detach(|| measure(&scenario, Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))));
    Ok(result.to_string())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn measure(scenario: &Scenario, budget: Duration) -> serde_json::Value {
    let experiment = Experiment::new(scenario).expect("the workloads are valid scenarios");
    let start = Instant::now();
    let (mut turns, mut cell_hops, mut spent) = (Vec::new(), 0, 0.0);
    while turns.is_empty() || start.elapsed() < budget {
        let begin = Instant::now();
        let run = experiment.run(1, turns.len() as u64, Options::default(), &mut || false);
        let hops = run.map_or(0, |run| run.cell_hops);
        let seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let (floor_hops, checksum) = bare_merge(1000 * MILLISECOND);
        std::hint::black_box(checksum);
        let floor = floor_hops as f64 / begin.elapsed().as_secs_f64();
        let rate = hops as f64 / seconds;
        turns.push((rate / floor, rate, floor));
        cell_hops += hops;
        spent += seconds;
    }
    turns.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, rate, floor) = turns[turns.len() / 2];
    serde_json::json!({
        "cell_hops": cell_hops,
        "seconds": spent,
        "cell_hops_per_second": rate,
        "floor_cell_hops_per_second": floor,
        "ratio": ratio,
    })
}
