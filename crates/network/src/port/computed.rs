//! The service whose departures are computed on arrival: a FIFO of cells or of packets, and what happens to a unit there. Which units
//! come when is told in loops of their own ([`super::cell_loop`], [`super::packet_loop`]).
//!
//! Observers are what has to look at every unit: policers, rate control, and a policy that needs per-VC occupancy.

use std::{collections::VecDeque, fmt};

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
    cell::Kind,
    scheduler::Side,
};
use celltrain_engine::{Instant, Span, SpanSum, Time, stream::Train, weave::Burst};

use super::{
    core::PortCore, fifo::Fifo, occupancy::VcOccupancy, queues::Unit, service::Service, tally::Tally,
};
use crate::{flight::Streams, measures::Levels};

/// What has to look at units: nothing; the rate allocator; or policers too, or a policy that needs per-VC occupancy, which look at
/// every unit by itself.
pub(super) const NOTHING: u8 = 0;
pub(super) const RATES: u8 = 1;
pub(super) const UNITS: u8 = 2;

/// A FIFO, and what is known of the units in it.
#[derive(Debug)]
pub(super) struct Computed<F> {
    pub(super) fifo: F,
    /// The longest sojourn since the window began, counted on arrival: of cells it says when the buffer was fullest. Of packets, most of
    /// which are counted apart, it is only the bound below which [`Tally`] looks no further; their FIFO keeps the largest occupancy.
    pub(super) longest: Span,
    /// What leaves up to this time is certain to leave while the network runs on: its delays are counted when it is accepted.
    pub(super) runs_until: Time,
    /// In a box, as most ports of a large network have nothing there.
    aside: Option<Box<Aside>>,
    /// Where the policy needs per-VC occupancy.
    per_vc: Option<Box<PerVc>>,
}

/// What a port seldom needs.
#[derive(Debug, Default)]
struct Aside {
    /// Departures, rounded up to whole picoseconds, and sojourn times of the last cells of frames that leave after
    /// [`Computed::runs_until`].
    delays: VecDeque<(Time, Time)>,
    /// Room for trains that are interleaved.
    bursts: Vec<Burst<Cell>>,
}

/// Per-VC occupancy, and the units in the buffer in the order of their departures.
#[derive(Debug, Clone)]
struct PerVc {
    occupancy: VcOccupancy,
    units: VecDeque<(Instant, Unit)>,
}

impl<F: Fifo> Computed<F> {
    /// An empty FIFO; `vcs` is how many VCs cross the port if its policy needs per-VC occupancy.
    pub(super) fn new(fifo: F, vcs: Option<usize>) -> Self {
        let new = |vcs| Box::new(PerVc { occupancy: VcOccupancy::new(vcs), units: VecDeque::new() });
        let longest = Span::default();
        Self { fifo, longest, runs_until: 0, aside: None, per_vc: vcs.map(new) }
    }

    /// Whether it keeps per-VC occupancy.
    pub(super) fn keeps_per_vc(&self) -> bool {
        self.per_vc.is_some()
    }

    /// The last unit, which was accepted, is to be reported when it leaves.
    pub(super) fn keep_until_departure(&mut self, unit: Unit) {
        let departure = self.fifo.last_departure();
        if let Some(per_vc) = &mut self.per_vc {
            per_vc.units.push_back((departure, unit));
        }
    }

    /// The delay of a frame is to be counted when it has left.
    #[inline(never)]
    pub(super) fn keep_delay(&mut self, departure: Time, sojourn: Time) {
        self.aside.get_or_insert_default().delays.push_back((departure, sojourn));
    }

    /// Lends room for trains that are interleaved.
    pub(super) fn lend_bursts(&mut self) -> Vec<Burst<Cell>> {
        self.aside.as_mut().map_or_else(Vec::new, |aside| std::mem::take(&mut aside.bursts))
    }

    /// Takes it back.
    pub(super) fn give_back_bursts(&mut self, bursts: Vec<Burst<Cell>>) {
        if bursts.capacity() > 0 {
            self.aside.get_or_insert_default().bursts = bursts;
        }
    }

    /// As [`VcOccupancy::check`].
    pub(super) fn check(&self, port: fmt::Arguments<'_>, accepted: impl Iterator<Item = u64>) {
        self.fifo.check(port);
        if let Some(PerVc { occupancy, units }) = self.per_vc.as_deref() {
            occupancy.check(port, accepted, units.iter().map(|(_, unit)| unit));
        }
    }
}

impl<F: Fifo> Service for Computed<F> {
    #[inline(always)]
    fn capacity(&self) -> u64 {
        self.fifo.capacity()
    }

    #[inline(always)]
    fn occupancy(&self, now: Instant) -> u64 {
        self.fifo.occupancy(now)
    }

    fn most(&self) -> u64 {
        // Of cells the fullest moment is the one with the longest sojourn.
        self.fifo.most().unwrap_or_else(|| self.longest.slots(self.fifo.slot()))
    }

