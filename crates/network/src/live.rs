//! A run that can be watched: where every cell is between two moments, what ports hold and discard, how windows move.
//!
//! After a run up to a time every process stands at that time and streams hold what arrives from then on. So a cell in an
//! output stream of a port that has still to be sent is in the port's buffer, and any other is on the link. Watching changes nothing:
//! a watched run has the fingerprint of [`Experiment::run`], however often it is stopped. A run that nobody watches keeps no logs.

use std::{
    collections::BTreeSet,
    iter::{once, zip},
};

use celltrain_atm::{
    Cell,
    cell::{CELL_OCTETS, Ecn, Kind},
};
use celltrain_engine::{
    Instant, Time,
    random::Randomness,
    stream::{StreamId, Train},
};
use celltrain_tcp::EventKind;

use crate::{
    Experiment, Options, RunResult,
    build::build,
    capture::Places,
    host::AbrEnd,
    network::{FlowEnds, Network, Node},
    port::{Place, Port},
    run::Snapshot,
    scenario::{Framing, Graph, Scenario, ScenarioError},
};

/// A VC as a viewer knows it: that of a flow's data, or the one back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vc {
    /// The flow, by its number in the graph; flows that share a VC count with the first of them.
    pub flow: usize,
    /// Whether it is the VC back: acknowledgements and backward RM cells.
    pub back: bool,
}

/// Where a run of cells is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// In the buffer of the link's port: [`Row::after`] is the end of the first cell's transmission.
    Buffer,
    /// In the buffer, and the scheduler has yet to choose it: [`Row::after`] means nothing.
    Stored,
    /// On the link: [`Row::after`] is the first cell's arrival at the other end.
    Link,
    /// In the sending host, in front of its interface, where a peak rate holds it back.
    Shaper,
}

/// Cells of one frame, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The link or the port in front of it, by its number in the graph.
    pub link: usize,
    /// Where on it.
    pub place: Whereabouts,
    /// Whose cells.
    pub vc: Vc,
    /// The first of them.
    pub cell: Cell,
    /// How many.
    pub count: u32,
    /// How long after the present moment.
    pub after: Time,
    /// From one cell to the next.
    pub step: Time,
    /// Octets that one of them takes on the link.
    pub octets: u32,
    /// Whether some of their frame has been lost: it is carried for nothing.
    pub broken: bool,
}

/// A port at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PortState {
    /// Its link, by its number in the graph.
    pub link: usize,
    /// Whether it is a switch's; otherwise it is a host's interface.
    pub in_switch: bool,
    /// Cells or packets in the buffer, the one in transmission included.
    pub occupancy: u64,
    /// Cells or packets that arrived, and of these accepted, since the start.
    pub arrived: u64,
    /// As above.
    pub accepted: u64,
    /// Discarded since the start.
    pub discarded: u64,
    /// VCs that the policy holds under discard.
    pub captured: Vec<Vc>,
}

/// A flow at a moment. Bare cells have no windows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged.
    pub flight: u64,
    /// Distinct bytes delivered since the start; for bare cells the payload of whole frames.
    pub delivered: u64,
    /// Retransmission timeouts since the start.
    pub timeouts: u64,
    /// Segments sent again since the start.
    pub retransmitted: u64,
    /// Allowed cell rate in cells per second; zero without ABR.
    pub acr: f64,
}

/// Cells of one frame that were discarded or lost, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Discard {
    /// When the first was.
    pub at: Time,
    /// The link or the port in front of it.
    pub link: usize,
    /// Whose cells.
    pub vc: Vc,
    /// The first cell: its frame and its place in it.
    pub cell: Cell,
    /// How many.
    pub count: u32,
    /// Why: the name of the column that counts it in results.
    pub reason: &'static str,
}

/// What happened to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// It found a loss by duplicate acknowledgements.
    FastRetransmit,
    /// Its retransmission timer expired.
    Timeout,
    /// It answered a congestion mark.
    Mark,
}

/// Discards of one process, as it notes them.
#[derive(Debug, Default)]
pub(crate) struct DiscardLog(Vec<Noted>);

/// A [`Discard`] under the label that the process knows the VC by.
#[derive(Debug)]
struct Noted {
    at: Time,
    cell: Cell,
    count: u32,
    reason: &'static str,
}

/// How many entries are searched for the frame that a discarded cell belongs to: those of VCs that take turns.
const SEARCHED: usize = 32;

