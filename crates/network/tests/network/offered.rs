//! What flows offer to links, and the port that has most of it for its rate: the bottleneck.

use celltrain_network::{Experiment, Options};

use crate::common::{load, metric, replicate, texts};

/// The port that a scenario's summary is about.
fn bottleneck(text: &str, overrides: &[(&str, &str)]) -> Option<String> {
    Experiment::new(&load(text, overrides)).unwrap_or_else(|error| panic!("{error}")).bottleneck()
}

/// Two separate paths of links of 100 Mbit/s and 1 ms, each from two hosts over two switches to a third host, with such `flows` and TCP of
/// 1000 bytes a segment, which 22 cells carry. The hosts of the second path have faster links.
fn paths(link: &str, flows: &str) -> String {
    let hosts =
        ["a1", "a2", "b", "c1", "c2", "d"].map(|name| format!("{{ name = \"{name}\", kind = \"host\" }},"));
    let switches =
        ["s1", "s2", "s3", "s4"].map(|name| format!("{{ name = \"{name}\", kind = \"switch\" }},"));
    let nodes = [hosts.concat(), switches.concat()].concat();
    let ends = ["s1 s2", "s3 s4", "a1 s1", "a2 s1", "s2 b", "c1 s3", "c2 s3", "s4 d"];
    let links = ends.map(|ends| {
        let (from, to) = ends.split_once(' ').unwrap();
        let own = match ends {
            "s1 s2" => link,
            "c1 s3" | "c2 s3" => ", rate = \"1 Gbit/s\"",
            _ => "",
        };
        format!("{{ from = \"{from}\", to = \"{to}\"{own} }},")
    });
    format!(
        "schema = 1\nname = \"two paths\"\nduration = \"1 s\"\nlink = {{ rate = \"100 Mbit/s\" }}\ntcp.mss = \"1000 B\"\n\
         topology = {{ kind = \"graph\", node = [{nodes}], link = [{}] }}\n{flows}",
        links.concat()
    )
}

/// A flow over the first path, from this host, with such keys.
fn flow(name: &str, from: &str, keys: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"b\"\n{keys}\n")
}

/// Checks what `flows` offer to the first path's second link, in Mbit/s: the second path is the bottleneck if its two sources of cells offer a
/// little more, and the first if they offer a little less.
fn assert_offered(link: &str, flows: &str, expected: f64) {
    for (share, port) in [(0.999, "s1 > s2"), (1.001, "s3 > s4")] {
        let rate = (expected * share * 5e5).round();
        let other = |from| {
            format!(
                "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"d\"\n\
                 traffic = {{ kind = \"cbr\", rate = \"{rate} bit/s\" }}\n"
            )
        };
        let text = paths(link, &[flows, &other("c1"), &other("c2")].concat());
        assert_eq!(bottleneck(&text, &[]).as_deref(), Some(port), "{flows}: {expected} Mbit/s");
    }
}

/// Of segments of 1000 bytes of payload, so many a second: 22 cells of 424 bits each.
fn segments(count: f64) -> f64 {
    count * 22.0 * 424.0 / 1e6
}

#[test]
fn a_source_offers_what_it_sends_within_the_run() {
    let constant = |rate: u32, keys: &str| {
        flow("x", "a1", &format!("traffic = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\"{keys} }}"))
    };
    let burst = "traffic = { kind = \"bursty\", bytes = \"10 kB\", every = \"100 ms\" }";
    let transfer = "traffic = { kind = \"finite\", bytes = \"1 MB\" }";
    let short = "traffic = { kind = \"short-flows\", every = \"10 ms\", size = { kind = \"fixed\", bytes = \"1 kB\" } }";
    let listed = "traffic = { kind = \"short-flows\", trace = [{ at = \"100 ms\", bytes = \"100 kB\" }, { at = \"5 s\", bytes = \"10 MB\" }] }";
    let on_off = "traffic = { kind = \"on-off\", peak = \"80 Mbit/s\", on = \"1 ms\", off = \"3 ms\" }";
    for (flows, expected) in [
        (constant(90, ""), 90.0),
        (constant(90, ", start = \"500 ms\""), 45.0),
        (constant(90, ", start = \"0 ms .. 500 ms\""), 67.5),
        (constant(90, "") + "stop = \"250 ms\"\n", 22.5),
        (flow("x", "a1", on_off), 20.0),
        // An IP packet of 40 bytes and the 16 of AAL5 and LLC/SNAP fill two cells.
        (constant(35, ", packet = \"40 B\""), 35.0 * 106.0 / 40.0),
        (flow("x", "a1", burst), segments(100.0)),
        (flow("x", "a1", transfer), segments(1000.0)),
        (flow("x", "a1", short), segments(100.0)),
        (flow("x", "a1", listed), segments(100.0)),
    ] {
        assert_offered("", &flows, expected);
    }
    // What never starts offers nothing, and a port without any load is still one that flows cross.
    let never = constant(90, ", start = \"1 s\"");
    let small = "[[flow]]\nname = \"y\"\nfrom = \"c1\"\nto = \"d\"\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }\n";
    assert_eq!(bottleneck(&paths("", &never), &[]).as_deref(), Some("s1 > s2"));
    assert_eq!(bottleneck(&paths("", &(never + small)), &[]).as_deref(), Some("s3 > s4"));
}

