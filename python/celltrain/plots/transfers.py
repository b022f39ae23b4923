"""Congestion windows up to the end of transfers: after it a sender keeps a window that limits nothing.

A finite transfer has an end; greedy sources, requests and bursts have none. Short flows have no windows over
time.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celltrain.traces import MOST_WINDOWS, Trace, Windows, lines, total, within

if TYPE_CHECKING:
    from celltrain.results import Record, Result

__all__ = [
    "ENDED",
    "any_ended",
    "completed",
    "ended_windows",
    "ends_of_run",
    "recorded_windows",
    "transfer_ends",
    "until_end",
    "windows_of",
]

ENDED = "a window ends with its transfer"
"""What is said of a picture in which the lines of some connections end before others."""


def windows_of(
    result: "Result", replication: int = 0, span: tuple[float, float] | None = None
) -> Windows | None:
    """The congestion windows of a replication, each up to the end of its transfer.

    None where nothing traced a TCP connection over time, or none was open in a part of the run.
    """
    return ended_windows(
        result.traces("cwnd", replication=replication), ends_of_run(result, replication), span
    )


def recorded_windows(record: "Record") -> Windows | None:
    """The same of a record."""
    ends = transfer_ends(completed(record.flows), record.traces("delivered"))
    return ended_windows(record.traces("cwnd"), ends)


def ends_of_run(result: "Result", replication: int = 0) -> dict[str, float]:
    """The times in seconds at which the finite transfers of a replication ended, by their flows."""
    import polars as pl

    if "completion_time" not in result.flows.columns:
        return {}  # an older version wrote these results
    flows = result.flows.filter(pl.col("replication") == replication)
    done = completed(flows.select("flow", "completion_time").to_dict(as_series=False))
    return transfer_ends(done, result.traces("delivered", replication=replication)) if done else {}


def transfer_ends(flows: Sequence[str], delivered: Sequence[Trace]) -> dict[str, float]:
    """When transfers that were completed had delivered their last byte: the time of the first sample with it.

    Args:
        flows: those that carry them.
        delivered: what connections had delivered over time.
    """
    of_those = {*flows}
    return {
        trace.entity: float(trace.t[(trace.value >= trace.value[-1]).argmax()])
        for trace in delivered
        if trace.entity in of_those and len(trace.t)
    }


def until_end(every: Sequence[Trace], ends: Mapping[str, float]) -> list[Trace]:
    """Series of connections up to the ends of their transfers; others are whole."""
    return [_until(trace, ends.get(trace.entity, math.inf)) for trace in every]


def ended_windows(
    every: Sequence[Trace], ends: Mapping[str, float], span: tuple[float, float] | None = None
) -> Windows | None:
    """What a picture needs of windows that end with their transfers; the sum is over those that are open."""
    whole = lines(within(every, span))
    shown = lines(until_end(whole, ends))
    if not shown:
        return None
    open_ones = (
        replace(one, value=one.value * (one.t <= ends[one.entity])) if one.entity in ends else one
        for one in whole
    )
    return Windows(shown[:MOST_WINDOWS], total(open_ones), len(shown))


def any_ended(windows: Windows) -> bool:
    """Whether the window of a connection that is shown ends before the others."""
    return any(trace.t[-1] < windows.together.t[-1] for trace in windows.shown)


def _until(trace: Trace, end: float) -> Trace:
    kept = trace.t <= end
    return trace if kept.all() else replace(trace, t=trace.t[kept], value=trace.value[kept])


def completed(flows: Mapping[str, Sequence[Any]]) -> list[str]:
    """The flows that are finite transfers with every byte delivered."""
    times = zip(flows["flow"], flows.get("completion_time", ()), strict=False)
    return [flow for flow, time in times if time is not None and math.isfinite(time)]
