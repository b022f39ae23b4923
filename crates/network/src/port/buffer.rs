//! What the buffers of cells and of packets share: asking the policy, obeying it, counting.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortView, Reason, Verdict},
    cell::{Ecn, Kind},
};
use celltrain_engine::{
    Fingerprint, Instant, Slot, Time,
    merge::Merge,
    stream::{Streams, Train},
    time::Span,
};

use super::{Connection, PortStats, RateControl};
use crate::live::DiscardLog;

/// A first-in-first-out queue whose departures are known as soon as a unit, a cell or a packet, is accepted.
pub(crate) trait Queue {
    /// Whether units are packets; otherwise cells.
    const PACKETS: bool;

    /// The limit, in the unit of [`Queue::occupancy`].
    fn capacity(&self) -> u64;

    /// What is in the buffer when a unit arrives at `now`, the unit in transmission included.
    fn occupancy(&self, now: Instant) -> u64;

    /// Whether the unit at hand finds no room at `now`.
    fn is_full(&self, now: Instant) -> bool;

    /// Queues the unit at hand, which arrives at `at`.
    fn accept(&mut self, at: Instant);

    /// From one departure to the next, back to back; zero where units are of all sizes.
    fn slot(&self) -> Slot;

    /// When the last bit of the last unit is sent.
    fn last_departure(&self) -> Instant;

    /// Number of the last departure: departures back to back have neighbouring numbers, others are far apart.
    fn last_number(&self) -> u64;
}

/// All of a port but the policy that is asked about it.
#[derive(Debug)]
pub(crate) struct Buffer<Q> {
    pub(super) merge: Merge,
    /// Room for trains that take turns.
    pub(super) rows: Vec<Train<Cell>>,
    pub(super) connections: Vec<Connection>,
    pub(super) queue: Q,
    /// Where ABR VCs cross the port.
    pub(super) control: Option<Box<RateControl>>,
    /// Propagation delay of the link.
    pub(super) delay: Time,
    pub(crate) stats: PortStats,
    pub(crate) fingerprint: Fingerprint,
    /// Discards, if somebody watches.
    pub(super) log: Option<Box<DiscardLog>>,
}

/// The port as the policy sees it when a cell arrives.
struct Arrival<'a, Q> {
    queue: &'a Q,
    at: Instant,
    first: bool,
}

impl<Q: Queue> PortView for Arrival<'_, Q> {
    #[inline]
    fn capacity(&self) -> u64 {
        self.queue.capacity()
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
    fn is_packet(&self) -> bool {
        Q::PACKETS
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.queue.is_full(self.at)
    }
}

/// Sojourn times summed during one visit, which fit fewer bits than those of a whole run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sojourns: Span,
    pub(super) longest: Span,
}

impl<Q> Buffer<Q> {
    pub(super) fn new(
        merge: Merge,
        connections: Vec<Connection>,
        queue: Q,
        control: Option<Box<RateControl>>,
        delay: Time,
    ) -> Self {
        let (stats, fingerprint) = (PortStats::default(), Fingerprint::default());
        Self { merge, rows: Vec::new(), connections, queue, control, delay, stats, fingerprint, log: None }
    }

    pub(super) fn begin_window(&mut self) {
        self.stats.begin_window();
        if let Some(control) = &mut self.control {
            control.begin_window();
        }
    }

    /// Mixes into the fingerprint that a frame's last cell was accepted at `at`. A port that stores its queue does not know
    /// yet when it will leave.
    #[inline]
    pub(super) fn note_frame(&mut self, at: Instant, vc: u32) {
        self.fingerprint.mix(at.ps() ^ u64::from(vc) << 48);
    }

    /// Counts a cell that does not go on, or not any longer.
    #[cold]
    pub(super) fn discard(&mut self, at: Instant, cell: &Cell, reason: Reason) {
        self.connections[cell.vc as usize].discarded[usize::from(cell.clp)] += 1;
        self.stats.discarded[reason as usize] += 1;
        let place = u64::from(cell.position) << 32 | u64::from(cell.vc);
        self.fingerprint.mix(at.ps().wrapping_add(place << 8 | reason as u64));
        if let Some(log) = &mut self.log {
            log.add(at.ps(), cell, reason.column());
        }
    }
}

impl<Q: Queue> Buffer<Q> {
    /// Asks the policy about a cell, and counts it if it is discarded; returns the mark with which it goes on otherwise.
    #[inline(always)]
    pub(super) fn admits<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        at: Instant,
        cell: &Cell,
    ) -> Option<Ecn> {
        let connection = &mut self.connections[cell.vc as usize];
        let first = connection.at_frame_start;
        let arrival = Arrival { queue: &self.queue, at, first };
        connection.at_frame_start = cell.is_last();
        match policy.on_arrival(cell, &arrival, at.ps()) {
            Verdict::Accept => Some(cell.ecn),
            Verdict::Mark => {
                self.stats.marked += u64::from(first);
                Some(Ecn::Marked)
            }
            Verdict::Discard(reason) => {
                self.discard(at, cell, reason);
                None
            }
            Verdict::PushOut(_) => unreachable!("a policy that pushes out keeps accounts"),
        }
    }

    /// A cell arrives, as a train of its own: the policy decides, the port obeys.
    // Forced into the loop over arrivals, where its arguments stay in registers.
    #[inline(always)]
    pub(super) fn on_cell<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        if let Some(ecn) = self.admits(policy, cell.first, &cell.car) {
            cell.car.ecn = ecn;
            self.accept_cell(cell, tally, streams);
        }
    }

    /// Queues a cell and sends it on; `cell` becomes what arrives at the other end.
    #[inline(always)]
    pub(super) fn accept_cell(
        &mut self,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams<Cell>,
    ) {
        self.queue.accept(cell.first);
        let (departure, number) = (self.queue.last_departure(), self.queue.last_number());
        let sojourn = departure.since(cell.first);
        tally.sojourns = tally.sojourns.plus(sojourn, 1);
        tally.longest = tally.longest.max(sojourn);
        let vc = cell.car.vc;
        let connection = &mut self.connections[vc as usize];
        connection.accepted[usize::from(cell.car.clp)] += 1;
        cell.first = departure.delayed(self.delay);
        cell.slot = self.queue.slot();
        if !cell.car.is_last() {
            cell.car.vc = connection.label;
            return streams[connection.output].push(number, number, cell);
        }
        let (output, label) = connection.way(cell.car.kind);
        cell.car.vc = label;
        streams[output].push(number, number, cell);
        self.end_frame(vc, cell.car.kind, sojourn);
    }

    /// The last cell of a frame was accepted, or one that belongs to no frame.
    pub(super) fn end_frame(&mut self, vc: u32, kind: Kind, sojourn: Span) {
        if kind == Kind::Data {
            self.stats.delays.add(sojourn.ps());
        }
        self.note_frame(self.queue.last_departure().before(sojourn), vc);
    }

    /// Adds up what was counted during a visit.
    pub(super) fn settle(&mut self, tally: &Tally) {
        self.stats.sojourns.add(tally.sojourns);
        self.stats.longest = self.stats.longest.max(tally.longest);
    }
}
