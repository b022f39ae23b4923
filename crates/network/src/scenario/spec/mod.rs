//! The keys of a scenario file, with their units, defaults and sources.
//!
//! These types are the one schema: reading, the JSON schema and the reference pages all come from them.

mod bare;
mod forms;
mod group;
mod link;
mod memory;
mod routing;
mod topology;
mod trace;
mod traffic;

use celltrain_atm::{
    aal5,
    abr::{self, AllocatorParams},
    buffer::{DiscardParams, PolicyName},
    contract::Contract,
    quantity::{Capacity, Unit},
    scheduler::SchedulerParams,
};
use celltrain_engine::{
    quantity::{Duration, PacketRate},
    time::MILLISECOND,
};
use celltrain_tcp::StackSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bare::{
    Bernoulli, Cbr, Distribution, EcnField, LongRange, MAX_PACKET, MIN_PACKET, Mmpp, MmppState, OnOff,
    PacketDistribution, Poisson,
};
pub use celltrain_atm::quantity::CellRate;
pub(crate) use forms::forms;
pub use group::{GroupSpec, Pairs};
pub use link::{
    BurstLoss, Changes, Dark, DelayChange, DelayChanges, DelayRange, Framing, LinkException, LinkOverride,
    LinkSpec, LossUnit, RateChange, RateChanges, Reorder,
};
pub use memory::{MemorySpec, PauseSpec};
pub use routing::{Multipath, Routing, Weights};
pub use topology::{
    Backbone, Chain, Dumbbell, ExplicitGraph, FatTree, LeafSpine, LinkEntry, NSource, NodeEntry, NodeKind,
    ParkingLot, Pattern, Random, Topology, Torus,
};
pub use trace::Trace;
pub use traffic::{
    ArrivalTimes, Bursty, Finite, Greedy, RequestResponse, ShortFlows, Start, TraceFlow, Traffic, Transfer,
};

/// The version of the scenario format.
pub const SCHEMA: u32 = 1;

/// A scenario: one network, its traffic, and how long to watch it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "celltrain scenario")]
pub struct Spec {
    /// Version of the scenario format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Name of the scenario in results.
    pub name: String,
    /// Path of a scenario file that this one builds on, relative to this file. Tables merge key by key and what stands
    /// here wins; arrays, and tables of another `kind`, are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Simulated time of a run, from 0; up to a million seconds.
    pub duration: Duration,
    /// Time at the start of a run that measures leave out.
    #[serde(default)]
    pub warm_up: Duration,
    /// Seed of all random numbers, below 2^63. Replication k draws from generators keyed by (seed, k).
    #[serde(default = "default_seed")]
    #[schemars(range(max = i64::MAX))]
    pub seed: u64,
    /// Number of replications, 1 to 100 000.
    #[serde(default = "default_replications")]
    #[schemars(range(min = 1, max = 100_000))]
    pub replications: u32,
    /// Order of cells that arrive at a port at the same time.
    #[serde(default)]
    pub tie_break: TieBreak,
    /// Period of the time series. Ten million samples must cover the duration, even in runs without series.
    #[serde(default = "default_sample")]
    pub sample: Duration,
    /// Nodes, links between them, and flows across them.
    pub topology: Topology,
    /// Which of several shortest ways are taken.
    #[serde(default, skip_serializing_if = "is_default")]
    pub routing: Routing,
    /// Links, unless a place or a single link says otherwise.
    #[serde(default)]
    pub link: LinkSpec,
    /// Single links that differ from those of their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_override: Vec<LinkException>,
    /// Switches.
    #[serde(default)]
    pub switch: SwitchSpec,
    /// Single output ports that differ from `[switch]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub port: Vec<PortSpec>,
    /// Hosts.
    #[serde(default)]
    pub host: HostSpec,
    /// The adaptation layer: how frames become cells.
    #[serde(default)]
    pub aal5: aal5::Params,
    /// TCP at the hosts.
    #[serde(default)]
    pub tcp: StackSpec,
    /// The contract of every flow's VC in the direction of its data.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vc: Contract,
    /// The sources and destinations of VCs whose category is ABR. Backward RM cells go back at once, with the
    /// acknowledgements, on a VC whose rate is not controlled itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub abr: abr::Params,
    /// What the flows carry; greedy TCP if not given, or if `start` alone is given.
    #[serde(default)]
    pub traffic: Traffic,
    /// Groups of flows that have their TCP, traffic, contract and times in common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<GroupSpec>,
    /// Single flows: the name of a flow that the topology or a group makes changes that flow, another name adds one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowSpec>,
    /// Single segments that links lose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<LossSpec>,
    /// What measures are about.
    #[serde(default, skip_serializing_if = "is_default")]
    pub measures: MeasuresSpec,
}

/// `[measures]`: what measures are about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct MeasuresSpec {
    /// The port that utilisation, occupancy and delay of the summary are about, as in `"switch1 > switch2"`: one of a switch that a flow
    /// crosses, by its name in the table of ports. If not given, the switch port with the highest offered load, the first of equals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Of which flows the transfer delays of frames are measured.
    pub delays: MeasuredDelays,
    /// Whether a run keeps whole distributions: of the transfer delays that are measured, of the completion times of transfers,
    /// and of the occupancy of every switch port over time, P(Q > x). It takes a few hundred rows per flow and port, and a run up to a fifth longer.
    pub distributions: bool,
}

