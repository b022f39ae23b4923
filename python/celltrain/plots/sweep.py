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
    LETTERS,
    MARKERS,
    NAME,
    evenly_wrapped,
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
    from matplotlib.transforms import Bbox

__all__ = ["draw_sweep", "heat_map", "lines", "trade_off"]

COLUMNS = 3
"""Panels side by side."""

LABEL = 30
"""Letters of a line of a label beside a panel; a longer one would be cut off."""

NAMES = 48
"""Letters of a line of a label below a panel."""

PANEL = 4.2, 3.0
"""Inches of a panel."""

THIN, RING = 0.5, 9
"""The width of lines that join points, and the size of the ring at their end."""

LETTER = 0.06
"""Inches of a letter beside a point."""

SHORT = 16
"""Letters of labels that have space beside a point."""

AWAY = 6
"""Points from a mark to its label."""

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
    scale, limits, order = view.along.scale(), bounds(measure), view.along.order()
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for index, points in enumerate(facet.rows):
                place = list(range(len(points))) if scale is None else scale[0]
                style = _style(index, view.line_names[index])
                line = [found[points[step]] for step in order]
                _line(axis, [place[step] for step in order], line, style, limits)
            if scale is None:
                _steps(axis, view.along.labels, "x")
            elif _is_geometric(sorted(scale[0])):
                logarithmic(axis, "x", scale[0])
            elif all(map(float.is_integer, scale[0])):
                axis.locator_params(axis="x", integer=True)  # there are no 1.5 sources
            titled(axis, facet.title)
            name = view.along.name if scale is None else text.with_unit(view.along.name, scale[1])
            axis.set_xlabel(_wrapped(name))
            axis.set_ylabel(label)
        _legend(figure, axes[0], view)
        noted(figure, of_gaps(found), view.part)
    return figure


def heat_map(sweep: Sweep, measure: Measure, view: View) -> "Figure":
    """The means of a measure over two axes, as colours."""
    found, label = _scaled(sweep, measure)
    finite = [one.mean for one in found if math.isfinite(one.mean)] or [0.0]
    along, up = view.along.order(), [0] if view.lines is None else view.lines.order()
    with styled():
        figure, axes = _facet_panels(view)
        image = None
        for axis, facet in zip(axes, view.facets, strict=False):
            means = [[found[facet.rows[row][step]].mean for step in along] for row in up]
            image = axis.imshow(
                means, aspect="auto", cmap="viridis", vmin=min(finite), vmax=max(finite), origin="lower"
            )
            axis.grid(visible=False)
            _steps(axis, [view.along.labels[step] for step in along], "x")
            _steps(axis, [view.line_names[row] for row in up], "y")
            titled(axis, facet.title)
            axis.set_xlabel(_wrapped(view.along.name))
            axis.set_ylabel(_wrapped(view.lines.name if view.lines else "", LABEL))
        if image is not None:
            figure.colorbar(image, ax=axes[: len(view.facets)], label=label)
        noted(figure, of_gaps(found), view.part)
    return figure


def trade_off(sweep: Sweep, view: View) -> "Figure":
    """Fairness against goodput: a point of the sweep is a point of the picture, with both intervals.

    Points are joined in the order of the axis along the other pictures, and the last of them is ringed.
    """
    known = {measure.name: measure for measure in measures(sweep)}
    across, xlabel = _scaled(sweep, known["goodput"])
    up, ylabel = _scaled(sweep, known["fairness_index"])
    limits = bounds(known["goodput"]), bounds(known["fairness_index"])
    order = view.along.order()
    is_joined = len(order) > 1 and not view.has_many_lines
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for index, row in enumerate(facet.rows):
                points = [row[step] for step in order]
                style = _style(index, view.line_names[index], len(facet.rows))
                style |= {"linewidth": THIN if is_joined else 0, "elinewidth": 1}
                _crosses(
                    axis, [across[point] for point in points], [up[point] for point in points], limits, style
                )
            titled(axis, facet.title)
            axis.set_xlabel(xlabel)
            axis.set_ylabel(ylabel)
        if is_joined:
            ends = view.along.labels[order[0]], view.along.labels[order[-1]]
            for axis, facet in zip(axes, view.facets, strict=False):
                rows = [
                    [(across[row[step]].mean, up[row[step]].mean) for step in order] for row in facet.rows
                ]
                _ends(axis, rows, ends)
        _legend(figure, axes[0], view)
        noted(figure, _joined(view, order) if is_joined else "", of_gaps([*across, *up]), view.part)
    return figure


