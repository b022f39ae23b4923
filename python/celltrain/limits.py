"""What holds flows up for most of the time, and what there is to do: sentences for notes."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from celltrain import statistics
from celltrain.circuits import circuits
from celltrain.notes import begin_at_once, dark_share, tables_of
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit

__all__ = ["BY_TIMEOUT", "BY_WINDOW", "FLOW", "MOST_OF_THE_TIME", "PORT", "Ports", "sentences"]

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""

ALWAYS = 0.99
"""The share of the time from which on a port transmits all the time."""

BY_WINDOW = "limited_by_receive_window"
BY_TIMEOUT = "limited_by_timeout"

FLOW = (
    "flow",
    "source",
    "destination",
    "category",
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
    "cells_discarded",
    "discarded_non_conforming",
    "lost_random",
    "lost_scripted",
    "lost_burst",
    "lost_dark",
)
"""Columns of ports that tell where flows wait, and where they lose."""

_WINDOW = "the receive window limits {flows} for most of the time"
_VAIN = "a larger window makes the queue there longer, and no flow faster"
_MEANT = "if that is not meant"

PLAIN = f"{_WINDOW}, not the network: set a larger tcp.receive-window {_MEANT}"
"""What is said of flows that the receive window limits, and nothing else."""

AT_HOST = (
    f"{_WINDOW}, and the interface of the sender transmits all the time: {_VAIN}; "
    f"set a higher link.access.rate {_MEANT}"
)
AT_PORT = (
    f"{_WINDOW}, and {{port}} transmits all the time: where they cross it, a larger tcp.receive-window gives "
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

_TIMER = "the retransmission timer holds {flows} up for most of the time"
AT_ONCE = (
    f"{_TIMER}: where all begin at once, and lose what they send at once, spread their starts, as in "
    'traffic.start = "0 s .. 100 ms"'
)
"""What is said where starts that are not drawn may be the cause."""

IN_BUFFERS = (
    f"{_TIMER}: buffers discard more than fast retransmit repairs; set a larger switch.buffer, a smaller "
    "tcp.mss, or fewer flows"
)
BY_POLICERS = (
    f"{_TIMER}: policers discard more than fast retransmit repairs; set a contract that holds what they "
    'send (vc.pcr, vc.scr, vc.mbs, vc.cdvt-pcr), or vc.policing = "none"'
)
ON_LINKS = (
    f"{_TIMER}: links lose more than fast retransmit repairs; set less of that (link.loss, link.burst-loss, "
    f"link.dark, [[loss]]) {_MEANT}"
)
LONG_TRIP = (
    f"{_TIMER}: it expires within a round trip, before the first ACK can arrive; set a larger "
    "tcp.rto-initial, or shorter delays of the links"
)
OTHER = _TIMER
"""What is said where nothing tells why."""


class _Flow(NamedTuple):
    """A flow: means over the replications."""

    name: Any
    source: str
    destination: str
    category: str
    round_trip: float
    goodput: float
    cells: float
    segments: float
    acks: float
    by_window: float
    by_timeout: float


@dataclass(slots=True)
class Ports:
    """What the ports of a run say of its flows: rows of `PORT`, in any number of replications."""

    shares: dict[str, list[float]] = field(default_factory=dict)
    """The utilisations of each port."""
    hosts: set[str] = field(default_factory=set)
    """The ports of hosts."""
    discarded: float = 0.0
    policed: float = 0.0
    on_links: float = 0.0

    @staticmethod
    def of(rows: Iterable[Sequence[Any]]) -> "Ports":
        """Those of rows."""
        found = Ports()
        for port, of_switch, share, *counts in rows:
            if share is not None:
                found.shares.setdefault(port, []).append(share)
            if not of_switch:
                found.hosts.add(port)
            discarded, policed, *lost = (one or 0 for one in counts)
            found.discarded += discarded - policed
            found.policed += policed
            found.on_links += sum(lost)
        return found

    def busy(self) -> Iterator[str]:
        """The ports that transmit all the time."""
        return (port for port, known in self.shares.items() if statistics.mean(known) > ALWAYS)

    def busy_hosts(self) -> set[str]:
        """The hosts whose interfaces do."""
        return {port.partition(" > ")[0] for port in self.busy() if port in self.hosts}

    def busy_ports(self) -> list[str]:
        """The ports of switches that do."""
        return [port for port in self.busy() if port not in self.hosts]


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
    found: dict[str, list[Any]] = {}
    known = None if scenario is None else _Known(scenario, every)
    for flow in every:
        if flow.by_window > MOST_OF_THE_TIME:
            said = _of_window(flow, ports, bottleneck, known)
            if said:
                found.setdefault(said, []).append(flow.name)
    held = [flow.name for flow in every if flow.by_timeout > MOST_OF_THE_TIME]
    if held and len(held) == sum(not math.isnan(flow.by_timeout) for flow in every):
        found[_of_timer(every, ports, known)] = held
    return found


def _means(rows: Iterable[Sequence[Any]]) -> list[_Flow]:
    """The flows of rows; what a point of a sweep lacks is None."""
    flows: dict[Any, list[Sequence[Any]]] = {}
    for row in rows:
        flows.setdefault(row[0], []).append(row)
    found = []
    for name, some in flows.items():
        _, source, destination, category, *_ = some[0]
        columns = zip(*(row[4:] for row in some), strict=True)
        means = (statistics.mean(_finite(column) or [math.nan]) for column in columns)
        found.append(_Flow(name, source, destination, category, *means))
    return found


def _known(*values: float) -> tuple[float, ...]:
    """Values, with 0 for what is undefined."""
    return tuple(value if math.isfinite(value) else 0.0 for value in values)


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _of_window(flow: _Flow, ports: Ports, bottleneck: str | None, known: "_Known | None") -> str | None:
    """What is said of a flow that the receive window limits; None where its window cannot be the cause."""
    if flow.source in ports.busy_hosts():
        return AT_HOST
    if known is not None:
        if flow.by_window - known.dark <= MOST_OF_THE_TIME:
            return None
        limit = known.limit(flow)
        if limit is not None:
            return limit
    busy = ports.busy_ports()
    if busy:
        port = "the bottleneck" if bottleneck in busy or bottleneck is None else f'port "{busy[0]}"'
        return AT_PORT.replace("{port}", port)
    return PLAIN if known is None or known.is_plausible(flow) else None


def _of_timer(flows: Sequence[_Flow], ports: Ports, known: "_Known | None") -> str:
    """What is said of flows that wait for their timers."""
    most = max(ports.discarded, ports.policed, ports.on_links)
    if known is not None and any(flow.round_trip > known.rto for flow in flows):
        return LONG_TRIP
    if most == 0:
        return OTHER
    if most == ports.on_links:
        return ON_LINKS
    if most == ports.policed:
        return BY_POLICERS
    if known is None:
        return AT_ONCE
    return AT_ONCE if len(flows) > 1 and known.at_once and not known.is_small else IN_BUFFERS


class _Known:
    """What a scenario says of its flows. A key can have several values: of all flows, of groups, of one."""

    def __init__(self, scenario: Scenario, flows: Sequence[_Flow]) -> None:
        self.settings = scenario.resolved()
        self.seconds = max(scenario.duration - scenario.warm_up, 1e-12)
        self.at_once = begin_at_once(scenario)
        self.dark = dark_share(scenario)
        self.flows = flows
        shared = circuits(
            ((one.name, one.source, one.destination, *_known(one.cells, one.goodput)) for one in flows),
            scenario,
        )
        self.sharing = {name: names for names in shared for name in names}
        self.segment = min(self._values("tcp", "mss"), default=1460 * 8)
        self.window = max(self._values("tcp", "receive-window"), default=math.inf)
        self.rto = max(self._values("tcp", "rto-initial"), default=math.inf)

    @property
    def is_small(self) -> bool:
        """Whether a buffer has no place for a frame of the largest segments."""
        frame = max(self._values("tcp", "mss"), default=0.0) + 40 * 8
        sizes = [_amount(port.get("buffer")) for _, port in tables_of(self.settings, "switch", "port")]
        return any(size is not None and size < frame for size in sizes)

    def limit(self, flow: _Flow) -> str | None:
        """What limits a flow before its window does; None where nothing shows that."""
        vc = self._of_vc(flow)
        # On links of packets `cells` counts these: their rate is that of the payload with its headers.
        rates = (vc.cells * 424 / self.seconds, vc.goodput * (1 + 40 * 8 / self.segment))
        peaks = [
            _amount(vc_.get("pcr"))
            for _, vc_ in tables_of(self.settings, "vc", "flow.vc", "group.vc")
            if vc_.get("spacing") != "none"
        ]
        if any(peak is not None and _is_near(rate, peak) for peak in peaks for rate in rates):
            return AT_SHAPER
        if any(_is_near(flow.goodput, rate) for rate in self._values("tcp", "read-rate")):
            return AT_READER
        if {flow.source, flow.destination} & self._busy_ips():
            return AT_IP
        return AT_ABR if flow.category == "abr" and not self._is_full(flow, 0.9) else None

    def is_plausible(self, flow: _Flow) -> bool:
        """Whether a flow carries about a window per round trip; unknown for windows of a few segments."""
        return self.window < 8 * self.segment or self._is_full(flow, 0.5)

    def _is_full(self, flow: _Flow, part: float) -> bool:
        """Whether a flow carries at least some part of a window a round trip while it waits."""
        whole = max(self.window // self.segment, 1) * self.segment
        trip = flow.round_trip + 2 * max(self._values("tcp", "processing-delay"), default=0.0)
        return not flow.goodput * trip < part * whole * flow.by_window

    def _of_vc(self, flow: _Flow) -> _Flow:
        """The flows of a flow's VC as one."""
        members = [one for one in self.flows if one.name in self.sharing[flow.name]]
        return flow._replace(
            cells=sum(_finite(one.cells for one in members)),
            goodput=sum(_finite(one.goodput for one in members)),
        )

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

    def _values(self, table: str, key: str) -> list[float]:
        """Every value of a key of flows: bits, bits or packets per second, or seconds."""
        tables = tables_of(self.settings, table, f"flow.{table}", f"group.{table}")
        return [value for _, one in tables if (value := _amount(one.get(key))) is not None]


def _is_near(rate: float, limit: float) -> bool:
    """Whether a rate is what a limit allows, but for what is around it."""
    return 0.9 * limit <= rate <= 1.05 * limit


_BITS = {"B": 8.0, "cell": 384.0, "cells": 384.0, "cells/s": 424.0, "bit/s": 1.0, "packet/s": 1.0, "s": 1.0}
"""What one of a unit is: bits, bits or packets per second, or seconds. Packets of a buffer have none."""


def _amount(value: object) -> float | None:
    """A value of a scenario as a number; None for what is none."""
    size, unit = in_base_unit(value) or (0.0, "")
    return size * _BITS[unit] if unit in _BITS else None
