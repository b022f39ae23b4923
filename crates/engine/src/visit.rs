//! The visiting of processes: who is taken how far, until all have reached the end.

mod agenda;
mod calendar;

use std::ops::Range;

use self::agenda::{Choice, Limits};
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

    /// Handles every event before `until` and appends to the output streams. Returns the number of events handled.
    fn visit(&mut self, until: Time, streams: &mut Streams<C, P>) -> u64;

    /// Moves the horizons of its outputs on, as everything before its clock has been handled. Apart from a visit, as windows
    /// need no horizons, and there may be thousands of outputs.
    fn promise(&self, streams: &mut Streams<C, P>);

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
    /// To what the cap grows while rounds find little to do.
    pub longest: Time,
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
        let longest = cap * MOST_GROWTH;
        Self { order: (0..processes).collect(), cap, longest, jump: NEVER, shuffle: None }
    }

    /// The cap of the next round, after rounds that had `cap`; a drawn `order`, if there is a generator.
    fn next_round(&mut self, order: &mut [usize], cap: Time) -> Time {
        let Some(generator) = &mut self.shuffle else { return cap };
        for last in (1..order.len()).rev() {
            order.swap(last, generator.below(last as u64 + 1) as usize);
        }
        // Caps of all magnitudes, down to a single picosecond more than the next event.
        let magnitude = generator.below(64 - u64::from(self.cap.leading_zeros()) + 1);
        self.cap.min(1 << magnitude)
    }

    /// How many windows follow a round at the most, if that is drawn.
    fn windows(&mut self) -> Option<u64> {
        self.shuffle.as_mut().map(|generator| (1 << generator.below(10)) - 1)
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
    /// An input that was not known further than the clock when the process was last asked: it has to be, for the process to go on.
    waits_for: Option<u32>,
    /// Where its inputs stand in [`Plan::inputs`], and its outputs in [`Plan::outputs`].
    inputs: Places,
    outputs: Places,
}

/// Places one after the other: half as long as a range, as there are very many.
#[derive(Debug, Clone, Copy)]
struct Places {
    from: u32,
    to: u32,
}

impl Places {
    /// # Panics
    /// If there are more than 2^32 places.
    fn new(range: Range<usize>) -> Self {
        let place = |place: usize| u32::try_from(place).expect("a network has fewer streams than 2^32");
        Self { from: place(range.start), to: place(range.end) }
    }

    #[inline]
    fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

impl Known {
    /// A visit went to `until` and handled `work` events and the process itself.
    #[inline]
    fn note_visit(&mut self, until: Time, next_event: Time, work: u64) {
        let covered = until - self.clock;
        if work > WORK_OF_A_VISIT {
            let shorter = u128::from(covered) * u128::from(WORK_OF_A_VISIT) / u128::from(work);
            self.cap = (shorter as Time).max(1);
        } else if covered >= self.cap && work < WORK_OF_A_VISIT / 4 {
            let longer = (WORK_OF_A_VISIT / 4 / work).clamp(2, MOST_GROWTH_OF_A_VISIT);
            self.cap = self.cap.saturating_mul(longer);
        }
        (self.clock, self.next_event) = (until, next_event);
    }

    /// Whether an input that it had to wait for is still known no further.
    #[inline]
    fn waits<C: Item>(&self, streams: &[Stream<C>]) -> bool {
        self.waits_for.is_some_and(|input| streams[input as usize].horizon() <= self.clock)
    }
}

/// What the visiting knows of all processes.
#[derive(Debug)]
pub(crate) struct Plan {
    processes: Vec<Known>,
    inputs: Vec<StreamId>,
    /// Each with its lookahead.
    outputs: Vec<(StreamId, Time)>,
    /// The processes that are looked at, in the order of the last round. Those that have reached the end may be missing.
    order: Vec<usize>,
    /// How many have not reached the end.
    behind: usize,
    /// The longest stretch of simulated time that one visit covers in the next round.
    cap: Time,
}

impl Plan {
    /// The way to `end`. Asks every process how far its outputs are known: in a loop each would wait for the others otherwise.
    pub(crate) fn new<C: Item, P, N: Process<C, P>>(
        processes: &[N],
        streams: &mut Streams<C, P>,
        schedule: &Schedule,
        end: Time,
    ) -> Self {
        let mut plan = Self {
            processes: Vec::with_capacity(processes.len()),
            // As many as there can be: a stream comes from one process and leads to one.
            inputs: Vec::with_capacity(streams.len()),
            outputs: Vec::with_capacity(streams.len()),
            order: schedule.order.clone(),
            behind: 0,
            cap: schedule.cap,
        };
        for process in processes {
            let clock = process.clock();
            let (inputs, outputs) = (plan.inputs.len(), plan.outputs.len());
            plan.inputs.extend_from_slice(process.inputs());
            for (place, &output) in process.outputs().iter().enumerate() {
                let lookahead = process.lookahead(place);
                streams[output].advance_horizon(clock + lookahead);
                plan.outputs.push((output, lookahead));
            }
            plan.behind += usize::from(clock < end);
            plan.processes.push(Known {
                clock,
                cap: FIRST_CAP,
                next_event: process.next_event(),
                waits_for: None,
                inputs: Places::new(inputs..plan.inputs.len()),
                outputs: Places::new(outputs..plan.outputs.len()),
            });
        }
        plan
    }

