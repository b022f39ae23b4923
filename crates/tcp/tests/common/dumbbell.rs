//! Flows that share one drop-tail bottleneck, in virtual time.

use std::{cmp::Reverse, collections::BinaryHeap};

use celltrain_engine::{Time, random::Randomness, time::NEVER};
use celltrain_tcp::{Ecn, Params, Receiver, Segment, Sender};

use super::Link;

/// One flow: its ends, and the delay of its way beside the bottleneck, there and back.
pub struct Flow {
    pub sender: Sender,
    pub receiver: Receiver,
    delay: Time,
}

/// Where a segment arrives: at the bottleneck, at a receiver, at a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Bottleneck,
    Receiver,
    Sender,
}

/// Flows over one link. ACKs come back over ways of their own.
pub struct Dumbbell {
    pub now: Time,
    pub flows: Vec<Flow>,
    pub bottleneck: Link,
    /// Packets above which the bottleneck marks those that are ECN-capable.
    pub mark_above: usize,
    pub drops: u64,
    arrivals: BinaryHeap<Reverse<(Time, u64, usize, Place)>>,
    segments: std::collections::HashMap<u64, Segment>,
    order: u64,
}

impl Dumbbell {
    pub fn new(bottleneck: Link) -> Self {
        Self {
            now: 0,
            flows: Vec::new(),
            bottleneck,
            mark_above: usize::MAX,
            drops: 0,
            arrivals: BinaryHeap::new(),
            segments: std::collections::HashMap::new(),
            order: 0,
        }
    }

    /// Adds a flow whose way takes `round_trip` beside the bottleneck's own time.
    pub fn add(&mut self, params: &Params, round_trip: Time) {
        let (mut sender, receiver) = (Sender::new(params), Receiver::new(params));
        sender.seed(Randomness { seed: self.flows.len() as u64, replication: 0 }.named("sender"));
        self.flows.push(Flow { sender, receiver, delay: round_trip / 2 });
    }

    /// The application of a flow offers data.
    pub fn offer(&mut self, flow: usize, bytes: u64) {
        self.flows[flow].sender.offer(self.now, bytes);
        self.poll(flow);
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let (timer, flow) = self.next_timer();
            let arrival = self.arrivals.peek().map_or(NEVER, |Reverse((at, ..))| *at);
            let next = timer.min(arrival);
            if next >= end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrival == next {
                self.arrive();
            } else {
                self.flows[flow].sender.on_timeout(next);
                self.flows[flow].receiver.on_timeout(next);
                self.poll(flow);
            }
        }
    }

    fn next_timer(&self) -> (Time, usize) {
        let timers = self.flows.iter().enumerate().flat_map(|(index, flow)| {
            let both = [flow.sender.next_timeout(), flow.receiver.next_timeout()];
            both.into_iter().flatten().map(move |at| (at, index))
        });
        timers.min().unwrap_or((NEVER, 0))
    }

    fn arrive(&mut self) {
        let Reverse((_, id, flow, place)) = self.arrivals.pop().expect("peeked");
        let mut segment = self.segments.remove(&id).expect("it is under way");
        match place {
            Place::Bottleneck => {
                let queue = self.bottleneck.length(self.now);
                if queue >= self.mark_above && segment.ecn != Ecn::NotEct {
                    segment.ecn = Ecn::Ce;
                }
                match self.bottleneck.carry(self.now, segment.ip_bytes()) {
                    Some(at) => self.push(at, flow, Place::Receiver, segment),
                    None => self.drops += 1,
                }
                return;
            }
            Place::Receiver => self.flows[flow].receiver.on_segment(self.now, &segment),
            Place::Sender => self.flows[flow].sender.on_segment(self.now, &segment),
        }
        self.poll(flow);
    }

    fn poll(&mut self, flow: usize) {
        let delay = self.flows[flow].delay;
        while let Some(segment) = self.flows[flow].sender.poll_segment(self.now) {
            self.push(self.now + delay, flow, Place::Bottleneck, segment);
        }
        while let Some(segment) = self.flows[flow].receiver.poll_segment(self.now) {
            self.push(self.now + delay, flow, Place::Sender, segment);
        }
    }

    fn push(&mut self, at: Time, flow: usize, place: Place, segment: Segment) {
        self.order += 1;
        self.segments.insert(self.order, segment);
        self.arrivals.push(Reverse((at, self.order, flow, place)));
    }
}
