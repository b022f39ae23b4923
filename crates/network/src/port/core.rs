//! What all ports share, whatever their service.

use celltrain_atm::{Cell, cell::Kind, policing::Policer};
use celltrain_engine::{
    Fingerprint, Instant, Time,
    merge::Merge,
    stream::{Streams, Train},
};

use super::{PortStats, RateControl, VcEntry, service::Service};
use crate::flight::InFlight;

/// All of a port but the policy that it asks.
#[derive(Debug)]
pub(super) struct PortCore<S> {
    pub(super) merge: Merge,
    /// Space for trains that are interleaved.
    pub(super) bursts: Vec<Train<Cell>>,
    /// The VC table.
    pub(super) entries: Vec<VcEntry>,
    /// The policer of each VC that has one; empty where none has.
    pub(super) policers: Vec<Option<Policer>>,
    pub(super) service: S,
    /// Where ABR VCs cross the port.
    pub(super) control: Option<Box<RateControl>>,
    /// Propagation delay of the link.
    pub(super) delay: Time,
    pub(super) stats: PortStats,
    pub(super) fingerprint: Fingerprint,
}

impl PortCore<()> {
    /// The same with a service.
    pub(super) fn serving<S>(self, service: S) -> PortCore<S> {
        let Self { merge, bursts, entries, policers, control, delay, stats, fingerprint, .. } = self;
        PortCore { merge, bursts, entries, policers, service, control, delay, stats, fingerprint }
    }
}

impl<S> PortCore<S> {
    /// Counts a unit that was accepted at `at`, and mixes it into the fingerprint if it ends a frame or belongs to none. When it will
    /// leave is not always known yet.
    #[inline(always)]
    pub(super) fn count_accepted(&mut self, at: Instant, cell: &Cell) {
        self.entries[cell.vc as usize].accepted[usize::from(cell.clp)] += 1;
        if cell.is_last() {
            self.note_end(at, cell.vc);
        }
    }

    /// Mixes the acceptance of a frame's last cell into the fingerprint.
    #[inline]
    pub(super) fn note_end(&mut self, at: Instant, vc: u32) {
        self.fingerprint.mix(at.ps() ^ u64::from(vc) << 48);
    }

    /// Sends a cell on to where its VC goes, so that its last bit leaves at `departure`; `number` as for
    /// [`celltrain_engine::stream::Stream::push`].
    #[inline(always)]
    pub(super) fn forward(
        &self,
        departure: Instant,
        number: u64,
        mut cell: Train<Cell>,
        streams: &mut Streams<Cell>,
    ) {
        let entry = &self.entries[cell.car.vc as usize];
        let (output, vc) =
            if cell.car.kind == Kind::Data { (entry.output, entry.next_vc) } else { entry.next_hop(cell.car.kind) };
        cell.first = departure.delayed(self.delay);
        cell.car.vc = vc;
        streams[output].push(number, number, &cell);
    }

    /// Whether a cell is on a reverse path, to be stamped and relayed, and not for the link.
    #[inline]
    pub(super) fn is_relayed(&self, cell: &Cell) -> bool {
        cell.vc as usize >= self.entries.len()
    }

    /// The end of the rate allocator's interval, if that has come at `now`.
    #[inline]
    pub(super) fn interval_end(&self, now: Instant) -> Option<Time> {
        self.control.as_ref().map(|control| control.next_interval()).filter(|&end| end <= now.ps())
    }
}

impl<S: Service> PortCore<S> {
    /// The rate allocator's interval ends; departures before `end` have been handled.
    #[cold]
    pub(super) fn end_interval(&mut self, end: Time) {
        let queue = self.service.abr_queue(Instant::start_of(end));
        if let Some(control) = &mut self.control {
            control.on_interval(end, queue);
        }
    }

    /// Notifies the rate allocator, if there is one, of a cell that arrives for the link; it may mark it.
    #[inline(always)]
    pub(super) fn notify_allocator(&mut self, at: Instant, cell: &mut Cell, flight: &mut InFlight) {
        if let Some(control) = &mut self.control {
            cell.ecn = control.on_cell(at.ps(), cell, || self.service.abr_queue(at), flight);
        }
    }

    /// Tells the rate control, if there is one, how many ABR cells are in the buffer.
    pub(super) fn note_abr_queue(&mut self, now: Instant) {
        if let Some(control) = &mut self.control {
            let queue = self.service.abr_queue(now);
            control.note_queue(queue, queue);
        }
    }

    /// Relays a backward RM cell.
    pub(super) fn relay(&mut self, cell: &Train<Cell>, streams: &mut Streams<Cell>, flight: &mut InFlight) {
        let place = cell.car.vc as usize - self.entries.len();
        let queue = self.service.abr_queue(cell.first);
        let control = self.control.as_mut().expect("only ports with rate control relay RM cells");
        control.relay(place, cell, queue, streams, flight, &mut self.fingerprint);
    }

    pub(super) fn begin_window(&mut self, now: Instant) {
        self.stats.begin_window();
        self.service.begin_window(now);
        if let Some(control) = &mut self.control {
            control.begin_window();
        }
    }
}
