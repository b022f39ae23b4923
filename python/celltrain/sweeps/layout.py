"""The layout of the points of a sweep: the axis along a panel, that of its lines, and those of the panels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from celltrain import text
from celltrain.sweeps.axes import lengths_of, point_of, quantities
from celltrain.sweeps.result import Sweep

__all__ = ["MOST_FACETS", "AxisView", "Facet", "Panels", "View", "arranged", "facet_of"]

MOST_LINES = 7
"""Lines of one panel: as many as there are colours that can be told apart."""

MOST_FACETS = 12
"""Panels of one picture."""

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
        axes = [AxisView.of(one["keys"], one["steps"]) for one in sweep.manifest["axes"]]
        lengths = lengths_of(sweep.manifest)
        along, lines, others = arranged(axes, range(len(axes)))
        rest = sorted(place for place in others if len(axes[place].labels) > 1)
        every = product(*(range(lengths[place]) for place in rest))
        facets = tuple(
            facet_of(axes, lengths, (along, lines), dict(zip(rest, steps, strict=True)))
            for steps in islice(every, MOST_FACETS)
        )
        left_out = prod(lengths[place] for place in rest) - len(facets)
        return View(axes[along], None if lines is None else axes[lines], facets, left_out)


def arranged(
    axes: Sequence[AxisView],
    free: Sequence[int],
    *,
    along: int | None = None,
    lines: int | None = None,
    joined: bool = False,
) -> tuple[int, int | None, list[int]]:
    """The places of the axis along panels, of that of their lines, and of the others, which make panels.

    A quantity of some steps lies along panels, or else the longest axis. The longest of the others that makes
    few enough lines makes them. Names that are too many for lines make panels of their own, if these are few.

    Args:
        axes: all axes.
        free: the places of those that have no role yet; there is one unless `along` is given.
        along: the place of an axis that was chosen to lie along panels.
        lines: the place of one that was chosen to make their lines.
        joined: lines join the steps along panels: any quantity that varies comes before names, since nothing
            lies on a line between two policies. Where that makes too many lines, the longest axis lies along.
    """
    chosen = [axes[place] for place in (free if along is None else (along,))]
    has_quantity = any(axis.scale is not None and len(axis.labels) >= LEAST_STEPS for axis in chosen)

    def by_length(place: int) -> tuple[int, int]:
        return -len(axes[place].labels), -place

    def names_last(place: int) -> tuple[bool, int, int]:
        axis = axes[place]
        last = axis.scale is None or len(axis.labels) == 1 if joined else has_quantity and axis.scale is None
        return last, *by_length(place)

    first = min(free, key=names_last) if along is None else along
    others = [place for place in free if place != first]
    if lines is not None:
        return first, lines, others
    if not joined:
        others.sort(key=lambda place: (_is_many(axes[place]), *by_length(place)))
        panels = prod(len(axes[place].labels) for place in others)
        has_names = bool(others) and axes[others[0]].scale is None and _is_many(axes[others[0]])
        if has_quantity and has_names and panels <= MOST_FACETS:
            return first, None, others
    elif others and _is_many(axes[min(others, key=names_last)]) and along is None:
        first, *others = sorted(free, key=by_length)
    else:
        others.sort(key=names_last)
    return (first, others[0], others[1:]) if others else (first, None, [])


def facet_of(
    axes: Sequence[AxisView],
    lengths: Sequence[int],
    panel: tuple[int, int | None],
    fixed: Mapping[int, int],
) -> Facet:
    """One panel.

    Args:
        axes: all axes, with the labels that are shown.
        lengths: how many steps each of them has in the plan.
        panel: the places of the axis along the panel and of that of its lines.
        fixed: for each axis that makes panels, by its place, the place of a label; others have their first.
    """
    along, lines = panel

    def point(labels: Mapping[int, int]) -> int:
        return point_of(lengths, [axis.steps[labels.get(place, 0)] for place, axis in enumerate(axes)])

    title = ", ".join(f"{axes[place].name} = {axes[place].labels[label]}" for place, label in fixed.items())
    rows = [{}] if lines is None else [{lines: label} for label in range(len(axes[lines].labels))]
    steps = range(len(axes[along].labels))
    return Facet(title, tuple(tuple(point({**fixed, **row, along: step}) for step in steps) for row in rows))


def _is_many(axis: AxisView) -> bool:
    """Whether an axis has too many steps to be the lines of a panel."""
    return len(axis.labels) > MOST_LINES


def _scale(name: str, labels: Sequence[str]) -> tuple[list[float], str] | None:
    """The labels of an axis as numbers of one unit, that of the first; None where there is no such unit."""
    if all(map(_NUMBER.fullmatch, labels)):
        return [*map(float, labels)], ""
    found = quantities(name, labels)
    return None if found is None else ([found.numbers[label] for label in labels], found.unit)
