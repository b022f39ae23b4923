//! ABR in a host: the queue in front of an ABR source, and what the ends of an ABR VC do with RM cells.
//!
//! Backward RM cells go back at once, on the VC that carries the acknowledgements, which is not rate-controlled itself.

use std::collections::VecDeque;

use celltrain_atm::{
    Cell,
    abr::{Choice, Destination, Source, SourceDiscard, Waiting},
    cell::Kind,
};
use celltrain_engine::{
    Instant, Time,
    stream::{Item, Train},
};

use super::{Host, Outgoing, interface::Interface, shift::Of, timers::Timers};
use crate::{
    flight::{InFlight, Streams},
    measures::Sampler,
};

/// The sending end of an ABR VC: its cells wait here until the source's rate lets them go.
#[derive(Debug)]
pub(crate) struct AbrSource {
    pub(crate) source: Source,
    /// The VC among the host's outgoing ones.
    pub(crate) outgoing: u32,
    /// Where the contents of its forward RM cells wait.
    pub(crate) payloads: usize,
    /// Cells that may wait.
    pub(crate) capacity: u64,
    /// What of a frame is dropped that does not fit.
    pub(crate) discard: SourceDiscard,
    pub(crate) queue: CellQueue,
    /// Allowed cell rate over time.
    pub(crate) rate_sampler: Sampler,
    /// Cells waiting over time.
    pub(crate) queue_sampler: Sampler,
}

/// The queue of a source, as bursts of cells, with counts of the cells that found no room.
#[derive(Debug, Default)]
pub(crate) struct CellQueue {
    bursts: VecDeque<(Cell, u32)>,
    cells: u64,
    /// The most cells since the window began.
    pub(crate) most: u64,
    pub(crate) dropped: u64,
    /// Whether the frame whose cells come is refused.
    refuses: bool,
}

impl CellQueue {
    /// Cells waiting.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    pub(crate) fn begin_window(&mut self) {
        self.most = self.cells;
    }

    /// `count` cells of a frame come, the first of which is `head`; those beyond `capacity` are dropped, or the whole frame, if all of it
    /// would not find room when its first cell comes.
    fn enter(&mut self, head: Cell, count: u32, capacity: u64, discard: SourceDiscard) {
        let (count, room) = (u64::from(count), capacity - self.cells);
        if head.position == 0 {
            self.refuses = discard == SourceDiscard::Frames && u64::from(head.length) > room;
        }
        let accepted = if self.refuses { 0 } else { count.min(room) };
        let whole = discard == SourceDiscard::Cells || accepted == 0 || accepted == count;
        assert!(whole, "a frame that was let in finds room for all of its cells");
        self.dropped += count - accepted;
        self.cells += accepted;
        self.most = self.most.max(self.cells);
        if accepted > 0 {
            self.bursts.push_back((head, accepted as u32));
        }
    }

    /// Takes the first cell.
    fn leave(&mut self) -> Cell {
        let (head, _) = *self.bursts.front().expect("a source sends data only while some waits");
        self.remove(1);
        head
    }

    /// Removes the first `count` cells, which are of one burst.
    fn remove(&mut self, count: u32) {
        let (head, cells) = self.bursts.front_mut().expect("only cells that wait are removed");
        *cells -= count;
        head.advance(count);
        if *cells == 0 {
            self.bursts.pop_front();
        }
        self.cells -= u64::from(count);
    }
}

impl AbrSource {
    fn waiting(&self) -> Waiting {
        Waiting { data: self.queue.cells > 0, brm: false }
    }

    /// When the next cell goes, if nothing changes; not before `now`.
    pub(super) fn next_time(&self, now: Time) -> Time {
        self.source.next_time(self.waiting()).max(now)
    }

    /// The cell that goes at `now`, if one may; `vci` is that of the VC.
    fn send(&mut self, now: Time, vci: u32, flight: &mut InFlight) -> Option<Cell> {
        let (rm, tagged) = match self.source.send(now, self.waiting()) {
            Choice::Data => return Some(self.queue.leave()),
            Choice::Frm(rm) => (rm, false),
            Choice::OutOfRateFrm(rm) => (rm, true),
            Choice::Brm => unreachable!("backward RM cells do not wait here"),
            Choice::Nothing => return None,
        };
        let (number, contents) = flight.rm[self.payloads].send();
        *contents = rm;
        Some(Cell::management(vci, Kind::ForwardRm, number, tagged))
    }

    /// Sends the data cells that go from `now` on and before `until`, before any other cell, burst by burst as they came.
    fn send_rows(&mut self, now: Time, until: Time, interface: &mut Interface) {
        while let Some(&(item, waiting)) = self.queue.bursts.front() {
            let Some(burst) = self.source.send_burst(now, waiting, until) else { return };
            let first = Train::single(burst.first, item);
            interface.take_row(Train { slot: burst.spacing, count: burst.count, ..first });
            self.queue.remove(burst.count);
            if burst.count < waiting {
                return;
            }
        }
    }
}

/// An end of an ABR VC, as the cells that arrive for it see it.
#[derive(Debug)]
pub(crate) enum AbrEnd {
    /// Data and forward RM cells arrive.
    Destination(Box<AbrDestination>),
    /// Backward RM cells arrive, between acknowledgements.
    Source {
        /// The source among the host's.
        source: u32,
        /// Where the contents of the backward RM cells wait.
        payloads: usize,
        /// How many of them have arrived.
        rm_cells: u64,
    },
}

