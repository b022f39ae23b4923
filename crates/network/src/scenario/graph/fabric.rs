//! Fabrics of data centres: leaf-spine networks, fat trees, tori and random graphs.

use super::{
    super::{
        error::Problem,
        spec::{FatTree, LeafSpine, LinkOverride, NodeKind, Pattern, Random, Spec, Torus},
    },
    limits::{MAX_FLOWS, MAX_NODES},
    nodes::Node,
    outline::{LinkOutline, Outline, OutlineFlow, Place, at_least, at_most},
    regular::regular,
};

/// Links between the switches of a random graph, at most: drawing that many takes a fraction of a second.
const MAX_DRAWN: u64 = 100_000;

/// A fabric in the making: hosts come first among the nodes.
struct Fabric<'a> {
    spec: &'a Spec,
    outline: Outline,
}

impl<'a> Fabric<'a> {
    fn new(spec: &'a Spec) -> Self {
        Self { spec, outline: Outline::default() }
    }

    /// Adds nodes `prefix1`, `prefix2`, …; returns the index of the first.
    fn nodes(&mut self, prefix: &str, count: u32, kind: NodeKind) -> usize {
        let first = self.outline.nodes.len();
        self.outline.nodes.extend((1..=count).map(|number| Node { name: format!("{prefix}{number}"), kind }));
        first
    }

    fn link(&mut self, from: usize, to: usize, place: Place) {
        let link: LinkOverride = match place {
            Place::Access => self.spec.link.access.clone(),
            _ => self.spec.link.trunk.clone(),
        };
        self.outline.links.push(LinkOutline { from, to, link, simplex: false, place });
    }

    /// Adds the flows of `pattern` among the first `hosts` nodes.
    fn flows(mut self, hosts: u32, pattern: Pattern) -> Outline {
        let hosts = hosts as usize;
        let mut flow = |from, to| {
            let name = (self.outline.flows.len() + 1).to_string();
            self.outline.flows.push(OutlineFlow {
                name,
                group: 1,
                from,
                to,
                circuit: None,
                common: None,
                trace: Vec::new(),
            });
        };
        match pattern {
            Pattern::Permutation => (0..hosts).for_each(|host| flow(host, (host + hosts / 2) % hosts)),
            Pattern::AllToAll => (0..hosts * hosts)
                .map(|pair| (pair / hosts, pair % hosts))
                .filter(|(from, to)| from != to)
                .for_each(|(from, to)| flow(from, to)),
            Pattern::Incast => (1..hosts).for_each(|host| flow(host, 0)),
            Pattern::None => {}
        }
        self.outline
    }
}

/// Checks that a fabric is not too large.
fn limit(key: &str, hosts: u64, switches: u64, pattern: Pattern) -> Result<(), Problem> {
    let flows = if pattern == Pattern::AllToAll { hosts.saturating_mul(hosts - 1) } else { hosts };
    at_most(key, flows, MAX_FLOWS, "flows")?;
    at_most(key, hosts.saturating_add(switches), MAX_NODES, "nodes")
}

pub(super) fn leaf_spine(spec: &Spec, fabric: &LeafSpine) -> Result<Outline, Problem> {
    let LeafSpine { leaves, spines, hosts, pattern } = *fabric;
    at_least("leaves", leaves, 2)?;
    at_least("spines", spines, 1)?;
    at_least("hosts", hosts, 1)?;
    let all = u64::from(leaves) * u64::from(hosts);
    limit("topology.hosts", all, u64::from(leaves) + u64::from(spines), pattern)?;
    at_most(
        "topology.spines",
        u64::from(leaves) * u64::from(spines),
        MAX_NODES,
        "links between leaves and spines",
    )?;
    let mut made = Fabric::new(spec);
    made.nodes("host", all as u32, NodeKind::Host);
    let (leaf, spine) =
        (made.nodes("leaf", leaves, NodeKind::Switch), made.nodes("spine", spines, NodeKind::Switch));
    for (host, place) in (0..all as usize).map(|host| (host, host / hosts as usize)) {
        made.link(host, leaf + place, Place::Access);
    }
    for pair in 0..leaves as usize * spines as usize {
        made.link(leaf + pair / spines as usize, spine + pair % spines as usize, Place::Trunk);
    }
    Ok(made.flows(all as u32, pattern))
}

