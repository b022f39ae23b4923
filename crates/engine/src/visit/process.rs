//! Processes: what is visited.

use crate::{
    stream::{StreamId, Streams},
    time::Time,
};

/// A part of the model that owns its state and meets others only through streams.
pub trait Process<C, P> {
    /// The streams it takes from.
    fn inputs(&self) -> &[StreamId];

    /// The streams it sends to.
    fn outputs(&self) -> &[StreamId];

    /// The time that passes at the least between an arrival or an event of its own and the arrival of what it sends then on
    /// its output number `place`.
    fn lookahead(&self, place: usize) -> Time;

    /// The time up to which it has handled everything.
    fn clock(&self) -> Time;

    /// Handles every event before `until` and appends to the output streams. Returns the number of events handled.
    fn visit(&mut self, until: Time, streams: &mut Streams<C, P>) -> u64;

    /// Moves the horizons of its outputs on, as everything before its clock has been handled. Apart from a visit, as windows
    /// need no horizons, and there may be thousands of outputs.
    fn promise(&self, streams: &mut Streams<C, P>);

    /// Its earliest event at or after its clock but for arrivals, [`NEVER`] if none.
    fn next_event(&self) -> Time;
}
