//! What the parts of a run share (`crates/engine/src/parts`), under every order of the steps of their threads.
//!
//! The sources are the engine's own; `sync` has the model checker's threads and atomics in place of those of the system. A sleep lasts
//! until the thread is woken here, so that a wake-up that is lost is a deadlock.

#![allow(dead_code, unreachable_pub, reason = "the engine uses the rest")]
#![cfg(test)]

#[path = "../../../crates/engine/src/parts/crossing.rs"]
mod crossing;
#[path = "../../../crates/engine/src/parts/gate.rs"]
mod gate;
#[path = "../../../crates/engine/src/parts/threads.rs"]
mod threads;

mod models;

mod sync {
    use std::time::Duration;

    pub(super) use loom::{
        hint::spin_loop,
        sync::{
            Mutex, MutexGuard,
            atomic::{AtomicBool, AtomicU64, Ordering},
        },
        thread::{Thread, current},
    };

    pub(super) fn park(_: Duration) {
        loom::thread::park();
    }

    pub(super) fn in_one_order() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

mod time {
    pub(crate) type Time = u64;
    pub(crate) const NEVER: Time = Time::MAX;
}

/// Streams of numbers: one end of a stream is a list and a horizon.
mod stream {
    use crate::time::Time;

    pub(crate) trait Item {}

    impl Item for u64 {}

    pub(crate) type Train<C> = C;

    #[derive(Debug, Default)]
    pub(crate) struct Stream<C> {
        pub(crate) trains: Vec<C>,
        pub(crate) horizon: Time,
    }

    impl<C> Stream<C> {
        pub(crate) fn is_empty(&self) -> bool {
            self.trains.is_empty()
        }

        pub(crate) fn horizon(&self) -> Time {
            self.horizon
        }

        pub(crate) fn hand_over(&mut self, trains: &mut Vec<C>) -> usize {
            let count = self.trains.len();
            trains.append(&mut self.trains);
            count
        }

        pub(crate) fn take_over(&mut self, trains: &mut Vec<C>) -> usize {
            let count = trains.len();
            self.trains.append(trains);
            count
        }
    }
}
