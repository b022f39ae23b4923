//! The policies that compare occupancies with thresholds and shares, at the points where their answer changes.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Reason, Verdict, View, double_epd, dynamic_threshold, epd, fba, frame::EndMarks,
        per_vc, ppd, selective_drop, wba,
    },
    catalogue::ParamError,
    cell::Ecn,
    contract::Contract,
    quantity::{Level, Ratio},
};
use proptest::prelude::*;

use crate::model::{admits, ask, context, contracts, filled, guarantees, is_queued};

/// The policy of a port of 100 cells.
fn policy<P: BufferPolicy>(params: &P::Params, contracts: &[Contract]) -> P {
    P::new(params, &context(100, contracts)).unwrap_or_else(|error| panic!("{error:?}"))
}

/// How many cells of VC 0 the policy admits another frame at, beside `others` cells of the VCs after it in 100 cells.
fn admitted_beside<P: BufferPolicy>(policy: &mut P, others: &[u64], clp: bool) -> Vec<u64> {
    let room = 100 - others.iter().sum::<u64>();
    let model = |held| filled(100, &[&[held], others].concat());
    (0..room).filter(|&held| admits(policy, &model(held), 0, clp)).collect()
}

#[test]
fn double_epd_refuses_each_priority_from_its_own_threshold_on() {
    let mut policy: double_epd::DoubleEpd = policy(&double_epd::Params::default(), &contracts(1));
    for occupancy in 0..100 {
        let model = filled(100, &[occupancy]);
        assert_eq!(admits(&mut policy, &model, 0, true), occupancy < 50, "CLP = 1 at {occupancy}");
        assert_eq!(admits(&mut policy, &model, 0, false), occupancy < 80, "CLP = 0 at {occupancy}");
    }
}

#[test]
fn a_frame_keeps_the_fate_of_its_first_cell() {
    let mut policy: double_epd::DoubleEpd = policy(&double_epd::Params::default(), &contracts(1));
    let (below, above) = (filled(100, &[49]), filled(100, &[90]));
    let cell = |position| Cell { position, length: 3, clp: true, ..Cell::default() };
    assert_eq!(policy.on_arrival(&cell(0), &below.view(&cell(0)), 0), Verdict::Accept);
    let view = View::new(&above, false);
    assert_eq!(policy.on_arrival(&cell(1), &view, 0), Verdict::Accept);
    assert_eq!(policy.on_arrival(&cell(2), &view, 0), Verdict::Accept);
    assert_eq!(policy.on_arrival(&cell(0), &above.view(&cell(0)), 0), Verdict::Discard(Reason::FrameRefused));
}

#[test]
fn the_low_threshold_is_not_above_the_high_one() {
    let (low, high) = (Level::Cells(60), Level::Cells(40));
    let contracts = contracts(1);
    let double = double_epd::Params { low, high, ..double_epd::Params::default() };
    let per_vc = per_vc::Params { low, high, ..per_vc::Params::default() };
    let error = ParamError {
        key: "low",
        message: "the low threshold (60 cells) is above the high threshold (40 cells)".into(),
    };
    assert_eq!(double_epd::DoubleEpd::new(&double, &context(100, &contracts)).unwrap_err(), error);
    assert_eq!(per_vc::PerVc::new(&per_vc, &context(100, &contracts)).unwrap_err(), error);
}

