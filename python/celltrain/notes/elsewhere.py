"""Ports that limit, lose or hold more than the one that the summary is about: sentences for notes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from celltrain import text
from celltrain.scenario import Scenario

__all__ = ["LOAD", "Load", "is_any_worse", "is_chosen", "loads", "port_sentence", "worse"]

LOAD = (
    "port",
    "switch",
    "counted",
    "buffer_unit",
    "utilisation",
    "cells_arrived",
    "cells_forwarded",
    "cells_discarded",
    "occupancy_mean",
    "occupancy_max",
    "delay_mean",
)
"""Columns of ports that say how much they carry, lose and hold."""

BUSY = 0.99
"""The utilisation from which on a port can be the one that limits."""

IDLE = 0.9
"""The utilisation of the bottleneck below which a busy port limits instead."""

MUCH = 0.05
"""The part of what arrives that a port discards if that is worth a note."""

MANY = 20
"""The fewest discarded cells or packets that are, and the shortest queue."""

FAR = 10
"""The factor by which a queue is far longer than another."""

GROWS = 0.5
"""A queue that grows is longer at the end of the run than after the warm-up by this part of its largest."""

FILLED = 0.8
"""The mean of a queue that grew early and stayed is above this part of its largest occupancy."""


class Load(NamedTuple):
    """How much a port carries, loses and holds, over all replications."""

    utilisation: float
    arrived: float
    discarded: float
    held: float = 0.0
    """The mean occupancy."""
    delay: float = 0.0
    """The mean time that it takes from the arrival to the end of the transmission, in seconds."""
    grown: float = 0.0
    """By how much its queue is longer at the end of the run than after the warm-up, if it grows."""
    unit: str = "cells"
    """What `held` and `grown` are in."""

    @property
    def loss(self) -> float:
        """The part of what arrives that it discards."""
        return self.discarded / self.arrived if self.arrived else 0.0

    def is_worse(self, utilisation: float, loss: float) -> bool:
        """Whether it limits or loses more than a port of some utilisation and loss."""
        limits = self.utilisation > BUSY and utilisation < IDLE
        return limits or (self.discarded >= MANY and self.loss > max(MUCH, 2 * loss))

    def is_longer(self, held: float, delay: float) -> bool:
        """Whether its queue is far longer than one of some mean length and delay, or longer and grows."""
        if self.held < MANY:
            return False
        return self.delay > FAR * delay or (self.grown > 0 and self.delay > delay and self.held > 2 * held)


def loads(rows: Iterable[Sequence[Any]]) -> dict[str, Load]:
    """The ports of switches by their names; of rows of `LOAD`, in any number of replications.

    A queue grows if it is longer at the end than after the warm-up in every replication. A sawtooth ends
    anywhere, and a queue that fills after the warm-up and stays so holds that on average.
    """
    found: dict[str, list[Sequence[Any]]] = {}
    for port, of_switch, *values in rows:
        if of_switch:
            found.setdefault(port, []).append(values)
    return {port: _load(some) for port, some in found.items()}


def _load(rows: Sequence[Sequence[Any]]) -> Load:
    """The means of a port; one loop, as a large network has many ports."""
    used = arrived = discarded = held = delay = grown = 0.0
    grows, unit, is_alike = True, "cells", True
    for counted, buffer_unit, *numbers in rows:
        share, came, went, lost, mean, most, wait = map(_known, numbers)
        more = came - went - lost
        used, arrived, discarded = used + share, arrived + came, discarded + lost
        held, delay, grown = held + mean, delay + wait, grown + more
        grows = grows and more >= max(GROWS * most, MANY) and mean < FILLED * most
        unit, is_alike = str(counted), is_alike and counted == buffer_unit
    count = len(rows)
    more = grown / count if grows and is_alike else 0.0
    return Load(used / count, arrived, discarded, held / count, delay / count, more, unit)


def _known(value: float | None) -> float:
    """A number of a port; 0 where there is none, as the mean delay of what nothing crosses."""
    return value if value is not None and math.isfinite(value) else 0.0


def is_chosen(scenario: Scenario) -> bool:
    """Whether the scenario names the port that the summary is about."""
    return "bottleneck" in scenario.to_dict().get("measures", {})


def worse(ports: Mapping[str, Load], bottleneck: str | None) -> str | None:
    """The port that limits or loses more than the bottleneck of the summary, if there is one."""
    if bottleneck is None or bottleneck not in ports:
        return None
    own = ports[bottleneck]
    found = [port for port, load in ports.items() if load.is_worse(own.utilisation, own.loss)]
    if found:
        return max(found, key=lambda port: (ports[port].loss, ports[port].utilisation))
    hidden = [port for port, load in ports.items() if load.is_longer(own.held, own.delay)]
    return max(hidden, key=lambda port: ports[port].delay, default=None)


def is_any_worse(ports: Mapping[str, Load]) -> bool:
    """Whether there may be a port that is `worse` for some choice of the bottleneck."""
    if not ports:
        return False
    every = ports.values()
    used, lost = min(load.utilisation for load in every), min(load.loss for load in every)
    held, delay = min(load.held for load in every), min(load.delay for load in every)
    return any(load.is_worse(used, lost) or load.is_longer(held, delay) for load in every)


def port_sentence(port: str, bottleneck: str, pairs: Sequence[tuple[Load, Load]]) -> str:
    """What is said of a port and the bottleneck of the summary, by their loads in some runs."""
    loads, own = zip(*pairs, strict=True)
    change = f'set measures.bottleneck = "{port}" to summarise that port instead'
    of_summary = f'the bottleneck of the summary, "{bottleneck}",'
    if any(load.is_worse(other.utilisation, other.loss) for load, other in pairs):
        return (
            f'port "{port}" transmits for {_busy(loads)} of the time and discards {_lost(loads)} of what '
            f"arrives; {of_summary} transmits for {_busy(own)} and discards {_lost(own)}: {change}"
        )
    more = _counted([(load.grown, load.unit) for load in loads if load.grown > 0])
    grows = f", and {more} more at the end of the run than after the warm-up" if more else ""
    return (
        f'port "{port}" holds {_held(loads)} on average, each for {_delay(loads)}{grows}; '
        f"{of_summary} holds {_held(own)}, each for {_delay(own)}: {change}"
    )


def _busy(loads: Sequence[Load]) -> str:
    return _percents([load.utilisation for load in loads])


def _lost(loads: Sequence[Load]) -> str:
    return _percents([load.loss for load in loads])


def _held(loads: Sequence[Load]) -> str:
    return _counted([(load.held, load.unit) for load in loads])


def _counted(values: Sequence[tuple[float, str]]) -> str:
    """Numbers of cells, or of packets, or of both where runs differ in their framing."""
    units = dict.fromkeys(unit for _, unit in values)
    return " or ".join(_range([value for value, own in values if own == unit], unit) for unit in units)


def _delay(loads: Sequence[Load]) -> str:
    return _range([load.delay for load in loads], "s")


def _percents(parts: Sequence[float]) -> str:
    low, high = text.percent(min(parts)), text.percent(max(parts))
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _range(values: Sequence[float], unit: str) -> str:
    low, high = (text.quantity(one, unit, 3) for one in (min(values), max(values)))
    return high if low == high else f"{low} to {high}"
