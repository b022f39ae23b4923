"""The queue of a port: its occupancy against capacity and thresholds, and what became of the cells that came.

Cells are **accepted**, **discarded**, or **dead**: accepted, though some of their frame is lost. Accepted
ones may get a congestion **mark**. A short time is drawn cell by cell; over a longer one cells are counted,
and over a whole run there is the sampled occupancy alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain.cells import Cells, PortFacts
from celltrain.plots.schedule import NOTHING, Schedule, legend_of, mark
from celltrain.plots.style import (
    COLOURS,
    LEVEL,
    inches_beside,
    legible,
    named_levels,
    noted,
    panels,
    styled,
    titled,
)
from celltrain.text import counted, number, scale
from celltrain.traces import FLAT, Trace, decimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_CELLS", "QueuePanel", "queue"]

MOST_CELLS = 60_000
"""Cells that are followed one by one; of longer times the sampled occupancy is drawn."""

MOST_DRAWN = 1600
"""Cells that are drawn one by one; more are counted in bins."""

MOST_LANES = 12
"""VCs with a lane of their own."""

BINS = 120
"""Bins in which cells are counted."""

POINTS = 1500

MANY = 3
"""Runs from which on panels are lower, so that a picture of three fits on a printed page with its text."""

TALL, LOW = 1.7, 0.95
"""Inches of an occupancy."""

NEAR = 2
"""The ratio of the capacity to the longest queue up to which it is drawn: a larger one is named beside."""

LANE_COLOURS = (
    *(COLOURS[place] for place in (0, 2, 3, 4, 5)),
    *("#332288", "#999933", "#882255", "#44AA99", "#8C564B", "#AA4499", "#DDCC77"),
)
"""The colours of lanes: those of marks and of discarded cells are not among them."""

DISCARDED, DEAD, USEFUL, MARKED = COLOURS[1], "#8a8f98", COLOURS[0], COLOURS[6]


@dataclass(frozen=True)
class QueuePanel:
    """The queue of one run."""

    title: str
    port: PortFacts
    cells: Cells | None = None
    """What came, cell by cell."""
    sampled: Trace | None = None
    """The occupancy at sampling times, where there are no cells."""
    schedule: Schedule = NOTHING
    """What its scenario schedules on links."""


def queue(every: Sequence[QueuePanel], span: tuple[float, float]) -> "Figure":
    """The queues of one or several runs over the same time.

    They have one scale, but for a queue that would be flat in it: that has its own.

    Args:
        every: one panel for each run.
        span: the time to show, in seconds.
    """
    lanes = _lanes(every)
    each_cell = all(map(_is_drawn, every)) and len(lanes) <= MOST_LANES
    low = 0.0 if every[0].cells is None else 0.24 * len(lanes) + 0.1 if each_cell else 0.8
    high = TALL if len(every) < MANY else LOW
    heights = [height for _ in every for height in ((high, low) if low else (high,))]
    tops = _tops(every)
    part, unit = scale(span[1] - span[0], "s")
    factor = 1 / part
    beside = inches_beside(lanes if each_cell else [])
    with styled():
        size = (8.0, sum(heights) + 0.3 * len(every) + 1.0)
        figure, grid = panels(len(heights), 1, *size, sharex=True, height_ratios=heights)
        axes = [row[0] for row in grid]
        each = 2 if low else 1
        for place, (panel, top) in enumerate(zip(every, tops, strict=True)):
            above = axes[each * place]
            _occupancy(above, panel, factor, top)
            named_levels(above, _levels(panel.port), line=LEVEL / high * top, top=top)
            above.tick_params(axis="x", labelbottom=not low and panel is every[-1])
            titled(above, _title(panel), beside=beside, fontsize="medium")
            if low:
                assert panel.cells is not None, "cells of all runs, or of none"
                below = axes[each * place + 1]
                if each_cell:
                    _trains(below, panel.cells, lanes, factor)
                else:
                    _counts(below, panel.cells, span, factor)
        if low:
            _share(axes[1::2], every)
        for place, panel in enumerate(every):
            mark(axes[each * place : each * (place + 1)], panel.schedule, span, part)
        axes[-1].set_xlim(span[0] * factor, span[1] * factor)
        axes[-1].set_xlabel(f"time ({unit})")
        _legend(figure, every, each_cell)
        own = len({(panel.port.framing, top) for panel, top in zip(every, tops, strict=True)})
        framings = len({panel.port.framing for panel in every})
        scales = "queues differ in scale: a short one beside long ones has its own" if own > framings else ""
        noted(figure, *legend_of((panel.schedule for panel in every), span), scales)
    return figure


def _tops(every: Sequence[QueuePanel]) -> list[float]:
    """The heights of the axes: one for all that count the same, but for queues that would be flat in it."""
    own = [*map(_top, every)]
    common = _of_framings(every, own)
    largest = [common[panel.port.framing] for panel in every]
    return [top if FLAT * top < most else most for top, most in zip(own, largest, strict=True)]


def _share(axes: "Sequence[Axes]", every: Sequence[QueuePanel]) -> None:
    """One scale for what stands below the queues and counts the same."""
    tops = _of_framings(every, [axis.get_ylim()[1] for axis in axes])
    for axis, panel in zip(axes, every, strict=True):
        axis.set_ylim(top=tops[panel.port.framing])


def _of_framings(every: Sequence[QueuePanel], heights: Iterable[float]) -> dict[str, float]:
    """The largest height of the panels of cells and of those of packets, which have no common scale."""
    found: dict[str, float] = {}
    for panel, height in zip(every, heights, strict=True):
        found[panel.port.framing] = max(height, found.get(panel.port.framing, 0.0))
    return found


def _lanes(every: Sequence[QueuePanel]) -> list[str]:
    """The VCs in the order of their first cells, those of the first panel first."""
    names = (
        name
        for panel in every
        if panel.cells is not None
        for name in sorted(set(panel.cells.flow), key=_natural)
    )
    return list(dict.fromkeys(names))


def _natural(name: str) -> tuple[int, str]:
    digits = name.split(" ")[0]
    return (int(digits) if digits.isdigit() else 0, name)


def _is_drawn(panel: QueuePanel) -> bool:
    return panel.cells is not None and len(panel.cells.flow) <= MOST_DRAWN


def _top(panel: QueuePanel) -> float:
    """The height that shows a queue: to the capacity where it comes near, otherwise to the longest queue."""
    if panel.cells is not None:
        longest = float(panel.cells.occupancy()[1].max(initial=1.0))
    else:
        longest = 1.0 if panel.sampled is None else float(panel.sampled.value.max(initial=1.0))
    capacity = panel.port.capacity
    return 1.12 * (longest if capacity is None or capacity > NEAR * longest else max(capacity, longest))


def _title(panel: QueuePanel) -> str:
    if panel.cells is None:
        return panel.title
    unit = panel.port.framing
    arrived, discarded, dead = panel.cells.counts
    carried = max(arrived - discarded, 1)
    said = f"{panel.title}: of {counted(arrived, unit.removesuffix('s'))} {discarded:,} discarded"
    if marked := _marked(panel.cells, unit):
        said += f", {marked} marked"
    share = number(100 * dead / carried, 2)
    return f"{said}, {dead:,} dead ({share} % of what was carried)" if unit == "cells" else said


def _marked(cells: Cells, unit: str) -> str:
    """How many frames and cells, or packets, got a congestion mark; "" if none did."""
    own = int((cells.marks & cells.efci).sum())
    frames = int(cells.marks.sum()) - own
    if unit != "cells":
        return f"{frames:,}" if frames else ""
    return " and ".join(counted(n, noun) for n, noun in ((frames, "frame"), (own, "cell")) if n)


def _occupancy(axis: "Axes", panel: QueuePanel, factor: float, top: float) -> None:
    """The occupancy with its dead part, capacity and thresholds, and a cross for each discarded cell."""
    if panel.cells is not None:
        times, level = panel.cells.occupancy()
        axis.fill_between(times * factor, level, step="post", color=USEFUL, alpha=0.22, linewidth=0)
        dead_times, dead = panel.cells.occupancy(panel.cells.dead)
        axis.fill_between(
            dead_times * factor,
            dead,
            step="post",
            facecolor="white",
            edgecolor=DEAD,
            hatch="////",
            linewidth=0.0,
        )
        axis.plot(times * factor, level, drawstyle="steps-post", color=USEFUL, linewidth=0.9)
        _fates(axis, panel, factor, times, level)
    elif panel.sampled is not None:
        drawn = decimate(panel.sampled, POINTS)
        axis.plot(drawn.t * factor, drawn.value, color=USEFUL, linewidth=0.7)
    axis.set_ylim(0, top)
    axis.set_ylabel(f"queue ({panel.port.framing})")


def _levels(port: PortFacts) -> Mapping[str, float]:
    """Capacity and thresholds that are counted as the queue is."""
    if port.unit != port.framing:
        return {}
    named: dict[str, float] = {} if port.capacity is None else {f"capacity {port.capacity:,}": port.capacity}
    for key, units in port.levels:
        named[f"{key} {units:,}"] = units
    return named


def _fates(axis: "Axes", panel: QueuePanel, factor: float, times: Any, level: Any) -> None:
    """Where discarded cells met the queue, and those that stand for congestion marks."""
    import numpy as np

    cells = panel.cells
    assert cells is not None
    size, edge = (4.0, 1.1) if _is_drawn(panel) else (2.5, 0.7)
    for chosen, marker, colour in ((cells.marks, "^", MARKED), (cells.discarded, "x", DISCARDED)):
        met = cells.arrived[chosen & ~np.isnan(cells.arrived)]
        if not len(met):
            continue
        heights = level[np.clip(np.searchsorted(times, met, side="right") - 1, 0, None)]
        look: dict[str, Any] = {"color": colour, "markersize": size, "markeredgewidth": edge}
        axis.plot(met * factor, heights, linestyle="", marker=marker, **look)


def _trains(axis: "Axes", cells: Cells, lanes: Sequence[str], factor: float) -> None:
    """Every cell at its arrival, a lane for each VC: full, hollow if dead, a cross if discarded.

    A triangle is at the end of each marked frame, or on each cell with a mark of its own.
    """
    import numpy as np
    from matplotlib.collections import PolyCollection

    width = 0.8 * cells.port.slot * factor
    place = {name: len(lanes) - 1 - index for index, name in enumerate(lanes)}
    for index, name in enumerate(lanes):
        mine = np.array([flow == name for flow in cells.flow], dtype=bool) & ~np.isnan(cells.arrived)
        base, colour = place[name], LANE_COLOURS[index % len(LANE_COLOURS)]
        for chosen, face in ((cells.accepted & ~cells.dead, colour), (cells.dead, "white")):
            starts = cells.arrived[mine & chosen] * factor
            boxes = [
                ((x, base + 0.15), (x, base + 0.75), (x + width, base + 0.75), (x + width, base + 0.15))
                for x in starts
            ]
            axis.add_collection(PolyCollection(boxes, facecolors=face, edgecolors=colour, linewidths=0.6))
        ends = cells.arrived[mine & cells.last] * factor + width / 2
        axis.plot(
            ends, np.full(len(ends), base + 0.9), linestyle="", marker=".", markersize=2.5, color="#333333"
        )
        looks: list[tuple[Any, dict[str, Any]]] = [
            (cells.marks, {"marker": "^", "markersize": 3.5, "color": MARKED}),
            (cells.discarded, {"marker": "x", "markersize": 5, "markeredgewidth": 1.3, "color": DISCARDED}),
        ]
        for chosen, look in looks:
            middles = cells.arrived[mine & chosen] * factor + width / 2
            axis.plot(middles, np.full(len(middles), base + 0.45), linestyle="", **look)
    axis.set_ylim(0, max(len(lanes), 1))
    axis.set_yticks([place[name] + 0.45 for name in lanes], legible(lanes), fontsize="small")
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.set_ylabel("arrivals" if len(lanes) > 2 else "")


def _counts(axis: "Axes", cells: Cells, span: tuple[float, float], factor: float) -> None:
    """How many cells came in each part of the time: useful, marked, dead and discarded ones, stacked."""
    import numpy as np

    edges = np.linspace(*span, BINS + 1)
    came = ~np.isnan(cells.arrived)
    parts = (
        (came & cells.accepted & ~cells.dead & ~cells.marked, {"color": USEFUL, "alpha": 0.55}),
        (came & cells.accepted & ~cells.dead & cells.marked, {"color": MARKED}),
        (came & cells.dead, {"facecolor": "white", "edgecolor": DEAD, "hatch": "////", "linewidth": 0.3}),
        (came & cells.discarded, {"color": DISCARDED}),
    )
    base = np.zeros(BINS)
    for chosen, style in parts:
        counts = np.histogram(cells.arrived[chosen], edges)[0]
        axis.bar(edges[:-1] * factor, counts, np.diff(edges) * factor, bottom=base, align="edge", **style)
        base += counts
    axis.set_ylabel(f"{cells.port.framing} per\n{_bin_width(span)}", fontsize="small")


def _bin_width(span: tuple[float, float]) -> str:
    width = float(f"{(span[1] - span[0]) / BINS:.3g}")  # rounded first: 999.9 µs are 1 ms
    factor, unit = scale(width, "s")
    return f"{width / factor:.3g} {unit}"


def _legend(figure: "Figure", every: Sequence[QueuePanel], each_cell: bool) -> None:
    """What marks mean, and the bars of the same colours where cells are counted."""
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    drawn = [panel.cells for panel in every if panel.cells is not None]
    if not drawn:
        return
    handles: dict[str, Any] = {"accepted": Patch(facecolor=USEFUL, alpha=0.55)}

    def entry(colour: str, **look: Any) -> Any:
        """A mark, with a bar behind it where there are some."""
        one = Line2D([], [], linestyle="", color=colour, **look)
        return one if each_cell else (one, Patch(color=colour))

    # What never happens has no entry.
    if any(cells.port.framing == "cells" and cells.dead.any() for cells in drawn):
        handles["dead: part of a broken frame"] = Patch(facecolor="white", edgecolor=DEAD, hatch="////")
    if any((cells.marks if each_cell else cells.marked).any() for cells in drawn):
        handles["marked"] = entry(MARKED, marker="^", markersize=4)
    if any(cells.counts[1] for cells in drawn):
        handles["discarded"] = entry(DISCARDED, marker="x", markeredgewidth=1.3)
    if each_cell:
        handles["end of a frame"] = Line2D([], [], linestyle="", marker=".", color="#333333")
    both = {tuple: HandlerTuple(ndivide=None)}
    figure.legend([*handles.values()], [*handles], loc="outside lower center", ncols=5, handler_map=both)
