//! What every registered policy must do, whatever arrives; and that the checks notice a policy that does not.

use std::fmt::Debug;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, DiscardParams, ParamError, Policy, PolicyName, PortContext, PortView, Reason, Verdict,
        epd, espd, espd_original, frame::EndMarks, ppd, tail_drop,
    },
    quantity::Level,
    with_policy,
};
use celltrain_engine::{Time, quantity::Duration};
use proptest::{prelude::*, test_runner::RngSeed};

use crate::model::{Asked, View, ask, context};

/// VCs in every test.
const VCS: usize = 4;

/// Every policy with its default parameters, and those that have parameters with other ones too.
fn parameters() -> Vec<DiscardParams> {
    let mut all: Vec<_> = PolicyName::ALL.iter().map(|&name| DiscardParams::of(name)).collect();
    for end_marks in [EndMarks::Broken, EndMarks::Always, EndMarks::Never] {
        let epd = epd::Params { threshold: Level::Share(400_000), end_marks, ..epd::Params::default() };
        all.push(DiscardParams { epd, ..DiscardParams::of(PolicyName::Epd) });
        all.push(DiscardParams { ppd: ppd::Params { end_marks }, ..DiscardParams::of(PolicyName::Ppd) });
    }
    for (high, low) in [(1_000_000, 500_000), (500_000, 500_000), (600_000, 0)] {
        let (high, low) = (Level::Share(high), Level::Share(low));
        let espd = espd::Params { high, low };
        let (drop_timer, red_limit) = (Some(Duration(20)), Some(2));
        let espd_original = espd_original::Params { high, low, drop_timer, red_limit };
        all.push(DiscardParams { espd, ..DiscardParams::of(PolicyName::Espd) });
        all.push(DiscardParams { espd_original, ..DiscardParams::of(PolicyName::EspdOriginal) });
    }
    all
}

/// Cells of several VCs from (time since the cell before, VC) and the lengths that the frames of all VCs have in turn.
fn cells(steps: &[(u64, u32)], lengths: &[u16]) -> Vec<(u64, Cell)> {
    let length = |frame: u32| lengths[frame as usize % lengths.len()];
    let mut next: Vec<_> =
        (0..VCS as u32).map(|vc| Cell { vc, frame: vc, length: length(vc), ..Cell::default() }).collect();
    let mut at = 0;
    let step = |&(gap, vc): &(u64, u32)| {
        at += gap;
        let cell = &mut next[vc as usize];
        let arrival = (at, *cell);
        cell.position += 1;
        if cell.position == cell.length {
            *cell = Cell { vc, frame: cell.frame + 1, length: length(cell.frame + 1), ..Cell::default() };
        }
        arrival
    };
    steps.iter().map(step).collect()
}

/// A cell is never accepted into a full buffer.
fn never_overfills(asked: &[Asked], capacity: u64) -> Result<(), String> {
    match asked.iter().find(|asked| asked.verdict == Verdict::Accept && asked.found >= capacity) {
        Some(asked) => Err(format!("accepted into a buffer of {capacity} cells: {asked:?}")),
        None => Ok(()),
    }
}

/// Of a frame that has lost a cell nothing more is accepted, but perhaps its end mark.
fn broken_frames_end(asked: &[Asked]) -> Result<(), String> {
    for (place, lost) in asked.iter().enumerate().filter(|(_, asked)| asked.verdict != Verdict::Accept) {
        let same_frame =
            |other: &&Asked| (other.cell.vc, other.cell.frame) == (lost.cell.vc, lost.cell.frame);
        let mut rest = asked[place..].iter().filter(same_frame);
        if let Some(later) = rest.find(|later| later.verdict == Verdict::Accept && !later.cell.is_last()) {
            return Err(format!("accepted after a loss in its frame: {later:?}"));
        }
    }
    Ok(())
}

/// After accepting a cell, [`BufferPolicy::accepts_rest`] says whether the policy, asked about every further cell of the
/// frame as long as there is room, would accept it and be afterwards as it was.
fn the_rest_is_accepted<P>(mut policy: P, capacity: u64, arrivals: &[(u64, Cell)]) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let asked = ask(&mut policy.clone(), capacity, arrivals);
    let mut ended = [true; VCS];
    for Asked { at, cell, found, .. } in asked {
        let first = std::mem::replace(&mut ended[cell.vc as usize], cell.is_last());
        let verdict = policy.on_arrival(&cell, &View { capacity, occupancy: found, first }, at);
        if verdict == Verdict::Accept && policy.accepts_rest(&cell) {
            rest_of_one(&policy, capacity, at, cell)?;
        }
    }
    Ok(())
}

