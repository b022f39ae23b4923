"""A table of `paper.toml` as it is read: keys are asked for by type, and errors name file, line and key."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

from celltrain.errors import InputError, unknown
from celltrain.papers.expression import Expression
from celltrain.papers.located import Lines

__all__ = ["Node"]

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """A table of the file, and where it stands."""

    values: Mapping[str, Any]
    way: tuple[str | int, ...]
    lines: Lines

    def error(self, message: str, *keys: str | int) -> InputError:
        """An error about this table or a key of it."""
        return self.lines.error((*self.way, *keys), message)

    def known(self, names: Sequence[str]) -> None:
        """Refuses every key but these.

        Raises:
            InputError: there is another; the message names the nearest.
        """
        for key in self.values:
            if key not in names:
                raise self.error(str(unknown("key", key, names)), key)

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        found: str = self._of(key, str, "text", default)
        return found

    def flag(self, key: str) -> bool:
        """True or false; false where it is missing."""
        found: bool = self._of(key, bool, "true or false", False)
        return found

    def number(self, key: str) -> float | None:
        """A finite number; None where it is missing."""
        if key not in self.values:
            return None
        found = self.values[key]
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self.error(f"expected a number, not {found!r}", key)
        if isinstance(found, float) and not isfinite(found):
            raise self.error(f"expected a finite number, not {found!r}", key)
        return found

    def count(self, key: str) -> int:
        """A whole number, 0 or more; 0 where it is missing."""
        found = self.values.get(key, 0)
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise self.error(f"expected a whole number, 0 or more, not {found!r}", key)
        return found

    def texts(self, key: str, default: Sequence[str] | None = None) -> list[str]:
        """A list of strings, or one string."""
        found: Any = self._of(key, (list, str), "a list of text", None if default is None else list(default))
        found = [found] if isinstance(found, str) else found
        if not all(isinstance(one, str) for one in found):
            raise self.error("expected a list of text", key)
        return list(found)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A table as it is; empty where it is missing."""
        found: Mapping[str, Any] = self._of(key, dict, "a table", {})
        return found

    def table(self, key: str) -> "Node":
        """A table; empty where it is missing."""
        return Node(self.mapping(key), (*self.way, key), self.lines)

    def tables(self, key: str) -> Iterator["Node"]:
        """The tables of an array, or a single table; none where it is missing."""
        found: Any = self._of(key, (list, dict), "a table, or a list of tables", [])
        single = isinstance(found, dict)
        for place, one in enumerate([found] if single else found):
            if not isinstance(one, dict):
                raise self.error(f"expected a table, not {one!r}", key, place)
            yield Node(one, (*self.way, key) if single else (*self.way, key, place), self.lines)

    def expression(self, key: str, text: str | None = None) -> Expression:
        """An expression, or the expression `text` that was made of it."""
        content = self.values.get(key) if text is None else text
        if isinstance(content, int | float) and not isinstance(content, bool):
            content = repr(content)
        if not isinstance(content, str):
            raise self.error(
                f"expected an expression, not {content!r}" if key in self.values else "missing", key
            )
        return self.checked(lambda: Expression.of(content), key)

    def checked(self, make: Callable[[], T], *keys: str | int) -> T:
        """What `make` makes; its errors are about a key of this table."""
        try:
            return make()
        except InputError as error:
            message = str(error)
            raise (
                error
                if re.match(rf"{re.escape(str(self.lines.path))}:\d", message)
                else self.error(message, *keys)
            ) from None

    def _of(self, key: str, kind: type | tuple[type, ...], what: str, default: Any) -> Any:
        if key not in self.values:
            if default is None:
                raise self.error(f"missing; expected {what}", key)
            return default
        found = self.values[key]
        if not isinstance(found, kind):
            raise self.error(f"expected {what}, not {found!r}", key)
        return found
