//! How long a buffer held how much: the distribution of its occupancy over time, P(Q > x).

use celltrain_engine::{Instant, Slot, Span};

use super::histogram::bin_of;

/// The time that an occupancy has spent in each bin. Occupancies below 128 have a bin each; those above share it with what differs
/// by less than 1.6 %. Times are exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    /// By bin, in units of 2^-64 ps, without the time in which nothing was there.
    times: Vec<u128>,
    /// When the occupancy changed last, where its changes are followed.
    since: Instant,
}

impl Levels {
    /// Those of a window that begins at `now`.
    pub(crate) fn from(now: Instant) -> Self {
        Self { times: Vec::new(), since: now }
    }

    /// The occupancy was `level` from the change before until `now`.
    pub(crate) fn hold(&mut self, level: u64, now: Instant) {
        let time = now.since(self.since).bits();
        self.since = now;
        if level > 0 {
            *self.time_in(bin_of(level)) += time;
        }
    }

    /// Counts `count` cells of a FIFO with such a `slot` whose sojourns grow evenly from `first` to `last`.
    ///
    /// A cell that is n slots and r in the FIFO keeps the occupancy at n or above for a slot longer than it would have been
    /// without it, and at n + 1 or above for r longer: the occupancy is the backlog in slots, rounded up.
    pub(crate) fn add_run(&mut self, first: Span, last: Span, count: u64, slot: Slot) {
        let (first, last, gaps) = (first.bits(), last.bits(), u128::from(count.max(2) - 1));
        let step = last.abs_diff(first) / gaps;
        for place in 0..u128::from(count) {
            let grown = if last < first { first - step * place } else { first + step * place };
            self.add_cell(grown, Span::of_slots(slot, 1).bits());
        }
    }

    fn add_cell(&mut self, sojourn: u128, slot: u128) {
        let (whole, rest) = ((sojourn / slot) as u64, sojourn % slot);
        let (bin, next) = (bin_of(whole), bin_of(whole + 1));
        if next == bin {
            *self.time_in(bin) += slot;
        } else {
            *self.time_in(bin) += slot - rest;
            *self.time_in(next) += rest;
        }
    }

    /// Takes out the part after the end of the window of what is still in a FIFO: its last cell leaves after `backlog`.
    pub(crate) fn without_backlog(mut self, backlog: Span, slot: Slot) -> Self {
        let mut ahead = Self::default();
        ahead.add_backlog(backlog, slot);
        for (bin, &time) in ahead.times.iter().enumerate() {
            *self.time_in(bin) -= time;
        }
        self
    }

    /// Counts what is in a FIFO when the window begins: its last cell leaves after `backlog`.
    pub(crate) fn add_backlog(&mut self, backlog: Span, slot: Slot) {
        let slot = Span::of_slots(slot, 1).bits();
        let mut ahead = backlog.bits();
        while ahead > 0 {
            // The occupancy is n until the backlog is n - 1 slots.
            let level = ahead.div_ceil(slot);
            let left = slot * (level - 1);
            *self.time_in(bin_of(level as u64)) += ahead - left;
            ahead = left;
        }
    }

    fn time_in(&mut self, bin: usize) -> &mut u128 {
        if bin >= self.times.len() {
            self.times.resize(bin + 1, 0);
        }
        &mut self.times[bin]
    }

    /// The bins with any time, and that time in picoseconds, rounded so that all together are as long as they were.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (usize, u64)> {
        let rounded = |time: u128| ((time + (1 << 63)) >> 64) as u64;
        let picoseconds = move |sum: &mut u128, &time: &u128| {
            let before = rounded(*sum);
            *sum += time;
            Some(rounded(*sum) - before)
        };
        self.times.iter().scan(0, picoseconds).enumerate().filter(|&(_, time)| time > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot::of_ps(1000);

    fn span(ps: u64) -> Span {
        Instant::start_of(ps).since(Instant::default())
    }

    /// Cells arrive at 0, 400, 1900 and 5000 and leave at 1000, 2000, 3000 and 6000. The occupancy is 1 up to 400, 2 up to 1000, 1
    /// up to 1900, 2 up to 2000, 1 up to 3000, 0, and 1 from 5000 to 6000.
    #[test]
    fn sojourns_tell_what_changes_tell() {
        let mut of_cells = Levels::default();
        for sojourn in [1000, 1600, 1100, 1000] {
            of_cells.add_run(span(sojourn), span(sojourn), 1, SLOT);
        }
        let mut of_changes = Levels::default();
        for (level, until) in [(1, 400), (2, 1000), (1, 1900), (2, 2000), (1, 3000), (0, 5000), (1, 6000)] {
            of_changes.hold(level, Instant::start_of(until));
        }
        assert_eq!(of_cells.times, of_changes.times);
        assert_eq!(of_cells.bins().collect::<Vec<_>>(), [(1, 3300), (2, 700)]);
    }

    #[test]
    fn a_window_may_begin_and_end_with_a_backlog() {
        // Two cells at 0; the window is from 500 to 1200.
        let mut levels = Levels::default();
        levels.add_backlog(span(1500), SLOT);
        let levels = levels.without_backlog(span(800), SLOT);
        assert_eq!(levels.bins().collect::<Vec<_>>(), [(1, 200), (2, 500)]);
    }

    /// Half a picosecond at each of two levels is a picosecond, and no time in which nothing was there.
    #[test]
    fn what_rounding_leaves_is_not_lost() {
        let times = vec![0, 3 << 63, 1 << 63, 1 << 62, 1 << 64];
        let levels = Levels { times, since: Instant::default() };
        assert_eq!(levels.bins().collect::<Vec<_>>(), [(1, 2), (4, 1)]);
        let total: u64 = levels.bins().map(|(_, time)| time).sum();
        assert_eq!(total, 3);
    }

    #[test]
    fn a_run_is_its_cells_beyond_the_width_of_a_bin() {
        let (mut run, mut cells) = (Levels::default(), Levels::default());
        run.add_run(span(100_300), span(399_600), 1000, SLOT);
        (0..1000)
            .map(|n| span(100_300 + n * 299_300 / 999))
            .for_each(|sojourn| cells.add_run(sojourn, sojourn, 1, SLOT));
        let total = |levels: &Levels| levels.times.iter().sum::<u128>() >> 64;
        assert_eq!((total(&run), total(&cells)), (1_000_000, 1_000_000));
        // Rounding to whole picoseconds is all that differs.
        for ((bin, one), (other_bin, other)) in run.bins().zip(cells.bins()) {
            assert!(bin == other_bin && one.abs_diff(other) < 10, "{bin}: {one} {other}");
        }
    }
}
