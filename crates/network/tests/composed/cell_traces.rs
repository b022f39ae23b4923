//! Sources that send at recorded times.

use toml::{Table, Value};

use crate::{
    draw::{Draw, picoseconds, put},
    short_flows::file,
};

/// The kind of traffic that is drawn by itself, as its times are in order.
pub(crate) const TRACE: &str = "trace";

/// Now and then a `kind = "trace"` that sends packets, or cells.
pub(crate) fn recorded(draw: &Draw, packets: bool) -> Option<Table> {
    let mut draw = draw.beside("cell trace");
    if !draw.chance(0.12) {
        return None;
    }
    let mut table = Table::new();
    put(&mut table, "kind", TRACE);
    let name = *draw.pick(&["times", "gaps"]);
    if draw.chance(0.3) {
        put(&mut table, name, file(&format!("cells-{name}")));
    } else {
        put(&mut table, name, list(&mut draw, name == "times"));
    }
    if packets || draw.chance(0.3) {
        put(&mut table, "packet", format!("{} B", 39 + draw.count(9_000)));
        let mut fields = draw.beside("ECN fields");
        if fields.feature() {
            put(&mut table, "ecn", *fields.pick(&["ect0", "ect1"]));
        }
    } else if draw.feature() {
        put(&mut table, "frame", draw.count(40) as i64);
    }
    if draw.feature() {
        put(&mut table, "start", draw.start());
    }
    Some(table)
}

/// Times between units, or from the start on; some are none, so that several units are sent at once.
fn list(draw: &mut Draw, summed: bool) -> Value {
    let mut at = 0.0;
    let count = draw.count(200);
    let times = (0..count).map(|_| {
        let gap = if draw.chance(0.2) { 0.0 } else { (draw.scale * draw.magnitude(1e-4, 0.3)).floor() };
        at = if summed { at + gap } else { gap };
        Value::from(picoseconds(at))
    });
    times.collect::<Vec<_>>().into()
}
