//! Policing by frames: eligibility, tags, and frames that do not conform.

use celltrain_atm::{
    Cell,
    cell::Kind,
    contract::{Contract, Policing},
    policing::{Action, Policer, Stats},
    quantity::CellRate,
};
use celltrain_engine::{
    Instant, Slot,
    quantity::{BitRate, Duration},
};
use proptest::prelude::*;

const LINE: BitRate = BitRate(150_000_000);
const MCR: BitRate = BitRate(10_000_000);

fn contract(mfs: u32, mbs: u32, policing: Policing) -> Contract {
    Contract { mcr: Some(CellRate(MCR)), mfs, mbs, policing, ..Contract::default() }
}

/// What becomes of the cells of a frame whose cell number n has the priority `clp(n)` and comes `slot` after the one
/// before, from `start` on; the end.
fn send(
    policer: &mut Policer,
    length: u16,
    clp: impl Fn(u16) -> bool,
    start: Instant,
    slot: Slot,
) -> Vec<Action> {
    let cell = |position| Cell { position, length, clp: clp(position), ..Cell::default() };
    (0..length)
        .map(|position| policer.conform(&cell(position), start.plus_slots(slot, position.into())))
        .collect()
}

/// Frames of `length` cells at the constant rate `rate`: what becomes of each, all of whose cells must meet the same
/// fate.
fn constant_rate(policer: &mut Policer, rate: BitRate, length: u16, frames: u64) -> Vec<Action> {
    let slot = Slot::of_bits(424, rate);
    let frame = |number: u64| {
        let start = Instant::at(0).plus_slots(slot, number * u64::from(length));
        let actions = send(policer, length, |_| false, start, slot);
        assert!(actions.iter().all(|&action| action == actions[0]), "frame {number}: {actions:?}");
        actions[0]
    };
    (0..frames).map(frame).collect()
}

fn count(actions: &[Action], action: Action) -> usize {
    actions.iter().filter(|&&other| other == action).count()
}

#[test]
fn a_constant_rate_is_eligible_up_to_the_minimum_rate_and_in_proportion_beyond() {
    for (policing, beyond) in [(Policing::Tag, Action::Tag), (Policing::DiscardFrames, Action::Discard)] {
        // No burst is tolerated: MBS = 1.
        let new = |mbs| Policer::new(&contract(32, mbs, policing), LINE).unwrap();
        assert_eq!(count(&constant_rate(&mut new(1), MCR, 32, 10_000), beyond), 0);
        let mut policer = new(1);
        let double = constant_rate(&mut policer, BitRate(2 * MCR.0), 32, 10_000);
        let expected = |frame: usize| if frame.is_multiple_of(2) { Action::Pass } else { beyond };
        assert_eq!(double, (0..10_000).map(expected).collect::<Vec<_>>());
        let (tagged, discarded) = if beyond == Action::Tag { (5000, 0) } else { (0, 5000) };
        let stats = Stats {
            frames_eligible: 5000,
            frames_tagged: tagged,
            frames_discarded: discarded,
            cells_conforming: 320_000,
            cells_non_conforming: 0,
            cells_tagged: 32 * tagged,
        };
        assert_eq!(policer.stats(), stats);
        let triple = constant_rate(&mut new(1), BitRate(3 * MCR.0), 32, 9_000);
        assert_eq!(count(&triple, Action::Pass), 3000);
    }
}

#[test]
fn a_burst_passes_as_long_as_its_tolerance() {
    // Frames of 10 cells back to back at the rate of the line, 15 times the minimum rate: in slots of the line T = 15
    // and, for MBS = 40, L = 39 * 14 = 546. Cells are expected at 600 after four frames: 560 slots too early for the
    // fifth, 550 for the sixth, 540 for the seventh.
    let mut policer = Policer::new(&contract(10, 40, Policing::Tag), LINE).unwrap();
    let (pass, tag) = (Action::Pass, Action::Tag);
    assert_eq!(constant_rate(&mut policer, LINE, 10, 8), [pass, pass, pass, pass, tag, tag, pass, tag]);
    // One cell more, L = 560, lets the fifth begin.
    let mut policer = Policer::new(&contract(10, 41, Policing::Tag), LINE).unwrap();
    assert_eq!(constant_rate(&mut policer, LINE, 10, 5), [pass; 5]);
    // So does as much tolerance of delay variation as one cell at the minimum rate takes.
    let cdvt_mcr = Duration(Slot::of_bits(424, MCR).ps());
    let mut policer = Policer::new(&Contract { cdvt_mcr, ..contract(10, 40, Policing::Tag) }, LINE).unwrap();
    assert_eq!(constant_rate(&mut policer, LINE, 10, 5), [pass; 5]);
}

