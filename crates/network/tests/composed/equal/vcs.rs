//! Contracts that nothing exceeds, weights that have a common factor, and a category that is the only one.

use celltrain_atm::{
    contract::{Category, Policing, Spacing},
    quantity::CellRate,
};
use celltrain_engine::quantity::BitRate;
use celltrain_network::scenario::Flow;
use toml::Table;

use super::{
    Apart, Equivalence, Pair,
    case::{Case, Vc, table, value},
};
use crate::draw::Draw;

/// Says something of the contracts of those flows that it suits. Flows that share a VC have one contract.
fn of_contracts(
    case: &Case<'_>,
    suits: impl Fn(usize, &Flow) -> bool,
    say: impl Fn(&mut Table, usize),
) -> Option<Pair> {
    let mut text = case.text();
    let flows = case.graph.flows.iter().enumerate();
    let chosen: Vec<_> = flows
        .filter(|(_, flow)| suits(flow.circuit, &case.graph.flows[flow.circuit]))
        .map(|(number, _)| number)
        .collect();
    chosen.iter().for_each(|&number| say(&mut text, number));
    (!chosen.is_empty()).then(|| Pair::with(text)).flatten()
}

/// Whether a VC of cells that are spaced in the host has its first link to itself, which changes nothing about their distances.
fn is_alone(case: &Case<'_>, vcs: &[Vec<Vc>], flow: &Flow) -> bool {
    let (first, contract) = (&case.graph.links[flow.route[0]], &flow.contract);
    contract.spacing == Spacing::Cells
        && contract.category != Category::Abr
        && contract.policing == Policing::None
        && vcs[flow.route[0]].len() == 1
        && !first.changes_rate()
        && !first.is_impaired()
        && case.spec.link.rate_spread.0 == 0
}

/// The line rate as the peak rate of VCs that have their first link to themselves.
fn line_rate(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let vcs = case.vcs();
    let suits = |_: usize, flow: &Flow| flow.contract.pcr.is_none() && is_alone(case, &vcs, flow);
    let say = |text: &mut Table, number: usize| {
        let rate = case.graph.links[case.graph.flows[number].route[0]].rate;
        case.of_vc(text, number, &[("pcr", value(&rate))]);
    };
    of_contracts(case, suits, say)
}

/// A policer of what is shaped to the same rate. What a pause holds back comes at the line rate when it ends.
fn conforming(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    if case.spec.switch.memory.is_some_and(|memory| memory.pause.is_some()) {
        return None;
    }
    let (vcs, pcr, has_scr) = (case.vcs(), draw.source_rate(), draw.chance(0.5));
    let suits =
        |_: usize, flow: &Flow| is_alone(case, &vcs, flow) && (has_scr || flow.contract.scr.is_none());
    let of = |policing: &str| {
        let mut settings = vec![("pcr", pcr.as_str().into()), ("policing", policing.into())];
        if has_scr {
            settings.push(("scr", pcr.as_str().into()));
        }
        of_contracts(case, suits, |text, number| case.of_vc(text, number, &settings))
    };
    Some(Pair { one: Some(of("none")?.other), other: of("discard-cells")?.other })
}

/// A policer of cells with an endless tolerance.
fn tolerant(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let tags = draw.chance(0.5);
    of_contracts(case, is_free, |text, number| {
        let has_scr = case.graph.flows[number].contract.scr.is_some();
        let policing = if tags && has_scr { "tag-cells" } else { "discard-cells" };
        case.of_vc(text, number, &[("policing", policing.into()), ("cdvt-pcr", "100000 s".into())]);
    })
}

/// All weights times a number.
fn heavier(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let factor = draw.whole(2, 9) as u32;
    let reads_weights = ["virtual-queuing", "improved-virtual-queuing", "script"];
    let suits = case.ways_are_apart()
        && case.graph.flows.iter().all(|flow| flow.contract.weight <= 100_000)
        && !case.ports().any(|(_, link)| reads_weights.contains(&link.discard.policy.name()));
    let say = |text: &mut Table, number: usize| {
        let weight = case.graph.flows[number].contract.weight * factor;
        case.of_vc(text, number, &[("weight", i64::from(weight).into())]);
    };
    suits.then(|| of_contracts(case, |_, _| true, say)).flatten()
}

/// Another category for all data, where nothing else crosses the ports that they cross.
fn only_category(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let first = case.graph.flows[0].contract.category;
    let vcs = case.vcs();
    let apart = case.ports().all(|(link, _)| vcs[link].iter().all(|vc| vc.back == vcs[link][0].back));
    let alike = case.graph.flows.iter().all(|flow| flow.contract.category == first) && first != Category::Abr;
    let other = *draw.pick(&["cbr", "vbr", "gfr", "ubr"]);
    let say = |text: &mut Table, number: usize| case.of_vc(text, number, &[("category", other.into())]);
    (apart && alike).then(|| of_contracts(case, |_, _| true, say)).flatten()
}

