//! A host: TCP endpoints and other sources, the IP layer and the processor they share, AAL5 in both directions.
//!
//! Events of the same picosecond are handled in this order: arrivals, packets done in the processor, packets done in the
//! IP layer, timers, sources, turns
//! to send. The network interface is a [`crate::port::Port`] of its own: a frame enters it all at once.

mod abr;
mod events;
mod interface;
mod ip;
mod pace;
mod packets;
mod party;
mod pool;
mod server;
mod shift;
mod sources;
mod timers;

use celltrain_atm::{
    Cell,
    aal5::{self, Reassembly},
    cell,
};
use celltrain_engine::{
    Fingerprint, Instant, Time,
    merge::Merge,
    stream::StreamId,
    time::{AFTER_ALL, NEVER},
};
use celltrain_tcp::{Ecn, Receiver, Tcp};

use self::{
    packets::{InProcessor, Way},
    server::Server,
    shift::Of,
    timers::Timers,
};
use crate::{
    capture::{PacketTap, Path},
    flight::Streams,
    measures::{DelaySampler, Delays, Sampler},
    scenario::Framing,
    traffic::source::{Kind, Source},
};

pub(crate) use self::{
    abr::{AbrDestination, AbrEnd, AbrSource, CellQueue},
    ip::IpLayer,
    pace::Pace,
    pool::{Begun, Had, Member, Pool},
    server::Service,
    shift::Shift,
};

/// Where the segments of an endpoint go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sends {
    /// To the network interface, without waiting, and nobody looks at them on the way.
    Straight,
    /// The same to the ABR source in front of it.
    ToAbr,
    /// Wherever they may have to wait, or are captured.
    #[default]
    ByStages,
}

/// One end of a TCP connection in a host.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) tcp: Tcp,
    /// Which of the host's outgoing VCs its segments take.
    pub(crate) outgoing: u32,
    /// The endpoint at the other end, by its number in its host.
    pub(crate) peer: u32,
    /// What captures write into the headers of its packets.
    pub(crate) path: Path,
    /// Time that each of its segments takes in the processor, on its way in and out.
    pub(crate) processing: Option<Box<[Option<Service>; 2]>>,
    /// Segments that it may still hand to the processor.
    pub(crate) headroom: u32,
    pub(crate) sends: Sends,
    /// The number of the present flow, where there is one after the other; then the endpoint is a member of a pool. Or it is of a party.
    pub(crate) flow: u32,
    pub(crate) member: Option<Member>,
    /// Congestion window over time (senders), or bytes delivered so far (receivers).
    pub(crate) sampler: Sampler,
}

impl Endpoint {
    /// What a segment takes in the processor, if anything.
    #[inline]
    fn processing(&self, way: Way) -> Option<Service> {
        self.processing.as_ref()?[way as usize]
    }

    /// What is sampled of it. A client receives what its flow carries.
    fn sample(&self) -> u64 {
        let delivered = |receiver: &Receiver| receiver.stats().distinct_bytes;
        match &self.tcp {
            Tcp::Sender(sender) => sender.window().cwnd,
            Tcp::Receiver(receiver) => delivered(receiver),
            Tcp::Duplex(both) if self.member.as_ref().is_some_and(Member::is_client) => {
                delivered(both.receiver())
            }
            Tcp::Duplex(both) => both.sender().window().cwnd,
        }
    }
}

/// A VC that begins in the host.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The stream to the network interface.
    pub(crate) stream: StreamId,
    /// The VCI there.
    pub(crate) vci: u32,
    /// Where the contents of its frames wait; sources of cells send frames without contents.
    pub(crate) payloads: Option<u32>,
    /// Where the times wait at which its frames of bare cells were sent, if their delays are measured or watched.
    pub(crate) sent: Option<u32>,
    /// Whether its frames travel as cells or as packets.
    pub(crate) framing: Framing,
    /// The priority that the user gives its cells.
    pub(crate) clp: bool,
    /// Whether the EFCI bit of its cells is that of rate control, so that nothing marks frames: an ABR VC, there or back.
    pub(crate) unmarked: bool,
    /// Frames sent.
    pub(crate) frames: u32,
    /// The ABR source in front of the network interface, by its number in the host, if the VC has one.
    pub(crate) abr: Option<u32>,
    /// What keeps its frames at the peak rate, if its sources wait.
    pub(crate) pace: Option<Box<Pace>>,
}

impl Outgoing {
    /// Where the contents of its packets wait.
    #[inline]
    fn tcp_payloads(&self) -> usize {
        self.payloads.expect("a VC that carries TCP has a payload queue") as usize
    }

    /// Frames are numbered as they are sent: the next one must have this number.
    #[inline]
    fn check_number(&self, number: u32) {
        if number != self.frames {
            misnumbered(number, self.frames);
        }
    }

