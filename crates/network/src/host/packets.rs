//! Packets inside a host: in from the network through the IP layer and the processor to TCP, and out the other way.

use celltrain_atm::{Cell, aal5};
use celltrain_engine::{Instant, Time, time::NEVER};
use celltrain_tcp::{Ecn, Outlet, Segment};

use super::{
    Host, HostParts, IpLayer, Outgoing, Pace, Sends, abr::AbrInput, frame_word, interface::Interface,
    mark_of, mix_frame, shift::Of, timers::Timers,
};
use crate::{
    flight::{Packet, PayloadQueue, Streams},
    scenario::Framing,
};

/// A packet that waits for the IP layer.
#[derive(Debug)]
pub(super) enum InIpLayer {
    /// On its way in. The IP layer keeps the order of all frames, so that it is still in flight as number `number` of its queue.
    In { payloads: usize, number: u32 },
    /// On its way out.
    Out(Box<Outbound>),
}

/// A packet that waits for the processor, which may part packets that share a VC.
#[derive(Debug)]
pub(super) enum InProcessor {
    /// On its way in, to the endpoint of this host that it names.
    In(Box<Packet>),
    /// On its way out.
    Out(Box<Outbound>),
}

/// The endpoint that sends a packet, and the number of its flow.
#[derive(Debug, Clone, Copy)]
struct Origin {
    endpoint: u32,
    flow: u32,
}

/// A packet on its way out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outbound {
    from: Origin,
    segment: Segment,
}

/// Which way a packet goes, where both ways have a time of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

/// The frame that carries a segment: its cells, or the packet as a whole.
#[inline(always)]
fn frame_of(segment: &Segment, framing: Framing, aal5: aal5::Params) -> Cell {
    let octets = segment.ip_bytes();
    let (length, octets) = match framing {
        Framing::Cells => (aal5.cells(u64::from(octets)) as u16, 0),
        Framing::Packets => (1, octets),
    };
    Cell { length, octets, ecn: mark_of(segment.ecn), ..Cell::default() }
}

/// What follows when a packet has come to its endpoint.
enum Taken {
    /// Nothing.
    Silently,
    /// The endpoint may have something to send.
    ToAnswer(u32),
    /// The processor has it first, or an endpoint that has more to do than TCP.
    NotYet(Packet),
}

impl HostParts {
    /// TCP takes in a packet, unless something else has it first.
    #[inline(always)]
    fn take_straight(&mut self, timers: &mut Timers, now: Time, packet: &Packet) -> Taken {
        let index = packet.endpoint;
        let endpoint = &mut self.endpoints[index as usize];
        if endpoint.processing(Way::In).is_some() || endpoint.member.is_some() {
            return Taken::NotYet(*packet);
        }
        if endpoint.tcp.takes(now, &packet.segment) {
            return Taken::ToAnswer(index);
        }
        timers.set(index, self.moment.within(endpoint.tcp.deadline()));
        Taken::Silently
    }

    /// Sends what an endpoint has to send, where nothing holds it up. Returns when the endpoint's timer expires.
    #[inline(always)]
    fn send_straight(&mut self, now: Time, index: u32, streams: &mut Streams) -> Time {
        let moment = self.instant(now);
        let endpoint = &mut self.endpoints[index as usize];
        let vc = &mut self.outgoing[endpoint.outgoing as usize];
        let (streams, contents) = streams.parts();
        let next = &mut Interface { stream: &mut streams[vc.stream], sent: &mut self.sent };
        let (peer, flow, aal5) = (endpoint.peer, endpoint.flow, self.aal5);
        let payloads = &mut contents.packets[vc.tcp_payloads()];
        let ip = self.ip.as_deref_mut();
        endpoint.tcp.send_all(now, &mut Straight { now: moment, peer, flow, ip, aal5, vc, payloads, next })
    }

