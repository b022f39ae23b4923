//! What no result shows: which service a port has, that its books are checked, and that cells that come as a train go on as one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, PortContext, Reason, codel, fq_codel::FqCodel},
    contract::Contract,
    quantity::Unit,
};
use celltrain_engine::{
    Instant,
    quantity::BitRate,
    random::Randomness,
    stream::{Stream, Train},
    time::{MICROSECOND, MILLISECOND},
};

use super::{AnyCore, Location, Port, service::Service};
use crate::{
    Experiment, Options,
    flight::{InFlight, Streams},
    network::Network,
    scenario::Scenario,
};

/// Frames of 32 cells, which are all on the trunk when the run ends.
const FRAMES: &str = r#"
schema = 1
name = "frames"
duration = "20 ms"
topology = { kind = "n-source", sources = 1 }
link = { rate = "155.52 Mbit/s", delay = "10 us", trunk = { delay = "50 ms" } }
switch = { buffer = "1000 cells", discard.policy = "epd" }
traffic = { kind = "on-off", peak = "622.08 Mbit/s", on = "100 us", off = "900 us", frame = 32 }
"#;
const FRAME: u64 = 32;
/// How often the source pauses, be it within a frame.
const PAUSES: u64 = 20;

pub(super) type Overrides<'a> = &'a [(&'a str, &'a str)];

pub(super) const PER_VC: (&str, &str) = ("switch.discard.policy", "fba");
pub(super) const STORED: (&str, &str) = ("switch.scheduler.discipline", "round-robin");

pub(super) fn network(overrides: Overrides<'_>) -> Network {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scenario = Scenario::from_toml(FRAMES, "frames.toml", &overrides).unwrap();
    let options = Options { trace: true, ..Options::default() };
    Experiment::new(&scenario).unwrap().network(1, 0, options)
}

/// Streams for it in which nothing is under way.
pub(super) fn with_streams(network: &Network) -> Streams {
    let number = network.parts().1.len();
    Streams::new((0..number).map(|_| Stream::default()).collect(), InFlight::default())
}

/// The same after the run.
fn after_the_run(overrides: Overrides<'_>) -> Network {
    let mut network = network(overrides);
    assert!(network.run_until(20 * MILLISECOND, &mut || false));
    network
}

