"""Runs the variants of a comparison with the same seeds, until enough replications are there."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, SupportsIndex

from celltrain import arguments, registry
from celltrain.comparison.differences import different_units, misled, not_judged
from celltrain.comparison.result import KIND, Comparison
from celltrain.comparison.variants import (
    Variants,
    comparison_key,
    policies,
    state_per_vc,
    varied,
    written,
)
from celltrain.errors import Defect, InputError
from celltrain.experiment import MAX_RUNS, Progress, Task, attempt, replicate, within
from celltrain.files.folder import Folder, claim_out
from celltrain.results import Record, Result, provenance
from celltrain.results.of_flows import held_by
from celltrain.runs import Store
from celltrain.scenario import Scenario
from celltrain.trials import ITS, TO_COME, measured
from celltrain.verdicts import LEAST, Verdict

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from celltrain.runs.executors import Cluster

__all__ = ["MAX_REPLICATIONS", "compare"]

MAX_REPLICATIONS = 100
"""Replications that a comparison may take until a winner is clear, unless told otherwise."""


def compare(
    scenario: Scenario,
    variants: Sequence[str] | Variants,
    *,
    replications: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    jobs: int | None = None,
    trace: bool = False,
    measures: Sequence[str] | None = None,
    until_clear: str | None = None,
    max_replications: int = MAX_REPLICATIONS,
    progress: Progress | None = None,
    executor: "Executor | Cluster | None" = None,
    folder: Folder | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> Comparison:
    """Runs a scenario in several variants with the same seeds.

        ct.compare(scenario, ["tail-drop", "epd"])
        ct.compare(
            scenario,
            {"small": {"switch.buffer": "200 cells"}, "large": {"switch.buffer": "2000 cells"}},
        )

    Args:
        scenario: what to simulate.
        variants: names of discard policies, or the settings of each variant by a name of its own (see
            `vary`), or a scenario in their place; at least two. The others are compared with the first.
        replications: independent replications of each; the scenario's own number by default.
        seed: the master seed of every variant; that of `scenario` by default.
        jobs: threads; as many as there are cores by default. Results do not depend on it.
        trace: also record time series; so do measures that need them, such as `synchronisation_index`.
        measures: the metrics of the summary by which variants are compared, by name or title; the usual ones
            by default (see `Comparison.measures`). All of them are judged together. By those of which neither
            more nor less is better variants differ, and none is best.
        until_clear: a metric of the summary, by name or title: as many more replications are added, again and
            again, until a single variant is best by it, the best are the same within the least difference
            that matters (`celltrain.margins`), or it is undefined in a replication. Each look at the data
            spends a part of the error (`celltrain.verdicts.spent_share`), so that looking often names no
            winner that there is not.
        max_replications: with `until_clear`, replications of each at most, clear or not; also where the
            scenario's own number is larger.
        progress: called as replications end.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        folder: a claimed results folder in which every run is kept as soon as it ends, and from which those
            of an earlier call are taken.
        out: a folder that is claimed for this call, keeps its runs, and holds results and report in the end,
            as `Comparison.write` writes them. The same call goes on where it was stopped.
        overwrite: take a folder `out` that holds another experiment.

    Raises:
        InputError: there are fewer than two variants, two that are the same scenario, more replications than
            the most, no such measure, one that the runs lack, `until_clear` by which no variant is best, or a
            folder that cannot be used.
        Defect: fewer than two variants are left without runs that found celltrain wrong.
    """
    arguments.claimed("folder", folder)
    arguments.truth("overwrite", overwrite)
    settings = _settings(variants)
    first = replicate(scenario, replications, seed)
    most = within("max-replications", max_replications, 1, MAX_RUNS)
    if out is not None:
        held = len(first) if until_clear is None else most  # so many may be there already
        asked_for = {"seed": first[0].seed, "replications": held}
        key = comparison_key(scenario, settings)
        with claim_out(out, KIND, key, asked_for, overwrite=overwrite, given=folder) as target:
            comparison = compare(
                scenario,
                settings,
                replications=replications,
                seed=seed,
                jobs=jobs,
                trace=trace,
                measures=measures,
                until_clear=until_clear,
                max_replications=max_replications,
                progress=progress,
                executor=executor,
                folder=target,
            )
            comparison.fill(target)
        return comparison
    if until_clear is not None:
        first = _first_look(first, most, is_asked=replications is not None)
    changed = varied(scenario, settings)
    asked = _Asked.of(measures, until_clear)
    known, is_traced = _known(asked.names, changed, arguments.truth("trace", trace), jobs)
    _check_measures(asked.names, known)  # before a folder has anything of these runs
    store = None if folder is None else folder.store(first[0].seed)
    if asked.followed is not None:
        store = Store(None, first[0].seed) if store is None else store
    began, before = time.perf_counter(), 0 if store is None else len(store)
    count, looks = len(first), 0
    while True:
        looks += count >= LEAST  # with fewer replications nothing can be decided, so that no error is spent
        tasks = {name: replicate(one, count, first[0].seed, is_traced) for name, one in changed.items()}
        found, defects = attempt(
            [task for group in tasks.values() for task in group],
            store=store,
            executor=executor,
            jobs=jobs,
            progress=progress,
            reduce=lambda _, record: record,
        )
        reused = 0 if store is None else _distinct(tasks, found) - (len(store) - before)
        runs = _Runs(tasks, found, defects, time.perf_counter() - began, reused)
        told = asked.in_manifest(max(looks, 1), len(first), most)
        comparison = _compared(scenario, settings, changed, runs, told)
        for name in asked.names if count == len(first) else ():
            _measured(name, comparison)
        if asked.followed is None or defects or count >= most or _is_settled(comparison, asked.followed):
            return comparison
        count = min(count + len(first), most)


def _settings(variants: Sequence[str] | Variants) -> Variants:
    """The variants by their names, two or more.

    Raises:
        InputError: there are fewer, or a name says nothing.
    """
    settings = variants if isinstance(variants, Mapping) else policies(variants)
    for name in settings:
        if not arguments.text("a name of variants", name).strip():
            raise InputError("a name of variants is empty: tables and pictures would not tell which it is")
    if len(settings) < 2:
        raise InputError("a comparison needs at least two different variants, such as tail-drop and epd")
    return settings


def _first_look(first: list[Task], most: int, *, is_asked: bool) -> list[Task]:
    """The replications before the first look at whether a winner is clear.

    Raises:
        InputError: more were asked for than are allowed; a scenario's own number is cut to that.
    """
    if is_asked and len(first) > most:
        raise InputError(
            f"{len(first)} replications are more than {most}, the most: "
            "raise --max-replications, or max_replications"
        )
    return first[:most]


def _is_settled(comparison: Comparison, followed: str) -> bool:
    """Whether more replications change nothing: the best is clear, or is not to be found in that way."""
    leader = comparison.leader(followed)
    is_decided = leader.verdict is not Verdict.UNDECIDED
    return is_decided or bool(leader.undefined) or bool(misled(comparison, followed))


@dataclass(frozen=True)
class _Asked:
    """The measures that a caller named."""

    chosen: list[str] | None
    """Those of the table; None for the usual ones."""
    followed: str | None
    """The one by which a winner has to be clear, if any."""

    @staticmethod
    def of(measures: Sequence[str] | None, until_clear: str | None) -> "_Asked":
        """The measures of some names and titles.

        Raises:
            InputError: there is no such measure, or no variant can be best by the one that is followed.
        """
        chosen = None if measures is None else _chosen(measures)
        if until_clear is None:
            return _Asked(chosen, None)
        followed = registry.called(arguments.text("until_clear", until_clear))
        if registry.measure(followed).better is None:
            raise not_judged(followed)
        return _Asked(chosen, followed)

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*(self.chosen or ()), *(() if self.followed is None else (self.followed,))]

    def in_manifest(self, looks: int, first: int, most: int) -> dict[str, Any]:
        """What a manifest says of them.

        Args:
            looks: how often the data were looked at.
            first: the replications at the first look.
            most: the replications that are allowed.
        """
        until = {"measure": self.followed, "looks": looks, "first": first, "most": most}
        return {"measures": self.chosen, "until_clear": None if self.followed is None else until}


def _chosen(names: Sequence[str]) -> list[str]:
    """The metrics that were chosen by name or title, each once."""
    given = arguments.names("measures", names, "goodput")
    if not given:
        raise InputError("measures: expected one measure or more; leave it out for the usual ones")
    return list(dict.fromkeys(map(registry.called, given)))


def _known(
    names: Sequence[str], scenarios: Mapping[str, Scenario], trace: bool, jobs: int | None
) -> tuple[dict[str, dict[str, str] | None], bool]:
    """The metrics that runs of each variant have, with units, and whether they are traced.

    They are if that was asked for, or if some metric of these names is measured of a trace alone.
    """
    for name in names:
        registry.measure(name)  # refuses a name that no metric has
    if not names:
        return dict.fromkeys(scenarios), trace
    of_some = _of_flows(names, scenarios, jobs)
    names = [name for name in names if registry.of_flows(name) is None]
    known, is_traced = _plain(names, scenarios, trace, jobs) if names else (dict.fromkeys(scenarios), trace)
    found = {name: (known[name] or {}) | (of_some[name] or {}) or None for name in scenarios}
    return found, is_traced


def _of_flows(
    names: Sequence[str], scenarios: Mapping[str, Scenario], jobs: int | None
) -> dict[str, dict[str, str] | None]:
    """The units of measures of groups and flows in runs of each variant; None where no trial tells.

    Raises:
        InputError: a variant has no such group or flow.
    """
    found: dict[str, dict[str, str] | None] = dict.fromkeys(scenarios)
    for variant, one in zip(scenarios, held_by(names, scenarios.values(), jobs), strict=False):
        if isinstance(one, InputError):
            raise InputError(f"variant {variant}: {one}")
        found[variant] = one
    return found


def _plain(
    names: Sequence[str], scenarios: Mapping[str, Scenario], trace: bool, jobs: int | None
) -> tuple[dict[str, dict[str, str] | None], bool]:
    """As `_known`, for metrics of the summary alone."""
    plain = measured(scenarios.values(), trace=trace, jobs=jobs)
    lacking = {name for name in names for found in plain if found is not None and name not in found}
    if lacking and not trace:
        traced = measured(scenarios.values(), trace=True, jobs=jobs)
        if any(lacking & {*found} for found in traced if found is not None):
            return dict(zip(scenarios, traced, strict=True)), True
    return dict(zip(scenarios, plain, strict=True)), trace


def _check_measures(names: Sequence[str], units: Mapping[str, Mapping[str, str] | None]) -> None:
    """Refuses measures that a variant lacks, or that have several units.

    Raises:
        InputError: there is such a measure.
    """
    known = {variant: found for variant, found in units.items() if found is not None}
    for name in names:
        lacking = [variant for variant, found in known.items() if name not in found]
        if lacking:
            of_all = len(lacking) == len(units)
            error = registry.unmeasured(name, known[lacking[0]], "measure", TO_COME if of_all else ITS)
            raise error if of_all else InputError(f"variant {lacking[0]}: {error}")
        first = next(iter(known), "")
        for variant, found in known.items():
            if found[name] != known[first][name]:
                raise different_units(name, (variant, found[name]), (first, known[first][name]))


def _measured(name: str, comparison: Comparison) -> None:
    """Refuses a measure that the runs of a comparison lack, where no brief run could tell.

    The runs are kept: the same command with another measure goes on from there.
    """
    known = [one.name for one in comparison.every_measure]
    if name not in known and registry.of_flows(name) is None:
        raise registry.unmeasured(name, known, "measure")
    for variant in comparison.variants[1:]:
        comparison.difference(variant, name)


@dataclass(frozen=True)
class _Runs:
    """What the replications of every variant gave, one variant behind the other."""

    tasks: Mapping[str, Sequence[Task]]
    found: Sequence[Record | None]
    defects: Mapping[int, Defect]
    wall_time: float
    reused: int


def _distinct(tasks: Mapping[str, Sequence[Task]], found: Sequence[Record | None]) -> int:
    """How many different runs ended well: variants that are the same scenario share theirs."""
    every = (task for group in tasks.values() for task in group)
    pairs = zip(every, found, strict=True)
    return len({(task.key, task.replication) for task, run in pairs if run is not None})


def _compared(
    scenario: Scenario,
    settings: Variants,
    varied: Mapping[str, Scenario],
    runs: _Runs,
    asked: Mapping[str, Any],
) -> Comparison:
    """The comparison of what ran. Runs are compared in pairs: a variant that lacks one is left out."""
    each = len(runs.found) // len(varied)
    groups = {name: runs.found[i * each : (i + 1) * each] for i, name in enumerate(varied)}
    whole = {name: [run for run in group if run is not None] for name, group in groups.items()}
    whole = {name: group for name, group in whole.items() if len(group) == each}
    if runs.defects and len(whole) < 2:
        raise next(iter(runs.defects.values()))
    results = {
        name: Result.of_records(varied[name], runs.tasks[name][0].seed, group, runs.wall_time)
        for name, group in whole.items()
    }
    first = next(iter(results.values())).manifest
    records = [record for group in whole.values() for record in group]
    manifest = {
        "kind": KIND,
        "key": comparison_key(scenario, settings),
        "name": scenario.name,
        **provenance(records, runs.wall_time, runs.reused),
        "variants": {name: written(settings[name]) for name in whole},
        "scenarios": {name: some.to_toml() for name, some in settings.items() if isinstance(some, Scenario)},
        "state_per_vc": state_per_vc({name: settings[name] for name in whole}),
        "seed": first["seed"],
        "replications": first["replications"],
        **asked,
        "bottleneck": first["bottleneck"],
        "bottlenecks": {name: one.manifest["bottleneck"] for name, one in results.items()},
        "units": {column: unit for one in results.values() for column, unit in one.manifest["units"].items()},
        "variant_units": {name: one.manifest["units"] for name, one in results.items()},
        "resolved": True,
        "scenario": scenario.resolved(),
        "scenario_toml": scenario.to_toml(),
    }
    lines = [f"variant {list(varied)[place // each]}: {one}" for place, one in runs.defects.items()]
    return Comparison(manifest, results, lines)
