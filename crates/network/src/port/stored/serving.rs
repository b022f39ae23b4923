//! What happens at a port that stores its queues, in the order of time: arrivals, departures, pauses.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Fate, Needs},
    cell::{Ecn, Kind},
};
use celltrain_engine::{Instant, Time, stream::Train};

use super::Stored;
use crate::{
    flight::Streams,
    port::{Line, core::PortCore, fifo::APART, queues::Unit},
};

impl PortCore<Stored> {
    /// Handles every arrival before `until` and every departure up to it; returns how many units arrived.
    pub(in crate::port) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) -> u64 {
        // Other policies have their departures computed where a port is plain.
        let stored = P::Needs::PUSH_OUT || P::Needs::DEQUEUE;
        let plain = stored && self.service.is_plain() && self.control.is_none() && self.policers.is_empty();
        let units = if stored && plain {
            self.serve_arrivals::<true, P>(policy, until, streams)
        } else {
            self.serve_arrivals::<false, P>(policy, until, streams)
        };
        self.settle(policy, until, streams);
        units
    }

    /// Handles every arrival before `until`, and every departure up to it; returns how many units arrived. `PLAIN`: as [`Stored::is_plain`],
    /// without policers and rate control.
    #[inline(always)]
    fn serve_arrivals<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) -> u64 {
        let (mut units, mut train) = (0, Train::default());
        self.merge.refill(streams);
        let mut several = self.merge.lend();
        while match &mut several {
            Some(several) => several.next::<false, _>(until, streams, &mut train),
            None => self.merge.next(until, streams, &mut train),
        } {
            units += self.arrive_at::<PLAIN, P>(policy, &mut train, streams);
        }
        if let Some(several) = several {
            self.merge.take_back(several);
        }
        units
    }

    /// Handles the units of `train`, and every departure up to each of them; returns how many arrived for the link.
    #[inline(always)]
    pub(in crate::port) fn arrive<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        streams: &mut Streams,
    ) -> u64 {
        self.arrive_at::<false, P>(policy, train, streams)
    }

    /// As [`PortCore::arrive`], at a port that is `PLAIN` or may not be.
    #[inline(always)]
    fn arrive_at<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        streams: &mut Streams,
    ) -> u64 {
        let mut units = u64::from(train.count);
        loop {
            self.advance::<PLAIN, P>(policy, train.first, streams);
            // No scheduler asks at a plain port.
            let low_latency = !PLAIN && train.item.ecn.is_low_latency();
            let mut unit = Unit { cell: train.item, at: train.first, low_latency, ..Unit::default() };
            if PLAIN || self.notify_allocator(unit.at, &mut unit.cell, streams) {
                let behind = self.on_unit::<PLAIN, P>(policy, &mut unit, train, streams);
                if behind > 0 {
                    train.advance(behind);
                }
            } else {
                units -= 1;
                self.relay(train, streams);
            }
            if train.count == 1 {
                return units;
            }
            train.drop_first(train.second());
        }
    }

    /// The other end of the link asks for a pause at `at`, or ends one. What is being transmitted is transmitted to its end.
    pub(in crate::port) fn pause<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        pause: bool,
        streams: &mut Streams,
    ) {
        self.advance_to(policy, at, streams);
        let pauses = &mut self.service.pauses;
        assert_eq!(pauses.since.is_some(), !pause, "a pause begins and ends");
        if let Some(log) = &mut pauses.log {
            log.push((at, pause));
        }
        if pause {
            pauses.since = Some(at);
            pauses.count += 1;
        } else if let Some(since) = pauses.since.take() {
            pauses.time = pauses.time.plus(at.since(since), 1);
            if self.service.is_free::<false>() {
                self.send_next::<false, P>(policy, at, streams);
            }
        }
    }

    /// Every arrival before `until` has been handled: handles the departures up to it.
    pub(in crate::port) fn settle<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) {
        self.advance_to(policy, Instant::start_of(until), streams);
        self.note_abr_queue(Instant::start_of(until));
    }

    /// A unit was accepted.
    #[inline(always)]
    pub(super) fn note_accepted(&mut self, Unit { cell, at, .. }: &Unit) {
        self.entries[cell.vc as usize].accepted[usize::from(cell.clp)] += 1;
        if cell.is_last() {
            self.note_end(*at, cell.vc);
        }
    }

    /// Handles the departures up to `now`, and the ends of the rate allocator's intervals up to the same picosecond: an
    /// interval ends before anything else that happens then, but for departures at its very beginning.
    #[inline(always)]
    fn advance<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        streams: &mut Streams,
    ) {
        while !PLAIN && let Some(end) = self.interval_end(now) {
            self.send_until::<PLAIN, P>(policy, Instant::start_of(end), streams);
            self.end_interval(end);
        }
        self.send_until::<PLAIN, P>(policy, now, streams);
    }

    /// As [`PortCore::advance`], out of the way of arrivals.
    #[inline(never)]
    pub(in crate::port) fn advance_to<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        streams: &mut Streams,
    ) {
        self.advance::<false, P>(policy, now, streams);
    }

    /// Handles the departures up to `now`.
    #[inline(always)]
    fn send_until<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        streams: &mut Streams,
    ) {
        while let Some(departure) = self.service.departure().filter(|&departure| departure <= now) {
            self.follow_rate::<PLAIN, P>(policy, departure);
            self.depart::<PLAIN, P>(policy, departure);
            self.send_next::<PLAIN, P>(policy, departure, streams);
        }
        self.follow_rate::<PLAIN, P>(policy, now);
    }

    /// The last bit of the unit in transmission is sent at `now`.
    #[inline(always)]
    fn depart<const PLAIN: bool, P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        self.service.end_sending::<PLAIN>(now);
        let unit = &self.service.unit;
        let sojourn = now.since(unit.at);
        self.stats.sojourns.add(sojourn);
        if unit.cell.kind != Kind::Data {
            if P::Needs::PER_VC {
                policy.on_frameless(&unit.cell, false, now.ps());
            }
            return;
        }
        if unit.cell.is_last() {
            self.stats.delays.add(sojourn.ps());
        }
        if let Some(departure) = P::Needs::departure(&unit.cell, now.ps()) {
            policy.on_departure(departure);
        }
    }

    /// Gives the link the rate that it has at `now`, before anything else happens then.
    #[inline]
    fn follow_rate<const PLAIN: bool, P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) {
        while !PLAIN && let Some(change) = self.service.rates.step(now.ps()) {
            self.service.set_rate(change.rate);
            // What departs before and after it is on two grids.
            self.service.number = self.service.number.wrapping_add(APART);
            policy.on_rate(change.rate, change.at.ps());
        }
    }

    /// The link is free at `start`: sends what the scheduler chooses and the policy lets pass, if anything waits.
    #[inline(always)]
    fn send_next<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        start: Instant,
        streams: &mut Streams,
    ) {
        if !PLAIN && self.service.pauses.since.is_some() {
            return;
        }
        while self.service.take_next::<PLAIN>(start) {
            if self.passes_taken(policy, start) {
                return self.transmit(start, streams);
            }
        }
    }

    /// Whether the policy lets the unit pass that was taken; if not, it is dropped.
    #[inline(always)]
    pub(super) fn passes_taken<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant) -> bool {
        if !P::Needs::DEQUEUE {
            return true;
        }
        let unit = self.service.unit;
        match self.fate_of_head(policy, now, &unit) {
            Fate::Send => true,
            Fate::Mark => {
                self.service.unit.cell.ecn = Ecn::Marked;
                true
            }
            Fate::Drop => {
                self.service.drop_taken(now);
                false
            }
        }
    }

    /// The link, which is free, begins to send the unit that was taken at `start`.
    #[inline(always)]
    pub(super) fn transmit(&mut self, start: Instant, streams: &mut Streams) {
        let Self { service, entries, delay, .. } = self;
        let (output, vc) = entries[service.unit.cell.vc as usize].next_hop(service.unit.cell.kind);
        let output = &mut streams[output];
        match service.line {
            Line::Cells { slot, .. } => {
                service.send_slots(start, slot, 1);
                let arrival = service.free.delayed(*delay);
                output.push_one(service.number, arrival, slot, Cell { vc, ..service.unit.cell });
            }
            Line::Packets { octet, overhead, .. } => {
                service.send_slots(start, octet, u64::from(service.unit.cell.octets) + overhead);
                let arrival = service.free.delayed(*delay);
                output.push_single(&Train::single(arrival, Cell { vc, ..service.unit.cell }));
            }
        }
    }

    /// A unit arrives, the first of `train`. What is accepted is sent at once if the link is free, and goes into its queue otherwise. Returns how
    /// many units of the train behind it were handled with it.
    // Forced into the loop over arrivals, which two processes have.
    #[inline(always)]
    fn on_unit<const PLAIN: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        unit: &mut Unit,
        train: &Train<Cell>,
        streams: &mut Streams,
    ) -> u32 {
        unit.first = P::Needs::DEQUEUE && self.entries[unit.cell.vc as usize].at_frame_start;
        let accepted = if PLAIN {
            self.admit::<false, P>(policy, unit.at, &mut unit.cell)
        } else {
            self.admit::<true, P>(policy, unit.at, &mut unit.cell)
        };
        if !accepted {
            return 0;
        }
        unit.size = if PLAIN { 1 } else { self.service.size(&unit.cell) };
        if self.service.is_free::<PLAIN>() {
            // What a policy decides at the head of the queue is decided there, unit by unit.
            if !P::Needs::DEQUEUE && self.comes_alone(train) {
                return self.pass_train(policy, unit, train, streams);
            }
            self.accept_alone(policy, unit, streams);
            return 0;
        }
        self.note_accepted(unit);
        self.service.enter::<PLAIN>(unit);
        if !PLAIN {
            self.note_abr_queue(unit.at);
        }
        0
    }
}
