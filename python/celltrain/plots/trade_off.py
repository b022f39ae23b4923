"""Fairness against goodput: the points of a sweep, with names beside the ends of their lines."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.bounds import Bounds, bounds, reach
from celltrain.plots.facets import (
    Point,
    add_legend,
    check_above_zero,
    facet_panels,
    grow_to_fit,
    label_panels,
    logarithmic_of,
    of_missing,
    reaches_of,
    scaled_means,
    shown_of,
    style_of,
    wrapped_names,
)
from celltrain.plots.files import PLACES
from celltrain.plots.grid import Grid
from celltrain.plots.style import (
    COLOURS,
    LETTERS,
    MARKERS,
    NAME,
    legend_columns,
    legible,
    noted,
    of_limits,
    settled,
    styled,
)
from celltrain.registry import measure
from celltrain.statistics import Estimate
from celltrain.sweeps import Sweep
from celltrain.sweeps.layout import Facet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as MplPath
    from matplotlib.transforms import Bbox

__all__ = ["trade_off"]

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

CORNERS = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up]
"""Where a label stands beside a point."""


def trade_off(sweep: Sweep, view: Grid) -> "Figure":
    """Fairness against goodput: a point of the sweep is a point of the picture, with both intervals.

    Points along a quantity are joined in its order, and the last of them is ringed. Along an axis of names,
    such as policies, each name has a mark of its own.
    """
    goodput, fairness = map(measure, ("goodput", "fairness_index"))
    (across, xlabel), (up, ylabel) = scaled_means(sweep, goodput), scaled_means(sweep, fairness)
    limits = bounds(goodput), bounds(fairness, sweep.comparable)
    for which, found, what in (("x", across, goodput), ("y", up, fairness)):
        if which in view.log:
            check_above_zero(which, shown_of(view, found), what.title)
    has_steps = len(view.along.labels) > 1 and not view.has_many_lines
    is_joined = has_steps and view.along.scale is not None
    with styled():
        figure, axes = facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for points, style in _runs(view, facet, is_joined=is_joined):
                _crosses(
                    axis, [across[point] for point in points], [up[point] for point in points], limits, style
                )
        for axis in axes:
            if "x" in view.log:
                logarithmic_of(axis, "x", shown_of(view, across), limits[0])
            if "y" in view.log:
                logarithmic_of(axis, "y", shown_of(view, up), limits[1])
        label_panels(figure, axes, view, xlabel, ylabel)
        settled(axes, "x")
        settled(axes, "y")
        if has_steps and not is_joined:
            _legend_of_marks(figure, view)
        else:
            add_legend(figure, axes[0], view)
        noted(
            figure,
            view.chosen and f"only {view.chosen}",
            _joined(view) if is_joined else "",
            of_limits(
                {
                    one.title: (shown_of(view, found), own)
                    for one, found, own in zip((goodput, fairness), (across, up), limits, strict=True)
                }
            ),
            of_missing(sweep, view, (goodput, across), (fairness, up)),
            view.part,
        )
        grow_to_fit(figure)
        if is_joined:
            for axis in axes:
                axis.margins(*MARGINS)  # for the labels of points at the edge
            figure.draw_without_rendering()  # the panels have their places then
            for axis in axes:
                axis.autoscale(enable=False)  # rings do not move them
            ends = view.along.labels[0], view.along.labels[-1]
            for axis, facet in zip(axes, view.facets, strict=False):
                rows = [[(across[point].mean, up[point].mean) for point in row] for row in facet.rows]
                shown = [point for row in facet.rows for point in row]
                bars = [bar for point in shown for bar in _bars((across[point], up[point]), limits)]
                _ends(axis, rows, ends, bars)
    return figure


def _runs(view: Grid, facet: Facet, *, is_joined: bool) -> Iterator[tuple[Sequence[int], dict[str, Any]]]:
    """The points of a panel that look alike, and how: those of a line, or of a step if these are names."""
    for index, points in enumerate(facet.rows):
        style = style_of(index, view.line_names[index], len(facet.rows))
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


def _legend_of_marks(figure: "Figure", view: Grid) -> None:
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
    title = wrapped_names("; ".join(filter(None, parts)), int(figure.get_figwidth() * LETTERS))
    beside = legend_columns(names, figure.get_figwidth())
    figure.legend([*marks, *patches], names, title=title, loc="outside lower center", ncols=beside)


def _joined(view: Grid) -> str:
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
    axis.errorbar(*means, xerr=reaches_of(across, limits[0]), yerr=reaches_of(up, limits[1]), **style)


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
        across = _part(point[0], self.axis.get_xlim(), self.axis.get_xscale())
        up = _part(point[1], self.axis.get_ylim(), self.axis.get_yscale())
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


def _part(value: float, ends: tuple[float, float], scale: str) -> float:
    """Where a value lies on a scale, of which the length is 1."""
    if scale == "log":
        value, *ends_ = (math.log10(one) if one > 0 else math.nan for one in (value, *ends))
        low, high = ends_
    else:
        low, high = ends
    return (value - low) / (high - low)
