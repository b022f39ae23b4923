//! Visits to those processes alone in which something happens, window by window.
//!
//! A round asks every process how far it can go. That is not far where the network has short cycles, and where few of thousands of
//! processes are busy, nearly all of them have nothing to do. Windows visit only the busy ones. A *window* is so short that every cycle
//! of the network has an output whose lookahead is no shorter; what happens within one causes nothing over such an output before the
//! next. All other outputs lead from one *level* of processes to a higher one, so that visits in the order of levels find all that
//! arrives within the window.

use super::{calendar::Calendar, plan::Plan, poll::Poll, process::Process};
use crate::{
    levels::{Way, Ways},
    stream::{Item, Stream, StreamId, Streams},
    time::{NEVER, Time},
};

/// What windows need to know of the network, and what is to happen in it.
#[derive(Debug)]
pub(super) struct Agenda {
    /// An output whose lookahead is less than a window leads to a process of a higher level.
    levels: Vec<u32>,
    /// The process that each stream leads to.
    readers: Vec<u32>,
    calendar: Calendar,
    /// The processes in which something happens within the window, by their levels.
    due: Vec<Vec<u32>>,
    /// The inputs of each process on which something waits, so that a visit does not look at all of them.
    waiting: Vec<Vec<u32>>,
    /// Whether each stream is among them.
    noted: Vec<bool>,
}

/// How far windows go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// None reaches the end of the run.
    pub(super) end: Time,
    /// How many there are at the most.
    pub(super) windows: u64,
    /// The longest stretch of simulated time of one visit.
    pub(super) jump: Time,
}

/// So many windows have to be busy for rounds to go on.
const BATCH: u64 = 64;

/// Windows are busy if they have one event for this many processes, or more.
const DENSE: u64 = 3;

impl Agenda {
    /// Of the network of a plan with so many streams, if time passes in all of its cycles. A window is no longer than `longest`.
    fn new(plan: &Plan, streams: usize, longest: Time) -> Option<Self> {
        let mut readers = vec![u32::MAX; streams];
        for (index, known) in plan.processes.iter().enumerate() {
            plan.inputs[known.inputs.range()].iter().for_each(|&input| readers[input] = index as u32);
        }
        let ways = plan.processes.iter().enumerate().flat_map(|(index, known)| {
            let outputs = plan.outputs[known.outputs.range()].iter();
            outputs.map(move |&(output, lookahead)| (index, output, lookahead))
        });
        let ways =
            ways.map(|(from, output, lookahead)| Way { from: from as u32, to: readers[output], lookahead });
        let ways = Ways::new(plan.processes.len(), ways.collect());
        let window = ways.longest_window()?;
        let levels = ways.levels(window)?;
        let highest = levels.iter().max().map_or(0, |&level| level as usize + 1);
        let calendar = Calendar::new(window.min(longest), levels.len());
        let (due, waiting) = (vec![Vec::new(); highest], vec![Vec::new(); levels.len()]);
        Some(Self { levels, readers, calendar, due, waiting, noted: vec![false; streams] })
    }

    /// Handles window after window, while few processes are busy. Returns a time before which nothing happens then; `None` if the run is to stop.
    pub(super) fn run<C: Item, P, N: Process<C, P>>(
        &mut self,
        plan: &mut Plan,
        processes: &mut [N],
        streams: &mut Streams<C, P>,
        limits: Limits,
        poll: &mut Poll<impl FnMut() -> bool>,
    ) -> Option<Time> {
        self.begin(plan, streams);
        let most = BATCH * processes.len() as u64 / DENSE;
        let (mut windows, mut events) = (0, 0);
        while windows < limits.windows
            && let Some(until) = self.calendar.turn(limits.end)
        {
            let Self { calendar, levels, due, .. } = self;
            calendar.take_out(until, |process| due[levels[process as usize] as usize].push(process));
            for level in 0..self.due.len() {
                while let Some(process) = self.due[level].pop() {
                    events += self.visit(process, until, plan, processes, streams, (limits.jump, poll))?;
                }
            }
            windows += 1;
            if windows % BATCH == 0 && std::mem::take(&mut events) > most {
                break;
            }
        }
        processes.iter().for_each(|process| process.promise(streams));
        let missed = |(stream, &noted): (&Stream<C>, &bool)| stream.next_arrival().is_some() && !noted;
        assert!(!streams.iter().zip(&self.noted).any(missed), "what waits on an input is noted");
        Some(self.calendar.first().min(limits.end))
    }

