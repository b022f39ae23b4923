"""The exhibits of the paper `gfr-pushout`: three networks under EPD, with push-out, and as proposed.

Table 1 and Figures 7-11 are of ten TCP sources over one trunk, one of them greedy; Figures 13-15 of five VCs
with ten connections each; Tables 2 and 3 and Figures 17 and 18 of a chain of four switches with a UDP source.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from celltrain import statistics
from celltrain.papers.description import Column, OverTime, Row, Table, curves
from celltrain.results import Record
from celltrain.traces import Trace

__all__ = [
    "BY_TCP",
    "CHAIN",
    "COMPARED",
    "DELIVERED",
    "EPD",
    "EPD_PUSH_OUT",
    "FAIRNESS",
    "FIGURES",
    "GOODPUT",
    "GREEDY",
    "HARDWARE",
    "ILLEGAL",
    "LINK",
    "PROPOSED",
    "SHARES",
    "SOURCES",
    "SYNCHRONISATION",
    "TABLES",
    "THROUGHPUT",
    "TOTAL",
    "WELL_BEHAVED",
    "columns",
    "delivered",
    "rate",
    "synchronisation",
]

EPD, EPD_PUSH_OUT, PROPOSED, HARDWARE = "EPD", "EPD + push-out", "proposed", "proposed (hardware)"
LINES = {
    EPD: {"switch.discard.policy": "epd"},
    EPD_PUSH_OUT: {"switch.discard.policy": "epd-push-out"},
    PROPOSED: {"switch.discard.policy": "abs-push-out"},
    HARDWARE: {"switch.discard.policy": "abs-push-out-hardware"},
}
COMPARED = (EPD, EPD_PUSH_OUT, PROPOSED)
"""The paper simulates these; it describes the hardware of the proposed scheme, which differs in details."""

LINK = 155e6
"""Line rate in bit/s."""
FRAME = 12
"""Cells of a full packet."""
SEGMENT = 512
"""Bytes of payload in it."""
LINE_BITS = FRAME * 424 / (SEGMENT * 8)
"""Bits on the line for a bit of payload."""
SHARES = (10, 20, 30, 40, 50)
"""Guarantees of the VCs of the large network, in Mbit/s."""

BUFFERS = (200, 400, 600, 800, 1000, 1500, 2000)
EXCESSES = tuple(range(1, 11))
SMALL_BUFFER = 200
"""The buffer of Figures 7 and 9 (section 4.2.3), in cells."""
FIRST_TRUNK_TCP = tuple(str(flow) for flow in range(2, 11))
"""The flows of the chain that are TCP 1 to 9."""
WARM_UP = 1.0
"""What the scenarios leave out of every average, in seconds."""
LONG = {"link.trunk.delay": "1.668 ms"}
"""600 slots."""

GOODPUT, THROUGHPUT, FAIRNESS, TOTAL = "goodput", "throughput", "fairness index", "total"
BY_TCP = "fairness index by TCP"
SYNCHRONISATION = "synchronisation index"
DELIVERED = "retransmissions included"
OCCUPANCY, ILLEGAL = "cells in the buffer", "illegal cells"
FIRST_TRUNK = "switch1 > switch2"
SOURCES = tuple(f"TCP {number}" for number in range(1, 11))
WELL_BEHAVED, GREEDY = SOURCES[:9], SOURCES[9]
CHAIN = ("UDP", *SOURCES[:9])
"""The sources of Table 3: the chain's flows 1 to 10, of which five cross all trunks and five the first."""


def rate(record: Record, flow: int) -> float:
    """What a flow got through at the first attempt, in Mbit/s of the line: packets with all their cells.

    The paper's totals are more than the payload of a full link, so it counts cells. And they differ between
    the schemes by what these save in retransmissions, so it leaves those out, though they fill places on the
    line that the packets lost before it have not had.
    """
    payload, arrived = (float(record.flows[name][flow]) for name in ("goodput", "bytes_delivered"))
    if not arrived:  # cells without TCP
        return payload * 53 / 48 / 1e6
    again = SEGMENT * float(record.flows["segments_retransmitted"][flow])
    return payload * (1 - again / arrived) * LINE_BITS / 1e6


