//! The floor that the simulator's speed is held against: a bare merge of exact arrival times in the network of `espd`.
//!
//! Fifteen hosts send frames of twelve cells into the parking lot. Every trunk merges its inputs in time order, takes each
//! cell when the one before has left, and passes it on; that is all. No policies, no frames that break, no TCP, no
//! counters, no records of cells beyond their times: what any exact simulator of this network has to do at the least.

use celltrain_engine::{Instant, Slot, Time, quantity::BitRate, time::MILLISECOND};

/// Cells a frame.
const FRAME: u32 = 12;
/// Sources in a group.
const GROUP: usize = 5;
/// Trunks.
const TRUNKS: usize = 3;

/// A host that sends a frame every period.
#[derive(Clone, Copy)]
struct Source {
    next: Instant,
    left: u32,
    next_frame: Instant,
}

/// A trunk: its hosts, and where it stands in what the trunk before it sent.
struct Trunk {
    sources: [Source; GROUP],
    departure: Instant,
    arrivals: Vec<Instant>,
    taken: usize,
}

/// Simulates the bare network for `duration`; returns the cell-hops and a checksum of the last departures.
#[must_use]
pub fn bare_merge(duration: Time) -> (u64, u64) {
    let slot = Slot::of_bits(424, BitRate(155_520_000));
    // Fifteen sources fill the last trunk to 98 %.
    let period = Slot::of_ps(slot.ps() * u64::from(FRAME) * 15 * 100 / 98);
    let mut trunks: Vec<Trunk> = (0..TRUNKS).map(|trunk| Trunk::new(trunk, period)).collect();
    let (mut hops, mut checksum) = (0, 0u64);
    let mut until = 0;
    while until < duration {
        until = (until + MILLISECOND).min(duration);
        for index in 0..TRUNKS {
            let mut departures = match trunks.get_mut(index + 1) {
                Some(next) => std::mem::take(&mut next.arrivals),
                None => Vec::new(),
            };
            let (cells, from_hosts) = trunks[index].advance(until, slot, period, &mut departures);
            // The hops from the hosts into their first switch merge nothing; nor do those to the destinations.
            hops += cells + from_hosts;
            match trunks.get_mut(index + 1) {
                Some(next) => next.arrivals = departures,
                None => {
                    hops += cells;
                    checksum = departures.iter().fold(checksum, |sum, at| sum.wrapping_add(at.plus(slot).ps()));
                }
            }
        }
    }
    (hops, checksum)
}

impl Trunk {
    fn new(trunk: usize, period: Slot) -> Self {
        let source = |index: usize| {
            let phase = period.ps() / 15 * (trunk * GROUP + index) as u64 * 7 % period.ps();
            Source { next: Instant::at(phase), left: FRAME, next_frame: Instant::at(phase).plus(period) }
        };
        Self {
            sources: std::array::from_fn(source),
            departure: Instant::default(),
            arrivals: Vec::new(),
            taken: 0,
        }
    }

    /// Takes every cell that arrives before `until`; returns how many there were and how many came from the hosts.
    fn advance(&mut self, until: Time, slot: Slot, period: Slot, departures: &mut Vec<Instant>) -> (u64, u64) {
        let (mut cells, mut from_hosts) = (0, 0);
        loop {
            let mut first = GROUP;
            let mut at = self.arrivals.get(self.taken).copied().unwrap_or(Instant::at(Time::MAX));
            for (index, source) in self.sources.iter().enumerate() {
                if source.next < at {
                    (first, at) = (index, source.next);
                }
            }
            if at.ps() >= until {
                break;
            }
            match self.sources.get_mut(first) {
                Some(source) => {
                    from_hosts += 1;
                    source.advance(slot, period);
                }
                None => self.taken += 1,
            }
            cells += 1;
            self.departure = self.departure.max(at).plus(slot);
            departures.push(self.departure);
        }
        if self.taken == self.arrivals.len() {
            self.arrivals.clear();
            self.taken = 0;
        }
        (cells, from_hosts)
    }
}

impl Source {
    #[inline]
    fn advance(&mut self, slot: Slot, period: Slot) {
        self.left -= 1;
        if self.left > 0 {
            self.next = self.next.plus(slot);
        } else {
            *self = Self { next: self.next_frame, left: FRAME, next_frame: self.next_frame.plus(period) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_makes_its_hops() {
        // A group's frame of 12 cells makes 5, 4 or 3 hops; 15 sources send one each period of 183.7 frame times.
        let (hops, checksum) = bare_merge(100 * MILLISECOND);
        let frames = 100e9 / (2_726_337.4 * 12.0 * 15.0 * 100.0 / 98.0);
        let expected = frames * 12.0 * 5.0 * (5.0 + 4.0 + 3.0);
        assert!((hops as f64 / expected - 1.0).abs() < 0.01, "{hops} hops, expected {expected}");
        assert_eq!(bare_merge(100 * MILLISECOND), (hops, checksum));
    }
}