    /// Notes what is to happen in all processes.
    fn begin<C: Item>(&mut self, plan: &Plan, streams: &mut [Stream<C>]) {
        self.waiting.iter_mut().for_each(Vec::clear);
        for (stream, &reader) in self.readers.iter().enumerate() {
            self.noted[stream] = streams[stream].next_arrival().is_some();
            if self.noted[stream] {
                self.waiting[reader as usize].push(stream as u32);
            }
        }
        let Self { calendar, waiting, noted, .. } = self;
        let inputs = plan.processes.iter().zip(waiting);
        calendar.enter_all(
            inputs.map(|(known, waiting)| known.next_event.min(next_arrival(waiting, noted, streams))),
        );
    }

    /// Visits a process, and notes what follows there and behind it. Returns the number of events; `None` if the run is to stop.
    #[inline]
    fn visit<C: Item, P, N: Process<C, P>>(
        &mut self,
        process: u32,
        until: Time,
        plan: &mut Plan,
        processes: &mut [N],
        streams: &mut Streams<C, P>,
        (jump, poll): (Time, &mut Poll<impl FnMut() -> bool>),
    ) -> Option<u64> {
        let index = process as usize;
        let known = &mut plan.processes[index];
        let mut handled = 0;
        while known.clock < until {
            known.clock = until.min(known.clock.saturating_add(jump));
            let events = processes[index].visit(known.clock, streams);
            handled += events;
            if poll.after(1 + events) {
                return None;
            }
        }
        known.next_event = processes[index].next_event();
        let arrival = next_arrival(&mut self.waiting[index], &mut self.noted, streams);
        self.calendar.set(process, known.next_event.min(arrival));
        for &(output, _) in &plan.outputs[known.outputs.range()] {
            if let Some(arrival) = streams[output].next_arrival() {
                self.note_arrival(index, output, arrival, until);
            }
        }
        Some(handled)
    }

    /// Something arrives on an output of the process `from`, which was visited `until` then.
    #[inline]
    fn note_arrival(&mut self, from: usize, output: StreamId, arrival: Time, until: Time) {
        let reader = self.readers[output];
        if !std::mem::replace(&mut self.noted[output], true) {
            self.waiting[reader as usize].push(output as u32);
        }
        if self.calendar.knows_of(reader, arrival) {
            return;
        }
        if arrival >= until {
            return self.calendar.set(reader, arrival);
        }
        let level = self.levels[reader as usize];
        assert!(level > self.levels[from], "a way shorter than the window leads to a higher level");
        self.calendar.set_due(reader);
        self.due[level as usize].push(reader);
    }
}

/// When something arrives next on the inputs where something waits. Those that have run dry are no longer among them.
#[inline]
fn next_arrival<C: Item>(waiting: &mut Vec<u32>, noted: &mut [bool], streams: &mut [Stream<C>]) -> Time {
    let mut next = NEVER;
    waiting.retain(|&input| {
        let stream = &mut streams[input as usize];
        stream.reuse_room();
        let arrival = stream.next_arrival();
        noted[input as usize] = arrival.is_some();
        next = next.min(arrival.unwrap_or(NEVER));
        arrival.is_some()
    });
    next
}

/// Decides when rounds give way to windows, and for how long.
///
/// A round covers more time than a window where only some cycles of the network are short, so windows cannot know how much rounds would find
/// to do. After some windows rounds are tried again.
#[derive(Debug)]
pub(super) struct Choice {
    /// How long a window is at the most.
    longest: Time,
    /// `None` until the network is first looked at; then whether it can have one.
    agenda: Option<Option<Agenda>>,
    /// How many rounds in a row found little to do.
    sparse: u32,
    /// How many windows come next at the most: more each time, as long as no round finds much to do.
    windows: u64,
}

/// Among fewer processes rounds cost little.
const FEWEST_PROCESSES: usize = 16;

