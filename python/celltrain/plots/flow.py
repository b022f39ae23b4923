"""One connection: what it sent and got back, its windows, and what happened to it and why."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

from celltrain.errors import InputError, unknown
from celltrain.experiment import Task, alone
from celltrain.plots.discards import REQUESTS, Discards, discards_of
from celltrain.plots.flow_events import FlowEvent, detail_of, flow_events
from celltrain.plots.schedule import NOTHING, Schedule, legend_of, mark, scheduled
from celltrain.plots.style import COLOURS, panels, styled, titled
from celltrain.plots.transfers import WHOLE, lives_of_record, while_alive
from celltrain.results import Record, record_frame
from celltrain.scenario import Scenario
from celltrain.text import counted, scale, with_unit
from celltrain.traces import Trace

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FlowTraces", "flow", "flow_of_run"]

SAMPLES = 1500
"""Samples of the congestion window over the time that is shown."""

MOST_SAMPLES = 100_000
"""Samples over the whole run, however short the time that is shown."""

MARGIN = 0.05
"""The part of a short flow's time that is shown on either side of it."""

LISTED = 14
"""Events explained below the picture; the others are only marked."""

NO_EVENTS = "the sender had no event in this time: no loss, timeout or mark (duplicate ACKs are not listed)"
"""What stands in place of the list of events."""

MANY = 4000
"""Points from which on a series is drawn as pixels in vector formats too, which would be slow to show."""


BELOW = -0.03
"""Where discards stand below a panel, as a part of its height: no legend covers them there."""

LANES = 3
"""Heights at which numbers of events stand, so that neighbours do not cover each other."""

Corner = Literal["lower right", "upper left"]

CORNERS: dict[Corner, tuple[float, float, float, float]] = {
    "lower right": (0.8, 1.0, 0.0, 0.24),
    "upper left": (0.0, 0.2, 0.76, 1.0),
}
"""Corners for the legend, and what it takes there of the panel: from where to where across, and up."""

ACROSS = 500
"""Places across a panel at which it is looked for what a line covers."""

NUMBER = 0.024
"""The part of the width that a number takes, with the space beside it; a range takes twice as much."""


@dataclass(frozen=True)
class FlowTraces:
    """What is drawn of a connection; positions and windows in bytes."""

    sent: Trace
    retransmitted: Trace
    acknowledged: Trace
    cwnd: Trace
    """Sampled; `exact_window` has what it was at events, too."""
    ssthresh: Trace
    end: float = math.inf
    """When all was acknowledged, of what has an end: its lines go no further."""


def check_flow(scenario: Scenario, name: str) -> None:
    """Refuses the name of what is neither a flow nor a connection that a flow opens, such as `web1/3`.

    Raises:
        InputError: there is no such flow.
    """
    known = scenario.core.flow_names()
    source, _, part = name.rpartition("/")
    if name in known or (source in known and (part == REQUESTS or part.isdecimal())):
        return
    if source in known:
        raise InputError(
            f"unknown flow '{name}': short flows of {source}, if it opens any, are {source}/1, {source}/2, …"
        )
    raise unknown("flow", name, known)


