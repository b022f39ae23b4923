//! What happened to the senders, as a table and as series.

use celltrain_engine::time::seconds;
use celltrain_tcp::{Event, EventKind};
use serde_json::Value;

use crate::{
    measures::Series,
    table::{Column, Table},
};

/// The events of all flows, in the order of time and then of the flows.
#[derive(Debug, Default)]
pub(crate) struct Events {
    rows: Vec<Row>,
    pub(crate) series: Vec<Series>,
}

#[derive(Debug)]
struct Row {
    at: u64,
    flow: String,
    event: String,
    cause: String,
    position: f64,
    detail: String,
}

impl Events {
    /// Adds the events of a flow. Segments, acknowledgements and round trips, of which there are many, become series; the
    /// rest are rows of the table.
    pub(crate) fn add(&mut self, flow: &str, events: &[Event]) {
        let names =
            [("sent", "B"), ("retransmitted", "B"), ("acknowledged", "B"), ("rtt", "s"), ("ssthresh", "B")];
        let mut points = names.map(|_| (Vec::new(), Vec::new()));
        for event in events {
            let mut add = |series: usize, value| {
                points[series].0.push(seconds(event.at));
                points[series].1.push(value);
            };
            match event.kind {
                EventKind::Sent { seq, retransmission, .. } => add(usize::from(retransmission), seq as f64),
                EventKind::Acknowledged { ack, .. } => add(2, ack as f64),
                EventKind::RttSample { rtt, .. } => add(3, seconds(rtt)),
                _ => self.rows.push(row(flow, event)),
            }
            if let Some(threshold) = slow_start_threshold(&event.kind) {
                add(4, threshold as f64);
            }
        }
        for ((metric, unit), (times, values)) in std::iter::zip(names, points) {
            self.series.push(Series { entity: flow.to_owned(), metric, unit, times, values });
        }
    }

    /// The table: when, which flow, what, why, where in the data (the byte sent or acknowledged), and the rest in words.
    pub(crate) fn table(mut self) -> Table {
        self.rows.sort_by_key(|row| row.at);
        let text = |get: fn(&Row) -> &String| Column::texts(self.rows.iter().map(get));
        Table::new(vec![
            ("t", "s", Column::Number(self.rows.iter().map(|row| seconds(row.at)).collect())),
            ("flow", "", text(|row| &row.flow)),
            ("event", "", text(|row| &row.event)),
            ("cause", "", text(|row| &row.cause)),
            ("position", "B", Column::Number(self.rows.iter().map(|row| row.position).collect())),
            ("detail", "", text(|row| &row.detail)),
        ])
    }
}

/// The slow-start threshold after an event, if the event tells it.
fn slow_start_threshold(event: &EventKind) -> Option<u64> {
    match *event {
        EventKind::Acknowledged { ssthresh, .. }
        | EventKind::FastRetransmit { ssthresh, .. }
        | EventKind::EcnReduction { ssthresh, .. } => Some(ssthresh),
        EventKind::Timeout { ssthresh, .. } => ssthresh,
        _ => None,
    }
}

/// A row says what the event's own fields say, by their names.
fn row(flow: &str, event: &Event) -> Row {
    let mut fields = match serde_json::to_value(event.kind) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("an event is a table of fields"),
    };
    let mut text = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (name, cause) = (text("event"), text("cause"));
    let position = fields.remove("seq").or_else(|| fields.remove("ack")).and_then(|value| value.as_f64());
    // Times are in picoseconds, the rest are bytes and counts.
    let detail: Vec<_> = fields
        .iter()
        .map(|(key, value)| match (key.as_str(), value.as_u64()) {
            ("rto" | "next_rto" | "idle", Some(time)) => format!("{key}={} s", seconds(time)),
            _ => format!("{key}={value}"),
        })
        .collect();
    let position = position.unwrap_or(f64::NAN);
    Row { at: event.at, flow: flow.to_owned(), event: name, cause, position, detail: detail.join(" ") }
}
