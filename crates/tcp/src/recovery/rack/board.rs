//! The scoreboard of RACK: every segment in flight, with the time of its last transmission (RFC 8985 section 5.2).

use std::{collections::VecDeque, ops::Range};

use celltrain_engine::Time;

use crate::ranges::Ranges;

/// A segment sent and not cumulatively acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When it was sent last (Segment.xmit_ts).
    pub(super) at: Time,
    pub(super) retransmitted: bool,
    /// It is taken for lost and has not been sent again.
    pub(super) lost: bool,
    /// The receiver has reported it.
    sacked: bool,
    /// So many segments from this one on are known to be reported, if it is.
    run: u32,
}

impl Sent {
    const fn is_in_flight(&self) -> bool {
        !self.sacked && !self.lost
    }

    const fn in_pipe(&self) -> u64 {
        if self.is_in_flight() { self.end - self.start } else { 0 }
    }
}

/// All of them, in the order of the data.
///
/// A search for losses looks neither at what it has found before nor at what was sent again later than all that has arrived: in a
/// recovery there may be as many of both as the window has segments, and every ACK calls for a search.
#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    segments: VecDeque<Sent>,
    /// Before this one every segment was reported, lost or sent again.
    first_open: usize,
    /// When segments were sent again, and where they start, in that order; some have since been acknowledged, reported, lost or sent
    /// once more.
    resent: VecDeque<(Time, u64)>,
    /// What the receiver has reported above the cumulative ACK: blocks come again with every ACK.
    reported: Ranges,
    /// Bytes in the network: neither reported nor taken for lost.
    pipe: u64,
    sacked: u32,
    lost: u32,
    /// Segments that were sent more than once.
    again: u32,
    /// Before this one no segment is lost, if any is.
    first_lost: usize,
}

/// Segments that have left a board of which no segment was reported, lost or sent again.
pub(super) struct Arrived {
    /// Where the first of them ends.
    pub(super) first_end: u64,
    pub(super) last: Sent,
    pub(super) bytes: u64,
}

impl Board {
    /// Whether no segment was reported, lost or sent again.
    #[inline]
    pub(super) const fn is_untouched(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.again == 0
    }

    pub(super) const fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Segments that the receiver has reported above the cumulative ACK.
    pub(super) const fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments that wait to be sent again.
    pub(super) const fn lost(&self) -> u32 {
        self.lost
    }

    // RFC 8985 §4: MUST store the time of the last transmission of each segment
    /// Notes that `bytes` leave: new data behind all others, or a segment of the board again.
    pub(super) fn transmit(&mut self, now: Time, bytes: &Range<u64>) {
        let again = self.segments.back().is_some_and(|last| last.end > bytes.start);
        let index = again.then(|| self.segments.partition_point(|sent| sent.end <= bytes.start));
        match index.and_then(|index| self.segments.get_mut(index)) {
            Some(sent) => {
                self.pipe += sent.end - sent.start - sent.in_pipe();
                self.lost -= u32::from(sent.lost);
                self.again += u32::from(!sent.retransmitted);
                (sent.at, sent.retransmitted, sent.lost) = (now, true, false);
                self.resent.push_back((now, sent.start));
            }
            None => self.push(now, bytes),
        }
    }

    /// Notes that `bytes` leave, which are new data behind all others.
    #[inline]
    pub(super) fn push(&mut self, now: Time, bytes: &Range<u64>) {
        self.pipe += bytes.end - bytes.start;
        self.segments.push_back(Sent {
            start: bytes.start,
            end: bytes.end,
            at: now,
            retransmitted: false,
            lost: false,
            sacked: false,
            run: 1,
        });
    }

    /// As [`Board::acknowledge`] of a board that [is untouched](Self::is_untouched).
    #[inline]
    pub(super) fn acknowledge_untouched(&mut self, ack: u64) -> Option<Arrived> {
        self.reported.remove_below(ack);
        (self.first_lost, self.first_open) = (0, 0);
        let &Sent { start: first, end: first_end, .. } = self.segments.front()?;
        let mut last = None;
        while let Some(&Sent { start, end, at, .. }) = self.segments.front()
            && end <= ack
        {
            last = Some((start, end, at));
            self.segments.pop_front();
        }
        let (start, end, at) = last?;
        let last = Sent { start, end, at, retransmitted: false, lost: false, sacked: false, run: 1 };
        self.pipe -= end - first;
        Some(Arrived { first_end, last, bytes: end - first })
    }

    /// Removes what lies below `ack`, and hands each segment that had not been reported before to `delivered`; returns their
    /// bytes.
    pub(super) fn acknowledge(&mut self, ack: u64, mut delivered: impl FnMut(&Sent)) -> u64 {
        let mut bytes = 0;
        self.reported.remove_below(ack);
        while let Some(sent) = self.segments.front()
            && sent.end <= ack
        {
            self.pipe -= sent.in_pipe();
            self.sacked -= u32::from(sent.sacked);
            self.lost -= u32::from(sent.lost);
            self.again -= u32::from(sent.retransmitted);
            self.first_lost = self.first_lost.saturating_sub(1);
            self.first_open = self.first_open.saturating_sub(1);
            if !sent.sacked {
                bytes += sent.end - sent.start;
                delivered(sent);
            }
            self.segments.pop_front();
        }
        if self.lost == 0 {
            self.first_lost = 0;
        }
        if self.again == 0 {
            self.resent.clear();
        }
        bytes
    }

