//! Packet-framed links: times, limits and policies by whole frames.

use celltrain_atm::{buffer::PolicyName, scheduler::DisciplineName};
use celltrain_network::RunResult;

use crate::common::{error, load, metric, numbers, of_flow, run_recorded, total};

/// One connection over a bottleneck with room for eight packets, the one in transmission included (K. Fall and S. Floyd,
/// "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996).
const FALL_FLOYD: &str = include_str!("../../../../scenarios/teaching/fall-floyd.toml");

#[test]
fn a_packet_takes_the_time_of_its_bytes_without_drift() {
    // A window of one segment: each takes its round trip, and an ACK the same way back.
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    let result = run_recorded(
        text,
        &[("tcp.receive-window", "1000 B"), ("duration", "1000 s"), ("link.overhead", "10 B")],
    );
    // 1050 bytes at 8 Mbit/s and 800 kbit/s, ACKs of 50 bytes, 100 ms each way.
    let round = 1050.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 50.0 * 8.0 * (1.0 / 8e6 + 1.0 / 8e5) + 0.2;
    assert_eq!(of_flow(&result, "segments_sent"), (1000.0 / round) as u64 + 1);
    let acks = result.series.iter().find(|series| series.metric == "acknowledged").unwrap();
    for (number, time) in std::iter::zip(1.., &acks.times) {
        assert!((time - f64::from(number) * round).abs() < 1e-9, "ACK {number} at {time}");
    }
}

#[test]
fn a_buffer_never_holds_more_than_its_limit() {
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    for (buffer, most) in [("8 packets", 8), ("5 KiB", 4 * 1040)] {
        let result = run_recorded(
            text,
            &[("switch.buffer", buffer), ("tcp.receive-window", "60 KiB"), ("duration", "60 s")],
        );
        assert!(total(&result.ports, "discarded_buffer_full") > 0, "{buffer}");
        let switch = result.ports.counts("switch").iter().position(|&switch| switch == 1).unwrap();
        let fullest = result.ports.counts("occupancy_max");
        assert_eq!(fullest[switch..].iter().max(), Some(&most), "{buffer}");
        let busy = metric(&result, "utilisation");
        assert!((0.5..=1.0).contains(&busy), "{busy}");
    }
}

/// Five connections over one port that carries packets.
const FIVE: &str = r#"
schema = 1
name = "packets"
duration = "20 s"
topology = { kind = "n-source", sources = 5 }
[link]
rate = "10 Mbit/s"
delay = "5 ms"
framing = "packets"
[switch]
buffer = "20 packets"
[switch.discard]
policy = "tail-drop"
espd-original = { high = "90 %", low = "50 %", red-limit = 2 }
"#;

/// Checks what every port of packets must do under overload: it stays within its limit, breaks no frame, and keeps busy.
fn check_overload(overrides: &[(&str, &str)]) -> RunResult {
    let result = run_recorded(FIVE, overrides);
    assert!(total(&result.ports, "cells_discarded") > 0, "{overrides:?}");
    assert_eq!(total(&result.flows, "cells_useless"), 0, "{overrides:?}");
    let throughput = metric(&result, "throughput");
    assert!((7e6..1e7).contains(&throughput), "{overrides:?}: {throughput}");
    result
}

#[test]
fn every_policy_runs_on_packets() {
    for policy in PolicyName::ALL {
        // Virtual queues count packets.
        let bytes = if policy.name().ends_with("virtual-queuing") { "20 packets" } else { "30 KiB" };
        for buffer in ["20 packets", bytes] {
            check_overload(&[("switch.discard.policy", policy.name()), ("switch.buffer", buffer)]);
        }
    }
}

#[test]
fn policies_that_look_at_frames_refuse_before_the_buffer_is_full() {
    for policy in ["tail-drop", "ppd", "epd", "espd", "espd-original"] {
        let result = check_overload(&[("switch.discard.policy", policy)]);
        let sum = |column: &str| total(&result.ports, column);
        let (full, discarded) = (sum("discarded_buffer_full"), sum("cells_discarded"));
        assert_eq!(
            full == discarded,
            ["tail-drop", "ppd"].contains(&policy),
            "{policy}: {full} of {discarded}"
        );
    }
}

