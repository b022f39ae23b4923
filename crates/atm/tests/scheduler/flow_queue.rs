//! Flow queuing with hashed queues: which VCs meet, and what they share then.

use std::collections::VecDeque;

use celltrain_atm::{
    contract::Category,
    scheduler::{Discipline, DisciplineName, SchedulerParams, Side, Vcs, flow_hash::FlowHash, flow_queue},
};

use crate::model::{Port, discipline, of, service, weighted};

/// Flow queuing of `vcs` VCs with a quantum of 1000 bytes and `sets` sets of `ways` queues.
fn port(sets: u32, ways: u32, vcs: usize) -> Port<Discipline> {
    let flow_queue = flow_queue::Params { quantum: Some(1000), sets, ways, ..flow_queue::Params::default() };
    let params = SchedulerParams { flow_queue, ..of(DisciplineName::FlowQueue) };
    Port::new(discipline(&params, &weighted(&vec![1; vcs])), vcs)
}

/// Five packets of VC 0, then five of VC 1, then one of VC 2, each of 600 bytes: the order in which they are sent.
fn order(sets: u32, ways: u32) -> Vec<u32> {
    let mut port = port(sets, ways, 3);
    for (vc, packets) in [(0, 5), (1, 5), (2, 1)] {
        (0..packets).for_each(|_| port.enqueue(vc, 600));
    }
    std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc).collect()
}

#[test]
fn vcs_that_meet_in_a_queue_share_its_turn_and_keep_the_order_of_arrival() {
    // In one queue: as they came.
    assert_eq!(order(1, 1), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]);
    // In a set with room for all, VCs take turns, as if each had a queue of its own. A packet is sent while any credit is left: two of 1000
    // bytes, 200 too many; two of 800, 400 too many; one of 600.
    let apart = order(0, 8);
    assert_eq!(apart, [0, 0, 1, 1, 2, 0, 0, 1, 1, 0, 1]);
    assert_eq!(order(1, 8), apart);
}

/// "Otherwise, the queue is left in its current queue list", with what is left of its credits (RFC 8290 section 4.1).
#[test]
fn a_queue_that_is_pushed_out_whole_keeps_its_place_until_its_turn() {
    let mut port = port(0, 1, 3);
    (0..3).for_each(|vc| port.enqueue(vc, 600));
    port.withdraw(0);
    port.withdraw(1);
    port.enqueue(0, 600);
    assert_eq!(port.next(), Ok(Some((0, 600))));
    // VC 1 is found empty, and leaves the new queues; it goes to the end of the old ones, behind nobody but VC 0 once that has sent.
    port.enqueue(0, 600);
    assert_eq!(port.next(), Ok(Some((0, 600))));
    assert_eq!(port.next(), Ok(Some((2, 600))));
    assert_eq!(port.next(), Ok(None));
}

#[test]
fn a_queue_that_is_pushed_out_whole_is_free_for_others_after_its_turn() {
    let mut port = port(1, 2, 3);
    port.enqueue(0, 600);
    port.enqueue(1, 600);
    port.withdraw(0);
    assert_eq!(port.next(), Ok(Some((1, 600))));
    assert_eq!(port.next(), Ok(None));
    // VC 2 takes the free queue, and does not wait behind VC 1's third packet.
    (0..3).for_each(|_| port.enqueue(1, 600));
    port.enqueue(2, 600);
    let order: Vec<_> = std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc).collect();
    assert_eq!(order, [1, 1, 2, 1]);
}

/// Of `flows` VCs that are in use together, how many find no free queue, on the average of `seeds` hashes.
fn collisions(sets: u32, ways: u32, flows: u32, seeds: u32) -> f64 {
    let mut total = 0;
    for seed in 0..seeds {
        let (hash, mut used) = (FlowHash::new(sets, ways, seed), vec![false; (sets * ways) as usize]);
        for vc in 0..flows {
            let queue = hash.place(vc, |queue| used[queue]);
            total += u32::from(std::mem::replace(&mut used[queue], true));
        }
    }
    f64::from(total) / f64::from(seeds)
}

