//! Events of TCP senders: what a run tells of them, and that telling changes nothing.

use celltrain_network::RunResult;

use crate::common::{of_flow, run_plain, run_recorded, texts};

const FALL_FLOYD: &str = include_str!("../../../../scenarios/teaching/fall-floyd.toml");

fn run(recovery: &str, record: bool) -> RunResult {
    let run = if record { run_recorded } else { run_plain };
    run(FALL_FLOYD, &[("tcp.recovery", recovery)])
}

fn count(result: &RunResult, event: &str) -> u64 {
    texts(&result.events, "event").iter().filter(|name| *name == event).count() as u64
}

fn points(result: &RunResult, metric: &str) -> u64 {
    result.series.iter().find(|series| series.metric == metric).map_or(0, |series| series.values.len() as u64)
}

#[test]
fn events_agree_with_the_counters() {
    for recovery in ["timeout-only", "tahoe", "reno", "newreno", "sack"] {
        let result = run(recovery, true);
        let counter = |column: &str| of_flow(&result, column);
        assert_eq!(count(&result, "timeout"), counter("timeouts"), "{recovery}");
        assert_eq!(count(&result, "fast-retransmit"), counter("fast_retransmits"), "{recovery}");
        assert_eq!(points(&result, "retransmitted"), counter("segments_retransmitted"), "{recovery}");
        let sent = points(&result, "sent") + points(&result, "retransmitted");
        assert_eq!(sent, counter("segments_sent"), "{recovery}");
        assert!(points(&result, "acknowledged") > 0, "{recovery}");
    }
}

#[test]
fn a_recovery_tells_its_causes_in_order() {
    let result = run("newreno", true);
    let story: Vec<_> = std::iter::zip(texts(&result.events, "event"), texts(&result.events, "cause"))
        .filter(|(event, _)| *event != "duplicate-ack")
        .map(|(event, cause)| format!("{event} {cause}").trim().to_owned())
        .collect();
    // Three holes: the first found by duplicate ACKs, the others by partial ACKs.
    let expected =
        ["fast-retransmit third-duplicate-ack", "partial-ack", "partial-ack", "recovery-exited full-ack"];
    assert_eq!(story, expected);
    assert_eq!(count(&run("timeout-only", true), "fast-retransmit"), 0);
    assert!(count(&run("timeout-only", true), "timeout") > 0);
}

#[test]
fn recording_changes_nothing() {
    let (silent, recorded) = (run("reno", false), run("reno", true));
    assert_eq!(silent.fingerprint, recorded.fingerprint);
    assert_eq!(silent.flows, recorded.flows);
    assert!(silent.series.is_empty());
    assert!(texts(&silent.events, "event").is_empty());
}

/// Short flows are recorded too, each by its number: in slow start with nothing lost, a flow of n segments sends n.
#[test]
fn short_flows_are_recorded_by_their_numbers() {
    let text = r#"
        schema = 1
        name = "short"
        duration = "2 s"
        topology = { kind = "n-source", sources = 2 }
        link = { rate = "10 Mbit/s", delay = "1 ms" }
        tcp = { stack = "newreno", mss = "1000 B" }
        [traffic]
        kind = "short-flows"
        trace = [{ at = "0 s", bytes = "3000 B" }, { at = "100 ms", bytes = "7000 B" }, { at = "1 s", bytes = "1 B" }]
    "#;
    let (recorded, plain) = (run_recorded(text, &[]), run_plain(text, &[]));
    assert_eq!((recorded.fingerprint, plain.series.len()), (plain.fingerprint, 0));
    let sent = recorded.series.iter().filter(|series| series.metric == "sent");
    let sent: Vec<_> = sent.map(|series| (series.entity.as_str(), series.values.len())).collect();
    let expected = ["1", "2"].map(|flow| [3, 7, 1].map(|count| (flow, count)));
    let names: Vec<_> = expected
        .iter()
        .flat_map(|flow| std::iter::zip(1.., flow).map(|(n, (flow, count))| (format!("{flow}/{n}"), *count)))
        .collect();
    assert_eq!(sent, names.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>());
}
