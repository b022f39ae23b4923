//! The directed links of a network and their ports.

use std::{collections::BTreeSet, sync::Arc};

use celltrain_atm::{
    abr::AllocatorParams, buffer::DiscardParams, quantity::Capacity, scheduler::SchedulerParams,
};
use celltrain_engine::quantity::{Delay, Duration};

use super::{
    super::{
        error::Problem,
        spec::{Changes, Framing, LinkOverride, MemorySpec, NodeKind, Spec, SwitchSpec},
    },
    clocks,
    link::{Link, LinkParams},
    nodes::{Names, Node},
    outline::{LinkOutline, Outline},
    poll::{Poll, Stop},
    ports, progress,
};

/// The ports of hosts or of switches, but for what their links say.
struct Ports {
    buffer: Capacity,
    vc_buffer: Capacity,
    memory: Option<Arc<MemorySpec>>,
    discard: Arc<DiscardParams>,
    scheduler: Arc<SchedulerParams>,
    allocator: Option<Arc<AllocatorParams>>,
}

impl Ports {
    fn new(spec: &SwitchSpec) -> Self {
        Self {
            buffer: spec.buffer,
            vc_buffer: spec.vc_buffer.unwrap_or(Capacity::UNLIMITED),
            memory: spec.memory.map(Arc::new),
            discard: Arc::new(spec.discard.clone()),
            scheduler: Arc::new(spec.scheduler.clone()),
            allocator: spec.allocator.clone().map(Arc::new),
        }
    }
}

/// How a link differs from `[link]`, and the parameters that came of it.
type Known<'a> = (&'a LinkOverride, Arc<LinkParams>);

