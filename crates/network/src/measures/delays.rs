//! Delays of the frames of a flow, and of several flows together.

use std::{borrow::Cow, collections::BinaryHeap};

use celltrain_engine::{
    Time,
    time::{SECOND, seconds},
};

use super::{
    Histogram, Series,
    histogram::{highest_of, lowest_of},
};

/// The transfer delays of a flow's frames, or the response times of its requests: mean and extremes exactly, quantiles to 1.6 %.
///
/// They are counted twice: whole, and from what a frame takes on the idle path. Where propagation is long, a bin of the whole delay is
/// wider than all that queues add, so their variation comes from the second count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Delays {
    sum: u128,
    /// The range of those since the last sample, and of those before it.
    range: Range,
    earlier: Range,
    whole: Histogram,
    idle: Idle,
    /// Of frames that take less than a full one on the idle path, the delay beyond that of the smallest; of the others that beyond
    /// that of a full one.
    beyond: [Histogram; 2],
}

/// The shortest delay and the longest; the shortest is above the longest as long as there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    shortest: Time,
    longest: Time,
}

impl Default for Range {
    fn default() -> Self {
        Self { shortest: Time::MAX, longest: 0 }
    }
}

impl Range {
    /// The range of the delays of both.
    #[inline]
    fn with(self, other: Self) -> Self {
        Self { shortest: self.shortest.min(other.shortest), longest: self.longest.max(other.longest) }
    }

    /// None without delays.
    fn some(self) -> Option<Self> {
        (self.shortest <= self.longest).then_some(self)
    }

    fn clamp(self, delay: Time) -> Time {
        delay.clamp(self.shortest, self.longest)
    }
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
    #[inline(always)]
    pub(crate) fn add(&mut self, delay: Time) {
        self.sum += u128::from(delay);
        self.range = self.range.with(Range { shortest: delay, longest: delay });
        self.whole.add(delay);
        match delay.checked_sub(self.idle.full) {
            Some(beyond) => self.beyond[1].add(beyond),
            None => self.add_small(delay),
        }
    }

    /// Counts a frame that takes less than a full one beyond the smallest.
    #[inline(never)]
    fn add_small(&mut self, delay: Time) {
        self.beyond[0].add(delay.saturating_sub(self.idle.smallest));
    }

    /// The range of all.
    fn range(&self) -> Range {
        self.range.with(self.earlier)
    }

    /// How the delays are distributed, in picoseconds.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.whole
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.whole.count()
    }

    /// The delays beyond the shortest one, from the longest down: of the frames that are smaller than full ones, and of the full ones.
    fn variations(&self) -> [impl Iterator<Item = Bin>; 2] {
        let range = self.range();
        let [small, full] = &self.beyond;
        [(self.idle.smallest, small), (self.idle.full, full)].map(move |(origin, beyond)| {
            beyond.bins().rev().map(move |(bin, count)| {
                // What lies in the bin of an extreme lies on this side of it.
                let [low, high] = [lowest_of(bin), highest_of(bin)]
                    .map(|edge| range.clamp(origin.saturating_add(edge)) - range.shortest);
                (low, high, count)
            })
        })
    }
}

/// The delays of a flow over time: the mean and the longest of the frames that arrive in each period.
#[derive(Debug, Clone)]
pub(crate) struct DelaySampler {
    period: Time,
    due: Time,
    /// Frames and the sum of their delays, as they were when the last sample was taken.
    frames: u64,
    sum: u128,
    /// The sum of the delays since then, and the longest, that are forgotten as a window began.
    forgotten: (u128, Time),
    /// Of each period so far, in seconds; NaN where no frame arrived.
    means: Vec<f64>,
    longest: Vec<f64>,
}

impl DelaySampler {
    /// Samples at `period`, 2 periods, …
    pub(crate) fn new(period: Time) -> Self {
        let (means, longest) = (Vec::new(), Vec::new());
        Self { period, due: period, frames: 0, sum: 0, forgotten: (0, 0), means, longest }
    }

