//! What passes between two parts: the trains of one stream, and the contents of items.

use std::sync::PoisonError;

use super::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::{
    stream::{Item, Stream, Train},
    time::Time,
};

/// Locks what no panic leaves half done.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A list that one thread adds to and another empties, seldom at the same time.
#[derive(Debug)]
pub(super) struct Handover<T> {
    waiting: Mutex<Vec<T>>,
    /// Whether anything waits: most looks end here.
    full: AtomicBool,
}

impl<T> Default for Handover<T> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), full: AtomicBool::new(false) }
    }
}

impl<T> Handover<T> {
    /// Adds to what waits.
    pub(super) fn give<R>(&self, add: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let mut waiting = locked(&self.waiting);
        let result = add(&mut waiting);
        self.full.store(true, Ordering::Release);
        result
    }

    /// Whether anything waits.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// Lets `empty` take all that waits.
    pub(super) fn take<R>(&self, empty: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let mut waiting = locked(&self.waiting);
        self.full.store(false, Ordering::Release);
        empty(&mut waiting)
    }
}

/// A stream whose sender is in one part and whose receiver is in another.
///
/// Either part has an end of it, a stream of its own. The sender hands over what its end holds and then tells how far it is known; the
/// receiver reads how far it is known and then takes over what waits. So nothing is missing before the horizon that it has read.
#[derive(Debug)]
pub(super) struct Crossing<C> {
    trains: Handover<Train<C>>,
    horizon: AtomicU64,
}

impl<C> Default for Crossing<C> {
    fn default() -> Self {
        Self { trains: Handover::default(), horizon: AtomicU64::new(0) }
    }
}

impl<C: Item> Crossing<C> {
    /// Hands over what the sender's end holds, and its horizon if it is beyond `told`. Returns the number of trains.
    #[inline]
    pub(super) fn send(&self, sender: &mut Stream<C>, told: Time) -> u64 {
        let count = if sender.is_empty() { 0 } else { self.trains.give(|trains| sender.hand_over(trains)) };
        if sender.horizon() > told {
            self.horizon.store(sender.horizon(), Ordering::Release);
        }
        count as u64
    }

    /// Whether trains wait for the receiver.
    #[inline]
    pub(super) fn has_trains(&self) -> bool {
        self.trains.is_full()
    }

    /// How far the stream is known: read before [`Crossing::take_trains`].
    #[inline]
    pub(super) fn horizon(&self) -> Time {
        self.horizon.load(Ordering::Acquire)
    }

    /// Moves the trains that wait to the receiver's end; returns their number.
    pub(super) fn take_trains(&self, receiver: &mut Stream<C>) -> u64 {
        self.trains.take(|trains| receiver.take_over(trains)) as u64
    }
}
