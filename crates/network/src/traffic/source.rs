//! What sets traffic off: applications that give data to TCP, and sources of cells and packets that need no TCP.

use celltrain_engine::{
    Instant, Slot, Time,
    quantity::{BitRate, Bytes},
    random::Generator,
    time::{NEVER, SECOND},
};

use super::{
    lengths::Lengths,
    long_range::LongRange,
    mmpp::{self, Mmpp},
    unit::Unit,
    varying::VaryingRate,
};
use crate::{
    scenario::{self, MAX_DURATION, Traffic},
    slots::Slots,
};

/// A source of traffic inside a host; it acts at times of its own.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// When it acts next.
    pub(crate) next: Instant,
}

/// What a source does when its time has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Offers `bytes` bytes to a TCP sender, once, or again every `every` before `stop`. `u64::MAX` bytes: a greedy source.
    Application { endpoint: u32, bytes: u64, every: Option<Time>, stop: Time },
    /// Tells a TCP sender that its application stops.
    Stop { endpoint: u32 },
    /// Opens a connection for a flow that arrives, of the pool number `pool` of the host.
    Arrivals { pool: u32 },
    /// One of two parties that write to each other writes: the one at this endpoint.
    Party { endpoint: u32 },
    /// Sends a cell, a frame of cells or a packet, and draws the time of the next one.
    Cells(Box<CellSource>),
}

/// A source without TCP: frames of a fixed number of cells, sent cell by cell or whole, or packets, at times drawn from a [`Pattern`].
#[derive(Debug)]
pub(crate) struct CellSource {
    /// Which of the host's outgoing VCs it uses.
    pub(crate) outgoing: u32,
    /// What it sends at a time.
    pub(crate) unit: Unit,
    /// Place in the frame of the next cell.
    pub(crate) position: u16,
    pub(crate) pattern: Pattern,
    pub(crate) generator: Generator,
    /// What draws the sizes of its packets, if they differ.
    pub(crate) sizes: Option<Box<PacketSizes>>,
    /// From then on it begins no frame.
    pub(crate) stop: Time,
}

/// Draws the sizes of packets: exponentially distributed, in whole octets, from the smallest packet to the largest.
#[derive(Debug)]
pub(crate) struct PacketSizes {
    mean: Bytes,
    generator: Generator,
}

impl PacketSizes {
    fn draw(&mut self) -> u32 {
        self.generator.exponential(self.mean.0).clamp(scenario::MIN_PACKET.0, scenario::MAX_PACKET.0) as u32
    }
}

/// When a cell-level source sends.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// A cell every interval (CBR).
    Constant { interval: Slot },
    /// Whole frames at exponentially distributed intervals (Poisson), whose mean is in picoseconds.
    Poisson { mean: f64 },
    /// Whole frames at the rate of a Markov chain.
    Mmpp(Mmpp),
    /// A cell in a slot with this probability (Bernoulli).
    Bernoulli { slot: Slot, probability: f64 },
    /// A cell every interval of the time that is on, however many off times lie in it. None is drawn that begins after the `end` of the run.
    OnOff { interval: Slot, on: Lengths, off: Lengths, on_until: Instant, end: Time },
    /// A cell whenever a rate that varies has come to the bits of one.
    Varying(VaryingRate),
    /// At recorded times, which are left.
    Recorded(std::vec::IntoIter<Time>),
}

impl CellSource {
    /// A source of what `traffic` says, at the rates of `slots`, which TCP does not carry, from `start` to `stop`, in a run that ends at `end`; it sends on the
    /// host's VC `outgoing`.
    pub(crate) fn new(
        traffic: &Traffic,
        (unit, slots): (Unit, &Slots),
        outgoing: u32,
        mut generator: Generator,
        (start, stop): (Instant, Time),
        end: Time,
    ) -> Self {
        let interval = |rate: scenario::CellRate| unit.time_at(rate.0, slots);
        let pattern = match traffic {
            Traffic::Cbr(cbr) => Pattern::Constant { interval: interval(cbr.rate) },
            Traffic::Poisson(poisson) => Pattern::Poisson { mean: mean_distance(unit, poisson.rate.0) },
            Traffic::Mmpp(form) => {
                let states = form.states.iter().map(|state| mmpp_state(state, unit)).collect();
                Pattern::Mmpp(Mmpp::new(states, [start.ps(), end], &mut generator))
            }
            Traffic::Bernoulli(form) => {
                Pattern::Bernoulli { slot: interval(form.peak), probability: form.probability }
            }
            Traffic::OnOff(form) => {
                let (on, off) = (
                    Lengths::new(form.distribution, form.on, form.shape),
                    Lengths::new(form.distribution, form.off, form.shape),
                );
                Pattern::OnOff { interval: interval(form.peak), on, off, on_until: start, end }
            }
            Traffic::LongRange(form) => {
                let steps = LongRange::new(&form.rate, generator.clone()).expect("the scenario was checked");
                Pattern::Varying(VaryingRate::new(steps, [start.ps(), end], unit.bits))
            }
            Traffic::Trace(form) => {
                let times: Vec<_> = form.arrivals().map(|at| start.ps() + at).collect();
                Pattern::Recorded(times.into_iter())
            }
            Traffic::Greedy(_)
            | Traffic::Finite(_)
            | Traffic::Bursty(_)
            | Traffic::ShortFlows(_)
            | Traffic::RequestResponse(_) => {
                unreachable!("TCP carries this traffic")
            }
        };
        Self { outgoing, unit, position: 0, pattern, generator, sizes: None, stop }
    }

