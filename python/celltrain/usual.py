"""The measures by which variants and points of sweeps are compared unless asked otherwise."""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from celltrain.errors import InputError, ScenarioError
from celltrain.registry import Measure, compared
from celltrain.results.result import FAIRNESS
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["only_transfers", "usual_measures"]


def usual_measures(
    known: Collection[str], scenarios: Callable[[], Iterable[Scenario]], comparable: int
) -> list[Measure]:
    """These measures: where there are transfers or requests, those of how long they take come first.

    Goodput and fairness index are left out where there is nothing else: the goodput is the load then. So is
    the fairness index where one flow has nothing to share with.

    Args:
        known: the names of what was measured.
        scenarios: gives what ran.
        comparable: how many flows the fairness index is about.

    Results of older versions, whose scenarios are not known, are compared by both.
    """
    from celltrain.notes.settings import all_offered  # notes read the axes of sweeps, which are here

    is_offered = False
    with suppress(InputError, ScenarioError):
        is_offered = all(map(all_offered, scenarios()))
    shared = known if comparable > 1 else [name for name in known if name != FAIRNESS]
    return compared(shared, is_offered=is_offered)


def only_transfers(result: "Result") -> bool:
    """Whether all flows of a run are transfers, whose goodput is the load; unknown of older versions."""
    from celltrain.notes.settings import all_end

    if "scenario_toml" not in result.manifest:
        return False
    with suppress(ScenarioError):
        return all_end(Scenario.from_toml(result.manifest["scenario_toml"]))
    return False
