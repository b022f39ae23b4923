//! The policies that refuse frames at random: their probabilities in numbers worked by hand, and the coin apart from
//! them.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Departure, Reason, Verdict,
        dfba::{self, Dfba},
        red::{self, Average, Red, spaced},
    },
    cell::Ecn,
    contract::Contract,
    quantity::{Level, Ratio},
};
use celltrain_engine::Time;

use crate::model::{Model, admits, context, contracts, filled, generator, guarantees};

/// Frames admitted of `count`, each of VC 0 finding `model`.
fn admitted<P: BufferPolicy>(policy: &mut P, model: &Model, count: u32) -> u32 {
    (0..count).map(|_| u32::from(admits(policy, model, 0, false))).sum()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-12
}

const CURVE: dfba::Curve = dfba::Curve { low: 50, high: 90, alpha: 0.5, scale: None };

#[test]
fn dfba_has_the_probability_of_its_formula() {
    // X = 60, f = 1/4, share 15, Z = 3/4: (30 - 15)/(60 * 3/4) = 1/3 and (60 - 50)/40 = 1/4.
    assert!(close(CURVE.probability(30, 60, 1, 4), 0.75 * (0.5 / 3.0 + 0.5 / 4.0)));
    // Z = 1: the same without 3/4; α = 1 and α = 0 leave one part each.
    let scaled = dfba::Curve { scale: Some(1.0), ..CURVE };
    assert!(close(scaled.probability(30, 60, 1, 4), 7.0 / 24.0));
    let (excess, filled) = (dfba::Curve { alpha: 1.0, ..scaled }, dfba::Curve { alpha: 0.0, ..scaled });
    assert!(close(excess.probability(30, 60, 1, 4), 1.0 / 3.0));
    assert!(close(filled.probability(30, 60, 1, 4), 0.25));
    // All cells are the VC's: its excess is 1.
    assert!(close(excess.probability(60, 60, 1, 4), 1.0));
    // At L only the excess counts. No guarantee of the whole: f = 0.
    assert!(close(scaled.probability(25, 50, 0, 4), 0.25));
}

#[test]
fn dfba_admits_all_that_is_within_its_share() {
    assert_eq!(CURVE.probability(15, 60, 1, 4), 0.0);
    assert!(CURVE.probability(16, 60, 1, 4) > 0.0);
    // A VC with all the weight: 1 - f = 0 is never divided by.
    assert_eq!(CURVE.probability(60, 60, 4, 4), 0.0);
    let mut alone = Dfba::new(&dfba::Params::default(), &context(100, &guarantees(&[5_000_000, 0]))).unwrap();
    assert_eq!(admitted(&mut alone, &filled(100, &[89]), 100), 100);
}

#[test]
fn dfba_refuses_from_its_thresholds_on() {
    let contracts = guarantees(&[1_000_000, 3_000_000]);
    let params = dfba::Params { scale: Some(Ratio::billionths(0)), ..dfba::Params::default() };
    let mut policy = Dfba::new(&params, &context(100, &contracts)).unwrap();
    // With Z = 0 nothing is refused at random.
    for occupancy in 0..100 {
        let model = filled(100, &[occupancy]);
        assert_eq!(admits(&mut policy, &model, 0, false), occupancy < 90, "CLP = 0 at {occupancy}");
        assert_eq!(admits(&mut policy, &model, 0, true), occupancy < 50, "CLP = 1 at {occupancy}");
    }
}

