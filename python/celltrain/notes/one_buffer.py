"""Categories that are served first and lose all the same, because others fill the buffer that all share."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from celltrain import _core
from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.notes.framing import octets
from celltrain.notes.load import amount
from celltrain.notes.losses import FULL, REFUSED, Losses, is_by_policy, limit_of_vc
from celltrain.notes.measured import Runs
from celltrain.notes.tables import CATEGORIES, Settings, each, flow_tables, table_of, traffic_of
from celltrain.scenario import Scenario
from celltrain.text import listed, percent

__all__ = ["crowded_out"]

LOST = (
    "port",
    "switch",
    "cells_discarded",
    "discarded_non_conforming",
    "occupancy_max",
    *FULL,
    *REFUSED,
)
"""Columns of ports that say what each discards, and why."""

BURSTS = 2
"""The multiple of its mean rate that Poisson traffic keeps to, but for moments."""

PART = 0.5
"""The part of a link, and of a buffer, that a category takes at most if the rest is that of others."""

SHARE = 0.9
"""The part of a buffer that is left to the VCs that are served last."""

TRAILER = 16
"""Octets that are added to a packet before it is cut into cells: about so many."""

LEAST = 0.0005
"""The least part that a sentence gives in percent."""

AVERAGING = "red"
"""A policy that goes by what the buffer held before."""

FRAMES = 3
"""The fewest frames that a VC should be able to hold."""

LARGE = {"cells": 32, "packets": 1, "bytes": 1500}
"""A frame of usual size."""

UNITS = {"bytes": "B"}
"""Units of ports as scenarios write them."""


class _Flow(NamedTuple):
    """A flow, over all replications."""

    category: str
    circuit: object
    sent: float
    discarded: float


def crowded_out(result: Runs, scenario: Scenario) -> Iterator[str]:
    """A sentence for each port at which a category loses cells that less urgent ones leave no space.

    What is served first waits for nothing if its peak rates fit into the link. So what fills the buffer then
    is of the others. Nothing is said of TCP, which sends until something is lost.
    """
    flows = _flows(result)
    if len({flow.category for flow in flows.values()}) < 2:
        return
    settings = scenario.resolved()
    if table_of(table_of(settings, "switch"), "memory"):
        return  # what other ports hold may leave no space
    ways = dict(zip(flows, (dict(there) for there, _ in scenario.core.ports_of([*flows])), strict=True))
    traffic = {name: traffic_of(tables) for name, tables in flow_tables(scenario, settings, flows)}
    losses = _losses(result)
    for port in json.loads(_core.ports(scenario.core)):
        name, size = port["name"], port["capacity"]
        if name not in losses or size is None or port["policy"] == AVERAGING:
            continue
        if losses[name].full + losses[name].refused == 0 or is_by_policy(scenario, name, losses[name]):
            continue
        # From the lowest level on a policy may refuse what the buffer has space for.
        size = min(size, *(level for _, level in port["levels"]), size)
        there = {flow: one for flow, one in flows.items() if name in ways[flow]}
        first = _served_first(there, traffic, PART * port["rate"], PART * size, port["unit"])
        last = {one.circuit: one.category for one in there.values() if one.category not in first}
        lost = [
            one
            for flow, one in there.items()
            if one.category in first and one.discarded and not {*ways[flow]} & ({*losses} - {name})
        ]
        key, limit = limit_of_vc(settings, name)
        if lost and last and len(last) * limit >= size:
            part = math.floor(SHARE * size / len(last))
            unit = UNITS.get(port["unit"], port["unit"])
            is_small = part < FRAMES * LARGE[port["unit"]]
            change = f"a larger buffer, and {key}" if is_small else f'{key} = "{part} {unit}" or less'
            yield _sentence(name, lost, [*there.values()], {*last.values()}, change)


def _served_first(
    there: Mapping[str, _Flow], traffic: Mapping[str, Settings], rate: float, size: float, unit: str
) -> list[str]:
    """The categories that, with all that is served before them, keep to a rate and to a size."""
    found: list[str] = []
    for category in CATEGORIES:
        found.append(category)
        some = [traffic[flow] for flow, one in there.items() if one.category in found]
        if sum(map(_peak, some)) > rate or sum(_frame(one, unit) for one in some) > size:
            return found[:-1]
    return found[:-1]


def _sentence(
    port: str, lost: Sequence[_Flow], there: Sequence[_Flow], last: Collection[str], change: str
) -> str:
    """What is said of a port; `last` are the categories that fill its buffer."""
    own = [category for category in CATEGORIES if any(one.category == category for one in lost)]
    others = [category for category in CATEGORIES if category in last]
    part = sum(one.discarded for one in lost) / sum(one.sent for one in there if one.category in own)
    of = percent(part) if part >= LEAST else "some"
    fill = f"{listed(others)} {'fills' if len(others) == 1 else 'fill'}"
    return (
        f'port "{port}" serves {listed(own)} before {listed(others)}, and still discards {of} of '
        f"{listed(own)}: {fill} the buffer, which all categories share; set {change}, the most that a VC "
        "may hold"
    )


def _peak(traffic: Settings) -> float:
    """The rate that a flow keeps to, but for moments; infinity where that is not known."""
    match traffic.get("kind"):
        case "cbr":
            return amount(traffic.get("rate"))
        case "on-off" | "bernoulli":
            return amount(traffic.get("peak"))
        case "poisson":
            return BURSTS * amount(traffic.get("rate"))
        case "mmpp":
            return BURSTS * max(amount(one.get("rate")) for one in each(traffic, "states"))
    return math.inf


def _frame(traffic: Settings, unit: str) -> float:
    """What a frame of a flow without TCP takes in a buffer that is counted in some unit."""
    packet = octets(traffic, "packet")
    if unit == "packets":
        return 1
    cells = math.ceil((packet + TRAILER) * 8 / PAYLOAD_BITS) if packet else traffic.get("frame", 1)
    return cells if unit == "cells" else packet or cells * CELL_BITS / 8


def _flows(result: Runs) -> dict[str, _Flow]:
    found: dict[str, _Flow] = {}
    columns = ("flow", "category", "circuit", "cells_sent", "cells_discarded")
    for name, category, circuit, sent, discarded in result.rows("flows", *columns):
        before = found.get(name, _Flow(category, circuit, 0.0, 0.0))
        found[name] = before._replace(
            sent=before.sent + (sent or 0), discarded=before.discarded + (discarded or 0)
        )
    return found


def _losses(result: Runs) -> dict[str, Losses]:
    """What the ports of switches discard that do."""
    found: dict[str, Losses] = {}
    for port, of_switch, discarded, policed, largest, *columns in result.rows("ports", *LOST):
        if of_switch and discarded:
            before = found.get(port, Losses(0.0, 0.0, 0.0))
            # Where policers discard as well, it is not known of which flows.
            full, refused = ([], []) if policed else (columns[: len(FULL)], columns[len(FULL) :])
            found[port] = Losses(
                before.full + sum(one or 0 for one in full),
                before.refused + sum(one or 0 for one in refused),
                max(before.largest, largest or 0),
            )
    return found
