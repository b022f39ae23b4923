//! Runs that are watched: the same bytes as any other run, and every cell accounted for at every stop.

use std::collections::BTreeMap;

use celltrain_engine::{Time, time::MICROSECOND};
use celltrain_network::{Experiment, Options, live::Whereabouts, scenario::Framing};

use crate::common::{live, load, metric, numbers, of_flow, shipped, total};

/// Lengths of steps of all magnitudes, in picoseconds, over and over.
fn steps() -> impl Iterator<Item = Time> {
    let magnitudes = [1, 997, 2_726_338, 17 * MICROSECOND, 311 * MICROSECOND, 1_703 * MICROSECOND];
    magnitudes.into_iter().cycle()
}

#[test]
fn a_watched_run_has_the_fingerprint_of_any_other() {
    for scenario in shipped("40 ms") {
        let name = &scenario.spec().name;
        let experiment = Experiment::new(&scenario).unwrap();
        let run = experiment.run(scenario.spec().seed, 0, Options::default(), &mut || false).unwrap();
        let mut watched = live(&scenario);
        for step in steps() {
            if watched.is_over() {
                break;
            }
            assert!(watched.advance(watched.now() + step, &mut || false));
            let seen = (watched.rows(), watched.ports(), watched.flows());
            drop((seen, watched.drain_discards(), watched.drain_reactions()));
        }
        let result = watched.finish(&mut || false).unwrap();
        assert_eq!(result.fingerprint, run.fingerprint, "{name}");
        assert_eq!(result.cell_hops, run.cell_hops, "{name}");
        let values = |result: &celltrain_network::RunResult| format!("{:?}", result.summary);
        assert_eq!(values(&result), values(&run), "{name}");
    }
}

#[test]
fn the_rows_of_a_port_are_its_occupancy() {
    let (mut full, mut stored, mut packets) = (0, 0, 0);
    for scenario in shipped("20 ms") {
        let mut watched = live(&scenario);
        for step in steps() {
            if watched.is_over() {
                break;
            }
            watched.advance(watched.now() + step, &mut || false);
            let mut held: BTreeMap<usize, u64> = BTreeMap::new();
            for row in watched.rows() {
                match row.place {
                    Whereabouts::Buffer | Whereabouts::Stored => {
                        *held.entry(row.link).or_default() += u64::from(row.count);
                        stored += u64::from(row.place == Whereabouts::Stored);
                        packets += u64::from(watched.graph().links[row.link].framing == Framing::Packets);
                    }
                    Whereabouts::Link => {
                        let delay = watched.graph().links[row.link].delay.ps();
                        let last = row.after + row.step * u64::from(row.count - 1);
                        assert!(last <= delay, "{}: {row:?} is on the link", scenario.spec().name);
                    }
                    Whereabouts::Shaper => {}
                }
            }
            for port in watched.ports() {
                let rows = held.get(&port.link).copied().unwrap_or(0);
                assert_eq!(rows, port.occupancy, "{} at {} ps", scenario.spec().name, watched.now());
                full += port.occupancy;
            }
        }
    }
    assert!(full > 100_000, "queues that were looked at hold cells: {full}");
    assert!(stored > 1_000 && packets > 20, "{stored} rows where queues are stored, {packets} of packets");
}

#[test]
fn every_discarded_cell_is_told_of_once_and_breaks_its_frame() {
    let (mut told, mut carried) = (0, 0);
    for scenario in shipped("60 ms") {
        let mut watched = live(&scenario);
        let (mut discards, mut broken) = (0, std::collections::BTreeSet::new());
        while !watched.is_over() {
            watched.advance(watched.now() + 150 * MICROSECOND, &mut || false);
            for discard in watched.drain_discards() {
                assert!(discard.at < watched.now());
                let lost = discard.reason.starts_with("lost_");
                discards += if lost { 0 } else { u64::from(discard.count) };
                if discard.cell.kind == celltrain_atm::cell::Kind::Data {
                    broken.insert((discard.vc, discard.cell.frame));
                }
            }
            for row in watched.rows() {
                let is_data = row.cell.kind == celltrain_atm::cell::Kind::Data;
                // A packet is lost whole, and has other numbers behind a link that reorders.
                let is_part = is_data && row.cell.length > 1;
                assert_eq!(row.broken, is_part && broken.contains(&(row.vc, row.cell.frame)));
                carried += u64::from(row.broken);
            }
        }
        let counted: u64 = watched.ports().iter().map(|port| port.discarded).sum();
        assert_eq!(discards, counted, "{}", scenario.spec().name);
        told += discards;
    }
    assert!(told > 10_000 && carried > 100, "{told} discards, {carried} trains carried for nothing");
}

