//! What happens at the ports in one order: by time; at one instant departures before pauses, and these before arrivals; of arrivals at several
//! ports at one instant the one that the scenario's tie-break chooses, of departures, which do not affect each other, that of the first port.

use std::cmp::Reverse;

use celltrain_atm::Cell;
use celltrain_engine::{Instant, Time, random::Generator, stream::Train};

use super::SharedMemorySwitch;
use crate::{flight::Streams, memory::Signal};

/// What happens next at a port, in the order in which it is handled.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Instant,
    pub(super) kind: EventKind,
    /// Orders arrivals at one instant.
    lot: u64,
    pub(super) port: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventKind {
    Departure,
    Pause,
    Arrival,
}

impl SharedMemorySwitch {
    /// Handles every arrival before `until` and every departure up to it, one after another; returns how many units arrived.
    pub(super) fn handle_together(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut units = 0;
        self.await_inputs(until, streams);
        while let Some(event) = self.next_before(until) {
            units += self.handle_event(&event, until, streams);
        }
        units
    }

    /// Handles what happens next, and puts on the agenda what follows it at the port; returns how many units arrived.
    fn handle_event(&mut self, event: &Event, until: Time, streams: &mut Streams) -> u64 {
        let &Event { at, kind, port, .. } = event;
        let idle = self.ports[port].departure().is_none();
        let units = self.handle_at_port(event, streams);
        self.send_pauses(at, streams);
        match kind {
            EventKind::Departure => {}
            EventKind::Pause => self.await_pause(port, until, streams),
            EventKind::Arrival => self.await_arrival(port, until, streams),
        }
        // One departure of each port that transmits is on the agenda.
        if idle || kind == EventKind::Departure {
            self.await_departure(port);
        }
        units
    }

    /// What happens next happens at its port, which has the memory meanwhile; returns how many units arrived.
    fn handle_at_port(&mut self, &Event { at, kind, port, .. }: &Event, streams: &mut Streams) -> u64 {
        let (mut memory, mut head) = (self.memory.take(), self.heads[port]);
        let pause = self.pauses[port].item.clp;
        let units = self.at_port(port, |parts| {
            let mut units = 0;
            parts.lend(&mut memory);
            match kind {
                EventKind::Departure => parts.handle_departures(at, streams),
                EventKind::Pause => parts.handle_pause(at, pause, streams),
                EventKind::Arrival => units = parts.handle_arrival(&mut head, streams),
            }
            parts.give_back(&mut memory);
            parts.check_books(streams);
            units
        });
        (self.memory, self.heads[port]) = (memory, head);
        if kind == EventKind::Pause {
            self.pauses[port].count = 0;
        }
        units
    }

    /// Puts on the agenda what comes first at each port before `until`.
    fn await_inputs(&mut self, until: Time, streams: &mut Streams) {
        let mut found = None;
        for place in 0..self.inputs.len() {
            if streams[self.inputs[place]].next_arrival().is_none_or(|at| at >= until) {
                continue;
            }
            let port = self.takers[place];
            if place >= self.arrivals {
                self.await_pause(port, until, streams);
            } else if found != Some(port) {
                // All inputs of a port are merged, and are one behind the other here.
                found = Some(port);
                self.ports[port].refill(streams);
                self.await_arrival(port, until, streams);
            }
        }
    }

    /// Puts the next arrival at a port on the agenda, if there is one before `until`.
    fn await_arrival(&mut self, port: usize, until: Time, streams: &mut Streams) {
        let head = &mut self.heads[port];
        if head.count == 0 && !self.ports[port].next_arrival(until, streams, head) {
            return;
        }
        let lot = self.ties.get_mut(port).map_or(0, draw_lot);
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

    /// Puts the departure of what a port transmits on the agenda.
    pub(super) fn await_departure(&mut self, port: usize) {
        if let Some(at) = self.ports[port].departure() {
            self.agenda.push(Reverse(Event { at, kind: EventKind::Departure, lot: 0, port }));
        }
    }
}

/// One lot for each unit, in the order of the port's arrivals, whether it is needed or not.
pub(super) fn draw_lot(generator: &mut Generator) -> u64 {
    generator.below(u64::MAX)
}
