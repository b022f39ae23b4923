//! Requests and answers.

use toml::{Table, Value};

use crate::{
    draw::{Draw, put},
    short_flows::sizes,
};

/// The kind of traffic that is drawn by itself, so that its messages are of sizes that a run can carry.
pub(crate) const REQUESTS: &str = "request-response";

/// Makes some flows of some scenarios answer requests; whether it did.
pub(crate) fn ask(draw: &mut Draw, scenario: &mut Table) -> bool {
    if !draw.chance(0.2) {
        return false;
    }
    let flows = scenario.get("flow").and_then(Value::as_array).map_or(0, Vec::len);
    for place in (0..flows).filter(|_| draw.chance(0.4)).collect::<Vec<_>>() {
        let table = requests(draw);
        if let Some(flow) = scenario["flow"][place].as_table_mut() {
            put(flow, "traffic", table);
        }
    }
    if draw.chance(0.5) {
        put(scenario, "traffic", requests(draw));
    }
    true
}

/// `kind = "request-response"`.
fn requests(draw: &mut Draw) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", REQUESTS);
    for key in ["request", "response"] {
        put(&mut table, key, sizes(draw));
    }
    for key in ["service", "think"] {
        if draw.feature() {
            put(&mut table, key, draw.duration());
        }
        if draw.feature() {
            put(&mut table, &format!("{key}-distribution"), *draw.pick(&["fixed", "exponential", "pareto"]));
        }
    }
    if draw.feature() {
        put(&mut table, "start", draw.start());
    }
    table
}
