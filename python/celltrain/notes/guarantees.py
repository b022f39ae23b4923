"""VCs that ask for more than their guarantees and get less, and what takes the rest."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from celltrain import statistics
from celltrain.cells import CELL_BITS
from celltrain.notes.framing import links, packet_of
from celltrain.notes.load import active_time
from celltrain.notes.priority import CATEGORIES, allocator_of
from celltrain.notes.tables import Settings, flow_tables, named
from celltrain.scenario import Scenario
from celltrain.text import listed, percent, quantity

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["broken_guarantees"]

ALL = 0.99
"""The part of the measured time for which a flow sends that sends all the time."""

CARRIED = ("flow", "circuit", "category", "mcr", "cells_sent", "cells_discarded")
"""Columns of flows that say what of each arrives, and what is guaranteed to it."""

KEPT = 0.98
"""The share of a guarantee from which on it counts as kept: a last frame may still be on its way."""

BUSY = ("limited_by_congestion_window", "limited_by_recovery", "limited_by_timeout")
"""Columns that tell for how long the congestion control of a flow held it up."""

ALWAYS = 0.9
"""The share of the measured time from which on it did all the time."""


def broken_guarantees(result: "Result", scenario: Scenario) -> list[str]:
    """Sentences on VCs that ask for more than their guarantees and get less.

    A VC asks for more if it sends more, or if nothing but its congestion control holds up a flow of TCP.
    """
    times, units = dict(_active_times(scenario)), dict(_units(scenario))
    parts: dict[str, list[float]] = {}
    rows = result.rows("flows", "replication", "circuit", "flow", "mcr", "cells_sent", "cells_useful", *BUSY)
    for _, vc in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[:2]):
        every = list(vc)
        flow, mcr = next(((row[2], row[3]) for row in every if row[3] and row[3] > 0), ("", math.nan))
        is_busy = any(sum(row[6:]) >= ALWAYS for row in every if None not in row[6:])
        active = max(times.get(str(row[2]), 0.0) for row in every)
        if active <= 0:
            continue  # what is left of it drains
        bits = units.get(flow, CELL_BITS) / active
        if mcr > 0 and (is_busy or bits * sum(row[4] for row in every) > mcr):
            parts.setdefault(flow, []).append(bits * sum(row[5] for row in every) / mcr)
    least = {flow: statistics.mean(values) for flow, values in parts.items()}
    broken = {flow: part for flow, part in least.items() if part < KEPT}
    if not broken:
        return []
    worst = min(broken, key=broken.__getitem__)
    which = f"the VC of {named([worst], 'flow')} asks for more than its guarantee (vc.mcr) and gets"
    rest = "" if len(broken) == 1 else f", the least of {len(broken)} such VCs"
    return [f"{which} {percent(broken[worst])} of it{rest}{_why(result, scenario, worst)}"]


def _why(result: "Result", scenario: Scenario, flow: str) -> str:
    """What is said of a port that serves other categories before that of a flow and has too little left."""
    settings = scenario.resolved()
    every, tables = links(scenario, settings), dict(flow_tables(settings, scenario.core.flow_names()))
    begin, end = active_time(scenario, tables[flow])
    # Where links differ in their framing it is not known which of the two was counted.
    if len({link.framing for link in every.values()}) > 1 or end - begin < ALL * _measured(scenario):
        return ""
    ways = dict(zip(tables, (there for there, _ in scenario.core.ports_of([*tables])), strict=True))
    carried = _carried(result, scenario)
    own = carried[flow].category
    before = CATEGORIES[: CATEGORIES.index(own)]
    for port, _ in ways[flow]:
        if port not in every:
            continue
        taken, promised, link = dict.fromkeys(before, 0.0), 0.0, every[port]
        for name, one in carried.items():
            share = dict(ways[name]).get(port, 0.0)
            promised += share * one.promised if one.category == own else 0.0
            if one.category in taken:
                octets = packet_of(tables[name]) if link.framing == "packets" else 0
                taken[one.category] += share * one.rate * link.bits(octets)
        served, left = [one for one in before if taken[one] > 0], link.rate - sum(taken.values())
        if served and left < promised:
            takes = f"{listed(served)} {'takes' if len(served) == 1 else 'take'}"
            taken_of_it = quantity(sum(taken.values()), "bit/s")
            return (
                f': port "{port}" serves {listed(served)} before {own}, and {takes} {taken_of_it} of its '
                f"{quantity(link.rate, 'bit/s')}; set lower rates for what is served first "
                f"({_keys(settings, port, served)}), or one vc.category for all"
            )
    return ""


class _Carried(NamedTuple):
    """What a flow carries, on average."""

    category: str
    promised: float
    """What is guaranteed to its VC, of which it is the first flow, in bits per second."""
    rate: float
    """Cells or packets per second."""


def _carried(result: "Result", scenario: Scenario) -> dict[str, _Carried]:
    """What each flow carries, over all replications."""
    seconds = _measured(scenario) * result.manifest["replications"]
    found: dict[str, _Carried] = {}
    firsts: dict[object, str] = {}
    for name, circuit, category, mcr, sent, lost in result.rows("flows", *CARRIED):
        first = firsts.setdefault(circuit, name)
        promised = mcr if name == first and mcr is not None and mcr > 0 else 0.0
        before = found[name].rate if name in found else 0.0
        found[name] = _Carried(category, promised, before + ((sent or 0) - (lost or 0)) / seconds)
    return found


def _measured(scenario: Scenario) -> float:
    return scenario.duration - scenario.warm_up


def _keys(settings: Settings, port: str, sooner: Sequence[str]) -> str:
    """The keys of rates of categories that a port serves first."""
    keys = []
    if "abr" in sooner:
        allocator = allocator_of(settings, port)
        keys += ["abr.pcr"] if allocator is None else [allocator.key, "abr.pcr"]
    return ", ".join([*keys, *(["vc.pcr", "traffic.rate"] if {*sooner} - {"abr"} else [])])


def _active_times(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """For how long each flow may send in the measured time, in seconds."""
    for name, tables in flow_tables(scenario.to_dict(), scenario.core.flow_names()):
        begin, end = active_time(scenario, tables)
        yield name, end - begin


def _units(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """The bits of a packet of each flow on the first link behind a switch, if that carries packets."""
    settings, names = scenario.resolved(), scenario.core.flow_names()
    every = links(scenario, settings)
    crossed = scenario.core.ports_of(names)
    for (name, tables), (there, _) in zip(flow_tables(settings, names), crossed, strict=True):
        first = next((every[port] for port, _ in there if port in every), None)
        if first is not None and first.framing == "packets":
            yield name, first.bits(packet_of(tables))
