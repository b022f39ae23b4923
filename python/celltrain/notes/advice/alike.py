"""Replications that measured the same: what their intervals are worth."""

from collections.abc import Iterable

from celltrain import statistics
from celltrain.notes.sources import spread_start
from celltrain.scenario import Scenario

__all__ = ["ALIKE", "MEASURED_ALIKE", "alike_of", "measured_the_same", "started"]


def _said_alike(start: str | None) -> str:
    """What is said of replications that are no more than one; `start` is a setting that draws starts."""
    differ = "" if start is None else f"{start} for replications that differ, or "
    return (
        "every replication gave the same results: no random number had an effect, so intervals of 0 "
        f"say nothing about chance; set {differ}replications = 1"
    )


def _said_measured_alike(start: str | None) -> str:
    """What is said of replications whose summaries are the same, though their runs are not."""
    differ = "set a longer duration" if start is None else f"where sources begin at one instant, set {start}"
    return (
        "every replication gave the same results, although what happened in them differs: intervals of 0 say "
        f"nothing about chance; {differ}"
    )


WIDE = 10
"""Milliseconds over which starts are to be drawn."""

ALIKE = _said_alike(spread_start(None, WIDE))
"""What is said of replications that are no more than one, where all sources begin at one instant."""

MEASURED_ALIKE = _said_measured_alike(spread_start(None, WIDE))
"""What is said of replications whose summaries are the same, as where ties among like sources are drawn."""


def measured_the_same(samples: Iterable[Iterable[float | None]], replications: int) -> bool:
    """Whether replications, two or more, have the same values of every metric."""
    return replications > 1 and not any(map(statistics.differ, samples))


def alike_of(fingerprints: Iterable[str]) -> str:
    """What is said of replications that measured the same."""
    return ALIKE if len(set(fingerprints)) == 1 else MEASURED_ALIKE


def started(said: str, scenario: Scenario | None) -> str:
    """What is said of replications that measured the same, with a setting that draws starts."""
    start = spread_start(scenario, WIDE)
    return _said_alike(start) if said == ALIKE else _said_measured_alike(start)
