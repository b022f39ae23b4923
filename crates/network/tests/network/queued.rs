//! Ports that store their queues: the same network as plain FIFOs where both can do it, and right where only they can.

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName};
use celltrain_network::{Options, RunResult, scenario::Scenario};

use crate::{
    common::{names, replicate, run, scenario, traced, value},
    identities::counts,
};

fn stored(scenario: &Scenario, store_queues: bool) -> RunResult {
    replicate(scenario, 0, Options { store_queues, ..traced() })
}

fn parking_lot(framing: &str, buffer: &str, policy: &str, keys: &str) -> Scenario {
    scenario(&format!(
        "duration = \"60 ms\"\nwarm-up = \"5 ms\"\n[topology]\nkind = \"parking-lot\"\nswitches = 3\nsources = 3\n\
         [link]\ndelay = \"50 us\"\nframing = \"{framing}\"\n[switch]\nbuffer = \"{buffer}\"\ndiscard.policy = \"{policy}\"\n\
         [tcp]\nmss = \"500 B\"\nrto-min = \"10 ms\"\nrto-initial = \"10 ms\"\n[traffic]\nkind = \"greedy\"\n\
         start = \"0 ms .. 2 ms\"\n{keys}"
    ))
}

#[test]
fn a_stored_fifo_is_the_plain_fifo() {
    for policy in PolicyName::ALL.iter().filter(|policy| !policy.pushes_out()) {
        // Virtual queues count packets.
        let bytes = if policy.name().ends_with("virtual-queuing") { "12 packets" } else { "6 KiB" };
        for (framing, buffer) in [("cells", "150 cells"), ("packets", "12 packets"), ("packets", bytes)] {
            let lost = lost_by_both(&parking_lot(framing, buffer, policy.name(), ""));
            assert!(lost > 0.0, "{framing}, {buffer}, {}: something is lost", policy.name());
        }
    }
}

/// The cells lost where ports store their queues, and where they do not: the runs are equal.
fn lost_by_both(scenario: &Scenario) -> f64 {
    let (plain, stored) = (stored(scenario, false), stored(scenario, true));
    let text = format!("{:?}", scenario.spec());
    assert_eq!(counts(&stored), counts(&plain), "{text}");
    assert_eq!(stored.fingerprint, plain.fingerprint, "{text}");
    column(&plain, "cells_discarded")
}

/// Rows of cells that come more slowly than they leave, from shapers or slower links, which find the line idle or not.
#[test]
fn a_stored_fifo_of_slow_rows_is_the_plain_one() {
    let shaped = "[vc]\npcr = \"60 Mbit/s\"\nspacing = \"cells\"\n";
    let slower = "[[flow]]\nname = \"2\"\nvc.pcr = \"17 Mbit/s\"\n";
    let mut lost = 0.0;
    for policy in PolicyName::ALL.iter().filter(|policy| !policy.pushes_out()) {
        for keys in [
            shaped.to_owned(),
            format!("{shaped}{slower}"),
            "[link.access]\nrate = \"25.6 Mbit/s\"\n".to_owned(),
        ] {
            lost += lost_by_both(&parking_lot("cells", "150 cells", policy.name(), &keys));
        }
    }
    assert!(lost > 0.0, "something is lost");
}

/// RED remembers its average while the queue is empty, so that it marks frames whose cells find the line idle one after another: the mark
/// is on all of them (RFC 3168, section 5: the codepoint is the packet's).
#[test]
fn a_stored_fifo_marks_slow_rows_as_the_plain_one() {
    let red = "red = { ecn = true, min = \"1 cells\", max = \"100 cells\", max-p = 0.5, weight = 0.1 }\n";
    for (access, trunk) in [("60 Mbit/s", "155.52 Mbit/s"), ("25.6 Mbit/s", "60 Mbit/s")] {
        let keys = format!(
            "[tcp]\necn = true\nmss = \"1500 B\"\n[link.access]\nrate = \"{access}\"\n[link.trunk]\nrate = \"{trunk}\"\n\
             [switch.discard]\npolicy = \"red\"\n{red}"
        );
        let scenario = scenario(&format!(
            "duration = \"200 ms\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[switch]\nbuffer = \"300 cells\"\n\
             [link]\ndelay = \"50 us\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 5 ms\"\n{keys}"
        ));
        let (plain, stored) = (stored(&scenario, false), stored(&scenario, true));
        assert_eq!(counts(&stored), counts(&plain), "{access}");
        assert_eq!(stored.fingerprint, plain.fingerprint, "{access}");
        assert!(column(&plain, "frames_marked") > 10.0, "{access}: {}", column(&plain, "frames_marked"));
    }
}

