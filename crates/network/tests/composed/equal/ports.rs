//! Output ports that repeat the settings of switches, disciplines with nothing to choose, and memories that limit nothing.

use std::collections::BTreeMap;

use celltrain_network::scenario::{Framing, Link};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, everywhere, value, without_own},
};
use crate::draw::{Draw, put};

/// Each port says what holds for it.
fn repeated(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let mut text = case.text();
    for (_, link) in case.ports() {
        case.of_port(&mut text, link, "buffer", value(&link.buffer));
        case.of_port(&mut text, link, "discard", value(&*link.discard));
        case.of_port(&mut text, link, "scheduler", value(&*link.scheduler));
        if link.vc_buffer.unit().is_some() {
            case.of_port(&mut text, link, "vc-buffer", value(&link.vc_buffer));
        }
        if let Some(allocator) = &link.allocator {
            case.of_port(&mut text, link, "allocator", value(&**allocator));
        }
    }
    Pair::with(text)
}

/// The disciplines that serve what came first, if one VC is there alone.
const DISCIPLINES: [&str; 7] =
    ["fifo", "round-robin", "weighted-round-robin", "deficit-round-robin", "scfq", "wfq", "flow-queue"];

/// Whether a port's policy knows queues of VCs.
fn knows_queues(link: &Link) -> bool {
    ["fq-codel", "dualpi2"].contains(&link.discard.policy.name())
}

/// Another discipline where no category has two VCs.
fn another_discipline(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let (mut text, vcs, mut changed) = (case.text(), case.vcs(), false);
    for (number, link) in case.ports() {
        let mut of_category = BTreeMap::new();
        vcs[number].iter().for_each(|&vc| *of_category.entry(case.category(vc)).or_insert(0) += 1);
        let alone = !of_category.is_empty() && of_category.values().all(|&count| count == 1);
        let serves_in_order = link.scheduler.discipline.name() != "dual-queue" || case.has_no_ecn();
        if alone && serves_in_order && !knows_queues(link) && !case.is_parallel(link) {
            let mut scheduler = Table::new();
            put(&mut scheduler, "discipline", *draw.pick(&DISCIPLINES));
            case.of_port(&mut text, link, "scheduler", Value::Table(scheduler));
            changed = true;
        }
    }
    changed.then(|| Pair::with(text)).flatten()
}

/// Both disciplines at all ports of a scenario.
fn both(case: &Case<'_>, one: &str, other: &str) -> Option<Pair> {
    let of = |words: &str| {
        let mut text = case.text();
        everywhere(&mut text, "scheduler", words);
        text
    };
    let suits = !case.ports().any(|(_, link)| knows_queues(link));
    suits.then(|| Pair { one: Some(of(one)), other: of(other) })
}

/// A text whose ports have no limits but a memory without end.
fn one_memory(case: &Case<'_>) -> Option<Table> {
    let mut text = case.text();
    let suits = case.graph.links.iter().all(|link| link.allocator.is_none());
    put(&mut text, "switch.buffer", "unlimited");
    let switch = text["switch"].as_table_mut()?;
    switch.remove("vc-buffer");
    switch.remove("memory");
    for key in ["buffer", "vc-buffer"] {
        without_own(&mut text, key);
    }
    put(&mut text, "switch.memory.size", "unlimited");
    suits.then_some(text)
}

fn no_pause(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let one = one_memory(case)?;
    let mut other = one.clone();
    let level = if case.carries(Framing::Packets) { "4000000000 packets" } else { "4000000000 cells" };
    put(&mut other, "switch.memory.pause.xoff", level);
    put(&mut other, "switch.memory.pause.xon", level);
    Some(Pair { one: Some(one), other })
}

fn alpha_beside_pauses(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut one = one_memory(case)?;
    let unit = if case.carries(Framing::Packets) { "packets" } else { "cells" };
    let xoff = draw.count(300);
    put(&mut one, "switch.memory.pause.xoff", format!("{xoff} {unit}"));
    put(&mut one, "switch.memory.pause.xon", format!("{} {unit}", draw.whole(1, xoff)));
    let mut other = one.clone();
    put(&mut other, "switch.memory.alpha", draw.whole(1, 1000) as f64 / 64.0);
    Some(Pair { one: Some(one), other })
}

fn wide_memory(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let suits = case.spec.switch.memory.is_none()
        && case.carries(Framing::Cells)
        && case.graph.links.iter().all(|link| link.allocator.is_none());
    let mut text = case.text();
    put(&mut text, "switch.memory.size", "4294967296 cells");
    put(&mut text, "switch.memory.alpha", 1e6);
    suits.then(|| Pair::with(text)).flatten()
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "ports that repeat the settings of switches",
        because: "docs/reference/scenario.md, [[port]]: that of [switch] if not given",
        words: repeated,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "another discipline with one VC",
        because: "docs/reference/schedulers.md: between categories priority is strict; the discipline orders the VCs within each",
        words: another_discipline,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "dual-queue without ECN is fifo",
        because: "docs/reference/schedulers.md, dual-queue: packets that ask for low latency go first (ECT(1) or CE: RFC 9332)",
        words: |case, _| {
            let [fifo, dual] = ["discipline = \"fifo\"", "discipline = \"dual-queue\""];
            case.has_no_ecn().then(|| both(case, fifo, dual)).flatten()
        },
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "pauses at a level that is never reached",
        because: "docs/reference/scenario.md, switch.memory.pause: a link is paused while the switch holds more than xoff of what came on it",
        words: no_pause,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "another alpha beside pauses",
        because: "docs/reference/scenario.md, switch.memory.pause: a port may hold whatever is free, so that alpha has no effect",
        words: alpha_beside_pauses,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "a memory that is wide enough",
        because: "docs/reference/scenario.md, switch.memory.alpha: multiple of the free memory that a port may hold",
        words: wide_memory,
        apart: Apart::Nothing,
    },
];