def _joined(view: View, order: Sequence[int]) -> str:
    """What a line that joins points means."""
    first, last = text.told([view.along.labels[order[end]] for end in (0, -1)], NAME)
    return f"lines follow {view.along.name} from {first} to {last} (ringed)"


def _crosses(
    axis: "Axes",
    across: Sequence[Estimate],
    up: Sequence[Estimate],
    limits: tuple[Bounds, Bounds],
    style: dict[str, Any],
) -> None:
    """Points with both intervals."""
    means = [one.mean for one in across], [one.mean for one in up]
    axis.errorbar(*means, xerr=_reaches(across, limits[0]), yerr=_reaches(up, limits[1]), **style)


def _ends(axis: "Axes", rows: Sequence[Sequence[tuple[float, float]]], ends: tuple[str, str]) -> None:
    """Rings the points of the last step, and names the first and the last step where there is space."""
    labels = legible(ends)
    taken = [_around(axis, point) for row in rows for point in row if all(map(math.isfinite, point))]
    for index, row in enumerate(rows):
        colour = COLOURS[index % len(COLOURS)]
        axis.plot(*row[-1], color=colour, marker="o", markersize=RING, markerfacecolor="none", linestyle="")
        for point, neighbour, label in ((row[0], row[1], labels[0]), (row[-1], row[-2], labels[1])):
            if all(map(math.isfinite, point)) and len(label) <= SHORT:
                _name(axis, point, neighbour, label, colour, taken)


def _name(
    axis: "Axes",
    point: tuple[float, float],
    neighbour: tuple[float, float],
    label: str,
    colour: str,
    taken: "list[Bbox]",
) -> None:
    """Writes a label beside a point, away from its neighbour, if nothing of `taken` is there."""
    from matplotlib.transforms import Bbox

    x, y = _place(axis, point)
    wide, tall = LETTER * len(label), 2 * LETTER
    is_left = _is_before(neighbour[0] - point[0], x, PANEL[0], wide)
    is_below = _is_before(neighbour[1] - point[1], y, PANEL[1], tall)
    left = x - wide - AWAY / 72 if is_left else x + AWAY / 72
    low = y - tall - AWAY / 72 if is_below else y + AWAY / 72
    box = Bbox.from_bounds(left, low, wide, tall)
    if any(box.overlaps(other) for other in taken):
        return
    taken.append(box)
    axis.annotate(
        label,
        point,
        xytext=(-AWAY if is_left else AWAY, -AWAY if is_below else AWAY),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="top" if is_below else "bottom",
        color=colour,
        fontsize="x-small",
    )


def _place(axis: "Axes", point: tuple[float, float]) -> tuple[float, float]:
    """Where a point is in its panel, in inches."""
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    return PANEL[0] * (point[0] - left) / (right - left), PANEL[1] * (point[1] - low) / (high - low)


def _around(axis: "Axes", point: tuple[float, float]) -> "Bbox":
    """What the mark of a point covers, in inches."""
    from matplotlib.transforms import Bbox

    x, y = _place(axis, point)
    return Bbox.from_extents(x - LETTER, y - LETTER, x + LETTER, y + LETTER)


def _is_before(step: float, place: float, length: float, size: float) -> bool:
    """Whether a label stands before its point: away from the neighbour, if there is space."""
    wanted = step > 0 or (step == 0 and place > length / 2)
    return place > 2 * size if wanted else place > length - 2 * size


def _scaled(sweep: Sweep, measure: Measure) -> tuple[list[Estimate], str]:
    """The estimates of every point in a unit of their size, and the label with that unit."""
    found = placed(sweep, measure.name)
    factor, unit = text.scale(largest(found), sweep.unit(measure.name))
    return [one.scaled(1 / factor) for one in found], fill(text.with_unit(measure.title, unit), LABEL)


def _facet_panels(view: View) -> "tuple[Figure, list[Axes]]":
    columns = min(COLUMNS, len(view.facets))
    rows = -(-len(view.facets) // columns)
    figure, axes = panels(rows, columns, PANEL[0] * columns, PANEL[1] * rows + 0.4, sharex=True, sharey=True)
    flat = [axis for row in axes for axis in row]
    for axis in flat[len(view.facets) :]:
        axis.set_axis_off()
    for axis in flat[max(0, len(view.facets) - columns) : len(view.facets)]:
        axis.tick_params(axis="x", labelbottom=True)  # also where no panel is below
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
        title = _wrapped(view.lines.name, int(figure.get_figwidth() * LETTERS))
        figure.legend(handles, names, title=title, loc="outside lower center", ncols=beside)


def _wrapped(names: str, most: int = NAMES) -> str:
    """The keys of an axis on as many lines as they need."""
    return plain("\n".join(evenly_wrapped(names, most)))


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