/// How many of `flows` balls, thrown into `sets` bins at random, find `ways` or more others in theirs: the sum of P(Bin(n, 1/sets) >= ways)
/// over n = 0 .. flows - 1. With one way it is the problem of the birthdays.
fn expected(sets: u32, ways: u32, flows: u32) -> f64 {
    let chance = 1.0 / f64::from(sets);
    // By n: the probabilities of 0 .. ways - 1 others.
    let mut fewer = vec![0.0; ways as usize];
    fewer[0] = 1.0;
    let mut sum = 0.0;
    for _ in 0..flows {
        sum += 1.0 - fewer.iter().sum::<f64>();
        for others in (0..fewer.len()).rev() {
            let before = if others > 0 { fewer[others - 1] } else { 0.0 };
            fewer[others] = fewer[others] * (1.0 - chance) + before * chance;
        }
    }
    sum
}

#[test]
fn vcs_meet_as_often_as_birthdays_do() {
    // 365 days and 23 people: 23 - 365 (1 - (364/365)^23) of them have a birthday that an earlier one has.
    let birthdays = 23.0 - 365.0 * (1.0 - libm::pow(364.0 / 365.0, 23.0));
    assert!((expected(365, 1, 23) / birthdays - 1.0).abs() < 1e-9);
    // 1024 queues, one by one, by fours and by eights. Of 2000 hashes the mean count is known to a few per cent; where few meet, less well.
    for (sets, ways, flows) in [(1024, 1, 23), (1024, 1, 100), (256, 4, 300), (128, 8, 600), (128, 8, 1000)] {
        let (found, expected) = (collisions(sets, ways, flows, 2000), expected(sets, ways, flows));
        // What a flow adds to the count is 0 or 1, and the counts of two flows are nearly independent: four standard deviations.
        let slack = 4.0 * (expected / 2000.0).sqrt();
        assert!((found - expected).abs() < slack, "{sets} x {ways}, {flows} flows: {found} and {expected}");
    }
}

#[test]
fn sets_of_eight_keep_a_hundred_vcs_apart_that_single_queues_do_not() {
    assert!(expected(128, 8, 100) < 1e-4 && expected(1024, 1, 100) > 4.0);
    assert_eq!(collisions(128, 8, 100, 2000), 0.0);
}

#[test]
fn a_vc_comes_back_to_its_queue_until_another_takes_it() {
    let mut hash = FlowHash::new(1, 8, 0);
    let queue = hash.place(7, |_| false);
    hash.reserve(7, queue);
    // In use or not, it is its own.
    assert_eq!(hash.place(7, |_| true), queue);
    hash.reserve(8, queue);
    assert_ne!(hash.place(7, |other| other == queue), queue);
}

/// `cake_hash` of Linux enters a packet's flow as the owner of its queue when the packet comes, not when it leaves.
#[test]
fn a_queue_that_another_vc_waits_in_is_nobody_elses() {
    let own = |vc| FlowHash::new(1, 8, 0).place(vc, |_| false);
    let other = (1..100).find(|&vc| own(vc) == own(0)).expect("a VC with the hash of VC 0");
    let mut port = port(1, 8, 100);
    port.enqueue(0, 600);
    assert_eq!(
        [port.next().unwrap(), port.next().unwrap()].map(|unit| unit.map(|(vc, _)| vc)),
        [Some(0), None]
    );
    // The queue of VC 0 is free. The other VC takes it, and VC 0 another one of the set: they take turns.
    (0..3).for_each(|_| port.enqueue(other, 600));
    port.enqueue(0, 600);
    let order: Vec<_> = std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc).collect();
    assert_eq!(order, [other, other, 0, other]);
}

#[test]
fn numbers_outside_their_range_are_refused_with_it() {
    let refused = |flow_queue: flow_queue::Params| {
        let params = SchedulerParams { flow_queue, ..of(DisciplineName::FlowQueue) };
        let contracts = weighted(&[1]);
        let vcs = Vcs::of(Category::default(), &contracts, service());
        let error = Discipline::new(&params, vcs).unwrap_err();
        (error.key, error.message)
    };
    let default = flow_queue::Params::default;
    let cases = [
        (flow_queue::Params { quantum: Some(0), ..default() }, ("quantum", "expected 1 or more, found 0")),
        (flow_queue::Params { sets: 4097, ..default() }, ("sets", "expected 0 to 4096, found 4097")),
        (flow_queue::Params { ways: 0, ..default() }, ("ways", "expected 1 to 64, found 0")),
    ];
    for (params, (key, message)) in cases {
        assert_eq!(refused(params), (key, message.to_owned()));
    }
}

