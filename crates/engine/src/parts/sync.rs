//! What the threads of a run are made of. The model checker has the same names, over threads of its own (`tests/loom`).

use std::time::Duration;

pub(super) use std::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{Thread, current},
};

/// Sleeps until the thread is woken, or for so long.
pub(super) fn park(longest: Duration) {
    std::thread::park_timeout(longest);
}

/// Between two accesses to different atomics that are in one order for all threads (`SeqCst`): nothing, for they are. The model checker
/// knows of such an order only what fences say.
#[inline(always)]
pub(super) fn in_one_order() {}
