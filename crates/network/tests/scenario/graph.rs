//! The networks that scenarios describe: generated ones, written-out ones, and ones that cannot be.

use celltrain_atm::buffer::PolicyName;
use celltrain_engine::quantity::{BitRate, Duration};
use celltrain_network::scenario::{Flow, Graph, NodeKind, Scenario};

fn scenario(tables: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"network\"\nduration = \"1 s\"\n{tables}");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap()
}

fn graph(tables: &str) -> Graph {
    scenario(tables).graph().unwrap()
}

fn error(tables: &str) -> String {
    scenario(tables).graph().unwrap_err().to_string()
}

/// The names of the nodes along some links.
fn way(graph: &Graph, links: &[usize]) -> Vec<String> {
    let first = graph.links[links[0]].from;
    let nodes = std::iter::once(first).chain(links.iter().map(|link| graph.links[*link].to));
    nodes.map(|node| graph.nodes[node].name.clone()).collect()
}

fn round_trip(graph: &Graph, flow: &Flow) -> Duration {
    Duration(flow.route.iter().chain(&flow.back).map(|link| graph.links[*link].delay.ps()).sum())
}

const MS: u64 = 1_000_000_000;

#[test]
fn the_parking_lot_has_the_round_trips_of_the_paper() {
    let graph = graph("[topology]\nkind = \"parking-lot\"\nswitches = 4\nsources = 5");
    assert_eq!((graph.nodes.len(), graph.links.len(), graph.flows.len()), (34, 66, 15));
    for flow in &graph.flows {
        let group = (flow.name.parse::<u32>().unwrap() - 1) / 5 + 1;
        assert_eq!(flow.group, group);
        assert_eq!(round_trip(&graph, flow), Duration((12 - 2 * u64::from(group)) * MS));
        let mut back = way(&graph, &flow.back);
        back.reverse();
        assert_eq!(back, way(&graph, &flow.route), "ACKs go back the same way");
    }
    assert_eq!(way(&graph, &graph.flows[10].route), ["src11", "switch3", "switch4", "dest11"]);
    let last_trunk =
        graph.flows.iter().filter(|flow| way(&graph, &flow.route)[..].join(" ").contains("switch3 switch4"));
    assert_eq!(last_trunk.count(), 15, "the last trunk carries all");
}

#[test]
fn the_backbone_has_a_vc_for_each_pair_of_edge_routers() {
    let graph = graph("[topology]\nkind = \"backbone\"\npairs = 5\nflows = 10");
    assert_eq!((graph.nodes.len(), graph.links.len(), graph.flows.len()), (12, 22, 50));
    for (index, flow) in graph.flows.iter().enumerate() {
        let pair = index / 10 + 1;
        assert_eq!((flow.name.as_str(), flow.group), ((index + 1).to_string().as_str(), pair as u32));
        let names = [format!("src{pair}"), "switch1".into(), "switch2".into(), format!("dest{pair}")];
        assert_eq!(way(&graph, &flow.route), names);
        assert_eq!(flow.circuit, index / 10 * 10, "the first flow of the pair sets the VC up");
    }
}

#[test]
fn the_chain_loads_each_trunk_alike() {
    let graph = graph("[topology]\nkind = \"chain\"\ntrunks = 3\nlong = 5\ncross = 5");
    assert_eq!(graph.flows.len(), 20);
    for trunk in 1..=3 {
        let pair = format!("switch{trunk} switch{}", trunk + 1);
        let crossing = graph.flows.iter().filter(|flow| way(&graph, &flow.route).join(" ").contains(&pair));
        assert_eq!(crossing.count(), 10);
    }
    let lengths: Vec<_> = graph.flows.iter().map(|flow| flow.route.len()).collect();
    assert_eq!(lengths, [[5; 5], [3; 5], [3; 5], [3; 5]].concat());
    assert_eq!(graph.flows[19].group, 4);
}

#[test]
fn peer_to_peer_is_n_source() {
    assert_eq!(
        graph("[topology]\nkind = \"peer-to-peer\"\nsources = 10"),
        graph("[topology]\nkind = \"n-source\"\nsources = 10")
    );
}

