//! The buffer of a packet-framed link: every frame is one unit, which takes the time of its bytes.

use std::collections::VecDeque;

use celltrain_atm::{Cell, buffer::BufferPolicy};
use celltrain_engine::{
    Instant, Slot, Time,
    stream::{Streams, Train},
};

use super::buffer::{Buffer, Queue, Tally};
use crate::flight::InFlight;

/// The shortest packet, in bytes: headers of IP and TCP.
const SHORTEST: u64 = (celltrain_tcp::IP_HEADER_BYTES + celltrain_tcp::TCP_HEADER_BYTES) as u64;

/// The time that the shortest packet takes at `byte` a byte, if the link adds `overhead` bytes to each.
pub(super) fn shortest(byte: Slot, overhead: u64) -> Time {
    byte.ps() * (SHORTEST + overhead)
}

/// The size of a buffer of packets. The packet in transmission counts until its last bit is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PacketLimit {
    /// So many packets.
    Packets(u64),
    /// So many bytes, without what the link adds.
    Bytes(u64),
}

/// A packet in the buffer.
#[derive(Debug, Clone, Copy)]
struct Queued {
    departure: Instant,
    bytes: u64,
}

/// The state of a FIFO queue of packets in front of a link.
#[derive(Debug, Clone)]
pub(crate) struct PacketFifo {
    /// The time of a byte. Multiples of it are exact to 2^-64 ps a byte, so that departures do not drift.
    byte: Slot,
    /// Bytes that the link adds to each packet.
    overhead: u64,
    limit: PacketLimit,
    queue: VecDeque<Queued>,
    /// Bytes in `queue`.
    queued_bytes: u64,
    /// Bytes accepted so far, with what the link adds.
    carried: u64,
    /// Bytes of the packet at hand.
    at_hand: u64,
    last_departure: Instant,
    number: u64,
    /// The largest occupancy since the window began.
    pub(super) most: u64,
}

impl PacketFifo {
    pub(super) fn new(byte: Slot, overhead: u64, limit: PacketLimit) -> Self {
        Self {
            byte,
            overhead,
            limit,
            queue: VecDeque::new(),
            queued_bytes: 0,
            carried: 0,
            at_hand: 0,
            last_departure: Instant::default(),
            number: 0,
            most: 0,
        }
    }

    /// A packet of `bytes` bytes arrives at `at`: those sent before are gone.
    fn on_arrival(&mut self, at: Instant, bytes: u64) {
        self.at_hand = bytes;
        while let Some(sent) = self.queue.front().filter(|packet| packet.departure <= at) {
            self.queued_bytes -= sent.bytes;
            self.queue.pop_front();
        }
    }

    /// The time of a byte.
    pub(super) fn byte(&self) -> Slot {
        self.byte
    }

    /// Bytes sent until `now`, with what the link adds; a packet counts when its last bit is sent.
    pub(super) fn sent(&self, now: Instant) -> u64 {
        let waiting = self.waiting(now);
        self.carried - waiting.map(|packet| packet.bytes + self.overhead).sum::<u64>()
    }

    /// Packets in the buffer at `now`.
    pub(super) fn packets(&self, now: Instant) -> u64 {
        self.waiting(now).count() as u64
    }

    /// The time that a packet takes at the least.
    pub(super) fn shortest(&self) -> Time {
        shortest(self.byte, self.overhead)
    }

    /// When the next packet leaves at the earliest, if it arrives at `now`.
    pub(super) fn next_departure(&self, now: Time) -> Time {
        now.max(self.last_departure.ps()) + self.shortest()
    }

    fn waiting(&self, now: Instant) -> impl Iterator<Item = &Queued> {
        self.queue.range(self.queue.partition_point(|packet| packet.departure <= now)..)
    }

    fn used(&self) -> u64 {
        match self.limit {
            PacketLimit::Packets(_) => self.queue.len() as u64,
            PacketLimit::Bytes(_) => self.queued_bytes,
        }
    }
}

impl Queue for PacketFifo {
    const PACKETS: bool = true;

    fn capacity(&self) -> u64 {
        match self.limit {
            PacketLimit::Packets(limit) | PacketLimit::Bytes(limit) => limit,
        }
    }

    /// Asked about the time of the packet at hand only.
    fn occupancy(&self, _: Instant) -> u64 {
        self.used()
    }

    fn is_full(&self, _: Instant) -> bool {
        match self.limit {
            PacketLimit::Packets(limit) => self.queue.len() as u64 >= limit,
            PacketLimit::Bytes(limit) => self.queued_bytes.saturating_add(self.at_hand) > limit,
        }
    }

    fn accept(&mut self, at: Instant) {
        let bytes = self.at_hand + self.overhead;
        let departure = self.last_departure.max(at).plus_slots(self.byte, bytes);
        self.queue.push_back(Queued { departure, bytes: self.at_hand });
        self.queued_bytes += self.at_hand;
        self.carried += bytes;
        self.last_departure = departure;
        // Packets are on no grid.
        self.number += 1 << 32;
        self.most = self.most.max(self.used());
        assert!(self.used() <= self.capacity(), "the policy accepted a packet into a full buffer");
    }

    fn slot(&self) -> Slot {
        Slot::ZERO
    }

    fn last_departure(&self) -> Instant {
        self.last_departure
    }

    fn last_number(&self) -> u64 {
        self.number
    }
}

impl Buffer<PacketFifo> {
    /// Handles every arrival before `until`; returns how many packets there were.
    pub(super) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams<Cell>,
        flight: &InFlight,
    ) -> u64 {
        let (mut packets, mut tally, mut train) = (0, Tally::default(), Train::default());
        while self.merge.next::<false, _>(until, streams, &mut train) {
            packets += 1;
            let payloads =
                self.connections[train.car.vc as usize].payloads.expect("what packets contain waits in a payloads");
            let bytes = flight.packets[payloads].get(train.car.frame).segment.ip_bytes();
            self.queue.on_arrival(train.first, u64::from(bytes));
            self.on_cell(policy, &mut train, &mut tally, streams);
        }
        self.settle(&tally);
        packets
    }
}