    fn begin_window(&mut self, now: Instant) {
        self.fifo.begin_window(now);
        let last = self.fifo.last_departure();
        self.longest = if last > now { last.since(now) } else { Span::default() };
        if self.fifo.levels(now).is_some() {
            self.fifo.follow_levels(now);
        }
    }

    fn follow_levels(&mut self, now: Instant) {
        self.fifo.follow_levels(now);
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        self.fifo.levels(now)
    }

    #[inline(always)]
    fn is_full(&self, now: Instant, cell: &Cell) -> bool {
        self.fifo.is_full(now, cell)
    }

    fn is_vc_full(&self, _: &Cell) -> bool {
        false
    }

    fn exceeds_vc_limit(&self, _: &Cell) -> bool {
        false
    }

    #[inline(always)]
    fn is_packet(&self) -> bool {
        F::PACKETS
    }

    #[inline]
    fn per_vc(&self) -> &VcOccupancy {
        &self.per_vc.as_ref().expect("a port whose policy needs per-VC occupancy keeps it").occupancy
    }

    #[inline]
    fn per_vc_mut(&mut self) -> &mut VcOccupancy {
        &mut self.per_vc.as_mut().expect("a port whose policy needs per-VC occupancy keeps it").occupancy
    }

    fn last_frame(&self, _: u32) -> Option<u64> {
        None
    }

    fn remove_last_frame(&mut self, vc: u32, _: Instant) -> (Vec<Unit>, bool) {
        panic!("no frame of VC {vc} can be pushed out: a port whose policy pushes out stores its queues")
    }

    fn is_too_large(&self, _: &Cell) -> bool {
        false
    }

    fn is_buffer_full(&self, now: Instant, cell: &Cell) -> bool {
        self.is_full(now, cell)
    }

    fn queue_of(&self, vc: u32, _: Side) -> u32 {
        vc
    }

    fn first_frames(&self, _: u32, _: u64) -> Vec<u32> {
        Vec::new()
    }

    fn waiting_frames(&self, _: u32, _: bool) -> u64 {
        0
    }

    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        panic!("what waits of VC {vc} is not known: a port whose policy pushes out stores its queues")
    }

    fn holds_more(&self, _: u64) -> bool {
        panic!(
            "what waits is not known: a port whose policy decides at the head of the queue stores its queues"
        )
    }

    fn empty_looks(&self, _: u32) -> u64 {
        0
    }

    fn empty_turns(&self, _: u32) -> Option<u64> {
        None
    }

    fn remove_first_frame(&mut self, vc: u32, now: Instant) -> (Vec<Unit>, bool) {
        self.remove_last_frame(vc, now)
    }

    fn units(&self, now: Instant) -> u64 {
        self.fifo.units(now)
    }

    fn kept(&self) -> u64 {
        0
    }

    fn kept_of(&self, _: u32) -> u64 {
        0
    }

    /// Where VCs of other categories cross a port too, it stores its queues.
    #[inline]
    fn abr_queue(&self, now: Instant) -> u64 {
        self.fifo.occupancy(now)
    }

    fn busy(&self, now: Instant, units: u64) -> Span {
        let last = self.fifo.last_departure();
        let ahead = if last > now { last.since(now) } else { Span::default() };
        self.fifo.carried(units).minus(ahead)
    }

    fn occupancy_integral(&self, now: Instant, sojourns: SpanSum) -> SpanSum {
        sojourns.minus(self.fifo.time_ahead(now))
    }

    fn shortest(&self) -> Time {
        self.fifo.shortest()
    }

    fn free(&self) -> Time {
        self.fifo.last_departure().ps()
    }
}

impl<F: Fifo> PortCore<Computed<F>> {
    /// Whether nothing happens before `until` that anybody has to be told of; then that has been handled.
    #[inline(always)]
    pub(super) fn rests_until(&mut self, until: Time, streams: &Streams) -> bool {
        let observed = self.service.per_vc.is_some() || self.control.is_some();
        let rests = !observed && self.merge.is_dry(streams);
        if rests {
            self.service.fifo.advance(Instant::start_of(until));
        }
        rests
    }

