//! The network that a scenario describes: nodes, directed links, and flows with their routes.

mod abr;
mod bottleneck;
mod clocks;
mod contracts;
mod drafts;
mod fabric;
mod flows;
mod generate;
mod groups;
mod idle_tables;
mod limits;
mod link;
mod links;
mod losses;
mod marks;
mod memory;
mod nodes;
mod offered;
mod outline;
mod overrides;
mod parts;
mod passage;
mod pauses;
mod poll;
mod ports;
mod progress;
mod regular;
mod route;
mod settings;

use self::nodes::index_names;
pub(super) use self::{
    idle_tables::tables_without_links,
    poll::{Poll, Stop},
};
pub use self::{
    limits::{MAX_ACTIVE, MAX_FLOWS, MAX_NODES, MAX_RECORDED, MAX_ROUTE_LINKS, MAX_SHORT_FLOWS, MAX_WAYS},
    link::{Link, LinkParams},
    nodes::Node,
    parts::{Flow, Graph, Loss, Way},
    poll::WORK_BETWEEN_POLLS,
    progress::MAX_OVERLOAD,
};
use super::spec::Spec;

impl Graph {
    /// Builds the network and checks that every flow can cross it.
    pub(super) fn build(spec: &Spec, poll: &mut Poll<'_>) -> Result<Self, Stop> {
        let mut outline = generate::outline(spec)?;
        poll.after(outline.nodes.len())?;
        let names = index_names(&outline.nodes, poll)?;
        let links = links::links(spec, &outline, &names, poll)?;
        let flows = flows::flows(spec, &mut outline, &names, &links, poll)?;
        // Behind the framings of whole paths: what buffers count would only lead astray where these differ.
        links.iter().try_for_each(|link| ports::check_buffer(spec, &outline, link))?;
        links.iter().try_for_each(|link| memory::check_memory(spec, &outline, link))?;
        ports::check_contracts(spec, &outline, &links, &flows, poll)?;
        pauses::check_pauses(spec, &outline, &links, &flows)?;
        let place = |link: &Link| {
            ports::place(spec, &outline.nodes, link, "allocator", |port| port.allocator.is_some())
        };
        abr::check_allocators(&links, &flows, place)?;
        abr::check_order(&outline.nodes, &links, &flows)?;
        progress::check_backlog(spec.duration, &spec.aal5, &outline.nodes, &links, &flows)?;
        let losses = losses::losses(spec, &names, &links, &flows)?;
        let bottleneck = bottleneck::named(spec, &outline.nodes, &links, &flows)?;
        Ok(Self { nodes: outline.nodes, links, flows, groups: outline.groups, losses, bottleneck })
    }
}
