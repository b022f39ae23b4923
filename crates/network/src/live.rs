//! A run that can be watched: where every cell is between two moments, what ports hold and discard, how windows move.
//!
//! After a run up to a time every process stands at that time and streams hold what arrives from then on. So a cell in an
//! output stream of a port that has still to be sent is in the port's buffer, and any other is on the link. Watching changes nothing:
//! a watched run has the fingerprint of [`Experiment::run`], however often it is stopped. A run that nobody watches keeps no logs.

mod passages;
mod rows;
mod state;
mod vcs;

use std::collections::{BTreeMap, BTreeSet};

use celltrain_atm::{buffer::Reason, cell::Kind};
use celltrain_engine::{Instant, Time, quantity::BitRate, stream::StreamId};
use celltrain_tcp::EventKind;

pub use self::passages::Passage;
pub use self::state::{
    Completion, Discard, FlowState, PauseSignal, Pauses, PortState, Reaction, Row, Vc, Whereabouts,
};
use self::vcs::{Carried, trace};
use crate::{
    Experiment, Options, RunResult,
    build::processing,
    channel::LossReason,
    discards::Noted,
    network::{FlowEnds, Network},
    node::Node,
    port::{Location, Port},
    run::Snapshot,
    scenario::{DelayChange, Flow, Graph, Link, Scenario, ScenarioError},
};

/// The most frames of a VC that are remembered as broken; more than a path holds.
const REMEMBERED: usize = 1 << 16;

/// All that [`Discard::reason`] may be: the reasons of ports, then those of links.
#[must_use]
pub fn reasons() -> Vec<&'static str> {
    Reason::ALL.iter().map(|reason| reason.column()).chain(LossReason::ALL.map(LossReason::column)).collect()
}

/// A replication of a scenario that is run step by step and watched.
#[derive(Debug)]
pub struct Live {
    scenario: Scenario,
    graph: Graph,
    network: Network,
    /// Whose cells a stream carries, and where to, by stream and VCI.
    vcs: Vec<BTreeMap<u32, Carried>>,
    /// Frames that have lost a cell, by flow: of the data, and of the VC back.
    broken: Vec<[BTreeSet<u32>; 2]>,
    /// The last round trip that each flow's sender measured.
    round_trips: Vec<Time>,
    /// What had been counted when the measured part of the run began.
    begin: Option<Snapshot>,
    now: Time,
}

impl Live {
    /// Replication `replication` of `scenario` under `seed`, at time 0.
    ///
    /// # Errors
    /// What is wrong with the scenario's network.
    pub fn new(scenario: Scenario, seed: u64, replication: u64) -> Result<Self, ScenarioError> {
        let graph = scenario.graph()?;
        let mut network = Experiment::new(&scenario)?.network(seed, replication, Options::default());
        network.watch();
        let followed = |index: &usize| has_followed_frames(&graph.flows[*index], &graph.links);
        (0..graph.flows.len()).filter(followed).for_each(|index| network.watch_delays(index));
        let vcs = trace(&network);
        let broken = vec![<[BTreeSet<u32>; 2]>::default(); graph.flows.len()];
        let round_trips = vec![0; graph.flows.len()];
        Ok(Self { scenario, graph, network, vcs, broken, round_trips, begin: None, now: 0 })
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Its network.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The time up to which everything has happened, in picoseconds.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the run has reached its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.now == self.scenario.spec().duration.ps()
    }

    /// Runs until `until`, or to the end if that is earlier; a time that has passed changes nothing. `false` if `interrupt`, which
    /// is asked now and then, said so: the run can go no further then.
    pub fn advance(&mut self, until: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        let spec = self.scenario.spec();
        let (warm_up, until) = (spec.warm_up.ps(), until.min(spec.duration.ps()));
        if self.begin.is_none() && until >= warm_up {
            if !self.network.run_until(warm_up, interrupt) {
                return false;
            }
            self.begin = Some(Snapshot::begin_window(&mut self.network, warm_up));
        }
        if until > self.now {
            if !self.network.run_until(until, interrupt) {
                return false;
            }
            self.now = until;
        }
        true
    }

    /// Runs to the end and measures. The result has no events: they were handed over on the way. `None` if interrupted.
    #[must_use]
    pub fn finish(mut self, interrupt: &mut dyn FnMut() -> bool) -> Option<RunResult> {
        if !self.advance(Time::MAX, interrupt) {
            return None;
        }
        let experiment = Experiment::new(&self.scenario).expect("the network was built before");
        Some(experiment.measure(self.network, self.begin?))
    }

