//! Whatever stands in a scenario file, reading it gives a scenario or an error, never a panic.

use celltrain_network::scenario::Scenario;
use proptest::{prelude::*, sample::Index};

/// Scenarios that use every table and kind.
const SEEDS: [&str; 3] = [
    r#"
schema = 1
name = "lot"
duration = "3 s"
warm-up = "0.5 s"
seed = 7
replications = 2
tie-break = "port-id"
sample = "10 ms"
[topology]
kind = "parking-lot"
switches = 4
sources = 5
[link]
rate = "155.52 Mbit/s"
delay = "1 ms"
[link.trunk]
delay = "45.3 us"
[switch]
buffer = "2000 cells"
delay = "4 us"
[switch.discard]
policy = "espd"
espd.high = "95 %"
espd.low = "1700 cells"
epd.threshold = "80 %"
[host]
ip-rate = "10500 packet/s"
ip-serves = "both"
ip-spread = 0.1
[aal5]
overhead = "14 B"
[tcp]
stack = "opnet-1998"
mss = "500 B"
rto-min = "50 ms"
[traffic]
kind = "bursty"
bytes = "520 KiB"
every = "400 ms"
start = "0 ms .. 10 ms"
"#,
    r#"
schema = 1
name = "graph"
duration = "1 s"
[topology]
kind = "graph"
[[topology.node]]
name = "a"
kind = "host"
[[topology.node]]
name = "s"
kind = "switch"
[[topology.node]]
name = "b"
kind = "host"
[[topology.link]]
from = "a"
to = "s"
rate = "10 Mbit/s"
[[topology.link]]
from = "s"
to = "b"
delay = "5 us"
simplex = false
[[port]]
from = "s"
to = "b"
buffer = "100 cells"
discard = { policy = "ppd" }
[[flow]]
name = "tcp"
from = "a"
to = "b"
route = ["a", "s", "b"]
group = 3
tcp = { stack = "sack" }
[[flow]]
name = "cells"
from = "a"
to = "b"
traffic = { kind = "on-off", peak = "5 Mbit/s", on = "1 ms", off = "2 ms", distribution = "exponential", frame = 4 }
"#,
    r#"
schema = 1
name = "chain"
duration = "200 ms"
switch.buffer = "unlimited"
topology = { kind = "chain", trunks = 3, long = 2, cross = 1 }
traffic = { kind = "cbr", rate = "353207.55 cells/s", frame = 3 }
[[flow]]
name = "1"
traffic = { kind = "poisson", rate = "1 Mbit/s" }
[[flow]]
name = "2"
start = "1 ms"
traffic = { kind = "finite", bytes = "10 KiB" }
"#,
];

/// What a value may be replaced by.
const VALUES: [&str; 24] = [
    "0",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "4294967295",
    "1e308",
    "nan",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[[[1]]]]",
    "\"0 s\"",
    "\"2305843 s\"",
    "\"0 bit/s\"",
    "\"1 Gbit/s\"",
    "\"1e9 s\"",
    "\"99999999999999999999999999999999999999999 s\"",
    "\"0.0000000000000000000000001 s\"",
    "\"unlimited\"",
    "\"1 cells\"",
    "\"100 %\"",
    "\"src1\"",
    "1979-05-27T07:32:00Z",
];

/// One change of a text.
#[derive(Debug, Clone)]
enum Mutation {
    ReplaceByte(Index, u8),
    DeleteLine(Index),
    DuplicateLine(Index),
    SwapValues(Index, Index),
    ReplaceValue(Index, Index),
    Truncate(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    use Mutation::*;
    prop_oneof![
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| ReplaceByte(at, byte)),
        2 => any::<Index>().prop_map(DeleteLine),
        1 => any::<Index>().prop_map(DuplicateLine),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| SwapValues(a, b)),
        6 => (any::<Index>(), any::<Index>()).prop_map(|(line, value)| ReplaceValue(line, value)),
        1 => any::<Index>().prop_map(Truncate),
    ]
}

/// The key and value of a line.
fn split(line: &str) -> Option<(&str, &str)> {
    line.split_once(" = ")
}

fn apply(text: &str, mutation: &Mutation) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    match mutation {
        Mutation::ReplaceByte(at, byte) => {
            let mut bytes = text.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = *byte;
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        Mutation::Truncate(at) => return text.chars().take(at.index(text.chars().count() + 1)).collect(),
        Mutation::DeleteLine(at) => drop(lines.remove(at.index(lines.len()))),
        Mutation::DuplicateLine(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Mutation::SwapValues(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            if let (Some((key_a, value_a)), Some((key_b, value_b))) = (split(&lines[a]), split(&lines[b])) {
                (lines[a], lines[b]) = (format!("{key_a} = {value_b}"), format!("{key_b} = {value_a}"));
            }
        }
        Mutation::ReplaceValue(at, value) => {
            let at = at.index(lines.len());
            if let Some((key, _)) = split(&lines[at]) {
                lines[at] = format!("{key} = {}", value.get(&VALUES));
            }
        }
    }
    lines.join("\n")
}

/// Reads a text, builds its network, writes and reads it again; tells whether it was a scenario.
fn survives(text: &str, overrides: &[(String, String)]) -> bool {
    let scenario = match Scenario::from_toml(text, "mutated.toml", overrides) {
        Ok(scenario) => scenario,
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains(char::is_control), "one line for a terminal: {error}");
            return false;
        }
    };
    let again = Scenario::from_toml(&scenario.to_toml(), "again.toml", &[]).expect("what was read is valid");
    assert_eq!(again, scenario);
    assert_eq!(again.graph().is_ok(), scenario.graph().is_ok());
    true
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn the_unmutated_texts_are_scenarios() {
    for text in SEEDS {
        assert!(survives(text, &[]), "{:?}", Scenario::from_toml(text, "seed.toml", &[]));
        assert!(Scenario::from_toml(text, "seed.toml", &[]).unwrap().graph().is_ok());
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for text in [
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        "[a.a".repeat(100_000),
    ] {
        assert!(!survives(&text, &[]));
        assert!(!survives(SEEDS[0], &[("topology".to_owned(), text)]));
    }
    assert!(!survives(SEEDS[0], &[(vec!["a"; 100_000].join("."), "1".to_owned())]));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutated_files_are_scenarios_or_errors(
        seed in 0..SEEDS.len(),
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        let text = mutations.iter().fold(SEEDS[seed].to_owned(), |text, mutation| apply(&text, mutation));
        survives(&text, &[]);
    }

    #[test]
    fn mutated_overrides_are_scenarios_or_errors(
        seed in 0..SEEDS.len(),
        key in "(topology|switch|flow|link|tcp|port|traffic|seed|[a-z]{1,3})(\\.(0|1|kind|discard|rate|start|[a-z]{1,3})){0,3}",
        value in prop_oneof![prop::sample::select(VALUES.to_vec()).prop_map(str::to_owned), "\\PC{0,12}"],
    ) {
        survives(SEEDS[seed], &[(key, value)]);
    }

    #[test]
    fn any_text_is_a_scenario_or_an_error(text in "\\PC*") {
        survives(&text, &[]);
    }
}