/// A round finds little to do if there is an event for more than so many processes.
const SPARSE: u64 = 2;

/// So many rounds in a row have to find little to do.
const SPARSE_ROUNDS: u32 = 8;

/// How many windows there are at the most before rounds are tried again, the first time and in the end.
const FEWEST_WINDOWS: u64 = BATCH;
const MOST_WINDOWS: u64 = 256 * BATCH;

impl Choice {
    /// Rounds come first. A window is no longer than `longest`.
    pub(super) fn new(longest: Time) -> Self {
        Self { longest, agenda: None, sparse: 0, windows: FEWEST_WINDOWS }
    }

    /// The agenda, if windows are to follow a round that handled so many events, and how many windows at the most.
    pub(super) fn after_round(
        &mut self,
        plan: &Plan,
        streams: usize,
        events: u64,
    ) -> Option<(&mut Agenda, u64)> {
        let sparse = plan.behind >= FEWEST_PROCESSES && plan.behind as u64 > SPARSE * events;
        if !sparse {
            (self.sparse, self.windows) = (0, FEWEST_WINDOWS);
            return None;
        }
        self.sparse += 1;
        if self.sparse < SPARSE_ROUNDS {
            return None;
        }
        let windows = self.windows;
        (self.sparse, self.windows) = (0, (2 * windows).min(MOST_WINDOWS));
        Some((self.agenda(plan, streams)?, windows))
    }

    /// The agenda, if the network can have one.
    pub(super) fn agenda(&mut self, plan: &Plan, streams: usize) -> Option<&mut Agenda> {
        self.agenda.get_or_insert_with(|| Agenda::new(plan, streams, self.longest)).as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        instant::Instant,
        stream::Train,
        time::{MICROSECOND, MILLISECOND},
        visit::{Bounds, Schedule, run},
    };

    const RING: usize = 300;
    const END: Time = 10 * MILLISECOND;

    /// Sends on what comes, a microsecond later. Number 0 sends the first item.
    #[derive(Debug, PartialEq, Eq)]
    struct Relay {
        input: [StreamId; 1],
        output: [StreamId; 1],
        begins: bool,
        clock: Time,
        visits: u64,
        sent: u64,
    }

    impl Process<u8, ()> for Relay {
        fn inputs(&self) -> &[StreamId] {
            &self.input
        }

        fn outputs(&self) -> &[StreamId] {
            &self.output
        }

        fn lookahead(&self, _: usize) -> Time {
            MICROSECOND
        }

        fn clock(&self) -> Time {
            self.clock
        }

        fn visit(&mut self, until: Time, streams: &mut Streams<u8>) -> u64 {
            assert!(until > self.clock, "time goes on");
            let (mut events, mut item) = (0, Train::default());
            if std::mem::take(&mut self.begins) {
                streams[self.output[0]].push_single(&Train::single(Instant::start_of(MICROSECOND), 0));
                events += 1;
            }
            while streams[self.input[0]].take_before(until, &mut item) {
                streams[self.output[0]].push_single(&Train::single(item.first.delayed(MICROSECOND), 0));
                events += 1;
            }
            (self.clock, self.visits, self.sent) = (until, self.visits + 1, self.sent + events);
            events
        }

        fn promise(&self, streams: &mut Streams<u8>) {
            streams[self.output[0]].advance_horizon(self.clock + MICROSECOND);
        }

        fn next_event(&self) -> Time {
            if self.begins { 0 } else { NEVER }
        }
    }

    /// A ring of relays, visited against the direction of its item.
    fn ring() -> (Vec<Relay>, Streams<u8>, Schedule) {
        let relay = |place| Relay {
            input: [place],
            output: [(place + 1) % RING],
            begins: place == 0,
            clock: 0,
            visits: 0,
            sent: 0,
        };
        let mut schedule = Schedule::in_order(RING);
        schedule.order.reverse();
        ((0..RING).map(relay).collect(), Streams::new(vec![Stream::default(); RING], ()), schedule)
    }

