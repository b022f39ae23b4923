//! Delays of the frames of a flow, and of several flows together.

use celltrain_engine::{
    Time,
    time::{SECOND, seconds},
};

use super::{
    Histogram,
    histogram::{highest_of, lowest_of},
};

/// The transfer delays of a flow's frames, or the response times of its requests: mean and extremes exactly, quantiles to 1.6 %.
///
/// They are counted twice: whole, and from what a frame takes on the idle path. Where propagation is long, a bin of the whole delay is
/// wider than all that queues add, so their variation comes from the second count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Delays {
    sum: u128,
    /// The shortest and the longest.
    range: Option<(Time, Time)>,
    whole: Histogram,
    idle: Idle,
    /// Of frames that take less than a full one on the idle path, the delay beyond that of the smallest; of the others that beyond
    /// that of a full one.
    beyond: [Histogram; 2],
}

/// What frames take on the idle path of a flow: propagation and transmission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Idle {
    /// The smallest frame.
    pub(crate) smallest: Time,
    /// A full frame.
    pub(crate) full: Time,
}

/// Frames whose delays lie in a range: the shortest of it, the longest, and how many.
type Bin = (Time, Time, u64);

impl Delays {
    /// None so far, of a flow whose frames take so long on its idle path.
    pub(crate) fn over(idle: Idle) -> Self {
        Self { idle, ..Self::default() }
    }

    /// Forgets the frames so far: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        *self = Self::over(self.idle);
    }

    /// A frame took so long.
    #[inline]
    pub(crate) fn add(&mut self, delay: Time) {
        self.sum += u128::from(delay);
        let (low, high) = self.range.unwrap_or((delay, delay));
        self.range = Some((low.min(delay), high.max(delay)));
        self.whole.add(delay);
        let is_full = delay >= self.idle.full;
        let idle = if is_full { self.idle.full } else { self.idle.smallest };
        self.beyond[usize::from(is_full)].add(delay.saturating_sub(idle));
    }

    /// How the delays are distributed, in picoseconds.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.whole
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.whole.count()
    }

    /// The delays beyond the shortest one.
    fn variations(&self) -> impl Iterator<Item = Bin> {
        let (least, most) = self.range.unwrap_or_default();
        let of = |origin: Time, beyond: &Histogram| -> Vec<Bin> {
            let bins = beyond.bins().map(|(bin, count)| {
                // What lies in the bin of an extreme lies on this side of it.
                let [low, high] = [lowest_of(bin), highest_of(bin)]
                    .map(|edge| origin.saturating_add(edge).clamp(least, most) - least);
                (low, high, count)
            });
            bins.collect()
        };
        let [small, full] = &self.beyond;
        of(self.idle.smallest, small).into_iter().chain(of(self.idle.full, full))
    }
}

/// The delays of the frames of several flows.
pub(crate) struct Together<'a>(Vec<&'a Delays>);

impl<'a> Together<'a> {
    /// Those of the flows whose delays are measured; none if none are.
    pub(crate) fn of(delays: impl Iterator<Item = Option<&'a Delays>>) -> Option<Self> {
        let delays: Vec<_> = delays.flatten().collect();
        (!delays.is_empty()).then_some(Self(delays))
    }

    /// How the delays of all frames are distributed, in picoseconds.
    pub(crate) fn histogram(&self) -> Histogram {
        let mut all = Histogram::default();
        self.0.iter().for_each(|delays| all.merge(&delays.whole));
        all
    }

