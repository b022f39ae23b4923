//! The directed links of a network and their ports.

use std::{
    collections::BTreeSet,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use celltrain_atm::{
    abr::AllocatorParams, buffer::DiscardParams, quantity::Capacity, scheduler::SchedulerParams,
};
use celltrain_engine::{
    quantity::{BitRate, Bytes, Delay, Duration},
    time::seconds,
};

use super::{
    super::{
        error::Problem,
        spec::{
            BurstLoss, Changes, Dark, DelayChanges, Framing, LinkOverride, LossUnit, MemorySpec, NodeKind,
            RateChanges, Reorder, Spec, SwitchSpec,
        },
    },
    Names, Node, Poll, Stop, clocks,
    generate::{LinkOutline, Outline},
    ports, progress,
};

/// A link in one direction, with the output port that feeds it. It reads as its [`LinkParams`], which it shares with links that are
/// alike until it is written to.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Index of the node that sends.
    pub from: usize,
    /// Index of the node that receives.
    pub to: usize,
    /// Which it is of the links from the one to the other, from 1.
    number: u32,
    params: Arc<LinkParams>,
}

impl Deref for Link {
    type Target = LinkParams;

    fn deref(&self) -> &LinkParams {
        &self.params
    }
}

impl DerefMut for Link {
    fn deref_mut(&mut self) -> &mut LinkParams {
        Arc::make_mut(&mut self.params)
    }
}

impl Link {
    /// What it and its port are called among these nodes: `from > to`, and with several such links `from > to (2)` from the second one on, in the
    /// order of the scenario.
    #[must_use]
    pub fn name(&self, nodes: &[Node]) -> String {
        let ends = self.ends(nodes);
        if self.number == 1 { ends } else { format!("{ends} ({})", self.number) }
    }

    /// The names of its ends, which it may have in common with other links: `from > to`.
    pub(crate) fn ends(&self, nodes: &[Node]) -> String {
        [nodes[self.from].name.as_str(), " > ", &nodes[self.to].name].concat()
    }
}

/// What a link and its output port are like. Links of different rates may still share what is large.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkParams {
    /// Line rate, at the start of the run.
    pub rate: BitRate,
    /// How its rate changes after the start and before the end of the run.
    pub rate_changes: RateChanges,
    /// Time from the end of a cell's transmission to its arrival; where a switch receives, its own delay is included.
    pub delay: Duration,
    /// Whether it carries cells or packets.
    pub framing: Framing,
    /// Bytes that it adds to each packet if it carries packets.
    pub overhead: Bytes,
    /// Share of what it loses at random.
    pub loss: f64,
    /// What it loses at random.
    pub loss_unit: LossUnit,
    /// What it loses in bursts. Few links do.
    pub burst_loss: Option<Arc<BurstLoss>>,
    /// Which packets it holds back.
    pub reorder: Option<Arc<Reorder>>,
    /// When it loses everything.
    pub dark: Option<Arc<Dark>>,
    /// How its delay changes after the start and before the end of the run.
    pub delay_changes: DelayChanges,
    /// Whether its delay changes after the start at all, be it after the end of the run: what a run draws at random must not depend on its
    /// length.
    pub varies: bool,
    /// The shortest that its delay is at any time, as [`LinkParams::delay`] is at the start of the run.
    pub shortest_delay: Duration,
    /// The longest that it is.
    pub longest_delay: Duration,
    /// Buffer of the output port; a host's is unlimited.
    pub buffer: Capacity,
    /// The memory that the output port shares with the others of its switch, if it does.
    pub memory: Option<Arc<MemorySpec>>,
    /// Discard policy of the output port.
    pub discard: Arc<DiscardParams>,
    /// The most that one VC may take of the buffer.
    pub vc_buffer: Capacity,
    /// In which order the output port serves its VCs.
    pub scheduler: Arc<SchedulerParams>,
    /// What tells ABR sources their rates, if anything does.
    pub allocator: Option<Arc<AllocatorParams>>,
}

impl LinkParams {
    /// Whether it does something to what it carries that is not each cell's or frame's own fate.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.burst_loss.is_some() || self.reorder.is_some() || self.dark.is_some() || self.varies
    }

    /// Whether it transmits at different rates in the course of a run.
    #[must_use]
    pub fn changes_rate(&self) -> bool {
        !self.rate_changes.is_empty()
    }

    /// Whether its output port belongs to a switch that pauses the links which lead to it.
    pub(crate) fn pauses(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.pause.is_some())
    }

    /// The rates that it has, one after the other.
    fn rates(&self) -> impl Iterator<Item = BitRate> {
        std::iter::once(self.rate).chain(self.rate_changes.iter().map(|change| change.rate))
    }

    /// The highest of its rates.
    #[must_use]
    pub fn fastest(&self) -> BitRate {
        self.rates().fold(self.rate, Ord::max)
    }

    /// The lowest of its rates.
    #[must_use]
    pub fn slowest(&self) -> BitRate {
        self.rates().fold(self.rate, Ord::min)
    }

    /// What it can transmit from the start to `end`, in bits.
    #[must_use]
    pub fn bits_until(&self, end: Duration) -> f64 {
        let starts = std::iter::once(0).chain(self.rate_changes.iter().map(|change| change.at.ps()));
        let ends = self.rate_changes.iter().map(|change| change.at.ps()).chain([end.ps()]);
        let periods = starts.zip(ends).map(|(from, to)| to.min(end.ps()).saturating_sub(from));
        self.rates().zip(periods).map(|(rate, period)| rate.0 as f64 * seconds(period)).sum()
    }
}

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
