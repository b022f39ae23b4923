//! From a graph to processes and streams.

mod circuits;
mod finish;
mod joints;

use std::collections::BTreeMap;

use celltrain_atm::{Cell, cell::CELL_BITS, contract::Contract, policing::Policer};
use celltrain_engine::{
    Instant, Slot, Time,
    random::{Generator, Randomness},
    stream::{StreamId, Streams},
};
use celltrain_tcp::{Receiver, Sender, Tcp};

use crate::{
    capture::{PacketTap, Path, Places},
    channel::ChannelParts,
    flight::{InFlight, PayloadQueue},
    host::{
        Endpoint, HostParts, IpLayer, Service,
        source::{CellSource, Kind, Pattern, Source, VaryingRate},
    },
    measures::Sampler,
    network::{Carrier, FlowEnds, Network},
    port::{Port, RmRelay, Role, VcEntry},
    run::Options,
    scenario::{self, Flow, Graph, IpServes, Scenario, Traffic},
    traffic::long_range::LongRange,
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
    flight: InFlight,
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
    /// The way back, where TCP uses it.
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
    payloads: Option<usize>,
    /// What captures write into the headers of its packets.
    path: Path,
    contract: Contract,
    /// The flow whose data it carries; none if it carries ACKs.
    flow: Option<usize>,
    /// Where the contents of its RM cells wait, if it is a way of an ABR VC.
    rm_payloads: Option<usize>,
    /// Behind which links of its route the port of another link relays its RM cells, and the number there of the VC whose reverse path
    /// it is.
    relays: Vec<Option<(usize, u32)>>,
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
    /// The port of `port`, for backward RM cells that come from `link`.
    Relay {
        port: usize,
        link: usize,
    },
}

#[derive(Default)]
struct PortDraft {
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    /// Outputs for the reverse paths on which it relays RM cells.
    relay_outputs: Vec<StreamId>,
    entries: Vec<VcEntry>,
    /// What the VCs are to rate control, by label.
    roles: Vec<Role>,
    /// The reverse paths, numbered after `entries`.
    relays: Vec<RmRelay>,
    /// The contracts of the VCs, by label.
    contracts: Vec<Contract>,
    policers: Vec<Option<Policer>>,
    flows: Vec<Option<usize>>,
    /// The longest way a VC has come before it gets here, in links: orders the processes, whose fingerprints are combined in
    /// their order.
    depth: usize,
}

/// How many flows and links of VCs are laid between two looks at whether the network is still wanted.
const LAID_BETWEEN_POLLS: usize = 1 << 12;

/// Builds the network of a scenario for one replication, which takes `captures`; `None` if `interrupt` said so.
pub(crate) fn build(
    scenario: &Scenario,
    graph: &Graph,
    captures: &Places,
    randomness: Randomness,
    options: Options,
    interrupt: &mut dyn FnMut() -> bool,
) -> Option<Network> {
    let mut builder = Builder {
        scenario,
        graph,
        captures,
        randomness,
        options,
        sample: options.trace.then(|| scenario.spec().sample.ps()),
        streams: Vec::new(),
        flight: InFlight::default(),
        crossing: crossing(graph),
        joints: BTreeMap::new(),
        ports: BTreeMap::new(),
        hosts: BTreeMap::new(),
        channels: BTreeMap::new(),
        shapers: Vec::new(),
        circuits: Vec::new(),
    };
    let mut ends = Vec::with_capacity(graph.flows.len());
    let mut laid = 0;
    for (index, flow) in graph.flows.iter().enumerate() {
        laid += 1 + flow.route.len() + flow.back.len();
        if laid >= LAID_BETWEEN_POLLS {
            laid = 0;
            if interrupt() {
                return None;
            }
        }
        ends.push(builder.flow(index, flow));
    }
    builder.finish(ends, interrupt)
}

impl Builder<'_> {
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
            let mut cells = cell_source(&flow.traffic, outgoing, generator, start);
            let next = cells.begin(start);
            self.host(flow.from).sources.push(Source { kind: Kind::Cells(Box::new(cells)), next });
            return FlowEnds {
                from: flow.from,
                to: flow.to,
                outgoing,
                incoming,
                shares,
                carrier: Carrier::Cells,
            };
        }
        let mut sender = Sender::new(&flow.tcp);
        sender.seed(self.randomness.named(&format!("{name} congestion control")));
        let sender = Tcp::Sender(Box::new(sender));
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
            headroom: flow.tcp.send_queue.unwrap_or(u32::MAX),
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
            headroom: u32::MAX,
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
        let carrier = Carrier::Tcp { sender: at_sender, receiver: at_receiver };
        FlowEnds { from: flow.from, to: flow.to, outgoing, incoming, shares, carrier }
    }

    fn add_payloads(&mut self) -> usize {
        self.flight.packets.push(PayloadQueue::default());
        self.flight.packets.len() - 1
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
}

/// How many VCs cross each link.
fn crossing(graph: &Graph) -> Vec<usize> {
    let mut crossing = vec![0; graph.links.len()];
    for (_, flow) in graph.flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index) {
        flow.route.iter().chain(&flow.back).for_each(|&link| crossing[link] += 1);
    }
    crossing
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
    CellSource { outgoing, frame, position: 0, pattern, generator }
}
