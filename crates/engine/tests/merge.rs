//! Merging against sorting.

use celltrain_engine::{
    Instant, Slot,
    merge::{Merge, Taken, TieBreak},
    quantity::BitRate,
    random::Randomness,
    stream::{Item, Stream, Train},
    weave::Burst,
};
use proptest::prelude::*;

/// An item that knows its stream and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Parcel {
    stream: usize,
    place: u32,
}

impl Item for Parcel {
    fn advance(&mut self, count: u32) {
        self.place += count;
    }

    fn follows(&self, head: &Self, count: u32) -> bool {
        self.stream == head.stream && self.place == head.place + count
    }
}

/// An item as it arrives: when, on which stream, and its place there.
type Arrival = (Instant, usize, u32);

/// Streams of trains given as (gap before, items) and what a sort makes of them. Gaps are in thirds of a picosecond, so that items of
/// several streams arrive within one.
fn streams(trains: &[Vec<(u64, u32)>], slots: &[Slot]) -> (Vec<Stream<Parcel>>, Vec<Arrival>) {
    let (mut streams, mut items) = (Vec::new(), Vec::new());
    let third = Slot::of_bits(1, BitRate(3_000_000_000_000));
    for (index, (trains, &slot)) in trains.iter().zip(slots).enumerate() {
        let (mut stream, mut time, mut place) = (Stream::default(), Instant::at(0), 0);
        for &(gap, count) in trains {
            time = time.plus_slots(third, gap);
            let item = Parcel { stream: index, place };
            stream.push(0, 0, &Train { slot, count, ..Train::single(time, item) });
            for _ in 0..count {
                items.push((time, index, place));
                time = time.plus(slot);
                place += 1;
            }
        }
        streams.push(stream);
    }
    items.sort_unstable();
    (streams, items)
}

/// Takes everything out of a merge in visits that end at `stops`, with whole rounds.
fn merged(mut streams: Vec<Stream<Parcel>>, ties: TieBreak, stops: &[u64]) -> Vec<Arrival> {
    let inputs: Vec<_> = (0..streams.len()).collect();
    let mut merge = Merge::new(&inputs, ties);
    // Slower than all trains, so that they make rounds.
    let link = Slot::of_ps(1000);
    let (mut items, mut train, mut bursts) = (Vec::new(), Train::default(), Vec::new());
    let mut take = |train: &Train<Parcel>, n, stop| {
        let time = train.arrival(n);
        assert!(time.ps() < stop);
        items.push((time, train.item.stream, train.item.place + n));
    };
    for &stop in stops {
        merge.refill(&streams);
        let Some(mut many) = merge.lend() else {
            while merge.next(stop, &mut streams, &mut train) {
                (0..train.count).for_each(|n| take(&train, n, stop));
            }
            continue;
        };
        loop {
            match many.next_or_rounds(stop, link, &mut streams, &mut train, &mut bursts) {
                Taken::Nothing => break,
                Taken::Train => (0..train.count).for_each(|n| take(&train, n, stop)),
                Taken::Rounds(items) => {
                    let rounds = items / bursts.len() as u32;
                    assert!(rounds > 1 && bursts.len() > 1);
                    assert!(bursts.iter().all(|burst| burst.train.count == rounds));
                    for n in 0..rounds {
                        bursts.iter().for_each(|burst| take(&burst.train, n, stop));
                    }
                }
            }
        }
        merge.take_back(many);
    }
    items
}

/// As [`merged`], but keys are searched from the far end, or with `both` from the end that the merge suggests; a single busy input
/// is lent out. Streams have what begins to arrive in a visit before it, and nothing later.
fn merged_in_turn(all: &Vec<Stream<Parcel>>, ties: TieBreak, stops: &[u64], both: bool) -> Vec<Arrival> {
    let mut merge = Merge::new(&(0..all.len()).collect::<Vec<_>>(), ties);
    let (mut items, mut train) = (Vec::new(), Train::default());
    let (mut streams, mut sent): (Vec<Stream<Parcel>>, _) =
        (vec![Stream::default(); all.len()], vec![0; all.len()]);
    for &stop in stops {
        for ((stream, all), sent) in streams.iter_mut().zip(all).zip(&mut sent) {
            let begins = |train: &&Train<Parcel>| train.first.ps() < stop;
            for train in all.trains()[*sent..].iter().take_while(begins) {
                stream.push(0, 0, train);
                *sent += 1;
            }
        }
        if let Some(mut alone) = merge.lend_alone(&mut streams) {
            while let Some((train, end)) = alone.next_with_end(stop) {
                let last = train.last();
                assert_eq!(end, last);
                assert!(end.ps() < stop, "a train reaches to {last:?}");
                items.extend(
                    (0..train.count).map(|n| (train.arrival(n), train.item.stream, train.item.place + n)),
                );
            }
            merge.give_back(alone, &mut streams);
            continue;
        }
        // A single input that is not lent alone has nothing.
        let Some(mut many) = merge.lend() else { continue };
        let turns = !both || many.takes_turns(&streams);
        while if turns {
            many.next::<true, _>(stop, &mut streams, &mut train)
        } else {
            many.next::<false, _>(stop, &mut streams, &mut train)
        } {
            let item = |n| (train.arrival(n), train.item.stream, train.item.place + n);
            items.extend((0..train.count).map(item));
        }
        merge.take_back(many);
    }
    items
}

