//! WFQ against the fluid system, for arrivals at any instant.
//!
//! Times are those of the link's work: it runs while the link serves these VCs, and stands while it is idle or serves VCs
//! of a more urgent category. Within a busy period of a link of its own the two differ by a constant.

use std::collections::VecDeque;

use celltrain_atm::{
    contract::Category,
    scheduler::{Discipline, DisciplineName, ServiceTime, Vcs},
};
use celltrain_engine::{Instant, Slot, quantity::BitRate};

use crate::{
    gps::{Gps, Work},
    model::{Store, of, weighted},
};

/// What happens to the VCs of a link.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A unit of this size arrives on a VC.
    Arrival(u32, u32),
    /// The last unit of a VC is pushed out, if one waits.
    PushOut(u32),
    /// Once it is free, the link serves a more urgent category for so many cells or bytes.
    Away(u32),
}

/// A link and the fluid system beside it.
#[derive(Debug)]
struct Link {
    scheduler: Discipline,
    /// The time of a cell or byte, and the bytes that the link adds to a packet.
    slot: Slot,
    overhead: u64,
    store: Store,
    /// The numbers of the units in `store`.
    numbers: Vec<VecDeque<usize>>,
    /// When the unit in service began, its service time, and when the link is free for the next.
    began: Instant,
    length: u128,
    free: Instant,
    /// Work done before the unit in service.
    before: u128,
    gps: Gps,
    outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Default)]
struct Outcome {
    /// When each unit was sent, by number; `None` if it was pushed out.
    ends: Vec<Option<u128>>,
    /// When the fluid system ended each.
    fluid: Vec<Option<u128>>,
    /// When each arrived.
    arrivals: Vec<u128>,
    /// The unit sent, and the first units of the other VCs at that time.
    choices: Vec<(usize, Vec<usize>)>,
    /// What the fluid system did for units that were pushed out, and when.
    returned: Vec<(u128, u128)>,
    /// The service time of the largest unit.
    largest: u128,
}

impl Link {
    fn new(name: DisciplineName, weights: &[u32], slot: Slot, overhead: u64) -> Self {
        let contracts = weighted(weights);
        let (vcs, service) = (Vcs::of(Category::default(), &contracts), ServiceTime::new(slot, overhead));
        Self {
            scheduler: Discipline::new(&of(name), vcs, service).unwrap(),
            slot,
            overhead,
            store: Store(vec![VecDeque::new(); weights.len()]),
            numbers: vec![VecDeque::new(); weights.len()],
            began: Instant::default(),
            length: 0,
            free: Instant::default(),
            before: 0,
            gps: Gps::new(weights),
            outcome: Outcome::default(),
        }
    }

    /// The work that a unit is.
    fn length(&self, size: u32) -> u128 {
        let start = Instant::start_of(0);
        start.plus_slots(self.slot, u64::from(size) + self.overhead).since(start).bits()
    }

    /// The work that the link has done.
    fn work(&self, now: Instant) -> u128 {
        self.before + now.since(self.began).bits().min(self.length)
    }

    fn handle(&mut self, now: Instant, event: Event) {
        while self.free <= now && self.waits() {
            self.send(self.free);
        }
        self.gps.serve_until(self.work(now));
        match event {
            Event::Arrival(vc, size) => self.arrive(now, vc, size),
            Event::PushOut(vc) => self.push_out(now, vc),
            Event::Away(slots) => self.free = self.free.max(now).plus_slots(self.slot, slots.into()),
        }
        self.check_backlog(now);
        if self.free <= now && self.waits() {
            self.send(now);
        }
    }

    fn waits(&self) -> bool {
        self.store.0.iter().any(|units| !units.is_empty())
    }

    fn arrive(&mut self, now: Instant, vc: u32, size: u32) {
        let (number, work) = (self.outcome.ends.len(), self.length(size));
        self.outcome.ends.push(None);
        self.outcome.arrivals.push(self.work(now));
        self.outcome.largest = self.outcome.largest.max(work);
        self.numbers[vc as usize].push_back(number);
        self.store.0[vc as usize].push_back(size);
        self.gps.arrive(vc, number, work);
        self.scheduler.enqueue(vc, size, now, &self.store);
    }

    fn push_out(&mut self, now: Instant, vc: u32) {
        let Some(size) = self.store.0[vc as usize].pop_back() else { return };
        let number = self.numbers[vc as usize].pop_back().unwrap();
        let done = self.gps.withdraw(vc, number, self.length(size));
        self.outcome.returned.push((self.work(now), done));
        self.scheduler.withdraw(vc, size, now, &self.store);
    }

