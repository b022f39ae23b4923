//! Flows that come and go: those that arrive for one destination use a pool of endpoints, one after the other.
//!
//! A flow has a number, which its segments carry. An endpoint that hears a new number begins anew; segments of an older flow are
//! dropped, as TCP's ports and sequence numbers would have it.

use std::sync::Arc;

use celltrain_engine::{
    Time,
    random::{Generator, Randomness},
};
use celltrain_tcp::{Event, Params, Receiver, ReceiverStats, Sender, SenderStats, Tcp};

use super::Host;
use crate::{
    flight::{Packet, Streams},
    traffic::{arrivals::Arrivals, request_response::Party},
};

/// A flow that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) at: Time,
    pub(crate) bytes: u64,
}

/// What a receiver has had of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Had {
    /// The flow's number.
    pub(crate) flow: u32,
    /// Distinct bytes, and when the last of them came; before that, when its first segment came.
    pub(crate) bytes: u64,
    pub(crate) at: Time,
}

impl Had {
    /// What the receiver of the flow has after a segment that came `now`.
    fn note(&mut self, now: Time, tcp: &Tcp) {
        if let Tcp::Receiver(receiver) = tcp
            && receiver.stats().distinct_bytes > self.bytes
        {
            self.bytes = receiver.stats().distinct_bytes;
            self.at = now;
        }
    }
}

/// The flows that arrive at a host for one destination.
#[derive(Debug)]
pub(crate) struct Pool {
    arrivals: Arrivals,
    params: Arc<Params>,
    /// Gives each flow the seed of what its congestion control draws.
    seeds: Generator,
    /// Endpoints not in use; the last is the next to be.
    free: Vec<u32>,
    /// The first endpoint, and how many from it on have ever had a flow.
    first: u32,
    used: u32,
    /// Flow number n is at n - 1.
    pub(crate) begun: Vec<Begun>,
    /// Flows that found no endpoint free.
    pub(crate) turned_away: u64,
    /// What the senders of earlier flows did.
    past: SenderStats,
    /// What happened to them, by the numbers of their flows, if that is recorded.
    past_events: Option<Vec<(u32, Vec<Event>)>>,
}

impl Pool {
    /// A pool of endpoints of the host, none of which is in use.
    pub(crate) fn new(
        arrivals: Arrivals,
        params: Arc<Params>,
        seeds: Generator,
        endpoints: std::ops::Range<u32>,
    ) -> Self {
        Self {
            arrivals,
            params,
            seeds,
            first: endpoints.start,
            used: 0,
            free: endpoints.rev().collect(),
            begun: Vec::new(),
            turned_away: 0,
            past: SenderStats::default(),
            past_events: None,
        }
    }

    /// How many of its endpoints have ever had a flow: its first ones. The others have nothing to tell, nor have their receivers.
    pub(crate) fn used(&self) -> usize {
        self.used as usize
    }
}

/// What an endpoint is to its pool, or to the party that writes and reads there.
#[derive(Debug)]
pub(crate) enum Member {
    /// It sends one flow after the other.
    Sender {
        /// The pool among the host's.
        pool: u32,
        /// Whether a flow is under way.
        busy: bool,
    },
    /// It receives them.
    Receiver(Box<Receiving>),
    /// It has no pool: it receives one finite transfer.
    Transfer(Box<Transfer>),
    /// It has no pool: a party writes and reads here.
    Party(Box<Party>),
}

/// A finite transfer, as its receiving end sees it.
#[derive(Debug)]
pub(crate) struct Transfer {
    /// When it begins, which may be after the end of the run, and how long it is.
    pub(crate) begun: Begun,
    had: Had,
}

/// The receiving end of one flow after the other.
#[derive(Debug)]
pub(crate) struct Receiving {
    params: Arc<Params>,
    /// What it has had of the present flow, and of earlier ones.
    had: Had,
    earlier: Vec<Had>,
    /// What the receivers of earlier flows did.
    past: ReceiverStats,
}

