//! The FIFO of a packet-framed link: every frame is one unit, which takes the time of its octets.

use std::{collections::VecDeque, fmt};

use celltrain_atm::{Cell, quantity::Capacity};
use celltrain_engine::{Instant, Slot, Span, SpanSum, Time};

use super::fifo::{APART, Fifo};
use crate::measures::Levels;

/// The shortest packet, in octets: headers of IP and TCP.
const SHORTEST: u64 = (celltrain_tcp::IP_HEADER_BYTES + celltrain_tcp::TCP_HEADER_BYTES) as u64;

/// The time that the shortest packet takes at `octet` an octet, if the link adds `overhead` octets to each.
pub(super) fn shortest(octet: Slot, overhead: u64) -> Time {
    octet.ps() * (SHORTEST + overhead)
}

/// Packets of one length that leave back to back, or about to.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// How long each is on the link.
    duration: Slot,
    /// What each takes of the buffer.
    size: u32,
    count: u64,
    /// When the last of them leaves.
    departure: Instant,
}

impl Run {
    /// How many of them are in the buffer at `now`, which some are, if all that leave before them have left.
    #[inline(always)]
    fn left(&self, now: Instant) -> u64 {
        let ahead = self.departure.since(now);
        // Only on links of some hundred Tbit/s a packet takes less than a picosecond.
        if self.duration.ps() > 0 { ahead.slots(self.duration) } else { self.left_of_short(ahead) }
    }

    #[cold]
    fn left_of_short(&self, ahead: Span) -> u64 {
        ahead.bits().div_ceil(Span::of_slots(self.duration, 1).bits()) as u64
    }

    /// What they take of the buffer.
    fn held(&self) -> u64 {
        self.count * u64::from(self.size)
    }

    /// The time that the last `left` of them still spend in the buffer after `now`, summed over them.
    fn time_ahead(&self, now: Instant, left: u64) -> SpanSum {
        let mut sum = SpanSum::default();
        if left > 0 {
            let last = self.departure.since(now);
            sum.add_run(last.minus(Span::of_slots(self.duration, left - 1)), last, left);
        }
        sum
    }
}

/// How long a packet is in the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sojourn {
    /// For as long as it is on the link.
    OnLink,
    Of(Span),
}

/// The most runs that are counted to check what the buffer holds, where assertions for tests are on.
const MOST_RUNS_COUNTED: usize = 1000;

/// The state of a FIFO of packets.
///
/// Most packets have the length of the one before them, so that the buffer holds few runs of equal ones, whose departures follow from
/// the last one. How long one of them is here says how full the buffer is; they are counted out of it only when that does not.
#[derive(Debug, Clone)]
pub(super) struct PacketFifo {
    /// The time of an octet. Multiples of it are exact to 2^-44 ps an octet, so that departures do not drift.
    octet: Slot,
    /// Octets that the link adds to each packet.
    overhead: u64,
    /// The size of the buffer, in packets or in octets without what the link adds. The packet in transmission counts until its last bit
    /// is sent.
    limit: Capacity,
    /// Octets of the packet before, the usual length.
    octets: u32,
    /// The last run, of packets of that length: none of those that are in the buffer is missing, but some may have left.
    last: Run,
    /// So many packets in that run are sure to be less than what the buffer holds at the most, and has held.
    sure: u64,
    /// So many fit.
    fits: u64,
    /// The runs in front of that.
    runs: VecDeque<Run>,
    /// What those take of the buffer.
    ahead: u64,
    /// The largest occupancy since the window began.
    most: u64,
    /// Octets of packets of other lengths accepted so far, with what the link adds.
    carried: u64,
    /// Packets of the usual length accepted since the length changed.
    accepted: u64,
    number: u64,
    /// How long it held how much, if that is followed: then nothing is sure.
    levels: Option<Box<Followed>>,
}

/// How long the buffer has held how much.
#[derive(Debug, Clone)]
struct Followed {
    levels: Levels,
    /// Packets that it holds: as many as in all runs.
    held: u64,
}

/// What packets of the usual length change in a [`PacketFifo`], and what that depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    /// Their octets.
    octets: u32,
    /// How long each is on the link.
    duration: Slot,
    /// When the last one leaves.
    departure: Instant,
    /// No more of them than these are in the buffer.
    sure: u64,
    /// How long the last of so many is there, if no others are in front.
    longest: Span,
    /// When the last of so many leaves, if others are in front, and none of them has left.
    full: Instant,
    /// To how many `sure` may grow, if the buffer is as full as never before: as many as fit, if none of other lengths are in front.
    fits: u64,
}