    /// A process whose inputs are known no further than its clock waits for the first of these. If the border stopped it, it waits for none.
    #[cold]
    fn note_wait<C: Item>(&mut self, index: usize, streams: &[Stream<C>]) {
        let known = &self.processes[index];
        let unknown = |&&input: &&StreamId| streams[input].horizon() <= known.clock;
        let found = self.inputs[known.inputs.range()].iter().find(unknown);
        self.processes[index].waits_for = found.map(|&input| input as u32);
    }

    /// How far the inputs of a process are known, when the next item arrives on one of them, and how many trains wait there.
    fn arrivals<C: Item>(&self, known: &Known, streams: &[Stream<C>]) -> (Time, Time, usize) {
        let of = |&input: &StreamId| {
            let input: &Stream<C> = &streams[input];
            (input.horizon(), input.next_arrival().unwrap_or(NEVER), input.trains().len())
        };
        match &self.inputs[known.inputs.range()] {
            [input] => of(input),
            inputs => inputs.iter().map(of).fold((NEVER, NEVER, 0), |before, input| {
                (before.0.min(input.0), before.1.min(input.1), before.2 + input.2)
            }),
        }
    }

    /// How many trains begin to arrive at a process before `until`.
    #[cold]
    fn due<C: Item>(&self, known: &Known, until: Time, streams: &[Stream<C>]) -> usize {
        let inputs = self.inputs[known.inputs.range()].iter();
        let due =
            |&input: &StreamId| streams[input].trains().partition_point(|train| train.first.ps() < until);
        inputs.map(due).sum()
    }

    /// Visits each process that can go on once, as far as its inputs are known; `None` if the run is to stop.
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
        let mut order = std::mem::take(&mut self.order);
        let cap = schedule.next_round(&mut order, self.cap);
        let mut round = Round { events: 0, behind: false, advanced: false };
        let mut capped = false;
        for &index in &order {
            border.receive(index, streams);
            let known = &self.processes[index];
            if known.clock >= bounds.end || known.waits(streams) {
                continue;
            }
            let (horizon, arrival, waiting) = self.arrivals(known, streams);
            let mut far = known.clock.saturating_add(cap.min(known.cap)).min(border.limit());
            if bounds.idle_until > far {
                far = far.max(bounds.idle_until.min(known.clock.saturating_add(schedule.jump)));
            }
            let mut until = horizon.min(bounds.end).min(far);
            if waiting > TRAINS_OF_A_VISIT && until > known.clock {
                // Many have become busy at once, after visits that were long because little happened.
                let pieces = self.due(known, until, streams) / TRAINS_OF_A_VISIT + 1;
                until = known.clock + ((until - known.clock) / pieces as Time).max(1);
            }
            if until <= known.clock {
                self.note_wait(index, streams);
                continue;
            }
            capped |= until - known.clock == cap;
            round.advanced = true;
            self.behind -= usize::from(until == bounds.end);
            let mut next_event = known.next_event;
            let mut work = 1;
            let visits = next_event.min(arrival) < until || until == bounds.end;
            if visits {
                border.begin_work();
                let handled = processes[index].visit(until, streams);
                processes[index].promise(streams);
                round.events += handled;
                work += handled;
                next_event = processes[index].next_event();
                for &input in &self.inputs[known.inputs.range()] {
                    streams[input].reuse_room();
                }
            } else {
                for &(output, lookahead) in &self.outputs[known.outputs.range()] {
                    streams[output].advance_horizon(until + lookahead);
                }
            }
            border.send(index, visits, streams);
            self.processes[index].note_visit(until, next_event, work);
            if poll.after(work) {
                return None;
            }
        }
        round.behind = self.behind > 0;
        if !B::BRINGS_MORE && order.len() >= 2 * self.behind {
            order.retain(|&index| self.processes[index].clock < bounds.end);
        }
        self.order = order;
        if capped {
            self.note_capped(round.events, schedule);
        }
        Some(round)
    }

