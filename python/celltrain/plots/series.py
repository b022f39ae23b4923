"""Pictures of time series: the windows of every connection, the occupancy of every port."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from celltrain.plots.style import (
    NAME,
    colour_of,
    evenly_wrapped,
    inches_beside,
    keyed,
    legible,
    noted,
    panels,
    styled,
    titled,
)
from celltrain.text import either, scale, with_unit
from celltrain.traces import Trace, Windows, decimate, height_told, strip_heights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SeriesPanel", "WindowPanel", "occupancy", "over_time", "windows"]

LABEL = 26
"""Letters of a line of a label beside a panel."""

POINTS = 1200
"""Points drawn of a series: more than a column of a printed page can show."""

MOST_BESIDE = 3
"""Panels of windows side by side."""

WIDTHS = 5.5, 4.3, 3.4
"""Inches of a panel of windows, by how many stand side by side."""

STRIP, LEAST, TALL = 0.36, 1.4, 7.2
"""Inches of a strip, and the least of those of a panel and the most of all that stand below one another."""

SUM = 2.0
"""Inches of what is below the strips of a panel."""

NAMED = 0.13
"""Inches of strips that have space for one name."""


@dataclass(frozen=True)
class WindowPanel:
    """The congestion windows of one run, to stand in a panel of their own."""

    title: str
    windows: Windows
    groups: Mapping[str, str]
    """The group of every connection, which gives it its colour."""


@dataclass(frozen=True)
class SeriesPanel:
    """Time series of one run in one pair of axes."""

    title: str
    traces: Sequence[Trace]
    label: str
    """What the series are."""


def over_time(every: Sequence[SeriesPanel]) -> "Figure":
    """Time series as lines, one panel per run, all panels over the same time and to one scale."""
    with styled():
        factor, unit = _time_axis(trace for panel in every for trace in panel.traces)
        figure, axes = panels(len(every), 1, 8.0, 2.4 * len(every) + 0.8, sharex=True, sharey=True)
        for (axis,), panel in zip(axes, every, strict=True):
            names = [trace.group or trace.entity for trace in panel.traces]
            colours = colour_of(names)
            labels = dict(zip(colours, legible([*colours]), strict=True))
            seen: set[str] = set()
            for trace, name in zip(panel.traces, names, strict=True):
                drawn = decimate(trace, POINTS)
                # A group has one entry in the legend.
                label = "_nolegend_" if name in seen else labels[name]
                seen.add(name)
                axis.plot(drawn.t / factor, drawn.value, color=colours[name], linewidth=0.8, label=label)
            titled(axis, panel.title)
            label = with_unit(panel.label, panel.traces[0].unit)
            axis.set_ylabel("\n".join(evenly_wrapped(label, LABEL)))
            if len(seen) > 1:
                beside = 4 if max(map(len, labels.values())) <= NAME // 2 else 3
                axis.legend(loc="upper left", ncols=beside, fontsize="x-small")
        axes[-1][0].set_xlabel(with_unit("time", unit))
        _begin_at_zero((axis for (axis,) in axes), (one for panel in every for one in panel.traces), factor)
    return figure


def windows(every: Sequence[WindowPanel]) -> "Figure":
    """The windows of connections, one strip each over the same time, and the sum of all below.

    Windows that move together show as edges that line up over the strips and as deep teeth of the sum. All
    strips of a group share one scale in every panel, and so do the sums.
    """
    named = [one for panel in every for one in panel.windows.named(panel.groups)]
    strips, heights = max(len(panel.windows.shown) for panel in every), strip_heights(named)
    colours, time = colour_of([group for group, _ in named]), _time_axis(trace for _, trace in named)
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
        _begin_at_zero([axis for pair in pairs for axis in pair], (trace for _, trace in named), time[0])
        keyed(figure, colours)
        noted(figure, f"each strip is {height_told(heights)}")
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


def _begin_at_zero(axes: "Iterable[Axes]", every: Iterable[Trace], factor: float) -> None:
    """Panels show the time from the beginning of the run, not that from the first sample."""
    end = max(float(trace.t[-1]) for trace in every) / factor
    for axis in axes:
        axis.set_xlim(0, end)


def occupancy(ports: Sequence[Trace], capacity: float | None = None) -> "Figure":
    """The occupancy of every port over time, one panel each; `capacity` is drawn as a line."""
    with styled():
        figure, axes = panels(len(ports), 1, 8.0, 1.2 * len(ports) + 0.8, sharex=True, sharey=True)
        colours = colour_of([port.entity for port in ports])
        top = max(*(float(port.value.max(initial=1)) for port in ports), capacity or 1.0)
        factor, time = _time_axis(ports)
        for (axis,), port in zip(axes, (decimate(port, POINTS) for port in ports), strict=True):
            axis.plot(port.t / factor, port.value, color=colours[port.entity], linewidth=0.7)
            titled(axis, port.entity)
            axis.set_ylim(0, 1.05 * top)
            if capacity is not None:
                axis.axhline(capacity, color="#555555", linewidth=0.8, linestyle="--")
        axes[-1][0].set_xlabel(with_unit("time", time))
        _begin_at_zero((axis for (axis,) in axes), ports, factor)
        counted = either(port.unit for port in ports)
        figure.supylabel(with_unit("occupancy", counted), fontsize="medium")
    return figure


def _time_axis(every: Iterable[Trace]) -> tuple[float, str]:
    """By what to divide times in seconds, and the unit that they then have."""
    return scale(max(float(trace.t[-1]) for trace in every), "s")


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
        heights = base + 0.92 * drawn.value / tops[group]
        axis.fill_between(drawn.t / factor, base, heights, color=colours[group], alpha=0.35, linewidth=0)
        axis.plot(drawn.t / factor, heights, color=colours[group], linewidth=0.6)


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
