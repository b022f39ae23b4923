//! The FIFO of a packet-framed link: every frame is one unit, which takes the time of its octets.

use std::collections::VecDeque;

use celltrain_atm::{Cell, quantity::Capacity};
use celltrain_engine::{
    Instant, Slot, Time,
    time::{Span, SpanSum},
};

use super::{
    cells::CellFifo,
    fifo::{APART, Fifo},
};
use crate::measures::Levels;

/// The shortest packet, in octets: headers of IP and TCP.
const SHORTEST: u64 = (celltrain_tcp::IP_HEADER_BYTES + celltrain_tcp::TCP_HEADER_BYTES) as u64;

/// The time that the shortest packet takes at `octet` an octet, if the link adds `overhead` octets to each.
pub(super) fn shortest(octet: Slot, overhead: u64) -> Time {
    octet.ps() * (SHORTEST + overhead)
}

/// A packet in the buffer that others wait behind.
#[derive(Debug, Clone, Copy)]
struct Queued {
    departure: Instant,
    size: u32,
}

/// The state of a FIFO of packets.
#[derive(Debug, Clone)]
pub(super) struct PacketFifo {
    /// The time of an octet. Multiples of it are exact to 2^-44 ps an octet, so that departures do not drift.
    octet: Slot,
    /// Octets that the link adds to each packet.
    overhead: u64,
    /// The size of the buffer, in packets or in octets without what the link adds. The packet in transmission counts until its last bit
    /// is sent.
    limit: Capacity,
    /// What the buffer holds in front of `last`.
    queue: VecDeque<Queued>,
    /// What the packet accepted last takes of the buffer, while it is there. It enters the queue when another one comes: most find the
    /// link idle.
    last: Option<u32>,
    /// What the packets in the buffer take of it.
    occupancy: u64,
    /// Octets accepted so far, with what the link adds.
    carried: u64,
    last_departure: Instant,
    number: u64,
    /// How long it held how much, if that is followed.
    levels: Option<Box<Levels>>,
}

impl PacketFifo {
    pub(super) fn new(octet: Slot, overhead: u64, limit: Capacity) -> Self {
        Self {
            octet,
            overhead,
            limit,
            queue: VecDeque::new(),
            last: None,
            occupancy: 0,
            carried: 0,
            last_departure: Instant::default(),
            number: 0,
            levels: None,
        }
    }

    /// Packets in the buffer.
    fn held(&self) -> u64 {
        self.queue.len() as u64 + u64::from(self.last.is_some())
    }

    /// Packets that have left by `now` are no longer in the queue.
    #[inline]
    fn drop_sent(&mut self, now: Instant) {
        if self.levels.is_some() {
            return self.drop_followed(now);
        }
        while let Some(sent) = self.queue.front()
            && sent.departure <= now
        {
            self.occupancy -= u64::from(sent.size);
            self.queue.pop_front();
        }
    }

    /// As [`PacketFifo::drop_sent`], where it is followed how long the buffer holds how much.
    #[inline(never)]
    fn drop_followed(&mut self, now: Instant) {
        while let Some(&sent) = self.queue.front()
            && sent.departure <= now
        {
            self.hold_until(sent.departure);
            self.occupancy -= u64::from(sent.size);
            self.queue.pop_front();
        }
    }

    /// Whether all packets have left by `now`, and nobody follows how long the buffer holds how much.
    #[inline(always)]
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        self.last_departure <= now && self.levels.is_none()
    }

    /// How long a packet of `octets` is on the link.
    #[inline(always)]
    pub(super) fn duration(&self, octets: u32) -> Span {
        Span::of_slots(self.octet, u64::from(octets) + self.overhead)
    }

    /// Accepts a packet of `octets` that finds the link idle, leaves at `departure`, and takes `size` of the buffer.
    #[inline(always)]
    pub(super) fn go_straight(&mut self, departure: Instant, octets: u32, size: u32) {
        if !self.queue.is_empty() {
            self.queue.clear();
        }
        (self.last, self.occupancy) = (Some(size), size.into());
        self.carried += u64::from(octets) + self.overhead;
        self.last_departure = departure;
        // Packets are on no grid.
        self.number = self.number.wrapping_add(APART);
    }

    /// All packets have left.
    #[inline]
    fn drop_all(&mut self) {
        if self.levels.is_some() {
            self.hold_until_empty();
        }
        if !self.queue.is_empty() {
            self.queue.clear();
        }
        (self.last, self.occupancy) = (None, 0);
    }

    /// The buffer has held what it holds until `now`.
    #[inline(never)]
    fn hold_until(&mut self, now: Instant) {
        let held = self.held();
        if let Some(levels) = &mut self.levels {
            levels.hold(held, now);
        }
    }

    /// The buffer has held what it holds until one after the other had left.
    #[inline(never)]
    fn hold_until_empty(&mut self) {
        self.drop_sent(self.last_departure);
        self.hold_until(self.last_departure);
    }

    /// When the packets leave that are in the buffer at `now`.
    fn departures(&self, now: Instant) -> impl Iterator<Item = Instant> {
        let first = self.queue.partition_point(|packet| packet.departure <= now);
        let queued = self.queue.range(first..).map(|packet| packet.departure);
        queued.chain((self.last_departure > now).then_some(self.last_departure))
    }
}

impl Fifo for PacketFifo {
    const PACKETS: bool = true;

    fn of_cells(&mut self) -> &mut CellFifo {
        panic!("a packet is a train of its own")
    }

    #[inline(always)]
    fn of_packets(&mut self) -> &mut PacketFifo {
        self
    }

    fn capacity(&self) -> u64 {
        self.limit.units()
    }

