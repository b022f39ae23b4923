"""Time series taken out of the long frame, for pictures and reports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from celltrain.groups import groups_of
from celltrain.text import first_of, quantity, scale

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celltrain.results import Result

    Samples = NDArray[np.float64]

__all__ = [
    "FLAT",
    "MOST_WINDOWS",
    "THRESHOLD",
    "UNLIMITED",
    "Trace",
    "Windows",
    "busiest",
    "common_scale",
    "decimate",
    "delivered_of",
    "height_told",
    "lines",
    "strip_heights",
    "thresholds",
    "told_apart",
    "total",
    "traces",
    "with_gaps",
    "within",
]


MOST_WINDOWS = 40
"""Connections that a picture of a time series shows; more cannot be told apart on a page."""


THRESHOLD = "ssthresh"
"""The series of slow-start thresholds."""

UNLIMITED = 2.0**63
"""A slow-start threshold from here on limits nothing, as before the first loss."""

MOST_COLOURS = 7
"""Lines of one picture that have colours of their own."""

FLAT = 8
"""The ratio of two heights from which on a strip of the larger one shows hardly anything of the smaller."""

SEEN = 0.01
"""The part of the largest occupancy of all ports below which that of another one cannot be told from zero."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A metric of one entity over time."""

    entity: str
    unit: str
    t: "Samples"
    """Times in seconds, increasing."""
    value: "Samples"
    group: str = ""
    """Entities of a group are drawn in one colour; without a group each has its own."""


@dataclass(frozen=True, eq=False)
class Windows:
    """The congestion windows of one replication: those that a picture shows, and the sum of all."""

    shown: Sequence[Trace]
    """Those of the first `MOST_WINDOWS` connections."""
    together: Trace
    """The sum over every connection, shown or not."""
    count: int
    """Connections."""

    @staticmethod
    def of(every: Sequence[Trace]) -> "Windows":
        """What a picture needs of the windows of every connection; there is at least one."""
        return Windows(every[:MOST_WINDOWS], total(every), len(every))

    def named(self, groups: Mapping[str, str]) -> list[tuple[str, Trace]]:
        """Those that are shown, each with its group; "" where it has none."""
        return [(groups.get(trace.entity, ""), trace) for trace in self.shown]

    @property
    def part(self) -> str:
        """Which connections are shown, if some are not: "the first 40 of 100 connections"."""
        return "" if len(self.shown) == self.count else first_of(len(self.shown), self.count, "connection")

    @property
    def sum_name(self) -> str:
        """What the sum is over; plain where the connections that it is over are all shown."""
        return f"sum of {self.count:,}" if self.part else "sum"


def traces(series: "pl.DataFrame", metric: str, replication: int = 0) -> list[Trace]:
    """The traces of a metric in one replication, in the order in which the core gave them."""
    import polars as pl

    chosen = series.filter((pl.col("metric") == metric) & (pl.col("replication") == replication))
    if chosen.is_empty():
        return []
    # The rows of a trace follow each other. A frame for each would take a hundred times as much as its name.
    runs = chosen["entity"].rle().struct
    ends = runs.field("len").cum_sum().to_list()
    unit, t, value = chosen["unit"], chosen["t"].to_numpy(), chosen["value"].to_numpy()
    return [
        Trace(entity, unit[begin], t[begin:end], value[begin:end])
        for entity, begin, end in zip(runs.field("value"), (0, *ends), ends, strict=False)
    ]


def lines(every: Sequence[Trace]) -> list[Trace]:
    """The traces that make a line, of two samples or more: a single one shows nothing over time."""
    return [trace for trace in every if len(trace.t) > 1]


def within(every: Sequence[Trace], span: tuple[float, float] | None) -> list[Trace]:
    """The samples of traces from one time to another, both included; all where no time is given."""
    if span is None:
        return [*every]
    return [_cut(trace, *span) for trace in every]


def thresholds(every: Sequence[Trace]) -> list[Trace]:
    """Slow-start thresholds as far as they limit something: others have no place in a picture."""
    limiting = [(trace, trace.value < UNLIMITED) for trace in every]
    return [replace(trace, t=trace.t[some], value=trace.value[some]) for trace, some in limiting]


def _cut(trace: Trace, begin: float, end: float) -> Trace:
    inside = (trace.t >= begin) & (trace.t <= end)
    return replace(trace, t=trace.t[inside], value=trace.value[inside])


def delivered_of(result: "Result") -> tuple[list[Trace], str]:
    """What connections of the first replication had delivered by then, and which ones these are.

    They are "every connection", or "the first 40 of 100 connections", "without short flows" where there are
    such, of which none has such a series.
    """
    groups = groups_of(result.flows)
    every = lines(result.traces("delivered"))
    shown = every[:MOST_WINDOWS]
    factor, unit = scale(max((float(trace.value.max(initial=0)) for trace in shown), default=0.0), "B")
    shown = [
        replace(trace, value=trace.value / factor, unit=unit, group=groups.get(trace.entity, ""))
        for trace in shown
    ]
    drawn = {trace.entity for trace in every}
    rows = result.rows("flows", "flow", "kind")
    has_short = any(kind == "tcp" and flow not in drawn for flow, kind in rows)
    which = first_of(len(shown), len(every), "connection")
    return shown, f"{which}, without short flows" if has_short else which


