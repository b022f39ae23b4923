//! Requests and answers.

use toml::{Table, Value};

use crate::{
    draw::{Draw, put},
    schema::Schema,
    short_flows::sizes,
};

/// The kind of traffic that is drawn by itself, so that its messages are of sizes that a run can carry.
pub(crate) const REQUESTS: &str = "request-response";

/// Makes some flows of some scenarios answer requests; whether it did.
pub(crate) fn ask(draw: &mut Draw, schema: &Schema, scenario: &mut Table) -> bool {
    if !draw.chance(0.2) {
        return false;
    }
    let flows = scenario.get("flow").and_then(Value::as_array).map_or(0, Vec::len);
    for place in (0..flows).filter(|_| draw.chance(0.4)).collect::<Vec<_>>() {
        let table = requests(draw, schema);
        if let Some(flow) = scenario["flow"][place].as_table_mut() {
            put(flow, "traffic", table);
        }
    }
    if draw.chance(0.5) {
        put(scenario, "traffic", requests(draw, schema));
    }
    true
}

/// `kind = "request-response"`.
fn requests(draw: &mut Draw, schema: &Schema) -> Table {
    let forms = schema.forms("traffic");
    let (_, form) = forms.iter().find(|(kind, _)| *kind == REQUESTS).expect("the schema has requests");
    let mut table = schema.table(draw, form);
    for key in ["request", "response"] {
        put(&mut table, key, sizes(draw));
    }
    table
}
