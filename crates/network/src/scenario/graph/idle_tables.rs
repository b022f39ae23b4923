//! Tables about links of which the network has none.

use super::{
    super::spec::{LinkOverride, Spec, Topology},
    generate,
    outline::Place,
};

/// A note on each of `[link.access]`, `[link.trunk]` and `[link.exit]` that says something of no link.
pub(in crate::scenario) fn tables_without_links(spec: &Spec) -> Vec<String> {
    let Ok(outline) = generate::outline(spec) else { return Vec::new() };
    // Links of a group's own hosts have what they do not say from the tables of all.
    let acts = |table: Place| {
        outline.links.iter().any(|link| match link.place {
            Place::GroupAccess(_) => table == Place::Access,
            Place::GroupExit(_) => table == Place::Exit,
            place => place == table,
        })
    };
    let where_then = match spec.topology {
        Topology::Graph(_) => "each [[topology.link]] says what it is, and [link] what all have in common",
        _ if acts(Place::Access) => "the links of all hosts are [link.access]",
        _ => "[link] says what all have in common",
    };
    let tables = [
        (&spec.link.access, Place::Access),
        (&spec.link.trunk, Place::Trunk),
        (&spec.link.exit, Place::Exit),
    ];
    // A link that says the same by itself has what the table asks for.
    let said = |table: &LinkOverride| outline.links.iter().any(|link| link.link == *table);
    let idle = tables.into_iter().filter(|(table, place)| !(table.is_empty() || acts(*place) || said(table)));
    idle.map(|(_, place)| format!("{}: this network has no such links; {where_then}", place.key())).collect()
}
