//! What happens to a unit, a cell or a packet, that arrives at a port.
//!
//! It is policed. If it belongs to no frame it passes where there is room; otherwise the policy is asked. What the policy
//! accepts is counted and goes to the service; what it discards is counted for a named reason. Nothing else asks a policy, and
//! the frame boundary of a VC moves nowhere else. A policy that drops at the head of the queue is called here too.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Fate, FirstFrames, Head, Needs, PortState, Reason, Verdict, Victim, View},
    cell::{Ecn, Kind},
    policing::Action,
    scheduler::Side,
};
use celltrain_engine::{Instant, stream::Train};

use super::{core::PortCore, queues::Unit, service::Service};

/// The buffer as a policy sees it when a unit arrives.
struct Arrival<'a, S> {
    service: &'a S,
    at: Instant,
    cell: &'a Cell,
}

impl<S: Service> PortState for Arrival<'_, S> {
    #[inline(always)]
    fn capacity(&self) -> u64 {
        self.service.capacity()
    }

    #[inline(always)]
    fn occupancy(&self) -> u64 {
        self.service.occupancy(self.at)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.service.is_full(self.at, self.cell)
    }

    #[inline(always)]
    fn is_vc_full(&self) -> bool {
        self.service.is_vc_full(self.cell)
    }

    #[inline(always)]
    fn is_packet(&self) -> bool {
        self.service.is_packet()
    }

    #[inline]
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.service.per_vc().of_vc(vc)
    }

    #[inline]
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.service.per_vc().of_clp(clp)
    }

    #[inline]
    fn active_vcs(&self) -> u64 {
        self.service.per_vc().active()
    }

    #[inline]
    fn busy_vcs(&self) -> Option<&[u32]> {
        self.service.per_vc().busy()
    }

    #[inline]
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.service.last_frame(vc)
    }

    fn is_buffer_full(&self) -> bool {
        self.service.is_buffer_full(self.at, self.cell)
    }

    fn exceeds_vc_limit(&self) -> bool {
        self.service.exceeds_vc_limit(self.cell)
    }

    fn is_too_large(&self) -> bool {
        self.service.is_too_large(self.cell)
    }

    fn queue_of(&self, vc: u32, side: Side) -> u32 {
        self.service.queue_of(vc, side)
    }

    fn waiting_frames(&self, vc: u32, shared: bool) -> u64 {
        self.service.waiting_frames(vc, shared)
    }

    fn waiting_load(&self, vc: u32, shared: bool) -> u64 {
        self.service.waiting_load(vc, shared)
    }

    fn holds_more(&self, load: u64) -> bool {
        self.service.holds_more(load)
    }

    fn empty_looks(&self, vc: u32) -> u64 {
        self.service.empty_looks(vc)
    }

    fn empty_turns(&self, vc: u32) -> Option<u64> {
        self.service.empty_turns(vc)
    }
}

