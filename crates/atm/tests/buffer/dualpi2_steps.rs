//! DualPI2 packet by packet: arrivals and departures with the decisions of RFC 9332, appendix A, by hand and by its pseudocode, written
//! down a second time with queues of its own.

use std::collections::VecDeque;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Fate, Head, Snapshot, Verdict,
        dualpi2::{Dualpi2, Params},
    },
    cell::Ecn,
};
use celltrain_engine::{
    Time,
    time::{MICROSECOND, MILLISECOND, SECOND},
};
use proptest::prelude::*;

use crate::model::{context, contracts};

const MS: Time = MILLISECOND;

/// The policy, and the packets that wait, of low latency and classic: when each came, and its ECN field.
struct Port {
    policy: Dualpi2,
    queues: [VecDeque<(Time, Ecn)>; 2],
    snapshot: Snapshot,
}

impl Port {
    fn new() -> Self {
        let policy = Dualpi2::new(&Params::default(), &context(u64::MAX, &contracts(2))).unwrap();
        Self { policy, queues: Default::default(), snapshot: Snapshot::of(u64::MAX, &[0, 0]) }
    }

    /// A packet of VC 0 if it is one of low latency, of VC 1 if it is classic.
    fn packet(ecn: Ecn) -> Cell {
        Cell { vc: u32::from(queue(ecn) == C), length: 1, ecn, ..Cell::default() }
    }

    fn arrive(&mut self, now: Time, ecn: Ecn) {
        let verdict = self.policy.on_arrival(&Self::packet(ecn), &self.snapshot.view(true), now);
        assert_eq!(verdict, Verdict::Accept);
        self.queues[queue(ecn)].push_back((now, ecn));
    }

    /// What becomes of the first packet of a queue.
    fn depart(&mut self, now: Time, from: usize) -> Fate {
        let (arrival, ecn) = self.queues[from].pop_front().expect("a packet waits");
        let head = Head { cell: Self::packet(ecn), sojourn: now - arrival, now };
        self.policy.on_head(head, &self.snapshot.view(true))
    }
}

const L: usize = 0;
const C: usize = 1;

/// Figure 3, lines 5 to 9: "ECN bits = ECT(1) or CE" for L.
fn queue(ecn: Ecn) -> usize {
    match ecn {
        Ecn::LowLatency | Ecn::Marked => L,
        Ecn::NotCapable | Ecn::Capable | Ecn::RateMarked => C,
    }
}

/// Figure 8 by hand, with the constants of figure 2: a classic packet waits from 0 on, so that the delay is 15, 30, 45 and 60 ms at the
/// first four updates, and p' grows by 0.15 (delay - 0.015) + 3 x 0.015: 0.045, 0.09225, 0.14175, 0.1935. From 60 ms on `p_CL` is 0.387.
#[test]
fn packets_of_low_latency_are_marked_evenly() {
    use Fate::{Mark, Send};
    let mut port = Port::new();
    port.arrive(0, Ecn::Capable);
    (0..11).for_each(|_| port.arrive(60 * MS, Ecn::LowLatency));
    // Figure 4: the count is 0.387, 0.774, 1.161 (mark, 0.161 is left), 0.548, 0.935, 1.322 (mark, 0.322).
    let at_once: Vec<_> = (0..6).map(|_| port.depart(60 * MS, L)).collect();
    assert_eq!(at_once, [Send, Send, Mark, Send, Send, Mark]);
    // After 1 ms half of the ramp is reached: 0.5 as long as more than one packet stays behind, which are 4, 3 and 2: 0.822, 1.322 (mark,
    // 0.322), 0.822. Then 0.387 again: 1.209 (mark, 0.209), 0.596.
    let later: Vec<_> = (0..5).map(|_| port.depart(61 * MS, L)).collect();
    assert_eq!(later, [Send, Mark, Send, Mark, Send]);
    // 0.1935^2 = 0.037.
    assert_eq!(port.depart(61 * MS, C), Send);
}

/// The same p' and its square: 0.03744225 for each classic packet from 60 ms on, so that the 27th passes 1 (1.0109). It is marked if it can
/// be, else dropped. Without the last update, 0.14175^2 = 0.0200930625, it is the 50th (1.0047).
#[test]
fn classic_packets_are_dropped_or_marked_by_the_square() {
    for (ecn, fate) in [(Ecn::NotCapable, Fate::Drop), (Ecn::Capable, Fate::Mark)] {
        for (now, at) in [(60 * MS, 27), (60 * MS - 1, 50)] {
            let mut port = Port::new();
            port.arrive(0, Ecn::Capable);
            (0..60).for_each(|_| port.arrive(0, ecn));
            let fates: Vec<_> = (0..50).map(|_| port.depart(now, C)).collect();
            let first = fates.iter().position(|&other| other != Fate::Send).map(|place| place + 1);
            assert_eq!((first, fates[at - 1]), (Some(at), fate), "at {now}");
        }
    }
}

