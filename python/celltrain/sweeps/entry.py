"""What a batch of runs measured, as it travels and is stored: a line that names the runs, then Arrow."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from celltrain.experiment import Task
from celltrain.results import Record, record_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT", "TABLES", "Entry", "Run", "entries_of"]

FORMAT = 3
"""The format of batches and entries. It grows when workers of another format could not be understood."""

TABLES = ("summary", "flows", "ports")
"""The frames that an entry holds: those of a run but its time series."""


class Run(NamedTuple):
    """A finished run."""

    key: str
    """The key of its scenario."""
    replication: int
    fingerprint: str
    cell_hops: int


@dataclass(frozen=True)
class Entry:
    """Runs of one batch that counted the same things; small enough to come back from another machine."""

    seed: int
    trace: bool
    runs: tuple[Run, ...]
    units: Mapping[str, str]
    """The units of the columns of flows and ports."""
    tables: Mapping[str, bytes]
    """The frames of `TABLES` as Arrow streams. Their first column, `run`, is a place in `runs`."""

    def payload(self) -> bytes:
        """The bytes that a log holds of it: a line of JSON, then the Arrow streams one behind the other."""
        line = {
            "seed": self.seed,
            "trace": self.trace,
            "runs": self.runs,
            "units": self.units,
            "tables": {name: len(stream) for name, stream in self.tables.items()},
        }
        return json.dumps(line, separators=(",", ":")).encode() + b"\n" + b"".join(self.tables.values())

    @staticmethod
    def parse(payload: bytes) -> "Entry":
        """The entry of such bytes."""
        end = payload.index(b"\n") + 1
        line = json.loads(payload[:end])
        tables = {}
        for name, length in line["tables"].items():
            tables[name] = payload[end : end + length]
            end += length
        runs = tuple(Run(*run) for run in line["runs"])
        return Entry(line["seed"], line["trace"], runs, line["units"], tables)

    @cached_property
    def frames(self) -> "dict[str, pl.DataFrame]":
        """The tables as frames, in the order of the runs."""
        import polars as pl

        return {name: pl.read_ipc_stream(stream) for name, stream in self.tables.items()}

    @cached_property
    def ends(self) -> dict[str, list[int]]:
        """For each table where the rows of each run end."""
        import numpy as np

        places = np.arange(len(self.runs))
        return {
            name: np.searchsorted(frame["run"].to_numpy(), places, side="right").tolist()
            for name, frame in self.frames.items()
        }

    def height(self, place: int) -> int:
        """How many flows and ports a run has, together."""
        ends = (self.ends["flows"], self.ends["ports"])
        return sum(end[place] - (end[place - 1] if place else 0) for end in ends)

    def rows(self, name: str, begin: int, end: int) -> "pl.DataFrame":
        """The rows of some runs in a table."""
        ends = self.ends[name]
        first = ends[begin - 1] if begin else 0
        return self.frames[name].slice(first, ends[end - 1] - first)


def entries_of(tasks: Sequence[Task], records: Sequence[Record]) -> list[Entry]:
    """The entries of runs in their order; neighbours that counted the same things share one."""
    entries = []
    for _, group in groupby(zip(tasks, records, strict=True), _columns):
        same = list(group)
        runs = [
            Run(task.scenario.key, record.replication, record.fingerprint, record.cell_hops)
            for task, record in same
        ]
        first, kept = same[0][0], [record for _, record in same]
        entries.append(Entry(first.seed, first.trace, tuple(runs), kept[0].units, dict(_tables(kept))))
    return entries


def _columns(run: tuple[Task, Record]) -> tuple[Any, ...]:
    _, record = run
    return tuple(record.flows), tuple(record.ports)


def _tables(records: Sequence[Record]) -> Iterator[tuple[str, bytes]]:
    """The tables of records, encoded.

    Nothing here may make polars start its threads: in a process that was forked they would never come.
    """
    places: list[dict[str, Any]] = [{"run": place} for place in range(len(records))]
    for name in TABLES:
        stream = BytesIO()
        record_frame(name, records, places).write_ipc_stream(stream, compression="zstd")
        yield name, stream.getvalue()
