//! Links that behave badly: losses in bursts, packets that overtake each other, dark periods, delays that change.

use celltrain_engine::{time::MILLISECOND, visit::Schedule};
use celltrain_network::Options;

use crate::common::{error, load, metric, of_flow, run_as, run_recorded, shuffled, total};

/// One connection of a window of 500 kB over a trunk of 10 Mbit/s, of packets, 20 ms there and back.
const PACKETS: &str = r#"
schema = 1
name = "one connection"
duration = "20 s"
topology.kind = "n-source"
topology.sources = 1
switch.buffer = "unlimited"
[link]
rate = "100 Mbit/s"
delay = "1 ms"
framing = "packets"
trunk = { rate = "10 Mbit/s", delay = "8 ms" }
[tcp]
stack = "linux"
receive-window = "500 kB"
"#;

/// Constant cells over the same network.
const CELLS: &str = r#"
schema = 1
name = "constant cells"
duration = "20 s"
topology.kind = "n-source"
topology.sources = 2
traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 10 }
link = { rate = "10 Mbit/s", delay = "1 ms" }
"#;

#[test]
fn bursts_hit_the_share_of_frames_that_the_chain_says_whole() {
    let bursts = "{ p = 0.02, r = 0.2 }";
    let result = run_recorded(CELLS, &[("link.trunk.burst-loss", bursts)]);
    let (sent, lost) = (total(&result.ports, "cells_arrived") as f64, total(&result.ports, "lost_burst"));
    // Two flows of 1 Mbit/s for 20 s; only one of three links loses. 9400 frames: the deviation is 0.006.
    let share = lost as f64 / (2.0 * 20e6 / 424.0);
    assert!((share - 0.02 / 0.22).abs() < 0.024, "{lost} of {sent}");
    assert_eq!(lost % 10, 0, "frames are lost whole");
    assert_eq!(of_flow(&result, "cells_useless"), 0);
}

/// A link has one state, whatever is behind it: flows that take turns on it lose as much, up to a cell or two a burst. With a
/// chain for each flow the difference would have a standard deviation of about 900 cells.
#[test]
fn the_flows_on_a_link_share_its_bursts() {
    let overrides = [
        ("link.trunk.burst-loss", "{ p = 0.0005, r = 0.01 }"),
        ("link.trunk.loss-unit", "cell"),
        ("traffic.frame", "1"),
    ];
    let result = run_recorded(CELLS, &overrides);
    let sent = result.flows.counts("cells_sent");
    let lost: Vec<_> = std::iter::zip(sent, result.flows.counts("cells_useful"))
        .map(|(sent, useful)| sent - useful)
        .collect();
    assert!(lost[0] > 1000 && lost[0].abs_diff(lost[1]) < 150, "{lost:?}");
}

#[test]
fn a_dark_link_loses_all_that_enters_it_and_nothing_else() {
    let dark = "{ from = \"5 s\", length = \"500 ms\", every = \"3 s\" }";
    let result = run_recorded(CELLS, &[("link.trunk.dark", dark), ("traffic.frame", "1")]);
    // Five periods of half a second: from 5, 8, 11, 14 and 17 s on.
    let expected = 2.0 * 2.5 * 1e6 / 424.0;
    assert!(
        (total(&result.ports, "lost_dark") as f64 - expected).abs() <= 10.0,
        "{}",
        total(&result.ports, "lost_dark")
    );
    // Nothing else is lost: what was sent has arrived, but for what is on its way.
    let [sent, useful] = ["cells_sent", "cells_useful"].map(|column| total(&result.flows, column));
    assert!((sent - useful).abs_diff(total(&result.ports, "lost_dark")) < 50);
}

/// What comes to a dark link is lost there, whatever chance would do to it: 500 packets in 400 ms, by either unit of losses.
#[test]
fn chance_has_no_part_in_the_dark() {
    let scenario = "schema = 1\nname = \"dark\"\nduration = \"1 s\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
        switch.buffer = \"100 packets\"\ntraffic = { kind = \"cbr\", rate = \"5 Mbit/s\", packet = \"500 B\" }\n\
        [link]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nframing = \"packets\"\n\
        trunk = { loss = 0.3, dark = { from = \"100 ms\", length = \"400 ms\" } }\n";
    let [cell, frame] = ["'cell'", "'frame'"].map(|unit| {
        let result = run_recorded(scenario, &[("link.trunk.loss-unit", unit)]);
        ["lost_dark", "lost_random"].map(|reason| total(&result.ports, reason))
    });
    assert_eq!(cell[0], 500);
    assert_eq!(cell, frame);
}

