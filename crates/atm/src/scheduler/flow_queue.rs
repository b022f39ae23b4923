//! Flow queuing: VCs that send little are served first, the others by deficit round robin.
//!
//! The discipline keeps two lists of VCs. A VC that begins to send with an empty queue enters the list of new VCs, which is served
//! first, for a quantum of bytes. Then it moves to the end of the list of old VCs. Sparse traffic, such as a request or a
//! handshake, therefore waits behind no queue. A new VC whose queue is empty also moves to the end of the old ones before it
//! leaves, so it cannot become new again by sending a little at a time.
//!
//! State per VC: a counter and a place in a list. The time per packet is constant if the quantum covers the largest packet.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Vcs};
use crate::catalogue::ParamError;

/// Parameters of flow queuing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC may send per round: in bytes on a packet-framed link, in cells on a cell-framed one.
    #[schemars(range(min = 1))]
    pub quantum: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { quantum: 1514 }
    }
}

/// The flow-queuing discipline.
#[derive(Debug, Clone)]
pub struct FlowQueue {
    quantum: i64,
    /// What each VC may still send.
    credits: Vec<i64>,
    /// Whether each VC is in one of the lists.
    listed: Vec<bool>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl Scheduler for FlowQueue {
    type Params = Params;

    const SUMMARY: &'static str =
        "Serves VCs that have just begun to send first, for a quantum of bytes, and the others round robin.";
    const REFERENCE: &'static str = "RFC 8290, section 4 (a kind of DRR++)";

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        if params.quantum == 0 {
            let message = "expected 1 or more, found 0".to_owned();
            return Err(ParamError { key: "quantum", message });
        }
        let (credits, listed) = (vec![0; vcs.labels()], vec![false; vcs.labels()]);
        Ok(Self {
            quantum: params.quantum.into(),
            credits,
            listed,
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, _: &impl Queues) {
        if !std::mem::replace(&mut self.listed[vc as usize], true) {
            self.credits[vc as usize] = self.quantum;
            self.new.push_back(vc);
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let vc = *list.front()?;
            let credits = &mut self.credits[vc as usize];
            if *credits > 0
                && let Some(size) = queues.size(vc, 0)
            {
                *credits -= i64::from(size);
                return Some(vc);
            }
            list.pop_front();
            let spent = *credits <= 0;
            *credits += if spent { self.quantum } else { 0 };
            if spent || is_new {
                self.old.push_back(vc);
            } else {
                self.listed[vc as usize] = false;
            }
        }
    }

    fn refund(&mut self, vc: u32, size: u32) {
        self.credits[vc as usize] += i64::from(size);
    }

    /// A VC of which nothing is left before it has sent anything has not begun. Other queues that are empty are found so when their turn
    /// comes.
    fn withdraw(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 0).is_none()
            && self.credits[vc as usize] == self.quantum
            && let Some(place) = self.new.iter().position(|&other| other == vc)
        {
            self.new.remove(place);
            self.listed[vc as usize] = false;
        }
    }
}
