"""A comparison as one picture: a row for each variant, a column for each measure, the best first."""

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.bounds import bounds, reach
from celltrain.leaders import best_first
from celltrain.plots.style import COLOURS, legible, panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltrain.comparison import Comparison
    from celltrain.registry import Measure

__all__ = ["compared_points", "order_by"]

COLUMNS = 5
"""Measures side by side, where they are chosen; many more would leave too little width for each."""

ROW = 0.235
"""Inches of a row."""

APART = 0.12
"""Inches on either side of a column."""

TITLE = 24
"""Letters of a column's title on a line."""


def order_by(found: "Comparison", measure: "Measure") -> list[str]:
    """The variants, the best by a measure first."""
    return best_first(measure, {name: found.estimate(name, measure).mean for name in found.variants})


def compared_points(found: "Comparison", measures: "Sequence[Measure] | None" = None) -> "Figure":
    """Means with 95 % intervals, sorted by the first measure.

    The best of each measure is full, as are those that cannot be told from it; the others are hollow.
    Measures that the table of the comparison lacks are not judged.
    """
    chosen = list(measures)[:COLUMNS] if measures else found.measures
    order = order_by(found, chosen[0])
    names = legible(order)
    longest = max(map(len, names))
    with styled():
        width = 0.075 * longest + 0.6 + 1.75 * len(chosen)
        figure, (axes,) = panels(1, len(chosen), max(width, 5.0), ROW * len(order) + 1.25, sharey=True)
        # A number at the end of an axis must not touch the one at the beginning of the next.
        figure.set_layout_engine("constrained", w_pad=APART)
        for axis, measure in zip(axes, chosen, strict=True):
            _column(axis, found, measure, order)
        axes[0].set_yticks(range(len(order)), names)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
        spread = " and 95 % interval" if found.manifest["replications"] > 1 else ""
        figure.supxlabel(
            f"mean{spread}, sorted by {chosen[0].title}; full: best, or not told from the best",
            fontsize="small",
        )
    return figure


def _best(found: "Comparison", measure: "Measure") -> set[str]:
    """The best variant by a measure of the table, and those that cannot be told from it."""
    leader = found.leader(measure)
    return {leader.best, *leader.tied}


def _column(axis: "Axes", found: "Comparison", measure: "Measure", order: Sequence[str]) -> None:
    factor, unit = text.scale(found.size(measure), found.unit(measure))
    is_judged = measure.name in {one.name for one in found.measures}
    best = _best(found, measure) if is_judged else set(order)
    for row, name in enumerate(order):
        estimate = found.results[name].estimate(measure.name)
        if not math.isfinite(estimate.mean):
            axis.annotate(
                "undefined", (0.5, row), xycoords=("axes fraction", "data"), ha="center", va="center"
            )
            continue
        below, above = reach(estimate, bounds(measure))
        axis.errorbar(
            [estimate.mean / factor],
            [row],
            xerr=[[below / factor], [above / factor]],
            fmt="o",
            color=COLOURS[0],
            markerfacecolor=COLOURS[0] if name in best else "white",
            markersize=5,
            capsize=2,
            linewidth=1,
        )
    title = fill(text.with_unit(measure.title, unit), TITLE)
    judged = f"{measure.better} is better" if is_judged else "not judged"
    axis.set_title(f"{title}\n{judged}", fontsize="small")
    axis.grid(visible=True, axis="y")
    axis.tick_params(axis="y", length=0)
    axis.locator_params(axis="x", nbins=3)
    if bounds(measure)[0] == 0 and axis.get_xlim()[0] < 0:
        axis.set_xlim(left=0)
