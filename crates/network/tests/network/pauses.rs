//! Priority flow control: switches pause the links that bring them too much (IEEE 802.1Qbb with one class).

use celltrain_engine::time::{MICROSECOND, MILLISECOND};
use celltrain_network::{
    RunResult,
    live::{PauseSignal, Pauses},
};

use crate::common::{assert_same_in_any_order, error, live, load, names, run_traced, value};

/// Packets of TCP from fifteen hosts to one, over switches of a fat tree, and back.
const INCAST: &str = r#"
schema = 1
name = "incast"
duration = "40 ms"
topology = { kind = "fat-tree", k = 4, pattern = "incast" }
traffic = { kind = "finite", bytes = "200 kB", start = "0 us .. 20 us" }
[link]
framing = "packets"
rate = "1 Gbit/s"
delay = "2 us"
[switch]
buffer = "unlimited"
memory = { size = "200 packets", pause = { xoff = "20 packets", xon = "15 packets" } }
[tcp]
stack = "newreno"
initial-window = 10
rto-min = "5 ms"
"#;

/// Cells every 10 us, which a link takes every 20 us.
const OVERLOAD: &str = r#"
schema = 1
name = "a fast source"
duration = "1 s"
traffic = { kind = "cbr", rate = "42.4 Mbit/s" }
topology = { kind = "n-source", sources = 1 }
link = { rate = "42.4 Mbit/s", delay = "35 us", trunk = { rate = "21.2 Mbit/s" } }
switch = { buffer = "unlimited", memory = { size = "60 cells", pause = { xoff = "12 cells", xon = "8 cells" } } }
"#;