    /// As [`send_straight`](Self::send_straight), on a VC with an ABR source in front of the network interface, in a host without an IP layer
    /// that takes time.
    #[inline(never)]
    fn send_to_abr(
        &mut self,
        rate_timers: &mut Timers,
        now: Time,
        index: u32,
        streams: &mut Streams,
    ) -> Time {
        let moment = self.instant(now);
        let endpoint = &mut self.endpoints[index as usize];
        let vc = &mut self.outgoing[endpoint.outgoing as usize];
        let source = vc.abr.expect("an ABR VC has a source");
        let next = &mut AbrInput::new(&mut self.abr, rate_timers, source);
        let (peer, flow, aal5) = (endpoint.peer, endpoint.flow, self.aal5);
        let payloads = &mut streams.contents.packets[vc.tcp_payloads()];
        endpoint
            .tcp
            .send_all(now, &mut Straight { now: moment, peer, flow, ip: None, aal5, vc, payloads, next })
    }
}

/// What frames come to behind TCP and the IP layer.
pub(super) trait Next {
    /// `count` cells of a frame come at `at`, the first of which is `item`, or a packet as a whole.
    fn take(&mut self, at: Instant, framing: Framing, item: Cell, count: u32);
}

impl Next for AbrInput<'_> {
    fn take(&mut self, at: Instant, _framing: Framing, item: Cell, count: u32) {
        self.enqueue(at.ps(), item, count);
    }
}

/// Where segments go that nothing holds up, looks at or changes on their way to what is next: each is written where its contents wait until
/// they arrive.
struct Straight<'a, N> {
    now: Instant,
    /// The endpoint at the other end, and the number of the flow.
    peer: u32,
    flow: u32,
    ip: Option<&'a mut IpLayer>,
    aal5: aal5::Params,
    vc: &'a mut Outgoing,
    payloads: &'a mut PayloadQueue<Packet>,
    next: &'a mut N,
}

impl<N: Next> Outlet for Straight<'_, N> {
    // Inlined by force, so that it follows from what is written how long the packet is.
    #[inline(always)]
    fn send(&mut self, write: impl FnOnce(&mut Segment)) {
        let at = self.ip.as_mut().map_or(self.now, |ip| ip.serve(self.now));
        let (number, packet) = self.payloads.send();
        write(&mut packet.segment);
        (packet.endpoint, packet.flow, packet.sent) = (self.peer, self.flow, at.ps());
        self.vc.check_number(number);
        let framing = self.vc.framing;
        let frame = frame_of(&packet.segment, framing, self.aal5);
        let item = self.vc.next(frame, frame.length);
        self.next.take(at, framing, item, frame.length.into());
    }
}

impl Host {
    /// The last cells of a frame have arrived, and what else arrived since the last end mark was not of it: all was carried for nothing.
    #[inline(never)]
    pub(super) fn on_corrupt(&mut self, now: Time, vc: u32, cells: u32) {
        self.fingerprint.mix(frame_word(now, vc));
        self.parts.incoming[vc as usize].stats.useless_cells += u64::from(cells);
    }

    /// All cells of frame `number` have arrived.
    // Inlined by force, as is what becomes of most packets: what others need is in functions of its own.
    #[inline(always)]
    pub(super) fn on_frame<const PLAIN: bool>(
        &mut self,
        now: Time,
        cell: &Cell,
        number: u32,
        streams: &mut Streams,
    ) {
        let incoming = &mut self.parts.incoming[cell.vc as usize];
        mix_frame(&mut self.fingerprint, now, cell.vc, number);
        incoming.stats.frames += 1;
        incoming.stats.useful_cells += u64::from(cell.length);
        let Some(payloads) = incoming.payloads.map(|payloads| payloads as usize) else {
            incoming.stats.octets += u64::from(cell.octets);
            return incoming.on_bare_frame(now, number, streams);
        };
        let queue = &mut streams.contents.packets[payloads];
        let ip = self.parts.ip.as_deref_mut().filter(|_| !PLAIN);
        let ip = ip.filter(|ip| ip.serves_arrivals && incoming.carries_tcp);
        // What the IP layer has to serve stays in flight until it is done.
        let packet = if ip.is_some() { queue.get_mut(number) } else { queue.take(number) };
        if let Some(delays) = &mut incoming.delays {
            delays.add(now - packet.sent);
        }
        if !incoming.carries_tcp {
            incoming.stats.octets += u64::from(cell.octets);
            return;
        }
        if incoming.reassembly.marked() && packet.segment.ecn != Ecn::NotEct {
            packet.segment.ecn = Ecn::Ce;
        }
        if !PLAIN && let Some(tap) = &mut self.parts.tap {
            let path = self.parts.endpoints[packet.endpoint as usize].path;
            tap.record(now, path.of_short_flow(packet.flow).reversed(), &packet.segment);
        }
        if let Some(ip) = ip {
            return ip.enter(self.parts.moment, InIpLayer::In { payloads, number });
        }
        let taken = self.parts.take_straight(&mut self.timers, now, packet);
        self.go_on(now, taken, streams);
    }

