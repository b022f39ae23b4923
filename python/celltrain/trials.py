"""Trials: runs in which nothing happens, which tell what runs of scenarios measure before any of them."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from celltrain.errors import ScenarioError
from celltrain.experiment import Task, attempt
from celltrain.results import Record
from celltrain.scenario import Scenario

__all__ = ["ITS", "TO_COME", "measured", "tried"]

T = TypeVar("T")

TO_COME, ITS = "runs of this scenario", "its runs"
"""What lacks a metric before there are runs; the second where it is said of which scenario."""

BRIEF = {"duration": "1 ps", "warm-up": "0 s", "sample": "1 ps"}
"""Settings under which a scenario runs in no time."""


def measured(
    scenarios: Iterable[Scenario], *, trace: bool = False, jobs: int | None = None
) -> list[dict[str, str] | None]:
    """The unit of each metric that the runs of each scenario have; None where no trial tells."""

    def units(record: Record) -> dict[str, str]:
        return {name: unit for name, _, unit in record.summary}

    return tried(scenarios, units, trace=trace, jobs=jobs)


def tried(
    scenarios: Iterable[Scenario],
    reduce: Callable[[Record], T],
    *,
    trace: bool = False,
    jobs: int | None = None,
) -> list[T | None]:
    """What `reduce` makes of a trial of each scenario; an interrupt (Ctrl-C) stops them as it stops runs.

    It is None where a scenario cannot be so brief, or where its trial finds celltrain wrong: the runs to come
    will tell.
    """
    short = list(map(_brief, scenarios))
    tasks = [Task(one, one.seed, 0, trace) for one in short if one is not None]
    found, _ = attempt(tasks, reduce=lambda _, record: reduce(record), jobs=jobs)
    made = iter(found)
    return [None if one is None else next(made) for one in short]


def _brief(scenario: Scenario) -> Scenario | None:
    """The scenario, so short that nothing happens; None where it cannot be.

    Which measures a run has depends on the scenario alone, and not on how long it runs.
    """
    with suppress(ScenarioError):
        return scenario.with_(BRIEF)
    return None
