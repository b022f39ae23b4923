//! The output ports of switches: what `[[port]]` changes, and whether their buffers, policies and schedulers suit the
//! links and VCs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use celltrain_atm::{
    buffer::{Policy, PolicyName, PortContext, push_out::Sharing},
    contract::Contract,
    quantity::{Capacity, Unit},
    scheduler::{DisciplineName, Priority, ServiceTime},
};
use celltrain_engine::random::Randomness;

use super::{
    super::{
        error::Problem,
        spec::{Framing, NodeKind, PortSpec, Spec, SwitchSpec},
    },
    clocks,
    link::{Link, LinkParams},
    nodes::{Names, Node, find},
    outline::Outline,
    parts::{Flow, Graph},
    poll::{Poll, Stop},
};

/// A buffer without limit is counted as the limit of its VCs is or the memory that it is in, or as its link carries.
pub(super) fn settle_unit(link: &mut LinkParams) {
    let carried = match link.framing {
        Framing::Cells => Unit::Cells,
        Framing::Packets => Unit::Packets,
    };
    if link.buffer.0.is_none() {
        let memory = link.memory.as_ref().and_then(|memory| {
            memory.size.unit().or_else(|| memory.pause.and_then(|pause| pause.xoff.unit()))
        });
        link.buffer.1 = link.vc_buffer.unit().or(memory).unwrap_or(carried);
    }
}

/// Checks that the unit of a port's buffer suits what its link carries.
pub(super) fn check_buffer(spec: &Spec, outline: &Outline, link: &Link) -> Result<(), Problem> {
    let suits = |capacity: Capacity| match capacity.unit() {
        None => true,
        Some(Unit::Cells) => link.framing == Framing::Cells,
        Some(Unit::Packets | Unit::Bytes) => link.framing == Framing::Packets,
    };
    if !suits(link.vc_buffer) || !same_unit(link.buffer, link.vc_buffer) {
        let message = format!("\"{}\" does not suit a buffer of {}", link.vc_buffer, link.buffer);
        return Err(Problem::new("switch.vc-buffer", message));
    }
    if suits(link.buffer) {
        return Ok(());
    }
    let (from, to) = (&outline.nodes[link.from].name, &outline.nodes[link.to].name);
    let entry =
        spec.port.iter().rposition(|port| port.buffer.is_some() && (&port.from, &port.to) == (from, to));
    let key = entry.map_or_else(|| "switch.buffer".to_owned(), |index| format!("port.{index}.buffer"));
    let carries = match link.framing {
        Framing::Cells => "cells: give a number of cells",
        Framing::Packets => "packets: give a number of packets or bytes",
    };
    let is_default = key == "switch.buffer" && link.buffer == SwitchSpec::default().buffer;
    let default = if is_default { "the default, " } else { "" };
    let message = format!(
        "{default}\"{}\" does not suit the link from \"{from}\" to \"{to}\", which carries {carries}",
        link.buffer
    );
    Err(Problem::new(key, message))
}

fn same_unit(one: Capacity, other: Capacity) -> bool {
    one.unit().is_none() || other.unit().is_none() || one.unit() == other.unit()
}

