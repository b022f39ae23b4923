//! Deadlines of many things in one host, the earliest first.

use celltrain_engine::{Instant, Time, time::NEVER};

/// One deadline each for a fixed number of things (endpoints, sources), which are known by index. Deadlines move to and fro with every
/// event: a retransmission timer with each ACK, that of a sender with a pace between its next segment and a timeout. So this is a tree of minima,
/// in which nothing outdated stays; only what changes is computed anew. Deadlines are ordered by their picoseconds, the first thing first.
#[derive(Debug)]
pub(crate) struct Timers {
    /// The earliest deadline.
    next: Time,
    /// The minimum of all at 1, those of the halves at 2 and 3, and so on; the deadlines in the last half.
    tree: Box<[Time]>,
    /// The deadlines to the last bit.
    instants: Box<[Instant]>,
}

impl Timers {
    /// No deadlines yet, for `count` things.
    pub(crate) fn new(count: usize) -> Self {
        let leaves = if count > 0 { count.next_power_of_two() } else { 0 };
        Self {
            next: NEVER,
            tree: vec![NEVER; 2 * leaves].into(),
            instants: vec![Instant::default(); count].into(),
        }
    }

    /// Sets a deadline; [`NEVER`] takes it away. One in the picosecond of the present one is the same.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, deadline: Instant) {
        let (mut place, mut least) = (self.tree.len() / 2 + index as usize, deadline.ps());
        if self.tree[place] == least {
            return;
        }
        self.instants[index as usize] = deadline;
        self.tree[place] = least;
        while place > 1 {
            least = least.min(self.tree[place ^ 1]);
            place /= 2;
            if self.tree[place] == least {
                return;
            }
            self.tree[place] = least;
        }
        self.next = least;
    }

    /// The earliest deadline.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Whose deadline [`Timers::next`] is, the first of several, and when exactly. The deadline goes.
    #[inline]
    pub(crate) fn pop(&mut self) -> (u32, Instant) {
        let mut place = 1;
        while place < self.tree.len() / 2 {
            place = 2 * place + usize::from(self.tree[2 * place] != self.tree[1]);
        }
        let first = (place - self.tree.len() / 2) as u32;
        let deadline = self.instants[first as usize];
        self.set(first, Instant::at(NEVER));
        (first, deadline)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        /// The least of a list, and the first of several, whatever was set before.
        #[test]
        fn the_earliest_of_any_number_is_found(
            count in 1..20_usize,
            changes in prop::collection::vec((0..20_usize, prop_oneof![4 => 0..9_u64, 1 => Just(NEVER)]), 0..60),
        ) {
            let (mut timers, mut list) = (Timers::new(count), vec![NEVER; count]);
            for (index, deadline) in changes {
                let index = index % count;
                timers.set(index as u32, Instant::at(deadline));
                list[index] = deadline;
                let least = *list.iter().min().expect("there are some");
                prop_assert_eq!(timers.next(), least);
                if deadline == 0 {
                    let first = list.iter().position(|&one| one == least).expect("it is one of them");
                    prop_assert_eq!(timers.pop(), (first as u32, Instant::at(least)));
                    list[first] = NEVER;
                }
            }
        }
    }
}
