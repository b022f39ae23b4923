//! What comes out of a run about its ports and the whole network.

use celltrain_atm::buffer::Reason;
use celltrain_engine::{
    Time,
    time::{SECOND, seconds},
};

use super::{Experiment, FlowCounts, Metric, PortCounts};
use crate::{
    channel::LossReason,
    measures::{Excess, Series, fairness_index, synchronisation_index},
    port::{Location, Port, RateControl},
    scenario::NodeKind,
    table::{Column, Table},
};

/// What a port did during the window.
pub(super) struct PortMeasures<'a> {
    port: &'a Port,
    accepted: u64,
    forwarded: u64,
    /// Accepted and later discarded.
    pushed_out: u64,
    /// Of low priority: accepted and discarded.
    low_priority: [u64; 2],
    discarded: Vec<u64>,
    /// Frames marked instead of discarded.
    marked: u64,
    /// On the link behind the port, by reason.
    lost: Vec<u64>,
    occupancy_mean: f64,
    utilisation: f64,
    delay_mean: f64,
}

impl<'a> PortMeasures<'a> {
    pub(super) fn new(port: &'a Port, begin: &PortCounts, end: &PortCounts, window: Time) -> Self {
        let accepted = end.accepted - begin.accepted;
        let pushed_out = Reason::PushedOut as usize;
        let pushed_out = end.stats.discarded[pushed_out] - begin.stats.discarded[pushed_out];
        let forwarded = accepted + begin.occupancy - end.occupancy - pushed_out;
        let sojourns = end.integral.minus(begin.integral).ps() as f64;
        let discarded =
            std::iter::zip(end.stats.discarded, begin.stats.discarded).map(|(end, begin)| end - begin);
        Self {
            port,
            accepted,
            forwarded,
            pushed_out,
            low_priority: [0, 1].map(|place| end.low_priority[place] - begin.low_priority[place]),
            discarded: discarded.collect(),
            marked: end.stats.marked - begin.stats.marked,
            lost: std::iter::zip(end.lost, begin.lost).map(|(end, begin)| end - begin).collect(),
            occupancy_mean: sojourns / window as f64,
            utilisation: end.busy.minus(begin.busy).seconds() / seconds(window),
            delay_mean: sojourns / accepted.max(1) as f64 / SECOND as f64,
        }
    }

    fn all_discarded(&self) -> u64 {
        self.discarded.iter().sum()
    }
}

