//! What every registered policy must do, whatever arrives; and that the checks notice a policy that does not.

use std::fmt::Debug;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, DiscardParams, Occupancy, Policy, PolicyName, PortContext, PortState, PushOut, Reason,
        Removed, Verdict, View, dfba, double_epd, dynamic_threshold, epd, espd, espd_original, fba,
        frame::EndMarks, per_vc, ppd, red, script, selective_drop, tail_drop, wba,
    },
    catalogue::ParamError,
    cell::Ecn,
    quantity::{Level, Ratio, Unit},
    with_policy,
};
use celltrain_engine::{Time, quantity::Duration};
use proptest::prelude::*;

use crate::model::{Asked, Model, ask, ask_at, context, contracts, erased, guarantees, is_queued};

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
    all.extend(others());
    all
}

/// Other parameters than the defaults of the policies with accounts.
fn others() -> [DiscardParams; 10] {
    use PolicyName as Name;
    let (low, high) = (Level::Share(300_000), Level::Share(700_000));
    let (threshold, scale, end_marks) = (low, Ratio::billionths(1_500_000_000), EndMarks::Always);
    let double_epd = double_epd::Params { low, high, end_marks };
    let per_vc = per_vc::Params { low, high, shared_by: per_vc::SharedBy::Active, end_marks };
    let selective_drop = selective_drop::Params { threshold, scale, end_marks, ecn: false };
    let fba = fba::Params { threshold, scale, end_marks, ecn: false };
    let wba = wba::Params { threshold, scale, end_marks };
    let dfba = dfba::Params { low, high, alpha: Ratio::ONE, scale: Some(scale), end_marks };
    let alpha = Ratio::billionths(500_000_000);
    let dynamic_threshold = dynamic_threshold::Params { alpha, end_marks, ecn: true };
    let red = red::Params { weight: 0.2, ecn: true, end_marks, ..red::Params::default() };
    let rule = "if refused { occupancy < low } else { vc_occupancy * vcs < capacity && !low_priority }";
    let script = script::Params { rule: script::RuleText(rule.to_owned()), low, high, end_marks, ecn: true };
    let (gentle, epd) = (true, Some(high));
    let gentle = red::Params { max: Level::Share(500_000), gentle, epd, ..red.clone() };
    [
        DiscardParams { double_epd, ..DiscardParams::of(Name::DoubleEpd) },
        DiscardParams { per_vc, ..DiscardParams::of(Name::PerVc) },
        DiscardParams { selective_drop, ..DiscardParams::of(Name::SelectiveDrop) },
        DiscardParams { fba, ..DiscardParams::of(Name::Fba) },
        DiscardParams { wba, ..DiscardParams::of(Name::Wba) },
        DiscardParams { dfba, ..DiscardParams::of(Name::Dfba) },
        DiscardParams { dynamic_threshold, ..DiscardParams::of(Name::DynamicThreshold) },
        DiscardParams { red, ..DiscardParams::of(Name::Red) },
        DiscardParams { red: gentle, ..DiscardParams::of(Name::Red) },
        DiscardParams { script, ..DiscardParams::of(Name::Script) },
    ]
}

/// Cells of several VCs from (time since the cell before, VC) and the lengths that the frames of all VCs have in turn;
/// every third frame of the last VCs has CLP = 1, and the transport of the first VC answers marks.
fn cells(steps: &[(u64, u32)], lengths: &[u16]) -> Vec<(u64, Cell)> {
    let first = |vc: u32, frame: u32| Cell {
        vc,
        frame,
        length: lengths[frame as usize % lengths.len()],
        clp: vc >= 2 && frame.is_multiple_of(3),
        ecn: if vc == 0 { Ecn::Capable } else { Ecn::NotCapable },
        ..Cell::default()
    };
    let mut next: Vec<_> = (0..VCS as u32).map(|vc| first(vc, vc)).collect();
    let mut at = 0;
    let step = |&(gap, vc): &(u64, u32)| {
        at += gap;
        let cell = &mut next[vc as usize];
        let arrival = (at, *cell);
        cell.position += 1;
        if cell.position == cell.length {
            *cell = first(vc, cell.frame + 1);
        }
        arrival
    };
    steps.iter().map(step).collect()
}

