//! What every registered discipline must do, whatever arrives; and that the checks notice one that does not.

use std::collections::VecDeque;

use celltrain_atm::scheduler::{
    DisciplineName, Queues, SchedulerParams, Share, deficit_round_robin, flow_queue, weighted_round_robin,
};
use celltrain_engine::Instant;
use proptest::prelude::*;

use crate::model::{Port, Serve, Store, discipline, of, weighted};

const WEIGHTS: [u32; 4] = [1, 5, 2, 3];
const VCS: u32 = WEIGHTS.len() as u32;

/// Every discipline with its default parameters, and those that have parameters with other ones too.
fn parameters() -> Vec<SchedulerParams> {
    let mut all: Vec<_> = DisciplineName::ALL.iter().map(|&name| of(name)).collect();
    let weighted_round_robin =
        weighted_round_robin::Params { interleaved: false, ..weighted_round_robin::Params::default() };
    all.push(SchedulerParams { weighted_round_robin, ..of(DisciplineName::WeightedRoundRobin) });
    for quantum in [1, 40, 9000] {
        let deficit_round_robin =
            deficit_round_robin::Params { share: Share::Weight, quantum: Some(quantum) };
        all.push(SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) });
    }
    // Four VCs in one queue, in two, and in a set of three.
    for (sets, ways) in [(1, 1), (2, 1), (1, 3)] {
        let flow_queue = flow_queue::Params { sets, ways, ..flow_queue::Params::default() };
        all.push(SchedulerParams { flow_queue, ..of(DisciplineName::FlowQueue) });
    }
    all
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A unit of this size arrives on a VC.
    Enqueue(u32, u32),
    /// The line is free.
    Next,
    /// A unit of a VC is pushed out, if one waits: as many others are behind it as there can be up to so many.
    Withdraw(u32, usize),
    /// A unit of this size arrives on a VC and is pushed out at once.
    Touch(u32, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let unit = || (0..VCS, prop_oneof![Just(1u32), 40u32..1500]);
    prop_oneof![
        4 => unit().prop_map(|(vc, size)| Step::Enqueue(vc, size)),
        3 => Just(Step::Next),
        1 => (0..VCS, 0usize..5).prop_map(|(vc, behind)| Step::Withdraw(vc, behind)),
        1 => unit().prop_map(|(vc, size)| Step::Touch(vc, size)),
    ]
}

/// Takes the steps and then sends what is left; the units sent, in order. Where steps do not `touch`, units that are
/// pushed out as they arrive do not arrive at all.
fn sent(scheduler: impl Serve, steps: &[Step], touch: bool) -> Result<Vec<(u32, u32)>, String> {
    let (mut port, mut sent) = (Port::new(scheduler, WEIGHTS.len()), Vec::new());
    for &step in steps {
        match step {
            Step::Enqueue(vc, size) => port.enqueue(vc, size),
            Step::Next => sent.extend(port.next()?),
            Step::Withdraw(vc, behind) => {
                let others = port.store.0[vc as usize].len().saturating_sub(1);
                port.withdraw_before(vc, behind.min(others));
            }
            Step::Touch(vc, size) if touch => {
                port.enqueue(vc, size);
                port.withdraw(vc);
            }
            Step::Touch(..) => {}
        }
    }
    while let Some(unit) = port.next()? {
        sent.push(unit);
    }
    Ok(sent)
}

/// All that must hold on any steps: the line rests only when nothing waits, what is sent is there, and a unit that is
/// pushed out as soon as it has come leaves no trace.
fn check<S: Serve>(new: impl Fn() -> S, steps: &[Step]) -> Result<Vec<(u32, u32)>, String> {
    let (touched, untouched) = (sent(new(), steps, true)?, sent(new(), steps, false)?);
    match std::iter::zip(&touched, &untouched).position(|(a, b)| a != b) {
        Some(place) => Err(format!("a unit pushed out at once changed what was sent from unit {place} on")),
        None => Ok(touched),
    }
}

/// How many units of others are sent at most before one of a VC that always has something to send, all VCs always
/// having two units.
fn longest_wait(scheduler: impl Serve, sizes: &[u32]) -> Result<usize, String> {
    let mut port = Port::new(scheduler, WEIGHTS.len());
    let mut size = sizes.iter().cycle();
    let mut arrive = |port: &mut Port<_>, vc| port.enqueue(vc, *size.next().unwrap());
    (0..VCS * 2).for_each(|unit| arrive(&mut port, unit % VCS));
    let (mut waits, mut longest) = ([0usize; WEIGHTS.len()], 0);
    for _ in 0..3000 {
        let (vc, _) = port.next()?.expect("all VCs have something to send");
        waits.iter_mut().for_each(|wait| *wait += 1);
        waits[vc as usize] = 0;
        longest = longest.max(*waits.iter().max().unwrap());
        arrive(&mut port, vc);
    }
    Ok(longest)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_discipline_keeps_the_rules(steps in prop::collection::vec(step(), 1..200)) {
        for params in parameters() {
            let new = || discipline(&params, &weighted(&WEIGHTS));
            // Under flow queuing a VC has a place in the lists from its first packet on, and an empty queue keeps it until its turn (RFC 8290
            // section 4.2).
            let first = if params.discipline == DisciplineName::FlowQueue {
                sent(new(), &steps, true)
            } else {
                check(new, &steps)
            };
            let first = first.map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
            let again = sent(new(), &steps, true).unwrap();
            prop_assert_eq!(first, again, "{:?}: the same units, another order", params);
        }
    }

    #[test]
    fn no_discipline_starves_a_vc(sizes in prop::collection::vec(40u32..=1500, 1..20)) {
        // The most that the rules allow: with a quantum of 9000 bytes the other VCs may send (5 + 2 + 3) * 9000 bytes a
        // turn, in packets of 40 bytes.
        for params in parameters() {
            let longest = longest_wait(discipline(&params, &weighted(&WEIGHTS)), &sizes).unwrap();
            prop_assert!(longest <= 10 * 9000 / 40 + 3, "{params:?}: {longest} units");
        }
    }
}

