//! Switches whose output ports share one memory with dynamic thresholds (Choudhury and Hahne 1998).

use celltrain_engine::{
    Time,
    time::{MICROSECOND, MILLISECOND},
};
use celltrain_network::{Experiment, Options, audit::Audit};

use crate::common::{assert_same_in_any_order, error, load, run_traced, total};

/// A switch with `ports` ports, to each of which a host of its own sends cells at twice the rate of the link, the first from 0 s on and each
/// further one 20 ms later.
fn overloaded(ports: usize, switch: &str) -> String {
    let (mut nodes, mut links, mut flows) = (String::new(), String::new(), String::new());
    for port in 1..=ports {
        nodes += &format!(
            ", {{ name = \"h{port}\", kind = \"host\" }}, {{ name = \"d{port}\", kind = \"host\" }}"
        );
        links += &format!(
            "{{ from = \"h{port}\", to = \"s\" }}, {{ from = \"s\", to = \"d{port}\", rate = \"21.2 Mbit/s\" }}, "
        );
        flows += &format!(
            "[[flow]]\nname = \"f{port}\"\nfrom = \"h{port}\"\nto = \"d{port}\"\ntraffic = {{ kind = \"cbr\", rate = \"42.4 Mbit/s\", \
             start = \"{} ms\" }}\n",
            20 * (port - 1)
        );
    }
    format!(
        "schema = 1\nname = \"overloaded ports\"\nduration = \"1 s\"\nlink = {{ rate = \"84.8 Mbit/s\", delay = \"3 us\" }}\n\
         switch = {{ {switch} }}\n[topology]\nkind = \"graph\"\n\
         node = [{{ name = \"s\", kind = \"switch\" }}{nodes}]\nlink = [{links}]\n{flows}"
    )
}

/// Packets of TCP from fifteen hosts to one, over switches of a fat tree, and back.
const INCAST: &str = r#"
schema = 1
name = "incast"
duration = "60 ms"
topology = { kind = "fat-tree", k = 4, pattern = "incast" }
traffic = { kind = "finite", bytes = "60 kB", start = "0 us .. 20 us" }
[link]
framing = "packets"
rate = "1 Gbit/s"
delay = "2 us"
[switch]
buffer = "60 packets"
[tcp]
stack = "linux"
initial-window = 10
rto-min = "5 ms"
"#;

/// Frames of cells on a trunk that is too slow, there and back.
const CELLS: &str = r#"
schema = 1
name = "frames of cells"
duration = "60 ms"
topology = { kind = "parking-lot", switches = 3, sources = 3 }
switch = { buffer = "300 cells" }
link = { rate = "155.52 Mbit/s", delay = "100 us" }
tcp = { stack = "reno", mss = "1460 B" }
"#;

/// Keys and what they are set to.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// What each switch port holds after so long.
fn held_at(text: &str, times: &[Time]) -> Vec<Vec<u64>> {
    let scenario = load(text, &[]);
    let experiment = Experiment::new(&scenario).unwrap();
    let mut network = experiment.network(1, 0, Options::default());
    let mut held = |&time: &Time| {
        assert!(network.advance(time, &mut || false));
        let Audit { ports, .. } = network.audit();
        ports.iter().filter(|port| port.in_switch).map(|port| port.occupancy).collect()
    };
    times.iter().map(&mut held).collect()
}

/// Equation (2) of the paper: S ports at their limit hold αB/(1 + αS) each, and B/(1 + αS) stays free.
#[test]
fn saturated_ports_hold_equal_shares_of_the_memory() {
    for (alpha, ports) in [(1.0, 1), (1.0, 2), (1.0, 3), (2.0, 3), (0.5, 4), (8.0, 2)] {
        let switch = format!(
            "buffer = \"unlimited\", memory = {{ size = \"1000 cells\", alpha = {alpha:?} }}, delay = \"0 s\""
        );
        let held = held_at(&overloaded(ports, &switch), &[900 * MILLISECOND]);
        let share = 1000.0 * alpha / (1.0 + alpha * ports as f64);
        assert_eq!(held[0].len(), ports);
        for &one in &held[0] {
            // A port at its limit takes a cell when one has left.
            assert!((one as f64 - share).abs() <= 1.5, "{alpha}, {ports} ports: {one} instead of {share}");
        }
    }
}

/// A port that was alone gives way when another becomes busy (section II.B of the paper: the threshold adapts to the load).
#[test]
fn the_limit_falls_when_another_port_becomes_busy() {
    let text = overloaded(2, "buffer = \"unlimited\", memory = { size = \"600 cells\" }");
    let held = held_at(&text, &[20 * MILLISECOND, 22 * MILLISECOND, 60 * MILLISECOND]);
    assert_eq!((held[0][0], held[0][1]), (300, 0));
    // Cells leave every 20 us and come every 10 us: after 2 ms the newcomer has 100, and takes what the threshold left free.
    assert!(held[1][1] >= 99 && held[1][0] < 300, "{:?}", held[1]);
    assert!(held[2].iter().all(|&one| one.abs_diff(200) <= 1), "{:?}", held[2]);
}

