//! ERICA, measure by measure: the boundary cases, the options, the averages, and the function of the queue.

use celltrain_atm::abr::{
    Port, PortState, Rate, RateAllocator, RateCoding, RmCell,
    averaging::{self, Activity, LoadAveraging},
    erica::{Erica, EricaOf, Feedback, Params, PresentRate, UtilisationOf, Variant, WithoutInput},
    erica_plus::{self, EricaPlus},
    interval,
    queue_control::{self, Shape},
};
use celltrain_engine::{
    Time,
    quantity::Duration,
    time::{MICROSECOND, MILLISECOND},
};

/// Cells a second: one in 10 us, a hundred in the usual interval.
pub(crate) const LINK: f64 = 100_000.0;
const NO_MINIMA: [Option<Rate>; 4] = [Some(Rate::ZERO); 4];
const NONE: PortState = PortState { queue: 0, priority_cells: 0 };

/// A switch of which the test says what it measures.
pub(crate) struct Switch<P> {
    pub(crate) erica: EricaOf<P>,
    now: Time,
    pub(crate) port: PortState,
}

impl<P: Variant> Switch<P> {
    pub(crate) fn new(params: &P) -> Self {
        Self::promising(params, [0.0; 4])
    }

    /// A switch whose VCs have these minimum rates.
    pub(crate) fn promising(params: &P, minima: [f64; 4]) -> Self {
        Self::beside_others(params, minima.map(|minimum| Some(Rate::of_cells(minimum))))
    }

    /// A switch of which some VCs, with `None` in place of a minimum rate, are not under rate control.
    fn beside_others(params: &P, minima: [Option<Rate>; 4]) -> Self {
        let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &minima };
        Self { erica: build(params, &port), now: 0, port: NONE }
    }

    /// A millisecond in which each VC declares a rate and sends so many cells, and so many VBR cells come.
    pub(crate) fn interval(&mut self, vcs: &[(u32, f64, u64)], priority_cells: u64) {
        for &(vc, ccr, cells) in vcs {
            for _ in 0..cells {
                self.erica.on_cell(self.now, vc, false, &self.port);
            }
            self.erica.on_forward_rm(self.now, vc, &mut frm(ccr), &self.port);
        }
        self.port.priority_cells += priority_cells;
        self.now = self.erica.next_interval();
        self.erica.on_interval(self.now, &self.port);
    }

    /// The answer that a BRM of `vc` gets.
    pub(crate) fn answer(&mut self, vc: u32) -> f64 {
        let mut rm = frm(0.0).turned();
        self.erica.on_backward_rm(self.now, vc, &mut rm, &self.port);
        rm.er().cells()
    }
}

fn build<P: Variant>(params: &P, port: &Port) -> EricaOf<P> {
    RateAllocator::new(params, port).expect("the parameters make sense")
}

fn frm(ccr: f64) -> RmCell {
    RmCell::forward(Rate::of_cells(1e9), Rate::of_cells(ccr), Rate::ZERO, RateCoding::Exact)
}

/// ERICA with the whole link for a target, ended by time alone.
pub(crate) fn params() -> Params {
    let interval = interval::Params { cells: None, ..interval::Params::default() };
    Params { target_utilisation: 1.0, interval, ..Params::default() }
}

pub(crate) fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected.abs() * 1e-9, "{found} is not {expected}");
}

/// Kalyanaraman 1997, table 6.1, with two active VCs; the answers to a VC of declared rate 30000.
#[test]
fn boundary_cases() {
    // Capacity and input, as cells in an interval of room for 100; then z, the fair share, and the answer.
    for (vbr, input, load, fair_share, answer) in [
        (100, 40, f64::INFINITY, 0.0, 0.0),
        (0, 0, 0.0, LINK, LINK),
        (0, 40, 0.4, LINK / 2.0, 75_000.0),
        (20, 160, 2.0, LINK * 0.4, LINK * 0.4),
        (100, 0, f64::INFINITY, 0.0, 0.0),
    ] {
        let mut params = params();
        params.feedback.max_alloc_previous = false;
        params.feedback.two_steps = false;
        let mut switch = Switch::new(&params);
        let vcs = [(0, 30_000.0, input / 2), (1, 5_000.0, input / 2)];
        switch.interval(&vcs, vbr);
        near(switch.erica.fair_share().cells(), fair_share);
        assert!(switch.erica.load_factor() == load || (switch.erica.load_factor() - load).abs() < 1e-9);
        near(switch.answer(0), answer);
    }
}

