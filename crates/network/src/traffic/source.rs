//! What sets traffic off: applications that give data to TCP, and cell-level sources that need no TCP.

use celltrain_atm::cell::CELL_BITS;
use celltrain_engine::{Instant, Slot, Time, random::Generator, time::NEVER};

use super::{long_range::LongRange, varying::VaryingRate};
use crate::scenario::{self, Traffic};

/// A source of traffic inside a host; it acts at times of its own.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// When it acts next.
    pub(crate) next: Instant,
}

/// What a source does when its time has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Offers `bytes` bytes to a TCP sender, once, or again every `every` before `stop`. `u64::MAX` bytes: a greedy source.
    Application { endpoint: u32, bytes: u64, every: Option<Time>, stop: Time },
    /// Tells a TCP sender that its application stops.
    Stop { endpoint: u32 },
    /// Opens a connection for a flow that arrives, of the pool number `pool` of the host.
    Arrivals { pool: u32 },
    /// One of two parties that write to each other writes: the one at this endpoint.
    Party { endpoint: u32 },
    /// Sends a frame of cells and draws the time of the next one.
    Cells(Box<CellSource>),
}

/// A cell-level source: frames of a fixed number of cells, sent cell by cell or whole at times drawn from a [`Pattern`].
#[derive(Debug)]
pub(crate) struct CellSource {
    /// Which of the host's outgoing VCs it uses.
    pub(crate) outgoing: u32,
    /// Cells a frame.
    pub(crate) frame: u16,
    /// Place in the frame of the next cell.
    pub(crate) position: u16,
    pub(crate) pattern: Pattern,
    pub(crate) generator: Generator,
    /// From then on it begins no frame.
    pub(crate) stop: Time,
}

/// When a cell-level source sends.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// A cell every interval (CBR).
    Constant { interval: Slot },
    /// Whole frames at exponentially distributed intervals (Poisson).
    Poisson { mean: Time },
    /// A cell every interval while on, none while off.
    OnOff { interval: Slot, on: Time, off: Time, exponential: bool, on_until: Instant },
    /// A cell whenever a rate that varies has come to the bits of one.
    Varying(VaryingRate),
}

impl CellSource {
    /// A source of what `traffic` says, which TCP does not carry, from `start` to `stop`; it sends on the host's VC `outgoing`.
    pub(crate) fn new(
        traffic: &Traffic,
        outgoing: u32,
        generator: Generator,
        (start, stop): (Instant, Time),
    ) -> Self {
        let interval = |rate: scenario::CellRate| Slot::of_bits(CELL_BITS, rate.0);
        let (frame, pattern) = match traffic {
            Traffic::Cbr(cbr) => (cbr.frame, Pattern::Constant { interval: interval(cbr.rate) }),
            Traffic::Poisson(poisson) => {
                let mean = interval(poisson.rate).ps() * u64::from(poisson.frame);
                (poisson.frame, Pattern::Poisson { mean })
            }
            Traffic::OnOff(on_off) => {
                let pattern = Pattern::OnOff {
                    interval: interval(on_off.peak),
                    on: on_off.on.ps(),
                    off: on_off.off.ps(),
                    exponential: on_off.distribution == scenario::Distribution::Exponential,
                    on_until: start,
                };
                (on_off.frame, pattern)
            }
            Traffic::LongRange(form) => {
                let steps = LongRange::new(&form.rate, generator.clone()).expect("the scenario was checked");
                (form.frame, Pattern::Varying(VaryingRate::new(steps, start.ps())))
            }
            Traffic::Greedy(_)
            | Traffic::Finite(_)
            | Traffic::Bursty(_)
            | Traffic::ShortFlows(_)
            | Traffic::RequestResponse(_) => {
                unreachable!("TCP carries this traffic")
            }
        };
        Self { outgoing, frame, position: 0, pattern, generator, stop }
    }

    /// How many cells go at once, and where in the frame the first of them stands.
    pub(crate) fn send(&mut self) -> (u16, u16) {
        if matches!(self.pattern, Pattern::Poisson { .. }) {
            return (self.frame, 0);
        }
        let position = self.position;
        self.position = (position + 1) % self.frame;
        (1, position)
    }

    /// The time of what is sent after `now`; [`NEVER`] once the source has stopped.
    #[inline(always)]
    pub(crate) fn after(&mut self, now: Instant) -> Instant {
        let next = self.next(now);
        self.unless_stopped(next)
    }

    /// A frame that has begun is finished.
    #[inline(always)]
    fn unless_stopped(&self, next: Instant) -> Instant {
        if next.ps() >= self.stop && self.position == 0 { Instant::at(NEVER) } else { next }
    }

    #[inline(always)]
    fn next(&mut self, now: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::Constant { interval } => now.plus(*interval),
            Pattern::Poisson { mean } => now.delayed(self.generator.exponential(*mean)),
            Pattern::OnOff { interval, on, off, exponential, on_until } => {
                let mut next = now.plus(*interval);
                while next >= *on_until {
                    let mut draw = |mean| if *exponential { self.generator.exponential(mean) } else { mean };
                    next = on_until.delayed(draw(*off)).max(next);
                    *on_until = next.delayed(draw(*on).max(1));
                }
                next
            }
            Pattern::Varying(rate) => Instant::at(rate.after(now.ps())),
        }
    }

    /// Starts the source at `start`; returns when it sends for the first time.
    pub(crate) fn begin(&mut self, start: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::OnOff { on, exponential, on_until, .. } => {
                let length = if *exponential { self.generator.exponential(*on) } else { *on };
                *on_until = start.delayed(length.max(1));
                start
            }
            // The process has no memory: the time to its first arrival is distributed as that between any two.
            Pattern::Poisson { .. } => self.after(start),
            // The scenario's check has it start before it stops.
            Pattern::Constant { .. } | Pattern::Varying(_) => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{random::Randomness, time::MILLISECOND};

    use super::*;

    /// The exponential distribution has no memory, so that an observer who starts at any time waits as long for the first
    /// arrival as others do between two (L. Kleinrock, "Queueing Systems", volume 1, 1975, section 2.4).
    #[test]
    fn a_poisson_source_starts_as_it_goes_on() {
        const MEAN: Time = MILLISECOND;
        let (start, count) = (Instant::at(7 * MILLISECOND), 20_000);
        let first = |replication: u64| {
            let generator = Randomness { seed: 1, replication }.named("test");
            let pattern = Pattern::Poisson { mean: MEAN };
            let mut source =
                CellSource { outgoing: 0, frame: 1, position: 0, pattern, generator, stop: NEVER };
            source.begin(start).since(start).ps()
        };
        let waits: Vec<_> = (0..count).map(first).collect();
        let mean = waits.iter().sum::<Time>() as f64 / count as f64 / MEAN as f64;
        let longer = waits.iter().filter(|&&wait| wait > MEAN).count() as f64 / count as f64;
        // Four standard deviations of 20 000 draws.
        assert!((mean - 1.0).abs() < 0.029, "{mean}");
        assert!((longer - libm::exp(-1.0)).abs() < 0.014, "{longer}");
    }
}
