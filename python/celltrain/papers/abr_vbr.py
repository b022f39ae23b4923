"""*Performance of TCP over ABR on ATM backbone and with various VBR traffic patterns* (1996).

By Kalyanaraman et al. Table 1 asks how much a source must store where ABR controls its rate. Tables 2 to
4 ask under which patterns of VBR, over which distances and with which measurements the queue at the
switch stays bounded. Table 5 is what section 4.2.3 says of the switch scheme, and the figures show a few
of the runs over time; the paper has neither.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from celltrain import statistics, verdicts
from celltrain.papers.description import Claim, Column, OverTime, Paper, Row, Table
from celltrain.papers.judging import Judge, more
from celltrain.papers.outcomes import Evidence, Finding, Outcomes
from celltrain.papers.printed import Printed, Range
from celltrain.results import Record
from celltrain.traces import Trace

__all__ = ["PAPER", "diverges", "envelope"]

PORT = "switch1 > switch2"
"""The port to the trunk, the only one at which a queue builds up."""
CELL = 424
"""Bits of a cell."""
WINDOW = 24_576
"""A receiver window in cells: 2048 segments of 512 bytes, 12 cells each."""
ROUND_TRIP = 11_040
"""The round trip of 30 ms in cells, as the paper counts: 368 cells a millisecond."""

SOURCE_QUEUE = "largest source queue"
SWITCH_QUEUE = "largest switch queue"
THROUGHPUT = "throughput"
LOST = "lost at the sources"
GROWTH = "growth of the queue"
DIVERGES = "diverges"

NEARLY_A_WINDOW = 0.9
"""Part of a receiver window that the largest source queue must reach for a window to be what it takes."""


def envelope(trace: Trace, window: float) -> list[float]:
    """The largest values of a series in successive windows; samples that fill no window are left out.

    Args:
        trace: samples at equal distances.
        window: length of a window in seconds. If it is a multiple of the periods that a system goes through,
            their ups and downs do not show in the envelope.
    """
    size = round(window / float(trace.t[1] - trace.t[0]))
    ends = range(size, len(trace.value) + 1, size)
    return [float(trace.value[end - size : end].max()) for end in ends]


def diverges(maxima: Sequence[float]) -> bool:
    """Whether an envelope grows all the time, as that of an unbounded queue does.

    Its least-squares slope must lie above zero with its whole 95 % interval: over the run and in either half
    of it, so that neither a start-up nor one step to a higher level counts. All of its last third must lie
    above all of the first, so that two rises with a fall between them do not count.

    Raises:
        ValueError: there are fewer than six maxima.
    """
    if len(maxima) < 6:
        raise ValueError(f"six maxima tell growth from ups and downs, not {len(maxima)}")
    half, third = len(maxima) // 2, len(maxima) // 3
    if min(maxima[-third:]) <= max(maxima[:third]):
        return False
    return all((statistics.slope(part).low or 0.0) > 0 for part in (maxima, maxima[:half], maxima[half:]))


def tcp_goodput(record: Record) -> float:
    """What the TCP connections delivered, in Mbit/s; VBR has no part in it."""
    flows = zip(record.flows["kind"], record.flows["goodput"], strict=True)
    return sum(float(goodput) for kind, goodput in flows if kind == "tcp") / 1e6


def at_port(metric: str) -> Callable[[Record], list[Trace]]:
    """A function that picks a series of the port to the trunk."""

    def pick(record: Record) -> list[Trace]:
        return [trace for trace in record.traces(metric) if trace.entity == PORT]

    return pick


def rates(record: Record) -> list[Trace]:
    """The least, the mean and the largest ACR of all sources over time, in Mbit/s."""
    import numpy as np

    every = record.traces("acr")
    together = np.vstack([trace.value for trace in every]) * CELL / 1e6
    lines = {"least": together.min(axis=0), "mean": together.mean(axis=0), "largest": together.max(axis=0)}
    return [Trace(name, "Mbit/s", every[0].t, values) for name, values in lines.items()]


def switch_queue(record: Record) -> float:
    """The most ABR cells that ever waited at the port to the trunk."""
    found = dict(zip(record.ports["port"], record.ports["abr_queue_max"], strict=True))
    return float(found[PORT])


def queue_rows(window: float) -> tuple[Row, ...]:
    """What the tables with VBR list of the queue at the switch.

    Args:
        window: of the envelope, in seconds: a multiple of VBR's period and of the round trip.
    """

    def maxima(record: Record) -> list[float]:
        (queue,) = at_port("abr_queue")(record)
        return envelope(queue, window)

    return (
        Row(SWITCH_QUEUE, "cells", switch_queue),
        Row(GROWTH, "cells/s", lambda record: statistics.slope(maxima(record)).mean / window),
        Row(DIVERGES, "", lambda record: float(diverges(maxima(record)))),
        Row(THROUGHPUT, "Mbit/s", tcp_goodput),
    )


def _vbr(duty: float, period: float) -> dict[str, str]:
    """The settings of a duty cycle and a period in ms."""
    on = f"{duty * period:g} ms"
    return {"flow.0.traffic.on": on, "flow.0.traffic.off": f"{(1 - duty) * period:g} ms"}


BUFFERS = (100, 1000, 10_000, 100_000)
TABLE_1 = Table(
    "Table 1",
    "Buffers at the sources, ERICA",
    "table-1.toml",
    "source buffer",
    tuple(Column(f"{cells} cells", {"abr.source-buffer": f"{cells} cells"}) for cells in BUFFERS),
    (
        Row(SOURCE_QUEUE, "cells", lambda record: float(max(record.flows["source_queue_max"]))),
        Row(SWITCH_QUEUE, "cells", switch_queue),
        Row(THROUGHPUT, "Mbit/s", tcp_goodput),
        Row(LOST, "cells", lambda record: float(sum(record.flows["cells_dropped_at_source"]))),
    ),
    transposed=True,
)

PATTERNS = [(duty, period) for period in (100, 10, 1) for duty in (0.95, 0.8, 0.7)]
"""Duty cycle and period in ms of the nine rows of Table 2."""
TABLE_2 = Table(
    "Table 2",
    "Patterns of VBR, ERICA+",
    "vbr.toml",
    "row: duty cycle, period",
    tuple(
        Column(f"{row}: {duty}, {period} ms", _vbr(duty, period))
        for row, (duty, period) in enumerate(PATTERNS, 1)
    ),
    queue_rows(0.3),
    trace=True,
    transposed=True,
)
PATTERN = {column.name[0]: column.name for column in TABLE_2.columns}
"""The columns that make the rows of the paper's Table 2, by their number."""

