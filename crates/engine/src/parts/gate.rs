//! Where parts agree that none of them has anything to do for a while.

use super::{
    crossing::locked,
    sync::{AtomicBool, AtomicU64, Mutex, Ordering},
};
use crate::time::{NEVER, Time};

/// What a part reports after rounds without an event. Until it withdraws the report it handles no event and neither sends nor receives a
/// train; it only passes horizons on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Idle {
    /// Its earliest event, arrivals on its streams included, at most the end.
    pub(super) next_event: Time,
    /// Trains that it has handed over and taken in since the start.
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Whether it has reached the end.
    pub(super) done: bool,
}

/// What follows from a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Others are busy, or something is under way.
    Wait,
    /// All go on from the earliest event of all.
    Jump,
    /// All have jumped since the part looked last: it has to do so before it can report anything.
    Jumped,
    /// All parts have reached the end.
    Over,
    /// No part can go on, beyond this time.
    Stuck(Time),
}

#[derive(Debug)]
struct State {
    /// By part.
    idle: Vec<Option<Idle>>,
    jump: Time,
    /// Jumps in a row that led nowhere.
    fruitless: u32,
}

/// So many jumps in a row that lead nowhere show that no part can go on. One is not enough: a part may read what another has done before
/// a jump only after it.
const MOST_FRUITLESS: u32 = 3;

/// Where parts agree.
#[derive(Debug)]
pub(super) struct Gate {
    state: Mutex<State>,
    /// How often all have jumped: a look that takes no lock.
    jumps: AtomicU64,
    /// Whether a clock of any part has moved since the last jump.
    advanced: AtomicBool,
    over: AtomicBool,
}

impl Gate {
    pub(super) fn new(parts: usize) -> Self {
        let state = Mutex::new(State { idle: vec![None; parts], jump: 0, fruitless: 0 });
        let (jumps, advanced) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { state, jumps, advanced, over: AtomicBool::new(false) }
    }

    /// How often all have jumped.
    #[inline]
    pub(super) fn jumps(&self) -> u64 {
        self.jumps.load(Ordering::SeqCst)
    }

    /// Whether all parts have reached the end.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Where the last jump went, for part `part`, which has learned of it.
    ///
    /// # Panics
    /// If a report of the part stands, though the part goes on: the others would jump over what it does.
    pub(super) fn jump(&self, part: usize) -> Time {
        let state = locked(&self.state);
        assert!(state.idle[part].is_none(), "part {part} goes on behind a report that it is idle");
        state.jump
    }

    /// A clock of a part has moved. One may do so behind the report of its part, to pass a horizon on.
    #[inline]
    pub(super) fn note_advance(&self) {
        // Mostly it has been noted since the last jump, and the line of the cache stays where it is.
        if !self.advanced.load(Ordering::SeqCst) {
            self.advanced.store(true, Ordering::SeqCst);
        }
    }

    /// Part `part`, which knows of `jumps` jumps, has nothing to do. If none has, and nothing is under way between them, nothing can
    /// happen anywhere before the earliest event of all.
    ///
    /// A part that does not know of the last jump reports nothing: it will go on when it learns of it, and its report would stand.
    pub(super) fn enter(&self, part: usize, jumps: u64, idle: Idle) -> Outcome {
        let mut state = locked(&self.state);
        if self.jumps() != jumps {
            return Outcome::Jumped;
        }
        state.idle[part] = Some(idle);
        let Some(all) = together(&state.idle) else { return Outcome::Wait };
        if all.done {
            self.over.store(true, Ordering::SeqCst);
            return Outcome::Over;
        }
        if all.sent != all.received {
            return Outcome::Wait;
        }
        let advanced = self.advanced.swap(false, Ordering::SeqCst);
        let fruitful = advanced || all.next_event > state.jump;
        state.fruitless = if fruitful { 0 } else { state.fruitless + 1 };
        if state.fruitless == MOST_FRUITLESS {
            return Outcome::Stuck(all.next_event);
        }
        state.jump = all.next_event;
        state.idle.fill(None);
        self.jumps.fetch_add(1, Ordering::SeqCst);
        Outcome::Jump
    }

    /// Part `part` has something to do again.
    pub(super) fn leave(&self, part: usize) {
        locked(&self.state).idle[part] = None;
    }
}

/// The reports of all parts in one, if all have reported.
fn together(parts: &[Option<Idle>]) -> Option<Idle> {
    let none = Idle { next_event: NEVER, sent: 0, received: 0, done: true };
    parts.iter().try_fold(none, |all, part| {
        part.map(|part| Idle {
            next_event: all.next_event.min(part.next_event),
            sent: all.sent + part.sent,
            received: all.received + part.received,
            done: all.done && part.done,
        })
    })
}
