//! The floor that the simulator's speed is held against: a bare merge of exact arrival times in the network of `espd`.
//!
//! Fifteen hosts send frames of twelve cells into the parking lot. Every port on the way takes each cell when the one
//! before has left, to the exact time, and passes it on; the trunks merge their inputs in time order. That is all: no
//! policies, no frames that break, no TCP, no counters, nothing known of a cell but its time and its VC. It is what any
//! exact simulator of this network has to do at the least.

use celltrain_engine::{Instant, Slot, Time, quantity::BitRate, time::MILLISECOND};

/// Cells a frame.
const FRAME: u32 = 12;
/// Sources in a group.
const GROUP: usize = 5;
/// Trunks.
const TRUNKS: usize = 3;

/// A host that sends a frame every period, all at once, and its network interface.
#[derive(Clone, Copy)]
struct Source {
    /// When the next cell leaves the interface.
    next: Instant,
    left: u32,
    next_frame: Instant,
}

/// A cell on a trunk.
#[derive(Clone, Copy)]
struct Cell {
    at: Instant,
    vc: u32,
}

/// A trunk: its hosts, and where it stands in what the trunk before it sent.
struct Trunk {
    first_vc: u32,
    sources: [Source; GROUP],
    departure: Instant,
    arrivals: Vec<Cell>,
    taken: usize,
}

/// Simulates the bare network for `duration`; returns the cell-hops and a checksum of the last departures.
#[must_use]
pub(crate) fn bare_merge(duration: Time) -> (u64, u64) {
    let slot = Slot::of_bits(424, BitRate(155_520_000));
    // Fifteen sources fill the last trunk to 98 %.
    let period = Slot::of_ps(slot.ps() * u64::from(FRAME) * 15 * 100 / 98);
    let mut trunks: Vec<Trunk> = (0..TRUNKS).map(|trunk| Trunk::new(trunk, slot, period)).collect();
    let mut exits = [Instant::default(); TRUNKS * GROUP];
    let (mut hops, mut until) = (0, 0);
    while until < duration {
        until = (until + MILLISECOND).min(duration);
        for index in 0..TRUNKS {
            let mut sent = match trunks.get_mut(index + 1) {
                Some(next) => std::mem::take(&mut next.arrivals),
                None => Vec::new(),
            };
            let (cells, from_hosts) = trunks[index].advance(until, slot, period, &mut sent);
            hops += cells + from_hosts;
            match trunks.get_mut(index + 1) {
                Some(next) => next.arrivals = sent,
                None => {
                    hops += cells;
                    for cell in sent {
                        let exit = &mut exits[cell.vc as usize];
                        *exit = cell.at.max(*exit).plus(slot);
                    }
                }
            }
        }
    }
    (hops, exits.iter().fold(0, |sum, exit| sum.wrapping_add(exit.ps())))
}

impl Trunk {
    fn new(trunk: usize, slot: Slot, period: Slot) -> Self {
        let source = |index: usize| {
            let phase = Instant::at(period.ps() / 15 * (trunk * GROUP + index) as u64 * 7 % period.ps());
            Source { next: phase.plus(slot), left: FRAME, next_frame: phase.plus(period) }
        };
        Self {
            first_vc: (trunk * GROUP) as u32,
            sources: std::array::from_fn(source),
            departure: Instant::default(),
            arrivals: Vec::new(),
            taken: 0,
        }
    }

    /// Takes every cell that arrives before `until`; returns how many there were and how many came from the hosts.
    fn advance(&mut self, until: Time, slot: Slot, period: Slot, sent: &mut Vec<Cell>) -> (u64, u64) {
        let (mut cells, mut from_hosts) = (0, 0);
        loop {
            let mut first = GROUP;
            let mut at = self.arrivals.get(self.taken).map_or(Instant::at(Time::MAX), |cell| cell.at);
            for (index, source) in self.sources.iter().enumerate() {
                if source.next < at {
                    (first, at) = (index, source.next);
                }
            }
            if at.ps() >= until {
                break;
            }
            let vc = match self.sources.get_mut(first) {
                Some(source) => {
                    from_hosts += 1;
                    source.advance(slot, period);
                    self.first_vc + first as u32
                }
                None => {
                    self.taken += 1;
                    self.arrivals[self.taken - 1].vc
                }
            };
            cells += 1;
            self.departure = self.departure.max(at).plus(slot);
            sent.push(Cell { at: self.departure, vc });
        }
        if self.taken == self.arrivals.len() {
            self.arrivals.clear();
            self.taken = 0;
        }
        (cells, from_hosts)
    }
}

impl Source {
    /// The interface sends the next cell a slot after this one, or after its frame has come.
    #[inline]
    fn advance(&mut self, slot: Slot, period: Slot) {
        self.left -= 1;
        if self.left > 0 {
            self.next = self.next.plus(slot);
        } else {
            let start = self.next.max(self.next_frame);
            *self = Self { next: start.plus(slot), left: FRAME, next_frame: self.next_frame.plus(period) };
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
