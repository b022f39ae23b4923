//! Packets inside a host: in from the network through the IP layer and the processor to TCP, and out the other way.

use celltrain_atm::{Cell, aal5::Delivery};
use celltrain_engine::{Instant, Time, stream::Streams, time::NEVER};
use celltrain_tcp::Ecn;

use super::{Endpoint, Host, IpLayer, Pace, Waiting, Way, mark_of};
use crate::{
    scenario::Framing,
    wire::{Packet, Wires},
};

impl Host {
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
                    let packet = Waiting { way: Way::In, endpoint: *endpoint, wire, frame: number };
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

    /// TCP takes a segment, and sends what it calls for.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        packet: Waiting,
        streams: &mut Streams<Cell>,
        wires: &mut Wires,
    ) {
        let segment = &wires.packets[packet.wire].take(packet.frame).segment;
        self.parts.endpoints[packet.endpoint as usize].tcp.on_segment(now, segment);
        self.poll(now, packet.endpoint, streams, wires);
    }

    /// The IP layer takes a packet that goes out.
    // Inlined by force, with what it calls: few segments would take less time than the calls.
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, packet: Waiting, streams: &mut Streams<Cell>, wires: &Wires) {
        let done = match self.parts.ip.service {
            None => now,
            Some(service) if self.sends_ahead => self.ip.serve(now, service),
            Some(service) => return self.ip.enter(now, service, packet),
        };
        self.transmit(done, packet, streams, wires);
    }

    /// Sends what an endpoint has to send, and sets its timer.
    pub(super) fn poll(&mut self, now: Time, endpoint: u32, streams: &mut Streams<Cell>, wires: &mut Wires) {
        let Endpoint { outgoing, peer, .. } = self.parts.endpoints[endpoint as usize];
        let wire = self.parts.outgoing[outgoing as usize].wire.expect("what TCP sends waits in a wire");
        while self.may_send(now, endpoint, outgoing) {
            let state = &mut self.parts.endpoints[endpoint as usize];
            let Some(segment) = state.tcp.poll_segment(now) else { break };
            let frame = wires.packets[wire].send(Packet { segment, endpoint: peer });
            let packet = Waiting { way: Way::Out, endpoint, wire, frame };
            if let Some(pace) = &mut self.parts.outgoing[outgoing as usize].pace {
                let segment = &wires.packets[wire].peek(frame).segment;
                pace.begin(now, self.parts.aal5.cells(u64::from(segment.ip_bytes())) as u16);
            }
            match state.processing[Way::Out as usize] {
                Some(service) => {
                    state.room -= 1;
                    self.processor.enter(now, service, packet);
                }
                None => self.forward(now, packet, streams, wires),
            }
        }
        let deadline = self.parts.endpoints[endpoint as usize].tcp.next_timeout().unwrap_or(NEVER);
        self.timers.set(endpoint, deadline);
    }

    /// Whether an endpoint may send: there is room for a segment, and its VC may carry the next frame.
    #[inline]
    fn may_send(&mut self, now: Time, endpoint: u32, outgoing: u32) -> bool {
        self.parts.endpoints[endpoint as usize].room > 0
            && (self.parts.outgoing[outgoing as usize].pace.is_none()
                || self.has_turn(now, endpoint, outgoing))
    }

    /// Whether the paced VC `outgoing` may carry its next frame; otherwise the endpoint has its turn when it may.
    #[inline(never)]
    fn has_turn(&mut self, now: Time, endpoint: u32, outgoing: u32) -> bool {
        let pace = &mut self.parts.outgoing[outgoing as usize].pace;
        let Some(pace) = pace.as_mut().filter(|pace| pace.free() > now) else { return true };
        self.rate_timers.set(self.parts.abr.len() as u32 + outgoing, pace.wait(endpoint));
        false
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
            self.poll(now, endpoint, streams, wires);
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
            self.poll(now, endpoint, streams, wires);
        }
    }

    /// Cuts a segment into cells, unless it travels as a packet, and hands them to the network interface at `at`.
    #[inline(always)]
    pub(super) fn transmit(&mut self, at: Time, packet: Waiting, streams: &mut Streams<Cell>, wires: &Wires) {
        let endpoint = &self.parts.endpoints[packet.endpoint as usize];
        let outgoing = endpoint.outgoing;
        let segment = &wires.packets[packet.wire].peek(packet.frame).segment;
        if let Some(tap) = &mut self.parts.tap {
            tap.record(at, endpoint.path, segment);
        }
        let vc = &self.parts.outgoing[outgoing as usize];
        debug_assert_eq!(packet.frame, vc.frames, "frames are numbered in order");
        let length = match vc.framing {
            Framing::Cells => self.parts.aal5.cells(u64::from(segment.ip_bytes())) as u16,
            Framing::Packets => 1,
        };
        let mark = mark_of(segment.ecn);
        self.send_cells(Instant::at(at), outgoing, (length, 0), length, mark, streams);
    }
}
