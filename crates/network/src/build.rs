//! From a graph to processes and streams.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    aal5::Reassembly,
    buffer::{DiscardParams, Policy, PolicyName},
    cell::CELL_BITS,
};
use celltrain_engine::{
    Instant, Slot, Time,
    merge::{Merge, TieBreak},
    random::{Generator, Randomness},
    stream::{Stream, StreamId, Streams},
};
use celltrain_tcp::{Receiver, Sender};

use crate::{
    host::{
        Endpoint, Host, HostParts, Incoming, IncomingStats, IpLayer, Outgoing, Service, Tcp,
        source::{CellSource, Kind, Pattern, Source},
    },
    measures::Sampler,
    network::{FlowEnds, Network, Node},
    port::{Connection, Port, PortParts},
    scenario::{self, Flow, Graph, IpServes, Scenario, Traffic},
    wire::Wire,
};

/// Ports and hosts in the making.
struct Builder<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    randomness: Randomness,
    sample: Option<Time>,
    streams: Streams<Cell>,
    wires: Vec<Wire>,
    /// The streams from a link to the link or host after it.
    joints: BTreeMap<(Joint, Joint), StreamId>,
    ports: BTreeMap<usize, PortDraft>,
    hosts: BTreeMap<usize, HostParts>,
}

/// A process in the making, by the number of its node or link.
enum Place {
    Host(usize, HostParts),
    Port(usize, PortDraft),
}

/// One end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Joint {
    Host(usize),
    Link(usize),
}

#[derive(Default)]
struct PortDraft {
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    connections: Vec<Connection>,
    /// The longest way a VC has come before it gets here, in links; orders the visits in the direction of the data.
    depth: usize,
}

/// Builds the network of a scenario for one replication; `trace` keeps series.
pub(crate) fn build(scenario: &Scenario, graph: &Graph, randomness: Randomness, trace: bool) -> Network {
    let mut builder = Builder {
        scenario,
        graph,
        randomness,
        sample: trace.then(|| scenario.spec().sample.ps()),
        streams: Vec::new(),
        wires: Vec::new(),
        joints: BTreeMap::new(),
        ports: BTreeMap::new(),
        hosts: BTreeMap::new(),
    };
    let ends = graph.flows.iter().map(|flow| builder.flow(flow)).collect();
    builder.finish(ends)
}