/// What waits in a shared queue, unit by unit: the VCs of its units in their order, and their sizes together.
#[test]
fn a_shared_queue_says_what_is_in_it() {
    let mut port = port(1, 1, 3);
    let mut sent: Vec<(u32, u32)> = Vec::new();
    let mut model: VecDeque<(u32, u32)> = VecDeque::new();
    for step in 0..200 {
        let (vc, size) = (step % 3, 100 + step % 7 * 40);
        match step % 5 {
            0..3 => {
                port.enqueue(vc, size);
                model.push_back((vc, size));
            }
            3 => {
                let taken = port.next().unwrap();
                assert_eq!(taken, model.pop_front());
                if let Some((vc, size)) = taken {
                    port.scheduler.refund(vc, size, &port.store);
                    sent.push((vc, size));
                }
            }
            _ => {
                port.withdraw(vc);
                let last = model.iter().rposition(|unit| unit.0 == vc);
                last.and_then(|place| model.remove(place));
            }
        }
        let queue = port.scheduler.shared(vc, Side::Arrival).expect("queues are hashed");
        assert!(queue.vcs.iter().copied().eq(model.iter().map(|unit| unit.0)));
        assert_eq!(queue.load, model.iter().map(|unit| u64::from(unit.1)).sum::<u64>());
        assert_eq!((queue.number, queue.queues), (0, 1));
    }
    assert!(sent.len() > 30);
}

/// A unit that left was in the queue in which it waited, also if other VCs have that queue now; a VC with a queue of its own shares none.
#[test]
fn a_unit_has_left_the_queue_in_which_it_waited() {
    let mut port = port(1, 2, 3);
    let side = |port: &Port<Discipline>, vc, side| port.scheduler.shared(vc, side).unwrap().number;
    (0..3).for_each(|vc| port.enqueue(vc, 600));
    let queues = [0, 1, 2].map(|vc| side(&port, vc, Side::Arrival));
    assert!(queues[0] != queues[1] && queues.contains(&queues[2]), "two queues for three VCs: {queues:?}");
    while let Some((vc, _)) = port.next().unwrap() {
        assert_eq!(side(&port, vc, Side::Departure), queues[vc as usize]);
    }
    let alone = discipline(&of(DisciplineName::DeficitRoundRobin), &weighted(&[1]));
    assert!(alone.shared(0, Side::Arrival).is_none());
}

/// RFC 8290 section 4.2: CoDel dequeues from a queue that has its turn and credits, even an empty one.
#[test]
fn the_turns_of_empty_queues_are_counted() {
    for (sets, ways) in [(0, 8), (1, 8)] {
        let mut port = port(sets, ways, 2);
        let empty = |port: &Port<Discipline>| [0, 1].map(|vc| port.scheduler.empty_turns(vc));
        port.enqueue(0, 600);
        (0..4).for_each(|_| port.enqueue(1, 600));
        let mut turn = |vc: u32, expected: [u64; 2]| {
            assert_eq!(port.next().unwrap().map(|(vc, _)| vc), Some(vc));
            assert_eq!(empty(&port), expected.map(Some), "{sets} x {ways}");
        };
        turn(0, [0, 0]);
        // Still new, with 400 bytes left: empty, it goes to the end of the old ones.
        turn(1, [1, 0]);
        turn(1, [1, 0]);
        // Its turn comes first, and it leaves the list.
        turn(1, [2, 0]);
        turn(1, [2, 0]);
        assert_eq!(port.next(), Ok(None));
        assert_eq!(empty(&port), [Some(2), Some(1)]);
    }
    let other = discipline(&of(DisciplineName::RoundRobin), &weighted(&[1]));
    assert_eq!(other.empty_turns(0), None);
}
