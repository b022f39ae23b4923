//! The service that stores its queues: for schedulers other than FIFO, priorities, limits of VCs, and policies that push out.
//!
//! What goes next may depend on what arrives until then, so departures are events here. Those up to an arrival come before it,
//! those at the same instant too.

mod idle;

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
    cell::Kind,
    scheduler::Priority,
};
use celltrain_engine::{
    Instant, Time,
    stream::Train,
    time::{NEVER, Span, SpanSum},
};

use super::{
    Line,
    core::PortCore,
    fifo::APART,
    occupancy::VcOccupancy,
    queues::{Store, Unit},
    service::Service,
};
use crate::{channel::RateSchedule, flight::Streams, measures::Levels, memory::SharedMemory};

/// Queues, one for each VC, and the scheduler that serves them.
#[derive(Debug)]
pub(super) struct Stored {
    line: Line,
    /// The most that a VC may take of the buffer; the whole of it at the most.
    vc_capacity: u64,
    scheduler: Priority,
    store: Store,
    occupancy: VcOccupancy,
    /// The memory of the switch, lent while an event is handled, if the port shares it.
    pub(super) memory: Option<Box<SharedMemory>>,
    /// The link on which each VC comes, by its number among those that lead to the switch; empty where none is paused.
    ingress: Vec<usize>,
    pub(super) pauses: Pausing,
    /// The largest occupancy since the window began.
    most: u64,
    /// Which VCs are ABR, and how many cells of theirs are in the buffer.
    abr: Vec<bool>,
    abr_queue: u64,
    sending: Option<Sending>,
    /// When the link was or will be free.
    free: Instant,
    /// Number of the last departure.
    number: u64,
    /// How long it took to transmit what the link has carried.
    carried: Span,
    /// How the rate of `line` changes, and what a unit takes at the least at any of them.
    rates: RateSchedule,
    shortest: Time,
    /// How long the buffer held how much, if that is followed.
    levels: Option<Box<Levels>>,
}

/// The unit in transmission.
#[derive(Debug)]
struct Sending {
    unit: Unit,
    start: Instant,
    /// When its last bit is sent.
    departure: Instant,
}

/// The pauses that the other end of the link asks for.
#[derive(Debug, Default)]
pub(super) struct Pausing {
    /// When the present one began.
    pub(super) since: Option<Instant>,
    pub(super) count: u64,
    /// How long those that have ended were together.
    pub(super) time: Span,
}

impl Pausing {
    /// How many pauses there were until `now`, and how long they were together.
    pub(super) fn until(&self, now: Instant) -> (u64, Span) {
        let present = self.since.map_or(Span::default(), |since| now.since(since));
        (self.count, self.time.plus(present, 1))
    }
}

/// What a port needs to store its queues.
#[derive(Debug)]
pub(crate) struct Queuing {
    pub(crate) scheduler: Priority,
    /// The most that a VC may take of the buffer, in its unit.
    pub(crate) vc_capacity: u64,
    /// Which VCs are ABR.
    pub(crate) abr: Vec<bool>,
    /// How the rate of the link changes.
    pub(crate) rates: RateSchedule,
    /// The link on which each VC comes, by its number among those that lead to the switch; empty where none is paused.
    pub(crate) ingress: Vec<usize>,
}

impl Stored {
    /// `pushes_out`: whether the policy pushes frames out of their queues.
    pub(super) fn new(line: Line, queuing: Queuing, pushes_out: bool) -> Self {
        let Queuing { scheduler, vc_capacity, abr, rates, ingress } = queuing;
        Self {
            line,
            // Of a packet for which its own VC's packets leave no room in the whole buffer, others are not pushed out in vain.
            vc_capacity: vc_capacity.min(line.capacity()),
            scheduler,
            store: Store::new(abr.len(), pushes_out),
            occupancy: VcOccupancy::new(abr.len()),
            memory: None,
            ingress,
            pauses: Pausing::default(),
            most: 0,
            abr,
            abr_queue: 0,
            sending: None,
            free: Instant::default(),
            number: 0,
            carried: Span::default(),
            shortest: line.at(rates.fastest()).shortest(),
            rates,
            levels: None,
        }
    }

