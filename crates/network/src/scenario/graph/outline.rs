//! A network before its ports and routes are known.

use super::{
    super::{
        error::Problem,
        group_names::GroupNames,
        spec::{LinkOverride, TraceFlow},
    },
    nodes::Node,
};

/// Its nodes, links and flows.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<LinkOutline>,
    pub(super) flows: Vec<OutlineFlow>,
    pub(super) groups: GroupNames,
}

/// A link, duplex unless `simplex`.
#[derive(Debug)]
pub(super) struct LinkOutline {
    pub(super) from: usize,
    pub(super) to: usize,
    /// How it differs from `[link]`.
    pub(super) link: LinkOverride,
    pub(super) simplex: bool,
    /// Where the scenario describes it.
    pub(super) place: Place,
}

/// The table of a scenario that describes a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Access,
    Trunk,
    Exit,
    /// Of `[[group]]` of this number.
    GroupAccess(usize),
    /// See [`Place::GroupAccess`].
    GroupExit(usize),
    /// `[[topology.link]]` of this number.
    Entry(usize),
    /// `[[link-override]]` of this number.
    Override(usize),
}

impl Place {
    /// The dotted key of the table.
    pub(super) fn key(self) -> String {
        match self {
            Self::Access => "link.access".to_owned(),
            Self::Trunk => "link.trunk".to_owned(),
            Self::Exit => "link.exit".to_owned(),
            Self::GroupAccess(index) => format!("group.{index}.access"),
            Self::GroupExit(index) => format!("group.{index}.exit"),
            Self::Entry(index) => format!("topology.link.{index}"),
            Self::Override(index) => format!("link-override.{index}.link"),
        }
    }
}

/// A flow between two nodes.
#[derive(Debug)]
pub(super) struct OutlineFlow {
    pub(super) name: String,
    pub(super) group: u32,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Name of the VC that it shares with others, if it does.
    pub(super) circuit: Option<String>,
    /// The number of its `[[group]]`, if it has one.
    pub(super) common: Option<usize>,
    /// The short flows that its group has for it, where these are listed.
    pub(super) trace: Vec<TraceFlow>,
}

/// Checks the least number of something in `[topology]`.
pub(super) fn at_least(key: &str, value: u32, least: u32) -> Result<(), Problem> {
    if value >= least {
        return Ok(());
    }
    Err(Problem::new(format!("topology.{key}"), format!("expected {least} or more, found {value}")))
}

/// Checks the size of a network under `key`.
pub(super) fn at_most(key: &str, count: u64, most: u64, what: &str) -> Result<(), Problem> {
    if count <= most {
        return Ok(());
    }
    Err(Problem::new(key, format!("expected at most {most} {what}, found {count}")))
}
