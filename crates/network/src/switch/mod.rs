//! The output ports of a switch that share its memory: one process.
//!
//! What a port may hold depends on what the others hold at the same instant, so that no time passes between them. The process handles what
//! happens at all of its ports in one order ([`together`]) unless what arrives next finds room wherever and whenever it comes: then
//! the ports do not affect each other, and each is served by itself ([`apart`]). Results are the same. Each port has its own inputs,
//! admission, queues and link, as every port that stores its queues.
//!
//! With priority flow control the process sends pauses against the direction of the data, and its ports obey those of the switches behind
//! their links; so does the interface of a host, which is such a process with one port and no memory.
//!
//! Of many ports few have something to do at a time. Departures stay on the agenda from visit to visit, and a port is looked at when
//! something arrives for it or leaves it; the others only have the horizons of their outputs moved on.

mod apart;
mod together;

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_atm::Cell;
use celltrain_engine::{
    Instant, Time,
    merge::{Merge, TieBreak},
    random::Generator,
    stream::{StreamId, Train},
    time::NEVER,
};

use self::{apart::Ahead, together::Event};
use crate::{flight::Streams, memory::SharedMemory, port::Port};

/// The ports of a switch with one memory.
#[derive(Debug)]
pub(crate) struct SharedMemorySwitch {
    ports: Vec<Port>,
    /// Of all ports, one after the other; then those of pauses.
    inputs: Vec<StreamId>,
    /// How many of them are not of pauses, and the port of each.
    arrivals: usize,
    takers: Vec<usize>,
    /// Behind each port.
    links: Vec<OutputLink>,
    /// The ports at which something happens that is no event here: intervals end, or the rate of the link changes.
    restless: Vec<usize>,
    /// Of all ports, one after the other, each with its port and its place there; then those of pauses.
    outputs: Vec<StreamId>,
    places: Vec<(usize, usize)>,
    /// On which pauses of each port's link come, if it can be paused, and the pause that is next.
    paused: Vec<Option<Merge>>,
    pauses: Vec<Train<Cell>>,
    /// Where pauses of each link that leads to the switch go, and how long they take.
    pausing: Vec<(StreamId, Time)>,
    /// Not here while it is lent to a port, and where ports only obey pauses.
    memory: Option<Box<SharedMemory>>,
    /// What the ports hold: what the memory holds too.
    held: u64,
    /// What arrives next.
    ahead: Ahead,
    /// What has been taken from the inputs of each port and has not been handled yet; nothing between visits.
    heads: Vec<Train<Cell>>,
    /// The departure of each port that transmits, and during visits the next arrival and pause of each port.
    agenda: BinaryHeap<Reverse<Event>>,
    /// Breaks ties of arrivals at several ports, a generator for each; none if the first port comes first.
    ties: Vec<Generator>,
    clock: Time,
}

/// What is needed of a port to move the horizons of its outputs on.
#[derive(Debug)]
struct OutputLink {
    /// When it is free of what is certain to be sent.
    free: Time,
    lookahead: Time,
    outputs: usize,
}

/// Streams of pauses.
#[derive(Debug, Default)]
pub(crate) struct PauseStreams {
    /// On which pauses of each port's link come, if it can be paused.
    pub(crate) from: Vec<Option<StreamId>>,
    /// Where pauses of each link that leads to the switch go, and how long they take.
    pub(crate) to: Vec<(StreamId, Time)>,
}

