"""Ports that share a memory: levels of policies that no queue reaches."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from celltrain import _core
from celltrain.notes.tables import discard_of_port, table_of
from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario
from celltrain.text import quantity

__all__ = ["levels_out_of_reach"]

LAST = {"cells": 1, "packets": 1, "bytes": 9000}
"""By how much a queue may pass its limit: the last of what it takes may be beyond it."""

UNITS = {"bytes": "B"}
"""Units of ports as texts write them."""

BY_RULE = "script"
"""A policy whose levels are names in its rule, which may not use them."""


class _Level(NamedTuple):
    """A level at a port, in a unit."""

    size: float
    unit: str
    is_out_of_reach: bool


def levels_out_of_reach(scenario: Scenario) -> Iterator[str]:
    """A sentence if levels of policies lie above what the memory lets a port hold."""
    memory = table_of(table_of(scenario.resolved(), "switch"), "memory")
    if not memory or "pause" in memory:  # with pauses a port may hold all that is free
        return
    size, _ = in_base_unit(memory.get("size")) or (0.0, "")
    most = size * float(memory["alpha"]) / (1 + float(memory["alpha"]))
    found = {
        key: min(ports)
        for key, ports in _levels(scenario, most).items()
        if all(port.is_out_of_reach for port in ports)
    }
    if found:
        # `listed` would put such names in quotes, as numbers have commas.
        levels = " and ".join(f"{key} ({quantity(level.size, level.unit)})" for key, level in found.items())
        unit = next(iter(found.values())).unit
        yield (
            f"no queue reaches {levels}: the memory lets a port hold {quantity(most, unit)} at most, "
            "alpha/(1 + alpha) of its size; set a lower level, or a larger switch.memory.alpha or "
            "switch.memory.size"
        )


def _levels(scenario: Scenario, most: float) -> dict[str, list[_Level]]:
    """The levels by their keys, at each port that something crosses."""
    crossed = {port for there, _ in scenario.core.ports_of(scenario.core.flow_names()) for port, _ in there}
    found: dict[str, list[_Level]] = {}
    for port in json.loads(_core.ports(scenario.core)):
        if port["name"] in crossed and port["policy"] != BY_RULE:
            place, unit = discard_of_port(scenario, port["name"]) or "switch.discard", port["unit"]
            for key, level in port["levels"]:
                one = _Level(level, UNITS.get(unit, unit), level > most + LAST[unit])
                found.setdefault(f"{place}.{port['policy']}.{key}", []).append(one)
    return found
