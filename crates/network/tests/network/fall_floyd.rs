//! Tahoe, Reno, NewReno and SACK lose the same segments of one window and recover as the literature says, each in its own
//! way: the network and the question of K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP"
//! (1996). A link of 8 Mbit/s leads into a bottleneck of 800 kbit/s and 100 ms whose tail-drop buffer holds eight packets;
//! segments have 1000 bytes, the window holds 28, and every segment is acknowledged. NewReno is here RFC 6582's and SACK
//! RFC 6675's, both younger than that paper.

use std::fmt::Write;

use celltrain_network::RunResult;

use crate::common::{numbers, of_flow, run_recorded, texts, total};

/// The network; the losses at its end are replaced.
const FALL_FLOYD: &str = include_str!("../../../../scenarios/teaching/fall-floyd.toml");

/// A round trip without queues, in seconds: 1040 bytes at 8 Mbit/s and at 800 kbit/s, an ACK of 40 back, 100 ms each way.
const ROUND_TRIP: f64 = 1040.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 40.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 0.2;

/// Which segments are lost, once each, counted from 0, and where.
struct Pattern {
    name: &'static str,
    drops: [&'static [u64]; 4],
    /// What the bottleneck holds.
    buffer: &'static str,
    duration: &'static str,
    /// How many segments the last column of the table waits for.
    segments: u64,
}

/// The drops of the paper. In slow start the window has grown to 15 segments when 14 is lost, and 28 is the last segment
/// of the flight: nothing sent before the third duplicate ACK lies above it.
const SLOW_START: Pattern = Pattern {
    name: "slow start",
    drops: [&[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28]],
    buffer: "8 packets",
    duration: "4 s",
    segments: 50,
};

/// Holes four apart in the middle of a full window of 28 segments. That window needs a queue of nine, and the bursts that
/// lead to it and follow a recovery one of a dozen: the buffer takes them all, so that nothing else is lost.
const FULL_WINDOW: Pattern = Pattern {
    name: "full window",
    drops: [&[100], &[100, 104], &[100, 104, 108], &[100, 104, 108, 112]],
    buffer: "100 packets",
    duration: "8 s",
    segments: 200,
};

/// Neighbours in the middle of a full window, as a full queue drops them.
const BURST: Pattern = Pattern {
    name: "burst",
    drops: [&[100], &[100, 101], &[100, 101, 102], &[100, 101, 102, 103]],
    ..FULL_WINDOW
};

fn run(recovery: &str, pattern: &Pattern, drops: &[u64]) -> RunResult {
    let mut text = FALL_FLOYD.split("[[loss]]").next().unwrap().to_owned();
    for segment in drops {
        write!(text, "[[loss]]\nflow = \"transfer\"\nsegment = {segment}\n").unwrap();
    }
    run_recorded(
        &text,
        &[("tcp.recovery", recovery), ("switch.buffer", pattern.buffer), ("duration", pattern.duration)],
    )
}

/// When everything below byte `end` was acknowledged, in seconds.
fn acknowledged(result: &RunResult, end: f64) -> f64 {
    let acks = result.series.iter().find(|series| series.metric == "acknowledged").unwrap();
    acks.times[acks.values.iter().position(|&ack| ack >= end).expect("acknowledged within the run")]
}

/// Round trips from the first fast retransmit until everything sent before it is acknowledged.
fn recovery_time(result: &RunResult) -> f64 {
    let [events, details] = ["event", "detail"].map(|column| texts(&result.events, column));
    let place =
        events.iter().position(|&event| event == "fast-retransmit").expect("three duplicate ACKs arrive");
    let recover = details[place].split(' ').find_map(|part| part.strip_prefix("recover=")).unwrap();
    (acknowledged(result, recover.parse().unwrap()) - numbers(&result.events, "t")[place]) / ROUND_TRIP
}

/// What a row says: timeouts, fast retransmits, retransmitted segments, recovery in round trips, and the seconds until
/// as many segments as the pattern says are acknowledged.
type Row = (u64, u64, u64, f64, f64);

fn measure(recovery: &str, pattern: &Pattern, drops: &[u64]) -> Row {
    let result = run(recovery, pattern, drops);
    assert_eq!(total(&result.ports, "lost_scripted"), drops.len() as u64, "each is lost once");
    assert_eq!(total(&result.ports, "cells_discarded"), 0, "{recovery} with {drops:?}: no other is lost");
    let rounded = |value: f64, digits: f64| (value * digits).round() / digits;
    (
        of_flow(&result, "timeouts"),
        of_flow(&result, "fast_retransmits"),
        of_flow(&result, "segments_retransmitted"),
        rounded(recovery_time(&result), 10.0),
        rounded(acknowledged(&result, (pattern.segments * 1000) as f64), 100.0),
    )
}

/// Checks a table of (recovery, number of drops, what is measured, why).
fn check(pattern: &Pattern, table: &[(&str, usize, Row, &str)]) {
    let mut different = String::new();
    for &(recovery, count, expected, reason) in table {
        let found = measure(recovery, pattern, pattern.drops[count - 1]);
        if found != expected {
            writeln!(different, "{recovery} with {count}: {found:?}, not {expected:?} ({reason})").unwrap();
        }
    }
    assert!(different.is_empty(), "{}:\n{different}", pattern.name);
}

#[test]
fn variants_differ_in_slow_start() {
    let table = [
        (
            "tahoe",
            1,
            (0, 1, 1, 1.0, 2.20),
            "the retransmission fills the only hole; slow start from one segment follows",
        ),
        ("tahoe", 2, (0, 1, 2, 2.0, 2.21), "slow start meets the second hole a round trip later"),
        ("tahoe", 3, (0, 1, 4, 3.0, 2.39), "slow start sends 27 again although the receiver holds it"),
        ("tahoe", 4, (0, 1, 6, 3.1, 2.42), "and 25 and 27; never a timeout"),
        ("reno", 1, (0, 1, 1, 1.0, 1.84), "fast recovery is made for this: one round trip, window halved"),
        (
            "reno",
            2,
            (0, 2, 2, 2.4, 2.43),
            "the partial ACK ends recovery; new data brings three more duplicates",
        ),
        (
            "reno",
            3,
            (1, 2, 3, 8.1, 3.88),
            "halved twice, the window lets too little go for three duplicates: a timeout, as in the paper",
        ),
        ("reno", 4, (1, 2, 5, 9.1, 3.91), "as with three; slow start after the timeout sends 29 again"),
        (
            "newreno",
            1,
            (0, 1, 1, 1.0, 1.83),
            "as Reno; the window on leaving follows what is in flight (RFC 6582)",
        ),
        ("newreno", 2, (0, 1, 2, 2.0, 1.94), "a hole a round trip"),
        ("newreno", 3, (0, 1, 3, 3.0, 2.00), "a hole a round trip"),
        ("newreno", 4, (0, 1, 4, 4.0, 2.16), "a hole a round trip"),
        ("sack", 1, (0, 1, 1, 1.0, 1.84), "as Reno"),
        (
            "sack",
            2,
            (0, 1, 2, 2.4, 2.00),
            "nothing above 28 was sent: new data must pass before it counts as lost",
        ),
        ("sack", 3, (0, 1, 3, 2.4, 2.02), "26 and 28 go together: the number of holes hardly matters"),
        ("sack", 4, (0, 1, 4, 2.5, 2.04), "24, 26 and 28 go together"),
    ];
    check(&SLOW_START, &table);
}

#[test]
fn variants_differ_in_a_full_window() {
    let table = [
        ("tahoe", 1, (0, 1, 1, 1.2, 3.88), "one round trip, with the queue that a window of 28 builds"),
        ("tahoe", 2, (0, 1, 3, 2.2, 4.01), "105 again without need"),
        ("tahoe", 3, (0, 1, 6, 3.1, 4.09), "105, 109 and 110 again without need"),
        ("tahoe", 4, (0, 1, 10, 4.1, 4.26), "six of ten again without need"),
        ("reno", 1, (0, 1, 1, 1.2, 3.42), "one round trip"),
        (
            "reno",
            2,
            (1, 1, 2, 6.9, 5.46),
            "the receive window leaves nothing new to send, so no duplicates come: the timer must help",
        ),
        ("reno", 3, (1, 1, 4, 7.8, 5.63), "the timer, then slow start over what is held"),
        ("reno", 4, (1, 1, 7, 8.8, 5.67), "the timer, then slow start over what is held"),
        (
            "newreno",
            1,
            (0, 1, 1, 1.2, 3.88),
            "nothing is in flight on leaving, so RFC 6582 starts again from two segments and Reno is faster",
        ),
        (
            "newreno",
            2,
            (0, 1, 2, 2.2, 3.67),
            "a hole a round trip; the partial ACK moves the receive window by four, which stay in flight",
        ),
        ("newreno", 3, (0, 1, 3, 3.1, 3.83), "a hole a round trip"),
        ("newreno", 4, (0, 1, 4, 4.1, 3.99), "a hole a round trip"),
        ("sack", 1, (0, 1, 1, 1.2, 3.42), "one round trip"),
        (
            "sack",
            2,
            (0, 1, 3, 1.5, 3.45),
            "both holes within one flight; a rescue retransmission of the tail",
        ),
        ("sack", 3, (0, 1, 4, 1.5, 3.44), "all holes within one flight; a rescue retransmission of the tail"),
        ("sack", 4, (0, 1, 5, 1.5, 3.43), "all holes within one flight; a rescue retransmission of the tail"),
    ];
    check(&FULL_WINDOW, &table);
}

#[test]
fn variants_differ_in_a_burst() {
    let table = [
        ("tahoe", 1, (0, 1, 1, 1.2, 3.88), "as in a full window"),
        ("tahoe", 2, (0, 1, 3, 2.2, 4.01), "102 again without need"),
        (
            "tahoe",
            3,
            (0, 1, 5, 2.2, 3.90),
            "two holes fit one round trip of slow start; 103 and 104 without need",
        ),
        ("tahoe", 4, (0, 1, 7, 3.1, 4.05), "104, 105 and 106 without need"),
        ("reno", 1, (0, 1, 1, 1.2, 3.42), "as in a full window"),
        ("reno", 2, (1, 1, 2, 6.9, 5.46), "the timer, as in a full window"),
        ("reno", 3, (1, 1, 4, 7.8, 5.63), "the timer, then slow start; 103 without need"),
        (
            "reno",
            4,
            (1, 1, 6, 7.8, 5.48),
            "the timer, then slow start, two holes in one round trip; 104 and 105 without need",
        ),
        ("newreno", 1, (0, 1, 1, 1.2, 3.88), "as in a full window"),
        (
            "newreno",
            2,
            (0, 1, 2, 2.2, 4.00),
            "a hole a round trip; partial ACKs move the receive window by one, so little is in flight on leaving",
        ),
        ("newreno", 3, (0, 1, 3, 3.1, 4.19), "a hole a round trip"),
        ("newreno", 4, (0, 1, 4, 4.1, 4.38), "a hole a round trip"),
        ("sack", 1, (0, 1, 1, 1.2, 3.42), "as in a full window"),
        ("sack", 2, (0, 1, 2, 1.5, 3.48), "both holes within one flight"),
        ("sack", 3, (0, 1, 4, 1.5, 3.48), "all holes within one flight; a rescue retransmission of the tail"),
        ("sack", 4, (0, 1, 5, 1.5, 3.47), "all holes within one flight; a rescue retransmission of the tail"),
    ];
    check(&BURST, &table);
}
