//! The processor of a host, which takes time for each segment, and the limit of what a sender leaves waiting there.

use celltrain_network::RunResult;

use crate::common::{longest_round_trip, run_recorded};

/// A window of fifty segments over a link that is never busy: the processor, 1 ms a segment sent or received, is the
/// bottleneck. The round trip without waiting is that time at both ends and both ways, and 4 ms.
const NETWORK: &str = r#"
schema = 1
name = "processor"
duration = "10 s"
topology = { kind = "n-source", sources = 1 }
link = { rate = "10 Gbit/s", delay = "1 ms", access.delay = "500 us", exit.delay = "500 us" }
[tcp]
mss = "1000 B"
receive-window = "50 KiB"
delayed-ack = "0 s"
processing-delay = "1 ms"
"#;

fn run(keys: &str) -> RunResult {
    run_recorded(&format!("{NETWORK}{keys}"), &[])
}

#[test]
fn what_waits_in_the_sender_is_not_in_its_processor() {
    // A segment and the ACK of another take a millisecond each: 500 segments a second whatever waits.
    let (unlimited, limited) = (run(""), run("send-queue = 2\n"));
    for result in [&unlimited, &limited] {
        let delivered = result.flows.counts("frames_delivered")[0];
        assert!((4_950..=5_050).contains(&delivered), "{delivered}");
    }
    // The whole window waits, or two segments and the ACKs among them.
    let (unlimited, limited) = (longest_round_trip(&unlimited), longest_round_trip(&limited));
    assert!(unlimited > 0.1, "{unlimited}");
    assert!((0.008..0.025).contains(&limited), "{limited}");
}

#[test]
fn acknowledgements_need_no_processor_where_the_stack_says_so() {
    // A segment a millisecond; the round trip is that time at both ends and 4 ms.
    let result = run("send-queue = 2\nacks-processed = false\n");
    let delivered = result.flows.counts("frames_delivered")[0];
    assert!((9_900..=10_000).contains(&delivered), "{delivered}");
    let round_trip = longest_round_trip(&result);
    assert!((0.006..0.009).contains(&round_trip), "{round_trip}");
}