#[test]
fn tcp_survives_a_dark_period() {
    let result = run_recorded(PACKETS, &[("link.trunk.dark", "{ from = \"5 s\", length = \"2 s\" }")]);
    let arrivals = result.series.iter().find(|series| series.metric == "acknowledged").unwrap();
    let silent = arrivals.times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!((2.0..4.0).contains(&silent), "{silent}");
    assert!(
        of_flow(&result, "timeouts") > 0 && metric(&result, "goodput") > 7e6,
        "{}",
        metric(&result, "goodput")
    );
}

#[test]
fn a_delay_that_changes_is_that_of_the_time_of_entry() {
    let changes = "[{ at = \"5 s\", delay = \"48 ms\" }, { at = \"10 s\", delay = \"3 ms\" }]";
    // A window of one segment, acknowledged at once: its round trip is that of an empty network.
    let at_once = [("tcp.receive-window", "1448 B"), ("tcp.delayed-ack", "0 s")];
    let result = run_recorded(PACKETS, &[&[("link.trunk.delay-changes", changes)][..], &at_once].concat());
    let samples = result.series.iter().find(|series| series.metric == "rtt").unwrap();
    let at = |from: f64, to: f64| {
        let inside =
            std::iter::zip(&samples.times, &samples.values).filter(|(time, _)| (from..to).contains(*time));
        inside.map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let spread = |values: &[f64]| {
        let (low, high) =
            values.iter().fold((f64::MAX, 0f64), |(low, high), &value| (low.min(value), high.max(value)));
        assert!(high - low < 1e-3 && !values.is_empty(), "{low} to {high}");
        low
    };
    let [first, long, short] = [at(1.0, 5.0), at(5.2, 10.0), at(10.2, 20.0)].map(|values| spread(&values));
    assert!((long - first - 0.080).abs() < 1e-6, "{first} and {long}");
    assert!((first - short - 0.010).abs() < 1e-6, "{first} and {short}");
}

/// A link keeps the order when its delay falls: nothing is overtaken, so that nothing is sent again.
#[test]
fn a_delay_that_falls_keeps_the_order() {
    let changes = "[{ at = \"5 s\", delay = \"88 ms\" }, { at = \"10 s\", delay = \"1 ms\" }]";
    for stack in ["linux", "reno"] {
        let overrides =
            [("link.trunk.delay-changes", changes), ("tcp.stack", stack), ("tcp.receive-window", "60 kB")];
        let result = run_recorded(PACKETS, &overrides);
        assert_eq!(of_flow(&result, "segments_retransmitted"), 0, "{stack}");
        assert_eq!(of_flow(&result, "fast_retransmits"), 0, "{stack}");
    }
}

#[test]
fn packets_that_are_held_back_arrive_late_and_whole() {
    let result = run_recorded(PACKETS, &[("link.trunk.reorder", "{ share = 0.02, delay = \"4 ms\" }")]);
    let (held, sent) = (total(&result.ports, "held_back"), total(&result.ports, "cells_arrived"));
    // On the trunk both ways: a third of the hops.
    let share = held as f64 / (sent as f64 / 3.0);
    assert!((share - 0.02).abs() < 0.004, "{held} of {sent}");
    assert_eq!(total(&result.ports, "lost_random") + total(&result.ports, "cells_discarded"), 0);
}

/// A sender that measures reordering in time fills the line where packets overtake each other (RFC 8985 section 6.2: the
/// reordering window adapts to D-SACK), and one that takes three duplicate ACKs for a loss does not (RFC 5681 section 3.2).
#[test]
fn rack_survives_reordering_and_three_duplicate_acks_do_not() {
    let goodput = |overrides: &[(&str, &str)]| {
        let reorder = ("link.trunk.reorder", "{ share = 0.02, delay = \"8 ms\" }");
        metric(&run_recorded(PACKETS, &[&[reorder], overrides].concat()), "goodput") / 10e6
    };
    let rack = goodput(&[]);
    let duplicates =
        goodput(&[("tcp.recovery", "reno"), ("tcp.stack", "reno"), ("tcp.receive-window", "60 kB")]);
    let go_back =
        goodput(&[("tcp.stack", "opnet-1998"), ("tcp.mss", "1448 B"), ("tcp.receive-window", "60 kB")]);
    assert!(rack > 0.9, "RACK {rack}, duplicates {duplicates}, go-back-N {go_back}");
    assert!(duplicates < 0.75 && go_back < 0.75, "RACK {rack}, duplicates {duplicates}, go-back-N {go_back}");
}

/// A frame that has lost cells on one link may lose others, or all that is left, on the next.
#[test]
fn frames_may_be_broken_on_several_links() {
    let overrides = [
        ("duration", "2 s"),
        ("link.framing", "cells"),
        ("switch.buffer", "300 cells"),
        ("link.loss", "0.01"),
        ("link.loss-unit", "cell"),
        ("link.exit.loss-unit", "frame"),
    ];
    let result = run_recorded(PACKETS, &overrides);
    assert!(total(&result.ports, "lost_random") > 50 && of_flow(&result, "frames_delivered") > 0);
}

#[test]
fn any_schedule_of_visits_gives_the_same_run() {
    let changes = "[{ at = \"300 ms\", delay = \"30 ms\" }, { at = \"700 ms\", delay = \"2 ms\" }]";
    let packets = [
        ("duration", "2 s"),
        ("link.reorder", "{ share = 0.05, delay = \"3 ms\" }"),
        ("link.trunk.burst-loss", "{ p = 0.01, r = 0.3, loss-good = 0.001 }"),
        ("link.trunk.dark", "{ from = \"1 s\", length = \"50 ms\", every = \"200 ms\" }"),
        ("link.trunk.delay-changes", changes),
    ];
    let cells = [packets[0], packets[2], packets[3], packets[4], ("link.loss-unit", "cell")];
    let tcp_cells = [&cells[..], &[("link.framing", "cells"), ("switch.buffer", "300 cells")]].concat();
    let cases = [(PACKETS, packets.to_vec()), (CELLS, cells.to_vec()), (PACKETS, tcp_cells)];
    for (text, overrides) in &cases {
        let scenario = load(text, overrides);
        let fingerprint = |change: &dyn Fn(&mut Schedule)| {
            run_as(&scenario, Options::default(), |network| network.set_schedule(change)).fingerprint
        };
        let usual = fingerprint(&|_| {});
        for seed in 0..3 {
            assert_eq!(fingerprint(&shuffled(seed, 20 * MILLISECOND)), usual, "seed {seed}");
        }
    }
}

#[test]
fn impossible_links_are_errors() {
    let cases = [
        (
            CELLS,
            "link.reorder",
            "{ share = 0.1, delay = \"1 ms\" }",
            "link.reorder: the cells of a VC stay in order",
        ),
        (CELLS, "link.trunk.reorder", "{ share = 0.1, delay = \"1 ms\" }", "link.trunk.reorder: the cells"),
        (PACKETS, "link.reorder", "{ share = 1.1, delay = \"1 ms\" }", "expected 0 to 1, found 1.1"),
        (PACKETS, "link.reorder", "{ share = 0.1, delay = \"0 s\" }", "link.reorder.delay: expected 1 ps"),
        (
            CELLS,
            "link.exit.burst-loss",
            "{ p = 0.1, r = 0 }",
            "link.exit.burst-loss.r: expected a number above 0",
        ),
        (CELLS, "link.burst-loss", "{ p = -1, r = 1 }", "link.burst-loss.p: expected 0 to 1"),
        (CELLS, "link.dark", "{ from = \"0 s\", length = \"1 s\", every = \"1 s\" }", "would stay dark"),
        (CELLS, "link.dark", "{ from = \"0 s\", length = \"0 s\" }", "link.dark.length: expected 1 ps"),
        (
            CELLS,
            "link.dark",
            "{ from = \"0 s\", length = \"1 ps\", every = \"2 ps\" }",
            "link.dark.every: expected 1 us",
        ),
        (
            CELLS,
            "link.delay-changes",
            "[{ at = \"2 s\", delay = \"1 ms\" }, { at = \"2 s\", delay = \"2 ms\" }]",
            "link.delay-changes.1.at: expected a time after 2 s",
        ),
        (CELLS, "link.delay-changes", "[{ at = \"2 s\", delay = \"2 h\" }]", "delay"),
    ];
    for (text, key, value, expected) in cases {
        let found = error(text, &[(key, value)]);
        assert!(found.contains(expected), "{key} = {value}: {found}");
    }
}
