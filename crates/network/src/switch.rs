//! The output ports of a switch that share its memory: one process.
//!
//! What a port may hold depends on what the others hold at the same instant, so that no time passes between them. The process handles what
//! happens at all of its ports in one order: by time; at one instant departures before arrivals; of arrivals at several ports at one instant
//! the one that the scenario's tie-break chooses, of departures, which do not affect each other, that of the first port. Each port
//! has its own inputs, admission, queues and link, as every port that stores its queues.
//!
//! With priority flow control the process sends pauses against the direction of the data, and its ports obey those of the switches behind
//! their links; so does the interface of a host, which is such a process with one port and no memory. At one instant pauses come after
//! departures and before arrivals.

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_atm::Cell;
use celltrain_engine::{
    Instant, Time,
    merge::{Merge, TieBreak},
    random::Generator,
    stream::{StreamId, Train},
    time::NEVER,
};

use crate::{
    flight::Streams,
    memory::{SharedMemory, Signal},
    port::Port,
};

/// The ports of a switch with one memory.
#[derive(Debug)]
pub(crate) struct SharedMemorySwitch {
    ports: Vec<Port>,
    /// Of all ports, one after the other.
    inputs: Vec<StreamId>,
    /// Of all ports, one after the other, each with its port and its place there; then those of pauses.
    outputs: Vec<StreamId>,
    places: Vec<(usize, usize)>,
    /// On which pauses of each port's link come, if it can be paused, and the pause that is next.
    paused: Vec<Option<Merge>>,
    pauses: Vec<Train<Cell>>,
    /// Where pauses of each link that leads to the switch go, and how long they take.
    pausing: Vec<(StreamId, Time)>,
    /// Not here while a port handles an event, and where ports only obey pauses.
    memory: Option<Box<SharedMemory>>,
    /// What has been taken from the inputs of each port and has not been handled yet; nothing between visits.
    heads: Vec<Train<Cell>>,
    agenda: BinaryHeap<Reverse<Event>>,
    /// Breaks ties of arrivals at several ports, a generator for each; none if the first port comes first.
    ties: Vec<Generator>,
    clock: Time,
}

/// What happens next at a port, in the order in which it is handled.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Instant,
    kind: EventKind,
    /// Orders arrivals at one instant.
    lot: u64,
    port: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Departure,
    Pause,
    Arrival,
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
        Self {
            inputs: ports
                .iter()
                .flat_map(Port::inputs)
                .chain(pauses.from.iter().flatten())
                .copied()
                .collect(),
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
        self.ports.iter().map(Port::next_event).fold(NEVER, Time::min)
    }

    /// As [`Port::visit`].
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        for port in &mut self.ports {
            port.refill(streams);
        }
        self.paused.iter_mut().flatten().for_each(|merge| merge.refill(streams));
        let mut units = 0;
        while let Some(due) = self.sample_due().filter(|&due| due <= until) {
            units += self.handle(due, streams);
            self.ports.iter_mut().for_each(Port::sample);
        }
        units += self.handle(until, streams);
        for port in &mut self.ports {
            port.end_visit(until, streams);
        }
        for &(stream, delay) in &self.pausing {
            streams[stream].advance_horizon(until + delay);
        }
        self.check_memory();
        units
    }

    /// When the next samples are due; all ports take them at the same times.
    fn sample_due(&self) -> Option<Time> {
        self.ports.first()?.next_sample()
    }

    /// Handles every arrival before `until` and every departure up to it; returns how many units arrived.
    fn handle(&mut self, until: Time, streams: &mut Streams) -> u64 {
        self.clock = until;
        let mut units = 0;
        for port in 0..self.ports.len() {
            self.await_arrival(port, until, streams);
            self.await_departure(port, until);
            self.await_pause(port, until, streams);
        }
        while let Some(Reverse(Event { at, kind, port, .. })) = self.agenda.pop() {
            let idle = self.ports[port].departure().is_none();
            self.ports[port].lend(&mut self.memory);
            match kind {
                EventKind::Departure => self.ports[port].handle_departures(at, streams),
                EventKind::Pause => {
                    self.ports[port].handle_pause(at, self.pauses[port].item.clp, streams);
                    self.pauses[port].count = 0;
                }
                EventKind::Arrival => {
                    units += self.ports[port].handle_arrival(&mut self.heads[port], streams);
                }
            }
            self.ports[port].give_back(&mut self.memory);
            self.send_pauses(at, streams);
            match kind {
                EventKind::Departure => {}
                EventKind::Pause => self.await_pause(port, until, streams),
                EventKind::Arrival => self.await_arrival(port, until, streams),
            }
            // One departure of each port that transmits is on the agenda.
            if idle || kind == EventKind::Departure {
                self.await_departure(port, until);
            }
        }
        for port in &mut self.ports {
            port.end_handling(until, streams);
        }
        units
    }

    /// Puts the next arrival at a port on the agenda, if there is one before `until`.
    fn await_arrival(&mut self, port: usize, until: Time, streams: &mut Streams) {
        let head = &mut self.heads[port];
        if head.count == 0 && !self.ports[port].next_arrival(until, streams, head) {
            return;
        }
        // One lot for each unit, in the order of the port's arrivals, whatever the visits.
        let lot = self.ties.get_mut(port).map_or(0, |generator| generator.below(u64::MAX));
        self.agenda.push(Reverse(Event { at: head.first, kind: EventKind::Arrival, lot, port }));
    }

    /// Puts the next pause of a port's link, or the end of one, on the agenda, if there is one before `until`.
    fn await_pause(&mut self, port: usize, until: Time, streams: &mut Streams) {
        let Some(Some(merge)) = self.paused.get_mut(port) else { return };
        if merge.next(until, streams, &mut self.pauses[port]) {
            let at = self.pauses[port].first;
            self.agenda.push(Reverse(Event { at, kind: EventKind::Pause, lot: 0, port }));
        }
    }

    /// Sends the pauses that what happened at `at` has caused.
    fn send_pauses(&mut self, at: Instant, streams: &mut Streams) {
        let Some(memory) = &mut self.memory else { return };
        for Signal { link, pause } in memory.signals() {
            let (stream, delay) = self.pausing[link];
            let cell = Cell { clp: pause, ..Cell::default() };
            streams[stream].push(0, 0, &Train::single(at.delayed(delay), cell));
        }
    }

    /// Puts the departure of what a port transmits on the agenda, if it comes by `until`.
    fn await_departure(&mut self, port: usize, until: Time) {
        let departure = self.ports[port].departure();
        if let Some(at) = departure.filter(|&at| at <= Instant::start_of(until)) {
            self.agenda.push(Reverse(Event { at, kind: EventKind::Departure, lot: 0, port }));
        }
    }

    /// Checks that the memory holds what the ports hold.
    fn check_memory(&self) {
        let held: u64 = self.ports.iter().map(Port::held).sum();
        let Some(memory) = &self.memory else { return };
        assert_eq!(memory.held(), held, "what the ports of a switch hold of its memory");
        assert!(
            memory.came().is_none_or(|came| came == held),
            "what a switch holds, by links that lead to it"
        );
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
        let streams = &self.inputs[self.inputs.len() - self.paused.iter().flatten().count()..];
        let can_be_paused = self.ports.iter().zip(&self.paused).filter(|(_, merge)| merge.is_some());
        can_be_paused.map(|(port, _)| port).zip(streams.iter().copied()).filter(|(port, _)| port.waits())
    }
}
