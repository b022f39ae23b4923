"""Pictures of sweeps: lines with intervals, heat maps, and fairness against goodput."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from celltrain import text
from celltrain.bounds import Bounds, bounds, reach
from celltrain.errors import InputError
from celltrain.files.folder import Folder
from celltrain.plots.grid import Grid, Side, rows_of
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
    of_limits,
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
from celltrain.sweeps.view import Facet, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as MplPath
    from matplotlib.transforms import Bbox

__all__ = ["draw_sweep", "heat_map", "lines", "trade_off"]

LABEL = 30
"""Letters of a line of a label beside a panel; a longer one would be cut off."""

PANELS = (4.2, 3.0), (3.1, 2.2), (2.4, 1.9), (1.9, 1.7)
"""Inches of a panel and what is beside it, by how many stand side by side: all together fit on a page."""

BESIDE, COLOUR_BAR = 0.5, 1.1
"""Inches beside a panel that its numbers take, and the colours of a heat map with theirs."""

LOW = 2.2
"""Inches that panels are high at most where they stand in several rows."""

DECADE = 10.0
"""The ratio of the largest values of two rows of panels from which on each row has a scale of its own."""

STYLES = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1)))
"""Lines of curves: one that lies upon another shows it in its gaps."""

EQUAL, APART = 0.02, 0.018
"""The parts of scales below which marks of two curves cover each other, and by which they stand apart."""

LINE = 0.16
"""Inches of a line of the legend, the notes, or the names above panels."""

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

T = TypeVar("T")

CORNERS = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up]
"""Where a label stands beside a point."""

MOST_TICKS = 12
"""Labels along an axis of steps."""

TICK = 0.25
"""Inches that a label along an axis of steps takes at least."""


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
    found, label = _scaled(sweep, measure)
    cut = _cut(sweep, measure, view, found)
    scale, limits = view.along.scale, bounds(measure)
    _check_along(view)
    if "y" in view.log:
        _check_above_zero("y", _shown(view, found), measure.title)
    with styled():
        own = _own_scales(view, found)
        figure, axes = _facet_panels(view, share_y=not own)
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
                logarithmic(axis, "y")
        _labelled(figure, axes, view, _along_label(view), label)
        for sharing in _scale_groups(view, axes) if own else [axes]:
            settled(sharing, "y")
        _legend(figure, axes[0], view)
        noted(
            figure,
            view.chosen and f"only {view.chosen}",
            f"hollow: {why_marked(measure.name)}" if cut else "",
            "where curves cover each other, their marks stand beside one another" if apart else "",
            _own_told(view) if own else "",
            of_limits({measure.title: (_shown(view, found), limits)}),
            of_gaps(_shown(view, found)),
            view.part,
        )
        _grow(figure)
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
        style = _style(index, view.line_names[index])
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
        _steps(axis, view.along.labels, "x", _width(view))
        axis.set_xlim(-0.6, len(view.along.labels) - 0.4)
    elif is_log:
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


def _shown(view: Grid, found: Sequence[Estimate]) -> list[Estimate]:
    """The estimates of the points that a picture shows."""
    return [found[point] for facet in view.facets for line in facet.rows for point in line]


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


def _check_above_zero(which: str, found: Sequence[Estimate], what: str) -> None:
    """Refuses a logarithmic axis of a measure that has no logarithm at some points."""
    if any(one.mean <= 0 for one in found):
        raise InputError(
            f"the axis of {which} cannot be logarithmic: {what} is not above zero at every point; "
            "choose points at which it is"
        )


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
    found, label = _scaled(sweep, measure)
    cut = _cut(sweep, measure, view, found)
    finite = [one.mean for one in _shown(view, found) if math.isfinite(one.mean)] or [0.0]
    with styled():
        figure, axes = _facet_panels(view, more=COLOUR_BAR)
        image = None
        for axis, facet in zip(axes, view.facets, strict=False):
            means = [[found[point].mean for point in row] for row in facet.rows]
            image = axis.imshow(
                means, aspect="auto", cmap="viridis", vmin=min(finite), vmax=max(finite), origin="lower"
            )
            axis.grid(visible=False)
            crossed = [(x, y) for y, row in enumerate(facet.rows) for x, one in enumerate(row) if one in cut]
            _crossed(axis, crossed)
            _steps(axis, view.along.labels, "x", _width(view) - 0.5)
            _steps(axis, view.line_names, "y")
        _labelled(figure, axes, view, view.along.name, view.lines.name if view.lines else "")
        if image is not None:
            figure.colorbar(image, ax=axes, label=label)
        notes = view.chosen and f"only {view.chosen}", of_gaps(_shown(view, found))
        noted(figure, *notes, f"crosses: {why_marked(measure.name)}" if cut else "", view.part)
        _grow(figure)
    return figure


def trade_off(sweep: Sweep, view: Grid) -> "Figure":
    """Fairness against goodput: a point of the sweep is a point of the picture, with both intervals.

    Points along a quantity are joined in its order, and the last of them is ringed. Along an axis of names,
    such as policies, each name has a mark of its own.
    """
    goodput, fairness = map(measure, ("goodput", "fairness_index"))
    (across, xlabel), (up, ylabel) = _scaled(sweep, goodput), _scaled(sweep, fairness)
    limits = bounds(goodput), bounds(fairness)
    for which, found, what in (("x", across, goodput), ("y", up, fairness)):
        if which in view.log:
            _check_above_zero(which, _shown(view, found), what.title)
    has_steps = len(view.along.labels) > 1 and not view.has_many_lines
    is_joined = has_steps and view.along.scale is not None
    with styled():
        figure, axes = _facet_panels(view)
        for axis, facet in zip(axes, view.facets, strict=False):
            for points, style in _runs(view, facet, is_joined=is_joined):
                _crosses(
                    axis, [across[point] for point in points], [up[point] for point in points], limits, style
                )
        for axis in axes:
            for which in view.log:
                logarithmic(axis, "x" if which == "x" else "y")
        _labelled(figure, axes, view, xlabel, ylabel)
        settled(axes, "x")
        settled(axes, "y")
        if has_steps and not is_joined:
            _legend_of_marks(figure, view)
        else:
            _legend(figure, axes[0], view)
        noted(
            figure,
            view.chosen and f"only {view.chosen}",
            _joined(view) if is_joined else "",
            of_limits(
                {
                    one.title: (_shown(view, found), own)
                    for one, found, own in zip((goodput, fairness), (across, up), limits, strict=True)
                }
            ),
            of_gaps(_shown(view, [*across]) + _shown(view, [*up])),
            view.part,
        )
        _grow(figure)
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
    title = _wrapped("; ".join(filter(None, parts)), int(figure.get_figwidth() * LETTERS))
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


def _scaled(sweep: Sweep, measure: Measure) -> tuple[list[Estimate], str]:
    """The estimates of every point in a unit of their size, and the label with that unit."""
    found = placed(sweep, measure.name)
    factor, unit = text.scale(largest(found), sweep.unit(measure.name))
    return [one.scaled(1 / factor) for one in found], text.with_unit(measure.title, unit)


def _panel_size(view: Grid) -> tuple[float, float]:
    """Inches of a panel and what is beside it."""
    wide, tall = PANELS[min(view.shape[1], len(PANELS)) - 1]
    return wide, tall if view.shape[0] == 1 else min(tall, LOW)


def _width(view: Grid) -> float:
    """Inches of a panel alone."""
    return _panel_size(view)[0] - BESIDE


def _facet_panels(view: Grid, *, share_y: bool = True, more: float = 0.0) -> "tuple[Figure, list[Axes]]":
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


def _grow(figure: "Figure") -> None:
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


def _labelled(figure: "Figure", axes: "Sequence[Axes]", view: Grid, xlabel: str, ylabel: str) -> None:
    """Names the axes at the edges of the grid, and its rows and columns."""
    (_, columns), (_, tall), count = view.shape, _panel_size(view), len(axes)
    letters = int(LETTERS * (_width(view) + BESIDE / 2))
    for place, axis in enumerate(axes):
        if place >= count - columns:
            axis.set_xlabel(_wrapped(xlabel, letters))
        if place % columns == 0:
            longest = max(map(len, ylabel.split()), default=0)  # which no line break divides
            axis.set_ylabel(_wrapped(ylabel, max(longest, min(LABEL, int(LETTERS * (tall - 0.3))))))
    across, down = view.columns, view.rows
    if count > 1 and not down.name and _fit_whole(across, letters):
        for axis, label in zip(axes, across.labels, strict=True):
            titled(axis, f"{across.name} = {label}")
        return
    for axis, label in zip(axes if view.wraps else axes[:columns], across.labels, strict=True):
        if across.name:
            axis.set_title(_wrapped(label, letters), fontsize="medium")
    for axis, label in zip(axes[columns - 1 :: columns], down.labels, strict=False):
        if down.name:
            axis.annotate(
                _wrapped(label, int(LETTERS * tall)),
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
        title = "\n".join(_wrapped(one, wide) for one in _joined_lines(said, wide))
        figure.suptitle(title, fontsize="medium")


def _joined_lines(said: Sequence[str], most: int) -> list[str]:
    """Parts of a title on one line, if they fit."""
    whole = "; ".join(said)
    return [whole] if len(whole) <= most else [*said]


def _fit_whole(side: Side, letters: int) -> bool:
    """Whether the names of columns fit above them with what they are the steps of."""
    return all(len(f"{side.name} = {label}") <= letters for label in side.labels)


def _along_label(view: Grid) -> str:
    """What the axis along panels is called, with its unit."""
    scale = view.along.scale
    return view.along.name if scale is None else text.with_unit(view.along.name, scale[1])


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


def _legend(figure: "Figure", axis: "Axes", view: Grid) -> None:
    if view.lines is not None and not view.has_many_lines:
        handles, labels = axis.get_legend_handles_labels()
        names = text.told(labels, NAME)
        beside = legend_columns(names, figure.get_figwidth())
        title = _wrapped(view.lines.name, int(figure.get_figwidth() * LETTERS))
        figure.legend(handles, names, title=title, loc="outside lower center", ncols=beside)


def _wrapped(names: str, most: int) -> str:
    """The keys of an axis on as many lines as they need."""
    return plain("\n".join(evenly_wrapped(names, most)))


def _steps(axis: "Axes", labels: Sequence[str], which: str, wide: float = 1.0) -> None:
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


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether increasing values are spread by factors rather than by steps."""
    return len(values) > 2 and min(values) > 0 and values[-1] - values[-2] > 1.5 * (values[1] - values[0])
