//! Scenarios that say the same in other words, by the definition of what they use: runs of both count the same.

mod beside;
mod case;
mod cells;
mod flows;
mod instants;
mod links;
mod policies;
mod ports;
mod rules;
mod traffic;
mod units;
mod vcs;
mod words;

use celltrain_network::{
    RunResult,
    scenario::{Graph, NodeKind, Scenario},
    table::{Column, Table as Measured},
};
use toml::Table;

use self::case::Case;
use crate::{
    beside::{OF_ALL, names_of, other_run, rows_named, rows_of},
    draw::Draw,
    generate::text,
    invariants::{Failure, Trial},
    measures::unlike_rows,
};

/// What the kinds of failures that are found here begin with.
pub(crate) const EQUAL: &str = "equal";

/// The name of what only one of two scenarios has.
const ELSEWHERE: &str = "elsewhere";

/// What suits few scenarios, the rarest last: each has the turns of those before it, where these do not suit.
const SELDOM: [&str; 12] = [
    "a switch that no flow crosses",
    "a flow that starts after the end",
    "a link cut in two",
    "push-out with one VC",
    "per-vc with one VC is double-epd",
    "fq-codel with one VC is codel",
    "policies of shares with one VC are epd",
    "slots that all hold a cell are cbr",
    "what is shaped to a rate conforms to it",
    "other units of time",
    "a delay of switches on the links around them",
    "gaps in place of times",
];

/// Two scenarios that must count the same.
struct Pair {
    /// One of them, if it is not the scenario itself.
    one: Option<Table>,
    other: Table,
}

impl Pair {
    fn with(other: Table) -> Option<Self> {
        Some(Self { one: None, other })
    }
}

/// What of two runs need not be alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Apart {
    Nothing,
    /// The reasons of discards, and the columns that are named here.
    Columns(&'static [&'static str]),
    /// The fingerprint, which knows what might have happened on a link, and the columns that are named here.
    Fingerprint(&'static [&'static str]),
    /// What is counted by priority.
    Priorities,
    /// What is measured of the delays of frames.
    Delays,
    /// What is measured of transfers, each of its kind, and the fingerprint, which knows when a host has looked for one.
    Transfers,
    /// Where in the host of a source its data wait, and so what has left it.
    Sources,
    /// All but counts: the times are others.
    Times,
    /// What one of them has beside the other, its cell-hops, shares of what all get, the fingerprint, and the columns that are named here.
    Elsewhere(&'static [&'static str]),
    /// All but what hosts see: the instants at switches are others.
    Hosts,
}

impl Apart {
    /// Only what is said of discards.
    const REASONS: Self = Self::Columns(&[]);

    fn knows(self, column: &str, values: &Column) -> bool {
        match self {
            Self::Nothing => true,
            Self::Fingerprint(names) => !names.contains(&column),
            Self::Columns(names) => !column.starts_with("discarded_") && !names.contains(&column),
            Self::Transfers => {
                let of_kind = ["kind", "flows_", "fct_", "slowdown", "limited_by_", "completion_time"];
                !of_kind.iter().any(|name| column.starts_with(name))
            }
            Self::Priorities => !column.contains("clp"),
            Self::Delays => {
                !["transfer_delay", "delay_variation"].iter().any(|name| column.starts_with(name))
            }
            Self::Sources => !["cells_sent", "cell_loss_ratio", "source_queue_max", "pcr"].contains(&column),
            Self::Times => matches!(values, Column::Count(_) | Column::Text(_)),
            Self::Elsewhere(names) => !names.contains(&column) && !OF_ALL.contains(&column),
            Self::Hosts => {
                let of_switches = [
                    "cells_discarded",
                    "frames_eligible",
                    "frames_tagged",
                    "cells_tagged",
                    "cell_loss_ratio",
                    "excess",
                ];
                // What a link loses counts when it would have come.
                !of_switches.contains(&column)
                    && !OF_ALL.contains(&column)
                    && !column.starts_with("lost_")
                    && column != "held_back"
            }
        }
    }
}

/// A way to say a scenario in other words.
struct Equivalence {
    name: &'static str,
    /// What it rests on.
    because: &'static str,
    /// Other words for a scenario, if they suit it.
    words: fn(&Case<'_>, &mut Draw) -> Option<Pair>,
    apart: Apart,
}

fn equivalences() -> impl Iterator<Item = &'static Equivalence> {
    [
        words::ALL,
        beside::ALL,
        instants::ALL,
        cells::ALL,
        flows::ALL,
        ports::ALL,
        links::ALL,
        vcs::ALL,
        traffic::ALL,
        policies::ALL,
        rules::ALL,
        units::ALL,
    ]
    .into_iter()
    .flatten()
}

