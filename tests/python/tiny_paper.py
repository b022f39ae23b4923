"""A paper made up for tests: a table of series, curves, bars, a figure over time, ranges, claims."""

import numpy as np

from celltrain.papers import judging
from celltrain.papers.description import Claim, Column, OverTime, Paper, Row, Table, curves
from celltrain.results import Record
from celltrain.traces import Trace

__all__ = ["BUFFERS", "FIXED_START", "LINES", "PUBLISHED", "TINY"]

LINES = {"epd": {"switch.discard.policy": "epd"}, "tail drop": {"switch.discard.policy": "tail-drop"}}
BUFFERS = ("100 cells", "200 cells", "400 cells")
PUBLISHED = """table,column,row,unit,published,note
Figure 1,"epd, 100 cells",throughput,Mbit/s,100 .. 150,read off the figure
Figure 1,"epd, 200 cells",throughput,Mbit/s,120 ..,
Figure 1,"epd, 400 cells",throughput,Mbit/s,1,
Figure 2,epd,flow 1,packets,.. 5,
Table 1,two,start,s,,the scan is not legible
"""


def throughput(record: Record) -> float:
    return record.metric("throughput") / 1e6


def delivered(flow: int) -> Row:
    return Row(f"flow {flow}", "packets", lambda record: float(record.flows["frames_delivered"][flow - 1]))


def largest_window(record: Record) -> float:
    """A measure of time series: needs a trace, in every replication."""
    return max(float(trace.value.max()) for trace in record.traces("cwnd"))


def cumulative_windows(record: Record) -> list[Trace]:
    return [Trace(one.entity, one.unit, one.t, np.cumsum(one.value)) for one in record.traces("cwnd")]


THROUGHPUT = Row("throughput", "Mbit/s", throughput)
FIXED_START = {"traffic": {"kind": "greedy", "start": "0 ms"}}

TINY = Paper(
    id="tiny-paper",
    title="A paper that nobody wrote",
    reference="Nobody, nowhere",
    tables=(
        Table(
            "Table 1",
            "Starts",
            "base.toml",
            "start",
            (
                Column("one", FIXED_START),
                Column("two", {"link.delay": "2 ms", **FIXED_START}),
            ),
            (Row("start", "s", lambda record: 0.0), Row("largest window", "B", largest_window)),
            trace=True,
            transposed=True,
        ),
    ),
    figures=(
        Table(
            "Figure 1",
            "Throughput by buffer",
            "base.toml",
            "buffer",
            curves(LINES, "switch.buffer", BUFFERS),
            (THROUGHPUT, Row("loss", "%", lambda record: 100 * record.metric("cell_loss_ratio"))),
            view="curves",
        ),
        Table(
            "Figure 2",
            "Packets by flow",
            "base.toml",
            "policy",
            tuple(Column(name, settings) for name, settings in LINES.items()),
            (delivered(1), delivered(2)),
            view="bars",
        ),
        Table(
            "Figure 3",
            "Windows added up",
            "base.toml",
            "policy",
            tuple(Column(name, settings) for name, settings in LINES.items()),
            (THROUGHPUT,),
            view=OverTime(cumulative_windows, "sum of the windows so far"),
        ),
    ),
    claims=(
        Claim(
            "grows",
            "Throughput grows with the buffer",
            ("Figure 1",),
            judging.grows("Figure 1", "throughput", "Mbit/s", [f"epd, {buffer}" for buffer in BUFFERS]),
        ),
        Claim(
            "in-range",
            "It is what the figure shows",
            ("Figure 1",),
            judging.inside("Mbit/s", [("Figure 1", "epd, 200 cells", "throughput")]),
        ),
    ),
    stacks=("reno", "sack"),
    headline=("throughput",),
)
