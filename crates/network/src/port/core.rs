//! What all ports share, whatever their service.

use celltrain_atm::{Cell, policing::Policer};
use celltrain_engine::{Fingerprint, Instant, Time, merge::Merge, stream::Train};

use super::{PortStats, VcEntry, service::Service};
use crate::{discards::DiscardLog, flight::Streams, rate_control::RateControl};

/// All of a port but the policy that it asks.
#[derive(Debug)]
pub(super) struct PortCore<S> {
    pub(super) merge: Merge,
    /// The VC table.
    pub(super) entries: Box<[VcEntry]>,
    /// The policer of each VC that has one; empty where none has.
    pub(super) policers: Box<[Option<Policer>]>,
    pub(super) service: S,
    /// Where ABR VCs cross the port.
    pub(super) control: Option<Box<RateControl>>,
    /// Propagation delay of the link.
    pub(super) delay: Time,
    pub(super) stats: PortStats,
    pub(super) fingerprint: Fingerprint,
    /// Discards, if somebody watches.
    pub(super) log: Option<Box<DiscardLog>>,
}

/// What [`PortCore::note_end`] mixes in.
#[inline(always)]
pub(super) fn end_word(at: Instant, vc: u32) -> u64 {
    at.ps() ^ u64::from(vc) << 48
}

impl PortCore<()> {
    /// The same with a service.
    pub(super) fn serving<S>(self, service: S) -> PortCore<S> {
        let Self { merge, entries, policers, control, delay, stats, fingerprint, log, .. } = self;
        PortCore { merge, entries, policers, service, control, delay, stats, fingerprint, log }
    }
}

impl<S> PortCore<S> {
    /// Mixes into the fingerprint that the last cell of a frame, or one that belongs to none, was accepted at `at`. When it will leave
    /// is not always known yet.
    #[inline]
    pub(super) fn note_end(&mut self, at: Instant, vc: u32) {
        self.fingerprint.mix(end_word(at, vc));
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

    /// Notifies the rate allocator, if there is one, of a cell that arrives for the link; it may mark it. `false`: the cell is on a
    /// reverse path, to be relayed.
    #[inline(always)]
    pub(super) fn notify_allocator(&mut self, at: Instant, cell: &mut Cell, streams: &mut Streams) -> bool {
        let Some(control) = &mut self.control else { return true };
        control.on_cell(at.ps(), cell, || self.service.abr_queue(at), &mut streams.contents)
    }

    /// Tells the rate control, if there is one, how many ABR cells are in the buffer.
    pub(super) fn note_abr_queue(&mut self, now: Instant) {
        if let Some(control) = &mut self.control {
            let queue = self.service.abr_queue(now);
            control.note_queue(queue, queue);
        }
    }

    /// Relays a backward RM cell.
    pub(super) fn relay(&mut self, cell: &Train<Cell>, streams: &mut Streams) {
        let place = cell.item.vc as usize - self.entries.len();
        let queue = self.service.abr_queue(cell.first);
        let control = self.control.as_mut().expect("only ports with rate control relay RM cells");
        control.relay(place, cell, queue, streams, &mut self.fingerprint);
    }

    pub(super) fn begin_window(&mut self, now: Instant) {
        self.stats.begin_window();
        self.service.begin_window(now);
        if let Some(control) = &mut self.control {
            control.begin_window();
        }
    }
}
