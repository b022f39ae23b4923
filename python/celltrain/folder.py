"""The results folder: claimed before a run, written file by file, complete once its manifest says so."""

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Folder", "Parts", "claim", "frame_reader", "read_manifest", "source_revision"]

MANIFEST = "manifest.json"
FRAME_SUFFIX = ".parquet"

ROW_GROUP = 65_536
"""Rows of a row group in files written part by part: with a fixed size the bytes depend on the data alone."""

FORMAT = 1
"""The format of results folders. It grows when what is written can no longer be read by an older version."""

_DISK_ERRORS = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EACCES", "EPERM")
    if hasattr(errno, name)
}
"""What a disk says that is full, gone or not ours. Connections fail with other numbers."""

_POLARS_DISK_ERROR = re.compile(r"IO error: (.+) \(os error (\d+)\)")


class Folder:
    """A results folder that this process may write.

    Every file is written under a temporary name and renamed. What comes first marks the folder incomplete,
    `finish` completes it and removes the files of earlier results that were not written again.
    """

    def __init__(self, path: Path, kind: str, key: str, earlier: Mapping[str, Any]) -> None:
        self.path = path
        self._identity = {"kind": kind, "key": key}
        self._earlier: list[str] = list(earlier.get("files", []))
        self._files: list[str] = []

    def write(self, name: str, writer: Callable[[Path], object]) -> Path:
        """Has `writer` write a temporary file, then gives it its name, which may lie in a sub-folder."""
        self._begin()
        if name not in self._files:
            self._files.append(name)
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
            self.write(f"{name}.parquet", frame.write_parquet)
            for extension in formats:
                self.write(f"{name}.{extension}", _frame_writer(frame, extension))

    def write_parts(self, name: str, parts: "Iterable[pl.DataFrame]", schema: "Mapping[str, Any]") -> None:
        """Writes frames with the columns of `schema`, one below the other, as one Parquet frame."""
        self.write(f"{name}.parquet", lambda path: _join(path, parts, schema))

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

    def keep(self, names: Iterable[str]) -> None:
        """Counts files that were written by other means among the files of the folder."""
        self._files += [name for name in names if name not in self._files]

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Removes what earlier results left, then writes the manifest that makes the folder complete."""
        files = [name for name in self._files if name != MANIFEST]
        for name in self._earlier:
            if name not in files:
                (self.path / name).unlink(missing_ok=True)
        self._put_manifest({**self._identity, "complete": True, **manifest, "files": files})

    def _begin(self) -> None:
        """Marks the folder incomplete, the first time."""
        if not self._files:
            self._files.append(MANIFEST)
            self._put_manifest({**self._identity, "complete": False, "files": self._earlier})

    def _put_manifest(self, content: Mapping[str, Any]) -> None:
        content = {"format": FORMAT, **content}
        self._replace(MANIFEST, lambda path: path.write_text(_json(content), encoding="utf-8"))

    def _replace(self, name: str, writer: Callable[[Path], object]) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # The suffix stays last because picture writers choose the format by it.
        temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
        try:
            writer(temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        return target


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
        part.write_parquet(file)
        self._files.append(file)
        self._empty = part.clear() if self._empty is None else _below(self._empty, part.clear())

    def write_to(self, target: Folder) -> None:
        """Writes the frame to a folder, if there are parts."""
        if (empty := self._empty) is not None:
            import polars as pl

            widened = (_below(empty, pl.read_parquet(file)) for file in self._files)
            target.write_parts(self._name, widened, empty.schema)


def _below(upper: "pl.DataFrame", lower: "pl.DataFrame") -> "pl.DataFrame":
    """Two frames, one below the other, with the columns of both."""
    import polars as pl

    return pl.concat([upper, lower], how="diagonal_relaxed")


@contextmanager
def claim(
    path: str | os.PathLike[str],
    kind: str,
    key: str,
    *,
    overwrite: bool = False,
    left: str = "the results there are not whole",
) -> Iterator[Folder]:
    """Makes sure, before anything runs, that the results of an experiment can be written to a folder.

    Args:
        path: the folder; it is made when it does not exist, and removed again if an error leaves it empty.
        kind: "run", "compare", "reproduce", "reproduce-all" or "sweep".
        key: what identifies the experiment among its kind.
        overwrite: take a folder that holds something else.

        left: what an error says of the folder when the disk is full.

    Raises:
        InputError: the folder cannot be written, also later, or holds something else.
    """
    place = Path(path)
    made = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / f".{os.getpid()}.probe"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise InputError(f"cannot write results to {place}: {error.strerror or error}") from error
        earlier = _manifest(place)
        if not overwrite:
            _refuse_foreign(place, earlier, kind, key)
        yield Folder(place, kind, key, earlier or {})
    except BaseException as error:
        for folder in made:
            with suppress(OSError):  # not empty
                folder.rmdir()
        if (reason := _disk_error(error)) is not None:
            raise InputError(f"cannot write results to {place}: {reason}; {left}") from error
        raise


def read_manifest(path: Path, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a complete results folder.

    Args:
        path: the folder.
        kind: the kind of results that it must hold; any by default.

    Raises:
        InputError: there is no such folder, a newer celltrain wrote it, it is incomplete, one of its frames
            is gone, or it holds results of another kind.
    """
    manifest = _manifest(path)
    if manifest is None:
        raise InputError(f"{path} holds no results: there is no {MANIFEST} in it")
    if manifest.get("format", FORMAT) > FORMAT:
        raise InputError(
            f"the results in {path} have format {manifest['format']}, and this version reads up to {FORMAT}: "
            f"they were written by celltrain {manifest.get('celltrain', 'of a newer version')}"
        )
    if not manifest.get("complete"):
        raise InputError(f"the results in {path} are incomplete: they were interrupted while being written")
    gone = [name for name in manifest["files"] if name.endswith(FRAME_SUFFIX) and not (path / name).is_file()]
    if gone:
        raise InputError(f"the results in {path} are damaged: {', '.join(gone)} is gone; run it again")
    if kind is not None and manifest["kind"] != kind:
        raise InputError(f"{path} holds the results of a {manifest['kind']}, not of a {kind}")
    return manifest


