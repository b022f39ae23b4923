//! The visiting of processes: who is taken how far, until all have reached the end.

use std::ops::Range;

use crate::{
    random::Generator,
    stream::{Item, Stream, StreamId, Streams},
    time::{MILLISECOND, NEVER, Time, seconds},
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

    /// Handles every event before `until`, appends to the output streams and moves their horizons on. Returns the number of events
    /// handled.
    fn visit(&mut self, until: Time, streams: &mut Streams<C, P>) -> u64;

    /// Its earliest event at or after its clock but for arrivals, [`NEVER`] if none.
    fn next_event(&self) -> Time;
}

/// In which order processes are visited and how far one visit goes. The result does not depend on it.
#[derive(Debug)]
pub struct Schedule {
    /// Process indices in the order of a round.
    pub order: Vec<usize>,
    /// The longest stretch of simulated time one visit covers, so that streams stay in cache.
    pub cap: Time,
    /// The longest stretch of idle time that one visit covers. It is limited if processes do work that they do not announce as events,
    /// such as at the ends of intervals.
    pub jump: Time,
    /// Draws a new order and a new cap up to `cap` for every round (a test of the engine).
    pub shuffle: Option<Generator>,
}

impl Schedule {
    /// Visits in the order of the indices, 8 ms at a time: some thousand trains a stream at OC-3 rates. Longer where there
    /// are thousands of processes, few of which are busy: every round asks each of them.
    #[must_use]
    pub fn in_order(processes: usize) -> Self {
        let cap = 8 * MILLISECOND * (1 + processes as Time / 1000);
        Self { order: (0..processes).collect(), cap, jump: NEVER, shuffle: None }
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

/// What the visiting knows of a process, so that one for which there is nothing to do need not be looked at.
#[derive(Debug)]
struct Known {
    clock: Time,
    /// The longest stretch of simulated time that one visit to it covers: shorter while very much happens there.
    cap: Time,
    /// Its earliest event but for arrivals, as it said after its last visit.
    next_event: Time,
    /// Where its inputs stand in [`Plan::inputs`], and its outputs in [`Plan::outputs`].
    inputs: Range<usize>,
    outputs: Range<usize>,
}

/// What the visiting knows of all processes.
#[derive(Debug)]
pub(crate) struct Plan {
    processes: Vec<Known>,
    inputs: Vec<StreamId>,
    /// Each with its lookahead.
    outputs: Vec<(StreamId, Time)>,
}

impl Plan {
    /// Asks every process how far its outputs are known: in a loop each would wait for the others otherwise.
    pub(crate) fn new<C, P, N: Process<C, P>>(processes: &mut [N], streams: &mut Streams<C, P>) -> Self {
        let mut plan =
            Self { processes: Vec::with_capacity(processes.len()), inputs: Vec::new(), outputs: Vec::new() };
        for process in processes {
            let clock = process.clock();
            process.visit(clock, streams);
            let (inputs, outputs) = (plan.inputs.len(), plan.outputs.len());
            plan.inputs.extend_from_slice(process.inputs());
            let ahead = |(place, &output): (usize, &StreamId)| (output, process.lookahead(place));
            plan.outputs.extend(process.outputs().iter().enumerate().map(ahead));
            plan.processes.push(Known {
                clock,
                cap: FIRST_CAP / (1 + (plan.inputs.len() - inputs) as Time),
                next_event: process.next_event(),
                inputs: inputs..plan.inputs.len(),
                outputs: outputs..plan.outputs.len(),
            });
        }
        plan
    }

    /// A visit to a process went to `until` and handled `work` events and the process itself.
    fn note_visit(&mut self, index: usize, until: Time, next_event: Time, work: u64) {
        let known = &mut self.processes[index];
        if work > WORK_OF_A_VISIT {
            let shorter = u128::from(until - known.clock) * u128::from(WORK_OF_A_VISIT) / u128::from(work);
            known.cap = (shorter as Time).max(1);
        } else if work < WORK_OF_A_VISIT / 4 {
            known.cap = known.cap.saturating_mul(2);
        }
        (known.clock, known.next_event) = (until, next_event);
    }

    /// How far the inputs of a process are known, and when the next item arrives on one of them.
    fn arrivals<C: Item>(&self, known: &Known, streams: &[Stream<C>]) -> (Time, Time) {
        let inputs = self.inputs[known.inputs.clone()].iter().map(|&input| &streams[input]);
        inputs.fold((NEVER, NEVER), |(horizon, next), input| {
            (horizon.min(input.horizon()), next.min(input.next_arrival().unwrap_or(NEVER)))
        })
    }

    /// Visits each process once, as far as its inputs are known; `None` if the run is to stop.
    #[inline]
    pub(crate) fn round<C: Item, P, N: Process<C, P>, B: Border<C, P>>(
        &mut self,
        processes: &mut [N],
        streams: &mut Streams<C, P>,
        schedule: &mut Schedule,
        bounds: Bounds,
        poll: &mut Poll<impl FnMut() -> bool>,
        border: &mut B,
    ) -> Option<Round> {
        let cap = schedule.next_round();
        let mut round = Round { events: 0, behind: false, advanced: false, floor: NEVER };
        for &index in &schedule.order {
            border.receive(index, streams);
            let known = &self.processes[index];
            let (horizon, arrival) = self.arrivals(known, streams);
            let jump = bounds.idle_until.min(known.clock.saturating_add(schedule.jump));
            let far = known.clock.saturating_add(cap.min(known.cap)).min(border.limit()).max(jump);
            let until = horizon.min(bounds.end).min(far);
            round.behind |= until < bounds.end;
            round.floor = round.floor.min(until.max(known.clock));
            if until <= known.clock {
                continue;
            }
            round.advanced = true;
            let mut next_event = known.next_event;
            let mut work = 1;
            let visits = next_event.min(arrival) < until || until == bounds.end;
            if visits {
                border.begin_work();
                let handled = processes[index].visit(until, streams);
                round.events += handled;
                work += handled;
                next_event = processes[index].next_event();
                for &input in &self.inputs[known.inputs.clone()] {
                    streams[input].reuse_room();
                }
            } else {
                for &(output, lookahead) in &self.outputs[known.outputs.clone()] {
                    streams[output].advance_horizon(until + lookahead);
                }
            }
            border.send(index, visits, streams);
            self.note_visit(index, until, next_event, work);
            if poll.after(work) {
                return None;
            }
        }
        Some(round)
    }

    /// The earliest event that any process knows of, at most `end`.
    pub(crate) fn next_event<C: Item>(&self, streams: &[Stream<C>], end: Time) -> Time {
        let own = self.processes.iter().map(|known| known.next_event);
        let arrivals = streams.iter().filter_map(Stream::next_arrival);
        own.chain(arrivals).fold(end, Time::min)
    }
}

/// How far a round may go: to the end, and at once to where nothing happens before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) end: Time,
    pub(crate) idle_until: Time,
}

/// What came of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// Events handled.
    pub(crate) events: u64,
    /// Whether a process has not reached the end.
    pub(crate) behind: bool,
    /// Whether the clock of any process has moved.
    pub(crate) advanced: bool,
    /// No clock was behind this time when its turn came.
    pub(crate) floor: Time,
}

