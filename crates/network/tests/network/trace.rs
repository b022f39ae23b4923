//! A port cell by cell against a trace worked out by hand, `tests/oracles/two-sources.txt`.

use crate::common::{occupancies, run, value};

const TRACE: &str = include_str!("../../../../tests/oracles/two-sources.txt");
/// The port that the trace is about.
const PORT: &str = "switch1 > switch2";

/// A policy of the trace.
struct Part {
    policy: &'static str,
    /// Its thresholds, as (key, cells).
    thresholds: Vec<(&'static str, &'static str)>,
    /// What happens to each cell, in the order of the slots, of source A and of source B.
    fates: [Vec<Fate>; 2],
}

/// What a cell finds and what becomes of it.
struct Fate {
    found: u32,
    symbol: char,
}

fn words(part: &'static str, first: &str) -> Vec<&'static str> {
    let line = part.lines().find(|line| line.split_whitespace().next() == Some(first));
    line.unwrap_or_else(|| panic!("no row {first}")).split_whitespace().skip(1).collect()
}

fn slots() -> Vec<u32> {
    words(TRACE, "slot").iter().map(|slot| slot.parse().unwrap()).collect()
}

fn parts() -> Vec<Part> {
    let fate = |word: &&str| {
        let (found, symbol) = word.split_at(word.len() - 1);
        Fate { found: found.parse().unwrap(), symbol: symbol.chars().next().unwrap() }
    };
    let part = |text: &'static str| {
        let mut head = text.lines().next().unwrap().split_whitespace();
        Part {
            policy: head.next().unwrap(),
            thresholds: head.map(|threshold| threshold.split_once('=').unwrap()).collect(),
            fates: ["A", "B"].map(|source| words(text, source).iter().map(fate).collect()),
        }
    };
    TRACE.split("\npolicy ").skip(1).map(part).collect()
}

/// The sources of the trace in a network: at 424 Mbit/s a slot is 1 us. A's cells reach the port 1.25 us after the start of
/// their slot (its phase, and the slot of the source's own link), B's half a slot later.
fn tables(part: &Part) -> String {
    let traffic = |flow: u32, frame: u32, start: &str| {
        format!(
            "[[flow]]\nname = \"{flow}\"\ntraffic = {{ kind = \"on-off\", peak = \"424 Mbit/s\", on = \"15 us\", \
             off = \"7 us\", frame = {frame}, start = \"{start}\" }}\n"
        )
    };
    let thresholds: String =
        part.thresholds.iter().map(|(key, cells)| format!("{key} = \"{cells} cells\"\n")).collect();
    format!(
        "duration = \"33.25 us\"\nsample = \"500 ns\"\ntie-break = \"port-id\"\n\
         [topology]\nkind = \"n-source\"\nsources = 2\n[link]\nrate = \"424 Mbit/s\"\ndelay = \"0 s\"\n\
         [switch]\nbuffer = \"10 cells\"\n[switch.discard]\npolicy = \"{policy}\"\n\
         [switch.discard.{policy}]\n{thresholds}{a}{b}",
        policy = part.policy,
        a = traffic(1, 4, "250 ns"),
        b = traffic(2, 8, "750 ns"),
    )
}

/// Arrival and departure, in half slots, of every accepted cell; the trace says that one that arrives in slot k and finds n
/// leaves at the start of slot k + n + 1.
fn accepted(part: &Part) -> Vec<(u32, u32)> {
    let mut stays = Vec::new();
    for (late, fates) in (0..).zip(&part.fates) {
        for (slot, fate) in slots().iter().zip(fates).filter(|(_, fate)| fate.symbol == '+') {
            stays.push((2 * slot + late, 2 * (slot + fate.found + 1)));
        }
    }
    stays
}

#[test]
fn the_port_does_what_was_worked_out_by_hand() {
    let parts = parts();
    assert_eq!(parts.len(), 4, "tail drop, PPD, EPD, ESPD");
    for part in &parts {
        let result = run(&tables(part));
        let stays = accepted(part);
        // Sample n is taken n half slots after the start, a quarter of a slot after what happens 1.25 us after the half
        // slot n - 3 of the trace, and before what follows.
        let expected: Vec<f64> = (1..=66_u32)
            .map(|sample| {
                let inside = |stay: &&(u32, u32)| stay.0 + 3 <= sample && sample < stay.1 + 3;
                stays.iter().filter(inside).count() as f64
            })
            .collect();
        assert_eq!(occupancies(&result, PORT), expected, "{}", part.policy);
        check_counts(part, &stays, |column| value(&result.ports, PORT, column));
    }
}

fn check_counts(part: &Part, stays: &[(u32, u32)], measured: impl Fn(&str) -> f64) {
    let columns = [
        ('f', "discarded_buffer_full"),
        ('r', "discarded_frame_refused"),
        ('b', "discarded_frame_broken"),
        ('c', "discarded_vc_captured"),
    ];
    for (symbol, column) in columns {
        let count = part.fates.iter().flatten().filter(|fate| fate.symbol == symbol).count();
        assert_eq!(measured(column), count as f64, "{}: {column}", part.policy);
    }
    // Half slots of 500 ns. The run ends 64 of them after the first cell arrives; what is in the buffer then has stayed until then.
    let stayed: u32 = stays.iter().map(|stay| stay.1.min(64) - stay.0).sum();
    let mean = f64::from(stayed) * 500e-9 / stays.len() as f64;
    // Cells arrive in the middle of a picosecond, the run ends at the beginning of one: half a picosecond for each that is left.
    let found = measured("delay_mean");
    assert!((found / mean - 1.0).abs() < 1e-7, "{}: mean delay {found}, not {mean}", part.policy);
    let fullest =
        part.fates.iter().flatten().filter(|fate| fate.symbol == '+').map(|fate| fate.found + 1).max();
    assert_eq!(measured("occupancy_max"), f64::from(fullest.unwrap()), "{}", part.policy);
}
