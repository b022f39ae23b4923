"""The frames of a sweep, made of the stored runs in the order of points and replications.

The order of the runs and the sizes of the parts are taken from the plan and the data alone, so the files have
the same bytes however the runs came about.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.folder import Folder
from celltrain.results import Record, record_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FRAMES", "StoredRun", "write_frames"]

FRAMES = {
    "summary": "a row a run and metric: point, parameters, replication, metric, value, unit",
    "flows": "a row a run and flow: point, parameters, replication, then the columns of a run's flows",
    "ports": "a row a run and port: point, parameters, replication, then the columns of a run's ports",
    "runs": "a row a run: point, parameters, replication, seed, fingerprint, cell-hops",
}
"""The frames of a sweep and what they hold."""

PART_ROWS = 100_000
"""Rows of flows and ports that are held in memory at once."""

PART_RUNS = 500
"""Runs that are held in memory at once."""

ROW_GROUP = 65_536
"""Rows of a Parquet row group. A fixed size makes the bytes independent of the machine."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with the columns that name it."""

    identity: Mapping[str, Any]
    seed: int
    record: Record


def write_frames(runs: Iterable[StoredRun], folder: Folder) -> None:
    """Writes every frame as Parquet, with a few thousand runs in memory at a time."""
    with _scratch(folder.path) as scratch:
        parts = 0
        for number, part in enumerate(_parts(runs)):
            for name, frame in _frames(part).items():
                frame.write_parquet(scratch / f"{name}-{number}.parquet")
            parts = number + 1
        for name in FRAMES:
            files = [scratch / f"{name}-{number}.parquet" for number in range(parts)]
            folder.write(f"{name}.parquet", _join(files, scratch / f"{name}.parquet").replace)


def _parts(runs: Iterable[StoredRun]) -> Iterator[list[StoredRun]]:
    part: list[StoredRun] = []
    rows = 0
    for run in runs:
        part.append(run)
        rows += sum(len(next(iter(table.values()), ())) for table in (run.record.flows, run.record.ports))
        if rows >= PART_ROWS or len(part) == PART_RUNS:
            yield part
            part, rows = [], 0
    if part:
        yield part


def _frames(part: Sequence[StoredRun]) -> "dict[str, pl.DataFrame]":
    import polars as pl

    frames = {"runs": _run_frame(part)}
    for name in ("summary", "flows", "ports"):
        # Runs of different policies may count different things.
        pieces = [
            record_frame(name, [run.record for run in same], [run.identity for run in same])
            for same in _alike(name, part)
        ]
        frames[name] = pl.concat(pieces, how="diagonal_relaxed")
    return frames


def _alike(name: str, part: Sequence[StoredRun]) -> Iterator[list[StoredRun]]:
    """Neighbours whose frames have the same columns."""

    def columns(run: StoredRun) -> tuple[str, ...]:
        return () if name == "summary" else tuple(getattr(run.record, name))

    for _, group in groupby(part, columns):
        yield list(group)


def _run_frame(part: Sequence[StoredRun]) -> "pl.DataFrame":
    import polars as pl

    rows = [
        {
            **run.identity,
            "replication": run.record.replication,
            "seed": run.seed,
            "fingerprint": run.record.fingerprint,
            "cell_hops": run.record.cell_hops,
        }
        for run in part
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _join(files: Sequence[Path], whole: Path) -> Path:
    import polars as pl

    parts = [pl.scan_parquet(file) for file in files]
    pl.concat(parts, how="diagonal_relaxed").sink_parquet(whole, row_group_size=ROW_GROUP)
    return whole


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A sub-folder for parts; what a killed process left there is removed first."""
    place = folder / ".parts"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
