//! The service that stores its queues: for schedulers other than FIFO, priorities, limits of VCs, and policies that push out.
//!
//! What goes next may depend on what arrives until then, so departures are events here. Those up to an arrival come before it,
//! those at the same instant too.

mod books;
mod idle;
mod serving;

use std::fmt;

use celltrain_atm::{
    Cell,
    scheduler::{Priority, SharedQueue, Side},
};
use celltrain_engine::{Instant, Slot, Span, SpanSum, Time, quantity::BitRate, time::NEVER};

pub(super) use self::books::Books;
use super::{
    Line,
    fifo::APART,
    occupancy::VcOccupancy,
    queues::{FirstFrame, Store, Unit},
    service::Service,
};
use crate::{channel::RateSchedule, measures::Levels};

/// The queues, and the scheduler that serves them.
#[derive(Debug)]
pub(super) struct Stored {
    line: Line,
    /// The size of the buffer, at any rate of `line`.
    capacity: u64,
    /// The most that a VC may take of the buffer; the whole of it at the most.
    vc_capacity: u64,
    /// Whether the buffer is counted in octets.
    in_octets: bool,
    /// None if units of all VCs are sent in the order of their arrival, out of one queue.
    scheduler: Option<Priority>,
    store: Store,
    occupancy: VcOccupancy,
    pub(super) books: Books,
    pub(super) pauses: Pausing,
    /// The largest occupancy since the window began.
    most: u64,
    /// The unit in transmission, or the last one.
    unit: Unit,
    /// Whether it is in transmission.
    sends: bool,
    /// When its last bit is sent: when the link was or will be free.
    free: Instant,
    /// Number of the last departure.
    number: u64,
    /// How long it takes to transmit what the link has begun to send, but for `begun`.
    carried: Span,
    /// How many cells it has begun to send at its present rate, or octets of packets.
    begun: u64,
    /// How the rate of `line` changes, and what a unit takes at the least at any of them.
    rates: RateSchedule,
    shortest: Time,
}