/// Applies `[[port]]`.
pub(super) fn override_ports(
    spec: &Spec,
    outline: &Outline,
    names: &Names,
    links: &mut [Link],
) -> Result<(), Problem> {
    if spec.port.is_empty() {
        return Ok(());
    }
    let mut ports: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        ports.entry((link.from, link.to)).or_default().push(index);
    }
    let mut taken = BTreeMap::new();
    for (index, port) in spec.port.iter().enumerate() {
        let from = find(names, || format!("port.{index}.from"), &port.from)?;
        let to = find(names, || format!("port.{index}.to"), &port.to)?;
        if outline.nodes[from].kind != NodeKind::Switch {
            let message = format!("\"{}\" is a host: only the ports of switches have a buffer", port.from);
            return Err(Problem::new(format!("port.{index}.from"), message));
        }
        let Some(found) = ports.get(&(from, to)) else {
            let message = format!("there is no link from \"{}\" to \"{}\"", port.from, port.to);
            return Err(Problem::new(format!("port.{index}.to"), message));
        };
        if let Some(other) = taken.insert((from, to), index) {
            let message = format!("this port has a [[port]] already, number {}", other + 1);
            return Err(Problem::new(format!("port.{index}.from"), message));
        }
        let discard = port.discard.clone().map(Arc::new);
        let scheduler = port.scheduler.clone().map(Arc::new);
        let allocator = port.allocator.clone().map(Arc::new);
        for &link in found {
            let params: &mut LinkParams = &mut links[link];
            params.buffer = port.buffer.unwrap_or(params.buffer);
            params.vc_buffer = port.vc_buffer.unwrap_or(params.vc_buffer);
            if let Some(discard) = &discard {
                params.discard = Arc::clone(discard);
            }
            if let Some(scheduler) = &scheduler {
                params.scheduler = Arc::clone(scheduler);
            }
            if let Some(allocator) = &allocator {
                params.allocator = Some(Arc::clone(allocator));
            }
            settle_unit(params);
        }
    }
    Ok(())
}

/// The key of what `[switch]` or a `[[port]]` says about the output port of a link.
pub(super) fn place(
    spec: &Spec,
    nodes: &[Node],
    link: &Link,
    key: &str,
    is_own: fn(&PortSpec) -> bool,
) -> String {
    let names = (&nodes[link.from].name, &nodes[link.to].name);
    let own = spec.port.iter().rposition(|port| is_own(port) && (&port.from, &port.to) == names);
    place_of(own, key)
}

fn place_of(own: Option<usize>, key: &str) -> String {
    own.map_or_else(|| format!("switch.{key}"), |index| format!("port.{index}.{key}"))
}

/// As [`place`], for many ports one after the other.
struct Places<'a> {
    spec: &'a Spec,
    nodes: &'a [Node],
    /// The entries of `[[port]]`, by the names of the ends of their links: [`override_ports`] lets a port have one.
    entries: BTreeMap<(&'a str, &'a str), usize>,
}

impl<'a> Places<'a> {
    fn new(spec: &'a Spec, nodes: &'a [Node]) -> Self {
        let entries = spec.port.iter().enumerate();
        let entries = entries.map(|(index, port)| ((&*port.from, &*port.to), index)).collect();
        Self { spec, nodes, entries }
    }

    fn place(&self, link: &Link, key: &str, is_own: fn(&PortSpec) -> bool) -> String {
        let names = (&*self.nodes[link.from].name, &*self.nodes[link.to].name);
        let own = self.entries.get(&names).copied().filter(|&index| is_own(&self.spec.port[index]));
        place_of(own, key)
    }
}

/// Checks that the levels of a port's policy are in the unit in which a buffer without limit is counted. Those of other buffers have been
/// compared with their sizes.
fn check_levels(spec: &Spec, outline: &Outline, link: &Link) -> Result<(), Problem> {
    let Capacity(None, unit) = link.buffer else { return Ok(()) };
    for (key, level) in link.discard.levels() {
        if level.unit().is_some_and(|found| found != unit) {
            let table = place(spec, &outline.nodes, link, "discard", |port| port.discard.is_some());
            let message = format!(
                "\"{level}\" does not suit a buffer that is counted in {unit}: give a number of {unit}"
            );
            return Err(Problem::new(format!("{table}.{}.{key}", link.discard.policy.name()), message));
        }
    }
    Ok(())
}

