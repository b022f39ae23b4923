//! Tahoe, Reno, NewReno and SACK lose the same segments and recover as the literature says, each in its own
//! way.
//!
//! The network is that of K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP"
//! (1996): a link of 8 Mbit/s into a bottleneck of 800 kbit/s and 100 ms with a drop-tail queue, 1000-byte
//! segments, a window of 28, one ACK a segment. NewReno is here RFC 6582's and SACK RFC 6675's, both younger
//! than that paper.

mod common;

use celltrain_engine::time::{MILLISECOND, SECOND};
use celltrain_tcp::EventKind;
use common::{Rig, lose, params};

/// The paper's drops: the window has grown to 15 segments when the first is lost, and 28 is the last of the
/// flight.
const IN_SLOW_START: [&[u64]; 4] = [&[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28]];
/// Drops in the middle of a full window of 28 segments.
const IN_FULL_WINDOW: [&[u64]; 4] = [&[100], &[100, 104], &[100, 104, 108], &[100, 104, 108, 112]];

/// What a row of the table says.
#[derive(Debug, PartialEq)]
struct Outcome {
    timeouts: u64,
    fast_retransmits: u64,
    retransmitted: u64,
    /// From the first fast retransmit until all that was outstanding then is acknowledged. A round trip is
    /// 212 ms.
    recovery_ms: u64,
}

fn outcome(recovery: &str, drops: &[u64], queue: usize) -> Outcome {
    let params = params(&format!(
        "stack = 'newreno'\nrecovery = '{recovery}'\nmss = '1000 B'\nreceive-window = '28000 B'\n\
         initial-window = 1\ndelayed-ack = '0 s'\nlimited-transmit = false"
    ));
    let losses: Vec<_> = drops.iter().map(|segment| (segment * 1000, 1)).collect();
    let links = [(8_000_000, 0, usize::MAX), (800_000, 100 * MILLISECOND, queue)];
    let mut rig = Rig::new(&params, &links, lose(&losses));
    rig.sender.trace(true);
    rig.sender.offer(0, u64::MAX);
    rig.run_until(4 * SECOND);
    assert_eq!(rig.overflows, 0, "only the scripted segments are lost");
    let events = rig.sender.take_events();
    let (began, recover) = events
        .iter()
        .find_map(|event| match event.kind {
            EventKind::FastRetransmit { recover, .. } => Some((event.at, recover)),
            _ => None,
        })
        .expect("three duplicate ACKs arrive");
    let full = |kind: &EventKind| matches!(kind, EventKind::Acknowledged { ack, .. } if *ack >= recover);
    let ended = events.iter().find(|event| full(&event.kind)).expect("the flight is acknowledged").at;
    let stats = rig.sender.stats();
    Outcome {
        timeouts: stats.timeouts,
        fast_retransmits: stats.fast_retransmits,
        retransmitted: stats.retransmitted_segments,
        recovery_ms: (ended - began) / MILLISECOND,
    }
}

/// Checks rows of (recovery, drops, timeouts, fast retransmits, retransmitted segments, recovery in ms,
/// reason).
fn check(drops: [&[u64]; 4], queue: usize, table: &[(&str, usize, u64, u64, u64, u64, &str)]) {
    for &(recovery, count, timeouts, fast_retransmits, retransmitted, recovery_ms, reason) in table {
        let expected = Outcome { timeouts, fast_retransmits, retransmitted, recovery_ms };
        let found = outcome(recovery, drops[count - 1], queue);
        assert_eq!(found, expected, "{recovery} with {count} drops: {reason}");
    }
}

#[test]
fn variants_differ_in_slow_start() {
    let table = [
        ("tahoe", 1, 0, 1, 1, 211, "the retransmission fills the only hole: one round trip"),
        ("tahoe", 2, 0, 1, 2, 423, "slow start meets the second hole a round trip later"),
        ("tahoe", 3, 0, 1, 4, 635, "slow start sends 27 again although the receiver holds it"),
        ("tahoe", 4, 0, 1, 6, 656, "and 25 and 27; never a timeout"),
        ("reno", 1, 0, 1, 1, 211, "fast recovery is made for this: one round trip, window halved"),
        ("reno", 2, 0, 2, 2, 506, "the partial ACK ends recovery; new data brings three more duplicates"),
        ("reno", 3, 1, 2, 3, 1718, "halved twice, the window lets too little go for three duplicates"),
        ("reno", 4, 1, 2, 5, 1930, "as with three; slow start after the timeout sends 29 again"),
        ("newreno", 1, 0, 1, 1, 211, "as Reno"),
        ("newreno", 2, 0, 1, 2, 423, "a hole a round trip"),
        ("newreno", 3, 0, 1, 3, 635, "a hole a round trip"),
        ("newreno", 4, 0, 1, 4, 847, "a hole a round trip"),
        ("sack", 1, 0, 1, 1, 211, "as Reno"),
        ("sack", 2, 0, 1, 2, 507, "nothing above 28 was sent: new data must pass before it counts as lost"),
        ("sack", 3, 0, 1, 3, 517, "26 and 28 go together: the number of holes hardly matters"),
        ("sack", 4, 0, 1, 4, 528, "24, 26 and 28 go together"),
    ];
    check(IN_SLOW_START, 8, &table);
}

#[test]
fn variants_differ_in_a_full_window() {
    let table = [
        ("tahoe", 1, 0, 1, 1, 260, "one round trip, with the queue that a window of 28 builds"),
        ("tahoe", 2, 0, 1, 3, 461, "105 again without need"),
        ("tahoe", 3, 0, 1, 6, 662, "105, 109 and 110 again without need"),
        ("tahoe", 4, 0, 1, 10, 864, "six of ten again without need"),
        ("reno", 1, 0, 1, 1, 260, "one round trip"),
        ("reno", 2, 1, 1, 2, 1461, "halving leaves nothing to send, so no duplicates: the timer must help"),
        ("reno", 3, 1, 1, 4, 1662, "the timer, then slow start over what is held"),
        ("reno", 4, 1, 1, 7, 1864, "the timer, then slow start over what is held"),
        ("newreno", 1, 0, 1, 1, 260, "one round trip"),
        ("newreno", 2, 0, 1, 2, 461, "a hole a round trip"),
        ("newreno", 3, 0, 1, 3, 662, "a hole a round trip"),
        ("newreno", 4, 0, 1, 4, 864, "a hole a round trip"),
        ("sack", 1, 0, 1, 1, 259, "one round trip"),
        ("sack", 2, 0, 1, 3, 326, "both holes within one flight; a rescue retransmission of the tail"),
        ("sack", 3, 0, 1, 4, 326, "all holes within one flight; a rescue retransmission of the tail"),
        ("sack", 4, 0, 1, 5, 326, "all holes within one flight; a rescue retransmission of the tail"),
    ];
    check(IN_FULL_WINDOW, 100, &table);
}
