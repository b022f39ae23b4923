//! The limit of a VC's rate that lies in its sources: they make their next frame when it may go.

use std::collections::VecDeque;

use celltrain_engine::{Instant, Slot, Time};

/// Keeps the frames of a VC at the peak rate, and the order in which the endpoints that share the VC wait for their turn.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Time of a cell at the peak rate.
    slot: Slot,
    /// When the next frame may begin: the cells of the last one have had their time.
    free: Instant,
    /// Endpoints that wait for that.
    waiting: VecDeque<u32>,
}

impl Pace {
    pub(crate) fn new(slot: Slot) -> Self {
        // Sources begin in the middle of a picosecond, the first one, too.
        Self { slot, free: Instant::at(0), waiting: VecDeque::new() }
    }

    /// When the next frame may begin.
    pub(crate) fn free(&self) -> Instant {
        self.free
    }

    /// A frame of so many cells begins. Back-to-back frames do not gather rounding errors.
    pub(crate) fn begin(&mut self, now: Instant, cells: u16) {
        let begun = if self.free.ps() == now.ps() { self.free } else { now };
        self.free = begun.plus_slots(self.slot, u64::from(cells));
    }

    /// An endpoint wants to send before its time: it waits, once, for its turn. Returns when the next one is.
    pub(crate) fn wait(&mut self, endpoint: u32) -> Instant {
        if !self.waiting.contains(&endpoint) {
            self.waiting.push_back(endpoint);
        }
        self.free
    }

    /// Whether an endpoint waits.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The endpoint whose turn it is, if the time has come.
    pub(crate) fn turn(&mut self, now: Time) -> Option<u32> {
        if self.free.ps() > now { None } else { self.waiting.pop_front() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first frame begins when it is sent, at whatever instant.
    #[test]
    fn frames_from_the_start_on_are_as_far_apart_as_later_ones() {
        let slot = Slot::of_ps(1000);
        for start in [0, 1, 1_000_000] {
            let (mut pace, now) = (Pace::new(slot), Instant::at(start));
            pace.begin(now, 3);
            assert_eq!(pace.free(), now.plus_slots(slot, 3), "from {start} ps on");
        }
    }
}
