//! What a viewer may read of a port.

use celltrain_atm::{Cell, with_policy};
use celltrain_engine::{Time, stream::StreamId};

use super::{AnyCore, Port, with_core};
use crate::live::DiscardLog;

impl Port {
    /// Keeps a log of discards from now on.
    pub(crate) fn watch(&mut self) {
        with_core!(&mut self.core, core => core.log.get_or_insert_default());
    }

    /// The log of discards, if one is kept.
    pub(crate) fn log(&mut self) -> Option<&mut DiscardLog> {
        with_core!(&mut self.core, core => core.log.as_deref_mut())
    }

    /// The outputs that lead along the link, and its propagation delay.
    pub(crate) fn along_link(&self) -> (&[StreamId], Time) {
        (&self.outputs[..self.along_link], with_core!(&self.core, core => core.delay))
    }

    /// VCs that cross the port along the link, by the number of labels.
    pub(crate) fn vcs(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Where the cells of the VC `label` go on to, and the VC's number there: its own way, and that of its backward RM cells if they
    /// take another.
    pub(crate) fn hops(&self, label: u32) -> impl Iterator<Item = (StreamId, u32)> {
        let entries = with_core!(&self.core, core => &core.entries);
        let own = entries.get(label as usize).map(|entry| (entry.output, entry.next_vc));
        let to_relay = entries.get(label as usize).and_then(|entry| entry.relay);
        let relayed = (label as usize).checked_sub(entries.len()).and_then(|place| {
            let relay = self.control()?.relays().get(place)?;
            Some((relay.output, relay.next_vc))
        });
        [own, to_relay, relayed].into_iter().flatten()
    }

    /// Cells, or packets, that are stored until the scheduler chooses them; where departures are computed everything has been sent on.
    pub(crate) fn stored(&self) -> Vec<Cell> {
        match &self.core {
            AnyCore::Cells(_) | AnyCore::Packets(_) => Vec::new(),
            AnyCore::Stored(core) => core.service.waiting().map(|unit| unit.cell).collect(),
        }
    }

    /// Whether the discard policy holds the VC `label` under discard.
    pub(crate) fn captures(&self, label: u32) -> bool {
        with_policy!(&self.policy, policy => celltrain_atm::buffer::BufferPolicy::captures(policy, label))
    }
}
