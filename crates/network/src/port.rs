//! An output port: the buffer in front of a link, its discard policy, and the link itself.
//!
//! The port owns the queue, executes the policy's verdicts and counts. A plain FIFO needs no stored queue: a cell that is
//! accepted departs one slot after the later of its arrival and the departure before it, so its departure is known at
//! once and the occupancy is the backlog in slots.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Policy, PortView, Reason, Verdict},
    with_policy,
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, Time, time::{NEVER, Span, SpanSum},
    merge::Merge,
    stream::{StreamId, Streams, Train},
};

use crate::measures::{Histogram, Sampler};

/// What a port knows of a VC that crosses it: where its cells go next, and what became of them.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// The stream to the VC's next port or host.
    pub(crate) output: StreamId,
    /// The VC's label there.
    pub(crate) label: u32,
    /// Whether the next cell begins a frame.
    pub(crate) at_frame_start: bool,
    pub(crate) accepted: u64,
    pub(crate) discarded: u64,
}

impl Connection {
    /// A VC whose cells go on to `output`, where it is called `label`.
    pub(crate) fn new(output: StreamId, label: u32) -> Self {
        Self { output, label, at_frame_start: true, accepted: 0, discarded: 0 }
    }
}

/// A port's counters; differences over a window are measured by taking a copy at its start.
#[derive(Debug, Clone, Default)]
pub struct PortStats {
    /// Cells discarded, by [`Reason`].
    pub discarded: [u64; Reason::ALL.len()],
    /// Sum of the times that accepted cells spend in the port. By Little's law it is the integral of the occupancy.
    pub sojourns: SpanSum,
    /// The longest of them.
    pub longest: Span,
    /// Sojourn times of the last cells of frames.
    pub delays: Histogram,
}

impl PortStats {
    /// Largest occupancy in cells, the arriving cell included, given the port's slot.
    #[must_use]
    pub fn occupancy_max(&self, slot: Slot) -> u64 {
        self.longest.slots(slot)
    }

    /// Forgets the maximum and the distribution, which cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        self.longest = Span::default();
        self.delays = Histogram::default();
    }
}

/// An output port with a FIFO buffer, and the link behind it.
#[derive(Debug)]
pub struct Port {
    pub(crate) name: String,
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    policy: Policy,
    pub(crate) buffer: Buffer,
    /// Whether the port is a switch's; otherwise it is a host's network interface.
    pub(crate) from_switch: bool,
    clock: Time,
    pub(crate) sampler: Sampler,
}

/// All of a port but the policy that is asked about it.
#[derive(Debug)]
pub(crate) struct Buffer {
    merge: Merge,
    connections: Vec<Connection>,
    queue: Fifo,
    /// Propagation delay of the link.
    delay: Time,
    pub(crate) stats: PortStats,
    pub(crate) fingerprint: Fingerprint,
}

/// The state of a FIFO queue in front of a link.
#[derive(Debug, Clone)]
struct Fifo {
    slot: Slot,
    capacity: u64,
    /// A backlog shorter than this leaves room for a cell.
    roomy: Time,
    last_departure: Instant,
    /// Number of the last departure: departures back to back have neighbouring numbers, others are far apart.
    last_number: u64,
}

/// Between the numbers of departures that are not on one grid of slots.
const APART: u64 = 1 << 32;

impl Fifo {
    fn new(slot: Slot, capacity: u64) -> Self {
        let roomy = capacity.saturating_sub(1).saturating_mul(slot.ps());
        Self { slot, capacity, roomy, last_departure: Instant::default(), last_number: 0 }
    }

    /// Cells in the buffer when a cell arrives at `now`. A cell leaves when its last bit is sent.
    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        if self.last_departure <= now { 0 } else { self.last_departure.since(now).slots(self.slot) }
    }

    /// Whether `count` cells that arrive from `now` on all find room; those that leave meanwhile only make more.
    #[inline]
    fn has_room(&self, now: Instant, count: u64) -> bool {
        let backlog = self.last_departure.ps().saturating_sub(now.ps());
        backlog.saturating_add((count * self.slot.ps()) + count) < self.roomy
            || self.occupancy(now).saturating_add(count) <= self.capacity
    }

    /// Queues a cell that arrives at `at`; it departs at `last_departure` as number `last_number`.
    #[inline]
    fn accept(&mut self, at: Instant) {
        let idle = self.last_departure < at;
        let start = if idle { at } else { self.last_departure };
        self.last_number += if idle { APART } else { 1 };
        self.last_departure = start.plus(self.slot);
    }

    /// Queues `slots` slots' worth of cells behind the last one.
    fn extend(&mut self, slots: u64) {
        self.last_departure = self.last_departure.plus_slots(self.slot, slots);
        self.last_number += slots;
    }
}

/// The port as the policy sees it when a cell arrives.
struct Arrival<'a> {
    queue: &'a Fifo,
    at: Instant,
    first: bool,
}