impl AbrEnd {
    /// Data cells without a mark arrive, as most do: that is all that is noted. `false`: these are others.
    #[inline]
    pub(super) fn takes_unmarked(&mut self, train: &Train<Cell>) -> bool {
        let unmarked = train.item.kind == Kind::Data && !train.item.ecn.is_set();
        if unmarked && let Self::Destination(end) = self {
            end.destination.on_data(train.first.ps(), false);
        }
        unmarked
    }
}

/// The receiving end of an ABR VC.
#[derive(Debug)]
pub(crate) struct AbrDestination {
    pub(crate) destination: Destination,
    /// Where the contents of the forward RM cells wait, and how many have arrived.
    pub(crate) payloads: usize,
    pub(crate) rm_cells: u64,
    /// The outgoing VC that takes backward RM cells, and where their contents wait.
    pub(crate) outgoing: u32,
    pub(crate) back_payloads: usize,
}

/// The queue of an ABR source, and its timer.
pub(super) struct AbrInput<'a> {
    source: &'a mut AbrSource,
    rate_timers: &'a mut Timers,
    index: u32,
}

impl<'a> AbrInput<'a> {
    /// That of the source number `index`.
    pub(super) fn new(sources: &'a mut [AbrSource], rate_timers: &'a mut Timers, index: u32) -> Self {
        Self { source: &mut sources[index as usize], rate_timers, index }
    }

    /// `count` cells of the VC have come.
    pub(super) fn enqueue(&mut self, now: Time, head: Cell, count: u32) {
        let source = &mut *self.source;
        let idle = source.queue.cells == 0;
        source.queue.enter(head, count, source.capacity, source.discard);
        if idle {
            self.rate_timers.set(self.index, Instant::at(source.next_time(now)));
        }
    }
}

impl Host {
    /// `count` cells of an ABR VC have come to the source number `index`.
    pub(super) fn enqueue(&mut self, now: Time, index: u32, head: Cell, count: u32) {
        AbrInput::new(&mut self.parts.abr, &mut self.rate_timers, index).enqueue(now, head, count);
    }

    /// Something has changed for an ABR source: sets its timer anew.
    fn rouse(&mut self, now: Time, index: u32) {
        let next = self.parts.abr[index as usize].next_time(now);
        self.rate_timers.set(index, Instant::at(next));
    }

    /// An ABR source's time has come: it sends at `now`, and on before something else happens, at `until` at the earliest.
    pub(super) fn on_abr_source(&mut self, now: Time, index: u32, until: Time, streams: &mut Streams) {
        let source = &mut self.parts.abr[index as usize];
        let Outgoing { stream, vci, .. } = self.parts.outgoing[source.outgoing as usize];
        let (streams, flight) = streams.parts();
        let mut interface = Interface { stream: &mut streams[stream], sent: &mut self.parts.sent };
        let (until, mut next) = (until.max(now + 1), now);
        loop {
            source.send_rows(next, until, &mut interface);
            next = source.next_time(next);
            if next >= until {
                break;
            }
            if let Some(cell) = source.send(next, vci, flight) {
                interface.take_row(Train::single(Instant::at(next), cell));
            }
        }
        self.rate_timers.set(index, Instant::at(next));
    }

    /// RM cells or marked cells arrive at an end of an ABR VC.
    pub(super) fn on_abr_cells(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        let (cell, now) = (train.item, train.first.ps());
        match cell.kind {
            Kind::Data => self.on_marks(train, streams),
            Kind::ForwardRm => {
                if let Some(AbrEnd::Destination(end)) = &mut self.parts.incoming[cell.vc as usize].abr {
                    end.rm_cells += 1;
                    end.destination.on_frm(streams.contents.rm[end.payloads].take(cell.frame));
                }
                self.turn_round(train.first, cell.vc, streams);
            }
            Kind::BackwardRm => {
                self.handle_until(now, streams);
                let Some(AbrEnd::Source { source, payloads, rm_cells }) =
                    &mut self.parts.incoming[cell.vc as usize].abr
                else {
                    return;
                };
                *rm_cells += 1;
                let (source, payloads) = (*source, *payloads);
                let abr = &mut self.parts.abr[source as usize].source;
                abr.on_brm(streams.contents.rm[payloads].take(cell.frame));
                self.fingerprint.mix(now ^ abr.acr().cells().to_bits());
                self.rouse(now, source);
            }
        }
    }

    /// Marked data cells arrive: at an ABR destination each may call for a backward RM cell.
    fn on_marks(&mut self, train: &Train<Cell>, streams: &mut Streams) {
        let vc = train.item.vc;
        for place in 0..train.count {
            let Some(AbrEnd::Destination(end)) = &mut self.parts.incoming[vc as usize].abr else { return };
            let at = train.arrival(place);
            end.destination.on_data(at.ps(), true);
            if end.destination.has_brm() {
                self.turn_round(at, vc, streams);
            }
        }
    }

    /// Sends the backward RM cell that the destination of `vc` has made.
    fn turn_round(&mut self, at: Instant, vc: u32, streams: &mut Streams) {
        // What the host sends before comes first on the way to the network interface.
        self.handle_until(at.ps(), streams);
        let Some(AbrEnd::Destination(end)) = &mut self.parts.incoming[vc as usize].abr else { return };
        let Some(rm) = end.destination.take_brm() else { return };
        let (number, contents) = streams.contents.rm[end.back_payloads].send();
        *contents = rm;
        let Outgoing { stream, vci, .. } = self.parts.outgoing[end.outgoing as usize];
        let cell = Cell::management(vci, Kind::BackwardRm, number, false);
        let at = self.parts.shift.moved(at, Of::Arrival(vc));
        let (stream, sent) = (&mut streams[stream], &mut self.parts.sent);
        Interface { stream, sent }.take_row(Train::single(at, cell));
    }
}
