//! Networks of which some links carry cells and others packets.

use celltrain_network::scenario::{Flow, Framing, Graph, Scenario};

/// Two links between two switches, one of cells and one of packets, whichever comes first, and hosts with links of either kind or of both.
fn network(first: &str, second: &str, tables: &str) -> Result<Graph, String> {
    let link = |ends: &str, framing: &str| {
        let (from, to) = ends.split_once(' ').unwrap();
        format!("{{ from = \"{from}\", to = \"{to}\", framing = \"{framing}\" }}")
    };
    let links = [
        link("s t", first),
        link("s t", second),
        link("c1 s", "cells"),
        link("t c2", "cells"),
        link("p1 s", "packets"),
        link("t p2", "packets"),
        link("both s", first),
        link("both s", second),
    ];
    let node = |name: &str, kind: &str| format!("{{ name = \"{name}\", kind = \"{kind}\" }}");
    let hosts = ["c1", "c2", "p1", "p2", "both"].map(|name| node(name, "host"));
    let switches = ["s", "t"].map(|name| node(name, "switch"));
    let text = format!(
        "schema = 1\nname = \"framings\"\nduration = \"1 s\"\nswitch.buffer = \"unlimited\"\n\
         traffic.kind = \"greedy\"\n{tables}\n[topology]\nkind = \"graph\"\nnode = [{}, {}]\nlink = [{}]\n",
        hosts.join(", "),
        switches.join(", "),
        links.join(", ")
    );
    let scenario = Scenario::from_toml(&text, "test.toml", &[]);
    scenario.and_then(|scenario| scenario.graph()).map_err(|error| error.to_string())
}

/// `flow` as an entry of a scenario.
fn flow(name: &str, from: &str, to: &str, more: &str) -> String {
    format!("{{ name = \"{name}\", from = \"{from}\", to = \"{to}\"{more} }}")
}

/// The framings of the links that a flow takes there and back, each once.
fn framings(graph: &Graph) -> Vec<Vec<Framing>> {
    let of = |flow: &Flow| {
        let links = flow.route.iter().chain(&flow.back);
        let mut framings: Vec<_> = links.map(|&link| graph.links[link].framing).collect();
        framings.dedup();
        framings
    };
    graph.flows.iter().map(of).collect()
}

/// A flow takes links of one framing, whichever of two links between the same nodes is the first: that of its hosts' links, or the one that
/// carries its traffic.
#[test]
fn a_flow_takes_the_links_that_carry_what_its_hosts_send() {
    let sized = ", traffic = { kind = \"poisson\", rate = \"1 Mbit/s\", packet = \"500 B\", packet-distribution = \"exponential\" }";
    for (first, second) in [("cells", "packets"), ("packets", "cells")] {
        for routing in ["none", "flow", "packet"] {
            let flows = [
                flow("1", "c1", "c2", ""),
                flow("2", "p1", "p2", ""),
                flow("3", "p1", "p2", ", route = [\"p1\", \"s\", \"t\", \"p2\"]"),
                flow("4", "both", "c2", ""),
                flow("5", "both", "p2", sized),
            ];
            let tables = format!("routing.multipath = \"{routing}\"\nflow = [{}]", flows.join(", "));
            let graph = network(first, second, &tables).unwrap();
            let [cells, packets] = [vec![Framing::Cells], vec![Framing::Packets]];
            let expected = [&cells, &packets, &packets, &cells, &packets].map(Clone::clone);
            assert_eq!(framings(&graph), expected, "{first} first, {routing}");
        }
    }
}

/// What suits the traffic decides where both ways are there, and where neither is, the message says what is wrong with the shortest.
#[test]
fn no_flow_changes_its_framing() {
    let to_both = |more: &str| {
        let graph = network("packets", "cells", &format!("flow = [{}]", flow("1", "both", "c2", more)));
        graph.map(|graph| framings(&graph))
    };
    assert_eq!(
        to_both(", traffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }"),
        Ok(vec![vec![Framing::Cells]])
    );
    for (from, to) in [("c1", "p2"), ("p1", "c2")] {
        let found =
            network("cells", "packets", &format!("flow = [{}]", flow("1", from, to, ""))).unwrap_err();
        assert!(found.contains("flow \"1\" would change its framing on the way"), "{found}");
    }
    let bare = ", traffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }";
    let found =
        network("cells", "packets", &format!("flow = [{}]", flow("1", "p1", "p2", bare))).unwrap_err();
    assert!(found.contains("sends bare cells, which a packet-framed link does not carry"), "{found}");
}

/// A buffer of packets does not suit links of cells; that one of cells would not suit the others says less than what is wrong.
#[test]
fn what_changes_its_framing_is_said_before_what_buffers_count() {
    for buffer in ["200 packets", "6400 cells"] {
        let text = format!(
            "schema = 1\nname = \"framings\"\nduration = \"1 s\"\nswitch.buffer = \"{buffer}\"\ntopology.kind = \"dumbbell\"\n\
             group = [{{ name = \"a\" }}]\nlink = {{ framing = \"packets\", access = {{ framing = \"cells\" }} }}\n"
        );
        let scenario = Scenario::from_toml(&text, "test.toml", &[]).unwrap();
        let found = scenario.graph().unwrap_err().to_string();
        assert!(found.contains("would change its framing on the way"), "{found}");
    }
}
