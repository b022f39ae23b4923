//! In which order processes are visited, and how far.

use crate::{
    random::Generator,
    time::{MILLISECOND, NEVER, Time},
};

/// How many times as long the cap of rounds may become after one round, and its largest multiple of the first.
pub(super) const MOST_GROWTH: u64 = 16;

/// In which order processes are visited and how far one visit goes. The result does not depend on it.
#[derive(Debug)]
pub struct Schedule {
    /// Process indices in the order of a round.
    pub order: Vec<usize>,
    /// The longest stretch of simulated time one visit covers, so that streams stay in cache.
    pub cap: Time,
    /// To what the cap grows while rounds find little to do.
    pub longest: Time,
    /// The longest stretch of idle time that one visit covers. It is limited if processes do work that they do not announce as events,
    /// such as at the ends of intervals.
    pub jump: Time,
    /// Draws a new order and a new cap up to `cap` for every round (a test of the engine).
    pub shuffle: Option<Generator>,
}

impl Schedule {
    /// Visits in the order of the indices, 8 ms at a time: some thousand trains a stream at OC-3 rates. Longer where there
    /// are thousands of processes, few of which are busy: every round asks each of them.
    #[must_use]
    pub fn in_order(processes: usize) -> Self {
        let cap = 8 * MILLISECOND * (1 + processes as Time / 1000);
        let longest = cap * MOST_GROWTH;
        Self { order: (0..processes).collect(), cap, longest, jump: NEVER, shuffle: None }
    }

    /// The cap of the next round, after rounds that had `cap`; a drawn `order`, if there is a generator.
    pub(super) fn next_round(&mut self, order: &mut [usize], cap: Time) -> Time {
        let Some(generator) = &mut self.shuffle else { return cap };
        for last in (1..order.len()).rev() {
            order.swap(last, generator.below(last as u64 + 1) as usize);
        }
        // Caps of all magnitudes, down to a single picosecond more than the next event.
        let magnitude = generator.below(64 - u64::from(self.cap.leading_zeros()) + 1);
        self.cap.min(1 << magnitude)
    }

    /// How many windows follow a round at the most, if that is drawn.
    pub(super) fn windows(&mut self) -> Option<u64> {
        self.shuffle.as_mut().map(|generator| (1 << generator.below(10)) - 1)
    }
}
