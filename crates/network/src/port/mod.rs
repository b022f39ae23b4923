//! An output port: the buffer in front of a link, its discard policy, and the link itself.
//!
//! A port is admission ([`admission`]: the one place where it is decided what happens to a unit that arrives), a service
//! ([`service`]: departures computed on arrival, or queues stored) and a link. It handles units: cells on a cell-framed
//! link, packets on a packet-framed one. It owns the queue, executes the policy's verdicts, and counts; which of its three
//! forms a port has is looked at once a visit.

mod admission;
mod bursts;
mod cell_loop;
mod cells;
mod computed;
mod core;
#[cfg(test)]
mod cuts;
mod entry;
mod fifo;
mod measures;
mod occupancy;
mod packet_loop;
mod packets;
mod passing;
mod queues;
mod service;
mod sharing;
mod stored;
mod straight;
mod tally;
mod watch;

use celltrain_atm::{
    buffer::{BufferPolicy, Needs, Policy, Reason},
    policing::Policer,
    quantity::Capacity,
    scheduler::ServiceTime,
    with_policy,
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, SpanSum, Time, merge::Merge, quantity::BitRate, stream::StreamId, time::NEVER,
};

use self::{
    cells::CellFifo, computed::Computed, core::PortCore, packets::PacketFifo, service::Service,
    stored::Stored,
};
pub(crate) use self::{entry::VcEntry, service::ServiceKind, stored::Queuing};
use crate::{
    few::Few,
    flight::Streams,
    measures::{Histogram, PortSamplers},
    rate_control::RateControl,
    slots::Slots,
};

/// A port's counters; what happened in a window is the difference of two states of them.
#[derive(Debug, Clone, Default)]
pub struct PortStats {
    /// Units discarded, by [`Reason`], if any were: most ports discard none.
    discarded: Option<Box<[u64; Reason::ALL.len()]>>,
    /// Frames marked instead of discarded.
    pub marked: u64,
    /// Sum of the times that units spend in the port: of those accepted where departures are computed on arrival, of those that have left
    /// where queues are stored.
    pub(super) sojourns: SpanSum,
    /// Sojourn times of the last cells of frames, or of packets, that have left.
    pub delays: Histogram,
}

impl PortStats {
    /// Units discarded, by [`Reason`].
    pub(crate) fn discarded(&self) -> [u64; Reason::ALL.len()] {
        self.discarded.as_deref().copied().unwrap_or_default()
    }

    /// A unit is discarded.
    fn discard(&mut self, reason: Reason) {
        self.discarded.get_or_insert_default()[reason as usize] += 1;
    }

    /// Units accepted first and discarded later.
    pub(crate) fn withdrawn(&self) -> u64 {
        let discarded = self.discarded();
        let withdraws = Reason::ALL.iter().filter(|reason| reason.withdraws());
        withdraws.map(|&reason| discarded[reason as usize]).sum()
    }

    /// Forgets the distribution, which cannot be had as a difference: a new window begins.
    fn begin_window(&mut self) {
        self.delays = Histogram::default();
    }
}

/// The books of a port are checked after a visit as soon as this many units have arrived for each of its VCs, and one for each unit
/// that was in the buffer at the check before: the check looks at all of them, and must not cost more than what it checks.
const UNITS_A_CHECK: u64 = 256;

/// An output port: its buffer, and the link behind it.
#[derive(Debug)]
pub struct Port {
    /// The link behind it, by its number in the graph.
    pub(crate) link: usize,
    outputs: Few<StreamId>,
    /// How many of the outputs lead along the link; the others are of reverse paths.
    along_link: u32,
    /// The flow whose data each VC carries; none where it carries ACKs.
    flows: Few<Option<u32>>,
    policy: Policy,
    core: AnyCore,
    pub(crate) location: Location,
    clock: Time,
    /// Units that have arrived for the link.
    arrived: u64,
    /// How many more make a check of the books due.
    check_after: u64,
    /// If anything is followed over time. In a box, as most ports follow nothing.
    samplers: Option<Box<PortSamplers>>,
}

/// The number of a flow, as ports keep it: there are very many.
///
/// # Panics
/// If there are more than 2^32 flows.
fn numbered(flow: usize) -> u32 {
    u32::try_from(flow).expect("a network has fewer flows than 2^32")
}

/// Whether a policy needs per-VC occupancy, and whether it pushes out.
fn needs<P: BufferPolicy>(_: &P) -> (bool, bool) {
    (P::Needs::PER_VC, P::Needs::PUSH_OUT)
}

