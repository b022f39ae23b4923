//! Clocks that are not quite right, and those that are all too right.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use celltrain_engine::{
    quantity::{BitRate, Tolerance},
    random::Randomness,
};

use super::{
    super::spec::{CellRate, Distribution, NodeKind, RateChange, Spec, Traffic},
    Flow, Graph,
};

/// Parts per billion in one.
const BILLION: i128 = 1_000_000_000;

/// `rate` by a clock that is off by so many parts per billion.
fn off_by(rate: BitRate, offset: i128) -> BitRate {
    BitRate(((i128::from(rate.0) * (BILLION + offset) + BILLION / 2) / BILLION) as u64)
}

/// The fastest that a link of `rate` can be.
pub(super) fn fastest(rate: BitRate, tolerance: Tolerance) -> BitRate {
    off_by(rate, i128::from(tolerance.0))
}

/// The slowest that it can be. A rate that fits into this one fits whatever clocks a replication draws.
pub(super) fn slowest(rate: BitRate, tolerance: Tolerance) -> BitRate {
    off_by(rate, -i128::from(tolerance.0))
}

/// An error message, with a hint if `link.rate-spread` alone is the cause.
pub(super) fn blamed(message: String, holds_by_exact_clocks: bool) -> String {
    if holds_by_exact_clocks { message + " by the slowest clock (link.rate-spread)" } else { message }
}

impl Graph {
    /// The network by the clocks of one replication, each off by up to `tolerance`.
    pub(crate) fn with_clocks(&self, tolerance: Tolerance, randomness: Randomness) -> Cow<'_, Self> {
        if tolerance == Tolerance(0) {
            return Cow::Borrowed(self);
        }
        let mut graph = self.clone();
        let offset = |link: usize| {
            let mut generator = randomness.named(&format!("clock of link {}", self.link_name(link)));
            i128::from(generator.below(2 * tolerance.0 + 1)) - i128::from(tolerance.0)
        };
        for (index, link) in graph.links.iter_mut().enumerate() {
            let offset = offset(index);
            link.rate = off_by(link.rate, offset);
            let changed = |change: &RateChange| RateChange { rate: off_by(change.rate, offset), ..*change };
            link.rate_changes = link.rate_changes.iter().map(changed).collect::<Vec<_>>().into();
        }
        for flow in &mut graph.flows {
            // What the clocks do not change stays shared.
            let is_constant =
                matches!(*flow.traffic, Traffic::Cbr(_) | Traffic::Bernoulli(_) | Traffic::OnOff(_));
            if is_constant && let Some(rate) = constant_rate(Arc::make_mut(&mut flow.traffic)) {
                rate.0 = off_by(rate.0, offset(flow.route[0]));
            }
        }
        Cow::Owned(graph)
    }

    /// A sentence for each port at which sources of equal and constant rates never change their order.
    pub(in crate::scenario) fn locked_phases(&self, spec: &Spec) -> Vec<String> {
        if spec.link.rate_spread > Tolerance(0) {
            return Vec::new();
        }
        let mut crossing: BTreeMap<usize, Vec<&Flow>> = BTreeMap::new();
        for flow in &self.flows {
            flow.hops().into_iter().flatten().for_each(|link| crossing.entry(link).or_default().push(flow));
        }
        let locked = crossing.iter().filter(|(link, flows)| self.locks(**link, flows));
        let sentence = |(link, flows): (&usize, &Vec<&Flow>)| {
            format!(
                "{} sources of equal and constant rate overload \"{}\": their clocks are perfect, so cells keep arriving in the same \
                 order and one source may lose everything; set link.rate-spread = \"20 ppm\" for clocks that differ",
                flows.len(),
                self.link_name(*link)
            )
        };
        locked.map(sentence).collect()
    }

    /// Whether all that a port carries is sources of one constant rate, from several inputs, and too much of it.
    fn locks(&self, link: usize, flows: &[&Flow]) -> bool {
        let port = &self.links[link];
        let Some(rate) = flows.first().and_then(|flow| steady_rate(flow)) else { return false };
        let input = |flow: &Flow| {
            flow.route.iter().position(|&other| other == link).map(|at| flow.route[at.max(1) - 1])
        };
        let equal = flows.iter().all(|flow| steady_rate(flow) == Some(rate));
        let several = flows.iter().any(|flow| input(flow) != input(flows[0]));
        let offered = u128::from(rate.0) * flows.len() as u128;
        self.nodes[port.from].kind == NodeKind::Switch
            && equal
            && several
            && offered > u128::from(port.slowest().0)
    }
}

/// The rate of a source that sends at a constant one, or none, as its clock says.
fn constant_rate(traffic: &mut Traffic) -> Option<&mut CellRate> {
    match traffic {
        Traffic::Cbr(form) => Some(&mut form.rate),
        Traffic::Bernoulli(form) => Some(&mut form.peak),
        Traffic::OnOff(form) => Some(&mut form.peak),
        _ => None,
    }
}

/// The rate of a source whose times are not random.
fn steady_rate(flow: &Flow) -> Option<BitRate> {
    match &*flow.traffic {
        _ if flow.is_sprayed() => None,
        Traffic::Cbr(form) => Some(form.rate.0),
        Traffic::OnOff(form) if form.distribution == Distribution::Fixed => Some(form.peak.0),
        _ => None,
    }
}