    /// Marks the segments within `block` as reported, and hands those that are new to `delivered`; returns their bytes.
    pub(super) fn report(&mut self, block: &Range<u64>, mut delivered: impl FnMut(&Sent)) -> u64 {
        if self.reported.holds(block) {
            return 0;
        }
        let mut bytes = 0;
        for news in self.reported.gaps(block) {
            let first = self.segments.partition_point(|sent| sent.end <= news.start);
            for sent in self.segments.range_mut(first..).take_while(|sent| sent.start < news.end) {
                if sent.sacked || sent.start < block.start || block.end < sent.end {
                    continue;
                }
                self.pipe -= sent.in_pipe();
                self.lost -= u32::from(sent.lost);
                self.sacked += 1;
                (sent.sacked, sent.lost, sent.run) = (true, false, 1);
                bytes += sent.end - sent.start;
                delivered(sent);
            }
        }
        self.reported.insert(block.clone());
        bytes
    }

    /// Takes for lost each segment in flight for which `is_lost` holds; it is `None` for one that was sent later than all that have
    /// arrived, of which the last one was sent at `newest`.
    pub(super) fn detect(&mut self, newest: Time, mut is_lost: impl FnMut(&Sent) -> Option<bool>) {
        if self.resent.front().is_some_and(|&(at, _)| at <= newest) {
            self.detect_resent(newest, &mut is_lost);
        }
        self.skip_settled();
        let mut index = self.first_open;
        while let Some(sent) = self.segments.get(index) {
            if sent.sacked {
                index = self.end_of_run(index);
                continue;
            }
            if !sent.lost && !sent.retransmitted {
                // New data leave in their order.
                let Some(lost) = is_lost(sent) else { break };
                if lost {
                    self.lose(index);
                }
            }
            index += 1;
        }
    }

    /// As [`Board::detect`], of what was sent again.
    #[inline(never)]
    fn detect_resent(&mut self, newest: Time, is_lost: &mut impl FnMut(&Sent) -> Option<bool>) {
        let mut next = 0;
        while let Some(&(at, start)) = self.resent.get(next)
            && at <= newest
        {
            let index = self.segments.partition_point(|sent| sent.start < start);
            let sent = self.segments.get(index).filter(|sent| sent.start == start && sent.at == at);
            let lost = sent.filter(|sent| sent.is_in_flight()).map(|sent| is_lost(sent) == Some(true));
            if lost == Some(true) {
                self.lose(index);
            }
            // It is kept if it may yet be lost.
            if lost != Some(false) && next == 0 {
                self.resent.pop_front();
            } else {
                next += 1;
            }
        }
    }

    /// Takes for lost each segment in flight for which `is_lost` holds.
    pub(super) fn mark_lost(&mut self, mut is_lost: impl FnMut(&Sent) -> bool) {
        for index in 0..self.segments.len() {
            if self.segments[index].is_in_flight() && is_lost(&self.segments[index]) {
                self.lose(index);
            }
        }
    }

    /// The segment there, which is in flight, is taken for lost.
    fn lose(&mut self, index: usize) {
        let sent = &mut self.segments[index];
        sent.lost = true;
        self.pipe -= sent.end - sent.start;
        self.first_lost = if self.lost == 0 { index } else { index.min(self.first_lost) };
        self.lost += 1;
    }

    /// Where the run of reported segments that begins at segment `first` ends. Notes how long it is.
    fn end_of_run(&mut self, first: usize) -> usize {
        let mut end = first;
        while let Some(sent) = self.segments.get(end)
            && sent.sacked
        {
            end += sent.run as usize;
        }
        self.segments[first].run = (end - first) as u32;
        end
    }

    /// Moves `first_open` to the first segment that was sent once and is in flight.
    fn skip_settled(&mut self) {
        while let Some(sent) = self.segments.get(self.first_open)
            && (sent.sacked || sent.lost || sent.retransmitted)
        {
            self.first_open += if sent.sacked { sent.run as usize } else { 1 };
        }
    }

    /// Takes for in flight again whatever was taken for lost and has not been sent again.
    pub(super) fn forgive(&mut self) {
        for sent in self.segments.iter_mut().filter(|sent| sent.lost) {
            sent.lost = false;
            self.pipe += sent.end - sent.start;
        }
        self.lost = 0;
        self.first_open = 0;
        let resent = self.segments.iter().filter(|sent| sent.retransmitted && !sent.sacked);
        self.resent = resent.map(|sent| (sent.at, sent.start)).collect();
        self.resent.make_contiguous().sort_unstable();
    }

