"""Time series taken out of the long frame, for pictures and reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from string import digits
from typing import TYPE_CHECKING, Any

from celltrain.text import first_of, quantity, scale

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from celltrain.results import Result

    Samples = NDArray[np.float64]

__all__ = [
    "MOST_WINDOWS",
    "Trace",
    "Windows",
    "busiest",
    "common_scale",
    "decimate",
    "delivered_of",
    "flow_groups",
    "height_told",
    "lines",
    "strip_heights",
    "total",
    "traces",
    "windows_of",
]


MOST_WINDOWS = 40
"""Connections that a picture of a time series shows; more cannot be told apart on a page."""


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


def windows_of(result: "Result", replication: int = 0) -> Windows | None:
    """The congestion windows of a replication; None where nothing traced a TCP connection over time."""
    every = lines(result.traces("cwnd", replication=replication))
    return Windows.of(every) if every else None


def delivered_of(result: "Result") -> tuple[list[Trace], str]:
    """What connections of the first replication had delivered by then, and which ones these are.

    They are "every connection" or "the first 40 of 100 connections".
    """
    groups = flow_groups(result.flows)
    every = lines(result.traces("delivered"))
    shown = every[:MOST_WINDOWS]
    factor, unit = scale(max((float(trace.value.max(initial=0)) for trace in shown), default=0.0), "B")
    shown = [
        replace(trace, value=trace.value / factor, unit=unit, group=groups.get(trace.entity, ""))
        for trace in shown
    ]
    return shown, first_of(len(shown), len(every), "connection")


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


def total(every: Sequence[Trace]) -> Trace:
    """The sum of traces over the same times."""
    first = every[0]
    together = first.value.copy()
    for trace in every[1:]:  # one by one: stacked, thousands of them would need their memory again
        together += trace.value
    return Trace("sum", first.unit, first.t, together)


def flow_groups(flows: "pl.DataFrame | Mapping[str, Any]") -> dict[str, str]:
    """The group of every flow, from the flows of a run; replications agree about it.

    A group is called as its flows are without their numbers (cubic of cubic1 to cubic25), if these count from
    1 and the flows of no other group differ from them in numbers alone.
    """
    groups = dict(zip(flows["flow"], flows["group"], strict=True))
    members: dict[int, list[str]] = {}
    for flow, group in groups.items():
        members.setdefault(group, []).append(flow)
    stems = Counter(stem for some in members.values() for stem in {flow.rstrip(digits) for flow in some})
    names = {}
    for group, some in members.items():
        name = some[0].removesuffix("1")
        stem = name.rstrip(digits)
        is_called = some == [f"{name}{number}" for number in range(1, len(some) + 1)]
        names[group] = name if is_called and stem and stems[stem] == 1 else f"group {group}"
    return {flow: names[group] for flow, group in groups.items()}
