//! The receiving end of a connection.

mod marks;
mod predicted;

use std::{ops::Range, sync::Arc};

use celltrain_engine::{
    Time,
    time::{MILLISECOND, NEVER},
};

use self::marks::Marks;
use crate::{
    params::Params,
    quick_ack::QuickAcks,
    ranges::Ranges,
    reader::Reader,
    rto::Clock,
    segment::{
        Ecn, Flags, Outlet, SACK_BLOCKS_MAX, SACK_BLOCKS_MAX_WITH_TIMESTAMPS, SackBlocks, Segment,
        SynOptions, Timestamps, WINDOW_FIELD_MAX,
    },
    stats::ReceiverStats,
};

/// The finest tick of a timestamp clock (RFC 7323 section 5.4).
const PAWS_TICK: Time = MILLISECOND;

/// The receiving end of a connection, with an application that reads at once or at a rate.
///
/// Like the [`crate::Sender`] it has no clock and no network, and its owner takes out segments after each
/// event. An acknowledgement that is due is sent once: poll after every segment, or duplicate ACKs are lost.
#[derive(Debug, Clone)]
pub struct Receiver {
    params: Arc<Params>,
    clock: Clock,
    /// The window it advertises.
    window: u64,
    /// The application, if it does not read at once.
    reader: Option<Box<Reader>>,
    /// When ACKs go at once, if not only as RFC 5681 says.
    quick: Option<Box<QuickAcks>>,
    /// Whether there is a slow reader, each mark is echoed or counted, or some ACKs are quick: most receivers need not look further.
    special: bool,
    /// The same but for quick ACKs.
    more_than_quick: bool,
    /// RCV.NXT: the next byte expected in order.
    next: u64,
    /// The number of the FIN, if that has arrived.
    fin: Option<u64>,
    /// What arrived above it.
    out_of_order: Ranges,
    /// A byte of each of the last blocks received out of order, the newest first.
    recent: Vec<u64>,
    /// What has been received again and not been reported yet (RFC 2883).
    duplicate: Option<Range<u64>>,
    /// Bytes delivered since the last ACK.
    unacknowledged: u64,
    ack_due: bool,
    syn_ack_due: bool,
    /// When a delayed ACK must go; [`NEVER`] while none waits.
    deadline: Time,
    /// TS.Recent (RFC 7323 section 4.3).
    echo: Time,
    /// Last.ACK.sent (RFC 7323 section 4.3).
    last_ack_sent: u64,
    /// What its pure ACKs and its SYN|ACK have.
    control_ecn: Ecn,
    marks: Marks,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that has received nothing.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self::sharing(&Arc::new(*params))
    }

    /// As [`Receiver::new`], with parameters that many may share.
    #[must_use]
    pub fn sharing(params: &Arc<Params>) -> Self {
        let marks = Marks::new(params);
        let more_than_quick = params.read_rate.is_some() || marks.are_of_each();
        Self {
            params: Arc::clone(params),
            clock: Clock::new(params),
            window: params.advertised_window(),
            reader: Reader::new(params).map(Box::new),
            quick: QuickAcks::new(params),
            special: more_than_quick || QuickAcks::wanted_by(params),
            more_than_quick,
            next: 0,
            fin: None,
            out_of_order: Ranges::default(),
            recent: Vec::new(),
            duplicate: None,
            unacknowledged: 0,
            ack_due: false,
            syn_ack_due: false,
            deadline: NEVER,
            echo: 0,
            last_ack_sent: 0,
            control_ecn: params.control_ecn(params.ecn),
            marks,
            stats: ReceiverStats::default(),
        }
    }

    /// Takes a segment. Poll afterwards.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if self.is_outdated(segment) {
            return self.refuse(segment);
        }
        self.note_timestamps(segment);
        if !self.predicts(segment) {
            self.on_other(now, segment);
        } else if self.special {
            self.take_special(now, segment);
        } else {
            self.take_predicted(now, segment, false);
        }
    }

    /// Any other segment.
    #[inline(never)]
    fn on_other(&mut self, now: Time, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.syn_ack_due = true;
            self.marks.agree(&self.params, segment.flags);
            self.control_ecn = self.params.control_ecn(self.marks.are_told());
        }
        if segment.end() > segment.seq {
            self.on_data(now, segment);
        }
    }

    // RFC 7323 §5.3: MUST treat a segment with a timestamp below TS.Recent as not acceptable (by more than a tick, and not pure ACKs)
    /// Whether a segment with data is older than one already accepted, as its timestamp says (PAWS): an original that comes behind its
    /// spurious retransmission, or a copy from long ago. The clock is exact here unless it ticks. Those of RFC 7323 section 5.4
    /// tick every millisecond at the most, and Linux takes what is older by one tick.
    #[inline]
    pub(crate) fn is_outdated(&self, segment: &Segment) -> bool {
        segment.timestamps.is_some_and(|timestamps| timestamps.value + PAWS_TICK < self.echo)
            && self.is_by_ticks(segment)
    }

    /// As [`is_outdated`](Self::is_outdated), of a segment whose timestamp is older by a millisecond at least.
    #[cold]
    fn is_by_ticks(&self, segment: &Segment) -> bool {
        let value = segment.timestamps.map_or(NEVER, |timestamps| timestamps.value);
        segment.end() > segment.seq && value + self.params.tick < self.echo
    }

    /// Drops a segment that is not acceptable, and acknowledges at once. Bytes already received are reported as duplicates (RFC 2883).
    #[cold]
    fn refuse(&mut self, segment: &Segment) {
        self.stats.segments += 1;
        self.stats.outdated_segments += 1;
        self.stats.duplicate_bytes += u64::from(segment.len);
        if segment.seq < self.next {
            self.on_duplicate(segment.seq..segment.end().min(self.next));
        }
        self.acknowledge();
    }

    // RFC 7323 §5.3: MUST reject a segment outside the window before its timestamp is recorded (rules R2 and R3; not the end of what the last ACK answered)
    /// Takes the timestamp of a segment, if the next ACK is to echo it. A segment that reaches beyond the window is refused before that, and so is
    /// one that ends before Last.ACK.sent. One that ends just there lies before the window as well, but its timestamp counts, as in BSD and
    /// Linux: it was sent again as the last ACK was lost or late, and the next ACK answers it. With the earlier timestamp the round trip would
    /// begin when it was first sent.
    #[inline]
    pub(crate) fn note_timestamps(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps {
            // The echo is of the segment that the next ACK answers, the earliest if there are several.
            let echoes = segment.seq <= self.last_ack_sent && timestamps.value >= self.echo;
            let end = segment.end();
            if echoes && end >= self.last_ack_sent && end <= self.edge() {
                self.echo = timestamps.value;
            }
        }
    }

    /// Tells the receiver that its timer may have expired; it does nothing before
    /// [`next_timeout`](Self::next_timeout). Poll afterwards.
    pub fn on_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.acknowledge();
            if let Some(quick) = &mut self.quick
                && self.unacknowledged > 0
            {
                quick.on_expiry();
            }
        }
    }

    // RFC 5681 §4.2: MUST NOT generate more than one ACK per segment
    /// The next segment to send, if one is due.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_segment`](Self::poll_segment), but writes the segment where it is needed, and returns whether there is one.
    #[inline]
    pub fn poll_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        let due = self.owes();
        if self.syn_ack_due {
            *segment = self.syn_ack(now);
        } else if self.ack_due {
            self.ack(now, segment);
        }
        due
    }

    /// Sends what is due now, as polling would.
    #[inline(always)]
    pub fn send_all(&mut self, now: Time, outlet: &mut impl Outlet) {
        if self.syn_ack_due {
            let syn_ack = self.syn_ack(now);
            outlet.send(|segment| *segment = syn_ack);
        }
        if self.ack_due {
            outlet.send(|segment| self.ack(now, segment));
        }
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if an ACK is delayed.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.deadline).filter(|&deadline| deadline != NEVER)
    }

    /// As [`next_timeout`](Self::next_timeout); [`NEVER`] if none is delayed.
    #[inline]
    pub(crate) const fn deadline(&self) -> Time {
        self.deadline
    }

    /// What it has seen and done so far.
    #[must_use]
    pub const fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// When the application has read all the data that are here in order, as if nothing more came: now or later.
    #[must_use]
    pub fn all_read(&self, now: Time) -> Time {
        self.reader.as_ref().map_or(now, |reader| reader.reaches(self.stats.delivered_bytes).max(now))
    }

    /// The window it advertises, in bytes.
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.window
    }

    // RFC 5681 §4.2: SHOULD acknowledge at once a segment above a gap or that fills one
    // RFC 6582 §5: SHOULD acknowledge out-of-order segments at once
    fn on_data(&mut self, now: Time, segment: &Segment) {
        self.stats.segments += 1;
        let end = segment.end();
        if end > self.edge() {
            self.stats.beyond_window += 1;
            return self.acknowledge();
        }
        let news = self.note_mark(now, segment);
        let in_order = segment.seq <= self.next && end > self.next;
        let filling = !self.out_of_order.is_empty();
        let closes = segment.is_fin() && self.fin.is_none();
        if closes {
            self.fin = Some(end - 1);
        }
        let new = self.take_in(segment.seq, end);
        self.count(segment, new, closes);
        if !in_order || filling || news || self.is_closed() {
            // Out of order, a duplicate, or a hole filled in part or whole (RFC 5681 section 4.2).
            if new == 0 {
                self.on_duplicate(segment.seq..end);
            }
            self.acknowledge();
        } else {
            self.delay_ack(now);
        }
    }

    // RFC 7323 §2.4: MUST honor what would have been in the window of any ACK sent
    /// Where what it takes ends. Where windows are scaled and the application is slow, the window told last may end before one that was told
    /// earlier, as its size is rounded down; there is room up to the edge that was rounded.
    fn edge(&self) -> u64 {
        self.reader.as_ref().map_or(self.next + self.window, |reader| reader.edge())
    }

    /// Notes that nothing in `range` was new.
    #[cold]
    fn on_duplicate(&mut self, range: Range<u64>) {
        if self.params.dsack {
            self.duplicate = Some(range);
        }
        if let Some(quick) = &mut self.quick {
            quick.on_duplicate(self.window);
        }
    }

    /// Adds the numbers from `seq` to `end` to what is held, delivers what is in order, and returns how many were new.
    #[inline]
    fn take_in(&mut self, seq: u64, end: u64) -> u64 {
        let start = seq.max(self.next);
        if start >= end {
            return 0;
        }
        if start > self.next {
            return self.hold(start..end);
        }
        let (new, next) =
            if self.out_of_order.is_empty() { (end - start, end) } else { self.fill(start..end) };
        let delivered = next - self.next;
        self.next = next;
        self.unacknowledged += delivered;
        self.stats.delivered_bytes += delivered - u64::from(self.is_closed());
        new
    }

    /// Whether all data and the FIN behind it have arrived in order: nothing new comes any more.
    fn is_closed(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Adds a range that begins where what is in order ends; returns how many bytes were new, and where it ends then.
    #[inline(never)]
    fn fill(&mut self, range: Range<u64>) -> (u64, u64) {
        let at = range.start;
        let new = self.out_of_order.insert(range);
        let next = self.out_of_order.containing(at).expect("what was added is held").end;
        self.out_of_order.remove_below(next);
        (new, next)
    }

    /// Counts a segment of which `new` numbers are new, that of the FIN among them if it `closes` the connection.
    fn count(&mut self, segment: &Segment, new: u64, closes: bool) {
        let (len, bytes) = (u64::from(segment.len), new - u64::from(closes));
        // A FIN is no byte, but all that there is of a segment without data.
        self.stats.duplicate_segments += u64::from(if len > 0 { bytes == 0 } else { new == 0 });
        self.stats.distinct_bytes += bytes;
        self.stats.duplicate_bytes += len - bytes;
        self.stats.distinct_full_segments += u64::from(bytes == len && segment.len == self.params.mss);
        self.stats.out_of_order_segments += u64::from(segment.seq > self.next);
    }

    /// Follows the ECN bits. Returns whether an ACK should go at once, as [`note_special`](Self::note_special) does.
    fn note_mark(&mut self, now: Time, segment: &Segment) -> bool {
        let marked = segment.ecn == Ecn::Ce;
        self.stats.marked_segments += u64::from(marked);
        let urgent = self.special && self.note_special(now, segment, marked);
        let echoed = marked && self.heeds_mark(segment);
        self.marks.note_classic(echoed, segment.flags.contains(Flags::CWR));
        urgent
    }

    // RFC 3168 §6.1.5: SHOULD ignore the ECN field of data outside of the window (with classic feedback)
    // RFC 3168 §6.1.6: SHOULD respond to it on window probes
    /// Whether a mark of a segment counts, with classic feedback: some of it lies within the window, or it may be a probe of a closed one.
    /// Where each packet counts, all do (RFC 8257 section 3.2, RFC 9768).
    fn heeds_mark(&self, segment: &Segment) -> bool {
        segment.end() > self.next || self.window == 0
    }

    /// Looks at a segment as most receivers need not. Returns whether an ACK should go at once: the mark changed, the segment closes the
    /// window, or some ACKs are quick.
    #[inline]
    fn note_special(&mut self, now: Time, segment: &Segment, marked: bool) -> bool {
        let urgent = self.note_quick(now, segment, marked);
        urgent | (self.more_than_quick && self.note_more(now, segment, marked))
    }

    /// Lets the application read what was there before a segment, and counts marks or follows each packet's own, if the sender wants
    /// that. Returns whether an ACK should go at once: the mark changed, or the segment closes the window.
    #[inline(never)]
    fn note_more(&mut self, now: Time, segment: &Segment, marked: bool) -> bool {
        let mut urgent = false;
        if let Some(reader) = &mut self.reader {
            reader.advance(now, self.next);
            urgent |= reader.closed_by(segment.end());
        }
        urgent | self.marks.note_each(marked)
    }

    /// Returns whether an ACK should go at once as Linux does it.
    #[inline]
    fn note_quick(&mut self, now: Time, segment: &Segment, marked: bool) -> bool {
        let heeded = marked && self.heeds_mark(segment);
        let Some(quick) = &mut self.quick else { return false };
        if heeded && !self.marks.are_echoed() {
            quick.on_mark(self.window);
        }
        quick.on_data(now, self.window, segment.len, self.reader.is_none())
    }

    /// Takes the window that a slow application leaves, and wakes up when it opens again after it was closed (RFC 9293 section
    /// 3.8.6.2.2).
    #[inline(never)]
    fn follow_reader(&mut self, now: Time) {
        if let Some(reader) = &mut self.reader {
            self.window = reader.window(now, self.next);
            self.deadline = reader.opens(self.window).unwrap_or(NEVER);
        }
    }

    /// An ACK goes at once and takes a delayed one along.
    const fn acknowledge(&mut self) {
        self.ack_due = true;
        self.deadline = NEVER;
    }

    // RFC 5681 §4.2: SHOULD delay ACKs, but acknowledge every second full segment
    // RFC 5681 §4.2: MUST acknowledge within 500 ms (key `delayed-ack`)
    /// Acknowledges what arrived in order: every n-th full segment at once, others after the delay (RFC 9293
    /// section 3.8.6.3).
    #[inline]
    fn delay_ack(&mut self, now: Time) {
        let (every, mss) = (u64::from(self.params.ack_every), u64::from(self.params.mss));
        // Linux takes part of a segment behind full ones for another (`__tcp_ack_snd_check`).
        let enough = if self.quick.is_some() { (every - 1) * mss + 1 } else { every * mss };
        if self.params.delayed_ack == 0 || self.unacknowledged >= enough {
            self.acknowledge();
        } else {
            let delay = self.quick.as_ref().map_or(self.params.delayed_ack, |quick| quick.delay());
            self.deadline = self.deadline.min(now + delay);
        }
    }

    // RFC 2018 §4: SHOULD report as many blocks as there is room for
    /// Adds an out-of-order range and moves its block to the front of those to be reported. What has been delivered since is none.
    #[inline(never)]
    fn hold(&mut self, range: Range<u64>) -> u64 {
        let at = range.start;
        let new = self.out_of_order.insert(range);
        let block = self.out_of_order.containing(at).unwrap_or(at..at);
        self.recent.retain(|other| *other >= self.next && !block.contains(other));
        self.recent.insert(0, at);
        self.recent.truncate(SACK_BLOCKS_MAX);
        new
    }

    /// Adds the blocks to report: the one received last first, then others reported lately (RFC 2018 section 4).
    #[inline(never)]
    fn report(&mut self, blocks: &mut SackBlocks) {
        let mut room = if self.params.timestamps { SACK_BLOCKS_MAX_WITH_TIMESTAMPS } else { SACK_BLOCKS_MAX };
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push_duplicate(self.next, &duplicate);
            room -= 1;
        }
        for block in self.recent.iter().filter_map(|&at| self.out_of_order.containing(at)).take(room) {
            blocks.push(self.next, block);
        }
    }

    /// Whether an ACK or a SYN|ACK is due.
    #[inline]
    pub(crate) const fn owes(&self) -> bool {
        self.ack_due || self.syn_ack_due
    }

    /// Whether a SYN|ACK is due.
    pub(crate) const fn answers_syn(&self) -> bool {
        self.syn_ack_due
    }

    /// Whether an ACK is due that reports data out of order or received again.
    pub(crate) fn reports(&self) -> bool {
        self.ack_due && self.has_to_report()
    }

    /// Whether data are held out of order, or some were received again.
    #[inline]
    fn has_to_report(&self) -> bool {
        !self.out_of_order.is_empty() || self.duplicate.is_some()
    }

    /// Puts the acknowledgement of all that arrived in order into a segment with data. A delayed ACK need not go any more.
    pub(crate) fn ride(&mut self, now: Time, segment: &mut Segment) {
        self.deadline = NEVER;
        if let Some(quick) = &mut self.quick {
            quick.on_reply(now);
        }
        let echo = self.acknowledged(now);
        // The three bits of a count stand where the sender's own bits do (RFC 9768 section 3.2.2).
        let own = if self.marks.are_counted() { segment.flags.without_ace() } else { segment.flags };
        segment.flags = own | echo;
        (segment.ack, segment.window) = (self.next, self.window);
        if let Some(timestamps) = &mut segment.timestamps {
            timestamps.echo = self.echo;
        }
    }

    /// Notes that all that arrived is being acknowledged; returns what the ACK tells about marks.
    #[inline(always)]
    fn acknowledged(&mut self, now: Time) -> Flags {
        self.ack_due = false;
        self.unacknowledged = 0;
        if self.special {
            if let Some(quick) = &mut self.quick {
                quick.on_ack();
            }
            if self.reader.is_some() {
                self.follow_reader(now);
            }
        }
        self.last_ack_sent = self.next;
        self.marks.tell()
    }

    // RFC 3168 §6.1.4: MUST send pure ACKs without ECT (key `ecn-control-packets`: under DCTCP they have it)
    // Inlined by force, so that it follows how long it is.
    #[inline(always)]
    fn ack(&mut self, now: Time, segment: &mut Segment) {
        let echo = self.acknowledged(now);
        self.stats.acks += 1;
        *segment = Segment {
            ack: self.next,
            window: self.window,
            flags: Flags::ACK | echo,
            ecn: self.control_ecn,
            timestamps: self.timestamps(now),
            ..Segment::default()
        };
        if self.params.sack && self.has_to_report() {
            self.report(&mut segment.sack);
        }
    }

    fn timestamps(&self, now: Time) -> Option<Timestamps> {
        self.params.timestamps.then(|| Timestamps { value: self.clock.read(now), echo: self.echo })
    }

    fn syn_ack(&mut self, now: Time) -> Segment {
        self.syn_ack_due = false;
        if let Some(quick) = &mut self.quick {
            quick.on_syn_ack(now);
        }
        Segment {
            flags: Flags::SYN | Flags::ACK | self.marks.answer(),
            ecn: self.control_ecn,
            // The window field of a SYN is not scaled (RFC 7323 section 2.2).
            window: self.params.receive_window.min(WINDOW_FIELD_MAX),
            timestamps: self.timestamps(now),
            syn: Some(SynOptions::new(&self.params)),
            ..Segment::default()
        }
    }
}
