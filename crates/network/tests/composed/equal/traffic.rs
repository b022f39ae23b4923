//! Kinds of traffic that are others at some of their parameters.

use celltrain_engine::quantity::Duration;
use celltrain_network::scenario::{Flow, Framing};
use celltrain_tcp::CongestionKind;
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, is_greedy, traffics, value},
};
use crate::draw::{Draw, put};

/// Says what flows carry in other words, where `change` has some.
fn in_other_words(case: &Case<'_>, change: impl Fn(&mut Table) -> bool) -> Option<Pair> {
    let mut text = case.text();
    let mut changed = false;
    traffics(&mut text).into_iter().for_each(|traffic| changed |= change(traffic));
    changed.then(|| Pair::with(text)).flatten()
}

fn is(traffic: &Table, kind: &str) -> bool {
    traffic.get("kind").and_then(Value::as_str) == Some(kind)
}

/// Each slot holds a cell.
fn full_slots(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    in_other_words(case, |traffic| {
        let suits = is(traffic, "cbr");
        if suits && let Some(rate) = traffic.remove("rate") {
            put(traffic, "kind", "bernoulli");
            put(traffic, "peak", rate);
            put(traffic, "probability", 1.0);
        }
        suits
    })
}

/// More to send than a run can.
fn enough_to_send(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    // A connection that stops still delivers what it was given.
    let any = case.graph.flows.iter().any(is_greedy);
    let stops = case.graph.flows.iter().any(|flow| flow.stop.is_some());
    let changed = in_other_words(case, |traffic| {
        let suits = is(traffic, "greedy");
        if suits {
            put(traffic, "kind", "finite");
            put(traffic, "bytes", "1 TB");
        }
        suits
    });
    changed.filter(|_| any && !stops)
}

/// Whether no flow closes its connection.
fn nobody_closes(case: &Case<'_>) -> bool {
    !case.graph.flows.iter().any(|flow| flow.traffic.uses_tcp() && flow.tcp.fin)
}

/// One burst.
fn one_burst(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let changed = in_other_words(case, |traffic| {
        let suits = is(traffic, "finite");
        if suits {
            put(traffic, "kind", "bursty");
            put(traffic, "every", "1000000 s");
        }
        suits
    });
    changed.filter(|_| nobody_closes(case))
}

/// One short flow.
fn one_short_flow(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    // Each connection has random numbers of its own, by its place among short flows.
    let draws =
        |flow: &Flow| flow.tcp.congestion_control == CongestionKind::Bbr || flow.tcp.processing_spread > 0;
    let any = case.graph.flows.iter().any(draws);
    let changed = in_other_words(case, |traffic| {
        let suits = is(traffic, "finite");
        if suits && let Some(bytes) = traffic.remove("bytes") {
            let mut flow = Table::new();
            put(&mut flow, "at", "0 s");
            put(&mut flow, "bytes", bytes);
            put(traffic, "kind", "short-flows");
            put(traffic, "trace", Value::Array(vec![flow.into()]));
        }
        suits
    });
    changed.filter(|_| !any)
}

/// Packets of one size, for flows that say nothing of their own.
fn one_size(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let mut traffic = Table::new();
    put(&mut traffic, "kind", "poisson");
    put(&mut traffic, "rate", draw.source_rate());
    put(&mut traffic, "packet", format!("{} B", draw.whole(400, 3000)));
    let one = with_traffic(case, traffic);
    let mut other = one.clone();
    put(&mut other, "traffic.packet-distribution", "fixed");
    case.carries(Framing::Packets).then_some(Pair { one: Some(one), other })
}

/// A constant rate and recorded times, for flows that say nothing of their own.
fn as_recorded(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let duration = case.spec.duration.0;
    // Slots of whole picoseconds, and cells by the thousand.
    let slot = (duration / draw.whole(5, 2000)).max(1_000);
    let slot = 1_000 << (slot / 1_000).ilog2();
    let frame = draw.whole(1, 40) as i64;
    let of = |kind: &str, key: &str, what: Value| {
        let mut traffic = Table::new();
        put(&mut traffic, "kind", kind);
        put(&mut traffic, "frame", frame);
        put(&mut traffic, key, what);
        with_traffic(case, traffic)
    };
    let times = (0..=duration / slot).map(|cell| value(&Duration(cell * slot)));
    let other = of("trace", "times", Value::Array(times.collect()));
    let one = of("cbr", "rate", format!("{} bit/s", 424_000_000_000_000 / slot).into());
    // A source at a constant rate has the clock of its link.
    let suits = case.spec.link.rate_spread.0 == 0 && 424_000_000_000_000 % slot == 0;
    (suits && case.carries(Framing::Cells)).then_some(Pair { one: Some(one), other })
}

/// The scenario with another `[traffic]`.
fn with_traffic(case: &Case<'_>, traffic: Table) -> Table {
    let mut text = case.text();
    put(&mut text, "traffic", traffic);
    // Segments of TCP may be none.
    text.remove("loss");
    text
}

/// Gaps in place of times.
fn gaps(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    in_other_words(case, |traffic| {
        let Some(Value::Array(times)) = traffic.remove("times") else { return false };
        let parse = |time: &Value| time.as_str()?.parse::<Duration>().ok();
        let times: Vec<_> = times.iter().filter_map(parse).collect();
        let before = std::iter::once(0).chain(times.iter().map(|time| time.0));
        let gaps = std::iter::zip(&times, before).map(|(time, before)| value(&Duration(time.0 - before)));
        put(traffic, "gaps", Value::Array(gaps.collect()));
        true
    })
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "slots that all hold a cell are cbr",
        because: "docs/reference/scenario.md, bernoulli: cells in slots that each hold one with the same probability",
        words: full_slots,
        apart: Apart::Columns(&["kind"]),
    },
    Equivalence {
        name: "more to send than a run can is greedy",
        because: "docs/reference/scenario.md, greedy: TCP that always has data to send",
        words: enough_to_send,
        apart: Apart::Columns(&["kind", "flows_unfinished"]),
    },
    Equivalence {
        name: "one burst is a transfer",
        because: "docs/reference/scenario.md, bursty: TCP that is given an amount of data at regular times",
        words: one_burst,
        apart: Apart::Transfers,
    },
    Equivalence {
        name: "one short flow is a transfer",
        because: "docs/reference/scenario.md, short-flows: TCP connections, each with an amount of data of its own",
        words: one_short_flow,
        apart: Apart::Transfers,
    },
    Equivalence {
        name: "packets of one size",
        because: "docs/reference/scenario.md, packet-distribution: always the same",
        words: one_size,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "a constant rate as recorded times",
        because: "docs/reference/scenario.md, trace.times: when each cell or packet is sent, counted from `start`",
        words: as_recorded,
        apart: Apart::Columns(&["kind"]),
    },
    Equivalence {
        name: "gaps in place of times",
        because: "docs/reference/scenario.md, trace.gaps: the time of each cell or packet since the one before",
        words: gaps,
        apart: Apart::Nothing,
    },
];
