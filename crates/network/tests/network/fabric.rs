//! Leaf-spine networks, fat trees, tori and random graphs: how they are joined, and how flows are spread over them.

use std::collections::BTreeSet;

use celltrain_network::scenario::{Graph, NodeKind};

use crate::common::read;

fn graph(topology: &str) -> Graph {
    try_graph(topology).unwrap_or_else(|error| panic!("{topology}: {error}"))
}

fn try_graph(topology: &str) -> Result<Graph, String> {
    let text = format!("schema = 1\nname = \"fabric\"\nduration = \"1 ms\"\ntopology = {{ {topology} }}\n");
    read(&text, &[])?.graph().map_err(|error| error.to_string())
}

fn degrees(graph: &Graph, prefix: &str) -> BTreeSet<usize> {
    let of = |node: usize| graph.links.iter().filter(|link| link.from == node).count();
    let named = (0..graph.nodes.len()).filter(|&node| graph.nodes[node].name.starts_with(prefix));
    named.map(of).collect()
}

fn count(graph: &Graph, kind: NodeKind) -> usize {
    graph.nodes.iter().filter(|node| node.kind == kind).count()
}

#[test]
fn a_fat_tree_is_that_of_al_fares_loukissas_and_vahdat() {
    // Section 2.2.1: k pods, each with two layers of k/2 switches, (k/2)^2 core switches, k^3/4 hosts; every switch has k ports.
    for k in [2, 4, 8] {
        let graph = graph(&format!("kind = \"fat-tree\", k = {k}"));
        assert_eq!(count(&graph, NodeKind::Host), k * k * k / 4);
        assert_eq!(count(&graph, NodeKind::Switch), k * k + k * k / 4);
        for layer in ["edge", "aggregation", "core"] {
            assert_eq!(degrees(&graph, layer), [k].into(), "{layer} of k = {k}");
        }
        // Each core switch has one port to each pod.
        for core in (0..graph.nodes.len()).filter(|&node| graph.nodes[node].name.starts_with("core")) {
            let number =
                |node: usize| graph.nodes[node].name["aggregation".len()..].parse::<usize>().unwrap();
            let pods: BTreeSet<_> = graph
                .links
                .iter()
                .filter(|link| link.from == core)
                .map(|link| (number(link.to) - 1) / (k / 2))
                .collect();
            assert_eq!(pods.len(), k);
        }
    }
}

#[test]
fn flows_are_spread_over_the_shortest_ways() {
    let graph = graph("kind = \"fat-tree\", k = 8, pattern = \"all-to-all\"");
    assert_eq!(graph.flows.len(), 128 * 127);
    let hosts_of = |name: &str| name["host".len()..].parse::<usize>().unwrap() - 1;
    let mut cores = BTreeSet::new();
    for flow in &graph.flows {
        let ends = [flow.from, flow.to].map(|node| hosts_of(&graph.nodes[node].name));
        // Two links below one edge switch (4 hosts), four within a pod (16 hosts), six across the core.
        let links = match ends.map(|host| (host / 4, host / 16)) {
            [one, two] if one.0 == two.0 => 2,
            [one, two] if one.1 == two.1 => 4,
            _ => 6,
        };
        assert_eq!(flow.route.len(), links, "{ends:?}");
        assert_eq!(flow.back.len(), links, "acknowledgements take the same way back");
        let passed = flow.route.iter().map(|&link| graph.links[link].to);
        cores.extend(passed.filter(|&node| graph.nodes[node].name.starts_with("core")));
        assert!(flow.route.windows(2).all(|pair| graph.links[pair[0]].to == graph.links[pair[1]].from));
    }
    assert_eq!(cores.len(), 16, "every core switch carries some");
    // The hash depends on the flow alone: the same fabric gives the same ways.
    let again = self::graph("kind = \"fat-tree\", k = 8, pattern = \"all-to-all\"");
    assert!(graph.flows.iter().zip(&again.flows).all(|(one, two)| one.route == two.route));
}

#[test]
fn a_leaf_spine_network_joins_every_leaf_to_every_spine() {
    let graph = graph("kind = \"leaf-spine\", leaves = 4, spines = 3, hosts = 5, pattern = \"incast\"");
    assert_eq!(degrees(&graph, "leaf"), [5 + 3].into());
    assert_eq!(degrees(&graph, "spine"), [4].into());
    assert_eq!(graph.flows.len(), 19);
    assert!(graph.flows.iter().all(|flow| graph.nodes[flow.to].name == "host1"));
    let spines = |graph: &Graph| -> BTreeSet<_> {
        graph.flows.iter().filter(|flow| flow.route.len() == 4).map(|flow| flow.route[1]).collect()
    };
    assert!(spines(&graph).len() > 6, "15 flows take many of the 9 ways up");
}

