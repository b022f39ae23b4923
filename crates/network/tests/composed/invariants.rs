//! What holds for every scenario that `check` accepts.

use std::collections::BTreeSet;

use celltrain_atm::aal5::TRAILER;
use celltrain_engine::{Time, random::Randomness, visit::Schedule};
use celltrain_network::{
    Experiment, Options, RunResult,
    network::Network,
    scenario::{Framing, Graph, Link, NodeKind, Scenario, ScenarioError},
};

use crate::{beside, captures, equal, files, measures, panics::caught, ports, stops, watched, windows};

const RANDOM_VISITS: &str = "random visits";
const LONG_VISITS: &str = "long visits in reverse";
const IN_PARTS: &str = "parts at once";
const RECORDING: &str = "recording";
const STORED: &str = "stored queues";
const NO_MEMORY_LIMIT: &str = "memory that limits nothing";
const NO_LIMIT: &str = "vc-buffer that limits nothing";
const ANOTHER_SEED: &str = "another seed";
/// Each event of a host at another instant of its picosecond.
pub(crate) const SHIFTED: &str = "shifted events";

/// An invariant that does not hold: its name, by which failures are told apart, and what was seen.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: String,
    pub(crate) detail: String,
}

impl Failure {
    pub(crate) fn new(kind: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind: kind.into(), detail: detail.into() }
    }
}

/// What came of a scenario.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// `check` refuses it.
    Refused,
    /// It ran.
    Ran {
        /// Cell-hops of all its runs.
        hops: u64,
        /// What did not hold.
        failures: Vec<Failure>,
        /// Which of what is registered had something to do.
        busy: Vec<String>,
    },
}

/// Looks at the scenario in `text` from all sides.
pub(crate) fn look(text: &str) -> Outcome {
    look_for(text, "")
}

/// As [`look`], but only from sides from which a failure of `kind` can show; all of them if it is empty.
pub(crate) fn look_for(text: &str, kind: &str) -> Outcome {
    let read = || -> Result<(Scenario, Graph), ScenarioError> {
        let scenario = Scenario::from_toml(text, "composed.toml", &[])?;
        let graph = scenario.graph()?;
        let tolerance = scenario.spec().link.rate_spread;
        Ok((scenario, measures::by_the_fastest_clocks(graph, tolerance)))
    };
    match caught(read) {
        Err(panic) => {
            let failures = vec![Failure::new(panic_kind("check", &panic), panic)];
            Outcome::Ran { hops: 0, failures, busy: Vec::new() }
        }
        Ok(Err(_)) => Outcome::Refused,
        Ok(Ok((scenario, graph))) => {
            let asked = kind.to_owned();
            let mut trial = Trial { scenario, graph, asked, failures: Vec::new(), hops: 0, busy: Vec::new() };
            trial.all();
            trial.written_out();
            files::look_at_files(&mut trial);
            Outcome::Ran { hops: trial.hops, failures: trial.failures, busy: trial.busy }
        }
    }
}

/// Panics are told apart by place and words; numbers and the names of ports are left out.
pub(crate) fn panic_kind(what: &str, panic: &str) -> String {
    let line = panic.lines().next().unwrap_or_default();
    // The path of the file down to the crate says nothing.
    let line = line.split_once("src/").map_or(line, |(_, rest)| rest);
    let is_name = |words: &&str| words.contains(" > ");
    let words: Vec<_> = line.split(": ").filter(|words| !is_name(words)).collect();
    let mut kind = format!("{what}: panic at ");
    for letter in words.join(": ").chars().take(120) {
        match letter {
            '0'..='9' if kind.ends_with('N') => {}
            '0'..='9' => kind.push('N'),
            _ => kind.push(letter),
        }
    }
    kind
}

/// How many rounds of visits a run may take: a round takes the network at least as far as the shortest way of anything
/// from one process to the next, or to the next event, or as far as the fastest link carries a quarter of a million cells.
pub(crate) fn most_rounds(scenario: &Scenario, graph: &Graph) -> u64 {
    let pauses = scenario.spec().switch.memory.is_some_and(|memory| memory.pause.is_some());
    let to_switch = |link: &Link| graph.nodes[link.to].kind == NodeKind::Switch;
    let on_link = |link: &Link, bits: f64| bits / link.fastest().0 as f64 * 1e12;
    let shortest = |link: &Link| {
        let delay = link.shortest_delay.ps();
        // A cell, or a packet of 40 bytes. A pause takes the delay alone, and never goes over a link that has none.
        let paused = pauses && delay > 0 && to_switch(link);
        delay as f64 + if paused { 0.0 } else { on_link(link, 320.0) }
    };
    let visit = |link: &Link| on_link(link, 250_000.0 * 424.0);
    let steps = graph.links.iter().flat_map(|link| [shortest(link), visit(link)]);
    let step = steps.fold(f64::INFINITY, f64::min).max(1.0);
    let steps = scenario.spec().duration.ps() as f64 / step;
    let samples = scenario.spec().duration.ps() / scenario.spec().sample.ps().max(1);
    100_000 + 20 * steps.min(1e15) as u64 + 4 * samples
}

