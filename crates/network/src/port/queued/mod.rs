//! The buffer of a port that queues by VC: for schedulers other than FIFO, for limits and policers of VCs, and for policies
//! that push out.
//!
//! Which unit goes next may depend on what arrives until then, so departures are events here: those up to an arrival come
//! before it, those in the same instant too.

mod store;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortView, Reason, Verdict},
    cell::{Ecn, Kind},
    policing::{Action, Policer},
    scheduler::Priority,
};
use celltrain_engine::{
    Instant, Time,
    stream::{Streams, Train},
    time::NEVER,
};

pub(crate) use self::store::Store;
use self::store::Unit;
use super::{Line, PacketLimit, Queuing, buffer::Buffer};
use crate::wire::Wires;

/// What a port that queues by VC has beside its buffer's policy.
#[derive(Debug)]
pub(crate) struct VcQueues {
    line: Line,
    /// The most that a VC may take of the buffer.
    vc_capacity: u64,
    /// The policer of each VC that has one, by label.
    policers: Vec<Option<Policer>>,
    scheduler: Priority,
    store: Store,
    /// The unit in transmission and when its last bit is sent.
    sending: Option<(Unit, Instant)>,
    /// When the line was or will be free.
    free: Instant,
    /// Number of the last departure: departures back to back have neighbouring numbers, others are far apart.
    number: u64,
    /// Slots or bytes for which the line has been busy.
    busy: u64,
}

/// Between the numbers of departures that are not on one grid of slots.
const APART: u64 = 1 << 32;

impl VcQueues {
    pub(super) fn new(line: Line, queuing: Queuing) -> Self {
        let Queuing { scheduler, vc_capacity, policers } = queuing;
        Self {
            line,
            vc_capacity,
            store: Store::new(policers.len()),
            policers,
            scheduler,
            sending: None,
            free: Instant::default(),
            number: 0,
            busy: 0,
        }
    }

    /// Units accepted and not yet sent.
    pub(super) fn units(&self) -> u64 {
        self.store.waiting() + u64::from(self.sending.is_some())
    }

    /// Units accepted whose transmission has not begun.
    pub(super) fn waiting(&self) -> u64 {
        self.store.waiting()
    }

    /// Cells and packets whose transmission has not begun, VC by VC: what a viewer may read.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Cell> {
        self.store.cells()
    }

    /// As [`BufferPolicy::illegal`].
    pub(super) fn illegal(&self, policy: &impl BufferPolicy) -> Option<u64> {
        policy.illegal(&Arrival { queues: self, vc: 0, room: 0, first: false })
    }

    /// What units are called.
    pub(super) fn unit(&self) -> &'static str {
        match self.line {
            Line::Cells { .. } => "cells",
            Line::Packets { .. } => "packets",
        }
    }

    /// The largest occupancy since the window began.
    pub(super) fn most(&self) -> u64 {
        self.store.most
    }

    pub(super) fn begin_window(&mut self) {
        self.store.most = 0;
    }

    /// The time for which the line has been busy, in units of so many seconds.
    pub(super) fn busy(&self) -> (u64, f64) {
        let unit = match self.line {
            Line::Cells { slot, .. } => slot,
            Line::Packets { byte, .. } => byte,
        };
        (self.busy, unit.seconds())
    }

    /// The time that a unit takes at the least.
    pub(super) fn shortest(&self) -> Time {
        match self.line {
            Line::Cells { slot, .. } => slot.ps(),
            Line::Packets { byte, overhead, .. } => super::packets::shortest(byte, overhead),
        }
    }

    /// The earliest departure that is still to be decided, if something arrives at `now`.
    pub(super) fn next_departure(&self, now: Time) -> Time {
        now.max(self.free.ps()) + self.shortest()
    }

    /// The policers of the VCs, by label.
    pub(super) fn policers(&self) -> &[Option<Policer>] {
        &self.policers
    }

    /// When the unit in transmission leaves.
    pub(super) fn next_event(&self) -> Time {
        self.sending.map_or(NEVER, |(_, departure)| departure.ps())
    }

    /// Slots or bytes that `size` takes on the line.
    fn load(&self, size: u32) -> u64 {
        match self.line {
            Line::Cells { .. } => 1,
            Line::Packets { overhead, .. } => u64::from(size) + overhead,
        }
    }

    /// Bytes of a packet or 1 for a cell, and what it takes of the buffer.
    fn measure(&self, bytes: impl FnOnce() -> u32) -> (u32, u32) {
        match self.line {
            Line::Cells { .. } => (1, 1),
            Line::Packets { limit: PacketLimit::Packets(_), .. } => (bytes(), 1),
            Line::Packets { limit: PacketLimit::Bytes(_), .. } => {
                let bytes = bytes();
                (bytes, bytes)
            }
        }
    }
}

