//! Dual queue: low-latency packets first, the others in what they leave, with a share of the link at least.
//!
//! Packets whose transport asks for low latency (ECT(1), or marked) wait in the queue L, the others in the queue C. L is served
//! first as long as C gets its share: while both have packets, C earns `classic-share` of what is sent, and is served when it has
//! earned a packet. A burst of L therefore cannot starve C (RFC 9332 section 4.2.2). The policy `dualpi2`, with which this
//! discipline belongs, makes the rates of flows equal. Without it L takes all but the share of C.
//!
//! RFC 9332, appendix A.2, recommends a weighted round robin like this one. Its credit changes only while both queues have packets,
//! and is reset in favour of L when the link is idle.
//!
//! Within a VC the order of packets is kept, as ATM demands. If a VC carries packets of both kinds, each takes a place in its
//! queue, and the first packet of the VC is sent at each of these places.
//!
//! The state is a counter, and the place of each packet.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Vcs};
use crate::catalogue::ParamError;

/// Parameters of the dual queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The share of the link that the queue C gets at least while both have packets: above 0, below 1 (1/16, of which RFC 9332
    /// says that its exact value is unimportant).
    pub classic_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { classic_share: 0.0625 }
    }
}

/// A packet's turn in its queue.
#[derive(Debug, Clone, Copy)]
struct Turn {
    vc: u32,
    /// The packet's number among those of both queues.
    arrival: u64,
}

/// The dual-queue discipline.
#[derive(Debug, Clone)]
pub struct DualQueue {
    share: f64,
    /// The packets in L and in C, in the order of arrival.
    low_latency: VecDeque<Turn>,
    classic: VecDeque<Turn>,
    /// How many packets have arrived.
    arrivals: u64,
    /// How many packets of each VC wait.
    waiting: Vec<usize>,
    /// What C is owed of what has been sent.
    owed: f64,
    /// What C was owed before the last choice.
    owed_before: f64,
}

impl DualQueue {
    fn queue(&mut self, low_latency: bool) -> &mut VecDeque<Turn> {
        if low_latency { &mut self.low_latency } else { &mut self.classic }
    }
}

impl Scheduler for DualQueue {
    type Params = Params;

    const SUMMARY: &'static str =
        "Serves packets that ask for low latency first, and leaves the others a share of the link.";
    const REFERENCE: &'static str = "RFC 9332, sections 2.2 and 4.2.2, appendix A.2";

    fn check(params: &Params) -> Result<(), ParamError> {
        if !(params.classic_share > 0.0 && params.classic_share < 1.0) {
            let message = format!("expected a number above 0 and below 1, found {}", params.classic_share);
            return Err(ParamError { key: "classic-share", message });
        }
        Ok(())
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        Ok(Self {
            share: params.classic_share,
            low_latency: VecDeque::new(),
            classic: VecDeque::new(),
            arrivals: 0,
            waiting: vec![0; vcs.labels()],
            owed: 0.0,
            owed_before: 0.0,
        })
    }

    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        let place = self.waiting[vc as usize];
        self.waiting[vc as usize] += 1;
        self.arrivals += 1;
        let turn = Turn { vc, arrival: self.arrivals };
        self.queue(queues.is_low_latency(vc, place)).push_back(turn);
    }

    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        let size =
            |queue: &VecDeque<Turn>| queue.front().map(|turn| queues.size(turn.vc, 0).map_or(0.0, f64::from));
        self.owed_before = self.owed;
        let low_latency = match (size(&self.low_latency), size(&self.classic)) {
            (Some(first), Some(classic)) if self.owed < classic => {
                self.owed += first * self.share;
                true
            }
            (Some(_), Some(classic)) => {
                self.owed -= classic * (1.0 - self.share);
                false
            }
            (first, None) => first.is_some(),
            (None, Some(_)) => false,
        };
        let Some(Turn { vc, .. }) = self.queue(low_latency).pop_front() else {
            self.owed = 0.0;
            return None;
        };
        self.waiting[vc as usize] -= 1;
        Some(vc)
    }

    fn refund(&mut self, _: u32, _: u32, _: &impl Queues) {
        self.owed = self.owed_before;
    }

    /// The VC has as many turns behind it as units, be they in one queue or the other.
    fn withdraw(&mut self, vc: u32, _: u32, behind: usize, _: Instant, _: &impl Queues) {
        let of_vc = |(_, turn): &(usize, &Turn)| turn.vc == vc;
        let mut low_latency = self.low_latency.iter().enumerate().rev().filter(of_vc).peekable();
        let mut classic = self.classic.iter().enumerate().rev().filter(of_vc).peekable();
        let arrival = |turn: Option<&(usize, &Turn)>| turn.map(|(_, turn)| turn.arrival);
        // From the last one on.
        let mut turns = std::iter::from_fn(|| {
            let is_low_latency = arrival(low_latency.peek()) > arrival(classic.peek());
            let turn = if is_low_latency { low_latency.next() } else { classic.next() };
            turn.map(|(place, _)| (is_low_latency, place))
        });
        let (low_latency, place) = turns.nth(behind).expect("each unit has a turn");
        self.queue(low_latency).remove(place);
        self.waiting[vc as usize] -= 1;
    }
}
