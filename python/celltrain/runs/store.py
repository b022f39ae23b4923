"""The store of an experiment: what every finished run measured, in one SQLite file of the results folder.

A batch of runs is one row of the table `batches`, written in a transaction of its own as soon as the batch
ends. So whatever kills the process, what was written is whole. A row names the version that made it, the
seed, the runs and the units of their columns (JSON in `about`), and has the tables of what they measured as
Arrow streams. Its checksum covers everything else: a row that is not as it was written counts as runs that
were never made.
"""

import errno
import os
import sqlite3
import weakref
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, NamedTuple

from celltrain.errors import InputError
from celltrain.experiment import Places, Task
from celltrain.files.locking import holder
from celltrain.results import Record, core_version
from celltrain.runs.entry import EXTRAS, TABLES, Entry, Run, checksum
from celltrain.text import counted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FILE", "LOGS", "Batch", "Store", "Stretch", "batches", "remove"]

FILE = "runs.sqlite"
"""The name of the store in a results folder."""

LOGS = ("-wal", "-journal", "-shm")
"""What SQLite adds to the name for files of changes under way."""

_COLUMNS = (*TABLES, *EXTRAS)
_TABLE = f"""
CREATE TABLE IF NOT EXISTS batches (
    id INTEGER PRIMARY KEY,
    celltrain TEXT NOT NULL,
    seed INTEGER NOT NULL,
    about TEXT NOT NULL,
    {", ".join(f"{name} BLOB" for name in _COLUMNS)},
    checksum BLOB NOT NULL
)"""
_FIELDS = f"celltrain, seed, about, checksum, {', '.join(_COLUMNS)}"

_PLACE_BITS = 20
"""Bits of a run's place in a batch; the batch's number is above them."""
_ABSENT = -1

_ERRNO = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_TOOBIG: errno.EFBIG,
}
"""What SQLite says of a disk, as the system would have said it; anything else is an error of the device."""

_OF_THE_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY)
"""What SQLite says when the file may be whole and cannot be used now."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Replications of a scenario that follow each other in one batch."""

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


class Batch(NamedTuple):
    """A row of the table `batches`."""

    number: int
    version: str
    entry: Entry | None
    """The runs without their tables; None if the row is not as it was written."""
    octets: int
    """What it takes in the file, about."""


