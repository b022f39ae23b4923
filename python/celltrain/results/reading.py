"""Frames as they are read from a folder: row by row, and with the names that measures have today."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.files import manifests
from celltrain.registry import RENAMED, renamed
from celltrain.results.frames import schema

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CAPTURES", "KeptCaptures", "frame_rows", "has_old_names", "read_frames", "todays_names"]

STRETCH = 1 << 18
"""Rows of a frame that are read at once."""

CAPTURES = "captures/"
"""How the names of captures in a folder begin."""

OLD_NAMES = 1
"""The last format of results folders with other names of measures."""


def frame_rows(frame: "pl.LazyFrame", *columns: str) -> Iterable[tuple[Any, ...]]:
    """Some columns of a frame, row by row; nothing where one of them is not there, as in older results."""
    is_whole = {*columns} <= {*frame.collect_schema()}
    return _rows(frame.select(columns)) if is_whole else ()


def _rows(frame: "pl.LazyFrame") -> Iterator[tuple[Any, ...]]:
    """Every row of a frame, of which `STRETCH` rows are in memory at once."""
    import polars as pl

    height = frame.select(pl.len()).collect().item()
    for begin in range(0, height, STRETCH):
        yield from frame.slice(begin, STRETCH).collect().iter_rows()


class KeptCaptures(Mapping[str, bytes]):
    """The captures in a folder, by file name. Each is read on access."""

    def __init__(self, place: Path, manifest: Mapping[str, Any]) -> None:
        self._place, self._manifest = place, manifest
        names = (name for name in manifests.names_of(manifest) if name.startswith(CAPTURES))
        self._names = dict.fromkeys(name.removeprefix(CAPTURES) for name in names)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        manifests.verify(self._place, f"{CAPTURES}{name}", self._manifest)
        return (self._place / CAPTURES / name).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_frames(place: Path, manifest: Mapping[str, Any]) -> "Callable[[str], pl.DataFrame]":
    """What reads the frames of `FRAMES` in a folder by their names; names of older formats become today's."""
    return partial(_read_frame, place, manifest)


def _read_frame(place: Path, manifest: Mapping[str, Any], name: str) -> "pl.DataFrame":
    import polars as pl

    found = manifests.read_frame(place, manifest, name)
    if found is None:
        return pl.DataFrame(schema=schema(name))
    return todays_names(name, found.lazy(), manifest).collect()


def has_old_names(manifest: Mapping[str, Any]) -> bool:
    """Whether a folder was written when some measures had other names."""
    return bool(manifest.get("format", manifests.FORMAT) <= OLD_NAMES)


def todays_names(name: str, frame: "pl.LazyFrame", manifest: Mapping[str, Any]) -> "pl.LazyFrame":
    """A frame of a folder with today's names of its metrics and columns."""
    import polars as pl

    if not has_old_names(manifest):
        return frame
    columns = frame.collect_schema().names()
    if name == "summary":
        return frame.with_columns(pl.col("metric").replace(RENAMED[name]))
    return frame.rename(renamed(name, columns))
