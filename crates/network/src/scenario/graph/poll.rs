//! Looking up from long work, to see whether it is still wanted.

use super::super::error::Problem;

/// How much is done between two questions, in links, nodes and links of routes: milliseconds of work.
pub const WORK_BETWEEN_POLLS: u64 = 1 << 14;

/// Why the building of a network ended early.
#[derive(Debug)]
pub(in crate::scenario) enum Stop {
    /// It cannot be.
    Problem(Problem),
    /// Nobody wants it any more.
    Interrupt,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Asks, as the work goes on, whether it is to stop.
pub(in crate::scenario) struct Poll<'a> {
    interrupt: &'a mut dyn FnMut() -> bool,
    work: u64,
}

impl<'a> Poll<'a> {
    pub(in crate::scenario) fn new(interrupt: &'a mut dyn FnMut() -> bool) -> Self {
        Self { interrupt, work: 0 }
    }

    /// So much more was done.
    pub(super) fn after(&mut self, work: usize) -> Result<(), Stop> {
        self.work += work as u64;
        if self.work < WORK_BETWEEN_POLLS {
            return Ok(());
        }
        self.work = 0;
        if (self.interrupt)() { Err(Stop::Interrupt) } else { Ok(()) }
    }
}
