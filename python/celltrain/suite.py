"""Suites: a whole evaluation with one command, and what it says of some policies and stacks.

A section of a suite asks a question, runs its scenario with every policy and stack in question and with the
baseline, and judges its statements: each compares a measure with a factor of the baseline's, replication by
replication, and gets a verdict of three values.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from celltrain import _core, manifests, registry, text, verdicts
from celltrain.comparison import KIND as COMPARISON
from celltrain.comparison import (
    POLICY_KEY,
    Comparison,
    compare,
    comparison_key,
    known_policies,
    unknown_policy,
)
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.experiment import run
from celltrain.folder import Folder, claim, remove_results
from celltrain.scenario import Scenario, load, shown
from celltrain.suite_file import Section, Statement, Suite, is_place

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from celltrain.experiment import Progress
    from celltrain.runs.executors import Cluster

__all__ = [
    "KIND",
    "Judged",
    "SuiteResults",
    "check_suite",
    "old_sections",
    "remove_sections",
    "run_suite",
    "suite_key",
    "verdict_lines",
]

KIND = "suite"
"""The kind of results in the manifest of a suite's folder."""

BRIEF = {"duration": "1 ns", "warm-up": "0 s"}
"""Settings under which a scenario runs in no time."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the replications say of a statement for one variant."""

    section: str
    variant: str
    statement: Statement
    ratio: float | None
    """The mean of the measure over that of the baseline; None where that is zero or either has no value."""
    verdict: verdicts.Verdict


@dataclass(frozen=True, slots=True)
class SuiteResults:
    """What a suite found."""

    suite: Suite
    found: Mapping[str, Comparison]
    """The comparison of each section, by its place."""
    baselines: Mapping[str, Mapping[str, str]]
    """By section: the baseline of each variant."""

    def judged(self) -> Iterator[Judged]:
        """All statements of all sections, one per variant; baselines are left out."""
        for section in self.suite.sections:
            comparison = self.found[section.place]
            for variant, baseline in self.baselines[section.place].items():
                if not {variant, baseline} <= set(comparison.variants):  # left out: a run found a defect
                    continue
                for statement in section.statements:
                    yield _judged(section, statement, comparison, variant, baseline)

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
            "name": self.suite.title,
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
                "below" if one.statement.is_below else "above": one.statement.factor,
                "ratio": one.ratio,
                "verdict": str(one.verdict),
            }
            for one in self.judged()
        ]
        fingerprints = {place: one.manifest["fingerprint"] for place, one in self.found.items()}
        return {
            "suite": self.suite.name,
            "source": self.suite.source,
            "fingerprints": fingerprints,
            "rows": rows,
        }


def _judged(section: Section, statement: Statement, found: Comparison, variant: str, baseline: str) -> Judged:
    samples = [found.results[name].sample(statement.measure) for name in (variant, baseline)]
    means = [sum(sample) / len(sample) for sample in samples]
    ratio = means[0] / means[1] if means[1] and all(map(math.isfinite, means)) else None
    return Judged(section.place, variant, statement, ratio, statement.judge(*samples).verdict)


def run_suite(
    suite: Suite,
    *,
    policies: Sequence[str] = (),
    stacks: Sequence[str] = (),
    ecn: bool = False,
    replications: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    jobs: int | None = None,
    progress: "Progress | None" = None,
    executor: "Executor | Cluster | None" = None,
    folder: Folder | None = None,
    finish: "Callable[[Comparison, Folder], None] | None" = None,
) -> SuiteResults:
    """Runs every section of a suite.

    Args:
        suite: the evaluation.
        policies: what is evaluated; the suite's own by default.
        stacks: stacks of TCP for the sections whose stack may vary; that of the scenarios by default.
        ecn: let the connections negotiate ECN, and policies that can mark do so.
        replications: independent replications of every variant; the scenarios' own number by default.
        seed: the master seed; the scenarios' own by default.
        jobs: threads; as many as there are cores by default.
        progress: called as replications end.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        folder: a claimed results folder; each section gets a folder of its own in it.
        finish: called with each section's comparison and folder, before that is complete.

    Raises:
        InputError: there is no such policy or stack, a scenario cannot run with it, or lacks a measure.
    """
    chosen = _policies(suite, policies or suite.policies)
    check_suite(suite, stacks)
    compared = partial(
        compare, replications=replications, seed=seed, jobs=jobs, progress=progress, executor=executor
    )
    found: dict[str, Comparison] = {}
    baselines: dict[str, dict[str, str]] = {}
    for section in suite.sections:
        scenario = load(section.scenario)
        variants = _variants(suite, section, chosen, stacks, ecn)
        baselines[section.place] = _baselines(suite, section, chosen, stacks)
        if folder is None:
            found[section.place] = compared(scenario, variants)
            continue
        key = comparison_key(scenario, variants)
        with claim(folder.path / section.place, "compare", key, overwrite=True) as target:
            found[section.place] = compared(scenario, variants, folder=target)
            if finish is not None:
                finish(found[section.place], target)
            found[section.place].write_to(target)
    return SuiteResults(suite, found, baselines)