impl PortView for Arrival<'_> {
    #[inline]
    fn capacity(&self) -> u64 {
        self.queue.capacity
    }

    #[inline]
    fn occupancy(&self) -> u64 {
        self.queue.occupancy(self.at)
    }

    #[inline]
    fn is_first(&self) -> bool {
        self.first
    }

    #[inline]
    fn is_full(&self) -> bool {
        // Most cells find a backlog that is obviously short enough; only the others need the division.
        self.queue.last_departure.ps() > self.at.ps().saturating_add(self.queue.roomy) && self.occupancy() >= self.queue.capacity
    }
}

/// What a port is made of.
#[derive(Debug)]
pub(crate) struct PortParts {
    pub(crate) name: String,
    pub(crate) inputs: Vec<StreamId>,
    pub(crate) outputs: Vec<StreamId>,
    pub(crate) merge: Merge,
    pub(crate) policy: Policy,
    pub(crate) connections: Vec<Connection>,
    pub(crate) slot: Slot,
    pub(crate) capacity: u64,
    pub(crate) delay: Time,
    /// Whether the port is a switch's; otherwise it is a host's network interface.
    pub(crate) from_switch: bool,
    pub(crate) sampler: Sampler,
}

impl Port {
    pub(crate) fn new(parts: PortParts) -> Self {
        let buffer = Buffer {
            merge: parts.merge,
            connections: parts.connections,
            queue: Fifo::new(parts.slot, parts.capacity),
            delay: parts.delay,
            stats: PortStats::default(),
            fingerprint: Fingerprint::default(),
        };
        Self {
            name: parts.name,
            inputs: parts.inputs,
            outputs: parts.outputs,
            policy: parts.policy,
            buffer,
            from_switch: parts.from_switch,
            clock: 0,
            sampler: parts.sampler,
        }
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// Cells accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.buffer.connections.iter().map(|connection| connection.accepted).sum()
    }

    /// Cells discarded so far, summed over VCs.
    pub(crate) fn discarded(&self) -> u64 {
        self.buffer.connections.iter().map(|connection| connection.discarded).sum()
    }

    /// Cells that arrived so far.
    pub(crate) fn arrived(&self) -> u64 {
        self.accepted() + self.buffer.stats.discarded.iter().sum::<u64>()
    }

    /// The time of one cell on the link.
    pub(crate) fn slot(&self) -> Slot {
        self.buffer.queue.slot
    }

    /// Cells in the buffer at the port's clock.
    pub(crate) fn occupancy(&self) -> u64 {
        // At its clock a port has handled what is before it, and a cell that departs at the clock has left.
        self.buffer.queue.occupancy(Instant::start_of(self.clock))
    }

    pub(crate) fn next_event(&self, streams: &Streams<Cell>) -> Time {
        self.inputs.iter().filter_map(|&input| streams[input].next_arrival()).min().unwrap_or(NEVER)
    }

    /// Handles the arrivals before `until` and tells the outputs how far they are known.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams<Cell>) -> u64 {
        self.buffer.merge.refill(streams);
        let mut cells = 0;
        while self.sampler.due() <= until {
            cells += self.handle(self.sampler.due(), streams);
            let occupancy = self.occupancy();
            self.sampler.record(occupancy as f64);
        }
        cells += self.handle(until, streams);
        // The next cell departs a slot after its arrival, or after the backlog.
        let Fifo { last_departure, slot, .. } = self.buffer.queue;
        let next_departure = until.max(last_departure.ps()) + slot.ps();
        for &output in &self.outputs {
            streams[output].advance_horizon(next_departure + self.buffer.delay);
        }
        cells
    }

    fn handle(&mut self, until: Time, streams: &mut Streams<Cell>) -> u64 {
        self.clock = until;
        with_policy!(&mut self.policy, policy => self.buffer.serve(policy, until, streams))
    }
}

/// Sojourn times summed during one visit, which fit fewer bits than those of a whole run.
#[derive(Debug, Default)]
struct Tally {
    sojourns: Span,
    longest: Span,
}

impl Buffer {
    /// Handles every arrival before `until`; returns how many cells there were.
    fn serve<P: BufferPolicy>(&mut self, policy: &mut P, until: Time, streams: &mut Streams<Cell>) -> u64 {
        let (mut cells, mut tally, mut train) = (0, Tally::default(), Train::default());
        while let Some(slot) = self.merge.next(until, streams, &mut train) {
            cells += u64::from(train.count);
            if train.count == 1 {
                self.on_cell(policy, train.first, &train.car, &mut tally, streams);
            } else {
                self.on_row(policy, &mut train, slot, &mut tally, streams);
            }
        }
        // Once a visit is enough: the fullest moment is the one with the longest sojourn.
        let fullest = tally.longest.slots(self.queue.slot);
        assert!(fullest <= self.queue.capacity, "the policy accepted a cell into a full buffer");
        self.stats.sojourns.add(tally.sojourns);
        self.stats.longest = self.stats.longest.max(tally.longest);
        cells
    }

