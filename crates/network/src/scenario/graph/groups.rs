//! `[[group]]`: flows with hosts of their own, and flows between hosts that are there.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_engine::random::Randomness;

use super::{
    super::{
        error::{Problem, suggestion},
        group_names::GroupNames,
        spec::{DelayRange, GroupSpec, LinkOverride, NodeKind, Pairs, Spec, Topology, TraceFlow},
    },
    limits::{MAX_FLOWS, MAX_NODES},
    nodes::Node,
    outline::{LinkOutline, Outline, OutlineFlow, Place, at_most},
};

/// Two switches, and hosts at both for each flow of the groups that name none.
pub(super) fn dumbbell(spec: &Spec) -> Result<Outline, Problem> {
    let node = |name: String, kind| Node { name, kind };
    let mut outline = Outline {
        nodes: vec![node("switch1".into(), NodeKind::Switch), node("switch2".into(), NodeKind::Switch)],
        groups: GroupNames::new(0, &spec.group),
        ..Outline::default()
    };
    let link = |from, to, link: &LinkOverride, place| LinkOutline {
        from,
        to,
        link: link.clone(),
        simplex: false,
        place,
    };
    outline.links.push(link(0, 1, &spec.link.trunk, Place::Trunk));
    let own = || spec.group.iter().enumerate().filter(|(_, group)| has_own_hosts(group));
    let count: u64 = own().map(|(_, group)| u64::from(group.flows)).sum();
    if count == 0 {
        return Err(Problem::new(
            "topology.kind",
            "a dumbbell has the hosts of its groups: add a [[group]] without `from` and `to`",
        ));
    }
    at_most("group", count, MAX_FLOWS, "flows")?;
    if let Some((index, _)) = own().find(|(_, group)| group.senders.is_some()) {
        let message = "each flow of this group has a host of its own: `flows` is the number of its senders";
        return Err(Problem::new(format!("group.{index}.senders"), message));
    }
    at_most("group", 2 + 2 * count, MAX_NODES, "nodes")?;
    for (index, group) in own() {
        let access = group.access.over(&spec.link.access);
        let exit = group.exit.over(&spec.link.exit);
        let place = |own: &LinkOverride, of_group, of_all| if own.is_empty() { of_all } else { of_group };
        for flow in 1..=group.flows {
            let name = format!("{}{flow}", group.name);
            let from = outline.nodes.len();
            outline.nodes.push(node(format!("src-{name}"), NodeKind::Host));
            outline.nodes.push(node(format!("dest-{name}"), NodeKind::Host));
            let (at_source, at_destination) = (
                place(&group.access, Place::GroupAccess(index), Place::Access),
                place(&group.exit, Place::GroupExit(index), Place::Exit),
            );
            outline.links.push(link(from, 0, &access, at_source));
            outline.links.push(link(1, from + 1, &exit, at_destination));
            outline.flows.push(OutlineFlow {
                name,
                group: outline.groups.number(index),
                from,
                to: from + 1,
                circuit: None,
                common: Some(index),
                trace: Vec::new(),
            });
        }
    }
    Ok(outline)
}

fn has_own_hosts(group: &GroupSpec) -> bool {
    group.from.is_none() && group.to.is_none() && group.transfers.is_empty()
}

