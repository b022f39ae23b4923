"""What rows of flows say of each: what limits it, and what it carries, averaged over replications."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from celltrain import statistics
from celltrain.notes.tables import CATEGORIES

__all__ = ["BY_TIMEOUT", "BY_WINDOW", "FLOW", "MOST_OF_THE_TIME", "Flow", "finite", "mean", "means"]

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""

BY_WINDOW = "limited_by_receive_window"
BY_TIMEOUT = "limited_by_timeout"

FLOW = (
    "flow",
    "source",
    "destination",
    "category",
    "circuit",
    "round_trip",
    "goodput",
    "cells_sent",
    "segments_sent",
    "acks_sent",
    BY_WINDOW,
    BY_TIMEOUT,
    "cells_discarded",
    "clp",
    "cells_tagged",
)
"""Columns of flows that tell what holds them up."""


class Flow(NamedTuple):
    """A flow: means over the replications."""

    name: Any
    source: str
    destination: str
    category: str
    circuit: Any
    round_trip: float
    goodput: float
    cells: float
    segments: float
    acks: float
    by_window: float
    by_timeout: float
    discarded: float = 0.0
    """Cells of it, at all ports."""
    clp: float = 0.0
    """The priority with which its host sends."""
    tagged: float = 0.0
    """Cells of it to which switches gave the low priority."""

    @property
    def category_of_acks(self) -> str:
        """The category in which its ACKs travel: best effort, but for those of ABR, whatever its contract."""
        return "abr" if self.category == "abr" else CATEGORIES[-1]

    @property
    def is_tagged(self) -> bool:
        """Whether most of it has the low priority only by tags."""
        return self.clp == 0 and self.tagged > self.cells / 2

    @property
    def is_low(self) -> bool:
        """Whether most of it has the low priority (CLP = 1)."""
        return self.clp > 0 or self.is_tagged


def means(rows: Iterable[Sequence[Any]]) -> list[Flow]:
    """The flows of rows; what a point of a sweep lacks is None."""
    flows: dict[Any, list[Sequence[Any]]] = {}
    for row in rows:
        flows.setdefault(row[0], []).append(row)
    return [Flow(*some[0][:5], *map(_mean, *(row[5:] for row in some))) for some in flows.values()]


def _mean(*values: float | None) -> float:
    """The mean of a flow over replications; `mean` and `finite` in one, as there may be very many flows."""
    total = count = 0.0
    for value in values:
        if value is not None and math.isfinite(value):
            total, count = total + value, count + 1
    return total / count if count else math.nan


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that are numbers."""
    return [value for value in values if value is not None and math.isfinite(value)]


def mean(values: Sequence[float], otherwise: float) -> float:
    """The mean of some values, or what stands for that of none."""
    return statistics.mean(values) if values else otherwise
