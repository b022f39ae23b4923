//! What sets traffic off: applications that give data to TCP, and cell-level sources that need no TCP.

use celltrain_engine::{Instant, Slot, Time, random::Generator};

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
    /// Offers `bytes` bytes to a TCP sender, once, or again every `every`. `u64::MAX` bytes: a greedy source.
    Application { endpoint: u32, bytes: u64, every: Option<Time> },
    /// Sends a frame of cells and draws the time of the next one.
    Cells(CellSource),
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
}

impl CellSource {
    /// How many cells go at once, and where in the frame the first of them stands.
    pub(crate) fn send(&mut self) -> (u16, u16) {
        if matches!(self.pattern, Pattern::Poisson { .. }) {
            return (self.frame, 0);
        }
        let position = self.position;
        self.position = (position + 1) % self.frame;
        (1, position)
    }

    /// The time of what is sent after `now`.
    pub(crate) fn after(&mut self, now: Instant) -> Instant {
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
        }
    }

    /// Prepares for a first cell at `start`.
    pub(crate) fn begin(&mut self, start: Instant) {
        if let Pattern::OnOff { on, exponential, on_until, .. } = &mut self.pattern {
            let length = if *exponential { self.generator.exponential(*on) } else { *on };
            *on_until = start.delayed(length.max(1));
        }
    }
}