impl DiscardLog {
    /// Notes a cell that is lost.
    pub(crate) fn add(&mut self, at: Time, cell: &Cell, reason: &'static str) {
        let key = |noted: &Cell| (noted.vc, noted.frame, noted.kind);
        let recent = self.0.iter_mut().rev().take(SEARCHED);
        match recent.into_iter().find(|noted| key(&noted.cell) == key(cell) && noted.reason == reason) {
            Some(noted) => noted.count += 1,
            None => self.0.push(Noted { at, cell: *cell, count: 1, reason }),
        }
    }
}

/// The most frames of a VC that are remembered as broken; more than a path holds.
const REMEMBERED: usize = 1 << 16;

/// A replication of a scenario that is run step by step and watched.
#[derive(Debug)]
pub struct Live {
    scenario: Scenario,
    graph: Graph,
    network: Network,
    /// Whose cells a stream carries, by stream and label.
    vcs: Vec<Vec<Option<Vc>>>,
    /// Frames that have lost a cell, by flow: of the data, and of the VC back.
    broken: Vec<[BTreeSet<u32>; 2]>,
    /// What had been counted when the measured part of the run began.
    begin: Option<Snapshot>,
    now: Time,
}

impl Live {
    /// Replication `replication` of `scenario` under `seed`, at time 0.
    ///
    /// # Errors
    /// What is wrong with the scenario's network.
    pub fn new(scenario: Scenario, seed: u64, replication: u64) -> Result<Self, ScenarioError> {
        let graph = scenario.graph()?;
        let randomness = Randomness { seed, replication };
        let mut network = build(&scenario, &graph, &Places::default(), randomness, Options::default());
        network.watch();
        let vcs = trace_vcs(&network);
        let broken = vec![<[BTreeSet<u32>; 2]>::default(); graph.flows.len()];
        Ok(Self { scenario, graph, network, vcs, broken, begin: None, now: 0 })
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Its network.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The time up to which everything has happened, in picoseconds.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the run has reached its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.now == self.scenario.spec().duration.ps()
    }

    /// Runs until `until`, or to the end if that is earlier; a time that has passed changes nothing. `false` if `interrupt`, which
    /// is asked now and then, said so: the run can go no further then.
    pub fn advance(&mut self, until: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        let spec = self.scenario.spec();
        let (warm_up, until) = (spec.warm_up.ps(), until.min(spec.duration.ps()));
        if self.begin.is_none() && until >= warm_up {
            if !self.network.run_until(warm_up, interrupt) {
                return false;
            }
            self.begin = Some(Snapshot::begin_window(&mut self.network));
        }
        if until > self.now {
            if !self.network.run_until(until, interrupt) {
                return false;
            }
            self.now = until;
        }
        true
    }

    /// Runs to the end and measures. The result has no events: they were handed over on the way. `None` if interrupted.
    #[must_use]
    pub fn finish(mut self, interrupt: &mut dyn FnMut() -> bool) -> Option<RunResult> {
        if !self.advance(Time::MAX, interrupt) {
            return None;
        }
        let experiment = Experiment::new(&self.scenario).expect("the network was built before");
        Some(experiment.measure(self.network, &self.begin?))
    }

