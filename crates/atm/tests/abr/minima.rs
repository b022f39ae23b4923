//! ERICA with minimum rates: each VC gets its own, and an equal share of what is left.

use celltrain_atm::abr::{
    Rate,
    averaging::{self, Activity, LoadAveraging},
    erica::{Params, WithoutInput},
    erica_plus,
};

use crate::erica::{LINK, Switch, near, params};

/// Two VCs, of which the first is promised 40 of the 100 cells in an interval. Before the first interval all four VCs
/// share the other 60 cells.
fn promising(params: &Params) -> Switch<Params> {
    Switch::promising(params, [40_000.0, 0.0, 0.0, 0.0])
}

#[test]
fn a_vc_gets_its_minimum_rate_and_an_equal_share_of_the_rest() {
    let mut switch = promising(&params());
    near(switch.erica.fair_share().cells(), 15_000.0);
    // Above the minimum come 20 cells and 20, with room for 60.
    switch.interval(&[(0, 60_000.0, 60), (1, 20_000.0, 20)], 0);
    near(switch.erica.load_factor(), 40.0 / 60.0);
    near(switch.erica.fair_share().cells(), 30_000.0);
    near(switch.answer(0), 70_000.0);
    near(switch.answer(1), 30_000.0);
    // 48 and 12, with room for 40 besides VBR: under overload rates above the minimum fall by the load, to the fair share.
    switch.interval(&[(0, 88_000.0, 88), (1, 12_000.0, 12)], 20);
    near(switch.erica.load_factor(), 1.5);
    near(switch.answer(0), 72_000.0);
    near(switch.answer(1), 20_000.0);
}

#[test]
fn under_light_load_nobody_gets_less_above_its_minimum_than_the_best_did() {
    let mut switch = promising(&params());
    let rates = [(0, 70_000.0, 70), (1, 25_000.0, 25)];
    switch.interval(&rates, 0);
    near(switch.answer(0), 40_000.0 + 30_000.0 / (55.0 / 60.0));
    let best = 30_000.0 / (55.0 / 60.0);
    switch.interval(&[(0, 70_000.0, 70), (1, 30_000.0, 30)], 0);
    near(switch.answer(1), best);
    near(switch.answer(0), 40_000.0 + best);
}

#[test]
fn what_a_vc_does_not_use_of_its_minimum_others_may_have() {
    let mut switch = promising(&params());
    // It declares what it may send, and sends ten cells.
    switch.interval(&[(0, 40_000.0, 10), (1, 45_000.0, 45)], 0);
    near(switch.erica.load_factor(), 0.5);
    near(switch.answer(1), 90_000.0);
    // Its own share counts as if it used all.
    near(switch.erica.fair_share().cells(), 30_000.0);
    near(switch.answer(0), 70_000.0);
    // It counts no longer when it sends nothing.
    switch.interval(&[(1, 90_000.0, 90), (2, 5_000.0, 5)], 0);
    switch.interval(&[(1, 90_000.0, 90), (2, 5_000.0, 5)], 0);
    near(switch.erica.fair_share().cells(), 50_000.0);
}

#[test]
fn nobody_gets_more_than_the_capacity_above_its_minimum_either() {
    let mut switch = promising(&params());
    let rates = [(0, 90_000.0, 1), (1, 50_000.0, 50)];
    switch.interval(&rates, 0);
    near(switch.answer(1), 99_000.0);
    switch.interval(&rates, 0);
    near(switch.answer(0), LINK);
    near(switch.answer(1), 99_000.0);
}

#[test]
fn nobody_gets_less_than_its_minimum() {
    for (cells, vbr) in [([60, 50], 0), ([40, 40], 20), ([10, 0], 100), ([1, 1], 99)] {
        let mut switch = Switch::promising(&params(), [60_000.0, 50_000.0, 0.0, 0.0]);
        switch.interval(&[(0, 60_000.0, cells[0]), (1, 50_000.0, cells[1]), (2, 0.0, 1)], vbr);
        near(switch.erica.fair_share().cells(), 0.0);
        assert!(switch.answer(0) >= 60_000.0 && switch.answer(1) >= 50_000.0);
        if cells[0] + cells[1] + vbr >= 100 {
            assert_eq!(switch.erica.load_factor(), f64::INFINITY);
            assert_eq!((switch.answer(0), switch.answer(1)), (60_000.0, 50_000.0));
            assert_eq!(switch.answer(2), 0.0);
        }
    }
}