/// The table of the two services in `docs/explanation/ports.md`.
#[test]
fn a_port_stores_its_queues_only_where_it_has_to() {
    let cases: [(Overrides<'_>, bool); 10] = [
        (&[], false),
        (&[PER_VC], false),
        (&[("switch.discard.policy", "red")], false),
        (&[("vc.category", "abr"), ("switch.allocator.algorithm", "erica")], false),
        (&[("flow", "[{ name = \"1\", vc.category = \"vbr\" }]"), ("vc.category", "ubr")], false),
        (&[STORED], true),
        (&[("switch.vc-buffer", "999 cells")], true),
        (&[("switch.discard.policy", "epd-push-out")], true),
        (&[("link.trunk.rate-changes", "[{ at = \"10 ms\", rate = \"100 Mbit/s\" }]")], true),
        (&[("topology.sources", "2"), ("flow", "[{ name = \"1\", vc.category = \"vbr\" }]")], true),
    ];
    for (overrides, stored) in cases {
        let network = network(overrides);
        let stores = |location| {
            let port = network.ports().find(|port| port.location == location).expect("a port there");
            matches!(port.core, AnyCore::Stored(_))
        };
        assert_eq!(stores(Location::Switch), stored, "{overrides:?}");
        assert!(!stores(Location::Interface), "{overrides:?}");
    }
}

/// A way to falsify the books of a port, and what is then said of them.
type Fraud = (&'static str, fn(&mut Port));

#[test]
fn books_that_do_not_balance_stop_the_run() {
    let every: [Fraud; 4] = [
        ("units that arrived, accepted and discarded", |port| port.arrived += 1),
        ("units discarded by VC, by reason", |port| {
            with_core!(&mut port.core, core => core.stats.discard(Reason::ALL[0]));
        }),
        ("units accepted and then discarded, by VC, in total", |port| {
            with_core!(&mut port.core, core => core.entries[0].withdrawn += 1);
        }),
        ("units accepted and sent", |port| {
            with_core!(&mut port.core, core => core.entries[0].accepted[0] += 1);
            port.arrived += 1;
        }),
    ];
    let per_vc: [Fraud; 2] = [
        ("what is in the buffer, counted again", |port| {
            with_core!(&mut port.core, core => core.service.per_vc_mut().enter(0, false, 1));
        }),
        ("units of VC 0 accepted, in the buffer or gone", |port| {
            with_core!(&mut port.core, core => core.service.per_vc_mut().pass(0, 1));
        }),
    ];
    let services: [(Overrides<'_>, bool); 3] = [(&[], false), (&[PER_VC], true), (&[STORED], true)];
    for (overrides, keeps) in services {
        after_the_run(overrides).check_conservation();
        for (words, falsify) in every.iter().chain(per_vc.iter().filter(|_| keeps)) {
            let stopped = |halfway: bool| {
                let mut network = network(overrides);
                assert!(network.run_until(if halfway { 10 } else { 20 } * MILLISECOND, &mut || false));
                let mut ports = network.ports_mut().filter(|port| port.location == Location::Switch);
                falsify(ports.next().expect("a switch"));
                drop(ports);
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    if halfway {
                        network.run_until(20 * MILLISECOND, &mut || false);
                    } else {
                        network.check_conservation();
                    }
                }));
                let panic = outcome.expect_err(words);
                panic.downcast_ref::<String>().cloned().expect("a sentence")
            };
            for halfway in [false, true] {
                let said = stopped(halfway);
                assert!(said.contains(words), "{overrides:?}: \"{said}\" does not say \"{words}\"");
            }
        }
    }
}

/// What FQ-CoDel pushes out first may be a frame that lost its end mark before this port. That it is not complete does not mean that it is
/// still coming: the frame that comes goes on.
#[test]
fn a_frame_that_lost_its_end_is_not_the_one_that_comes() {
    let queuing = ("switch.scheduler.discipline", "flow-queue");
    for scheduler in [&[][..], &[queuing]] {
        let own = [
            ("topology.sources", "2"),
            ("switch.buffer", "9 cells"),
            ("switch.discard.policy", "fq-codel"),
            ("link.trunk.rate", "1 Mbit/s"),
        ];
        let mut network = network(&[&own, scheduler].concat());
        let mut streams = with_streams(&network);
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        // VC, frame, length, and how many of its cells come. VC 1's first cell is in transmission, its last one finds the buffer full.
        let frames = [
            (1, 0, 1, 0..1),
            (0, 0, 4, 0..3),
            (0, 1, 2, 0..2),
            (0, 2, 4, 0..2),
            (1, 1, 1, 0..1),
            (1, 2, 1, 0..1),
        ];
        let rest = [(0, 2, 4, 2..4)];
        let mut at = 0;
        for (vc, frame, length, positions) in frames.into_iter().chain(rest) {
            for position in positions {
                at += 3 * MICROSECOND;
                let cell = Cell { vc, frame, position, length, ..Cell::default() };
                streams[port.inputs()[0]].push(0, 0, &Train::single(Instant::start_of(at), cell));
            }
        }
        let AnyCore::Stored(core) = &mut port.core else { panic!("FQ-CoDel stores its queues") };
        let vcs = [Contract::default(), Contract::default()];
        let context = PortContext {
            capacity: 9,
            unit: Unit::Cells,
            rate: BitRate(1_000_000),
            overhead: 0,
            vcs: &vcs,
            generator: Randomness { seed: 1, replication: 0 }.named("policy"),
        };
        let mut policy = FqCodel::new(&codel::Params::default(), &context).unwrap();
        port.arrived += core.serve(&mut policy, at + 1, &mut streams);
        let left: Vec<_> =
            core.service.waiting().map(|unit| unit.cell).map(|cell| (cell.vc, cell.frame)).collect();
        assert_eq!(left, [(0, 2), (0, 2), (0, 2), (0, 2), (1, 1), (1, 2)], "{scheduler:?}");
        port.check_conservation(&streams);
    }
}

/// What a port has sent of a VC has arrived at the next port, or is on its way there: no port alone can notice that.
#[test]
#[should_panic(expected = "cells of VC 0 sent")]
fn cells_booked_to_another_vc_stop_the_run() {
    let mut network = after_the_run(&[("topology.sources", "2")]);
    network.check_conservation();
    let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
    with_core!(&mut port.core, core => {
        core.entries[0].accepted[0] += 1;
        core.entries[1].accepted[0] -= 1;
    });
    network.check_conservation();
}

/// VCs share links, and no number on one: relayed RM cells have VCs of their own.
#[test]
fn every_vc_leaves_a_port_by_a_way_of_its_own() {
    let abr = [
        ("topology.sources", "3"),
        ("vc.category", "abr"),
        ("switch.allocator.algorithm", "erica"),
        ("link.trunk.delay", "1 ms"),
    ];
    let network = network(&abr);
    let mut relayed = 0;
    for port in network.ports() {
        let relays = port.control().map_or(0, |control| control.relays().len() as u32);
        relayed += relays;
        let hops: Vec<_> = (0..port.vcs() + relays).map(|vc| port.hops(vc)).collect();
        assert!(hops.iter().all(|hops| !hops.is_empty()), "{}: {hops:?}", port.link);
        let mut ways = hops.concat();
        assert!(ways.iter().all(|(output, _)| port.outputs.contains(output)), "{}: {hops:?}", port.link);
        let number = ways.len();
        ways.sort_unstable();
        ways.dedup();
        assert_eq!(ways.len(), number, "{}: {hops:?}", port.link);
    }
    assert!(relayed >= 3, "{relayed}");
}

/// Cells on the trunk, and trains that they make up.
fn on_the_trunk(overrides: Overrides<'_>) -> [u64; 2] {
    let network = after_the_run(overrides);
    let (_, streams) = network.parts();
    let first = network.ports().find(|port| port.location == Location::Switch).expect("a switch");
    let trains = first.along_link().0.iter().flat_map(|&output| streams[output].trains());
    trains.fold([0, 0], |[cells, trains], train| [cells + u64::from(train.count), trains + 1])
}

/// A train that is split costs time, and changes no result.
#[test]
fn a_frame_goes_on_as_one_train() {
    let fast = ("link.access", "{ rate = \"622.08 Mbit/s\" }");
    let slow = ("link.access", "{ rate = \"25.6 Mbit/s\" }");
    let slowly =
        "{ kind = \"on-off\", peak = \"25.6 Mbit/s\", on = \"900 us\", off = \"100 us\", frame = 32 }";
    let slowly = ("traffic", slowly);
    let cases: [(&str, Overrides<'_>); 9] = [
        ("back to back", &[]),
        ("back to back, cell by cell", &[("switch.discard.policy", "tail-drop")]),
        ("back to back, per-VC occupancy", &[PER_VC]),
        ("back to back, stored", &[STORED]),
        ("faster than they leave", &[fast]),
        ("faster than they leave, stored", &[fast, STORED]),
        ("more slowly", &[slow, slowly]),
        ("more slowly, per-VC occupancy", &[slow, slowly, PER_VC]),
        ("more slowly, stored", &[slow, slowly, STORED]),
    ];
    for (name, overrides) in cases {
        let [cells, trains] = on_the_trunk(overrides);
        assert!(cells > 1000, "{name}: {cells} cells");
        // Where queues are stored, the first cell of a train is sent before the others are looked at.
        let pieces = if name == "more slowly, stored" { 2 } else { 1 };
        let most = pieces * (cells.div_ceil(FRAME) + PAUSES);
        assert!(trains <= most, "{name}: {trains} trains of {cells} cells");
    }
}

#[test]
fn a_sample_of_the_utilisation_is_the_share_of_its_period_that_the_link_sends() {
    let quarter = "{ kind = \"cbr\", rate = \"38.88 Mbit/s\" }";
    for service in [&[][..], &[STORED]] {
        let overrides = [&[("sample", "1 ms"), ("traffic", quarter)], service].concat();
        let network = after_the_run(&overrides);
        let port = network.ports().find(|port| port.location == Location::Switch).expect("a switch");
        let mut series = port.series("port");
        let utilisation = series.find(|one| one.metric == "utilisation").expect("a switch port");
        assert_eq!(utilisation.unit, "");
        assert!(utilisation.values.len() >= 19, "{utilisation:?}");
        // A cell takes 2.7 us of a millisecond; the first comes after 10 us.
        let near = |value: &f64| (value - 0.25).abs() < 0.01;
        assert!(utilisation.values.iter().skip(1).all(near), "{utilisation:?}");
    }
}
