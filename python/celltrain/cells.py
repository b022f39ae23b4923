"""The cells of one port, one by one: when each arrived and left, and whether it was lost or marked.

A cell is dead if some of its frame is lost: the link carries it, and the receiver throws it away.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain import _core
from celltrain.errors import InputError, unknown
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CELL_BITS",
    "CELL_RATE",
    "PAYLOAD_BITS",
    "Cells",
    "PortFacts",
    "port_facts",
    "port_names",
    "read_cells",
]

CELL_BITS = 8 * 53
"""Bits of a cell on a link."""

CELL_RATE = "cells/s"
"""The unit of rates of cells in results."""

PAYLOAD_BITS = 8 * 48
"""Bits of a cell behind its header."""

PACKET_BITS = 8 * 1500
"""Bits of the packet by which ports of packets are paced in pictures."""

INSTANT = 1e-9
"""Times less than this many seconds apart are one: they are given in whole picoseconds, cut off."""


@dataclass(frozen=True)
class PortFacts:
    """What a scenario says of an output port of a switch."""

    name: str
    policy: str
    framing: str
    """"cells" or "packets": what the port forwards."""
    rate: float
    """Of the link, in bit/s."""
    capacity: int | None
    """Of the buffer, in `unit`; None if it is unlimited."""
    unit: str
    """What the buffer is counted in: "cells", "packets" or "bytes"."""
    levels: tuple[tuple[str, int], ...]
    """The thresholds of the discard policy, by their keys, in `unit`."""

    @property
    def slot(self) -> float:
        """Seconds that a cell, or a packet of 1500 bytes, takes on the link."""
        return (CELL_BITS if self.framing == "cells" else PACKET_BITS) / self.rate


@dataclass(frozen=True, eq=False)
class Cells:
    """Every cell, or packet, that arrived at a port in some time, in the order of arrival."""

    port: PortFacts
    span: tuple[float, float]
    """The time, in seconds."""
    flow: Sequence[str]
    """The flow of each, with " ACK" behind it for the VC back."""
    last: "NDArray[np.bool_]"
    """Whether it is the last of its frame."""
    arrived: "NDArray[np.float64]"
    """When it arrived, in seconds; NaN if it was in the buffer before."""
    left: "NDArray[np.float64]"
    """When it left, in seconds; NaN if it is still there."""
    reason: Sequence[str]
    """Why the port discarded it, "" if it did not. What the link behind the port loses was accepted."""
    discarded: "NDArray[np.bool_]"
    dead: "NDArray[np.bool_]"
    """Whether it was accepted and some of its frame is lost."""
    marked: "NDArray[np.bool_]"
    """Whether it got a congestion mark here: it came without one and left with it."""
    efci: "NDArray[np.bool_]"
    """Whether its mark would be its own (EFCI, on VCs of ABR); others have that of their frame (ECN)."""

    @property
    def accepted(self) -> "NDArray[np.bool_]":
        """Which cells the port forwards or still holds."""
        return ~self.discarded

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many arrived, how many of these were discarded, and how many were accepted and dead."""
        import numpy as np

        came = ~np.isnan(self.arrived)
        return tuple(int(one.sum()) for one in (came, came & self.discarded, came & self.dead))  # type: ignore[return-value]

    @property
    def marks(self) -> "NDArray[np.bool_]":
        """Which stand for a mark: the last of a marked frame (ECN), and each marked cell (EFCI)."""
        return self.marked & (self.last | self.efci)

    def occupancy(self, chosen: "NDArray[np.bool_] | None" = None) -> "tuple[Any, Any]":
        """Times and the number of cells in the buffer from each time on, of all or of chosen cells."""
        import numpy as np

        start, end = self.span
        held = np.isnan(self.left) | np.isnan(self.arrived) | (self.left - self.arrived > INSTANT)
        held = held if chosen is None else held & chosen
        came = np.where(np.isnan(self.arrived), start, self.arrived)[held]
        gone = self.left[held]
        gone = gone[~np.isnan(gone)]
        times = np.round(np.concatenate([came, gone]) / INSTANT) * INSTANT
        steps = np.concatenate([np.ones(len(came)), -np.ones(len(gone))])
        order = np.lexsort((steps, times))  # a departure comes before an arrival at the same time
        times, level = times[order], np.cumsum(steps[order])
        inside = times <= end
        return np.append(times[inside], end), np.append(
            level[inside], level[inside][-1:] if inside.any() else 0
        )


def port_facts(scenario: Scenario, name: str | None = None) -> PortFacts:
    """A switch's output port by its name; the bottleneck by default.

    Raises:
        InputError: there is no such port.
    """
    every = [PortFacts(**{**one, "levels": tuple(map(tuple, one["levels"]))}) for one in _ports(scenario)]
    if not every:
        raise InputError(f"the scenario '{scenario.name}' has no switch, so no queue to draw")
    wanted = (scenario.bottleneck or every[0].name) if name is None else name
    for one in every:
        if one.name == wanted:
            return one
    raise unknown("port", wanted, [one.name for one in every])


def port_names(scenario: Scenario) -> list[str]:
    """The names of the output ports of all switches."""
    return [one["name"] for one in _ports(scenario)]


def _ports(scenario: Scenario) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_core.ports(scenario.core))
    return found


def read_cells(
    scenario: Scenario, port: PortFacts, span: tuple[float, float], seed: int, replication: int = 0
) -> Cells:
    """Runs a replication up to the end of `span` (in seconds), and returns the cells at a port within it.

    Raises:
        InputError: the time is too long, or links into the port change the order of what they carry.
    """
    import numpy as np

    from celltrain.notes.contracts import abr_flows

    try:
        found = _core.passages(scenario.core, seed, replication, port.name, *span)
    except ValueError as error:
        raise InputError(str(error)) from None
    arrived, left = (np.frombuffer(found[name], "<f8") for name in ("arrived", "left"))
    discarded = np.array([bool(reason) for reason in found["reason"]], dtype=bool)
    position, length = (np.array(found[name], dtype=np.int64) for name in ("position", "length"))
    data = ~np.array(found["management"], dtype=bool)
    pairs = zip(found["flow"], found["back"], strict=True)
    controlled = {*abr_flows(scenario)}
    return Cells(
        port,
        span,
        [f"{flow} ACK" if back else flow for flow, back in pairs],
        data & (position + 1 == length),
        arrived,
        left,
        found["reason"],
        discarded,
        np.array(found["broken"], dtype=bool) & ~discarded & data,
        np.array(found["marked"], dtype=bool),
        np.array([flow in controlled for flow in found["flow"]], dtype=bool),
    )


def units_within(port: PortFacts, span: tuple[float, float]) -> float:
    """How many cells, or packets of 1500 bytes, the link can carry in a time."""
    return math.ceil((span[1] - span[0]) / port.slot)
