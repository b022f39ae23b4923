"""The measures by which variants and points of sweeps are compared unless asked otherwise."""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from celltrain.errors import InputError, ScenarioError
from celltrain.registry import Measure, compared
from celltrain.scenario import Scenario

__all__ = ["usual_measures"]


def usual_measures(known: Collection[str], scenarios: Callable[[], Iterable[Scenario]]) -> list[Measure]:
    """These measures: where there are transfers or requests, those of how long they take come first.

    Goodput and fairness index are left out where there is nothing else: the goodput is the load then.

    Args:
        known: the names of what was measured.
        scenarios: gives what ran.

    Results of older versions, whose scenarios are not known, are compared by both.
    """
    from celltrain.notes.settings import all_offered  # notes read the axes of sweeps, which are here

    is_offered = False
    with suppress(InputError, ScenarioError):
        is_offered = all(map(all_offered, scenarios()))
    return compared(known, is_offered=is_offered)
