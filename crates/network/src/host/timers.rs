//! Deadlines of many things in one host, the earliest first.

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_engine::{Time, time::NEVER};

/// One deadline each for a fixed number of things (endpoints, sources), which are known by index.
///
/// TCP moves its retransmission timer on with every ACK. Moving a deadline later costs nothing here: the heap keeps the
/// old, earlier entry, and looks at the deadline again when that entry comes up.
#[derive(Debug)]
pub(crate) struct Timers {
    timers: Box<[Timer]>,
    /// (time, index): for each thing with a deadline there is an entry at or before it.
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest entry.
    next: Time,
}

#[derive(Debug, Clone, Copy)]
struct Timer {
    deadline: Time,
    /// Its earliest entry in the heap.
    entered: Time,
}

impl Timers {
    /// No deadlines yet, for `count` things.
    pub(crate) fn new(count: usize) -> Self {
        let timers = vec![Timer { deadline: NEVER, entered: NEVER }; count].into();
        Self { timers, heap: BinaryHeap::new(), next: NEVER }
    }

    /// Sets a deadline; [`NEVER`] takes it away.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, deadline: Time) {
        let timer = &mut self.timers[index as usize];
        timer.deadline = deadline;
        if deadline < timer.entered {
            self.enter(index, deadline);
        }
    }

    #[inline(never)]
    fn enter(&mut self, index: u32, deadline: Time) {
        self.timers[index as usize].entered = deadline;
        if self.heap.is_empty() {
            // At first a timer has one entry, and there may be very many hosts.
            self.heap.reserve_exact(self.timers.len());
        }
        self.heap.push(Reverse((deadline, index)));
        self.next = self.next.min(deadline);
    }

    /// The earliest deadline, or a time before it.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Looks at what [`Timers::next`] points to; returns its index if its deadline has come.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let Reverse((time, index)) = self.heap.pop()?;
        self.next = self.heap.peek().map_or(NEVER, |entry| entry.0.0);
        let timer = &mut self.timers[index as usize];
        // A stale entry: an earlier one replaced it. Entering its deadline again would never let it go.
        if time != timer.entered {
            return None;
        }
        timer.entered = NEVER;
        let deadline = std::mem::replace(&mut timer.deadline, NEVER);
        if deadline == time {
            return Some(index);
        }
        self.set(index, deadline);
        None
    }
}

/// One deadline each for a fixed number of things, which move to and fro with every event (ABR sources, whose next cell is
/// now a slot away, now a tenth of a second): a tree of minima, in which nothing outdated stays.
#[derive(Debug)]
pub(crate) struct Earliest {
    /// The earliest deadline.
    next: Time,
    /// The minimum of all at 1, those of the halves at 2 and 3, and so on; the deadlines in the last half.
    tree: Box<[Time]>,
}

impl Earliest {
    /// No deadlines yet, for `count` things.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = if count > 0 { count.next_power_of_two() } else { 0 };
        Self { next: NEVER, tree: vec![NEVER; 2 * leaves].into() }
    }

    /// Sets a deadline; [`NEVER`] takes it away.
    pub(crate) fn set(&mut self, index: u32, deadline: Time) {
        let mut place = self.tree.len() / 2 + index as usize;
        self.tree[place] = deadline;
        while place > 1 {
            place /= 2;
            self.tree[place] = self.tree[2 * place].min(self.tree[2 * place + 1]);
        }
        self.next = self.tree[1];
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Whose deadline [`Earliest::next`] is; the first of several.
    pub(crate) fn first(&self) -> u32 {
        let mut place = 1;
        while place < self.tree.len() / 2 {
            place = 2 * place + usize::from(self.tree[2 * place] != self.tree[1]);
        }
        (place - self.tree.len() / 2) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_of_any_number_is_found() {
        for count in 1..10 {
            let mut earliest = Earliest::new(count);
            assert_eq!(earliest.next(), NEVER);
            for index in 0..count as u32 {
                earliest.set(index, 100 - u64::from(index / 2));
                assert_eq!((earliest.next(), earliest.first()), (100 - u64::from(index / 2), index / 2 * 2));
            }
            for index in (0..count as u32).rev() {
                earliest.set(index, 200 + u64::from(index));
            }
            assert_eq!((earliest.next(), earliest.first()), (200, 0));
        }
    }

    fn drain(timers: &mut Timers, until: Time) -> Vec<(Time, u32)> {
        let mut fired = Vec::new();
        while timers.next() < until {
            let time = timers.next();
            fired.extend(timers.pop().map(|index| (time, index)));
        }
        fired
    }

    #[test]
    fn outdated_entries_go_when_their_time_comes() {
        let mut timers = Timers::new(1);
        timers.set(0, 10);
        for _ in 0..20_000 {
            let now = timers.next();
            if timers.pop().is_some() {
                // A timeout, and a pace or a delayed ACK long before it, which makes the timeout's entry outdated.
                timers.set(0, now + 1000);
                timers.set(0, now + 10);
            }
        }
        assert!(timers.heap.len() <= 102, "{} entries", timers.heap.len());
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
