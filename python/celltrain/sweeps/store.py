"""The store of a sweep: what every finished run measured, in files that are only ever appended to.

A sweep writes each run to `runs/NNNNNN.log` as soon as its batch ends, and never touches a log of an earlier
session. So whatever kills it, at most the last entry of one log is cut short; entries carry a checksum, and
one that is not whole counts as a run that was never made. An entry is

    "CTR1", length of the payload, its CRC-32 (both 32 bits, little-endian), payload

and the payload is a line of JSON that identifies the run, then zlib-compressed JSON of what it measured. The
first entry of a log names the version of celltrain that wrote it, in such a line alone. So a log can be read
without celltrain, and an entry after a damaged one is found again by its magic number.
"""

import json
import os
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from celltrain.results import Record, core_version

__all__ = ["Entry", "Store"]

FOLDER = "runs"
"""The sub-folder of the logs in a results folder."""

_MAGIC = b"CTR1"
_HEAD = struct.Struct("<4sII")
_PLACE_BITS = 44
_FIELDS = ("replication", "fingerprint", "cell_hops", "summary", "flows", "ports", "units")


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished run as it is stored; small enough to come back from another machine."""

    key: str
    """The key of its scenario."""
    seed: int
    replication: int
    trace: bool
    cell_hops: int
    body: bytes
    """What it measured, encoded."""

    @staticmethod
    def of_record(key: str, seed: int, trace: bool, record: Record) -> "Entry":
        """The entry of a record; time series are left out."""
        content = json.dumps([getattr(record, field) for field in _FIELDS], separators=(",", ":"))
        body = zlib.compress(content.encode(), 1)
        return Entry(key, seed, record.replication, trace, record.cell_hops, body)

    def payload(self) -> bytes:
        """The bytes that a log holds of it."""
        identity = {"key": self.key, "seed": self.seed, "replication": self.replication, "trace": self.trace}
        return _line(identity) + self.body


class Store:
    """The runs of one seed and one version in the logs of a results folder.

    The memory that it takes is an index of about 150 bytes a run.
    """

    def __init__(self, folder: Path, seed: int, trace: bool) -> None:
        self._folder = folder / FOLDER
        self._identity = (seed, trace)
        self._index: dict[str, dict[int, int]] = {}
        """For each scenario and replication the place of its entry: the log's number, then the byte in it."""
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
        return replication in self._index.get(key, ())

    def append(self, entry: Entry) -> None:
        """Writes a run; when this returns, nothing short of the machine's own death takes it back.

        Raises:
            OSError: the disk is full or cannot be written; what was there before is still whole.
        """
        if self._writer is None:
            self._writer = self._new_log()
        place = self._writer.tell()
        _write(self._writer, entry.payload())
        self._index.setdefault(entry.key, {})[entry.replication] = self._number << _PLACE_BITS | place

    def read(self, key: str, replication: int) -> Record:
        """What a run measured, without time series.

        Raises:
            KeyError: the run is not there.
        """
        number, place = divmod(self._index[key][replication], 1 << _PLACE_BITS)
        reader = self._readers.get(number)
        if reader is None:
            reader = self._readers[number] = (self._folder / _name(number)).open("rb")
        reader.seek(place)
        _, length, _ = _HEAD.unpack(reader.read(_HEAD.size))
        _, body = _split(reader.read(length))
        fields = dict(zip(_FIELDS, json.loads(zlib.decompress(body)), strict=True))
        fields["summary"] = [tuple(row) for row in fields["summary"]]
        return Record(**fields, series=[])

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
            identity, body = _split(payload)
            if not body:
                version = identity["celltrain"]
            elif version != core_version():
                self.others[version] += 1
            elif (identity["seed"], identity["trace"]) == self._identity and path.stem.isdecimal():
                runs = self._index.setdefault(identity["key"], {})
                runs.setdefault(identity["replication"], int(path.stem) << _PLACE_BITS | place)


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


def _split(payload: bytes) -> tuple[dict[str, Any], bytes]:
    line, _, body = payload.partition(b"\n")
    identity: dict[str, Any] = json.loads(line)
    return identity, body


def _write(log: FileIO, payload: bytes) -> None:
    rest = memoryview(_HEAD.pack(_MAGIC, len(payload), zlib.crc32(payload)) + payload)
    while rest:
        rest = rest[log.write(rest) :]
