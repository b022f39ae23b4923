//! What holds for the tables of a run.

use celltrain_atm::{
    buffer::DiscardParams,
    contract::{Category, Spacing},
};
use celltrain_engine::{
    quantity::{BitRate, Duration, Tolerance},
    time::seconds,
};
use celltrain_network::{
    RunResult,
    measures::registry,
    scenario::{Distribution, Flow, Framing, Graph, Link, NodeKind, RateChange, Scenario, TieBreak, Traffic},
    table::{Column, Table},
    traffic::sizes::FlowSize,
};
use celltrain_tcp::{CongestionKind, RecoveryKind};

use crate::invariants::Failure;

/// Rounding of sums of numbers.
const NEARLY: f64 = 1.0 + 1e-9;

/// Measures that lie between 0 and 1.
const RATIOS: [&str; 9] = [
    "fairness_index",
    "efficiency",
    "utilisation",
    "cell_loss_ratio",
    "link_loss_ratio",
    "retransmission_ratio",
    "excess_fairness_equal",
    "excess_fairness_weighted",
    "share",
];

/// Indices, which are above 0.
const INDICES: [&str; 3] = ["fairness_index", "excess_fairness_equal", "excess_fairness_weighted"];

/// Every measure lies in its range.
pub(crate) fn in_range(result: &RunResult) -> Vec<Failure> {
    // The lab looks up what each measure is called.
    let unknown = |name: &&str| registry::RUN.iter().all(|measure| measure.name != *name);
    let names = result.summary.iter().map(|metric| metric.name);
    let mut failures: Vec<_> =
        names.filter(unknown).map(|name| Failure::new("not in the registry", name)).collect();
    let mut check = |table: &str, name: &str, value: f64| {
        let (mut low, mut high) = (0.0, f64::MAX);
        if RATIOS.contains(&name) {
            high = NEARLY;
        }
        if INDICES.contains(&name) {
            low = f64::MIN_POSITIVE;
        }
        // Nothing is faster than through an empty network.
        if name.starts_with("slowdown_") {
            low = 1.0 / NEARLY;
        }
        if name == "synchronisation_index" {
            (low, high) = (-NEARLY, NEARLY);
        }
        // NaN stands for what has no value.
        if !value.is_nan() && !(low..=high).contains(&value) {
            failures.push(Failure::new(format!("range: {table}.{name}"), format!("{value}")));
        }
    };
    for metric in &result.summary {
        check("summary", metric.name, metric.value);
    }
    for (table, columns) in [("flows", &result.flows), ("ports", &result.ports)] {
        for (name, _, column) in columns.columns() {
            if let Column::Number(values) = column {
                values.iter().for_each(|&value| check(table, name, value));
            }
        }
    }
    for series in &result.series {
        series.values.iter().for_each(|&value| check("series", series.metric, value));
    }
    failures
}

/// The summary counts the transfers that the table of flows tells the completion times of.
pub(crate) fn transfers(scenario: &Scenario, graph: &Graph, result: &RunResult) -> Vec<Failure> {
    let spec = scenario.spec();
    let is_short = |flow: &Flow| matches!(*flow.traffic, Traffic::ShortFlows(_));
    // Short flows are in the summary alone. A drawn start may lie within the warm-up or not.
    let is_unclear = |flow: &Flow| flow.start.from < spec.warm_up && spec.warm_up <= flow.start.to;
    let times = column(&result.flows, "completion_time");
    let finite = |flow: &Flow| matches!(*flow.traffic, Traffic::Finite(_));
    let mut failures = Vec::new();
    let (mut done, mut is_known) = (0.0, true);
    for (flow, time) in std::iter::zip(&graph.flows, times) {
        is_known &= !(is_short(flow) || finite(flow) && is_unclear(flow));
        if time.is_nan() {
            continue;
        }
        if !finite(flow) || time <= 0.0 || time > seconds(spec.duration.ps()) {
            failures.push(Failure::new("completion time", format!("flow {}: {time} s", flow.name)));
        }
        done += f64::from(flow.start.from >= spec.warm_up);
    }
    let counted = result.summary.iter().find(|metric| metric.name == "flows_completed");
    let counted = counted.map_or(0.0, |metric| metric.value);
    if is_known && counted != done {
        failures.push(Failure::new("completed transfers", format!("{counted} in the summary, {done} flows")));
    }
    failures
}

