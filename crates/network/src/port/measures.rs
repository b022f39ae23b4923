//! What is measured at a port: counters, occupancies, samples over time.

use celltrain_atm::{policing, with_policy};
use celltrain_engine::{Fingerprint, Span, SpanSum};

use super::{AnyCore, Port, PortStats, VcEntry, service::Service, with_core};
use crate::{
    flight::Streams,
    measures::{Levels, PortSamplers, Series},
    rate_control::RateControl,
};

impl Port {
    /// Units accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.entries().iter().flat_map(|entry| entry.accepted).sum()
    }

    /// Units discarded so far, summed over VCs.
    pub(crate) fn discarded(&self) -> u64 {
        self.entries().iter().flat_map(|entry| entry.discarded).sum()
    }

    /// Units of low priority (CLP = 1) accepted and discarded so far.
    pub(crate) fn low_priority(&self) -> [u64; 2] {
        let sum = |get: fn(&VcEntry) -> u64| self.entries().iter().map(get).sum();
        [sum(|entry| entry.accepted[1]), sum(|entry| entry.discarded[1])]
    }

    /// Units accepted first and discarded later so far.
    pub(crate) fn withdrawn(&self) -> u64 {
        self.stats().withdrawn()
    }

    /// Units that arrived so far.
    pub(crate) fn arrived(&self) -> u64 {
        self.accepted() + self.stats().discarded().iter().sum::<u64>() - self.withdrawn()
    }

    /// Units accepted and discarded so far for each flow whose data crosses the port.
    pub(crate) fn by_flow(&self) -> impl Iterator<Item = (usize, [u64; 2])> {
        let counts = |entry: &VcEntry| [entry.accepted, entry.discarded].map(|[high, low]| high + low);
        std::iter::zip(&*self.flows, self.entries())
            .filter_map(move |(flow, connection)| flow.map(|flow| (flow as usize, counts(connection))))
    }

    /// What the policers of the flows that have one here have counted so far.
    pub(crate) fn policed(&self) -> impl Iterator<Item = (usize, policing::Stats)> {
        let policers = with_core!(&self.core, core => &core.policers);
        std::iter::zip(&*self.flows, policers)
            .filter_map(|(flow, policer)| Some(((*flow)? as usize, policer.as_ref()?.stats())))
    }

    fn entries(&self) -> &[VcEntry] {
        with_core!(&self.core, core => &core.entries)
    }

    /// Its counters.
    pub(crate) fn stats(&self) -> &PortStats {
        with_core!(&self.core, core => &core.stats)
    }

    /// What it did, as a number.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        with_core!(&self.core, core => core.fingerprint)
    }

    /// Forgets maxima and distributions, which cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        let now = self.now();
        with_core!(&mut self.core, core => core.begin_window(now));
    }

    /// Largest occupancy since the window began, in the unit of the buffer's size, the arriving cell or packet included.
    pub(crate) fn occupancy_max(&self) -> u64 {
        with_core!(&self.core, core => core.service.most())
    }

    /// Follows from now on how long the buffer holds how many units.
    pub(crate) fn follow_levels(&mut self) {
        let now = self.now();
        with_core!(&mut self.core, core => core.service.follow_levels(now));
    }

    /// How long the buffer has held how many units since the window began, if that is followed.
    pub(crate) fn levels(&self) -> Option<Levels> {
        with_core!(&self.core, core => core.service.levels(self.now()))
    }

    /// The time for which the link has been busy so far.
    pub(crate) fn busy(&self) -> Span {
        let units = self.accepted();
        with_core!(&self.core, core => core.service.busy(self.now(), units))
    }

    /// How often the switch behind the link has paused it so far, and how long together.
    pub(crate) fn paused(&self) -> (u64, Span) {
        match &self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => (0, Span::default()),
            AnyCore::Stored(core) => core.service.pauses.until(self.now()),
        }
    }

    /// The time integral of the number of units in the buffer so far. By Little's law it is the sum of the times that they have spent
    /// there.
    pub(crate) fn occupancy_integral(&self) -> SpanSum {
        with_core!(&self.core, core => core.service.occupancy_integral(self.now(), core.stats.sojourns))
    }

    /// What units are called.
    pub(crate) fn unit(&self) -> &'static str {
        if with_core!(&self.core, core => core.service.is_packet()) { "packets" } else { "cells" }
    }

    /// The rate control, where ABR VCs cross the port.
    pub(crate) fn control(&self) -> Option<&RateControl> {
        with_core!(&self.core, core => core.control.as_deref())
    }

    /// Units in the buffer at the port's clock.
    pub(crate) fn occupancy(&self) -> u64 {
        with_core!(&self.core, core => core.service.units(self.now()))
    }

    /// What the buffer holds beyond the VCs' own parts of it, if its policy gives them any.
    fn illegal(&self) -> Option<u64> {
        with_policy!(&self.policy, policy => with_core!(&self.core, core => core.illegal(policy, self.now())))
    }

    /// Units accepted that are not yet in an output stream at the port's clock.
    pub(crate) fn kept(&self) -> u64 {
        with_core!(&self.core, core => core.service.kept())
    }

    /// Units of the VC `vc` that arrived so far.
    pub(crate) fn arrived_of(&self, vc: u32) -> u64 {
        let VcEntry { accepted, discarded, withdrawn, .. } = &self.entries()[vc as usize];
        accepted.iter().chain(discarded).sum::<u64>() - withdrawn
    }

    /// Units of the VC `vc` that have gone into an output stream so far.
    pub(crate) fn sent_of(&self, vc: u32) -> u64 {
        let VcEntry { accepted, withdrawn, .. } = &self.entries()[vc as usize];
        let kept = with_core!(&self.core, core => core.service.kept_of(vc));
        accepted.iter().sum::<u64>() - withdrawn - kept
    }

    /// Checks that no unit was lost track of at this port: in total, by VC and by reason.
    ///
    /// # Panics
    /// If one was: the simulator is wrong then, and so would be every result.
    pub(crate) fn check_conservation(&self, streams: &Streams) {
        let name = format_args!("port of link {}", self.link);
        let by_reason: u64 = self.stats().discarded().iter().sum();
        assert_eq!(self.discarded(), by_reason, "{name}: units discarded by VC, by reason");
        let withdrawn: u64 = self.entries().iter().map(|entry| entry.withdrawn).sum();
        assert_eq!(withdrawn, self.withdrawn(), "{name}: units accepted and then discarded, by VC, in total");
        assert_eq!(self.arrived, self.arrived(), "{name}: units that arrived, accepted and discarded");
        let sent: u64 = self.outputs.iter().map(|&output| streams[output].pushed()).sum();
        let relayed = self.control().map_or(0, RateControl::relayed);
        let stays = self.kept() + self.withdrawn();
        assert_eq!(self.accepted() + relayed, sent + stays, "{name}: units accepted and sent");
        let accepted = self.entries().iter().map(|entry| entry.accepted.iter().sum());
        match &self.core {
            AnyCore::Cells(core) => core.service.check(name, accepted),
            AnyCore::Packets(core) => core.service.check(name, accepted),
            AnyCore::Stored(core) => core.service.check(name, accepted),
        }
    }

    /// Takes the samples that are due.
    pub(crate) fn sample(&mut self) {
        let (occupancy, busy) = (self.occupancy(), self.busy());
        let abr_queue = self.control().map(RateControl::queue);
        let illegal = self.illegal();
        if let Some(samplers) = &mut self.samplers {
            samplers.record(occupancy, busy, abr_queue, illegal);
        }
    }

    /// What was followed over time at the port of this name.
    pub(crate) fn series(&self, name: &str) -> impl Iterator<Item = Series> + use<> {
        let of = |samplers: &PortSamplers| samplers.series(name, self.unit());
        self.samplers.as_deref().map(of).into_iter().flatten()
    }
}
