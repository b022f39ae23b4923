//! Transfer delays of frames, and how long buffers hold how much: against closed forms and against other measures.

use celltrain_network::{Options, RunResult};

use crate::common::{load, metric, names, numbers, replicate, run_plain, run_traced, texts, value};

/// Constant cells, one at a time, over links of 10 Mbit/s (42.4 us a cell) and 1 ms.
const CELLS: &str = r#"
schema = 1
name = "constant cells"
duration = "2 s"
warm-up = "100 ms"
topology = { kind = "n-source", sources = 1 }
traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 1 }
link = { rate = "10 Mbit/s", delay = "1 ms" }
measures = { delays = "all", distributions = true }
"#;

/// TCP, CBR and bursts of cells on one trunk.
const MIXED: &str = r#"
schema = 1
name = "mixed"
duration = "2 s"
warm-up = "300 ms"
topology = { kind = "n-source", sources = 4 }
link = { rate = "20 Mbit/s", delay = "1 ms" }
switch.buffer = "200 cells"
tcp = { stack = "newreno", mss = "1000 B" }
measures = { delays = "all", distributions = true }
[[flow]]
name = "3"
traffic = { kind = "on-off", peak = "15 Mbit/s", on = "20 ms", off = "50 ms", frame = 5 }
vc = { category = "vbr" }
[[flow]]
name = "4"
traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 1 }
vc = { category = "cbr" }
"#;

/// Without what the scenario asks for beyond what is always measured.
const PLAIN: [(&str, &str); 2] = [("measures.delays", "tcp"), ("measures.distributions", "false")];

fn run(text: &str, overrides: &[(&str, &str)], store_queues: bool) -> RunResult {
    replicate(&load(text, overrides), 0, Options { store_queues, ..Options::default() })
}

/// The rows of one distribution as (low, high, weight, share above).
fn rows(result: &RunResult, over: &str, entity: &str) -> Vec<(u64, u64, u64, f64)> {
    let table = &result.distributions;
    let (low, high, weight) = (table.counts("low"), table.counts("high"), table.counts("weight"));
    (0..low.len())
        .filter(|&row| texts(table, "over")[row] == over && texts(table, "entity")[row] == entity)
        .map(|row| (low[row], high[row], weight[row], numbers(table, "share_above")[row]))
        .collect()
}

