//! How the threads of a run wait for each other, and end together.

use std::{sync::OnceLock, time::Duration};

use super::sync::{AtomicBool, AtomicU64, Ordering, Thread, current, in_one_order, park, spin_loop};
use crate::time::Time;

/// How often a thread that waits looks again before it sleeps: some microseconds.
const LOOKS: u32 = 400;

/// The longest sleep. A thread is woken when there is news for it; it looks by itself whether the others have come nearer, or the run
/// is to stop.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// What a thread tells the others, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Told {
    /// How often something has been sent to the part.
    news: AtomicU64,
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
    /// Where the clock furthest behind of the part was in its last round.
    floor: AtomicU64,
}

/// The threads of a run, one a part.
#[derive(Debug)]
pub(super) struct Threads {
    told: Vec<Told>,
    stopped: AtomicBool,
}

impl Threads {
    pub(super) fn new(parts: usize) -> Self {
        Self { told: (0..parts).map(|_| Told::default()).collect(), stopped: AtomicBool::new(false) }
    }

    /// The present thread is that of part `part`.
    pub(super) fn begin(&self, part: usize) {
        self.told[part].thread.get_or_init(current);
    }

    /// How often something has been sent to part `part`.
    #[inline]
    pub(super) fn news(&self, part: usize) -> u64 {
        self.told[part].news.load(Ordering::SeqCst)
    }

    /// There is news for part `part`.
    #[inline]
    pub(super) fn tell(&self, part: usize) {
        let told = &self.told[part];
        told.news.fetch_add(1, Ordering::SeqCst);
        in_one_order();
        if told.asleep.load(Ordering::SeqCst) {
            told.thread.get().into_iter().for_each(Thread::unpark);
        }
    }

    /// There is news for all parts.
    pub(super) fn tell_all(&self) {
        (0..self.told.len()).for_each(|part| self.tell(part));
    }

    /// All threads are to stop.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.tell_all();
    }

    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Looks a few times whether there is more news for part `part` than `seen`; whether there is.
    pub(super) fn spin(&self, part: usize, seen: u64) -> bool {
        (0..LOOKS).any(|_| {
            spin_loop();
            self.news(part) != seen
        })
    }

    /// Sleeps until there is more news for part `part` than `seen`, not for long.
    pub(super) fn sleep(&self, part: usize, seen: u64) {
        let told = &self.told[part];
        told.asleep.store(true, Ordering::SeqCst);
        in_one_order();
        if self.news(part) == seen {
            park(LONGEST_SLEEP);
        }
        told.asleep.store(false, Ordering::SeqCst);
    }

    /// No clock of part `part` is behind `floor`. Nobody is woken: a part that has gone as far ahead as it may looks again within
    /// [`LONGEST_SLEEP`], and only its own progress waits until then. Most hear sooner, of horizons that have moved with the floor.
    #[inline]
    pub(super) fn set_floor(&self, part: usize, floor: Time) {
        self.told[part].floor.store(floor, Ordering::SeqCst);
    }

    /// No clock of any part is behind this time.
    #[inline]
    pub(super) fn floor(&self) -> Time {
        self.told.iter().map(|told| told.floor.load(Ordering::SeqCst)).fold(Time::MAX, Time::min)
    }
}

/// Stops the other threads when one unwinds.
#[derive(Debug)]
pub(super) struct StopOnPanic<'a>(pub(super) &'a Threads);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
