//! Completion times of short flows.

use celltrain_atm::{aal5, cell::CELL_BITS};
use celltrain_engine::{
    Slot, Time,
    time::{SECOND, seconds},
};

use crate::{
    host::{Had, Pool},
    scenario::{Flow, Framing, Graph},
};

/// The largest sizes of the classes of flows, in bytes; the last class has the rest.
pub(super) const CLASSES: [u64; 3] = [10_000, 100_000, 1_000_000];

/// A short flow that has come to its end.
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

/// The short flows that arrived in the measured part of a run.
#[derive(Debug, Default)]
pub(super) struct Completions {
    /// Those that ended, by the order of the flows and of their arrivals.
    pub(super) done: Vec<Completion>,
    /// Those that had not ended when the run did.
    pub(super) unfinished: u64,
    /// Those that found no endpoint free.
    pub(super) turned_away: u64,
}

impl Completions {
    /// What became of the flows of a pool that arrived from `begin` on, of which receivers have had so much; `empty` is the time that so
    /// many bytes take in an empty network.
    pub(super) fn add(&mut self, pool: &Pool, had: Vec<Had>, begin: Time, empty: impl Fn(u64) -> Time) {
        let begun = &pool.begun;
        let mut ended: Vec<Option<Time>> = vec![None; begun.len()];
        for had in had {
            // Receivers count from 1; they do not know the size.
            let Some(place) = (had.flow as usize).checked_sub(1) else { continue };
            ended[place] = (had.bytes == begun[place].bytes).then_some(had.at);
        }
        for (flow_begun, ended) in std::iter::zip(begun, ended).filter(|(begun, _)| begun.at >= begin) {
            let Some(ended) = ended else {
                self.unfinished += 1;
                continue;
            };
            let time = ended - flow_begun.at;
            self.done.push(Completion {
                bytes: flow_begun.bytes,
                time: seconds(time),
                slowdown: time as f64 / empty(flow_begun.bytes) as f64,
            });
        }
    }

    /// The value of `get` below which a share `quantile` of the flows of `class` lies, all classes if none is given: the smallest that
    /// so many do not exceed. NaN without flows.
    pub(super) fn quantile(&self, class: Option<usize>, quantile: f64, get: fn(&Completion) -> f64) -> f64 {
        let mut values = self.values(class, get);
        values.sort_by(f64::total_cmp);
        let place = (libm::ceil(quantile * values.len() as f64) as usize).max(1) - 1;
        values.get(place).copied().unwrap_or(f64::NAN)
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

/// The time of `bytes` from one end to the other through empty buffers, as fast as the links carry them: the delays of all links, the
/// slowest link's time for all packets, and the others' for the last packet, or for its last cell. TCP's own round trips are not
/// in it, so that nothing is faster. Where packets are sprayed it is the fastest way's, and only the links that all packets pass
/// count for more than the last one.
pub(super) fn empty_network(graph: &Graph, flow: &Flow, aal5: &aal5::Params, bytes: u64) -> Time {
    let headers = if flow.tcp.timestamps { 52 } else { 40 };
    let (mss, full) = (u64::from(flow.tcp.mss), bytes.div_ceil(u64::from(flow.tcp.mss)) - 1);
    let last = bytes - full * mss;
    // The time of so many octets in packets on a link, and of what comes last on it.
    let times = |link: usize| {
        let link = &graph.links[link];
        match link.framing {
            Framing::Cells => {
                let cell = Slot::of_bits(CELL_BITS, link.rate);
                let cells = full * aal5.cells(mss + headers) + aal5.cells(last + headers);
                (slots(cell, cells), slots(cell, 1))
            }
            Framing::Packets => {
                let (octet, extra) = (Slot::of_bits(8, link.rate), headers + link.overhead.0);
                (slots(octet, bytes + (full + 1) * extra), slots(octet, last + extra))
            }
        }
    };
    let way = |(route, share): (&[usize], f64)| {
        let delays: Time = route.iter().map(|&link| graph.links[link].shortest_delay.ps()).sum();
        let (mut slowest, mut ends) = (0, 0);
        for (place, (all, end)) in route.iter().map(|&link| times(link)).enumerate() {
            // The slowest link's time is that of everything, or of a part of it where packets take several ways.
            if share == 1.0 || place == 0 || place + 1 == route.len() {
                slowest = slowest.max(all - end);
            }
            ends += end;
        }
        (delays + slowest + ends).max(1)
    };
    flow.ways().map(way).min().expect("a flow has a way")
}

fn slots(slot: Slot, count: u64) -> Time {
    let time = slot.seconds() * count as f64 * SECOND as f64;
    time as Time
}