/// ATM Forum TM 4.1: a cell conforms if it is the last of its frame or the cells of the frame up to it are fewer than the maximum. So a frame of the maximum
/// passes whole, and one that is a cell longer is cut before its last cell, which ends it.
#[test]
fn a_frame_that_is_too_long_is_cut() {
    for (length, discarded) in [(4, vec![]), (5, vec![3]), (6, vec![3, 4])] {
        let mut policer = Policer::new(&contract(4, 100, Policing::Tag), LINE).unwrap();
        let actions = send(&mut policer, length, |_| false, Instant::at(0), Slot::of_bits(424, LINE));
        let found: Vec<_> =
            (0..usize::from(length)).filter(|&place| actions[place] == Action::Discard).collect();
        assert_eq!(found, discarded, "{length} cells");
    }
}

#[test]
fn a_frame_in_every_period_needs_a_burst_of_a_frame_and_a_cell() {
    // A frame of 10 cells every 10 cells' time at the minimum rate, at four times the rate: the first at the end of its
    // period, the second at the beginning. It is 40 - 10 slots too early, and L = 3 (MBS - 1).
    let contract =
        |mbs| Contract { pcr: Some(CellRate(BitRate(4 * MCR.0))), ..contract(10, mbs, Policing::Tag) };
    let slot = Slot::of_bits(424, BitRate(4 * MCR.0));
    for (mbs, fate) in [(11, Action::Pass), (10, Action::Tag)] {
        let mut policer = Policer::new(&contract(mbs), LINE).unwrap();
        let mut at = |start| send(&mut policer, 10, |_| false, Instant::at(0).plus_slots(slot, start), slot);
        assert_eq!((at(30), at(40)), (vec![Action::Pass; 10], vec![fate; 10]), "MBS = {mbs}");
    }
}

#[test]
fn a_frame_beyond_the_maximum_size_is_cut_and_its_end_mark_passes() {
    let slot = Slot::of_bits(424, MCR);
    for policing in [Policing::Tag, Policing::DiscardFrames] {
        let mut policer = Policer::new(&contract(4, 7, policing), LINE).unwrap();
        let cut = send(&mut policer, 7, |_| false, Instant::at(0), slot);
        let (pass, discard) = (Action::Pass, Action::Discard);
        assert_eq!(cut, [pass, pass, pass, discard, discard, discard, pass]);
        assert_eq!((policer.stats().cells_conforming, policer.stats().cells_non_conforming), (4, 3));
        let next = send(&mut policer, 4, |_| false, Instant::at(0).plus_slots(slot, 7), slot);
        assert_eq!(next, [pass; 4]);
    }
}

#[test]
fn a_change_of_priority_ends_a_frame() {
    let mut policer = Policer::new(&contract(32, 63, Policing::Tag), LINE).unwrap();
    let actions = send(&mut policer, 5, |cell| cell == 2, Instant::at(0), Slot::of_bits(424, MCR));
    assert_eq!(actions, [Action::Pass, Action::Pass, Action::Discard, Action::Discard, Action::Pass]);
}

#[test]
fn a_frame_that_begins_beyond_the_peak_rate_is_discarded_whole() {
    let peak = BitRate(50_000_000);
    let contract = Contract { pcr: Some(CellRate(peak)), ..contract(32, 63, Policing::Tag) };
    let mut policer = Policer::new(&contract, LINE).unwrap();
    let (peak, line) = (Slot::of_bits(424, peak), Slot::of_bits(424, LINE));
    assert_eq!(send(&mut policer, 2, |_| false, Instant::at(0), peak), [Action::Pass; 2]);
    let early = Instant::at(0).plus(peak).plus(line);
    assert_eq!(send(&mut policer, 3, |_| false, early, peak), [Action::Discard; 3]);
    assert_eq!(policer.stats().frames_discarded, 1);
}

