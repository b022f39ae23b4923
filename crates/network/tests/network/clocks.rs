//! Clocks that are off by a little, and networks in which perfect ones decide who loses.

use celltrain_atm::buffer::PolicyName;
use celltrain_network::{Options, RunResult, scenario::Scenario};

use crate::common::{discarded, metric, names, read, replicate, value};

/// Three sources at the rate of their links, and of the trunk that all of them share: 100 cells a millisecond.
const EQUAL: &str = r#"
schema = 1
name = "equal clocks"
duration = "1 s"
topology = { kind = "n-source", sources = 3 }
link = { rate = "42.4 Mbit/s", delay = "10 us" }
switch.buffer = "50 cells"
traffic = { kind = "cbr", rate = "42.4 Mbit/s", start = "0 ms .. 1 ms" }
"#;

fn load(overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    read(EQUAL, overrides)
}

fn run(overrides: &[(&str, &str)], replication: u64) -> RunResult {
    replicate(&load(overrides).unwrap(), replication, Options::default())
}

fn counts(result: &RunResult, name: &str) -> Vec<f64> {
    names(&result.flows).iter().map(|flow| value(&result.flows, flow, name)).collect()
}

/// S. Floyd and V. Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992: with sources of equal period the order of
/// arrivals never changes, and whose packets find a place in a full buffer is decided once.
#[test]
fn by_perfect_clocks_one_source_has_all_and_by_real_ones_none_has() {
    let shares = |spread: &str, replication| {
        let delivered = counts(&run(&[("link.rate-spread", spread)], replication), "frames_delivered");
        let all: f64 = delivered.iter().sum();
        delivered.into_iter().map(move |frames| frames / all).collect::<Vec<_>>()
    };
    for replication in 0..3 {
        let most = shares("0 ppm", replication).into_iter().fold(0.0, f64::max);
        assert!(most > 0.99, "replication {replication}: {most}");
        let most = shares("100 ppm", replication).into_iter().fold(0.0, f64::max);
        assert!(most < 0.8, "replication {replication}: {most}");
    }
}

#[test]
fn rates_are_off_by_the_tolerance_at_the_most_and_anew_in_each_replication() {
    let alone = |spread: &str, replication| {
        let result = run(
            &[("topology.sources", "1"), ("traffic.start", "0 s"), ("link.rate-spread", spread)],
            replication,
        );
        counts(&result, "cells_sent")[0]
    };
    // A cell every 10 us for a second.
    assert_eq!(alone("0 ppm", 0), 100_000.0);
    let off: Vec<_> = (0..10).map(|replication| alone("1000 ppm", replication) - 100_000.0).collect();
    assert!(off.iter().all(|cells| cells.abs() <= 101.0), "{off:?}");
    let (low, high) =
        off.iter().fold((0.0f64, 0.0f64), |(low, high), &cells| (low.min(cells), high.max(cells)));
    assert!(low < -10.0 && high > 10.0, "{off:?}");
    let again = || run(&[("link.rate-spread", "20 ppm")], 1).fingerprint;
    assert_eq!(again(), again());
}

