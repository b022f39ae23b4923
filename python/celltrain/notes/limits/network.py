"""Which ports flows cross, which of them are full, and of whose cells."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from celltrain.notes.limits.flows import MOST_OF_THE_TIME, Flow
from celltrain.notes.limits.ports import Port, Ports
from celltrain.notes.load import Offer, offers, rate_keys
from celltrain.notes.priority import shortfalls
from celltrain.notes.tables import CATEGORIES, FOR_ALL, policy_of_port
from celltrain.scenario import Scenario

__all__ = ["Network"]

ALWAYS = 0.99
"""The share of a time from which on a port is saturated."""

NEARLY_ALL = 0.9
"""The share of a link that leaves almost nothing."""

ROUNDING = 1e-9
"""How much less than 1 a sum of shares may be through rounding alone."""

BY_CLP = ("double-epd", "per-vc", "dfba")
"""Policies that refuse frames of low priority (CLP = 1) from a level on at which they accept others."""


class Forced(NamedTuple):
    """A port that is full of what sources send that do not respond to losses, and the keys of their rates."""

    port: str
    takes_it: bool
    """Whether they take nearly all that it transmits."""
    keys: Sequence[str]


class Network:
    """Which ports flows cross, and which of them are full."""

    def __init__(
        self, ports: Ports, bottleneck: str | None, flows: Sequence[Flow], scenario: Scenario | None
    ) -> None:
        self.ports = ports
        self.bottleneck = bottleneck
        self.flows = flows
        self._scenario = scenario

    def crossed(self, flow: Flow) -> Mapping[str, float]:
        """The ports that a flow's data may cross, each with the share of the flow's ways that do."""
        return self._ways[flow.name][0]

    def crossed_both_ways(self, flow: Flow) -> Iterable[str]:
        """The ports that its data or its ACKs may cross."""
        there, back = self._ways[flow.name]
        return dict.fromkeys((*there, *back))

    def before_acks(self, flow: Flow) -> tuple[str, Sequence[str]] | None:
        """A port that leaves nothing for a flow's ACKs, and the categories that it serves before them."""
        if self._scenario is None:
            return None
        _, back = self._ways[flow.name]
        found = ((port, self.sooner.get((port, flow.category_of_acks))) for port in back)
        return next(((port, sooner) for port, sooner in found if sooner is not None), None)

    def discards_acks(self, flow: Flow) -> str | None:
        """A port on the way back of a flow that discards more than can be data: ACKs."""
        if self._scenario is None:
            return None
        _, back = self._ways[flow.name]
        return next((port for port in back if port in self._discarding_acks), None)

    @cached_property
    def _discarding_acks(self) -> Container[str]:
        data: dict[str, float] = {}
        """The most that each port can have discarded of data, in a replication."""
        for flow in self.flows:
            for name in self.crossed(flow) if flow.discarded > 0 else ():
                data[name] = data.get(name, 0.0) + flow.discarded
        return {
            name
            for name, port in self.ports.known.items()
            if port.discarded > (1 + ROUNDING) * data.get(name, 0.0) * port.replications
        }

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

    def full_ports(self, flow: Flow) -> dict[str, bool]:
        """The ports of switches that are saturated, and whether the flow surely crosses each."""
        crossed = self.crossed(flow)
        full = [name for name in crossed if not self.ports.known[name].is_host and self._is_full(name, flow)]
        full.sort(key=lambda name: (-crossed[name], name != self.bottleneck))
        return {name: crossed[name] > 1 - ROUNDING for name in full}

    def full_host(self, flow: Flow) -> str | None:
        """The port of the sender, if it is saturated."""
        own = (name for name in self.crossed(flow) if name.startswith(f"{flow.source} > "))
        return next((name for name in own if self._is_full(name, flow)), None)

    def _is_full(self, name: str, flow: Flow) -> bool:
        return _is_full(self.ports.known[name], flow)

    def waits_for_priority(self, flow: Flow, port: str) -> bool:
        """Whether a flow waits at a port that looks at priorities, and flows of high priority do not."""
        if not flow.is_low or self._scenario is None:
            return False
        high = [one for one in self.flows if not one.is_low and port in self.crossed(one)]
        looks = policy_of_port(self._scenario, port)[1] in BY_CLP
        return looks and bool(high) and all(not one.by_timeout > MOST_OF_THE_TIME for one in high)

    def forced(self, port: str) -> Forced | None:
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
        return Forced(port, takes_it, rate_keys(self._scenario, offer.flows))

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


def _is_full(port: Port, flow: Flow) -> bool:
    """Whether a port is saturated while a flow's window is full.

    It does if it transmits all the time. It may also be idle while windows are not full, as at the start:
    then it still transmits for at least that share of the time for which they are, and its queue tells it
    from one that is busy by chance. A round trip takes the time R, and W more in the queue; without it the
    windows would carry (R + W)/R as much. A port that could not carry that limits the flow.
    """
    if port.use > ALWAYS:
        return True
    covers = port.use >= ALWAYS * flow.by_window
    return covers and port.use * (flow.round_trip + port.delay) >= flow.round_trip > 0
