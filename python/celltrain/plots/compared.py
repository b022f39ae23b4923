"""A comparison as one picture: a row for each variant, a column for each measure, the best first."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.bounds import bounds, reach
from celltrain.leaders import best_first
from celltrain.margins import part_of
from celltrain.plots.style import (
    COLOURS,
    LETTERS,
    evenly_wrapped,
    legible,
    of_limits,
    panels,
    settled,
    styled,
)
from celltrain.results.result import FAIRNESS
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

WIDTHS = 2.6, 2.6, 2.1, 1.85, 1.75
"""Inches of a column, by how many there are."""

SMALL = 1.15
"""How many letters of titles and of the caption, which are small, take the space of one."""

STEPS = 5
"""Steps along a column at most; fewer where their numbers would touch."""

BROKEN = "//"
"""The sign of an axis that does not begin at zero."""

LINE = 0.15
"""Inches of a line of a title or of the caption."""

UNJUDGED = "#777777"
"""The colour of what is not part of the verdict."""


def order_by(found: "Comparison", measure: "Measure") -> list[str]:
    """The variants, the best by a measure first."""
    return best_first(measure, {name: found.estimate(name, measure).mean for name in found.variants})


def compared_points(found: "Comparison", measures: "Sequence[Measure] | None" = None) -> "Figure":
    """Means with 95 % intervals, sorted by the first measure.

    The best of each measure is filled, as are those that are the same within the least difference that
    matters and those that cannot be told from it; the others are hollow.
    Measures that the table of the comparison lacks are not part of its verdict, whose error is bounded over
    the measures of the table: their marks are grey.
    """
    chosen = list(measures)[:COLUMNS] if measures else found.measures
    order = order_by(found, chosen[0])
    names = legible(order)
    longest = max(map(len, names))
    with styled():
        each = WIDTHS[min(len(chosen), len(WIDTHS)) - 1]
        width = max(0.075 * longest + 0.6 + each * len(chosen), 5.0)
        letters = int(width * LETTERS * SMALL)
        caption = [line for part in _caption(found, chosen) for line in evenly_wrapped(part, letters)]
        headings = [_heading(found, measure, int((each - APART) * LETTERS * SMALL)) for measure in chosen]
        titles = max(len(heading.split("\n")) for heading in headings)
        height = ROW * len(order) + 1.25 + LINE * (len(caption) - 1 + max(0, titles - 3))
        figure, (axes,) = panels(1, len(chosen), width, height, sharey=True)
        # A number at the end of an axis must not touch the one at the beginning of the next.
        figure.set_layout_engine("constrained", w_pad=APART)
        broken = False
        for axis, measure, heading in zip(axes, chosen, headings, strict=True):
            _column(axis, found, measure, order)
            axis.set_title(heading, fontsize="small")
            broken = _marked_as_broken(axis, measure) or broken
        axes[0].set_yticks(range(len(order)), names)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
        if broken:
            caption.append(f"{BROKEN} the axis does not begin at zero")
            figure.set_figheight(height + LINE)
        figure.supxlabel("\n".join(caption), fontsize="small", x=0.02, ha="left")
    return figure


def _is_judged(found: "Comparison", measure: "Measure") -> bool:
    """Whether the comparison says which variant is best by a measure."""
    return measure.name in {one.name for one in found.judged} and not _is_misled(found, measure)


def _is_misled(found: "Comparison", measure: "Measure") -> bool:
    """Whether a measure is about transfers or requests that ended, and too many had not, or the like."""
    from celltrain.comparison.differences import misled

    return bool(misled(found, measure.name))


def _caption(found: "Comparison", chosen: "Sequence[Measure]") -> list[str]:
    """What the marks of some measures mean."""
    count = found.manifest["replications"]
    parts = [f"mean{' and 95 % interval' if count > 1 else ''}, sorted by {chosen[0].title}"]
    judged = [measure for measure in chosen if _is_judged(found, measure)]
    if judged:
        few = f" (fewer than {LEAST} replications decide nothing)" if count < LEAST else ""
        same = text.listed([*dict.fromkeys(text.exact_percent(part_of(one.name)) for one in judged)], "or")
        parts.append(f"filled: best, the same within {same}, or not distinguishable from the best{few}")
    if len(judged) < len(chosen):
        is_in_table = {one.name for one in chosen} <= {one.name for one in found.measures}
        of_others = "" if is_in_table else ", which is on the measures of the table"
        parts.append(f"grey: not part of the verdict{of_others}")
    cut: dict[str, list[str]] = {}
    for measure in chosen:
        if _is_misled(found, measure):
            is_own = measure.name == FAIRNESS or found.is_uneven(measure.name)
            what = measure.title if is_own else "times"
            cut.setdefault(what, []).append(found.too_many(measure))
    parts += [
        f"no variant is best by {what}: {' and '.join(dict.fromkeys(some))}" for what, some in cut.items()
    ]
    every = {
        one.title: ([found.estimate(name, one) for name in found.variants], bounds(one, found.comparable))
        for one in chosen
    }
    means = found.said_of_means(chosen).removesuffix(".")
    return [*parts, *filter(None, [of_limits(every), means[:1].lower() + means[1:]])]


def _title(found: "Comparison", measure: "Measure") -> str:
    """A measure with the unit in which it is drawn."""
    _, unit = text.scale(found.size(measure), found.unit(measure))
    return text.with_unit(measure.title, unit)


def _marked_as_broken(axis: "Axes", measure: "Measure") -> bool:
    """Marks the axis of a measure that is not below zero where it begins above; returns whether it does."""
    if bounds(measure)[0] != 0 or axis.get_xlim()[0] <= 0:
        return False
    slash = [(-0.5, -1.0), (0.5, 1.0)]
    axis.plot(
        [0.03, 0.06],
        [0, 0],
        linestyle="none",
        marker=slash,
        markersize=8,
        color="black",
        transform=axis.transAxes,
        clip_on=False,
        zorder=4,
    )
    return True


def _heading(found: "Comparison", measure: "Measure", letters: int) -> str:
    """What stands above a column: the measure, and which direction is better."""
    better = f"{measure.better} is better" if measure.better else "neither direction is better"
    return "\n".join([*evenly_wrapped(_title(found, measure), letters), *evenly_wrapped(better, letters)])


def _best(found: "Comparison", measure: "Measure") -> set[str]:
    """The best variant by a measure of the table, and those that are the same or cannot be told from it."""
    return {*found.leader(measure).together}


def _column(axis: "Axes", found: "Comparison", measure: "Measure", order: Sequence[str]) -> None:
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
        below, above = reach(estimate, bounds(measure, found.comparable))
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
    axis.grid(visible=True, axis="y")
    axis.tick_params(axis="y", length=0)
    settled([axis], "x")
    least, largest = bounds(measure, found.comparable)
    if least >= 0 and axis.get_xlim()[0] < 0:
        axis.set_xlim(left=0)
    if least < largest < axis.get_xlim()[1]:
        axis.set_xlim(right=largest)
    space_numbers(axis, STEPS)


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
