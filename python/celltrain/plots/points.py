"""Pictures of means with intervals: published against measured, policy against policy, flow beside flow."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Literal

from celltrain.bounds import UNBOUNDED, Bounds, reach
from celltrain.plots.style import (
    COLOURS,
    HATCHES,
    MARKERS,
    NAME,
    SPREAD,
    evenly_wrapped,
    keyed,
    legend_columns,
    legible,
    noted,
    of_gaps,
    of_limits,
    panels,
    plain,
    settled,
    styled,
    titled,
)
from celltrain.statistics import Estimate
from celltrain.text import told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PointPanel", "PointSeries", "bars", "points"]

MOST_LETTERS = 26
"""Letters that stand side by side below a panel, if every category has as many as the longest; more are
written at a slant."""
LABEL = 30
"""Letters of a line of a label beside a panel."""

ACROSS = 44
"""Letters of a name that is written from bottom to top; the middle of a longer one is left out."""

FEWEST = 6
"""Bars that have space at least, so that one alone is a bar and no wall."""

MANY = 16
"""Bars from which on they are narrow."""


@dataclass(frozen=True)
class PointSeries:
    """A mean with its interval for every category; hollow points stand for published values."""

    name: str
    points: Sequence[Estimate | None]
    hollow: bool = False


@dataclass(frozen=True)
class PointPanel:
    """Series over the same categories, in one panel."""

    title: str
    categories: Sequence[str]
    series: Sequence[PointSeries]
    xlabel: str = ""
    ylabel: str = ""
    scale: str = ""
    """Panels that name the same scale have the same range of values; "" is a panel's own."""
    bounds: Bounds = UNBOUNDED
    """The least and the largest possible value: intervals are drawn no further."""
    form: Literal["marks", "curves", "bars"] = "marks"
    """Marks beside one another, curves over the categories, or bars from zero. Among curves and bars a hollow
    series is marks on the series before it."""