/// The port as the policy sees it when a unit arrives.
struct Arrival<'a> {
    queues: &'a VcQueues,
    vc: u32,
    room: u64,
    first: bool,
}

impl PortView for Arrival<'_> {
    #[inline]
    fn capacity(&self) -> u64 {
        self.queues.line.capacity()
    }

    #[inline]
    fn occupancy(&self) -> u64 {
        self.queues.store.total()
    }

    #[inline]
    fn is_first(&self) -> bool {
        self.first
    }

    fn is_packet(&self) -> bool {
        matches!(self.queues.line, Line::Packets { .. })
    }

    #[inline]
    fn is_full(&self) -> bool {
        let store = &self.queues.store;
        let fits = |taken: u64, limit: u64| taken.saturating_add(self.room) <= limit;
        !fits(store.total(), self.capacity()) || !fits(store.of_vc(self.vc), self.queues.vc_capacity)
    }

    #[inline]
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.queues.store.of_vc(vc)
    }

    #[inline]
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.queues.store.of_clp(clp)
    }

    #[inline]
    fn active_vcs(&self) -> u64 {
        self.queues.store.active()
    }

    #[inline]
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.queues.store.last_frame(vc)
    }
}

impl Buffer<VcQueues> {
    /// Handles every arrival before `until` and every departure up to it; returns how many units arrived.
    pub(super) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) -> u64 {
        let (mut units, mut train) = (0, Train::default());
        while self.merge.next::<false, _>(until, streams, &mut train) {
            if let Some(place) = (train.car.vc as usize).checked_sub(self.connections.len()) {
                self.on_way_back(policy, place, &train, streams, wires);
                continue;
            }
            units += u64::from(train.count);
            loop {
                self.advance(policy, train.first, streams);
                self.on_unit(policy, train.first, train.car, streams, wires);
                if train.count == 1 {
                    break;
                }
                train.advance(1);
            }
        }
        self.advance(policy, Instant::start_of(until), streams);
        units
    }

    /// Handles the departures up to `now`, and the ends of the rate allocator's intervals up to the same picosecond: an
    /// interval ends before anything else that happens then, but for departures at its very beginning.
    fn advance<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, streams: &mut Streams<Cell>) {
        if self.control.as_ref().is_some_and(|control| control.next_interval() <= now.ps()) {
            self.end_intervals(policy, now, streams);
        }
        self.send_until(policy, now, streams);
    }

    #[cold]
    fn end_intervals<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, streams: &mut Streams<Cell>) {
        while let Some(control) = &self.control
            && let end = control.next_interval()
            && end <= now.ps()
        {
            self.send_until(policy, Instant::start_of(end), streams);
            if let Some(control) = &mut self.control {
                let cells = control.queue();
                control.on_interval(end, || cells);
            }
        }
    }

    /// A backward RM cell comes by: it is stamped and goes on at once.
    fn on_way_back<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        place: usize,
        cell: &Train<Cell>,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        self.advance(policy, cell.first, streams);
        let Some(control) = &mut self.control else { return };
        let cells = control.queue();
        control.stamp(cell.first.ps(), (place, cell.car.frame), || cells, wires, &mut self.fingerprint);
        control.pass(place, cell, streams);
    }

    /// Handles the departures up to `now`.
    fn send_until<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, streams: &mut Streams<Cell>) {
        while let Some((unit, departure)) = self.queue.sending.take_if(|(_, departure)| *departure <= now) {
            self.queue.store.leave(&unit);
            if let Some(control) = &mut self.control {
                control.leave(unit.cell.vc);
            }
            self.queue.busy += self.queue.load(unit.size);
            policy.on_departure(&unit.cell, departure.ps());
            self.send_next(departure, streams);
        }
    }

    /// The line is free at `start`: sends what the scheduler chooses, if anything waits.
    fn send_next(&mut self, start: Instant, streams: &mut Streams<Cell>) {
        let queues = &mut self.queue;
        let Some(vc) = queues.scheduler.next(&queues.store) else { return };
        let unit = queues.store.take(vc);
        let load = queues.load(unit.size);
        let departure = match queues.line {
            Line::Cells { slot, .. } => start.plus(slot),
            Line::Packets { byte, .. } => start.plus_slots(byte, load),
        };
        let in_step = matches!(queues.line, Line::Cells { .. }) && start == queues.free;
        queues.number += if in_step { 1 } else { APART };
        queues.free = departure;
        queues.sending = Some((unit, departure));
        let (number, first) = (queues.number, departure.delayed(self.delay));
        let sojourn = departure.since(unit.at);
        self.stats.sojourns.add(sojourn);
        self.stats.longest = self.stats.longest.max(sojourn);
        let connection = &self.connections[vc as usize];
        let (output, label) = connection.way(unit.cell.kind);
        let car = Cell { vc: label, ..unit.cell };
        let cell = Train { slot: queues.line.slot(), ..Train::single(first, car) };
        streams[output].push(number, number, &cell);
        if unit.cell.is_last() && unit.cell.kind == Kind::Data {
            self.stats.delays.add(sojourn.ps());
        }
    }

    /// A unit arrives: the policy decides, the port obeys.
    fn on_unit<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        mut cell: Cell,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        if let Some(control) = &mut self.control {
            cell.ecn = control.on_stored_cell(at.ps(), &cell, wires);
        }
        let connection = &self.connections[cell.vc as usize];
        let (size, room) = self.queue.measure(|| {
            let wire = connection.wire.expect("what packets contain waits in a wire");
            wires.packets[wire].peek(cell.frame).segment.ip_bytes()
        });
        match self.police(at, cell).and_then(|cell| self.verdict(policy, at, cell, room)) {
            Ok(cell) => self.accept(Unit { cell, at, size, room }, streams),
            Err(reason) => self.discard(at, &cell, reason),
        }
    }

    /// What the VC's policer makes of a cell.
    fn police(&mut self, at: Instant, cell: Cell) -> Result<Cell, Reason> {
        let Some(policer) = &mut self.queue.policers[cell.vc as usize] else { return Ok(cell) };
        let connection = &mut self.connections[cell.vc as usize];
        let first = connection.at_frame_start;
        match policer.conform(&cell, first, at) {
            Action::Pass => Ok(cell),
            Action::Tag => Ok(Cell { clp: true, ..cell }),
            Action::Discard => {
                if cell.kind == Kind::Data {
                    connection.at_frame_start = cell.is_last();
                }
                Err(Reason::NonConforming)
            }
        }
    }

    /// What the policy makes of a cell.
    fn verdict<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        cell: Cell,
        room: u32,
    ) -> Result<Cell, Reason> {
        let mut arrival = Arrival { queues: &self.queue, vc: cell.vc, room: room.into(), first: false };
        if cell.kind != Kind::Data {
            // It belongs to no frame: policies of frames have nothing to say about it.
            return if arrival.is_full() { Err(Reason::BufferFull) } else { Ok(cell) };
        }
        let connection = &mut self.connections[cell.vc as usize];
        let first = std::mem::replace(&mut connection.at_frame_start, cell.is_last());
        loop {
            arrival.first = first;
            match policy.on_arrival(&cell, &arrival, at.ps()) {
                Verdict::Accept => break Ok(cell),
                Verdict::Mark => {
                    self.stats.marked += u64::from(first);
                    break Ok(Cell { ecn: Ecn::Marked, ..cell });
                }
                Verdict::Discard(reason) => break Err(reason),
                Verdict::PushOut(vc) => {
                    self.push_out(policy, at, vc);
                    arrival = Arrival { queues: &self.queue, vc: cell.vc, room: room.into(), first };
                }
            }
        }
    }

    /// Puts a unit into its queue, and on the line if that is free.
    fn accept(&mut self, unit: Unit, streams: &mut Streams<Cell>) {
        let (vc, queues) = (unit.cell.vc, &mut self.queue);
        queues.store.enqueue(unit);
        let fits =
            queues.store.total() <= queues.line.capacity() && queues.store.of_vc(vc) <= queues.vc_capacity;
        assert!(fits, "the policy accepted a unit into a full buffer");
        queues.scheduler.enqueue(vc, &queues.store);
        if let Some(control) = &mut self.control {
            control.enter(vc);
        }
        self.connections[vc as usize].accepted[usize::from(unit.cell.clp)] += 1;
        if unit.cell.is_last() {
            self.note_frame(unit.at, vc);
        }
        if self.queue.sending.is_none() {
            self.send_next(unit.at, streams);
        }
    }

    /// Pushes the last frame of `vc` out of the buffer.
    #[cold]
    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, vc: u32) {
        let frame = self.queue.store.pushable(vc);
        for _ in 0..frame.units {
            let queues = &mut self.queue;
            let unit = queues.store.push_out(vc);
            queues.scheduler.withdraw(vc, &queues.store);
            if let Some(control) = &mut self.control {
                control.leave(vc);
            }
            // What came in the same picosecond may have come a fraction later.
            self.stats.sojourns.add(now.max(unit.at).since(unit.at));
            // It was accepted and is discarded now: it counts as both.
            self.discard(now, &unit.cell, Reason::PushedOut);
        }
        policy.on_push_out(vc, u64::from(frame.units), frame.complete);
    }
}
