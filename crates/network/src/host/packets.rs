//! Packets inside a host: in from the network through the IP layer and the processor to TCP, and out the other way.

use celltrain_atm::{Cell, aal5::Delivery};
use celltrain_engine::{Instant, Time, stream::Streams, time::NEVER};
use celltrain_tcp::{Ecn, Segment};

use super::{Endpoint, Host, IpLayer, Pace, Waiting, Way, mark_of};
use crate::{
    scenario::Framing,
    wire::{Packet, Wires},
};

/// What makes an endpoint look for something to send.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cause {
    /// A segment came in, in this frame of the VC of this number in the host.
    Segment { vc: u32, frame: u32 },
    /// A timer may have expired.
    Timeout,
    /// The application offers so many bytes.
    Offer(u64),
    /// It may send again what it may not have a moment ago.
    Turn,
}

impl Host {
    /// The last cells of a frame have arrived.
    pub(super) fn on_delivery(
        &mut self,
        now: Time,
        cell: &Cell,
        delivery: Delivery,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let incoming = &mut self.parts.incoming[cell.vc as usize];
        self.fingerprint.mix(now ^ u64::from(cell.vc) << 48);
        match delivery {
            Delivery::Corrupt(cells) => incoming.stats.useless_cells += u64::from(cells),
            Delivery::Frame(number) => {
                incoming.stats.frames += 1;
                incoming.stats.useful_cells += u64::from(cell.length);
                self.fingerprint.mix(u64::from(number));
                if let Some(wire) = incoming.wire {
                    let Packet { segment, endpoint } = wires.packets[wire].peek_mut(number);
                    // On an ABR VC the marks are the ABR source's.
                    let marked = incoming.reassembly.marked() && incoming.abr.is_none();
                    if marked && segment.ecn != Ecn::NotEct {
                        segment.ecn = Ecn::Ce;
                    }
                    if let Some(tap) = &mut self.parts.tap {
                        let path = self.parts.endpoints[*endpoint as usize].path;
                        tap.record(now, path.reversed(), segment);
                    }
                    let packet = Waiting { way: Way::In, endpoint: *endpoint, vc: cell.vc, frame: number };
                    match self.parts.ip {
                        IpLayer { service: Some(service), serves_arrivals: true } => {
                            self.ip.enter(now, service, packet);
                        }
                        _ => self.take_in(now, packet, streams, wires),
                    }
                }
            }
        }
    }

    /// A packet that has come in takes its time in the processor, if the stack needs any.
    #[inline(always)]
    pub(super) fn take_in(
        &mut self,
        now: Time,
        packet: Waiting,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        match self.parts.endpoints[packet.endpoint as usize].processing[Way::In as usize] {
            Some(service) => self.processor.enter(now, service, packet),
            None => self.deliver(now, packet, streams, wires),
        }
    }

    /// The processor is done with a packet. Kept out of the way of hosts whose stacks need none.
    #[inline(never)]
    pub(super) fn on_processed(&mut self, now: Time, streams: &mut Streams<Cell>, wires: &mut Wires) {
        match self.processor.leave() {
            Some(packet) if packet.way == Way::Out => {
                self.forward(now, packet, &self.segment(packet, wires), streams);
                self.make_room(now, packet.endpoint, streams, wires);
            }
            Some(packet) => self.deliver(now, packet, streams, wires),
            None => {}
        }
    }

    /// TCP takes a segment, and sends what it calls for.
    #[inline(always)]
    pub(super) fn deliver(
        &mut self,
        now: Time,
        packet: Waiting,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let Waiting { vc, frame, .. } = packet;
        self.tell(now, packet.endpoint, Cause::Segment { vc, frame }, streams, wires);
    }

    /// What a packet that goes out contains.
    pub(super) fn segment(&self, packet: Waiting, wires: &Wires) -> Segment {
        let wire = self.parts.outgoing[packet.vc as usize].wire.expect("what TCP sends waits in a wire");
        wires.packets[wire].peek(packet.frame).segment
    }