#[test]
fn a_time_that_has_passed_changes_nothing() {
    let scenario = &shipped("20 ms")[0];
    let mut watched = live(scenario);
    watched.advance(9_000 * MICROSECOND, &mut || false);
    let rows = watched.rows();
    watched.advance(5_000 * MICROSECOND, &mut || false);
    assert_eq!(watched.now(), 9_000 * MICROSECOND);
    assert_eq!(watched.rows(), rows);
}

#[test]
fn a_run_can_be_interrupted() {
    let mut watched = live(&shipped("20 ms")[0]);
    assert!(!watched.advance(Time::MAX, &mut || true));
    assert!(watched.now() < 20_000 * MICROSECOND);
}

/// Short flows over packets that are lost and overtake each other.
const SHORT: &str = r#"
schema = 1
name = "short flows"
duration = "2 s"
topology.kind = "n-source"
topology.sources = 1
link = { rate = "10 Mbit/s", delay = "5 ms", framing = "packets", access.loss = 0.05, trunk.reorder = { share = 0.2, delay = "3 ms" } }
switch.buffer = "unlimited"
tcp.stack = "linux"
traffic = { kind = "short-flows", load = 0.6, size = { kind = "fixed", bytes = "20 kB" } }
"#;

/// ESPD captures VCs one by one (Cheon and Panwar, section 3.2): a viewer sees which; tail drop captures none.
#[test]
fn captured_vcs_are_those_whose_cells_are_discarded() {
    let captured = |policy: &str| {
        let text = format!(
            "schema = 1\nname = \"captured\"\nduration = \"60 ms\"\n[topology]\nkind = \"n-source\"\nsources = 4\n\
             [link]\ndelay = \"100 us\"\n[switch]\nbuffer = \"200 cells\"\ndiscard.policy = \"{policy}\"\n"
        );
        let scenario = load(&text, &[]);
        let (mut watched, mut captured, mut lost) = (live(&scenario), BTreeMap::new(), BTreeMap::new());
        while !watched.is_over() {
            assert!(watched.advance(watched.now() + 100 * MICROSECOND, &mut || false));
            for discard in watched.drain_discards() {
                *lost.entry(discard.vc).or_insert(0) += 1;
            }
            for port in watched.ports() {
                for vc in port.captured {
                    *captured.entry(vc).or_insert(0) += 1;
                    assert!(lost.contains_key(&vc), "{policy}: {vc:?} has lost nothing");
                }
            }
        }
        assert!(lost.len() > 1, "{policy}");
        captured.len()
    };
    assert!(captured("espd") > 1);
    assert_eq!(captured("tail-drop"), 0);
}

/// A resource management cell belongs to no frame (TM 4.0, section 5.10): a policy that drops frames at the head of the queue has no say
/// about it.
#[test]
fn no_rm_cell_is_dropped_at_the_head() {
    let text = "schema = 1\nname = \"head\"\nduration = \"400 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
                [link]\ndelay = \"10 us\"\ntrunk.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n\
                [switch.discard]\npolicy = \"codel\"\ncodel = { target = \"1 ms\", interval = \"5 ms\" }\n[vc]\ncategory = \"abr\"\n[abr]\nicr = \"60 Mbit/s\"\npcr = \"60 Mbit/s\"\n\
                mcr = \"60 Mbit/s\"\nsource-buffer = \"100 cells\"\n\
                [traffic]\nkind = \"cbr\"\nrate = \"100 Mbit/s\"\nframe = 4\n";
    let scenario = load(text, &[]);
    let (mut watched, mut dropped) = (live(&scenario), 0);
    while !watched.is_over() {
        assert!(watched.advance(watched.now() + 1_000 * MICROSECOND, &mut || false));
        for discard in watched.drain_discards().iter().filter(|lost| lost.reason == "discarded_at_head") {
            assert_eq!(discard.cell.kind, celltrain_atm::cell::Kind::Data);
            dropped += 1;
        }
    }
    assert!(dropped > 100, "{dropped}");
}