/// A way to look at a scenario, and the beginnings of the kinds of failures that it finds.
type Side = (&'static [&'static str], fn(&mut Trial, &RunResult, u64));

/// A scenario under test.
pub(crate) struct Trial {
    pub(crate) scenario: Scenario,
    /// The network; each link is as fast as its clock may make it, so that bounds hold for whatever clock is drawn.
    pub(crate) graph: Graph,
    /// The kind of failure that is looked for; any if it is empty.
    pub(crate) asked: String,
    failures: Vec<Failure>,
    hops: u64,
    busy: Vec<String>,
}

impl Trial {
    fn all(&mut self) {
        let Some(usual) = self.run("plain run", &[], |_| {}, |_| {}) else { return };
        self.busy = ports::busy(&self.graph, &usual);
        self.failures.extend(measures::in_range(&usual));
        self.failures.extend(measures::at_the_last_link(&self.scenario, &self.graph, &usual));
        self.failures.extend(measures::transfers(&self.scenario, &self.graph, &usual));
        self.failures.extend(measures::distributions(&self.scenario, &usual));
        let lots = self.lots();
        let sides: [Side; 12] = [
            (&[RANDOM_VISITS, LONG_VISITS, IN_PARTS], Self::schedules),
            (&[RECORDING, captures::OUT_OF_ORDER], Self::recordings),
            (&[STORED, NO_LIMIT, NO_MEMORY_LIMIT], Self::services),
            (&[ANOTHER_SEED], Self::other_seed),
            (&[SHIFTED], Self::shifted),
            (&[stops::STOPPED], stops::stop_and_look),
            (&[watched::WATCHED, watched::FOLLOWED], watched::watch),
            (&[beside::BESIDE], beside::look_beside),
            (&[beside::LONGER], beside::look_longer),
            (&[equal::EQUAL], equal::look_equal),
            (&[windows::WINDOWS], windows::look_at_windows),
            (&[""], Self::whole_run),
        ];
        let first = |names: &[&str]| names.iter().any(|name| self.asked.starts_with(name));
        let chosen = sides.iter().position(|(names, _)| first(names)).filter(|_| !self.asked.is_empty());
        for (place, (_, side)) in sides.iter().enumerate() {
            if chosen.is_none_or(|chosen| chosen == place) {
                side(self, &usual, lots);
            }
        }
        let mut seen = BTreeSet::new();
        self.failures.retain(|failure| seen.insert(failure.kind.clone()));
    }

    /// The complete scenario, written out, is the same scenario.
    fn written_out(&mut self) {
        let text = self.scenario.to_toml();
        let again = caught(|| Scenario::from_toml(&text, "complete.toml", &[]));
        let same = again.map(|again| again.is_ok_and(|again| again.spec() == self.scenario.spec()));
        if same != Ok(true) {
            self.fail(Failure::new("the complete scenario is another one", format!("{same:?}")));
        }
    }

