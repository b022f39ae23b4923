//! Scenarios and what is known about them.

use std::{collections::HashMap, path::PathBuf, sync::OnceLock};

use celltrain_atm::{buffer::PolicyName, scheduler::DisciplineName};
use celltrain_engine::time::seconds;
use celltrain_network::{
    Experiment,
    measures::registry,
    scenario::{self, Flow, Graph},
};
use pyo3::{
    exceptions::PyValueError,
    import_exception,
    prelude::*,
    types::{PyString, PyType},
};

use crate::{memory::GiveBack, panic::caught};

import_exception!(celltrain.errors, ScenarioError);

type Overrides = Vec<(String, String)>;
/// Names of ports, each with the share of a flow's paths that cross it.
type Ports = Vec<(Py<PyString>, f64)>;
/// The name of a flow, and the place, from 0, of the `[[group]]` that makes it.
type Maker = (String, Option<u32>);

/// A scenario, read and checked; immutable.
#[pyclass(frozen, eq, module = "celltrain._core")]
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) inner: scenario::Scenario,
    /// How many links its network has.
    pub(crate) links: usize,
    /// Its key, once somebody has asked for it: every run does.
    key: OnceLock<String>,
    /// Its flows, once somebody has asked for them: every note does.
    flows: OnceLock<Vec<Maker>>,
}

impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

/// The error that Python gets.
pub(crate) fn refuse(error: scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A scenario is only handed out if its network can be built. Hears signals while that takes long.
fn checked(
    py: Python<'_>,
    read: impl Send + FnOnce() -> Result<scenario::Scenario, scenario::ScenarioError>,
) -> PyResult<Scenario> {
    py.detach(|| {
        caught(|| {
            let inner = read().map_err(refuse)?;
            let mut signal = Ok(());
            let mut interrupt = || {
                signal = Python::attach(|py| py.check_signals());
                signal.is_err()
            };
            let graph = inner.graph_unless(&mut interrupt).map_err(refuse)?;
            let links = graph.map_or(0, |graph| graph.links.len());
            drop(GiveBack(links));
            signal.map(|()| Scenario { inner, links, key: OnceLock::new(), flows: OnceLock::new() })
        })
    })
}

#[pymethods]
impl Scenario {
    /// Reads a file. `overrides` are (dotted key, TOML value) pairs; a bare string needs no quotes.
    #[classmethod]
    #[pyo3(signature = (path, overrides = Overrides::new()))]
    fn load(_: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf, overrides: Overrides) -> PyResult<Self> {
        checked(py, || scenario::Scenario::load(&path, &overrides))
    }

    /// Reads a text; `name` stands for the file in messages.
    #[classmethod]
    #[pyo3(signature = (text, name = "<text>", overrides = Overrides::new()))]
    fn from_toml(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        text: &str,
        name: &str,
        overrides: Overrides,
    ) -> PyResult<Self> {
        checked(py, || scenario::Scenario::from_toml(text, name, &overrides))
    }

    /// The same scenario with other values for some keys.
    fn with_overrides(&self, py: Python<'_>, overrides: Overrides) -> PyResult<Self> {
        checked(py, || self.inner.with_overrides(&overrides))
    }

    /// The scenario with every value that is in force, presets of TCP and defaults of algorithms too, as TOML.
    fn resolved_toml(&self) -> String {
        self.inner.resolved_toml()
    }

    /// As `resolved_toml`, as JSON.
    fn resolved_json(&self) -> String {
        self.inner.resolved_json().to_string()
    }

    /// The whole scenario as TOML; presets of TCP stay presets.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// The whole scenario as JSON.
    fn to_json(&self) -> String {
        self.inner.to_json().to_string()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.spec().name
    }

    /// Its seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.spec().seed
    }

    /// How often it is to be run.
    #[getter]
    fn replications(&self) -> u32 {
        self.inner.spec().replications
    }

    /// Simulated time in seconds.
    #[getter]
    fn duration(&self) -> f64 {
        seconds(self.inner.spec().duration.ps())
    }

    /// Time left out of the measures, in seconds.
    #[getter]
    fn warm_up(&self) -> f64 {
        seconds(self.inner.spec().warm_up.ps())
    }

    /// The names of the flows, in the order of results.
    fn flow_names(&self) -> Vec<&str> {
        self.flows().iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Each flow in that order, with the place, from 0, of the `[[group]]` that makes it; `None` for one that none makes.
    fn makers(&self) -> Vec<(&str, Option<u32>)> {
        self.flows().iter().map(|(name, place)| (name.as_str(), *place)).collect()
    }

    /// For each of some flows the ports that its data cross, and those that its ACKs do: names, and the shares of its paths that cross
    /// each. Unknown flows cross none.
    fn ports_of(&self, py: Python<'_>, flows: Vec<String>) -> PyResult<Vec<(Ports, Ports)>> {
        let (_memory, graph) = self.glance()?;
        let known: HashMap<_, _> = graph.flows.iter().map(|flow| (flow.name.as_str(), flow)).collect();
        // Names are made once: a network may have very many flows, and a port many of them.
        let mut names: Vec<Option<Py<PyString>>> = graph.links.iter().map(|_| None).collect();
        let mut name = |link: usize| {
            let name = names[link].get_or_insert_with(|| PyString::new(py, &graph.link_name(link)).unbind());
            name.clone_ref(py)
        };
        let mut named = |ports: Vec<(usize, f64)>| -> Ports {
            ports.into_iter().map(|(link, share)| (name(link), share)).collect()
        };
        let mut of_flow = |flow: &&Flow| {
            let [there, back] = flow.links();
            (named(there), named(back))
        };
        Ok(flows.iter().map(|flow| known.get(flow.as_str()).map(&mut of_flow).unwrap_or_default()).collect())
    }

    /// Sentences about the network that someone who runs it should know.
    fn notes(&self) -> PyResult<Vec<String>> {
        let _memory = GiveBack(self.links);
        self.inner.notes().map_err(refuse)
    }

    /// Checks that packets can be captured at `hosts` and cells on `links`.
    ///
    /// Raises `ValueError` if not.
    fn check_captures(&self, hosts: Vec<String>, links: Vec<String>) -> PyResult<()> {
        let (_memory, mut experiment) = self.experiment()?;
        experiment.capture(&hosts, &links).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(())
    }

    /// The name of the port that occupancy, delay and utilisation of the summary are about; `None` without a switch.
    #[getter]
    fn bottleneck(&self) -> PyResult<Option<String>> {
        let (_memory, experiment) = self.experiment()?;
        Ok(experiment.bottleneck())
    }

    /// The ports whose link is slower than the minimum rates across it together: (name, sum in bit/s, rate in bit/s).
    fn overcommitted(&self) -> PyResult<Vec<(String, f64, f64)>> {
        let (_memory, experiment) = self.experiment()?;
        Ok(experiment.overcommitted())
    }

    /// What the results depend on beside seed and replication, as a hash of every value in force.
    #[getter]
    fn key(&self) -> &str {
        self.key.get_or_init(|| self.inner.key())
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {:?}>", self.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_toml")?, (self.to_toml(), self.name().to_owned())))
    }
}