def flow_of_run(
    scenario: Scenario,
    name: str,
    span: tuple[float, float],
    *,
    seed: int | None = None,
    replication: int = 0,
) -> "Figure":
    """Runs one replication of a scenario and draws one of its flows; `span` is in seconds.

    Of a short flow, as `web1/3`, the whole run shows the time from its first segment to its last
    acknowledgement.

    Raises:
        InputError: there is no such flow, or no TCP carries it.
    """
    check_flow(scenario, name)
    period = max((span[1] - span[0]) / SAMPLES, scenario.duration / MOST_SAMPLES)
    # The whole run counts: what is measured does not change what happens.
    sampled = scenario.with_({"sample": f"{max(round(period * 1e9), 1)} ns", "warm-up": "0 s"})
    master = scenario.seed if seed is None else seed
    record = alone(Task(sampled, master, replication, trace=True, events=True))

    def trace(metric: str) -> Trace:
        return next(iter(record.traces(metric, name)), _nothing(name))

    positions = trace("sent"), trace("retransmitted"), trace("acknowledged")
    drawn = FlowTraces(*positions, trace("cwnd"), trace("ssthresh"))
    if not len(drawn.sent.t):
        raise _undrawn(name, [one.entity for one in record.traces("sent")])
    events = record_frame("events", [record])
    if len(drawn.cwnd.t):
        sizes = segment_sizes(scenario)
        drawn = replace(drawn, cwnd=exact_window(drawn.cwnd, drawn.sent, events, sizes))
    drawn = _while_alive(drawn, record)
    if name not in scenario.core.flow_names() and span == (0.0, scenario.duration):
        span = _lifetime(drawn, span)
    title = f"{scenario.name}: flow {name}, seed {master}, replication {replication}"
    lost = discards_of(scenario, record, name, span, master)
    return flow(title, drawn, flow_events(events, name), span, lost, scheduled(scenario))


def segment_sizes(scenario: Scenario) -> list[float]:
    """The maximum segment sizes of a scenario in bytes, of any of its senders."""
    from celltrain.quantities import in_base_unit

    found = (in_base_unit(str(one)) for one in _sizes(scenario.resolved()))
    return sorted({one[0] for one in found if one is not None})


def _sizes(value: Any) -> Iterator[object]:
    """What tables of TCP have as `mss`, wherever they are."""
    if isinstance(value, Mapping):
        if isinstance(value.get("tcp"), Mapping) and "mss" in value["tcp"]:
            yield value["tcp"]["mss"]
        value = [*value.values()]
    if isinstance(value, list):
        for below in value:
            yield from _sizes(below)


def exact_window(sampled: Trace, sent: Trace, events: "pl.DataFrame", sizes: Sequence[float]) -> Trace:
    """The samples of a window, and its exact values at the events that tell them.

    After a timeout it is one segment (RFC 5681 section 3.1), but for BBR, which the events do not tell.

    Args:
        sampled: the samples.
        sent: the positions of the segments.
        events: the frame of events.
        sizes: the maximum segment sizes of the scenario: the sender has the least one that is large enough.
    """
    import numpy as np
    import polars as pl

    rows = [*events.filter(pl.col("flow") == sampled.entity).iter_rows(named=True)]
    is_bbr = any(row["event"] == "phase-entered" for row in rows)
    longest = float(np.diff(np.unique(sent.value)).max(initial=1.0))
    segment = next((size for size in sizes if size >= longest), None)
    known: list[tuple[float, float]] = []
    for row in rows:
        detail = detail_of(row)
        if detail.get("cwnd", "").isdecimal():
            known.append((row["t"], float(detail["cwnd"])))
        elif row["event"] == "timeout" and "ssthresh" in detail and segment is not None and not is_bbr:
            known.append((row["t"], segment))
    times, values = np.array([t for t, _ in known]), np.array([value for _, value in known])
    t, value = np.append(sampled.t, times), np.append(sampled.value, values)
    order = np.argsort(t, kind="stable")  # an event comes after a sample of its time
    return replace(sampled, t=t[order], value=value[order])


def _while_alive(drawn: FlowTraces, record: Record) -> FlowTraces:
    """The same from the first segment on, up to the last acknowledgement if all that there was has one."""
    name, acknowledged = drawn.cwnd.entity, drawn.acknowledged.t
    begin, end = float(drawn.sent.t[0]), lives_of_record(record).get(name, WHOLE)[1]
    if math.isinf(end) and name.rpartition("/")[2].isdecimal() and "/" in name and len(acknowledged):
        last = max(float(one.t[-1]) for one in (drawn.sent, drawn.retransmitted) if len(one.t))
        end = last if last < acknowledged[-1] else end
    end = float(max([end, *acknowledged[-1:]]))
    (cwnd,) = while_alive([drawn.cwnd], {name: (begin, end)})
    return replace(drawn, cwnd=cwnd, end=end)


