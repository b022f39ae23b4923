//! What a host sends to a network interface, in the order in which it leaves.

use celltrain_atm::Cell;
use celltrain_engine::{
    Instant,
    stream::{Stream, Train},
};

use super::packets::Next;
use crate::scenario::Framing;

/// A network interface.
pub(super) struct Interface<'a> {
    pub(super) stream: &'a mut Stream<Cell>,
    /// When the last of what was sent left.
    pub(super) sent: &'a mut Instant,
}

impl Interface<'_> {
    /// When what is sent at `at` leaves: not before what was sent earlier. The events of one picosecond have an order of their own in a
    /// host, and what they send leaves in that order.
    #[inline(always)]
    pub(super) fn leave(&mut self, at: Instant) -> Instant {
        *self.sent = at.max(*self.sent);
        *self.sent
    }

    /// Sends cells of an ABR VC, which follow one another at its rate: no more than the first can be early.
    pub(super) fn take_row(&mut self, mut row: Train<Cell>) {
        if row.first < *self.sent {
            self.stream.push(0, 0, &Train::single(*self.sent, row.item));
            if row.count == 1 {
                return;
            }
            row.advance(1);
        }
        *self.sent = row.last();
        self.stream.push(0, 0, &row);
    }
}

impl Next for Interface<'_> {
    #[inline(always)]
    fn take(&mut self, at: Instant, framing: Framing, item: Cell, count: u32) {
        let at = self.leave(at);
        match framing {
            Framing::Cells => self.stream.push_apart(0, &Train { count, ..Train::single(at, item) }),
            Framing::Packets => self.stream.push_single(&Train::single(at, item)),
        }
    }
}