#[test]
fn a_reserved_frame_is_a_packet_with_all_its_bytes() {
    // 32 cells carry 1536 bytes, and a packet of 540 is let in only if as many are free.
    let result = check_overload(&[
        ("switch.discard", "{ policy = \"abs-push-out\", abs-push-out.admission = \"whole-frame\" }"),
        ("switch.buffer", "10 KiB"),
        ("tcp.mss", "500 B"),
    ]);
    let most = 10 * 1024 - 1536 + 540;
    let switch = result.ports.counts("switch").iter().position(|&switch| switch == 1).unwrap();
    let fullest = *result.ports.counts("occupancy_max")[switch..].iter().max().unwrap();
    assert!((most - 540..=most).contains(&fullest), "{fullest} bytes, at most {most}");
}

/// A limit of a VC in bytes is in bytes, also where the whole buffer has no limit; the largest occupancy is in the buffer's unit.
#[test]
fn limits_in_bytes_are_in_bytes() {
    let of = |buffer| [("switch.buffer", buffer), ("switch.vc-buffer", "6000 B")];
    let [unlimited, large] = ["unlimited", "1 GB"].map(|buffer| run_recorded(FIVE, &of(buffer)));
    assert_eq!(unlimited.fingerprint, large.fingerprint);
    let unit = |result: &RunResult| {
        let columns = result.ports.columns();
        columns
            .iter()
            .filter(|column| column.0.starts_with("occupancy_"))
            .map(|column| column.1)
            .collect::<Vec<_>>()
    };
    let most = |result: &RunResult| *result.ports.counts("occupancy_max").iter().max().unwrap();
    for result in [&unlimited, &large] {
        assert!((6_000..30_000).contains(&most(result)), "{}", most(result));
        // The buffers of hosts are in packets.
        assert_eq!(unit(result), ["packets", "packets or B"]);
        let metric = |name| result.summary.iter().find(|metric| metric.name == name).unwrap();
        assert_eq!((metric("occupancy_mean").unit, metric("occupancy_max").unit), ("packets", "B"));
    }
    let packets = check_overload(&[("switch.buffer", "20 packets")]);
    assert_eq!(unit(&packets), ["packets", "packets"]);
}

/// A buffer without limit is counted in packets, or as the limit of a VC is: a level in another unit would be misread.
#[test]
fn levels_of_an_unlimited_buffer_are_in_its_unit() {
    let of = |level, vc_buffer| {
        let policy = [("switch.discard.policy", "epd"), ("switch.discard.epd.threshold", level)];
        [&[("switch.buffer", "unlimited"), ("switch.vc-buffer", vc_buffer)], &policy[..]].concat()
    };
    for (level, vc_buffer, unit) in [
        ("3000 B", "unlimited", "packets"),
        ("4 cells", "unlimited", "packets"),
        ("4 packets", "6000 B", "bytes"),
        ("3000 B", "5 packets", "packets"),
    ] {
        let found = error(FIVE, &of(level, vc_buffer));
        assert!(found.contains("switch.discard.epd.threshold"), "{found}");
        assert!(found.contains(&format!("counted in {unit}: give a number of {unit}")), "{found}");
    }
    for (level, vc_buffer) in [("4 packets", "unlimited"), ("4 packets", "5 packets"), ("4000 B", "6000 B")] {
        assert!(load(FIVE, &of(level, vc_buffer)).graph().is_ok(), "{level}, {vc_buffer}");
    }
}

#[test]
fn every_scheduler_runs_on_packets() {
    for discipline in DisciplineName::ALL {
        check_overload(&[
            ("switch.scheduler.discipline", discipline.name()),
            ("switch.vc-buffer", "6 packets"),
        ]);
    }
}

