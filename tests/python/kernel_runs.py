"""The recorded kernel runs of `tests/kernel`, and the same flows over the same bottleneck in celltrain."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import celltrain as ct

KERNEL = Path(__file__).parents[1] / "kernel"
RECORDED = KERNEL / "recorded"
NETWORK = KERNEL / "bottleneck.toml"

CONGESTION: dict[str, dict[str, Any]] = {
    "cubic": {},
    "reno": {"congestion-control": "reno", "hystart": False},
    "bbr": {"stack": "linux-bbr"},
}
"""What makes the preset `linux` the kernel's sender of that name."""
NO_SACK = {
    "recovery": "newreno",
    "newreno-impatient": False,
    "newreno-full-ack": "deflated",
    "sack": False,
    "dsack": False,
    "limited-transmit": True,
}
"""The kernel without SACK: NewReno whose timer every partial ACK restarts.

It ends with its whole window, whatever is in flight.
"""

WITHIN = 0.1
"""So long after its time, in seconds, a flow that joins another starts at the latest: one run is one draw."""

SECOND_FLOW = """
[[flow]]
name = "second"
from = "sender"
to = "receiver"
tcp = { congestion-control = "reno", hystart = false }

[link]
"""


@dataclass(frozen=True)
class Row:
    """A flow of a recorded run; rates are in Mbit/s."""

    run: str
    flow: int
    congestion: str
    sack: bool
    buffer: int
    rtt_ms: float
    loss: float
    mark: int
    """Packets in the buffer at which arriving ones are marked; 0 is a run without ECN."""
    bytes: int
    """What is sent; 0 is without end."""
    seconds: float
    start: float
    completion: float
    """Seconds until the last byte of a transfer came; nan without an end."""
    throughput: float
    steady: float
    """Over the second half of the run."""
    retransmitted: int
    timeouts: int
    marked: int
    late_share: float
    late_rtt_ms: float

    @property
    def path(self) -> str:
        """What is the same in the runs that differ in their seed only."""
        return self.run.partition("-seed")[0]


@dataclass(frozen=True)
class Found:
    """What a flow did in celltrain, the mean over replications."""

    throughput: float
    retransmitted: float
    timeouts: float
    marked: float
    """Packets marked for all flows."""
    completion: float
    """As of a row, the mean of the replications."""


def recorded() -> list[Row]:
    """Every flow of every recorded run."""
    with (RECORDED / "runs.csv").open(newline="") as file:
        return [_row(row) for row in csv.DictReader(file)]


def single(congestion: Iterable[str], sack: bool, lossy: bool) -> list[Row]:
    """The flows that were alone."""
    wanted = set(congestion)
    return [
        row
        for row in recorded()
        if row.congestion in wanted
        and row.sack == sack
        and (row.loss > 0) == lossy
        and not row.mark
        and not row.bytes
        and "cubic-reno" not in row.run
    ]


def marked() -> list[Row]:
    """The flows that were alone, over a buffer that marks."""
    return [row for row in recorded() if row.mark]


def transfers() -> list[Row]:
    """The flows that ended."""
    return [row for row in recorded() if row.bytes]


def shared() -> list[tuple[Row, Row]]:
    """CUBIC and Reno over one bottleneck, run by run."""
    rows = [row for row in recorded() if row.run.startswith("cubic-reno")]
    return list(zip(rows[::2], rows[1::2], strict=True))


def scenario(row: Row) -> ct.Scenario:
    """The flow of a row alone on its path."""
    keys = {**CONGESTION[row.congestion], **({} if row.sack else NO_SACK)}
    marks = _marks(row) if row.mark else {}
    ends = {"traffic": {"kind": "finite", "bytes": f"{row.bytes} B"}} if row.bytes else {}
    tcp = {f"tcp.{key}": value for key, value in keys.items()}
    return ct.load(NETWORK).with_({**_path(row), **marks, **ends, **tcp})


def competing(first: Row, second: Row) -> ct.Scenario:
    """CUBIC as the first flow and Reno as the second; the one that starts later does so within `WITHIN`."""
    text = NETWORK.read_text().replace("\n[link]\n", SECOND_FLOW)
    earliest = min(first.start, second.start)
    start = {
        f"flow.{index}.start": f"{row.start} s .. {row.start + WITHIN * (row.start > earliest)} s"
        for index, row in enumerate((first, second))
    }
    return ct.Scenario.from_toml(text).with_({**_path(first), **start})


def run(case: ct.Scenario, replications: int = 1) -> list[Found]:
    """What each flow of a scenario does."""
    result = ct.run(case, replications=replications)
    found = []
    marked = result.ports["frames_marked"].sum() / replications
    for _, flow in result.flows.group_by("flow", maintain_order=True):
        columns = ("goodput", "segments_retransmitted", "timeouts", "completion_time")
        goodput, retransmitted, timeouts, completion = flow.select(columns).mean().row(0)
        ended = float("nan") if completion is None else float(completion)
        found.append(Found(goodput / 1e6, retransmitted, timeouts, float(marked), ended))
    return found


def _path(row: Row) -> dict[str, Any]:
    delay = f"{row.rtt_ms / 2} ms"
    return {
        "duration": f"{row.seconds:g} s",
        "port.0.buffer": f"{row.buffer} packets",
        "topology.link.1.delay": delay,
        "topology.link.1.loss": row.loss,
        "topology.link.2.delay": delay,
    }


def _marks(row: Row) -> dict[str, Any]:
    """Frames that would begin above a threshold are marked."""
    return {
        "port.0.discard": {"policy": "epd", "epd": {"threshold": f"{row.mark} packets", "ecn": True}},
        "tcp.ecn": True,
    }


def _row(row: dict[str, str]) -> Row:
    return Row(
        run=row["run"],
        flow=int(row["flow"]),
        congestion=row["congestion"],
        sack=row["sack"] == "True",
        buffer=int(row["buffer"]),
        rtt_ms=float(row["rtt_ms"]),
        loss=float(row["loss"]),
        mark=int(row["mark"]),
        bytes=int(row["bytes"]),
        seconds=float(row["seconds"]),
        start=float(row["start"]),
        completion=float(row["completion_s"] or "nan"),
        throughput=float(row["throughput_mbit"]),
        steady=float(row["steady_mbit"]),
        retransmitted=int(row["retransmitted"]),
        timeouts=int(row["timeouts"]),
        marked=int(row["marked"]),
        late_share=float(row["late_share"]),
        late_rtt_ms=float(row["late_rtt_ms"]),
    )
