//! From a graph to processes and streams.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    aal5::Reassembly,
    abr::{Allocator, Destination, Rate},
    buffer::{DiscardParams, Policy, PolicyName, PortContext},
    cell::CELL_BITS,
    contract::{Category, Contract, Policing, Spacing},
    policing::Policer,
    quantity::{Capacity, CellRate, Unit},
    scheduler::Priority,
};
use celltrain_engine::{
    Instant, Slot, Time,
    long_range::LongRange,
    merge::{Merge, TieBreak},
    random::{Generator, Randomness},
    stream::{Stream, StreamId, Streams},
};
use celltrain_tcp::{Receiver, Sender, Tcp};

use crate::{
    capture::{CellTap, PacketTap, Path, Places},
    channel::{Channel, ChannelParts, RandomLoss, ScriptedLoss},
    host::{
        AbrDestination, AbrEnd, AbrSource, CellQueue, Endpoint, Host, HostParts, Incoming, IncomingStats,
        IpLayer, Outgoing, Pace, Service,
        source::{CellSource, Kind, Pattern, Source, VaryingRate},
    },
    measures::Sampler,
    network::{FlowEnds, Network, Node},
    port::{
        self, Connection, Line, PacketLimit, Pass, Port, PortParts, PortSamplers, Queuing, RateControl, Role,
    },
    run::Options,
    scenario::{
        self, Flow, Framing, Graph, IpServes, Link, Loss, LossDirection, LossUnit, Scenario, Traffic,
    },
    wire::{Wire, Wires},
};

/// Ports and hosts in the making.
struct Builder<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    captures: &'a Places,
    randomness: Randomness,
    options: Options,
    sample: Option<Time>,
    streams: Streams<Cell>,
    wires: Wires,
    /// How many VCs cross each link; those that only pass its port on their way back have labels from there on.
    crossing: Vec<usize>,
    /// The streams from a link to the link or host after it.
    joints: BTreeMap<(Joint, Joint), StreamId>,
    ports: BTreeMap<usize, PortDraft>,
    hosts: BTreeMap<usize, HostParts>,
    /// By the stream that enters them.
    channels: BTreeMap<StreamId, ChannelParts>,
    /// What spaces the cells of VCs that have a peak rate, in front of their host's interface.
    shapers: Vec<Port>,
    /// The VCs of each flow.
    circuits: Vec<Circuits>,
}

/// The VCs that carry a flow: numbers among the hosts' outgoing and incoming ones.
#[derive(Debug, Clone, Copy)]
struct Circuits {
    outgoing: u32,
    incoming: u32,
    /// The way back and the wires, where TCP uses them.
    ack_outgoing: u32,
}

/// A process in the making, by the number of its node or link.
enum Place {
    Host(usize, HostParts),
    Port(usize, PortDraft),
    Channel(ChannelParts),
    Shaper(Box<Port>),
}

/// A VC to be laid.
struct Circuit {
    from: usize,
    to: usize,
    /// Where the contents of its frames wait, if they have any.
    wire: Option<usize>,
    /// What captures write into the headers of its packets.
    path: Path,
    contract: Contract,
    /// The flow whose data it carries; none if it carries ACKs.
    flow: Option<usize>,
    /// Where the contents of its RM cells wait, if it is a way of an ABR VC.
    rm_wire: Option<usize>,
    /// Behind which links of its route it passes the port of another link, and the label that the VC has there whose way back
    /// it is.
    detours: Vec<Option<(usize, u32)>>,
}

/// A VC that was laid.
struct Laid {
    /// Its numbers among the sender's outgoing and the receiver's incoming VCs.
    outgoing: u32,
    incoming: u32,
    /// Its labels at the ports of its route.
    labels: Vec<u32>,
}

/// One end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Joint {
    Host(usize),
    Link(usize),
    /// The port of `port`, for cells on their way back that come from `link`.
    Pass {
        port: usize,
        link: usize,
    },
}

