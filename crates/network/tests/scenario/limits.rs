//! Every scenario that is accepted goes on and comes to an end: periods have floors, rates have ceilings, links take time.

use celltrain_network::{Experiment, Options, scenario::Scenario};

use crate::common;

/// A network that is small and quick, as each test changes it.
const BASE: &str = "schema = 1\nname = \"limits\"\nduration = \"20 ms\"\n\
    topology = { kind = \"n-source\", sources = 2 }\nlink.delay = \"10 us\"\n";

/// ABR under an allocator with intervals.
const ABR: &str = "[vc]\ncategory = \"abr\"\n[switch.allocator]\nalgorithm = \"erica\"\n";

/// What is wrong with `tables`, laid on the base.
fn refusal(tables: &str, overrides: &[(&str, &str)]) -> Option<String> {
    let scenario =
        Scenario::from_toml(&format!("{BASE}{tables}"), "test.toml", &common::overrides(overrides));
    scenario.and_then(|scenario| scenario.graph()).err().map(|error| error.to_string())
}

/// Whether a run comes to its end before it has been asked to stop so often: a measure of work that no clock changes.
fn ends(tables: &str, overrides: &[(&str, &str)], polls: u64) -> bool {
    let scenario =
        Scenario::from_toml(&format!("{BASE}{tables}"), "test.toml", &common::overrides(overrides)).unwrap();
    let (experiment, mut asked) = (Experiment::new(&scenario).unwrap(), 0);
    let mut interrupt = || {
        asked += 1;
        asked > polls
    };
    experiment.run(1, 0, Options::default(), &mut interrupt).is_some()
}

#[test]
fn periods_have_floors() {
    let bursts = "traffic = { kind = \"bursty\", bytes = \"1 B\", every = \"1 us\" }\n";
    let video = "traffic = { kind = \"long-range\", rate = { minimum = \"1 Mbit/s\", mean = \"2 Mbit/s\", maximum = \"4 Mbit/s\" } }\n";
    let chain = "[traffic]\nkind = \"mmpp\"\n[[traffic.states]]\nrate = \"1 Mbit/s\"\nmean-time = \"1 ms\"\n\
        [[traffic.states]]\nrate = \"2 Mbit/s\"\nmean-time = \"1 ms\"\n";
    for (tables, key, least) in [
        (chain, "traffic.states.1.mean-time", "expected 1 us to 1000000 s, found 999.999 ns"),
        (bursts, "traffic.every", "expected 1 us to 1000000 s, found 999.999 ns"),
        (video, "traffic.rate.cycle", "expected 1 us to 1000000 s, found 999.999 ns"),
        ("", "tcp.rto-min", "999.999 ns is less than 1 us; give at least a round trip"),
        (
            ABR,
            "switch.allocator.erica.interval.time",
            "an interval of 999.999 ns is too short: give 1 us or more",
        ),
    ] {
        assert_eq!(refusal(tables, &[(key, "1 us")]), None, "{key}");
        let found = refusal(tables, &[(key, "999.999 ns")]).expect(key);
        assert!(
            found.ends_with(least) && found.contains(key.strip_suffix(".time").unwrap_or(key)),
            "{found}"
        );
    }
}

/// However short a time is on, its part of a cell counts, so that on and off times are drawn between two cells.
#[test]
fn on_and_off_times_alternate_a_hundred_million_times_a_second_at_most() {
    let source = |on: &str, off: &str, more: &str| {
        let table = format!(
            "traffic = {{ kind = \"on-off\", peak = \"1 Mbit/s\", on = \"{on}\", off = \"{off}\"{more} }}\n"
        );
        refusal(&table, &[])
    };
    let pareto = ", distribution = \"pareto\", shape = 2.0";
    for (on, off, more) in [("1 ps", "9.998 ns", ""), ("9.999 ns", "0 s", ""), ("9 ns", "10 ns", pareto)] {
        let found = source(on, off, more).expect(on);
        assert!(found.contains("more than a hundred million a second"), "{found}");
    }
    for (on, off, more) in [("1 ps", "9.999 ns", ""), ("10 ns", "0 s", ""), ("9 ns", "11 ns", pareto)] {
        assert_eq!(source(on, off, more), None, "{on} {off}");
    }
}

