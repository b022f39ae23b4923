//! The scoreboard of RACK: every segment in flight, with the time of its last transmission (RFC 8985 section 5.2).

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    ops::Range,
};

use celltrain_engine::Time;

use crate::ranges::Ranges;

/// A segment sent and not cumulatively acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    /// The byte after its last.
    pub(super) end: u64,
    len: u32,
    /// When it was sent last (Segment.xmit_ts).
    pub(super) at: Time,
    pub(super) retransmitted: bool,
    /// It is taken for lost and has not been sent again.
    pub(super) lost: bool,
    /// The receiver has reported it.
    sacked: bool,
}

impl Sent {
    const fn new(end: u64, len: u32, at: Time) -> Self {
        Self { end, len, at, retransmitted: false, lost: false, sacked: false }
    }

    /// Its first byte.
    pub(super) const fn start(&self) -> u64 {
        self.end - self.len()
    }

    const fn len(&self) -> u64 {
        self.len as u64
    }

    const fn is_in_flight(&self) -> bool {
        !self.sacked && !self.lost
    }

    const fn in_pipe(&self) -> u64 {
        if self.is_in_flight() { self.len() } else { 0 }
    }
}

/// When a segment was sent, and its number among all that ever were on the board: the order of transmissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Transmission {
    at: Time,
    number: u64,
}

/// All of them, in the order of the data.
///
/// Every ACK of a recovery calls for a search for losses, and the window may have very many segments. So segments are also listed in the
/// order of transmission, in which losses are found one after another: each transmission is looked at when it is overtaken, and when it
/// is overdue. What is listed may have been acknowledged, reported, lost or sent again since.
#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    segments: VecDeque<Sent>,
    /// The number of the first one.
    first: u64,
    /// What the receiver has reported above the cumulative ACK: blocks come again with every ACK.
    reported: Ranges,
    /// Bytes in the network: neither reported nor taken for lost.
    pipe: u64,
    sacked: u32,
    lost: u32,
    /// Segments that were sent more than once.
    again: u32,
    /// In a box, as it is needed for losses only.
    lists: Option<Box<Lists>>,
}

/// What searches for losses find their segments in.
#[derive(Debug, Clone, Default)]
struct Lists {
    /// The numbers of those that were taken for lost.
    losses: BinaryHeap<Reverse<u64>>,
    /// What was sent again and has not been overtaken, in the order of transmission.
    resent: VecDeque<Transmission>,
    /// No segment from this number on that was sent once has been overtaken.
    not_overtaken: u64,
    /// What has been overtaken: something that was sent later has arrived. In the order of transmission.
    overtaken: VecDeque<Transmission>,
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

    /// Segments of which a retransmission is under way, but for one that ends at `probe`.
    pub(super) fn sent_again(&self, probe: Option<u64>) -> u32 {
        if self.again == 0 {
            return 0;
        }
        let again = |sent: &&Sent| sent.retransmitted && sent.is_in_flight() && Some(sent.end) != probe;
        self.segments.iter().filter(again).count() as u32
    }

    // RFC 8985 §4: MUST store the time of the last transmission of each segment
    /// Notes that `bytes` leave: new data behind all others, or a segment of the board again.
    pub(super) fn transmit(&mut self, now: Time, bytes: &Range<u64>) {
        let again = self.segments.back().is_some_and(|last| last.end > bytes.start);
        let index = again.then(|| self.place_of(bytes.start));
        let Some(index) = index else {
            let len = u32::try_from(bytes.end - bytes.start).expect("a segment is shorter than 4 GiB");
            return self.push(now, bytes.start, len);
        };
        let sent = &mut self.segments[index];
        self.pipe += sent.len() - sent.in_pipe();
        self.lost -= u32::from(sent.lost);
        self.again += u32::from(!sent.retransmitted);
        (sent.at, sent.retransmitted, sent.lost) = (now, true, false);
        let transmission = Transmission { at: now, number: self.first + index as u64 };
        // Behind those that were sent before it: behind all, unless several are sent at once.
        let resent = &mut self.lists.get_or_insert_default().resent;
        let later = resent.iter().rev().take_while(|&&other| other > transmission).count();
        resent.insert(resent.len() - later, transmission);
    }

    /// Makes room for the segments of a run where none is under way: a vector would make room for as many again, for each of very many
    /// senders.
    #[inline]
    pub(super) fn make_room(&mut self, segments: usize) {
        if self.segments.is_empty() {
            self.segments.reserve_exact(segments);
        }
    }

