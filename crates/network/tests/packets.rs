//! Packet-framed links: times, limits and policies by whole frames.

use celltrain_network::{
    run::{Experiment, Options, RunResult},
    scenario::Scenario,
};

/// One connection over a bottleneck with room for eight packets, the one in transmission included (K. Fall and S. Floyd,
/// "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996).
const FALL_FLOYD: &str = include_str!("../../../scenarios/teaching/fall-floyd.toml");

fn load(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::from_toml(text, "test.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str, overrides: &[(&str, &str)]) -> RunResult {
    let scenario = load(text, overrides);
    let experiment = Experiment::new(&scenario).unwrap();
    let mut network = experiment.network(1, 0, Options::default());
    network.record_events();
    experiment.run_network(network, &mut || false).unwrap()
}

fn error(text: &str, overrides: &[(&str, &str)]) -> String {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    match Scenario::from_toml(text, "test.toml", &overrides) {
        Ok(scenario) => scenario.graph().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_packet_takes_the_time_of_its_bytes_without_drift() {
    // A window of one segment: each takes its round trip, and an ACK the same way back.
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    let result =
        run(text, &[("tcp.receive-window", "1000 B"), ("duration", "1000 s"), ("link.overhead", "10 B")]);
    // 1050 bytes at 8 Mbit/s and 800 kbit/s, ACKs of 50 bytes, 100 ms each way.
    let round = 1050.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 50.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 0.2;
    assert_eq!(result.flows.counts("segments_sent")[0], (1000.0 / round) as u64 + 1);
    let acks = result.series.iter().find(|series| series.metric == "acknowledged").unwrap();
    for (number, time) in std::iter::zip(1.., &acks.times) {
        assert!((time - f64::from(number) * round).abs() < 1e-9, "ACK {number} at {time}");
    }
}

#[test]
fn a_buffer_never_holds_more_than_its_limit() {
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    for (buffer, most) in [("8 packets", 8), ("5 kB", 4 * 1040)] {
        let result =
            run(text, &[("switch.buffer", buffer), ("tcp.receive-window", "60 kB"), ("duration", "60 s")]);
        assert!(result.ports.counts("discarded_buffer_full").iter().sum::<u64>() > 0, "{buffer}");
        let switch = result.ports.counts("switch").iter().position(|&switch| switch == 1).unwrap();
        let fullest = result.ports.counts("occupancy_max");
        assert_eq!(fullest[switch..].iter().max(), Some(&most), "{buffer}");
        let busy = result.summary.iter().find(|metric| metric.name == "utilisation").unwrap().value;
        assert!((0.5..=1.0).contains(&busy), "{busy}");
    }
}

#[test]
fn every_policy_runs_on_packets() {
    let text = r#"
schema = 1
name = "packets"
duration = "20 s"
topology = { kind = "n-source", sources = 5 }
[link]
rate = "10 Mbit/s"
delay = "5 ms"
framing = "packets"
[switch]
buffer = "20 packets"
[switch.discard]
policy = "tail-drop"
epd.threshold = "15 packets"
espd = { high = "90 %", low = "50 %" }
espd-original = { high = "90 %", low = "50 %", red-limit = 2 }
"#;
    for policy in ["tail-drop", "ppd", "epd", "espd", "espd-original"] {
        let result = run(text, &[("switch.discard.policy", policy)]);
        let discarded: u64 = result.ports.counts("cells_discarded").iter().sum();
        assert!(discarded > 0, "{policy}");
        let full: u64 = result.ports.counts("discarded_buffer_full").iter().sum();
        assert_eq!(
            full == discarded,
            ["tail-drop", "ppd"].contains(&policy),
            "{policy}: {full} of {discarded}"
        );
        assert_eq!(result.flows.counts("cells_useless").iter().sum::<u64>(), 0, "frames are never broken");
        let throughput = result.summary.iter().find(|metric| metric.name == "throughput").unwrap().value;
        assert!((7e6..1e7).contains(&throughput), "{policy}: {throughput}");
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("switch.buffer", "100 cells")], "which carries packets: give a number of packets or bytes"),
        (&[("link.framing", "cells")], "which carries cells: give a number of cells"),
        (
            &[("topology.link.0.framing", "cells"), ("switch.buffer", "unlimited")],
            "would change its framing on the way",
        ),
        (&[("traffic", "{ kind = \"cbr\", rate = \"1 Mbit/s\" }")], "sends bare cells"),
        (
            &[("switch.discard", "{ policy = \"epd\", epd.threshold = \"4 cells\" }")],
            "\"4 cells\" does not suit a buffer of 8 packets",
        ),
    ];
    for (overrides, expected) in cases {
        let found = error(text, overrides);
        assert!(found.contains(expected), "{found}");
    }
}
