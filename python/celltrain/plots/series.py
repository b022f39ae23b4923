"""Pictures of time series: the windows of every connection, the occupancy of every port."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltrain.plots.style import colour_of, panels, styled
from celltrain.traces import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltrain.traces import Samples

__all__ = ["WindowPanel", "occupancy", "windows"]


@dataclass(frozen=True)
class WindowPanel:
    """The congestion windows of one run, to stand in a column of their own."""

    title: str
    windows: Sequence[Trace]
    groups: Mapping[str, str]
    """The group of every connection, which gives it its colour."""


def windows(columns: Sequence[WindowPanel]) -> "Figure":
    """The windows of every connection, one strip each over the same time, and their sum below.

    Windows that move together show as edges that line up over the strips and as deep teeth of the sum. All
    strips of all columns share one scale, in kB.
    """
    strips = max(len(column.windows) for column in columns)
    top = max(float(trace.value.max(initial=0)) for column in columns for trace in column.windows) / 1e3
    total = max(float(_total(column).max(initial=0)) for column in columns) / 1e3
    with styled():
        heights = [*([1.0] * strips), 3.0]
        figure, axes = panels(
            strips + 1,
            len(columns),
            5.5 * len(columns),
            0.36 * strips + 2.0,
            sharex=True,
            gridspec_kw={"height_ratios": heights},
        )
        for index, column in enumerate(columns):
            _windows_column([row[index] for row in axes], column, top, total, first=index == 0)
    return figure


def occupancy(ports: Sequence[Trace], capacity: float | None = None) -> "Figure":
    """The occupancy of every port over time, in cells, one panel each; `capacity` is drawn as a line."""
    with styled():
        figure, axes = panels(len(ports), 1, 8.0, 1.2 * len(ports) + 0.8, sharex=True, sharey=True)
        colours = colour_of([port.entity for port in ports])
        for (axis,), port in zip(axes, ports, strict=True):
            axis.plot(port.t, port.value, color=colours[port.entity], linewidth=0.7)
            axis.set_title(port.entity)
            axis.set_ylim(bottom=0)
            axis.margins(x=0)
            if capacity is not None:
                axis.axhline(capacity, color="#555555", linewidth=0.8, linestyle="--")
        axes[-1][0].set_xlabel("time (s)")
        figure.supylabel("occupancy (cells)", fontsize="medium")
    return figure


def _windows_column(
    axes: "Sequence[Axes]", column: WindowPanel, top: float, total: float, *, first: bool
) -> None:
    names = [column.groups.get(trace.entity, "") for trace in column.windows]
    colours = colour_of(names)
    for axis, trace, group in zip(axes, column.windows, names, strict=False):
        _strip(axis, trace, colours[group], top, trace.entity if first else "")
    for axis in axes[len(column.windows) : -1]:
        axis.set_axis_off()
    axes[0].set_title(column.title)
    below = axes[-1]
    below.fill_between(column.windows[0].t, _total(column) / 1e3, color="#bbbbbb", linewidth=0)
    below.set_ylim(0, total * 1.05)
    below.margins(x=0)
    below.set_xlabel("time (s)")
    if first:
        below.set_ylabel("sum (kB)")


def _strip(axis: "Axes", trace: Trace, colour: str, top: float, label: str) -> None:
    axis.fill_between(trace.t, trace.value / 1e3, color=colour, alpha=0.35, linewidth=0)
    axis.plot(trace.t, trace.value / 1e3, color=colour, linewidth=0.6)
    axis.set_ylim(0, top * 1.05)
    axis.margins(x=0)
    axis.set_yticks([])
    axis.grid(visible=True, axis="x")
    axis.tick_params(axis="x", length=0)
    axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize="small")


def _total(column: WindowPanel) -> "Samples":
    import numpy as np

    return np.vstack([trace.value for trace in column.windows]).sum(axis=0)
