"""Pictures of sweeps: lines with intervals, and heat maps."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from celltrain import text
from celltrain.bounds import Bounds, bounds
from celltrain.errors import InputError
from celltrain.files.folder import Folder
from celltrain.plots.facets import (
    COLOUR_BAR,
    Point,
    add_legend,
    check_above_zero,
    facet_panels,
    grow_to_fit,
    label_panels,
    label_steps,
    logarithmic_of,
    of_missing,
    panel_width,
    reaches_of,
    scaled_means,
    shown_of,
    style_of,
)
from celltrain.plots.files import keeps_pictures, save
from celltrain.plots.grid import Grid, rows_of
from celltrain.plots.style import SPREAD, logarithmic, noted, of_limits, settled, styled
from celltrain.plots.trade_off import trade_off
from celltrain.registry import Measure
from celltrain.statistics import Estimate
from celltrain.sweeps import Sweep
from celltrain.sweeps.censored import incomparable_points, why_marked
from celltrain.sweeps.layout import Facet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_sweep", "heat_map", "lines"]

STYLES = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1)))
"""Lines of curves: one that lies upon another shows it in its gaps."""

DECADE = 10.0
"""The ratio of the largest values of two rows of panels from which on each row has a scale of its own."""

EQUAL, APART = 0.02, 0.018
"""The parts of scales below which marks of two curves cover each other, and by which they stand apart."""

T = TypeVar("T")


def draw_sweep(sweep: Sweep, folder: Folder) -> None:
    """The pictures of a sweep: each measure over the axes, and fairness against goodput."""
    if keeps_pictures(folder, sweep.manifest):
        return
    view = Grid.of(sweep)
    shown = sweep.measures
    for one in shown:
        name = re.sub(r"[^\w.-]+", "-", one.name.replace("_", "-"))  # groups and flows may have any name
        if not view.has_many_lines:
            save(lines(sweep, one, view), folder, name)
        if view.is_surface:
            save(heat_map(sweep, one, view), folder, f"{name}-heat-map")
    if {"goodput", "fairness_index"} <= {one.name for one in shown}:
        save(trade_off(sweep, Grid.of(sweep, joined=True)), folder, "fairness-against-goodput")


def lines(sweep: Sweep, measure: Measure, view: Grid) -> "Figure":
    """The means of a measure along an axis with their 95 % intervals, one line per step of another axis.

    Along an axis of names, such as policies, marks stand beside one another: no line joins them. Points of
    which too many transfers or requests had not ended have hollow marks.
    """
    found, label = scaled_means(sweep, measure)
    cut = _cut(sweep, measure, view, found)
    scale, limits = view.along.scale, bounds(measure, sweep.comparable)
    _check_along(view)
    if "y" in view.log:
        check_above_zero("y", shown_of(view, found), measure.title)
    with styled():
        own = _own_scales(view, found)
        figure, axes = facet_panels(view, share_y=not own)
        apart = False
        places = range(len(view.facets))
        for row in _scale_groups(view, places) if own else [places]:
            shown = [found[point].mean for place in row for line in view.facets[place].rows for point in line]
            for place in row:
                are_apart = scale is not None and _cover(view, view.facets[place], found, shown)
                apart = apart or are_apart
                _curves(axes[place], view, view.facets[place], (found, limits, cut), are_apart=are_apart)
        for axis in axes:
            if "y" in view.log:
                logarithmic_of(axis, "y", shown_of(view, found), limits)
        label_panels(figure, axes, view, _along_label(view), label)
        for sharing in _scale_groups(view, axes) if own else [axes]:
            settled(sharing, "y")
        add_legend(figure, axes[0], view)
        noted(
            figure,
            view.chosen and f"only {view.chosen}",
            f"hollow: {why_marked(sweep, measure.name)}" if cut else "",
            "where curves cover each other, their marks stand beside one another" if apart else "",
            _own_told(view) if own else "",
            of_limits({measure.title: (shown_of(view, found), limits)}),
            of_missing(sweep, view, (measure, found)),
            view.part,
        )
        grow_to_fit(figure)
    return figure


def _curves(
    axis: "Axes",
    view: Grid,
    facet: Facet,
    what: tuple[Sequence[Estimate], Bounds, set[int]],
    *,
    are_apart: bool,
) -> None:
    """The curves of a panel, and its axis of x."""
    found, limits, cut = what
    scale = view.along.scale
    is_log = scale is not None and ("x" in view.log or _is_geometric(scale[0]))
    for index, points in enumerate(facet.rows):
        style = style_of(index, view.line_names[index])
        style["linestyle"] = "none" if scale is None else STYLES[index % len(STYLES)]
        if scale is None:
            place = _beside(index, len(facet.rows), len(points))
        else:
            shift = APART * (index - (len(facet.rows) - 1) / 2) if are_apart else 0.0
            place = _shifted(scale[0], shift, is_log=is_log)
        _line(axis, place, [found[point] for point in points], style, limits)
        hollow = [(at, found[point].mean) for at, point in zip(place, points, strict=True) if point in cut]
        _hollow(axis, hollow, style)
    if scale is None:
        label_steps(axis, view.along.labels, "x", panel_width(view))
        axis.set_xlim(-0.6, len(view.along.labels) - 0.4)
        return
    # Steps at which nothing is defined have their places, too.
    axis.update_datalim([(step, 0.0) for step in scale[0]], updatey=False)
    axis.autoscale_view(scaley=False)
    if is_log:
        logarithmic(axis, "x", scale[0])
    elif all(map(float.is_integer, scale[0])):
        axis.locator_params(axis="x", integer=True)  # there are no 1.5 sources


def _shifted(values: Sequence[float], shift: float, *, is_log: bool) -> list[float]:
    """Increasing values moved along their scale by a part of its length."""
    if not shift:
        return [*values]
    if is_log:
        return [value * (values[-1] / values[0]) ** shift for value in values]
    return [value + shift * (values[-1] - values[0]) for value in values]


def _cover(view: Grid, facet: Facet, found: Sequence[Estimate], shown: Sequence[float]) -> bool:
    """Whether the marks of two curves cover each other at half of the steps or more, on the scale shown."""
    finite = [value for value in map(_on_scale(view), shown) if math.isfinite(value)]
    length = max(finite) - min(finite) if finite else 0.0
    curves = [[_on_scale(view)(found[point].mean) for point in line] for line in facet.rows]
    return any(
        2 * sum(abs(a - b) <= EQUAL * length for a, b in zip(one, other, strict=True)) >= len(one) > 1
        for place, one in enumerate(curves)
        for other in curves[:place]
    )


def _on_scale(view: Grid) -> Callable[[float], float]:
    """Where a value is on the axis of y, up to its length."""
    if "y" not in view.log:
        return lambda value: value
    return lambda value: math.log10(value) if value > 0 else math.nan


def _cut(sweep: Sweep, measure: Measure, view: Grid, found: Sequence[Estimate]) -> set[int]:
    """The points that a picture marks, as too few ended there: those that have a mean, and are shown."""
    shown = {point for facet in view.facets for line in facet.rows for point in line}
    every = incomparable_points(sweep, measure.name)
    return {point for point in every if point in shown and math.isfinite(found[point].mean)}


def _check_along(view: Grid) -> None:
    """Refuses a logarithmic axis of steps that have no logarithm."""
    along = view.along
    if "x" in view.log and (along.scale is None or along.scale[0][0] <= 0):
        what_it_is = "names" if along.scale is None else "not above zero"
        raise InputError(f"the axis of x cannot be logarithmic: steps of {along.name} are {what_it_is}")


def _scale_groups(view: Grid, items: Sequence[T]) -> Iterator[Sequence[T]]:
    """What belongs to the panels that have one scale where values differ much: rows, or else each panel."""
    return rows_of(view, items) if view.rows.name else ([item] for item in items)


def _own_scales(view: Grid, found: Sequence[Estimate]) -> bool:
    """Whether rows of panels, or panels of one axis alone, have scales of their own: values differ much."""
    if "y" in view.log:
        return False
    tops = []
    for group in _scale_groups(view, view.facets):
        means = (found[point].mean for facet in group for line in facet.rows for point in line)
        tops.append(max((abs(mean) for mean in means if math.isfinite(mean)), default=0.0))
    positive = [top for top in tops if top > 0]
    return bool(positive) and max(positive) > DECADE * min(positive)


def _own_told(view: Grid) -> str:
    return f"each {'row' if view.rows.name else 'panel'} has a scale of its own"


def heat_map(sweep: Sweep, measure: Measure, view: Grid) -> "Figure":
    """The means of a measure over two axes, as colours; crosses are where too few ended to compare them."""
    if view.log:
        raise InputError("colours have no logarithmic axes: choose fewer curves, or some of their points")
    found, label = scaled_means(sweep, measure)
    cut = _cut(sweep, measure, view, found)
    finite = [one.mean for one in shown_of(view, found) if math.isfinite(one.mean)] or [0.0]
    with styled():
        figure, axes = facet_panels(view, more=COLOUR_BAR)
        image = None
        for axis, facet in zip(axes, view.facets, strict=False):
            means = [[found[point].mean for point in row] for row in facet.rows]
            image = axis.imshow(
                means, aspect="auto", cmap="viridis", vmin=min(finite), vmax=max(finite), origin="lower"
            )
            axis.grid(visible=False)
            crossed = [(x, y) for y, row in enumerate(facet.rows) for x, one in enumerate(row) if one in cut]
            _crossed(axis, crossed)
            label_steps(axis, view.along.labels, "x", panel_width(view) - 0.5)
            label_steps(axis, view.line_names, "y")
        label_panels(figure, axes, view, view.along.name, view.lines.name if view.lines else "")
        if image is not None:
            figure.colorbar(image, ax=axes, label=label)
        notes = view.chosen and f"only {view.chosen}", of_missing(sweep, view, (measure, found))
        noted(figure, *notes, f"crosses: {why_marked(sweep, measure.name)}" if cut else "", view.part)
        grow_to_fit(figure)
    return figure


def _along_label(view: Grid) -> str:
    """What the axis along panels is called, with its unit."""
    scale = view.along.scale
    return view.along.name if scale is None else text.with_unit(view.along.name, scale[1])


def _line(
    axis: "Axes", place: Sequence[float], found: Sequence[Estimate], style: dict[str, Any], limits: Bounds
) -> None:
    axis.errorbar(place, [one.mean for one in found], yerr=reaches_of(found, limits), **style)


def _hollow(axis: "Axes", points: Sequence[Point], style: dict[str, Any]) -> None:
    """Marks of a line that are hollow, upon its own."""
    look = {key: style[key] for key in ("color", "marker", "markersize")}
    for x, y in points:
        axis.plot(x, y, linestyle="none", markerfacecolor="white", zorder=3, **look)


def _crossed(axis: "Axes", points: Sequence[Point]) -> None:
    """Crosses on colours, to be seen on each of them."""
    for x, y in points:
        for colour, width in (("white", 3.0), ("black", 1.2)):
            axis.plot(x, y, linestyle="none", marker="x", markersize=7, color=colour, markeredgewidth=width)


def _beside(index: int, count: int, steps: int) -> list[float]:
    """Where the marks of one of several series stand along an axis of names: beside those of the others."""
    shift = SPREAD * (index - (count - 1) / 2) / max(count, 2)
    return [step + shift for step in range(steps)]


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether increasing values are spread by factors rather than by steps."""
    return len(values) > 2 and min(values) > 0 and values[-1] - values[-2] > 1.5 * (values[1] - values[0])