/// A page knows a reason by its place among all of them.
#[test]
fn reasons_of_discards_are_listed_once() {
    let text = "schema = 1\nname = \"losses\"\nduration = \"400 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
                [link]\nframing = \"packets\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nloss = 0.02\n\
                [link.trunk]\nburst-loss = { p = 0.02, r = 0.3 }\ndark = { from = \"200 ms\", length = \"50 ms\" }\n\
                [switch]\nbuffer = \"20 packets\"\n[traffic]\nkind = \"cbr\"\nrate = \"6 Mbit/s\"\npacket = \"500 B\"\n";
    let (mut watched, mut seen) = (live(&load(text, &[])), std::collections::BTreeSet::new());
    while !watched.is_over() {
        assert!(watched.advance(watched.now() + 10_000 * MICROSECOND, &mut || false));
        seen.extend(watched.drain_discards().iter().map(|discard| discard.reason));
    }
    let listed = celltrain_network::live::reasons();
    for reason in ["discarded_buffer_full", "lost_burst", "lost_dark", "lost_random"] {
        assert!(seen.contains(reason), "{seen:?}");
    }
    assert!(seen.iter().all(|reason| listed.contains(reason)), "{listed:?}");
    assert_eq!(listed.iter().collect::<std::collections::BTreeSet<_>>().len(), listed.len());
}

/// Behind a link that reorders packets have other numbers, which say nothing of those that were lost in front of it.
#[test]
fn no_packet_on_its_way_is_broken() {
    let scenario = load(SHORT, &[]);
    let (mut watched, mut lost, mut seen) = (live(&scenario), 0, 0);
    while !watched.is_over() {
        assert!(watched.advance(watched.now() + 2_000 * MICROSECOND, &mut || false));
        lost += watched.drain_discards().len();
        let rows = watched.rows();
        seen += rows.len();
        assert!(rows.iter().all(|row| !row.broken), "at {} ps", watched.now());
    }
    assert!(lost > 10 && seen > 100, "{lost} lost, {seen} seen");
}

#[test]
fn short_flows_deliver_what_their_receivers_have_had() {
    let scenario = load(SHORT, &[]);
    let mut watched = live(&scenario);
    assert!(watched.advance(Time::MAX, &mut || false));
    let seen: Vec<_> = watched.flows().iter().map(|flow| [flow.delivered, flow.retransmitted]).collect();
    let result = watched.finish(&mut || false).unwrap();
    let [delivered, again] =
        ["bytes_delivered", "segments_retransmitted"].map(|column| of_flow(&result, column));
    assert_eq!(seen, [[delivered, again]]);
    assert!(delivered > 20_000 && again > 0);
}

