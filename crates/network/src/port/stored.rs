//! The service that stores its queues: for schedulers other than FIFO, priorities, limits of VCs, and policies that push out.
//!
//! What goes next may depend on what arrives until then, so departures are events here. Those up to an arrival come before it,
//! those at the same instant too.

mod books;
mod idle;
mod serving;

use celltrain_atm::{Cell, scheduler::Priority};
use celltrain_engine::{
    Instant, Time,
    time::{NEVER, Span, SpanSum},
};

pub(super) use self::books::Books;
use super::{
    Line,
    fifo::APART,
    occupancy::VcOccupancy,
    queues::{Store, Unit},
    service::Service,
};
use crate::{channel::RateSchedule, measures::Levels};

/// Queues, one for each VC, and the scheduler that serves them.
#[derive(Debug)]
pub(super) struct Stored {
    line: Line,
    /// The size of the buffer, at any rate of `line`.
    capacity: u64,
    /// The most that a VC may take of the buffer; the whole of it at the most.
    vc_capacity: u64,
    scheduler: Priority,
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
    /// How long it takes to transmit what the link has begun to send.
    carried: Span,
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
        Self {
            line,
            capacity,
            // Of a packet for which its own VC's packets leave no room in the whole buffer, others are not pushed out in vain.
            vc_capacity: vc_capacity.min(capacity),
            scheduler,
            store: Store::new(vcs, pushes_out),
            occupancy: VcOccupancy::new(vcs),
            books: Books::new(abr, ingress),
            pauses: Pausing::default(),
            most: 0,
            unit: Unit::default(),
            sends: false,
            free: Instant::default(),
            number: 0,
            carried: Span::default(),
            shortest: line.at(rates.fastest()).shortest(),
            rates,
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
    #[inline]
    pub(super) fn departure(&self) -> Option<Instant> {
        self.sends.then_some(self.free)
    }

    /// The unit in transmission.
    fn sending(&self) -> Option<&Unit> {
        self.sends.then_some(&self.unit)
    }

    #[inline]
    fn size(&self, cell: &Cell) -> u32 {
        match self.line {
            Line::Cells { .. } => 1,
            Line::Packets { limit, .. } => limit.of_packet(cell.octets),
        }
    }

    /// Puts a unit that was accepted into the queue of its VC.
    fn enter(&mut self, unit: &Unit) {
        self.note_entered(unit);
        self.store.enqueue(unit);
        self.scheduler.enqueue(unit.cell.vc, unit.load(), unit.at, &self.store);
    }

    /// A unit is in the buffer from now on.
    #[inline(always)]
    fn note_entered(&mut self, unit: &Unit) {
        let vc = unit.cell.vc;
        if self.books.any() {
            self.books.note_entered(unit, self.in_buffer());
        }
        let of_vc = self.occupancy.enter(vc, unit.cell.clp, unit.size);
        let fits = self.occupancy.total() <= self.capacity && of_vc <= self.vc_capacity;
        assert!(fits, "the policy accepted a unit into a full buffer");
        self.most = self.most.max(self.occupancy.total());
    }

    /// A unit that was taken out of its queue, or is sent, leaves the buffer at `now`.
    #[inline(always)]
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

    /// The VC whose first unit goes next, if anything waits at `now`; it has to be taken out of its queue then.
    fn next_vc(&mut self, now: Instant) -> Option<u32> {
        self.scheduler.next(now, &self.store)
    }

    /// Whether the scheduler need not be asked, as nothing waits.
    #[inline]
    fn has_nothing(&self) -> bool {
        self.store.waiting() == 0 && self.scheduler.forgets()
    }

    /// Whether the link may begin to transmit.
    #[inline]
    fn is_free(&self) -> bool {
        !self.sends && self.pauses.since.is_none()
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
        self.scheduler.refund(unit.cell.vc, unit.load());
    }

    /// Begins to send the unit that was taken, at `start`.
    #[inline(always)]
    fn send(&mut self, start: Instant) {
        let (departure, in_step) = match self.line {
            Line::Cells { slot, .. } => (start.plus(slot), start == self.free),
            Line::Packets { octet, overhead, .. } => {
                (start.plus_slots(octet, u64::from(self.unit.cell.octets) + overhead), false)
            }
        };
        self.number = self.number.wrapping_add(if in_step { 1 } else { APART });
        self.carried = self.carried.plus(departure.since(start), 1);
        (self.free, self.sends) = (departure, true);
    }

    /// Whether more limits what is in the buffer than its size.
    #[inline]
    fn is_limited(&self) -> bool {
        self.vc_capacity < self.capacity || self.books.memory().is_some()
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
    pub(super) fn check(&self, port: &str, accepted: impl Iterator<Item = u64>) {
        let units = self.store.units().chain(self.sending());
        self.occupancy.check(port, accepted, units);
        let waits = self.store.waiting() > 0 && self.pauses.since.is_none();
        assert!(self.sends || !waits, "{port}: units wait while the link is idle");
        assert_eq!(self.store.units().count() as u64, self.store.waiting(), "{port}: units in queues");
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
        u64::from(self.size(cell)) > room || self.is_limited() && self.exceeds_limits(cell)
    }

    #[inline]
    fn is_vc_full(&self, cell: &Cell) -> bool {
        self.exceeds_vc(cell) || self.books.memory().is_some() && self.exceeds_memory(cell)
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
        self.books.abr_queue()
    }

    fn busy(&self, now: Instant, _: u64) -> Span {
        let ahead = self.departure().map_or(Span::default(), |departure| departure.since(now));
        self.carried.minus(ahead)
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
