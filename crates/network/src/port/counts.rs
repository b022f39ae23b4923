//! What is measured at a port: counters, occupancies, samples over time.

use celltrain_atm::{buffer::Reason, policing, with_policy};
use celltrain_engine::{Fingerprint, Instant, time::seconds};

use super::{AnyBuffer, Connection, Port, PortSamplers, PortStats, RateControl, buffer::Queue, with_buffer};
use crate::measures::Series;

impl Port {
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

    /// Takes the samples that are due.
    pub(super) fn sample(&mut self) {
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
}
