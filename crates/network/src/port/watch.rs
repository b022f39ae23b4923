//! What a viewer may read of a port.

use celltrain_atm::{Cell, buffer::BufferPolicy, with_policy};
use celltrain_engine::{Instant, Time, stream::StreamId};

use super::{AnyCore, Port, with_core};
use crate::discards::DiscardLog;

impl Port {
    /// Keeps logs of discards and of pauses from now on.
    pub(crate) fn watch(&mut self) {
        with_core!(&mut self.core, core => core.log.get_or_insert_default());
        if let AnyCore::Stored(core) = &mut self.core {
            core.service.pauses.log.get_or_insert_default();
        }
    }

    /// When the pause began in which the port is, if it is in one.
    pub(crate) fn paused_since(&self) -> Option<Instant> {
        match &self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => None,
            AnyCore::Stored(core) => core.service.pauses.since,
        }
    }

    /// Hands over when pauses began and ended since the last call, if somebody watches.
    pub(crate) fn take_pauses(&mut self) -> Vec<(Instant, bool)> {
        match &mut self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => Vec::new(),
            AnyCore::Stored(core) => core.service.pauses.log.as_mut().map(std::mem::take).unwrap_or_default(),
        }
    }

    /// The log of discards, if one is kept.
    pub(crate) fn log(&mut self) -> Option<&mut DiscardLog> {
        with_core!(&mut self.core, core => core.log.as_deref_mut())
    }

    /// The outputs that lead along the link, and its propagation delay.
    pub(crate) fn along_link(&self) -> (&[StreamId], Time) {
        (&self.outputs[..self.along_link as usize], with_core!(&self.core, core => core.delay))
    }

    /// How many VCs cross the port along the link.
    pub(crate) fn vcs(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Where the cells of the VC `vc` go next, and the VC's number there: its own path, and that of its backward RM cells if they take
    /// another.
    pub(crate) fn hops(&self, vc: u32) -> Vec<(StreamId, u32)> {
        let entries = with_core!(&self.core, core => &core.entries);
        if let Some(entry) = entries.get(vc as usize) {
            return entry.next_hops().collect();
        }
        let relays = self.control().map_or(&[][..], |control| control.relays());
        relays
            .get(vc as usize - entries.len())
            .map(|relay| (relay.output, relay.next_vc))
            .into_iter()
            .collect()
    }

    /// Cells, or packets, that wait until the scheduler chooses them. Where departures are computed all have gone on.
    pub(crate) fn stored(&self) -> Vec<Cell> {
        match &self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => Vec::new(),
            AnyCore::Stored(core) => core.service.waiting().map(|unit| unit.cell).collect(),
        }
    }

    /// Whether the discard policy holds the VC `vc` under discard.
    pub(crate) fn captures(&self, vc: u32) -> bool {
        with_policy!(&self.policy, policy => policy.captures(vc))
    }
}
