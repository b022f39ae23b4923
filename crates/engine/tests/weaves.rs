//! Items that take turns arrive as if each stood alone, however they are taken and whatever comes behind them.

use celltrain_engine::{
    Instant, Slot,
    alone::Alone,
    merge::{Many, Merge, Taken, TieBreak},
    stream::{Item, Stream, Train},
    weave::Burst,
};
use proptest::prelude::*;

/// An item of one of the flows on a stream, and its place among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Parcel {
    flow: usize,
    place: u32,
}

impl Item for Parcel {
    fn advance(&mut self, count: u32) {
        self.place += count;
    }

    fn follows(&self, head: &Self, count: u32) -> bool {
        self.flow == head.flow && self.place == head.place + count
    }
}

type Arrival = (Instant, usize, u32);

/// What a sender does, so many slots behind what it did last.
#[derive(Debug, Clone)]
enum Sends {
    /// So many rounds of so many flows, from one of them on.
    Rounds { pause: u64, flows: usize, from: usize, rounds: u32 },
    /// So many items of one flow, one behind the other.
    Row { pause: u64, flow: usize, count: u32 },
    /// So many items of one flow, each so many slots behind the one before and, if not `on_grid`, behind an idle link.
    Paced { pause: u64, flow: usize, count: u32, apart: u64, on_grid: bool },
}

/// The flows of a stream.
const FLOWS: usize = 4;

fn sends() -> impl Strategy<Value = Sends> {
    let pause = || prop_oneof![3 => Just(0u64), 1 => 1u64..30];
    let rounds = (pause(), 2usize..=FLOWS, 0..FLOWS, 1u32..=16);
    let row = (pause(), 0..FLOWS, 1u32..20);
    let paced = (pause(), 0..FLOWS, 1u32..20, 1u64..20, any::<bool>());
    prop_oneof![
        1 => paced.prop_map(|(pause, flow, count, apart, on_grid)| Sends::Paced { pause, flow, count, apart, on_grid }),
        2 => rounds.prop_map(|(pause, flows, from, rounds)| Sends::Rounds { pause, flows, from, rounds }),
        1 => row.prop_map(|(pause, flow, count)| Sends::Row { pause, flow, count }),
    ]
}

/// The end of a stream at which things are sent, on a grid of slots.
struct Sender {
    index: usize,
    slot: Slot,
    /// Number of the next slot.
    next: u64,
    /// What is added to it as the link was idle: what was sent before is on another grid.
    idle: u64,
    places: [u32; FLOWS],
    plan: std::vec::IntoIter<Sends>,
    sent: Vec<Arrival>,
}

impl Sender {
    fn at(&self, number: u64) -> Instant {
        Instant::at(0).plus_slots(self.slot, number)
    }

    fn parcel(&self, flow: usize) -> Parcel {
        Parcel { flow: self.index * FLOWS + flow, place: self.places[flow] }
    }

    /// Sends what begins before `stop`.
    fn send(&mut self, stop: u64, stream: &mut Stream<Parcel>) {
        while self.at(self.next).ps() < stop {
            let Some(sends) = self.plan.next() else { return };
            match sends {
                Sends::Rounds { pause, flows, from, rounds } => {
                    self.send_rounds(pause, flows, from, rounds, stream)
                }
                Sends::Row { pause, flow, count } => {
                    let first = self.next + pause;
                    let (item, slot) = (self.parcel(flow), self.slot);
                    self.next = first + u64::from(count);
                    stream.push(
                        first + self.idle,
                        self.next - 1 + self.idle,
                        &Train { slot, count, ..Train::single(self.at(first), item) },
                    );
                    for number in first..self.next {
                        self.note(number, flow);
                    }
                }
                Sends::Paced { pause, flow, count, apart, on_grid } => {
                    self.next += pause;
                    for _ in 0..count {
                        self.idle += if on_grid { 0 } else { 1 << 32 };
                        let train =
                            Train { slot: self.slot, ..Train::single(self.at(self.next), self.parcel(flow)) };
                        stream.push_unit(self.next + self.idle, &train);
                        self.note(self.next, flow);
                        self.next += apart;
                    }
                }
            }
        }
    }

