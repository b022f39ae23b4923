//! The models: two or three threads that do what parts do.

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    Mail, Part, Shared,
    border::Frontier,
    crossing::Crossing,
    gate::{Gate, Idle, Outcome},
    stream::{Stream, Streams},
    threads::Threads,
    time::Time,
    visit::{Border, Ends},
};

/// Every order of the steps, with at most so many places where a thread has to let another go on.
fn every_order(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn news_wakes_a_sleeping_thread() {
    every_order(5, || {
        let shared = Arc::new((Threads::new(2), AtomicU64::new(0)));
        let sender = Arc::clone(&shared);
        let other = thread::spawn(move || {
            for number in 1..=2 {
                sender.1.store(number, Ordering::Release);
                sender.0.tell(0);
            }
        });
        let (threads, told) = &*shared;
        threads.begin(0);
        // As `drive` does: the news is counted before what has come is looked at.
        loop {
            let news = threads.news(0);
            if told.load(Ordering::Acquire) == 2 {
                break;
            }
            threads.sleep(0, news);
        }
        other.join().unwrap();
    });
}

#[test]
fn a_stop_wakes_a_sleeping_thread() {
    every_order(5, || {
        let threads = Arc::new(Threads::new(2));
        let stopping = Arc::clone(&threads);
        let other = thread::spawn(move || stopping.stop());
        threads.begin(0);
        loop {
            let news = threads.news(0);
            if threads.is_stopped() {
                break;
            }
            threads.sleep(0, news);
        }
        other.join().unwrap();
    });
}

#[test]
fn nothing_is_missing_before_the_horizon_that_was_read() {
    every_order(5, || {
        let crossing = Arc::new(Crossing::<u64>::default());
        let sending = Arc::clone(&crossing);
        let other = thread::spawn(move || {
            // A train at 10, known to 20; then a train at 30, known to 40.
            let mut end = Stream::default();
            for (train, horizon) in [(10, 20), (30, 40)] {
                let told = end.horizon;
                end.trains.push(train);
                end.horizon = horizon;
                assert_eq!(sending.send(&mut end, told), 1);
            }
        });
        let (mut end, mut taken) = (Stream::default(), 0);
        for _ in 0..2 {
            let horizon = crossing.horizon();
            if crossing.has_trains() {
                taken += crossing.take_trains(&mut end);
            }
            let due: Vec<Time> = [10, 30].into_iter().filter(|&train| train < horizon).collect();
            assert!(end.trains.starts_with(&due), "known to {horizon}: {:?}", end.trains);
        }
        other.join().unwrap();
        taken += crossing.take_trains(&mut end);
        assert_eq!((taken, end.trains), (2, vec![10, 30]));
    });
}

/// A part that has handed over `sent` trains and taken in `received`, and has its next event then.
fn idle(next_event: Time, sent: u64, received: u64) -> Idle {
    Idle { next_event, sent, received, done: false }
}

#[test]
fn no_part_jumps_over_a_train_that_is_under_way() {
    every_order(4, || {
        let shared = Arc::new((Gate::new(2), Crossing::<u64>::default()));
        let sender = Arc::clone(&shared);
        // The first part sends a train for time 5, and has nothing to do before 100 itself.
        let other = thread::spawn(move || {
            let (gate, crossing) = &*sender;
            report(gate, 0, idle(1, 0, 0));
            gate.leave(0);
            let mut end = Stream { trains: vec![5], horizon: 6 };
            crossing.send(&mut end, 0);
            report(gate, 0, idle(100, 1, 0));
        });
        // The second has nothing to do before 50, but for what it receives.
        let (gate, crossing) = &*shared;
        let mut end = Stream::default();
        report(gate, 1, idle(50, 0, 0));
        let mut next = 50;
        if crossing.has_trains() {
            gate.leave(1);
            crossing.take_trains(&mut end);
            next = end.trains[0];
        }
        let received = end.trains.len() as u64;
        report(gate, 1, idle(next, 0, received));
        other.join().unwrap();
    });
}

/// A part reports. Both may agree on 1, before the train was sent, and on 5 when it has been received; on nothing later while it is
/// under way.
fn report(gate: &Gate, part: usize, idle: Idle) {
    if gate.enter(part, gate.jumps(), idle) == Outcome::Jump {
        let jump = gate.jump(part);
        assert!([1, 5].contains(&jump), "jumped to {jump}");
    }
}

#[test]
fn all_parts_hear_of_a_jump_and_of_the_end() {
    every_order(3, || {
        let shared = Arc::new((Gate::new(2), Threads::new(2)));
        let parts: Vec<_> = (0..2)
            .map(|part| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (gate, threads) = &*shared;
                    threads.begin(part);
                    let (mut jumps, mut reported) = (0, false);
                    // One jump, to 10 or 20, whichever is earlier; then the end.
                    while !gate.is_over() {
                        let news = threads.news(part);
                        if gate.jumps() != jumps {
                            assert_eq!(gate.jump(part), 10);
                            (jumps, reported) = (gate.jumps(), false);
                        }
                        if !reported {
                            let next_event = 10 * (part as u64 + 1);
                            let idle = Idle { done: jumps > 0, ..idle(next_event, 0, 0) };
                            let mut outcome = gate.enter(part, jumps, idle);
                            if part == 0 && outcome == Outcome::Wait && jumps == 0 {
                                // It visits a process where nothing happens.
                                gate.leave(part);
                                outcome = gate.enter(part, jumps, idle);
                            }
                            reported = outcome != Outcome::Jumped;
                            if matches!(outcome, Outcome::Jump | Outcome::Over) {
                                threads.tell_all();
                            }
                        }
                        if !gate.is_over() {
                            threads.sleep(part, news);
                        }
                    }
                    jumps
                })
            })
            .collect();
        for part in parts {
            assert_eq!(part.join().unwrap(), 1);
        }
    });
}

