//! `[[group]]`: flows that have something in common.

use celltrain_atm::{abr, contract::Contract};
use celltrain_engine::quantity::Duration;
use celltrain_tcp::StackSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LinkOverride, Start, Traffic, Transfer, is_default};
use crate::traffic::sizes::array_or_file;

/// `[[group]]`: flows with the same TCP, traffic, contract and times. In tables of results the groups are numbered after those that the
/// topology makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GroupSpec {
    /// The group's name, without commas. Its flows are named after it: `web1`, `web2`, …
    pub name: String,
    /// Number of flows; between hosts that are given by `from` and `to`, of each pair of them. 1 to 1 000 000.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flows: u32,
    /// Names of the sending hosts; `*` stands for any letters and digits, as in `host*`. In a `dumbbell` each flow has hosts of its own
    /// if `from` and `to` are not given; elsewhere both are required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How many of the sending hosts send: the first of those that `from` names, in the order of the network. Hosts that have no receiver but
    /// themselves do not count. All if not given. 1 to 1 000 000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub senders: Option<u32>,
    /// Names of the receiving hosts, as in `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Which of the sending hosts sends to which of the receiving ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pairs: Pairs,
    /// Links from the group's own source hosts to their switch (and back), where they differ from `[link.access]`.
    #[serde(default, skip_serializing_if = "LinkOverride::is_empty")]
    pub access: LinkOverride,
    /// Links to the group's own destination hosts (and back), where they differ from `[link.exit]`.
    #[serde(default, skip_serializing_if = "LinkOverride::is_empty")]
    pub exit: LinkOverride,
    /// What each flow carries; that of `[traffic]` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Short flows between hosts, in the order of time, in place of `from`, `to` and `traffic`. Each pair of hosts is a flow of the group.
    /// Or the path of a CSV file, relative to this file, with the columns `at` (in seconds, or with a unit), `from`, `to` and `bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "array_or_file::<Transfer>")]
    pub transfers: Vec<Transfer>,
    /// When each flow starts; as its traffic says if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// When the sources stop, as of a `[[flow]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Whether the tables `tcp`, `vc` and `abr` stand alone; otherwise keys that they do not give are those of the scenario's
    /// tables. Resolved scenarios say so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standalone: bool,
    /// Their TCP; keys not given are those of `[tcp]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<StackSpec>,
    /// The contract of their VCs; keys not given are those of `[vc]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vc: Option<Contract>,
    /// The ends of their VCs if the category is ABR; keys not given are those of `[abr]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abr: Option<abr::Params>,
}

fn one() -> u32 {
    1
}

/// Which hosts of a group send to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// Each sending host to every receiving one but itself.
    #[default]
    All,
    /// The first sending host to the first receiving one, the second to the second: equally many of both.
    OneToOne,
    /// Each sending host to one receiving host that no other sends to, never to itself: a permutation, drawn once from the name of the
    /// group and the same in every run. Equally many of both.
    Permutation,
}
