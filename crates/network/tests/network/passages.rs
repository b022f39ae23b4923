//! The cells of a port, one by one, are those that the port counts: as many arrived, were discarded and wait at any time.

use std::path::PathBuf;

use celltrain_engine::{Time, time::MICROSECOND};
use celltrain_network::{
    live::{Passage, PortState},
    scenario::Scenario,
};

use crate::common::{live, load, shipped};

/// Times are exact to a picosecond per cell of a frame; no slot is so short.
const INSTANT: Time = 1000;

const END: Time = 30_000 * MICROSECOND;

/// The port's state after a run that was stopped nowhere but at `until`.
fn port_at(scenario: &Scenario, link: usize, until: Time) -> PortState {
    let mut plain = live(scenario);
    plain.advance(until, &mut || false);
    plain.ports().into_iter().find(|port| port.link == link).expect("the port is there")
}

/// The switch port that most came to.
fn busiest(scenario: &Scenario) -> Option<usize> {
    let mut plain = live(scenario);
    plain.advance(END, &mut || false);
    let ports = plain.ports().into_iter().filter(|port| port.in_switch);
    ports.max_by_key(|port| (port.discarded, port.arrived)).map(|port| port.link)
}

/// Cells that are in the buffer at `at`: they have come, and were not refused.
fn waiting(cells: &[Passage], at: Time) -> u64 {
    let near = |left: Time, arrived: Time| left.abs_diff(arrived) < INSTANT;
    let refused = |cell: &Passage| {
        cell.reason.is_some()
            && cell.left.zip(cell.arrived).is_some_and(|(left, arrived)| near(left, arrived))
    };
    let here = |cell: &&Passage| {
        cell.arrived.is_none_or(|arrived| arrived < at) && cell.left.is_none_or(|left| left > at)
    };
    cells.iter().filter(here).filter(|cell| !refused(cell)).count() as u64
}

#[test]
fn cells_one_by_one_are_those_the_port_counts() {
    let (mut followed, mut discarded, mut broken) = (0, 0, 0);
    for scenario in shipped("30 ms") {
        let name = scenario.spec().name.clone();
        let Some(link) = busiest(&scenario) else { continue };
        let cells = match live(&scenario).passages(link, 0, END, &mut || false) {
            Ok(cells) => cells,
            Err(why) => {
                let why = why.expect("nothing interrupts");
                assert!(why.contains("reorders them or changes its delay"), "{name}: {why}");
                continue;
            }
        };
        let counted = port_at(&scenario, link, END);
        assert_eq!(cells.len() as u64, counted.arrived, "{name}: arrived");
        let gone = cells.iter().filter(|cell| cell.reason.is_some()).count() as u64;
        assert!(gone >= counted.discarded, "{name}: {gone} discarded of {}", counted.discarded);
        for at in [7_000_001_234, 13_000_004_321, 22_000_009_876, 29_123_456_789] {
            assert_eq!(
                waiting(&cells, at),
                port_at(&scenario, link, at).occupancy,
                "{name}: waiting at {at} ps"
            );
        }
        followed += 1;
        discarded += gone;
        broken += cells.iter().filter(|cell| cell.broken && cell.reason.is_none()).count();
    }
    assert!(followed > 30, "{followed} scenarios were followed");
    assert!(discarded > 1000, "{discarded} cells were discarded");
    assert!(broken > 100, "{broken} cells were carried for nothing");
}

