//! Flow queuing: VCs that send little are served first, the others by deficit round robin.
//!
//! The discipline keeps two lists of VCs. A VC that begins to send with an empty queue enters the list of new VCs, which is served
//! first, for a quantum of bytes. Then it moves to the end of the list of old VCs. Sparse traffic, such as a request or a
//! handshake, therefore waits behind no queue. A new VC whose queue is empty also moves to the end of the old ones before it
//! leaves, so it cannot become new again by sending a little at a time.
//!
//! Each VC has a queue of its own, or the VCs are hashed to a number of queues, as in the sources: those that meet in a queue share its
//! turn. The hash gives a VC one queue of a set. It takes the queue of the set that it had last, unless another VC came into that;
//! otherwise one in neither list, looking from its own on; otherwise its own, and shares it. A VC that is pushed out whole
//! before anything of it was served has not come: the queue is again that of the VC before. FQ-CoDel hashes to 1024 queues, which are
//! 1024 sets of one; CAKE to 128 sets of eight, where hardly any VCs meet. In CAKE a packet may go into another queue than one of its flow that
//! still waits; here it follows that one, so that a VC stays in order.
//!
//! State per queue: two counters and a place in a list. The time per packet is constant if the quantum covers the largest packet.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Queues, Scheduler, Side, Vcs,
    flow_hash::{FlowHash, Shared, SharedQueue},
};
use crate::catalogue::ParamError;

/// Parameters of flow queuing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a queue may send per round: in bytes on a packet-framed link, in cells on a cell-framed one. Without it: 1514 bytes, as in
    /// the source, or the 32 cells that carry them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub quantum: Option<u32>,
    /// To how many sets of queues VCs are hashed; 0: each VC has a queue of its own.
    #[schemars(range(max = 4096))]
    pub sets: u32,
    /// Queues in a set.
    #[schemars(range(min = 1, max = 64))]
    pub ways: u32,
    /// Chooses the hash: two ports with different ones join different VCs.
    pub hash_seed: u32,
}

impl Params {
    /// # Errors
    /// A number outside its range.
    fn check(&self) -> Result<(), ParamError> {
        let ranges = [
            ("quantum", self.quantum.unwrap_or(QUANTUM), 1, u32::MAX),
            ("sets", self.sets, 0, 4096),
            ("ways", self.ways, 1, 64),
        ];
        for (key, value, least, most) in ranges {
            if value < least || value > most {
                let upper = if most == u32::MAX { "or more".to_owned() } else { format!("to {most}") };
                let message = format!("expected {least} {upper}, found {value}");
                return Err(ParamError { key, message });
            }
        }
        Ok(())
    }
}

impl Default for Params {
    fn default() -> Self {
        Self { quantum: None, sets: 0, ways: 8, hash_seed: 0 }
    }
}

/// The quantum in bytes where none is given (RFC 8290 section 5.2.4).
const QUANTUM: u32 = 1514;

/// The flow-queuing discipline.
#[derive(Debug, Clone)]
pub struct FlowQueue {
    quantum: i64,
    /// What each queue may still send.
    credits: Vec<i64>,
    /// Whether each queue is in one of the lists.
    listed: Vec<bool>,
    /// How often the turn of each queue came while it was empty.
    empty_turns: Vec<u64>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// The queues, unless each VC has one of its own, which has its label.
    shared: Option<Shared>,
}

impl FlowQueue {
    /// Whose unit is first in `queue`, and its size.
    #[inline]
    fn head(&self, queue: usize, queues: &impl Queues) -> Option<(u32, u32)> {
        let vc = self.shared.as_ref().map_or(Some(queue as u32), |shared| shared.head(queue))?;
        queues.size(vc, 0).map(|size| (vc, size))
    }

    /// The queue that the units of `vc` came into last.
    fn queue_of(&self, vc: u32) -> usize {
        self.shared.as_ref().map_or(vc as usize, |shared| shared.queue_of(vc))
    }
}

impl Scheduler for FlowQueue {
    type Params = Params;

    const SUMMARY: &'static str =
        "Serves VCs that have just begun to send first, for a quantum of bytes, and the others round robin.";
    const REFERENCE: &'static str = "RFC 8290, section 4 (a kind of DRR++); Høiland-Jørgensen, Täht and Morton 2018, Piece of CAKE (sets of queues)";

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        params.check()?;
        let hash = (params.sets > 0).then(|| FlowHash::new(params.sets, params.ways, params.hash_seed));
        let shared = hash.map(|hash| Shared::new(hash, vcs.labels()));
        let count = shared.as_ref().map_or(vcs.labels(), Shared::queues);
        Ok(Self {
            quantum: params.quantum.unwrap_or_else(|| vcs.units_of_bytes(QUANTUM)).into(),
            credits: vec![0; count],
            listed: vec![false; count],
            empty_turns: vec![0; count],
            new: VecDeque::new(),
            old: VecDeque::new(),
            shared,
        })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, size: u32, _: Instant, _: &impl Queues) {
        let Self { shared, listed, .. } = self;
        let in_use = |queue: usize| listed[queue];
        let queue = shared.as_mut().map_or(vc as usize, |shared| shared.enqueue(vc, size, in_use));
        if !std::mem::replace(&mut listed[queue], true) {
            self.credits[queue] = self.quantum;
            self.new.push_back(queue);
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        loop {
            let is_new = !self.new.is_empty();
            let queue = *if is_new { &self.new } else { &self.old }.front()?;
            if self.credits[queue] > 0
                && let Some((vc, size)) = self.head(queue, queues)
            {
                self.credits[queue] -= i64::from(size);
                self.shared.iter_mut().for_each(|shared| shared.take(queue, size));
                return Some(vc);
            }
            if is_new { &mut self.new } else { &mut self.old }.pop_front();
            let spent = self.credits[queue] <= 0;
            if spent {
                self.credits[queue] += self.quantum;
            } else {
                self.empty_turns[queue] += 1;
            }
            if spent || is_new {
                self.old.push_back(queue);
            } else {
                self.listed[queue] = false;
            }
        }
    }

    /// The VC's units wait where the one that was taken did, until another comes.
    fn refund(&mut self, vc: u32, size: u32, _: &impl Queues) {
        let queue = self.queue_of(vc);
        self.credits[queue] += i64::from(size);
    }

    /// A queue of which nothing is left stays in its list, and is found empty when its turn comes.
    fn withdraw(&mut self, vc: u32, size: u32, behind: usize, _: Instant, _: &impl Queues) {
        self.shared.iter_mut().for_each(|shared| shared.withdraw(vc, size, behind));
    }

    fn empty_turns(&self, vc: u32) -> Option<u64> {
        Some(self.empty_turns[self.queue_of(vc)])
    }

    fn shared(&self, vc: u32, side: Side) -> Option<SharedQueue<'_>> {
        let shared = self.shared.as_ref()?;
        let queue = match side {
            Side::Arrival => shared.queue_for(vc, |queue| self.listed[queue]),
            Side::Departure => shared.queue_of(vc),
        };
        Some(shared.queue(queue))
    }
}
