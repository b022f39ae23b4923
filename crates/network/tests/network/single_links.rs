//! `[[link-override]]`: single links that differ from the others of their place.

use celltrain_network::scenario::Graph;

use crate::common::{self, load};

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
