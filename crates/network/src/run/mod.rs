//! A run: one replication of a scenario, from the start to its measures.

mod classes;
mod completions;
mod distributions;
mod flows;
mod tables;
mod threads;

use celltrain_atm::{buffer::Reason, cell::CELL_BITS, contract::Category, policing, quantity::CellRate};
use celltrain_engine::{
    Slot, Time,
    random::Randomness,
    time::{Span, SpanSum, seconds},
};
use celltrain_tcp::{Limits, ReceiverStats, SenderStats};

use self::{
    completions::{Completions, empty_network},
    distributions::distribution_table,
    tables::{PortMeasures, Waits, port_table},
};
use crate::{
    build::build,
    capture::{Capture, CaptureError, Places},
    channel::Lost,
    events::Events,
    free::free,
    host::{Incoming, IncomingStats},
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
    /// One row an event of a TCP sender from time 0 on, if [`Network::record_events`] asked for them.
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

/// Counters at one moment; differences of two are what happened between them. There are none of time 0, when all are zero: a network may
/// have very many.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    flows: Vec<FlowCounts>,
    ports: Vec<PortCounts>,
    /// Cells that have arrived at hosts, acknowledgements too.
    arrived: u64,
}

#[derive(Debug, Clone)]
struct FlowCounts {
    carrier: Carrier,
    sender: SenderStats,
    receiver: ReceiverStats,
    incoming: IncomingStats,
    /// Cells that reached the receiving host, those of frames that are not complete yet too.
    arrived: u64,
    /// Cells handed to the network interface, and cells discarded by switches.
    sent: u64,
    discarded: u64,
    /// In a box, as few flows are policed.
    policing: Option<Box<policing::Stats>>,
    /// Short flows that found no endpoint free.
    turned_away: u64,
    /// What has limited the sender until now, if it is one sender.
    limits: Option<Limits>,
    /// Cells dropped at the ABR source for want of room, and the most that waited there.
    source_dropped: u64,
    source_queue_max: u64,
}

