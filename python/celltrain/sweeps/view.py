"""The means of a sweep as people read them: lines of tables, what stands below, and why some are missing."""

import math
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.registry import Measure
from celltrain.results.censored import Censored
from celltrain.results.censored import legend as legend_of
from celltrain.results.of_flows import said_of_means
from celltrain.statistics import Estimate, largest
from celltrain.sweeps.axes import shown
from celltrain.sweeps.censored import censored_beside
from celltrain.sweeps.result import Sweep

if TYPE_CHECKING:
    from celltrain.results import Group

__all__ = ["group_lines", "legend", "mean_lines", "placed", "why_missing"]

MOST_GROUPS = 6
"""Groups of flows in a table of their goodput; `Sweep.by_group` has all of them."""


def placed(sweep: Sweep, metric: str) -> list[Estimate]:
    """The estimates of a metric by the number of the point; of no runs where those of a point are missing.

    They are undefined where the metric says nothing (`Sweep.alone`).
    """
    every = sweep.estimates(metric)
    for place in sweep.alone(metric):
        every[place] = Estimate(math.nan, None, None, every[place].n, undefined=every[place].n)
    found = dict(zip(sweep.points["point"], every, strict=True))
    nothing = Estimate(math.nan, None, None, 0)
    return [found.get(point, nothing) for point in range(sweep.manifest["points"])]


def why_missing(sweep: Sweep, metric: str, found: Sequence[Estimate], points: Sequence[int]) -> str:
    """Why some points have no mean of a metric; nothing if all have one.

    Args:
        sweep: the sweep.
        metric: the metric.
        found: what `placed` has of it, in whatever unit.
        points: the numbers of the points.
    """
    numbers = sweep.points["point"]
    lonely, idle = ({numbers[place] for place in some(metric)} for some in (sweep.lonely, sweep.idle))
    undefined = text.why_undefined(found[point] for point in points if point not in lonely | idle)
    return " or ".join(filter(None, (undefined, *_why_nothing(lonely & {*points}, idle & {*points}))))


def _why_nothing(lonely: Collection[int], idle: Collection[int]) -> Iterator[str]:
    """Why a metric says nothing at some points: these have one flow to compare, and those no goodput."""
    if lonely:
        yield "there is one flow to compare"
    if idle:
        yield "the flows that it compares carried nothing in a replication"


def mean_lines(sweep: Sweep, most: int) -> list[tuple[str, ...]]:
    """A line for each of the first points: its parameters, and every measure with its interval.

    Behind completion and response times stands how many transfers or requests had not ended (`legend`).
    """
    columns: list[Sequence[str]] = [
        [shown(value) for value in sweep.points[key].head(most)] for key in sweep.parameters
    ]
    for one in sweep.measures:
        found = sweep.estimates(one.name)
        size, shown_ones = largest(found), zip(found[:most], sweep.units_at(one.name), strict=False)
        means = [text.interval(mean, unit, size, is_count=one.counts) for mean, unit in shown_ones]
        if beside := _beside(sweep, one):
            marks = ("" if found is None else found.mark for found in beside)
            means = [", ".join(filter(None, both)) for both in zip(means, marks, strict=False)]
        alone = {*sweep.alone(one.name)}
        columns.append(["-" if place in alone else mean for place, mean in enumerate(means)])
    return list(zip(*columns, strict=True))


def group_lines(sweep: Sweep, most: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns and lines of a table of the goodput of groups at the first points: a column for each group.

    It has no lines where the flows are of fewer than two groups. Of very many it has the first `MOST_GROUPS`.
    """
    groups = sweep.by_group()
    if len(groups) < 2:
        return (), []
    columns: list[Sequence[str]] = [
        [shown(value) for value in sweep.points[key].head(most)] for key in sweep.parameters
    ]
    for group in groups[:MOST_GROUPS]:
        every = [None if one is None else one.goodput for one in group.points]
        size = largest(one for one in every if one is not None)
        columns.append(["-" if one is None else text.interval(one, "bit/s", size) for one in every[:most]])
    # "goodput of TCP" would be that of all with TCP, whatever a group is called.
    names = (group.name for group in groups[:MOST_GROUPS])
    return (*sweep.parameters, *names), list(zip(*columns, strict=True))


def legend(sweep: Sweep, most: int) -> str:
    """What stands below a table of the first points: what marks mean, and why a value is missing."""
    beside = (found for one in sweep.measures for found in _beside(sweep, one)[:most])
    said = [legend_of(found.kind for found in beside if found is not None and found.mark)]
    for one in sweep.measures:
        lonely, idle = (
            [place for place in some(one.name) if place < most] for some in (sweep.lonely, sweep.idle)
        )
        if why := " or ".join(_why_nothing(lonely, idle)):
            said.append(f"No {one.title} where {why}.")
    said.append(said_of_means((one.name for one in sweep.measures), partial(_groups, sweep)))
    return " ".join(filter(None, said))


def _groups(sweep: Sweep) -> "Iterator[Group]":
    """The groups of all points."""
    return (one for group in sweep.by_group() for one in group.points if one is not None)


def _beside(sweep: Sweep, of: Measure) -> "list[Censored | None]":
    """What ended and had not at every point, beside a measure of the times; nothing beside others."""
    return censored_beside(sweep, of.name)
