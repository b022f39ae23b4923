//! Whether ports let the frames of flows pass at all.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_atm::{
    Cell,
    abr::SourceDiscard,
    buffer::{BufferPolicy, Policy, PolicyName, Reason, Snapshot, Verdict},
    cell::Ecn,
    quantity::{Capacity, Unit},
    with_policy,
};
use celltrain_engine::{Time, quantity::Bytes, time::SECOND};

use super::{
    super::spec::{Framing, MAX_PACKET, NodeKind, Spec},
    link::Link,
    parts::{Flow, Graph},
    ports::{Crossing, context, crossing, place},
};

/// How many frames a policy is asked about: some policies refuse one frame and accept the next.
const ASKED: u32 = 4;

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
        1 => ", and the same holds at another port".to_owned(),
        more => format!(", and the same holds at {more} other ports"),
    }
}

/// What has room for nearly all packets of a flow: where sizes are exponentially distributed, five times their mean is exceeded by one in 150.
fn roomy(flow: &Flow) -> u64 {
    let full = flow.full_packet();
    if flow.traffic.varies_packets() { (5 * full).min(MAX_PACKET.0) } else { full }
}

impl Flow {
    /// The cells of its largest frame, if its cells belong to frames that come at once.
    pub(super) fn full_frame(&self, spec: &Spec) -> Option<u64> {
        let frames = self.traffic.frame().is_none() || self.traffic.packet().is_some();
        frames.then(|| spec.aal5.cells(self.largest_packet()))
    }
}

impl Graph {
    /// A sentence about the first port with a limit in bytes in which full packets of a flow, or the larger ones, have no room, and how many
    /// more there are.
    pub(in crate::scenario) fn ports_without_room(&self) -> Option<String> {
        let mut found = BTreeMap::new();
        for flow in &self.flows {
            let [there, _] = flow.hops();
            for link in there {
                if let Some((space, room)) = least_space(&self.links[link])
                    && room.units() < roomy(flow)
                {
                    found.entry(link).or_insert((space, room, flow));
                }
            }
        }
        let (&link, &(space, room, flow)) = found.first_key_value()?;
        let (port, size) = (self.link_name(link), Bytes(flow.full_packet()));
        let (varies, flow) = (flow.traffic.varies_packets(), &flow.name);
        let what = match space {
            Space::Buffer => format!("the buffer of the port \"{port}\""),
            Space::OfVc => format!("what a VC may take of the buffer of the port \"{port}\" (vc-buffer)"),
            Space::Memory => {
                format!("the memory of the switch of the port \"{port}\" (switch.memory.size)")
            }
        };
        let others = and_at_others(found.len() - 1);
        Some(if varies {
            format!(
                "{what}, {room}, is too small for the larger packets of flow \"{flow}\", of {size} on average: the port discards \
                 all of these{others}"
            )
        } else {
            format!(
                "{what}, {room}, is too small for a full packet of flow \"{flow}\", {size}: the port discards all of these{others}"
            )
        })
    }

    /// A sentence about the first cell port of a switch whose buffer holds less than a full frame of a flow that shares it with others, and how
    /// many more there are.
    pub(in crate::scenario) fn frames_without_room(&self, spec: &Spec) -> Option<String> {
        let mut crossing = BTreeMap::<_, Vec<_>>::new();
        for flow in &self.flows {
            let [there, _] = flow.hops();
            let shared = there.filter(|&link| {
                self.nodes[self.links[link].from].kind == NodeKind::Switch
                    && self.links[link].buffer.unit() == Some(Unit::Cells)
            });
            shared.for_each(|link| crossing.entry(link).or_default().push(flow));
        }
        let mut found = crossing.iter().filter(|(_, flows)| flows.len() > 1).filter_map(|(&link, flows)| {
            let room = self.links[link].buffer;
            let longer = |flow: &&&Flow| flow.full_frame(spec).is_some_and(|cells| cells > room.units());
            flows.iter().find(longer).map(|flow| (link, room, *flow))
        });
        let (link, room, flow) = found.next()?;
        let (port, others) = (self.link_name(link), and_at_others(found.count()));
        let cells = flow.full_frame(spec)?;
        Some(format!(
            "the buffer of the port \"{port}\", {room}, holds less than a full frame of flow \"{}\", {cells} cells: where frames of several \
             flows come at once, they lose cells{others}",
            flow.name
        ))
    }

    /// A sentence about the first ABR source whose buffer has no room for a full frame, and how many more there are. Where cells of a frame
    /// come one by one, those that find no room are dropped, unless frames are; the others leave as the rate allows.
    pub(in crate::scenario) fn sources_without_room(&self, spec: &Spec) -> Option<String> {
        let lost = |flow: &Flow| {
            let params = flow.abr.as_ref()?;
            let at_once = flow.traffic.frame().is_none() || flow.traffic.packet().is_some();
            let cells = match flow.traffic.frame().filter(|_| !at_once) {
                Some(frame) => u64::from(frame),
                None => spec.aal5.cells(flow.largest_packet()),
            };
            let drops = at_once || params.source_discard == SourceDiscard::Frames;
            (drops && cells > params.source_buffer.units()).then_some((params.source_buffer, cells))
        };
        let mut found = self.flows.iter().filter_map(|flow| Some((&flow.name, lost(flow)?)));
        let (name, (buffer, cells)) = found.next()?;
        let others = match found.count() {
            0 => String::new(),
            1 => ", and the same holds for another flow".to_owned(),
            more => format!(", and the same holds for {more} other flows"),
        };
        Some(format!(
            "abr.source-buffer = \"{buffer}\" has no space for a full frame of flow \"{name}\", {cells} cells: no such frame leaves its source \
             whole{others}"
        ))
    }

