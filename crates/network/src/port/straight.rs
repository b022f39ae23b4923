//! Trains of one VC that find the link idle, one after the other: what is the same for all of them is looked up once.

use celltrain_atm::{
    Cell,
    buffer::BufferPolicy,
    cell::{Ecn, Kind},
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, Span, Time,
    alone::Alone,
    stream::{Stream, Train},
};

use super::{
    cells::CellFifo,
    computed::Computed,
    core::{PortCore, end_word},
    fifo::{APART, Fifo},
    tally::Tally,
};
use crate::flight::Streams;

/// Trains of a VC at a port, and what their cells come to.
struct Row {
    vc: u32,
    /// The VC's number at the next port.
    next_vc: u32,
    clp: bool,
    /// Cells of each train, where they come at once.
    cells: u32,
    /// The time that these take on the link.
    whole: Span,
    /// The slot of the link, and its delay.
    slot: Slot,
    delay: Time,
    /// What arrives later is handled in another visit.
    until: Time,
    /// The delays of what leaves later are kept until it has left.
    runs_until: Time,
    /// When the last cell leaves, and the number of its departure.
    free: Instant,
    number: u64,
    /// Whether the next cell begins a frame.
    starts: bool,
    fingerprint: Fingerprint,
    trains: usize,
    units: u64,
    /// Frames that have ended.
    frames: u64,
}

/// The last cell of a train: when it arrives, and how many slots behind the first.
#[derive(Clone, Copy)]
struct Last {
    at: Instant,
    slots: u64,
}

impl Row {
    /// The last cell of a train that finds the link idle and is one of this row. `AT_ONCE`: all cells of each train come at once; otherwise
    /// no faster than they leave.
    #[inline(always)]
    fn last_of<const AT_ONCE: bool>(&self, train: &Train<Cell>) -> Option<Last> {
        let (first, count, item) = (train.first, train.count, &train.item);
        if first < self.free || item.vc != self.vc || item.clp != self.clp || item.kind != Kind::Data {
            return None;
        }
        if AT_ONCE {
            let alike = count == self.cells && train.slot == Slot::ZERO && train.gaps == 0;
            return alike.then_some(Last { at: first, slots: u64::from(count - 1) });
        }
        if count == 1 {
            return Some(Last { at: first, slots: 0 });
        }
        if train.woven() > 0 {
            return None;
        }
        let slots = train.slots_to(count - 1);
        (train.slot >= self.slot).then(|| Last { at: first.plus_slots(train.slot, slots), slots })
    }

    /// Whether the policy accepts a train without being asked about each cell: a whole frame that it lets pass, or a part of one that it
    /// accepts the rest of.
    #[inline(always)]
    fn is_accepted<P: BufferPolicy>(&self, policy: &P, train: &Train<Cell>) -> bool {
        let item = &train.item;
        if self.starts {
            item.position == 0 && train.count == u32::from(item.length) && policy.passes(item, || 0)
        } else {
            item.ecn == Ecn::NotCapable && policy.accepts_rest(item)
        }
    }

    /// Sends a train on, unless a cell of it arrives or leaves too late for that; whether it was sent.
    #[inline(always)]
    fn send<const AT_ONCE: bool>(
        &mut self,
        train: &mut Train<Cell>,
        last: Last,
        output: &mut Stream<Cell>,
    ) -> bool {
        let (first, count, item) = (train.first, train.count, &mut train.item);
        let departure = if AT_ONCE { first.after(self.whole) } else { last.at.plus(self.slot) };
        if last.at.ps() >= self.until || departure.ceil() > self.runs_until {
            return false;
        }
        let ends = u32::from(item.position) + count == u32::from(item.length);
        item.vc = self.next_vc;
        train.first = first.plus(self.slot).delayed(self.delay);
        // Cells that come in slots of their own leave in those.
        let on_grid = AT_ONCE || count == 1 || train.slot == self.slot;
        if on_grid {
            train.slot = self.slot;
        }
        let behind = if first == self.free { 1 } else { APART };
        let number = self.number.wrapping_add(behind);
        self.number = number.wrapping_add(last.slots);
        if behind == 1 && on_grid && !self.starts {
            output.push(number, self.number, train);
        } else {
            output.push_apart(self.number, train);
        }
        if !on_grid {
            self.number = self.number.wrapping_add(APART);
        }
        (self.free, self.starts) = (departure, ends);
        self.trains += 1;
        self.units += u64::from(count);
        if ends {
            self.frames += 1;
            self.fingerprint.mix(end_word(last.at, self.vc));
        }
        true
    }
}

