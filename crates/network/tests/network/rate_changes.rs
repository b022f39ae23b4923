//! Links that change their rate: an exact queue, TCP over a slower link for a time, and what is refused.

use celltrain_engine::{quantity::Duration, time::MILLISECOND, visit::Schedule};
use celltrain_network::{Options, RunResult};

use crate::common::{error, load, metric, run_as, run_traced, series, shuffled};

/// Cells at 8.48 Mbit/s, one every 50 us, over a trunk of 10.6 Mbit/s, on which a cell takes 40 us.
const CELLS: &str = r#"
schema = 1
name = "constant cells"
duration = "3 s"
sample = "1 ms"
topology.kind = "n-source"
topology.sources = 1
traffic = { kind = "cbr", rate = "8480 kbit/s" }
switch.buffer = "unlimited"
[link]
rate = "42400 kbit/s"
delay = "1 ms"
trunk = { rate = "10600 kbit/s" }
"#;

/// One connection over a trunk of 10 Mbit/s, of packets, 20 ms there and back.
const PACKETS: &str = r#"
schema = 1
name = "one connection"
duration = "30 s"
topology.kind = "n-source"
topology.sources = 1
switch.buffer = "40 packets"
[link]
rate = "100 Mbit/s"
delay = "1 ms"
framing = "packets"
trunk = { rate = "10 Mbit/s", delay = "8 ms" }
[tcp]
stack = "linux"
receive-window = "500 kB"
"#;

/// Half the rate for a while, from and until a time at which a cell is being sent.
const HALVED: &str =
    "[{ at = \"999999 us\", rate = \"5300 kbit/s\" }, { at = \"2000017 us\", rate = \"10600 kbit/s\" }]";

/// In nanoseconds: when cell number `n` reaches the trunk's port, and how long one takes that begins to be sent at a time.
fn arrival(n: u64) -> u64 {
    50_000 * n + 10_000 + 1_000_000
}

fn slot(start: u64) -> u64 {
    if (999_999_000..2_000_017_000).contains(&start) { 80_000 } else { 40_000 }
}

/// Every time in this network is a whole number of nanoseconds: the queue is a recurrence that a reader can check. A cell that is
/// being sent keeps its rate, and what begins later has the new one.
#[test]
fn the_queue_in_front_of_a_link_that_slows_down_is_exact() {
    let result = run_traced(CELLS, &[("link.trunk.rate-changes", HALVED)]);
    let (mut free, mut departures) = (0, Vec::new());
    for n in 0.. {
        let start = arrival(n).max(free);
        if start > 3_000_000_000 {
            break;
        }
        free = start + slot(start);
        departures.push(free);
    }
    let expected = |time: u64| {
        let arrived = (0..).take_while(|&n| arrival(n) < time).count();
        // Sources send in the middle of a picosecond, so that what leaves in the one of a sample is still there.
        let left = departures.partition_point(|&departure| departure < time);
        (arrived - left) as f64
    };
    let found = series(&result, "switch1 > switch2", "occupancy");
    let all: Vec<_> = (1..=found.len() as u64).map(|sample| expected(sample * 1_000_000)).collect();
    assert_eq!(found, all);
    // 3.18 Mbit/s too much for a second, and 2.12 Mbit/s to spare after it: 7500 cells, and 5000 a second less.
    let largest = all.iter().copied().fold(0.0, f64::max);
    assert!((largest - 7500.0).abs() < 3.0 && (all[2999] - 2500.0).abs() < 3.0, "{largest}, {}", all[2999]);
    let busy = series(&result, "switch1 > switch2", "utilisation");
    assert!(
        busy[1001..2999].iter().all(|&share| (share - 1.0).abs() < 1e-9),
        "a line that overflows is always busy"
    );
    assert!((busy[10..900].iter().sum::<f64>() / 890.0 - 0.8).abs() < 0.001);
}

