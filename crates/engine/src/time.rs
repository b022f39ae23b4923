//! Simulated time: `u64` picoseconds since the start of the run.

/// A point in simulated time, or a length of it, in picoseconds. `u64` reaches 213 days.
pub type Time = u64;

/// Picoseconds in a nanosecond.
pub const NANOSECOND: Time = 1_000;
/// Picoseconds in a microsecond.
pub const MICROSECOND: Time = 1_000_000;
/// Picoseconds in a millisecond.
pub const MILLISECOND: Time = 1_000_000_000;
/// Picoseconds in a second.
pub const SECOND: Time = 1_000_000_000_000;

/// "Never": later than any event.
pub const NEVER: Time = Time::MAX;

/// After the end of any run, and so early that the sum with a time of a run is a time: when what has its turn even later has it.
pub const AFTER_ALL: Time = NEVER / 2;

/// `time` in seconds, for output only: models compute in integers.
#[must_use]
pub fn seconds(time: Time) -> f64 {
    time as f64 / SECOND as f64
}