    fn send_rounds(
        &mut self,
        pause: u64,
        flows: usize,
        from: usize,
        rounds: u32,
        stream: &mut Stream<Parcel>,
    ) {
        let first = self.next + pause;
        let turns: Vec<_> = (from..from + flows).map(|flow| flow % FLOWS).collect();
        let trains: Vec<_> = turns.iter().map(|&flow| turn(self.parcel(flow), rounds)).collect();
        stream.push_rounds(rounds, first + self.idle, self.at(first), self.slot, &trains);
        self.next = first;
        for _ in 0..rounds {
            for &flow in &turns {
                self.note(self.next, flow);
                self.next += 1;
            }
        }
    }

    fn note(&mut self, number: u64, flow: usize) {
        let Parcel { flow: name, place } = self.parcel(flow);
        self.sent.push((self.at(number), name, place));
        self.places[flow] += 1;
    }
}

/// So many items as one of the turns that are sent.
fn turn(item: Parcel, count: u32) -> Burst<Parcel> {
    let train = Train { count, ..Train::single(Instant::at(0), item) };
    Burst { train, place: 0, step: 1 }
}

/// How what arrives is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    Rounds,
    Trains,
    FromTheFarEnd,
    /// By a merge that is never lent.
    Simply,
}

fn of_train(train: &Train<Parcel>) -> impl Iterator<Item = Arrival> + '_ {
    assert!(train.woven() == 0, "a weave is taken apart");
    (0..train.count).map(|place| (train.arrival(place), train.item.flow, train.item.place + place))
}

fn take_alone(alone: &mut Alone<Parcel>, stop: u64, taking: Taking, items: &mut Vec<Arrival>) {
    let mut bursts = Vec::new();
    loop {
        if taking == Taking::Rounds {
            let Some(train) = alone.next_or_weave(stop) else { return };
            if train.woven() == 0 {
                items.extend(of_train(train));
                continue;
            }
            if let Some(rounds) = alone.rounds(stop, &mut bursts) {
                items.extend(of_rounds(rounds, &bursts));
                continue;
            }
        }
        let Some((train, end)) = alone.next_with_end(stop) else { return };
        assert_eq!(end, train.last());
        items.extend(of_train(train));
    }
}

/// So many items of bursts, by their places.
fn of_rounds(items: u32, bursts: &[Burst<Parcel>]) -> Vec<Arrival> {
    assert_eq!(items, bursts.iter().map(|burst| burst.train.count).sum::<u32>());
    assert!(bursts.len() > 1 && bursts.iter().all(|burst| burst.train.gaps == 0));
    assert!(bursts.is_sorted_by_key(|burst| burst.place));
    let at = |place| {
        let mut found = bursts.iter().filter_map(|burst| Some((burst.train, burst.item_at(place)?)));
        let (Some((train, number)), None) = (found.next(), found.next()) else {
            panic!("one item at {place}")
        };
        assert!(number < train.count);
        (train.arrival(number), train.item.flow, train.item.place + number)
    };
    (0..items).map(at).collect()
}

fn take_many(
    many: &mut Many,
    streams: &mut [Stream<Parcel>],
    stop: u64,
    taking: Taking,
    items: &mut Vec<Arrival>,
) {
    let (mut train, mut bursts) = (Train::default(), Vec::new());
    let is_train = |taken| if taken { Taken::Train } else { Taken::Nothing };
    loop {
        let taken = match taking {
            Taking::Rounds => many.next_or_rounds(stop, Slot::of_ps(1000), streams, &mut train, &mut bursts),
            Taking::FromTheFarEnd => is_train(many.next::<true, _>(stop, streams, &mut train)),
            Taking::Trains | Taking::Simply => is_train(many.next::<false, _>(stop, streams, &mut train)),
        };
        match taken {
            Taken::Nothing => return,
            Taken::Train => items.extend(of_train(&train)),
            Taken::Rounds(rounds) => items.extend(of_rounds(rounds, &bursts)),
        }
    }
}

