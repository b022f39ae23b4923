//! The shares in a threshold against equation (3) of Wu, Siu and Ren.

use celltrain_atm::buffer::fair_share::FairShare;

use crate::accounts::generator;

/// The unit share after adapting to `sizes`.
fn adapted(threshold: i64, weights: &[i64], sizes: &[i64]) -> (i64, i64) {
    let mut share = FairShare::of(threshold, weights.to_vec());
    share.adapt(sizes);
    share.unit()
}

#[test]
fn the_dynamic_threshold_is_equation_3() {
    // Fair share 25: what two VCs leave of 100 goes to the two above it.
    assert_eq!(adapted(100, &[1; 4], &[10, 20, 30, 40]), (70, 2));
    // What a VC has saved below zero the others may use too.
    assert_eq!(adapted(100, &[1; 4], &[-10, 0, 40, 60]), (110, 2));
    // One VC alone may use all the others leave.
    assert_eq!(adapted(100, &[1; 4], &[0, 0, 0, 90]), (100, 1));
    // A VC at its fair share is above it, so the equation does not change what is fair.
    assert_eq!(adapted(100, &[1; 4], &[25; 4]), (100, 4));
    // Nobody uses a fair share: the fixed one holds.
    assert_eq!(adapted(100, &[1; 4], &[1, 2, 3, 4]), (100, 4));
    // By weight: shares 50, 25, 25. The first two leave 60 to one unit of weight.
    assert_eq!(adapted(100, &[2, 1, 1], &[30, 10, 60]), (60, 1));
    assert_eq!(adapted(100, &[2, 1, 1], &[60, 10, 60]), (90, 3));
}

#[test]
fn the_dynamic_threshold_is_never_below_the_fixed_one() {
    let mut random = generator(0, "shares");
    for _ in 0..1000 {
        let weights: Vec<_> = (0..4).map(|_| 1 + random.below(5) as i64).collect();
        let sizes: Vec<_> = (0..4).map(|_| random.below(120) as i64 - 30).collect();
        let (left, weight) = adapted(100, &weights, &sizes);
        assert!(left * weights.iter().sum::<i64>() >= 100 * weight, "{weights:?} {sizes:?}");
    }
}