    /// The cap has stopped visits of a round with so many events: it grows if they were few for so many processes, as one that is visited
    /// has to be brought into the cache, and shrinks if they were many, as all that is under way has to stay there.
    fn note_capped(&mut self, events: u64, schedule: &Schedule) {
        let few = EVENTS_A_PROCESS * self.processes.len() as u64;
        if events < few {
            let longer = (few / events.max(1) / 2).clamp(2, MOST_GROWTH);
            self.cap = self.cap.max(schedule.longest.min(self.cap.saturating_mul(longer)));
        } else if events / 4 > few {
            self.cap = (self.cap / 2).max(schedule.cap);
        }
    }

    /// How far one visit of the next round goes at the most.
    pub(crate) fn cap(&self) -> Time {
        self.cap
    }

    /// No clock is behind this time.
    pub(crate) fn floor(&self) -> Time {
        self.processes.iter().map(|known| known.clock).fold(NEVER, Time::min)
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
}

/// What lies between the processes that are visited here and those of other parts of the network.
pub(crate) trait Border<C, P> {
    /// Whether it brings something to processes that have reached the end: it arrives later, and has to be taken in.
    const BRINGS_MORE: bool;

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
    const BRINGS_MORE: bool = false;

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

/// What a visit is to handle, in events: a tenth of a second's work. No visit is interrupted; one that handles more is followed by
/// shorter ones.
const WORK_OF_A_VISIT: u64 = 1 << 20;

/// Where more trains wait, a visit covers only a part of the time: none is interrupted. A train may have very many items, which are not
/// counted here.
const TRAINS_OF_A_VISIT: usize = 1 << 16;

/// How long the first visit to a process is at the most.
const FIRST_CAP: Time = 16 * MILLISECOND;

/// How many times as long as one visit to a process the next may be, if there was little to do; the cap of the round is a limit too.
const MOST_GROWTH_OF_A_VISIT: u64 = 256;

/// How many times as long the cap of rounds may become after one round, and its largest multiple of the first.
const MOST_GROWTH: u64 = 16;

/// A round that the cap stops is to have so many events a process.
const EVENTS_A_PROCESS: u64 = 32;

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
    let mut plan = Plan::new(processes, streams, schedule, end);
    let (mut poll, mut choice) = (Poll::new(interrupt), Choice::new(schedule.cap));
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
        let agenda = match schedule.windows() {
            None => choice.after_round(&plan, streams.len(), round.events),
            Some(drawn) => choice.agenda(&plan, streams.len()).map(|agenda| (agenda, drawn)),
        };
        if let Some((agenda, windows)) = agenda {
            let limits = Limits { end, windows, jump: schedule.jump };
            let Some(next) = agenda.run(&mut plan, processes, streams, limits, &mut poll) else {
                return false;
            };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instant, stream::Train};

    impl Item for u8 {
        fn advance(&mut self, _: u32) {}

        fn follows(&self, _: &Self, _: u32) -> bool {
            false
        }
    }

    /// Takes from one stream, sends nothing, and has so many events in a visit.
    struct Sink {
        input: [StreamId; 1],
        clock: Time,
        events: u64,
    }

    impl Process<u8, ()> for Sink {
        fn inputs(&self) -> &[StreamId] {
            &self.input
        }

        fn outputs(&self) -> &[StreamId] {
            &[]
        }

        fn lookahead(&self, _: usize) -> Time {
            0
        }

        fn clock(&self) -> Time {
            self.clock
        }

        fn visit(&mut self, until: Time, _: &mut Streams<u8>) -> u64 {
            let events = if until > self.clock { self.events } else { 0 };
            self.clock = until;
            events
        }

        fn promise(&self, _: &mut Streams<u8>) {}

        fn next_event(&self) -> Time {
            self.clock
        }
    }

    const END: Time = 10_000 * MILLISECOND;

    /// The clocks of two sinks after each round. The first one's input is known to the end of time, the second one's not at all.
    fn clocks<const ROUNDS: usize>(events: u64, waits: impl Fn(&Plan)) -> [[Time; 2]; ROUNDS] {
        let mut sinks = [0, 1].map(|input| Sink { input: [input], clock: 0, events });
        let mut streams = Streams::new(vec![Stream::default(); 2], ());
        streams[0].advance_horizon(NEVER);
        let mut schedule = Schedule::in_order(2);
        let mut plan = Plan::new(&sinks, &mut streams, &schedule, END);
        let mut poll = Poll::new(|| false);
        let clocks = [(); ROUNDS].map(|()| {
            let bounds = Bounds { end: END, idle_until: 0 };
            let round = plan.round(&mut sinks, &mut streams, &mut schedule, bounds, &mut poll, &mut ());
            assert!(round.expect("nothing interrupts").behind);
            [sinks[0].clock / MILLISECOND, sinks[1].clock / MILLISECOND]
        });
        waits(&plan);
        // Once all inputs are known, both reach the end.
        streams[1].advance_horizon(NEVER);
        while plan.behind > 0 {
            let bounds = Bounds { end: END, idle_until: 0 };
            plan.round(&mut sinks, &mut streams, &mut schedule, bounds, &mut poll, &mut ());
        }
        assert!(sinks.iter().all(|sink| sink.clock == END));
        clocks
    }

