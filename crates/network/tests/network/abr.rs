//! ABR through the network: what allocators achieve, from sources that always have something to send.

use celltrain_atm::abr::AllocatorName;
use celltrain_network::RunResult;

use crate::common::{names, occupancies, run, value};

/// Cells a second of an OC-3.
const OC3: f64 = 155.52e6 / 424.0;

/// Sources that offer the link rate for ever, whatever their ABR source lets through.
const PERSISTENT: &str = "[traffic]\nkind = \"cbr\"\nrate = \"155.52 Mbit/s\"\n";

/// Rates of ABR connections without TCP, which follow the explicit rate at once.
fn abr(allocator: &str, more: &str) -> String {
    format!(
        "[switch]\nbuffer = \"unlimited\"\nallocator.algorithm = \"{allocator}\"\n[vc]\ncategory = \"abr\"\n\
         [abr]\nrif = 1\nicr = \"10 Mbit/s\"\nsource-buffer = \"100 cells\"\n{more}{PERSISTENT}"
    )
}

/// Two switches and a trunk under `allocator`.
fn pairs(sources: u32, allocator: &str, more: &str) -> RunResult {
    let head = format!(
        "duration = \"200 ms\"\nwarm-up = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n\
         [link]\ndelay = \"100 us\"\n"
    );
    run(&(head + &abr(allocator, more)))
}

/// Cells a second of a flow, RM cells included.
fn rate(result: &RunResult, flow: &str, seconds: f64) -> f64 {
    value(&result.flows, flow, "cells_sent") / seconds
}

fn discarded(result: &RunResult) -> f64 {
    names(&result.ports).iter().map(|port| value(&result.ports, port, "cells_discarded")).sum()
}

#[test]
fn one_source_settles_at_the_target_utilisation() {
    let result = pairs(1, "erica", "");
    let share = rate(&result, "1", 0.1) / OC3;
    assert!((share - 0.9).abs() < 0.005, "{share}");
    assert!((value(&result.ports, "switch1 > switch2", "utilisation") - 0.9).abs() < 0.005);
    assert_eq!(discarded(&result), 0.0);
}

#[test]
fn one_cell_in_32_is_an_rm_cell() {
    let result = pairs(2, "erica", "");
    for flow in names(&result.flows) {
        let data = value(&result.flows, flow, "cells_useful") / value(&result.flows, flow, "cells_sent");
        assert!((data - 31.0 / 32.0).abs() < 0.001, "{data}");
    }
}

#[test]
fn erica_plus_fills_the_link_and_holds_its_queue() {
    let result = pairs(5, "erica-plus", "");
    assert!(value(&result.ports, "switch1 > switch2", "utilisation") > 0.995);
    // The queue that T0 aims at: half a millisecond of cells.
    let queue = value(&result.ports, "switch1 > switch2", "occupancy_mean") / (OC3 * 500e-6);
    assert!((0.5..1.5).contains(&queue), "{queue} of the target");
    assert_eq!(discarded(&result), 0.0);
}

#[test]
fn every_allocator_uses_the_link_and_loses_nothing() {
    for name in AllocatorName::ALL {
        let result = pairs(4, name.name(), "rdf = 0.1\n");
        let used = value(&result.ports, "switch1 > switch2", "utilisation");
        assert!(used > 0.75, "{}: {used}", name.name());
        assert_eq!(discarded(&result), 0.0, "{}", name.name());
    }
}

#[test]
fn what_finds_no_room_at_the_source_is_dropped_there() {
    let result = pairs(2, "erica", "");
    for flow in names(&result.flows) {
        assert_eq!(value(&result.flows, flow, "source_queue_max"), 100.0);
        // Offered is the link's rate, of which the source lets its data through.
        let (dropped, data) = ("cells_dropped_at_source", 31.0 / 32.0 * rate(&result, flow, 0.1));
        assert!((value(&result.flows, flow, dropped) / 0.1 - (OC3 - data)).abs() < 200.0);
    }
}

