//! Strict priority between categories, and what disciplines see of them.

use celltrain_atm::{
    contract::{Category, Contract},
    quantity::CellRate,
    scheduler::{DisciplineName, Priority, SchedulerParams, Share, scfq},
};
use celltrain_engine::quantity::BitRate;
use proptest::prelude::*;

use crate::model::{Port, discipline, of, service};

const CATEGORIES: [Category; 5] = [Category::Ubr, Category::Cbr, Category::Gfr, Category::Cbr, Category::Ubr];

fn contracts() -> Vec<Contract> {
    CATEGORIES.iter().map(|&category| Contract { category, ..Contract::default() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_category_is_served_while_one_before_it_waits(
        steps in prop::collection::vec((0u32..5, any::<bool>()), 1..200),
    ) {
        for &name in DisciplineName::ALL {
            let mut port = Port::new(Priority::new(&of(name), &contracts(), service()).unwrap(), CATEGORIES.len());
            for &(vc, send) in &steps {
                if !send {
                    port.enqueue(vc, 1);
                    continue;
                }
                let waiting = std::iter::zip(&port.store.0, CATEGORIES).filter(|(units, _)| !units.is_empty());
                let most_urgent = waiting.map(|(_, category)| category).min();
                let sent = port.next().map_err(TestCaseError::fail)?;
                prop_assert_eq!(sent.map(|(vc, _)| CATEGORIES[vc as usize]), most_urgent, "{:?}", name);
            }
        }
    }
}

#[test]
fn round_robin_alone_knows_of_no_categories() {
    // Shows that the property above is the doing of `Priority`: without it a UBR cell goes before a CBR cell.
    let one_category = vec![Contract::default(); CATEGORIES.len()];
    let mut port = Port::new(discipline(&of(DisciplineName::RoundRobin), &one_category), CATEGORIES.len());
    port.enqueue(0, 1);
    port.enqueue(1, 1);
    assert_eq!(port.next(), Ok(Some((0, 1))));
}

#[test]
fn shares_are_those_of_a_category() {
    // The GFR VC has a minimum rate; that the others have none matters only to them, who share equally.
    let mut contracts = contracts();
    contracts[2].mcr = Some(CellRate(BitRate(10_000_000)));
    let scfq = scfq::Params { share: Share::Mcr };
    let params = SchedulerParams { scfq, ..of(DisciplineName::Scfq) };
    Priority::new(&params, &contracts, service()).unwrap();
    contracts[4].category = Category::Gfr;
    let error = Priority::new(&params, &contracts, service()).unwrap_err();
    assert_eq!(error.key, "share");
    assert!(
        error.message.starts_with("VC 4 has no minimum cell rate while VC 2 has one"),
        "{}",
        error.message
    );
}

/// Of several categories, those are found empty that have nothing when the link looks; the search ends at what it serves.
#[test]
fn categories_are_found_empty_up_to_the_one_that_is_served() {
    for &name in DisciplineName::ALL {
        let mut port =
            Port::new(Priority::new(&of(name), &contracts(), service()).unwrap(), CATEGORIES.len());
        // VCs of CBR, GFR and UBR.
        let empty = |port: &Port<Priority>| [1, 2, 0].map(|vc| port.scheduler.empty_looks(vc));
        (0..2).for_each(|_| port.enqueue(2, 1));
        port.enqueue(0, 1);
        for expected in [[1, 0, 0], [2, 0, 0], [3, 1, 0], [4, 2, 1]] {
            port.next().unwrap();
            assert_eq!(empty(&port), expected, "{name:?}");
        }
        port.scheduler.look_in_vain();
        assert_eq!(empty(&port), [5, 3, 2], "{name:?}");
    }
    let alone = vec![Contract::default(); 2];
    let mut port = Port::new(Priority::new(&of(DisciplineName::Fifo), &alone, service()).unwrap(), 2);
    port.next().unwrap();
    port.scheduler.look_in_vain();
    assert_eq!(port.scheduler.empty_looks(1), 0, "all are of one category");
}
