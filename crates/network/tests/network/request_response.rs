//! Requests and answers on one connection: response times against closed forms, and what holds under losses.

use celltrain_engine::time::MILLISECOND;
use celltrain_network::{Options, RunResult};
use celltrain_tcp::Stack;

use crate::common::{load, metric, numbers, read, replicate, run_as, run_traced, shuffled};

/// One server and one client, three links of 100 Mbit/s (80 ns an octet) and 1 ms between them. Every segment is acknowledged at once.
const ALONE: &str = r#"
schema = 1
name = "alone"
duration = "10 s"
topology = { kind = "n-source", sources = 1 }
link = { rate = "100 Mbit/s", delay = "1 ms", framing = "packets" }
switch.buffer = "unlimited"
tcp = { stack = "newreno", mss = "1000 B", initial-window = 10, delayed-ack = "0 s" }
[traffic]
kind = "request-response"
request = { kind = "fixed", bytes = "300 B" }
response = { kind = "fixed", bytes = "700 B" }
service = "5 ms"
think = "100 ms"
"#;

/// Seconds of a packet of so many octets of payload on one of the links.
fn packet(payload: u32) -> f64 {
    f64::from(payload + 40) * 80e-9
}

/// A mean of picoseconds.
fn assert_time(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} s, expected {expected} s");
}

/// The request and the answer cross three links each, stored and forwarded; between them lies the service.
#[test]
fn on_an_idle_path_an_answer_takes_a_round_trip_and_the_service() {
    let result = run_traced(ALONE, &[]);
    let time = 3.0 * (packet(300) + packet(700)) + 6e-3 + 5e-3;
    assert_time(metric(&result, "response_time_mean"), time);
    assert_time(metric(&result, "response_time_max"), time);
    for quantile in ["response_time_p50", "response_time_p95", "response_time_p99"] {
        assert_time(metric(&result, quantile), time);
        assert_time(numbers(&result.flows, quantile)[0], time);
    }
    // A request every 100 ms and a response time; the last of 10 s is answered.
    let requests = (10.0 / (time + 0.1)).ceil();
    assert_eq!(metric(&result, "requests_completed"), requests);
    assert_eq!(result.flows.counts("requests_completed"), [requests as u64]);
    assert_eq!(metric(&result, "request_rate"), requests / 10.0);
    // The flow is the answers.
    assert_eq!(result.flows.counts("bytes_delivered"), [700 * requests as u64]);
    assert_eq!(result.flows.counts("segments_sent"), [2 * requests as u64]);
}

/// The client opens the connection before it sends the first request, once: SYN and SYN|ACK have 44 octets.
#[test]
fn the_first_request_waits_for_the_handshake() {
    let overrides = [("tcp.syn-exchange", "true"), ("duration", "150 ms")];
    let result = run_traced(ALONE, &overrides);
    let time = 3.0 * (packet(300) + packet(700)) + 6e-3 + 5e-3;
    assert_eq!(metric(&result, "requests_completed"), 2.0);
    let handshake = 6e-3 + 6.0 * packet(4);
    assert_time(metric(&result, "response_time_max"), time + handshake);
    assert_time(metric(&result, "response_time_mean"), time + handshake / 2.0);
}

/// RFC 9293 section 3.10.3: data are handed over where the user calls RECEIVE. A party that reads n bytes at rate r is done 8 n / r
/// after they begin to arrive, if it reads more slowly than they come, or after the last segment came, if it keeps up.
#[test]
fn a_party_answers_when_it_has_read_at_its_rate() {
    let idle = 3.0 * (packet(300) + packet(700)) + 6e-3 + 5e-3;
    // 8 us a byte: 2.4 ms for the request and 5.6 ms for the answer.
    let slow = ("tcp.read-rate", "1 Mbit/s");
    let result = run_traced(ALONE, &[slow]);
    let time = idle + 1000.0 * 8e-6;
    assert_time(metric(&result, "response_time_mean"), time);
    assert_time(metric(&result, "response_time_max"), time);
    assert_eq!(metric(&result, "requests_completed"), (10.0 / (time + 0.1)).ceil());

    // Three segments of a request: a slow server reads without a break from the first on, a fast one waits for each.
    let long = ("traffic.request", "{ kind = \"fixed\", bytes = \"3 kB\" }");
    let others = 3.0 * (packet(1000) + packet(700)) + 6e-3 + 5e-3;
    let result = run_traced(ALONE, &[slow, long]);
    assert_time(metric(&result, "response_time_mean"), others + (3000.0 + 700.0) * 8e-6);
    let result = run_traced(ALONE, &[("tcp.read-rate", "200 Mbit/s"), long]);
    let time = others + 2.0 * packet(1000) + (1000.0 + 700.0) * 40e-9;
    assert_time(metric(&result, "response_time_mean"), time);
    // There is no pause behind the reading.
    let result = run_traced(ALONE, &[slow, ("traffic.service", "0 s"), ("traffic.think", "0 s")]);
    assert_time(metric(&result, "response_time_mean"), idle - 5e-3 + 1000.0 * 8e-6);
}

