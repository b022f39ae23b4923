//! Ways of equal length: how flows and packets are spread over them.

use std::collections::BTreeSet;

use celltrain_network::{
    Experiment, Options, RunResult,
    live::{Live, Row},
    scenario::{Graph, Scenario},
};

use crate::common::{error, load, metric, names, read, replicate, run_plain, value};

/// Two hosts with three switches of different rates between theirs, and `flows`.
fn diamond(routing: &str, flows: &str) -> Result<Scenario, String> {
    let links: String = [("a", 1), ("b", 2), ("c", 5)]
        .iter()
        .flat_map(|(spine, rate)| [format!("near-{spine}-{rate}"), format!("{spine}-far-{rate}")])
        .chain(["source-near-40".to_owned(), "far-sink-40".to_owned()])
        .map(|link| {
            let parts: Vec<_> = link.split('-').collect();
            format!("{{ from = \"{}\", to = \"{}\", rate = \"{} Gbit/s\" }},", parts[0], parts[1], parts[2])
        })
        .collect();
    let nodes: String = ["near", "far", "a", "b", "c"]
        .map(|name| format!("{{ name = \"{name}\", kind = \"switch\" }},"))
        .into_iter()
        .chain(["source", "sink"].map(|name| format!("{{ name = \"{name}\", kind = \"host\" }},")))
        .collect();
    let text = format!(
        "schema = 1\nname = \"diamond\"\nduration = \"10 ms\"\nrouting = {{ {routing} }}\n\
         topology = {{ kind = \"graph\", node = [{nodes}], link = [{links}] }}\n\
         link = {{ framing = \"packets\", delay = \"1 us\" }}\nswitch.buffer = \"1000 packets\"\n{flows}"
    );
    read(&text, &[])
}

/// As many flows from the source to the sink.
fn many(count: usize) -> String {
    let flow = |number| format!("[[flow]]\nname = \"f{number}\"\nfrom = \"source\"\nto = \"sink\"\n");
    (0..count).map(flow).collect()
}

/// One flow of packets at `rate` Gbit/s, evenly spaced.
fn constant(rate: f64) -> String {
    format!(
        "[[flow]]\nname = \"f\"\nfrom = \"source\"\nto = \"sink\"\n\
         traffic = {{ kind = \"cbr\", rate = \"{rate} Gbit/s\", packet = \"100 B\" }}\n"
    )
}

fn run(scenario: &Scenario) -> RunResult {
    replicate(scenario, 0, Options::default())
}

/// Checks that of `all` independent draws `count` gave what has probability `share`: within four standard deviations of a binomial
/// distribution.
fn assert_share(count: f64, all: f64, share: f64) {
    let deviation = (all * share * (1.0 - share)).sqrt();
    assert!((count - all * share).abs() < 4.0 * deviation, "{count} of {all}, expected {share}");
}

/// The part of the flows that crosses each of the three switches.
fn crossings(graph: &Graph) -> [usize; 3] {
    ["a", "b", "c"].map(|spine| {
        let passes =
            |route: &[usize]| route.iter().any(|&link| graph.nodes[graph.links[link].to].name == spine);
        graph.flows.iter().filter(|flow| passes(&flow.route)).count()
    })
}

#[test]
fn flows_are_spread_evenly_or_by_the_rates_of_links() {
    let shares = |weights: &str| {
        let scenario =
            diamond(&format!("multipath = \"flow\", weights = \"{weights}\""), &many(4000)).unwrap();
        crossings(&scenario.graph().unwrap())
    };
    for (weights, expected) in [("equal", [1.0 / 3.0; 3]), ("rate", [0.125, 0.25, 0.625])] {
        for (count, share) in shares(weights).into_iter().zip(expected) {
            assert_share(count as f64, 4000.0, share);
        }
    }
    // The links come in this order, and a network that is written out spreads nothing unless told.
    let first = diamond("", &many(50)).unwrap().graph().unwrap();
    let none = diamond("multipath = \"none\"", &many(50)).unwrap().graph().unwrap();
    assert_eq!((crossings(&first), crossings(&none)), ([50, 0, 0], [50, 0, 0]));
}