#[derive(Default)]
struct PortDraft {
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    /// Outputs for the ways back that pass the port.
    back_outputs: Vec<StreamId>,
    connections: Vec<Connection>,
    /// What the VCs are to rate control, by label.
    roles: Vec<Role>,
    /// The ways back, by label after those of `connections`.
    passes: Vec<Pass>,
    /// The contracts of the VCs, by label.
    contracts: Vec<Contract>,
    policers: Vec<Option<Policer>>,
    flows: Vec<Option<usize>>,
    /// The longest way a VC has come before it gets here, in links; orders the visits in the direction of the data.
    depth: usize,
}

/// Builds the network of a scenario for one replication, which takes `captures`.
pub(crate) fn build(
    scenario: &Scenario,
    graph: &Graph,
    captures: &Places,
    randomness: Randomness,
    options: Options,
) -> Network {
    let mut builder = Builder {
        scenario,
        graph,
        captures,
        randomness,
        options,
        sample: options.trace.then(|| scenario.spec().sample.ps()),
        streams: Vec::new(),
        wires: Wires::default(),
        crossing: crossing(graph),
        joints: BTreeMap::new(),
        ports: BTreeMap::new(),
        hosts: BTreeMap::new(),
        channels: BTreeMap::new(),
        shapers: Vec::new(),
        circuits: Vec::new(),
    };
    let ends = graph.flows.iter().enumerate().map(|(index, flow)| builder.flow(index, flow)).collect();
    builder.finish(ends)
}

