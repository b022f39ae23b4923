"""Suites: a whole evaluation with one command, and what it says of some policies or stacks.

A section of a suite asks a question, runs its scenario with every policy and stack in question and with the
baseline, and judges its statements: each compares a measure with a factor of the baseline's, replication by
replication, or with a limit, and gets a verdict of three values.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from celltrain import statistics, text, verdicts
from celltrain.comparison import KIND as COMPARISON
from celltrain.comparison import Comparison, compare, comparison_key
from celltrain.comparison.differences import misled
from celltrain.errors import InputError, ScenarioError
from celltrain.files import manifests
from celltrain.files.folder import Folder, claim, remove_results
from celltrain.papers.changed import told
from celltrain.papers.expression import NoValue
from celltrain.registry import is_count, resolution, unmeasured
from celltrain.results import Result
from celltrain.results.censored import too_many
from celltrain.scenario import Scenario, load, shown
from celltrain.suites.file import Section, Statement, Suite, is_place
from celltrain.suites.measures import sample_of
from celltrain.suites.variants import Asked, Plan, plan
from celltrain.trials import ITS, tried

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from celltrain.experiment import Progress
    from celltrain.runs.executors import Cluster

__all__ = [
    "KIND",
    "Asked",
    "Checked",
    "Judged",
    "SuiteResults",
    "check_suite",
    "old_sections",
    "remove_sections",
    "run_suite",
    "suite_key",
    "verdict_columns",
    "verdict_lines",
]

KIND = "suite"
"""The kind of results in the manifest of a suite's folder."""

MOST_LETTERS = 100
"""Letters of the settings in a title."""

ASKED = Asked()
"""Nothing beside what the suite names itself."""

Checked = Mapping[str, tuple[Scenario, Plan]]
"""What was found to run in each section of a suite, by its place: its scenario, and the variants."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the replications say of a statement for one variant."""

    section: str
    variant: str
    statement: Statement
    found: statistics.Estimate
    """The measure of the variant."""
    baseline: str
    """The variant that it is compared with."""
    reference: statistics.Estimate
    """The measure of that one."""
    ratio: float | None
    """The mean of the measure over that of the baseline; None where that is zero or either has no value."""
    verdict: verdicts.Verdict
    cause: str | None
    """Why it fails, if the suite knows, or why times are not compared; None where it is supported."""