    /// Notes that `len` bytes from `start` on leave, which are new data behind all others.
    #[inline]
    pub(super) fn push(&mut self, now: Time, start: u64, len: u32) {
        self.pipe += u64::from(len);
        self.segments.push_back(Sent::new(start + u64::from(len), len, now));
    }

    /// As [`Board::acknowledge`] of a board that [is untouched](Self::is_untouched).
    #[inline(always)]
    pub(super) fn acknowledge_untouched(&mut self, ack: u64) -> Option<Arrived> {
        self.reported.remove_below(ack);
        let (first, first_end) = self.segments.front().map(|sent| (sent.start(), sent.end))?;
        let mut last = None;
        while let Some(sent) = self.segments.front()
            && sent.end <= ack
        {
            last = Some((sent.end, sent.len, sent.at));
            self.segments.pop_front();
            self.first += 1;
        }
        let (end, len, at) = last?;
        self.pipe -= end - first;
        Some(Arrived { first_end, last: Sent::new(end, len, at), bytes: end - first })
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
            if !sent.sacked {
                bytes += sent.len();
                delivered(sent);
            }
            self.segments.pop_front();
            self.first += 1;
        }
        if let Some(lists) = &mut self.lists {
            if self.again == 0 {
                lists.resent.clear();
            }
            if self.lost == 0 {
                lists.losses.clear();
            }
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
            let first = self.place_of(news.start);
            for sent in self.segments.range_mut(first..).take_while(|sent| sent.start() < news.end) {
                if sent.sacked || sent.start() < block.start || block.end < sent.end {
                    continue;
                }
                self.pipe -= sent.in_pipe();
                self.lost -= u32::from(sent.lost);
                self.sacked += 1;
                (sent.sacked, sent.lost) = (true, false);
                bytes += sent.len();
                delivered(sent);
            }
        }
        self.reported.insert(block.clone());
        bytes
    }

    /// Takes for lost each segment in flight for which no time is `remaining`, and hands it to `on_lost`, in the order of the data. Returns
    /// the longest time that remains for another, if any does. It is `None` for one that was sent later than all that have arrived, as
    /// all are that were sent after that one.
    pub(super) fn detect(
        &mut self,
        remaining: impl Fn(&Sent) -> Option<Time>,
        mut on_lost: impl FnMut(&Sent),
    ) -> Option<Time> {
        let mut lists = self.lists.take().unwrap_or_default();
        let longest = self.detect_in(&mut lists, remaining, &mut on_lost);
        self.lists = Some(lists);
        longest
    }

    fn detect_in(
        &mut self,
        lists: &mut Lists,
        remaining: impl Fn(&Sent) -> Option<Time>,
        on_lost: &mut impl FnMut(&Sent),
    ) -> Option<Time> {
        self.overtake(lists, &remaining);
        let mut overdue = Vec::new();
        while let Some(&first) = lists.overtaken.front() {
            match self.in_flight(first).map(&remaining) {
                Some(None | Some(1..)) => break,
                Some(Some(0)) => overdue.push(first.number),
                None => {}
            }
            lists.overtaken.pop_front();
        }
        // One may have been sent again twice at once.
        overdue.sort_unstable();
        overdue.dedup();
        for number in overdue {
            on_lost(&self.segments[(number - self.first) as usize]);
            self.lose(lists, number);
        }
        loop {
            // The last of them has the longest time left.
            match self.in_flight(*lists.overtaken.back()?) {
                Some(sent) => return remaining(sent),
                None => lists.overtaken.pop_back(),
            };
        }
    }

    /// Lists as overtaken what is in flight and was sent before something that has arrived: whatever has a time that remains.
    fn overtake(&self, lists: &mut Lists, remaining: &impl Fn(&Sent) -> Option<Time>) {
        loop {
            let (original, resent) = (self.next_original(lists), self.next_resent(lists));
            let first = match (original, resent) {
                (Some(original), Some(resent)) => original.min(resent),
                (original, resent) => match original.or(resent) {
                    Some(only) => only,
                    None => return,
                },
            };
            if self.in_flight(first).and_then(remaining).is_none() {
                return;
            }
            if original == Some(first) {
                lists.not_overtaken += 1;
            } else {
                lists.resent.pop_front();
            }
            lists.overtaken.push_back(first);
        }
    }

    /// The first segment not overtaken of those in flight that were sent once. New data leave in their order.
    fn next_original(&self, lists: &mut Lists) -> Option<Transmission> {
        lists.not_overtaken = lists.not_overtaken.max(self.first);
        loop {
            let sent = self.segments.get((lists.not_overtaken - self.first) as usize)?;
            if sent.is_in_flight() && !sent.retransmitted {
                return Some(Transmission { at: sent.at, number: lists.not_overtaken });
            }
            lists.not_overtaken += 1;
        }
    }

    /// The first transmission not overtaken of those of segments that were sent again.
    fn next_resent(&self, lists: &mut Lists) -> Option<Transmission> {
        loop {
            let first = *lists.resent.front()?;
            if self.in_flight(first).is_some() {
                return Some(first);
            }
            lists.resent.pop_front();
        }
    }

    /// The segment of a transmission, if that was its last and is in flight.
    fn in_flight(&self, transmission: Transmission) -> Option<&Sent> {
        let index = transmission.number.checked_sub(self.first)?;
        self.segments.get(index as usize).filter(|sent| sent.at == transmission.at && sent.is_in_flight())
    }

    /// The place of the first segment that ends behind `at`. As a rule all are equally long, and it is where that says.
    fn place_of(&self, at: u64) -> usize {
        let place = |first: &Sent| at.saturating_sub(first.start()) / first.len();
        let guess = self.segments.front().map_or(0, place) as usize;
        let found = |sent: &Sent| sent.start() <= at && at < sent.end;
        if self.segments.get(guess).is_some_and(found) {
            return guess;
        }
        self.segments.partition_point(|sent| sent.end <= at)
    }

    /// Takes for lost each segment in flight for which `is_lost` holds.
    pub(super) fn mark_lost(&mut self, mut is_lost: impl FnMut(&Sent) -> bool) {
        let mut lists = self.lists.take().unwrap_or_default();
        for index in 0..self.segments.len() {
            let sent = &self.segments[index];
            if sent.is_in_flight() && is_lost(sent) {
                self.lose(&mut lists, self.first + index as u64);
            }
        }
        self.lists = Some(lists);
    }

    /// The segment with that number, which is in flight, is taken for lost.
    fn lose(&mut self, lists: &mut Lists, number: u64) {
        let sent = &mut self.segments[(number - self.first) as usize];
        sent.lost = true;
        self.pipe -= sent.len();
        self.lost += 1;
        lists.losses.push(Reverse(number));
    }

    /// Takes for in flight again whatever was taken for lost and has not been sent again.
    pub(super) fn forgive(&mut self) {
        for sent in self.segments.iter_mut().filter(|sent| sent.lost) {
            sent.lost = false;
            self.pipe += sent.len();
        }
        self.lost = 0;
        let Some(lists) = &mut self.lists else { return };
        lists.losses.clear();
        // What is in flight again is in no list.
        (lists.not_overtaken, lists.overtaken) = (self.first, VecDeque::new());
        let resent =
            (self.first..).zip(&self.segments).filter(|(_, sent)| sent.retransmitted && !sent.sacked);
        lists.resent = resent.map(|(number, sent)| Transmission { at: sent.at, number }).collect();
        lists.resent.make_contiguous().sort_unstable();
    }

    /// The first segment that waits to be sent again.
    pub(super) fn first_lost(&mut self) -> Option<Range<u64>> {
        if self.lost == 0 {
            return None;
        }
        let losses = &mut self.lists.as_mut()?.losses;
        loop {
            let Reverse(number) = *losses.peek()?;
            let sent = number.checked_sub(self.first).and_then(|index| self.segments.get(index as usize));
            if let Some(sent) = sent.filter(|sent| sent.lost) {
                return Some(sent.start()..sent.end);
            }
            losses.pop();
        }
    }

    /// The first segment.
    pub(super) fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The last segment.
    pub(super) fn last(&self) -> Option<Range<u64>> {
        self.segments.back().map(|sent| sent.start()..sent.end)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use celltrain_engine::random::Randomness;

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
        assert_eq!(board.acknowledge(70, |sent| delivered.push((sent.start(), sent.retransmitted))), 40);
        assert_eq!(delivered, [(0, true), (10, false), (20, false), (60, false)]);
        assert_eq!((board.pipe(), board.sacked(), board.lost()), (30, 0, 0));
    }

    // RFC 8985 section 6.2 step 5 looks at all segments not yet acknowledged.
    /// A search finds what a look at every segment finds, whatever was sent again, reported, acknowledged or forgiven before.
    #[test]
    fn searches_find_all_that_are_lost() {
        let mut draw = Randomness { seed: 1, replication: 0 }.named("scoreboard");
        let (mut found, mut waited) = (0, 0);
        for _ in 0..2000 {
            let (mut board, mut now, mut newest) = (board(), 10, (0, 0));
            for _ in 0..30 {
                now += draw.below(3);
                let (start, len) = (10 * draw.below(10), 10 * draw.below(4));
                match draw.below(9) {
                    0 => _ = board.acknowledge(start.saturating_sub(40), |_| ()),
                    1 => board.mark_lost(|sent| sent.start() % 20 == start % 20),
                    2 | 3 => _ = board.first_lost().map(|lost| board.transmit(now, &lost)),
                    // As a probe is.
                    4 => _ = board.last().map(|last| board.transmit(now, &last)),
                    5 if start == 0 => board.forgive(),
                    6 => newest = newest.max((now - draw.below(10).min(now), 10 * draw.below(10))),
                    _ => _ = board.report(&(start..start + len), |_| ()),
                }
                let lost = board.segments.iter().find(|sent| sent.lost).map(|sent| sent.start()..sent.end);
                assert_eq!(board.first_lost(), lost);
                let wait = draw.below(12);
                let remaining = |sent: &Sent| {
                    (newest > (sent.at, sent.end)).then(|| (sent.at + wait).saturating_sub(now))
                };
                let open: Vec<_> =
                    board.segments.iter().filter(|sent| sent.is_in_flight()).cloned().collect();
                let overdue = open.iter().filter(|&sent| remaining(sent) == Some(0)).cloned();
                let longest = open.iter().filter_map(remaining).filter(|&time| time > 0).max();
                let (expected, mut lost): (Vec<_>, Vec<Sent>) = (overdue.collect(), Vec::new());
                assert_eq!(board.detect(remaining, |sent| lost.push(sent.clone())), longest);
                assert_eq!(lost, expected);
                found += lost.len();
                waited += usize::from(longest.is_some());
                let count = |is: fn(&Sent) -> bool| board.segments.iter().filter(|sent| is(sent)).count();
                assert_eq!(count(|sent| sent.lost), board.lost() as usize);
            }
        }
        assert!(found > 1000 && waited > 1000, "{found} lost, {waited} waits");
    }

    #[test]
    fn what_was_sent_again_is_counted_while_it_is_under_way() {
        let mut board = board();
        let first = board.first().unwrap().clone();
        assert_eq!(board.sent_again(None), 0);
        board.mark_lost(|sent| sent.end == first.end);
        assert_eq!(board.sent_again(None), 0);
        let lost = board.first_lost().unwrap();
        board.transmit(9, &lost);
        assert_eq!((board.sent_again(None), board.sent_again(Some(lost.end))), (1, 0));
        board.mark_lost(|sent| sent.end == first.end);
        assert_eq!(board.sent_again(None), 0);
    }

    #[test]
    fn what_is_forgiven_is_in_flight_again() {
        let mut board = board();
        board.mark_lost(|sent| sent.start() < 50);
        board.transmit(20, &(0..10));
        board.forgive();
        assert_eq!((board.pipe(), board.lost(), board.first_lost()), (100, 0, None));
    }

    /// A recovery in which every other segment is lost, and the reordering window is open: each search looks at what is new.
    #[test]
    fn searches_of_a_recovery_look_at_few_segments() {
        const SEGMENTS: u64 = 1000;
        let mut board = Board::default();
        (0..SEGMENTS).for_each(|number| board.transmit(number, &(10 * number..10 * number + 10)));
        let (looks, mut lost, mut again) = (Cell::new(0), 0, 0);
        for number in (1..SEGMENTS).step_by(2) {
            board.report(&(10 * number..10 * number + 10), |_| ());
            let remaining = |sent: &Sent| {
                looks.set(looks.get() + 1);
                (sent.at < number).then(|| (sent.at + 200).saturating_sub(number))
            };
            board.detect(remaining, |_| lost += 1);
            if number % 3 == 0
                && let Some(first) = board.first_lost()
            {
                board.transmit(SEGMENTS + number, &first);
                again += 1;
            }
        }
        assert_eq!((lost, again), (400, 134));
        assert!(looks.get() <= 4 * SEGMENTS, "{} looks", looks.get());
    }
}
