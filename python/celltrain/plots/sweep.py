"""Pictures of sweeps: lines with intervals, heat maps, and fairness against goodput."""

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.bounds import Bounds, bounds, reach
from celltrain.folder import Folder
from celltrain.plots.style import (
    COLOURS,
    MARKERS,
    NAME,
    keeps_pictures,
    legend_columns,
    legible,
    logarithmic,
    noted,
    of_gaps,
    panels,
    plain,
    save,
    styled,
    titled,
)
from celltrain.registry import Measure
from celltrain.statistics import Estimate, largest
from celltrain.sweeps import Sweep
from celltrain.sweeps.view import View, measures, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_sweep", "heat_map", "lines", "trade_off"]

COLUMNS = 3
"""Panels side by side."""

LABEL = 30
"""Letters of a line of a label beside a panel; a longer one would be cut off."""

MOST_TICKS = 12
"""Labels along an axis of steps."""


def draw_sweep(sweep: Sweep, folder: Folder) -> None:
    """The pictures of a sweep: each measure over the axes, and fairness against goodput."""
    if keeps_pictures(folder, sweep.manifest):
        return
    view = View.of(sweep)
    for measure in measures(sweep):
        name = measure.name.replace("_", "-")
        if not view.has_many_lines:
            save(lines(sweep, measure, view), folder, name)
        if view.is_surface:
            save(heat_map(sweep, measure, view), folder, f"{name}-heat-map")
    if {"goodput", "fairness_index"} <= set(sweep.units):
        save(trade_off(sweep, view), folder, "fairness-against-goodput")


def lines(sweep: Sweep, measure: Measure, view: View) -> "Figure":
    """The means of a measure along an axis with their 95 % intervals, one line per step of another axis."""
    found, label = _scaled(sweep, measure)
    scale, limits = view.along.scale(), bounds(measure)
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for index, points in enumerate(facet.rows):
                place = list(range(len(points))) if scale is None else scale[0]
                style = _style(index, view.line_names[index])
                # Along the axis, whatever the order of the plan.
                order = sorted(range(len(points)), key=place.__getitem__)
                line = [found[points[step]] for step in order]
                _line(axis, [place[step] for step in order], line, style, limits)
            if scale is None:
                _steps(axis, view.along.labels, "x")
            elif _is_geometric(sorted(scale[0])):
                logarithmic(axis, "x")
            elif all(map(float.is_integer, scale[0])):
                axis.locator_params(axis="x", integer=True)  # there are no 1.5 sources
            titled(axis, facet.title)
            axis.set_xlabel(view.along.name if scale is None else text.with_unit(view.along.name, scale[1]))
            axis.set_ylabel(label)
        _legend(figure, axes[0], view)
        noted(figure, of_gaps(found), view.part)
    return figure


def heat_map(sweep: Sweep, measure: Measure, view: View) -> "Figure":
    """The means of a measure over two axes, as colours."""
    found, label = _scaled(sweep, measure)
    finite = [one.mean for one in found if math.isfinite(one.mean)] or [0.0]
    with styled():
        figure, axes = _facet_panels(view)
        image = None
        for axis, facet in zip(axes, view.facets, strict=False):
            means = [[found[point].mean for point in points] for points in facet.rows]
            image = axis.imshow(
                means, aspect="auto", cmap="viridis", vmin=min(finite), vmax=max(finite), origin="lower"
            )
            axis.grid(visible=False)
            _steps(axis, view.along.labels, "x")
            _steps(axis, view.line_names, "y")
            titled(axis, facet.title)
            axis.set_xlabel(view.along.name)
            axis.set_ylabel(view.lines.name if view.lines else "")
        if image is not None:
            figure.colorbar(image, ax=axes[: len(view.facets)], label=label)
        noted(figure, of_gaps(found), view.part)
    return figure


def trade_off(sweep: Sweep, view: View) -> "Figure":
    """Fairness against goodput: a point of the sweep is a point of the picture, with both intervals."""
    known = {measure.name: measure for measure in measures(sweep)}
    across, xlabel = _scaled(sweep, known["goodput"])
    up, ylabel = _scaled(sweep, known["fairness_index"])
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for index, points in enumerate(facet.rows):
                style = _style(index, view.line_names[index], len(facet.rows))
                axis.errorbar(
                    [across[point].mean for point in points],
                    [up[point].mean for point in points],
                    xerr=_reaches([across[point] for point in points], bounds(known["goodput"])),
                    yerr=_reaches([up[point] for point in points], bounds(known["fairness_index"])),
                    **{**style, "linestyle": "none"},
                )
            titled(axis, facet.title)
            axis.set_xlabel(xlabel)
            axis.set_ylabel(ylabel)
        _legend(figure, axes[0], view)
        noted(figure, of_gaps([*across, *up]), view.part)
    return figure


def _scaled(sweep: Sweep, measure: Measure) -> tuple[list[Estimate], str]:
    """The estimates of every point in a unit of their size, and the label with that unit."""
    found = placed(sweep, measure.name)
    factor, unit = text.scale(largest(found), sweep.unit(measure.name))
    return [one.scaled(1 / factor) for one in found], fill(text.with_unit(measure.title, unit), LABEL)


def _facet_panels(view: View) -> "tuple[Figure, list[Axes]]":
    columns = min(COLUMNS, len(view.facets))
    rows = -(-len(view.facets) // columns)
    figure, axes = panels(rows, columns, 4.2 * columns, 3.0 * rows + 0.4, sharex=True, sharey=True)
    flat = [axis for row in axes for axis in row]
    for axis in flat[len(view.facets) :]:
        axis.set_axis_off()
    return figure, flat


def _line(
    axis: "Axes", place: Sequence[float], found: Sequence[Estimate], style: dict[str, Any], limits: Bounds
) -> None:
    axis.errorbar(place, [one.mean for one in found], yerr=_reaches(found, limits), **style)


def _reaches(found: Sequence[Estimate], limits: Bounds) -> list[tuple[float, ...]]:
    """The lengths of error bars below and above the means."""
    return list(zip(*(reach(one, limits) for one in found), strict=True))


def _style(index: int, name: str, lines: int = 0) -> dict[str, Any]:
    many = lines > len(COLOURS)  # more lines than colours are not told apart
    colour = COLOURS[0 if many else index % len(COLOURS)]
    marker = MARKERS[0 if many else index % len(MARKERS)]
    label = "" if many else plain(name)
    return {"color": colour, "marker": marker, "markersize": 4, "capsize": 2, "linewidth": 1, "label": label}


def _legend(figure: "Figure", axis: "Axes", view: View) -> None:
    if view.lines is not None and not view.has_many_lines:
        handles, labels = axis.get_legend_handles_labels()
        names = text.told(labels, NAME)
        beside = legend_columns(names, figure.get_figwidth())
        figure.legend(handles, names, title=view.lines.name, loc="outside lower center", ncols=beside)


def _steps(axis: "Axes", labels: Sequence[str], which: str) -> None:
    """Labels of steps along an axis, thinned out where they are many."""
    every = -(-len(labels) // MOST_TICKS)
    places = range(0, len(labels), every)
    shown = legible([labels[place] for place in places])
    if which == "y":
        axis.set_yticks(list(places), shown)
        return
    long = sum(map(len, shown)) > 40
    axis.set_xticks(list(places), shown, rotation=45 if long else 0, ha="right" if long else "center")


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether increasing values are spread by factors rather than by steps."""
    return len(values) > 2 and min(values) > 0 and values[-1] - values[-2] > 1.5 * (values[1] - values[0])
