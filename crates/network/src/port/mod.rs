//! An output port: the buffer in front of a link, its discard policy, and the link itself.
//!
//! The port owns the queue, executes the policy's verdicts and counts. It handles units: cells on a cell-framed link,
//! packets on a packet-framed one. A plain FIFO of either stores nothing that it need not; a port that queues by VC stores
//! every unit. Which of the three a port is, is asked once a visit.

mod accounted;
mod buffer;
mod cells;
mod control;
mod controlled;
mod packets;
mod queued;

use celltrain_atm::{
    Cell,
    buffer::{Policy, Reason},
    policing::{self, Policer},
    scheduler::Priority,
    with_policy,
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, Time,
    merge::Merge,
    stream::{StreamId, Streams},
    time::{NEVER, Span, SpanSum, seconds},
};

use self::{
    accounted::Accounts,
    buffer::{Buffer, Queue},
    cells::CellFifo,
    packets::PacketFifo,
    queued::VcQueues,
};
pub(crate) use self::{
    control::{Pass, RateControl, Role},
    packets::PacketLimit,
};
use crate::{
    measures::{Histogram, Sampler, Series},
    wire::Wires,
};

/// What a port knows of a VC that crosses it: where its cells go next, and what became of them.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// The stream to the VC's next port or host.
    pub(crate) output: StreamId,
    /// The VC's label there.
    pub(crate) label: u32,
    /// Where the contents of its frames wait; cell-level sources send frames without contents.
    pub(crate) wire: Option<usize>,
    /// Whether the next cell begins a frame.
    pub(crate) at_frame_start: bool,
    /// Units accepted, by priority: CLP = 0, CLP = 1.
    pub(crate) accepted: [u64; 2],
    /// Units discarded, by priority.
    pub(crate) discarded: [u64; 2],
}

impl Connection {
    /// A VC whose cells go on to `output`, where it is called `label`.
    pub(crate) fn new(output: StreamId, label: u32, wire: Option<usize>) -> Self {
        Self { output, label, wire, at_frame_start: true, accepted: [0; 2], discarded: [0; 2] }
    }
}

/// A port's counters; differences over a window are measured by taking a copy at its start.
#[derive(Debug, Clone, Default)]
pub struct PortStats {
    /// Cells discarded, by [`Reason`].
    pub discarded: [u64; Reason::ALL.len()],
    /// Frames marked instead of discarded.
    pub marked: u64,
    /// Sum of the times that accepted cells spend in the port. By Little's law it is the integral of the occupancy.
    pub sojourns: SpanSum,
    /// The longest of them.
    pub longest: Span,
    /// Sojourn times of the last cells of frames.
    pub delays: Histogram,
}

impl PortStats {
    /// Forgets the maximum and the distribution, which cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        self.longest = Span::default();
        self.delays = Histogram::default();
    }
}

/// An output port: its buffer, and the link behind it.
#[derive(Debug)]
pub struct Port {
    pub(crate) name: String,
    /// The link behind it, by its number in the graph.
    pub(crate) link: usize,
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    /// How many of the outputs lead along the link; the others take the ways back that pass the port.
    along_link: usize,
    /// The flow whose data each VC carries, by label; none where it carries ACKs.
    flows: Vec<Option<usize>>,
    policy: Policy,
    buffer: AnyBuffer,
    pub(crate) place: Place,
    clock: Time,
    samplers: PortSamplers,
}

/// What is followed over time, at one period.
#[derive(Debug)]
pub(crate) struct PortSamplers {
    occupancy: Sampler,
    /// Of the periods.
    utilisation: Sampler,
    abr_queue: Sampler,
    illegal: Sampler,
    /// How long the line had been busy at the last sample, in units of its own.
    busy: u64,
}

impl PortSamplers {
    /// Samples at `period`; `None`: never.
    pub(crate) fn new(period: Option<Time>) -> Self {
        let sampler = Sampler::new(period);
        Self {
            occupancy: sampler.clone(),
            utilisation: sampler.clone(),
            abr_queue: sampler.clone(),
            illegal: sampler,
            busy: 0,
        }
    }
}

/// Where a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Switch,
    /// A host's network interface.
    Interface,
    /// In a host, in front of its network interface.
    Shaper,
}

