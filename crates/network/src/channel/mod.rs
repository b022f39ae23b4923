//! What happens to cells on their way along a link: some links lose some of them, go dark, change their delay, or let packets overtake
//! each other. Behind some links the packets of a VC part, or meet again.
//!
//! A channel stands between a port and what receives its cells, on links that do such things or are captured. The port has
//! transmitted the cells, so that queues and utilisations do not depend on the losses. A capture of a link is taken there too,
//! of the cells that pass.

mod loss;
mod order;
mod rates;
mod row;
mod schedule;
mod script;
mod spray;
mod vcs;

use celltrain_atm::{Cell, cell::Kind};
use celltrain_engine::{
    Fingerprint, Instant, Time,
    merge::{Merge, TieBreak},
    stream::{StreamId, Train},
    time::NEVER,
};

pub(crate) use self::{
    loss::{ChanceLoss, GilbertElliott, LossReason, Lost, RandomLoss},
    order::Reordering,
    rates::RateSchedule,
    schedule::{DarkPeriods, VaryingDelay},
    script::{ScriptedLoss, ScriptedLosses},
    spray::{Lane, Spray},
    vcs::Vcs,
};
use crate::{
    capture::CellTap,
    discards::DiscardLog,
    flight::{Packet, Streams},
};

/// Where the cells of a VC go on to: one of the channel's outputs, and the VCI there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NextHop {
    pub(crate) output: usize,
    pub(crate) vci: u32,
}

/// A VC on the link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Vc {
    pub(crate) next: NextHop,
    /// Where its backward RM cells go first, if a port stamps them on the way.
    pub(crate) relay: Option<NextHop>,
    /// The payload queue of the VC's first link, by which scripts know it.
    pub(crate) origin: Option<usize>,
    /// Where the contents of its frames and of its RM cells wait, if they have any.
    pub(crate) payloads: Option<usize>,
    pub(crate) rm_payloads: Option<usize>,
    /// Where the contents of its frames wait behind the link, if the link does not keep their order, or if ways meet there.
    pub(crate) payloads_behind: Option<usize>,
    /// The number of what deals its packets out to several ways, if it has them.
    pub(crate) spray: Option<u32>,
    /// What is known of the frame of its last cell.
    pub(crate) frame: FrameFate,
}

/// What becomes of a VC's present frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameFate {
    /// The frame, if there was one.
    number: Option<u32>,
    /// Why it is lost as a whole, if it is.
    lost: Option<LossReason>,
}

impl Vc {
    /// Where a cell of `kind` goes next.
    fn next_hop(&self, kind: Kind) -> NextHop {
        self.relay.filter(|_| kind == Kind::BackwardRm).unwrap_or(self.next)
    }
}

/// A link, or its way to one of the processes behind it where each cell has its fate for itself.
#[derive(Debug)]
pub(crate) struct Channel {
    parts: ChannelParts,
    /// Whether packets pass in rows.
    in_rows: bool,
    input: [StreamId; 1],
    merge: Merge,
    clock: Time,
    /// Up to when the link is known not to be dark.
    lit_until: Time,
    /// When the last cell arrives, on a link whose delay changes.
    last: Instant,
    passed: u64,
    lost: Lost,
    fingerprint: Fingerprint,
    /// Losses, if somebody watches.
    log: Option<Box<DiscardLog>>,
}

/// What a channel is made of.
#[derive(Debug)]
pub(crate) struct ChannelParts {
    /// The link, by its number in the graph.
    pub(crate) link: usize,
    pub(crate) input: StreamId,
    pub(crate) outputs: Vec<StreamId>,
    pub(crate) vcs: Vcs,
    /// Whether it carries packets, each a train of its own.
    pub(crate) packets: bool,
    /// Whether the link does anything to its cells; one that is only captured does nothing.
    pub(crate) acts: bool,
    pub(crate) chance: ChanceLoss,
    pub(crate) scripted: ScriptedLosses,
    pub(crate) dark: Option<DarkPeriods>,
    pub(crate) delay: Option<VaryingDelay>,
    pub(crate) sprays: Vec<Spray>,
    pub(crate) reordering: Option<Reordering>,
    /// Records the cells that pass, if the link is captured.
    pub(crate) tap: Option<CellTap>,
}