#[test]
fn per_vc_refuses_a_vc_above_its_share_of_the_buffer() {
    // K/N = 25 with four VCs set up: from 80 cells on, VC 0 is refused at more than 25 of them.
    let contract = |mfs| vec![Contract { mfs, ..Contract::default() }; 4];
    let mut small: per_vc::PerVc = policy(&per_vc::Params::default(), &contract(10));
    assert_eq!(admitted_beside(&mut small, &[70], false), (0..=25).collect::<Vec<_>>());
    assert_eq!(admitted_beside(&mut small, &[40], false), (0..40).collect::<Vec<_>>());
    assert_eq!(admitted_beside(&mut small, &[40], true), (0..10).collect::<Vec<_>>());
    // 2 MFS = 28 is more than K/N.
    let mut large: per_vc::PerVc = policy(&per_vc::Params::default(), &contract(14));
    assert_eq!(admitted_beside(&mut large, &[70], false), (0..=28).collect::<Vec<_>>());
    // Two VCs of the four are active: K/N = 50.
    let active = per_vc::Params { shared_by: per_vc::SharedBy::Active, ..per_vc::Params::default() };
    let mut active: per_vc::PerVc = policy(&active, &contract(10));
    assert_eq!(admitted_beside(&mut active, &[45], false), (0..=50).collect::<Vec<_>>());
}

#[test]
fn per_vc_takes_the_largest_frame_of_each_vc_from_its_contract() {
    let contract = |mfs| Contract { mfs, ..Contract::default() };
    let mut policy: per_vc::PerVc =
        policy(&per_vc::Params::default(), &[&[contract(20), contract(5)][..], &contracts(8)].concat());
    let model = filled(100, &[40, 40]);
    assert!(admits(&mut policy, &model, 0, false));
    assert!(!admits(&mut policy, &model, 1, false));
}

#[test]
fn selective_drop_refuses_a_vc_above_its_part_of_the_fair_share() {
    let mut policy: selective_drop::SelectiveDrop = policy(&selective_drop::Params::default(), &contracts(4));
    // Three VCs hold 96 cells, 32 each in fairness: 0.8 of that is 25.6.
    assert!(admits(&mut policy, &filled(100, &[25, 40, 31]), 0, false));
    assert!(!admits(&mut policy, &filled(100, &[26, 40, 30]), 0, false));
    // At the threshold itself all may send, and a VC without cells always.
    assert!(admits(&mut policy, &filled(100, &[88, 1, 1]), 0, false));
    assert!(!admits(&mut policy, &filled(100, &[89, 1, 1]), 0, false));
    assert!(admits(&mut policy, &filled(100, &[0, 95]), 0, false));
    // Two VCs hold 95 cells, 47.5 each: exactly 0.8 of that, 38, is not above it.
    assert!(admits(&mut policy, &filled(100, &[38, 57]), 0, false));
    assert!(!admits(&mut policy, &filled(100, &[39, 56]), 0, false));
}

#[test]
fn fba_tends_to_selective_drop_as_the_buffer_fills() {
    let params = fba::Params { threshold: Level::Cells(50), ..fba::Params::default() };
    let mut policy: fba::Fba = policy(&params, &contracts(4));
    // Two VCs hold 75 cells: Z X/N (K - R)/(X - R) = 0.8 * 37.5 * 50/25 = 60.
    assert!(admits(&mut policy, &filled(100, &[60, 15]), 0, false));
    assert!(!admits(&mut policy, &filled(100, &[61, 14]), 0, false));
    assert!(admits(&mut policy, &filled(100, &[49, 1]), 0, false), "at the threshold");
    // The largest part of a fair share that is admitted falls to Z = 0.8 at the full buffer.
    let limit = |occupancy: u64| -> f64 {
        let mut policy: fba::Fba =
            fba::Fba::new(&fba::Params::default(), &context(1000, &contracts(2))).unwrap();
        let most = (1..occupancy)
            .rev()
            .find(|&held| admits(&mut policy, &filled(1000, &[held, occupancy - held]), 0, false));
        most.unwrap() as f64 * 2.0 / occupancy as f64
    };
    let limits = [950, 970, 990, 999].map(limit);
    assert!(limits.is_sorted_by(|left, right| left > right), "{limits:?}");
    assert!((limits[3] - 0.8 * 100.0 / 99.0).abs() < 0.002, "{limits:?}");
}

