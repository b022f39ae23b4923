"""Arguments of the Python API: each is what is expected under its name, or an error says what was given.

Without these checks a wrong type would be an error from deep inside, which names no parameter.
"""

import math
import os
from collections.abc import Iterable, Mapping
from operator import index
from pathlib import Path
from typing import Any

from celltrain.errors import InputError

__all__ = [
    "bare_key",
    "called",
    "claimed",
    "count",
    "expected",
    "from_home",
    "in_a_line",
    "mapping",
    "names",
    "number",
    "numbers",
    "own",
    "pairs",
    "part",
    "path",
    "positive",
    "several",
    "text",
    "truth",
]

MOST_SHOWN = 120
"""Characters of a value that an error shows."""


def expected(name: str, what: str, value: object) -> InputError:
    """The error for an argument that is not what it should be, in a line."""
    return InputError(f"{name}: expected {what}, not {in_a_line(value)}")


def in_a_line(value: object) -> str:
    """A value as an error shows it: text whole, and of others the beginning if they are long."""
    if isinstance(value, str):
        return repr(value)
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}…"


def truth(name: str, value: object) -> bool:
    """True or False."""
    # Those of numpy are what comparisons of its numbers give.
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise expected(name, "True or False", value)
    return bool(value)


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise expected(name, "text", value)
    if not _is_unicode(value):
        raise expected(name, "text of characters that Unicode has", value)
    return value


def bare_key(where: str, key: str) -> None:
    """Refuses a dotted key with spaces around it or its dots: two keys that differ in nothing else are one.

    Raises:
        InputError: it has some.
    """
    bare = ".".join(part.strip() for part in key.split("."))
    if key != bare:
        raise InputError(f"{where}: the key '{key}' has spaces around it or its dots: write {bare}")


def _is_unicode(value: str) -> bool:
    """Whether a text has no half of a surrogate pair, as bytes of the command line that are no UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def names(name: str, value: object, example: str) -> tuple[str, ...]:
    """Some names. A single text is refused: each of its letters would be taken as a name."""
    given = several(name, value, f"names such as [{example!r}]")
    return tuple(text(f"{name}[{place}]", one) for place, one in enumerate(given))


def several(name: str, value: object, what: str) -> Iterable[Any]:
    """A list of something, or what else can be gone through; a text is none."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise expected(name, f"a list of {what}", value)
    return value


def path(name: str, value: object) -> Path:
    """The path of a file or folder; an empty one would be that of the current folder."""
    if not isinstance(value, str | os.PathLike) or value == "":
        raise expected(name, "a path", value)
    return from_home(value)


def from_home(path: str | os.PathLike[str]) -> Path:
    """A path, of which `~` in front is the home folder: a shell leaves it within quotes and after `=`.

    Where there is none, and in `~user`, it stays as it is written.
    """
    place = Path(path)
    return Path(os.path.expanduser(path)) if place.parts[:1] == ("~",) else place  # noqa: PTH111


def mapping(name: str, value: object, example: str) -> Mapping[Any, Any]:
    """A dictionary."""
    if not isinstance(value, Mapping):
        raise expected(name, f"a dictionary such as {example}", value)
    return value


def pairs(name: str, value: object) -> list[tuple[str, str]]:
    """Pairs of keys, each there once, and values as TOML text; a dictionary of them will do."""
    given = value.items() if isinstance(value, Mapping) else value
    wanted = 'pairs of text such as [("seed", "7")]'
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise expected(name, wanted, value)
    found: dict[str, str] = {}
    for pair in given:
        match pair:
            case (str() as key, str() as one):
                if key in found:
                    raise InputError(f"{name}: {key} is there twice, as {found[key]} and {one}")
                found[text(f"a key of {name}", key)] = text(key, one)
            case _:
                raise expected(name, wanted, pair)
    return list(found.items())


def count(name: str, value: object) -> int:
    """A whole number, 0 or more."""
    try:
        number = index(value)  # type: ignore[arg-type]  # whatever is none raises
    except TypeError:
        number = -1
    if number < 0:
        raise expected(name, "a whole number, 0 or more", value)
    return number


def number(name: str, value: object) -> float:
    """A number; those of numpy will do."""
    try:
        found = math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]  # else it raises
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if math.isnan(found):
        raise expected(name, "a number", value)
    return found


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    if not 0 < (found := number(name, value)) < math.inf:
        raise expected(name, "a number above zero", value)
    return found


def own(value: object) -> object:
    """A value as one of Python's own, if it is a scalar or an array of numpy, or a column of a frame."""
    if type(value).__module__ == "numpy":
        return value.tolist()  # type: ignore[attr-defined]
    is_column = type(value).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(value, "to_list")
    return value.to_list() if is_column else value  # type: ignore[attr-defined]


def numbers(name: str, value: object) -> list[float]:
    """Some numbers."""
    given = several(name, value, "numbers")
    return [number(f"{name}[{place}]", one) for place, one in enumerate(given)]


def part(name: str, value: object) -> float:
    """A number between 0 and 1."""
    if isinstance(value, str) or not 0 < (found := number(name, value)) < 1:
        raise expected(name, "a number between 0 and 1", value)
    return found


def called(name: str, value: object) -> None:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise expected(name, "a function", value)


def claimed(name: str, value: object) -> None:
    """A results folder that was claimed, or None."""
    from celltrain.files.folder import Folder

    if value is not None and not isinstance(value, Folder):
        raise expected(name, "a folder as celltrain.files.folder.claim gives it", value)
