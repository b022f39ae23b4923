"""The panels of a picture of a sweep: one for each facet, with labels and a legend that fit."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from celltrain import text
from celltrain.bounds import Bounds, reach
from celltrain.errors import InputError
from celltrain.plots.grid import Grid, Side
from celltrain.plots.style import (
    COLOURS,
    LETTERS,
    MARKERS,
    NAME,
    evenly_wrapped,
    legend_columns,
    legible,
    logarithmic,
    panels,
    plain,
    titled,
)
from celltrain.registry import Measure
from celltrain.statistics import Estimate, largest
from celltrain.sweeps import Sweep
from celltrain.sweeps.view import placed, why_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BESIDE",
    "COLOUR_BAR",
    "LINE",
    "Point",
    "add_legend",
    "check_above_zero",
    "facet_panels",
    "grow_to_fit",
    "label_panels",
    "label_steps",
    "logarithmic_of",
    "of_missing",
    "panel_width",
    "points_of",
    "reaches_of",
    "scaled_means",
    "shown_of",
    "style_of",
    "wrapped_names",
]

LABEL = 30
"""Letters of a line of a label beside a panel; a longer one would be cut off."""

PANELS = (4.2, 3.0), (3.1, 2.2), (2.4, 1.9), (1.9, 1.7)
"""Inches of a panel and what is beside it, by how many stand side by side: all together fit on a page."""

BESIDE, COLOUR_BAR = 0.5, 1.1
"""Inches beside a panel that its numbers take, and the colours of a heat map with theirs."""

LOW = 2.2
"""Inches that panels are high at most where they stand in several rows."""

LINE = 0.16
"""Inches of a line of the legend, the notes, or the names above panels."""

NO_END = 1e-9
"""The part of a mean below which the end of its interval is zero but for rounding."""

BEYOND = 1.3
"""The factor between the ends of a logarithmic axis and the least and the largest value on it."""

Point = tuple[float, float]

MOST_TICKS = 12
"""Labels along an axis of steps."""

TICK = 0.25
"""Inches that a label along an axis of steps takes at least."""


def shown_of(view: Grid, found: Sequence[Estimate]) -> list[Estimate]:
    """The estimates of the points that a picture shows."""
    return [found[point] for point in points_of(view)]


def points_of(view: Grid) -> list[int]:
    """The numbers of the points that a picture shows."""
    return [point for facet in view.facets for line in facet.rows for point in line]


def of_missing(sweep: Sweep, view: Grid, *shown: tuple[Measure, Sequence[Estimate]]) -> str:
    """Why marks are missing, if some are: of measures with their estimates."""
    every = (why_missing(sweep, one.name, found, points_of(view)) for one, found in shown)
    reasons = " or ".join(dict.fromkeys(filter(None, every)))
    return f"no mark: {reasons}" if reasons else ""


def check_above_zero(which: str, found: Sequence[Estimate], what: str) -> None:
    """Refuses a logarithmic axis of a measure that has no logarithm at some points."""
    if any(one.mean <= 0 for one in found):
        raise InputError(
            f"the axis of {which} cannot be logarithmic: {what} is not above zero at every point; "
            "choose points at which it is"
        )


def logarithmic_of(axis: "Axes", which: Literal["x", "y"], found: Sequence[Estimate], limits: Bounds) -> None:
    """Makes an axis of means logarithmic: it ends near the least and the largest of them and their intervals.

    An interval that reaches zero, or what rounding leaves of it, has no lower end there.
    """
    logarithmic(axis, which)
    known = [(one.mean, *reach(one, limits)) for one in found if math.isfinite(one.mean)]
    if known:
        least = min(mean - below if mean - below > NO_END * mean else mean for mean, below, _ in known)
        largest = max(mean + above for mean, _, above in known)
        axis.set(**{f"{which}lim": (least / BEYOND, largest * BEYOND)})


def scaled_means(sweep: Sweep, measure: Measure) -> tuple[list[Estimate], str]:
    """The estimates of every point in a unit of their size, and the label with that unit."""
    found = placed(sweep, measure.name)
    factor, unit = text.scale(largest(found), sweep.unit(measure.name))
    return [one.scaled(1 / factor) for one in found], text.with_unit(measure.title, unit)


def _panel_size(view: Grid) -> tuple[float, float]:
    """Inches of a panel and what is beside it."""
    wide, tall = PANELS[min(view.shape[1], len(PANELS)) - 1]
    return wide, tall if view.shape[0] == 1 else min(tall, LOW)


def panel_width(view: Grid) -> float:
    """Inches of a panel alone."""
    return _panel_size(view)[0] - BESIDE


def facet_panels(view: Grid, *, share_y: bool = True, more: float = 0.0) -> "tuple[Figure, list[Axes]]":
    """A figure with the panels of a grid, which share their axes; `more` is inches beside them."""
    rows, columns = view.shape
    wide, tall = _panel_size(view)
    shared: Any = "all" if share_y else "row" if view.rows.name else False
    size = wide * columns + more, tall * rows
    figure, axes = panels(rows, columns, *size, sharex=True, sharey=shared)
    flat = [axis for row in axes for axis in row]
    count = len(view.facets)
    for axis in flat[count:]:
        axis.remove()
    for axis in flat[max(0, count - columns) : count]:
        axis.tick_params(axis="x", labelbottom=True)  # also where no panel is below
    return figure, flat[:count]


def grow_to_fit(figure: "Figure") -> None:
    """Makes a figure as high as the lines above and below its panels ask for."""
    said = [figure.get_suptitle(), figure.get_supxlabel()]
    said += [legend.get_title().get_text() for legend in figure.legends]
    lines = sum(text.count("\n") + 1 for text in said if text)
    for legend in figure.legends:
        names = [entry.get_text() for entry in legend.get_texts()]
        lines += -(-len(names) // legend_columns(names, figure.get_figwidth())) + 1
    labels = [label for axis in figure.axes for label in axis.get_xticklabels() if label.get_rotation()]
    slant = max((len(label.get_text()) for label in labels), default=0) / LETTERS / math.sqrt(2)
    figure.set_figheight(figure.get_figheight() + LINE * lines + slant)


def label_panels(figure: "Figure", axes: "Sequence[Axes]", view: Grid, xlabel: str, ylabel: str) -> None:
    """Names the axes at the edges of the grid, and its rows and columns."""
    (_, columns), (_, tall), count = view.shape, _panel_size(view), len(axes)
    letters = int(LETTERS * (panel_width(view) + BESIDE / 2))
    for place, axis in enumerate(axes):
        if place >= count - columns:
            axis.set_xlabel(wrapped_names(xlabel, letters))
        if place % columns == 0:
            longest = max(map(len, ylabel.split()), default=0)  # which no line break divides
            axis.set_ylabel(wrapped_names(ylabel, max(longest, min(LABEL, int(LETTERS * (tall - 0.3))))))
    across, down = view.columns, view.rows
    if count > 1 and not down.name and _fit_whole(across, letters):
        for axis, label in zip(axes, across.labels, strict=True):
            titled(axis, f"{across.name} = {label}")
        return
    for axis, label in zip(axes if view.wraps else axes[:columns], across.labels, strict=True):
        if across.name:
            axis.set_title(wrapped_names(label, letters), fontsize="medium")
    for axis, label in zip(axes[columns - 1 :: columns], down.labels, strict=False):
        if down.name:
            axis.annotate(
                wrapped_names(label, int(LETTERS * tall)),
                (1, 0.5),
                xycoords="axes fraction",
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                rotation=270,
            )
    kinds = ("columns", across), ("rows", down)
    said = [f"{'panels' if view.wraps else kind}: {side.name}" for kind, side in kinds if side.name]
    if said:
        wide = int(figure.get_figwidth() * LETTERS)
        title = "\n".join(wrapped_names(one, wide) for one in _joined_lines(said, wide))
        figure.suptitle(title, fontsize="medium")


def _joined_lines(said: Sequence[str], most: int) -> list[str]:
    """Parts of a title on one line, if they fit."""
    whole = "; ".join(said)
    return [whole] if len(whole) <= most else [*said]


def _fit_whole(side: Side, letters: int) -> bool:
    """Whether the names of columns fit above them with what they are the steps of."""
    return all(len(f"{side.name} = {label}") <= letters for label in side.labels)


def reaches_of(found: Sequence[Estimate], limits: Bounds) -> list[tuple[float, ...]]:
    """The lengths of error bars below and above the means."""
    return list(zip(*(reach(one, limits) for one in found), strict=True))


def style_of(index: int, name: str, lines: int = 0) -> dict[str, Any]:
    """The colour and the mark of a curve by its number, and its label."""
    many = lines > len(COLOURS)  # more lines than colours are not told apart
    colour = COLOURS[0 if many else index % len(COLOURS)]
    marker = MARKERS[0 if many else index % len(MARKERS)]
    label = "" if many else plain(name)
    return {"color": colour, "marker": marker, "markersize": 4, "capsize": 2, "linewidth": 1, "label": label}


def add_legend(figure: "Figure", axis: "Axes", view: Grid) -> None:
    """Names the curves below the panels, where there are few."""
    if view.lines is not None and not view.has_many_lines:
        handles, labels = axis.get_legend_handles_labels()
        names = text.told(labels, NAME)
        beside = legend_columns(names, figure.get_figwidth())
        title = wrapped_names(view.lines.name, int(figure.get_figwidth() * LETTERS))
        figure.legend(handles, names, title=title, loc="outside lower center", ncols=beside)


def wrapped_names(names: str, most: int) -> str:
    """The keys of an axis on as many lines as they need."""
    return plain("\n".join(evenly_wrapped(names, most)))


def label_steps(axis: "Axes", labels: Sequence[str], which: str, wide: float = 1.0) -> None:
    """Labels of steps along an axis that is so many inches wide, thinned out where they are many."""
    most = MOST_TICKS if which == "y" else max(2, min(MOST_TICKS, int(wide / TICK)))
    every = -(-len(labels) // most)
    places = range(0, len(labels), every)
    shown = legible([labels[place] for place in places])
    if which == "y":
        axis.set_yticks(list(places), shown)
        return
    space = wide * LETTERS / len(shown)
    long = any((len(one) + len(other)) / 2 + 1 > space for one, other in pairwise(shown))
    axis.set_xticks(list(places), shown, rotation=45 if long else 0, ha="right" if long else "center")