def check_suite(suite: Suite, stacks: Sequence[str] = ()) -> None:
    """Refuses what a suite cannot be run with, before anything runs or is written.

    Raises:
        InputError: there is no such stack, or the runs of a section lack a measure.
    """
    for stack in stacks:
        if stack not in (known := [one.name for one in registry.stacks()]):
            raise unknown("stack", stack, known)
    for section in suite.sections:
        _check_measures(section, load(section.scenario))


def _check_measures(section: Section, scenario: Scenario) -> None:
    """Refuses measures that the runs of a section will not have, before any of them.

    Which measures there are depends on the scenario alone, and not on how long it runs.
    """
    with suppress(ScenarioError):  # it cannot be as brief: the runs will tell
        brief = run(scenario.with_(BRIEF), replications=1, jobs=1)
        _refuse_unknown(section, brief.summary["metric"].to_list())


def _refuse_unknown(section: Section, known: Sequence[str]) -> None:
    for name in (*section.measures, *(one.measure for one in section.statements)):
        if name not in known:
            problem = unknown("measure of this scenario", name, known)
            raise InputError(f"section {section.place}: {shown(section.scenario)}: {problem}")


def suite_key(
    suite: Suite, policies: Sequence[str] = (), stacks: Sequence[str] = (), ecn: bool = False
) -> str:
    """What identifies the results of a suite among others: its scenarios, policies and stacks."""
    chosen = _policies(suite, policies or suite.policies)
    sections = (
        comparison_key(load(one.scenario), _variants(suite, one, chosen, stacks, ecn))
        for one in suite.sections
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


def _policies(suite: Suite, names: Sequence[str]) -> list[str]:
    """The policies to evaluate, each once and without the baseline."""
    known = known_policies()
    for name in (suite.baseline, *names):
        if name not in known:
            raise unknown_policy(name)
    chosen = [name for name in dict.fromkeys(names) if name != suite.baseline]
    if not chosen:
        raise InputError(f"a suite evaluates policies against {suite.baseline}: name another one")
    return chosen


def _variants(
    suite: Suite, section: Section, policies: Sequence[str], stacks: Sequence[str], ecn: bool
) -> dict[str, dict[str, Any]]:
    """The settings of every variant of a section; the baselines come first."""
    varied = list(dict.fromkeys(stacks)) if section.stacks and stacks else [None]
    return {
        _name(policy, stack): {
            POLICY_KEY: policy,
            **suite.needs.get(policy, {}),
            **({"tcp.stack": stack} if stack else {}),
            **({"tcp.ecn": True, **_marking(policy)} if ecn else {}),
        }
        for policy in (suite.baseline, *policies)
        for stack in varied
    }


def _baselines(
    suite: Suite, section: Section, policies: Sequence[str], stacks: Sequence[str]
) -> dict[str, str]:
    """The baseline of every variant of a section that is no baseline itself."""
    varied = list(dict.fromkeys(stacks)) if section.stacks and stacks else [None]
    return {_name(policy, stack): _name(suite.baseline, stack) for policy in policies for stack in varied}


def _name(policy: str, stack: str | None) -> str:
    return f"{policy}, {stack}" if stack else policy


def _marking(policy: str) -> dict[str, Any]:
    """The setting by which a policy marks instead of dropping, if it has one; some mark in any case."""
    described = next(one for one in json.loads(_core.policies()) if one["name"] == policy)
    return (
        {f"switch.discard.{policy}.ecn": True}
        if "ecn" in described["parameters"].get("properties", {})
        else {}
    )


def verdict_lines(results: SuiteResults, place: str) -> list[tuple[str, ...]]:
    """For people: each statement of a section and variant with the ratio to the baseline and the verdict."""
    return [
        (one.statement.text, one.variant, text.percent(one.ratio), str(one.verdict))
        for one in results.judged()
        if one.section == place
    ]
