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
mod counts;
mod packets;
mod queued;
mod watch;

use celltrain_atm::{
    Cell,
    buffer::{Policy, Reason},
    cell::Kind,
    policing::Policer,
    scheduler::Priority,
    with_policy,
};
use celltrain_engine::{
    Slot, Time,
    merge::Merge,
    stream::{StreamId, Streams},
    time::{NEVER, Span, SpanSum},
};

use self::{accounted::Accounts, buffer::Buffer, cells::CellFifo, packets::PacketFifo, queued::VcQueues};
pub(crate) use self::{
    control::{Pass, RateControl, Role},
    packets::PacketLimit,
};
use crate::{
    measures::{Histogram, Sampler},
    wire::Wires,
};

/// What a port knows of a VC that crosses it: where its cells go next, and what became of them.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// The stream to the VC's next port or host.
    pub(crate) output: StreamId,
    /// The VC's label there.
    pub(crate) label: u32,
    /// Where its backward RM cells go first and what it is called there, if a port stamps them on their way to the next one.
    pub(crate) detour: Option<(StreamId, u32)>,
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
        let (accepted, discarded) = ([0; 2], [0; 2]);
        Self { output, label, detour: None, wire, at_frame_start: true, accepted, discarded }
    }

    /// Where a cell of `kind` goes on to, and the VC's label there.
    #[inline]
    pub(crate) fn way(&self, kind: Kind) -> (StreamId, u32) {
        match self.detour {
            Some(detour) if kind == Kind::BackwardRm => detour,
            _ => (self.output, self.label),
        }
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

use with_buffer;

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

    pub(crate) fn next_event(&self) -> Time {
        match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => NEVER,
            AnyBuffer::Queued(buffer) => buffer.queue.next_event(),
        }
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