/// ITU-T I.356: the transfer delay is the time from the entry of the first bit to the exit of the last one. Nothing queues: it is a cell
/// time and 1 ms per link, of which there are three.
#[test]
fn a_cell_that_never_waits_takes_the_time_of_its_links() {
    let result = run(CELLS, &[], false);
    let expected = 3.0 * (42.4e-6 + 1e-3);
    for measure in ["mean", "p50", "p95", "p99", "max"] {
        let delay = numbers(&result.flows, &format!("transfer_delay_{measure}"))[0];
        assert!((delay - expected).abs() < 1e-12, "{measure}: {delay}");
        assert_eq!(metric(&result, &format!("transfer_delay_{measure}")), delay);
    }
    assert!(numbers(&result.flows, "delay_variation")[0].abs() < 1e-12);
    assert_eq!(numbers(&result.flows, "cell_loss_ratio"), [0.0]);
    // The trunk holds a cell for a tenth of the time.
    let trunk = rows(&result, "port", "switch1 > switch2");
    assert_eq!(trunk.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
    assert!((trunk[0].3 - 0.1).abs() < 1e-4, "{trunk:?}");
}

/// Cells take 1 us and 10 us on each of three links. Three at once, of which the second and the third wait for 1 us and 2 us, then none for
/// a sample period and more, then one. The begin of the measured time parts no period.
#[test]
fn delays_over_time_are_those_of_the_frames_that_arrive_in_each_period() {
    let text = r#"
        schema = 1
        name = "three and one"
        duration = "3 ms"
        sample = "1 ms"
        topology = { kind = "n-source", sources = 1 }
        traffic = { kind = "trace", times = ["100 us", "100 us", "100 us", "2500 us"] }
        link = { rate = "424 Mbit/s", delay = "10 us" }
        measures.delays = "all"
    "#;
    for (warm_up, longest) in [("0 s", 35e-6), ("134500 ns", 35e-6), ("500 us", 33e-6)] {
        let result = run_traced(text, &[("warm-up", warm_up)]);
        let found = |metric: &str| {
            let series = result.series.iter().find(|series| series.metric == metric).expect(metric);
            assert_eq!((series.entity.as_str(), series.unit), ("1", "s"));
            let points = std::iter::zip(&series.times, &series.values);
            points.map(|(time, value)| (*time, (value * 1e9).round() as u64)).collect::<Vec<_>>()
        };
        assert_eq!(found("sampled_delay_mean"), [(1e-3, 34_000), (3e-3, 33_000)], "{warm_up}");
        assert_eq!(found("sampled_delay_max"), [(1e-3, 35_000), (3e-3, 33_000)], "{warm_up}");
        let of_flow = numbers(&result.flows, "transfer_delay_max")[0];
        assert!((of_flow - longest).abs() < 1e-12, "{of_flow}");
    }
    let untraced = run_plain(text, &[]);
    assert_eq!(untraced.fingerprint, run_traced(text, &[]).fingerprint);
    assert!(untraced.series.is_empty());
    let unmeasured = run_traced(text, &[("measures.delays", "tcp")]);
    assert!(unmeasured.series.iter().all(|series| !series.metric.starts_with("sampled_delay")));
}

/// The longest delay of a flow is the longest of its samples, with TCP and without it.
#[test]
fn the_longest_sample_of_the_delay_is_the_longest_delay() {
    let result = run_traced(MIXED, &[]);
    let of_flows = numbers(&result.flows, "transfer_delay_max");
    for (flow, &longest) in std::iter::zip(names(&result.flows), of_flows) {
        let of = |metric: &str| {
            let found = result.series.iter().find(|series| series.entity == *flow && series.metric == metric);
            found.expect(flow)
        };
        let (series, means) = (of("sampled_delay_max"), of("sampled_delay_mean"));
        assert_eq!(series.times, means.times);
        let points = std::iter::zip(&series.times, std::iter::zip(&series.values, &means.values));
        let late: Vec<_> = points.filter(|(time, _)| **time > 0.3).map(|(_, values)| values).collect();
        assert!(late.iter().all(|(most, mean)| mean <= most), "flow {flow}");
        assert_eq!(late.iter().map(|(most, _)| **most).fold(0.0, f64::max), longest, "flow {flow}");
    }
}

/// `delay_mean` is defined as occupancy_mean x T / cells accepted, and the percentiles are of the frames that left: where none did, there is
/// no delay, not one of zero, nor one of what an earlier cell waits.
#[test]
fn a_port_that_accepts_nothing_in_the_measured_time_has_no_delay() {
    let of = |warm_up: &str| {
        let text = format!(
            r#"
schema = 1
name = "one cell, and then none"
duration = "100 ms"
warm-up = "{warm_up}"
topology = {{ kind = "n-source", sources = 1 }}
link = {{ rate = "10 Mbit/s", delay = "0 s", trunk.rate = "10 kbit/s" }}
traffic = {{ kind = "trace", times = ["0 s"] }}
"#
        );
        let result = run_plain(&text, &[]);
        let of_port = ["delay_mean", "delay_p50", "delay_p95", "delay_p99"]
            .map(|measure| value(&result.ports, "switch1 > switch2", measure));
        let of_run = ["delay_mean", "delay_p95", "delay_p99"].map(|measure| metric(&result, measure));
        (value(&result.ports, "switch1 > switch2", "occupancy_mean"), of_port, of_run)
    };
    // The cell takes 42.4 ms on the trunk. It is there at 20 ms, and gone at 50 ms.
    let (occupancy, of_port, of_run) = of("20 ms");
    assert!(occupancy > 0.0 && of_port[0].is_nan() && of_run[0].is_nan(), "{of_port:?} {of_run:?}");
    assert!(of_port[1] > 0.0, "its frame left");
    let (occupancy, of_port, of_run) = of("50 ms");
    assert_eq!(occupancy, 0.0);
    assert!(of_port.iter().chain(&of_run).all(|delay| delay.is_nan()), "{of_port:?} {of_run:?}");
}

#[test]
fn flows_without_tcp_are_left_out_unless_all_are_asked_for() {
    let result = run(MIXED, &PLAIN, false);
    let delays = numbers(&result.flows, "transfer_delay_mean");
    assert_eq!(delays.iter().map(|delay| delay.is_nan()).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(metric(&result, "transfer_delay_mean_tcp") > 0.0);
    let mut others = result.summary.iter().filter(|metric| metric.name == "transfer_delay_mean_other");
    assert!(others.all(|metric| metric.value.is_nan()));
    assert!(result.distributions.counts("low").is_empty());
    let none = run(MIXED, &[("measures.delays", "none")], false);
    assert!(numbers(&none.flows, "transfer_delay_mean").iter().all(|delay| delay.is_nan()));
    assert_eq!(none.fingerprint, result.fingerprint);
}

/// The round trip is the "delay of all links there and back": of three links of 1 ms each way. Nothing of flows without TCP comes back.
#[test]
fn a_flow_of_which_nothing_comes_back_has_no_round_trip() {
    let result = run(MIXED, &PLAIN, false);
    let trips = numbers(&result.flows, "round_trip");
    assert_eq!(&trips[..2], [6e-3, 6e-3]);
    assert!(trips[2].is_nan() && trips[3].is_nan(), "{trips:?}");
}

#[test]
fn measuring_changes_nothing_else_and_kinds_are_the_sum_of_their_flows() {
    let (result, plain) = (run(MIXED, &[], false), run(MIXED, &PLAIN, false));
    assert_eq!(result.fingerprint, plain.fingerprint);
    let weight =
        |over: &str, entity: &str| -> u64 { rows(&result, over, entity).iter().map(|row| row.2).sum() };
    let flows = ["1", "2", "3", "4"].map(|flow| weight("flow", flow));
    assert!(flows.iter().all(|&frames| frames > 50), "{flows:?}");
    assert_eq!(weight("kind", "tcp"), flows[0] + flows[1]);
    assert_eq!(weight("category", "vbr"), flows[2]);
    assert_eq!((weight("category", "cbr"), weight("category", "ubr")), (flows[3], flows[0] + flows[1]));
    assert_eq!(weight("run", "all"), flows.iter().sum::<u64>());
    assert_eq!(metric(&result, "transfer_delay_p99_cbr"), numbers(&result.flows, "transfer_delay_p99")[3]);
    assert_eq!(metric(&result, "cell_loss_ratio_vbr"), numbers(&result.flows, "cell_loss_ratio")[2]);
    assert_eq!(weight("port", "switch1 > switch2"), 1_700_000_000_000);
}

/// Hosts take cells of which nobody wants more than their number in a loop of their own. Two flows enter one host, of which one has frames of two
/// cells, and that host sends cells itself.
#[test]
fn cells_that_are_not_measured_are_counted_as_those_that_are() {
    const MEETING: &str = r#"
schema = 1
name = "cells of several flows in one host"
duration = "50 ms"
warm-up = "5 ms"
measures = { delays = "all" }
[topology]
kind = "graph"
node = [
  { name = "s", kind = "switch" },
  { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
]
link = [{ from = "a", to = "s" }, { from = "b", to = "s" }, { from = "s", to = "c" }]
[link]
rate = "10 Mbit/s"
delay = "100 us"
[traffic]
kind = "poisson"
rate = "1 Mbit/s"
frame = 1
[[flow]]
name = "1"
from = "a"
to = "c"
[[flow]]
name = "2"
from = "b"
to = "c"
traffic = { kind = "on-off", peak = "3 Mbit/s", on = "1 ms", off = "2 ms", frame = 2 }
[[flow]]
name = "3"
from = "c"
to = "a"
[[flow]]
name = "4"
from = "c"
to = "b"
stop = "30 ms"
traffic = { kind = "poisson", rate = "2 Mbit/s", frame = 5 }
"#;
    let both = ["all", "none"].map(|delays| run(MEETING, &[("measures.delays", delays)], false));
    assert_eq!(both[0].fingerprint, both[1].fingerprint);
    let [measured, counted] = both.each_ref().map(|result| numbers(&result.flows, "throughput"));
    assert!(measured.iter().all(|&rate| rate > 0.0), "{measured:?}");
    assert_eq!(measured, counted);
}

/// The mean of the distribution is the mean occupancy, which is measured by other means; both services see the same.
#[test]
fn the_mean_of_the_distribution_is_the_mean_occupancy() {
    let packets = ("link", "{ rate = \"20 Mbit/s\", delay = \"1 ms\", framing = \"packets\" }");
    let tcp_alone = ("flow", "[]");
    let cells = [("switch.buffer", "120 cells")];
    let of_packets = [packets, tcp_alone, ("switch.buffer", "40 packets")];
    for overrides in [&cells[..], &of_packets] {
        let results = [false, true].map(|store| run(MIXED, overrides, store));
        assert_eq!(results[0].distributions, results[1].distributions);
        for (port, name) in texts(&results[0].ports, "port").iter().enumerate() {
            let rows = rows(&results[0], "port", name);
            if rows.is_empty() {
                assert_eq!(results[0].ports.counts("switch")[port], 0, "{name}");
                continue;
            }
            let mean: f64 = rows.iter().map(|row| row.0 as f64 * row.2 as f64).sum::<f64>() / 1.7e12;
            let measured = numbers(&results[0].ports, "occupancy_mean")[port];
            assert!((mean - measured).abs() < 1e-6, "{name}: {mean} {measured}");
            let total: u64 = rows.iter().map(|row| row.2).sum();
            // Each bin's time is cut to the picosecond.
            assert!(total.abs_diff(1_700_000_000_000) < 200, "{name}: {total}");
        }
    }
}

/// Two constant sources of almost equal rates share a trunk, and the one drifts along the other: a cell that comes while a cell of the
/// other is served waits for the rest of its 42.4 us. A tenth of all cells wait, and their waits are evenly distributed: P(W > w) =
/// 0.1 (1 - w / 42.4 us) is 0.01 at 38.16 us. The path is 60 ms long.
#[test]
fn variation_is_that_of_the_queue_on_a_long_path() {
    let overrides = [
        ("topology.sources", "2"),
        ("duration", "30 s"),
        ("link.delay", "20 ms"),
        ("flow", "[{ name = \"2\", traffic = { kind = \"cbr\", rate = \"1.0007 Mbit/s\", frame = 1 } }]"),
    ];
    let result = run(CELLS, &overrides, false);
    for flow in 0..2 {
        let variation = numbers(&result.flows, "delay_variation")[flow];
        assert!((variation / 38.16e-6 - 1.0).abs() < 0.02, "flow {flow}: {variation} s");
    }
    let variation = metric(&result, "delay_variation");
    assert!((variation / 38.16e-6 - 1.0).abs() < 0.02, "both: {variation} s");
}

/// RFC 5481 section 4.2 takes the shortest delay of the path for the one without queues: paths of unlike length, on which nothing
/// waits, have no variation, each alone or both together.
#[test]
fn paths_of_unlike_length_are_no_variation() {
    let overrides = [
        ("topology.sources", "2"),
        ("link.access.delay", "1 ms .. 20 ms"),
        ("flow", "[{ name = \"2\", start = \"200 us\" }]"),
    ];
    let result = run(CELLS, &overrides, false);
    let delays = numbers(&result.flows, "transfer_delay_max");
    assert!((delays[1] - delays[0] - 19e-3).abs() < 1e-12, "{delays:?}");
    assert!((metric(&result, "transfer_delay_max") - delays[1]).abs() < 1e-12);
    assert!(metric(&result, "delay_variation").abs() < 1e-12, "{}", metric(&result, "delay_variation"));
}

/// A port that no flow crosses has no measures: naming it as the bottleneck is refused.
#[test]
fn a_bottleneck_is_crossed_by_a_flow() {
    let text = CELLS.replace("sources = 1", "sources = 2");
    let idle = text.replace("distributions = true", "distributions = true, bottleneck = \"switch2 > dest2\"");
    assert!(load(&idle, &[]).graph().is_ok());
    let away = idle + "[[flow]]\nname = \"2\"\nto = \"dest1\"\n";
    let error = load(&away, &[]).graph().unwrap_err().to_string();
    assert!(error.contains("measures.bottleneck") && error.contains("no flow crosses the port"), "{error}");
    assert!(error.contains("switch1 > switch2"), "{error}");
}

/// What happens before the window is no part of any measure: a busy first half, with queues and losses, leaves no trace in a window in
/// which a cell comes now and then. RFC 7928 section 5 and every text on simulation: the transient is removed.
#[test]
fn nothing_of_the_warm_up_is_in_the_measures() {
    const BUSY_THEN_QUIET: &str = r#"
schema = 1
name = "busy, then quiet"
duration = "1 s"
warm-up = "500 ms"
topology = { kind = "n-source", sources = 3 }
link = { rate = "10 Mbit/s", delay = "1 ms" }
switch.buffer = "50 cells"
measures = { delays = "all", distributions = true }
[[flow]]
name = "1"
traffic = { kind = "cbr", rate = "8 Mbit/s", frame = 5 }
stop = "400 ms"
[[flow]]
name = "2"
traffic = { kind = "cbr", rate = "7 Mbit/s", frame = 3 }
stop = "400 ms"
[[flow]]
name = "3"
traffic = { kind = "cbr", rate = "100 kbit/s", frame = 1 }
"#;
    for store_queues in [false, true] {
        let busy = run(BUSY_THEN_QUIET, &[("warm-up", "0 s")], store_queues);
        let quiet = run(BUSY_THEN_QUIET, &[], store_queues);
        let trunk = |result: &RunResult, name: &str| value(&result.ports, "switch1 > switch2", name);
        assert!(trunk(&busy, "delay_p99") > 40.0 * 42.4e-6 && trunk(&busy, "occupancy_max") >= 49.0);
        for quantile in ["delay_p50", "delay_p95", "delay_p99"] {
            let delay = trunk(&quiet, quantile);
            assert!((delay / 42.4e-6 - 1.0).abs() < 0.016, "{quantile}: {delay}");
        }
        assert_eq!(trunk(&quiet, "occupancy_max"), 1.0);
        let lost = |result: &RunResult| numbers(&result.flows, "cell_loss_ratio")[0];
        assert!(lost(&busy) > 0.1);
        // Nothing of this flow is sent or arrives in the window.
        assert!(lost(&quiet).is_nan() || lost(&quiet) == 0.0);
        let longest = numbers(&quiet.flows, "transfer_delay_max")[2];
        assert!((longest - 3.0 * (42.4e-6 + 1e-3)).abs() < 1e-12, "{longest}");
        assert!(rows(&quiet, "port", "switch1 > switch2").iter().all(|row| row.1 <= 1));
    }
}
