//! Flows that come one after the other: when, and of what size.

use celltrain_engine::{Time, random::Generator, time::NEVER};

use super::sizes::FlowSize;

/// When flows arrive.
#[derive(Debug, Clone)]
pub(crate) enum ArrivalProcess {
    /// At exponentially distributed distances.
    Poisson { mean: Time },
    /// At one distance.
    Regular { every: Time },
    /// At given times of given sizes, in the order of time.
    Trace { flows: Vec<(Time, u64)>, next: usize },
}

/// The flows that arrive at one sender.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    pub(crate) process: ArrivalProcess,
    /// None with a trace.
    pub(crate) size: Option<FlowSize>,
    pub(crate) times: Generator,
    pub(crate) sizes: Generator,
    /// From then on none arrives.
    pub(crate) stop: Time,
}

impl Arrivals {
    /// When the first flow arrives, if the process starts at `start`.
    pub(crate) fn begin(&mut self, start: Time) -> Time {
        let first = match &mut self.process {
            // The process has no memory: the time to its first arrival is distributed as that between any two.
            ArrivalProcess::Poisson { .. } => self.after(start),
            ArrivalProcess::Regular { .. } => start,
            ArrivalProcess::Trace { flows, .. } => {
                flows.iter_mut().for_each(|flow| flow.0 = flow.0.saturating_add(start));
                flows.first().map_or(NEVER, |flow| flow.0)
            }
        };
        self.unless_stopped(first)
    }

    /// The size of the flow that arrives at `now`, and when the next one does.
    pub(crate) fn arrive(&mut self, now: Time) -> (u64, Time) {
        if let ArrivalProcess::Trace { flows, next } = &mut self.process {
            let bytes = flows[*next].1;
            *next += 1;
            let following = flows.get(*next).map_or(NEVER, |flow| flow.0);
            return (bytes, self.unless_stopped(following));
        }
        let size = self.size.as_ref().expect("flows without a trace have sizes");
        let bytes = size.draw(&mut self.sizes);
        let next = self.after(now);
        (bytes, self.unless_stopped(next))
    }

    fn unless_stopped(&self, arrival: Time) -> Time {
        if arrival >= self.stop { NEVER } else { arrival }
    }

    fn after(&mut self, now: Time) -> Time {
        match self.process {
            ArrivalProcess::Poisson { mean } => now.saturating_add(self.times.exponential(mean)),
            ArrivalProcess::Regular { every } => now.saturating_add(every),
            ArrivalProcess::Trace { .. } => NEVER,
        }
    }
}
