//! What a port lets the process do of which it is one of several: see [`crate::switch`].

use celltrain_atm::{Cell, buffer::Policy, with_policy};
use celltrain_engine::{Instant, Time, stream::Train};

use super::{AnyCore, Port, core::PortCore, service::Service, stored::Stored, with_core};
use crate::{flight::Streams, memory::SharedMemory};

impl Port {
    /// Whether it relays RM cells on reverse paths.
    pub(crate) fn relays(&self) -> bool {
        (self.along_link as usize) < self.outputs.len()
    }

    /// Whether it is paused, transmits nothing and has something to send.
    pub(crate) fn waits(&self) -> bool {
        match &self.core {
            AnyCore::Stored(core) => core.service.waits_for_pause(),
            AnyCore::Cells(_) | AnyCore::Packets(_) => false,
        }
    }

    /// What it holds of what came on a link.
    pub(crate) fn came_on(&self, link: usize) -> u64 {
        match &self.core {
            AnyCore::Stored(core) => core.service.came_on(link),
            AnyCore::Cells(_) | AnyCore::Packets(_) => 0,
        }
    }

    /// The policy and the core of a port that stores its queues.
    fn storing(&mut self) -> (&mut Policy, &mut PortCore<Stored>) {
        match &mut self.core {
            AnyCore::Stored(core) => (&mut self.policy, core),
            AnyCore::Cells(_) | AnyCore::Packets(_) => {
                panic!("link {}: a port that shares a memory or is paused stores its queues", self.link)
            }
        }
    }

    /// Looks again at the inputs that had run dry.
    pub(crate) fn refill(&mut self, streams: &Streams) {
        self.storing().1.merge.refill(streams);
    }

    /// Takes what arrives next before `until` into `train`, if anything does.
    pub(crate) fn next_arrival(
        &mut self,
        until: Time,
        streams: &mut Streams,
        train: &mut Train<Cell>,
    ) -> bool {
        self.storing().1.merge.next(until, streams, train)
    }

    /// When the unit in transmission leaves.
    pub(crate) fn departure(&mut self) -> Option<Instant> {
        self.storing().1.service.departure()
    }

    /// Until it is given back, what arrives at the port and leaves it takes of `memory` and gives back to it.
    pub(crate) fn lend(&mut self, memory: &mut Option<Box<SharedMemory>>) {
        self.storing().1.service.books.lend(memory);
    }

    /// See [`Port::lend`].
    pub(crate) fn give_back(&mut self, memory: &mut Option<Box<SharedMemory>>) {
        self.storing().1.service.books.give_back(memory);
    }

    /// What it holds of the memory.
    pub(crate) fn held(&self) -> u64 {
        match &self.core {
            AnyCore::Stored(core) => core.service.occupancy(self.now()),
            AnyCore::Cells(_) | AnyCore::Packets(_) => 0,
        }
    }

    /// What a unit takes of the memory.
    pub(crate) fn size(&self, cell: &Cell) -> u32 {
        match &self.core {
            AnyCore::Stored(core) => core.service.size(cell),
            AnyCore::Cells(_) | AnyCore::Packets(_) => 0,
        }
    }

    /// The link on which `vc` comes, by its number among those that lead to the switch, if it can be paused.
    pub(crate) fn ingress(&self, vc: u32) -> Option<usize> {
        match &self.core {
            AnyCore::Stored(core) => core.service.books.ingress(vc),
            AnyCore::Cells(_) | AnyCore::Packets(_) => None,
        }
    }

    /// Handles every arrival before `until` and every departure up to it, where nothing else happens meanwhile; returns how many
    /// units arrived.
    pub(crate) fn serve_until(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let (policy, core) = self.storing();
        let units = with_policy!(policy, policy => core.serve(policy, until, streams));
        self.note_arrived(units);
        self.check_books(streams);
        units
    }

    /// Handles the departures up to `now`.
    pub(crate) fn handle_departures(&mut self, now: Instant, streams: &mut Streams) {
        let (policy, core) = self.storing();
        with_policy!(policy, policy => core.advance_to(policy, now, streams));
    }

    /// The other end of the link asks for a pause at `at`, or ends one.
    pub(crate) fn handle_pause(&mut self, at: Instant, pause: bool, streams: &mut Streams) {
        let (policy, core) = self.storing();
        with_policy!(policy, policy => core.pause(policy, at, pause, streams));
    }

    /// Handles the first unit of `train`, and takes it out; returns how many arrived for the link.
    pub(crate) fn handle_arrival(&mut self, train: &mut Train<Cell>, streams: &mut Streams) -> u64 {
        let mut unit = Train { slot: train.slot, ..Train::single(train.first, train.item) };
        if train.count > 1 {
            train.advance(1);
        } else {
            train.count = 0;
        }
        let (policy, core) = self.storing();
        let units = with_policy!(policy, policy => core.arrive(policy, &mut unit, streams));
        self.note_arrived(units);
        units
    }

    /// Whether something happens here that is neither arrival, departure nor pause: an interval of the rate allocator ends, or the rate of
    /// the link changes.
    pub(crate) fn is_restless(&self) -> bool {
        match &self.core {
            AnyCore::Stored(core) => core.control.is_some() || core.service.changes_rate(),
            AnyCore::Cells(_) | AnyCore::Packets(_) => false,
        }
    }

    /// When the link is free of what is certain to be sent.
    pub(crate) fn free(&self) -> Time {
        with_core!(&self.core, core => core.service.free())
    }

    /// Everything before `now` has been handled, and nothing happened here since the port's clock.
    pub(crate) fn catch_up(&mut self, now: Time) {
        self.clock = now;
    }

    /// All that happens before `until` has been handled.
    pub(crate) fn end_handling(&mut self, until: Time, streams: &mut Streams) {
        self.clock = until;
        let (policy, core) = self.storing();
        with_policy!(policy, policy => core.settle(policy, until, streams));
    }
}