    /// Tells an endpoint what has happened, sends what it has to send then, and sets its timer.
    // What it does with a segment is inlined by force: calls and copies would cost as much.
    pub(super) fn tell(
        &mut self,
        now: Time,
        endpoint: u32,
        cause: Cause,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let state = &mut self.parts.endpoints[endpoint as usize];
        match cause {
            Cause::Segment { vc, frame } => {
                let wire = self.parts.incoming[vc as usize].wire.expect("what came was sent by TCP");
                state.tcp.on_segment(now, &wires.packets[wire].take(frame).segment);
            }
            Cause::Timeout => state.tcp.on_timeout(now),
            Cause::Offer(bytes) => state.tcp.offer(now, bytes),
            Cause::Turn => {}
        }
        let Endpoint { outgoing, peer, .. } = *state;
        loop {
            let state = &mut self.parts.endpoints[endpoint as usize];
            let vc = &mut self.parts.outgoing[outgoing as usize];
            if state.room == 0 {
                break;
            }
            if let Some(pace) = &mut vc.pace
                && pace.free() > now
            {
                self.rate_timers.set(self.parts.abr.len() as u32 + outgoing, pace.wait(endpoint));
                break;
            }
            let Some(segment) = state.tcp.poll_segment(now) else { break };
            let wire = vc.wire.expect("what TCP sends waits in a wire");
            let (frame, Packet { segment, .. }) =
                wires.packets[wire].send(Packet { segment, endpoint: peer });
            let packet = Waiting { way: Way::Out, endpoint, vc: outgoing, frame };
            if let Some(pace) = &mut vc.pace {
                pace.begin(now, self.parts.aal5.cells(u64::from(segment.ip_bytes())) as u16);
            }
            match state.processing[Way::Out as usize] {
                Some(service) => {
                    state.room -= 1;
                    self.processor.enter(now, service, packet);
                }
                None => self.forward(now, packet, segment, streams),
            }
        }
        let deadline = self.parts.endpoints[endpoint as usize].tcp.next_timeout().unwrap_or(NEVER);
        self.timers.set(endpoint, deadline);
    }

    /// The IP layer takes a packet that goes out.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        now: Time,
        packet: Waiting,
        segment: &Segment,
        streams: &mut Streams<Cell>,
    ) {
        let done = match self.parts.ip.service {
            None => now,
            Some(service) if self.sends_ahead => self.ip.serve(now, service),
            Some(service) => return self.ip.enter(now, service, packet),
        };
        self.transmit(done, packet, segment, streams);
    }

    /// A VC may carry its next frame: the endpoints that wait for it have their turn until one of them sends.
    pub(super) fn on_turn(
        &mut self,
        now: Time,
        outgoing: u32,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let turn = |host: &mut Self| host.parts.outgoing[outgoing as usize].pace.as_mut()?.turn(now);
        while let Some(endpoint) = turn(self) {
            self.tell(now, endpoint, Cause::Turn, streams, wires);
        }
        let pace = self.parts.outgoing[outgoing as usize].pace.as_ref();
        let next = pace.filter(|pace| pace.waits()).map_or(NEVER, Pace::free);
        self.rate_timers.set(self.parts.abr.len() as u32 + outgoing, next);
    }

    /// The processor is done with a segment of an endpoint; one that had to wait may go.
    pub(super) fn make_room(
        &mut self,
        now: Time,
        endpoint: u32,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let room = &mut self.parts.endpoints[endpoint as usize].room;
        *room += 1;
        if *room == 1 {
            self.tell(now, endpoint, Cause::Turn, streams, wires);
        }
    }

    /// Cuts a segment into cells, unless it travels as a packet, and hands them to the network interface at `at`.
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        at: Time,
        packet: Waiting,
        segment: &Segment,
        streams: &mut Streams<Cell>,
    ) {
        if let Some(tap) = &mut self.parts.tap {
            tap.record(at, self.parts.endpoints[packet.endpoint as usize].path, segment);
        }
        let vc = &self.parts.outgoing[packet.vc as usize];
        debug_assert_eq!(packet.frame, vc.frames, "frames are numbered in order");
        let length = match vc.framing {
            Framing::Cells => self.parts.aal5.cells(u64::from(segment.ip_bytes())) as u16,
            Framing::Packets => 1,
        };
        let mark = mark_of(segment.ecn);
        self.send_cells(Instant::at(at), packet.vc, (length, 0), length, mark, streams);
    }
}
