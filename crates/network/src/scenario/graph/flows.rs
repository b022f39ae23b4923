//! Flows: those that the topology makes and those of `[[flow]]`, with their routes.

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc};

use celltrain_atm::contract::{Category, Contract, Policing};
use celltrain_engine::{quantity::BitRate, random::Randomness};
use celltrain_tcp::Params;

use super::{
    super::{
        error::Problem,
        spec::{Framing, Multipath, NodeKind, Routing, ShortFlows, Spec, Trace, Traffic},
    },
    abr, clocks,
    drafts::{Draft, drafts},
    limits::{MAX_ACTIVE, MAX_RECORDED, MAX_ROUTE_LINKS, MAX_SHORT_FLOWS, MAX_WAYS},
    link::Link,
    nodes::{Names, Node, find},
    outline::{Outline, OutlineFlow},
    parts::{Flow, Way},
    poll::{Poll, Stop},
    progress,
    route::Router,
    settings::Settings,
};

/// The flows of a network, in the order of the topology and then of `[[flow]]`.
pub(super) fn flows(
    spec: &Spec,
    outline: &mut Outline,
    names: &Names,
    links: &[Link],
    poll: &mut Poll<'_>,
) -> Result<Vec<Flow>, Stop> {
    let drafts = drafts(spec, &mut outline.flows, names)?;
    poll.after(drafts.len())?;
    let routers = routers(&outline.nodes, links, poll)?;
    let circuits = BTreeMap::new();
    let (nodes, arriving) = (&outline.nodes, 0.0);
    let (traffic, contracts) = (Shared(None), Shared(None));
    Builder {
        spec,
        nodes,
        links,
        names,
        routers,
        route_links: 0,
        circuits,
        arriving,
        active: 0,
        recorded: 0,
        traffic,
        contracts,
    }
    .flows(drafts, poll)
}

/// What finds the ways of flows: first within the links of either framing, if there are links of both, then among all.
fn routers<'a>(
    nodes: &'a [Node],
    links: &'a [Link],
    poll: &mut Poll<'_>,
) -> Result<Vec<(Option<Framing>, Router<'a>)>, Stop> {
    let [cells, packets] = [Framing::Cells, Framing::Packets];
    let mixed = [cells, packets].iter().all(|framing| links.iter().any(|link| link.framing == *framing));
    let framings = if mixed { &[Some(cells), Some(packets), None][..] } else { &[None] };
    framings.iter().map(|&framing| Ok((framing, Router::new(nodes, links, framing, poll)?))).collect()
}

/// Checks that packets of a flow whose sizes differ travel whole; `table` is that of its traffic.
fn check_sizes(table: &str, name: &str, traffic: &Traffic, framing: Framing) -> Result<(), Problem> {
    if framing == Framing::Packets || !traffic.varies_packets() {
        return Ok(());
    }
    let message = format!(
        "packets whose sizes differ take links of packets, and those of flow \"{name}\" carry cells: give link.framing = \"packets\", or leave \
         this out"
    );
    Err(Problem::new(format!("{table}.packet-distribution"), message))
}

/// Whether links of this framing carry what a flow sends, under its contract.
fn suits(framing: Framing, traffic: &Traffic, contract: &Contract) -> bool {
    match framing {
        Framing::Cells => !traffic.varies_packets(),
        Framing::Packets => {
            let of_cells = contract.category == Category::Abr || contract.policing != Policing::None;
            !of_cells && (traffic.uses_tcp() || traffic.packet().is_some())
        }
    }
}

/// Whose ways are looked for.
struct Search<'a> {
    /// The key and the name of the flow.
    key: &'a str,
    name: &'a str,
    ends: [usize; 2],
    /// The nodes of a route that is written out.
    given: Option<&'a [String]>,
    /// Whether something goes back.
    goes_back: bool,
}

/// Turns drafts into flows.
struct Builder<'a> {
    spec: &'a Spec,
    nodes: &'a [Node],
    links: &'a [Link],
    names: &'a Names,
    routers: Vec<(Option<Framing>, Router<'a>)>,
    /// Links on the routes so far.
    route_links: usize,
    /// The flows that set up VCs with a name.
    circuits: BTreeMap<String, usize>,
    /// Short flows that will arrive, about, and that may be under way at once.
    arriving: f64,
    active: u64,
    /// Recorded times of the flows so far.
    recorded: usize,
    traffic: Shared<'a, Traffic>,
    contracts: Shared<'a, Contract>,
}