/// A frame that a link loses whole is as many lost cells as the link has carried of it for nothing.
#[test]
fn every_cell_of_a_frame_that_is_lost_whole_is_told_of() {
    let cells = SHORT
        .replace(r#"framing = "packets", "#, "")
        .replace(r#", trunk.reorder = { share = 0.2, delay = "3 ms" }"#, "");
    assert!(!cells.contains("packets") && !cells.contains("reorder"));
    let scenario = load(&cells, &[]);
    let (mut watched, mut told, mut frames) = (live(&scenario), 0, 0);
    while !watched.is_over() {
        assert!(watched.advance(watched.now() + 2_000 * MICROSECOND, &mut || false));
        for discard in watched.drain_discards().iter().filter(|discard| discard.reason == "lost_random") {
            told += u64::from(discard.count);
            frames += 1;
        }
    }
    let result = watched.finish(&mut || false).unwrap();
    let lost = total(&result.ports, "lost_random");
    assert_eq!(told, lost);
    assert!(lost > 10 * frames && frames > 10, "{lost} cells of {frames} frames");
}

#[test]
fn short_flows_are_told_of_when_they_end() {
    let scenario = load(SHORT, &[]);
    let (mut watched, mut told) = (live(&scenario), Vec::new());
    while !watched.is_over() {
        let since = watched.now();
        assert!(watched.advance(since + 7_000 * MICROSECOND, &mut || false));
        let ended = watched.completions(since);
        assert!(ended.iter().all(|one| (since..watched.now()).contains(&one.at) && one.bytes == 20_000));
        told.extend(ended);
    }
    let result = watched.finish(&mut || false).unwrap();
    let mean = told.iter().map(|one| one.time as f64 / 1e12).sum::<f64>() / told.len() as f64;
    assert_eq!(told.len() as f64, metric(&result, "flows_completed"));
    assert!((mean - metric(&result, "fct_mean")).abs() < 1e-9, "{mean} s");
    assert!(told.len() > 20);
}

/// Nothing is faster than the links: a round trip takes their delays at the least, and the queue in front of the trunk at the most.
#[test]
fn senders_tell_of_their_round_trips() {
    let scenario =
        shipped("60 ms").into_iter().find(|one| one.spec().name == "two sources, small buffer").unwrap();
    let mut watched = live(&scenario);
    assert!(watched.flows().iter().all(|flow| flow.round_trip == 0), "nothing has been measured yet");
    watched.advance(Time::MAX, &mut || false);
    watched.drain_reactions();
    let graph = watched.graph();
    for (flow, state) in graph.flows.iter().zip(watched.flows()) {
        let path = flow.route.iter().chain(&flow.back);
        let delays: Time = path.map(|&link| graph.links[link].delay.ps()).sum();
        assert!((delays..4 * delays).contains(&state.round_trip), "{} ps, {delays} ps", state.round_trip);
    }
}

/// Constant bare cells over three links of 10 Mbit/s (42.4 us a cell) and 1 ms each, and TCP on a path of its own.
const CELLS: &str = r#"
schema = 1
name = "constant cells"
duration = "1 s"
warm-up = "100 ms"
link = { rate = "10 Mbit/s", delay = "1 ms" }
topology = { kind = "n-source", sources = 1 }
traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 1 }
"#;

/// Nothing waits: a cell takes a cell time and the delay of every link, I.356 section 6.1.
#[test]
fn the_delay_of_bare_cells_is_that_of_the_idle_path_where_nothing_waits() {
    let scenario = load(CELLS, &[]);
    let (mut watched, mut told, mut quiet) = (live(&scenario), 0, 0);
    while !watched.is_over() {
        assert!(watched.advance(watched.now() + 300 * MICROSECOND, &mut || false));
        match watched.drain_transfer_delays()[..] {
            [Some(delay)] => {
                assert_eq!(delay, 3 * (42_400_000 + 1_000 * MICROSECOND));
                told += 1;
            }
            [None] => quiet += 1,
            _ => panic!("there is one flow"),
        }
    }
    // A cell every 424 us, and a look every 300 us.
    assert!(told > 2_000 && quiet > 500, "{told} looks with cells, {quiet} without");
}

/// The measure of a run that nobody watches, `transfer_delay_mean`, is of the same frames.
#[test]
fn the_delays_of_bare_cells_are_those_that_a_run_measures() {
    let overrides = [
        ("topology.sources", "4"),
        ("warm-up", "0 ms"),
        ("switch.buffer", "60 cells"),
        ("link.access.rate", "8 Mbit/s"),
        ("traffic", r#"{ kind = "on-off", peak = "8 Mbit/s", on = "5 ms", off = "9 ms", frame = 5 }"#),
    ];
    let scenario = |delays| load(CELLS, &[&overrides[..], &[("measures.delays", delays)]].concat());
    let mut seen = Vec::new();
    for delays in ["tcp", "all"] {
        let mut watched = live(&scenario(delays));
        assert!(watched.advance(Time::MAX, &mut || false));
        seen.push(watched.drain_transfer_delays());
        let result = watched.finish(&mut || false).unwrap();
        let means = numbers(&result.flows, "transfer_delay_mean");
        for (seen, mean) in seen[0].iter().zip(means).filter(|_| delays == "all") {
            let seen = seen.expect("frames arrive") as f64 / 1e12;
            assert!((seen / mean - 1.0).abs() < 1e-9, "{seen} s seen, {mean} s measured");
        }
        assert_eq!(means.iter().all(|mean| mean.is_nan()), delays == "tcp");
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].len(), 4);
}

#[test]
fn progress_is_a_part_of_what_flows_and_ports_tell() {
    for scenario in shipped("40 ms") {
        let mut watched = live(&scenario);
        for step in steps().take(60) {
            watched.advance(watched.now() + step, &mut || false);
            watched.drain_reactions();
            let flows: Vec<_> =
                watched.flows().iter().map(|flow| [flow.cwnd, flow.delivered, flow.round_trip]).collect();
            assert!(watched.progress().eq(flows), "{}", scenario.spec().name);
            let ports: Vec<_> = watched.ports().iter().map(|port| (port.in_switch, port.occupancy)).collect();
            assert!(watched.occupancies().eq(ports), "{}", scenario.spec().name);
        }
    }
}