#[test]
fn packets_are_spread_evenly_or_by_the_rates_of_links() {
    for (weights, expected) in [("equal", [1.0 / 3.0; 3]), ("rate", [0.125, 0.25, 0.625])] {
        let routing = format!("multipath = \"packet\", weights = \"{weights}\"");
        let scenario = diamond(&routing, &constant(2.0)).unwrap();
        let ways = &scenario.graph().unwrap().flows[0].sprayed_ways()[0].to_vec();
        assert!(
            ways.iter().map(|way| way.share).zip(expected).all(|(one, other)| (one - other).abs() < 1e-12)
        );
        let result = run(&scenario);
        let sent = value(&result.ports, "source > near", "cells_forwarded");
        // 2 Gbit/s for 10 ms in packets of 100 octets.
        assert!((sent - 25_000.0).abs() <= 1.0, "{sent}");
        for (spine, share) in ["a", "b", "c"].into_iter().zip(expected) {
            assert_share(value(&result.ports, &format!("near > {spine}"), "cells_forwarded"), sent, share);
        }
        let lost = value(&result.flows, "f", "cells_discarded");
        let arrived = value(&result.flows, "f", "frames_delivered");
        assert_eq!(lost, 0.0);
        // The last ones are under way: some microseconds at 2.5 packets each.
        assert!(arrived > sent - 30.0, "{arrived} of {sent}");
    }
}

/// A fat tree of 16 hosts, each of which sends to the one half-way around. A larger window would wait in the interfaces of the hosts, which have
/// no limit, and the ACKs of others behind it.
fn permutation(routing: &str, traffic: &str) -> Scenario {
    let text = format!(
        "schema = 1\nname = \"fabric\"\nduration = \"30 ms\"\nwarm-up = \"10 ms\"\nrouting.multipath = \"{routing}\"\n\
         topology = {{ kind = \"fat-tree\", k = 4 }}\nlink = {{ framing = \"packets\", rate = \"1 Gbit/s\", delay = \"2 us\" }}\n\
         switch.buffer = \"100 packets\"\ntcp = {{ stack = \"linux\", rto-min = \"5 ms\", rto-variance-min = \"1 ms\", receive-window = \"64 KiB\" }}\n\
         traffic = {{ {traffic} }}\n"
    );
    load(&text, &[])
}

/// The loads of the ports from aggregation switches to core switches.
fn core_loads(result: &RunResult) -> Vec<f64> {
    let upward = |name: &&str| name.starts_with("aggregation") && name.contains("> core");
    names(&result.ports)
        .into_iter()
        .filter(upward)
        .map(|name| value(&result.ports, name, "utilisation"))
        .collect()
}

#[test]
fn a_permutation_that_is_sprayed_fills_all_ways_of_a_fat_tree_alike() {
    let traffic = "kind = \"poisson\", rate = \"800 Mbit/s\", packet = \"1500 B\"";
    let loads = |routing| core_loads(&run(&permutation(routing, traffic)));
    // A fat tree is rearrangeably non-blocking (Al-Fares and others 2008, section 2): spread evenly, a permutation loads each of the 16 links
    // to the core as its hosts' own.
    let (sprayed, hashed) = (loads("packet"), loads("flow"));
    assert_eq!(sprayed.len(), 16);
    // About 1300 packets on each in 20 ms: three per cent is one standard deviation.
    assert!(sprayed.iter().all(|load| (load - 0.8).abs() < 0.1), "{sprayed:?}");
    // Ports that nothing crosses have no row.
    assert!(hashed.len() < 16 && hashed.iter().any(|load| *load > 0.95), "{hashed:?}");
}

#[test]
fn tcp_is_faster_over_all_ways_than_over_one_each() {
    let goodput = |routing| {
        let result = run(&permutation(routing, "kind = \"greedy\", start = \"0 ms .. 1 ms\""));
        metric(&result, "goodput") / 16.0
    };
    let (sprayed, hashed) = (goodput("packet"), goodput("flow"));
    assert!(sprayed > 1.1 * hashed, "{sprayed} over all ways, {hashed} over one");
}

#[test]
fn transfers_over_several_ways_arrive_whole_whatever_overtakes_and_is_lost() {
    let flows = "[[flow]]\nname = \"f\"\nfrom = \"source\"\nto = \"sink\"\n\
                 traffic = { kind = \"finite\", bytes = \"3 MB\" }\n";
    let text =
        diamond("multipath = \"packet\"", &format!("{flows}[tcp]\nstack = \"linux\"\n")).unwrap().to_toml();
    for (loss, least_again) in [("0.0", 0.0), ("0.01", 10.0)] {
        let result = run_plain(&text, &[("link.loss", loss), ("duration", "2 s")]);
        assert_eq!(value(&result.flows, "f", "bytes_delivered"), 3e6);
        assert!(value(&result.flows, "f", "segments_retransmitted") >= least_again);
        // Both ways are sprayed: all switches carry data and ACKs.
        for port in ["near > a", "near > c", "far > b", "b > near", "c > far"] {
            assert!(value(&result.ports, port, "cells_forwarded") > 100.0, "{port}");
        }
    }
}