/// Two hosts and a switch, 8 Mbit/s and 10 ms to it and 800 kbit/s and 20 ms from it.
const PAIR: &str = "schema = 1\nname = \"pair\"\nduration = \"10 s\"\n\
    [link]\nframing = \"packets\"\n[switch]\nbuffer = \"8 packets\"\n[measures]\ndelays = \"all\"\n\
    [topology]\nkind = \"graph\"\nnode = [{ name = \"a\", kind = \"host\" }, { name = \"s\", kind = \"switch\" }, { name = \"b\", kind = \"host\" }]\n\
    link = [{ from = \"a\", to = \"s\", rate = \"8 Mbit/s\", delay = \"10 ms\" }, { from = \"s\", to = \"b\", rate = \"800 kbit/s\", delay = \"20 ms\" }]\n\
    [[flow]]\nname = \"1\"\nfrom = \"a\"\nto = \"b\"\ntraffic = { kind = \"cbr\", rate = \"400 kbit/s\", packet = \"500 B\" }\n";

/// A packet of 500 B every 10 ms: half of the slower link, so that none waits. Each takes 0.5 ms and 5 ms to be sent and 30 ms to travel.
#[test]
fn packets_without_tcp_come_at_their_rate_and_in_their_time() {
    let result = run_recorded(PAIR, &[]);
    let delivered = of_flow(&result, "frames_delivered");
    // Those that are sent within the last 35.5 ms are under way.
    assert_eq!((delivered, of_flow(&result, "cells_sent")), (997, 1000));
    assert_eq!(numbers(&result.flows, "goodput")[0], 997.0 * 500.0 * 8.0 / 10.0);
    for column in ["transfer_delay_mean", "transfer_delay_max"] {
        assert!((numbers(&result.flows, column)[0] - 0.0355).abs() < 1e-11, "{column}");
    }
    assert_eq!(numbers(&result.flows, "delay_variation")[0], 0.0);
    assert_eq!(numbers(&result.flows, "cell_loss_ratio")[0], 0.0);
}

/// At 1.6 Mbit/s every other packet is lost in front of 800 kbit/s; what arrives keeps the link busy.
#[test]
fn packets_without_tcp_are_lost_for_good() {
    let result = run_recorded(PAIR, &[("flow.0.traffic.rate", "1.6 Mbit/s"), ("warm-up", "1 s")]);
    assert!((numbers(&result.flows, "goodput")[0] / 8e5 - 1.0).abs() < 1e-3);
    assert!((numbers(&result.flows, "cell_loss_ratio")[0] - 0.5).abs() < 1e-3);
    assert_eq!(of_flow(&result, "segments_sent"), 0);
}

/// A packet of ten is lost on each of the links: that is no loss in switches.
#[test]
fn what_links_lose_has_a_ratio_of_its_own() {
    let result = run_recorded(PAIR, &[("link.loss", "0.1")]);
    let (lost, arrived) = (total(&result.ports, "lost_random"), of_flow(&result, "frames_delivered"));
    assert!(lost > 100 && arrived > 500);
    assert_eq!(metric(&result, "link_loss_ratio"), lost as f64 / (lost + arrived) as f64);
    assert_eq!(metric(&result, "cell_loss_ratio"), 0.0);
    let dark = "{ from = \"1 s\", length = \"1 s\" }";
    let result = run_recorded(PAIR, &[("link.dark", dark)]);
    let (lost, arrived) = (total(&result.ports, "lost_dark"), of_flow(&result, "frames_delivered"));
    assert!(lost > 50);
    assert_eq!(metric(&result, "link_loss_ratio"), lost as f64 / (lost + arrived) as f64);
    let kept = run_recorded(PAIR, &[]);
    assert!(kept.summary.iter().all(|metric| metric.name != "link_loss_ratio"));
}