#[derive(Debug, Default)]
struct PortCounts {
    accepted: u64,
    occupancy: u64,
    /// The time integral of the occupancy.
    integral: SpanSum,
    /// How long the link was busy.
    busy: Span,
    /// What happens at few ports, if any of it has: a network may have very many.
    others: Option<Box<OtherCounts>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct OtherCounts {
    /// Units of low priority accepted and discarded.
    low_priority: [u64; 2],
    discarded: [u64; Reason::ALL.len()],
    marked: u64,
    /// Accepted and later discarded.
    withdrawn: u64,
    lost: Lost,
    /// Packets that the link behind it has held back.
    held_back: u64,
    /// How often, and how long together, its link was paused.
    paused: (u64, Span),
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

/// What has limited a sender between two moments. A silence that ends in a timeout is known for one only then: what of it was counted
/// as another limit's before the first moment is taken back.
fn limits_since(end: Limits, begin: Limits) -> Limits {
    let mut taken_back = 0;
    let mut since = |end: Time, begin: Time| {
        taken_back += begin.saturating_sub(end);
        end.saturating_sub(begin)
    };
    let mut limits = Limits {
        application: since(end.application, begin.application),
        handshake: since(end.handshake, begin.handshake),
        receive_window: since(end.receive_window, begin.receive_window),
        congestion_window: since(end.congestion_window, begin.congestion_window),
        recovery: since(end.recovery, begin.recovery),
        timeout: end.timeout - begin.timeout,
    };
    limits.timeout -= taken_back;
    limits
}

fn bits_per_second(bytes: u64, window: Time) -> f64 {
    bytes as f64 * 8.0 / seconds(window)
}

/// The minimum cell rate of a flow's VC in bit/s.
fn minimum_rate(flow: &Flow) -> Option<f64> {
    flow.minimum_rate().map(|CellRate(rate)| rate.0 as f64)
}

impl Snapshot {
    /// The part of a run that is measured begins, at `now`.
    pub(crate) fn begin_window(network: &mut Network, now: Time) -> Self {
        let begin = if now > 0 {
            Self::of(network, now)
        } else {
            assert!(network.ports().all(|port| port.arrived() == 0), "something has arrived before time 0");
            Self::default()
        };
        network.begin_window();
        begin
    }

    fn of(network: &Network, now: Time) -> Self {
        let mut ports = Vec::with_capacity(network.ports().count());
        ports.extend(PortCounts::of_all(network));
        Self { flows: FlowCounts::of_all(network, now).collect(), ports, arrived: network.arrived() }
    }
}

impl PortCounts {
    /// Those of all ports until now.
    fn of_all(network: &Network) -> impl Iterator<Item = Self> {
        let (losses, held_back) = (network.lost(), network.held_back());
        network.ports().map(move |port| {
            let others = OtherCounts {
                low_priority: port.low_priority(),
                discarded: port.stats().discarded(),
                marked: port.stats().marked,
                withdrawn: port.withdrawn(),
                lost: losses.get(&port.link).copied().unwrap_or_default(),
                held_back: held_back.get(&port.link).copied().unwrap_or_default(),
                paused: port.paused(),
            };
            Self {
                accepted: port.accepted(),
                occupancy: port.occupancy(),
                integral: port.occupancy_integral(),
                busy: port.busy(),
                others: others.boxed(),
            }
        })
    }

    fn others(&self) -> OtherCounts {
        self.others.as_deref().copied().unwrap_or_default()
    }
}

impl OtherCounts {
    /// In a box, unless all are zero.
    fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// What happened since `begin`.
    fn since(&self, begin: &Self) -> Self {
        Self {
            low_priority: [0, 1].map(|place| self.low_priority[place] - begin.low_priority[place]),
            discarded: std::array::from_fn(|reason| self.discarded[reason] - begin.discarded[reason]),
            marked: self.marked - begin.marked,
            withdrawn: self.withdrawn - begin.withdrawn,
            lost: std::array::from_fn(|reason| self.lost[reason] - begin.lost[reason]),
            held_back: self.held_back - begin.held_back,
            paused: (self.paused.0 - begin.paused.0, self.paused.1.minus(begin.paused.1)),
        }
    }
}

impl FlowCounts {
    /// Those of all flows until `now`.
    fn of_all(network: &Network, now: Time) -> impl Iterator<Item = Self> {
        let cells = cells_of_flows(network);
        let mut policed = vec![None; network.flows.len()];
        network
            .ports()
            .flat_map(Port::policed)
            .for_each(|(flow, stats)| policed[flow] = Some(Box::new(stats)));
        let cells = std::iter::zip(cells, policed);
        let flow = move |(ends, ([sent, discarded], policing)): (&FlowEnds, ([u64; 2], _))| {
            // What flows share counts once, with the flow whose VC it is.
            let incoming =
                (!ends.shares).then(|| &network.host(ends.to).parts.incoming[ends.incoming as usize]);
            Self {
                carrier: ends.carrier,
                sent,
                discarded,
                arrived: incoming.map_or(0, Incoming::arrived),
                policing,
                limits: network.sender(ends).map(|sender| sender.limits(now)),
                turned_away: network.pool(ends).map_or(0, |pool| pool.turned_away),
                source_dropped: network.abr_source(ends).map_or(0, |source| source.queue.dropped),
                source_queue_max: network.abr_source(ends).map_or(0, |source| source.queue.most),
                sender: network.sender_stats(ends),
                receiver: network.receiver_stats(ends),
                incoming: incoming.map_or_else(IncomingStats::default, Incoming::so_far),
            }
        };
        std::iter::zip(&network.flows, cells).map(flow)
    }
}

/// Cells that each flow's host has sent and that switches have discarded. Flows that share a VC count with the first of them.
fn cells_of_flows(network: &Network) -> Vec<[u64; 2]> {
    let mut cells = vec![[0; 2]; network.flows.len()];
    for port in network.ports() {
        for (flow, [accepted, discarded]) in port.by_flow() {
            match port.location {
                Location::Interface => cells[flow][0] += accepted,
                Location::Switch => cells[flow][1] += discarded,
            }
        }
    }
    cells
}

impl FlowCounts {
    /// What happened to all flows since `begin`, which gives its room to the differences. Nothing had, if that is empty.
    fn all_since(mut begin: Vec<Self>, ends: impl Iterator<Item = Self>) -> Vec<Self> {
        if begin.is_empty() {
            return ends.collect();
        }
        std::iter::zip(&mut begin, ends).for_each(|(flow, end)| *flow = end.since(flow));
        begin
    }

    /// What happened since `begin`.
    fn since(&self, begin: &Self) -> Self {
        let (sender, receiver, incoming) = (&begin.sender, &begin.receiver, &begin.incoming);
        let mut flow = self.clone();
        flow.sender.segments -= sender.segments;
        flow.sender.retransmitted_segments -= sender.retransmitted_segments;
        flow.sender.timeouts -= sender.timeouts;
        flow.sender.fast_retransmits -= sender.fast_retransmits;
        flow.receiver.segments -= receiver.segments;
        flow.receiver.distinct_bytes -= receiver.distinct_bytes;
        flow.receiver.distinct_full_segments -= receiver.distinct_full_segments;
        flow.receiver.duplicate_segments -= receiver.duplicate_segments;
        flow.receiver.duplicate_bytes -= receiver.duplicate_bytes;
        flow.receiver.outdated_segments -= receiver.outdated_segments;
        flow.receiver.acks -= receiver.acks;
        flow.incoming.frames -= incoming.frames;
        flow.incoming.octets -= incoming.octets;
        flow.incoming.useful_cells -= incoming.useful_cells;
        flow.incoming.useless_cells -= incoming.useless_cells;
        flow.arrived -= begin.arrived;
        flow.sent -= begin.sent;
        flow.discarded -= begin.discarded;
        if let Some((policing, begin)) = flow.policing.as_mut().zip(begin.policing.as_ref()) {
            policing.frames_eligible -= begin.frames_eligible;
            policing.frames_tagged -= begin.frames_tagged;
            policing.cells_tagged -= begin.cells_tagged;
        }
        flow.source_dropped -= begin.source_dropped;
        flow.turned_away -= begin.turned_away;
        flow.limits = flow.limits.zip(begin.limits).map(|(end, begin)| limits_since(end, begin));
        flow
    }

    /// What policers have done with its cells.
    fn policing(&self) -> policing::Stats {
        self.policing.as_deref().copied().unwrap_or_default()
    }

    /// Distinct full segments, or whole frames of bare cells: the effective throughput in frames.
    fn frames_delivered(&self) -> u64 {
        if self.carrier.is_tcp() { self.receiver.distinct_full_segments } else { self.incoming.frames }
    }

    /// Payload bytes delivered for the first time; without TCP the payload of whole frames of cells, or whole packets.
    fn bytes(&self) -> u64 {
        self.carrier.bare_payload(&self.incoming).unwrap_or(self.receiver.distinct_bytes)
    }

    /// Payload bytes that arrived, repetitions included.
    fn bytes_received(&self) -> u64 {
        self.bytes() + self.receiver.duplicate_bytes
    }

    /// The share of the cells whose fate is known that switches discarded; NaN without any.
    fn loss_ratio(&self) -> f64 {
        loss_ratio(std::slice::from_ref(self))
    }
}

/// As [`FlowCounts::loss_ratio`], of some flows together.
fn loss_ratio<'a>(flows: impl IntoIterator<Item = &'a FlowCounts>) -> f64 {
    let [arrived, lost] = flows
        .into_iter()
        .fold([0, 0], |[arrived, lost], counts| [arrived + counts.arrived, lost + counts.discarded]);
    lost as f64 / (lost + arrived) as f64
}
