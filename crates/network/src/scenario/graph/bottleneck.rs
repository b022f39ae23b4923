//! The bottleneck of a network: the port that the summary's occupancy, delay and utilisation are about.

use super::{
    super::{
        error::{Problem, known as listed, suggestion},
        spec::{NodeKind, Spec},
    },
    link::Link,
    nodes::Node,
    parts::{Flow, Graph},
};

impl Graph {
    /// The link behind the port that the scenario names, else behind the switch port with the highest offered load ([`Graph::loads`]) of those
    /// that flows cross. Of equals the first in the order of the links.
    ///
    /// It follows from the scenario alone, so all replications, and all variants of a topology, speak of the same port. `None` where no flow
    /// crosses a switch.
    pub(crate) fn bottleneck_link(&self, spec: &Spec) -> Option<usize> {
        if self.bottleneck.is_some() {
            return self.bottleneck;
        }
        let loads = self.loads(spec);
        let mut crossed = vec![false; loads.len()];
        self.flows
            .iter()
            .flat_map(|flow| flow.hops().into_iter().flatten())
            .for_each(|link| crossed[link] = true);
        let of_switches = (0..loads.len())
            .filter(|&link| crossed[link] && self.nodes[self.links[link].from].kind == NodeKind::Switch);
        of_switches.fold(None, |best, link| match best {
            Some(other) if loads[other] >= loads[link] * (1.0 - ROUNDING) => best,
            _ => Some(link),
        })
    }
}

/// How much less a load may be through rounding alone.
const ROUNDING: f64 = 1e-9;

/// The link behind the port that the scenario calls the bottleneck.
pub(super) fn named(
    spec: &Spec,
    nodes: &[Node],
    links: &[Link],
    flows: &[Flow],
) -> Result<Option<usize>, Problem> {
    let Some(wanted) = &spec.measures.bottleneck else { return Ok(None) };
    let name = |link: &Link| link.name(nodes);
    let of_switches = || links.iter().filter(|link| nodes[link.from].kind == NodeKind::Switch);
    let place = |link: &Link| links.iter().position(|other| std::ptr::eq(other, link));
    let crosses = |place: Option<usize>| {
        let used = |flow: &Flow| place.is_some_and(|link| flow.passes(link).contains(&true));
        flows.iter().any(used)
    };
    if let Some(found) = of_switches().find(|link| name(link) == *wanted).map(place) {
        if crosses(found) {
            return Ok(found);
        }
        let busy = of_switches().find(|link| crosses(place(link)));
        let instead =
            busy.map_or(String::new(), |link| format!("; \"{}\" is a port that one crosses", name(link)));
        let message = format!("no flow crosses the port \"{wanted}\", so that it has no measures{instead}");
        return Err(Problem::new("measures.bottleneck", message));
    }
    let known: Vec<_> = of_switches().take(MAX_SUGGESTED_PORTS).map(name).collect();
    let message = if links.iter().any(|link| name(link) == *wanted) {
        let there = listed("ports of switches", known.iter().map(String::as_str));
        format!(
            "\"{wanted}\" is the port of a host: expected that of a switch, where flows share a buffer{there}"
        )
    } else {
        let near = suggestion(wanted, "ports of switches", known.iter().map(String::as_str));
        format!("unknown port \"{wanted}\"{near}")
    };
    Err(Problem::new("measures.bottleneck", message))
}

/// The most ports among which the nearest name is looked for.
const MAX_SUGGESTED_PORTS: usize = 100_000;
