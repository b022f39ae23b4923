"""What holds flows up for most of the time, and what there is to do: sentences for notes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from celltrain import statistics
from celltrain.notes.settings import begin_at_once, dark_share, tables_of, undrawn_start
from celltrain.notes.tables import each, ends, flow_names, group_of
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit
from celltrain.text import listed

__all__ = ["BY_TIMEOUT", "BY_WINDOW", "FLOW", "MOST_OF_THE_TIME", "PORT", "Ports", "sentences"]

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""

ALWAYS = 0.99
"""The share of a time from which on a port transmits all the while."""

NEARLY_ALL = 0.9
"""The share of a link that leaves next to nothing."""

ROUNDING = 1e-9
"""How much less than 1 a sum of shares may be through rounding alone."""

MOST_NAMED = 3
"""Keys that a sentence names at most."""

BY_WINDOW = "limited_by_receive_window"
BY_TIMEOUT = "limited_by_timeout"

FLOW = (
    "flow",
    "source",
    "destination",
    "category",
    "circuit",
    "round_trip",
    "goodput",
    "cells_sent",
    "segments_sent",
    "acks_sent",
    BY_WINDOW,
    BY_TIMEOUT,
)
"""Columns of flows that tell what holds them up."""

PORT = (
    "port",
    "switch",
    "utilisation",
    "delay_mean",
    "cells_arrived",
    "cells_discarded",
    "discarded_non_conforming",
    "lost_random",
    "lost_scripted",
    "lost_burst",
    "lost_dark",
)
"""Columns of ports that tell where flows wait, and where they lose."""

CATEGORIES = ("cbr", "vbr", "abr", "gfr", "ubr")
"""Service categories in the order in which ports serve them."""

_WINDOW = "the receive window limits {flows} for most of the time"
_VAIN = "a larger window makes the queue there longer, and no flow faster"
_MEANT = "if that is not meant"

PLAIN = f"{_WINDOW}, not the network: set a larger tcp.receive-window {_MEANT}"
"""What is said of flows that the receive window limits, and nothing else."""

AT_HOST = (
    f"{_WINDOW}, and the interface of the sender transmits all the while: {_VAIN}; "
    f"set a higher {{key}} {_MEANT}"
)
AT_PORT = (
    f"{_WINDOW}, and {{port}} transmits all the while: {{where}}a larger tcp.receive-window gives "
    "longer queues and no more throughput in all"
)
AT_SHAPER = f"{_WINDOW}, and the host keeps their VCs at vc.pcr: {_VAIN}; set a higher vc.pcr {_MEANT}"
AT_ABR = (
    f"{_WINDOW}, and their ABR sources send no faster than the network and abr.pcr allow: {_VAIN}; "
    f"see the allowed rates (metric acr of a trace), and set another switch.allocator {_MEANT}"
)
AT_READER = (
    f"{_WINDOW}, and their applications read no faster than tcp.read-rate: a larger window holds more unread "
    f"data, and makes no flow faster; set a higher tcp.read-rate {_MEANT}"
)
AT_IP = f"{_WINDOW}, and IP of a host is busy all the time: {_VAIN}; set a higher host.ip-rate {_MEANT}"

_TIMER_OF_ALL = "the retransmission timer holds up {flows} for most of the time"
_TIMER_OF_SOME = "for most of the time the retransmission timer holds up {flows}"
"""Whom it holds up is said of all flows, or of those for which one cause holds."""

AT_ONCE = (
    ": where all begin at once, and lose what they send at once, spread their starts, as in "
    '{start} = "0 s .. 100 ms"'
)
"""What is said where starts that are not drawn may be the cause."""

IN_BUFFERS = (
    ": buffers discard more than fast retransmit repairs; set a larger {key}, a smaller "
    "tcp.mss, or fewer flows"
)
BY_POLICERS = (
    ": policers discard more than fast retransmit repairs; set a contract that holds what they "
    'send ({keys}), or vc.policing = "none"'
)
TOO_LONG = (
    ": policers cut every full frame, which is longer than vc.mfs; set a larger vc.mfs, or a smaller tcp.mss"
)
ON_LINKS = ": links lose more than fast retransmit repairs; set less of that ({keys}) " + _MEANT
LONG_TRIP = (
    ": it expires within a round trip, before the first ACK can arrive; set a larger "
    "tcp.rto-initial, or shorter delays of the links"
)
LATER = (
    ": {port} serves {categories} before {own} and leaves that next to nothing; set one vc.category "
    "for all, or a lower rate of what goes first (vc.pcr, traffic.rate)"
)
OTHER = ""
"""What is added where nothing tells why; of some flows nothing is said then."""

_FRAME_POLICERS = ("tag", "discard-frames")

_OF_CELLS = "vc.pcr, vc.scr, vc.mbs, vc.cdvt-pcr"
"""The keys of a contract by which cells are policed."""

_OF_FRAMES = "vc.pcr, vc.cdvt-pcr, vc.mcr, vc.mbs, vc.mfs"
"""And those by which frames are."""


class _Flow(NamedTuple):
    """A flow: means over the replications."""

    name: Any
    source: str
    destination: str
    category: str
    circuit: Any
    round_trip: float
    goodput: float
    cells: float
    segments: float
    acks: float
    by_window: float
    by_timeout: float


_KINDS_OF_LOSS: tuple[str, ...] = ("loss", "", "burst-loss", "dark")
"""The keys of links for what is lost at random, as `[[loss]]` says, in bursts, and in the dark."""


@dataclass(slots=True)
class _Port:
    """A port: its uses and mean delays in some replications, and what it loses in all."""

    is_host: bool
    shares: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    arrived: float = 0.0
    discarded: float = 0.0
    """By its buffer."""
    policed: float = 0.0
    on_link: list[float] = field(default_factory=lambda: [0.0] * len(_KINDS_OF_LOSS))
    """Behind it, by kinds."""

    @property
    def use(self) -> float:
        """The share of the time for which it transmits."""
        return statistics.mean(self.shares or [0.0])

    @property
    def delay(self) -> float:
        """The mean time from the arrival there to the end of the transmission."""
        return statistics.mean(self.delays or [0.0])


class Ports:
    """What the ports of a run say of its flows: rows of `PORT`, in any number of replications."""

    def __init__(self) -> None:
        self.known: dict[str, _Port] = {}

    @staticmethod
    def of(rows: Iterable[Sequence[Any]]) -> "Ports":
        """Those of rows."""
        found = Ports()
        for name, of_switch, share, delay, *counts in rows:
            port = found.known.setdefault(name, _Port(not of_switch))
            port.shares += _finite([share])
            port.delays += _finite([delay])
            arrived, discarded, policed, *lost = (one or 0 for one in counts)
            port.arrived += arrived
            port.discarded += discarded - policed
            port.policed += policed
            port.on_link = [before + one for before, one in zip(port.on_link, lost, strict=True)]
        return found

    def losses(self, names: Iterable[str]) -> tuple[float, float, list[float]]:
        """What buffers discard at some ports, what policers do, and what each kind of loss takes on links."""
        some = [self.known[name] for name in names]
        kinds = [sum(lost) for lost in zip(*(port.on_link for port in some), strict=True)]
        return sum(port.discarded for port in some), sum(port.policed for port in some), kinds


def sentences(
    flows: Iterable[Sequence[Any]], ports: Ports, bottleneck: str | None, scenario: Scenario | None
) -> dict[str, list[Any]]:
    """What is said of flows that wait for most of the time, with "{flows}" for their names.

    Args:
        flows: rows of `FLOW`, of any number of replications.
        ports: what the ports say.
        bottleneck: the port of the summary.
        scenario: what ran; None where it is not known.
    """
    every = _means(flows)
    by_window = [flow for flow in every if flow.by_window > MOST_OF_THE_TIME]
    by_timeout = [flow for flow in every if flow.by_timeout > MOST_OF_THE_TIME]
    if not by_window and not by_timeout:
        return {}
    known = None if scenario is None else _Known(scenario, every)
    network = _Network(ports, bottleneck, every, scenario)
    limits = {flow.name: limit for flow in by_window if (limit := _of_window(flow, network, known))}
    causes = {flow.name: _of_timer(flow, len(by_timeout), network, known) for flow in by_timeout}
    found = _gathered(limits, bottleneck)
    of_tcp = sum(not math.isnan(flow.by_timeout) for flow in every)
    for cause, names in _gathered(causes, bottleneck).items():
        if len(names) == of_tcp:
            found[_TIMER_OF_ALL + cause] = names
        elif cause != OTHER:
            found[_TIMER_OF_SOME + cause] = names
    return found


class _Said(NamedTuple):
    """What is said of a flow, with "{port}" for the port that it is about, if it is about one."""

    sentence: str
    port: str | None = None


def _gathered(said: Mapping[Any, _Said], bottleneck: str | None) -> dict[str, list[Any]]:
    """The flows of which the same is said; many ports are not named one by one."""
    others = {one.port for one in said.values()} - {None, bottleneck}
    found: dict[str, list[Any]] = {}
    for name, (sentence, port) in said.items():
        if port is None or port == bottleneck:
            whole = sentence.replace("{port}", "the bottleneck")
        elif len(others) > MOST_NAMED:
            whole = sentence.replace("{port}", "a port on the way of each")
        else:  # its braces are kept for the names of flows
            whole = sentence.replace("{port}", f'port "{port}"'.replace("{", "{{").replace("}", "}}"))
        found.setdefault(whole, []).append(name)
    return found


def _means(rows: Iterable[Sequence[Any]]) -> list[_Flow]:
    """The flows of rows; what a point of a sweep lacks is None."""
    flows: dict[Any, list[Sequence[Any]]] = {}
    for row in rows:
        flows.setdefault(row[0], []).append(row)
    found = []
    for name, some in flows.items():
        _, source, destination, category, circuit, *_ = some[0]
        columns = zip(*(row[5:] for row in some), strict=True)
        means = (statistics.mean(_finite(column) or [math.nan]) for column in columns)
        found.append(_Flow(name, source, destination, category, circuit, *means))
    return found


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _of_window(flow: _Flow, network: "_Network", known: "_Known | None") -> _Said | None:
    """What is said of a flow that the receive window limits; None where its window cannot be the cause."""
    if known is not None and flow.by_window - known.dark <= MOST_OF_THE_TIME:
        return None
    own, full = network.full_host(flow), network.full_ports(flow)
    if own is not None:
        key = _rate_to_raise(own, full, known)
        if key is not None:
            return _Said(AT_HOST.replace("{key}", key))
    limit = None if known is None else known.limit(flow)
    if limit is not None:
        return _Said(limit)
    for port, is_sure in full.items():
        return _Said(AT_PORT.replace("{where}", "" if is_sure else "where they cross it, "), port)
    return _Said(PLAIN) if known is None or known.is_plausible(flow) else None


def _rate_to_raise(own: str, full: Iterable[str], known: "_Known | None") -> str | None:
    """The key that says the rate of a sender's port and of the full ports on the way; None without one.

    Where a port on the way is full as well, a faster interface alone would gain nothing.
    """
    if known is None:
        return None if any(full) else "link.access.rate"
    keys = {known.rate_is_in(port) for port in full}
    if not keys:
        return known.rate_of(own)
    keys.add(known.rate_is_in(own))
    return keys.pop() if len(keys) == 1 else None


def _of_timer(flow: _Flow, held: int, network: "_Network", known: "_Known | None") -> _Said:
    """Why a flow waits for its timer; `held` flows do."""
    if known is not None and flow.round_trip > known.rto(flow):
        return _Said(LONG_TRIP)
    later = network.before(flow)
    if later is not None:
        port, sooner = later
        return _Said(LATER.replace("{own}", flow.category).replace("{categories}", listed(sooner)), port)
    crossed = network.crossed_both_ways(flow)
    discarded, policed, kinds = network.ports.losses(crossed)
    if known is not None and not known.is_policed(flow):
        policed = 0.0
    most = max(discarded, policed, sum(kinds))
    if most == 0:
        return _Said(OTHER)
    if most == sum(kinds):
        keys = ["link.loss, link.burst-loss, link.dark, [[loss]]"] if known is None else known.losing(kinds)
        return _Said(ON_LINKS.replace("{keys}", ", ".join(keys)))
    if most == policed:
        return _Said(BY_POLICERS.replace("{keys}", _OF_CELLS) if known is None else known.policed(flow))
    # Flows that are few among others do not wait because all began at once.
    every = len(network.flows)
    may_collide = every > 1 and 2 * held > every
    if known is None or (may_collide and known.at_once and not known.is_small):
        start = known.start if known is not None else None
        return _Said(AT_ONCE.replace("{start}", start or "traffic.start"))
    worst = max(crossed, key=lambda name: network.ports.known[name].discarded)
    return _Said(IN_BUFFERS.replace("{key}", known.buffer(worst)))


class _Network:
    """Which ports flows cross, and which of them are full."""

    def __init__(
        self, ports: Ports, bottleneck: str | None, flows: Sequence[_Flow], scenario: Scenario | None
    ) -> None:
        self.ports = ports
        self.bottleneck = bottleneck
        self.flows = flows
        self._scenario = scenario

    def crossed(self, flow: _Flow) -> Mapping[str, float]:
        """The ports that a flow's data may cross, each with the share of the flow's ways that do."""
        return self._ways[flow.name][0]

    def crossed_both_ways(self, flow: _Flow) -> Iterable[str]:
        """The ports that its data or its ACKs may cross."""
        there, back = self._ways[flow.name]
        return dict.fromkeys((*there, *back))

    @cached_property
    def _ways(self) -> Mapping[Any, tuple[Mapping[str, float], Mapping[str, float]]]:
        """The ports on the ways of each flow, there and back; any may be where no scenario is known."""
        names = [flow.name for flow in self.flows]
        if self._scenario is None:
            unknown = dict.fromkeys(self.ports.known, 0.5)
            return dict.fromkeys(names, (unknown, unknown))
        found = zip(names, self._scenario.core.ports_of(names), strict=True)
        return {name: (self._known(there), self._known(back)) for name, (there, back) in found}

    def _known(self, ports: Iterable[tuple[str, float]]) -> dict[str, float]:
        return {name: share for name, share in ports if name in self.ports.known}

    def full_ports(self, flow: _Flow) -> dict[str, bool]:
        """The ports of switches that transmit all the while, and whether the flow surely crosses each."""
        crossed = self.crossed(flow)
        full = [name for name in crossed if not self.ports.known[name].is_host and self._is_full(name, flow)]
        full.sort(key=lambda name: (-crossed[name], name != self.bottleneck))
        return {name: crossed[name] > 1 - ROUNDING for name in full}

    def full_host(self, flow: _Flow) -> str | None:
        """The port of the sender, if it transmits all the while."""
        own = (name for name in self.crossed(flow) if ends(name)[0] == flow.source)
        return next((name for name in own if self._is_full(name, flow)), None)

    def _is_full(self, name: str, flow: _Flow) -> bool:
        return _is_full(self.ports.known[name], flow)

    def before(self, flow: _Flow) -> tuple[str, list[str]] | None:
        """The port that leaves nothing for a flow's category, and the categories that it serves before."""
        sooner = CATEGORIES[: CATEGORIES.index(flow.category)] if flow.category in CATEGORIES else ()
        for name in self.crossed_both_ways(flow):
            sent = self._sent.get(name, {})
            some = [one for one in sooner if sent.get(one)]
            port = self.ports.known[name]
            if some and sum(sent[one] for one in some) * len(port.shares) > NEARLY_ALL * port.arrived:
                return name, some
        return None

    @cached_property
    def _sent(self) -> dict[str, dict[str, float]]:
        """How many cells of each category may cross each busy port of a switch, in a replication."""
        ports = self.ports.known.items()
        busy: dict[str, dict[str, float]]
        busy = {name: {} for name, port in ports if not port.is_host and port.use > NEARLY_ALL}
        for flow in self.flows if busy else ():
            for name, share in self.crossed(flow).items():
                if name in busy and flow.cells > 0:
                    busy[name][flow.category] = busy[name].get(flow.category, 0.0) + share * flow.cells
        return busy


