//! `[topology]`: networks from a few numbers, or written out.

use celltrain_engine::quantity::{BitRate, Bytes, Delay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BurstLoss, Dark, DelayChanges, DelayRange, Framing, LinkOverride, LossUnit, RateChanges, Reorder,
    forms::forms,
};

forms! {
    /// `[topology]`: nodes, links between them, and flows across them.
    ///
    /// All kinds but `graph` make their hosts and flows themselves: flow `i` goes from host `src<i>` to host `dest<i>`, over
    /// switches named `switch1`, `switch2`, … in a row. In a `backbone`, flows share hosts.
    Topology {
        /// Switches in a row. Group g enters at switch g, and all destinations are behind the last switch, so that the
        /// last trunk carries all groups. Four switches with five sources and 1 ms links give the round trips of 10, 8 and
        /// 6 ms of Cheon and Panwar, Figure 1.
        ParkingLot(ParkingLot),
        /// N sources at the first of two switches and N destinations at the second: one trunk carries all flows, which
        /// are group 1.
        NSource(NSource),
        /// Two switches and the trunk between them. Each flow of each `[[group]]` without `from` and `to` has hosts of its own: flow `cubic1`
        /// goes from `src-cubic1`, at `switch1`, to `dest-cubic1`, at `switch2`.
        Dumbbell(Dumbbell),
        /// The network of `n-source`, by the name it has where each pair is called peer to peer (Wu, Siu and Ren, Figure 1).
        PeerToPeer(NSource),
        /// Switches in a row. Group 1 crosses all trunks from the first switch to the last, group k + 1 crosses trunk k
        /// alone. Three trunks with groups of five are Wu, Siu and Ren, Figure 2.
        Chain(Chain),
        /// Pairs of edge routers across two backbone switches, `src<p>` and `dest<p>` by their number p. A VC from each to its
        /// partner carries several TCP connections, group p; the flows are numbered pair by pair. Five pairs with ten
        /// connections each are the large network of the paper on GFR with packet push-out (2001), Figure 12.
        Backbone(Backbone),
        /// Switches `leaf1`, `leaf2`, … with hosts `host1`, `host2`, … behind them, and `spine1`, `spine2`, … that join each leaf to
        /// all others. Each flow takes one of the shortest paths, by a hash of its name (equal-cost multipath).
        LeafSpine(LeafSpine),
        /// A folded Clos network of switches with k ports: k pods of k/2 `edge` and k/2 `aggregation` switches, (k/2)² `core` ones,
        /// k³/4 hosts (Al-Fares, Loukissas and Vahdat 2008). Each flow takes one of the shortest paths, by a hash of its name.
        FatTree(FatTree),
        /// Switches in rows and columns, `switch1`, `switch2`, … row by row, each joined to its four neighbours, the last of a row or
        /// column to the first, with hosts `host1`, `host2`, … behind them. Each flow takes one of the shortest paths, by a hash of its
        /// name.
        Torus(Torus),
        /// Switches `switch1`, `switch2`, … of which each is joined to as many others, drawn at random, with hosts `host1`, `host2`, …
        /// behind them (Singla, Hong, Popa and Godfrey 2012: Jellyfish). Every switch can reach every other. Each flow takes one of the
        /// shortest paths, by a hash of its name.
        Random(Random),
        /// Nodes and links written out; the flows are those of `[[group]]` and `[[flow]]`.
        Graph(ExplicitGraph),
    }
}

impl Topology {
    /// Whether flows are spread over ways of equal length.
    pub(in crate::scenario) fn spreads(&self) -> bool {
        matches!(self, Self::LeafSpine(_) | Self::FatTree(_) | Self::Torus(_) | Self::Random(_))
    }

    /// What says how many flows a topology of this `kind` has; none for a kind that there is not.
    pub(in crate::scenario) fn number_of_flows(kind: &str) -> Option<&'static str> {
        Some(match kind {
            "n-source" | "peer-to-peer" => "`sources` is the number of flows",
            "parking-lot" => "`sources` is the number of flows that enter at each switch but the last",
            "chain" => "`long` and `cross` are the numbers of flows across all trunks and across each alone",
            "backbone" => "`pairs` times `flows` is the number of flows",
            "dumbbell" => "its flows are those of [[group]], each with `flows` of them",
            "leaf-spine" | "fat-tree" | "torus" | "random" => {
                "`pattern` says which hosts send; other flows are those of [[group]] and [[flow]]"
            }
            "graph" => "its flows are those of [[group]] and [[flow]]",
            _ => return None,
        })
    }
}

/// Which hosts of a fabric send to which; flow `i` is of host `i` where each sends to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Each host sends to the host half of all hosts further on, so that each also receives from one.
    #[default]
    Permutation,
    /// Each host sends to every other one.
    AllToAll,
    /// All hosts send to the first one.
    Incast,
    /// None does: the flows are those of `[[group]]` and `[[flow]]`.
    None,
}