/// A column of numbers or counts, as numbers.
pub(crate) fn column(table: &Table, name: &str) -> Vec<f64> {
    match table.columns().iter().find(|(other, ..)| *other == name) {
        Some((_, _, Column::Count(values))) => values.iter().map(|&value| value as f64).collect(),
        Some((_, _, Column::Number(values))) => values.clone(),
        _ => panic!("no numbers in column \"{name}\""),
    }
}

/// What came out of a link within the window was carried by it within a window as long: payload delivered over the last link of
/// flows is not more than it carries, but for the frame of each flow that was on its way when the window began.
pub(crate) fn at_the_last_link(scenario: &Scenario, graph: &Graph, result: &RunResult) -> Vec<Failure> {
    let spec = scenario.spec();
    let window = seconds(spec.duration.ps() - spec.warm_up.ps());
    let throughputs = column(&result.flows, "throughput");
    let mut failures = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let ends_here = |flow: &&(usize, &Flow)| flow.1.route.last() == Some(&index);
        let flows: Vec<_> = graph.flows.iter().enumerate().filter(|flow| ends_here(&flow)).collect();
        // Where hosts take time over packets, some that wait there come out later.
        let waits = flows.iter().any(|(_, flow)| flow.traffic.uses_tcp() && flow.tcp.processing_delay > 0);
        if waits || spec.host.ip_rate.is_some() {
            continue;
        }
        let delivered: f64 = flows.iter().map(|(number, _)| throughputs[*number] * window).sum();
        let frames: f64 = flows.iter().map(|(_, flow)| frame_bits(flow)).sum();
        // What comes out in the window entered the link a delay earlier, when its rate may have been another one.
        let carried = link.fastest().0 as f64 * window;
        if delivered > (carried + frames + 8.0 * 53.0) * NEARLY {
            let name = graph.link_name(index);
            failures.push(Failure::new(
                "flows get more than their last link carries",
                format!("{name}: {delivered} bits delivered, {carried} carried"),
            ));
        }
    }
    failures
}

/// The network in which each clock is as fast as `tolerance` allows.
pub(crate) fn by_the_fastest_clocks(mut graph: Graph, tolerance: Tolerance) -> Graph {
    if tolerance > Tolerance(0) {
        let faster = |rate: u64| BitRate(rate + (rate as f64 * 1e-9 * tolerance.0 as f64) as u64 + 1);
        for link in &mut graph.links {
            link.rate = faster(link.rate.0);
            let changed = |change: &RateChange| RateChange { rate: faster(change.rate.0), ..*change };
            link.rate_changes = link.rate_changes.iter().map(changed).collect::<Vec<_>>().into();
        }
    }
    graph
}

/// The distribution of a port's occupancy covers the measured time, and its mean is the mean occupancy, which is measured by other
/// means; within what bins are wide, and a picosecond a bin.
pub(crate) fn distributions(scenario: &Scenario, result: &RunResult) -> Vec<Failure> {
    let spec = scenario.spec();
    let window = (spec.duration.ps() - spec.warm_up.ps()) as f64;
    let table = &result.distributions;
    let texts = |table: &Table, name: &str| match table.columns().iter().find(|(other, ..)| *other == name) {
        Some((_, _, Column::Text(values))) => values.iter().map(str::to_owned).collect::<Vec<_>>(),
        _ => panic!("no texts in column \"{name}\""),
    };
    let (over, entity) = (texts(table, "over"), texts(table, "entity"));
    let [low, high, weight] = ["low", "high", "weight"].map(|name| column(table, name));
    let mut failures = Vec::new();
    for (port, mean) in std::iter::zip(texts(&result.ports, "port"), column(&result.ports, "occupancy_mean"))
    {
        let rows: Vec<_> = (0..low.len()).filter(|&row| over[row] == "port" && entity[row] == port).collect();
        if rows.is_empty() {
            continue;
        }
        let sum = |value: &dyn Fn(usize) -> f64| rows.iter().map(|&row| value(row)).sum::<f64>();
        let slack = 2.0 * rows.len() as f64;
        let covered = sum(&|row| weight[row]);
        let [least, most] = [&low, &high].map(|edge| sum(&|row| edge[row] * weight[row]) / window);
        let cut = high[rows[rows.len() - 1]] * slack / window;
        if (covered - window).abs() > slack || mean < least / NEARLY - cut || mean > most * NEARLY + cut {
            let detail = format!("{port}: {covered} of {window} ps, mean {mean} of {least} to {most}");
            failures.push(Failure::new("distribution of an occupancy", detail));
        }
    }
    failures
}

