//! What the visiting knows of all processes, and a round of visits to them.

use std::ops::Range;

use super::{
    border::Border,
    poll::Poll,
    process::Process,
    schedule::{MOST_GROWTH, Schedule},
};
use crate::{
    stream::{Item, Stream, StreamId, Streams},
    time::{MILLISECOND, NEVER, Time},
};

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

/// A round that the cap stops is to have so many events a process.
const EVENTS_A_PROCESS: u64 = 32;

/// What the visiting knows of a process, so that one for which there is nothing to do need not be looked at.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) clock: Time,
    /// The longest stretch of simulated time that one visit to it covers: shorter while very much happens there.
    cap: Time,
    /// Its earliest event but for arrivals, as it said after its last visit.
    pub(super) next_event: Time,
    /// An input that was not known further than the clock when the process was last asked: it has to be, for the process to go on.
    waits_for: Option<u32>,
    /// Where its inputs stand in [`Plan::inputs`], and its outputs in [`Plan::outputs`].
    pub(super) inputs: Places,
    pub(super) outputs: Places,
}

/// Places one after the other: half as long as a range, as there are very many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
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
    pub(super) fn range(self) -> Range<usize> {
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
    pub(super) processes: Vec<Known>,
    pub(super) inputs: Vec<StreamId>,
    /// Each with its lookahead.
    pub(super) outputs: Vec<(StreamId, Time)>,
    /// The processes that are looked at, in the order of the last round. Those that have reached the end may be missing.
    order: Vec<usize>,
    /// How many have not reached the end.
    pub(super) behind: usize,
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
    #[inline(always)]
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

    /// How far a visit to a process goes whose inputs are known up to a horizon, and on which so many trains wait: no further than its clock if
    /// it has to wait.
    #[inline(always)]
    fn reach<C: Item>(
        &self,
        known: &Known,
        (horizon, waiting): (Time, usize),
        Reach { bounds, cap, jump, border }: Reach,
        streams: &[Stream<C>],
    ) -> Time {
        let mut far = known.clock.saturating_add(cap.min(known.cap)).min(border);
        if bounds.idle_until > far {
            far = far.max(bounds.idle_until.min(known.clock.saturating_add(jump)));
        }
        let until = horizon.min(bounds.end).min(far);
        if waiting > TRAINS_OF_A_VISIT && until > known.clock {
            self.part_of(known, until, streams)
        } else {
            until
        }
    }

    /// How far a visit goes that might go to `until`, but for the trains that begin to arrive before: many have become busy at once, after
    /// visits that were long because little happened.
    #[cold]
    fn part_of<C: Item>(&self, known: &Known, until: Time, streams: &[Stream<C>]) -> Time {
        let inputs = self.inputs[known.inputs.range()].iter();
        let due =
            |&input: &StreamId| streams[input].trains().partition_point(|train| train.first.ps() < until);
        let pieces = inputs.map(due).sum::<usize>() / TRAINS_OF_A_VISIT + 1;
        known.clock + ((until - known.clock) / pieces as Time).max(1)
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
            let reach = Reach { bounds, cap, jump: schedule.jump, border: border.limit() };
            let until = self.reach(known, (horizon, waiting), reach, streams);
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

/// How far the visits of a round go at the most.
#[derive(Debug, Clone, Copy)]
struct Reach {
    bounds: Bounds,
    /// The longest stretch of simulated time, and of idle time.
    cap: Time,
    jump: Time,
    /// Where the border stops them.
    border: Time,
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
