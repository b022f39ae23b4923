"""The results folder: claimed before a run, written file by file, complete once its manifest says so."""

import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from celltrain import arguments, text
from celltrain.errors import InputError
from celltrain.files.locking import LOCK, locked, uninterrupted
from celltrain.files.manifests import (
    FORMAT,
    LISTS,
    MANIFEST,
    digest,
    is_sealed,
    load,
    names_of,
    sealed,
    verify,
)
from celltrain.files.names import misnamed
from celltrain.files.parquet import frame_writer, join, units_of
from celltrain.files.whole import DISK_ERRORS, TEMPORARY, write_whole

if TYPE_CHECKING:
    import polars as pl

    from celltrain.runs.store import Store

__all__ = [
    "LEFT",
    "REPORT",
    "Folder",
    "claim",
    "claim_out",
    "remove_results",
]


Note = Callable[[str], None]

LEFT = "the runs that ended are kept, and the same command goes on from there"
"""What an error says that stops an experiment with a folder."""


_TABLES = (".parquet", ".csv", ".json")

REPORT = "report.html"
"""The report of an experiment; what it says depends on the version of celltrain that wrote it, too."""

_SHOWN = ("name", "measures", "until_clear")
"""What of a manifest report and pictures show, beside the tables."""

_POLARS_DISK_ERROR = re.compile(r"(?:.*IO error: )?(.+) \(os error (\d+)\)")