    /// All cells, or packets, in buffers and on links: those of a link in the order of their departures from its port, output by
    /// output.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for port in self.network.all_ports() {
            self.rows_of(port, &mut rows);
        }
        rows
    }

    fn rows_of(&self, port: &Port, rows: &mut Vec<Row>) {
        let (_, streams, _) = self.network.parts();
        let (outputs, delay) = port.along_link();
        for &output in outputs {
            for train in streams[output].trains() {
                let Some(vc) = self.vc(output, train.car.vc) else { continue };
                // Its first cells may be on the link while the last are in the buffer.
                let sent = Instant::start_of(self.now + delay);
                for (first, last, step) in even_parts(train, sent) {
                    let arrival = train.arrival(first);
                    let (place, base) = match (port.place, arrival > sent) {
                        (Place::Shaper, _) => (Whereabouts::Shaper, self.now),
                        (_, true) => (Whereabouts::Buffer, self.now + delay),
                        (_, false) => (Whereabouts::Link, self.now),
                    };
                    let mut cell = train.car;
                    celltrain_engine::stream::Car::advance(&mut cell, first);
                    rows.push(Row {
                        after: arrival.ps() - base,
                        step,
                        count: last - first + 1,
                        ..self.row(port.link, place, vc, cell)
                    });
                }
            }
        }
        for cell in port.stored() {
            let vc = port.hops(cell.vc).next().and_then(|(stream, label)| self.vc(stream, label));
            let Some(vc) = vc else { continue };
            match rows.last_mut().filter(|row| row.place == Whereabouts::Stored && continues(row, vc, &cell))
            {
                Some(row) => row.count += 1,
                None => rows.push(self.row(port.link, Whereabouts::Stored, vc, cell)),
            }
        }
    }

    /// One cell.
    fn row(&self, link: usize, place: Whereabouts, vc: Vc, cell: Cell) -> Row {
        let data = cell.kind == Kind::Data;
        let broken = data && self.broken[vc.flow][usize::from(vc.back)].contains(&cell.frame);
        let octets = self.octets(link, vc, &cell);
        Row { link, place, vc, cell, count: 1, after: 0, step: 0, octets, broken }
    }

    /// Octets that a cell or packet takes on a link.
    fn octets(&self, link: usize, vc: Vc, cell: &Cell) -> u32 {
        let link = &self.graph.links[link];
        if link.framing == Framing::Cells {
            return CELL_OCTETS as u32;
        }
        let (_, _, wires) = self.network.parts();
        let wire = self.wire(vc).expect("what packets contain waits in a wire");
        wires.packets[wire].peek(cell.frame).segment.ip_bytes() + link.overhead.0 as u32
    }

    /// Where the contents of a VC's frames wait.
    fn wire(&self, vc: Vc) -> Option<usize> {
        let ends = &self.network.flows[vc.flow];
        if !vc.back {
            return self.network.host(ends.from).parts.outgoing[ends.outgoing as usize].wire;
        }
        let parts = &self.network.host(ends.to).parts;
        parts.outgoing[back_outgoing(&self.network, ends)? as usize].wire
    }

    fn vc(&self, stream: StreamId, label: u32) -> Option<Vc> {
        *self.vcs[stream].get(label as usize)?
    }

    /// The ports of switches and the interfaces of hosts.
    #[must_use]
    pub fn ports(&self) -> Vec<PortState> {
        let state = |port: &Port| PortState {
            link: port.link,
            in_switch: port.place == Place::Switch,
            occupancy: port.occupancy(),
            arrived: port.arrived(),
            accepted: port.accepted(),
            discarded: port.discarded(),
            captured: self.captured(port),
        };
        self.network.ports().map(state).collect()
    }

    fn captured(&self, port: &Port) -> Vec<Vc> {
        let vc = |label| port.hops(label).next().and_then(|(stream, label)| self.vc(stream, label));
        (0..port.vcs()).filter(|&label| port.captures(label)).filter_map(vc).collect()
    }

    /// The flows.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowState> {
        self.network.flows.iter().map(|ends| self.flow(ends)).collect()
    }

    fn flow(&self, ends: &FlowEnds) -> FlowState {
        let acr = self.network.abr_source(ends).map_or(0.0, |source| source.source.acr().cells());
        let (Some(sender), Some(receiver)) = (self.network.sender(ends), self.network.receiver(ends)) else {
            let incoming = &self.network.host(ends.to).parts.incoming[ends.incoming as usize];
            return FlowState { delivered: incoming.stats.useful_cells * 48, acr, ..FlowState::default() };
        };
        let window = sender.window();
        FlowState {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            flight: window.flight,
            delivered: receiver.stats().distinct_bytes,
            timeouts: sender.stats().timeouts,
            retransmitted: sender.stats().retransmitted_segments,
            acr,
        }
    }

    /// Hands over what was discarded or lost since the last call, in the order of time.
    pub fn drain_discards(&mut self) -> Vec<Discard> {
        let mut noted = Vec::new();
        for (index, log) in self.network.discard_logs() {
            noted.extend(std::mem::take(&mut log.0).into_iter().map(|noted| (index, noted)));
        }
        let mut discards: Vec<_> =
            noted.into_iter().filter_map(|(index, noted)| self.discard(index, noted)).collect();
        discards.sort_by_key(|discard| discard.at);
        for Discard { vc, cell, .. } in discards.iter().filter(|discard| discard.cell.kind == Kind::Data) {
            let broken = &mut self.broken[vc.flow][usize::from(vc.back)];
            broken.insert(cell.frame);
            if broken.len() > REMEMBERED {
                broken.pop_first();
            }
        }
        discards
    }

    fn discard(&self, process: usize, noted: Noted) -> Option<Discard> {
        let (nodes, _, _) = self.network.parts();
        let Noted { at, cell, count, reason } = noted;
        let (link, vc) = match &nodes[process] {
            Node::Port(port) => {
                let (stream, label) = port.hops(cell.vc).next()?;
                (port.link, self.vc(stream, label)?)
            }
            Node::Channel(channel) => (channel.link, self.vc(channel.outputs()[0], cell.vc)?),
            Node::Host(_) => return None,
        };
        Some(Discard { at, link, vc, cell, count, reason })
    }

    /// Hands over how senders reacted to losses and marks since the last call, with time and flow, flow by flow.
    pub fn drain_reactions(&mut self) -> Vec<(Time, usize, Reaction)> {
        let mut reactions = Vec::new();
        for flow in 0..self.graph.flows.len() {
            for event in self.network.take_events(flow) {
                let reaction = match event.kind {
                    EventKind::FastRetransmit { .. } => Reaction::FastRetransmit,
                    EventKind::Timeout { .. } => Reaction::Timeout,
                    EventKind::EcnReduction { .. } => Reaction::Mark,
                    _ => continue,
                };
                reactions.push((event.at, flow, reaction));
            }
        }
        reactions
    }
}

