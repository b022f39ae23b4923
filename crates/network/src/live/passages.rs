//! What becomes of every cell that arrives at a port between two moments: when it came, when it left, or why it was discarded.
//!
//! The run is stopped so often that every cell is seen on the link that brings it and again on the link behind the port. Stopping
//! changes nothing, so these are the cells of the unwatched run.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_atm::cell::Kind;
use celltrain_engine::{Time, time::SECOND};

use super::{Discard, Live, Row, Vc, Whereabouts, rows::Known};
use crate::scenario::{Flow, Framing, Link, NodeKind};

/// The most stops of one call: more would take minutes, and no picture shows so many cells.
const MOST_STOPS: u64 = 2_000_000;

/// Octets of the shortest packet: an IP header and a TCP header.
const LEAST_PACKET: u64 = 40;
/// Octets of a packet by which the grain of discards is chosen.
const USUAL_PACKET: u64 = 1500;
const CELL: u64 = celltrain_atm::cell::CELL_OCTETS;

/// Slots that the run goes on behind the end, so that frames which a discard breaks later are known as broken.
const AFTERMATH: u64 = 256;

/// A cell, or packet, at a port. Its times are exact to a picosecond for each cell before it in its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Whose it is.
    pub vc: Vc,
    /// Whether it carries data or manages resources.
    pub kind: Kind,
    /// Number of its frame on the VC.
    pub frame: u32,
    /// Place in the frame, from 0.
    pub position: u16,
    /// Cells of the frame.
    pub length: u16,
    /// When it arrived; `None` if it was in the buffer at the start.
    pub arrived: Option<Time>,
    /// When its transmission ended, or when it was taken out of the buffer; `None` if it was still there at the end.
    pub left: Option<Time>,
    /// Why it was discarded, if it was: the name of the column that counts it in results.
    pub reason: Option<&'static str>,
    /// Whether some of its frame has been lost, here or before: it is carried for nothing.
    pub broken: bool,
    /// Whether it came without a congestion mark and left with one. What was in the buffer at the start is taken as unmarked here.
    pub marked: bool,
}

/// A cell by its VC, kind, frame and place.
type Key = (Vc, u8, u32, u16);

/// The cells of one port as far as they have been seen.
struct Follower {
    port: usize,
    /// The links that bring cells, in ascending order.
    inputs: Vec<usize>,
    from: Time,
    to: Time,
    cells: BTreeMap<Key, Passage>,
    /// What was marked before it came.
    came_marked: BTreeSet<Key>,
    discards: Vec<Discard>,
    /// What has been looked at: many cells are on a long link, and each is looked at once.
    known: Known,
}