#[test]
fn a_window_in_the_middle_is_part_of_the_whole() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/teaching/lost-cell.toml");
    let scenario = Scenario::load(&root, &[]).unwrap();
    let link = busiest(&Scenario::load(&root, &[]).unwrap()).unwrap();
    let (from, to) = (155_000 * MICROSECOND, 200_000 * MICROSECOND);
    let whole = live(&scenario).passages(link, 0, to, &mut || false).unwrap();
    let part = live(&scenario).passages(link, from, to, &mut || false).unwrap();
    let inside = |cell: &&Passage| cell.arrived.is_some_and(|at| at >= from);
    let of_whole: Vec<_> = whole.iter().filter(inside).collect();
    assert!(of_whole.iter().any(|cell| cell.reason.is_some()));
    let of_part: Vec<_> = part.iter().filter(inside).collect();
    assert_eq!(of_part.len(), of_whole.len());
    for (one, other) in of_part.into_iter().zip(of_whole) {
        let near = |one: Option<Time>, other: Option<Time>| {
            one.zip(other).map_or(one == other, |(one, other)| one.abs_diff(other) < INSTANT)
        };
        assert!(near(one.arrived, other.arrived) && near(one.left, other.left), "{one:?}, {other:?}");
        let timeless = |cell: &Passage| Passage { arrived: None, left: None, ..cell.clone() };
        assert_eq!(timeless(one), timeless(other));
    }
    // What came before and is still there at the start has no time of arrival.
    let before = part.iter().filter(|cell| cell.arrived.is_none()).count() as u64;
    assert_eq!(before, waiting(&whole, from));
}

#[test]
fn a_time_behind_the_end_of_the_run_is_its_end() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/teaching/lost-cell.toml");
    let scenario = Scenario::load(&root, &[]).unwrap();
    let (link, end) = (busiest(&scenario).unwrap(), scenario.spec().duration.ps());
    let from = end - 100 * MICROSECOND;
    let until = |to| live(&scenario).passages(link, from, to, &mut || false).unwrap();
    assert_eq!(until(end + 1000 * MICROSECOND), until(end));
}