def _rates_of(record: Record, flows: int) -> list[float]:
    return [rate(record, flow) for flow in range(flows)]


def goodput(record: Record) -> float:
    """Cells of whole frames among all cells carried to their destinations, in per cent."""
    useful, useless = (float(sum(record.flows[name])) for name in ("cells_useful", "cells_useless"))
    return 100 * useful / (useful + useless)


def throughput(record: Record) -> float:
    """What all flows got through at the first attempt, in per cent of the one link that they cross."""
    return 100 * 1e6 * sum(_rates_of(record, len(record.flows["flow"]))) / LINK


def delivered(record: Record) -> float:
    """The same with what it took a retransmission to deliver: each packet once, with all its cells."""
    payload = sum(float(rate) for rate in record.flows["goodput"])
    return 100 * payload * LINE_BITS / LINK


def fairness_of_vcs(record: Record) -> float:
    """Jain's index of the VCs' throughputs, each divided by its guarantee."""
    of_group = [0.0] * len(SHARES)
    for flow, group in enumerate(record.flows["group"]):
        of_group[group - 1] += rate(record, flow)
    return statistics.jain([one / share for one, share in zip(of_group, SHARES, strict=True)])


def fairness_of_connections(record: Record) -> float:
    """The same for the connections, each of which is due a tenth of its VC's guarantee."""
    groups = enumerate(record.flows["group"])
    return statistics.jain([rate(record, flow) / SHARES[group - 1] for flow, group in groups])


def _at_first_trunk(metric: str) -> Callable[[Record], list[Trace]]:
    """A function that picks a series of the port to the first trunk."""

    def pick(record: Record) -> list[Trace]:
        return [trace for trace in record.traces(metric) if trace.entity == FIRST_TRUNK]

    return pick


def synchronisation(record: Record, flows: Sequence[str]) -> float:
    """The synchronisation index of some flows' windows, after the warm-up.

    A run's own index is of all its windows; in the chain most pairs of them never meet.
    """
    import numpy as np

    every = [trace for trace in record.traces("cwnd") if trace.entity in flows]
    windows = np.vstack([trace.value[trace.t >= WARM_UP] for trace in every])
    own = windows.var(axis=1)
    together = np.sqrt(own).sum() ** 2 - own.sum()
    return float((windows.sum(axis=0).var() - own.sum()) / together)


def mean_at_first_trunk(metric: str) -> Callable[[Record], float]:
    """A function that gives the mean of such a series from the end of the warm-up on."""

    def measure(record: Record) -> float:
        (trace,) = _at_first_trunk(metric)(record)
        return statistics.mean([float(value) for value in trace.value[trace.t >= WARM_UP]])

    return measure


def _sizes(buffer: int, excess: int = 2) -> dict[str, str]:
    """A buffer in cells, and the thresholds of EPD so many maximum frames below it."""
    threshold = f"{buffer - FRAME * excess} cells"
    return {
        "switch.buffer": f"{buffer} cells",
        "switch.discard.epd.threshold": threshold,
        "switch.discard.epd-push-out.threshold": threshold,
    }


def _by_excess() -> tuple[Column, ...]:
    return curves(LINES, lambda excess: _sizes(SMALL_BUFFER, excess), EXCESSES)


def _by_buffer(buffers: Sequence[int]) -> tuple[Column, ...]:
    return curves(LINES, _sizes, buffers)


def _each(settings: Mapping[str, Any] | None = None, suffix: str = "") -> tuple[Column, ...]:
    """A column a scheme with the scenario's own buffer."""
    return tuple(Column(f"{name}{suffix}", {**line, **(settings or {})}) for name, line in LINES.items())


def _of_flow(name: str, flow: int) -> Row:
    return Row(name, "Mbit/s", lambda record: rate(record, flow))


