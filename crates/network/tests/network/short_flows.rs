//! Flows that come one after the other: arrivals, sizes, completion times.

use celltrain_engine::time::MILLISECOND;
use celltrain_network::Options;

use crate::common::{error, load, metric, numbers, run_as, run_plain, shuffled, texts};

/// Flows of 50 kB on average over a line of 10 Mbit/s. Each has a window of two packets and next to no round trip, so that flows which
/// are under way together wait with two packets each in the queue: it serves them in turn.
const SHARED: &str = r#"
schema = 1
name = "shared line"
duration = "1200 s"
warm-up = "10 s"
topology.kind = "n-source"
topology.sources = 2
link = { rate = "1 Gbit/s", delay = "1 us", framing = "packets", trunk = { rate = "10 Mbit/s" } }
switch.buffer = "unlimited"
tcp = { stack = "newreno", mss = "1000 B", receive-window = "2000 B", initial-window = 2, delayed-ack = "0 s" }
[traffic]
kind = "short-flows"
load = 0.25
size = { kind = "exponential", mean = "50 kB" }
"#;

/// The processor-sharing queue M/G/1: a flow takes 1/(1 - load) times as long as alone, on average and whatever its size
/// (L. Kleinrock, "Queueing Systems", volume 2, 1976, section 4.4). The load is that of packets with their headers. Flows of a
/// packet or two, which the queue serves first come first served, take longer, so that the mean slowdown of all is above it.
#[test]
fn a_shared_line_is_a_queue_with_processor_sharing() {
    let result = run_plain(SHARED, &[]);
    let load = 0.5 * 1040.0 / 1000.0;
    let flows = metric(&result, "flows_completed");
    // 12.5 flows a second for 1190 s.
    assert!((flows - 14_875.0).abs() < 4.0 * 14_875f64.sqrt(), "{flows}");
    assert_eq!(metric(&result, "flows_turned_away"), 0.0);
    // The mean number of flows under way has a standard deviation of 3 % in such a run.
    let time = 50e3 * 1.04 * 8.0 / 1e7 / (1.0 - load);
    let mean = metric(&result, "fct_mean");
    assert!((mean / time - 1.0).abs() < 0.06, "{mean} s, expected {time} s");
    for class in ["small", "medium"] {
        let slowdown = metric(&result, &format!("slowdown_mean_{class}"));
        assert!((slowdown * (1.0 - load) - 1.0).abs() < 0.1, "{class}: {slowdown}");
    }
}

/// One flow after the other through an empty network: its packets follow each other on the slowest link.
#[test]
fn a_flow_alone_takes_the_time_of_an_empty_network() {
    let overrides = [
        ("traffic.load", "0.001"),
        ("traffic.arrivals", "regular"),
        ("traffic.size", "{ kind = \"fixed\", bytes = \"2000 B\" }"),
        ("topology.sources", "1"),
        ("duration", "100 s"),
        ("measures.distributions", "true"),
    ];
    let result = run_plain(SHARED, &overrides);
    // Two packets of 1040 bytes on the trunk, one on each of the other two links, and three delays.
    let time = 2.0 * 8320.0 / 1e7 + 2.0 * 8320.0 / 1e9 + 3e-6;
    assert!((metric(&result, "fct_mean") - time).abs() < 1e-11, "{}", metric(&result, "fct_mean"));
    assert!((metric(&result, "slowdown_mean") - 1.0).abs() < 1e-9);
    // Every 1.6 s, from 11.2 s to 99.2 s.
    assert_eq!(metric(&result, "flows_completed"), 56.0);
    let table = &result.distributions;
    let row =
        texts(table, "measure").into_iter().position(|measure| measure == "flow_completion_time").unwrap();
    let bin = table.counts("low")[row]..=table.counts("high")[row];
    assert!(bin.contains(&((time * 1e12).round() as u64)), "{bin:?}");
    assert_eq!((table.counts("weight")[row], numbers(table, "share_above")[row]), (56, 0.0));
    assert!(metric(&result, "slowdown_p99_small").is_nan() && !metric(&result, "slowdown_p99_tiny").is_nan());
}