def decimate(trace: Trace, points: int) -> Trace:
    """At most so many points with the same envelope: the least and the largest value of every bucket."""
    import numpy as np

    if len(trace.t) <= points:
        return trace
    edges = np.linspace(0, len(trace.t), points // 2 + 1).astype(int)
    kept: list[int] = []
    for low, high in pairwise(edges):
        bucket = trace.value[low:high]
        kept += sorted({low + int(bucket.argmin()), low + int(bucket.argmax())})
    return replace(trace, t=trace.t[kept], value=trace.value[kept])


def with_gaps(trace: Trace, times: "NDArray[np.float64]", longest: float) -> Trace:
    """The same, with gaps in lines where nothing was sampled for more than so many seconds.

    Args:
        trace: what is drawn, which may be a part of the samples.
        times: those of all samples, in seconds.
        longest: the longest time between two samples that a line crosses.
    """
    import numpy as np

    later = times[np.flatnonzero(np.diff(times) > longest) + 1]
    apart = np.unique(np.searchsorted(trace.t, later))
    apart = apart[(apart > 0) & (apart < len(trace.t))]
    between = (trace.t[apart - 1] + trace.t[apart]) / 2
    return replace(trace, t=np.insert(trace.t, apart, between), value=np.insert(trace.value, apart, np.nan))


def common_scale(every: Sequence[Trace]) -> float:
    """A height for all traces of a picture.

    It is the largest of their 98th percentiles, so that a short peak, as of a first slow start, does not
    flatten the rest; such a peak reaches beyond its strip.
    """
    import numpy as np

    return max(float(np.percentile(trace.value, 98)) for trace in every) or 1.0


def strip_heights(every: Sequence[tuple[str, Trace]]) -> dict[str, float]:
    """The height of the strips of each group: one for all, but for a group that would be flat in it.

    Args:
        every: the traces, each with its group.
    """
    common, members = common_scale([trace for _, trace in every]), dict[str, list[Trace]]()
    for group, trace in every:
        members.setdefault(group, []).append(trace)
    own = {group: common_scale(some) for group, some in members.items()}
    return {group: height if FLAT * height < common else common for group, height in own.items()}


def height_told(heights: Mapping[str, float]) -> str:
    """How high strips are, for people, with the groups of lower ones: "138 kB high (mice 4.38 kB)"."""
    common = max(heights.values())
    lower = [f"{group} {quantity(one, 'B', 3)}" for group, one in heights.items() if one < common]
    return f"{quantity(common, 'B', 3)} high" + (f" ({', '.join(lower)})" if lower else "")


def busiest(every: Sequence[Trace], count: int = 4, always: str | None = None) -> list[Trace]:
    """The traces with the largest means, in their own order; the rest of a network's ports is mostly idle.

    Ports that hardly anything waits at are left out: their lines could not be told from the axis.

    Args:
        every: the traces.
        count: how many.
        always: the entity that is among them whatever its mean, as the bottleneck.
    """
    tops = [float(trace.value.max(initial=0)) for trace in every]
    least = SEEN * max(tops, default=0.0)
    seen = [one for one, top in zip(every, tops, strict=True) if top > least or one.entity == always]
    order = sorted(seen, key=lambda trace: (trace.entity != always, -float(trace.value.mean())))
    kept = order[:count]
    return [trace for trace in every if trace in kept]


def told_apart(every: Sequence[Trace], result: "Result") -> tuple[list[Trace], str]:
    """The traces of a metric that one picture can show, and which these are if some are left out.

    Of ports they are the busiest, each with a colour of its own. Of flows they are the first; where they are
    more than the colours, those of a group share one.
    """
    groups = groups_of(result.flows)
    of_flows = {
        trace.entity: groups.get(trace.entity, groups.get(trace.entity.rpartition("/")[0])) for trace in every
    }
    if None in of_flows.values():
        shown = busiest(every, MOST_COLOURS, result.manifest.get("bottleneck")) or list(every[:MOST_COLOURS])
        if len(shown) == 1 < len(every):
            return shown, f"{shown[0].entity}, the busiest of {len(every)} ports"
        return shown, "" if len(shown) == len(every) else f"the {len(shown)} busiest of {len(every)} ports"
    shown = list(every[:MOST_WINDOWS])
    if len(shown) > MOST_COLOURS:
        shown = [replace(trace, group=of_flows[trace.entity] or "") for trace in shown]
    return shown, "" if len(shown) == len(every) else first_of(len(shown), len(every), "flow")


def total(every: Iterable[Trace]) -> Trace:
    """The sum of traces over the same times; there is at least one."""
    rest = iter(every)
    first = next(rest)
    together = first.value.copy()
    for trace in rest:  # one by one: stacked, thousands of them would need their memory again
        together += trace.value
    return Trace("sum", first.unit, first.t, together)