/// An answer that has arrived, but has not been read when the run ends, does not count.
#[test]
fn an_answer_counts_when_it_is_read() {
    let completed = |duration| {
        let result = run_traced(ALONE, &[("tcp.read-rate", "1 Mbit/s"), ("duration", duration)]);
        assert_eq!(result.flows.counts("bytes_delivered"), [700]);
        metric(&result, "requests_completed")
    };
    // It arrives after 11.26 + 2.4 ms, and takes 5.6 ms.
    assert_eq!((completed("19.2 ms"), completed("19.3 ms")), (0.0, 1.0));
}

/// Answers five times the buffer close the window again and again, and packets are lost: each message is read at no more than the rate,
/// the requests go on, and the run is the same in any order of visits.
#[test]
fn slow_parties_go_on_under_losses() {
    let overrides = [
        ("duration", "20 s"),
        (
            "tcp",
            "{ stack = \"linux\", receive-window = \"4 kB\", read-rate = \"1 Mbit/s\", mss = \"1000 B\" }",
        ),
        ("traffic.response", "{ kind = \"fixed\", bytes = \"20 kB\" }"),
        ("link.loss", "0.005"),
    ];
    let scenario = load(ALONE, &overrides);
    let result = |store_queues| replicate(&scenario, 0, Options { store_queues, ..Options::default() });
    let usual = result(false);
    assert_eq!(format!("{usual:?}"), format!("{:?}", result(true)));
    assert!(metric(&usual, "retransmission_ratio") > 0.0);
    assert!(metric(&usual, "requests_completed") > 20.0);
    // The best answer is no faster than the path, the service and the reading allow; percentiles are within 1.6 %.
    let least = 3.0 * (packet(300) + packet(1000)) + 6e-3 + 5e-3 + 20_300.0 * 8e-6;
    assert!(metric(&usual, "response_time_p50") > least * 0.984);
    assert!(metric(&usual, "response_time_mean") > least);
}

/// Slow start (RFC 5681 section 3.1): ten segments go at once; each is acknowledged by itself and lets two more go, so that the other
/// twenty follow each other on the first link from the first ACK on.
#[test]
fn long_answers_take_the_rounds_of_slow_start() {
    for (segments, rounds) in [(1u32, 0.0), (10, 0.0), (30, 1.0)] {
        let bytes = format!("{{ kind = \"fixed\", bytes = \"{segments} kB\" }}");
        let result = run_traced(ALONE, &[("traffic.response", &bytes), ("duration", "90 ms")]);
        assert_eq!(metric(&result, "requests_completed"), 1.0);
        let last = if rounds > 0.0 { segments - 10 } else { segments };
        let round = 3.0 * packet(1000) + 3.0 * packet(0) + 6e-3;
        let answer = 3e-3 + f64::from(last + 2) * packet(1000) + rounds * round;
        assert_time(metric(&result, "response_time_mean"), 3.0 * packet(300) + 3e-3 + 5e-3 + answer);
    }
}

/// The cells of a frame follow each other, and a switch passes each on as soon as it is there: k cells take k + 2 times that of one
/// over three links. At 42.4 Mbit/s that is 10 us; a frame has 16 octets of AAL5 and LLC/SNAP.
#[test]
fn in_cells_a_frame_is_as_long_as_its_cells() {
    let cells = |payload: u32| f64::from((payload + 40 + 16).div_ceil(48) + 2) * 10e-6;
    let result = run_traced(ALONE, &[("link.framing", "cells"), ("link.rate", "42.4 Mbit/s")]);
    assert_time(metric(&result, "response_time_mean"), cells(300) + cells(700) + 6e-3 + 5e-3);
}