#[test]
fn dfba_refuses_as_often_as_its_probability_says() {
    let contracts = guarantees(&[1_000_000, 3_000_000]);
    let params = dfba::Params { scale: Some(Ratio::ONE), ..dfba::Params::default() };
    let mut policy = Dfba::new(&params, &context(100, &contracts)).unwrap();
    // 7/24 of 24000 frames: the standard deviation is 70.
    let refused = 24_000 - admitted(&mut policy, &filled(100, &[30, 30]), 24_000);
    assert!(refused.abs_diff(7_000) < 280, "{refused} refused");
    // The coin itself: a frame is refused where the generator's number is below the probability.
    let (mut policy, mut coin) = (Dfba::new(&params, &context(100, &contracts)).unwrap(), generator());
    for _ in 0..100 {
        assert_eq!(admits(&mut policy, &filled(100, &[30, 30]), 0, false), coin.unit() >= 7.0 / 24.0);
    }
}

#[test]
fn dfba_refuses_for_certain_where_its_factor_makes_it_so() {
    let params = dfba::Params { scale: Some(Ratio::billionths(4_000_000_000)), ..dfba::Params::default() };
    let mut policy = Dfba::new(&params, &context(100, &contracts(4))).unwrap();
    assert_eq!(admitted(&mut policy, &filled(100, &[60]), 100), 0);
    let error = Dfba::new(
        &dfba::Params { alpha: Ratio::billionths(1_500_000_000), ..dfba::Params::default() },
        &context(100, &contracts(4)),
    );
    assert_eq!(error.unwrap_err().message, "a weight lies between 0 and 1, found 1.5");
}

#[test]
fn the_average_follows_the_occupancy_and_decays_in_idle_times() {
    let mut average = Average::new(0.25, 10.0);
    let mut next = |occupancy, now| {
        average.on_arrival(occupancy, now);
        average.value()
    };
    // 0 + (16 - 0)/4, 4 + (8 - 4)/4, 5 + (21 - 5)/4.
    assert_eq!([next(16, 5), next(8, 6), next(21, 7)], [4.0, 5.0, 9.0]);
    // Two frame times empty: 9 (3/4)^2; what is refused at an empty buffer does not count them again.
    average.on_departure(100);
    average.on_arrival(0, 120);
    assert!(close(average.value(), 5.0625));
    average.on_arrival(0, 120);
    assert!(close(average.value(), 5.0625));
    average.on_arrival(0, 130);
    assert!(close(average.value(), 3.796_875));
}

#[test]
fn reds_probability_grows_with_the_average() {
    let curve = red::Curve { min: 20, max: 60, max_p: 0.1, gentle: false };
    assert_eq!(curve.probability(19.9), None);
    assert_eq!(curve.probability(20.0), Some(0.0));
    assert!(close(curve.probability(30.0).unwrap(), 0.025));
    assert_eq!(curve.probability(60.0), Some(1.0));
    let gentle = red::Curve { gentle: true, ..curve };
    assert!(close(gentle.probability(60.0).unwrap(), 0.1));
    assert!(close(gentle.probability(90.0).unwrap(), 0.55));
    assert_eq!(gentle.probability(120.0), Some(1.0));
}

#[test]
fn the_probability_at_max_is_adapted_by_addition_and_multiplication() {
    // Floyd, Gummadi and Shenker 2001: every 0.5 s, up by alpha = min(0.01, max_p / 4) if the average is above the target, down to beta =
    // 0.9 of itself if it is below. From 20 to 60 the target is 36 to 44: 0.4 and 0.6 of the way.
    let half = |number: Time| number * red::Adaptation::INTERVAL;
    let mut adaptation = red::Adaptation::new(20, 60);
    let mut max_p = 0.02;
    let steps = [
        // In the first half of a second nothing changes; in the second one once.
        (half(1) - 1, 50.0, 0.02),
        (half(1), 50.0, 0.02 + 0.005),
        (half(1) + 1, 50.0, 0.025),
        // In the target, at its ends and beyond them.
        (half(2), 40.0, 0.025),
        (half(3), 36.0, 0.025),
        (half(4), 44.0, 0.025),
        (half(5), 44.1, 0.025 + 0.006_25),
        (half(6), 35.9, 0.031_25 * 0.9),
        // 0.028125 + 0.00703125, then a quarter of it again, then 0.01.
        (half(7), 90.0, 0.035_156_25),
        (half(8), 90.0, 0.043_945_312_5),
        (half(9), 90.0, 0.053_945_312_5),
        // However long no frame comes, one change.
        (half(100), 0.0, 0.048_550_781_25),
    ];
    for (now, average, expected) in steps {
        max_p = adaptation.adapted(max_p, average, now);
        assert!(close(max_p, expected), "{max_p} at {now}, expected {expected}");
    }
}

