//! What has passed a link on which nothing waited has no effect on what follows, where a discipline says so: a port then tells it of the
//! last such unit alone.

use std::collections::VecDeque;

use celltrain_atm::scheduler::{Discipline, DisciplineName, SchedulerParams, Share, deficit_round_robin};
use celltrain_engine::{Instant, Time};
use proptest::prelude::*;

use crate::{
    link::config,
    model::{SLOT, Store, discipline, of, weighted},
};

const WEIGHTS: [u32; 4] = [1, 5, 2, 3];

/// A unit's VC, and how long after the one before it the unit comes.
type Arrival = (u32, Time);

/// How a discipline learns of what passes before anything waits: of the last unit alone, of each, or as of units that wait and are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    Last,
    Each,
    Queued,
}

/// A link with cells that takes `slot` for each: not always what the discipline takes it for, as the rate of a link may change. (WFQ is
/// refused there, and forgets all the same.)
struct Link {
    scheduler: Discipline,
    store: Store,
    slot: Time,
    free: Time,
    sent: Vec<u32>,
}

impl Link {
    fn new(params: &SchedulerParams, slot: Time) -> Self {
        let scheduler = discipline(params, &weighted(&WEIGHTS));
        let store = Store(vec![VecDeque::new(); WEIGHTS.len()]);
        Self { scheduler, store, slot, free: 0, sent: Vec::new() }
    }

    /// A cell of `vc` comes at `at`, when the link is free and nothing waits. [`Told::Last`]: the discipline is not told.
    fn pass(&mut self, vc: u32, at: Time, told: Told) {
        let (mut alone, now) = (self.store.clone(), Instant::start_of(at));
        alone.0[vc as usize].push_back(1);
        match told {
            Told::Last => {}
            Told::Each => self.scheduler.pass(vc, 1, now, &alone),
            Told::Queued => {
                self.scheduler.enqueue(vc, 1, now, &alone);
                assert_eq!(self.scheduler.next(now, &alone), Some(vc));
            }
        }
        self.free = at + self.slot;
        self.sent.push(vc);
    }

    /// Sends what waits while the link becomes free until `at`; returns whether it is free then.
    fn send_until(&mut self, at: Time) -> bool {
        while self.free <= at && self.store.0.iter().any(|queue| !queue.is_empty()) {
            let vc = self.scheduler.next(Instant::start_of(self.free), &self.store).expect("something waits");
            self.store.0[vc as usize].pop_front().expect("the VC has something to send");
            self.free += self.slot;
            self.sent.push(vc);
        }
        self.free <= at
    }

    fn arrive(&mut self, vc: u32, at: Time, told: Told) {
        if self.send_until(at) {
            return self.pass(vc, at, if told == Told::Last { Told::Each } else { told });
        }
        self.store.0[vc as usize].push_back(1);
        self.scheduler.enqueue(vc, 1, Instant::start_of(at), &self.store);
    }
}

/// The order in which cells are sent: some that pass, and then others.
fn order(
    params: &SchedulerParams,
    slot: Time,
    passed: &[Arrival],
    later: &[Arrival],
    told: Told,
) -> Vec<u32> {
    let (mut link, mut at) = (Link::new(params, slot), 0);
    for (place, &(vc, pause)) in passed.iter().enumerate() {
        at = link.free + pause;
        let last = place + 1 == passed.len() && told == Told::Last;
        link.pass(vc, at, if last { Told::Each } else { told });
    }
    for &(vc, gap) in later {
        at += gap;
        link.arrive(vc, at, told);
    }
    link.send_until(Time::MAX / 2);
    link.sent
}

fn parameters() -> impl Iterator<Item = SchedulerParams> {
    let quantum = |quantum| {
        let deficit_round_robin =
            deficit_round_robin::Params { share: Share::Weight, quantum: Some(quantum) };
        SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) }
    };
    DisciplineName::ALL.iter().map(|&name| of(name)).chain([1, 3].map(quantum))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn disciplines_forget_what_has_passed_if_they_say_so(
        passed in prop::collection::vec((0..WEIGHTS.len() as u32, 0..500u64), 1..6),
        later in prop::collection::vec((0..WEIGHTS.len() as u32, 0..1500u64), 1..60),
        slot in prop::sample::select(vec![SLOT.ps() / 3, SLOT.ps() / 2, SLOT.ps(), 2 * SLOT.ps()]),
    ) {
        for params in parameters().filter(|params| discipline(params, &weighted(&WEIGHTS)).forgets()) {
            let order = |told| order(&params, slot, &passed, &later, told);
            let last = order(Told::Last);
            prop_assert_eq!(order(Told::Each), &last[..], "{:?}", params);
            // On a faster link a unit has left that WFQ takes to be in transmission still.
            if slot >= SLOT.ps() {
                prop_assert_eq!(order(Told::Queued), last, "queued, {:?}", params);
            }
        }
    }
}
