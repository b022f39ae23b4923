//! A VC with a peak rate, kept by a shaper of cells or by sources that wait before they make the next frame.

use celltrain_network::RunResult;

use crate::common::{longest_round_trip, metric, run_recorded};

/// A window of fifty segments and a round trip of 2 ms; the peak rate, 1000 frames of 12 cells a second, is the bottleneck.
const NETWORK: &str = r#"
schema = 1
name = "pace"
duration = "10 s"
warm-up = "1 s"
link = { rate = "155.52 Mbit/s", delay = "250 us", trunk.delay = "500 us" }
[tcp]
mss = "512 B"
receive-window = "25600 B"
delayed-ack = "0 s"
[vc]
pcr = "5.088 Mbit/s"
"#;

fn run(spacing: &str, topology: &str) -> RunResult {
    run_recorded(&format!("{NETWORK}spacing = \"{spacing}\"\n[topology]\n{topology}\n"), &[])
}

#[test]
fn both_kinds_keep_the_rate_and_one_keeps_frames_waiting() {
    let (cells, frames) =
        (run("cells", "kind = \"n-source\"\nsources = 1"), run("frames", "kind = \"n-source\"\nsources = 1"));
    for result in [&cells, &frames] {
        let delivered = result.flows.counts("frames_delivered")[0];
        assert!((8_999..=9_001).contains(&delivered), "{delivered} in nine seconds");
    }
    // Fifty segments at the shaper's millisecond each. A frame and its ACK of 2 cells take 17 slots of 2.7 us on the links
    // besides their delays, if nothing waits before them: 12 on the first and one on each of the others, as cells pass
    // through switches.
    let (cells, frames) = (longest_round_trip(&cells), longest_round_trip(&frames));
    assert!((cells - 0.050).abs() < 0.001, "{cells}");
    assert!((0.002..0.0021).contains(&frames), "{frames}");
}

/// GCRA(1/PCR, 0): what comes no faster than the peak rate conforms, and nothing holds it back.
#[test]
fn what_conforms_is_not_held_back() {
    let cells = "schema = 1\nname = \"conforming\"\nduration = \"2 s\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
        link = { rate = \"155.52 Mbit/s\", delay = \"1 us\" }\ntraffic = { kind = \"cbr\", rate = \"16 kbit/s\" }\n\
        measures.delays = \"all\"\n";
    let packets = cells
        .replace("kbit/s\" }", "kbit/s\", packet = \"500 B\" }")
        .replace("1 us", "1 us\", framing = \"packets")
        + "switch.buffer = \"9 packets\"\n";
    // Three links of 1 us, and on each the time of a cell or of 500 bytes.
    for (scenario, bits) in [(cells, 424.0), (packets.as_str(), 4000.0)] {
        for pcr in ["'16 kbit/s'", "'64 kbit/s'", "'200 Mbit/s'"] {
            let delay = metric(&run_recorded(scenario, &[("vc.pcr", pcr)]), "transfer_delay_max");
            let expected = 3.0 * (1e-6 + bits / 155.52e6);
            assert!((delay - expected).abs() < 1e-9, "{pcr}: {delay}, not {expected}");
        }
    }
}

#[test]
fn connections_that_share_a_vc_take_turns() {
    let result = run("frames", "kind = \"backbone\"\npairs = 1\nflows = 4");
    let delivered = result.flows.counts("frames_delivered");
    assert_eq!(delivered.len(), 4);
    for &count in delivered {
        assert!((2_249..=2_251).contains(&count), "{delivered:?}: a quarter of 9000 each");
    }
}