#[test]
fn the_probability_at_max_stays_between_a_hundredth_and_a_half() {
    // Floyd, Gummadi and Shenker 2001: it grows while it is at most 0.5, and shrinks while it is at least 0.01.
    let after_all = |from: f64, average| {
        let mut adaptation = red::Adaptation::new(20, 60);
        (1..1000).fold(from, |max_p, n| adaptation.adapted(max_p, average, n * red::Adaptation::INTERVAL))
    };
    let (most, least) = (after_all(0.1, 100.0), after_all(0.1, 0.0));
    assert!((0.5..0.511).contains(&most) && (0.009..0.01).contains(&least), "{least} to {most}");
}

#[test]
fn adaptive_red_refuses_more_of_a_queue_that_is_too_long() {
    let share = |adaptive| {
        let mut policy = instant(&red::Params { adaptive, gentle: true, ..red::Params::default() });
        let cell = Cell { length: 1, ..Cell::default() };
        // The target of 25 to 75 cells is 45 to 55.
        let model = filled(100, &[70]);
        let mut refused = 0;
        for n in 0..20_000 {
            let now = n * red::Adaptation::INTERVAL / 100;
            refused += u64::from(policy.on_arrival(&cell, &model.view(&cell), now) != Verdict::Accept);
        }
        refused as f64 / 20_000.0
    };
    // p_b = 0.9 * 0.1: gaps are even on 1 to 1/p_b - 1, about, and so one frame in 1/(2 p_b) is refused.
    let (fixed, adapted) = (share(false), share(true));
    assert!((fixed - 0.18).abs() < 0.01, "{fixed}");
    assert!(adapted > 0.6, "{adapted}");
}

#[test]
fn refusals_are_spaced() {
    // 1/4, then 1/3, 1/2 and 1: the fourth frame at the latest is refused.
    for (count, expected) in [(0, 0.25), (1, 1.0 / 3.0), (2, 0.5), (3, 1.0), (4, 1.0), (9, 1.0)] {
        assert!(close(spaced(0.25, count), expected), "{count}");
    }
    assert_eq!(spaced(0.0, 1_000_000), 0.0);
}

/// RED whose average is the occupancy.
fn instant(params: &red::Params) -> Red {
    let contracts: Vec<Contract> = contracts(1);
    let params = red::Params { weight: 1.0, ..params.clone() };
    Red::new(&params, &context(100, &contracts)).unwrap()
}

#[test]
fn red_refuses_at_even_distances() {
    // 50 cells of 100: p_b = 0.1 (50 - 25)/(75 - 25) = 1/20. A refusal resets the count to 0 and the next frame is
    // number 1, so the gaps are even on 1 to 19 frames: 10 on average.
    let mut policy = instant(&red::Params::default());
    let model = filled(100, &[50]);
    let refused: Vec<_> = (0..20_000).filter(|_| !admits(&mut policy, &model, 0, false)).collect();
    let gaps: Vec<_> = refused.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&19)));
    // About 2000 gaps with a standard deviation of 5.5.
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!((mean - 10.0).abs() < 0.5, "{mean}");
    for gap in 1..=19 {
        let count = gaps.iter().filter(|&&other| other == gap).count();
        assert!((65..150).contains(&count), "{count} of {} gaps are {gap}", gaps.len());
    }
}

