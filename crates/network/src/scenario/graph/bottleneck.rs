//! The bottleneck of a network: the port that the summary's occupancy, delay and utilisation are about.

use super::{
    super::spec::{NodeKind, Spec},
    Graph,
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