#[test]
fn a_stored_fifo_of_abr_is_the_plain_one() {
    let mut lost = 0.0;
    for allocator in AllocatorName::ALL {
        for (buffer, mss) in [("unlimited", 512), ("1010 cells", 1500)] {
            let scenario = scenario(&format!(
                "duration = \"80 ms\"\nwarm-up = \"5 ms\"\nsample = \"100 us\"\n[topology]\nkind = \"parking-lot\"\n\
                 switches = 3\nsources = 3\n[link]\ndelay = \"50 us\"\n[switch]\nbuffer = \"{buffer}\"\n\
                 allocator.algorithm = \"{}\"\n[vc]\ncategory = \"abr\"\n[abr]\nrif = 1\nicr = \"150 Mbit/s\"\n\
                 [tcp]\nmss = \"{mss} B\"\nrto-min = \"10 ms\"\nrto-initial = \"10 ms\"\n[traffic]\n\
                 kind = \"greedy\"\nstart = \"0 ms .. 2 ms\"\n",
                allocator.name()
            ));
            let (plain, stored) = (stored(&scenario, false), stored(&scenario, true));
            assert_eq!(plain.fingerprint, stored.fingerprint, "{}, {buffer}", allocator.name());
            assert_eq!(counts(&plain), counts(&stored), "{}, {buffer}", allocator.name());
            assert_eq!(plain.series, stored.series, "{}, {buffer}", allocator.name());
            assert!(!plain.series.is_empty(), "the queues are followed over time");
            assert!(column(&plain, "abr_queue_max") > 10.0, "{}, {buffer}: cells queue", allocator.name());
            lost += column(&plain, "cells_discarded");
        }
    }
    assert!(lost > 0.0, "the limited buffers lose some");
}

/// Where rate control and a policy that keeps occupancies by VC both look at what arrives, each cell is looked at by itself.
#[test]
fn a_stored_fifo_of_abr_by_vc_is_the_plain_one() {
    let mut lost = 0.0;
    for policy in ["fba", "selective-drop", "wba", "per-vc"] {
        lost += lost_by_both(&scenario(&format!(
            "duration = \"60 ms\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[link]\ndelay = \"50 us\"\n\
             trunk.rate = \"40 Mbit/s\"\n[switch]\nbuffer = \"80 cells\"\nallocator.algorithm = \"erica\"\n\
             discard.policy = \"{policy}\"\n[vc]\ncategory = \"abr\"\n[abr]\nicr = \"150 Mbit/s\"\n\
             [tcp]\nrto-min = \"10 ms\"\nrto-initial = \"10 ms\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 2 ms\"\n"
        )));
    }
    assert!(lost > 0.0, "something is lost");
}

/// The fullest moment of a window may be its first, whatever came before.
#[test]
fn a_window_begins_with_what_the_buffer_holds() {
    let burst = scenario(
        "duration = \"60 ms\"\nwarm-up = \"6 ms\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\n\
         rate = \"622.08 Mbit/s\"\ndelay = \"10 us\"\ntrunk.rate = \"155.52 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n\
         [traffic]\nkind = \"on-off\"\npeak = \"622.08 Mbit/s\"\non = \"5 ms\"\noff = \"1 s\"\n",
    );
    // 5 ms at four times the rate of the trunk, which has sent for 6 ms.
    let cell = 424.0 / 155.52e6;
    let expected = (5e-3 * 4.0 - 6e-3) / cell;
    for store in [false, true] {
        let result = stored(&burst, store);
        let found = value(&result.ports, "switch1 > switch2", "occupancy_max");
        assert!((found - expected).abs() < 20.0, "{found} instead of {expected}");
    }
}

