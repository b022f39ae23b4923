"""Ports that limit or lose more than the one that the summary is about: sentences for notes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from celltrain import statistics, text
from celltrain.scenario import Scenario

__all__ = ["LOAD", "Load", "is_any_worse", "is_chosen", "loads", "port_sentence", "worse"]

LOAD = ("port", "switch", "utilisation", "cells_arrived", "cells_discarded")
"""Columns of ports that say how much they carry and lose."""

BUSY = 0.99
"""The utilisation from which on a port can be the one that limits."""

IDLE = 0.9
"""The utilisation of the bottleneck below which a busy port limits instead."""

MUCH = 0.05
"""The part of what arrives that a port discards if that is worth a note."""

MANY = 20
"""The fewest discarded cells or packets that are."""


class Load(NamedTuple):
    """How much a port carries and loses, over all replications."""

    utilisation: float
    arrived: float
    discarded: float

    @property
    def loss(self) -> float:
        """The part of what arrives that it discards."""
        return self.discarded / self.arrived if self.arrived else 0.0


def loads(rows: Iterable[Sequence[Any]]) -> dict[str, Load]:
    """The ports of switches by their names; of rows of `LOAD`, in any number of replications."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for port, of_switch, *values in rows:
        if of_switch:
            found.setdefault(port, []).append(tuple(value or 0.0 for value in values))
    return {port: _load(some) for port, some in found.items()}


def _load(rows: Sequence[tuple[float, ...]]) -> Load:
    shares, arrived, discarded = zip(*rows, strict=True)
    return Load(statistics.mean(shares), sum(arrived), sum(discarded))


def is_chosen(scenario: Scenario) -> bool:
    """Whether the scenario names the port that the summary is about."""
    return "bottleneck" in scenario.to_dict().get("measures", {})


def worse(ports: Mapping[str, Load], bottleneck: str | None) -> str | None:
    """The port that limits or loses more than the bottleneck of the summary, if there is one."""
    if bottleneck is None or bottleneck not in ports:
        return None
    own = ports[bottleneck]
    found = [port for port, load in ports.items() if _is_worse(load, own.utilisation, own.loss)]
    return max(found, key=lambda port: (ports[port].loss, ports[port].utilisation), default=None)


def is_any_worse(ports: Mapping[str, Load]) -> bool:
    """Whether there is a port that is `worse` for some choice of the bottleneck."""
    if not ports:
        return False
    least_used = min(load.utilisation for load in ports.values())
    least_lost = min(load.loss for load in ports.values())
    return any(_is_worse(load, least_used, least_lost) for load in ports.values())


def _is_worse(load: Load, utilisation: float, loss: float) -> bool:
    """Whether a port limits or loses more than one of some utilisation and loss."""
    limits = load.utilisation > BUSY and utilisation < IDLE
    return limits or (load.discarded >= MANY and load.loss > max(MUCH, 2 * loss))


def port_sentence(port: str, bottleneck: str, pairs: Sequence[tuple[Load, Load]]) -> str:
    """What is said of a port and the bottleneck of the summary, by their loads in some runs."""
    (busy, lost), (own_busy, own_lost) = (
        (_range([load.utilisation for load in some]), _range([load.loss for load in some]))
        for some in zip(*pairs, strict=True)
    )
    return (
        f'port "{port}" transmits for {busy} of the time and discards {lost} of what arrives; the bottleneck '
        f'of the summary, "{bottleneck}", transmits for {own_busy} and discards {own_lost}: set '
        f'measures.bottleneck = "{port}" to summarise that port instead'
    )


def _range(parts: Sequence[float]) -> str:
    low, high = text.percent(min(parts)), text.percent(max(parts))
    return high if low == high else f"{low.removesuffix(' %')} to {high}"
