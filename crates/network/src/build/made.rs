//! The processes that have been made: ports that share a memory are one.

use std::collections::BTreeMap;

use crate::{node::Node, port::Port};

/// Processes, and where each place of the network is among them. A place is a host, a port or a channel.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) nodes: Vec<Node>,
    /// By place: the number of its process, and its own there if it is a port.
    pub(super) places: Vec<(u32, u32)>,
    /// By the number of their switch in the graph: ports that share its memory, each with its place.
    sharing: BTreeMap<usize, Vec<(usize, Port)>>,
}

/// The number of a process, or of a port in it, as places are kept: there are very many.
///
/// # Panics
/// If there are more than 2^32.
fn numbered(process: usize) -> u32 {
    u32::try_from(process).expect("a network has fewer processes than 2^32")
}

impl Made {
    /// None yet, with room for so many places: there may be very many.
    pub(super) fn of(places: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(places),
            places: Vec::with_capacity(places),
            sharing: BTreeMap::new(),
        }
    }

    /// A process of its own.
    pub(super) fn add(&mut self, node: Node) {
        self.places.push((numbered(self.nodes.len()), 0));
        self.nodes.push(node);
    }

    /// A port that shares the memory of `switch`.
    pub(super) fn add_sharing(&mut self, switch: usize, port: Port) {
        self.sharing.entry(switch).or_default().push((self.places.len(), port));
        self.places.push((0, 0));
    }

    /// Makes one process of the ports of each switch, which are in the order of their links then.
    pub(super) fn join_sharing(&mut self, mut join: impl FnMut(Vec<Port>) -> Node) {
        for mut ports in std::mem::take(&mut self.sharing).into_values() {
            ports.sort_by_key(|(_, port)| port.link);
            for (number, (place, _)) in ports.iter().enumerate() {
                self.places[*place] = (numbered(self.nodes.len()), numbered(number));
            }
            self.nodes.push(join(ports.into_iter().map(|(_, port)| port).collect()));
        }
    }

    /// The order of processes that visits places in `order`, those that share a process where the first of them is.
    pub(super) fn order(&self, order: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let nodes = order.iter().map(|&place| self.places[place].0 as usize);
        let mut once = Vec::with_capacity(self.nodes.len());
        once.extend(nodes.filter(|&node| !std::mem::replace(&mut seen[node], true)));
        once
    }
}
