"""Distributions: the share of values that do not exceed each value, with percentiles."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celltrain.cells import CELL_BITS, CELL_RATE
from celltrain.distributions import Bins, merged
from celltrain.errors import InputError, unknown
from celltrain.plots.style import (
    COLOURS,
    evenly_wrapped,
    legend_columns,
    legible,
    logarithmic,
    panels,
    styled,
)
from celltrain.plots.transfers import WHOLE, lives_of_run
from celltrain.registry import measures, unmeasured
from celltrain.results.censored import REQUESTS, TRANSFERS, Censored, own_or_whole
from celltrain.text import counted, either, quantity, scale, with_unit
from celltrain.traces import THRESHOLD, UNLIMITED

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from celltrain.results import Result

    Values = NDArray[np.float64]

__all__ = ["DELAY", "KEPT", "Sample", "cdf", "is_recorded", "known_metrics", "unknown_metric", "values_of"]

DELAY = "delay"
"""The metric that stands for the time that cells spend at a port."""

COMPLETIONS = "flow_completion_time"
"""The measure of `distributions` that has one value for each short flow and finite transfer."""

FRAMES = "transfer_delay"
"""The measure of `distributions` that has one value for each frame that arrived whole."""

RESPONSES = "response_time"
"""The measure of `distributions` that has one value for each request."""

KEPT = (COMPLETIONS, RESPONSES, FRAMES)
"""What is drawn from `distributions`."""

TIMED = {COMPLETIONS: "transfers", RESPONSES: "requests", FRAMES: "frames"}
"""What each of them has a time of."""

COUNTED = {COMPLETIONS: "flows_completed", RESPONSES: "requests_completed", FRAMES: "transfer_delay_mean"}
"""The metric of runs with flows that may have such times."""

LARGEST = {COMPLETIONS: "fct_max", RESPONSES: "response_time_max", FRAMES: "transfer_delay_max"}
"""The column of flows with the largest of these times."""

MOST_VALUES = 1_000_000
"""Values that stand for a distribution, however many it is made of."""

PERCENTILES = (50, 95, 99)

STYLES = ("-", "--", "-.", ":")
"""Lines that differ by more than their colour. With seven colours 28 are told apart."""

POINTS = 2000
"""Points drawn of a curve."""

OVER_PERIODS = ("utilisation",)
"""Series whose samples are over the time since the sample before; the others are of an instant."""

WINDOW = "cwnd"
"""The series of congestion windows, which limit something while their connections last."""

LETTERS = 72
"""Letters of a line below a picture."""

OF_EVENTS = ("sent", "retransmitted", "acknowledged", "rtt", THRESHOLD)
"""Series that only runs with recorded events have."""

SPAN = 20
"""The ratio of the largest value to the 5th percentile above which the axis is logarithmic, as in reports.