    fn send(&mut self, now: Instant) {
        let vc = self.scheduler.next(now, &self.store).expect("the link never rests while a unit waits");
        let size = self.store.0[vc as usize].pop_front().expect("the VC has a unit");
        let number = self.numbers[vc as usize].pop_front().unwrap();
        let heads = self.numbers.iter().enumerate().filter(|(other, _)| *other != vc as usize);
        let heads = heads.filter_map(|(_, numbers)| numbers.front().copied()).collect();
        self.outcome.choices.push((number, heads));
        self.before += self.length;
        (self.began, self.length) = (now, self.length(size));
        self.free = now.plus_slots(self.slot, u64::from(size) + self.overhead);
        self.outcome.ends[number] = Some(self.before + self.length);
    }

    /// What is left to serve is the same in both systems.
    fn check_backlog(&self, now: Instant) {
        let waiting: u128 = self.store.0.iter().flatten().map(|&size| self.length(size)).sum();
        let link = waiting + (self.before + self.length - self.work(now));
        assert!(self.gps.backlog().abs_diff(link) <= 1, "{} and {link}", self.gps.backlog());
    }

    /// Sends all that waits.
    fn drain(mut self) -> Outcome {
        while self.waits() {
            self.send(self.free);
        }
        self.gps.serve_until(self.before + self.length);
        assert!(self.gps.backlog() <= 1, "{}", self.gps.backlog());
        Outcome { fluid: self.gps.ends.iter().map(|end| end.map(Work::ceil)).collect(), ..self.outcome }
    }
}

impl Outcome {
    /// What the fluid system gave back from just before unit `number` came until it ended it.
    fn returned(&self, number: usize, end: u128) -> u128 {
        let since = self.arrivals[number].saturating_sub(self.largest);
        let meanwhile = self.returned.iter().filter(|(at, _)| (since..=end).contains(at));
        meanwhile.map(|(_, work)| work).sum()
    }

    /// By how much each unit that was sent is later than in the fluid system.
    fn lateness(&self) -> impl Iterator<Item = u128> {
        std::iter::zip(&self.ends, &self.fluid)
            .filter_map(|(end, fluid)| Some((*end)?.saturating_sub((*fluid)?)))
    }

    /// Whether each unit ends at most one largest unit later than the fluid system ends it, and units go in the order in
    /// which the fluid system ends them. `slack` is what instants may differ by.
    fn check(&self, slack: u128) -> Result<(), String> {
        for (number, ends) in std::iter::zip(&self.ends, &self.fluid).enumerate() {
            let (Some(end), Some(fluid)) = ends else { continue };
            let limit = fluid + self.largest + self.returned(number, *fluid) + slack;
            if *end > limit {
                return Err(format!("unit {number} is {} too late", end - limit));
            }
        }
        for (chosen, others) in &self.choices {
            let end = self.fluid[*chosen].expect("what is sent ends");
            for other in others.iter().filter(|other| self.ends[**other].is_some()) {
                if self.fluid[*other].is_some_and(|fluid| fluid + slack < end) {
                    return Err(format!("unit {chosen} is sent before unit {other}, and ends after it"));
                }
            }
        }
        Ok(())
    }
}

/// A cell at 155.52 Mbit/s.
fn cell() -> Slot {
    Slot::of_bits(424, BitRate(155_520_000))
}

#[test]
#[should_panic(expected = "97 slots late")]
fn what_arrives_in_mid_service_counts_from_its_arrival() {
    // While a cell of VC 2 is sent, one of VC 0 comes 0.01 slots after its beginning and a hundred of VC 1 at 0.99.
    // Until then the fluid system serves VC 0 at 100/101 of the link, and what is left of its cell, 0.03, it serves in
    // three slots. If the arrivals counted from the end of the service, VC 0 would have its first hundredth of the
    // link there while VC 1 has a hundred times as much.
    let mut link = Link::new(DisciplineName::Wfq, &[100, 10_000, 1], cell(), 0);
    let hundredths = |count: u64| Instant::start_of(count * cell().ps() / 100);
    link.handle(hundredths(0), Event::Arrival(2, 1));
    link.handle(hundredths(1), Event::Arrival(0, 1));
    (0..100).for_each(|_| link.handle(hundredths(99), Event::Arrival(1, 1)));
    let outcome = link.drain();
    let latest = outcome.lateness().max().unwrap();
    assert!(latest <= outcome.largest, "{} slots late", latest / outcome.largest);
}