    /// Units whose transmission has not begun, VC by VC: what a viewer may read.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Unit> {
        self.store.units()
    }

    /// When the unit in transmission leaves.
    pub(super) fn next_event(&self) -> Time {
        self.departure().map_or(NEVER, Instant::ps)
    }

    /// As [`Stored::next_event`], exactly.
    pub(super) fn departure(&self) -> Option<Instant> {
        self.sending.as_ref().map(|sending| sending.departure)
    }

    fn size(&self, cell: &Cell) -> u32 {
        match self.line {
            Line::Cells { .. } => 1,
            Line::Packets { limit, .. } => limit.of_packet(cell.octets),
        }
    }

    #[inline]
    fn enter(&mut self, unit: &Unit) {
        let vc = unit.cell.vc;
        self.note_level(self.in_buffer(), unit.at);
        self.note_entered(unit);
        self.store.enqueue(*unit);
        self.scheduler.enqueue(vc, unit.load(), unit.at, &self.store);
    }

    /// A unit is in the buffer from now on.
    #[inline(always)]
    fn note_entered(&mut self, unit: &Unit) {
        let vc = unit.cell.vc;
        self.occupancy.enter(vc, unit.cell.clp, unit.size);
        self.abr_queue += u64::from(self.abr[vc as usize]);
        if let Some(memory) = &mut self.memory {
            memory.take(unit.size, self.ingress.get(vc as usize).copied());
        }
        let fits =
            self.occupancy.total() <= self.line.capacity() && self.occupancy.of_vc(vc) <= self.vc_capacity;
        assert!(fits, "the policy accepted a unit into a full buffer");
        self.most = self.most.max(self.occupancy.total());
    }

    /// A unit that was taken out of its queue, or is sent, leaves the buffer at `now`.
    fn leave(&mut self, unit: &Unit, now: Instant) {
        let vc = unit.cell.vc;
        self.note_level(self.in_buffer() + 1, now);
        self.occupancy.leave(vc, unit.cell.clp, unit.size);
        self.abr_queue -= u64::from(self.abr[vc as usize]);
        if let Some(memory) = &mut self.memory {
            memory.give(unit.size, self.ingress.get(vc as usize).copied());
        }
    }

    /// Units in the buffer, the one in transmission included.
    fn in_buffer(&self) -> u64 {
        self.store.waiting() + u64::from(self.sending.is_some())
    }

    /// Until `now`, when that changes, so many units were in the buffer.
    fn note_level(&mut self, level: u64, now: Instant) {
        if let Some(levels) = &mut self.levels {
            levels.hold(level, now);
        }
    }

    /// The VC whose first unit goes next, if anything waits at `now`; it has to be taken out of its queue then.
    #[inline]
    fn next_vc(&mut self, now: Instant) -> Option<u32> {
        if self.store.waiting() == 0 && self.scheduler.forgets() {
            return None;
        }
        self.scheduler.next(now, &self.store)
    }

    /// Whether the link may begin to transmit.
    #[inline]
    fn is_free(&self) -> bool {
        self.sending.is_none() && self.pauses.since.is_none()
    }

    /// Whether it waits for the end of a pause, with something to send and nothing in transmission.
    pub(super) fn waits_for_pause(&self) -> bool {
        self.pauses.since.is_some() && self.sending.is_none() && self.store.waiting() > 0
    }

    /// What is in the buffer of what came on link `link` of those that lead to the switch.
    pub(super) fn came_on(&self, link: usize) -> u64 {
        let vcs = (0..).zip(&self.ingress).filter(|(_, ingress)| **ingress == link);
        vcs.map(|(vc, _)| self.occupancy.of_vc(vc)).sum()
    }

    /// The unit that was taken is not sent.
    fn drop_taken(&mut self, unit: &Unit, now: Instant) {
        self.leave(unit, now);
        self.scheduler.refund(unit.cell.vc, unit.load());
    }

    /// Begins to send the unit that was taken, at `start`; returns when its last bit is sent.
    #[inline]
    fn send(&mut self, unit: Unit, start: Instant) -> Instant {
        let departure = match self.line {
            Line::Cells { slot, .. } => start.plus(slot),
            Line::Packets { octet, overhead, .. } => {
                start.plus_slots(octet, u64::from(unit.cell.octets) + overhead)
            }
        };
        let in_step = matches!(self.line, Line::Cells { .. }) && start == self.free;
        self.number = self.number.wrapping_add(if in_step { 1 } else { APART });
        self.free = departure;
        self.sending = Some(Sending { unit, start, departure });
        departure
    }

    /// Whether `cell` would exceed the limit of its VC.
    #[inline]
    fn exceeds_vc(&self, cell: &Cell) -> bool {
        self.occupancy.of_vc(cell.vc).saturating_add(self.size(cell).into()) > self.vc_capacity
    }

    /// As [`SharedMemory::has_space`], of a memory that the port may have of its own.
    #[inline]
    fn has_memory(&self, own: u64, given: u64, size: u32) -> bool {
        self.memory.as_ref().is_none_or(|memory| memory.has_space(own, given, size))
    }

    /// Whether the memory has no space for `cell` whatever other VCs give back here: all of theirs but what is in transmission.
    fn exceeds_memory(&self, cell: &Cell) -> bool {
        let sending = self.sending.as_ref().map(|sending| &sending.unit);
        let stays = sending.filter(|unit| unit.cell.vc != cell.vc).map_or(0, |unit| u64::from(unit.size));
        let own = self.occupancy.total();
        let given = own - self.occupancy.of_vc(cell.vc) - stays;
        !self.has_memory(own, given, self.size(cell))
    }

    /// As [`VcOccupancy::check`]; and no unit waits while the link is idle.
    pub(super) fn check(&self, port: &str, accepted: impl Iterator<Item = u64>) {
        let units = self.store.units().chain(self.sending.as_ref().map(|sending| &sending.unit));
        self.occupancy.check(port, accepted, units);
        let sending = u64::from(self.sending.is_some());
        let waits = self.store.waiting() > 0 && self.pauses.since.is_none();
        assert!(sending == 1 || !waits, "{port}: units wait while the link is idle");
        assert_eq!(self.store.units().count() as u64, self.store.waiting(), "{port}: units in queues");
    }
}

