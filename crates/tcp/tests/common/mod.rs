//! Two hosts and the path between them, in virtual time: enough of a network to test TCP with.

// Every test file compiles its own copy and uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod dumbbell;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};
use celltrain_tcp::{Params, Receiver, Segment, Sender, StackSpec};

/// Parameters from the text of a `[tcp]` table.
pub fn params(table: &str) -> Params {
    spec(table).resolve().unwrap_or_else(|error| panic!("{error} in\n{table}"))
}

/// A stack from the text of a `[tcp]` table.
pub fn spec(table: &str) -> StackSpec {
    toml::from_str(table).unwrap_or_else(|error| panic!("{error} in\n{table}"))
}

/// A small generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A link with a drop-tail queue in front of it.
pub struct Link {
    /// In bit/s.
    rate: u64,
    delay: Time,
    /// Packets that it holds, the one in service included.
    limit: usize,
    /// When those that it holds have been sent.
    departures: VecDeque<Time>,
}

impl Link {
    pub fn new(rate: u64, delay: Time, limit: usize) -> Self {
        Self { rate, delay, limit, departures: VecDeque::new() }
    }

    /// From now on it carries `rate` bit/s.
    pub fn set_rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    /// Packets that it holds at `now`.
    pub fn length(&mut self, now: Time) -> usize {
        while self.departures.front().is_some_and(|&departure| departure <= now) {
            self.departures.pop_front();
        }
        self.departures.len()
    }

    /// When a packet of `bytes` that arrives at `now` reaches the other end, unless the queue is full.
    fn carry(&mut self, now: Time, bytes: u32) -> Option<Time> {
        if self.length(now) >= self.limit {
            return None;
        }
        let start = self.departures.back().copied().unwrap_or(now).max(now);
        let service = u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(self.rate);
        let departure = start + service as Time;
        self.departures.push_back(departure);
        Some(departure + self.delay)
    }
}

/// What becomes of a segment on its way: it goes on after an extra delay, or is lost.
pub type Fate = Option<Time>;

/// Decides the fate of each segment that a host sends, and may mark it; true stands for the sender's.
pub type Script<'a> = Box<dyn FnMut(&mut Segment, bool) -> Fate + 'a>;

/// A script that loses the `occurrence`-th transmission (from 1) of the segment with each given first byte.
pub fn lose(list: &[(u64, u32)]) -> Script<'static> {
    let mut list: Vec<_> = list.to_vec();
    Box::new(move |segment, data| {
        for (seq, left) in list.iter_mut().filter(|(seq, _)| data && *seq == segment.seq) {
            let _ = seq;
            *left = left.wrapping_sub(1);
            if *left == 0 {
                return None;
            }
        }
        Some(0)
    })
}

/// What the rig did last.
pub enum Step {
    /// A segment left a host; true if it was the sender.
    Sent(Segment, bool),
    /// Time went on: a segment arrived or a timer expired.
    Advanced,
    /// Nothing will happen any more.
    Quiet,
}

/// A segment on its way: arrival, order of sending, stage, segment.
struct Flight {
    at: Time,
    order: u64,
    /// The link it arrives at; beyond the last, the host.
    stage: usize,
    to_receiver: bool,
    segment: Segment,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// A sender, a receiver, links one way and the same links back.
pub struct Rig<'a> {
    pub now: Time,
    pub sender: Sender,
    pub receiver: Receiver,
    forward: Vec<Link>,
    back: Vec<Link>,
    script: Script<'a>,
    flights: BinaryHeap<Reverse<Flight>>,
    order: u64,
    /// Packets that full queues dropped.
    pub overflows: u64,
    /// Highest acknowledgement that reached the sender.
    pub acknowledged: u64,
}

impl<'a> Rig<'a> {
    /// Two hosts joined by links of (bit/s, delay, packets held), with the given losses.
    pub fn new(params: &Params, links: &[(u64, Time, usize)], script: Script<'a>) -> Self {
        let build = || links.iter().map(|&(rate, delay, limit)| Link::new(rate, delay, limit));
        Self {
            now: 0,
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            forward: build().collect(),
            back: build().rev().collect(),
            script,
            flights: BinaryHeap::new(),
            order: 0,
            overflows: 0,
            acknowledged: 0,
        }
    }

    /// Runs until `end` or until nothing happens any more, then stands at the later of the last event and
    /// `now`.
    pub fn run_until(&mut self, end: Time) {
        while self.next_time() <= end || self.owes() {
            if matches!(self.step(), Step::Quiet) {
                break;
            }
        }
    }

    /// Runs until all offered data is acknowledged; false if that does not happen by `end`.
    pub fn finishes_by(&mut self, end: Time) -> bool {
        while !self.sender.is_done() && self.now <= end {
            if matches!(self.step(), Step::Quiet) {
                break;
            }
        }
        self.sender.is_done()
    }

    /// Does the next thing: a host sends, else the next arrival, else the next timer.
    pub fn step(&mut self) -> Step {
        if let Some(segment) = self.sender.poll_segment(self.now) {
            self.dispatch(segment, true);
            return Step::Sent(segment, true);
        }
        if let Some(segment) = self.receiver.poll_segment(self.now) {
            self.dispatch(segment, false);
            return Step::Sent(segment, false);
        }
        let next = self.next_time();
        if next == NEVER {
            return Step::Quiet;
        }
        assert!(next >= self.now, "time goes forward");
        self.now = next;
        if self.flights.peek().is_some_and(|Reverse(flight)| flight.at == next) {
            let Reverse(flight) = self.flights.pop().expect("peeked");
            self.arrive(flight);
        } else {
            self.sender.on_timeout(next);
            self.receiver.on_timeout(next);
        }
        Step::Advanced
    }

    /// Whether a host has something to send at once.
    fn owes(&self) -> bool {
        self.sender.clone().poll_segment(self.now).is_some()
            || self.receiver.clone().poll_segment(self.now).is_some()
    }

    fn next_time(&self) -> Time {
        let arrival = self.flights.peek().map_or(NEVER, |Reverse(flight)| flight.at);
        let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
        timers.into_iter().flatten().fold(arrival, Time::min)
    }

    fn dispatch(&mut self, mut segment: Segment, to_receiver: bool) {
        if let Some(extra) = (self.script)(&mut segment, to_receiver) {
            self.push(self.now + extra, 0, to_receiver, segment);
        }
    }

    fn push(&mut self, at: Time, stage: usize, to_receiver: bool, segment: Segment) {
        self.order += 1;
        self.flights.push(Reverse(Flight { at, order: self.order, stage, to_receiver, segment }));
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { at, stage, to_receiver, segment, .. } = flight;
        let links = if to_receiver { &mut self.forward } else { &mut self.back };
        if let Some(link) = links.get_mut(stage) {
            match link.carry(at, segment.ip_bytes()) {
                Some(arrival) => self.push(arrival, stage + 1, to_receiver, segment),
                None => self.overflows += 1,
            }
        } else if to_receiver {
            self.receiver.on_segment(at, &segment);
        } else {
            self.acknowledged = self.acknowledged.max(segment.ack);
            self.sender.on_segment(at, &segment);
        }
    }
}