fn rest_of_one<P>(policy: &P, capacity: u64, at: u64, cell: Cell) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let (mut asked, before) = (policy.clone(), format!("{policy:?}"));
    for position in cell.position + 1..cell.length {
        // The fullest buffer that has room, and an empty one: the promise holds for both.
        for occupancy in [capacity - 1, 0] {
            let rest = Cell { position, ..cell };
            let verdict = asked.on_arrival(&rest, &View { capacity, occupancy, first: false }, at);
            if verdict != Verdict::Accept {
                return Err(format!(
                    "{verdict:?} for {rest:?} at {occupancy} cells, against the promise after {cell:?}"
                ));
            }
        }
    }
    let after = format!("{asked:?}");
    if before == after { Ok(()) } else { Err(format!("the rest of {cell:?} changed {before} to {after}")) }
}

/// The rules that hold for all policies.
fn check<P>(policy: &P, capacity: u64, arrivals: &[(u64, Cell)]) -> Result<Vec<Asked>, String>
where
    P: BufferPolicy + Clone + Debug,
{
    let asked = ask(&mut policy.clone(), capacity, arrivals);
    never_overfills(&asked, capacity)?;
    the_rest_is_accepted(policy.clone(), capacity, arrivals)?;
    Ok(asked)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_keeps_the_rules(
        steps in prop::collection::vec((0u64..4, 0u32..VCS as u32), 1..300),
        lengths in prop::collection::vec(1u16..9, 1..6),
        capacity in 2u64..24,
    ) {
        let arrivals = cells(&steps, &lengths);
        for params in parameters() {
            let new = || Policy::new(&params, &context(capacity, VCS)).unwrap();
            let asked = with_policy!(&new(), policy => check(policy, capacity, &arrivals))
                .map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
            // Tail drop is the one policy that knows of no frames.
            if params.policy != PolicyName::TailDrop {
                broken_frames_end(&asked).map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
            }
            let again = with_policy!(&mut new(), policy => ask(policy, capacity, &arrivals));
            prop_assert_eq!(asked, again, "{:?}: the same cells, another fate", params);
        }
    }
}

/// Breaks one rule each, to show that the checks see it.
macro_rules! broken_policy {
    ($(#[$doc:meta])* $name:ident, |$port:ident| $verdict:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        struct $name;

        impl BufferPolicy for $name {
            type Params = tail_drop::Params;

            const SUMMARY: &'static str = "Breaks a rule.";
            const REFERENCE: &'static str = "none";

            fn new(_: &Self::Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
                Ok(Self)
            }

            fn on_arrival(&mut self, _: &Cell, $port: &impl PortView, _: Time) -> Verdict {
                $verdict
            }

            fn accepts_rest(&self, _: &Cell) -> bool {
                true
            }
        }
    };
}

broken_policy! {
    /// Does not look at the buffer.
    Careless, |_port| Verdict::Accept
}

broken_policy! {
    /// Says that the rest of a frame is accepted, and then looks at the occupancy all the same.
    Fickle, |port| if port.occupancy() * 2 >= port.capacity() { Verdict::Discard(Reason::BufferFull) } else { Verdict::Accept }
}

/// Three VCs take turns, two cells a slot: every buffer overflows, and each VC loses a cell now and then.
fn overload() -> Vec<(u64, Cell)> {
    let steps: Vec<_> = (0..200).map(|step| (1, step % 3)).collect();
    cells(&steps, &[5, 7])
}

#[test]
fn the_checks_notice_a_policy_that_breaks_them() {
    let (capacity, arrivals) = (10, overload());
    let overfilled = never_overfills(&ask(&mut Careless, capacity, &arrivals), capacity).unwrap_err();
    assert!(overfilled.starts_with("accepted into a buffer of 10 cells"), "{overfilled}");
    let promise = the_rest_is_accepted(Fickle, capacity, &arrivals).unwrap_err();
    assert!(promise.contains("against the promise"), "{promise}");
    // What tail drop is allowed to do is what the rule for frames forbids.
    let broken = broken_frames_end(&ask(&mut tail_drop::TailDrop, capacity, &arrivals)).unwrap_err();
    assert!(broken.starts_with("accepted after a loss"), "{broken}");
}

#[test]
fn the_overload_makes_every_policy_discard() {
    for params in parameters() {
        let mut policy = Policy::new(&params, &context(10, VCS)).unwrap();
        let asked = with_policy!(&mut policy, policy => ask(policy, 10, &overload()));
        let discarded = asked.iter().filter(|asked| asked.verdict != Verdict::Accept).count();
        assert!((50..200).contains(&discarded), "{params:?} discards {discarded} of 200 cells");
    }
}