impl PortCore<Computed<CellFifo>> {
    /// Handles the next trains of the only input, which arrive before `until`, as long as they are of one VC, each finds the link idle, and
    /// the policy accepts it without being asked about each cell. Returns how many cells there were.
    #[inline(always)]
    pub(super) fn run_straight<P: BufferPolicy>(
        &mut self,
        policy: &P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let free = self.service.fifo.last_departure();
        let Some(head) = alone.rest().first().filter(|head| head.first >= free) else { return 0 };
        if !tally.counts_together() {
            return 0;
        }
        if head.count == 1 && head.item.length == 1 {
            self.run_cells(policy, until, alone, tally, streams)
        } else if head.count > 1 && head.slot < self.service.fifo.slot() {
            if head.slot != Slot::ZERO {
                return 0;
            }
            self.run_row::<true, P>(policy, until, alone, tally, streams)
        } else {
            self.run_row::<false, P>(policy, until, alone, tally, streams)
        }
    }

    /// As [`PortCore::run_straight`], of trains that are alike.
    #[inline(always)]
    fn run_row<const AT_ONCE: bool, P: BufferPolicy>(
        &mut self,
        policy: &P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let fifo = &mut self.service.fifo;
        let Some(&Train { item, count: cells, .. }) = alone.rest().first() else { return 0 };
        let Some(entry) = self.entries.get_mut(item.vc as usize) else { return 0 };
        let (slot, free, number) = (fifo.slot(), fifo.last_departure(), fifo.last_number());
        if AT_ONCE && !(entry.at_frame_start && fifo.has_room(free, cells.into())) {
            return 0;
        }
        let mut row = Row {
            vc: item.vc,
            next_vc: entry.next_vc,
            clp: item.clp,
            cells,
            whole: Span::of_slots(slot, cells.into()),
            slot,
            delay: self.delay,
            until,
            runs_until: self.service.runs_until,
            free,
            number,
            starts: entry.at_frame_start,
            fingerprint: self.fingerprint,
            trains: 0,
            units: 0,
            frames: 0,
        };
        let output = &mut streams[entry.output];
        for train in alone.rest() {
            let last = row.last_of::<AT_ONCE>(train).filter(|_| row.is_accepted(policy, train));
            let Some(last) = last else { break };
            if !row.send::<AT_ONCE>(train, last, output) {
                break;
            }
        }
        if row.trains > 0 {
            entry.at_frame_start = row.starts;
            entry.accepted[usize::from(row.clp)] += row.units;
            alone.pass(row.trains);
            self.end_row::<AT_ONCE>(&row, tally);
        }
        row.units
    }

    /// As [`PortCore::run_straight`], of frames of one cell each: they join no train.
    #[inline(always)]
    fn run_cells<P: BufferPolicy>(
        &mut self,
        policy: &P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let fifo = &mut self.service.fifo;
        let Some(&Train { item: head, .. }) = alone.rest().first() else { return 0 };
        let Some(entry) = self.entries.get_mut(head.vc as usize) else { return 0 };
        if !entry.at_frame_start {
            return 0;
        }
        let (slot, delay, next_vc) = (fifo.slot(), self.delay, entry.next_vc);
        // What comes before has left before the network stops.
        let limit = until.min(self.service.runs_until.saturating_sub(slot.ps() + 1));
        let (mut free, mut fingerprint, mut cells) = (fifo.last_departure(), self.fingerprint, 0);
        for train in alone.rest() {
            let (first, item) = (train.first, &mut train.item);
            let alike = train.count == 1 && item.vc == head.vc && item.length == 1 && item.clp == head.clp;
            let passes = item.kind == Kind::Data && policy.passes(item, || 0);
            if !(alike && passes) || first < free || first.ps() >= limit {
                break;
            }
            free = first.plus(slot);
            fingerprint.mix(end_word(first, head.vc));
            // It becomes what arrives at the other end.
            (train.first, train.slot, item.vc) = (free.delayed(delay), slot, next_vc);
            cells += 1;
        }
        if cells == 0 {
            return 0;
        }
        let number = fifo.last_number().wrapping_add(APART);
        streams[entry.output].push_singles(number, &alone.rest()[..cells]);
        alone.pass(cells);
        fifo.reach(free, number);
        self.fingerprint = fingerprint;
        let cells = cells as u64;
        entry.accepted[usize::from(head.clp)] += cells;
        tally.add_straight(cells, cells);
        cells
    }

