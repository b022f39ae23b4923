//! Whether ports have room for the packets of flows at all.

use std::collections::BTreeMap;

use celltrain_atm::quantity::{Capacity, Unit};
use celltrain_engine::quantity::Bytes;

use super::{Graph, Link};

/// What may have too little space for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Buffer,
    /// The part of the buffer that a VC may take.
    OfVc,
    /// The memory that the ports of a switch share.
    Memory,
}

/// The smallest limit in bytes to what a port holds.
fn least_space(port: &Link) -> Option<(Space, Capacity)> {
    let memory = port.memory.as_ref().map(|memory| (Space::Memory, memory.size));
    let limits = [(Space::Buffer, port.buffer), (Space::OfVc, port.vc_buffer)].into_iter().chain(memory);
    limits.filter(|(_, limit)| limit.unit() == Some(Unit::Bytes)).min_by_key(|(_, limit)| limit.units())
}

/// The end of a sentence about one port of several.
fn and_at_others(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => ", and so it is at another port".to_owned(),
        more => format!(", and so it is at {more} other ports"),
    }
}

impl Graph {
    /// A sentence about the first port with a limit in bytes in which no full packet of a flow has room, and how many more there are.
    pub(in crate::scenario) fn ports_without_room(&self) -> Option<String> {
        let mut found = BTreeMap::new();
        for flow in &self.flows {
            let [there, _] = flow.hops();
            for link in there {
                if let Some((space, room)) = least_space(&self.links[link])
                    && room.units() < flow.full_packet()
                {
                    found.entry(link).or_insert((space, room, flow));
                }
            }
        }
        let (&link, &(space, room, flow)) = found.first_key_value()?;
        let (port, size, flow) = (self.link_name(link), Bytes(flow.full_packet()), &flow.name);
        let what = match space {
            Space::Buffer => format!("the buffer of the port \"{port}\""),
            Space::OfVc => format!("what a VC may take of the buffer of the port \"{port}\" (vc-buffer)"),
            Space::Memory => {
                format!("the memory of the switch of the port \"{port}\" (switch.memory.size)")
            }
        };
        let others = and_at_others(found.len() - 1);
        Some(format!(
            "{what}, {room}, has no room for a full packet of flow \"{flow}\", {size}: the port discards all of these{others}"
        ))
    }
}
