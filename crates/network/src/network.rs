//! The network: its processes, the streams between them, and the taking of it to a time.

use celltrain_atm::Cell;
use celltrain_engine::{
    Fingerprint, Time,
    stream::{StreamId, Streams},
    visit::{self, Process, Schedule},
};

use crate::{
    host::{Host, Tcp},
    port::Port,
    wire::Wires,
};

/// A process of the network.
#[derive(Debug)]
pub(crate) enum Node {
    Host(Box<Host>),
    Port(Box<Port>),
}

/// Where a flow begins and ends.
#[derive(Debug, Clone)]
pub(crate) struct FlowEnds {
    /// The sending host.
    pub(crate) from: usize,
    /// The receiving host.
    pub(crate) to: usize,
    /// Its VC among the receiving host's incoming ones.
    pub(crate) incoming: u32,
    /// Sender and receiver among their hosts' endpoints; none for bare cells.
    pub(crate) tcp: Option<(usize, usize)>,
}

impl Process<Cell, Wires> for Node {
    fn inputs(&self) -> &[StreamId] {
        match self {
            Self::Host(host) => host.inputs(),
            Self::Port(port) => port.inputs(),
        }
    }

    fn clock(&self) -> Time {
        match self {
            Self::Host(host) => host.clock(),
            Self::Port(port) => port.clock(),
        }
    }

    fn visit(&mut self, until: Time, streams: &mut Streams<Cell>, wires: &mut Wires) -> u64 {
        match self {
            Self::Host(host) => host.visit(until, streams, wires),
            Self::Port(port) => port.visit(until, streams),
        }
    }

    fn next_event(&self, streams: &Streams<Cell>) -> Time {
        match self {
            Self::Host(host) => host.next_event(streams),
            Self::Port(port) => port.next_event(streams),
        }
    }
}

/// A network in the course of a run.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    streams: Streams<Cell>,
    wires: Wires,
    pub(crate) flows: Vec<FlowEnds>,
    schedule: Schedule,
}

impl Network {
    pub(crate) fn new(nodes: Vec<Node>, streams: Streams<Cell>, wires: Wires, flows: Vec<FlowEnds>) -> Self {
        let schedule = Schedule::in_order(nodes.len());
        Self { nodes, streams, wires, flows, schedule }
    }

    /// Visits in another order or with another cap: the result does not depend on it.
    pub fn set_schedule(&mut self, change: impl FnOnce(&mut Schedule)) {
        change(&mut self.schedule);
    }

    /// Handles every event before `end`; `false` if interrupted.
    pub(crate) fn run_until(&mut self, end: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        let Self { nodes, streams, wires, schedule, .. } = self;
        visit::run(nodes, streams, wires, schedule, end, interrupt)
    }

    pub(crate) fn host(&self, index: usize) -> &Host {
        match &self.nodes[index] {
            Node::Host(host) => host,
            Node::Port(_) => unreachable!("flows end in hosts"),
        }
    }

    pub(crate) fn ports(&self) -> impl Iterator<Item = &Port> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Port(port) => Some(&**port),
            Node::Host(_) => None,
        })
    }

    pub(crate) fn ports_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        self.nodes.iter_mut().filter_map(|node| match node {
            Node::Port(port) => Some(&mut **port),
            Node::Host(_) => None,
        })
    }

    /// The sender of flow `flow`, if TCP carries it.
    pub(crate) fn sender(&self, flow: &FlowEnds) -> Option<&celltrain_tcp::Sender> {
        match &self.host(flow.from).parts.endpoints[flow.tcp?.0].tcp {
            Tcp::Sender(sender) => Some(sender),
            Tcp::Receiver(_) => unreachable!("the first endpoint of a flow sends"),
        }
    }

    /// The receiver of flow `flow`, if TCP carries it.
    pub(crate) fn receiver(&self, flow: &FlowEnds) -> Option<&celltrain_tcp::Receiver> {
        match &self.host(flow.to).parts.endpoints[flow.tcp?.1].tcp {
            Tcp::Receiver(receiver) => Some(receiver),
            Tcp::Sender(_) => unreachable!("the second endpoint of a flow receives"),
        }
    }

    /// The fingerprint of everything that happened so far.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut combined = Fingerprint::default();
        for node in &self.nodes {
            combined.mix(match node {
                Node::Host(host) => host.fingerprint.finish(),
                Node::Port(port) => port.buffer.fingerprint.finish(),
            });
        }
        combined.finish()
    }

    /// Checks that no cell was lost track of.
    ///
    /// # Panics
    /// If one was: the simulator is wrong then, and so would be every result.
    pub(crate) fn check_conservation(&self) {
        for port in self.ports() {
            assert_eq!(port.accepted() + port.discarded(), port.arrived(), "{}: cells by VC, by reason", port.name);
            let sent: u64 = port.outputs().iter().map(|&output| self.streams[output].pushed()).sum();
            assert_eq!(port.accepted(), sent, "{}: cells accepted and sent", port.name);
            let came: u64 = port.inputs().iter().map(|&input| self.streams[input].pushed()).sum();
            let coming: u64 = port.inputs().iter().map(|&input| self.streams[input].waiting()).sum();
            assert_eq!(came, coming + port.arrived(), "{}: cells sent to it", port.name);
        }
    }
}