/// A buffer of any kind.
#[derive(Debug)]
enum AnyBuffer {
    Cells(Buffer<CellFifo>),
    Packets(Buffer<PacketFifo>),
    Queued(Buffer<VcQueues>),
}

/// Runs `$body` with `$bound` bound to the buffer inside `$any`.
macro_rules! with_buffer {
    ($any:expr, $bound:ident => $body:expr) => {
        match $any {
            AnyBuffer::Cells($bound) => $body,
            AnyBuffer::Packets($bound) => $body,
            AnyBuffer::Queued($bound) => $body,
        }
    };
}

/// The line and the room in front of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line {
    /// Cells of one slot each, and how many the buffer holds.
    Cells { slot: Slot, capacity: u64 },
    /// Packets: the time of a byte, the bytes added to each packet, and the size of the buffer.
    Packets { byte: Slot, overhead: u64, limit: PacketLimit },
}

impl Line {
    /// The spacing of units in a train.
    pub(crate) fn slot(self) -> Slot {
        match self {
            Self::Cells { slot, .. } => slot,
            Self::Packets { .. } => Slot::ZERO,
        }
    }

    /// The size of the buffer, in its unit.
    pub(crate) fn capacity(self) -> u64 {
        match self {
            Self::Cells { capacity, .. } => capacity,
            Self::Packets { limit: PacketLimit::Packets(limit) | PacketLimit::Bytes(limit), .. } => limit,
        }
    }
}

/// What a port is made of.
#[derive(Debug)]
pub(crate) struct PortParts {
    pub(crate) name: String,
    /// The link behind it, by its number in the graph.
    pub(crate) link: usize,
    pub(crate) inputs: Vec<StreamId>,
    pub(crate) outputs: Vec<StreamId>,
    /// Outputs for the ways back that pass the port.
    pub(crate) back_outputs: Vec<StreamId>,
    pub(crate) merge: Merge,
    pub(crate) policy: Policy,
    pub(crate) connections: Vec<Connection>,
    /// The flow whose data each VC carries, by label; none where it carries ACKs.
    pub(crate) flows: Vec<Option<usize>>,
    pub(crate) line: Line,
    /// Where the port queues by VC.
    pub(crate) queuing: Option<Queuing>,
    /// Whether the policy keeps accounts, where the port does not queue by VC.
    pub(crate) keeps_accounts: bool,
    /// Where ABR VCs cross the port.
    pub(crate) control: Option<Box<RateControl>>,
    pub(crate) delay: Time,
    pub(crate) place: Place,
    pub(crate) samplers: PortSamplers,
}

/// How a port queues by VC.
#[derive(Debug)]
pub(crate) struct Queuing {
    pub(crate) scheduler: Priority,
    /// The most that a VC may take of the buffer, in its unit.
    pub(crate) vc_capacity: u64,
    /// The policer of each VC that has one, by label.
    pub(crate) policers: Vec<Option<Policer>>,
}