    fn vc(&self, stream: StreamId, vci: u32) -> Option<Vc> {
        Some(self.carried(stream, vci)?.vc)
    }

    fn carried(&self, stream: StreamId, vci: u32) -> Option<Carried> {
        self.vcs[stream].get(&vci).copied()
    }

    /// The links whose rate or delay changes in the course of the run: rate of what begins to be transmitted now, delay of what enters the
    /// link now.
    pub fn changing_links(&self) -> impl Iterator<Item = (usize, BitRate, Time)> {
        let changes = |link: &Link| !link.rate_changes.is_empty() || !link.delay_changes.is_empty();
        self.graph.links.iter().enumerate().filter(move |(_, link)| changes(link)).map(|(index, link)| {
            let rate = link.rate_changes.iter().rev().find(|change| change.at.ps() <= self.now);
            let delay = link.delay_changes.iter().rev().find(|change| change.at.ps() <= self.now);
            let changed =
                |change: &DelayChange| change.delay.0.ps() + processing(&self.scenario, &self.graph, link);
            (index, rate.map_or(link.rate, |change| change.rate), delay.map_or(link.delay.ps(), changed))
        })
    }

    /// The ports of switches and the interfaces of hosts.
    #[must_use]
    pub fn ports(&self) -> Vec<PortState> {
        let state = |port: &Port| PortState {
            link: port.link,
            in_switch: port.location == Location::Switch,
            occupancy: port.occupancy(),
            arrived: port.arrived(),
            accepted: port.accepted(),
            discarded: port.discarded(),
            captured: self.captured(port),
        };
        self.network.ports().map(state).collect()
    }

    fn captured(&self, port: &Port) -> Vec<Vc> {
        let vc = |vci| port.hops(vci).first().and_then(|&(stream, vci)| self.vc(stream, vci));
        (0..port.vcs()).filter(|&vci| port.captures(vci)).filter_map(vc).collect()
    }

    /// The occupancy of each port, as [`PortState::occupancy`], and whether it is a switch's, in the order of [`Live::ports`].
    pub fn occupancies(&self) -> impl Iterator<Item = (bool, u64)> {
        self.network.ports().map(|port| (port.location == Location::Switch, port.occupancy()))
    }

    /// Congestion window and bytes delivered of each flow, as [`FlowState::cwnd`] and [`FlowState::delivered`], and the last round trip:
    /// what changes from moment to moment, without the counts that take longer to add up.
    pub fn progress(&self) -> impl Iterator<Item = [u64; 3]> {
        let flows = self.network.flows.iter().zip(&self.round_trips);
        flows.map(|(ends, &round_trip)| {
            let cwnd = self.network.sender(ends).map_or(0, |sender| sender.window().cwnd);
            [cwnd, self.delivered(ends), round_trip]
        })
    }