/// Posts all that a process has put in flight to the other part.
#[derive(Debug)]
struct ToOther(usize);

impl Mail<Vec<Time>> for ToOther {
    type Parcel = Time;

    fn collect(&mut self, _: usize, contents: &mut Vec<Time>, post: &mut dyn FnMut(usize, Time)) {
        contents.drain(..).for_each(|content| post(self.0, content));
    }

    fn deliver(contents: &mut Vec<Time>, content: Time) {
        contents.push(content);
    }
}

/// A part of one process, which is one end of stream 0.
fn part(ends: Ends, other: usize) -> Part<Ends, Time, Vec<Time>, ToOther> {
    let streams = Streams { streams: vec![Stream::default()], contents: Vec::new() };
    Part { processes: vec![ends], streams, mail: ToOther(other) }
}

#[test]
fn what_a_part_has_received_is_whole_to_its_horizon_and_has_its_contents() {
    every_order(3, || {
        let sends = part(Ends { outputs: vec![0], ..Ends::default() }, 1);
        let receives = part(Ends { inputs: vec![0], ..Ends::default() }, 0);
        let mut parts = [sends, receives];
        let shared = Arc::new(Shared::between(&parts));
        let [mut sends, mut receives] =
            std::mem::replace(&mut parts, [0, 1].map(|_| part(Ends::default(), 0)));
        let sending = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let Part { streams, mail, .. } = &mut sends;
            let mut frontier = Frontier::new(0, &*sending, mail);
            // A visit that sends a train for time 10, with its contents, and knows its output to 20.
            streams.contents.push(10);
            streams[0].trains.push(10);
            streams[0].advance_horizon(20);
            frontier.send(0, true, streams);
        });
        let Part { streams, mail, .. } = &mut receives;
        let mut frontier = Frontier::new(1, &*shared, mail);
        for _ in 0..2 {
            frontier.receive(0, streams);
            let known = streams[0].horizon();
            let (trains, contents) = (&streams[0].trains, &streams.contents);
            assert!(known == 0 || *trains == [10], "known to {known}: {trains:?}");
            assert!(trains.is_empty() || *contents == [10], "a train without its contents");
        }
        other.join().unwrap();
        frontier.receive(0, streams);
        assert_eq!((streams[0].horizon(), frontier.received), (20, 1));
    });
}