impl Member {
    /// A receiver that waits for the first flow.
    pub(crate) fn receiver(params: &Arc<Params>) -> Self {
        let (had, past) = (Had::default(), ReceiverStats::default());
        Self::Receiver(Box::new(Receiving { params: Arc::clone(params), had, earlier: Vec::new(), past }))
    }

    /// The receiver of a finite transfer.
    pub(crate) fn transfer(begun: Begun) -> Self {
        Self::Transfer(Box::new(Transfer { begun, had: Had { flow: 1, bytes: 0, at: begun.at } }))
    }

    /// Whether a client writes requests here and reads answers.
    pub(super) fn is_client(&self) -> bool {
        matches!(self, Self::Party(party) if party.response_times().is_some())
    }

    /// Forgets what cannot be had as differences: a new window begins.
    pub(super) fn begin_window(&mut self) {
        if let Self::Party(party) = self {
            party.begin_window();
        }
    }
}

/// Adds what tables of results count.
fn add_received(sum: &mut ReceiverStats, stats: &ReceiverStats) {
    sum.segments += stats.segments;
    sum.distinct_bytes += stats.distinct_bytes;
    sum.distinct_full_segments += stats.distinct_full_segments;
    sum.duplicate_segments += stats.duplicate_segments;
    sum.duplicate_bytes += stats.duplicate_bytes;
    sum.outdated_segments += stats.outdated_segments;
    sum.acks += stats.acks;
}

impl Host {
    /// Keeps from now on what happens to the senders of the pools.
    pub(crate) fn record_pools(&mut self) {
        self.parts.pools.iter_mut().for_each(|pool| pool.past_events = Some(Vec::new()));
    }

    /// Takes out what happened to the senders of a pool, the endpoints `endpoints`, by the numbers of their flows, if it was recorded.
    pub(crate) fn take_pool_events(
        &mut self,
        pool: usize,
        endpoints: std::ops::Range<usize>,
    ) -> Vec<(u32, Vec<Event>)> {
        let Some(mut events) = self.parts.pools[pool].past_events.take() else { return Vec::new() };
        for endpoint in &mut self.parts.endpoints[endpoints] {
            if let Tcp::Sender(sender) = &mut endpoint.tcp {
                events.push((endpoint.flow, sender.take_events()));
            }
        }
        events.retain(|(_, events)| !events.is_empty());
        events.sort_by_key(|&(flow, _)| flow);
        events
    }

    /// What the senders of a pool, the endpoints `endpoints`, have done.
    pub(crate) fn pool_sent(&self, pool: usize, endpoints: std::ops::Range<usize>) -> SenderStats {
        let mut sum = self.parts.pools[pool].past;
        for endpoint in &self.parts.endpoints[endpoints] {
            if let Tcp::Sender(sender) = &endpoint.tcp {
                sum.add_counted(sender.stats());
            }
        }
        sum
    }

    /// What the receivers of a pool, the endpoints `endpoints`, have seen and done.
    pub(crate) fn pool_received(&self, endpoints: std::ops::Range<usize>) -> ReceiverStats {
        let mut sum = ReceiverStats::default();
        for endpoint in &self.parts.endpoints[endpoints] {
            if let (Tcp::Receiver(receiver), Some(member)) = (&endpoint.tcp, &endpoint.member) {
                add_received(&mut sum, receiver.stats());
                if let Member::Receiver(receiving) = member {
                    add_received(&mut sum, &receiving.past);
                }
            }
        }
        sum
    }

    /// The finite transfer that an endpoint receives, if it does.
    pub(crate) fn transfer(&self, endpoint: usize) -> Option<&Transfer> {
        match &self.parts.endpoints[endpoint].member {
            Some(Member::Transfer(transfer)) => Some(transfer),
            _ => None,
        }
    }