pub(super) fn port_table(ports: &[PortMeasures<'_>]) -> Table {
    let count = |get: &dyn Fn(&PortMeasures<'_>) -> u64| Column::Count(ports.iter().map(get).collect());
    let number = |get: &dyn Fn(&PortMeasures<'_>) -> f64| Column::Number(ports.iter().map(get).collect());
    let mut columns = vec![
        ("port", "", Column::Text(ports.iter().map(|port| port.port.name.clone()).collect())),
        ("switch", "", count(&|port| u64::from(port.port.location == Location::Switch))),
        ("cells_arrived", "cells", count(&|port| port.accepted + port.all_discarded() - port.pushed_out)),
        ("cells_forwarded", "cells", count(&|port| port.forwarded)),
        ("cells_discarded", "cells", count(&|port| port.all_discarded())),
    ];
    columns.extend([
        ("cells_accepted_clp1", "cells", count(&|port| port.low_priority[0])),
        ("cells_discarded_clp1", "cells", count(&|port| port.low_priority[1])),
    ]);
    for reason in Reason::ALL {
        columns.push((reason.column(), "cells", count(&|port| port.discarded[reason as usize])));
    }
    for reason in LossReason::ALL {
        columns.push((reason.column(), "cells", count(&|port| port.lost[reason as usize])));
    }
    columns.extend([
        ("frames_marked", "frames", count(&|port| port.marked)),
        ("utilisation", "", number(&|port| port.utilisation)),
        ("occupancy_mean", "cells", number(&|port| port.occupancy_mean)),
        ("occupancy_max", "cells", count(&|port| port.port.occupancy_max())),
        ("abr_queue_max", "cells", count(&|port| port.port.control().map_or(0, RateControl::most))),
        ("delay_mean", "s", number(&|port| port.delay_mean)),
        ("delay_p50", "s", number(&|port| port.port.stats().delays.quantile(0.5) / SECOND as f64)),
        ("delay_p95", "s", number(&|port| port.port.stats().delays.quantile(0.95) / SECOND as f64)),
        ("delay_p99", "s", number(&|port| port.port.stats().delays.quantile(0.99) / SECOND as f64)),
    ]);
    Table::new(columns)
}

impl Experiment<'_> {
    /// The metrics of a run. Ratios without a denominator are NaN.
    pub(super) fn summary(
        &self,
        flows: &[FlowCounts],
        ports: &[PortMeasures<'_>],
        series: &[Series],
        excess: &Excess,
    ) -> Vec<Metric> {
        let (warm_up, window) = (self.scenario.spec().warm_up.ps(), self.window());
        let total = |get: fn(&FlowCounts) -> u64| flows.iter().map(get).sum::<u64>() as f64;
        let throughputs: Vec<f64> = flows.iter().map(|flow| flow.throughput(window)).collect();
        let of_switches = || ports.iter().filter(|port| port.port.location == Location::Switch);
        // Of the cells whose fate was decided in the window: those that reached a host, and those that a switch discarded.
        let to_hosts = of_switches()
            .filter(|port| self.graph.nodes[self.graph.links[port.port.link].to].kind == NodeKind::Host);
        let arrived: u64 = to_hosts.map(|port| port.forwarded).sum();
        let lost: u64 = of_switches().map(PortMeasures::all_discarded).sum();
        let received = total(|flow| flow.incoming.useful_cells + flow.incoming.useless_cells);
        let new_cells: f64 = flows.iter().map(FlowCounts::new_cells).sum();
        let busiest = of_switches().max_by(|one, other| one.utilisation.total_cmp(&other.utilisation));
        let largest = of_switches().map(|port| port.port.occupancy_max()).max();
        let windows: Vec<_> = series
            .iter()
            .filter(|series| series.metric == "cwnd")
            .map(|series| series.since(warm_up))
            .collect();
        let metric = |name, unit, value| Metric { name, value, unit };
        let mut metrics = vec![
            metric("effective_throughput", "frames", total(FlowCounts::frames_delivered)),
            metric("throughput", "bit/s", throughputs.iter().sum()),
            metric("fairness_index", "", fairness_index(&throughputs)),
            metric("goodput", "", new_cells / received),
            metric("utilisation", "", busiest.map_or(f64::NAN, |port| port.utilisation)),
            metric("cell_loss_ratio", "", lost as f64 / (lost + arrived) as f64),
            metric(
                "retransmission_ratio",
                "",
                total(|flow| flow.sender.retransmitted_segments) / total(|flow| flow.sender.segments),
            ),
            metric("timeouts", "", total(|flow| flow.sender.timeouts)),
            metric("fast_retransmits", "", total(|flow| flow.sender.fast_retransmits)),
            metric("occupancy_mean", "cells", busiest.map_or(f64::NAN, |port| port.occupancy_mean)),
            metric("occupancy_max", "cells", largest.map_or(f64::NAN, |cells| cells as f64)),
            metric("delay_mean", "s", busiest.map_or(f64::NAN, |port| port.delay_mean)),
        ];
        if self.graph.flows.iter().any(|flow| flow.contract.mcr.is_some()) {
            let [equal, weighted] = excess.indices();
            metrics.push(metric("excess", "bit/s", excess.total()));
            metrics.push(metric("excess_fairness_equal", "", equal));
            metrics.push(metric("excess_fairness_weighted", "", weighted));
        }
        if !windows.is_empty() {
            metrics.push(metric("synchronisation_index", "", synchronisation_index(&windows)));
        }
        metrics
    }
}