@dataclass(frozen=True, slots=True)
class SuiteResults:
    """What a suite found."""

    suite: Suite
    found: Mapping[str, Comparison]
    """The comparison of each section, by its place."""
    baselines: Mapping[str, Mapping[str, str]]
    """By section: the baseline of each variant."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the suite does not have itself, of all variants."""

    @property
    def title(self) -> str:
        """The title of the suite, and the settings that are not its own."""
        return (
            f"{self.suite.title}, with {text.told([told(self.settings)], MOST_LETTERS)[0]}"
            if self.settings
            else self.suite.title
        )

    def judged(self) -> Iterator[Judged]:
        """All statements of all sections, one per variant; baselines are left out."""
        for section in self.suite.sections:
            comparison = self.found[section.place]
            for variant, baseline in self.baselines[section.place].items():
                if not {variant, baseline} <= set(comparison.variants):  # left out: a run found a defect
                    continue
                for statement in section.statements:
                    yield self._judged(section, statement, variant, baseline)

    def estimate(self, section: Section, variant: str, measure: str) -> statistics.Estimate:
        """The mean of a measure of a variant with its interval."""
        sample = self._sample(section, variant, measure)
        coarse = 0.0 if measure in self.suite.measures else resolution(measure)
        return statistics.estimate(sample, unit=self.unit(section, measure), resolution=coarse)

    def unit(self, section: Section, measure: str) -> str:
        """The unit of a measure: what the runs of a section count, of a measure of the summary."""
        if measure in self.suite.measures:
            return self.suite.measure(measure).unit
        return self.found[section.place].unit(measure)

    def _sample(self, section: Section, variant: str, measure: str) -> list[float]:
        result = self.found[section.place].results[variant]
        try:
            return sample_of(self.suite.measures, measure)(result)
        except InputError as error:
            raise InputError(
                f"section {section.place}, variant {variant}: measure {measure}: {error}"
            ) from error

    def _judged(self, section: Section, statement: Statement, variant: str, baseline: str) -> Judged:
        samples = [self._sample(section, name, statement.measure) for name in (variant, baseline)]
        means = [sum(sample) / len(sample) for sample in samples]
        ratio = means[0] / means[1] if means[1] and all(map(math.isfinite, means)) else None
        found = self.estimate(section, variant, statement.measure)
        verdict = statement.judge(*samples).verdict
        causes = [self._misleading(section, statement, variant, baseline)]
        if causes[0]:
            verdict = verdicts.Verdict.UNDECIDED
        if verdict != verdicts.Verdict.SUPPORTED:
            causes.append(self._cause(section, variant, statement))
        cause = " ".join(filter(None, causes)) or None
        reference = self.estimate(section, baseline, statement.measure)
        return Judged(section.place, variant, statement, found, baseline, reference, ratio, verdict, cause)

    def _misleading(self, section: Section, statement: Statement, variant: str, baseline: str) -> str:
        """Why times are not compared: too many transfers or requests of one of the two had not ended."""
        if statement.measure in self.suite.measures:
            return ""
        comparison, measure = self.found[section.place], self.suite.measure(statement.measure)
        cut = {*misled(comparison, measure.name)}
        every = {name: comparison.censored(name, measure) for name in (variant, baseline) if name in cut}
        told = [f"{text.named(name)} ({one.part})" for name, one in every.items() if one is not None]
        if not told:
            return ""
        why = text.capital(too_many(measure.name, every.values()))
        return f"{why} under {' and '.join(told)}, and the times are those of the others."

    def _cause(self, section: Section, variant: str, statement: Statement) -> str:
        for one in self.suite.causes:
            if one.explains(section.place, variant, statement.measure):
                return one.sentence
        return ""

    def causes(self, place: str) -> list[str]:
        """For people: a line for each cause of what is not supported in a section."""
        found: dict[tuple[str, str], list[str]] = {}
        for one in self.judged():
            if one.section == place and one.cause is not None:
                title = self.suite.measure(one.statement.measure).title
                found.setdefault((one.variant, one.cause), []).append(title)
        return [
            f"{variant}, {' and '.join(dict.fromkeys(titles))}: {cause}"
            for (variant, cause), titles in found.items()
        ]

    def alike(self, place: str) -> list[str]:
        """For people: which variants of a section gave the results of their baseline in every replication."""
        groups = self.found[place].alike()
        same: dict[str, list[str]] = {}
        for variant, baseline in self.baselines[place].items():
            if variant != baseline and any({variant, baseline} <= {*group} for group in groups):
                same.setdefault(baseline, []).append(variant)
        return [
            f"{text.listed(names)} gave the same results as {text.named(baseline)} in every replication: the "
            "verdicts say nothing of what sets them apart."
            for baseline, names in same.items()
        ]

    @property
    def defects(self) -> list[str]:
        """A line for each run that found celltrain wrong."""
        return [f"section {place}: {line}" for place, one in self.found.items() for line in one.defects]

    def common(self) -> dict[str, int | None]:
        """The seed and the number of replications of all sections; None where they differ."""
        manifests = [one.manifest for one in self.found.values()]
        found = {key: {one[key] for one in manifests} for key in ("seed", "replications")}
        return {key: values.pop() if len(values) == 1 else None for key, values in found.items()}

    def manifest(self) -> dict[str, Any]:
        """The manifest of the suite's folder; that of each section is in the section's folder."""
        each = {place: one.manifest for place, one in self.found.items()}
        common = {key: value for key, value in self.common().items() if value is not None}
        return {
            "name": self.title,
            "suite": self.suite.name,
            "celltrain": next(iter(each.values()))["celltrain"],
            **common,
            "sections": {place: manifest["fingerprint"] for place, manifest in each.items()},
        }

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain suite --json` prints."""
        rows = [
            {
                "section": one.section,
                "variant": one.variant,
                "statement": one.statement.text,
                "measure": one.statement.measure,
                one.statement.relation: one.statement.limit,
                "absolute": one.statement.absolute,
                **one.found.row(),
                "baseline": one.baseline,
                "baseline_mean": one.reference.mean,
                "baseline_ci95": one.reference.half_width,
                "ratio": one.ratio,
                "verdict": str(one.verdict),
                "cause": one.cause,
            }
            for one in self.judged()
        ]
        fingerprints = {place: one.manifest["fingerprint"] for place, one in self.found.items()}
        return {
            "suite": self.suite.name,
            "source": self.suite.source,
            **({"settings": dict(self.settings)} if self.settings else {}),
            "fingerprints": fingerprints,
            "alike": {place: said for place in self.found if (said := self.alike(place))},
            "rows": rows,
        }


def run_suite(
    suite: Suite,
    asked: Asked = ASKED,
    *,
    replications: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    jobs: int | None = None,
    progress: "Progress | None" = None,
    executor: "Executor | Cluster | None" = None,
    folder: Folder | None = None,
    finish: "Callable[[Comparison, Folder], None] | None" = None,
    checked: Checked | None = None,
) -> SuiteResults:
    """Runs every section of a suite.

    Args:
        suite: the evaluation.
        asked: what is evaluated; the suite's own policies or stacks by default.
        replications: independent replications of every variant; the scenarios' own number by default.
        seed: the master seed; the scenarios' own by default.
        jobs: threads; as many as there are cores by default.
        progress: called as replications end.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        folder: a claimed results folder; each section gets a folder of its own in it.
        finish: called with each section's comparison and folder, before that is complete.
        checked: what `check_suite` returned for the same suite and the same `asked`, so that nothing is
            checked twice; it is checked first by default.

    Raises:
        InputError: there is no such policy or stack, a scenario cannot run with it, or lacks a measure.
    """
    whole = check_suite(suite, asked, jobs) if checked is None else checked
    compared = partial(
        compare, replications=replications, seed=seed, jobs=jobs, progress=progress, executor=executor
    )
    found: dict[str, Comparison] = {}
    baselines: dict[str, Mapping[str, str]] = {}
    for section in suite.sections:
        scenario, planned = whole[section.place]
        variants, baselines[section.place] = planned.settings, planned.baselines
        if folder is None:
            found[section.place] = compared(scenario, variants)
            continue
        key = comparison_key(scenario, variants)
        with claim(folder.path / section.place, "compare", key, overwrite=True) as target:
            found[section.place] = compared(scenario, variants, folder=target)
            if finish is not None:
                finish(found[section.place], target)
            found[section.place].write_to(target)
    # The causes were tested with the settings of the suite.
    judged = replace(suite, causes=()) if asked.ecn or asked.settings else suite
    return SuiteResults(judged, found, baselines, asked.settings)


def check_suite(suite: Suite, asked: Asked = ASKED, jobs: int | None = None) -> Checked:
    """Refuses what a suite cannot be run with, before anything runs or is written.

    Returns:
        What is to run in each section, for `run_suite`.

    Raises:
        InputError: there is no such policy or stack, a scenario cannot run with it, or the runs of a section
            lack a measure.
    """
    found: dict[str, tuple[Scenario, Plan]] = {}
    for section in suite.sections:
        scenario, planned = found[section.place] = load(section.scenario), plan(suite, section, asked)
        variants = {name: _variant(section, scenario, name, some) for name, some in planned.settings.items()}
        _check_measures(suite, section, variants, jobs)
    return found


def _variant(section: Section, scenario: Scenario, name: str, settings: Mapping[str, Any]) -> Scenario:
    try:
        return scenario.with_(settings)
    except ScenarioError as error:
        raise InputError(f"section {section.place}, variant {name}: {error}") from error


def _check_measures(
    suite: Suite, section: Section, variants: Mapping[str, Scenario], jobs: int | None
) -> None:
    """Refuses measures that the runs of a section will not have, before any of them."""
    records = zip(variants.items(), tried(variants.values(), lambda record: record, jobs=jobs), strict=True)
    trials = {
        name: Result.of_records(one, one.seed, [record], 0.0)
        for (name, one), record in records
        if record is not None
    }
    for measure in dict.fromkeys((*section.measures, *(one.measure for one in section.statements))):
        lacking = {name: why for name, found in trials.items() if (why := _lacks(suite, measure, found))}
        if lacking:
            name, why = next(iter(lacking.items()))
            which = f": {shown(section.scenario)}" if len(lacking) == len(variants) else f", variant {name}"
            raise InputError(f"section {section.place}{which}: {why}")


def _lacks(suite: Suite, measure: str, trial: Result) -> str:
    """Why a trial, and so the runs to come, have no such measure; nothing if they have it."""
    if measure in suite.measures:
        try:
            with suppress(NoValue):  # it selects by data, and there are none yet
                suite.measures[measure].sample(trial)
        except InputError as error:
            return f"measure {measure}: {error}"
        return ""
    known = trial.summary["metric"].to_list()
    return "" if measure in known else str(unmeasured(measure, known, "measure", ITS))


def suite_key(suite: Suite, asked: Asked = ASKED) -> str:
    """What identifies the results of a suite among others: its scenarios and their variants."""
    sections = (
        comparison_key(load(one.scenario), plan(suite, one, asked).settings) for one in suite.sections
    )
    return blake2b(" ".join(sections).encode(), digest_size=8).hexdigest()


def old_sections(path: Path, suite: Suite) -> list[str]:
    """The sections of complete results in a folder that a suite does not have.

    A section's folder that holds other results by now is none of them.
    """
    try:
        earlier = manifests.load(path) or {}
    except InputError:  # whatever it was, it is replaced
        return []
    found = earlier.get("sections", {}) if earlier.get("kind") == KIND else {}
    if not isinstance(found, dict):
        return []
    kept = [one.place for one in suite.sections]
    gone = [place for place in found if place not in kept and is_place(place)]
    return [place for place in gone if _fingerprint(path / place) == found[place]]


def _fingerprint(path: Path) -> str | None:
    """The fingerprint of the comparison in a folder, if it holds a complete one."""
    try:
        held = manifests.load(path) or {}
    except InputError:
        return None
    return held.get("fingerprint") if held.get("kind") == COMPARISON and held.get("complete") else None


def remove_sections(path: Path, places: Sequence[str]) -> None:
    """Removes the results of some sections from the folder of a suite; what else is there stays."""
    for place in places:
        with suppress(InputError):  # its manifest cannot be read: who knows what it is
            remove_results(path / place)


def verdict_columns(suite: Suite) -> tuple[str, ...]:
    """The columns of the lines of verdicts."""
    return ("statement", "variant", "verdict", "measured", suite.baseline, f"relative to {suite.baseline}")


def verdict_lines(results: SuiteResults, place: str) -> list[tuple[str, ...]]:
    """For people: each statement of a section and variant, what was measured of it and of the baseline."""

    def shown(one: Judged, found: statistics.Estimate) -> str:
        return text.interval(found, found.unit, is_count=is_count(one.statement.measure))

    return [
        (
            one.statement.text,
            one.variant,
            str(one.verdict),
            shown(one, one.found),
            shown(one, one.reference),
            text.percent(one.ratio),
        )
        for one in results.judged()
        if one.section == place
    ]
