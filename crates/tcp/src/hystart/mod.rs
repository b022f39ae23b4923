//! What watches the first slow start, to end it before its overshoot.

mod rounds;
mod trains;

use celltrain_engine::{Time, time::MILLISECOND};

use self::{rounds::Rounds, trains::Trains};
use crate::params::{HystartVariant, Params};

/// Bounds of the increase of the round trip that counts, and its share of the round trip that it is compared with (RFC 9406 section 4.3:
/// MIN_RTT_THRESH, MAX_RTT_THRESH, MIN_RTT_DIVISOR). Linux has the same.
const INCREASE_MIN: Time = 4 * MILLISECOND;
const INCREASE_MAX: Time = 16 * MILLISECOND;
const INCREASE_DIVISOR: Time = 8;
/// Samples that a round must have given (N_RTT_SAMPLE).
const SAMPLES_MIN: u32 = 8;

/// The round trip at which one that was `shortest` has clearly grown.
fn grown(shortest: Time) -> Time {
    shortest + (shortest / INCREASE_DIVISOR).clamp(INCREASE_MIN, INCREASE_MAX)
}

/// What watches the first slow start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HyStart {
    /// HyStart++.
    Rounds(Rounds),
    /// That of Linux.
    Trains(Trains),
}

/// What of its connection it looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// The byte after the highest ever sent.
    pub(crate) sent: u64,
    /// Congestion window, in bytes.
    pub(crate) cwnd: u64,
    /// Whether that is below the slow-start threshold.
    pub(crate) slow_start: bool,
}

/// What an ACK does to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// It grows by so many bytes, and slow start goes on.
    By(u64),
    /// It grows by so many bytes, and slow start is over.
    Last(u64),
}

impl HyStart {
    /// The one of these parameters, if slow start is watched.
    pub(crate) fn new(params: &Params) -> Option<Self> {
        params.hystart.then(|| match params.hystart_variant {
            HystartVariant::Rfc9406 => Self::Rounds(Rounds::default()),
            HystartVariant::Linux => Self::Trains(Trains::new(params)),
        })
    }

    /// Takes the measurement of a round trip.
    pub(crate) fn on_round_trip(&mut self, now: Time, rtt: Time, seen: Seen) {
        match self {
            Self::Rounds(rounds) => rounds.on_round_trip(rtt),
            Self::Trains(trains) => trains.on_round_trip(now, rtt, seen),
        }
    }

    /// Whether slow start is to end at once, also where the window does not grow.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Trains(trains) if trains.is_over())
    }

    /// What an ACK up to `una` does, where `sent` bytes have been sent and plain slow start would grow by `growth`.
    pub(crate) fn on_ack(&mut self, una: u64, sent: u64, growth: u64) -> Growth {
        match self {
            Self::Rounds(rounds) => rounds.on_ack(una, sent, growth),
            Self::Trains(trains) if trains.is_over() => Growth::Last(0),
            Self::Trains(_) => Growth::By(growth),
        }
    }
}