class Store:
    """The runs of one seed and one version in a results folder.

    The memory that it takes is an index of eight bytes per run, and what a dictionary takes for a scenario.
    """

    def __init__(self, folder: Path | None, seed: int, begin: Callable[[], object] = lambda: None) -> None:
        """Opens the store of a folder, or one in a temporary file that goes with this object.

        Args:
            folder: the folder, which this process has claimed; None for a temporary file.
            seed: the master seed of the runs that count.
            begin: called before the first run is written.
        """
        self.path = None if folder is None else folder / FILE
        self._seed = seed
        self._begin = begin
        self._index: dict[str, array[int]] = {}
        """For each scenario and replication the number of its batch, then its place in it."""
        self._recent = lru_cache(maxsize=2)(self._load)
        self._connection: sqlite3.Connection | None = None
        self._is_written = False
        self.others: Counter[str] = Counter()
        """Runs in the folder that another version made, by that version."""
        self.damaged = 0
        """Batches that were not as they were written; they are gone."""
        if self.path is not None and self.path.is_symlink():
            raise InputError(f"{self.path} is a link, and results are written to files of their own")
        if self.path is not None and self.path.exists():
            self._take_in()

    def __contains__(self, run: tuple[str, int]) -> bool:
        key, replication = run
        places = self._index.get(key, ())
        return replication < len(places) and places[replication] != _ABSENT

    def __len__(self) -> int:
        """How many runs it has."""
        return sum(place != _ABSENT for places in self._index.values() for place in places)

    def has(self, task: Task) -> bool:
        """Whether a task need not be made. Captures are not kept here."""
        return task.captures == Places() and (task.key, task.replication) in self

    def append(self, entry: Entry) -> None:
        """Writes an entry; when this returns, the death of this process does not take it back.

        Raises:
            OSError: the disk is full or cannot be written; what was there before is still whole.
        """
        assert entry.seed == self._seed, "a store is asked for the runs of one seed"
        connection = self._writer()
        version = core_version()
        values = (version, entry.seed, entry.about, entry.checksum(version))
        marks = ", ".join("?" * (4 + len(_COLUMNS)))
        with self._disk_errors():
            cursor = connection.execute(
                f"INSERT INTO batches ({_FIELDS}) VALUES ({marks})",
                (*values, *(entry.tables.get(name) for name in _COLUMNS)),
            )
        assert cursor.lastrowid is not None
        self._remember(cursor.lastrowid, entry.runs)

    def stretch(self, key: str, first: int, end: int) -> Stretch:
        """The stored replications from `first` on that follow each other in one batch, up to `end`.

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

    def record(self, key: str, replication: int, *, series: bool = True) -> Record:
        """What a run measured, as when it had just ended; without its time series on demand.

        Raises:
            KeyError: it is not there.
        """
        found = self.stretch(key, replication, replication + 1)
        return found.entry.record(found.begin, series=series)

    def notes(self) -> list[str]:
        """What a user should know of the runs that were there: a line each."""
        lines = [
            f"{_made(count)} made by celltrain {version} and this is {core_version()}: "
            f"{'it is' if count == 1 else 'they are'} left out and made again; "
            "`celltrain store FOLDER --prune` drops what others made"
            for version, count in self.others.items()
        ]
        if self.damaged:
            lines.append(f"{FILE} in this folder was damaged: the runs that are lost are made again")
        return lines

    def check_writable(self) -> None:
        """Makes sure, before anything changes, that its file may be written.

        Raises:
            PermissionError: it may not.
        """
        if self.path is not None and self.path.exists() and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))

    def prune(self) -> None:
        """Drops the runs of other versions, for good."""
        connection = self._writer()
        with self._disk_errors():
            connection.execute("DELETE FROM batches WHERE celltrain <> ?", (core_version(),))
            connection.execute("VACUUM")
        self.others.clear()
        self.seal()

    def rebuild(self) -> None:
        """Writes the file again from what is whole in it.

        Elsewhere in the file, damage does no harm until something is added there.
        """
        if self._connection is None:
            return
        try:
            self._connection.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            self._give_up(error)

    def seal(self, *, series: bool = True) -> None:
        """Forces everything to the disk and into the one file.

        Args:
            series: whether runs with time series stay; without them the file is small, and whoever asks for
                one of those runs later has it made again.
        """
        if self._connection is None or self.path is None:
            return
        with self._disk_errors():
            if not series:
                self._connection.execute("DELETE FROM batches WHERE series IS NOT NULL")
                self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        """Closes the file, where it is one of a folder."""
        self._recent.cache_clear()
        if self._connection is not None and self.path is not None:
            with suppress(sqlite3.Error):  # what a full disk did not take is said where it was written
                self._connection.close()
                _remove_dead_journal(self.path)
            self._connection = None
            self._is_written = False

    def _writer(self) -> sqlite3.Connection:
        """What writes. A store that is only read stays as it is, byte by byte: its checksum is somewhere."""
        if self._connection is not None and self._is_written:
            return self._connection
        self.check_writable()
        self._begin()
        connection = self._connection = self._connection or self._open()
        if self.path is not None:
            with self._disk_errors():
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                for name in _lacking(connection):
                    connection.execute(f"ALTER TABLE batches ADD COLUMN {name} BLOB")
        self._is_written = True
        return connection

    def _open(self) -> sqlite3.Connection:
        """Opens the file. Only this process writes there, so the log of writes needs no shared memory."""
        with self._disk_errors():
            connection = sqlite3.connect(
                "" if self.path is None else self.path, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, connection.close)
            connection.text_factory = lambda text: text.decode(errors="replace")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute(_TABLE)
        return connection

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Gives what SQLite says of the disk as the system's own error.

        Raises:
            InputError: another program holds the file; the message names it where the system tells.
        """
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.DataError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY and self.path is not None:
                raise InputError(
                    f"{self.path} is in use by {holder(self.path)}: close it there, or choose another folder"
                ) from error
            number = _ERRNO.get(code, errno.EIO)
            if code == sqlite3.SQLITE_CANTOPEN and self.path is not None:
                with suppress(FileNotFoundError), self.path.open("rb"):
                    pass  # where it cannot be opened, the system says why
            if self.path is not None:
                raise OSError(number, os.strerror(number)) from error
            raise InputError(
                f"cannot keep what the runs measured in {gettempdir()}: {os.strerror(number)} "
                "(TMPDIR names another folder)"
            ) from error

    def _take_in(self) -> None:
        """Adds the whole batches of a file to the index; a file that is none is removed."""
        assert self.path is not None
        try:
            self._connection = self._open()
            bad = []
            for number, version, entry, _ in batches(self._connection):
                if entry is None:
                    bad.append(number)
                elif version != core_version():
                    self.others[version] += len(entry.runs)
                elif entry.seed == self._seed:
                    self._remember(number, entry.runs)
            self._drop(bad)
        except sqlite3.DatabaseError as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.DatabaseError) -> None:
        """Removes a file that is no store any more.

        Raises:
            OSError: the file may be whole, and the disk is not.
            InputError: another program holds the file.
        """
        assert self.path is not None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
            self.close()
            with self._disk_errors():
                raise error
        self.damaged += 1
        self._index.clear()
        self.others.clear()
        self.close()
        remove(self.path)

    def _drop(self, numbers: Sequence[int]) -> None:
        """Deletes batches that are not as they were written."""
        assert self._connection is not None, "the store is open"
        self.damaged += len(numbers)
        self._connection.executemany("DELETE FROM batches WHERE id = ?", [(number,) for number in numbers])
        if numbers:
            self._connection.execute("VACUUM")

    def _remember(self, number: int, runs: Sequence[Run]) -> None:
        """Adds a batch to the index. Of a run that is there twice, the first counts."""
        first = number << _PLACE_BITS
        for place, run in enumerate(runs):
            places = self._index.setdefault(run.key, array("q"))
            places.extend([_ABSENT] * (run.replication + 1 - len(places)))
            if places[run.replication] == _ABSENT:
                places[run.replication] = first | place

    def _load(self, number: int) -> Entry:
        if self._connection is None:
            raise InputError(
                f"{self.path} is closed: read and write results while their folder is claimed, "
                "or make them without `folder`"
            )
        [(seed, about, *tables)] = self._connection.execute(
            f"SELECT seed, about, {', '.join(_readable(self._connection))} FROM batches WHERE id = ?",
            (number,),
        )
        return Entry.of(seed, about, dict(_present(tables)))