    /// The flows.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowState> {
        let flows = self.network.flows.iter().zip(&self.round_trips);
        flows.map(|(ends, &round_trip)| FlowState { round_trip, ..self.flow(ends) }).collect()
    }

    fn flow(&self, ends: &FlowEnds) -> FlowState {
        let acr = self.network.abr_source(ends).map_or(0.0, |source| source.source.acr().cells());
        let sent = self.network.sender_stats(ends);
        let counts = FlowState {
            delivered: self.delivered(ends),
            timeouts: sent.timeouts,
            retransmitted: sent.retransmitted_segments,
            acr,
            ..FlowState::default()
        };
        let Some(sender) = self.network.sender(ends) else { return counts };
        let window = sender.window();
        FlowState { cwnd: window.cwnd, ssthresh: window.ssthresh, flight: window.flight, ..counts }
    }

    /// Distinct bytes delivered; without TCP the payload of whole frames of cells, or whole packets.
    fn delivered(&self, ends: &FlowEnds) -> u64 {
        let incoming = &self.network.host(ends.to).parts.incoming[ends.incoming as usize];
        let bare = ends.carrier.bare_payload(&incoming.stats);
        bare.unwrap_or_else(|| self.network.receiver_stats(ends).distinct_bytes)
    }

    /// Hands over what was discarded or lost since the last call, in the order of time.
    pub fn drain_discards(&mut self) -> Vec<Discard> {
        let mut noted = Vec::new();
        for (index, log) in self.network.discard_logs() {
            noted.extend(log.take().into_iter().map(|noted| (index, noted)));
        }
        let mut discards: Vec<_> =
            noted.into_iter().filter_map(|(index, noted)| self.discard(index, noted)).collect();
        discards.sort_by_key(|discard| discard.at);
        for Discard { vc, cell, .. } in discards.iter().filter(|discard| discard.cell.kind == Kind::Data) {
            let broken = &mut self.broken[vc.flow][usize::from(vc.back)];
            broken.insert(cell.frame);
            if broken.len() > REMEMBERED {
                broken.pop_first();
            }
        }
        discards
    }

    fn discard(&self, (process, port): (usize, usize), noted: Noted) -> Option<Discard> {
        let (nodes, _) = self.network.parts();
        let Noted { at, cell, count, reason } = noted;
        let (link, vc) = match &nodes[process] {
            Node::Channel(channel) => {
                let (stream, vci) = channel.hops(cell.vc).next()?;
                (channel.link(), self.vc(stream, vci)?)
            }
            node => {
                let port = node.ports().get(port)?;
                let &(stream, vci) = port.hops(cell.vc).first()?;
                (port.link, self.vc(stream, vci)?)
            }
        };
        Some(Discard { at, link, vc, cell, count, reason })
    }

    /// The ports that have been paused so far, with their pauses.
    pub fn pauses(&self) -> impl Iterator<Item = Pauses> {
        self.network.ports().filter_map(|port| {
            let (count, time) = port.paused();
            let since = port.paused_since().map(Instant::ps);
            (count > 0).then(|| Pauses { link: port.link, since, count, time: time.ps() })
        })
    }

    /// Hands over the pauses that arrived at ports since the last call, and the ends of pauses, in the order of time.
    pub fn drain_pauses(&mut self) -> Vec<PauseSignal> {
        let mut signals = Vec::new();
        for port in self.network.ports_mut() {
            let link = port.link;
            let taken = port.take_pauses().into_iter();
            signals.extend(taken.map(|(at, begins)| PauseSignal { at: at.ps(), link, begins }));
        }
        signals.sort_by_key(|signal| signal.at);
        signals
    }

    /// Hands over the mean transfer delay of each flow's frames that arrived whole since the last call, if it is a flow of bare cells and
    /// any did. A transfer delay is the time from when a frame is handed to the sender's network interface until
    /// its last cell reaches the receiver.
    pub fn drain_transfer_delays(&mut self) -> Vec<Option<Time>> {
        (0..self.graph.flows.len()).map(|flow| self.network.drain_transfer_delay(flow)).collect()
    }

    /// Hands over how senders reacted to losses and marks since the last call, with time and flow, flow by flow.
    pub fn drain_reactions(&mut self) -> Vec<(Time, usize, Reaction)> {
        let mut reactions = Vec::new();
        for flow in 0..self.graph.flows.len() {
            let answers = self.network.take_events(flow);
            for event in answers.into_iter().chain(self.network.take_request_events(flow)) {
                let reaction = match event.kind {
                    EventKind::FastRetransmit { .. } => Reaction::FastRetransmit,
                    EventKind::Timeout { .. } => Reaction::Timeout,
                    EventKind::EcnReduction { .. } => Reaction::Mark,
                    EventKind::RttSample { rtt, .. } => {
                        self.round_trips[flow] = rtt;
                        continue;
                    }
                    _ => continue,
                };
                reactions.push((event.at, flow, reaction));
            }
        }
        reactions
    }

    /// The short flows and finite transfers that ended from `since` on, flow by flow.
    #[must_use]
    pub fn completions(&self, since: Time) -> Vec<Completion> {
        let mut completions = Vec::new();
        for (flow, ends) in self.network.flows.iter().enumerate() {
            let begun = self.network.begun(ends);
            for had in self.network.had(ends, since) {
                // Receivers count from 1, and do not know the size.
                let Some(begun) = (had.flow as usize).checked_sub(1).map(|place| begun[place]) else {
                    continue;
                };
                if had.bytes == begun.bytes {
                    completions.push(Completion {
                        at: had.at,
                        flow,
                        bytes: had.bytes,
                        time: had.at - begun.at,
                    });
                }
            }
        }
        completions
    }
}

/// Whether the frames of a flow are bare cells whose numbers stay theirs to the end: behind a link that reorders they have others, and on
/// each of several ways.
fn has_followed_frames(flow: &Flow, links: &[Link]) -> bool {
    let in_order = || flow.route.iter().all(|&link| links[link].reorder.is_none());
    !flow.traffic.uses_tcp() && !flow.is_sprayed() && in_order()
}