The few smallest values do not decide, and such an axis begins above them if they are a `SPAN` below that
percentile: there is hardly a curve at them.
"""


class Sample(NamedTuple):
    """The values of a distribution."""

    values: "Values"
    """Sorted; at least one."""
    unit: str
    undefined: int = 0
    """Values of the results that are left out, as ratios of which nothing happened."""
    bins: Bins | None = None
    """The bins that the values stand for, if the results have no more of them."""
    absent: str = ""
    """How many transfers or requests have no time, as "3 of 6 not ended"; empty where all have one."""
    over: str = ""
    """What there is a value of, as "flows and replications"."""


def values_of(result: "Result", name: str, entity: str | None = None, begin: float = 0.0) -> Sample:
    """All values of a metric of `series`, a column of `flows`, a metric of `summary`, or of `distributions`.

    Args:
        result: where to look.
        name: the metric or column.
        entity: of series, flows and transfer delays only this one's values.
        begin: of series only samples from this time on, in seconds: those before are of the warm-up.

    Raises:
        InputError: there is no such metric, or it has no value.
    """
    import polars as pl

    if name in KEPT:
        return _kept(result, name, entity)
    frame, unit, when, over = result.flows, "", "", _over_runs(result, "" if entity else "flows")
    of_runs = {one.name for one in measures() if one.over == "run"}
    if name in _numeric(result) and (_has_values(result, name) or name not in of_runs):
        unit = _unit_of_flows(result, name)
        chosen = frame if entity is None else _of(frame, "flow", entity)
        of_vcs = {one.name for one in measures() if one.over == "flow" and one.is_of_vcs}
        if name in of_vcs and "circuit" in frame.columns:  # the first flow of a VC has them
            chosen, over = chosen.filter(pl.col("circuit") == pl.col("flow")), over.replace("flows", "VCs")
        found = chosen[name]
    else:
        frame = result.series if name in result.series["metric"] else result.summary
        chosen = frame.filter(pl.col("metric") == name)
        if chosen.is_empty():
            raise unknown_metric(name, known_metrics(result))
        if entity is not None and "entity" not in chosen.columns:
            raise InputError(f"{name} is of the whole run: it has no values of {entity} alone")
        over = _over_runs(result, _sampled(result, chosen, entity) if "entity" in chosen.columns else "")
        if entity is not None:
            chosen = _of(chosen, "entity", entity)
        unit = either(chosen["unit"].unique(maintain_order=True))  # some ports may count packets
        if "t" in chosen.columns and begin > 0:
            chosen, when = _measured(chosen, name, begin), " after the warm-up"
        if name == WINDOW:
            chosen = _while_alive(chosen, result)
        found = chosen["value"]
    values = found.cast(pl.Float64).drop_nulls().drop_nans().sort().to_numpy()
    if name == THRESHOLD:
        values = values[values < UNLIMITED]
    if not len(values):
        raise InputError(f"{name} has no values" + (f" of {entity}" if entity else "") + when)
    undefined = len(found) - len(values)
    if unit == CELL_RATE:  # in bit/s of the link, as other rates are
        return Sample(values * CELL_BITS, "bit/s", undefined, over=over)
    return Sample(values, unit, undefined, over=over)


def _over_runs(result: "Result", what: str) -> str:
    """What there is a value of: of some things, in each of several replications."""
    several = result.manifest["replications"] > 1
    return " and ".join(filter(None, (what, "replications" if several or not what else "")))


def _sampled(result: "Result", series: "pl.DataFrame", entity: str | None) -> str:
    """Whose samples there are in a series."""
    if entity is not None:
        return f"samples of {entity}"
    flows = {*result.flows["flow"]}
    of_ports = series["entity"][0].rpartition("/")[0] not in flows and series["entity"][0] not in flows
    return f"samples of {'ports of switches' if of_ports else 'flows'}"


def _while_alive(series: "pl.DataFrame", result: "Result") -> "pl.DataFrame":
    """The samples of connections while these last."""
    import polars as pl

    rows = [
        (replication, flow, *life)
        for replication in series["replication"].unique(maintain_order=True)
        for flow, life in lives_of_run(result, replication).items()
    ]
    names = "replication", "entity", "begin", "end"
    types = series.schema["replication"], pl.String(), pl.Float64(), pl.Float64()
    lives = pl.DataFrame(rows, list(zip(names, types, strict=True)), orient="row")
    both = series.join(lives, on=("replication", "entity"), how="left", maintain_order="left")
    begin, end = (pl.col(one).fill_null(other) for one, other in zip(names[2:], WHOLE, strict=True))
    return both.filter(pl.col("t").is_between(begin, end)).select(series.columns)


def _kept(result: "Result", name: str, entity: str | None) -> Sample:
    """The times of transfers, requests or frames, linear within the bins in which they were counted."""
    import numpy as np
    import polars as pl

    chosen = result.distributions.filter(measure=name)
    if entity is not None:
        chosen = _of(chosen.filter(over="flow"), "entity", entity)
    else:  # those of flows and kinds are in it once more
        chosen = chosen.filter(pl.col("over") == "run")
    frame = merged(chosen)
    if frame.is_empty():
        raise InputError(f"{name} has no values" + (f" of {entity}" if entity else ""))
    bins = Bins.of(frame, 1e-12, _largest(result, name, entity))
    drawn = min(bins.count, MOST_VALUES)  # of very many values, ranks at equal distances stand for all
    values = bins.at(np.arange(1, drawn + 1) * (bins.count / drawn))
    over = _over_runs(result, TIMED[name] + (f" of {entity}" if entity else ""))
    return Sample(values, "s", bins=bins, absent=_absent(result, name, entity), over=over)


def _absent(result: "Result", name: str, flow: str | None) -> str:
    """What is said of transfers or requests without a time, of a flow or of all.

    Nothing in results of an older version, which did not count those of each flow.
    """
    kind = {COMPLETIONS: TRANSFERS, RESPONSES: REQUESTS}.get(name)
    if kind is None:
        return ""
    known = [metric for (metric,) in dict.fromkeys(result.rows("summary", "metric"))]
    found = Censored.of(kind, known, result.sample)
    if flow is not None:  # by its rows: a group may have its name
        rows = [counts for one, *counts in result.rows("flows", "flow", *kind.counted) if one == flow]
        own = dict(zip(kind.counted, zip(*rows, strict=True), strict=False))
        found = own_or_whole(Censored.of(kind, own, own.__getitem__), found)
    return "" if found is None else found.mark


def _largest(result: "Result", name: str, entity: str | None) -> float:
    """The largest of the times that were kept in bins; infinite where the results do not say."""
    if LARGEST[name] not in result.flows.columns:
        return math.inf  # an older version wrote them
    flows = result.flows if entity is None else result.flows.filter(flow=entity)
    return max(flows[LARGEST[name]].drop_nulls().drop_nans(), default=math.inf)


def _unit_of_flows(result: "Result", name: str) -> str:
    """The unit of a column of flows; what is counted in cells may be packets on the links of a result."""
    from celltrain.files.parquet import CARRIED, units_of

    unit = units_of("flows").get(name, "")
    if unit != CARRIED:
        return unit
    # An older version did not say what ports count.
    return either(result.ports["counted"]) if "counted" in result.ports.columns else "cells"


def _measured(series: "pl.DataFrame", name: str, begin: float) -> "pl.DataFrame":
    """The samples that lie in the measured time, which begins after the warm-up."""
    import polars as pl

    # The sample at its first instant is over a time that lies before.
    return series.filter(pl.col("t") > begin if name in OVER_PERIODS else pl.col("t") >= begin)


def _of(frame: "pl.DataFrame", column: str, entity: str) -> "pl.DataFrame":
    """The rows of one flow or port.

    Raises:
        InputError: there is none of that name.
    """
    names = frame[column].unique(maintain_order=True).to_list()
    if entity not in names:
        raise unknown("flow" if column == "flow" else "flow or port", entity, names)
    return frame.filter(**{column: entity})


def _numeric(result: "Result") -> list[str]:
    """The columns of flows that hold numbers to draw."""
    flows = result.flows
    numeric = (name for name, kind in flows.schema.items() if kind.is_numeric())
    return [name for name in numeric if name not in ("replication", "group")]


def _has_values(result: "Result", name: str) -> bool:
    """Whether any flow has a value in a column: not all columns have one in every run."""
    return bool(result.flows[name].is_finite().any())


def known_metrics(result: "Result") -> list[str]:
    """What a result has a distribution of."""
    series, summary = (
        frame["metric"].unique(maintain_order=True) for frame in (result.series, result.summary)
    )
    kept = [name for name in KEPT if name in result.distributions["measure"]]
    flows = (name for name in _numeric(result) if _has_values(result, name))
    return list(dict.fromkeys([DELAY, *kept, *series, *flows, *summary]))


def is_recorded(result: "Result", name: str) -> bool:
    """Whether a result has a place for the values of a metric, of which there may be none."""
    if name not in KEPT:
        return name in _numeric(result)
    return not result.distributions.is_empty() and COUNTED[name] in result.summary["metric"]


def unknown_metric(name: str, known: Iterable[str]) -> InputError:
    """The error for what has no distribution: these runs did not record it, or there is no such metric."""
    there = [*known]
    how = _recording(name, there)
    return unmeasured(name, there) if how is None else InputError(f"these runs did not record {name}: {how}")


def _recording(name: str, known: Collection[str]) -> str | None:
    """Which runs record a metric that some lack; None where it is no question of recording."""
    if name in OF_EVENTS:
        return "runs with --events, or events=True, do"
    if name in KEPT:
        of = {COMPLETIONS: " of short flows or finite transfers", RESPONSES: " of requests"}
        which = f"runs{of.get(name, '')}"
        return f"{which} do where the scenario has measures.distributions = true"
    sampled, others = (
        {one.name for one in measures() if one.over in over} for over in (("time",), ("flow", "run"))
    )
    if name not in sampled:
        return None
    is_traced = any(one in known for one in sampled - others)
    return (
        f"'celltrain measures {name}' says what has it"
        if is_traced
        else "traced runs do: --trace, or trace=True"
    )


def cdf(samples: Mapping[str, Sample], label: str) -> "Figure":
    """The share of values that do not exceed each value: a curve for each sample, with percentiles.

    Args:
        samples: samples by their names.
        label: what their values are.
    """
    import numpy as np

    unit = either(sample.unit for sample in samples.values())
    every = {name: sample.values for name, sample in samples.items()}
    size = max(_percentile(sample, 95) for sample in samples.values())
    factor, unit_shown = scale(size, unit)
    entries = list(map(_entry, legible([*samples]), samples.values()))
    with styled():
        figure, ((axis,),) = panels(1, 1, 6.4, 3.6 + 0.18 * len(every))
        for index, (entry, sample) in enumerate(zip(entries, samples.values(), strict=True)):
            colour = COLOURS[index % len(COLOURS)]
            x, share = _curve(sample.values) if sample.bins is None else sample.bins.curve()
            style: dict[str, Any] = {
                "linestyle": STYLES[index % len(STYLES)],
                "linewidth": 1.4,
                "drawstyle": "default" if sample.bins else "steps-post",
            }
            axis.plot(x / factor, share, color=colour, label=entry, **style)
            marks = [_percentile(sample, one) / factor for one in PERCENTILES]
            heights = [one / 100 for one in PERCENTILES]
            axis.plot(marks, heights, "o", color=colour, markersize=4, clip_on=False, zorder=3)
        axis.set_ylim(0, 1.02)
        least = min(_percentile(sample, 5) for sample in samples.values())
        largest = max(float(values[-1]) for values in every.values())
        if least > 0 and largest > SPAN * least:  # most would be at the beginning of a linear axis
            logarithmic(axis, "x")
            axis.set_xlim(left=max(axis.get_xlim()[0], least / SPAN / factor))
        elif min(float(values[0]) for values in every.values()) >= 0:
            is_nothing = not any(float(values[-1]) for values in every.values())
            axis.set_xlim(0, 1 if is_nothing else None)  # nothing but zeros has no scale of its own
        is_whole = factor == 1 and all(np.all(values == values.round()) for values in every.values())
        if is_whole and axis.get_xscale() == "linear":
            axis.locator_params(axis="x", integer=True)  # there is no quarter of a timeout
        axis.set_xlabel(with_unit(label, unit_shown))
        axis.set_ylabel("share of values not above")
        title = "\n".join(evenly_wrapped(_said_of([*samples.values()]), LETTERS))
        beside = 1 if len(every) < 4 else min(2, legend_columns(entries, figure.get_figwidth()))
        figure.legend(loc="outside lower center", title=title, ncols=beside)
    return figure


def _said_of(samples: Sequence[Sample]) -> str:
    """Which percentiles the legend has, and what they are over."""
    over = " or ".join(dict.fromkeys(sample.over for sample in samples if sample.over))
    return f"percentiles {', '.join(map(str, PERCENTILES))}" + (f" over {over}" if over else "")


def _entry(name: str, sample: Sample) -> str:
    """What the legend says of a sample: its percentiles, and how many values are left out."""
    percentiles = (_percentile(sample, one) for one in PERCENTILES)
    said = f"{name}: {', '.join(quantity(one, sample.unit, 3) for one in percentiles)}"
    size = len(sample.values) + sample.undefined
    undefined = f"{sample.undefined:,} of {counted(size, 'value')} undefined" if sample.undefined else ""
    return "; ".join(filter(None, (said, sample.absent, undefined)))


def _curve(values: "Values") -> "tuple[Values, Values]":
    import numpy as np

    drawn = np.linspace(0, len(values) - 1, min(len(values), POINTS)).astype(int)
    # The marks lie on what is drawn of the curve.
    places = np.unique([*drawn, *(_rank(len(values), one) for one in PERCENTILES)])
    # The curve begins at zero, where the least value is.
    return np.append(values[:1], values[places]), np.append(0.0, (places + 1) / len(values))


def _percentile(sample: Sample, percent: int) -> float:
    """The least value that so many per cent of the values do not exceed: where the curve reaches them."""
    if sample.bins is not None:
        return sample.bins.quantile(percent / 100)
    return float(sample.values[_rank(len(sample.values), percent)])


def _rank(count: int, percent: int) -> int:
    """The place of a percentile among sorted values; whole numbers, as rounding would take the next one."""
    return -(-percent * count // 100) - 1