    /// How many delays there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|delays| delays.count()).sum()
    }

    /// The mean in seconds; NaN without frames.
    pub(crate) fn mean(&self) -> f64 {
        let sum: u128 = self.0.iter().map(|delays| delays.sum).sum();
        sum as f64 / self.count() as f64 / SECOND as f64
    }

    fn range(&self) -> Option<(Time, Time)> {
        let ranges = self.0.iter().filter_map(|delays| delays.range);
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The longest delay in seconds; NaN without frames.
    pub(crate) fn most(&self) -> f64 {
        self.range().map_or(f64::NAN, |(_, most)| seconds(most))
    }

    /// A quantile in seconds, within 1.6 % and the range of the delays; NaN without frames.
    pub(crate) fn quantile(&self, quantile: f64) -> f64 {
        self.range().map_or(f64::NAN, |(least, most)| {
            self.histogram().quantile(quantile).clamp(least as f64, most as f64) / SECOND as f64
        })
    }

    /// The 99th percentile of each delay less the shortest of its flow, in seconds: packet delay variation (RFC 5481 section 4.2), which
    /// takes the shortest delay for the one without queues. Flows over unlike paths are compared each with itself. It is right to 1.6 %
    /// of what a frame takes beyond the idle path; NaN without frames.
    pub(crate) fn variation(&self) -> f64 {
        let mut bins: Vec<_> = self.0.iter().flat_map(|delays| delays.variations()).collect();
        bins.sort_unstable();
        let count: u64 = bins.iter().map(|&(.., count)| count).sum();
        let (target, mut below) = (0.99 * count as f64, 0.0);
        for (low, high, count) in bins {
            let count = count as f64;
            if below + count >= target {
                return (low as f64 + (high - low) as f64 * (target - below) / count) / SECOND as f64;
            }
            below += count;
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::Randomness;

    use super::*;

    fn together(delays: &[Delays]) -> Together<'_> {
        Together::of(delays.iter().map(Some)).unwrap()
    }

    #[test]
    fn measures_of_known_delays() {
        let none = [Delays::default()];
        let all = together(&none);
        assert!(all.mean().is_nan() && all.most().is_nan() && all.variation().is_nan());
        assert!(Together::of([None, None].into_iter()).is_none());
        // 1 to 1000 ms: RFC 5481 section 4.2 takes the difference to the least, 1 ms, of the 99th percentile, 990 ms.
        let mut delays = Delays::default();
        (1..=1000).for_each(|ms| delays.add(ms * SECOND / 1000));
        let delays = [delays];
        let all = together(&delays);
        assert_eq!((all.mean(), all.most()), (0.5005, 1.0));
        assert!((all.quantile(0.99) / 0.99 - 1.0).abs() < 0.016, "{}", all.quantile(0.99));
        assert!((all.variation() / 0.989 - 1.0).abs() < 0.016, "{}", all.variation());
    }

    #[test]
    fn equal_delays_have_no_variation() {
        for idle in [0, 1_000, 123_456_789, 200_000_000] {
            let mut delays = Delays::over(Idle { smallest: idle / 2, full: idle });
            (0..10).for_each(|_| delays.add(123_456_789));
            let delays = [delays];
            let all = together(&delays);
            assert_eq!((all.quantile(0.5), all.variation()), (123_456_789e-12, 0.0), "{idle}");
        }
    }

    /// The 99th percentile of the differences to each flow's least, by sorting all of them.
    fn exact(flows: &[Vec<Time>]) -> f64 {
        let mut all: Vec<_> = flows
            .iter()
            .flat_map(|delays| {
                let least = *delays.iter().min().unwrap();
                delays.iter().map(move |delay| delay - least)
            })
            .collect();
        all.sort_unstable();
        seconds(all[(all.len() * 99).div_ceil(100) - 1])
    }

    /// Queues of 12 us on paths of 20 ms, 3 ms and no length; some frames are smaller than the others.
    #[test]
    fn variation_is_that_of_the_queues_however_long_the_paths_are() {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("delays");
        let paths = [20 * SECOND / 1000, 3 * SECOND / 1000, 0];
        let idle = |path: Time| Idle { smallest: path + 3_000_000, full: path + 80_000_000 };
        let mut flows: Vec<Vec<Time>> = Vec::new();
        for path in paths {
            let Idle { smallest, full } = idle(path);
            let queued = |least: Time, frames: usize, generator: &mut celltrain_engine::random::Generator| {
                (0..frames).map(|_| least + generator.below(12_000_000)).collect::<Vec<_>>()
            };
            flows.push(queued(full, 20_000, &mut generator));
            flows.push(
                [queued(full, 19_000, &mut generator), queued(smallest, 1_000, &mut generator)].concat(),
            );
        }
        let measured: Vec<_> = std::iter::zip(&flows, [0, 0, 1, 1, 2, 2])
            .map(|(frames, path)| {
                let mut delays = Delays::over(idle(paths[path]));
                frames.iter().for_each(|&delay| delays.add(delay));
                delays
            })
            .collect();
        for (place, frames) in flows.iter().enumerate() {
            let (expected, found) =
                (exact(std::slice::from_ref(frames)), together(&measured[place..=place]).variation());
            assert!((found / expected - 1.0).abs() < 0.016, "flow {place}: {found} {expected}");
        }
        let equal: Vec<_> = flows.iter().step_by(2).cloned().collect();
        let of_equal: Vec<_> = measured.iter().step_by(2).cloned().collect();
        let (expected, found) = (exact(&equal), together(&of_equal).variation());
        assert!(expected < 12e-6 && (found / expected - 1.0).abs() < 0.016, "{found} {expected}");
        let (expected, found) = (exact(&flows), together(&measured).variation());
        assert!((found / expected - 1.0).abs() < 0.016, "{found} {expected}");
    }
}