/// Checks that what a port with a link that changes its rate decides does not rest on one rate.
fn check_rate(spec: &Spec, outline: &Outline, link: &Link) -> Result<(), Problem> {
    if !link.changes_rate() {
        return Ok(());
    }
    let name = format!("\"{} > {}\"", outline.nodes[link.from].name, outline.nodes[link.to].name);
    if link.scheduler.discipline == DisciplineName::Wfq {
        let key = place(spec, &outline.nodes, link, "scheduler", |port| port.scheduler.is_some());
        let message = format!(
            "\"wfq\" computes its virtual time with one rate of the link, and {name} changes its own (rate-changes): choose \
             another discipline, such as \"scfq\""
        );
        return Err(Problem::new(format!("{key}.discipline"), message));
    }
    let sharing = match link.discard.policy {
        PolicyName::AbsPushOut => link.discard.abs_push_out.sharing,
        PolicyName::AbsPushOutHardware => link.discard.abs_push_out_hardware.sharing,
        PolicyName::EpdPushOut => link.discard.epd_push_out.sharing,
        _ => Sharing::Proportional,
    };
    if sharing == Sharing::Equal {
        let key = place(spec, &outline.nodes, link, "discard", |port| port.discard.is_some());
        let policy = link.discard.policy.name();
        let message = format!(
            "\"equal\" shares what the minimum rates leave of one rate of the link, and {name} changes its own (rate-changes): \
             choose another sharing"
        );
        return Err(Problem::new(format!("{key}.{policy}.sharing"), message));
    }
    Ok(())
}

/// Checks that the policies and schedulers of switch ports find what they need in the contracts of the VCs that cross them.
pub(super) fn check_contracts(
    spec: &Spec,
    outline: &Outline,
    links: &[Link],
    flows: &[Flow],
    poll: &mut Poll<'_>,
) -> Result<(), Stop> {
    for (link, vcs) in std::iter::zip(links, crossing(links.len(), flows)) {
        poll.after(1 + vcs.len())?;
        if outline.nodes[link.from].kind == NodeKind::Host || vcs.is_empty() {
            continue;
        }
        check_levels(spec, outline, link)?;
        check_rate(spec, outline, link)?;
        // Of one port at a time: those of all together are as many as all routes have links.
        let contracts: &[Contract] = &vcs.iter().map(|vc| vc.contract(flows)).collect::<Vec<_>>();
        let port = PortContext {
            rate: clocks::slowest(link.rate, spec.link.rate_spread),
            ..context(link, contracts)
        };
        let place = |key, is_own| place(spec, &outline.nodes, link, key, is_own);
        if let Err(error) = Policy::new(&link.discard, &port) {
            let key = place("discard", |port| port.discard.is_some());
            let name = link.discard.policy.name();
            let exact = Policy::new(&link.discard, &context(link, contracts));
            let message = clocks::blamed(error.message, exact.is_ok());
            return Err(Problem::new(format!("{key}.{name}.{}", error.key), message).into());
        }
        if let Err(error) = Priority::new(&link.scheduler, contracts, ServiceTime::default()) {
            let key = place("scheduler", |port| port.scheduler.is_some());
            let name = link.scheduler.discipline.name();
            let message = with_flows(&error.message, |label| vcs[label].describe(flows));
            return Err(Problem::new(format!("{key}.{name}.{}", error.key), message).into());
        }
    }
    Ok(())
}

/// A message of a scheduler, which knows VCs by their labels at the port ("VC 2"), with what `describe` calls them.
fn with_flows(message: &str, describe: impl Fn(usize) -> String) -> String {
    let mut parts = message.split("VC ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
        let (label, rest) = part.split_at(end);
        text += &label.parse().map_or_else(|_| format!("VC {label}"), &describe);
        text += rest;
    }
    text
}

/// What the policy of a port that these VCs cross knows of it, to be asked before anything runs.
pub(super) fn context<'a>(link: &LinkParams, vcs: &'a [Contract]) -> PortContext<'a> {
    PortContext {
        capacity: link.buffer.units(),
        unit: link.buffer.1,
        rate: link.rate,
        overhead: link.overhead.0,
        vcs,
        generator: Randomness { seed: 0, replication: 0 }.named("check"),
    }
}

impl Graph {
    /// A sentence for each choice of a policy and a discipline of which one does nothing without the other.
    pub(in crate::scenario) fn unpaired_policies(&self, spec: &Spec) -> Vec<String> {
        let crossed: BTreeSet<usize> =
            self.flows.iter().flat_map(|flow| flow.hops().into_iter().flatten()).collect();
        let ports =
            crossed.iter().filter(|&&link| self.nodes[self.links[link].from].kind == NodeKind::Switch);
        let places = Places::new(spec, &self.nodes);
        let sentences: BTreeSet<String> = ports.filter_map(|&link| self.unpaired(&places, link)).collect();
        sentences.into_iter().collect()
    }