impl Live {
    /// Every cell that was in the buffer of the port of `link` at `from` or arrived there before `to`, in the order of arrival. Runs
    /// on to `to`, or to the end if that is earlier, and a little longer.
    ///
    /// # Errors
    /// Why the cells of the port cannot be told one by one; `None` as the message if interrupted.
    pub fn passages(
        &mut self,
        link: usize,
        from: Time,
        to: Time,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Passage>, Option<String>> {
        let to = to.min(self.scenario.spec().duration.ps());
        let inputs = self.inputs_of(link).map_err(Some)?;
        let step = self.stop_every(link, &inputs);
        if (to.saturating_sub(from)) / step > MOST_STOPS {
            let most = (step * MOST_STOPS) as f64 / SECOND as f64;
            return Err(Some(format!("the time is too long to follow every cell: take at most {most:.3} s")));
        }
        let slot = slot(&self.graph.links[link], USUAL_PACKET);
        let mut follower = Follower {
            port: link,
            inputs,
            from,
            to,
            cells: BTreeMap::new(),
            came_marked: BTreeSet::new(),
            discards: vec![],
            known: Known::default(),
        };
        if !self.advance(from, interrupt) {
            return Err(None);
        }
        self.drain_discards();
        follower.observe(self, true);
        while self.now < to {
            if !self.advance((self.now + step).min(to), interrupt) {
                return Err(None);
            }
            follower.observe(self, false);
        }
        let end = to + AFTERMATH * slot;
        while self.now < end && !self.is_over() {
            if !self.advance(self.now + step, interrupt) {
                return Err(None);
            }
            follower.observe(self, false);
        }
        Ok(follower.finish(&self.broken))
    }

    /// The links that bring cells to a port of a switch.
    fn inputs_of(&self, port: usize) -> Result<Vec<usize>, String> {
        let node = self.graph.links[port].from;
        if self.graph.nodes[node].kind != NodeKind::Switch {
            let name = self.graph.link_name(port);
            return Err(format!("{name} is a host's interface: cells are followed at the ports of switches"));
        }
        let is_sprayed = |flow: &&Flow| flow.is_sprayed() && flow.passes(port).contains(&true);
        if let Some(flow) = self.graph.flows.iter().find(is_sprayed) {
            return Err(format!(
                "cells cannot be followed at {}: the packets of flow \"{}\" are sprayed, and are numbered on each way by themselves",
                self.graph.link_name(port),
                flow.name
            ));
        }
        let feeds = |link: &usize| self.graph.links[*link].to == node;
        let inputs: Vec<usize> = (0..self.graph.links.len()).filter(feeds).collect();
        let moves = |link: &&usize| {
            self.graph.links[**link].reorder.is_some() || !self.graph.links[**link].delay_changes.is_empty()
        };
        if let Some(&link) = inputs.iter().find(moves) {
            let name = self.graph.link_name(link);
            return Err(format!(
                "cells cannot be followed behind {name}, which reorders them or changes its delay"
            ));
        }
        Ok(inputs)
    }

    /// How often to stop: a cell is in sight from its admission to the port before until it arrives, and a discard is timed to a slot.
    fn stop_every(&self, port: usize, inputs: &[usize]) -> Time {
        let sight = |&link: &usize| {
            let link = &self.graph.links[link];
            slot(link, LEAST_PACKET) + link.shortest_delay.ps()
        };
        let shortest = inputs.iter().chain([&port]).map(sight).min().expect("a port is a link");
        shortest.min(slot(&self.graph.links[port], USUAL_PACKET)).max(1)
    }

    /// Whether the cells of a VC cross a link.
    fn crosses(&self, vc: Vc, link: usize) -> bool {
        self.graph.flows[vc.flow].passes(link)[usize::from(vc.back)]
    }
}

/// The time that a cell, or a packet of so many octets, takes on a link at the least.
fn slot(link: &Link, packet: u64) -> Time {
    let octets = match link.framing {
        Framing::Cells => CELL,
        Framing::Packets => packet + link.overhead.0,
    };
    (u128::from(8 * octets) * u128::from(SECOND) / u128::from(link.fastest().0)) as Time
}

fn number(kind: Kind) -> u8 {
    match kind {
        Kind::Data => 0,
        Kind::ForwardRm => 1,
        Kind::BackwardRm => 2,
    }
}

impl Follower {
    /// Whether a link feeds the port. Every stop checks every link, and a port may have thousands of inputs.
    fn brings(&self, link: usize) -> bool {
        self.inputs.binary_search(&link).is_ok()
    }

    /// Looks at what is new at the port and on its links. `first` says that what is in the buffer has arrived before.
    fn observe(&mut self, live: &mut Live, first: bool) {
        self.discards.extend(live.drain_discards());
        let (mut at_port, mut coming) = (Vec::new(), Vec::new());
        for port in live.network.ports() {
            if port.link == self.port {
                live.new_rows(port, &mut self.known, &mut at_port);
                if first {
                    live.add_stored(port, &mut at_port);
                }
            } else if self.brings(port.link) {
                live.new_rows(port, &mut self.known, &mut coming);
            }
        }
        for row in &at_port {
            self.leaving(row, live, first);
        }
        let port = self.port;
        for row in coming.iter().filter(|row| live.crosses(row.vc, port)) {
            self.coming(row, live);
        }
    }