/// A row of switches joined by trunks of so many Mbit/s, and flows from one switch to another, each with a first rate of its own.
fn row(trunks: &[f64], flows: &[(usize, usize)], first_rates: &[f64], more: &str) -> RunResult {
    let mut text = "duration = \"300 ms\"\nwarm-up = \"200 ms\"\n[topology]\nkind = \"graph\"\n".to_owned();
    let node = |name: &str, kind| format!("[[topology.node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
    let link = |from: &str, to: &str| format!("[[topology.link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    for switch in 0..=trunks.len() {
        text += &node(&format!("s{switch}"), "switch");
    }
    for (trunk, rate) in trunks.iter().enumerate() {
        text += &link(&format!("s{trunk}"), &format!("s{}", trunk + 1));
        text += &format!("rate = \"{rate} Mbit/s\"\n");
    }
    for (number, &(from, to)) in flows.iter().enumerate() {
        text += &node(&format!("from{number}"), "host");
        text += &node(&format!("to{number}"), "host");
        text += &link(&format!("from{number}"), &format!("s{from}"));
        text += &link(&format!("s{to}"), &format!("to{number}"));
        text += &format!(
            "[[flow]]\nname = \"{number}\"\nfrom = \"from{number}\"\nto = \"to{number}\"\nabr.icr = \"{} Mbit/s\"\n",
            first_rates[number % first_rates.len()]
        );
    }
    // Each VC has an answer in every interval: the best of them is what makes rates equal.
    let interval = "allocator.erica.interval = { cells = 500, time = \"5 ms\" }\nallocator.algorithm";
    let abr = abr("erica", more).replace("allocator.algorithm", interval);
    run(&(text + "[link]\ndelay = \"20 us\"\n" + &abr))
}

/// Max-min fair rates of flows over trunks: raise all rates alike; those whose trunk is full stay.
fn max_min(trunks: &[f64], flows: &[(usize, usize)]) -> Vec<f64> {
    let mut rates = vec![None; flows.len()];
    while rates.contains(&None) {
        let share = |trunk: usize| {
            let crosses = |&(flow, &(from, to)): &(usize, &(usize, usize))| {
                (from..to).contains(&trunk) && flow < flows.len()
            };
            let here: Vec<_> =
                flows.iter().enumerate().filter(crosses).map(|(flow, _)| rates[flow]).collect();
            let open = here.iter().filter(|rate| rate.is_none()).count() as f64;
            (trunks[trunk] - here.iter().flatten().sum::<f64>()) / open
        };
        let shares: Vec<f64> = (0..trunks.len()).map(share).collect();
        let is_open = |trunk: &usize| shares[*trunk].is_finite();
        let tightest =
            (0..trunks.len()).filter(is_open).min_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
        for (flow, &(from, to)) in flows.iter().enumerate() {
            if (from..to).contains(&tightest) && rates[flow].is_none() {
                rates[flow] = Some(shares[tightest]);
            }
        }
    }
    rates.into_iter().flatten().collect()
}

#[test]
fn max_min_rates_of_a_small_case() {
    // Two cross 10: 5 each; the other trunk's second flow gets what the first leaves of 30.
    assert_eq!(max_min(&[10.0, 30.0], &[(0, 1), (0, 2), (1, 2)]), [5.0, 5.0, 25.0]);
}

/// The rates of trunks, and the flows across them.
type Network = (&'static [f64], &'static [(usize, usize)]);

#[test]
fn rates_become_max_min_fair_from_any_first_rates() {
    // A parking lot, and trunks of unequal rates where the flows of one are held back by another.
    let cases: [Network; 3] = [
        (&[150.0, 150.0, 150.0], &[(0, 3), (0, 3), (1, 3), (1, 3), (2, 3), (2, 3)]),
        (&[50.0, 150.0, 100.0], &[(0, 3), (0, 1), (1, 2), (2, 3), (2, 3)]),
        (&[50.0, 100.0, 50.0, 150.0], &[(0, 4), (0, 1), (0, 2), (1, 3), (1, 2), (2, 3), (3, 4), (3, 4)]),
    ];
    let starts: [(&[f64], &str); 3] =
        [(&[1.0], ""), (&[100.0, 1.0, 30.0], ""), (&[140.0, 5.0], "mcr = \"2 Mbit/s\"\n")];
    for (trunks, flows) in cases {
        let target: Vec<f64> = trunks.iter().map(|rate| rate * 0.9).collect();
        let fair = max_min(&target, flows);
        for (first_rates, more) in starts {
            let result = row(trunks, flows, first_rates, more);
            let found: Vec<_> =
                (0..flows.len()).map(|flow| rate(&result, &flow.to_string(), 0.1) * 424e-6).collect();
            // The best rate is kept while the load is at most 1 + delta times the target (delta = 0.1), and what some have above
            // their rates others lack.
            let near = |(found, fair): (&f64, &f64)| (0.9..1.11).contains(&(found / fair));
            assert!(
                found.iter().zip(&fair).all(near),
                "{trunks:?}, from {first_rates:?}: {found:?}, not {fair:?} Mbit/s"
            );
            for one in 0..flows.len() {
                for other in (0..one).filter(|&other| fair[other] == fair[one]) {
                    assert!((found[one] / found[other] - 1.0).abs() < 0.02, "{one} and {other}: {found:?}");
                }
            }
            assert_eq!(discarded(&result), 0.0);
        }
    }
}

#[test]
fn vbr_goes_first_and_abr_gets_the_rest() {
    let vbr = "[[flow]]\nname = \"3\"\nvc.category = \"vbr\"\n\
               traffic = { kind = \"on-off\", peak = \"77.76 Mbit/s\", on = \"10 ms\", off = \"10 ms\" }\n";
    let result = pairs(3, "erica", vbr);
    // Half of the link for half of the time; the target is 90 % of the whole link.
    assert!((rate(&result, "3", 0.1) / OC3 - 0.25).abs() < 0.001);
    let rest = (rate(&result, "1", 0.1) + rate(&result, "2", 0.1)) / OC3;
    assert!((rest - 0.65).abs() < 0.02, "{rest}");
    // A VBR cell waits for one ABR cell at most.
    let queue = occupancies(&result, "switch2 > dest3");
    assert!(queue.iter().all(|&cells| cells <= 1.0));
    assert_eq!(discarded(&result), 0.0);
}

#[test]
fn tcp_over_abr_queues_at_the_source() {
    let text = format!(
        "duration = \"400 ms\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[link]\ndelay = \"100 km\"\n{}",
        abr("erica", "").replace(PERSISTENT, "").replace("source-buffer = \"100 cells\"\n", "")
    );
    let result = run(&text);
    for flow in names(&result.flows) {
        let share = value(&result.flows, flow, "throughput") / 155.52e6;
        // A third of 90 %, less RM cells, cell headers and what TCP, IP and AAL5 add.
        assert!((0.2..0.3 * 31.0 / 32.0 * 48.0 / 53.0).contains(&share), "{flow}: {share}");
        assert!(value(&result.flows, flow, "source_queue_max") > 100.0);
        assert_eq!(value(&result.flows, flow, "segments_retransmitted"), 0.0);
        let rates =
            result.series.iter().find(|series| series.entity == *flow && series.metric == "acr").unwrap();
        let last = rates.values.last().unwrap() / OC3;
        assert!((last - 0.3).abs() < 0.02, "{flow}: {last} of the link");
    }
    assert_eq!(discarded(&result), 0.0);
}