impl Builder<'_> {
    fn flow(&mut self, flow: &Flow) -> FlowEnds {
        let tcp = flow.traffic.uses_tcp();
        let forward_wire = tcp.then(|| self.add_wire());
        let (outgoing, incoming) = self.circuit(flow.from, flow.to, &flow.route, forward_wire, 0);
        let name = format!("flow {}", flow.name);
        let mut generator = self.randomness.named(&format!("{name} start"));
        let start = Instant::at(generator.uniform(flow.start.from.ps(), flow.start.to.ps()));
        if !tcp {
            let generator = self.randomness.named(&format!("{name} cells"));
            let cells = cell_source(&flow.traffic, outgoing, generator, start);
            self.host(flow.from).sources.push(Source { kind: Kind::Cells(cells), next: start });
            return FlowEnds { from: flow.from, to: flow.to, incoming, tcp: None };
        }
        let backward_wire = Some(self.add_wire());
        // ACKs are visited after the data that they acknowledge.
        let (ack_outgoing, _) = self.circuit(flow.to, flow.from, &flow.back, backward_wire, self.graph.links.len());
        let sender = Tcp::Sender(Box::new(Sender::new(&flow.tcp)));
        let receiver = Tcp::Receiver(Box::new(Receiver::new(&flow.tcp)));
        let sampler = Sampler::new(self.sample);
        let processing = (flow.tcp.processing_delay > 0).then(|| Service {
            mean: Slot::of_ps(flow.tcp.processing_delay),
            spread: flow.tcp.processing_spread,
        });
        let (at_sender, at_receiver) = (self.host(flow.from).endpoints.len(), self.host(flow.to).endpoints.len());
        let at_receiver = if flow.from == flow.to { at_sender + 1 } else { at_receiver };
        let endpoint = Endpoint { tcp: sender, outgoing, peer: at_receiver as u32, processing, sampler };
        self.host(flow.from).endpoints.push(endpoint);
        let sampler = Sampler::new(None);
        let endpoint = Endpoint { tcp: receiver, outgoing: ack_outgoing, peer: at_sender as u32, processing, sampler };
        self.host(flow.to).endpoints.push(endpoint);
        let (bytes, every) = match &flow.traffic {
            Traffic::Finite(finite) => (finite.bytes.0, None),
            Traffic::Bursty(bursty) => (bursty.bytes.0, Some(bursty.every.ps())),
            _ => (u64::MAX, None),
        };
        let kind = Kind::Application { endpoint: at_sender as u32, bytes, every };
        self.host(flow.from).sources.push(Source { kind, next: start });
        FlowEnds { from: flow.from, to: flow.to, incoming, tcp: Some((at_sender, at_receiver)) }
    }

    fn add_wire(&mut self) -> usize {
        self.wires.push(Wire::default());
        self.wires.len() - 1
    }

    /// Lays a VC along `route`; returns its numbers among the sender's outgoing and the receiver's incoming VCs.
    fn circuit(
        &mut self,
        from: usize,
        to: usize,
        route: &[usize],
        wire: Option<usize>,
        depth: usize,
    ) -> (u32, u32) {
        let mut stream = self.joint(Joint::Host(from), Joint::Link(route[0]));
        let label = self.port(route[0]).connections.len() as u32;
        self.host(from).outgoing.push(Outgoing { stream, label, wire, frames: 0 });
        for (place, &link) in route.iter().enumerate() {
            let next = route.get(place + 1).map_or(Joint::Host(to), |&link| Joint::Link(link));
            stream = self.joint(Joint::Link(link), next);
            let label = match next {
                Joint::Link(next) => self.port(next).connections.len(),
                Joint::Host(host) => self.host(host).incoming.len(),
            };
            let port = self.port(link);
            port.depth = port.depth.max(depth + place);
            port.connections.push(Connection::new(stream, label as u32));
        }
        self.host(to).incoming.push(Incoming {
            reassembly: Reassembly::default(),
            wire,
            stats: IncomingStats::default(),
        });
        (self.host(from).outgoing.len() as u32 - 1, self.host(to).incoming.len() as u32 - 1)
    }

    /// The stream from one process to the next, made when first asked for.
    fn joint(&mut self, from: Joint, to: Joint) -> StreamId {
        if let Some(&stream) = self.joints.get(&(from, to)) {
            return stream;
        }
        let stream = self.streams.len();
        self.joints.insert((from, to), stream);
        match from {
            Joint::Host(host) => {
                self.streams.push(Stream::new(Slot::ZERO));
                self.host(host).outputs.push(stream);
            }
            Joint::Link(link) => {
                self.streams.push(Stream::new(self.slot(link)));
                self.port(link).outputs.push(stream);
            }
        }
        match to {
            Joint::Host(host) => self.host(host).inputs.push(stream),
            Joint::Link(link) => self.port(link).inputs.push(stream),
        }
        stream
    }

    fn slot(&self, link: usize) -> Slot {
        Slot::of_bits(CELL_BITS, self.graph.links[link].rate)
    }

    fn port(&mut self, link: usize) -> &mut PortDraft {
        self.ports.entry(link).or_default()
    }

    fn host(&mut self, node: usize) -> &mut HostParts {
        let (spec, name) = (self.scenario.spec(), &self.graph.nodes[node].name);
        self.hosts.entry(node).or_insert_with(|| HostParts {
            name: name.clone(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            endpoints: Vec::new(),
            sources: Vec::new(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            ip: ip_layer(&spec.host),
            aal5: spec.aal5,
        })
    }

    /// Makes the processes, in the direction of the data: sending hosts, ports, receiving hosts, ports of the way back.
    /// A round of visits then goes once round the loop that TCP closes.
    fn finish(mut self, flows: Vec<FlowEnds>) -> Network {
        let mut places: Vec<(usize, Place)> = Vec::new();
        let (hosts, ports) = (std::mem::take(&mut self.hosts), std::mem::take(&mut self.ports));
        for (node, parts) in hosts {
            // Where ACKs start is where the data has arrived.
            let receives = parts.sources.is_empty();
            let depth = if receives { self.graph.links.len() } else { 0 };
            places.push((depth, Place::Host(node, parts)));
        }
        for (link, draft) in ports {
            places.push((draft.depth + 1, Place::Port(link, draft)));
        }
        places.sort_by_key(|place| place.0);
        let mut host_index = BTreeMap::new();
        let mut nodes = Vec::new();
        for (_, place) in places {
            nodes.push(match place {
                Place::Host(node, parts) => {
                    host_index.insert(node, nodes.len());
                    Node::Host(Box::new(self.finish_host(parts)))
                }
                Place::Port(link, draft) => Node::Port(Box::new(self.finish_port(link, draft))),
            });
        }
        let flows = flows
            .into_iter()
            .map(|ends| FlowEnds { from: host_index[&ends.from], to: host_index[&ends.to], ..ends })
            .collect();
        Network::new(nodes, self.streams, self.wires, flows)
    }

    fn finish_host(&self, parts: HostParts) -> Host {
        let merge = Merge::new(&parts.inputs, &self.streams, TieBreak::InputId);
        let name = parts.name.clone();
        Host::new(parts, merge, |part| self.randomness.named(&format!("host {name} {part}")))
    }

    fn finish_port(&self, index: usize, draft: PortDraft) -> Port {
        let link = &self.graph.links[index];
        let name = format!("{} > {}", self.graph.nodes[link.from].name, self.graph.nodes[link.to].name);
        let ties = match self.scenario.spec().tie_break {
            scenario::TieBreak::PortId => TieBreak::InputId,
            scenario::TieBreak::Random => TieBreak::Random(self.randomness.named(&format!("port {name} ties"))),
        };
        let from_switch = self.graph.nodes[link.from].kind == scenario::NodeKind::Switch;
        let (capacity, discard) = match from_switch {
            true => (link.buffer.cells(), link.discard.clone()),
            false => (u64::MAX, DiscardParams::of(PolicyName::TailDrop)),
        };
        let policy = Policy::new(&discard, capacity, draft.connections.len()).expect("the scenario was checked");
        Port::new(PortParts {
            name,
            merge: Merge::new(&draft.inputs, &self.streams, ties),
            inputs: draft.inputs,
            outputs: draft.outputs,
            policy,
            connections: draft.connections,
            slot: self.slot(index),
            capacity,
            delay: link.delay.ps(),
            from_switch,
            sampler: Sampler::new(self.sample.filter(|_| from_switch)),
        })
    }
}

fn ip_layer(spec: &scenario::HostSpec) -> IpLayer {
    let service = spec.ip_rate.map(|rate| {
        let mean = Slot::of_packets(rate);
        Service { mean, spread: (mean.ps() as f64 * spec.ip_spread) as Time }
    });
    IpLayer { service, serves_arrivals: spec.ip_serves == IpServes::Both }
}

fn cell_source(traffic: &Traffic, outgoing: u32, generator: Generator, start: Instant) -> CellSource {
    let interval = |rate: scenario::CellRate| Slot::of_bits(CELL_BITS, rate.0);
    let (frame, pattern) = match traffic {
        Traffic::Cbr(cbr) => (cbr.frame, Pattern::Constant { interval: interval(cbr.rate) }),
        Traffic::Poisson(poisson) => {
            let mean = interval(poisson.rate).ps() * u64::from(poisson.frame);
            (poisson.frame, Pattern::Poisson { mean })
        }
        Traffic::OnOff(on_off) => {
            let pattern = Pattern::OnOff {
                interval: interval(on_off.peak),
                on: on_off.on.ps(),
                off: on_off.off.ps(),
                exponential: on_off.distribution == scenario::Distribution::Exponential,
                on_until: start,
            };
            (on_off.frame, pattern)
        }
        Traffic::Greedy(_) | Traffic::Finite(_) | Traffic::Bursty(_) => {
            unreachable!("TCP carries this traffic")
        }
    };
    let mut source = CellSource { outgoing, frame, position: 0, pattern, generator };
    source.begin(start);
    source
}