/// Of which flows the transfer delays of frames are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredDelays {
    /// Of no flow.
    None,
    /// Of those that use TCP.
    #[default]
    Tcp,
    /// Of all. The time at which each frame of bare cells was sent takes eight bytes of memory until a later one arrives.
    All,
}

impl MeasuredDelays {
    /// Whether they are measured of flows that use TCP, or of flows that do not.
    #[must_use]
    pub fn measures(self, tcp: bool) -> bool {
        self == Self::All || (self == Self::Tcp && tcp)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn default_seed() -> u64 {
    1
}

fn default_replications() -> u32 {
    1
}

fn default_sample() -> Duration {
    Duration(MILLISECOND)
}

/// Order of cells that arrive at a port at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// By the number of the input: always the same input first.
    PortId,
    /// Drawn anew each time.
    #[default]
    Random,
}

/// `[switch]`: output-buffered switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct SwitchSpec {
    /// Buffer of each output port; the cell or packet in transmission counts until its last bit is sent.
    pub buffer: Capacity,
    /// One memory for all output ports of a switch; each has a buffer of its own if not given. `buffer` is then the most that one port may
    /// hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySpec>,
    /// Time between a cell's arrival at the switch and its arrival at the buffer of the output port.
    pub delay: Duration,
    /// Discard policy of each output port.
    pub discard: DiscardParams,
    /// The most that one VC may take of the buffer; all of it if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vc_buffer: Option<Capacity>,
    /// In which order each output port serves its VCs.
    #[serde(skip_serializing_if = "is_default")]
    pub scheduler: SchedulerParams,
    /// Rate allocator for ABR sources at each output port; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocator: Option<AllocatorParams>,
}

impl Default for SwitchSpec {
    fn default() -> Self {
        Self {
            buffer: Capacity(Some(2_000), Unit::Cells),
            memory: None,
            delay: Duration(0),
            discard: DiscardParams::of(PolicyName::TailDrop),
            vc_buffer: None,
            scheduler: SchedulerParams::default(),
            allocator: None,
        }
    }
}

/// `[[port]]`: an output port of a switch that differs from `[switch]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PortSpec {
    /// Name of the switch.
    pub from: String,
    /// Name of the node at the other end of the link.
    pub to: String,
    /// Its buffer; that of `[switch]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Capacity>,
    /// Its discard policy; that of `[switch]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<DiscardParams>,
    /// The most that one VC may take of its buffer; as `[switch]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vc_buffer: Option<Capacity>,
    /// In which order it serves its VCs; as `[switch]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerParams>,
    /// Its rate allocator for ABR sources; that of `[switch]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocator: Option<AllocatorParams>,
}

/// `[host]`: what lies between TCP and the link in a host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct HostSpec {
    /// Packets per second that IP serves, from a queue without limit. If not given, IP takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_rate: Option<PacketRate>,
    /// Which packets IP serves at `ip-rate`.
    pub ip_serves: IpServes,
    /// How far an IP service time may lie from its mean, uniformly distributed, as a fraction of the mean.
    #[schemars(range(min = 0, max = 1))]
    pub ip_spread: f64,
}

/// Which packets a host's IP layer serves at its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IpServes {
    /// Those the host sends.
    #[default]
    Sent,
    /// Those it sends and those it receives, from one queue.
    Both,
}

/// `[[flow]]`: a flow of its own, or what is different about one that the topology makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FlowSpec {
    /// The flow's name, without commas. Generated flows are named `1`, `2`, … in the order of their sources. `"6 .. 10"` stands for the flows
    /// `6` to `10`.
    pub name: String,
    /// Name of the sending host; required for a new flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Name of the receiving host; required for a new flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Group in tables of results. If not given, a new flow has 0, that of no group, where there are `[[group]]`s, and 1 elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Names of the nodes it passes, both hosts included; the shortest path if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// What it carries; that of `[traffic]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// When it starts; as its traffic says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// When its source stops, after it has started: from then on a greedy connection sends no new data, others get none, no short flow
    /// arrives, and sources of cells begin no frame. What was given to TCP before is still delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Whether its tables `tcp`, `vc` and `abr` stand alone; otherwise keys that they do not give are those of its group's tables, or of the
    /// scenario's. Resolved scenarios say so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standalone: bool,
    /// Its TCP; keys not given are those of its group's `tcp`, if it names a flow of a group that has one, or of `[tcp]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<StackSpec>,
    /// The contract of its VC; keys not given are those of its group's `vc`, or of `[vc]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vc: Option<Contract>,
    /// The ends of its VC if the category is ABR; keys not given are those of its group's `abr`, or of `[abr]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abr: Option<abr::Params>,
    /// Name of the VC that carries it; TCP flows with the same ends and the same name share one VC, which the first of them
    /// sets up. A VC of its own if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit: Option<String>,
}

/// `[[loss]]`: one segment that a link loses, with all its cells, after having transmitted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LossSpec {
    /// Name of the flow, which must use TCP.
    pub flow: String,
    /// Number of the segment, from 0: data is lost that carries byte `segment` times MSS, an ACK that asks for this byte.
    pub segment: u64,
    /// Which such segment on the link is lost, counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    pub occurrence: u32,
    /// Whether data or an ACK is lost.
    #[serde(default)]
    pub direction: LossDirection,
    /// Names of the two nodes of the link that loses it; the first link on its path if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
}

fn first() -> u32 {
    1
}

/// Which way a lost segment goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossDirection {
    /// From the sender: data.
    #[default]
    Data,
    /// From the receiver: acknowledgements.
    Ack,
}
