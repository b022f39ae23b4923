//! What flows and ports have counted at one moment, and what happened between two.

use celltrain_atm::{buffer::Reason, policing};
use celltrain_engine::{Span, SpanSum, Time};
use celltrain_tcp::{Limits, ReceiverStats, SenderStats};

use crate::{
    channel::Lost,
    host::{Incoming, IncomingStats},
    network::{Carrier, FlowEnds, Network},
    port::{Location, Port},
};

/// Counters at one moment; differences of two are what happened between them. There are none of time 0, when all are zero: a network may
/// have very many.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(super) flows: Vec<FlowCounts>,
    pub(super) ports: Vec<PortCounts>,
    /// Cells that have arrived at hosts, acknowledgements too.
    pub(super) arrived: u64,
}

#[derive(Debug, Clone)]
pub(super) struct FlowCounts {
    pub(super) carrier: Carrier,
    pub(super) sender: SenderStats,
    pub(super) receiver: ReceiverStats,
    pub(super) incoming: IncomingStats,
    /// Cells that reached the receiving host, those of frames that are not complete yet too.
    pub(super) arrived: u64,
    /// Cells handed to the network interface, and cells discarded by switches.
    pub(super) sent: u64,
    pub(super) discarded: u64,
    /// In a box, as few flows are policed.
    pub(super) policing: Option<Box<policing::Stats>>,
    /// Short flows that found no endpoint free.
    pub(super) turned_away: u64,
    /// What has limited the sender until now, if it is one sender.
    pub(super) limits: Option<Limits>,
    /// Cells dropped at the ABR source for want of room, and the most that waited there.
    pub(super) source_dropped: u64,
    pub(super) source_queue_max: u64,
}

#[derive(Debug, Default)]
pub(super) struct PortCounts {
    pub(super) accepted: u64,
    pub(super) occupancy: u64,
    /// The time integral of the occupancy.
    pub(super) integral: SpanSum,
    /// How long the link was busy.
    pub(super) busy: Span,
    /// What happens at few ports, if any of it has: a network may have very many.
    pub(super) others: Option<Box<OtherCounts>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OtherCounts {
    /// Units of low priority accepted and discarded.
    pub(super) low_priority: [u64; 2],
    pub(super) discarded: [u64; Reason::ALL.len()],
    pub(super) marked: u64,
    /// Accepted and later discarded.
    pub(super) withdrawn: u64,
    pub(super) lost: Lost,
    /// Packets that the link behind it has held back.
    pub(super) held_back: u64,
    /// How often, and how long together, its link was paused.
    pub(super) paused: (u64, Span),
}

impl Snapshot {
    /// The part of a run that is measured begins, at `now`.
    pub(crate) fn begin_window(network: &mut Network, now: Time) -> Self {
        let begin = if now > 0 {
            Self::of(network, now)
        } else {
            assert!(network.ports().all(|port| port.arrived() == 0), "something has arrived before time 0");
            Self::default()
        };
        network.begin_window();
        begin
    }

    fn of(network: &Network, now: Time) -> Self {
        let mut ports = Vec::with_capacity(network.ports().count());
        ports.extend(PortCounts::of_all(network));
        Self { flows: FlowCounts::of_all(network, now).collect(), ports, arrived: network.arrived() }
    }
}

impl PortCounts {
    /// Those of all ports until now.
    pub(super) fn of_all(network: &Network) -> impl Iterator<Item = Self> {
        let (losses, held_back) = (network.lost(), network.held_back());
        network.ports().map(move |port| {
            let others = OtherCounts {
                low_priority: port.low_priority(),
                discarded: port.stats().discarded(),
                marked: port.stats().marked,
                withdrawn: port.withdrawn(),
                lost: losses.get(&port.link).copied().unwrap_or_default(),
                held_back: held_back.get(&port.link).copied().unwrap_or_default(),
                paused: port.paused(),
            };
            Self {
                accepted: port.accepted(),
                occupancy: port.occupancy(),
                integral: port.occupancy_integral(),
                busy: port.busy(),
                others: others.boxed(),
            }
        })
    }

    pub(super) fn others(&self) -> OtherCounts {
        self.others.as_deref().copied().unwrap_or_default()
    }
}

impl OtherCounts {
    /// In a box, unless all are zero.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// What happened since `begin`.
    pub(super) fn since(&self, begin: &Self) -> Self {
        Self {
            low_priority: [0, 1].map(|place| self.low_priority[place] - begin.low_priority[place]),
            discarded: std::array::from_fn(|reason| self.discarded[reason] - begin.discarded[reason]),
            marked: self.marked - begin.marked,
            withdrawn: self.withdrawn - begin.withdrawn,
            lost: std::array::from_fn(|reason| self.lost[reason] - begin.lost[reason]),
            held_back: self.held_back - begin.held_back,
            paused: (self.paused.0 - begin.paused.0, self.paused.1.minus(begin.paused.1)),
        }
    }
}

impl FlowCounts {
    /// Those of all flows until `now`.
    pub(super) fn of_all(network: &Network, now: Time) -> impl Iterator<Item = Self> {
        let cells = cells_of_flows(network);
        let mut policed = vec![None; network.flows.len()];
        network
            .ports()
            .flat_map(Port::policed)
            .for_each(|(flow, stats)| policed[flow] = Some(Box::new(stats)));
        let cells = std::iter::zip(cells, policed);
        let flow = move |(ends, ([sent, discarded], policing)): (&FlowEnds, ([u64; 2], _))| {
            // What flows share counts once, with the flow whose VC it is.
            let incoming =
                (!ends.shares).then(|| &network.host(ends.to).parts.incoming[ends.incoming as usize]);
            Self {
                carrier: ends.carrier,
                sent,
                discarded,
                arrived: incoming.map_or(0, Incoming::arrived),
                policing,
                limits: network.sender(ends).map(|sender| sender.limits(now)),
                turned_away: network.pool(ends).map_or(0, |pool| pool.turned_away),
                source_dropped: network.abr_source(ends).map_or(0, |source| source.queue.dropped),
                source_queue_max: network.abr_source(ends).map_or(0, |source| source.queue.most),
                sender: network.sender_stats(ends),
                receiver: network.receiver_stats(ends),
                incoming: incoming.map_or_else(IncomingStats::default, Incoming::so_far),
            }
        };
        std::iter::zip(&network.flows, cells).map(flow)
    }
}

/// Cells that each flow's host has sent and that switches have discarded. Flows that share a VC count with the first of them.
fn cells_of_flows(network: &Network) -> Vec<[u64; 2]> {
    let mut cells = vec![[0; 2]; network.flows.len()];
    for port in network.ports() {
        for (flow, [accepted, discarded]) in port.by_flow() {
            match port.location {
                Location::Interface => cells[flow][0] += accepted,
                Location::Switch => cells[flow][1] += discarded,
            }
        }
    }
    cells
}

impl FlowCounts {
    /// What happened to all flows since `begin`, which gives its room to the differences. Nothing had, if that is empty.
    pub(super) fn all_since(mut begin: Vec<Self>, ends: impl Iterator<Item = Self>) -> Vec<Self> {
        if begin.is_empty() {
            return ends.collect();
        }
        std::iter::zip(&mut begin, ends).for_each(|(flow, end)| *flow = end.since(flow));
        begin
    }

