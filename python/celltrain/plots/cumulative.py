"""Cumulative distributions of what results have: metrics, completion times and delays."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from celltrain import arguments, registry
from celltrain.errors import InputError
from celltrain.plots.spans import (
    WHOLE,
    Span,
    of_each,
    span_of,
)
from celltrain.results import Result
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.cells import Cells, PortFacts
    from celltrain.plots.distribution import Values

__all__ = ["cdf_of"]

NONE_ENDED = "no transfer ended"
WHY_NONE = {
    "completion_time": NONE_ENDED,
    "flow_completion_time": f"{NONE_ENDED} of those that began after the warm-up",
    "response_time": "no answer was complete in the measured time",
    "transfer_delay": "no frame arrived whole in the measured time, of flows whose delays are measured",
}
"""Why metrics that runs record may have no values."""


def cdf_of(
    every: Mapping[str, tuple[Scenario, Result]], metric: str, entity: str | None, span: Span
) -> "Figure":
    """The distribution of a metric, or of delays at a port, in each of several results."""
    from celltrain.cells import port_facts
    from celltrain.plots.distribution import (
        DELAY,
        KEPT,
        Sample,
        cdf,
        is_recorded,
        known_metrics,
        unknown_metric,
        values_of,
    )

    label = "time at the port"
    if arguments.text("metric", metric) != DELAY:
        has = dict.fromkeys(chain(*(known_metrics(result) for _, result in every.values())))
        metric = _one_of((*has, *KEPT), metric)
        recorded = metric in WHY_NONE and any(is_recorded(result, metric) for _, result in every.values())
        if metric not in has and recorded:
            raise InputError(f"{metric} has no values: {WHY_NONE[metric]}")
        if metric not in has:  # misspelt, which is no fault of a variant
            raise unknown_metric(metric, has)
    if metric != DELAY:
        if span != WHOLE:
            raise InputError(f"a time to show is of {DELAY} alone: give none for {metric}")
        label = _title(metric)

    def sample(scenario: Scenario, result: Result) -> Sample:
        if metric == DELAY:
            facts = port_facts(scenario, entity)
            over = f"all {facts.framing} that left {facts.name}, first replication"
            return Sample(_delays(scenario, result, facts, span), "s", over=over)
        return values_of(result, metric, entity, scenario.warm_up)

    return cdf(of_each({name: partial(sample, *one) for name, one in every.items()}), label)


def _title(name: str) -> str:
    """What an axis calls a column of flows, a series, or a summary metric: as other pictures do."""
    every = {one.over: one.title for one in registry.measures() if one.name == name}
    return next((every[over] for over in ("flow", "time", "run") if over in every), name.replace("_", " "))


def _one_of(known: Iterable[str], name: str) -> str:
    """The one of some series, columns and metrics that has a name or title, in either spelling."""
    spelled = {registry.plain(one): one for one in known}
    return spelled.get(registry.plain(name), registry.called(name, ("time", "flow", "run")))


def _delays(scenario: Scenario, result: Result, facts: "PortFacts", span: Span) -> "Values":
    """From arrival to the end of transmission, of every cell that a port forwarded in a time.

    By default it is the measured time, after the warm-up.
    """
    import numpy as np

    warm_up, end = _measured(scenario, span)
    before = facts.slot  # a cell may leave just as the measured time begins
    while True:
        begin = max(0.0, warm_up - before)
        cells = _followed(scenario, facts, (begin, end), result.manifest["seed"])
        # The measures of a port count these too: the time T has its first instant, and not its last.
        forwarded = cells.accepted & (cells.left >= warm_up) & (cells.left < end)
        arrived, left = cells.arrived[forwarded], cells.left[forwarded]
        if not len(left):
            when = "after the warm-up" if span == WHOLE else "in this time"
            raise InputError(f"{facts.name} forwarded nothing {when}")
        waited = left[np.isnan(arrived)]
        if not len(waited) or not begin:
            return np.sort(left - arrived)
        # Some were in the buffer already, and it takes about this long until all have left.
        before = 4 * max(before, float(waited.max()) - warm_up)


def _measured(scenario: Scenario, span: Span) -> tuple[float, float]:
    """The time of a distribution: all that is measured, as far as no other is given."""
    first, last = span_of(scenario, span)
    return scenario.warm_up if span[0] is None and scenario.warm_up < last else first, last


def _followed(scenario: Scenario, port: "PortFacts", span: tuple[float, float], seed: int) -> "Cells":
    """The cells at a port in a time; says how to choose a shorter one."""
    from celltrain.cells import read_cells

    try:
        return read_cells(scenario, port, span, seed)
    except InputError as error:
        if "too long" not in str(error):
            raise
        raise InputError(
            f"{error}, or less if cells are waiting when it begins: choose the time to show"
        ) from None
