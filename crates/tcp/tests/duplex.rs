//! Data in both directions on one connection.

use celltrain_engine::{
    Time,
    random::{Generator, Randomness},
    time::{MILLISECOND, SECOND},
};
use celltrain_tcp::{Duplex, EventKind, Flags, Params, Segment, Stack, StackSpec, TimeoutCause};

const ONE_WAY: Time = 10 * MILLISECOND;

fn params(table: &str) -> Params {
    toml::from_str::<StackSpec>(table).unwrap().resolve().unwrap()
}

/// Two ends with a path between them that takes [`ONE_WAY`] and loses a share of what it carries.
struct Pair {
    ends: [Duplex; 2],
    /// When a segment arrives, at which end.
    path: Vec<(Time, usize, Segment)>,
    sent: Vec<(Time, usize, Segment)>,
    now: Time,
    loss: f64,
    generator: Generator,
}

impl Pair {
    fn new(params: &Params, loss: f64) -> Self {
        Self {
            ends: [Duplex::opening(params), Duplex::accepting(params)],
            path: Vec::new(),
            sent: Vec::new(),
            now: 0,
            loss,
            generator: Randomness { seed: 1, replication: 0 }.named("losses"),
        }
    }

    fn offer(&mut self, end: usize, bytes: u64) {
        self.ends[end].sender_mut().offer(self.now, bytes);
        self.poll(end);
    }

    fn poll(&mut self, end: usize) {
        while let Some(segment) = self.ends[end].poll_segment(self.now) {
            self.sent.push((self.now, end, segment));
            if self.generator.unit() >= self.loss {
                self.path.push((self.now + ONE_WAY, 1 - end, segment));
            }
        }
    }

    /// What happens next, up to `until`; whether anything did.
    fn step(&mut self, until: Time) -> bool {
        let arrival = self.path.iter().map(|arrival| arrival.0).min();
        let timers = self.ends.iter().filter_map(Duplex::next_timeout).min();
        let Some(now) = [arrival, timers].into_iter().flatten().min().filter(|&now| now <= until) else {
            self.now = until;
            return false;
        };
        self.now = now;
        if arrival == Some(now) {
            let place = self.path.iter().position(|arrival| arrival.0 == now).unwrap();
            let (_, end, segment) = self.path.remove(place);
            self.ends[end].on_segment(now, &segment);
            self.poll(end);
        } else {
            for end in 0..2 {
                self.ends[end].on_timeout(now);
                self.poll(end);
            }
        }
        true
    }

    fn run(&mut self, until: Time) {
        while self.step(until) {}
    }

    fn received(&self, end: usize) -> u64 {
        self.ends[end].receiver().stats().delivered_bytes
    }
}

/// A delayed ACK rides on the answer (RFC 9293 section 3.10.7.4): a request of one segment and an answer of one are three segments, the
/// last of which acknowledges the answer by itself after the delay.
#[test]
fn an_answer_takes_the_acknowledgement_of_the_request_along() {
    let params = params("mss = \"1000 B\"\ndelayed-ack = \"100 ms\"");
    let mut pair = Pair::new(&params, 0.0);
    pair.offer(0, 300);
    pair.run(30 * MILLISECOND);
    assert_eq!(pair.received(1), 300);
    pair.offer(1, 500);
    pair.run(SECOND);
    let seen: Vec<_> =
        pair.sent.iter().map(|(at, end, s)| (at / MILLISECOND, *end, s.seq, s.len, s.ack)).collect();
    assert_eq!(seen, [(0, 0, 0, 300, 0), (30, 1, 0, 500, 300), (140, 0, 300, 0, 500)]);
    assert_eq!(pair.ends[1].receiver().stats().acks, 0, "it rode on data");
    // The round trip as the client saw it contains the 20 ms of the server (RFC 6298 section 2.2: the first sample).
    assert_eq!(pair.ends[0].sender().stats().rtt_samples, 1);
}

/// Linux acknowledges the first requests at once. When an answer has followed within the delay, ACKs wait for the next answer.
#[test]
fn quick_acks_end_where_the_application_answers() {
    let params = params("mss = \"1000 B\"\ndelayed-ack = \"40 ms\"\nquick-acks = 16");
    let mut pair = Pair::new(&params, 0.0);
    for (request, answer) in [(0, 30), (100, 130)] {
        pair.run(request * MILLISECOND);
        pair.offer(0, 300);
        pair.run(answer * MILLISECOND);
        pair.offer(1, 500);
    }
    pair.run(SECOND);
    let seen: Vec<_> =
        pair.sent.iter().filter(|s| s.1 == 1).map(|(at, _, s)| (at / MILLISECOND, s.len, s.ack)).collect();
    assert_eq!(seen, [(10, 0, 300), (30, 500, 300), (130, 500, 600)]);
}