#[test]
fn places_have_links_of_their_own() {
    let graph = graph(
        "[topology]\nkind = \"n-source\"\nsources = 1\n[link]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
         access.rate = \"10 Mbit/s\"\ntrunk.delay = \"20 ms\"\nexit.delay = \"3 ms\"\n[switch]\ndelay = \"1 us\"\n",
    );
    let links = |links: &[usize]| -> Vec<_> {
        links
            .iter()
            .map(|link| (graph.links[*link].rate.0 / 1_000_000, graph.links[*link].delay.0 / 1_000_000))
            .collect()
    };
    // A switch's own delay comes before its output port, so it belongs to the link that reaches the switch.
    assert_eq!(links(&graph.flows[0].route), [(10, 1_001), (100, 20_001), (100, 3_000)]);
    assert_eq!(links(&graph.flows[0].back), [(100, 3_001), (100, 20_001), (10, 1_000)]);
}

#[test]
fn only_switch_ports_have_a_limited_buffer() {
    let graph = graph(
        "[topology]\nkind = \"n-source\"\nsources = 1\n[switch]\nbuffer = \"300 cells\"\ndiscard.policy = \"ppd\"\n\
         [[port]]\nfrom = \"switch1\"\nto = \"switch2\"\nbuffer = \"40 cells\"\n\
         [[port]]\nfrom = \"switch2\"\nto = \"dest1\"\ndiscard.policy = \"epd\"\n",
    );
    let ports: Vec<_> = graph.flows[0]
        .route
        .iter()
        .map(|link| (graph.links[*link].buffer.0, graph.links[*link].discard.policy))
        .collect();
    let expected = [(None, PolicyName::TailDrop), (Some(40), PolicyName::Ppd), (Some(300), PolicyName::Epd)];
    assert_eq!(ports, expected);
    let trunk_back = &graph.links[graph.flows[0].back[1]];
    assert_eq!(trunk_back.buffer.0, Some(300), "the other direction is another port");
}

/// Two hosts, and two ways between them; the shorter one is simplex.
const TWO_WAYS: &str = r#"
[topology]
kind = "graph"
node = [
    { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "lonely", kind = "host" },
    { name = "s", kind = "switch" }, { name = "t", kind = "switch" }, { name = "u", kind = "switch" },
]
link = [
    { from = "a", to = "s" }, { from = "s", to = "t", simplex = true, rate = "1 Gbit/s" }, { from = "t", to = "b" },
    { from = "s", to = "u", delay = "9 ms" }, { from = "u", to = "t" },
]
"#;

#[test]
fn the_shortest_way_is_taken_and_back_if_there_is_one() {
    let graph = graph(&format!("{TWO_WAYS}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\""));
    let flow = &graph.flows[0];
    assert_eq!(way(&graph, &flow.route), ["a", "s", "t", "b"]);
    assert_eq!(way(&graph, &flow.back), ["b", "t", "u", "s", "a"]);
    assert_eq!(graph.links[flow.route[1]].rate, BitRate(1_000_000_000));
    assert_eq!(graph.nodes[3].kind, NodeKind::Switch);
}

#[test]
fn a_route_can_be_written_out() {
    let graph = graph(&format!(
        "{TWO_WAYS}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nroute = [\"a\", \"s\", \"u\", \"t\", \"b\"]"
    ));
    assert_eq!(way(&graph, &graph.flows[0].route), ["a", "s", "u", "t", "b"]);
    assert_eq!(way(&graph, &graph.flows[0].back), ["b", "t", "u", "s", "a"]);
}

#[test]
fn cells_without_tcp_need_no_way_back() {
    let one_way = r#"
        [topology]
        kind = "graph"
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "b", kind = "host" }]
        link = [{ from = "a", to = "s", simplex = true }, { from = "s", to = "b", simplex = true }]
        [[flow]]
        name = "f"
        from = "a"
        to = "b"
    "#;
    assert_eq!(error(one_way), "test.toml:9: flow.0: flow \"f\" dangles: \"a\" cannot be reached from \"b\"");
    let graph = graph(&format!("{one_way}\n[traffic]\nkind = \"poisson\"\nrate = \"1 Mbit/s\""));
    assert_eq!((graph.flows[0].route.len(), graph.flows[0].back.len()), (2, 0));
}