pub(super) fn fat_tree(spec: &Spec, fabric: &FatTree) -> Result<Outline, Problem> {
    let FatTree { k, pattern } = *fabric;
    at_least("k", k, 2)?;
    if !k.is_multiple_of(2) {
        return Err(Problem::new("topology.k", format!("expected an even number of ports, found {k}")));
    }
    let (wide, half) = (u64::from(k), u64::from(k / 2));
    // Beyond that the products below do not fit.
    at_most("topology.k", wide, 1 << 16, "ports")?;
    limit("topology.k", wide * half * half, 2 * wide * half + half * half, pattern)?;
    let (hosts, half) = ((wide * half * half) as u32, half as usize);
    let mut made = Fabric::new(spec);
    made.nodes("host", hosts, NodeKind::Host);
    let edge = made.nodes("edge", k * k / 2, NodeKind::Switch);
    let aggregation = made.nodes("aggregation", k * k / 2, NodeKind::Switch);
    let core = made.nodes("core", k * k / 4, NodeKind::Switch);
    for host in 0..hosts as usize {
        made.link(host, edge + host / half, Place::Access);
    }
    for pod in 0..k as usize {
        for pair in 0..half * half {
            let (upper, lower) = (pod * half + pair / half, pod * half + pair % half);
            made.link(edge + lower, aggregation + upper, Place::Trunk);
            // Aggregation switch number j of each pod meets the core switches of row j.
            made.link(aggregation + upper, core + pair, Place::Trunk);
        }
    }
    Ok(made.flows(hosts, pattern))
}

pub(super) fn torus(spec: &Spec, fabric: &Torus) -> Result<Outline, Problem> {
    let Torus { rows, columns, hosts, pattern } = *fabric;
    at_least("rows", rows, 2)?;
    at_least("columns", columns, 1)?;
    at_least("hosts", hosts, 1)?;
    let switches = u64::from(rows) * u64::from(columns);
    at_most("topology.columns", switches, MAX_NODES, "switches")?;
    limit("topology.hosts", switches * u64::from(hosts), switches, pattern)?;
    let mut made = Fabric::new(spec);
    let all = switches as u32 * hosts;
    made.nodes("host", all, NodeKind::Host);
    let first = made.nodes("switch", switches as u32, NodeKind::Switch);
    for host in 0..all as usize {
        made.link(host, first + host / hosts as usize, Place::Access);
    }
    let (rows, columns) = (rows as usize, columns as usize);
    for switch in 0..rows * columns {
        let (row, column) = (switch / columns, switch % columns);
        // Two in a ring have one link between them, not two; one has none.
        if column + 1 < columns || columns > 2 {
            made.link(first + switch, first + row * columns + (column + 1) % columns, Place::Trunk);
        }
        if row + 1 < rows || rows > 2 {
            made.link(first + switch, first + (row + 1) % rows * columns + column, Place::Trunk);
        }
    }
    Ok(made.flows(all, pattern))
}

pub(super) fn random(spec: &Spec, fabric: &Random) -> Result<Outline, Problem> {
    let Random { switches, degree, hosts, seed, pattern } = *fabric;
    at_least("switches", switches, 3)?;
    at_least("degree", degree, 2)?;
    at_least("hosts", hosts, 1)?;
    let ends = u64::from(switches) * u64::from(degree);
    if degree >= switches {
        let said = format!("expected fewer than the {switches} switches, found {degree}");
        return Err(Problem::new("topology.degree", said));
    }
    if !ends.is_multiple_of(2) {
        let said = format!("expected an even number, as the number of switches is odd, found {degree}");
        return Err(Problem::new("topology.degree", said));
    }
    at_most("topology.degree", ends / 2, MAX_DRAWN, "links between switches")?;
    let all = u64::from(switches) * u64::from(hosts);
    limit("topology.hosts", all, u64::from(switches), pattern)?;
    let mut made = Fabric::new(spec);
    made.nodes("host", all as u32, NodeKind::Host);
    let first = made.nodes("switch", switches, NodeKind::Switch);
    for host in 0..all as usize {
        made.link(host, first + host / hosts as usize, Place::Access);
    }
    for (from, to) in regular(switches as usize, degree as usize, seed) {
        made.link(first + from, first + to, Place::Trunk);
    }
    Ok(made.flows(all as u32, pattern))
}
