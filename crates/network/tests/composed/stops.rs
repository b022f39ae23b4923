//! A run that stops at random times, and what holds whenever it stops.

use celltrain_engine::{Time, random::Randomness, time::seconds};
use celltrain_network::{
    Experiment, Options, RunResult,
    audit::{Audit, PortAudit},
    scenario::{Framing, Graph},
};

use crate::{
    invariants::{Failure, Trial},
    panics::caught,
};

/// What the kinds of failures that are found here begin with.
pub(crate) const STOPPED: &str = "stops";
/// How often a run stops on its way.
const STOPS: u64 = 6;

/// Runs the scenario with stops; the run is the `usual` one, and at every stop nothing is lost track of.
pub(crate) fn stop_and_look(trial: &mut Trial, usual: &RunResult, lots: u64) {
    let usual = usual.fingerprint;
    let duration = trial.scenario.spec().duration.ps();
    let mut generator = Randomness { seed: lots, replication: 0 }.named("stops");
    let mut stops: Vec<Time> = (0..STOPS).map(|_| generator.below(duration)).collect();
    stops.sort_unstable();
    stops.push(duration);
    let (most, mut rounds) = (trial.most_rounds() * (STOPS + 1), 0);
    let scenario = &trial.scenario;
    let outcome = caught(|| {
        let experiment = Experiment::new(scenario).expect("it ran before");
        let mut network = experiment.network(scenario.spec().seed, 0, Options::default());
        let mut interrupt = || {
            rounds += 1;
            rounds > most
        };
        let look = |&stop: &Time| network.advance(stop, &mut interrupt).then(|| (stop, network.audit()));
        stops.iter().map_while(look).collect::<Vec<_>>()
    });
    match outcome {
        Err(panic) => trial.fail(Failure::new(crate::invariants::panic_kind("stops", &panic), panic)),
        Ok(audits) => {
            let failures = over_time(&trial.graph, &audits);
            failures.into_iter().for_each(|failure| trial.fail(failure));
            let Some((_, last)) = audits.last().filter(|_| audits.len() == stops.len()) else {
                return trial.fail(Failure::new("stops: does not end", format!("{rounds} rounds")));
            };
            trial.add_hops(last.ports.iter().map(|port| port.arrived).sum());
            if last.fingerprint != usual {
                let detail = format!("{usual:x} and {:x}, stopped at {stops:?}", last.fingerprint);
                trial.fail(Failure::new("stops: fingerprint", detail));
            }
        }
    }
}

/// What holds at each stop and from one to the next.
fn over_time(graph: &Graph, audits: &[(Time, Audit)]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (place, (now, audit)) in audits.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| &audits[place]);
        for (index, port) in audit.ports.iter().enumerate() {
            let (start, busy) = before.map_or((0, 0.0), |(time, audit)| (*time, audit.ports[index].busy));
            failures.extend(of_port(graph, port, busy, seconds(now - start)));
        }
        failures.extend(along_routes(graph, audit));
    }
    failures
}

/// A port carries no more than its line, holds no more than its buffer, and knows the sum over its VCs.
fn of_port(graph: &Graph, port: &PortAudit, busy: f64, length: f64) -> Option<Failure> {
    let link = &graph.links[port.link];
    let name = graph.link_name(port.link);
    let unit = match link.framing {
        Framing::Cells => 424.0,
        Framing::Packets => 8.0 * (65_535.0 + link.overhead.0 as f64),
    };
    // What was being sent at the beginning of the window may count in it.
    let most = length + unit / link.slowest().0 as f64;
    if port.busy - busy > most * (1.0 + 1e-9) {
        let detail = format!("{name}: busy for {} s of {length} s", port.busy - busy);
        return Some(Failure::new("stops: a port carries more than its line", detail));
    }
    let counted = link.framing == Framing::Cells || link.buffer.1 == celltrain_atm::quantity::Unit::Packets;
    if port.in_switch && counted && port.occupancy > link.buffer.units() {
        let detail = format!("{name}: {} in a buffer of {}", port.occupancy, link.buffer);
        return Some(Failure::new("stops: a port holds more than its buffer", detail));
    }
    if port.withdrawn + port.occupancy > port.accepted {
        let detail = format!("{name}: {port:?}");
        return Some(Failure::new("stops: a port holds more than it accepted", detail));
    }
    None
}

/// A VC's cells arrive at a port only after the port before has sent them.
fn along_routes(graph: &Graph, audit: &Audit) -> Vec<Failure> {
    let of = |link: usize, flow: usize| {
        let port = audit.ports.iter().find(|port| port.link == link)?;
        let vc = port.vcs.iter().find(|(other, _)| *other == flow)?;
        // Cells that were accepted first count as accepted and as discarded.
        let discarded = if port.withdrawn > 0 { 0 } else { vc.1[1] };
        Some((vc.1[0], vc.1[0] + discarded))
    };
    let mut failures = Vec::new();
    for (number, flow) in graph.flows.iter().enumerate().filter(|(number, flow)| flow.circuit == *number) {
        for hop in flow.route.windows(2) {
            let (Some((accepted, _)), Some((_, arrived))) = (of(hop[0], number), of(hop[1], number)) else {
                let detail = format!("flow \"{}\" at {}", flow.name, graph.link_name(hop[1]));
                failures.push(Failure::new("stops: a port does not know a VC", detail));
                continue;
            };
            if arrived > accepted {
                let detail = format!(
                    "flow \"{}\": {arrived} arrived at {}, {accepted} were accepted before",
                    flow.name,
                    graph.link_name(hop[1])
                );
                failures.push(Failure::new("stops: a VC's cells arrive that were not sent", detail));
            }
        }
    }
    failures
}
