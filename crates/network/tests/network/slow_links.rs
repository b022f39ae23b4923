//! Links of 1 kbit/s behind buffers without limits, and hosts as slow: what waits there may take longer than any time that a run knows.

use celltrain_network::RunResult;

use crate::common::{metric, run_traced, total, value};

/// Windows of ten segments of 65 kB, of 4000 connections at once: 21 Gbit, or 240 days at 1 kbit/s. Picoseconds of 64 bits reach 213 days.
const PACKETS: u64 = 10 * 4000;

/// All windows are sent at once, and no timer expires.
fn run(link: &str, more: &str) -> RunResult {
    let text = format!(
        "schema = 1\nname = \"slow\"\nduration = \"100 s\"\nsample = \"10 s\"\nlink = {{ delay = \"1 ms\", {link} }}\n\
         topology = {{ kind = \"backbone\", pairs = 1, flows = 4000 }}\nswitch.buffer = \"unlimited\"\ntraffic.kind = \"greedy\"\n{more}\n\
         tcp.stack = \"newreno\"\ntcp.mss = \"65000 B\"\ntcp.initial-window = 10\ntcp.window-scaling = true\ntcp.receive-window = \"1 GB\"\n\
         tcp.rto-min = \"1000 s\"\ntcp.rto-initial = \"1000 s\"\ntcp.rto-max = \"1000 s\"\n"
    );
    run_traced(&text, &[])
}

/// The first packet takes nine minutes: everything that the senders gave is in front of the link.
#[test]
fn all_that_the_windows_allow_waits_in_front_of_a_slow_link() {
    for (link, port) in [
        ("rate = \"1 kbit/s\"", "src1 > switch1"),
        ("rate = \"400 Gbit/s\", trunk.rate = \"1 kbit/s\"", "switch1 > switch2"),
    ] {
        let result = run(&format!("framing = \"packets\", {link}"), "");
        assert_eq!(total(&result.flows, "cells_sent"), PACKETS, "{port}");
        assert_eq!(metric(&result, "goodput"), 0.0);
        assert_eq!(value(&result.ports, port, "occupancy_max"), PACKETS as f64, "{port}");
        assert!((value(&result.ports, port, "occupancy_mean") / PACKETS as f64 - 1.0).abs() < 1e-3, "{port}");
        assert!((value(&result.ports, port, "utilisation") - 1.0).abs() < 1e-3, "{port}");
    }
}

/// A packet, or the cells of 100 s at the peak rate, go on; what has no turn in any run stays.
#[test]
fn all_that_the_windows_allow_waits_in_a_slow_shaper() {
    for (framing, sent) in [("packets", 1), ("cells", 236)] {
        let result = run(&format!("framing = \"{framing}\", rate = \"10 Gbit/s\""), "vc.pcr = \"1 kbit/s\"");
        assert_eq!(total(&result.flows, "cells_sent"), sent, "{framing}");
    }
}

/// A packet takes 1000 s in the IP layer, or longer in the processor, if the run lasted: none gets to the interface.
#[test]
fn all_that_the_windows_allow_waits_in_a_slow_host() {
    for slow in
        ["host.ip-rate = \"0.001 packet/s\"", "host = { ip-rate = \"0.001 packet/s\", ip-serves = \"both\" }"]
    {
        let result = run("framing = \"packets\", rate = \"10 Gbit/s\"", slow);
        assert_eq!(
            (total(&result.flows, "segments_sent"), total(&result.flows, "cells_sent")),
            (PACKETS, 0),
            "{slow}"
        );
    }
    let result = run("framing = \"packets\", rate = \"10 Gbit/s\"", "tcp.processing-delay = \"1000000 s\"");
    assert_eq!((total(&result.flows, "segments_sent"), total(&result.flows, "cells_sent")), (PACKETS, 0));
}

/// Whether departures are computed or queues are stored, which depends on how much might come, changes nothing. The least timeout is shorter than
/// any that there is, as a segment takes more than 8 s.
#[test]
fn what_might_come_changes_nothing() {
    for (framing, place) in
        [("packets", "rate"), ("cells", "rate"), ("packets", "trunk.rate"), ("cells", "trunk.rate")]
    {
        let text = format!(
            "schema = 1\nname = \"slow\"\nduration = \"4000 s\"\nwarm-up = \"500 s\"\nsample = \"10 s\"\n\
             link = {{ delay = \"1 ms\", framing = \"{framing}\", rate = \"1 Gbit/s\" }}\ntopology = {{ kind = \"backbone\", pairs = 2, flows = 2 }}\n\
             switch.buffer = \"unlimited\"\ntraffic.kind = \"greedy\"\nmeasures.delays = \"all\"\n\
             tcp = {{ stack = \"newreno\", mss = \"1000 B\", rto-initial = \"10 s\" }}\n"
        );
        let of = |least: &str| {
            let key = format!("link.{place}");
            format!("{:?}", run_traced(&text, &[("tcp.rto-min", least), (&key, "1 kbit/s")]))
        };
        assert!(of("1 ms") == of("5 s"), "{framing}, {place}");
    }
}