TABLE_3 = Table(
    "Table 3",
    "Feedback delay, ERICA+, duty cycle 0.8, period 10 ms",
    "vbr.toml",
    "feedback delay",
    tuple(Column(f"{delay} ms", {"link.delay": f"{100 * delay} km"}) for delay in (1, 5, 10)),
    queue_rows(0.3),
    trace=True,
    transposed=True,
)

AVERAGED, LONGER = "load averaged", "longer intervals"
ERICA_PLUS = "switch.allocator.erica-plus"
TABLE_4 = Table(
    "Table 4",
    "Averaged measurements, ERICA+, duty cycle 0.8, period 10 ms",
    "table-4.toml",
    "averaging",
    (
        Column(AVERAGED, {}),
        Column(
            LONGER,
            {
                f"{ERICA_PLUS}.averaging.load": "none",
                f"{ERICA_PLUS}.interval": {"cells": 500, "time": "5 ms"},
            },
        ),
    ),
    queue_rows(0.3),
    trace=True,
    transposed=True,
)

TABLE_5 = Table(
    "Table 5",
    "Switch scheme, VBR 1 ms on and 1 ms off (section 4.2.3)",
    "scheme.toml",
    "scheme",
    (
        Column("ERICA+", {"switch.allocator.algorithm": "erica-plus"}),
        Column("ERICA", {"switch.allocator.algorithm": "erica"}),
    ),
    queue_rows(0.12),
    trace=True,
    transposed=True,
)


def _figures(first: int, what: str, table: Table, columns: tuple[Column, ...]) -> tuple[Table, ...]:
    """Rates, queue and utilisation of some runs of a table, a figure each."""
    views: Mapping[str, OverTime] = {
        "Rates of the sources": OverTime(rates, "ACR"),
        "ABR queue": OverTime(at_port("abr_queue"), "ABR queue"),
        "Utilisation of the trunk": OverTime(at_port("utilisation"), "utilisation"),
    }
    row = (Row(SWITCH_QUEUE, "cells", switch_queue),)
    return tuple(
        Table(f"Figure {number}", f"{name}, {what}", table.scenario, table.parameter, columns, row, view=view)
        for number, (name, view) in enumerate(views.items(), first)
    )


def divergence(table: str, expected: Mapping[str, bool]) -> Judge:
    """Every replication of some columns diverges or does not, as expected of each."""

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for column, divergent in expected.items():
            sample = outcomes.sample(table, column, DIVERGES)
            name = f"runs that diverge, {table} {column}"
            evidence = Evidence(name, 100 * statistics.mean(sample), "%", None, 100.0 * divergent)
            parts.append((verdicts.every_run(value == divergent for value in sample), evidence))
        return Finding.of(parts)

    return judge