impl SharedMemorySwitch {
    /// `ports`, which store their queues, with one memory, if they share any; `ties` holds a generator for each port, or none.
    ///
    /// # Panics
    /// If the ports relay RM cells: no time passes between a port that relays and the next one, which would wait for itself.
    pub(crate) fn new(
        ports: Vec<Port>,
        memory: Option<SharedMemory>,
        ties: Vec<Generator>,
        pauses: PauseStreams,
    ) -> Self {
        assert!(!ports.iter().any(Port::relays), "ports that share a memory relay no RM cells");
        let places = ports.iter().enumerate();
        let places =
            places.flat_map(|(port, parts)| (0..parts.outputs().len()).map(move |place| (port, place)));
        let of_ports = (0..)
            .zip(&ports)
            .flat_map(|(port, parts)| parts.inputs().iter().map(move |&input| (input, port)));
        let of_pauses = (0..).zip(&pauses.from).filter_map(|(port, stream)| Some(((*stream)?, port)));
        let arrivals = of_ports.clone().count();
        let (inputs, takers) = of_ports.chain(of_pauses).unzip();
        Self {
            inputs,
            arrivals,
            takers,
            links: ports.iter().map(OutputLink::of).collect(),
            restless: (0..ports.len()).filter(|&port| ports[port].is_restless()).collect(),
            outputs: ports
                .iter()
                .flat_map(Port::outputs)
                .chain(pauses.to.iter().map(|(stream, _)| stream))
                .copied()
                .collect(),
            places: places.collect(),
            paused: pauses
                .from
                .iter()
                .map(|stream| stream.map(|stream| Merge::new(&[stream], TieBreak::InputId)))
                .collect(),
            pauses: vec![Train { count: 0, ..Train::default() }; ports.len()],
            pausing: pauses.to,
            memory: memory.map(Box::new),
            held: 0,
            ahead: Ahead::default(),
            heads: vec![Train { count: 0, ..Train::default() }; ports.len()],
            agenda: BinaryHeap::new(),
            ties,
            clock: 0,
            ports,
        }
    }

    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    pub(crate) fn ports_mut(&mut self) -> &mut [Port] {
        &mut self.ports
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    /// As [`Port::lookahead`], of output `place` of all.
    pub(crate) fn lookahead(&self, place: usize) -> Time {
        match self.places.get(place) {
            Some(&(port, place)) => self.ports[port].lookahead(place),
            None => self.pausing[place - self.places.len()].1,
        }
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    pub(crate) fn next_event(&self) -> Time {
        self.agenda.peek().map_or(NEVER, |Reverse(event)| event.at.ps())
    }

    /// As [`Port::visit`].
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut units = 0;
        while let Some(due) = self.sample_due().filter(|&due| due <= until) {
            units += self.handle(due, streams);
            self.catch_up();
            self.ports.iter_mut().for_each(Port::sample);
        }
        units += self.handle(until, streams);
        self.check_sum();
        units
    }

    /// Everything before its clock has been handled: tells the outputs how far they are known.
    pub(crate) fn promise(&self, streams: &mut Streams) {
        let until = self.clock;
        let mut outputs = self.outputs.iter();
        for link in &self.links {
            let horizon = until.max(link.free) + link.lookahead;
            for &output in outputs.by_ref().take(link.outputs) {
                streams[output].advance_horizon(horizon);
            }
        }
        for &(stream, delay) in &self.pausing {
            streams[stream].advance_horizon(until + delay);
        }
    }

    /// The ports are going to be looked at: those where nothing has happened since have the time of the others.
    pub(crate) fn catch_up(&mut self) {
        for port in &mut self.ports {
            port.catch_up(self.clock);
        }
        self.check_memory();
    }

    /// When the next samples are due; all ports take them at the same times.
    fn sample_due(&self) -> Option<Time> {
        self.ports.first()?.next_sample()
    }

    /// Handles every arrival before `until` and every departure up to it; returns how many units arrived.
    fn handle(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut units = 0;
        loop {
            let step = self.next_step(until, streams);
            units += if step.apart {
                self.handle_apart(step.to, streams)
            } else {
                self.handle_together(step.to, streams)
            };
            for &port in &self.restless {
                self.ports[port].end_handling(step.to, streams);
            }
            self.clock = step.to;
            if self.clock == until {
                return units;
            }
        }
    }

    /// Handles with `handle` what happens at a port, and follows what that holds.
    fn at_port<R>(&mut self, port: usize, handle: impl FnOnce(&mut Port) -> R) -> R {
        let parts = &mut self.ports[port];
        let held = parts.held();
        let done = handle(parts);
        self.held = self.held - held + parts.held();
        self.links[port].free = parts.free();
        done
    }

    /// Takes the next event off the agenda, if it is an arrival before `until` or a departure up to it.
    fn next_before(&mut self, until: Time) -> Option<Event> {
        let Reverse(next) = self.agenda.peek()?;
        if next.at > Instant::start_of(until) {
            return None;
        }
        self.agenda.pop().map(|Reverse(event)| event)
    }

    /// Checks that the memory holds what the ports hold, and what came on links, as far as that is known without looking at each.
    fn check_sum(&self) {
        if let Some(memory) = &self.memory {
            assert_eq!(memory.held(), self.held, "what the ports of a switch hold of its memory");
        }
        if cfg!(debug_assertions) {
            self.check_memory();
        }
    }

    /// Counts again: the memory holds what the ports hold, and a departure of each port that transmits is on the agenda.
    fn check_memory(&self) {
        let held: u64 = self.ports.iter().map(Port::held).sum();
        assert_eq!(self.held, held, "what the ports of a switch hold, counted again");
        let next = self.ports.iter().map(Port::next_event).fold(NEVER, Time::min);
        assert_eq!(self.next_event(), next, "the first departure from a switch, sought again");
        let Some(memory) = &self.memory else { return };
        assert_eq!(memory.held(), held, "what the ports of a switch hold of its memory");
        assert!(
            memory.came().is_none_or(|came| came == held),
            "what a switch holds, by links that lead to it"
        );
    }
}

impl OutputLink {
    fn of(port: &Port) -> Self {
        let outputs = port.outputs().len();
        // All outputs are along the link: ports here relay nothing.
        let lookahead = if outputs > 0 { port.lookahead(0) } else { 0 };
        Self { free: port.free(), lookahead, outputs }
    }
}

impl SharedMemorySwitch {
    /// How much more than `xon` of what came on its `link`-th link the ports for which `waits` says so hold: if it is any, the pause
    /// ends only when they have sent some of it.
    pub(crate) fn holds_back(&self, link: usize, waits: impl Fn(&Port) -> bool) -> bool {
        let Some(xon) = self.memory.as_ref().and_then(|memory| memory.xon()) else { return false };
        self.ports.iter().filter(|port| waits(port)).map(|port| port.came_on(link)).sum::<u64>() > xon
    }

    /// Where pauses of each link that leads here go.
    pub(crate) fn pausing(&self) -> impl Iterator<Item = StreamId> {
        self.pausing.iter().map(|&(stream, _)| stream)
    }

    /// The ports that are paused and transmit nothing, each with the stream on which its pauses come.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (&Port, StreamId)> {
        let streams = &self.inputs[self.arrivals..];
        let can_be_paused = self.ports.iter().zip(&self.paused).filter(|(_, merge)| merge.is_some());
        can_be_paused.map(|(port, _)| port).zip(streams.iter().copied()).filter(|(port, _)| port.waits())
    }
}
