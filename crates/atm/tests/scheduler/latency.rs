//! How late each discipline may be for arrivals at any instant, against a line of the rate that it guarantees a VC.
//!
//! The k-th unit of a VC would leave such a line at V(k) = max(arrival, V(k - 1)) + length * W/w, for a weight w of a sum of
//! weights W. A discipline sends it at most its latency later (Stiliadis and Varma 1998, Latency-rate servers).

use celltrain_atm::scheduler::{
    DisciplineName, SchedulerParams, Share, deficit_round_robin, weighted_round_robin,
};
use proptest::prelude::*;

use crate::{
    link::{Case, Kind, Outcome, case, config},
    model::of,
};

/// Small weights without a common divisor: rounds and cycles are short.
fn small(mut case: Case) -> Case {
    case.weights.iter_mut().for_each(|weight| *weight = *weight % 7 + 1);
    case.weights.push(1);
    case.overhead = 0;
    case
}

/// By how much work a unit of each VC is late at most, against a line of the VC's rate.
fn latencies(outcome: &Outcome, weights: &[u128]) -> Vec<u128> {
    let sum: u128 = weights.iter().sum();
    let (mut guaranteed, mut latest) = (vec![0; weights.len()], vec![0; weights.len()]);
    for (number, &(vc, work)) in outcome.units.iter().enumerate() {
        let vc = vc as usize;
        guaranteed[vc] = outcome.arrivals[number].max(guaranteed[vc]) + (work * sum).div_ceil(weights[vc]);
        let end = outcome.ends[number].expect("nothing is pushed out");
        latest[vc] = end.saturating_sub(guaranteed[vc]).max(latest[vc]);
    }
    latest
}

/// Whether VCs are at most so late under `params`, in largest units, by the weight of the VC and the sum of weights.
fn check(
    case: &Case,
    params: &SchedulerParams,
    bound: impl Fn(u128, u128) -> u128,
) -> Result<(), TestCaseError> {
    let outcome = case.serve(params);
    let weights: Vec<u128> = match params.discipline {
        DisciplineName::RoundRobin => vec![1; case.weights.len()],
        _ => case.weights.iter().map(|&weight| weight.into()).collect(),
    };
    let sum = weights.iter().sum();
    for (vc, late) in latencies(&outcome, &weights).into_iter().enumerate() {
        let limit = bound(weights[vc], sum) * outcome.largest;
        prop_assert!(late <= limit + case.slack(), "{params:?}: VC {vc} is {} too late", late - limit);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn disciplines_of_units_and_bytes_keep_their_latencies(case in case(Just(Kind::Arrival), 250)) {
        let case = small(case);
        let vcs = case.weights.len() as u128;
        check(&case, &of(DisciplineName::Wfq), |_, _| 1)?;
        // Golestani 1994; in this form Goyal, Lam and Vin 1995: the largest unit of each other VC.
        check(&case, &of(DisciplineName::Scfq), |_, _| vcs - 1)?;
        // (3 F - 2 Q)/r for quanta Q that sum to F, each no less than the largest packet, which is at most 1500 here.
        let quantum = if case.cells { 1 } else { 1500 };
        let deficit_round_robin = deficit_round_robin::Params { share: Share::Weight, quantum: Some(quantum) };
        let params = SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) };
        let largest = case.steps.iter().map(|step| if case.cells { 1 } else { u128::from(step.size) }).max();
        let units = |frames: u128| (frames * u128::from(quantum)).div_ceil(largest.unwrap());
        check(&case, &params, |weight, sum| units(3 * sum - 2 * weight))?;
    }

    #[test]
    fn disciplines_of_cells_keep_their_latencies(case in case(Just(Kind::Arrival), 250), interleaved in any::<bool>()) {
        let case = Case { cells: true, ..small(case) };
        let vcs = case.weights.len() as u128;
        // A cell in service and one of each other VC.
        check(&case, &of(DisciplineName::RoundRobin), |_, _| vcs)?;
        // (F - w + 1)/r for cycles of F cells if a VC always begins with its share of a cycle. One that returns to a cycle in
        // which it has had its share waits for the others' rests of it too: F - w more.
        let weighted_round_robin = weighted_round_robin::Params { interleaved, share: Share::Weight };
        let params = SchedulerParams { weighted_round_robin, ..of(DisciplineName::WeightedRoundRobin) };
        check(&case, &params, |weight, sum| 2 * (sum - weight) + 1)?;
    }

    #[test]
    fn fifo_sends_in_the_order_of_arrival(case in case(Just(Kind::Arrival), 250)) {
        let outcome = case.serve(&of(DisciplineName::Fifo));
        prop_assert!(outcome.ends.is_sorted(), "{:?}", outcome.ends);
    }

    #[test]
    fn every_discipline_sends_all_in_the_order_of_each_vc(
        case in case(prop_oneof![8 => Just(Kind::Arrival), 2 => Just(Kind::PushOut), 1 => Just(Kind::Away)], 250),
    ) {
        let case = small(case);
        for &name in DisciplineName::ALL {
            // The link checks that it never rests while a unit waits, and that as much is left as in the fluid system.
            let outcome = case.serve(&of(name));
            let sent = outcome.ends.iter().flatten().count();
            prop_assert_eq!(sent + outcome.returned.len(), outcome.units.len(), "{:?}", name);
            let work: u128 = std::iter::zip(&outcome.ends, &outcome.units).filter_map(|(end, unit)| end.map(|_| unit.1)).sum();
            prop_assert_eq!(outcome.ends.iter().flatten().max().copied().unwrap_or(0), work, "{:?}", name);
            let mut last = vec![0; case.weights.len()];
            for (end, (vc, _)) in std::iter::zip(&outcome.ends, &outcome.units) {
                let Some(end) = end else { continue };
                prop_assert!(std::mem::replace(&mut last[*vc as usize], *end) < *end, "{:?}", name);
            }
        }
    }
}