impl Usual {
    #[inline(always)]
    pub(super) fn octets(&self) -> u32 {
        self.octets
    }

    /// When the last of them leaves.
    #[inline(always)]
    pub(super) fn departure(&self) -> Instant {
        self.departure
    }

    /// The same with a packet that arrives at `at`, if it is sure to find room; and how long that is here.
    #[inline(always)]
    pub(super) fn accept(mut self, at: Instant) -> Option<(Self, Sojourn)> {
        if self.departure <= at {
            self.departure = at.plus(self.duration);
            return (self.sure > 0).then_some((self, Sojourn::OnLink));
        }
        self.departure = self.departure.plus(self.duration);
        let sojourn = self.departure.since(at);
        if sojourn > self.longest && self.departure > self.full && !self.grow() {
            return None;
        }
        Some((self, Sojourn::Of(sojourn)))
    }

    /// One more is in the buffer than ever before, if it fits.
    #[inline(always)]
    fn grow(&mut self) -> bool {
        let grows = self.sure < self.fits;
        if grows {
            self.sure += 1;
            self.longest = self.longest.plus(Span::of_slots(self.duration, 1), 1);
        }
        grows
    }
}

impl PacketFifo {
    pub(super) fn new(octet: Slot, overhead: u64, limit: Capacity) -> Self {
        let last = Run { duration: Slot::ZERO, size: 0, count: 0, departure: Instant::default() };
        Self {
            octet,
            overhead,
            limit,
            // No packet has so many.
            octets: u32::MAX,
            last,
            sure: 0,
            fits: 0,
            runs: VecDeque::new(),
            ahead: 0,
            most: 0,
            carried: 0,
            accepted: 0,
            number: 0,
            levels: None,
        }
    }

    /// How long a packet of the usual length is on the link.
    #[inline(always)]
    pub(super) fn usual_duration(&self) -> Span {
        Span::of_slots(self.last.duration, 1)
    }

    /// Packets of another length come from `now` on.
    pub(super) fn change_length(&mut self, now: Instant, octets: u32) {
        self.advance(now);
        if self.last.count > 0 {
            self.runs.push_back(self.last);
            self.ahead += self.last.held();
        }
        self.carried = self.carried_octets();
        (self.octets, self.accepted) = (octets, 0);
        let duration = self.octet.multiplied(u64::from(octets) + self.overhead);
        self.last = Run { duration, size: self.limit.of_packet(octets), count: 0, ..self.last };
        self.note_sure();
    }

    /// Counts how many packets of the usual length are sure to fit, and do.
    fn note_sure(&mut self) {
        let count = |room: u64| room.saturating_sub(self.ahead) / u64::from(self.last.size).max(1);
        let (sure, fits) = (count(self.most.min(self.capacity())), count(self.capacity()));
        (self.sure, self.fits) = if self.levels.is_some() { (0, 0) } else { (sure, fits) };
    }

    /// What packets of the usual length change, to be kept at hand while they come: [`PacketFifo::go_on`] ends that.
    #[inline(always)]
    pub(super) fn usual(&self) -> Usual {
        let Self { octets, sure, last: Run { duration, departure, .. }, .. } = *self;
        let (full, fits) = match self.runs.back() {
            Some(run) => (run.departure.plus_slots(duration, sure), 0),
            None => (Instant::default(), self.fits),
        };
        Usual { octets, duration, departure, sure, longest: Span::of_slots(duration, sure), full, fits }
    }

    /// `accepted` packets of the usual length have come.
    #[inline(always)]
    pub(super) fn go_on(&mut self, usual: &Usual, accepted: u64) {
        (self.last.departure, self.sure) = (usual.departure, usual.sure);
        self.most = self.most.max(self.ahead + self.sure * u64::from(self.last.size));
        self.last.count += accepted;
        self.accepted += accepted;
    }

    /// Whether all packets have left by `now`.
    #[inline(always)]
    fn is_idle(&self, now: Instant) -> bool {
        self.last.departure <= now
    }