#[test]
fn any_schedule_of_visits_gives_the_same_run() {
    let traffic = "kind = \"greedy\", start = \"0 ms .. 1 ms\"";
    let scenario = permutation("packet", traffic);
    let experiment = Experiment::new(&scenario).unwrap();
    let network = || experiment.network(1, 0, Options::default());
    let (mut whole, mut cut) = (network(), network());
    let end = 5_000_000_000;
    assert!(whole.advance(end, &mut || false));
    for step in 1..=500 {
        assert!(cut.advance(end / 500 * step, &mut || false));
    }
    assert_eq!(whole.audit(), cut.audit());
}

#[test]
fn a_viewer_sees_each_packet_on_a_way_of_its_flow_and_follows_none_through_a_port() {
    let scenario = permutation("packet", "kind = \"greedy\", start = \"0 ms .. 1 ms\"");
    let mut live = Live::new(scenario, 1, 0).unwrap();
    assert!(live.advance(4_000_000_000, &mut || false));
    let rows = live.rows();
    let passes = |row: &Row| {
        let ways = live.graph().flows[row.vc.flow].sprayed_ways()[usize::from(row.vc.back)];
        ways.iter().any(|way| way.route.contains(&row.link))
    };
    assert!(rows.len() > 100 && rows.iter().all(passes), "{} rows", rows.len());
    // On the links between switches the port that comes next is one of the way; on the first link no way has been drawn yet.
    for row in &rows {
        let ways = live.graph().flows[row.vc.flow].sprayed_ways()[usize::from(row.vc.back)];
        let places: Vec<_> = ways
            .iter()
            .flat_map(|way| way.route.iter().position(|&link| link == row.link).map(|at| (way, at)))
            .collect();
        let (first, last) = (places[0].1 == 0, places[0].1 + 1 == places[0].0.route.len());
        let possible = |next| places.iter().any(|(way, at)| way.route.get(at + 1) == Some(&next));
        assert_eq!(row.next.map(possible), (!first && !last).then_some(true), "{row:?}");
    }
    assert!(rows.iter().filter(|row| row.next.is_some()).count() > 50);
    let port = live.graph().flows[0].route[1];
    let refusal =
        live.passages(port, 4_000_000_000, 4_001_000_000, &mut || false).expect_err("sprayed").unwrap();
    assert!(refusal.contains("are sprayed"), "{refusal}");
}

#[test]
fn the_ways_of_all_hosts_are_as_many_as_the_fabric_has() {
    let graph = permutation("packet", "kind = \"greedy\"").graph().unwrap();
    for flow in &graph.flows {
        // Through each of the (k/2)^2 core switches, as the other host is in another pod.
        let [there, back] = flow.sprayed_ways();
        assert_eq!((there.len(), back.len()), (4, 4));
        let distinct: BTreeSet<_> = there.iter().map(|way| &way.route).collect();
        assert_eq!(distinct.len(), 4);
        assert!(there.iter().all(|way| way.route.len() == 6 && (way.share - 0.25).abs() < 1e-12));
    }
}

#[test]
fn what_cannot_be_sprayed_is_refused() {
    let head = "schema = 1\nname = \"no\"\nduration = \"1 ms\"\nrouting.multipath = \"packet\"\n";
    let cells = error(&format!("{head}topology = {{ kind = \"fat-tree\", k = 4 }}\n"), &[]);
    assert!(cells.contains("test.toml:4: routing.multipath: the cells of a VC stay in order"), "{cells}");
    let torus = "topology = { kind = \"torus\", rows = 16, columns = 16, hosts = 1, pattern = \"all-to-all\" }\nlink.framing = \"packets\"\n\
                 switch.buffer = \"9 packets\"\n";
    let ways = error(&format!("{head}{torus}"), &[]);
    assert!(ways.contains("more than 256 shortest ways"), "{ways}");
    let unknown = diamond("multipath = \"cell\"", &many(1)).expect_err("no such multipath");
    assert!(unknown.contains("unknown name \"cell\""), "{unknown}");
}

#[test]
fn a_note_says_where_a_sprayed_flow_has_several_parts_of_a_port() {
    let notes = |switch: &str, routing| {
        let scenario = diamond(&format!("multipath = \"{routing}\""), &format!("{switch}\n{}", many(1)));
        scenario.unwrap().notes().unwrap()
    };
    let flow_queue =
        "[switch.discard]\npolicy = \"fq-codel\"\n[switch.scheduler]\ndiscipline = \"flow-queue\"";
    let said = notes(flow_queue, "packet");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("switch.discard.policy: \"fq-codel\" looks at single VCs"), "{said:?}");
    assert!(said[1].starts_with("switch.scheduler.discipline: \"flow-queue\""), "{said:?}");
    assert_eq!(notes(flow_queue, "flow"), [""; 0]);
    assert_eq!(notes("", "packet"), [""; 0]);
}
