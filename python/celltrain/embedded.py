"""A `[sweep]` inside a scenario file: taken out here, since the core refuses keys that it does not know."""

import re
import tomllib
from typing import Any

from celltrain.errors import InputError

__all__ = ["TABLE", "parsed", "without_sweep"]

TABLE = "sweep"

_OURS = re.compile(rf"\s*\[+\s*(?:{TABLE}|\"{TABLE}\"|'{TABLE}')\s*[.\]]")
_HEADER = re.compile(r"\s*\[")


def without_sweep(text: str) -> tuple[str, dict[str, Any] | None]:
    """A scenario file without its `[sweep]`, and that table; None where there is none.

    Its lines are left empty, so that errors about the rest name the lines of the file. Text that is not TOML
    is left as it is, for the core to complain about.

    Raises:
        InputError: the sweep is not written as tables of its own.
    """
    if TABLE not in text:
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