    /// Whether a packet of the usual length finds room at `now` that was not sure to: it is sure to then. It looks at the runs in front, or at
    /// a buffer that is as full as never before; not at one that is followed.
    #[inline(never)]
    pub(super) fn make_sure(&mut self, now: Instant) -> bool {
        if self.levels.is_some() || self.usual().accept(now).is_some() {
            return false;
        }
        if self.is_idle(now) || !self.runs.is_empty() {
            self.advance(now);
        } else {
            self.last.count = self.last.left(now);
        }
        let needed = self.occupancy(now).saturating_add(self.last.size.into());
        let fits = needed <= self.capacity();
        if fits {
            self.most = self.most.max(needed);
            self.note_sure();
        }
        fits
    }

    /// What is in the buffer at `now`, up to which time goes on.
    #[inline]
    pub(super) fn occupancy_at(&mut self, now: Instant) -> u64 {
        self.advance(now);
        self.occupancy(now)
    }

    /// As [`PacketFifo::occupancy_at`], while what packets of the usual length change is at hand; `accepted` is how many have come.
    #[inline]
    pub(super) fn occupancy_with(&mut self, usual: &mut Usual, accepted: &mut u64, now: Instant) -> u64 {
        self.go_on(usual, std::mem::take(accepted));
        let occupancy = self.occupancy_at(now);
        *usual = self.usual();
        occupancy
    }

    /// All packets have left.
    #[inline(always)]
    fn drop_all(&mut self) {
        self.last.count = 0;
        if !self.runs.is_empty() {
            self.runs.clear();
            self.ahead = 0;
        }
    }

    /// The buffer has held what it holds until `now`.
    fn hold_until(&mut self, now: Instant) {
        let is_all = |held: u64| held == self.runs().map(|run| run.count).sum::<u64>();
        debug_assert!(
            self.levels.as_ref().is_none_or(|followed| is_all(followed.held)),
            "packets are followed that are not in the buffer"
        );
        if let Some(Followed { levels, held }) = self.levels.as_deref_mut() {
            levels.hold(*held, now);
        }
    }

    /// As [`Fifo::advance`], where it is followed how long the buffer holds how much.
    #[inline(never)]
    fn follow(&mut self, now: Instant) {
        loop {
            let run = self.runs.front_mut().unwrap_or(&mut self.last);
            let Some(behind) = run.count.checked_sub(1) else { return };
            let departure = run.departure.before(Span::of_slots(run.duration, behind));
            if departure > now {
                return;
            }
            self.hold_until(departure);
            if let Some(followed) = &mut self.levels {
                followed.held = followed.held.checked_sub(1).expect("what leaves the buffer has entered it");
            }
            match self.runs.front_mut() {
                Some(run) => (run.count, self.ahead) = (behind, self.ahead - u64::from(run.size)),
                None => self.last.count = behind,
            }
            if self.runs.front().is_some_and(|run| run.count == 0) {
                self.runs.pop_front();
            }
        }
    }

    /// All runs.
    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().chain([&self.last])
    }

    /// The runs of which something is in the buffer at `now`, and how much.
    fn runs_left(&self, now: Instant) -> impl Iterator<Item = (&Run, u64)> {
        let (mut runs, mut first) = (self.runs().skip_while(move |run| run.departure <= now), true);
        std::iter::from_fn(move || {
            let run = runs.next()?;
            let left = if std::mem::take(&mut first) { run.left(now) } else { run.count };
            Some((run, left))
        })
    }

    /// Octets accepted so far, with what the link adds.
    fn carried_octets(&self) -> u64 {
        self.carried + self.accepted * (u64::from(self.octets) + self.overhead)
    }
}

impl Fifo for PacketFifo {
    const PACKETS: bool = true;

    fn capacity(&self) -> u64 {
        self.limit.units()
    }

    fn size(&self, cell: &Cell) -> u32 {
        self.limit.of_packet(cell.octets)
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        if self.levels.is_some() {
            return self.follow(now);
        }
        if self.is_idle(now) {
            return self.drop_all();
        }
        while let Some(run) = self.runs.front()
            && run.departure <= now
        {
            self.ahead -= run.held();
            self.runs.pop_front();
        }
        let Some(first) = self.runs.front_mut() else {
            self.last.count = self.last.left(now);
            return;
        };
        let left = first.left(now);
        self.ahead -= (first.count - left) * u64::from(first.size);
        first.count = left;
    }

    #[inline]
    fn occupancy(&self, now: Instant) -> u64 {
        let held = self.ahead + self.last.held();
        debug_assert!(
            // Of very many runs to count all at every packet would take the square of the time.
            self.runs.len() > MOST_RUNS_COUNTED
                || held == self.runs_left(now).map(|(run, left)| left * u64::from(run.size)).sum::<u64>(),
            "packets that have left at {now:?} are in the buffer"
        );
        held
    }