/// The pauses that the other end of the link asks for.
#[derive(Debug, Default)]
pub(super) struct Pausing {
    /// When the present one began.
    pub(super) since: Option<Instant>,
    pub(super) count: u64,
    /// How long those that have ended were together.
    pub(super) time: Span,
    /// When each began and ended, if somebody watches.
    pub(super) log: Option<Vec<(Instant, bool)>>,
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
        let (capacity, vcs) = (line.capacity(), abr.len());
        let scheduler = Some(scheduler).filter(|scheduler| !scheduler.is_fifo());
        let in_octets = matches!(line, Line::Packets { limit, .. } if limit.of_packet(2) == 2);
        Self {
            line,
            capacity,
            // Of a packet for which its own VC's packets leave no room in the whole buffer, others are not pushed out in vain.
            vc_capacity: vc_capacity.min(capacity),
            in_octets,
            store: Store::new(vcs, scheduler.is_none(), pushes_out),
            scheduler,
            occupancy: VcOccupancy::new(vcs).listing(pushes_out),
            books: Books::new(abr, ingress, in_octets || vc_capacity < capacity),
            pauses: Pausing::default(),
            most: 0,
            unit: Unit::default(),
            sends: false,
            free: Instant::default(),
            number: 0,
            carried: Span::default(),
            begun: 0,
            shortest: rates.line_at(line, rates.fastest()).shortest(),
            rates,
        }
    }

    /// Units whose transmission has not begun, VC by VC: what a viewer may read.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Unit> {
        let mut units: Vec<_> = self.store.units().collect();
        units.sort_by_key(|unit| unit.cell.vc);
        units.into_iter()
    }

    /// When the unit in transmission leaves.
    pub(super) fn next_event(&self) -> Time {
        self.departure().map_or(NEVER, Instant::ps)
    }

    /// As [`Stored::next_event`], exactly.
    #[inline]
    pub(super) fn departure(&self) -> Option<Instant> {
        self.sends.then_some(self.free)
    }

    /// The unit in transmission.
    fn sending(&self) -> Option<&Unit> {
        self.sends.then_some(&self.unit)
    }

    /// What a unit takes of the buffer.
    #[inline]
    pub(super) fn size(&self, cell: &Cell) -> u32 {
        if self.in_octets { cell.octets } else { 1 }
    }

    /// Whether cells wait in one queue, and nobody but the policy has to know of each.
    fn is_plain(&self) -> bool {
        !self.in_octets
            && !self.books.decide_on_room()
            && self.scheduler.is_none()
            && self.pauses.since.is_none()
            && !self.changes_rate()
    }

    /// Puts a unit that was accepted into its queue.
    #[inline(always)]
    fn enter<const PLAIN: bool>(&mut self, unit: &Unit) {
        self.note_entered::<PLAIN>(unit);
        self.store.enqueue(unit);
        if !PLAIN && let Some(scheduler) = &mut self.scheduler {
            scheduler.enqueue(unit.cell.vc, unit.load(), unit.at, &self.store);
        }
    }

    /// A unit is in the buffer from now on.
    #[inline(always)]
    fn note_entered<const PLAIN: bool>(&mut self, unit: &Unit) {
        let vc = unit.cell.vc;
        if !PLAIN && self.books.any() {
            self.books.note_entered(unit, self.in_buffer());
        }
        let of_vc = self.occupancy.enter(vc, unit.cell.clp, unit.size);
        let total = self.occupancy.total();
        let fits = total <= self.capacity && (PLAIN || of_vc <= self.vc_capacity);
        assert!(fits, "the policy accepted a unit into a full buffer");
        self.most = self.most.max(total);
    }

    /// A unit that was taken out of its queue and is not sent leaves the buffer at `now`.
    fn leave(&mut self, unit: &Unit, now: Instant) {
        if self.books.any() {
            self.books.note_left(unit, self.in_buffer() + 1, now);
        }
        self.occupancy.leave(unit.cell.vc, unit.cell.clp, unit.size);
    }

    /// Units in the buffer, the one in transmission included.
    fn in_buffer(&self) -> u64 {
        self.store.waiting() + u64::from(self.sends)
    }

    /// Takes the unit that goes next out of its queue, if anything waits at `now`.
    #[inline(always)]
    fn take_next<const PLAIN: bool>(&mut self, now: Instant) -> bool {
        if if PLAIN { self.store.waiting() == 0 } else { self.has_nothing() } {
            if let Some(scheduler) = self.scheduler.as_mut().filter(|_| !PLAIN) {
                scheduler.look_in_vain();
            }
            return false;
        }
        let Some(scheduler) = self.scheduler.as_mut().filter(|_| !PLAIN) else {
            self.store.take_first(&mut self.unit);
            return true;
        };
        let Some(vc) = scheduler.next(now, &self.store) else { return false };
        self.store.take(vc, &mut self.unit);
        true
    }

    /// Whether nothing waits, and no scheduler has to be asked about it.
    #[inline]
    fn has_nothing(&self) -> bool {
        self.store.waiting() == 0 && self.forgets()
    }

    /// Whether no scheduler remembers anything once nothing waits.
    #[inline]
    fn forgets(&self) -> bool {
        self.scheduler.as_ref().is_none_or(Priority::forgets)
    }

    /// Whether the link may begin to transmit.
    #[inline]
    fn is_free<const PLAIN: bool>(&self) -> bool {
        !self.sends && (PLAIN || self.pauses.since.is_none())
    }

    /// Whether it waits for the end of a pause, with something to send and nothing in transmission.
    pub(super) fn waits_for_pause(&self) -> bool {
        self.pauses.since.is_some() && !self.sends && self.store.waiting() > 0
    }

    /// What is in the buffer of what came on link `link` of those that lead to the switch.
    pub(super) fn came_on(&self, link: usize) -> u64 {
        self.books.vcs_of(link).map(|vc| self.occupancy.of_vc(vc)).sum()
    }

    /// The unit that was taken is not sent.
    fn drop_taken(&mut self, now: Instant) {
        let unit = self.unit;
        self.leave(&unit, now);
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.refund(unit.cell.vc, unit.load(), &self.store);
        }
    }

    /// The link, which is free, begins to send so many slots at `start`: one of a cell, or those of the octets of a packet.
    #[inline(always)]
    fn send_slots(&mut self, start: Instant, slot: Slot, count: u64) {
        self.number = self.number.wrapping_add(if start == self.free { 1 } else { APART });
        self.begun += count;
        (self.free, self.sends) = (start.plus_slots(slot, count), true);
    }

    /// The last bit of the unit in transmission is sent at `now`: it leaves the buffer.
    #[inline(always)]
    fn end_sending<const PLAIN: bool>(&mut self, now: Instant) {
        self.sends = false;
        if !PLAIN && self.books.any() {
            self.books.note_left(&self.unit, self.in_buffer() + 1, now);
        }
        self.occupancy.leave(self.unit.cell.vc, self.unit.cell.clp, self.unit.size);
    }

    /// Whether a change of the link's rate is to come.
    pub(super) fn changes_rate(&self) -> bool {
        self.rates.next() != NEVER
    }

    /// How long it takes to transmit what the link has begun to send.
    fn carried(&self) -> Span {
        let unit = match self.line {
            Line::Cells { slot, .. } => slot,
            Line::Packets { octet, .. } => octet,
        };
        self.carried.plus(Span::of_slots(unit, self.begun), 1)
    }

    /// From now on the link has `rate`.
    fn set_rate(&mut self, rate: BitRate) {
        (self.carried, self.begun) = (self.carried(), 0);
        self.line = self.rates.line_at(self.line, rate);
    }

    /// The queue at that side of `vc`, if VCs share queues.
    fn shared(&self, vc: u32, side: Side) -> Option<SharedQueue<'_>> {
        self.scheduler.as_ref()?.shared(vc, side)
    }

    /// Whether `cell` exceeds a limit other than the size of the buffer.
    fn exceeds_limits(&self, cell: &Cell) -> bool {
        self.exceeds_vc(cell) || !self.has_memory(self.occupancy.total(), 0, self.size(cell))
    }

    /// Whether `cell` would exceed the limit of its VC.
    fn exceeds_vc(&self, cell: &Cell) -> bool {
        self.occupancy.of_vc(cell.vc).saturating_add(self.size(cell).into()) > self.vc_capacity
    }

    /// As [`crate::memory::SharedMemory::has_space`], of a memory that the port may have of its own.
    fn has_memory(&self, own: u64, given: u64, size: u32) -> bool {
        self.books.memory().is_none_or(|memory| memory.has_space(own, given, size))
    }

    /// Whether the memory has no space for `cell` whatever other VCs give back here: all of theirs but what is in transmission.
    fn exceeds_memory(&self, cell: &Cell) -> bool {
        let stays =
            self.sending().filter(|unit| unit.cell.vc != cell.vc).map_or(0, |unit| u64::from(unit.size));
        let own = self.occupancy.total();
        let given = own - self.occupancy.of_vc(cell.vc) - stays;
        !self.has_memory(own, given, self.size(cell))
    }

    /// As [`VcOccupancy::check`]; and no unit waits while the link is idle.
    pub(super) fn check(&self, port: fmt::Arguments<'_>, accepted: impl Iterator<Item = u64>) {
        let units = self.store.units().chain(self.sending());
        self.occupancy.check(port, accepted, units);
        let waits = self.store.waiting() > 0 && self.pauses.since.is_none();
        assert!(self.sends || !waits, "{port}: units wait while the link is idle");
        self.store.check(port);
    }
}