    fn size(&self, cell: &Cell) -> u32 {
        self.limit.of_packet(cell.octets)
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        if self.last.is_none() {
            return;
        }
        if self.last_departure <= now {
            self.drop_all();
        } else if !self.queue.is_empty() {
            self.drop_sent(now);
        }
    }

    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        let first = self.queue.front().map_or(self.last_departure, |packet| packet.departure);
        debug_assert!(
            self.last.is_none() || first > now,
            "packets that have left at {now:?} are in the buffer"
        );
        self.occupancy
    }

    fn units(&self, now: Instant) -> u64 {
        self.departures(now).count() as u64
    }

    #[inline]
    fn is_full(&self, now: Instant, cell: &Cell) -> bool {
        self.occupancy(now).saturating_add(self.size(cell).into()) > self.capacity()
    }

    #[inline(always)]
    fn accept(&mut self, at: Instant, cell: &Cell) {
        let (octets, size) = (u64::from(cell.octets) + self.overhead, self.size(cell));
        if self.levels.is_some() {
            self.hold_until(at);
        }
        if let Some(size) = self.last.replace(size) {
            self.queue.push_back(Queued { departure: self.last_departure, size });
        }
        let departure = self.last_departure.max(at).plus_slots(self.octet, octets);
        self.occupancy += u64::from(size);
        self.carried += octets;
        self.last_departure = departure;
        // Packets are on no grid.
        self.number = self.number.wrapping_add(APART);
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

    fn carried(&self, _: u64) -> Span {
        Span::of_slots(self.octet, self.carried)
    }

    fn time_ahead(&self, now: Instant) -> SpanSum {
        let mut sum = SpanSum::default();
        self.departures(now).for_each(|departure| sum.add(departure.since(now)));
        sum
    }

    fn follow_levels(&mut self, now: Instant) {
        self.advance(now);
        self.levels = Some(Box::new(Levels::from(now)));
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        let mut levels = self.levels.as_deref().cloned()?;
        levels.hold(self.held(), now);
        Some(levels)
    }

    fn shortest(&self) -> Time {
        shortest(self.octet, self.overhead)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::quantity::Unit;
    use celltrain_engine::quantity::BitRate;

    use super::*;

    /// The time of an octet here is no whole number of picoseconds.
    const RATE: BitRate = BitRate(9_999_999_937);

    fn packet(octets: u32) -> Cell {
        Cell { octets, ..Cell::default() }
    }

    /// What is in the buffer is what has been accepted and has not left, whatever time passes in between.
    fn holds(limit: Capacity, overhead: u64) {
        let octet = Slot::of_bits(8, RATE);
        let mut fifo = PacketFifo::new(octet, overhead, limit);
        let mut accepted: Vec<(Instant, u64)> = Vec::new();
        let (mut now, mut free, mut octets_carried, mut full) =
            (Instant::start_of(77), Instant::default(), 0, 0);
        for step in 0..500u64 {
            let octets = [40, 1500, 576, 1500, 90, 1000][step as usize % 6];
            let next = accepted.iter().map(|&(departure, _)| departure).find(|&departure| departure > now);
            now = match step % 11 {
                // Just as a packet has left, as all have, and long after.
                0 | 4 => next.unwrap_or(now),
                7 => free.max(now),
                9 => free.max(now).delayed(1_000_000),
                pause => now.delayed(70_000 * pause),
            };
            fifo.advance(now);
            let here: Vec<_> = accepted.iter().filter(|(departure, _)| *departure > now).collect();
            let occupancy: u64 = here.iter().map(|(_, size)| size).sum();
            let mut ahead = SpanSum::default();
            here.iter().for_each(|(departure, _)| ahead.add(departure.since(now)));
            let found = (fifo.occupancy(now), fifo.units(now), fifo.time_ahead(now));
            assert_eq!(found, (occupancy, here.len() as u64, ahead), "{limit:?}, step {step}");
            let (size, capacity) = match limit.1 {
                Unit::Bytes => (octets, limit.units()),
                _ => (1, limit.units()),
            };
            assert_eq!((fifo.size(&packet(octets as u32)), fifo.capacity()), (size as u32, capacity));
            let is_full = occupancy + size > capacity;
            assert_eq!(fifo.is_full(now, &packet(octets as u32)), is_full, "{limit:?}, step {step}");
            if is_full {
                full += 1;
                continue;
            }
            let number = fifo.last_number();
            fifo.accept(now, &packet(octets as u32));
            free = free.max(now).plus_slots(octet, octets + overhead);
            octets_carried += octets + overhead;
            accepted.push((free, size));
            assert_eq!((fifo.last_departure(), fifo.slot()), (free, Slot::ZERO));
            assert_eq!(fifo.carried(0), Span::of_slots(octet, octets_carried));
            assert!(fifo.last_number().wrapping_sub(number) >= APART, "packets are on no grid");
        }
        assert!(full > 20 && accepted.len() > 100, "{limit:?}: {full} found no room");
    }

    #[test]
    fn the_buffer_holds_what_has_come_and_has_not_left() {
        for overhead in [0, 38] {
            holds(Capacity(Some(3), Unit::Packets), overhead);
            holds(Capacity(Some(3000), Unit::Bytes), overhead);
        }
    }

    #[test]
    fn no_packet_takes_less_time_than_the_shortest() {
        let octet = Slot::of_bits(8, RATE);
        for overhead in [0, 1, 38, 100] {
            let mut fifo = PacketFifo::new(octet, overhead, Capacity(Some(1), Unit::Packets));
            fifo.accept(Instant::default(), &packet(40));
            let time = fifo.last_departure().ps();
            // The fractions of a picosecond of its octets are left out.
            assert!(fifo.shortest() <= time && time <= fifo.shortest() + 40 + overhead, "{overhead} B more");
        }
    }
}
