//! The processes, made when all VCs are laid.

use celltrain_atm::{
    abr::{Allocator, Rate},
    buffer::{Policy, PortContext},
    contract::{Category, Contract},
    scheduler::Priority,
};
use celltrain_engine::merge::{Merge, TieBreak};

use super::{
    Builder, HostDraft, Place, PortDraft, chains::in_chains, joints::line, made::Made, pauses::PausedLinks,
};
use crate::{
    channel::{Channel, RateSchedule},
    flight::Streams,
    free::free,
    host::Host,
    measures::PortSamplers,
    memory::SharedMemory,
    network::{FlowEnds, Network},
    node::Node,
    port::{Location, Port, PortParts, Queuing, ServiceKind},
    rate_control::{RateControl, RmRelay, Role},
    scenario::{self, Graph, Link},
    switch::{PauseStreams, SharedMemorySwitch},
};

/// How many processes are made between two looks at whether the network is still wanted: a port may have many VCs.
const NODES_BETWEEN_POLLS: usize = 64;

impl Builder<'_> {
    /// Makes the processes, in the direction of the data: sending hosts, ports, receiving hosts, ports of the reverse path.
    pub(super) fn finish(
        mut self,
        flows: Vec<FlowEnds>,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Option<Network> {
        let ranks = ranks(self.graph);
        let paused = self.paused_links();
        let mut places: Vec<(usize, usize, Place)> = Vec::new();
        let (channels, ports) = (std::mem::take(&mut self.channels), &self.ports);
        let depth = |link: usize| ports.get(link).map_or(0, |port| port.depth);
        let channels: Vec<_> = channels
            .into_values()
            .map(|channel| {
                (depth(channel.link) + 1, ranks[channel.link] + 1, Place::Channel(Box::new(channel)))
            })
            .collect();
        for (node, draft) in self.hosts.all() {
            // Where ACKs start is where the data has arrived.
            let receives = draft.parts.sources.is_empty();
            let depth = if receives { self.graph.links.len() } else { 0 };
            places.push((depth, depth, Place::Host(node)));
        }
        for (link, draft) in self.ports.all() {
            places.push((draft.depth + 1, ranks[link] + 1, Place::Port(link)));
        }
        // Between the hosts and their interfaces.
        let shapers = std::mem::take(&mut self.shapers);
        places.extend(shapers.into_iter().map(|shaper| (0, 0, Place::Shaper(Box::new(shaper)))));
        // Behind their ports: the sort keeps the order of what is equally deep.
        places.extend(channels);
        places.sort_by_key(|place| place.0);
        let mut order: Vec<_> = (0..places.len()).collect();
        order.sort_by_key(|&index| places[index].1);
        let mut host_index = vec![usize::MAX; self.graph.nodes.len()];
        let mut made = Made::of(places.len());
        let mut places = places.into_iter();
        while let Some((.., place)) = places.next() {
            if made.places.len().is_multiple_of(NODES_BETWEEN_POLLS) && interrupt() {
                free((made, place, places));
                self.discard();
                return None;
            }
            match place {
                Place::Host(node) => {
                    host_index[node] = made.nodes.len();
                    let draft = self.hosts.take(node).expect("each host is made once");
                    made.add(Node::Host(Box::new(self.finish_host(draft))));
                }
                Place::Port(link) => {
                    let draft = self.ports.take(link).expect("each port is made once");
                    let (spec, port) = (&self.graph.links[link], self.finish_port(link, draft, &paused));
                    if port.takes_rounds() {
                        port.inputs().iter().for_each(|&input| self.streams[input].weave());
                    }
                    match spec.memory {
                        Some(_) => made.add_sharing(spec.from, port),
                        None if paused.contains(link) => made.add(self.finish_switch(vec![port], &paused)),
                        None => made.add(Node::Port(Box::new(port))),
                    }
                }
                Place::Channel(parts) => made.add(Node::Channel(Box::new(Channel::new(*parts)))),
                Place::Shaper(shaper) => made.add(Node::Shaper(shaper)),
            }
        }
        made.join_sharing(|ports| self.finish_switch(ports, &paused));
        let flows = flows
            .into_iter()
            .map(|ends| FlowEnds { from: host_index[ends.from], to: host_index[ends.to], ..ends })
            .collect();
        self.streams.shrink_to_fit();
        self.flight.packets.shrink_to_fit();
        made.nodes.shrink_to_fit();
        let order = in_chains(&made.order(&order), &made.nodes, self.streams.len());
        let streams = Streams::new(self.streams, self.flight);
        Some(Network::new(made.nodes, made.places, order, streams, flows, self.randomness))
    }

    /// The process of the ports of a switch that share its memory, or of a host's interface that can be paused.
    fn finish_switch(&self, ports: Vec<Port>, paused: &PausedLinks) -> Node {
        let link = ports.first().map(|port| &self.graph.links[port.link]);
        let memory = link.and_then(|link| link.memory.as_deref());
        let to = link.filter(|link| link.pauses()).map(|link| paused.to(link.from)).unwrap_or_default();
        let memory = memory.map(|memory| SharedMemory::new(memory, to.len()));
        let from = ports.iter().map(|port| paused.stream(port.link)).collect();
        let name = |port: &Port| self.graph.link_name(port.link);
        let generator = |port: &Port| self.randomness.joined(&["port ", &name(port), " ties in memory"]);
        let ties = match self.scenario.spec().tie_break {
            scenario::TieBreak::PortId => Vec::new(),
            scenario::TieBreak::Random => ports.iter().map(generator).collect(),
        };
        Node::Switch(Box::new(SharedMemorySwitch::new(ports, memory, ties, PauseStreams { from, to })))
    }

    fn finish_host(&self, draft: HostDraft) -> Host {
        let HostDraft { mut parts, inputs, .. } = draft;
        parts.shrink();
        let merge = Merge::new(&inputs, TieBreak::InputId);
        let name = &self.graph.nodes[parts.node].name;
        Host::new(parts, merge, |part| self.randomness.joined(&["host ", name, " ", part]))
    }

    fn finish_port(&self, index: usize, draft: PortDraft, paused: &PausedLinks) -> Port {
        let link = &self.graph.links[index];
        let vcs = || draft.vcs.iter().map(|&vc| &self.vcs[vc as usize]);
        let mut contracts: Vec<_> = vcs().map(|vc| vc.contract(index)).collect();
        let flows: Vec<_> = vcs().map(|vc| vc.flow).collect();
        let has_policer = vcs().any(|vc| vc.policer(index).is_some());
        let policers = vcs().filter(|_| has_policer).map(|vc| vc.policer(index)).collect();
        let name = self.graph.link_name(index);
        let ties = match self.scenario.spec().tie_break {
            scenario::TieBreak::PortId => TieBreak::InputId,
            scenario::TieBreak::Random => {
                TieBreak::Random(self.randomness.joined(&["port ", &name, " ties"]))
            }
        };
        let location = match self.graph.nodes[link.from].kind {
            scenario::NodeKind::Switch => Location::Switch,
            scenario::NodeKind::Host => Location::Interface,
        };
        let line = line(link, link.rate, self.slots.at(link));
        let context = PortContext {
            capacity: line.capacity(),
            unit: link.buffer.1,
            rate: link.rate,
            overhead: link.overhead.0,
            vcs: &contracts,
            generator: self.randomness.joined(&["port ", &name, " discard"]),
        };
        let policy = Policy::new(&link.discard, &context).expect("the scenario was checked");
        let in_switch = location == Location::Switch;
        let controls = in_switch && vcs().any(|vc| matches!(vc.role, Role::Controlled { .. }));
        let roles = || vcs().map(|vc| vc.role).collect();
        let control = controls.then(|| rate_control(self.graph, link, &flows, roles(), draft.relays));
        let categories = contracts.iter().map(|contract| contract.category);
        let service = ServiceKind::of(link, location, categories, self.longest_queues.contains(&index));
        let stores = in_switch && self.options.store_queues
            || service == ServiceKind::Stored
            || paused.contains(index);
        if !in_switch {
            // An interface sends in the order in which the host does, whatever the categories.
            contracts.fill(Contract::default());
        }
        let queuing = stores.then(|| Queuing {
            scheduler: Priority::new(&link.scheduler, &contracts, line.service())
                .expect("the scenario was checked"),
            vc_capacity: link.vc_buffer.units(),
            abr: contracts.iter().map(|contract| contract.category == Category::Abr).collect(),
            rates: RateSchedule::of(link, self.slots.at(link)),
            ingress: draft.ingress.iter().map(|&before| paused.number(before)).collect(),
        });
        Port::new(PortParts {
            link: index,
            merge: Merge::new(&draft.inputs, ties),
            outputs: draft.outputs.to_vec(),
            relay_outputs: draft.relay_outputs,
            policy,
            entries: draft.entries,
            policers,
            flows,
            line,
            queuing,
            control,
            delay: link.shortest_delay.ps(),
            location,
            samplers: self.sample.filter(|_| in_switch).map(|period| Box::new(PortSamplers::new(period))),
        })
    }
}