/// A cell is never accepted into a full buffer, whatever it is that is full.
fn never_overfills(asked: &[Asked]) -> Result<(), String> {
    match asked.iter().find(|asked| is_queued(asked.verdict) && asked.full) {
        Some(asked) => Err(format!("accepted into a full buffer: {asked:?}")),
        None => Ok(()),
    }
}

/// Only the frames of transports that answer marks are marked, all of their cells or none.
fn marks_are_for_the_capable(asked: &[Asked]) -> Result<(), String> {
    let marked = |asked: &&Asked| asked.verdict == Verdict::Mark;
    for (place, mark) in asked.iter().enumerate().filter(|(_, asked)| marked(asked)) {
        let of_frame = |other: &&Asked| (other.cell.vc, other.cell.frame) == (mark.cell.vc, mark.cell.frame);
        let mut before = asked[..place].iter().filter(of_frame);
        if mark.cell.ecn == Ecn::NotCapable || before.any(|other| !marked(&other)) {
            return Err(format!("marked: {mark:?}"));
        }
    }
    Ok(())
}

/// A cell is discarded for a full buffer only if it finds it full, for a refused frame only if the frame was refused at its first cell, and
/// for a broken one only if that was not so and something of the frame was lost before.
fn reasons_are_true(asked: &[Asked]) -> Result<(), String> {
    for (place, lost) in asked.iter().enumerate() {
        let of_frame = |other: &&Asked| (other.cell.vc, other.cell.frame) == (lost.cell.vc, lost.cell.frame);
        let refused = Verdict::Discard(Reason::FrameRefused);
        let first = asked[..=place].iter().find(of_frame).is_some_and(|first| first.verdict == refused);
        let wrong = match lost.verdict {
            Verdict::Discard(Reason::BufferFull) => !lost.full,
            Verdict::Discard(Reason::FrameRefused) => !first,
            Verdict::Discard(Reason::FrameBroken) => first || asked[place].cell.position == 0,
            _ => false,
        };
        if wrong {
            return Err(format!("discarded for no reason: {lost:?}"));
        }
    }
    Ok(())
}

/// Of a frame that has lost a cell nothing more is accepted, but perhaps its end mark.
fn broken_frames_end(asked: &[Asked]) -> Result<(), String> {
    for (place, lost) in asked.iter().enumerate().filter(|(_, asked)| !is_queued(asked.verdict)) {
        let same_frame =
            |other: &&Asked| (other.cell.vc, other.cell.frame) == (lost.cell.vc, lost.cell.frame);
        let mut rest = asked[place..].iter().filter(same_frame);
        if let Some(later) = rest.find(|later| is_queued(later.verdict) && !later.cell.is_last()) {
            return Err(format!("accepted after a loss in its frame: {later:?}"));
        }
    }
    Ok(())
}

/// Of frames that lost a cell before their last one, `rule` says which end marks are accepted.
fn end_marks_follow(rule: EndMarks, asked: &[Asked]) -> Result<(), String> {
    for (place, last) in asked.iter().enumerate().filter(|(_, asked)| asked.cell.is_last()) {
        let of_frame = |other: &&Asked| (other.cell.vc, other.cell.frame) == (last.cell.vc, last.cell.frame);
        let before = || asked[..place].iter().filter(of_frame);
        // The frame was whole, or whole until it was pushed out.
        if before().all(|other| is_queued(other.verdict))
            || last.verdict == Verdict::Discard(Reason::PushedOut)
        {
            continue;
        }
        let passes = match rule {
            EndMarks::Broken => before().any(|other| is_queued(other.verdict)),
            EndMarks::Always => true,
            EndMarks::Never => false,
        };
        if is_queued(last.verdict) != (passes && !last.full) {
            return Err(format!("an end mark against the rule {rule:?}: {last:?}"));
        }
    }
    Ok(())
}

