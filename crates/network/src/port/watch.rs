//! What a viewer may read of a port.

use celltrain_atm::{Cell, with_policy};
use celltrain_engine::{Time, stream::StreamId};

use super::{AnyBuffer, Port, with_buffer};
use crate::live::DiscardLog;

impl Port {
    /// Keeps a log of discards from now on.
    pub(crate) fn watch(&mut self) {
        with_buffer!(&mut self.buffer, buffer => buffer.log.get_or_insert_default());
    }

    /// The log of discards, if one is kept.
    pub(crate) fn log(&mut self) -> Option<&mut DiscardLog> {
        with_buffer!(&mut self.buffer, buffer => buffer.log.as_deref_mut())
    }

    /// The outputs that lead along the link, and its propagation delay.
    pub(crate) fn along_link(&self) -> (&[StreamId], Time) {
        (&self.outputs[..self.along_link], with_buffer!(&self.buffer, buffer => buffer.delay))
    }

    /// VCs that cross the port along the link, by the number of labels.
    pub(crate) fn vcs(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Where the cells of the VC `label` go on to, and what the VC is called there: its own way, and that of its backward RM cells
    /// if they take another.
    pub(crate) fn hops(&self, label: u32) -> impl Iterator<Item = (StreamId, u32)> {
        let connections = with_buffer!(&self.buffer, buffer => &buffer.connections);
        let own = connections.get(label as usize).map(|vc| (vc.output, vc.label));
        let detour = connections.get(label as usize).and_then(|vc| vc.detour);
        let relay = (label as usize).checked_sub(connections.len()).and_then(|place| {
            let pass = self.control()?.passes().get(place)?;
            Some((pass.output, pass.label))
        });
        [own, detour, relay].into_iter().flatten()
    }

    /// Cells, or packets, that are stored until the scheduler chooses them; a FIFO has sent everything on.
    pub(crate) fn stored(&self) -> Vec<Cell> {
        match &self.buffer {
            AnyBuffer::Cells(_) | AnyBuffer::Packets(_) => Vec::new(),
            AnyBuffer::Queued(buffer) => buffer.queue.stored().copied().collect(),
        }
    }

    /// Whether the discard policy holds the VC `label` under discard.
    pub(crate) fn captures(&self, label: u32) -> bool {
        with_policy!(&self.policy, policy => celltrain_atm::buffer::BufferPolicy::captures(policy, label))
    }
}