    /// Whether several VCs of one category cross a link.
    fn has_alike(&self, link: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut vcs = self.flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index).flat_map(
            |(_, flow)| {
                let categories = [flow.contract.category, flow.back_contract().category];
                std::iter::zip(flow.passes(link), categories)
                    .filter_map(|(passes, one)| passes.then_some(one))
            },
        );
        vcs.any(|category| !seen.insert(category))
    }

    /// What is missing at a port whose policy or discipline decides for two queues, or for one per VC, and is alone.
    fn unpaired(&self, places: &Places<'_>, link: usize) -> Option<String> {
        let port = &self.links[link];
        let policy = places.place(port, "discard", |port| port.discard.is_some()) + ".policy";
        let scheduler = places.place(port, "scheduler", |port| port.scheduler.is_some());
        let discipline = scheduler + ".discipline";
        let (chosen, served) = (port.discard.policy.name(), port.scheduler.discipline.name());
        match (port.discard.policy, port.scheduler.discipline) {
            (PolicyName::Dualpi2, DisciplineName::DualQueue) => None,
            (PolicyName::Dualpi2, _) => Some(format!(
                "{policy}: \"{chosen}\" decides for two queues, and \"{served}\" serves no queue of low latency: scalable flows wait as \
                 long as the others; set {discipline} = \"dual-queue\" (RFC 9332 section 2)"
            )),
            (_, DisciplineName::DualQueue) => Some(format!(
                "{discipline}: nothing couples the two queues of \"{served}\", so that packets of low latency may take all of the link but \
                 the share of the others; set {policy} = \"dualpi2\" instead of \"{chosen}\" (RFC 9332 section 2.1)"
            )),
            (PolicyName::FqCodel, DisciplineName::Fifo) => Some(format!(
                "{policy}: \"{chosen}\" keeps a queue for each VC, and \"{served}\" serves all in one order, so that a sparse flow waits for \
                 the others; set {discipline} = \"flow-queue\" (RFC 8290 section 4)"
            )),
            (_, DisciplineName::Fifo) => None,
            (PolicyName::Codel | PolicyName::Cobalt, _) if self.has_alike(link) => Some(format!(
                "{policy}: \"{chosen}\" has one state for all VCs of a category, and \"{served}\" a queue for each: a VC that seldom waits keeps \
                 it from dropping at the others; set {policy} = \"fq-codel\", which has a state for each (RFC 8289 section 4.4)"
            )),
            _ => None,
        }
    }
}

impl Graph {
    /// A sentence for each choice of what divides a port among its VCs where packets are sprayed.
    pub(in crate::scenario) fn divided_flows(&self, spec: &Spec) -> Vec<String> {
        let sprayed = self.flows.iter().filter(|flow| flow.is_sprayed());
        let crossed: BTreeSet<usize> = sprayed.flat_map(|flow| flow.hops().into_iter().flatten()).collect();
        let ports = crossed.iter().map(|&link| &self.links[link]);
        let ports = ports.filter(|port| self.nodes[port.from].kind == NodeKind::Switch);
        let places = Places::new(spec, &self.nodes);
        let sentences: BTreeSet<String> = ports.flat_map(|port| Self::divided(&places, port)).collect();
        sentences.into_iter().collect()
    }

    /// What divides a port among its VCs: a flow whose packets are sprayed has several of them there.
    fn divided(places: &Places<'_>, port: &Link) -> Vec<String> {
        let place = |key, is_own| places.place(port, key, is_own);
        let mut dividing = Vec::new();
        if !SHARED_POLICIES.contains(&port.discard.policy) {
            let name = port.discard.policy.name();
            dividing.push((place("discard", |port| port.discard.is_some()) + ".policy", name));
        }
        if !SHARED_DISCIPLINES.contains(&port.scheduler.discipline) {
            let name = port.scheduler.discipline.name();
            dividing.push((place("scheduler", |port| port.scheduler.is_some()) + ".discipline", name));
        }
        if port.vc_buffer.unit().is_some() {
            dividing.push((place("vc-buffer", |port| port.vc_buffer.is_some()), "vc-buffer"));
        }
        let sentence = |(key, name)| {
            format!(
                "{key}: \"{name}\" looks at single VCs, and where packets are sprayed (routing.multipath = \"packet\") a flow has a VC on \
                 each of its ways: at a port that several of them pass it has as many parts"
            )
        };
        dividing.into_iter().map(sentence).collect()
    }
}

