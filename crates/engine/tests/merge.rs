//! Merging against sorting.

use celltrain_engine::{
    Instant, Slot,
    merge::{Merge, TieBreak},
    quantity::BitRate,
    random::Randomness,
    stream::{Car, Stream, Streams, Train},
};
use proptest::{prelude::*, test_runner::RngSeed};

/// A car that knows its stream and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Wagon {
    stream: usize,
    place: u32,
}

impl Car for Wagon {
    fn advance(&mut self, count: u32) {
        self.place += count;
    }

    fn follows(&self, head: &Self, count: u32) -> bool {
        self.stream == head.stream && self.place == head.place + count
    }
}

/// Streams of trains given as (gap before, cars) and what a sort makes of them: (time, stream, place).
fn streams(trains: &[Vec<(u64, u32)>], slots: &[u64]) -> (Streams<Wagon>, Vec<(u64, usize, u32)>) {
    let (mut streams, mut cars) = (Vec::new(), Vec::new());
    for (index, (trains, &slot)) in trains.iter().zip(slots).enumerate() {
        let mut stream = Stream::new(Slot::of_ps(slot));
        let (mut time, mut place) = (0, 0);
        for &(gap, count) in trains {
            time += gap;
            let car = Wagon { stream: index, place };
            stream.push(0, 0, &Train { count, ..Train::single(Instant::at(time), car) });
            for _ in 0..count {
                cars.push((time, index, place));
                time += slot;
                place += 1;
            }
        }
        streams.push(stream);
    }
    cars.sort_unstable();
    (streams, cars)
}

/// Takes everything out of a merge in visits that end at `stops`: with whole rounds, and with what follows single cars.
fn merged(mut streams: Streams<Wagon>, ties: TieBreak, stops: &[u64]) -> Vec<(u64, usize, u32)> {
    let inputs: Vec<_> = (0..streams.len()).collect();
    let mut merge = Merge::new(&inputs, ties);
    let (mut cars, mut train, mut rows, mut behind) = (Vec::new(), Train::default(), Vec::new(), Vec::new());
    let mut take = |train: &Train<Wagon>, n, slot, stop| {
        let time = train.arrival(n, slot).ps();
        assert!(time < stop);
        cars.push((time, train.car.stream, train.car.place + n));
    };
    for &stop in stops {
        merge.refill(&streams);
        while let Some(slot) = merge.next(stop, &mut streams, &mut train) {
            (0..train.count).for_each(|n| take(&train, n, slot, stop));
            if train.count > 1 {
                continue;
            }
            if let Some((rounds, slot)) = merge.rounds(stop, &mut streams, &mut rows) {
                assert!(rounds > 1 && rows.len() > 1 && rows.iter().all(|row| row.count == rounds));
                for n in 0..rounds {
                    rows.iter().for_each(|row| take(row, n, slot, stop));
                }
                continue;
            }
            merge.take_behind(&train.car, stop, &mut streams, &mut behind);
            for (&first, place) in behind.iter().zip(1..) {
                let car = Wagon { place: train.car.place + place, ..train.car };
                take(&Train::single(first, car), 0, slot, stop);
            }
        }
    }
    cars
}

/// As [`merged`], car by car as they take turns.
fn merged_in_turn(mut streams: Streams<Wagon>, ties: TieBreak, stops: &[u64]) -> Vec<(u64, usize, u32)> {
    let mut merge = Merge::new(&(0..streams.len()).collect::<Vec<_>>(), ties);
    let (mut cars, mut train) = (Vec::new(), Train::default());
    for &stop in stops {
        merge.refill(&streams);
        while let Some(slot) = merge.next_in_turn(stop, &mut streams, &mut train) {
            let car = |n| (train.arrival(n, slot).ps(), train.car.stream, train.car.place + n);
            cars.extend((0..train.count).map(car));
        }
    }
    cars
}

fn trains() -> impl Strategy<Value = (Vec<Vec<(u64, u32)>>, Vec<u64>)> {
    let stream = prop::collection::vec((0u64..60, 1u32..9), 0..12);
    // Slots of all sizes, or one for all, so that cars take turns.
    let slots = |count| {
        prop_oneof![
            prop::collection::vec(1u64..12, count),
            (4u64..40).prop_map(move |slot| vec![slot; count])
        ]
    };
    (1usize..7).prop_flat_map(move |count| (prop::collection::vec(stream.clone(), count), slots(count)))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn merging_is_sorting_by_time_and_input((trains, slots) in trains(), mut stops in prop::collection::vec(0u64..2000, 0..20)) {
        stops.sort_unstable();
        stops.push(u64::MAX);
        let (streams, expected) = streams(&trains, &slots);
        prop_assert_eq!(merged_in_turn(streams.clone(), TieBreak::InputId, &stops), &expected[..]);
        prop_assert_eq!(merged(streams, TieBreak::InputId, &stops), expected);
    }

    #[test]
    fn random_ties_do_not_depend_on_the_visits((trains, slots) in trains(), mut stops in prop::collection::vec(0u64..2000, 0..20)) {
        stops.sort_unstable();
        stops.push(u64::MAX);
        let ties = || TieBreak::Random(Randomness { seed: 1, replication: 0 }.named("ties"));
        let (streams, expected) = streams(&trains, &slots);
        let at_once = merged(streams.clone(), ties(), &[u64::MAX]);
        prop_assert_eq!(&at_once, &merged(streams.clone(), ties(), &stops));
        prop_assert_eq!(&at_once, &merged_in_turn(streams, ties(), &stops));
        let mut sorted = at_once;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, expected);
    }
}

