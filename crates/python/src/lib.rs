//! The Python module `celltrain._core`: converts, releases the GIL, nothing clever.

use pyo3::prelude::*;

mod bench;
mod memory;
mod panic;
mod passages;
mod rates;
mod result;
mod scenario;

/// The compiled core of celltrain.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{
        bench::{bench, bench_workloads},
        panic::Panic,
        passages::{links, passages, ports},
        rates::max_min,
        result::{CancelToken, RunResult, run},
        scenario::{Scenario, disciplines, file_keys, measures, plan_schema, policies, schema},
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "named as the version is")]
    const __source__: &str = env!("CELLTRAIN_SOURCE");
}
