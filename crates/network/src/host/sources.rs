//! Sources inside a host: applications that write to TCP, and those of cells and packets without TCP.

use celltrain_atm::Cell;
use celltrain_engine::{
    Instant, Time,
    stream::{Stream, Train},
    time::NEVER,
};

use super::{Host, Outgoing, interface::Interface, packets::Next as _};
use crate::{
    flight::{InFlight, Packet, Streams},
    traffic::{
        source::{CellSource, Kind},
        unit::Unit,
    },
};

impl Host {
    /// A source acts at `at`, and goes on before `until` if nothing else of the host can depend on it: nothing happens there before. Returns when
    /// it acts next, and how often it has acted.
    pub(super) fn on_source(
        &mut self,
        at: Instant,
        index: u32,
        until: Time,
        streams: &mut Streams,
    ) -> (Instant, u64) {
        let (now, source) = (at.ps(), &mut self.parts.sources[index as usize]);
        let next = match &mut source.kind {
            Kind::Cells(cells) => {
                if self.parts.outgoing[cells.outgoing as usize].abr.is_none() {
                    return self.send_bare(index, until, streams);
                }
                return (self.send_to_abr(index, streams), 1);
            }
            Kind::Arrivals { pool } => {
                let pool = *pool;
                self.on_arrival(now, pool, streams)
            }
            Kind::Application { endpoint, bytes, every, stop } => {
                let (endpoint, bytes, every, stop) = (*endpoint, *bytes, *every, *stop);
                source.next = source.next.delayed(every.unwrap_or(0));
                let next = every.map(|every| now + every).filter(|&next| next < stop);
                let tcp = &mut self.parts.endpoints[endpoint as usize].tcp;
                tcp.offer(now, bytes);
                if next.is_none() {
                    tcp.close(now);
                }
                self.send_due(now, endpoint, streams);
                next.unwrap_or(NEVER)
            }
            Kind::Party { endpoint } => {
                let endpoint = *endpoint;
                self.on_party(now, endpoint, streams)
            }
            Kind::Stop { endpoint } => {
                let endpoint = *endpoint;
                let tcp = &mut self.parts.endpoints[endpoint as usize].tcp;
                tcp.stop(now);
                tcp.close(now);
                self.send_due(now, endpoint, streams);
                NEVER
            }
        };
        (at.within(next), 1)
    }

    /// A source of cells or packets sends them to the network interface, as often as its time comes before `until`, and at least once.
    /// Returns when it sends next, and how often it has sent.
    fn send_bare(&mut self, index: u32, until: Time, streams: &mut Streams) -> (Instant, u64) {
        let source = &mut self.parts.sources[index as usize];
        let Kind::Cells(cells) = &mut source.kind else { panic!("only sources of cells send them") };
        let vc = &mut self.parts.outgoing[cells.outgoing as usize];
        let (streams, flight) = streams.parts();
        let mut interface = Interface { stream: &mut streams[vc.stream], sent: &mut self.parts.sent };
        if cells.as_poisson().is_some() {
            source.next = interface.leave(source.next);
            let sent = send_followed(&mut source.next, cells, vc, until, (interface.stream, flight));
            return (source.next, sent);
        }
        let mut sent = 0;
        loop {
            let (at, item, count) = next_unit(&mut source.next, cells, vc, flight);
            interface.take(at, vc.framing, item, count.into());
            sent += 1;
            if source.next.ps() >= until {
                return (source.next, sent);
            }
        }
    }

    /// A source of cells sends them to the ABR source of their VC; returns when it sends next.
    #[inline(never)]
    fn send_to_abr(&mut self, index: u32, streams: &mut Streams) -> Instant {
        let source = &mut self.parts.sources[index as usize];
        let Kind::Cells(cells) = &mut source.kind else { panic!("only sources of cells send them") };
        let vc = &mut self.parts.outgoing[cells.outgoing as usize];
        let (at, item, count) = next_unit(&mut source.next, cells, vc, &mut streams.contents);
        let next = source.next;
        if let Some(abr) = vc.abr {
            self.enqueue(at.ps(), abr, item, count.into());
        }
        next
    }
}

/// A Poisson source sends frames or packets, all alike, as [`Host::send_bare`] does; when they were sent is kept where somebody asks for
/// it. Returns how many.
fn send_followed(
    next: &mut Instant,
    cells: &mut CellSource,
    vc: &mut Outgoing,
    until: Time,
    (stream, flight): (&mut Stream<Cell>, &mut InFlight),
) -> u64 {
    if let Some(payloads) = vc.payloads {
        let queue = &mut flight.packets[payloads as usize];
        let sent = send_poisson(next, cells, vc, until, stream, |at| {
            *queue.send().1 = Packet { sent: at, ..Packet::default() };
        });
        vc.check_number(queue.sent());
        return sent;
    }
    let Some(times) = vc.sent.map(|sent| &mut flight.sent[sent as usize]) else {
        return send_poisson(next, cells, vc, until, stream, |_| ());
    };
    let sent = send_poisson(next, cells, vc, until, stream, |at| _ = times.send(at));
    vc.check_number(times.sent());
    sent
}

/// As [`send_followed`]; `follow` is told when each is sent.
#[inline(always)]
fn send_poisson(
    next: &mut Instant,
    cells: &mut CellSource,
    vc: &mut Outgoing,
    until: Time,
    stream: &mut Stream<Cell>,
    mut follow: impl FnMut(Time),
) -> u64 {
    let Unit { frame: length, octets, ecn, .. } = cells.unit;
    let limit = until.min(cells.stop);
    let Some((mean, generator)) = cells.as_poisson() else { return 0 };
    let item = vc.next(Cell { length, octets, ecn, ..Cell::default() }, length);
    let first = Train { count: length.into(), ..Train::single(*next, item) };
    let mut after = first.first;
    let sent = stream.push_row(0, first, |frame| {
        follow(after.ps());
        after = after.delayed(generator.exponential_of(mean));
        frame.first = after;
        frame.item.frame = frame.item.frame.wrapping_add(1);
        after.ps() < limit
    });
    vc.frames = item.frame.wrapping_add(sent as u32);
    *next = if after.ps() < cells.stop { after } else { Instant::at(NEVER) };
    sent
}

/// What a source sends at `next`: when, the first of its cells, and how many they are. Moves `next` on.
#[inline(always)]
fn next_unit(
    next: &mut Instant,
    cells: &mut CellSource,
    vc: &mut Outgoing,
    flight: &mut InFlight,
) -> (Instant, Cell, u16) {
    let (at, (count, position)) = (*next, cells.send());
    let (Unit { frame: length, ecn, .. }, octets) = (cells.unit, cells.octets());
    *next = cells.after(at);
    if let Some(payloads) = vc.payloads {
        let (number, packet) = flight.packets[payloads as usize].send();
        *packet = Packet { sent: at.ps(), ..Packet::default() };
        vc.check_number(number);
    } else if let Some(sent) = vc.sent.filter(|_| position == 0) {
        let number = flight.sent[sent as usize].send(at.ps());
        vc.check_number(number);
    }
    (at, vc.next(Cell { position, length, octets, ecn, ..Cell::default() }, count), count)
}
