//! Ports and links of a scenario, and the fate of every cell at one of them.

use celltrain_atm::{cell::Kind, quantity::Capacity};
use celltrain_engine::time::{SECOND, seconds};
use celltrain_network::{
    live::{Live, Passage},
    scenario::{Framing, Graph, Link, NodeKind},
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict},
};
use serde_json::{Value, json};

use crate::{
    panic::caught,
    scenario::{Scenario, ScenarioError},
};

/// The ports of a scenario's switches as JSON: `name`, `policy`, `framing`, `rate` (bit/s), `capacity` in `unit` (null if unlimited),
/// and the discard policy's `levels` as pairs of key and units.
#[pyfunction]
pub(crate) fn ports(scenario: &Scenario) -> PyResult<String> {
    let graph = scenario.inner.graph().map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let of_switch = |link: &usize| graph.nodes[graph.links[*link].from].kind == NodeKind::Switch;
    let every: Vec<_> = (0..graph.links.len()).filter(of_switch).map(|link| port(&graph, link)).collect();
    Ok(Value::from(every).to_string())
}

/// All links of a scenario as JSON: the `name` of each and of the port before it, whether that is a `host`'s, `framing`, `rate` at the start
/// and `fastest` in the run (bit/s), whether that `changes`, `overhead`: octets added to each packet, or to each frame before it is cut into
/// cells, and the longest `delay` in the run (seconds).
#[pyfunction]
pub(crate) fn links(scenario: &Scenario) -> PyResult<String> {
    let graph = scenario.inner.graph().map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let of_frames = scenario.inner.spec().aal5.overhead;
    let link = |(index, link): (usize, &Link)| {
        let added = if link.framing == Framing::Packets { link.overhead } else { of_frames };
        json!({
            "name": graph.link_name(index),
            "host": graph.nodes[link.from].kind == NodeKind::Host,
            "framing": framing(link),
            "rate": link.rate.0 as f64,
            "fastest": link.fastest().0 as f64,
            "changes": link.changes_rate(),
            "overhead": added.0,
            "delay": seconds(link.longest_delay.ps()),
        })
    };
    let every: Vec<_> = graph.links.iter().enumerate().map(link).collect();
    Ok(Value::from(every).to_string())
}

fn framing(link: &Link) -> &'static str {
    if link.framing == Framing::Packets { "packets" } else { "cells" }
}

fn port(graph: &Graph, index: usize) -> Value {
    let link = &graph.links[index];
    let Capacity(capacity, unit) = link.buffer;
    let levels = link.discard.levels().into_iter().filter_map(|(key, level)| {
        let units = level.cells(link.buffer.units()).ok()?;
        Some(json!([key, units]))
    });
    json!({
        "name": graph.link_name(index),
        "policy": link.discard.policy.name(),
        "framing": framing(link),
        "rate": link.rate.0 as f64,
        "capacity": capacity,
        "unit": unit.to_string(),
        "levels": levels.collect::<Vec<_>>(),
    })
}

/// The fate of every cell that arrived at a port between two times (in seconds), or was in its buffer at the first: columns by name.
///
/// `arrived` and `left` are little-endian doubles in seconds, NaN where a cell was there before or still is.
///
/// Raises `ValueError` if the cells of the port cannot be told one by one.
#[pyfunction]
pub(crate) fn passages<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    port: &str,
    begin: f64,
    end: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let mut signal = Ok(());
    let work = || {
        let mut live = Live::new(scenario.inner.clone(), seed, replication)
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        let link = (0..live.graph().links.len()).find(|&link| live.graph().link_name(link) == port);
        let link = link.ok_or_else(|| PyValueError::new_err(format!("there is no port '{port}'")))?;
        let picoseconds = |seconds: f64| (seconds * SECOND as f64).round() as u64;
        let mut interrupt = || {
            signal = Python::attach(|py| py.check_signals());
            signal.is_err()
        };
        let found = live.passages(link, picoseconds(begin), picoseconds(end), &mut interrupt);
        let found = found.map_err(|why| PyValueError::new_err(why.unwrap_or_default()))?;
        let names: Vec<_> = live.graph().flows.iter().map(|flow| flow.name.clone()).collect();
        PyResult::Ok((found, names))
    };
    let worked = py.detach(|| caught(work));
    signal?;
    let (found, names) = worked?;
    columns(py, &found, &names)
}

fn columns<'py>(py: Python<'py>, found: &[Passage], names: &[String]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let times = |time: fn(&Passage) -> Option<u64>| {
        let seconds = |cell| time(cell).map_or(f64::NAN, |time| time as f64 / SECOND as f64);
        let bytes: Vec<u8> = found.iter().flat_map(|cell| seconds(cell).to_le_bytes()).collect();
        PyBytes::new(py, &bytes)
    };
    dict.set_item("flow", found.iter().map(|cell| names[cell.vc.flow].as_str()).collect::<Vec<_>>())?;
    dict.set_item("back", found.iter().map(|cell| cell.vc.back).collect::<Vec<_>>())?;
    dict.set_item("management", found.iter().map(|cell| cell.kind != Kind::Data).collect::<Vec<_>>())?;
    dict.set_item("frame", found.iter().map(|cell| cell.frame).collect::<Vec<_>>())?;
    dict.set_item("position", found.iter().map(|cell| cell.position).collect::<Vec<_>>())?;
    dict.set_item("length", found.iter().map(|cell| cell.length).collect::<Vec<_>>())?;
    dict.set_item("arrived", times(|cell| cell.arrived))?;
    dict.set_item("left", times(|cell| cell.left))?;
    dict.set_item("reason", found.iter().map(|cell| cell.reason.unwrap_or_default()).collect::<Vec<_>>())?;
    dict.set_item("broken", found.iter().map(|cell| cell.broken).collect::<Vec<_>>())?;
    dict.set_item("marked", found.iter().map(|cell| cell.marked).collect::<Vec<_>>())?;
    Ok(dict)
}
