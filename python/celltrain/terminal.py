"""What the command line prints: plain tables on stdout, messages and progress on stderr."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from celltrain.experiment import Progress

__all__ = [
    "error",
    "heading",
    "note",
    "plain",
    "prepare",
    "print_json",
    "progress",
    "say",
    "say_notes",
    "table",
]

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Tabs and ends of lines may stay."""

_OTHERS = re.compile("[^\x00-\x7f]")
"""Characters that ASCII does not have."""

UNICODE = "\U0010ffff"
"""A character that encodings of Unicode alone have."""

BETWEEN = 3
"""Columns of a terminal between those of a table."""

FOLDED = 6
"""Columns that folded text has at least."""

UNBOUNDED = 10_000
"""Columns of a file or pipe: tables there are never folded."""


def prepare() -> None:
    """Makes streams that take every character, or say that they cannot.

    They may be closed, of an encoding that lacks some characters, or without a buffer.
    """
    sys.stdout, sys.stderr = map(_willing, (sys.stdout, sys.stderr))


def _willing(stream: TextIO | None) -> TextIO:
    if stream is None:  # Python's word for one that is closed
        return Path(os.devnull).open("w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper) and isinstance(stream.buffer, RawIOBase):
        # Without a buffer, as under PYTHONUNBUFFERED, Python forgets what a full disk did not take of a text.
        own, errors = open(stream.fileno(), "wb", closefd=False), stream.errors  # noqa: SIM115
        stream = TextIOWrapper(own, stream.encoding, errors, line_buffering=True)
    # In the locale of C the errors are "surrogateescape", which helps with no other character.
    raising = ("strict", "surrogateescape")
    if isinstance(stream, TextIOWrapper) and stream.errors in raising and not _has(stream, UNICODE):
        stream.reconfigure(errors="replace")
    return stream


def _has(stream: TextIO, text: str) -> bool:
    """Whether the encoding of a stream has some characters."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str) -> str:
    """Text whose control characters are spelled out, so that no terminal obeys them."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str) -> None:
    """Prints a line on stdout."""
    _console().print(plain(text), markup=False, soft_wrap=True)


def say_notes(lines: Iterable[str]) -> None:
    """Prints on stdout what a reader of the results should know."""
    for line in lines:
        say(f"note: {line}")


def heading(text: str) -> None:
    """Prints a heading on stdout, after an empty line."""
    _console().print(f"\n{plain(text)}", style="bold", markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Prints a line on stderr, so that it never mixes with results."""
    print(plain(text), file=sys.stderr)  # noqa: T201


def error(text: str) -> None:
    """Prints an error on stderr, if that takes it: it may be the file that is full."""
    with suppress(OSError):
        note(f"error: {text}")


def print_json(content: object) -> None:
    """Prints one JSON object on stdout."""
    from celltrain.text import json_text

    shown = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text(content))
    if not _has(sys.stdout, shown):
        shown = _OTHERS.sub(lambda found: json.dumps(found[0])[1:-1], shown)
    sys.stdout.write(shown + "\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> None:
    """Prints a table; the first `text_columns` columns are aligned to the left, the others hold numbers.

    A number is never cut off. Where a terminal is too narrow for all of them, several tables follow each
    other, each with the first columns, which are folded; one that is too narrow for that folds the lines.
    """
    from rich.cells import cell_len

    console = _console()
    lines = [tuple(map(plain, line)) for line in (columns, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    least = [min(width, FOLDED) if index < text_columns else width for index, width in enumerate(widths)]
    parts = _parts(widths, text_columns, console.width)
    console.width = max(console.width, *(_width(least[index] for index in part) for part in parts))
    for part in parts:
        console.print(_table([[line[index] for index in part] for line in lines], text_columns))


def _parts(widths: Sequence[int], first: int, most: int) -> list[list[int]]:
    """The columns of each table: the first ones, and as many of the others as are not too wide."""
    parts: list[list[int]] = []
    for index in range(first, len(widths)):
        if parts and _width(widths[one] for one in (*parts[-1], index)) <= most:
            parts[-1].append(index)
        else:
            parts.append([*range(first), index])
    return parts or [[*range(first)]]


def _width(columns: Iterable[int]) -> int:
    """The width of a table with columns of these widths."""
    every = list(columns)
    return BETWEEN * (len(every) - 1) + sum(every) + 2


def _table(lines: Sequence[Sequence[str]], text_columns: int) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, name in enumerate(lines[0]):
        is_text = index < text_columns
        shown.add_column(
            Text(name),
            justify="left" if is_text else "right",
            no_wrap=not is_text,
            overflow="fold",
            min_width=min(FOLDED, max(cell_len(line[index]) for line in lines)) if is_text else None,
        )
    for line in lines[1:]:
        shown.add_row(*map(Text, line))
    return shown


@contextmanager
def progress(what: str) -> "Iterator[Progress | None]":
    """A progress bar on stderr with the rate and the time left; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich_progress
    from rich.console import Console

    from celltrain.hops import hops_per_second

    bar = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TextColumn("{task.fields[rate]}"),
        rich_progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None, rate="")

        def advance(done: int, total: int, cell_hops: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{hops_per_second(cell_hops, elapsed)} hops/s" if elapsed else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield advance


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else UNBOUNDED)