impl Builder<'_> {
    /// Lays the VCs of a flow, one there and one back, unless it shares those of another.
    fn circuits(&mut self, index: usize, flow: &Flow, path: Path) -> Circuits {
        if flow.circuit < index {
            return self.circuits[flow.circuit];
        }
        let forward = Circuit {
            from: flow.from,
            to: flow.to,
            wire: flow.traffic.uses_tcp().then(|| self.add_wire()),
            path,
            contract: flow.contract.clone(),
            flow: Some(index),
            rm_wire: flow.abr.is_some().then(|| self.add_rm_wire()),
            detours: Vec::new(),
        };
        let there = self.circuit(&forward, &flow.route, 0);
        self.script(index, LossDirection::Data, forward.wire);
        let Laid { outgoing, incoming, .. } = there;
        if flow.back.is_empty() {
            return Circuits { outgoing, incoming, ack_outgoing: 0 };
        }
        let backward = Circuit {
            from: flow.to,
            to: flow.from,
            wire: flow.traffic.uses_tcp().then(|| self.add_wire()),
            path: path.reversed(),
            contract: flow.back_contract(),
            flow: None,
            rm_wire: flow.abr.is_some().then(|| self.add_rm_wire()),
            detours: self.detours(flow, &there.labels),
        };
        // ACKs are visited after the data that they acknowledge.
        let back = self.circuit(&backward, &flow.back, self.graph.links.len());
        self.script(index, LossDirection::Ack, backward.wire);
        if let (Some(there_rm), Some(back_rm)) = (forward.rm_wire, backward.rm_wire) {
            self.rate_control(flow, [&there, &back], [there_rm, back_rm]);
        }
        Circuits { outgoing, incoming, ack_outgoing: back.outgoing }
    }

    /// The ports that the way back of an ABR flow passes, whose labels there are `labels`: those with an allocator.
    fn detours(&self, flow: &Flow, labels: &[u32]) -> Vec<Option<(usize, u32)>> {
        let detour = |(&port, &label): (&usize, &u32)| {
            let stamps = flow.abr.is_some() && self.graph.links[port].allocator.is_some();
            stamps.then_some((port, label))
        };
        // The host's own interface stamps nothing.
        flow.route.iter().zip(labels).skip(1).rev().map(detour).collect()
    }

    /// Puts the ends of an ABR VC into the hosts of its flow: the VC there and back, and their wires for RM cells.
    fn rate_control(&mut self, flow: &Flow, ways: [&Laid; 2], rm_wires: [usize; 2]) {
        let Some(params) = &flow.abr else { return };
        let ([there, back], [wire, back_wire]) = (ways, rm_wires);
        let rate = Rate::of_bits(self.graph.links[flow.route[0]].rate);
        let sample = self.sample;
        let host = self.host(flow.from);
        let source = host.abr.len() as u32;
        host.abr.push(AbrSource {
            source: celltrain_atm::abr::Source::new(params, rate).expect("the scenario was checked"),
            outgoing: there.outgoing,
            wire,
            capacity: params.source_buffer.units(),
            queue: CellQueue::default(),
            rate_sampler: Sampler::new(sample),
            queue_sampler: Sampler::new(sample),
        });
        host.outgoing[there.outgoing as usize].abr = Some(source);
        host.incoming[back.incoming as usize].abr = Some(AbrEnd::Source { source, wire: back_wire });
        let destination = Destination::new(params);
        let end = AbrDestination { destination, wire, outgoing: back.outgoing, back_wire };
        self.host(flow.to).incoming[there.incoming as usize].abr = Some(AbrEnd::Destination(Box::new(end)));
    }

    fn flow(&mut self, index: usize, flow: &Flow) -> FlowEnds {
        let path = Path::new(index, flow.from, flow.to, flow.tcp.window_scale);
        let circuits = self.circuits(index, flow, path);
        self.circuits.push(circuits);
        let Circuits { outgoing, incoming, ack_outgoing } = circuits;
        let shares = flow.circuit < index;
        let name = format!("flow {}", flow.name);
        let mut generator = self.randomness.named(&format!("{name} start"));
        let start = Instant::at(generator.uniform(flow.start.from.ps(), flow.start.to.ps()));
        if !flow.traffic.uses_tcp() {
            let generator = self.randomness.named(&format!("{name} cells"));
            let cells = cell_source(&flow.traffic, outgoing, generator, start);
            self.host(flow.from).sources.push(Source { kind: Kind::Cells(Box::new(cells)), next: start });
            return FlowEnds { from: flow.from, to: flow.to, outgoing, incoming, shares, tcp: None };
        }
        let sender = Tcp::Sender(Box::new(Sender::new(&flow.tcp)));
        let receiver = Tcp::Receiver(Box::new(Receiver::new(&flow.tcp)));
        let sampler = Sampler::new(self.sample);
        let processing = (flow.tcp.processing_delay > 0).then(|| Service {
            mean: Slot::of_ps(flow.tcp.processing_delay),
            spread: flow.tcp.processing_spread,
        });
        let of_acks = processing.filter(|_| flow.tcp.acks_processed);
        let (at_sender, at_receiver) =
            (self.host(flow.from).endpoints.len(), self.host(flow.to).endpoints.len());
        let at_receiver = if flow.from == flow.to { at_sender + 1 } else { at_receiver };
        let endpoint = Endpoint {
            tcp: sender,
            outgoing,
            peer: at_receiver as u32,
            path,
            processing: [of_acks, processing],
            room: flow.tcp.send_queue.unwrap_or(u32::MAX),
            sampler,
        };
        self.host(flow.from).endpoints.push(endpoint);
        let sampler = Sampler::new(self.sample);
        let endpoint = Endpoint {
            tcp: receiver,
            outgoing: ack_outgoing,
            peer: at_sender as u32,
            path: path.reversed(),
            processing: [processing, of_acks],
            // An ACK that waited would take the next one's place.
            room: u32::MAX,
            sampler,
        };
        self.host(flow.to).endpoints.push(endpoint);
        let (bytes, every) = match &flow.traffic {
            Traffic::Finite(finite) => (finite.bytes.0, None),
            Traffic::Bursty(bursty) => (bursty.bytes.0, Some(bursty.every.ps())),
            _ => (u64::MAX, None),
        };
        let kind = Kind::Application { endpoint: at_sender as u32, bytes, every };
        self.host(flow.from).sources.push(Source { kind, next: start });
        let tcp = Some((at_sender, at_receiver));
        FlowEnds { from: flow.from, to: flow.to, outgoing, incoming, shares, tcp }
    }

    fn add_wire(&mut self) -> usize {
        self.wires.packets.push(Wire::default());
        self.wires.packets.len() - 1
    }

    fn add_rm_wire(&mut self) -> usize {
        self.wires.rm.push(Wire::default());
        self.wires.rm.len() - 1
    }

    /// Lays a VC along `route`.
    fn circuit(&mut self, circuit: &Circuit, route: &[usize], depth: usize) -> Laid {
        let Circuit { from, to, wire, path, .. } = *circuit;
        let mut stream = self.joint(Joint::Host(from), Joint::Link(route[0]));
        let mut label = self.port(route[0]).connections.len() as u32;
        let (framing, clp) = (self.graph.links[route[0]].framing, circuit.contract.clp);
        let mut pace = None;
        if let Some(pcr) = circuit.contract.pcr {
            // Bare cells come from sources that do not wait.
            let paced = circuit.contract.spacing == Spacing::Frames && framing == Framing::Cells;
            if paced && wire.is_some() {
                pace = Some(Pace::new(Slot::of_bits(CELL_BITS, pcr.0)));
            } else {
                (stream, label) = self.shape(from, route[0], pcr, label, wire);
            }
        }
        self.host(from).outgoing.push(Outgoing {
            stream,
            label,
            wire,
            framing,
            clp,
            frames: 0,
            abr: None,
            pace,
        });
        let mut labels = Vec::with_capacity(route.len());
        for (place, &link) in route.iter().enumerate() {
            let next = route.get(place + 1).map_or(Joint::Host(to), |&link| Joint::Link(link));
            let mut label = match next {
                Joint::Host(host) => self.host(host).incoming.len(),
                Joint::Link(next) | Joint::Pass { port: next, .. } => self.port(next).connections.len(),
            };
            let detour = circuit.detours.get(place).copied().flatten();
            stream = match detour {
                Some((port, vc)) => {
                    label = self.pass(Joint::Pass { port, link }, next, label, vc, circuit.rm_wire);
                    self.joint(Joint::Link(link), Joint::Link(port))
                }
                None => self.joint(Joint::Link(link), next),
            };
            if let Some(channel) = self.channels.get_mut(&stream) {
                channel.wires.resize(channel.wires.len().max(label + 1), None);
                channel.wires[label] = wire;
                if let Some(tap) = &mut channel.tap {
                    // On the link the VC goes by its number among the VCs of the port.
                    let number = self.ports.get(&link).map_or(0, |port| port.connections.len());
                    tap.add(label as u32, number as u32, path);
                }
            }
            // The first switch polices.
            let line = self.graph.links[route[0]].rate;
            let policer = if place == 1 { Policer::new(&circuit.contract, line) } else { None };
            let policing = if place == 1 { circuit.contract.policing } else { Policing::None };
            let port = self.port(link);
            port.policers.push(policer);
            port.depth = port.depth.max(depth + place);
            labels.push(port.connections.len() as u32);
            port.connections.push(Connection::new(stream, label as u32, wire));
            port.roles.push(role(circuit));
            port.flows.push(circuit.flow);
            port.contracts.push(Contract { policing, ..circuit.contract.clone() });
        }
        self.host(to).incoming.push(Incoming {
            reassembly: Reassembly::default(),
            wire,
            abr: None,
            stats: IncomingStats::default(),
        });
        let outgoing = self.host(from).outgoing.len() as u32 - 1;
        Laid { outgoing, incoming: self.host(to).incoming.len() as u32 - 1, labels }
    }

    /// Lets the way back of the VC `vc` of a port pass it, on to `next`, where it is called `label`; returns its label here.
    fn pass(&mut self, here: Joint, next: Joint, label: usize, vc: u32, rm_wire: Option<usize>) -> usize {
        let Joint::Pass { port, .. } = here else { unreachable!("ways back pass ports") };
        let output = self.joint(here, next);
        let wire = rm_wire.expect("what passes is the way back of an ABR VC");
        let first = self.crossing[port];
        let passes = &mut self.port(port).passes;
        passes.push(Pass { output, label: label as u32, vc, wire });
        first + passes.len() - 1
    }

    /// Puts a shaper in front of the interface `link` of host `from`, for a VC that the interface calls `label`; returns the
    /// stream to the shaper and the VC's label there.
    ///
    /// A shaper is a port whose line has the peak rate and leads nowhere but to the interface.
    fn shape(
        &mut self,
        from: usize,
        link: usize,
        pcr: CellRate,
        label: u32,
        wire: Option<usize>,
    ) -> (StreamId, u32) {
        let line = line(&Link { rate: pcr.0, buffer: Capacity::UNLIMITED, ..self.graph.links[link].clone() });
        let (stream, spaced) = (self.add_stream(Slot::ZERO), self.add_stream(line.slot()));
        self.host(from).outputs.push(stream);
        self.port(link).inputs.push(spaced);
        let policy = DiscardParams::of(PolicyName::TailDrop);
        let context = PortContext {
            capacity: u64::MAX,
            unit: Unit::Cells,
            rate: pcr.0,
            vcs: &[Contract::default()],
            generator: self.randomness.named("unused"),
        };
        self.shapers.push(Port::new(PortParts {
            name: String::new(),
            link,
            inputs: vec![stream],
            outputs: vec![spaced],
            back_outputs: Vec::new(),
            merge: Merge::new(&[stream], TieBreak::InputId),
            policy: Policy::new(&policy, &context).expect("tail drop has no parameters"),
            connections: vec![Connection::new(spaced, label, wire)],
            flows: vec![None],
            line,
            queuing: None,
            keeps_accounts: false,
            control: None,
            delay: 0,
            place: port::Place::Shaper,
            samplers: PortSamplers::new(None),
        }));
        (stream, 0)
    }

    /// Tells the channels which segments of flow `flow` in one direction, whose VC has the wire `wire`, are to be lost.
    fn script(&mut self, flow: usize, direction: LossDirection, wire: Option<usize>) {
        let Some(wire) = wire else { return };
        for loss in self.graph.losses.iter().filter(|loss| (loss.flow, loss.direction) == (flow, direction)) {
            // The VC takes one of the link's ways; on the others it has no frames.
            for channel in self.channels.values_mut().filter(|channel| channel.link == loss.link) {
                let Loss { byte, occurrence: left, .. } = *loss;
                channel.scripted.push(ScriptedLoss { wire, direction, byte, left });
            }
        }
    }

    /// The stream from one process to the next, made when first asked for.
    fn joint(&mut self, from: Joint, to: Joint) -> StreamId {
        if let Some(&stream) = self.joints.get(&(from, to)) {
            return stream;
        }
        let slot = match from {
            Joint::Host(_) => Slot::ZERO,
            Joint::Link(link) | Joint::Pass { link, .. } => line(&self.graph.links[link]).slot(),
        };
        let stream = self.add_stream(slot);
        self.joints.insert((from, to), stream);
        let mut arriving = stream;
        match from {
            Joint::Host(host) => self.host(host).outputs.push(stream),
            Joint::Pass { port, .. } => self.port(port).back_outputs.push(stream),
            Joint::Link(link) => {
                self.port(link).outputs.push(stream);
                if self.loses(link) || self.captures.links.contains(&link) {
                    arriving = self.add_stream(slot);
                    let channel = self.channel(link, stream, arriving);
                    self.channels.insert(stream, channel);
                }
            }
        }
        match to {
            Joint::Host(host) => self.host(host).inputs.push(arriving),
            Joint::Link(link) | Joint::Pass { port: link, .. } => self.port(link).inputs.push(arriving),
        }
        stream
    }

    fn add_stream(&mut self, slot: Slot) -> StreamId {
        self.streams.push(Stream::new(slot));
        self.streams.len() - 1
    }

    /// Whether anything is to be lost on a link.
    fn loses(&self, link: usize) -> bool {
        self.graph.links[link].loss > 0.0 || self.graph.losses.iter().any(|loss| loss.link == link)
    }

    fn channel(&self, link: usize, input: StreamId, output: StreamId) -> ChannelParts {
        let spec = &self.graph.links[link];
        // The first and the second of a link's ways are told apart by their numbers in the order of the flows.
        let way = self.channels.values().filter(|channel| channel.link == link).count();
        let generator = self.randomness.named(&format!("link {} loss {way}", self.graph.link_name(link)));
        let random = RandomLoss::new(spec.loss, spec.loss_unit == LossUnit::Frame, generator);
        let tap = self.captures.links.contains(&link).then(|| CellTap::new(self.scenario.spec().aal5));
        let loses = self.loses(link);
        ChannelParts { link, input, output, wires: Vec::new(), loses, random, scripted: Vec::new(), tap }
    }

    fn port(&mut self, link: usize) -> &mut PortDraft {
        self.ports.entry(link).or_default()
    }

    fn host(&mut self, node: usize) -> &mut HostParts {
        let (spec, name) = (self.scenario.spec(), &self.graph.nodes[node].name);
        let captured = self.captures.hosts.contains(&node);
        self.hosts.entry(node).or_insert_with(|| HostParts {
            name: name.clone(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            endpoints: Vec::new(),
            sources: Vec::new(),
            abr: Vec::new(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            ip: ip_layer(&spec.host),
            aal5: spec.aal5,
            tap: captured.then(|| Box::new(PacketTap::default())),
        })
    }

    /// Makes the processes, in the direction of the data: sending hosts, ports, receiving hosts, ports of the way back.
    /// A round of visits then goes once round the loop that TCP closes.
    fn finish(mut self, flows: Vec<FlowEnds>) -> Network {
        let mut places: Vec<(usize, Place)> = Vec::new();
        let (hosts, ports) = (std::mem::take(&mut self.hosts), std::mem::take(&mut self.ports));
        let channels: Vec<_> = std::mem::take(&mut self.channels)
            .into_values()
            .map(|channel| (ports[&channel.link].depth + 1, Place::Channel(channel)))
            .collect();
        for (node, parts) in hosts {
            // Where ACKs start is where the data has arrived.
            let receives = parts.sources.is_empty();
            let depth = if receives { self.graph.links.len() } else { 0 };
            places.push((depth, Place::Host(node, parts)));
        }
        for (link, draft) in ports {
            places.push((draft.depth + 1, Place::Port(link, draft)));
        }
        // Between the hosts and their interfaces.
        let shapers = std::mem::take(&mut self.shapers);
        places.extend(shapers.into_iter().map(|shaper| (0, Place::Shaper(Box::new(shaper)))));
        // Behind their ports: the sort keeps the order of what is equally deep.
        places.extend(channels);
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
                Place::Channel(parts) => Node::Channel(Box::new(Channel::new(parts))),
                Place::Shaper(shaper) => Node::Port(shaper),
            });
        }
        let flows = flows
            .into_iter()
            .map(|ends| FlowEnds { from: host_index[&ends.from], to: host_index[&ends.to], ..ends })
            .collect();
        Network::new(nodes, self.streams, self.wires, flows)
    }

    fn finish_host(&self, parts: HostParts) -> Host {
        let merge = Merge::new(&parts.inputs, TieBreak::InputId);
        let name = parts.name.clone();
        Host::new(parts, merge, |part| self.randomness.named(&format!("host {name} {part}")))
    }

    fn finish_port(&self, index: usize, mut draft: PortDraft) -> Port {
        let link = &self.graph.links[index];
        let name = self.graph.link_name(index);
        let ties = match self.scenario.spec().tie_break {
            scenario::TieBreak::PortId => TieBreak::InputId,
            scenario::TieBreak::Random => {
                TieBreak::Random(self.randomness.named(&format!("port {name} ties")))
            }
        };
        let place = match self.graph.nodes[link.from].kind {
            scenario::NodeKind::Switch => port::Place::Switch,
            scenario::NodeKind::Host => port::Place::Interface,
        };
        let line = line(link);
        let context = PortContext {
            capacity: line.capacity(),
            unit: link.buffer.1,
            rate: link.rate,
            vcs: &draft.contracts,
            generator: self.randomness.named(&format!("port {name} discard")),
        };
        let policy = Policy::new(&link.discard, &context).expect("the scenario was checked");
        let in_switch = place == port::Place::Switch;
        let control = rate_control(link, &mut draft).filter(|_| in_switch);
        let keeps_accounts = link.discard.policy.keeps_accounts();
        let stores = in_switch
            && (self.options.store_queues
                || link.stores_queue(&draft.contracts)
                || keeps_accounts && control.is_some());
        let queuing = stores.then(|| Queuing {
            scheduler: Priority::new(&link.scheduler, &draft.contracts).expect("the scenario was checked"),
            vc_capacity: link.vc_buffer.units(),
            policers: draft.policers,
        });
        Port::new(PortParts {
            name,
            link: index,
            merge: Merge::new(&draft.inputs, ties),
            inputs: draft.inputs,
            outputs: draft.outputs,
            back_outputs: draft.back_outputs,
            policy,
            connections: draft.connections,
            flows: draft.flows,
            line,
            queuing,
            keeps_accounts: in_switch && keeps_accounts,
            control,
            delay: link.delay.ps(),
            place,
            samplers: PortSamplers::new(self.sample.filter(|_| in_switch)),
        })
    }
}