impl Channel {
    pub(crate) fn new(parts: ChannelParts) -> Self {
        let input = [parts.input];
        Self {
            merge: Merge::new(&input, TieBreak::InputId),
            input,
            in_rows: row::passes_rows(&parts),
            lit_until: if parts.dark.is_none() { NEVER } else { 0 },
            parts,
            clock: 0,
            last: Instant::default(),
            passed: 0,
            lost: Lost::default(),
            fingerprint: Fingerprint::default(),
            log: None,
        }
    }

    /// The link, by its number in the graph.
    pub(crate) fn link(&self) -> usize {
        self.parts.link
    }

    /// Keeps a log of the losses from now on.
    pub(crate) fn watch(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The log of the losses, if one is kept: what a viewer may read.
    pub(crate) fn log(&mut self) -> Option<&mut DiscardLog> {
        self.log.as_deref_mut()
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.input
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.parts.outputs
    }

    /// Where the cells of VC `vci` go next, and what it is called there: what a viewer may read.
    pub(crate) fn hops(&self, vci: u32) -> impl Iterator<Item = (StreamId, u32)> {
        let vc = self.parts.vcs.get(vci);
        let lanes = vc.spray.map_or(&[][..], |spray| self.parts.sprays[spray as usize].lanes());
        let hops = [Some(vc.next), vc.relay].into_iter().flatten();
        let hops = hops.chain(lanes.iter().skip(1).map(|lane| lane.next));
        hops.map(|next| (self.parts.outputs[next.output], next.vci))
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// When the next packet arrives that was held back.
    pub(crate) fn next_event(&self) -> Time {
        self.parts.reordering.as_ref().map_or(NEVER, Reordering::next)
    }

    /// What happened, where anything can: what only watches a link leaves no trace in a run.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        self.parts.acts.then_some(self.fingerprint)
    }

    /// Whether it does more with what its frames or RM cells contain than to take packets out of one payload queue and send them to
    /// another.
    pub(crate) fn handles_contents(&self) -> bool {
        self.parts.scripted.are_named() || self.parts.tap.is_some()
    }

    /// Calls `with` for every payload queue that it receives from (`false`) or sends to (`true`).
    pub(crate) fn payload_ends(&self, mut with: impl FnMut(usize, bool)) {
        for vc in self.parts.vcs.iter().filter(|vc| self.numbers_anew(vc)) {
            vc.payloads.into_iter().for_each(|queue| with(queue, false));
            match vc.spray {
                None => vc.payloads_behind.into_iter().for_each(|queue| with(queue, true)),
                Some(spray) => {
                    let lanes = self.parts.sprays[spray as usize].lanes();
                    lanes.iter().for_each(|lane| with(lane.payloads, true));
                }
            }
        }
    }

    /// Whether the packets of a VC leave flight here and are sent anew: where they change their order, or take one of several ways.
    fn numbers_anew(&self, vc: &Vc) -> bool {
        self.parts.reordering.is_some() || vc.spray.is_some() || vc.payloads_behind.is_some()
    }

    /// What the link's capture is made of, if it is captured.
    pub(crate) fn tap(&self) -> Option<&CellTap> {
        self.parts.tap.as_ref()
    }

    /// Cells lost so far.
    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }

    /// Packets held back so far.
    pub(crate) fn held_back(&self) -> u64 {
        self.parts.reordering.as_ref().map_or(0, Reordering::held_back)
    }

