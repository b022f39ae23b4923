"""What describes a suite: the folder with `suite.toml` and a scenario file for each section."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from celltrain import registry, verdicts
from celltrain.arguments import from_home
from celltrain.comparison import known_policies, unknown_policy
from celltrain.embedded import parsed
from celltrain.errors import InputError, unknown
from celltrain.files.manifests import MANIFEST
from celltrain.files.names import MOST, file_stem
from celltrain.papers.expression import Expression
from celltrain.scenario import read_text, shown
from celltrain.suites.causes import Cause, load_causes
from celltrain.suites.measures import OwnMeasure
from celltrain.tables import from_folder

__all__ = ["Section", "Statement", "Suite", "is_place", "load_suite", "suites"]

LIBRARY = Path(__file__).parent / "library"
"""The suites that come with the package."""

FILE = "suite.toml"
"""What describes a suite in its folder."""

FILES = ("report.html", "verdicts.json", MANIFEST)
"""The files of the results, beside a folder for each section."""

_FOLDER = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z_-]+)*")
"""The place of a section, which is the name of its folder among the results."""


TABLES = ("needs", "limits", "measure", "section")
"""The tables of a suite."""

RELATIONS = ("below", "above", "at-most", "at-least")
"""How a statement compares; the last two let the limit itself pass."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What may or may not hold for a variant in a section."""

    text: str
    measure: str
    relation: str
    """One of `RELATIONS`."""
    limit: float
    """A factor of the baseline's value; the value itself where the statement is absolute."""
    absolute: bool = False

    def judge(self, sample: Sequence[float], baseline: Sequence[float]) -> verdicts.Judgement:
        """The judgement from paired replications."""
        pairs = zip(sample, baseline, strict=True)
        rest = [one - self.limit * (1.0 if self.absolute else other) for one, other in pairs]
        match self.relation:
            case "below":
                return verdicts.below(rest)
            case "above":
                return verdicts.above(rest)
            case "at-most":
                return verdicts.between(rest, None, 0.0)
            case _:
                return verdicts.between(rest, 0.0, None)


@dataclass(frozen=True, slots=True)
class Section:
    """A question, the scenario that is to answer it, and what is looked at."""

    place: str
    """The section of the source, and the name of its folder among the results."""
    title: str
    question: str
    quote: str
    """What the source says of it, word by word; may be empty."""
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
    """What the others are compared with: a discard policy, or a stack where stacks are evaluated."""
    policies: tuple[str, ...]
    """The policies evaluated by default; none where stacks are evaluated."""
    stacks: tuple[str, ...]
    """The stacks evaluated by default; none where policies are evaluated."""
    needs: Mapping[str, Mapping[str, Any]]
    """The settings that a policy or a stack needs besides its name."""
    missing: tuple[str, ...]
    """Sections of the source that are left out, with the reason."""
    measures: Mapping[str, OwnMeasure]
    """What the suite measures beside the summary, by name."""
    sections: tuple[Section, ...]
    causes: tuple[Cause, ...] = ()
    """Why statements fail."""

    def measure(self, name: str) -> registry.Measure:
        """A measure by its name: one of the suite's own, or one of the summary.

        Raises:
            InputError: there is none.
        """
        return self.measures[name].measure if name in self.measures else registry.measure(name)

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
    folder = from_home(name)
    if not (folder / FILE).is_file():
        known = suites()
        if str(name) not in known:
            raise unknown("suite", str(name), known)
        folder = known[str(name)]
    place = folder / FILE
    try:
        suite = _Reader(place).suite(parsed(read_text(place)))
    except ValueError as error:
        raise InputError(f"{shown(place)}: {error}") from error
    judged = {one.place: [said.measure for said in one.statements] for one in suite.sections}
    return replace(suite, causes=load_causes(folder, judged))


