"""The report of a sweep."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from celltrain import text
from celltrain.bounds import Bounds, bounds, reach
from celltrain.hops import hops
from celltrain.margins import margin, part_of
from celltrain.notes.advice import advice_on_sweep
from celltrain.registry import Measure, title
from celltrain.report import parts
from celltrain.report.page import Page, Safe
from celltrain.statistics import Estimate, largest
from celltrain.sweeps import Sweep
from celltrain.sweeps.axes import lengths_of, steps_of
from celltrain.sweeps.axes import shown as written
from celltrain.sweeps.censored import incomparable, incomparable_points, why_marked
from celltrain.sweeps.layout import Facet, View
from celltrain.sweeps.precision import imprecise
from celltrain.sweeps.scaling import scaling_axes
from celltrain.sweeps.view import group_lines, legend, mean_lines, placed, why_missing
from celltrain.usual import leading

__all__ = ["sweep_report"]

OPEN = 2
"""Measures whose charts are open."""

MOST_VALUES = 6
"""Values of an axis within which the lead compares points."""

MOST_ROWS = 500
"""Points in the table of a report; the Parquet files have all of them."""


def sweep_report(sweep: Sweep) -> str:
    """The report of a sweep as one HTML file."""
    m = sweep.manifest
    points, runs = text.counted(m["points"], "point"), text.counted(m["runs"], "run")
    page = Page(m["name"], f"A sweep over {points}, {runs} with seed {m['seed']}")
    view = View.of(sweep)
    shown = sweep.measures
    first = _leading(sweep)
    titles = text.listed([one.title for one in first])
    depend = text.do(len(first))
    answers = [answer for one in first for answer in _answers(sweep, one, is_alone=len(first) == 1)]
    page.lead(f"How {depend} {titles} depend on {_and(sweep)}?", answers)
    parts.notes(page, advice_on_sweep(sweep))
    for index, one in enumerate(shown):
        if index == 1:
            page.section("Other measures")
        with page.folded(text.capital(one.title), is_open=index < OPEN):
            _measure(page, sweep, one, view)
    if view.part:
        page.text(f"Each measure has {view.part}; summary.parquet has all.", "note")
    _asked(page, sweep)
    _table(page, sweep)
    _how_sure(page, sweep)
    chosen = ["--measure", ",".join(m["measures"])] if m.get("measures") else []
    parts.rerun(page, ["celltrain", "sweep", "plan.toml", *chosen], m, _same(sweep))
    page.text("plan.toml and scenario.toml are in the folder of the results.", "note")
    return page.html()


def _same(sweep: Sweep) -> str:
    """What the scenario of a sweep, which has the seed and the replications of the plan, is good for."""
    count = text.counted(sweep.manifest["replications"], "run")
    which = "the same runs" if sweep.until is None else f"the first {count}"
    return f"with the settings of a point it gives {which} of that point"


def _and(sweep: Sweep) -> str:
    keys = [", ".join(axis["keys"]) for axis in sweep.manifest["axes"]]
    return " and ".join(keys) if len(keys) < 3 else ", ".join(keys)


def _leading(sweep: Sweep) -> list[Measure]:
    """The measures that the report begins with: the first, or those that `leading` says."""
    if sweep.manifest.get("measures"):
        return sweep.measures[:1]
    return leading(sweep.measures, sweep.unresponsive)


def _answers(sweep: Sweep, measure: Measure, *, is_alone: bool = True) -> list[str]:
    """The best and the worst point by a measure, of those that compare with each other.

    Beside the answers by other measures each names its own.
    """
    lines = _ends_of(sweep, measure)
    if is_alone:
        return lines
    name = text.capital(measure.title)
    return [line if line.startswith(name) else f"{name}: {line[:1].lower()}{line[1:]}" for line in lines]


def _ends_of(sweep: Sweep, measure: Measure) -> list[str]:
    """The answers by one measure."""
    every = sweep.estimates(measure.name)
    cut = incomparable(sweep, measure.name)
    defined = {place: one for place, one in enumerate(every) if math.isfinite(one.mean)}
    left_out = {*cut, *sweep.alone(measure.name)}
    found = {place: one for place, one in defined.items() if place not in left_out}
    units = sweep.units_at(measure.name)
    if len({units[place] for place in found}) > 1:
        name = text.capital(measure.title)
        return [f"{name} is in {text.either(units)}: points that count different things are not compared."]
    if not found:
        return _left_out(sweep, measure, cut) or [f"No point has a {measure.title}."]
    undefined = len(every) - len(defined)
    lines = _ranked(sweep, measure, found, len(every))
    if undefined:
        lines.append(f"Undefined in a replication: {undefined} of {text.counted(len(every), 'point')}.")
    return [*lines, *_left_out(sweep, measure, cut)]


def _ranked(sweep: Sweep, measure: Measure, found: Mapping[int, Estimate], count: int) -> list[str]:
    """The best and the worst of some points, or of those of each value of an axis that scales the measure.

    Args:
        sweep: the sweep.
        measure: what ranks the points.
        found: its means, by the places of the points.
        count: how many points there are, with those that are not compared.
    """
    points = sweep.points["point"]
    first, last = ("least", "largest") if measure.better is None else ("best", "worst")
    best, *worst = _ends(sweep, measure, found, sweep.parameters)
    scaling = scaling_axes(sweep, measure) if worst else []  # what is the same everywhere does not scale
    lengths, groups = lengths_of(sweep.manifest), dict[tuple[int, ...], dict[int, Estimate]]()
    for place, one in found.items():
        steps = steps_of(lengths, points[place])
        groups.setdefault(tuple(steps[axis] for axis in scaling), {})[place] = one
    if len(groups) == 1:
        if worst:
            return [f"{text.capital(first)} mean: {best}.", f"{text.capital(last)} mean: {worst[0]}."]
        where = "every point" if len(found) == count else text.counted(len(found), "point")
        return [f"{text.capital(measure.title)} is {best}{f' at {where}' if count > 1 else ''}."]
    axes = [sweep.manifest["axes"][place]["keys"] for place in scaling]
    keys = [key for axis in axes for key in axis]
    others = [key for key in sweep.parameters if key not in keys]
    name = text.capital(measure.title)
    if all(len(one) == 1 for one in groups.values()):
        low, high = (choose(found, key=lambda place: found[place].mean) for choose in (min, max))
        unit = sweep.unit(measure.name)
        ends = [f"{_shown(measure, found[place], unit)} at {_point(sweep, place)}" for place in (low, high)]
        so = "" if measure.better is None else ", so no point is best"
        return [f"{name} scales with {text.listed(keys)}{so}: {ends[0]}, {ends[1]}."]
    lines = [f"{name} scales with {text.listed(keys)}: points are compared within each value of it."]
    for some in [*groups.values()][:MOST_VALUES]:
        at = _point(sweep, next(iter(some)), keys)
        best, *worst = _ends(sweep, measure, some, others)
        said = f"{first} mean {best}. {text.capital(last)} mean: {worst[0]}" if worst else best
        lines.append(f"At {at}: {said}.")
    if (more := len(groups) - MOST_VALUES) > 0:
        lines.append(f"{text.counted(more, 'more value')}: see the charts.")
    return lines


def _ends(
    sweep: Sweep, measure: Measure, found: Mapping[int, Estimate], keys: Sequence[str]
) -> tuple[str, ...]:
    """The best and the worst of some points with their settings, or what all have if they are the same.

    Where neither more nor less is better these are the least and the largest.
    They are the same where even these two differ by less than what matters (`celltrain.margins`).
    """
    unit = sweep.unit(measure.name)
    means = sorted({one.mean for one in found.values()}, reverse=measure.more_is_better)
    best, worst = means[0], means[-1]
    if best == worst:
        return (_shown(measure, next(iter(found.values())), unit),)
    if abs(best - worst) < margin(measure.name, best, worst):
        first = next(one for one in found.values() if one.mean == best)
        part = text.exact_percent(part_of(measure.name))
        return (f"{_shown(measure, first, unit)} or the same within {part}",)
    return (_reached(sweep, measure, found, best, keys), _reached(sweep, measure, found, worst, keys))


def _shown(measure: Measure, found: Estimate, unit: str) -> str:
    return text.interval(found, unit, is_count=measure.counts)


def _left_out(sweep: Sweep, measure: Measure, cut: Sequence[int]) -> list[str]:
    """How many points have too few transfers or requests that ended to be best or worst, if any."""
    if not cut:
        return []
    which = f"{len(cut)} of {text.counted(sweep.points.height, 'point')}, first at {_point(sweep, cut[0])}"
    return [f"Left out: {which}: {why_marked(sweep, measure.name)}."]


def _reached(
    sweep: Sweep, measure: Measure, found: Mapping[int, Estimate], mean: float, keys: Sequence[str]
) -> str:
    """A mean with its interval, and the points that have it: the first by its settings, and how many."""
    places = [place for place, one in found.items() if one.mean == mean]
    least = margin(measure.name, mean, mean)
    near = sum(one.mean != mean and abs(one.mean - mean) < least for one in found.values())
    first = _shown(measure, found[places[0]], sweep.unit(measure.name))
    said = f"{first} at {_point(sweep, places[0], keys)}"
    beside = []
    if more := len(places) - 1:
        beside.append(f"{text.counted(more, 'other point')} tie{'s' if more == 1 else ''} with it")
    if near:
        count = f"{near:,} more" if more else text.counted(near, "other point")
        part = text.exact_percent(part_of(measure.name))
        beside.append(f"{count} {'is' if near == 1 else 'are'} within {part} of it")
    return "; ".join([said, *([", and ".join(beside)] if beside else [])])


def _point(sweep: Sweep, place: int, keys: Sequence[str] | None = None) -> str:
    """The settings of a point, or some of them."""
    row = sweep.points.row(place, named=True)
    return ", ".join(f"{key} = {written(row[key])}" for key in (sweep.parameters if keys is None else keys))


def _asked(page: Page, sweep: Sweep) -> None:
    page.section("What was asked")
    rows = [(", ".join(axis["keys"]), _listed(axis["steps"])) for axis in sweep.manifest["axes"]]
    page.table(("parameter", "values"), rows, text_columns=2)
    until = sweep.until
    if until is not None:
        confidence, part = text.exact_percent(until["confidence"]), text.exact_percent(until["rel-ci"])
        step = text.counted(sweep.manifest["replications"], "replication")
        most = text.counted(until["max-replications"], "replication")
        page.text(
            f"Each point was replicated until half of the {confidence} interval of {title(until['metric'])} "
            f"was at most {part} of the mean, or until it had {most}.{_without_precision(sweep)} The "
            f"interval was computed every {step}, each time at a higher confidence than this, so that the "
            "interval at which a point stops covers the mean with this one in all."
        )


def _without_precision(sweep: Sweep) -> str:
    """How many points have all replications that they may have, and not the precision."""
    points = imprecise(sweep)
    if not points:
        return ""
    first = _point(sweep, sweep.points["point"].to_list().index(points[0]))
    of = text.counted(sweep.manifest["points"], "point")
    return f" {len(points):,} of {of}, first at {first}, had all of these without that precision."


def _listed(steps: list[str]) -> str:
    shown = steps if len(steps) <= 12 else [*steps[:10], "…", steps[-1]]
    return f"{len(steps)}: " + "; ".join(shown)


def _measure(page: Page, sweep: Sweep, measure: Measure, view: View) -> None:
    found = placed(sweep, measure.name)
    factor, unit = text.scale(largest(found), sweep.unit(measure.name))
    scaled = [one.scaled(1 / factor) for one in found]
    label = text.with_unit(measure.title, unit)
    cut = {point for point in incomparable_points(sweep, measure.name) if math.isfinite(scaled[point].mean)}
    low, high = bounds(measure, sweep.comparable)
    limits = (low / factor, high / factor)
    has_panels = len(view.facets) > 1
    is_alike = has_panels and not _differ_by_scale(sweep, measure, view)
    scale = _scale([one for one in scaled if math.isfinite(one.mean)], limits) if is_alike else None
    if has_panels and not view.has_many_lines:
        own = "" if is_alike else " Each panel has a scale of its own."
        page.text(f"{_caption(sweep, measure, scaled, view, cut)}{own}", "note")
    if view.has_many_lines:
        page.text(f"Means of {label}.", "note")
    for facet in view.facets:
        if view.has_many_lines:
            _heat_table(page, scaled, facet, view, cut, is_count=measure.counts)
            if why := why_missing(sweep, measure.name, found, [one for line in facet.rows for one in line]):
                page.text(f"-: {why}.", "note")
            if not cut.isdisjoint(point for points in facet.rows for point in points):
                page.text(f"×: {why_marked(sweep, measure.name)}.", "note")
            continue
        series = [
            (name or measure.title, [scaled[point] for point in points], False)
            for name, points in zip(view.line_names, facet.rows, strict=True)
        ]
        chart = parts.points_chart(
            view.along.labels,
            series,
            xlabel=view.along.name,
            ylabel=label,
            unit=unit,
            bounds=limits,
            scale=scale,
            cut=[[point in cut for point in points] for points in facet.rows] if cut else None,
            panel_of=measure.name if has_panels else "",
        )
        title = facet.title if has_panels else ""
        page.chart(chart, "" if has_panels else _caption(sweep, measure, scaled, view, cut), title)


def _differ_by_scale(sweep: Sweep, measure: Measure, view: View) -> bool:
    """Whether panels differ by an axis with which the measure scales: on one scale most would be flat."""
    axes = sweep.manifest["axes"]
    scaling = {", ".join(axes[place]["keys"]) for place in scaling_axes(sweep, measure)}
    return bool(scaling - {view.along.name, view.lines.name if view.lines else ""})


def _caption(sweep: Sweep, measure: Measure, found: Sequence[Estimate], view: View, cut: set[int]) -> str:
    """What the charts of a measure show."""
    lines = f", a colour for each {view.lines.name}" if view.lines else ""
    points = [point for facet in view.facets for row in facet.rows for point in row]
    shown = (found[point] for point in points)
    hollow = f" Hollow marks: {why_marked(sweep, measure.name)}." if cut.intersection(points) else ""
    said = f"{text.capital(measure.title)} over {view.along.name}{lines}."
    return f"{said}{parts.marks(shown, why_missing(sweep, measure.name, found, points))}{hollow}"


def _scale(found: list[Estimate], limits: Bounds) -> tuple[float, float] | None:
    """The range of values that all panels of a measure share, so that they can be compared by eye."""
    if not found:
        return None
    lows = [one.mean - reach(one, limits)[0] for one in found]
    highs = [one.mean + reach(one, limits)[1] for one in found]
    spare = 0.05 * ((max(highs) - min(lows)) or abs(max(highs)) or 1.0)
    low = min(lows) - spare
    return (max(low, limits[0]) if min(lows) >= limits[0] else low, max(highs) + spare)


def _heat_table(
    page: Page, found: list[Estimate], facet: Facet, view: View, cut: Collection[int], *, is_count: bool
) -> None:
    """Means over two axes as a table whose cells are coloured by their value; those of some points marked."""
    if facet.title:
        page.text(facet.title)
    means = [one.mean for one in found if math.isfinite(one.mean)]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    rows = [
        (name, *(_heat_cell(found[point], (low, high), point in cut, is_count) for point in points))
        for name, points in zip(view.line_names, facet.rows, strict=True)
    ]
    corner = f"{view.lines.name if view.lines else ''} by {view.along.name}"
    page.table((corner, *view.along.labels), rows)


def _heat_cell(found: Estimate, ends: tuple[float, float], is_cut: bool, is_count: bool) -> str:
    if not math.isfinite(found.mean):
        return "-"
    low, high = ends
    part = (found.mean - low) / (high - low) if high > low else 0.0
    shown = text.interval(replace(found, half_width=None), "", is_count=is_count)
    mark = " ×" if is_cut else ""
    return Safe(f'<span class="heat" style="--part:{100 * part:.0f}%">{shown}{mark}</span>')


def _table(page: Page, sweep: Sweep) -> None:
    titles = [one.title for one in sweep.measures]
    with page.folded("Mean ± 95 % interval of every point"):
        lines = mean_lines(sweep, MOST_ROWS)
        page.table((*sweep.parameters, *titles), lines, text_columns=len(sweep.parameters))
        if said := legend(sweep, MOST_ROWS):
            page.text(said, "note")
    columns, lines = group_lines(sweep, MOST_ROWS)
    if lines:
        with page.folded("Goodput of groups at every point"):
            page.table(columns, lines, text_columns=len(sweep.parameters))
    if sweep.points.height > MOST_ROWS:
        page.text(
            f"The first {MOST_ROWS} of {sweep.points.height:,} points; summary.parquet has all.", "note"
        )


def _wider(sweep: Sweep) -> str:
    """What ± is for the metric by which the replications of a point were enough."""
    if sweep.until is None:
        return ""
    step = text.counted(sweep.manifest["replications"], "replication")
    return (
        f" That of {title(sweep.until['metric'])} is wider: it was computed every {step}, and yet covers the "
        "mean in 95 of 100 sweeps."
    )


def _how_sure(page: Page, sweep: Sweep) -> None:
    m = sweep.manifest
    page.section("How sure")
    least, most = (getattr(sweep.points["replications"], end)() for end in ("min", "max"))
    count = f"{least}" if least == most else f"{least} to {most}"
    spread = (
        "Every point has one replication, so the spread is unknown: run more with `replications` in the plan."
        if most == 1
        else f"Every mean is over {count} independent replications; ± is half of its 95 % Student interval."
        f"{_wider(sweep)}"
    )
    page.text(
        f"{spread} Replication r has the same random numbers at every point, so points can be compared pair "
        "by pair."
    )
    parts.provenance(page, m, [("simulated", f"{m['cell_hops']:,} {hops(sweep.counted)}")])
    page.text(
        "The same plan and version give the same fingerprint, on any number of threads or machines, stopped "
        "in between or not.",
        "note",
    )
