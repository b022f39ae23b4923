//! What comes out of a run about its ports and the whole network.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_atm::{buffer::Reason, quantity::Unit};
use celltrain_engine::{
    Time,
    time::{SECOND, seconds},
};

use super::{
    Experiment, FlowCounts, Metric, OtherCounts, PortCounts, bits_per_second,
    completions::{CLASSES, Completion, Completions},
    loss_ratio,
};
use crate::{
    channel::LossReason,
    measures::{
        Delays, Excess, Series, Together, fairness_index,
        registry::{self, Measure},
        synchronisation_index,
    },
    port::{Location, Port},
    rate_control::RateControl,
    scenario::{Flow, Framing, Graph},
    table::{Column, Table},
};

/// What a port did during the window.
pub(super) struct PortMeasures<'a> {
    port: &'a Port,
    accepted: u64,
    forwarded: u64,
    /// What happens at few ports, if any of it did.
    others: Option<Box<OtherCounts>>,
    /// The sum of the times that units have spent in it.
    sojourns: f64,
    utilisation: f64,
}

impl<'a> PortMeasures<'a> {
    pub(super) fn new(port: &'a Port, begin: &PortCounts, end: &PortCounts, window: Time) -> Self {
        let accepted = end.accepted - begin.accepted;
        let others = end.others().since(&begin.others());
        let forwarded = accepted + begin.occupancy - end.occupancy - others.withdrawn;
        Self {
            port,
            accepted,
            forwarded,
            others: others.boxed(),
            sojourns: end.integral.minus(begin.integral).ps() as f64,
            utilisation: end.busy.minus(begin.busy).seconds() / seconds(window),
        }
    }

    fn others(&self) -> OtherCounts {
        self.others.as_deref().copied().unwrap_or_default()
    }

    fn all_discarded(&self) -> u64 {
        self.others().discarded.iter().sum()
    }

    /// What the link behind it lost.
    fn lost_on_link(&self) -> u64 {
        self.others().lost.iter().sum()
    }

    /// The mean occupancy over a window.
    fn occupancy(&self, window: Time) -> f64 {
        self.sojourns / window as f64
    }

    /// The mean delay in seconds; NaN if nothing was accepted, whatever else was in the buffer.
    fn delay_mean(&self) -> f64 {
        if self.accepted == 0 { f64::NAN } else { self.sojourns / self.accepted as f64 / SECOND as f64 }
    }

    /// A quantile of the delay in seconds; NaN if no frame left.
    fn delay(&self, quantile: f64) -> f64 {
        self.port.stats().delays.quantile(quantile) / SECOND as f64
    }
}

/// What the size of a port's buffer is in, and so the most that it held.
fn buffer_unit(graph: &Graph, port: &Port) -> &'static str {
    let in_bytes = graph.links[port.link].buffer.1 == Unit::Bytes;
    if in_bytes && port.location == Location::Switch { "B" } else { port.unit() }
}

/// The units of several ports or flows in the head of a column.
pub(super) fn of_all<'a>(units: impl Iterator<Item = &'a str>) -> &'static str {
    let units: BTreeSet<_> = units.collect();
    match [units.contains("cells"), units.contains("packets"), units.contains("B")] {
        [_, false, false] => "cells",
        [false, true, false] => "packets",
        [false, false, true] => "B",
        [true, true, false] => "cells or packets",
        [true, false, true] => "cells or B",
        [false, true, true] => "packets or B",
        [true, true, true] => "cells, packets or B",
    }
}

