//! What flows offer to the links on their ways.

use celltrain_atm::{
    aal5,
    cell::CELL_BITS,
    contract::{Contract, Policing},
    quantity::CellRate,
};
use celltrain_engine::{quantity::Duration, time::seconds};

use super::{
    super::spec::{Framing, Spec, Traffic},
    link::Link,
    parts::{Flow, Graph, ways},
};

/// What a flow sends in one direction in a run.
pub(super) struct Stream<'a> {
    /// Its number.
    pub(super) index: usize,
    pub(super) flow: &'a Flow,
    /// Whether it takes the way of the ACKs, as requests do.
    pub(super) back: bool,
    /// From when it sends, and until when its source has anything new.
    pub(super) from: Duration,
    pub(super) until: Duration,
    /// How many times it sends.
    pub(super) times: f64,
    /// What TCP sends each time, in bytes of payload; without TCP it is a cell or a packet.
    pub(super) bytes: f64,
}

impl<'a> Stream<'a> {
    fn route(&self) -> &'a [usize] {
        if self.back { &self.flow.back } else { &self.flow.route }
    }

    fn ways(&self) -> impl Iterator<Item = (&'a [usize], f64)> {
        ways(self.route(), self.flow.sprayed_ways()[usize::from(self.back)])
    }
}

/// How many times a source sends, and how many bytes of payload each time.
type Sent = (f64, f64);

/// What `bytes` of payload in segments, or a cell or a packet of a flow without TCP, are on a link, in bits.
fn bits(flow: &Flow, bytes: f64, link: &Link, aal5: &aal5::Params) -> f64 {
    let packet = |octets: u64| match link.framing {
        Framing::Cells => (aal5.cells(octets) * CELL_BITS) as f64,
        Framing::Packets => (8 * (octets + link.overhead.0)) as f64,
    };
    if !flow.traffic.uses_tcp() {
        return flow.traffic.packet().map_or(CELL_BITS as f64, |size| packet(size.0));
    }
    let (mss, headers) = (f64::from(flow.tcp.mss), flow.shortest_packet());
    let full = (bytes / mss).ceil().max(1.0) - 1.0;
    full * packet(flow.full_packet()) + packet((bytes - full * mss).ceil() as u64 + headers)
}