/// What notes on a scenario rest on.
#[test]
fn a_policy_with_the_key_ecn_says_what_it_is() {
    for &policy in PolicyName::ALL {
        let has_key = policy.info().schema.get("properties").is_some_and(|keys| keys.get("ecn").is_some());
        assert_eq!(DiscardParams::of(policy).ecn(), has_key.then_some(false), "{policy:?}");
        if has_key {
            let name = policy.name();
            let told: DiscardParams =
                toml::from_str(&format!("policy = \"{name}\"\n{name}.ecn = true")).unwrap();
            assert_eq!(told.ecn(), Some(true), "{policy:?}");
        }
    }
}

/// Every policy with each rule for end marks that it can follow.
fn rules() -> Vec<(EndMarks, DiscardParams)> {
    let mut all = Vec::new();
    for &policy in PolicyName::ALL {
        let (name, params) = (policy.name(), DiscardParams::of(policy));
        if policy.info().schema.get("properties").is_some_and(|keys| keys.get("end-marks").is_some()) {
            for (rule, value) in
                [(EndMarks::Broken, "broken"), (EndMarks::Always, "always"), (EndMarks::Never, "never")]
            {
                let text = format!("policy = \"{name}\"\n{name}.end-marks = \"{value}\"");
                all.push((rule, toml::from_str(&text).unwrap()));
            }
            continue;
        }
        match policy {
            // ESPD has the rule in its pseudocode.
            PolicyName::Espd | PolicyName::EspdOriginal => all.push((EndMarks::Always, params)),
            PolicyName::TailDrop => {}
            // The rule of frame policies that do not name one.
            _ => all.push((EndMarks::Broken, params)),
        }
    }
    all
}

/// After accepting a cell, [`BufferPolicy::accepts_rest`] says whether the policy, asked about every further cell of
/// the frame as long as there is room, would accept it and be afterwards as it was.
fn the_rest_is_accepted<P>(mut policy: P, mut model: Model, arrivals: &[(u64, Cell)]) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let capacity = model.capacity();
    for &(at, cell) in arrivals {
        let verdict = model.arrive(&mut policy, at, cell);
        if is_queued(verdict) && policy.accepts_rest(&cell) {
            rest_of_one(&policy, capacity, at, cell, verdict)?;
        }
    }
    Ok(())
}

fn rest_of_one<P>(policy: &P, capacity: u64, at: u64, cell: Cell, verdict: Verdict<u32>) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let (mut asked, before) = (policy.clone(), format!("{policy:?}"));
    for position in cell.position + 1..cell.length {
        // The fullest buffer that has room, and an empty one: the promise holds for both.
        for occupancy in [capacity - 1, 0] {
            let model = Model::holding(capacity, vec![cell; occupancy as usize]);
            let rest = Cell { position, ..cell };
            let told = erased::<P::Needs>(asked.on_arrival(&rest, &View::new(&model, false), at));
            if told != verdict {
                return Err(format!(
                    "{told:?} for {rest:?} at {occupancy} cells, against the promise after {cell:?}"
                ));
            }
        }
    }
    let after = format!("{asked:?}");
    if before == after { Ok(()) } else { Err(format!("the rest of {cell:?} changed {before} to {after}")) }
}

