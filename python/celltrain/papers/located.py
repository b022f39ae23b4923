"""Where a key of a TOML file stands: `tomllib` gives values without lines, and errors should name one."""

import re
from collections.abc import Sequence
from pathlib import Path

from celltrain.errors import InputError
from celltrain.scenario import shown

__all__ = ["Key", "Lines"]

Key = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and places in arrays counted from 0."""

_HEADER = re.compile(r"\s*(\[\[?)\s*([^][,=]+?)\s*\]\]?\s*(#.*)?$")
_ASSIGNMENT = re.compile(
    r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_PART = re.compile(r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'")


class Lines:
    """The lines of a file's headers and keys."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self._lines: dict[Key, int] = {}
        table: Key = ()
        counts: dict[Key, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            header = _HEADER.match(line)
            if header is not None:
                table = self._table(_parts(header[2]), header[1] == "[[", counts)
                self._lines.setdefault(table, number)
                continue
            assignment = _ASSIGNMENT.match(line)
            if assignment is not None:
                self._lines.setdefault((*table, *_parts(assignment[1])), number)

    @staticmethod
    def _table(parts: list[str], is_array: bool, counts: dict[Key, int]) -> Key:
        """The way to the table of a header: parts that are arrays stand for their last element."""
        way: Key = ()
        for place, part in enumerate(parts):
            way = (*way, part)
            last = place == len(parts) - 1
            if last and is_array:
                counts[way] = counts.get(way, -1) + 1
            if way in counts:
                way = (*way, counts[way])
        return way

    def error(self, way: Sequence[str | int], message: str) -> InputError:
        """The error about a value: file, line, key, and what is wrong."""
        key = tuple(way)
        known = key
        while known and known not in self._lines:
            known = known[:-1]
        line = f":{self._lines[known]}" if known else ""
        named = ".".join(str(part) for part in key)
        return InputError(f"{shown(self.path)}{line}: {named + ': ' if named else ''}{message}")


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]