/// Leaves each stream a share of what it sends.
fn keep(streams: &mut [Stream<'_>], shares: Vec<f64>) {
    std::iter::zip(streams, shares).for_each(|(stream, share)| stream.times *= share);
}

/// The rate beyond which a policer discards what a VC sends.
fn policed(contract: &Contract) -> Option<CellRate> {
    let beside = match contract.policing {
        Policing::None => return None,
        Policing::Tag | Policing::TagCells => None,
        Policing::DiscardFrames => contract.mcr,
        Policing::DiscardCells => contract.scr,
    };
    [contract.pcr, beside].into_iter().flatten().min_by_key(|rate| rate.0)
}

impl Graph {
    /// The load that each link is offered: what the flows across it would send in a run if only their sources, their VCs' rates, policers and
    /// the rates of links before it held them back, over what it carries in that time.
    pub(crate) fn loads(&self, spec: &Spec) -> Vec<f64> {
        let mut loads = vec![0.0; self.links.len()];
        self.follow(spec, self.streams(spec), |_, link, bits| loads[link] += bits);
        std::iter::zip(loads, &self.links).map(|(bits, link)| bits / link.bits_until(spec.duration)).collect()
    }

    /// What each flow offers to its first link, in bit/s on the mean of a run.
    pub(crate) fn offered(&self, spec: &Spec) -> Vec<f64> {
        let mut offered = vec![0.0; self.flows.len()];
        self.follow(spec, self.streams(spec), |stream, link, bits| {
            if !stream.back && link == stream.route()[0] {
                offered[stream.index] += bits / seconds(spec.duration.ps());
            }
        });
        offered
    }

    /// Goes with `streams` along their ways and tells `tell` how many bits each offers to each link: no more than the links before this one
    /// carry, and at first no more than they carry, or the VC may, for all flows together.
    pub(super) fn follow<'a>(
        &self,
        spec: &Spec,
        mut streams: Vec<Stream<'a>>,
        mut tell: impl FnMut(&Stream<'a>, usize, f64),
    ) {
        // The VC back has no rate of its own.
        let vc = |stream: &Stream<'_>| stream.flow.circuit + if stream.back { self.flows.len() } else { 0 };
        let at_rate = |rate: Option<CellRate>, stream: &Stream<'_>, from: Duration, until: Duration| {
            let time = seconds(until.ps() - from.ps());
            let rate = rate.filter(|_| !stream.back);
            rate.map_or(f64::INFINITY, |CellRate(rate)| rate.0 as f64 * time)
        };
        let carried = |link: usize, from| {
            self.links[link].bits_until(spec.duration) - self.links[link].bits_until(from)
        };
        let vcs = 2 * self.flows.len();
        let shaped = self.shares(spec, &streams, vcs, vc, |stream, from, until| {
            // What waits in a shaper goes later; TCP does not give it more than a window.
            let until =
                if matches!(*stream.flow.traffic, Traffic::Greedy(_)) { until } else { spec.duration };
            at_rate(stream.flow.peak_rate(), stream, from, until)
        });
        keep(&mut streams, shaped);
        let line = |stream: &Stream<'_>| stream.route()[0];
        let links = self.links.len();
        let sent = self.shares(spec, &streams, links, line, |stream, from, _| carried(line(stream), from));
        keep(&mut streams, sent);
        let passed = self.shares(spec, &streams, vcs, vc, |stream, from, until| {
            at_rate(policed(&stream.flow.contract), stream, from, until)
        });
        for (stream, passed) in std::iter::zip(&streams, passed) {
            for (route, share) in stream.ways() {
                let mut times = stream.times * share;
                for (place, &link) in route.iter().enumerate() {
                    // The policer stands at the first switch.
                    times *= if place == 1 { passed } else { 1.0 };
                    let bits = bits(stream.flow, stream.bytes, &self.links[link], &spec.aal5);
                    tell(stream, link, times * bits);
                    times = times.min(carried(link, stream.from) / bits);
                }
            }
        }
    }

    /// The share of what each stream has for its first link that its group lets it send: `group` gives the number of the group, below `groups`,
    /// and `most` the bits that all in it may send together from a time to another.
    fn shares(
        &self,
        spec: &Spec,
        streams: &[Stream<'_>],
        groups: usize,
        group: impl Fn(&Stream<'_>) -> usize,
        most: impl Fn(&Stream<'_>, Duration, Duration) -> f64,
    ) -> Vec<f64> {
        let mut sums = vec![(0.0, spec.duration, Duration(0)); groups];
        for stream in streams {
            let (sum, from, until) = &mut sums[group(stream)];
            let first = &self.links[stream.route()[0]];
            *sum += stream.times * bits(stream.flow, stream.bytes, first, &spec.aal5);
            *from = stream.from.min(*from);
            *until = stream.until.max(*until);
        }
        let share = |stream: &Stream<'_>| {
            let (sum, from, until) = sums[group(stream)];
            if sum > 0.0 { (most(stream, from, until) / sum).min(1.0) } else { 1.0 }
        };
        streams.iter().map(share).collect()
    }

    /// What the sources of all flows have to send in a run.
    fn streams(&self, spec: &Spec) -> Vec<Stream<'_>> {
        let mut streams = Vec::with_capacity(self.flows.len());
        for (index, flow) in self.flows.iter().enumerate() {
            let (start, end) = (flow.start, flow.stop.unwrap_or(spec.duration).min(spec.duration));
            let from = Duration(start.from.0 + (start.to.0 - start.from.0) / 2).min(spec.duration);
            if from >= end {
                continue;
            }
            let (there, back) = self.demand(spec, flow, from, end);
            // What TCP has been given is still delivered.
            let stops = matches!(*flow.traffic, Traffic::Greedy(_)) || !flow.traffic.uses_tcp();
            let until = if stops { end } else { spec.duration };
            let stream = |back, (times, bytes)| Stream { index, flow, back, from, until, times, bytes };
            streams.push(stream(false, there));
            streams.extend(back.map(|back| stream(true, back)));
        }
        streams
    }

    /// How many times a source sends from a time to another, and how much TCP sends each time: there, and if it does so by itself, back. A TCP
    /// that always has data fills its first link.
    fn demand(&self, spec: &Spec, flow: &Flow, from: Duration, end: Duration) -> (Sent, Option<Sent>) {
        let time = Duration(end.0 - from.0);
        let period = seconds(time.ps());
        let first = &self.links[flow.route[0]];
        let there = match &*flow.traffic {
            Traffic::Greedy(_) => {
                let mss = f64::from(flow.tcp.mss);
                let carried = first.bits_until(end) - first.bits_until(from);
                (carried / bits(flow, mss, first, &spec.aal5), mss)
            }
            Traffic::Finite(form) => (1.0, form.bytes.0 as f64),
            Traffic::Bursty(form) => ((period / seconds(form.every.ps())).ceil(), form.bytes.0 as f64),
            Traffic::ShortFlows(form) => match form.interval(flow.slowest(&self.links)) {
                Some(interval) => {
                    (time.ps() as f64 / interval, form.size.as_ref().map_or(0.0, |size| size.mean()))
                }
                None => {
                    let come = form.trace.iter().take_while(|flow| flow.at < time);
                    let (count, bytes) = come
                        .fold((0.0, 0.0), |(count, bytes), flow| (count + 1.0, bytes + flow.bytes.0 as f64));
                    (count, if count > 0.0 { bytes / count } else { 0.0 })
                }
            },
            Traffic::RequestResponse(form) => {
                let (request, response) = (form.request.mean(), form.response.mean());
                let sent = |bytes, link: &Link| bits(flow, bytes, link, &spec.aal5) / link.rate.0 as f64;
                let path = flow.route.iter().chain(&flow.back).map(|&link| self.links[link].delay.ps()).sum();
                let waits = seconds(form.service.ps()) + seconds(form.think.ps()) + seconds(path);
                let cycle = waits + sent(response, first) + sent(request, &self.links[flow.back[0]]);
                return ((period / cycle, response), Some((period / cycle, request)));
            }
            traffic => {
                let rate = traffic.mean_rate(time).unwrap_or(0.0);
                (rate * period / traffic.unit_bits() as f64, 0.0)
            }
        };
        (there, None)
    }
}
