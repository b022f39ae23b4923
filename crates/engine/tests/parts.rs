//! Parts of a model in threads of their own: one result, whatever the partition and the timing, and an end in any case.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

use celltrain_engine::{
    Fingerprint, Instant, Time,
    merge::{Merge, TieBreak},
    parts::{self, Part},
    random::{Generator, Randomness},
    stream::{Item, Stream, StreamId, Streams, Train},
    time::NEVER,
    visit::{self, Process, Schedule},
};

/// A number that is passed on until it is zero.
#[derive(Debug, Clone, Copy, Default)]
struct Token(u64);

impl Item for Token {
    fn advance(&mut self, _: u32) {}

    fn follows(&self, _: &Self, _: u32) -> bool {
        false
    }
}

/// Passes tokens on, each to the output and after the delay that its number says, and sends one of its own at `next_event`.
#[derive(Debug)]
struct Station {
    inputs: Vec<StreamId>,
    outputs: Vec<StreamId>,
    lookahead: Time,
    merge: Merge,
    clock: Time,
    next_event: Time,
    every: Time,
    generator: Generator,
    /// When the last token goes out on each output: a stream keeps the order.
    last: Vec<Time>,
    fingerprint: Fingerprint,
    /// It panics at this time.
    breaks_at: Time,
}

impl Station {
    fn pass(&mut self, at: Time, token: u64, streams: &mut Streams<Token>) {
        assert!(at < self.breaks_at, "station out of order");
        self.fingerprint.mix(at ^ token << 48);
        if token == 0 || self.outputs.is_empty() {
            return;
        }
        let place = self.generator.below(self.outputs.len() as u64) as usize;
        let delay = self.lookahead + self.generator.below(3) * self.generator.below(1000);
        self.last[place] = self.last[place].max(at + delay);
        let train = Train::single(Instant::at(self.last[place]), Token(token - 1));
        streams[self.outputs[place]].push(0, 0, &train);
    }
}

impl Process<Token, ()> for Station {
    fn inputs(&self) -> &[StreamId] {
        &self.inputs
    }

    fn outputs(&self) -> &[StreamId] {
        &self.outputs
    }

    fn lookahead(&self, _: usize) -> Time {
        self.lookahead
    }

    fn clock(&self) -> Time {
        self.clock
    }

    fn visit(&mut self, until: Time, streams: &mut Streams<Token>) -> u64 {
        self.merge.refill(streams);
        let (mut events, mut train) = (0, Train::default());
        loop {
            let due = until.min(self.next_event);
            if self.merge.next(due, streams, &mut train) {
                for place in 0..train.count {
                    self.pass(train.arrival(place).ps(), train.item.0, streams);
                }
            } else if self.next_event < until {
                let at = self.next_event;
                self.next_event = at.saturating_add(1 + self.generator.below(self.every));
                let hops = 1 + self.generator.below(20);
                self.pass(at, hops, streams);
            } else {
                break;
            }
            events += 1;
        }
        self.clock = until;
        events
    }

    fn promise(&self, streams: &mut Streams<Token>) {
        for &output in &self.outputs {
            streams[output].advance_horizon(self.clock + self.lookahead);
        }
    }

    fn next_event(&self) -> Time {
        self.next_event
    }
}

/// A model: so many stations, each with streams to some others, that do something every now and then.
fn model(seed: u64) -> (Vec<Station>, usize) {
    let mut draw = Randomness { seed, replication: 0 }.named("model");
    let stations = 2 + draw.below(12) as usize;
    let (mut inputs, mut outputs) = (vec![Vec::new(); stations], vec![Vec::new(); stations]);
    let streams = stations + draw.below(2 * stations as u64) as usize;
    for stream in 0..streams {
        outputs[draw.below(stations as u64) as usize].push(stream);
        inputs[draw.below(stations as u64) as usize].push(stream);
    }
    let every = 1 << (4 + draw.below(16));
    let station = |(number, (inputs, outputs)): (usize, (Vec<StreamId>, Vec<StreamId>))| {
        let mut generator = Randomness { seed, replication: 0 }.named(&format!("station {number}"));
        Station {
            lookahead: 1 + generator.below(300),
            merge: Merge::new(&inputs, TieBreak::InputId),
            last: vec![0; outputs.len()],
            inputs,
            outputs,
            clock: 0,
            next_event: if generator.below(3) == 0 { NEVER } else { generator.below(every) },
            every,
            generator,
            fingerprint: Fingerprint::default(),
            breaks_at: NEVER,
        }
    };
    (inputs.into_iter().zip(outputs).enumerate().map(station).collect(), streams)
}

fn fingerprints<'a>(stations: impl IntoIterator<Item = &'a Station>) -> Vec<u64> {
    stations.into_iter().map(|station| station.fingerprint.finish()).collect()
}

type ModelPart = Part<Station, Token, (), ()>;

/// The stations in the parts that `partition` names, with the streams that each needs.
fn in_parts(stations: Vec<Station>, streams: usize, partition: &[usize], cap: Time) -> Vec<ModelPart> {
    let number = partition.iter().max().map_or(1, |last| last + 1);
    let mut parts: Vec<Vec<Station>> = (0..number).map(|_| Vec::new()).collect();
    stations.into_iter().zip(partition).for_each(|(station, &part)| parts[part].push(station));
    let part = |processes: Vec<Station>| Part {
        streams: Streams::new(vec![Stream::default(); streams], ()),
        schedule: Schedule { cap, longest: cap, ..Schedule::in_order(processes.len()) },
        processes,
        mail: (),
    };
    parts.into_iter().map(part).collect()
}

/// Runs parts each of which gets a thread.
fn run<N: Process<Token, ()> + Send>(
    parts: &mut [Part<N, Token, (), ()>],
    end: Time,
    interrupt: &mut dyn FnMut() -> bool,
) -> bool {
    parts::run(parts, end, interrupt).expect("a thread for each part")
}

