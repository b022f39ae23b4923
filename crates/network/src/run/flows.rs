//! The table of flows.

use celltrain_engine::{Time, time::seconds};
use celltrain_tcp::Limits;

use super::{
    Experiment, FlowCounts, bits_per_second,
    completions::{Completion, Completions, quantile_of},
    minimum_rate,
    tables::of_all,
};
use crate::{
    measures::{Delays, Excess, Together, registry},
    scenario::{Flow, Framing},
    table::{Column, Table},
};

/// The columns that count cells, or packets where links carry packets. Policers and ABR sources have to do with cells alone.
const CARRIED: [&str; 4] = ["cells_sent", "cells_discarded", "cells_useful", "cells_useless"];

impl Experiment<'_> {
    /// One row per flow; `delays` are those of each flow's VC, `responses` the response times of its requests, `unanswered` how many of
    /// these have no whole answer, `transfers` the completion
    /// times of finite transfers, and `completions` those of all transfers that began in the measured part.
    pub(super) fn flow_table(
        &self,
        counts: &[FlowCounts],
        delays: &[Option<&Delays>],
        (responses, unanswered, transfers): (&[Option<&Delays>], Vec<u64>, Vec<f64>),
        completions: Option<&Completions>,
        excess: Excess,
    ) -> Table {
        let (graph, window) = (&self.graph, self.window());
        let round_trip = |flow: &Flow| {
            let delays = flow.route.iter().chain(&flow.back).map(|&link| graph.links[link].delay.ps());
            // Nothing comes back of most flows without TCP.
            if flow.back.is_empty() { f64::NAN } else { seconds(delays.sum()) }
        };
        let node = |index: usize| &graph.nodes[index].name;
        let circuit = |flow: &Flow| &graph.flows[flow.circuit].name;
        let count = |get: fn(&FlowCounts) -> u64| Column::counts(counts.iter().map(get));
        let rate = |get: fn(&FlowCounts) -> u64| {
            Column::Number(counts.iter().map(|flow| bits_per_second(get(flow), window)).collect())
        };
        let limited = |get: fn(&Limits) -> Time| {
            let share = |flow: &FlowCounts| {
                flow.limits.map_or(f64::NAN, |limits| get(&limits) as f64 / window as f64)
            };
            Column::Number(counts.iter().map(share).collect())
        };
        // A VC counts once: its guarantee is one for all flows that share it.
        let guarantee = |(index, flow): (usize, &Flow)| {
            minimum_rate(flow).filter(|_| flow.circuit == index).unwrap_or(f64::NAN)
        };
        let delay = |get: &dyn Fn(&Together<'_>) -> f64| of_each(delays, get);
        let ended = |get: &dyn Fn(&[Completion], u64) -> f64| {
            let of_flow = |index| {
                let (done, unfinished) = completions.map_or((&[][..], 0), |all| all.flow(index));
                get(done, unfinished)
            };
            Column::Number((0..counts.len()).map(of_flow).collect())
        };
        let quantile =
            |share| ended(&|done, _| quantile_of(done.iter().map(|transfer| transfer.time).collect(), share));
        let response = |get: &dyn Fn(&Together<'_>) -> f64| of_each(responses, get);
        let table = Table::of(
            registry::FLOW,
            vec![
                ("flow", Column::texts(graph.flows.iter().map(|flow| &flow.name))),
                ("group", Column::Count(graph.flows.iter().map(|flow| u64::from(flow.group)).collect())),
                ("group_name", Column::texts(graph.flows.iter().map(|flow| graph.groups.name(flow.group)))),
                ("kind", Column::texts(graph.flows.iter().map(kind))),
                ("source", Column::texts(graph.flows.iter().map(|flow| node(flow.from)))),
                ("destination", Column::texts(graph.flows.iter().map(|flow| node(flow.to)))),
                ("round_trip", Column::Number(graph.flows.iter().map(round_trip).collect())),
                ("goodput", rate(FlowCounts::bytes)),
                ("throughput", rate(FlowCounts::bytes_received)),
                ("frames_delivered", count(FlowCounts::frames_delivered)),
                ("bytes_delivered", count(|flow| flow.receiver.distinct_bytes)),
                ("segments_sent", count(|flow| flow.sender.segments)),
                ("segments_retransmitted", count(|flow| flow.sender.retransmitted_segments)),
                ("timeouts", count(|flow| flow.sender.timeouts)),
                ("fast_retransmits", count(|flow| flow.sender.fast_retransmits)),
                ("duplicates_received", count(|flow| flow.receiver.duplicate_segments)),
                ("outdated_received", count(|flow| flow.receiver.outdated_segments)),
                ("acks_sent", count(|flow| flow.receiver.acks)),
                ("clp", Column::Count(graph.flows.iter().map(|flow| u64::from(flow.contract.clp)).collect())),
                ("cells_sent", count(|flow| flow.sent)),
                ("cells_discarded", count(|flow| flow.discarded)),
                ("frames_eligible", count(|flow| flow.policing().frames_eligible)),
                ("frames_tagged", count(|flow| flow.policing().frames_tagged)),
                ("cells_tagged", count(|flow| flow.policing().cells_tagged)),
                ("cells_dropped_at_source", count(|flow| flow.source_dropped)),
                ("source_queue_max", count(|flow| flow.source_queue_max)),
                ("cells_useful", count(|flow| flow.incoming.useful_cells)),
                ("cells_useless", count(|flow| flow.incoming.useless_cells)),
                ("mcr", Column::Number(graph.flows.iter().enumerate().map(guarantee).collect())),
                ("limited_by_application", limited(|limits| limits.application)),
                ("limited_by_handshake", limited(|limits| limits.handshake)),
                ("limited_by_receive_window", limited(|limits| limits.receive_window)),
                ("limited_by_congestion_window", limited(|limits| limits.congestion_window)),
                ("limited_by_recovery", limited(|limits| limits.recovery)),
                ("limited_by_timeout", limited(|limits| limits.timeout)),
                ("excess", Column::Number(excess.rates)),
                ("excess_of_equal_part", Column::Number(excess.of_equal)),
                ("excess_of_weighted_part", Column::Number(excess.of_weighted)),
                ("category", Column::texts(graph.flows.iter().map(category))),
                ("circuit", Column::texts(graph.flows.iter().map(circuit))),
                ("cell_loss_ratio", Column::Number(counts.iter().map(FlowCounts::loss_ratio).collect())),
                ("transfer_delay_mean", delay(&|delays| delays.mean())),
                ("transfer_delay_p50", delay(&|delays| delays.quantile(0.5))),
                ("transfer_delay_p95", delay(&|delays| delays.quantile(0.95))),
                ("transfer_delay_p99", delay(&|delays| delays.quantile(0.99))),
                ("transfer_delay_max", delay(&|delays| delays.most())),
                ("delay_variation", delay(&|delays| delays.variation())),
                (
                    "requests_completed",
                    Column::Count(responses.iter().map(|times| times.map_or(0, Delays::count)).collect()),
                ),
                ("requests_unfinished", Column::Count(unanswered)),
                ("response_time_mean", response(&|times| times.mean())),
                ("response_time_p50", response(&|times| times.quantile(0.5))),
                ("response_time_p95", response(&|times| times.quantile(0.95))),
                ("response_time_p99", response(&|times| times.quantile(0.99))),
                ("response_time_max", response(&|times| times.most())),
                ("completion_time", Column::Number(transfers)),
                ("flows_completed", ended(&|done, _| done.len() as f64)),
                ("flows_unfinished", ended(&|_, unfinished| unfinished as f64)),
                ("flows_turned_away", count(|flow| flow.turned_away)),
                (
                    "fct_mean",
                    ended(&|done, _| {
                        done.iter().map(|transfer| transfer.time).sum::<f64>() / done.len() as f64
                    }),
                ),
                ("fct_p50", quantile(0.5)),
                ("fct_p95", quantile(0.95)),
                ("fct_p99", quantile(0.99)),
                ("fct_max", quantile(1.0)),
            ],
        );
        let carried = self.carried();
        CARRIED.into_iter().fold(table, |table, name| table.with_unit(name, carried))
    }

    /// What the first links of flows carry: cells, packets, or some the one and some the other.
    fn carried(&self) -> &'static str {
        of_all(self.graph.flows.iter().map(|flow| match self.graph.links[flow.route[0]].framing {
            Framing::Cells => "cells",
            Framing::Packets => "packets",
        }))
    }
}

/// A column of what `get` says of each flow's delays by themselves; NaN where they are not measured.
fn of_each(delays: &[Option<&Delays>], get: &dyn Fn(&Together<'_>) -> f64) -> Column {
    let of_flow = |&delays: &Option<&Delays>| {
        let alone = Together::of(std::iter::once(delays));
        alone.as_ref().map_or(f64::NAN, get)
    };
    Column::Number(delays.iter().map(of_flow).collect())
}

/// What kind of flow it is, as the tables call it. Flows of one kind are comparable.
pub(super) fn kind(flow: &Flow) -> &'static str {
    if flow.traffic.uses_tcp() { "tcp" } else { "other" }
}

/// The service category of a flow's VC, as the tables call it.
pub(super) fn category(flow: &Flow) -> &'static str {
    flow.contract.category.name()
}