def _undrawn(name: str, senders: Sequence[str]) -> InputError:
    """The error for a flow without segments of its own: it may open short flows, each drawn alone."""
    is_source = any(one.startswith(f"{name}/") for one in senders)
    source, _, asked = (name, "", "") if is_source else name.rpartition("/")
    parts = (one.removeprefix(f"{source}/") for one in senders if one.startswith(f"{source}/"))
    numbers = sorted(int(part) for part in parts if part.isdecimal())
    if not numbers and source in senders:
        what = "a connection for requests" if asked == REQUESTS else "short flows"
        return InputError(
            f"unknown flow '{name}': '{source}' is a connection without {what}; draw '{source}'"
        )
    if not numbers:
        return InputError(f"flow '{name}' sends no TCP segments in this run: there is nothing to draw")
    unknown_part = "" if is_source else f"unknown flow '{name}': "
    first, last = f"{source}/{numbers[0]}", f"{source}/{numbers[-1]}"
    which = f"draw '{first}'" if first == last else f"name one, from {first} to {last}"
    return InputError(
        f"{unknown_part}'{source}' opens {counted(len(numbers), 'short flow')} in this run: {which}"
    )


def _lifetime(drawn: FlowTraces, span: tuple[float, float]) -> tuple[float, float]:
    """The time from the first segment to the last acknowledgement, with some space on either side."""
    times = [
        float(trace.t[end]) for trace in (drawn.sent, drawn.acknowledged) if len(trace.t) for end in (0, -1)
    ]
    begin, end = min(times), max(times)
    space = MARGIN * (end - begin) or MARGIN * (span[1] - span[0])
    return max(span[0], begin - space), min(span[1], end + space)


def flow(
    title: str,
    drawn: FlowTraces,
    events: Sequence[FlowEvent],
    span: tuple[float, float],
    lost: Sequence[Discards] = (),
    schedule: Schedule = NOTHING,
) -> "Figure":
    """Sequence numbers and ACKs of a connection, below them its windows, and its events with their causes.

    Args:
        title: stands above the picture.
        drawn: what the connection did.
        events: what happened to it, in order.
        span: the time to show, in seconds.
        lost: what switches discarded of it.
        schedule: what the scenario schedules on links. Dotted lines are events, so changes stand in words.
    """
    dark = Schedule(dark=schedule.dark)
    shown = [event for event in events if span[0] <= event.t <= span[1]]
    scaled = scale(span[1] - span[0], "s")
    factor, unit = scaled
    lines = [*_listing(shown, scaled), *(one.text for one in lost), *schedule.told(span)]
    lines += legend_of([dark], span)
    with styled():
        heights = (4.0, 1.7, 0.17 * len(lines) + 0.1)
        figure, ((above,), (below,), (notes,)) = panels(
            3, 1, 9.0, sum(heights) + 0.9, height_ratios=list(heights)
        )
        _sequence(above, drawn, lost, span, factor)
        _windows(below, drawn, span, factor)
        mark((above, below), dark, span, factor)
        lanes = _mark(above, below, shown, span, factor)
        titled(above, title, pad=6 + 11 * lanes)
        below.set_xlabel(with_unit("time", unit))
        notes.axis("off")
        notes.text(0, 1, "\n".join(lines), va="top", transform=notes.transAxes, fontsize="small")
    return figure


def _listing(events: Sequence[FlowEvent], scaled: tuple[float, str]) -> list[str]:
    factor, unit = scaled
    lines = [
        f"{number}   {event.t / factor:.4f} {unit}   {event.text}"
        for number, event in enumerate(events[:LISTED], 1)
    ]
    if len(events) > LISTED:
        lines.append(f"and {len(events) - LISTED} more: show a shorter time to have them explained")
    return lines or [NO_EVENTS]


