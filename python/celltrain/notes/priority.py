"""Guarantees that ports serve after other categories, which may leave less of a link than is guaranteed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from celltrain.notes.framing import Link, links_of_switches
from celltrain.notes.load import Vc, vcs_of
from celltrain.notes.tables import CATEGORIES, Settings, each, ends, node_names, table_of
from celltrain.scenario import Scenario
from celltrain.text import counted, listed, quantity

__all__ = ["CATEGORIES", "Allocator", "Shortfall", "allocator_of", "served_later", "shortfalls"]

MINIMA = {"abr": "abr.mcr", "gfr": "vc.mcr", "ubr": "vc.mcr"}
"""Those with guarantees that may be served too late, and the keys of these."""

LEAST_TARGET = 0.01
"""The step in which a target utilisation is proposed, and the least of them."""

ROUNDING = 1e-6
"""The part of a rate by which sums of rates may be off."""


class Shortfall(NamedTuple):
    """A port at which a category may get less than its VCs are guaranteed together: bits per second."""

    port: str
    category: str
    sooner: tuple[str, ...]
    """The categories that it serves before and that may take something."""
    taken: float
    """What these may take."""
    rate: float
    """That of the link."""
    promised: float
    target: str | None
    """The key of the share of the link for ABR that an allocator aims at; None where that is no cause."""
    enough: float
    """The largest such share that leaves what is guaranteed; 0 or less where none does."""


class Allocator(NamedTuple):
    """An allocator that aims at a share of a link."""

    key: str
    target: float
    of_link: bool
    """Whether that is a share of the link, and not of what is left of it."""


def served_later(scenario: Scenario) -> Iterator[str]:
    """A sentence if guarantees are served after categories that may leave less than their sum."""
    found = shortfalls(scenario)
    if not found:
        return
    worst = max(found, key=lambda one: (one.promised + one.taken) / one.rate)
    sooner, others = listed(worst.sooner), len({one.port for one in found}) - 1
    more = f", and the same holds for {counted(others, 'more port')}" if others else ""
    taken, rate, promised = (quantity(one, "bit/s") for one in (worst.taken, worst.rate, worst.promised))
    yield (
        f'port "{worst.port}" serves {sooner} before {worst.category}, and {sooner} may take {taken} of its '
        f"{rate}{more}: the guarantees of {worst.category} there ({MINIMA[worst.category]}), {promised} "
        f"together, may not be met; set {_change(worst)}, or one vc.category for all"
    )


def _change(worst: Shortfall) -> str:
    """What to set so that more is left."""
    found = []
    if worst.target is not None and worst.enough >= LEAST_TARGET:
        steps = math.floor(worst.enough / LEAST_TARGET + ROUNDING)
        found.append(f"{worst.target} = {steps * LEAST_TARGET:.2f} or less")
    keys = ["abr.pcr"] if "abr" in worst.sooner else []
    keys += ["vc.pcr", "traffic.rate"] if {*worst.sooner} - {"abr"} else []
    return ", ".join([*found, f"lower rates of what is served first ({', '.join(keys)})"])


def shortfalls(scenario: Scenario) -> list[Shortfall]:
    """The categories that may get less than they are guaranteed, at each port of a switch."""
    settings = scenario.resolved()
    every = links_of_switches(scenario)
    crossing: dict[str, dict[str, list[tuple[float, Vc]]]] = {name: {} for name in every}
    vcs = vcs_of(scenario, settings)
    for vc, (there, _) in zip(vcs.values(), scenario.core.ports_of([*vcs]), strict=True):
        for port, share in there:
            if port in crossing:
                crossing[port].setdefault(vc.category, []).append((share, vc))
    found: list[Shortfall] = []
    for port, categories in crossing.items():
        if any(vc.promised for category in MINIMA for _, vc in categories.get(category, ())):
            allocator = allocator_of(settings, port)
            found += _at(port, every[port], categories, allocator)
    return found


def _at(
    port: str,
    link: Link,
    categories: Mapping[str, Sequence[tuple[float, Vc]]],
    allocator: Allocator | None,
) -> Iterator[Shortfall]:
    """The categories that may get less than they are guaranteed at one port."""
    rate = link.rate
    taken = 0.0
    kept = 0.0
    """What would be taken whatever the allocator aims at."""
    span = rate
    """What the target of the allocator is a share of."""
    sooner: list[str] = []
    for category in CATEGORIES:
        some = categories.get(category, ())
        promised = sum(share * vc.promised for share, vc in some)
        # What is guaranteed beyond the link itself is another note.
        if category in MINIMA and sooner and rate - taken < promised * (1 - ROUNDING) and promised <= rate:
            helps = sooner[-1] == "abr" and kept + promised <= rate
            key = allocator.key if allocator is not None and helps else None
            yield Shortfall(port, category, (*sooner,), taken, rate, promised, key, 1 - promised / span)
        wanted = min(sum(share * vc.takes(link) for share, vc in some if share), rate - taken)
        if category == "abr" and wanted > 0 and allocator is not None:
            span = rate if allocator.of_link else rate - taken
            most = allocator.target * span - (taken if allocator.of_link else 0.0)
            kept, wanted = taken + promised, min(wanted, max(most, promised))
        if wanted > 0:
            sooner.append(category)
            taken += wanted


def allocator_of(settings: Settings, port: str) -> Allocator | None:
    """The allocator of a port, if it aims at a share of the link."""
    both = ends(port, node_names(settings))
    places = [(f"port.{n}", one) for n, one in enumerate(each(settings, "port")) if "allocator" in one]
    own = (table for table in places if both == (table[1]["from"], table[1]["to"]))
    place, table = next(own, ("switch", table_of(settings, "switch")))
    name = str(table_of(table, "allocator").get("algorithm"))
    parameters = table_of(table_of(table, "allocator"), name)
    if "target-utilisation" not in parameters:
        return None
    key = f"{place}.allocator.{name}.target-utilisation"
    of_link = parameters.get("utilisation-of") == "link"
    return Allocator(key, float(parameters["target-utilisation"]), of_link)
