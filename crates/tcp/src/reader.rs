//! An application that reads at a rate of its own, and the window that this leaves to advertise.

use celltrain_engine::{Time, time::SECOND};

use crate::params::Params;

/// The application and the buffer that it reads from.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    /// In bit/s.
    rate: u64,
    buffer: u64,
    shift: u8,
    /// The least by which it is worth opening the window: a segment, or half of the buffer, rounded up, if that is less (RFC 9293 section
    /// 3.8.6.2.2), in whole units of the window field.
    step: u64,
    /// Bytes read until `at`.
    read: u64,
    at: Time,
    /// The right edge of the window advertised last.
    edge: u64,
}

impl Reader {
    /// The reader of these parameters, if the application does not read at once.
    pub(crate) fn new(params: &Params) -> Option<Self> {
        let shift = params.window_scale.unwrap_or(0);
        let step = u64::from(params.mss).min(params.receive_window.div_ceil(2));
        // A step that is part of a unit would be rounded away.
        let step = step.next_multiple_of(1 << shift);
        let buffer = params.receive_window;
        params.read_rate.map(|rate| Self { rate, buffer, shift, step, read: 0, at: 0, edge: buffer })
    }

    /// Reads until `now` from the `delivered` bytes that have been there since the last call.
    pub(crate) fn advance(&mut self, now: Time, delivered: u64) {
        let unit = u128::from(8 * SECOND);
        let bytes = u128::from(now - self.at) * u128::from(self.rate) / unit;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.read.saturating_add(bytes) >= delivered {
            (self.read, self.at) = (delivered, now);
        } else {
            self.read += bytes;
            // A byte that has been read in part is not lost.
            self.at += (u128::from(bytes) * unit / u128::from(self.rate)) as Time;
        }
    }

    /// The window to advertise for what is expected `next`: its right edge never moves back, and moves on by whole steps.
    pub(crate) fn window(&mut self, now: Time, next: u64) -> u64 {
        self.advance(now, next);
        let edge = self.read + self.buffer;
        if edge >= self.edge + self.step {
            self.edge = edge;
        }
        self.edge.saturating_sub(next) >> self.shift << self.shift
    }

    /// The right edge of the window advertised last, before the window was rounded: never further left than one that was advertised.
    pub(crate) const fn edge(&self) -> u64 {
        self.edge
    }

    /// Whether data up to `end` leave less than a step of the window: the sender is to know at once.
    pub(crate) const fn closed_by(&self, end: u64) -> bool {
        self.edge.saturating_sub(end) < self.step
    }

    /// When it has read the first `end` bytes, all of which are there. Times before [`advance`](Self::advance) was called last are not
    /// known: then it is a time up to that.
    pub(crate) fn reaches(&self, end: u64) -> Time {
        let bits = u128::from(end.saturating_sub(self.read)) * 8;
        let wait = (bits * u128::from(SECOND)).div_ceil(u128::from(self.rate));
        self.at.saturating_add(Time::try_from(wait).unwrap_or(Time::MAX))
    }

    /// When the window opens by a step, if it has less than one left.
    pub(crate) fn opens(&self, window: u64) -> Option<Time> {
        (window < self.step).then(|| self.reaches((self.edge + self.step).saturating_sub(self.buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(rate: u64) -> Reader {
        Reader { rate, buffer: 1 << 30, shift: 0, step: 1000, read: 0, at: 0, edge: 1 << 30 }
    }

    /// The first picosecond at which the last byte has been read.
    #[test]
    fn the_time_of_the_last_byte_is_the_first_at_which_it_has_been_read() {
        for rate in [7, 999_983, 1_000_000_007] {
            let done = reader(rate).reaches(5000);
            for (now, read) in [(done - 1, 4999), (done, 5000)] {
                let mut reader = reader(rate);
                reader.advance(now, 6000);
                assert_eq!(reader.read, read, "{rate} bit/s, {now} ps");
            }
        }
    }

    /// A full buffer of 1 GiB at 1 bit/s takes longer than a run can be.
    #[test]
    fn a_time_beyond_the_clock_is_never() {
        assert_eq!(reader(1).reaches(1 << 30), Time::MAX);
    }

    /// What a rate without reason reads in a long idle time is more than 64 bits count: all that is there, not the remainder.
    #[test]
    fn a_rate_beyond_all_reason_reads_all() {
        // 2^64 bytes in 128 s.
        let mut reader = reader(1 << 60);
        reader.advance(128 * SECOND, 6000);
        assert_eq!((reader.read, reader.at), (6000, 128 * SECOND));
    }

    /// RFC 9293 section 3.8.6.2.2: the window opens by half of the buffer at least, which is no less in whole units of the window field.
    #[test]
    fn a_window_opens_by_whole_units() {
        let spec =
            "mss = '40000 B'\nreceive-window = '65537 B'\nwindow-scaling = true\nread-rate = '8 Mbit/s'";
        let params = toml::from_str::<crate::StackSpec>(spec).unwrap().resolve().unwrap();
        let reader = Reader::new(&params).expect("it has a rate");
        assert_eq!((reader.shift, reader.step), (1, 32_770));
    }
}