/// Policies that decide without regard to the VC, but for the rest of a frame.
const SHARED_POLICIES: [PolicyName; 9] = [
    PolicyName::TailDrop,
    PolicyName::Ppd,
    PolicyName::Epd,
    PolicyName::DoubleEpd,
    PolicyName::Red,
    PolicyName::Pie,
    PolicyName::Codel,
    PolicyName::Cobalt,
    PolicyName::Dualpi2,
];
/// Disciplines that serve VCs without regard to which they are.
const SHARED_DISCIPLINES: [DisciplineName; 2] = [DisciplineName::Fifo, DisciplineName::DualQueue];

/// A VC that crosses a link: the number of its flow, twice, and one more if it is the VC back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing(u32);

impl Crossing {
    fn new(flow: usize, back: bool) -> Self {
        Self(u32::try_from(2 * flow).expect("there are no more than MAX_FLOWS flows") + u32::from(back))
    }

    /// The flow, and whether it is the VC back.
    pub(super) fn of(self, flows: &[Flow]) -> (&Flow, bool) {
        (&flows[self.0 as usize / 2], !self.0.is_multiple_of(2))
    }

    /// What a message calls it.
    fn describe(self, flows: &[Flow]) -> String {
        let (flow, back) = self.of(flows);
        format!("{} of flow \"{}\"", if back { "the VC back" } else { "the VC" }, flow.name)
    }

    pub(super) fn contract(self, flows: &[Flow]) -> Contract {
        let (flow, back) = self.of(flows);
        if back { flow.back_contract() } else { (*flow.port_contract()).clone() }
    }
}

/// The VCs that cross each link.
pub(super) fn crossing(links: usize, flows: &[Flow]) -> Vec<Vec<Crossing>> {
    let mut crossing = vec![Vec::new(); links];
    for (index, flow) in flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index) {
        let [there, back] = flow.hops();
        there.for_each(|link| crossing[link].push(Crossing::new(index, false)));
        back.for_each(|link| crossing[link].push(Crossing::new(index, true)));
    }
    crossing
}

#[cfg(test)]
mod tests {
    use super::{super::super::Scenario, *};

    type Part = (&'static str, fn(&PortSpec) -> bool);

    #[test]
    fn places_are_those_of_a_search() {
        let text = "schema = 1\nname = \"ports\"\nduration = \"1 ms\"\ntopology.kind = \"n-source\"\ntopology.sources = 3\n\
            [[port]]\nfrom = \"switch1\"\nto = \"switch2\"\ndiscard.policy = \"epd\"\n\
            [[port]]\nfrom = \"switch2\"\nto = \"switch1\"\nscheduler.discipline = \"round-robin\"\nbuffer = \"50 cells\"\n";
        let scenario = Scenario::from_toml(text, "test.toml", &[]).unwrap();
        let (spec, graph) = (scenario.spec(), scenario.graph().unwrap());
        let places = Places::new(spec, &graph.nodes);
        let mut found = BTreeSet::new();
        for link in &graph.links {
            let parts: [Part; 3] = [
                ("discard", |port| port.discard.is_some()),
                ("scheduler", |port| port.scheduler.is_some()),
                ("vc-buffer", |port| port.vc_buffer.is_some()),
            ];
            for (key, is_own) in parts {
                let expected = place(spec, &graph.nodes, link, key, is_own);
                assert_eq!(places.place(link, key, is_own), expected);
                found.insert(expected);
            }
        }
        let expected =
            ["port.0.discard", "port.1.scheduler", "switch.discard", "switch.scheduler", "switch.vc-buffer"];
        assert!(found.iter().eq(&expected), "{found:?}");
    }
}