impl Scenario {
    /// Its graph, and what gives back the memory of that after it is dropped: bind both, in this order.
    pub(crate) fn glance(&self) -> PyResult<(GiveBack, Graph)> {
        let graph = self.inner.graph().map_err(refuse)?;
        Ok((GiveBack(self.links), graph))
    }

    /// It made ready to run, as [`Self::glance`] gives its graph.
    fn experiment(&self) -> PyResult<(GiveBack, Experiment<'_>)> {
        Ok((GiveBack(self.links), Experiment::new(&self.inner).map_err(refuse)?))
    }

    fn flows(&self) -> &[Maker] {
        self.flows.get_or_init(|| {
            let (_memory, graph) = self.glance().expect("the network was built when the scenario was read");
            let maker = |flow: &Flow| (flow.name.clone(), flow.made_by.map(|place| place.get() - 1));
            graph.flows.iter().map(maker).collect()
        })
    }
}

/// The last parts of the keys of a scenario that take the path of a file of numbers.
#[pyfunction]
pub(crate) fn file_keys() -> Vec<&'static str> {
    scenario::file_keys().collect()
}

/// The catalogue of discard policies as JSON: name, summary, reference, state per VC and the JSON schema of the parameters.
#[pyfunction]
pub(crate) fn policies() -> String {
    let info = |name: &PolicyName| {
        let info = name.info();
        serde_json::json!({
            "name": info.name, "summary": info.summary, "reference": info.reference, "per_vc": info.per_vc,
            "parameters": info.schema,
        })
    };
    serde_json::Value::Array(PolicyName::ALL.iter().map(info).collect()).to_string()
}

/// The catalogue of scheduling disciplines as JSON: name, summary and reference.
#[pyfunction]
pub(crate) fn disciplines() -> String {
    let info = |name: &DisciplineName| {
        let info = name.info();
        serde_json::json!({ "name": info.name, "summary": info.summary, "reference": info.reference })
    };
    serde_json::Value::Array(DisciplineName::ALL.iter().map(info).collect()).to_string()
}

/// The registry of measures as JSON: for each its name, title, symbol, unit, formula, and so on.
#[pyfunction]
pub(crate) fn measures() -> String {
    serde_json::json!(registry::all().collect::<Vec<_>>()).to_string()
}

/// The JSON schema of scenario files, for editors.
#[pyfunction]
pub(crate) fn schema() -> String {
    scenario::Scenario::editor_schema().to_string()
}

/// The JSON schema of plan files.
#[pyfunction]
pub(crate) fn plan_schema() -> String {
    scenario::Scenario::plan_schema().to_string()
}
