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
    Fingerprint, Instant, Slot, Time, time::{Span, SpanSum},
    merge::{Merge, Run},
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

/// A port's counters; differences over a window are measured by taking a copy at its start.
#[derive(Debug, Clone, Default)]
pub struct PortStats {
    /// Cells queued.
    pub accepted: u64,
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
    /// Cells that arrived.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.accepted + self.discarded.iter().sum::<u64>()
    }

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
    merge: Merge<Cell>,
    policy: Policy,
    pub(crate) connections: Vec<Connection>,
    queue: Fifo,
    delay: Time,
    /// Whether the port is a switch's; otherwise it is a host's network interface.
    pub(crate) from_switch: bool,
    clock: Time,
    pub(crate) stats: PortStats,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) sampler: Sampler,
}

/// The state of a FIFO queue in front of a link.
#[derive(Debug, Clone)]
struct Fifo {
    slot: Slot,
    capacity: u64,
    /// A backlog shorter than this leaves room for a cell.
    roomy: Time,
    last_departure: Instant,
}

impl Connection {
    /// A VC whose cells go on to `output`, where it is called `label`.
    pub(crate) fn new(output: StreamId, label: u32) -> Self {
        Self { output, label, at_frame_start: true, accepted: 0, discarded: 0 }
    }
}

impl Fifo {
    fn new(slot: Slot, capacity: u64) -> Self {
        let roomy = capacity.saturating_sub(1).saturating_mul(slot.ps());
        Self { slot, capacity, roomy, last_departure: Instant::default() }
    }