/// What begins to be sent at the time of a change has the new rate, be it the first cell of a train, the last, or one between.
#[test]
fn a_cell_that_comes_at_a_change_is_sent_at_the_new_rate() {
    for n in 0..100u64 {
        // The interface sends a cell every 50 us without a pause.
        let arrival = 50_000 * (n + 1) + 1_000_000;
        let changes = format!("[{{ at = \"{arrival} ns\", rate = \"5300 kbit/s\" }}]");
        let [sample, end] = [arrival + 45_000, arrival + 49_000].map(|time| format!("{time} ns"));
        let pairs = [
            ("link.rate", "8480 kbit/s"),
            ("traffic.frame", "16"),
            ("link.trunk.rate-changes", &changes),
            ("sample", &sample),
            ("duration", &end),
        ];
        let result = run_traced(CELLS, &pairs);
        // It takes 80 us instead of 40 us.
        assert_eq!(series(&result, "switch1 > switch2", "occupancy"), [1.0], "cell {n}");
    }
}

/// The interface of a host follows its link: what leaves it is what its rate lets go.
#[test]
fn an_interface_sends_at_the_rate_of_the_moment() {
    let changes = "[{ at = \"1 s\", rate = \"5300 kbit/s\" }, { at = \"2 s\", rate = \"10600 kbit/s\" }]";
    let result = run_traced(CELLS, &[("link.access.rate-changes", changes)]);
    let busy = series(&result, "switch1 > switch2", "utilisation");
    let mean = |from: usize, to: usize| busy[from..to].iter().sum::<f64>() / (to - from) as f64;
    let found = [mean(10, 990), mean(1010, 1990), mean(2010, 2990)];
    for (found, expected) in std::iter::zip(found, [0.8, 0.5, 1.0]) {
        assert!((found - expected).abs() < 0.001, "{found} instead of {expected}");
    }
}

#[test]
fn a_connection_takes_what_the_link_has_at_the_moment() {
    let changes = "[{ at = \"10 s\", rate = \"5 Mbit/s\" }, { at = \"20 s\", rate = \"10 Mbit/s\" }]";
    let options = [("link.trunk.rate-changes", changes), ("warm-up", "2 s"), ("sample", "100 ms")];
    let result = run_traced(PACKETS, &options);
    let scenario = load(PACKETS, &options);
    let graph = scenario.graph().unwrap();
    let trunk = graph.links.iter().find(|link| link.changes_rate()).unwrap();
    let of = |seconds: u64| trunk.bits_until(Duration(seconds * 1000 * MILLISECOND));
    assert_eq!([of(5), of(10), of(15), of(30)], [50e6, 100e6, 125e6, 250e6]);
    // 1448 of 1500 bytes are payload.
    let capacity = (of(30) - of(2)) / 28.0 * 1448.0 / 1500.0;
    let goodput = metric(&result, "goodput");
    assert!(goodput < capacity * 1.001 && goodput > capacity * 0.97, "{goodput} of {capacity}");
    let utilisation = metric(&result, "utilisation");
    assert!(utilisation > 0.97 && utilisation <= 1.0, "{utilisation}");
    let delivered = series(&result, "1", "delivered");
    let rate = |from: usize, to: usize| (delivered[to] - delivered[from]) * 8.0 * 10.0 / (to - from) as f64;
    let shares = [rate(30, 99) / 10e6, rate(130, 199) / 5e6, rate(230, 298) / 10e6];
    assert!(shares.iter().all(|share| (0.93..0.97).contains(share)), "{shares:?}");
}

/// A change to the same rate changes nothing: the computed service and the stored one, with a schedule or without, are the same run.
/// At 7 Mbit/s neither a cell nor a byte takes a whole number of picoseconds, so that any rounding at a change would show.
#[test]
fn a_change_to_the_same_rate_changes_nothing() {
    let cells = [("link.framing", "cells"), ("switch.buffer", "300 cells")];
    let policies = ["tail-drop", "red", "pie"].map(|policy| [("switch.discard.policy", policy)]);
    let mut cases: Vec<_> = policies.iter().map(|policy| (PACKETS, policy.to_vec())).collect();
    cases.push((PACKETS, cells.to_vec()));
    cases.push((CELLS, vec![("traffic.rate", "6990 kbit/s")]));
    for (text, mut pairs) in cases {
        pairs.extend([("link.trunk.rate", "7 Mbit/s"), ("duration", "3 s")]);
        let plain = run_traced(text, &pairs);
        for place in ["link.trunk.rate-changes", "link.access.rate-changes"] {
            let rate = match (place, text) {
                ("link.trunk.rate-changes", _) => "7 Mbit/s",
                (_, CELLS) => "42400 kbit/s",
                _ => "100 Mbit/s",
            };
            let change = |at: &str| format!("{{ at = \"{at}\", rate = \"{rate}\" }}");
            let changes = format!("[{}, {}]", change("777777777 ns"), change("1500001 us"));
            let found = run_traced(text, &[&pairs[..], &[(place, &changes)]].concat());
            assert_eq!(found.fingerprint, plain.fingerprint, "{place} of {pairs:?}");
            assert_eq!(metric(&found, "utilisation").to_bits(), metric(&plain, "utilisation").to_bits());
        }
    }
}