    /// As the source is, with packets of exponentially distributed sizes.
    pub(crate) fn with_sizes(self, mean: Bytes, generator: Generator) -> Self {
        Self { sizes: Some(Box::new(PacketSizes { mean, generator })), ..self }
    }

    /// The octets of the next packet; 0 for cells.
    #[inline(always)]
    pub(crate) fn octets(&mut self) -> u32 {
        self.sizes.as_mut().map_or(self.unit.octets, |sizes| sizes.draw())
    }

    /// How many cells go at once, and where in the frame the first of them stands.
    pub(crate) fn send(&mut self) -> (u16, u16) {
        if self.unit.is_whole {
            return (self.unit.frame, 0);
        }
        let position = self.position;
        self.position = (position + 1) % self.unit.frame;
        (1, position)
    }

    /// The time of what is sent after `now`; [`NEVER`] once the source has stopped.
    #[inline(always)]
    pub(crate) fn after(&mut self, now: Instant) -> Instant {
        let next = self.next(now);
        self.unless_stopped(next)
    }

    /// If it sends whole frames, all alike, at exponentially distributed intervals: their mean in picoseconds, and what draws them.
    #[inline]
    pub(crate) fn as_poisson(&mut self) -> Option<(f64, &mut Generator)> {
        match self.pattern {
            Pattern::Poisson { mean } if self.unit.is_whole && self.sizes.is_none() => {
                Some((mean, &mut self.generator))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn unless_stopped(&self, next: Instant) -> Instant {
        if next.ps() < self.stop { next } else { self.once_stopped(next) }
    }

    /// A frame that has begun is finished.
    #[cold]
    fn once_stopped(&self, next: Instant) -> Instant {
        if self.position == 0 { Instant::at(NEVER) } else { next }
    }

    #[inline(always)]
    fn next(&mut self, now: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::Constant { interval } => now.plus(*interval),
            Pattern::Poisson { mean } => now.delayed(self.generator.exponential_of(*mean)),
            Pattern::Mmpp(process) => Instant::at(process.after(now.ps(), &mut self.generator)),
            Pattern::Bernoulli { slot, probability } => {
                let slots = 1 + empty_slots(*probability, *slot, &mut self.generator);
                now.plus_slots(*slot, slots)
            }
            Pattern::OnOff { interval, on, off, on_until, end } => {
                let mut next = now.plus(*interval);
                while next >= *on_until && on_until.ps() < *end {
                    let rest = next.since(*on_until);
                    let begin = on_until.delayed(off.draw(&mut self.generator));
                    *on_until = begin.delayed(on.draw(&mut self.generator).max(1));
                    next = begin.after(rest);
                }
                next
            }
            Pattern::Varying(rate) => Instant::at(rate.after(now.ps())),
            Pattern::Recorded(times) => Instant::at(times.next().unwrap_or(NEVER)),
        }
    }

    /// Starts the source at `start`; returns when it sends for the first time.
    pub(crate) fn begin(&mut self, start: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::OnOff { on, on_until, .. } => {
                *on_until = start.delayed(on.draw(&mut self.generator).max(1));
                start
            }
            // The first slot is at the start.
            Pattern::Bernoulli { slot, probability } => {
                let slots = empty_slots(*probability, *slot, &mut self.generator);
                let first = start.plus_slots(*slot, slots);
                self.unless_stopped(first)
            }
            // The process has no memory: the time to its first arrival is distributed as that between any two. A trace has its own.
            Pattern::Poisson { .. } | Pattern::Mmpp(_) | Pattern::Recorded(_) => self.after(start),
            // The scenario's check has it start before it stops.
            Pattern::Constant { .. } | Pattern::Varying(_) => start,
        }
    }
}

/// How many slots stay empty before one with a cell: a geometric distribution. As many as last longer than any run stand for more.
fn empty_slots(probability: f64, slot: Slot, generator: &mut Generator) -> u64 {
    let most = MAX_DURATION.ps() / slot.ps().max(1) + 1;
    let empty = libm::log(1.0 - generator.unit()) / libm::log1p(-probability);
    (empty as u64).min(most)
}

/// The mean distance of random units at `rate`, in picoseconds, of which it is no whole number.
fn mean_distance(unit: Unit, rate: BitRate) -> f64 {
    (unit.bits * unit.times) as f64 * SECOND as f64 / rate.0 as f64
}

/// A state of a Markov chain in which `unit` arrives.
fn mmpp_state(state: &scenario::MmppState, unit: Unit) -> mmpp::State {
    let rate = state.rate.0;
    let interval = (rate > BitRate(0)).then(|| mean_distance(unit, rate));
    mmpp::State { interval, stay: state.mean_time.ps() }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::cell::CELL_BITS;
    use celltrain_engine::{Span, random::Randomness, time::MILLISECOND};

    use super::*;

    /// A source of single cells that never stops.
    fn source(pattern: Pattern, generator: Generator) -> CellSource {
        CellSource {
            outgoing: 0,
            unit: Unit::CELL,
            position: 0,
            pattern,
            generator,
            sizes: None,
            stop: NEVER,
        }
    }

    /// The sizes of packets are exponentially distributed but for their limits: P(X > x) = e^(-x / mean) between them, what is smaller has 40 B
    /// and what is larger 65 535 B, the smallest packet and the largest one of IP (RFC 791 section 3.1).
    #[test]
    fn sizes_of_packets_are_exponential_within_their_limits() {
        const COUNT: usize = 100_000;
        for mean in [400, 14_000] {
            let generator = Randomness { seed: 1, replication: 0 }.named("sizes");
            let mut sizes = PacketSizes { mean: Bytes(mean), generator };
            let drawn: Vec<_> = (0..COUNT).map(|_| u64::from(sizes.draw())).collect();
            assert!(drawn.iter().all(|octets| (40..=65_535).contains(octets)));
            let share = |is: &dyn Fn(u64) -> bool| {
                drawn.iter().filter(|octets| is(**octets)).count() as f64 / COUNT as f64
            };
            let above = |octets: f64| libm::exp(-octets / mean as f64);
            for (found, expected) in [
                (share(&|octets| octets == 40), 1.0 - above(40.5)),
                (share(&|octets| octets > mean), above(mean as f64 + 0.5)),
                (share(&|octets| octets == 65_535), above(65_534.5)),
            ] {
                let error = 4.0 * (expected * (1.0 - expected) / COUNT as f64).sqrt();
                assert!(
                    (found - expected).abs() <= error,
                    "mean {mean}: {found}, expected {expected} ± {error}"
                );
            }
        }
    }

    /// In slots that hold a cell with probability p, the cells are on the grid of the slots however long the source sends, the first slot
    /// is at the start, and the number of slots from cell to cell is geometric: P(n) = p (1 − p)^(n − 1).
    #[test]
    fn bernoulli_cells_fill_slots_of_their_own() {
        const CELLS: usize = 50_000;
        let (start, slot, probability) =
            (Instant::at(7 * MILLISECOND), Slot::of_bits(CELL_BITS, "155.52 Mbit/s".parse().unwrap()), 0.3);
        let generator = Randomness { seed: 1, replication: 0 }.named("test");
        let pattern = Pattern::Bernoulli { slot, probability };
        let mut source = source(pattern, generator);
        let (mut times, mut now) = (Vec::new(), source.begin(start));
        for _ in 0..CELLS {
            times.push(now.since(start));
            now = source.after(now);
        }
        let places: Vec<_> = times.iter().map(|time| time.slots(slot)).collect();
        let on_grid = |(time, &place): (&Span, &u64)| *time == Span::of_slots(slot, place);
        assert!(times.iter().zip(&places).all(on_grid), "exact to the last of {CELLS} cells");
        let gaps = std::iter::once(places[0] + 1).chain(places.windows(2).map(|pair| pair[1] - pair[0]));
        let mut counts = [0u32; 8];
        gaps.filter(|&gap| gap <= 8).for_each(|gap| counts[gap as usize - 1] += 1);
        let mut expected = probability;
        for (count, gap) in std::iter::zip(counts, 1..) {
            let share = f64::from(count) / CELLS as f64;
            let error = 4.0 * (expected * (1.0 - expected) / CELLS as f64).sqrt();
            assert!((share - expected).abs() < error, "{gap} slots: {share}, expected {expected} ± {error}");
            expected *= 1.0 - probability;
        }
    }

    /// Whether the first slot holds a cell is a draw like any other, and a probability of 1 fills them all.
    #[test]
    fn the_first_slot_of_a_bernoulli_source_is_no_exception() {
        let slot = Slot::of_ps(1000);
        let first = |replication: u64, probability: f64| {
            let generator = Randomness { seed: 1, replication }.named("test");
            let pattern = Pattern::Bernoulli { slot, probability };
            let mut source = source(pattern, generator);
            source.begin(Instant::at(0)).ps()
        };
        let filled = (0..4000).filter(|&replication| first(replication, 0.25) == 0).count();
        // A quarter of them, within four standard deviations.
        assert!((890..=1110).contains(&filled), "{filled} of 4000");
        assert!((0..4000).all(|replication| first(replication, 1.0) == 0));
        // Ever so unlikely: beyond the end of any run, and no later.
        assert!(first(0, 1e-300) >= MAX_DURATION.ps());
    }

    /// An on-off source sends peak · on / (on + off) on average, however short an on time is, and cells that are due when it ends come as
    /// soon as so much of the next one has passed.
    #[test]
    fn an_on_off_source_keeps_its_mean_rate() {
        use crate::scenario::Distribution::{Exponential, Fixed, Pareto};
        const CELLS: u64 = 100_000;
        let interval = Slot::of_ps(1000);
        let cases =
            [(Fixed, 200, 1800), (Fixed, 1000, 0), (Fixed, 1500, 700), (Fixed, 4000, 1000), (Fixed, 3999, 1)];
        let drawn = [(Exponential, 4000, 16_000), (Exponential, 100, 100), (Pareto, 1200, 800)];
        for (distribution, on, off) in cases.into_iter().chain(drawn) {
            let generator = Randomness { seed: 1, replication: 0 }.named("test");
            let lengths =
                |mean| Lengths::new(distribution, celltrain_engine::quantity::Duration(mean), Some(3.0));
            let on_until = Instant::default();
            let pattern =
                Pattern::OnOff { interval, on: lengths(on), off: lengths(off), on_until, end: NEVER / 2 };
            let mut source = source(pattern, generator);
            let start = source.begin(Instant::at(77));
            let last = (0..CELLS).fold(start, |now, _| source.after(now));
            let expected = CELLS as f64 * 1000.0 * (on + off) as f64 / on as f64;
            let error = last.since(start).ps() as f64 / expected - 1.0;
            let most = if matches!(distribution, Fixed) { 1e-4 } else { 0.02 };
            assert!(error.abs() < most, "{distribution:?} {on} {off}: {error}");
        }
    }

    /// However many off times lie between two cells, those behind the end of the run are not gone through.
    #[test]
    fn an_on_off_source_looks_no_further_than_the_run() {
        use celltrain_engine::time::{MICROSECOND, SECOND};
        let generator = Randomness { seed: 1, replication: 0 }.named("test");
        let (interval, end) = (Slot::of_ps(SECOND), 5 * MICROSECOND);
        let (on, off) = (Lengths::Fixed(1), Lengths::Fixed(9_999));
        let pattern = Pattern::OnOff { interval, on, off, on_until: Instant::default(), end };
        let mut source = source(pattern, generator);
        let start = source.begin(Instant::at(0));
        assert!(source.after(start).ps() >= end);
        let Pattern::OnOff { on_until, .. } = source.pattern else { panic!("it is one") };
        assert_eq!(on_until.ps(), end + 1);
    }

    /// Where cells come every 141.3 ps, a whole picosecond would make them 0.24 % too many.
    #[test]
    fn mean_distances_are_no_whole_picoseconds() {
        let fast = BitRate(3_000_000_000_000);
        assert_eq!(mean_distance(Unit::CELL, fast), 424.0 / 3.0);
        assert_eq!(mean_distance(Unit { times: 12, ..Unit::CELL }, fast), 1696.0);
    }

    /// The exponential distribution has no memory, so that an observer who starts at any time waits as long for the first
    /// arrival as others do between two (L. Kleinrock, "Queueing Systems", volume 1, 1975, section 2.4).
    #[test]
    fn a_poisson_source_starts_as_it_goes_on() {
        const MEAN: Time = MILLISECOND;
        let (start, count) = (Instant::at(7 * MILLISECOND), 20_000);
        let first = |replication: u64| {
            let generator = Randomness { seed: 1, replication }.named("test");
            let pattern = Pattern::Poisson { mean: MEAN as f64 };
            let mut source = source(pattern, generator);
            source.begin(start).since(start).ps()
        };
        let waits: Vec<_> = (0..count).map(first).collect();
        let mean = waits.iter().sum::<Time>() as f64 / count as f64 / MEAN as f64;
        let longer = waits.iter().filter(|&&wait| wait > MEAN).count() as f64 / count as f64;
        // Four standard deviations of 20 000 draws.
        assert!((mean - 1.0).abs() < 0.029, "{mean}");
        assert!((longer - libm::exp(-1.0)).abs() < 0.014, "{longer}");
    }
}
