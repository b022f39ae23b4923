//! Whole distributions of a run: transfer delays, response times, completion times of short flows and finite transfers, and occupancies of
//! ports over time.

use celltrain_engine::{Time, time::SECOND};

use super::{
    completions::{Completion, Completions},
    flows::{category, kind},
};
use crate::{
    measures::{
        Delays, Histogram, Together,
        histogram::{highest_of, lowest_of},
        registry,
    },
    port::{Location, Port},
    scenario::{Flow, Graph, Traffic},
    table::{Column, Table, Texts},
};

/// The rows of the table so far.
#[derive(Default)]
struct Rows {
    over: Texts,
    entity: Texts,
    measure: Texts,
    unit: Texts,
    low: Vec<u64>,
    high: Vec<u64>,
    weight: Vec<u64>,
    weight_unit: Texts,
    share_above: Vec<f64>,
}

/// What the rows of one distribution have in common.
struct Of<'a> {
    over: &'a str,
    entity: &'a str,
    measure: &'a str,
    unit: &'a str,
    weight_unit: &'a str,
}

impl Rows {
    /// Adds a distribution: bins with their weights, ascending.
    fn add(&mut self, of: &Of<'_>, bins: impl Iterator<Item = (usize, u64)>) {
        let bins: Vec<_> = bins.collect();
        let total: u64 = bins.iter().map(|&(_, weight)| weight).sum();
        let mut above = total;
        for (bin, weight) in bins {
            above -= weight;
            let texts = [
                (&mut self.over, of.over),
                (&mut self.entity, of.entity),
                (&mut self.measure, of.measure),
                (&mut self.unit, of.unit),
                (&mut self.weight_unit, of.weight_unit),
            ];
            texts.into_iter().for_each(|(column, text)| column.push(text));
            self.low.push(lowest_of(bin));
            self.high.push(highest_of(bin));
            self.weight.push(weight);
            self.share_above.push(above as f64 / total as f64);
        }
    }

    fn add_delays(&mut self, over: &str, entity: &str, delays: &Histogram) {
        let of = Of { over, entity, measure: "transfer_delay", unit: "ps", weight_unit: "frames" };
        self.add(&of, delays.bins());
    }

    fn add_responses(&mut self, over: &str, entity: &str, responses: &Histogram) {
        let of = Of { over, entity, measure: "response_time", unit: "ps", weight_unit: "requests" };
        self.add(&of, responses.bins());
    }

    /// Adds the completion times of short flows and finite transfers.
    fn add_completions(&mut self, over: &str, entity: &str, done: &[Completion]) {
        let mut times = Histogram::default();
        done.iter().for_each(|flow| times.add((flow.time * SECOND as f64).round() as Time));
        let of = Of { over, entity, measure: "flow_completion_time", unit: "ps", weight_unit: "transfers" };
        self.add(&of, times.bins());
    }

    fn table(self) -> Table {
        Table::of(
            registry::DISTRIBUTION,
            vec![
                ("over", Column::Text(self.over)),
                ("entity", Column::Text(self.entity)),
                ("measure", Column::Text(self.measure)),
                ("unit", Column::Text(self.unit)),
                ("low", Column::Count(self.low)),
                ("high", Column::Count(self.high)),
                ("weight", Column::Count(self.weight)),
                ("weight_unit", Column::Text(self.weight_unit)),
                ("share_above", Column::Number(self.share_above)),
            ],
        )
    }
}

/// The distributions of the transfer delays of `flows`, of each kind and category of them and of all, of the response times of requests and of the
/// completion times of transfers, of each flow that may have several and of all, and of the occupancies of those `ports` that were told to follow theirs during the `window`.
pub(super) fn distribution_table<'a>(
    flows: &[Flow],
    delays: &[Option<&Delays>],
    (responses, completions): (&[Option<&Delays>], Option<&Completions>),
    ports: impl Iterator<Item = &'a Port>,
    graph: &Graph,
    window: Time,
) -> Table {
    let mut rows = Rows::default();
    for (flow, delays) in std::iter::zip(flows, delays) {
        if let Some(delays) = delays {
            rows.add_delays("flow", &flow.name, delays.histogram());
        }
    }
    add_groups(&mut rows, "kind", flows, delays, &kind);
    add_groups(&mut rows, "category", flows, delays, &category);
    add_groups(&mut rows, "run", flows, delays, &|_| "all");
    for (flow, responses) in std::iter::zip(flows, responses) {
        if let Some(responses) = responses {
            rows.add_responses("flow", &flow.name, responses.histogram());
        }
    }
    if let Some(all) = Together::of(responses.iter().copied()).filter(|_| !flows.is_empty()) {
        rows.add_responses("run", "all", all.histogram());
    }
    if let Some(completions) = completions {
        for (index, flow) in flows.iter().enumerate() {
            if matches!(*flow.traffic, Traffic::ShortFlows(_)) {
                rows.add_completions("flow", &flow.name, completions.flow(index).0);
            }
        }
        rows.add_completions("run", "all", &completions.done);
    }
    for port in ports.filter(|port| port.location == Location::Switch) {
        let Some(levels) = port.levels() else { continue };
        let busy: u64 = levels.bins().map(|(_, time)| time).sum();
        // The rest of the time nothing was there.
        let idle = (window > busy).then(|| (0, window - busy));
        let of = Of {
            over: "port",
            entity: &graph.link_name(port.link),
            measure: "occupancy",
            unit: port.unit(),
            weight_unit: "ps",
        };
        rows.add(&of, idle.into_iter().chain(levels.bins()));
    }
    rows.table()
}

/// Adds the delays of the flows that have each value of `get`, in the order of the flows.
fn add_groups(
    rows: &mut Rows,
    over: &str,
    flows: &[Flow],
    delays: &[Option<&Delays>],
    get: &dyn Fn(&Flow) -> &'static str,
) {
    let mut names = Vec::new();
    for name in flows.iter().map(get) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let members = std::iter::zip(flows, delays).filter(|(flow, _)| get(flow) == name);
        if let Some(delays) = Together::of(members.map(|(_, delays)| *delays)) {
            rows.add_delays(over, name, delays.histogram());
        }
    }
}
