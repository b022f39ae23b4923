//! The network: its processes, the streams between them, and the taking of it to a time.

use std::collections::BTreeMap;

use celltrain_atm::cell::PAYLOAD_OCTETS;
use celltrain_engine::{
    Fingerprint, Time,
    parts::TooFewThreads,
    random::Randomness,
    time::{NEVER, SECOND},
    visit::{self, Process, Schedule},
};
use celltrain_tcp::{Event, Receiver, ReceiverStats, Sender, SenderStats};

use crate::{
    capture::{Capture, Content, Places, merged},
    channel::{Channel, Lost},
    discards::DiscardLog,
    division::{Division, OF_CELLS},
    flight::{InFlight, SentTimes, Streams, handle},
    host::{AbrSource, Begun, Had, Host, IncomingStats, Pool},
    measures::{DelaySampler, Delays},
    node::Node,
    partition::Processes,
    parts,
    port::{Location, Port},
    rate_control::RateControl,
    scenario::Graph,
    shaper::Shaper,
};

/// Where a flow begins and ends.
#[derive(Debug, Clone)]
pub(crate) struct FlowEnds {
    /// The sending host.
    pub(crate) from: usize,
    /// The receiving host.
    pub(crate) to: usize,
    /// Its VC among the sending host's outgoing ones and among the receiving host's incoming ones.
    pub(crate) outgoing: u32,
    pub(crate) incoming: u32,
    /// Whether an earlier flow's VC carries it.
    pub(crate) shares: bool,
    pub(crate) carrier: Carrier,
}

/// What carries a flow, decided when the network is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// TCP: sender and receiver among their hosts' endpoints.
    Tcp { sender: usize, receiver: usize },
    /// TCP connections that come and go: the pool of the sending host, and where the endpoints of the pool begin in their hosts.
    Pool { pool: usize, sender: usize, receiver: usize, size: usize },
    /// Nothing: frames of bare cells, or packets, with such a payload.
    Bare(BarePayload),
}

/// What counts as the payload of a flow without TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarePayload {
    /// That of its cells.
    Cells,
    /// Its packets, of so many octets each.
    Packets(u64),
    /// Its packets, whose octets were counted one by one.
    Counted,
}

impl Carrier {
    /// Whether it is TCP.
    pub(crate) fn is_tcp(self) -> bool {
        !matches!(self, Self::Bare(_))
    }

    /// The payload in what arrived of a flow without TCP: that of the cells of whole frames, or whole packets. None of TCP.
    pub(crate) fn bare_payload(self, arrived: &IncomingStats) -> Option<u64> {
        let Self::Bare(payload) = self else { return None };
        Some(match payload {
            BarePayload::Cells => arrived.useful_cells * PAYLOAD_OCTETS,
            BarePayload::Packets(octets) => arrived.frames * octets,
            BarePayload::Counted => arrived.octets,
        })
    }
}

/// A network in the course of a run.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    /// Hosts, ports and channels in the order in which their results are combined, each by its node and, if it is a port, its number there.
    places: Vec<(u32, u32)>,
    streams: Streams,
    pub(crate) flows: Vec<FlowEnds>,
    /// By which everything in it was drawn.
    pub(crate) randomness: Randomness,
    schedule: Schedule,
    /// How it is shared out among threads, if it is.
    pub(crate) division: Option<Division>,
    /// What there was instead of a thread for each part.
    fewer_threads: Option<TooFewThreads>,
}

/// How many intervals of a rate allocator a port that is idle catches up with in one visit, which nothing interrupts: milliseconds of
/// work.
const INTERVALS_A_VISIT: Time = 1 << 14;

