"""Frames as files: Parquet, part by part where a frame is large, CSV and JSON."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.errors import InputError
from celltrain.files.names import misnamed
from celltrain.files.whole import write_whole
from celltrain.registry import Measure, measures

if TYPE_CHECKING:
    import polars as pl

    from celltrain.files.folder import Folder

__all__ = ["ROW_GROUP", "Parts", "frame_writer", "join", "read_parquet", "scan_parquet", "units_of"]

ROW_GROUP = 65_536
"""Rows of a row group in files written part by part: with a fixed size the bytes depend on the data alone."""


COUNTED = "of each row, see counted"
UNIT = "of each row, see unit"
CARRIED = "cells, or packets where links carry packets"

OR_PACKETS = "packets where"
"""What the formulas of columns say that count packets where a link carries these, and else cells."""

OF_ROWS: Mapping[str, Mapping[str, str]] = {
    "summary": {"value": UNIT},
    "series": {"t": "s", "value": UNIT},
    "events": {"t": "s", "position": "B"},
    "distributions": {"low": UNIT, "high": UNIT, "weight": "of each row, see weight_unit"},
    "ports": {"occupancy_max": "of each row, see buffer_unit"},
}
"""The units of columns, by frame, that are no measures or have not one unit in all rows."""


class Parts:
    """The parts of a frame whose columns are known only when all are there: each waits in a file.

    Runs of different policies may count different things, so a part may lack columns of another.
    """

    def __init__(self, scratch: Path, name: str) -> None:
        self._scratch = scratch
        self._name = name
        self._files: list[Path] = []
        self._empty: pl.DataFrame | None = None
        """The columns of all parts so far, without rows."""

    def add(self, part: "pl.DataFrame") -> None:
        """Takes in the part that comes next.

        Raises:
            OSError: the disk is full or cannot be written.
        """
        file = self._scratch / f"{self._name}-{len(self._files)}.parquet"
        write_whole(file, part.write_parquet)
        self._files.append(file)
        self._empty = part.clear() if self._empty is None else _below(self._empty, part.clear())

    def write_to(self, target: "Folder") -> None:
        """Writes the frame to a folder, if there are parts."""
        if (empty := self._empty) is not None:
            widened = (_below(empty, read_parquet(file)) for file in self._files)
            target.write_parts(self._name, widened, empty.schema)


def _below(upper: "pl.DataFrame", lower: "pl.DataFrame") -> "pl.DataFrame":
    """Two frames, one below the other, with the columns of both."""
    import polars as pl

    return pl.concat([upper, lower], how="diagonal_relaxed")


def units_of(frame: str) -> dict[str, str]:
    """The units of the columns of a frame, of those that have one.

    Where the rows of a column differ in their units, it says what tells them.
    """
    units = {one.name: _unit_of(one) for one in measures() if one.frame == frame and one.unit}
    return {**units, **OF_ROWS.get(frame, {})}


def _unit_of(column: Measure) -> str:
    """The unit of a column; of what may count packets instead of cells it says so."""
    if column.unit != "cells":
        return column.unit
    if column.frame == "ports":
        return COUNTED
    return CARRIED if column.frame == "flows" and OR_PACKETS in column.formula else column.unit


def join(
    path: Path, parts: "Iterable[pl.DataFrame]", schema: "Mapping[str, Any]", metadata: dict[str, str]
) -> None:
    """Writes one Parquet file of frames with the columns of `schema`, one of them in memory at a time."""
    from polars.io.plugins import register_io_source

    def read(*_: object) -> "Iterator[pl.DataFrame]":
        yield from parts

    register_io_source(read, schema=schema).sink_parquet(path, row_group_size=ROW_GROUP, metadata=metadata)


def read_parquet(file: Path) -> "pl.DataFrame":
    """The frame of a file; its path is no pattern, whatever is in the names of its folders.

    Raises:
        InputError: its name is not one that Polars takes.
    """
    import polars as pl

    return pl.read_parquet(_found(file), glob=False)


def scan_parquet(file: Path) -> "pl.LazyFrame":
    """As `read_parquet`, of a frame that is not in memory."""
    import polars as pl

    return pl.scan_parquet(_found(file), glob=False)


def _found(file: Path) -> Path:
    """A file as Polars finds it.

    Raises:
        InputError: its name is not one that Polars takes.
    """
    if reason := misnamed(file):
        raise InputError(f"cannot read {file}: {reason}")
    return file.absolute()


def frame_writer(frame: "pl.DataFrame", extension: str) -> Callable[[Path], object]:
    """What writes a frame as "csv" or "json".

    Raises:
        InputError: it is another format.
    """
    writers: dict[str, Callable[[Path], object]] = {"csv": frame.write_csv, "json": frame.write_json}
    if extension not in writers:
        raise InputError(f"unknown format '{extension}': known: {', '.join(writers)}")
    return writers[extension]