    /// Cells in the buffer or on the link behind it: when each has left.
    fn leaving(&mut self, row: &Row, live: &Live, first: bool) {
        // Where it changes, a channel behind the port adds the rest.
        let delay = live.graph.links[self.port].shortest_delay.ps();
        for place in 0..row.count {
            let seen = live.now + row.after + row.step * u64::from(place);
            let left = match row.place {
                Whereabouts::Buffer => Some(seen),
                Whereabouts::Link => Some(seen.saturating_sub(delay)),
                Whereabouts::Stored => None,
                Whereabouts::Shaper => continue,
            };
            let (key, cell) = passage(row, place);
            if first && left.is_none_or(|left| left > self.from) {
                self.cells.insert(key, Passage { left, ..cell });
            } else if let Some(known) = self.cells.get_mut(&key) {
                known.left = known.left.or(left);
                known.marked |= row.cell.ecn.is_set();
            }
        }
    }

    /// Cells on their way to the port: when each arrives.
    fn coming(&mut self, row: &Row, live: &Live) {
        let delay = live.graph.links[row.link].delay.ps();
        for place in 0..row.count {
            let seen = live.now + row.after + row.step * u64::from(place);
            let arrived = match row.place {
                Whereabouts::Link => seen,
                Whereabouts::Buffer => seen + delay,
                Whereabouts::Stored | Whereabouts::Shaper => continue,
            };
            if (self.from..self.to).contains(&arrived) {
                let (key, cell) = passage(row, place);
                if row.cell.ecn.is_set() {
                    self.came_marked.insert(key);
                }
                self.cells.entry(key).or_insert(Passage { arrived: Some(arrived), ..cell });
            }
        }
    }

    /// The cells with what was discarded, in the order of arrival.
    fn finish(mut self, broken: &[[BTreeSet<u32>; 2]]) -> Vec<Passage> {
        for discard in std::mem::take(&mut self.discards) {
            if discard.link == self.port {
                self.discarded(&discard);
            } else if self.brings(discard.link) {
                let (vc, kind, cell) = (discard.vc, number(discard.cell.kind), discard.cell);
                for place in 0..discard.count as u16 {
                    self.cells.remove(&(vc, kind, cell.frame, cell.position + place));
                }
            }
        }
        for (key, cell) in &mut self.cells {
            cell.marked &=
                cell.kind == Kind::Data && cell.arrived.is_some() && !self.came_marked.contains(key);
        }
        let mut cells: Vec<_> = self.cells.into_values().collect();
        for cell in cells.iter_mut().filter(|cell| cell.kind == Kind::Data && cell.length > 1) {
            cell.broken |= broken[cell.vc.flow][usize::from(cell.vc.back)].contains(&cell.frame);
        }
        cells.sort_by_key(|cell| cell.arrived);
        cells
    }

    /// Gives the reason to as many cells of the frame as it took, of those that never left.
    fn discarded(&mut self, discard: &Discard) {
        let (vc, kind, first) = (discard.vc, number(discard.cell.kind), discard.cell);
        let end = first.position + discard.count as u16;
        let of_frame =
            self.cells.range_mut((vc, kind, first.frame, first.position)..(vc, kind, first.frame, end));
        for (_, cell) in of_frame.filter(|(_, cell)| cell.left.is_none()) {
            cell.reason = Some(discard.reason);
            // Cells of a frame that are refused one after the other are noted together, with the time of the first.
            cell.left = Some(discard.at.max(cell.arrived.unwrap_or(0)));
        }
    }
}

/// A cell of a row by its key, with neither arrival nor departure.
fn passage(row: &Row, place: u32) -> (Key, Passage) {
    let cell = &row.cell;
    let position = cell.position + place as u16;
    let (frame, length, broken) = (cell.frame, cell.length, row.broken);
    let known = Passage {
        vc: row.vc,
        kind: cell.kind,
        frame,
        position,
        length,
        arrived: None,
        left: None,
        reason: None,
        broken,
        marked: false,
    };
    ((row.vc, number(cell.kind), frame, position), known)
}