def _rates(names: Sequence[str]) -> tuple[Row, ...]:
    """The throughputs of the first flows, their sum and their fairness index."""
    count = len(names)
    return (
        *(_of_flow(name, flow) for flow, name in enumerate(names)),
        Row(TOTAL, "Mbit/s", lambda record: sum(_rates_of(record, count))),
        Row(FAIRNESS, "", lambda record: statistics.jain(_rates_of(record, count))),
    )


def _retransmitted(flow: int) -> Callable[[Record], float]:
    return lambda record: float(record.flows["segments_retransmitted"][flow])


def _curves(
    name: str, title: str, scenario: str, parameter: str, columns: tuple[Column, ...], *rows: Row
) -> Table:
    return Table(name, title, scenario, parameter, columns, rows, view="curves")


GOODPUT_ROW = Row(GOODPUT, "%", goodput)
THROUGHPUT_ROW = Row(THROUGHPUT, "%", throughput)

TABLES = (
    Table(
        "Table 1",
        "Throughput and fairness in the small network",
        "small.toml",
        "scheme",
        tuple(
            column
            for pair in zip(_each(suffix=", short"), _each(LONG, ", long"), strict=True)
            for column in pair
        ),
        _rates(SOURCES),
        transposed=True,
    ),
    Table(
        "Table 2", "Goodput in the chain", "chain.toml", "scheme", _each(), (GOODPUT_ROW,), transposed=True
    ),
    Table(
        "Table 3",
        "Throughput and fairness on the first trunk of the chain",
        "chain.toml",
        "scheme",
        _each(),
        _rates(CHAIN),
        transposed=True,
    ),
    Table(
        "Illegal cells",
        "Cells beyond the VCs' thresholds at the first trunk of the chain",
        "chain.toml",
        "scheme",
        _each()[1:],
        (
            Row(OCCUPANCY, "cells", mean_at_first_trunk("occupancy")),
            Row(ILLEGAL, "cells", mean_at_first_trunk("illegal_occupancy")),
        ),
        view=OverTime(_at_first_trunk("illegal_occupancy"), ILLEGAL),
        transposed=True,
    ),
)

_EXCESS = "buffer beyond the EPD threshold (maximum frames)"
_BUFFER = "buffer (cells)"
FIGURES = (
    _curves(
        "Figure 7",
        "Goodput and the EPD threshold, small network",
        "small.toml",
        _EXCESS,
        _by_excess(),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 8",
        "Goodput and buffer, small network",
        "small.toml",
        _BUFFER,
        _by_buffer(BUFFERS[:5]),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 9",
        "Throughput and the EPD threshold, small network",
        "small.toml",
        _EXCESS,
        _by_excess(),
        THROUGHPUT_ROW,
    ),
    Table(
        "Figure 10",
        "Packets retransmitted, small network",
        "small.toml",
        "scheme",
        _each(),
        tuple(Row(name, "packets", _retransmitted(flow)) for flow, name in enumerate(SOURCES)),
        view="bars",
    ),
    _curves(
        "Figure 11",
        "Throughput and buffer, small network",
        "small.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        THROUGHPUT_ROW,
        Row(DELIVERED, "%", delivered),
    ),
    _curves(
        "Figure 13",
        "Goodput and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 14",
        "Throughput and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        THROUGHPUT_ROW,
    ),
    _curves(
        "Figure 15",
        "Fairness and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        Row(FAIRNESS, "", fairness_of_vcs),
        Row(BY_TCP, "", fairness_of_connections),
    ),
    *(
        Table(
            name,
            f"Windows under {scheme}, chain",
            "chain.toml",
            "scheme",
            (Column(scheme, LINES[scheme]),),
            (Row(SYNCHRONISATION, "", lambda record: synchronisation(record, FIRST_TRUNK_TCP)),),
            view="windows",
        )
        for name, scheme in (("Figure 17", EPD), ("Figure 18", PROPOSED))
    ),
)


def columns(figure: str, scheme: str) -> list[str]:
    """The names of a scheme's columns in a figure of curves."""
    table = next(table for table in FIGURES if table.name == figure)
    return [column.name for column in table.lines()[scheme]]