#[test]
fn any_schedule_of_visits_gives_the_same_run() {
    let changes = "[{ at = \"300 ms\", rate = \"3 Mbit/s\" }, { at = \"700 ms\", rate = \"31 Mbit/s\" }]";
    let everywhere = [("link.rate-changes", changes), ("duration", "2 s")];
    let tcp_cells = [&everywhere[..], &[("link.framing", "cells"), ("switch.buffer", "300 cells")]].concat();
    for (text, pairs) in [(PACKETS, everywhere.to_vec()), (CELLS, everywhere.to_vec()), (PACKETS, tcp_cells)]
    {
        let scenario = load(text, &pairs);
        let fingerprint = |change: &dyn Fn(&mut Schedule)| {
            run_as(&scenario, Options::default(), |network| network.set_schedule(change)).fingerprint
        };
        let usual = fingerprint(&|_| {});
        for seed in 0..3 {
            assert_eq!(fingerprint(&shuffled(seed, 20 * MILLISECOND)), usual, "seed {seed}");
        }
    }
}

/// PIE keeps its target of queueing delay at either rate (RFC 8033 section 4.2 divides the queue by the rate of departures).
#[test]
fn pie_keeps_its_target_at_any_rate() {
    let changes = "[{ at = \"30 s\", rate = \"2 Mbit/s\" }]";
    let pie = [("switch.discard.policy", "pie"), ("switch.buffer", "500 packets"), ("sample", "10 ms")];
    let pairs = [&pie[..], &[("link.trunk.rate-changes", changes), ("duration", "90 s")]].concat();
    let result = run_traced(PACKETS, &pairs);
    let queue = series(&result, "switch1 > switch2", "occupancy");
    let mean = queue[4000..].iter().sum::<f64>() / queue[4000..].len() as f64;
    // Packets of 1500 bytes take 6 ms each at 2 Mbit/s. With the rate at the start PIE would let five times as many wait.
    let delay = mean * 0.006;
    assert!((0.005..0.030).contains(&delay), "{delay} s, target 15 ms");
}

#[test]
fn the_clock_of_a_link_is_off_by_as_much_at_all_its_rates() {
    let changes = ("link.trunk.rate-changes", "[{ at = \"1 s\", rate = \"5300 kbit/s\" }]");
    let exact = run_traced(CELLS, &[changes]);
    let off = run_traced(CELLS, &[changes, ("link.rate-spread", "1000 ppm")]);
    let largest = |result: &RunResult| series(result, "switch1 > switch2", "occupancy")[2999];
    // 15 000 cells too many in two seconds, give or take 0.1 % of what arrives and leaves.
    assert!(largest(&exact) != largest(&off) && (largest(&exact) - largest(&off)).abs() < 120.0);
}

/// What would change at the end of the run or later is no part of it, and a change at 0 s is the value at the start.
#[test]
fn only_what_is_in_force_in_the_run_counts() {
    let graph = |pairs: &[(&str, &str)]| {
        let mut graph = load(CELLS, pairs).graph().unwrap();
        // A delay that is to change late decides who draws the losses, as in a longer run.
        graph.links.iter_mut().for_each(|link| link.varies = false);
        graph
    };
    for (key, plain, first, late) in [
        (
            "rate",
            "2 Mbit/s",
            "[{ at = \"0 s\", rate = \"2 Mbit/s\" }]",
            "{ at = \"3 s\", rate = \"1 Mbit/s\" }",
        ),
        ("delay", "5 ms", "[{ at = \"0 s\", delay = \"5 ms\" }]", "{ at = \"3 s\", delay = \"1 us\" }"),
    ] {
        let (own, changes) = (format!("link.trunk.{key}"), format!("link.trunk.{key}-changes"));
        let expected = graph(&[(&own, plain)]);
        assert_eq!(graph(&[(&own, plain), (&changes, &format!("[{late}]"))]), expected, "{key}");
        assert_eq!(graph(&[(&changes, first)]), expected, "{key}");
        assert_eq!(graph(&[(&changes, &first.replace(']', &format!(", {late}]")))]), expected, "{key}");
        // Just before the end it is one.
        let last = late.replace("3 s", "2999 ms");
        assert_ne!(graph(&[(&own, plain), (&changes, &format!("[{last}]"))]), expected, "{key}");
        let unlike = format!("[{late}, {last}]");
        let told = error(CELLS, &[(&changes, &unlike)]);
        assert!(
            told.contains(&format!("link.trunk.{key}-changes.1.at: expected a time after 3 s")),
            "{told}"
        );
    }
}

