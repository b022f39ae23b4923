"""What a scenario says of its flows, and of what they cross."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.notes.limits.flows import Flow, finite
from celltrain.notes.limits.parameters import Contract, Tables, Tcp
from celltrain.notes.limits.ports import KINDS_OF_LOSS
from celltrain.notes.limits.wording import (
    AT_ABR,
    AT_IP,
    AT_READER,
    AT_SHAPER,
    BY_POLICERS,
    OF_CELLS,
    OF_FRAMES,
    OTHER,
)
from celltrain.notes.losses import Losses, is_by_policy, keys_to_raise
from celltrain.notes.schedule import dark_share
from celltrain.notes.sources import begin_at_once, spread_start
from celltrain.notes.tables import (
    each,
    ends,
    flow_names,
    group_tables,
    node_names,
    place_of_link,
    tables_of,
)
from celltrain.quantities import amount
from celltrain.scenario import Scenario

__all__ = ["WIDE", "Configuration"]

MOST_NAMED = 3
"""Keys that a sentence names at most."""

WIDE = 100
"""Milliseconds over which starts are to be spread."""

_FRAME_POLICERS = ("tag", "discard-frames")


class Configuration:
    """What a scenario says of its flows, and of what they cross. Whatever many flows ask for is read once."""

    def __init__(self, scenario: Scenario, flows: Sequence[Flow]) -> None:
        self.settings = scenario.resolved()
        self.seconds = max(scenario.duration - scenario.warm_up, 1e-12)
        self.dark = dark_share(scenario)
        self.flows = flows
        self._scenario = scenario
        own = ((name, Tables(one)) for one in each(self.settings, "flow") for name in flow_names(one))
        self._own = dict(own)
        made = group_tables(scenario, self.settings)
        groups = {place: Tables(one) for place, one in made.values()}
        self._groups = {flow: groups[place] for flow, (place, _) in made.items()}
        self._all = Tables(self.settings)
        self._nodes = node_names(self.settings)

    @cached_property
    def at_once(self) -> bool:
        """Whether all sources begin at one instant."""
        return begin_at_once(self._scenario)

    @cached_property
    def start(self) -> str | None:
        """A setting that draws starts which are the same in every replication."""
        return spread_start(self._scenario, WIDE)

    @cached_property
    def is_small(self) -> bool:
        """Whether a buffer has no place for a frame of the largest segments."""
        tables = tables_of(self.settings, "tcp", "flow.tcp", "group.tcp")
        frame = max((amount(one.get("mss")) or 0.0 for _, one in tables), default=0.0) + 40 * 8
        sizes = [amount(port.get("buffer")) for _, port in tables_of(self.settings, "switch", "port")]
        return any(size is not None and size < frame for size in sizes)

    def tcp(self, flow: Flow) -> Tcp:
        """What is said of a flow's TCP."""
        return next((one.tcp for one in self._places(flow.name) if one.tcp is not None), Tcp())

    def limit(self, flow: Flow) -> str | None:
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

    def is_plausible(self, flow: Flow) -> bool:
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
        # Hosts that are made for groups are named after their flows, as in "src-web1".
        place, group = place_of_link(self.settings, host), self._groups.get(host.partition("-")[2])
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
        lost = (key for key, count in zip(KINDS_OF_LOSS, kinds, strict=True) if count)
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
            for key in KINDS_OF_LOSS
        }

    def is_policed(self, flow: Flow) -> bool:
        """Whether anything polices a flow's VC."""
        return self._contract(flow).policing is not None

    def policed(self, flow: Flow) -> str:
        """What is said of a flow that policers hold up; a note on the scenario covers long frames."""
        contract = self._contract(flow)
        if contract.policing not in _FRAME_POLICERS:
            return BY_POLICERS.replace("{keys}", OF_CELLS)
        overhead = amount(self.settings.get("aal5", {}).get("overhead")) or 0.0
        cells = math.ceil((self.tcp(flow).segment + 40 * 8 + overhead) / PAYLOAD_BITS)
        return OTHER if cells > contract.frame else BY_POLICERS.replace("{keys}", OF_FRAMES)

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

    def _carries(self, flow: Flow, part: float) -> bool:
        """Whether a flow carries at least some part of a window a round trip while it waits."""
        tcp = self.tcp(flow)
        whole = max(tcp.window // tcp.segment, 1) * tcp.segment
        trip = flow.round_trip + 2 * tcp.processing_delay
        return not flow.goodput * trip < part * whole * flow.by_window

    @cached_property
    def _circuits(self) -> dict[Any, tuple[float, float]]:
        """What the flows of each VC carry together: cells, and goodput."""
        found: dict[Any, list[Flow]] = {}
        for flow in self.flows:
            found.setdefault(flow.circuit, []).append(flow)
        return {
            circuit: (
                sum(finite(one.cells for one in members)),
                sum(finite(one.goodput for one in members)),
            )
            for circuit, members in found.items()
        }

    @cached_property
    def _busy_ips(self) -> set[str]:
        """The hosts whose IP serves packets all the time."""
        host = self.settings.get("host", {})
        rate = amount(host.get("ip-rate"))
        if not rate:
            return set()
        served: dict[str, float] = {}
        is_both = host.get("ip-serves") == "both"
        for flow in self.flows:
            for name, own, other in (
                (flow.source, flow.segments, flow.acks),
                (flow.destination, flow.acks, flow.segments),
            ):
                served[name] = served.get(name, 0.0) + sum(finite((own, other if is_both else 0.0)))
        return {name for name, count in served.items() if count / self.seconds > 0.95 * rate}

    def _contract(self, flow: Flow) -> Contract:
        """What is said of a flow's VC, which the first of its flows names."""
        places = self._places(flow.circuit)
        return next((one.contract for one in places if one.contract is not None), Contract())

    def _places(self, flow: Any) -> Iterator[Tables]:
        """The settings of a flow: its own, those of its group, and those of all."""
        return (one for one in (self._own.get(flow), self._groups.get(flow), self._all) if one is not None)


def _both(link: Mapping[str, Any]) -> frozenset[Any]:
    """The ends of a link, which has two directions."""
    return frozenset((link.get("from"), link.get("to")))


_PLACES = ("access", "trunk", "exit")
"""The places of links."""


def _is_near(rate: float, limit: float) -> bool:
    """Whether a rate is what a limit allows, but for what is around it."""
    return 0.9 * limit <= rate <= 1.05 * limit