impl Service for Stored {
    #[inline]
    fn capacity(&self) -> u64 {
        self.capacity
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
        if self.books.levels().is_some() {
            self.follow_levels(now);
        }
    }

    fn follow_levels(&mut self, now: Instant) {
        self.books.follow_levels(now);
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        let mut levels = self.books.levels().cloned()?;
        levels.hold(self.in_buffer(), now);
        Some(levels)
    }

    #[inline]
    fn is_full(&self, _: Instant, cell: &Cell) -> bool {
        // What is there fits, see `note_entered`. A VC alone has no more than all of them.
        let room = self.capacity - self.occupancy.total();
        if !self.books.decide_on_room() {
            return room == 0;
        }
        u64::from(self.size(cell)) > room || self.exceeds_limits(cell)
    }

    fn is_buffer_full(&self, _: Instant, cell: &Cell) -> bool {
        let (own, size) = (self.occupancy.total(), self.size(cell));
        u64::from(size) > self.capacity - own || !self.has_memory(own, 0, size)
    }

    #[inline]
    fn is_vc_full(&self, cell: &Cell) -> bool {
        self.exceeds_vc(cell) || self.books.memory().is_some() && self.exceeds_memory(cell)
    }

    fn exceeds_vc_limit(&self, cell: &Cell) -> bool {
        self.vc_capacity < self.capacity && self.exceeds_vc(cell)
    }