#[test]
fn what_stands_before_a_link_limits_what_it_is_offered() {
    let greedy = |from: &str, keys: &str| flow(&format!("{from} {}", keys.len()), from, keys);
    let constant = |rate: u32, keys: &str| {
        flow("x", "a1", &format!("traffic = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\" }}\n{keys}"))
    };
    let policed = "vc = { pcr = \"20 Mbit/s\", spacing = \"none\", policing = \"discard-cells\" }";
    for (link, flows, expected) in [
        ("", constant(300, ""), 100.0),
        ("", greedy("a1", ""), 100.0),
        ("", greedy("a1", "") + &greedy("a2", ""), 200.0),
        ("", greedy("a1", "vc.pcr = \"20 Mbit/s\""), 20.0),
        ("", greedy("a1", "stop = \"300 ms\""), 30.0),
        ("", greedy("a1", "stop = \"300 ms\"\nvc.pcr = \"20 Mbit/s\""), 6.0),
        // What waits in the shaper leaves after the source has stopped.
        ("", constant(90, "stop = \"300 ms\"\nvc.pcr = \"20 Mbit/s\""), 20.0),
        ("", constant(90, &format!("stop = \"250 ms\"\n{policed}")), 5.0),
        // The first link carries what all of a host's flows have together.
        ("", greedy("a1", "") + &greedy("a1", "start = \"500 ms\"") + &constant(30, ""), 100.0),
        ("", constant(90, policed), 20.0),
        ("", constant(90, &policed.replace("pcr", "scr = \"5 Mbit/s\", pcr")), 5.0),
        ("", constant(90, &policed.replace("policing = \"discard-cells\"", "")), 90.0),
        ("", constant(90, "vc = { mcr = \"10 Mbit/s\", policing = \"discard-frames\" }"), 10.0),
        // 100 Mbit/s for a link of 50 on the mean.
        (
            ", rate-changes = [{ at = \"0 s\", rate = \"80 Mbit/s\" }, { at = \"500 ms\", rate = \"20 Mbit/s\" }]",
            greedy("a1", ""),
            200.0,
        ),
    ] {
        assert_offered(link, &flows, expected);
    }
    // One connection over 10 and then 5 Mbit/s offers the second twice its rate, and not twenty times.
    let text = "schema = 1\nname = \"chain\"\nduration = \"1 s\"\ntopology = { kind = \"chain\", trunks = 3, long = 1, cross = 0 }\n\
                link = { rate = \"100 Mbit/s\" }\n";
    let rates = "[[link-override]]\nfrom = \"switch1\"\nto = \"switch2\"\nlink.rate = \"10 Mbit/s\"\n\
                 [[link-override]]\nfrom = \"switch2\"\nto = \"switch3\"\nlink.rate = \"5 Mbit/s\"\n";
    assert_eq!(bottleneck(&[text, rates].concat(), &[]).as_deref(), Some("switch1 > switch2"));
}

/// A link adds its own bytes to each packet: 100 of 50 Mbit/s in packets of 100 bytes.
#[test]
fn the_bytes_of_a_link_count() {
    let packets = "traffic = { kind = \"cbr\", rate = \"50 Mbit/s\", packet = \"100 B\" }";
    for (overhead, port) in [(99, "s3 > s4"), (101, "s1 > s2")] {
        let other = "[[flow]]\nname = \"y\"\nfrom = \"c1\"\nto = \"d\"\ntraffic = { kind = \"cbr\", rate = \"100 Mbit/s\", packet = \"100 B\" }\n";
        let text = paths(&format!(", overhead = \"{overhead} B\""), &(flow("x", "a1", packets) + other));
        let found = bottleneck(&text, &[("link.framing", "packets"), ("switch.buffer", "50 packets")]);
        assert_eq!(found.as_deref(), Some(port), "{overhead} B");
    }
}

