//! The policies against a trace worked out by hand, `tests/oracles/two-sources.txt`.

use celltrain_atm::{
    Cell,
    buffer::{DiscardParams, Policy, PolicyName, Reason, Verdict, epd, espd},
    quantity::Level,
    with_policy,
};

use crate::model::{SLOT, ask, context, contracts};

const TRACE: &str = include_str!("../../../../tests/oracles/two-sources.txt");

/// The rows of the policy `name`, or of the whole trace before the first policy, as (first word, other words).
fn rows(name: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let part = TRACE.split("\npolicy ").find(|part| part.split_whitespace().next() == Some(name));
    let lines = part.unwrap_or_else(|| panic!("no policy {name}")).lines();
    let row = |line: &'static str| {
        let mut words = line.split_whitespace();
        words.next().map(|first| (first, words.collect()))
    };
    lines
        .take_while(|line| !line.starts_with("policy"))
        .filter(|line| !line.starts_with('#'))
        .filter_map(row)
        .collect()
}

/// The row that begins with `first` among `rows`.
fn row(rows: &[(&'static str, Vec<&'static str>)], first: &str) -> Vec<&'static str> {
    rows.iter().find(|row| row.0 == first).unwrap_or_else(|| panic!("no row {first}")).1.clone()
}

/// All cells in the order of their arrival: source A is VC 0, source B is VC 1.
fn arrivals() -> Vec<(u64, Cell)> {
    let head = rows("#");
    let slots: Vec<u64> = row(&head, "slot").iter().map(|slot| slot.parse().unwrap()).collect();
    let mut arrivals = Vec::new();
    for (vc, source, length) in [(0, "A", 4), (1, "B", 8)] {
        // The first word of these rows is `cell`.
        for (slot, place) in slots.iter().zip(&row(&head, source)[1..]) {
            let (frame, position) = place.split_once('.').unwrap();
            let (frame, position) = (frame.parse().unwrap(), position.parse().unwrap());
            arrivals
                .push((slot * SLOT + u64::from(vc), Cell { vc, frame, position, length, ..Cell::default() }));
        }
    }
    arrivals.sort_by_key(|arrival| arrival.0);
    arrivals
}

fn symbol(verdict: Verdict<u32>) -> char {
    match verdict {
        Verdict::Accept => '+',
        Verdict::Mark => 'm',
        Verdict::Discard(Reason::BufferFull) => 'f',
        Verdict::Discard(Reason::FrameRefused) => 'r',
        Verdict::Discard(Reason::FrameBroken) => 'b',
        Verdict::Discard(Reason::VcCaptured) => 'c',
        Verdict::PushOut(_) | Verdict::Discard(_) => unreachable!("no policy of the trace says so"),
    }
}

#[test]
fn every_cell_meets_the_fate_worked_out_by_hand() {
    let level = Level::Cells;
    let thresholds = DiscardParams {
        epd: epd::Params { threshold: level(8), ..epd::Params::default() },
        espd: espd::Params { high: level(8), low: level(5) },
        ..DiscardParams::of(PolicyName::TailDrop)
    };
    let contracts = contracts(2);
    for name in [PolicyName::TailDrop, PolicyName::Ppd, PolicyName::Epd, PolicyName::Espd] {
        let mut policy =
            Policy::new(&DiscardParams { policy: name, ..thresholds.clone() }, &context(10, &contracts))
                .unwrap();
        let asked = with_policy!(&mut policy, policy => ask(policy, 10, &arrivals()));
        let rows = rows(name.name());
        for (vc, source) in [(0, "A"), (1, "B")] {
            let cells = asked.iter().filter(|asked| asked.cell.vc == vc);
            let met: Vec<_> =
                cells.map(|asked| format!("{}{}", asked.found, symbol(asked.verdict))).collect();
            assert_eq!(met, row(&rows, source), "{}, source {source}", name.name());
        }
    }
}