class Folder:
    """A results folder that this process may write.

    Every file is written under a temporary name, forced to the disk and renamed. What comes first marks the
    folder incomplete, `finish` completes it and removes the files of earlier results that were not written
    again, unless it is told to keep them.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        key: str,
        earlier: Mapping[str, Any],
        asked: Mapping[str, Any] | None = None,
        note: Note = warnings.warn,
    ) -> None:
        self.path = path
        self._note = note
        self._store: Store | None = None
        self._asked = {name: value for name, value in (asked or {}).items() if name == "seed"}
        self._identity = {"kind": kind, "key": key}
        self._earlier: list[str] = names_of(earlier)
        self._was_complete = earlier.get("complete") is True
        self._earlier_checksums = _mapping(earlier, "checksums")
        self._earlier_origins = _mapping(earlier, "origins")
        self._earlier_shown = [earlier.get(name) for name in _SHOWN]
        self._keeps_others = False
        self._otherwise: dict[str, Callable[[], str]] = {}
        self._files: list[str] = []
        self._checksums: dict[str, str] = {}
        self._origins: dict[str, str] = {}
        self.is_of_another = False
        """Whether it holds the runs of another experiment; they go as soon as anything is written."""
        self.about: dict[str, Any] = {}
        """What the metadata of Parquet files says of the experiment: its name, key, seed and version."""

    def write(self, name: str, writer: Callable[[Path], object]) -> Path:
        """Has `writer` write a temporary file, then gives it its name, which may lie in a sub-folder."""
        self._begin()
        if name not in self._files:
            self._files.append(name)
        if name == REPORT:
            self._origins[name] = _writer()
        return self._replace(name, writer)

    def write_text(self, name: str, content: str) -> Path:
        """Writes a text file (UTF-8)."""
        return self.write(name, lambda path: path.write_text(content, encoding="utf-8"))

    def write_bytes(self, name: str, content: bytes) -> Path:
        """Writes a file of bytes."""
        return self.write(name, lambda path: path.write_bytes(content))

    def write_json(self, name: str, content: object) -> Path:
        """Writes an indented JSON file."""
        return self.write_text(name, _json(content))

    def write_frames(self, frames: "Mapping[str, pl.DataFrame]", formats: Iterable[str] = ()) -> None:
        """Writes each frame as Parquet, and as "csv" or "json" where `formats` asks for it."""
        for name, frame in frames.items():
            metadata = self._metadata(name, frame.columns)
            self.write(f"{name}.parquet", partial(frame.write_parquet, metadata=metadata))
            self.write_as(name, frame, formats)

    def write_as(self, name: str, frame: "pl.DataFrame", formats: Iterable[str]) -> None:
        """Writes a frame in other formats: "csv" or "json"."""
        for extension in formats:
            self.write(f"{name}.{extension}", frame_writer(frame, extension))

    def write_parts(self, name: str, parts: "Iterable[pl.DataFrame]", schema: "Mapping[str, Any]") -> None:
        """Writes frames with the columns of `schema`, one below the other, as one Parquet frame."""
        metadata = self._metadata(name, schema)
        self.write(f"{name}.parquet", lambda path: join(path, parts, schema, metadata))

    def _metadata(self, name: str, columns: Iterable[str]) -> dict[str, str]:
        """The metadata of a Parquet file: what it is of, and the units of its columns."""
        units = units_of(name)
        known = {column: units[column] for column in columns if column in units}
        return {"celltrain": text.json_text({**self._identity, **self.about, "units": known}, None)}

    @contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A sub-folder for what is on its way; what a killed process left there is removed first."""
        self._begin()
        place = self.path / f".{name}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def store(self, seed: int) -> "Store":
        """The runs of the experiment that are there; others are kept in it as soon as they end.

        It stays open as long as the folder is claimed.
        """
        from celltrain.runs.store import FILE, Store

        if self._store is None:
            self._drop_others()
            is_damaged = self._is_damaged(FILE)
            self._store = Store(self.path, seed, self._begin)
            if is_damaged:
                self._store.rebuild()
                self._note(f"{FILE} in this folder is not as it was written: each of its runs is checked")
            for line in self._store.notes():
                self._note(line)
        return self._store

    def _is_damaged(self, name: str) -> bool:
        """Whether a file of the results that were complete is not as it was written."""
        file = self.path / name
        if name not in self._earlier_checksums or not file.is_file():
            return False
        with file.open("rb") as content:
            return digest(content) != self._earlier_checksums[name]

    def keeps(self, place: str, origin: str) -> bool:
        """Whether the files of a sub-folder stay: they were made of `origin`, and are as they were written.

        Where they do not, they are to be written again.
        """
        names = [name for name in self._earlier if name.startswith(f"{place}/")]
        if origin != self._earlier_origins.get(place) or not all(map(self._is_whole, names)):
            names = []
        self._begin()
        self._files += names
        self._checksums |= {name: self._earlier_checksums[name] for name in names}
        self._origins[place] = origin
        return bool(names)

    def keep(self, name: str) -> bool:
        """Whether a file of the earlier results stays: it is as it was written."""
        if not self._is_whole(name):
            return False
        self._begin()
        self._files.append(name)
        self._checksums[name] = self._earlier_checksums[name]
        return True

    def keep_others(self) -> None:
        """Has `finish` keep report, pictures and captures, if tables and what these show are as they were.

        They are of the same results then, though they are not written again. A report that another version
        wrote does not stay.
        """
        self._keeps_others = True

    def write_unless_kept(self, name: str, content: Callable[[], str]) -> None:
        """Has `finish` write a text file, unless it keeps the earlier one."""
        self._otherwise[name] = content

    def _keep_others(self) -> None:
        again = self._earlier_checksums.keys() & self._checksums.keys() - {MANIFEST}
        if not again or any(self._checksums[name] != self._earlier_checksums[name] for name in again):
            return
        left = [name for name in self._earlier if name not in self._files]
        is_ours = self._earlier_origins.get(REPORT) == _writer()
        left = [name for name in left if name != REPORT or is_ours or REPORT not in self._otherwise]
        others = [name for name in left if Path(name).suffix not in _TABLES and self._is_whole(name)]
        self._files += others
        self._checksums |= {name: self._earlier_checksums[name] for name in others}
        places = {
            place
            for place in self._earlier_origins
            if any(name == place or name.startswith(f"{place}/") for name in others)
        }
        self._origins |= {place: self._earlier_origins[place] for place in places - self._origins.keys()}

    def _is_whole(self, name: str) -> bool:
        """Whether a file of the results that were complete can be read and is as it was written."""
        if name not in self._earlier_checksums or not _is_below(self.path, name):
            return False
        try:
            verify(self.path, name, {"checksums": self._earlier_checksums})
        except InputError:
            return False
        return True

    @property
    def keeps_runs(self) -> bool:
        """Whether runs are kept here: some have ended."""
        return self._store is not None and len(self._store) > 0

    def left(self) -> str:
        """What an error that stops the experiment leaves."""
        if not self._files and self._was_complete:
            return "the results there are as they were"
        return LEFT if self.keeps_runs else "the results there are not whole"

    def close(self) -> None:
        """Closes the store."""
        if self._store is not None:
            self._store.close()

    def _seal_store(self) -> None:
        """Makes the store one of the files of the folder."""
        from celltrain.runs.store import FILE

        if self._store is not None:
            # A paper's time series are those of hundreds of runs, of which it shows a few.
            self._store.seal(series=self._identity["kind"] != "reproduce")
        if (self.path / FILE).exists():
            self._files += [FILE] if FILE not in self._files else []
            with (self.path / FILE).open("rb") as file:
                self._checksums[FILE] = digest(file)

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Removes what earlier results left, then writes the manifest that makes the folder complete."""
        self._seal_store()
        if self._keeps_others and self._earlier_shown == [manifest.get(name) for name in _SHOWN]:
            self._keep_others()
        for name, content in self._otherwise.items():
            if name not in self._files:
                self.write_text(name, content())
        files = [name for name in self._files if name != MANIFEST]
        for name in self._earlier:
            if name not in files and _is_below(self.path, name):
                (self.path / name).unlink(missing_ok=True)
        checksums = {name: self._checksums[name] for name in files if name in self._checksums}
        made = {"files": files, "checksums": checksums, "origins": self._origins}
        self.put_manifest({**self._identity, "complete": True, **manifest, **made})

    def _begin(self) -> None:
        """Marks the folder incomplete, the first time."""
        if not self._files:
            self._drop_others()
            self._files.append(MANIFEST)
            self.put_manifest({**self._identity, **self._asked, "complete": False, "files": self._earlier})

    def _drop_others(self) -> None:
        """Removes the runs of another experiment, which would never be asked for."""
        if self.is_of_another:
            from celltrain.runs.store import FILE, remove

            remove(self.path / FILE)
            self.is_of_another = False

    def put_manifest(self, content: Mapping[str, Any]) -> None:
        """Writes the manifest, with a checksum of its own."""
        content = sealed({**content, "format": FORMAT})
        self._replace(MANIFEST, lambda path: path.write_text(_json(content), encoding="utf-8"))

    def _replace(self, name: str, writer: Callable[[Path], object]) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)

        def write(temporary: Path) -> None:
            writer(temporary)
            with temporary.open("rb+") as file:
                self._checksums[name] = digest(file)
                os.fsync(file.fileno())

        write_whole(target, write)
        _sync_folder(target.parent)
        return target


@contextmanager
def claim(
    path: str | os.PathLike[str],
    kind: str,
    key: str,
    *,
    asked: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    note: Note = warnings.warn,
) -> Iterator[Folder]:
    """Makes sure, before anything runs, that the results of an experiment can be written to a folder.

    Args:
        path: the folder; it is made when it does not exist, and removed again if an error leaves it empty.
        kind: "run", "compare", "reproduce", "reproduce-all", "suite" or "sweep".
        key: what identifies the experiment among its kind.
        asked: the seed, the number of replications, and lists such as the tables of a paper. Results of
            another seed, of more replications or of more tables are not replaced.
        overwrite: take a folder that holds something else.
        note: told what a user should know although it is no error.

    Raises:
        InputError: the folder cannot be written, also later, is in use, or holds something else.
    """
    place, overwrite = arguments.path("path", path), arguments.truth("overwrite", overwrite)
    if reason := misnamed(place):
        raise InputError(f"cannot write results to {place}: {reason}")
    made = [folder for folder in (place, *place.parents) if not folder.exists()]
    target: Folder | None = None
    try:
        with ExitStack() as stack:
            with uninterrupted():  # a lock that nobody knows of would stay
                _hold(place, stack)
            earlier = _earlier(place, overwrite, note)
            if not is_sealed(earlier or {}):
                note(f"{MANIFEST} in this folder is not as it was written: it is written again")
            if not overwrite:
                _refuse_foreign(place, earlier, kind, key)
                _refuse_to_lose(place, earlier or {}, asked or {})
            _clear(place)
            target = Folder(place, kind, key, earlier or {}, asked, note)
            target.is_of_another = earlier != {} and not _is_same(earlier, kind, key)
            try:
                yield target
            finally:
                target.close()
    except BaseException as error:
        for folder in made:
            with suppress(OSError):  # not empty
                folder.rmdir()
        if (reason := _disk_error(error)) is not None:
            reason = f"{_refused(error, place)}{reason}"
            left = "the results there are not whole" if target is None else target.left()
            raise InputError(f"cannot write results to {place}: {reason}; {left}") from error
        raise


@contextmanager
def claim_out(
    out: str | os.PathLike[str],
    kind: str,
    key: str,
    asked: Mapping[str, Any],
    *,
    overwrite: bool,
    given: object,
) -> Iterator[Folder]:
    """Claims the folder that the argument `out` names; `given` is one that the caller has claimed.

    Raises:
        InputError: there are two, or as `claim`.
    """
    if given is not None:
        raise InputError("out and folder: give one of them")
    place = arguments.path("out", out)
    with claim(place, kind, key, asked=asked, overwrite=overwrite) as target:
        yield target


def remove_results(path: Path) -> None:
    """Removes the files that a manifest names, and the folders that are empty then."""
    for name in (*names_of(load(path) or {}), MANIFEST):
        if _is_below(path, name):
            (path / name).unlink()
    for folder, _, _ in os.walk(path, topdown=False):
        with suppress(OSError):  # not empty: something else is there
            Path(folder).rmdir()


def _hold(place: Path, stack: ExitStack) -> None:
    """Makes the folder and holds its lock until the stack ends; that it can be written shows in that."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        stack.enter_context(locked(place))
    except OSError as error:
        reason = error.strerror or error
        if isinstance(error, FileExistsError):
            reason = (
                "it is a link to nothing" if place.is_symlink() and not place.exists() else "it is a file"
            )
        raise InputError(f"cannot write results to {place}: {reason}") from error


