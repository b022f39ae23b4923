//! Scenario files: reading, checking, writing, and the network they describe.
//!
//! A scenario is TOML. It may build on another file (`extends`), and single keys can be overridden. The layers are laid
//! over each other as untyped tables that remember their lines, and read into [`Spec`], the one schema. Errors say
//! file, line, key, what was expected and the nearest valid name.

mod check;
mod editor;
mod embed;
mod error;
mod file;
mod graph;
mod group_names;
mod homes;
mod inherit;
mod key;
mod meant;
mod ranges;
mod read;
mod resolved;
mod schema;
mod source;
mod spec;
mod sweep;
mod tree;

use std::path::Path;

pub use check::{
    MAX_CHANGES, MAX_DELAY, MAX_DURATION, MAX_FRAME_CELLS, MAX_OVERHEAD, MAX_PACKET_RATE, MAX_RATE,
    MAX_REPLICATIONS, MAX_SAMPLES, MAX_TRANSFER, MIN_PERIOD, MIN_RATE,
};
pub use embed::file_keys;
pub use error::ScenarioError;
pub(crate) use error::suggestion;
pub use file::MAX_FILE;
pub use graph::{
    Flow, Graph, Link, LinkParams, Loss, MAX_ACTIVE, MAX_FLOWS, MAX_NODES, MAX_OVERLOAD, MAX_RECORDED,
    MAX_ROUTE_LINKS, MAX_SHORT_FLOWS, MAX_WAYS, Node, WORK_BETWEEN_POLLS, Way,
};
pub use group_names::GroupNames;
pub use source::MAX_EXTENDS;
pub(crate) use spec::forms;
pub use spec::{
    ArrivalTimes, Backbone, Bernoulli, BurstLoss, Bursty, Cbr, CellRate, Chain, Changes, Dark, DelayChange,
    DelayChanges, DelayRange, Distribution, Dumbbell, EcnField, ExplicitGraph, FatTree, Finite, FlowSpec,
    Framing, Greedy, GroupSpec, HostSpec, IpServes, LeafSpine, LinkEntry, LinkException, LinkOverride,
    LinkSpec, LongRange, LossDirection, LossSpec, LossUnit, MAX_PACKET, MIN_PACKET, MeasuredDelays,
    MeasuresSpec, MemorySpec, Mmpp, MmppState, Multipath, NSource, NodeEntry, NodeKind, OnOff,
    PacketDistribution, Pairs, ParkingLot, Pattern, PauseSpec, Poisson, PortSpec, Random, RateChange,
    RateChanges, Reorder, RequestResponse, Routing, SCHEMA, ShortFlows, Spec, Start, SwitchSpec, TieBreak,
    Topology, Torus, Trace, TraceFlow, Traffic, Transfer, Weights,
};

use self::{
    graph::{Poll, Stop},
    source::Source,
};

/// A scenario: what its files and overrides say, read and checked.
#[derive(Debug, Clone)]
pub struct Scenario {
    source: Source,
    spec: Spec,
}