#[test]
fn cells_come_at_ten_times_the_rate_of_their_first_link_at_most() {
    let sources = [
        ("traffic.rate", "kind = \"cbr\", rate = \"1 Mbit/s\""),
        ("traffic.rate", "kind = \"poisson\", rate = \"1 Mbit/s\""),
        ("traffic.peak", "kind = \"on-off\", peak = \"1 Mbit/s\", on = \"1 ms\", off = \"1 ms\""),
        ("traffic.peak", "kind = \"bernoulli\", peak = \"1 Mbit/s\", probability = 0.1"),
        (
            "traffic.states.1.rate",
            "kind = \"mmpp\", states = [{ rate = \"0 Mbit/s\", mean-time = \"1 ms\" }, \
             { rate = \"1 Mbit/s\", mean-time = \"1 ms\" }]",
        ),
        (
            "traffic.rate.maximum",
            "kind = \"long-range\", rate = { minimum = \"1 Mbit/s\", mean = \"2 Mbit/s\", maximum = \"4 Mbit/s\" }",
        ),
    ];
    for (key, source) in sources {
        let tables = format!("traffic = {{ {source} }}\nlink.access.rate = \"10 Mbit/s\"\n");
        assert_eq!(refusal(&tables, &[(key, "100 Mbit/s")]), None, "{source}");
        let found = refusal(&tables, &[(key, "100000001 bit/s")]).expect(source);
        let expected = format!(
            "{key}: expected 100 Mbit/s at most, 10 times the rate of the first link on the route (10 Mbit/s), found \
             100.000001 Mbit/s"
        );
        assert!(found.ends_with(&expected), "found:    {found}\nexpected: {expected}");
    }
    let own = "[[flow]]\nname = \"2\"\ntraffic = { kind = \"cbr\", rate = \"2 Tbit/s\" }\n";
    assert!(refusal(own, &[]).unwrap().contains(": flow.0.traffic.rate: "), "the flow's own table is named");
}

#[test]
fn out_of_rate_cells_are_no_more_than_the_peak_rate_allows() {
    assert_eq!(refusal(ABR, &[("abr.tcr", "155.52 Mbit/s")]), None);
    let found = refusal(ABR, &[("abr.tcr", "156 Mbit/s")]).unwrap();
    assert!(
        found.contains("abr.tcr: expected 366792.45") && found.contains(" cells/s at most, the peak rate"),
        "{found}"
    );
    // A slow link does not forbid the default.
    assert_eq!(refusal(ABR, &[("link.rate", "1 kbit/s")]), None);
}

#[test]
fn time_passes_on_every_link() {
    let packets = "link.framing = \"packets\"\nswitch.buffer = \"100 packets\"\n";
    let fast = [("link.trunk.rate", "8000000000001 bit/s"), ("link.trunk.delay", "0 s")];
    let found = refusal(packets, &fast).unwrap();
    assert!(
        found.starts_with(
            "--set link.trunk.delay=0 s: link.trunk.delay: at 8.000000000001 Tbit/s a byte takes less"
        ),
        "{found}"
    );
    assert_eq!(refusal(packets, &[fast[0], ("link.trunk.delay", "1 ps")]), None);
    assert_eq!(refusal(packets, &[("link.trunk.rate", "8 Tbit/s"), fast[1]]), None);
    // A cell takes 4.24 ps at the fastest rate there is.
    assert_eq!(refusal("", &[("link.trunk.rate", "100 Tbit/s"), fast[1]]), None);
    let written = "topology = { kind = \"graph\", node = [{ name = \"a\", kind = \"host\" }, { name = \"b\", kind = \"host\" }], \
        link = [{ from = \"a\", to = \"b\", rate = \"9 Tbit/s\", delay = \"0 s\", framing = \"packets\" }] }\n\
        [[flow]]\nname = \"1\"\nfrom = \"a\"\nto = \"b\"\n";
    let text = BASE.replace("topology = { kind = \"n-source\", sources = 2 }\n", "") + written;
    let found = Scenario::from_toml(&text, "test.toml", &[]).unwrap().graph().unwrap_err().to_string();
    assert!(found.contains("topology.link.0.delay: at 9 Tbit/s"), "{found}");
}