def _one_window(outcomes: Outcomes) -> Finding:
    """With room for a window nothing is lost and about a window is used; with less, cells are lost."""
    columns = outcomes.columns(TABLE_1.name)
    lost = {name: outcomes.sample(TABLE_1.name, name, LOST) for name in columns}
    windows = [cells / WINDOW for cells in outcomes.sample(TABLE_1.name, columns[-1], SOURCE_QUEUE)]
    *small, large = columns

    def cells(name: str, printed: Printed) -> Evidence:
        return Evidence.of(f"lost, {name}", statistics.estimate(lost[name]), "cells", printed)

    return Finding.of(
        (
            (
                verdicts.every_run(NEARLY_A_WINDOW <= value <= 1 for value in windows),
                Evidence.of(f"largest source queue, {large}", statistics.estimate(windows), "windows", 0.97),
            ),
            *((verdicts.every_run(map(bool, lost[name])), cells(name, Range(1, None))) for name in small),
            (verdicts.every_run(not value for value in lost[large]), cells(large, 0.0)),
        )
    )


def under(limit: float, table: Table, columns: Sequence[str]) -> Judge:
    """The queue at the switch reaches a limit, in round trips of 30 ms, in no replication of some columns."""

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for column in columns:
            queues = [cells / ROUND_TRIP for cells in outcomes.sample(table.name, column, SWITCH_QUEUE)]
            name = f"largest of all replications, {table.name} {column}"
            evidence = Evidence(name, max(queues), "round trips", limit=Range(None, limit))
            parts.append((verdicts.every_run(queue < limit for queue in queues), evidence))
        return Finding.of(parts)

    return judge


def _steps() -> Judge:
    """Each buffer of Table 1 carries more than the one before."""
    places = [(TABLE_1.name, column.name) for column in TABLE_1.columns]
    under, over = zip(*pairwise(places), strict=True)
    return more(THROUGHPUT, "Mbit/s", over, under)


CLAIMS = (
    Claim(
        "one-window-at-the-edge",
        "Zero loss takes about one receiver window a source at the edge, and less loses cells",
        ("Table 1",),
        _one_window,
    ),
    Claim(
        "under-three-round-trips",
        "The queue at the switch stays under three round trips, whatever the sources store",
        ("Table 1",),
        under(3, TABLE_1, [column.name for column in TABLE_1.columns]),
    ),
    Claim(
        "buffers-carry",
        "The throughput grows with the buffer at the sources, at each of the three steps",
        ("Table 1",),
        _steps(),
    ),
    Claim(
        "patterns-diverge",
        "The queue diverges under rows 5 and 6 of Table 2 and no other",
        ("Table 2",),
        divergence("Table 2", {name: row in "56" for row, name in PATTERN.items()}),
    ),
    Claim(
        "patterns-small",
        "Under rows 1 to 3 and 7 to 9 of Table 2 the queue is a fraction of the round trip",
        ("Table 2",),
        under(1, TABLE_2, [PATTERN[row] for row in "123789"]),
    ),
    Claim(
        "long-feedback-diverges",
        "The queue diverges with a feedback delay of 5 and 10 ms and not with 1 ms",
        ("Table 3",),
        divergence("Table 3", {"1 ms": False, "5 ms": True, "10 ms": True}),
    ),
    Claim(
        "averaging-converges",
        "With averaged measurements the queue of row 5 of Table 2 does not diverge, either way",
        ("Table 4",),
        divergence("Table 4", {AVERAGED: False, LONGER: False}),
    ),
    Claim(
        "averaging-small",
        "With averaged measurements that queue is a fraction of the round trip",
        ("Table 4",),
        under(1, TABLE_4, [AVERAGED, LONGER]),
    ),
    Claim(
        "queue-control-needed",
        "With VBR 1 ms on and 1 ms off, ERICA's queue diverges and ERICA+'s does not",
        ("Table 5",),
        divergence("Table 5", {"ERICA+": False, "ERICA": True}),
    ),
)

PAPER = Paper(
    id="abr-vbr",
    title="Performance of TCP over ABR on ATM backbone and with various VBR traffic patterns",
    reference="S. Kalyanaraman, R. Jain, S. Fahmy, R. Goyal, J. Jiang and S.-C. Kim, ATM Forum 96-1294, 1996",
    tables=(TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5),
    figures=(
        *_figures(1, "sources with room for a window", TABLE_1, TABLE_1.columns[-1:]),
        *_figures(
            4,
            "VBR at a duty cycle of 0.8",
            TABLE_2,
            tuple(column for column in TABLE_2.columns if column.name in (PATTERN["5"], PATTERN["8"])),
        ),
    ),
    claims=CLAIMS,
    stacks=("osu",),
    headline=(SWITCH_QUEUE, THROUGHPUT),
)
