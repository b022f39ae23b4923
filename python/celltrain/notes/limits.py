"""What holds flows up for most of the time, and what there is to do: sentences for notes."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from celltrain import statistics
from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.notes.load import Offer, offers, rate_keys
from celltrain.notes.losses import FULL, REFUSED, Losses, is_by_policy, keys_to_raise
from celltrain.notes.priority import CATEGORIES, shortfalls
from celltrain.notes.settings import begin_at_once, dark_share, undrawn_start
from celltrain.notes.tables import (
    WITH_EXITS,
    each,
    ends,
    flow_names,
    group_of,
    node_names,
    policy_of_port,
    tables_of,
)
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
    "cells_discarded",
    "clp",
    "cells_tagged",
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
    "occupancy_max",
    *FULL,
    *REFUSED,
)
"""Columns of ports that tell where flows wait, and where they lose."""

_WINDOW = "the receive window limits {flows} for most of the time"
_VAIN = "a larger window makes the queue there longer and no flow faster"
_MEANT = "if that is not intended"

PLAIN = f"{_WINDOW}, not the network: set a larger tcp.receive-window {_MEANT}"
"""What is said of flows that the receive window limits, and nothing else."""

AT_HOST = (
    f"{_WINDOW}, and the interface of the sender transmits all the while: {_VAIN}; "
    f"set a higher {{key}} {_MEANT}"
)
AT_PORT = (
    f"{_WINDOW}, and {{port}} transmits all the while: {{where}}a larger tcp.receive-window gives "
    "longer queues and no more total throughput"
)
AT_SHAPER = f"{_WINDOW}, and the host shapes the traffic to vc.pcr: {_VAIN}; set a higher vc.pcr {_MEANT}"
AT_ABR = (
    f"{_WINDOW}, and the ABR sources send no faster than the network and abr.pcr allow: {_VAIN}; "
    f"see the allowed rates (metric acr of a trace), and set another switch.allocator {_MEANT}"
)
AT_READER = (
    f"{_WINDOW}, and the applications read no faster than tcp.read-rate: a larger window holds more unread "
    f"data and makes no flow faster; set a higher tcp.read-rate {_MEANT}"
)
AT_IP = (
    f"{_WINDOW}, and the IP layer of a host is busy all the time: {_VAIN}; set a higher host.ip-rate {_MEANT}"
)

_TIMER_OF_ALL = "the retransmission timer holds up {flows} for most of the time"
_TIMER_OF_SOME = "for most of the time the retransmission timer holds up {flows}"
"""Whom it holds up is said of all flows, or of those for which one cause holds."""

AT_ONCE = (
    ": if they all begin at once and lose what they send, spread their starts, as in "
    '{start} = "0 s .. 100 ms"'
)
"""What is said where starts that are not drawn may be the cause."""

IN_BUFFERS = (
    ": buffers discard more than fast retransmit can repair; set a larger {key}, a smaller "
    "tcp.mss, or fewer flows"
)
BY_POLICY = (
    ": the policy of {port} discards more than fast retransmit can repair{whatever}; set {change}, a smaller "
    "tcp.mss, or fewer flows"
)
BY_PRIORITY = (
    ": the policy of {port} refuses frames of low priority (CLP = 1) and accepts others; set {change}, or a "
    "policy that does not look at it"
)
BY_LOAD = (
    ": sources that do not respond to losses offer {port} more than its link carries, so that its buffer is "
    "full; set lower rates for them ({keys}), or a faster link"
)
BY_FORCE = (
    ": sources that do not respond to losses take next to all that {port} transmits; set lower rates for "
    "them ({keys}), or a faster link"
)
BY_POLICERS = (
    ": policers discard more than fast retransmit can repair; set a contract that covers what "
    'they send ({keys}), or vc.policing = "none"'
)
ON_LINKS = ": links lose more than fast retransmit can repair; set lower losses ({keys}) " + _MEANT
LONG_TRIP = (
    ": it expires within a round trip, before the first ACK can arrive; set a larger "
    "tcp.rto-initial, or shorter delays of the links"
)
_AFTER = (
    ": {port} serves {categories} before {own} and leaves {left}; set one vc.category for all, or a lower "
    "rate of what is served first (abr.pcr, vc.pcr, traffic.rate)"
)
LATER = _AFTER.replace("{left}", "next to nothing for it")
TOO_LATE = _AFTER.replace("{left}", "less than is guaranteed to it")
OTHER = ""
"""Added where nothing tells why, or a note on the scenario does. Of some flows nothing is said then."""

FOR_ALL = ("tail-drop", "ppd", "epd")
"""Policies that know no flows: what one of them sends too much costs all."""

BY_CLP = ("double-epd", "per-vc", "dfba")
"""Policies that refuse frames of low priority (CLP = 1) from a level on at which they accept others."""

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
    discarded: float = 0.0
    """Cells of it, at all ports."""
    clp: float = 0.0
    """The priority with which its host sends."""
    tagged: float = 0.0
    """Cells of it to which switches gave the low priority."""

    @property
    def is_tagged(self) -> bool:
        """Whether most of it has the low priority only by tags."""
        return self.clp == 0 and self.tagged > self.cells / 2

    @property
    def is_low(self) -> bool:
        """Whether most of it has the low priority (CLP = 1)."""
        return self.clp > 0 or self.is_tagged


_KINDS_OF_LOSS: tuple[str, ...] = ("loss", "", "burst-loss", "dark")
"""The keys of links for what is lost at random, as `[[loss]]` says, in bursts, and in the dark."""

_KINDS = len(_KINDS_OF_LOSS)

_NOTHING_LOST = (0.0,) * _KINDS


class _Port(NamedTuple):
    """A port: means of its use and its delay over the replications, and what it loses in all of them."""

    is_host: bool
    use: float
    """The share of the time for which it transmits."""
    delay: float
    """The mean time from the arrival there to the end of the transmission."""
    replications: int
    """Those in which its use is known."""
    arrived: float
    discarded: float
    """By its buffer."""
    policed: float
    losses: Losses
    """What it discards, by causes."""
    on_link: Sequence[float]
    """Behind it, by kinds."""


class _Tally:
    """What some replications say of a port."""

    __slots__ = ("arrived", "delays", "discarded", "is_host", "losses", "on_link", "policed", "shares")

    def __init__(self, *, is_host: bool) -> None:
        self.is_host = is_host
        self.shares: list[float | None] = []
        self.delays: list[float | None] = []
        self.arrived = self.discarded = self.policed = 0.0
        self.losses = Losses(0.0, 0.0, 0.0)
        self.on_link: Sequence[float] = _NOTHING_LOST

    def port(self) -> _Port:
        """The port."""
        shares = _finite(self.shares)
        return _Port(
            self.is_host,
            _mean(shares, 0.0),
            _mean(_finite(self.delays), 0.0),
            len(shares),
            self.arrived,
            self.discarded,
            self.policed,
            self.losses,
            self.on_link,
        )


class Ports:
    """What the ports of a run say of its flows: rows of `PORT`, in any number of replications."""

    def __init__(self, known: Mapping[str, _Port] = MappingProxyType({})) -> None:
        self.known = known

    @staticmethod
    def of(rows: Iterable[Sequence[Any]]) -> "Ports":
        """Those of rows."""
        found: dict[str, _Tally] = {}
        for name, of_switch, share, delay, arrived, discarded, policed, *more in rows:
            tally = found.get(name)
            if tally is None:
                tally = found[name] = _Tally(is_host=not of_switch)
            tally.shares.append(share)
            tally.delays.append(delay)
            tally.arrived += arrived or 0
            tally.discarded += (discarded or 0) - (policed or 0)
            tally.policed += policed or 0
            on_link, largest, by_port = more[:_KINDS], more[_KINDS : _KINDS + 1], more[_KINDS + 1 :]
            full, refused = by_port[: len(FULL)], by_port[len(FULL) :]
            tally.losses = Losses(
                tally.losses.full + sum(one or 0 for one in full),
                tally.losses.refused + sum(one or 0 for one in refused),
                max(tally.losses.largest, *(one or 0 for one in largest), 0),
            )
            if any(on_link):
                tally.on_link = [
                    before + (one or 0) for before, one in zip(tally.on_link, on_link, strict=True)
                ]
        return Ports({name: tally.port() for name, tally in found.items()})

    def losses(self, names: Iterable[str]) -> tuple[float, float, list[float]]:
        """What buffers discard at some ports, what policers do, and what each kind of loss takes on links."""
        some = [self.known[name] for name in names]
        kinds = [sum(lost) for lost in zip(*(port.on_link for port in some), strict=True)]
        return sum(port.discarded for port in some), sum(port.policed for port in some), kinds


def sentences(
    flows: Iterable[Sequence[Any]],
    ports: Callable[[], Ports],
    bottleneck: str | None,
    scenario: Scenario | None,
) -> dict[str, list[Any]]:
    """What is said of flows that wait for most of the time, with "{flows}" for their names.

    Args:
        flows: rows of `FLOW`, of any number of replications.
        ports: gives what the ports say; not asked where no flow waits.
        bottleneck: the port of the summary.
        scenario: what ran; None where it is not known.
    """
    every = _means(flows)
    by_window = [flow for flow in every if flow.by_window > MOST_OF_THE_TIME]
    by_timeout = [flow for flow in every if flow.by_timeout > MOST_OF_THE_TIME]
    if not by_window and not by_timeout:
        return {}
    known = None if scenario is None else _Known(scenario, every)
    network = _Network(ports(), bottleneck, every, scenario)
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
    some = {*said.values()}
    others = {one.port for one in some} - {None, bottleneck}

    def whole(one: _Said) -> str:
        if one.port is None or one.port == bottleneck:
            return one.sentence.replace("{port}", "the bottleneck")
        if len(others) > MOST_NAMED:
            return one.sentence.replace("{port}", "a port on the path of each")
        # Its braces are kept for the names of flows.
        return one.sentence.replace("{port}", f'port "{one.port}"'.replace("{", "{{").replace("}", "}}"))

    wholes = {one: whole(one) for one in some}
    found: dict[str, list[Any]] = {}
    for name, one in said.items():
        found.setdefault(wholes[one], []).append(name)
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
        means = (_mean(_finite(column), math.nan) for column in columns)
        found.append(_Flow(name, source, destination, category, circuit, *means))
    return found


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    """The mean of some values, or what stands for that of none."""
    return statistics.mean(values) if values else otherwise


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
    if known is not None and flow.round_trip > known.tcp(flow).rto:
        return _Said(LONG_TRIP)
    crossed = network.crossed_both_ways(flow)
    for port in crossed:
        for sentence, found in ((LATER, network.sooner), (TOO_LATE, network.too_late)):
            sooner = found.get((port, flow.category))
            if sooner is not None:
                said = sentence.replace("{own}", flow.category).replace("{categories}", listed(sooner))
                return _Said(said, port)
    forced = next(filter(None, (network.forced(port) for port in crossed)), None)
    if forced is not None:
        sentence = BY_FORCE if forced.takes_it else BY_LOAD
        return _Said(sentence.replace("{keys}", ", ".join(forced.keys)), forced.port)
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
    worst = max(crossed, key=lambda name: network.ports.known[name].discarded)
    losses = network.ports.known[worst].losses
    if network.is_overloaded(worst):
        return _Said(OTHER)  # a note on the scenario says so, and no buffer helps
    if known is not None and known.is_by_policy(worst, losses):
        keys = known.keys_to_raise(worst, losses)
        whatever = ", whatever its buffer" if keys and known.buffer(worst) not in keys else ""
        change = f"a larger {listed(keys)}" if keys else "another rule"
        return _Said(BY_POLICY.replace("{whatever}", whatever).replace("{change}", change), worst)
    if known is not None and losses.refused > losses.full and network.waits_for_priority(flow, worst):
        change = 'a larger vc.mcr, or vc.policing = "none"' if flow.is_tagged else "vc.clp = false"
        return _Said(BY_PRIORITY.replace("{change}", change), worst)
    # Flows that are few among others do not wait because all began at once.
    every = len(network.flows)
    may_collide = every > 1 and 2 * held > every
    if known is None or (may_collide and known.at_once and not known.is_small):
        start = known.start if known is not None else None
        return _Said(AT_ONCE.replace("{start}", start or "traffic.start"))
    return _Said(IN_BUFFERS.replace("{key}", listed(known.keys_to_raise(worst, losses))))


class _Forced(NamedTuple):
    """A port that is full of what sources send that do not respond to losses, and the keys of their rates."""

    port: str
    takes_it: bool
    """Whether they take next to all that it transmits."""
    keys: Sequence[str]


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
        own = (name for name in self.crossed(flow) if name.startswith(f"{flow.source} > "))
        return next((name for name in own if self._is_full(name, flow)), None)

    def _is_full(self, name: str, flow: _Flow) -> bool:
        return _is_full(self.ports.known[name], flow)

    def waits_for_priority(self, flow: _Flow, port: str) -> bool:
        """Whether a flow waits at a port that looks at priorities, and flows of high priority do not."""
        if not flow.is_low or self._scenario is None:
            return False
        high = [one for one in self.flows if not one.is_low and port in self.crossed(one)]
        looks = policy_of_port(self._scenario, port)[1] in BY_CLP
        return looks and bool(high) and all(not one.by_timeout > MOST_OF_THE_TIME for one in high)

    def forced(self, port: str) -> _Forced | None:
        """What is known of a port that is full of what does not respond to losses; None for others."""
        offer = self._offers.get(port)
        if offer is None or self._scenario is None:
            return None
        arrives = {flow.name: 1 - flow.discarded / flow.cells for flow in self.flows if flow.cells > 0}
        taken = sum(rate * max(arrives.get(name, 0.0), 0.0) for name, rate in offer.flows.items())
        takes_it, losses = taken >= NEARLY_ALL * offer.rate, self.ports.known[port].losses
        is_full = losses.full + losses.refused > 0 and policy_of_port(self._scenario, port)[1] in FOR_ALL
        if not takes_it and not (offer.is_too_much and is_full):
            return None
        return _Forced(port, takes_it, rate_keys(self._scenario, offer.flows))

    def is_overloaded(self, port: str) -> bool:
        """Whether sources that do not respond to losses offer a port more than its link carries."""
        return port in self._offers and self._offers[port].is_too_much

    @cached_property
    def _offers(self) -> Mapping[str, Offer]:
        return {} if self._scenario is None else offers(self._scenario)

    @cached_property
    def sooner(self) -> Mapping[tuple[str, str], list[str]]:
        """The ports that leave nothing for a category, and the categories that each serves before."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, sent in self._sent.items():
            port = self.ports.known[name]
            for n, category in enumerate(CATEGORIES):
                some = [one for one in CATEGORIES[:n] if sent.get(one)]
                if some and sum(sent[one] for one in some) * port.replications > NEARLY_ALL * port.arrived:
                    found[name, category] = some
        return found

    @cached_property
    def too_late(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """The same of ports that serve guarantees too late, where what they serve before is most of it."""
        if self._scenario is None:
            return {}
        found = {}
        for one in shortfalls(self._scenario):
            sent, port = self._sent.get(one.port, {}), self.ports.known[one.port]
            if sum(sent.get(category, 0.0) for category in one.sooner) * port.replications > port.arrived / 2:
                found[one.port, one.category] = one.sooner
        return found

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


class _Tcp(NamedTuple):
    """What a table says of TCP: bits, bits per second, and seconds."""

    window: float = math.inf
    segment: float = 1460 * 8
    read_rate: float = math.nan
    processing_delay: float = 0.0
    rto: float = math.inf
    """The retransmission timeout before the first measurement."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> "_Tcp":
        """That of a table."""
        found = {field: _amount(table.get(key)) for field, key in _KEYS_OF_TCP.items()}
        return _Tcp(**{field: amount for field, amount in found.items() if amount is not None})


_KEYS_OF_TCP = {
    "window": "receive-window",
    "segment": "mss",
    "read_rate": "read-rate",
    "processing_delay": "processing-delay",
    "rto": "rto-initial",
}


class _Contract(NamedTuple):
    """What a table says of a VC: bits per second, and cells."""

    peak: float | None = None
    """The rate to which hosts shape it; None where they do not."""
    policing: str | None = None
    """None where nothing polices it."""
    frame: float = math.inf
    """The longest frame that conforms."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> "_Contract":
        """That of a table."""
        policing = table.get("policing")
        return _Contract(
            None if table.get("spacing") == "none" else _amount(table.get("pcr")),
            None if policing == "none" else policing,
            table.get("mfs", math.inf),
        )


class _Tables:
    """The settings of one `[[flow]]`, of one group, or of all flows. Each of the tables is whole."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    @cached_property
    def tcp(self) -> _Tcp | None:
        """What they say of TCP, if anything."""
        return _Tcp.of(self.settings["tcp"]) if "tcp" in self.settings else None

    @cached_property
    def contract(self) -> _Contract | None:
        """What they say of the VC, if anything."""
        return _Contract.of(self.settings["vc"]) if "vc" in self.settings else None


class _Known:
    """What a scenario says of its flows, and of what they cross. Whatever many flows ask for is read once."""

    def __init__(self, scenario: Scenario, flows: Sequence[_Flow]) -> None:
        self.settings = scenario.resolved()
        self.seconds = max(scenario.duration - scenario.warm_up, 1e-12)
        self.dark = dark_share(scenario)
        self.flows = flows
        self._scenario = scenario
        own = ((name, _Tables(one)) for one in each(self.settings, "flow") for name in flow_names(one))
        self._own = dict(own)
        self._groups = {str(one.get("name")): _Tables(one) for one in each(self.settings, "group")}
        self._all = _Tables(self.settings)
        self._nodes = node_names(self.settings)

    @cached_property
    def at_once(self) -> bool:
        """Whether all sources begin at one instant."""
        return begin_at_once(self._scenario)

    @cached_property
    def start(self) -> str | None:
        """The first key that starts sources at one instant in every replication."""
        return undrawn_start(self._scenario)

    @cached_property
    def is_small(self) -> bool:
        """Whether a buffer has no place for a frame of the largest segments."""
        tables = tables_of(self.settings, "tcp", "flow.tcp", "group.tcp")
        frame = max((_amount(one.get("mss")) or 0.0 for _, one in tables), default=0.0) + 40 * 8
        sizes = [_amount(port.get("buffer")) for _, port in tables_of(self.settings, "switch", "port")]
        return any(size is not None and size < frame for size in sizes)

    def tcp(self, flow: _Flow) -> _Tcp:
        """What is said of a flow's TCP."""
        return next((one.tcp for one in self._places(flow.name) if one.tcp is not None), _Tcp())

    def limit(self, flow: _Flow) -> str | None:
        """What limits a flow before its window does; None where nothing shows that."""
        (cells, goodput), tcp, peak = self._circuits[flow.circuit], self.tcp(flow), self._contract(flow).peak
        # On links of packets `cells` counts these: their rate is that of the payload with its headers.
        rates = (cells * CELL_BITS / self.seconds, goodput * (1 + 40 * 8 / tcp.segment))
        if peak is not None and any(_is_near(rate, peak) for rate in rates):
            return AT_SHAPER
        if _is_near(flow.goodput, tcp.read_rate):
            return AT_READER
        if not self._busy_ips.isdisjoint((flow.source, flow.destination)):
            return AT_IP
        return AT_ABR if flow.category == "abr" and not self._carries(flow, 0.9) else None

    def is_plausible(self, flow: _Flow) -> bool:
        """Whether a flow carries about a window per round trip; unknown for windows of a few segments."""
        tcp = self.tcp(flow)
        return flow.goodput > 0 and (tcp.window < 8 * tcp.segment or self._carries(flow, 0.5))

    def rate_of(self, port: str) -> str:
        """The key for the rate of a host's link alone, or of all links of its place."""
        place, table = self._link(port)
        if table is not None:
            return f"{place}.rate in [[group]]" if place in _PLACES else f"rate in [[{place}]]"
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
        both = ends(port, self._nodes)
        own = self._own_links.get(frozenset(both))
        if own is not None:
            return own
        host = next((end for end in both if end in self._hosts), None)
        if host is None:
            return "trunk", None
        exits = self.settings.get("topology", {}).get("kind") in WITH_EXITS
        place = "exit" if exits and host.startswith("dest") else "access"
        group = self._group(host.partition("-")[2])
        return place, None if group is None else group.settings.get(place)

    @cached_property
    def _own_links(self) -> dict[frozenset[Any], tuple[str, Mapping[str, Any]]]:
        """The links that have tables of their own, by their ends: the first of `[[link-override]]` counts."""
        found: dict[frozenset[Any], tuple[str, Mapping[str, Any]]] = {}
        for one in each(self.settings, "link-override"):
            if "rate" in one.get("link", {}):
                found.setdefault(_both(one), ("link-override", one["link"]))
        for one in each(self.settings.get("topology", {}), "link"):
            found.setdefault(_both(one), ("topology.link", one))
        return found

    @cached_property
    def _hosts(self) -> set[str]:
        return {host for flow in self.flows for host in (flow.source, flow.destination)}

    def losing(self, kinds: Sequence[float]) -> list[str]:
        """The keys by which links lose what they lost."""
        lost = (key for key, count in zip(_KINDS_OF_LOSS, kinds, strict=True) if count)
        found = [key for kind in lost for key in self._losing[kind]]
        more = ["and others"] if len(found) > MOST_NAMED else []
        return found[:MOST_NAMED] + more

    @cached_property
    def _losing(self) -> dict[str, list[str]]:
        """The first keys by which links lose, by kinds of loss: one more than are named."""
        places = [*self._links()]
        return {
            key: [f"{place}.{key}" for place, link in places if link.get(key)][: MOST_NAMED + 1]
            if key
            else ["[[loss]]"]
            for key in _KINDS_OF_LOSS
        }

    def is_policed(self, flow: _Flow) -> bool:
        """Whether anything polices a flow's VC."""
        return self._contract(flow).policing is not None

    def policed(self, flow: _Flow) -> str:
        """What is said of a flow that policers hold up; a note on the scenario covers long frames."""
        contract = self._contract(flow)
        if contract.policing not in _FRAME_POLICERS:
            return BY_POLICERS.replace("{keys}", _OF_CELLS)
        overhead = _amount(self.settings.get("aal5", {}).get("overhead")) or 0.0
        cells = math.ceil((self.tcp(flow).segment + 40 * 8 + overhead) / _BITS["cells"])
        return OTHER if cells > contract.frame else BY_POLICERS.replace("{keys}", _OF_FRAMES)

    def buffer(self, port: str) -> str:
        """The key that says the buffer of a port."""
        return self._buffers.get(ends(port, self._nodes), "switch.buffer")

    @cached_property
    def _buffers(self) -> dict[tuple[Any, Any], str]:
        """The keys of the buffers of single ports, by their ends."""
        found: dict[tuple[Any, Any], str] = {}
        for n, one in enumerate(each(self.settings, "port")):
            if "buffer" in one:
                found.setdefault((one.get("from"), one.get("to")), f"port.{n}.buffer")
        return found

    def is_by_policy(self, port: str, losses: Losses) -> bool:
        """Whether the policy of a port discards most of it by rules of its own."""
        return is_by_policy(self._scenario, port, losses)

    def keys_to_raise(self, port: str, losses: Losses) -> list[str]:
        """The keys of what is to be larger for fewer losses at a port."""
        return keys_to_raise(self._scenario, port, losses, self.buffer(port))

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
        tcp = self.tcp(flow)
        whole = max(tcp.window // tcp.segment, 1) * tcp.segment
        trip = flow.round_trip + 2 * tcp.processing_delay
        return not flow.goodput * trip < part * whole * flow.by_window

    @cached_property
    def _circuits(self) -> dict[Any, tuple[float, float]]:
        """What the flows of each VC carry together: cells, and goodput."""
        found: dict[Any, list[_Flow]] = {}
        for flow in self.flows:
            found.setdefault(flow.circuit, []).append(flow)
        return {
            circuit: (
                sum(_finite(one.cells for one in members)),
                sum(_finite(one.goodput for one in members)),
            )
            for circuit, members in found.items()
        }

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

    def _contract(self, flow: _Flow) -> _Contract:
        """What is said of a flow's VC, which the first of its flows names."""
        places = self._places(flow.circuit)
        return next((one.contract for one in places if one.contract is not None), _Contract())

    def _places(self, flow: Any) -> Iterator[_Tables]:
        """The settings of a flow: its own, those of its group, and those of all."""
        return (one for one in (self._own.get(flow), self._group(flow), self._all) if one is not None)

    def _group(self, flow: Any) -> _Tables | None:
        """The `[[group]]` of a flow, which is named after it."""
        name = group_of(str(flow), self._groups)
        return None if name is None else self._groups[name]


def _both(link: Mapping[str, Any]) -> frozenset[Any]:
    """The ends of a link, which has two directions."""
    return frozenset((link.get("from"), link.get("to")))


_PLACES = ("access", "trunk", "exit")
"""The places of links."""


def _is_near(rate: float, limit: float) -> bool:
    """Whether a rate is what a limit allows, but for what is around it."""
    return 0.9 * limit <= rate <= 1.05 * limit


_BITS = {
    "B": 8.0,
    "cell": float(PAYLOAD_BITS),
    "cells": float(PAYLOAD_BITS),
    "cells/s": float(CELL_BITS),
    "bit/s": 1.0,
    "packet/s": 1.0,
    "s": 1.0,
}
"""What one of a unit is: bits, bits or packets per second, or seconds. Packets of a buffer have none."""


def _amount(value: object) -> float | None:
    """A value of a scenario as a number; None for what is none."""
    size, unit = in_base_unit(value) or (0.0, "")
    return size * _BITS[unit] if unit in _BITS else None
