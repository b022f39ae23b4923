//! Priority flow control: whether nothing can be lost, and whether pauses may wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use celltrain_atm::{
    cell::CELL_BITS,
    quantity::{Capacity, Unit},
};
use celltrain_engine::quantity::Bytes;

use super::{
    super::{
        error::Problem,
        spec::{Framing, MemorySpec, NodeKind, PauseSpec, Spec},
    },
    clocks,
    link::Link,
    outline::Outline,
    parts::{Flow, Graph},
};

/// The shortest packet of TCP in bytes, and the most that the headers of a segment add to its data.
const SHORTEST: u64 = 40;
const LONGEST_HEADERS: u64 = 80;

/// Checks that no switch with priority flow control can lose anything, even if all flows that cross it never end.
pub(super) fn check_pauses(
    spec: &Spec,
    outline: &Outline,
    links: &[Link],
    flows: &[Flow],
) -> Result<(), Problem> {
    let Some((memory, pause)) = spec.switch.memory.and_then(|memory| Some((memory, memory.pause?))) else {
        return Ok(());
    };
    let in_switch = |node: usize| outline.nodes[node].kind == NodeKind::Switch;
    check_levels(&pause)?;
    for link in links.iter().filter(|link| link.memory.is_some()) {
        check_port(outline, link, &memory, &pause)?;
    }
    let crossed: BTreeSet<usize> = flows.iter().flat_map(|flow| flow.hops().into_iter().flatten()).collect();
    let shortest = flows.iter().map(shortest_packet).min().unwrap_or(SHORTEST);
    let largest = flows.iter().map(largest_packet).max().unwrap_or(SHORTEST);
    let mut needs: BTreeMap<usize, (usize, u128)> = BTreeMap::new();
    for &link in crossed.iter().filter(|&&link| in_switch(links[link].to)) {
        check_link(outline, &links[link])?;
        let (count, sum) = needs.entry(links[link].to).or_default();
        *count += 1;
        *sum +=
            u128::from(pause.xoff.units()) + headroom(spec, &links[link], pause.xoff.1, [shortest, largest]);
    }
    for (switch, (count, need)) in needs {
        if need > u128::from(memory.size.units()) {
            let (name, unit) = (&outline.nodes[switch].name, pause.xoff.1);
            let of = if unit == Unit::Packets { format!(" of {shortest} B") } else { String::new() };
            let into = if count == 1 { "the link".to_owned() } else { format!("the {count} links") };
            let message = format!(
                "\"{}\" does not suit {into} to \"{name}\": with {} before each is paused, and 2 × delay × rate and two units \
                 of headroom, it may have to hold {need} {unit}{of}",
                memory.size, pause.xoff
            );
            return Err(Problem::new("switch.memory.size", message));
        }
    }
    Ok(())
}

fn check_levels(pause: &PauseSpec) -> Result<(), Problem> {
    for (level, key) in [(pause.xoff, "xoff"), (pause.xon, "xon")] {
        if level.unit().is_none() {
            let message = "\"unlimited\" is no level at which links are paused: give a number";
            return Err(Problem::new(format!("switch.memory.pause.{key}"), message));
        }
    }
    if pause.xon.1 != pause.xoff.1 || pause.xon.units() > pause.xoff.units() {
        let message =
            format!("expected {} at most, where links are paused (xoff), found {}", pause.xoff, pause.xon);
        return Err(Problem::new("switch.memory.pause.xon", message));
    }
    Ok(())
}

/// Checks that the output port of a link is limited by the memory alone, and counts as that does.
fn check_port(outline: &Outline, link: &Link, memory: &MemorySpec, pause: &PauseSpec) -> Result<(), Problem> {
    let name = format!("\"{} > {}\"", outline.nodes[link.from].name, outline.nodes[link.to].name);
    if pause.xoff.1 != link.buffer.1 {
        let message = format!(
            "\"{}\" does not suit the port {name}, whose buffer is counted in {}",
            pause.xoff, link.buffer.1
        );
        return Err(Problem::new("switch.memory.pause.xoff", message));
    }
    let limits = |limit: Capacity| limit.units() < memory.size.units();
    if limits(link.buffer) || limits(link.vc_buffer) {
        let message = format!(
            "the port {name} has a limit of its own, below the memory of {}, and would lose what no pause keeps back: set \
             buffer = \"unlimited\" and no vc-buffer",
            memory.size
        );
        return Err(Problem::new("switch.memory.pause", message));
    }
    Ok(())
}

