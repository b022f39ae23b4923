//! Events of a host at other instants of their picoseconds, for tests.
//!
//! A host handles the events of one picosecond in an order of its own, whatever their instants are. Two of them seldom share a picosecond, so
//! that tests do not meet what depends on it, unless instants are moved.

use celltrain_engine::Instant;

/// What else than its picosecond an event is moved by, so that those of one picosecond part.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(debug_assertions), expect(dead_code, reason = "builds that move no events do not ask"))]
pub(super) enum Of {
    /// What arrives on a VC.
    Arrival(u32),
    Routed,
    Processed,
    Timer(u32),
    RateTimer(u32),
    Source(u32),
}

/// Moves each event of a host within its picosecond, or none. By no more than what the event is: so a run does not depend on the order in
/// which the network's processes are visited. Builds without debug assertions know nothing of it, and move none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shift {
    #[cfg(debug_assertions)]
    key: Option<u64>,
}

impl Shift {
    /// One for each `key`.
    #[cfg(debug_assertions)]
    pub(super) fn of_key(key: u64) -> Self {
        Self { key: Some(key) }
    }

    #[cfg(not(debug_assertions))]
    pub(super) fn of_key(_: u64) -> Self {
        Self {}
    }

    /// When the event `of` that is due at `at` happens.
    #[cfg(debug_assertions)]
    #[inline(always)]
    pub(super) fn moved(self, at: Instant, of: Of) -> Instant {
        let Some(key) = self.key else { return at };
        let (kind, number) = match of {
            Of::Arrival(vc) => (1, vc),
            Of::Routed => (2, 0),
            Of::Processed => (3, 0),
            Of::Timer(timer) => (4, timer),
            Of::RateTimer(timer) => (5, timer),
            Of::Source(source) => (6, source),
        };
        let event = key ^ at.ps().rotate_left(20) ^ kind << 32 ^ u64::from(number);
        // Both halves of a product into which all bits of the event go.
        let mixed = [event, event.rotate_left(32)].into_iter().fold(key, |hash, word| {
            let product = u128::from(hash ^ word | 1) * 0x9e37_79b9_7f4a_7c15;
            (product >> 64) as u64 ^ product as u64
        });
        Instant::of_bits(u128::from(at.ps()) << 64 | u128::from(mixed))
    }

    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn moved(self, at: Instant, _: Of) -> Instant {
        at
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_picosecond_part_within_it_and_always_alike() {
        let events = [Of::Arrival(3), Of::Arrival(4), Of::Routed, Of::Processed, Of::Timer(3), Of::Source(3)];
        let shift = Shift::of_key(1);
        let mut moved = Vec::new();
        for of in events {
            let instant = shift.moved(Instant::at(1_000_000), of);
            assert_eq!(instant.ps(), 1_000_000);
            assert_eq!(instant, shift.moved(Instant::start_of(1_000_000), of));
            assert!(!moved.contains(&instant));
            moved.push(instant);
        }
        assert_eq!(Shift::default().moved(Instant::at(7), Of::Routed), Instant::at(7));
    }
}