    /// What happened since `begin`.
    pub(super) fn since(&self, begin: &Self) -> Self {
        let (sender, receiver, incoming) = (&begin.sender, &begin.receiver, &begin.incoming);
        let mut flow = self.clone();
        flow.sender.segments -= sender.segments;
        flow.sender.retransmitted_segments -= sender.retransmitted_segments;
        flow.sender.timeouts -= sender.timeouts;
        flow.sender.fast_retransmits -= sender.fast_retransmits;
        flow.receiver.segments -= receiver.segments;
        flow.receiver.distinct_bytes -= receiver.distinct_bytes;
        flow.receiver.distinct_full_segments -= receiver.distinct_full_segments;
        flow.receiver.duplicate_segments -= receiver.duplicate_segments;
        flow.receiver.duplicate_bytes -= receiver.duplicate_bytes;
        flow.receiver.outdated_segments -= receiver.outdated_segments;
        flow.receiver.acks -= receiver.acks;
        flow.incoming.frames -= incoming.frames;
        flow.incoming.octets -= incoming.octets;
        flow.incoming.useful_cells -= incoming.useful_cells;
        flow.incoming.useless_cells -= incoming.useless_cells;
        flow.arrived -= begin.arrived;
        flow.sent -= begin.sent;
        flow.discarded -= begin.discarded;
        if let Some((policing, begin)) = flow.policing.as_mut().zip(begin.policing.as_ref()) {
            policing.frames_eligible -= begin.frames_eligible;
            policing.frames_tagged -= begin.frames_tagged;
            policing.cells_tagged -= begin.cells_tagged;
        }
        flow.source_dropped -= begin.source_dropped;
        flow.turned_away -= begin.turned_away;
        flow.limits = flow.limits.zip(begin.limits).map(|(end, begin)| limits_since(end, begin));
        flow
    }

    /// What policers have done with its cells.
    pub(super) fn policing(&self) -> policing::Stats {
        self.policing.as_deref().copied().unwrap_or_default()
    }

    /// Distinct full segments, or whole frames of bare cells: the effective throughput in frames.
    pub(super) fn frames_delivered(&self) -> u64 {
        if self.carrier.is_tcp() { self.receiver.distinct_full_segments } else { self.incoming.frames }
    }

    /// Payload bytes delivered for the first time; without TCP the payload of whole frames of cells, or whole packets.
    pub(super) fn bytes(&self) -> u64 {
        self.carrier.bare_payload(&self.incoming).unwrap_or(self.receiver.distinct_bytes)
    }

    /// Payload bytes that arrived, repetitions included.
    pub(super) fn bytes_received(&self) -> u64 {
        self.bytes() + self.receiver.duplicate_bytes
    }

    /// The share of the cells whose fate is known that switches discarded; NaN without any.
    pub(super) fn loss_ratio(&self) -> f64 {
        loss_ratio(std::slice::from_ref(self))
    }
}

/// As [`FlowCounts::loss_ratio`], of some flows together.
pub(super) fn loss_ratio<'a>(flows: impl IntoIterator<Item = &'a FlowCounts>) -> f64 {
    let [arrived, lost] = flows
        .into_iter()
        .fold([0, 0], |[arrived, lost], counts| [arrived + counts.arrived, lost + counts.discarded]);
    lost as f64 / (lost + arrived) as f64
}

/// What has limited a sender between two moments. A silence that ends in a timeout is known for one only then: what of it was counted
/// as another limit's before the first moment is taken back.
fn limits_since(end: Limits, begin: Limits) -> Limits {
    let mut taken_back = 0;
    let mut since = |end: Time, begin: Time| {
        taken_back += begin.saturating_sub(end);
        end.saturating_sub(begin)
    };
    let mut limits = Limits {
        application: since(end.application, begin.application),
        handshake: since(end.handshake, begin.handshake),
        receive_window: since(end.receive_window, begin.receive_window),
        congestion_window: since(end.congestion_window, begin.congestion_window),
        recovery: since(end.recovery, begin.recovery),
        timeout: end.timeout - begin.timeout,
    };
    limits.timeout -= taken_back;
    limits
}
