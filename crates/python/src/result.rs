//! Runs and their results.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use celltrain_network::{
    Experiment, Options,
    capture::Capture,
    measures::Series,
    table::{Column, Table, Texts},
};
use pyo3::{
    exceptions::PyValueError,
    import_exception,
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyString},
};

use crate::{
    memory::GiveBack,
    panic::caught,
    scenario::{Scenario, refuse},
};

import_exception!(celltrain.errors, Cancelled);

/// Cancels runs from another thread.
#[pyclass(frozen, module = "celltrain._core")]
#[derive(Debug, Default)]
pub(crate) struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Cancels all runs that were given this token, soon.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What came out of one replication.
#[pyclass(frozen, module = "celltrain._core")]
#[derive(Debug)]
pub(crate) struct RunResult {
    inner: celltrain_network::RunResult,
}

/// A series: entity, metric, unit, times in seconds and values, the last two as little-endian doubles.
type SeriesColumns<'py> = (String, &'static str, &'static str, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl RunResult {
    /// Changes when anything that happened changes; 16 hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.inner.fingerprint)
    }

    /// Cells that arrived at a port, summed over all ports and the whole run.
    #[getter]
    fn cell_hops(&self) -> u64 {
        self.inner.cell_hops
    }

    /// That it ran on fewer threads than it was to, if the system had no more.
    #[getter]
    fn fewer_threads(&self) -> Option<&str> {
        self.inner.fewer_threads.as_deref()
    }

    /// Metrics of the whole network: (name, value, unit).
    #[getter]
    fn summary(&self) -> Vec<(&'static str, f64, &'static str)> {
        self.inner.summary.iter().map(|metric| (metric.name, metric.value, metric.unit)).collect()
    }

    /// One row per flow, as columns: `array.array`s of numbers and lists of texts.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.inner.flows)
    }

    /// One row per port, as columns.
    #[getter]
    fn ports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.inner.ports)
    }

    /// One row per event of a TCP sender, as columns, if they were asked for.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.inner.events)
    }

    /// One row per bin of a distribution, as columns; empty unless the scenario asks for them.
    #[getter]
    fn distributions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.inner.distributions.counts("low").is_empty() {
            return Ok(PyDict::new(py));
        }
        columns(py, &self.inner.distributions)
    }

    /// Units of the columns of `flows` and `ports`.
    #[getter]
    fn units(&self) -> Vec<(&'static str, &'static str)> {
        let tables = [&self.inner.flows, &self.inner.ports];
        tables.iter().flat_map(|table| table.columns()).map(|(name, unit, _)| (*name, *unit)).collect()
    }

    /// Captures: (place, "packets" or "cells", pcap file).
    #[getter]
    fn captures<'py>(&self, py: Python<'py>) -> Vec<(String, &'static str, Bound<'py, PyBytes>)> {
        let capture = |capture: &Capture| {
            (capture.place.clone(), capture.content.name(), PyBytes::new(py, &capture.bytes))
        };
        self.inner.captures.iter().map(capture).collect()
    }

    /// Series of a traced run.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> Vec<SeriesColumns<'py>> {
        let bytes = |values: &[f64]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        // Most are sampled at the same times: those share one object, which saves half of the memory.
        let mut shared: Option<(&[f64], Bound<'py, PyBytes>)> = None;
        let mut rows = Vec::with_capacity(self.inner.series.len());
        for Series { entity, metric, unit, times, values, .. } in &self.inner.series {
            let known = shared.take().filter(|(known, _)| known == times);
            let (_, times) = shared.insert(known.unwrap_or_else(|| (times, bytes(times))));
            rows.push((entity.clone(), *metric, *unit, times.clone(), bytes(values)));
        }
        rows
    }
}

fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, _, column) in table.columns() {
        match column {
            Column::Text(values) => dict.set_item(name, strings(py, values)?)?,
            Column::Count(values) => {
                let count = |&count| i64::try_from(count).expect("a count is less than 2^63").to_ne_bytes();
                dict.set_item(name, array(py, 'q', values.iter().flat_map(count))?)?;
            }
            Column::Number(values) => {
                let number = |number: &f64| number.to_ne_bytes();
                dict.set_item(name, array(py, 'd', values.iter().flat_map(number))?)?;
            }
        }
    }
    Ok(dict)
}

/// A list of texts. Neighbours that are equal are one object: a network may have very many rows.
fn strings<'py>(py: Python<'py>, texts: &Texts) -> PyResult<Bound<'py, PyList>> {
    let mut before: Option<(&str, Bound<'py, PyString>)> = None;
    let same = |text| {
        let known = before.take().filter(|(known, _)| *known == text);
        let string = known.map_or_else(|| PyString::new(py, text), |(_, string)| string);
        before.insert((text, string)).1.clone()
    };
    PyList::new(py, texts.iter().map(same))
}

/// An `array.array` of what these bytes are: a list would take four times as much memory, and a network may have very many rows.
fn array(py: Python<'_>, kind: char, bytes: impl Iterator<Item = u8>) -> PyResult<Bound<'_, PyAny>> {
    let bytes = PyBytes::new(py, &bytes.collect::<Vec<_>>());
    py.import("array")?.getattr("array")?.call1((kind, bytes))
}

/// Runs replication `replication` of a scenario under `seed`, without the GIL; `trace` keeps series, `events` what happened to
/// TCP senders. `packets_at` names hosts and `cells_on` links to be captured. A run that is large enough to gain from it is shared out
/// among up to `cores` threads; what comes of it does not depend on that.
///
/// Raises `Cancelled` if `cancel` is cancelled before the end, `ValueError` if something cannot be captured, `Panic` if the
/// run finds the simulator wrong; `panics` lets it do so, for tests.
#[pyfunction]
#[pyo3(signature = (
    scenario, seed, replication, *, trace = false, events = false, packets_at = Vec::new(), cells_on = Vec::new(), cancel = None,
    cores = 1, panics = false
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    trace: bool,
    events: bool,
    packets_at: Vec<String>,
    cells_on: Vec<String>,
    cancel: Option<&CancelToken>,
    cores: usize,
    panics: bool,
) -> PyResult<RunResult> {
    let cancelled = cancel.map(|token| Arc::clone(&token.cancelled));
    let mut interrupt = || {
        assert!(!panics, "a panic\nthat a test asked for");
        cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    };
    let stopped = || Cancelled::new_err("the run was cancelled");
    let work = || {
        let experiment = Experiment::new_unless(&scenario.inner, &mut interrupt).map_err(refuse)?;
        let mut experiment = experiment.ok_or_else(stopped)?;
        experiment
            .capture(&packets_at, &cells_on)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let options = Options { trace, ..Options::default() };
        let network = experiment.network_unless(seed, replication, options, &mut interrupt);
        let result = network.and_then(|mut network| {
            if events {
                network.record_events();
            }
            experiment.use_threads(&mut network, cores);
            experiment.run_network(network, &mut interrupt)
        });
        result.ok_or_else(|| {
            experiment.discard();
            stopped()
        })
    };
    let result = py.detach(|| {
        let _memory = GiveBack(scenario.links);
        caught(work)
    });
    result.map(|inner| RunResult { inner })
}