    /// Asks the policy about a cell; counts it if it is discarded.
    #[inline(always)]
    fn admits<P: BufferPolicy>(&mut self, policy: &mut P, at: Instant, cell: &Cell) -> bool {
        let connection = &mut self.connections[cell.vc as usize];
        let arrival = Arrival { queue: &self.queue, at, first: connection.at_frame_start };
        connection.at_frame_start = cell.is_last();
        match policy.on_arrival(cell, &arrival, at.ps()) {
            Verdict::Accept => true,
            Verdict::Discard(reason) => {
                self.discard(at, cell, reason);
                false
            }
        }
    }

    /// A cell arrives: the policy decides, the port obeys.
    // Forced into the loop over arrivals, where its arguments stay in registers.
    #[inline(always)]
    fn on_cell<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        cell: &Cell,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        if self.admits(policy, at, cell) {
            self.accept_cell(at, cell, tally, streams);
        }
    }

    /// Queues a cell and sends it on.
    #[inline(always)]
    fn accept_cell(&mut self, at: Instant, cell: &Cell, tally: &mut Tally, streams: &mut Streams<Cell>) {
        self.queue.accept(at);
        let sojourn = self.queue.last_departure.since(at);
        tally.sojourns = tally.sojourns.plus(sojourn, 1);
        tally.longest = tally.longest.max(sojourn);
        let connection = &mut self.connections[cell.vc as usize];
        connection.accepted += 1;
        let first = self.queue.last_departure.delayed(self.delay);
        let car = Cell { vc: connection.label, ..*cell };
        streams[connection.output].push_car(self.queue.last_number, first, car);
        if cell.is_last() {
            self.end_frame(cell.vc, sojourn);
        }
    }

    /// The last cell of a frame was accepted.
    fn end_frame(&mut self, vc: u32, sojourn: Span) {
        self.stats.delays.add(sojourn.ps());
        self.fingerprint.mix(self.queue.last_departure.ps() ^ u64::from(vc) << 48);
    }

    #[cold]
    fn discard(&mut self, at: Instant, cell: &Cell, reason: Reason) {
        self.connections[cell.vc as usize].discarded += 1;
        self.stats.discarded[reason as usize] += 1;
        let place = u64::from(cell.position) << 32 | u64::from(cell.vc);
        self.fingerprint.mix(at.ps().wrapping_add(place << 8 | reason as u64));
    }

    /// A train of more than one cell arrives, with none of another input in between.
    #[inline(never)]
    fn on_row<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        slot: Slot,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        loop {
            let gaps = self.gaps_behind(train, slot);
            let mut count = 1;
            if self.admits(policy, train.first, &train.car) {
                let mut row = Train::single(train.first, train.car);
                if let Some(gaps) = gaps
                    && policy.accepts_rest(&train.car)
                {
                    row = Train { gaps, ..*train };
                    count = train.count;
                }
                self.accept_row(&row, slot, tally, streams);
            }
            if count == train.count {
                return;
            }
            train.advance(1, slot);
        }
    }

    /// If all cells of `train` would find room and depart as a row: the gaps of that row.
    #[inline]
    fn gaps_behind(&self, train: &Train<Cell>, slot: Slot) -> Option<u64> {
        let queue = &self.queue;
        if queue.last_departure <= train.first && slot == queue.slot {
            // Each cell has left when the next one comes.
            return Some(train.gaps);
        }
        // Cells come at least as fast as they leave: the row departs back to back.
        (train.gaps == 0 && slot <= queue.slot && queue.has_room(train.first, u64::from(train.count))).then_some(0)
    }

    /// Accepts all cells of `train`, whose gaps are those of the row in which they depart.
    #[inline(always)]
    fn accept_row(&mut self, train: &Train<Cell>, slot: Slot, tally: &mut Tally, streams: &mut Streams<Cell>) {
        let (queue, last) = (&mut self.queue, train.count - 1);
        queue.accept(train.first);
        let first_sojourn = queue.last_departure.since(train.first);
        let mut last_sojourn = first_sojourn;
        if slot == queue.slot || last == 0 {
            tally.sojourns = tally.sojourns.plus(first_sojourn, u64::from(train.count));
        } else {
            // The row comes faster than it leaves: each cell waits longer than the one before.
            last_sojourn = first_sojourn.plus(queue.slot.minus(slot), u64::from(last));
            tally.sojourns = tally.sojourns.plus_row(first_sojourn, last_sojourn, u64::from(train.count));
        }
        tally.longest = tally.longest.max(last_sojourn);
        let connection = &mut self.connections[train.car.vc as usize];
        connection.accepted += u64::from(train.count);
        let car = Cell { vc: connection.label, ..train.car };
        let row = Train { first: queue.last_departure.delayed(self.delay), car, ..*train };
        let number = queue.last_number;
        if last > 0 {
            queue.extend(row.slots_to(last));
        }
        streams[connection.output].push(number, queue.last_number, row);
        if u32::from(train.car.position) + train.count == u32::from(train.car.length) {
            connection.at_frame_start = true;
            self.end_frame(train.car.vc, last_sojourn);
        }
    }
}
