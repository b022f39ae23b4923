"""Prints the section of the changelog that belongs to a tag: `python .github/release_notes.py v0.1.0`.

Exits with status 1 where the tag is not the version in Cargo.toml, or the changelog has no section for it.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str, version: str, changelog: str) -> str:
    """The text between the heading of a version and the next one.

    Raises:
        ValueError: the tag is of another version, or the changelog has nothing about it.
    """
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, and Cargo.toml has version {version}: expected v{version}")
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, text = section.partition("\n")
        if heading.split()[0].strip("[]") == version and text.strip():
            return text.strip() + "\n"
    raise ValueError(f"CHANGELOG.md has no section '## {version}': move the lines of 'Unreleased' below it")


def main() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    try:
        sys.stdout.write(notes(sys.argv[1], version, changelog))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
