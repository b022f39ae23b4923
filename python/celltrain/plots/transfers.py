"""Congestion windows while their connections last: before and after it, they limit nothing.

A connection has its first window before it begins. A finite transfer has an end, after which its sender
keeps a window; greedy sources, requests and bursts have none. Short flows have no windows over time.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celltrain.errors import InputError, ScenarioError
from celltrain.notes.sources import beginnings
from celltrain.plots.spans import scenario_of
from celltrain.traces import MOST_WINDOWS, Trace, Windows, lines, total, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celltrain.results import Record, Result

__all__ = [
    "WHOLE",
    "Life",
    "any_ended",
    "completed",
    "lives_of_record",
    "lives_of_run",
    "recorded_windows",
    "said_of_lives",
    "transfer_ends",
    "while_alive",
    "windows_of",
]

Life = tuple[float, float]
"""When a connection begins and ends, in seconds."""

WHOLE: Life = -math.inf, math.inf
"""The life of a connection of which nothing says when it begins or ends."""

LATE = 0.01
"""The part of a picture before the beginning of a window from which on it shows."""

BEGINS = "a window begins with its connection"
"""What is said of a picture in which the lines of some connections begin after others."""

ENDED = "a window ends with its transfer"
"""What is said of a picture in which the lines of some connections end before others."""

BOTH = "a window begins with its connection and ends with its transfer"
"""What is said where there are both."""


def windows_of(
    result: "Result", replication: int = 0, span: tuple[float, float] | None = None
) -> Windows | None:
    """The congestion windows of a replication, each from its beginning to the end of its transfer.

    None where nothing traced a TCP connection over time, or none was open in a part of the run.
    """
    every = result.traces("cwnd", replication=replication)
    return _windows(every, lives_of_run(result, replication), span)


def recorded_windows(record: "Record") -> Windows | None:
    """The same of a record, which does not say when connections begin."""
    return _windows(record.traces("cwnd"), lives_of_record(record))


def lives_of_run(result: "Result", replication: int = 0) -> dict[str, Life]:
    """The lives of the connections of a replication that begin or end within it, by their flows.

    A connection whose start is drawn begins with the first data that it delivers, or at the latest start.
    """
    delivered = result.traces("delivered", replication=replication)
    begins, ends = _begins(result, delivered), _ends(result, delivered, replication)
    first, last = WHOLE
    return {flow: (begins.get(flow, first), ends.get(flow, last)) for flow in {**begins, **ends}}


def lives_of_record(record: "Record") -> dict[str, Life]:
    """The lives of the connections of a record whose transfers end within it."""
    ends = transfer_ends(completed(record.flows), record.traces("delivered"))
    return {flow: (WHOLE[0], end) for flow, end in ends.items()}


def _begins(result: "Result", delivered: Sequence[Trace]) -> dict[str, float]:
    """When connections begin that begin later than the run; none where its scenario is not known."""
    try:
        every = beginnings(scenario_of(result), [trace.entity for trace in delivered])
    except (InputError, ScenarioError):
        return {}  # an older version wrote these results
    late = {flow: both for flow, both in every.items() if both[1] > 0}
    return {
        trace.entity: max(late[trace.entity][0], min(late[trace.entity][1], _first(trace)))
        for trace in delivered
        if trace.entity in late
    }


def _first(delivered: Trace) -> float:
    """The time of the first sample at which something had been delivered."""
    some = delivered.value > 0
    return float(delivered.t[some.argmax()]) if some.any() else math.inf


def _ends(result: "Result", delivered: Sequence[Trace], replication: int) -> dict[str, float]:
    """The times in seconds at which the finite transfers of a replication ended, by their flows."""
    import polars as pl

    if "completion_time" not in result.flows.columns:
        return {}  # an older version wrote these results
    flows = result.flows.filter(pl.col("replication") == replication)
    done = completed(flows.select("flow", "completion_time").to_dict(as_series=False))
    return transfer_ends(done, delivered)


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


def while_alive(every: Sequence[Trace], lives: Mapping[str, Life]) -> list[Trace]:
    """Series of connections while these last; others are whole."""
    return [_within_life(trace, lives.get(trace.entity, WHOLE)) for trace in every]


def _windows(
    every: Sequence[Trace], lives: Mapping[str, Life], span: tuple[float, float] | None = None
) -> Windows | None:
    """What a picture needs of windows while their connections last; the sum is over those that are open."""
    whole = lines(within(every, span))
    shown = lines(while_alive(whole, lives))
    if not shown:
        return None
    open_ones = (
        replace(one, value=one.value * _is_alive(one, lives[one.entity])) if one.entity in lives else one
        for one in whole
    )
    return Windows(shown[:MOST_WINDOWS], total(open_ones), len(shown))


def any_ended(windows: Windows) -> bool:
    """Whether the window of a connection that is shown ends before the others."""
    return any(trace.t[-1] < windows.together.t[-1] for trace in windows.shown)


def said_of_lives(every: Iterable[Windows]) -> str:
    """What is said of pictures in which the windows of some connections begin after others, or end before."""
    windows = [*every]
    ended = any(any_ended(one) for one in windows)
    begun = any(_begins_late(trace, one.together) for one in windows for trace in one.shown)
    return BOTH if begun and ended else BEGINS if begun else ENDED if ended else ""


def _begins_late(trace: Trace, together: Trace) -> bool:
    """Whether a window begins so long after the picture does that this shows."""
    begin, end = together.t[0], together.t[-1]
    return bool(trace.t[0] - begin > LATE * (end - begin))


def _is_alive(trace: Trace, life: Life) -> "NDArray[np.bool_]":
    return (trace.t >= life[0]) & (trace.t <= life[1])


def _within_life(trace: Trace, life: Life) -> Trace:
    kept = _is_alive(trace, life)
    return trace if kept.all() else replace(trace, t=trace.t[kept], value=trace.value[kept])


def completed(flows: Mapping[str, Sequence[Any]]) -> list[str]:
    """The flows that are finite transfers with every byte delivered."""
    times = zip(flows["flow"], flows.get("completion_time", ()), strict=False)
    return [flow for flow, time in times if time is not None and math.isfinite(time)]
