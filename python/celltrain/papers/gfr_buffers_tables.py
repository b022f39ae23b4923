"""The exhibits of the paper `gfr-buffers`: five switches in Figures 4-7, and Table 1 as an experiment."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from celltrain import statistics
from celltrain.papers.description import Column, Row, Table
from celltrain.results import Record

__all__ = [
    "ALTERNATIVES",
    "BLIND",
    "FIGURES",
    "LOSS",
    "MANAGED",
    "RETRANSMITTED",
    "SHARED",
    "SWITCHES",
    "TABLES",
    "THROUGHPUT",
    "WORST",
]

MANAGED = ("two thresholds", "per-VC accounting")
"""The switches that know of CLP."""
BLIND = ("plain UBR", "EPD", "WFQ")
"""Those that do not."""
SWITCHES = ("plain UBR", "EPD", "two thresholds", "per-VC accounting", "WFQ")
"""Table 2 of the paper."""
POLICIES = dict(zip(SWITCHES, ("tail-drop", "epd", "double-epd", "per-vc", "tail-drop"), strict=True))
LAN, WAN = "45.3 us", "498 us"
BUFFERS = (2400, 3000, 3600, 4200, 4800)
SOURCES = (10, 12, 14, 16, 18, 20, 22)


def _loss(clp: int) -> Row:
    """Cells of a class dropped at the switches, in per cent of those its sources sent (CLR, section 4.3)."""
    return _ratio(f"CLR of CLP{clp}", clp, "cells_discarded", "cells_sent")


def _retransmitted(clp: int) -> Row:
    """Segments of a class sent again, in per cent of all that were sent (PRR, section 4.3)."""
    return _ratio(f"PRR of CLP{clp}", clp, "segments_retransmitted", "segments_sent")


def _ratio(name: str, clp: int, part: str, whole: str) -> Row:
    def measure(record: Record) -> float:
        return 100 * sum(_of_class(record, clp, part)) / sum(_of_class(record, clp, whole))

    return Row(name, "%", measure)


def _throughput(clp: int) -> Row:
    """Mean payload a connection of a class delivers, duplicates counted once."""
    return Row(
        f"throughput of CLP{clp}",
        "Mbit/s",
        lambda record: statistics.mean(_of_class(record, clp, "goodput")) / 1e6,
    )


def _of_class(record: Record, clp: int, column: str) -> list[float]:
    values = zip(record.flows["clp"], record.flows[column], strict=True)
    return [float(value) for priority, value in values if priority == clp]


LOSS, RETRANSMITTED, THROUGHPUT = ((make(0), make(1)) for make in (_loss, _retransmitted, _throughput))


def _settings(switch: str, sources: int, buffer: int, delay: str) -> Mapping[str, Any]:
    settings: dict[str, Any] = {
        "topology.sources": sources,
        "link.delay": delay,
        "switch.buffer": f"{buffer} cells",
        "switch.discard.policy": POLICIES[switch],
        "flow": [{"name": f"{sources // 2 + 1} .. {sources}", "vc": {"clp": True}}],
    }
    if switch == "WFQ":
        # The simulator's WFQ has a queue of fixed size for each VC instead of a shared buffer.
        settings["switch.scheduler.discipline"] = "scfq"
        settings["switch.vc-buffer"] = f"{buffer // sources} cells"
    return settings


def _figure(
    name: str,
    title: str,
    rows: Iterable[Row],
    delay: str,
    *,
    sources: Sequence[int],
    buffers: Sequence[int],
) -> Table:
    """Curves over the sources or over the buffer, whichever has several steps."""
    over_sources = len(sources) > 1
    columns = tuple(
        Column(
            f"{switch}, {number if over_sources else buffer}",
            _settings(switch, number, buffer, delay),
            switch,
            str(number if over_sources else buffer),
        )
        for switch in SWITCHES
        for number in sources
        for buffer in buffers
    )
    parameter = "sources" if over_sources else "buffer (cells)"
    return Table(name, title, "base.toml", parameter, columns, tuple(rows), view="curves")


BY_RATE = (*RETRANSMITTED, *THROUGHPUT)
EVERY = (*LOSS, *BY_RATE)
FIGURES = (
    _figure("Figure 4a", "CLR in the LAN, 10 sources", LOSS, LAN, sources=(10,), buffers=BUFFERS),
    _figure("Figure 4b", "CLR in the WAN, 20 sources", LOSS, WAN, sources=(20,), buffers=BUFFERS),
    _figure(
        "Figure 5a", "PRR and throughput in the LAN, 10 sources", BY_RATE, LAN, sources=(10,), buffers=BUFFERS
    ),
    _figure(
        "Figure 5b", "PRR and throughput in the WAN, 20 sources", BY_RATE, WAN, sources=(20,), buffers=BUFFERS
    ),
    _figure("Figure 6", "Number of sources, WAN, 4800 cells", EVERY, WAN, sources=SOURCES, buffers=(4800,)),
    _figure("Figure 7", "Number of sources, LAN, 3600 cells", EVERY, LAN, sources=SOURCES, buffers=(3600,)),
)

# The combinations of Table 1: tagging, buffer management by VC, queuing by VC.
COMBINATIONS = {
    1: (False, False, False),
    2: (True, False, False),
    3: (False, True, False),
    4: (False, False, True),
    5: (True, True, False),
    6: (False, True, True),
    7: (True, False, True),
    8: (True, True, True),
}
GUARANTEES = {
    "VC 1, modest": 9.5,
    "VC 2, modest": 19.0,
    "VC 3, TCP": 2.0,
    "VC 4, TCP": 10.0,
    "VC 5, TCP": 60.0,
    "VC 6, greedy": 2.0,
}
"""What each VC of table-1.toml is entitled to, in Mbit/s of cells: its MCR, or what it sends if less."""
PERIOD = 20.0
"""Seconds that table-1.toml measures."""
WORST = "worst served VC"
SHARED = (
    Row("index of excess, equal parts", "", lambda record: record.metric("excess_fairness_equal")),
    Row("index of excess, parts by MCR", "", lambda record: record.metric("excess_fairness_weighted")),
)
"""Jain's index of what the greedy VCs get beyond their guarantees, over their fair parts."""


