//! Which ports may hold more than leaves in all the time that there is: what departs there has no time yet.
//!
//! Scenarios whose sources of cells and packets could fill a buffer so are refused. What TCP sends depends on the run.

use std::collections::BTreeSet;

use celltrain_atm::{aal5, cell::CELL_BITS};
use celltrain_engine::{
    quantity::BitRate,
    time::{MILLISECOND, SECOND, seconds},
};

use crate::scenario::{Flow, Framing, Graph, Link, NodeKind, Spec, Traffic};

/// The longest that what TCP gives a port may take to leave, in seconds: it, what other sources give it and the time of a run fit into 2^64 ps.
const MOST: f64 = 8e6;

/// What waits in front of a faster link for as long fits into no memory.
const SLOW: BitRate = BitRate(100_000_000);

/// Segments that a sender has in flight before the first ACK, at the most, and more for those that open and close a connection.
const AT_FIRST: f64 = 16.0;

/// How much more than what has left a port its ACKs may call forth: slow start sends two segments for one.
const ANSWERS: f64 = 4.0;

/// The links for which what TCP sends may wait so long.
pub(super) fn longest_queues(graph: &Graph, spec: &Spec) -> BTreeSet<usize> {
    let duration = seconds(spec.duration.ps());
    let may_wait = |link: &Link| {
        let most = link.buffer.units() as f64 * bits(link, aal5::Params::MAX_FRAME, &spec.aal5);
        link.slowest() <= SLOW && most / link.slowest().0 as f64 > MOST
    };
    let carried = |link: &Link| duration * link.fastest().0 as f64;
    let answers = |link: &Link| may_wait(link).then(|| ANSWERS * carried(link));
    let mut given: Vec<_> = graph.links.iter().map(answers).collect();
    if given.iter().all(Option::is_none) {
        return BTreeSet::new();
    }
    for flow in graph.flows.iter().filter(|flow| flow.traffic.uses_tcp()) {
        let (segments, full) = (at_its_own(flow, graph, duration), flow.full_packet());
        for link in flow.hops().into_iter().flatten() {
            if let Some(given) = &mut given[link] {
                *given += segments * bits(&graph.links[link], full, &spec.aal5);
            }
        }
    }
    let mut arriving = vec![0.0; graph.nodes.len()];
    graph.links.iter().for_each(|link| arriving[link.to] += carried(link));
    let is_long = |(link, given): (&Link, Option<f64>)| {
        // All that a switch is given comes to it.
        let passes = graph.nodes[link.from].kind == NodeKind::Switch;
        let most = if passes { arriving[link.from] } else { f64::INFINITY };
        given.is_some_and(|given| given.min(most) / link.slowest().0 as f64 > MOST)
    };
    let long = (0..).zip(std::iter::zip(&graph.links, given)).filter(|(_, of)| is_long(*of));
    long.map(|(link, _)| link).collect()
}

/// Bits of a packet on a link.
fn bits(link: &Link, octets: u64, aal5: &aal5::Params) -> f64 {
    match link.framing {
        Framing::Cells => (aal5.cells(octets) * CELL_BITS) as f64,
        Framing::Packets => (8 * (octets + link.overhead.0)) as f64,
    }
}

/// Segments that the connections of a flow may send of their own accord, in each direction: at first, and as timers expire.
fn at_its_own(flow: &Flow, graph: &Graph, duration: f64) -> f64 {
    let (begun, at_once) = match &*flow.traffic {
        Traffic::ShortFlows(form) => {
            let all = form.interval(flow.slowest(&graph.links));
            let all = all.map_or(form.trace.len() as f64, |interval| duration * SECOND as f64 / interval);
            (2.0 * all + 100.0, f64::from(form.most_at_once()))
        }
        _ => (1.0, 1.0),
    };
    begun * AT_FIRST + at_once * duration / seconds(flow.tcp.rto_min.max(MILLISECOND))
}