/// Where the port of each link stands in a round of visits: behind the ports that send to it, and on the reverse path behind
/// those of the way there. A round then goes once round the loop that TCP closes.
fn ranks(graph: &Graph) -> Vec<usize> {
    let mut ranks = vec![0; graph.links.len()];
    // A VC may cross a port that a later one moves back. Where VCs go round in circles that never ends.
    for _ in 0..4 {
        for flow in &graph.flows {
            let there = flow.ways().map(|way| (way.0, 0));
            let back = flow.ways_back().map(|way| (way.0, graph.links.len()));
            for (way, start) in there.chain(back) {
                way.iter().fold(start, |rank, &link| {
                    ranks[link] = rank.max(ranks[link]);
                    ranks[link] + 1
                });
            }
        }
    }
    ranks
}

/// The rate control of a port that data of ABR flows cross.
fn rate_control(
    graph: &Graph,
    link: &Link,
    flows: &[Option<usize>],
    roles: Vec<Role>,
    relays: Vec<RmRelay>,
) -> Box<RateControl> {
    let minimum = |(role, flow): (&Role, &Option<usize>)| {
        let controlled = flow.filter(|_| matches!(role, Role::Controlled { .. }))?;
        graph.flows[controlled].abr.as_ref().map(|abr| abr.mcr)
    };
    let minima: Vec<_> = roles.iter().zip(flows).map(minimum).collect();
    let port = celltrain_atm::abr::Port {
        link: Rate::of_bits(link.rate),
        capacity: link.buffer.units(),
        minima: &minima,
    };
    let allocator = link.allocator.as_ref();
    let allocator = allocator.map(|params| Allocator::new(params, &port).expect("the scenario was checked"));
    Box::new(RateControl::new(allocator, roles, relays))
}