#[test]
fn whole_rounds_are_taken_at_once() {
    // A car every 10 ps each: stream 1 begins 4 ps after the second car of stream 0, and a car of stream 2 ends the turns.
    let (mut streams, _) = streams(&[vec![(0, 9)], vec![(14, 9)], vec![(57, 1)]], &[10, 10, 10]);
    let mut merge = Merge::new(&[0, 1, 2], TieBreak::InputId);
    merge.refill(&streams);
    let (mut train, mut rows) = (Train::default(), Vec::new());
    let counts = [2, 1].map(|_| {
        merge.next(1000, &mut streams, &mut train);
        (train.car.stream, train.count)
    });
    assert_eq!(counts, [(0, 2), (1, 1)]);
    let rounds = merge.rounds(1000, &mut streams, &mut rows);
    assert_eq!(rounds, Some((3, Slot::of_ps(10))));
    let first = |row: &Train<Wagon>| (row.first.ps(), row.car.stream, row.car.place);
    assert_eq!(rows.iter().map(first).collect::<Vec<_>>(), [(20, 0, 2), (24, 1, 1)]);
}

#[test]
fn what_follows_a_single_car_is_taken_with_it() {
    // Cars of stream 0 alone, 10 ps apart; a car of stream 1 ends the first row, and a train of two the second.
    let trains = [(0, 1), (10, 1), (10, 1), (10, 1), (10, 1), (10, 2)];
    let (mut streams, _) = streams(&[trains.to_vec(), vec![(25, 1)]], &[0, 0]);
    let (mut merge, mut train, mut behind) =
        (Merge::new(&[0, 1], TieBreak::InputId), Train::default(), Vec::new());
    merge.refill(&streams);
    let mut row = |until| {
        merge.next(until, &mut streams, &mut train)?;
        merge.take_behind(&train.car, until, &mut streams, &mut behind);
        Some((train.car.stream, train.count, behind.iter().map(|at| at.ps()).collect::<Vec<_>>()))
    };
    assert_eq!(row(15), Some((0, 1, vec![10])), "and the next comes after the visit");
    assert_eq!(row(100), Some((0, 1, vec![])), "a car of stream 1 comes before the next");
    assert_eq!(row(100), Some((1, 1, vec![])));
    assert_eq!(row(100), Some((0, 1, vec![40])), "a train does not follow");
    assert_eq!((row(100), row(100)), (Some((0, 2, vec![])), None));
}

#[test]
fn gaps_join_as_trains_do() {
    // The same cars, 3 and 2 slots apart and then one after another, come one by one, or in three trains.
    let (slot, numbers) = (Slot::of_ps(10), [0u64, 3, 6, 8, 10, 12, 13, 14]);
    let train = |place: usize, slots, count| {
        let car = Wagon { stream: 0, place: place as u32 };
        let gaps = Train::<Wagon>::even_gaps(slots, count);
        Train { gaps, count, ..Train::single(Instant::at(0).plus_slots(slot, numbers[place]), car) }
    };
    let (mut one_by_one, mut in_trains) = (Stream::new(slot), Stream::new(slot));
    for (place, &number) in numbers.iter().enumerate() {
        one_by_one.push(number, number, &train(place, 1, 1));
    }
    for (place, slots, count) in [(0, 3, 3), (3, 2, 3), (6, 1, 2)] {
        let last = numbers[place + count as usize - 1];
        in_trains.push(numbers[place], last, &train(place, slots, count));
    }
    for stream in [one_by_one, in_trains] {
        let (mut merge, mut streams) = (Merge::new(&[0], TieBreak::InputId), vec![stream]);
        merge.refill(&streams);
        let mut train = Train::default();
        assert_eq!(merge.next(1000, &mut streams, &mut train), Some(slot));
        let arrivals: Vec<_> = (0..train.count).map(|place| train.arrival(place, slot).ps()).collect();
        assert_eq!(arrivals, numbers.map(|number| number * 10), "they are one train");
    }
}

#[test]
fn cars_before_a_time_are_counted() {
    let slot = Slot::of_bits(424, BitRate(155_520_000));
    for gaps in [0, 0x0, 0x3, 0x1202, 0xf00f, 0x1111_1111_1111_1111] {
        let train = Train { gaps, count: 20, ..Train::single(Instant::at(7), Wagon::default()) };
        for place in 1..20 {
            let arrival = train.arrival(place, slot).ps();
            for limit in [arrival - 1, arrival, arrival + 1] {
                let before = (0..20).filter(|&place| train.arrival(place, slot).ps() < limit).count() as u32;
                if before < 20 {
                    assert_eq!(train.cars_before(limit, slot), before, "gaps {gaps:x} before {limit}");
                }
            }
        }
    }
}

#[test]
fn random_ties_are_even() {
    let mut firsts = [0; 3];
    let mut ties = Randomness { seed: 5, replication: 1 }.named("ties");
    for _ in 0..3000 {
        let (streams, _) = streams(&[vec![(4, 1)], vec![(4, 1)], vec![(4, 1)]], &[1, 1, 1]);
        // The generator goes on from case to case.
        let seed = ties.below(u64::MAX);
        let case = TieBreak::Random(Randomness { seed, replication: 0 }.named("case"));
        firsts[merged(streams, case, &[u64::MAX])[0].1] += 1;
    }
    assert!(firsts.iter().all(|&count| (900..1100).contains(&count)), "{firsts:?}");
}