    /// The first of `count` cells that are being sent, from the one that `frame` describes on: it belongs to the current frame of the
    /// VC.
    fn next(&mut self, frame: Cell, count: u16) -> Cell {
        let ecn = if self.unmarked { cell::Ecn::NotCapable } else { frame.ecn };
        let item = Cell { vc: self.vci, frame: self.frames, clp: self.clp, ecn, ..frame };
        if frame.position + count == frame.length {
            self.frames = self.frames.wrapping_add(1);
        }
        item
    }
}

// A function of its own: an assertion with these numbers in its message keeps them in memory.
#[cold]
#[inline(never)]
fn misnumbered(number: u32, frames: u32) -> ! {
    panic!("frames are numbered as they are sent: number {number} is sent as frame {frames}");
}

/// The mark on the cells of a packet.
const fn mark_of(ecn: Ecn) -> cell::Ecn {
    match ecn {
        Ecn::NotEct => cell::Ecn::NotCapable,
        Ecn::Ect0 => cell::Ecn::Capable,
        Ecn::Ect1 => cell::Ecn::LowLatency,
        Ecn::Ce => cell::Ecn::Marked,
    }
}

/// A VC that ends in the host.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) reassembly: Reassembly,
    pub(crate) payloads: Option<u32>,
    /// Whether its frames are for endpoints; those of sources without TCP end here.
    pub(crate) carries_tcp: bool,
    /// As [`Outgoing::sent`].
    pub(crate) sent: Option<u32>,
    /// What the VC is to ABR, if it is anything.
    pub(crate) abr: Option<AbrEnd>,
    pub(crate) stats: IncomingStats,
    /// The transfer delays of its frames, if they are measured.
    pub(crate) delays: Option<Box<Delays>>,
    /// Samples these over time, where the run is traced.
    pub(crate) delay_sampler: Option<Box<DelaySampler>>,
}

impl Incoming {
    /// Cells that have arrived, those of a frame that is not complete yet and RM cells too.
    pub(crate) fn arrived(&self) -> u64 {
        let rm_cells = match &self.abr {
            Some(AbrEnd::Destination(end)) => end.rm_cells,
            Some(AbrEnd::Source { rm_cells, .. }) => *rm_cells,
            None => 0,
        };
        self.stats.useful_cells + self.stats.useless_cells + u64::from(self.reassembly.held()) + rm_cells
    }

    /// What has arrived so far; cells of a frame that cannot become whole any more are useless before it ends.
    pub(crate) fn so_far(&self) -> IncomingStats {
        let useless_cells = self.stats.useless_cells + u64::from(self.reassembly.held_in_vain());
        IncomingStats { useless_cells, ..self.stats }
    }

    /// The delays of its frames and what follows them over time, if both are there.
    fn sampled(&mut self) -> Option<(&mut DelaySampler, &mut Delays)> {
        Some((self.delay_sampler.as_deref_mut()?, self.delays.as_deref_mut()?))
    }

    /// Whether more is to be known of its frames than that they came: their contents, or their delays.
    fn is_followed(&self) -> bool {
        self.payloads.is_some() || self.sent.is_some()
    }

    /// A frame of bare cells has arrived whole.
    #[inline]
    fn on_bare_frame(&mut self, now: Time, number: u32, streams: &mut Streams) {
        if let Some(sent) = self.sent {
            self.note_delay(now, number, sent, streams);
        }
    }

    #[inline(never)]
    fn note_delay(&mut self, now: Time, number: u32, sent: u32, streams: &mut Streams) {
        let delay = streams.contents.sent[sent as usize].arrive(number, now);
        if let Some(delays) = &mut self.delays {
            delays.add(delay);
        }
    }
}

/// What arrived on a VC.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IncomingStats {
    /// Frames of which all cells arrived.
    pub(crate) frames: u64,
    /// Their octets, if they travelled whole and are of a source without TCP.
    pub(crate) octets: u64,
    /// Their cells.
    pub(crate) useful_cells: u64,
    /// Cells that were carried for nothing.
    pub(crate) useless_cells: u64,
}

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) parts: HostParts,
    merge: Merge,
    /// In a box, as most hosts have none.
    processor: Option<Box<Server<InProcessor>>>,
    /// Deadlines of the endpoints and, after them, the times of the sources.
    timers: Timers,
    /// When VCs with a rate may send: ABR sources, and after them, if any is paced, the outgoing VCs.
    rate_timers: Timers,
    /// Whether nothing but endpoints, timers and sources is in it: packets pass no IP layer that takes time and no processor, none is
    /// captured, and no VC sends at a rate of its own.
    is_plain: bool,
    /// Whether packets go to the network interface as soon as it is known when the IP layer will be done with them: nothing
    /// else does, which might come before, and nobody looks at them on the way.
    sends_ahead: bool,
    clock: Time,
    /// When the next samples are due.
    next_sample: Time,
    pub(crate) fingerprint: Fingerprint,
}

