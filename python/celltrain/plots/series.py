"""Pictures of time series: the windows of every connection, the occupancy of every port."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltrain.plots.style import (
    NAME,
    colour_of,
    evenly_wrapped,
    inches_beside,
    keyed,
    legible,
    panels,
    styled,
    titled,
)
from celltrain.text import either, scale, with_unit
from celltrain.traces import Trace, Windows, common_scale, decimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SeriesPanel", "WindowPanel", "occupancy", "over_time", "windows"]

LABEL = 26
"""Letters of a line of a label beside a panel."""

POINTS = 1200
"""Points drawn of a series: more than a column of a printed page can show."""


@dataclass(frozen=True)
class WindowPanel:
    """The congestion windows of one run, to stand in a column of their own."""

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
            axis.margins(x=0)
            if len(seen) > 1:
                beside = 4 if max(map(len, labels.values())) <= NAME // 2 else 3
                axis.legend(loc="upper left", ncols=beside, fontsize="x-small")
        axes[-1][0].set_xlabel(with_unit("time", unit))
    return figure


def windows(columns: Sequence[WindowPanel]) -> "Figure":
    """The windows of connections, one strip each over the same time, and the sum of all below.

    Windows that move together show as edges that line up over the strips and as deep teeth of the sum. All
    strips of all columns share one scale, and so do the sums.
    """
    strips = max(len(column.windows.shown) for column in columns)
    shown = [trace for column in columns for trace in column.windows.shown]
    top, time = common_scale(shown), _time_axis(shown)
    groups = [column.groups.get(trace.entity, "") for column in columns for trace in column.windows.shown]
    colours = colour_of(groups)
    factor, unit = scale(max(float(column.windows.together.value.max()) for column in columns), "B")
    with styled():
        size = (5.5 * len(columns), max(0.36 * strips, 1.4) + 2.0)
        # One pair of axes per column: one per strip would be drawn ten times as slowly.
        figure, axes = panels(2, len(columns), *size, sharex=True, height_ratios=[max(strips, 4), 3])
        beside = inches_beside(trace.entity for trace in shown)
        for above, below, column in zip(*axes, columns, strict=True):
            _strips(above, column, colours, top, time[0])
            titled(above, _title(column), beside=beside)
            # Axes that are shared would all have the names, and the height, of the last column.
            above.set_ylim(len(column.windows.shown) - strips, len(column.windows.shown))
            above.tick_params(
                axis="y", labelleft=column is columns[0] or _names(column) != _names(columns[0])
            )
            if column is not columns[0]:
                below.sharey(axes[1][0])
                below.tick_params(axis="y", labelleft=False)
            together = decimate(column.windows.together, POINTS)
            below.fill_between(together.t / time[0], together.value / factor, color="#bbbbbb", linewidth=0)
            below.margins(x=0)
            below.set_xlabel(with_unit("time", time[1]))
            if column is columns[0] or column.windows.part:
                below.set_ylabel(with_unit(column.windows.sum_name, unit))
        axes[1][0].set_ylim(bottom=0)  # a limit ends the scaling to the data of all columns
        keyed(figure, colours)
    return figure


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
            axis.margins(x=0)
            if capacity is not None:
                axis.axhline(capacity, color="#555555", linewidth=0.8, linestyle="--")
        axes[-1][0].set_xlabel(with_unit("time", time))
        counted = either(port.unit for port in ports)
        figure.supylabel(with_unit("occupancy", counted), fontsize="medium")
    return figure


def _time_axis(every: Iterable[Trace]) -> tuple[float, str]:
    """By what to divide times in seconds, and the unit that they then have."""
    return scale(max(float(trace.t[-1]) for trace in every), "s")


def _names(column: WindowPanel) -> list[str]:
    """The connections whose windows are shown."""
    return [trace.entity for trace in column.windows.shown]


def _title(column: WindowPanel) -> str:
    """What stands above a column."""
    return ": ".join(filter(None, (column.title, column.windows.part)))


def _strips(axis: "Axes", column: WindowPanel, colours: Mapping[str, str], top: float, factor: float) -> None:
    """Every window on a base line of its own, the first on top, each strip one unit high."""
    shown = column.windows.shown
    names = [column.groups.get(trace.entity, "") for trace in shown]
    bases = range(len(shown) - 1, -1, -1)
    for base, trace, group in zip(bases, shown, names, strict=True):
        drawn = decimate(trace, POINTS)
        heights = base + 0.92 * drawn.value / top
        axis.fill_between(drawn.t / factor, base, heights, color=colours[group], alpha=0.35, linewidth=0)
        axis.plot(drawn.t / factor, heights, color=colours[group], linewidth=0.6)
    axis.set_yticks(list(bases), legible(_names(column)), va="bottom", fontsize="small")
    axis.tick_params(axis="both", length=0)
    axis.tick_params(axis="x", labelbottom=False)
    axis.margins(x=0)