def _nothing(name: str) -> Trace:
    import numpy as np

    return Trace(name, "B", np.empty(0), np.empty(0))


def _within(trace: Trace, span: tuple[float, float], factor: float) -> Trace:
    """The part within the time to show, its times divided by the factor of the axis."""
    kept = (trace.t >= span[0]) & (trace.t <= span[1])
    return Trace(trace.entity, trace.unit, trace.t[kept] / factor, trace.value[kept])


def _stepped(trace: Trace, span: tuple[float, float], factor: float, end: float) -> Trace:
    """The part of a line of steps that shows: from the value as the time begins to the one as it ends."""
    import numpy as np

    begin, end = span[0], min(span[1], end)
    first, last = np.searchsorted(trace.t, [begin, end], side="right")
    t, value = trace.t[first:last], trace.value[first:last]
    if first and begin <= end:
        t, value = np.append(begin, t), np.append(trace.value[first - 1], value)
    if len(t):
        t, value = np.append(t, end), np.append(value, value[-1])
    return replace(trace, t=t / factor, value=value)


def _sequence(
    axis: "Axes", drawn: FlowTraces, lost: Sequence[Discards], span: tuple[float, float], factor: float
) -> None:
    """What was sent and acknowledged, counted from the start of the data, and what was discarded."""
    looks: list[tuple[str, Trace, dict[str, Any]]] = [
        ("sent", drawn.sent, {"marker": ".", "markersize": 4, "linestyle": "", "color": COLOURS[0]}),
        (
            "acknowledged",
            drawn.acknowledged,
            {"drawstyle": "steps-post", "linewidth": 1.0, "color": COLOURS[2]},
        ),
        (
            "sent again",
            drawn.retransmitted,
            {"marker": "x", "markersize": 7, "markeredgewidth": 1.8, "linestyle": "", "color": COLOURS[1]},
        ),
    ]
    parts = [
        (
            label,
            _stepped(_from_start(trace, drawn.sent), span, factor, drawn.end)
            if "drawstyle" in look
            else _within(trace, span, factor),
            look,
        )
        for label, trace, look in looks
    ]
    size, unit = scale(max(float(part.value.max(initial=1.0)) for _, part, _ in parts), "B")
    for label, part, look in parts:
        if len(part.t):
            axis.plot(part.t, part.value / size, label=label, rasterized=len(part.t) > MANY, **look)
    axis.set_ylabel(with_unit("sequence number", unit))
    axis.set_xlim(span[0] / factor, span[1] / factor)
    axis.tick_params(axis="x", labelbottom=False)
    if not axis.lines:
        return
    corner = _free_corner(axis)
    _discards(axis, lost, factor)
    axis.legend(loc=corner)


def _discards(axis: "Axes", lost: Sequence[Discards], factor: float) -> None:
    """Marks below a panel where a port discarded something, with a colour for each port."""
    for one, colour in zip((one for one in lost if len(one.t)), cycle(COLOURS[3:]), strict=False):
        axis.plot(
            one.t / factor,
            [BELOW] * len(one.t),
            label=f"discarded at {one.port}",
            marker="v",
            markersize=4,
            linestyle="",
            color=colour,
            transform=axis.get_xaxis_transform(),
            clip_on=False,
            rasterized=len(one.t) > MANY,
        )