/// What is noted where an equivalence had something to do.
pub(crate) fn names() -> impl Iterator<Item = String> {
    equivalences().map(Equivalence::kind)
}

impl Equivalence {
    fn kind(&self) -> String {
        format!("{EQUAL}: {}", self.name)
    }

    /// Looks whether it holds for the scenario of `trial`; whether it had something to do.
    fn look(&self, trial: &mut Trial, usual: &RunResult) -> bool {
        let scenario = trial.scenario.clone();
        let graph = scenario.graph().expect("it ran before");
        let case = Case::new(scenario.spec(), &graph);
        let mut draw = Draw::new(scenario.spec().seed, 0, false).beside(self.name);
        let Some(Pair { one, other }) = (self.words)(&case, &mut draw) else { return false };
        let kind = self.kind();
        let mut run =
            |table: &Table| other_run(trial, &kind, Scenario::from_toml(&text(table), "equal.toml", &[]));
        let Some(other) = run(&other) else { return false };
        let one = match &one {
            None => None,
            Some(one) => match run(one) {
                None => return false,
                Some(one) => Some(one),
            },
        };
        let found = unlike(&graph, one.as_ref().unwrap_or(usual), &other, self.apart);
        if !found.is_empty() {
            trial.fail(Failure::new(kind, format!("{}\n({})", found.join("\n"), self.because)));
        }
        true
    }
}

/// Looks at the scenario in other words: those asked for, or the first that suit it, from one on that its seed chooses.
pub(crate) fn look_equal(trial: &mut Trial, usual: &RunResult, _: u64) {
    let asked = trial.asked.clone();
    if asked.starts_with(EQUAL) {
        let fits = |one: &&Equivalence| asked.starts_with(&one.kind()) || asked == EQUAL;
        equivalences().filter(fits).for_each(|one| {
            one.look(trial, usual);
        });
        return;
    }
    let mut all: Vec<_> = equivalences().collect();
    all.sort_by_key(|one| SELDOM.iter().position(|name| *name == one.name).map_or(0, |place| 1 + place));
    let first = (trial.scenario.spec().seed % all.len() as u64) as usize;
    let mut turns = all.iter().cycle().skip(first).take(all.len());
    let _ = turns.any(|one| one.look(trial, usual));
}

/// Where two runs differ that should not.
fn unlike(graph: &Graph, one: &RunResult, other: &RunResult, apart: Apart) -> Vec<String> {
    let mut found = Vec::new();
    let prints = matches!(apart, Apart::Nothing | Apart::Columns(_) | Apart::Priorities | Apart::Delays);
    if prints && one.fingerprint != other.fingerprint {
        found.push(format!("fingerprint: {:x} and {:x}", one.fingerprint, other.fingerprint));
    }
    let [flows, others] = [one, other].map(|result| rows_of(&result.flows, |name| name != ELSEWHERE));
    found.extend(unlike_columns("flows", &flows, &others, apart));
    let is_known = |name: &str| match apart {
        Apart::Sources => is_of_switch(graph, name),
        Apart::Hosts => !is_of_switch(graph, name),
        _ => true,
    };
    let [ports, others] = match apart {
        // Their rows come in another order.
        Apart::Elsewhere(_) => {
            let [names, others] = [one, other].map(|result| names_of(&result.ports));
            let both: Vec<_> = names.into_iter().filter(|name| others.contains(name)).collect();
            [one, other].map(|result| rows_named(&result.ports, &both))
        }
        _ => [one, other].map(|result| rows_of(&result.ports, is_known)),
    };
    found.extend(unlike_columns("ports", &ports, &others, apart));
    if !matches!(apart, Apart::Sources | Apart::Hosts | Apart::Elsewhere(_))
        && one.cell_hops != other.cell_hops
    {
        found.push(format!("cell-hops: {} and {}", one.cell_hops, other.cell_hops));
    }
    found
}

/// Whether a port of this name is that of a switch.
fn is_of_switch(graph: &Graph, name: &str) -> bool {
    let mut links = graph.links.iter().enumerate();
    links.any(|(number, link)| {
        graph.nodes[link.from].kind == NodeKind::Switch && graph.link_name(number) == name
    })
}

fn unlike_columns(name: &str, one: &Measured, other: &Measured, apart: Apart) -> Vec<String> {
    let differ = |one: &Column, other: &Column| format!("{one:?}") != format!("{other:?}");
    let pairs = std::iter::zip(one.columns(), other.columns()).filter(|(one, _)| apart.knows(one.0, &one.2));
    let unlike = pairs.filter(|(one, other)| one.0 != other.0 || differ(&one.2, &other.2));
    unlike.map(|(one, other)| format!("{name}.{}: {}", one.0, unlike_rows(&one.2, &other.2))).collect()
}