/// What a host is made of.
#[derive(Debug)]
pub(crate) struct HostParts {
    /// The instant of what is being handled, of which the host's events know the picosecond alone.
    pub(crate) moment: Instant,
    /// When the last of what was sent to a network interface left.
    pub(crate) sent: Instant,
    /// Moves its events within their picoseconds, in tests.
    pub(crate) shift: Shift,
    /// Its number in the graph.
    pub(crate) node: usize,
    /// Streams to the network interfaces.
    pub(crate) outputs: Vec<StreamId>,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) sources: Vec<Source>,
    pub(crate) abr: Vec<AbrSource>,
    /// The short flows that arrive here.
    pub(crate) pools: Vec<Pool>,
    pub(crate) outgoing: Vec<Outgoing>,
    pub(crate) incoming: Vec<Incoming>,
    /// In a box, as most hosts have none that takes time.
    pub(crate) ip: Option<Box<IpLayer>>,
    pub(crate) aal5: aal5::Params,
    /// Records the packets that leave and reach the host, if they are captured.
    pub(crate) tap: Option<Box<PacketTap>>,
}

impl HostParts {
    /// The instant of what is being handled at `now`: what answers an arrival leaves when that has come, to the last bit.
    #[inline(always)]
    pub(super) fn instant(&self, now: Time) -> Instant {
        assert!(self.moment.ps() == now, "a host acts at another time than the event that it handles");
        self.moment
    }

    /// Gives room back that nothing will come into: a network may have very many hosts.
    pub(crate) fn shrink(&mut self) {
        self.outputs.shrink_to_fit();
        self.endpoints.shrink_to_fit();
        self.sources.shrink_to_fit();
        self.abr.shrink_to_fit();
        self.pools.shrink_to_fit();
        self.outgoing.shrink_to_fit();
        self.incoming.shrink_to_fit();
    }

    /// Finds out where the segments of each endpoint go.
    fn choose_ways_out(&mut self, sends_ahead: bool) {
        let none_waits = (sends_ahead || self.ip.is_none()) && self.tap.is_none();
        for endpoint in &mut self.endpoints {
            let vc = &self.outgoing[endpoint.outgoing as usize];
            let processed = endpoint.processing(Way::Out).is_some() || endpoint.headroom == 0;
            endpoint.sends = match vc.abr {
                _ if !none_waits || processed || vc.pace.is_some() => Sends::ByStages,
                Some(_) => Sends::ToAbr,
                None => Sends::Straight,
            };
        }
    }

    /// Whether packets pass it without delay and unseen, and no VC that ends here is one of ABR.
    fn passes_packets(&self) -> bool {
        self.ip.is_none() && self.tap.is_none() && self.incoming.iter().all(|incoming| incoming.abr.is_none())
    }

    /// Whether all cells that it sends are of TCP's packets, as they leave the IP layer: no bare cells, no RM cells, no
    /// cells at a rate of their own.
    fn sends_only_packets(&self) -> bool {
        self.sources.iter().all(|source| !matches!(source.kind, Kind::Cells(_)))
            && self.incoming.iter().all(|incoming| incoming.abr.is_none())
            && self.abr.is_empty()
    }
}

/// What is mixed into a host's fingerprint when a frame ends there at `now`, whole or not.
#[inline(always)]
fn frame_word(now: Time, vc: u32) -> u64 {
    now ^ u64::from(vc) << 48
}

/// Mixes into `fingerprint` that frame `number` of `vc` has arrived whole at `now`.
#[inline(always)]
fn mix_frame(fingerprint: &mut Fingerprint, now: Time, vc: u32, number: u32) {
    fingerprint.mix(frame_word(now, vc));
    fingerprint.mix(number.into());
}

impl Host {
    pub(crate) fn new(
        mut parts: HostParts,
        merge: Merge,
        generator: impl Fn(&str) -> celltrain_engine::random::Generator,
    ) -> Self {
        let endpoints = parts.endpoints.len();
        let mut timers = Timers::new(endpoints + parts.sources.len());
        for (index, source) in parts.sources.iter().enumerate() {
            timers.set((endpoints + index) as u32, source.next);
        }
        let sends_ahead = parts.sends_only_packets() && parts.tap.is_none();
        parts.choose_ways_out(sends_ahead);
        let processes = parts.endpoints.iter().any(|endpoint| endpoint.processing.is_some());
        let paced = parts.outgoing.iter().any(|outgoing| outgoing.pace.is_some());
        let rates = parts.abr.len() + if paced { parts.outgoing.len() } else { 0 };
        Self {
            merge,
            is_plain: parts.passes_packets() && !processes && rates == 0,
            processor: processes.then(|| Box::new(Server::new(Some(generator("processor"))))),
            timers,
            rate_timers: Timers::new(rates),
            sends_ahead,
            clock: 0,
            next_sample: next_sample(&parts),
            fingerprint: Fingerprint::default(),
            parts,
        }
    }

