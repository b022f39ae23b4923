//! The GCRA in the form of virtual scheduling, which the crate has, against the form of the leaky bucket.

use celltrain_atm::{
    Cell,
    contract::{Contract, Policing},
    policing::{Action, Policer, gcra::Gcra},
    quantity::CellRate,
};
use celltrain_engine::{Instant, Slot, quantity::BitRate};
use proptest::{prelude::*, test_runner::RngSeed};

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
        rng_seed: RngSeed::Fixed(1),
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