#[test]
fn wba_refuses_by_guarantees() {
    let threshold = Level::Cells(50);
    let params = wba::Params { threshold, ..wba::Params::default() };
    let mut policy: wba::Wba = policy(&params, &guarantees(&[3_000_000, 1_000_000, 0]));
    // 80 cells: Z X w = 0.8 * 80 * 3/4 = 48 for VC 0 and 16 for VC 1.
    assert!(admits(&mut policy, &filled(100, &[48, 32]), 0, false));
    assert!(!admits(&mut policy, &filled(100, &[49, 31]), 0, false));
    assert!(admits(&mut policy, &filled(100, &[64, 16]), 1, false));
    assert!(!admits(&mut policy, &filled(100, &[63, 17]), 1, false));
    // Nothing with CLP = 1 above the threshold; without a guarantee, nothing beside what is there.
    assert!(!admits(&mut policy, &filled(100, &[1, 79]), 0, true));
    assert!(admits(&mut policy, &filled(100, &[25, 25]), 0, true));
    assert!(admits(&mut policy, &filled(100, &[40, 40]), 2, false));
    assert!(!admits(&mut policy, &filled(100, &[40, 40, 1]), 2, false));
}

#[test]
fn without_guarantees_wba_is_selective_drop_among_all_vcs() {
    let mut wba: wba::Wba = policy(&wba::Params::default(), &contracts(3));
    let mut selective: selective_drop::SelectiveDrop =
        policy(&selective_drop::Params::default(), &contracts(3));
    for held in 1..90 {
        let model = filled(100, &[held, 94 - held, 1]);
        assert_eq!(admits(&mut wba, &model, 0, false), admits(&mut selective, &model, 0, false), "{held}");
    }
}

#[test]
fn dynamic_threshold_compares_with_the_free_space() {
    let refused_from = |alpha, others: &[u64]| {
        let params = dynamic_threshold::Params {
            alpha: Ratio::billionths(alpha),
            ..dynamic_threshold::Params::default()
        };
        let mut policy: dynamic_threshold::DynamicThreshold = policy(&params, &contracts(4));
        admitted_beside(&mut policy, others, false).len() as u64
    };
    // Y < α (100 - others - Y).
    assert_eq!(refused_from(1_000_000_000, &[]), 50);
    assert_eq!(refused_from(1_000_000_000, &[41]), 30);
    assert_eq!(refused_from(2_000_000_000, &[40]), 40);
    assert_eq!(refused_from(125_000_000, &[10]), 10);
}

#[test]
fn dynamic_thresholds_keep_their_reserve_free() {
    // Frames of one cell from M VCs, many a slot: every queue comes to α B/(1 + α M), and B/(1 + α M) stays free.
    for (alpha, vcs, capacity, each) in
        [(2.0, 1, 90, 60), (1.0, 3, 120, 30), (0.5, 4, 90, 15), (4.0, 2, 90, 40)]
    {
        let params = dynamic_threshold::Params {
            alpha: Ratio::try_from(alpha).unwrap(),
            ..dynamic_threshold::Params::default()
        };
        let contracts = contracts(vcs as usize);
        let mut policy =
            dynamic_threshold::DynamicThreshold::new(&params, &context(capacity, &contracts)).unwrap();
        let cell = |frame| Cell { vc: frame % vcs, frame, length: 1, ..Cell::default() };
        let arrivals: Vec<_> = (0..1000).map(|frame| (0, cell(frame))).collect();
        let asked = ask(&mut policy, capacity, &arrivals);
        for vc in 0..vcs {
            let held = asked.iter().filter(|asked| asked.cell.vc == vc && is_queued(asked.verdict)).count();
            assert_eq!(held, each, "VC {vc} of {vcs} at α = {alpha}");
        }
        let reserve = capacity as f64 / (1.0 + alpha * f64::from(vcs));
        assert_eq!(asked.last().unwrap().found as f64, capacity as f64 - reserve);
    }
}

