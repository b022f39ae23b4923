//! How a network is shared out among threads, and how that is corrected by what its processes have done so far.
//!
//! What flows will get is a guess: where many share a link, some may starve. So a run stops a few times, counts what has passed on every
//! stream, and goes on with a better partition if there is one.

use celltrain_engine::{Time, stream::StreamId, visit::Process};

use crate::{flight::Streams, node::Node, partition::Processes, parts};

/// What a cell or a packet costs, in cell-hops.
#[derive(Debug)]
pub(crate) struct Costs {
    /// A port.
    pub(crate) port: f64,
    /// A host, over TCP, whether it comes or goes.
    pub(crate) host: f64,
    /// How many acknowledgements come back for each.
    pub(crate) back: f64,
    /// How many frames it is.
    pub(crate) frames: f64,
}

pub(crate) const OF_CELLS: Costs = Costs { port: 1.0, host: 0.3, back: 0.06, frames: 0.06 };
pub(crate) const OF_PACKETS: Costs = Costs { port: 4.0, host: 7.5, back: 0.5, frames: 1.0 };

/// What it costs to take the contents of a frame to another part, in cell-hops.
pub(crate) const CONTENTS: f64 = 16.0;

/// How much lighter the burden of the part that has most has to become, in hundredths, for a partition to be changed.
const WORTH_A_CHANGE: u64 = 2;

/// The part of each process, and when that is looked at again.
#[derive(Debug)]
pub(crate) struct Division {
    pub(crate) parts: Vec<usize>,
    /// What a cell or a packet costs each process.
    pub(crate) costs: Vec<&'static Costs>,
    /// When it is looked at again, the earliest last.
    pub(crate) reviews: Vec<Time>,
}

impl Division {
    /// How far a run to `end` goes before the division is looked at again.
    pub(crate) fn goes_to(&self, end: Time) -> Time {
        self.reviews.last().map_or(end, |&review| review.min(end))
    }

    /// Looks at the division again if it was to be at `now`.
    pub(crate) fn review(&mut self, now: Time, nodes: &[Node], streams: &Streams) {
        let left = self.reviews.partition_point(|&review| review > now);
        if left == self.reviews.len() {
            return;
        }
        self.reviews.truncate(left);
        let number = self.parts.iter().max().map_or(1, |last| last + 1);
        let processes = self.measured(now, nodes, streams);
        let better = processes.partition(number);
        let (before, after) = (processes.burden(&self.parts), processes.burden(&better.parts));
        if after < before - before * WORTH_A_CHANGE / 100 {
            self.parts = better.parts;
        }
    }

    /// The processes and what they have done until `now`.
    fn measured(&self, now: Time, nodes: &[Node], streams: &Streams) -> Processes {
        let passed = |of: &[StreamId]| of.iter().map(|&stream| streams[stream].pushed()).sum::<u64>() as f64;
        let work = |place: usize, node: &Node| match node {
            Node::Host(_) => self.costs[place].host * (passed(node.inputs()) + passed(node.outputs())),
            Node::Port(_) | Node::Switch(_) | Node::Channel(_) | Node::Shaper(_) => {
                self.costs[place].port * passed(node.inputs())
            }
        };
        let traffic =
            |place: usize, stream: StreamId| self.costs[place].port * streams[stream].pushed() as f64;
        let mut processes = parts::processes(nodes, streams, now, work, traffic);
        let sent = |queue: usize| CONTENTS * f64::from(streams.contents.packets[queue].sent());
        processes.edges.extend(parts::ties(nodes, streams, sent));
        processes
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::SECOND;

    use crate::{Experiment, Options, network::Network, scenario::Scenario};

    /// Fifteen connections, of which the five that come over the first trunk leave the others next to nothing.
    const STARVING: &str = "
        schema = 1
        name = \"starving\"
        duration = \"8 s\"
        [topology]
        kind = \"parking-lot\"
        switches = 4
        sources = 5
        [link]
        framing = \"packets\"
        rate = \"622.08 Mbit/s\"
        delay = \"1 ms\"
        [switch]
        buffer = \"200 packets\"
        [tcp]
        stack = \"linux\"
        [traffic]
        kind = \"greedy\"
        start = \"0 ms .. 100 ms\"
    ";

    #[test]
    fn a_division_is_corrected_by_what_has_been_done() {
        let scenario = Scenario::from_toml(STARVING, "starving.toml", &[]).expect("a scenario");
        let experiment = Experiment::new(&scenario).expect("an experiment");
        let mut network = experiment.network(1, 0, Options::default());
        assert_eq!(experiment.use_threads(&mut network, 2), 2);
        let parts = |network: &Network| network.division.as_ref().expect("it is divided").parts.clone();
        let expected = parts(&network);
        assert!(network.run_until(SECOND, &mut || false));
        let corrected = parts(&network);
        let (nodes, streams) = network.parts();
        let division = network.division.as_ref().expect("it is divided");
        let measured = division.measured(SECOND, nodes, streams);
        let [before, after] = [&expected, &corrected].map(|parts| measured.burden(parts));
        assert!(after < before * 9 / 10, "{before} before, {after} after");
    }
}
