//! What lies between two processes: streams, shapers, channels of links that lose or are captured.

use std::ops::Range;

use celltrain_atm::quantity::CellRate;
use celltrain_engine::{
    Slot, Time,
    quantity::BitRate,
    stream::{Stream, StreamId},
};

use super::{Builder, Joint, Leaving, push_only};
use crate::{
    capture::CellTap,
    channel::{
        ChanceLoss, ChannelParts, DarkPeriods, GilbertElliott, NextHop, RandomLoss, Reordering, ScriptedLoss,
        ScriptedLosses, VaryingDelay, Vcs,
    },
    port::Line,
    scenario::{Framing, Graph, Link, Loss, LossDirection, LossUnit, NodeKind, Scenario},
    shaper::Shaper,
    slots::Slots,
};

impl Builder<'_> {
    /// Puts a shaper in front of the interface `link` of host `from`, for a VC that the interface calls `vci`; returns the
    /// stream to the shaper and the VCI there.
    pub(super) fn shape(&mut self, from: usize, link: usize, pcr: CellRate, vci: u32) -> (StreamId, u32) {
        let first = &self.graph.links[link];
        let line = line(first, pcr.0, self.slots.at(first));
        let (stream, spaced) = (self.add_stream(), self.add_stream());
        push_only(&mut self.host(from).outputs, stream);
        self.port(link).inputs.push(spaced);
        self.shapers.push(Shaper::new(link, stream, spaced, vci, line));
        (stream, 0)
    }

    /// Tells the channels which segments of flow `flow` in one direction are to be lost: those on VC number `outgoing` of host `from` for
    /// the endpoints `endpoints` of the host at its other end.
    pub(super) fn script(
        &mut self,
        flow: usize,
        direction: LossDirection,
        (from, outgoing): (usize, u32),
        endpoints: &Range<u32>,
    ) {
        let Some(payloads) = self.host(from).outgoing[outgoing as usize].payloads else { return };
        let payloads = payloads as usize;
        let losses = self.losses.get(&flow).into_iter().flatten();
        for &&Loss { link, byte, occurrence, .. } in losses.filter(|loss| loss.direction == direction) {
            // The VC takes one of the link's ways; on the others it has no frames.
            for stream in self.ports.get(link).into_iter().flat_map(|port| &port.channels) {
                let channel = self.channels.get_mut(stream).expect("the stream enters a channel");
                let endpoints = endpoints.clone();
                channel.scripted.add(ScriptedLoss { payloads, endpoints, direction, byte, occurrence });
            }
        }
    }

    /// The stream from one process to the next, made when first asked for.
    pub(super) fn joint(&mut self, from: Joint, to: Joint) -> StreamId {
        if let Some(stream) = self.streams_from(from).get(to) {
            return stream;
        }
        let stream = self.add_stream();
        self.streams_from(from).insert(to, stream);
        let mut arriving = stream;
        match from {
            Joint::Host(host) => push_only(&mut self.host(host).outputs, stream),
            Joint::Relay { port, .. } => self.port(port).relay_outputs.push(stream),
            Joint::Link(link) => {
                self.port(link).outputs.push(stream);
                if self.loses(link) || self.captures.links.contains(&link) {
                    arriving = self.add_stream();
                    let channel = self.channel(link, stream, vec![arriving]);
                    self.channels.insert(stream, channel);
                }
            }
        }
        self.enter(to, arriving);
        stream
    }

    /// The streams from a process, by what they lead to.
    fn streams_from(&mut self, from: Joint) -> &mut Leaving {
        match from {
            Joint::Host(host) => &mut self.host_draft(host).next,
            Joint::Link(link) => &mut self.port(link).next,
            Joint::Relay { .. } => self.relays.entry(from).or_default(),
        }
    }

    /// What comes on a stream reaches a process.
    fn enter(&mut self, to: Joint, stream: StreamId) {
        match to {
            Joint::Host(host) => self.host_draft(host).inputs.push(stream),
            Joint::Link(link) | Joint::Relay { port: link, .. } => self.port(link).inputs.push(stream),
        }
    }

    /// Whether all cells of a link pass one channel.
    pub(super) fn has_one_channel(&self, link: usize) -> bool {
        self.graph.links[link].is_impaired() || self.parting.contains(&link)
    }

    /// The stream into the channel that all cells of a link pass, made when first asked for.
    pub(super) fn whole(&mut self, link: usize) -> StreamId {
        if let Some(&stream) = self.whole.get(&link) {
            return stream;
        }
        let stream = self.add_stream();
        self.whole.insert(link, stream);
        self.port(link).outputs.push(stream);
        let channel = self.channel(link, stream, Vec::new());
        self.channels.insert(stream, channel);
        stream
    }

    /// Where the channel that `stream` enters sends on to `to`, made when first asked for, under `vci`.
    pub(super) fn next_hop(&mut self, stream: StreamId, link: usize, to: Joint, vci: u32) -> NextHop {
        let leaving = match self.streams_from(Joint::Link(link)).get(to) {
            Some(leaving) => leaving,
            None => {
                let leaving = self.add_stream();
                self.streams_from(Joint::Link(link)).insert(to, leaving);
                self.enter(to, leaving);
                self.channel_at(stream).outputs.push(leaving);
                leaving
            }
        };
        let place = self.channel_at(stream).outputs.iter().position(|&output| output == leaving);
        NextHop { output: place.expect("the channel has this output"), vci }
    }

    /// The channel that `stream` enters.
    pub(super) fn channel_at(&mut self, stream: StreamId) -> &mut ChannelParts {
        self.channels.get_mut(&stream).expect("the stream enters a channel")
    }

    pub(super) fn add_stream(&mut self) -> StreamId {
        self.streams.push(Stream::default());
        self.streams.len() - 1
    }

    /// Whether single frames or cells are to be lost on a link.
    fn loses(&self, link: usize) -> bool {
        self.graph.links[link].loss > 0.0 || self.losing.contains(&link)
    }

    fn channel(&mut self, link: usize, input: StreamId, outputs: Vec<StreamId>) -> ChannelParts {
        let channels = &mut self.port(link).channels;
        // The first and the second of a link's ways are told apart by their numbers in the order of the flows.
        let way = channels.len();
        push_only(channels, input);
        let spec = &self.graph.links[link];
        let name = self.graph.link_name(link);
        let generator = |what: &str| self.randomness.joined(&["link ", &name, " ", what]);
        let chance = ChanceLoss {
            random: RandomLoss::new(spec.loss, generator(&format!("loss {way}"))),
            bursts: spec
                .burst_loss
                .as_deref()
                .map(|&params| GilbertElliott::new(params, generator("bursts"))),
            frames: spec.loss_unit == LossUnit::Frame,
        };
        ChannelParts {
            link,
            input,
            outputs,
            vcs: Vcs::default(),
            packets: spec.framing == Framing::Packets,
            acts: self.loses(link) || self.has_one_channel(link),
            chance,
            scripted: ScriptedLosses::default(),
            dark: spec.dark.as_ref().map(|dark| DarkPeriods::new(dark, spec.shortest_delay.ps())),
            delay: self.varying_delay(spec),
            sprays: Vec::new(),
            reordering: spec
                .reorder
                .as_deref()
                .map(|&params| Reordering::new(params, generator("reordering"))),
            tap: self.captures.links.contains(&link).then(|| CellTap::new(self.scenario.spec().aal5)),
        }
    }

    fn varying_delay(&self, link: &Link) -> Option<VaryingDelay> {
        if link.delay_changes.is_empty() {
            return None;
        }
        let processing = processing(self.scenario, self.graph, link);
        let (delay, shortest) = (link.delay.ps(), link.shortest_delay.ps());
        Some(VaryingDelay::new(link.delay_changes.clone(), delay, shortest, processing))
    }
}

/// What the node behind a link adds to its delay.
pub(crate) fn processing(scenario: &Scenario, graph: &Graph, link: &Link) -> Time {
    let in_switch = graph.nodes[link.to].kind == NodeKind::Switch;
    if in_switch { scenario.spec().switch.delay.ps() } else { 0 }
}

/// A link that transmits at `rate`, one of those of `slots`, and the buffer in front of it.
pub(super) fn line(link: &Link, rate: BitRate, slots: &Slots) -> Line {
    let line = match link.framing {
        Framing::Cells => Line::Cells { slot: Slot::ZERO, capacity: link.buffer.units() },
        Framing::Packets => {
            Line::Packets { octet: Slot::ZERO, overhead: link.overhead.0, limit: link.buffer }
        }
    };
    line.at(rate, slots)
}