impl Port {
    pub(crate) fn new(parts: PortParts) -> Self {
        let PortParts { merge, connections, control, delay, .. } = parts;
        let buffer = match (parts.queuing, parts.line) {
            (Some(queuing), line) => {
                let queue = VcQueues::new(line, queuing);
                AnyBuffer::Queued(Buffer::new(merge, connections, queue, control, delay))
            }
            (None, Line::Cells { slot, capacity }) => {
                let accounts = parts.keeps_accounts.then(|| Accounts::new(connections.len()));
                let queue = CellFifo::new(slot, capacity, accounts);
                AnyBuffer::Cells(Buffer::new(merge, connections, queue, control, delay))
            }
            (None, Line::Packets { byte, overhead, limit }) => {
                let queue = PacketFifo::new(byte, overhead, limit);
                AnyBuffer::Packets(Buffer::new(merge, connections, queue, control, delay))
            }
        };
        Self {
            name: parts.name,
            link: parts.link,
            inputs: parts.inputs,
            along_link: parts.outputs.len(),
            outputs: [parts.outputs, parts.back_outputs].concat(),
            flows: parts.flows,
            policy: parts.policy,
            buffer,
            place: parts.place,
            clock: 0,
            samplers: parts.samplers,
        }
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    /// The time that passes at the least between an arrival and what it causes at the other end of the link, or behind the
    /// port on a way back.
    pub(crate) fn lookahead(&self, place: usize) -> Time {
        if place >= self.along_link {
            return 0;
        }
        with_buffer!(&self.buffer, buffer => buffer.queue.shortest() + buffer.delay)
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// Units accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.connections().iter().flat_map(|connection| connection.accepted).sum()
    }

    /// Units discarded so far, summed over VCs.
    pub(crate) fn discarded(&self) -> u64 {
        self.connections().iter().flat_map(|connection| connection.discarded).sum()
    }

    /// Units of low priority (CLP = 1) accepted and discarded so far.
    pub(crate) fn low_priority(&self) -> [u64; 2] {
        let sum = |get: fn(&Connection) -> u64| self.connections().iter().map(get).sum();
        [sum(|connection| connection.accepted[1]), sum(|connection| connection.discarded[1])]
    }

    /// Units pushed out so far, which were accepted first.
    pub(crate) fn pushed_out(&self) -> u64 {
        self.stats().discarded[Reason::PushedOut as usize]
    }

    /// Units that arrived so far.
    pub(crate) fn arrived(&self) -> u64 {
        self.accepted() + self.stats().discarded.iter().sum::<u64>() - self.pushed_out()
    }

    /// Units accepted and discarded so far for each flow whose data crosses the port.
    pub(crate) fn by_flow(&self) -> impl Iterator<Item = (usize, [u64; 2])> {
        let counts = |connection: &Connection| {
            [connection.accepted, connection.discarded].map(|[high, low]| high + low)
        };
        std::iter::zip(&self.flows, self.connections())
            .filter_map(move |(flow, connection)| flow.map(|flow| (flow, counts(connection))))
    }

    /// What the policers of the flows that have one here have counted so far.
    pub(crate) fn policed(&self) -> impl Iterator<Item = (usize, policing::Stats)> {
        let policers = match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => &[],
            AnyBuffer::Queued(buffer) => buffer.queue.policers(),
        };
        std::iter::zip(&self.flows, policers)
            .filter_map(|(flow, policer)| Some(((*flow)?, policer.as_ref()?.stats())))
    }

    fn connections(&self) -> &[Connection] {
        with_buffer!(&self.buffer, buffer => &buffer.connections)
    }

    /// Its counters.
    pub(crate) fn stats(&self) -> &PortStats {
        with_buffer!(&self.buffer, buffer => &buffer.stats)
    }