    /// What follows [`HostParts::take_straight`].
    #[inline(always)]
    fn go_on(&mut self, now: Time, taken: Taken, streams: &mut Streams) {
        match taken {
            Taken::Silently => {}
            Taken::ToAnswer(endpoint) => self.send_due(now, endpoint, streams),
            Taken::NotYet(packet) => self.take_in_by_stages(now, packet, streams),
        }
    }

    /// A packet that the processor handles first, or that is for an endpoint with more to do than TCP.
    #[inline(never)]
    fn take_in_by_stages(&mut self, now: Time, packet: Packet, streams: &mut Streams) {
        match self.parts.endpoints[packet.endpoint as usize].processing(Way::In) {
            Some(service) => {
                let now = self.parts.instant(now);
                self.processor().enter(now, service, InProcessor::In(Box::new(packet)));
            }
            None => self.on_member(now, &packet, streams),
        }
    }

    /// The IP layer is done with a packet.
    #[inline(always)]
    pub(super) fn on_routed(&mut self, now: Time, streams: &mut Streams) {
        let Some((done, packet)) = self.parts.ip.as_mut().and_then(|ip| ip.leave()) else { return };
        let done = self.parts.shift.moved(done, Of::Routed);
        self.parts.moment = done;
        match packet {
            InIpLayer::In { payloads, number } => {
                let packet = streams.contents.packets[payloads].take(number);
                let taken = self.parts.take_straight(&mut self.timers, now, packet);
                self.go_on(now, taken, streams);
            }
            InIpLayer::Out(packet) => self.transmit(done, packet.from, &packet.segment, streams),
        }
    }

    /// The processor is done with a packet. Kept out of the way of hosts whose stacks need none.
    #[inline(never)]
    pub(super) fn on_processed(&mut self, now: Time, streams: &mut Streams) {
        let Some((done, packet)) = self.processor().leave() else { return };
        self.parts.moment = self.parts.shift.moved(done, Of::Processed);
        match packet {
            InProcessor::Out(packet) => {
                self.forward(now, packet.from, &packet.segment, streams);
                self.free_place(now, packet.from.endpoint, streams);
            }
            InProcessor::In(packet) if self.parts.endpoints[packet.endpoint as usize].member.is_some() => {
                self.on_member(now, &packet, streams);
            }
            InProcessor::In(packet) => {
                self.parts.endpoints[packet.endpoint as usize].tcp.on_segment(now, &packet.segment);
                self.send_due(now, packet.endpoint, streams);
            }
        }
    }

    /// Sends what an endpoint has to send now, and sets its timer.
    // Not inlined, as what it calls is inlined into it.
    #[inline(never)]
    pub(super) fn send_due(&mut self, now: Time, endpoint: u32, streams: &mut Streams) {
        let deadline = match self.parts.endpoints[endpoint as usize].sends {
            Sends::Straight => self.parts.send_straight(now, endpoint, streams),
            Sends::ToAbr => self.parts.send_to_abr(&mut self.rate_timers, now, endpoint, streams),
            Sends::ByStages => self.send_by_stages(now, endpoint, streams),
        };
        self.timers.set(endpoint, self.parts.moment.within(deadline));
    }