/// As [`merged`], of trains of a single item each, so many of which are taken at once.
fn merged_at_once(
    mut streams: Vec<Stream<Parcel>>,
    ties: TieBreak,
    stops: &[u64],
    room: usize,
) -> Vec<Arrival> {
    let mut merge = Merge::new(&(0..streams.len()).collect::<Vec<_>>(), ties);
    let (mut items, mut room) = (Vec::new(), vec![Train::default(); room]);
    for &stop in stops {
        merge.refill(&streams);
        let Some(mut many) = merge.lend() else { continue };
        loop {
            let trains = many.take_trains(stop, &mut streams, &mut room);
            if trains.is_empty() {
                break;
            }
            items.extend(trains.iter().map(|train| (train.first, train.item.stream, train.item.place)));
            assert!(items.last().is_some_and(|(first, ..)| first.ps() < stop));
        }
        merge.take_back(many);
    }
    items
}

fn trains() -> impl Strategy<Value = (Vec<Vec<(u64, u32)>>, Vec<Slot>)> {
    let stream = prop::collection::vec((0u64..60, 1u32..9), 0..12);
    // Slots of all sizes, whole picoseconds or not, or one for all, so that items take turns.
    let slot = || prop_oneof![(1u64..12).prop_map(Slot::of_ps), (1u64..90).prop_map(sevenths)];
    let slots = move |count| {
        prop_oneof![prop::collection::vec(slot(), count), slot().prop_map(move |slot| vec![slot; count])]
    };
    // A few, or more than are kept sorted.
    let inputs = prop_oneof![3 => 1usize..7, 1 => 90usize..250];
    inputs.prop_flat_map(move |count| (prop::collection::vec(stream.clone(), count), slots(count)))
}

/// So many sevenths of a picosecond, and one whole.
fn sevenths(count: u64) -> Slot {
    Slot::of_bits(7 + count, BitRate(7_000_000_000_000))
}

proptest! {
    // So many that items which tie in the middle of a train are among them.
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn merging_is_sorting_by_time_and_input((trains, slots) in trains(), mut stops in prop::collection::vec(0u64..2000, 0..20)) {
        stops.sort_unstable();
        stops.push(u64::MAX);
        let (streams, expected) = streams(&trains, &slots);
        for both in [false, true] {
            prop_assert_eq!(merged_in_turn(&streams, TieBreak::InputId, &stops, both), &expected[..]);
        }
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
        for both in [false, true] {
            prop_assert_eq!(&at_once, &merged_in_turn(&streams, ties(), &stops, both));
        }
        let mut sorted = at_once;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, expected);
    }
}

proptest! {
    #[test]
    fn trains_are_taken_at_once_as_one_by_one(
        trains in prop::collection::vec(prop::collection::vec((0u64..9, 1u32..2), 0..30), 2..9),
        mut stops in prop::collection::vec(0u64..60, 0..9),
        room in 1usize..40,
        random in any::<bool>(),
    ) {
        stops.sort_unstable();
        stops.push(u64::MAX);
        let ties = || match random {
            true => TieBreak::Random(Randomness { seed: 1, replication: 0 }.named("ties")),
            false => TieBreak::InputId,
        };
        let (streams, _) = streams(&trains, &vec![Slot::of_ps(1); trains.len()]);
        let one_by_one = merged(streams.clone(), ties(), &[u64::MAX]);
        prop_assert_eq!(merged_at_once(streams, ties(), &stops, room), one_by_one);
    }
}

/// What is taken of two inputs that take turns, 10 ps from one item to the next of each, behind what comes before, and the bursts. An item
/// of a third input ends the turns. The link behind has a slot of so many picoseconds.
fn taken_in_turn(link: u64) -> (Taken, Train<Parcel>, Vec<Burst<Parcel>>) {
    // Stream 1 begins 4 ps after the second item of stream 0.
    let (mut streams, _) = streams(&[vec![(0, 9)], vec![(42, 9)], vec![(171, 1)]], &[Slot::of_ps(10); 3]);
    let mut merge = Merge::new(&[0, 1, 2], TieBreak::InputId);
    merge.refill(&streams);
    let mut many = merge.lend().expect("there are several");
    let (mut train, mut bursts, link) = (Train::default(), Vec::new(), Slot::of_ps(link));
    let taken = many.next_or_rounds(1000, link, &mut streams, &mut train, &mut bursts);
    assert_eq!((taken, train.item.stream, train.count), (Taken::Train, 0, 2));
    let taken = many.next_or_rounds(1000, link, &mut streams, &mut train, &mut bursts);
    (taken, train, bursts)
}

