//! A link with a scheduler, the fluid system beside it, and random units that arrive at any instant.
//!
//! Times are those of the link's work: it runs while the link serves these VCs, and stands while it is idle or serves VCs
//! of a more urgent category. Within a busy period of a link of its own the two differ by a constant.

use std::collections::VecDeque;

use celltrain_atm::{
    contract::Category,
    scheduler::{Discipline, SchedulerParams, ServiceTime, Vcs},
};
use celltrain_engine::{Instant, Slot, quantity::BitRate};
use proptest::prelude::*;

use crate::{
    gps::{Gps, Work},
    model::{Store, weighted},
};

/// What happens to the VCs of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// A unit of this size arrives on a VC.
    Arrival(u32, u32),
    /// A unit of a VC is pushed out, if one waits: as many others are behind it as there can be up to so many.
    PushOut(u32, usize),
    /// Once it is free, the link serves a more urgent category for so many cells or bytes.
    Away(u32),
    /// The next unit that it would send is dropped.
    Drop,
}

/// A link and the fluid system beside it.
#[derive(Debug)]
pub(crate) struct Link {
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
    /// How many units are to be dropped that go next.
    drops: u32,
    gps: Gps,
    outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// When each unit was sent, by number; `None` if it was pushed out or dropped.
    pub(crate) ends: Vec<Option<u128>>,
    /// When the fluid system ended each.
    fluid: Vec<Option<u128>>,
    /// When each arrived, in the link's work.
    pub(crate) arrivals: Vec<u128>,
    /// The VC and the work of each.
    pub(crate) units: Vec<(u32, u128)>,
    /// The unit sent, and the first units of the other VCs at that time.
    choices: Vec<(usize, Vec<usize>)>,
    /// What the fluid system did for units that were pushed out or dropped, and when.
    pub(crate) returned: Vec<(u128, u128)>,
    /// The service time of the largest unit.
    pub(crate) largest: u128,
}