#[test]
fn frames_of_capable_transports_are_marked_where_others_are_refused() {
    let contracts = contracts(2);
    let model = filled(100, &[90, 5]);
    let capable = Cell { length: 2, ecn: Ecn::Capable, ..Cell::default() };
    macro_rules! check {
        ($module:ident::$policy:ident) => {
            for (ecn, expected) in [(true, Verdict::Mark), (false, Verdict::Discard(Reason::FrameRefused))] {
                let params = $module::Params { ecn, ..$module::Params::default() };
                let mut policy: $module::$policy = policy(&params, &contracts);
                assert_eq!(policy.on_arrival(&capable, &model.view(&capable), 0), expected);
                assert!(!admits(&mut policy, &model, 0, false));
            }
        };
    }
    check!(selective_drop::SelectiveDrop);
    check!(fba::Fba);
    check!(dynamic_threshold::DynamicThreshold);
}

/// Cells of frames of five cells of two VCs, which come in bursts; every third frame has CLP = 1 if `tagged`.
fn bursts(gaps: &[u64], vcs: u32, tagged: bool) -> Vec<(u64, Cell)> {
    let mut at = 0;
    let cell = |(number, gap): (usize, &u64)| {
        at += gap;
        let number = number as u32;
        let (vc, frame, position) = (number % vcs, number / vcs / 5, (number / vcs % 5) as u16);
        let clp = tagged && frame.is_multiple_of(3);
        (at, Cell { vc, frame, position, length: 5, clp, ..Cell::default() })
    };
    gaps.iter().enumerate().map(cell).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn double_epd_with_equal_thresholds_is_epd(gaps in prop::collection::vec(0u64..4, 1..300), level in 0u64..20) {
        let (threshold, contracts) = (Level::Cells(level), contracts(2));
        for end_marks in [EndMarks::Broken, EndMarks::Always, EndMarks::Never] {
            let double = double_epd::Params { low: threshold, high: threshold, end_marks };
            let single = epd::Params { threshold, end_marks, ecn: false };
            let arrivals = bursts(&gaps, 2, true);
            let mut double = double_epd::DoubleEpd::new(&double, &context(20, &contracts)).unwrap();
            let mut single = epd::Epd::new(&single, &context(20, &contracts)).unwrap();
            prop_assert_eq!(ask(&mut double, 20, &arrivals), ask(&mut single, 20, &arrivals));
        }
    }

    #[test]
    fn one_vc_has_the_whole_buffer(gaps in prop::collection::vec(0u64..4, 1..300), end_marks_always: bool) {
        // K/N = K: no frame with CLP = 0 is refused, and what overflow breaks is all that is lost.
        let contracts = contracts(1);
        let end_marks = if end_marks_always { EndMarks::Always } else { EndMarks::Broken };
        let per_vc = per_vc::Params { end_marks, ..per_vc::Params::default() };
        let arrivals = bursts(&gaps, 1, false);
        let mut alone = per_vc::PerVc::new(&per_vc, &context(20, &contracts)).unwrap();
        let mut ppd = ppd::Ppd::new(&ppd::Params { end_marks }, &context(20, &contracts)).unwrap();
        prop_assert_eq!(ask(&mut alone, 20, &arrivals), ask(&mut ppd, 20, &arrivals));
    }
}

#[test]
fn ratios_are_compared_in_whole_numbers() {
    let ratio = |value| Ratio::try_from(value).unwrap();
    assert!(ratio(0.1).cmp_fraction(1, 10).is_eq());
    assert!(ratio(0.3).cmp_fraction(299_999_999, 1_000_000_000).is_gt());
    assert!(ratio(0.3).cmp_fraction(300_000_001, 1_000_000_000).is_lt());
    assert!(ratio(1e6).cmp_fraction(1, 0).is_lt());
    assert!(ratio(1.0).cmp_fraction(u128::MAX, 1).is_lt());
    for wrong in [-0.1, f64::NAN, f64::INFINITY, 1e7] {
        let error = Ratio::try_from(wrong).unwrap_err();
        assert!(error.starts_with("expected a ratio from 0 to 1000000, found"), "{error}");
    }
}
