//! Delays of the frames of a flow.

use celltrain_engine::{Time, time::SECOND};

use super::Histogram;

/// The transfer delays of frames: mean and extremes exactly, quantiles to 1.6 %.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Delays {
    sum: u128,
    /// The shortest and the longest.
    range: Option<(Time, Time)>,
    histogram: Histogram,
}

impl Delays {
    /// A frame took so long.
    #[inline]
    pub(crate) fn add(&mut self, delay: Time) {
        self.sum += u128::from(delay);
        self.include(delay, delay);
        self.histogram.add(delay);
    }

    #[inline]
    fn include(&mut self, least: Time, most: Time) {
        let (low, high) = self.range.unwrap_or((least, most));
        self.range = Some((low.min(least), high.max(most)));
    }

    /// Adds the frames of others.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        if let Some((least, most)) = other.range {
            self.include(least, most);
        }
        self.histogram.merge(&other.histogram);
    }

    /// How the delays are distributed, in picoseconds.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The mean in seconds; NaN without frames.
    pub(crate) fn mean(&self) -> f64 {
        self.sum as f64 / self.histogram.count() as f64 / SECOND as f64
    }

    /// The longest delay in seconds; NaN without frames.
    pub(crate) fn most(&self) -> f64 {
        self.range.map_or(f64::NAN, |(_, most)| most as f64 / SECOND as f64)
    }

    /// A quantile in seconds, within 1.6 % and the range of the delays; NaN without frames.
    pub(crate) fn quantile(&self, quantile: f64) -> f64 {
        self.range.map_or(f64::NAN, |(least, most)| {
            self.histogram.quantile(quantile).clamp(least as f64, most as f64) / SECOND as f64
        })
    }

    /// The 99th percentile less the shortest delay, in seconds: packet delay variation (RFC 5481 section 4.2), which takes the
    /// shortest delay for the one without queues. NaN without frames.
    pub(crate) fn variation(&self) -> f64 {
        self.range.map_or(f64::NAN, |(least, _)| self.quantile(0.99) - least as f64 / SECOND as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_of_known_delays() {
        let mut delays = Delays::default();
        assert!(delays.mean().is_nan() && delays.most().is_nan() && delays.variation().is_nan());
        // 1 to 1000 ms: RFC 5481 section 4.2 takes the difference to the least, 1 ms, of the 99th percentile, 990 ms.
        (1..=1000).for_each(|ms| delays.add(ms * SECOND / 1000));
        assert_eq!((delays.mean(), delays.most()), (0.5005, 1.0));
        assert!((delays.quantile(0.99) / 0.99 - 1.0).abs() < 0.016, "{}", delays.quantile(0.99));
        assert!((delays.variation() / 0.989 - 1.0).abs() < 0.016, "{}", delays.variation());
    }

    #[test]
    fn equal_delays_have_no_variation() {
        let mut delays = Delays::default();
        (0..10).for_each(|_| delays.add(123_456_789));
        assert_eq!((delays.quantile(0.5), delays.variation()), (123_456_789e-12, 0.0));
        let mut merged = Delays::default();
        merged.merge(&Delays::default());
        merged.merge(&delays);
        assert_eq!(merged, delays);
    }
}
