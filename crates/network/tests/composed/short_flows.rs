//! Short flows, and the files that say when they come and how large they are.

use toml::{Table, Value};

use crate::draw::{Draw, picoseconds, put, tables};

/// The path of one of the files of this folder, as it is seen from where tests run.
pub(crate) fn file(name: &str) -> String {
    format!("tests/composed/workloads/{name}.csv")
}

/// The kind of traffic that is drawn by itself, as it is so common in use.
pub(crate) const SHORT_FLOWS: &str = "short-flows";

/// Makes some flows of some scenarios stand for short flows; whether it did.
pub(crate) fn shorten(draw: &mut Draw, scenario: &mut Table) -> bool {
    if !draw.chance(0.25) {
        return false;
    }
    let flows = scenario.get("flow").and_then(Value::as_array).map_or(0, Vec::len);
    let own: Vec<_> = (0..flows).filter(|_| draw.chance(0.4)).collect();
    let tables: Vec<_> = own.iter().map(|_| short_flows(draw)).collect();
    if let Some(Value::Array(flows)) = scenario.get_mut("flow") {
        for (place, table) in std::iter::zip(own, tables) {
            if let Some(flow) = flows[place].as_table_mut() {
                put(flow, "traffic", table);
            }
        }
    }
    if draw.chance(0.5) {
        put(scenario, "traffic", short_flows(draw));
    }
    true
}

/// `kind = "short-flows"`.
fn short_flows(draw: &mut Draw) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", SHORT_FLOWS);
    put(&mut table, "most-active", draw.count(20) as i64);
    if draw.feature() {
        put(&mut table, "start", draw.start());
    }
    if draw.chance(0.1) {
        put(&mut table, "trace", file("trace"));
        return table;
    }
    if draw.chance(0.2) {
        let mut at = 0.0;
        let flows = (0..draw.count(20)).map(|_| {
            at += draw.scale * draw.magnitude(0.001, 3.0);
            let mut flow = Table::new();
            put(&mut flow, "at", picoseconds(at));
            put(&mut flow, "bytes", format!("{} B", draw.count(200_000)));
            flow
        });
        put(&mut table, "trace", tables(flows.collect()));
        return table;
    }
    put(&mut table, "size", sizes(draw));
    if draw.chance(0.7) {
        put(&mut table, "load", (draw.magnitude(0.01, 2.0) * 1e4).round() / 1e4);
    } else {
        put(&mut table, "every", picoseconds((draw.scale * draw.magnitude(0.01, 3.0)).max(2e6)));
    }
    if draw.chance(0.3) {
        put(&mut table, "arrivals", *draw.pick(&["poisson", "regular"]));
    }
    table
}

/// A distribution of sizes.
pub(crate) fn sizes(draw: &mut Draw) -> Table {
    let mut table = Table::new();
    let size = draw.count(100_000);
    let kind = *draw.pick(&["fixed", "exponential", "pareto", "measured"]);
    put(&mut table, "kind", kind);
    match kind {
        "fixed" => put(&mut table, "bytes", format!("{size} B")),
        "exponential" => put(&mut table, "mean", format!("{size} B")),
        "pareto" => {
            put(&mut table, "shape", (draw.magnitude(0.2, 5.0) * 1e3).round() / 1e3);
            put(&mut table, "minimum", format!("{size} B"));
            put(&mut table, "maximum", format!("{} B", size + draw.count(1_000_000)));
        }
        _ if draw.chance(0.3) => put(&mut table, "points", file("sizes")),
        _ => {
            let point = |bytes: u64, share: f64| Value::Array(vec![(bytes as f64).into(), share.into()]);
            put(&mut table, "points", Value::Array(vec![point(size, 0.4), point(size + 500, 1.0)]));
        }
    }
    table
}
