//! Deficit round robin: VCs are served round robin by bytes; what a VC could not use of its quantum, because its next packet was
//! too large, is added to its next one.
//!
//! In each round a VC gets a quantum in proportion to its share. It sends packets as long as its deficit, the sum of what it got
//! and did not use, covers them, and keeps the rest for the next round. A VC that has nothing more to send keeps nothing. VCs
//! that are always busy thus send bytes in the ratio of their shares, without what the link adds to a packet, whatever the sizes of their
//! packets; round robin by packets does not achieve that. With a quantum that covers the largest packet, every visit sends at least one. With a smaller quantum
//! the service is smoother, and packets wait for several rounds.
//!
//! The state is two numbers per VC and its place in a list. The time per packet is constant if the quantum covers the largest
//! packet.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Share, Vcs};
use crate::catalogue::ParamError;

/// Parameters of deficit round robin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC's share is proportional to.
    pub share: Share,
    /// What the VC with the smallest share may send per round: in bytes on a packet-framed link, in cells on a
    /// cell-framed one. The others may send more in proportion. Without it: 1500 bytes, or the 32 cells that carry them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub quantum: Option<u32>,
}

/// The quantum in bytes where none is given: a packet of Ethernet.
const QUANTUM: u32 = 1500;

/// The deficit-round-robin discipline.
#[derive(Debug, Clone)]
pub struct DeficitRoundRobin {
    /// What a byte (or cell) costs: the smallest share. Counting in fractions of a byte keeps the shares exact.
    cost: u128,
    vcs: Vec<Account>,
    /// Busy VCs in the order of their turns; the first has its turn.
    turns: VecDeque<u32>,
    /// Whether the first has been given its quantum for this turn.
    given: bool,
}

/// What a VC may send, in fractions of a byte (or cell).
#[derive(Debug, Clone, Copy)]
struct Account {
    /// Given at each turn.
    quantum: u128,
    /// Given and not used.
    deficit: u128,
}

impl DeficitRoundRobin {
    /// The queue of `vc` is empty: it leaves the round and keeps nothing.
    fn leave(&mut self, vc: u32) {
        if self.turns.front() == Some(&vc) {
            self.given = false;
            self.turns.pop_front();
        } else {
            self.turns.retain(|&turn| turn != vc);
        }
        self.vcs[vc as usize].deficit = 0;
    }
}

impl Scheduler for DeficitRoundRobin {
    type Params = Params;

    const SUMMARY: &'static str = "Serves busy VCs round robin, with a number of bytes per round in proportion to the VC's share, whatever the sizes of packets.";
    const REFERENCE: &'static str =
        "Shreedhar and Varghese 1996, Efficient fair queuing using deficit round-robin";
    const FORGETS: bool = true;

    fn share(params: &Params) -> Option<Share> {
        Some(params.share)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.quantum == Some(0) {
            let message = "expected 1 or more, found 0".to_owned();
            return Err(ParamError { key: "quantum", message });
        }
        Ok(())
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let quantum = params.quantum.unwrap_or_else(|| vcs.units_of_bytes(QUANTUM));
        let shares = params.share.of(vcs)?;
        let cost = vcs.iter().map(|(label, _)| shares[label]).min().map_or(1, u128::from);
        let account = |share: &u64| Account { quantum: u128::from(*share) * u128::from(quantum), deficit: 0 };
        Ok(Self { cost, vcs: shares.iter().map(account).collect(), turns: VecDeque::new(), given: false })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 1).is_none() {
            self.turns.push_back(vc);
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        loop {
            let vc = *self.turns.front()?;
            let Account { quantum, deficit } = &mut self.vcs[vc as usize];
            if !std::mem::replace(&mut self.given, true) {
                *deficit += *quantum;
            }
            let size = queues.size(vc, 0).expect("a VC in the round has something to send");
            let cost = self.cost * u128::from(size);
            if cost <= *deficit {
                *deficit -= cost;
                if queues.size(vc, 1).is_none() {
                    self.leave(vc);
                }
                return Some(vc);
            }
            self.turns.rotate_left(1);
            self.given = false;
        }
    }

    #[inline]
    fn pass(&mut self, _: u32, _: u32, _: Instant, _: &impl Queues) {}

    /// The VC goes on with its turn. If it has left the round, it keeps nothing.
    fn refund(&mut self, vc: u32, size: u32, _: &impl Queues) {
        if self.turns.front() == Some(&vc) {
            self.vcs[vc as usize].deficit += self.cost * u128::from(size);
        }
    }

    fn withdraw(&mut self, vc: u32, _: u32, _: usize, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 0).is_none() {
            self.leave(vc);
        }
    }
}