/// An ABR source sends no faster than its first link is at its slowest in the run.
#[test]
fn a_slow_link_after_the_end_slows_no_source_down() {
    let text = "schema = 1\nname = \"late\"\nduration = \"500 ms\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
                vc.category = \"abr\"\nport = [{ from = \"switch1\", to = \"switch2\", allocator = { algorithm = \"erica\" } }]\n\
                traffic = { kind = \"cbr\", rate = \"149 Mbit/s\" }\n";
    let goodput = |pairs: &[(&str, &str)]| metric(&run_traced(text, pairs), "goodput");
    let late = goodput(&[("link.access.rate-changes", "[{ at = \"5 s\", rate = \"10 Mbit/s\" }]")]);
    assert_eq!(late, goodput(&[]));
    assert!(late > 100e6, "{late}");
}

/// A scenario, what is set in it, and a part of the message.
type Case<'a> = (&'a str, Vec<(&'a str, &'a str)>, &'a str);

#[test]
fn impossible_schedules_are_errors() {
    let halved = ("link.trunk.rate-changes", HALVED);
    let packets = ("link.trunk.rate-changes", "[{ at = \"2 s\", rate = \"1 Mbit/s\" }]");
    let equal = [
        packets,
        ("switch.discard.policy", "abs-push-out"),
        ("switch.discard.abs-push-out.sharing", "equal"),
    ];
    let abr = [halved, ("traffic", "{ kind = \"greedy\" }"), ("vc.category", "abr")];
    let fast = "[{ at = \"2 s\", rate = \"100 Tbit/s\" }]";
    let cases: [Case; 9] = [
        (
            PACKETS,
            vec![("link.trunk.rate-changes", fast), ("link.trunk.delay", "0 s"), ("switch.delay", "0 s")],
            "at 100 Tbit/s a byte takes less than a picosecond",
        ),
        (
            CELLS,
            vec![(
                "link.rate-changes",
                "[{ at = \"2 s\", rate = \"1 Mbit/s\" }, { at = \"2 s\", rate = \"2 Mbit/s\" }]",
            )],
            "link.rate-changes.1.at: expected a time after 2 s",
        ),
        (
            CELLS,
            vec![("link.exit.rate-changes", "[{ at = \"2 s\", rate = \"0 bit/s\" }]")],
            "link.exit.rate-changes.0.rate: expected 1 kbit/s",
        ),
        (CELLS, vec![("link.rate-changes", "[{ at = \"2 s\" }]")], "rate"),
        (
            CELLS,
            vec![("link.rate-changes", "[{ at = \"2 s\", rate = \"1 Mbit/s\", delay = \"1 s\" }]")],
            "delay",
        ),
        (
            PACKETS,
            vec![packets, ("switch.scheduler.discipline", "wfq")],
            "switch.scheduler.discipline: \"wfq\" computes",
        ),
        (PACKETS, equal.to_vec(), "switch.discard.abs-push-out.sharing: \"equal\" shares"),
        (
            CELLS,
            [&abr[..], &[("switch.allocator.algorithm", "erica")]].concat(),
            "switch.allocator: the link changes",
        ),
        (
            CELLS,
            vec![("link.access.rate-changes", HALVED), ("vc.policing", "discard-cells")],
            "vc.policing: the first link of flow \"1\" changes its rate",
        ),
    ];
    for (text, pairs, expected) in cases {
        let found = error(text, &pairs);
        assert!(found.contains(expected), "{pairs:?}: {found}");
    }
}