def _is_full(port: _Port, flow: _Flow) -> bool:
    """Whether a port transmits all the while that a flow's window is full.

    It does if it transmits all the time. It may also be idle while windows are not full, as at the start:
    then it still transmits for at least that share of the time for which they are, and its queue tells it
    from one that is busy by chance. A round trip takes the time R, and W more in the queue; without it the
    windows would carry (R + W)/R as much. A port that could not carry that limits the flow.
    """
    if port.use > ALWAYS:
        return True
    covers = port.use >= ALWAYS * flow.by_window
    return covers and port.use * (flow.round_trip + port.delay) >= flow.round_trip > 0


class _Known:
    """What a scenario says of its flows, and of what they cross."""

    def __init__(self, scenario: Scenario, flows: Sequence[_Flow]) -> None:
        self.settings = scenario.resolved()
        self.seconds = max(scenario.duration - scenario.warm_up, 1e-12)
        self.at_once = begin_at_once(scenario)
        self.start = undrawn_start(scenario)
        self.dark = dark_share(scenario)
        self.flows = flows
        self.hosts = {host for flow in flows for host in (flow.source, flow.destination)}
        self.own = {name: one for one in each(self.settings, "flow") for name in flow_names(one)}
        self.groups = {str(one.get("name")): one for one in each(self.settings, "group")}

    @property
    def is_small(self) -> bool:
        """Whether a buffer has no place for a frame of the largest segments."""
        tables = tables_of(self.settings, "tcp", "flow.tcp", "group.tcp")
        frame = max((_amount(one.get("mss")) or 0.0 for _, one in tables), default=0.0) + 40 * 8
        sizes = [_amount(port.get("buffer")) for _, port in tables_of(self.settings, "switch", "port")]
        return any(size is not None and size < frame for size in sizes)

    def limit(self, flow: _Flow) -> str | None:
        """What limits a flow before its window does; None where nothing shows that."""
        vc, contract = self._of_vc(flow), self._table(flow.circuit, "vc")
        # On links of packets `cells` counts these: their rate is that of the payload with its headers.
        rates = (vc.cells * 424 / self.seconds, vc.goodput * (1 + 40 * 8 / self._segment(flow)))
        peak = None if contract.get("spacing") == "none" else _amount(contract.get("pcr"))
        if peak is not None and any(_is_near(rate, peak) for rate in rates):
            return AT_SHAPER
        reads = self._of_tcp(flow, "read-rate", math.nan)
        if _is_near(flow.goodput, reads):
            return AT_READER
        if {flow.source, flow.destination} & self._busy_ips:
            return AT_IP
        return AT_ABR if flow.category == "abr" and not self._carries(flow, 0.9) else None

    def is_plausible(self, flow: _Flow) -> bool:
        """Whether a flow carries about a window per round trip; unknown for windows of a few segments."""
        is_small = self._window(flow) < 8 * self._segment(flow)
        return flow.goodput > 0 and (is_small or self._carries(flow, 0.5))

    def rto(self, flow: _Flow) -> float:
        """A flow's retransmission timeout before the first measurement."""
        return self._of_tcp(flow, "rto-initial", math.inf)

    def rate_of(self, port: str) -> str:
        """The key for the rate of a host's link alone, or of all links of its place."""
        place, table = self._link(port)
        if table is not None:
            return f"{place}.rate in its [[group]]" if place in _PLACES else f"rate in its [[{place}]]"
        return f"link.{place}.rate"

    def rate_is_in(self, port: str) -> str | None:
        """The key in which the rate of a port's link is; None where it is its own."""
        place, table = self._link(port)
        if table is not None and "rate" in table:
            return None
        common = self.settings.get("link", {}).get(place, {})
        return f"link.{place}.rate" if "rate" in common else "link.rate"

    def _link(self, port: str) -> tuple[str, Mapping[str, Any] | None]:
        """The place of a port's link, and the table that says what it is like, if that is its own."""
        both = {*ends(port)}
        for one in each(self.settings, "link-override"):
            if {one.get("from"), one.get("to")} == both and "rate" in one.get("link", {}):
                return "link-override", one["link"]
        topology = self.settings.get("topology", {})
        for one in each(topology, "link"):
            if {one.get("from"), one.get("to")} == both:
                return "topology.link", one
        host = next((end for end in both if end in self.hosts), None)
        if host is None:
            return "trunk", None
        place = "exit" if topology.get("kind") in _WITH_EXITS and host.startswith("dest") else "access"
        group = self._group(host.partition("-")[2])
        return place, None if group is None else group.get(place)

    def losing(self, kinds: Sequence[float]) -> list[str]:
        """The keys by which links lose what they lost."""
        found: list[str] = []
        for key, lost in zip(_KINDS_OF_LOSS, kinds, strict=True):
            if lost and key:
                found += [f"{place}.{key}" for place, link in self._links() if link.get(key)]
            elif lost:
                found.append("[[loss]]")
        more = ["and others"] if len(found) > MOST_NAMED else []
        return found[:MOST_NAMED] + more

    def is_policed(self, flow: _Flow) -> bool:
        """Whether anything polices a flow's VC."""
        return self._table(flow.circuit, "vc").get("policing") not in (None, "none")

    def policed(self, flow: _Flow) -> str:
        """What is said of a flow that policers hold up."""
        contract = self._table(flow.circuit, "vc")
        if contract.get("policing") not in _FRAME_POLICERS:
            return BY_POLICERS.replace("{keys}", _OF_CELLS)
        overhead = _amount(self.settings.get("aal5", {}).get("overhead")) or 0.0
        cells = math.ceil((self._segment(flow) + 40 * 8 + overhead) / _BITS["cells"])
        if cells > contract.get("mfs", math.inf):
            return TOO_LONG
        return BY_POLICERS.replace("{keys}", _OF_FRAMES)

    def buffer(self, port: str) -> str:
        """The key that says the buffer of a port."""
        own = (
            f"port.{n}.buffer"
            for n, one in enumerate(each(self.settings, "port"))
            if "buffer" in one and (one.get("from"), one.get("to")) == ends(port)
        )
        return next(own, "switch.buffer")

    def _links(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The tables that say what links are like, with their keys."""
        common = self.settings.get("link", {})
        yield "link", common
        yield from ((f"link.{place}", common[place]) for place in _PLACES if place in common)
        own = each(self.settings.get("topology", {}), "link")
        yield from ((f"topology.link.{n}", link) for n, link in enumerate(own))
        yield from tables_of(self.settings, "link-override.link", "group.access", "group.exit")

    def _carries(self, flow: _Flow, part: float) -> bool:
        """Whether a flow carries at least some part of a window a round trip while it waits."""
        window, segment = self._window(flow), self._segment(flow)
        whole = max(window // segment, 1) * segment
        trip = flow.round_trip + 2 * self._of_tcp(flow, "processing-delay", 0.0)
        return not flow.goodput * trip < part * whole * flow.by_window

    def _of_vc(self, flow: _Flow) -> _Flow:
        """The flows of a flow's VC as one."""
        members = self._circuits[flow.circuit]
        return flow._replace(
            cells=sum(_finite(one.cells for one in members)),
            goodput=sum(_finite(one.goodput for one in members)),
        )

    @cached_property
    def _circuits(self) -> dict[Any, list[_Flow]]:
        """The flows of each VC."""
        found: dict[Any, list[_Flow]] = {}
        for flow in self.flows:
            found.setdefault(flow.circuit, []).append(flow)
        return found

    @cached_property
    def _busy_ips(self) -> set[str]:
        """The hosts whose IP serves packets all the time."""
        host = self.settings.get("host", {})
        rate = _amount(host.get("ip-rate"))
        if not rate:
            return set()
        served: dict[str, float] = {}
        is_both = host.get("ip-serves") == "both"
        for flow in self.flows:
            for name, own, other in (
                (flow.source, flow.segments, flow.acks),
                (flow.destination, flow.acks, flow.segments),
            ):
                served[name] = served.get(name, 0.0) + sum(_finite((own, other if is_both else 0.0)))
        return {name for name, count in served.items() if count / self.seconds > 0.95 * rate}

    def _window(self, flow: _Flow) -> float:
        return self._of_tcp(flow, "receive-window", math.inf)

    def _segment(self, flow: _Flow) -> float:
        return self._of_tcp(flow, "mss", 1460 * 8)

    def _of_tcp(self, flow: _Flow, key: str, otherwise: float) -> float:
        """A key of a flow's TCP: bits, bits per second, or seconds."""
        found = _amount(self._table(flow.name, "tcp").get(key))
        return otherwise if found is None else found

    def _table(self, flow: Any, table: str) -> Mapping[str, Any]:
        """The settings of a flow: its own, those of its group, or those of all. Each of them is whole."""
        places = (self.own.get(flow), self._group(flow), self.settings)
        tables: Iterator[Mapping[str, Any]]
        tables = (place[table] for place in places if place is not None and table in place)
        return next(tables, {})

    def _group(self, flow: Any) -> Mapping[str, Any] | None:
        """The `[[group]]` of a flow, which is named after it."""
        name = group_of(str(flow), self.groups)
        return None if name is None else self.groups[name]


_PLACES = ("access", "trunk", "exit")
"""The places of links."""

_WITH_EXITS = ("parking-lot", "n-source", "peer-to-peer", "dumbbell", "chain", "backbone")
"""Topologies whose destinations are hosts of their own."""


def _is_near(rate: float, limit: float) -> bool:
    """Whether a rate is what a limit allows, but for what is around it."""
    return 0.9 * limit <= rate <= 1.05 * limit


_BITS = {"B": 8.0, "cell": 384.0, "cells": 384.0, "cells/s": 424.0, "bit/s": 1.0, "packet/s": 1.0, "s": 1.0}
"""What one of a unit is: bits, bits or packets per second, or seconds. Packets of a buffer have none."""


def _amount(value: object) -> float | None:
    """A value of a scenario as a number; None for what is none."""
    size, unit = in_base_unit(value) or (0.0, "")
    return size * _BITS[unit] if unit in _BITS else None