    fn units(&self, now: Instant) -> u64 {
        self.runs_left(now).map(|(_, left)| left).sum()
    }

    #[inline]
    fn is_full(&self, now: Instant, cell: &Cell) -> bool {
        self.occupancy(now).saturating_add(self.size(cell).into()) > self.capacity()
    }

    fn accept(&mut self, at: Instant, cell: &Cell) {
        if cell.octets != self.octets {
            self.change_length(at, cell.octets);
        }
        if self.levels.is_some() {
            self.hold_until(at);
            self.levels.iter_mut().for_each(|followed| followed.held += 1);
        }
        self.last.count += 1;
        self.accepted += 1;
        self.last.departure = self.last.departure.max(at).plus(self.last.duration);
        let occupancy = self.occupancy(at);
        assert!(occupancy <= self.capacity(), "the policy accepted a packet into a full buffer");
        self.most = self.most.max(occupancy);
        if self.last.count > self.sure {
            self.note_sure();
        }
        // Packets are on no grid.
        self.number = self.number.wrapping_add(APART);
    }

    fn check(&self, port: fmt::Arguments<'_>) {
        let ahead: u64 = self.runs.iter().map(Run::held).sum();
        assert_eq!(self.ahead, ahead, "{port}: what packets of other lengths take of the buffer");
        if let Some(followed) = &self.levels {
            let held: u64 = self.runs().map(|run| run.count).sum();
            assert_eq!(followed.held, held, "{port}: packets that are followed");
        }
    }

    fn slot(&self) -> Slot {
        Slot::ZERO
    }

    #[inline]
    fn last_departure(&self) -> Instant {
        self.last.departure
    }

    fn last_number(&self) -> u64 {
        self.number
    }

    fn carried(&self, _: u64) -> Span {
        Span::of_slots(self.octet, self.carried_octets())
    }

    fn time_ahead(&self, now: Instant) -> SpanSum {
        let mut sum = SpanSum::default();
        self.runs_left(now).for_each(|(run, left)| sum.add_sum(run.time_ahead(now, left)));
        sum
    }

    fn most(&self) -> Option<u64> {
        Some(self.most)
    }

    fn begin_window(&mut self, now: Instant) {
        self.advance(now);
        self.most = self.occupancy(now);
        self.note_sure();
    }

    fn follow_levels(&mut self, now: Instant) {
        self.advance(now);
        self.levels = Some(Box::new(Followed { levels: Levels::from(now), held: self.units(now) }));
        self.note_sure();
    }

