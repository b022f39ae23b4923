//! How parts begin, and how they agree, step by step.

use std::thread;

use super::{
    Part, Shared,
    border::{Crossings, Frontier},
    gate::{Gate, Idle, Outcome},
    run, run_on,
    threads::Threads,
};
use crate::{
    stream::{Item, StreamId, Streams},
    time::Time,
    visit::{Border, Plan, Process, Schedule},
};

fn idle(next_event: Time) -> Idle {
    Idle { next_event, sent: 0, received: 0, done: false }
}

/// Where the next event is far off, clocks come to it step by step, one part after the other: each moves behind its report, when the
/// other has moved behind its own.
#[test]
fn a_clock_that_moves_behind_a_report_is_progress() {
    let gate = Gate::new(2);
    for jumps in 0..20 {
        assert_eq!(gate.enter(0, jumps, idle(1000)), Outcome::Wait);
        gate.note_advance();
        assert_eq!(gate.enter(1, jumps, idle(1000)), Outcome::Jump);
    }
}

#[test]
fn jumps_that_lead_nowhere_end() {
    let gate = Gate::new(2);
    let both = |at| {
        let jumps = gate.jumps();
        assert_eq!(gate.enter(0, jumps, idle(at)), Outcome::Wait);
        gate.enter(1, jumps, idle(at))
    };
    let outcomes = [10, 10, 10, 20, 20, 20, 20].map(both);
    assert_eq!(outcomes[..6], [Outcome::Jump; 6]);
    assert_eq!(outcomes[6], Outcome::Stuck(20));
}

/// Counts the ticks of a clock of its own.
#[derive(Debug, Default)]
struct Ticks {
    clock: Time,
    counted: u64,
}

impl Item for () {
    fn advance(&mut self, _: u32) {}

    fn follows(&self, (): &Self, _: u32) -> bool {
        false
    }
}

impl Process<(), ()> for Ticks {
    fn inputs(&self) -> &[StreamId] {
        &[]
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

    fn visit(&mut self, until: Time, _: &mut Streams<()>) -> u64 {
        let events = until - self.clock;
        self.counted += events;
        self.clock = until;
        events
    }

    fn promise(&self, _: &mut Streams<()>) {}

    fn next_event(&self) -> Time {
        self.clock
    }
}

fn ticking(number: usize) -> Vec<Part<Ticks, (), (), ()>> {
    let part = || Part {
        processes: vec![Ticks::default()],
        streams: Streams::new(Vec::new(), ()),
        schedule: Schedule::in_order(1),
        mail: (),
    };
    (0..number).map(|_| part()).collect()
}

/// A part that learns of a jump goes on. It must not have reported before it knew of it, or the others jump again while it works, over
/// what it does.
#[test]
fn a_part_that_goes_on_has_no_report() {
    let mut parts = ticking(2);
    let (crossings, gate, threads) = (Crossings::between(&parts), Gate::new(2), Threads::new(2));
    let shared = Shared { crossings, gate, threads };
    let [first, second] = &mut parts[..] else { panic!("two parts") };
    let plan =
        |part: &mut Part<_, _, _, ()>| Plan::new(&part.processes, &mut part.streams, &part.schedule, 1000);
    let plans = [plan(first), plan(second)];
    let mut there = [Frontier::new(0, &shared, &mut first.mail), Frontier::new(1, &shared, &mut second.mail)];
    let [one, other] = &mut there;
    one.rest(&plans[0], &first.streams, false, 1000);
    other.rest(&plans[1], &second.streams, false, 1000);
    assert_eq!(shared.gate.jumps(), 1);
    // It has visited a process where nothing happened, and does not know of the jump.
    one.begin_work();
    one.rest(&plans[0], &first.streams, false, 1000);
    assert_eq!(one.look_around(0), Some(0));
    // Now it may have something to do.
    assert_eq!(other.look_around(0), Some(0));
    other.rest(&plans[1], &second.streams, false, 1000);
    assert_eq!(shared.gate.jumps(), 1, "all have jumped while a part goes on");
    one.rest(&plans[0], &first.streams, false, 1000);
    assert_eq!(shared.gate.jumps(), 2);
}

/// A stack that no address space has room for: the system refuses such a thread.
const NO_ROOM: usize = 1 << (usize::BITS - 2);

#[test]
fn without_a_thread_for_each_part_nothing_happens() {
    for refused in 1..4 {
        let mut parts = ticking(4);
        let builder = |part| {
            let usual = thread::Builder::new();
            if part == refused { usual.stack_size(NO_ROOM) } else { usual }
        };
        let shortage = run_on(&mut parts, 1000, &mut || false, builder).expect_err("a thread is refused");
        assert_eq!(shortage.threads, refused);
        assert!(parts.iter().all(|part| part.processes[0].counted == 0), "a part began");
        assert!(run(&mut parts, 1000, &mut || false).expect("now all are given"));
        assert!(parts.iter().all(|part| part.processes[0].counted == 1000));
    }
}
