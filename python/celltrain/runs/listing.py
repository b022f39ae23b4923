"""What the store of a results folder holds, read without a change to anything there."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from celltrain.errors import InputError
from celltrain.files.locking import check_free
from celltrain.runs.store import FILE, LOGS, batches
from celltrain.text import listed

__all__ = ["Kept", "Listing", "listing"]


class Kept(NamedTuple):
    """What a store holds of one version."""

    runs: int
    octets: int
    """What they take in the file, about."""


@dataclass
class Listing:
    """What is in a store, whatever its seed."""

    versions: dict[str, Kept] = field(default_factory=dict)
    """The runs that are as they were written, by the version that made them."""
    damaged: int = 0
    """Batches of runs that are not as they were written."""


def listing(place: Path) -> Listing:
    """What each version made of the runs in a folder.

    Raises:
        InputError: there is no store, it cannot be read, or another process works there.
    """
    file = place / FILE
    if not file.is_file():
        inside = sorted(str(one.parent) for one in place.glob(f"*/{FILE}"))
        others = f"; {listed(inside)} {'has' if len(inside) == 1 else 'have'} one" if inside else ""
        raise InputError(f"{place} holds no runs: there is no {FILE} in it{others}")
    check_free(place)
    found = Listing()
    try:
        with file.open("rb"):
            pass  # of a file that it cannot open, SQLite does not say why
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error
    try:
        with _unchanged(file) as connection:
            for batch in batches(connection):
                if batch.entry is None:
                    found.damaged += 1
                    continue
                runs, octets = found.versions.get(batch.version, Kept(0, 0))
                kept = Kept(runs + len(batch.entry.runs), octets + batch.octets)
                found.versions[batch.version] = kept
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{file} is damaged ({error}): the command that made the folder makes its runs again"
        ) from error
    return found


@contextmanager
def _unchanged(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a store that changes neither it nor its folder.

    SQLite would merge what a killed process left beside the file, so such a store is copied first.
    """
    with TemporaryDirectory() as name:
        logs = [log for suffix in LOGS if (log := file.with_name(file.name + suffix)).exists()]
        if logs:
            for one in (file, *logs):
                shutil.copyfile(one, Path(name, one.name))
            address = Path(name, file.name).as_uri()
        else:
            address = f"{file.resolve().as_uri()}?immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda text: text.decode(errors="replace")
            yield connection