#[test]
fn cells_within_the_minima_are_no_input_above_them() {
    for (without_input, answers) in
        [(WithoutInput::FairShare, [65_000.0, 35_000.0]), (WithoutInput::Capacity, [LINK, 75_000.0])]
    {
        let mut params = params();
        params.feedback.without_input = without_input;
        let mut switch = Switch::promising(&params, [40_000.0, 10_000.0, 0.0, 0.0]);
        // Half of what they are not promised is 25 cells; what they do not use is 65.
        switch.interval(&[(0, 70_000.0, 30), (1, 40_000.0, 5)], 0);
        assert_eq!(switch.erica.load_factor(), 0.0);
        near(switch.answer(0), answers[0]);
        near(switch.answer(1), answers[1]);
    }
}

#[test]
fn what_is_promised_counts_as_far_as_its_vc_does() {
    let minima = [100.0, 10.0, 0.0, 0.0].map(Rate::of_cells);
    let params = averaging::Params { activity: 0.5, immediate: true, ..averaging::Params::default() };
    let mut vcs = Activity::new(&params, &minima.map(Some));
    near(vcs.promised(), 110.0);
    vcs.see(0);
    vcs.see(2);
    vcs.finish();
    assert_eq!((vcs.number(), vcs.promised()), (2.0, 100.0));
    vcs.see(1);
    assert_eq!((vcs.number(), vcs.promised()), (3.0, 110.0), "it counts at once");
    vcs.finish();
    assert_eq!((vcs.number(), vcs.promised()), (2.0, 60.0), "half of VCs 0 and 2, and VC 1");
    vcs.see(0);
    assert_eq!((vcs.number(), vcs.promised()), (2.5, 110.0));
}

#[test]
fn minimum_rates_are_averaged_with_the_load() {
    let mut params = params();
    params.averaging.load = LoadAveraging::Separate;
    let mut switch = promising(&params);
    switch.interval(&[(0, 60_000.0, 60), (1, 20_000.0, 20)], 0);
    near(switch.erica.load_factor(), 40.0 / 60.0);
    // Of ten cells all are within the minimum; 0.8 of the old and 1 of the new, as weights.
    switch.interval(&[(0, 40_000.0, 10), (1, 20_000.0, 35)], 50);
    near(switch.erica.load_factor(), (0.8 * 40.0 + 35.0) / (0.8 * 60.0 + 40.0));
}

#[test]
fn erica_plus_scales_what_the_minima_leave() {
    let plus = erica_plus::Params { interval: params().interval, ..erica_plus::Params::default() };
    for (queue, factor) in [(0, 1.05), (50, 1.0), (100, 1.15 / 1.3), (5000, 0.5)] {
        let mut switch = Switch::promising(&plus, [40_000.0, 0.0, 0.0, 0.0]);
        switch.port.queue = queue;
        switch.interval(&[(0, 50_000.0, 50)], 0);
        near(switch.erica.fair_share().cells(), 60_000.0 * factor);
        near(switch.erica.load_factor(), 1.0 / (6.0 * factor));
        near(switch.answer(0), 40_000.0 + 60_000.0 * factor);
    }
}

/// ATM Forum 98-0408: the load factor is that of the traffic above the minimum rates. A VC that sends at its minimum is none, wherever intervals
/// end between its cells, and however the minimum of an interval is rounded.
#[test]
fn a_vc_that_sends_at_its_minimum_is_no_input_above_it() {
    for minimum in [24_900.0, 25_000.0, 33_333.0, 700.0] {
        let mut switch = Switch::promising(&params(), [minimum, 0.0, 0.0, 0.0]);
        let sent = |time: f64| (minimum * time).floor();
        let mut loads = (0..1000).map(|interval| {
            let cells = sent(f64::from(interval + 1) * 1e-3) - sent(f64::from(interval) * 1e-3);
            switch.interval(&[(0, minimum, cells as u64)], 0);
            switch.erica.load_factor()
        });
        // The first intervals may end before it has anything left.
        assert!(loads.by_ref().take(20).all(|load| load < 0.02), "{minimum}");
        assert!(loads.all(|load| load == 0.0), "{minimum}");
    }
}
