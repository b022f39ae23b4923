"""Which flows share a VC: the cells of all of them count with the first."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from celltrain.scenario import Scenario

__all__ = ["CIRCUIT", "circuits"]

CIRCUIT = ("flow", "source", "destination", "cells_sent", "goodput")
"""Columns of flows that tell which of them share a VC."""

_RANGE = re.compile(r"(\d+) *\.\. *(\d+)")


def circuits(rows: Iterable[tuple[Any, ...]], scenario: Scenario | None) -> list[list[str]]:
    """The flows of each VC, in their order.

    Args:
        rows: those of `CIRCUIT`, of any number of replications.
        scenario: what ran; without it a flow that sent nothing has a VC of its own.
    """
    ends: dict[str, tuple[str, str]] = {}
    cells: dict[str, float] = {}
    payload: dict[str, float] = {}
    for flow, source, destination, sent, goodput in rows:
        ends[flow] = source, destination
        cells[flow] = cells.get(flow, 0.0) + (sent or 0.0)
        payload[flow] = payload.get(flow, 0.0) + (goodput or 0.0)
    settings = {} if scenario is None else scenario.to_dict()
    numbers, is_shared = _numbers(settings), settings.get("topology", {}).get("flows", 1) != 1
    found: dict[tuple[object, ...], list[str]] = {}
    last: dict[tuple[object, ...], tuple[object, ...]] = {}
    for flow, place in ends.items():
        number = numbers.get(flow)
        among = *place, number
        follows = not cells[flow] and (payload[flow] or is_shared or number is not None)
        key = last[among] if follows and among in last else (*among, flow)
        last[among] = key
        found.setdefault(key, []).append(flow)
    return [*found.values()]


def _numbers(settings: Mapping[str, Any]) -> dict[str, object]:
    """The numbers that flows give their VCs, by the names of the flows."""
    numbers: dict[str, object] = {}
    for flow in settings.get("flow", ()):
        if flow.get("circuit") is None:
            continue
        name = str(flow.get("name", ""))
        several = _RANGE.fullmatch(name)
        names = range(int(several[1]), int(several[2]) + 1) if several else (name,)
        numbers |= {str(one): flow["circuit"] for one in names}
    return numbers
