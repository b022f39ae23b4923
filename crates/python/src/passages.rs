//! Ports and links of a scenario, and the fate of every cell at one of them.

use std::collections::HashMap;

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
use serde::Serialize;

use crate::{
    panic::caught,
    scenario::{Scenario, refuse},
};

/// A port of a switch, as [`ports`] writes it.
#[derive(Serialize)]
struct PortFacts {
    name: String,
    policy: &'static str,
    framing: &'static str,
    rate: f64,
    capacity: Option<u64>,
    unit: String,
    levels: Vec<(&'static str, u64)>,
}

/// The ports of a scenario's switches as JSON: `name`, `policy`, `framing`, `rate` (bit/s), `capacity` in `unit` (null if unlimited),
/// and the discard policy's `levels` as pairs of key and units.
#[pyfunction]
pub(crate) fn ports(scenario: &Scenario) -> PyResult<String> {
    let (_memory, graph) = scenario.glance()?;
    let of_switch = |link: &usize| graph.nodes[graph.links[*link].from].kind == NodeKind::Switch;
    let every = (0..graph.links.len()).filter(of_switch).map(|link| port(&graph, link));
    Ok(serde_json::to_string(&every.collect::<Vec<_>>()).expect("names and finite numbers can be written"))
}

fn framing(link: &Link) -> &'static str {
    if link.framing == Framing::Packets { "packets" } else { "cells" }
}

fn port(graph: &Graph, index: usize) -> PortFacts {
    let link = &graph.links[index];
    let Capacity(capacity, unit) = link.buffer;
    let levels = link.discard.levels().into_iter();
    let levels = levels.filter_map(|(key, level)| Some((key, level.cells(link.buffer.units()).ok()?)));
    PortFacts {
        name: graph.link_name(index),
        policy: link.discard.policy.name(),
        framing: framing(link),
        rate: link.rate.0 as f64,
        capacity,
        unit: unit.to_string(),
        levels: levels.collect(),
    }
}

/// What may be equal among links: whether the port before it is a host's, framing, rate at the start and highest in the run (bit/s), whether it
/// changes, octets added to each packet, or to each frame before it is cut into cells, and the longest delay in the run (seconds).
type LinkFacts = (bool, &'static str, f64, f64, bool, u64, f64);

/// The name of each link, which is that of the port before it, with the place of its kind, and the kinds.
type Links = (Vec<(String, usize)>, Vec<LinkFacts>);

/// All links of a scenario. A network may have very many, and they are of few kinds.
#[pyfunction]
pub(crate) fn links(scenario: &Scenario) -> PyResult<Links> {
    let (_memory, graph) = scenario.glance()?;
    let of_frames = scenario.inner.spec().aal5.overhead;
    let facts = |link: &Link| {
        let added = if link.framing == Framing::Packets { link.overhead } else { of_frames };
        let is_host = graph.nodes[link.from].kind == NodeKind::Host;
        let (rate, fastest) = (link.rate.0 as f64, link.fastest().0 as f64);
        let delay = seconds(link.longest_delay.ps());
        (is_host, framing(link), rate, fastest, link.changes_rate(), added.0, delay)
    };
    let (mut kinds, mut places) = (Vec::new(), HashMap::new());
    let mut kind = |facts: LinkFacts| {
        let (is_host, framing, rate, fastest, changes, added, delay) = facts;
        let key = (is_host, framing, [rate, fastest, delay].map(f64::to_bits), changes, added);
        *places.entry(key).or_insert_with(|| {
            kinds.push(facts);
            kinds.len() - 1
        })
    };
    let every = graph.links.iter().enumerate();
    let every = every.map(|(index, link)| (graph.link_name(index), kind(facts(link)))).collect();
    Ok((every, kinds))
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
        let mut live = Live::new(scenario.inner.clone(), seed, replication).map_err(refuse)?;
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
