//! Packets of the size of a cell.

use celltrain_engine::quantity::BitRate;
use celltrain_network::scenario::{Framing, Link, Scenario};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, entries},
};
use crate::draw::{Draw, bits_per_second, put};

/// A rate at which an octet takes a whole number of picoseconds, and so does a cell: a power of ten.
pub(super) fn even(rate: f64) -> f64 {
    libm::pow(10.0, libm::round(libm::log10(rate)).clamp(4.0, 11.0))
}

/// Rounds all rates of links, which must not be said in cells.
pub(super) fn round_rates(part: &mut Value) {
    match part {
        Value::Table(table) => table.iter_mut().for_each(|(_, part)| round_rates(part)),
        Value::Array(parts) => parts.iter_mut().for_each(round_rates),
        Value::String(text) => {
            if let Ok(rate) = text.parse::<BitRate>() {
                *text = bits_per_second(even(rate.0 as f64));
            }
        }
        _ => {}
    }
}

/// Says of packets what is said of cells.
fn of_packets(part: &mut Value) {
    match part {
        Value::Table(table) => table.iter_mut().for_each(|(key, part)| match (key.as_str(), &part) {
            ("framing", _) => *part = "packets".into(),
            _ => of_packets(part),
        }),
        Value::Array(parts) => parts.iter_mut().for_each(of_packets),
        Value::String(text) => {
            if let Some(number) = text.strip_suffix(" cells").filter(|number| number.parse::<u64>().is_ok()) {
                *text = format!("{number} packets");
            }
        }
        _ => {}
    }
}

/// Sources of single cells, and of packets of 53 octets.
fn packets_of_a_cell(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut one = case.text();
    for key in ["link", "topology", "link-override"] {
        if let Some(part) = one.get_mut(key) {
            round_rates(part);
        }
    }
    put(&mut one, "link.rate-spread", "0 ppm");
    let fastest = case.graph.links.iter().map(|link| link.rate.0).max()? as f64;
    let share = *draw.pick(&[1.0, 0.5, 0.25, 0.2, 0.1, 0.05]);
    let rate = bits_per_second(even(fastest) * share);
    let mut traffic = Table::new();
    match draw.whole(0, 3) {
        0 => {
            put(&mut traffic, "kind", "poisson");
            put(&mut traffic, "rate", rate);
        }
        1 => {
            put(&mut traffic, "kind", "bernoulli");
            put(&mut traffic, "peak", rate);
            put(&mut traffic, "probability", draw.unit());
        }
        _ => {
            put(&mut traffic, "kind", "cbr");
            put(&mut traffic, "rate", rate);
        }
    }
    put(&mut one, "traffic", traffic);
    // As long as a frame may be: packets are one of any length.
    put(&mut one, "vc.mfs", 1);
    for key in ["loss", "abr"] {
        one.remove(key);
    }
    for key in ["flow", "group"] {
        for entry in entries(&mut one, key).iter_mut().filter_map(Value::as_table_mut) {
            ["traffic", "abr", "tcp", "vc"].into_iter().for_each(|key| _ = entry.remove(key));
        }
    }
    let bare = Scenario::from_toml(&toml::to_string(&one).ok()?, "cells.toml", &[]).ok()?.graph().ok()?;
    if bare.flows.iter().any(|flow| flow.traffic.uses_tcp()) {
        return None;
    }
    let mut other = Value::Table(one.clone());
    of_packets(&mut other);
    let Value::Table(mut other) = other else { return None };
    put(&mut other, "link.framing", "packets");
    put(&mut other, "link.overhead", "0 B");
    put(&mut other, "traffic.packet", "53 B");
    // What a turn of these is worth is said in octets.
    let in_octets =
        |link: &Link| ["deficit-round-robin", "flow-queue"].contains(&link.scheduler.discipline.name());
    // To these a cell that ends a frame is an end mark, and a packet is none.
    let end_marks = case.has_policy(&["espd", "espd-original"]);
    let suits = case.carries(Framing::Cells)
        && !end_marks
        && !case.ports().any(|(_, link)| in_octets(link))
        && case.graph.flows.iter().all(|flow| flow.abr.is_none())
        && case.graph.links.iter().all(|link| link.allocator.is_none());
    suits.then_some(Pair { one: Some(one), other })
}

pub(super) const ALL: &[Equivalence] = &[Equivalence {
    name: "packets of the size of a cell",
    because: "docs/reference/scenario.md, framing: packets take the time of their bytes; a cell has 53",
    words: packets_of_a_cell,
    // Quantiles are as exact as what a frame takes beyond the idle path, which is of whole picoseconds.
    apart: Apart::Fingerprint(&[
        "counted",
        "buffer_unit",
        "goodput",
        "throughput",
        "excess",
        "excess_of_equal_part",
        "excess_of_weighted_part",
        "bytes_delivered",
        "delay_variation",
        "transfer_delay_p50",
        "transfer_delay_p95",
        "transfer_delay_p99",
    ]),
}];