@dataclass(frozen=True, slots=True)
class _Words:
    """What the sections of a suite can name."""

    measures: Mapping[str, OwnMeasure]
    limits: Mapping[str, float]

    def measure(self, name: str) -> str:
        """The name of a measure of the suite; or of the summary, by its name or title.

        Raises:
            InputError: there is none.
        """
        return name if name in self.measures else registry.measure(name).name

    def limit(self, value: object, where: str) -> float | None:
        """A limit that is given as a number or by its name; None if it is neither.

        Raises:
            ValueError: there is no limit of this name.
        """
        if isinstance(value, str):
            if value not in self.limits:
                raise ValueError(f"{where}: {unknown('limit', value, self.limits)}")
            return self.limits[value]
        return float(value) if _is_factor(value) else None  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a `suite.toml`; errors name the file."""

    place: Path

    def suite(self, content: Mapping[str, Any]) -> Suite:
        known = ("title", "source", "baseline", "policies", "stacks", "missing", *TABLES)
        self._known(content, known, "the suite")
        if "policies" in content and "stacks" in content:
            raise ValueError("a suite evaluates `policies` or `stacks`, not both")
        evaluated = "stacks" if "stacks" in content else "policies"
        chosen = {evaluated: self._texts(content, evaluated, "the suite")}
        words = _Words(self._measures(content.get("measure", {})), self._limits(content.get("limits", {})))
        tables = self._tables(content, "section", "the suite")
        sections = tuple(self._section(one, words, evaluated) for one in tables)
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
            policies=chosen.get("policies", ()),
            stacks=chosen.get("stacks", ()),
            needs=self._needs(content.get("needs", {}), evaluated),
            missing=self._texts(content, "missing", "the suite") if "missing" in content else (),
            measures=words.measures,
            sections=sections,
        )

    def _section(self, content: Mapping[str, Any], words: "_Words", evaluated: str) -> Section:
        place = self._text(content, "place", "a section")
        if not is_place(place):
            letters = f"digits, letters, '.', '-' and '_' alone, at most {MOST} of them"
            raise ValueError(f"the place {place!r} names a folder: {letters}")
        if place in FILES:
            raise ValueError(f"the place {place!r} is the name of a file of the results")
        where = f"section {place}"
        known = ["place", "title", "question", "quote", "scenario", "measures", "statement"]
        known += ["stacks"] if evaluated == "policies" else []
        self._known(content, known, where)
        measures = self._texts(content, "measures", where)
        statements = self._tables(content, "statement", where)
        return Section(
            place=place,
            title=self._text(content, "title", where),
            question=self._text(content, "question", where),
            quote=self._text(content, "quote", where) if "quote" in content else "",
            scenario=self.place.parent / self._text(content, "scenario", where),
            measures=tuple(map(words.measure, measures)),
            statements=tuple(self._statement(one, words, where) for one in statements),
            stacks=self._truth(content, "stacks", where, default=True),
        )

    def _needs(self, content: object, evaluated: str) -> dict[str, dict[str, Any]]:
        of_stacks = evaluated == "stacks"
        kind, example = ("stack", "prague") if of_stacks else ("policy", "fq-codel")
        if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
            raise ValueError(f"`needs` has a table of settings for each {kind}, such as [needs.{example}]")
        known = registry.stacks().names if of_stacks else known_policies()
        for name in content:
            if name not in known:
                error = unknown(kind, name, known) if of_stacks else unknown_policy(name)
                raise ValueError(f"needs: {error}")
        return {name: from_folder(settings, self.place.parent) for name, settings in content.items()}

    def _measures(self, content: object) -> dict[str, OwnMeasure]:
        """The measures that the suite defines."""
        if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
            raise ValueError(
                "`measure` has a table for each measure of the suite's own, such as [measure.others]"
            )
        return {name: self._own_measure(name, one) for name, one in content.items()}

    def _own_measure(self, name: str, content: Mapping[str, Any]) -> OwnMeasure:
        where = f"measure {name}"
        self._known(content, ("title", "unit", "value", "better"), where)
        if name in (one.name for one in registry.measures() if one.over == "run"):
            raise ValueError(f"{where}: the summary of every run has a measure of this name")
        better = content.get("better")
        if better not in (None, "more", "less"):
            raise ValueError(f'{where}: `better` is "more" or "less"')
        unit = self._text(content, "unit", where) if "unit" in content else ""
        value = self._text(content, "value", where)
        title = self._text(content, "title", where)
        try:
            parsed_value = Expression.of(value)
        except InputError as error:
            raise ValueError(f"{where}: {error}") from None
        return OwnMeasure(
            registry.Measure(name, title, "", unit, value, "run", "", "the suite", better), parsed_value
        )

    def _limits(self, content: object) -> dict[str, float]:
        """The limits that statements can name."""
        if not isinstance(content, dict) or not all(map(_is_factor, content.values())):
            raise ValueError("`limits` has a number for each name")
        return {name: float(value) for name, value in content.items()}

    def _statement(self, content: Mapping[str, Any], words: "_Words", where: str) -> Statement:
        where = f"a statement of {where}"
        self._known(content, ("text", "measure", *RELATIONS, "absolute"), where)
        relations = [key for key in RELATIONS if key in content]
        limit = words.limit(content[relations[0]], where) if len(relations) == 1 else None
        if limit is None:
            expected = "`below`, `above`, `at-most` or `at-least`"
            raise ValueError(f"{where} needs {expected}, a factor of the baseline or a name of [limits]")
        return Statement(
            text=self._text(content, "text", where),
            measure=words.measure(self._text(content, "measure", where)),
            relation=relations[0],
            limit=limit,
            absolute=self._truth(content, "absolute", where, default=False),
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

    def _truth(self, content: Mapping[str, Any], key: str, where: str, *, default: bool) -> bool:
        value = content.get(key, default)
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
    return _FOLDER.fullmatch(name) is not None and file_stem(name) == name


def _is_factor(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond what a float can be
        return False