/// What the links of a network are like, made once for those that are alike and follow each other. A network in which kinds of links
/// alternate, or whose links run by clocks of their own, shares nothing; it only takes more memory.
struct Kinds<'a> {
    spec: &'a Spec,
    /// Of hosts, and of switches.
    ports: [Ports; 2],
    /// What was made last for a host's link or a switch's, to a host or a switch, and how its place differs from `[link]`.
    last: [[Option<Known<'a>>; 2]; 2],
}

impl<'a> Kinds<'a> {
    fn new(spec: &'a Spec) -> Self {
        let hosts = SwitchSpec { buffer: Capacity::UNLIMITED, ..SwitchSpec::default() };
        Self { spec, ports: [&hosts, &spec.switch].map(Ports::new), last: Default::default() }
    }

    /// The parameters of a link between two such nodes.
    fn params(&mut self, link: &'a LinkOverride, from: NodeKind, to: NodeKind) -> Arc<LinkParams> {
        let [from, to] = [from, to].map(|kind| usize::from(kind == NodeKind::Switch));
        if let Some((same, params)) = &self.last[from][to]
            && *same == link
        {
            return Arc::clone(params);
        }
        let processing = if to == 1 { self.spec.switch.delay.0 } else { 0 };
        let params = Arc::new(params(self.spec, link, &self.ports[from], processing));
        self.last[from][to] = Some((link, Arc::clone(&params)));
        params
    }
}

/// The value at the start of a run that ends at `end` and the changes after it: one at 0 s takes the place of the `first` value, and one at the
/// end or later has no effect.
fn in_force<V, C: Clone>(
    first: V,
    changes: &Changes<C>,
    end: Duration,
    parts: impl Fn(&C) -> (Duration, V),
) -> (V, Changes<C>) {
    let before = |time: Duration| changes.partition_point(|change| parts(change).0 < time);
    let [begin, end] = [Duration(1), end].map(before);
    let first = begin.checked_sub(1).map_or(first, |last| parts(&changes[last]).1);
    let all = (begin, end) == (0, changes.len());
    (first, if all { changes.clone() } else { changes[begin..end].to_vec().into() })
}

/// A link that differs from `[link]` as `own` says, behind such a port; what receives it adds `processing` to its delay.
fn params(spec: &Spec, own: &LinkOverride, port: &Ports, processing: u64) -> LinkParams {
    let link = &spec.link;
    let delay = own.delay.map_or(link.delay, |range| range.from);
    let changes = own.delay_changes.as_ref().unwrap_or(&link.delay_changes);
    let varies = changes.iter().any(|change| change.at > Duration(0));
    let (Delay(delay), delay_changes) =
        in_force(delay, changes, spec.duration, |change| (change.at, change.delay));
    let changes = own.rate_changes.as_ref().unwrap_or(&link.rate_changes);
    let (rate, rate_changes) =
        in_force(own.rate.unwrap_or(link.rate), changes, spec.duration, |change| (change.at, change.rate));
    let delays = || delay_changes.iter().map(|change| change.delay.0);
    let (shortest, longest) = (delays().fold(delay, Ord::min), delays().fold(delay, Ord::max));
    let mut params = LinkParams {
        rate,
        rate_changes,
        delay: Duration(delay.0 + processing),
        framing: own.framing.unwrap_or(link.framing),
        overhead: own.overhead.unwrap_or(link.overhead),
        loss: own.loss.unwrap_or(link.loss),
        loss_unit: own.loss_unit.unwrap_or(link.loss_unit),
        burst_loss: own.burst_loss.or(link.burst_loss).map(Arc::new),
        reorder: own.reorder.or(link.reorder).map(Arc::new),
        dark: own.dark.or(link.dark).map(Arc::new),
        delay_changes,
        varies,
        shortest_delay: Duration(shortest.0 + processing),
        longest_delay: Duration(longest.0 + processing),
        buffer: port.buffer,
        memory: port.memory.clone(),
        discard: port.discard.clone(),
        vc_buffer: port.vc_buffer,
        scheduler: port.scheduler.clone(),
        allocator: port.allocator.clone(),
    };
    ports::settle_unit(&mut params);
    params
}

/// Checks that a link which reorders carries packets.
fn check_order(link_outline: &LinkOutline, link: &Link) -> Result<(), Problem> {
    if link.reorder.is_none() || link.framing == Framing::Packets {
        return Ok(());
    }
    let key = link_outline.link.reorder.map_or_else(|| "link".to_owned(), |_| link_outline.place.key());
    let message = "the cells of a VC stay in order on every ATM link (ITU-T I.150): give `framing = \"packets\"`, or leave it out";
    Err(Problem::new(format!("{key}.reorder"), message))
}

/// Numbers the links from each node to each other one.
fn number(links: &mut [Link]) {
    let mut order: Vec<_> = (0..links.len()).collect();
    order.sort_by_key(|&link| (links[link].from, links[link].to));
    for pair in 1..order.len() {
        let [before, link] = [order[pair - 1], order[pair]];
        if (links[before].from, links[before].to) == (links[link].from, links[link].to) {
            links[link].number = links[before].number + 1;
        }
    }
}

/// Checks that no two links have one name: the second link from `s` to `t` and a link from `s` to a node `t (2)` would both be `s > t (2)`.
fn check_names(nodes: &[Node], links: &[Link]) -> Result<(), Problem> {
    if !nodes.iter().any(|node| node.name.contains('>') || node.name.ends_with(')')) {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    let twice = links.iter().map(|link| link.name(nodes)).find(|name| !names.insert(name.clone()));
    twice.map_or(Ok(()), |name| {
        let message = format!("two links would be called \"{name}\": give a node another name");
        Err(Problem::new("topology.node", message))
    })
}

/// The directed links and their ports.
pub(super) fn links(
    spec: &Spec,
    outline: &Outline,
    names: &Names,
    poll: &mut Poll<'_>,
) -> Result<Vec<Link>, Stop> {
    let mut links = Vec::with_capacity(2 * outline.links.len());
    let mut kinds = Kinds::new(spec);
    for link_outline in &outline.links {
        poll.after(1)?;
        let directions = [(link_outline.from, link_outline.to), (link_outline.to, link_outline.from)];
        for &(from, to) in &directions[..if link_outline.simplex { 1 } else { 2 }] {
            let params = kinds.params(&link_outline.link, outline.nodes[from].kind, outline.nodes[to].kind);
            let link = Link { from, to, number: 1, params };
            let rate = clocks::fastest(link.fastest(), spec.link.rate_spread);
            progress::check_lookahead(link_outline.place, &link, rate)?;
            check_order(link_outline, &link)?;
            links.push(link);
        }
    }
    number(&mut links);
    check_names(&outline.nodes, &links)?;
    ports::override_ports(spec, outline, names, &mut links)?;
    Ok(links)
}