/// Where a port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    Switch,
    /// A host's network interface.
    Interface,
}

/// A port of any form.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "ports of cells have their state at hand")]
enum AnyCore {
    Cells(PortCore<Computed<CellFifo>>),
    // Longer than that of cells: a network of cells need not have the room.
    Packets(Box<PortCore<Computed<PacketFifo>>>),
    Stored(Box<PortCore<Stored>>),
}

/// Runs `$body` with `$bound` bound to the core inside `$any`.
macro_rules! with_core {
    ($any:expr, $bound:ident => $body:expr) => {
        match $any {
            AnyCore::Cells($bound) => $body,
            AnyCore::Packets($bound) => $body,
            AnyCore::Stored($bound) => $body,
        }
    };
}

use with_core;

/// The link and the room in front of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line {
    /// Cells of one slot each, and how many the buffer holds.
    Cells { slot: Slot, capacity: u64 },
    /// Packets: the time of an octet, the octets added to each packet, and the size of the buffer.
    Packets { octet: Slot, overhead: u64, limit: Capacity },
}

impl Line {
    /// The spacing of units in a train.
    pub(crate) fn slot(self) -> Slot {
        match self {
            Self::Cells { slot, .. } => slot,
            Self::Packets { .. } => Slot::ZERO,
        }
    }

    /// The same at another rate, one of those of `slots`.
    pub(crate) fn at(self, rate: BitRate, slots: &Slots) -> Self {
        match self {
            Self::Cells { capacity, .. } => Self::Cells { slot: slots.cell(rate), capacity },
            Self::Packets { overhead, limit, .. } => {
                Self::Packets { octet: slots.octets(1, rate), overhead, limit }
            }
        }
    }

    /// The time that a unit takes at the least.
    fn shortest(self) -> Time {
        match self {
            Self::Cells { slot, .. } => slot.ps(),
            Self::Packets { octet, overhead, .. } => packets::shortest(octet, overhead),
        }
    }

    /// How long a unit occupies the link.
    pub(crate) fn service(self) -> ServiceTime {
        match self {
            Self::Cells { slot, .. } => ServiceTime::of_cells(slot),
            Self::Packets { octet, overhead, .. } => ServiceTime::of_packets(octet, overhead),
        }
    }

    /// The size of the buffer, in its unit.
    pub(crate) fn capacity(self) -> u64 {
        match self {
            Self::Cells { capacity, .. } => capacity,
            Self::Packets { limit, .. } => limit.units(),
        }
    }
}

/// What a port is made of.
#[derive(Debug)]
pub(crate) struct PortParts {
    /// The link behind it, by its number in the graph.
    pub(crate) link: usize,
    pub(crate) outputs: Vec<StreamId>,
    /// Outputs for the reverse paths on which it relays RM cells.
    pub(crate) relay_outputs: Vec<StreamId>,
    pub(crate) merge: Merge,
    pub(crate) policy: Policy,
    pub(crate) entries: Vec<VcEntry>,
    /// The policer of each VC that has one; empty where none has.
    pub(crate) policers: Vec<Option<Policer>>,
    /// The flow whose data each VC carries; none where it carries ACKs.
    pub(crate) flows: Vec<Option<usize>>,
    pub(crate) line: Line,
    /// Where the port stores its queues.
    pub(crate) queuing: Option<Queuing>,
    /// Where ABR VCs cross the port.
    pub(crate) control: Option<Box<RateControl>>,
    pub(crate) delay: Time,
    pub(crate) location: Location,
    pub(crate) samplers: Option<Box<PortSamplers>>,
}