    #[test]
    fn a_process_waits_for_an_input_that_is_known_no_further() {
        let _ = clocks::<2>(1, |plan| {
            assert_eq!([0, 1].map(|index| plan.processes[index].waits_for), [None, Some(1)]);
        });
    }

    #[test]
    fn visits_cover_more_time_where_rounds_find_little_to_do() {
        let little = clocks::<6>(1, |_| ());
        assert_eq!(little.map(|clock| clock[0]), [8, 24, 152, 280, 408, 536]);
        let enough = clocks::<3>(2 * EVENTS_A_PROCESS, |_| ());
        assert_eq!(enough.map(|clock| clock[0]), [8, 16, 24]);
    }

    #[test]
    fn visits_cover_less_time_again_where_rounds_find_very_much_to_do() {
        let mut sinks = [Sink { input: [0], clock: 0, events: 1 }];
        let mut streams = Streams::new(vec![Stream::default()], ());
        streams[0].advance_horizon(NEVER);
        let mut schedule = Schedule::in_order(1);
        let mut plan = Plan::new(&sinks, &mut streams, &schedule, END);
        let mut caps = |events: u64| {
            sinks[0].events = events;
            [(); 4].map(|()| {
                let bounds = Bounds { end: END, idle_until: 0 };
                plan.round(
                    &mut sinks,
                    &mut streams,
                    &mut schedule,
                    bounds,
                    &mut Poll::new(|| false),
                    &mut (),
                );
                plan.cap / MILLISECOND
            })
        };
        // The second visit ends at its own cap, not at that of the round.
        assert_eq!(caps(1), [128, 128, 128, 128]);
        assert_eq!(caps(100 * EVENTS_A_PROCESS), [64, 32, 16, 8]);
        assert_eq!(caps(100 * EVENTS_A_PROCESS), [8, 8, 8, 8]);
    }

    #[test]
    fn a_process_that_has_reached_the_end_is_looked_at_no_more() {
        let mut sinks = [0, 1, 2].map(|input| Sink { input: [input], clock: 0, events: 1 });
        let mut streams = Streams::new(vec![Stream::default(); 3], ());
        for input in [0, 2] {
            streams[input].advance_horizon(NEVER);
        }
        let mut schedule = Schedule::in_order(3);
        let mut plan = Plan::new(&sinks, &mut streams, &schedule, MILLISECOND);
        for expected in [vec![1], vec![]] {
            let bounds = Bounds { end: MILLISECOND, idle_until: 0 };
            plan.round(&mut sinks, &mut streams, &mut schedule, bounds, &mut Poll::new(|| false), &mut ());
            assert_eq!(plan.order, expected);
            streams[1].advance_horizon(NEVER);
        }
        // A run that goes on begins with all of them.
        assert_eq!(schedule.order, [0, 1, 2]);
    }

    #[test]
    fn a_visit_is_shorter_where_very_many_trains_wait() {
        let mut sinks = [Sink { input: [0], clock: 0, events: 1 }];
        let mut streams = Streams::new(vec![Stream::default()], ());
        for train in 0..=3 * TRAINS_OF_A_VISIT as u64 {
            let at = Instant::start_of(train);
            streams[0].push(2 * train, 2 * train, &Train::single(at, 0));
        }
        streams[0].advance_horizon(NEVER);
        let mut schedule = Schedule::in_order(1);
        let mut plan = Plan::new(&sinks, &mut streams, &schedule, END);
        let bounds = Bounds { end: END, idle_until: 0 };
        plan.round(&mut sinks, &mut streams, &mut schedule, bounds, &mut Poll::new(|| false), &mut ());
        assert_eq!(sinks[0].clock, schedule.cap / 4);
        // Those that arrive later than a visit goes do not count.
        let end = TRAINS_OF_A_VISIT as u64 / 2;
        let mut sinks = [Sink { input: [0], clock: 0, events: 1 }];
        let mut plan = Plan::new(&sinks, &mut streams, &schedule, end);
        let bounds = Bounds { end, idle_until: 0 };
        plan.round(&mut sinks, &mut streams, &mut schedule, bounds, &mut Poll::new(|| false), &mut ());
        assert_eq!(sinks[0].clock, end);
    }
}