    /// A sentence about the first port whose policy refuses all frames of a flow, even while the buffer is empty, and how many more there
    /// are. It is no error: with marks the same level marks everything, and a sweep may end there.
    pub(in crate::scenario) fn ports_that_refuse(&self, spec: &Spec) -> Option<String> {
        let of_switch = |link: &Link| self.nodes[link.from].kind == NodeKind::Switch;
        let ports = std::iter::zip(&self.links, crossing(self.links.len(), &self.flows)).enumerate();
        let found: Vec<_> = ports
            .filter(|(_, (port, _))| of_switch(port))
            .filter_map(|(link, (port, vcs))| Some((link, self.refused(spec, port, &vcs)?)))
            .collect();
        let &(link, vc) = found.first()?;
        let (name, port) = (self.link_name(link), &self.links[link]);
        let (flow, back) = vc.of(&self.flows);
        let policy = port.discard.policy.name();
        let key = place(spec, &self.nodes, port, "discard", |port| port.discard.is_some());
        let levels = port.discard.levels().into_iter();
        let zero = levels.filter(|(_, level)| level.cells(port.buffer.units()) == Ok(0));
        let zero: Vec<_> = zero.map(|(key, level)| format!("{key} = \"{level}\"")).collect();
        let with = match port.discard.policy {
            PolicyName::Script => "this rule".to_owned(),
            _ if zero.is_empty() => "these parameters".to_owned(),
            _ => zero.join(" and "),
        };
        let path = if back { " on the reverse path" } else { "" };
        let others = and_at_others(found.len() - 1);
        Some(format!(
            "{key}.{policy}: with {with} the policy refuses every frame of flow \"{}\"{path} at the port \"{name}\", even while the buffer is \
             empty{others}",
            flow.name
        ))
    }

    /// The first of the VCs that cross a port of which its policy refuses everything.
    fn refused(&self, spec: &Spec, port: &Link, vcs: &[Crossing]) -> Option<Crossing> {
        let contracts: Vec<_> = vcs.iter().map(|vc| vc.contract(&self.flows)).collect();
        // The policy answers the same for VCs with the same properties, so each such set is tried once.
        let mut asked = BTreeSet::new();
        let mut of_port = (0..).zip(vcs).zip(&contracts);
        let refused = of_port.find(|&((number, vc), contract)| {
            let (flow, back) = vc.of(&self.flows);
            let Some(cell) = first_cell(spec, port, flow, back) else { return false };
            let rate = contract.mcr.map(|rate| rate.0.0);
            let alike = (cell.length, cell.octets, cell.clp, cell.ecn.is_capable());
            let is_new = asked.insert((alike, contract.weight, contract.mfs, rate));
            // Each finds a policy to which nothing has come. One that cannot be made is an error elsewhere.
            let policy =
                is_new.then(|| Policy::new(&port.discard, &context(port, &contracts)).ok()).flatten();
            policy.is_some_and(|mut policy| refuses(&mut policy, port, Cell { vc: number, frame: 0, ..cell }))
        });
        refused.map(|((_, &vc), _)| vc)
    }
}

/// The first cell of a frame of a flow as it comes to a port, or the packet; none if its VC back carries no frames.
fn first_cell(spec: &Spec, port: &Link, flow: &Flow, back: bool) -> Option<Cell> {
    let tcp = flow.traffic.uses_tcp();
    let frame = flow.traffic.frame().filter(|_| flow.traffic.packet().is_none());
    let octets = if back { flow.shortest_packet() } else { flow.full_packet() };
    let cells = frame.map_or_else(|| spec.aal5.cells(octets), u64::from);
    let (length, octets) = match port.framing {
        Framing::Cells => (u16::try_from(cells).ok()?, 0),
        Framing::Packets => (1, u32::try_from(octets).ok()?),
    };
    let marked = flow.tcp.ecn && (!back || flow.tcp.ecn_control_packets);
    let ecn = if tcp && marked && flow.abr.is_none() { Ecn::Capable } else { Ecn::NotCapable };
    (tcp || !back).then(|| Cell { length, octets, clp: flow.contract.clp && !back, ecn, ..Cell::default() })
}

/// Whether the policy of a port refuses each of some frames that begin with `cell` while there is nothing else in the buffer.
fn refuses(policy: &mut Policy, port: &Link, cell: Cell) -> bool {
    let empty = Snapshot { packets: cell.octets > 0, ..Snapshot::of(port.buffer.units(), &[]) };
    with_policy!(policy, policy => {
        (0..ASKED).all(|more| refuses_frame(policy, Cell { frame: cell.frame + more, ..cell }, &empty))
    })
}

/// Whether a policy refuses a frame by its first cell, which finds the port in the state `empty`; it sees the last one too.
fn refuses_frame<P: BufferPolicy>(policy: &mut P, cell: Cell, empty: &Snapshot) -> bool {
    let now = Time::from(cell.frame) * SECOND;
    let verdict = policy.on_arrival(&cell, &empty.view(true), now);
    if cell.length > 1 {
        policy.on_arrival(&Cell { position: cell.length - 1, ..cell }, &empty.view(false), now);
    }
    matches!(verdict, Verdict::Discard(reason) if reason != Reason::BufferFull)
}
