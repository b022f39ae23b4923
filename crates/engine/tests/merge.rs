//! Merging against sorting.

use celltrain_engine::{
    Instant, Slot,
    merge::{Merge, TieBreak},
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
        self.place == head.place + count
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

/// Takes everything out of a merge in visits that end at `stops`.
fn merged(mut streams: Streams<Wagon>, ties: TieBreak, stops: &[u64]) -> Vec<(u64, usize, u32)> {
    let inputs: Vec<_> = (0..streams.len()).collect();
    let mut merge = Merge::new(&inputs, ties);
    let (mut cars, mut train) = (Vec::new(), Train::default());
    for &stop in stops {
        merge.refill(&streams);
        while let Some(slot) = merge.next(stop, &mut streams, &mut train) {
            for n in 0..train.count {
                let time = train.arrival(n, slot).ps();
                assert!(time < stop);
                cars.push((time, train.car.stream, train.car.place + n));
            }
        }
    }
    cars
}

fn trains() -> impl Strategy<Value = (Vec<Vec<(u64, u32)>>, Vec<u64>)> {
    let stream = prop::collection::vec((0u64..60, 1u32..9), 0..12);
    (1usize..7).prop_flat_map(move |count| {
        (prop::collection::vec(stream.clone(), count), prop::collection::vec(1u64..12, count))
    })
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
        prop_assert_eq!(merged(streams, TieBreak::InputId, &stops), expected);
    }

    #[test]
    fn random_ties_do_not_depend_on_the_visits((trains, slots) in trains(), mut stops in prop::collection::vec(0u64..2000, 0..20)) {
        stops.sort_unstable();
        stops.push(u64::MAX);
        let ties = || TieBreak::Random(Randomness { seed: 1, replication: 0 }.named("ties"));
        let (streams, expected) = streams(&trains, &slots);
        let at_once = merged(streams.clone(), ties(), &[u64::MAX]);
        prop_assert_eq!(&at_once, &merged(streams, ties(), &stops));
        let mut sorted = at_once;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, expected);
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