/// Every model of a source sends packets, each with the mean rate that its parameters give, within what ten seconds of a random process can
/// show; over links that lose, reorder and mark packets too.
#[test]
fn every_source_sends_packets() {
    let states =
        "[{ rate = \"0 Mbit/s\", mean-time = \"10 ms\" }, { rate = \"800 kbit/s\", mean-time = \"10 ms\" }]";
    for (kind, keys) in [
        ("poisson", "rate = \"400 kbit/s\"".to_owned()),
        ("bernoulli", "peak = \"800 kbit/s\", probability = 0.5".to_owned()),
        ("mmpp", format!("states = {states}")),
        ("on-off", "peak = \"800 kbit/s\", on = \"50 ms\", off = \"50 ms\"".to_owned()),
        ("on-off", "peak = \"800 kbit/s\", on = \"50 ms\", off = \"50 ms\", distribution = \"pareto\", shape = 3".to_owned()),
        (
            "long-range",
            "rate = { minimum = \"200 kbit/s\", mean = \"400 kbit/s\", maximum = \"700 kbit/s\", cycle = \"10 ms\" }".to_owned(),
        ),
    ] {
        let traffic = format!("{{ kind = \"{kind}\", packet = \"100 B\", {keys} }}");
        let overrides =
            [("flow.0.traffic", traffic.as_str()), ("switch.buffer", "unlimited"), ("duration", "20 s")];
        let clean = run_recorded(PAIR, &overrides);
        let (sent, delivered) = (of_flow(&clean, "cells_sent"), of_flow(&clean, "frames_delivered"));
        assert!((sent as f64 / 10_000.0 - 1.0).abs() < 0.15, "{kind}: {sent}");
        assert!(sent - delivered < 300, "{kind}: {delivered} of {sent}");
        let rough = [&overrides[..], &[("link.loss", "0.1"), ("link.reorder", "{ share = 0.3, delay = \"5 ms\" }")]].concat();
        let rough = run_recorded(PAIR, &rough);
        let share = of_flow(&rough, "frames_delivered") as f64 / of_flow(&rough, "cells_sent") as f64;
        // Two links, each of which loses a tenth.
        assert!((share - 0.81).abs() < 0.03, "{kind}: {share}");
    }
}

/// A packet of 500 B is a frame of 11 cells with AAL5's trailer, ⌈508 / 48⌉, and counts as 500 B.
#[test]
fn packets_travel_as_frames_on_cell_links() {
    let cells = [("link.framing", "cells"), ("switch.buffer", "1000 cells")];
    let result = run_recorded(PAIR, &cells);
    assert_eq!(of_flow(&result, "cells_sent"), 11 * 1000);
    let delivered = of_flow(&result, "frames_delivered");
    assert_eq!(of_flow(&result, "cells_useful"), 11 * delivered);
    assert_eq!(numbers(&result.flows, "goodput")[0], delivered as f64 * 500.0 * 8.0 / 10.0);
}

/// Packets whose sizes are drawn come at the times of those that have one size, count by their octets, and are smaller or larger than the mean:
/// of so many, the smallest has 40 B and takes 0.44 ms on both links, and one in e^5 more than five times the mean.
#[test]
fn packets_of_exponential_sizes_come_at_the_same_times() {
    let traffic =
        |more: &str| format!("{{ kind = \"poisson\", rate = \"200 kbit/s\", packet = \"500 B\"{more} }}");
    let run = |traffic: &str, duration: &str| {
        let overrides = [("flow.0.traffic", traffic), ("switch.buffer", "unlimited"), ("duration", duration)];
        run_recorded(PAIR, &overrides)
    };
    let (fixed, drawn) = (traffic(""), traffic(", packet-distribution = \"exponential\""));
    let [one, other] = [&fixed, &drawn].map(|traffic| run(traffic, "400 s"));
    assert_eq!(of_flow(&one, "cells_sent"), of_flow(&other, "cells_sent"));
    let [of_one, of_other] = [&one, &other].map(|result| numbers(&result.flows, "goodput")[0]);
    assert!(of_one != of_other && (of_other / of_one - 1.0).abs() < 0.03, "{of_one} and {of_other} bit/s");
    let least = numbers(&other.flows, "transfer_delay_p50")[0];
    assert!(least > 0.03044 && numbers(&other.flows, "transfer_delay_max")[0] > 0.0575);
    // They take links of packets.
    let cells = error(
        PAIR,
        &[("flow.0.traffic", &drawn), ("link.framing", "cells"), ("switch.buffer", "1000 cells")],
    );
    assert!(
        cells.contains("traffic.packet-distribution: packets whose sizes differ take links of packets"),
        "{cells}"
    );
}