#[test]
fn red_admits_all_below_min_and_none_above_max() {
    let mut policy = instant(&red::Params::default());
    assert_eq!(admitted(&mut policy, &filled(100, &[24]), 100), 100);
    assert_eq!(admitted(&mut policy, &filled(100, &[75]), 100), 0);
    let gentle = red::Params { gentle: true, ..red::Params::default() };
    assert!((1..100).contains(&admitted(&mut instant(&gentle), &filled(100, &[80]), 100)));
    let epd = red::Params { epd: Some(Level::Cells(60)), ..red::Params::default() };
    assert_eq!(admitted(&mut instant(&epd), &filled(100, &[60]), 100), 0);
    assert!(admitted(&mut instant(&epd), &filled(100, &[59]), 100) > 50);
}

#[test]
fn red_marks_at_random_and_refuses_for_certain() {
    let params = red::Params { ecn: true, epd: Some(Level::Cells(70)), ..red::Params::default() };
    let mut policy = instant(&params);
    let capable = Cell { length: 2, ecn: Ecn::Capable, ..Cell::default() };
    let mut verdicts = |occupancy| {
        let model = filled(100, &[occupancy]);
        let verdicts = (0..100).map(|_| policy.on_arrival(&capable, &model.view(&capable), 0));
        verdicts.collect::<Vec<_>>()
    };
    let at_random = verdicts(50);
    let marked = at_random.iter().filter(|&&verdict| verdict == Verdict::Mark).count();
    assert!((5..20).contains(&marked) && !at_random.contains(&Verdict::Discard(Reason::FrameRefused)));
    assert_eq!(verdicts(70), [Verdict::Discard(Reason::FrameRefused); 100]);
}

#[test]
fn reds_average_counts_frames_that_find_the_buffer_full_and_idle_time_from_the_last_departure() {
    // Refuses from an average of 21 on; a typical frame takes 16 cell times.
    let contracts = contracts(1);
    let level = Level::Cells(21);
    let params =
        red::Params { min: level, max: level, weight: 0.5, typical_frame: 16, ..red::Params::default() };
    let mut policy = Red::new(&params, &context(100, &contracts)).unwrap();
    let arrive = |policy: &mut Red, occupancy, now: Time| {
        let cell = Cell { length: 1, ..Cell::default() };
        policy.on_arrival(&cell, &filled(100, &[occupancy]).view(&cell), now)
    };
    // The average comes to 50, 75, 87.5, and 81.75.
    for _ in 0..3 {
        assert_eq!(arrive(&mut policy, 100, 0), Verdict::Discard(Reason::BufferFull));
    }
    assert_eq!(arrive(&mut policy, 76, 0), Verdict::Discard(Reason::FrameRefused));
    // A frame time after the last departure it is 40.9, two of them after it 20.4.
    let (departed, frame_time) = (1_000_000_000, 43_621_400);
    policy.on_departure(Departure { cell: Cell::default(), now: departed });
    for (frame_times, verdict) in [(1, Verdict::Discard(Reason::FrameRefused)), (2, Verdict::Accept)] {
        assert_eq!(arrive(&mut policy.clone(), 0, departed + frame_times * frame_time), verdict);
    }
}

#[test]
fn red_says_which_parameter_makes_no_sense() {
    let contracts = contracts(1);
    let sound = red::Params::default;
    let wrong = [
        ("max-p", red::Params { max_p: 0.0, ..sound() }),
        ("max-p", red::Params { max_p: 1.5, ..sound() }),
        ("weight", red::Params { weight: f64::NAN, ..sound() }),
        ("min", red::Params { min: Level::Cells(80), max: Level::Cells(70), ..sound() }),
        ("typical-frame", red::Params { typical_frame: 0, ..sound() }),
        ("epd", red::Params { epd: Some(Level::Cells(200)), ..sound() }),
    ];
    for (key, params) in wrong {
        assert_eq!(Red::new(&params, &context(100, &contracts)).unwrap_err().key, key);
    }
}
