//! The rate of a link, which may change in the course of a run.

use celltrain_engine::{Time, quantity::BitRate, time::NEVER};

use crate::{
    port::Line,
    scenario::{Link, RateChange, RateChanges},
    slots::Slots,
};

/// The changes of a link's rate that are still to come.
///
/// What begins to be transmitted at the time of a change or later has the new rate; what is being transmitted keeps its own. Departures
/// after a change are multiples of the new slot from the first start on, exact as those before it.
#[derive(Debug, Clone)]
pub(crate) struct RateSchedule {
    /// When the next one comes.
    next: Time,
    changes: RateChanges,
    /// How many have come.
    done: usize,
    /// The highest rate at any time.
    fastest: BitRate,
    slots: Slots,
}

impl RateSchedule {
    /// That of a link at the start of the run, in a network of these slots.
    pub(crate) fn of(link: &Link, slots: &Slots) -> Self {
        let changes = link.rate_changes.clone();
        let next = changes.first().map_or(NEVER, |change| change.at.ps());
        Self { next, changes, done: 0, fastest: link.fastest(), slots: slots.clone() }
    }

    /// When the next change comes.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The highest rate at any time.
    pub(crate) fn fastest(&self) -> BitRate {
        self.fastest
    }

    /// `line` at another of its rates.
    pub(crate) fn line_at(&self, line: Line, rate: BitRate) -> Line {
        line.at(rate, &self.slots)
    }

    /// The next change, if it has come at `now`.
    #[inline]
    pub(crate) fn step(&mut self, now: Time) -> Option<RateChange> {
        if now < self.next { None } else { self.take() }
    }

    #[cold]
    fn take(&mut self) -> Option<RateChange> {
        let change = self.changes.get(self.done).copied();
        self.done += 1;
        self.next = self.changes.get(self.done).map_or(NEVER, |change| change.at.ps());
        change
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::quantity::Duration;

    use super::*;

    #[test]
    fn changes_come_one_after_the_other_at_their_times() {
        let change = |at, rate| RateChange { at: Duration(at), rate: BitRate(rate) };
        let changes = RateChanges::from(vec![change(10, 5000), change(20, 2000)]);
        let mut schedule =
            RateSchedule { next: 10, changes, done: 0, fastest: BitRate(5000), slots: Slots::alone() };
        let mut rates = |now| std::iter::from_fn(|| schedule.step(now)).map(|change| change.rate.0).collect();
        let found: [Vec<u64>; 4] = [rates(9), rates(10), rates(10), rates(1000)];
        assert_eq!(found, [vec![], vec![5000], vec![], vec![2000]]);
    }
}
