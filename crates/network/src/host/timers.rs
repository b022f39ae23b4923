//! Deadlines of many things in one host, the earliest first.

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_engine::{Time, time::NEVER};

/// One deadline each for a fixed number of things (endpoints, sources), which are known by index.
///
/// TCP moves its retransmission timer on with every ACK. Moving a deadline later costs nothing here: the heap keeps the
/// old, earlier entry, and looks at the deadline again when that entry comes up.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    deadlines: Vec<Time>,
    /// (time, index): for each thing with a deadline there is an entry at or before it.
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest entry of each thing in the heap.
    entered: Vec<Time>,
}

impl Timers {
    /// No deadlines yet, for `count` things.
    pub(crate) fn new(count: usize) -> Self {
        Self { deadlines: vec![NEVER; count], heap: BinaryHeap::new(), entered: vec![NEVER; count] }
    }

    /// Sets a deadline; [`NEVER`] takes it away.
    pub(crate) fn set(&mut self, index: u32, deadline: Time) {
        let place = index as usize;
        self.deadlines[place] = deadline;
        if deadline < self.entered[place] {
            self.entered[place] = deadline;
            self.heap.push(Reverse((deadline, index)));
        }
    }

    /// The earliest deadline, or a time before it.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(NEVER, |entry| entry.0.0)
    }

    /// Looks at what [`Timers::next`] points to; returns its index if its deadline has come.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let Reverse((time, index)) = self.heap.pop()?;
        let place = index as usize;
        if time > self.entered[place] {
            return None;
        }
        self.entered[place] = NEVER;
        let deadline = std::mem::replace(&mut self.deadlines[place], NEVER);
        if deadline == time {
            return Some(index);
        }
        self.set(index, deadline);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(timers: &mut Timers, until: Time) -> Vec<(Time, u32)> {
        let mut fired = Vec::new();
        while timers.next() < until {
            let time = timers.next();
            fired.extend(timers.pop().map(|index| (time, index)));
        }
        fired
    }

    #[test]
    fn deadlines_fire_once_at_the_last_time_set() {
        let mut timers = Timers::new(3);
        timers.set(0, 10);
        timers.set(1, 5);
        timers.set(0, 20);
        timers.set(1, 3);
        timers.set(2, 7);
        timers.set(2, NEVER);
        assert_eq!(drain(&mut timers, 15), [(3, 1)]);
        timers.set(1, 16);
        assert_eq!(drain(&mut timers, 100), [(16, 1), (20, 0)]);
        assert_eq!(timers.next(), NEVER);
    }
}
