"""What finished runs measured, in a temporary file: there is more of it than a reproduction needs at once."""

import os
import pickle
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

from celltrain.errors import InputError
from celltrain.results import Record

__all__ = ["KeptRun", "Spool"]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that has ended, and where in a spool the rest of it is."""

    replication: int
    fingerprint: str
    cell_hops: int
    spool: "Spool"
    place: int
    series: int | None
    """The place of its time series; None where they were not kept."""

    def record(self, *, series: bool = False) -> Record:
        """What it measured, with its time series if they are wanted and were kept."""
        found: Record = self.spool.get(self.place)
        if not series or self.series is None:
            return found
        return replace(found, series=self.spool.get(self.series))


class Spool:
    """A file without a name that goes with this object, also when the process is killed."""

    def __init__(self) -> None:
        self._file = TemporaryFile(prefix="celltrain-")  # noqa: SIM115 - it stays open as long as this object
        weakref.finalize(self, _close, self._file)

    def keep(self, record: Record, *, series: bool) -> KeptRun:
        """Takes in a record, with its time series or without them.

        Raises:
            InputError: the disk is full or cannot be written.
        """
        rest = replace(record, series=[])
        return KeptRun(
            record.replication,
            record.fingerprint,
            record.cell_hops,
            self,
            self._put(rest),
            self._put(record.series) if series and record.series else None,
        )

    def get(self, place: int) -> Any:
        """What was taken in at a place."""
        self._file.seek(place)
        return pickle.load(self._file)

    def _put(self, content: object) -> int:
        try:
            place = self._file.seek(0, os.SEEK_END)
            pickle.dump(content, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"cannot keep what the runs measured in {gettempdir()}: {error.strerror or error} "
                "(TMPDIR names another folder)"
            ) from error
        return place


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what a full disk did not take is not wanted any more
        file.close()