#[test]
fn a_flow_entry_changes_a_generated_flow_or_adds_one() {
    let graph = graph(
        "[topology]\nkind = \"n-source\"\nsources = 3\n\
         [[flow]]\nname = \"2\"\nstart = \"5 ms\"\ngroup = 7\n\
         [[flow]]\nname = \"cbr\"\nfrom = \"src1\"\nto = \"dest3\"\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }\n",
    );
    let names: Vec<_> = graph.flows.iter().map(|flow| (flow.name.as_str(), flow.group)).collect();
    assert_eq!(names, [("1", 1), ("2", 7), ("3", 1), ("cbr", 1)]);
    assert_eq!(graph.flows[1].start.to, Duration(5 * MS));
    assert_eq!(way(&graph, &graph.flows[3].route), ["src1", "switch1", "switch2", "dest3"]);
    assert!(!graph.flows[3].traffic.uses_tcp() && graph.flows[3].back.is_empty());
}

/// Bare cells where several flows of a pair would share a VC.
const BARE_PAIRS: &str = "[topology]\nkind = \"backbone\"\npairs = 2\nflows = 10\n\
                          [traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n";

/// Three flows that the topology makes.
const THREE_FLOWS: &str = "[topology]\nkind = \"n-source\"\nsources = 3\n";