#[test]
fn a_torus_joins_every_switch_to_its_neighbours() {
    let graph = graph("kind = \"torus\", rows = 4, columns = 5, hosts = 2, pattern = \"all-to-all\"");
    assert_eq!((count(&graph, NodeKind::Host), count(&graph, NodeKind::Switch)), (40, 20));
    assert_eq!(degrees(&graph, "switch"), [4 + 2].into());
    let place = |node: usize| (node as i64 / 2 / 5, node as i64 / 2 % 5);
    for flow in &graph.flows {
        let [(row, column), (other_row, other_column)] = [flow.from, flow.to].map(place);
        let around = |distance: i64, size: i64| distance.abs().min(size - distance.abs());
        let steps = around(row - other_row, 4) + around(column - other_column, 5);
        assert_eq!(flow.route.len() as i64, steps + 2);
    }
    for (size, links, degree) in
        [("rows = 2, columns = 1", 1, 1), ("rows = 2, columns = 2", 4, 2), ("rows = 3, columns = 1", 3, 2)]
    {
        let graph = self::graph(&format!("kind = \"torus\", {size}, hosts = 1"));
        assert_eq!(graph.links.len() / 2 - count(&graph, NodeKind::Host), links, "{size}");
        assert_eq!(degrees(&graph, "switch"), [degree + 1].into(), "{size}");
    }
}

#[test]
fn a_random_graph_gives_every_switch_as_many_neighbours_and_a_way_to_every_other() {
    for (switches, degree) in [(3, 2), (9, 4), (20, 3), (40, 5)] {
        for seed in 0..5 {
            let graph = graph(&format!(
                "kind = \"random\", switches = {switches}, degree = {degree}, hosts = 1, seed = {seed}, pattern = \"all-to-all\""
            ));
            assert_eq!(count(&graph, NodeKind::Switch), switches);
            assert_eq!(degrees(&graph, "switch"), [degree + 1].into());
            let ends: BTreeSet<_> = graph.links.iter().map(|link| (link.from, link.to)).collect();
            assert_eq!(ends.len(), graph.links.len(), "no two switches are joined twice");
            // A flow without a way would have been refused.
            assert_eq!(graph.flows.len(), switches * (switches - 1));
            assert!(graph.flows.iter().all(|flow| flow.route.len() >= 3));
        }
    }
}

#[test]
fn the_links_of_a_random_graph_are_those_of_its_seed() {
    let ends = |more: &str| -> Vec<_> {
        let graph = graph(&format!("kind = \"random\", switches = 30, degree = 4, hosts = 2{more}"));
        graph.links.iter().map(|link| (link.from, link.to)).collect()
    };
    assert_eq!(ends(""), ends(", seed = 1"));
    assert_ne!(ends(""), ends(", seed = 2"));
}

#[test]
fn what_is_no_fabric_is_refused() {
    for (topology, expected) in [
        ("kind = \"fat-tree\", k = 3", "topology.k: expected an even number of ports, found 3"),
        ("kind = \"fat-tree\", k = 0", "topology.k: expected 2 or more, found 0"),
        ("kind = \"fat-tree\", k = 4000000000", "topology.k: expected at most 65536 ports"),
        ("kind = \"fat-tree\", k = 1000", "topology.k: expected at most"),
        ("kind = \"leaf-spine\", leaves = 1, spines = 1, hosts = 2", "topology.leaves: expected 2 or more"),
        ("kind = \"leaf-spine\", leaves = 2, spines = 0, hosts = 1", "topology.spines: expected 1 or more"),
        (
            "kind = \"leaf-spine\", leaves = 65536, spines = 65536, hosts = 65536",
            "topology.hosts: expected at most",
        ),
        ("kind = \"torus\", rows = 1, columns = 4, hosts = 1", "topology.rows: expected 2 or more, found 1"),
        ("kind = \"torus\", rows = 70000, columns = 70000, hosts = 1", "topology.columns: expected at most"),
        (
            "kind = \"torus\", rows = 1000, columns = 1000, hosts = 4000000000",
            "topology.hosts: expected at most",
        ),
        (
            "kind = \"random\", switches = 2, degree = 2, hosts = 1",
            "topology.switches: expected 3 or more, found 2",
        ),
        (
            "kind = \"random\", switches = 9, degree = 1, hosts = 1",
            "topology.degree: expected 2 or more, found 1",
        ),
        (
            "kind = \"random\", switches = 9, degree = 4, hosts = 0",
            "topology.hosts: expected 1 or more, found 0",
        ),
        (
            "kind = \"random\", switches = 4, degree = 4, hosts = 1",
            "topology.degree: expected fewer than the 4 switches, found 4",
        ),
        (
            "kind = \"random\", switches = 9, degree = 3, hosts = 1",
            "topology.degree: expected an even number, as the number of switches is odd, found 3",
        ),
        (
            "kind = \"random\", switches = 4000000000, degree = 3999999999, hosts = 4000000000",
            "topology.degree: expected at most 100000 links between switches",
        ),
        (
            "kind = \"random\", switches = 9, degree = 4, hosts = 4000000000",
            "topology.hosts: expected at most",
        ),
        ("kind = \"fat-tree\", k = 4, pattern = \"ring\"", "unknown name \"ring\""),
    ] {
        let found = try_graph(topology).expect_err(topology);
        assert!(found.contains(expected), "{topology}: {found}");
    }
}
