//! How parts begin, and how they agree, step by step.

use std::thread;

use super::{
    Part,
    gate::{Gate, Idle, Outcome},
    run, run_on,
};
use crate::{
    stream::{Item, StreamId, Streams},
    time::Time,
    visit::{Process, Schedule},
};

fn idle(next_event: Time) -> Idle {
    Idle { next_event, sent: 0, received: 0, done: false }
}

/// Where the next event is far off, clocks come to it step by step, one part after the other: each moves behind its report, when the
/// other has moved behind its own.
#[test]
fn a_clock_that_moves_behind_a_report_is_progress() {
    let gate = Gate::new(2);
    for _ in 0..20 {
        assert_eq!(gate.enter(0, idle(1000)), Outcome::Wait);
        gate.note_advance();
        assert_eq!(gate.enter(1, idle(1000)), Outcome::Jump);
    }
}

#[test]
fn jumps_that_lead_nowhere_end() {
    let gate = Gate::new(2);
    let both = |at| {
        assert_eq!(gate.enter(0, idle(at)), Outcome::Wait);
        gate.enter(1, idle(at))
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
