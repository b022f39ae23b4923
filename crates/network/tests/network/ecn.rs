//! Explicit congestion notification end to end (RFC 3168): a switch marks instead of discarding, in both framings.

use celltrain_network::RunResult;

use crate::common::{run_plain, total};

const SCENARIO: &str = r#"
schema = 1
name = "ecn"
duration = "2 s"
[topology]
kind = "n-source"
sources = 2
[link]
rate = "10 Mbit/s"
delay = "2 ms"
[link.access]
rate = "100 Mbit/s"
[switch.discard]
policy = "epd"
"#;

fn run(overrides: &[(&str, &str)]) -> RunResult {
    run_plain(SCENARIO, overrides)
}

fn sums(result: &RunResult) -> (u64, u64, u64) {
    (
        total(&result.ports, "frames_marked"),
        total(&result.ports, "cells_discarded"),
        total(&result.flows, "segments_retransmitted"),
    )
}

const CELLS: [(&str, &str); 2] =
    [("switch.buffer", "400 cells"), ("switch.discard.epd.threshold", "100 cells")];
const PACKETS: [(&str, &str); 3] = [
    ("link.framing", "packets"),
    ("switch.buffer", "20 packets"),
    ("switch.discard.epd.threshold", "5 packets"),
];

#[test]
fn capable_connections_are_slowed_without_a_loss() {
    for network in [&CELLS[..], &PACKETS] {
        let marking = [network, &[("tcp.ecn", "true"), ("switch.discard.epd.ecn", "true")]].concat();
        let (marked, discarded, again) = sums(&run(&marking));
        assert!(marked > 0, "the threshold is reached");
        assert_eq!(
            (discarded, again),
            (0, 0),
            "the buffer above the threshold absorbs what comes before the answer"
        );
        // Without the switch's part, or without the sender's, the same threshold discards.
        for half in [("tcp.ecn", "true"), ("switch.discard.epd.ecn", "true")] {
            let (marked, discarded, again) = sums(&run(&[network, &[half]].concat()));
            assert!(marked == 0 && discarded > 0 && again > 0, "{half:?}: {marked} {discarded} {again}");
        }
    }
}

/// A frame is marked in all of its cells and counts once.
#[test]
fn a_frame_is_marked_once() {
    let marking =
        [("switch.buffer", "400 cells"), ("switch.discard.epd.threshold", "1 cells"), ("tcp.ecn", "true")];
    let result = run(&[&marking[..], &[("switch.discard.epd.ecn", "true")]].concat());
    let (marked, ..) = sums(&result);
    let sent = total(&result.flows, "segments_sent");
    assert!(marked > sent / 10 && marked <= sent, "{marked} marked, {sent} sent");
}

/// So it is where the mark is given at the head of the queue.
#[test]
fn a_frame_is_marked_once_at_the_head() {
    let head =
        [("switch.discard.policy", "codel"), ("switch.discard.codel.ecn", "true"), ("tcp.ecn", "true")];
    for network in [&CELLS[..1], &PACKETS[..2]] {
        let result = run(&[network, &head].concat());
        let (marked, ..) = sums(&result);
        let sent = total(&result.flows, "segments_sent");
        assert!(marked > 0 && marked <= sent, "{marked} marked, {sent} sent");
    }
}
