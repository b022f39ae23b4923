//! A scenario that is to be said in other words, and what may be changed about its text.

use std::collections::BTreeMap;

use celltrain_atm::contract::{Category, Policing};
use celltrain_network::scenario::{Flow, Framing, Graph, Link, NodeKind, Spec, Traffic};
use toml::{Table, Value};

use crate::draw::put;

/// A scenario.
pub(super) struct Case<'a> {
    pub(super) spec: &'a Spec,
    pub(super) graph: &'a Graph,
    /// Its complete text.
    text: Table,
}

/// A VC at a link: whose it is, and whether it carries what goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Vc {
    pub(super) flow: usize,
    pub(super) back: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(spec: &'a Spec, graph: &'a Graph) -> Self {
        Self { spec, graph, text: table(spec) }
    }

    /// A copy of its text.
    pub(super) fn text(&self) -> Table {
        self.text.clone()
    }

    /// The output ports of switches.
    pub(super) fn ports(&self) -> impl Iterator<Item = (usize, &'a Link)> {
        let graph = self.graph;
        graph.links.iter().enumerate().filter(|(_, link)| graph.nodes[link.from].kind == NodeKind::Switch)
    }

    pub(super) fn name(&self, node: usize) -> &'a str {
        &self.graph.nodes[node].name
    }

    /// Whether a node is a host.
    pub(super) fn is_host(&self, node: usize) -> bool {
        self.graph.nodes[node].kind == NodeKind::Host
    }

    /// The VCs that cross each link. Those of packets on several paths are one VC on each.
    pub(super) fn vcs(&self) -> Vec<Vec<Vc>> {
        let mut vcs = vec![Vec::new(); self.graph.links.len()];
        for (number, flow) in
            self.graph.flows.iter().enumerate().filter(|(number, flow)| flow.circuit == *number)
        {
            for (back, only, ways) in
                [(false, &flow.route, &flow.sprayed_ways()[0]), (true, &flow.back, &flow.sprayed_ways()[1])]
            {
                let vc = Vc { flow: number, back };
                let several = ways.iter().flat_map(|way| &way.route[1..]);
                let common = if ways.is_empty() { &only[..] } else { &only[..1] };
                common.iter().chain(several).for_each(|&link| vcs[link].push(vc));
            }
        }
        vcs
    }

    pub(super) fn category(&self, vc: Vc) -> Category {
        let flow = &self.graph.flows[vc.flow];
        if vc.back { flow.back_contract().category } else { flow.contract.category }
    }

    /// Whether each output port serves data alone or what goes back alone, in each category.
    pub(super) fn ways_are_apart(&self) -> bool {
        self.ports().all(|(link, _)| {
            let mut ways = BTreeMap::new();
            self.vcs()[link].iter().all(|&vc| *ways.entry(self.category(vc)).or_insert(vc.back) == vc.back)
        })
    }

    /// Whether all links carry `framing`.
    pub(super) fn carries(&self, framing: Framing) -> bool {
        self.graph.links.iter().all(|link| link.framing == framing)
    }

    /// Whether no transport answers congestion marks.
    pub(super) fn has_no_ecn(&self) -> bool {
        let capable = |flow: &Flow| {
            let of_packets =
                Value::try_from(&*flow.traffic).ok().is_some_and(|traffic| traffic.get("ecn").is_some());
            of_packets || (flow.traffic.uses_tcp() && flow.tcp.ecn)
        };
        !self.graph.flows.iter().any(capable)
    }

    /// Whether everything has a high priority (CLP = 0).
    pub(super) fn has_no_low_priority(&self) -> bool {
        let tags = |flow: &Flow| matches!(flow.contract.policing, Policing::Tag | Policing::TagCells);
        !self.graph.flows.iter().any(|flow| flow.contract.clp || tags(flow))
    }

    /// Whether no VC has a guarantee.
    pub(super) fn has_no_guarantee(&self) -> bool {
        self.graph.flows.iter().all(|flow| flow.contract.mcr.is_none() && flow.abr.is_none())
    }

    /// Whether one VC at the most crosses each port of a switch.
    pub(super) fn has_single_vcs(&self) -> bool {
        let vcs = self.vcs();
        self.ports().all(|(link, _)| vcs[link].len() < 2)
    }

    /// Gives the VC of a flow settings of its own.
    pub(super) fn of_vc(&self, text: &mut Table, number: usize, settings: &[(&str, Value)]) {
        let mut contract = table(&*self.graph.flows[number].contract);
        settings.iter().for_each(|(key, value)| put(&mut contract, key, value.clone()));
        self.of_flow(text, number, "vc", contract.into());
    }

    /// Gives a flow a setting of its own.
    pub(super) fn of_flow(&self, text: &mut Table, number: usize, key: &str, value: Value) {
        let name = &self.graph.flows[number].name;
        let entries = entries(text, "flow");
        let is_its = |entry: &&mut Value| entry.get("name").and_then(Value::as_str) == Some(name);
        match entries.iter_mut().find(is_its) {
            Some(entry) => put(entry.as_table_mut().expect("an entry is a table"), key, value),
            None => {
                let mut entry = Table::new();
                put(&mut entry, "name", name.as_str());
                put(&mut entry, key, value);
                entries.push(Value::Table(entry));
            }
        }
    }

    /// Gives the output port of a link settings of its own.
    pub(super) fn of_port(&self, text: &mut Table, link: &Link, key: &str, value: Value) {
        let [from, to] = [link.from, link.to].map(|node| self.name(node));
        let entries = entries(text, "port");
        let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let is_its = |entry: &&mut Value| {
            (text(entry, "from").as_deref(), text(entry, "to").as_deref()) == (Some(from), Some(to))
        };
        match entries.iter_mut().find(is_its) {
            Some(entry) => put(entry.as_table_mut().expect("an entry is a table"), key, value),
            None => {
                let mut entry = Table::new();
                put(&mut entry, "from", from);
                put(&mut entry, "to", to);
                put(&mut entry, key, value);
                entries.push(Value::Table(entry));
            }
        }
    }

    /// Whether the policy of a port is one of these.
    pub(super) fn has_policy(&self, names: &[&str]) -> bool {
        self.ports().any(|(_, link)| names.contains(&link.discard.policy.name()))
    }

    /// Whether some link joins the same two nodes, in the same direction, as this one does.
    pub(super) fn is_parallel(&self, link: &Link) -> bool {
        self.graph.links.iter().filter(|other| (other.from, other.to) == (link.from, link.to)).count() > 1
    }
}

