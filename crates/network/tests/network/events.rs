//! Events of TCP senders: what a run tells of them, and that telling changes nothing.

use celltrain_network::RunResult;

use crate::common::{of_flow, run_plain, run_recorded, texts};

const FALL_FLOYD: &str = include_str!("../../../../scenarios/teaching/fall-floyd.toml");

fn run(recovery: &str, record: bool) -> RunResult {
    let run = if record { run_recorded } else { run_plain };
    run(FALL_FLOYD, &[("tcp.recovery", recovery)])
}

fn count(result: &RunResult, event: &str) -> u64 {
    texts(&result.events, "event").into_iter().filter(|name| *name == event).count() as u64
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

/// What each timeout says: its cause, the timeout in seconds, and its backoff.
fn timeouts(result: &RunResult) -> Vec<(String, f64, u32)> {
    let rows = std::iter::zip(texts(&result.events, "event"), texts(&result.events, "cause"));
    let rows = std::iter::zip(rows, texts(&result.events, "detail"));
    let value = |detail: &str, key: &str| -> f64 {
        let pair = detail.split(' ').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        pair.expect(key).parse().expect("a number")
    };
    let timeouts = rows.filter(|((event, _), _)| *event == "timeout");
    timeouts
        .map(|((_, cause), detail)| (cause.to_owned(), value(detail, "rto"), value(detail, "backoff") as u32))
        .collect()
}

#[test]
fn a_timeout_tells_what_kept_the_loss_from_showing_before() {
    let story = |lost: &str, more: &str, overrides: &[(&str, &str)]| {
        let text = format!(
            "schema = 1\nname = \"timeouts\"\nduration = \"30 s\"\ntopology = {{ kind = \"n-source\", sources = 1 }}\n\
             link = {{ framing = \"packets\", rate = \"10 Mbit/s\", delay = \"10 ms\" }}\n{more}\n\
             switch = {{ buffer = \"1000 packets\" }}\n\
             tcp = {{ stack = \"newreno\", mss = \"1000 B\", rto-min = \"1 s\", initial-window = 4 }}\n\
             traffic = {{ kind = \"finite\", bytes = \"20000 B\" }}\n{lost}"
        );
        timeouts(&run_recorded(&text, overrides))
    };
    let loss = |segment: u32, occurrence: u32| {
        format!("[[loss]]\nflow = \"1\"\nsegment = {segment}\noccurrence = {occurrence}\n")
    };
    let all = |segments: std::ops::Range<u32>| segments.map(|segment| loss(segment, 1)).collect::<String>();
    let named = |causes: &[(&str, f64, u32)]| -> Vec<(String, f64, u32)> {
        causes.iter().map(|&(cause, rto, backoff)| (cause.to_owned(), rto, backoff)).collect()
    };
    // The last segment: nothing comes behind it. It is lost three times more; nothing is measured on a segment sent again.
    let again: String = (1..=3).map(|occurrence| loss(19, occurrence)).collect();
    assert_eq!(
        story(&again, "", &[]),
        named(&[
            ("few-outstanding", 1.0, 1),
            ("retransmission-unanswered", 2.0, 2),
            ("retransmission-unanswered", 4.0, 4)
        ])
    );
    // The first four segments, and the first one once more, with no measurement before.
    assert_eq!(
        story(&(all(0..4) + &loss(0, 2)), "", &[])[..2],
        named(&[("no-duplicate-acks", 1.0, 1), ("retransmission-unanswered", 2.0, 2)])[..]
    );
    // Two of four arrive, and limited transmit sends nothing more.
    assert_eq!(
        story(&all(0..2), "", &[("tcp.limited-transmit", "false")])[0],
        named(&[("few-duplicate-acks", 1.0, 1)])[0]
    );
    // The third duplicate ACK means nothing.
    assert_eq!(
        story(&loss(0, 1), "", &[("tcp.recovery", "timeout-only")]),
        named(&[("duplicate-acks-ignored", 1.0, 1)])
    );
    // A fast retransmit is lost.
    assert_eq!(
        story(&(loss(8, 1) + &loss(8, 2)), "", &[])[0],
        named(&[("retransmission-unanswered", 1.0, 1)])[0]
    );
    // The backoff stays while all that is acknowledged was sent again: both segments that are lost behind the first timeout.
    let kept = story(&(all(16..20) + &loss(16, 2)), "", &[]);
    assert_eq!(kept[..2], named(&[("no-duplicate-acks", 1.0, 1), ("retransmission-unanswered", 2.0, 2)])[..]);
    // All ACKs of the handshake are lost.
    let syn = story("", "", &[("tcp.syn-exchange", "true"), ("link.loss", "1.0")]);
    assert!(syn.len() > 3 && syn.iter().all(|(cause, _, _)| cause == "syn-unanswered"), "{syn:?}");
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