#[test]
fn a_trace_is_what_arrives() {
    let trace = r#"[{ at = "20 s", bytes = "1500 B" }, { at = "20 s", bytes = "1 B" }, { at = "30 s", bytes = "2 MB" }]"#;
    let text = SHARED.split("[traffic]").next().unwrap();
    let text = format!("{text}[traffic]\nkind = \"short-flows\"\ntrace = {trace}\nstart = \"1 s\"\n");
    let result = run_plain(&text, &[("topology.sources", "1"), ("duration", "60 s")]);
    assert_eq!(metric(&result, "flows_completed"), 3.0);
    assert_eq!(result.flows.counts("bytes_delivered"), [2_001_501]);
    assert!(metric(&result, "slowdown_p50_large") >= 1.0);
}

/// A short packet behind a full one waits for it at every link: 1448 B and one byte more through six links of a fat tree.
#[test]
fn a_short_last_packet_waits_behind_full_ones() {
    let slowdown = |bytes: u64| {
        let text = format!(
            "schema = 1\nname = \"idle\"\nduration = \"5 ms\"\ntopology = {{ kind = \"fat-tree\", k = 4, pattern = \"none\" }}\n\
             link = {{ framing = \"packets\", rate = \"10 Gbit/s\", delay = \"1 us\" }}\nswitch.buffer = \"100 packets\"\n\
             tcp.stack = \"linux\"\n[[flow]]\nname = \"a\"\nfrom = \"host1\"\nto = \"host16\"\n\
             traffic = {{ kind = \"finite\", bytes = \"{bytes} B\" }}\n"
        );
        metric(&run_plain(&text, &[]), "slowdown_mean")
    };
    for bytes in [1, 1448, 1449, 2000, 2896, 2897, 10_000, 14_480] {
        let found = slowdown(bytes);
        assert!((found - 1.0).abs() < 1e-6, "{bytes} B: {found}");
    }
    // The eleventh segment waits for an ACK of the first ten.
    assert!(slowdown(14_481) > 1.01);
}

/// Two transfers that begin together over a line of 10 Mbit/s, and one that begins in the warm-up: the last byte of all is there when the line
/// has sent everything.
#[test]
fn a_finite_transfer_has_a_completion_time() {
    let text = SHARED.split("[traffic]").next().unwrap();
    let text = format!(
        r#"{text}
[[flow]]
name = "1"
traffic = {{ kind = "finite", bytes = "50 kB", start = "1 s" }}
[[flow]]
name = "2"
traffic = {{ kind = "finite", bytes = "100 kB", start = "11 s" }}
[[flow]]
name = "3"
traffic = {{ kind = "finite", bytes = "100 kB", start = "11 s" }}
[[flow]]
name = "4"
traffic = {{ kind = "finite", bytes = "1 MB", start = "19.9 s" }}
[[flow]]
name = "5"
traffic = {{ kind = "finite", bytes = "1 MB", start = "20 s" }}
"#
    );
    let result = run_plain(&text, &[("topology.sources", "5"), ("duration", "20 s")]);
    let counted = ["flows_completed", "flows_unfinished", "flows_turned_away"];
    // That which begins at the end of the run has not begun.
    assert_eq!(counted.map(|name| metric(&result, name)), [2.0, 1.0, 0.0]);
    let times = numbers(&result.flows, "completion_time");
    // A packet of 1040 bytes each 832 us; then two other links and three delays.
    let alone = |packets: f64| packets * 832e-6 + 2.0 * 8.32e-6 + 3e-6;
    assert!((times[0] - alone(50.0)).abs() < 1e-9, "{times:?}");
    let last = metric(&result, "fct_max");
    assert!((last - alone(200.0)).abs() < 1e-9 && times[1..3].contains(&last), "{last} {times:?}");
    assert!((metric(&result, "fct_mean") - (times[1] + times[2]) / 2.0).abs() < 1e-12);
    assert!(metric(&result, "slowdown_p99") > 1.9);
    assert!(times[3].is_nan() && times[4].is_nan());
}

