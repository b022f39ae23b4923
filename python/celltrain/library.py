"""What comes with the package: scenarios to start from, and the JSON schemas for editors."""

from pathlib import Path

from celltrain.errors import unknown

__all__ = ["DESCRIPTION_MARK", "SCHEMA_FILE", "about", "example", "examples", "schema_text"]

SCENARIOS = Path(__file__).parent / "scenarios" / "teaching"
"""The scenarios that come with the package."""

SCHEMA_FILE = "celltrain.schema.json"
"""The name of the file that `#:schema` of a scenario refers to."""

DESCRIPTION_MARK = "#:schema"
"""How a TOML file names its schema to an editor (Taplo, Even Better TOML)."""


def examples() -> dict[str, Path]:
    """The files of the example scenarios by their names."""
    return {path.stem: path for path in sorted(SCENARIOS.glob("*.toml"))}


def example(name: str) -> Path:
    """The file of an example scenario.

    Raises:
        InputError: there is none of this name; the message names the nearest.
    """
    known = examples()
    if name not in known:
        raise unknown("example", name, known)
    return known[name]


def about(path: Path) -> str:
    """The first sentence of the comment that a scenario begins with."""
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith(DESCRIPTION_MARK):
            words += line.removeprefix("#").split()
    text = " ".join(words)
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def schema_text() -> str:
    """The JSON schema of scenario files, as text."""
    import json

    from celltrain import _core

    return json.dumps(json.loads(_core.schema()), indent=2, ensure_ascii=False) + "\n"