/// The payload of a flow's longest frame.
fn frame_bits(flow: &Flow) -> f64 {
    if let Some(packet) = flow.traffic.packet() {
        return packet.0 as f64 * 8.0;
    }
    let Some(cells) = flow.traffic.frame() else { return f64::from(flow.tcp.mss) * 8.0 };
    f64::from(cells) * 48.0 * 8.0
}

/// Bounds that are exact for a run measured from an empty network on, with samples every `sample` picoseconds.
pub(crate) fn of_a_whole_run(
    scenario: &Scenario,
    graph: &Graph,
    result: &RunResult,
    sample: u64,
) -> Vec<Failure> {
    let duration = seconds(scenario.spec().duration.ps());
    let mut failures = in_range(result);
    // Samples much closer than the cells are there for the occupancy alone.
    failures.retain(|failure| !failure.kind.starts_with("range: series"));
    failures.iter_mut().for_each(|failure| failure.kind.insert_str(0, "whole run, "));
    failures.extend(links_and_flows(graph, result, scenario.spec().duration));
    failures.extend(sends_and_deliveries(graph, result));
    failures.extend(without_losses(graph, result));
    failures.extend(little(result, duration, seconds(sample)));
    failures.extend(lossless(scenario, result));
    failures.extend(work_conserving(scenario, graph, result, seconds(sample)));
    failures.extend(sources_keep_to_their_rates(graph, result, duration));
    failures
}

/// The throughputs of all flows that cross a link, with all of their packets, are together no more than its rate.
fn links_and_flows(graph: &Graph, result: &RunResult, length: Duration) -> Vec<Failure> {
    let duration = seconds(length.ps());
    let throughputs = column(&result.flows, "throughput");
    let mut failures = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let crosses = |flow: &Flow| {
            flow.route.contains(&index) && flow.sprayed_ways()[0].iter().all(|way| way.route.contains(&index))
        };
        let crossing = graph.flows.iter().zip(&throughputs).filter(|(flow, _)| crosses(flow));
        let sum: f64 = crossing.map(|(_, throughput)| throughput).sum();
        // A unit that was being transmitted when the rate fell has kept the rate.
        let most = 8.0 * (65_535.0 + link.overhead.0 as f64) * link.rate_changes.len() as f64;
        let carried = link.bits_until(length) + most;
        if sum * duration > carried * NEARLY {
            let detail = format!("{}: {sum} bit/s, {carried} bits in {duration} s", graph.link_name(index));
            failures.push(Failure::new("flows get more than a link carries", detail));
        }
    }
    failures
}

/// Nothing is delivered or discarded that was not sent.
fn sends_and_deliveries(graph: &Graph, result: &RunResult) -> Vec<Failure> {
    let get = |name| column(&result.flows, name);
    let (sent, discarded) = (get("cells_sent"), get("cells_discarded"));
    let (useful, useless) = (get("cells_useful"), get("cells_useless"));
    let (segments, again) = (get("segments_sent"), get("segments_retransmitted"));
    let (bytes, duplicates) = (get("bytes_delivered"), get("duplicates_received"));
    let mut failures = Vec::new();
    let mut fail = |kind: &str, index: usize, detail: String| {
        failures.push(Failure::new(kind, format!("flow \"{}\": {detail}", graph.flows[index].name)));
    };
    for (index, flow) in graph.flows.iter().enumerate() {
        if useful[index] + useless[index] + discarded[index] > sent[index] {
            let [useful, useless] = [useful[index], useless[index]];
            let detail = format!(
                "{useful} useful, {useless} useless, {} discarded, {} sent",
                discarded[index], sent[index]
            );
            fail("more cells arrived or were discarded than sent", index, detail);
        }
        if !flow.traffic.uses_tcp() {
            continue;
        }
        if again[index] > segments[index] || duplicates[index] > segments[index] {
            fail("more segments again than segments", index, format!("{} {}", again[index], segments[index]));
        }
        if bytes[index] > segments[index] * f64::from(flow.tcp.mss) {
            fail("more bytes delivered than sent", index, format!("{} B", bytes[index]));
        }
    }
    failures
}

