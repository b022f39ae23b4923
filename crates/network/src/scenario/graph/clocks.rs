//! Clocks that are not quite right, and those that are all too right.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use celltrain_atm::buffer::{DiscardParams, PolicyName};
use celltrain_engine::{
    quantity::{BitRate, Duration, Tolerance},
    random::Randomness,
    time::seconds,
};

use super::{
    super::spec::{CellRate, Distribution, Framing, NodeKind, RateChange, Spec, TieBreak, Traffic},
    link::Link,
    offered::Stream,
    parts::{Flow, Graph},
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
        crossing.retain(|&link, flows| self.may_lock(spec, link, flows));
        if crossing.is_empty() {
            return Vec::new();
        }
        // As if all of them sent all the time.
        let mut arriving: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let steady = self.flows.iter().enumerate().filter_map(|(index, flow)| {
            let bits = steady_rate(flow)?.0 as f64 * seconds(spec.duration.ps());
            let times = bits / flow.traffic.unit_bits() as f64;
            Some(Stream {
                index,
                flow,
                back: false,
                from: Duration(0),
                until: spec.duration,
                times,
                bytes: 0.0,
            })
        });
        self.follow(spec, steady.collect(), |_, link, bits| arriving.entry(link).or_default().push(bits));
        let locks = |link: usize| {
            let (bits, port) = (&arriving[&link], &self.links[link]);
            let equal = bits.iter().all(|one| (one / bits[0] - 1.0).abs() < ROUNDING);
            let carried = port.slowest().0 as f64 * seconds(spec.duration.ps());
            equal && bits.iter().sum::<f64>() > carried * (1.0 + ROUNDING)
        };
        let locked = crossing.iter().filter(|(link, _)| locks(**link));
        let sentence = |(link, flows): (&usize, &Vec<&Flow>)| {
            format!(
                "{} sources of equal and constant rate overload \"{}\": their clocks are perfect, so cells keep arriving in the same \
                 order and one source may lose everything; set link.rate-spread = \"20 ppm\" for clocks that differ",
                grouped(flows.len()),
                self.link_name(*link)
            )
        };
        locked.map(sentence).collect()
    }

    /// Whether all that the port of a switch carries is sources that send alike at constant rates, from several inputs, and whether it discards
    /// what comes last if they overload it.
    fn may_lock(&self, spec: &Spec, link: usize, flows: &[&Flow]) -> bool {
        let port = &self.links[link];
        let limited = [port.buffer, port.vc_buffer].iter().any(|size| size.unit().is_some())
            || port.memory.is_some()
            || port.discard.policy != PolicyName::TailDrop;
        if self.nodes[port.from].kind != NodeKind::Switch || !limited || port.pauses() {
            return false;
        }
        let input = |flow: &Flow| before(flow, link).last().copied();
        // When what they send at first arrives, if that is not drawn.
        let phase = |flow: &Flow| {
            let (start, links) = (flow.start, before(flow, link));
            let way: Vec<_> =
                links.iter().map(|&link| (self.links[link].delay, self.links[link].rate)).collect();
            (start.from == start.to).then_some((start.from, way))
        };
        let alike =
            |flow: &&Flow| steady_rate(flow).is_some() && flow.traffic.packet() == flows[0].traffic.packet();
        // Where all come at once, a lot decides anew each time who is the last.
        let drawn = spec.tie_break == TieBreak::Random
            && phase(flows[0]).is_some()
            && flows.iter().all(|flow| phase(flow) == phase(flows[0]));
        let several = flows.iter().any(|flow| input(flow) != input(flows[0]));
        flows.iter().all(alike) && several && !drawn && !shares_space(port, flows)
    }
}

/// Policies under whose standard parameters no VC keeps out the others: they refuse what it holds beyond a share, or refuse at random.
const SHARING: [PolicyName; 8] = [
    PolicyName::SelectiveDrop,
    PolicyName::Fba,
    PolicyName::Wba,
    PolicyName::Red,
    PolicyName::DynamicThreshold,
    PolicyName::EpdPerVc,
    PolicyName::VirtualQueuing,
    PolicyName::ImprovedVirtualQueuing,
];

/// Whether a port keeps space for each of some flows, whatever the order in which they arrive. It may keep too little for frames of several
/// cells: one that loses a cell of each frame loses everything.
fn shares_space(port: &Link, flows: &[&Flow]) -> bool {
    let whole = |flow: &&Flow| flow.traffic.packet().is_none() && flow.traffic.frame() == Some(1);
    if port.memory.is_some() || (port.framing == Framing::Cells && !flows.iter().all(whole)) {
        return false;
    }
    let policy = port.discard.policy;
    let each = port.vc_buffer.units().saturating_mul(flows.len() as u64);
    let by_limit =
        policy == PolicyName::TailDrop && port.vc_buffer.unit().is_some() && each <= port.buffer.units();
    by_limit || (SHARING.contains(&policy) && *port.discard == DiscardParams::of(policy))
}

/// The links of a flow before this one.
fn before(flow: &Flow, link: usize) -> &[usize] {
    flow.route.split(|&other| other == link).next().unwrap_or_default()
}

/// How much two sums may differ through rounding alone.
const ROUNDING: f64 = 1e-9;

/// The rate of a source that sends at a constant one, or none, as its clock says.
fn constant_rate(traffic: &mut Traffic) -> Option<&mut CellRate> {
    match traffic {
        Traffic::Cbr(form) => Some(&mut form.rate),
        Traffic::Bernoulli(form) => Some(&mut form.peak),
        Traffic::OnOff(form) => Some(&mut form.peak),
        _ => None,
    }
}

/// The rate of a source whose times are not random, nor what the network tells it.
fn steady_rate(flow: &Flow) -> Option<BitRate> {
    match &*flow.traffic {
        _ if flow.is_sprayed() || flow.abr.is_some() => None,
        Traffic::Cbr(form) => Some(form.rate.0),
        Traffic::OnOff(form) if form.distribution == Distribution::Fixed => Some(form.peak.0),
        _ => None,
    }
}

/// A number as notes write it: "1,200".
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
