//! Whose cells a stream carries: VCs followed from their hosts through the network, VCI by VCI.

use std::collections::BTreeMap;

use celltrain_engine::{stream::StreamId, visit::Process};

use super::Vc;
use crate::{
    host::AbrEnd,
    network::{Carrier, FlowEnds, Network},
    node::Node,
};

/// The VC back of a flow, by its number among the outgoing ones of the receiving host.
fn back_outgoing(network: &Network, ends: &FlowEnds) -> Option<u32> {
    let parts = &network.host(ends.to).parts;
    match &parts.incoming[ends.incoming as usize].abr {
        Some(AbrEnd::Destination(end)) => Some(end.outgoing),
        _ => match ends.carrier {
            Carrier::Tcp { receiver, .. } | Carrier::Pool { receiver, .. } => {
                Some(parts.endpoints[receiver].outgoing)
            }
            _ => None,
        },
    }
}

/// What a stream carries under a VCI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carried {
    /// Whose cells.
    pub(super) vc: Vc,
    /// The link of the port that they come to next; none where that is a host, or is not decided yet, as where packets are still to be sprayed.
    pub(super) next: Option<usize>,
}

/// Follows every VC from its host through the network: whose cells each stream carries, by VCI, and where to.
pub(super) fn trace(network: &Network) -> Vec<BTreeMap<u32, Carried>> {
    let (nodes, streams) = network.parts();
    let mut consumers = vec![0; streams.len()];
    for (index, node) in nodes.iter().enumerate() {
        node.inputs().iter().for_each(|&input| consumers[input] = index);
    }
    let ports = network.receiving_ports();
    let mut vcs = vec![BTreeMap::new(); streams.len()];
    let mut follow = |vc: Vc, first: (StreamId, u32)| {
        let mut open = vec![first];
        while let Some((stream, vci)) = open.pop() {
            let mut next = None;
            if let Some(port) = ports[stream] {
                next = Some(port.link);
                open.extend(port.hops(vci));
            } else if let Node::Channel(channel) = &nodes[consumers[stream]] {
                let mut links = channel.hops(vci).map(|(behind, _)| ports[behind].map(|port| port.link));
                let first = links.next().flatten();
                next = if links.all(|link| link == first) { first } else { None };
                open.extend(channel.hops(vci));
            } else if let Node::Shaper(shaper) = &nodes[consumers[stream]] {
                next = Some(shaper.link());
                open.push(shaper.hop());
            }
            vcs[stream].insert(vci, Carried { vc, next });
        }
    };
    for (flow, ends) in network.flows.iter().enumerate().filter(|(_, ends)| !ends.shares) {
        let from = &network.host(ends.from).parts.outgoing[ends.outgoing as usize];
        follow(Vc { flow, back: false }, (from.stream, from.vci));
        if let Some(back) = back_outgoing(network, ends) {
            let to = &network.host(ends.to).parts.outgoing[back as usize];
            follow(Vc { flow, back: true }, (to.stream, to.vci));
        }
    }
    vcs
}

#[cfg(test)]
mod tests {
    use crate::{live::Live, scenario::Scenario};

    /// A stream from one of many hosts to a switch has its own VCs, not a place for each number at the switch below theirs.
    #[test]
    fn a_stream_knows_the_vcs_that_it_carries() {
        const SOURCES: usize = 50;
        let text = format!(
            "schema = 1\nname = \"many\"\nduration = \"1 ms\"\ntopology = {{ kind = \"n-source\", sources = {SOURCES} }}\n\
             link = {{ rate = \"155.52 Mbit/s\", delay = \"1 ms\" }}\nswitch.buffer = \"100 cells\"\ntraffic.kind = \"greedy\"\n"
        );
        let live = Live::new(Scenario::from_toml(&text, "many.toml", &[]).unwrap(), 1, 0).unwrap();
        // Each VC on each link of its way there and back, and before the interface of its host.
        assert_eq!(live.vcs.iter().map(|stream| stream.len()).sum::<usize>(), 2 * SOURCES * (1 + 3));
        // In front of a shaper, too, which the VCs back do not have.
        let shaped =
            Scenario::from_toml(&format!("{text}vc.pcr = \"1 Mbit/s\"\n"), "many.toml", &[]).unwrap();
        let live = Live::new(shaped, 1, 0).unwrap();
        assert_eq!(live.vcs.iter().map(|stream| stream.len()).sum::<usize>(), SOURCES * (1 + 3 + 1 + 3 + 1));
        let to_interfaces = |(flow, route): (usize, &[usize])| {
            let leads = |carried: &&super::Carried| {
                carried.vc.flow == flow && !carried.vc.back && carried.next == Some(route[0])
            };
            live.vcs.iter().flat_map(|stream| stream.values()).filter(leads).count()
        };
        let flows = live.graph.flows.iter().map(|flow| &flow.route[..]).enumerate();
        assert!(flows.map(to_interfaces).all(|streams| streams == 2), "in front of the shaper and behind it");
    }
}