def batches(connection: sqlite3.Connection) -> Iterator[Batch]:
    """Every batch of a file, each compared with its checksum."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'batches'").fetchone():
        return
    columns = ", ".join(_readable(connection))
    for number, version, seed, about, digest, *tables in connection.execute(
        f"SELECT id, celltrain, seed, about, checksum, {columns} FROM batches ORDER BY id"
    ):
        if not isinstance(number, int):  # VACUUM numbers such rows anew
            raise sqlite3.DatabaseError("batches have no numbers")
        kept = dict(_present(tables))
        is_whole = checksum((str(version), str(seed), str(about)), kept) == digest
        octets = len(str(about)) + sum(map(len, kept.values()))
        yield Batch(number, version, Entry.of(seed, about, {}) if is_whole else None, octets)


def _lacking(connection: sqlite3.Connection) -> set[str]:
    """The tables that runs may have and for which a file has no column."""
    return set(_COLUMNS) - {name for _, name, *_ in connection.execute("PRAGMA table_info(batches)")}


def _readable(connection: sqlite3.Connection) -> list[str]:
    """What to read for each of `_COLUMNS`: a file of an older version may lack some."""
    lacking = _lacking(connection)
    return ["NULL" if name in lacking else name for name in _COLUMNS]


def remove(path: Path) -> None:
    """Removes a store, with the log of writes that a killed process left."""
    for suffix in ("", *LOGS):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _remove_dead_journal(path: Path) -> None:
    """Removes the journal of a finished change, which SQLite keeps until it closes the file.

    A process that is killed in between leaves it. SQLite clears its first bytes when the change is finished;
    with those bytes it holds what a reader needs to undo the change, and stays.
    """
    journal = path.with_name(f"{path.name}-journal")
    with suppress(FileNotFoundError):
        with journal.open("rb") as file:
            is_dead = not any(file.read(8))
        if is_dead:
            journal.unlink()


def _present(tables: Sequence[object]) -> Iterator[tuple[str, bytes]]:
    for name, content in zip(_COLUMNS, tables, strict=True):
        if content is not None:
            yield name, content if isinstance(content, bytes) else repr(content).encode()


def _made(count: int) -> str:
    return f"{counted(count, 'run')} in this folder {'was' if count == 1 else 'were'}"