/// How many VCs cross each link.
fn crossing(graph: &Graph) -> Vec<usize> {
    let mut crossing = vec![0; graph.links.len()];
    for (_, flow) in graph.flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index) {
        flow.route.iter().chain(&flow.back).for_each(|&link| crossing[link] += 1);
    }
    crossing
}

/// What a VC is to the rate control of the ports that it crosses.
fn role(circuit: &Circuit) -> Role {
    match (circuit.contract.category, circuit.flow, circuit.rm_wire) {
        (Category::Abr, Some(_), Some(wire)) => Role::Controlled { wire },
        (Category::Abr, ..) => Role::Ahead { abr: true },
        (category, ..) if category < Category::Abr => Role::Ahead { abr: false },
        _ => Role::Behind,
    }
}

/// The rate control of a port, if data of ABR flows cross it.
fn rate_control(link: &Link, draft: &mut PortDraft) -> Option<Box<RateControl>> {
    let (roles, passes) = (std::mem::take(&mut draft.roles), std::mem::take(&mut draft.passes));
    let port = celltrain_atm::abr::Port {
        link: Rate::of_bits(link.rate),
        capacity: link.buffer.units(),
        vcs: draft.connections.len(),
    };
    let allocator = link.allocator.as_ref();
    let allocator = allocator.map(|params| Allocator::new(params, &port).expect("the scenario was checked"));
    let controls = roles.iter().any(|role| matches!(role, Role::Controlled { .. }));
    controls.then(|| Box::new(RateControl::new(allocator, roles, passes)))
}

/// A link and the buffer in front of it.
fn line(link: &Link) -> Line {
    match link.framing {
        Framing::Cells => {
            Line::Cells { slot: Slot::of_bits(CELL_BITS, link.rate), capacity: link.buffer.units() }
        }
        Framing::Packets => {
            let limit = match link.buffer {
                Capacity(Some(bytes), Unit::Bytes) => PacketLimit::Bytes(bytes),
                capacity => PacketLimit::Packets(capacity.units()),
            };
            Line::Packets { byte: Slot::of_bits(8, link.rate), overhead: link.overhead.0, limit }
        }
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
        Traffic::LongRange(form) => {
            let steps = LongRange::new(&form.rate, generator.clone()).expect("the scenario was checked");
            (form.frame, Pattern::Varying(VaryingRate::new(steps, start.ps())))
        }
        Traffic::Greedy(_) | Traffic::Finite(_) | Traffic::Bursty(_) => {
            unreachable!("TCP carries this traffic")
        }
    };
    let mut source = CellSource { outgoing, frame, position: 0, pattern, generator };
    source.begin(start);
    source
}
