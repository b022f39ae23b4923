"""Looks for quotations in the text that they are from: `python tests/papers/quotations.py FILE TEXT`.

FILE is a `paper.toml` or a `suite.toml`, TEXT the text of the standard or draft, which the project does not
contain: an RFC, whose headings begin with their numbers, or a draft in Markdown, whose headings are counted.
A quotation has to stand in the section that its `place` begins with, subsections included, if the text has
its heading. White space, hyphens and the kind of quotation marks do not count, nor does what a machine that
reads a scan puts between the words: a table or a caption where a column ends, escapes of Markdown, and a
thorn for a plus sign. Exits with status 1 if a quotation is not there.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PLACE = re.compile(r"(?:section )?(\d+(?:\.\d+)*)(?![\d.]*\w)")
_NUMBERED = re.compile(r"([1-9]\d?(?:\.\d\d?)*)\.? {1,3}[A-Z]")
_MARKDOWN = re.compile(r"(#+) ")

PIECE = 12
"""Lines that a piece of a quotation may have."""

LEAST = 2
"""Words that a piece has at least: a single one ends or begins a line somewhere in almost every text."""


def quotations(content: Any) -> Iterator[tuple[str, str]]:
    """Every quotation of a file with its place; one that a list fills in, once for each entry of the list."""
    for one in _quoting(content):
        entries = content.get("constants", {}).get(one["over"], ()) if "over" in one else ()
        for entry in entries or [{}]:
            quote, place = (_filled(one.get(key, ""), entry) for key in ("quote", "place"))
            yield quote, place


def _quoting(content: Any) -> Iterator[dict[str, Any]]:
    """Every table that has a key `quote`."""
    if isinstance(content, dict):
        if "quote" in content:
            yield content
        for value in content.values():
            yield from _quoting(value)
    elif isinstance(content, list):
        for one in content:
            yield from _quoting(one)


def _filled(text: str, entry: dict[str, Any]) -> str:
    for key, value in entry.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text


def plain(text: str) -> str:
    """The words of a text with one space between them, and without hyphens: a line may end at one."""
    text = text.translate(str.maketrans("“”’–þ", '""\'-+')).replace("\\*", "*")
    text = re.sub(r"(?<=\w)-\s*", "", text)
    return " ".join(re.sub(r"\s*\+\s*", "+", text).split())


def is_interrupted(quote: str, text: str) -> bool:
    """Whether a quotation is there in two pieces: one ends a paragraph, the other begins a later line."""
    lines = text.splitlines()
    below = [plain("\n".join(lines[at : at + PIECE])) for at in range(len(lines))]
    above = [plain("\n".join(lines[max(0, at - PIECE) : at])) for at in range(len(lines))]
    words = plain(quote).split()
    for cut in range(LEAST, len(words) - LEAST + 1):
        head, tail = " ".join(words[:cut]), " ".join(words[cut:])
        ends = (at for at, line in enumerate(lines) if not line.strip() and above[at].endswith(head))
        if any(one.startswith(tail) for one in below[next(ends, len(lines)) :]):
            return True
    return False


def sections(text: str) -> dict[str, str]:
    """The words of each section by its number, those of its subsections included."""
    found: dict[str, list[str]] = {}
    counts: list[int] = []
    number = ""
    is_markdown = any(_MARKDOWN.match(line) for line in text.splitlines())
    for line in text.splitlines():
        if is_markdown and (heading := _MARKDOWN.match(line)):
            own = _NUMBERED.match(line.lstrip("# "))
            depth = len(heading[1])
            counts = [*counts[:depth], *[0] * (depth - len(counts))]
            counts[depth - 1] += 1
            number = own[1] if own else ".".join(map(str, counts))
        elif not is_markdown and (heading := _NUMBERED.match(line)):
            number = heading[1]
        parts = number.split(".")
        for depth in range(len(parts)):
            found.setdefault(".".join(parts[: depth + 1]), []).append(line)
    return {number: plain("\n".join(lines)) for number, lines in found.items()}


def fault(quote: str, place: str, text: str, by_number: dict[str, str]) -> str | None:
    """What is wrong with a quotation; None if it stands where it is said to stand."""
    if plain(quote) not in plain(text):
        return None if is_interrupted(quote, text) else "not in the text"
    section = _PLACE.match(place)
    if section is None or section[1] not in by_number:
        return None  # its place is no section, such as the abstract, or the text lacks the heading
    if plain(quote) not in by_number[section[1]]:
        elsewhere = [number for number, words in by_number.items() if plain(quote) in words]
        return f"not in section {section[1]}, but in {max(elsewhere, key=len, default='none')}"
    return None


def main() -> None:
    """Names every quotation that is not where it is said to be."""
    file, source = map(Path, sys.argv[1:])
    text = source.read_text(encoding="utf-8")
    by_number = sections(text)
    every = list(quotations(tomllib.loads(file.read_text(encoding="utf-8"))))
    faults = [(quote, found) for quote, place in every if (found := fault(quote, place, text, by_number))]
    for quote, found in faults:
        sys.stdout.write(f"{source.name}: {found}: {quote}\n")
    sys.stdout.write(f"{len(every) - len(faults)} of {len(every)} quotations stand in {source.name}\n")
    sys.exit(1 if faults or not every else 0)


if __name__ == "__main__":
    main()