/// Breaks one rule each, to show that the checks see it: the state is the VCs in the order of the arrival of units.
macro_rules! broken {
    ($(#[$doc:meta])* $name:ident, |$turns:ident, $queues:ident| $next:expr, |$left:ident, $vc:ident| $withdraw:expr) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        struct $name(VecDeque<u32>);

        impl Serve for $name {
            fn enqueue(&mut self, vc: u32, _: u32, _: Instant, _: &Store) {
                self.0.push_back(vc);
            }

            fn next(&mut self, _: Instant, $queues: &Store) -> Option<u32> {
                let $turns = &mut self.0;
                $next
            }

            fn withdraw(&mut self, $vc: u32, _: u32, _: usize, _: Instant, _: &Store) {
                let $left = &mut self.0;
                $withdraw
            }
        }
    };
}

broken! {
    /// Rests after each unit on VC 1.
    Idle, |turns, _queues| turns.pop_front().filter(|&vc| vc != 1), |_turns, _vc| {}
}

broken! {
    /// Does not hear of units pushed out.
    Deaf, |turns, _queues| turns.pop_front(), |_turns, _vc| {}
}

broken! {
    /// Loses the place of the first unit of the VC instead of that of the last.
    Hasty, |turns, _queues| turns.pop_front(), |turns, vc| {
        let first = turns.iter().position(|&turn| turn == vc).unwrap();
        turns.remove(first);
    }
}

broken! {
    /// Prefers low labels for ever.
    Unfair, |_turns, queues| (0..VCS).find(|&vc| queues.size(vc, 0).is_some()), |_turns, _vc| {}
}

#[test]
fn the_checks_notice_a_discipline_that_breaks_them() {
    let arrivals = [Step::Enqueue(1, 1), Step::Enqueue(0, 1)];
    let idle = check(Idle::default, &arrivals).unwrap_err();
    assert!(idle.starts_with("nothing was chosen"), "{idle}");
    let withdrawn = [Step::Enqueue(1, 1), Step::Withdraw(1, 0), Step::Enqueue(0, 1)];
    let deaf = check(Deaf::default, &withdrawn).unwrap_err();
    assert!(deaf.starts_with("VC 1 was chosen, which has nothing"), "{deaf}");
    let touched = [Step::Enqueue(1, 1), Step::Enqueue(0, 1), Step::Touch(1, 1)];
    let hasty = check(Hasty::default, &touched).unwrap_err();
    assert!(hasty.ends_with("from unit 0 on"), "{hasty}");
    assert_eq!(longest_wait(Unfair::default(), &[40]), Ok(3000), "it never serves VC 3");
}

/// A unit that is pushed out from the middle of its VC takes its own turn with it; those behind keep theirs.
#[test]
fn a_unit_of_the_middle_is_pushed_out_with_its_turn() {
    let hashed = flow_queue::Params { sets: 1, ways: 1, ..flow_queue::Params::default() };
    let in_one_queue = SchedulerParams { flow_queue: hashed, ..of(DisciplineName::FlowQueue) };
    for params in [of(DisciplineName::Fifo), of(DisciplineName::DualQueue), in_one_queue] {
        let arrivals = [0, 1, 0, 1, 1, 0, 0];
        for (behind, place) in [(0, 6), (1, 5), (2, 2), (3, 0)] {
            let mut port = Port::new(discipline(&params, &weighted(&[1, 1])), 2);
            arrivals.iter().for_each(|&vc| port.enqueue(vc, 1));
            port.withdraw_before(0, behind);
            // Another one, of which the place of the first is told no more.
            port.withdraw_before(1, 1);
            port.withdraw_before(0, 0);
            let mut left: Vec<_> = arrivals.to_vec();
            let last = if place == 6 { 5 } else { 6 };
            (left[place], left[3], left[last]) = (9, 9, 9);
            left.retain(|&vc| vc < 9);
            let order: Vec<_> = std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc).collect();
            assert_eq!(order, left, "{params:?}, {behind} behind it");
        }
    }
}

#[test]
fn names_are_unique_and_in_kebab_case() {
    let mut names: Vec<_> = DisciplineName::ALL.iter().map(|name| name.name()).collect();
    let kebab = |name: &str| {
        name.split('-').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    assert!(names.iter().all(|name| kebab(name)), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DisciplineName::ALL.len(), "{names:?}");
}