/// Packets are counted octet by octet wherever they travel whole: on a link that reorders, too, and only from the warm-up on. All that are sent
/// arrive before the end, of 1000 of each size more than 400 kB.
#[test]
fn octets_of_packets_of_exponential_sizes_are_those_that_arrive_in_the_measured_time() {
    let traffic = "{ kind = \"poisson\", rate = \"400 kbit/s\", packet = \"500 B\", packet-distribution = \"exponential\" }";
    let goodput = |more: &[(&str, &str)]| {
        let flow =
            format!("[{{ name = \"1\", from = \"a\", to = \"b\", traffic = {traffic}, stop = \"10 s\" }}]");
        let all = [("flow", flow.as_str()), ("switch.buffer", "unlimited"), ("duration", "20 s")];
        numbers(&run_recorded(PAIR, &[&all[..], more].concat()).flows, "goodput")[0]
    };
    let all = goodput(&[]) * 20.0 / 8.0;
    assert!(all > 400e3 && all.fract() == 0.0, "{all} B");
    // In another order.
    let reorder = ("link.reorder", "{ share = 0.5, delay = \"30 ms\" }");
    assert_eq!(goodput(&[reorder]) * 20.0 / 8.0, all);
    for more in [&[][..], &[reorder]] {
        let of_window = |warm_up: &str| goodput(&[more, &[("warm-up", warm_up)]].concat());
        // Those of the later half, and none after the last.
        let late = of_window("5 s") * 15.0 / 8.0;
        assert!((0.3..0.7).contains(&(late / all)), "{late} of {all} B");
        assert_eq!(of_window("15 s"), 0.0);
    }
}

#[test]
fn packets_without_tcp_have_a_size_that_makes_sense() {
    for (traffic, expected) in [
        ("packet = \"39 B\"", "traffic.packet: expected 40 B to "),
        ("packet = \"65536 B\"", "traffic.packet: expected 40 B to "),
        (
            "packet = \"40 B\", frame = 2",
            "traffic.frame: a source sends packets or frames of so many cells: give `packet` or `frame`",
        ),
        (
            "kind = \"poisson\", packet-distribution = \"exponential\"",
            "traffic.packet-distribution: cells have one size, packets have others: give `packet`",
        ),
        (
            "kind = \"poisson\", packet = \"399 B\", packet-distribution = \"exponential\"",
            "traffic.packet: expected 400 B to 14 kB, found 399 B",
        ),
        (
            "frame = 2",
            "flow \"1\" sends bare cells, which a packet-framed link does not carry: give its traffic packets, as in packet = \"1500 B\"",
        ),
    ] {
        let kind = if traffic.contains("kind") { "" } else { "kind = \"cbr\", " };
        let traffic = format!("{{ {kind}rate = \"100 kbit/s\", {traffic} }}");
        let without = PAIR.replace(", packet = \"500 B\"", "");
        let found = error(&without, &[("flow.0.traffic", &traffic)]);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let text = FALL_FLOYD.split("[[loss]]").next().unwrap();
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("switch.buffer", "100 cells")], "which carries packets: give a number of packets or bytes"),
        (&[("link.framing", "cells")], "which carries cells: give a number of cells"),
        (
            &[("topology.link.0.framing", "cells"), ("switch.buffer", "unlimited")],
            "would change its framing on the way",
        ),
        (&[("traffic", "{ kind = \"cbr\", rate = \"1 Mbit/s\" }")], "sends bare cells"),
        (
            &[("switch.discard", "{ policy = \"epd\", epd.threshold = \"4 cells\" }")],
            "\"4 cells\" does not suit a buffer of 8 packets",
        ),
    ];
    for (overrides, expected) in cases {
        let found = error(text, overrides);
        assert!(found.contains(expected), "{found}");
    }
}