    /// A number that depends on the scenario alone, not on its name, to draw schedules and stops by.
    fn lots(&self) -> u64 {
        let mut text = self.scenario.to_toml();
        text.retain(|letter| !letter.is_whitespace());
        let text = text.replace(&format!("name=\"{}\"", self.scenario.spec().name.replace(' ', "")), "");
        text.bytes().fold(1, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    /// Something that is registered, or a way to look, had something to do.
    pub(crate) fn note(&mut self, fact: &str) {
        self.busy.push(fact.to_owned());
    }

    pub(crate) fn add_hops(&mut self, hops: u64) {
        self.hops += hops;
    }

    /// As [`most_rounds`], of this scenario.
    pub(crate) fn most_rounds(&self) -> u64 {
        most_rounds(&self.scenario, &self.graph)
    }

    /// Runs the scenario with `overrides`; a panic, or a run that does not end, is a failure of `what`.
    fn run(
        &mut self,
        what: &str,
        overrides: &[(&str, String)],
        options: impl FnOnce(&mut Options),
        change: impl FnOnce(&mut Network),
    ) -> Option<RunResult> {
        self.run_as(what, overrides, (0, 0), options, change, [false; 2])
    }

    fn run_as(
        &mut self,
        what: &str,
        overrides: &[(&str, String)],
        (seed, replication): (u64, u64),
        set: impl FnOnce(&mut Options),
        change: impl FnOnce(&mut Network),
        [hosts, links]: [bool; 2],
    ) -> Option<RunResult> {
        let overrides: Vec<_> =
            overrides.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        // A part that waits for others looks again and again: how often depends on the machine.
        let most = if what.ends_with(IN_PARTS) { u64::MAX } else { self.most_rounds() };
        let mut rounds = 0u64;
        let seed = self.scenario.spec().seed ^ seed;
        let scenario = &self.scenario;
        let outcome = caught(|| {
            let scenario = scenario.with_overrides(&overrides).map_err(|error| error.to_string())?;
            let mut experiment = Experiment::new(&scenario).map_err(|error| error.to_string())?;
            let [hosts, links] =
                [hosts, links].map(|all| if all { vec!["all".to_owned()] } else { Vec::new() });
            experiment.capture(&hosts, &links).map_err(|error| error.to_string())?;
            let mut options = Options::default();
            options.trace |= true;
            set(&mut options);
            let mut network = experiment.network(seed, replication, options);
            change(&mut network);
            let mut interrupt = || {
                rounds += 1;
                rounds > most
            };
            Ok::<_, String>(experiment.run_network(network, &mut interrupt))
        });
        match outcome {
            Err(panic) => {
                let kind = panic_kind(what, &panic);
                self.fail(Failure::new(kind, panic));
                None
            }
            Ok(Err(refused)) => {
                self.fail(Failure::new(format!("{what}: refused"), refused));
                None
            }
            Ok(Ok(None)) => {
                let detail = format!("more than {most} rounds of visits");
                self.fail(Failure::new(format!("{what}: does not end"), detail));
                None
            }
            Ok(Ok(Some(result))) => {
                self.hops += result.cell_hops;
                Some(result)
            }
        }
    }

    /// Any schedule of visits and any parts that run at once give the same run.
    fn schedules(&mut self, usual: &RunResult, lots: u64) {
        let cap = self.scenario.spec().duration.ps().max(2) / 2;
        for (name, one_by_one) in [(RANDOM_VISITS, false), (LONG_VISITS, true)] {
            let change = |schedule: &mut Schedule| {
                if one_by_one {
                    schedule.order.reverse();
                    schedule.cap = Time::MAX / 4;
                } else {
                    schedule.cap = cap;
                    schedule.shuffle = Some(Randomness { seed: lots, replication: 0 }.named("schedule"));
                }
            };
            if let Some(other) = self.run(name, &[], |_| {}, |network| network.set_schedule(change)) {
                self.same(name, usual, &other);
            }
        }
        let mut generator = Randomness { seed: lots, replication: 0 }.named("parts");
        let parts = 2 + generator.below(3);
        let duration = self.scenario.spec().duration.ps();
        let divide = |network: &mut Network| {
            let partition = (0..network.processes()).map(|_| generator.below(parts) as usize);
            network.set_partition(partition.collect());
            network.review_partition((0..2).map(|_| generator.below(duration)).collect());
        };
        if let Some(other) = self.run(IN_PARTS, &[], |_| {}, divide) {
            self.same(IN_PARTS, usual, &other);
        }
    }

    /// What happens within a picosecond has one order in a host, whatever its instants are: whichever they are, ports count as they should and
    /// the run is the same in any schedule, in any parts, and with queues that are stored.
    fn shifted(&mut self, usual: &RunResult, lots: u64) {
        if !cfg!(debug_assertions) {
            return;
        }
        let Some(shifted) = self.run(SHIFTED, &[], |_| {}, |network| network.shift_events(lots)) else {
            return;
        };
        let measured = [
            measures::in_range(&shifted),
            measures::at_the_last_link(&self.scenario, &self.graph, &shifted),
            measures::transfers(&self.scenario, &self.graph, &shifted),
            measures::distributions(&self.scenario, &shifted),
        ];
        for failure in measured.into_iter().flatten() {
            self.fail(Failure::new(format!("{SHIFTED}: {}", failure.kind), failure.detail));
        }
        if shifted.fingerprint != usual.fingerprint {
            self.note(SHIFTED);
        }
        let mut generator = Randomness { seed: lots, replication: 0 }.named("shifted");
        let way = generator.below(4);
        let cap = self.scenario.spec().duration.ps().max(2) / 2;
        let change = |network: &mut Network| {
            network.shift_events(lots);
            match way {
                0 => network.set_schedule(|schedule| {
                    schedule.order.reverse();
                    schedule.cap = Time::MAX / 4;
                }),
                1 => {
                    let partition = (0..network.processes()).map(|_| generator.below(3) as usize);
                    network.set_partition(partition.collect());
                }
                2 => {}
                _ => network.set_schedule(|schedule| {
                    schedule.cap = cap;
                    schedule.shuffle = Some(generator);
                }),
            }
        };
        let what = format!("{SHIFTED}: {}", [LONG_VISITS, IN_PARTS, STORED, RANDOM_VISITS][way as usize]);
        if let Some(other) = self.run(&what, &[], |options| options.store_queues |= way == 2, change) {
            self.same(&what, &shifted, &other);
        }
    }

    /// Recording events and captures changes nothing.
    fn recordings(&mut self, usual: &RunResult, _: u64) {
        let hosts = self.graph.flows.iter().any(|flow| flow.traffic.uses_tcp());
        // Frames without a trailer are not captured on links.
        let links = self.scenario.spec().aal5.overhead >= TRAILER
            && self.graph.flows.iter().any(|flow| self.graph.links[flow.route[0]].framing == Framing::Cells);
        let record = |network: &mut Network| network.record_events();
        if let Some(other) = self.run_as(RECORDING, &[], (0, 0), |_| {}, record, [hosts, links]) {
            self.same(RECORDING, usual, &other);
            // Only a link that is told so lets packets overtake each other, and several ways do.
            let one_way = self.graph.flows.iter().all(|flow| flow.sprayed.is_none());
            if one_way && self.graph.links.iter().all(|link| link.reorder.is_none()) {
                let failures = captures::in_order(&self.graph, &other);
                self.failures.extend(failures);
            }
        }
    }

    /// Ports that store their queues do what plain FIFOs do.
    fn services(&mut self, usual: &RunResult, lots: u64) {
        let stored = self.run(STORED, &[], |options| options.store_queues |= true, |_| {});
        if let Some(other) = stored {
            self.same(STORED, usual, &other);
        }
        let memory = ports::memory_that_limits_nothing(self.scenario.spec(), &self.graph);
        // A run more takes its time: of a third of the scenarios.
        if let Some(memory) = memory.filter(|_| lots.is_multiple_of(3))
            && let Some(other) = self.run(NO_MEMORY_LIMIT, &memory, |_| {}, |_| {})
        {
            self.same(NO_MEMORY_LIMIT, usual, &other);
        }
        let Some(limits) = ports::limits_that_limit_nothing(self.scenario.spec()) else { return };
        let limits: Vec<_> = limits.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        if let Some(other) = self.run(NO_LIMIT, &limits, |_| {}, |_| {}) {
            self.same(NO_LIMIT, usual, &other);
        }
    }

    /// What is measured does not change the run; over the whole run, from an empty network, bounds are exact.
    fn whole_run(&mut self, usual: &RunResult, _: u64) {
        let sample = (self.scenario.spec().duration.ps() / 3000).max(1);
        let overrides = [("warm-up", "0 s".to_owned()), ("sample", format!("{sample} ps"))];
        let Some(whole) = self.run("warm-up and sample", &overrides, |_| {}, |_| {}) else { return };
        if whole.fingerprint != usual.fingerprint {
            let detail = format!("{:x}, {:x}", usual.fingerprint, whole.fingerprint);
            self.fail(Failure::new("warm-up and sample: fingerprint", detail));
        }
        let failures = measures::of_a_whole_run(&self.scenario, &self.graph, &whole, sample);
        self.failures.extend(failures);
    }

    /// Another seed and another replication give the same run where nothing is random.
    fn other_seed(&mut self, usual: &RunResult, _: u64) {
        if measures::is_random(&self.scenario, &self.graph) {
            return;
        }
        if let Some(other) = self.run_as(ANOTHER_SEED, &[], (5, 1), |_| {}, |_| {}, [false; 2]) {
            self.same(ANOTHER_SEED, usual, &other);
        }
    }

    /// Two runs of one scenario say the same, apart from what only one of them was asked to keep.
    fn same(&mut self, what: &str, usual: &RunResult, other: &RunResult) {
        let failures = measures::differences(what, usual, other);
        self.failures.extend(failures);
    }
}