impl<S: Service> PortCore<S> {
    /// Whether a unit that arrives at `at` is accepted; its priority and its mark are then those with which it goes on. `POLICED`:
    /// whether some VC here has a policer.
    // Forced into the loops over arrivals, where its arguments stay in registers.
    #[inline(always)]
    pub(super) fn admit<const POLICED: bool, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        cell: &mut Cell,
    ) -> bool {
        if POLICED && !self.policers.is_empty() && !self.police(at, cell) {
            return false;
        }
        if cell.kind != Kind::Data {
            return self.admit_frameless(policy, at, cell);
        }
        let entry = &mut self.entries[cell.vc as usize];
        let first = entry.at_frame_start;
        entry.at_frame_start = cell.is_last();
        loop {
            let arrival = Arrival { service: &self.service, at, cell };
            match policy.on_arrival(cell, &View::new(&arrival, first), at.ps()) {
                Verdict::Accept => return true,
                Verdict::Mark => {
                    self.stats.marked += u64::from(first);
                    cell.ecn = Ecn::Marked;
                    return true;
                }
                Verdict::Discard(reason) => {
                    self.discard(at, cell, reason);
                    return false;
                }
                Verdict::PushOut(victim) => self.push_out(policy, at, P::Needs::victim(victim)),
            }
        }
    }

    /// Whether all cells of a train, which find room, are accepted without asking the policy about them: a whole frame that it lets
    /// pass.
    #[inline(always)]
    pub(super) fn passes<P: BufferPolicy>(&self, policy: &P, train: &Train<Cell>) -> bool {
        let cell = &train.item;
        cell.position == 0
            && u32::from(cell.length) == train.count
            && self.entries[cell.vc as usize].at_frame_start
            && policy.passes(cell, || self.service.occupancy(train.first))
    }

    /// A cell that belongs to no frame: policies of frames have nothing to say about it.
    #[inline(never)]
    fn admit_frameless<P: BufferPolicy>(&mut self, policy: &mut P, at: Instant, cell: &Cell) -> bool {
        let full = self.service.is_full(at, cell);
        if full {
            self.discard(at, cell, Reason::BufferFull);
        } else if P::Needs::PER_VC {
            policy.on_frameless(cell, true, at.ps());
        }
        !full
    }

    /// Whether the policer of the cell's VC, if it has one, lets it pass; it may tag it.
    #[inline(never)]
    fn police(&mut self, at: Instant, cell: &mut Cell) -> bool {
        let Some(Some(policer)) = self.policers.get_mut(cell.vc as usize) else { return true };
        match policer.conform(cell, at) {
            Action::Pass => true,
            Action::Tag => {
                cell.clp = true;
                true
            }
            Action::Discard => {
                self.discard(at, cell, Reason::NonConforming);
                false
            }
        }
    }

    /// Pushes frames out of the buffer.
    #[cold]
    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, victim: Victim) {
        match victim {
            Victim::Last(vc) => {
                let frame = self.service.remove_last_frame(vc, now);
                self.note_pushed_out(policy, now, vc, frame);
            }
            Victim::First(FirstFrames { vc, count, shared }) => {
                let vcs =
                    if shared { self.service.first_frames(vc, count) } else { vec![vc; count as usize] };
                for vc in vcs {
                    let frame = self.service.remove_first_frame(vc, now);
                    self.note_pushed_out(policy, now, vc, frame);
                }
            }
        }
    }

    /// The units of a frame of `vc` were taken out of the buffer, and are all of it or not.
    fn note_pushed_out<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        vc: u32,
        (units, complete): (Vec<Unit>, bool),
    ) {
        for unit in &units {
            self.stats.sojourns.add(now.since(unit.at));
            self.entries[vc as usize].withdrawn += 1;
            // It was accepted and is discarded now: it counts as both.
            self.discard(now, &unit.cell, Reason::PushedOut);
        }
        if let Some(removed) = P::Needs::removed(vc, units.len() as u64, complete) {
            policy.on_push_out(removed);
        }
    }

    /// Asks the policy what becomes at `now` of a unit that has just left its queue. The policy decides on data only; RM cells are always
    /// sent.
    #[inline(always)]
    pub(super) fn fate_of_head<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        unit: &Unit,
    ) -> Fate {
        let Unit { cell, at, first, .. } = unit;
        if cell.kind != Kind::Data {
            return Fate::Send;
        }
        let sojourn = now.since(*at);
        let head = Head { cell: *cell, sojourn: sojourn.ps(), now: now.ps() };
        let Some(head) = P::Needs::head(head) else { return Fate::Send };
        let port = Arrival { service: &self.service, at: now, cell };
        let fate = policy.on_head(head, &View::new(&port, *first));
        match fate {
            Fate::Send => {}
            Fate::Mark => self.stats.marked += u64::from(*first),
            Fate::Drop => {
                self.stats.sojourns.add(sojourn);
                self.entries[cell.vc as usize].withdrawn += 1;
                self.discard(now, cell, Reason::DroppedAtHead);
            }
        }
        fate
    }

    /// Counts a unit that does not go on, or not any longer.
    #[cold]
    fn discard(&mut self, at: Instant, cell: &Cell, reason: Reason) {
        self.entries[cell.vc as usize].discarded[usize::from(cell.clp)] += 1;
        self.stats.discard(reason);
        let place = u64::from(cell.position) << 32 | u64::from(cell.vc);
        self.fingerprint.mix(at.ps().wrapping_add(place << 8 | reason as u64));
        if let Some(log) = &mut self.log {
            log.add(at.ps(), cell, 1, reason.column(), reason.withdraws());
        }
    }

    /// As [`BufferPolicy::illegal`].
    pub(super) fn illegal<P: BufferPolicy>(&self, policy: &P, now: Instant) -> Option<u64> {
        let arrival = Arrival { service: &self.service, at: now, cell: &Cell::default() };
        policy.illegal(&View::new(&arrival, false))
    }
}