#[test]
fn networks_that_cannot_be_are_errors() {
    let flow = |keys: &str| format!("{TWO_WAYS}[[flow]]\nname = \"f\"\n{keys}");
    for (tables, expected) in [
        (TWO_WAYS.to_owned(), "test.toml: flow: the network has no flow: add a [[flow]] or a [[group]]"),
        (
            format!("{THREE_FLOWS}[[flow]]\nname = \"33\"\n"),
            "test.toml:7: flow.0.from: this key is required: the topology makes no flow \"33\"; did you mean \"3\"? \
             (it makes: 1, 2, 3)",
        ),
        (
            format!("{THREE_FLOWS}[[flow]]\nname = \"1 .. 2\"\n[[flow]]\nname = \"2\"\n"),
            "test.toml:10: flow.1.name: there is another [[flow]] \"2\", of the range \"1 .. 2\"",
        ),
        (
            flow("from = \"a\""),
            "test.toml:15: flow.0.to: this key is required: the topology makes no flow \"f\"",
        ),
        (
            flow("from = \"a\"\nto = \"c\""),
            "test.toml:18: flow.0.to: unknown node \"c\"; did you mean \"a\"?",
        ),
        (
            flow("from = \"a\"\nto = \"s\""),
            "test.toml:18: flow.0.to: \"s\" is a switch: flows begin and end at hosts",
        ),
        (flow("from = \"a\"\nto = \"a\""), "test.toml:18: flow.0.to: a flow joins two different hosts"),
        (
            flow("from = \"a\"\nto = \"lonely\""),
            "test.toml:15: flow.0: flow \"f\" dangles: \"lonely\" cannot be reached from \"a\"",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\nroute = [\"a\", \"s\", \"u\", \"s\", \"t\", \"b\"]"),
            "test.toml:19: flow.0.route.3: the route is a loop: \"s\" is also its element 1",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\nroute = [\"a\", \"s\", \"b\"]"),
            "test.toml:19: flow.0.route.2: there is no link from \"s\" to \"b\"",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\nroute = [\"a\", \"s\"]"),
            "test.toml:19: flow.0.route: expected a route from \"a\" to \"b\", both included",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\nroute = [\"a\", \"s\", \"lonely\", \"b\"]"),
            "test.toml:19: flow.0.route.2: \"lonely\" is a host: it passes nothing on",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\n[[flow]]\nname = \"f\"\nfrom = \"b\"\nto = \"a\""),
            "test.toml:20: flow.1.name: there is another [[flow]] \"f\"",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\n[[port]]\nfrom = \"a\"\nto = \"s\""),
            "test.toml:20: port.0.from: \"a\" is a host: only the ports of switches have a buffer",
        ),
        (
            flow("from = \"a\"\nto = \"b\"\n[[port]]\nfrom = \"t\"\nto = \"s\""),
            "test.toml:21: port.0.to: there is no link from \"t\" to \"s\"",
        ),
        (
            flow(
                "from = \"a\"\nto = \"b\"\n[[port]]\nfrom = \"s\"\nto = \"t\"\nbuffer = \"40 cells\"\n\
                 [[port]]\nfrom = \"t\"\nto = \"b\"\n[[port]]\nfrom = \"s\"\nto = \"t\"\ndiscard.policy = \"epd\"",
            ),
            "test.toml:27: port.2.from: this port has a [[port]] already, number 1",
        ),
        (
            TWO_WAYS.replace("\"lonely\"", "\"s\""),
            "test.toml:9: topology.node.3.name: there is another node \"s\"",
        ),
        (
            TWO_WAYS.replace("\"9 ms\"", "\"2 s\"").replace("1 Gbit/s", "0 bit/s"),
            "test.toml:12: topology.link.1.rate: expected",
        ),
        (
            TWO_WAYS.replace("to = \"t\"", "to = \"tt\""),
            "test.toml:12: topology.link.1.to: unknown node \"tt\"; did you mean",
        ),
        (
            TWO_WAYS.replace("to = \"t\"", "to = \"s\""),
            "test.toml:12: topology.link.1.to: a link joins two different nodes",
        ),
        (
            "[topology]\nkind = \"parking-lot\"\nswitches = 1\nsources = 1".to_owned(),
            "test.toml:6: topology.switches: expected 2 or more, found 1",
        ),
        (
            "[topology]\nkind = \"parking-lot\"\nswitches = 20000\nsources = 1".to_owned(),
            "test.toml:4: topology: the routes of all flows together pass more than 10000000 links",
        ),
        (
            "[topology]\nkind = \"chain\"\ntrunks = 4294967295\nlong = 1\ncross = 4294967295".to_owned(),
            "test.toml:8: topology.cross: expected at most 1000000 flows, found",
        ),
        (
            BARE_PAIRS.to_owned(),
            "test.toml:7: topology.flows: flows \"1\" and \"2\" cannot share a VC: both must carry TCP between the same \
             hosts, on the same way and under the same contract; write topology.flows = 1",
        ),
        (
            format!("{BARE_PAIRS}[[flow]]\nname = \"2\""),
            "test.toml:11: flow.0.circuit: flows \"1\" and \"2\" cannot share a VC: both must carry TCP between the same \
             hosts, on the same way and under the same contract; give each a circuit of its own",
        ),
    ] {
        let found = error(&tables);
        assert!(found.starts_with(expected), "{tables}\nfound:    {found}\nexpected: {expected}");
    }
}

#[test]
fn a_large_network_is_built() {
    let graph = graph("[topology]\nkind = \"parking-lot\"\nswitches = 11\nsources = 10000");
    assert_eq!(graph.flows.len(), 100_000);
    assert_eq!(graph.flows[99_999].route.len(), 3);
}

/// ABR between two hosts behind one switch, and what is different about it.
fn abr(more: &str) -> String {
    format!(
        "[topology]\nkind = \"graph\"\nnode = [ {{ name = \"a\", kind = \"host\" }}, {{ name = \"b\", kind = \"host\" }}, \
         {{ name = \"s\", kind = \"switch\" }} ]\n[vc]\ncategory = \"abr\"\n[switch.allocator]\nalgorithm = \"erica\"\n\
         [[flow]]\nname = \"there\"\nfrom = \"a\"\nto = \"b\"\n{more}"
    )
}

const DUPLEX: &str =
    "[[topology.link]]\nfrom = \"a\"\nto = \"s\"\n[[topology.link]]\nfrom = \"s\"\nto = \"b\"\n";