/// A memory that never limits is a buffer for each port: the same run, byte by byte.
#[test]
fn a_memory_that_never_limits_changes_nothing() {
    let red = [("switch.discard.policy", "red")];
    let push_out = [("switch.discard.policy", "fq-codel"), ("switch.scheduler.discipline", "flow-queue")];
    let limits = [("switch.vc-buffer", "40 packets"), ("tie-break", "port-id")];
    let cases: [(&str, Pairs<'_>, &str); 6] = [
        (INCAST, &[], "packets"),
        (INCAST, &push_out, "packets"),
        (INCAST, &limits, "packets"),
        (CELLS, &[], "cells"),
        (CELLS, &red, "cells"),
        (CELLS, &[("switch.scheduler.discipline", "wfq"), ("switch.discard.policy", "epd")], "cells"),
    ];
    for (text, pairs, unit) in cases {
        let separate = run_traced(text, pairs);
        assert!(
            total(&separate.ports, "cells_discarded") > 0,
            "{pairs:?}: the buffers are too large to be seen"
        );
        // The most ports of a switch here are 16, and 16 · 300 units always leave a million times one free.
        for size in ["unlimited", &format!("4801 {unit}")] {
            let shared = [pairs, &[("switch.memory.size", size), ("switch.memory.alpha", "1e6")]].concat();
            assert_eq!(
                format!("{:?}", run_traced(text, &shared)),
                format!("{separate:?}"),
                "{} {pairs:?} {size}",
                separate.fingerprint
            );
        }
    }
}

/// A memory that limits: any order and any length of visits, and any parts that run at once, give one run.
#[test]
fn any_schedule_gives_one_run() {
    let memory = |size| [("switch.memory.size", size), ("switch.memory.alpha", "0.5")];
    let push_out = [("switch.discard.policy", "fq-codel"), ("switch.scheduler.discipline", "flow-queue")];
    let port_id = [("tie-break", "port-id"), ("switch.discard.policy", "epd")];
    let cases: [(&str, Vec<_>); 4] = [
        (INCAST, memory("90 packets").into()),
        (INCAST, [memory("100 packets"), push_out].concat()),
        (CELLS, memory("500 cells").into()),
        (CELLS, [memory("700 cells"), port_id].concat()),
    ];
    for (text, pairs) in &cases {
        let usual = run_traced(text, pairs);
        assert!(total(&usual.ports, "cells_discarded") > 0, "{pairs:?}: the memory limits nothing");
        assert_same_in_any_order(text, pairs, 10 * MILLISECOND, &usual);
    }
}

/// Fifteen hosts send to one: a memory as large as the four buffers of its switch takes what one of these loses.
#[test]
fn a_shared_memory_absorbs_an_incast_that_separate_buffers_lose() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/networks/shared-memory.toml");
    let lost = |pairs: &[(&str, &str)], memory: bool| {
        let mut text = std::fs::read_to_string(path).unwrap();
        if !memory {
            text = text.replace("memory = { size = \"240 packets\", alpha = 8 }", "");
        }
        total(&run_traced(&text, pairs).ports, "discarded_buffer_full")
    };
    assert_eq!(lost(&[], true), 0);
    assert!(lost(&[("switch.buffer", "60 packets")], false) > 0, "a quarter of the memory for each port");
    // What the comments of the file say.
    assert!(lost(&[("switch.buffer", "60 packets")], true) > 0);
    assert!(lost(&[("switch.memory.alpha", "0.25")], true) > 0);
}

/// At any time the ports together hold no more than the memory, and none of them more than its buffer.
#[test]
fn the_memory_holds_what_its_ports_hold_at_any_time() {
    let times: Vec<Time> = (1..40).map(|step| step * 700 * MICROSECOND + step * 137).collect();
    let size = 120;
    let text = overloaded(3, &format!("buffer = \"50 cells\", memory = {{ size = \"{size} cells\" }}"));
    for held in held_at(&text, &times) {
        assert!(held.iter().sum::<u64>() <= size && held.iter().all(|&one| one <= 50), "{held:?}");
    }
}

#[test]
fn what_does_not_suit_is_refused() {
    let cases: [(&str, Pairs<'_>, &str); 6] = [
        (CELLS, &[("switch.memory.size", "10 packets")], "carries cells: give a number of cells"),
        (INCAST, &[("switch.memory.size", "10 cells")], "carries packets: give a number of packets or bytes"),
        (INCAST, &[("switch.memory.size", "10 kB")], "is not counted as the buffer of the port"),
        (
            CELLS,
            &[("switch.memory.size", "10 cells"), ("switch.memory.alpha", "0")],
            "at 0 no port may hold anything: give a ratio above 0",
        ),
        (CELLS, &[("switch.memory.alpha", "1")], "size"),
        (
            CELLS,
            &[
                ("switch.memory.size", "1000 cells"),
                ("switch.allocator.algorithm", "erica"),
                ("vc.category", "abr"),
            ],
            "the ports of a switch that share its memory (switch.memory) relay no RM cells",
        ),
    ];
    for (text, pairs, expected) in cases {
        let found = error(text, pairs);
        assert!(found.contains(expected), "{pairs:?}: {found}");
    }
}