    #[test]
    fn windows_visit_those_alone_in_which_something_happens() {
        let (mut relays, mut streams, mut schedule) = ring();
        let mut plan = Plan::new(&relays, &mut streams, &schedule, END);
        let (mut poll, mut choice) = (Poll::new(|| false), Choice::new(schedule.cap));
        let bounds = Bounds { end: END, idle_until: 0 };
        let mut round = |plan: &mut Plan, relays: &mut [Relay], streams: &mut Streams<u8>| {
            plan.round(relays, streams, &mut schedule, bounds, &mut Poll::new(|| false), &mut ())
                .expect("nothing interrupts")
                .events
        };
        for _ in 1..SPARSE_ROUNDS {
            let events = round(&mut plan, &mut relays, &mut streams);
            assert!(choice.after_round(&plan, RING, events).is_none());
        }
        let events = round(&mut plan, &mut relays, &mut streams);
        let (agenda, _) = choice.after_round(&plan, RING, events).expect("there is little to do");
        let visits = |relays: &[Relay]| relays.iter().map(|relay| relay.visits).sum::<u64>();
        let sent = |relays: &[Relay]| relays.iter().map(|relay| relay.sent).sum::<u64>();
        let before = [visits(&relays), sent(&relays)];
        let limits = Limits { end: END, windows: u64::MAX, jump: NEVER };
        let next = agenda.run(&mut plan, &mut relays, &mut streams, limits, &mut poll);
        // What happens in the last microsecond is left to rounds: the windows end before the end.
        assert_eq!(next, Some(END - MICROSECOND));
        assert_eq!(sent(&relays), (END - MICROSECOND) / MICROSECOND);
        assert_eq!(visits(&relays) - before[0], sent(&relays) - before[1]);
    }

    /// How many windows a round calls for that handled so many events, and those before it.
    fn windows_after(choice: &mut Choice, plan: &Plan, events: u64) -> Option<u64> {
        let found = (1..=SPARSE_ROUNDS).filter_map(|_| Some(choice.after_round(plan, RING, events)?.1));
        found.last()
    }

    #[test]
    fn rounds_are_tried_again_and_windows_last_longer_while_they_find_little_to_do() {
        let (relays, mut streams, schedule) = ring();
        let plan = Plan::new(&relays, &mut streams, &schedule, END);
        let mut choice = Choice::new(schedule.cap);
        let windows = |choice: &mut Choice| windows_after(choice, &plan, 1);
        assert_eq!([(); 3].map(|()| windows(&mut choice)), [64, 128, 256].map(Some));
        assert_eq!((0..9).filter_map(|_| windows(&mut choice)).last(), Some(MOST_WINDOWS));
        assert_eq!(windows_after(&mut choice, &plan, RING as u64), None);
        assert_eq!(windows(&mut choice), Some(64));
    }

    #[test]
    fn a_visit_covers_no_more_than_a_jump() {
        let (mut relays, mut streams, schedule) = ring();
        let mut plan = Plan::new(&relays, &mut streams, &schedule, END);
        let mut agenda = Agenda::new(&plan, RING, NEVER).expect("time passes in the ring");
        let limits = Limits { end: END, windows: u64::MAX, jump: 100 * MICROSECOND };
        agenda.run(&mut plan, &mut relays, &mut streams, limits, &mut Poll::new(|| false));
        // From one item to the next it is three hundred microseconds; to the first it is less.
        for relay in &relays {
            assert!((3 * relay.sent - 2..=3 * relay.sent).contains(&relay.visits), "{relay:?}");
        }
    }

    #[test]
    fn a_run_that_is_stopped_within_windows_goes_on_as_if_it_had_not_been() {
        let (mut whole, mut streams, mut schedule) = ring();
        assert!(run(&mut whole, &mut streams, &mut schedule, 100 * END, || false));
        let (mut stopped, mut streams, mut schedule) = ring();
        let mut asked = 0;
        let mut stops = || {
            asked += 1;
            asked % 5 == 4
        };
        let mut runs = 1;
        while !run(&mut stopped, &mut streams, &mut schedule, 100 * END, &mut stops) {
            runs += 1;
        }
        assert!(runs > 2, "it was stopped {} times", runs - 1);
        let sent = |relays: &[Relay]| relays.iter().map(|relay| relay.sent).collect::<Vec<_>>();
        assert_eq!(sent(&stopped), sent(&whole));
    }
}
