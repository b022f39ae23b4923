//! Groups of flows: who sends to whom, over which delays, with which TCP, and until when.

use std::num::NonZeroU32;

use celltrain_engine::quantity::Duration;
use celltrain_network::{
    RunResult,
    scenario::{Flow, Graph, Scenario},
};

use crate::common::{self, values};

const MS: u64 = 1_000_000_000;

fn read(tables: &str) -> Result<Graph, String> {
    let text = format!("schema = 1\nname = \"groups\"\nduration = \"1 s\"\n{tables}");
    let scenario = Scenario::from_toml(&text, "test.toml", &[]).map_err(|error| error.to_string())?;
    scenario.graph().map_err(|error| error.to_string())
}

fn graph(tables: &str) -> Graph {
    read(tables).unwrap_or_else(|error| panic!("{error}\n{tables}"))
}

/// Each flow as `name: from > to`.
fn flows(graph: &Graph) -> Vec<String> {
    let name = |node: usize| &graph.nodes[node].name;
    graph.flows.iter().map(|flow| format!("{}: {} > {}", flow.name, name(flow.from), name(flow.to))).collect()
}

const DUMBBELL: &str = "[topology]\nkind = \"dumbbell\"\n[link]\ndelay = \"5 ms\"\n";

#[test]
fn each_flow_of_a_group_at_a_dumbbell_has_hosts_of_its_own() {
    let graph = graph(&format!(
        "{DUMBBELL}[[group]]\nname = \"cubic\"\nflows = 2\ntcp.stack = \"cubic\"\n\
         [[group]]\nname = \"bbr\"\ntcp.stack = \"linux-bbr\"\nstart = \"3 ms\"\n"
    ));
    let expected = [
        "cubic1: src-cubic1 > dest-cubic1",
        "cubic2: src-cubic2 > dest-cubic2",
        "bbr1: src-bbr1 > dest-bbr1",
    ];
    assert_eq!(flows(&graph), expected);
    assert_eq!((graph.nodes.len(), graph.links.len()), (8, 14));
    assert_eq!(graph.flows.iter().map(|flow| flow.group).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(graph.flows.iter().all(|flow| flow.route.len() == 3 && flow.back.len() == 3));
    assert_ne!(graph.flows[0].tcp, graph.flows[2].tcp);
    assert_eq!(graph.flows[2].start.to, Duration(3 * MS));
}

#[test]
fn a_flow_that_no_group_makes_is_in_none() {
    let tables = format!("{DUMBBELL}[[group]]\nname = \"a\"\n[[group]]\nname = \"b\"\n");
    let flow = |keys: &str| format!("[[flow]]\nname = \"own\"\nfrom = \"src-b1\"\nto = \"dest-a1\"\n{keys}");
    let numbers = |tables: &str| graph(tables).flows.iter().map(|flow| flow.group).collect::<Vec<_>>();
    assert_eq!(numbers(&(tables.clone() + &flow(""))), [1, 2, 0]);
    assert_eq!(numbers(&(tables.clone() + &flow("group = 2\n"))), [1, 2, 2]);
    assert_eq!(numbers(&(tables + "[[flow]]\nname = \"b1\"\nstart = \"1 ms\"\n")), [1, 2]);
    let source = "[topology]\nkind = \"n-source\"\nsources = 1\n[[flow]]\nname = \"own\"\nfrom = \"src1\"\nto = \"dest1\"\n";
    assert_eq!(numbers(source), [1, 1], "there are no groups");
}

/// Each flow with the name of the group that it counts to, and the place, from 1, of the `[[group]]` that makes it.
fn owners(tables: &str) -> Vec<(String, String, Option<u32>)> {
    let graph = graph(tables);
    let place = |flow: &Flow| flow.made_by.map(NonZeroU32::get);
    let owner = |flow: &Flow| (flow.name.clone(), graph.groups.name(flow.group), place(flow));
    graph.flows.iter().map(owner).collect()
}

#[test]
fn flows_have_the_name_of_their_group() {
    let owned = |flow: &str, group: &str, place| (flow.to_owned(), group.to_owned(), place);
    let numbers = format!("{DUMBBELL}[[group]]\nname = \"10\"\nflows = 2\n[[group]]\nname = \"20\"\n");
    let made = [owned("101", "10", Some(1)), owned("102", "10", Some(1)), owned("201", "20", Some(2))];
    assert_eq!(owners(&numbers), made);
    let moved = numbers.clone()
        + "[[flow]]\nname = \"102\"\ngroup = 2\n[[flow]]\nname = \"103\"\nfrom = \"src-101\"\nto = \"dest-201\"\n";
    let moved_ones = [
        owned("101", "10", Some(1)),
        owned("102", "20", Some(1)),
        owned("201", "20", Some(2)),
        owned("103", "no group", None),
    ];
    assert_eq!(owners(&moved), moved_ones, "group 10 makes 102, and no 103");
    let alone = numbers + "[[flow]]\nname = \"201\"\ngroup = 7\n";
    assert_eq!(owners(&alone)[2], owned("201", "group 7", Some(2)));
    let lot = "[topology]\nkind = \"parking-lot\"\nswitches = 3\nsources = 1\n";
    assert_eq!(owners(lot), [owned("1", "group 1", None), owned("2", "group 2", None)]);
    let beside = format!("{lot}[[group]]\nname = \"web\"\nfrom = \"src1\"\nto = \"dest2\"\n");
    assert_eq!(owners(&beside)[2], owned("web1", "web", Some(1)));
}

#[test]
fn a_range_of_delays_is_spread_over_the_links_of_its_place() {
    let delays = |graph: &Graph, hop: usize| -> Vec<u64> {
        graph.flows.iter().map(|flow| graph.links[flow.route[hop]].delay.ps() / (MS / 10)).collect()
    };
    let of_groups = graph(&format!(
        "{DUMBBELL}access.delay = \"1 ms .. 2 ms\"\n[[group]]\nname = \"a\"\nflows = 3\n\
         access.delay = \"1 ms .. 20 ms\"\n[[group]]\nname = \"b\"\nflows = 2\nexit = {{ delay = \"200 km\", rate = \"1 Mbit/s\" }}\n\
         [[group]]\nname = \"c\"\n"
    ));
    assert_eq!(delays(&of_groups, 0), [10, 105, 200, 10, 15, 20], "groups without a range share that of all");
    assert_eq!(delays(&of_groups, 2), [50, 50, 50, 10, 10, 50]);
    assert_eq!(of_groups.links[of_groups.flows[3].route[2]].rate.0, 1_000_000);
    for flow in &of_groups.flows {
        let sum = |links: &[usize]| links.iter().map(|link| of_groups.links[*link].delay.ps()).sum::<u64>();
        assert_eq!(sum(&flow.route), sum(&flow.back), "both directions are as long");
    }
    let of_sources = graph(
        "[topology]\nkind = \"n-source\"\nsources = 5\n[link.access]\ndelay = \"0 ms .. 1 ms\"\n[link.trunk]\ndelay = \"2 ms .. 9 ms\"\n",
    );
    let microseconds: Vec<_> =
        of_sources.flows.iter().map(|flow| of_sources.links[flow.route[0]].delay.ps() / 1_000_000).collect();
    assert_eq!(microseconds, [0, 250, 500, 750, 1000]);
    assert_eq!(delays(&of_sources, 1), [20; 5], "one link of a place has the first delay");
}

const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts = 2\npattern = \"none\"\n[link]\ndelay = \"1 us\"\n";

#[test]
fn groups_join_hosts_by_their_names() {
    let group = |keys: &str| flows(&graph(&format!("{FABRIC}[[group]]\nname = \"g\"\n{keys}")));
    assert_eq!(group("from = \"*\"\nto = \"*\"").len(), 4 * 3);
    assert_eq!(
        group("from = \"host*\"\nto = \"host1\"\nflows = 2"),
        [
            "g1: host2 > host1",
            "g2: host2 > host1",
            "g3: host3 > host1",
            "g4: host3 > host1",
            "g5: host4 > host1",
            "g6: host4 > host1",
        ]
    );
    assert_eq!(
        flows(&graph(
            "[topology]\nkind = \"n-source\"\nsources = 2\n[[group]]\nname = \"back\"\nfrom = \"dest*\"\nto = \"src*\"\npairs = \"one-to-one\"\n"
        )),
        ["1: src1 > dest1", "2: src2 > dest2", "back1: dest1 > src1", "back2: dest2 > src2"]
    );
    let shuffled = "from = \"*\"\nto = \"*\"\npairs = \"permutation\"";
    let graph =
        graph(&format!("{FABRIC}[[group]]\nname = \"p\"\n{shuffled}\n[[group]]\nname = \"q\"\n{shuffled}"));
    for group in [1, 2] {
        let ends: Vec<_> =
            graph.flows.iter().filter(|flow| flow.group == group).map(|flow| (flow.from, flow.to)).collect();
        let mut receivers: Vec<_> = ends.iter().map(|(_, to)| *to).collect();
        receivers.sort_unstable();
        assert_eq!(receivers, [0, 1, 2, 3], "each receives from one");
        assert!(ends.iter().all(|(from, to)| from != to));
    }
}

#[test]
fn an_entry_changes_one_flow_of_a_group() {
    let graph = graph(&format!(
        "{DUMBBELL}[tcp]\nmss = \"1000 B\"\n[[group]]\nname = \"a\"\nflows = 2\nstart = \"1 ms\"\nstop = \"9 ms\"\n\
         tcp.stack = \"cubic\"\n[[flow]]\nname = \"a2\"\nstop = \"5 ms\"\n"
    ));
    let [one, other] = &graph.flows[..] else { panic!("two flows") };
    assert_eq!((one.stop, other.stop), (Some(Duration(9 * MS)), Some(Duration(5 * MS))));
    assert_eq!((one.start, &one.tcp), (other.start, &other.tcp), "the rest is the group's");
    assert_eq!(one.tcp.mss, 1000, "keys that a group does not give are those of [tcp]");
}

#[test]
fn a_resolved_scenario_has_the_same_groups() {
    let text = format!(
        "schema = 1\nname = \"groups\"\nduration = \"1 s\"\n{DUMBBELL}[tcp]\nmss = \"1000 B\"\n[[group]]\nname = \"a\"\nflows = 3\n\
         access.delay = \"1 ms .. 20 ms\"\ntcp.stack = \"cubic\"\nstop = \"9 ms\"\n"
    );
    let scenario = Scenario::from_toml(&text, "test.toml", &[]).unwrap();
    for text in [scenario.to_toml(), scenario.resolved_toml()] {
        let again = Scenario::from_toml(&text, "resolved.toml", &[]).unwrap();
        assert_eq!(again.graph().unwrap(), scenario.graph().unwrap(), "{text}");
    }
}

#[test]
fn groups_that_cannot_be_are_errors() {
    let at_dumbbell = |keys: &str| format!("{DUMBBELL}[[group]]\nname = \"g\"\n{keys}");
    let in_fabric = |keys: &str| format!("{FABRIC}[[group]]\nname = \"g\"\n{keys}");
    for (tables, expected) in [
        (DUMBBELL.to_owned(), "topology.kind: a dumbbell has the hosts of its groups"),
        (at_dumbbell("flows = 0"), "group.0.flows: expected 1 to 1000000, found 0"),
        (at_dumbbell("flows = 600_000"), "expected at most 1000000 nodes, found 1200002"),
        (
            at_dumbbell("[[group]]\nname = \"h\"\nfrom = \"src-g2\""),
            "group.1.from: no host is named \"src-g2\"; did you mean \"src-g1\"?",
        ),
        (at_dumbbell("stop = \"0 s\""), "group.0.stop: expected 1 ps to"),
        (
            at_dumbbell("start = \"1 ms .. 2 ms\"\nstop = \"2 ms\""),
            "group.0.stop: expected a time after the start (1 ms .. 2 ms), found 2 ms",
        ),
        (at_dumbbell("access.delay = \"2 ms .. 1 ms\""), "ends before it begins"),
        (at_dumbbell("access.delay = \"1 ms .. 2\""), "expected a delay"),
        (at_dumbbell("access.delay = \"1 ms .. 2 h\""), "expected a delay"),
        (
            at_dumbbell("access.delay = \"1 ms .. 7200 s\""),
            "group.0.access.delay: expected 0 s to 3600 s, found 7200 s",
        ),
        (at_dumbbell("[[group]]\nname = \"\""), "group.1.name: expected a name"),
        (at_dumbbell("flow = 3"), "unknown key \"flow\""),
        (
            at_dumbbell("flows = 11\n[[group]]\nname = \"g1\""),
            "group.1.name: another flow has the name \"g11\" too",
        ),
        (
            at_dumbbell("senders = 3"),
            "group.0.senders: each flow of this group has a host of its own: `flows` is",
        ),
        (
            in_fabric("from = \"*\"\nto = \"host1\"\nsenders = 0"),
            "group.0.senders: expected 1 to 1000000, found 0",
        ),
        (
            in_fabric("from = \"*\"\nto = \"host1\"\nsenders = 4"),
            "group.0.senders: expected at most the 3 hosts that `from` names and that have another to send to, found 4",
        ),
        (
            in_fabric("from = \"host2\"\nto = \"host1\"\nsenders = 2"),
            "group.0.senders: expected at most 1, as one host that `from` names has another to send to, found 2",
        ),
        (in_fabric("flows = 2"), "group.0.from: this key is required"),
        (in_fabric("from = \"host1\""), "group.0.to: this key is required"),
        (in_fabric("from = \"host1\"\nto = \"hots2\""), "group.0.to: no host is named \"hots2\""),
        (in_fabric("from = \"host1\"\nto = \"leaf1\""), "group.0.to: no host is named \"leaf1\""),
        (in_fabric("from = \"host1\"\nto = \"host1\""), "group.0.pairs: there is no pair of different hosts"),
        (
            in_fabric("from = \"*\"\nto = \"*\"\npairs = \"one-to-one\""),
            "group.0.pairs: \"host1\" would send to itself",
        ),
        (
            in_fabric("from = \"*\"\nto = \"host1\"\npairs = \"permutation\""),
            "expected equally many hosts, found 4 and 1",
        ),
        (
            in_fabric("from = \"host1\"\nto = \"host2\"\naccess.rate = \"1 Mbit/s\""),
            "group.0.access: the group has no hosts of its own",
        ),
        (FABRIC.to_owned(), "flow: the network has no flow: add a [[flow]] or a [[group]]"),
    ] {
        let error = read(&tables).expect_err(&tables);
        assert!(error.contains(expected), "{error}\n{expected}\n{tables}");
    }
}

/// The first hosts send, in the order of the network; one that is the only receiver is none of them. So more senders are those that were there
/// and others.
#[test]
fn a_group_has_so_many_senders() {
    let of = |keys: &str| flows(&graph(&format!("{FABRIC}[[group]]\nname = \"g\"\n{keys}")));
    let fan_in = |senders: u32| of(&format!("from = \"host*\"\nto = \"host1\"\nsenders = {senders}"));
    assert_eq!(fan_in(1), ["g1: host2 > host1"]);
    assert_eq!(fan_in(3), ["g1: host2 > host1", "g2: host3 > host1", "g3: host4 > host1"]);
    assert_eq!(of("from = \"host*\"\nto = \"host1\""), fan_in(3));
    let two = of("from = \"*\"\nto = \"*\"\nsenders = 2\nflows = 2");
    assert_eq!((two.len(), &two[0][..], &two[11][..]), (12, "g1: host1 > host2", "g12: host2 > host4"));
    assert_eq!(
        of("from = \"*\"\nto = \"host2\"\nsenders = 1\npairs = \"one-to-one\""),
        ["g1: host1 > host2"]
    );
}

fn run(tables: &str) -> RunResult {
    let text = format!("schema = 1\nname = \"groups\"\n{tables}");
    common::run(&Scenario::from_toml(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}")))
}

/// A link of 42.4 Mbit/s carries 100 cells a millisecond. Frames that begin before the stop are whole.
#[test]
fn sources_of_cells_begin_no_frame_after_their_stop() {
    let cells = |traffic: &str, stop: &str| {
        let result = run(&format!(
            "duration = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\nrate = \"42.4 Mbit/s\"\ndelay = \"1 us\"\n\
             [traffic]\n{traffic}\n[[flow]]\nname = \"1\"\n{stop}"
        ));
        values(&result.flows, "frames_delivered")[0]
    };
    // A cell every 0.1 ms: at 0, 0.1, … 9.9 ms.
    let cbr = "kind = \"cbr\"\nrate = \"4.24 Mbit/s\"";
    assert_eq!(cells(cbr, "stop = \"10 ms\""), 100.0);
    assert_eq!(cells(&format!("{cbr}\nframe = 7"), "stop = \"10 ms\""), 15.0, "the last frame is finished");
    assert_eq!(cells(&format!("{cbr}\nstart = \"5 ms\""), "stop = \"10 ms\""), 50.0);
    for random in [
        "kind = \"poisson\"\nrate = \"4.24 Mbit/s\"",
        "kind = \"on-off\"\npeak = \"8.48 Mbit/s\"\non = \"1 ms\"\noff = \"1 ms\"",
    ] {
        let (stopped, all) = (cells(random, "stop = \"50 ms\""), cells(random, ""));
        assert!((0.35..0.65).contains(&(stopped / all)), "{random}: {stopped} of {all}");
    }
}

/// RFC 9293 section 3.10.4 has what was given to TCP before CLOSE delivered.
#[test]
fn what_tcp_was_given_before_the_stop_is_delivered() {
    let result = |traffic: &str, flow: &str| {
        run(&format!(
            "duration = \"2 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\nrate = \"10 Mbit/s\"\n\
             delay = \"1 ms\"\n[switch]\nbuffer = \"20 packets\"\n[tcp]\nstack = \"linux\"\n{traffic}[[flow]]\nname = \"1\"\n{flow}"
        ))
    };
    let greedy = result("", "stop = \"1 s\"\n");
    let [stopped, other] = values(&greedy.flows, "bytes_delivered")[..] else { panic!("two flows") };
    assert!(0.1 * other < stopped && stopped < 0.6 * other, "{stopped} {other}");
    let shares = values(&greedy.flows, "limited_by_application");
    assert!(shares[0] > 0.45 && shares[1] < 0.05, "{shares:?}");
    let bursty = "[traffic]\nkind = \"bursty\"\nbytes = \"10 kB\"\nevery = \"100 ms\"\n";
    let bursts = values(&result(bursty, "stop = \"500 ms\"\n").flows, "bytes_delivered");
    assert_eq!(bursts[0], 50e3, "bursts at 0, 100, … 400 ms, the last one whole");
    let finite = "[traffic]\nkind = \"finite\"\nbytes = \"500 kB\"\n";
    assert_eq!(values(&result(finite, "stop = \"1 ms\"\n").flows, "bytes_delivered")[0], 500e3);
    let short = "[traffic]\nkind = \"short-flows\"\nevery = \"10 ms\"\narrivals = \"regular\"\nsize = { kind = \"fixed\", bytes = \"2 kB\" }\n";
    assert_eq!(values(&result(short, "stop = \"95 ms\"\n").flows, "bytes_delivered")[0], 20e3);
}

#[test]
fn a_connection_that_stops_before_it_is_open_sends_nothing() {
    let result = run(
        "duration = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\ndelay = \"5 ms\"\n[tcp]\nstack = \"linux\"\n\
         syn-exchange = true\n[[flow]]\nname = \"1\"\nstop = \"1 ms\"\n",
    );
    assert_eq!(values(&result.flows, "bytes_delivered"), [0.0]);
}

/// What a flow of a group says of itself is laid over what the group says, and that over what the scenario says.
#[test]
fn a_flow_of_a_group_says_only_what_differs() {
    let groups = "[tcp]\nack-every = 1\n[vc]\nweight = 2\n\
         [[group]]\nname = \"cubic\"\nflows = 12\ntcp = { stack = \"cubic\", mss = \"1000 B\" }\nvc = { mbs = 9 }\n\
         [[flow]]\nname = \"cubic12\"\ntcp.mss = \"500 B\"\nvc.mfs = 7\n";
    let found = graph(&format!("{DUMBBELL}{groups}"));
    let [group, own] = [&found.flows[0], &found.flows[11]];
    let seen = |flow: &celltrain_network::scenario::Flow| {
        let tcp = &flow.tcp;
        (
            tcp.congestion_control,
            tcp.mss,
            tcp.ack_every,
            flow.contract.weight,
            flow.contract.mbs,
            flow.contract.mfs,
        )
    };
    let cubic = celltrain_tcp::CongestionKind::Cubic;
    assert_eq!(seen(group), (cubic, 1000, 1, 2, 9, 32));
    assert_eq!(seen(own), (cubic, 500, 1, 2, 9, 7));
    // With other ends it is the same flow; a thirteenth is a new one, which belongs to no group.
    let ends = "from = \"src-cubic1\"\nto = \"dest-cubic2\"\n";
    assert_eq!(seen(&graph(&format!("{DUMBBELL}{groups}{ends}")).flows[11]), seen(own));
    let new = groups.replace("\"cubic12\"", "\"cubic13\"");
    let new = graph(&format!("{DUMBBELL}{new}{ends}"));
    assert_eq!((new.flows.len(), seen(&new.flows[12]).0), (13, celltrain_tcp::CongestionKind::Reno));
    // Flow `a11` is the first of group `a1`, not the eleventh of group `a`, which has two.
    let hosts = "from = \"src*\"\nto = \"dest*\"\npairs = \"one-to-one\"\n";
    let two = format!(
        "[topology]\nkind = \"n-source\"\nsources = 2\n\
         [[group]]\nname = \"a\"\n{hosts}tcp.stack = \"reno\"\n[[group]]\nname = \"a1\"\n{hosts}tcp.stack = \"cubic\"\n\
         [[flow]]\nname = \"a11\"\ntcp.mss = \"500 B\"\n"
    );
    let found = graph(&two);
    let a11 = found.flows.iter().find(|flow| flow.name == "a11").expect("it is there");
    assert_eq!((a11.tcp.congestion_control, a11.tcp.mss), (cubic, 500));
    // What is resolved says all, and reads as the same.
    let text = format!("schema = 1\nname = \"groups\"\nduration = \"1 s\"\n{DUMBBELL}{groups}");
    let scenario = Scenario::from_toml(&text, "test.toml", &[]).unwrap();
    let again = Scenario::from_toml(&scenario.resolved_toml(), "again.toml", &[]).unwrap();
    assert_eq!(seen(&again.graph().unwrap().flows[11]), seen(own));
}
