"""A sweep as people look at it: which axis runs along a picture, which makes its lines, which its panels."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.registry import Measure
from celltrain.results.censored import Censored
from celltrain.results.censored import legend as legend_of
from celltrain.results.of_flows import said_of_means
from celltrain.statistics import Estimate, largest
from celltrain.sweeps.axes import quantities, shown
from celltrain.sweeps.censored import censored_beside
from celltrain.sweeps.result import Sweep

if TYPE_CHECKING:
    from celltrain.results import Group

__all__ = [
    "AxisView",
    "Facet",
    "Panels",
    "View",
    "group_lines",
    "legend",
    "mean_lines",
    "placed",
    "why_missing",
]

MOST_LINES = 7
"""Lines of one panel: as many as there are colours that can be told apart."""

MOST_FACETS = 12
"""Panels of one picture."""

MOST_GROUPS = 6
"""Groups of flows in a table of their goodput; `Sweep.by_group` has all of them."""

LEAST_STEPS = 3
"""Steps from which on a quantity lies along a panel, however many names another axis has."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class AxisView:
    """One axis of a sweep: parameters that vary together, and the labels of its steps.

    Steps stand by their size where they are numbers or quantities of one kind, and as in the plan elsewhere.
    """

    name: str
    labels: tuple[str, ...]
    steps: tuple[int, ...]
    """For each label the number of its step in the plan."""
    scale: tuple[list[float], str] | None
    """The steps as numbers of one unit, that of the plan's first; None where they are not all of one kind."""

    @staticmethod
    def of(keys: Sequence[str], labels: Sequence[str]) -> "AxisView":
        """The axis of some keys, whose labels are in the order of the plan."""
        name, places = ", ".join(keys), range(len(labels))
        scale = _scale(name, labels)
        if scale is None:
            return AxisView(name, tuple(labels), tuple(places), None)
        numbers, unit = scale
        steps = sorted(places, key=numbers.__getitem__)
        return AxisView(name, tuple(labels[step] for step in steps), tuple(steps), (sorted(numbers), unit))


@dataclass(frozen=True, slots=True)
class Facet:
    """The points of one panel."""

    title: str
    """The steps of the axes that are neither along the panel nor its lines and have more than one."""
    rows: tuple[tuple[int, ...], ...]
    """For each line the numbers of its points; both are in the order of their axes."""


class Panels:
    """A layout of the points of a sweep in panels: the axis along a panel, its lines, and the panels."""

    along: AxisView
    lines: AxisView | None
    facets: tuple[Facet, ...]
    left_out: int

    @property
    def part(self) -> str:
        """Which panels are shown, if some are not: "the first 12 of 13 panels"."""
        shown = len(self.facets)
        return text.first_of(shown, shown + self.left_out, "panel") if self.left_out else ""

    @property
    def line_names(self) -> tuple[str, ...]:
        """The names of the lines."""
        return ("",) if self.lines is None else self.lines.labels

    @property
    def has_many_lines(self) -> bool:
        """Whether a panel has too many lines to be told apart."""
        return len(self.line_names) > MOST_LINES

    @property
    def is_surface(self) -> bool:
        """Whether colours over two axes show something: both are quantities, or a panel has many lines."""
        quantities = [axis is not None and axis.scale is not None for axis in (self.along, self.lines)]
        return self.has_many_lines or (all(quantities) and len(self.line_names) > 2)


