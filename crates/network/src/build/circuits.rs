//! The VCs of flows, laid from port to port.

use std::sync::Arc;

use celltrain_atm::{
    aal5::Reassembly,
    abr::{Destination, Rate},
    contract::{Category, Contract, Spacing},
};
use celltrain_engine::stream::StreamId;

use super::{Builder, Circuit, Circuits, Joint, Laid, VcDraft, idle::idle_path, push_only};
use crate::{
    capture::Path,
    channel::{NextHop, Vc},
    flight::{PayloadQueue, SentTimes, handle},
    host::{AbrDestination, AbrEnd, AbrSource, CellQueue, Incoming, IncomingStats, Outgoing, Pace},
    measures::{DelaySampler, Delays, Sampler},
    port::VcEntry,
    rate_control::{RmRelay, Role},
    scenario::{Flow, Framing, Traffic, Way},
};

impl Builder<'_> {
    /// Lays the VCs of a flow, one there and one back, unless it shares those of another.
    pub(super) fn circuits(&mut self, index: usize, flow: &Flow, path: Path) -> Circuits {
        if flow.circuit < index {
            return self.circuits[flow.circuit];
        }
        let is_reordered =
            flow.is_sprayed() || flow.route.iter().any(|&link| self.graph.links[link].reorder.is_some());
        let forward = Circuit {
            name: &flow.name,
            from: flow.from,
            to: flow.to,
            // A packet that may be overtaken keeps the time at which it was sent with it.
            payloads: (flow.traffic.uses_tcp() || is_reordered).then(|| self.add_payloads()),
            measured: self
                .scenario
                .spec()
                .measures
                .delays
                .measures(flow.traffic.uses_tcp())
                .then(|| idle_path(self.graph, flow, &self.scenario.spec().aal5)),
            path,
            contract: flow.port_contract(),
            flow: Some(index),
            rm_payloads: flow.abr.is_some().then(|| self.add_rm_payloads()),
            relays: Vec::new(),
        };
        let [ways, ways_back] = flow.sprayed_ways();
        let there = self.circuit(&forward, &flow.route, ways, 0);
        let Laid { outgoing, incoming, .. } = there;
        if flow.back.is_empty() {
            return Circuits { outgoing, incoming, ack_outgoing: 0 };
        }
        let backward = Circuit {
            name: &flow.name,
            from: flow.to,
            to: flow.from,
            payloads: flow.traffic.uses_tcp().then(|| self.add_payloads()),
            measured: None,
            path: path.reversed(),
            contract: self.back_contract(flow),
            flow: None,
            rm_payloads: flow.abr.is_some().then(|| self.add_rm_payloads()),
            relays: self.relays(flow, &there.vcis),
        };
        // ACKs are visited after the data that they acknowledge.
        let back = self.circuit(&backward, &flow.back, ways_back, self.graph.links.len());
        if let (Some(there_rm), Some(back_rm)) = (forward.rm_payloads, backward.rm_payloads) {
            self.rate_control(flow, [&there, &back], [there_rm, back_rm]);
        }
        Circuits { outgoing, incoming, ack_outgoing: back.outgoing }
    }

    /// The ports that relay the backward RM cells of an ABR flow, whose VCIs there are `vcis`: those with an allocator.
    fn relays(&self, flow: &Flow, vcis: &[u32]) -> Vec<Option<(usize, u32)>> {
        let relay = |(&port, &vci): (&usize, &u32)| {
            let stamps = flow.abr.is_some() && self.graph.links[port].allocator.is_some();
            stamps.then_some((port, vci))
        };
        // The host's own interface stamps nothing.
        flow.route.iter().zip(vcis).skip(1).rev().map(relay).collect()
    }

    /// Puts the ends of an ABR VC into the hosts of its flow: the VC there and back, and their payload queues for RM cells.
    fn rate_control(&mut self, flow: &Flow, ways: [&Laid; 2], rm_queues: [usize; 2]) {
        let Some(params) = &flow.abr else { return };
        let ([there, back], [payloads, back_payloads]) = (ways, rm_queues);
        let rate = Rate::of_bits(self.graph.links[flow.route[0]].slowest());
        let sample = self.sample;
        let host = self.host(flow.from);
        let source = host.abr.len() as u32;
        host.abr.push(AbrSource {
            source: celltrain_atm::abr::Source::new(params, rate).expect("the scenario was checked"),
            outgoing: there.outgoing,
            payloads,
            capacity: params.source_buffer.units(),
            discard: params.source_discard,
            queue: CellQueue::default(),
            rate_sampler: Sampler::new(sample),
            queue_sampler: Sampler::new(sample),
        });
        host.outgoing[there.outgoing as usize].abr = Some(source);
        let end = AbrEnd::Source { source, payloads: back_payloads, rm_cells: 0 };
        host.incoming[back.incoming as usize].abr = Some(end);
        let destination = Destination::new(params);
        let end =
            AbrDestination { destination, payloads, rm_cells: 0, outgoing: back.outgoing, back_payloads };
        self.host(flow.to).incoming[there.incoming as usize].abr = Some(AbrEnd::Destination(Box::new(end)));
    }

    fn back_contract(&mut self, flow: &Flow) -> Arc<Contract> {
        let contract = flow.back_contract();
        if *self.back_contract != contract {
            self.back_contract = Arc::new(contract);
        }
        Arc::clone(&self.back_contract)
    }

    fn add_sent(&mut self) -> usize {
        self.flight.sent.push(SentTimes::default());
        self.flight.sent.len() - 1
    }

    fn add_rm_payloads(&mut self) -> usize {
        self.flight.rm.push(PayloadQueue::default());
        self.flight.rm.len() - 1
    }

    /// Lays a VC along `route`, or along `ways` if it has several.
    fn circuit(&mut self, circuit: &Circuit<'_>, route: &[usize], ways: &[Way], depth: usize) -> Laid {
        let Circuit { from, to, mut payloads, .. } = *circuit;
        let mut stream = self.joint(Joint::Host(from), Joint::Link(route[0]));
        let mut vci = self.port(route[0]).entries.len() as u32;
        let (framing, clp) = (self.graph.links[route[0]].framing, circuit.contract.clp);
        let mut pace = None;
        if let Some(pcr) = circuit.contract.shaped_rate() {
            // Bare cells come from sources that do not wait.
            let paced = circuit.contract.spacing == Spacing::Frames && framing == Framing::Cells;
            if paced && payloads.is_some() {
                pace = Some(Box::new(Pace::new(self.slots.at(&self.graph.links[route[0]]).cell(pcr.0))));
            } else {
                (stream, vci) = self.shape(from, route[0], pcr, vci);
            }
        }
        let sent = (circuit.measured.is_some() && payloads.is_none()).then(|| self.add_sent());
        push_only(
            &mut self.host(from).outgoing,
            Outgoing {
                stream,
                vci,
                payloads: payloads.map(handle),
                sent: sent.map(handle),
                framing,
                clp,
                unmarked: circuit.contract.category == Category::Abr,
                frames: 0,
                abr: None,
                pace,
            },
        );
        self.vcs.push(VcDraft {
            contract: Arc::clone(&circuit.contract),
            flow: circuit.flow,
            role: role(circuit),
            policed_at: route.get(1).copied(),
            line: self.graph.links[route[0]].rate,
        });
        let vcis = if ways.is_empty() {
            self.lay(circuit, (None, route), &mut payloads, None, depth)
        } else {
            payloads = Some(self.spray(circuit, ways, depth));
            Vec::new()
        };
        // Short flows come and go, and there may be very many.
        let lasts = |flow: usize| !matches!(*self.graph.flows[flow].traffic, Traffic::ShortFlows(_));
        let sample = self.sample.filter(|_| circuit.measured.is_some() && circuit.flow.is_some_and(lasts));
        let delay_sampler = sample.map(|period| Box::new(DelaySampler::new(period)));
        let carries_tcp = circuit.flow.is_none_or(|flow| self.graph.flows[flow].traffic.uses_tcp());
        push_only(
            &mut self.host(to).incoming,
            Incoming {
                reassembly: Reassembly::default(),
                payloads: payloads.map(handle),
                carries_tcp,
                sent: sent.map(handle),
                abr: None,
                stats: IncomingStats::default(),
                delays: circuit.measured.map(|idle| Box::new(Delays::over(idle))),
                delay_sampler,
            },
        );
        let outgoing = self.host(from).outgoing.len() as u32 - 1;
        Laid { outgoing, incoming: self.host(to).incoming.len() as u32 - 1, vcis }
    }

    /// Lays the VC drafted last from port to port, of which the first stands at `depth`, and which it reaches on the link `before`; returns
    /// its VCIs there. Behind the last link the
    /// contents of its frames wait in `meeting`, if that is where VCs meet, else in what `payloads` becomes.
    pub(super) fn lay(
        &mut self,
        circuit: &Circuit<'_>,
        (mut before, route): (Option<usize>, &[usize]),
        payloads: &mut Option<usize>,
        meeting: Option<usize>,
        depth: usize,
    ) -> Vec<u32> {
        let mut vcis = Vec::with_capacity(route.len());
        for (place, &link) in route.iter().enumerate() {
            let following = route.get(place + 1).copied();
            let next = following.map_or(Joint::Host(circuit.to), Joint::Link);
            let vci = self.next_vci(next);
            let relay = circuit.relays.get(place).copied().flatten();
            let entry = if self.has_one_channel(link) {
                let meeting = meeting.filter(|_| following.is_none());
                self.channel_hop(link, (next, vci), relay, circuit, payloads, meeting)
            } else {
                self.hop(link, (next, vci), relay, circuit, *payloads)
            };
            vcis.push(self.enter_vc((before, link), entry, depth + place));
            before = Some(link);
        }
        vcis
    }

    /// The number that the next VC to be laid gets where it enters `next`.
    pub(super) fn next_vci(&mut self, next: Joint) -> u32 {
        let count = match next {
            Joint::Host(host) => self.host(host).incoming.len(),
            Joint::Link(next) | Joint::Relay { port: next, .. } => self.port(next).entries.len(),
        };
        count as u32
    }

    /// Enters the VC drafted last at a port that it reaches over `depth` others, the last of them that of the link `before`; returns its VCI
    /// there.
    pub(super) fn enter_vc(
        &mut self,
        (before, link): (Option<usize>, usize),
        entry: VcEntry,
        depth: usize,
    ) -> u32 {
        let number = self.vcs.len() as u32 - 1;
        let pauses = self.graph.links[link].pauses();
        let port = self.port(link);
        port.ingress.extend(before.filter(|_| pauses));
        port.depth = port.depth.max(depth);
        port.entries.push(entry);
        port.vcs.push(number);
        port.entries.len() as u32 - 1
    }

    /// The entry of a VC at the port of `link`, from where it goes on to `next`, and its backward RM cells through the port that relays
    /// them as the reverse path of its VC.
    fn hop(
        &mut self,
        link: usize,
        (next, vci): (Joint, u32),
        relay: Option<(usize, u32)>,
        circuit: &Circuit<'_>,
        payloads: Option<usize>,
    ) -> VcEntry {
        let output = self.joint(Joint::Link(link), next);
        let relay = relay.map(|(port, vc)| {
            let there = self.relay(Joint::Relay { port, link }, next, vci, vc, circuit.rm_payloads);
            (self.joint(Joint::Link(link), Joint::Link(port)), there)
        });
        for (stream, vci) in [Some((output, vci)), relay].into_iter().flatten() {
            if self.channels.contains_key(&stream) {
                let next = NextHop { output: 0, vci };
                let vc = Vc { next, payloads, ..vc_of(circuit) };
                self.watch(link, stream, vci, circuit, vc);
            }
        }
        VcEntry::new(output, vci, relay)
    }

    /// As [`Builder::hop`], where all cells pass one channel. On the link the VC goes by its number among those of the port, and
    /// behind a link that reorders, or where VCs meet, its frames have payloads of their own.
    fn channel_hop(
        &mut self,
        link: usize,
        (next, vci): (Joint, u32),
        relay: Option<(usize, u32)>,
        circuit: &Circuit<'_>,
        payloads: &mut Option<usize>,
        meeting: Option<usize>,
    ) -> VcEntry {
        let stream = self.whole(link);
        let number = self.port(link).entries.len() as u32;
        let reordered = self.graph.links[link].reorder.as_ref().and(*payloads).filter(|_| meeting.is_none());
        let behind = reordered.map(|_| self.add_payloads()).or(meeting);
        let hop = self.next_hop(stream, link, next, vci);
        let relay = relay.map(|(port, vc)| {
            let there = self.relay(Joint::Relay { port, link }, next, vci, vc, circuit.rm_payloads);
            self.next_hop(stream, link, Joint::Link(port), there)
        });
        let vc = Vc { next: hop, relay, payloads: *payloads, payloads_behind: behind, ..vc_of(circuit) };
        self.watch(link, stream, number, circuit, vc);
        *payloads = behind.or(*payloads);
        VcEntry::new(stream, number, None)
    }

    /// Tells the channel behind `stream` of a VC on `link` that is called `vci` there.
    pub(super) fn watch(&mut self, link: usize, stream: StreamId, vci: u32, circuit: &Circuit<'_>, vc: Vc) {
        // In a capture the VC goes by its number among the VCs of the port.
        let number = self.ports.get(link).map_or(0, |port| port.entries.len());
        let channel = self.channel_at(stream);
        channel.vcs.insert(vci, vc);
        if let Some(tap) = &mut channel.tap {
            tap.add(vci, number as u32, circuit.path);
        }
    }

    /// Lets a port relay the backward RM cells of its VC `vc` on to `next`, where their VC has the number `vci`; returns its number
    /// here.
    fn relay(&mut self, here: Joint, next: Joint, vci: u32, vc: u32, rm_payloads: Option<usize>) -> u32 {
        let Joint::Relay { port, .. } = here else { unreachable!("ports relay RM cells") };
        let output = self.joint(here, next);
        let payloads = rm_payloads.expect("the reverse path of an ABR VC has a payload queue for RM cells");
        let first = self.crossing[port];
        let relays = &mut self.port(port).relays;
        relays.push(RmRelay { output, next_vc: vci, vc, payloads });
        (first + relays.len() - 1) as u32
    }
}

/// What a channel knows of a VC wherever it is.
pub(super) fn vc_of(circuit: &Circuit<'_>) -> Vc {
    Vc { origin: circuit.payloads, rm_payloads: circuit.rm_payloads, ..Vc::default() }
}

/// What a VC is to the rate control of the ports that it crosses.
fn role(circuit: &Circuit<'_>) -> Role {
    match (circuit.contract.category, circuit.flow, circuit.rm_payloads) {
        (Category::Abr, Some(_), Some(payloads)) => Role::Controlled { payloads },
        (category, ..) if category <= Category::Abr => Role::Uncontrolled,
        _ => Role::Lower,
    }
}