    /// Time goes on to `now`: intervals of the rate allocator end, and the policy learns of departures.
    #[inline(always)]
    pub(super) fn advance<const OBSERVED: u8, P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        while let Some(end) = self.interval_end(now) {
            self.end_interval(end);
        }
        self.service.fifo.advance(now);
        if OBSERVED == UNITS && self.service.per_vc.is_some() {
            self.report_departures(policy, now);
        }
    }

    /// The policy learns of the departures up to `now`.
    fn report_departures<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        let Some(per_vc) = &mut self.service.per_vc else { return };
        while let Some(&(departure, Unit { cell, size, .. })) =
            per_vc.units.front().filter(|(departure, _)| *departure <= now)
        {
            per_vc.units.pop_front();
            per_vc.occupancy.leave(cell.vc, cell.clp, size);
            if cell.kind != Kind::Data {
                policy.on_frameless(&cell, false, departure.ps());
            } else if let Some(departure) = P::Needs::departure(&cell, departure.ps()) {
                policy.on_departure(departure);
            }
        }
    }

    /// A unit arrives, as a train of its own. If `OBSERVED`, time has gone on to its arrival.
    #[inline(always)]
    pub(super) fn on_unit<const OBSERVED: u8, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        if OBSERVED == NOTHING {
            self.service.fifo.advance(cell.first);
        }
        let accepted = match OBSERVED {
            UNITS => self.admit::<true, P>(policy, cell.first, &mut cell.item),
            _ => self.admit::<false, P>(policy, cell.first, &mut cell.item),
        };
        if accepted {
            if OBSERVED == UNITS && self.service.per_vc.is_some() {
                self.accept_observed(cell, tally, streams);
            } else {
                self.accept(cell, tally, streams);
            }
        }
    }

    /// As [`PortCore::accept`]; keeps the unit in the per-VC occupancy until it leaves.
    pub(super) fn accept_observed(
        &mut self,
        unit: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) {
        let (cell, at) = (unit.item, unit.first);
        self.accept(unit, tally, streams);
        let size = self.service.fifo.size(&cell);
        self.service.per_vc_mut().enter(cell.vc, cell.clp, size);
        self.service.keep_until_departure(Unit { cell, at, size, ..Unit::default() });
    }

    /// Queues an accepted unit and sends it on; `unit` becomes what arrives at the other end.
    #[inline(always)]
    pub(super) fn accept(&mut self, unit: &mut Train<Cell>, tally: &mut Tally, streams: &mut Streams) {
        let fifo = &mut self.service.fifo;
        fifo.accept(unit.first, &unit.item);
        let (departure, number, slot) = (fifo.last_departure(), fifo.last_number(), fifo.slot());
        let sojourn = departure.since(unit.first);
        tally.add(sojourn, sojourn, 1);
        let vc = unit.item.vc;
        let entry = &mut self.entries[vc as usize];
        entry.accepted[usize::from(unit.item.clp)] += 1;
        (unit.first, unit.slot) = (departure.delayed(self.delay), slot);
        if !unit.item.is_last() {
            unit.item.vc = entry.next_vc;
            return streams[entry.output].push_unit(number, unit);
        }
        let (output, next_vc) =
            if F::PACKETS { (entry.output, entry.next_vc) } else { entry.next_hop(unit.item.kind) };
        unit.item.vc = next_vc;
        if unit.item.position == 0 {
            streams[output].push_apart(number, unit);
        } else {
            streams[output].push_unit(number, unit);
        }
        self.end_frame(departure, sojourn, vc, unit.item.kind);
    }

    /// The last cell of a frame, or one that belongs to none, was accepted, to leave at `departure`.
    #[inline(always)]
    pub(super) fn end_frame(&mut self, departure: Instant, sojourn: Span, vc: u32, kind: Kind) {
        self.note_end(departure.before(sojourn), vc);
        if kind != Kind::Data {
            return;
        }
        if !self.keep_delay(departure, sojourn) {
            self.stats.delays.add(sojourn.ps());
        }
    }

    /// Keeps the delay of the last cell of a frame, which leaves at `departure`, if the network may not run on until then; whether it did.
    #[inline(always)]
    pub(super) fn keep_delay(&mut self, departure: Instant, sojourn: Span) -> bool {
        let later = departure.ceil() > self.service.runs_until;
        if later {
            self.service.keep_delay(departure.ceil(), sojourn.ps());
        }
        later
    }

    /// The network is about to run on until `end`: counts the delays of the frames that leave until then.
    pub(super) fn run_on(&mut self, end: Time) {
        self.service.runs_until = end;
        let Some(aside) = &mut self.service.aside else { return };
        while let Some(&(_, sojourn)) = aside.delays.front().filter(|(departure, _)| *departure <= end) {
            self.stats.delays.add(sojourn);
            aside.delays.pop_front();
        }
    }

    /// Adds up what was counted during a visit until `now`.
    pub(super) fn settle<P: BufferPolicy>(&mut self, policy: &mut P, mut tally: Tally, now: Instant) {
        tally.count_straight(&mut self.stats.delays);
        let service = &mut self.service;
        if !F::PACKETS {
            // Once a visit is enough: the fullest moment is the one with the longest sojourn.
            let mut most = 0;
            if tally.longest != service.longest {
                most = tally.longest.slots(service.fifo.slot());
                assert!(most <= service.fifo.capacity(), "the policy accepted a cell into a full buffer");
            }
            if let Some(control) = &mut self.control {
                control.note_queue(service.fifo.occupancy(now), most);
            }
        }
        service.longest = tally.longest;
        service.fifo.give_back_levels(tally.levels.map(|(levels, _)| levels));
        self.stats.sojourns.add(tally.short);
        self.stats.sojourns.add_sum(tally.long);
        self.advance::<UNITS, P>(policy, now);
    }
}