/// Adds the flows of groups between hosts that are there.
pub(super) fn between_hosts(spec: &Spec, outline: &mut Outline) -> Result<(), Problem> {
    if spec.group.is_empty() {
        return Ok(());
    }
    let dumbbell = matches!(spec.topology, Topology::Dumbbell(_));
    if !dumbbell {
        let before = outline.flows.iter().map(|flow| flow.group).max().unwrap_or(0);
        outline.groups = GroupNames::new(before, &spec.group);
    }
    for (index, group) in spec.group.iter().enumerate() {
        if has_own_hosts(group) && dumbbell {
            continue;
        }
        for (key, own) in [("access", &group.access), ("exit", &group.exit)] {
            if !own.is_empty() {
                let message = "the group has no hosts of its own: leave this out; `[[topology.link]]` or `[link.access]` describe the links";
                return Err(Problem::new(format!("group.{index}.{key}"), message));
            }
        }
        if !group.transfers.is_empty() {
            transfers(index, group, outline)?;
            continue;
        }
        let pairs = pairs(index, group, &outline.nodes)?;
        let flows = pairs.len() as u64 * u64::from(group.flows);
        at_most(&format!("group.{index}.flows"), outline.flows.len() as u64 + flows, MAX_FLOWS, "flows")?;
        let numbers = (0..flows as usize).map(|number| (number + 1, pairs[number / group.flows as usize]));
        outline.flows.extend(numbers.map(|(number, (from, to))| OutlineFlow {
            name: format!("{}{number}", group.name),
            group: outline.groups.number(index),
            from,
            to,
            circuit: None,
            common: Some(index),
            trace: Vec::new(),
        }));
    }
    check_names(spec, outline)
}

/// Adds a flow for each pair of hosts that the transfers of a group are between, in the order of their first ones.
fn transfers(index: usize, group: &GroupSpec, outline: &mut Outline) -> Result<(), Problem> {
    let hosts: BTreeMap<_, _> = outline
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.kind == NodeKind::Host)
        .map(|(host, node)| (node.name.as_str(), host))
        .collect();
    let mut numbers = BTreeMap::new();
    let mut flows: Vec<OutlineFlow> = Vec::new();
    for (number, transfer) in group.transfers.iter().enumerate() {
        let host = |key: &str, name: &str| {
            hosts.get(name).copied().ok_or_else(|| {
                let near = suggestion(name, "hosts", hosts.keys().copied());
                let key = format!("group.{index}.transfers.{number}.{key}");
                Problem::new(key, format!("unknown host \"{name}\"{near}"))
            })
        };
        let (from, to) = (host("from", &transfer.from)?, host("to", &transfer.to)?);
        let flow = *numbers.entry((from, to)).or_insert(flows.len());
        if flow == flows.len() {
            let name = format!("{}{}", group.name, flow + 1);
            let group = outline.groups.number(index);
            let (circuit, common) = (None, Some(index));
            flows.push(OutlineFlow { name, group, from, to, circuit, common, trace: Vec::new() });
        }
        flows[flow].trace.push(TraceFlow { at: transfer.at, bytes: transfer.bytes });
    }
    outline.flows.append(&mut flows);
    Ok(())
}

/// Checks that no two flows have one name: flow 1 of a group `a1` and flow 11 of a group `a` would.
fn check_names(spec: &Spec, outline: &Outline) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for flow in &outline.flows {
        if !names.insert(flow.name.as_str()) {
            let index = flow.common.unwrap_or(0);
            let message = format!(
                "another flow has the name \"{}\" too, that of a flow of group \"{}\": choose another name",
                flow.name, spec.group[index].name
            );
            return Err(Problem::new(format!("group.{index}.name"), message));
        }
    }
    Ok(())
}