#[test]
fn without_input_what_was_given_before_does_not_count() {
    let mut params = params();
    params.averaging.activity = 0.5;
    let mut switch = Switch::new(&params);
    switch.interval(&[(0, 80_000.0, 80), (1, 5_000.0, 5)], 0);
    near(switch.answer(0), 80_000.0 / 0.85);
    // VC 0 was seen again, when its BRM passed: one and a half VCs are active.
    switch.interval(&[], 0);
    near(switch.answer(0), LINK / 1.5);
}

#[test]
fn without_input_the_whole_capacity_may_be_given() {
    let mut params = params();
    params.averaging.activity = 0.5;
    params.feedback.without_input = WithoutInput::Capacity;
    let mut switch = Switch::new(&params);
    switch.interval(&[(0, 80_000.0, 80), (1, 5_000.0, 5)], 0);
    switch.interval(&[], 30);
    near(switch.answer(0), 70_000.0);
    near(switch.answer(1), 70_000.0);
    // Both BRMs passed, so that both VCs count.
    switch.interval(&[], 0);
    near(switch.answer(0), LINK);
    // VC 1 is below the fair share and rises to that first.
    near(switch.answer(1), LINK / 2.0);
    // Where nothing is left, nothing is given.
    switch.interval(&[], 100);
    near(switch.answer(0), 0.0);
}

#[test]
fn without_input_the_best_rate_before_may_still_count() {
    let mut params = params();
    params.averaging.activity = 0.5;
    params.feedback.without_input = WithoutInput::Highest;
    let mut switch = Switch::new(&params);
    switch.interval(&[(0, 60_000.0, 80), (1, 5_000.0, 40)], 0);
    near(switch.answer(0), 50_000.0);
    // Neither was seen but VC 0 by its BRM: one and a half VCs share 80 cells.
    switch.interval(&[], 20);
    near(switch.answer(0), 80_000.0 / 1.5);
    switch.interval(&[], 20);
    near(switch.answer(0), 80_000.0 / 1.25);
    // The best before was more than the fair share of one and an eighth.
    switch.interval(&[], 40);
    near(switch.answer(0), 60_000.0);
}

#[test]
fn nobody_gets_more_than_the_capacity() {
    let mut switch = Switch::new(&params());
    switch.interval(&[(0, 90_000.0, 100)], 0);
    near(switch.answer(0), LINK);
    switch.interval(&[(0, 90_000.0, 40)], 60);
    near(switch.erica.load_factor(), 1.0);
    near(switch.answer(0), 40_000.0);
}

#[test]
fn the_best_rate_before_is_at_least_the_fair_share_before() {
    let mut switch = Switch::new(&params());
    switch.interval(&[(0, LINK, 100)], 0);
    // No BRM passed: nothing was given, but anybody would have got the whole link.
    switch.interval(&[(0, 40_000.0, 40), (1, 60_000.0, 60)], 0);
    near(switch.answer(1), LINK);
}

#[test]
fn under_light_load_nobody_gets_less_than_the_best_did() {
    let rates = [(0, 60_000.0, 60), (1, 40_000.0, 40)];
    let answers = |feedback: Feedback| {
        let mut switch = Switch::new(&Params { feedback, ..params() });
        switch.interval(&rates, 0);
        let first = (switch.answer(0), switch.answer(1));
        switch.interval(&rates, 0);
        (first, (switch.answer(0), switch.answer(1)))
    };
    // In the first interval nothing has been given; VC 1 has less than the fair share and rises to it.
    let two_steps = answers(Feedback::default());
    assert_eq!(two_steps, ((60_000.0, 50_000.0), (60_000.0, 50_000.0)));
    let one_step = answers(Feedback { two_steps: false, ..Feedback::default() });
    assert_eq!(one_step, ((60_000.0, 50_000.0), (60_000.0, 60_000.0)));
    let basic = Feedback { max_alloc_previous: false, two_steps: false, ..Feedback::default() };
    assert_eq!(answers(basic), ((60_000.0, 50_000.0), (60_000.0, 50_000.0)));
}