/// RFC 6298 section 5.7 speaks of "the timer" that "expires awaiting the ACK of a SYN segment": its expiries are told as those for data are.
#[test]
fn timeouts_of_the_handshake_are_events() {
    let mut pair = Pair::new(&params("syn-exchange = true\nrto-initial = \"1 s\""), 1.0);
    pair.ends[0].sender_mut().trace(true);
    pair.offer(0, 1000);
    pair.run(8 * SECOND);
    pair.loss = 0.0;
    pair.run(20 * SECOND);
    let sender = pair.ends[0].sender_mut();
    let timeouts = sender.take_events().into_iter().filter_map(|event| match event.kind {
        EventKind::Timeout {
            seq: 0,
            cause: TimeoutCause::SynUnanswered,
            consecutive,
            rto,
            next_rto,
            backoff,
            ssthresh: None,
            ..
        } => {
            assert_eq!(u64::from(consecutive), backoff.ilog2() as u64 + 1, "nothing was measured in between");
            Some((event.at / SECOND, consecutive, rto / SECOND, next_rto / SECOND))
        }
        _ => None,
    });
    assert_eq!(timeouts.collect::<Vec<_>>(), [(1, 1, 1, 2), (3, 2, 2, 4), (7, 3, 4, 8), (15, 4, 8, 16)]);
    assert_eq!(sender.stats().timeouts, 4);
}

/// The SYNs give both ends a sample of the round trip and a time stamp to echo (RFC 7323 section 4.3), and no more segments.
#[test]
fn syns_are_exchanged_once_and_timed_by_both_ends() {
    for timestamps in [false, true] {
        let params = params(&format!("syn-exchange = true\ntimestamps = {timestamps}\nrto-min = \"1 ms\""));
        let mut pair = Pair::new(&params, 0.0);
        pair.offer(0, 300);
        pair.run(35 * MILLISECOND);
        assert_eq!(pair.received(1), 300);
        let flags: Vec<_> = pair.sent.iter().map(|(.., segment)| segment.flags).collect();
        assert_eq!(flags, [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK]);
        for end in &pair.ends {
            assert_eq!(end.sender().stats().rtt_samples, 1, "timestamps: {timestamps}");
        }
        if timestamps {
            let echoes: Vec<_> = pair.sent.iter().map(|(.., s)| s.timestamps.unwrap().echo).collect();
            assert_eq!(echoes, [0, 0, ONE_WAY]);
        }
    }
}

/// Nothing tells which of two SYN|ACKs an ACK without time stamps is of (Karn's algorithm, RFC 6298 section 3).
#[test]
fn a_syn_ack_that_was_sent_again_is_not_timed() {
    let mut pair = Pair::new(&params("syn-exchange = true\ntimestamps = false"), 0.0);
    pair.offer(0, 300);
    pair.run(ONE_WAY);
    // The SYN|ACK is lost.
    pair.path.clear();
    pair.run(2 * SECOND);
    let syn_acks = pair.sent.iter().filter(|(.., s)| s.flags.contains(Flags::SYN | Flags::ACK)).count();
    assert_eq!((syn_acks, pair.received(1)), (2, 300));
    assert_eq!(pair.ends[1].sender().stats().rtt_samples, 0);
}

/// RFC 5681 section 3.1: "If the SYN or SYN/ACK is lost, the initial window used by a sender after a correctly transmitted SYN MUST be one
/// segment".
#[test]
fn an_answer_after_a_lost_syn_ack_begins_with_one_segment() {
    for (lost, first) in [(false, 10), (true, 1)] {
        let mut pair = Pair::new(&params("syn-exchange = true\nmss = \"1000 B\"\ninitial-window = 10"), 0.0);
        pair.offer(0, 300);
        pair.run(ONE_WAY);
        if lost {
            pair.path.clear();
        }
        while pair.received(1) == 0 && pair.step(3 * SECOND) {}
        pair.offer(1, 50_000);
        assert_eq!(pair.sent.iter().filter(|(_, end, s)| *end == 1 && s.len > 0).count(), first);
        pair.run(pair.now + SECOND);
        assert_eq!(pair.received(0), 50_000);
    }
}