impl Service for Stored {
    #[inline]
    fn capacity(&self) -> u64 {
        self.line.capacity()
    }

    #[inline]
    fn occupancy(&self, _: Instant) -> u64 {
        self.occupancy.total()
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn begin_window(&mut self, now: Instant) {
        self.most = self.occupancy.total();
        if self.levels.is_some() {
            self.follow_levels(now);
        }
    }

    fn follow_levels(&mut self, now: Instant) {
        self.levels = Some(Box::new(Levels::from(now)));
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        let mut levels = self.levels.as_deref().cloned()?;
        levels.hold(self.in_buffer(), now);
        Some(levels)
    }

    #[inline]
    fn is_full(&self, _: Instant, cell: &Cell) -> bool {
        let (own, size) = (self.occupancy.total(), self.size(cell));
        let total = own.saturating_add(size.into());
        total > self.line.capacity() || self.exceeds_vc(cell) || !self.has_memory(own, 0, size)
    }

    #[inline]
    fn is_vc_full(&self, cell: &Cell) -> bool {
        self.exceeds_vc(cell) || self.memory.is_some() && self.exceeds_memory(cell)
    }

    fn is_packet(&self) -> bool {
        matches!(self.line, Line::Packets { .. })
    }

    #[inline]
    fn per_vc(&self) -> &VcOccupancy {
        &self.occupancy
    }

    #[inline]
    fn per_vc_mut(&mut self) -> &mut VcOccupancy {
        &mut self.occupancy
    }

    #[inline]
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.store.last_frame(vc)
    }