/// Cells behind an accepted one that find nothing else in the buffer are accepted at once as they would be one after the other.
fn cells_alone_are_accepted_at_once<P>(
    mut policy: P,
    mut model: Model,
    arrivals: &[(u64, Cell)],
) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let empty = Model::new(model.capacity());
    for &(at, cell) in arrivals {
        let verdict = model.arrive(&mut policy, at, cell);
        if !is_queued(verdict) {
            continue;
        }
        let mut asked = policy.clone();
        for count in 1..cell.length - cell.position {
            let next = Cell { position: cell.position + count, ..cell };
            let told = erased::<P::Needs>(asked.on_arrival(&next, &View::new(&empty, false), at));
            let mut at_once = policy.clone();
            let accepts = at_once.accept_rest_alone(&cell, count.into());
            let same = told == verdict && format!("{asked:?}") == format!("{at_once:?}");
            if accepts && !same {
                return Err(format!("{count} cells behind {cell:?} at once: {at_once:?}, and not {asked:?}"));
            }
            if !accepts && format!("{at_once:?}") != format!("{policy:?}") {
                return Err(format!(
                    "{at_once:?} does not accept what is behind {cell:?}, and is not {policy:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Where [`BufferPolicy::passes`] says so, the policy, asked about every cell of the frame as long as there is room, would accept it, and would
/// treat the next frame as if it had not been asked.
fn what_passes_is_accepted<P>(mut policy: P, mut model: Model, arrivals: &[(u64, Cell)]) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let capacity = model.capacity();
    for &(at, cell) in arrivals {
        model.depart(&mut policy, at);
        let (first, occupancy) = (model.view::<P::Needs>(&cell).is_first(), model.occupancy());
        if first && cell.position == 0 && occupancy < capacity && policy.passes(&cell, || occupancy) {
            frame_that_passes(&policy, capacity, occupancy, at, cell)?;
        }
        model.arrive(&mut policy, at, cell);
    }
    Ok(())
}

fn frame_that_passes<P>(policy: &P, capacity: u64, occupancy: u64, at: u64, cell: Cell) -> Result<(), String>
where
    P: BufferPolicy + Clone + Debug,
{
    let ask = |policy: &mut P, cell: Cell, occupancy: u64| {
        let model = Model::holding(capacity, vec![cell; occupancy as usize]);
        erased::<P::Needs>(policy.on_arrival(&cell, &View::new(&model, cell.position == 0), at))
    };
    let mut asked = policy.clone();
    let rest = (1..cell.length).flat_map(|position| [(position, capacity - 1), (position, 0)]);
    for (position, occupancy) in std::iter::once((0, occupancy)).chain(rest) {
        let told = ask(&mut asked, Cell { position, ..cell }, occupancy);
        if told != Verdict::Accept {
            return Err(format!(
                "{told:?} for {cell:?} at {occupancy} cells, against the promise of {policy:?}"
            ));
        }
    }
    let next = |policy: &P, occupancy| {
        let (mut policy, frame) = (policy.clone(), Cell { frame: cell.frame.wrapping_add(1), ..cell });
        (0..cell.length)
            .map(|position| ask(&mut policy, Cell { position, ..frame }, occupancy))
            .collect::<Vec<_>>()
    };
    for occupancy in [0, capacity - 1, capacity] {
        if next(policy, occupancy) != next(&asked, occupancy) {
            return Err(format!(
                "the frame {cell:?} changed the fate of the next, against the promise of {policy:?}"
            ));
        }
    }
    Ok(())
}

/// The rules that hold for all policies.
fn check<P>(policy: &P, model: &Model, arrivals: &[(u64, Cell)]) -> Result<Vec<Asked>, String>
where
    P: BufferPolicy + Clone + Debug,
{
    let asked = ask_at(model.clone(), &mut policy.clone(), arrivals);
    never_overfills(&asked)?;
    marks_are_for_the_capable(&asked)?;
    reasons_are_true(&asked)?;
    the_rest_is_accepted(policy.clone(), model.clone(), arrivals)?;
    cells_alone_are_accepted_at_once(policy.clone(), model.clone(), arrivals)?;
    what_passes_is_accepted(policy.clone(), model.clone(), arrivals)?;
    Ok(asked)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_keeps_the_rules(
        steps in prop::collection::vec((0u64..4, 0u32..VCS as u32), 1..300),
        lengths in prop::collection::vec(1u16..9, 1..6),
        rates in prop::collection::vec(0u64..4, VCS),
        mfs in 1u32..9,
        capacity in 1u64..24,
        limit in 1u64..40,
        unit in prop::sample::select(&[Unit::Cells, Unit::Cells, Unit::Packets, Unit::Bytes][..]),
    ) {
        let mut arrivals = cells(&steps, &lengths);
        let (mut capacity, mut limit) = (capacity, limit);
        if unit != Unit::Cells {
            arrivals.retain(|(_, cell)| cell.is_last());
        }
        if unit == Unit::Bytes {
            // Sizes that are no multiples of a packet's.
            (capacity, limit) = (capacity * 100 + 20, limit * 100);
        }
        let model = Model::limited(capacity, limit, unit);
        let mut contracts = guarantees(&rates);
        contracts.iter_mut().for_each(|contract| contract.mfs = mfs);
        let counts_packets =
            |policy| [PolicyName::VirtualQueuing, PolicyName::ImprovedVirtualQueuing].contains(&policy);
        for params in parameters().into_iter().filter(|params| unit != Unit::Bytes || !counts_packets(params.policy)) {
            let new = || Policy::new(&params, &PortContext { unit, ..context(capacity, &contracts) }).unwrap();
            let asked = with_policy!(&new(), policy => check(policy, &model, &arrivals))
                .map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
            // Tail drop is the one policy that knows of no frames.
            if params.policy != PolicyName::TailDrop {
                broken_frames_end(&asked).map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
            }
            let again = with_policy!(&mut new(), policy => ask_at(model.clone(), policy, &arrivals));
            prop_assert_eq!(asked, again, "{:?}: the same cells, another fate", params);
        }
        let takes = |params: &DiscardParams| unit != Unit::Bytes || !counts_packets(params.policy);
        for (rule, params) in rules().into_iter().filter(|(_, params)| takes(params)) {
            let mut policy = Policy::new(&params, &PortContext { unit, ..context(capacity, &contracts) }).unwrap();
            let asked = with_policy!(&mut policy, policy => ask_at(model.clone(), policy, &arrivals));
            end_marks_follow(rule, &asked)
                .map_err(|broken| TestCaseError::fail(format!("{params:?}: {broken}")))?;
        }
    }

    #[test]
    fn a_packet_and_its_bytes_meet_one_fate(
        steps in prop::collection::vec((0u64..4, 0u32..VCS as u32), 1..300),
        twenties in 1u64..4,
        limit in 1u64..40,
    ) {
        // All packets have 48 bytes. Every threshold is a whole number of them, every VC's part too.
        let (arrivals, capacity) = (cells(&steps, &[1]), 20 * twenties);
        let mut contracts = guarantees(&[1, 1, 0, 2]);
        contracts.iter_mut().for_each(|contract| contract.mfs = 1);
        // Virtual queues count packets, and refuse a buffer of bytes.
        let virtual_queues = [PolicyName::VirtualQueuing, PolicyName::ImprovedVirtualQueuing];
        for params in parameters().into_iter().filter(|params| !virtual_queues.contains(&params.policy)) {
            let fates = |unit, size: u64| {
                let port = PortContext { unit, ..context(size * capacity, &contracts) };
                let mut policy = Policy::new(&params, &port).unwrap();
                let model = Model::limited(size * capacity, size * limit, unit);
                let asked = with_policy!(&mut policy, policy => ask_at(model, policy, &arrivals));
                asked.iter().map(|asked| asked.verdict).collect::<Vec<_>>()
            };
            prop_assert_eq!(fates(Unit::Packets, 1), fates(Unit::Bytes, 48), "{:?}", params.policy);
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
            type Needs = Occupancy;

            const SUMMARY: &'static str = "Breaks a rule.";
            const REFERENCE: &'static str = "none";

            fn new(_: &Self::Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
                Ok(Self)
            }

            fn on_arrival<S: PortState>(&mut self, _: &Cell, $port: &View<'_, Occupancy, S>, _: Time) -> Verdict {
                $verdict
            }

            fn accepts_rest(&self, _: &Cell) -> bool {
                true
            }

            fn passes(&self, _: &Cell, _: impl FnOnce() -> u64) -> bool {
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

broken_policy! {
    /// Marks whatever there is room for.
    Marker, |port| if port.is_full() { Verdict::Discard(Reason::BufferFull) } else { Verdict::Mark }
}

/// Pushes out the last frame of any other VC when the buffer is full; `FORGETS` what is still to come of it, or
/// discards it.
#[derive(Debug, Clone, Default)]
struct Pushy<const FORGETS: bool> {
    broken: [bool; VCS],
}

impl<const FORGETS: bool> BufferPolicy for Pushy<FORGETS> {
    type Params = tail_drop::Params;
    type Needs = PushOut;

    const SUMMARY: &'static str = "Pushes out.";
    const REFERENCE: &'static str = "none";

    fn new(_: &Self::Params, _: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self::default())
    }

    fn on_arrival<S: PortState>(
        &mut self,
        cell: &Cell,
        port: &View<'_, PushOut, S>,
        _: Time,
    ) -> Verdict<u32> {
        let broken = &mut self.broken[cell.vc as usize];
        *broken &= !port.is_first();
        if *broken {
            return Verdict::Discard(Reason::FrameBroken);
        }
        if !port.is_full() {
            return Verdict::Accept;
        }
        match (0..VCS as u32).find(|&vc| vc != cell.vc && port.last_frame(vc).is_some()) {
            Some(vc) => Verdict::PushOut(vc),
            None => {
                *broken = true;
                Verdict::Discard(Reason::BufferFull)
            }
        }
    }

    fn on_push_out(&mut self, removed: Removed) {
        self.broken[removed.vc as usize] = !removed.complete && !FORGETS;
    }
}

/// Three VCs take turns, two cells a slot: every buffer overflows, and each VC loses a cell now and then.
fn overload() -> Vec<(u64, Cell)> {
    let steps: Vec<_> = (0..200).map(|step| (1, step % 3)).collect();
    cells(&steps, &[5, 7])
}

#[test]
fn the_checks_notice_a_policy_that_breaks_them() {
    let (capacity, arrivals) = (10, overload());
    let overfilled = never_overfills(&ask(&mut Careless, capacity, &arrivals)).unwrap_err();
    assert!(overfilled.starts_with("accepted into a full buffer"), "{overfilled}");
    let reason = reasons_are_true(&ask(&mut Fickle, capacity, &arrivals)).unwrap_err();
    assert!(reason.starts_with("discarded for no reason"), "{reason}");
    let mark = marks_are_for_the_capable(&ask(&mut Marker, capacity, &arrivals)).unwrap_err();
    assert!(mark.starts_with("marked"), "{mark}");
    let promise = the_rest_is_accepted(Fickle, Model::new(capacity), &arrivals).unwrap_err();
    assert!(promise.contains("against the promise"), "{promise}");
    let promise = what_passes_is_accepted(Fickle, Model::new(capacity), &arrivals).unwrap_err();
    assert!(promise.contains("against the promise"), "{promise}");
    for (rule, other) in [
        (EndMarks::Broken, EndMarks::Always),
        (EndMarks::Always, EndMarks::Never),
        (EndMarks::Never, EndMarks::Always),
    ] {
        let params =
            epd::Params { threshold: Level::Share(400_000), end_marks: rule, ..epd::Params::default() };
        let mut epd = epd::Epd::new(&params, &context(capacity, &contracts(VCS))).unwrap();
        let asked = ask(&mut epd, capacity, &arrivals);
        end_marks_follow(rule, &asked).unwrap();
        let mark = end_marks_follow(other, &asked).unwrap_err();
        assert!(mark.starts_with("an end mark against the rule"), "{mark}");
    }
    // What tail drop is allowed to do is what the rule for frames forbids.
    let broken = broken_frames_end(&ask(&mut tail_drop::TailDrop, capacity, &arrivals)).unwrap_err();
    assert!(broken.starts_with("accepted after a loss"), "{broken}");
}

#[test]
fn the_model_pushes_out_whole_frames() {
    let asked = ask(&mut Pushy::<false>::default(), 10, &overload());
    let pushed_out = asked.iter().filter(|asked| asked.verdict == Verdict::Discard(Reason::PushedOut));
    assert!(pushed_out.count() > 20, "{asked:?}");
    never_overfills(&asked).unwrap();
    broken_frames_end(&asked).unwrap();
    let forgotten = broken_frames_end(&ask(&mut Pushy::<true>::default(), 10, &overload())).unwrap_err();
    assert!(forgotten.starts_with("accepted after a loss"), "{forgotten}");
}

#[test]
fn the_overload_makes_every_policy_discard() {
    let contracts = contracts(VCS);
    for params in parameters() {
        let mut policy = Policy::new(&params, &context(10, &contracts)).unwrap();
        let asked = with_policy!(&mut policy, policy => ask(policy, 10, &overload()));
        let discarded = asked.iter().filter(|asked| !is_queued(asked.verdict)).count();
        assert!((50..200).contains(&discarded), "{params:?} discards {discarded} of 200 cells");
    }
}