#[test]
fn abr_that_cannot_be_says_why() {
    let works = abr(DUPLEX);
    assert!(graph(&works).flows[0].abr.is_some());
    let says = |tables: &str, words: &str| {
        let error = error(tables);
        assert!(error.contains(words), "{error}");
    };
    says(&works.replace("\"abr\"", "\"ubr\""), "switch.allocator: no flow is ABR");
    says(
        &abr(&(DUPLEX.to_owned() + "[link]\nframing = \"packets\"\n"))
            .replace("[switch.allocator]", "[switch]\nbuffer = \"9 packets\"\n[switch.allocator]"),
        "its links carry packets",
    );
    says(
        &works.replace("[vc]", "[vc]\npcr = \"1 Mbit/s\""),
        ": vc.pcr: flow \"there\" is ABR: its rates stand in [abr]",
    );
    says(
        &works
            .replace("name = \"there\"", "name = \"there\"\nvc = { category = \"abr\", scr = \"1 Mbit/s\" }"),
        ": flow.0.vc.scr: flow \"there\" is ABR",
    );
    says(&(works.clone() + "[abr]\nrif = 2\n"), ": abr.rif: expected a factor between 0 and 1, found 2");
    says(
        &(works.clone() + "[abr]\nsource-buffer = \"2 KiB\"\n"),
        "abr.source-buffer: expected a number of cells",
    );
    let simplex = "[[topology.link]]\nfrom = \"s\"\nto = \"b\"\nsimplex = true\n[[topology.link]]\nfrom = \"b\"\nto = \"s\"\nsimplex = true\n[[topology.link]]\nfrom = \"a\"\nto = \"s\"\n";
    assert!(graph(&abr(simplex)).flows[0].abr.is_some(), "two simplex links make a duplex one");
}

#[test]
fn ports_that_stamp_for_each_other_are_refused() {
    let both = abr(DUPLEX) + "[[flow]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\n";
    let error = error(&both);
    assert!(error.contains("ABR flows cross \"s\" in opposite directions between the same ports"), "{error}");
    // With an allocator at one of them only there is nothing to wait for.
    let one = both.replace("[switch.allocator]\n", "[[port]]\nfrom = \"s\"\nto = \"b\"\n[port.allocator]\n");
    assert_eq!(graph(&one).flows.len(), 2);
}

#[test]
fn delays_may_be_lengths() {
    let graph = graph(
        "[topology]\nkind = \"n-source\"\nsources = 1\n[link]\ndelay = \"1000 km\"\ntrunk.delay = \"2 ms\"\n",
    );
    assert_eq!(round_trip(&graph, &graph.flows[0]), Duration(2 * (5 + 2 + 5) * MS));
}

/// What is checked against the rate of a link holds by the slowest clock that a replication may have.
#[test]
fn rates_hold_by_the_slowest_clock() {
    let spread = |tables: &str| {
        format!(
            "topology = {{ kind = \"n-source\", sources = 2 }}\n\
             link = {{ rate = \"155.52 Mbit/s\", rate-spread = \"1000 ppm\" }}\n{tables}"
        )
    };
    let abr = "vc.category = \"abr\"\nabr.mcr = \"155.5 Mbit/s\"\n";
    let scr = "vc = { category = \"vbr\", policing = \"tag-cells\", scr = \"155.5 Mbit/s\" }\n";
    let equal = "vc.mcr = \"77.75 Mbit/s\"\n\
                 switch.discard = { policy = \"epd-push-out\", epd-push-out.sharing = \"equal\" }\n";
    for (tables, key) in [(abr, "abr.mcr"), (scr, "vc.scr"), (equal, "sharing")] {
        let message = error(&spread(tables));
        assert!(message.contains(key), "{message}");
        assert!(message.ends_with("by the slowest clock (link.rate-spread)"), "{message}");
        graph(&spread(tables).replace("1000 ppm", "20 ppm"));
    }
}