/// RFC 5681 section 4.1: after an idle period longer than the timeout the window is the initial one again. RFC 9438 section 5.8: it
/// does not grow while the application, not the window, limits what is sent.
#[test]
fn thinking_times_neither_open_the_window_nor_keep_it_open() {
    let cwnd = |result: &RunResult| {
        let series = result.series.iter().find(|series| series.metric == "cwnd").unwrap();
        series.values.iter().fold(0.0, |most: f64, &value| most.max(value))
    };
    // Two segments of ten that the window allows, a hundred times.
    for stack in ["newreno", "cubic", "linux"] {
        let short = [("traffic.response", "{ kind = \"fixed\", bytes = \"2 kB\" }"), ("tcp.stack", stack)];
        assert_eq!(cwnd(&run_traced(ALONE, &short)), 10_000.0, "{stack}");
    }
    let long = ("traffic.response", "{ kind = \"fixed\", bytes = \"60 kB\" }");
    // Two seconds are more than the timeout, which is a second at least.
    let idle = ("traffic.think", "2 s");
    let restarted = run_traced(ALONE, &[long, idle]);
    assert_eq!(metric(&restarted, "response_time_max"), metric(&restarted, "response_time_mean"));
    let kept = run_traced(ALONE, &[long, idle, ("tcp.idle-restart", "false")]);
    // The first answer takes the rounds of slow start; the window has opened for the others.
    assert_eq!(metric(&kept, "response_time_max"), metric(&restarted, "response_time_max"));
    let round = 3.0 * packet(1000) + 3.0 * packet(0) + 6e-3;
    let first_round = 3.0 * (packet(300) + packet(1000)) + 6e-3 + 5e-3;
    let usual = numbers(&kept.flows, "response_time_p50")[0];
    assert!(usual < metric(&restarted, "response_time_mean") - round, "{usual} s");
    assert!(metric(&kept, "response_time_max") > first_round + 1.5 * round);
}

/// The interactive response time law, N = X (R + Z) (P. J. Denning and J. P. Buzen, "The operational analysis of queueing network
/// models", 1978): each client is in one cycle of response and thinking at any time.
#[test]
fn requests_come_at_the_rate_of_the_response_time_law() {
    let overrides = [
        ("topology.sources", "8"),
        ("duration", "400 s"),
        ("link.rate", "1 Mbit/s"),
        ("traffic.request", "{ kind = \"exponential\", mean = \"400 B\" }"),
        ("traffic.response", "{ kind = \"pareto\", shape = 1.3, minimum = \"200 B\", maximum = \"40 kB\" }"),
        ("traffic.service", "20 ms"),
        ("traffic.service-distribution", "exponential"),
        ("traffic.think-distribution", "exponential"),
        ("traffic.think", "300 ms"),
    ];
    let result = run_traced(ALONE, &overrides);
    let (rate, time) = (metric(&result, "request_rate"), metric(&result, "response_time_mean"));
    // Some 4000 pauses of 300 ms: their mean has a standard deviation of 1.6 %.
    assert!((rate * (time + 0.3) / 8.0 - 1.0).abs() < 0.05, "{rate} 1/s, {time} s");
    assert!(metric(&result, "response_time_p99") > 2.0 * metric(&result, "response_time_p50"));
}

/// What is lost on a link in either direction, and a shared VC with a greedy flow on it, cost time alone: whatever the stack, and in
/// cells as in packets, the requests go on, either service gives the same run, and so does any order of visits.
#[test]
fn losses_and_sharing_cost_time_alone_with_every_stack() {
    let flows = r#"
[[flow]]
name = "1"
circuit = "shared"
[[flow]]
name = "beside"
from = "src1"
to = "dest1"
circuit = "shared"
traffic = { kind = "greedy" }
[[flow]]
name = "also"
from = "src1"
to = "dest1"
circuit = "shared"
"#;
    let text = format!("{ALONE}{flows}");
    for framing in ["packets", "cells"] {
        for stack in Stack::ALL {
            let stack = serde_json::to_string(stack).unwrap();
            let overrides = [
                ("duration", "12 s"),
                ("link.framing", framing),
                ("tcp", &format!("{{ stack = {stack}, rto-min = \"50 ms\", rto-initial = \"100 ms\" }}")),
                ("link.loss", if framing == "cells" { "0.0005" } else { "0.005" }),
                ("link.rate", "10 Mbit/s"),
                ("switch.buffer", if framing == "cells" { "400 cells" } else { "40 packets" }),
                ("traffic.response", "{ kind = \"exponential\", mean = \"5 kB\" }"),
            ];
            let scenario = load(&text, &overrides);
            let result = |store_queues: bool| {
                run_as(&scenario, Options { store_queues, ..Options::default() }, |network| {
                    if store_queues {
                        network.set_schedule(shuffled(3, 20 * MILLISECOND));
                    }
                })
            };
            let usual = result(false);
            assert_eq!(format!("{usual:?}"), format!("{:?}", result(true)), "{stack} {framing}");
            let done = usual.flows.counts("requests_completed");
            assert!(done[0] > 8 && done[2] > 8 && done[1] == 0, "{stack} {framing}: {done:?}");
            assert!(metric(&usual, "retransmission_ratio") > 0.0);
        }
    }
}

