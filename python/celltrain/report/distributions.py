"""Whole distributions in reports: how long frames and transfers take, and how much the bottleneck holds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.distributions import merged
from celltrain.report.page import Page
from celltrain.results import Result

if TYPE_CHECKING:
    import polars as pl

__all__ = ["add_distributions"]

PERCENTILES = (0.5, 0.95, 0.99)
"""The shares at which curves have marks."""

POINTS = 400
"""Points that a chart keeps of a curve."""

RATIO = 20
"""The ratio of the largest value to the smallest from which on the axis is logarithmic."""


def add_distributions(page: Page, results: Mapping[str, Result], order: Sequence[str]) -> None:
    """The distributions of those results that kept them: a curve for each result, in this order."""
    kept = {name: results[name].distributions for name in order}
    kept = {name: frame for name, frame in kept.items() if len(frame)}
    if not kept:
        return

    def of_run(measure: str) -> dict[str, "pl.DataFrame"]:
        return {name: frame.filter(measure=measure, over="run") for name, frame in kept.items()}

    queues = {
        name: frame.filter(measure="occupancy", over="port", entity=results[name].manifest["bottleneck"])
        for name, frame in kept.items()
    }
    times = (
        ("transfer_delay", "Transfer delay of frames", "frames"),
        ("flow_completion_time", "Completion time of transfers", "transfers"),
        ("response_time", "Response time of requests", "requests"),
    )
    page.section("Distributions")
    for measure, title, what in times:
        _add(page, title, f"Share of the {what} that take no longer.", of_run(measure))
    _add(page, "Occupancy of the bottleneck", "Share of the time in which the buffer holds no more.", queues)


def _add(page: Page, title: str, what: str, frames: Mapping[str, "pl.DataFrame"]) -> None:
    found = {name: merged(frame) for name, frame in frames.items() if len(frame)}
    if not found:
        return
    page.heading(title)
    ends = "Values are ends of bins, too large by at most 1/64"
    page.chart(distribution_chart(title, found), f"{what} Marks: median, 95th and 99th percentile. {ends}.")


def distribution_chart(title: str, found: Mapping[str, "pl.DataFrame"]) -> dict[str, Any]:
    """The distribution functions of several samples; a frame has the bins of one, merged."""
    largest = max(float(frame["high"][-1]) for frame in found.values())
    units = {name: str(frame["unit"][0]) for name, frame in found.items()}
    ticks_of_seconds = {*units.values()} == {"ps"}
    unit = "s" if ticks_of_seconds else text.either(units.values())
    to_base = 1e-12 if ticks_of_seconds else 1.0
    factor, shown = text.scale(largest * to_base, unit)
    least = min(_percentile(frame, PERCENTILES[0] / 10) for frame in found.values())
    return {
        "kind": "distribution",
        "label": f"Distribution function: {title.lower()}",
        "xlabel": text.with_unit(title.lower(), shown),
        "unit": shown,
        "log": least > 0 and largest > RATIO * least,
        "series": [
            _curve(name, frame, to_base / factor, shown if ticks_of_seconds else units[name])
            for name, frame in found.items()
        ],
    }


def _curve(name: str, frame: "pl.DataFrame", factor: float, unit: str) -> dict[str, Any]:
    reached = [_reached(frame, share) for share in PERCENTILES]
    # The marks lie on what is drawn of the curve.
    kept = frame[sorted({*range(0, len(frame), max(1, len(frame) // POINTS)), len(frame) - 1, *reached})]
    marks = [
        (share, frame["high"][place] * factor) for share, place in zip(PERCENTILES, reached, strict=True)
    ]
    said = ", ".join(f"{100 * share:g} % {text.number(value, 3)}" for share, value in marks)
    return {
        "name": name,
        "said": f"{said} {unit}",
        "x": [float(f"{value * factor:.5g}") for value in kept["high"]],
        "share": [float(f"{1 - above:.6g}") for above in kept["share_above"]],
        "marks": marks,
    }


def _percentile(frame: "pl.DataFrame", share: float) -> float:
    """The end of the first bin up to which there is this share."""
    return float(frame["high"][_reached(frame, share)])


def _reached(frame: "pl.DataFrame", share: float) -> int:
    """The first bin up to which there is this share."""
    return int((frame["share_above"] <= 1 - share).arg_max() or 0)