/// Whether a cell continues the frame at the end of a row.
fn continues(row: &Row, vc: Vc, cell: &Cell) -> bool {
    let expected = u32::from(row.cell.position) + row.count;
    let marked = |cell: &Cell| cell.ecn == Ecn::Marked;
    (row.vc, row.cell.frame, row.cell.clp, row.cell.kind) == (vc, cell.frame, cell.clp, cell.kind)
        && u32::from(cell.position) == expected
        && marked(&row.cell) == marked(cell)
}

/// The parts of a train whose cells are evenly spaced and on one side of `limit`: first and last place, and the step.
fn even_parts(train: &Train<Cell>, limit: Instant) -> Vec<(u32, u32, Time)> {
    let (mut parts, mut first) = (Vec::new(), 0);
    while first < train.count {
        let gap = |place: u32| train.slots_to(place + 1) - train.slots_to(place);
        let before = train.arrival(first) <= limit;
        let mut last = first;
        while last + 1 < train.count
            && (last == first || gap(last) == gap(first))
            && (train.arrival(last + 1) <= limit) == before
        {
            last += 1;
        }
        let step = if last > first { train.arrival(first + 1).ps() - train.arrival(first).ps() } else { 0 };
        parts.push((first, last, step));
        first = last + 1;
    }
    parts
}

/// The VC back of a flow, by its number among the outgoing ones of the receiving host.
fn back_outgoing(network: &Network, ends: &FlowEnds) -> Option<u32> {
    let parts = &network.host(ends.to).parts;
    match &parts.incoming[ends.incoming as usize].abr {
        Some(AbrEnd::Destination(end)) => Some(end.outgoing),
        _ => Some(parts.endpoints[ends.tcp?.1].outgoing),
    }
}

/// Follows every VC from its host through the network: whose cells each stream carries, by label.
fn trace_vcs(network: &Network) -> Vec<Vec<Option<Vc>>> {
    let (nodes, streams, _) = network.parts();
    let mut consumers = vec![0; streams.len()];
    for (index, node) in nodes.iter().enumerate() {
        celltrain_engine::visit::Process::inputs(node).iter().for_each(|&input| consumers[input] = index);
    }
    let mut vcs = vec![Vec::new(); streams.len()];
    let mut follow = |vc: Vc, first: (StreamId, u32)| {
        let mut open = vec![first];
        while let Some((stream, label)) = open.pop() {
            let known: &mut Vec<Option<Vc>> = &mut vcs[stream];
            known.resize(known.len().max(label as usize + 1), None);
            known[label as usize] = Some(vc);
            match &nodes[consumers[stream]] {
                Node::Port(port) => open.extend(port.hops(label)),
                Node::Channel(channel) => open.extend(zip(channel.outputs().iter().copied(), once(label))),
                Node::Host(_) => {}
            }
        }
    };
    for (flow, ends) in network.flows.iter().enumerate().filter(|(_, ends)| !ends.shares) {
        let from = &network.host(ends.from).parts.outgoing[ends.outgoing as usize];
        follow(Vc { flow, back: false }, (from.stream, from.label));
        if let Some(back) = back_outgoing(network, ends) {
            let to = &network.host(ends.to).parts.outgoing[back as usize];
            follow(Vc { flow, back: true }, (to.stream, to.label));
        }
    }
    vcs
}