#[test]
fn above_one_plus_delta_rates_fall_by_the_load() {
    for (cells, answer) in [(109, 100_000.0 / 1.09), (111, 100_000.0 / 1.11)] {
        let mut switch = Switch::new(&params());
        // Before: VC 0 alone, which gets the whole link.
        switch.interval(&[(0, LINK, 100)], 0);
        near(switch.answer(0), LINK);
        switch.interval(&[(0, 100_000.0, cells - 40), (1, 40_000.0, 40)], 0);
        let load = cells as f64 / 100.0;
        near(switch.erica.load_factor(), load);
        let lightly = load <= 1.1;
        near(switch.answer(0), if lightly { LINK } else { answer });
    }
}

#[test]
fn one_answer_an_interval() {
    for one_answer in [true, false] {
        let feedback = Feedback { one_answer, ..Feedback::default() };
        let mut switch = Switch::new(&Params { feedback, ..params() });
        switch.interval(&[(0, 20_000.0, 50), (1, 60_000.0, 50)], 0);
        near(switch.answer(0), 50_000.0);
        // A new FRM in the same interval declares more than the fair share.
        switch.erica.on_forward_rm(switch.now, 0, &mut frm(70_000.0), &NONE);
        near(switch.answer(0), if one_answer { 50_000.0 } else { 70_000.0 });
    }
}

#[test]
fn a_present_rate_is_declared_or_measured() {
    let feedback = Feedback { present_rate: PresentRate::Measured, two_steps: false, ..Feedback::default() };
    let mut switch = Switch::new(&Params { feedback, ..params() });
    switch.interval(&[(0, 1.0, 40), (1, 2.0, 10)], 0);
    near(switch.answer(0), 40_000.0 / 0.5);
}

#[test]
fn rm_cells_count_as_input_or_not() {
    for (count_rm_cells, load) in [(true, 0.6), (false, 0.5)] {
        let feedback = Feedback { count_rm_cells, ..Feedback::default() };
        let mut switch = Switch::new(&Params { feedback, ..params() });
        for _ in 0..10 {
            switch.erica.on_cell(0, 0, true, &NONE);
        }
        switch.interval(&[(0, 1.0, 50)], 0);
        near(switch.erica.load_factor(), load);
    }
}

#[test]
fn the_target_is_a_share_of_the_link_or_of_what_vbr_leaves() {
    for (utilisation_of, room) in [(UtilisationOf::Link, 30.0), (UtilisationOf::Remainder, 36.0)] {
        let mut switch = Switch::new(&Params { utilisation_of, target_utilisation: 0.9, ..params() });
        switch.interval(&[(0, 1.0, 18)], 60);
        near(switch.erica.load_factor(), 18.0 / room);
    }
}

#[test]
fn an_interval_ends_after_its_cells_or_its_time() {
    let interval = interval::Params { cells: Some(10), time: Duration(MILLISECOND) };
    let mut erica: Erica = build(
        &Params { interval, ..params() },
        &Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &NO_MINIMA },
    );
    assert_eq!(erica.next_interval(), MILLISECOND);
    // Ten cells at time zero take no time: the interval goes on until the eleventh, and then another begins.
    for _ in 0..10 {
        erica.on_cell(0, 0, false, &NONE);
    }
    assert_eq!(erica.next_interval(), MILLISECOND);
    erica.on_cell(100 * MICROSECOND, 0, false, &NONE);
    assert_eq!(erica.next_interval(), MILLISECOND + 100 * MICROSECOND);
    near(erica.load_factor(), 1.1);
}