/// What lies between the processes that are visited here and those of other parts of the network.
pub(crate) trait Border<C, P> {
    /// Takes in what has been sent to a process from elsewhere.
    fn receive(&mut self, process: usize, streams: &mut Streams<C, P>);

    /// Events are going to be handled.
    fn begin_work(&mut self);

    /// Hands over what a process has sent elsewhere; it was visited, or only its outputs are known further.
    fn send(&mut self, process: usize, visited: bool, streams: &mut Streams<C, P>);

    /// How far a visit may go, so that no part runs far ahead of the others.
    fn limit(&self) -> Time;
}

/// There are no other parts.
impl<C, P> Border<C, P> for () {
    #[inline]
    fn receive(&mut self, _: usize, _: &mut Streams<C, P>) {}

    #[inline]
    fn begin_work(&mut self) {}

    #[inline]
    fn send(&mut self, _: usize, _: bool, _: &mut Streams<C, P>) {}

    #[inline]
    fn limit(&self) -> Time {
        NEVER
    }
}

/// What is handled between two looks at whether the run is to stop, in events and processes: milliseconds of work.
pub const WORK_BETWEEN_POLLS: u64 = 1 << 16;

/// The most that a visit is to handle, in events: a tenth of a second's work. No visit is interrupted; one that handles more is
/// followed by shorter ones.
const WORK_OF_A_VISIT: u64 = 1 << 20;

/// How long the first visit to a process with one input is at the most; with more it is the shorter, as all may begin at once.
const FIRST_CAP: Time = 16 * MILLISECOND;

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
    fn after(&mut self, work: u64) -> bool {
        self.work += work;
        self.work >= WORK_BETWEEN_POLLS && self.now()
    }

    pub(crate) fn now(&mut self) -> bool {
        self.work = 0;
        (self.interrupt)()
    }
}

/// Takes every process to `end`: all events before it are handled. `interrupt` is asked after every round and, within a long
/// one, after every [`WORK_BETWEEN_POLLS`] events and processes, though never within a visit; the run stops early, with
/// `false`, when it answers `true`.
///
/// # Panics
/// If no process can advance before the end: a cycle of the network has no lookahead then.
pub fn run<C: Item, P, N: Process<C, P>>(
    processes: &mut [N],
    streams: &mut Streams<C, P>,
    schedule: &mut Schedule,
    end: Time,
    interrupt: impl FnMut() -> bool,
) -> bool {
    let mut plan = Plan::new(processes, streams);
    let mut poll = Poll::new(interrupt);
    // Nothing happens anywhere before this time.
    let mut idle_until = 0;
    loop {
        let bounds = Bounds { end, idle_until };
        let Some(round) = plan.round(processes, streams, schedule, bounds, &mut poll, &mut ()) else {
            return false;
        };
        if !round.behind {
            return true;
        }
        if poll.now() {
            return false;
        }
        if round.events == 0 {
            let next = plan.next_event(streams, end);
            assert_progress(round.advanced || next > idle_until, next);
            idle_until = next;
            skip_idle_time(streams, next);
        }
    }
}

/// The network can go on.
pub(crate) fn assert_progress(progress: bool, at: Time) {
    assert!(
        progress,
        "no process can advance beyond {} s: a cycle of the network has no lookahead",
        seconds(at)
    );
}

/// Nothing happens anywhere before `next`: all horizons jump there instead of creeping by a link delay a round.
pub(crate) fn skip_idle_time<C: Item>(streams: &mut [Stream<C>], next: Time) {
    for stream in streams {
        stream.advance_horizon(next);
    }
}
