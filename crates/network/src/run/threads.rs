//! On how many cores a run is worth being run: what is to do, and how much of it lies between two looks at another part.

use std::iter::successors;

use celltrain_atm::cell::CELL_BITS;
use celltrain_engine::{
    Time,
    levels::{Way, Ways},
    time::seconds,
};

use super::Experiment;
use crate::{
    division::{CONTENTS, Costs, Division, OF_CELLS, OF_PACKETS},
    network::Network,
    node::Node,
    partition::{Edge, Processes},
    scenario::Framing,
};

/// A run of fewer cell-hops than this is over before several threads are worth it: in half a second or so.
const LEAST_HOPS: f64 = 1e7;

/// A part that has fewer cell-hops than this to do before it has to know how far the others are would mostly wait: a look at another part
/// costs some 10 us where the threads sleep in between, a cell-hop 50 ns. Connections that do not fill their links do a fraction of
/// what is expected of them.
const LEAST_HOPS_AHEAD: f64 = 1000.0;

/// Where there is less to do than this for each process, in cell-hops, until what happens anywhere may come back, one thread does better: it
/// visits those processes alone in which something happens, and parts ask all of theirs.
const LEAST_HOPS_A_PROCESS: f64 = 0.1;

/// A part that has more of the work than this would keep the others waiting.
const MOST_OF_THE_WORK: f64 = 0.8;

/// The most parts: each has a list of all streams.
const MOST_PARTS: usize = 64;

/// What a packet is taken for in bits where a link carries packets.
const PACKET_BITS: u64 = 12_000;

/// When a division is looked at again, in parts of the duration: as soon as it is known what flows get, and seldom later.
const REVIEWS: [Time; 4] = [64, 16, 4, 2];

/// What is expected to happen in a second of simulated time, in cell-hops.
struct Work {
    links: Vec<f64>,
    /// By process.
    hosts: Vec<f64>,
    /// What goes between the hosts of flows without a look at it: the contents of frames.
    ties: Vec<Edge>,
}

/// Whether few of the processes, which have so many cell-hops to do in a second, have anything to do at a time.
fn is_sparse(processes: &Processes, a_second: f64) -> bool {
    let way = |edge: &Edge| Way { from: edge.from as u32, to: edge.to as u32, lookahead: edge.lookahead };
    let ways = processes.edges.iter().filter(|edge| edge.lookahead < Time::MAX).map(way);
    let window = Ways::new(processes.work.len(), ways.collect()).longest_window();
    let hops = |window: Time| a_second * seconds(window) / processes.work.len() as f64;
    window.is_some_and(|window| hops(window) < LEAST_HOPS_A_PROCESS)
}

impl Experiment<'_> {
    /// Lets `network`, a network of this experiment, run on up to `threads` cores, if it is large enough to gain from that. Returns the
    /// number of threads that it will run on. Results do not depend on it.
    pub fn use_threads(&self, network: &mut Network, threads: usize) -> usize {
        if threads < 2 || network.one_thread().is_some() {
            return 1;
        }
        let Work { links, hosts, ties } = self.expected_work(network);
        let work = |place: usize, node: &Node| match node {
            Node::Host(_) => hosts[place],
            Node::Port(_) | Node::Switch(_) => node.ports().iter().map(|port| links[port.link]).sum(),
            Node::Channel(channel) => links[channel.link()],
            Node::Shaper(shaper) => links[shaper.link()],
        };
        let mut processes = network.shared_out(work);
        processes.edges.extend(ties);
        let a_second = processes.work.iter().sum::<u64>() as f64;
        let duration = self.scenario.spec().duration.ps();
        if a_second * seconds(duration) < LEAST_HOPS || is_sparse(&processes, a_second) {
            return 1;
        }
        // Half as many, and again, as long as parts would be too small: a partition of a large network takes a while.
        let fewer = |parts: &usize| (*parts > 2).then(|| (parts / 2).max(2));
        for parts in successors(Some(threads.min(MOST_PARTS)), fewer) {
            let partition = processes.partition(parts);
            let ahead = a_second / parts as f64 * seconds(partition.lookahead);
            if ahead >= LEAST_HOPS_AHEAD && partition.most as f64 <= MOST_OF_THE_WORK * partition.total as f64
            {
                let used = 1 + partition.parts.iter().max().copied().unwrap_or(0);
                let reviews = REVIEWS.map(|part| duration / part).into_iter().rev().collect();
                let costs = network.parts().0.iter().map(|node| costs_of(self.framing(node))).collect();
                network.divide(Division { parts: partition.parts, costs, reviews });
                return used;
            }
        }
        1
    }

    /// Whether a process handles cells or packets, if it handles anything.
    fn framing(&self, node: &Node) -> Option<Framing> {
        let link = match node {
            Node::Host(host) => return host.parts.outgoing.first().map(|vc| vc.framing),
            Node::Port(_) | Node::Switch(_) => node.ports().first()?.link,
            Node::Channel(channel) => channel.link(),
            Node::Shaper(shaper) => shaper.link(),
        };
        Some(self.graph.links[link].framing)
    }

    /// What the flows will do if each gets what the links on its way leave it.
    fn expected_work(&self, network: &Network) -> Work {
        let (graph, spec) = (&self.graph, self.scenario.spec());
        let (offered, loads) = (graph.offered(spec), graph.loads(spec));
        let (links, hosts) = (vec![0.0; graph.links.len()], vec![0.0; network.processes()]);
        let mut work = Work { links, hosts, ties: Vec::new() };
        for ((flow, ends), offered) in graph.flows.iter().zip(&network.flows).zip(&offered) {
            let [there, _] = flow.hops();
            let over = there.map(|link| loads[link]).fold(1.0, f64::max);
            let first = flow.route.first().map(|&link| graph.links[link].framing);
            let costs = costs_of(first);
            let bits = if first == Some(Framing::Packets) { PACKET_BITS } else { CELL_BITS };
            let units = offered / over / bits as f64;
            for (route, share) in flow.ways() {
                route.iter().for_each(|&link| work.links[link] += units * share * costs.port);
            }
            for (route, share) in flow.ways_back() {
                route.iter().for_each(|&link| work.links[link] += units * share * costs.port * costs.back);
            }
            let host = units * costs.host * (1.0 + costs.back);
            [ends.from, ends.to].iter().for_each(|&end| work.hosts[end] += host);
            if ends.carrier.is_tcp() {
                let contents = CONTENTS * units * (costs.frames + costs.back);
                work.ties.push(Edge::tie(ends.from, ends.to, contents as u64));
            }
        }
        work
    }
}

fn costs_of(framing: Option<Framing>) -> &'static Costs {
    if framing == Some(Framing::Packets) { &OF_PACKETS } else { &OF_CELLS }
}
