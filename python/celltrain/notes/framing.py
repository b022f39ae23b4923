"""What packets and cells are on links: rates of sources are those of packets, where they send packets."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from celltrain import _core
from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.notes.quantities import amount
from celltrain.notes.tables import (
    WITH_EXITS,
    FlowTables,
    Settings,
    each,
    ends,
    first_table,
    group_of,
    node_names,
    picoseconds,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit

__all__ = ["Link", "LinkTables", "access_links", "links", "octets", "packet_of", "segment_of"]

HEADERS, TIMESTAMPS = 40, 12
"""Octets of the headers of IP and TCP, and of the option with timestamps."""


class Link(NamedTuple):
    """What a link makes of a packet."""

    framing: str
    """"cells" or "packets"."""
    rate: float
    """Bits per second, at the start of the run."""
    overhead: float
    """Octets that are added to each packet, or to each frame before it is cut into cells."""
    later: tuple[float, ...] = ()
    """The rates to which it changes in the course of the run."""

    @property
    def fastest(self) -> float:
        """The highest of its rates."""
        return max((self.rate, *self.later))

    def bits(self, packet: float) -> float:
        """The bits of a packet of so many octets on this link; of a cell if there are none."""
        if not packet:
            return CELL_BITS
        framed = packet + self.overhead
        return 8 * framed if self.framing == "packets" else math.ceil(8 * framed / PAYLOAD_BITS) * CELL_BITS

    def bits_per_bit(self, packet: float) -> float:
        """How many bits of this link one of a packet takes; 1 where a rate is that of cells."""
        return self.bits(packet) / (8 * packet) if packet else 1.0


def links(scenario: Scenario, settings: Settings) -> dict[str, Link]:
    """The links behind the ports of switches, by these.

    Args:
        scenario: the scenario.
        settings: the same, resolved.
    """
    ports = {str(one["name"]): one for one in json.loads(_core.ports(scenario.core))}
    tables = LinkTables(settings, ports)
    found = {port: _link(tables.of(port), settings, scenario.duration) for port in ports}
    # The core knows of spreads of rates, too.
    return {
        port: link._replace(framing=str(ports[port]["framing"]), rate=float(ports[port]["rate"]))
        for port, link in found.items()
    }


def access_links(
    scenario: Scenario,
    settings: Settings,
    flows: Iterable[str],
    crossed: Mapping[str, Sequence[tuple[str, float]]],
) -> dict[str, Link]:
    """The links behind the ports of the hosts that send some flows, by these.

    Args:
        scenario: the scenario.
        settings: the same, resolved.
        flows: their names.
        crossed: the ports that the data of each cross, with shares.
    """
    tables = LinkTables(settings, (str(one["name"]) for one in json.loads(_core.ports(scenario.core))))
    firsts = {port for name in flows for port, _ in crossed[name][:1]}
    found = {port: _link(tables.of(port), settings, scenario.duration) for port in sorted(firsts)}
    return {port: link for port, link in found.items() if link.rate > 0}


class LinkTables:
    """The tables that say what links are like.

    Args:
        settings: a scenario, resolved.
        ports: the ports of switches.
    """

    def __init__(self, settings: Settings, ports: Iterable[str]) -> None:
        self._common = table_of(settings, "link")
        self._kind = table_of(settings, "topology").get("kind")
        self._nodes = node_names(settings)
        self._switches = {ends(port, self._nodes)[0] for port in ports}
        self._groups = {str(one.get("name")): one for one in each(settings, "group")}
        self._own = dict(_written(settings) if self._kind == "graph" else _overrides(settings))

    def of(self, port: str) -> list[Settings]:
        """Those of the link behind a port: what stands in the first that says something counts."""
        own = self._own.get(port)
        if self._kind == "graph":  # its links have no places
            return [*(own or ()), self._common]
        both = ends(port, self._nodes)
        place, group = self._place(both)
        own = own or self._own.get(" > ".join(both), [])
        return [*own, table_of(group, place), table_of(self._common, place), self._common]

    def _place(self, both: Sequence[str]) -> tuple[str, Settings]:
        """The place of a link by its ends, and the group whose hosts may have links of their own."""
        host = next((end for end in both if end not in self._switches), None)
        if host is None:
            return "trunk", {}
        group = group_of(host.partition("-")[2], self._groups)
        place = "exit" if self._kind in WITH_EXITS and host.startswith("dest") else "access"
        return place, self._groups.get(group or "", {})


def _link(tables: Sequence[Settings], settings: Settings, end: float) -> Link:
    """A link with such tables in a run that ends at some time, in seconds."""
    said = {key: value for table in reversed(tables) for key, value in table.items()}
    framing = str(said.get("framing", "cells"))
    adds = said if framing == "packets" else table_of(settings, "aal5")
    rates = {picoseconds(one.get("at")): _rate(one.get("rate")) for one in each(said, "rate-changes")}
    rate = rates.pop(0, _rate(said.get("rate")))
    later = tuple(one for at, one in rates.items() if at < round(end * 1e12))
    return Link(framing, rate, octets(adds, "overhead"), later)


def _rate(value: object) -> float:
    """A rate in bits per second; 0 for what is none."""
    size, unit = in_base_unit(value) or (0.0, "")
    return size * (CELL_BITS if unit == "cells/s" else 1)


def packet_of(tables: FlowTables) -> float:
    """The octets of the packets that a flow with such tables sends; 0 where it sends single cells.

    Those of TCP are of full segments, unless it carries less at a time.
    """
    traffic = traffic_of(tables)
    if "rate" in traffic or "peak" in traffic or "states" in traffic or traffic.get("kind") == "trace":
        return octets(traffic, "packet")
    timestamps = TIMESTAMPS if first_table(tables, "tcp").get("timestamps") else 0
    return segment_of(tables) + HEADERS + timestamps


def segment_of(tables: FlowTables) -> float:
    """The octets of payload in a segment of a flow that TCP carries."""
    mss = octets(first_table(tables, "tcp"), "mss")
    return min(mss, octets(traffic_of(tables), "bytes") or mss)


def octets(table: Settings, key: str) -> float:
    """An amount of data; 0 for what is none."""
    size, unit = in_base_unit(table.get(key)) or (0.0, "")
    return size if unit == "B" else 0.0


def _overrides(settings: Settings) -> Iterator[tuple[str, list[Settings]]]:
    """The tables of single links of a topology that makes them, in both directions."""
    for one in each(settings, "link-override"):
        both = str(one.get("from")), str(one.get("to"))
        for way in (both, both[::-1]):
            yield " > ".join(way), [table_of(one, "link")]


def _written(settings: Settings) -> Iterator[tuple[str, list[Settings]]]:
    """The tables of the links of a graph, by the ports before them."""
    written = [
        ((str(one.get("from")), str(one.get("to"))), one)
        for one in each(table_of(settings, "topology"), "link")
    ]
    apart = {
        (one.get("from"), one.get("to")): table_of(one, "link") for one in each(settings, "link-override")
    }
    every, numbers = {both for both, _ in written}, Counter[str]()
    for both, link in written:
        # What is written from either end stands for one link, unless each direction is written.
        backwards = apart.get(both[::-1]) if both[::-1] not in every else None
        nearer = apart.get(both, backwards)
        for way in (both,) if link.get("simplex") else (both, both[::-1]):
            name = " > ".join(way)
            numbers[name] += 1
            numbered = f"{name} ({numbers[name]})" if numbers[name] > 1 else name
            yield numbered, [*([] if nearer is None else [nearer]), link]
