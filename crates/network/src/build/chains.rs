//! The order of visits, in which what one process sends to another alone is taken at once.

use celltrain_engine::visit::Process;

use crate::node::Node;

/// The processes in `order`, but for those that take from one stream only: each comes right behind the process that sends to it, if it came
/// anywhere behind that. What is handed on is in the cache then, also where there are very many processes.
pub(super) fn in_chains(order: &[usize], nodes: &[Node], streams: usize) -> Vec<usize> {
    let mut place = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &node)| place[node] = at as u32);
    // Where the sender of each stream is in `order`.
    let mut sender = vec![u32::MAX; streams];
    for (at, &node) in order.iter().enumerate() {
        nodes[node].outputs().iter().for_each(|&output| sender[output] = at as u32);
    }
    let behind = |&node: &usize| match *nodes[node].inputs() {
        [input] => Some((sender[input], place[node])).filter(|(sender, place)| sender < place),
        _ => None,
    };
    let mut followers: Vec<_> = order.iter().filter_map(behind).collect();
    followers.sort_unstable();
    let followers_of = |at: u32| {
        let [first, last] = [at, at + 1].map(|at| followers.partition_point(|&(sender, _)| sender < at));
        followers[first..last].iter().map(|&(_, place)| place)
    };
    let mut chained = Vec::with_capacity(nodes.len());
    let mut next = Vec::new();
    for (at, node) in order.iter().enumerate() {
        if behind(node).is_some() {
            continue;
        }
        next.push(at as u32);
        while let Some(at) = next.pop() {
            chained.push(order[at as usize]);
            next.extend(followers_of(at).rev());
        }
    }
    chained
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, Options, node::Node, port::Location, scenario::Scenario};

    /// Hosts (`h`), their interfaces (`i`) and ports of switches (`p`), in the order in which they are visited.
    fn visited(topology: &str) -> String {
        let scenario = format!("schema = 1\nname = \"chains\"\nduration = \"1 s\"\ntopology = {topology}\n");
        let scenario = Scenario::from_toml(&scenario, "chains.toml", &[]).expect("it is a scenario");
        let experiment = Experiment::new(&scenario).expect("it is possible");
        let mut network = experiment.network(1, 0, Options::default());
        let mut order = Vec::new();
        network.set_schedule(|schedule| order.clone_from(&schedule.order));
        let (nodes, _) = network.parts();
        let kind = |&node: &usize| match &nodes[node] {
            Node::Host(_) => 'h',
            Node::Port(port) if port.location == Location::Interface => 'i',
            _ => 'p',
        };
        let kinds = order.iter().map(kind).collect();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..nodes.len()), "each process is visited once");
        kinds
    }

    /// Data go from each host to its interface, and together over the trunk; behind it each flow has a port, a host, and an interface for its
    /// ACKs. These share the trunk back, behind which are the ports to the hosts where the round began.
    #[test]
    fn what_takes_from_one_process_alone_is_visited_right_behind_it() {
        assert_eq!(visited("{ kind = \"n-source\", sources = 1 }"), "hipphipp");
        assert_eq!(visited("{ kind = \"n-source\", sources = 3 }"), "hihihipphiphiphipppp");
    }
}