/// What arrives of what senders send by `plans`, in visits that end at `stops`; and what they sent, in order.
fn arrivals(
    plans: &[(Slot, Vec<Sends>)],
    stops: &[u64],
    taking: Taking,
    weaves: bool,
) -> (Vec<Arrival>, Vec<Arrival>) {
    let mut streams = vec![Stream::default(); plans.len()];
    if weaves {
        streams.iter_mut().for_each(Stream::weave);
    }
    let sender = |(index, (slot, plan)): (usize, &(Slot, Vec<Sends>))| Sender {
        index,
        slot: *slot,
        next: 0,
        idle: 0,
        places: [0; FLOWS],
        plan: plan.clone().into_iter(),
        sent: Vec::new(),
    };
    let mut senders: Vec<_> = plans.iter().enumerate().map(sender).collect();
    let mut merge = Merge::new(&(0..plans.len()).collect::<Vec<_>>(), TieBreak::InputId);
    let mut items = Vec::new();
    for &stop in stops {
        senders.iter_mut().zip(&mut streams).for_each(|(sender, stream)| sender.send(stop, stream));
        if taking == Taking::Simply {
            merge.refill(&streams);
            let mut train = Train::default();
            while merge.next(stop, &mut streams, &mut train) {
                items.extend(of_train(&train));
            }
        } else if let Some(mut alone) = merge.lend_alone(&mut streams) {
            take_alone(&mut alone, stop, taking, &mut items);
            merge.give_back(alone, &mut streams);
        } else if let Some(mut many) = merge.lend() {
            take_many(&mut many, &mut streams, stop, taking, &mut items);
            merge.take_back(many);
        }
        let (waiting, pushed) = (|stream: &Stream<_>| stream.waiting(), |stream: &Stream<_>| stream.pushed());
        let on_streams = streams.iter().map(waiting).sum::<u64>() + items.len() as u64;
        assert_eq!(on_streams, streams.iter().map(pushed).sum::<u64>(), "items are counted");
    }
    let mut sent: Vec<_> = senders.into_iter().flat_map(|sender| sender.sent).collect();
    sent.sort_unstable();
    (items, sent)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_woven_arrives_as_single_items_do(
        plans in prop::collection::vec(((1u64..12).prop_map(Slot::of_ps), prop::collection::vec(sends(), 0..8)), 1..4),
        one_slot in any::<bool>(),
        mut stops in prop::collection::vec(0u64..2000, 0..20),
    ) {
        let mut plans = plans;
        if one_slot {
            let slot = plans[0].0;
            plans.iter_mut().for_each(|plan| plan.0 = slot);
        }
        stops.sort_unstable();
        stops.extend([1 << 40, 1 << 41]);
        for taking in [Taking::Rounds, Taking::Trains, Taking::FromTheFarEnd, Taking::Simply] {
            for weaves in [false, true] {
                let (items, sent) = arrivals(&plans, &stops, taking, weaves);
                prop_assert_eq!(items, sent, "{:?}, {}", taking, weaves);
            }
        }
    }
}

/// Items behind an idle link are on no grid of slots: they are one train as long as they are evenly spaced, and no items of the grid.
#[test]
fn items_that_are_evenly_spaced_join_behind_an_idle_link_too() {
    let (slot, mut stream) = (Slot::of_ps(10), Stream::default());
    let mut send = |number, ps, place| {
        let train = Train { slot, ..Train::single(Instant::at(ps), Parcel { flow: 0, place }) };
        stream.push_unit(number, &train);
    };
    for (place, ps) in [(0, 100), (1, 125), (2, 150), (3, 170)] {
        send(u64::from(place + 1) << 32, ps, place);
    }
    // On the grid of the last one, which began a train.
    send((4 << 32) + 2, 190, 4);
    send(5 << 32, 230, 5);
    // Behind one that joined by its distance nothing joins by its number.
    let trains: Vec<_> = stream.trains().iter().map(|train| (train.count, train.slot, train.gaps)).collect();
    assert_eq!(trains, [(3, Slot::of_ps(25), 0), (2, slot, 1), (1, slot, 0)]);
    let (at, mut paced) = (|ps| Instant::at(ps), Stream::default());
    for (number, ps, place) in [(1 << 32, 0, 0), (2 << 32, 13, 1), ((2 << 32) + 1, 23, 2)] {
        let train = Train { slot, ..Train::single(at(ps), Parcel { flow: 0, place }) };
        paced.push_unit(number, &train);
    }
    let trains: Vec<_> = paced.trains().iter().map(|train| (train.count, train.slot)).collect();
    assert_eq!(trains, [(2, Slot::of_ps(13)), (1, slot)]);
}
