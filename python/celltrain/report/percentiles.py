"""Means and percentiles side by side, where a mean alone would hide the longest waits."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from celltrain import text
from celltrain.bounds import bounds
from celltrain.registry import measure
from celltrain.report import parts
from celltrain.report.page import Page
from celltrain.results import Result
from celltrain.statistics import Estimate, largest

__all__ = ["COMPLETION", "add_completion", "add_percentiles"]

COMPLETION = "Flow completion time"
"""The family of completion times."""

FAMILIES: Mapping[str, Sequence[tuple[str, str]]] = {
    "Delay at the bottleneck": (
        ("median over {frames}", "delay_p50"),
        ("mean over {units}", "delay_mean"),
        ("95th percentile over {frames}", "delay_p95"),
        ("99th percentile over {frames}", "delay_p99"),
    ),
    "Transfer delay of frames": (
        ("median", "transfer_delay_p50"),
        ("mean", "transfer_delay_mean"),
        ("95th percentile", "transfer_delay_p95"),
        ("99th percentile", "transfer_delay_p99"),
    ),
    COMPLETION: (
        ("median", "fct_p50"),
        ("mean", "fct_mean"),
        ("95th percentile", "fct_p95"),
        ("99th percentile", "fct_p99"),
    ),
    "Response time of requests": (
        ("median", "response_time_p50"),
        ("mean", "response_time_mean"),
        ("95th percentile", "response_time_p95"),
        ("99th percentile", "response_time_p99"),
    ),
    "Slowdown of flows": (
        ("median", "slowdown_p50"),
        ("mean", "slowdown_mean"),
        ("95th percentile", "slowdown_p95"),
        ("99th percentile", "slowdown_p99"),
    ),
}
"""What is shown together: the title, and each series with its metric.

The mean delay at a port is over cells, as Little's law gives it, and its percentiles are over the last cells
of frames. On links of packets both are over packets.
"""


def add_percentiles(
    page: Page, results: Mapping[str, Result], order: Sequence[str], without: Collection[str] = ()
) -> None:
    """A chart for each family of which every result has a metric: a row for each result, in this order.

    Args:
        page: where to add them.
        results: the results by their names.
        order: the names in the order of the rows.
        without: families that the page has elsewhere.
    """
    shown = {title: family for title, family in _shown(results).items() if title not in without}
    if not shown:
        return
    page.section("Beyond the mean")
    for title, family in shown.items():
        page.heading(title)
        _chart(page, title, family, results, order)


def add_completion(page: Page, results: Mapping[str, Result], order: Sequence[str]) -> None:
    """The chart of completion times alone, without a heading."""
    _chart(page, COMPLETION, _shown(results)[COMPLETION], results, order)


def _shown(results: Mapping[str, Result]) -> dict[str, list[tuple[str, str]]]:
    """The families of which every result has metrics, with these."""
    known = set.intersection(*(set(one.summary["metric"]) for one in results.values()))
    over = _over(results.values())
    families = {title: _known(family, known, over) for title, family in FAMILIES.items()}
    return {title: family for title, family in families.items() if len(family) > 1}


def _over(results: Iterable[Result]) -> dict[str, str]:
    """What means and percentiles at the bottleneck are over: cells and frames, or packets."""
    units = {one.unit("occupancy_mean") for one in results if "occupancy_mean" in one.summary["metric"]}
    if units == {"cells"}:
        return {"units": "cells", "frames": "frames"}
    if "cells" in units:  # variants may differ in their framing
        return {"units": "cells or packets", "frames": "frames or packets"}
    return {"units": "packets", "frames": "packets"}


def _known(
    family: Sequence[tuple[str, str]], known: Collection[str], over: Mapping[str, str]
) -> list[tuple[str, str]]:
    return [(name.format_map(over), metric) for name, metric in family if metric in known]


def _chart(
    page: Page,
    title: str,
    family: Sequence[tuple[str, str]],
    results: Mapping[str, Result],
    order: Sequence[str],
) -> None:
    found = {metric: [results[name].estimate(metric) for name in order] for _, metric in family}
    size = largest(one for some in found.values() for one in some)
    factor, unit = text.scale(size, measure(family[0][1]).unit)
    series: list[tuple[str, Sequence[Estimate | None], bool]] = [
        (name, [one.scaled(1 / factor) for one in found[metric]], False) for name, metric in family
    ]
    chart = parts.points_chart(
        order,
        series,
        xlabel="variant",
        ylabel=text.with_unit(title.lower(), unit),
        unit=unit,
        form="rows",
        bounds=bounds(measure(family[0][1])),
    )
    marks = parts.marks(one for some in found.values() for one in some)
    page.chart(chart, f"{title}: {', '.join(name for name, _ in family)}.{marks}")