    fn remove_last_frame(&mut self, vc: u32, now: Instant) -> (Vec<Unit>, bool) {
        let mut units = Vec::new();
        loop {
            let (unit, first, complete) = self.store.remove_last(vc);
            self.leave(&unit, now);
            self.scheduler.withdraw(vc, unit.load(), now, &self.store);
            units.push(unit);
            if first {
                return (units, complete);
            }
        }
    }

    fn units(&self, _: Instant) -> u64 {
        self.in_buffer()
    }

    fn kept(&self) -> u64 {
        self.store.waiting()
    }

    fn kept_of(&self, vc: u32) -> u64 {
        self.store.waiting_of(vc)
    }

    fn abr_queue(&self, _: Instant) -> u64 {
        self.abr_queue
    }

    fn busy(&self, now: Instant, _: u64) -> Span {
        let now_sending = self.sending.as_ref().map_or(Span::default(), |sending| now.since(sending.start));
        self.carried.plus(now_sending, 1)
    }

    fn occupancy_integral(&self, now: Instant, sojourns: SpanSum) -> SpanSum {
        let sending = self.sending.as_ref().map(|sending| &sending.unit);
        let mut sum = sojourns;
        sending.into_iter().chain(self.store.units()).for_each(|unit| sum.add(now.since(unit.at)));
        sum
    }

    fn shortest(&self) -> Time {
        self.shortest
    }

    fn free(&self) -> Time {
        self.free.ps()
    }
}

