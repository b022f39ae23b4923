"""What a batch of runs measured, as it travels and is stored: which runs they are, and Arrow tables."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from celltrain.experiment import Task
from celltrain.results import Record, record_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT", "TABLES", "Entry", "Held", "Run", "entries_of"]

FORMAT = 4
"""The format of batches and entries. It grows when workers of another format could not be understood."""

TABLES = ("summary", "flows", "ports")
"""The tables that every entry has."""

EXTRAS = ("events", "series", "distributions")
"""The tables of runs that recorded more. A time series is one row, its samples are bytes."""

_SERIES = ("entity", "metric", "unit", "t", "value")


class Run(NamedTuple):
    """A finished run."""

    key: str
    """The key of its task: its scenario's, and what was recorded."""
    replication: int
    fingerprint: str
    cell_hops: int


@dataclass(frozen=True)
class Held:
    """A run that stays in memory as it is."""

    task: Task
    record: Record

    @property
    def runs(self) -> tuple[Run, ...]:
        """The run."""
        return (_run(self.task, self.record),)


@dataclass(frozen=True)
class Entry:
    """Runs of one batch that counted the same things; small enough to come back from another machine."""

    seed: int
    runs: tuple[Run, ...]
    units: Mapping[str, str]
    """The units of the columns of flows and ports."""
    tables: Mapping[str, bytes]
    """The frames of `TABLES` and `EXTRAS` as Arrow streams. Their column `run` is a place in `runs`."""

    @property
    def about(self) -> str:
        """The runs and the units as JSON."""
        return json.dumps([self.runs, self.units], separators=(",", ":"))

    @staticmethod
    def of(seed: int, about: str, tables: Mapping[str, bytes]) -> "Entry":
        """The entry with such an `about`."""
        runs, units = json.loads(about)
        return Entry(seed, tuple(Run(*run) for run in runs), units, tables)

    def checksum(self, version: str) -> bytes:
        """A hash of everything in it, and of the version that made it."""
        return checksum((version, str(self.seed), self.about), self.tables)

    @cached_property
    def frames(self) -> "dict[str, pl.DataFrame]":
        """The tables as frames, in the order of the runs; each is decoded when it is first used."""
        return _Decoded(self.tables)

    @cached_property
    def ends(self) -> dict[str, list[int]]:
        """For each table of every run where the rows of each run end."""
        return {name: self._ends(name) for name in TABLES}

    def _ends(self, name: str) -> list[int]:
        import numpy as np

        frame = self.frames[name]
        if "run" not in frame.columns:  # no run has a row
            return [0] * len(self.runs)
        places = np.arange(len(self.runs))
        found: list[int] = np.searchsorted(frame["run"].to_numpy(), places, side="right").tolist()
        return found

    def height(self, place: int) -> int:
        """How many flows and ports a run has, together."""
        ends = (self.ends["flows"], self.ends["ports"])
        return sum(end[place] - (end[place - 1] if place else 0) for end in ends)

    def rows(self, name: str, begin: int, end: int) -> "pl.DataFrame":
        """The rows of some runs in a table."""
        ends = self.ends[name] if name in TABLES else self._ends(name)
        first = ends[begin - 1] if begin else 0
        return self.frames[name].slice(first, ends[end - 1] - first)

    def record(self, place: int, *, series: bool = True) -> Record:
        """What one of the runs measured, as when it had just ended; without its time series on demand."""
        run = self.runs[place]
        columns = {
            name: self._columns(name, place)
            for name in (*TABLES, "events", "distributions")
            if name in self.tables
        }
        summary = columns["summary"]
        wanted = series and "series" in self.tables
        return Record(
            run.replication,
            run.fingerprint,
            run.cell_hops,
            list(zip(summary["metric"], summary["value"], summary["unit"], strict=True)),
            columns["flows"],
            columns["ports"],
            self._series(place) if wanted else [],
            dict(self.units),
            columns.get("events", {}),
            distributions=columns.get("distributions", {}),
        )

    def _series(self, place: int) -> list[tuple[str, str, str, bytes, bytes]]:
        rows = self.rows("series", place, place + 1)
        if len(self.runs) == 1:
            del self.frames["series"]  # the largest table, of which nobody else wants anything
        *names, times, values = (rows[name] for name in _SERIES)
        known: dict[bytes, bytes] = {}
        # Most series are sampled at the same times: those share one object, as when the run had just ended.
        shared = [known.setdefault(one, one) for one in times]
        return list(zip(*(name.to_list() for name in names), shared, values.to_list(), strict=True))

    def _columns(self, name: str, place: int) -> dict[str, Sequence[Any]]:
        # Column by column: polars leaves columns out in its threads, and waits for them.
        rows = self.rows(name, place, place + 1).get_columns()
        return {column.name: _values(column) for column in rows if column.name not in ("run", "replication")}


