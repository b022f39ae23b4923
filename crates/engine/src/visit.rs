//! The visiting of processes: who is taken how far, until all have reached the end.

mod agenda;
mod border;
mod calendar;
mod plan;
mod poll;
mod process;
mod schedule;

use self::agenda::{Choice, Limits};
pub(crate) use self::{
    border::Border,
    plan::{Bounds, Plan},
    poll::Poll,
};
pub use self::{poll::WORK_BETWEEN_POLLS, process::Process, schedule::Schedule};
use crate::{
    stream::{Item, Stream, Streams},
    time::{Time, seconds},
};

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
