"""Measures of some of the flows: "goodput of bbr" is what the flows of a group carry together, or one flow.

The name or title of any column of flows that holds numbers stands before "of", and the name of a group or a
flow behind it. Over the flows of a group rates and counts add up, the largest of something is the largest
of all, and everything else is the mean over the flows.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celltrain import registry, statistics
from celltrain.errors import InputError, unknown
from celltrain.groups import GROUP
from celltrain.registry import OfFlows
from celltrain.results.record import Record
from celltrain.scenario import Scenario
from celltrain.text import joined

if TYPE_CHECKING:
    from celltrain.results.result import Group

__all__ = ["column_of", "has_own", "held_by", "members", "owners", "owners_of", "said_of_means", "sample"]

ALL_ENDED = "completion_time"
"""The column of which a flow without a value has not ended: the mean of the others would mislead."""


def owners(flows: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """The flows of each group by its name, and each flow by its own where no group has that."""
    return owners_of(zip(flows["flow"], flows[GROUP], strict=True))


def owners_of(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """As `owners`, of rows with a flow and the name of its group; each replication may have them."""
    groups = dict(rows)
    found: dict[str, list[str]] = {}
    for flow, group in groups.items():
        found.setdefault(group, []).append(flow)
    return found | {flow: [flow] for flow in groups if flow not in found}


def members(found: OfFlows, known: Mapping[str, Sequence[str]]) -> Collection[str]:
    """The flows that a measure is about.

    Raises:
        InputError: there is no such group or flow.
    """
    if found.owner not in known:
        error = unknown("group or flow", found.owner, [*known][: registry.MOST_LISTED])
        raise InputError(f"{found.name}: {error}")
    return frozenset(known[found.owner])


def held_by(
    names: Iterable[str], scenarios: Iterable[Scenario], jobs: int | None = None
) -> list[dict[str, str] | InputError | None]:
    """The unit of each of some measures of groups and flows in runs of each scenario, by trials.

    It is the error of the first that the runs lack, and None where no trial tells.
    """
    from celltrain.trials import tried  # it makes runs, whose results need what is here

    every = [found for found in map(registry.of_flows, names) if found is not None]

    def units(record: Record) -> dict[str, str] | InputError:
        try:
            known = owners(record.flows)
            for found in every:
                members(found, known)
            return {found.name: record.units[column_of(found, record.flows)] for found in every}
        except InputError as error:
            return error

    return tried(scenarios, units, jobs=jobs) if every else []


def said_of_means(metrics: Iterable[str], groups: "Callable[[], Iterable[Group]]") -> str:
    """What is said of measures of groups that are means over their flows, as a sentence.

    The mean of the percentiles of flows, say, is not that of all that they carry.

    Args:
        metrics: the measures that are shown.
        groups: gives those of every variant or point, of which one may have fewer flows.
    """
    means = [one for one in map(registry.of_flows, metrics) if one is not None and one.is_mean]
    large = {group.name for group in groups() if group.flows > 1} if means else set()
    several = [one.measure.title for one in means if one.owner in large]
    if not several:
        return ""
    return f"Means over the flows of groups, not values of all that these carry: {joined(several)}."


def column_of(found: OfFlows, columns: Collection[str]) -> str:
    """The column that a measure is taken from.

    Raises:
        InputError: the results lack it.
    """
    for name in (GROUP, found.column.name):
        if name not in columns:
            raise InputError(f"these runs lack the column '{name}' of flows, for '{found.name}'")
    return found.column.name


def has_own(found: OfFlows, flow: str, circuit: str | None) -> bool:
    """Whether a flow has a value of its own: of a VC that several share the first has what is counted."""
    return circuit is None or circuit == flow or not found.column.is_of_vcs


def sample(found: OfFlows, values: Iterable[float | None]) -> float:
    """The value of a group in one replication, of those of its flows; not a number where none has one."""
    every = [math.nan if value is None else float(value) for value in values]
    known = [value for value in every if not math.isnan(value)]
    if not known or (found.column.name == ALL_ENDED and len(known) < len(every)):
        return math.nan
    if found.is_sum:
        return math.fsum(known)
    return max(known) if found.is_largest else statistics.mean(known)
