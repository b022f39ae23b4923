//! From a graph to processes and streams.

mod backlog;
mod chains;
mod circuits;
mod drafts;
mod finish;
mod idle;
mod joints;
mod made;
mod parties;
mod pauses;
mod row;
mod spray;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use celltrain_atm::{
    Cell,
    contract::{Contract, Policing},
    policing::Policer,
};
use celltrain_engine::{
    Instant, Slot, Time,
    quantity::BitRate,
    random::{Generator, Randomness},
    stream::{Stream, StreamId},
    time::NEVER,
};
use celltrain_tcp::{Receiver, Sender, Tcp};

pub(crate) use self::joints::processing;
use self::{drafts::Drafts, parties::duplex_ends, row::Row};
use crate::{
    capture::{PacketTap, Path, Places},
    channel::ChannelParts,
    flight::{InFlight, PayloadQueue},
    free::free,
    host::{Begun, Endpoint, HostParts, IpLayer, Member, Pool, Sends, Service, Shift},
    measures::{Idle, Sampler},
    network::{BarePayload, Carrier, FlowEnds, Network},
    port::VcEntry,
    rate_control::{RmRelay, Role},
    run::Options,
    scenario::{
        self, ArrivalTimes, Flow, Graph, IpServes, Loss, LossDirection, Scenario, ShortFlows, Traffic,
    },
    shaper::Shaper,
    slots::SlotsOfParts,
    traffic::{
        arrivals::{ArrivalProcess, Arrivals},
        source::{CellSource, Kind, Source},
        unit::Unit,
    },
};

/// Ports and hosts in the making.
struct Builder<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    captures: &'a Places,
    randomness: Randomness,
    options: Options,
    slots: SlotsOfParts,
    sample: Option<Time>,
    streams: Vec<Stream<Cell>>,
    flight: InFlight,
    /// How many VCs cross each link; VCs whose reverse path passes its port have the VCIs after these.
    crossing: Vec<usize>,
    /// The streams from relays to what is after them; those from hosts stand with them, those from links, or behind an impaired link from
    /// its channel, with their ports.
    relays: BTreeMap<Joint, Leaving>,
    /// By link.
    ports: Drafts<PortDraft>,
    /// The VCs laid so far.
    vcs: Vec<VcDraft>,
    /// The contract of the last VC back: most are alike.
    back_contract: Arc<Contract>,
    /// By node.
    hosts: Drafts<HostDraft>,
    /// By the stream that enters them.
    channels: BTreeMap<StreamId, ChannelParts>,
    /// The streams into the channels that all cells of a link pass, by link.
    whole: BTreeMap<usize, StreamId>,
    /// The links behind which ways of sprayed packets part or meet.
    parting: BTreeSet<usize>,
    /// The segments of each flow that are to be lost, and the links that lose any.
    losses: BTreeMap<usize, Vec<&'a Loss>>,
    losing: BTreeSet<usize>,
    /// Links in front of which more may wait than leaves in all the time that there is.
    longest_queues: BTreeSet<usize>,
    /// What spaces the cells of VCs that have a peak rate, in front of their host's interface.
    shapers: Vec<Shaper>,
    /// The VCs of each flow.
    circuits: Vec<Circuits>,
}

/// The VCs that carry a flow: numbers among the hosts' outgoing and incoming ones.
#[derive(Debug, Clone, Copy)]
struct Circuits {
    outgoing: u32,
    incoming: u32,
    /// The reverse path, where TCP uses it.
    ack_outgoing: u32,
}

/// A process in the making, by the number of its node or link.
enum Place {
    Host(usize),
    Port(usize),
    Channel(Box<ChannelParts>),
    Shaper(Box<Shaper>),
}

/// A VC to be laid.
struct Circuit<'a> {
    /// The name of the flow that sets it up.
    name: &'a str,
    from: usize,
    to: usize,
    /// Where the contents of its frames wait, if they have any.
    payloads: Option<usize>,
    /// What its frames take on the idle path, if their delays are measured.
    measured: Option<Idle>,
    /// What captures write into the headers of its packets.
    path: Path,
    contract: Arc<Contract>,
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
    /// Its VCIs at the ports of its route.
    vcis: Vec<u32>,
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