impl Port {
    /// # Panics
    /// If the policy pushes out and the port does not store its queues.
    pub(crate) fn new(parts: PortParts) -> Self {
        let PortParts { merge, policy, entries, policers, control, delay, .. } = parts;
        let (per_vc, pushes_out) = with_policy!(&policy, policy => needs(policy));
        assert!(parts.queuing.is_some() || !pushes_out, "a port whose policy pushes out stores its queues");
        let per_vc = per_vc.then_some(entries.len());
        let shared = PortCore {
            merge,
            entries: entries.into_boxed_slice(),
            policers: policers.into_boxed_slice(),
            service: (),
            control,
            delay,
            stats: PortStats::default(),
            fingerprint: Fingerprint::default(),
            log: None,
        };
        let core = match (parts.queuing, parts.line) {
            (Some(queuing), line) => {
                AnyCore::Stored(Box::new(shared.serving(Stored::new(line, queuing, pushes_out))))
            }
            (None, Line::Cells { slot, capacity }) => {
                AnyCore::Cells(shared.serving(Computed::new(CellFifo::new(slot, capacity), per_vc)))
            }
            (None, Line::Packets { octet, overhead, limit }) => {
                let fifo = PacketFifo::new(octet, overhead, limit);
                AnyCore::Packets(Box::new(shared.serving(Computed::new(fifo, per_vc))))
            }
        };
        let check_after = UNITS_A_CHECK * parts.flows.len() as u64;
        Self {
            link: parts.link,
            along_link: parts.outputs.len() as u32,
            outputs: parts.outputs.into_iter().chain(parts.relay_outputs).collect(),
            flows: parts.flows.into_iter().map(|flow| flow.map(numbered)).collect(),
            policy,
            core,
            location: parts.location,
            clock: 0,
            arrived: 0,
            check_after,
            samplers: parts.samplers,
        }
    }

    /// The network is about to run on until `end`.
    pub(crate) fn run_on(&mut self, end: Time) {
        match &mut self.core {
            AnyCore::Cells(core) => core.run_on(end),
            AnyCore::Packets(core) => core.run_on(end),
            AnyCore::Stored(_) => {}
        }
    }

    /// Whether it handles cells that take turns in rounds.
    pub(crate) fn takes_rounds(&self) -> bool {
        matches!(&self.core, AnyCore::Cells(core) if core.takes_rounds())
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        with_core!(&self.core, core => core.merge.inputs())
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    /// The time that passes at the least between an arrival and what it causes at the other end of the link, or behind the
    /// port on a reverse path.
    pub(crate) fn lookahead(&self, place: usize) -> Time {
        if place >= self.along_link as usize {
            return 0;
        }
        with_core!(&self.core, core => core.service.shortest() + core.delay)
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    pub(crate) fn next_event(&self) -> Time {
        match &self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => NEVER,
            AnyCore::Stored(core) => core.service.next_event(),
        }
    }

    /// Handles the arrivals before `until`, and checks the books if that is due.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut units = 0;
        while let Some(due) = self.next_sample().filter(|&due| due <= until) {
            units += self.handle(due, streams);
            self.sample();
        }
        units += self.handle(until, streams);
        self.note_arrived(units);
        self.check_books(streams);
        units
    }

    /// So many units have arrived for the link.
    fn note_arrived(&mut self, units: u64) {
        self.arrived += units;
        self.check_after = self.check_after.saturating_sub(units);
    }

    /// Everything before its clock has been handled: tells the outputs how far they are known.
    // Forced inline: every visit of every port in a round calls it.
    #[inline(always)]
    pub(crate) fn promise(&self, streams: &mut Streams) {
        let until = self.clock;
        let horizon = with_core!(&self.core, core => {
            until.max(core.service.free()) + core.service.shortest() + core.delay
        });
        let (along_link, reverse) = self.outputs.split_at(self.along_link as usize);
        for &output in along_link {
            streams[output].advance_horizon(horizon);
        }
        for &output in reverse {
            streams[output].advance_horizon(until);
        }
    }

    /// Checks the books if that is due.
    #[inline(always)]
    pub(crate) fn check_books(&mut self, streams: &Streams) {
        if self.check_after == 0 {
            self.check_conservation(streams);
            self.check_after = UNITS_A_CHECK * self.flows.len() as u64 + self.occupancy();
        }
    }

    /// When the next samples are to be taken.
    #[inline]
    pub(crate) fn next_sample(&self) -> Option<Time> {
        Some(self.samplers.as_ref()?.due())
    }

    fn handle(&mut self, until: Time, streams: &mut Streams) -> u64 {
        self.clock = until;
        // Of very many ports most have nothing to do.
        let rests = match &mut self.core {
            AnyCore::Cells(core) => core.rests_until(until, streams),
            AnyCore::Packets(core) => core.rests_until(until, streams),
            AnyCore::Stored(_) => false,
        };
        if rests {
            return 0;
        }
        with_policy!(&mut self.policy, policy => match &mut self.core {
            AnyCore::Cells(core) => core.serve(policy, until, streams),
            AnyCore::Packets(core) => core.serve_packets(policy, until, streams),
            AnyCore::Stored(core) => core.serve(policy, until, streams),
        })
    }

    /// The port's clock as an instant: it has handled what is before it, and what departs then has left.
    fn now(&self) -> Instant {
        Instant::start_of(self.clock)
    }
}

#[cfg(test)]
mod tests;
