//! What the parts of a run share (`crates/engine/src/parts`), under every order of the steps of their threads.
//!
//! The sources are the engine's own; `sync` has the model checker's threads and atomics in place of those of the system. A sleep lasts
//! until the thread is woken here, so that a wake-up that is lost is a deadlock.

#![allow(dead_code, unreachable_pub, reason = "the engine uses the rest")]
#![cfg(test)]

#[path = "../../../crates/engine/src/parts/border.rs"]
mod border;
#[path = "../../../crates/engine/src/parts/crossing.rs"]
mod crossing;
#[path = "../../../crates/engine/src/parts/gate.rs"]
mod gate;
#[path = "../../../crates/engine/src/parts/threads.rs"]
mod threads;

mod models;

use border::Crossings;
use gate::Gate;
use threads::Threads;
use visit::Process;

/// How the contents of items reach another part: as the engine's own.
trait Mail<P>: Send {
    type Parcel: Send;

    fn collect(&mut self, process: usize, contents: &mut P, post: &mut dyn FnMut(usize, Self::Parcel));

    fn deliver(contents: &mut P, parcel: Self::Parcel);
}

#[derive(Debug)]
struct Part<N, C, P, M> {
    processes: Vec<N>,
    streams: stream::Streams<C, P>,
    mail: M,
}

#[derive(Debug)]
struct Shared<C, T> {
    crossings: Crossings<C, T>,
    gate: Gate,
    threads: Threads,
}

impl<C: stream::Item, T> Shared<C, T> {
    fn between<P, N: Process<C, P>, M: Mail<P, Parcel = T>>(parts: &[Part<N, C, P, M>]) -> Self {
        let number = parts.len();
        let crossings = Crossings::between(parts);
        Self { crossings, gate: Gate::new(number), threads: Threads::new(number) }
    }
}

mod sync {
    use std::time::Duration;

    pub(super) use loom::{
        hint::spin_loop,
        sync::{
            Mutex, MutexGuard,
            atomic::{AtomicBool, AtomicU64, Ordering},
        },
        thread::{Thread, current},
    };

    pub(super) fn park(_: Duration) {
        loom::thread::park();
    }

    pub(super) fn in_one_order() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

mod time {
    pub(crate) type Time = u64;
    pub(crate) const NEVER: Time = Time::MAX;
}

/// Processes that are their inputs and outputs.
mod visit {
    use crate::{
        stream::{Item, Stream, StreamId, Streams},
        time::Time,
    };

    #[derive(Debug, Default)]
    pub(crate) struct Ends {
        pub(crate) inputs: Vec<StreamId>,
        pub(crate) outputs: Vec<StreamId>,
    }

    pub(crate) trait Process<C, P> {
        fn inputs(&self) -> &[StreamId];
        fn outputs(&self) -> &[StreamId];
    }

    impl<C, P> Process<C, P> for Ends {
        fn inputs(&self) -> &[StreamId] {
            &self.inputs
        }

        fn outputs(&self) -> &[StreamId] {
            &self.outputs
        }
    }

    pub(crate) trait Border<C, P> {
        const BRINGS_MORE: bool;
        fn receive(&mut self, process: usize, streams: &mut Streams<C, P>);
        fn begin_work(&mut self);
        fn send(&mut self, process: usize, visited: bool, streams: &mut Streams<C, P>);
        fn limit(&self) -> Time;
    }

    /// A part without events of its own.
    #[derive(Debug)]
    pub(crate) struct Plan;

    impl Plan {
        pub(crate) fn next_event<C: Item>(&self, _: &[Stream<C>], end: Time) -> Time {
            end
        }

        pub(crate) fn floor(&self) -> Time {
            0
        }
    }

    pub(crate) fn assert_progress(progress: bool, at: Time) {
        assert!(progress, "stuck at {at}");
    }
}

/// Streams of numbers: one end of a stream is a list and a horizon.
mod stream {
    use std::ops::{Deref, DerefMut};

    use crate::time::Time;

    pub(crate) type StreamId = usize;

    pub(crate) trait Item {}

    impl Item for u64 {}

    pub(crate) type Train<C> = C;

    #[derive(Debug, Default)]
    pub(crate) struct Stream<C> {
        pub(crate) trains: Vec<C>,
        pub(crate) horizon: Time,
    }

    impl<C> Stream<C> {
        pub(crate) fn is_empty(&self) -> bool {
            self.trains.is_empty()
        }

        pub(crate) fn horizon(&self) -> Time {
            self.horizon
        }

        pub(crate) fn advance_horizon(&mut self, horizon: Time) {
            self.horizon = self.horizon.max(horizon);
        }

        pub(crate) fn hand_over(&mut self, trains: &mut Vec<C>) -> usize {
            let count = self.trains.len();
            trains.append(&mut self.trains);
            count
        }

        pub(crate) fn take_over(&mut self, trains: &mut Vec<C>) -> usize {
            let count = trains.len();
            self.trains.append(trains);
            count
        }
    }

    #[derive(Debug)]
    pub(crate) struct Streams<C, P> {
        pub(crate) streams: Vec<Stream<C>>,
        pub(crate) contents: P,
    }

    impl<C, P> Deref for Streams<C, P> {
        type Target = [Stream<C>];

        fn deref(&self) -> &[Stream<C>] {
            &self.streams
        }
    }

    impl<C, P> DerefMut for Streams<C, P> {
        fn deref_mut(&mut self) -> &mut [Stream<C>] {
            &mut self.streams
        }
    }
}