#[test]
fn data_of_abr_have_no_low_priority() {
    let text = "schema = 1\nname = \"network\"\nduration = \"1 s\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
                vc = { category = \"abr\", clp = true }\n";
    let message = Scenario::from_toml(text, "test.toml", &[]).unwrap_err().to_string();
    assert!(message.contains("vc.clp: the data cells of ABR have CLP = 0"), "{message}");
}

/// A table of links that the topology does not have says so.
#[test]
fn tables_about_links_of_which_there_are_none_are_noted() {
    let written = "kind = \"graph\"\nnode = [{ name = \"a\", kind = \"host\" }, { name = \"s\", kind = \"switch\" }, { name = \"b\", \
                   kind = \"host\" }]\nlink = [{ from = \"a\", to = \"s\" }, { from = \"s\", to = \"b\" }]\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"";
    let fabric = "kind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts = 2";
    let sources = "kind = \"n-source\"\nsources = 2";
    for (topology, table, expected) in [
        (
            written,
            "trunk",
            Some("link.trunk: this network has no such links; each [[topology.link]] says what it is"),
        ),
        (written, "access", Some("link.access: this network has no such links; each [[topology.link]]")),
        (
            fabric,
            "exit",
            Some("link.exit: this network has no such links; the links of all hosts are [link.access]"),
        ),
        (fabric, "trunk", None),
        (sources, "exit", None),
        ("kind = \"dumbbell\"\n[[group]]\nname = \"g\"\naccess.delay = \"1 ms\"", "access", None),
    ] {
        let text = format!("[link.{table}]\nrate = \"90 Mbit/s\"\n[topology]\n{topology}\n");
        let notes = scenario(&text).notes().unwrap();
        let found = notes.iter().find(|note| note.starts_with(&format!("link.{table}:")));
        assert_eq!(found.is_some(), expected.is_some(), "{text}{notes:?}");
        assert!(expected.is_none_or(|expected| found.unwrap().starts_with(expected)), "{notes:?}");
    }
}

/// Notes advise `traffic.start` where there is no `[traffic]`.
#[test]
fn traffic_with_a_start_alone_is_greedy() {
    let start = |tables: &str| graph(tables).flows[0].traffic.start();
    let two = "topology = { kind = \"n-source\", sources = 2 }\n";
    assert_eq!(start(&format!("{two}traffic.start = \"5 ms\"")).from, Duration(5 * MS));
    let text = format!("schema = 1\nname = \"network\"\nduration = \"1 s\"\n{two}traffic.bytes = \"1 kB\"");
    let error = Scenario::from_toml(&text, "test.toml", &[]).unwrap_err().to_string();
    assert!(error.contains("traffic.kind: this key is required"), "{error}");
}

/// Schedulers know VCs by their labels at a port; users know flows.
#[test]
fn a_vc_without_the_rate_that_a_scheduler_shares_by_is_named_by_its_flow() {
    let message = error(
        "topology = { kind = \"n-source\", sources = 2 }\n[[flow]]\nname = \"2\"\nvc.mcr = \"1 Mbit/s\"\n\
         [switch]\nscheduler = { discipline = \"wfq\", wfq.share = \"mcr\" }\n",
    );
    let expected = "switch.scheduler.wfq.share: the VC of flow \"1\" has no minimum cell rate while the VC of flow \"2\" has one: give its \
                    contract `mcr = \"1 Mbit/s\"`, say, or share by weight";
    assert!(message.ends_with(expected), "{message}");
}

/// Names of ports tell them apart: the second of two parallel links is called after its ends and a number.
#[test]
fn no_two_links_have_one_name() {
    let network = |node: &str| {
        format!(
            r#"[topology]
kind = "graph"
node = [{{ name = "s", kind = "switch" }}, {{ name = "t", kind = "switch" }}, {{ name = "{node}", kind = "switch" }},
    {{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}]
link = [{{ from = "a", to = "s" }}, {{ from = "s", to = "t" }}, {{ from = "s", to = "t" }}, {{ from = "s", to = "{node}" }},
    {{ from = "t", to = "b" }}]
[[flow]]
name = "f"
from = "a"
to = "b"
"#
        )
    };
    assert!(
        error(&network("t (2)"))
            .contains("two links would be called \"s > t (2)\": give a node another name")
    );
    assert_eq!(graph(&network("t (3)")).links.len(), 10);
}