pub(super) fn port_table(
    graph: &Graph,
    ports: &[PortMeasures<'_>],
    window: Time,
    locked: &BTreeSet<usize>,
) -> Table {
    let is_locked = |port: &Port| locked.contains(&port.link);
    let count = |get: &dyn Fn(&PortMeasures<'_>) -> u64| Column::counts(ports.iter().map(get));
    let number = |get: &dyn Fn(&PortMeasures<'_>) -> f64| Column::numbers(ports.iter().map(get));
    let mut columns = vec![
        ("port", Column::texts(ports.iter().map(|port| graph.link_name(port.port.link)))),
        ("switch", count(&|port| u64::from(port.port.location == Location::Switch))),
        ("counted", Column::texts(ports.iter().map(|port| port.port.unit()))),
        ("buffer_unit", Column::texts(ports.iter().map(|port| buffer_unit(graph, port.port)))),
        ("cells_arrived", count(&|port| port.accepted + port.all_discarded() - port.others().withdrawn)),
        ("cells_forwarded", count(&|port| port.forwarded)),
        ("cells_discarded", count(&|port| port.all_discarded())),
        ("cells_accepted_clp1", count(&|port| port.others().low_priority[0])),
        ("cells_discarded_clp1", count(&|port| port.others().low_priority[1])),
    ];
    for reason in Reason::ALL {
        columns.push((reason.column(), count(&|port| port.others().discarded[reason as usize])));
    }
    for reason in LossReason::ALL {
        columns.push((reason.column(), count(&|port| port.others().lost[reason as usize])));
    }
    columns.extend([
        ("held_back", count(&|port| port.others().held_back)),
        ("pauses", count(&|port| port.others().paused.0)),
        ("paused", number(&|port| port.others().paused.1.seconds())),
        ("locked", count(&|port| u64::from(is_locked(port.port)))),
        ("frames_marked", count(&|port| port.others().marked)),
        ("utilisation", number(&|port| port.utilisation)),
        ("occupancy_mean", number(&|port| port.occupancy(window))),
        ("occupancy_max", count(&|port| port.port.occupancy_max())),
        ("abr_queue_max", count(&|port| port.port.control().map_or(0, RateControl::most))),
        ("delay_mean", number(&|port| port.delay_mean())),
        ("delay_p50", number(&|port| port.delay(0.5))),
        ("delay_p95", number(&|port| port.delay(0.95))),
        ("delay_p99", number(&|port| port.delay(0.99))),
    ]);
    let units = of_all(ports.iter().map(|port| port.port.unit()));
    let of_buffers = of_all(ports.iter().map(|port| buffer_unit(graph, port.port)));
    Table::of(registry::PORT, columns).counted_in("cells", units).with_unit("occupancy_max", of_buffers)
}

/// The metrics of a run so far. They are in the order of the registry.
pub(super) struct Summary {
    metrics: Vec<Metric>,
    rest: std::slice::Iter<'static, Measure>,
}

impl Summary {
    fn new() -> Self {
        Self { metrics: Vec::new(), rest: registry::RUN.iter() }
    }

    /// Adds a metric.
    ///
    /// # Panics
    /// If there is none of this name behind the one added before.
    pub(super) fn add(&mut self, name: &'static str, value: f64) -> &mut Metric {
        let unit =
            self.rest.find(|measure| measure.name == name).expect("the registry has the metric here").unit;
        self.metrics.push(Metric { name, value, unit });
        self.metrics.last_mut().expect("it was just added")
    }
}

/// Completion times of short flows and finite transfers, and slowdowns: of all, and by size.
fn add_completions(summary: &mut Summary, flows: &Completions) {
    summary.add("flows_completed", flows.done.len() as f64);
    summary.add("flows_unfinished", flows.unfinished as f64);
    summary.add("flows_turned_away", flows.turned_away as f64);
    let (time, slowdown) = (|flow: &Completion| flow.time, |flow: &Completion| flow.slowdown);
    summary.add("fct_mean", flows.mean(None, time));
    for (name, quantile) in [("fct_p50", 0.5), ("fct_p95", 0.95), ("fct_p99", 0.99)] {
        summary.add(name, flows.quantile(None, quantile, time));
    }
    summary.add("fct_max", flows.quantile(None, 1.0, time));
    summary.add("slowdown_mean", flows.mean(None, slowdown));
    for (name, quantile) in [("slowdown_p50", 0.5), ("slowdown_p95", 0.95), ("slowdown_p99", 0.99)] {
        summary.add(name, flows.quantile(None, quantile, slowdown));
    }
    const BY_CLASS: [[&str; 5]; CLASSES.len() + 1] = [
        ["fct_p50_tiny", "fct_p99_tiny", "slowdown_mean_tiny", "slowdown_p50_tiny", "slowdown_p99_tiny"],
        ["fct_p50_small", "fct_p99_small", "slowdown_mean_small", "slowdown_p50_small", "slowdown_p99_small"],
        [
            "fct_p50_medium",
            "fct_p99_medium",
            "slowdown_mean_medium",
            "slowdown_p50_medium",
            "slowdown_p99_medium",
        ],
        ["fct_p50_large", "fct_p99_large", "slowdown_mean_large", "slowdown_p50_large", "slowdown_p99_large"],
    ];
    for (class, [fct_p50, fct_p99, mean, p50, p99]) in BY_CLASS.into_iter().enumerate() {
        summary.add(fct_p50, flows.quantile(Some(class), 0.5, time));
        summary.add(fct_p99, flows.quantile(Some(class), 0.99, time));
        summary.add(mean, flows.mean(Some(class), slowdown));
        summary.add(p50, flows.quantile(Some(class), 0.5, slowdown));
        summary.add(p99, flows.quantile(Some(class), 0.99, slowdown));
    }
}

/// What applications wait for, where they are of such a kind.
pub(super) struct Waits<'a> {
    /// Short flows and finite transfers.
    pub(super) completions: Option<Completions>,
    /// Answers.
    pub(super) responses: Option<Together<'a>>,
    /// When each of the requests was written whose answer is not whole when the run ends.
    pub(super) unanswered: Vec<Time>,
}

/// Response times of all requests that were answered within `window`, and the requests that are `unanswered` at its `end`, by the times when they were written.
fn add_responses(summary: &mut Summary, times: &Together<'_>, unanswered: &[Time], [window, end]: [Time; 2]) {
    let window = seconds(window);
    summary.add("requests_completed", times.count() as f64);
    summary.add("requests_unfinished", unanswered.len() as f64);
    let oldest = unanswered.iter().min().map_or(0, |&asked| end - asked);
    summary.add("request_age_max", seconds(oldest));
    summary.add("request_rate", times.count() as f64 / window);
    summary.add("response_time_mean", times.mean());
    for (name, quantile) in
        [("response_time_p50", 0.5), ("response_time_p95", 0.95), ("response_time_p99", 0.99)]
    {
        summary.add(name, times.quantile(quantile));
    }
    summary.add("response_time_max", times.most());
}

impl Experiment<'_> {
    /// The metrics of a run, in which so many cells arrived at hosts. Ratios without a denominator are NaN.
    pub(super) fn summary(
        &self,
        (flows, arrived): (&[FlowCounts], u64),
        delays: &[Option<&Delays>],
        ports: &[PortMeasures<'_>],
        series: &[Series],
        excess: &Excess,
        waits: &Waits<'_>,
    ) -> Vec<Metric> {
        let total = |get: fn(&FlowCounts) -> u64| flows.iter().map(get).sum::<u64>() as f64;
        let mut summary = Summary::new();
        self.add_rates(&mut summary, flows);
        let received = total(|flow| flow.incoming.useful_cells + flow.incoming.useless_cells);
        summary.add("frames_delivered", total(FlowCounts::frames_delivered));
        summary.add("efficiency", self.new_cells(flows) / received);
        self.add_losses(&mut summary, flows, arrived, ports);
        self.add_transfer(&mut summary, flows, delays);
        let again = total(|flow| flow.sender.retransmitted_segments);
        summary.add("retransmission_ratio", again / total(|flow| flow.sender.segments));
        summary.add("timeouts", total(|flow| flow.sender.timeouts));
        summary.add("fast_retransmits", total(|flow| flow.sender.fast_retransmits));
        self.add_bottleneck(&mut summary, ports);
        let of_cells = |flow: &Flow| self.graph.links[flow.route[0]].framing == Framing::Cells;
        if self.graph.flows.iter().any(|flow| flow.contract.mcr.is_some() && of_cells(flow)) {
            let [equal, weighted] = excess.indices();
            summary.add("excess", excess.total());
            summary.add("excess_fairness_equal", equal);
            summary.add("excess_fairness_weighted", weighted);
        }
        let warm_up = self.scenario.spec().warm_up.ps();
        let windows: Vec<_> = series
            .iter()
            .filter(|series| series.metric == "cwnd")
            .map(|series| series.since(warm_up))
            .collect();
        if !windows.is_empty() {
            summary.add("synchronisation_index", synchronisation_index(&windows));
        }
        if let Some(completions) = &waits.completions {
            add_completions(&mut summary, completions);
        }
        if let Some(times) = &waits.responses {
            let end = self.scenario.spec().duration.ps();
            add_responses(&mut summary, times, &waits.unanswered, [self.window(), end]);
        }
        summary.metrics
    }

    /// Cells that brought something new: of those of each VC that arrived in whole frames the share that new segments are of all.
    fn new_cells(&self, flows: &[FlowCounts]) -> f64 {
        let mut vcs = BTreeMap::<usize, [u64; 3]>::new();
        for (flow, counts) in std::iter::zip(&self.graph.flows, flows) {
            let sums = vcs.entry(flow.circuit).or_default();
            sums[0] += counts.incoming.useful_cells;
            sums[1] += counts.receiver.duplicate_segments + counts.receiver.outdated_segments;
            sums[2] += counts.receiver.segments;
        }
        let new = |[cells, duplicates, segments]: [u64; 3]| {
            cells as f64 * (1.0 - duplicates as f64 / segments.max(1) as f64)
        };
        vcs.into_values().map(new).sum()
    }

    /// Goodput and throughput of all flows, and of each kind where there are both.
    fn add_rates(&self, summary: &mut Summary, flows: &[FlowCounts]) {
        let has = |tcp| flows.iter().any(|flow| flow.carrier.is_tcp() == tcp);
        let comparable = has(true);
        let mixed = comparable && has(false);
        let rate = |bytes: fn(&FlowCounts) -> u64, which: &dyn Fn(&&FlowCounts) -> bool| {
            bits_per_second(flows.iter().filter(which).map(bytes).sum(), self.window())
        };
        let kinds = [
            (["goodput", "goodput_tcp", "goodput_other"], FlowCounts::bytes as fn(&FlowCounts) -> u64),
            (["throughput", "throughput_tcp", "throughput_other"], FlowCounts::bytes_received),
        ];
        for ([all, tcp, other], bytes) in kinds {
            summary.add(all, rate(bytes, &|_| true));
            if mixed {
                summary.add(tcp, rate(bytes, &|flow| flow.carrier.is_tcp()));
                summary.add(other, rate(bytes, &|flow| !flow.carrier.is_tcp()));
            }
        }
        let shares = flows.iter().filter(|flow| flow.carrier.is_tcp() == comparable);
        let shares: Vec<_> = shares.map(|flow| bits_per_second(flow.bytes(), self.window())).collect();
        summary.add("fairness_index", fairness_index(&shares));
    }

    /// The share of the cells whose fate was decided in the window that switches discarded, the others having `arrived` at hosts; that of each
    /// loss priority where there are both; and the share that links lost, where they may.
    fn add_losses(
        &self,
        summary: &mut Summary,
        flows: &[FlowCounts],
        arrived: u64,
        ports: &[PortMeasures<'_>],
    ) {
        let of_switches = ports.iter().filter(|port| port.port.location == Location::Switch);
        let lost: u64 = of_switches.map(PortMeasures::all_discarded).sum();
        summary.add("cell_loss_ratio", lost as f64 / (lost + arrived) as f64);
        if self.graph.flows.iter().any(|flow| flow.contract.clp) {
            // By what the host sent, whatever a policer tagged on the way.
            let ratio = |clp: bool| {
                let of_class =
                    std::iter::zip(&self.graph.flows, flows).filter(|(flow, _)| flow.contract.clp == clp);
                loss_ratio(of_class.map(|(_, counts)| counts))
            };
            summary.add("cell_loss_ratio_clp0", ratio(false));
            summary.add("cell_loss_ratio_clp1", ratio(true));
        }
        if self.graph.has_lossy_links() {
            let on_links: u64 = ports.iter().map(PortMeasures::lost_on_link).sum();
            summary.add("link_loss_ratio", on_links as f64 / (on_links + lost + arrived) as f64);
        }
    }

    fn add_bottleneck(&self, summary: &mut Summary, ports: &[PortMeasures<'_>]) {
        let link = self.graph.bottleneck_link(self.scenario.spec());
        let port =
            ports.iter().find(|port| port.port.location == Location::Switch && Some(port.port.link) == link);
        let value = |get: &dyn Fn(&PortMeasures<'_>) -> f64| port.map_or(f64::NAN, get);
        let unit = port.map_or("cells", |port| port.port.unit());
        let of_buffer = port.map_or("cells", |port| buffer_unit(&self.graph, port.port));
        summary.add("utilisation", value(&|port| port.utilisation));
        summary.add("occupancy_mean", value(&|port| port.occupancy(self.window()))).unit = unit;
        summary.add("occupancy_max", value(&|port| port.port.occupancy_max() as f64)).unit = of_buffer;
        summary.add("delay_mean", value(&|port| port.delay_mean()));
        summary.add("delay_p50", value(&|port| port.delay(0.5)));
        summary.add("delay_p95", value(&|port| port.delay(0.95)));
        summary.add("delay_p99", value(&|port| port.delay(0.99)));
    }
}
