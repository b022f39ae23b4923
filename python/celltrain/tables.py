"""Tables of numbers that settings name: `traffic.times = "cells.csv"` is the path of a file.

It is relative to the file that says so. The core reads it, and knows the folders of scenario files alone:
a plan, whose settings are laid over a scenario, says from which folder its paths start.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from celltrain import _core

__all__ = ["from_folder", "is_kept", "named"]


@cache
def _keys() -> frozenset[str]:
    return frozenset(_core.file_keys())


def from_folder(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Settings by dotted keys, with the paths of files from the working directory, where the core looks."""
    return {key: _placed(key, value, folder) for key, value in settings.items()}


def _placed(key: str, value: Any, folder: Path) -> Any:
    if isinstance(value, str):
        return str(folder / value) if _is_of_file(key) else value
    if isinstance(value, Mapping):
        return from_folder(value, folder)
    if isinstance(value, list | tuple):
        return [_placed("", one, folder) for one in value]
    return value


def named(settings: Mapping[str, Any]) -> Iterator[str]:
    """The files that settings name themselves."""
    yield from (value for key, value in settings.items() if isinstance(value, str) and _is_of_file(key))


def is_kept(name: str) -> bool:
    """Whether a file lies beside what names it or below, so that a copy of both says the same."""
    path = PurePath(name)
    return path.suffix == ".csv" and not path.is_absolute() and ".." not in path.parts


def _is_of_file(key: str) -> bool:
    return key.rpartition(".")[2] in _keys()