    fn is_too_large(&self, cell: &Cell) -> bool {
        let (own, size) = (self.occupancy.total(), self.size(cell));
        let sending = self.sending().map_or(0, |unit| u64::from(unit.size));
        let of_vc = self.sending().filter(|unit| unit.cell.vc == cell.vc).map_or(0, |_| sending);
        of_vc + u64::from(size) > self.vc_capacity
            || sending + u64::from(size) > self.capacity
            || !self.has_memory(own, own - sending, size)
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
            let (unit, first) = self.store.remove_last(vc);
            self.leave(&unit, now);
            if let Some(scheduler) = &mut self.scheduler {
                scheduler.withdraw(vc, unit.load(), 0, now, &self.store);
            }
            units.push(unit);
            if first {
                let complete = units.first().is_some_and(|last| last.cell.is_last());
                return (units, complete);
            }
        }
    }

    fn queue_of(&self, vc: u32, side: Side) -> u32 {
        self.shared(vc, side).map_or(vc, |queue| queue.number as u32)
    }

    fn waiting_frames(&self, vc: u32, shared: bool) -> u64 {
        match self.shared(vc, Side::Arrival).filter(|_| shared) {
            Some(queue) => self.store.whole_frames_of(queue.vcs.iter().copied()).count() as u64,
            None => self.store.whole_frames(vc),
        }
    }

    fn first_frames(&self, vc: u32, count: u64) -> Vec<u32> {
        match self.shared(vc, Side::Arrival) {
            Some(queue) => {
                self.store.whole_frames_of(queue.vcs.iter().copied()).take(count as usize).collect()
            }
            None => vec![vc; count as usize],
        }
    }

    fn waiting_load(&self, vc: u32, shared: bool) -> u64 {
        match self.shared(vc, Side::Arrival).filter(|_| shared) {
            Some(queue) => queue.load,
            None => self.store.load_of(vc),
        }
    }

    fn holds_more(&self, load: u64) -> bool {
        self.store.holds_more(load)
    }

    fn empty_looks(&self, vc: u32) -> u64 {
        self.scheduler.as_ref().map_or(0, |scheduler| scheduler.empty_looks(vc))
    }

    fn empty_turns(&self, vc: u32) -> Option<u64> {
        self.scheduler.as_ref()?.empty_turns(vc)
    }

    fn remove_first_frame(&mut self, vc: u32, now: Instant) -> (Vec<Unit>, bool) {
        let (mut units, mut frame) = (Vec::new(), FirstFrame::default());
        while let Some((unit, behind)) = self.store.remove_first(vc, &mut frame) {
            self.leave(&unit, now);
            if let Some(scheduler) = &mut self.scheduler {
                scheduler.withdraw(vc, unit.load(), behind, now, &self.store);
            }
            units.push(unit);
        }
        assert!(!units.is_empty(), "the policy pushes out a frame that waits");
        (units, !frame.goes_on)
    }

    fn units(&self, _: Instant) -> u64 {
        self.in_buffer()
    }

    fn kept(&self) -> u64 {
        self.store.waiting()
    }

    fn kept_of(&self, vc: u32) -> u64 {
        let held = self.occupancy.of_vc(vc);
        if held == 0 || !self.in_octets {
            return held - u64::from(held > 0 && self.sending().is_some_and(|unit| unit.cell.vc == vc));
        }
        self.store.waiting_of(vc)
    }

    fn abr_queue(&self, _: Instant) -> u64 {
        self.books.abr_queue()
    }

    fn busy(&self, now: Instant, _: u64) -> Span {
        let ahead = self.departure().map_or(Span::default(), |departure| departure.since(now));
        self.carried().minus(ahead)
    }

    fn occupancy_integral(&self, now: Instant, sojourns: SpanSum) -> SpanSum {
        let mut sum = sojourns;
        self.sending().into_iter().chain(self.store.units()).for_each(|unit| sum.add(now.since(unit.at)));
        sum
    }

    fn shortest(&self) -> Time {
        self.shortest
    }

    fn free(&self) -> Time {
        self.free.ps()
    }
}
