"""What describes a suite: the folder with `suite.toml` and a scenario file for each section."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from celltrain import registry, verdicts
from celltrain.comparison import known_policies, unknown_policy
from celltrain.embedded import parsed
from celltrain.errors import InputError, unknown
from celltrain.manifests import MANIFEST
from celltrain.scenario import read_text, shown

__all__ = ["Section", "Statement", "Suite", "is_place", "load_suite", "suites"]

LIBRARY = Path(__file__).parent / "suites"
"""The suites that come with the package."""

FILE = "suite.toml"
"""What describes a suite in its folder."""

FILES = ("report.html", "verdicts.json", MANIFEST)
"""The files of the results, beside a folder for each section."""

_FOLDER = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z_-]+)*")
"""The place of a section, which is the name of its folder among the results."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What may or may not hold for a policy in a section."""

    text: str
    measure: str
    factor: float
    """Of the baseline's value with the same stack: where the measure has to lie below it, or above."""
    is_below: bool

    def judge(self, sample: Sequence[float], baseline: Sequence[float]) -> verdicts.Judgement:
        """The judgement from paired replications."""
        rest = [one - self.factor * other for one, other in zip(sample, baseline, strict=True)]
        return verdicts.below(rest) if self.is_below else verdicts.above(rest)


@dataclass(frozen=True, slots=True)
class Section:
    """A question, the scenario that is to answer it, and what is looked at."""

    place: str
    """The section of the source."""
    title: str
    question: str
    scenario: Path
    measures: tuple[str, ...]
    statements: tuple[Statement, ...]
    stacks: bool
    """Whether the stack varies; false where the scenario is about a stack of its own."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A whole evaluation."""

    name: str
    title: str
    source: str
    baseline: str
    policies: tuple[str, ...]
    """The policies evaluated by default."""
    needs: Mapping[str, Mapping[str, Any]]
    """The settings that a policy needs besides its name."""
    missing: tuple[str, ...]
    """Sections of the source that are left out, with the reason."""
    sections: tuple[Section, ...]

    def section(self, place: str) -> Section:
        """A section by its place.

        Raises:
            InputError: there is none.
        """
        for one in self.sections:
            if one.place == place:
                return one
        raise unknown("section", place, [one.place for one in self.sections])


def suites() -> dict[str, Path]:
    """The folders of the suites that come with the package, by their names."""
    return {path.parent.name: path.parent for path in sorted(LIBRARY.glob(f"*/{FILE}"))}


def load_suite(name: str | PathLike[str]) -> Suite:
    """A suite by its name, or by its folder.

    Raises:
        InputError: there is none, or its file is not as expected.
    """
    folder = Path(name)
    if not (folder / FILE).is_file():
        known = suites()
        if str(name) not in known:
            raise unknown("suite", str(name), known)
        folder = known[str(name)]
    place = folder / FILE
    try:
        return _Reader(place).suite(parsed(read_text(place)))
    except ValueError as error:
        raise InputError(f"{shown(place)}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a `suite.toml`; errors name the file."""

    place: Path

    def suite(self, content: Mapping[str, Any]) -> Suite:
        known = ("title", "source", "baseline", "policies", "missing", "needs", "section")
        self._known(content, known, "the suite")
        sections = tuple(map(self._section, self._tables(content, "section", "the suite")))
        if not sections:
            raise ValueError("a suite has at least one [[section]]")
        places = [one.place for one in sections]
        if len(set(places)) < len(places):
            raise ValueError("two sections have the same place")
        return Suite(
            name=self.place.parent.resolve().name,
            title=self._text(content, "title", "the suite"),
            source=self._text(content, "source", "the suite"),
            baseline=self._text(content, "baseline", "the suite"),
            policies=self._texts(content, "policies", "the suite"),
            needs=self._needs(content.get("needs", {})),
            missing=self._texts(content, "missing", "the suite") if "missing" in content else (),
            sections=sections,
        )

    def _section(self, content: Mapping[str, Any]) -> Section:
        place = self._text(content, "place", "a section")
        if not is_place(place):
            raise ValueError(f"the place {place!r} names a folder: digits, letters, '.', '-' and '_' alone")
        if place in FILES:
            raise ValueError(f"the place {place!r} is the name of a file of the results")
        where = f"section {place}"
        known = ("place", "title", "question", "scenario", "measures", "statement", "stacks")
        self._known(content, known, where)
        measures = self._texts(content, "measures", where)
        statements = self._tables(content, "statement", where)
        return Section(
            place=place,
            title=self._text(content, "title", where),
            question=self._text(content, "question", where),
            scenario=self.place.parent / self._text(content, "scenario", where),
            measures=tuple(registry.measure(name).name for name in measures),
            statements=tuple(self._statement(one, where) for one in statements),
            stacks=self._truth(content, "stacks", where),
        )

    def _needs(self, content: object) -> dict[str, dict[str, Any]]:
        if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
            raise ValueError("`needs` has a table of settings for each policy, such as [needs.fq-codel]")
        for name in content:
            if name not in known_policies():
                raise ValueError(f"needs: {unknown_policy(name)}")
        return content

    def _statement(self, content: Mapping[str, Any], where: str) -> Statement:
        self._known(content, ("text", "measure", "below", "above"), f"a statement of {where}")
        factors = [key for key in ("below", "above") if key in content]
        if len(factors) != 1 or not _is_factor(content[factors[0]]):
            raise ValueError(f"a statement of {where} needs `below` or `above`, a factor of the baseline")
        return Statement(
            text=self._text(content, "text", where),
            measure=registry.measure(self._text(content, "measure", where)).name,
            factor=float(content[factors[0]]),
            is_below=factors == ["below"],
        )

    def _known(self, content: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for key in content:
            if key not in known:
                raise ValueError(f"{where}: {unknown('key', key, known)}")

    def _text(self, content: Mapping[str, Any], key: str, where: str) -> str:
        value = content.get(key)
        if not isinstance(value, str) or not value:
            raise ValueError(f"{where} needs `{key}`, a text")
        return value

    def _truth(self, content: Mapping[str, Any], key: str, where: str) -> bool:
        value = content.get(key, True)
        if not isinstance(value, bool):
            raise ValueError(f"{where}: `{key}` is true or false")
        return value

    def _texts(self, content: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = content.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
            raise ValueError(f"{where} needs `{key}`, a list of texts")
        return tuple(value)

    def _tables(self, content: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise ValueError(f"{where}: `{key}` is an array of tables")
        return value


def is_place(name: str) -> bool:
    """Whether a section can have this place, which is the name of its folder among the results."""
    return _FOLDER.fullmatch(name) is not None


def _is_factor(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
