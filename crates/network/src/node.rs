//! What a network is made of: its processes, of whatever kind.

use celltrain_atm::Cell;
use celltrain_engine::{Time, stream::StreamId, time::NEVER, visit::Process};

use crate::{
    channel::Channel,
    discards::DiscardLog,
    flight::{InFlight, Streams},
    host::Host,
    port::Port,
    shaper::Shaper,
    switch::SharedMemorySwitch,
};

/// A process of the network.
#[derive(Debug)]
pub(crate) enum Node {
    Host(Box<Host>),
    Port(Box<Port>),
    /// Ports that share a memory.
    Switch(Box<SharedMemorySwitch>),
    Channel(Box<Channel>),
    Shaper(Box<Shaper>),
}

impl Node {
    pub(crate) fn host_mut(&mut self) -> Option<&mut Host> {
        match self {
            Self::Host(host) => Some(host),
            Self::Port(_) | Self::Switch(_) | Self::Channel(_) | Self::Shaper(_) => None,
        }
    }

    /// Its ports: one, or those that share a memory.
    pub(crate) fn ports(&self) -> &[Port] {
        match self {
            Self::Port(port) => std::slice::from_ref(port),
            Self::Switch(switch) => switch.ports(),
            Self::Host(_) | Self::Channel(_) | Self::Shaper(_) => &[],
        }
    }

    pub(crate) fn ports_mut(&mut self) -> &mut [Port] {
        match self {
            Self::Port(port) => std::slice::from_mut(port),
            Self::Switch(switch) => switch.ports_mut(),
            Self::Host(_) | Self::Channel(_) | Self::Shaper(_) => &mut [],
        }
    }

    /// Its logs of discards, if it keeps any, each with the number of its port.
    pub(crate) fn logs(&mut self) -> impl Iterator<Item = (usize, &mut DiscardLog)> {
        let (ports, channel): (&mut [Port], _) = match self {
            Self::Channel(channel) => (&mut [], channel.log()),
            node => (node.ports_mut(), None),
        };
        let of_ports = ports.iter_mut().enumerate().filter_map(|(port, parts)| Some((port, parts.log()?)));
        of_ports.chain(channel.map(|log| (0, log)))
    }
}

impl Process<Cell, InFlight> for Node {
    #[inline]
    fn inputs(&self) -> &[StreamId] {
        match self {
            Self::Host(host) => host.inputs(),
            Self::Port(port) => port.inputs(),
            Self::Switch(switch) => switch.inputs(),
            Self::Channel(channel) => channel.inputs(),
            Self::Shaper(shaper) => shaper.inputs(),
        }
    }

    #[inline]
    fn outputs(&self) -> &[StreamId] {
        match self {
            Self::Host(host) => &host.parts.outputs,
            Self::Port(port) => port.outputs(),
            Self::Switch(switch) => switch.outputs(),
            Self::Channel(channel) => channel.outputs(),
            Self::Shaper(shaper) => shaper.outputs(),
        }
    }

    #[inline]
    fn lookahead(&self, place: usize) -> Time {
        match self {
            Self::Port(port) => port.lookahead(place),
            Self::Switch(switch) => switch.lookahead(place),
            Self::Host(host) => host.lookahead(),
            Self::Channel(_) | Self::Shaper(_) => 0,
        }
    }

    #[inline]
    fn clock(&self) -> Time {
        match self {
            Self::Host(host) => host.clock(),
            Self::Port(port) => port.clock(),
            Self::Switch(switch) => switch.clock(),
            Self::Channel(channel) => channel.clock(),
            Self::Shaper(shaper) => shaper.clock(),
        }
    }

    fn visit(&mut self, until: Time, streams: &mut Streams) -> u64 {
        match self {
            Self::Host(host) => host.visit(until, streams),
            Self::Port(port) => port.visit(until, streams),
            Self::Switch(switch) => switch.visit(until, streams),
            Self::Channel(channel) => channel.visit(until, streams),
            Self::Shaper(shaper) => shaper.visit(until, streams),
        }
    }

    #[inline]
    fn promise(&self, streams: &mut Streams) {
        match self {
            Self::Host(host) => host.promise(streams),
            Self::Port(port) => port.promise(streams),
            Self::Switch(switch) => switch.promise(streams),
            Self::Channel(channel) => channel.promise(streams),
            Self::Shaper(shaper) => shaper.promise(streams),
        }
    }

    #[inline]
    fn next_event(&self) -> Time {
        match self {
            Self::Host(host) => host.next_event(),
            Self::Port(port) => port.next_event(),
            Self::Switch(switch) => switch.next_event(),
            Self::Channel(channel) => channel.next_event(),
            Self::Shaper(_) => NEVER,
        }
    }
}