    /// Handles what arrives before `until`.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut cells = 0;
        let mut input = self.merge.lend_alone(streams);
        loop {
            if self.in_rows
                && let Some(input) = &mut input
            {
                cells += self.pass_row(input, until.min(self.lit_until), streams);
            }
            // What comes within the same picosecond may be ahead of the next packet.
            let next = self.next_event();
            let due = until.min(next.saturating_add(1));
            if let Some(train) = input.as_mut().and_then(|input| input.next(due)) {
                cells += u64::from(train.count);
                self.on_train(train, streams);
            } else if next < until {
                cells += 1;
                self.let_go(due, streams);
            } else {
                break;
            }
        }
        if let Some(input) = input {
            self.merge.give_back(input, streams);
        }
        self.clock = until;
        cells
    }

    /// Everything before its clock has been handled: tells the outputs how far they are known.
    pub(crate) fn promise(&self, streams: &mut Streams) {
        for &output in &self.parts.outputs {
            streams[output].advance_horizon(self.clock);
        }
    }

    // Inlined by force, as is what becomes of most trains: what others need is in functions of its own.
    #[inline(always)]
    fn on_train(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        // Also after the last named segment: its frame may still be coming.
        let judged = self.parts.chance.frames || self.parts.scripted.are_named();
        if judged
            && train.item.kind == Kind::Data
            && let Some(reason) = self.frame_fate(train, streams)
        {
            self.count_lost(train, reason);
        } else if self.parts.dark.is_none() || train.last().ps() < self.lit_until {
            self.on_lit(train, streams);
        } else {
            self.on_dimmed(train, streams);
        }
    }

    /// Cells come to a link that is dark at times.
    #[inline(never)]
    fn on_dimmed(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        in_pieces(train, |piece| {
            let dark = self.parts.dark.map_or((false, NEVER), |dark| dark.at(piece.first.ps()));
            let piece_until = before(piece, dark.1);
            let mut head = *piece;
            head.truncate(piece_until);
            if dark.0 {
                self.lose(&head, LossReason::Dark);
            } else {
                self.lit_until = dark.1;
                self.on_lit(&head, streams);
            }
            piece_until
        });
    }

    /// Why the frame of a train's cells is lost as a whole, if it is: drawn when its first cell comes.
    #[inline(always)]
    fn frame_fate(&mut self, train: &Train<Cell>, streams: &Streams) -> Option<LossReason> {
        let Cell { vc, frame, position, length, .. } = train.item;
        let known = &self.parts.vcs.get(vc).frame;
        if known.number == Some(frame) {
            return known.lost;
        }
        let lost = self.on_frame(train.first.ps(), vc, frame, streams);
        // Of a frame that comes as one train nobody asks again.
        if position > 0 || u32::from(length) > train.count {
            self.parts.vcs.get_mut(vc).frame = FrameFate { number: Some(frame), lost };
        }
        if let Some(reason) = lost {
            self.note_loss(train, reason);
        }
        lost
    }

    /// A frame begins: whether and why it is lost as a whole. One that begins while the link is dark has no chance.
    #[inline(always)]
    fn on_frame(&mut self, now: Time, vc: u32, frame: u32, streams: &Streams) -> Option<LossReason> {
        let is_lit = |dark: DarkPeriods| now < self.lit_until || !dark.at(now).0;
        let has_chance = self.parts.chance.frames && self.parts.dark.is_none_or(is_lit);
        let lost = if has_chance { self.parts.chance.one() } else { None };
        if !self.parts.scripted.is_empty() && self.is_struck(vc, frame, streams) {
            return Some(LossReason::Scripted);
        }
        lost
    }

    /// Whether the scenario names a segment that the frame carries.
    #[inline(never)]
    fn is_struck(&mut self, vc: u32, frame: u32, streams: &Streams) -> bool {
        let vc = self.parts.vcs.get(vc);
        let Some((payloads, origin)) = vc.payloads.zip(vc.origin) else { return false };
        self.parts.scripted.strikes(origin, streams.contents.packets[payloads].get(frame))
    }

    /// Cells that come while the link is not dark.
    #[inline(always)]
    fn on_lit(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        // An RM cell stands for itself among frames and among cells.
        if self.parts.chance.frames && train.item.kind == Kind::Data {
            return self.carry(train, streams);
        }
        match self.parts.chance.pass(train.count) {
            (_, None) => self.carry(train, streams),
            (passing, Some(reason)) => self.lose_some(train, passing, reason, streams),
        }
    }

    /// The first `passing` cells of a train are carried, and the one behind them is lost. Those behind that have their chances.
    #[inline(never)]
    fn lose_some(&mut self, train: &Train<Cell>, passing: u32, reason: LossReason, streams: &mut Streams) {
        let mut drawn = Some((passing, Some(reason)));
        in_pieces(train, |piece| {
            let (passing, reason) = drawn.take().unwrap_or_else(|| self.parts.chance.pass(piece.count));
            if passing > 0 {
                let mut head = *piece;
                head.truncate(passing);
                self.carry(&head, streams);
            }
            let Some(reason) = reason else { return passing };
            let mut struck = *piece;
            if passing > 0 {
                struck.advance(passing);
            }
            struck.truncate(1);
            self.lose(&struck, reason);
            passing + 1
        });
    }

    /// The cells of a train are lost one by one.
    fn lose(&mut self, train: &Train<Cell>, reason: LossReason) {
        for place in 0..train.count {
            let mut cell = *train;
            if place > 0 {
                cell.advance(place);
            }
            self.note_loss(&cell, reason);
        }
        self.count_lost(train, reason);
    }

    /// Mixes a loss into the fingerprint: of the first cell of `train`, once for a frame that is lost as a whole. How many
    /// trains its cells come in depends on the visits.
    fn note_loss(&mut self, train: &Train<Cell>, reason: LossReason) {
        let place = u64::from(train.item.position) << 32 | u64::from(train.item.vc);
        self.fingerprint.mix(train.first.ps() ^ place << 8 ^ reason as u64);
    }

    /// Counts the cells of a train that are lost.
    fn count_lost(&mut self, train: &Train<Cell>, reason: LossReason) {
        self.lost[reason as usize] += u64::from(train.count);
        if let Some(log) = &mut self.log {
            log.add(train.first.ps(), &train.item, train.count, reason.column(), false);
        }
    }

    /// The link carries cells to its other end, in the time that it takes then.
    #[inline(always)]
    fn carry(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        if self.parts.delay.is_none() {
            self.arrive(train, streams);
        } else {
            self.carry_late(train, streams);
        }
    }

    /// As [`Channel::carry`], where that time changes.
    #[inline(never)]
    fn carry_late(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        in_pieces(train, |piece| {
            let delay = self.parts.delay.as_ref();
            let (extra, until) = delay.map_or((0, NEVER), |delay| delay.at(piece.first.ps()));
            let mut head = *piece;
            head.first = head.first.delayed(extra);
            let together = if head.first < self.last {
                // A link keeps the order: it arrives together with what it would overtake.
                head.first = self.last;
                1
            } else {
                before(piece, until)
            };
            head.truncate(together);
            self.last = head.last();
            self.arrive(&head, streams);
            together
        });
    }

    /// Cells arrive at the other end, unless they are held back.
    #[inline(always)]
    fn arrive(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        let vc = self.parts.vcs.get(train.item.vc);
        if self.numbers_anew(vc) {
            return self.leave_flight(train, streams);
        }
        let (next, payloads) = (vc.next_hop(train.item.kind), vc.payloads);
        self.pass(train, next, payloads, streams);
    }

    /// A packet arrives at the other end, unless it is held back, to be sent anew from there.
    #[inline(never)]
    fn leave_flight(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        let payloads = self.parts.vcs.get(train.item.vc).payloads;
        let payloads = payloads.expect("a VC whose packets are numbered anew has a payload queue");
        let packet = *streams.contents.packets[payloads].take(train.item.frame);
        let at = train.first;
        if let Some(reordering) = &mut self.parts.reordering {
            if reordering.holds_back(at, train.item, &packet) {
                self.fingerprint.mix(at.ps() ^ u64::from(train.item.vc) << 40);
                return;
            }
            while let Some((at, cell, packet)) = self.first_held_back(train.first) {
                self.go_on(at, cell, &packet, streams);
            }
        }
        self.go_on(at, train.item, &packet, streams);
    }

    /// The next packet that was held back, if one that arrives at `at` does not overtake it.
    fn first_held_back(&mut self, at: Instant) -> Option<(Instant, Cell, Packet)> {
        self.parts.reordering.as_mut()?.leave_first(at)
    }

    /// Lets the next packet go on, if its time comes before `until`.
    fn let_go(&mut self, until: Time, streams: &mut Streams) {
        let Some(reordering) = &mut self.parts.reordering else { return };
        let Some((at, cell, packet)) = reordering.leave(until) else { return };
        self.go_on(at, cell, &packet, streams);
    }

    /// A packet goes on, on one of the ways of its VC if it has several. In the order in which packets arrive now they get their numbers.
    fn go_on(&mut self, at: Instant, mut cell: Cell, packet: &Packet, streams: &mut Streams) {
        let vc = self.parts.vcs.get(cell.vc);
        let (next, payloads) = match vc.spray {
            None => (vc.next, vc.payloads_behind),
            Some(spray) => {
                let (number, lane) = self.parts.sprays[spray as usize].draw();
                self.fingerprint.mix(at.ps() ^ (number as u64) << 40);
                (lane.next, Some(lane.payloads))
            }
        };
        let payloads = payloads.expect("a VC whose packets are numbered anew has a payload queue behind");
        let (number, contents) = streams.contents.packets[payloads].send();
        (*contents, cell.frame) = (*packet, number);
        self.pass(&Train::single(at, cell), next, Some(payloads), streams);
    }

    /// The cells of a train go on to `next`, the contents of their frame in the queue `payloads`.
    #[inline(always)]
    fn pass(&mut self, train: &Train<Cell>, next: NextHop, payloads: Option<usize>, streams: &mut Streams) {
        if self.parts.tap.is_some() {
            self.record(train, payloads, streams);
        }
        self.passed += u64::from(train.count);
        let item = Cell { vc: next.vci, ..train.item };
        // The trains of a channel join no other, whatever their numbers.
        streams[self.parts.outputs[next.output]].push_apart(0, &Train { item, ..*train });
    }

    /// Records the cells of a train, the contents of whose frame are in the queue `payloads`.
    #[inline(never)]
    fn record(&mut self, train: &Train<Cell>, payloads: Option<usize>, streams: &Streams) {
        let Some(tap) = &mut self.parts.tap else { return };
        let number = train.item.frame;
        if train.item.kind == Kind::Data {
            tap.record(train, payloads.map(|payloads| streams.contents.packets[payloads].get(number)));
        } else {
            // As the ports that it has passed have left it.
            let payloads = self.parts.vcs.get(train.item.vc).rm_payloads;
            let payloads = payloads.expect("a VC with RM cells has a payload queue for them");
            tap.record_rm(train, streams.contents.rm[payloads].get(number));
        }
    }

    /// Checks that no cell was lost track of.
    ///
    /// # Panics
    /// If one was.
    pub(crate) fn check_conservation(&self, streams: &Streams) {
        let input = &streams[self.input[0]];
        let lost: u64 = self.lost.iter().sum();
        let held = self.parts.reordering.as_ref().map_or(0, Reordering::waiting);
        let link = self.parts.link;
        assert_eq!(
            input.pushed(),
            input.waiting() + self.passed + lost + held,
            "link {link}: cells passed and lost"
        );
        let sent: u64 = self.parts.outputs.iter().map(|&output| streams[output].pushed()).sum();
        assert_eq!(self.passed, sent, "link {link}: cells passed");
    }
}

/// Takes a train apart: `take` says how many of the first cells of what is left it has taken.
#[inline]
fn in_pieces(train: &Train<Cell>, mut take: impl FnMut(&Train<Cell>) -> u32) {
    let taken = take(train);
    if taken >= train.count {
        return;
    }
    let mut train = *train;
    train.advance(taken);
    loop {
        let taken = take(&train);
        if taken >= train.count {
            return;
        }
        train.advance(taken);
    }
}

/// How many cells of a train arrive before `time`; the first one does.
fn before(train: &Train<Cell>, time: Time) -> u32 {
    let limit = Instant::start_of(time);
    if train.last() < limit { train.count } else { train.items_before(limit) }
}
