"""The store of a sweep: what every finished run measured, in files that are only ever appended to.

A sweep writes each batch of runs to `runs/NNNNNN.log` as soon as it ends, and never touches a log of an
earlier session. So whatever kills it, at most the last entry of one log is cut short; entries carry a
checksum, and one that is not whole counts as runs that were never made. An entry is

    "CTR2", length of the payload, its CRC-32 (both 32 bits, little-endian), payload

and the payload is a line of JSON that identifies the runs and gives the lengths of what follows: tables of
what they measured, as Arrow streams (see `entry`). The first entry of a log names the version of celltrain
that wrote it, in such a line alone. So a log can be read without celltrain, and an entry after a damaged one
is found again by its magic number.
"""

import json
import os
import struct
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.results import core_version
from celltrain.sweeps.entry import Entry, Run

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Store", "Stretch"]

FOLDER = "runs"
"""The sub-folder of the logs in a results folder."""

_MAGIC = b"CTR2"
_HEAD = struct.Struct("<4sII")
_BYTE_BITS = 44
"""Bits of a byte's place in a log; the log's number is above them."""
_PLACE_BITS = 20
"""Bits of a run's place in an entry; the entry's number is above them."""
_ABSENT = -1


@dataclass(frozen=True, slots=True)
class Stretch:
    """Replications of a scenario that follow each other in one entry."""

    entry: Entry
    begin: int
    end: int

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, their replications one apart."""
        return self.entry.runs[self.begin : self.end]

    def first(self, count: int) -> "Stretch":
        """The first of them."""
        return Stretch(self.entry, self.begin, self.begin + count)

    def rows(self, name: str) -> "pl.DataFrame":
        """Their rows in a table."""
        return self.entry.rows(name, self.begin, self.end)

    def sample(self, metric: str) -> list[float]:
        """A summary metric in each of them.

        Raises:
            KeyError: one of them did not measure it.
        """
        import polars as pl

        values: list[float] = self.rows("summary").filter(pl.col("metric") == metric)["value"].to_list()
        if len(values) != len(self.runs):
            raise KeyError(metric)
        return values


class Store:
    """The runs of one seed and one version in the logs of a results folder.

    The memory that it takes is an index of eight bytes a run, and what a dictionary takes for a scenario.
    """

    def __init__(self, folder: Path, seed: int, trace: bool) -> None:
        self._folder = folder / FOLDER
        self._identity = (seed, trace)
        self._entries = array("q")
        """The place of every entry: the log's number, then the byte in it."""
        self._index: dict[str, array[int]] = {}
        """For each scenario and replication the number of its entry, then its place in it."""
        self._recent = lru_cache(maxsize=2)(self._load)
        self._readers: dict[int, BufferedReader] = {}
        self._writer: FileIO | None = None
        self._number = 0
        self.others: Counter[str] = Counter()
        """Runs in the folder that another version made, by that version."""
        for path in sorted(self._folder.glob("*.log")):
            self._number = max(self._number, int(path.stem)) if path.stem.isdecimal() else self._number
            self._take_in(path)

    def __contains__(self, run: tuple[str, int]) -> bool:
        key, replication = run
        places = self._index.get(key, ())
        return replication < len(places) and places[replication] != _ABSENT

    def append(self, entry: Entry) -> None:
        """Writes an entry; when this returns, nothing short of the machine's own death takes it back.

        Raises:
            OSError: the disk is full or cannot be written; what was there before is still whole.
        """
        if self._writer is None:
            self._writer = self._new_log()
        place = self._writer.tell()
        _write(self._writer, entry.payload())
        self._remember(self._number, place, entry.runs)

    def stretch(self, key: str, first: int, end: int) -> Stretch:
        """The stored replications from `first` on that follow each other in one entry, up to `end`.

        Raises:
            KeyError: the first of them is not there.
        """
        if (key, first) not in self:
            raise KeyError(key, first)
        places = self._index[key]
        number, begin = divmod(places[first], 1 << _PLACE_BITS)
        count = 1
        while first + count < min(end, len(places)) and places[first + count] == places[first] + count:
            count += 1
        return Stretch(self._recent(number), begin, begin + count)

    def logs(self) -> list[str]:
        """The names of the logs in the results folder."""
        return [f"{FOLDER}/{path.name}" for path in sorted(self._folder.glob("*.log"))]

    def close(self) -> None:
        """Closes the files. A log that was written to is first forced to the disk."""
        if self._writer is not None:
            os.fsync(self._writer.fileno())
            self._writer.close()
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        self._writer = None

    def _new_log(self) -> FileIO:
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            self._number += 1
            try:  # a name of its own, even when two sweeps run in one folder
                log = FileIO(self._folder / _name(self._number), "xb")
            except FileExistsError:
                continue
            _write(log, _line({"celltrain": core_version()}))
            return log

    def _take_in(self, path: Path) -> None:
        """Adds the whole entries of a log to the index."""
        version = ""
        for place, payload in _payloads(path):
            line = json.loads(payload[: payload.index(b"\n")])
            if "celltrain" in line:
                version = line["celltrain"]
            elif version != core_version():
                self.others[version] += len(line["runs"])
            elif (line["seed"], line["trace"]) == self._identity and path.stem.isdecimal():
                self._remember(int(path.stem), place, [Run(*run) for run in line["runs"]])

    def _remember(self, log: int, place: int, runs: Sequence[Run]) -> None:
        """Adds an entry to the index. Of a run that is there twice, the first counts."""
        first = len(self._entries) << _PLACE_BITS
        self._entries.append(log << _BYTE_BITS | place)
        for number, run in enumerate(runs):
            places = self._index.setdefault(run.key, array("q"))
            places.extend([_ABSENT] * (run.replication + 1 - len(places)))
            if places[run.replication] == _ABSENT:
                places[run.replication] = first | number

    def _load(self, number: int) -> Entry:
        log, place = divmod(self._entries[number], 1 << _BYTE_BITS)
        reader = self._readers.get(log)
        if reader is None:
            reader = self._readers[log] = (self._folder / _name(log)).open("rb")
        reader.seek(place)
        _, length, _ = _HEAD.unpack(reader.read(_HEAD.size))
        return Entry.parse(reader.read(length))


def _payloads(path: Path) -> Iterator[tuple[int, bytes]]:
    """The payloads of the whole entries of a log, each with the place of its entry."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            place = data.find(_MAGIC)
            while 0 <= place <= len(data) - _HEAD.size:
                _, length, checksum = _HEAD.unpack_from(data, place)
                start = place + _HEAD.size
                payload = data[start : start + length]
                whole = len(payload) == length and zlib.crc32(payload) == checksum
                if whole:
                    yield place, payload
                place = data.find(_MAGIC, start + length if whole else place + 1)


def _name(number: int) -> str:
    return f"{number:06}.log"


def _line(identity: dict[str, Any]) -> bytes:
    return json.dumps(identity).encode() + b"\n"


def _write(log: FileIO, payload: bytes) -> None:
    rest = memoryview(_HEAD.pack(_MAGIC, len(payload), zlib.crc32(payload)) + payload)
    while rest:
        rest = rest[log.write(rest) :]
