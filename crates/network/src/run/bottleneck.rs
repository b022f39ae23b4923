//! The bottleneck of a network: the port that the summary's occupancy, delay and utilisation are about.

use celltrain_atm::quantity::CellRate;
use celltrain_engine::{quantity::Duration, time::seconds};

use crate::scenario::{Flow, Graph, Link, NodeKind, Traffic};

/// The link behind the port that the scenario names, else behind the switch port with the highest offered load: what the flows
/// across it would send if nothing else held them back, over its rate. Of equals the first in the order of the links.
///
/// It follows from the scenario alone, so all replications, and all variants of a topology, speak of the same port. A TCP
/// flow offers what its first link carries, a source of cells its mean rate, and neither more than the peak rate of its VC. `None` without
/// a switch.
pub(super) fn bottleneck(graph: &Graph, duration: Duration) -> Option<usize> {
    if graph.bottleneck.is_some() {
        return graph.bottleneck;
    }
    let mut loads = vec![0.0; graph.links.len()];
    for (flow, offered) in graph.flows.iter().zip(offered(graph, duration)) {
        for (route, share) in flow.ways() {
            let load = |link: usize| share * offered / mean_rate(&graph.links[link], duration);
            route.iter().for_each(|&link| loads[link] += load(link));
        }
    }
    let of_switches =
        (0..loads.len()).filter(|&link| graph.nodes[graph.links[link].from].kind == NodeKind::Switch);
    of_switches.fold(None, |best, link| match best {
        Some(other) if loads[other] >= loads[link] * (1.0 - ROUNDING) => best,
        _ => Some(link),
    })
}

/// The mean rate of a link in a run, in bit/s.
pub(super) fn mean_rate(link: &Link, duration: Duration) -> f64 {
    if link.changes_rate() { link.bits_until(duration) / seconds(duration.ps()) } else { link.rate.0 as f64 }
}

/// How much less a load may be through rounding alone.
const ROUNDING: f64 = 1e-9;

/// What each flow would send by itself, in bit/s. What flows in one VC send together is no more than its peak rate.
pub(super) fn offered(graph: &Graph, duration: Duration) -> Vec<f64> {
    let mut all: Vec<_> =
        graph.flows.iter().map(|flow| offered_without_peak(graph, flow, duration)).collect();
    let mut of_vcs = vec![0.0; all.len()];
    for (flow, offered) in graph.flows.iter().zip(&all) {
        of_vcs[flow.circuit] += offered;
    }
    for (flow, offered) in graph.flows.iter().zip(&mut all) {
        if let Some(CellRate(peak)) = flow.peak_rate() {
            *offered *= (peak.0 as f64 / of_vcs[flow.circuit]).min(1.0);
        }
    }
    all
}

fn offered_without_peak(graph: &Graph, flow: &Flow, duration: Duration) -> f64 {
    let line = flow.route.first().map_or(0.0, |&link| mean_rate(&graph.links[link], duration));
    match &*flow.traffic {
        Traffic::ShortFlows(form) => form.offered(flow.slowest(&graph.links), duration),
        traffic => traffic.mean_rate(duration).unwrap_or(line),
    }
}
