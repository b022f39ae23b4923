//! A run: one replication of a scenario, from the start to its measures.

mod classes;
mod completions;
mod counts;
mod distributions;
mod flows;
mod tables;
mod threads;

use celltrain_atm::{cell::CELL_BITS, contract::Category, quantity::CellRate};
use celltrain_engine::{Slot, Time, random::Randomness, time::seconds};

pub(crate) use self::counts::Snapshot;
use self::{
    completions::{Completions, empty_network},
    counts::{FlowCounts, OtherCounts, PortCounts, loss_ratio},
    distributions::distribution_table,
    tables::{PortMeasures, Waits, port_table},
};
use crate::{
    build::build,
    capture::{Capture, CaptureError, Places},
    events::Events,
    free::free,
    measures::{Delays, Excess, Guaranteed, Series, Together},
    network::{Carrier, FlowEnds, Network},
    port::{Location, Port},
    scenario::{Flow, Framing, Graph, Scenario, ScenarioError, Traffic},
    table::Table,
};

/// How many cells the fastest link of a network carries in one visit at the most: a tenth of a second of work, or less. The
/// longest visits are shorter for it above 0.8 Gbit/s, all of them above 10 Gbit/s.
const MOST_CELLS_A_VISIT: u64 = 250_000;

/// What to keep of a run beside its totals.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Keep series at the scenario's sample period: congestion windows of flows, the bytes that each has delivered since
    /// the start, transfer delays where they are measured, and occupancies of switch ports.
    pub trace: bool,
    /// Make every switch port store its queue, as if its policy kept accounts. It changes nothing but the speed.
    pub store_queues: bool,
}

/// A metric of a whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its value; NaN where it has no meaning in this run.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
}

/// What came out of a run. Counts and rates are of the window from the warm-up's end to the end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Changes when anything that happened changes.
    pub fingerprint: u64,
    /// Cells that arrived at a port, summed over all ports and the whole run.
    pub cell_hops: u64,
    /// Metrics of the whole network.
    pub summary: Vec<Metric>,
    /// One row per flow.
    pub flows: Table,
    /// One row per port.
    pub ports: Table,
    /// Whole distributions, if `measures.distributions` asks for them: one row per flow, group of flows or port, and bin.
    pub distributions: Table,
    /// Series, if asked for.
    pub series: Vec<Series>,
    /// One row per event of a TCP sender from time 0 on, if [`Network::record_events`] asked for them.
    pub events: Table,
    /// Captures, if [`Experiment::capture`] asked for them.
    pub captures: Vec<Capture>,
    /// That it ran on fewer threads than it was to, if the system had no more: a sentence. It changes nothing else.
    pub fewer_threads: Option<String>,
}

/// A scenario made ready to run: its graph, checked.
#[derive(Debug)]
pub struct Experiment<'a> {
    scenario: &'a Scenario,
    graph: Graph,
    captures: Places,
}