#[test]
fn frames_that_the_user_marks_have_no_part_in_the_guarantee() {
    let slot = Slot::of_bits(424, LINE);
    for (policing, fate) in [(Policing::Tag, Action::Pass), (Policing::DiscardFrames, Action::Discard)] {
        let mut policer = Policer::new(&contract(10, 10, policing), LINE).unwrap();
        for frame in 0..20 {
            let start = Instant::at(0).plus_slots(slot, frame * 10);
            assert_eq!(send(&mut policer, 10, |_| true, start, slot), [fate; 10]);
        }
        // They have used none of it up.
        let next = send(&mut policer, 10, |_| false, Instant::at(0).plus_slots(slot, 200), slot);
        assert_eq!(next, [Action::Pass; 10]);
        let stats = policer.stats();
        assert_eq!((stats.frames_eligible, stats.frames_tagged), (1, 0));
    }
}

#[test]
fn cells_of_resource_management_pass_unseen() {
    let mut policer = Policer::new(&contract(2, 3, Policing::DiscardFrames), LINE).unwrap();
    let management = Cell { kind: Kind::ForwardRm, length: 1, ..Cell::default() };
    for _ in 0..100 {
        assert_eq!(policer.conform(&management, Instant::at(0)), Action::Pass);
    }
    assert_eq!(policer.stats(), Stats::default());
}

/// F-GCRA as a leaky bucket, in slots of the line. It says for each cell whether its frame is eligible.
#[derive(Debug, Default)]
struct FrameBucket {
    content: u64,
    last: u64,
    pass: bool,
}

impl FrameBucket {
    fn eligible(&mut self, increment: u64, limit: u64, cell: &Cell, now: u64) -> bool {
        let left = self.content.saturating_sub(now - self.last);
        if cell.position == 0 {
            self.pass = left <= limit && !cell.clp;
        }
        if self.pass {
            (self.content, self.last) = (left + increment, now);
        }
        self.pass
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn frames_of_the_maximum_size_at_the_minimum_rate_are_eligible(
        mfs in 2u16..100,
        ratio in prop::sample::select(vec![1u64, 2, 4, 5, 8, 10]),
        places in prop::collection::vec(0u64..=1000, 1..100),
    ) {
        // A frame in every period that its cells take at the minimum rate, at the peak rate and anywhere in the period;
        // MBS = 2 MFS - 1.
        let peak = BitRate(MCR.0 * ratio);
        let contract = contract(mfs.into(), 2 * u32::from(mfs) - 1, Policing::Tag);
        let mut policer = Policer::new(&Contract { pcr: Some(CellRate(peak)), ..contract }, LINE).unwrap();
        let (slot, cells) = (Slot::of_bits(424, peak), u64::from(mfs));
        for (period, place) in (0..).zip(places) {
            let slots = period * cells * ratio + place * cells * (ratio - 1) / 1000;
            let actions = send(&mut policer, mfs, |_| false, Instant::at(0).plus_slots(slot, slots), slot);
            prop_assert_eq!(actions, vec![Action::Pass; mfs.into()], "period {}", period);
        }
    }

    #[test]
    fn both_forms_of_the_frame_based_algorithm_agree(
        frames in prop::collection::vec((1u16..20, 0u64..200, any::<bool>()), 1..100), mbs in 1u32..60,
    ) {
        // The line is 4 times as fast as the minimum rate: in slots of the line T = 4, and L = (MBS - 1)(4 - 1).
        let line = BitRate(4_000_000);
        let contract = Contract {
            mcr: Some(CellRate(BitRate(1_000_000))),
            ..contract(20, mbs, Policing::DiscardFrames)
        };
        let (mut policer, mut bucket) = (Policer::new(&contract, line).unwrap(), FrameBucket::default());
        let (slot, mut slots) = (Slot::of_bits(424, line), 0);
        for (length, idle, clp) in frames {
            slots += idle;
            let actions = send(&mut policer, length, |_| clp, Instant::at(0).plus_slots(slot, slots), slot);
            for (position, action) in (0..length).zip(actions) {
                let cell = Cell { position, length, clp, ..Cell::default() };
                let eligible = bucket.eligible(4, u64::from(mbs - 1) * 3, &cell, slots);
                prop_assert_eq!(action == Action::Pass, eligible, "slot {}", slots);
                slots += 1;
            }
        }
    }
}
