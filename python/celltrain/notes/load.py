"""What flows may send, and the links that those which do not respond to losses offer more than they carry."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from celltrain import _core, quantities
from celltrain.notes.framing import Link, links, packet_of, segment_of
from celltrain.notes.tables import (
    CATEGORIES,
    FOR_ALL,
    FlowTables,
    Settings,
    discipline_of_port,
    each,
    first_table,
    flow_names,
    flow_tables,
    group_tables,
    link_tables,
    named,
    picoseconds,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario
from celltrain.text import counted, quantity

__all__ = ["Load", "Offer", "Vc", "active_time", "amount", "offers", "overloaded", "rate_keys", "vcs_of"]

UNRESPONSIVE = {
    "cbr": "rate",
    "poisson": "rate",
    "bernoulli": "peak",
    "on-off": "peak",
    "long-range": "rate.mean",
    "mmpp": "states",
}
"""Kinds of traffic without TCP whose mean rates the scenario tells, and the keys of these."""

LITTLE = 1e-3
"""The part of a rate by which more is too little to show, or a matter of rounding."""

NEARLY = 0.9
"""The part of a link that, if it is offered, may leave too little for others."""

MOST_KEYS = 3
"""Keys of rates that a sentence names at most."""


class Load(NamedTuple):
    """What a flow may send on average."""

    rate: float
    """Bits per second, of packets or of cells; infinity for what the network alone limits."""
    octets: float
    """Those of a packet; 0 where the rate is that of the cells."""
    is_unresponsive: bool = False
    """Whether losses do not change it."""


class Vc(NamedTuple):
    """A VC: bits per second on a link."""

    category: str
    promised: float
    loads: tuple[Load, ...]
    """What its flows may send."""
    peak: float

    def takes(self, link: Link) -> float:
        """What it may take of a link on average."""
        return min(sum(one.rate * link.bits_per_bit(one.octets) for one in self.loads), self.peak)

    def forces(self, link: Link) -> float:
        """What it takes whatever is lost; only flows of TCP share a VC."""
        is_forced = self.category != "abr" and any(one.is_unresponsive for one in self.loads)
        return self.takes(link) if is_forced else 0.0


class Offer(NamedTuple):
    """What sources that do not respond to losses offer a link, on average: bits per second."""

    port: str
    flows: Mapping[str, float]
    """What reaches it of each."""
    rate: float
    """That of the link; the highest where it changes."""
    is_host: bool

    @property
    def offered(self) -> float:
        """All of it."""
        return sum(self.flows.values())

    @property
    def is_too_much(self) -> bool:
        """Whether the link cannot carry it."""
        return self.offered > self.rate * (1 + LITTLE)


def overloaded(scenario: Scenario) -> Iterator[str]:
    """A sentence if sources that do not respond to losses offer a link more than it carries."""
    found = [offer for offer in offers(scenario).values() if offer.is_too_much]
    if not found:
        return
    worst = max(found, key=lambda offer: offer.offered / offer.rate)
    others = f"; the same holds for {counted(len(found) - 1, 'more port')}" if len(found) > 1 else ""
    fate = "waits in the host, whose queue has no limit" if worst.is_host else "is lost or waits"
    yield (
        f"{named([*worst.flows], 'flow')} {'does' if len(worst.flows) == 1 else 'do'} not respond to losses "
        f"and {'offers' if len(worst.flows) == 1 else 'offer'} {quantity(worst.offered, 'bit/s')} on average "
        f'to port "{worst.port}", whose link carries {quantity(worst.rate, "bit/s")}: the rest {fate}, '
        f"whatever the buffer{others}; if that is not intended, set lower rates "
        f"({', '.join(rate_keys(scenario, worst.flows))}), or a faster link"
    )


def rate_keys(scenario: Scenario, flows: Mapping[str, float]) -> list[str]:
    """The keys of the rates of some flows that do not respond to losses, those that send most first."""
    settings = scenario.to_dict()
    groups = group_tables(scenario, settings)
    own = {
        name: (f"flow.{n}", one) for n, one in enumerate(each(settings, "flow")) for name in flow_names(one)
    }
    found: dict[str, None] = {}
    for flow in sorted(flows, key=lambda name: -flows[name]):
        places = [own.get(flow), groups.get(flow), ("", settings)]
        place, table = next(one for one in places if one is not None and "traffic" in one[1])
        key = UNRESPONSIVE.get(str(table_of(table, "traffic").get("kind")))
        if key is not None:
            found[".".join(filter(None, (place, "traffic", key)))] = None
    keys = [*found]
    return [*keys[:MOST_KEYS], *(["and others"] if len(keys) > MOST_KEYS else [])]


def offers(scenario: Scenario) -> dict[str, Offer]:
    """What sources that do not respond to losses offer each link that they reach.

    It is a lower bound. Behind a link that is offered more than it carries, what is left of a flow is only
    known where the flow has that link for itself, and behind one that others divide with it only where these
    lose as it does; elsewhere it counts as nothing.
    """
    settings = scenario.resolved()
    every_table = (settings, *each(settings, "group"), *each(settings, "flow"))
    if not any(table_of(one, "traffic").get("kind") in UNRESPONSIVE for one in every_table):
        return {}  # before many flows are looked at
    vcs = vcs_of(scenario, settings)
    forced = {name: vc for name, vc in vcs.items() if any(one.is_unresponsive for one in vc.loads)}
    ways = _ways(scenario, forced)
    every = links(scenario)
    sent = _shares_of_time(scenario, settings, vcs)
    first: dict[str, dict[str, float]] = {}
    for name, vc in forced.items():
        for port, share in ways[name]:
            first.setdefault(port, {})[name] = share * sent[name] * vc.forces(every[port])
    rates = {port: every[port].fastest for port in first}
    is_any_full = any(sum(flows.values()) > NEARLY * rates[port] for port, flows in first.items())
    yielding = _yielding(scenario, settings, vcs, first) if is_any_full else set()
    crossed = _Crossed(first, rates, _kept(settings), yielding)
    found = {}
    for port, flows in first.items():
        reach = {name: rate * crossed.reaching(port, name, ways[name]) for name, rate in flows.items()}
        some = {name: rate for name, rate in reach.items() if rate > 0}
        if some:
            found[port] = Offer(port, some, rates[port], every[port].is_host)
    return found


class _Crossed(NamedTuple):
    """What flows would offer each port that they cross if nothing were lost before it: bits per second."""

    offered: Mapping[str, Mapping[str, float]]
    rates: Mapping[str, float]
    on_links: float
    """The part of what a link carries that is not lost on it, at least."""
    yielding: Collection[tuple[str, str]]
    """Ports and flows that may lose there more than their part."""

    def reaching(self, port: str, flow: str, way: Sequence[tuple[str, float]]) -> float:
        """The part of what a flow sends that surely reaches a port on its way."""
        part = 1.0
        for before, _ in way:
            if before == port:
                return part
            part *= self.on_links
            flows = self.offered.get(before, {})
            if (before, flow) in self.yielding:
                return 0.0
            if sum(flows.values()) > self.rates.get(before, math.inf) * (1 + LITTLE):
                part = min(part, self.rates[before] / flows[flow]) if len(flows) == 1 else 0.0
        return part


def _ways(scenario: Scenario, names: Collection[str]) -> dict[str, Sequence[tuple[str, float]]]:
    """The ports that the data of some flows cross, with shares."""
    return dict(zip(names, (there for there, _ in scenario.core.ports_of([*names])), strict=True))


def _yielding(
    scenario: Scenario,
    settings: Settings,
    vcs: Mapping[str, Vc],
    forced: Mapping[str, Mapping[str, float]],
) -> set[tuple[str, str]]:
    """Ports of switches and flows that may lose there more than others that respond to losses.

    These are served before, or have queues of their own, or a policy tells flows apart.
    """
    others: dict[str, set[str]] = {}
    responsive = [name for name, vc in vcs.items() if not any(one.is_unresponsive for one in vc.loads)]
    for name, way in _ways(scenario, responsive).items():
        for port, _ in way:
            others.setdefault(port, set()).add(vcs[name].category)
    found = set()
    for one in json.loads(_core.ports(scenario.core)):
        port = str(one["name"])
        is_common = one["policy"] in FOR_ALL and discipline_of_port(settings, port) == "fifo"
        for flow in forced.get(port, ()) if port in others else ():
            before = CATEGORIES[: CATEGORIES.index(vcs[flow].category)]
            if not is_common or not others[port].isdisjoint(before):
                found.add((port, flow))
    return found


def _kept(settings: Settings) -> float:
    """The part of what a link carries that is not lost on it, at least."""
    every = [link for _, link in link_tables(settings)]
    if any(link.get("burst-loss") or link.get("dark") for link in every):
        return 0.0
    return 1 - max((float(link.get("loss") or 0.0) for link in every), default=0.0)


def _shares_of_time(scenario: Scenario, settings: Settings, vcs: Mapping[str, Vc]) -> dict[str, float]:
    """The part of the measured time for which each of some flows sends."""
    measured = scenario.duration - scenario.warm_up
    found = {}
    for name, tables in flow_tables(scenario, settings, vcs):
        begin, end = active_time(scenario, tables)
        found[name] = max(end - begin, 0.0) / measured if measured > 0 else 0.0
    return found


def active_time(scenario: Scenario, tables: FlowTables, delay: float = 0.0) -> tuple[float, float]:
    """From when to when a flow with such tables may send in the measured time, in seconds.

    A start that is drawn counts as its mean. With the `delay` of its path it is when that may arrive.
    """
    own, group, _ = tables
    places = (own, group, traffic_of(tables))
    start = next((one["start"] for one in places if one.get("start") is not None), "0 s")
    stop = next((one["stop"] for one in (own, group) if one.get("stop") is not None), None)
    ends = [picoseconds(one) / 1e12 for one in str(start).split("..")]
    end = scenario.duration if stop is None else min(picoseconds(stop) / 1e12 + delay, scenario.duration)
    return max(sum(ends) / len(ends) + delay, scenario.warm_up), end


def vcs_of(scenario: Scenario, settings: Settings) -> dict[str, Vc]:
    """The VCs, by the first flow on each, whose contract is that of all."""
    firsts: dict[object, str] = {}
    found: dict[str, Vc] = {}
    for name, tables in flow_tables(scenario, settings):
        own, load = tables[0], _load(tables)
        circuit = own.get("circuit")
        first = firsts.setdefault(
            name if circuit is None else (own.get("from"), own.get("to"), circuit), name
        )
        vc = found.get(first) or _vc(first_table(tables, "vc"), first_table(tables, "abr"))
        found[first] = vc._replace(loads=(*vc.loads, load))
    return found


def _vc(contract: Settings, abr: Settings) -> Vc:
    """A VC on which nothing is sent yet."""
    is_abr, policing = contract.get("category") == "abr", contract.get("policing")
    peaks = [abr.get("pcr")] if is_abr else []
    if contract.get("spacing") != "none" or policing != "none":
        peaks.append(contract.get("pcr"))
    if policing == "discard-cells":
        peaks.append(contract.get("scr"))
    if policing == "discard-frames":
        peaks.append(contract.get("mcr"))
    peak = min((amount(one) for one in peaks if one), default=math.inf)
    promised = amount(abr.get("mcr") if is_abr else contract.get("mcr"))
    return Vc(str(contract.get("category")), promised, (), peak)


def _load(tables: FlowTables) -> Load:
    """What a flow with such tables may send on average."""
    traffic = traffic_of(tables)
    rate, packet = _mean_rate(traffic), packet_of(tables)
    if traffic.get("kind") == "bursty":
        rate *= packet / segment_of(tables)  # with the headers
    return Load(rate, packet if math.isfinite(rate) else 0.0, traffic.get("kind") in UNRESPONSIVE)


def _mean_rate(traffic: Settings) -> float:
    """The mean rate of what a flow carries; 0 for what the scenario alone does not tell."""
    match traffic.get("kind"):
        case "greedy":
            return math.inf
        case "cbr" | "poisson":
            return amount(traffic.get("rate"))
        case "bernoulli":
            return amount(traffic.get("peak")) * float(traffic["probability"])
        case "on-off":
            on, off = (amount(traffic.get(key)) for key in ("on", "off"))
            return amount(traffic.get("peak")) * on / (on + off)
        case "long-range":
            return amount(table_of(traffic, "rate").get("mean"))
        case "mmpp":
            states = [(amount(one["rate"]), amount(one["mean-time"])) for one in each(traffic, "states")]
            return sum(rate * time for rate, time in states) / sum(time for _, time in states)
        case "bursty":
            return amount(traffic.get("bytes")) / amount(traffic.get("every"))
    return 0.0


def amount(value: object) -> float:
    """A rate or a time, or bytes as bits; 0 for what is none."""
    return quantities.amount(value) or 0.0