#[test]
fn a_vc_counts_until_its_activity_has_decayed() {
    let average =
        |activity, immediate| averaging::Params { activity, immediate, ..averaging::Params::default() };
    let mut vcs = Activity::new(&average(0.9, false), &NO_MINIMA);
    assert_eq!(vcs.number(), 4.0, "before anything is measured");
    let mut numbers = Vec::new();
    for seen in [&[0, 1, 1][..], &[1], &[], &[0, 2]] {
        seen.iter().for_each(|&vc| assert!(!vcs.see(vc)));
        vcs.finish();
        numbers.push(vcs.number());
    }
    let expected = [2.0, 1.9, 0.81 + 0.9, 2.0 + 0.81];
    numbers.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));

    let mut vcs = Activity::new(&average(0.0, true), &NO_MINIMA);
    vcs.see(0);
    vcs.finish();
    assert_eq!((vcs.number(), vcs.see(0), vcs.number()), (1.0, false, 1.0), "it counts already");
    assert_eq!((vcs.see(2), vcs.see(2), vcs.number()), (true, false, 2.0), "it counts at once, and once");
    vcs.finish();
    vcs.finish();
    assert_eq!(vcs.number(), 1.0, "one at least");

    let mut vcs = Activity::new(&average(0.0, true), &[Some(Rate::ZERO), None, Some(Rate::ZERO)]);
    assert_eq!((vcs.number(), vcs.see(0), vcs.number()), (2.0, false, 2.0), "what is under rate control");
    vcs.finish();
    assert_eq!((vcs.number(), vcs.see(2), vcs.number()), (1.0, true, 2.0));
}

/// "Number of active VCs" are ABR VCs (Kalyanaraman 1997, section 6.1): VCs of other categories, which share the port, are none.
#[test]
fn before_anything_is_measured_the_vcs_under_rate_control_count() {
    for (kind, minima, share) in [
        ("two of four", [None, Some(0.0), None, Some(0.0)], LINK / 2.0),
        ("one of four, which is promised something", [None, None, Some(40_000.0), None], LINK - 40_000.0),
        ("two, of which one is promised something", [Some(40_000.0), None, None, Some(0.0)], LINK * 0.3),
    ] {
        let minima = minima.map(|minimum| minimum.map(Rate::of_cells));
        let mut switch = Switch::beside_others(&params(), minima);
        near(switch.erica.fair_share().cells(), share);
        for vc in (0..4).filter(|&vc| minima[vc as usize].is_some()) {
            let minimum = minima[vc as usize].unwrap_or_default().cells();
            assert!((switch.answer(vc) - share - minimum).abs() < 1e-6, "{kind}");
        }
    }
}

#[test]
fn a_vc_that_becomes_active_lowers_the_fair_share_at_once_or_later() {
    for (immediate, share) in [(true, LINK / 2.0), (false, LINK)] {
        let mut params = params();
        params.averaging.immediate = immediate;
        let mut switch = Switch::new(&params);
        switch.interval(&[(0, 10_000.0, 10)], 0);
        near(switch.answer(1), share);
    }
}

/// The load factor after each interval of (cells, VBR cells).
/// Cells may be counted together as long as none of them changes anything by itself: where a VC counts at once, each may.
#[test]
fn cells_are_counted_together_where_none_counts_at_once() {
    for immediate in [false, true] {
        let interval = interval::Params { cells: Some(10), time: Duration(MILLISECOND) };
        let mut params = Params { interval, ..params() };
        params.averaging.immediate = immediate;
        let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &NO_MINIMA };
        assert_eq!(Activity::new(&params.averaging, &NO_MINIMA).is_immediate(), immediate);
        let erica: Erica = build(&params, &port);
        assert_eq!(erica.allowance() == 0, immediate, "{}", erica.allowance());
    }
}

fn loads(load: LoadAveraging, intervals: &[(u64, u64)]) -> Vec<f64> {
    let mut params = params();
    params.averaging.load = load;
    let mut switch = Switch::new(&params);
    let measure = |&(cells, vbr): &(u64, u64)| {
        switch.interval(&[(0, 1.0, cells)], vbr);
        switch.erica.load_factor()
    };
    intervals.iter().map(measure).collect()
}

#[test]
fn the_load_factor_is_averaged_as_a_ratio_or_in_its_parts() {
    let intervals = [(50, 0), (0, 0), (100, 50), (50, 100), (80, 0)];
    assert_eq!(loads(LoadAveraging::None, &intervals), [0.5, 0.0, 2.0, f64::INFINITY, 0.8]);
    // Method 1: 0.8 of the old and 0.2 of the new, begun anew after zero and infinity.
    let ratio = loads(LoadAveraging::Ratio, &[(50, 0), (100, 0), (0, 0), (100, 50), (60, 40)]);
    let expected = [0.8 + 0.2 * 0.5, 0.8 * 0.9 + 0.2, 0.0, 2.0, 0.8 * 2.0 + 0.2];
    ratio.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));
    // Method 2: input and capacity are averaged apart, and an empty interval pulls the average down without making it 0.
    let separate = loads(LoadAveraging::Separate, &intervals[..3]);
    near(separate[0], 0.5);
    near(separate[1], 0.8 * 50.0 / (0.8 * 100.0 + 100.0));
    near(separate[2], (0.64 * 50.0 + 100.0) / (0.64 * 100.0 + 0.8 * 100.0 + 50.0));
}