/// `kind = "leaf-spine"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeafSpine {
    /// Number of leaf switches, at least 2.
    #[schemars(range(min = 2))]
    pub leaves: u32,
    /// Number of spine switches. Links to them are those of `[link.trunk]`, so that their number and rate say how far the fabric
    /// is oversubscribed.
    #[schemars(range(min = 1))]
    pub spines: u32,
    /// Number of hosts behind each leaf switch; their links are those of `[link.access]`.
    #[schemars(range(min = 1))]
    pub hosts: u32,
    /// Which hosts send to which.
    #[serde(default)]
    pub pattern: Pattern,
}

/// `kind = "fat-tree"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FatTree {
    /// Ports of each switch, an even number.
    #[schemars(range(min = 2), extend("multipleOf" = 2))]
    pub k: u32,
    /// Which hosts send to which.
    #[serde(default)]
    pub pattern: Pattern,
}

/// `kind = "torus"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Torus {
    /// Number of rows of switches, at least 2.
    #[schemars(range(min = 2))]
    pub rows: u32,
    /// Number of switches in a row, at least 1.
    #[schemars(range(min = 1))]
    pub columns: u32,
    /// Number of hosts behind each switch.
    #[schemars(range(min = 1))]
    pub hosts: u32,
    /// Which hosts send to which.
    #[serde(default)]
    pub pattern: Pattern,
}

/// `kind = "random"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Random {
    /// Number of switches, at least 3.
    #[schemars(range(min = 3))]
    pub switches: u32,
    /// Number of other switches to which each is joined: at least 2, fewer than there are switches, and even if the number of
    /// switches is odd.
    #[schemars(range(min = 2))]
    pub degree: u32,
    /// Number of hosts behind each switch.
    #[schemars(range(min = 1))]
    pub hosts: u32,
    /// Seed of the links, which are the same in every replication.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Which hosts send to which.
    #[serde(default)]
    pub pattern: Pattern,
}

const fn first_seed() -> u64 {
    1
}

/// `kind = "parking-lot"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParkingLot {
    /// Number of switches, at least 2.
    #[schemars(range(min = 2))]
    pub switches: u32,
    /// Number of sources that enter at each switch but the last.
    #[schemars(range(min = 1))]
    pub sources: u32,
}

/// `kind = "n-source"` and `kind = "peer-to-peer"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NSource {
    /// Number of sources.
    #[schemars(range(min = 1))]
    pub sources: u32,
}

/// `kind = "dumbbell"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dumbbell {}

/// `kind = "chain"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chain {
    /// Number of trunks; the switches are one more.
    #[schemars(range(min = 1))]
    pub trunks: u32,
    /// Number of flows that cross all trunks.
    #[schemars(range(min = 1))]
    pub long: u32,
    /// Number of flows on each trunk that cross it alone.
    pub cross: u32,
}

/// `kind = "backbone"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Backbone {
    /// Number of pairs of edge routers.
    #[schemars(range(min = 1))]
    pub pairs: u32,
    /// Number of flows on the VC of each pair.
    #[schemars(range(min = 1))]
    pub flows: u32,
}

/// `kind = "graph"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExplicitGraph {
    /// The nodes.
    pub node: Vec<NodeEntry>,
    /// The links.
    pub link: Vec<LinkEntry>,
}

/// `[[topology.node]]`: a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NodeEntry {
    /// The node's name, unlike all others.
    pub name: String,
    /// What the node is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Sends and receives frames; passes nothing on.
    Host,
    /// Passes cells on.
    Switch,
}

/// `[[topology.link]]`: a link, by default in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LinkEntry {
    /// Name of the node at one end.
    pub from: String,
    /// Name of the node at the other end.
    pub to: String,
    /// Line rate in each direction; that of `[link]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay; that of `[link]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// Whether the link carries cells or packets; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Bytes that a packet-framed link adds to each packet; those of `[link]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// Share of what is lost at random; that of `[link]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub loss: Option<f64>,
    /// What is lost at random; that of `[link]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_unit: Option<LossUnit>,
    /// Loss in bursts; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLoss>,
    /// Which packets arrive late; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// When it loses everything; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dark: Option<Dark>,
    /// How its propagation delay changes; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_changes: Option<DelayChanges>,
    /// How its rate changes; as `[link]` says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_changes: Option<RateChanges>,
    /// Whether the link carries cells in the direction `from` to `to` only.
    #[serde(default)]
    pub simplex: bool,
}

impl LinkEntry {
    /// How the link differs from `[link]`.
    pub(in crate::scenario) fn overrides(&self) -> LinkOverride {
        LinkOverride {
            rate: self.rate,
            delay: self.delay.map(DelayRange::of),
            framing: self.framing,
            overhead: self.overhead,
            loss: self.loss,
            loss_unit: self.loss_unit,
            burst_loss: self.burst_loss,
            reorder: self.reorder,
            dark: self.dark,
            delay_changes: self.delay_changes.clone(),
            rate_changes: self.rate_changes.clone(),
        }
    }
}
