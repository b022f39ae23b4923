//! Ports that do not affect each other for a while: each is served by itself.
//!
//! What arrives before some time is counted ahead. If it would find room in the memory although nothing left meanwhile, it does so whenever it
//! comes and whatever leaves, and no link is paused for it. Where a memory is nearly full, or links are paused, the ports are handled
//! [together](super::together).

use celltrain_atm::Cell;
use celltrain_engine::{Instant, Time, stream::Train, time::NEVER};

use super::{
    SharedMemorySwitch,
    together::{Event, draw_lot},
};
use crate::flight::Streams;

/// The next step of a switch.
#[derive(Debug)]
pub(super) struct Step {
    /// How far it goes.
    pub(super) to: Time,
    /// Whether each port can be served by itself.
    pub(super) apart: bool,
}

/// What arrives before some time, counted ahead. What is counted is in the unit of the memory.
#[derive(Debug)]
pub(super) struct Ahead {
    /// How long it was tried to look ahead last.
    span: Time,
    /// How many units arrive.
    units: u64,
    /// How much that is.
    total: u64,
    /// The ports at which something arrives, and how much.
    ports: Vec<(usize, u64)>,
    /// How much comes on each link, where links can be paused.
    links: Vec<u64>,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { span: NEVER, units: 0, total: 0, ports: Vec::new(), links: Vec::new() }
    }
}

impl Ahead {
    fn clear(&mut self) {
        (self.units, self.total) = (0, 0);
        self.ports.clear();
        self.links.fill(0);
    }

    /// Counts what arrives at a port.
    fn add(&mut self, port: usize, link: Option<usize>, units: u64, size: u64) {
        self.units += units;
        self.total += size;
        // All inputs of a port are one behind the other, those of a link are not.
        match self.ports.last_mut() {
            Some((last, more)) if *last == port => *more += size,
            _ => self.ports.push((port, size)),
        }
        if let Some(link) = link {
            self.links[link] += size;
        }
    }
}

impl SharedMemorySwitch {
    /// What to do next, up to `until` at most.
    pub(super) fn next_step(&mut self, until: Time, streams: &Streams) -> Step {
        let from = self.clock;
        let pause = self.next_pause(streams);
        loop {
            let to = until.min(from.saturating_add(self.ahead.span));
            self.look_ahead(to, streams);
            if pause > from && self.fits(1) {
                if to < until && self.fits(4) {
                    self.ahead.span = self.ahead.span.saturating_mul(2);
                }
                return Step { to: to.min(pause), apart: true };
            }
            let few = self.few();
            if self.ahead.units <= few || to - from <= 1 {
                if self.ahead.units < few / 4 {
                    self.ahead.span = self.ahead.span.saturating_mul(2);
                }
                return Step { to, apart: false };
            }
            self.ahead.span = (to - from) / 2;
        }
    }

    /// So few units are handled together without looking ahead once more, as a look at all inputs costs about as much.
    fn few(&self) -> u64 {
        64 + self.inputs.len() as u64 / 8
    }

    /// When a pause comes next, or the end of one.
    fn next_pause(&self, streams: &Streams) -> Time {
        let pauses = self.inputs[self.arrivals..].iter();
        pauses.filter_map(|&input| streams[input].next_arrival()).min().unwrap_or(NEVER)
    }

    /// Counts what arrives before `until`, or so much of it that it does not fit and is not little either.
    fn look_ahead(&mut self, until: Time, streams: &Streams) {
        let few = self.few();
        let Self { inputs, arrivals, takers, ports, pausing, memory, ahead, .. } = self;
        let free = memory.as_ref().map_or(u64::MAX, |memory| memory.free());
        ahead.clear();
        ahead.links.resize(pausing.len(), 0);
        for (&input, &port) in inputs[..*arrivals].iter().zip(&*takers) {
            let trains = streams[input].trains();
            let Some(first) = trains.first().filter(|train| train.first.ps() < until) else { continue };
            let parts = &ports[port];
            let (mut units, mut size) = (0, 0);
            for train in trains.iter().take_while(|train| train.first.ps() < until) {
                let count = u64::from(before(train, until));
                units += count;
                size += count * u64::from(parts.size(&train.item));
                if ahead.total + size > free && ahead.units + units > few {
                    break;
                }
            }
            ahead.add(port, parts.ingress(first.item.vc), units, size);
        }
    }

    /// Whether `times` as much as was counted ahead leaves every port below its threshold, and pauses no link, whatever leaves meanwhile.
    fn fits(&self, times: u64) -> bool {
        let Some(memory) = &self.memory else { return true };
        let Ahead { total, ports, links, .. } = &self.ahead;
        let room = |&(port, size): &(usize, u64)| {
            memory.has_space_for(self.ports[port].held(), size * times, total * times)
        };
        ports.iter().all(room) && memory.pauses_none(links.iter().map(|size| size * times))
    }

    /// Handles every arrival before `until` and every departure up to it, port by port; returns how many units arrived.
    pub(super) fn handle_apart(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut units = 0;
        let ports = std::mem::take(&mut self.ahead.ports);
        for &(port, _) in &ports {
            let idle = self.ports[port].departure().is_none();
            units += self.serve_apart(port, until, streams);
            // A port that was not idle has a departure on the agenda.
            if idle {
                self.await_departure(port);
            }
        }
        while let Some(Event { at, port, .. }) = self.next_before(until) {
            // A port at which something arrived has been served, this departure included.
            if self.ports[port].departure() == Some(at) {
                self.serve_apart(port, until, streams);
            }
            self.await_departure(port);
        }
        self.ahead.ports = ports;
        units
    }

    /// Handles what happens at a port until then.
    fn serve_apart(&mut self, port: usize, until: Time, streams: &mut Streams) -> u64 {
        // Who pauses links counts what came on each of them.
        let mut memory = self.memory.take_if(|memory| memory.pauses());
        let before = self.held;
        let units = self.at_port(port, |parts| {
            parts.lend(&mut memory);
            let units = parts.serve_until(until, streams);
            parts.give_back(&mut memory);
            units
        });
        match (&mut self.memory, memory) {
            (Some(memory), _) => memory.change(before, self.held),
            (none, memory) => *none = memory,
        }
        if let Some(generator) = self.ties.get_mut(port) {
            (0..units).for_each(|_| {
                draw_lot(generator);
            });
        }
        units
    }
}

/// How many units of `train`, the first of which arrives before `until`, do so.
fn before(train: &Train<Cell>, until: Time) -> u32 {
    if train.count == 1 || train.last().ps() < until {
        train.count
    } else {
        train.items_before(Instant::start_of(until))
    }
}
