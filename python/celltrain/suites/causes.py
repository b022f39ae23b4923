"""Why statements of a suite fail: `causes.toml` beside `suite.toml`, with the run that tests each cause."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celltrain.embedded import parsed
from celltrain.errors import InputError, unknown
from celltrain.registry import called
from celltrain.scenario import read_text, shown

__all__ = ["FILE", "Cause", "load_causes"]

FILE = "causes.toml"
"""What explains verdicts in the folder of a suite; may be missing."""

TEXTS = ("variant", "text", "tried", "gave")
KEYS = ("sections", "measures", *TEXTS, "set", "alone", "replications")


@dataclass(frozen=True, slots=True)
class Cause:
    """Why statements about some measures of a variant fail, and what varying one thing gave."""

    sections: tuple[str, ...]
    """The places of the sections."""
    variant: str
    measures: tuple[str, ...]
    text: str
    """The cause, in a sentence."""
    tried: str
    """What was varied to test it."""
    gave: str
    """What that gave, of the baseline's value, with the verdict."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was varied, as settings."""
    alone: bool = False
    """Whether the baseline kept its settings."""
    replications: int | None = None
    """How many there were; those of the scenario if None."""

    def explains(self, section: str, variant: str, measure: str) -> bool:
        """Whether it is about the statements on a measure of a variant in a section."""
        return section in self.sections and variant == self.variant and measure in self.measures

    @property
    def sentence(self) -> str:
        """The cause and its test, for people."""
        return f"{self.text}. With {self.tried}: {self.gave}."


def load_causes(folder: Path, measures: Mapping[str, Sequence[str]]) -> tuple[Cause, ...]:
    """The causes in the folder of a suite; none without the file.

    Args:
        folder: that of the suite.
        measures: the measures of each section's statements, by its place.

    Raises:
        InputError: the file is not as expected, or names what the suite does not have.
    """
    place = folder / FILE
    if not place.is_file():
        return ()
    try:
        content = parsed(read_text(place))
        tables = content.pop("cause", [])
        if content or not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            raise ValueError("the file is an array of tables, each beginning with [[cause]]")
        return tuple(_cause(one, measures) for one in tables)
    except ValueError as error:
        raise InputError(f"{shown(place)}: {error}") from error


def _cause(content: Mapping[str, Any], measures: Mapping[str, Sequence[str]]) -> Cause:
    for key in content:
        if key not in KEYS:
            raise ValueError(f"a cause: {unknown('key', key, KEYS)}")
    sections = _names(content, "sections", list(measures))
    about = [_names(content, "measures", measures[section], some=True) for section in sections]
    texts = {key: _text(content, key) for key in TEXTS}
    settings, alone, count = content.get("set", {}), content.get("alone", False), content.get("replications")
    if not isinstance(settings, dict) or not isinstance(alone, bool):
        raise ValueError("a cause: `set` is a table of settings, and `alone` is true or false")
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise ValueError("a cause: `replications` is a whole number, 1 or more")
    return Cause(
        sections,
        measures=about[0],
        settings=settings,
        alone=alone,
        replications=count,
        **texts,
    )


def _names(
    content: Mapping[str, Any], key: str, known: Sequence[str], *, some: bool = False
) -> tuple[str, ...]:
    """A list of known names; `some` accepts a list of which at least one is known."""
    names = content.get(key)
    if not isinstance(names, list) or not names or not all(isinstance(one, str) for one in names):
        raise ValueError(f"a cause needs `{key}`, a list of texts")
    if some:  # measures, which also have titles
        names = [one if one in known else called(one) for one in names]
    wrong = [one for one in names if one not in known]
    if wrong and (not some or len(wrong) == len(names)):
        raise ValueError(f"a cause: {unknown(key.removesuffix('s'), wrong[0], known)}")
    return tuple(names)


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"a cause needs `{key}`, a text")
    return value
