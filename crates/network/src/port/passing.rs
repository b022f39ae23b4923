//! Cells of a train that find the link free one after another: each comes when the one before it has left, into an empty buffer.
//!
//! Observers look at every cell, policies that keep something of each too; but these cells need no queue, and go on as one train.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
};
use celltrain_engine::{Slot, stream::Train};

use super::{core::PortCore, queues::Unit, service::Service};

/// How far a train passes.
#[derive(Debug)]
pub(super) struct Passed {
    /// How many cells behind the first are accepted as that was. All of them but the last have left, and that too where another
    /// follows.
    pub(super) count: u32,
    /// The first cell that is not accepted as the first was, and whether it is accepted otherwise: marked, or no longer.
    pub(super) other: Option<(Unit, bool)>,
}

impl Unit {
    /// The cell `count` places behind this one, which begins `train`.
    #[inline]
    pub(super) fn behind(&self, train: &Train<Cell>, count: u32) -> Self {
        let cell = Cell { position: self.cell.position + count as u16, ..self.cell };
        Self { cell, at: train.arrival(count), ..*self }
    }
}

impl<S: Service> PortCore<S> {
    /// The cells of `train` behind its first, `first`, which was accepted and has left a `slot` after it came, come no faster than that.
    /// Asks the policy about each, unless it accepts the rest of the frame, and reports departures.
    pub(super) fn pass_cells<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        first: &Unit,
        slot: Slot,
        train: &Train<Cell>,
    ) -> Passed {
        let (Cell { vc, clp, ecn, .. }, sure) = (first.cell, policy.accepts_rest(&first.cell));
        let (mut sent, mut at) = (first.cell, first.at);
        for count in 0..train.count - 1 {
            if let Some(departure) = P::Needs::departure(&sent, at.plus(slot).ps()) {
                policy.on_departure(departure);
            }
            sent.position += 1;
            at = train.arrival(count + 1);
            if sure {
                continue;
            }
            self.service.per_vc_mut().leave(vc, clp, first.size);
            let mut cell = Cell { ecn: train.item.ecn, ..sent };
            let accepted = self.admit::<false, P>(policy, at, &mut cell);
            if !accepted || cell.ecn != ecn {
                return Passed { count, other: Some((Unit { cell, at, ..*first }, accepted)) };
            }
            self.service.per_vc_mut().enter(vc, clp, first.size);
        }
        let count = train.count - 1;
        if sure {
            self.service.per_vc_mut().pass(vc, count.into());
            self.entries[vc as usize].at_frame_start = sent.is_last();
        }
        Passed { count, other: None }
    }
}
