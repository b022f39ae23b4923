//! Where captures are taken.

use std::collections::BTreeSet;

use celltrain_atm::aal5::{self, TRAILER};
use thiserror::Error;

use crate::scenario::{Framing, Graph, suggestion};

/// The word for every place of a kind.
const ALL: &str = "all";

/// A capture that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// No host of this name sends or receives packets.
    #[error("no host \"{0}\" sends or receives packets{1}")]
    Host(String, String),
    /// No host of the scenario has a TCP connection.
    #[error("packets are captured at hosts with TCP, and no flow of the scenario carries TCP")]
    NoTcp,
    /// No link of this name carries cells of a flow.
    #[error("no link \"{0}\" carries cells{1}")]
    Link(String, String),
    /// No link that a flow takes is framed in cells.
    #[error("cells are captured on links framed in cells, and no flow of the scenario takes one")]
    NoCells,
    /// The scenario's frames have no trailer that a capture could show.
    #[error(
        "cells cannot be captured with aal5.overhead = \"{0} B\": give it at least 8 B, the trailer of AAL5"
    )]
    NoTrailer(u64),
}

/// The hosts and links, by their numbers in the graph, where captures are taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pub(crate) hosts: BTreeSet<usize>,
    pub(crate) links: BTreeSet<usize>,
}

impl Places {
    /// Finds hosts and links by their names; `all` stands for all that carry anything.
    pub(crate) fn find(
        graph: &Graph,
        aal5: &aal5::Params,
        hosts: &[String],
        links: &[String],
    ) -> Result<Self, CaptureError> {
        if !links.is_empty() && aal5.overhead < TRAILER {
            return Err(CaptureError::NoTrailer(aal5.overhead.0));
        }
        let flows = || graph.flows.iter();
        let ends = flows().filter(|flow| flow.traffic.uses_tcp()).flat_map(|flow| [flow.from, flow.to]);
        let used = flows().flat_map(|flow| flow.hops().into_iter().flatten());
        let used = used.filter(|&link| graph.links[link].framing == Framing::Cells);
        let (ends, used): (BTreeSet<_>, BTreeSet<_>) = (ends.collect(), used.collect());
        if ends.is_empty() && !hosts.is_empty() {
            return Err(CaptureError::NoTcp);
        }
        if used.is_empty() && !links.is_empty() {
            return Err(CaptureError::NoCells);
        }
        Ok(Self {
            hosts: chosen(ends, |host| graph.nodes[host].name.clone(), hosts)
                .map_err(|(name, hint)| CaptureError::Host(name, hint))?,
            links: chosen(used, |link| graph.link_name(link), links)
                .map_err(|(name, hint)| CaptureError::Link(name, hint))?,
        })
    }
}

/// The candidates that are named; the error is a name that none has, and the nearest ones.
fn chosen(
    candidates: BTreeSet<usize>,
    name: impl Fn(usize) -> String,
    wanted: &[String],
) -> Result<BTreeSet<usize>, (String, String)> {
    if wanted.is_empty() {
        return Ok(BTreeSet::new());
    }
    let named: Vec<_> = candidates.iter().map(|&candidate| (name(candidate), candidate)).collect();
    let mut found = BTreeSet::new();
    for text in wanted {
        let mut matching = named.iter().filter(|(name, _)| name == text || text == ALL).peekable();
        if matching.peek().is_none() {
            let names = named.iter().map(|(name, _)| name.as_str());
            return Err((text.clone(), suggestion(text, "known", names)));
        }
        found.extend(matching.map(|(_, candidate)| candidate));
    }
    Ok(found)
}
