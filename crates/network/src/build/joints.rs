//! What lies between two processes: streams, shapers, channels of links that lose or are captured.

use std::collections::BTreeMap;

use celltrain_atm::{
    buffer::{DiscardParams, Policy, PolicyName, PortContext},
    cell::CELL_BITS,
    contract::Contract,
    quantity::{Capacity, CellRate, Unit},
};
use celltrain_engine::{
    Slot,
    merge::{Merge, TieBreak},
    stream::{Stream, StreamId},
};

use super::{Builder, Joint};
use crate::{
    capture::CellTap,
    channel::{ChannelParts, RandomLoss, ScriptedLoss},
    port::{Line, Location, PacketLimit, Port, PortParts, PortSamplers, VcEntry},
    scenario::{Framing, Link, Loss, LossDirection, LossUnit},
};

impl Builder<'_> {
    /// Puts a shaper in front of the interface `link` of host `from`, for a VC that the interface calls `label`; returns the
    /// stream to the shaper and the VC's label there.
    ///
    /// A shaper is a port whose line has the peak rate and leads nowhere but to the interface.
    pub(super) fn shape(&mut self, from: usize, link: usize, pcr: CellRate, label: u32) -> (StreamId, u32) {
        let line = line(&Link { rate: pcr.0, buffer: Capacity::UNLIMITED, ..self.graph.links[link].clone() });
        let (stream, spaced) = (self.add_stream(), self.add_stream());
        self.host(from).outputs.push(stream);
        self.port(link).inputs.push(spaced);
        let policy = DiscardParams::of(PolicyName::TailDrop);
        let context = PortContext {
            capacity: u64::MAX,
            unit: Unit::Cells,
            rate: pcr.0,
            vcs: &[Contract::default()],
            generator: self.randomness.named("unused"),
        };
        self.shapers.push(Port::new(PortParts {
            name: String::new(),
            link,
            inputs: vec![stream],
            outputs: vec![spaced],
            relay_outputs: Vec::new(),
            merge: Merge::new(&[stream], TieBreak::InputId),
            policy: Policy::new(&policy, &context).expect("tail drop has no parameters"),
            entries: vec![VcEntry::new(spaced, label, None)],
            policers: Vec::new(),
            flows: vec![None],
            line,
            queuing: None,
            control: None,
            delay: 0,
            location: Location::Shaper,
            samplers: PortSamplers::new(None),
        }));
        (stream, 0)
    }

    /// Tells the channels which segments of flow `flow` in one direction, whose VC has the payload queue `payloads`, are to be lost.
    pub(super) fn script(&mut self, flow: usize, direction: LossDirection, payloads: Option<usize>) {
        let Some(payloads) = payloads else { return };
        for loss in self.graph.losses.iter().filter(|loss| (loss.flow, loss.direction) == (flow, direction)) {
            // The VC takes one of the link's ways; on the others it has no frames.
            for channel in self.channels.values_mut().filter(|channel| channel.link == loss.link) {
                let Loss { byte, occurrence: left, .. } = *loss;
                channel.scripted.push(ScriptedLoss { payloads, direction, byte, left });
            }
        }
    }

    /// The stream from one process to the next, made when first asked for.
    pub(super) fn joint(&mut self, from: Joint, to: Joint) -> StreamId {
        if let Some(&stream) = self.streams_from(from).get(&to) {
            return stream;
        }
        let stream = self.add_stream();
        self.streams_from(from).insert(to, stream);
        let mut arriving = stream;
        match from {
            Joint::Host(host) => self.host(host).outputs.push(stream),
            Joint::Relay { port, .. } => self.port(port).relay_outputs.push(stream),
            Joint::Link(link) => {
                self.port(link).outputs.push(stream);
                if self.loses(link) || self.captures.links.contains(&link) {
                    arriving = self.add_stream();
                    let channel = self.channel(link, stream, arriving);
                    self.channels.insert(stream, channel);
                }
            }
        }
        match to {
            Joint::Host(host) => self.host(host).inputs.push(arriving),
            Joint::Link(link) | Joint::Relay { port: link, .. } => self.port(link).inputs.push(arriving),
        }
        stream
    }

    /// The streams from a process, by what they lead to.
    fn streams_from(&mut self, from: Joint) -> &mut BTreeMap<Joint, StreamId> {
        match from {
            Joint::Link(link) => &mut self.port(link).next,
            Joint::Host(_) | Joint::Relay { .. } => self.joints.entry(from).or_default(),
        }
    }

    pub(super) fn add_stream(&mut self) -> StreamId {
        self.streams.push(Stream::default());
        self.streams.len() - 1
    }

    /// Whether anything is to be lost on a link.
    fn loses(&self, link: usize) -> bool {
        self.graph.links[link].loss > 0.0 || self.graph.losses.iter().any(|loss| loss.link == link)
    }

    fn channel(&mut self, link: usize, input: StreamId, output: StreamId) -> ChannelParts {
        let channels = &mut self.port(link).channels;
        // The first and the second of a link's ways are told apart by their numbers in the order of the flows.
        let way = std::mem::replace(channels, *channels + 1);
        let spec = &self.graph.links[link];
        let generator = self.randomness.named(&format!("link {} loss {way}", self.graph.link_name(link)));
        let random = RandomLoss::new(spec.loss, spec.loss_unit == LossUnit::Frame, generator);
        let tap = self.captures.links.contains(&link).then(|| CellTap::new(self.scenario.spec().aal5));
        let loses = self.loses(link);
        ChannelParts { link, input, output, vcs: Vec::new(), loses, random, scripted: Vec::new(), tap }
    }
}

/// A link and the buffer in front of it.
pub(super) fn line(link: &Link) -> Line {
    match link.framing {
        Framing::Cells => {
            Line::Cells { slot: Slot::of_bits(CELL_BITS, link.rate), capacity: link.buffer.units() }
        }
        Framing::Packets => {
            let limit = match link.buffer {
                Capacity(Some(bytes), Unit::Bytes) => PacketLimit::Octets(bytes),
                capacity => PacketLimit::Packets(capacity.units()),
            };
            Line::Packets { octet: Slot::of_bits(8, link.rate), overhead: link.overhead.0, limit }
        }
    }
}