/// A packet counts with its bytes: a deficit round robin gives both VCs as many, though one has packets a third the size.
#[test]
fn a_round_of_packets_is_of_bytes() {
    let result = run(
        "duration = \"5 s\"\nwarm-up = \"1 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\n\
         delay = \"1 ms\"\nrate = \"100 Mbit/s\"\ntrunk.rate = \"10 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n\
         scheduler.discipline = \"deficit-round-robin\"\n[[flow]]\nname = \"1\"\ntcp.mss = \"1460 B\"\n\
         [[flow]]\nname = \"2\"\ntcp.mss = \"460 B\"\n",
    );
    // Headers of 40 bytes each.
    let bytes = |flow: &str, mss: f64| value(&result.flows, flow, "bytes_delivered") * (mss + 40.0) / mss;
    let ratio = bytes("1", 1460.0) / bytes("2", 460.0);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// The sum of a column over all ports.
fn column(result: &RunResult, name: &str) -> f64 {
    names(&result.ports).iter().map(|port| value(&result.ports, port, name)).sum()
}

/// Three bare sources of different rates, `kind`s of traffic, into one port with the keys `switch`.
fn three_sources(kind: &str, switch: &str) -> RunResult {
    let rates = ["80", "60", "15"].iter().enumerate().map(|(index, rate)| {
        format!(
            "[[flow]]\nname = \"{}\"\ntraffic = {{ kind = \"{kind}\", rate = \"{rate} Mbit/s\" }}\n",
            index + 1
        )
    });
    let rates: String = rates.collect();
    run(&format!(
        "duration = \"1 s\"\nwarm-up = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 3\n\
         [link]\ndelay = \"50 us\"\nrate = \"10 Gbit/s\"\ntrunk.rate = \"90 Mbit/s\"\n\
         [switch]\nbuffer = \"300 cells\"\n{switch}\n{rates}"
    ))
}

#[test]
fn round_robin_gives_max_min_shares_and_fifo_proportional_ones() {
    let throughput = |result: &RunResult, flow: &str| value(&result.flows, flow, "throughput") / 48e6 * 53.0;
    let fair = three_sources("cbr", "vc-buffer = \"100 cells\"\nscheduler.discipline = \"round-robin\"");
    // Max-min shares of 90 Mbit/s among 80, 60 and 15: 37.5, 37.5 and 15.
    for (flow, share) in [("1", 37.5), ("2", 37.5), ("3", 15.0)] {
        let found = throughput(&fair, flow);
        assert!((found / share - 1.0).abs() < 1e-3, "flow {flow}: {found} Mbit/s, not {share}");
    }
    // Cells at random times meet a full shared queue with the same probability, whoever sends them.
    let fifo = three_sources("poisson", "");
    for (flow, sent) in [("1", 80.0), ("2", 60.0), ("3", 15.0)] {
        let (found, share) = (throughput(&fifo, flow), sent / 155.0 * 90.0);
        assert!((found / share - 1.0).abs() < 0.03, "flow {flow}: {found} Mbit/s, not {share}");
    }
    // A limit a VC divides the queue, and so the line, even under FIFO.
    let limited = three_sources("cbr", "vc-buffer = \"100 cells\"");
    assert!((throughput(&limited, "1") / 37.5 - 1.0).abs() < 1e-3, "{}", throughput(&limited, "1"));
}

#[test]
fn the_excess_is_shared_as_the_scheduler_shares_the_line() {
    // Three VCs with guarantees of 10, 20 and 30 Mbit/s send 60 each over 90 Mbit/s, a fourth sends no more than its
    // guarantee of 6 and takes no part: beyond the guarantees there are 24.
    let run = |discipline: &str| {
        run(&format!(
            "duration = \"1 s\"\nwarm-up = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 4\n[link]\n\
             delay = \"50 us\"\ntrunk.rate = \"90 Mbit/s\"\n[switch]\nbuffer = \"400 cells\"\nvc-buffer = \"100 cells\"\n\
             scheduler = {{ discipline = \"{discipline}\", wfq.share = \"mcr\", scfq.share = \"mcr\" }}\n\
             [traffic]\nkind = \"cbr\"\nrate = \"60 Mbit/s\"\n[vc]\nmcr = \"10 Mbit/s\"\n\
             [[flow]]\nname = \"2\"\nvc.mcr = \"20 Mbit/s\"\n[[flow]]\nname = \"3\"\nvc.mcr = \"30 Mbit/s\"\n\
             [[flow]]\nname = \"4\"\nvc.mcr = \"6 Mbit/s\"\ntraffic = {{ kind = \"cbr\", rate = \"6 Mbit/s\" }}\n"
        ))
    };
    let metric = |result: &RunResult, name: &str| {
        result.summary.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    };
    let close = |found: f64, expected: f64, unit: f64| (found - expected).abs() < 1e-3 * unit;
    // Excess of each VC, and Jain's index of it over equal parts and over parts in proportion to the guarantees:
    // (4 + 8 + 12)^2 / (3 (16 + 64 + 144)) = 6/7; 28 Mbit/s each leave 18, 8 and none (the guarantee of 30 is missed):
    // (18 + 8)^2 / (3 (324 + 64)) and, over 1 : 2 : 3, (1.8 + 0.4)^2 / (3 (3.24 + 0.16)).
    let fair = [[4.0, 8.0, 12.0], [6.0 / 7.0, 1.0, 0.0]];
    let equal = [[18.0, 8.0, 0.0], [676.0 / 1164.0, 4.84 / 10.2, 0.0]];
    for (discipline, [rates, [by_equal, by_weight, _]]) in
        [("wfq", fair), ("scfq", fair), ("round-robin", equal)]
    {
        let result = run(discipline);
        for (flow, rate) in std::iter::zip(["1", "2", "3"], rates) {
            let found = value(&result.flows, flow, "excess");
            assert!(close(found, 1e6 * rate, 60e6), "{discipline}, flow {flow}: {found}");
        }
        assert!(value(&result.flows, "4", "excess").is_nan());
        assert_eq!(value(&result.flows, "4", "mcr"), 6e6);
        let total: f64 = rates.iter().sum();
        assert!(close(metric(&result, "excess").unwrap(), 1e6 * total, 60e6), "{discipline}");
        let part = value(&result.flows, "2", "excess_of_weighted_part");
        assert!((part - rates[1] / (total / 3.0)).abs() < 0.01, "{discipline}: {part}");
        for (name, expected) in [("excess_fairness_equal", by_equal), ("excess_fairness_weighted", by_weight)]
        {
            let found = metric(&result, name).unwrap();
            assert!((found - expected).abs() < 0.005, "{discipline}: {name} is {found}, not {expected}");
        }
    }
    let without = three_sources("cbr", "");
    assert_eq!(metric(&without, "excess"), None, "nothing is guaranteed");
    assert!(value(&without.flows, "1", "mcr").is_nan());
}

#[test]
fn a_shaper_spaces_cells_at_the_peak_rate() {
    let result = run(
        "duration = \"500 ms\"\nwarm-up = \"50 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"10 us\"\n\
         [vc]\npcr = \"20 Mbit/s\"\n[[flow]]\nname = \"2\"\nvc.pcr = \"45 Mbit/s\"\n[tcp]\nmss = \"512 B\"\n",
    );
    // 512 bytes in a frame of 12 cells (aal5 overhead of the default): the rates of cells are those of the shapers.
    for (flow, rate) in [("1", 20.0), ("2", 45.0)] {
        let port = format!("switch2 > dest{flow}");
        let rate_found = value(&result.ports, &port, "utilisation") * 155.52;
        assert!((rate_found / rate - 1.0).abs() < 2e-3, "flow {flow}: {rate_found} Mbit/s");
    }
}

#[test]
fn a_higher_category_is_served_first() {
    let result = run(
        "duration = \"500 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"10 us\"\ntrunk.rate = \"50 Mbit/s\"\n\
         [switch]\nbuffer = \"500 cells\"\nvc-buffer = \"250 cells\"\n[[flow]]\nname = \"1\"\ntraffic = { kind = \"cbr\", rate = \"40 Mbit/s\" }\n\
         vc.category = \"vbr\"\n[[flow]]\nname = \"2\"\ntraffic = { kind = \"cbr\", rate = \"40 Mbit/s\" }\n",
    );
    let cells = |flow: &str| value(&result.flows, flow, "throughput") / 48.0 * 53.0 / 1e6;
    assert!((cells("1") / 40.0 - 1.0).abs() < 1e-2, "VBR gets all it asks for: {}", cells("1"));
    assert!((cells("2") / 10.0 - 1.0).abs() < 5e-2, "UBR what is left: {}", cells("2"));
}

#[test]
fn flows_that_share_a_vc_count_its_cells_once() {
    let shared = "[[flow]]\nname = \"a\"\nfrom = \"h1\"\nto = \"h2\"\ncircuit = \"trunk\"\n\
                  [[flow]]\nname = \"b\"\nfrom = \"h1\"\nto = \"h2\"\ncircuit = \"trunk\"\n";
    let result = run(&format!(
        "duration = \"300 ms\"\n[topology]\nkind = \"graph\"\nnode = [{{ name = \"h1\", kind = \"host\" }}, \
         {{ name = \"s\", kind = \"switch\" }}, {{ name = \"h2\", kind = \"host\" }}]\n\
         link = [{{ from = \"h1\", to = \"s\" }}, {{ from = \"s\", to = \"h2\", rate = \"20 Mbit/s\" }}]\n\
         [link]\ndelay = \"100 us\"\n[switch]\nbuffer = \"200 cells\"\ndiscard.policy = \"epd\"\n{shared}"
    ));
    let sum = |column: &str| ["a", "b"].iter().map(|flow| value(&result.flows, flow, column)).sum::<f64>();
    let carried = value(&result.ports, "s > h2", "cells_forwarded");
    let received = sum("cells_useful") + sum("cells_useless");
    // What is on the link, or in a frame in progress, at the end is not yet received.
    assert!((0.0..200.0).contains(&(carried - received)), "carried {carried}, received {received}");
    assert!(value(&result.flows, "a", "throughput") > 1e6 && value(&result.flows, "b", "throughput") > 1e6);
}

#[test]
fn the_first_switch_tags_what_is_beyond_the_minimum_rate() {
    let result = run(
        "duration = \"1 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"10 us\"\n\
         [switch]\nbuffer = \"500 cells\"\n[vc]\nmcr = \"10 Mbit/s\"\npolicing = \"tag\"\nmfs = 10\nmbs = 19\n\
         [[flow]]\nname = \"1\"\ntraffic = { kind = \"cbr\", rate = \"10 Mbit/s\", frame = 10 }\n\
         [[flow]]\nname = \"2\"\ntraffic = { kind = \"cbr\", rate = \"20 Mbit/s\", frame = 10 }\n",
    );
    let frames = |flow: &str, column: &str| value(&result.flows, flow, column);
    assert_eq!(frames("1", "frames_tagged"), 0.0, "at its minimum rate");
    assert!(frames("1", "frames_eligible") > 2000.0);
    let (tagged, eligible) = (frames("2", "frames_tagged"), frames("2", "frames_eligible"));
    // The burst of 19 cells covers a few frames more at the start: 18 cells' credit, drawn on with 5 cells a frame.
    assert!(
        (0.0..=4.0).contains(&(eligible - tagged)),
        "at twice the rate every other: {tagged} and {eligible}"
    );
    let cells = frames("2", "cells_tagged");
    assert!((cells - 10.0 * tagged).abs() <= 10.0, "{cells} cells of {tagged} frames");
    assert_eq!(frames("1", "cells_tagged"), 0.0);
    // Tags are put on at the first switch and seen from there on.
    let tagged_cells = |port: &str| value(&result.ports, port, "cells_accepted_clp1");
    assert_eq!(tagged_cells("src2 > switch1"), 0.0);
    for port in ["switch1 > switch2", "switch2 > dest2"] {
        assert!((tagged_cells(port) - 10.0 * tagged).abs() <= 20.0, "{port}: {}", tagged_cells(port));
    }
}

/// A source at 20 Mbit/s of which 5 Mbit/s keep to the sustainable rate: three cells of four are tagged, but for the burst at the start.
#[test]
fn cells_beyond_the_sustainable_rate_are_tagged_and_counted() {
    let result = run(
        "duration = \"1 s\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\ndelay = \"10 us\"\n\
         [switch]\nbuffer = \"500 cells\"\n\
         [vc]\ncategory = \"vbr\"\npcr = \"50 Mbit/s\"\nscr = \"5 Mbit/s\"\nmbs = 10\npolicing = \"tag-cells\"\nspacing = \"none\"\n\
         [traffic]\nkind = \"cbr\"\nrate = \"20 Mbit/s\"\n",
    );
    let (sent, tagged) = (value(&result.flows, "1", "cells_sent"), value(&result.flows, "1", "cells_tagged"));
    assert!((tagged - 0.75 * sent).abs() <= 12.0, "{tagged} of {sent}");
    let accepted = value(&result.ports, "switch1 > switch2", "cells_accepted_clp1");
    assert!((accepted - tagged).abs() <= 1.0, "{accepted} of {tagged} went on");
    assert_eq!(value(&result.flows, "1", "frames_tagged"), 0.0, "no frame is policed");
}

#[test]
fn illegal_cells_are_followed_where_the_policy_knows_them() {
    let followed = |policy: &str| {
        let result = run(&format!(
            "duration = \"60 us\"\nsample = \"1 us\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
             [link]\nrate = \"848 Mbit/s\"\ntrunk.rate = \"424 Mbit/s\"\ndelay = \"0 s\"\n\
             [switch]\nbuffer = \"40 cells\"\ndiscard.policy = \"{policy}\"\n[vc]\nmfs = 4\n\
             [[flow]]\nname = \"1\"\ntraffic = {{ kind = \"cbr\", rate = \"848 Mbit/s\", frame = 4 }}\n\
             vc.mcr = \"100 Mbit/s\"\n[[flow]]\nname = \"2\"\nvc.mcr = \"300 Mbit/s\"\n\
             traffic = {{ kind = \"cbr\", rate = \"100 Mbit/s\", frame = 4, start = \"1 ms\" }}\n"
        ));
        let port = result.series.into_iter().filter(|series| series.entity == "switch1 > switch2");
        port.map(|series| (series.metric, series)).collect::<std::collections::BTreeMap<_, _>>()
    };
    for policy in ["epd-push-out", "abs-push-out", "abs-push-out-hardware"] {
        let series = followed(policy);
        let illegal = &series["illegal_occupancy"];
        assert_eq!(illegal.unit, "cells");
        // A quarter of the buffer is due to VC 1, which alone sends, twice as fast as the trunk.
        let beyond: Vec<_> =
            series["occupancy"].values.iter().map(|occupancy| (occupancy - 10.0).max(0.0)).collect();
        assert_eq!(illegal.values, beyond, "{policy}");
        assert!(beyond[5] == 0.0 && *beyond.last().unwrap() > 20.0, "{policy}: {beyond:?}");
    }
    assert!(!followed("epd").contains_key("illegal_occupancy"));
}
