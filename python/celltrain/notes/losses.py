"""Why a port discards, and what there is to do: its buffer is full, or its policy acts before that."""

import json
import math
from typing import NamedTuple

from celltrain import _core
from celltrain.notes.tables import Settings, each, ends, node_names, policy_of_port, table_of
from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario

__all__ = ["FULL", "REFUSED", "Losses", "is_by_policy", "keys_to_raise", "limit_of_vc"]

FULL = ("discarded_buffer_full", "discarded_frame_broken", "discarded_vc_captured", "discarded_pushed_out")
"""Columns of ports with what is lost for want of space, and with the frames that it breaks."""

REFUSED = ("discarded_frame_refused", "discarded_at_head")
"""Columns with what a policy discards before the buffer is full."""

BY_DELAY = ("pie", "codel", "cobalt", "fq-codel", "dualpi2")
"""Policies that keep the delay at a target, whatever the size of the buffer."""

SOME = 0.1
"""The part of what is discarded from which on a cause matters."""

REACHED = 0.9
"""The part of a buffer that is held where it fills: the last packets of several sizes may not fit."""


class Losses(NamedTuple):
    """What a port discards, over all replications."""

    full: float
    refused: float
    largest: float
    """The largest occupancy, in the unit of the buffer."""


def is_by_policy(scenario: Scenario, port: str, losses: Losses) -> bool:
    """Whether most of it is what the policy discards by rules that do not grow with the buffer."""
    return losses.refused > losses.full and _own_rule(scenario, port) is not None


def keys_to_raise(scenario: Scenario, port: str, losses: Losses, buffer: str) -> list[str]:
    """The keys of what is to be larger for fewer losses at a port; none where larger values may not help.

    Args:
        scenario: what ran.
        port: the port.
        losses: what it discards.
        buffer: the key of the size of its buffer.
    """
    own = _own_rule(scenario, port)
    every = losses.full + losses.refused
    found = []
    if own is not None and losses.refused > SOME * every:
        found += own
    if own is None or losses.full > SOME * every or _is_filled(scenario, port, losses):
        found += _limits(scenario, port, losses, buffer)
    return found


def _own_rule(scenario: Scenario, port: str) -> list[str] | None:
    """The keys of what a policy goes by, if that does not grow with the buffer; none if a rule is written."""
    place, policy, parameters = policy_of_port(scenario, port)
    if policy in BY_DELAY:
        return [f"{place}.{policy}.target"]
    if policy == "script":
        return []
    levels = {key: parameters[key] for key in ("low", "high", "min", "max", "threshold") if key in parameters}
    absolute = [key for key, level in levels.items() if "%" not in str(level)]
    return [f"{place}.{policy}.{key}" for key in absolute] or None


def _limits(scenario: Scenario, port: str, losses: Losses, buffer: str) -> list[str]:
    """The keys of the limits of a port's queue that it may have reached."""
    settings = scenario.resolved()
    memory = ["switch.memory.size"] if table_of(table_of(settings, "switch"), "memory") else []
    key, limit = limit_of_vc(settings, port)
    of_vc = [key] if math.isfinite(limit) else []
    if losses.refused > losses.full:  # at levels that are shares of the buffer
        return [buffer, *memory]
    if not memory and not of_vc:
        return [buffer]
    # Where the buffer was full, VCs may have met their limits before.
    return [buffer, *of_vc] if _is_filled(scenario, port, losses) else [*of_vc, *memory]


def _is_filled(scenario: Scenario, port: str, losses: Losses) -> bool:
    """Whether the buffer of a port was full."""
    every = json.loads(_core.ports(scenario.core))
    size = next((one["capacity"] for one in every if one["name"] == port), None)
    return size is not None and losses.largest >= REACHED * size


def limit_of_vc(settings: Settings, port: str) -> tuple[str, float]:
    """The key of what a VC may hold at a port, and how much that is; infinity if it has no limit."""
    both = ends(port, node_names(settings))
    tables = [
        (f"port.{n}", one)
        for n, one in enumerate(each(settings, "port"))
        if both == (one["from"], one["to"]) and "vc-buffer" in one
    ]
    place, table = next(iter(tables), ("switch", table_of(settings, "switch")))
    size, _ = in_base_unit(table.get("vc-buffer")) or (math.inf, "")
    return f"{place}.vc-buffer", size