/// All guarantees times two, where they only divide something.
fn larger_guarantees(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let guaranteed = |_: usize, flow: &Flow| flow.contract.mcr.is_some();
    let divides = |flow: &Flow| flow.contract.policing == Policing::None && flow.abr.is_none();
    // Equal parts are beside what is guaranteed.
    let sharing =
        |link: &celltrain_network::scenario::Link| table(&*link.discard).to_string().contains("\"equal\"");
    let suits = case.graph.flows.iter().all(divides) && !case.ports().any(|(_, link)| sharing(link));
    let say = |text: &mut Table, number: usize| {
        let CellRate(rate) = case.graph.flows[number].contract.mcr.expect("a guarantee");
        case.of_vc(text, number, &[("mcr", value(&CellRate(BitRate(2 * rate.0))))]);
    };
    suits.then(|| of_contracts(case, guaranteed, say)).flatten()
}

/// Whether nobody polices a VC, whose rate is not controlled either.
fn is_free(_: usize, flow: &Flow) -> bool {
    flow.contract.policing == Policing::None && flow.contract.category != Category::Abr
}

/// Terms of contracts that nobody polices.
fn unpoliced(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    // The excess counts bursts of MBS.
    let mut settings = ["cdvt-pcr", "cdvt-mcr"].map(|key| (key, draw.duration().into())).to_vec();
    if !case.has_policy(&["per-vc", "epd-push-out", "abs-push-out", "abs-push-out-hardware", "script"]) {
        settings.push(("mfs", (draw.whole(1, 500) as i64).into()));
    }
    of_contracts(case, is_free, |text, number| case.of_vc(text, number, &settings))
}

/// Weights by which nothing is divided.
fn idle_weights(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let divides = ["epd-per-vc", "virtual-queuing", "improved-virtual-queuing", "script"];
    let in_order = ["fifo", "round-robin", "flow-queue", "dual-queue"];
    let suits = !case.has_policy(&divides)
        && case.ports().all(|(_, link)| in_order.contains(&link.scheduler.discipline.name()));
    let weight = draw.whole(1, 1000) as i64;
    let say = |text: &mut Table, number: usize| case.of_vc(text, number, &[("weight", weight.into())]);
    suits.then(|| of_contracts(case, |_, _| true, say)).flatten()
}

/// A priority at which nobody looks.
fn idle_priority(case: &Case<'_>, _: &mut Draw) -> Option<Pair> {
    let looks = ["double-epd", "per-vc", "wba", "dfba", "script"];
    let suits = !case.has_policy(&looks)
        && case.graph.flows.iter().all(|flow| flow.contract.policing == Policing::None);
    let say = |text: &mut Table, number: usize| {
        let clp = case.graph.flows[number].contract.clp;
        case.of_vc(text, number, &[("clp", (!clp).into())]);
    };
    suits.then(|| of_contracts(case, is_free, say)).flatten()
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "what is shaped to a rate conforms to it",
        because: "docs/reference/scenario.md, vc.pcr: the host keeps the VC at it, and a policer enforces it",
        words: conforming,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "weights by which nothing is divided",
        because: "docs/reference/scenario.md, vc.weight: schedulers and virtual queues divide by weight",
        words: idle_weights,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "a priority at which no policy looks",
        because: "docs/reference/policies.md: the CLP of a frame counts where the policy says so",
        words: idle_priority,
        apart: Apart::Priorities,
    },
    Equivalence {
        name: "guarantees times two",
        because: "docs/reference/policies.md and schedulers.md: shares are in proportion to the minimum cell rates",
        words: larger_guarantees,
        apart: Apart::Columns(&["mcr", "excess", "excess_of_equal_part", "excess_of_weighted_part"]),
    },
    Equivalence {
        name: "terms that nobody polices",
        because: "docs/reference/scenario.md, vc.cdvt-pcr, vc.cdvt-mcr: tolerances, which the first switch applies if it polices",
        words: unpoliced,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "the line rate as the peak rate",
        because: "docs/reference/scenario.md, vc.pcr: the line rate if not given",
        words: line_rate,
        apart: Apart::Sources,
    },
    Equivalence {
        name: "a policer that tolerates everything",
        because: "docs/reference/scenario.md, vc.cdvt-pcr: tolerance of the peak rate (GCRA(T, tau) of ITU-T I.371: a cell conforms from TAT - tau on)",
        words: tolerant,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "weights times a number",
        because: "docs/reference/scenario.md, vc.weight: share in what is divided by weight",
        words: heavier,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "another category for all",
        because: "docs/reference/schedulers.md: between service categories priority is strict; there is one alone",
        words: only_category,
        apart: Apart::Columns(&["category"]),
    },
];