/// What flows one after the other have in common, where the same entry of the scenario says it.
struct Shared<'a, T>(Option<(&'a T, Arc<T>)>);

impl<'a, T: Clone> Shared<'a, T> {
    fn share(&mut self, value: &'a T) -> Arc<T> {
        if let Some((last, shared)) = &self.0
            && std::ptr::eq(*last, value)
        {
            return Arc::clone(shared);
        }
        let shared = Arc::new(value.clone());
        self.0 = Some((value, Arc::clone(&shared)));
        shared
    }
}

impl Builder<'_> {
    fn flows(mut self, drafts: Vec<Draft>, poll: &mut Poll<'_>) -> Result<Vec<Flow>, Stop> {
        let tcp = Arc::new(resolve("tcp", &self.spec.tcp)?);
        let mut flows = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let searched = self.searched();
            let flow = self.flow(draft, &tcp, &flows)?;
            let hops: usize = flow.hops().map(Iterator::count).iter().sum();
            poll.after(hops + self.searched() - searched)?;
            flows.push(flow);
        }
        Ok(flows)
    }

    /// Links looked at so far in searches for ways.
    fn searched(&self) -> usize {
        self.routers.iter().map(|(_, router)| router.searched()).sum()
    }

    /// Checks the contract of the flow `name`, which stands at `key`, against the first link on its way. Returns the rate of that link by the
    /// slowest clock that it may have.
    fn check_contract(
        &self,
        key: &str,
        name: &str,
        contract: &Contract,
        first: &Link,
    ) -> Result<BitRate, Problem> {
        let exact = first.slowest();
        let line = clocks::slowest(exact, self.spec.link.rate_spread);
        contract.check(line).map_err(|error| {
            let message = clocks::blamed(error.message, contract.check(exact).is_ok());
            Problem::new(format!("{key}.{}", error.key), message)
        })?;
        if contract.policing == Policing::None {
            return Ok(line);
        }
        let refused = |message: String| Err(Problem::new(format!("{key}.policing"), message));
        if contract.pcr.is_none() && first.changes_rate() {
            return refused(format!(
                "the first link of flow \"{name}\" changes its rate, so that it is no peak rate for a policer: give `pcr`"
            ));
        }
        if first.framing == Framing::Packets {
            return refused(format!(
                "a policer measures cells, and the first link of flow \"{name}\" carries packets: leave policing out, or give it cells"
            ));
        }
        Ok(line)
    }

    /// The flow after `flows`.
    fn flow(&mut self, draft: Draft, tcp: &Arc<Params>, flows: &[Flow]) -> Result<Flow, Problem> {
        let Draft { flow: OutlineFlow { name, group, from, to, circuit, common, trace }, entry } = draft;
        let settings = Settings::new(self.spec, entry, common);
        let key = settings.key();
        self.check_ends(&key, from, to)?;
        let (table, traffic) = settings.traffic();
        let traffic = if trace.is_empty() {
            self.traffic.share(traffic)
        } else {
            Arc::new(Traffic::ShortFlows(ShortFlows::of_trace(trace)))
        };
        let (start, stop) = settings.times(&traffic)?;
        let own = settings.tcp().map(|(key, stack)| resolve(&key, stack)).transpose()?;
        let tcp = own.map_or_else(|| Arc::clone(tcp), Arc::new);
        let given = settings.entry().and_then(|entry| entry.route.as_ref()).map(Vec::as_slice);
        let (contract_key, contract) = settings.contract();
        let (abr_key, params) = settings.abr();
        let abr = (contract.category == Category::Abr).then(|| Arc::new(params.clone()));
        let goes_back = traffic.uses_tcp() || abr.is_some();
        let search = Search { key: &key, name: &name, ends: [from, to], given, goes_back };
        let [there, back] = self.both_ways(&search, |framing| suits(framing, &traffic, contract))?;
        let route = there[0].route.clone();
        self.check_framing(&key, &name, &traffic, there.iter().chain(&back))?;
        let first = &self.links[route[0]];
        check_sizes(&table, &name, &traffic, first.framing)?;
        progress::check_source(&table, &traffic, first.fastest())?;
        if let Traffic::ShortFlows(form) = &*traffic {
            self.count_short_flows(&table, form, &route)?;
        }
        if let Traffic::Trace(trace) = &*traffic {
            self.count_recorded(&table, trace)?;
        }
        self.route_links += there.iter().chain(&back).map(|way| way.route.len()).sum::<usize>();
        if self.route_links > MAX_ROUTE_LINKS {
            let message = format!("the routes of all flows together pass more than {MAX_ROUTE_LINKS} links");
            return Err(Problem::new("topology", message));
        }
        let line = self.check_contract(&contract_key, &name, contract, first)?;
        let contract = self.contracts.share(contract);
        let sprayed = (there.len() > 1 || back.len() > 1).then(|| {
            let several = |ways: &Vec<Way>| if ways.len() > 1 { ways.clone() } else { Vec::new() };
            Box::new([several(&there), several(&back)])
        });
        let back = back.into_iter().next().map(|way| way.route).unwrap_or_default();
        let mut flow = Flow {
            name,
            group,
            made_by: common.and_then(|index| NonZeroU32::new(index as u32 + 1)),
            from,
            to,
            route,
            back,
            sprayed,
            traffic,
            tcp,
            start,
            stop,
            contract,
            abr,
            circuit: flows.len(),
        };
        abr::check_flow([&key, &contract_key, &abr_key], &flow, self.links, line)?;
        if let Some(circuit) = circuit {
            // A topology of pairs lays its flows into one VC; their own entries may choose another one.
            let key = if key == "topology" { "topology.flows".to_owned() } else { format!("{key}.circuit") };
            flow.circuit = self.circuit(&key, &circuit, &flow, flows)?;
        }
        Ok(flow)
    }

    /// Checks that a flow joins two different hosts.
    fn check_ends(&self, key: &str, from: usize, to: usize) -> Result<(), Problem> {
        for (end, node) in [("from", from), ("to", to)] {
            if self.nodes[node].kind != NodeKind::Host {
                let message =
                    format!("\"{}\" is a switch: flows begin and end at hosts", self.nodes[node].name);
                return Err(Problem::new(format!("{key}.{end}"), message));
            }
        }
        if from == to {
            return Err(Problem::new(format!("{key}.to"), "a flow joins two different hosts"));
        }
        Ok(())
    }

    /// Checks that all short flows together are no more than a run can keep.
    fn count_short_flows(&mut self, table: &str, form: &ShortFlows, route: &[usize]) -> Result<(), Problem> {
        let links = self.links;
        let slowest = route.iter().map(|&link| links[link].rate).min().unwrap_or(links[route[0]].rate);
        let interval = form.interval(slowest);
        self.arriving +=
            interval.map_or(form.trace.len() as f64, |time| self.spec.duration.ps() as f64 / time);
        self.active += u64::from(form.most_at_once());
        if self.arriving > MAX_SHORT_FLOWS as f64 {
            let message = format!(
                "about {:.0} short flows arrive in a run, and {MAX_SHORT_FLOWS} are the most: shorten the run, or let them come less often",
                self.arriving
            );
            let key = ["load", "every", "trace"]
                [usize::from(form.load.is_none()) + usize::from(interval.is_none())];
            return Err(Problem::new(format!("{table}.{key}"), message));
        }
        if self.active > MAX_ACTIVE {
            let message = format!(
                "more than {MAX_ACTIVE} short flows may be under way at once, over all flows, of which this one allows {}: set a smaller \
                 number, or fewer flows",
                form.most_at_once()
            );
            return Err(Problem::new(format!("{table}.most-active"), message));
        }
        Ok(())
    }

    /// Counts the recorded times of a flow: every flow keeps its own.
    fn count_recorded(&mut self, table: &str, trace: &Trace) -> Result<(), Problem> {
        self.recorded += trace.len();
        if self.recorded <= MAX_RECORDED {
            return Ok(());
        }
        let message = format!(
            "the flows have more than {MAX_RECORDED} recorded times together: give fewer of them a trace, or shorter ones"
        );
        let field = if trace.times.is_empty() { "gaps" } else { "times" };
        Err(Problem::new(format!("{table}.{field}"), message))
    }

    /// The flow that set up the VC called `name`; `flow` itself if it is the first to use it.
    fn circuit(&mut self, key: &str, name: &str, flow: &Flow, flows: &[Flow]) -> Result<usize, Problem> {
        let first = *self.circuits.entry(name.to_owned()).or_insert(flows.len());
        let Some(other) = flows.get(first) else { return Ok(first) };
        let same = (&other.route, &other.back, &other.sprayed, &other.contract, &other.abr)
            == (&flow.route, &flow.back, &flow.sprayed, &flow.contract, &flow.abr);
        if !same || !flow.traffic.uses_tcp() || !other.traffic.uses_tcp() {
            let instead = if key == "topology.flows" {
                "write topology.flows = 1"
            } else {
                "give each a circuit of its own"
            };
            let message = format!(
                "flows \"{}\" and \"{}\" cannot share a VC: both must carry TCP between the same hosts, on the same way and under the same contract; {instead}",
                other.name, flow.name
            );
            return Err(Problem::new(key, message));
        }
        Ok(first)
    }

    /// Checks that a flow's links all carry the same, and what its traffic and its ways need.
    fn check_framing<'w>(
        &self,
        key: &str,
        name: &str,
        traffic: &Traffic,
        ways: impl Iterator<Item = &'w Way> + Clone,
    ) -> Result<(), Problem> {
        let links = self.links;
        let mut passed = ways.clone().flat_map(|way| way.route.iter().copied());
        let first = passed.next().expect("a way has a link");
        let framing = links[first].framing;
        if let Some(other) = passed.find(|&link| links[link].framing != framing) {
            let place = |link: usize| {
                format!("{} > {}", self.nodes[links[link].from].name, self.nodes[links[link].to].name)
            };
            let (packets, cells) = if framing == Framing::Packets { (first, other) } else { (other, first) };
            let message = format!(
                "flow \"{name}\" would change its framing on the way: \"{}\" carries cells, \"{}\" packets",
                place(cells),
                place(packets)
            );
            return Err(Problem::new(key, message));
        }
        if framing == Framing::Cells && ways.map(|way| way.share).any(|share| share < 1.0) {
            let message = format!(
                "the cells of a VC stay in order on every ATM link (ITU-T I.150), and flow \"{name}\" has several ways of cells: give \"flow\", or give link.framing = \"packets\""
            );
            return Err(Problem::new("routing.multipath", message));
        }
        if framing == Framing::Packets && !traffic.uses_tcp() && traffic.packet().is_none() {
            let message = format!(
                "flow \"{name}\" sends bare cells, which a packet-framed link does not carry: give its traffic packets, as in packet = \"1500 B\""
            );
            return Err(Problem::new(key, message));
        }
        Ok(())
    }

    /// The ways of a flow there and back. Where some links carry cells and others packets, they lead over links of one framing, that which
    /// `suits` the flow if it can be; of two, over those whose way has fewer links. If neither leads there, what is said is what is wrong with
    /// a way over all.
    fn both_ways(
        &mut self,
        search: &Search<'_>,
        suits: impl Fn(Framing) -> bool,
    ) -> Result<[Vec<Way>; 2], Problem> {
        let all = self.routers.len() - 1;
        let found = (0..all).filter_map(|number| Some((number, self.ways_over(number, search).ok()?)));
        let found: Vec<_> = found.collect();
        let order = |(number, [there, _]): &(usize, [Vec<Way>; 2])| {
            let route = &there[0].route;
            let suits = self.routers[*number].0.is_some_and(&suits);
            (!suits, route.len(), route.first().copied(), route.last().copied())
        };
        match found.into_iter().min_by_key(order) {
            Some((_, ways)) => Ok(ways),
            None => self.ways_over(all, search),
        }
    }

    /// As [`Builder::both_ways`], over the links of the router of this number.
    fn ways_over(&mut self, number: usize, search: &Search<'_>) -> Result<[Vec<Way>; 2], Problem> {
        let &Search { ends: [from, to], given, goes_back, .. } = search;
        let there = match given {
            Some(names) => vec![self.explicit_route(number, search, names)?.into()],
            None => self.ways(number, search, [from, to])?,
        };
        let back = match there.len() {
            _ if !goes_back => Vec::new(),
            1 => vec![self.way_back(number, search, &there[0].route)?.into()],
            _ => self.ways(number, search, [to, from])?,
        };
        Ok([there, back])
    }

    /// The links of a route that is written out.
    fn explicit_route(
        &self,
        number: usize,
        search: &Search<'_>,
        names: &[String],
    ) -> Result<Vec<usize>, Problem> {
        let &Search { key, ends: [from, to], .. } = search;
        let at = |place: usize| format!("{key}.route.{place}");
        let mut nodes = Vec::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            nodes.push(find(self.names, || at(place), name)?);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
            let message = format!("expected a route from \"{from}\" to \"{to}\", both included");
            return Err(Problem::new(format!("{key}.route"), message));
        }
        let mut seen = BTreeMap::new();
        for (place, &node) in nodes.iter().enumerate() {
            let name = &self.nodes[node].name;
            if let Some(before) = seen.insert(node, place) {
                let message = format!("the route is a loop: \"{name}\" is also its element {before}");
                return Err(Problem::new(at(place), message));
            }
            if self.nodes[node].kind == NodeKind::Host && place > 0 && place + 1 < nodes.len() {
                return Err(Problem::new(at(place), format!("\"{name}\" is a host: it passes nothing on")));
            }
        }
        let step = |(place, pair): (usize, &[usize])| {
            self.routers[number].1.link(pair[0], pair[1]).ok_or_else(|| {
                let (from, to) = (&self.nodes[pair[0]].name, &self.nodes[pair[1]].name);
                Problem::new(at(place + 1), format!("there is no link from \"{from}\" to \"{to}\""))
            })
        };
        nodes.windows(2).enumerate().map(step).collect()
    }

    /// The way of the ACKs: that of the data in the other direction where its links are duplex.
    fn way_back(
        &mut self,
        number: usize,
        search: &Search<'_>,
        route: &[usize],
    ) -> Result<Vec<usize>, Problem> {
        let (router, [from, to]) = (&mut self.routers[number].1, search.ends);
        let back = router.reverse(route).or_else(|| router.shortest(to, from));
        back.ok_or_else(|| self.unreachable(search, [to, from]))
    }

    /// The ways of a flow: a shortest one, or all of them if packets are sprayed.
    fn ways(
        &mut self,
        number: usize,
        search: &Search<'_>,
        [from, to]: [usize; 2],
    ) -> Result<Vec<Way>, Problem> {
        let Routing { weights, .. } = self.spec.routing;
        let (router, name) = (&mut self.routers[number].1, search.name);
        let ways = match self.spec.routing.in_force(&self.spec.topology) {
            Multipath::None => router.shortest(from, to).map(|route| vec![route.into()]),
            Multipath::Flow => {
                // The same in every replication, and under every seed: the hash of a switch does not change.
                let mut choice = Randomness { seed: 0, replication: 0 }.named(&format!("way of flow {name}"));
                let route = router.one_of_shortest(from, to, weights, &mut choice);
                route.map(|route| vec![route.into()])
            }
            Multipath::Packet => router.all_shortest(from, to, weights, MAX_WAYS),
        };
        let ways = ways.ok_or_else(|| self.unreachable(search, [from, to]))?;
        if ways.len() > MAX_WAYS {
            let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
            let message = format!(
                "there are more than {MAX_WAYS} shortest ways from \"{from}\" to \"{to}\", and packets are sprayed over no more: give \"flow\", or a smaller network"
            );
            return Err(Problem::new("routing.multipath", message));
        }
        Ok(ways)
    }

    fn unreachable(&self, &Search { key, name, .. }: &Search<'_>, [from, to]: [usize; 2]) -> Problem {
        let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
        Problem::new(key, format!("flow \"{name}\" dangles: \"{to}\" cannot be reached from \"{from}\""))
    }
}

fn resolve(key: &str, stack: &celltrain_tcp::StackSpec) -> Result<Params, Problem> {
    stack.resolve().map_err(|error| Problem::new(format!("{key}.{}", error.key), error.message))
}
