"""The report of a sweep."""

import math

from celltrain import text
from celltrain.registry import Measure, title
from celltrain.report import parts
from celltrain.report.page import Page, Safe
from celltrain.statistics import Estimate
from celltrain.sweeps import Sweep
from celltrain.sweeps.view import Facet, View, largest, mean_lines, measures

__all__ = ["sweep_report"]

MOST_ROWS = 500
"""Points in the table of a report; the Parquet files have all of them."""


def sweep_report(sweep: Sweep) -> str:
    """The report of a sweep as one HTML file."""
    m = sweep.manifest
    page = Page(m["name"], f"A sweep over {m['points']:,} points, {m['runs']:,} runs with seed {m['seed']}")
    _asked(page, sweep)
    page.section("What came out")
    view = View.of(sweep)
    for one in measures(sweep):
        _measure(page, sweep, one, view)
    if view.left_out:
        page.text(
            f"{view.left_out} more panels of each measure are not shown; summary.parquet has all.", "note"
        )
    _table(page, sweep)
    _how_sure(page, sweep)
    parts.rerun(page, ["celltrain", "sweep", "plan.toml"], m)
    page.text("plan.toml and scenario.toml are in the folder of the results.", "note")
    return page.html()


def _asked(page: Page, sweep: Sweep) -> None:
    page.section("What was asked")
    rows = [(", ".join(axis["keys"]), _listed(axis["steps"])) for axis in sweep.manifest["axes"]]
    page.table(("parameter", "values"), rows, text_columns=2)
    until = sweep.until
    if until is not None:
        page.text(
            f"Each point was replicated until half of the {text.percent(until['confidence'])} interval of "
            f"{title(until['metric'])} was at most {text.percent(until['rel-ci'])} of the mean, "
            f"looked at every {sweep.manifest['replications']} replications, at most "
            f"{until['max-replications']} times replicated."
        )


def _listed(steps: list[str]) -> str:
    shown = steps if len(steps) <= 12 else [*steps[:10], "…", steps[-1]]
    return f"{len(steps)}: " + "; ".join(shown)


def _measure(page: Page, sweep: Sweep, measure: Measure, view: View) -> None:
    found = sweep.estimates(measure.name)
    factor, unit = text.scale(largest(found), sweep.units[measure.name])
    scaled = [one.scaled(1 / factor) for one in found]
    label = text.with_unit(measure.title, unit)
    page.heading(label[0].upper() + label[1:])
    for facet in view.facets:
        if view.has_many_lines:
            _heat_table(page, scaled, facet, view)
            continue
        series = [
            (name or measure.title, [_known(scaled[point]) for point in points], False)
            for name, points in zip(view.line_names, facet.rows, strict=True)
        ]
        chart = parts.points_chart(view.along.labels, series, xlabel=view.along.name, ylabel=label, unit=unit)
        lines = f", by {view.lines.name}" if view.lines else ""
        where = f" ({facet.title})" if facet.title else ""
        page.chart(chart, f"{measure.title.capitalize()}{lines}{where}, with 95 % intervals.")


def _known(found: Estimate) -> Estimate | None:
    """A ratio of which nothing happened (no cells, no loss ratio) has no mark in a chart."""
    return found if math.isfinite(found.mean) else None


def _heat_table(page: Page, found: list[Estimate], facet: Facet, view: View) -> None:
    """Means over two axes as a table whose cells are coloured by their value."""
    if facet.title:
        page.text(facet.title)
    means = [one.mean for one in found if math.isfinite(one.mean)]
    low, high = (min(means), max(means)) if means else (0.0, 0.0)
    rows = [
        (name, *(_heat_cell(found[point].mean, low, high) for point in points))
        for name, points in zip(view.line_names, facet.rows, strict=True)
    ]
    corner = f"{view.lines.name if view.lines else ''} by {view.along.name}"
    page.table((corner, *view.along.labels), rows)


def _heat_cell(mean: float, low: float, high: float) -> str:
    if not math.isfinite(mean):
        return "-"
    part = (mean - low) / (high - low) if high > low else 0.0
    return Safe(f'<span class="heat" style="--part:{100 * part:.0f}%">{text.number(mean)}</span>')


def _table(page: Page, sweep: Sweep) -> None:
    titles = [one.title for one in measures(sweep)]
    page.heading("Mean ± 95 % interval")
    page.table((*sweep.parameters, *titles), mean_lines(sweep, MOST_ROWS), text_columns=len(sweep.parameters))
    if sweep.points.height > MOST_ROWS:
        page.text(
            f"The first {MOST_ROWS} of {sweep.points.height:,} points; summary.parquet has all.", "note"
        )


def _how_sure(page: Page, sweep: Sweep) -> None:
    m = sweep.manifest
    page.section("How sure")
    least, most = (getattr(sweep.points["replications"], end)() for end in ("min", "max"))
    count = str(least) if least == most else f"{least} to {most}"
    page.text(
        f"Every mean is over {count} independent replications; ± is half of its 95 % Student interval. "
        "Replication r has the same random numbers at every point, so points can be compared pair by pair."
    )
    page.table(
        ("", ""),
        [
            ("celltrain", f"{m['celltrain']}, revision {m['revision'] or 'unknown'}"),
            ("seed", str(m["seed"])),
            ("fingerprint", str(m["fingerprint"])),
            ("simulated", f"{m['cell_hops']:,} cell-hops"),
            ("platform", str(m["platform"])),
        ],
        text_columns=2,
    )
    page.text(
        "The same plan and version give the same fingerprint, on any number of threads or machines, stopped "
        "in between or not.",
        "note",
    )