#[test]
fn whole_rounds_are_taken_at_once() {
    let (taken, _, bursts) = taken_in_turn(5);
    assert_eq!(taken, Taken::Rounds(8));
    let first =
        |burst: &Burst<Parcel>| (burst.train.first.ps(), burst.train.item.stream, burst.train.item.place);
    assert_eq!(bursts.iter().map(first).collect::<Vec<_>>(), [(14, 1, 0), (20, 0, 2)]);
}

/// Three inputs send 3 items in 10 ps at the most: a link that sends one in 2 ps rests in between.
#[test]
fn trains_that_do_not_fill_the_link_make_no_rounds() {
    let (taken, train, _) = taken_in_turn(2);
    assert_eq!((taken, train.item.stream, train.count), (Taken::Train, 1, 1));
}

#[test]
fn gaps_join_as_trains_do() {
    // The same items, 3 and 2 slots apart and then one after another, come one by one, or in three trains.
    let (slot, numbers) = (Slot::of_ps(10), [0u64, 3, 6, 8, 10, 12, 13, 14]);
    let train = |place: usize, slots, count| {
        let item = Parcel { stream: 0, place: place as u32 };
        let gaps = Train::<Parcel>::even_gaps(slots, count);
        Train { slot, gaps, count, ..Train::single(Instant::at(0).plus_slots(slot, numbers[place]), item) }
    };
    let (mut one_by_one, mut in_trains) = (Stream::default(), Stream::default());
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
        assert!(merge.next(1000, &mut streams, &mut train));
        let arrivals: Vec<_> = (0..train.count).map(|place| train.arrival(place).ps()).collect();
        assert_eq!(arrivals, numbers.map(|number| number * 10), "they are one train");
    }
}

#[test]
fn cars_before_a_time_are_counted() {
    let slot = Slot::of_bits(424, BitRate(155_520_000));
    for gaps in [0, 0x0, 0x3, 0x1202, 0xf00f, 0x0111_1111_1111_1111] {
        let train = Train { slot, gaps, count: 20, ..Train::single(Instant::at(7), Parcel::default()) };
        for place in 1..20 {
            let arrival = train.arrival(place);
            let (floor, next) = (Instant::start_of(arrival.ps()), Instant::start_of(arrival.ps() + 1));
            for limit in [floor, arrival, next] {
                let before = (0..20).filter(|&place| train.arrival(place) < limit).count() as u32;
                if before < 20 {
                    assert_eq!(train.items_before(limit), before, "gaps {gaps:x} before {limit:?}");
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
        let (streams, _) = streams(&[vec![(4, 1)], vec![(4, 1)], vec![(4, 1)]], &[Slot::of_ps(1); 3]);
        // The generator goes on from case to case.
        let seed = ties.below(u64::MAX);
        let case = TieBreak::Random(Randomness { seed, replication: 0 }.named("case"));
        firsts[merged(streams, case, &[u64::MAX])[0].1] += 1;
    }
    assert!(firsts.iter().all(|&count| (900..1100).contains(&count)), "{firsts:?}");
}

/// The next of several tied inputs is drawn from those left, in the order of inputs: with as many inputs as a large network
/// has, at one instant, in turn with each other and beside others.
#[test]
fn ties_between_very_many_are_drawn_one_by_one() {
    const INPUTS: usize = 20_000;
    let generator = || Randomness { seed: 7, replication: 0 }.named("ties");
    // Three items each, 10 ps apart; every seventh input begins 5 ps later, and every thousandth sends no second one.
    let trains: Vec<_> = (0..INPUTS)
        .map(|input| {
            let begin = if input % 7 == 0 { 15 } else { 0 };
            vec![(begin, if input % 1000 == 1 { 1 } else { 3 })]
        })
        .collect();
    let (streams, mut items) = streams(&trains, &vec![Slot::of_ps(10); INPUTS]);
    let mut draws = generator();
    let mut expected = Vec::new();
    items.sort_unstable();
    for tied in items.chunk_by(|one, other| one.0 == other.0) {
        let mut left = tied.to_vec();
        while left.len() > 1 {
            expected.push(left.remove(draws.below(left.len() as u64) as usize));
        }
        expected.append(&mut left);
    }
    assert_eq!(merged(streams.clone(), TieBreak::Random(generator()), &[u64::MAX]), expected);
    for both in [false, true] {
        let ties = TieBreak::Random(generator());
        assert_eq!(merged_in_turn(&streams, ties, &[1, 11, 12, 16, u64::MAX], both), expected);
    }
}