    /// Moves its events within their picoseconds from now on, by `key`: for tests, before the run begins.
    pub(crate) fn shift_events(&mut self, key: u64) {
        self.parts.shift = Shift::of_key(key ^ self.parts.node as u64);
        for (index, source) in self.parts.sources.iter_mut().enumerate() {
            source.next = self.parts.shift.moved(source.next, Of::Source(index as u32));
        }
    }

    /// Forgets maxima and distributions, which cannot be had as differences: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        self.parts.abr.iter_mut().for_each(|source| source.queue.begin_window());
        self.parts
            .endpoints
            .iter_mut()
            .filter_map(|endpoint| endpoint.member.as_mut())
            .for_each(Member::begin_window);
        for incoming in &mut self.parts.incoming {
            if let Some((sampler, delays)) = incoming.sampled() {
                sampler.begin_window(delays);
            }
            incoming.delays.iter_mut().for_each(|delays| delays.begin_window());
        }
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        self.merge.inputs()
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// When the processor is done with its next packet.
    #[inline]
    fn next_processed(&self) -> Time {
        self.processor.as_ref().map_or(NEVER, |processor| processor.next_done().ps())
    }

    /// When the IP layer is done with its next packet.
    #[inline]
    fn next_routed(&self) -> Time {
        self.parts.ip.as_ref().map_or(NEVER, |ip| ip.next_done().ps())
    }

    /// The processor, which has something to do.
    fn processor(&mut self) -> &mut Server<InProcessor> {
        self.processor.as_mut().expect("a host whose endpoints' packets are processed has a processor")
    }

    /// The earliest event of the host's own.
    pub(crate) fn next_event(&self) -> Time {
        self.next_event_if::<false>()
    }

    /// As [`next_event`](Self::next_event), of a host that is known to be `PLAIN`.
    #[inline(always)]
    fn next_event_if<const PLAIN: bool>(&self) -> Time {
        if PLAIN {
            return self.timers.next();
        }
        self.next_processed().min(self.next_routed()).min(self.timers.next()).min(self.rate_timers.next())
    }

    /// Handles what happens before `until`.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut events = 0;
        while self.next_sample <= until {
            let due = self.next_sample;
            events += self.handle(due, streams);
            self.sample(due);
            self.next_sample = next_sample(&self.parts);
        }
        events += self.handle(until, streams);
        self.clock = until;
        events
    }

    /// Everything before its clock has been handled: tells the outputs how far they are known.
    pub(crate) fn promise(&self, streams: &mut Streams) {
        // What waits for the IP layer has been sent ahead; what comes next waits for it.
        let served = |ip: &IpLayer| (self.clock.max(ip.free()) + ip.shortest()).min(AFTER_ALL);
        let horizon = self.served_ahead().map_or(self.clock, served);
        for &output in &self.parts.outputs {
            streams[output].advance_horizon(horizon);
        }
    }

    /// The time that passes at the least between an event and the arrival at a network interface of what the host sends then: that in
    /// the IP layer, where everything passes it and is sent ahead.
    pub(crate) fn lookahead(&self) -> Time {
        self.served_ahead().map_or(0, IpLayer::shortest)
    }

    /// The IP layer, if what it serves is sent ahead.
    fn served_ahead(&self) -> Option<&IpLayer> {
        self.parts.ip.as_deref().filter(|_| self.sends_ahead)
    }

    fn sample(&mut self, due: Time) {
        for endpoint in &mut self.parts.endpoints {
            if endpoint.sampler.due() == due {
                endpoint.sampler.record(endpoint.sample() as f64);
            }
        }
        for source in self.parts.abr.iter_mut().filter(|source| source.queue_sampler.due() == due) {
            source.rate_sampler.record(source.source.acr().cells());
            source.queue_sampler.record(source.queue.cells() as f64);
        }
        for incoming in &mut self.parts.incoming {
            let frames = incoming.stats.frames;
            if let Some((sampler, delays)) = incoming.sampled().filter(|(sampler, _)| sampler.due() == due) {
                sampler.record(delays, frames);
            }
        }
    }
}

/// When the next samples of a host are due.
fn next_sample(parts: &HostParts) -> Time {
    let endpoints = parts.endpoints.iter().map(|endpoint| endpoint.sampler.due());
    let sources = parts.abr.iter().map(|source| source.queue_sampler.due());
    let delays = parts.incoming.iter().filter_map(|incoming| Some(incoming.delay_sampler.as_ref()?.due()));
    endpoints.chain(sources).chain(delays).fold(NEVER, Time::min)
}
