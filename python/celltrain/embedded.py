"""A `[sweep]` inside a scenario file: taken out here, since the core refuses keys that it does not know."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from celltrain.errors import InputError

__all__ = ["TABLE", "line_of", "parsed", "without_sweep"]

TABLE = "sweep"

_OURS = re.compile(rf"\s*\[+\s*(?:{TABLE}|\"{TABLE}\"|'{TABLE}')\s*[.\]]")
_HEADER = re.compile(r"\s*\[")
_CLOSING = ("]", '"""', "'''")
"""What the last line of a setting has that is on several lines."""


def without_sweep(text: str) -> tuple[str, dict[str, Any] | None]:
    """A scenario file without its `[sweep]`, and that table; None where there is none.

    Its lines are left empty, so that errors about the rest name the lines of the file. Text that is not TOML
    is left as it is, for the core to complain about.

    Raises:
        InputError: the sweep is not written as tables of its own.
    """
    if TABLE not in text and "\\" not in text:  # its name may be written with escapes
        return text, None
    try:
        content = parsed(text)
    except ValueError:
        return text, None
    sweep = content.pop(TABLE, None)
    if sweep is None:
        return text, None
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    ours = False
    head = 0
    for number, line in enumerate(lines):
        # Only where the sweep begins or ends. Within an array over several lines a line can look like the
        # head of a table; what stands between two heads is TOML by itself.
        if (_HEADER if ours else _OURS).match(line) and _is_toml("".join(lines[head:number])):
            ours = _OURS.match(line) is not None
            head = number
        kept.append("\n" if ours else line)
    rest = "".join(kept)
    if not _is_toml(rest) or parsed(rest) != content:
        raise InputError(
            "the sweep of a scenario is in tables of its own: [sweep], [sweep.grid], [sweep.zip]"
        )
    return rest, sweep


def line_of(text: str, place: Sequence[str]) -> int | None:
    """The line of TOML text on which a key begins, counted from 1; None if it is not there.

    Args:
        text: all of a file, which is TOML.
        place: the key, after the keys of the tables that it is in.
    """
    head: list[str] = []
    for number, statement in _statements(text):
        found = parsed(statement)
        if _HEADER.match(statement):
            head = _path(found)
            found = {}
        if head[: len(place)] == [*place] or _has(found, _below(head, place)):
            return number
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The heads and settings of TOML text, each with the number of the line on which it begins."""
    began, lines = 1, list[str]()
    for number, line in enumerate(StringIO(text), 1):  # which begins lines where editors do
        lines.append(line)
        may_end = len(lines) == 1 or any(mark in line for mark in _CLOSING)  # of thousands of lines few do
        if may_end and _is_toml("".join(lines)):
            yield began, "".join(lines)
            began, lines = number + 1, []


def _path(table: dict[str, Any]) -> list[str]:
    """The keys of the head of a table, which is all that was read."""
    keys: list[str] = []
    inner: Any = table
    while inner:
        inner = inner[0] if isinstance(inner, list) else inner
        keys += inner
        inner = next(iter(inner.values()), None)
    return keys


def _below(head: Sequence[str], place: Sequence[str]) -> Sequence[str] | None:
    """What is left of a place within a table; None if it is not in it."""
    return place[len(head) :] if [*head] == [*place[: len(head)]] else None


def _has(table: Any, keys: Sequence[str] | None) -> bool:
    """Whether settings have a key that is in tables within them."""
    for key in keys or ():
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return bool(keys)


def _is_toml(text: str) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def parsed(text: str) -> dict[str, Any]:
    """TOML text as a dictionary.

    Raises:
        ValueError: it is no TOML, or nests deeper or has longer numbers than Python can read.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("tables or arrays are nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # which speaks of settings of Python
        raise ValueError("a number has too many digits") from None
