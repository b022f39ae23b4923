//! Completion times of short flows and of finite transfers.

use std::ops::Range;

use celltrain_atm::{aal5, cell::CELL_BITS};
use celltrain_engine::{
    Slot, Time,
    time::{SECOND, seconds},
};

use crate::{
    host::{Begun, Had},
    scenario::{Flow, Framing, Graph, Link},
};

/// The largest sizes of the classes of flows, in bytes; the last class has the rest.
pub(super) const CLASSES: [u64; 3] = [10_000, 100_000, 1_000_000];

/// A short flow or a finite transfer that has come to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub(super) bytes: u64,
    /// Time from its arrival until its last byte reached the receiver, in seconds.
    pub(super) time: f64,
    /// That time over the time in an empty network.
    pub(super) slowdown: f64,
}

impl Completion {
    /// The class of its size.
    pub(super) fn class(&self) -> usize {
        CLASSES.iter().position(|&most| self.bytes <= most).unwrap_or(CLASSES.len())
    }
}

/// The short flows that arrived in the measured part of a run, and the finite transfers that began in it.
#[derive(Debug, Default)]
pub(super) struct Completions {
    /// Those that ended, by the order of the flows and of their arrivals.
    pub(super) done: Vec<Completion>,
    /// How many had ended of all flows up to each, and how many of each had not.
    flows: Vec<(usize, u64)>,
    /// Those that had not ended when the run did.
    pub(super) unfinished: u64,
    /// Those that found no endpoint free.
    pub(super) turned_away: u64,
}

impl Completions {
    /// Adds those of the next flow that began within `window`. `had` is what their receivers got; `empty` gives the time that a number of bytes takes in an
    /// empty network.
    pub(super) fn add(
        &mut self,
        begun: &[Begun],
        had: Vec<Had>,
        window: Range<Time>,
        empty: impl Fn(u64) -> Time,
    ) {
        let mut unfinished = 0;
        for (begun, took) in std::iter::zip(begun, times(begun, had)) {
            if !window.contains(&begun.at) {
                continue;
            }
            let Some(time) = took else {
                unfinished += 1;
                continue;
            };
            self.done.push(Completion {
                bytes: begun.bytes,
                time: seconds(time),
                slowdown: time as f64 / empty(begun.bytes) as f64,
            });
        }
        self.unfinished += unfinished;
        self.flows.push((self.done.len(), unfinished));
    }

    /// Those of flow `index` that ended, and how many had not.
    pub(super) fn flow(&self, index: usize) -> (&[Completion], u64) {
        let begin = index.checked_sub(1).map_or(0, |before| self.flows[before].0);
        let (end, unfinished) = self.flows[index];
        (&self.done[begin..end], unfinished)
    }

    /// The value of `get` below which a share `quantile` of the flows of `class` lies, all classes if none is given: the smallest that
    /// so many do not exceed. NaN without flows.
    pub(super) fn quantile(&self, class: Option<usize>, quantile: f64, get: fn(&Completion) -> f64) -> f64 {
        quantile_of(self.values(class, get), quantile)
    }

    /// The mean of `get` over the flows of `class`, all classes if none is given. NaN without flows.
    pub(super) fn mean(&self, class: Option<usize>, get: fn(&Completion) -> f64) -> f64 {
        let values = self.values(class, get);
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn values(&self, class: Option<usize>, get: fn(&Completion) -> f64) -> Vec<f64> {
        let in_class = |done: &&Completion| class.is_none_or(|class| done.class() == class);
        self.done.iter().filter(in_class).map(get).collect()
    }
}

/// The smallest of `values` that a share `quantile` of them does not exceed; NaN without values.
pub(super) fn quantile_of(mut values: Vec<f64>, quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (libm::ceil(quantile * values.len() as f64) as usize).max(1) - 1;
    values.get(place).copied().unwrap_or(f64::NAN)
}

/// How long each flow took until its last byte reached the receiver; `None` for those of which bytes are missing.
pub(super) fn times(begun: &[Begun], had: Vec<Had>) -> Vec<Option<Time>> {
    let mut times = vec![None; begun.len()];
    for had in had {
        // Receivers count from 1; they do not know the size.
        let Some(place) = (had.flow as usize).checked_sub(1) else { continue };
        times[place] = (had.bytes == begun[place].bytes).then(|| had.at - begun[place].at);
    }
    times
}

/// The time of `bytes` from one end to the other through empty buffers, as fast as the links carry them: each link begins with a packet, or a
/// cell, when it has come whole and the one before has left. TCP's own round trips are not in it, so that nothing is faster. Where packets are
/// sprayed it is the fastest way's, and on the links that only some of them pass the last one is taken for the only one.
pub(super) fn empty_network(graph: &Graph, flow: &Flow, aal5: &aal5::Params, bytes: u64) -> Time {
    let way = |(route, share): (&[usize], f64)| {
        // When the first full unit reaches the link, and the last unit of all; how long those between take where that is longest.
        let (mut first, mut last, mut between) = (0, 0, 0);
        for (place, &link) in route.iter().enumerate() {
            let OnLink { full, unit, end } = OnLink::of(&graph.links[link], flow, aal5, bytes);
            let each = slots(unit, 1);
            let passed_by_all = share == 1.0 || place == 0 || place + 1 == route.len();
            if full > 0 && passed_by_all {
                between = between.max(slots(unit, full - 1));
                last = last.max(first + each + between);
            }
            let delay = graph.links[link].shortest_delay.ps();
            first += delay + if share == 1.0 { each } else { end };
            last += delay + end;
        }
        last.max(1)
    };
    flow.ways().map(way).min().expect("a flow has a way")
}

/// What some bytes of a flow are on a link.
struct OnLink {
    /// Full packets before the last one, or cells before the last one.
    full: u64,
    /// The time of one of these.
    unit: Slot,
    /// The time of the last one.
    end: Time,
}

impl OnLink {
    fn of(link: &Link, flow: &Flow, aal5: &aal5::Params, bytes: u64) -> Self {
        let headers = if flow.tcp.timestamps { 52 } else { 40 };
        let mss = u64::from(flow.tcp.mss);
        let full = bytes.div_ceil(mss) - 1;
        let last = bytes - full * mss + headers;
        match link.framing {
            Framing::Cells => {
                let unit = Slot::of_bits(CELL_BITS, link.fastest());
                let cells = full * aal5.cells(mss + headers) + aal5.cells(last);
                Self { full: cells - 1, unit, end: slots(unit, 1) }
            }
            Framing::Packets => {
                let octets = |octets: u64| Slot::of_bits(8 * (octets + link.overhead.0), link.fastest());
                Self { full, unit: octets(mss + headers), end: slots(octets(last), 1) }
            }
        }
    }
}

fn slots(slot: Slot, count: u64) -> Time {
    let time = slot.seconds() * count as f64 * SECOND as f64;
    time as Time
}