def _served(vc: int) -> Callable[[Record], float]:
    """Cells of whole frames that reach the destination, in per cent of what the VC is entitled to."""
    entitled = list(GUARANTEES.values())[vc]
    return lambda record: 100 * record.flows["cells_useful"][vc] * 424 / PERIOD / 1e6 / entitled


def _worst(record: Record) -> float:
    return min(_served(vc)(record) for vc in range(len(GUARANTEES)))


def _combination(number: int) -> Column:
    tagging, management, queuing = COMBINATIONS[number]
    settings = {
        "vc.policing": "tag" if tagging else "none",
        "switch.discard.policy": "wba" if management else "double-epd",
        "switch.scheduler.discipline": "scfq" if queuing else "fifo",
    }
    parts = ("tagging", "management", "queuing")
    chosen = [part for part, used in zip(parts, COMBINATIONS[number], strict=True) if used]
    return Column(f"{number}: {' + '.join(chosen) or 'none'}", settings)


ALTERNATIVES = {number: _combination(number) for number in COMBINATIONS}
UNCHECKED = {"kind": "cbr", "rate": "149.76 Mbit/s", "frame": 13}


def _alternatives(name: str, greedy: str, settings: Mapping[str, Any]) -> Table:
    return Table(
        name,
        f"Alternatives of implementing GFR: what VCs get of their guarantees beside {greedy}",
        "table-1.toml",
        "combination",
        tuple(Column(one.name, {**one.settings, **settings}) for one in ALTERNATIVES.values()),
        (
            *(Row(name, "%", _served(vc)) for vc, name in enumerate(GUARANTEES)),
            Row(WORST, "%", _worst),
            *SHARED,
        ),
        transposed=True,
    )


TABLES = (
    _alternatives("Table 1", "greedy TCP", {}),
    _alternatives("Table 1b", "a source without control", {"flow.4.traffic": UNCHECKED}),
)
