"""One scenario under several discard policies: which one, here, and what does it cost?"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import _core, folder, statistics, text
from celltrain.errors import InputError, unknown
from celltrain.experiment import Progress, attempt, replicate
from celltrain.folder import Folder, claim
from celltrain.results import Result, provenance, read_frames
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MEASURES", "Comparison", "Measure", "Verdict", "compare"]

KIND = "compare"
"""The kind of results in the manifest of a comparison's folder."""

POLICY_KEY = "switch.discard.policy"


@dataclass(frozen=True, slots=True)
class Measure:
    """A summary metric by which policies are compared."""

    metric: str
    title: str
    more_is_better: bool


MEASURES = (
    Measure("throughput", "throughput", True),
    Measure("fairness_index", "fairness index", True),
    Measure("cell_loss_ratio", "cell loss ratio", False),
    Measure("goodput", "goodput", True),
    Measure("delay_mean", "mean delay at the bottleneck", False),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best policy by one measure, and whether the runner-up can be told from it."""

    measure: Measure
    unit: str
    best: str
    runner_up: str
    lead: statistics.Estimate
    """By how much the best is better than the runner-up, over paired replications; never negative."""

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval of the lead lies above zero."""
        return self.lead.half_width is not None and self.lead.exceeds(0)

    def sentence(self) -> str:
        """As people read it."""
        lead = text.interval(self.lead, self.unit)
        if self.clear:
            return f"Best by {self.measure.title}: {self.best}, ahead of {self.runner_up} by {lead}."
        return (
            f"Best by {self.measure.title}: {self.best}, but these replications cannot tell it "
            f"from {self.runner_up} (lead {lead})."
        )


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of one scenario under several policies, with the same seeds."""

    manifest: dict[str, Any]
    """The manifest of the comparison's folder."""
    results: dict[str, Result]
    defects: list[str] = field(default_factory=list)
    """A line for each run that found celltrain wrong; its policy is left out."""

    @staticmethod
    def read(path: str | PathLike[str]) -> "Comparison":
        """Opens the folder of a comparison.

        Raises:
            InputError: the folder holds no complete comparison.
        """
        place = Path(path)
        manifest, load = folder.read_manifest(place, KIND), cache(read_frames(place))
        each = manifest["replications"]
        return Comparison(
            manifest,
            {
                policy: Result(
                    {
                        **manifest,
                        "policy": policy,
                        "fingerprints": manifest["fingerprints"][n * each :][:each],
                    },
                    _of_policy(load, policy),
                )
                for n, policy in enumerate(manifest["policies"])
            },
        )

    @property
    def policies(self) -> list[str]:
        """The policies in the order they were given; the first is the one the others are compared with."""
        return list(self.results)

    @property
    def baseline(self) -> str:
        """The policy the others are compared with."""
        return self.policies[0]

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run under every policy."""
        return Scenario.from_toml(self.manifest["scenario_toml"])

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures that every run has."""
        known = set(self.results[self.baseline].summary["metric"])
        return [measure for measure in MEASURES if measure.metric in known]

    def unit(self, measure: Measure) -> str:
        """The unit of a measure."""
        import polars as pl

        summary = self.results[self.baseline].summary
        unit: str = summary.filter(pl.col("metric") == measure.metric)["unit"][0]
        return unit

    def difference(self, policy: str, measure: Measure) -> statistics.Estimate:
        """A policy's measure less that of the first policy, over paired replications."""
        ours, theirs = (self.results[name].sample(measure.metric) for name in (policy, self.baseline))
        return statistics.paired_difference(ours, theirs)

    def verdict(self, measure: Measure) -> Verdict:
        """The best policy by a measure."""
        sign = 1 if measure.more_is_better else -1
        samples = {name: result.sample(measure.metric) for name, result in self.results.items()}
        order = sorted(samples, key=lambda name: -sign * statistics.mean(samples[name]))
        best, runner_up = order[0], order[1]
        better = [sign * (a - b) for a, b in zip(samples[best], samples[runner_up], strict=True)]
        return Verdict(measure, self.unit(measure), best, runner_up, statistics.estimate(better))

    def size(self, measure: Measure) -> float:
        """The largest mean of a measure, by which its unit is scaled everywhere."""
        return max(abs(result.estimate(measure.metric).mean) for result in self.results.values())

    def mean_lines(self) -> list[tuple[str, ...]]:
        """A line a policy for people: its name and the mean of every measure with its interval."""
        return [
            (policy, *(self._shown(m, result.estimate(m.metric)) for m in self.measures))
            for policy, result in self.results.items()
        ]

    def difference_lines(self) -> list[tuple[str, ...]]:
        """A line for each policy but the first: the paired difference of every measure with its interval."""
        return [
            (policy, *(self._shown(m, self.difference(policy, m)) for m in self.measures))
            for policy in self.policies[1:]
        ]

    def _shown(self, measure: Measure, found: statistics.Estimate) -> str:
        return text.interval(found, self.unit(measure), self.size(measure))

    def state_lines(self) -> list[tuple[str, str]]:
        """A line a policy for people: its name, and what a switch keeps for each VC under it."""
        return list(self.manifest.get("state_per_vc", {}).items())

    def sentences(self) -> list[str]:
        """A sentence a measure: which policy is best by it, and how sure that is."""
        return [verdict.sentence() for verdict in map(self.verdict, self.measures)]

    def frames(self) -> "dict[str, pl.DataFrame]":
        """Every frame of the results with the policy in front."""
        import polars as pl

        parts: dict[str, list[pl.DataFrame]] = {}
        for policy, result in self.results.items():
            for name, frame in result.frames().items():
                parts.setdefault(name, []).append(frame.select(pl.lit(policy).alias("policy"), pl.all()))
        return {name: pl.concat(frames, how="diagonal_relaxed") for name, frames in parts.items()}

    def write_to(self, target: Folder) -> None:
        """Writes every frame and the manifest to a folder that was claimed."""
        target.write_frames(self.frames())
        target.finish(self.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the comparison, without report and pictures, and returns its path."""
        with claim(path, KIND, self.manifest["key"], overwrite=overwrite) as target:
            self.write_to(target)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.policies)}: {self.manifest['name']!r}>"

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain compare --json` prints."""
        rows = []
        for policy, result in self.results.items():
            for measure in self.measures:
                found, difference = result.estimate(measure.metric), self.difference(policy, measure)
                rows.append(
                    {
                        "policy": policy,
                        "metric": measure.metric,
                        "unit": self.unit(measure),
                        "mean": found.mean,
                        "ci95": found.half_width,
                        "difference": difference.mean,
                        "difference_ci95": difference.half_width,
                    }
                )
        best = [
            {
                "metric": verdict.measure.metric,
                "best": verdict.best,
                "runner_up": verdict.runner_up,
                "lead": verdict.lead.mean,
                "lead_ci95": verdict.lead.half_width,
                "clear": verdict.clear,
            }
            for verdict in map(self.verdict, self.measures)
        ]
        kept = ("name", "celltrain", "seed", "replications", "fingerprint")
        return {
            **{key: self.manifest[key] for key in kept},
            "baseline": self.baseline,
            "state_per_vc": dict(self.state_lines()),
            "rows": rows,
            "best": best,
        }


def compare(
    scenario: Scenario,
    policies: Sequence[str],
    *,
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    trace: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario under each of several discard policies with the same seeds.

    Args:
        scenario: what to simulate; only `switch.discard.policy` is changed.
        policies: at least two names; the others are compared with the first.
        replications: independent replications of each; the scenario's own number by default.
        seed: the master seed; the scenario's own by default.
        jobs: threads; as many as there are cores by default. Results do not depend on it.
        trace: also record time series.
        progress: called as replications end.

    Raises:
        Defect: less than two policies are left without runs that found celltrain wrong.
    """
    variants = {policy: _variant(scenario, policy) for policy in policies}
    if len(variants) < 2:
        raise InputError("a comparison needs at least two different policies")
    tasks = {policy: replicate(variant, replications, seed, trace) for policy, variant in variants.items()}
    began = time.perf_counter()
    found, defects = attempt(
        [task for group in tasks.values() for task in group],
        jobs=jobs,
        progress=progress,
        reduce=lambda _, record: record,
    )
    wall_time = time.perf_counter() - began
    each = len(found) // len(tasks)
    runs = {policy: found[i * each : (i + 1) * each] for i, policy in enumerate(tasks)}
    # Runs are compared in pairs: a policy that lacks one is left out.
    whole = {policy: [run for run in group if run is not None] for policy, group in runs.items()}
    whole = {policy: group for policy, group in whole.items() if len(group) == each}
    if defects and len(whole) < 2:
        raise next(iter(defects.values()))
    records = [record for group in whole.values() for record in group]
    results = {
        policy: Result.of_records(variants[policy], tasks[policy][0].seed, group, wall_time)
        for policy, group in whole.items()
    }
    first = next(iter(results.values())).manifest
    manifest = {
        "kind": KIND,
        "key": comparison_key(scenario, list(variants)),
        "name": scenario.name,
        **provenance(records, wall_time),
        "policies": list(whole),
        "state_per_vc": {name: _catalogue()[name]["per_vc"] for name in whole},
        "seed": first["seed"],
        "replications": first["replications"],
        "units": {column: unit for one in results.values() for column, unit in one.manifest["units"].items()},
        "scenario": scenario.to_dict(),
        "scenario_toml": scenario.to_toml(),
    }
    return Comparison(
        manifest, results, [f"policy {list(tasks)[place // each]}: {one}" for place, one in defects.items()]
    )


def comparison_key(scenario: Scenario, policies: Sequence[str]) -> str:
    """What identifies a comparison among others: the scenario and the policies in their order."""
    return blake2b(" ".join((scenario.key, *policies)).encode(), digest_size=8).hexdigest()


def known_policies() -> list[str]:
    """The names of the discard policies that the core has."""
    return list(_catalogue())


def _catalogue() -> dict[str, dict[str, Any]]:
    """What the core says of each of its discard policies."""
    import json

    return {policy["name"]: policy for policy in json.loads(_core.policies())}


def _of_policy(load: "Callable[[str], pl.DataFrame]", policy: str) -> "Callable[[str], pl.DataFrame]":
    """What gives the rows of one policy, without its column."""

    def load_one(name: str) -> "pl.DataFrame":
        frame = load(name)
        return frame.filter(policy=policy).drop("policy") if "policy" in frame.columns else frame

    return load_one


def _variant(scenario: Scenario, policy: str) -> Scenario:
    known = known_policies()
    if policy not in known:
        raise unknown("policy", policy, known)
    return scenario.with_({POLICY_KEY: policy})