/// An answer of 100 kB takes 9.328 ms, a request of 1 kB 93.28 us, and both 6 ms on their ways: with 10 ms for the service one comes every
/// 25.42128 ms.
#[test]
fn requests_and_answers_load_both_directions() {
    let traffic = |request, response| {
        format!(
            "traffic = {{ kind = \"request-response\", request = {{ kind = \"fixed\", bytes = \"{request} kB\" }}, \
             response = {{ kind = \"fixed\", bytes = \"{response} kB\" }}, service = \"10 ms\" }}"
        )
    };
    assert_offered("", &flow("x", "a1", &traffic(1, 100)), segments(100.0 / 25.42128e-3));
    let uploads = paths("", &flow("x", "a1", &traffic(100, 1)));
    assert_eq!(bottleneck(&uploads, &[]).as_deref(), Some("s2 > s1"));
}

/// Three connections of one server share its line; two clients have a line each.
#[test]
fn a_server_offers_no_more_than_its_line() {
    let group = |name: &str, flows: u32, from: &str, to: &str| {
        format!("[[group]]\nname = \"{name}\"\nflows = {flows}\nfrom = \"{from}\"\nto = \"{to}\"\n")
    };
    let text = paths("", &(group("x", 3, "a1", "b") + &group("y", 1, "c*", "d")));
    let text = text.replace("1 Gbit/s", "100 Mbit/s");
    assert_eq!(bottleneck(&text, &[]).as_deref(), Some("s3 > s4"));
}

#[test]
fn a_port_that_no_flow_crosses_is_no_bottleneck() {
    let text = r#"
schema = 1
name = "beside switches"
duration = "100 ms"
[topology]
kind = "graph"
node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "s", kind = "switch" }, { name = "t", kind = "switch" }]
link = [{ from = "a", to = "b" }, { from = "s", to = "t" }]
[[flow]]
name = "x"
from = "a"
to = "b"
"#;
    assert_eq!(bottleneck(text, &[]), None);
    let result = replicate(&load(text, &[]), 0, Options::default());
    assert!(metric(&result, "goodput") > 0.0 && metric(&result, "utilisation").is_nan());
}

/// The excess is that of VCs of cells (ATM Forum TM 4.1 appendix I.3): packets have none.
#[test]
fn packets_have_no_excess() {
    let text = "schema = 1\nname = \"guarantees\"\nduration = \"100 ms\"\ntopology = { kind = \"n-source\", sources = 2 }\n\
                vc = { category = \"gfr\", mcr = \"10 Mbit/s\" }\n";
    for (framing, buffer, expected) in [("cells", "100 cells", true), ("packets", "100 packets", false)] {
        let scenario = load(text, &[("link.framing", framing), ("switch.buffer", buffer)]);
        let result = replicate(&scenario, 0, Options::default());
        for name in ["excess", "excess_fairness_equal", "excess_fairness_weighted"] {
            assert_eq!(
                result.summary.iter().any(|metric| metric.name == name),
                expected,
                "{framing}: {name}"
            );
        }
    }
}

/// A port that always has something to send was never empty: 20 000 cells too many wait when the window begins.
#[test]
fn a_port_that_is_never_empty_has_no_time_at_zero() {
    let text = "schema = 1\nname = \"full\"\nduration = \"700 ms\"\nwarm-up = \"300 ms\"\ntopology = { kind = \"n-source\", sources = 2 }\n\
                link = { rate = \"33333333 bit/s\" }\nmeasures.distributions = true\n\
                traffic = { kind = \"cbr\", rate = \"31 Mbit/s\" }\n";
    for (buffer, store_queues) in [("60 cells", false), ("60 cells", true), ("unlimited", false)] {
        let scenario = load(text, &[("switch.buffer", buffer)]);
        let result = replicate(&scenario, 0, Options { store_queues, ..Options::default() });
        let table = &result.distributions;
        let of_trunk = |row: &usize| texts(table, "entity")[*row] == "switch1 > switch2";
        let rows: Vec<_> = (0..table.counts("low").len()).filter(of_trunk).collect();
        assert!(rows.iter().all(|&row| table.counts("low")[row] > 0), "{buffer}");
        let time: u64 = rows.iter().map(|&row| table.counts("weight")[row]).sum();
        assert_eq!(time, 400_000_000_000, "{buffer}");
    }
}