    /// What it did, as a number.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        with_buffer!(&self.buffer, buffer => buffer.fingerprint)
    }

    /// Forgets the maximum and the distribution, which cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        with_buffer!(&mut self.buffer, buffer => buffer.begin_window());
        match &mut self.buffer {
            AnyBuffer::Cells(_) => {}
            AnyBuffer::Packets(buffer) => buffer.queue.most = 0,
            AnyBuffer::Queued(buffer) => buffer.queue.begin_window(),
        }
    }

    /// Largest occupancy in the unit of the buffer's size, the arriving cell or packet included.
    pub(crate) fn occupancy_max(&self) -> u64 {
        match &self.buffer {
            AnyBuffer::Cells(buffer) => buffer.stats.longest.slots(buffer.queue.slot),
            AnyBuffer::Packets(buffer) => buffer.queue.most,
            AnyBuffer::Queued(buffer) => buffer.queue.most(),
        }
    }

    /// The time for which the line has been busy with what it has sent, in units of so many seconds: slots, or bytes.
    pub(crate) fn busy(&self) -> (u64, f64) {
        match &self.buffer {
            AnyBuffer::Cells(buffer) => (self.accepted() - self.occupancy(), buffer.queue.slot.seconds()),
            AnyBuffer::Packets(buffer) => {
                (buffer.queue.sent(Instant::start_of(self.clock)), buffer.queue.byte().seconds())
            }
            AnyBuffer::Queued(buffer) => buffer.queue.busy(),
        }
    }

    /// What units are called.
    pub(crate) fn unit(&self) -> &'static str {
        match &self.buffer {
            AnyBuffer::Cells(_) => "cells",
            AnyBuffer::Packets(_) => "packets",
            AnyBuffer::Queued(buffer) => buffer.queue.unit(),
        }
    }

    /// The rate control, where ABR VCs cross the port.
    pub(crate) fn control(&self) -> Option<&RateControl> {
        with_buffer!(&self.buffer, buffer => buffer.control.as_deref())
    }

    /// Units in the buffer at the port's clock.
    pub(crate) fn occupancy(&self) -> u64 {
        // At its clock a port has handled what is before it, and what departs at the clock has left.
        let now = Instant::start_of(self.clock);
        match &self.buffer {
            AnyBuffer::Cells(buffer) => buffer.queue.occupancy(now),
            AnyBuffer::Packets(buffer) => buffer.queue.packets(now),
            AnyBuffer::Queued(buffer) => buffer.queue.units(),
        }
    }

    /// What the buffer holds beyond the VCs' own parts of it, if its policy gives them any.
    fn illegal(&self) -> Option<u64> {
        match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => None,
            AnyBuffer::Queued(buffer) => {
                with_policy!(&self.policy, policy => buffer.queue.illegal(policy))
            }
        }
    }

    /// Units accepted that are not yet in an output stream at the port's clock.
    pub(crate) fn kept(&self) -> u64 {
        match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => 0,
            AnyBuffer::Queued(buffer) => buffer.queue.waiting(),
        }
    }

    pub(crate) fn next_event(&self, streams: &Streams<Cell>) -> Time {
        let arrivals = self.inputs.iter().filter_map(|&input| streams[input].next_arrival());
        let departure = match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => NEVER,
            AnyBuffer::Queued(buffer) => buffer.queue.next_event(),
        };
        arrivals.min().unwrap_or(NEVER).min(departure)
    }

    /// Handles the arrivals before `until` and tells the outputs how far they are known.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams<Cell>, wires: &mut Wires) -> u64 {
        with_buffer!(&mut self.buffer, buffer => buffer.merge.refill(streams));
        let mut units = 0;
        while self.samplers.occupancy.due() <= until {
            units += self.handle(self.samplers.occupancy.due(), streams, wires);
            self.sample();
        }
        units += self.handle(until, streams, wires);
        let horizon = match &self.buffer {
            AnyBuffer::Cells(buffer) => buffer.queue.next_departure(until) + buffer.delay,
            AnyBuffer::Packets(buffer) => buffer.queue.next_departure(until) + buffer.delay,
            AnyBuffer::Queued(buffer) => buffer.queue.next_departure(until) + buffer.delay,
        };
        let (along_link, back) = self.outputs.split_at(self.along_link);
        for &output in along_link {
            streams[output].advance_horizon(horizon);
        }
        for &output in back {
            streams[output].advance_horizon(until);
        }
        units
    }

    fn sample(&mut self) {
        let (occupancy, (busy, unit)) = (self.occupancy(), self.busy());
        let abr_queue = self.control().map(RateControl::queue);
        let illegal = self.illegal();
        let samplers = &mut self.samplers;
        samplers.occupancy.record(occupancy as f64);
        let sent = busy - std::mem::replace(&mut samplers.busy, busy);
        samplers.utilisation.record(sent as f64 * unit / seconds(samplers.utilisation.period()));
        if let Some(queue) = abr_queue {
            samplers.abr_queue.record(queue as f64);
        }
        if let Some(illegal) = illegal {
            samplers.illegal.record(illegal as f64);
        }
    }

    /// What was followed over time.
    pub(crate) fn series(&self) -> [Series; 4] {
        let PortSamplers { occupancy, utilisation, abr_queue, illegal, .. } = &self.samplers;
        [
            occupancy.series(&self.name, "occupancy", self.unit()),
            utilisation.series(&self.name, "utilisation", ""),
            abr_queue.series(&self.name, "abr_queue", "cells"),
            illegal.series(&self.name, "illegal_occupancy", self.unit()),
        ]
    }

    fn handle(&mut self, until: Time, streams: &mut Streams<Cell>, wires: &mut Wires) -> u64 {
        self.clock = until;
        match &mut self.buffer {
            AnyBuffer::Cells(buffer) => {
                with_policy!(&mut self.policy, policy => buffer.serve(policy, until, streams, wires))
            }
            AnyBuffer::Packets(buffer) => {
                with_policy!(&mut self.policy, policy => buffer.serve(policy, until, streams, wires))
            }
            AnyBuffer::Queued(buffer) => {
                with_policy!(&mut self.policy, policy => buffer.serve(policy, until, streams, wires))
            }
        }
    }
}