    /// When the next sample is to be taken.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Takes the sample that is due: `frames` have arrived whole so far, with these delays since the window began.
    pub(crate) fn record(&mut self, delays: &mut Delays, frames: u64) {
        let (sum, longest) = self.since_last(delays);
        let count = frames - std::mem::replace(&mut self.frames, frames);
        delays.earlier = delays.range();
        delays.range = Range::default();
        (self.sum, self.forgotten) = (delays.sum, (0, 0));
        self.due += self.period;
        self.means.push(sum as f64 / count as f64 / SECOND as f64);
        self.longest.push(if count > 0 { seconds(longest) } else { f64::NAN });
    }

    /// A window begins: these delays are about to be forgotten.
    pub(crate) fn begin_window(&mut self, delays: &Delays) {
        self.forgotten = self.since_last(delays);
        self.sum = 0;
    }

    /// The sum of the delays since the last sample, and the longest.
    fn since_last(&self, delays: &Delays) -> (u128, Time) {
        let (sum, longest) = self.forgotten;
        (sum + delays.sum - self.sum, longest.max(delays.range.longest))
    }

    /// The mean and the longest delay of each period in which a frame arrived, of the flow of this name.
    pub(crate) fn series(&self, flow: &str) -> [Series; 2] {
        let kinds = [("sampled_delay_mean", &self.means), ("sampled_delay_max", &self.longest)];
        kinds.map(|(metric, values)| {
            let sampled = (1..).map(|number: u64| seconds(number * self.period)).zip(values.iter().copied());
            let (times, values) = sampled.filter(|(_, value)| !value.is_nan()).unzip();
            Series { entity: flow.to_owned(), metric, unit: "s", times, values }
        })
    }
}

/// The delays of the frames of several flows.
pub(crate) struct Together<'a> {
    delays: Vec<&'a Delays>,
    whole: Cow<'a, Histogram>,
    range: Range,
}

impl<'a> Together<'a> {
    /// Those of the flows whose delays are measured; none if none are.
    pub(crate) fn of(delays: impl Iterator<Item = Option<&'a Delays>>) -> Option<Self> {
        let delays: Vec<_> = delays.flatten().collect();
        let (first, others) = delays.split_first()?;
        let mut whole = Cow::Borrowed(&first.whole);
        others.iter().for_each(|delays| whole.to_mut().merge(&delays.whole));
        let range = delays.iter().fold(Range::default(), |range, delays| range.with(delays.range()));
        Some(Self { delays, whole, range })
    }

    /// How the delays of all frames are distributed, in picoseconds.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.whole
    }

    /// How many delays there are.
    pub(crate) fn count(&self) -> u64 {
        self.whole.count()
    }

    /// The mean in seconds; NaN without frames.
    pub(crate) fn mean(&self) -> f64 {
        let sum: u128 = self.delays.iter().map(|delays| delays.sum).sum();
        sum as f64 / self.count() as f64 / SECOND as f64
    }

    /// The longest delay in seconds; NaN without frames.
    pub(crate) fn most(&self) -> f64 {
        self.range.some().map_or(f64::NAN, |range| seconds(range.longest))
    }

    /// A quantile in seconds, within 1.6 % and the range of the delays; NaN without frames.
    pub(crate) fn quantile(&self, quantile: f64) -> f64 {
        self.range.some().map_or(f64::NAN, |Range { shortest, longest }| {
            self.whole.quantile(quantile).clamp(shortest as f64, longest as f64) / SECOND as f64
        })
    }

    /// The 99th percentile of each delay less the shortest of its flow, in seconds: packet delay variation (RFC 5481 section 4.2), which
    /// takes the shortest delay for the one without queues. Flows over unlike paths are compared each with itself. It is right to 1.6 %
    /// of what a frame takes beyond the idle path; NaN without frames.
    pub(crate) fn variation(&self) -> f64 {
        let series = self.delays.iter().flat_map(|delays| delays.variations());
        // The longest of each that has any, with the series that it is of.
        let (mut longest, mut rest) = (BinaryHeap::new(), Vec::new());
        for mut bins in series {
            if let Some(first) = bins.next() {
                longest.push((first, rest.len()));
                rest.push(bins);
            }
        }
        let mut below = self.whole.count();
        let target = 0.99 * below as f64;
        while let Some(((low, high, count), place)) = longest.pop() {
            below -= count;
            if (below as f64) < target {
                let share = (target - below as f64) / count as f64;
                return (low as f64 + (high - low) as f64 * share) / SECOND as f64;
            }
            longest.extend(rest[place].next().map(|bin: Bin| (bin, place)));
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
