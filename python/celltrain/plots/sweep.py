"""Pictures of sweeps: lines with intervals, heat maps, and fairness against goodput."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.bounds import Bounds, bounds, reach
from celltrain.files.folder import Folder
from celltrain.plots.style import (
    COLOURS,
    LETTERS,
    MARKERS,
    NAME,
    PLACES,
    SPREAD,
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
    settled,
    styled,
    titled,
)
from celltrain.registry import Measure, measure
from celltrain.statistics import Estimate, largest
from celltrain.sweeps import Sweep
from celltrain.sweeps.censored import incomparable_points, why_marked
from celltrain.sweeps.view import Facet, View, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as MplPath
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

HEAT = 2.6
"""Inches of the axis along a panel of a heat map, beside which its colours stand."""

THIN, RING = 0.5, 9
"""The width of lines that join points, and the size of the ring at their end."""

LETTER = 0.06
"""Inches of a letter beside a point."""

SHORT = 16
"""Letters of labels that have space beside a point."""

MARGINS = 0.1, 0.15
"""The parts of a panel that stay free beside joined points, and above and below them."""

AWAY = 6
"""Points from a mark to its label."""

Point = tuple[float, float]

CORNERS = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up]
"""Where a label stands beside a point."""

MOST_TICKS = 12
"""Labels along an axis of steps."""


def draw_sweep(sweep: Sweep, folder: Folder) -> None:
    """The pictures of a sweep: each measure over the axes, and fairness against goodput."""
    if keeps_pictures(folder, sweep.manifest):
        return
    view = View.of(sweep)
    shown = sweep.measures
    for one in shown:
        name = re.sub(r"[^\w.-]+", "-", one.name.replace("_", "-"))  # groups and flows may have any name
        if not view.has_many_lines:
            save(lines(sweep, one, view), folder, name)
        if view.is_surface:
            save(heat_map(sweep, one, view), folder, f"{name}-heat-map")
    if {"goodput", "fairness_index"} <= {one.name for one in shown}:
        save(trade_off(sweep, View.joined(sweep)), folder, "fairness-against-goodput")


def lines(sweep: Sweep, measure: Measure, view: View) -> "Figure":
    """The means of a measure along an axis with their 95 % intervals, one line per step of another axis.

    Along an axis of names, such as policies, marks stand beside one another: no line joins them. Points of
    which too many transfers or requests had not ended have hollow marks.
    """
    found, label = _scaled(sweep, measure)
    cut = {*incomparable_points(sweep, measure.name)}
    scale, limits = view.along.scale, bounds(measure)
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for index, points in enumerate(facet.rows):
                style = _style(index, view.line_names[index])
                if scale is None:
                    style["linestyle"] = "none"
                place = _beside(index, len(facet.rows), len(points)) if scale is None else scale[0]
                _line(axis, place, [found[point] for point in points], style, limits)
                hollow = [
                    (at, found[point].mean) for at, point in zip(place, points, strict=True) if point in cut
                ]
                _hollow(axis, hollow, style)
            if scale is None:
                _steps(axis, view.along.labels, "x")
                axis.set_xlim(-0.6, len(view.along.labels) - 0.4)
            elif _is_geometric(scale[0]):
                logarithmic(axis, "x", scale[0])
            elif all(map(float.is_integer, scale[0])):
                axis.locator_params(axis="x", integer=True)  # there are no 1.5 sources
            titled(axis, facet.title)
            name = view.along.name if scale is None else text.with_unit(view.along.name, scale[1])
            axis.set_xlabel(_wrapped(name))
            axis.set_ylabel(label)
        settled(axes[: len(view.facets)], "y")
        _legend(figure, axes[0], view)
        noted(figure, of_gaps(found), f"hollow: {why_marked(measure.name)}" if cut else "", view.part)
    return figure


def heat_map(sweep: Sweep, measure: Measure, view: View) -> "Figure":
    """The means of a measure over two axes, as colours; crosses are where too few ended to compare them."""
    found, label = _scaled(sweep, measure)
    cut = {*incomparable_points(sweep, measure.name)}
    finite = [one.mean for one in found if math.isfinite(one.mean)] or [0.0]
    with styled():
        figure, axes = _facet_panels(view)
        image = None
        for axis, facet in zip(axes, view.facets, strict=False):
            means = [[found[point].mean for point in row] for row in facet.rows]
            image = axis.imshow(
                means, aspect="auto", cmap="viridis", vmin=min(finite), vmax=max(finite), origin="lower"
            )
            axis.grid(visible=False)
            crossed = [(x, y) for y, row in enumerate(facet.rows) for x, one in enumerate(row) if one in cut]
            _crossed(axis, crossed)
            _steps(axis, view.along.labels, "x", HEAT)
            _steps(axis, view.line_names, "y")
            titled(axis, facet.title)
            axis.set_xlabel(_wrapped(view.along.name))
            axis.set_ylabel(_wrapped(view.lines.name if view.lines else "", LABEL))
        if image is not None:
            figure.colorbar(image, ax=axes[: len(view.facets)], label=label)
        noted(figure, of_gaps(found), f"crosses: {why_marked(measure.name)}" if cut else "", view.part)
    return figure


def trade_off(sweep: Sweep, view: View) -> "Figure":
    """Fairness against goodput: a point of the sweep is a point of the picture, with both intervals.

    Points along a quantity are joined in its order, and the last of them is ringed. Along an axis of names,
    such as policies, each name has a mark of its own.
    """
    goodput, fairness = map(measure, ("goodput", "fairness_index"))
    (across, xlabel), (up, ylabel) = _scaled(sweep, goodput), _scaled(sweep, fairness)
    limits = bounds(goodput), bounds(fairness)
    has_steps = len(view.along.labels) > 1 and not view.has_many_lines
    is_joined = has_steps and view.along.scale is not None
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for points, style in _runs(view, facet, is_joined=is_joined):
                _crosses(
                    axis, [across[point] for point in points], [up[point] for point in points], limits, style
                )
            titled(axis, facet.title)
            axis.set_xlabel(xlabel)
            axis.set_ylabel(ylabel)
        settled(axes[: len(view.facets)], "x")
        settled(axes[: len(view.facets)], "y")
        if has_steps and not is_joined:
            _legend_of_marks(figure, view)
        else:
            _legend(figure, axes[0], view)
        noted(figure, _joined(view) if is_joined else "", of_gaps([*across, *up]), view.part)
        if is_joined:
            for axis in axes[: len(view.facets)]:
                axis.margins(*MARGINS)  # for the labels of points at the edge
            figure.draw_without_rendering()  # the panels have their places then
            for axis in axes[: len(view.facets)]:
                axis.autoscale(enable=False)  # rings do not move them
            ends = view.along.labels[0], view.along.labels[-1]
            for axis, facet in zip(axes, view.facets, strict=False):
                rows = [[(across[point].mean, up[point].mean) for point in row] for row in facet.rows]
                shown = [point for row in facet.rows for point in row]
                bars = [bar for point in shown for bar in _bars((across[point], up[point]), limits)]
                _ends(axis, rows, ends, bars)
    return figure


def _runs(view: View, facet: Facet, *, is_joined: bool) -> Iterator[tuple[Sequence[int], dict[str, Any]]]:
    """The points of a panel that look alike, and how: those of a line, or of a step if these are names."""
    for index, points in enumerate(facet.rows):
        style = _style(index, view.line_names[index], len(facet.rows))
        style |= {"linewidth": THIN if is_joined else 0, "elinewidth": 1}
        if is_joined or view.has_many_lines or len(points) == 1:
            yield points, style
            continue
        for step, point in enumerate(points):
            colour = index if view.lines is not None else step
            yield (
                [point],
                style | {"color": COLOURS[colour % len(COLOURS)], "marker": MARKERS[step % len(MARKERS)]},
            )


def _legend_of_marks(figure: "Figure", view: View) -> None:
    """What marks and colours mean where the steps along panels are names."""
    from matplotlib.lines import Line2D

    # Colour and mark together tell more names apart than there are marks.
    told = len(MARKERS) if view.lines is not None else math.lcm(len(MARKERS), len(COLOURS))
    every = range(len(view.along.labels)) if len(view.along.labels) <= told else range(0)
    own = [COLOURS[step % len(COLOURS)] if view.lines is None else "#555555" for step in every]
    marks = [
        Line2D([], [], linestyle="", marker=MARKERS[step % len(MARKERS)], color=own[step]) for step in every
    ]
    colours = range(len(view.line_names) if view.lines is not None else 0)
    patches = [Line2D([], [], linewidth=4, color=COLOURS[line]) for line in colours]
    names = legible([*(view.along.labels if marks else ()), *(view.line_names if patches else ())])
    parts = [
        f"marks: {view.along.name}" if marks else "",
        f"colours: {view.lines.name}" if view.lines else "",
    ]
    title = _wrapped("; ".join(filter(None, parts)), int(figure.get_figwidth() * LETTERS))
    beside = legend_columns(names, figure.get_figwidth())
    figure.legend([*marks, *patches], names, title=title, loc="outside lower center", ncols=beside)


def _joined(view: View) -> str:
    """What a line that joins points means."""
    first, last = text.told([view.along.labels[end] for end in (0, -1)], NAME)
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


def _bars(point: tuple[Estimate, Estimate], limits: tuple[Bounds, Bounds]) -> list[tuple[Point, Point]]:
    """The ends of the intervals of a point: across, and up."""
    x, y = (one.mean for one in point)
    (left, right), (below, above) = (reach(one, most) for one, most in zip(point, limits, strict=True))
    return [((x - left, y), (x + right, y)), ((x, y - below), (x, y + above))]


def _ends(
    axis: "Axes",
    rows: Sequence[Sequence[Point]],
    ends: tuple[str, str],
    bars: Sequence[tuple[Point, Point]] = (),
) -> None:
    """Rings the points of the last step, and names the first and the last step where there is space."""
    labels = legible(ends)
    space = Space.of(axis, rows, bars)
    for index, row in enumerate(rows):
        colour = COLOURS[index % len(COLOURS)]
        axis.plot(*row[-1], color=colour, marker="o", markersize=RING, markerfacecolor="none", linestyle="")
        for point, neighbour, label in ((row[0], row[1], labels[0]), (row[-1], row[-2], labels[1])):
            if not all(map(math.isfinite, point)) or len(label) > SHORT:
                continue
            step = tuple(after - before for before, after in zip(point, neighbour, strict=True))
            corner = space.take(point, step, label)
            if corner is not None:
                _name(axis, point, label, corner, colour)


def _name(axis: "Axes", point: Point, label: str, corner: tuple[int, int], colour: str) -> None:
    """Writes a label at a corner of a point: -1 is left or below, 1 right or above, 0 neither."""
    across, up = corner
    axis.annotate(
        label,
        point,
        xytext=(AWAY * across, AWAY * up),
        textcoords="offset points",
        ha=("right", "center", "left")[across + 1],
        va=("top", "center", "bottom")[up + 1],
        color=colour,
        fontsize="x-small",
    )


@dataclass(frozen=True)
class Space:
    """What of a panel is taken: marks, labels, lines between points, and intervals. Lengths are in inches."""

    axis: "Axes"
    size: tuple[float, float]
    boxes: "list[Bbox]"
    lines: "list[MplPath]"
    bars: "list[MplPath]"

    @staticmethod
    def of(axis: "Axes", rows: Sequence[Sequence[Point]], bars: Sequence[tuple[Point, Point]]) -> "Space":
        """The space of a panel in which rows of points with intervals are joined; its layout is known."""
        from matplotlib.path import Path as MplPath
        from matplotlib.transforms import Bbox

        figure = axis.get_figure(root=True)
        assert figure is not None
        box = axis.get_position()
        # The solver of the layout leaves the last bits open.
        wide, tall = (round(length, PLACES) for length in (box.width, box.height))
        space = Space(axis, (wide * figure.get_figwidth(), tall * figure.get_figheight()), [], [], [])
        for row in rows:
            places = [space.place(point) for point in row]
            shown = [place for place in places if all(map(math.isfinite, place))]
            space.boxes.extend(
                Bbox.from_extents(x - LETTER, y - LETTER, x + LETTER, y + LETTER) for x, y in shown
            )
            space.lines.extend(
                MplPath([one, other]) for one, other in pairwise(places) if math.isfinite(sum(one + other))
            )
        known = (bar for bar in bars if math.isfinite(sum(bar[0] + bar[1])) and bar[0] != bar[1])
        space.bars.extend(MplPath([space.place(end) for end in bar]) for bar in known)
        return space

    def place(self, point: Point) -> Point:
        """Where a point is in its panel."""
        (left, right), (low, high) = self.axis.get_xlim(), self.axis.get_ylim()
        across, up = (point[0] - left) / (right - left), (point[1] - low) / (high - low)
        return self.size[0] * across, self.size[1] * up

    def take(self, point: tuple[float, float], step: Sequence[float], label: str) -> tuple[int, int] | None:
        """Where beside a point there is space for its label, which is then taken; None where there is none.

        Args:
            point: the point.
            step: the way to its neighbour, from which the label stays away if it can.
            label: the label.
        """
        from matplotlib.transforms import Bbox

        x, y = self.place(point)
        wide, tall, away = LETTER * len(label), 2 * LETTER, AWAY / 72
        opposite = [-1 if one > 0 else 1 for one in step]
        # Corners first, as intervals go up, down and to the sides; the farther from the step the better.
        corners = sorted(CORNERS, key=lambda one: (0 in one, -one[0] * opposite[0] - one[1] * opposite[1]))
        # Other intervals may cross a label where there is no other place, but not its own.
        tries = [(corner, True) for corner in corners] + [(one, False) for one in corners if 0 not in one]
        for (across, up), is_clear in tries:
            left, low = x + away * across + wide * (across - 1) / 2, y + away * up + tall * (up - 1) / 2
            box = Bbox.from_bounds(left, low, wide, tall)
            if self._is_free(box, self.bars if is_clear else ()):
                self.boxes.append(box)
                return across, up
        return None

    def _is_free(self, box: "Bbox", bars: "Sequence[MplPath]") -> bool:
        is_inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= self.size[0] and box.y1 <= self.size[1]
        return (
            is_inside
            and not any(box.overlaps(other) for other in self.boxes)
            and not any(line.intersects_bbox(box, filled=False) for line in (*self.lines, *bars))
        )


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


def _steps(axis: "Axes", labels: Sequence[str], which: str, wide: float = PANEL[0] - 0.5) -> None:
    """Labels of steps along an axis that is so many inches wide, thinned out where they are many."""
    every = -(-len(labels) // MOST_TICKS)
    places = range(0, len(labels), every)
    shown = legible([labels[place] for place in places])
    if which == "y":
        axis.set_yticks(list(places), shown)
        return
    space = wide * LETTERS / len(shown)
    long = any((len(one) + len(other)) / 2 + 1 > space for one, other in pairwise(shown))
    axis.set_xticks(list(places), shown, rotation=45 if long else 0, ha="right" if long else "center")


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether increasing values are spread by factors rather than by steps."""
    return len(values) > 2 and min(values) > 0 and values[-1] - values[-2] > 1.5 * (values[1] - values[0])