/// Scenarios are equal if they say the same, wherever it is written.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl Scenario {
    /// Reads a scenario file and lays `overrides` over it: pairs of a dotted key (`switch.discard.espd.high`; elements of
    /// arrays count from 0) and a TOML value. What is no TOML value is taken as a string, so that quotes may be left out.
    ///
    /// # Errors
    /// Whatever is wrong with the file, the files it extends or the overrides.
    pub fn load(path: impl AsRef<Path>, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Self::new(Source::load(path.as_ref())?, overrides)
    }

    /// Reads a scenario from a text. `name` stands for the file in errors, and `extends` is relative to it.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn from_toml(text: &str, name: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Self::new(Source::parse(text, Path::new(name))?, overrides)
    }

    /// This scenario with more overrides, as in [`Scenario::load`].
    ///
    /// # Errors
    /// Whatever is wrong with the overrides, or with the scenario they make.
    pub fn with_overrides(&self, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Self::new(self.source.clone(), overrides)
    }

    fn new(mut source: Source, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        for (key, value) in overrides {
            source.set(key, value)?;
        }
        source.embed()?;
        let spec = source.spec()?;
        check::check(&spec).map_err(|problem| source.error_at(&problem.key, problem.message))?;
        Ok(Self { source, spec })
    }

    /// What the scenario says, defaults filled in.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The network: nodes, links, and flows with their routes.
    ///
    /// # Errors
    /// A network that cannot be: unknown nodes, flows without a way, loops, too many of anything.
    pub fn graph(&self) -> Result<Graph, ScenarioError> {
        let graph = self.graph_unless(&mut || false)?;
        Ok(graph.expect("nothing interrupts it"))
    }

    /// As [`Scenario::graph`]; `None` if `interrupt`, which is asked now and then, said so.
    ///
    /// # Errors
    /// As [`Scenario::graph`].
    pub fn graph_unless(&self, interrupt: &mut dyn FnMut() -> bool) -> Result<Option<Graph>, ScenarioError> {
        match Graph::build(&self.spec, &mut Poll::new(interrupt)) {
            Ok(graph) => Ok(Some(graph)),
            Err(Stop::Interrupt) => Ok(None),
            Err(Stop::Problem(problem)) => Err(self.source.error_at(&problem.key, problem.message)),
        }
    }

    /// Sentences about the network that someone who runs it should know.
    ///
    /// # Errors
    /// As [`Scenario::graph`].
    pub fn notes(&self) -> Result<Vec<String>, ScenarioError> {
        let graph = self.graph()?;
        let mut notes = graph.locked_phases(&self.spec);
        notes.extend(graph::tables_without_links(&self.spec));
        notes.extend(graph.marks_without_effect(&self.spec));
        notes.extend(graph.unpaired_policies(&self.spec));
        notes.extend(graph.divided_flows(&self.spec));
        notes.extend(graph.pause_cycle());
        notes.extend(graph.ports_without_room());
        notes.extend(graph.sources_without_room(&self.spec));
        notes.extend(graph.frames_without_room(&self.spec));
        notes.extend(graph.contracts_that_cut(&self.spec));
        notes.extend(graph.contracts_without_effect());
        notes.extend(graph.ports_that_refuse(&self.spec));
        Ok(notes)
    }

    /// The complete scenario as TOML: no `extends`, defaults written out. Reading it gives an equal scenario.
    #[must_use]
    pub fn to_toml(&self) -> String {
        write(&self.spec)
    }

    /// The complete scenario as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.spec).expect("a scenario has only string keys and finite numbers")
    }

    /// The scenario with every value that is in force, as TOML: presets of TCP as their parameters, the parameters of every
    /// chosen algorithm, and all tables. Reading it gives a scenario whose runs are the same, also where the defaults have
    /// changed since. What follows from other values, such as the bottleneck or an ABR source's initial rate, and
    /// limits that there are not, are left out.
    #[must_use]
    pub fn resolved_toml(&self) -> String {
        toml::to_string(&resolved::resolved(&self.spec)).expect("tables with string keys and finite numbers")
    }

    /// As [`Scenario::resolved_toml`], as JSON.
    #[must_use]
    pub fn resolved_json(&self) -> serde_json::Value {
        serde_json::to_value(resolved::resolved(&self.spec))
            .expect("tables with string keys and finite numbers")
    }

    /// A key for results: 16 hexadecimal digits that depend on every setting in force but the seed and the number of
    /// replications.
    #[must_use]
    pub fn key(&self) -> String {
        key::key(self.resolved_json())
    }

    /// The JSON schema (draft 7) of scenario files, with the `[sweep]` that the command `celltrain sweep` reads. Every choice
    /// is a `oneOf` with a description of each name or kind: the source of the reference.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schema::schema()
    }

    /// The same schema for editors and validators: they report each fault of a file once.
    #[must_use]
    pub fn editor_schema() -> serde_json::Value {
        schema::editor_schema()
    }

    /// The JSON schema (draft 7) of plan files: sweeps that name their scenario.
    #[must_use]
    pub fn plan_schema() -> serde_json::Value {
        schema::plan_schema()
    }
}

fn write(spec: &Spec) -> String {
    toml::to_string(spec).expect("a scenario has only string keys and finite numbers")
}