    /// What receivers, those of a pool or of a finite transfer, have had of each flow of which anything came from `since` on, or which began
    /// then.
    pub(crate) fn had(&self, endpoints: std::ops::Range<usize>, since: Time) -> impl Iterator<Item = Had> {
        self.parts.endpoints[endpoints].iter().flat_map(move |endpoint| match &endpoint.member {
            Some(Member::Receiver(receiving)) => {
                let Receiving { earlier, had, .. } = receiving.as_ref();
                // A receiver has one flow after the other: they are in the order of time.
                let earlier = &earlier[earlier.partition_point(|had| had.at < since)..];
                let had = (had.at >= since).then_some(had);
                earlier.iter().chain(had).copied().collect()
            }
            Some(Member::Transfer(transfer)) => {
                (transfer.had.at >= since).then_some(transfer.had).into_iter().collect()
            }
            _ => Vec::new(),
        })
    }

    /// A flow arrives; returns when the next one does.
    #[inline(never)]
    pub(super) fn on_arrival(&mut self, now: Time, index: u32, streams: &mut Streams) -> Time {
        let pool = &mut self.parts.pools[index as usize];
        let (bytes, next) = pool.arrivals.arrive(now);
        let Some(place) = pool.free.pop() else {
            pool.turned_away += 1;
            return next;
        };
        pool.used = pool.used.max(place - pool.first + 1);
        pool.begun.push(Begun { at: now, bytes });
        let endpoint = &mut self.parts.endpoints[place as usize];
        if let Tcp::Sender(sender) = &mut endpoint.tcp {
            pool.past.add_counted(sender.stats());
            if let Some(events) = &mut pool.past_events {
                events.push((endpoint.flow, sender.take_events()));
            }
        }
        let mut sender = Sender::sharing(&pool.params);
        sender.trace(pool.past_events.is_some());
        let flow = Randomness { seed: pool.seeds.below(u64::MAX), replication: 0 };
        sender.seed(flow.named("congestion control"));
        sender.offer(now, bytes);
        sender.close(now);
        endpoint.tcp = Tcp::Sender(Box::new(sender));
        endpoint.flow = pool.begun.len() as u32;
        endpoint.member = Some(Member::Sender { pool: index, busy: true });
        self.fingerprint.mix(now ^ bytes << 32);
        self.send_due(now, place, streams);
        next
    }

    /// A packet reaches an endpoint of a pool or a party.
    #[inline(never)]
    pub(super) fn on_member(&mut self, now: Time, packet: &Packet, streams: &mut Streams) {
        let index = packet.endpoint;
        let endpoint = &mut self.parts.endpoints[index as usize];
        let Some(member) = &mut endpoint.member else { return };
        match member {
            Member::Party(_) => self.on_party_packet(now, packet, streams),
            Member::Receiver(receiving) => {
                if packet.flow < endpoint.flow {
                    return;
                }
                if packet.flow > endpoint.flow {
                    if let Tcp::Receiver(receiver) = &endpoint.tcp
                        && endpoint.flow > 0
                    {
                        add_received(&mut receiving.past, receiver.stats());
                        receiving.earlier.push(receiving.had);
                    }
                    endpoint.tcp = Tcp::Receiver(Box::new(Receiver::sharing(&receiving.params)));
                    endpoint.flow = packet.flow;
                    receiving.had = Had { flow: packet.flow, bytes: 0, at: now };
                }
                endpoint.tcp.on_segment(now, &packet.segment);
                receiving.had.note(now, &endpoint.tcp);
                self.send_due(now, index, streams);
            }
            Member::Transfer(transfer) => {
                endpoint.tcp.on_segment(now, &packet.segment);
                transfer.had.note(now, &endpoint.tcp);
                self.send_due(now, index, streams);
            }
            Member::Sender { pool, busy } => {
                if packet.flow != endpoint.flow || !*busy {
                    return;
                }
                let pool = *pool as usize;
                endpoint.tcp.on_segment(now, &packet.segment);
                self.send_due(now, index, streams);
                let endpoint = &mut self.parts.endpoints[index as usize];
                if let Tcp::Sender(sender) = &endpoint.tcp
                    && sender.is_done()
                    && let Some(Member::Sender { busy, .. }) = &mut endpoint.member
                {
                    *busy = false;
                    self.parts.pools[pool].free.push(index);
                }
            }
        }
    }
}