/// RFC 5681 section 2: a duplicate ACK carries no data. A hole in what arrives is reported by itself, however much there is to send.
#[test]
fn holes_are_reported_without_data() {
    let mut pair = Pair::new(&params("stack = \"sack\"\nmss = \"1000 B\"\ninitial-window = 8"), 0.0);
    pair.offer(0, 8_000);
    // The second of eight segments is lost.
    pair.path.remove(1);
    pair.offer(1, 50_000);
    pair.run(SECOND);
    assert_eq!((pair.received(0), pair.received(1)), (50_000, 8_000));
    let reports = pair.sent.iter().filter(|(_, end, s)| *end == 1 && !s.sack.is_empty());
    assert!(reports.clone().count() >= 3 && reports.clone().all(|(.., s)| s.len == 0));
    assert_eq!(pair.ends[0].sender().stats().fast_retransmits, 1);
    assert_eq!(pair.ends[0].sender().stats().timeouts, 0);
    assert_eq!(pair.ends[1].sender().stats().retransmitted_segments, 0, "data are no duplicate ACKs");
}

/// Whatever is lost in either direction, both ends get all, with every stack: requests and answers in turn, and both at once.
#[test]
fn losses_in_both_directions_leave_all_data_with_every_stack() {
    for &stack in Stack::ALL {
        for syn in [false, true] {
            let spec = StackSpec { stack, syn_exchange: Some(syn), ..StackSpec::default() };
            let params = spec.resolve().unwrap();
            let mut pair = Pair::new(&params, 0.05);
            let (mut asked, mut answered) = (0, 0);
            for turn in 0..20 {
                let (request, answer) = (100 + 700 * (turn % 5), 200 + 5000 * (turn % 7));
                pair.offer(0, request);
                asked += request;
                // Some answers begin before the request is there.
                let early = turn > 0 && turn % 3 == 0;
                let until = pair.now + 1000 * SECOND;
                while !early && pair.received(1) < asked && pair.step(until) {}
                pair.offer(1, answer);
                answered += answer;
                while (pair.received(0) < answered || pair.received(1) < asked) && pair.step(until) {}
            }
            assert_eq!((pair.received(1), pair.received(0)), (asked, answered), "{stack:?}, {syn}");
            let again: u64 = pair.ends.iter().map(|end| end.sender().stats().retransmitted_segments).sum();
            assert!(again > 0, "{stack:?}: nothing was lost");
        }
    }
}

/// Marks are told in both directions: by ECN-Echo on data (RFC 3168 section 6.1.3), and by the three bits of a count (RFC 9768).
#[test]
fn data_tell_of_marks_on_the_data_of_the_other_end() {
    let classic = "ecn = true\nmss = \"1000 B\"";
    let accurate = "stack = \"prague\"\nmss = \"1000 B\"\npacing = false";
    for (table, bits) in [(classic, Flags::ECE), (accurate, Flags::NONE)] {
        let params = params(table);
        let mut pair = Pair::new(&params, 0.0);
        pair.offer(0, 3_000);
        for (.., segment) in &mut pair.path {
            segment.ecn = celltrain_tcp::Ecn::Ce;
        }
        pair.run(9 * MILLISECOND);
        // The answer is there before the request has arrived: it waits for nothing.
        pair.now = ONE_WAY;
        let end = &mut pair.ends[1];
        let arrived: Vec<_> = pair.path.drain(..).collect();
        arrived.iter().for_each(|(.., segment)| end.on_segment(ONE_WAY, segment));
        pair.offer(1, 1_000);
        let (.., answer) = *pair.sent.last().unwrap();
        assert_eq!((answer.len, answer.ack), (1_000, 3_000));
        if bits == Flags::NONE {
            assert_eq!(answer.flags.ace(), (5 + 3) & 7, "three marks beyond the five that counts begin with");
        } else {
            assert!(answer.flags.contains(bits));
        }
        pair.run(SECOND);
        assert_eq!(pair.ends[0].sender().stats().ecn_reductions, 1, "{table}");
        assert_eq!(pair.ends[1].sender().stats().ecn_reductions, 0, "{table}");
    }
}

/// RFC 9768 section 3.2.2: the count of marks stands in the bits AE, CWR and ECE alone. A FIN that goes with the last data, or by
/// itself, remains one where the acknowledgement that it carries tells the count.
#[test]
fn a_fin_keeps_its_bit_beside_a_count_of_marks() {
    for table in ["ecn = true\nfin = true", "stack = \"prague\"\nfin = true\npacing = false"] {
        let mut pair = Pair::new(&params(&format!("{table}\nmss = \"1000 B\"")), 0.0);
        pair.offer(0, 1_500);
        pair.ends[0].sender_mut().close(pair.now);
        pair.poll(0);
        pair.run(SECOND);
        let fins = pair.sent.iter().filter(|(_, end, segment)| *end == 0 && segment.is_fin()).count();
        assert_eq!((pair.received(1), fins), (1_500, 1), "{table}");
        assert!(pair.ends[0].sender().is_done(), "{table}: the FIN is acknowledged");
    }
}
