//! ABR through the network: what allocators achieve, from sources that always have something to send.

use celltrain_atm::abr::AllocatorName;
use celltrain_network::{
    RunResult,
    max_min::{Flow, max_min_above_minima},
};

use crate::common::{discarded, names, occupancies, run, value};

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

/// The marks of an EFCI switch reach the sources (TM 4.0, source behaviour 8): without them, two sources at the rate of the link put
/// one cell in two into the queue.
#[test]
fn marks_hold_the_queue_of_an_efci_switch() {
    let result = pairs(2, "efci", "rdf = 0.1\n");
    let most = value(&result.ports, "switch1 > switch2", "abr_queue_max");
    assert!(most < 0.2 * OC3 / 4.0, "{most} cells");
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

/// What TCP over a source buffer of fifty cells, four frames, lost there and had to send again.
fn losses_at_the_source(discard: &str) -> (f64, f64) {
    let keys = format!("source-buffer = \"50 cells\"\nsource-discard = \"{discard}\"\n");
    let more = "[tcp]\nstack = \"osu\"\nrto-initial = \"200 ms\"\n";
    let abr = abr("erica", &keys).replace(PERSISTENT, more).replace("source-buffer = \"100 cells\"\n", "");
    let head = "duration = \"2 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"1 ms\"\n";
    let result = run(&(head.to_owned() + &abr));
    let sum = |column| names(&result.flows).iter().map(|flow| value(&result.flows, flow, column)).sum();
    (sum("cells_dropped_at_source"), sum("cells_useful") / sum("cells_sent"))
}

/// Frames of twelve cells, dropped whole or from the cell on that finds no room; what arrives of the latter, and the frame
/// after it, is of no use.
#[test]
fn a_source_drops_whole_frames_if_told_to() {
    let ((cells, useful_of_cells), (frames, useful)) =
        (losses_at_the_source("cells"), losses_at_the_source("frames"));
    assert!(cells > 0.0 && cells % 12.0 > 0.0, "{cells} cells");
    assert!(frames > 0.0 && frames % 12.0 == 0.0, "{frames} cells");
    assert!(useful > useful_of_cells, "{useful} and {useful_of_cells} of the cells are of use");
}

/// So do sources whose cells come one by one: a frame that does not fit when it begins is refused, all of it.
#[test]
fn a_source_drops_whole_frames_of_cells_that_come_one_by_one() {
    let result = run(
        "duration = \"200 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"1 ms\"\n\
         rate = \"20 Mbit/s\"\ntrunk.rate = \"10 Mbit/s\"\n[switch]\nallocator.algorithm = \"erica\"\n[vc]\ncategory = \"abr\"\n\
         [abr]\nsource-buffer = \"50 cells\"\nsource-discard = \"frames\"\n\
         [traffic]\nkind = \"cbr\"\nrate = \"8 Mbit/s\"\nframe = 4\n",
    );
    for flow in names(&result.flows) {
        let dropped = value(&result.flows, flow, "cells_dropped_at_source");
        assert!(dropped > 400.0, "{dropped} cells");
        assert_eq!(value(&result.flows, flow, "cells_useless"), 0.0);
        assert!(value(&result.flows, flow, "source_queue_max") <= 50.0);
    }
}

/// A row of switches: the rates of the trunks between them in Mbit/s, and groups of alike flows as (flows, from switch,
/// to switch).
struct Row {
    trunks: &'static [f64],
    groups: &'static [(usize, usize, usize)],
}

const PARKING_LOT: Row = Row { trunks: &[150.0, 150.0, 150.0], groups: &[(2, 0, 3), (2, 1, 3), (2, 2, 3)] };

/// The ATM Forum's first generic fairness configuration: groups A to F.
const GFC_1: Row = Row {
    trunks: &[50.0, 150.0, 150.0, 100.0],
    groups: &[(3, 0, 3), (3, 1, 4), (3, 1, 2), (6, 0, 1), (6, 3, 4), (2, 2, 3)],
};

/// The second one: groups A to H; the members of A and B enter at different switches.
const GFC_2: Row = Row {
    trunks: &[50.0, 100.0, 50.0, 150.0, 150.0, 50.0],
    groups: &[
        (1, 0, 5),
        (1, 1, 5),
        (1, 2, 5),
        (1, 0, 6),
        (1, 1, 6),
        (1, 3, 6),
        (3, 3, 4),
        (1, 0, 1),
        (2, 1, 2),
        (1, 2, 3),
        (7, 5, 6),
        (2, 4, 5),
    ],
};

impl Row {
    /// From and to which switch each flow goes.
    fn flows(&self) -> Vec<(usize, usize)> {
        self.groups.iter().flat_map(|&(count, from, to)| vec![(from, to); count]).collect()
    }

    /// The minimum rates and max-min fair shares of the rest if so much of the trunks is used, in Mbit/s, RM cells included.
    fn fair(&self, utilisation: f64, minimum: impl Fn(usize) -> f64) -> Vec<f64> {
        let capacities: Vec<f64> = self.trunks.iter().map(|rate| rate * utilisation).collect();
        let route = |(from, to): (usize, usize)| Flow::over(&(from..to).collect::<Vec<_>>());
        let flows = self.flows().into_iter().map(route).enumerate();
        let flows: Vec<_> = flows.map(|(number, flow)| Flow { minimum: minimum(number), ..flow }).collect();
        max_min_above_minima(&capacities, &flows).unwrap()
    }

    /// The rates that an allocator brings the flows to, in Mbit/s; `abr_of` gives the keys of each flow's ABR connection.
    fn settled(&self, allocator: &str, abr_of: impl Fn(usize) -> String) -> Vec<f64> {
        let mut text =
            "duration = \"500 ms\"\nwarm-up = \"400 ms\"\n[topology]\nkind = \"graph\"\n".to_owned();
        let node = |name: &str, kind| format!("[[topology.node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
        let link = |from: &str, to: &str| format!("[[topology.link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        for switch in 0..=self.trunks.len() {
            text += &node(&format!("s{switch}"), "switch");
        }
        for (trunk, rate) in self.trunks.iter().enumerate() {
            text += &link(&format!("s{trunk}"), &format!("s{}", trunk + 1));
            text += &format!("rate = \"{rate} Mbit/s\"\n");
        }
        for (number, (from, to)) in self.flows().into_iter().enumerate() {
            text += &node(&format!("from{number}"), "host");
            text += &node(&format!("to{number}"), "host");
            text += &link(&format!("from{number}"), &format!("s{from}"));
            text += &link(&format!("s{to}"), &format!("to{number}"));
            text += &format!(
                "[[flow]]\nname = \"{number}\"\nfrom = \"from{number}\"\nto = \"to{number}\"\nabr = {{ {} }}\n",
                abr_of(number)
            );
        }
        // Each VC has an answer in every interval: the best of them is what makes rates equal.
        let interval = "interval = { cells = 500, time = \"5 ms\" }\n";
        let interval =
            format!("allocator.erica.{interval}allocator.erica-plus.{interval}allocator.algorithm");
        let abr = abr(allocator, "").replace("allocator.algorithm", &interval);
        let result = run(&(text + "[link]\ndelay = \"20 us\"\n" + &abr));
        assert_eq!(discarded(&result), 0.0);
        (0..self.flows().len()).map(|flow| rate(&result, &flow.to_string(), 0.1) * 424e-6).collect()
    }

    /// The best rate is kept while the load is at most 1 + delta times the target (delta = 0.1), and what some have above
    /// their rates others lack; of both, what is above the minimum rates. Flows that go the same way are nearer to each other.
    #[track_caller]
    fn check(&self, found: &[f64], utilisation: f64, minimum: impl Fn(usize) -> f64) {
        let (flows, all, fair) = (self.flows(), 0..found.len(), self.fair(utilisation, &minimum));
        let share = |rates: &[f64], flow| rates[flow] - minimum(flow);
        let enough = |flow| share(found, flow) > 0.9 * share(&fair, flow);
        assert!(all.clone().all(enough), "{:?}: {found:?}, not {fair:?} Mbit/s", self.trunks);
        for (trunk, rate) in self.trunks.iter().enumerate() {
            let crossing = || all.clone().filter(|&flow| (flows[flow].0..flows[flow].1).contains(&trunk));
            let rest = rate * utilisation - crossing().map(&minimum).sum::<f64>();
            let shared = crossing().map(|flow| share(found, flow)).sum::<f64>();
            assert!(shared < 1.1 * rest, "trunk {trunk}: {shared} of {rest} Mbit/s");
        }
        for one in all {
            for other in (0..one).filter(|&other| flows[other] == flows[one]) {
                let ratio = share(found, one) / share(found, other);
                assert!((ratio - 1.0).abs() < 0.02, "{one} and {other}: {found:?}");
            }
        }
    }
}

#[test]
fn rates_become_max_min_fair_from_any_first_rates() {
    // First rates far above the fair ones fill queues that drain in the tenth of the link which the target leaves free, and as
    // long as they last answers come late.
    for (row, high) in [(PARKING_LOT, 140.0), (GFC_1, 140.0), (GFC_2, 30.0)] {
        for first_rates in [&[1.0][..], &[high], &[high, 1.0, 10.0]] {
            let icr = |flow| format!("icr = \"{} Mbit/s\"", first_rates[flow % first_rates.len()]);
            row.check(&row.settled("erica", icr), 0.9, |_| 0.0);
        }
    }
}

/// Rows with the minimum rates of their flows, and a high first rate, all in Mbit/s: one flow that is promised more than an
/// equal share, minima that fill most of a trunk, and all kinds of them.
const PROMISES: [(Row, &[f64], f64); 4] = [
    (PARKING_LOT, &[0.0, 0.0, 0.0, 60.0, 0.0, 0.0], 140.0),
    (PARKING_LOT, &[30.0, 20.0, 25.0, 10.0, 20.0, 20.0], 140.0),
    (
        GFC_1,
        &[
            5.0, 4.0, 6.0, 9.0, 12.0, 6.0, 50.0, 0.0, 10.0, 0.0, 1.0, 5.0, 5.0, 4.0, 6.0, 8.0, 8.0, 8.0, 8.0,
            8.0, 8.0, 60.0, 10.0,
        ],
        140.0,
    ),
    (
        GFC_2,
        &[
            0.0, 1.0, 3.0, 0.0, 1.0, 3.0, 0.0, 10.0, 30.0, 20.0, 1.0, 3.0, 0.0, 1.0, 3.0, 0.0, 1.0, 3.0, 0.0,
            1.0, 30.0, 0.0,
        ],
        30.0,
    ),
];

/// The rates become those that minima and shares add up to, from the lowest first rates and from high ones.
fn promises_are_kept(allocator: &str, utilisation: f64) {
    for (row, minima, high) in PROMISES {
        for first_rate in [1.0, high] {
            let found = row.settled(allocator, |flow| {
                format!("icr = \"{first_rate} Mbit/s\", mcr = \"{} Mbit/s\"", minima[flow])
            });
            row.check(&found, utilisation, |flow| minima[flow]);
        }
    }
}

#[test]
fn erica_gives_minimum_rates_and_max_min_fair_shares_of_the_rest() {
    promises_are_kept("erica", 0.9);
}

#[test]
fn erica_plus_gives_minimum_rates_and_max_min_fair_shares_of_the_rest() {
    promises_are_kept("erica-plus", 1.0);
}

/// Where more is promised than there is to give, nobody gets more than that, nor less.
#[test]
fn minima_that_fill_the_link_are_all_that_anybody_gets() {
    let minima = [20.0, 30.0, 10.0, 25.0, 30.0, 21.0];
    let found = PARKING_LOT
        .settled("erica", |flow| format!("icr = \"100 Mbit/s\", mcr = \"{} Mbit/s\"", minima[flow]));
    for (flow, (found, minimum)) in found.iter().zip(minima).enumerate() {
        assert!((found / minimum - 1.0).abs() < 0.001, "{flow}: {found}, not {minimum} Mbit/s");
    }
}

/// What a flow does not use of its minimum rate goes to the others.
#[test]
fn minima_are_not_kept_for_flows_that_do_not_use_them() {
    let flows = "[[flow]]\nname = \"1\"\nabr.mcr = \"80 Mbit/s\"\n\
                 traffic = { kind = \"cbr\", rate = \"20 Mbit/s\" }\n";
    for (allocator, utilisation) in [("erica", 0.9), ("erica-plus", 1.0)] {
        let result = pairs(3, allocator, flows);
        let rates = ["1", "2", "3"].map(|flow| rate(&result, flow, 0.1) * 424e-6);
        let rest = utilisation * 155.52 - 20.0 * 32.0 / 31.0;
        assert!((0.99..1.1).contains(&((rates[1] + rates[2]) / rest)), "{allocator}: {rates:?}, of {rest}");
        assert!((rates[1] / rates[2] - 1.0).abs() < 0.02, "{allocator}: {rates:?}");
    }
}

/// The allocators that compute one rate for all know no minima; a source keeps to its own, and the others share what is left
/// (TM 4.0: the larger of MCR and share).
#[test]
fn one_rate_for_all_gives_the_larger_of_minimum_and_share() {
    let result = pairs(4, "capc", "[[flow]]\nname = \"1\"\nabr.mcr = \"80 Mbit/s\"\n");
    let rates = ["1", "2", "3", "4"].map(|flow| rate(&result, flow, 0.1) * 424e-6);
    let target = [80.0].into_iter().chain([(0.95 * 155.52 - 80.0) / 3.0; 3]);
    for (found, fair) in rates.iter().zip(target) {
        assert!((found / fair - 1.0).abs() < 0.05, "{rates:?}");
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

/// Before the first interval ends, the share is that of the VCs to which a rate is allocated: neither VBR VCs nor UBR ones
/// have one.
#[test]
fn before_the_first_interval_ends_abr_vcs_share_the_target() {
    // CAPC begins with the whole link, of which VBR takes its part first.
    for (allocator, share) in [("erica", 0.9 / 2.0), ("capc", (1.0 - 2.0 / 155.52) / 2.0)] {
        let others = ["3", "4", "5"].map(|flow| {
            let category = if flow == "5" { "ubr" } else { "vbr" };
            format!(
                "[[flow]]\nname = \"{flow}\"\nvc.category = \"{category}\"\n\
                 traffic = {{ kind = \"cbr\", rate = \"1 Mbit/s\" }}\n"
            )
        });
        let interval = match allocator {
            "erica" => "allocator.erica.interval = { time = \"1 s\", cells = 1000000000 }\n",
            _ => "allocator.capc.interval = \"1 s\"\n",
        };
        let text = format!(
            "duration = \"200 ms\"\nwarm-up = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 5\n\
             [link]\ndelay = \"100 us\"\n{}",
            abr(allocator, &others.concat()).replace("[vc]", &format!("{interval}[vc]"))
        );
        let result = run(&text);
        for flow in ["1", "2"] {
            let found = rate(&result, flow, 0.1) / OC3;
            assert!(
                (found / share - 1.0).abs() < 0.01,
                "{allocator}, {flow}: {found}, not {share} of the link"
            );
        }
    }
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

/// Of the cells of a VC, forward RM cells are discarded and arrive as others do: ITU-T I.356 section 6.3 does not tell them apart.
#[test]
fn rm_cells_that_arrive_are_in_the_cell_loss_ratio_of_a_flow() {
    let result = run("duration = \"500 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
         [link]\nrate = \"100 Mbit/s\"\ndelay = \"10 us\"\ntrunk = { rate = \"50 Mbit/s\" }\n\
         [switch]\nbuffer = \"50 cells\"\n[vc]\ncategory = \"abr\"\n\
         [abr]\nnrm = 4\ncrm = 1000000\ncdf = 0\nicr = \"90 Mbit/s\"\nadtf = \"100 s\"\n\
         [traffic]\nkind = \"cbr\"\nrate = \"60 Mbit/s\"\n");
    for flow in ["1", "2"] {
        let of_flow = value(&result.flows, flow, "cell_loss_ratio");
        let sent = value(&result.flows, flow, "cells_sent");
        let lost = value(&result.flows, flow, "cells_discarded");
        assert!(of_flow > 0.3 && (of_flow - lost / sent).abs() < 0.002, "{of_flow}, {lost} of {sent} cells");
    }
}

/// Shares by the minimum rate are those that the switch knows since the VC was set up: of ABR, `abr.mcr` (TM 4.0).
#[test]
fn a_scheduler_shares_by_the_minimum_rates_of_abr() {
    let flow = |name, mcr| format!("[[flow]]\nname = \"{name}\"\nabr.mcr = \"{mcr} Mbit/s\"\n");
    let head = "duration = \"60 ms\"\nwarm-up = \"20 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[switch]\n\
                buffer = \"unlimited\"\nscheduler = { discipline = \"scfq\", scfq.share = \"mcr\" }\n\
                [vc]\ncategory = \"abr\"\n";
    let result = run(&[head, PERSISTENT, &flow("1", 30), &flow("2", 10)].concat());
    let rates = ["1", "2"].map(|flow| value(&result.flows, flow, "cells_useful"));
    assert!((rates[0] / rates[1] - 3.0).abs() < 0.01, "{rates:?}");
}

/// The reverse path of an ABR flow has no minimum rate. At a port where other ABR flows have one, it has the smallest share.
#[test]
fn the_reverse_path_of_abr_has_the_smallest_share() {
    let flow = |name, from, to, mcr| {
        format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nabr.mcr = \"{mcr} Mbit/s\"\n")
    };
    let head = "duration = \"60 ms\"\nwarm-up = \"20 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[switch]\n\
                buffer = \"unlimited\"\nscheduler = { discipline = \"scfq\", scfq.share = \"mcr\" }\n\
                [vc]\ncategory = \"abr\"\n";
    let back = flow("back", "dest1", "src1", 20);
    let result =
        run(&[head, PERSISTENT, &flow("1", "src1", "dest1", 30), &flow("2", "src2", "dest2", 10), &back]
            .concat());
    let rates = ["1", "2"].map(|flow| value(&result.flows, flow, "cells_useful"));
    assert!((rates[0] / rates[1] - 3.0).abs() < 0.1, "{rates:?}");
}

/// TCP over ABR, with a marking policy that has much to do.
fn marks_over_abr(more: &str) -> RunResult {
    let head = "duration = \"200 ms\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[link]\nrate = \"155.52 Mbit/s\"\n\
                delay = \"100 us\"\n[switch]\nbuffer = \"500 cells\"\n\
                discard = { policy = \"epd\", epd = { threshold = \"40 cells\", ecn = true } }\n\
                [vc]\ncategory = \"abr\"\n[abr]\nicr = \"150 Mbit/s\"\n";
    run(&[head, more].concat())
}

/// The EFCI bit of an ABR VC is that of rate control: no policy marks a frame there, whatever transport it carries, and what an
/// EFCI switch has set makes no transport capable.
#[test]
fn frames_of_abr_are_discarded_not_marked() {
    let efci = "allocator = { algorithm = \"efci\", efci = { high = \"30 cells\", low = \"20 cells\" } }\n";
    for ecn in [false, true] {
        for allocator in ["", efci] {
            let tcp =
                format!("[[port]]\nfrom = \"switch1\"\nto = \"switch2\"\n{allocator}[tcp]\necn = {ecn}\n");
            let result = marks_over_abr(&tcp);
            let port = |column| value(&result.ports, "switch1 > switch2", column);
            assert_eq!(port("frames_marked"), 0.0, "{tcp}");
            assert!(port("cells_discarded") > 0.0, "{tcp}");
        }
    }
}

/// Requests on the reverse path of ABR are frames of an ABR VC, too.
#[test]
fn frames_on_the_reverse_path_of_abr_are_discarded_not_marked() {
    let requests = "[tcp]\necn = true\n[traffic]\nkind = \"request-response\"\n\
                    request = { kind = \"fixed\", bytes = \"200 kB\" }\nresponse = { kind = \"fixed\", bytes = \"1 kB\" }\n";
    let result = marks_over_abr(requests);
    let port = |column| value(&result.ports, "switch2 > switch1", column);
    assert_eq!(port("frames_marked"), 0.0);
    assert!(port("cells_discarded") > 0.0);
}
