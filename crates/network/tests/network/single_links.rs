//! `[[link-override]]`: single links that differ from the others of their place.

use std::collections::BTreeSet;

use celltrain_network::{Experiment, scenario::Graph};

use crate::common::{self, error, load, metric, names, run_traced, value};

fn read(tables: &str) -> Result<Graph, String> {
    let text = format!(
        "schema = 1\nname = \"single links\"\nduration = \"1 s\"\n\
         topology = {{ kind = \"n-source\", sources = 3 }}\n\
         link = {{ rate = \"100 Mbit/s\", delay = \"1 ms\", access.delay = \"1 ms .. 3 ms\" }}\n{tables}\n"
    );
    let scenario = common::read(&text, &[])?;
    let graph = scenario.graph().map_err(|error| error.to_string())?;
    let resolved = load(&scenario.resolved_toml(), &[]);
    assert_eq!(resolved.spec().link_override, scenario.spec().link_override);
    Ok(graph)
}

/// Rate in Mbit/s and delay in microseconds of each link, by name.
fn links(tables: &str) -> Vec<(String, u64, u64)> {
    let graph = read(tables).unwrap_or_else(|error| panic!("{error}"));
    let names = (0..graph.links.len()).map(|index| graph.link_name(index));
    let figures = graph.links.iter().map(|link| (link.rate.0 / 1_000_000, link.delay.ps() / 1_000_000));
    names.zip(figures).map(|(name, (rate, delay))| (name, rate, delay)).collect()
}

/// Both directions change, from whichever end the link is named; the delays of the others are spread as without it.
#[test]
fn one_link_differs_from_the_others_of_its_place() {
    let plain = links("");
    for ends in ["from = \"src2\"\nto = \"switch1\"", "from = \"switch1\"\nto = \"src2\""] {
        let found = links(&format!("[[link-override]]\n{ends}\nlink.rate = \"40 Mbit/s\""));
        for ((name, rate, delay), (_, plain_rate, plain_delay)) in std::iter::zip(found, &plain) {
            let is_meant = ["src2 > switch1", "switch1 > src2"].contains(&name.as_str());
            assert_eq!(rate, if is_meant { 40 } else { *plain_rate }, "{name}");
            assert_eq!(delay, *plain_delay, "{name}");
        }
    }
    let delayed = links("[[link-override]]\nfrom = \"src1\"\nto = \"switch1\"\nlink.delay = \"9 ms\"");
    let of = |wanted: &str| delayed.iter().find(|(name, ..)| name == wanted).unwrap().2;
    assert_eq!(["src1 > switch1", "src2 > switch1", "src3 > switch1"].map(of), [9_000, 2_000, 3_000]);
}

#[test]
fn what_no_link_can_be_is_told() {
    let override_of = |to: &str, link: &str| {
        format!("[[link-override]]\nfrom = \"src1\"\nto = \"{to}\"\nlink = {{ {link} }}\n")
    };
    let rate = "rate = \"1 Mbit/s\"";
    for (tables, expected) in [
        (
            override_of("switch11", rate),
            "link-override.0.from: there is no link \"src1 > switch11\"; did you mean \"src1 > switch1\"?",
        ),
        (
            override_of("switch1", "delay = \"1 ms .. 2 ms\""),
            "link-override.0.link.delay: one link has one delay",
        ),
        (
            override_of("switch1", rate).repeat(2),
            "link-override.1.from: this link has an override already, number 1",
        ),
        (override_of("switch1", "rate = \"0 Mbit/s\""), "link-override.0.link.rate: expected"),
        (override_of("switch1", "speed = \"1 Mbit/s\""), "speed"),
    ] {
        let error = read(&tables).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// Two links from one switch to another, one of 90 and one of 100 Mbit/s, both of which carry both directions, and a third that is entered the
/// other way round; the flows are spread over them.
const PARALLEL: &str = r#"
schema = 1
name = "parallel"
duration = "50 ms"
routing.multipath = "flow"
link.delay = "100 us"
[topology]
kind = "graph"
node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "s1", kind = "switch" }, { name = "s2", kind = "switch" }]
link = [
    { from = "a", to = "s1", rate = "1 Gbit/s" },
    { from = "s1", to = "s2", rate = "90 Mbit/s" },
    { from = "s1", to = "s2", rate = "100 Mbit/s" },
    { from = "s2", to = "b", rate = "1 Gbit/s" },
    { from = "s2", to = "s1", rate = "100 Mbit/s" },
]
[[group]]
name = "x"
flows = 30
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "6 Mbit/s" }
"#;

#[test]
fn parallel_links_have_names_of_their_own() {
    let scenario = load(PARALLEL, &[]);
    let graph = scenario.graph().unwrap();
    let found: Vec<_> = graph
        .links
        .iter()
        .zip(0..)
        .map(|(link, index)| (link.rate.0 / 1_000_000, graph.link_name(index)))
        .collect();
    let expected = [
        (1000, "a > s1"),
        (1000, "s1 > a"),
        (90, "s1 > s2"),
        (90, "s2 > s1"),
        (100, "s1 > s2 (2)"),
        (100, "s2 > s1 (2)"),
        (1000, "s2 > b"),
        (1000, "b > s2"),
        (100, "s2 > s1 (3)"),
        (100, "s1 > s2 (3)"),
    ];
    assert!(found.iter().map(|(rate, name)| (*rate, name.as_str())).eq(expected), "{found:?}");
    let result = run_traced(PARALLEL, &[]);
    let ports: BTreeSet<_> = names(&result.ports).into_iter().collect();
    assert_eq!(ports.len(), names(&result.ports).len(), "{ports:?}");
    let series: BTreeSet<_> = result.series.iter().map(|series| (&series.entity, series.metric)).collect();
    assert_eq!(series.len(), result.series.len());
}

#[test]
fn each_of_parallel_links_may_be_the_bottleneck() {
    for port in ["s1 > s2", "s1 > s2 (2)", "s1 > s2 (3)"] {
        let named = [("measures.bottleneck", port)];
        assert_eq!(Experiment::new(&load(PARALLEL, &named)).unwrap().bottleneck().as_deref(), Some(port));
        let result = run_traced(PARALLEL, &named);
        assert_eq!(metric(&result, "utilisation"), value(&result.ports, port, "utilisation"), "{port}");
    }
    let unknown = error(PARALLEL, &[("measures.bottleneck", "s1 > s2 (4)")]);
    assert!(unknown.contains("unknown port \"s1 > s2 (4)\"; did you mean \"s1 > s2 ("), "{unknown}");
}

/// A name stands for one link, also where cells are captured. What a file is called after is the same as ever.
#[test]
fn each_of_parallel_links_is_captured_by_itself() {
    let scenario = load(PARALLEL, &[]);
    for (link, count) in [("s1 > s2", 1), ("s1 > s2 (2)", 1), ("all", 5)] {
        let mut experiment = Experiment::new(&scenario).unwrap();
        experiment.capture(&[], &[link.to_owned()]).unwrap();
        let result = experiment.run(1, 0, celltrain_network::Options::default(), &mut || false).unwrap();
        assert_eq!(result.captures.len(), count, "{link}");
        assert!(result.captures.iter().all(|capture| !capture.place.contains('(')));
    }
}
