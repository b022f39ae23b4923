//! WFQ against the fluid system, for arrivals at any instant.

use celltrain_atm::scheduler::DisciplineName;
use celltrain_engine::{Instant, Slot, quantity::BitRate};
use proptest::prelude::*;

use crate::{
    link::{Case, Event, Kind, Link, Step, case, config},
    model::of,
};

/// A cell at 155.52 Mbit/s.
fn cell() -> Slot {
    Slot::of_bits(424, BitRate(155_520_000))
}

#[test]
fn what_arrives_in_mid_service_counts_from_its_arrival() {
    // While a cell of VC 2 is sent, one of VC 0 comes 0.01 slots after its beginning and a hundred of VC 1 at 0.99.
    // Until then the fluid system serves VC 0 at 100/101 of the link, and what is left of its cell, 0.03, it serves in
    // three slots. If the arrivals counted from the end of the service, VC 0 would have its first hundredth of the
    // link there while VC 1 has a hundred times as much.
    let mut link = Link::new(&of(DisciplineName::Wfq), &[100, 10_000, 1], cell(), 0);
    let hundredths = |count: u64| Instant::start_of(count * cell().ps() / 100);
    link.handle(hundredths(0), Event::Arrival(2, 1));
    link.handle(hundredths(1), Event::Arrival(0, 1));
    (0..100).for_each(|_| link.handle(hundredths(99), Event::Arrival(1, 1)));
    let outcome = link.drain();
    let latest = outcome.lateness().max().unwrap();
    assert!(latest <= outcome.largest, "{} slots late", latest / outcome.largest);
}

proptest! {
    #![proptest_config(config())]

    /// Parekh and Gallager 1993, theorem 1: F_PGPS - F_GPS <= L_max / r.
    #[test]
    fn wfq_is_within_a_largest_unit_of_the_fluid_system(case in case(Just(Kind::Arrival), 250)) {
        let outcome = case.serve(&of(DisciplineName::Wfq));
        prop_assert!(outcome.returned.is_empty());
        outcome.check(case.slack()).map_err(TestCaseError::fail)?;
    }

    /// Their proof needs only that both systems work at the same times, not that they always work.
    #[test]
    fn so_it_is_where_the_link_serves_others_between(
        case in case(prop_oneof![5 => Just(Kind::Arrival), 1 => Just(Kind::Away)], 250),
    ) {
        case.serve(&of(DisciplineName::Wfq)).check(case.slack()).map_err(TestCaseError::fail)?;
    }

    /// And in their proof the fluid system ends all that is sent from a unit with a later end on: the link needs as long as
    /// the fluid system, but for what that did at once.
    #[test]
    fn so_it_is_but_for_what_is_given_back_where_units_are_pushed_out(
        case in case(
            prop_oneof![10 => Just(Kind::Arrival), 3 => Just(Kind::PushOut), 1 => Just(Kind::Away)], 250,
        ),
    ) {
        case.serve(&of(DisciplineName::Wfq)).check(case.slack()).map_err(TestCaseError::fail)?;
    }

    /// What is dropped at the head of a queue is given back as what is pushed out.
    #[test]
    fn so_it_is_where_units_are_dropped_that_go_next(
        case in case(
            prop_oneof![
                10 => Just(Kind::Arrival), 3 => Just(Kind::Drop), 1 => Just(Kind::PushOut), 1 => Just(Kind::Away),
            ],
            250,
        ),
    ) {
        case.serve(&of(DisciplineName::Wfq)).check(case.slack()).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn the_bound_notices_scfq_and_round_robin() {
    // Seven light VCs begin at once. While the first is served, half a slot later, a heavy one begins, to which the fluid
    // system gives most of the link.
    let step = |thousandths, vc| Step { thousandths, fraction: 0, vc, size: 1, kind: Kind::Arrival };
    let light = (0..14).map(|unit| step(0, 1 + unit % 7));
    let steps = light.chain([step(500, 0)]);
    let case = Case {
        weights: vec![100, 1, 1, 1, 1, 1, 1, 1],
        rate: 155_520_000,
        cells: true,
        overhead: 0,
        steps: steps.collect(),
    };
    assert_eq!(case.serve(&of(DisciplineName::Wfq)).check(case.slack()), Ok(()));
    for name in [DisciplineName::Scfq, DisciplineName::RoundRobin, DisciplineName::Fifo] {
        assert!(case.serve(&of(name)).check(case.slack()).is_err(), "{name:?}");
    }
}