/// Three switches in a ring, and a flow from each over the next to the one behind that, as fast as its first link.
const RING: &str = r#"
schema = 1
name = "a ring"
duration = "100 ms"
link = { rate = "42.4 Mbit/s", delay = "5 us" }
switch = { buffer = "unlimited", memory = { size = "300 cells", pause = { xoff = "40 cells", xon = "20 cells" } } }
traffic = { kind = "cbr", rate = "42.4 Mbit/s" }
topology.kind = "graph"
topology.node = [
  { name = "s1", kind = "switch" }, { name = "s2", kind = "switch" }, { name = "s3", kind = "switch" },
  { name = "h1", kind = "host" }, { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
  { name = "d1", kind = "host" }, { name = "d2", kind = "host" }, { name = "d3", kind = "host" },
]
topology.link = [
  { from = "s1", to = "s2" }, { from = "s2", to = "s3" }, { from = "s3", to = "s1" },
  { from = "h1", to = "s1" }, { from = "h2", to = "s2" }, { from = "h3", to = "s3" },
  { from = "s1", to = "d1" }, { from = "s2", to = "d2" }, { from = "s3", to = "d3" },
]
flow = [
  { name = "f1", from = "h1", to = "d3", route = ["h1", "s1", "s2", "s3", "d3"] },
  { name = "f2", from = "h2", to = "d1", route = ["h2", "s2", "s3", "s1", "d1"] },
  { name = "f3", from = "h3", to = "d2", route = ["h3", "s3", "s1", "s2", "d2"] },
]
"#;

/// Keys and what they are set to.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// What a column of the ports says of those whose names `of` selects, added up.
fn total(result: &RunResult, name: &str, of: impl Fn(&str) -> bool) -> f64 {
    let rows = names(&result.ports).into_iter().filter(|port| of(port));
    rows.map(|port| value(&result.ports, port, name)).sum()
}

#[test]
fn an_incast_loses_nothing_and_reports_its_pauses() {
    let result = run_traced(INCAST, &[]);
    assert_eq!(total(&result, "cells_discarded", |_| true), 0.0);
    assert!(total(&result, "pauses", |_| true) > 10.0 && total(&result, "paused", |_| true) > 1e-4);
    assert_eq!(total(&result, "locked", |_| true), 0.0);
    // The port in front of the receiver is never paused, hosts are.
    assert_eq!(total(&result, "pauses", |port| port.ends_with("host1")), 0.0);
    assert!(total(&result, "pauses", |port| port.starts_with("host")) > 0.0);
    // Without pauses the same memory loses.
    let text = INCAST.replace(", pause = { xoff = \"20 packets\", xon = \"15 packets\" }", "");
    let lossy = run_traced(&text, &[]);
    assert!(total(&lossy, "cells_discarded", |_| true) > 0.0);
    assert_eq!(total(&lossy, "pauses", |_| true), 0.0);
}

/// A source that always has a cell to send either sends or is paused, but for the cell that a pause finds in transmission; and the slower
/// link never idles.
#[test]
fn a_paused_link_carries_what_the_next_one_takes() {
    let result = run_traced(OVERLOAD, &[]);
    let source = |port: &str| port.starts_with("src");
    let trunk = |port: &str| port == "switch1 > switch2";
    assert_eq!(total(&result, "cells_discarded", |_| true), 0.0);
    assert!(total(&result, "utilisation", trunk) > 0.9995);
    let (pauses, paused) = (total(&result, "pauses", source), total(&result, "paused", source));
    let both = total(&result, "utilisation", source) + paused;
    // A pause counts from its arrival, so that it overlaps the rest of the cell that it found in transmission.
    assert!(both > 1.0 + pauses * 1e-6, "{both} with {pauses} pauses");
    // A cell takes 10 us; the source has nothing to send before its first one.
    assert!(both > 0.9999 && both <= 1.0 + pauses * 10e-6, "{both} with {pauses} pauses");
    // Above 12 cells, then two delays of 35 us, in each of which 7 cells are on their way, and two cells.
    let most = total(&result, "occupancy_max", trunk);
    assert!((13.0..=12.0 + 7.0 + 2.0).contains(&most), "{most}");
    // From the largest occupancy to 8 cells and back takes at least 5 cells of 20 us, and no longer than the largest occupancy lasts.
    assert!(pauses > 1000.0 && pauses < 10_000.0, "{pauses}");
}

/// The source sends a cell every 10 us, and the next link takes one every 20 us from 45 us on. With the 24th cell, at 275 us, the switch
/// holds 13, and the pause takes 35 us; it holds 8 of the 31 that were sent by then when the 23rd has left, at 505 us.
#[test]
fn a_viewer_sees_a_pause_from_its_arrival_to_that_of_its_end() {
    let mut live = live(&load(OVERLOAD, &[("traffic.start", "0 s"), ("duration", "1 ms")]));
    let link = (0..live.graph().links.len()).find(|&link| live.graph().link_name(link).starts_with("src"));
    let link = link.expect("the source has a link");
    let microseconds = |time: u64| time * MICROSECOND;
    let mut state_at = |time| {
        live.advance(time, &mut || false);
        live.pauses().find(|pauses| pauses.link == link)
    };
    let begin = microseconds(310);
    assert_eq!(state_at(begin), None, "what happens at a time is seen after it");
    // Within this picosecond: a whole one has not passed since.
    let pauses = Pauses { link, since: Some(begin), count: 1, time: 0 };
    assert_eq!(state_at(begin + 1), Some(pauses));
    let end = microseconds(540);
    assert_eq!(state_at(end), Some(Pauses { time: end - begin - 1, ..pauses }));
    assert_eq!(state_at(end + 1), Some(Pauses { since: None, time: end - begin, ..pauses }));
    let signals = live.drain_pauses();
    assert!(live.drain_pauses().is_empty());
    let of_source: Vec<_> = signals.iter().filter(|signal| signal.link == link).copied().collect();
    let signal = |at, begins| PauseSignal { at, link, begins };
    assert_eq!(of_source, [signal(begin, true), signal(end, false)]);
}

/// The source is done before its only pause arrives: it lasts until the switch holds little enough, although there is nothing to send.
#[test]
fn a_pause_lasts_until_its_end_also_where_nothing_is_left_to_send() {
    let slow = [("duration", "10 ms"), ("link.trunk.rate", "2.12 Mbit/s")];
    let text = OVERLOAD.to_owned() + "[[flow]]\nname = \"1\"\nstop = \"199 us\"\n";
    let result = run_traced(&text, &slow);
    let source = |port: &str| port.starts_with("src");
    assert_eq!(total(&result, "cells_forwarded", source), 20.0);
    assert_eq!(total(&result, "pauses", source), 1.0);
    // One cell every 10 us, of which the 13th is the first above 12; it takes 200 us to send one on. Of 20 the 12th leaves 8.
    let (above, again) = (12.0 * 10e-6, 12.0 * 200e-6);
    let paused = total(&result, "paused", source);
    assert!((paused - (again - above)).abs() < 1e-9, "{paused}");
}

#[test]
fn any_schedule_gives_one_run() {
    let port_id = [
        ("tie-break", "port-id"),
        ("switch.discard.policy", "red"),
        ("switch.discard.red.min", "5 packets"),
        ("switch.discard.red.max", "60 packets"),
    ];
    let cases: [(&str, &[(&str, &str)]); 4] = [
        (INCAST, &[]),
        (INCAST, &port_id),
        (OVERLOAD, &[("duration", "20 ms")]),
        (RING, &[("duration", "10 ms")]),
    ];
    for (text, pairs) in cases {
        let usual = run_traced(text, pairs);
        assert!(total(&usual, "pauses", |_| true) > 1.0, "{pairs:?}");
        assert_same_in_any_order(text, pairs, 5 * MILLISECOND, &usual);
    }
}

/// What each switch of the ring holds waits for the next one: the circular wait of Dally and Seitz (1987). It ends in a lock, which
/// the run reports and `check` announces.
#[test]
fn a_ring_of_pauses_is_announced_and_its_lock_is_reported() {
    let notes = load(RING, &[]).notes().unwrap();
    let note = notes.iter().find(|note| note.starts_with("switch.memory.pause")).expect("a note");
    for link in ["\"s1 > s2\"", "\"s2 > s3\"", "\"s3 > s1\""] {
        assert!(note.contains(link), "{note}");
    }
    let result = run_traced(RING, &[("warm-up", "50 ms")]);
    let in_ring = |port: &str| ["s1 > s2", "s2 > s3", "s3 > s1"].contains(&port);
    assert_eq!(total(&result, "locked", in_ring), 3.0);
    assert_eq!(total(&result, "cells_forwarded", in_ring), 0.0, "nothing moves any more");
    assert!((total(&result, "paused", in_ring) - 0.15).abs() < 1e-9);
    assert_eq!(total(&result, "cells_discarded", |_| true), 0.0);
    // With two of the flows nothing waits in a circle.
    let open = RING.replace("  { name = \"f3\", from = \"h3\", to = \"d2\", route = [\"h3\", \"s3\", \"s1\", \"s2\", \"d2\"] },\n", "");
    let notes = load(&open, &[]).notes().unwrap();
    assert!(notes.iter().all(|note| !note.starts_with("switch.memory.pause")), "{notes:?}");
    assert_eq!(total(&run_traced(&open, &[]), "locked", |_| true), 0.0);
}

#[test]
fn what_may_lose_is_refused_with_the_arithmetic() {
    let cases: [(&str, Pairs<'_>, &str); 7] = [
        // Two links, 12 + 7 + 2 cells for each: one from the source, one from the other switch for what goes back.
        (
            OVERLOAD,
            &[("switch.memory.size", "20 cells")],
            "with 12 cells before each is paused, and 2 × delay × rate and two units of headroom, it may have to hold 21 cells",
        ),
        (
            OVERLOAD,
            &[("link.delay", "0 s")],
            "has a delay of 0 s, so that a pause would arrive when it is sent",
        ),
        (OVERLOAD, &[("switch.buffer", "30 cells")], "has a limit of its own, below the memory of 60 cells"),
        (OVERLOAD, &[("switch.memory.pause.xon", "13 cells")], "expected 12 cells at most"),
        (OVERLOAD, &[("switch.memory.pause.xoff", "unlimited")], "is no level at which links are paused"),
        (OVERLOAD, &[("switch.memory.pause.xoff", "1 MB")], "xon"),
        (INCAST, &[("link.reorder", "{ share = 0.1, delay = \"1 us\" }")], "leave reorder out"),
    ];
    for (text, pairs, expected) in cases {
        let found = error(text, pairs);
        assert!(found.contains(expected), "{pairs:?}: {found}");
    }
}

/// A link needs xoff, what it carries in two delays, and two packets: by the size of those that are sent.
#[test]
fn the_headroom_is_that_of_the_packets_that_are_sent() {
    let text = "schema = 1\nname = \"headroom\"\nduration = \"20 ms\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
        link = { framing = \"packets\", rate = \"1 Gbit/s\", delay = \"60 us\", trunk = { rate = \"500 Mbit/s\" } }\n\
        traffic = { kind = \"cbr\", rate = \"990 Mbit/s\", packet = \"1500 B\" }\n\
        switch = { buffer = \"unlimited\", memory.pause = { xoff = \"20 packets\", xon = \"15 packets\" } }\n";
    // 2 * 60 us * 1 Gbit/s are ten packets of 1500 bytes, or 375 of 40, an ACK's.
    let refused = error(text, &[("switch.memory.size", "31 packets")]);
    assert!(refused.contains("it may have to hold 32 packets of 1500 B"), "{refused}");
    let result = run_traced(text, &[("switch.memory.size", "32 packets")]);
    assert_eq!(total(&result, "cells_discarded", |_| true), 0.0);
    assert!(total(&result, "pauses", |_| true) > 0.0);
    // Of exponentially distributed sizes the shortest is as short as an ACK.
    let varied = "{ kind = \"poisson\", rate = \"990 Mbit/s\", packet = \"1500 B\", packet-distribution = \"exponential\" }";
    let varied: Pairs<'_> = &[("switch.memory.size", "396 packets"), ("traffic", varied)];
    let refused = error(text, varied);
    assert!(refused.contains("it may have to hold 397 packets of 40 B"), "{refused}");
    // And ACKs come back over the trunk: 150 in its two delays.
    let tcp: Pairs<'_> = &[("switch.memory.size", "606 packets"), ("traffic", "{ kind = \"greedy\" }")];
    let refused = error(text, tcp);
    assert!(refused.contains("it may have to hold 607 packets of 40 B"), "{refused}");
}