#[test]
fn averaged_in_its_parts_the_load_factor_is_never_zero_or_infinite() {
    let idle = vec![(0, 0); 5000];
    let blocked = vec![(10, 100); 5000];
    for intervals in
        [&idle, &blocked, &[&[(10, 0)], &idle[..]].concat(), &[&[(10, 0)], &blocked[..]].concat()]
    {
        for load in loads(LoadAveraging::Separate, intervals) {
            assert!(load > 0.0 && load < f64::INFINITY, "{load}");
        }
    }
}

#[test]
fn the_function_of_the_queue_goes_through_its_points() {
    let params = queue_control::Params::default();
    let at = |params: &queue_control::Params, delays: f64| {
        // Half a cell in 1e15 is the rounding of a queue to whole cells.
        params.factor((delays * 5e14) as u64, 1e18)
    };
    for shape in [Shape::Hyperbolic, Shape::Linear] {
        let params = queue_control::Params { shape, ..params.clone() };
        assert_eq!((at(&params, 0.0), at(&params, 1.0)), (1.05, 1.0));
        let mut last = 2.0;
        for step in 0..2000 {
            let factor = at(&params, f64::from(step) / 100.0);
            assert!((0.5..=1.05).contains(&factor) && factor <= last, "{shape:?} at {step}");
            last = factor;
        }
        assert_eq!(last, 0.5);
        assert_eq!(params.factor(1000, 0.0), 1.0, "without capacity there is nothing to scale");
    }
    near(at(&params, 0.5), 1.05 / 1.025);
    near(at(&params, 2.0), 1.15 / 1.3);
    let limit: f64 = (2.0 * 1.15 - 1.0) / 0.15;
    assert!((limit - 8.67).abs() < 0.01, "{limit}");
    assert!(at(&params, limit - 0.01) > 0.5 && (at(&params, limit + 0.01) - 0.5).abs() < 1e-12);
    let linear = queue_control::Params { shape: Shape::Linear, ..params };
    near(at(&linear, 2.0), 0.85);
}

#[test]
fn erica_plus_scales_the_whole_link_by_the_queue() {
    let params = erica_plus::Params { interval: self::params().interval, ..erica_plus::Params::default() };
    for (queue, factor) in [(0, 1.05), (50, 1.0), (100, 1.15 / 1.3), (5000, 0.5)] {
        let mut switch = Switch::new(&params);
        switch.port.queue = queue;
        switch.interval(&[(0, 50_000.0, 50)], 0);
        near(switch.erica.fair_share().cells(), LINK * factor);
        near(switch.erica.load_factor(), 0.5 / factor);
    }
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &NO_MINIMA };
    let refused = |text: &str| {
        let params: Params = toml::from_str(text).expect("the types are right");
        Erica::new(&params, &port).expect_err(text).key
    };
    assert_eq!(refused("target-utilisation = 1.1"), "target-utilisation");
    assert_eq!(refused("target-utilisation = nan"), "target-utilisation");
    assert_eq!(refused("averaging = { activity = -0.1 }"), "averaging.activity");
    assert_eq!(refused("averaging = { load-weight = 0 }"), "averaging.load-weight");
    assert_eq!(refused("feedback = { delta = 2.0 }"), "feedback.delta");
    assert_eq!(refused("interval = { cells = 0 }"), "interval");
    assert_eq!(refused("interval = { time = '0 s' }"), "interval");
    let queue = queue_control::Params { a: 0.9, ..queue_control::Params::default() };
    let plus = erica_plus::Params { queue_control: queue, ..erica_plus::Params::default() };
    assert_eq!(EricaPlus::new(&plus, &port).expect_err("a is below 1").key, "queue-control.a");
    assert!(toml::from_str::<Params>("no-such-key = 1").is_err());
}