/// Cells leave their port when they do, whatever the delay of the link behind it becomes later.
#[test]
fn cells_leave_before_the_link_behind_them() {
    let across = |changes: &str| {
        let node = |name, kind| format!("[[topology.node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
        let link = |from, to, more| {
            format!("[[topology.link]]\nfrom = \"{from}\"\nto = \"{to}\"\nsimplex = true\n{more}\n")
        };
        let text = [
            "schema = 1\nname = \"n\"\nduration = \"30 ms\"\nwarm-up = \"0 ms\"\n\
             [link]\nframing = \"packets\"\n[tcp]\nmss = \"60 B\"\n[switch]\nbuffer = \"5 packets\"\n[traffic]\nkind = \"greedy\"\n\
             [topology]\nkind = \"graph\"\n",
            &[node("one", "host"), node("two", "host"), node("sink", "host"), node("s", "switch")].concat(),
            &[link("one", "s", ""), link("two", "s", ""), link("s", "one", ""), link("s", "two", "")]
                .concat(),
            &[link("sink", "s", ""), link("s", "sink", &format!("delay = \"500 us\"\n{changes}"))].concat(),
            "[[flow]]\nname = \"a\"\nfrom = \"one\"\nto = \"sink\"\n",
            "[[flow]]\nname = \"b\"\nfrom = \"two\"\nto = \"sink\"\n",
        ]
        .concat();
        let scenario = load(&text, &[]);
        let link = busiest(&scenario).expect("a port of a switch");
        live(&scenario).passages(link, 0, 14_000 * MICROSECOND, &mut || false).unwrap()
    };
    let (steady, changes) = (across(""), across("delay-changes = [{ at = \"25 ms\", delay = \"20 us\" }]"));
    assert!(steady.iter().any(|cell| cell.reason.is_some()), "some are discarded");
    assert_eq!(steady.len(), changes.len());
    for (one, other) in steady.iter().zip(&changes) {
        let near = |one: Option<Time>, other: Option<Time>| {
            one.zip(other).map_or(one == other, |(one, other)| one.abs_diff(other) < INSTANT)
        };
        assert!(near(one.arrived, other.arrived) && near(one.left, other.left), "{one:?}, {other:?}");
    }
}

/// A policer and a link with losses take single cells out of frames: those between them arrive at the next port.
#[test]
fn cells_between_lost_ones_of_their_frame_are_seen_at_the_next_port() {
    let text = |more: &str| {
        format!(
            "schema = 1\nname = \"test\"\nduration = \"20 ms\"\ntopology = {{ kind = \"n-source\", sources = 1 }}\n\
             traffic = {{ kind = \"cbr\", rate = \"100 Mbit/s\", frame = 32 }}\n{more}"
        )
    };
    let policed = text(
        "link = { delay = \"100 us\", trunk.rate = \"31 Mbit/s\", exit.rate = \"31 Mbit/s\" }\n\
         vc = { category = \"cbr\", pcr = \"30 Mbit/s\", spacing = \"none\", policing = \"discard-cells\" }\n",
    );
    let lossy = text("link = { delay = \"100 us\", trunk = { loss = 0.3, loss-unit = \"cell\" } }\n");
    for text in [policed, lossy] {
        let scenario = load(&text, &[]);
        let end = 20_000 * MICROSECOND;
        let links: Vec<_> =
            live(&scenario).ports().iter().filter(|port| port.in_switch).map(|port| port.link).collect();
        let mut arrivals = Vec::new();
        for link in links {
            let counted = port_at(&scenario, link, end);
            let cells = live(&scenario).passages(link, 0, end, &mut || false).unwrap();
            let came = |cell: &&Passage| cell.arrived.is_some_and(|arrived| arrived < end);
            assert_eq!(cells.iter().filter(came).count() as u64, counted.arrived, "link {link} of {text}");
            arrivals.extend(Some(counted.arrived).filter(|&arrived| arrived > 0));
        }
        let (least, most) = (arrivals.iter().min().unwrap(), arrivals.iter().max().unwrap());
        assert!(most - least > 100, "{arrivals:?} cells arrive in {text}");
    }
}

/// The end mark of a frame that was pushed out may pass, wait, and be pushed out later than the cells before it.
#[test]
fn cells_of_a_frame_that_are_pushed_out_one_after_the_other_leave_when_they_are() {
    let text = "schema = 1\nname = \"test\"\nduration = \"20 ms\"\ntopology = { kind = \"n-source\", sources = 8 }\n\
         link = { rate = \"424 Mbit/s\", delay = \"10 us\", trunk.rate = \"26.5 Mbit/s\" }\n\
         traffic = { kind = \"poisson\", rate = \"100 Mbit/s\", frame = 2 }\n\
         vc = { mcr = \"1 Mbit/s\", mfs = 2 }\n\
         [switch]\nbuffer = \"40 cells\"\n\
         [switch.discard]\npolicy = \"epd-push-out\"\n\
         epd-push-out = { threshold = \"20 cells\", sharing = \"equal\", end-marks = \"always\" }\n";
    let scenario = load(text, &[]);
    let link = busiest(&scenario).expect("a port of a switch");
    let cells = live(&scenario).passages(link, 0, 20_000 * MICROSECOND, &mut || false).unwrap();
    let pushed = |cell: &&Passage| cell.reason == Some("discarded_pushed_out");
    let of_frame = |end: &&Passage| {
        let head =
            cells.iter().find(|head| head.vc == end.vc && head.frame == end.frame && head.position == 0);
        head.is_some_and(|head| pushed(&head) && head.left < end.arrived)
    };
    let late: Vec<_> = cells.iter().filter(pushed).filter(of_frame).collect();
    assert!(late.len() > 20, "{} end marks are pushed out behind their frames", late.len());
    let unmoved = late.iter().filter(|end| end.left <= end.arrived).count();
    assert_eq!(unmoved, 0, "of {} end marks leave as they arrive", late.len());
    for at in (1..400).map(|part| part * 50 * MICROSECOND + 1_234) {
        assert_eq!(waiting(&cells, at), port_at(&scenario, link, at).occupancy, "waiting at {at} ps");
    }
}
