"""The measures by which variants and points of sweeps are compared unless asked otherwise."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from celltrain.errors import InputError, ScenarioError
from celltrain.groups import GROUP
from celltrain.registry import WAITS, Measure, compared, measure
from celltrain.results.result import FAIRNESS
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["OF_FLOWS", "leading", "only_transfers", "unresponsive_groups", "usual_measures"]

DELAY = "transfer_delay_p99"
"""The column of flows that says how long those wait that do not respond to congestion."""

OF_FLOWS = ("flow", "group", GROUP, "kind", "category", DELAY)
"""The columns of flows that `unresponsive_groups` reads."""

MOST_UNRESPONSIVE = 3
"""Groups of such flows whose delays are compared unless asked otherwise."""

TCP, ABR = "tcp", "abr"
"""The kind of flows with TCP, and the category of those that follow the rates of their switches."""


def usual_measures(
    known: Collection[str],
    scenarios: Callable[[], Iterable[Scenario]],
    comparable: int,
    unresponsive: Sequence[str] = (),
) -> list[Measure]:
    """These measures: where there are transfers or requests, those of how long they take come first.

    Next are the delays of flows that do not respond to congestion, of the first groups of them: a game beside
    a long upload is what a short queue is for. The mean delay at the bottleneck is not theirs.

    Goodput and fairness index are left out where there is nothing else: the goodput is the load then. So is
    the fairness index where one flow has nothing to share with.

    Args:
        known: the names of what was measured.
        scenarios: gives what ran.
        comparable: how many flows the fairness index is about.
        unresponsive: the groups of such flows whose delays are measured (`unresponsive_groups`).

    Results of older versions, whose scenarios are not known, are compared by both.
    """
    from celltrain.notes.sources import all_offered  # notes read the axes of sweeps, which are here

    is_offered = False
    with suppress(InputError, ScenarioError):
        is_offered = all(map(all_offered, scenarios()))
    shared = known if comparable > 1 else [name for name in known if name != FAIRNESS]
    usual = compared(shared, is_offered=is_offered)
    waits = [one for one in usual if one.name in WAITS]
    return [*waits, *map(measure, _delays(unresponsive)), *usual[len(waits) :]]


def leading(shown: Sequence[Measure], unresponsive: Sequence[str]) -> list[Measure]:
    """The first of some measures, with which a report begins.

    That is one, or the delays of flows that do not respond to congestion and the one behind them.
    """
    delays = _delays(unresponsive)
    count = next((place for place, one in enumerate(shown) if one.name not in delays), len(shown))
    return [*shown[: count + 1]]


def _delays(unresponsive: Sequence[str]) -> list[str]:
    """The measures of the delays of the first groups of such flows."""
    return [f"{DELAY} of {owner}" for owner in unresponsive[:MOST_UNRESPONSIVE]]


def unresponsive_groups(flows: Iterable[tuple[str, int, str, str, str, float]]) -> dict[str, bool]:
    """The groups of flows that do not respond to congestion, and whether their delays are measured.

    These are flows without TCP beside some with it, but not those of ABR, which follow their rates. Where a
    group has others too, and where a flow is in none, each of these flows stands for itself.

    Args:
        flows: the name, the number and the name of the group, the kind, the service category and the `DELAY`
            of each, in as many replications as there are.
    """
    groups: dict[str, tuple[int, str]] = {}
    delays: dict[str, list[float]] = {}
    kinds: dict[str, tuple[str, str]] = {}
    for flow, number, group, kind, category, delay in flows:
        groups[flow], kinds[flow] = (number, group), (kind, category)
        delays.setdefault(flow, []).append(delay)
    firm = {flow for flow, (kind, category) in kinds.items() if kind != TCP and category != ABR}
    if not firm or all(kind != TCP for kind, _ in kinds.values()):
        return {}
    mixed = {group for flow, (_, group) in groups.items() if flow not in firm}
    found: dict[str, bool] = {}
    for flow, (number, group) in groups.items():
        if flow in firm:
            owner = flow if group in mixed or number == 0 else group
            found[owner] = found.get(owner, True) and all(map(math.isfinite, delays[flow]))
    return found


def only_transfers(result: "Result") -> bool:
    """Whether all flows of a run are transfers, whose goodput is the load; unknown of older versions."""
    from celltrain.notes.sources import all_end

    if "scenario_toml" not in result.manifest:
        return False
    with suppress(ScenarioError):
        return all_end(Scenario.from_toml(result.manifest["scenario_toml"]))
    return False