/// Checks that a pause takes time on a link, always the same, and that all that is on it arrives in time.
fn check_link(outline: &Outline, link: &Link) -> Result<(), Problem> {
    let name = format!("\"{} > {}\"", outline.nodes[link.from].name, outline.nodes[link.to].name);
    let (what, instead) = if link.delay.0 == 0 {
        ("has a delay of 0 s, so that a pause would arrive when it is sent", "give it a delay")
    } else if !link.delay_changes.is_empty() {
        ("changes its delay, so that its headroom is not known", "leave delay-changes out")
    } else if link.reorder.is_some() {
        ("holds packets back, which arrive when it is paused", "leave reorder out")
    } else {
        return Ok(());
    };
    Err(Problem::new("switch.memory.pause", format!("the link {name} {what}: {instead}")))
}

/// The shortest packet of a flow, in bytes.
fn shortest_packet(flow: &Flow) -> u64 {
    flow.traffic.packet_range().map_or(SHORTEST, |[Bytes(octets), _]| octets)
}

/// The largest packet of a flow, in bytes.
fn largest_packet(flow: &Flow) -> u64 {
    match flow.traffic.packet_range() {
        Some([_, Bytes(octets)]) => octets,
        None => u64::from(flow.tcp.mss) + LONGEST_HEADERS,
    }
}

/// What may still arrive on a link after the switch has sent a pause, and the unit that was too much; no packet of any
/// flow is shorter or longer than these, in bytes.
fn headroom(spec: &Spec, link: &Link, unit: Unit, [shortest, largest]: [u64; 2]) -> u128 {
    let rate = clocks::fastest(link.fastest(), spec.link.rate_spread);
    let bits = match link.framing {
        Framing::Cells => CELL_BITS,
        Framing::Packets => 8 * (shortest + link.overhead.0),
    };
    let (bits, size) = match unit {
        Unit::Cells | Unit::Packets => (bits, 1),
        Unit::Bytes => (8, largest),
    };
    let picoseconds = 1_000_000_000_000;
    let on_its_way = 2 * u128::from(link.delay.0) * u128::from(rate.0);
    on_its_way.div_ceil(picoseconds * u128::from(bits)) + 2 * u128::from(size)
}

impl Graph {
    /// A sentence if links that wait for each other's pauses form a cycle: what a link brings to a switch waits for the links on which it goes
    /// on, and if each of them is paused none ever goes on again.
    pub(in crate::scenario) fn pause_cycle(&self) -> Option<String> {
        if !self.links.iter().any(|link| link.pauses()) {
            return None;
        }
        let can_be_paused = |link: usize| self.nodes[self.links[link].to].kind == NodeKind::Switch;
        let mut after: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for flow in &self.flows {
            for (route, _) in flow.ways().chain(flow.ways_back()) {
                for pair in route.windows(2).filter(|pair| can_be_paused(pair[1])) {
                    after.entry(pair[0]).or_default().insert(pair[1]);
                }
            }
        }
        let cycle = cycle(&after)?;
        let names: Vec<_> =
            cycle.iter().take(MOST_NAMES).map(|&link| format!("\"{}\"", self.link_name(link))).collect();
        let more = if cycle.len() > MOST_NAMES { ", …" } else { "" };
        Some(format!(
            "switch.memory.pause: {} links wait for each other's pauses in a cycle and may stop for good: {}{more}",
            cycle.len(),
            names.join(", ")
        ))
    }
}

/// The most links that a sentence names.
const MOST_NAMES: usize = 8;

/// The nodes of a cycle of a graph, if it has one.
fn cycle(after: &BTreeMap<usize, BTreeSet<usize>>) -> Option<Vec<usize>> {
    // Whether what can be reached from a node is known to be free of cycles, or the node is on the path that is being followed.
    let mut done = BTreeMap::new();
    for &start in after.keys() {
        if done.contains_key(&start) {
            continue;
        }
        done.insert(start, false);
        let mut path = vec![(start, after[&start].iter())];
        while let Some((node, next)) = path.last_mut() {
            let Some(&next) = next.next() else {
                done.insert(*node, true);
                path.pop();
                continue;
            };
            match (done.get(&next), after.get(&next)) {
                (Some(false), _) => {
                    let nodes = path.iter().map(|(node, _)| *node);
                    return Some(nodes.skip_while(|&node| node != next).collect());
                }
                (None, Some(following)) => {
                    done.insert(next, false);
                    path.push((next, following.iter()));
                }
                _ => {}
            }
        }
    }
    None
}
