//! Looks at whether a run is to stop.

/// What is handled between two looks at whether the run is to stop, in events and processes: milliseconds of work.
pub const WORK_BETWEEN_POLLS: u64 = 1 << 16;

/// Asks whether the run is to stop, after every round and whenever a round has taken long.
pub(crate) struct Poll<I> {
    interrupt: I,
    work: u64,
}

impl<I: FnMut() -> bool> Poll<I> {
    pub(crate) fn new(interrupt: I) -> Self {
        Self { interrupt, work: 0 }
    }

    /// Whether the run is to stop, asked only when enough was done since the last time.
    #[inline]
    pub(super) fn after(&mut self, work: u64) -> bool {
        self.work += work;
        self.work >= WORK_BETWEEN_POLLS && self.now()
    }

    pub(crate) fn now(&mut self) -> bool {
        self.work = 0;
        (self.interrupt)()
    }
}
