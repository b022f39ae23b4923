//! What ABR needs of the network: a reverse path by the same switches, and rate allocators that do not wait for each other.

use celltrain_atm::abr::{Allocator, Port, Rate, Source};
use celltrain_engine::quantity::BitRate;

use super::{
    super::{
        error::Problem,
        spec::{EcnField, Framing},
    },
    clocks,
    link::Link,
    nodes::Node,
    parts::Flow,
    progress,
};

/// Checks an ABR flow, whose first link is at least as fast as `line`; the keys are those of the tables that make it, give its contract,
/// and describe its ends.
pub(super) fn check_flow(
    [key, contract, ends]: [&str; 3],
    flow: &Flow,
    links: &[Link],
    line: BitRate,
) -> Result<(), Problem> {
    let Some(params) = &flow.abr else { return Ok(()) };
    let at = |field: &str, message: String| Err(Problem::new(format!("{contract}.{field}"), message));
    let first = &links[flow.route[0]];
    if first.framing == Framing::Packets {
        return at("category", format!("flow \"{}\" is ABR, but its links carry packets", flow.name));
    }
    if flow.traffic.ecn() != EcnField::NotEct {
        let message = format!(
            "flow \"{}\" is ABR: the EFCI bit of its cells is that of rate control and marks no packets; leave `ecn` of its traffic out",
            flow.name
        );
        return at("category", message);
    }
    for (given, name) in [(flow.contract.pcr, "pcr"), (flow.contract.mcr, "mcr")] {
        if given.is_some() {
            let message = format!("flow \"{}\" is ABR: its rates stand in [abr], as {name} there", flow.name);
            return at(name, message);
        }
    }
    if flow.contract.scr.is_some() {
        return at("scr", format!("flow \"{}\" is ABR and has no sustainable rate", flow.name));
    }
    let reverses = |(&there, &back): (&usize, &usize)| {
        (links[there].from, links[there].to) == (links[back].to, links[back].from)
    };
    if flow.route.len() != flow.back.len() || !flow.route.iter().zip(flow.back.iter().rev()).all(reverses) {
        let message = format!(
            "flow \"{}\" is ABR: its RM cells go back the way they came, but a link of it is simplex",
            flow.name
        );
        return Err(Problem::new(key, message));
    }
    // A peak cell rate is one that the source may always use.
    let line = Rate::of_bits(line);
    if let Err(error) = Source::new(params, line) {
        let exact = Source::new(params, Rate::of_bits(first.slowest()));
        let message = clocks::blamed(error.message, exact.is_ok());
        return Err(Problem::new(format!("{ends}.{}", error.key), message));
    }
    let peak = params.pcr.map_or(line, |pcr| pcr.min(line));
    progress::check_tagged_rate(&format!("{ends}.tcr"), params.tcr, peak)
}

/// Checks that every allocator in force can be built; `key` names its table by the link.
pub(super) fn check_allocators(
    links: &[Link],
    flows: &[Flow],
    key: impl Fn(&Link) -> String,
) -> Result<(), Problem> {
    if flows.iter().all(|flow| flow.abr.is_none()) {
        return match links.iter().find(|link| link.allocator.is_some()) {
            Some(link) => Err(Problem::new(
                key(link),
                "no flow is ABR, so that there are no rates to allocate: set vc.category = \"abr\"",
            )),
            None => Ok(()),
        };
    }
    for link in links {
        let Some(params) = &link.allocator else { continue };
        if link.changes_rate() {
            let message = "the link changes its rate (rate-changes), and an allocator divides one rate: leave one of them out";
            return Err(Problem::new(key(link), message));
        }
        let port = Port {
            link: Rate::of_bits(link.rate),
            capacity: link.buffer.units(),
            minima: &[Some(Rate::ZERO)],
        };
        Allocator::new(params, &port).map_err(|error| {
            Problem::new(format!("{}.{}.{}", key(link), params.algorithm.name(), error.key), error.message)
        })?;
    }
    Ok(())
}

/// Checks that no two ports wait for each other: a port with an allocator takes the cells of the reverse path on to the port
/// that sends them, without delay.
pub(super) fn check_order(nodes: &[Node], links: &[Link], flows: &[Flow]) -> Result<(), Problem> {
    let mut next: Vec<Vec<(usize, usize)>> = vec![Vec::new(); links.len()];
    let mut waits_for = vec![0usize; links.len()];
    for (number, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.abr.is_some()) {
        for (&port, &back) in flow.route[1..].iter().rev().zip(&flow.back[1..]) {
            if links[port].allocator.is_some() {
                next[port].push((back, number));
                waits_for[back] += 1;
            }
        }
    }
    // Takes away, again and again, the ports that wait for none.
    let mut free: Vec<_> = (0..links.len()).filter(|&link| waits_for[link] == 0).collect();
    while let Some(port) = free.pop() {
        for (back, _) in std::mem::take(&mut next[port]) {
            waits_for[back] -= 1;
            if waits_for[back] == 0 {
                free.push(back);
            }
        }
    }
    let left = next.iter().enumerate().find_map(|(port, next)| Some((port, next.first()?.1)));
    let Some((port, flow)) = left else { return Ok(()) };
    let (from, to) = (&nodes[links[port].from].name, &nodes[links[port].to].name);
    let message = format!(
        "ABR flows cross \"{from}\" in opposite directions between the same ports, \"{}\" among them, and each of these ports \
         stamps the backward RM cells that another sends: leave the allocator of a port such as \"{from} > {to}\" out, or send \
         the flows from and to other hosts",
        flows[flow].name
    );
    Err(Problem::new("switch.allocator", message))
}
