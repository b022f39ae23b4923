//! Ports that wait for each other's pauses for good.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_engine::stream::StreamId;

use crate::{network::Network, node::Node, switch::SharedMemorySwitch};

impl Network {
    /// The links whose ports will never transmit again: each waits for the end of a pause, and the switch that has paused it holds more of
    /// what came from it than the level at which the pause ends, in ports of which the same is true.
    pub(crate) fn locked(&self) -> BTreeSet<usize> {
        let (nodes, _) = self.parts();
        let switches = || {
            nodes.iter().filter_map(|node| match node {
                Node::Switch(switch) => Some(&**switch),
                _ => None,
            })
        };
        // By the stream of pauses: the switch that sends them, and the number of the link there.
        let mut pausing: BTreeMap<StreamId, (&SharedMemorySwitch, usize)> = BTreeMap::new();
        for switch in switches() {
            pausing.extend(switch.pausing().enumerate().map(|(link, stream)| (stream, (switch, link))));
        }
        let mut waiting: BTreeMap<usize, StreamId> = switches()
            .flat_map(SharedMemorySwitch::waiting)
            .map(|(port, stream)| (port.link, stream))
            .collect();
        // The largest set that keeps itself waiting.
        loop {
            let stays = |stream: &StreamId| {
                let held = pausing.get(stream);
                held.is_some_and(|(switch, link)| {
                    switch.holds_back(*link, |port| waiting.contains_key(&port.link))
                })
            };
            let left: BTreeMap<_, _> = waiting
                .iter()
                .filter(|(_, stream)| stays(stream))
                .map(|(&link, &stream)| (link, stream))
                .collect();
            if left.len() == waiting.len() {
                return left.into_keys().collect();
            }
            waiting = left;
        }
    }
}