impl PortCore<Stored> {
    /// Handles every arrival before `until` and every departure up to it; returns how many units arrived.
    pub(super) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) -> u64 {
        let (mut units, mut train) = (0, Train::default());
        self.merge.refill(streams);
        while self.merge.next::<false, _>(until, streams, &mut train) {
            units += self.arrive(policy, train, streams);
        }
        self.settle(policy, until, streams);
        units
    }

    /// Handles the units of `train`, and every departure up to each of them; returns how many arrived for the link.
    #[inline(always)]
    pub(super) fn arrive<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        mut train: Train<Cell>,
        streams: &mut Streams,
    ) -> u64 {
        let mut units = u64::from(train.count);
        loop {
            self.advance(policy, train.first, streams);
            let (mut cell, low_latency) = (train.item, train.item.ecn.is_low_latency());
            if self.notify_allocator(train.first, &mut cell, streams) {
                let sent = self.on_unit(policy, train.first, cell, low_latency, streams);
                if sent && self.comes_alone(&train) {
                    let passed = self.pass_rest(policy, &train, streams);
                    train.advance(passed);
                }
            } else {
                units -= 1;
                self.relay(&train, streams);
            }
            if train.count == 1 {
                return units;
            }
            train.advance(1);
        }
    }

    /// The other end of the link asks for a pause at `at`, or ends one. What is being transmitted is transmitted to its end.
    pub(super) fn pause<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        pause: bool,
        streams: &mut Streams,
    ) {
        self.advance(policy, at, streams);
        let pauses = &mut self.service.pauses;
        assert_eq!(pauses.since.is_some(), !pause, "a pause begins and ends");
        if pause {
            pauses.since = Some(at);
            pauses.count += 1;
        } else if let Some(since) = pauses.since.take() {
            pauses.time = pauses.time.plus(at.since(since), 1);
            if self.service.is_free() {
                self.send_next(policy, at, streams);
            }
        }
    }

    /// Every arrival before `until` has been handled: handles the departures up to it.
    pub(super) fn settle<P: BufferPolicy>(&mut self, policy: &mut P, until: Time, streams: &mut Streams) {
        self.advance(policy, Instant::start_of(until), streams);
        self.note_abr_queue(Instant::start_of(until));
    }

    /// A unit was accepted.
    #[inline(always)]
    fn note_accepted(&mut self, Unit { cell, at, .. }: &Unit) {
        self.entries[cell.vc as usize].accepted[usize::from(cell.clp)] += 1;
        if cell.is_last() {
            self.note_end(*at, cell.vc);
        }
    }

    /// Handles the departures up to `now`, and the ends of the rate allocator's intervals up to the same picosecond: an
    /// interval ends before anything else that happens then, but for departures at its very beginning.
    pub(super) fn advance<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, streams: &mut Streams) {
        while let Some(end) = self.interval_end(now) {
            self.send_until(policy, Instant::start_of(end), streams);
            self.end_interval(end);
        }
        self.send_until(policy, now, streams);
    }

    /// Handles the departures up to `now`.
    fn send_until<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, streams: &mut Streams) {
        while let Some(Sending { unit, start, departure }) =
            self.service.sending.take_if(|sending| sending.departure <= now)
        {
            self.follow_rate(policy, departure);
            self.service.leave(&unit, departure);
            self.service.carried = self.service.carried.plus(departure.since(start), 1);
            let sojourn = departure.since(unit.at);
            self.stats.sojourns.add(sojourn);
            if unit.cell.kind == Kind::Data {
                if unit.cell.is_last() {
                    self.stats.delays.add(sojourn.ps());
                }
                if let Some(departure) = P::Needs::departure(&unit.cell, departure.ps()) {
                    policy.on_departure(departure);
                }
            }
            self.send_next(policy, departure, streams);
        }
        self.follow_rate(policy, now);
    }

    /// Gives the link the rate that it has at `now`, before anything else happens then.
    #[inline]
    fn follow_rate<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        while let Some(change) = self.service.rates.step(now.ps()) {
            self.service.line = self.service.line.at(change.rate);
            // What departs before and after it is on two grids.
            self.service.number = self.service.number.wrapping_add(APART);
            policy.on_rate(change.rate, change.at.ps());
        }
    }

    /// The link is free at `start`: sends what the scheduler chooses and the policy lets pass, if anything waits.
    #[inline(always)]
    fn send_next<P: BufferPolicy>(&mut self, policy: &mut P, start: Instant, streams: &mut Streams) {
        if self.service.pauses.since.is_some() {
            return;
        }
        while let Some(vc) = self.service.next_vc(start) {
            let mut unit = self.service.store.take(vc);
            if !self.passes_head(policy, start, &mut unit) {
                self.service.drop_taken(&unit, start);
                continue;
            }
            return self.transmit(unit, start, streams);
        }
    }

    /// The link, which is free, begins to send `unit` at `start`.
    #[inline(always)]
    fn transmit(&mut self, unit: Unit, start: Instant, streams: &mut Streams) {
        let departure = self.service.send(unit, start);
        let (output, vc) = self.entries[unit.cell.vc as usize].next_hop(unit.cell.kind);
        let (first, number) = (departure.delayed(self.delay), self.service.number);
        let cell = Train { slot: self.service.line.slot(), ..Train::single(first, Cell { vc, ..unit.cell }) };
        streams[output].push(number, number, &cell);
    }

    /// A unit arrives, which asked for low latency as it came, or not. What is accepted is sent at once if the link is free, which is
    /// returned, and goes into its queue otherwise.
    // Forced into the loop over arrivals, which two processes have.
    #[inline(always)]
    fn on_unit<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        mut cell: Cell,
        low_latency: bool,
        streams: &mut Streams,
    ) -> bool {
        if !self.admit::<true, P>(policy, at, &mut cell) {
            return false;
        }
        let unit = Unit { cell, at, size: self.service.size(&cell), low_latency };
        // What a policy decides at the head of the queue is decided there.
        if !P::Needs::DEQUEUE && self.service.is_free() {
            self.accept_alone(unit, streams);
            return true;
        }
        self.note_accepted(&unit);
        self.service.enter(&unit);
        self.note_abr_queue(at);
        if P::Needs::DEQUEUE && self.service.is_free() {
            self.send_next(policy, at, streams);
        }
        false
    }
}