def _free_corner(axis: "Axes") -> "Corner":
    """The corner of a panel in which a legend covers least.

    Sequence numbers rise, so that nothing is late and low, or early and high; but for a short time in which
    the receiver waits for what was lost.
    """
    import numpy as np

    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    covered: dict[Corner, int] = dict.fromkeys(CORNERS, 0)
    for line in axis.lines:
        x, y = (np.asarray(values, dtype=float) for values in (line.get_xdata(), line.get_ydata()))
        if line.get_linestyle() != "None":  # what is between two points of a line of steps is drawn, too
            between = np.linspace(left, right, ACROSS)
            between = between[(between >= x[0]) & (between <= x[-1])]
            x, y = between, y[np.searchsorted(x, between, side="right") - 1]
        across, up = (x - left) / (right - left), (y - low) / (high - low)
        for corner, (x_from, x_to, y_from, y_to) in CORNERS.items():
            inside = (across >= x_from) & (across <= x_to) & (up >= y_from) & (up <= y_to)
            covered[corner] += int(inside.sum())
    return min(covered, key=covered.__getitem__)


def _from_start(acknowledged: Trace, sent: Trace) -> Trace:
    """What was acknowledged from the first segment on, when it was nothing."""
    import numpy as np

    if not len(sent.t) or sent.t[0] > min(acknowledged.t, default=math.inf):
        return acknowledged
    t, value = np.append(sent.t[0], acknowledged.t), np.append(0.0, acknowledged.value)
    return replace(acknowledged, t=t, value=value)


def _windows(axis: "Axes", drawn: FlowTraces, span: tuple[float, float], factor: float) -> None:
    """Congestion window and slow-start threshold; a threshold far above the window is cut off."""
    axis.set_xlim(span[0] / factor, span[1] / factor)
    axis.set_ylabel("window")
    window, threshold = (_stepped(trace, span, factor, drawn.end) for trace in (drawn.cwnd, drawn.ssthresh))
    if not len(window.t):
        why = "windows of short flows are not sampled" if not len(drawn.cwnd.t) else "no sample in this time"
        axis.set_yticks([])
        axis.annotate(why, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center")
        return
    top = 1.15 * float(window.value.max(initial=1.0))
    size, unit = scale(top, "B")
    look: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.0, "drawstyle": "steps-post"}
    axis.plot(window.t, window.value / size, label="congestion window", **look)
    if (threshold.value <= top).any():
        axis.plot(
            threshold.t,
            threshold.value / size,
            color=COLOURS[1],
            linewidth=1.0,
            linestyle="--",
            drawstyle="steps-post",
            label="slow-start threshold",
        )
    axis.set_ylim(0, top / size)
    axis.set_ylabel(with_unit("window", unit))
    axis.legend(loc="upper left", bbox_to_anchor=(0, 1.22), ncols=2)


def _mark(
    above: "Axes", below: "Axes", events: Sequence[FlowEvent], span: tuple[float, float], factor: float
) -> int:
    """A line at each event, and on top its number in the list; returns how many lanes the numbers take."""
    for event in events:
        for axis in (above, below):
            axis.axvline(event.t / factor, color="#888888", linewidth=0.7, linestyle=":", zorder=0)
    labels = _numbers([event.t for event in events[:LISTED]], span[1] - span[0])
    for label in labels:
        above.annotate(
            label.text,
            (label.t / factor, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3 + 11 * label.lane),
            textcoords="offset points",
            ha="left" if "–" in label.text else "center",
            fontsize="small",
        )
    return len({label.lane for label in labels})


@dataclass(slots=True)
class _Number:
    """The number of an event, or of several that are too near one another to be told apart."""

    t: float
    lane: int
    first: int
    last: int

    @property
    def text(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def _numbers(times: Sequence[float], width: float) -> list[_Number]:
    """Where the numbers of events stand over a picture of so many seconds: none covers another."""
    labels: list[_Number] = []
    free = [float("-inf")] * LANES
    for number, t in enumerate(times, 1):
        lane = next((lane for lane, end in enumerate(free) if t >= end), None)
        if lane is None:
            label = labels[-1]
            label.last = number
            free[label.lane] = label.t + 2.5 * NUMBER * width
        else:
            labels.append(_Number(t, lane, number, number))
            free[lane] = t + NUMBER * width
    return labels
