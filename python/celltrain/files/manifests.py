"""Manifests of results folders: what they hold, whether it is whole, and whether it is as it was written."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.errors import InputError
from celltrain.files.parquet import read_parquet

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMAT",
    "FRAME_SUFFIX",
    "LISTS",
    "MANIFEST",
    "asked",
    "digest",
    "is_sealed",
    "load",
    "names_of",
    "read_frame",
    "read_manifest",
    "sealed",
    "verify",
]

MANIFEST = "manifest.json"
FRAME_SUFFIX = ".parquet"

FORMAT = 2
"""The format of results folders. It grows when what is written can no longer be read by an older version."""

LISTS = ("tables", "stacks")
"""What a reproduction may have more or less of."""

BROKEN = (
    "it was changed or cut off after it was written: restore it from a copy, or repeat the command that made "
    "the results with --overwrite (overwrite=True), which keeps the runs that are whole"
)
"""What an error says of a manifest that cannot be read."""

_MANIFEST_TYPES: dict[str, type[Any]] = {
    "format": int,
    "kind": str,
    "key": str,
    "files": list,
    "checksums": dict,
    "origins": dict,
    "sections": dict,
}


def read_manifest(path: Path, kind: str | None = None) -> dict[str, Any]:
    """The manifest of a complete results folder.

    Args:
        path: the folder.
        kind: the kind of results that it must hold; any by default.

    Raises:
        InputError: there is no such folder, a newer celltrain wrote it, it is incomplete, one of its frames
            is gone, or it holds results of another kind.
    """
    manifest = load(path)
    if manifest is None:
        missing = f"there is no {MANIFEST} in it" if path.is_dir() else "there is no such folder"
        raise InputError(f"{path} holds no results: {missing}")
    for name, kinds in _MANIFEST_TYPES.items():
        if not isinstance(manifest.get(name, kinds()), kinds):
            raise InputError(f"the results in {path} are damaged: {name} in {MANIFEST} is not valid")
    if manifest.get("format", FORMAT) > FORMAT:
        raise InputError(
            f"the results in {path} have format {manifest['format']}, and this version reads up to {FORMAT}: "
            f"they were written by celltrain {manifest.get('celltrain', 'of a newer version')}"
        )
    if not manifest.keys() >= {"kind", "key"}:
        raise InputError(f"{path / MANIFEST} is not the manifest of an experiment")
    if not manifest.get("complete"):
        raise InputError(
            f"the results in {path} are incomplete: they were interrupted while being written; "
            "repeat the command to finish them"
        )
    if not is_sealed(manifest):
        raise InputError(
            f"the results in {path} are damaged: {MANIFEST} is not as it was written; run it again"
        )
    frames = [name for name in names_of(manifest) if name.endswith(FRAME_SUFFIX)]
    gone = [name for name in frames if not (path / name).is_file()]
    if gone:
        raise InputError(f"the results in {path} are damaged: {', '.join(gone)} is gone; run it again")
    if kind is not None and manifest["kind"] != kind:
        raise InputError(f"{path} holds the results of a {manifest['kind']}, not of a {kind}")
    return manifest


def read_frame(path: Path, manifest: Mapping[str, Any], name: str) -> "pl.DataFrame | None":
    """A frame of a folder by its name; None for one that had no rows to write."""
    import polars as pl

    file = path / f"{name}{FRAME_SUFFIX}"
    if not file.exists():
        return None
    verify(path, file.name, manifest)
    try:
        return read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"the results in {path} are damaged: {file.name} cannot be read: {error}") from error


def asked(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What `claim` compares with the results that are there."""
    return {name: manifest[name] for name in ("seed", "replications", *LISTS) if name in manifest}


def verify(path: Path, name: str, manifest: Mapping[str, Any]) -> None:
    """Makes sure that a file of a results folder is as it was written; older folders have no checksums.

    Raises:
        InputError: it is not.
    """
    wanted = manifest.get("checksums", {}).get(name)
    if wanted is None:
        return
    try:
        with (path / name).open("rb") as file:
            found = digest(file)
    except OSError as error:
        raise InputError(
            f"the results in {path} are damaged: {name} cannot be read: {error.strerror or error}"
        ) from error
    if found != wanted:
        raise InputError(f"the results in {path} are damaged: {name} is not as it was written; run it again")


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with the checksum of everything else in it."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    plain = json.loads(text.json_text(rest))  # as it is read back
    content = json.dumps(plain, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    return {**rest, "checksum": hashlib.blake2b(content, digest_size=16).hexdigest()}


def is_sealed(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is as it was written; those of format 1 and before have no checksum."""
    if "checksum" in manifest:
        return bool(sealed(manifest)["checksum"] == manifest["checksum"])
    written = manifest.get("format")
    return not isinstance(written, int) or written < 2


def load(path: Path) -> dict[str, Any] | None:
    """What the manifest in a folder says, whole or not; None where there is none.

    Raises:
        InputError: it cannot be read.
    """
    file = path / MANIFEST
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{_fault(file, error)}; {BROKEN}") from error
    if not isinstance(content, dict):
        raise InputError(f"{file} is not the manifest of an experiment; {BROKEN}")
    return content


def _fault(file: Path, error: ValueError | RecursionError) -> str:
    """What is wrong with a file that is no JSON, behind its path and the line, if that is known."""
    match error:
        case json.JSONDecodeError():
            reason = error.msg.removesuffix(" at").removesuffix(" starting")
            return f"{file}:{error.lineno}: broken JSON at column {error.colno} ({reason})"
        case UnicodeDecodeError():
            line = error.object.count(b"\n", 0, error.start) + 1
            return f"{file}:{line}: not UTF-8 text"
        case RecursionError():
            return f"{file}: JSON that is nested too deeply"
        case _:  # it speaks of settings of Python
            return f"{file}: a number has too many digits"


def names_of(manifest: Mapping[str, Any]) -> list[str]:
    """The names of files in a manifest, of those that are names."""
    files = manifest.get("files", [])
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []


def digest(file: BufferedReader | BufferedRandom) -> str:
    """The checksum of a file, as manifests have it."""
    return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=16)).hexdigest()