/// Where nothing is lost, frames arrive whole and, on one way, in order: TCP sends nothing again but for a timeout, to probe the window of a
/// receiver that reads slowly, or to probe for a loss of the last segment (RFC 8985 section 7).
fn without_losses(graph: &Graph, result: &RunResult) -> Vec<Failure> {
    let of_ports =
        ["cells_discarded", "lost_random", "lost_scripted", "lost_burst", "lost_dark", "held_back"];
    let lost = of_ports.iter().flat_map(|name| column(&result.ports, name)).sum::<f64>();
    let get = |name| column(&result.flows, name);
    if lost + get("cells_dropped_at_source").iter().sum::<f64>() > 0.0 {
        return Vec::new();
    }
    let timeouts = get("timeouts");
    let mut failures = Vec::new();
    for (index, flow) in graph.flows.iter().enumerate() {
        let mut none = |name| {
            let value = get(name)[index];
            if value > 0.0 {
                let kind = format!("nothing is lost, but there are {name}");
                failures.push(Failure::new(kind, format!("flow \"{}\": {value}", flow.name)));
            }
        };
        none("cells_useless");
        // Three segments that another has been overtaken by look like a loss (RFC 5681 section 3.2).
        if timeouts[index] > 0.0 || flow.sprayed.is_some() {
            continue;
        }
        none("fast_retransmits");
        // Timestamps come in the order in which they were set.
        none("outdated_received");
        if flow.tcp.read_rate.is_none() && flow.tcp.recovery != RecoveryKind::Rack {
            none("segments_retransmitted");
            none("duplicates_received");
        }
    }
    failures
}

/// Little's law: the mean occupancy in the table, which comes from the times that cells spend in the port, is that of the samples.
///
/// Between two samples the occupancy lies off the later one by no more than the arrivals and departures between them.
fn little(result: &RunResult, duration: f64, sample: f64) -> Vec<Failure> {
    let get = |name| column(&result.ports, name);
    let (arrived, forwarded) = (get("cells_arrived"), get("cells_forwarded"));
    let (mean, most, pushed) = (get("occupancy_mean"), get("occupancy_max"), get("discarded_pushed_out"));
    let Column::Text(names) = &result.ports.columns()[0].2 else { return Vec::new() };
    let mut failures = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let series =
            result.series.iter().find(|series| series.entity == name && series.metric == "occupancy");
        let Some(series) = series else { continue };
        let sampled = series.values.iter().sum::<f64>() * sample;
        let bound = sample * (arrived[index] + forwarded[index] + pushed[index] + most[index] + 1.0);
        let integral = mean[index] * duration;
        if (integral - sampled).abs() > bound * NEARLY + 1e-9 * integral {
            let detail = format!("{name}: {integral} s by sojourns, {sampled} s by samples, bound {bound} s");
            failures.push(Failure::new("Little's law", detail));
        }
    }
    failures
}

/// Whether switches pause links.
fn pauses(scenario: &Scenario) -> bool {
    scenario.spec().switch.memory.is_some_and(|memory| memory.pause.is_some())
}

/// Where switches pause links nothing finds a buffer full.
fn lossless(scenario: &Scenario, result: &RunResult) -> Vec<Failure> {
    let full: f64 = column(&result.ports, "discarded_buffer_full").iter().sum();
    let fails = pauses(scenario) && full > 0.0;
    let failure = || Failure::new("a loss in spite of pauses", format!("{full} found a buffer full"));
    fails.then(failure).into_iter().collect()
}

