"""A comparison as one picture: a row for each variant, a column for each measure, the best first."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.bounds import bounds, reach
from celltrain.leaders import best_first
from celltrain.plots.style import COLOURS, LETTERS, evenly_wrapped, legible, panels, settled, styled
from celltrain.results.censored import kind_of
from celltrain.verdicts import LEAST

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltrain.comparison import Comparison
    from celltrain.registry import Measure

__all__ = ["compared_points", "order_by", "space_numbers"]

COLUMNS = 5
"""Measures side by side, where they are chosen; many more would leave too little width for each."""

ROW = 0.235
"""Inches of a row."""

APART = 0.12
"""Inches on either side of a column."""

TITLE = 24
"""Letters of a column's title on a line."""

LINE = 0.15
"""Inches of a line of a title or of the caption."""

UNJUDGED = "#777777"
"""The colour of what is not part of the verdict."""


def order_by(found: "Comparison", measure: "Measure") -> list[str]:
    """The variants, the best by a measure first."""
    return best_first(measure, {name: found.estimate(name, measure).mean for name in found.variants})


def compared_points(found: "Comparison", measures: "Sequence[Measure] | None" = None) -> "Figure":
    """Means with 95 % intervals, sorted by the first measure.

    The best of each measure is filled, as are those that cannot be told from it; the others are hollow.
    Measures that the table of the comparison lacks are not part of its verdict, whose error is bounded over
    the measures of the table: their marks are grey.
    """
    chosen = list(measures)[:COLUMNS] if measures else found.measures
    order = order_by(found, chosen[0])
    names = legible(order)
    longest = max(map(len, names))
    with styled():
        width = max(0.075 * longest + 0.6 + 1.75 * len(chosen), 5.0)
        letters = int(width * LETTERS)
        caption = [line for part in _caption(found, chosen) for line in evenly_wrapped(part, letters)]
        titles = max(len(_heading(found, measure).split("\n")) for measure in chosen)
        height = ROW * len(order) + 1.25 + LINE * (len(caption) - 1 + max(0, titles - 3))
        figure, (axes,) = panels(1, len(chosen), width, height, sharey=True)
        # A number at the end of an axis must not touch the one at the beginning of the next.
        figure.set_layout_engine("constrained", w_pad=APART)
        for axis, measure in zip(axes, chosen, strict=True):
            _column(axis, found, measure, order, is_alone=len(chosen) == 1)
        axes[0].set_yticks(range(len(order)), names)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
        figure.supxlabel("\n".join(caption), fontsize="small")
    return figure


def _is_judged(found: "Comparison", measure: "Measure") -> bool:
    """Whether the comparison says which variant is best by a measure."""
    return measure.name in {one.name for one in found.judged} and not _is_misled(found, measure)


def _is_misled(found: "Comparison", measure: "Measure") -> bool:
    """Whether a measure is about transfers or requests that ended, and too many had not."""
    from celltrain.comparison.result import misled

    return bool(misled(found, measure.name))


def _caption(found: "Comparison", chosen: "Sequence[Measure]") -> list[str]:
    """What the marks of some measures mean."""
    count = found.manifest["replications"]
    parts = [f"mean{' and 95 % interval' if count > 1 else ''}, sorted by {chosen[0].title}"]
    judged = [_is_judged(found, measure) for measure in chosen]
    if any(judged):
        few = f" (fewer than {LEAST} replications decide nothing)" if count < LEAST else ""
        parts.append(f"filled: best, or not distinguishable from the best{few}")
    if not all(judged):
        is_in_table = {one.name for one in chosen} <= {one.name for one in found.measures}
        of_others = "" if is_in_table else ", which is on the measures of the table"
        parts.append(f"grey: not part of the verdict{of_others}")
    cut = {kind_of(measure.name): None for measure in chosen if _is_misled(found, measure)}
    if cut:
        why = text.listed([kind.too_many for kind in cut if kind is not None])
        parts.append(f"no variant is best by times: {why}")
    return parts


def _title(found: "Comparison", measure: "Measure") -> str:
    """A measure with the unit in which it is drawn."""
    _, unit = text.scale(found.size(measure), found.unit(measure))
    return text.with_unit(measure.title, unit)


def _heading(found: "Comparison", measure: "Measure") -> str:
    """What stands above a column: the measure, and which direction is better."""
    better = f"{measure.better} is better" if measure.better else "neither direction is better"
    return "\n".join([*wrap(_title(found, measure), TITLE), *wrap(better, TITLE)])


def _best(found: "Comparison", measure: "Measure") -> set[str]:
    """The best variant by a measure of the table, and those that are the same or cannot be told from it."""
    return {*found.leader(measure).together}


def _column(
    axis: "Axes", found: "Comparison", measure: "Measure", order: Sequence[str], *, is_alone: bool
) -> None:
    factor, _ = text.scale(found.size(measure), found.unit(measure))
    is_judged = _is_judged(found, measure)
    best = _best(found, measure) if is_judged else set(order)
    colour = COLOURS[0] if is_judged else UNJUDGED
    for row, name in enumerate(order):
        estimate = found.estimate(name, measure)
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
            fmt="o" if is_judged else "D",
            color=colour,
            markerfacecolor=colour if name in best else "white",
            markersize=5,
            capsize=2,
            linewidth=1,
            clip_on=False,  # half of a mark at zero would be hidden
            zorder=3,
        )
    axis.set_title(_heading(found, measure), fontsize="small")
    axis.grid(visible=True, axis="y")
    axis.tick_params(axis="y", length=0)
    settled([axis], "x")
    if bounds(measure)[0] == 0 and axis.get_xlim()[0] < 0:
        axis.set_xlim(left=0)
    space_numbers(axis, 5 if is_alone else 3)


def space_numbers(axis: "Axes", steps: int) -> None:
    """Chooses the numbers along a column: at most so many steps, and as few as leave space between them."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    letters = axis.get_position().width * figure.get_figwidth() * LETTERS
    formatter = axis.xaxis.get_major_formatter()
    for most in range(steps, 0, -1):
        axis.locator_params(axis="x", nbins=most)
        low, high = axis.get_xlim()
        ticks = [tick for tick in axis.get_xticks() if low <= tick <= high]
        if sum(len(label) + 1 for label in formatter.format_ticks(ticks)) <= letters:
            return