/// Section 4.2.3 and figure 7: once `p_CL` would be 1, packets are dropped from both queues, whatever could be marked. Without a classic
/// packet the delay of L drives p' (figure 8, line 2a). By hand, at 15 ms n of waiting p' grows by 0.15 x 0.015 (n - 1) + 0.045: it is
/// 0.045 n + 0.001125 n (n - 1), 0.486 after the ninth and 0.55125 after the tenth update, with a square of 0.303877.
#[test]
fn overload_drops_what_could_be_marked() {
    use Fate::{Drop, Mark};
    let mut port = Port::new();
    (0..20).for_each(|_| port.arrive(0, Ecn::LowLatency));
    (0..4).for_each(|_| port.arrive(0, Ecn::Capable));
    // The native ramp marks for certain; the count passes 1 only with the second packet.
    let before: Vec<_> = (0..3).map(|_| port.depart(149 * MS, L)).collect();
    assert_eq!(before, [Fate::Send, Mark, Mark]);
    // The count stands at 1: 1.3039 drops, and 0.3039 is left. 0.6078 does not, and with `p_CL`, which as a probability is no more than 1,
    // 1.6078 marks. 0.9116 and 1.9116, the same; 1.2155 drops.
    let after: Vec<_> = (0..4).map(|_| port.depart(150 * MS, L)).collect();
    assert_eq!(after, [Drop, Mark, Mark, Drop]);
    let classic: Vec<_> = (0..4).map(|_| port.depart(150 * MS, C)).collect();
    assert_eq!(classic, [Fate::Send, Fate::Send, Fate::Send, Drop]);
}

/// Figures 2 to 8, in seconds and Hz.
#[derive(Default)]
struct Rfc9332 {
    queues: [VecDeque<(Time, Ecn)>; 2],
    base: f64,
    coupled: f64,
    classic: f64,
    prevq: f64,
    counts: [f64; 2],
    updates: u64,
}

impl Rfc9332 {
    /// Figure 8, at each multiple of `Tupdate` up to now.
    fn update_until(&mut self, now: Time) {
        while (self.updates + 1) * 15 * MS <= now {
            self.updates += 1;
            let at = self.updates * 15 * MS;
            let time = |queue: &VecDeque<(Time, Ecn)>| queue.front().map_or(0, |packet| at - packet.0);
            let curq = self.queues.iter().map(time).max().unwrap() as f64 / SECOND as f64;
            let (alpha, beta) = (0.1 * 0.015 / (0.1 * 0.1), 0.3 / 0.1);
            self.base += alpha * (curq - 0.015) + beta * (curq - self.prevq);
            self.base = self.base.clamp(0.0, 1.0);
            self.coupled = (2.0 * self.base).min(1.0);
            self.classic = self.base * self.base;
            self.prevq = curq;
        }
    }

    /// Figure 4, lines 23 to 30.
    fn recur(&mut self, queue: usize, likelihood: f64) -> bool {
        self.counts[queue] += likelihood;
        if self.counts[queue] > 1.0 {
            self.counts[queue] -= 1.0;
            return true;
        }
        false
    }

    /// Figure 5.
    fn laqm(delay: Time) -> f64 {
        if delay >= 1200 * MICROSECOND {
            1.0
        } else if delay > 800 * MICROSECOND {
            (delay - 800 * MICROSECOND) as f64 / (400 * MICROSECOND) as f64
        } else {
            0.0
        }
    }

    /// Figure 7, after the scheduler has chosen the queue.
    fn dequeue(&mut self, now: Time, from: usize) -> Fate {
        let (arrival, ecn) = self.queues[from].pop_front().expect("a packet waits");
        if from == L {
            if self.coupled < 1.0 {
                let native = if self.queues[L].len() > 1 { Self::laqm(now - arrival) } else { 0.0 };
                let likelihood = native.max(self.coupled);
                return if self.recur(L, likelihood) { Fate::Mark } else { Fate::Send };
            }
            if self.recur(L, self.classic) {
                return Fate::Drop;
            }
            return if self.recur(L, self.coupled) { Fate::Mark } else { Fate::Send };
        }
        if !self.recur(C, self.classic) {
            return Fate::Send;
        }
        if ecn == Ecn::NotCapable || self.classic >= 0.25 { Fate::Drop } else { Fate::Mark }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 200,
        ..ProptestConfig::default()
    })]

    /// Phases of so many packets of each queue in ten milliseconds, of which the link sends ten. L goes first, but C has every sixteenth
    /// turn; what is dropped leaves the turn to the next.
    #[test]
    fn every_decision_is_that_of_the_pseudocode(
        phases in prop::collection::vec((0u64..15, 0u64..15, any::<bool>(), 1u64..700), 1..10),
    ) {
        let (mut rfc, mut port) = (Rfc9332::default(), Port::new());
        let (mut now, mut turn) = (0, 0);
        for (low_latency, classic, capable, length) in phases {
            let classic_ecn = if capable { Ecn::Capable } else { Ecn::NotCapable };
            for step in 0..length {
                now += MS;
                rfc.update_until(now);
                for (rate, ecn) in [(low_latency, Ecn::LowLatency), (classic, classic_ecn)] {
                    for _ in step * rate / 10..(step + 1) * rate / 10 {
                        port.arrive(now, ecn);
                        rfc.queues[queue(ecn)].push_back((now, ecn));
                    }
                }
                now += 300 * MICROSECOND;
                rfc.update_until(now);
                while port.queues.iter().any(|queue| !queue.is_empty()) {
                    turn += 1;
                    let first = if turn % 16 == 0 { C } else { L };
                    let from = if port.queues[first].is_empty() { 1 - first } else { first };
                    let (fate, expected) = (port.depart(now, from), rfc.dequeue(now, from));
                    prop_assert_eq!(fate, expected, "at {}", now);
                    if fate != Fate::Drop {
                        break;
                    }
                }
            }
        }
    }
}