/// A part of a scenario as it is written.
pub(super) fn table(part: &impl serde::Serialize) -> Table {
    Table::try_from(part).expect("a scenario has only string keys and finite numbers")
}

/// A value of a scenario as it is written.
pub(super) fn value(part: &impl serde::Serialize) -> Value {
    Value::try_from(part).expect("a scenario has only string keys and finite numbers")
}

/// The tables of an array, which is made if there is none.
pub(super) fn entries<'a>(text: &'a mut Table, key: &str) -> &'a mut Vec<Value> {
    let list = text.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut().expect("an array of tables")
}

/// Gives all output ports this discard policy.
pub(super) fn discard_everywhere(text: &mut Table, discard: &str) {
    everywhere(text, "discard", discard);
}

/// Gives all output ports what a table in `[switch]` says, which is written in `words`.
pub(super) fn everywhere(text: &mut Table, key: &str, words: &str) {
    let table: Table = words.parse().unwrap_or_else(|error| panic!("{words}: {error}"));
    put(text, &format!("switch.{key}"), table);
    without_own(text, key);
}

/// Takes from all `[[port]]` tables what they say for themselves.
pub(super) fn without_own(text: &mut Table, key: &str) {
    for port in text.get_mut("port").and_then(Value::as_array_mut).into_iter().flatten() {
        port.as_table_mut().expect("an entry is a table").remove(key);
    }
}

/// Everything that says what flows carry, as it is written.
pub(super) fn traffics<'a>(text: &'a mut Table) -> Vec<&'a mut Table> {
    let mut found: Vec<&'a mut Table> = Vec::new();
    for (key, part) in text.iter_mut() {
        match (key.as_str(), part) {
            ("traffic", Value::Table(traffic)) => found.push(traffic),
            ("flow" | "group", Value::Array(entries)) => {
                found.extend(entries.iter_mut().filter_map(|entry| entry.get_mut("traffic")?.as_table_mut()));
            }
            _ => {}
        }
    }
    found
}

/// Whether a flow's data come from TCP that always has some.
pub(super) fn is_greedy(flow: &Flow) -> bool {
    matches!(*flow.traffic, Traffic::Greedy(_))
}