    /// The first segment that waits to be sent again.
    pub(super) fn first_lost(&mut self) -> Option<Range<u64>> {
        if self.lost == 0 {
            return None;
        }
        loop {
            let sent = self.segments.get(self.first_lost)?;
            if sent.lost {
                return Some(sent.start..sent.end);
            }
            self.first_lost += if sent.sacked { sent.run as usize } else { 1 };
        }
    }

    /// The first segment.
    pub(super) fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The last segment.
    pub(super) fn last(&self) -> Option<Range<u64>> {
        self.segments.back().map(|sent| sent.start..sent.end)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{random::Randomness, time::NEVER};

    use super::*;

    /// Ten segments of ten bytes, sent at times 0 to 9.
    fn board() -> Board {
        let mut board = Board::default();
        for number in 0..10 {
            board.transmit(number, &(10 * number..10 * number + 10));
        }
        board
    }

    #[test]
    fn pipe_is_what_is_neither_reported_nor_lost() {
        let mut board = board();
        assert_eq!(board.pipe(), 100);
        assert_eq!(board.report(&(30..50), |_| ()), 20);
        assert_eq!(board.report(&(30..60), |_| ()), 10, "only what is new");
        assert_eq!(board.report(&(75..85), |_| ()), 0, "segments count as a whole");
        assert_eq!(board.clone().report(&(30..90), |_| ()), 30, "blocks may grow together");
        board.mark_lost(|sent| sent.at < 3);
        assert_eq!((board.pipe(), board.sacked(), board.lost()), (40, 3, 3));
        assert_eq!(board.first_lost(), Some(0..10));
        board.transmit(20, &(0..10));
        assert_eq!((board.pipe(), board.lost(), board.first_lost()), (50, 2, Some(10..20)));
        let mut delivered = Vec::new();
        assert_eq!(board.acknowledge(70, |sent| delivered.push((sent.start, sent.retransmitted))), 40);
        assert_eq!(delivered, [(0, true), (10, false), (20, false), (60, false)]);
        assert_eq!((board.pipe(), board.sacked(), board.lost()), (30, 0, 0));
    }

    /// Searches skip what is reported, however its blocks came and whatever has left the board since.
    #[test]
    fn searches_visit_all_that_may_be_lost() {
        let mut draw = Randomness { seed: 1, replication: 0 }.named("scoreboard");
        for _ in 0..200 {
            let mut board = board();
            for step in 0..12 {
                // Some are sent at once.
                let now = 20 + step / 3;
                let (start, len) = (10 * draw.below(10), 10 * draw.below(4));
                match draw.below(8) {
                    0 => _ = board.acknowledge(start.saturating_sub(40), |_| ()),
                    1 => board.mark_lost(|sent| sent.start % 20 == start % 20),
                    2 | 3 => _ = board.first_lost().map(|lost| board.transmit(now, &lost)),
                    // As a probe is.
                    4 => _ = board.last().map(|last| board.transmit(now, &last)),
                    5 if start == 0 => board.forgive(),
                    _ => _ = board.report(&(start..start + len), |_| ()),
                }
                let open = |sent: &&Sent| !sent.lost && board.reported.containing(sent.start).is_none();
                let expected: Vec<_> = board.segments.iter().filter(open).map(|sent| sent.start).collect();
                let lost = board.segments.iter().find(|sent| sent.lost).map(|sent| sent.start..sent.end);
                assert_eq!(board.first_lost(), lost);
                let mut visited = Vec::new();
                board.detect(NEVER, |sent| {
                    visited.push(sent.start);
                    Some(false)
                });
                visited.sort_unstable();
                // One may be sent again twice at once.
                visited.dedup();
                assert_eq!(visited, expected);
            }
        }
    }

    #[test]
    fn what_is_forgiven_is_in_flight_again() {
        let mut board = board();
        board.mark_lost(|sent| sent.start < 50);
        board.transmit(20, &(0..10));
        board.forgive();
        assert_eq!((board.pipe(), board.lost(), board.first_lost()), (100, 0, None));
    }

    /// RFC 8985 section 6.2 step 5 may look at all segments for every ACK; what was found before need not be looked at again.
    #[test]
    fn searches_of_a_recovery_look_at_few_segments() {
        const SEGMENTS: u64 = 1000;
        let mut board = Board::default();
        (0..SEGMENTS).for_each(|number| board.transmit(number, &(10 * number..10 * number + 10)));
        let (mut looks, mut lost) = (0, 0);
        for number in (1..SEGMENTS).step_by(2) {
            board.report(&(10 * number..10 * number + 10), |_| ());
            board.detect(number, |sent| {
                looks += 1;
                (sent.at < number).then_some(true)
            });
            if number % 3 == 0 {
                let first = board.first_lost().expect("every other segment is lost");
                board.transmit(SEGMENTS + number, &first);
                lost += 1;
            }
        }
        assert_eq!((lost, u64::from(board.lost()) + lost), (167, SEGMENTS / 2));
        assert!(looks <= 3 * SEGMENTS, "{looks}");
    }
}
