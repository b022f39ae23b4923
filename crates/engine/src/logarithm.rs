//! A logarithm that is quick and nearly exact, for who rounds what follows from it and can tell whether that is sure.

use std::f64::consts::LN_2;

/// How far the products of [`minus_log`] and of `libm`'s logarithm with one number are apart at most, as a part of that number. It is more
/// than what follows comes to.
///
/// Results are below 37, so that half a unit of their last place is 2^-48. Two sums, a product and ln 2 times 53 are rounded here, 2^-46
/// together; the series is cut at 2^-50; `libm` is off by less than one unit, 2^-47; the products, and the sum of one of them and a
/// half, are rounded, 2^-46 together.
pub(crate) const ERROR: f64 = 1.0 / (1u64 << 44) as f64;

/// A part of the interval from 1 to 2: the inverse of its middle, and its logarithm.
#[derive(Debug, Clone, Copy)]
struct Part {
    inverse: f64,
    log: f64,
}

/// The interval in equal parts, as many as seven bits count.
static PARTS: [Part; 128] = parts();

const fn parts() -> [Part; 128] {
    let mut parts = [Part { inverse: 0.0, log: 0.0 }; 128];
    let mut place = 0;
    while place < parts.len() {
        let middle = 1.0 + (place as f64 + 0.5) / parts.len() as f64;
        parts[place] = Part { inverse: 1.0 / middle, log: log_from_series(middle) };
        place += 1;
    }
    parts
}

/// ln x = 2 artanh z with z = (x - 1) / (x + 1), which is below 1/3 here: its series up to z^41.
const fn log_from_series(x: f64) -> f64 {
    let z = (x - 1.0) / (x + 1.0);
    let (mut sum, mut power) = (0.0, 41);
    while power > 0 {
        sum = sum * z * z + 1.0 / power as f64;
        power -= 2;
    }
    2.0 * z * sum
}

/// -ln(`count` / 2^53), for a `count` from 1 to 2^53.
#[inline(always)]
pub(crate) fn minus_log(count: u64) -> f64 {
    const ONE: u64 = 1f64.to_bits();
    // 2^exponent times a number from 1 to 2, which is 1 + r times the middle of its part.
    let bits = (count as f64).to_bits();
    let (halvings, mantissa) =
        (1023 + 53 - (bits >> 52) as i64, f64::from_bits(bits & ((1 << 52) - 1) | ONE));
    let Part { inverse, log } = PARTS[(bits >> 45) as usize % PARTS.len()];
    let r = mantissa * inverse - 1.0;
    let series = r * (1.0 + r * (-1.0 / 2.0 + r * (1.0 / 3.0 + r * (-1.0 / 4.0 + r * (1.0 / 5.0)))));
    halvings as f64 * LN_2 - (log + series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Randomness;

    /// A quarter of [`ERROR`] is what both logarithms may differ by.
    #[test]
    fn it_is_the_logarithm_of_the_library() {
        const WHOLE: u64 = 1 << 53;
        let mut generator = Randomness { seed: 1, replication: 0 }.named("logarithm");
        let borders = (0..53).flat_map(|shift| (128..=256).map(move |part: u64| (part << 45) >> shift));
        let near = borders.flat_map(|border| [border.saturating_sub(1), border, border + 1]);
        let drawn = (0..200_000).map(|_| generator.below(WHOLE) >> generator.below(53));
        for count in near.chain(drawn).filter(|count| (1..=WHOLE).contains(count)) {
            let exact = -libm::log(count as f64 / WHOLE as f64);
            let error = (minus_log(count) - exact).abs();
            assert!(error < ERROR / 4.0, "{count}: {exact}, off by {error}");
        }
    }
}
