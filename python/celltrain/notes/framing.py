"""What packets and cells are on links: rates of sources are those of packets, where they send packets."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from celltrain import _core
from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.notes.tables import (
    FlowTables,
    Settings,
    first_table,
    traffic_of,
)
from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario

__all__ = [
    "Link",
    "headers_of",
    "idle_delays",
    "links",
    "links_of_switches",
    "octets",
    "packet_of",
    "segment_of",
]

HEADERS, TIMESTAMPS = 40, 12
"""Octets of the headers of IP and TCP, and of the option with timestamps."""


class Link(NamedTuple):
    """What a link makes of a packet."""

    is_host: bool
    """Whether the port before it is a host's."""
    framing: str
    """"cells" or "packets"."""
    rate: float
    """Bits per second, at the start of the run."""
    fastest: float
    """The highest of its rates in the run."""
    changes: bool
    """Whether it has several rates."""
    overhead: float
    """Octets that are added to each packet, or to each frame before it is cut into cells."""
    delay: float
    """The longest of its delays in the run, in seconds."""

    def bits(self, packet: float) -> float:
        """The bits of a packet of so many octets on this link; of a cell if there are none."""
        if not packet:
            return CELL_BITS
        framed = packet + self.overhead
        return 8 * framed if self.framing == "packets" else math.ceil(8 * framed / PAYLOAD_BITS) * CELL_BITS

    def bits_per_bit(self, packet: float) -> float:
        """How many bits of this link one of a packet takes; 1 where a rate is that of cells."""
        return self.bits(packet) / (8 * packet) if packet else 1.0


def links(scenario: Scenario) -> dict[str, Link]:
    """All links, by the ports before them."""
    every, facts = _core.links(scenario.core)
    kinds = [Link(*one) for one in facts]
    return {name: kinds[kind] for name, kind in every}


def links_of_switches(scenario: Scenario) -> dict[str, Link]:
    """The links behind the ports of switches, by these."""
    return {port: link for port, link in links(scenario).items() if not link.is_host}


def idle_delays(scenario: Scenario, flows: Sequence[str]) -> dict[str, float]:
    """For how long the links delay what some flows send, at the most, in seconds: without any queue."""
    every, ways = links(scenario), scenario.core.ports_of([*flows])
    return {
        name: sum(every[port].delay for port, _ in there)
        for name, (there, _) in zip(flows, ways, strict=True)
    }


def packet_of(tables: FlowTables) -> float:
    """The octets of the packets that a flow with such tables sends; 0 where it sends single cells.

    Those of TCP are of full segments, unless it carries less at a time.
    """
    traffic = traffic_of(tables)
    if "rate" in traffic or "peak" in traffic or "states" in traffic or traffic.get("kind") == "trace":
        return octets(traffic, "packet")
    return segment_of(tables) + headers_of(first_table(tables, "tcp"))


def headers_of(tcp: Settings) -> int:
    """The octets of the headers of a packet that such a TCP sends."""
    return HEADERS + (TIMESTAMPS if tcp.get("timestamps") else 0)


def segment_of(tables: FlowTables) -> float:
    """The octets of payload in a segment of a flow that TCP carries."""
    mss = octets(first_table(tables, "tcp"), "mss")
    return min(mss, octets(traffic_of(tables), "bytes") or mss)


def octets(table: Settings, key: str) -> float:
    """An amount of data; 0 for what is none."""
    size, unit = in_base_unit(table.get(key)) or (0.0, "")
    return size if unit == "B" else 0.0
