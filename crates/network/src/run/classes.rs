//! Transfer delays and losses by kind of flow and by service category.

use celltrain_atm::contract::Category;

use super::{Experiment, FlowCounts, loss_ratio, tables::Summary};
use crate::{
    measures::{Delays, Together},
    scenario::Flow,
};

/// A group of flows: whether a flow belongs to it, and the names of its measures in the summary.
struct Group {
    has: fn(&Flow) -> bool,
    loss: &'static str,
    mean: &'static str,
    p99: &'static str,
    variation: &'static str,
}

/// The names of a group's measures end with its own.
macro_rules! group {
    ($name:literal, $has:expr) => {
        Group {
            has: $has,
            loss: concat!("cell_loss_ratio_", $name),
            mean: concat!("transfer_delay_mean_", $name),
            p99: concat!("transfer_delay_p99_", $name),
            variation: concat!("delay_variation_", $name),
        }
    };
}

const KINDS: [Group; 2] =
    [group!("tcp", |flow| flow.traffic.uses_tcp()), group!("other", |flow| !flow.traffic.uses_tcp())];

const CATEGORIES: [Group; 5] = [
    group!("cbr", |flow| flow.contract.category == Category::Cbr),
    group!("vbr", |flow| flow.contract.category == Category::Vbr),
    group!("abr", |flow| flow.contract.category == Category::Abr),
    group!("gfr", |flow| flow.contract.category == Category::Gfr),
    group!("ubr", |flow| flow.contract.category == Category::Ubr),
];

impl Experiment<'_> {
    /// The transfer delays of all frames; delays and losses of each kind of flow, and of each category, where there are several.
    pub(super) fn add_transfer(
        &self,
        summary: &mut Summary,
        flows: &[FlowCounts],
        delays: &[Option<&Delays>],
    ) {
        if let Some(all) = Together::of(delays.iter().copied()) {
            summary.add("transfer_delay_mean", all.mean());
            for (name, quantile) in
                [("transfer_delay_p50", 0.5), ("transfer_delay_p95", 0.95), ("transfer_delay_p99", 0.99)]
            {
                summary.add(name, all.quantile(quantile));
            }
            summary.add("transfer_delay_max", all.most());
            summary.add("delay_variation", all.variation());
        }
        for groups in [&KINDS[..], &CATEGORIES] {
            let there = |group: &&Group| self.graph.flows.iter().any(group.has);
            let there: Vec<_> = groups.iter().filter(there).collect();
            for group in there.iter().filter(|_| there.len() > 1) {
                self.add_group(summary, group, flows, delays);
            }
        }
    }

    fn add_group(
        &self,
        summary: &mut Summary,
        group: &Group,
        flows: &[FlowCounts],
        delays: &[Option<&Delays>],
    ) {
        let members = || (0..flows.len()).filter(|&index| (group.has)(&self.graph.flows[index]));
        summary.add(group.loss, loss_ratio(members().map(|index| &flows[index])));
        if let Some(delays) = Together::of(members().map(|index| delays[index])) {
            summary.add(group.mean, delays.mean());
            summary.add(group.p99, delays.quantile(0.99));
            summary.add(group.variation, delays.variation());
        }
    }
}