/// The streams from a process, by what they lead to. Most processes have one or two, the port of a switch may have a hundred thousand.
#[derive(Default)]
struct Leaving {
    few: Row<(Joint, StreamId)>,
    others: BTreeMap<Joint, StreamId>,
}

impl Leaving {
    /// More than this are found by a search tree.
    const FEW: usize = 8;

    fn get(&self, to: Joint) -> Option<StreamId> {
        let few = self.few.iter().find(|(joint, _)| *joint == to);
        few.map(|(_, stream)| *stream).or_else(|| self.others.get(&to).copied())
    }

    /// A further one.
    fn insert(&mut self, to: Joint, stream: StreamId) {
        if self.few.len() < Self::FEW {
            self.few.push((to, stream));
        } else {
            self.others.insert(to, stream);
        }
    }
}

/// A VC that was laid, for the ports that it crosses: they keep its number until they are made, because the routes of a network may
/// have millions of links together.
struct VcDraft {
    contract: Arc<Contract>,
    /// The flow whose data it carries; none if it carries ACKs.
    flow: Option<usize>,
    /// What it is to rate control.
    role: Role,
    /// The first switch polices it: the link behind that, if there is one.
    policed_at: Option<usize>,
    /// The rate of its first link.
    line: BitRate,
}

impl VcDraft {
    /// Its policer at the port of `link`.
    fn policer(&self, link: usize) -> Option<Policer> {
        (self.policed_at == Some(link)).then(|| Policer::new(&self.contract, self.line)).flatten()
    }

    /// Its contract with the port of `link`.
    fn contract(&self, link: usize) -> Contract {
        let policing = if self.policed_at == Some(link) { self.contract.policing } else { Policing::None };
        Contract { policing, ..(*self.contract).clone() }
    }
}

struct HostDraft {
    parts: HostParts,
    inputs: Row<StreamId>,
    /// The streams to the network interfaces.
    next: Leaving,
}

#[derive(Default)]
struct PortDraft {
    inputs: Row<StreamId>,
    outputs: Row<StreamId>,
    /// Outputs for the reverse paths on which it relays RM cells.
    relay_outputs: Vec<StreamId>,
    /// The streams to what is behind its link.
    next: Leaving,
    /// Those of its streams that enter a channel.
    channels: Vec<StreamId>,
    entries: Vec<VcEntry>,
    /// The numbers of the VCs among all that are laid, by VCI.
    vcs: Row<u32>,
    /// The link on which each VC comes, by VCI; empty where none is paused.
    ingress: Vec<usize>,
    /// The reverse paths, numbered after `entries`.
    relays: Vec<RmRelay>,
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
        slots: SlotsOfParts::of(graph),
        sample: options.trace.then(|| scenario.spec().sample.ps()),
        streams: Vec::new(),
        flight: InFlight::default(),
        crossing: crossing(graph),
        relays: BTreeMap::new(),
        ports: Drafts::of(graph.links.len()),
        vcs: Vec::new(),
        back_contract: Arc::default(),
        hosts: Drafts::of(graph.nodes.len()),
        channels: BTreeMap::new(),
        whole: BTreeMap::new(),
        parting: parting(graph),
        losses: losses(graph),
        losing: graph.losses.iter().map(|loss| loss.link).collect(),
        longest_queues: backlog::longest_queues(graph, scenario.spec()),
        shapers: Vec::new(),
        circuits: Vec::new(),
    };
    let mut ends = Vec::with_capacity(graph.flows.len());
    let mut laid = 0;
    for (index, flow) in graph.flows.iter().enumerate() {
        laid += 1 + flow.hops().map(Iterator::count).iter().sum::<usize>();
        if laid >= LAID_BETWEEN_POLLS {
            laid = 0;
            if interrupt() {
                builder.discard();
                return None;
            }
        }
        ends.push(builder.flow(index, flow));
    }
    builder.finish(ends, interrupt)
}