#[test]
fn the_extremes_that_are_left_come_to_their_end() {
    let packets = "link.framing = \"packets\"\nlink.rate = \"8 Tbit/s\"\nswitch.buffer = \"100 packets\"\n";
    let base = ("duration", "100 us");
    assert!(ends(packets, &[("duration", "1 us"), ("link.delay", "0 s")], 1_000_000));
    assert!(ends("", &[("tcp.rto-min", "1 us"), base], 100_000));
    assert!(ends(ABR, &[("switch.allocator.erica.interval.time", "1 us"), base], 100_000));
    let bursts = "traffic = { kind = \"bursty\", bytes = \"1 B\", every = \"1 us\" }\n";
    assert!(ends(bursts, &[base], 100_000));
}

#[test]
fn the_cells_that_wait_leave_within_the_times_that_there_are() {
    let source =
        "traffic = { kind = \"poisson\", rate = \"1 Gbit/s\", frame = 1366 }\nlink.rate = \"1 Gbit/s\"\n";
    // In a shaper, in front of a slow link, and in a large buffer in front of it: a million seconds of backlog for each second.
    for slow in [
        "vc.pcr = \"1 kbit/s\"\n",
        "link.trunk.rate = \"1 kbit/s\"\nswitch.buffer = \"unlimited\"\n",
        "link.exit.rate = \"1 kbit/s\"\nswitch.buffer = \"4294967296 cells\"\n",
    ] {
        let tables = format!("{source}{slow}");
        assert_eq!(refusal(&tables, &[]), None, "{slow}");
        let found = refusal(&tables, &[("duration", "30 s")]).expect(slow);
        assert!(found.contains("duration") && found.contains("may need"), "{found}");
    }
    // What a buffer does not hold does not wait.
    let limited = format!("{source}link.trunk.rate = \"1 kbit/s\"\nswitch.buffer = \"1000 cells\"\n");
    assert_eq!(refusal(&limited, &[("duration", "30 s")]), None);
}

/// A policer measures cells: a packet, however long, would count as one of 424 bits.
#[test]
fn packets_are_not_policed() {
    let contract = "link.framing = \"packets\"\nswitch.buffer = \"100 packets\"\n\
        [vc]\npcr = \"1 Mbit/s\"\npolicing = \"discard-cells\"\n";
    let expected = "vc.policing: a policer measures cells, and the first link of flow \"1\" carries packets";
    let found = refusal(contract, &[]).unwrap();
    assert!(found.contains(expected), "{found}");
    assert_eq!(refusal(contract, &[("vc.policing", "none")]), None);
    assert_eq!(refusal(contract, &[("link.framing", "cells"), ("switch.buffer", "100 cells")]), None);
}

/// What changes very often in silence would hold up a run between two of its cells.
#[test]
fn sources_of_a_varying_rate_do_not_change_all_the_time() {
    let video = "traffic = { kind = \"long-range\", rate = { minimum = \"1 Mbit/s\", mean = \"2 Mbit/s\", maximum = \"4 Mbit/s\" } }\n";
    let cycle = |cycle: &'static str| [("traffic.rate.sources", "1000"), ("traffic.rate.cycle", cycle)];
    let found = refusal(video, &cycle("9.9 us")).unwrap();
    assert!(
        found.contains("1000 sources that change every 9.9 us are more than a hundred million"),
        "{found}"
    );
    assert_eq!(refusal(video, &cycle("10 us")), None);
}
