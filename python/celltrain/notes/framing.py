"""What packets and cells are on links: rates of sources are those of packets, where they send packets."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
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
    flow_tables,
    group_of,
    node_names,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit

__all__ = ["Link", "access_links", "links", "octets", "packet_of", "segment_of"]

HEADERS, TIMESTAMPS = 40, 12
"""Octets of the headers of IP and TCP, and of the option with timestamps."""


class Link(NamedTuple):
    """What a link makes of a packet."""

    framing: str
    """"cells" or "packets"."""
    rate: float
    """Bits per second."""
    overhead: float
    """Octets that are added to each packet, or to each frame before it is cut into cells."""

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
    nodes = node_names(settings)
    both = {port: ends(port, nodes) for port in ports}
    switches = {begin for begin, _ in both.values()}
    of_frames = octets(table_of(settings, "aal5"), "overhead")
    own, groups = _own_overheads(settings), {str(one.get("name")): one for one in each(settings, "group")}
    found = {}
    for port, (begin, end) in both.items():
        framing = str(ports[port]["framing"])
        of_packets = own.get(frozenset((begin, end)))
        if of_packets is None:
            of_packets = _common_overhead(settings, groups, end, is_trunk=end in switches)
        found[port] = Link(framing, ports[port]["rate"], of_packets if framing == "packets" else of_frames)
    return found


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
    nodes, own, common = node_names(settings), _own_tables(settings), table_of(settings, "link")
    found = {}
    for name, tables in flow_tables(settings, flows):
        port = next((port for port, _ in crossed[name]), None)
        if port is None:
            continue
        # What is nearer to the flow counts: its link, the access link of its group, that of all.
        places = [*own.get(frozenset(ends(port, nodes)), ()), table_of(tables[1], "access")]
        places += [table_of(common, "access"), common]
        link = {key: value for place in reversed(places) for key, value in place.items()}
        rate = amount(link.get("rate"))
        if rate:
            framing = str(link.get("framing", "cells"))
            added = (
                octets(link, "overhead")
                if framing == "packets"
                else octets(table_of(settings, "aal5"), "overhead")
            )
            found[port] = Link(framing, rate, added)
    return found


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


def _own_overheads(settings: Settings) -> dict[frozenset[object], float]:
    """What links that have tables of their own add to each packet, by the ends of these."""
    every = ((both, link) for both, some in _own_tables(settings).items() for link in reversed(some))
    return {both: octets(link, "overhead") for both, link in every if "overhead" in link}


def _own_tables(settings: Settings) -> dict[frozenset[object], list[Settings]]:
    """The tables of single links, by the ends of these; of several for the same link the first counts."""
    found: dict[frozenset[object], list[Settings]] = {}
    every = [(one, table_of(one, "link")) for one in each(settings, "link-override")]
    every += [(one, one) for one in each(table_of(settings, "topology"), "link")]
    for one, link in every:
        found.setdefault(frozenset((one.get("from"), one.get("to"))), []).append(link)
    return found


def _common_overhead(
    settings: Settings, groups: Mapping[str, Settings], end: str, *, is_trunk: bool
) -> float:
    """What a link to some node adds to each packet, unless it has a table of its own.

    The hosts of a group may have links of their own.
    """
    common = table_of(settings, "link")
    if is_trunk:
        places = [table_of(common, "trunk")]
    else:
        exits = table_of(settings, "topology").get("kind") in WITH_EXITS
        place = "exit" if exits and end.startswith("dest") else "access"
        group = group_of(end.partition("-")[2], groups)
        places = [table_of(groups.get(group or "", {}), place), table_of(common, place)]
    return octets(next((one for one in places if "overhead" in one), common), "overhead")
