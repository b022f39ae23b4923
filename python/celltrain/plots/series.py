"""Pictures of time series: the windows of every connection, the occupancy of every port."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from celltrain.cells import CELL_BITS, CELL_RATE
from celltrain.plots.schedule import NOTHING, Schedule, legend_of, mark
from celltrain.plots.style import (
    COLOURS,
    LEVEL,
    colour_for_each,
    colour_of,
    evenly_wrapped,
    inches_beside,
    keyed,
    legible,
    look_of,
    named_levels,
    noted,
    panels,
    styled,
    titled,
)
from celltrain.plots.transfers import said_of_lives
from celltrain.text import either, scale, with_unit
from celltrain.traces import Trace, Windows, decimate, height_told, strip_heights, with_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SeriesPanel", "WindowPanel", "alike", "in_bits", "occupancy", "over_time", "windows"]

LABEL = 26
"""Letters of a line of a label beside a panel."""

POINTS = 1200
"""Points drawn of a series: more than a column of a printed page can show."""

LINES, MARGIN = 2.4, 1.05
"""Inches of a panel of lines, and its height over that of what it shows."""

NEAR = 4
"""The ratio of a level to the largest value up to which it is drawn: a higher one would flatten the lines."""

MOST_BESIDE = 3
"""Panels of windows side by side."""

WIDTHS = 5.5, 4.3, 3.4
"""Inches of a panel of windows, by how many stand side by side."""

STRIP, LEAST, TALL = 0.36, 1.4, 7.2
"""Inches of a strip, and the least of those of a panel and the most of all that stand below one another."""

BEHIND = 1.16
"""Where the key of a panel begins beside the names of its levels; 1 is the end of the panel."""

SUM = 2.0
"""Inches of what is below the strips of a panel."""

FULL, CUT = 0.92, 0.98
"""The parts of a strip that its height and its highest peaks reach, which stay below the strip above."""

HIGHER = "; higher peaks are cut off"
"""What is said where there are some."""

MISSING = 1.5
"""Sample periods between two values from which on there is none between them."""

NAMED = 0.13
"""Inches of strips that have space for one name."""


@dataclass(frozen=True)
class WindowPanel:
    """The congestion windows of one run, to stand in a panel of their own."""

    title: str
    windows: Windows
    groups: Mapping[str, str]
    """The group of every connection, which gives it its colour."""
    schedule: Schedule = NOTHING
    """What its scenario schedules on links."""


@dataclass(frozen=True)
class SeriesPanel:
    """Time series of one run in one pair of axes."""

    title: str
    traces: Sequence[Trace]
    label: str
    """What the series are."""
    levels: Mapping[str, float] = field(default_factory=dict)
    """Heights to compare the series with, by their names, which have their values."""
    schedule: Schedule = NOTHING
    """What its scenario schedules on links."""
    period: float | None = None
    """The sample period of series that have no value in some of them: there are gaps in their lines."""


def over_time(every: Sequence[SeriesPanel], span: tuple[float, float] | None = None) -> "Figure":
    """Time series as lines, one panel per run, all panels over the same time and, in one unit, to one scale.

    A group has one look in all panels. Where there are more than colours, each panel has a key of its own if
    it has few lines. Levels that lie far above every series are told below the picture.

    Args:
        every: a panel for each run.
        span: begin and end of the time axis, in seconds; from zero to the last sample by default.
    """
    drawn = [trace for panel in every for trace in panel.traces]
    looks = look_of(_coloured(drawn))
    most = max(len({*_coloured(panel.traces)}) for panel in every)
    is_shared = len(looks) <= len(COLOURS) or most > len(COLOURS)
    scales = _scales(every)
    is_alike = len({*scales}) == 1
    with styled():
        factor, unit = _time_axis(drawn, span)
        figure, axes = panels(len(every), 1, 8.0, LINES * len(every) + 0.8, sharex=True, sharey=is_alike)
        for (axis,), panel, vertical in zip(axes, every, scales, strict=True):
            size = vertical.size
            own = looks if is_shared else look_of(_coloured(panel.traces))
            for trace, name in zip(panel.traces, _coloured(panel.traces), strict=True):
                line = _line(trace, panel.period)
                colour, style = own[name]
                axis.plot(line.t / factor, line.value / size, color=colour, linestyle=style, linewidth=0.8)
                if panel.period is not None:  # a value between two gaps makes no line
                    axis.plot(line.t / factor, line.value / size, ".", color=colour, markersize=1.5)
            titled(axis, panel.title)
            if not is_shared:
                keyed(axis, own, right=BEHIND if panel.levels else 1.0)
            axis.set_ylabel("\n".join(evenly_wrapped(with_unit(panel.label, vertical.unit), LABEL)))
            here = {name: height / size for name, height in panel.levels.items() if height <= vertical.top}
            named_levels(axis, here, line=LEVEL / LINES * vertical.top / size)
            axis.set_ylim(vertical.low / size, vertical.top / size)
        axes[-1][0].set_xlabel(with_unit("time", unit))
        shown = _over((axis for (axis,) in axes), drawn, factor, span)
        for (axis,), panel in zip(axes, every, strict=True):
            mark([axis], panel.schedule, shown, factor)
        if is_shared:
            keyed(figure, looks)
        both = [*zip(every, scales, strict=True)]
        far = (name for panel, one in both for name, height in panel.levels.items() if height > one.top)
        above = (f"above the picture: {name}" for name in dict.fromkeys(far))
        noted(figure, _of_groups(every), *above, *legend_of((panel.schedule for panel in every), shown))
    return figure


class _Scale(NamedTuple):
    """What the axis of y of a panel shows."""

    low: float
    top: float
    size: float
    """What stands as 1 on the axis."""
    unit: str


def _scales(every: Sequence[SeriesPanel]) -> list[_Scale]:
    """The scale of each panel: one for all in a unit, as cells and packets have nothing in common."""
    units = [either(trace.unit for trace in panel.traces) for panel in every]
    known = {
        unit: _scale([panel for panel, own in zip(every, units, strict=True) if own == unit], unit)
        for unit in dict.fromkeys(units)
    }
    return [known[unit] for unit in units]


def _scale(every: Sequence[SeriesPanel], unit: str) -> _Scale:
    """The scale of some panels, with levels that are not far above what they show."""
    values = [trace.value for panel in every for trace in panel.traces]
    largest = max(float(value.max()) for value in values)
    near = [one for panel in every for one in panel.levels.values() if one <= NEAR * largest]
    top = MARGIN * max([largest, *near]) or 1.0
    return _Scale(min(0.0, *(float(value.min()) for value in values)), top, *scale(top / MARGIN, unit))


def _line(trace: Trace, period: float | None) -> Trace:
    """What is drawn of a trace: with gaps where it lacks values of two sample periods or more.

    Of very many samples few are drawn, and a gap is longer than the time that two of them stand for.
    """
    line = decimate(trace, POINTS)
    if period is None:
        return line
    bucket = 0.0 if line is trace else 2 * (trace.t[-1] - trace.t[0]) / POINTS
    return with_gaps(line, trace.t, max(MISSING * period, bucket))


def in_bits(trace: Trace) -> Trace:
    """A rate of cells in bit/s of the link, as other rates are; other series as they are."""
    if trace.unit != CELL_RATE:
        return trace
    return replace(trace, unit="bit/s", value=trace.value * CELL_BITS)


def _of_groups(every: Sequence[SeriesPanel]) -> str:
    """What is said of lines that have one colour, if some have."""
    shared = any(len({*_coloured(panel.traces)}) < len(panel.traces) for panel in every)
    return "lines of one group have one colour" if shared else ""


def alike(every: Sequence[SeriesPanel], groups: Sequence[Mapping[str, str]]) -> list[SeriesPanel]:
    """Panels whose lines have the colours of their groups in all of them, or colours of their own in all.

    They have those of groups where a panel has more lines than there are colours, and groups are several.

    Args:
        every: panels, of which those with many lines have groups.
        groups: for each panel the groups of its flows.
    """
    some = [
        [known.get(trace.entity, known.get(trace.entity.rpartition("/")[0], "")) for trace in panel.traces]
        for panel, known in zip(every, groups, strict=True)
    ]
    has_many = any(trace.group for panel in every for trace in panel.traces)
    is_grouped = has_many and len({group for of_panel in some for group in of_panel}) > 1
    return [
        replace(
            panel,
            traces=[
                replace(trace, group=group if is_grouped else "")
                for trace, group in zip(panel.traces, of_panel, strict=True)
            ],
        )
        for panel, of_panel in zip(every, some, strict=True)
    ]


def _coloured(every: Iterable[Trace]) -> list[str]:
    """What the colour of each trace stands for: its group, or itself."""
    return [trace.group or trace.entity for trace in every]


def windows(every: Sequence[WindowPanel], span: tuple[float, float] | None = None) -> "Figure":
    """The windows of connections, one strip each over the same time, and the sum of all below.

    Windows that move together show as edges that line up over the strips and as deep teeth of the sum. All
    strips of a group share one scale in every panel, and so do the sums.

    Args:
        every: a panel for each run.
        span: begin and end of the time axes, in seconds; from zero to the last sample by default.
    """
    named = [one for panel in every for one in panel.windows.named(panel.groups)]
    strips, heights = max(len(panel.windows.shown) for panel in every), strip_heights(named)
    # Windows may end before the run does.
    every_sum = [panel.windows.together for panel in every]
    colours, time = colour_for_each([group for group, _ in named]), _time_axis(every_sum, span)
    size, sums = scale(max(float(panel.windows.together.value.max()) for panel in every), "B")
    beside = inches_beside(trace.entity for _, trace in named)
    with styled():
        figure, pairs, high = _grid(len(every), strips)
        thin = ceil(NAMED * strips / high)
        for place, ((above, below), panel) in enumerate(zip(pairs, every, strict=True)):
            left = every[place - place % _columns(len(every))]
            _strips(above, panel, colours, heights, time[0])
            titled(above, _title(panel), beside=beside)
            above.set_ylim(len(panel.windows.shown) - strips, len(panel.windows.shown))
            _name_strips(above, panel, thin, is_named=panel is left or _names(panel) != _names(left))
            together = decimate(panel.windows.together, POINTS)
            below.fill_between(together.t / time[0], together.value / size, color="#bbbbbb", linewidth=0)
            below.set_xlabel(with_unit("time", time[1]) if place + _columns(len(every)) >= len(every) else "")
            below.tick_params(axis="y", labelleft=panel is left)
            if panel is left or panel.windows.part:
                below.set_ylabel(with_unit(panel.windows.sum_name, sums))
        pairs[0][1].set_ylim(bottom=0)  # a limit ends the scaling to the data of all panels
        over = _over([axis for pair in pairs for axis in pair], every_sum, time[0], span)
        for pair, panel in zip(pairs, every, strict=True):
            mark(pair, panel.schedule, over, time[0])
        keyed(figure, colours)
        ends = said_of_lives(panel.windows for panel in every)
        scheduled = legend_of((panel.schedule for panel in every), over)
        cut = HIGHER if any(_is_cut(one, heights[group]) for group, one in named) else ""
        noted(figure, f"each strip is {height_told(heights)}{cut}", ends, *scheduled)
    return figure


def _columns(count: int) -> int:
    """Panels side by side: three, or two where the last row would otherwise have one alone."""
    return count if count < MOST_BESIDE else 2 if count == 2 * (MOST_BESIDE - 1) else MOST_BESIDE


def _grid(count: int, strips: int) -> "tuple[Figure, list[tuple[Axes, Axes]], float]":
    """A figure for so many panels, the axes of the strips and of the sum of each, and the strips' height."""
    columns = _columns(count)
    rows = -(-count // columns)
    high = max(LEAST, min(STRIP * strips, TALL / rows))
    size = (WIDTHS[columns - 1] * columns, rows * (high + SUM) + 0.4)
    # One pair of axes per panel: one per strip would be drawn ten times as slowly.
    figure, axes = panels(2 * rows, columns, *size, sharex=True, height_ratios=[high, SUM - 0.6] * rows)
    pairs = [pair for row in range(rows) for pair in zip(*axes[2 * row : 2 * row + 2], strict=True)]
    for above, below in pairs[count:]:
        above.set_axis_off()
        below.set_axis_off()
    for _, below in pairs[1:count]:
        below.sharey(pairs[0][1])
    for _, below in pairs[max(0, count - columns) : count]:
        below.tick_params(axis="x", labelbottom=True)  # also where no panel is below
    return figure, pairs[:count], high


def _over(
    axes: "Iterable[Axes]", every: Iterable[Trace], factor: float, span: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Panels show the time of a span, or that from the beginning of the run and not from the first sample.

    Returns:
        That time in seconds.
    """
    begin, end = (0.0, max(float(trace.t[-1]) for trace in every)) if span is None else span
    for axis in axes:
        axis.set_xlim(begin / factor, end / factor)
    return begin, end


def occupancy(
    ports: Sequence[Trace], capacity: float | None = None, schedule: Schedule = NOTHING
) -> "Figure":
    """The occupancy of every port over time, one panel each, with a line at the `capacity`.

    Panels in one unit have one scale. Changes that the scenario schedules on links are marked.
    """
    tops = dict.fromkeys((port.unit for port in ports), capacity or 1.0)
    for port in ports:
        tops[port.unit] = max(tops[port.unit], float(port.value.max(initial=1)))
    is_alike = len(tops) == 1
    with styled():
        figure, axes = panels(len(ports), 1, 8.0, 1.2 * len(ports) + 0.8, sharex=True, sharey=is_alike)
        colours = colour_of([port.entity for port in ports])
        factor, time = _time_axis(ports)
        for (axis,), port in zip(axes, (decimate(port, POINTS) for port in ports), strict=True):
            axis.plot(port.t / factor, port.value, color=colours[port.entity], linewidth=0.7)
            titled(axis, port.entity if is_alike else f"{port.entity}, in {port.unit}")
            axis.set_ylim(0, 1.05 * tops[port.unit])
            if capacity is not None:
                axis.axhline(capacity, color="#555555", linewidth=0.8, linestyle="--")
        axes[-1][0].set_xlabel(with_unit("time", time))
        shown = _over((axis for (axis,) in axes), ports, factor)
        mark((axis for (axis,) in axes), schedule, shown, factor)
        counted = either(port.unit for port in ports)
        figure.supylabel(with_unit("occupancy", counted), fontsize="medium")
        noted(figure, *legend_of([schedule], shown))
    return figure


def _time_axis(every: Iterable[Trace], span: tuple[float, float] | None = None) -> tuple[float, str]:
    """By what to divide times in seconds, and the unit that they then have: that of how much is shown."""
    return scale(max(float(trace.t[-1]) for trace in every) if span is None else span[1] - span[0], "s")


def _names(panel: WindowPanel) -> list[str]:
    """The connections whose windows are shown."""
    return [trace.entity for trace in panel.windows.shown]


def _title(panel: WindowPanel) -> str:
    """What stands above a panel."""
    return ": ".join(filter(None, (panel.title, panel.windows.part)))


def _strips(
    axis: "Axes", panel: WindowPanel, colours: Mapping[str, str], tops: Mapping[str, float], factor: float
) -> None:
    """Every window on a base line of its own, the first on top, each strip one unit high."""
    named = panel.windows.named(panel.groups)
    for base, (group, trace) in zip(_bases(panel), named, strict=True):
        drawn = decimate(trace, POINTS)
        heights = base + (FULL * drawn.value / tops[group]).clip(max=CUT)
        axis.fill_between(drawn.t / factor, base, heights, color=colours[group], alpha=0.35, linewidth=0)
        axis.plot(drawn.t / factor, heights, color=colours[group], linewidth=0.6)


def _is_cut(trace: Trace, height: float) -> bool:
    """Whether a trace has peaks that do not fit into a strip of that height."""
    return bool(FULL * float(trace.value.max(initial=0.0)) > CUT * height)


def _bases(panel: WindowPanel) -> range:
    """Where the strips of a panel begin, the first on top."""
    return range(len(panel.windows.shown) - 1, -1, -1)


def _name_strips(axis: "Axes", panel: WindowPanel, thin: int, *, is_named: bool) -> None:
    """Writes the names of connections beside their strips: every one, or as many as there is space for."""
    names = legible(_names(panel))
    axis.set_yticks(list(_bases(panel))[::thin], names[::thin], va="bottom", fontsize="small")
    axis.tick_params(axis="both", length=0)
    axis.tick_params(axis="x", labelbottom=False)
    axis.tick_params(axis="y", labelleft=is_named)