/// Each client that waits for an answer when the run ends has one unfinished request, and one that thinks has none. The first answer of
/// [`ALONE`] takes 11.26 ms, and a client asks again 100 ms later.
#[test]
fn requests_without_a_whole_answer_are_unfinished() {
    let time = 3.0 * (packet(300) + packet(700)) + 6e-3 + 5e-3;
    for (duration, completed, unfinished, age) in
        [("10 ms", 0, 1, 10e-3), ("50 ms", 1, 0, 0.0), ("115 ms", 1, 1, 15e-3 - time), ("200 ms", 2, 0, 0.0)]
    {
        let result = run_traced(ALONE, &[("duration", duration)]);
        let found =
            ["requests_completed", "requests_unfinished"].map(|column| result.flows.counts(column)[0]);
        assert_eq!(found, [completed, unfinished], "{duration}");
        assert_eq!(metric(&result, "requests_unfinished"), unfinished as f64);
        assert_time(metric(&result, "request_age_max"), age);
    }
    // An answer that has arrived and is not read yet is unfinished: it has come after 11.26 + 2.4 ms, and its reading takes 5.6 ms.
    for (duration, unfinished, age) in [("19.2 ms", 1, 19.2e-3), ("19.3 ms", 0, 0.0)] {
        let result = run_traced(ALONE, &[("tcp.read-rate", "1 Mbit/s"), ("duration", duration)]);
        assert_eq!(result.flows.counts("requests_unfinished"), [unfinished], "{duration}");
        assert_time(metric(&result, "request_age_max"), age);
    }
    // Of several clients, the one that has waited for longest.
    let starts = "[{ name = \"2\", start = \"3 ms\" }, { name = \"3\", start = \"9 ms\" }]";
    let several =
        [("topology.sources", "3"), ("duration", "10 ms"), ("flow", starts), ("traffic.start", "1 ms")];
    let result = run_traced(ALONE, &several);
    assert_eq!(metric(&result, "requests_unfinished"), 3.0);
    assert_time(metric(&result, "request_age_max"), 9e-3);
    // Wherever the request was written: the path is dark from 10 ms on, before the answer is there.
    let dark =
        [("link.dark", "{ from = \"8 ms\", length = \"10 s\" }"), ("duration", "2 s"), ("warm-up", "1 s")];
    let result = run_traced(ALONE, &dark);
    assert_eq!((metric(&result, "requests_completed"), metric(&result, "requests_unfinished")), (0.0, 1.0));
    assert_time(metric(&result, "request_age_max"), 2.0);
    // A client that begins later has none, and one that has stopped may have.
    let late = run_traced(ALONE, &[("duration", "50 ms"), ("traffic.start", "60 ms")]);
    assert_eq!(metric(&late, "requests_unfinished"), 0.0);
    let stopped =
        run_traced(ALONE, &[("duration", "10 ms"), ("flow", "[{ name = \"1\", stop = \"5 ms\" }]")]);
    assert_eq!(metric(&stopped, "requests_unfinished"), 1.0);
}

/// A client begins no request from the stop of its flow on; the one under way is answered.
#[test]
fn a_client_that_stops_reads_the_answer_to_its_last_request() {
    let result = run_traced(ALONE, &[("flow", "[{ name = \"1\", stop = \"150 ms\" }]")]);
    assert_eq!(metric(&result, "requests_completed"), 2.0);
}

#[test]
fn what_cannot_be_is_told_by_its_key() {
    for (key, value, expected) in [
        ("traffic.request.bytes", "0 B", "traffic.request.bytes: expected 1 B"),
        (
            "traffic.response",
            "{ kind = \"measured\", points = [] }",
            "traffic.response.points: expected 1 to",
        ),
        ("traffic.think", "1e9 s", "traffic.think"),
        ("traffic.service-distribution", "uniform", "traffic.service-distribution"),
    ] {
        let error = read(ALONE, &[(key, value)]).unwrap_err();
        assert!(error.contains(expected), "{key}: {error}");
    }
}