impl Network {
    /// A network at time 0 whose nodes are visited in `order`.
    pub(crate) fn new(
        nodes: Vec<Node>,
        places: Vec<(u32, u32)>,
        order: Vec<usize>,
        streams: Streams,
        flows: Vec<FlowEnds>,
        randomness: Randomness,
    ) -> Self {
        let mut schedule = Schedule { order, ..Schedule::in_order(nodes.len()) };
        let interval = |port: &Port| port.control().map(RateControl::next_interval);
        let shortest = nodes.iter().flat_map(Node::ports).filter_map(interval).min().unwrap_or(NEVER);
        schedule.jump = shortest.saturating_mul(INTERVALS_A_VISIT).max(schedule.cap);
        Self { nodes, places, streams, flows, randomness, schedule, division: None, fewer_threads: None }
    }

    /// Visits in another order or with another cap: the result does not depend on it.
    pub fn set_schedule(&mut self, change: impl FnOnce(&mut Schedule)) {
        change(&mut self.schedule);
    }

    /// Moves each event of a host to another instant of its picosecond, one for each `key`: for tests of a network that has not begun to run,
    /// as events of one picosecond are rare otherwise. Builds without debug assertions move none.
    pub fn shift_events(&mut self, key: u64) {
        self.nodes.iter_mut().filter_map(Node::host_mut).for_each(|host| host.shift_events(key));
    }

    /// Runs in parts from now on, each in a thread of its own: process `n` of [`Network::processes`] in part `partition[n]`. The result
    /// does not depend on it. A network that runs in one thread only stays as it is.
    ///
    /// # Panics
    /// If `partition` does not have a part for each process.
    pub fn set_partition(&mut self, partition: Vec<usize>) {
        assert_eq!(partition.len(), self.nodes.len(), "a part for each process");
        let costs = vec![&OF_CELLS; partition.len()];
        self.divide(Division { parts: partition, costs, reviews: Vec::new() });
    }

    /// Looks at the partition again at these times, and takes a better one for the same number of parts if there is one. The result
    /// does not depend on it.
    pub fn review_partition(&mut self, mut times: Vec<Time>) {
        times.sort_unstable_by(|one, other| other.cmp(one));
        self.division.iter_mut().for_each(|division| division.reviews.clone_from(&times));
    }

    /// As [`Network::set_partition`].
    pub(crate) fn divide(&mut self, division: Division) {
        self.division = self.one_thread().is_none().then_some(division);
    }

