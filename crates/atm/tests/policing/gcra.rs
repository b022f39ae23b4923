//! The GCRA in the form of virtual scheduling, which the crate has, against the form of the leaky bucket.

use celltrain_atm::{
    Cell,
    contract::{Contract, Policing},
    policing::{Action, Policer, gcra::Gcra},
    quantity::CellRate,
};
use celltrain_engine::{Instant, Slot, quantity::BitRate};
use proptest::prelude::*;

/// GCRA(T, L) as a continuous-state leaky bucket: it drains by one for each unit of time, each conforming cell pours T
/// into it, and a cell that finds more than L in it does not conform.
#[derive(Debug, Default)]
struct LeakyBucket {
    content: u64,
    last: u64,
}

impl LeakyBucket {
    fn conforms(&mut self, increment: u64, limit: u64, now: u64) -> bool {
        let left = self.content.saturating_sub(now - self.last);
        let conforms = left <= limit;
        if conforms {
            (self.content, self.last) = (left + increment, now);
        }
        conforms
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_forms_agree(gaps in prop::collection::vec(0u64..30, 1..200), increment in 1u64..20, limit in 0u64..60) {
        let (mut schedule, mut bucket) = (Gcra::new(Slot::of_ps(increment), limit), LeakyBucket::default());
        let mut now = 0;
        for gap in gaps {
            now += gap;
            let conforms = bucket.conforms(increment, limit, now);
            prop_assert_eq!(schedule.conforms(Instant::start_of(now)), conforms, "at {}", now);
        }
    }

    #[test]
    fn the_rate_itself_conforms_for_ever(rate in 1_000u64..1_000_000_000, start in 0u64..1_000_000_000) {
        let slot = Slot::of_bits(424, BitRate(rate));
        let (mut gcra, mut now) = (Gcra::new(slot, 0), Instant::at(start));
        for cell in 0..10_000 {
            prop_assert!(gcra.conforms(now), "cell {}", cell);
            now = now.plus(slot);
        }
        // One that comes a picosecond early does not.
        prop_assert!(gcra.conforms(now));
        let early = Instant::at(now.plus(slot).ps() - 2);
        prop_assert!(!gcra.conforms(early));
    }
}

#[test]
fn policing_by_cells_discards_what_is_beyond_the_peak_rate() {
    let (line, peak) = (BitRate(100_000_000), BitRate(25_000_000));
    let contract =
        Contract { pcr: Some(CellRate(peak)), policing: Policing::DiscardCells, ..Contract::default() };
    let mut policer = Policer::new(&contract, line).unwrap();
    let slot = Slot::of_bits(424, line);
    let cell = |position| Cell { position, length: 8, ..Cell::default() };
    let action = |slots: u64| {
        let cell = cell((slots % 8) as u16);
        policer.conform(&cell, Instant::at(7).plus_slots(slot, slots))
    };
    // Back to back on a line four times as fast: one of four conforms.
    let actions: Vec<_> = (0..800).map(action).collect();
    let expected = |slots: usize| if slots.is_multiple_of(4) { Action::Pass } else { Action::Discard };
    assert_eq!(actions, (0..800).map(expected).collect::<Vec<_>>());
    let stats = policer.stats();
    assert_eq!((stats.cells_conforming, stats.cells_non_conforming), (200, 600));
}

/// What a policer under `contract` makes of cells of priority `clp` in the given slots of a line of 100 Mbit/s.
fn actions(contract: &Contract, clp: bool, slots: impl IntoIterator<Item = u64>) -> Vec<Action> {
    let line = BitRate(100_000_000);
    assert_eq!(contract.check(line), Ok(()));
    let mut policer = Policer::new(contract, line).unwrap();
    let slot = Slot::of_bits(424, line);
    let cell = Cell { length: 1, clp, ..Cell::default() };
    slots.into_iter().map(|number| policer.conform(&cell, Instant::at(7).plus_slots(slot, number))).collect()
}

/// PCR half of the line, SCR a tenth of it, bursts of four cells.
fn variable(policing: Policing) -> Contract {
    Contract {
        pcr: Some(CellRate(BitRate(50_000_000))),
        scr: Some(CellRate(BitRate(10_000_000))),
        mbs: 4,
        policing,
        ..Contract::default()
    }
}

/// TM 4.1: with BT = (MBS - 1)(1/SCR - 1/PCR) a burst of MBS cells at PCR conforms to GCRA(1/SCR, BT), and in the long run one cell in
/// 1/SCR does.
#[test]
fn a_burst_of_the_maximum_size_conforms_and_no_cell_more() {
    use Action::{Discard, Pass, Tag};
    for (policing, beyond) in [(Policing::DiscardCells, Discard), (Policing::TagCells, Tag)] {
        let burst = actions(&variable(policing), false, (0..6).map(|cell| 2 * cell));
        assert_eq!(burst, [Pass, Pass, Pass, Pass, beyond, beyond]);
        // The bucket is empty again MBS/SCR after the burst began.
        let again = (0..4).map(|cell| 2 * cell).chain((0..5).map(|cell| 40 + 2 * cell));
        assert_eq!(actions(&variable(policing), false, again)[4..], [Pass, Pass, Pass, Pass, beyond]);
        // Of a source that keeps sending at the peak rate, one cell in five passes once the burst is used up.
        let all = actions(&variable(policing), false, (0..1000).map(|cell| 2 * cell));
        let passed = all.iter().filter(|&&action| action == Pass).count();
        assert_eq!(passed, 4 + (1998 - 6) / 10);
        assert_eq!(all.iter().filter(|&&action| action == beyond).count(), 1000 - passed);
    }
}

/// A cell conforms that comes exactly as early as the limit allows (TM 4.1: X1 <= L). Here many do: in units of a fifteenth of a microsecond
/// cells come every 159, 1/SCR is 212 and 1/PCR is 106, so that the limit is 9 (212 - 106). The bucket in whole numbers says which.
#[test]
fn cells_at_the_limit_conform() {
    let (interval, increment, limit) = (159, 212, 9 * (212 - 106));
    let mut bucket = LeakyBucket::default();
    let by_bucket: Vec<_> =
        (0..2000).map(|cell| bucket.conforms(increment, limit, cell * interval)).collect();
    let contract = Contract {
        pcr: Some(CellRate(BitRate(60_000_000))),
        scr: Some(CellRate(BitRate(30_000_000))),
        mbs: 10,
        policing: Policing::TagCells,
        ..Contract::default()
    };
    let mut policer = Policer::new(&contract, BitRate(155_520_000)).unwrap();
    let (cell, slot) = (Cell { length: 1, ..Cell::default() }, Slot::of_bits(424, BitRate(40_000_000)));
    for (number, conforms) in (0..).zip(by_bucket) {
        let action = policer.conform(&cell, Instant::at(7).plus_slots(slot, number));
        assert_eq!(action == Action::Pass, conforms, "cell {number}");
    }
}

/// A cell beyond the peak rate is discarded, whatever the sustainable rate has left, and counts for neither.
#[test]
fn the_peak_rate_comes_first() {
    use Action::{Discard, Pass, Tag};
    for (policing, beyond) in [(Policing::DiscardCells, Discard), (Policing::TagCells, Tag)] {
        let doubled = actions(&variable(policing), false, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(doubled, [Pass, Discard, Pass, Discard, Pass, Discard, Pass, Discard, beyond]);
    }
}

/// A tagged cell counts for the peak rate: the one right behind it is too early. A discarded cell does not.
#[test]
fn tagged_cells_count_for_the_peak_rate() {
    use Action::{Discard, Pass, Tag};
    let contract = |policing| Contract { mbs: 1, ..variable(policing) };
    assert_eq!(actions(&contract(Policing::TagCells), false, [0, 2, 3, 4]), [Pass, Tag, Discard, Tag]);
    assert_eq!(
        actions(&contract(Policing::DiscardCells), false, [0, 9, 10, 11]),
        [Pass, Discard, Pass, Discard]
    );
}

/// VBR.3: the sustainable rate is that of the cells with CLP = 0; VBR.1: of all.
#[test]
fn cells_that_the_user_marks_are_none_of_the_rate_beyond_which_cells_are_tagged() {
    let marked = |policing| actions(&variable(policing), true, (0..100).map(|cell| 2 * cell));
    assert!(marked(Policing::TagCells).iter().all(|&action| action == Action::Pass));
    assert!(marked(Policing::DiscardCells).contains(&Action::Discard));
}
