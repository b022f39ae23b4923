"""Looks for quotations in the text that they are from: `python tests/papers/quotations.py FILE TEXT`.

FILE is a `paper.toml` or a `suite.toml`, TEXT the text of the standard or draft, which the project does not
contain. Differences in white space and between straight and typographic quotation marks do not count. Exits
with status 1 if a quotation is not there.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def quotations(content: Any) -> Iterator[str]:
    """Every value of a key `quote`."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from [value] if key == "quote" else quotations(value)
    elif isinstance(content, list):
        for one in content:
            yield from quotations(one)


def plain(text: str) -> str:
    """The words of a text with one space between them."""
    return " ".join(text.translate(str.maketrans("“”’", '""\'')).split())


def main() -> None:
    """Names every quotation that is not in the text."""
    file, source = map(Path, sys.argv[1:])
    text = plain(source.read_text(encoding="utf-8"))
    every = list(quotations(tomllib.loads(file.read_text(encoding="utf-8"))))
    absent = [one for one in every if plain(one) not in text]
    for one in absent:
        sys.stdout.write(f"not in {source.name}: {one}\n")
    sys.stdout.write(f"{len(every) - len(absent)} of {len(every)} quotations are in {source.name}\n")
    sys.exit(1 if absent or not every else 0)


if __name__ == "__main__":
    main()
