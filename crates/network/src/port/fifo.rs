//! Queues whose departures are computed: the recurrence that cells and packets share.

use std::fmt;

use celltrain_atm::Cell;
pub(super) use celltrain_engine::stream::APART;
use celltrain_engine::{Instant, Slot, Span, SpanSum, Time};

use crate::measures::Levels;

/// A first-in-first-out queue: a unit departs its own time after the later of its arrival and the departure before it.
pub(super) trait Fifo {
    /// Whether units are packets; otherwise cells.
    const PACKETS: bool;

    /// The size of the buffer.
    fn capacity(&self) -> u64;

    /// What `cell` takes of the buffer.
    fn size(&self, cell: &Cell) -> u32;

    /// The clock goes on to `now`. Occupancies are asked of the time of the last call or, of cells, of any.
    fn advance(&mut self, now: Instant);

    /// What is in the buffer at `now`.
    fn occupancy(&self, now: Instant) -> u64;

    /// Units in the buffer at `now`.
    fn units(&self, now: Instant) -> u64;

    /// Whether `cell` finds no room at `now`.
    fn is_full(&self, now: Instant, cell: &Cell) -> bool;

    /// Queues `cell`, which arrives at `at`.
    fn accept(&mut self, at: Instant, cell: &Cell);

    /// The usual distance of departures; zero where units are of all sizes.
    fn slot(&self) -> Slot;

    /// When the last bit of the last unit is sent.
    fn last_departure(&self) -> Instant;

    /// Number of the last departure: departures back to back have neighbouring numbers, others are far apart.
    fn last_number(&self) -> u64;

    /// The time that all units accepted so far, `units` of them, take on the link.
    fn carried(&self, units: u64) -> Span;

    /// The time that the units in the buffer still spend in it after `now`, summed over them.
    fn time_ahead(&self, now: Instant) -> SpanSum;

    /// The largest occupancy since the window began, where it does not follow from the longest sojourn.
    fn most(&self) -> Option<u64> {
        None
    }

    /// A window of the measures begins at `now`.
    fn begin_window(&mut self, _: Instant) {}

    /// Follows from `now` on how long the buffer holds how much.
    fn follow_levels(&mut self, now: Instant);

    /// What was followed until `now`, if anything was.
    fn levels(&self, now: Instant) -> Option<Levels>;

    /// Lends it for a visit to what counts sojourns, where it follows from those.
    fn lend_levels(&mut self) -> Option<Box<Levels>> {
        None
    }

    /// Takes it back.
    fn give_back_levels(&mut self, _: Option<Box<Levels>>) {}

    /// The time that a unit takes at the least.
    fn shortest(&self) -> Time;

    /// Checks what it counts as it goes on against what is there.
    ///
    /// # Panics
    /// If one is not the other.
    fn check(&self, port: fmt::Arguments<'_>) {
        let _ = port;
    }
}