/// A line never idles while cells wait for it: where so many are in the buffer that they last until the next sample, it is busy
/// from one to the other.
fn work_conserving(scenario: &Scenario, graph: &Graph, result: &RunResult, sample: f64) -> Vec<Failure> {
    let mut failures = Vec::new();
    if pauses(scenario) {
        return failures;
    }
    // The clock that is drawn may be slower by so much than the fastest one, by which the rates of the network are.
    let slower = 1.0 + 2.1e-9 * scenario.spec().link.rate_spread.0 as f64;
    let of = |name: &str, metric: &str| {
        result.series.iter().find(|series| series.entity == name && series.metric == metric)
    };
    // What waits may be pushed out, and a frame that does not fit takes its place.
    let stays = |link: &Link| link.framing == Framing::Cells && !link.discard.policy.pushes_out();
    for (index, link) in graph.links.iter().enumerate().filter(|(_, link)| stays(link)) {
        let name = graph.link_name(index);
        let (Some(occupancy), Some(busy)) = (of(&name, "occupancy"), of(&name, "utilisation")) else {
            continue;
        };
        let slot = 424.0 / link.slowest().0 as f64;
        // A link that changes its rate sends most at its fastest.
        let lasting = (sample * link.fastest().0 as f64 / 424.0).ceil() + 1.0;
        let (mut length, mut sent) = (0.0, 0.0);
        for (place, &waiting) in occupancy.values.iter().enumerate() {
            if length > 0.0 {
                sent += busy.values[place] * sample;
            }
            // A cell counts when its last bit is sent.
            if sent < length - slot * slower * NEARLY - 1e-9 * length {
                let detail = format!("{name}: sends for {sent} s in {length} s that end at sample {place}");
                failures.push(Failure::new("a line idles while cells wait", detail));
                break;
            }
            (length, sent) = if waiting >= lasting { (length + sample, sent) } else { (0.0, 0.0) };
        }
    }
    failures
}

/// What is kept at a peak rate, or at the rate that the network allows, sends no faster.
fn sources_keep_to_their_rates(graph: &Graph, result: &RunResult, duration: f64) -> Vec<Failure> {
    let sent = column(&result.flows, "cells_sent");
    let mut failures = Vec::new();
    for (index, flow) in graph.flows.iter().enumerate() {
        let link = &graph.links[flow.route[0]];
        if link.framing == Framing::Packets || flow.circuit != index {
            continue;
        }
        let is_spaced = match flow.contract.spacing {
            Spacing::Cells => true,
            Spacing::Frames => !flow.traffic.uses_tcp(),
            Spacing::None => false,
        };
        let peak = flow.contract.peak_rate(link.rate).0 as f64 / 424.0;
        let is_shaped = flow.contract.pcr.is_some() && is_spaced && flow.contract.category != Category::Abr;
        if is_shaped && sent[index] > peak * duration + 2.0 {
            let detail =
                format!("flow \"{}\": {} cells in {duration} s at {peak} cells/s", flow.name, sent[index]);
            failures.push(Failure::new("a VC sends faster than its peak rate", detail));
        }
        let allowed =
            result.series.iter().find(|series| series.entity == flow.name && series.metric == "acr");
        let line = link.slowest().0 as f64 / 424.0;
        if let Some(rate) =
            allowed.and_then(|series| series.values.iter().find(|&&rate| rate > line * NEARLY))
        {
            let detail = format!("flow \"{}\": {rate} of {line} cells/s", flow.name);
            failures.push(Failure::new("an ABR source is allowed more than its line", detail));
        }
    }
    failures
}