def _values(column: "pl.Series") -> Sequence[Any]:
    """The values of a column of a record, as the core gives them."""
    import polars as pl

    kind = "q" if column.dtype == pl.Int64 else "d" if column.dtype == pl.Float64 else None
    if kind is None or column.null_count():
        return column.to_list()
    return array(kind, column.to_numpy().tobytes())


class _Decoded(dict[str, Any]):
    """Frames that are decoded when they are first looked up."""

    def __init__(self, tables: Mapping[str, bytes]) -> None:
        super().__init__()
        self._tables = tables

    def __missing__(self, name: str) -> "pl.DataFrame":
        import polars as pl

        frame = self[name] = pl.read_ipc_stream(self._tables[name])
        return frame


def checksum(words: Iterable[str], tables: Mapping[str, bytes]) -> bytes:
    """A hash of texts and named tables."""
    found = blake2b(digest_size=16)
    parts = [*(word.encode() for word in words), *(p for n, t in tables.items() for p in (n.encode(), t))]
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()


def entries_of(tasks: Sequence[Task], records: Sequence[Record]) -> list[Entry]:
    """The entries of runs in their order; neighbours that counted the same things share one."""
    entries = []
    for _, group in groupby(zip(tasks, records, strict=True), _counted):
        same = list(group)
        kept = [record for _, record in same]
        runs = tuple(_run(task, record) for task, record in same)
        entries.append(Entry(same[0][0].seed, runs, kept[0].units, dict(_tables(kept))))
    return entries


def _run(task: Task, record: Record) -> Run:
    return Run(task.key, record.replication, record.fingerprint, record.cell_hops)


def _counted(run: tuple[Task, Record]) -> tuple[Any, ...]:
    task, record = run
    return (
        task.seed,
        task.trace,
        *map(tuple, (record.flows, record.ports, record.events, record.distributions)),
    )


def _tables(records: Sequence[Record]) -> Iterator[tuple[str, bytes]]:
    """The tables of records, encoded.

    Nothing here may make polars start its threads: in a process that was forked they would never come.
    """
    places: list[dict[str, Any]] = [{"run": place} for place in range(len(records))]
    for name in TABLES:
        yield name, _stream(record_frame(name, records, places))
    if any(record.events for record in records):
        yield "events", _stream(record_frame("events", records, places))
    if any(record.series for record in records):
        yield "series", _stream(_packed_series(records))
    if any(record.distributions for record in records):
        yield "distributions", _stream(record_frame("distributions", records, places))


def _packed_series(records: Sequence[Record]) -> "pl.DataFrame":
    import polars as pl

    rows = [(place, *series) for place, record in enumerate(records) for series in record.series]
    kinds = (pl.Int64, pl.String, pl.String, pl.String, pl.Binary, pl.Binary)
    schema = dict(zip(("run", *_SERIES), kinds, strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


def _stream(frame: "pl.DataFrame") -> bytes:
    stream = BytesIO()
    frame.write_ipc_stream(stream, compression="zstd")
    return stream.getvalue()