@dataclass(frozen=True)
class View(Panels):
    """How the points of a sweep are laid out in panels."""

    along: AxisView
    """The axis along a panel: the longest quantity of some steps, or the longest axis; the last of equals."""
    lines: AxisView | None
    """The axis whose steps are the lines of a panel: the longest of the others that make few enough lines."""
    facets: tuple[Facet, ...]
    """The first panels."""
    left_out: int
    """Panels that are not shown."""

    @staticmethod
    def of(sweep: Sweep) -> "View":
        """The layout of a sweep: a quantity along panels, if one has steps enough."""
        axes = _axes(sweep)
        has_quantity = any(axis.scale is not None and len(axis.labels) >= LEAST_STEPS for axis in axes)
        along, *others = _order(axes, lambda axis: has_quantity and axis.scale is None)
        others.sort(
            key=lambda place: (len(axes[place].labels) > MOST_LINES, -len(axes[place].labels), -place)
        )
        panels = prod(len(axes[place].labels) for place in others)
        if others and has_quantity and _are_many_names(axes[others[0]]) and panels <= MOST_FACETS:
            return View._laid_out(axes, along, None, others)
        return View._laid_out(axes, along, *_first(others))

    @staticmethod
    def joined(sweep: Sweep) -> "View":
        """The layout of a sweep where lines join the steps along panels: a quantity, if one varies.

        Between names, such as policies, nothing lies on a line.
        """
        axes = _axes(sweep)
        along, *others = _order(axes, lambda axis: axis.scale is None or len(axis.labels) == 1)
        found = View._laid_out(axes, along, *_first(others))
        if not found.has_many_lines:
            return found
        along, *others = _order(axes, lambda axis: False)
        return View._laid_out(axes, along, *_first(others))

    @staticmethod
    def _laid_out(axes: Sequence[AxisView], along: int, lines: int | None, rest: Sequence[int]) -> "View":
        """The layout with some axes along panels and as their lines; panels are of the steps of the rest."""
        every = list(_facets(axes, along, lines, sorted(rest)))
        shown = every[:MOST_FACETS]
        return View(
            axes[along], None if lines is None else axes[lines], tuple(shown), len(every) - len(shown)
        )


def _axes(sweep: Sweep) -> list[AxisView]:
    return [AxisView.of(one["keys"], one["steps"]) for one in sweep.manifest["axes"]]


def _order(axes: Sequence[AxisView], comes_last: Callable[[AxisView], bool]) -> list[int]:
    """The axes by their lengths, the longest first; some come last, whatever their lengths."""
    return sorted(
        range(len(axes)), key=lambda place: (comes_last(axes[place]), -len(axes[place].labels), -place)
    )


def _are_many_names(axis: AxisView) -> bool:
    """Whether the steps of an axis are names, and too many to be the lines of a panel."""
    return axis.scale is None and len(axis.labels) > MOST_LINES


def _first(places: Sequence[int]) -> tuple[int | None, Sequence[int]]:
    """The first of some places, if there is one, and the others."""
    return (places[0], places[1:]) if places else (None, ())


def _scale(name: str, labels: Sequence[str]) -> tuple[list[float], str] | None:
    """The labels of an axis as numbers of one unit, that of the first; None where there is no such unit."""
    if all(map(_NUMBER.fullmatch, labels)):
        return [*map(float, labels)], ""
    found = quantities(name, labels)
    return None if found is None else ([found.numbers[label] for label in labels], found.unit)


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
        for place in sweep.alone(one.name):
            means[place : place + 1] = ["-"] * (place < most)
        columns.append(means)
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


def _facets(axes: Sequence[AxisView], along: int, lines: int | None, rest: Sequence[int]) -> Iterator[Facet]:
    for steps in product(*(range(len(axes[place].labels)) for place in rest)):
        fixed = dict(zip(rest, steps, strict=True))
        title = ", ".join(
            f"{axes[place].name} = {axes[place].labels[step]}"
            for place, step in fixed.items()
            if len(axes[place].labels) > 1
        )
        rows = []
        for line in range(1 if lines is None else len(axes[lines].labels)):
            chosen = fixed if lines is None else fixed | {lines: line}
            rows.append(
                tuple(_point(axes, chosen | {along: step}) for step in range(len(axes[along].labels)))
            )
        yield Facet(title, tuple(rows))


def _point(axes: Sequence[AxisView], steps: dict[int, int]) -> int:
    """The number of the point at these places of the axes: the last axis of the plan varies fastest."""
    point = 0
    for place, axis in enumerate(axes):
        point = point * len(axis.labels) + axis.steps[steps[place]]
    return point