    /// As [`HostParts::send_straight`], for segments that wait for the processor, for the IP layer or for the rate of their VC, or that are
    /// captured.
    #[inline(never)]
    fn send_by_stages(&mut self, now: Time, endpoint: u32, streams: &mut Streams) -> Time {
        loop {
            let moment = self.parts.instant(now);
            let state = &mut self.parts.endpoints[endpoint as usize];
            if state.headroom == 0 || !state.tcp.may_send() {
                break;
            }
            let pace = &mut self.parts.outgoing[state.outgoing as usize].pace;
            if let Some(pace) = pace
                && pace.free().ps() > now
            {
                self.rate_timers.set(self.parts.abr.len() as u32 + state.outgoing, pace.wait(endpoint));
                break;
            }
            // Used where it is: to move it would be to copy its 100 octets.
            let segment = state.tcp.poll_segment(now);
            let Some(segment) = &segment else { break };
            if let Some(pace) = pace {
                pace.begin(moment, self.parts.aal5.cells(u64::from(segment.ip_bytes())) as u16);
            }
            let from = Origin { endpoint, flow: state.flow };
            match state.processing(Way::Out) {
                Some(service) => {
                    state.headroom -= 1;
                    let packet = Outbound { from, segment: *segment };
                    let now = self.parts.instant(now);
                    self.processor().enter(now, service, InProcessor::Out(Box::new(packet)));
                }
                None => self.forward(now, from, segment, streams),
            }
        }
        self.parts.endpoints[endpoint as usize].tcp.deadline()
    }

    /// The IP layer takes a packet that goes out.
    #[inline(always)]
    fn forward(&mut self, now: Time, from: Origin, segment: &Segment, streams: &mut Streams) {
        let moment = self.parts.instant(now);
        let done = match &mut self.parts.ip {
            None => moment,
            Some(ip) if self.sends_ahead => ip.serve(moment),
            Some(ip) => {
                let packet = Outbound { from, segment: *segment };
                return ip.enter(moment, InIpLayer::Out(Box::new(packet)));
            }
        };
        self.transmit(done, from, segment, streams);
    }

    /// A VC may carry its next frame: the endpoints that wait for it have their turn until one of them sends.
    pub(super) fn on_turn(&mut self, now: Time, outgoing: u32, streams: &mut Streams) {
        let turn = |host: &mut Self| host.parts.outgoing[outgoing as usize].pace.as_mut()?.turn(now);
        while let Some(endpoint) = turn(self) {
            self.send_due(now, endpoint, streams);
        }
        let pace = self.parts.outgoing[outgoing as usize].pace.as_deref();
        let next = pace.filter(|pace| pace.waits()).map_or(Instant::at(NEVER), Pace::free);
        self.rate_timers.set(self.parts.abr.len() as u32 + outgoing, next);
    }

    /// The processor is done with a segment of an endpoint; one that had to wait may go.
    fn free_place(&mut self, now: Time, endpoint: u32, streams: &mut Streams) {
        let headroom = &mut self.parts.endpoints[endpoint as usize].headroom;
        *headroom += 1;
        if *headroom == 1 {
            self.send_due(now, endpoint, streams);
        }
    }

    /// Hands a packet to the network interface at `at`, cut into cells unless it travels whole. Here it gets its number: this is where
    /// the order of the frames on a VC is made.
    #[inline(never)]
    fn transmit(&mut self, at: Instant, from: Origin, segment: &Segment, streams: &mut Streams) {
        let endpoint = &self.parts.endpoints[from.endpoint as usize];
        if let Some(tap) = &mut self.parts.tap {
            tap.record(at.ps(), endpoint.path.of_short_flow(from.flow), segment);
        }
        let vc = &self.parts.outgoing[endpoint.outgoing as usize];
        let (number, packet) = streams.contents.packets[vc.tcp_payloads()].send();
        (packet.segment, packet.endpoint, packet.flow) = (*segment, endpoint.peer, from.flow);
        packet.sent = at.ps();
        vc.check_number(number);
        let frame = frame_of(segment, vc.framing, self.parts.aal5);
        self.send_frame(at, endpoint.outgoing, frame, streams);
    }

    /// Sends a whole frame on a VC: to the network interface, or to the VC's ABR source.
    #[inline(always)]
    fn send_frame(&mut self, at: Instant, outgoing: u32, frame: Cell, streams: &mut Streams) {
        let outgoing = &mut self.parts.outgoing[outgoing as usize];
        let (item, count) = (outgoing.next(frame, frame.length), u32::from(frame.length));
        match outgoing.abr {
            Some(source) => self.enqueue(at.ps(), source, item, count),
            None => {
                let (stream, sent) = (&mut streams[outgoing.stream], &mut self.parts.sent);
                Interface { stream, sent }.take(at, outgoing.framing, item, count);
            }
        }
    }
}