/// Appends to a list that mostly has one item. A vector would make room for four, in each of very many hosts and ports.
fn push_only<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

impl Builder<'_> {
    /// Frees what has been made of a network that nobody wants any more, without waiting for it.
    fn discard(self) {
        let Self { streams, flight, relays, ports, vcs, hosts, channels, circuits, .. } = self;
        free((streams, flight, relays, ports, vcs, hosts, channels, circuits));
    }

    fn flow(&mut self, index: usize, flow: &Flow) -> FlowEnds {
        let path = Path::new(index, flow.from, flow.to, flow.tcp.window_scale);
        let circuits = self.circuits(index, flow, path);
        self.circuits.push(circuits);
        let Circuits { outgoing, incoming, ack_outgoing } = circuits;
        let shares = flow.circuit < index;
        let generator = |what: &str| self.randomness.joined(&["flow ", &flow.name, what]);
        let mut begins = generator(" start");
        let start = Instant::at(begins.uniform(flow.start.from.ps(), flow.start.to.ps()));
        if !flow.traffic.uses_tcp() {
            let cell_times = generator(" cells");
            let link = &self.graph.links[flow.route[0]];
            let unit = Unit::of(&flow.traffic, link.framing, &self.scenario.spec().aal5);
            let times = (start, stop_of(flow));
            let end = self.scenario.spec().duration.ps();
            let unit = (unit, self.slots.at(link));
            let mut cells = CellSource::new(&flow.traffic, unit, outgoing, cell_times, times, end);
            let packet = flow.traffic.packet();
            if let Some(mean) = packet.filter(|_| flow.traffic.varies_packets()) {
                cells = cells.with_sizes(mean, generator(" sizes"));
            }
            let next = cells.begin(start);
            push_only(&mut self.host(flow.from).sources, Source { kind: Kind::Cells(Box::new(cells)), next });
            return FlowEnds {
                from: flow.from,
                to: flow.to,
                outgoing,
                incoming,
                shares,
                carrier: Carrier::Bare(match packet {
                    None => BarePayload::Cells,
                    Some(_) if flow.traffic.varies_packets() => BarePayload::Counted,
                    Some(packet) => BarePayload::Packets(packet.0),
                }),
            };
        }
        let size = match &*flow.traffic {
            Traffic::ShortFlows(form) => form.most_at_once() as usize,
            _ => 1,
        };
        let (sender, receiver) = self.endpoints(flow, path, [outgoing, ack_outgoing], size);
        let ends = |first: usize| first as u32..(first + size) as u32;
        self.script(index, LossDirection::Data, (flow.from, outgoing), &ends(receiver));
        self.script(index, LossDirection::Ack, (flow.to, ack_outgoing), &ends(sender));
        let carrier = Carrier::Tcp { sender, receiver };
        let (kind, next, carrier) = match &*flow.traffic {
            Traffic::RequestResponse(form) => {
                self.parties(flow, form, [sender, receiver], start);
                return FlowEnds { from: flow.from, to: flow.to, outgoing, incoming, shares, carrier };
            }
            Traffic::ShortFlows(form) => {
                let mut arrivals = self.arrivals(form, flow);
                let next = arrivals.begin(start.ps());
                let seeds = self.randomness.joined(&["flow ", &flow.name, " congestion control"]);
                let pools = &mut self.host(flow.from).pools;
                pools.push(Pool::new(arrivals, Arc::clone(&flow.tcp), seeds, ends(sender)));
                let pool = pools.len() - 1;
                let kind = Kind::Arrivals { pool: pool as u32 };
                (kind, Instant::at(next), Carrier::Pool { pool, sender, receiver, size })
            }
            traffic => {
                let (bytes, every) = match traffic {
                    Traffic::Finite(finite) => {
                        let begun = Begun { at: start.ps(), bytes: finite.bytes.0 };
                        self.host(flow.to).endpoints[receiver].member = Some(Member::transfer(begun));
                        (finite.bytes.0, None)
                    }
                    Traffic::Bursty(bursty) => (bursty.bytes.0, Some(bursty.every.ps())),
                    _ => (u64::MAX, None),
                };
                let (endpoint, stop) = (sender as u32, stop_of(flow));
                if bytes == u64::MAX && stop < NEVER {
                    let next = Instant::at(stop);
                    push_only(
                        &mut self.host(flow.from).sources,
                        Source { kind: Kind::Stop { endpoint }, next },
                    );
                }
                let kind = Kind::Application { endpoint, bytes, every, stop };
                (kind, start, carrier)
            }
        };
        push_only(&mut self.host(flow.from).sources, Source { kind, next });
        FlowEnds { from: flow.from, to: flow.to, outgoing, incoming, shares, carrier }
    }

    /// Puts endpoints into both hosts of a flow, one or as many as a pool has; returns the numbers of the first ones.
    fn endpoints(&mut self, flow: &Flow, path: Path, vcs: [u32; 2], count: usize) -> (usize, usize) {
        let processing = (flow.tcp.processing_delay > 0).then(|| Service {
            mean: Slot::of_ps(flow.tcp.processing_delay),
            spread: flow.tcp.processing_spread,
        });
        let both_ways = matches!(*flow.traffic, Traffic::RequestResponse(_));
        // Either end sends data then, with ACKs among them.
        let of_acks = processing.filter(|_| flow.tcp.acks_processed || both_ways);
        let boxed = |ways: [Option<Service>; 2]| ways.iter().any(Option::is_some).then(|| Box::new(ways));
        let pooled = matches!(*flow.traffic, Traffic::ShortFlows(_));
        let sampler = Sampler::new(self.sample.filter(|_| !pooled));
        let first = (self.host(flow.from).endpoints.len(), self.host(flow.to).endpoints.len());
        for number in 0..count {
            let [mut sending, receiving] = if both_ways { duplex_ends(flow) } else { simplex_ends(flow) };
            if let Some(sender) = sending.sender_mut() {
                sender.seed(self.randomness.joined(&["flow ", &flow.name, " congestion control"]));
            }
            push_only(
                &mut self.host(flow.from).endpoints,
                Endpoint {
                    tcp: sending,
                    outgoing: vcs[0],
                    peer: (first.1 + number) as u32,
                    path,
                    processing: boxed([of_acks, processing]),
                    headroom: flow.tcp.send_queue.unwrap_or(u32::MAX),
                    sends: Sends::default(),
                    flow: 0,
                    member: None,
                    sampler: sampler.clone(),
                },
            );
            push_only(
                &mut self.host(flow.to).endpoints,
                Endpoint {
                    tcp: receiving,
                    outgoing: vcs[1],
                    peer: (first.0 + number) as u32,
                    path: path.reversed(),
                    processing: boxed([processing, of_acks]),
                    // An ACK that waited would take the next one's place.
                    headroom: u32::MAX,
                    sends: Sends::default(),
                    flow: 0,
                    member: pooled.then(|| Member::receiver(&flow.tcp)),
                    sampler: sampler.clone(),
                },
            );
        }
        first
    }

    /// The short flows that arrive for a flow.
    fn arrivals(&self, form: &ShortFlows, flow: &Flow) -> Arrivals {
        let interval = form.interval(flow.slowest(&self.graph.links));
        let interval = interval.map(|interval| (libm::round(interval) as Time).max(1));
        let process = match (interval, form.arrivals) {
            (None, _) => {
                let flows = form.trace.iter().map(|flow| (flow.at.ps(), flow.bytes.0)).collect();
                ArrivalProcess::Trace { flows, next: 0 }
            }
            (Some(mean), ArrivalTimes::Poisson) => ArrivalProcess::Poisson { mean },
            (Some(every), ArrivalTimes::Regular) => ArrivalProcess::Regular { every },
        };
        let generator = |what: &str| self.randomness.joined(&["flow ", &flow.name, " ", what]);
        Arrivals {
            process,
            size: form.size.clone(),
            times: generator("arrivals"),
            sizes: generator("sizes"),
            stop: stop_of(flow),
        }
    }

    fn add_payloads(&mut self) -> usize {
        self.flight.packets.push(PayloadQueue::default());
        self.flight.packets.len() - 1
    }

    fn port(&mut self, link: usize) -> &mut PortDraft {
        let vcs = self.crossing[link];
        self.ports
            .get_or_make(link, || PortDraft { entries: Vec::with_capacity(vcs), ..PortDraft::default() })
    }

    fn host(&mut self, node: usize) -> &mut HostParts {
        &mut self.host_draft(node).parts
    }

    fn host_draft(&mut self, node: usize) -> &mut HostDraft {
        let (spec, captures, name) = (self.scenario.spec(), self.captures, &self.graph.nodes[node].name);
        let randomness = self.randomness;
        self.hosts.get_or_make(node, || {
            let captured = captures.hosts.contains(&node);
            let ip = ip_layer(&spec.host, || randomness.joined(&["host ", name, " ip"]));
            HostDraft {
                parts: host_parts(node, spec, ip, captured),
                inputs: Row::default(),
                next: Leaving::default(),
            }
        })
    }
}

