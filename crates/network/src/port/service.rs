//! How a port serves what it has accepted. There are two services, and one function that decides which a port has.
//!
//! A first-in-first-out queue need not be stored: a unit leaves one unit's time after the later of its arrival and the
//! departure before it, so that its departure is *computed* on arrival, and a train goes on as a train. Where what goes next
//! may depend on what arrives until then, queues are *stored*, and departures are events. Both give the same results
//! wherever both apply.

use celltrain_atm::{
    Cell,
    contract::Category,
    quantity::Capacity,
    scheduler::{DisciplineName, Side},
};
use celltrain_engine::{Instant, Span, SpanSum, Time};

use super::{Location, occupancy::VcOccupancy, queues::Unit};
use crate::{measures::Levels, scenario::Link};

/// The two services of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceKind {
    /// Departures are computed on arrival.
    Computed,
    /// Units are stored in queues.
    Stored,
}

impl ServiceKind {
    /// The service that the port of `link` needs which VCs of these `categories` cross: the queues are stored where a scheduler, a limit
    /// per VC or push-out works on them, where some VCs have priority over others, where ports share the memory of their switch, where
    /// the rate of the link changes, and where more may wait than leaves in all the time that there is (`outlasts`). The interface of a host is
    /// a FIFO of all VCs, without limits.
    pub(crate) fn of(
        link: &Link,
        location: Location,
        mut categories: impl Iterator<Item = Category>,
        outlasts: bool,
    ) -> Self {
        let first = categories.next();
        let in_switch = link.discard.policy.pushes_out()
            || link.scheduler.discipline != DisciplineName::Fifo
            || link.vc_buffer != Capacity::UNLIMITED
            || link.memory.is_some()
            || categories.any(|category| Some(category) != first);
        let stores = link.changes_rate() || outlasts || in_switch && location == Location::Switch;
        if stores { Self::Stored } else { Self::Computed }
    }
}

/// What a port asks of its service. Occupancies are in the unit of the buffer's size.
pub(super) trait Service {
    /// The size of the buffer.
    fn capacity(&self) -> u64;

    /// What is in the buffer at `now`, the unit in transmission included.
    fn occupancy(&self, now: Instant) -> u64;

    /// The largest occupancy since the window began, the arriving unit included.
    fn most(&self) -> u64;

    /// A window of the measures begins at `now`.
    fn begin_window(&mut self, now: Instant);

    /// Follows from `now` on how long the buffer holds how much.
    fn follow_levels(&mut self, now: Instant);

    /// What was followed in the window until `now`, if anything was.
    fn levels(&self, now: Instant) -> Option<Levels>;

    /// Whether `cell` finds no room at `now`, in the buffer or below a limit of its VC.
    fn is_full(&self, now: Instant, cell: &Cell) -> bool;

    /// Whether `cell` finds no room in the buffer at `now`, or in the memory that it is in, whatever the limit of its VC.
    fn is_buffer_full(&self, now: Instant, cell: &Cell) -> bool;

    /// Whether `cell` would exceed a limit of its VC, or is larger than the buffer.
    fn is_vc_full(&self, cell: &Cell) -> bool;

    /// Whether `cell` would exceed a limit of its VC that is below the size of the buffer.
    fn exceeds_vc_limit(&self, cell: &Cell) -> bool;

    /// Whether `cell` would find no room if everything went that waits.
    fn is_too_large(&self, cell: &Cell) -> bool;

    /// Whether units are packets.
    fn is_packet(&self) -> bool;

    /// Occupancies per VC, where the policy needs them.
    fn per_vc(&self) -> &VcOccupancy;

    /// The same, to be changed.
    fn per_vc_mut(&mut self) -> &mut VcOccupancy;

    /// Units of the last frame of `vc`, if all that has arrived of it is still in its queue.
    fn last_frame(&self, vc: u32) -> Option<u64>;

    /// Takes that frame out of the buffer, its last unit first; returns also whether nothing more of it comes: its end mark was among them.
    fn remove_last_frame(&mut self, vc: u32, now: Instant) -> (Vec<Unit>, bool);

    /// The queue of `vc` at that side, which it may share with other VCs.
    fn queue_of(&self, vc: u32, side: Side) -> u32;

    /// Frames of `vc`, complete or not, of which nothing has left the queue; `shared`: of all VCs in its queue.
    fn waiting_frames(&self, vc: u32, shared: bool) -> u64;

    /// Whose the first `count` of those frames are in the queue of `vc`, of all VCs there.
    fn first_frames(&self, vc: u32, count: u64) -> Vec<u32>;

    /// What waits of `vc`, in bytes of packets or in cells; `shared`: of all VCs in its queue.
    fn waiting_load(&self, vc: u32, shared: bool) -> u64;

    /// Whether more than `load` waits.
    fn holds_more(&self, load: u64) -> bool;

    /// How often the link has looked for something to send of the category of `vc` and found nothing, where there are several.
    fn empty_looks(&self, vc: u32) -> u64;

    /// How often the turn of the queue came that `vc` has left, and it was empty, if such a queue has a turn.
    fn empty_turns(&self, vc: u32) -> Option<u64>;

    /// Takes the first of those frames out of the buffer, its first unit first; returns also whether nothing more of it comes.
    fn remove_first_frame(&mut self, vc: u32, now: Instant) -> (Vec<Unit>, bool);

    /// Units accepted and not yet sent at `now`.
    fn units(&self, now: Instant) -> u64;

    /// Units accepted that are not yet in an output stream.
    fn kept(&self) -> u64;

    /// Of those, units of `vc`.
    fn kept_of(&self, vc: u32) -> u64;

    /// ABR cells in the buffer at `now`.
    fn abr_queue(&self, now: Instant) -> u64;

    /// The time for which the link has been busy until `now`, if it has carried `units` units.
    fn busy(&self, now: Instant, units: u64) -> Span;

    /// The time integral of the number of units in the buffer until `now`, given the sum of the sojourns that are counted.
    fn occupancy_integral(&self, now: Instant, sojourns: SpanSum) -> SpanSum;

    /// The time that a unit takes at the least.
    fn shortest(&self) -> Time;

    /// When the link is free of all that is certain to be sent.
    fn free(&self) -> Time;
}