def _clear(place: Path) -> None:
    """Removes what a killed process left half written; nobody else writes here now."""
    for folder, _, found in os.walk(place):
        for name in filter(TEMPORARY.fullmatch, found):
            Path(folder, name).unlink(missing_ok=True)


def _disk_error(error: BaseException) -> str | None:
    """What the disk said, if that is what an error is about; of polars it is part of a text."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.strerror or str(error) if error.errno in DISK_ERRORS else None
    if found := _POLARS_DISK_ERROR.match(str(error)):
        return found[1] if int(found[2]) in DISK_ERRORS else None
    # So it speaks where the disk is full when it writes the end of a file.
    return "the disk may be full" if "thrift: transport error" in str(error) else None


def _refused(error: BaseException, place: Path) -> str:
    """Names the file of a folder that may not be opened, where the folder itself may be written."""
    if not isinstance(error, PermissionError) or not isinstance(error.filename, str):
        return ""
    name = Path(error.filename)
    return f"{name.relative_to(place)}: " if place in name.parents else ""


def _earlier(path: Path, overwrite: bool, note: Note) -> dict[str, Any] | None:
    """The manifest of the results that are there; None if there are none.

    If they may be overwritten it need not be readable. It says nothing then, and the store stays: its runs
    are found by their own keys.
    """
    try:
        return load(path)
    except InputError:
        if not overwrite:
            raise
        note(f"{MANIFEST} in this folder cannot be read: it is written again")
        return {}


def _mapping(manifest: Mapping[str, Any], name: str) -> dict[str, str]:
    """What the manifest of complete results says of their files by name, such as their checksums."""
    found = manifest.get(name)
    return found if manifest.get("complete") and isinstance(found, dict) else {}


def _is_below(path: Path, name: str) -> bool:
    """Whether a name from a manifest is that of a file below the folder, however it was written there."""
    parts = PurePosixPath(name)
    if parts.is_absolute() or Path(name).is_absolute() or ".." in parts.parts or not parts.name:
        return False
    root, target = path.resolve(), path / name
    return target.parent.resolve().is_relative_to(root) and (target.is_file() or target.is_symlink())


def _sync_folder(path: Path) -> None:
    """Forces the names in a folder to the disk, where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refuse_to_lose(path: Path, manifest: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuses to replace results by those of another seed, or whole ones by fewer of them."""
    other = "choose another folder, or replace what is there (--overwrite, or overwrite=True)"
    seed, replications = manifest.get("seed"), manifest.get("replications")
    if "seed" in asked and seed not in (None, asked["seed"]):
        raise InputError(f"{path} holds results of seed {seed}, and this is seed {asked['seed']}: {other}")
    if not manifest.get("complete"):
        return
    if isinstance(replications, int) and asked.get("replications", replications) < replications:
        raise InputError(
            f"{path} holds {replications} replications, and this asks for {asked['replications']}: {other}"
        )
    for name in LISTS:
        held = manifest.get(name)
        lost = (
            [str(one) for one in held if one not in asked.get(name, (one,))] if isinstance(held, list) else ()
        )
        if lost:
            raise InputError(f"{path} holds {', '.join(lost)} too, which this leaves out: {other}")


def _is_same(manifest: Mapping[str, Any] | None, kind: str, key: str) -> bool:
    """Whether a manifest is of an experiment."""
    return manifest is not None and (manifest.get("kind"), manifest.get("key")) == (kind, key)


def _refuse_foreign(path: Path, manifest: Mapping[str, Any] | None, kind: str, key: str) -> None:
    if manifest is None:
        if any(one.name != LOCK and not TEMPORARY.fullmatch(one.name) for one in path.iterdir()):
            raise InputError(f"{path} is not empty and holds no results of celltrain: choose another folder")
    elif not all(isinstance(manifest.get(name), str) for name in ("kind", "key")):
        raise InputError(
            f"{path / MANIFEST} is not the manifest of an experiment: choose another folder or overwrite it "
            "(--overwrite, or overwrite=True)"
        )
    elif not _is_same(manifest, kind, key):
        name = manifest.get("name", manifest.get("key"))
        raise InputError(
            f"{path} holds another experiment ({manifest.get('kind')} of '{name}'): "
            "choose another folder or overwrite it (--overwrite, or overwrite=True)"
        )


def _writer() -> str:
    """What writes a report: the core and the Python sources."""
    from celltrain.results.origin import core_version
    from celltrain.revision import source_digest

    return f"{core_version()} {source_digest()}"


def _json(content: object) -> str:
    return text.json_text(content) + "\n"