/// The fingerprints of the stations of parts, in the order in which they were before.
fn of_parts(parts: &[ModelPart], partition: &[usize]) -> Vec<u64> {
    let mut parts: Vec<_> = parts.iter().map(|part| part.processes.iter()).collect();
    fingerprints(partition.iter().map(|&part| parts[part].next().expect("as many as before")))
}

#[test]
fn any_partition_gives_one_result() {
    for seed in 0..80 {
        let mut draw = Randomness { seed, replication: 1 }.named("partition");
        let end = 1 << (8 + draw.below(14));
        let (mut stations, streams) = model(seed);
        let mut all = Streams::new(vec![Stream::default(); streams], ());
        let mut schedule = Schedule::in_order(stations.len());
        assert!(visit::run(&mut stations, &mut all, &mut schedule, end, || false));
        let usual = fingerprints(&stations);
        let number = 2 + draw.below(3);
        let partition: Vec<_> = stations.iter().map(|_| draw.below(number) as usize).collect();
        let mut parts = in_parts(model(seed).0, streams, &partition, (end >> draw.below(7)).max(1));
        // In two pieces, as a run with a warm-up is.
        for until in [end / 3, end] {
            assert!(run(&mut parts, until, &mut || false), "seed {seed}");
        }
        assert_eq!(of_parts(&parts, &partition), usual, "seed {seed}, partition {partition:?}");
    }
}

/// Two stations that pass one token to and fro; it is never used up.
fn to_and_fro(lookahead: Time) -> Vec<ModelPart> {
    let mut stations = model(1).0;
    stations.truncate(2);
    for (number, station) in stations.iter_mut().enumerate() {
        (station.inputs, station.outputs) = (vec![1 - number], vec![number]);
        (station.lookahead, station.last) = (lookahead, vec![0]);
        station.merge = Merge::new(&station.inputs, TieBreak::InputId);
        (station.next_event, station.every) = (if number == 0 { 10 } else { NEVER }, 1000);
    }
    in_parts(stations, 2, &[0, 1], 1000)
}

#[test]
fn a_run_stops_when_it_is_interrupted() {
    let mut parts = to_and_fro(1);
    let mut asked = 0;
    let finished = run(&mut parts, NEVER, &mut || {
        asked += 1;
        asked > 50
    });
    assert!(!finished);
}

#[test]
fn a_panic_ends_the_run_with_its_message() {
    for broken in 0..2 {
        let mut parts = to_and_fro(100);
        parts[broken].processes[0].breaks_at = 100_000;
        let run = AssertUnwindSafe(|| run(&mut parts, NEVER, &mut || false));
        let panic = catch_unwind(run).expect_err("a station broke");
        assert_eq!(panic.downcast_ref(), Some(&"station out of order"), "station {broken}");
    }
}

#[test]
fn a_ring_without_lookahead_is_found_out_across_parts() {
    let mut parts = to_and_fro(0);
    let run = AssertUnwindSafe(|| run(&mut parts, 1_000_000, &mut || false));
    let panic = catch_unwind(run).expect_err("no station can go on");
    let message = panic.downcast_ref::<String>().expect("a sentence");
    assert!(message.starts_with("no process can advance beyond"), "{message}");
}

/// How far the clock of the sender of [`a_fast_part_waits_for_a_slow_one`] is.
static AHEAD: AtomicU64 = AtomicU64::new(0);

/// A station that sends all the time, or that takes long over what it gets.
struct Uneven(Station, bool);

impl Process<Token, ()> for Uneven {
    fn inputs(&self) -> &[StreamId] {
        self.0.inputs()
    }

    fn outputs(&self) -> &[StreamId] {
        self.0.outputs()
    }

    fn lookahead(&self, place: usize) -> Time {
        self.0.lookahead(place)
    }

    fn clock(&self) -> Time {
        self.0.clock()
    }

    fn visit(&mut self, until: Time, streams: &mut Streams<Token>) -> u64 {
        if self.1 {
            let ahead = AHEAD.load(Ordering::SeqCst).saturating_sub(until);
            assert!(ahead <= 3 * CAP, "the sender is {ahead} ps ahead");
            std::thread::yield_now();
        }
        let events = self.0.visit(until, streams);
        if !self.1 {
            AHEAD.store(until, Ordering::SeqCst);
        }
        events
    }

    fn promise(&self, streams: &mut Streams<Token>) {
        self.0.promise(streams);
    }

    fn next_event(&self) -> Time {
        self.0.next_event()
    }
}

/// The longest visit of the parts of [`a_fast_part_waits_for_a_slow_one`].
const CAP: Time = 1000;

#[test]
fn a_fast_part_waits_for_a_slow_one() {
    let mut stations = model(1).0;
    stations.truncate(2);
    for (number, station) in stations.iter_mut().enumerate() {
        (station.inputs, station.outputs) = if number == 0 { (vec![], vec![0]) } else { (vec![0], vec![]) };
        (station.lookahead, station.last) = (1, vec![0; station.outputs.len()]);
        station.merge = Merge::new(&station.inputs, TieBreak::InputId);
        (station.next_event, station.every) = (if number == 0 { 0 } else { NEVER }, 10);
    }
    let part = |(number, station)| Part {
        streams: Streams::new(vec![Stream::default()], ()),
        schedule: Schedule { cap: CAP, longest: CAP, ..Schedule::in_order(1) },
        processes: vec![Uneven(station, number == 1)],
        mail: (),
    };
    let mut parts: Vec<_> = stations.into_iter().enumerate().map(part).collect();
    assert!(run(&mut parts, 2_000_000, &mut || false));
}
