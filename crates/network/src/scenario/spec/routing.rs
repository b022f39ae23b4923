//! `[routing]`: which of the shortest ways are taken.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;

/// `[routing]`: which of several shortest ways are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Routing {
    /// What is spread over the shortest ways from one host to another. If not given, flows are in leaf-spine networks, fat trees, tori and
    /// random topologies, and nothing is in others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Multipath>,
    /// How often each of the links that lead on is chosen at a switch.
    pub weights: Weights,
}

/// What is spread over several shortest ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Multipath {
    /// Nothing: the first way in the order of the links is taken.
    None,
    /// Flows: each takes one of the ways, by a hash of its name (equal-cost multipath, RFC 2992).
    Flow,
    /// Packets: each is sent on one of the ways, drawn at random anew, and so overtakes others of its flow (packet spraying: Dixit, Prakash,
    /// Hu and Kompella 2013). ACKs are packets too. It needs links of packets, because the cells of a VC stay in order. A switch
    /// takes each way of a flow for a VC of its own.
    Packet,
}

/// How often each of several next links is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// As often as any other.
    #[default]
    Equal,
    /// In proportion to its rate (weighted-cost multipath: Zhou and others 2014).
    Rate,
}

impl Routing {
    /// What is spread in a network of this topology.
    pub(in crate::scenario) fn in_force(&self, topology: &Topology) -> Multipath {
        self.multipath.unwrap_or(if topology.spreads() { Multipath::Flow } else { Multipath::None })
    }
}
