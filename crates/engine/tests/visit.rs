//! The loop over the processes: it goes on or says that it cannot, and it can be stopped.

use celltrain_engine::{
    Time,
    stream::{Item, Stream, StreamId, Streams},
    time::NEVER,
    visit::{Process, Schedule, WORK_BETWEEN_POLLS, run},
};

#[derive(Debug, Clone, Copy)]
struct Token;

impl Item for Token {
    fn advance(&mut self, _: u32) {}

    fn follows(&self, _: &Self, _: u32) -> bool {
        false
    }
}

/// A station that counts `events` events in every visit and, on a ring, keeps its neighbour waiting.
struct Station {
    input: Vec<StreamId>,
    output: Vec<StreamId>,
    lookahead: Time,
    clock: Time,
    next_event: Time,
    events: u64,
}

impl Process<Token, ()> for Station {
    fn inputs(&self) -> &[StreamId] {
        &self.input
    }

    fn outputs(&self) -> &[StreamId] {
        &self.output
    }

    fn lookahead(&self, _: usize) -> Time {
        self.lookahead
    }

    fn clock(&self) -> Time {
        self.clock
    }

    fn visit(&mut self, until: Time, _: &mut Streams<Token>) -> u64 {
        self.clock = until;
        if self.next_event < until {
            self.next_event = NEVER;
        }
        self.events
    }

    fn promise(&self, streams: &mut Streams<Token>) {
        for &output in &self.output {
            streams[output].advance_horizon(self.clock + self.lookahead);
        }
    }

    fn next_event(&self) -> Time {
        self.next_event
    }
}

/// Stations on a ring, each `lookahead` behind the one before it; the first has something to do at 10 ps.
fn ring(stations: usize, lookahead: Time) -> (Vec<Station>, Streams<Token>) {
    let station = |number: usize| Station {
        input: vec![(number + stations - 1) % stations],
        output: vec![number],
        lookahead,
        clock: 0,
        next_event: if number == 0 { 10 } else { NEVER },
        events: 0,
    };
    ((0..stations).map(station).collect(), Streams::new(vec![Stream::default(); stations], ()))
}

#[test]
fn a_ring_with_lookahead_reaches_the_end() {
    let (mut stations, mut streams) = ring(3, 1);
    let mut schedule = Schedule::in_order(3);
    assert!(run(&mut stations, &mut streams, &mut schedule, 1_000_000, || false));
    assert!(stations.iter().all(|station| station.clock == 1_000_000));
}

#[test]
#[should_panic(expected = "no process can advance beyond 0.00000000001 s")]
fn a_ring_without_lookahead_is_found_out() {
    let (mut stations, mut streams) = ring(3, 0);
    let mut rounds = 0;
    let mut schedule = Schedule::in_order(3);
    let _ = run(&mut stations, &mut streams, &mut schedule, 1_000_000, || {
        rounds += 1;
        rounds > 100
    });
    unreachable!("only the limit of rounds ended the run");
}

/// Stations that are no one's neighbours, each with so many events in a visit.
fn busy(stations: usize, events: u64) -> Vec<Station> {
    let station = |_| Station {
        input: Vec::new(),
        output: Vec::new(),
        lookahead: 0,
        clock: 0,
        next_event: NEVER,
        events,
    };
    (0..stations).map(station).collect()
}

#[test]
fn a_long_round_can_be_stopped() {
    // The whole run is one round of a million events in each of a thousand visits.
    let (mut stations, mut asked) = (busy(1000, 1_000_000), 0);
    let stopped =
        run(&mut stations, &mut Streams::new(Vec::new(), ()), &mut Schedule::in_order(1000), 1, || {
            asked += 1;
            asked == 3
        });
    assert!(!stopped);
    assert_eq!(stations.iter().filter(|station| station.clock == 1).count(), 3, "asked after each visit");
}

#[test]
fn short_visits_are_not_interrupted_by_questions() {
    let (mut stations, mut asked) = (busy(100_000, 9), 0);
    let mut schedule = Schedule::in_order(100_000);
    assert!(run(&mut stations, &mut Streams::new(Vec::new(), ()), &mut schedule, 1, || {
        asked += 1;
        false
    }));
    assert_eq!(asked, 1_000_000 / WORK_BETWEEN_POLLS, "one question after each stretch of work");
}

/// Where so many events happen every picosecond; the most events of a visit but for the first.
struct Flood {
    events: u64,
    clock: Time,
    most: u64,
}

impl Process<Token, ()> for Flood {
    fn inputs(&self) -> &[StreamId] {
        &[]
    }

    fn outputs(&self) -> &[StreamId] {
        &[]
    }

    fn lookahead(&self, _: usize) -> Time {
        0
    }

    fn clock(&self) -> Time {
        self.clock
    }

    fn visit(&mut self, until: Time, _: &mut Streams<Token>) -> u64 {
        let events = (until - self.clock) * self.events;
        if self.clock > 0 {
            self.most = self.most.max(events);
        }
        self.clock = until;
        events
    }

    fn promise(&self, _: &mut Streams<Token>) {}

    fn next_event(&self) -> Time {
        self.clock
    }
}

#[test]
fn no_visit_lasts_long_where_very_much_happens() {
    for events in [0, 1, 5] {
        let mut flood = [Flood { events, clock: 0, most: 0 }];
        let (mut streams, mut schedule) = (Streams::new(Vec::new(), ()), Schedule::in_order(1));
        let mut rounds = 0;
        assert!(run(&mut flood, &mut streams, &mut schedule, 100_000_000_000, || {
            rounds += 1;
            false
        }));
        assert!(flood[0].most <= 1 << 20, "{} events in a visit", flood[0].most);
        let needed = 100_000_000_000 * events / (1 << 18);
        assert!(rounds <= needed + 20, "{rounds} visits");
    }
}