    /// Counts what a row came to.
    #[inline(always)]
    fn end_row<const AT_ONCE: bool>(&mut self, row: &Row, tally: &mut Tally) {
        self.fingerprint = row.fingerprint;
        self.service.fifo.reach(row.free, row.number);
        if AT_ONCE {
            tally.add_rows(Span::of_slots(row.slot, 1), row.whole, row.cells.into(), row.frames);
            self.stats.delays.add_times(row.whole.ps(), row.frames);
        } else {
            tally.add_straight(row.units, row.frames);
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::cell::CELL_BITS;
    use celltrain_engine::{quantity::BitRate, time::MILLISECOND};
    use proptest::prelude::*;

    use super::*;
    use crate::port::{
        AnyCore, Location,
        tests::{Overrides, network, with_streams},
        with_core,
    };

    /// How the cells of a frame come.
    #[derive(Debug, Clone, Copy)]
    enum Form {
        Train,
        AtOnce,
        OneByOne,
        /// In two trains, each at the slot of the link, with gaps in the first.
        Parted,
        /// One by one, more slowly than they leave.
        Slowly,
        /// In a train, more slowly than they leave.
        SlowTrain,
        /// In two trains, the second in slots of its own, which begins where the first leaves off.
        Slowing,
    }

    #[derive(Debug, Clone)]
    struct Frame {
        vc: u32,
        form: Form,
        cells: u16,
        /// Time since the last cell of the frame before, in eighths of a slot.
        pause: u64,
        clp: bool,
        ecn: Ecn,
        /// Whether its first cell was lost before.
        headless: bool,
    }

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        use Form::{AtOnce, OneByOne, Parted, SlowTrain, Slowing, Slowly};
        let form =
            prop::sample::select(vec![Form::Train, AtOnce, OneByOne, Parted, Slowly, SlowTrain, Slowing]);
        let ecn = prop_oneof![4 => Just(Ecn::NotCapable), 1 => Just(Ecn::Capable)];
        let pause = prop_oneof![3 => 8_u64..200, 1 => Just(8), 1 => Just(16)];
        let frame =
            (0_u32..2, form, 1_u16..9, pause, prop::bool::weighted(0.2), ecn, prop::bool::weighted(0.1));
        let frame = frame.prop_map(|(vc, form, cells, pause, clp, ecn, headless)| {
            let headless = headless && cells > 2;
            Frame { vc, form, cells, pause, clp, ecn, headless }
        });
        // Frames on one VC are often alike and in a row.
        prop::collection::vec((frame, 1_usize..5), 1..12)
            .prop_map(|runs| runs.into_iter().flat_map(|(frame, times)| vec![frame; times]).collect())
    }

    /// Puts the frames on a stream.
    fn push(frames: &[Frame], slot: Slot, stream: &mut Stream<Cell>) {
        let (eighth, mut at) = (Slot::of_ps(slot.ps() / 8), Instant::start_of(1000));
        for (number, frame) in frames.iter().enumerate() {
            at = at.plus_slots(eighth, frame.pause);
            let &Frame { vc, cells, clp, ecn, .. } = frame;
            let item = Cell { vc, frame: number as u32, length: cells, clp, ecn, ..Cell::default() };
            let mut train = Train { slot, count: cells.into(), ..Train::single(at, item) };
            match frame.form {
                Form::AtOnce => train.slot = Slot::ZERO,
                Form::Slowly | Form::SlowTrain => train.slot = Slot::of_ps(slot.ps() * 3),
                Form::Parted => train.gaps = 0x21 & ((1 << (4 * (u32::from(cells) - 1).min(8))) - 1),
                Form::Train | Form::OneByOne | Form::Slowing => {}
            }
            if frame.headless {
                train.advance(1);
            }
            let parts = matches!(frame.form, Form::Parted | Form::Slowing) && train.count > 1;
            let mut begin = train;
            if parts {
                begin.truncate(train.count / 2);
                train.advance(train.count / 2);
            }
            if matches!(frame.form, Form::Slowing) {
                train.slot = Slot::of_ps(slot.ps() * 3);
            }
            at = train.last();
            if matches!(frame.form, Form::OneByOne | Form::Slowly) {
                for place in 0..train.count {
                    let mut item = train.item;
                    item.position += place as u16;
                    stream.push(0, 0, &Train::single(train.arrival(place), item));
                }
                continue;
            }
            if parts {
                stream.push(0, 0, &begin);
            }
            stream.push(0, 0, &train);
        }
    }

    /// What a port does with frames, in visits that end at `stops`: what it sent, and what it counted on the way and in the end. A port whose
    /// levels are followed looks at each train by itself.
    fn done(
        overrides: Overrides<'_>,
        frames: &[Frame],
        stops: &[Time],
        follow: bool,
    ) -> (Vec<(Instant, Cell)>, Vec<String>) {
        let mut network = network(overrides);
        let mut streams = with_streams(&network);
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        port.run_on(stops[stops.len() / 2]);
        if follow {
            port.follow_levels();
        }
        push(frames, Slot::of_bits(CELL_BITS, BitRate(155_520_000)), &mut streams[port.inputs()[0]]);
        let mut counted = Vec::new();
        for &stop in stops.iter().chain(&[MILLISECOND * 10]) {
            port.visit(stop, &mut streams);
            port.check_conservation(&streams);
            counted.push(format!("{} {:?} {:?}", port.occupancy(), port.occupancy_integral(), port.busy()));
        }
        port.run_on(MILLISECOND * 10);
        counted.push(with_core!(&port.core, core => {
            format!("{:?} {:?} {:?} {}", core.stats, core.entries, core.fingerprint, port.occupancy_max())
        }));
        let cells = |train: &Train<Cell>| {
            let train = *train;
            (0..train.count).map(move |place| {
                let mut item = train.item;
                item.position += place as u16;
                (train.arrival(place), item)
            })
        };
        let trains = port.outputs.iter().map(|&output| streams[output].trains());
        (trains.flatten().flat_map(cells).collect(), counted)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn trains_that_go_straight_are_like_any_others(
            frames in frames(),
            stops in prop::collection::btree_set(1_u64..3_000_000_000, 1..8),
            policy in prop::sample::select(vec!["tail-drop", "epd", "espd", "red", "ppd"]),
            buffer in prop::sample::select(vec!["3 cells", "12 cells", "1000 cells"]),
        ) {
            let overrides = [("topology.sources", "2"), ("switch.discard.policy", policy), ("switch.buffer", buffer)];
            let stops: Vec<_> = stops.into_iter().collect();
            let [straight, apart] = [false, true].map(|follow| done(&overrides, &frames, &stops, follow));
            prop_assert_eq!(straight, apart);
        }

        /// A port that pushes out does the same whether its policy alone has to know of each unit, or its levels are followed too.
        #[test]
        fn a_plain_port_that_pushes_out_is_like_any_other(
            frames in frames(),
            stops in prop::collection::btree_set(1_u64..3_000_000_000, 1..8),
            policy in prop::sample::select(vec!["abs-push-out", "abs-push-out-hardware", "epd-push-out"]),
            buffer in prop::sample::select(vec!["8 cells", "20 cells", "1000 cells"]),
        ) {
            let overrides = [("topology.sources", "2"), ("switch.discard.policy", policy), ("switch.buffer", buffer)];
            let stops: Vec<_> = stops.into_iter().collect();
            let [plain, followed] = [false, true].map(|follow| done(&overrides, &frames, &stops, follow));
            prop_assert_eq!(plain, followed);
        }
    }

    /// The end of a frame that the port marks was lost before: the next frame, whose transport answers no marks, is taken for its rest.
    #[test]
    fn what_follows_a_marked_frame_without_an_end_is_marked_in_a_row_too() {
        let overrides = [
            ("topology.sources", "2"),
            ("switch.discard.policy", "epd"),
            ("switch.discard.epd.ecn", "true"),
            ("switch.discard.epd.threshold", "\"3 cells\""),
        ];
        let slot = Slot::of_bits(CELL_BITS, BitRate(155_520_000));
        let marks = [false, true].map(|follow| {
            let mut network = network(&overrides);
            let mut streams = with_streams(&network);
            let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
            port.run_on(MILLISECOND);
            if follow {
                port.follow_levels();
            }
            let input = port.inputs()[0];
            let mut send = |slots, train: Train<Cell>, vc, frame, length, ecn| {
                let item = Cell { vc, frame, length, ecn, ..Cell::default() };
                let first = Instant::start_of(1000).plus_slots(slot, slots);
                streams[input].push(0, 0, &Train { first, item, ..train });
            };
            let train = Train { slot, count: 8, ..Train::default() };
            send(0, Train { slot: Slot::ZERO, ..train }, 1, 0, 8, Ecn::NotCapable);
            send(1, Train { count: 3, ..train }, 0, 0, 5, Ecn::Capable);
            send(100, Train { count: 5, ..train }, 0, 1, 5, Ecn::NotCapable);
            port.visit(MILLISECOND, &mut streams);
            let sent = port.outputs.iter().flat_map(|&output| streams[output].trains());
            sent.map(|train| (train.first, train.item.frame, train.item.ecn)).collect::<Vec<_>>()
        });
        assert_eq!(marks[0], marks[1]);
        assert!(marks[0].iter().any(|&(_, frame, ecn)| frame == 1 && ecn == Ecn::Marked));
    }
}