    /// The number of its processes.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.nodes.len()
    }

    /// Its processes as they are shared out among parts, each as much work in a second as `work` says. What crosses on a stream is as
    /// much as its sender has to do for it.
    pub(crate) fn shared_out(&self, work: impl Fn(usize, &Node) -> f64) -> Processes {
        let traffic = |sender: usize, _| {
            let node = &self.nodes[sender];
            work(sender, node) / node.outputs().len() as f64
        };
        parts::processes(&self.nodes, &self.streams, SECOND, &work, traffic)
    }

    /// Why it runs in one thread only, if it does: contents of cells that processes on the way read or rewrite stay in one place.
    #[must_use]
    pub fn one_thread(&self) -> Option<&'static str> {
        if !self.streams.contents.rm.is_empty() {
            return Some("ports rewrite the RM cells of ABR VCs on their way");
        }
        let handled = self.channels().any(Channel::handles_contents);
        handled.then_some("links look at packets that are captured or lost by name")
    }

    /// Keeps what happens to TCP senders from now on: the table of events, and series of the segments sent, of the
    /// acknowledgements and of the round trips. They grow with every segment.
    pub fn record_events(&mut self) {
        self.trace_senders();
        self.nodes.iter_mut().filter_map(Node::host_mut).for_each(Host::record_pools);
    }

    /// As [`Network::record_events`], without those of short flows.
    fn trace_senders(&mut self) {
        for host in self.nodes.iter_mut().filter_map(Node::host_mut) {
            for endpoint in &mut host.parts.endpoints {
                if let Some(sender) = endpoint.tcp.sender_mut() {
                    sender.trace(true);
                }
            }
        }
    }

    /// Follows how long the buffer of every switch port holds how much from now on.
    pub(crate) fn follow_levels(&mut self) {
        let ports = self.nodes.iter_mut().flat_map(Node::ports_mut);
        ports.filter(|port| port.location == Location::Switch).for_each(Port::follow_levels);
    }

    /// Handles every event before `end`; `false` if interrupted.
    // Not inlined: `benches/growth.py` counts what happens in here.
    #[inline(never)]
    pub(crate) fn run_until(&mut self, end: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        let finished = self.visit_until(end, interrupt);
        for node in &mut self.nodes {
            if let Node::Switch(switch) = node {
                switch.catch_up();
            }
        }
        finished
    }

    /// As [`Network::run_until`]; ports of switches may be behind their switch then.
    fn visit_until(&mut self, end: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        let Self { nodes, streams, schedule, division, fewer_threads, .. } = self;
        nodes.iter_mut().flat_map(Node::ports_mut).for_each(|port| port.run_on(end));
        if nodes.iter().all(|node| node.clock() >= end) {
            return true;
        }
        while let Some(divided) = division {
            let stop = divided.goes_to(end);
            match parts::run(nodes, streams, schedule, &divided.parts, stop, interrupt) {
                Ok(false) => return false,
                Ok(true) => divided.review(stop, nodes, streams),
                Err(shortage) => {
                    parts::fold(&mut divided.parts, shortage.threads);
                    *division = division.take().filter(|_| shortage.threads > 1);
                    *fewer_threads = Some(shortage);
                    continue;
                }
            }
            if stop == end {
                return true;
            }
        }
        visit::run(nodes, streams, schedule, end, interrupt)
    }

    /// That it runs on fewer threads than it was to, if the system had no more.
    pub(crate) fn fewer_threads(&self) -> Option<String> {
        let TooFewThreads { threads, error } = self.fewer_threads.as_ref()?;
        let number = if *threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
        Some(format!(
            "a run continued on {number} because the system provided no more ({error}); its results are the same"
        ))
    }

    pub(crate) fn host(&self, index: usize) -> &Host {
        match &self.nodes[index] {
            Node::Host(host) => host,
            _ => panic!("flows end in hosts"),
        }
    }

    fn host_mut(&mut self, index: usize) -> &mut Host {
        self.nodes[index].host_mut().expect("flows end in hosts")
    }

    /// Cells that have arrived at hosts.
    pub(crate) fn arrived(&self) -> u64 {
        let of_node = |node: &Node| match node {
            Node::Host(host) => host.parts.incoming.iter().map(|incoming| incoming.arrived()).sum(),
            Node::Port(_) | Node::Switch(_) | Node::Channel(_) | Node::Shaper(_) => 0,
        };
        self.nodes.iter().map(of_node).sum()
    }

    /// The ports of switches and the interfaces of hosts.
    pub(crate) fn ports(&self) -> impl Iterator<Item = &Port> {
        self.places.iter().filter_map(|&(node, port)| self.nodes[node as usize].ports().get(port as usize))
    }

    /// Every port, for a viewer to take its logs, and for a test to tamper with.
    pub(crate) fn ports_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        self.nodes.iter_mut().flat_map(Node::ports_mut)
    }

    /// Forgets what cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        for node in &mut self.nodes {
            match node {
                Node::Host(host) => host.begin_window(),
                node => node.ports_mut().iter_mut().for_each(Port::begin_window),
            }
        }
    }

    pub(crate) fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Channel(channel) => Some(&**channel),
            Node::Host(_) | Node::Port(_) | Node::Switch(_) | Node::Shaper(_) => None,
        })
    }

    pub(crate) fn shapers(&self) -> impl Iterator<Item = &Shaper> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Shaper(shaper) => Some(&**shaper),
            Node::Host(_) | Node::Port(_) | Node::Switch(_) | Node::Channel(_) => None,
        })
    }

    /// Cells that links have lost, by the number of the link; a link that loses nothing may be missing.
    pub(crate) fn lost(&self) -> BTreeMap<usize, Lost> {
        let mut losses: BTreeMap<usize, Lost> = BTreeMap::new();
        for channel in self.channels() {
            let sum = losses.entry(channel.link()).or_default();
            std::iter::zip(sum, channel.lost()).for_each(|(sum, lost)| *sum += lost);
        }
        losses
    }

    /// Packets that links have held back, by the number of the link.
    pub(crate) fn held_back(&self) -> BTreeMap<usize, u64> {
        self.channels().map(|channel| (channel.link(), channel.held_back())).collect()
    }

    /// The sender of flow `flow`, if TCP carries it.
    pub(crate) fn sender(&self, flow: &FlowEnds) -> Option<&Sender> {
        let Carrier::Tcp { sender, .. } = flow.carrier else { return None };
        let sender = self.host(flow.from).parts.endpoints[sender].tcp.sender();
        Some(sender.expect("the first endpoint of a flow sends"))
    }

    /// The sender of the requests of flow `flow`, if there are any.
    fn asking(&self, flow: &FlowEnds) -> Option<&Sender> {
        let Carrier::Tcp { receiver, .. } = flow.carrier else { return None };
        self.host(flow.to).parts.endpoints[receiver].tcp.sender()
    }

    /// The response times of flow `flow`, if it has requests.
    pub(crate) fn response_times(&self, flow: &FlowEnds) -> Option<&Delays> {
        let Carrier::Tcp { receiver, .. } = flow.carrier else { return None };
        self.host(flow.to).response_times(receiver)
    }

    /// When flow `flow` was asked for the answer that its client has not read to the end, if there is one.
    pub(crate) fn unanswered(&self, flow: &FlowEnds) -> Option<Time> {
        let Carrier::Tcp { receiver, .. } = flow.carrier else { return None };
        self.host(flow.to).unanswered(receiver)
    }

    /// What the senders of flow `flow` have done, those of its requests included.
    pub(crate) fn sender_stats(&self, flow: &FlowEnds) -> SenderStats {
        match flow.carrier {
            Carrier::Pool { pool, sender, .. } => {
                self.host(flow.from).pool_sent(pool, sender..sender + self.used(flow))
            }
            _ => {
                let mut sum = self.sender(flow).map(|sender| *sender.stats()).unwrap_or_default();
                if let Some(asking) = self.asking(flow) {
                    sum.add_counted(asking.stats());
                }
                sum
            }
        }
    }

    /// What the receivers of flow `flow` have seen and done.
    pub(crate) fn receiver_stats(&self, flow: &FlowEnds) -> ReceiverStats {
        match flow.carrier {
            Carrier::Pool { receiver, .. } => {
                self.host(flow.to).pool_received(receiver..receiver + self.used(flow))
            }
            _ => self.receiver(flow).map(|receiver| *receiver.stats()).unwrap_or_default(),
        }
    }

    /// The short flows of flow `flow`, if there are any.
    pub(crate) fn pool(&self, flow: &FlowEnds) -> Option<&Pool> {
        let Carrier::Pool { pool, .. } = flow.carrier else { return None };
        Some(&self.host(flow.from).parts.pools[pool])
    }

    /// How many endpoints of the pool of flow `flow` have ever had a short flow.
    fn used(&self, flow: &FlowEnds) -> usize {
        self.pool(flow).map_or(0, Pool::used)
    }

    /// The short flows of flow `flow` that have begun, in the order of their numbers, or its finite transfer, which may begin later.
    pub(crate) fn begun(&self, flow: &FlowEnds) -> &[Begun] {
        match flow.carrier {
            Carrier::Pool { .. } => self.pool(flow).map_or(&[], |pool| &pool.begun),
            Carrier::Tcp { receiver, .. } => {
                let transfer = self.host(flow.to).transfer(receiver);
                transfer.map_or(&[], |transfer| std::slice::from_ref(&transfer.begun))
            }
            _ => &[],
        }
    }

    /// What the receivers of flow `flow` have had of each short flow, or of its finite transfer, if anything of it came from `since` on.
    pub(crate) fn had(&self, flow: &FlowEnds, since: Time) -> Vec<Had> {
        let (receiver, count) = match flow.carrier {
            Carrier::Pool { receiver, .. } => (receiver, self.used(flow)),
            Carrier::Tcp { receiver, .. } => (receiver, 1),
            _ => return Vec::new(),
        };
        self.host(flow.to).had(receiver..receiver + count, since).collect()
    }

    /// The transfer delays of the frames of flow `flow`, if they are measured and its VC is its own, or first its.
    pub(crate) fn delays(&self, flow: &FlowEnds) -> Option<&Delays> {
        let incoming = &self.host(flow.to).parts.incoming[flow.incoming as usize];
        incoming.delays.as_deref().filter(|_| !flow.shares)
    }

    /// What follows these over time, if anything does.
    pub(crate) fn delay_sampler(&self, flow: &FlowEnds) -> Option<&DelaySampler> {
        let incoming = &self.host(flow.to).parts.incoming[flow.incoming as usize];
        incoming.delay_sampler.as_deref().filter(|_| !flow.shares)
    }

    /// The ABR source of flow `flow`, if its VC is ABR and its own.
    pub(crate) fn abr_source(&self, flow: &FlowEnds) -> Option<&AbrSource> {
        let parts = &self.host(flow.from).parts;
        let source = parts.outgoing[flow.outgoing as usize].abr.filter(|_| !flow.shares)?;
        Some(&parts.abr[source as usize])
    }

    /// Takes out the events that the sender of flow `flow` has collected, if TCP carries it.
    pub(crate) fn take_events(&mut self, flow: usize) -> Vec<Event> {
        let FlowEnds { from, carrier, .. } = self.flows[flow];
        let Carrier::Tcp { sender, .. } = carrier else { return Vec::new() };
        self.take_events_of(from, sender)
    }

    /// As [`Network::take_events`], of the sender of its requests.
    pub(crate) fn take_request_events(&mut self, flow: usize) -> Vec<Event> {
        let FlowEnds { to, carrier, .. } = self.flows[flow];
        let Carrier::Tcp { receiver, .. } = carrier else { return Vec::new() };
        self.take_events_of(to, receiver)
    }

    fn take_events_of(&mut self, host: usize, endpoint: usize) -> Vec<Event> {
        let Node::Host(host) = &mut self.nodes[host] else { return Vec::new() };
        host.parts.endpoints[endpoint].tcp.sender_mut().map(Sender::take_events).unwrap_or_default()
    }

    /// Takes out what happened to the short flows of flow `flow`, by their numbers.
    pub(crate) fn take_short_events(&mut self, flow: usize) -> Vec<(u32, Vec<Event>)> {
        let FlowEnds { from, carrier, .. } = self.flows[flow];
        match (&mut self.nodes[from], carrier) {
            (Node::Host(host), Carrier::Pool { pool, sender, size, .. }) => {
                host.take_pool_events(pool, sender..sender + size)
            }
            _ => Vec::new(),
        }
    }

    /// Takes out what was captured: hosts first, then links, each in the order of the graph.
    pub(crate) fn take_captures(&mut self, graph: &Graph, places: &Places) -> Vec<Capture> {
        let hosts = self.nodes.iter_mut().filter_map(Node::host_mut);
        let mut packets: BTreeMap<_, _> =
            hosts.filter_map(|host| Some((host.parts.node, host.parts.tap.as_mut()?.take()))).collect();
        let of_host = |host: &usize| Capture {
            place: graph.nodes[*host].name.clone(),
            content: Content::Packets,
            bytes: packets.remove(host).expect("a captured host has a tap"),
        };
        let mut captures: Vec<_> = places.hosts.iter().map(of_host).collect();
        let mut taps: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        let mut until = NEVER;
        for channel in self.channels() {
            taps.entry(channel.link()).or_default().extend(channel.tap());
            until = until.min(channel.clock());
        }
        let of_link = |link: &usize| Capture {
            place: graph.links[*link].ends(&graph.nodes),
            content: Content::Cells,
            bytes: merged(taps.remove(link).into_iter().flatten(), until),
        };
        captures.extend(places.links.iter().map(of_link));
        captures
    }

    /// The receiver of flow `flow`, if TCP carries it.
    pub(crate) fn receiver(&self, flow: &FlowEnds) -> Option<&Receiver> {
        let Carrier::Tcp { receiver, .. } = flow.carrier else { return None };
        let receiver = self.host(flow.to).parts.endpoints[receiver].tcp.receiver();
        Some(receiver.expect("the second endpoint of a flow receives"))
    }

    /// Frees the streams, when nothing will run any more and what was under way has been counted.
    pub(crate) fn free_streams(&mut self) {
        self.streams = Streams::new(Vec::new(), InFlight::default());
    }

    /// All processes and the streams between them: what a viewer may read.
    pub(crate) fn parts(&self) -> (&[Node], &Streams) {
        (&self.nodes, &self.streams)
    }

    /// Keeps logs of discards and of the senders' events from now on, for a viewer.
    pub(crate) fn watch(&mut self) {
        self.trace_senders();
        for node in &mut self.nodes {
            match node {
                Node::Channel(channel) => channel.watch(),
                node => node.ports_mut().iter_mut().for_each(Port::watch),
            }
        }
    }

    /// Follows the transfer delays of flow `flow`, which sends bare cells, for a viewer, from time 0 on.
    pub(crate) fn watch_delays(&mut self, flow: usize) {
        let FlowEnds { from, to, outgoing, incoming, .. } = self.flows[flow];
        let is_measured = self.host(to).parts.incoming[incoming as usize].sent.is_some();
        if is_measured {
            return;
        }
        let number = self.streams.contents.sent.len();
        self.streams.contents.sent.push(SentTimes::default());
        self.host_mut(from).parts.outgoing[outgoing as usize].sent = Some(handle(number));
        self.host_mut(to).parts.incoming[incoming as usize].sent = Some(handle(number));
    }

    /// The mean transfer delay of the frames of flow `flow` that arrived since the last call, if it sends bare cells whose delays are
    /// measured or watched.
    pub(crate) fn drain_transfer_delay(&mut self, flow: usize) -> Option<Time> {
        let FlowEnds { to, incoming, .. } = self.flows[flow];
        let sent = self.host(to).parts.incoming[incoming as usize].sent?;
        self.streams.contents.sent[sent as usize].drain_mean()
    }

    /// The logs of discards, by the number of their process and that of the port there.
    pub(crate) fn discard_logs(&mut self) -> impl Iterator<Item = ((usize, usize), &mut DiscardLog)> {
        let nodes = self.nodes.iter_mut().enumerate();
        nodes.flat_map(|(index, node)| node.logs().map(move |(port, log)| ((index, port), log)))
    }

    /// The port that each stream leads to, if it leads to one.
    pub(crate) fn receiving_ports(&self) -> Vec<Option<&Port>> {
        let mut receivers = vec![None; self.streams.len()];
        for port in self.ports() {
            port.inputs().iter().for_each(|&input| receivers[input] = Some(port));
        }
        receivers
    }

    /// The fingerprint of everything that happened so far.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut combined = Fingerprint::default();
        for &(node, port) in &self.places {
            let fingerprint = match &self.nodes[node as usize] {
                Node::Host(host) => Some(host.fingerprint),
                Node::Channel(channel) => channel.fingerprint(),
                Node::Shaper(_) => None,
                node => Some(node.ports()[port as usize].fingerprint()),
            };
            fingerprint.into_iter().for_each(|fingerprint| combined.mix(fingerprint.finish()));
        }
        combined.finish()
    }
}