def points(every: Sequence[PointPanel], columns: int = 4) -> "Figure":
    """Points with intervals in small panels, one legend for all of them."""
    rows = -(-len(every) // columns)
    columns = min(columns, len(every))
    with styled():
        width = max(5.0, 3.1 * columns)
        names = list(dict.fromkeys(series.name for panel in every for series in panel.series))
        beside = legend_columns(legible(names), width)
        lines = -(-len(names) // beside)
        longest = max(len(name) for panel in every for name in told(panel.categories, NAME))
        height = 2.6 + 0.04 * max(0, longest - 12)  # long names stand at a slant below the panel
        figure, axes = panels(rows, columns, width, height * rows + 0.2 + 0.2 * lines)
        flat = [axis for row in axes for axis in row]
        for axis, panel in zip(flat, every, strict=False):
            _point_panel(axis, panel)
        _share_scales(flat, every)
        for axis in flat[len(every) :]:
            axis.set_axis_off()
        every_entry = (zip(*reversed(axis.get_legend_handles_labels()), strict=True) for axis in flat)
        entries = {label: handle for of_axis in every_entry for label, handle in of_axis}
        if len(entries) > 1:
            labels = told([*entries], NAME)
            figure.legend([*entries.values()], labels, loc="outside lower center", ncols=beside)
        drawn = [
            [one for series in panel.series for one in series.points if one is not None] for panel in every
        ]
        noted(figure, of_limits(_limited(every, drawn)), of_gaps(chain(*drawn)))
    return figure


def _limited(
    every: Sequence[PointPanel], drawn: Sequence[Sequence[Estimate]]
) -> dict[str, tuple[Sequence[Estimate], Bounds]]:
    """What panels show of each quantity, whose limits all of them share, and its limits."""
    found: dict[str, tuple[list[Estimate], Bounds]] = {}
    for panel, some in zip(every, drawn, strict=True):
        found.setdefault(
            panel.title if panel.form == "bars" else panel.ylabel or panel.title, ([], panel.bounds)
        )[0].extend(some)
    return {**found}


def bars(
    categories: Sequence[str],
    heights: Sequence[Estimate],
    colours: Sequence[str],
    xlabel: str,
    ylabel: str,
    key: Mapping[str, str],
    title: str = "",
) -> "Figure":
    """A bar with its interval for each category; `key` has what the colours mean, by its name."""
    names = legible(categories, ACROSS)
    longest = max(map(len, names))
    across = longest > 3  # then names are written from bottom to top
    with styled():
        width = max(5.0, (0.45 if len(names) <= MANY else 0.25) * len(names) + 1.5)
        lines = -(-len(key) // legend_columns(legible([*key]), width)) if key else 0
        figure, ((axis,),) = panels(1, 1, width, 3.0 + (0.08 * longest if across else 0) + 0.2 * lines)
        positions = range(len(categories))
        errors = _reaches(heights, (0.0, math.inf))
        means = [found.mean for found in heights]
        look: dict[str, Any] = {"capsize": 3, "error_kw": {"linewidth": 1}}
        if any(map(any, errors)):  # a line of no length would still have its ends
            look["yerr"] = errors
        axis.bar(positions, means, color=list(colours), **look)
        axis.set_xticks(positions, names, rotation=90 if across else 0)
        middle, reached = (len(names) - 1) / 2, max(len(names), FEWEST) / 2 + 0.1
        axis.set_xlim(middle - reached, middle + reached)
        settled([axis], "y")
        axis.set_ylim(bottom=0)  # where all are zero it would begin below
        keyed(figure, key)
        axis.set_xlabel(xlabel)
        axis.grid(visible=False, axis="x")
        axis.set_ylabel(ylabel)
        titled(axis, title)
    return figure


def _reaches(every: Sequence[Estimate], limits: Bounds) -> list[list[float]]:
    """The lengths of error bars below and above the means."""
    pairs = [reach(found, limits) for found in every]
    return [[below for below, _ in pairs], [above for _, above in pairs]]


def _share_scales(axes: "Sequence[Axes]", every: Sequence[PointPanel]) -> None:
    for scale in {panel.scale: None for panel in every if panel.scale}:
        sharing = [axis for axis, panel in zip(axes, every, strict=False) if panel.scale == scale]
        lows, highs = zip(*(axis.get_ylim() for axis in sharing), strict=True)
        for axis in sharing:
            axis.set_ylim(min(lows), max(highs))


def _point_panel(axis: "Axes", panel: PointPanel) -> None:
    are_marks = panel.form == "marks"
    slots = list(accumulate(are_marks or not series.hollow for series in panel.series))
    count = slots[-1]
    # What is published has no colour of its own, so that the others have the same one with it and without it.
    looks = list(accumulate(not series.hollow for series in panel.series))
    for series, slot, look in zip(panel.series, slots, looks, strict=True):
        index = max(look - 1, 0)
        shift = 0.0 if panel.form == "curves" else SPREAD * (slot - 1 - (count - 1) / 2) / max(count, 2)
        known = [(place + shift, found) for place, found in enumerate(series.points) if found is not None]
        label = plain(series.name)
        colour = "#333333" if series.hollow and are_marks else COLOURS[index % len(COLOURS)]
        places, means = [place for place, _ in known], [found.mean for _, found in known]
        errors = _reaches([found for _, found in known], panel.bounds)
        if panel.form == "bars" and not series.hollow:
            width = SPREAD / max(count, 2)
            style: dict[str, Any] = {"color": colour, "capsize": 2, "error_kw": {"linewidth": 1}}
            hatch = HATCHES[index // len(COLOURS) % len(HATCHES)]
            if hatch:
                style |= {"hatch": hatch, "edgecolor": "white"}
            if any(map(any, errors)):
                style["yerr"] = errors
            axis.bar(places, means, width, label=label, **style)
            continue
        joined = panel.form == "curves" and not series.hollow
        axis.errorbar(
            places,
            means,
            yerr=errors if any(map(any, errors)) else None,
            fmt=MARKERS[index % len(MARKERS)] + ("-" if joined else ""),
            color=colour,
            markerfacecolor="none" if series.hollow else colour,
            markersize=4.5,
            capsize=2,
            linewidth=1,
            label=label,
        )
    names = legible(panel.categories)
    crowded = len(names) * max(map(len, names)) > MOST_LETTERS
    slant: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axis.set_xticks(range(len(names)), names, **slant)
    axis.set_xlim(-0.6, len(names) - 0.4)
    titled(axis, panel.title)
    axis.set_xlabel(panel.xlabel)
    axis.set_ylabel("\n".join(evenly_wrapped(panel.ylabel, LABEL)))