/// A host without anything to do yet.
fn host_parts(node: usize, spec: &scenario::Spec, ip: Option<Box<IpLayer>>, captured: bool) -> HostParts {
    HostParts {
        moment: Instant::default(),
        sent: Instant::default(),
        shift: Shift::default(),
        node,
        outputs: Vec::new(),
        endpoints: Vec::new(),
        sources: Vec::new(),
        abr: Vec::new(),
        pools: Vec::new(),
        outgoing: Vec::new(),
        incoming: Vec::new(),
        ip,
        aal5: spec.aal5,
        tap: captured.then(|| Box::new(PacketTap::default())),
    }
}

/// The ends of a connection whose data go one way.
fn simplex_ends(flow: &Flow) -> [Tcp; 2] {
    [Tcp::Sender(Box::new(Sender::sharing(&flow.tcp))), Tcp::Receiver(Box::new(Receiver::sharing(&flow.tcp)))]
}

/// When the source of a flow stops.
fn stop_of(flow: &Flow) -> Time {
    flow.stop.map_or(NEVER, |stop| stop.ps())
}

/// The first and the last links of the ways of sprayed packets.
fn parting(graph: &Graph) -> BTreeSet<usize> {
    let ways = graph.flows.iter().flat_map(|flow| flow.sprayed_ways().into_iter().flatten());
    ways.flat_map(|way| [way.route[0], way.route[way.route.len() - 1]]).collect()
}

/// The segments of each flow that are to be lost.
fn losses(graph: &Graph) -> BTreeMap<usize, Vec<&Loss>> {
    let mut losses = BTreeMap::<_, Vec<_>>::new();
    graph.losses.iter().for_each(|loss| losses.entry(loss.flow).or_default().push(loss));
    losses
}

/// How many VCs cross each link.
fn crossing(graph: &Graph) -> Vec<usize> {
    let mut crossing = vec![0; graph.links.len()];
    for (_, flow) in graph.flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index) {
        flow.hops().into_iter().flatten().for_each(|link| crossing[link] += 1);
    }
    crossing
}

/// The IP layer of a host, if packets take time there.
fn ip_layer(spec: &scenario::HostSpec, generator: impl FnOnce() -> Generator) -> Option<Box<IpLayer>> {
    let mean = Slot::of_packets(spec.ip_rate?);
    let service = Service { mean, spread: (mean.ps() as f64 * spec.ip_spread) as Time };
    Some(Box::new(IpLayer::new(service, spec.ip_serves == IpServes::Both, generator)))
}