#[test]
fn check_says_where_phases_lock() {
    let notes = |overrides: &[(&str, &str)]| load(overrides).unwrap().notes().unwrap();
    let found = notes(&[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("3 sources of equal and constant rate overload \"switch1 > switch2\""),
        "{}",
        found[0]
    );
    let many = notes(&[("topology.sources", "1200")]);
    assert!(many[0].starts_with("1,200 sources of equal"), "{}", many[0]);
    let periodic = "{ kind = \"on-off\", peak = \"42.4 Mbit/s\", on = \"1 ms\", off = \"1 ms\", start = \"0 ms .. 1 ms\" }";
    assert_eq!(notes(&[("traffic", periodic)]).len(), 1);
    // An IP packet of 40 bytes fills two cells.
    let small = "{ kind = \"cbr\", rate = \"10 Mbit/s\", packet = \"40 B\", start = \"0 ms .. 1 ms\" }";
    assert_eq!(notes(&[("traffic", small)]).len(), 1);
    // By the number of the input the same one is always the last.
    let together = ("traffic.start", "0 ms");
    assert_eq!(notes(&[together, ("tie-break", "port-id")]).len(), 1);
    // Behind links of several rates what begins together does not arrive together.
    let slower = "[{ from = \"src1\", to = \"switch1\", link = { rate = \"100 Mbit/s\" } }]";
    assert_eq!(notes(&[together, ("link-override", slower)]).len(), 1);
    for calm in [
        ("vc.pcr", "14 Mbit/s"),
        ("link.access.rate", "14 Mbit/s"),
        ("switch.buffer", "unlimited"),
        ("vc.category", "abr"),
        together,
        ("link.rate-spread", "20 ppm"),
        ("traffic.rate", "14 Mbit/s"),
        ("traffic", "{ kind = \"poisson\", rate = \"42.4 Mbit/s\" }"),
        ("traffic", "{ kind = \"greedy\" }"),
        ("flow", "[{ name = \"2\", traffic = { kind = \"cbr\", rate = \"41 Mbit/s\" } }]"),
        ("topology.sources", "1"),
    ] {
        assert_eq!(notes(&[calm]), [""; 0], "{calm:?}");
    }
}

/// Where a source gets less than half of an equal part in each replication, and there alone, one may lose everything.
#[test]
fn phases_lock_where_the_policy_shares_nothing() {
    for policy in PolicyName::ALL {
        let given = [("switch.buffer", "100 cells"), ("switch.discard.policy", policy.name())];
        let least = |replication| {
            let delivered = counts(&run(&given, replication), "frames_delivered");
            let all: f64 = delivered.iter().sum();
            delivered.into_iter().fold(1.0, |least: f64, frames| least.min(3.0 * frames / all))
        };
        let is_told =
            load(&given).unwrap().notes().unwrap().iter().any(|note| note.contains("may lose everything"));
        for replication in 0..2 {
            assert_eq!(is_told, least(replication) < 0.5, "{}: {}", policy.name(), least(replication));
        }
    }
    // Thresholds that are given may be as those of another policy.
    let notes = |given: &[(&str, &str)]| load(given).unwrap().notes().unwrap();
    let late = [("switch.discard.policy", "epd-per-vc"), ("switch.discard.epd-per-vc.threshold", "100 %")];
    assert_eq!(notes(&late).len(), 1);
    // A limit for each VC helps where the buffer has space for all of them.
    assert_eq!(notes(&[("switch.vc-buffer", "16 cells")]), [""; 0]);
    assert_eq!(notes(&[("switch.vc-buffer", "40 cells")]).len(), 1);
    // Frames of several cells can lose one each.
    let frames = "{ kind = \"cbr\", rate = \"42.4 Mbit/s\", frame = 32, start = \"0 ms .. 1 ms\" }";
    assert_eq!(notes(&[("traffic", frames), ("switch.discard.policy", "fba")]).len(), 1);
}

#[test]
fn a_tolerance_has_a_unit_and_a_limit() {
    for (spread, expected) in [
        ("1001 ppm", "link.rate-spread: expected 0 ppm to 1000 ppm, found 1001 ppm"),
        ("20", "expected a tolerance of clocks"),
        ("2 %", "expected a tolerance of clocks"),
    ] {
        let error = load(&[("link.rate-spread", spread)]).expect_err(spread);
        assert!(error.contains(expected), "{error}");
    }
    // Just not above 8 Tbit/s, where a byte takes a picosecond.
    let edge = [
        ("link.rate", "8 Tbit/s"),
        ("link.delay", "0 s"),
        ("link.framing", "packets"),
        ("switch.buffer", "unlimited"),
        ("traffic", "{ kind = \"greedy\" }"),
    ];
    assert!(load(&edge).unwrap().graph().is_ok());
    let error = load(&[&edge[..], &[("link.rate-spread", "1 ppm")]].concat()).unwrap().graph().unwrap_err();
    assert!(error.to_string().contains("link.trunk.delay: at 8 Tbit/s"), "{error}");
}

/// A flow of one packet that meets no other takes what its cells take by the clocks of its links: a slowdown is never below 1 (Alizadeh and
/// others 2013: completion time over that in an empty network).
#[test]
fn the_time_in_an_empty_network_is_by_the_clocks_that_were_drawn() {
    let traffic = r#"{ kind = "short-flows", every = "20 ms", arrivals = "regular", size = { kind = "fixed", bytes = "1 kB" } }"#;
    for replication in 0..5 {
        let overrides = [("topology.sources", "1"), ("link.rate-spread", "1000 ppm"), ("traffic", traffic)];
        let result = run(&overrides, replication);
        let slowdown = metric(&result, "slowdown_mean");
        assert!((slowdown - 1.0).abs() < 1e-6, "replication {replication}: {slowdown}");
    }
}

/// Sources that fill a trunk exactly, all in one phase, and a buffer that holds one unit of each. The trunk has sent the last ones when the
/// next ones come, and departures come before arrivals of the same instant: nothing is lost (N*D/D/1).
fn filled_exactly(sources: u64, trunk: u64, settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let rate = format!("{} bit/s", trunk / sources);
    let given = [
        ("topology.sources", sources.to_string()),
        ("duration", "20 ms".to_owned()),
        ("link.rate", format!("{trunk} bit/s")),
        ("traffic.rate", rate),
        ("traffic.start", "0 s".to_owned()),
        ("switch.buffer", format!("{sources} cells")),
    ];
    let settings = settings.iter().map(|&(key, value)| (key, value.to_owned()));
    given.into_iter().chain(settings).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn lost(settings: &[(String, String)]) -> [f64; 2] {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let scenario = load(&settings).unwrap();
    [false, true].map(|store_queues| {
        let result = replicate(&scenario, 0, Options { store_queues, ..Options::default() });
        assert!(counts(&result, "frames_delivered").iter().all(|&frames| frames > 3.0));
        discarded(&result)
    })
}

#[test]
fn sources_that_fill_a_link_exactly_lose_nothing_at_any_rate() {
    let packets = [("link.framing", "packets"), ("traffic.packet", "1500 B")];
    for trunk in [155_520_000, 149_760_000, 622_080_000, 100_000_000, 45_000_000, 33_000_000] {
        for sources in 1..=6 {
            if trunk % sources > 0 {
                continue;
            }
            let slow = format!("{} bit/s", trunk / sources);
            for access in ["1 Gbit/s", &slow] {
                let mut settings = vec![("link.access.rate", access)];
                let cells = filled_exactly(sources, trunk, &settings);
                assert_eq!(lost(&cells), [0.0; 2], "{sources} sources of cells, {trunk}, {access}");
                let buffer = format!("{sources} packets");
                settings.extend(packets);
                settings.push(("switch.buffer", &buffer));
                let packets = filled_exactly(sources, trunk, &settings);
                assert_eq!(lost(&packets), [0.0; 2], "{sources} sources of packets, {trunk}, {access}");
            }
        }
    }
}

/// A share of the packets is held back, and the others go on as without it: a link that may hold packets back keeps their instants to the
/// last bit. Rounded to picoseconds, packets came before the departure that makes room for them.
#[test]
fn a_link_that_holds_packets_back_keeps_the_instants_at_which_they_arrive() {
    let packets =
        [("link.framing", "packets"), ("traffic.packet", "1500 B"), ("link.access.rate", "1 Gbit/s")];
    for trunk in [155_520_000, 149_760_000, 622_080_000, 33_000_000] {
        for sources in 2..=3 {
            let buffer = format!("{sources} packets");
            for share in ["0.0", "1.0"] {
                let reorder = format!("{{ share = {share}, delay = \"1 ms\" }}");
                let own = [("switch.buffer", buffer.as_str()), ("link.access.reorder", &reorder)];
                let settings = filled_exactly(sources, trunk, &[&packets[..], &own].concat());
                assert_eq!(lost(&settings), [0.0; 2], "{sources} sources, {trunk}, {share}");
            }
        }
    }
}

#[test]
fn shaped_sources_and_links_that_change_their_rate_are_in_step_too() {
    let half = "77760000 bit/s";
    let shaped = [("link.access.rate", "1 Gbit/s"), ("traffic.rate", "100 Mbit/s"), ("vc.pcr", half)];
    assert_eq!(lost(&filled_exactly(2, 155_520_000, &shaped)), [0.0; 2]);
    // Twice what is sent, and from half of the time on exactly that.
    let slower = "[{ at = \"10 ms\", rate = \"155520000 bit/s\" }]";
    let changed = [("link.rate", "311040000 bit/s"), ("link.trunk.rate-changes", slower)];
    assert_eq!(lost(&filled_exactly(2, 155_520_000, &changed)), [0.0; 2]);
}

/// Picoseconds that a nanosecond has where the network of [`in_units_of`] is measured: 1000, or as many as make its slots whole.
const USUAL: u64 = 1000;
const WHOLE: u64 = 972;

/// A network of SONET links and of TCP, all of whose times are in nanoseconds of so many picoseconds.
fn in_units_of(picoseconds: u64, settings: &[(&str, &str)]) -> Scenario {
    let rate = |number: u64, unit: &str| format!("{} {unit}", number * USUAL / picoseconds);
    let time = |nanoseconds: u64| format!("{} ps", nanoseconds * picoseconds);
    let own: Vec<_> = settings
        .iter()
        .map(|&(key, value)| match value.split_once(' ') {
            Some((number, "ns")) => (key, time(number.parse().unwrap())),
            Some((number, unit @ ("bit/s" | "packet/s"))) => (key, rate(number.parse().unwrap(), unit)),
            _ => (key, value.to_owned()),
        })
        .collect();
    let usual = [
        ("duration", time(300_000_000)),
        ("tie-break", "port-id".to_owned()),
        ("link.rate", rate(155_520_000, "bit/s")),
        ("traffic", "{ kind = \"greedy\" }".to_owned()),
        ("tcp.stack", "newreno".to_owned()),
        ("tcp.rto-min", time(20_000_000)),
        ("tcp.rto-initial", time(40_000_000)),
        ("tcp.delayed-ack", time(2_000_000)),
        ("tcp.delayed-ack-max", time(2_000_000)),
    ];
    let all: Vec<_> = usual.iter().chain(&own).map(|(key, value)| (*key, value.as_str())).collect();
    load(&all).unwrap()
}

/// What answers an arrival leaves at the same instant, to the last bit: a network is the same in other units of time, whether its slots
/// are whole picoseconds or not. Where a host counted in whole ones, acknowledged data came to a switch just before or just after the departure
/// that makes room for it.
#[test]
fn tcp_is_in_step_with_links_at_any_rate() {
    let cells =
        [("link.delay", "10000 ns"), ("switch.buffer", "400 cells"), ("switch.discard.policy", "epd")];
    let packets = [("link.delay", "0 s"), ("switch.buffer", "23 packets"), ("link.framing", "packets")];
    let one: &[&[(&str, &str)]] = &[
        &[("tcp.mss", "512 B"), ("link.access.rate", "311040000 bit/s")],
        &[("tcp.mss", "9180 B"), ("tcp.stack", "sack"), ("tcp.receive-window", "60000 B")],
        &[("tcp.stack", "reno"), ("tcp.processing-delay", "3000 ns"), ("link.delay", "1000 ns")],
        &[
            ("tcp.stack", "tahoe"),
            ("host.ip-rate", "97200 packet/s"),
            ("link.access.rate", "622080000 bit/s"),
        ],
        &[
            ("tcp.stack", "sack"),
            ("link.access.rate", "622080000 bit/s"),
            ("link.exit.rate", "77760000 bit/s"),
        ],
    ];
    let mut lost = 0.0;
    for (framing, own) in
        [&cells[..], &packets].into_iter().flat_map(|framing| one.iter().map(move |own| (framing, own)))
    {
        for sources in ["1", "2", "5"] {
            let settings = [framing, own, &[("topology.sources", sources)]].concat();
            let [usual, whole] = [USUAL, WHOLE].map(|unit| {
                let result = replicate(&in_units_of(unit, &settings), 0, Options::default());
                lost += discarded(&result);
                ["segments_sent", "frames_delivered", "cells_discarded", "timeouts"]
                    .map(|name| counts(&result, name))
            });
            assert_eq!(usual, whole, "{settings:?}");
        }
    }
    assert!(lost > 10_000.0, "the tests have little to do: {lost}");
}