impl<'a> Experiment<'a> {
    /// Prepares `scenario`.
    ///
    /// # Errors
    /// What is wrong with the scenario's network.
    pub fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        Ok(Self { scenario, graph: scenario.graph()?, captures: Places::default() })
    }

    /// As [`Experiment::new`]; `None` if `interrupt`, which is asked now and then, said so.
    ///
    /// # Errors
    /// As [`Experiment::new`].
    pub fn new_unless(
        scenario: &'a Scenario,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Self>, ScenarioError> {
        let graph = scenario.graph_unless(interrupt)?;
        Ok(graph.map(|graph| Self { scenario, graph, captures: Places::default() }))
    }

    /// Captures, in every run from now on, the packets at `hosts` and the cells on `links` (`"switch1 > switch2"`); the
    /// name `"all"` stands for all of them. It changes nothing else of a run, but keeps everything in memory.
    ///
    /// # Errors
    /// A name that nothing has which could be captured, or frames without an AAL5 trailer.
    pub fn capture(&mut self, hosts: &[String], links: &[String]) -> Result<(), CaptureError> {
        self.captures = Places::find(&self.graph, &self.scenario.spec().aal5, hosts, links)?;
        Ok(())
    }

    /// The network of replication `replication` under `seed`, at time 0.
    #[must_use]
    pub fn network(&self, seed: u64, replication: u64, options: Options) -> Network {
        self.network_unless(seed, replication, options, &mut || false).expect("nothing interrupts it")
    }

    /// As [`Experiment::network`]; `None` if `interrupt`, which is asked now and then, said so.
    #[must_use]
    pub fn network_unless(
        &self,
        seed: u64,
        replication: u64,
        options: Options,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Option<Network> {
        let randomness = Randomness { seed, replication };
        let graph = self.graph.with_clocks(self.scenario.spec().link.rate_spread, randomness);
        let mut network = build(self.scenario, &graph, &self.captures, randomness, options, interrupt)?;
        if self.scenario.spec().measures.distributions {
            network.follow_levels();
        }
        let fastest = self.graph.links.iter().map(|link| link.fastest()).max()?;
        let most = Slot::of_bits(CELL_BITS * MOST_CELLS_A_VISIT, fastest).ps().max(1);
        network.set_schedule(|schedule| {
            schedule.cap = schedule.cap.min(most);
            schedule.longest = schedule.longest.min(most);
        });
        Some(network)
    }

    /// Frees what an interrupted run leaves, without waiting for it.
    pub fn discard(self) {
        free(self.graph);
    }

    /// Runs replication `replication` under `seed`. `None` if `interrupt`, which is asked now and then, said so.
    #[must_use]
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        options: Options,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Option<RunResult> {
        let network = self.network_unless(seed, replication, options, interrupt)?;
        self.run_network(network, interrupt)
    }

    /// Runs a network of this experiment from time 0 to the end.
    #[must_use]
    pub fn run_network(
        &self,
        mut network: Network,
        interrupt: &mut dyn FnMut() -> bool,
    ) -> Option<RunResult> {
        let spec = self.scenario.spec();
        if !network.run_until(spec.warm_up.ps(), interrupt) {
            free(network);
            return None;
        }
        let begin = Snapshot::begin_window(&mut network, spec.warm_up.ps());
        if !network.run_until(spec.duration.ps(), interrupt) {
            free(network);
            return None;
        }
        Some(self.measure(network, begin))
    }

    /// What came out of a run that has reached its end; the measured part of it began at `begin`.
    pub(crate) fn measure(&self, mut network: Network, begin: Snapshot) -> RunResult {
        network.check_conservation();
        let mut events = self.events(&mut network);
        let captures = network.take_captures(&self.graph, &self.captures);
        // What was under way has been counted, and tables take as much room.
        network.free_streams();
        let (window, end) = (self.window(), self.scenario.spec().duration.ps());
        let flows = FlowCounts::all_since(begin.flows, FlowCounts::of_all(&network, end));
        let arrived = network.arrived() - begin.arrived;
        let begin = begin.ports.into_iter().chain(std::iter::repeat_with(PortCounts::default));
        let counts = begin.zip(PortCounts::of_all(&network)).zip(network.ports());
        let ports: Vec<_> =
            counts.map(|((begin, end), port)| PortMeasures::new(port, &begin, &end, window)).collect();
        let excess = Excess::of(&self.guaranteed(&flows));
        let delays: Vec<_> = network.flows.iter().map(|ends| network.delays(ends)).collect();
        let responses: Vec<_> = network.flows.iter().map(|ends| network.response_times(ends)).collect();
        let waits = Waits {
            completions: self.completions(&network, &flows),
            responses: Together::of(responses.iter().copied()),
            unanswered: network.flows.iter().filter_map(|ends| network.unanswered(ends)).collect(),
        };
        let mut series = self.series(&network);
        series.append(&mut events.series);
        let summary = self.summary((&flows, arrived), &delays, &ports, &series, &excess, &waits);
        let unanswered =
            network.flows.iter().map(|ends| u64::from(network.unanswered(ends).is_some())).collect();
        let waited = (responses.as_slice(), unanswered, self.transfer_times(&network));
        let of_flows = self.flow_table(&flows, &delays, waited, waits.completions.as_ref(), excess);
        // Of very many flows, they take as much room as the next table.
        drop(flows);
        RunResult {
            fingerprint: network.fingerprint(),
            cell_hops: network.ports().map(Port::arrived).sum(),
            summary,
            flows: of_flows,
            ports: port_table(&self.graph, &ports, window, &network.locked()),
            distributions: self.distributions(&delays, &responses, waits.completions.as_ref(), &network),
            series,
            events: events.table(),
            captures,
            fewer_threads: network.fewer_threads(),
        }
    }

    /// The name of the port that occupancy, delay and utilisation of the summary are about; `None` if no flow crosses a switch.
    #[must_use]
    pub fn bottleneck(&self) -> Option<String> {
        let link = self.graph.bottleneck_link(self.scenario.spec())?;
        Some(self.graph.link_name(link))
    }

    /// The ports whose link is slower than the minimum rates of the VCs across it together: name, sum and rate in bit/s.
    #[must_use]
    pub fn overcommitted(&self) -> Vec<(String, f64, f64)> {
        let graph = &self.graph;
        let mut sums = vec![0.0; graph.links.len()];
        for (_, flow) in graph.flows.iter().enumerate().filter(|(index, flow)| flow.circuit == *index) {
            let mcr = minimum_rate(flow).unwrap_or(0.0);
            for (route, share) in flow.ways() {
                route.iter().for_each(|&link| sums[link] += share * mcr);
            }
        }
        let with_rate = std::iter::zip(sums, &graph.links).enumerate();
        with_rate
            .map(|(place, (sum, link))| (graph.link_name(place), sum, link.slowest().0 as f64))
            .filter(|(_, sum, rate)| sum > rate)
            .collect()
    }

    /// How long a run is measured.
    fn window(&self) -> Time {
        self.scenario.spec().duration.ps() - self.scenario.spec().warm_up.ps()
    }

    /// What the senders collected, if they were told to.
    fn events(&self, network: &mut Network) -> Events {
        let mut events = Events::default();
        for (index, flow) in self.graph.flows.iter().enumerate() {
            let taken = network.take_events(index);
            if !taken.is_empty() {
                events.add(&flow.name, &taken);
            }
            let asked = network.take_request_events(index);
            if !asked.is_empty() {
                events.add(&format!("{}/requests", flow.name), &asked);
            }
            for (number, taken) in network.take_short_events(index) {
                events.add(&format!("{}/{number}", flow.name), &taken);
            }
        }
        events
    }

    /// Distributions, if the scenario asks for them.
    fn distributions(
        &self,
        delays: &[Option<&Delays>],
        responses: &[Option<&Delays>],
        completions: Option<&Completions>,
        network: &Network,
    ) -> Table {
        let asked = self.scenario.spec().measures.distributions;
        let (flows, ports) =
            if asked { (self.graph.flows.as_slice(), Some(network)) } else { (&[][..], None) };
        let completions = completions.filter(|_| asked);
        distribution_table(
            flows,
            delays,
            (responses, completions),
            ports.into_iter().flat_map(Network::ports),
            &self.graph,
            self.window(),
        )
    }

    /// The short flows and finite transfers that began in the measured part; `None` if there are no flows of these kinds.
    fn completions(&self, network: &Network, counts: &[FlowCounts]) -> Option<Completions> {
        let spec = self.scenario.spec();
        let ends = |flow: &Flow| matches!(*flow.traffic, Traffic::ShortFlows(_) | Traffic::Finite(_));
        if !self.graph.flows.iter().any(ends) {
            return None;
        }
        let graph = self.graph.with_clocks(spec.link.rate_spread, network.randomness);
        let mut completions = Completions::default();
        for ((flow, ends), counts) in self.graph.flows.iter().zip(&network.flows).zip(counts) {
            let window = spec.warm_up.ps()..spec.duration.ps();
            let empty = |bytes| empty_network(&graph, flow, &spec.aal5, bytes);
            completions.add(network.begun(ends), network.had(ends, 0), window, empty);
            completions.turned_away += counts.turned_away;
        }
        Some(completions)
    }

    /// How long each finite transfer took, in seconds; NaN for flows of other kinds and where bytes are missing.
    fn transfer_times(&self, network: &Network) -> Vec<f64> {
        let time = |(flow, ends): (&Flow, &FlowEnds)| {
            let finite = matches!(*flow.traffic, Traffic::Finite(_));
            let times = finite.then(|| completions::times(network.begun(ends), network.had(ends, 0)));
            times.and_then(|times| times[0]).map_or(f64::NAN, seconds)
        };
        std::iter::zip(&self.graph.flows, &network.flows).map(time).collect()
    }

    fn series(&self, network: &Network) -> Vec<Series> {
        let flows = || std::iter::zip(&self.graph.flows, &network.flows);
        let sampler = |host: usize, endpoint: usize| &network.host(host).parts.endpoints[endpoint].sampler;
        let windows = flows().filter_map(|(flow, ends)| {
            let Carrier::Tcp { sender, .. } = ends.carrier else { return None };
            Some(sampler(ends.from, sender).series(&flow.name, "cwnd", "B"))
        });
        let delivered = flows().filter_map(|(flow, ends)| {
            let Carrier::Tcp { receiver, .. } = ends.carrier else { return None };
            Some(sampler(ends.to, receiver).series(&flow.name, "delivered", "B"))
        });
        let sources = flows().filter_map(|(flow, ends)| {
            let source = network.abr_source(ends)?;
            let rate = source.rate_sampler.series(&flow.name, "acr", "cells/s");
            Some([rate, source.queue_sampler.series(&flow.name, "source_queue", "cells")])
        });
        let delays = flows().filter_map(|(flow, ends)| Some(network.delay_sampler(ends)?.series(&flow.name)));
        let ports = network.ports().filter(|port| port.location == Location::Switch);
        let ports = ports.flat_map(|port| port.series(&self.graph.link_name(port.link)));
        let of_flows = windows.chain(delivered).chain(sources.flatten()).chain(delays.flatten());
        let all = of_flows.chain(ports);
        all.filter(|series| !series.times.is_empty()).collect()
    }

    /// The guarantee of each flow's VC and what came of it. None for flows without a guarantee or a VC of their own, for ABR,
    /// where the network tells a source its rate, and where packets are carried instead of cells.
    ///
    /// A source of bare cells asks for more than its minimum rate if it sends more. So does a TCP connection, but also one
    /// that loses cells: then it sends little because of that.
    fn guaranteed(&self, counts: &[FlowCounts]) -> Vec<Option<Guaranteed>> {
        let rate = |cells: u64| cells as f64 * CELL_BITS as f64 / seconds(self.window());
        let of_flow = |(index, (flow, counts)): (usize, (&Flow, &FlowCounts))| {
            let of_cells = self.graph.links[flow.route[0]].framing == Framing::Cells
                && flow.contract.category != Category::Abr;
            let mcr = minimum_rate(flow).filter(|_| of_cells && flow.circuit == index)?;
            // A burst of the contract's size still counts as sent at the minimum rate.
            let sends_more = rate(counts.sent) > mcr + rate(flow.contract.mbs.into());
            let asks = sends_more || (counts.carrier.is_tcp() && counts.discarded > 0);
            Some(Guaranteed { mcr, rate: rate(counts.incoming.useful_cells), asks })
        };
        std::iter::zip(&self.graph.flows, counts).enumerate().map(of_flow).collect()
    }
}

fn bits_per_second(bytes: u64, window: Time) -> f64 {
    bytes as f64 * 8.0 / seconds(window)
}

/// The minimum cell rate of a flow's VC in bit/s.
fn minimum_rate(flow: &Flow) -> Option<f64> {
    flow.minimum_rate().map(|CellRate(rate)| rate.0 as f64)
}