/// The hosts that send to each other in a group.
fn pairs(index: usize, group: &GroupSpec, nodes: &[Node]) -> Result<Vec<(usize, usize)>, Problem> {
    let end = |key: &str, pattern: &Option<String>| match pattern {
        Some(pattern) => matching(&format!("group.{index}.{key}"), pattern, nodes),
        None => Err(Problem::new(
            format!("group.{index}.{key}"),
            "this key is required: only a `dumbbell` makes hosts for its groups, and then for both ends",
        )),
    };
    let (mut from, to) = (end("from", &group.from)?, end("to", &group.to)?);
    if let Some(senders) = group.senders {
        // One that could send to nobody but itself is no sender.
        from.retain(|host| to != [*host]);
        if !from.is_empty() {
            within_senders(index, senders, from.len())?;
        }
        from.truncate(senders as usize);
    }
    let fault = |message: String| Problem::new(format!("group.{index}.pairs"), message);
    if group.pairs != Pairs::All && from.len() != to.len() {
        let of = if group.senders.is_some() { " (`senders` of those that `from` names)" } else { "" };
        let message = format!("expected equally many hosts, found {}{of} and {}", from.len(), to.len());
        return Err(fault(message));
    }
    let all = || from.iter().flat_map(|&one| to.iter().map(move |&other| (one, other)));
    let pairs: Vec<_> = match group.pairs {
        Pairs::All => {
            let most = from.len() as u64 * to.len() as u64;
            at_most(&format!("group.{index}.to"), most, 2 * MAX_FLOWS, "pairs of hosts")?;
            all().filter(|(one, other)| one != other).collect()
        }
        Pairs::OneToOne => std::iter::zip(from, to).collect(),
        Pairs::Permutation => permutation(&group.name, &from, &to).map_err(fault)?,
    };
    if let Some(&(one, _)) = pairs.iter().find(|(one, other)| one == other) {
        return Err(fault(format!("\"{}\" would send to itself", nodes[one].name)));
    }
    if pairs.is_empty() {
        return Err(fault("there is no pair of different hosts".to_owned()));
    }
    Ok(pairs)
}

/// Checks that a group has so many hosts that can send.
fn within_senders(index: usize, senders: u32, hosts: usize) -> Result<(), Problem> {
    if senders as usize <= hosts {
        return Ok(());
    }
    let message = if hosts == 1 {
        format!("expected at most 1, as one host that `from` names has another to send to, found {senders}")
    } else {
        format!(
            "expected at most the {hosts} hosts that `from` names and that have another to send to, found {senders}"
        )
    };
    Err(Problem::new(format!("group.{index}.senders"), message))
}

/// A permutation without a fixed point (S. Sattolo, 1986: one cycle through all), drawn from `name`.
fn permutation(name: &str, from: &[usize], to: &[usize]) -> Result<Vec<(usize, usize)>, String> {
    let of_one_kind = from == to || !from.iter().any(|host| to.binary_search(host).is_ok());
    if !of_one_kind {
        return Err("expected the same hosts on both sides, or none that is on both".to_owned());
    }
    let mut generator = Randomness { seed: 0, replication: 0 }.named(&format!("permutation of group {name}"));
    let mut to = to.to_vec();
    for last in (1..to.len()).rev() {
        to.swap(last, generator.below(last as u64) as usize);
    }
    Ok(std::iter::zip(from.iter().copied(), to).collect())
}

/// The hosts whose names match `pattern`, in the order of the network.
fn matching(key: &str, pattern: &str, nodes: &[Node]) -> Result<Vec<usize>, Problem> {
    let hosts = || nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Host);
    let found: Vec<_> =
        hosts().filter(|(_, node)| matches(pattern, &node.name)).map(|(index, _)| index).collect();
    if found.is_empty() {
        let near = suggestion(pattern, "hosts", hosts().map(|(_, node)| node.name.as_str()));
        return Err(Problem::new(key, format!("no host is named \"{pattern}\"{near}")));
    }
    Ok(found)
}

/// Whether `name` is `pattern`, in which each `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    rest.ends_with(last)
}

/// Gives each link its own delay where its place has a range of them.
pub(super) fn spread_delays(links: &mut [LinkOutline]) {
    let mut counts: BTreeMap<Place, usize> = BTreeMap::new();
    links.iter().for_each(|link| *counts.entry(link.place).or_default() += 1);
    let mut numbers: BTreeMap<Place, usize> = BTreeMap::new();
    for link in links {
        let number = numbers.entry(link.place).or_default();
        if let Some(range) = link.link.delay {
            link.link.delay = Some(DelayRange::of(range.at(*number, counts[&link.place])));
        }
        *number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("host1", "host1", true),
            ("host1", "host11", false),
            ("host*", "host", true),
            ("*", "anything", true),
            ("*1", "host11", true),
            ("a*b*c", "a-bb-c", true),
            ("a*b*c", "a-c", false),
            ("ab*ba", "aba", false),
            ("", "host1", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