def frame_reader(path: Path) -> "Callable[[str], pl.DataFrame | None]":
    """What reads the frames of a folder by their names; None for a frame that had no rows to write."""

    def load(name: str) -> "pl.DataFrame | None":
        import polars as pl

        file = path / f"{name}{FRAME_SUFFIX}"
        return pl.read_parquet(file) if file.exists() else None

    return load


@cache
def source_revision() -> str | None:
    """The git revision of the source tree this package runs from, "-dirty" when changed; None outside one."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


def _disk_error(error: BaseException) -> str | None:
    """What the disk said, if that is what an error is about; polars has an error of its own around it."""
    if isinstance(error, OSError):
        return error.strerror or str(error) if error.errno in _DISK_ERRORS else None
    if found := _POLARS_DISK_ERROR.search(str(error)):
        return found[1] if int(found[2]) in _DISK_ERRORS else None
    # So it speaks where the disk is full when it writes the end of a file.
    return "the disk may be full" if "thrift: transport error" in str(error) else None


def _manifest(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path / MANIFEST}: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path / MANIFEST} is not the manifest of an experiment")
    return content


def _refuse_foreign(path: Path, manifest: Mapping[str, Any] | None, kind: str, key: str) -> None:
    if manifest is None:
        if any(path.iterdir()):
            raise InputError(f"{path} is not empty and holds no results of celltrain: choose another folder")
    elif (manifest.get("kind"), manifest.get("key")) != (kind, key):
        name = manifest.get("name", manifest.get("key"))
        raise InputError(
            f"{path} holds another experiment ({manifest.get('kind')} of '{name}'): "
            "choose another folder or overwrite it (--overwrite)"
        )


def _join(path: Path, parts: "Iterable[pl.DataFrame]", schema: "Mapping[str, Any]") -> None:
    """Writes one Parquet file of frames with the columns of `schema`, one of them in memory at a time."""
    from polars.io.plugins import register_io_source

    def read(*_: object) -> "Iterator[pl.DataFrame]":
        yield from parts

    register_io_source(read, schema=schema).sink_parquet(path, row_group_size=ROW_GROUP)


def _frame_writer(frame: "pl.DataFrame", extension: str) -> Callable[[Path], object]:
    writers: dict[str, Callable[[Path], object]] = {"csv": frame.write_csv, "json": frame.write_json}
    if extension not in writers:
        raise InputError(f"unknown format '{extension}': known: {', '.join(writers)}")
    return writers[extension]


def _json(content: object) -> str:
    return text.json_text(content) + "\n"
