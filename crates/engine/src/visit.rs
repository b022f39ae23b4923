//! The visiting of processes: who is taken how far, until all have reached the end.

use crate::{
    random::Generator,
    stream::{StreamId, Streams},
    time::{NEVER, Time},
};

/// A part of the model that owns its state and meets others only through streams.
pub trait Process<C, S> {
    /// The streams it takes from.
    fn inputs(&self) -> &[StreamId];

    /// The time up to which it has handled everything.
    fn clock(&self) -> Time;

    /// Handles every event before `until`, appends to the output streams and moves their horizons on. `shared` is what
    /// travels beside the streams (the contents of frames). Returns the number of events handled.
    fn visit(&mut self, until: Time, streams: &mut Streams<C>, shared: &mut S) -> u64;

    /// The earliest event it knows of at or after its clock, [`NEVER`] if none; arrivals still in streams count.
    fn next_event(&self, streams: &Streams<C>) -> Time;
}

/// In which order processes are visited and how far one visit goes. The result does not depend on it.
#[derive(Debug)]
pub struct Schedule {
    /// Process indices in the order of a round.
    pub order: Vec<usize>,
    /// The longest stretch of simulated time one visit covers, so that streams stay in cache.
    pub cap: Time,
    /// Draws a new order and a new cap up to `cap` for every round (a test of the engine).
    pub shuffle: Option<Generator>,
}

impl Schedule {
    /// Visits in the order of the indices, 4 ms at a time: some thousand trains a stream at OC-3 rates.
    #[must_use]
    pub fn in_order(processes: usize) -> Self {
        Self { order: (0..processes).collect(), cap: 4 * crate::time::MILLISECOND, shuffle: None }
    }

    fn next_round(&mut self) -> Time {
        let Some(generator) = &mut self.shuffle else { return self.cap };
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, generator.below(last as u64 + 1) as usize);
        }
        // Caps of all magnitudes, down to a single picosecond more than the next event.
        let magnitude = generator.below(64 - u64::from(self.cap.leading_zeros()) + 1);
        self.cap.min(1 << magnitude)
    }
}

/// Takes every process to `end`: all events before it are handled. `interrupt` is asked once a round; the run stops
/// early, with `false`, when it answers `true`.
pub fn run<C, S, P: Process<C, S>>(
    processes: &mut [P],
    streams: &mut Streams<C>,
    shared: &mut S,
    schedule: &mut Schedule,
    end: Time,
    mut interrupt: impl FnMut() -> bool,
) -> bool
where
    C: crate::stream::Car,
{
    // Every process first says how far its outputs are known: in a loop each would wait for the others otherwise.
    for process in processes.iter_mut() {
        process.visit(process.clock(), streams, shared);
    }
    // Nothing happens anywhere before this time.
    let mut idle_until = 0;
    loop {
        let cap = schedule.next_round();
        let (mut events, mut behind) = (0, false);
        for &index in &schedule.order {
            let process = &mut processes[index];
            let clock = process.clock();
            let horizon =
                process.inputs().iter().map(|&input| streams[input].horizon()).min().unwrap_or(NEVER);
            let until = horizon.min(end).min(clock.saturating_add(cap).max(idle_until));
            if until > clock {
                events += process.visit(until, streams, shared);
            }
            behind |= until < end;
        }
        if !behind {
            return true;
        }
        if interrupt() {
            return false;
        }
        if events == 0 {
            idle_until = skip_idle_time(processes, streams, end);
        }
    }
}

/// Nothing happened in a whole round. Nothing can then happen anywhere before the earliest event that any process knows
/// of, so all horizons jump there instead of creeping by a link delay a round.
fn skip_idle_time<C: crate::stream::Car, S, P: Process<C, S>>(
    processes: &[P],
    streams: &mut Streams<C>,
    end: Time,
) -> Time {
    let next = processes.iter().map(|process| process.next_event(streams)).min().unwrap_or(NEVER).min(end);
    for stream in streams.iter_mut() {
        stream.advance_horizon(next);
    }
    next
}