impl Link {
    pub(crate) fn new(params: &SchedulerParams, weights: &[u32], slot: Slot, overhead: u64) -> Self {
        let contracts = weighted(weights);
        let vcs = Vcs::of(Category::default(), &contracts, ServiceTime::of_packets(slot, overhead));
        Self {
            scheduler: Discipline::new(params, vcs).unwrap(),
            slot,
            overhead,
            store: Store(vec![VecDeque::new(); weights.len()]),
            numbers: vec![VecDeque::new(); weights.len()],
            began: Instant::default(),
            length: 0,
            free: Instant::default(),
            before: 0,
            drops: 0,
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

    pub(crate) fn handle(&mut self, now: Instant, event: Event) {
        while self.free <= now && self.waits() {
            self.send(self.free);
        }
        self.gps.serve_until(self.work(now));
        match event {
            Event::Arrival(vc, size) => self.arrive(now, vc, size),
            Event::PushOut(vc, behind) => self.push_out(now, vc, behind),
            Event::Away(slots) => self.free = self.free.max(now).plus_slots(self.slot, slots.into()),
            Event::Drop => self.drops += 1,
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
        self.outcome.units.push((vc, work));
        self.outcome.arrivals.push(self.work(now));
        self.outcome.largest = self.outcome.largest.max(work);
        self.numbers[vc as usize].push_back(number);
        self.store.0[vc as usize].push_back(size);
        self.gps.arrive(vc, number, work);
        self.scheduler.enqueue(vc, size, now, &self.store);
    }

    fn push_out(&mut self, now: Instant, vc: u32, behind: usize) {
        let queue = &mut self.store.0[vc as usize];
        let Some(last) = queue.len().checked_sub(1) else { return };
        let place = last - behind.min(last);
        let size = queue.remove(place).unwrap();
        let number = self.numbers[vc as usize].remove(place).unwrap();
        let done = self.gps.withdraw(vc, number, self.length(size));
        self.outcome.returned.push((self.work(now), done));
        self.scheduler.withdraw(vc, size, last - place, now, &self.store);
    }

    fn send(&mut self, now: Instant) {
        let vc = self.scheduler.next(now, &self.store).expect("the link never rests while a unit waits");
        let size = self.store.0[vc as usize].pop_front().expect("the VC has a unit");
        let number = self.numbers[vc as usize].pop_front().unwrap();
        if self.drops > 0 {
            return self.drop_taken(now, vc, size, number);
        }
        let heads = self.numbers.iter().enumerate().filter(|(other, _)| *other != vc as usize);
        let heads = heads.filter_map(|(_, numbers)| numbers.front().copied()).collect();
        self.outcome.choices.push((number, heads));
        self.before += self.length;
        (self.began, self.length) = (now, self.length(size));
        self.free = now.plus_slots(self.slot, u64::from(size) + self.overhead);
        self.outcome.ends[number] = Some(self.before + self.length);
    }

    /// The unit that has just left its queue is not sent.
    fn drop_taken(&mut self, now: Instant, vc: u32, size: u32, number: usize) {
        self.drops -= 1;
        self.gps.serve_until(self.work(now));
        let done = self.gps.withdraw(vc, number, self.length(size));
        self.outcome.returned.push((self.work(now), done));
        self.scheduler.refund(vc, size, &self.store);
        self.check_backlog(now);
    }

    /// What is left to serve is the same in both systems.
    fn check_backlog(&self, now: Instant) {
        let waiting: u128 = self.store.0.iter().flatten().map(|&size| self.length(size)).sum();
        let link = waiting + (self.before + self.length - self.work(now));
        assert!(self.gps.backlog().abs_diff(link) <= 1, "{} and {link}", self.gps.backlog());
    }

    /// Sends all that waits.
    pub(crate) fn drain(mut self) -> Outcome {
        while self.waits() {
            self.send(self.free);
        }
        // What rounding left of the last units takes no more than 2^-64 ps.
        self.gps.serve_until(self.before + self.length + 1);
        assert_eq!(self.gps.backlog(), 0);
        Outcome { fluid: self.gps.ends.iter().map(|end| end.map(Work::ceil)).collect(), ..self.outcome }
    }
}

impl Outcome {
    /// What the fluid system gave back, until it ended unit `number`, since the link began the last unit before it that the
    /// fluid system ends later. All that the link sent between came after that: the link needs as long for it as the fluid
    /// system, but for what this did at once.
    fn returned(&self, number: usize, end: u128) -> u128 {
        let sent = self.choices.iter().map(|choice| choice.0).rev().skip_while(|&unit| unit != number);
        let later = sent.into_iter().find(|&unit| self.fluid[unit].is_some_and(|fluid| fluid > end));
        let since = later.map_or(0, |unit| self.ends[unit].unwrap() - self.units[unit].1);
        let meanwhile = self.returned.iter().filter(|(at, _)| (since..=end).contains(at));
        meanwhile.map(|(_, work)| work).sum()
    }

    /// By how much each unit that was sent is later than in the fluid system.
    pub(crate) fn lateness(&self) -> impl Iterator<Item = u128> {
        std::iter::zip(&self.ends, &self.fluid)
            .filter_map(|(end, fluid)| Some((*end)?.saturating_sub((*fluid)?)))
    }

    /// Whether each unit ends at most one largest unit later than the fluid system ends it, and units go in the order in
    /// which the fluid system ends them. `slack` is what instants may differ by.
    pub(crate) fn check(&self, slack: u128) -> Result<(), String> {
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

/// A link with its VCs and what happens to them.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) weights: Vec<u32>,
    pub(crate) rate: u64,
    /// Cells, or packets of any sizes.
    pub(crate) cells: bool,
    /// Bytes that the link adds to a packet.
    pub(crate) overhead: u64,
    pub(crate) steps: Vec<Step>,
}

/// An event on a VC, after a time in thousandths of a mean unit and a time in units of 2^-24 ps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) thousandths: u64,
    pub(crate) fraction: u64,
    pub(crate) vc: usize,
    pub(crate) size: u32,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Arrival,
    PushOut,
    Away,
    Drop,
}

/// 2^-24 ps.
fn fraction() -> Slot {
    Slot::of_bits(1, BitRate(1_000_000_000_000 << 24))
}

impl Case {
    /// Serves what comes under `params`.
    pub(crate) fn serve(&self, params: &SchedulerParams) -> Outcome {
        let rate = BitRate(self.rate);
        let (slot, overhead, mean) = if self.cells {
            (Slot::of_bits(424, rate), 0, 1)
        } else {
            (Slot::of_bits(8, rate), self.overhead, 808)
        };
        let thousandth = Slot::of_ps(slot.ps() * mean / 1000);
        let (mut link, mut now) = (Link::new(params, &self.weights, slot, overhead), Instant::default());
        for step in &self.steps {
            now = now.plus_slots(thousandth, step.thousandths).plus_slots(fraction(), step.fraction);
            let (vc, size) = ((step.vc % self.weights.len()) as u32, if self.cells { 1 } else { step.size });
            let event = match step.kind {
                Kind::Arrival => Event::Arrival(vc, size),
                Kind::PushOut => Event::PushOut(vc, step.size as usize % 8),
                Kind::Away => Event::Away(size),
                Kind::Drop => Event::Drop,
            };
            link.handle(now, event);
        }
        link.drain()
    }

    /// What the instants of the scheduler may differ by from those of the fluid system: 2^-64 ps times the sum of shares
    /// for the arrivals, and again for the tags of two units.
    pub(crate) fn slack(&self) -> u128 {
        4 * self.weights.iter().map(|&weight| u128::from(weight)).sum::<u128>()
    }
}

pub(crate) fn case(kind: impl Strategy<Value = Kind>, steps: usize) -> impl Strategy<Value = Case> {
    let weight = prop_oneof![Just(1u32), 1u32..10, 1u32..=10_000, 1..=u32::MAX];
    let rate = prop_oneof![Just(155_520_000u64), Just(149_760_000), Just(10_000_000_000), 64_000..1u64 << 40];
    let thousandths = prop_oneof![2 => Just(0u64), 5 => 0u64..1000, 2 => 0u64..4000];
    let fraction = prop_oneof![1 => Just(0u64), 3 => 0..1u64 << 28];
    let step = (thousandths, fraction, 0usize..8, 1u32..=1500, kind)
        .prop_map(|(thousandths, fraction, vc, size, kind)| Step { thousandths, fraction, vc, size, kind });
    let weights = prop::collection::vec(weight, 1..9);
    (weights, rate, any::<bool>(), prop::collection::vec(step, 1..steps))
        .prop_map(|(weights, rate, cells, steps)| Case { weights, rate, cells, overhead: 38, steps })
}

/// As many cases as `PROPTEST_CASES` says.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}
