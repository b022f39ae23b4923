//! A model in parts, each in a thread of its own.
//!
//! A part is visited as a whole model is. A stream from one part to another has an end in either; what a visit has put on it, and how
//! far it is known then, the other part reads before its own visits. There is no barrier: a part goes as far as its inputs are known,
//! and a null message is the number of a horizon. Only where no part has anything to do do all agree on where the next event is, and
//! go on there. Any partition and any timing of the threads give the same result, as any order and length of visits do.

mod border;
mod crossing;
mod gate;
mod sync;
mod threads;

#[cfg(test)]
mod tests;

use std::{io, panic::resume_unwind, sync::OnceLock, thread};

use self::{
    border::{Crossings, Frontier},
    gate::Gate,
    threads::{StopOnPanic, Threads},
};
use crate::{
    stream::{Item, Streams},
    time::Time,
    visit::{self, Bounds, Plan, Poll, Process, Schedule},
};

/// How the contents of items reach another part.
pub trait Mail<P>: Send {
    /// The contents of an item, and whose they are.
    type Parcel: Send;

    /// Posts the contents that a process has put in flight for other parts, after a visit to it: calls `post` with the part that each
    /// is for.
    fn collect(&mut self, process: usize, contents: &mut P, post: &mut dyn FnMut(usize, Self::Parcel));

    /// Puts in flight what has come from another part.
    fn deliver(contents: &mut P, parcel: Self::Parcel);
}

/// Items without contents.
impl<P> Mail<P> for () {
    type Parcel = ();

    fn collect(&mut self, _: usize, _: &mut P, _: &mut dyn FnMut(usize, ())) {}

    fn deliver(_: &mut P, (): ()) {}
}

/// Some processes of a model.
#[derive(Debug)]
pub struct Part<N, C, P, M> {
    /// The processes.
    pub processes: Vec<N>,
    /// All streams of the model, by number. Those that cross have an end in either part; those of other parts are not looked at.
    pub streams: Streams<C, P>,
    /// The order of its visits.
    pub schedule: Schedule,
    /// What takes the contents of items to other parts.
    pub mail: M,
}

/// The name of the threads of a run but for the caller's.
pub const THREAD: &str = "celltrain part";

/// How many rounds without an event a part goes before it says that it has nothing to do: looking for the next event costs about
/// as much as a round.
const QUIET_ROUNDS: u32 = 2;

/// How far a part may be ahead of the one furthest behind, in visits: streams between them stay short.
const VISITS_AHEAD: Time = 2;

/// Fewer threads can be had than a model has parts.
#[derive(Debug)]
pub struct TooFewThreads {
    /// How many can be had, the caller's among them.
    pub threads: usize,
    /// Why there are no more.
    pub error: io::Error,
}

/// Takes every process of every part to `end`. Each part has a thread of its own; the first part uses the caller's. `interrupt` is polled
/// as by [`visit::run`], in the caller's thread; the run stops early, with `false`, when it answers `true`.
///
/// # Errors
/// [`TooFewThreads`] if the system has no thread for each part. Nothing has happened to the parts then.
///
/// # Panics
/// As [`visit::run`]; and if a process does, with its message.
pub fn run<C, P, N, M>(
    parts: &mut [Part<N, C, P, M>],
    end: Time,
    interrupt: &mut dyn FnMut() -> bool,
) -> Result<bool, TooFewThreads>
where
    C: Item + Send,
    P: Send,
    N: Process<C, P> + Send,
    M: Mail<P>,
{
    run_on(parts, end, interrupt, |_| thread::Builder::new())
}

/// As [`run`], each part but the first on the thread that `builder` makes for it.
fn run_on<C, P, N, M>(
    parts: &mut [Part<N, C, P, M>],
    end: Time,
    interrupt: &mut dyn FnMut() -> bool,
    builder: impl Fn(usize) -> thread::Builder,
) -> Result<bool, TooFewThreads>
where
    C: Item + Send,
    P: Send,
    N: Process<C, P> + Send,
    M: Mail<P>,
{
    let number = parts.len();
    let crossings = Crossings::between(parts);
    let shared = Shared { crossings, gate: Gate::new(number), threads: Threads::new(number) };
    // No part goes on before all have a thread.
    let all_begin = OnceLock::new();
    let (first, others) = parts.split_first_mut().expect("a model has at least one part");
    let finished = thread::scope(|scope| {
        let _guard = StopOnPanic(&shared.threads);
        let begin = |(place, part)| {
            let (shared, all_begin) = (&shared, &all_begin);
            let work = move || {
                let _guard = StopOnPanic(&shared.threads);
                *all_begin.wait() && drive(part, place + 1, shared, end, || shared.threads.is_stopped())
            };
            builder(place + 1).name(THREAD.to_owned()).spawn_scoped(scope, work)
        };
        let mut begun = Vec::with_capacity(number);
        let keep = |thread: io::Result<_>| thread.map(|thread| begun.push(thread)).err();
        let missing = others.iter_mut().enumerate().map(begin).find_map(keep);
        all_begin.get_or_init(|| missing.is_none());
        if let Some(error) = missing {
            return Err(TooFewThreads { threads: 1 + begun.len(), error });
        }
        let mut finished = drive(first, 0, &shared, end, || {
            let stops = shared.threads.is_stopped() || interrupt();
            if stops {
                shared.threads.stop();
            }
            stops
        });
        for other in begun {
            finished &= other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        Ok(finished)
    });
    shared.crossings.empty(parts);
    finished
}

/// What parts share while they run.
#[derive(Debug)]
struct Shared<C, T> {
    crossings: Crossings<C, T>,
    gate: Gate,
    threads: Threads,
}

/// Takes the processes of one part to `end`; `false` if it stopped early.
fn drive<C: Item, P, N: Process<C, P>, M: Mail<P>>(
    part: &mut Part<N, C, P, M>,
    number: usize,
    shared: &Shared<C, M::Parcel>,
    end: Time,
    interrupt: impl FnMut() -> bool,
) -> bool {
    let Part { processes, streams, schedule, mail } = part;
    let mut frontier = Frontier::new(number, shared, mail);
    let mut plan = Plan::new(processes, streams, schedule, end);
    frontier.begin(streams);
    let mut poll = Poll::new(interrupt);
    let (mut idle_until, mut quiet) = (0, 0);
    while !shared.gate.is_over() {
        let (news, received) = (frontier.news(), frontier.received);
        if let Some(next) = frontier.look_around(VISITS_AHEAD.saturating_mul(plan.cap())) {
            (idle_until, quiet) = (next, 0);
            visit::skip_idle_time(streams, next);
        }
        let bounds = Bounds { end, idle_until };
        let round = plan.round(processes, streams, schedule, bounds, &mut poll, &mut frontier);
        let Some(round) = round.filter(|_| !poll.now()) else { return false };
        frontier.note(round.advanced, &plan);
        if round.events > 0 || frontier.received > received {
            quiet = 0;
            continue;
        }
        quiet += 1;
        if !round.advanced {
            frontier.wait(news, |frontier| frontier.rest(&plan, streams, !round.behind, end));
        } else if quiet >= QUIET_ROUNDS {
            frontier.rest(&plan, streams, !round.behind, end);
        }
    }
    true
}