    fn levels(&self, now: Instant) -> Option<Levels> {
        let mut levels = self.levels.as_deref()?.levels.clone();
        levels.hold(self.units(now), now);
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

    /// Accepts a packet of the usual length, if it finds room; returns when it leaves, and how long it is here.
    fn accept_usual(fifo: &mut PacketFifo, at: Instant) -> Option<(Instant, Sojourn)> {
        let accepted = fifo.usual().accept(at);
        let accepted = accepted.or_else(|| fifo.make_sure(at).then(|| fifo.usual().accept(at))?);
        let (usual, sojourn) = accepted?;
        fifo.go_on(&usual, 1);
        Some((usual.departure(), sojourn))
    }

    /// What is in the buffer is what has been accepted and has not left, whatever time passes in between. `few` lengths follow each other;
    /// `usual`: packets of the usual length are accepted as such, without a count of what has left.
    fn holds(limit: Capacity, overhead: u64, few: usize, usual: bool) {
        let octet = Slot::of_bits(8, RATE);
        let mut fifo = PacketFifo::new(octet, overhead, limit);
        let mut accepted: Vec<(Instant, u64)> = Vec::new();
        let (mut now, mut free, mut octets_carried, mut full, mut most) =
            (Instant::start_of(77), Instant::default(), 0, 0, 0);
        for step in 0..500u64 {
            // A length comes so often in a row.
            let octets = [1500, 40, 576, 1500, 90, 1000][step as usize / 7 % few];
            let next = accepted.iter().map(|&(departure, _)| departure).find(|&departure| departure > now);
            now = match step % 11 {
                // Just as a packet has left, as all have, and long after.
                0 | 4 => next.unwrap_or(now),
                7 => free.max(now),
                9 => free.max(now).delayed(1_000_000),
                pause => now.delayed(70_000 * pause),
            };
            if !usual {
                fifo.advance(now);
            }
            if step % 50 == 49 {
                fifo.begin_window(now);
                most = accepted.iter().filter(|(departure, _)| *departure > now).map(|(_, size)| size).sum();
            }
            let here: Vec<_> = accepted.iter().filter(|(departure, _)| *departure > now).collect();
            let occupancy: u64 = here.iter().map(|(_, size)| size).sum();
            let mut ahead = SpanSum::default();
            here.iter().for_each(|(departure, _)| ahead.add(departure.since(now)));
            let found = (fifo.units(now), fifo.time_ahead(now));
            assert_eq!(found, (here.len() as u64, ahead), "{limit:?}, step {step}");
            let (size, capacity) = match limit.1 {
                Unit::Bytes => (octets, limit.units()),
                _ => (1, limit.units()),
            };
            assert_eq!((fifo.size(&packet(octets as u32)), fifo.capacity()), (size as u32, capacity));
            let is_full = occupancy + size > capacity;
            if usual && fifo.usual().octets() != octets as u32 {
                fifo.change_length(now, octets as u32);
            }
            let accepted_usual = if usual { accept_usual(&mut fifo, now) } else { None };
            assert_eq!(accepted_usual.is_some(), usual && !is_full, "{limit:?}, step {step}");
            if accepted_usual.is_none() {
                assert_eq!(fifo.occupancy(now), occupancy, "{limit:?}, step {step}");
                assert_eq!(fifo.is_full(now, &packet(octets as u32)), is_full, "{limit:?}, step {step}");
            }
            if is_full {
                full += 1;
                continue;
            }
            let number = fifo.last_number();
            if accepted_usual.is_none() {
                fifo.accept(now, &packet(octets as u32));
                assert!(fifo.last_number().wrapping_sub(number) >= APART, "packets are on no grid");
            }
            most = most.max(occupancy + size);
            free = free.max(now).plus_slots(octet, octets + overhead);
            octets_carried += octets + overhead;
            accepted.push((free, size));
            assert_eq!((fifo.last_departure(), fifo.slot()), (free, Slot::ZERO));
            assert_eq!(fifo.carried(0), Span::of_slots(octet, octets_carried));
            assert_eq!(fifo.most(), Some(most), "{limit:?}, step {step}");
            if let Some((departure, sojourn)) = accepted_usual {
                let sojourn = match sojourn {
                    Sojourn::OnLink => fifo.usual_duration(),
                    Sojourn::Of(sojourn) => sojourn,
                };
                assert_eq!((departure, sojourn), (free, free.since(now)), "{limit:?}, step {step}");
            }
        }
        assert!(full > 20 && accepted.len() > 100, "{limit:?}: {full} found no room");
    }

    #[test]
    fn the_buffer_holds_what_has_come_and_has_not_left() {
        for (overhead, few, usual) in [0, 38].into_iter().flat_map(|overhead| {
            [(1, true), (2, true), (6, true), (2, false), (6, false)]
                .map(|(few, usual)| (overhead, few, usual))
        }) {
            for packets in [3, 5] {
                holds(Capacity(Some(packets), Unit::Packets), overhead, few, usual);
                holds(Capacity(Some(1000 * packets), Unit::Bytes), overhead, few, usual);
            }
        }
    }

    /// While levels are followed, a packet is not accepted at once, and the attempt leaves what is followed as it was.
    #[test]
    fn nothing_is_sure_while_levels_are_followed() {
        let octet = Slot::of_bits(8, RATE);
        let levels = |attempts: bool| {
            let mut fifo = PacketFifo::new(octet, 0, Capacity(Some(30), Unit::Packets));
            fifo.follow_levels(Instant::start_of(5));
            let mut now = Instant::start_of(77);
            for pause in [0, 3000, 1_000_000, 0, 9_000_000, 70_000, 1_300_000, 9_000_000] {
                now = now.delayed(pause);
                if attempts {
                    if fifo.usual().octets() != 1500 {
                        fifo.change_length(now, 1500);
                    }
                    assert!(accept_usual(&mut fifo, now).is_none());
                }
                fifo.advance(now);
                fifo.accept(now, &packet(1500));
            }
            fifo.levels(now.delayed(500_000))
        };
        assert_eq!(levels(true), levels(false));
        assert!(levels(true).is_some());
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