#[test]
fn flows_beyond_the_most_that_may_be_under_way_are_turned_away() {
    let result =
        run_plain(SHARED, &[("traffic.load", "2"), ("traffic.most-active", "3"), ("duration", "30 s")]);
    let [done, away] = ["flows_completed", "flows_turned_away"].map(|name| metric(&result, name));
    assert!(done > 100.0 && away > done, "{done} done, {away} turned away");
    assert!(metric(&result, "flows_unfinished") <= 6.0);
}

#[test]
fn losses_and_any_schedule_of_visits_leave_every_flow_its_bytes() {
    let overrides = [
        ("duration", "30 s"),
        ("tcp.receive-window", "20 kB"),
        ("link.trunk.loss", "0.02"),
        ("tcp.stack", "linux"),
        ("link.trunk.reorder", "{ share = 0.02, delay = \"5 ms\" }"),
    ];
    let scenario = load(SHARED, &overrides);
    let result = |shuffle: bool| {
        run_as(&scenario, Options::default(), |network| {
            if shuffle {
                network.set_schedule(shuffled(3, 20 * MILLISECOND));
            }
        })
    };
    let usual = result(false);
    assert_eq!(format!("{usual:?}"), format!("{:?}", result(true)));
    assert!(metric(&usual, "flows_completed") > 200.0 && metric(&usual, "retransmission_ratio") > 0.01);
    assert!(metric(&usual, "flows_unfinished") < 20.0);
}

#[test]
fn impossible_short_flows_are_errors() {
    let cases = [
        ("traffic.load", "0", "traffic.load: expected a number above 0"),
        ("traffic.every", "1 s", "traffic.every: give `load` or `every`, not both"),
        ("traffic.most-active", "0", "traffic.most-active: expected 1 to 100000"),
        (
            "traffic.most-active",
            "100_000",
            "traffic.most-active: more than 200000 short flows may be under way at once",
        ),
        (
            "traffic.size",
            "{ kind = \"pareto\", shape = 1.2, minimum = \"10 kB\", maximum = \"1 kB\" }",
            "traffic.size.maximum",
        ),
        ("traffic.size.mean", "10 B", "traffic.load: about"),
        ("traffic.trace", "[{ at = \"1 s\", bytes = \"1 B\" }]", "traffic.size: a trace says"),
    ];
    // Pools of three flows together.
    let three = ("topology.sources", "3");
    for (key, value, expected) in cases {
        let found = error(SHARED, &[three, (key, value)]);
        assert!(found.contains(expected), "{key} = {value}: {found}");
    }
}

/// Queues on shared links are longer under a higher load, and the slowest transfers meet the longest of them: the slowdown, and that of
/// the slowest per cent above all, grows with the load, as in every load sweep of such a fabric.
#[test]
fn in_a_fat_tree_transfers_take_longer_under_load() {
    let text = r#"
schema = 1
name = "fat tree"
duration = "100 ms"
warm-up = "20 ms"
topology = { kind = "fat-tree", k = 4, pattern = "none" }
link = { rate = "1 Gbit/s", delay = "2 us", framing = "packets" }
switch.buffer = "100 packets"
tcp = { stack = "linux", rto-min = "5 ms", rto-variance-min = "1 ms" }
[[group]]
name = "web"
from = "*"
to = "*"
traffic = { kind = "short-flows", load = 0.01, size = { kind = "pareto", shape = 1.2, minimum = "4 kB", maximum = "1 MB" } }
"#;
    let at = |load: f64| {
        // Fifteen others share the link of each host.
        let result = run_plain(text, &[("group.0.traffic.load", &format!("{}", load / 15.0))]);
        ["slowdown_mean", "slowdown_p99", "flows_completed"].map(|name| metric(&result, name))
    };
    let [low, middle, high] = [at(0.1), at(0.4), at(0.7)];
    assert!(1.0 <= low[0] && low[0] < middle[0] && middle[0] < high[0], "{low:?} {middle:?} {high:?}");
    assert!(low[1] < middle[1] && middle[1] < high[1], "{low:?} {middle:?} {high:?}");
    assert!(high[2] > 5.0 * low[2], "{low:?} {middle:?} {high:?}");
}
