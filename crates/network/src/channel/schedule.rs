//! What a link does at times that the scenario says: periods in which it is dark, and delays that change.

use celltrain_engine::{Time, time::NEVER};

use crate::scenario::{Dark, DelayChanges};

/// When a link is dark, in the time of arrivals behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DarkPeriods {
    from: Time,
    length: Time,
    /// From the beginning of one to that of the next; [`NEVER`] if there is one only.
    every: Time,
}

impl DarkPeriods {
    /// The periods of `dark`, by arrivals a time `delay` after they entered the link.
    pub(crate) fn new(dark: &Dark, delay: Time) -> Self {
        let every = dark.every.map_or(NEVER, |every| every.ps());
        Self { from: dark.from.ps() + delay, length: dark.length.ps(), every }
    }

    /// Whether the link is dark for what arrives at `time`, and until when that stays so.
    pub(super) fn at(&self, time: Time) -> (bool, Time) {
        let Some(since) = time.checked_sub(self.from) else { return (false, self.from) };
        let start = time - since % self.every;
        let end = start + self.length;
        if time < end { (true, end) } else { (false, start.saturating_add(self.every)) }
    }
}

/// How the delay of a link changes, in the time of arrivals behind it when the delay is shortest.
#[derive(Debug, Clone)]
pub(crate) struct VaryingDelay {
    changes: DelayChanges,
    /// What lies on the way when the delay is shortest, with the time that a switch adds behind the link.
    shortest: Time,
    processing: Time,
    /// The delay at the start of the run, beyond the shortest.
    first: Time,
}

impl VaryingDelay {
    /// A link whose delay is `delay` at first and `shortest` at the least, both with the `processing` of the switch behind it.
    pub(crate) fn new(changes: DelayChanges, delay: Time, shortest: Time, processing: Time) -> Self {
        Self { changes, shortest, processing, first: delay - shortest }
    }

    /// How much longer than the shortest delay what would arrive at `time` takes, and until when that stays so.
    pub(super) fn at(&self, time: Time) -> (Time, Time) {
        let entered = time.saturating_sub(self.shortest);
        let place = self.changes.partition_point(|change| change.at.ps() <= entered);
        let until = self.changes.get(place).map_or(NEVER, |next| next.at.ps() + self.shortest);
        let extra = match place.checked_sub(1) {
            None => self.first,
            Some(last) => self.changes[last].delay.0.ps() + self.processing - self.shortest,
        };
        (extra, until)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::quantity::{Delay, Duration};

    use super::*;
    use crate::scenario::DelayChange;

    #[test]
    fn dark_periods_come_again_and_end() {
        let dark = Dark { from: Duration(100), length: Duration(30), every: Some(Duration(50)) };
        let periods = DarkPeriods::new(&dark, 7);
        let at = |time| periods.at(time);
        assert_eq!([at(0), at(106)], [(false, 107), (false, 107)]);
        assert_eq!([at(107), at(136)], [(true, 137), (true, 137)]);
        assert_eq!([at(137), at(156), at(157)], [(false, 157), (false, 157), (true, 187)]);
        let once = DarkPeriods::new(&Dark { every: None, ..dark }, 0);
        assert_eq!([once.at(129), once.at(130)], [(true, 130), (false, NEVER)]);
    }

    #[test]
    fn delays_are_those_at_the_time_of_entry() {
        let change = |at, delay| DelayChange { at: Duration(at), delay: Delay(Duration(delay)) };
        let changes = DelayChanges::from(vec![change(1000, 20), change(2000, 90)]);
        // 50 at first, 20 at the least, and 5 in the switch behind it.
        let delay = VaryingDelay::new(changes, 55, 25, 5);
        assert_eq!(delay.at(25), (30, 1025));
        assert_eq!(delay.at(1024), (30, 1025));
        assert_eq!(delay.at(1025), (0, 2025));
        assert_eq!(delay.at(2025), (70, NEVER));
    }
}