/// Whether anything in a scenario is drawn at random.
pub(crate) fn is_random(scenario: &Scenario, graph: &Graph) -> bool {
    let spec = scenario.spec();
    let of_flow = |flow: &Flow| {
        let traffic = match &*flow.traffic {
            Traffic::Poisson(_) | Traffic::Mmpp(_) | Traffic::LongRange(_) => true,
            Traffic::Bernoulli(form) => form.probability < 1.0,
            Traffic::OnOff(form) => form.distribution != Distribution::Fixed,
            Traffic::Cbr(_) | Traffic::Trace(_) => false,
            Traffic::ShortFlows(form) => form.trace.is_empty(),
            Traffic::RequestResponse(form) => {
                let varies = |size: &FlowSize| !matches!(size, FlowSize::Fixed(_));
                let pauses = [form.service_distribution, form.think_distribution];
                let pauses = pauses.iter().any(|&pause| pause != Distribution::Fixed);
                varies(&form.request) || varies(&form.response) || pauses
            }
            Traffic::Greedy(_) | Traffic::Finite(_) | Traffic::Bursty(_) => false,
        };
        let tcp = flow.tcp.processing_spread > 0 || flow.tcp.congestion_control == CongestionKind::Bbr;
        let ways = flow.sprayed.iter().any(|ways| !ways.is_empty());
        traffic || ways || (flow.traffic.uses_tcp() && tcp) || flow.start.from != flow.start.to
    };
    // The policies that draw are told by their parameters: a probability or a weight of chance.
    let draws = |params: &DiscardParams| ["red", "dfba", "pie", "cobalt"].contains(&params.policy.name());
    spec.tie_break == TieBreak::Random
        || spec.link.rate_spread > Tolerance(0)
        || (spec.host.ip_rate.is_some() && spec.host.ip_spread > 0.0)
        || graph.flows.iter().any(of_flow)
        || graph.links.iter().any(|link| {
            let in_switch = graph.nodes[link.from].kind == NodeKind::Switch;
            let by_chance = link.loss > 0.0 || link.burst_loss.is_some() || link.reorder.is_some();
            by_chance || (in_switch && draws(&link.discard))
        })
}

/// Where two runs differ. Series count where both have them.
pub(crate) fn differences(what: &str, usual: &RunResult, other: &RunResult) -> Vec<Failure> {
    if usual.fingerprint != other.fingerprint {
        let detail = format!("{:x} and {:x}", usual.fingerprint, other.fingerprint);
        return vec![Failure::new(format!("{what}: fingerprint"), detail)];
    }
    let mut failures = Vec::new();
    for (name, one, two) in [("flows", &usual.flows, &other.flows), ("ports", &usual.ports, &other.ports)] {
        for (one, two) in one.columns().iter().zip(two.columns()) {
            if one.2 != two.2 {
                let detail = unlike_rows(&one.2, &two.2);
                failures.push(Failure::new(format!("{what}: {name}.{}", one.0), detail));
            }
        }
    }
    if usual.cell_hops != other.cell_hops {
        let detail = format!("{} and {}", usual.cell_hops, other.cell_hops);
        failures.push(Failure::new(format!("{what}: cell-hops"), detail));
    }
    if failures.is_empty() {
        for (one, two) in usual.summary.iter().zip(&other.summary) {
            if one.value.to_bits() != two.value.to_bits() {
                let detail = format!("{} and {}", one.value, two.value);
                failures.push(Failure::new(format!("{what}: summary.{}", one.name), detail));
            }
        }
        for one in &usual.series {
            let two = other.series.iter().find(|two| (&two.entity, two.metric) == (&one.entity, one.metric));
            if two.is_some_and(|two| format!("{:?}", two.values) != format!("{:?}", one.values)) {
                let kind = format!("{what}: series {}", one.metric);
                failures.push(Failure::new(kind, format!("of {}", one.entity)));
            }
        }
    }
    failures
}

/// The first rows of two columns that are unlike.
pub(crate) fn unlike_rows(one: &Column, two: &Column) -> String {
    let rows = |column: &Column| -> Vec<String> {
        match column {
            Column::Text(values) => values.iter().map(str::to_owned).collect(),
            Column::Count(values) => values.iter().map(u64::to_string).collect(),
            Column::Number(values) => values.iter().map(f64::to_string).collect(),
        }
    };
    let (one, two) = (rows(one), rows(two));
    let rows = one.iter().zip(&two).enumerate().filter(|(_, (one, two))| one != two);
    rows.take(3).map(|(row, (one, two))| format!("row {row}: {one} and {two}")).collect::<Vec<_>>().join("; ")
}