    /// Cells in the buffer when a cell arrives at `now`. A cell leaves when its last bit is sent.
    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        if self.last_departure <= now { 0 } else { self.last_departure.since(now).slots(self.slot) }
    }

    /// Queues `count` cells that arrive at `at`, and returns when the first departs.
    #[inline]
    fn accept(&mut self, at: Instant, count: u64) -> Instant {
        let first = self.last_departure.max(at).plus(self.slot);
        self.last_departure = if count == 1 { first } else { first.plus_slots(self.slot, count - 1) };
        first
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
    pub(crate) merge: Merge<Cell>,
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
        Self {
            name: parts.name,
            inputs: parts.inputs,
            outputs: parts.outputs,
            merge: parts.merge,
            policy: parts.policy,
            connections: parts.connections,
            queue: Fifo::new(parts.slot, parts.capacity),
            delay: parts.delay,
            from_switch: parts.from_switch,
            clock: 0,
            stats: PortStats::default(),
            fingerprint: Fingerprint::default(),
            sampler: parts.sampler,
        }
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    /// Cells taken from the input streams that have not arrived yet.
    pub(crate) fn held(&self) -> u64 {
        self.merge.held()
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// The time of one cell on the link.
    pub(crate) fn slot(&self) -> Slot {
        self.queue.slot
    }

    /// The same in seconds, for output.
    pub(crate) fn slot_seconds(&self) -> f64 {
        self.queue.slot.seconds()
    }

    /// Cells in the buffer at the port's clock.
    pub(crate) fn occupancy(&self) -> u64 {
        // At its clock a port has handled what is before it, and a cell that departs at the clock has left.
        self.queue.occupancy(Instant::start_of(self.clock))
    }

    pub(crate) fn next_event(&self, streams: &Streams<Cell>) -> Time {
        let arriving = self.inputs.iter().filter_map(|&input| streams[input].next_arrival()).min();
        self.merge.next_arrival().min(arriving.unwrap_or(Time::MAX))
    }

    /// Handles the arrivals before `until` and tells the outputs how far they are known.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams<Cell>) -> u64 {
        self.merge.refill(streams);
        let mut cells = 0;
        while self.sampler.due() <= until {
            cells += self.handle(self.sampler.due(), streams);
            self.clock = self.sampler.due();
            let occupancy = self.occupancy();
            self.sampler.record(occupancy as f64);
        }
        cells += self.handle(until, streams);
        self.clock = until;
        // The next cell departs a slot after its arrival, or after the backlog.
        let next_departure = until.max(self.queue.last_departure.ps()) + self.queue.slot.ps();
        for &output in &self.outputs {
            streams[output].advance_horizon(next_departure + self.delay);
        }
        cells
    }

    fn handle(&mut self, until: Time, streams: &mut Streams<Cell>) -> u64 {
        let mut policy = std::mem::replace(&mut self.policy, Policy::TailDrop(celltrain_atm::buffer::tail_drop::TailDrop));
        let cells = with_policy!(&mut policy, policy => self.serve(policy, until, streams));
        self.policy = policy;
        cells
    }

    fn serve<P: BufferPolicy>(&mut self, policy: &mut P, until: Time, streams: &mut Streams<Cell>) -> u64 {
        let mut cells = 0;
        while let Some(run) = self.merge.next_run(until, streams) {
            cells += u64::from(run.count);
            if P::IGNORES_FRAMES && run.count > 1 && self.has_room_for(&run) {
                self.accept_together(&run, streams);
                continue;
            }
            let (mut at, mut cell) = (run.first, run.car);
            for _ in 0..run.count {
                self.on_arrival(policy, at, cell, streams);
                at = at.plus(run.slot);
                cell.position += 1;
            }
        }
        cells
    }

    /// One cell arrives: the policy decides, the port obeys.
    #[inline]
    fn on_arrival<P: BufferPolicy>(&mut self, policy: &mut P, at: Instant, cell: Cell, streams: &mut Streams<Cell>) {
        let now = at.ps();
        let connection = &mut self.connections[cell.vc as usize];
        let last = cell.is_last();
        let arrival = Arrival { queue: &self.queue, at, first: connection.at_frame_start };
        connection.at_frame_start = last;
        let verdict = policy.on_arrival(&cell, &arrival, now);
        match verdict {
            Verdict::Accept => {
                assert!(!arrival.is_full(), "the policy accepted a cell into a full buffer");
                let departure = self.queue.accept(at, 1);
                connection.accepted += 1;
                self.stats.accepted += 1;
                let sojourn = departure.since(at);
                self.stats.sojourns.add(sojourn);
                self.stats.longest = self.stats.longest.max(sojourn);
                if last {
                    self.stats.delays.add(sojourn.ps());
                    self.fingerprint.mix(departure.ps() ^ u64::from(cell.vc) << 48);
                }
                let car = Cell { vc: connection.label, ..cell };
                streams[connection.output].push(Train { first: departure.delayed(self.delay), count: 1, car });
            }
            Verdict::Discard(reason) => {
                connection.discarded += 1;
                self.stats.discarded[reason as usize] += 1;
                let place = u64::from(cell.position) << 32 | u64::from(cell.vc);
                self.fingerprint.mix(now.wrapping_add(place << 8 | reason as u64));
            }
        }
    }

    fn has_room_for(&self, run: &Run<Cell>) -> bool {
        // Cells that leave meanwhile only make more room.
        run.slot <= self.queue.slot
            && self.queue.occupancy(run.first).saturating_add(u64::from(run.count)) <= self.queue.capacity
    }

    /// A run of cells that all fit goes through as one train: no policy that ignores frames can tell them apart. They
    /// arrive at least as fast as the link sends, so they depart back to back.
    fn accept_together(&mut self, run: &Run<Cell>, streams: &mut Streams<Cell>) {
        let count = u64::from(run.count);
        let first = self.queue.accept(run.first, count);
        let last_arrival = run.first.plus_slots(run.slot, count - 1);
        let last_sojourn = self.queue.last_departure.since(last_arrival);
        self.stats.sojourns.add_row(first.since(run.first), last_sojourn, count);
        self.stats.longest = self.stats.longest.max(last_sojourn);
        self.stats.accepted += count;
        let connection = &mut self.connections[run.car.vc as usize];
        connection.accepted += count;
        let last = u32::from(run.car.position) + run.count == u32::from(run.car.length);
        connection.at_frame_start = last;
        if last {
            self.stats.delays.add(last_sojourn.ps());
            self.fingerprint.mix(self.queue.last_departure.ps() ^ u64::from(run.car.vc) << 48);
        }
        let car = Cell { vc: connection.label, ..run.car };
        streams[connection.output].push(Train { first: first.delayed(self.delay), count: run.count, car });
    }
}
