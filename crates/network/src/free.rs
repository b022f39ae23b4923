//! Freeing what an interrupted run leaves.

/// Frees `value` in a thread of its own, where there are threads: a large network takes seconds, and nobody waits for that.
pub(crate) fn free<T: Send + 'static>(value: T) {
    let spawned = std::thread::Builder::new().spawn(move || drop(value));
    // Without a thread it was freed at once.
    drop(spawned);
}
